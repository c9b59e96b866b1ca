//! Finds names in the dictionary in any spelling: any case, with or without types, namespaces and arguments.

use super::{Entry, entries};
use crate::diagnostic::nearest::nearest;

/// The answer to a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// The entries of the name.
    Name(Vec<Entry>),
    /// Longer names that contain the word.
    Among(Vec<Entry>),
    /// No match; names that look similar.
    Near(Vec<String>),
}

/// Words for the operand types of an instruction.
const TYPES: [&str; 15] =
    ["b16", "b32", "b64", "u32", "u64", "s32", "s64", "i32", "i64", "f16", "f32", "f64", "pred", "e32", "e64"];
/// Words that assemblers put around a name.
const AROUND: [&str; 3] = ["v", "fi", "sync"];
/// Words that compilers put before the names of instructions.
const NAMESPACES: [&str; 5] = ["llvm", "builtin", "amdgcn", "nvvm", "int"];
/// Letters that a part of a name needs to count as a match.
const ENOUGH: usize = 4;
/// Words of three letters that are the name of something.
const SHORT: [&str; 2] = ["dpp", "cub"];
/// Limit of the suggestions.
const SUGGESTED: usize = 3;

/// The words of a name, in lower case.
fn words(name: &str) -> Vec<String> {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect()
}

/// The name without arguments.
fn bare(name: &str) -> &str {
    name.split(['(', '<', ' ']).next().unwrap_or_default()
}

/// Returns true if a word names a type.
fn is_type(word: &str) -> bool {
    TYPES.contains(&word)
}

/// The words without types at the end.
fn stem(words: &[String]) -> &[String] {
    let types = words.iter().rev().take_while(|word| is_type(word)).count();
    if types < words.len() { &words[..words.len() - types] } else { words }
}

/// Returns true if words occur next to each other in a longer list.
fn is_run(part: &[String], whole: &[String]) -> bool {
    !part.is_empty() && whole.windows(part.len()).any(|window| window == part)
}

/// Returns true if words are specific enough to identify a name.
fn is_enough(words: &[String]) -> bool {
    words.concat().len() >= ENOUGH || words.iter().any(|word| SHORT.contains(&&**word))
}

/// The dictionary with the words of each name.
pub struct Dictionary(Vec<(Vec<String>, &'static Entry)>);

impl Dictionary {
    pub fn new() -> Dictionary {
        Dictionary(entries().iter().map(|entry| (words(&entry.name), entry)).collect())
    }

    fn those(&self, is_meant: impl Fn(&[String]) -> bool) -> Vec<Entry> {
        self.0.iter().filter(|(words, _)| is_meant(words)).map(|(_, entry)| (*entry).clone()).collect()
    }

    /// The entries of just this name.
    pub fn exact(&self, name: &str) -> Option<Vec<Entry>> {
        let named = |name: &str| {
            let (same, wanted) = (|words: &[String]| words.concat(), words(name).concat());
            self.those(|known| !wanted.is_empty() && same(known) == wanted)
        };
        [named(name), named(bare(name))].into_iter().find(|found| !found.is_empty())
    }

    /// The entries that a name may mean.
    pub fn find(&self, name: &str) -> Found {
        let mut wanted = words(bare(name));
        let spaces = wanted.iter().take_while(|word| NAMESPACES.contains(&&***word)).count();
        wanted.drain(..spaces);
        if !is_enough(&wanted) {
            return Found::Near(Vec::new());
        }
        if let Some(found) = self.exact(name) {
            return Found::Name(found);
        }
        let is_extra = |word: &String| wanted.contains(word) || is_type(word) || AROUND.contains(&&**word);
        let longer = self.those(|words| is_run(stem(&wanted), words) && words.iter().all(is_extra));
        if !longer.is_empty() {
            return Found::Name(longer);
        }
        let longer = self.those(|words| is_run(stem(&wanted), words));
        if !longer.is_empty() {
            return Found::Among(longer);
        }
        let is_tail = |word: &&String| word.parse::<u32>().is_ok() || is_type(word);
        let plain = &wanted[..wanted.len() - wanted.iter().rev().take_while(is_tail).count()];
        let stems = self.0.iter().map(|(words, _)| stem(words));
        let within = stems.filter(|words| plain.ends_with(words) && is_enough(words));
        if let Some(longest) = within.max_by_key(|words| words.concat().len()) {
            return Found::Name(self.those(|words| stem(words) == longest));
        }
        let word = wanted.concat();
        let longer = self.those(|words| words.concat().contains(&word));
        if longer.is_empty() { Found::Near(self.near(bare(name))) } else { Found::Among(longer) }
    }

    /// The names most similar to a misspelt one.
    fn near(&self, name: &str) -> Vec<String> {
        let mut names: Vec<&str> = self.0.iter().map(|(_, entry)| &*entry.name).collect();
        names.sort_unstable();
        names.dedup();
        let mut found = Vec::new();
        while let Some(near) = nearest(name, names.iter().copied()).filter(|_| found.len() < SUGGESTED) {
            names.retain(|known| *known != near);
            found.push(near.to_owned());
        }
        found
    }
}

impl Default for Dictionary {
    fn default() -> Dictionary {
        Dictionary::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_they_are_written() {
        let dictionary = Dictionary::new();
        for name in [
            "waveactivesum",
            "WaveActiveSum(x)",
            "cub::WarpReduce<float>",
            "metal::simd_sum",
            "qd.simt.subgroup.reduce_add",
            "shfl.sync.bfly",
            "DS_SWIZZLE_B32",
            "row_shr:1",
            "v_add_f32_dpp",
            "__builtin_amdgcn_readlane",
            "llvm.nvvm.shfl.sync.bfly.i32",
        ] {
            assert!(matches!(dictionary.find(name), Found::Name(_)), "{name}: {:?}", dictionary.find(name));
        }
        assert!(matches!(dictionary.find("simd_prefix"), Found::Among(names) if names.len() > 3));
        assert_eq!(dictionary.find("quux_frobnicate"), Found::Near(Vec::new()));
        let Found::Near(near) = dictionary.find("WaveActveSum") else { panic!("found") };
        assert_eq!(near[0], "WaveActiveSum");
        let Found::Near(near) = dictionary.find("__shfl_uo_sync") else { panic!("found") };
        assert_eq!(near[0], "__shfl_up_sync");
    }
}
