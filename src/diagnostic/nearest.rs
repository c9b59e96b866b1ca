//! Finds the known name that a misspelt one probably meant, for "did you mean" suggestions.
//!
//! An editor may apply a suggestion without asking, so a suggestion must not change the meaning of a name. Names are
//! compared part by part: `allReduceAd8` is `all`, `reduce`, `ad` and the number 8. Numbers must be equal, and a part
//! that names an operation never becomes another operation.

use smallvec::SmallVec;

/// Parts with the same meaning, one row per meaning. Names that differ in such a part are different operations, however
/// similar their spelling.
#[rustfmt::skip]
static MEANINGS: &[&[&str]] = &[
    &["add", "sum", "plus"], &["mul", "product", "prod", "multiply"], &["sub", "subtract", "minus"], &["div", "divide"],
    &["min", "minimum"], &["max", "maximum"], &["mean", "avg", "average"],
    &["and"], &["or"], &["xor"], &["not"], &["nand"], &["nor"], &["xnor"],
    &["up"], &["down"], &["left"], &["right"], &["inclusive"], &["exclusive"], &["first"], &["last"], &["all"], &["any"],
    &["horizontal"], &["vertical"], &["diagonal"], &["row"], &["column"], &["load", "read"], &["store", "write"],
    &["in"], &["out"], &["inout"], &["readonly"], &["writeonly"], &["lsb"], &["msb"], &["pack"], &["unpack"],
    &["sin"], &["cos"], &["tan"], &["asin"], &["acos"], &["atan"], &["sinh"], &["cosh"], &["tanh"],
    &["int"], &["uint"], &["float"], &["double"], &["vec"], &["ivec"], &["uvec"], &["bvec"], &["dvec"],
    &["floor"], &["ceil"], &["round"], &["log"], &["exp"], &["sqrt"], &["pow"],
    &["vert", "vertex"], &["frag", "fragment"], &["signed"], &["unsigned"], &["warp"], &["wave"], &["quad"],
];

/// Length limit of a part that may be left out, in letters.
const LONGEST_PART: usize = 12;

/// The most likely intended candidate for `word`, or `None` if even the best is too different.
///
/// One edit is allowed for every three characters begun, in the whole name and in each part. The first of several equal
/// candidates wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = limit(word);
    let lower = word.to_ascii_lowercase();
    let wanted = Name::of(word, &lower);
    let near = |candidate: &&str| {
        !candidate.is_empty()
            && candidate.len().abs_diff(word.len()) <= word.len() + LONGEST_PART
            && numbers(candidate).eq(wanted.numbers.iter().copied())
    };
    let cost = |name: &str| wanted.cost(&Name::of(name, &name.to_ascii_lowercase()));
    let measured = candidates.into_iter().filter(near).filter_map(|name| Some((cost(name)?, name)));
    let best = measured.min_by_key(|(cost, _)| *cost)?;
    (best.0.edits <= limit && best.0.edits < word.len()).then_some(best.1)
}

/// The nearest candidate. If there is none, the candidate that differs only in a number, with the nearest number: for
/// versions and processors, where one member of a family can represent the others.
pub fn nearest_of_family<'a>(word: &str, candidates: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    nearest(word, candidates.clone()).or_else(|| {
        let lower = word.to_ascii_lowercase();
        let wanted = Name::of(word, &lower);
        let distance = |name: &str| wanted.distance_in_family(&Name::of(name, &name.to_ascii_lowercase()));
        let relatives = candidates.filter_map(|name| Some((distance(name)?, name)));
        relatives.min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
    })
}

fn limit(word: &str) -> usize {
    word.len().div_ceil(3).min(4)
}

/// The distance between two names. With equal numbers of edits, the better likeness wins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    edits: usize,
    likeness: Likeness,
}

/// The kind of spelling mistake, most likely first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// Each part of the candidate starts with the written part.
    Unfinished,
    /// Letters were left out, doubled or exchanged.
    SameLetters,
    Other,
}

/// A name in parts: words in lower case, and numbers.
struct Name<'a> {
    text: &'a str,
    lower: &'a str,
    words: SmallVec<[&'a str; 8]>,
    numbers: SmallVec<[&'a str; 4]>,
}

impl<'a> Name<'a> {
    fn of(text: &'a str, lower: &'a str) -> Name<'a> {
        let in_lower = |part: &str| {
            let start = part.as_ptr() as usize - text.as_ptr() as usize;
            &lower[start..start + part.len()]
        };
        let words = parts(text).filter(|part| !is_number(part)).map(in_lower).collect();
        Name { text, lower, words, numbers: numbers(text).collect() }
    }

    /// `None` if the other name has a different meaning.
    fn cost(&self, other: &Name<'_>) -> Option<Cost> {
        if self.numbers != other.numbers || self.contradicts(other) {
            return None;
        }
        let edits = self.in_parts(other).unwrap_or_else(|| distance(self.lower, other.lower));
        let likeness = match () {
            () if self.begins(other) => Likeness::Unfinished,
            () if has_same_letters(self.lower, other.lower) => Likeness::SameLetters,
            () => Likeness::Other,
        };
        Some(Cost { edits, likeness })
    }

    /// Returns true if each part of the other name starts with a part of this name.
    fn begins(&self, other: &Name<'_>) -> bool {
        let mut pairs = self.words.iter().zip(&other.words);
        self.words.len() == other.words.len() && pairs.all(|(word, other)| other.starts_with(word))
    }

    /// Edits part by part, if the parts correspond: in order, reordered, or with some left out.
    fn in_parts(&self, other: &Name<'_>) -> Option<usize> {
        if self.words.len() == other.words.len() && self.words.len() > 1 {
            let is_turned = self.words != other.words && sorted(&self.words) == sorted(&other.words);
            let costs = self.words.iter().zip(&other.words).map(|(word, other)| part_cost(word, other));
            return if is_turned { Some(1) } else { costs.sum::<Option<usize>>().or(Some(usize::MAX)) };
        }
        self.missing(other)
    }

    /// The number of the other name's parts that are left out, if that is the only difference and none of them names
    /// the operation.
    fn missing(&self, other: &Name<'_>) -> Option<usize> {
        let is_telling = self.words.len() > 1 || other.words.first() == Some(&"gl");
        let mut own = self.words.iter().peekable();
        let left_out: SmallVec<[&str; 8]> =
            other.words.iter().copied().filter(|word| own.next_if(|own| *own == word).is_none()).collect();
        let is_all = own.peek().is_none() && is_telling && !left_out.is_empty();
        let is_silent = |word: &&str| word.len() > 1 && meaning(word).is_none();
        (is_all && left_out.iter().all(is_silent)).then_some(left_out.len())
    }

    /// Returns true if a part of this name has a meaning that the other name does not have.
    fn contradicts(&self, other: &Name<'_>) -> bool {
        let is_kept = |word: &&str| {
            let says = |meaning_of| other.words.iter().any(|other| meaning(other) == Some(meaning_of));
            let is_split_elsewhere = || self.words.len() != other.words.len() && other.lower.contains(word);
            meaning(word).is_none_or(says) || is_split_elsewhere()
        };
        !self.words.iter().all(is_kept)
    }

    /// The distance between names that differ only in numbers: how many numbers differ, the position of the first
    /// difference, and each difference.
    fn distance_in_family(&self, other: &Name<'_>) -> Option<(usize, usize, u64)> {
        let is_related = self.words == other.words && self.numbers.len() == other.numbers.len();
        let same = self.text.bytes().zip(other.text.bytes()).take_while(|(a, b)| a == b).count();
        let value = |number: &str| number.parse::<u64>().unwrap_or_default();
        let pairs = || self.numbers.iter().zip(&other.numbers).filter(|(a, b)| a != b);
        let apart = pairs().fold(0u64, |sum, (a, b)| sum.saturating_add(value(a).abs_diff(value(b))));
        is_related.then(|| (pairs().count(), self.text.len() - same, apart))
    }
}

fn sorted<'a>(words: &[&'a str]) -> SmallVec<[&'a str; 8]> {
    let mut words = SmallVec::from_slice(words);
    words.sort_unstable();
    words
}

/// The numbers in a name, without zeros before them.
fn numbers(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    runs.map(|run| run.trim_start_matches('0'))
}

fn is_number(part: &str) -> bool {
    part.as_bytes()[0].is_ascii_digit()
}

/// The row of a part in the table of meanings.
fn meaning(part: &str) -> Option<usize> {
    MEANINGS.iter().position(|row| row.contains(&part))
}

/// The distance between two parts, or `None` if they are unrelated.
fn part_cost(word: &str, other: &str) -> Option<usize> {
    if word == other {
        return Some(0);
    }
    if meaning(word).is_some_and(|of| meaning(other) == Some(of)) || is_abbreviation(word, other) {
        return Some(1);
    }
    let edits = distance(word, other);
    let is_near = word.len() > 1 && edits <= (word.len() / 3).max(1);
    (is_near || is_inflection(word, other)).then_some(edits)
}

/// Returns true if two parts share a stem and differ in their endings: `implicit` and `implied`.
fn is_inflection(word: &str, other: &str) -> bool {
    const STEM: usize = 5;
    const ENDING: usize = 3;
    let stem = word.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    stem >= STEM && word.len().max(other.len()) - stem <= ENDING
}

/// Returns true if `word` is the start of a longer part.
fn is_abbreviation(word: &str, other: &str) -> bool {
    word.len() >= 3 && other.starts_with(word)
}

/// Returns true if one text contains all letters of the other in order, or both have the same letters.
fn has_same_letters(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let sorted = |text: &str| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.sort_unstable();
        bytes
    };
    let mut rest = long.bytes();
    short.bytes().all(|byte| rest.any(|other| other == byte)) || sorted(a) == sorted(b)
}

/// The parts of a name: runs of letters that start at a capital, and runs of digits.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    let is_start = |bytes: &[u8], at: usize| {
        let (before, here) = (bytes[at - 1], bytes[at]);
        let is_camel = here.is_ascii_uppercase()
            && (before.is_ascii_lowercase() || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase));
        is_camel || before.is_ascii_digit() != here.is_ascii_digit()
    };
    text.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric()).filter(|run| !run.is_empty()).flat_map(
        move |run| {
            let bytes = run.as_bytes();
            let starts = (1..run.len()).filter(|at| run.is_char_boundary(*at) && is_start(bytes, *at));
            let starts: Vec<usize> = std::iter::once(0).chain(starts).chain([run.len()]).collect();
            starts.windows(2).map(|ends| &run[ends[0]..ends[1]]).collect::<Vec<_>>()
        },
    )
}

/// The edit distance of two texts in bytes: insertions, deletions, replacements and swaps of neighbours (optimal string
/// alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut rows: [Vec<usize>; 3] = [Vec::new(), (0..=b.len()).collect(), vec![0; b.len() + 1]];
    rows[0].resize(b.len() + 1, 0);
    for i in 1..=a.len() {
        let [earlier, before, row] = &mut rows;
        row[0] = i;
        for j in 1..=b.len() {
            let replaced = before[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(before[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(earlier[j - 2] + 1);
            }
        }
        rows.rotate_left(1);
    }
    rows[1][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "acb"), 1);
        assert_eq!(distance("abc", "abc"), 0);
    }

    #[test]
    fn names_fall_into_parts() {
        let parts = |text| parts(text).collect::<Vec<_>>();
        assert_eq!(parts("allReduceAdd8"), ["all", "Reduce", "Add", "8"]);
        assert_eq!(parts("gl_GlobalInvocationID"), ["gl", "Global", "Invocation", "ID"]);
        assert_eq!(parts("GLSLTexture2DArray"), ["GLSL", "Texture", "2", "D", "Array"]);
        assert_eq!(parts("élan_x"), ["élan", "x"]);
    }

    #[test]
    fn suggests_only_what_is_near() {
        let names = ["define", "defined", "include", "if"];
        assert_eq!(nearest("defin", names), Some("define"));
        assert_eq!(nearest("inclde", names), Some("include"));
        assert_eq!(nearest("quadratic", names), None);
        assert_eq!(nearest("q", names), None);
        assert_eq!(nearest("flot", ["flat", "float"]), Some("float"));
    }

    #[test]
    fn a_number_and_an_operation_stay_what_they_are() {
        let names = ["allReduceAdd", "allReduceAdd8", "allReduceAnd8", "allReduceMin8", "allReduceMax8"];
        assert_eq!(nearest("allReduceAd8", names), Some("allReduceAdd8"));
        assert_eq!(nearest("allReduceMxa8", names), Some("allReduceMax8"));
        assert_eq!(nearest("allReduceSum8", names), Some("allReduceAdd8"));
        assert_eq!(nearest("allReduceMean8", names), None);
        assert_eq!(nearest("allReduceNand8", names), None);
        assert_eq!(nearest("allReduceAdd9", names), None);
        assert_eq!(nearest("x1", ["x2", "x"]), None);
        assert_eq!(nearest("butterflyMin", ["butterfly"]), None);
        assert_eq!(nearest("sub_groupAdd", ["subgroupAdd"]), Some("subgroupAdd"));
        assert_eq!(nearest("quadSwizzleZ", ["quadSwizzle0", "quadSwizzleX"]), None);
        assert_eq!(nearest("subgroupAd", ["subgroupAnd", "subgroupAdd"]), Some("subgroupAdd"));
        assert_eq!(
            nearest("subgroupInclusivAdd", ["subgroupExclusiveAdd", "subgroupInclusiveAdd"]),
            Some("subgroupInclusiveAdd")
        );
    }

    #[test]
    fn parts_are_completed_turned_and_prefixed() {
        let names = ["GL_KHR_shader_subgroup_basic", "GL_KHR_shader_subgroup_arithmetic"];
        assert_eq!(nearest("GL_KHR_shader_subgroup_arith", names), Some("GL_KHR_shader_subgroup_arithmetic"));
        assert_eq!(nearest("subgroupAddExclusive", ["subgroupExclusiveAdd"]), Some("subgroupExclusiveAdd"));
        assert_eq!(nearest("exclusiveAdd", ["subgroupExclusiveAdd"]), Some("subgroupExclusiveAdd"));
        assert_eq!(nearest("FragCoord", ["gl_FragCoord"]), Some("gl_FragCoord"));
        assert_eq!(nearest("add", ["subgroupAdd"]), None);
        assert_eq!(nearest("global_id", ["global_invocation_id", "local_invocation_id"]), Some("global_invocation_id"));
        assert_eq!(nearest("subgroupAdd", ["subgroupExclusiveAdd"]), None);
        assert_eq!(nearest("subgroupadd", ["subgroupAnd", "subgroupAdd"]), Some("subgroupAdd"));
        assert_eq!(nearest("include-implicit", ["include-implied"]), Some("include-implied"));
    }

    #[test]
    fn families_differ_in_numbers() {
        let names =
            ["gfx701", "gfx1030", "gfx1030-wave64", "gfx1030-wave32", "gfx1100", "gfx1101", "spirv-1.5", "spirv-1.6"];
        let near = |word| nearest_of_family(word, names.into_iter());
        assert_eq!(near("gfx1101x"), Some("gfx1101"));
        assert_eq!(near("gfx1039"), Some("gfx1030"));
        assert_eq!(near("gfx1039-wave32"), Some("gfx1030-wave32"));
        assert_eq!(near("spirv-1.7"), Some("spirv-1.6"));
        assert_eq!(near("sm-1.7"), None);
        assert_eq!(nearest("E501", ["E0501", "E0500"]), Some("E0501"));
    }
}
