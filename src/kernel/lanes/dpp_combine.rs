//! DPP combining: fuses a move with the arithmetic on its result, if the hardware can. Plans already do this within an
//! operation; this pass handles the shader's own arithmetic on an operation's result.
//!
//! The move must have a source in every lane, so that no old value is kept, and no other use. The fused instruction
//! replaces the arithmetic, which the same lanes run.

use crate::ir::Scalar;
use crate::kernel::tree::Tree;
use crate::kernel::{BinOp, BlockId, InstId, Kernel, Op, Ty, Value};
use crate::lane::primitive::fusion;
use crate::lane::{LaneType, Primitive, ReduceOp};
use crate::profile::Profile;
use rustc_hash::FxHashMap;

/// Fuses moves. Returns true if there were some.
pub fn run(kernel: &mut Kernel, profile: &Profile) -> bool {
    let tree = Tree::new(kernel);
    let mut uses = vec![0_u32; kernel.values.len()];
    for inst in tree.insts(kernel) {
        kernel.args(inst).iter().for_each(|arg| uses[arg.index()] += 1);
    }
    let mut fusing = Fusing { leaves: tree.leaving(kernel), kernel, profile, uses, moves: FxHashMap::default() };
    tree.blocks.iter().fold(false, |changed, block| fusing.block(*block) | changed)
}

struct Fusing<'k> {
    kernel: &'k mut Kernel,
    profile: &'k Profile,
    /// True if some lanes may exit from inside a construct beyond its end.
    leaves: Vec<bool>,
    /// How often each value is an operand.
    uses: Vec<u32>,
    /// The moves that the current lanes have made in this block, by their results.
    moves: FxHashMap<Value, InstId>,
}

impl Fusing<'_> {
    fn block(&mut self, block: BlockId) -> bool {
        self.moves.clear();
        let insts = self.kernel.blocks[block].insts.clone();
        let mut fused: Vec<InstId> = insts.into_iter().filter_map(|inst| self.inst(inst)).collect();
        fused.sort_unstable();
        self.kernel.blocks[block].insts.retain(|inst| fused.binary_search(inst).is_err());
        !fused.is_empty()
    }

    /// Examines an instruction. Returns the move fused into it.
    fn inst(&mut self, inst: InstId) -> Option<InstId> {
        match self.kernel.insts[inst].op {
            Op::Prim { primitive, .. } if gives_all(primitive) => {
                self.moves.extend(self.kernel.result(inst).map(|result| (result, inst)));
            }
            Op::Bin(op, ty) => return self.arithmetic(inst, op, ty),
            _ if self.leaves[inst.index()] => self.moves.clear(),
            _ => {}
        }
        None
    }

    fn arithmetic(&mut self, inst: InstId, op: BinOp, ty: Scalar) -> Option<InstId> {
        let op = fold_of(op)?;
        let [a, b] = *self.kernel.args(inst) else { return None };
        [(a, b), (b, a)].into_iter().find_map(|(own, moved)| self.fuse(inst, op, ty, own, moved))
    }

    fn fuse(&mut self, inst: InstId, op: ReduceOp, ty: Scalar, own: Value, moved: Value) -> Option<InstId> {
        let made = *self.moves.get(&moved)?;
        let Op::Prim { primitive, .. } = self.kernel.insts[made].op else { return None };
        let [value] = *self.kernel.args(made) else { return None };
        let is_word = self.kernel.ty(value) == Ty::B32 && self.kernel.as_constant(own).is_none();
        let carries = fusion::carries(self.profile, op, LaneType::scalar(ty.kind, ty.width), primitive);
        if !is_word || !carries || self.uses[moved.index()] != 1 {
            return None;
        }
        self.kernel.insts[inst].op = Op::CombineMoved { op, ty, primitive };
        self.kernel.set_args(inst, &[own, value]);
        self.kernel.insts[inst].origin = self.kernel.insts[inst].origin.with(self.kernel.insts[made].origin);
        Some(made)
    }
}

/// Returns true if arithmetic can include the move, and the move has a value in every lane.
fn gives_all(primitive: Primitive) -> bool {
    match primitive {
        Primitive::Dpp16(dpp) => dpp.writes_all(),
        Primitive::Dpp8(_) => true,
        _ => false,
    }
}

/// The arithmetic of a reduction.
const fn fold_of(op: BinOp) -> Option<ReduceOp> {
    Some(match op {
        BinOp::Add => ReduceOp::Add,
        BinOp::Mul => ReduceOp::Mul,
        BinOp::Min => ReduceOp::Min,
        BinOp::Max => ReduceOp::Max,
        BinOp::And => ReduceOp::And,
        BinOp::Or => ReduceOp::Or,
        BinOp::Xor => ReduceOp::Xor,
        _ => return None,
    })
}
