//! Stretches of a program in which a register is alive.

/// A stretch, both ends included.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Range {
    pub from: u32,
    pub to: u32,
}

/// The same ranges in order, those that touch made one.
pub fn joined(mut ranges: Vec<Range>) -> Vec<Range> {
    ranges.sort_unstable();
    let mut result: Vec<Range> = Vec::new();
    for range in ranges {
        match result.last_mut() {
            Some(last) if range.from <= last.to.saturating_add(1) => last.to = last.to.max(range.to),
            _ => result.push(range),
        }
    }
    result
}

/// What two ordered lists of ranges have in common, in order.
pub fn common<'r>(a: &'r [Range], b: &'r [Range]) -> impl Iterator<Item = Range> + use<'r> {
    let (mut i, mut j) = (0, 0);
    std::iter::from_fn(move || {
        while let (Some(first), Some(second)) = (a.get(i), b.get(j)) {
            let both = Range { from: first.from.max(second.from), to: first.to.min(second.to) };
            if first.to <= second.to {
                i += 1;
            } else {
                j += 1;
            }
            if both.from <= both.to {
                return Some(both);
            }
        }
        None
    })
}

/// Whether two ordered lists of ranges have a place in common.
pub fn overlap(a: &[Range], b: &[Range]) -> bool {
    common(a, b).next().is_some()
}

/// Both lists as one.
pub fn merged(a: &[Range], b: &[Range]) -> Vec<Range> {
    joined(a.iter().chain(b).copied().collect())
}
