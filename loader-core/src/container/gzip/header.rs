//! The header of one gzip member, recognised byte by byte (container.md §9.1).

/// What the bytes so far are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    /// Possibly the beginning of a header.
    Undecided,
    /// Not a header.
    Other,
    /// A whole header.
    Whole,
}

/// Fixed part of a header.
pub(crate) const FIXED: usize = 10;

const MAGIC: [u8; 3] = [0x1F, 0x8B, 0x08];
const HEADER_CRC: u8 = 0x02;
const EXTRA: u8 = 0x04;
const NAME: u8 = 0x08;
const COMMENT: u8 = 0x10;
/// Flags that no header has.
const RESERVED: u8 = 0xE0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Fixed,
    ExtraLow,
    ExtraHigh,
    Extra,
    Name,
    Comment,
    Crc,
    Done,
    Other,
}

/// Recognises one header.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    part: Part,
    /// Bytes of the fixed part so far.
    have: usize,
    flags: u8,
    /// Bytes left of the extra field or of the header CRC.
    left: u16,
}

impl Header {
    pub(crate) const fn new() -> Self {
        Self { part: Part::Fixed, have: 0, flags: 0, left: 0 }
    }

    /// Takes bytes up to the end of the header; returns how many.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> usize {
        let mut used = 0usize;
        for &byte in bytes {
            if self.seen() != Seen::Undecided {
                break;
            }
            self.byte(byte);
            if self.seen() == Seen::Other {
                break;
            }
            used = used.saturating_add(1);
        }
        used
    }

    pub(crate) const fn seen(&self) -> Seen {
        match self.part {
            Part::Done => Seen::Whole,
            Part::Other => Seen::Other,
            _ => Seen::Undecided,
        }
    }

    fn byte(&mut self, byte: u8) {
        match self.part {
            Part::Fixed => self.fixed(byte),
            Part::ExtraLow => {
                self.left = u16::from(byte);
                self.part = Part::ExtraHigh;
            }
            Part::ExtraHigh => {
                self.left |= u16::from(byte) << 8;
                self.part = Part::Extra;
                self.skip_empty_extra();
            }
            Part::Extra => {
                self.left = self.left.saturating_sub(1);
                self.skip_empty_extra();
            }
            Part::Name if byte == 0 => self.after(NAME),
            Part::Comment if byte == 0 => self.after(COMMENT),
            Part::Crc => {
                self.left = self.left.saturating_sub(1);
                if self.left == 0 {
                    self.part = Part::Done;
                }
            }
            Part::Name | Part::Comment | Part::Done | Part::Other => {}
        }
    }

    fn fixed(&mut self, byte: u8) {
        let fits = match self.have {
            at @ 0..3 => MAGIC.get(at) == Some(&byte),
            3 => {
                self.flags = byte;
                byte & RESERVED == 0
            }
            _ => true,
        };
        self.have = self.have.saturating_add(1);
        if !fits {
            self.part = Part::Other;
        } else if self.have == FIXED {
            self.after(0);
        }
    }

    fn skip_empty_extra(&mut self) {
        if self.left == 0 {
            self.after(EXTRA);
        }
    }

    /// Goes to the next optional part behind the one with flag `done`.
    fn after(&mut self, done: u8) {
        let order =
            [(EXTRA, Part::ExtraLow), (NAME, Part::Name), (COMMENT, Part::Comment), (HEADER_CRC, Part::Crc)];
        let behind = order.iter().position(|&(flag, _)| flag == done).map_or(0, |at| at.saturating_add(1));
        let next = order.iter().skip(behind).find(|&&(flag, _)| self.flags & flag != 0);
        self.part = next.map_or(Part::Done, |&(_, part)| part);
        self.left = 2;
    }
}
