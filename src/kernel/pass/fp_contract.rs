//! Contraction of floats: turns a product and the sums that use it into fused operations, which round once.
//!
//! This requires that the product has no other use, the sum is not in a loop without the product, and neither is
//! `precise`, so that it never costs an instruction. The arithmetic of lane plans is `precise`, because their proofs
//! hold for their exact tree. Run it after the lane operations are lowered, because a move fused with a sum is cheaper
//! there.

use crate::ir::{InstFlags, Scalar};
use crate::kernel::tree::Tree;
use crate::kernel::{BinOp, InstId, Kernel, Op, TernOp, Ty, UnOp, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Contracts floats of these widths. Returns true if there were some.
pub fn run(kernel: &mut Kernel, widths: &[u8]) -> bool {
    let tree = Tree::new(kernel);
    let insts = tree.insts(kernel);
    let products: Vec<InstId> = insts.iter().copied().filter(|inst| is_product(kernel, *inst, widths)).collect();
    if products.is_empty() {
        return false;
    }
    let users = users(kernel, &products, &insts);
    let gone = vec![false; kernel.insts.len()];
    let mut contraction =
        Contraction { loops: loops(kernel, &tree), tree: &tree, kernel, before: FxHashMap::default(), gone };
    for (product, users) in products.iter().zip(&users) {
        contraction.product(*product, users);
    }
    contraction.finish()
}

/// Returns true for a float product that may be part of a fused operation.
fn is_product(kernel: &Kernel, inst: InstId, widths: &[u8]) -> bool {
    let is_exact = kernel.insts[inst].flags.contains(InstFlags::PRECISE);
    matches!(kernel.insts[inst].op, Op::Bin(BinOp::Mul, ty) if ty.is_float() && widths.contains(&ty.width)) && !is_exact
}

/// The instructions that use each product.
fn users(kernel: &Kernel, products: &[InstId], insts: &[InstId]) -> Vec<SmallVec<[InstId; 2]>> {
    let number = |(n, product): (usize, &InstId)| kernel.result(*product).map(|value| (value, n));
    let numbers: FxHashMap<Value, usize> = products.iter().enumerate().filter_map(number).collect();
    let mut users = vec![SmallVec::new(); products.len()];
    for inst in insts {
        kernel.args(*inst).iter().filter_map(|arg| numbers.get(arg)).for_each(|n| users[*n].push(*inst));
    }
    users
}

/// The innermost loop around each block.
fn loops(kernel: &Kernel, tree: &Tree) -> Vec<Option<InstId>> {
    let mut loops = vec![None; kernel.blocks.len()];
    for block in &tree.blocks {
        let Some(owner) = tree.owner(*block) else { continue };
        loops[block.index()] = match kernel.insts[owner].op {
            Op::Loop { .. } => Some(owner),
            _ => tree.block_of(owner).and_then(|around| loops[around.index()]),
        };
    }
    loops
}

struct Contraction<'k> {
    kernel: &'k mut Kernel,
    tree: &'k Tree,
    loops: Vec<Option<InstId>>,
    /// Negations to insert before instructions.
    before: FxHashMap<InstId, SmallVec<[InstId; 2]>>,
    /// The products that are no longer used.
    gone: Vec<bool>,
}

impl Contraction<'_> {
    /// Fuses a product into all of its users if all can be fused.
    fn product(&mut self, product: InstId, users: &[InstId]) {
        let Some(value) = self.kernel.result(product) else { return };
        if users.is_empty() || !users.iter().all(|user| self.can_take(*user, value, product)) {
            return;
        }
        let [a, b] = *self.kernel.args(product) else { return };
        let mut inverse = None;
        for user in users {
            let Op::Bin(op, ty) = self.kernel.insts[*user].op else { return };
            let [left, right] = *self.kernel.args(*user) else { return };
            let args = match (op, left == value) {
                (BinOp::Sub, false) => {
                    let [a, b] = *inverse.get_or_insert_with(|| self.negated_product(ty, product, [a, b]));
                    [a, b, left]
                }
                (BinOp::Sub, true) => [a, b, self.negated(ty, right, *user)],
                (_, is_left) => [a, b, if is_left { right } else { left }],
            };
            self.kernel.insts[*user].op = Op::Tern(TernOp::Fma, ty);
            self.kernel.set_args(*user, &args);
        }
        self.gone[product.index()] = true;
    }

    /// Returns true for a sum or difference of the product and another value that may be rounded once and runs as
    /// often.
    fn can_take(&self, user: InstId, value: Value, product: InstId) -> bool {
        let inst = &self.kernel.insts[user];
        let is_sum = matches!(inst.op, Op::Bin(BinOp::Add | BinOp::Sub, ty) if ty.is_float());
        is_sum
            && !inst.flags.contains(InstFlags::PRECISE)
            && self.kernel.args(user).iter().filter(|arg| **arg == value).count() == 1
            && self.loop_around(user) == self.loop_around(product)
    }

    fn loop_around(&self, inst: InstId) -> Option<InstId> {
        self.tree.block_of(inst).and_then(|block| self.loops[block.index()])
    }

    /// The factors of a negated product, at the product's position.
    fn negated_product(&mut self, ty: Scalar, product: InstId, [a, b]: [Value; 2]) -> [Value; 2] {
        let is_free = |value: Value| self.kernel.as_constant(value).is_some() || self.negation_of(ty, value).is_some();
        if is_free(b) && !is_free(a) {
            return [a, self.negated(ty, b, product)];
        }
        [self.negated(ty, a, product), b]
    }

    /// The negation of a value, inserted before an instruction if it does not exist.
    fn negated(&mut self, ty: Scalar, value: Value, at: InstId) -> Value {
        if let Some(bits) = self.kernel.as_constant(value) {
            return self.kernel.constant(Ty::of(ty), bits ^ 1 << (ty.width - 1));
        }
        if let Some(of) = self.negation_of(ty, value) {
            return of;
        }
        let (flags, span, origin) =
            (self.kernel.insts[at].flags, self.kernel.insts[at].span, self.kernel.insts[at].origin);
        let made = self.kernel.add_inst(Op::Un(UnOp::Neg, ty), &[value], &[Ty::of(ty)], flags, span);
        self.kernel.insts[made].origin = origin;
        self.before.entry(at).or_default().push(made);
        self.kernel.result(made).unwrap_or(value)
    }

    /// The value that another is the negation of.
    fn negation_of(&self, ty: Scalar, value: Value) -> Option<Value> {
        let inst = self.kernel.definition(value)?;
        (self.kernel.insts[inst].op == Op::Un(UnOp::Neg, ty)).then(|| self.kernel.args(inst)[0])
    }

    /// Inserts the negations and removes the products. Returns true if there were any.
    fn finish(mut self) -> bool {
        let changed = self.gone.iter().any(|gone| *gone);
        if changed {
            self.tree.blocks.iter().for_each(|block| {
                let insts = std::mem::take(&mut self.kernel.blocks[*block].insts);
                let mut out = Vec::with_capacity(insts.len());
                for inst in insts {
                    out.extend(self.before.remove(&inst).into_iter().flatten());
                    out.extend((!self.gone[inst.index()]).then_some(inst));
                }
                self.kernel.blocks[*block].insts = out;
            });
        }
        changed
    }
}
