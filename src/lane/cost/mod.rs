//! The cost of a plan on a profile: a small vector, and the single number by which plans are compared.
//!
//! Prices of instructions come from the profile ([`crate::profile::cost`]) and are added along the plan: waits and
//! latency along its dependences, copies where an instruction overwrites a live value, registers where values are live
//! at the same time. Nothing is scheduled: steps run in the order of the plan.

mod meter;
mod price;

#[cfg(test)]
mod tests;

use super::plan::Plan;
use super::request::Request;
use crate::profile::{Profile, Weights};
use serde::Serialize;
use std::fmt;

/// The cost of one plan. Setup, which may be hoisted and shared, is separate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize)]
pub struct PlanCost {
    /// Instructions at the operation, including copies; wait states are counted separately. If the plan branches, the
    /// common side counts.
    pub instructions: u32,
    /// Instructions of the less common side.
    pub rare: u32,
    /// Cycles from the operands to the result along the critical path, including wait states. If the plan branches, the
    /// common side counts.
    pub latency: u32,
    /// Uses of the pipe to the local data share.
    pub lds: u32,
    /// Wait states that no instruction of the plan fills.
    pub waits: u32,
    /// The maximum number of live vector registers for values of the plan and its setup, without operands.
    pub vectors: u32,
    /// The maximum number of live scalar registers.
    pub scalars: u32,
    /// Instructions of the setup: lane facts, addresses, selectors and masks of lanes.
    pub setup: u32,
}

/// Instructions on a less common side that weigh as much as one setup instruction.
const RARE: u32 = 2;

/// The cost of a plan on a profile. A step without a price counts as one instruction with no latency.
pub fn of(plan: &Plan, request: &Request, profile: &Profile) -> PlanCost {
    meter::measure(plan, request, profile)
}

impl PlanCost {
    /// Its parts by name, in the order of the fields.
    pub const fn parts(&self) -> [(&'static str, u32); 8] {
        [
            ("instructions", self.instructions),
            ("instructions of the less common way", self.rare),
            ("cycles", self.latency),
            ("LDS uses", self.lds),
            ("wait states", self.waits),
            ("vector registers", self.vectors),
            ("scalar registers", self.scalars),
            ("set-up instructions", self.setup),
        ]
    }

    /// The cost in excess of another plan's (negative if below), part by part; equal parts are omitted.
    pub fn beyond(&self, other: &PlanCost) -> Vec<(&'static str, i64)> {
        let pairs = self.parts().into_iter().zip(other.parts());
        pairs.map(|((name, a), (_, b))| (name, i64::from(a) - i64::from(b))).filter(|(_, more)| *more != 0).collect()
    }

    /// Instructions at the operation as written, on both sides of a branch.
    pub const fn written(&self) -> u32 {
        self.instructions + self.rare
    }

    /// The weighted sum by which plans are compared. Rarely executed code weighs less than setup, which always runs.
    pub fn weighed(&self, weights: &Weights) -> u64 {
        let w = weights;
        let rare = u64::from(w.setup) * u64::from(self.rare / RARE);
        let parts = [w.instruction, 0, w.latency, w.lds, w.wait_state, w.vector, w.scalar, w.setup];
        let weighed =
            parts.into_iter().zip(self.parts()).map(|(weight, (_, count))| u64::from(weight) * u64::from(count));
        rare + weighed.sum::<u64>()
    }
}

impl fmt::Display for PlanCost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |(name, count): (&str, u32)| format!("{count} {name}");
        let parts = self.parts().into_iter().enumerate().filter(|(n, (_, count))| *n == 0 || *count > 0);
        let parts: Vec<String> = parts.map(|(_, part)| named(part)).collect();
        f.write_str(&parts.join(", "))
    }
}
