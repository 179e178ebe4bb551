//! One gzip layer as a push decoder: members one after the other, output in a 32 KiB ring.

use super::WINDOW;
use super::crc::Crc32;
use super::header::{Header, Seen};
use super::inflate::{Inflate, Inflated, Oxide, Stop};
use crate::container::events::{Events, remark};
use crate::error::{ContainerCode, Error, Stage};

/// Deflate's window.
const RING: usize = 32768;

/// What ends a layer's output early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    /// The deflate data makes no sense.
    Deflate,
    /// The data ends inside a member's deflate data, or right after its header.
    Truncated,
    /// The data ends inside the 8-byte trailer.
    Trailer,
    /// There is more output than the limit.
    Limit,
}

impl Damage {
    /// Whether the windows up to `target`, where a window ends, are whole although the output ends like this behind
    /// `out` bytes. When a window is full, the reference still decodes what follows its last byte, as far as there is
    /// input for it: what it sees there voids the window. Only where the input ends is there nothing to see
    /// (container.md §9.3, measured with bsdtar 3.6.2).
    pub(crate) const fn voids_none_before(self, out: u64, target: u64) -> bool {
        match self {
            Self::Truncated => out >= target,
            Self::Deflate | Self::Trailer | Self::Limit => out > target,
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum State {
    /// Before or inside the header of a member that follows another one.
    Between(Header),
    Deflate,
    Trailer {
        bytes: [u8; 8],
        have: usize,
    },
    /// What follows is not looked at.
    Ended,
}

/// What a gzip trailer said, and what the data was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trailer {
    pub(crate) crc: u32,
    pub(crate) length: u32,
    pub(crate) data_crc: u32,
    pub(crate) data_length: u32,
}

impl Trailer {
    /// Remarks on what does not fit; true if all does. The reference never looks (container.md §9.2).
    pub(crate) fn report<E: Events>(&self, events: &mut E) -> bool {
        let note = |code, a: u32, b: u32| Error::new(Stage::Unpack, code).numbers(u64::from(a), u64::from(b));
        if self.crc != self.data_crc {
            remark(events, || note(ContainerCode::WCrc, self.crc, self.data_crc));
        }
        if self.length != self.data_length {
            remark(events, || note(ContainerCode::WLength, self.length, self.data_length));
        }
        self.crc == self.data_crc && self.length == self.data_length
    }
}

/// Decoder state of one gzip layer: about 43 KiB with the core's own decoder; made once and used
/// for any number of files. The short fields come first, where code reaches them with short offsets.
#[repr(C)]
pub struct Layer<I: ?Sized = Oxide> {
    /// Where the next byte goes.
    end: usize,
    /// First byte that the next stage has not taken.
    start: usize,
    /// The ring has not been filled once in this member, so no distance may reach behind its start.
    fresh: bool,
    state: State,
    /// The ring was full before the input was used up.
    full: bool,
    /// What comes after the pending output instead of more of it.
    fault: Option<Damage>,
    crc: Crc32,
    member_bytes: u32,
    out: u64,
    /// Most bytes to produce.
    limit: u64,
    /// Bytes of input taken.
    consumed: u64,
    /// How many of them it took to begin the decoding window that `out` lies in.
    needed: u64,
    /// How many it took to see that the first window is complete; 0 while it is not.
    first: u64,
    members: u32,
    trailer: Option<Trailer>,
    after: bool,
    ring: [u8; RING],
    inflate: I,
}

/// A layer at rest. As text in each constructor, so that the 43 KiB are made where they stay, and not on the stack of
/// whoever passes a decoder on.
macro_rules! at_rest {
    ($inflate:expr) => {
        Self {
            inflate: $inflate,
            ring: [0; RING],
            end: 0,
            start: 0,
            fresh: true,
            state: State::Ended,
            full: false,
            fault: None,
            crc: Crc32::new(),
            member_bytes: 0,
            out: 0,
            limit: u64::MAX,
            consumed: 0,
            needed: 0,
            first: 0,
            members: 0,
            trailer: None,
            after: false,
        }
    };
}

impl Layer {
    /// The core's own decoder at rest.
    #[must_use]
    pub fn new() -> Self {
        at_rest!(Oxide::new())
    }
}

impl<I> Layer<I> {
    /// A decoder at rest.
    #[must_use]
    pub const fn with(inflate: I) -> Self {
        at_rest!(inflate)
    }
}

impl<I: Inflate + ?Sized> Layer<I> {
    /// Begins a stream whose first header has been read, and that may inflate to `limit` bytes.
    pub(crate) fn begin(&mut self, limit: u64) {
        self.fault = None;
        self.out = 0;
        self.limit = limit;
        (self.consumed, self.needed, self.first) = (0, 0, 0);
        self.members = 0;
        self.trailer = None;
        self.after = false;
        self.member();
    }

    fn member(&mut self) {
        self.inflate.reset();
        self.full = false;
        (self.start, self.end, self.fresh) = (0, 0, true);
        self.crc = Crc32::new();
        self.member_bytes = 0;
        self.members = self.members.saturating_add(1);
        self.state = State::Deflate;
    }

    /// Output that waits for the next stage. While there is some, the layer takes no input.
    pub(crate) fn pending(&self) -> &[u8] {
        self.ring.get(self.start..self.end).unwrap_or(&[])
    }

    /// What ends the output behind the pending bytes. The layer must not be fed any more then.
    pub(crate) const fn fault(&self) -> Option<Damage> {
        self.fault
    }

    /// True if there is something to do without more input.
    pub(crate) fn waiting(&self) -> bool {
        !self.pending().is_empty() || self.full || self.fault.is_some()
    }

    /// How much input may be given at a time so that the byte that begins the next decoding window is not
    /// passed unseen, however the input is cut: output stops at the end of each window, and from there on every
    /// byte of input is taken by itself until there is more.
    pub(crate) fn step(&self) -> usize {
        let between_windows = self.out > 0 && self.out.is_multiple_of(WINDOW);
        if between_windows && matches!(self.state, State::Deflate) { 1 } else { usize::MAX }
    }

    /// Input that was needed to see that the window which `out` has left is complete: up to the first byte
    /// of the next one, or to the end. True to the byte only if [`Self::step`] was kept to.
    pub(crate) const fn needed(&self) -> u64 {
        if self.ended() { self.consumed } else { self.needed }
    }

    /// The same for the first window; `None` while it is not complete.
    pub(crate) const fn needed_first(&self) -> Option<u64> {
        match (self.first, self.ended()) {
            (0, true) => Some(self.consumed),
            (0, false) => None,
            (first, _) => Some(first),
        }
    }

    /// The next stage took `count` bytes.
    pub(crate) fn taken(&mut self, count: usize) {
        self.start = self.start.saturating_add(count).min(self.end);
    }

    /// All bytes produced so far, of all members.
    pub(crate) const fn out(&self) -> u64 {
        self.out
    }

    /// Members begun so far.
    pub(crate) const fn members(&self) -> u32 {
        self.members
    }

    /// True behind the last member.
    pub(crate) const fn ended(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    /// The trailer of the member that just ended, once.
    pub(crate) const fn take_trailer(&mut self) -> Option<Trailer> {
        self.trailer.take()
    }

    /// True if something but zero bytes was seen behind the last member.
    pub(crate) const fn garbage_after(&self) -> bool {
        self.after
    }

    /// The garbage was reported.
    pub(crate) const fn forget_garbage(&mut self) {
        self.after = false;
    }

    /// Takes some of `input` and returns how much. Produces at most one ring of output.
    pub(crate) fn feed(&mut self, input: &[u8]) -> usize {
        let before = self.out;
        let used = self.state(input);
        self.consumed = self.consumed.saturating_add(u64::try_from(used).unwrap_or(0));
        if crate::bytes::pieces(before, WINDOW) != crate::bytes::pieces(self.out, WINDOW) {
            self.needed = self.consumed;
        }
        if before <= WINDOW && self.out > WINDOW {
            self.first = self.consumed;
        }
        used
    }

    fn state(&mut self, input: &[u8]) -> usize {
        match &mut self.state {
            State::Between(header) => {
                let used = header.feed(input);
                match header.seen() {
                    Seen::Undecided => {}
                    Seen::Whole => self.member(),
                    Seen::Other => {
                        // Zero bytes are the fill that compilers write; all of them are passed over.
                        self.after = input.get(used).is_some_and(|&byte| byte != 0);
                        self.state = State::Ended;
                    }
                }
                used
            }
            State::Deflate => self.deflate(input),
            State::Trailer { bytes, have } => {
                let room = bytes.get_mut(*have..).unwrap_or(&mut []);
                let used = room.len().min(input.len());
                for (slot, &byte) in room.iter_mut().zip(input) {
                    *slot = byte;
                }
                *have = have.saturating_add(used);
                if *have == 8 {
                    let [a, b, c, d, e, f, g, h] = *bytes;
                    self.close(u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
                }
                used
            }
            State::Ended => input.len(),
        }
    }

    /// The input ends here.
    pub(crate) fn finish(&mut self) -> Result<(), Damage> {
        match self.state {
            State::Between(_) | State::Ended => {
                self.state = State::Ended;
                Ok(())
            }
            State::Deflate => Err(Damage::Truncated),
            State::Trailer { .. } => Err(Damage::Trailer),
        }
    }

    fn close(&mut self, crc: u32, length: u32) {
        let (data_crc, data_length) = (self.crc.value(), self.member_bytes);
        self.trailer = Some(Trailer { crc, length, data_crc, data_length });
        self.state = State::Between(Header::new());
    }

    fn deflate(&mut self, input: &[u8]) -> usize {
        if self.end >= RING {
            (self.start, self.end, self.fresh) = (0, 0, false);
        }
        let window = WINDOW.saturating_sub(self.out.checked_rem(WINDOW).unwrap_or(0));
        let room = usize::try_from(window).unwrap_or(RING);
        let place = self.end..self.end.saturating_add(room).min(RING);
        let Inflated { used, made, stop } = self.inflate.inflate(input, &mut self.ring, place, self.fresh);
        let within = self.produced(made);
        self.full = within && stop == Stop::Room;
        match stop {
            _ if !within => self.fault = Some(Damage::Limit),
            Stop::End => self.state = State::Trailer { bytes: [0; 8], have: 0 },
            Stop::Input | Stop::Room => {}
            Stop::Damage => self.fault = Some(Damage::Deflate),
        }
        used
    }

    /// Takes `made` bytes behind the ring's end as output, up to the limit; false if they are more.
    fn produced(&mut self, made: usize) -> bool {
        let left = usize::try_from(self.limit.saturating_sub(self.out)).unwrap_or(usize::MAX);
        let taken = made.min(left);
        self.start = self.end;
        self.end = self.end.saturating_add(taken).min(RING);
        self.crc.update(self.ring.get(self.start..self.end).unwrap_or(&[]));
        self.out = self.out.saturating_add(u64::try_from(taken).unwrap_or(0));
        self.member_bytes = self.member_bytes.wrapping_add(u32::try_from(taken).unwrap_or(0));
        taken == made
    }
}

impl Default for Layer {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: ?Sized> core::fmt::Debug for Layer<I> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Layer({} bytes out, {} members, {:?})", self.out, self.members, self.state)
    }
}

#[cfg(test)]
mod tests;
