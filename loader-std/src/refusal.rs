//! Why a question about a file has no answer: an error and the member that it is about.

use loader_core::error::{ContainerCode, Error, Stage, ToolCode};
use loader_core::json::{Element, Mismatch};
use std::fmt;

/// A loader error together with the name of its member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The member, as far as it is one; not UTF-8 is replaced.
    pub member: Option<String>,
    /// The reason.
    pub error: Error,
}

impl Refusal {
    /// A reason that is about no member.
    pub(crate) fn new(code: ToolCode) -> Self {
        Self { member: None, error: Error::new(Stage::Tool, code) }
    }

    /// There is no file at a path.
    #[must_use]
    pub fn no_file() -> Self {
        Self::new(ToolCode::NoFile)
    }

    /// `member` (or a pattern for one) does not exist.
    pub(crate) fn absent(member: &[u8]) -> Self {
        Self::named(ToolCode::MemberAbsent, member)
    }

    /// No subgraph has that name or number.
    #[must_use]
    pub fn no_subgraph(wanted: &str) -> Self {
        Self::named(ToolCode::NoSubgraph, wanted.as_bytes())
    }

    /// A reason with one name in it.
    pub(crate) fn named(code: ToolCode, name: &[u8]) -> Self {
        Self { member: None, error: Error::new(Stage::Tool, code).name(name) }
    }

    /// The system does not let a file be opened.
    #[must_use]
    pub fn unreadable(error: &std::io::Error) -> Self {
        let errno = error.raw_os_error().and_then(|errno| u64::try_from(errno).ok()).unwrap_or(0);
        Self { member: None, error: Error::new(Stage::Tool, ContainerCode::Read).numbers(errno, 0) }
    }

    /// Adds two numbers.
    pub(crate) fn numbers(mut self, a: u64, b: u64) -> Self {
        self.error = self.error.numbers(a, b);
        self
    }

    /// Says which member it is about, unless that is said.
    pub(crate) fn of(mut self, member: &[u8]) -> Self {
        self.member.get_or_insert_with(|| String::from_utf8_lossy(member).into_owned());
        self
    }

    /// The value of `key` has the wrong type.
    pub(crate) fn mismatch(key: &str, wrong: Mismatch) -> Self {
        let expected = match wrong.expected {
            "an unsigned" => "an unsigned int",
            other => other,
        };
        let error = wrong.error(Stage::Tool, ToolCode::KeyType);
        Self { member: None, error: error.name(key.as_bytes()).name2(expected.as_bytes()) }
    }

    /// The text of the reason alone, as the reference's reader prints it.
    #[must_use]
    pub fn text(&self) -> String {
        self.error.log().to_string()
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self { member: None, error: error.of_stage(Stage::Tool) }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(member) = &self.member {
            write!(f, "{member}: ")?;
        }
        write!(f, "{}", self.error)
    }
}

impl std::error::Error for Refusal {}

/// The value of a key that must be there.
pub(crate) fn required<'a>(object: Element<'a>, key: &str) -> Result<Element<'a>, Refusal> {
    let absent = || {
        let mut refusal = Refusal::named(ToolCode::KeyAbsent, key.as_bytes());
        refusal.error = refusal.error.offset(object.offset());
        refusal
    };
    object.get(key).ok_or_else(absent)
}

/// The characters of a string value.
pub(crate) fn string(key: &str, value: Element<'_>) -> Result<String, Refusal> {
    let text = value.text().map_err(|wrong| Refusal::mismatch(key, wrong))?;
    Ok(String::from_utf8_lossy(&text.bytes().collect::<Vec<u8>>()).into_owned())
}
