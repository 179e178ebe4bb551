//! `cargo xtask audit`: seven checks that what the core promises is so, each failing with the offender's name.

mod dependencies;
mod heap;
mod lists;
mod miri;
mod panics;
mod sources;
#[cfg(test)]
mod tests;
mod unsafety;

use crate::image::build::Variant;
use crate::image::ledger::Ledger;
use crate::image::{build::build, code::Code, elf::Elf, layout, weighed};
use anyhow::{Result, bail};
use memory_layouts::Layout;
use neffload_tests::workspace;
use std::path::{Path, PathBuf};

/// What a check found wrong, one line an offender.
pub(crate) type Offenders = Vec<String>;

/// Images that are audited: those that `cargo xtask image` builds on every host.
const IMAGES: [&str; 2] = ["agent-256k", "agent-64k"];

/// Where the checked-in lists are.
fn folder() -> PathBuf {
    workspace().join("memory-layouts").join("audit")
}

fn say(number: &str, what: &str, offenders: &Offenders) -> usize {
    println!("{number:>5} {what}: {}", if offenders.is_empty() { "holds" } else { "FAILS" });
    for offender in offenders {
        println!("        {offender}");
    }
    offenders.len()
}

/// One audited image.
pub(crate) struct Audited {
    pub(crate) layout: Layout,
    pub(crate) ledger: Ledger,
    pub(crate) elf: Elf,
    pub(crate) code: Code,
}

impl Audited {
    pub(crate) fn build(name: &str, variant: Variant<'_>) -> Result<Self> {
        let (layout, built, ledger) = weighed(Path::new(name), variant)?;
        let elf = Elf::read(&built.whole)?;
        let code = Code::read(&built.whole, &elf)?;
        Ok(Self { layout, ledger, elf, code })
    }
}

/// (ii) Names of an allocator, wherever they stand in a symbol.
pub(crate) fn allocators(elf: &Elf) -> Offenders {
    elf.symbols.iter().filter(|symbol| is_allocator(&symbol.name)).map(|symbol| symbol.name.clone()).collect()
}

fn is_allocator(name: &str) -> bool {
    const PARTS: [&str; 6] =
        ["__rust_alloc", "__rust_realloc", "__rg_", "__rdl_", "__rust_no_alloc", "GlobalAlloc"];
    matches!(name, "malloc" | "calloc" | "realloc" | "free" | "aligned_alloc" | "posix_memalign")
        || PARTS.iter().any(|part| name.contains(part))
        || sources::names_crate(name, "alloc")
}

/// (iv) Recursion, and stages or sizes beyond what the layout allows.
pub(crate) fn stack(layout: &Layout, ledger: &Ledger) -> Offenders {
    let most = layout.number("image", "stack").unwrap_or(0);
    let mut offenders = Offenders::new();
    for stage in &ledger.stages {
        if let Some(stack) = stage.stack.filter(|&stack| stack > most) {
            let widest = stage
                .path
                .iter()
                .max_by_key(|call| call.split(' ').next().and_then(|frame| frame.parse::<u64>().ok()));
            offenders.push(format!(
                "{}: {stack} bytes of stack, allowed are {most}; {}",
                stage.name,
                widest.map_or("", String::as_str)
            ));
        }
    }
    if let Some(stack) = ledger.stack.filter(|&stack| stack > most) {
        offenders.push(format!("the program: {stack} bytes of stack, allowed are {most}; {}", ledger.widest));
    }
    for cycle in &ledger.cycles {
        if !panics::is_bounded_recursion(cycle) {
            offenders.push(format!("recursion: {}", cycle.join(" -> ")));
        }
    }
    offenders
}

/// (iii) The images with stubs link with a panic handler that does not exist: the agent, and the whole core as hosts
/// build it, whose code is in part in no small image.
pub(crate) fn links_without_panics() -> Result<Offenders> {
    let mut found = links(Path::new(IMAGES[0]), &[])?;
    found.extend(links(&folder().join("whole.toml"), &["whole"])?);
    Ok(found)
}

/// The image of a layout, with stubs and features, links so.
pub(crate) fn links(layout_of: &Path, extra: &[&str]) -> Result<Offenders> {
    let (path, layout) = layout(layout_of)?;
    let features: Vec<&str> = ["no-panic"].iter().chain(extra).copied().collect();
    let variant = Variant { features: &features, package: Some("audit") };
    let message = match build(&path, &layout, variant) {
        Ok(_) => return Ok(Offenders::new()),
        Err(error) => error.to_string(),
    };
    if !message.contains(panics::MISSING) {
        return Ok(vec![message]);
    }
    // The linker names the handler. Who reaches it is read off the same image with a handler that links.
    let built = build(&path, &layout, Variant { features: extra, ..variant })?;
    let code = Code::read(&built.whole, &Elf::read(&built.whole)?)?;
    let mut found: Offenders = panics::callers(&code)
        .into_iter()
        .map(|name| format!("{}: {name} reaches a panic, so {} is missing", layout.name, panics::MISSING))
        .collect();
    if found.is_empty() {
        found.push(message);
    }
    Ok(found)
}

/// Runs all checks; `write` renews the checked-in lists first.
pub(crate) fn run(write: bool, full: bool) -> Result<()> {
    let mut images = Vec::new();
    for name in IMAGES {
        images.push(Audited::build(name, Variant::default())?);
    }
    if write {
        lists::write(&images)?;
    }
    let each = |check: &dyn Fn(&Audited) -> Offenders| images.iter().flat_map(check).collect::<Offenders>();
    let (core, others) = sources::PACKAGES.split_at(1);
    let mut heap = dependencies::of_the_core()?;
    heap.extend(sources::check(core)?);
    let mut wrong = say("(i)", "no alloc or std in the core and below it", &heap);
    let mut allocating = each(&|image| allocators(&image.elf));
    allocating.extend(sources::check(others)?);
    wrong += say("(ii)", "no allocator in the images", &allocating);
    let mut panicking = links_without_panics()?;
    panicking.extend(panics::against_the_list(&images[0].code)?);
    wrong += say("(iii)", "no panic in our own code", &panicking);
    wrong += say("(iv)", "the stack is bounded", &each(&|image| stack(&image.layout, &image.ledger)));
    wrong += say("(v)", "no heap allocation in a load", &heap::check()?);
    let mut unsound = unsafety::check()?;
    unsound.extend(unsafety::lints()?);
    unsound.extend(miri::check(full)?);
    wrong += say("(vi)", "every unsafe has its reason", &unsound);
    let mut sizes = Offenders::new();
    for image in &images {
        sizes.extend(lists::sizes(&image.layout, &image.ledger)?);
    }
    sizes.extend(lists::readme(&images[0].ledger)?);
    wrong += say("(vii)", "sizes are as in the checked-in ledger", &sizes);
    if wrong > 0 {
        bail!("{wrong} offenders");
    }
    Ok(())
}
