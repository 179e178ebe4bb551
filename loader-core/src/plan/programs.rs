//! The first run over the instruction streams: sizes, notes, every check (staging.md §11.2).

use super::libraries::Sought;
use super::record::{FUNCTION_NAME, NoteKind, SlotNote};
use super::translate::{Code, Nowhere, Section, Sink, Stream};
use crate::arena::{Arena, TailRef};
use crate::error::{Error, Stage, StageCode};
use crate::layout::SMALL;
use crate::lower::record::Blob;
use crate::lower::scratchpad::GROUP_MOST;
use crate::source::{MemberId, Payload, Visitor};
use zerocopy::little_endian::U32;

/// Engines of two subgraphs.
pub(super) const MOST_PROGRAMS: usize = 10;

/// One engine's stream in the file.
#[derive(Clone, Debug)]
pub(super) struct Program<'m> {
    pub(super) code: Code<'m>,
    pub(super) blob: Option<&'m Blob>,
    pub(super) stream: Stream,
    fed: u64,
}

impl<'m> Program<'m> {
    #[inline(never)]
    pub(super) fn new(code: Code<'m>, blob: Option<&'m Blob>) -> Self {
        Self { code, blob, stream: Stream::default(), fed: 0 }
    }

    /// The part of a piece of a member that belongs to this stream.
    fn part<'b>(&self, id: MemberId, offset: u64, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let blob = self.blob.filter(|blob| blob.member_id() == Some(id))?;
        overlap(blob.off.get(), blob.len.get(), offset, bytes).map(|(_, part)| part)
    }
}

/// What `[off, off + len)` of a member shares with `bytes` at `at`: its distance from `off`, and the bytes.
pub(crate) fn overlap(off: u64, len: u64, at: u64, bytes: &[u8]) -> Option<(u64, &[u8])> {
    let end = off.saturating_add(len);
    let start = off.max(at);
    let stop = end.min(at.saturating_add(u64::try_from(bytes.len()).ok()?));
    let from = usize::try_from(start.checked_sub(at)?).ok()?;
    let to = usize::try_from(stop.checked_sub(at)?).ok()?;
    let part = bytes.get(from..to).filter(|part| !part.is_empty())?;
    Some((start.checked_sub(off)?, part))
}

/// Notes of all engines, at the arena's tail, newest first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Notes {
    pub(super) count: usize,
    newest: TailRef,
}

impl Notes {
    /// Note `index` in the order they were made.
    pub(super) fn get<'x>(&self, arena: &'x Arena<'_>, index: usize) -> Option<&'x SlotNote> {
        let back = self.count.checked_sub(index)?.checked_sub(1)?;
        arena.tail_slice::<SlotNote>(self.newest, self.count)?.get(back)
    }
}

/// Keeps the notes; slots are only counted, by the stream itself.
struct Keeper<'a, 'm> {
    arena: &'a mut Arena<'m>,
    notes: &'a mut Notes,
    /// Arena offset of the name of the function that each engine's stream is in.
    functions: [[U32; 5]; GROUP_MOST],
}

impl Keeper<'_, '_> {
    fn function(&mut self, note: &SlotNote) -> Option<&mut U32> {
        self.functions.get_mut(usize::from(note.core))?.get_mut(usize::from(note.engine))
    }
}

impl Sink for Keeper<'_, '_> {
    fn slots(&mut self, _: Section, _: u32, _: &[u8]) -> Result<(), Error> {
        Ok(())
    }

    fn note(&mut self, mut note: SlotNote) -> Result<(), Error> {
        // A trigger finds its block by the function that it stands in.
        if note.kind == NoteKind::OPAQUE && note.in_function != 0 {
            note.name = self.function(&note).copied().unwrap_or_default();
        }
        let full = |error| Error::arena(Stage::Plan, error);
        let place = self.arena.alloc_tail::<SlotNote>(1).map_err(full)?;
        if let Some(slot) = self.arena.tail_mut::<SlotNote>(place) {
            *slot = note;
        }
        self.notes.newest = place;
        self.notes.count = self.notes.count.wrapping_add(1);
        Ok(())
    }

    fn named_note(&mut self, mut note: SlotNote, name: &[u8; FUNCTION_NAME]) -> Result<(), Error> {
        note.name = self.arena.alloc_bytes(name).map_err(|error| Error::arena(Stage::Plan, error))?.off;
        if note.kind == NoteKind::FUNCTION
            && let Some(function) = self.function(&note)
        {
            *function = note.name;
        }
        self.note(note)
    }
}

/// One library per core at most.
pub(super) type Libraries<'m> = heapless::Vec<Sought<'m>, GROUP_MOST>;

struct Reader<'a, 'p, 'l, 'm> {
    programs: &'a mut heapless::Vec<Program<'p>, MOST_PROGRAMS>,
    libraries: &'a mut Libraries<'l>,
    keeper: Keeper<'a, 'm>,
}

impl Visitor for Reader<'_, '_, '_, '_> {
    fn wants(&mut self, id: MemberId) -> bool {
        let is_in = |blob: &Blob| blob.member_id() == Some(id);
        self.programs.iter().any(|program| program.blob.is_some_and(is_in))
            || !SMALL && self.libraries.iter().any(|library| is_in(library.blob))
    }

    fn data(&mut self, id: MemberId, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        if !SMALL {
            self.libraries.iter_mut().for_each(|library| library.data(id, offset, bytes));
        }
        for program in self.programs.iter_mut() {
            let Some(part) = program.part(id, offset, bytes) else { continue };
            let at = |error: Error| error.member_or(Some(id));
            program.stream.feed(&program.code, &Nowhere, part, &mut self.keeper).map_err(at)?;
            program.fed = program.fed.saturating_add(u64::try_from(part.len()).unwrap_or(0));
        }
        Ok(())
    }

    fn end(&mut self, _: MemberId) -> Result<(), Error> {
        Ok(())
    }
}

/// Reads all streams once, keeping notes at the arena's tail, and the libraries in the same pass.
#[inline(never)]
pub(super) fn read<'m, P: Payload<'m>>(
    payload: &mut P,
    programs: &mut heapless::Vec<Program<'_>, MOST_PROGRAMS>,
    libraries: &mut Libraries<'_>,
    arena: &mut Arena<'m>,
) -> Result<Notes, Error> {
    check_lengths(programs)?;
    let mut notes = Notes::default();
    let mut reader = Reader {
        programs,
        libraries,
        keeper: Keeper { arena, notes: &mut notes, functions: [[U32::ZERO; 5]; GROUP_MOST] },
    };
    if !reader.libraries.is_empty() || reader.programs.iter().any(|program| program.blob.is_some()) {
        payload.visit_any(&mut reader)?;
    }
    let Reader { programs, mut keeper, .. } = reader;
    for program in programs.iter_mut() {
        let len = program.blob.map_or(0, |blob| blob.len.get());
        if program.fed != len {
            let missing = Error::new(Stage::Plan, StageCode::BadKbin).name(b"instruction bytes");
            return Err(program.code.located(missing, 0).numbers(program.fed, len));
        }
        program.stream.finish(&program.code, &Nowhere, &mut keeper)?;
    }
    Ok(notes)
}

/// A stream is whole slots and its image less than 4 GiB, before any byte of it is read (T45, §11.6).
fn check_lengths(programs: &[Program<'_>]) -> Result<(), Error> {
    for program in programs {
        let len = program.blob.map_or(0, |blob| blob.len.get());
        if !len.is_multiple_of(64) {
            return Err(program.code.fault(StageCode::StreamRemainder, 0).numbers(len, 64));
        }
        if len >= u64::from(u32::MAX).saturating_sub(0x1_0000) {
            return Err(program.code.fault(StageCode::ImageTooLong, 0).numbers(len / 64, 0));
        }
    }
    Ok(())
}
