//! Copying 1 GiB through the device, against the same system calls made by a bare loop. Both talk to a
//! responder that does nothing, so only the caller's own cost differs.

use anyhow::{Context as _, Result, ensure};
use loader_core::arch::Arch;
use loader_core::device::{AllocSpec, CoreId, Device as _, Place, Usage};
use neuron_drivers::abi::record::MemBufCopy64;
use neuron_drivers::abi::request::MEM_BUF_COPY64;
use neuron_drivers::harness::{Client, Options, Shared, inside, thread_cpu};
use neuron_drivers::neuron::{self, HostNeuron, Libc, Paths};
use neuron_drivers::simdrv::Config;
use std::time::Duration;

const BYTES: usize = 1 << 30;
const PIECE: usize = 64 << 10;
/// Copies that are timed together. The two sides take turns, so that both meet the same machine.
const BATCH: usize = 256;
/// Passes over all of it; of every batch the least time of each side counts.
const PASSES: usize = 8;
/// Most that the device may cost over the bare loop, in percent.
const LIMIT: f64 = 5.0;

pub(super) fn run() -> Result<()> {
    let host = Shared::new(Config::new(Arch::Cayman))?;
    let (through, bare) =
        inside(&host, &Options { silent: Some(MEM_BUF_COPY64), ..Options::default() }, measure)??;
    let over = (through.as_secs_f64() / bare.as_secs_f64() - 1.0) * 100.0;
    println!("1 GiB in {} copies of {PIECE} bytes, processor time, least of {PASSES}:", BYTES / PIECE);
    println!("  through the device {:>9.3} ms", through.as_secs_f64() * 1e3);
    println!("  bare system calls  {:>9.3} ms", bare.as_secs_f64() * 1e3);
    super::judge("  over, in percent  ", over, over <= LIMIT, "at most 5");
    ensure!(over <= LIMIT, "the device costs {over:.2} % more than a bare loop");
    Ok(())
}

/// What `work` takes of the calling thread's processor time.
fn timed(work: impl FnOnce() -> Result<()>) -> Result<Duration> {
    let start = thread_cpu();
    work()?;
    Ok(thread_cpu() - start)
}

fn measure() -> Result<(Duration, Duration)> {
    let device: HostNeuron<Libc> = HostNeuron::open(Libc, &Paths::LINUX, 0, neuron::Options::ALL, Vec::new())
        .map_err(|error| anyhow::anyhow!("{error}"))?;
    let spec = AllocSpec {
        core: CoreId(0),
        place: Place::Hbm(0),
        size: BYTES as u64,
        align: 0,
        usage: Usage::Tensor,
        tag: "bench",
        contiguous: false,
    };
    let block = device.alloc(&spec).map_err(|error| anyhow::anyhow!("{error:?}"))?;
    let (scratch, options) = Client::prepare(4096, &Options::default())?;
    let client = Client::kernel(&options, scratch);
    let fd = client.open(0, neuron::Access::ReadWrite).ok().context("no second descriptor")?;
    let data = vec![0x5A; PIECE];
    let through = |batch: usize| {
        (0..BATCH).try_for_each(|at| {
            let offset = ((batch * BATCH + at) * PIECE) as u64;
            device.write(block.handle, offset, &data).map_err(|error| anyhow::anyhow!("{error:?}"))
        })
    };
    let bare = |batch: usize| {
        (0..BATCH).try_for_each(|at| {
            let mut raw = MemBufCopy64::default();
            raw.mem_handle.set(1);
            raw.buffer.set(client.scratch().address(0));
            raw.size.set(PIECE as u64);
            raw.offset.set(((batch * BATCH + at) * PIECE) as u64);
            raw.copy_to_mem_handle.set(1);
            client.scratch().put(0, zerocopy::IntoBytes::as_bytes(&raw));
            ensure!(client.ioctl(fd, MEM_BUF_COPY64, client.scratch().address(0)) == 0);
            Ok(())
        })
    };
    let mut least = vec![(Duration::MAX, Duration::MAX); BYTES / PIECE / BATCH];
    for _ in 0..PASSES {
        for (batch, least) in least.iter_mut().enumerate() {
            least.0 = least.0.min(timed(|| through(batch))?);
            least.1 = least.1.min(timed(|| bare(batch))?);
        }
    }
    client.close(fd);
    Ok(least.into_iter().fold((Duration::ZERO, Duration::ZERO), |sum, one| (sum.0 + one.0, sum.1 + one.1)))
}
