//! Staging of a 512 MiB file on two cores into the digest store, which keeps no bytes, so that the simulated memory is not
//! counted: memory beyond the payload and beyond the arena, and two threads against one.

use super::big::{big, neffload};
use super::judge;
use super::run::peak_kib;
use anyhow::{Context, Result, bail, ensure};
use loader_std::file::Input;
use loader_std::loader::{StreamMemory, prepare_streamed};
use loader_std::{LoadOptions, Loader};
use neffload_tests::fixture;
use neuron_drivers::sim::{Config, Content, Growing, HostSim};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Most memory beyond the payload, held in memory, and beyond the arena, streamed.
const BEYOND_PAYLOAD: u64 = 16 << 20;
const BEYOND_ARENA: u64 = 1 << 20;
/// Least gain of the second thread.
const GAIN: f64 = 1.4;
const DEVICE: &str = "sim,store=digest";

pub(super) fn run(rounds: usize) -> Result<()> {
    let Some(file) = big("stage.neff", &["--mib", "512", "--cores", "2"])? else { return Ok(()) };
    let neffload = neffload()?;
    let mut met = resident(&neffload, &file)?;
    met &= streamed(&neffload, &file)?;
    met &= threads(&neffload, &file, rounds)?;
    if met { Ok(()) } else { bail!("a target was missed") }
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// The document of a command.
fn ask(neffload: &Path, words: &[&str], file: &Path) -> Result<Value> {
    let output = Command::new(neffload).args(words).arg("--json").arg(file).output()?;
    let said = || String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{words:?}: {}{}", String::from_utf8_lossy(&output.stdout), said());
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn number(value: &Value) -> Result<u64> {
    value.as_u64().with_context(|| format!("no number: {value}"))
}

/// Peak resident bytes of a load.
fn peak(neffload: &Path, words: &[&str], file: &Path) -> Result<Option<u64>> {
    let mut arguments: Vec<&Path> = ["load", "--json", "--device", DEVICE].iter().map(Path::new).collect();
    arguments.extend(words.iter().map(Path::new));
    arguments.push(file);
    Ok(peak_kib(neffload, &arguments)?.map(|kib| kib << 10))
}

fn resident(neffload: &Path, file: &Path) -> Result<bool> {
    let document = ask(neffload, &["load", "--device", DEVICE], file)?;
    let payload = number(&document["peak"]["payload_bytes"])?;
    let Some(peak) = peak(neffload, &[], file)? else { return Ok(true) };
    let beyond = peak.saturating_sub(payload);
    println!("resident: payload {:.1} MiB, peak {:.1} MiB", mib(payload), mib(peak));
    let ok = beyond <= BEYOND_PAYLOAD;
    Ok(judge("resident, MiB beyond the payload", mib(beyond), ok, "<= 16"))
}

/// Of the process, what it needs more than for a small file; and of the loader alone, what it takes from the heap.
fn streamed(neffload: &Path, file: &Path) -> Result<bool> {
    let arena = |file: &Path| number(&ask(neffload, &["plan", "--device", DEVICE], file)?["arena_bytes"]);
    let beyond = |file: &Path| -> Result<Option<u64>> {
        let arena = arena(file)?;
        let peak = peak(neffload, &["--max-memory", &arena.to_string()], file)?;
        println!("streamed: {} in an arena of {:.2} MiB", file.display(), mib(arena));
        Ok(peak.map(|peak| peak.saturating_sub(arena)))
    };
    let (large, small) = (beyond(file)?, beyond(&fixture("cayman-2core"))?);
    let mut met = true;
    if let (Some(large), Some(small)) = (large, small) {
        let more = large.saturating_sub(small);
        let ok = more <= BEYOND_ARENA;
        met = judge("streamed, process, MiB beyond the arena and a small file's", mib(more), ok, "<= 1");
    }
    let heap = heap_beyond(file, arena(file)?)?;
    Ok(judge("streamed, heap, MiB beyond the arena", mib(heap), heap <= BEYOND_ARENA, "<= 1") && met)
}

/// Heap that a streamed load has at most, beyond its budget; device and registry included.
fn heap_beyond(file: &Path, budget: u64) -> Result<u64> {
    let most = usize::try_from(budget)?;
    let mut outcome = Ok(());
    let measured = allocation_counter::measure(|| outcome = load(file, most));
    outcome?;
    Ok(measured.bytes_max.saturating_sub(budget))
}

fn load(file: &Path, most: usize) -> Result<()> {
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

/// Staging phase by one and by two threads in alternation; the fastest of each counts.
fn threads(neffload: &Path, file: &Path, rounds: usize) -> Result<bool> {
    let mut best = [u64::MAX; 2];
    for _ in 0..rounds {
        for (best, threads) in best.iter_mut().zip(["1", "2"]) {
            let document = ask(neffload, &["load", "--device", DEVICE, "--threads", threads], file)?;
            *best = number(&document["timing_ns"]["stage"])?.min(*best);
        }
    }
    let seconds = best.map(|nanoseconds| nanoseconds as f64 / 1e9);
    println!("staging: one thread {:.3} s, two threads {:.3} s", seconds[0], seconds[1]);
    let gain = seconds[0] / seconds[1].max(1e-9);
    Ok(judge("two threads, times one thread", gain, gain >= GAIN, ">= 1.4"))
}
