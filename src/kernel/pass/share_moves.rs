//! Lets several operations on one moved value share the move, if each would otherwise repeat it within its own
//! instruction.
//!
//! Moves between lanes then happen once, and arithmetic on their results needs no wait states. The pass runs after
//! cross-lane operations are lowered. Only moves with a result in every lane are shared, which excludes moves whose
//! lanes without a source keep their own value, unless zeros do not change the operations.

use crate::ir::Scalar;
use crate::kernel::arith;
use crate::kernel::names::Names;
use crate::kernel::tree::Tree;
use crate::kernel::{BlockId, InstId, Kernel, Op, Origin, Ty, Value};
use crate::lane::primitive::Dpp16;
use crate::lane::{Primitive, ReduceOp};
use rustc_hash::FxHashMap;

/// Shares moves. Returns true if there were some.
pub fn run(kernel: &mut Kernel) -> bool {
    let tree = Tree::new(kernel);
    let leaves = tree.leaving(kernel);
    let mut names = Names::default();
    let mut changed = false;
    for block in &tree.blocks {
        changed |= Sharing::new(kernel, &leaves, *block).rewrite(*block, &mut names);
    }
    names.apply_all(kernel);
    changed
}

/// A move, and the number of the stretch of a block that the same lanes run.
type Key = (Primitive, Value, u32);

struct Sharing<'k> {
    kernel: &'k mut Kernel,
    /// For each instruction of the block, its sharable move if there is one.
    moves: Vec<Option<Key>>,
    /// How often each move occurs.
    counts: FxHashMap<Key, u32>,
    /// The result of each move.
    given: FxHashMap<Key, Value>,
}

impl<'k> Sharing<'k> {
    fn new(kernel: &'k mut Kernel, leaves: &[bool], block: BlockId) -> Sharing<'k> {
        let (mut moves, mut counts, mut stretch) = (Vec::new(), FxHashMap::default(), 0);
        for inst in &kernel.blocks[block].insts {
            let key = moved(kernel, *inst).map(|(primitive, value)| (primitive, value, stretch));
            if let Some(key) = key {
                *counts.entry(key).or_insert(0) += 1;
            }
            moves.push(key);
            stretch += u32::from(leaves[inst.index()]);
        }
        Sharing { kernel, moves, counts, given: FxHashMap::default() }
    }

    fn rewrite(mut self, block: BlockId, names: &mut Names) -> bool {
        let is_shared = |key: &Key| self.counts.get(key).is_some_and(|count| *count > 1);
        let moves: Vec<Option<Key>> = self.moves.iter().map(|key| key.filter(is_shared)).collect();
        if moves.iter().all(Option::is_none) {
            return false;
        }
        let insts = std::mem::take(&mut self.kernel.blocks[block].insts);
        let mut out = Vec::with_capacity(insts.len() + 1);
        for (inst, key) in insts.into_iter().zip(moves) {
            match key {
                Some(key) => self.share(inst, key, names, &mut out),
                None => out.push(inst),
            }
        }
        self.kernel.blocks[block].insts = out;
        true
    }

    /// Replaces a move, or makes a fused reduction use the result of the shared move.
    fn share(&mut self, inst: InstId, key: Key, names: &mut Names, out: &mut Vec<InstId>) {
        let (op, given) = (self.kernel.insts[inst].op, self.given.get(&key).copied());
        match (op, given) {
            (Op::CombineMoved { op, ty, .. }, _) => {
                let moved = given.unwrap_or_else(|| self.make(inst, key, ty, out));
                let own = self.kernel.args(inst)[0];
                if matches!(self.kernel.insts[inst].origin, Origin::Within(_)) {
                    self.kernel.insts[inst].origin = Origin::Code;
                }
                self.kernel.insts[inst].op = Op::Bin(arith::fold_op(op), ty);
                self.kernel.set_args(inst, &[own, moved]);
                out.push(inst);
            }
            (_, Some(given)) => names.replace_all(self.kernel.results(inst), [given]),
            (_, None) => {
                self.given.extend(self.kernel.result(inst).map(|result| (key, result)));
                out.push(inst);
            }
        }
    }

    fn make(&mut self, inst: InstId, key: Key, ty: Scalar, out: &mut Vec<InstId>) -> Value {
        let (flags, span) = (self.kernel.insts[inst].flags, self.kernel.insts[inst].span);
        let op = Op::Prim { primitive: key.0, ty };
        let made = self.kernel.add_inst(op, &[key.1], &[Ty::of(ty)], flags, span);
        self.kernel.insts[made].origin = match self.kernel.insts[inst].origin {
            Origin::Within(number) => Origin::Operation(number),
            origin => origin,
        };
        out.push(made);
        let given = self.kernel.result(made).expect("it was made with one result");
        self.given.insert(key, given);
        given
    }
}

/// The move of a word in an instruction, alone or fused, as a move with a result in every lane.
fn moved(kernel: &Kernel, inst: InstId) -> Option<(Primitive, Value)> {
    let args = kernel.args(inst);
    match (kernel.insts[inst].op, args) {
        (Op::Prim { primitive, .. }, [value]) if kernel.ty(*value) == Ty::B32 => {
            gives_all(primitive).then_some((primitive, *value))
        }
        (Op::CombineMoved { op, ty, primitive }, [_, value]) if kernel.ty(*value) == Ty::B32 => {
            Some((without_own(op, ty, primitive)?, *value))
        }
        _ => None,
    }
}

/// Returns true if a reduction step can include the move, and the move has a value in every lane.
fn gives_all(primitive: Primitive) -> bool {
    match primitive {
        Primitive::Dpp16(dpp) => dpp.writes_all(),
        Primitive::Dpp8(_) => true,
        _ => false,
    }
}

/// The move in a fused reduction, with zeros in lanes that would keep their own value, if zeros change nothing.
fn without_own(op: ReduceOp, ty: Scalar, primitive: Primitive) -> Option<Primitive> {
    let zeroed = match primitive {
        Primitive::Dpp16(dpp) if arith::identity(op, ty) == 0 && !ty.is_float() => {
            Primitive::Dpp16(Dpp16 { bound_ctrl: true, ..dpp })
        }
        _ => primitive,
    };
    gives_all(zeroed).then_some(zeroed)
}
