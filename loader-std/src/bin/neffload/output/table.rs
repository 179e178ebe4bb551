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

/// Rows of cells under headings; two spaces between columns, no lines.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<(String, Paint)>>,
}

impl Table {
    /// Headings; an empty list of headings prints none.
    pub(crate) fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns.iter().map(|(heading, align)| ((*heading).to_owned(), *align)).collect();
        Self { columns, rows: Vec::new() }
    }

    /// Adds a row of plain cells, hidden characters made visible.
    pub(crate) fn row<C: fmt::Display>(&mut self, cells: impl IntoIterator<Item = C>) {
        let shown = |cell: C| (shown::text(&cell.to_string()), Paint::Plain);
        self.rows.push(cells.into_iter().map(shown).collect());
    }

    /// Paints the last row's cell in that column.
    pub(crate) fn paint(&mut self, column: usize, paint: Paint) {
        if let Some(cell) = self.rows.last_mut().and_then(|row| row.get_mut(column)) {
            cell.1 = paint;
        }
    }

    fn widths(&self) -> Vec<usize> {
        let mut widths: Vec<usize> = self.columns.iter().map(|(heading, _)| width(heading)).collect();
        for row in &self.rows {
            for (slot, (cell, _)) in widths.iter_mut().zip(row) {
                *slot = (*slot).max(width(cell));
            }
        }
        widths
    }

    /// The text, a line per row.
    pub(crate) fn render(&self, style: Style) -> String {
        let widths = self.widths();
        let mut text = String::new();
        let headings: Vec<(String, Paint)> =
            self.columns.iter().map(|(heading, _)| (heading.clone(), Paint::Dim)).collect();
        let titled = headings.iter().any(|(heading, _)| !heading.is_empty());
        for row in titled.then_some(&headings).into_iter().chain(&self.rows) {
            let mut line = String::new();
            for (((cell, paint), (_, align)), wide) in row.iter().zip(&self.columns).zip(&widths) {
                let fill = " ".repeat(wide - width(cell));
                let cell = style.paint(*paint, cell);
                line += &if *align == Align::Left { cell + &fill } else { fill + &cell };
                line += "  ";
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
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
