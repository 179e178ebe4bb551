//! `cargo xtask fixtures`: the files of `neffload_tests::fixtures` in `tests/fixtures`.

use anyhow::{Context, Result, ensure};
use neffload_tests::{fixture, fixtures, fixtures_dir};
use std::fs;

/// Most bytes of a file that is committed.
const LIMIT: usize = 64 * 1024;

pub(crate) fn run(check: bool) -> Result<()> {
    fs::create_dir_all(fixtures_dir())?;
    let mut stale = 0;
    for made in fixtures::all() {
        let path = fixture(made.name);
        let bytes = made.bytes();
        ensure!(bytes.len() < LIMIT, "{}: {} bytes, more than {LIMIT}", made.name, bytes.len());
        let same = fs::read(&path).is_ok_and(|present| present == bytes);
        let state = match (same, check) {
            (true, _) => "current",
            (false, true) => "differs",
            (false, false) => "written",
        };
        println!("{:<18} {:>6} bytes  {state}", made.name, bytes.len());
        if !same && check {
            stale += 1;
        } else if !same {
            fs::write(&path, bytes).with_context(|| path.display().to_string())?;
        }
    }
    ensure!(stale == 0, "{stale} files differ; run `cargo xtask fixtures`");
    Ok(())
}
