//! `cargo xtask errors`: docs/ERRORS.md from the code tables.

use anyhow::{Result, ensure};
use neffload_tests::errors_page::errors_page;
use neffload_tests::workspace;
use std::fs;

pub(crate) fn run(check: bool) -> Result<()> {
    let path = workspace().join("docs").join("ERRORS.md");
    let page = errors_page();
    if fs::read_to_string(&path).is_ok_and(|present| present == page) {
        println!("docs/ERRORS.md is current");
        return Ok(());
    }
    ensure!(!check, "docs/ERRORS.md is not current; run `cargo xtask errors`");
    fs::create_dir_all(workspace().join("docs"))?;
    fs::write(&path, page)?;
    println!("docs/ERRORS.md written");
    Ok(())
}
