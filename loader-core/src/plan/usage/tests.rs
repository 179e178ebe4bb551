#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

extern crate std;

use super::{COLUMNS, Holder, Shortage, UsageRow, UsageTable};
use crate::device::{CoreId, Usage};
use std::string::ToString;
use std::vec::Vec;

#[test]
fn every_usage_is_in_one_column() {
    for usage in Usage::ALL {
        let mut row = UsageRow::default();
        row.add(usage, 1000);
        let cells = super::cells(&row);
        assert_eq!(cells[0], 1000);
        // Notifications count in the total only.
        let rest: u64 = cells[1..].iter().sum();
        assert_eq!(rest, if usage == Usage::Notification { 0 } else { 1000 }, "{}", usage.name());
    }
}

#[test]
fn a_table() {
    let mut row = UsageRow::default();
    row.add(Usage::Weight, 24576);
    row.add(Usage::Tensor, 1 << 20);
    let shortage = Shortage {
        core: CoreId(0),
        size: 64 << 20,
        align: 0,
        usage: Usage::Weight,
        held: [None; 2],
        pages: None,
    };
    let cores = [Holder { core: CoreId(0), model: b"", row }];
    let models = [Holder { core: CoreId(0), model: b"m", row }];
    let table = UsageTable {
        device: 0,
        channel: 0,
        shortage: &shortage,
        overall: &[row, row],
        cores: &cores,
        models: &models,
    };
    let text = table.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "[ND 0:HBM 0] Failed to allocate 64.000MB (alignment: none, usage: WEIGHT)");
    assert_eq!(lines.len(), 5);
    for heading in COLUMNS {
        assert!(lines[1].contains(heading));
    }
    assert!(lines[2].starts_with("device ") && lines[2].contains("48.000KB"));
    assert!(lines[3].starts_with("ND 0:NC 0 ") && lines[3].contains("1.000MB"));
    assert!(lines[4].starts_with("  [m] "));
    assert_eq!(lines[4].matches("n/a").count(), 4);
    assert!(lines.iter().skip(1).all(|line| line.len() == lines[1].len()), "{text}");
}
