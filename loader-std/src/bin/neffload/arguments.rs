//! The command line.

use crate::find::FindArguments;
use crate::info::InfoArguments;
use crate::inspect::InspectArguments;
use crate::load::LoadArguments;
use crate::members::{CatArguments, ExtractArguments, MembersArguments};
use crate::memory::MemoryArguments;
use crate::pack::PackArguments;
use crate::plan::PlanArguments;
use crate::verify::VerifyArguments;
use clap::error::ErrorKind;
use clap::{ArgMatches, Args, FromArgMatches, Parser, Subcommand};

/// Read, check, load and write NEFF model files.
#[derive(Debug, Parser)]
#[command(name = "neffload", version, arg_required_else_help = true)]
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
    ($(#[doc = $about:literal] $name:literal $variant:ident($arguments:ty),)+) => {
        #[derive(Debug)]
        pub(crate) enum Command {
            $(#[doc = $about] $variant($arguments),)+
        }

        impl Subcommand for Command {
            fn augment_subcommands(command: clap::Command) -> clap::Command {
                command$(.subcommand(
                    clap::Command::new($name)
                        .about($about.trim_ascii_start())
                        .defer(<$arguments as Args>::augment_args),
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
    "cat" Cat(CatArguments),
    /// Unpack members below a folder, safely, or cut a NEFF out of its carrier
    "extract" Extract(ExtractArguments),
    /// Find NEFFs inside other files
    "find" Find(FindArguments),
    /// What is in a file: header, digest, members, graph, subgraphs
    "inspect" Inspect(InspectArguments),
    /// One answer of the tooling view (NeffInfo)
    "info" Info(InfoArguments),
    /// Load a file into a device and say what is where
    "load" Load(LoadArguments),
    /// How much device memory files will need, alone or together
    "memory" Memory(MemoryArguments),
    /// List the members with their sizes
    "members" Members(MembersArguments),
    /// Write a NEFF from a folder or from another NEFF
    "pack" Pack(PackArguments),
    /// The memory that a load within narrow bounds needs, and how it is laid out
    "plan" Plan(PlanArguments),
    /// Check that files are intact, every check by name
    "verify" Verify(VerifyArguments),
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

    #[test]
    fn numbers() {
        assert_eq!(number("4096"), Ok(4096));
        assert_eq!(number("0x1f"), Ok(31));
        assert_eq!(number("64M"), Ok(64 << 20));
        assert!(number("17179869184G").is_err());
        assert!(number("-1").is_err() && number("").is_err() && number("K").is_err());
    }
}
