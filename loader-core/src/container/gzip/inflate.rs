//! Raw deflate data (RFC 1951) into a ring: what a decoder has to offer, and the one that the core brings along.

use core::ops::Range;
use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::DecompressorOxide;
use miniz_oxide::inflate::core::inflate_flags::{
    TINFL_FLAG_HAS_MORE_INPUT, TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF,
};

/// Why a decoder stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All input is taken and what it decodes to is written.
    Input,
    /// The place is full, and there may be more to write without further input.
    Room,
    /// The stream is complete; input behind its last byte was not taken.
    End,
    /// No decoder can go on here. What came before is written.
    Damage,
}

/// One step of a decoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inflated {
    /// Bytes taken of the input.
    pub used: usize,
    /// Bytes written to the ring.
    pub made: usize,
    /// Why not more.
    pub stop: Stop,
}

/// A decoder of raw deflate data that is fed in pieces.
///
/// What it writes must not depend on the pieces, and it must take no input that it does not need for the next byte
/// of output but for the 8 bytes that it may hold back.
pub trait Inflate {
    /// Forgets everything: the next input begins a stream.
    fn reset(&mut self);

    /// Decodes from `input` to that `place` in `ring`. The ring has the length of deflate's window, 32,768 bytes, and
    /// holds what was written before; while it is `fresh`, it has not been full in this stream, and what lies behind
    /// the place's start is no part of it.
    fn inflate(&mut self, input: &[u8], ring: &mut [u8], place: Range<usize>, fresh: bool) -> Inflated;
}

/// The core's own decoder: 10 KiB, no heap, no `unsafe`.
pub type Oxide = DecompressorOxide;

impl Inflate for Oxide {
    fn reset(&mut self) {
        self.init();
    }

    fn inflate(&mut self, input: &[u8], ring: &mut [u8], place: Range<usize>, fresh: bool) -> Inflated {
        // Positions in a fresh ring are positions in the stream: distances are checked against them.
        let check = if fresh { TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF } else { 0 };
        let flags = TINFL_FLAG_HAS_MORE_INPUT | check;
        let (status, used, made) = crate::boundary::inflate(self, input, ring, place, flags);
        let stop = match status {
            TINFLStatus::NeedsMoreInput => Stop::Input,
            TINFLStatus::HasMoreOutput => Stop::Room,
            TINFLStatus::Done => Stop::End,
            _ => Stop::Damage,
        };
        Inflated { used, made, stop }
    }
}
