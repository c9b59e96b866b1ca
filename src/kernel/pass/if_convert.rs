//! If-conversion: computes both blocks of an `If` and selects between their results, if both are little more than
//! arithmetic.

use crate::kernel::names::Names;
use crate::kernel::{BinOp, BlockId, InstId, Kernel, MemorySpace, Op, UnOp};

/// Limit of the instructions in both blocks of an `If` that may run regardless of its condition.
const SMALL: usize = 6;

/// Converts branches to `Select`s. Returns true if there were some.
pub fn run(kernel: &mut Kernel) -> bool {
    if kernel.is_straight() {
        return false;
    }
    let body = kernel.body;
    let mut convert = Convert { kernel, names: Names::default(), changed: false };
    convert.block(body);
    convert.changed
}

struct Convert<'k> {
    kernel: &'k mut Kernel,
    names: Names,
    changed: bool,
}

impl Convert<'_> {
    /// Converts the branches of a block, inner ones first.
    fn block(&mut self, block: BlockId) {
        let insts = std::mem::take(&mut self.kernel.blocks[block].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            self.names.apply(self.kernel, inst);
            self.kernel.inner_blocks(inst).for_each(|inner| self.block(inner));
            match self.kernel.insts[inst].op {
                Op::If { then, otherwise } if self.is_small(inst, [then, otherwise]) => {
                    self.select(inst, [then, otherwise], &mut out);
                }
                _ => out.push(inst),
            }
        }
        self.kernel.blocks[block].insts = out;
    }

    /// Returns true if an `If` has results, and blocks that both may run for them.
    fn is_small(&self, inst: InstId, arms: [BlockId; 2]) -> bool {
        let sizes = arms.map(|arm| self.size(arm));
        let [Some(then), Some(otherwise)] = sizes else { return false };
        then + otherwise <= SMALL && self.kernel.results(inst).len() > 0
    }

    /// Instructions of a block that only computes and yields; `None` if it does more.
    fn size(&self, block: BlockId) -> Option<usize> {
        let (last, insts) = self.kernel.blocks[block].insts.split_last()?;
        let is_small = insts.len() <= SMALL && insts.iter().all(|inst| self.is_cheap(*inst));
        (is_small && self.kernel.insts[*last].op == Op::Yield).then_some(insts.len())
    }

    /// Returns true if an instruction is cheap enough to run speculatively. A push constant is always readable.
    fn is_cheap(&self, inst: InstId) -> bool {
        match self.kernel.insts[inst].op {
            Op::Bin(BinOp::Div | BinOp::Rem, _) => false,
            Op::Un(UnOp::Sqrt | UnOp::InverseSqrt | UnOp::Exp2 | UnOp::Log2 | UnOp::Sin | UnOp::Cos, _) => false,
            Op::Load(access) => {
                let is_known = self.kernel.as_constant(self.kernel.args(inst)[0]).is_some();
                access.space == MemorySpace::Push && is_known
            }
            op => op.is_pure(),
        }
    }

    /// Runs both blocks and selects between their yielded values.
    fn select(&mut self, inst: InstId, arms: [BlockId; 2], out: &mut Vec<InstId>) {
        self.changed = true;
        let condition = self.kernel.args(inst)[0];
        let [accept, reject] = arms.map(|arm| {
            out.append(&mut self.kernel.blocks[arm].insts);
            let last = out.pop().expect("it yields");
            self.kernel.args(last).to_vec()
        });
        let (flags, span) = (self.kernel.insts[inst].flags, self.kernel.insts[inst].span);
        for ((result, accept), reject) in self.kernel.results(inst).zip(accept).zip(reject) {
            if accept == reject {
                self.names.replace(result, accept);
                continue;
            }
            let ty = self.kernel.ty(result);
            let select = self.kernel.add_inst(Op::Select, &[condition, accept, reject], &[ty], flags, span);
            self.kernel.insts[select].origin = self.kernel.insts[inst].origin;
            out.push(select);
            self.names.replace_all([result], self.kernel.results(select));
        }
    }
}
