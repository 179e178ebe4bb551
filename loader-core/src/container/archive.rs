//! The payload: any number of gzip layers around one tar archive, as a push decoder (container.md §9).
//!
//! The reference decodes lazily, in windows of 65,536 inflated bytes: damage is noticed only in a window
//! that the tar reader needs a byte of, and it makes the whole window unreadable. This decoder has the same
//! verdicts without keeping a window: when the tar reader is done (or has found a fault), decoding goes on
//! to the end of the window it stopped in, and damage found there goes before the tar reader's own result.

use super::events::{Events, remark};
use super::gzip::{Damage, HEADER_BYTES, Header, Seen, WINDOW};
use super::tar::{Tar, is_archive_fault};
use super::workspace::{AnyLayer, Layers, Workspace};
use crate::error::{ContainerCode, Error, Stage};
use crate::limits::Limits;

/// How far behind the last window that counts decoding goes on, to see the gzip trailer.
const DRAIN: u64 = 1 << 20;

/// The reference's limit on nested layers (container.md §9.1, Confirmed).
const MAX_LAYERS: usize = 24;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// What the innermost stream is, is not known yet.
    Probe,
    /// It is the archive.
    Walk,
    /// The archive is done with a result; a layer decodes on.
    Settle,
    /// There is a result.
    Done,
}

/// Whether a stream begins with a gzip header.
#[derive(Debug)]
struct Probe {
    header: Header,
    first: [u8; HEADER_BYTES],
    have: usize,
}

impl Probe {
    const fn new() -> Self {
        Self { header: Header::new(), first: [0; HEADER_BYTES], have: 0 }
    }

    /// Takes bytes of the header; keeps the first ones, which an archive would begin with.
    fn feed(&mut self, bytes: &[u8]) -> usize {
        let used = self.header.feed(bytes);
        for (slot, &byte) in self.first.iter_mut().skip(self.have).zip(bytes.iter().take(used)) {
            *slot = byte;
            self.have = self.have.saturating_add(1);
        }
        used
    }

    fn kept(&self) -> &[u8] {
        self.first.get(..self.have).unwrap_or(&[])
    }
}

/// The innermost stream: what it begins with, and the archive that it is otherwise.
#[derive(Debug)]
struct Inner<'w> {
    probe: Probe,
    tar: Tar<'w>,
}

impl Inner<'_> {
    /// Takes bytes of the archive, or of a header before it; returns how many.
    #[inline(never)]
    fn take<E: Events>(&mut self, phase: Phase, bytes: &[u8], events: &mut E) -> (usize, Result<(), Error>) {
        match phase {
            Phase::Walk => (bytes.len(), self.tar.feed(bytes, events)),
            _ => (self.probe.feed(bytes), Ok(())),
        }
    }
}

/// The payload of one file. The short fields come first, where code reaches them with short offsets.
#[repr(C)]
pub(crate) struct Archive<'w> {
    layers: &'w mut (dyn Layers + Send),
    phase: Phase,
    sound: bool,
    gzip_layers: u8,
    /// The archive's result.
    result: Result<(), Error>,
    /// Layers in use.
    depth: usize,
    /// Which layer decodes on while settling.
    settling: usize,
    /// And up to where.
    target: u64,
    inflated_bytes: u64,
    inner: Inner<'w>,
}

fn refuse(code: ContainerCode) -> Error {
    Error::new(Stage::Unpack, code)
}

/// The end of the window that holds byte `position - 1`.
const fn window_end(position: u64) -> u64 {
    let position = if position == 0 { 1 } else { position };
    crate::bytes::pieces(position, WINDOW).saturating_mul(WINDOW)
}

impl<'w> Archive<'w> {
    pub(crate) fn new(work: Workspace<'w>, limits: &Limits) -> Self {
        Self {
            layers: work.layers,
            phase: Phase::Probe,
            sound: true,
            gzip_layers: limits.gzip_layers,
            result: Ok(()),
            depth: 0,
            settling: 0,
            target: 0,
            inflated_bytes: limits.inflated_bytes,
            inner: Inner { probe: Probe::new(), tar: Tar::new(work.names, work.extents, limits) },
        }
    }

    /// Nested gzip layers.
    pub(crate) fn depth(&self) -> u8 {
        u8::try_from(self.depth).unwrap_or(u8::MAX)
    }

    /// Gzip members of the outermost layer.
    pub(crate) fn gzip_members(&mut self) -> u32 {
        if self.depth == 0 { 0 } else { self.layer(0).map_or(0, |layer| layer.members()) }
    }

    /// Bytes of the archive that were read.
    pub(crate) const fn position(&self) -> u64 {
        self.inner.tar.position()
    }

    /// False once a gzip trailer did not fit its data.
    pub(crate) const fn trailers_fit(&self) -> bool {
        self.sound
    }

    /// The result, once no further byte can change it.
    pub(crate) const fn result(&self) -> Option<Result<(), Error>> {
        match self.phase {
            Phase::Done => Some(self.result),
            _ => None,
        }
    }

    fn done(&mut self, result: Result<(), Error>) {
        self.result = result;
        self.phase = Phase::Done;
    }

    /// Takes the next payload bytes.
    pub(crate) fn feed<E: Events>(&mut self, mut input: &[u8], events: &mut E) {
        while self.phase != Phase::Done {
            let used = match self.innermost_waiting() {
                Some(at) => {
                    self.forward(at, events);
                    0
                }
                None if input.is_empty() => break,
                None if self.depth == 0 => {
                    let (used, outcome) = self.inner.take(self.phase, input, events);
                    self.after_sink(outcome, events);
                    used
                }
                None => self.decode(0, Some(input), events),
            };
            input = input.get(used..).unwrap_or(&[]);
        }
    }

    /// The payload ends here.
    pub(crate) fn finish<E: Events>(&mut self, events: &mut E) -> Result<(), Error> {
        for at in 0..self.depth {
            if self.phase == Phase::Done || at >= self.active() {
                break;
            }
            let damage = self.layer(at).and_then(|layer| layer.finish().err());
            if let Some(damage) = damage {
                self.damaged(at, damage, events);
            }
        }
        let result = match self.phase {
            Phase::Probe => Err(refuse(ContainerCode::Unrecognized)),
            Phase::Walk => self.inner.tar.finish(events),
            Phase::Settle | Phase::Done => self.result,
        };
        self.done(result);
        result
    }

    fn layer(&mut self, at: usize) -> Option<&mut AnyLayer> {
        self.layers.layer(at)
    }

    /// Layers that still decode: while settling, only those up to the one that settles.
    const fn active(&self) -> usize {
        match self.phase {
            Phase::Settle => self.settling.saturating_add(1),
            _ => self.depth,
        }
    }

    /// The innermost layer that can do something without more input.
    fn innermost_waiting(&mut self) -> Option<usize> {
        (0..self.active()).rev().find(|&at| self.layer(at).is_some_and(|layer| layer.waiting()))
    }

    /// Hands a layer's output to what comes after it, or has it make the rest of its output. Damage waits
    /// until all output before it is through: what is delivered, and with it the verdict, must not depend on
    /// how much a layer decodes at a time.
    fn forward<E: Events>(&mut self, at: usize, events: &mut E) {
        let Some(layer) = self.layer(at) else { return };
        if layer.pending().is_empty() {
            match layer.fault() {
                Some(damage) => self.damaged(at, damage, events),
                None => {
                    self.decode(at, Some(&[]), events);
                }
            }
            return;
        }
        let next = at.saturating_add(1);
        if next < self.active() {
            self.decode(next, None, events);
            return;
        }
        if self.phase == Phase::Settle {
            if let Some(layer) = self.layer(at) {
                layer.taken(usize::MAX);
            }
            return;
        }
        // Probing happens once a layer and walking takes everything, so the output is taken apart here,
        // where both the layer and the archive can be borrowed.
        let Self { layers, inner, phase, .. } = self;
        let Some(layer) = layers.layer(at) else { return };
        let (used, outcome) = inner.take(*phase, layer.pending(), events);
        layer.taken(used);
        self.after_sink(outcome, events);
    }

    fn after_sink<E: Events>(&mut self, outcome: Result<(), Error>, events: &mut E) {
        if self.phase == Phase::Probe {
            return self.after_probe(events);
        }
        self.walked(outcome);
    }

    /// What a piece of the archive came to.
    fn walked(&mut self, outcome: Result<(), Error>) {
        match outcome {
            Ok(()) if self.inner.tar.ended() => self.settle(Ok(())),
            Ok(()) => {}
            Err(error) if is_archive_fault(&error) => self.settle(Err(error)),
            Err(error) => self.done(Err(error)),
        }
    }

    fn after_probe<E: Events>(&mut self, events: &mut E) {
        match self.inner.probe.header.seen() {
            Seen::Undecided => {}
            Seen::Whole => self.add_layer(),
            Seen::Other => {
                self.phase = Phase::Walk;
                let outcome = self.inner.tar.feed(self.inner.probe.kept(), events);
                self.walked(outcome);
            }
        }
    }

    fn add_layer(&mut self) {
        let allowed = usize::from(self.gzip_layers).min(MAX_LAYERS);
        let most = self.inflated_bytes;
        let (at, next) = (self.depth, self.depth.saturating_add(1));
        let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let error = if next > MAX_LAYERS {
            refuse(ContainerCode::TooManyLayers)
        } else {
            match self.layer(at).filter(|_| next <= allowed) {
                Some(layer) => {
                    layer.begin(most);
                    self.depth = next;
                    self.inner.probe = Probe::new();
                    return;
                }
                None => refuse(ContainerCode::LayerLimit).numbers(wide(next), wide(at.min(allowed))),
            }
        };
        self.done(Err(error));
    }

    /// The tar reader stopped with that result.
    fn settle(&mut self, result: Result<(), Error>) {
        self.result = result;
        self.settle_in(self.depth, self.inner.tar.position());
        self.settled();
    }

    /// The layer around stream `at` decodes on, up to the end of the window that holds byte `position - 1`.
    fn settle_in(&mut self, at: usize, position: u64) {
        self.phase = Phase::Done;
        if let Some(layer) = at.checked_sub(1) {
            self.phase = Phase::Settle;
            (self.settling, self.target) = (layer, window_end(position));
        }
    }

    /// While settling: ends it, or goes to the layer below, when the present one has decoded enough.
    fn settled(&mut self) {
        while self.phase == Phase::Settle {
            let (at, target, single) = (self.settling, self.target, self.depth == 1);
            let Some(layer) = self.layer(at) else { break };
            let enough = if single { target.saturating_add(DRAIN) } else { target };
            if !layer.ended() && layer.out() <= enough {
                break;
            }
            let needed = layer.needed();
            self.settle_in(at, needed);
        }
    }

    /// Feeds one layer from the one below it, or from the payload; returns how much it took.
    fn decode<E: Events>(&mut self, at: usize, input: Option<&[u8]>, events: &mut E) -> usize {
        let (layer, used) = if let Some(input) = input {
            let Some(layer) = self.layers.layer(at) else { return 0 };
            let used = layer.feed(input);
            (layer, used)
        } else {
            let Some((layer, outer)) = self.layers.with_outer(at) else { return 0 };
            let input = outer.pending();
            let used = layer.feed(input.get(..layer.step()).unwrap_or(input));
            outer.taken(used);
            (layer, used)
        };
        if let Some(trailer) = layer.take_trailer() {
            self.sound &= trailer.report(events);
        }
        if layer.ended() && layer.garbage_after() {
            remark(events, || refuse(ContainerCode::WAfterStream));
            layer.forget_garbage();
        }
        self.settled();
        used
    }

    /// While settling: what `at` decodes from here on does not count any more.
    fn satisfied(&mut self, at: usize, damage: Damage) -> bool {
        let target = self.target;
        self.phase == Phase::Settle && self.settling == at && self.sound_up_to(at, damage, target)
    }

    /// Damage at a layer voids no window before byte `target`.
    fn sound_up_to(&mut self, at: usize, damage: Damage, target: u64) -> bool {
        self.layer(at).is_some_and(|layer| damage.voids_none_before(layer.out(), target))
    }

    /// Whether the archive's first window, with which it is opened, needs none of what damage at a layer voids.
    fn opened_before(&mut self, at: usize, damage: Damage) -> bool {
        let mut target = WINDOW;
        for above in (at.saturating_add(1)..self.depth).rev() {
            let Some(needed) = self.layer(above).and_then(|layer| layer.needed_first()) else { return false };
            target = window_end(needed);
        }
        self.sound_up_to(at, damage, target)
    }

    fn damaged<E: Events>(&mut self, at: usize, damage: Damage, events: &mut E) {
        if self.satisfied(at, damage) {
            if damage != Damage::Limit {
                remark(events, || refuse(ContainerCode::WAfterEnd));
            }
            self.phase = Phase::Done;
            return;
        }
        let top = self.depth.saturating_sub(1);
        let out = self.layer(top).map_or(0, |layer| layer.out());
        let opened = self.phase != Phase::Probe && self.inner.tar.opened() && self.opened_before(at, damage);
        let code = match (damage, opened) {
            (Damage::Limit, _) => {
                let over = refuse(ContainerCode::InflatedLimit).numbers(self.inflated_bytes, 0);
                self.done(Err(over));
                return;
            }
            (Damage::Deflate, false) => ContainerCode::OpenDeflate,
            (Damage::Truncated, false) => ContainerCode::OpenTruncated,
            (Damage::Trailer, false) => ContainerCode::OpenTrailer,
            (Damage::Deflate, true) => ContainerCode::Deflate,
            (Damage::Truncated, true) => ContainerCode::Truncated,
            (Damage::Trailer, true) => ContainerCode::Trailer,
        };
        self.done(Err(refuse(code).offset(out)));
    }
}

impl core::fmt::Debug for Archive<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Archive({} layers, {:?}, {:?})", self.depth, self.phase, self.inner.tar)
    }
}
