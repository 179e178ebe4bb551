//! S3: time per element of a large file against one of a tenth of its size, and its arena.

use super::arena;
use super::judge;
use super::manifest::{LARGE, SMALL, model};
use super::run::{Cost, median, ratio};
use super::s2::Bench;
use anyhow::{Result, ensure};

pub(super) fn run(rounds: usize) -> Result<()> {
    let (Some(large), Some(small)) = (model(&LARGE)?, model(&SMALL)?) else { return Ok(()) };
    let (mut large, mut small) = (Bench::new(&large)?, Bench::new(&small)?);
    let (mut costs, mut elements) = ([Vec::new(), Vec::new()], [0, 0]);
    for _ in 0..rounds {
        for (at, bench) in [&mut large, &mut small].into_iter().enumerate() {
            let (counts, cost) = bench.lower()?;
            elements[at] = counts.elements();
            costs[at].push(cost);
        }
    }
    let [large, small] = costs.map(|costs: Vec<Cost>| median(&costs));
    println!("S3 of {} elements: {large}", elements[0]);
    println!("S3 of {} elements: {small}", elements[1]);
    let scale = elements[0] as f64 / elements[1] as f64;
    let grown = ratio(large.cpu, small.cpu) / scale;
    let linear = judge("CPU per element, times the smaller file's", grown, grown <= 1.3, "<= 1.3");
    println!("the same in wall time: {:.2}", ratio(large.wall, small.wall) / scale);
    let small = arena::run()?;
    ensure!(linear && small, "a target was missed");
    Ok(())
}
