//! Scalar replacement of aggregates (and `mem2reg`): promotes private variables to values, after loops are unrolled and
//! most indices are known.
//!
//! The pass follows the values of a variable's parts through the text of the original kernel. At the end of a
//! construct, the parts written inside become results. For a run-time index, each possible part is compared with it. An
//! index outside its variable is undefined and may mean any part.

mod slots;

use crate::ir::Scalar;
use crate::kernel::names::Names;
use crate::kernel::tree::Tree;
use crate::kernel::{BlockId, CmpOp, InstId, Kernel, MemoryAccess, Op, Ty, Value};
use slots::Slots;

/// Replaces variables by values. Returns true if there were any.
pub fn run(kernel: &mut Kernel) -> bool {
    if kernel.private.is_empty() {
        return false;
    }
    let tree = Tree::new(kernel);
    let slots = Slots::of(kernel, &tree);
    if slots.all.is_empty() {
        return false;
    }
    let written = written_inside(kernel, &tree, &slots);
    let now = slots.all.iter().map(|slot| kernel.undefined(slot.ty)).collect();
    let body = kernel.body;
    Promote { kernel, slots, written, now, names: Names::default(), out: Vec::new() }.block(body, None);
    true
}

/// The parts written inside each construct, in ascending order.
fn written_inside(kernel: &Kernel, tree: &Tree, slots: &Slots) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new(); kernel.insts.len()];
    for block in tree.blocks.iter().rev() {
        for inst in &kernel.blocks[*block].insts {
            let mut inside = std::mem::take(&mut all[inst.index()]);
            inside.extend(slots.written(kernel, *inst));
            inside.sort_unstable();
            inside.dedup();
            if let Some(owner) = tree.owner(*block) {
                all[owner.index()].extend_from_slice(&inside);
            }
            all[inst.index()] = inside;
        }
    }
    all
}

struct Promote<'k> {
    kernel: &'k mut Kernel,
    slots: Slots,
    written: Vec<Vec<usize>>,
    /// The value of each part.
    now: Vec<Value>,
    names: Names,
    /// The rewritten block.
    out: Vec<InstId>,
}

impl Promote<'_> {
    fn block(&mut self, block: BlockId, owner: Option<InstId>) {
        let insts = std::mem::take(&mut self.kernel.blocks[block].insts);
        let outer = std::mem::take(&mut self.out);
        for inst in insts {
            self.names.apply(self.kernel, inst);
            self.inst(inst, owner);
        }
        self.kernel.blocks[block].insts = std::mem::replace(&mut self.out, outer);
    }

    fn inst(&mut self, inst: InstId, owner: Option<InstId>) {
        let op = self.kernel.insts[inst].op;
        match op {
            Op::Load(access) if self.slots.touched.contains_key(&inst) => return self.load(inst, access),
            Op::Store(access) if self.slots.touched.contains_key(&inst) => return self.store(inst, access),
            Op::If { then, otherwise } => self.construct(inst, [then, otherwise]),
            Op::Scope { body } | Op::Whole { body } => self.construct(inst, [body]),
            Op::Loop { body, continuing } => self.loop_(inst, body, continuing),
            Op::Yield => owner.into_iter().for_each(|owner| self.leave(inst, owner)),
            Op::Exit(target) | Op::Continue(target) => self.leave(inst, target),
            Op::Repeat => owner.into_iter().for_each(|owner| self.repeat(inst, owner)),
            _ => {}
        }
        self.out.push(inst);
    }

    // Accesses.

    fn load(&mut self, inst: InstId, access: MemoryAccess) {
        let touched = self.slots.touched.get(&inst).cloned().unwrap_or_default();
        let results = self.kernel.results(inst);
        for ((n, places), result) in touched.iter().enumerate().zip(results) {
            let Some((last, others)) = places.split_last() else { continue };
            let mut value = self.now[*last];
            for place in others {
                let is_it = self.is_at(inst, access, n, *place);
                value = self.add(inst, Op::Select, &[is_it, self.now[*place], value], access.component());
            }
            self.names.replace(result, value);
        }
    }

    fn store(&mut self, inst: InstId, access: MemoryAccess) {
        let touched = self.slots.touched.get(&inst).cloned().unwrap_or_default();
        for (n, places) in touched.iter().enumerate() {
            let value = self.kernel.args(inst)[n + 1];
            for place in places {
                self.now[*place] = match places.len() {
                    1 => value,
                    _ => {
                        let is_it = self.is_at(inst, access, n, *place);
                        self.add(inst, Op::Select, &[is_it, value, self.now[*place]], access.component())
                    }
                };
            }
        }
    }

    /// True if component `n` of an access is a part.
    fn is_at(&mut self, inst: InstId, access: MemoryAccess, n: usize, place: usize) -> Value {
        let offset = access.offset.wrapping_add(n as u32 * u32::from(access.bytes));
        let wanted = self.kernel.constant(Ty::B32, self.slots.all[place].start.wrapping_sub(offset).into());
        let address = self.kernel.args(inst)[0];
        self.add(inst, Op::Cmp(CmpOp::Eq, Scalar::U32), &[address, wanted], Ty::Bool)
    }

    /// Adds an instruction that derives a part from another one.
    fn add(&mut self, of: InstId, op: Op, args: &[Value], ty: Ty) -> Value {
        let (flags, span) = (crate::ir::InstFlags::empty(), self.kernel.insts[of].span);
        let inst = self.kernel.add_inst(op, args, &[ty], flags, span);
        self.out.push(inst);
        self.kernel.result(inst).expect("it was made with one result")
    }

    // Constructs.

    /// The values of the parts written inside a construct.
    fn values(&self, inst: InstId) -> Vec<Value> {
        self.written[inst.index()].iter().map(|slot| self.now[*slot]).collect()
    }

    fn set_values(&mut self, inst: InstId, values: impl IntoIterator<Item = Value>) {
        for (slot, value) in self.written[inst.index()].iter().zip(values) {
            self.now[*slot] = value;
        }
    }

    fn construct<const N: usize>(&mut self, inst: InstId, blocks: [BlockId; N]) {
        let before = self.values(inst);
        for block in blocks {
            self.block(block, Some(inst));
            self.set_values(inst, before.iter().copied());
        }
        self.give_results(inst);
    }

    fn loop_(&mut self, inst: InstId, body: BlockId, continuing: BlockId) {
        let before = self.values(inst);
        self.append(inst, self.kernel.args(inst).len(), &before);
        for block in [body, continuing] {
            let types: Vec<Ty> = before.iter().map(|value| self.kernel.ty(*value)).collect();
            let params: Vec<Value> = types.into_iter().map(|ty| self.kernel.add_param(block, ty)).collect();
            self.set_values(inst, params);
            self.block(block, Some(inst));
        }
        self.give_results(inst);
    }

    /// Makes the parts written inside a construct its last results.
    fn give_results(&mut self, inst: InstId) {
        if self.written[inst.index()].is_empty() {
            return;
        }
        let old: Vec<Value> = self.kernel.results(inst).collect();
        let inside = self.written[inst.index()].iter().map(|slot| self.slots.all[*slot].ty);
        let types: Vec<Ty> = old.iter().map(|value| self.kernel.ty(*value)).chain(inside).collect();
        self.kernel.set_results(inst, &types);
        let count = old.len();
        self.names.replace_all(old, self.kernel.results(inst));
        self.set_values(inst, self.kernel.results(inst).skip(count));
    }

    /// Passes the parts along on a jump to the end, or to the continuing block, of a construct.
    fn leave(&mut self, inst: InstId, target: InstId) {
        self.append(inst, self.kernel.args(inst).len(), &self.values(target));
    }

    /// The operands of a `Repeat` are the condition, the body's parameters and the results.
    fn repeat(&mut self, inst: InstId, owner: InstId) {
        let values = self.values(owner);
        let results = self.kernel.results(owner).len();
        self.append(inst, self.kernel.args(inst).len() - results, &values);
        self.append(inst, self.kernel.args(inst).len(), &values);
    }

    /// Puts operands before operand `at`.
    fn append(&mut self, inst: InstId, at: usize, values: &[Value]) {
        if values.is_empty() {
            return;
        }
        let mut args = self.kernel.args(inst).to_vec();
        args.splice(at..at, values.iter().copied());
        self.kernel.set_args(inst, &args);
    }
}
