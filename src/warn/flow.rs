//! Divergence: the constructs around a place, the lanes that left them early, and the conditions of those exits.

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
    /// The jump that separates some of the lanes from those that arrive here, if there is one.
    pub leave: Option<(Leave, Span)>,
}

impl Cause {
    pub const NONE: Cause = Cause { condition: Span::NONE, leave: None };

    pub const fn branch(condition: Span) -> Cause {
        Cause { condition, leave: None }
    }
}

/// The group size within which lanes are together, and the cause of that limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Together {
    pub alike: Alike,
    pub cause: Cause,
}

impl Together {
    pub const ALL: Together = Together { alike: Alike::ALL, cause: Cause::NONE };

    /// The intersection; the cause is the one that splits lanes more widely, or the first one.
    #[must_use]
    pub fn meet(self, other: Together) -> Together {
        let alike = self.alike.meet(other.alike);
        let is_farther = other.alike.lanes < self.alike.lanes || (self.alike == Alike::ALL && alike != Alike::ALL);
        Together { alike, cause: if is_farther { other.cause } else { self.cause } }
    }
}

/// The target of lanes that leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Toward {
    /// The end of a loop or switch.
    End(InstId),
    /// The next iteration of a loop.
    Next(InstId),
    /// The end of the function.
    Return,
    /// The end of the invocation.
    Discard,
}

/// Early exits, one per target.
pub type Leaves = Vec<(Toward, Together)>;

/// A block that the walk has entered.
#[derive(Debug)]
pub struct WalkedBlock {
    /// How much of the lanes that entered the enclosing construct is still together here.
    pub together: Together,
    /// How much of the lanes that entered the function is still together here.
    pub overall: Alike,
    /// The only lanes that are here.
    pub picks: Option<Picks>,
    pub leaves: Leaves,
}

impl WalkedBlock {
    /// Adopts the exits from inside a construct that go beyond its end.
    pub fn part(&mut self, leaves: Leaves) {
        for (toward, left) in leaves {
            // A lane that left at its own branch also left where the whole construct was divergent.
            let left = Together { cause: with_leave(self.together, left), ..left.meet(self.together) };
            add(&mut self.leaves, toward, left);
        }
        self.settle();
    }

    /// Adds an exit from this block itself.
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

/// The cause of an exit from inside a divergent construct: the outer condition if the inner one is uniform.
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

/// How far the leaving lanes are together.
pub fn least(leaves: &Leaves) -> Together {
    leaves.iter().fold(Together::ALL, |least, (_, left)| least.meet(*left))
}

/// Removes the exits to one target and returns how uniform they are.
pub fn take(leaves: &mut Leaves, toward: Toward) -> Together {
    let Some(found) = leaves.iter().position(|(other, _)| *other == toward) else { return Together::ALL };
    leaves.swap_remove(found).1
}
