//! Aligned columns.

use super::{Paint, Style, shown};
use std::fmt;

/// Where a column's cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Align {
    /// Words.
    Left,
    /// Numbers.
    Right,
}

/// What a column shows in a row, and how it stands out.
pub(crate) type Cell = (String, Paint);

/// A cell, hidden characters made visible.
pub(crate) fn cell(what: impl fmt::Display, paint: Paint) -> Cell {
    (shown::text(&what.to_string()), paint)
}

/// Headings and widths, for rows that are printed as they come; two spaces between columns, no lines.
#[derive(Clone, Debug)]
pub(crate) struct Columns(Vec<Column>);

#[derive(Clone, Debug)]
struct Column {
    heading: String,
    align: Align,
    width: usize,
}

impl Columns {
    /// As wide as their headings.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let column = |&(heading, align): &(&str, Align)| Column {
            heading: heading.to_owned(),
            align,
            width: width(heading),
        };
        Self(columns.iter().map(column).collect())
    }

    /// Makes room for a row.
    pub(crate) fn fit(&mut self, row: &[Cell]) {
        for (column, (cell, _)) in self.0.iter_mut().zip(row) {
            column.width = column.width.max(width(cell));
        }
    }

    /// The line of the headings; nothing if all are empty.
    pub(crate) fn headings(&self, style: Style) -> String {
        if self.0.iter().all(|column| column.heading.is_empty()) {
            return String::new();
        }
        let cells: Vec<Cell> = self.0.iter().map(|column| (column.heading.clone(), Paint::Dim)).collect();
        self.line(&cells, style)
    }

    /// The line of a row.
    pub(crate) fn line(&self, row: &[Cell], style: Style) -> String {
        let mut line = String::new();
        for ((cell, paint), column) in row.iter().zip(&self.0) {
            let fill = " ".repeat(column.width.saturating_sub(width(cell)));
            let cell = style.paint(*paint, cell);
            line += &if column.align == Align::Left { cell + &fill } else { fill + &cell };
            line += "  ";
        }
        format!("{}\n", line.trim_end())
    }
}

/// Rows of cells under headings, aligned once all are known.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Columns,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// Headings; an empty list of headings prints none.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        Self { columns: Columns::new(columns), rows: Vec::new() }
    }

    /// Adds a row of plain cells, hidden characters made visible.
    pub(crate) fn row<C: fmt::Display>(&mut self, cells: impl IntoIterator<Item = C>) {
        let row: Vec<Cell> = cells.into_iter().map(|what| cell(what, Paint::Plain)).collect();
        self.columns.fit(&row);
        self.rows.push(row);
    }

    /// Paints the last row's cell in that column.
    pub(crate) fn paint(&mut self, column: usize, paint: Paint) {
        if let Some(cell) = self.rows.last_mut().and_then(|row| row.get_mut(column)) {
            cell.1 = paint;
        }
    }

    /// The text, a line per row.
    pub(crate) fn render(&self, style: Style) -> String {
        let lines = self.rows.iter().map(|row| self.columns.line(row, style));
        [self.columns.headings(style)].into_iter().chain(lines).collect()
    }
}

fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::{Align, Paint, Style, Table};

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(&[("name", Align::Left), ("size", Align::Right)]);
        table.row(["größe", "1"]);
        table.row(["a", "1234567"]);
        assert_eq!(table.render(Style::new(false)), "name      size\ngröße        1\na      1234567\n");
    }

    #[test]
    fn colour_does_not_move_columns() {
        let mut table = Table::new(&[("", Align::Left), ("", Align::Left)]);
        table.row(["ok", "x"]);
        table.paint(0, Paint::Good);
        assert_eq!(table.render(Style::new(true)), "\x1b[32mok\x1b[0m  x\n");
        table.row(["\x1b[2J", "a\nb"]);
        assert!(table.render(Style::new(true)).ends_with("\n\\u{1b}[2J  a\\nb\n"));
    }
}
