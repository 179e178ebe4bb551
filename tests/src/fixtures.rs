//! The project's own NEFF files: small, reproducible, and together holding every construct that real
//! files have (real-files.md §3 to §5). `cargo xtask fixtures` writes them to `tests/fixtures`.
//!
//! | file | what it has |
//! |---|---|
//! | `sunda-1core` | version 1.0, one core, no padding, pax times, `pointer`, `c4`, one `control_table`, a run of 200,000 bytes |
//! | `cayman-2core` | version 2.0, work on both cores, constants, `virtual`, static blocks, `d4`, `dge-table` |
//! | `cayman-registers` | register-indirect operands with `ce`, `a8`, `da`; a 4 GiB input; idle second core |
//! | `mariana-gather` | `remote` state buffers, a two-core gather, cast, transpose, four-dimensional copies |
//! | `inf1-1core` | a NeuronCore-v1 file: no `target`, three engines, pinned queues, host operators |

mod cayman;
mod inf1;
mod mariana;
mod sunda;

use crate::build::{Core, Tree, slot, slot::Slot, to_neff};
use loader_core::arch::Engine;
use loader_std::pack::Options;
use serde_json::json;

/// One file: its members and how they are packed.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// File name without `.neff`.
    pub name: &'static str,
    /// Members.
    pub tree: Tree,
    /// Whether `neff.json` comes first; else it comes last.
    pub graph_first: bool,
    /// Header and packing.
    pub options: Options,
}

impl Fixture {
    /// The whole file.
    ///
    /// # Panics
    /// Never, with the trees of this module.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let (first, last): (&[&str], &[&str]) =
            if self.graph_first { (&["neff.json"], &[]) } else { (&[], &["neff.json"]) };
        to_neff(&self.tree, first, last, &self.options)
            .unwrap_or_else(|error| panic!("{}: {error}", self.name))
    }
}

/// All fixtures, by name.
#[must_use]
pub fn all() -> Vec<Fixture> {
    vec![cayman::two_cores(), cayman::registers(), inf1::one_core(), mariana::gather(), sunda::one_core()]
}

/// The fixture of that name.
///
/// # Panics
/// If there is none.
#[must_use]
pub fn named(name: &str) -> Fixture {
    all().into_iter().find(|fixture| fixture.name == name).unwrap_or_else(|| panic!("no fixture {name}"))
}

/// Packing of current compilers: the name of `info.json` in the header, the rest as given.
fn options(name: &str, tree: &Tree, features: u64, lnc_size: u32) -> Options {
    let mut options = Options::default();
    options.header.apply_info(&tree["info.json"]).unwrap_or_else(|error| panic!("{name}: {error}"));
    options.header.feature_bits = features;
    options.header.lnc_size = lnc_size;
    options
}

/// The first slots of every stream of a cayman or mariana file.
const OPENING: [Slot; 2] = [slot::START, slot::LABEL];

/// Distance of state-buffer partitions in bytes (real-files.md §4).
const PARTITION: i64 = 262_144;

/// A core of a file of 2024 or later: engines with their opening, tables, fp8 and the carve-out.
fn modern_core(index: usize, suffix: &str, carveout: u64) -> Core {
    let mut core = Core::new(index);
    core.key("#rank_world_size", json!(0));
    core.key("cc_streams", json!({"num_streams": 0}));
    core.key("debug_info", json!({}));
    core.key(
        "fp8_conversion_config",
        json!({
            "emax_fp8_e4m3": 8, "emax_fp8_e5m2": 15, "fp8_range_extension": true, "fp8_sis": false,
            "fp8_sns": false, "ocp_sat": true,
        }),
    );
    core.key("neff_features", json!(["neff_feature_vnc"]));
    core.key("runtime_event_count", json!(12));
    core.key("runtime_semaphore_count", json!(3));
    let reservation = json!({
        "base_partition": 0, "offset": carveout, "partitions": 128, "size": 8, "type": "evtaccel",
    });
    core.key("runtime_statebuffer_reservation", json!([reservation]));
    for (engine, stem) in STEMS {
        core.engine(engine, &format!("{stem}{suffix}"), &OPENING);
    }
    core.debug_members();
    core
}

/// Engine files as compilers name them, before the digit that some add.
const STEMS: [(Engine, &str); 5] = [
    (Engine::Pe, "PE"),
    (Engine::Act, "Activation"),
    (Engine::Pool, "Pool"),
    (Engine::Dve, "DVE"),
    (Engine::Sp, "SP"),
];

/// Real instructions of the compute engines, so that no stream is only pseudo-instructions.
fn compute(core: &mut Core, seed: u32) {
    let some = |opcodes: &[u8]| -> Vec<Slot> {
        opcodes.iter().zip(seed..).map(|(opcode, seed)| slot::real(*opcode, seed)).collect()
    };
    core.slots(Engine::Pe, &some(&[0x01, 0x02, 0x01, 0x02, 0xA0]));
    core.slots(Engine::Act, &some(&[0x23, 0x21, 0x46]));
    core.slots(Engine::Dve, &some(&[0x42, 0x43, 0x48]));
}
