//! The one error type of the loader: small, `Copy`, with a stable code and a place.
//!
//! A code is a letter for the layer and three digits. Each layer keeps its table beside this file;
//! a row states the runtime's text, the runtime's status number, what was expected and what to do.
//! `docs/ERRORS.md` is generated from those tables.
//!
//! ```
//! use loader_core::error::{Error, ManifestCode, Stage, Status};
//!
//! let error = Error::new(Stage::Manifest, ManifestCode::GraphMissing).name(b"resnet");
//! assert_eq!(error.id().to_string(), "E101");
//! assert_eq!(error.status(), Status::Invalid);
//! assert_eq!(error.log().to_string(), "Invalid NN: resnet, neff.json is missing");
//! ```

mod container;
mod device;
mod held;
mod lower;
mod manifest;
mod message;
mod name;
mod notes;
mod place;
mod remedy;
mod stage;
mod status;
mod table;
mod tooling;

pub use container::ContainerCode;
pub use device::DeviceCode;
pub(crate) use held::Held;
pub use lower::LowerCode;
pub use manifest::ManifestCode;
pub use name::Name;
pub(crate) use notes::remark;
pub use notes::{Ignored, NoteList, Notes};
pub use stage::StageCode;
pub use status::Status;
pub use table::{Id, Info};
pub use tooling::ToolCode;

use crate::arena::ArenaFull;
use crate::layout::SMALL;
use crate::source::{MemberId, MemberNames};
use core::fmt;
use message::{Message, Whole};
use place::{Kept, Part};
use table::Template;

/// The stage of a load in which an error arose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// S0: the checks before anything is read.
    Guard,
    /// S1: header gates, digest, gzip, tar.
    Unpack,
    /// S2: the manifest chain.
    Manifest,
    /// S3: lowering into kbin records.
    Lower,
    /// S4: placement in device memory.
    Plan,
    /// S4: building and copying images, rings and tables.
    Stage,
    /// S5: publishing the result.
    Register,
    /// Not a load: a question asked of a file.
    Tool,
}

impl Stage {
    /// All stages, in their order.
    #[cfg_attr(not(small), allow(dead_code, reason = "errors of small builds keep a number"))]
    const ALL: [Self; 8] = [
        Self::Guard,
        Self::Unpack,
        Self::Manifest,
        Self::Lower,
        Self::Plan,
        Self::Stage,
        Self::Register,
        Self::Tool,
    ];

    /// Short name, as in `inspect --json` and in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Guard => "S0",
            Self::Unpack => "S1",
            Self::Manifest => "S2",
            Self::Lower => "S3",
            Self::Plan | Self::Stage => "S4",
            Self::Register => "S5",
            Self::Tool => "tool",
        }
    }
}

/// A stable code: one variant per layer, one inner variant per reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// `C…`: container.
    Container(ContainerCode),
    /// `E…` and `W…`: manifests.
    Manifest(ManifestCode),
    /// `L…`: lowering.
    Lower(LowerCode),
    /// `S…`: staging.
    Stage(StageCode),
    /// `D…`: device and driver.
    Device(DeviceCode),
    /// `N…`, `M…`: tooling refusals and the memory analyser.
    Tool(ToolCode),
}

impl Code {
    /// The table row of this code.
    #[must_use]
    pub fn info(self) -> Info {
        match self {
            Self::Container(code) => code.info(),
            Self::Manifest(code) => code.info(),
            Self::Lower(code) => code.info(),
            Self::Stage(code) => code.info(),
            Self::Device(code) => code.info(),
            Self::Tool(code) => code.info(),
        }
    }

    /// What the person can do, with the placeholders of the row's text.
    #[must_use]
    pub const fn remedy(self) -> &'static str {
        match self {
            Self::Container(code) => code.remedy(),
            Self::Manifest(code) => code.remedy(),
            Self::Lower(code) => code.remedy(),
            Self::Stage(code) => code.remedy(),
            Self::Device(code) => code.remedy(),
            Self::Tool(code) => code.remedy(),
        }
    }

    /// The number of the layer, and the row of its table.
    const fn numbers(self) -> [u8; 2] {
        match self {
            Self::Container(code) => [0, code.number()],
            Self::Manifest(code) => [1, code.number()],
            Self::Lower(code) => [2, code.number()],
            Self::Stage(code) => [3, code.number()],
            Self::Device(code) => [4, code.number()],
            Self::Tool(code) => [5, code.number()],
        }
    }

    /// The code with these [numbers](Self::numbers).
    #[cfg_attr(not(small), allow(dead_code, reason = "the same"))]
    fn numbered([layer, row]: [u8; 2]) -> Option<Self> {
        match layer {
            0 => ContainerCode::numbered(row).map(Self::Container),
            1 => ManifestCode::numbered(row).map(Self::Manifest),
            2 => LowerCode::numbered(row).map(Self::Lower),
            3 => StageCode::numbered(row).map(Self::Stage),
            4 => DeviceCode::numbered(row).map(Self::Device),
            _ => ToolCode::numbered(row).map(Self::Tool),
        }
    }

    /// The row of the code with these [numbers](Self::numbers).
    fn row([layer, row]: [u8; 2]) -> table::Row {
        match layer {
            0 => ContainerCode::row(row),
            1 => ManifestCode::row(row),
            2 => LowerCode::row(row),
            3 => StageCode::row(row),
            4 => DeviceCode::row(row),
            _ => ToolCode::row(row),
        }
    }

    /// Every code of every layer, in table order: the source of `docs/ERRORS.md`.
    pub fn all() -> impl Iterator<Item = Self> {
        ContainerCode::ALL
            .iter()
            .map(|&code| Self::Container(code))
            .chain(ManifestCode::ALL.iter().map(|&code| Self::Manifest(code)))
            .chain(LowerCode::ALL.iter().map(|&code| Self::Lower(code)))
            .chain(StageCode::ALL.iter().map(|&code| Self::Stage(code)))
            .chain(DeviceCode::ALL.iter().map(|&code| Self::Device(code)))
            .chain(ToolCode::ALL.iter().map(|&code| Self::Tool(code)))
    }
}

macro_rules! code_from {
    ($($layer:ident($code:ident)),*) => {
        $(impl From<$code> for Code {
            fn from(code: $code) -> Self {
                Self::$layer(code)
            }
        })*
    };
}
code_from!(
    Container(ContainerCode),
    Manifest(ManifestCode),
    Lower(LowerCode),
    Stage(StageCode),
    Device(DeviceCode),
    Tool(ToolCode)
);

/// Where something happened. Every part is optional; unset parts are left out of messages.
///
/// `a`, `b`, `c` and the two names fill the placeholders of the code's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct At {
    /// Member of the archive.
    pub member: Option<MemberId>,
    /// Byte offset: in `member` if there is one, else in the file.
    pub offset: Option<u64>,
    /// Index of the element (variable, block, slot, tar entry) within `member`.
    pub element: Option<u32>,
    /// Subgraph, which is also the core within a logical core.
    pub subgraph: Option<u8>,
    /// First number of the code's text; usually what was found.
    pub a: u64,
    /// Second number of the code's text; usually what was expected.
    pub b: u64,
    /// Third number of the code's text.
    pub c: u64,
    /// First name of the code's text.
    pub name: Name<32>,
    /// Second name of the code's text.
    pub name2: Name<16>,
}

impl At {
    /// Nowhere in particular.
    pub const NOWHERE: Self = Self {
        member: None,
        offset: None,
        element: None,
        subgraph: None,
        a: 0,
        b: 0,
        c: 0,
        name: Name::EMPTY,
        name2: Name::EMPTY,
    };
}

/// Why a file, a model or a device was refused, or (with a `W` code) a remark that stops nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Error {
    kept: Kept,
}

const _: () = assert!(size_of::<Error>() <= if SMALL { 4 } else { 128 });

impl Error {
    /// An error without a place; add one with the methods below.
    #[must_use]
    #[cfg_attr(small, inline(always))]
    pub fn new(stage: Stage, code: impl Into<Code>) -> Self {
        Self::of(stage, code.into())
    }

    /// One copy for all on hosts, where an error is a large value, and made at a thousand places; a number that the
    /// compiler knows where small code goes before speed.
    #[cfg_attr(not(small), cold, inline(never))]
    #[cfg_attr(small, inline(always))]
    const fn of(stage: Stage, code: Code) -> Self {
        Self { kept: Kept::new(stage, code) }
    }

    /// The stage that refused.
    #[must_use]
    pub fn stage(&self) -> Stage {
        self.kept.stage()
    }

    /// The reason.
    #[must_use]
    pub fn code(&self) -> Code {
        self.kept.code()
    }

    /// Whether this is the reason.
    #[must_use]
    pub fn is(&self, code: impl Into<Code>) -> bool {
        self.kept.numbers() == code.into().numbers()
    }

    /// Whether an arena ran out, in whatever stage.
    #[must_use]
    pub fn is_arena_full(&self) -> bool {
        self.is(ContainerCode::ArenaFull)
            || self.is(ManifestCode::ArenaFull)
            || self.is(LowerCode::ArenaFull)
            || self.is(StageCode::ArenaFull)
    }

    /// The same refusal, said by another stage.
    #[must_use]
    pub const fn of_stage(self, stage: Stage) -> Self {
        Self { kept: self.kept.of_stage(stage) }
    }

    /// A broken promise between two parts of this library; never the fault of a file. Where small code goes before
    /// speed, `what` is not there: a host says it of the same file.
    #[must_use]
    #[inline(always)]
    pub fn internal(stage: Stage, what: &'static str) -> Self {
        if SMALL { Self::broken(stage) } else { Self::named_broken(stage, what) }
    }

    #[cold]
    #[inline(never)]
    fn named_broken(stage: Stage, what: &'static str) -> Self {
        Self::broken(stage).name(what.as_bytes())
    }

    #[cold]
    #[inline(never)]
    fn broken(stage: Stage) -> Self {
        let code: Code = match stage {
            Stage::Guard | Stage::Unpack => ContainerCode::Internal.into(),
            Stage::Manifest | Stage::Tool => ManifestCode::Internal.into(),
            Stage::Lower => LowerCode::Internal.into(),
            Stage::Plan | Stage::Stage | Stage::Register => StageCode::Internal.into(),
        };
        Self::new(stage, code)
    }

    /// The arena ran out during `stage`.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn arena(stage: Stage, full: ArenaFull) -> Self {
        let code: Code = match stage {
            Stage::Guard | Stage::Unpack => ContainerCode::ArenaFull.into(),
            Stage::Manifest | Stage::Tool => ManifestCode::ArenaFull.into(),
            Stage::Lower => LowerCode::ArenaFull.into(),
            Stage::Plan | Stage::Stage | Stage::Register => StageCode::ArenaFull.into(),
        };
        let wide = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        Self::new(stage, code).numbers(wide(full.needed), wide(full.available))
    }

    /// Sets the member.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn member(self, member: MemberId) -> Self {
        self.with(Part::Member, member.0.into())
    }

    /// Sets the byte offset.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn offset(self, offset: u64) -> Self {
        self.with(Part::Offset, offset)
    }

    /// Sets the element index.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn element(self, element: u32) -> Self {
        self.with(Part::Element, element.into())
    }

    /// Sets the subgraph.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn subgraph(self, subgraph: u8) -> Self {
        self.with(Part::Subgraph, subgraph.into())
    }

    /// Sets the first two numbers.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn numbers(self, a: u64, b: u64) -> Self {
        self.with(Part::A, a).with(Part::B, b)
    }

    /// Sets the third number.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn third(self, c: u64) -> Self {
        self.with(Part::C, c)
    }

    /// Sets the first name; a long one is shortened and marked.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn name(self, name: &[u8]) -> Self {
        self.named(&Name::new(name))
    }

    /// Sets the second name.
    #[must_use]
    #[cold]
    #[inline(never)]
    pub fn name2(self, name: &[u8]) -> Self {
        Self { kept: self.kept.named2(&Name::new(name)) }
    }

    /// The same with a number of the place.
    fn with(self, part: Part, number: u64) -> Self {
        Self { kept: self.kept.with(part, number) }
    }

    /// The same with a number of the place, unless it has one, or there is none.
    #[cold]
    #[inline(never)]
    fn or(self, part: Part, number: Option<u64>) -> Self {
        match number.filter(|_| !self.kept.has(part)) {
            Some(number) => self.with(part, number),
            None => self,
        }
    }

    /// The same with a member, unless it has one or there is none.
    pub(crate) fn member_or(self, member: Option<MemberId>) -> Self {
        self.or(Part::Member, member.map(|member| member.0.into()))
    }

    /// The same with a subgraph, unless it has one or there is none.
    pub(crate) fn subgraph_or(self, subgraph: Option<u8>) -> Self {
        self.or(Part::Subgraph, subgraph.map(Into::into))
    }

    /// The same with a byte offset, unless it has one.
    pub(crate) fn offset_or(self, offset: u64) -> Self {
        self.or(Part::Offset, Some(offset))
    }

    /// The same with an element index, unless it has one.
    pub(crate) fn element_or(self, element: u32) -> Self {
        self.or(Part::Element, Some(element.into()))
    }

    /// Sets the first name.
    #[cold]
    pub(crate) fn named(self, name: &Name<32>) -> Self {
        Self { kept: self.kept.named(name) }
    }

    /// The place.
    #[must_use]
    pub fn at(&self) -> At {
        self.kept.at()
    }

    /// The printed code, such as `E101`.
    #[must_use]
    pub fn id(&self) -> Id {
        self.kept.row().id()
    }

    /// The runtime's status for this refusal.
    #[must_use]
    pub fn status(&self) -> Status {
        self.kept.row().status
    }

    /// The runtime's own log text where it is known, else ours.
    #[must_use]
    pub fn log(&self) -> impl fmt::Display + '_ {
        Template { text: self.code().info().text, at: self.at() }
    }

    /// What a correct file, caller or host would have had, in one clause.
    #[must_use]
    pub fn expected(&self) -> impl fmt::Display + '_ {
        Template { text: self.code().info().expected, at: self.at() }
    }

    /// What the person can do about it, in one sentence.
    #[must_use]
    pub fn remedy(&self) -> impl fmt::Display + '_ {
        Template { text: self.code().remedy(), at: self.at() }
    }

    /// The whole message with the member's name in place of its number: code, text, place, what was expected, what
    /// to do.
    pub fn with_names<'a, N: MemberNames>(&'a self, names: &'a N) -> impl fmt::Display + 'a {
        Whole(Message { error: self, name: move |id| names.name_of(id) })
    }

    /// The message without its last sentence, for a program in little memory: the remedies are in `docs/ERRORS.md`.
    /// Where small code goes before speed, so are the words: then it is the code, what they would name, and the place.
    pub fn in_brief<'a, N: MemberNames>(&'a self, names: &'a N) -> impl fmt::Display + 'a {
        Message { error: self, name: move |id| names.name_of(id) }
    }
}
