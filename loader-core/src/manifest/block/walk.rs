//! Walking a `dma` array: blocks, transfers, ends, in whatever order their keys come.

use super::Transfer;
use super::end::EndDraft;
use super::transfer::TransferDraft;
use crate::error::Error;
use crate::json::{Element, Kind, Path, Text, Want};

/// Longest variable or queue name that is looked up when it is spelt with escapes.
const NAME_MAX: usize = 4096;

/// What a walk is for: building the index, or handing transfers to a sink.
pub(crate) trait BlockUse {
    /// Id of the variable with that name.
    fn var(&self, name: &[u8]) -> Option<u32>;

    /// Sources of one transfer at most.
    fn sources_max(&self) -> usize;

    /// A block begins.
    fn begin(&mut self, ordinal: u32);

    /// Whether the value of this key of a block is wanted.
    fn wants(&self, key: &[u8]) -> bool;

    /// A wanted value of the block itself.
    fn field(&mut self, key: &[u8], value: Element<'_>) -> Result<(), Error>;

    /// `desc` is there, and is an array.
    fn has_transfers(&mut self);

    /// A checked transfer.
    fn transfer(&mut self, index: u32, transfer: &Transfer<'_>) -> Result<(), Error>;

    /// A fault in transfer `index`.
    fn fault(&mut self, index: u32, error: Error) -> Result<(), Error>;

    /// The block ended, having had so many transfers.
    fn end(&mut self, transfers: u32) -> Result<(), Error>;
}

/// Looks a string up that may be spelt with escapes.
pub(crate) fn unescaped<R>(text: Text<'_>, find: impl FnOnce(&[u8]) -> Option<R>) -> Option<R> {
    match text.plain() {
        Some(plain) => find(plain),
        None => {
            let mut bytes = [0u8; NAME_MAX];
            find(text.unescape(&mut bytes)?)
        }
    }
}

/// State of the walk; the document's paths are `dma`[block].`desc`[transfer].`from_arr`[part].
#[derive(Debug)]
pub(crate) struct BlockWalk {
    draft: TransferDraft,
    has_desc: bool,
    transfers: u32,
    offset: u64,
}

/// Splits `from_off` into `from` and `off`.
fn end_key(key: &[u8]) -> Option<(bool, &[u8])> {
    let rest = key.strip_prefix(b"from_").map(|field| (true, field));
    rest.or_else(|| key.strip_prefix(b"to_").map(|field| (false, field)))
}

impl BlockWalk {
    pub(crate) const fn new() -> Self {
        Self { draft: TransferDraft::new(), has_desc: false, transfers: 0, offset: 0 }
    }

    /// A value at depth 2 or deeper begins, below `dma`.
    pub(crate) fn value<U: BlockUse>(
        &mut self,
        used: &mut U,
        path: &Path<'_>,
        kind: Kind,
        offset: u64,
    ) -> Result<Want, Error> {
        Ok(match path.depth() {
            2 => {
                self.has_desc = false;
                self.transfers = 0;
                used.begin(path.index(1).unwrap_or(u32::MAX));
                if kind != Kind::Object {
                    used.end(0)?;
                }
                Want::Enter
            }
            3 if path.key(2) == b"desc" && !self.has_desc && kind == Kind::Array => {
                self.has_desc = true;
                used.has_transfers();
                Want::Enter
            }
            3 if used.wants(path.key(2)) => Want::Take,
            4 => {
                self.draft = TransferDraft::new();
                self.offset = offset;
                if kind != Kind::Object {
                    self.end_transfer(used)?;
                }
                Want::Enter
            }
            5 if path.key(4) == b"from_arr" => {
                if self.draft.begin_parts(kind) {
                    Want::Enter
                } else {
                    Want::Skip
                }
            }
            5 => transfer_key(path.key(4)),
            6 => {
                self.draft.part = EndDraft::EMPTY;
                if kind != Kind::Object {
                    self.draft.end_part();
                }
                Want::Enter
            }
            7 => transfer_key(path.key(6)),
            _ => Want::Skip,
        })
    }

    pub(crate) fn taken<U: BlockUse>(
        &mut self,
        used: &mut U,
        path: &Path<'_>,
        value: Element<'_>,
    ) -> Result<(), Error> {
        let lookup = |text: Text<'_>| unescaped(text, |name| used.var(name));
        match path.depth() {
            3 => return used.field(path.key(2), value),
            5 => match (path.key(4), end_key(path.key(4))) {
                (b"from", _) => self.draft.from.name(value, lookup),
                (b"to", _) => self.draft.to.name(value, lookup),
                (_, Some((true, field))) => self.draft.from.field(field, value),
                (_, Some((false, field))) => self.draft.to.field(field, value),
                (key, None) => self.draft.field(key, value),
            },
            _ => match (path.key(6), end_key(path.key(6))) {
                (b"from", _) => self.draft.part.name(value, lookup),
                (_, Some((true, field))) => self.draft.part.field(field, value),
                _ => {}
            },
        }
        Ok(())
    }

    pub(crate) fn leave<U: BlockUse>(&mut self, used: &mut U, path: &Path<'_>) -> Result<(), Error> {
        match path.depth() {
            2 => used.end(self.transfers),
            4 => self.end_transfer(used),
            6 => {
                self.draft.end_part();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn end_transfer<U: BlockUse>(&mut self, used: &mut U) -> Result<(), Error> {
        let index = self.transfers;
        self.transfers = self.transfers.saturating_add(1);
        match self.draft.end(used.sources_max(), |transfer| used.transfer(index, transfer)) {
            Ok(given) => given,
            Err(error) => used.fault(index, error.offset(self.offset)),
        }
    }
}

fn transfer_key(key: &[u8]) -> Want {
    match key {
        b"from"
        | b"from_off"
        | b"from_sizes"
        | b"from_steps"
        | b"from_dtype"
        | b"to"
        | b"to_off"
        | b"to_sizes"
        | b"to_steps"
        | b"to_dtype"
        | b"op"
        | b"cast"
        | b"num_tiling_dimensions"
        | b"size"
        | b"scale"
        | b"scale_dtype"
        | b"constant"
        | b"constant_dtype"
        | b"transpose_shape"
        | b"transpose_element_size"
        | b"transpose_op" => Want::Take,
        _ => Want::Skip,
    }
}
