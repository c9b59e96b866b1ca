//! Lane pictures as SVG: a row of boxes for each row of a picture, arrows from the lanes that are read.

use super::Escaped;
use crate::explain::picture::{Picture, PictureRow};
use std::fmt::Write;

/// Height of a box in pixels, then the distance between rows without and with arrows.
pub(super) const HEIGHT: usize = 22;
const STEP: usize = 28;
const ARROW_STEP: usize = 62;

/// Pixels of a letter, and the padding of a box.
pub(super) const LETTER: usize = 8;
pub(super) const PADDING: usize = 8;
pub(super) const LEAST_WIDTH: usize = 26;

/// Pixels above the first row: the lanes' numbers.
pub(super) const TOP: usize = 18;

/// Between two boxes.
pub(super) const GAP: usize = 3;

/// A figure with the picture, which scrolls if it is too wide.
pub fn figure(picture: &Picture, name: &str) -> String {
    let example = if picture.example { "; operands are examples" } else { "" };
    let (last, size) = (picture.lanes.saturating_sub(1), picture.subgroup);
    let caption = format!("Lanes 0 to {last} of {size}{example}");
    let drawing = Drawing::new(picture);
    format!(
        "<figure>\n<div class=\"scroll lanes\" tabindex=\"0\">\n{}{}</div>\n<figcaption>{caption}</figcaption>\n</figure>\n",
        drawing.labels(),
        drawing.svg(name)
    )
}

/// The positions in a drawing.
struct Drawing<'a> {
    picture: &'a Picture,
    /// Width of the labels, which stay in place when the lanes scroll.
    label: usize,
    /// Distance between the left edges of two boxes.
    width: usize,
    /// Upper edges of the rows.
    rows: Vec<usize>,
    height: usize,
}

impl Drawing<'_> {
    fn new(picture: &Picture) -> Drawing<'_> {
        let letters = |text: &String| text.chars().count();
        let label = picture.rows.iter().map(|row| letters(&row.label)).max().unwrap_or(0);
        let cell = picture.rows.iter().flat_map(|row| row.cells.iter().map(letters)).max().unwrap_or(0);
        let mut y = TOP;
        let mut rows = Vec::new();
        for (n, row) in picture.rows.iter().enumerate() {
            if n > 0 {
                y += if row.sources.is_empty() { STEP } else { ARROW_STEP };
            }
            rows.push(y);
        }
        let width = (cell * LETTER + PADDING).max(LEAST_WIDTH) + GAP;
        Drawing { picture, label: label * LETTER + PADDING, width, rows, height: y + HEIGHT + 2 }
    }

    fn svg(&self, name: &str) -> String {
        let width = self.width * self.picture.lanes as usize + 2;
        let height = self.height;
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\">\n<title>{}</title>\n<desc>{}</desc>\n",
            Escaped(&format!("Lanes before and after {name}")),
            Escaped(&self.words())
        );
        for lane in 0..self.picture.lanes {
            let (x, y) = (self.middle(lane), TOP - 5);
            let _ = writeln!(text, "<text class=\"lane\" x=\"{x}\" y=\"{y}\">{lane}</text>");
        }
        for (n, row) in self.picture.rows.iter().enumerate() {
            self.arrows(&mut text, n, row);
            self.boxes(&mut text, n, row);
        }
        text + "</svg>\n"
    }

    /// The names of the rows.
    fn labels(&self) -> String {
        let (width, height) = (self.label, self.height);
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"labels\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" aria-hidden=\"true\">\n"
        );
        for (row, y) in self.picture.rows.iter().zip(&self.rows) {
            let base = y + HEIGHT - 6;
            let _ = writeln!(text, "<text class=\"label\" x=\"0\" y=\"{base}\">{}</text>", Escaped(&row.label));
        }
        text + "</svg>\n"
    }

    /// The rows as text, for screen readers.
    fn words(&self) -> String {
        let row = |row: &PictureRow| format!("{}: {}", row.label, row.cells.join(" "));
        self.picture.rows.iter().map(row).collect::<Vec<_>>().join("; ")
    }

    /// The middle of a lane's boxes.
    fn middle(&self, lane: u32) -> usize {
        self.width * lane as usize + (self.width - GAP) / 2
    }

    fn arrows(&self, text: &mut String, n: usize, row: &PictureRow) {
        let Some(above) = n.checked_sub(1) else { return };
        let (from_y, to_y) = (self.rows[above] + HEIGHT + 1, self.rows[n] - 2);
        for (lane, source) in (0..self.picture.lanes).zip(&row.sources) {
            let Some(source) = source.filter(|source| *source < self.picture.lanes) else { continue };
            let class = if source == lane { "stays" } else { "moves" };
            let (from, to, bend) = (self.middle(source), self.middle(lane), (to_y - from_y) / 2);
            let (leave, arrive) = (from_y + bend, to_y - bend);
            let path = format!("M{from} {from_y}C{from} {leave} {to} {arrive} {to} {to_y}");
            let _ = writeln!(text, "<path class=\"{class}\" marker-end=\"url(#head)\" d=\"{path}\"/>");
        }
    }

    fn boxes(&self, text: &mut String, n: usize, row: &PictureRow) {
        let (y, base) = (self.rows[n], self.rows[n] + HEIGHT - 6);
        for (lane, cell) in (0..self.picture.lanes).zip(&row.cells) {
            let (x, width, middle) = (self.width * lane as usize, self.width - GAP, self.middle(lane));
            let class = class(cell, lane, n + 1 == self.picture.rows.len());
            let _ = writeln!(
                text,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{HEIGHT}\" rx=\"4\"/>\
                 <text class=\"{class}\" x=\"{middle}\" y=\"{base}\">{}</text>",
                Escaped(cell)
            );
        }
    }
}

/// The style of a box: undefined, the lane's own value, the result, or an intermediate value.
fn class(cell: &str, lane: u32, is_result: bool) -> &'static str {
    match cell {
        "." => "undefined",
        _ if is_result => "result",
        cell if cell.parse() == Ok(lane) => "own",
        _ => "other",
    }
}
