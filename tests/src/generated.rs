//! Files of the shared data's generator.

use crate::{python, shared};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// The file that `make_big.py` makes with these arguments; `None` where it cannot run.
///
/// # Panics
/// If the generator fails.
#[must_use]
pub fn big(arguments: &[&str]) -> Option<Vec<u8>> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let script = shared()?.join("bench/make_big.py");
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("neffload-big-{}-{number}.neff", std::process::id()));
    let made = Command::new(python()?).arg("-B").arg(script).arg(&path).args(arguments).output();
    let made = made.unwrap_or_else(|error| panic!("make_big.py: {error}"));
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let _ = std::fs::remove_file(&path);
    Some(bytes)
}
