//! Pictures of operations over several subgroups as SVG: a box for each subgroup and for its slots in workgroup memory,
//! lines from the slots that are read.

use super::Escaped;
use super::svg::{GAP, HEIGHT, LEAST_WIDTH, LETTER, PADDING, TOP};
use crate::explain::picture::{Parts, PartsRow};
use std::fmt::Write;

/// Distance between rows.
const STEP: usize = 58;

/// A figure with the picture, which scrolls if it is too wide.
pub fn figure(parts: &Parts, name: &str) -> String {
    let example = if parts.example { "; operands are examples" } else { "" };
    let caption = format!("The subgroups of a segment and their slots in workgroup memory{example}");
    let drawing = Drawing::new(parts);
    format!(
        "<figure>\n<div class=\"scroll lanes\" tabindex=\"0\">\n{}</div>\n<figcaption>{caption}</figcaption>\n</figure>\n",
        drawing.svg(name)
    )
}

/// The positions in a drawing.
struct Drawing<'a> {
    parts: &'a Parts,
    /// Width of the labels.
    label: usize,
    /// Distance between the left edges of two boxes.
    width: usize,
}

impl Drawing<'_> {
    fn new(parts: &Parts) -> Drawing<'_> {
        let letters = |text: &String| text.chars().count();
        let label = parts.rows.iter().map(|row| letters(&row.label)).max().unwrap_or(0);
        let cells = parts.rows.iter().flat_map(|row| &row.cells).chain(&parts.subgroups);
        let cell = cells.map(letters).max().unwrap_or(0);
        Drawing { parts, label: label * LETTER + PADDING, width: (cell * LETTER + PADDING).max(LEAST_WIDTH) + 4 * GAP }
    }

    fn svg(&self, name: &str) -> String {
        let width = self.label + self.width * self.parts.subgroups.len();
        let height = top(self.parts.rows.len().saturating_sub(1)) + HEIGHT + 2;
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n",
            Escaped(&format!("Subgroups before and after {name}")),
            Escaped(&self.words())
        );
        for (n, lanes) in self.parts.subgroups.iter().enumerate() {
            let (x, y) = (self.middle(n), TOP - 5);
            let _ = writeln!(text, "<text class=\"lane\" x=\"{x}\" y=\"{y}\">{lanes}</text>");
        }
        for (n, row) in self.parts.rows.iter().enumerate() {
            self.lines(&mut text, n, row);
            self.boxes(&mut text, n, row);
        }
        text + "</svg>\n"
    }

    /// The rows as text, for screen readers.
    fn words(&self) -> String {
        let row = |row: &PartsRow| format!("{}: {}", row.label, row.cells.join(", "));
        self.parts.rows.iter().map(row).collect::<Vec<_>>().join("; ")
    }

    /// The middle of a subgroup's boxes.
    fn middle(&self, n: usize) -> usize {
        self.label + self.width * n + self.width / 2
    }

    fn lines(&self, text: &mut String, n: usize, row: &PartsRow) {
        let Some(above) = n.checked_sub(1) else { return };
        let (from_y, to_y) = (top(above) + HEIGHT + 1, top(n) - 2);
        for (to, sources) in row.sources.iter().enumerate() {
            for from in sources {
                let class = if *from as usize == to { "stays" } else { "moves" };
                let (from, to) = (self.middle(*from as usize), self.middle(to));
                let path = format!("M{from} {from_y}L{to} {to_y}");
                let _ = writeln!(text, "<path class=\"{class}\" marker-end=\"url(#head)\" d=\"{path}\"/>");
            }
        }
    }

    fn boxes(&self, text: &mut String, n: usize, row: &PartsRow) {
        let (y, base, width) = (top(n), top(n) + HEIGHT - 6, self.width - 4 * GAP);
        let _ = writeln!(text, "<text class=\"label\" x=\"0\" y=\"{base}\">{}</text>", Escaped(&row.label));
        // Slots have corners.
        let radius = if row.exchange.is_some() { 0 } else { 4 };
        let class = match row.exchange {
            Some(_) => "other",
            None if n > self.parts.rows.iter().rposition(|row| row.exchange.is_some()).unwrap_or(n) => "result",
            None => "own",
        };
        for (n, cell) in row.cells.iter().enumerate() {
            let (middle, x) = (self.middle(n), self.middle(n) - width / 2);
            let _ = writeln!(
                text,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"{radius}\"/>\
                 <text class=\"{class}\" x=\"{middle}\" y=\"{base}\">{}</text>",
                Escaped(cell)
            );
        }
    }
}

/// The upper edge of a row.
const fn top(row: usize) -> usize {
    TOP + row * STEP
}
