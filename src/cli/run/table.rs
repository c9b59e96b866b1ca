//! Printing a buffer: numbers in rows of eight, each row with the index of its first.

use crate::sim::Memory;
use crate::simulate::element::Element;
use std::fmt::Write;

/// Numbers of a row.
const ROW: usize = 8;

/// Numbers that are printed where nothing else is asked for.
pub const SHOWN: usize = 64;

/// A buffer as text; `?` stands for an undefined number. Writing into a `String` cannot fail, so its results are not
/// looked at.
pub fn print(title: &str, element: Element, memory: &Memory, limit: usize) -> String {
    let cells = element.cells(memory, limit);
    let all = memory.len() / element.bytes();
    let (width, margin) = (cells.iter().map(String::len).max().unwrap_or(0), cells.len().to_string().len());
    let mut text = format!("{title}: {all} x {}\n", element.name());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_indices() {
        let memory = Memory::from((0..20_u8).collect::<Vec<_>>());
        let element = Element::named("u8").expect("a type");
        let expected = "x: 20 x u8\n 0:  0  1  2  3  4  5  6  7\n 8:  8  9 10\nand 9 more\n";
        assert_eq!(print("x", element, &memory, 11), expected);
        assert_eq!(print("x", Element::U32, &Memory::undefined(8), 9), "x: 2 x u32\n0: ? ?\n");
    }
}
