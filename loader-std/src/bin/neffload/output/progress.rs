//! A progress bar for work that lasts, on standard error.
//!
//! Drawn by hand: one line, some ten times a second. A crate for it brings in floating-point powers, and with
//! them another shared library, for half a megabyte of memory in a program that promises four.

use super::Size;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(400);
/// Time between two drawings.
const PERIOD: Duration = Duration::from_millis(100);
/// Characters of the bar at most; fewer on a narrow terminal, down to none.
const WIDTH: usize = 32;
/// Columns of a terminal that does not say.
const COLUMNS: u16 = 80;
/// Goes to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[2K";

/// A bar on standard error that appears when the work lasts and leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Progress {
    work: Work,
    since: Instant,
    /// When to draw next; `None` where nobody sees it.
    next: Option<Instant>,
    drawn: bool,
}

/// What is done of what.
#[derive(Clone, Copy, Debug, Default)]
struct Work {
    label: &'static str,
    total: Option<u64>,
    /// Bytes of the files that are done.
    before: u64,
    /// What was read is then worked on.
    computes: bool,
    /// Of several files, the present one from 1 on, and how many there are.
    file: Option<(usize, usize)>,
}

/// True if standard error is a terminal that can move its cursor.
pub(super) fn is_possible() -> bool {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    !dumb && io::stderr().is_terminal()
}

/// Columns of the terminal behind standard error.
fn columns() -> usize {
    let size = terminal_size::terminal_size_of(io::stderr());
    usize::from(size.map_or(COLUMNS, |(width, _)| width.0).max(1))
}

impl Progress {
    pub(super) fn new(visible: bool, label: &'static str, total: Option<u64>) -> Self {
        let since = Instant::now();
        let work = Work { label, total, ..Work::default() };
        Self { work, since, next: visible.then(|| since + PATIENCE), drawn: false }
    }

    /// Once all is read, the line tells how long the work lasts and no rate.
    pub(super) const fn computing(mut self) -> Self {
        self.work.computes = true;
        self
    }

    /// Another file of `all` begins, `before` bytes after the start of the first. From then on, the bytes that
    /// are done count from the start of the file.
    pub(crate) const fn begin(&mut self, file: usize, all: usize, before: u64) {
        self.work.before = before;
        self.work.file = if all > 1 { Some((file, all)) } else { None };
    }

    /// Sets the bytes done so far.
    pub(crate) fn set(&mut self, done: u64) {
        let now = Instant::now();
        if self.next.is_some_and(|next| next <= now) {
            self.next = Some(now + PERIOD);
            self.drawn = true;
            let line = self.work.line(done, now - self.since, columns());
            // A terminal that went away is no reason to stop the work.
            drop(write!(io::stderr().lock(), "{CLEAR}{line}"));
        }
    }
}

impl Progress {
    /// Takes the line away; it comes back with the next step.
    pub(crate) fn hide(&mut self) {
        if std::mem::take(&mut self.drawn) {
            drop(write!(io::stderr().lock(), "{CLEAR}"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.hide();
    }
}

impl Work {
    /// The line for a terminal of that width: its bar shrinks, then goes, then the line is cut. The last column stays
    /// free, where some terminals begin a new line.
    fn line(&self, done: u64, took: Duration, columns: usize) -> String {
        let done = self.before.saturating_add(done);
        let rate = u128::from(done) * 1000 / took.as_millis().max(1);
        let rate = Size(u64::try_from(rate).unwrap_or(u64::MAX));
        let file = self.file.map_or_else(String::new, |(at, all)| format!(" {at}/{all}"));
        let (head, tail) =
            (format!("{}{file}", self.label), |done: &dyn fmt::Display| format!("{done} {rate}/s"));
        let most = columns - 1;
        let line = match self.total {
            None => format!("{head} {}", tail(&Size(done))),
            Some(total) => {
                // What is read whole is being worked on.
                let tail = if self.computes && done >= total {
                    format!("{}, {} s", Size(done), took.as_secs())
                } else {
                    tail(&format_args!("{}/{}", Size(done), Size(total)))
                };
                let room = most.saturating_sub(head.chars().count() + tail.chars().count() + 2).min(WIDTH);
                let full = u128::from(done.min(total)) * room as u128 / u128::from(total.max(1));
                let full = usize::try_from(full).unwrap_or(0);
                let bar: String = (0..room).map(|at| if at < full { '━' } else { ' ' }).collect();
                if room < 4 { format!("{head} {tail}") } else { format!("{head} {bar} {tail}") }
            }
        };
        line.chars().take(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Work;
    use std::time::Duration;

    const TOOK: Duration = Duration::from_secs(2);

    #[test]
    fn the_line_tells_share_and_rate() {
        let work = Work { label: "reading", total: Some(4 << 20), ..Work::default() };
        let line = work.line(1 << 20, TOOK, 80);
        assert_eq!(line, format!("reading {:<32} 1.0 MiB/4.0 MiB 512.0 KiB/s", "━".repeat(8)));
        let pipe = Work { label: "reading", ..Work::default() };
        assert_eq!(pipe.line(100, Duration::ZERO, 80), "reading 100 B 97.7 KiB/s");
        let computes = Work { computes: true, ..work };
        assert_eq!(computes.line(4 << 20, TOOK, 80), format!("reading {} 4.0 MiB, 2 s", "━".repeat(32)));
        assert_eq!(computes.line(1 << 20, TOOK, 80), line);
        let grown = Work { total: Some(1), ..Work::default() };
        assert!(grown.line(9, TOOK, 80).contains(&"━".repeat(32)));
    }

    #[test]
    fn of_several_files_the_whole_is_told() {
        let before = 2 << 20;
        let work =
            Work { label: "verifying", total: Some(4 << 20), before, file: Some((3, 4)), ..Work::default() };
        let line = work.line(1 << 20, TOOK, 100);
        assert_eq!(line, format!("verifying 3/4 {:<32} 3.0 MiB/4.0 MiB 1.5 MiB/s", "━".repeat(24)));
    }

    #[test]
    fn the_line_fits_every_terminal() {
        let work = Work {
            label: "verifying",
            total: Some(4 << 20),
            before: 0,
            file: Some((3, 4)),
            ..Work::default()
        };
        for columns in 1..200 {
            let line = work.line(3 << 20, TOOK, columns);
            assert!(line.chars().count() < columns.max(2), "{columns}: {line}");
        }
        assert!(!work.line(3 << 20, TOOK, 40).contains('━'));
        assert!(work.line(3 << 20, TOOK, 60).contains('━'));
    }
}
