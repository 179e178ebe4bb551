//! The payload: any number of gzip layers around one tar archive, as a push decoder (container.md §9).
//!
//! The reference decodes lazily, in windows of 65,536 inflated bytes: damage is noticed only in a window
//! that the tar reader needs a byte of, and it makes the whole window unreadable. This decoder has the same
//! verdicts without keeping a window: when the tar reader is done (or has found a fault), decoding goes on
//! to the end of the window it stopped in, and damage found there goes before the tar reader's own result.

use super::events::Events;
use super::gzip::{Damage, HEADER_BYTES, Header, Seen, WINDOW};
use super::tar::{Tar, is_archive_fault};
use super::workspace::{AnyLayer, Layers, Workspace};
use crate::error::{ContainerCode, Error, Stage};
use crate::limits::Limits;

/// How far behind the last window that counts decoding goes on, to see the gzip trailer.
const DRAIN: u64 = 1 << 20;

/// The reference's limit on nested layers (container.md §9.1, Confirmed).
const MAX_LAYERS: usize = 24;

#[derive(Debug)]
enum Phase {
    /// What the innermost stream is, is not known yet.
    Probe,
    /// It is the archive.
    Walk,
    /// The archive is done with that result; this layer decodes on, up to `target`.
    Settle {
        layer: usize,
        target: u64,
        result: Result<(), Error>,
    },
    Done(Result<(), Error>),
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

/// The payload of one file.
pub(crate) struct Archive<'w> {
    layers: &'w mut (dyn Layers + Send),
    /// Layers in use.
    depth: usize,
    probe: Probe,
    tar: Tar<'w>,
    phase: Phase,
    limits: Limits,
    sound: bool,
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
            depth: 0,
            probe: Probe::new(),
            tar: Tar::new(work.names, work.extents, limits),
            phase: Phase::Probe,
            limits: *limits,
            sound: true,
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
        self.tar.position()
    }

    /// False once a gzip trailer did not fit its data.
    pub(crate) const fn trailers_fit(&self) -> bool {
        self.sound
    }

    /// The result, once no further byte can change it.
    pub(crate) const fn result(&self) -> Option<Result<(), Error>> {
        match self.phase {
            Phase::Done(result) => Some(result),
            _ => None,
        }
    }

    /// Takes the next payload bytes.
    pub(crate) fn feed<E: Events>(&mut self, mut input: &[u8], events: &mut E) {
        while !matches!(self.phase, Phase::Done(_)) {
            match self.innermost_waiting() {
                Some(at) => self.forward(at, events),
                None if input.is_empty() => break,
                None if self.depth == 0 => {
                    let used = self.sink(input, events);
                    input = input.get(used..).unwrap_or(&[]);
                }
                None => {
                    let used = self.decode(0, Some(input), events);
                    input = input.get(used..).unwrap_or(&[]);
                }
            }
        }
    }

    /// The payload ends here.
    pub(crate) fn finish<E: Events>(&mut self, events: &mut E) -> Result<(), Error> {
        for at in 0..self.depth {
            if matches!(self.phase, Phase::Done(_)) || at >= self.active() {
                break;
            }
            let damage = self.layer(at).and_then(|layer| layer.finish().err());
            if let Some(damage) = damage {
                self.damaged(at, damage, events);
            }
        }
        let result = match &self.phase {
            Phase::Probe => Err(refuse(ContainerCode::Unrecognized)),
            Phase::Walk => self.tar.finish(events),
            Phase::Settle { result, .. } | Phase::Done(result) => *result,
        };
        self.phase = Phase::Done(result);
        result
    }

    fn layer(&mut self, at: usize) -> Option<&mut AnyLayer> {
        self.layers.layer(at)
    }

    /// Layers that still decode: while settling, only those up to the one that settles.
    const fn active(&self) -> usize {
        match self.phase {
            Phase::Settle { layer, .. } => layer.saturating_add(1),
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
        if let Phase::Settle { .. } = self.phase {
            if let Some(layer) = self.layer(at) {
                layer.taken(usize::MAX);
            }
            return;
        }
        // Probing happens once a layer and walking takes everything, so the output is taken apart here,
        // where both the layer and the archive can be borrowed.
        let Self { layers, tar, probe, phase, .. } = self;
        let Some(layer) = layers.layer(at) else { return };
        let mut used = layer.pending().len();
        let mut outcome = Ok(());
        match phase {
            Phase::Walk => outcome = tar.feed(layer.pending(), events),
            _ => used = probe.feed(layer.pending()),
        }
        layer.taken(used);
        self.after_sink(outcome, events);
    }

    /// Gives the archive, or the probe before it, payload bytes that are not compressed.
    fn sink<E: Events>(&mut self, bytes: &[u8], events: &mut E) -> usize {
        let (used, outcome) = match self.phase {
            Phase::Walk => (bytes.len(), self.tar.feed(bytes, events)),
            _ => (self.probe.feed(bytes), Ok(())),
        };
        self.after_sink(outcome, events);
        used
    }

    fn after_sink<E: Events>(&mut self, outcome: Result<(), Error>, events: &mut E) {
        if let Phase::Probe = self.phase {
            return self.after_probe(events);
        }
        self.walked(outcome);
    }

    /// What a piece of the archive came to.
    fn walked(&mut self, outcome: Result<(), Error>) {
        match outcome {
            Ok(()) if self.tar.ended() => self.settle(Ok(())),
            Ok(()) => {}
            Err(error) if is_archive_fault(&error) => self.settle(Err(error)),
            Err(error) => self.phase = Phase::Done(Err(error)),
        }
    }

    fn after_probe<E: Events>(&mut self, events: &mut E) {
        match self.probe.header.seen() {
            Seen::Undecided => {}
            Seen::Whole => self.add_layer(),
            Seen::Other => {
                self.phase = Phase::Walk;
                let outcome = self.tar.feed(self.probe.kept(), events);
                self.walked(outcome);
            }
        }
    }

    fn add_layer(&mut self) {
        let allowed = usize::from(self.limits.gzip_layers).min(MAX_LAYERS);
        let most = self.limits.inflated_bytes;
        let (at, next) = (self.depth, self.depth.saturating_add(1));
        let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        let error = if next > MAX_LAYERS {
            refuse(ContainerCode::TooManyLayers)
        } else {
            match self.layer(at).filter(|_| next <= allowed) {
                Some(layer) => {
                    layer.begin(most);
                    self.depth = next;
                    self.probe = Probe::new();
                    return;
                }
                None => refuse(ContainerCode::LayerLimit).numbers(wide(next), wide(at.min(allowed))),
            }
        };
        self.phase = Phase::Done(Err(error));
    }

    /// The tar reader stopped with that result.
    fn settle(&mut self, result: Result<(), Error>) {
        self.phase = match self.depth.checked_sub(1) {
            None => Phase::Done(result),
            Some(layer) => Phase::Settle { layer, target: window_end(self.tar.position()), result },
        };
        self.settled();
    }

    /// While settling: ends it, or goes to the layer below, when the present one has decoded enough.
    fn settled(&mut self) {
        while let Phase::Settle { layer: at, target, result } = self.phase {
            let single = self.depth == 1;
            let Some(layer) = self.layer(at) else { break };
            let enough = if single { target.saturating_add(DRAIN) } else { target };
            if !layer.ended() && layer.out() <= enough {
                break;
            }
            self.phase = match at.checked_sub(1) {
                None => Phase::Done(result),
                Some(below) => Phase::Settle { layer: below, target: window_end(layer.needed()), result },
            };
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
            events.note(refuse(ContainerCode::WAfterStream));
            layer.forget_garbage();
        }
        self.settled();
        used
    }

    /// While settling: what `at` decodes from here on does not count any more.
    fn satisfied(&mut self, at: usize, damage: Damage) -> bool {
        let Phase::Settle { layer, target, .. } = self.phase else { return false };
        layer == at && self.layer(at).is_some_and(|layer| damage.voids_none_before(layer.out(), target))
    }

    /// Whether the archive's first window, with which it is opened, needs none of what damage at a layer voids.
    fn opened_before(&mut self, at: usize, damage: Damage) -> bool {
        let mut target = WINDOW;
        for above in (at.saturating_add(1)..self.depth).rev() {
            let Some(needed) = self.layer(above).and_then(|layer| layer.needed_first()) else { return false };
            target = window_end(needed);
        }
        self.layer(at).is_some_and(|layer| damage.voids_none_before(layer.out(), target))
    }

    fn damaged<E: Events>(&mut self, at: usize, damage: Damage, events: &mut E) {
        if let Phase::Settle { result, .. } = self.phase
            && self.satisfied(at, damage)
        {
            if damage != Damage::Limit {
                events.note(refuse(ContainerCode::WAfterEnd));
            }
            self.phase = Phase::Done(result);
            return;
        }
        let top = self.depth.saturating_sub(1);
        let out = self.layer(top).map_or(0, |layer| layer.out());
        let opened =
            !matches!(self.phase, Phase::Probe) && self.tar.opened() && self.opened_before(at, damage);
        let code = match (damage, opened) {
            (Damage::Limit, _) => {
                let over = refuse(ContainerCode::InflatedLimit).numbers(self.limits.inflated_bytes, 0);
                self.phase = Phase::Done(Err(over));
                return;
            }
            (Damage::Deflate, false) => ContainerCode::OpenDeflate,
            (Damage::Truncated, false) => ContainerCode::OpenTruncated,
            (Damage::Trailer, false) => ContainerCode::OpenTrailer,
            (Damage::Deflate, true) => ContainerCode::Deflate,
            (Damage::Truncated, true) => ContainerCode::Truncated,
            (Damage::Trailer, true) => ContainerCode::Trailer,
        };
        self.phase = Phase::Done(Err(refuse(code).offset(out)));
    }
}

impl core::fmt::Debug for Archive<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Archive({} layers, {:?}, {:?})", self.depth, self.phase, self.tar)
    }
}
