//! Divergence: the constructs around a place, the lanes that left it early, and the conditions by which they did.

use super::fact::{Alike, Picks};
use crate::ir::InstId;
use crate::source::Span;

/// How lanes leave a construct before its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Leave {
    Return,
    Break,
    Continue,
    Discard,
}

/// Why lanes are not together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cause {
    /// The condition or selector that differs between lanes.
    pub condition: Span,
    /// The jump that separates some of them from the lanes that come here, if there is one.
    pub leave: Option<(Leave, Span)>,
}

impl Cause {
    pub const NONE: Cause = Cause { condition: Span::NONE, leave: None };

    pub const fn branch(condition: Span) -> Cause {
        Cause { condition, leave: None }
    }
}

/// How far lanes are together, and why no farther.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Together {
    pub alike: Alike,
    pub cause: Cause,
}

impl Together {
    pub const ALL: Together = Together { alike: Alike::ALL, cause: Cause::NONE };

    /// Both; the cause is the one that splits lanes more widely, or the first one.
    #[must_use]
    pub fn meet(self, other: Together) -> Together {
        let alike = self.alike.meet(other.alike);
        let is_farther = other.alike.lanes < self.alike.lanes || (self.alike == Alike::ALL && alike != Alike::ALL);
        Together { alike, cause: if is_farther { other.cause } else { self.cause } }
    }
}

/// The target toward which lanes leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Toward {
    /// The end of a loop or switch.
    End(InstId),
    /// The next round of a loop.
    Next(InstId),
    /// The end of the function.
    Return,
    /// The end of the invocation.
    Discard,
}

/// Early leaves, one for each goal.
pub type Leaves = Vec<(Toward, Together)>;

/// A block that the walk is in.
#[derive(Debug)]
pub struct WalkedBlock {
    /// How much of what entered the construct around is still together here.
    pub together: Together,
    /// The same since the function's start.
    pub overall: Alike,
    /// The only lanes that are here.
    pub picks: Option<Picks>,
    pub leaves: Leaves,
}

impl WalkedBlock {
    /// Takes over who left from inside a construct to farther than its end.
    pub fn part(&mut self, leaves: Leaves) {
        for (toward, left) in leaves {
            // A lane that left by its own branch left where the whole construct was divergent too.
            let left = Together { cause: with_leave(self.together, left), ..left.meet(self.together) };
            add(&mut self.leaves, toward, left);
        }
        self.settle();
    }

    /// Adds a leave from this very block.
    pub fn leave(&mut self, toward: Toward, how: Leave, at: Span) {
        let cause = Cause { leave: Some((how, at)), ..self.together.cause };
        add(&mut self.leaves, toward, Together { cause, ..self.together });
    }

    fn settle(&mut self) {
        let gone = least(&self.leaves);
        self.together = self.together.meet(gone);
        self.overall = self.overall.meet(gone.alike);
    }
}

/// The cause of a leave from inside a construct that is parted itself: the outer condition where the inner one is uniform.
fn with_leave(around: Together, left: Together) -> Cause {
    match around.alike.lanes < left.alike.lanes {
        true => Cause { leave: left.cause.leave, ..around.cause },
        false => left.cause,
    }
}

fn add(leaves: &mut Leaves, toward: Toward, left: Together) {
    match leaves.iter_mut().find(|(other, _)| *other == toward) {
        Some((_, known)) => *known = known.meet(left),
        None => leaves.push((toward, left)),
    }
}

/// How far lanes that leave do so together.
pub fn least(leaves: &Leaves) -> Together {
    leaves.iter().fold(Together::ALL, |least, (_, left)| least.meet(*left))
}

/// Removes the lanes that leave toward one goal; returns how uniformly they leave.
pub fn take(leaves: &mut Leaves, toward: Toward) -> Together {
    let Some(found) = leaves.iter().position(|(other, _)| *other == toward) else { return Together::ALL };
    leaves.swap_remove(found).1
}
