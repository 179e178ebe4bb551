//! `neffload-simdrv -- CMD…`: runs a program under the simulated kernel driver.
//!
//! The program's `/dev/neuron0` answers real system calls, its own and those of its children. No privileges,
//! kernel module or device are needed; Linux with seccomp user notification is.
#![deny(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a reader that went away must not end the program"
)]

use loader_core::arch::Arch;
use neuron_drivers::harness::{Options, Shared, forward_signals, launch, raise_descriptor_limit};
use neuron_drivers::simdrv::{Config, FaultPoint, Strictness, Version};
use std::ffi::OsString;
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitCode, ExitStatus};

const HELP: &str = "\
Runs a program under the simulated Neuron driver.

Usage: neffload-simdrv [OPTIONS] -- CMD [ARGUMENTS]...

Options:
      --arch ARCH        sunda, cayman (default) or mariana
      --devices N        device nodes, 1 to 64 (default 1)
      --driver VERSION   2.24, 2.27 or 2.30 (default 2.24)
      --device-dir DIR   directory of the nodes (default /dev)
      --reset-us N       virtual microseconds that a reset takes (default 1000)
      --fault N[@K]      fault point N of the driver's description, at the K-th call that it concerns (default 1)
      --faithful         do what the driver does on harmful input, without a word
      --paranoid         answer harmful input with EIO
      --trace            print every request to standard error
      --books            print what processes still hold when all of them have ended
  -h, --help             this text

Exit status: that of CMD, or 128 and the number of the signal that ended it; 2 for bad usage, where the kernel forbids
the harness, or if CMD does not start; 3 if CMD ended well but left something behind or did something that the driver
does not check but punishes.
";

/// A line on standard error, if anybody reads it.
macro_rules! say {
    ($($text:tt)*) => {{
        let _ = writeln!(std::io::stderr().lock(), $($text)*);
    }};
}

struct Arguments {
    config: Config,
    options: Options,
    faults: Vec<(FaultPoint, u64)>,
    trace: bool,
    books: bool,
    command: Vec<OsString>,
}

fn parse(mut words: impl Iterator<Item = OsString>) -> Result<Arguments, String> {
    let mut arch = Arch::Cayman;
    let mut version = Version::V2_24;
    let mut parsed = Arguments {
        config: Config::new(arch),
        options: Options { bound: true, ..Options::default() },
        faults: Vec::new(),
        trace: false,
        books: false,
        command: Vec::new(),
    };
    while let Some(word) = words.next() {
        let word = text(word)?;
        let mut value = || text(words.next().ok_or_else(|| format!("{word} needs a value"))?);
        match word.as_str() {
            "--" => {
                parsed.command = words.collect();
                break;
            }
            "--arch" => {
                let name = value()?;
                let found = Arch::by_name(&name);
                arch = found.ok_or_else(|| format!("no architecture {name}"))?;
            }
            "--driver" => version = driver(&value()?)?,
            "--devices" => parsed.config.devices = number(&value()?, 1..=64)? as u32,
            "--reset-us" => parsed.config.reset_us = number(&value()?, 0..=u64::MAX / 2)?,
            "--device-dir" => parsed.options.device_dir = folder(&value()?)?,
            "--fault" => parsed.faults.push(fault(&value()?)?),
            "--faithful" => parsed.config.strictness = Strictness::Faithful,
            "--paranoid" => parsed.config.strictness = Strictness::Paranoid,
            "--trace" => parsed.trace = true,
            "--books" => parsed.books = true,
            "-h" | "--help" => return Err(String::new()),
            other => return Err(format!("no option {other}")),
        }
    }
    let Config { devices, reset_us, strictness, .. } = parsed.config;
    parsed.config =
        Config { devices, reset_us, strictness, forget_freed: LARGE, ..Config::with_version(arch, version) };
    if parsed.command.is_empty() { Err("no program after --".into()) } else { Ok(parsed) }
}

/// Chunks of that many bytes are forgotten when they are freed, so that long sessions do not fill the host.
const LARGE: u64 = 64 << 20;

fn text(word: OsString) -> Result<String, String> {
    word.into_string().map_err(|word| format!("{} is no text", word.to_string_lossy()))
}

/// A folder as programs are seen to name it: from the root on, without `.` and a slash at the end.
fn folder(name: &str) -> Result<String, String> {
    let path = std::path::absolute(name).map_err(|error| format!("{name}: {error}"))?;
    Ok(text(path.into_os_string())?.trim_end_matches('/').to_owned())
}

/// A driver by its version, in full or as people say it.
fn driver(name: &str) -> Result<Version, String> {
    let short = |text: &'static str| text.splitn(3, '.').take(2).map(str::len).sum::<usize>() + 1;
    let is = |version: &Version| name == version.text() || name == &version.text()[..short(version.text())];
    let found = Version::ALL.into_iter().find(is);
    found.ok_or_else(|| format!("no driver {name}; there are 2.24, 2.27 and 2.30"))
}

/// A fault point and the call at which it strikes.
fn fault(name: &str) -> Result<(FaultPoint, u64), String> {
    let (point, nth) = name.split_once('@').unwrap_or((name, "1"));
    let point = number(point, 1..=36)?;
    let nth = number(nth, 1..=u64::MAX)?;
    let point = u8::try_from(point).ok().and_then(FaultPoint::new).filter(|point| !point.is_external());
    Ok((point.ok_or("points 29 to 31 are signals, kills and other processes: send them yourself")?, nth))
}

fn number(text: &str, range: std::ops::RangeInclusive<u64>) -> Result<u64, String> {
    text.parse().ok().filter(|n| range.contains(n)).ok_or_else(|| format!("{text} is not in {range:?}"))
}

/// Runs the program; its exit status, or a reason why there is none.
fn run(arguments: &mut Arguments) -> Result<u8, String> {
    arguments.options.descriptors = raise_descriptor_limit();
    let shared = Shared::new(arguments.config).map_err(|error| format!("no memory file: {error}"))?;
    for &(point, nth) in &arguments.faults {
        shared.lock().driver.arm(point, nth);
    }
    let Some((program, rest)) = arguments.command.split_first() else { return Err("no program".into()) };
    let name = program.to_string_lossy();
    let mut command = Command::new(program);
    command.args(rest);
    let launched = launch(&shared, &arguments.options, &mut command);
    let (mut child, watch) = launched.map_err(|error| format!("{name}: {error}"))?.split();
    forward_signals(Some(child.id()));
    let status = child.wait().map_err(|error| format!("{name}: {error}"))?;
    forward_signals(None);
    watch.settle();
    if let Some(signal) = status.signal() {
        say!("neffload-simdrv: {name} was ended by signal {signal}");
    }
    Ok(report(&shared, arguments, status))
}

/// Prints what was asked for; the exit status.
fn report(shared: &Shared, arguments: &Arguments, status: ExitStatus) -> u8 {
    let host = shared.lock();
    if arguments.trace {
        for entry in host.driver.trace() {
            say!("[{}] {entry}", entry.tgid);
        }
    }
    let books = host.driver.books();
    if arguments.books {
        say!("neffload-simdrv: {books}");
    }
    for violation in host.driver.violations() {
        say!("neffload-simdrv: {violation}");
    }
    for stop in &host.stops {
        say!("neffload-simdrv: process {}: the kernel would stop: {}", stop.tgid, stop.why);
    }
    let clean = books.are_empty() && host.driver.violations().is_empty() && host.stops.is_empty();
    match (status.code(), status.signal()) {
        (Some(0), _) if clean => 0,
        (Some(0), _) => 3,
        (Some(code), _) => u8::try_from(code & 0xFF).unwrap_or(1),
        (None, signal) => u8::try_from(128 + signal.unwrap_or(0)).unwrap_or(u8::MAX),
    }
}

fn main() -> ExitCode {
    match parse(std::env::args_os().skip(1)) {
        Err(reason) if reason.is_empty() => {
            let _ = std::io::stdout().lock().write_all(HELP.as_bytes());
            ExitCode::SUCCESS
        }
        Err(reason) => {
            say!("neffload-simdrv: {reason}\n\n{HELP}");
            ExitCode::from(2)
        }
        Ok(mut arguments) => match run(&mut arguments) {
            Ok(code) => ExitCode::from(code),
            Err(reason) => {
                say!("neffload-simdrv: {reason}");
                ExitCode::from(2)
            }
        },
    }
}
