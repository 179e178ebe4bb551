//! `neffload completions` and `neffload man`: files for the shell and for `man`, made from the command line's own
//! description.

use crate::Answer;
use crate::arguments::Arguments;
use crate::output::{Output, shown};
use crate::trouble::Trouble;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
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
    output.line(String::from_utf8_lossy(&script).trim_end())?;
    Ok(Answer::Done)
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
        let mut page = Vec::new();
        render(command, &mut page).map_err(Trouble::at(&path))?;
        fs::write(&path, page).map_err(Trouble::at(&path))?;
    }
    output.remark(format_args!("{}: {} pages", shown::path(folder), pages.len()));
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

/// One page. The examples get a section of their own, in lines as they are.
fn render(command: &clap::Command, page: &mut Vec<u8>) -> io::Result<()> {
    let source = concat!("neffload ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command.clone()).source(source).manual("NEFF loader");
    man.render_title(page)?;
    man.render_name_section(page)?;
    man.render_synopsis_section(page)?;
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
