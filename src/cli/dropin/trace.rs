//! Names of included files as glslc and glslang write them into dependency files.

use crate::build::files::{Include, normal};
use crate::source::IncludeKind;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// glslc's names, in the order of its hash table.
pub fn as_glslc(root: &str, includes: &[Include], directories: &[PathBuf]) -> Vec<String> {
    let mut table = Table::default();
    spelled(root, includes, directories, ("", glslc_path)).into_iter().for_each(|name| table.insert(name));
    table.names
}

/// glslang's names, sorted.
pub fn as_glslang(root: &str, includes: &[Include], directories: &[PathBuf]) -> BTreeSet<String> {
    spelled(root, includes, directories, (".", |folder, name| format!("{folder}/{name}"))).into_iter().collect()
}

/// The folder of a file without a folder in its name, and the function that joins a folder and a name.
type Manner = (&'static str, fn(&str, &str) -> String);

/// The folder of the including file, or an include directory, joined with the name in the directive.
fn spelled(root: &str, includes: &[Include], directories: &[PathBuf], (here, join): Manner) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (index, include) in includes.iter().enumerate() {
        let asking = includes[..index].iter().rposition(|known| *known.name == *include.from);
        let asking = asking.map_or(root, |at| &names[at]);
        let folder = asking.rsplit_once('/').map_or(here, |(folder, _)| folder);
        let beside = (include.kind == IncludeKind::Quoted).then(|| folder.to_string());
        let directories = directories.iter().map(|directory| directory.to_string_lossy().into_owned());
        let mut candidates = beside.into_iter().chain(directories).map(|folder| join(&folder, &include.asked));
        let found = candidates.find(|name| normal(Path::new(name)) == Path::new(&*include.name));
        names.push(found.unwrap_or_else(|| include.name.to_string()));
    }
    names
}

fn glslc_path(folder: &str, name: &str) -> String {
    if folder.is_empty() || folder.ends_with('/') { format!("{folder}{name}") } else { format!("{folder}/{name}") }
}

/// The iteration order of `std::unordered_set<std::string>` in GNU's C++ library.
#[derive(Default)]
struct Table {
    names: Vec<String>,
    buckets: usize,
}

impl Table {
    /// Bucket counts, each used up to that many elements.
    const SIZES: [usize; 8] = [13, 29, 59, 127, 257, 541, 1109, 2357];

    fn insert(&mut self, name: String) {
        if self.names.contains(&name) {
            return;
        }
        let buckets = Table::SIZES.into_iter().find(|size| *size > self.names.len()).unwrap_or(self.buckets);
        if buckets != self.buckets {
            self.buckets = buckets;
            std::mem::take(&mut self.names).into_iter().for_each(|name| self.place(name));
        }
        self.place(name);
    }

    /// Puts a name at the head of its bucket, and a new bucket at the head of all.
    fn place(&mut self, name: String) {
        let bucket = |name: &String| hash(name.as_bytes()) % self.buckets as u64;
        let at = self.names.iter().position(|known| bucket(known) == bucket(&name));
        self.names.insert(at.unwrap_or(0), name);
    }
}

/// `std::hash<std::string>` of GNU's C++ library on 64-bit machines: a form of MurmurHash 2.
fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0xc6a4_a793_5bd1_e995;
    let mix = |value: u64| value ^ value >> 47;
    let mut hash = 0xc70f_6907 ^ (bytes.len() as u64).wrapping_mul(FACTOR);
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let word = u64::from_le_bytes(word);
        let data = if chunk.len() < 8 { word } else { mix(word.wrapping_mul(FACTOR)).wrapping_mul(FACTOR) };
        hash = (hash ^ data).wrapping_mul(FACTOR);
    }
    mix(mix(hash).wrapping_mul(FACTOR))
}
