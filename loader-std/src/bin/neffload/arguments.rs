//! The command line.

use crate::devices::DevicesArguments;
use crate::diff::DiffArguments;
use crate::disasm::DisasmArguments;
use crate::examples;
use crate::extract::ExtractArguments;
use crate::find::FindArguments;
use crate::info::InfoArguments;
use crate::inspect::InspectArguments;
use crate::load::LoadArguments;
use crate::members::{CatArguments, MembersArguments};
use crate::memory::MemoryArguments;
use crate::pack::PackArguments;
use crate::plan::PlanArguments;
use crate::report::ReportArguments;
use crate::shell::{CompletionsArguments, ManArguments};
use crate::verify::VerifyArguments;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, FromArgMatches, Parser, Subcommand};

/// Read, check, load and write NEFF model files.
#[derive(Debug, Parser)]
#[command(name = "neffload", version, arg_required_else_help = true, after_help = examples::ALL)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every subcommand.
#[derive(Args, Clone, Copy, Debug, Default)]
pub(crate) struct Common {
    /// Print a JSON document instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// No progress, no colour, no remarks
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

/// The enumeration of subcommands. What one takes is described to clap when it was chosen: describing all of them
/// takes a tenth of a megabyte and as much code.
macro_rules! subcommands {
    ($(#[doc = $about:literal] $name:literal $variant:ident($arguments:ty) = $examples:expr,)+) => {
        #[derive(Debug)]
        pub(crate) enum Command {
            $(#[doc = $about] $variant($arguments),)+
        }

        impl Subcommand for Command {
            fn augment_subcommands(command: clap::Command) -> clap::Command {
                command$(.subcommand(
                    clap::Command::new($name)
                        .about($about.trim_ascii_start())
                        // The structure's own line must not take the place of the one that is listed.
                        .defer(|command| {
                            let command = <$arguments>::augment_args(command).after_help($examples);
                            command.about($about.trim_ascii_start())
                        }),
                ))+
            }

            fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
                Self::augment_subcommands(command)
            }

            fn has_subcommand(name: &str) -> bool {
                [$($name),+].contains(&name)
            }
        }

        impl FromArgMatches for Command {
            fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
                match matches.subcommand() {
                    $(Some(($name, matches)) => <$arguments>::from_arg_matches(matches).map(Self::$variant),)+
                    _ => Err(clap::Error::new(ErrorKind::MissingSubcommand)),
                }
            }

            fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
                *self = Self::from_arg_matches(matches)?;
                Ok(())
            }
        }
    };
}

subcommands! {
    /// Print one member to standard output
    "cat" Cat(CatArguments) = examples::CAT,
    /// A script that completes this command's arguments in a shell
    "completions" Completions(CompletionsArguments) = examples::COMPLETIONS,
    /// What differs between two files, from the header to the descriptors
    "diff" Diff(DiffArguments) = examples::DIFF,
    /// The accelerators and the driver of this host
    "devices" Devices(DevicesArguments) = examples::DEVICES,
    /// Instruction slots by engine, pseudo-instructions decoded
    "disasm" Disasm(DisasmArguments) = examples::DISASM,
    /// Unpack members below a folder, safely, or cut a NEFF out of its carrier
    "extract" Extract(ExtractArguments) = examples::EXTRACT,
    /// Find NEFFs inside other files
    "find" Find(FindArguments) = examples::FIND,
    /// What is in a file: header, digest, members, graph, subgraphs
    "inspect" Inspect(InspectArguments) = examples::INSPECT,
    /// One answer of the tooling view (NeffInfo)
    "info" Info(InfoArguments) = examples::INFO,
    /// Load a file into a device and say what is where
    "load" Load(LoadArguments) = examples::LOAD,
    /// Manual pages for this command and its subcommands
    "man" Man(ManArguments) = examples::MAN,
    /// How much device memory files will need, alone or together
    "memory" Memory(MemoryArguments) = examples::MEMORY,
    /// List the members with their sizes
    "members" Members(MembersArguments) = examples::MEMBERS,
    /// Write a NEFF from a folder or from another NEFF
    "pack" Pack(PackArguments) = examples::PACK,
    /// The memory that a load within narrow bounds needs, and how it is laid out
    "plan" Plan(PlanArguments) = examples::PLAN,
    /// One page about a file, for a browser: sizes, memory map, queues, instructions
    "report" Report(ReportArguments) = examples::REPORT,
    /// Check that files are intact, every check by name
    "verify" Verify(VerifyArguments) = examples::VERIFY,
}

/// A number in decimal, or in hexadecimal after `0x`; `K`, `M` and `G` multiply by powers of 1024.
pub(crate) fn number(text: &str) -> Result<u64, String> {
    let refused = || format!("`{text}` is not a number; write 4096, 0x1000, 4K, 64M or 1G");
    if let Some(hex) = text.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).map_err(|_| refused());
    }
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 20),
        Some(b'G' | b'g') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let count: u64 = digits.parse().map_err(|_| refused())?;
    count.checked_mul(1 << shift).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::{Arguments, number};
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    /// The text of an example up to the gap before its remark.
    fn words(line: &str) -> Vec<String> {
        let call = line.split("   ").next().unwrap_or_default();
        let call = call.split(['|', '>']).next().unwrap_or_default();
        call.split_whitespace().map(|word| word.trim_matches('\'').to_owned()).collect()
    }

    #[test]
    fn every_example_of_the_help_is_accepted() {
        let mut command = Arguments::command();
        command.build();
        let helps = command
            .get_subcommands()
            .filter(|sub| sub.get_name() != "help")
            .map(|sub| (sub.get_name().to_owned(), sub.get_after_help()));
        let mut helps: Vec<(String, String)> =
            helps.map(|(name, help)| (name, help.map(ToString::to_string).unwrap_or_default())).collect();
        helps.push(("neffload".to_owned(), command.get_after_help().unwrap().to_string()));
        for (name, help) in helps {
            let lines: Vec<&str> = help.lines().filter(|line| line.starts_with("  neffload ")).collect();
            let shown = lines.iter().any(|line| name == "neffload" || words(line)[1] == name);
            assert!(shown, "{name} has no example");
            for line in lines {
                let parsed = command.try_get_matches_from_mut(words(line));
                assert!(parsed.is_ok(), "{name}: {line}: {}", parsed.unwrap_err());
            }
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(number("4096"), Ok(4096));
        assert_eq!(number("0x1f"), Ok(31));
        assert_eq!(number("64M"), Ok(64 << 20));
        assert!(number("17179869184G").is_err());
        assert!(number("-1").is_err() && number("").is_err() && number("K").is_err());
    }
}
