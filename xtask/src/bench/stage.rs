//! Staging of a 512 MiB file on two cores into the digest store, which keeps no bytes, so that the simulated memory is not
//! counted: memory beyond the payload and beyond the arena, and two threads against one.

use super::big::{big, neffload};
use super::judge;
use super::run::{peak_kib, program};
use super::table::Table;
use anyhow::{Context, Result, ensure};
use loader_std::file::Input;
use loader_std::loader::{StreamMemory, prepare_streamed};
use loader_std::{LoadOptions, Loader};
use neffload_tests::fixture;
use neuron_drivers::sim::{Config, Content, Growing, HostSim};
use serde_json::Value;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Most memory beyond the payload, held in memory, and beyond the arena, streamed.
const BEYOND_PAYLOAD: u64 = 16 << 20;
const BEYOND_ARENA: u64 = 1 << 20;
/// Least gain of the second thread.
const GAIN: f64 = 1.4;
const DEVICE: &str = "sim,store=digest";

pub(super) fn run(rounds: usize) -> Result<()> {
    let Some(file) = big("stage.neff", &["--mib", "512", "--cores", "2"])? else { return Ok(()) };
    let bench = Bench { neffload: neffload()?, file };
    let mut table = Table::new(["figure", "measured", "target", "verdict"]);
    bench.resident(&mut table)?;
    bench.streamed(&mut table)?;
    bench.threads(rounds, &mut table)?;
    print!("{table}");
    Ok(())
}

/// The command, and the file that it is measured with.
struct Bench {
    neffload: PathBuf,
    file: PathBuf,
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn number(value: &Value) -> Result<u64> {
    value.as_u64().with_context(|| format!("no number: {value}"))
}

/// A figure without a target.
fn fact(table: &mut Table<4>, figure: &str, measured: String) {
    table.row([figure, &measured, "", ""]);
}

/// A figure with a target, in the table and in the exit status.
fn judged(table: &mut Table<4>, figure: &str, measured: f64, ok: bool, target: &str) {
    judge(figure, measured, ok, target);
    table.row([figure, &format!("{measured:.2}"), target, if ok { "met" } else { "MISSED" }]);
}

impl Bench {
    /// The document of a command.
    fn ask(&self, words: &[&str], file: &Path) -> Result<Value> {
        let output = Command::new(&self.neffload).args(words).arg("--json").arg(file).output()?;
        let said = || String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(output.status.success(), "{words:?}: {}{}", String::from_utf8_lossy(&output.stdout), said());
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// Peak resident bytes of a load.
    fn peak(&self, words: &[&str], file: &Path) -> Result<Option<u64>> {
        let mut arguments: Vec<&Path> =
            ["load", "--json", "--device", DEVICE].iter().map(Path::new).collect();
        arguments.extend(words.iter().map(Path::new));
        arguments.push(file);
        Ok(peak_kib(&self.neffload, &arguments)?.map(|kib| kib << 10))
    }

    fn resident(&self, table: &mut Table<4>) -> Result<()> {
        let document = self.ask(&["load", "--device", DEVICE], &self.file)?;
        let payload = number(&document["peak"]["payload_bytes"])?;
        fact(table, "resident: payload, MiB", format!("{:.1}", mib(payload)));
        let Some(peak) = self.peak(&[], &self.file)? else { return Ok(()) };
        let beyond = peak.saturating_sub(payload);
        let ok = beyond <= BEYOND_PAYLOAD;
        judged(table, "resident: process beyond the payload, MiB", mib(beyond), ok, "<= 16");
        Ok(())
    }

    /// The least budget of a file, and what a process that only loads needs beyond it.
    fn beyond(&self, file: &Path) -> Result<(u64, Option<u64>)> {
        let arena = number(&self.ask(&["plan", "--device", DEVICE], file)?["arena_bytes"])?;
        let budget = arena.to_string();
        let words = ["bench", "stage", "--load"].map(Path::new);
        let peak = peak_kib(&env::current_exe()?, &[&words[..], &[file, Path::new(&budget)]].concat())?;
        Ok((arena, peak.map(|kib| (kib << 10).saturating_sub(arena))))
    }

    /// Of a process that only loads, what it needs beyond its budget more than for a small file, since both hold the program;
    /// and of the loader alone, what it takes from the heap beyond its budget, the device and the registry included. The
    /// command holds its report beside that, so its figure has no target.
    fn streamed(&self, table: &mut Table<4>) -> Result<()> {
        let (arena, large) = self.beyond(&self.file)?;
        let (_, small) = self.beyond(&fixture("cayman-2core"))?;
        fact(table, "streamed: least budget, MiB", format!("{:.2}", mib(arena)));
        if let Some(peak) = self.peak(&["--max-memory", &arena.to_string()], &self.file)? {
            let beyond = format!("{:.2}", mib(peak.saturating_sub(arena)));
            fact(table, "streamed: the command beyond the budget, program and report included, MiB", beyond);
        }
        if let (Some(large), Some(small)) = (large, small) {
            fact(
                table,
                "streamed: process beyond the budget, program included, MiB",
                format!("{:.2}", mib(large)),
            );
            let more = large.saturating_sub(small);
            let ok = more <= BEYOND_ARENA;
            judged(table, "streamed: the same, more than for a 20 KB file, MiB", mib(more), ok, "<= 1");
        }
        let heap = heap_beyond(&self.file, arena)?;
        judged(table, "streamed: heap beyond the budget, MiB", mib(heap), heap <= BEYOND_ARENA, "<= 1");
        let plan = program(Command::new(&self.neffload).args(["plan", "--device", DEVICE]).arg(&self.file))?;
        fact(table, "neffload plan", plan.to_string());
        let words = ["load", "--device", DEVICE, "--max-memory", &arena.to_string()];
        let load = program(Command::new(&self.neffload).args(words).arg(&self.file))?;
        fact(table, "neffload load --max-memory", load.to_string());
        let passes = number(&self.ask(&words, &self.file)?["passes"])?;
        judged(table, "passes over the file", passes as f64, passes <= 6, "<= 6");
        Ok(())
    }

    /// Staging phase by one and by two threads in alternation; the fastest of each counts.
    fn threads(&self, rounds: usize, table: &mut Table<4>) -> Result<()> {
        let mut best = [u64::MAX; 2];
        for _ in 0..rounds {
            for (best, threads) in best.iter_mut().zip(["1", "2"]) {
                let document = self.ask(&["load", "--device", DEVICE, "--threads", threads], &self.file)?;
                *best = number(&document["timing_ns"]["stage"])?.min(*best);
            }
        }
        let seconds = best.map(|nanoseconds| nanoseconds as f64 / 1e9);
        let times = format!("{:.3} s, {:.3} s", seconds[0], seconds[1]);
        fact(table, "staging by one thread, by two", times);
        let gain = seconds[0] / seconds[1].max(1e-9);
        judged(table, "two threads, times one thread", gain, gain >= GAIN, ">= 1.4");
        Ok(())
    }
}

/// Heap that a streamed load has at most, beyond its budget; device and registry included.
fn heap_beyond(file: &Path, budget: u64) -> Result<u64> {
    let most = usize::try_from(budget)?;
    let mut outcome = Ok(());
    let measured = allocation_counter::measure(|| outcome = load(file, most));
    outcome?;
    Ok(measured.bytes_max.saturating_sub(budget))
}

/// Loads a file as a stream within a budget, and unloads it.
pub(super) fn load(file: &Path, most: usize) -> Result<()> {
    let mut input = Input::open(file)?;
    let options = LoadOptions::default();
    let loaded = StreamMemory::enough(most, |memory, _| {
        let prepared = prepare_streamed(&mut input, memory, &options)?;
        let config = Config { content: Content::Digest, ..Config::flat(prepared.arch()) };
        let loader = Loader::new(HostSim::new(config, Growing::new(false)));
        loader.place(prepared).map(drop)
    });
    loaded.map_err(|refused| anyhow::anyhow!("{refused}"))
}
