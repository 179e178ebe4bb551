//! (vii) The checked-in ledger, and the one in the README.

use super::{Audited, Offenders, folder, panics};
use crate::image::ledger::Ledger;
use anyhow::{Context, Result};
use memory_layouts::Layout;
use neffload_tests::workspace;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// What a size may grow by before the audit fails, in percent.
const SLACK: u64 = 3;

const BEGIN: &str = "<!-- ledger: written by `cargo xtask audit --write` -->\n";
const END: &str = "<!-- end of ledger -->";

fn list() -> PathBuf {
    folder().join("sizes.txt")
}

/// Sizes that are held to the ledger.
fn weighed(ledger: &Ledger) -> [(&'static str, u64); 7] {
    let Ledger { file, text, rodata, data, bss, .. } = *ledger;
    [
        ("file", file),
        ("text", text),
        ("rodata", rodata),
        ("data", data),
        ("bss", bss),
        ("static", ledger.statics()),
        ("stack", ledger.stack.unwrap_or(0)),
    ]
}

fn listed() -> Result<BTreeMap<String, u64>> {
    let text = fs::read_to_string(list())?;
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, number) = line.rsplit_once(' ').context("a line of sizes.txt")?;
            Ok((name.to_string(), number.parse()?))
        })
        .collect()
}

/// Sizes beyond the ledger, and beyond what the layout allows.
pub(crate) fn sizes(layout: &Layout, ledger: &Ledger) -> Result<Offenders> {
    let listed = listed()?;
    let mut offenders = Offenders::new();
    for (what, bytes) in weighed(ledger) {
        let name = format!("{} {what}", layout.name);
        match listed.get(&name) {
            None => offenders.push(format!("{name} is not in the ledger")),
            Some(&before) if bytes > before + before * SLACK / 100 => {
                offenders.push(format!(
                    "{name}: {bytes} bytes, the ledger has {before}, which is more than {SLACK}% less"
                ));
            }
            Some(&before) if bytes + before * SLACK / 100 < before => {
                println!(
                    "      {name}: {bytes} bytes, less than the ledger's {before}; `--write` keeps the gain"
                );
            }
            Some(_) => {}
        }
    }
    offenders.extend(ledger.beyond(layout));
    Ok(offenders)
}

/// Renews both ledgers and the list of callers.
pub(crate) fn write(images: &[Audited]) -> Result<()> {
    let mut text = String::from(
        "# Sizes of the images in bytes; written by `cargo xtask audit --write`, which fails where one grows by 3%.\n",
    );
    for image in images {
        for (what, bytes) in weighed(&image.ledger) {
            text += &format!("{} {what} {bytes}\n", image.layout.name);
        }
    }
    fs::write(list(), text)?;
    if let Some(first) = images.first() {
        panics::write(&first.code)?;
    }
    let page = readme_path();
    let readme = fs::read_to_string(&page)?;
    let (before, rest) = readme.split_once(BEGIN).context("the README has no place for the ledger")?;
    let (_, after) = rest.split_once(END).context("the README's ledger has no end")?;
    let mut ledger = String::from("```\n$ cargo xtask image agent-256k\n");
    if let Some(first) = images.first() {
        ledger += &first.ledger.to_string();
    }
    ledger += "```\n";
    Ok(fs::write(page, format!("{before}{BEGIN}{ledger}{END}{after}"))?)
}

fn readme_path() -> PathBuf {
    workspace().join("README.md")
}

/// The README's numbers are those of the list, and its stages' are within the list's slack of what was measured.
pub(crate) fn readme(ledger: &Ledger) -> Result<Offenders> {
    let readme = fs::read_to_string(readme_path())?;
    let block =
        readme.split_once(BEGIN).and_then(|(_, rest)| rest.split_once(END)).map_or("", |(block, _)| block);
    let listed = listed()?;
    let numbers: Vec<&str> = block.split(|c: char| !c.is_ascii_digit()).collect();
    let missing = ["file", "text", "rodata", "bss", "stack"].into_iter().filter(|what| {
        let number = listed.get(&format!("agent-256k {what}")).copied().unwrap_or(0).to_string();
        !numbers.contains(&number.as_str())
    });
    let mut offenders: Offenders =
        missing.map(|what| format!("README.md: the ledger there has another number for {what}")).collect();
    offenders
        .extend(stages(block, ledger).map(|stage| format!("README.md: {stage} has other numbers there")));
    Ok(offenders)
}

/// Stages whose row in a printed ledger is missing, or has numbers that are not near the measured ones.
pub(crate) fn stages<'l>(block: &str, ledger: &'l Ledger) -> impl Iterator<Item = &'l str> {
    let near = |number: u64, measured: u64| number.abs_diff(measured) <= measured * SLACK / 100;
    let differs = move |name: &str, code: u64, stack: u64| {
        let row = block.lines().find_map(|line| line.trim_start().strip_prefix(name)).unwrap_or("");
        let numbers: Vec<u64> = row.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        !matches!(numbers[..], [first, second] if near(first, code) && near(second, stack))
    };
    let wrong =
        ledger.stages.iter().filter(|stage| differs(stage.name, stage.code, stage.stack.unwrap_or(0)));
    wrong.map(|stage| stage.name).collect::<Vec<_>>().into_iter()
}
