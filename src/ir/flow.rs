//! Control flow in the typed form: the blocks and constructs that control leaves through their end.

use super::{BlockId, Case, Function, Inst, InstId, Op};
use rustc_hash::FxHashSet;

/// The blocks and constructs of a function whose end is unreachable.
#[derive(Default, Debug)]
pub struct DeadEnds {
    blocks: FxHashSet<BlockId>,
    insts: FxHashSet<InstId>,
}

/// The exits of a block.
#[derive(Clone, Copy, Default)]
struct Exit {
    /// At its end.
    falls: bool,
    /// Leaves by a `Break` to the enclosing construct.
    breaks: bool,
}

impl DeadEnds {
    pub fn of(function: &Function) -> DeadEnds {
        let mut ends = DeadEnds::default();
        ends.block(function, function.body);
        ends
    }

    /// Returns true if control never reaches the end of a block.
    pub fn has_block(&self, block: BlockId) -> bool {
        self.blocks.contains(&block)
    }

    /// Returns true if control never continues after an instruction.
    pub fn has(&self, inst: InstId) -> bool {
        self.insts.contains(&inst)
    }

    fn block(&mut self, function: &Function, id: BlockId) -> Exit {
        let mut exit = Exit { falls: true, breaks: false };
        for inst in &function.blocks[id].insts {
            let inner = self.instruction(function, &function.insts[*inst]);
            exit.breaks |= inner.breaks;
            if !inner.falls {
                self.insts.insert(*inst);
                self.blocks.insert(id);
                exit.falls = false;
                break;
            }
        }
        exit
    }

    fn instruction(&mut self, function: &Function, inst: &Inst) -> Exit {
        match inst.op {
            Op::If { then, otherwise, .. } => {
                let (then, otherwise) = (self.block(function, then), self.block(function, otherwise));
                Exit { falls: then.falls || otherwise.falls, breaks: then.breaks || otherwise.breaks }
            }
            Op::Loop { body, continuing, break_if, .. } => {
                let exit = self.block(function, body);
                self.block(function, continuing);
                Exit { falls: exit.breaks || break_if.is_some(), breaks: false }
            }
            Op::Switch { cases, .. } => self.arms(function, function.arms(cases)),
            Op::Break => Exit { falls: false, breaks: true },
            Op::Continue | Op::Return(_) | Op::Discard | Op::End(..) | Op::Unreachable => Exit::default(),
            _ => Exit { falls: true, breaks: false },
        }
    }

    fn arms(&mut self, function: &Function, arms: &[Case]) -> Exit {
        let mut leaves = !arms.iter().any(|arm| arm.default);
        for (at, arm) in arms.iter().enumerate() {
            let exit = self.block(function, arm.body);
            let goes_on = arm.falls_through && at + 1 < arms.len();
            leaves |= exit.breaks || (exit.falls && !goes_on);
        }
        Exit { falls: leaves, breaks: false }
    }
}
