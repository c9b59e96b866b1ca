//! Finds the known name that a misspelt one probably meant, for "did you mean" suggestions.

/// The candidate with the fewest edits from `word`, none when even the best is too far off to be meant.
///
/// One edit is allowed for every three characters begun. Among equals the first wins.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = word.len().div_ceil(3).min(4);
    let near = |candidate: &&str| candidate.len().abs_diff(word.len()) <= limit;
    let measured = candidates.into_iter().filter(near).map(|name| (distance(word, name), name));
    let best = measured.min_by_key(|(edits, _)| *edits)?;
    (best.0 <= limit && best.0 < word.len()).then_some(best.1)
}

/// Levenshtein distance in bytes, upper and lower case being equal.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(!x.eq_ignore_ascii_case(&y));
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("Abc", "abC"), 0);
    }

    #[test]
    fn suggests_only_what_is_near() {
        let names = ["define", "defined", "include", "if"];
        assert_eq!(nearest("defin", names), Some("define"));
        assert_eq!(nearest("inclde", names), Some("include"));
        assert_eq!(nearest("quadratic", names), None);
        assert_eq!(nearest("q", names), None);
    }
}
