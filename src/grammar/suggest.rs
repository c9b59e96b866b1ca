//! "Did you mean": the known name that differs least from one that nobody knows.

use super::{CONSTANTS, FUNCTIONS, VARIABLES};

/// Names longer than this get no suggestion; it bounds the work.
const LONGEST: usize = 64;

/// The closest of `names`, if it is close: a third of the letters may differ.
pub fn closest<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > LONGEST {
        return None;
    }
    let limit = (name.len() / 3).clamp(1, 3);
    let scored = names.filter(|known| known.len().abs_diff(name.len()) <= limit);
    let scored = scored.map(|known| (distance(name.as_bytes(), known.as_bytes()), known));
    scored.filter(|(distance, _)| *distance <= limit).min().map(|(_, known)| known)
}

/// The closest GLSL function.
pub fn closest_function(name: &str) -> Option<&'static str> {
    closest(name, FUNCTIONS.iter().filter(|f| f.overloads.iter().any(|o| o.glsl)).map(|f| f.name))
}

/// The closest GLSL variable or constant.
pub fn closest_variable(name: &str) -> Option<&'static str> {
    closest(name, VARIABLES.iter().map(|v| v.name).chain(CONSTANTS.iter().map(|c| c.name)))
}

/// Letters to insert, delete or replace; a letter in the wrong case counts as one.
fn distance(a: &[u8], b: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut corner = i;
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = corner + usize::from(x != y);
            corner = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(distance(b"kitten", b"sitting"), 3);
        assert_eq!(distance(b"", b"ab"), 2);
    }

    #[test]
    fn close_names_are_found() {
        assert_eq!(closest_function("inversqrt"), Some("inversesqrt"));
        assert_eq!(closest_function("allReduceadd16"), Some("allReduceAdd16"));
        assert_eq!(closest_variable("gl_LocalInvocationId"), Some("gl_LocalInvocationID"));
        assert_eq!(closest_function("somethingElseEntirely"), None);
    }
}
