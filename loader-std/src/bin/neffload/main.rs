//! The `neffload` command: one module per subcommand.
//!
//! Exit status: 0 done, 1 the file, the model or the device refused, 2 bad usage or an
//! operating-system error.

#![deny(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a reader that went away must not end the program"
)]

mod arguments;
mod devices;
mod diff;
mod disasm;
mod examples;
mod extract;
mod files;
mod find;
mod info;
mod inspect;
mod limits;
mod load;
mod members;
mod memory;
mod output;
mod pack;
mod plan;
mod replace;
mod report;
mod shell;
mod trouble;
mod verify;

use arguments::{Arguments, Command};
use clap::Parser;
use loader_std::environment;
use neuron_drivers::host::file_limit;
use output::Output;
use std::hint::black_box;
use std::io::{self, Write};
use std::process::ExitCode;
use trouble::Trouble;

/// How a subcommand ended when nothing went wrong with the command itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    /// The question is answered, the work is done.
    Done,
    /// The file, the model or the device refused; the answer says why.
    Refused,
}

impl From<Answer> for ExitCode {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Done => Self::SUCCESS,
            Answer::Refused => Self::from(1),
        }
    }
}

/// Bytes of stack for everything that the command does.
const STACK: usize = 1 << 20;

/// Where memory is limited, takes the stack at once. The system gives it out page by page, and ends a program that has no
/// page left for it without a word; other requests can be refused.
fn take_stack() {
    if limits::is_memory_limited() {
        touch();
    }
}

#[inline(never)]
fn touch() {
    black_box([0u8; STACK]);
}

fn main() -> ExitCode {
    take_stack();
    file_limit::is_an_error();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(said) => return told(&said),
    };
    let mut output = Output::new(&arguments.common);
    warn(&output);
    match run(arguments.command, &mut output) {
        Ok(answer) => answer.into(),
        Err(trouble) => failed(&trouble),
    }
}

/// Says that a variable which lets files through has a value that does not.
fn warn(output: &Output) {
    const NAME: &str = "NEURON_RT_ALLOW_LEGACY_NEFF";
    if let Some(value) = std::env::var_os(NAME).filter(|value| environment::is_unclear(value)) {
        let value = output::shown::path(value.as_ref());
        output
            .remark(format_args!("neffload: {NAME} is `{value}`, which is taken for no; 1 and true are yes"));
    }
}

/// Says what stopped the command, unless it is that nobody reads any more.
fn failed(trouble: &Trouble) -> ExitCode {
    if trouble.is_closed_pipe() {
        return ExitCode::SUCCESS;
    }
    output::shown::complain(format_args!("neffload: {trouble}"));
    ExitCode::from(2)
}

/// Help and version on standard output, bad usage on standard error.
fn told(said: &clap::Error) -> ExitCode {
    let open = if said.use_stderr() { Ok(()) } else { output::standard().map(drop) };
    match open.and_then(|()| said.print()).and_then(|()| io::stdout().flush()) {
        Ok(()) if !said.use_stderr() => ExitCode::SUCCESS,
        Err(error) if !said.use_stderr() => failed(&Trouble::from(error)),
        // Nobody hears that standard error cannot be written to.
        Ok(()) | Err(_) => ExitCode::from(2),
    }
}

fn run(command: Command, output: &mut Output) -> Result<Answer, Trouble> {
    match command {
        Command::Cat(arguments) => members::cat(&arguments, output),
        Command::Completions(arguments) => shell::completions(&arguments, output),
        Command::Diff(arguments) => diff::run(&arguments, output),
        Command::Devices(arguments) => devices::run(&arguments, output),
        Command::Disasm(arguments) => disasm::run(&arguments, output),
        Command::Extract(arguments) => extract::run(&arguments, output),
        Command::Find(arguments) => find::run(&arguments, output),
        Command::Inspect(arguments) => inspect::run(&arguments, output),
        Command::Load(arguments) => load::run(&arguments, output),
        Command::Info(arguments) => info::run(&arguments, output),
        Command::Man(arguments) => shell::man(&arguments, output),
        Command::Memory(arguments) => memory::run(&arguments, output),
        Command::Members(arguments) => members::list(&arguments, output),
        Command::Pack(arguments) => pack::run(&arguments, output),
        Command::Plan(arguments) => plan::run(&arguments, output),
        Command::Report(arguments) => report::run(&arguments, output),
        Command::Verify(arguments) => verify::run(&arguments, output),
    }
}
