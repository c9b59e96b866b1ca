//! Global value numbering, in one walk in text order: folds each operation, and removes operations and loads whose
//! result is already known.
//!
//! In a branch that runs only if a value equals a constant, pure operations read the constant.
//!
//! Whole-wave code shares nothing with the code around it. A pure operation replaces all equal ones in the rest of its
//! block and in nested blocks. A cross-lane operation replaces equal ones that the same lanes run: in the same block,
//! without a jump in between.

mod facts;

use self::facts::Facts;
use super::fold::{Simpler, fold, is_commutative};
use super::memory::{Kinds, Memory, written, written_inside};
use super::range::Ranges;
use crate::kernel::names::Names;
use crate::kernel::tree::Tree;
use crate::kernel::{BlockId, Inst, InstId, Kernel, Op, Origin, Ty, Value};
use crate::lane::primitive::NvOp;
use crate::lane::{Gives, LaneOp, Primitive, VoteOp};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};

/// Maximum number of consecutive rewrites of one operation, so that rules that undo each other terminate.
const PATIENCE: usize = 8;

/// Limit of the derived facts, per instruction of the kernel.
const FACTS_PER_INST: usize = 16;

/// Folds and shares operations. Returns true if anything changed.
pub fn run(kernel: &mut Kernel) -> bool {
    let tree = Tree::new(kernel);
    let summary = Summary { written: written_inside(kernel, &tree), leaves: tree.leaving(kernel) };
    let table = FxHashMap::with_capacity_and_hasher(kernel.insts.len() / 2, Default::default());
    let patience = FACTS_PER_INST * kernel.insts.len();
    let mut numbering = Numbering {
        ranges: Ranges::new(kernel),
        kernel,
        summary,
        names: Names::default(),
        table,
        added: Vec::new(),
        memory: Memory::default(),
        facts: Facts::default(),
        patience,
        region: 0,
        regions: 0,
        new: Vec::new(),
        changed: false,
    };
    numbering.block(numbering.kernel.body);
    numbering.changed
}

/// The facts about constructs known before the walk.
struct Summary {
    /// Memory written inside.
    written: Vec<Kinds>,
    /// True if some lanes may exit from inside it beyond its end.
    leaves: Vec<bool>,
}

/// Operands copied from the kernel; few operations have more than three.
type Operands = SmallVec<[Value; 4]>;

struct Numbering<'k> {
    kernel: &'k mut Kernel,
    summary: Summary,
    names: Names,
    ranges: Ranges,
    /// The visible values computed so far, with the region of each, by [`Forward::hash`].
    table: FxHashMap<u64, (InstId, u32)>,
    /// The entries that the enclosing blocks have added to the table.
    added: Vec<u64>,
    memory: Memory,
    facts: Facts,
    /// The remaining number of derived facts, so that nested conditions take linear time.
    patience: usize,
    /// Number of the region of text that the same lanes run; 0 means all.
    region: u32,
    regions: u32,
    /// New operands of the current instruction, to insert before it.
    new: Vec<InstId>,
    changed: bool,
}

impl Numbering<'_> {
    fn block(&mut self, block: BlockId) {
        let (visible, known) = (self.added.len(), self.facts.known());
        let region = std::mem::replace(&mut self.region, self.regions + 1);
        self.regions += 1;
        let insts = std::mem::take(&mut self.kernel.blocks[block].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            self.names.apply(self.kernel, inst);
            let stays = self.inst(inst);
            out.append(&mut self.new);
            if stays {
                out.push(inst);
            } else {
                self.changed = true;
            }
        }
        self.kernel.blocks[block].insts = out;
        for key in self.added.drain(visible..) {
            self.table.remove(&key);
        }
        self.facts.forget(known);
        self.region = region;
    }

    /// Examines an instruction. Returns true if it stays.
    fn inst(&mut self, inst: InstId) -> bool {
        let op = self.kernel.insts[inst].op;
        match op {
            op if op.is_structured() => {
                self.construct(inst, op);
                true
            }
            Op::Load(access) => {
                let address = self.kernel.args(inst)[0];
                if let Some(values) = self.memory.load(access, address) {
                    self.names.replace_all(self.kernel.results(inst), values);
                    return false;
                }
                let values: Vec<Value> = self.kernel.results(inst).collect();
                self.memory.loaded(self.kernel, access, address, &values);
                self.learn(inst);
                true
            }
            Op::Store(access) => {
                let args = self.kernel.args(inst);
                self.memory.stored(self.kernel, access, args[0], &args[1..]);
                true
            }
            op if matches!(vote(op), Some(VoteOp::All | VoteOp::Any)) && self.votes_alike(inst) => {
                let vote = self.kernel.args(inst)[0];
                self.names.replace_all(self.kernel.results(inst), [vote]);
                false
            }
            op if op.is_cross_lane() || matches!(op, Op::Derivative(_)) => {
                self.learn(inst);
                is_sync(&op) || self.is_first(inst, self.region)
            }
            op if op.is_pure() => self.pure(inst),
            op => {
                self.memory.forget(written(self.kernel, &op));
                true
            }
        }
    }

    fn pure(&mut self, inst: InstId) -> bool {
        let Some(result) = self.kernel.result(inst) else { return true };
        self.changed |= self.facts.apply(self.kernel, inst);
        for _ in 0..PATIENCE {
            let (op, before) = (self.kernel.insts[inst].op, Operands::from_slice(self.kernel.args(inst)));
            match fold(self.kernel, &self.ranges, op, &before, self.kernel.ty(result)) {
                Some(Simpler::Is(value)) => {
                    self.names.replace(result, value);
                    return false;
                }
                Some(Simpler::Op(op, args)) => self.rewrite(inst, op, &before, &args),
                Some(Simpler::OfNew { op, new, rest }) => {
                    let new = self.add(inst, new, self.kernel.ty(result));
                    let new = self.kernel.results(new).map(|new| self.names.get(new));
                    let args: Operands = new.chain(rest).collect();
                    self.rewrite(inst, op, &before, &args);
                }
                None => break,
            }
        }
        self.learn(inst);
        self.is_first(inst, 0)
    }

    fn rewrite(&mut self, inst: InstId, op: Op, before: &[Value], args: &[Value]) {
        self.changed = true;
        self.kernel.insts[inst].op = op;
        self.kernel.set_args(inst, args);
        self.take_origin(inst, before, args);
    }

    /// A new pure operation before an instruction, of the same origin.
    fn add(&mut self, before: InstId, (op, args): (Op, Vec<Value>), ty: Ty) -> InstId {
        let Inst { flags, span, origin, .. } = self.kernel.insts[before];
        let new = self.kernel.add_inst(op, &args, &[ty], flags, span);
        self.kernel.insts[new].origin = origin;
        if self.pure(new) {
            self.new.push(new);
        }
        new
    }

    /// Code that bypasses a former operand does that operand's work too, so it takes over its origin.
    fn take_origin(&mut self, inst: InstId, before: &[Value], args: &[Value]) {
        if self.kernel.insts[inst].origin != Origin::Code {
            return;
        }
        let gone = before.iter().filter(|arg| !args.contains(arg)).filter_map(|arg| self.kernel.definition(*arg));
        let taken = gone.filter(|made| self.kernel.args(*made).iter().any(|arg| args.contains(arg)));
        if let Some(origin) = taken.map(|made| self.kernel.insts[made].origin).find(|origin| *origin != Origin::Code) {
            self.kernel.insts[inst].origin = Origin::Code.with(origin);
        }
    }

    /// Returns true if all lanes certainly vote alike, because each voting lane is its own group.
    fn votes_alike(&self, inst: InstId) -> bool {
        self.kernel.as_constant(self.kernel.args(inst)[0]).is_some()
    }

    fn learn(&mut self, inst: InstId) {
        if let Some(result) = self.kernel.result(inst) {
            self.ranges.learn(self.kernel, &self.kernel.insts[inst].op, self.kernel.args(inst), result);
        }
    }

    /// Returns true if this is the first of equal operations.
    fn is_first(&mut self, inst: InstId, region: u32) -> bool {
        let key = self.hash(inst, region);
        match self.table.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert((inst, region));
                self.added.push(key);
            }
            Entry::Occupied(entry) => {
                let (first, at) = *entry.get();
                // Different operations with the same hash are rare; the later ones stay.
                if at == region && self.are_equal(inst, first) {
                    self.names.replace_all(self.kernel.results(inst), self.kernel.results(first));
                    return false;
                }
            }
        }
        true
    }

    /// A hash that is equal for equal operations: of the operation, its operands, its flags, and the region of a
    /// cross-lane operation.
    fn hash(&self, inst: InstId, region: u32) -> u64 {
        let mut hasher = FxHasher::default();
        (self.kernel.insts[inst].op, self.kernel.insts[inst].flags, region).hash(&mut hasher);
        self.ordered(inst).for_each(|arg| arg.hash(&mut hasher));
        hasher.finish()
    }

    fn are_equal(&self, a: InstId, b: InstId) -> bool {
        let kind = |inst: InstId| (self.kernel.insts[inst].op, self.kernel.insts[inst].flags);
        kind(a) == kind(b) && self.ordered(a).eq(self.ordered(b))
    }

    /// Operands in an order that is the same for equal operations.
    fn ordered(&self, inst: InstId) -> impl Iterator<Item = Value> {
        let args = self.kernel.args(inst);
        let is_commutative = matches!(self.kernel.insts[inst].op, Op::Bin(op, _) if is_commutative(op));
        let is_swapped = is_commutative && args.len() == 2 && args[1] < args[0];
        (0..args.len()).map(move |n| args[if is_swapped { 1 - n } else { n }])
    }

    fn construct(&mut self, inst: InstId, op: Op) {
        let written = self.summary.written[inst.index()];
        let before = self.memory.clone();
        match op {
            Op::If { then, otherwise } => {
                let condition = self.kernel.args(inst)[0];
                self.arm(then, condition, true);
                self.memory = before.clone();
                self.arm(otherwise, condition, false);
                self.after_arms(condition, then, otherwise);
            }
            Op::Loop { body, continuing } => {
                self.memory.forget(written);
                let around = self.memory.clone();
                self.block(body);
                self.memory = around;
                self.block(continuing);
            }
            Op::Scope { body } => self.block(body),
            Op::Whole { body } => self.whole(body),
            _ => {}
        }
        self.memory = before;
        self.memory.forget(written);
        if self.summary.leaves[inst.index()] {
            self.regions += 1;
            self.region = self.regions;
        }
    }

    /// A block that more lanes run than the code around it: outer values do not replace its values.
    fn whole(&mut self, body: BlockId) {
        let table = std::mem::take(&mut self.table);
        let added = std::mem::take(&mut self.added);
        let facts = std::mem::take(&mut self.facts);
        self.block(body);
        (self.table, self.added, self.facts) = (table, added, facts);
    }

    /// A block in which a condition is known.
    fn arm(&mut self, block: BlockId, condition: Value, truth: bool) {
        if self.kernel.as_constant(condition).is_some() {
            return self.block(block);
        }
        let known = self.facts.known();
        // For a jump alone, only the constant of the condition is useful.
        if self.kernel.blocks[block].insts.len() > 1 {
            self.facts.hold(self.kernel, condition, truth, &mut self.patience);
        }
        let truth = self.kernel.constant(Ty::Bool, truth.into());
        self.names.replace(condition, truth);
        self.block(block);
        self.names.restore(condition);
        self.facts.forget(known);
    }

    /// Learns facts for the rest of a block after a branch with an arm that does not return.
    fn after_arms(&mut self, condition: Value, then: BlockId, otherwise: BlockId) {
        if let Some(truth) = self.kernel.truth_after(then, otherwise) {
            self.facts.hold(self.kernel, condition, truth, &mut self.patience);
        }
    }
}

/// Returns true for cross-lane operations that are used for their effect, not for a value.
fn is_sync(op: &Op) -> bool {
    match op {
        Op::Lane { op, .. } => op.signature().gives == Gives::Nothing,
        Op::Prim { primitive, .. } => primitive.is_sync(),
        _ => false,
    }
}

/// The vote of an operation, or of an instruction for one.
fn vote(op: Op) -> Option<VoteOp> {
    match op {
        Op::Lane { op: LaneOp::Vote { op, .. }, .. } | Op::Prim { primitive: Primitive::Nv(NvOp::Vote(op)), .. } => {
            Some(op)
        }
        _ => None,
    }
}
