//! A progress bar for work that lasts, on standard error.
//!
//! Drawn by hand: one line, some ten times a second. A crate for it brings in floating-point powers, and with
//! them another shared library, for half a megabyte of memory in a program that promises four.

use super::Size;
use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(400);
/// Time between two drawings.
const PERIOD: Duration = Duration::from_millis(100);
/// Characters of the bar.
const WIDTH: u64 = 32;
/// Goes to the start of the line and clears it.
const CLEAR: &str = "\r\x1b[2K";

/// A bar on standard error that appears when the work lasts and leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Progress {
    label: &'static str,
    total: Option<u64>,
    since: Instant,
    /// When to draw next; `None` where nobody sees it.
    next: Option<Instant>,
    drawn: bool,
}

impl Progress {
    pub(super) fn new(visible: bool, label: &'static str, total: Option<u64>) -> Self {
        let since = Instant::now();
        Self { label, total, since, next: visible.then(|| since + PATIENCE), drawn: false }
    }

    /// Sets the bytes done so far.
    pub(crate) fn set(&mut self, done: u64) {
        let now = Instant::now();
        if self.next.is_some_and(|next| next <= now) {
            self.next = Some(now + PERIOD);
            self.drawn = true;
            let line = Line { label: self.label, total: self.total, done, took: now - self.since };
            // A terminal that went away is no reason to stop the work.
            drop(write!(io::stderr().lock(), "{CLEAR}{line}"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.drawn {
            drop(write!(io::stderr().lock(), "{CLEAR}"));
        }
    }
}

/// What is on the line.
struct Line {
    label: &'static str,
    total: Option<u64>,
    done: u64,
    took: Duration,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { label, total, done, took } = *self;
        let rate = u128::from(done) * 1000 / took.as_millis().max(1);
        let rate = Size(u64::try_from(rate).unwrap_or(u64::MAX));
        let Some(total) = total else { return write!(f, "{label} {} {rate}/s", Size(done)) };
        let full = u128::from(done.min(total)) * u128::from(WIDTH) / u128::from(total.max(1));
        let full = usize::try_from(full).unwrap_or(0);
        let bar: String = (0..WIDTH as usize).map(|at| if at < full { '━' } else { ' ' }).collect();
        write!(f, "{label} {bar} {}/{} {rate}/s", Size(done), Size(total))
    }
}

#[cfg(test)]
mod tests {
    use super::Line;
    use std::time::Duration;

    #[test]
    fn the_line_tells_share_and_rate() {
        let took = Duration::from_secs(2);
        let line = Line { label: "reading", total: Some(4 << 20), done: 1 << 20, took };
        assert_eq!(line.to_string(), format!("reading {:<32} 1.0 MiB/4.0 MiB 512.0 KiB/s", "━".repeat(8)));
        let pipe = Line { label: "reading", total: None, done: 100, took: Duration::ZERO };
        assert_eq!(pipe.to_string(), "reading 100 B 97.7 KiB/s");
        let grown = Line { label: "", total: Some(1), done: 9, took };
        assert!(grown.to_string().contains(&"━".repeat(32)));
    }
}
