//! Bytes of a text as UTF-16 units, and back.

/// A text's positions.
pub struct Units {
    /// The unit of each byte and of the end; none where they are the same.
    of_bytes: Option<Vec<usize>>,
}

impl Units {
    pub fn new(text: &str) -> Units {
        if text.is_ascii() {
            return Units { of_bytes: None };
        }
        let mut of_bytes = Vec::with_capacity(text.len() + 1);
        let mut unit = 0;
        for letter in text.chars() {
            of_bytes.resize(of_bytes.len() + letter.len_utf8(), unit);
            unit += letter.len_utf16();
        }
        of_bytes.push(unit);
        Units { of_bytes: Some(of_bytes) }
    }

    /// The unit at a byte.
    pub fn unit(&self, byte: usize) -> usize {
        self.of_bytes.as_ref().map_or(byte, |all| all.get(byte).or(all.last()).copied().unwrap_or(0))
    }

    /// The byte at a unit.
    pub fn byte(&self, unit: usize) -> usize {
        self.of_bytes.as_ref().map_or(unit, |all| all.partition_point(|known| *known < unit).min(all.len() - 1))
    }
}
