//! `neffload-simdrv -- CMD…`: runs a program under the simulated kernel driver.
//!
//! The program's `/dev/neuron0` answers real system calls, its own and those of its children. No privileges,
//! kernel module or device are needed; Linux with seccomp user notification is.

use loader_core::arch::Arch;
use neuron_drivers::harness::{Options, Shared, launch};
use neuron_drivers::simdrv::{Config, Strictness, Version};
use std::process::{Command, ExitCode};

const HELP: &str = "\
Runs a program under the simulated Neuron driver.

Usage: neffload-simdrv [OPTIONS] -- CMD [ARGUMENTS]...

Options:
      --arch ARCH        sunda, cayman (default) or mariana
      --devices N        device nodes, 1 to 64 (default 1)
      --driver VERSION   2.24, 2.27 or 2.30 (default 2.24)
      --device-dir DIR   directory of the nodes (default /dev)
      --reset-us N       virtual microseconds that a reset takes (default 1000)
      --faithful         do what the driver does on harmful input, without a word
      --paranoid         answer harmful input with EIO
      --trace            print every request to standard error
      --books            print what processes still hold when all of them have ended
  -h, --help             this text

Exit status: that of CMD; 2 for bad usage or where the kernel forbids the harness; 3 if CMD ended well but left
something behind or did something that the driver does not check but punishes.
";

struct Arguments {
    config: Config,
    options: Options,
    trace: bool,
    books: bool,
    command: Vec<String>,
}

fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
    let mut arch = Arch::Cayman;
    let mut version = Version::V2_24;
    let mut parsed = Arguments {
        config: Config::new(arch),
        options: Options::default(),
        trace: false,
        books: false,
        command: Vec::new(),
    };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--" => {
                parsed.command = words.collect();
                break;
            }
            "--arch" => {
                let name = value()?;
                let found = Arch::ALL.into_iter().find(|arch| arch.name() == name);
                arch = found.ok_or_else(|| format!("no architecture {name}"))?;
            }
            "--driver" => {
                let name = value()?;
                let found = Version::ALL.into_iter().find(|version| version.text().starts_with(&name));
                version = found.ok_or_else(|| format!("no driver {name}; there are 2.24, 2.27 and 2.30"))?;
            }
            "--devices" => parsed.config.devices = number(&value()?, 1..=64)? as u32,
            "--reset-us" => parsed.config.reset_us = number(&value()?, 0..=u64::MAX / 2)?,
            "--device-dir" => parsed.options.device_dir = value()?.trim_end_matches('/').to_owned(),
            "--faithful" => parsed.config.strictness = Strictness::Faithful,
            "--paranoid" => parsed.config.strictness = Strictness::Paranoid,
            "--trace" => parsed.trace = true,
            "--books" => parsed.books = true,
            "-h" | "--help" => return Err(String::new()),
            other => return Err(format!("no option {other}")),
        }
    }
    let Config { devices, reset_us, strictness, .. } = parsed.config;
    parsed.config = Config { devices, reset_us, strictness, ..Config::with_version(arch, version) };
    if parsed.command.is_empty() { Err("no program after --".into()) } else { Ok(parsed) }
}

fn number(text: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64, String> {
    text.parse().ok().filter(|n| range.contains(n)).ok_or_else(|| format!("{text} is not in {range:?}"))
}

/// Runs the program; its exit status, or a reason why there is none.
fn run(arguments: &Arguments) -> Result<u8, String> {
    let shared = Shared::new(arguments.config).map_err(|error| format!("no memory file: {error}"))?;
    let Some((program, rest)) = arguments.command.split_first() else { return Err("no program".into()) };
    let mut command = Command::new(program);
    command.args(rest);
    let mut launched =
        launch(&shared, &arguments.options, &mut command).map_err(|error| error.to_string())?;
    let status = launched.child.wait().map_err(|error| format!("{program}: {error}"))?;
    launched.settle();
    Ok(report(&shared, arguments, status.code()))
}

/// Prints what was asked for; the exit status.
fn report(shared: &Shared, arguments: &Arguments, code: Option<i32>) -> u8 {
    let host = shared.lock();
    if arguments.trace {
        for entry in host.driver.trace() {
            eprintln!("[{}] {entry}", entry.tgid);
        }
    }
    let books = host.driver.books();
    if arguments.books {
        eprintln!("neffload-simdrv: {books}");
    }
    for violation in host.driver.violations() {
        eprintln!("neffload-simdrv: {violation}");
    }
    for stop in &host.stops {
        eprintln!("neffload-simdrv: process {}: the kernel would stop: {}", stop.tgid, stop.why);
    }
    let clean = books.are_empty() && host.driver.violations().is_empty() && host.stops.is_empty();
    match code {
        Some(0) if clean => 0,
        Some(0) => 3,
        Some(code) => u8::try_from(code & 0xFF).unwrap_or(1),
        None => 1,
    }
}

fn main() -> ExitCode {
    match parse(std::env::args().skip(1)) {
        Err(reason) if reason.is_empty() => {
            print!("{HELP}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("neffload-simdrv: {reason}\n\n{HELP}");
            ExitCode::from(2)
        }
        Ok(arguments) => match run(&arguments) {
            Ok(code) => ExitCode::from(code),
            Err(reason) => {
                eprintln!("neffload-simdrv: {reason}");
                ExitCode::from(2)
            }
        },
    }
}
