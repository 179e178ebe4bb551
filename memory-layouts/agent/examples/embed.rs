//! A load in memory that is set aside before: the example of docs/EMBEDDING.md.
#![allow(clippy::expect_used, reason = "an example stops where it cannot go on")]

use loader_core::container::Layer;
use loader_core::limits::Limits;
use loader_core::plan::pages::Page;
use loader_core::policy::Policy;
use neffload_agent::{Buffers, Options, Verdict, load};
use neuron_drivers::sim::{Config, Content, Fixed, LocalSim, Slot};

fn main() {
    let name = std::env::args().nth(1).expect("a file");
    let file = std::fs::read(name).expect("a file that can be read");
    // All memory of the load. In an image these are statics; `Source` reads the file piece by piece there.
    let (mut members, mut arena) = (vec![0; 80 << 10], vec![0; 176 << 10]);
    let (mut input, mut names, mut scratch) = ([0; 4096], [0; 768], [0; 2048]);
    let (mut layers, mut pages) = ([Layer::new()], [None::<Page>; 16]);
    let mut slots = [Slot::EMPTY; 320];
    let mut buffers = Buffers {
        members: &mut members,
        arena: &mut arena,
        input: &mut input,
        layers: &mut layers,
        names: &mut names,
        extents: &mut [],
        scratch: &mut scratch,
        pages: &mut pages,
    };
    let options = Options { limits: Limits::DEFAULT, policy: Policy::DEFAULT, keep: 4096, core: 0 };
    let (slots, content) = (&mut slots, Content::Digest);
    let loaded = load(
        &mut file.as_slice(),
        &mut buffers,
        &options,
        |arch| {
            Ok(LocalSim::new(Config { content, ..Config::flat(arch) }, Fixed::new(slots, &mut [], &mut [])))
        },
        |loaded| loaded.plan.cores().for_each(|core| println!("{}", Verdict(core))),
    );
    loaded.unwrap_or_else(|refused| println!("{refused}"));
}
