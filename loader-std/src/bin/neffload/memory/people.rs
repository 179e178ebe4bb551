//! The estimate for people: a table of cores or of files, and the sums below it.

use super::Measured;
use crate::output::{Align, Count, Output, Paint, Size, Table};
use crate::trouble::Trouble;
use loader_std::Refusal;
use loader_std::memory::{Core, Estimate, Mode, Tensor, Together};

/// Prints one file with its cores, or a table of several files.
pub(super) fn print(
    files: &[Measured],
    sum: &Result<Together, Refusal>,
    output: &mut Output,
) -> Result<(), Trouble> {
    match files {
        [Measured { estimate: Ok(estimate), .. }] => file(estimate, output),
        [] => output.line("no *.neff file"),
        [_] => Ok(()),
        files => set(files, sum, output),
    }?;
    for staged in files.iter().filter_map(|file| file.staged.as_ref()?.as_ref().ok()) {
        output.line("")?;
        output.line(staged.log.trim_end())?;
    }
    Ok(())
}

fn file(estimate: &Estimate, output: &mut Output) -> Result<(), Trouble> {
    let heading = ["core", "scratchpad", "code", "constants", "DMA rings", "inputs", "outputs"];
    let mut table = Table::new(&columns(&heading));
    for core in &estimate.cores {
        table.row(cells(core));
    }
    output.table(&table)?;
    let page = format!("{} pages of {}", mode(estimate.scratchpad_mode), Size(estimate.page_bytes));
    output.line("")?;
    sums(
        output,
        [
            ("scratchpad", estimate.scratchpad_rounded, page.as_str()),
            ("resident", estimate.persistent_bytes, "code, constants, DMA rings"),
            ("runtime", estimate.runtime_bytes, "measured on one installation"),
            ("total", estimate.total_one_graph, "without inputs and outputs"),
        ],
    )
}

fn cells(core: &Core) -> [String; 7] {
    let size = |bytes| Size(bytes).to_string();
    let tensors = |list: &[Tensor]| size(list.iter().map(|tensor| tensor.size).sum());
    [
        core.name.clone(),
        size(core.scratchpad_bytes),
        size(core.code_bytes),
        size(core.constant_bytes),
        size(core.dma_ring_bytes),
        tensors(&core.inputs),
        tensors(&core.outputs),
    ]
}

fn columns<'h>(heading: &[&'h str]) -> Vec<(&'h str, Align)> {
    let align = |place| if place == 0 { Align::Left } else { Align::Right };
    heading.iter().enumerate().map(|(place, name)| (*name, align(place))).collect()
}

const fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Contiguous => "contiguous",
        Mode::Paged => "separate",
    }
}

fn sums(output: &mut Output, rows: [(&str, u64, &str); 4]) -> Result<(), Trouble> {
    let mut table = Table::new(&[("", Align::Left), ("", Align::Right), ("", Align::Left)]);
    for (name, bytes, remark) in rows {
        table.row([name.to_owned(), Size(bytes).to_string(), remark.to_owned()]);
        table.paint(2, Paint::Dim);
    }
    output.table(&table)
}

fn set(files: &[Measured], sum: &Result<Together, Refusal>, output: &mut Output) -> Result<(), Trouble> {
    let mut table = Table::new(&columns(&["file", "cores", "scratchpad", "resident", "alone"]));
    for measured in files {
        let Ok(estimate) = &measured.estimate else {
            table.row([measured.file.as_str(), "-", "-", "-", "unreadable"]);
            table.paint(4, Paint::Bad);
            continue;
        };
        let size = |bytes| Size(bytes).to_string();
        table.row([
            measured.file.clone(),
            estimate.cores.len().to_string(),
            size(estimate.scratchpad_rounded),
            size(estimate.persistent_bytes),
            size(estimate.total_one_graph),
        ]);
    }
    output.table(&table)?;
    let readable = files.iter().filter(|file| file.estimate.is_ok()).count();
    let count = Count(u64::try_from(readable).unwrap_or(u64::MAX), "file");
    output.line(format!("\ntogether, {count}"))?;
    let sum = match sum {
        Ok(sum) => sum,
        Err(refusal) => return output.line(format_args!("  {refusal}")),
    };
    sums(
        output,
        [
            ("scratchpad", sum.scratchpad, "shared: the largest"),
            ("resident", sum.resident, "code, constants, DMA rings"),
            ("runtime", sum.runtime, "measured on one installation"),
            ("total", sum.total, "without inputs and outputs"),
        ],
    )
}
