//! Control flow: the operands and results of constructs, and the targets of terminators.

use super::{Check, Verifier, ensure};
use crate::kernel::{BlockId, Def, InstId, Op, Ty, Value};

/// A block that the walk has entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockRole {
    /// The kernel's body.
    Body,
    /// A block of an `If`.
    Arm(InstId),
    /// The body of a `Loop`.
    Loop(InstId),
    /// The instructions between two iterations of a `Loop`.
    Continuing(InstId),
    /// The block of a `Scope`.
    Scope(InstId),
    /// The block of a `Whole`.
    Whole(InstId),
}

impl Verifier<'_> {
    /// Walks the blocks inside an instruction.
    pub fn inner(&mut self, inst: InstId) {
        match self.kernel.insts[inst].op {
            Op::If { then, otherwise } => {
                self.block(then, BlockRole::Arm(inst));
                self.block(otherwise, BlockRole::Arm(inst));
            }
            Op::Loop { body, continuing } => {
                self.block(body, BlockRole::Loop(inst));
                self.block(continuing, BlockRole::Continuing(inst));
            }
            Op::Scope { body } => self.block(body, BlockRole::Scope(inst)),
            Op::Whole { body } => self.block(body, BlockRole::Whole(inst)),
            _ => {}
        }
    }

    /// Checks that whole-wave code is straight-line code without effects.
    pub fn whole_check(&self, inst: InstId) -> Check {
        let op = self.kernel.insts[inst].op;
        let straight = op.is_pure() || matches!(op, Op::Prim { .. } | Op::CombineMoved { .. } | Op::Yield);
        let inside = matches!(self.frames.last(), Some(BlockRole::Whole(_)));
        ensure!(straight || !inside, "it does not belong into what all lanes run");
        Ok(())
    }

    pub fn flow_check(&self, inst: InstId) -> Check {
        let args = self.types(self.kernel.args(inst).iter().copied());
        match self.kernel.insts[inst].op {
            Op::If { then, otherwise } => {
                self.params_check(then, &[])?;
                self.params_check(otherwise, &[])?;
                same(&args, &[Ty::Bool], "condition")
            }
            Op::Loop { body, continuing } => {
                self.params_check(body, &args)?;
                let params = self.params(continuing);
                self.params_check(continuing, &params)
            }
            Op::Scope { body } | Op::Whole { body } => {
                self.params_check(body, &[])?;
                same(&args, &[], "operands")
            }
            op => {
                ensure!(self.kernel.results(inst).len() == 0, "a terminator has no results");
                self.terminator(op, &args)
            }
        }
    }

    fn terminator(&self, op: Op, args: &[Ty]) -> Check {
        match (op, self.frames.last()) {
            (Op::Yield, Some(BlockRole::Arm(of) | BlockRole::Scope(of) | BlockRole::Whole(of))) => {
                same(args, &self.results(*of), "values yielded")
            }
            (Op::Yield, _) => Err("it ends no block that yields".to_owned()),
            (_, Some(BlockRole::Whole(_))) => Err("nothing leaves what all lanes run".to_owned()),
            (Op::Repeat, Some(BlockRole::Continuing(of))) => self.repeat(*of, args),
            (Op::Repeat, _) => Err("it ends no continuing block".to_owned()),
            (Op::Exit(target), _) => {
                let encloses = |frame: &BlockRole| {
                    [BlockRole::Loop(target), BlockRole::Continuing(target), BlockRole::Scope(target)].contains(frame)
                };
                ensure!(self.frames.iter().any(encloses), "{target:?} is not a loop or scope around it");
                same(args, &self.results(target), "values given")
            }
            (Op::Continue(target), _) => {
                ensure!(
                    self.frames.contains(&BlockRole::Loop(target)),
                    "{target:?} is not a loop whose body is around it"
                );
                let Op::Loop { continuing, .. } = self.kernel.insts[target].op else {
                    return Err("its target is not a loop".to_owned());
                };
                same(args, &self.params(continuing), "values passed")
            }
            _ => same(args, &[], "operands"),
        }
    }

    fn repeat(&self, of: InstId, args: &[Ty]) -> Check {
        let Op::Loop { body, .. } = self.kernel.insts[of].op else {
            return Err("it is in no loop".to_owned());
        };
        let expected: Vec<Ty> = [Ty::Bool].into_iter().chain(self.params(body)).chain(self.results(of)).collect();
        same(args, &expected, "values passed")
    }

    fn results(&self, inst: InstId) -> Vec<Ty> {
        self.types(self.kernel.results(inst))
    }

    fn params(&self, block: BlockId) -> Vec<Ty> {
        self.types(self.kernel.blocks[block].params.iter().copied())
    }

    /// Checks that a block has parameters of these types, which belong to it.
    fn params_check(&self, block: BlockId, types: &[Ty]) -> Check {
        let own = |(n, param): (usize, &Value)| self.kernel.values[*param].def == Def::Param(block, n as u32);
        ensure!(self.kernel.blocks[block].params.iter().enumerate().all(own), "a parameter of {block:?} is another's");
        same(&self.params(block), types, "parameters")
    }
}

/// Checks that the types match.
fn same(found: &[Ty], expected: &[Ty], what: &str) -> Check {
    ensure!(found == expected, "its {what} are {found:?} and should be {expected:?}");
    Ok(())
}
