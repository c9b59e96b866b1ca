//! Symbols that remember the lanes that they came from.

use crate::lane::value::{Domain, LaneValue, low_bits};
use crate::lane::{InvertibleOp, ReduceOp};

/// A value, by where it came from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    /// The reduction of the first operands of `lanes` with the second operands of others; bit `j` is lane `j`. Keys are
    /// compared by `key`.
    Lanes {
        first: u128,
        second: u128,
        key: u32,
    },
    Zero,
    /// The identity of a reduction, or another neutral value.
    Neutral,
}

impl Mark {
    /// The mark of one lane's operand.
    pub fn of(operand: usize, lane: u32, key: u32) -> Mark {
        let bit = 1 << lane;
        match operand {
            0 => Mark::Lanes { first: bit, second: 0, key },
            _ => Mark::Lanes { first: 0, second: bit, key },
        }
    }

    fn sets(self) -> [u128; 2] {
        match self {
            Mark::Lanes { first, second, .. } => [first, second],
            Mark::Zero | Mark::Neutral => [0, 0],
        }
    }

    /// The reduction of the operands of these lanes.
    fn reduced([first, second]: [u128; 2]) -> Mark {
        if first | second == 0 { Mark::Neutral } else { Mark::Lanes { first, second, key: 0 } }
    }

    /// The number of lanes whose values it contains.
    pub fn count(self) -> u32 {
        self.sets().iter().map(|set| set.count_ones()).sum()
    }

    /// The single lane whose first operand it is.
    pub fn only(self) -> Option<u32> {
        match self.sets() {
            [first, 0] if first.is_power_of_two() => Some(first.trailing_zeros()),
            _ => None,
        }
    }

    /// The highest lane that it came from.
    pub fn highest(self) -> Option<u32> {
        let [first, second] = self.sets();
        (first | second).checked_ilog2()
    }

    fn key(self) -> u32 {
        match self {
            Mark::Lanes { key, .. } => key,
            Mark::Zero | Mark::Neutral => 0,
        }
    }
}

/// Reduces symbols to the union of the lanes that they came from.
pub struct Marks;

impl Domain for Marks {
    type Data = Mark;

    fn combine(&mut self, op: ReduceOp, a: Mark, b: Mark) -> Mark {
        self.combine_unordered(op, &[a, b])
    }

    fn combine_unordered(&mut self, _: ReduceOp, values: &[Mark]) -> Mark {
        let [first, second] = values.iter().fold([0, 0], |all, value| {
            let sets = value.sets();
            [all[0] | sets[0], all[1] | sets[1]]
        });
        Mark::reduced([first, second])
    }

    fn remove(&mut self, _: InvertibleOp, total: Mark, part: Mark) -> Option<Mark> {
        let ([first, second], [less_first, less_second]) = (total.sets(), part.sets());
        Some(Mark::reduced([first & !less_first, second & !less_second]))
    }

    fn identity(&mut self, _: ReduceOp) -> Mark {
        Mark::Neutral
    }

    fn neutral(&mut self, _: ReduceOp) -> Mark {
        Mark::Neutral
    }

    fn zero(&mut self) -> Mark {
        Mark::Zero
    }

    fn equal(&self, a: Mark, b: Mark) -> bool {
        a.key() == b.key()
    }

    fn same(&self, a: Mark, b: Mark) -> bool {
        a.key() == b.key()
    }

    fn less(&self, a: Mark, b: Mark) -> bool {
        a.key() < b.key()
    }
}

/// A value in a few characters; of masks `shown` lanes.
pub fn text(value: LaneValue<Mark>, shown: u32) -> String {
    match value {
        LaneValue::Poison => ".".into(),
        LaneValue::Data(Mark::Zero) => "zero".into(),
        LaneValue::Data(Mark::Neutral) => "id".into(),
        LaneValue::Data(mark) => {
            let [first, second] = mark.sets();
            let parts = [lanes(first, ""), lanes(second, "b")];
            parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("+")
        }
        LaneValue::Ballot(bits) => mask(bits, shown.min(32)),
        LaneValue::Index(index) => index.to_string(),
        LaneValue::Bool(value) => truth(value).into(),
    }
}

/// The lowest lanes of a mask, as hexadecimal digits.
pub fn mask(bits: u128, shown: u32) -> String {
    let digits = shown.div_ceil(4) as usize;
    format!("{:0digits$x}", bits & low_bits(4 * digits as u32))
}

pub const fn truth(value: bool) -> &'static str {
    if value { "T" } else { "F" }
}

/// `5`, `0-7`, `0,4`, or how many.
fn lanes(set: u128, prefix: &str) -> String {
    let (low, count) = (set.trailing_zeros(), set.count_ones());
    let high = set.checked_ilog2().unwrap_or(0);
    match count {
        0 => String::new(),
        1 => format!("{prefix}{low}"),
        _ if high - low + 1 == count => format!("{prefix}{low}-{high}"),
        2 => format!("{prefix}{low},{high}"),
        _ => format!("{prefix}{low}..{high}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_show_their_lanes() {
        let mut marks = Marks;
        let pair = marks.combine(ReduceOp::Add, Mark::of(0, 2, 0), Mark::of(0, 3, 0));
        let apart = marks.combine(ReduceOp::Add, Mark::of(0, 1, 0), Mark::of(0, 8, 0));
        let with_second = marks.combine(ReduceOp::Add, Mark::of(0, 1, 0), Mark::of(1, 0, 0));
        let texts = [pair, apart, with_second, Mark::Zero].map(|mark| text(LaneValue::Data(mark), 8));
        assert_eq!(texts, ["2-3", "1,8", "1+b0", "zero"]);
        assert_eq!(text(LaneValue::Ballot(0xf05), 8), "05");
        assert_eq!(marks.combine(ReduceOp::Add, Mark::Neutral, pair), pair);
    }
}
