//! S2, streaming, against `serde_json` with the same visitor on resident bytes, and against simdjson.

use super::big::{big, folder, installed};
use super::judge;
use super::reference;
use super::run::{closure, median, ratio};
use super::s2::{Bench, Counts, STREAM_BUFFERS};
use anyhow::{Result, ensure};
use neffload_tests::shared;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Name and arguments of the model that S2 and S3 are measured with.
pub(super) const LARGE: Model = Model { name: "manifest.neff", variables: "60000", blocks: "50000" };
/// A tenth of it.
pub(super) const SMALL: Model = Model { name: "manifest-tenth.neff", variables: "6000", blocks: "5000" };

pub(super) struct Model {
    name: &'static str,
    variables: &'static str,
    blocks: &'static str,
}

/// One core, ten transfers of one run for each block, and little content beside the manifests.
pub(super) fn model(model: &Model) -> Result<Option<PathBuf>> {
    let fixed = ["--mib", "1", "--cores", "1", "--descs", "10", "--runs", "1"];
    let sized = ["--vars", model.variables, "--blocks", model.blocks];
    big(model.name, &[fixed.as_slice(), &sized].concat())
}

pub(super) fn run(rounds: usize) -> Result<()> {
    let Some(file) = model(&LARGE)? else { return Ok(()) };
    let mut bench = Bench::new(&file)?;
    let manifests = bench.manifests()?;
    let bytes: usize = manifests.iter().map(|(_, text)| text.len()).sum();
    let (mut ours, mut theirs, mut counts) = (Vec::new(), Vec::new(), Counts::default());
    for _ in 0..rounds {
        let (found, cost) = bench.manifest()?;
        ours.push(cost);
        let (read, cost) = closure(|| reference::read(&manifests))?;
        theirs.push(cost);
        counts = read?;
        ensure!(counts == found, "the readers differ: {found:?} and {counts:?}");
    }
    let (ours, theirs) = (median(&ours), median(&theirs));
    let speed = |cpu: std::time::Duration| bytes as f64 / 1e6 / cpu.as_secs_f64();
    println!("{} bytes of manifests, {counts:?}", bytes);
    println!("S2 in pieces: {ours}, {:.0} MB/s of CPU time", speed(ours.cpu));
    println!("serde_json, resident: {theirs}, {:.0} MB/s of CPU time", speed(theirs.cpu));
    let part = ratio(theirs.cpu, ours.cpu);
    judge("throughput, times serde_json's", part, part >= 0.5, ">= 0.5");
    memory(&mut bench)?;
    simdjson(&file)
}

/// The same streamed from the compressed file, in fixed buffers.
fn memory(bench: &mut Bench) -> Result<()> {
    let (cost, passes, heap) = bench.streamed()?;
    println!("S1 and S2 streamed from the compressed file in {passes} passes: {cost}");
    let kib = STREAM_BUFFERS as f64 / 1024.0;
    judge("buffers beside the arena, KiB", kib, kib < 64.0, "< 64");
    judge("heap allocations", heap as f64, heap == 0, "0");
    Ok(())
}

/// What `baseline.cpp` of the shared data prints: libarchive and simdjson.
fn simdjson(file: &Path) -> Result<()> {
    let source = shared().map(|folder| folder.join("bench/baseline.cpp")).filter(|source| source.is_file());
    let (Some(source), Some(compiler)) = (source, installed("g++")) else {
        println!("skipped: simdjson needs g++ and bench/baseline.cpp of the shared data");
        return Ok(());
    };
    let program = folder()?.join("baseline");
    let mut build = Command::new(compiler);
    build.args(["-O2", "-std=c++17"]).arg(source).arg("-o").arg(&program);
    let built = build.args(["-larchive", "-lsimdjson", "-lcrypto"]).output()?;
    if !built.status.success() {
        println!("skipped: baseline.cpp does not build (libarchive, simdjson or libcrypto is missing)");
        return Ok(());
    }
    let output = Command::new(program).arg(file).output()?;
    println!("simdjson, whole documents: {}", String::from_utf8_lossy(&output.stdout).trim());
    Ok(())
}
