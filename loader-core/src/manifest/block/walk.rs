//! Walking a `dma` array: blocks, transfers, ends, in whatever order their keys come.

use super::Transfer;
use super::key::TransferKey;
use super::memo::Memo;
use super::transfer::TransferDraft;
use crate::error::Error;
use crate::json::{Element, Kind, Path, Text, Want};

/// Longest variable or queue name that is looked up when it is spelt with escapes: half of what a key may take.
const NAME_MAX: usize = crate::layout::CORE_JSON_KEYS / 2;

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
#[cfg_attr(small, inline(never))]
pub(crate) fn unescaped(text: Text<'_>, find: &mut dyn FnMut(&[u8]) -> Option<u64>) -> Option<u64> {
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
    /// The key of the transfer's value that is being taken.
    key: Option<TransferKey>,
    from: Memo,
    to: Memo,
}

impl BlockWalk {
    pub(crate) const fn new() -> Self {
        Self {
            draft: TransferDraft::new(),
            has_desc: false,
            transfers: 0,
            offset: 0,
            key: None,
            from: Memo::EMPTY,
            to: Memo::EMPTY,
        }
    }

    /// Another document, perhaps of another definition, begins.
    pub(crate) const fn restart(&mut self) {
        (self.from, self.to) = (Memo::EMPTY, Memo::EMPTY);
    }

    /// A value at depth 2 or deeper begins, below `dma`.
    pub(crate) fn value<U: BlockUse + ?Sized>(
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
                self.draft.begin();
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
            5 => self.transfer_key(path.key(4)),
            6 => {
                self.draft.part.clear();
                if kind != Kind::Object {
                    self.draft.end_part();
                }
                Want::Enter
            }
            7 => self.transfer_key(path.key(6)),
            _ => Want::Skip,
        })
    }

    pub(crate) fn taken<U: BlockUse + ?Sized>(
        &mut self,
        used: &mut U,
        path: &Path<'_>,
        value: Element<'_>,
    ) -> Result<(), Error> {
        let Self { draft, key, from, to, .. } = self;
        let depth = path.depth();
        if depth == 3 {
            return used.field(path.key(2), value);
        }
        let Some(key) = *key else { return Ok(()) };
        let source = if depth == 5 { &mut draft.from } else { &mut draft.part };
        let (end, memo, key) = match key {
            TransferKey::From(key) => (source, from, key),
            // A part of `from_arr` is a source and nothing else.
            _ if depth != 5 => return Ok(()),
            TransferKey::To(key) => (&mut draft.to, to, key),
            TransferKey::Own(key) => {
                draft.field(key, value);
                return Ok(());
            }
        };
        end.take(key, value, |text| known(memo, used, text));
        Ok(())
    }

    pub(crate) fn leave<U: BlockUse + ?Sized>(&mut self, used: &mut U, path: &Path<'_>) -> Result<(), Error> {
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

    fn transfer_key(&mut self, key: &[u8]) -> Want {
        self.key = TransferKey::of(key);
        if self.key.is_some() { Want::Take } else { Want::Skip }
    }

    fn end_transfer<U: BlockUse + ?Sized>(&mut self, used: &mut U) -> Result<(), Error> {
        let index = self.transfers;
        self.transfers = self.transfers.saturating_add(1);
        match self.draft.end(used.sources_max(), |transfer| used.transfer(index, transfer)) {
            Ok(given) => given,
            Err(error) => {
                let at = error.at().offset.unwrap_or(self.offset);
                used.fault(index, error.offset(at))
            }
        }
    }
}

/// Id of the variable of that name, which may be spelt with escapes.
fn known<U: BlockUse + ?Sized>(memo: &mut Memo, used: &U, text: Text<'_>) -> Option<u32> {
    let mut find = |name: &[u8]| memo.find(name, |name| used.var(name)).map(u64::from);
    unescaped(text, &mut find).and_then(|id| u32::try_from(id).ok())
}
