//! A progress bar for work that lasts.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Work shorter than this shows nothing.
const PATIENCE: Duration = Duration::from_millis(400);

/// A bar on standard error that appears when the work lasts and leaves nothing behind.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    since: Instant,
    visible: bool,
}

impl Progress {
    pub(super) fn new(visible: bool, label: &'static str, total: Option<u64>) -> Self {
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden());
        let template = if total.is_some() {
            "{msg} {bar:32} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec}"
        } else {
            "{msg} {spinner} {binary_bytes} {binary_bytes_per_sec}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("━╸ "));
        }
        bar.set_message(label);
        Self { bar, since: Instant::now(), visible }
    }

    /// Sets the bytes done so far.
    pub(crate) fn set(&mut self, done: u64) {
        if self.visible && self.since.elapsed() > PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.visible = false;
        }
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
