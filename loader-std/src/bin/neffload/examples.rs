//! Examples that `--help` ends with. A test gives every one of them to the parser.

/// Joins lines below a heading.
macro_rules! examples {
    ($($line:literal)*) => { concat!("Examples:", $("\n  ", $line),*) };
}

pub(crate) const ALL: &str = examples! {
    "neffload verify model.neff                  is it intact?"
    "neffload inspect model.neff                 what is it?"
    "neffload memory model.neff                  will it fit?"
    "neffload load model.neff                    load it"
    "neffload diff old.neff new.neff             what changed?"
    "neffload report model.neff -o model.html    show me"
};
pub(crate) const CAT: &str = examples! {
    "neffload cat model.neff neff.json"
    "neffload cat model.neff sg00/def.json | head"
};
pub(crate) const COMPLETIONS: &str = examples! {
    "neffload completions bash > /etc/bash_completion.d/neffload"
    "neffload completions zsh > ~/.zfunc/_neffload"
};
pub(crate) const DEVICES: &str = examples! {
    "neffload devices"
};
pub(crate) const DIFF: &str = examples! {
    "neffload diff old.neff new.neff                 one screen: header, graph, constants, blocks, slots"
    "neffload diff old.neff new.neff --exit-code     for scripts: status 1 if they differ"
    "neffload diff old.neff new.neff --json          every difference, to the descriptor and the slot"
};
pub(crate) const DISASM: &str = examples! {
    "neffload disasm model.neff | less"
    "neffload disasm model.neff --engine pool --pseudo"
};
pub(crate) const EXTRACT: &str = examples! {
    "neffload extract model.neff -C out              everything, below out"
    "neffload extract model.neff 'sg00/*' -C out     what a pattern selects"
};
pub(crate) const FIND: &str = examples! {
    "neffload find checkpoint.pt                  where NEFFs begin in it"
    "neffload inspect checkpoint.pt@4096          the one at that offset"
};
pub(crate) const INFO: &str = examples! {
    "neffload info model.neff getArchType"
    "neffload info model.neff findInNeff 'sg00/.*\\.json'"
};
pub(crate) const INSPECT: &str = examples! {
    "neffload inspect model.neff                  header, digest, graph, subgraphs"
    "neffload inspect model.neff --members        every member with its size"
    "neffload inspect model.neff --json           all of it, for scripts"
};
pub(crate) const LOAD: &str = examples! {
    "neffload load model.neff                             onto a simulated device"
    "neffload load model.neff --device sim:cayman:8       of that kind"
    "neffload load model.neff --dump out                  and write the device image"
    "neffload load model.neff --max-memory 1M             streamed, within a megabyte"
};
pub(crate) const MAN: &str = examples! {
    "neffload man -C /usr/local/share/man/man1"
};
pub(crate) const MEMBERS: &str = examples! {
    "neffload members model.neff"
    "neffload members model.neff --json --digests"
};
pub(crate) const MEMORY: &str = examples! {
    "neffload memory model.neff                   one file"
    "neffload memory prefill.neff decode.neff     two that are loaded together"
    "neffload memory models/ --page-size 512M     all below a folder"
};
pub(crate) const PACK: &str = examples! {
    "neffload pack tree/ model.neff               from a folder"
    "neffload pack model.neff small.neff --no-debug"
    "neffload pack tree/ model.neff --check       first ask what its producer asserts"
};
pub(crate) const PLAN: &str = examples! {
    "neffload plan model.neff                     the least memory that a streamed load needs"
};
pub(crate) const REPORT: &str = examples! {
    "neffload report model.neff -o model.html     a page for a browser"
    "neffload report model.neff --json            its figures"
};
pub(crate) const VERIFY: &str = examples! {
    "neffload verify model.neff"
    "neffload verify models/ --json"
};
