//! `neffload completions` and `neffload man`: files for the shell and for `man`, made from the command line's own
//! description.

use crate::Answer;
use crate::arguments::Arguments;
use crate::output::{Document, Output, shown};
use crate::trouble::Trouble;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

/// Arguments of `completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionsArguments {
    /// The shell
    shell: Shell,
}

/// Arguments of `man`.
#[derive(Args, Debug)]
pub(crate) struct ManArguments {
    /// Folder to write the pages to; made if it is not there
    #[arg(short = 'C', long = "into", value_name = "DIR")]
    folder: PathBuf,
}

/// Runs `completions`.
pub(crate) fn completions(arguments: &CompletionsArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "neffload", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if arguments.shell == Shell::Fish {
        script.push_str(&fish_words());
    }
    if output.json() {
        let shell = arguments.shell.to_string();
        output.document(Document::new("completions").set("shell", shell).set("script", script))?;
    } else {
        output.line(script.trim_end())?;
    }
    Ok(Answer::Done)
}

/// What the generator leaves out for fish: the words that an argument without a dash can be. They are offered once the
/// arguments before it may be there.
fn fish_words() -> String {
    let mut lines = String::new();
    for command in Arguments::command().get_subcommands_mut() {
        command.build();
        for (before, argument) in command.get_positionals().enumerate() {
            let words: Vec<String> =
                argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
            if !words.is_empty() {
                let _ = writeln!(
                    lines,
                    "complete -c neffload -n \"__fish_neffload_using_subcommand {}; and test (count (commandline -opc)) \
                     -ge {}\" -a \"{}\"",
                    command.get_name(),
                    before + 2,
                    words.join(" ")
                );
            }
        }
    }
    lines
}

/// Runs `man`: one page for the command and one for each subcommand.
pub(crate) fn man(arguments: &ManArguments, output: &mut Output) -> Result<Answer, Trouble> {
    let folder = &arguments.folder;
    fs::create_dir_all(folder).map_err(Trouble::at(folder))?;
    let mut command = Arguments::command();
    command.build();
    let name = |sub: &str| format!("neffload-{sub}");
    let subcommands = command.get_subcommands().filter(|sub| sub.get_name() != "help").map(|sub| {
        let full = name(sub.get_name());
        (full.clone(), sub.clone().bin_name(format!("neffload {}", sub.get_name())).display_name(full))
    });
    let pages: Vec<_> = [("neffload".to_owned(), command.clone())].into_iter().chain(subcommands).collect();
    for (name, command) in &pages {
        let path = folder.join(format!("{name}.1"));
        let page = page(command).map_err(Trouble::at(&path))?;
        fs::write(&path, page).map_err(Trouble::at(&path))?;
    }
    if output.json() {
        let names: Vec<String> = pages.iter().map(|(name, _)| format!("{name}.1")).collect();
        output.document(Document::new("man").set("folder", shown::name(folder)).set("pages", names))?;
    } else {
        output.remark(format_args!("{}: {} pages", shown::path(folder), pages.len()));
    }
    Ok(Answer::Done)
}

/// What every page ends with.
const STATUS: &str = ".SH EXIT STATUS
.TP
0
Done.
.TP
1
The file, the model or the device refused; the reason is printed.
.TP
2
Bad usage, or an error of the operating system.
";

/// One page, in ASCII: what else a text has is written as the formatter's name of it.
fn page(command: &clap::Command) -> io::Result<String> {
    let mut page = Vec::new();
    render(command, &mut page)?;
    let mut text = String::with_capacity(page.len());
    for character in String::from_utf8_lossy(&page).chars() {
        if character.is_ascii() {
            text.push(character);
        } else {
            let _ = write!(text, "\\[u{:04X}]", u32::from(character));
        }
    }
    Ok(text)
}

/// The line of usage, with the values that options take.
fn synopsis(command: &clap::Command) -> String {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut words = vec![format!("\\fB{}\\fR", dashes(name))];
    let (places, options): (Vec<_>, Vec<_>) = command
        .get_arguments()
        .filter(|argument| !argument.is_hide_set())
        .partition(|argument| argument.is_positional());
    words.extend(options.into_iter().chain(places).map(usage));
    if command.has_subcommands() {
        words.push("<\\fIsubcommand\\fR>".to_owned());
    }
    words.join(" ")
}

/// One argument of the line.
fn usage(argument: &clap::Arg) -> String {
    let short = argument.get_short().map(|short| format!("-{short}"));
    let long = argument.get_long().map(|long| format!("--{long}"));
    let names = short.into_iter().chain(long).map(|name| format!("\\fB{}\\fR", dashes(&name)));
    let mut text = names.collect::<Vec<_>>().join("|");
    if argument.get_action().takes_values() {
        let values = argument.get_value_names().unwrap_or_default().iter().map(|name| dashes(name));
        let gap = if text.is_empty() { "" } else { " " };
        text = format!("{text}{gap}\\fI{}\\fR", values.collect::<Vec<_>>().join(" "));
        if matches!(argument.get_action(), clap::ArgAction::Append) {
            text.push_str("...");
        }
    }
    if argument.is_required_set() { text } else { format!("[{text}]") }
}

fn dashes(text: &str) -> String {
    text.replace('-', "\\-")
}

/// The examples get a section of their own, in lines as they are.
fn render(command: &clap::Command, page: &mut Vec<u8>) -> io::Result<()> {
    let source = concat!("neffload ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(source).manual("NEFF loader");
    man.render_title(page)?;
    man.render_name_section(page)?;
    writeln!(page, ".SH SYNOPSIS\n{}", synopsis(command))?;
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    if command.get_subcommands().next().is_some() {
        man.render_subcommands_section(page)?;
    }
    if let Some(help) = command.get_after_help().map(ToString::to_string) {
        page.write_all(b".SH EXAMPLES\n.nf\n")?;
        for line in help.lines().filter_map(|line| line.strip_prefix("  ")) {
            writeln!(page, "{}", line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq"))?;
        }
        page.write_all(b".fi\n")?;
    }
    page.write_all(STATUS.as_bytes())
}
