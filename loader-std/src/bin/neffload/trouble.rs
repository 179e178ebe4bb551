//! What stops the command itself: bad usage and operating-system errors, exit status 2.

use crate::output::shown;
use loader_std::Refusal;
use std::fmt;
use std::io;
use std::path::Path;

/// Bad usage or an operating-system error.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Arguments that make no sense together.
    Usage(String),
    /// The operating system refused.
    Io {
        /// File or stream.
        subject: String,
        /// Its refusal.
        error: io::Error,
    },
}

impl Trouble {
    /// The system's refusal about a path.
    pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |error| Self::Io { subject: shown::path(path), error }
    }

    /// The same about a file that is one of several.
    pub(crate) fn refusal(&self) -> Refusal {
        match self {
            Self::Io { error, .. } => Refusal::unreadable(error),
            Self::Usage(what) => Refusal::unreadable(&io::Error::other(what.as_str())),
        }
    }

    /// True if the reader of standard output went away, which is its good right.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Io { error, .. } if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(what) => f.write_str(what),
            Self::Io { subject, error } => write!(f, "{subject}: {error}"),
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io { subject: "standard output".to_owned(), error }
    }
}
