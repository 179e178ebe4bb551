//! Bytes in: the file, and the members inside it, behind two traits.

use crate::container::MemberTable;
use crate::error::Error;

/// Where the bytes of a NEFF come from.
///
/// A source that can be read again from the start is *seekable*; a pipe is not.
pub trait Source {
    /// Length of the whole file in bytes, if it is known.
    fn len(&self) -> Option<u64>;

    /// Copies bytes from `offset` on into `out` and returns how many; 0 only at the end of the file.
    ///
    /// # Errors
    /// The operating system's refusal.
    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<usize, Error>;

    /// The whole file, if it is in memory anyway.
    fn bytes(&self) -> Option<&[u8]> {
        None
    }

    /// True if the length is known to be 0.
    fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }
}

/// A file that is in memory.
impl Source for &[u8] {
    fn len(&self) -> Option<u64> {
        u64::try_from(<[u8]>::len(self)).ok()
    }

    fn read_at(&mut self, offset: u64, out: &mut [u8]) -> Result<usize, Error> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or(&[]);
        let count = rest.len().min(out.len());
        if let (Some(to), Some(from)) = (out.get_mut(..count), rest.get(..count)) {
            crate::bytes::copy(to, from);
        }
        Ok(count)
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(self)
    }
}

/// A member of the archive: its position in the member table, which keeps archive order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MemberId(pub u32);

/// Resolves member ids to names, for messages.
pub trait MemberNames {
    /// The member's name.
    fn name_of(&self, id: MemberId) -> Option<&[u8]>;
}

/// Names of members, where there is no table to look in.
#[derive(Clone, Copy, Debug)]
pub struct NoNames;

impl MemberNames for NoNames {
    fn name_of(&self, _: MemberId) -> Option<&[u8]> {
        None
    }
}

/// The members of an unpacked container, resident or streamed. Stages S2 to S5 are written once, over this.
pub trait Payload<'m> {
    /// Names, sizes and ids of all members.
    fn table(&self) -> MemberTable<'m>;

    /// A member's bytes, if the payload is resident.
    fn borrow(&self, id: MemberId) -> Option<&[u8]>;

    /// Hands the members that `visitor` wants to it, in archive order, in pieces of any length.
    /// One pass over the file when streamed.
    ///
    /// # Errors
    /// The first error of the visitor or of the container.
    fn visit<V: Visitor>(&mut self, visitor: &mut V) -> Result<(), Error>;

    /// The same, compiled once for all visitors.
    ///
    /// # Errors
    /// As [`Payload::visit`].
    #[cfg_attr(small, inline(never))]
    fn visit_any(&mut self, mut visitor: &mut dyn Visitor) -> Result<(), Error> {
        self.visit(&mut visitor)
    }

    /// Passes over the file so far (1 when resident).
    fn passes(&self) -> u32;
}

/// Takes member bytes during one pass.
pub trait Visitor {
    /// Whether this member's bytes are wanted. Asked once per member and pass, in archive order.
    fn wants(&mut self, id: MemberId) -> bool;

    /// The next bytes of a wanted member; `offset` counts from the member's start.
    ///
    /// # Errors
    /// Ends the pass.
    fn data(&mut self, id: MemberId, offset: u64, bytes: &[u8]) -> Result<(), Error>;

    /// All bytes of a wanted member were given.
    ///
    /// # Errors
    /// Ends the pass.
    fn end(&mut self, id: MemberId) -> Result<(), Error>;
}

/// Any visitor, so that a pass over the file is compiled once for all of them.
impl Visitor for &mut dyn Visitor {
    fn wants(&mut self, id: MemberId) -> bool {
        (**self).wants(id)
    }

    fn data(&mut self, id: MemberId, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        (**self).data(id, offset, bytes)
    }

    fn end(&mut self, id: MemberId) -> Result<(), Error> {
        (**self).end(id)
    }
}

/// Two visitors in one pass: a member goes to the first that wants it.
pub struct Either<'a> {
    first: &'a mut dyn Visitor,
    second: &'a mut dyn Visitor,
    to_first: bool,
}

impl<'a> Either<'a> {
    /// Asks `first`, then `second`.
    pub const fn new(first: &'a mut dyn Visitor, second: &'a mut dyn Visitor) -> Self {
        Self { first, second, to_first: false }
    }
}

impl core::fmt::Debug for Either<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Either").field("to_first", &self.to_first).finish_non_exhaustive()
    }
}

impl Visitor for Either<'_> {
    fn wants(&mut self, id: MemberId) -> bool {
        self.to_first = self.first.wants(id);
        self.to_first || self.second.wants(id)
    }

    fn data(&mut self, id: MemberId, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        if self.to_first { self.first.data(id, offset, bytes) } else { self.second.data(id, offset, bytes) }
    }

    fn end(&mut self, id: MemberId) -> Result<(), Error> {
        if self.to_first { self.first.end(id) } else { self.second.end(id) }
    }
}

/// Wants nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nothing;

impl Visitor for Nothing {
    fn wants(&mut self, _: MemberId) -> bool {
        false
    }

    fn data(&mut self, _: MemberId, _: u64, _: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn end(&mut self, _: MemberId) -> Result<(), Error> {
        Ok(())
    }
}
