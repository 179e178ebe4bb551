//! What a person or a script sees: text or a JSON document on standard output, remarks and progress
//! on standard error.

mod document;
mod listing;
mod progress;
pub(crate) mod shown;
mod size;
mod style;
mod table;
pub(crate) mod verdict;
mod watch;

pub(crate) use document::Document;
pub(crate) use listing::Listing;
pub(crate) use progress::Progress;
pub(crate) use size::{Count, Size, total};
pub(crate) use style::{Paint, Style};
pub(crate) use table::{Align, Cell, Columns, Table, cell};
pub(crate) use watch::{Followed, Watch};

use crate::arguments::Common;
use crate::trouble::Trouble;
use neuron_drivers::host::streams::stdout_was_closed;
use rustix::io::Errno;
use std::fmt;
use std::io::{self, IsTerminal, StdoutLock, Write};

/// Standard output; refused if it was closed when the process began. The language's runtime has put `/dev/null` in its
/// place since, which would take everything.
pub(crate) fn standard() -> io::Result<StdoutLock<'static>> {
    if stdout_was_closed() { Err(Errno::BADF.into()) } else { Ok(io::stdout().lock()) }
}

/// Where answers go and how they look.
#[derive(Debug)]
pub(crate) struct Output {
    json: bool,
    quiet: bool,
    style: Style,
    /// The reader of standard output went away.
    closed: bool,
}

impl Output {
    /// Looks at the options, the terminal and `NO_COLOR`.
    pub(crate) fn new(common: &Common) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colour = !common.json && !common.quiet && !refused && !dumb && io::stdout().is_terminal();
        Self { json: common.json, quiet: common.quiet, style: Style::new(colour), closed: false }
    }

    /// True if a JSON document was asked for.
    pub(crate) const fn json(&self) -> bool {
        self.json
    }

    /// True if only answers are wanted.
    pub(crate) const fn quiet(&self) -> bool {
        self.quiet
    }

    /// How to paint words.
    pub(crate) const fn style(&self) -> Style {
        self.style
    }

    /// Prints a line of text.
    pub(crate) fn line(&mut self, text: impl fmt::Display) -> Result<(), Trouble> {
        let line = shown::line(&text.to_string(), self.style.is_coloured());
        self.put(format_args!("{line}\n"))
    }

    /// Prints text that stands in a file: to another program as it is, to a person as [`Output::line`] does.
    pub(crate) fn content(&mut self, text: &str) -> Result<(), Trouble> {
        if io::stdout().is_terminal() { self.line(text) } else { self.exactly(text) }
    }

    /// Prints text as it is.
    pub(crate) fn exactly(&mut self, text: &str) -> Result<(), Trouble> {
        self.put(format_args!("{text}\n"))
    }

    /// Prints the headings of rows that come one by one.
    pub(crate) fn headings(&mut self, columns: &Columns) -> Result<(), Trouble> {
        self.put(format_args!("{}", columns.headings(self.style)))
    }

    /// Prints a row under its headings.
    pub(crate) fn row(&mut self, columns: &Columns, row: &[Cell]) -> Result<(), Trouble> {
        self.put(format_args!("{}", columns.line(row, self.style)))
    }

    /// Prints an aligned table.
    pub(crate) fn table(&mut self, table: &Table) -> Result<(), Trouble> {
        self.put(format_args!("{}", table.render(self.style)))
    }

    /// Prints a JSON document.
    pub(crate) fn document(&mut self, document: &Document) -> Result<(), Trouble> {
        self.put(format_args!("{document}\n"))
    }

    /// Writes to standard output. A reader that went away is in its good right and gets no more, but the exit
    /// status still tells the answer.
    fn put(&mut self, text: fmt::Arguments<'_>) -> Result<(), Trouble> {
        if self.closed {
            return Ok(());
        }
        let (text, mut out) = (text.to_string(), standard()?);
        // What waits in a buffer until the end is written when nobody can say any more that it failed.
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            written => written.map_err(Trouble::from),
        }
    }

    /// Whether progress may be drawn: by nobody's wish not to be, on a terminal that does not show a document meanwhile,
    /// whose line it would take away.
    fn shows_progress(&self) -> bool {
        !self.quiet && progress::is_possible() && !(self.json && io::stdout().is_terminal())
    }

    /// Prints a remark on standard error unless `--quiet`.
    pub(crate) fn remark(&self, text: impl fmt::Display) {
        if !self.quiet {
            shown::complain(text);
        }
    }

    /// A progress bar over `total` bytes that appears only on a terminal and only when work lasts.
    pub(crate) fn progress(&self, label: &'static str, total: Option<u64>) -> Progress {
        Progress::new(self.shows_progress(), label, total)
    }

    /// The same for work that does not say how far it is, over a file of `total` bytes.
    pub(crate) fn watch(&self, label: &'static str, total: Option<u64>) -> Watch {
        Watch::new(self.shows_progress(), label, total)
    }

    /// A watch that shows nothing.
    pub(crate) fn unwatched() -> Watch {
        Watch::new(false, "", None)
    }
}
