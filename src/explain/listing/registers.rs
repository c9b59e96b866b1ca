//! Which register numbers are free, and when the steps of a plan need their operands for the last time.

use crate::lane::{Operand, Plan};

/// Registers of one file, handed out from the lowest free number on.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    used: Vec<bool>,
}

impl Pool {
    /// `count` adjacent registers from a multiple of `align` on.
    pub fn take(&mut self, count: u32, align: u32) -> u32 {
        let free = |first: u32| (first..first + count).all(|n| !self.used.get(n as usize).copied().unwrap_or(false));
        let first = (0..).step_by(align as usize).find(|first| free(*first)).unwrap_or(0);
        let end = (first + count) as usize;
        if self.used.len() < end {
            self.used.resize(end, false);
        }
        self.used[first as usize..end].fill(true);
        first
    }

    pub fn release(&mut self, first: u32, count: u32) {
        self.used[first as usize..(first + count) as usize].fill(false);
    }
}

/// The last step that reads each step's result; `usize::MAX` for results that stay: set-up and the plan's own results.
pub struct LastUses {
    steps: Vec<usize>,
    /// Per step the steps whose results it reads last.
    dying: Vec<Vec<u16>>,
}

impl LastUses {
    pub fn new(plan: &Plan) -> LastUses {
        let mut steps: Vec<usize> = (0..plan.steps.len()).collect();
        for (at, step) in plan.steps.iter().enumerate() {
            for arg in step.operands() {
                if let Operand::Step(n) = arg {
                    steps[usize::from(*n)] = at;
                }
            }
        }
        for result in [Some(plan.result), plan.second].into_iter().flatten() {
            if let Operand::Step(n) = result {
                steps[usize::from(n)] = usize::MAX;
            }
        }
        let mut dying = vec![Vec::new(); plan.steps.len()];
        for (n, last) in steps.iter().enumerate().filter(|(_, last)| **last != usize::MAX) {
            dying[*last].push(n as u16);
        }
        LastUses { steps, dying }
    }

    /// The steps whose results step `at` reads last; its own number where nothing reads its result.
    pub fn dying(&self, at: usize) -> Vec<u16> {
        self.dying.get(at).cloned().unwrap_or_default()
    }

    /// Whether nothing behind step `at` reads the operand.
    pub fn dies(&self, operand: Operand, at: usize) -> bool {
        matches!(operand, Operand::Step(n) if self.steps[usize::from(n)] <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_numbers_are_taken() {
        let mut pool = Pool::default();
        assert_eq!((pool.take(1, 1), pool.take(2, 2), pool.take(1, 1)), (0, 2, 1));
        pool.release(2, 2);
        assert_eq!((pool.take(1, 1), pool.take(2, 2)), (2, 4));
    }
}
