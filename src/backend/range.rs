//! Live ranges of registers in a program.

use smallvec::SmallVec;

/// A range with inclusive ends.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Range {
    pub from: u32,
    pub to: u32,
}

/// The ranges of one register; most have one or two.
pub type Ranges = SmallVec<[Range; 2]>;

/// The ranges in order, adjacent ones merged.
pub fn joined(mut ranges: Ranges) -> Ranges {
    // Usually two sorted lists one after the other, which a stable sort merges in linear time.
    ranges.sort();
    ranges.dedup_by(|range, last| {
        let touch = range.from <= last.to.saturating_add(1);
        if touch {
            last.to = last.to.max(range.to);
        }
        touch
    });
    ranges
}

/// The intersection of two ordered lists of ranges, in order.
pub fn common<'r>(a: &'r [Range], b: &'r [Range]) -> impl Iterator<Item = Range> + use<'r> {
    let skipped = |list: &[Range], other: &[Range]| {
        other.first().map_or(0, |first| list.partition_point(|range| range.to < first.from))
    };
    let (mut i, mut j) = (skipped(a, b), skipped(b, a));
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

/// Returns true if two sorted lists of ranges overlap.
pub fn overlap(a: &[Range], b: &[Range]) -> bool {
    common(a, b).next().is_some()
}

/// Decides which lists to merge: short lists always, long lists while the total time stays linear.
#[derive(Debug)]
pub struct JoinBudget {
    short: usize,
    left: usize,
}

/// How often each range of a program may be met in longer lists.
const MEETINGS: usize = 16;

impl JoinBudget {
    /// For a program whose registers have this many ranges in total. Lists are short if they have at most `short`
    /// ranges together.
    pub fn new(short: usize, ranges: impl Iterator<Item = usize>) -> JoinBudget {
        JoinBudget { short, left: MEETINGS * ranges.sum::<usize>() }
    }

    /// Returns true if lists with this many ranges may be joined, and counts their effort.
    pub fn allows(&mut self, ranges: usize) -> bool {
        if ranges <= self.short {
            return true;
        }
        let allowed = ranges <= self.left;
        self.left -= if allowed { ranges } else { 0 };
        allowed
    }
}

/// Both lists as one.
pub fn merged(a: &[Range], b: &[Range]) -> Ranges {
    joined(a.iter().chain(b).copied().collect())
}
