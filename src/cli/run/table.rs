//! Printing a buffer: numbers in rows of eight, each row with the index of its first.

use crate::sim::Memory;
use crate::simulate::element::Element;
use std::fmt::Write;

/// Numbers of a row.
const ROW: usize = 8;

/// Default limit of the printed numbers.
pub const SHOWN: usize = 64;

/// Numbers of a buffer as text; `?` represents an undefined number. Writing into a `String` cannot fail, so the results
/// are ignored.
pub fn print(title: &str, numbers: impl Iterator<Item = (usize, Element)>, memory: &Memory, limit: usize) -> String {
    let (mut cells, mut counts) = (Vec::new(), Vec::new());
    for (at, element) in numbers {
        if cells.len() < limit {
            cells.push(element.cell(memory, at));
        }
        count(&mut counts, element);
    }
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    let (width, margin) = (cells.iter().map(String::len).max().unwrap_or(0), cells.len().to_string().len());
    let counts: Vec<String> = counts.iter().map(|(element, count)| format!("{count} x {}", element.name())).collect();
    let counts = if counts.is_empty() { "empty".into() } else { counts.join(", ") };
    let mut text = format!("{title}: {counts}\n");
    for (n, row) in cells.chunks(ROW).enumerate() {
        let _ = write!(text, "{:margin$}:", n * ROW);
        row.iter().for_each(|cell| _ = write!(text, " {cell:>width$}"));
        text.push('\n');
    }
    if all > cells.len() {
        let _ = writeln!(text, "and {} more", all - cells.len());
    }
    text
}

/// Adds a number to the count of its type.
fn count(counts: &mut Vec<(Element, usize)>, element: Element) {
    match counts.iter_mut().find(|(known, _)| *known == element) {
        Some((_, count)) => *count += 1,
        None => counts.push((element, 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::numbers::all;

    #[test]
    fn rows_have_indices() {
        let memory = Memory::from((0..20_u8).collect::<Vec<_>>());
        let element = Element::named("u8").expect("a type");
        let expected = "x: 20 x u8\n 0:  0  1  2  3  4  5  6  7\n 8:  8  9 10\nand 9 more\n";
        assert_eq!(print("x", all(element, 20), &memory, 11), expected);
        assert_eq!(print("x", all(Element::U32, 8), &Memory::undefined(8), 9), "x: 2 x u32\n0: ? ?\n");
        let mixed = [(0, element), (4, Element::U32)];
        assert_eq!(print("x", mixed.into_iter(), &memory, 9), "x: 1 x u8, 1 x u32\n0:         0 117835012\n");
    }
}
