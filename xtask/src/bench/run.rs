//! One timed run of a program or of a closure.

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeVal, TimeValLike};
use std::fmt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The program that says how much memory another one needed at most.
const TIME: &str = "/usr/bin/time";

/// What a run took.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cost {
    pub(super) wall: Duration,
    /// User and system time.
    pub(super) cpu: Duration,
}

impl Cost {
    pub(super) fn plus(self, other: Self) -> Self {
        Self { wall: self.wall + other.wall, cpu: self.cpu + other.cpu }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "wall {:.3} s, CPU {:.3} s", self.wall.as_secs_f64(), self.cpu.as_secs_f64())
    }
}

fn cpu(who: UsageWho) -> Result<Duration> {
    let usage = getrusage(who)?;
    let micros = |time: TimeVal| u64::try_from(time.num_microseconds()).unwrap_or(0);
    Ok(Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time())))
}

/// Runs a program to its end. It must succeed.
pub(super) fn program(command: &mut Command) -> Result<Cost> {
    let (start, before) = (Instant::now(), cpu(UsageWho::RUSAGE_CHILDREN)?);
    let status = command.stdout(Stdio::null()).status().with_context(|| format!("{command:?}"))?;
    ensure!(status.success(), "{command:?} failed");
    Ok(Cost { wall: start.elapsed(), cpu: cpu(UsageWho::RUSAGE_CHILDREN)? - before })
}

/// Runs a closure.
pub(super) fn closure<T>(work: impl FnOnce() -> T) -> Result<(T, Cost)> {
    let (start, before) = (Instant::now(), cpu(UsageWho::RUSAGE_SELF)?);
    let made = work();
    Ok((made, Cost { wall: start.elapsed(), cpu: cpu(UsageWho::RUSAGE_SELF)? - before }))
}

/// Peak resident memory of a program in KiB; `None` where there is no GNU time. A child of this process
/// would be charged with this process's own memory, hence the detour.
pub(super) fn peak_kib(program: &Path, arguments: &[&Path]) -> Result<Option<u64>> {
    if !Path::new(TIME).is_file() {
        println!("no peak memory: {TIME} is not there");
        return Ok(None);
    }
    let output = Command::new(TIME).args(["-f", "%M"]).arg(program).args(arguments).output()?;
    let text = String::from_utf8_lossy(&output.stderr);
    let last = text.lines().last().and_then(|line| line.trim().parse().ok());
    Ok(Some(last.with_context(|| format!("{TIME} printed {text}"))?))
}

/// The middle one by CPU time and the middle one by wall time, as one cost.
pub(super) fn median(costs: &[Cost]) -> Cost {
    let middle = |time: fn(&Cost) -> Duration| {
        let mut times: Vec<Duration> = costs.iter().map(time).collect();
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    Cost { wall: middle(|cost| cost.wall), cpu: middle(|cost| cost.cpu) }
}

/// One time over another.
pub(super) fn ratio(a: Duration, b: Duration) -> f64 {
    a.as_secs_f64() / b.as_secs_f64().max(1e-9)
}
