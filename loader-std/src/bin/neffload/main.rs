//! The `neffload` command: one module per subcommand.
//!
//! Exit status: 0 done, 1 the file, the model or the device refused, 2 bad usage or an
//! operating-system error.

mod arguments;
mod output;
mod pack;
mod trouble;

use arguments::{Arguments, Command};
use clap::Parser;
use output::Output;
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

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut output = Output::new(&arguments.common);
    match run(arguments.command, &mut output) {
        Ok(answer) => answer.into(),
        Err(trouble) if trouble.is_closed_pipe() => ExitCode::SUCCESS,
        Err(trouble) => {
            eprintln!("neffload: {trouble}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command, output: &mut Output) -> Result<Answer, Trouble> {
    match command {
        Command::Pack(arguments) => pack::run(&arguments, output),
    }
}
