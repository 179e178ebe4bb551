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
/// Rounds; the least time of each side counts.
const ROUNDS: usize = 7;
/// Most that the device may cost over the bare loop, in percent.
const LIMIT: f64 = 5.0;

pub(super) fn run() -> Result<()> {
    let host = Shared::new(Config::new(Arch::Cayman))?;
    let (through, bare) =
        inside(&host, &Options { silent: Some(MEM_BUF_COPY64), ..Options::default() }, measure)??;
    let over = (through.as_secs_f64() / bare.as_secs_f64() - 1.0) * 100.0;
    println!("1 GiB in {} copies of {PIECE} bytes, processor time, least of {ROUNDS}:", BYTES / PIECE);
    println!("  through the device {:>9.3} ms", through.as_secs_f64() * 1e3);
    println!("  bare system calls  {:>9.3} ms", bare.as_secs_f64() * 1e3);
    println!("  over               {over:>9.2} %  (limit {LIMIT} %)");
    ensure!(over <= LIMIT, "the device costs {over:.2} % more than a bare loop");
    Ok(())
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
    let (mut through, mut bare) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        let start = thread_cpu();
        for at in 0..BYTES / PIECE {
            let offset = (at * PIECE) as u64;
            device.write(block.handle, offset, &data).map_err(|error| anyhow::anyhow!("{error:?}"))?;
        }
        through = through.min(thread_cpu() - start);
        let start = thread_cpu();
        for at in 0..BYTES / PIECE {
            let mut raw = MemBufCopy64::default();
            raw.mem_handle.set(1);
            raw.buffer.set(client.scratch().address(0));
            raw.size.set(PIECE as u64);
            raw.offset.set((at * PIECE) as u64);
            raw.copy_to_mem_handle.set(1);
            client.scratch().put(0, zerocopy::IntoBytes::as_bytes(&raw));
            ensure!(client.ioctl(fd, MEM_BUF_COPY64, client.scratch().address(0)) == 0);
        }
        bare = bare.min(thread_cpu() - start);
    }
    client.close(fd);
    Ok((through, bare))
}
