//! What the JSON reader makes of a document that comes in pieces, and documents as a second reader sees them.

pub mod tree;

pub use tree::Tree;

use loader_core::error::Error;
use loader_core::json::{Cutter, Element, Event, Fault, Kind, Lexer, Memory, Path, Reader, Want};
use loader_core::limits::Limits;

/// The lexer's events, each with the offset after it, and the document's length or its first fault.
pub type Trace = (Vec<(u64, Event)>, Result<u64, Fault>);

/// Every event at most `depth` levels deep.
pub fn trace<'d>(pieces: impl IntoIterator<Item = &'d [u8]>, limits: &Limits, depth: u16) -> Trace {
    let (mut lexer, mut events) = (Lexer::new(limits), Vec::new());
    for mut piece in pieces {
        loop {
            match lexer.next_within(&mut piece, depth) {
                Ok(Some(event)) => events.push((lexer.offset(), event)),
                Ok(None) => break,
                Err(fault) => return (events, Err(fault)),
            }
        }
    }
    let last = lexer.finish();
    events.extend(last.ok().flatten().map(|event| (lexer.offset(), event)));
    (events, last.map(|_| lexer.offset()))
}

/// What a cutter delivered: paths, offsets and texts; and the document's length or the refusal.
pub type Cut = (Vec<(String, u64, Vec<u8>)>, Result<u64, Error>);

/// Takes everything that lies two levels deep, with `room` bytes for an element and as many for keys.
pub fn cut<'d>(pieces: impl IntoIterator<Item = &'d [u8]>, limits: &Limits, room: usize) -> Cut {
    let (mut element, mut keys) = (vec![0; room], vec![0; room]);
    let memory = Memory { element: &mut element, keys: &mut keys };
    let mut cutter = Cutter::new(limits, memory).any_root();
    let mut taker = Taker::default();
    let fed = pieces.into_iter().try_for_each(|piece| cutter.feed(piece, &mut taker));
    let result = fed.and_then(|()| cutter.finish(&mut taker));
    (taker.seen, result)
}

#[derive(Default)]
struct Taker {
    seen: Vec<(String, u64, Vec<u8>)>,
}

impl Reader for Taker {
    fn value(&mut self, path: &Path<'_>, _: Kind, _: u64) -> Result<Want, Error> {
        Ok(match path.depth() {
            0 => Want::EnterUnique,
            1 => Want::Enter,
            _ => Want::Take,
        })
    }

    fn taken(&mut self, path: &Path<'_>, element: Element<'_>) -> Result<(), Error> {
        self.seen.push((path.to_string(), element.offset(), element.bytes().to_vec()));
        Ok(())
    }

    fn leave(&mut self, path: &Path<'_>, values: u32, offset: u64) -> Result<(), Error> {
        self.seen.push((format!("end of {path}: {values}"), offset, Vec::new()));
        Ok(())
    }
}
