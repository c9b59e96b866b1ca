//! The key for hashing and comparing a word: its bytes if they fit in 64 bits, otherwise a hash of them. Shaders at run
//! time and word tables at compile time share this function.

/// Bytes that a key stores unchanged.
const WHOLE: usize = 8;

/// An odd number without pattern: the bits of the golden ratio.
const MIXER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The key of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key(u64);

impl Key {
    pub const fn of(word: &[u8]) -> Key {
        if Key::is_whole(word) { Key(short(word)) } else { Key(long(word)) }
    }

    /// The key of `text[start..end]`.
    #[inline(always)]
    pub fn of_part(text: &[u8], start: usize, end: usize) -> Key {
        match text[start..].first_chunk() {
            Some(chunk) if end - start <= WHOLE => Key(u64::from_le_bytes(*chunk) & low_bytes(end - start)),
            _ => Key::of(&text[start..end]),
        }
    }

    /// Returns true if no other word of this length has the same key.
    pub const fn is_whole(word: &[u8]) -> bool {
        word.len() <= WHOLE
    }

    /// The start of a search in a table of `mask + 1` slots, a power of two.
    pub const fn slot(self, mask: usize) -> usize {
        (self.0.wrapping_mul(MIXER) >> 32) as usize & mask
    }
}

/// A mask of the low `count` bytes, up to eight.
const fn low_bytes(count: usize) -> u64 {
    if count == 0 { 0 } else { u64::MAX >> (8 * (WHOLE - count)) }
}

const fn short(word: &[u8]) -> u64 {
    let mut key = 0;
    let mut at = word.len();
    while at > 0 {
        at -= 1;
        key = key << 8 | word[at] as u64;
    }
    key
}

/// Chunks of eight bytes; the last may overlap the previous one.
const fn long(word: &[u8]) -> u64 {
    let mut key = chunk(word, 0);
    let mut at = WHOLE;
    while at + WHOLE < word.len() {
        key = key.wrapping_mul(MIXER).rotate_left(29) ^ chunk(word, at);
        at += WHOLE;
    }
    key.wrapping_mul(MIXER).rotate_left(29) ^ chunk(word, word.len() - WHOLE)
}

const fn chunk(word: &[u8], at: usize) -> u64 {
    match word.split_at(at).1.first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_the_key_of_the_word() {
        let text = b"a quick_brown_fox_jumps ov";
        for start in 0..text.len() {
            for end in start..=text.len() {
                assert_eq!(Key::of_part(text, start, end), Key::of(&text[start..end]), "{start}..{end}");
            }
        }
    }

    #[test]
    fn words_that_differ_in_one_byte_have_different_keys() {
        let word = b"subgroupBallotExclusiveBitCount";
        for length in 1..=word.len() {
            for at in 0..length {
                let mut other = *word;
                other[at] ^= 1;
                assert_ne!(Key::of(&word[..length]), Key::of(&other[..length]), "{length}, {at}");
            }
        }
    }
}
