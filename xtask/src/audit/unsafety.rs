//! (vi) Every `unsafe` says why it is sound.

use super::Offenders;
use anyhow::{Context, Result};
use neffload_tests::unsafety;

/// Looks at every source of the workspace.
pub(crate) fn check() -> Result<Offenders> {
    let uses = unsafety::uses().context("the sources of the workspace")?;
    let unexplained = uses.into_iter().filter(|found| !found.explained);
    Ok(unexplained
        .map(|found| format!("{}:{}: unsafe without a SAFETY line", found.file, found.line))
        .collect())
}
