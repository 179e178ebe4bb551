//! From a block's descriptors to pairs of ring entries (R9, R29, R33 to R36, R39, R40).
//!
//! The two sides of a descriptor are walked together and cut where either one's run ends; each piece
//! is a *run*. Runs are numbered through the block; run k goes to instance k mod n. A run is cut into
//! entries of at most 65,536 bytes and makes one packet, or several if it has too many entries. Nothing is
//! stored: pairs go to a [`PairSink`] one by one.

use super::ring::{MOST_BYTES, packet_limit};
use super::walk::{Walk, extent};
use crate::arch::Arch;
use crate::error::{Error, Stage, StageCode};
use crate::lower::KbinView;
use crate::lower::record::{Ap, Desc, DescFlags, DescType, Op};

/// Most sources of one descriptor: 32 (lowering.md §2.5), or what a layout has room for.
const MOST_SOURCES: usize = crate::layout::CORE_SOURCES;

/// An end of a transfer: a byte offset in a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// The variable.
    pub var: u32,
    /// Bytes from its start.
    pub off: u64,
}

/// One source entry and one destination entry at the same ring position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Ring instance, 0 to n.
    pub instance: u32,
    /// Source.
    pub from: End,
    /// Destination.
    pub to: End,
    /// Bytes read.
    pub tx: u32,
    /// Bytes written; differs from `tx` for a cast only.
    pub rx: u32,
    /// First of its packet.
    pub first: bool,
    /// Last of its packet.
    pub last: bool,
    /// Last of its run.
    pub run_end: bool,
}

/// Takes the pairs of a block in ring order per instance.
pub trait PairSink {
    /// One pair of entries.
    ///
    /// # Errors
    /// Ends the expansion.
    fn pair(&mut self, pair: &Pair) -> Result<(), Error>;
}

/// What a block amounts to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockTotals {
    /// Descriptors of the file.
    pub descriptors: u32,
    /// Runs; instances 0 to `runs` (at most n) are used.
    pub runs: u64,
    /// Bytes written to destinations.
    pub bytes: u64,
    /// What the device does is not encoded in full: gather arithmetic, cast, transpose.
    pub approximate: bool,
}

/// Expands one block over `rings` instances.
///
/// # Errors
/// A descriptor whose sides differ or whose form is unknown; what `sink` refuses.
pub fn expand_block<S: PairSink>(
    kbin: &KbinView<'_>,
    descs: &[Desc],
    rings: u32,
    arch: Arch,
    sink: &mut S,
) -> Result<BlockTotals, Error> {
    match crate::layout::SMALL {
        true => expand::<dyn PairSink>(kbin, descs, rings, arch, sink),
        false => expand(kbin, descs, rings, arch, sink),
    }
}

fn expand<S: PairSink + ?Sized>(
    kbin: &KbinView<'_>,
    descs: &[Desc],
    rings: u32,
    arch: Arch,
    sink: &mut S,
) -> Result<BlockTotals, Error> {
    let mut totals = BlockTotals::default();
    for (index, desc) in descs.iter().enumerate() {
        let number = u64::try_from(index).unwrap_or(u64::MAX);
        let mut sides = Sides::none();
        sides.open(kbin, desc).map_err(|error| error.third(number))?;
        totals.descriptors = totals.descriptors.wrapping_add(1);
        totals.bytes = totals.bytes.saturating_add(sides.bytes);
        totals.approximate |= sides.approximate;
        while let Some(units) = sides.piece() {
            let instance = totals.runs.checked_rem(u64::from(rings.max(1))).unwrap_or(0);
            let instance = u32::try_from(instance).unwrap_or(0);
            sides.emit(units, instance, packet_limit(arch), sink)?;
            totals.runs = totals.runs.wrapping_add(1);
        }
    }
    Ok(totals)
}

fn fault(code: StageCode) -> Error {
    Error::new(Stage::Plan, code)
}

/// One side of a descriptor.
struct Side<'m> {
    var: u32,
    walk: Walk<'m>,
}

impl Side<'_> {
    const fn end(&self) -> End {
        End { var: self.var, off: self.walk.offset() }
    }
}

/// Both sides of a descriptor, walked together.
struct Sides<'m> {
    /// The destination, then the sources.
    all: heapless::Vec<Side<'m>, { MOST_SOURCES + 1 }>,
    /// Bytes of one unit on the source side and on the destination side.
    units: (u32, u32),
    bytes: u64,
    approximate: bool,
}

impl<'m> Sides<'m> {
    /// Nothing yet. Filled where it lies, because it is large.
    const fn none() -> Self {
        Self { all: heapless::Vec::new(), units: (1, 1), bytes: 0, approximate: false }
    }

    #[inline(never)]
    fn open(&mut self, kbin: &KbinView<'m>, desc: &Desc) -> Result<(), Error> {
        let form = || fault(StageCode::DescriptorForm);
        let to = kbin.to(desc).ok_or_else(form)?;
        let sources = kbin.from(desc);
        let first = sources.first().ok_or_else(form)?;
        if desc.form() != DescType::DATA {
            return Err(form());
        }
        let units = Self::unit_bytes(desc, first, to).ok_or_else(form)?;
        self.units = units;
        let total = self.start(kbin, to, units.1).ok_or_else(form)?;
        for ap in sources {
            let read = self.start(kbin, ap, units.0).ok_or_else(form)?;
            if read != total {
                return Err(fault(StageCode::SidesDiffer).numbers(read, total));
            }
        }
        let plain = desc.operation() == Op::COPY && sources.len() == 1 && units.0 == units.1;
        self.approximate = !plain || desc.flags.has(DescFlags::CAST);
        self.bytes = total.saturating_mul(u64::from(units.1));
        Ok(())
    }

    /// One side more; gives its units.
    #[inline(never)]
    fn start(&mut self, kbin: &KbinView<'m>, ap: &Ap, unit: u32) -> Option<u64> {
        self.all.push(Side { var: ap.var_id.get(), walk: Walk::OVER }).ok()?;
        let walk = &mut self.all.last_mut()?.walk;
        walk.start(kbin.dims(ap), ap.off.get(), u64::from(unit))?;
        walk.units()
    }

    /// 1 and 1 byte; for a cast the two element sizes (R39).
    fn unit_bytes(desc: &Desc, from: &Ap, to: &Ap) -> Option<(u32, u32)> {
        if !desc.flags.has(DescFlags::CAST) {
            return Some((1, 1));
        }
        let size = |ap: &Ap| ap.element_type().bytes().map(u32::from);
        Some((size(from)?, size(to)?))
    }

    /// Units of the next run; `None` at the end.
    fn piece(&self) -> Option<u64> {
        let left = self.all.iter().map(|side| side.walk.left()).fold(u64::MAX, u64::min);
        (left > 0).then_some(left)
    }

    /// One run: chunk by chunk, the sources of a chunk one after the other (R35).
    fn emit<S: PairSink + ?Sized>(
        &mut self,
        units: u64,
        instance: u32,
        limit: u32,
        sink: &mut S,
    ) -> Result<(), Error> {
        let sources = u32::try_from(self.all.len().saturating_sub(1)).unwrap_or(u32::MAX);
        let chunks_a_packet = limit.checked_div(sources).unwrap_or(1).max(1);
        let unit = self.units.0.max(self.units.1);
        let most = MOST_BYTES.checked_div(u64::from(unit)).unwrap_or(1).max(1);
        let (mut left, mut in_packet) = (units, 0u32);
        while left > 0 {
            let now = left.min(most);
            left = left.saturating_sub(now);
            let run_end = left == 0;
            let packet_end = run_end || in_packet.wrapping_add(1) == chunks_a_packet;
            let bytes = |unit: u32| u32::try_from(now).unwrap_or(u32::MAX).saturating_mul(unit);
            let mut before = sources;
            let mut sides = self.all.iter();
            let Some(to) = sides.next().map(Side::end) else { break };
            for side in sides {
                let first = in_packet == 0 && before == sources;
                before = before.wrapping_sub(1);
                sink.pair(&Pair {
                    instance,
                    from: side.end(),
                    to,
                    tx: bytes(self.units.0),
                    rx: bytes(self.units.1),
                    first,
                    last: before == 0 && packet_end,
                    run_end: before == 0 && run_end,
                })?;
            }
            in_packet = if packet_end { 0 } else { in_packet.wrapping_add(1) };
            self.all.iter_mut().for_each(|side| side.walk.advance(now));
        }
        Ok(())
    }
}

/// What an access pattern touches: its first byte and end; `None` if that is not within 0 and 2^64.
pub(super) fn touched(kbin: &KbinView<'_>, ap: &Ap) -> Option<(u64, u64)> {
    extent(kbin.dims(ap), ap.off.get())
}
