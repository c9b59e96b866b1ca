//! Finds the ends of words and blanks, eight bytes of text at a time. Their lengths are unpredictable, so a branch per
//! byte would cost one misprediction per word. A chunk is a number with the first byte in its low bits. This module
//! knows no tokens.

/// Bytes of a chunk.
pub const LEN: usize = 8;

/// The highest bit of each byte.
const HIGH: u64 = all(0x80);

/// Bytes at the start of a chunk that can be in a word: ASCII letters, digits and `_`.
#[inline(always)]
pub const fn word_bytes(chunk: u64) -> usize {
    let ascii = chunk & !HIGH;
    let in_word = between(ascii | all(0x20), b'a', b'z') | between(ascii, b'0', b'9') | between(ascii, b'_', b'_');
    leading(in_word & !chunk)
}

/// Spaces at the start of a chunk.
#[inline(always)]
pub const fn spaces(chunk: u64) -> usize {
    (chunk ^ all(b' ')).trailing_zeros() as usize / 8
}

/// The chunk of equal bytes.
const fn all(byte: u8) -> u64 {
    u64::from_le_bytes([byte; LEN])
}

/// Sets the highest bit of each byte in a range. The bytes are ASCII, so sums do not carry into the next byte.
const fn between(ascii: u64, low: u8, high: u8) -> u64 {
    (ascii + all(0x80 - low)) & !(ascii + all(0x7f - high))
}

/// Number of leading bytes whose highest bit is set.
const fn leading(marks: u64) -> usize {
    (!marks & HIGH).trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests every byte at every position after bytes that `count` counts.
    fn stops_at(count: fn(u64) -> usize, counted: &[u8]) {
        for (at, byte) in (0..LEN).flat_map(|at| (0..=u8::MAX).map(move |byte| (at, byte))) {
            let mut bytes = [counted[at % counted.len()]; LEN];
            bytes[at] = byte;
            let expected = if counted.contains(&byte) { LEN } else { at };
            assert_eq!(count(u64::from_le_bytes(bytes)), expected, "{byte:#x} at {at}");
        }
    }

    #[test]
    fn words_end_at_every_other_byte() {
        stops_at(word_bytes, b"_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    }

    #[test]
    fn spaces_end_at_every_other_byte() {
        stops_at(spaces, b" ");
    }
}
