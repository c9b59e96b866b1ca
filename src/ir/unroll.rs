//! Replaces loops with a known trip count by that many copies of their body.
//!
//! A loop is unrolled if its body begins with the exit test, nothing else exits the loop or the iteration, and the test
//! is constant before each iteration. Nested loops must be such loops too, with an unroll attribute. Each invocation
//! runs the same operations in the same order as before, together with the same neighbours. A loop with a `continue`
//! stays: its iterations would be nested in branches, which drivers take long to compile.

use super::plain::root_local;
use super::propagate::{Walk, each_store};
use super::{BlockId, Case, Cases, ConstId, ControlHint, Function, Inst, InstId, LocalId, Op, Types, Value};
use crate::limits;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

type Insts = SmallVec<[InstId; 4]>;

/// Limits on the total size of an unrolled loop's iterations, in instructions.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Size limit of a loop with an unroll attribute.
    pub asked: usize,
    /// Limit of any other loop.
    pub other: usize,
    /// Limit of all loops of a function.
    pub function: usize,
}

/// A loop that can be unrolled if its trip count is known.
struct Shape {
    /// Everything before the test.
    head: Insts,
    condition: Value,
    /// The value of the condition with which the loop continues.
    goes_on: bool,
    /// Everything after the test.
    rest: Insts,
    continuing: Insts,
    /// Instructions of an iteration, including nested blocks.
    size: usize,
}

/// The contents of the blocks of a loop.
#[derive(Clone, Copy)]
struct Seen {
    size: usize,
    /// Control passes the end of the block.
    falls: bool,
}

impl Walk<'_> {
    /// Replaces a loop by its iterations if it can be unrolled. Returns true if they end their block, `None` if the
    /// loop stays.
    pub(super) fn unroll(&mut self, inst: &Inst, may_end: bool, left: &mut Insts) -> Option<bool> {
        let Op::Loop { body, continuing, break_if: None, hint } = inst.op else { return None };
        let most = match hint {
            ControlHint::Unroll => self.budget.asked,
            ControlHint::DontUnroll => 0,
            _ => self.budget.other,
        };
        let shape = Shape::of(self.function, body, continuing)?;
        let turns = self.turns(&shape, most.min(self.budget.function) / shape.size)?;
        self.budget.function -= turns * shape.size;
        for _ in 0..turns {
            if self.turn(&[&shape.head, &shape.rest, &shape.continuing], may_end, left) {
                return Some(true);
            }
        }
        let ended = self.turn(&[&shape.head], may_end, left);
        [body, continuing].into_iter().for_each(|block| bury(self.function, block));
        Some(ended)
    }

    /// Copies the code of a turn and walks the copy.
    fn turn(&mut self, parts: &[&Insts], may_end: bool, left: &mut Insts) -> bool {
        let mut copier = Copier { function: self.function, values: FxHashMap::default() };
        let mut copied = Insts::new();
        parts.iter().for_each(|part| copier.insts(part, &mut copied));
        self.replaced.resize(self.function.insts.len(), None);
        self.instructions(&copied, may_end, left)
    }

    /// The trip count of a loop, if it is constant and at most `most`.
    fn turns(&mut self, shape: &Shape, most: usize) -> Option<usize> {
        let mut known = Known::default();
        for turns in 0..=most {
            self.evaluate(&shape.head, &mut known);
            if self.known_bool(known.value(self.resolve(shape.condition)))? != shape.goes_on {
                return Some(turns);
            }
            self.evaluate(&shape.rest, &mut known);
            self.evaluate(&shape.continuing, &mut known);
        }
        None
    }

    /// Computes the constants after instructions without walking them.
    fn evaluate(&mut self, insts: &[InstId], known: &mut Known) {
        limits::spend(insts.len());
        for id in insts {
            let inst = self.function.insts[*id];
            let value = match inst.op {
                Op::Load(Value::Local(local)) => *known.locals.get(&local).unwrap_or(&self.holds[local.index()]),
                Op::Store { pointer, value } => {
                    if let Some(local) = root_local(self.function, pointer) {
                        let is_whole = matches!(pointer, Value::Local(_)) && self.is_plain[local.index()];
                        known.locals.insert(local, known.constant(self.resolve(value)).filter(|_| is_whole));
                    }
                    None
                }
                Op::If { .. } | Op::Loop { .. } | Op::Switch { .. } => {
                    let inner = self.function.inner_blocks(inst.op);
                    inner.into_iter().for_each(|block| each_store(self.function, block, |local| known.forget(local)));
                    None
                }
                op => {
                    let op = op.map_operands(|value| known.value(self.resolve(value)));
                    self.folded(&Inst { op, ..inst })
                }
            };
            known.set(*id, value);
        }
    }
}

/// Constants at one point of a loop.
#[derive(Default)]
struct Known {
    values: FxHashMap<InstId, ConstId>,
    /// Values of the variables that the loop stores to.
    locals: FxHashMap<LocalId, Option<ConstId>>,
}

impl Known {
    fn constant(&self, value: Value) -> Option<ConstId> {
        match self.value(value) {
            Value::Const(id) => Some(id),
            _ => None,
        }
    }

    fn value(&self, value: Value) -> Value {
        match value {
            Value::Inst(id) => self.values.get(&id).map_or(value, |constant| Value::Const(*constant)),
            other => other,
        }
    }

    fn set(&mut self, id: InstId, value: Option<ConstId>) {
        match value {
            Some(constant) => self.values.insert(id, constant),
            None => self.values.remove(&id),
        };
    }

    fn forget(&mut self, local: LocalId) {
        self.locals.insert(local, None);
    }
}

impl Shape {
    fn of(function: &Function, body: BlockId, continuing: BlockId) -> Option<Shape> {
        let insts = &function.blocks[body].insts;
        let (at, condition, goes_on) = insts.iter().enumerate().find_map(|(at, id)| {
            let Op::If { condition, then, otherwise, .. } = function.insts[*id].op else { return None };
            let [then, otherwise] = [then, otherwise].map(|block| Side::of(function, block));
            match (then, otherwise) {
                (Side::Empty, Side::Breaks) => Some((at, condition, true)),
                (Side::Breaks, Side::Empty) => Some((at, condition, false)),
                _ => None,
            }
        })?;
        let (head, rest) = (&insts[..at], &insts[at + 1..]);
        let continuing = &function.blocks[continuing].insts;
        let seen = |insts: &[InstId]| seen(function, insts, false);
        let (first, turn, last) = (seen(head)?, seen(rest)?, seen(continuing)?);
        (first.falls && turn.falls && last.falls).then(|| Shape {
            condition,
            goes_on,
            head: head.into(),
            rest: rest.into(),
            continuing: continuing.clone(),
            size: first.size + turn.size + last.size + 1,
        })
    }
}

/// A side of the selection that is the test of a loop.
#[derive(PartialEq)]
enum Side {
    Empty,
    Breaks,
    Other,
}

impl Side {
    fn of(function: &Function, block: BlockId) -> Side {
        match function.blocks[block].insts.as_slice() {
            [] => Side::Empty,
            [only] if function.insts[*only].op == Op::Break => Side::Breaks,
            _ => Side::Other,
        }
    }
}

/// Examines the instructions of an iteration, inside a switch or not; `None` for a form that cannot be unrolled.
fn seen(function: &Function, insts: &[InstId], in_switch: bool) -> Option<Seen> {
    let mut all = Seen { size: 0, falls: true };
    for id in insts {
        all.size += 1;
        let inst = &function.insts[*id];
        match inst.op {
            Op::Break if !in_switch => return None,
            Op::Continue => return None,
            Op::If { then, otherwise, .. } => {
                let [then, otherwise] =
                    [then, otherwise].map(|block| seen(function, &function.blocks[block].insts, in_switch));
                let (then, otherwise) = (then?, otherwise?);
                all.falls &= inst.ty != Types::VOID || then.falls || otherwise.falls;
                all.size += then.size + otherwise.size;
            }
            Op::Loop { body, continuing, break_if: None, hint: ControlHint::Unroll } => {
                all.size += Shape::of(function, body, continuing)?.size;
            }
            Op::Loop { .. } => return None,
            op @ Op::Switch { .. } => {
                for block in function.inner_blocks(op) {
                    all.size += seen(function, &function.blocks[block].insts, true)?.size;
                }
            }
            op => all.falls &= !op.is_terminator(),
        }
    }
    Some(all)
}

/// Removes the instructions of an unreachable block from the function.
fn bury(function: &mut Function, block: BlockId) {
    for id in std::mem::take(&mut function.blocks[block].insts) {
        let op = std::mem::replace(&mut function.insts[id].op, Op::Unreachable);
        function.inner_blocks(op).into_iter().for_each(|block| bury(function, block));
    }
}

/// Copies instructions of a function within it.
struct Copier<'a> {
    function: &'a mut Function,
    /// The copies of values.
    values: FxHashMap<InstId, Value>,
}

impl Copier<'_> {
    fn value(&self, value: Value) -> Value {
        match value {
            Value::Inst(id) => self.values.get(&id).copied().unwrap_or(value),
            other => other,
        }
    }

    fn insts(&mut self, insts: &[InstId], into: &mut Insts) {
        for id in insts {
            let copy = self.inst(self.function.insts[*id], into);
            self.values.insert(*id, copy);
        }
    }

    fn block(&mut self, block: BlockId) -> BlockId {
        let insts = self.function.blocks[block].insts.clone();
        let mut copied = Insts::new();
        self.insts(&insts, &mut copied);
        let block = self.function.blocks.push(super::Block::default());
        self.function.blocks[block].insts = copied;
        block
    }

    fn inst(&mut self, inst: Inst, into: &mut Insts) -> Value {
        let op = match inst.op {
            Op::If { condition, then, otherwise, hint } => {
                let condition = self.value(condition);
                let [then, otherwise] = [then, otherwise].map(|block| self.block(block));
                Op::If { condition, then, otherwise, hint }
            }
            Op::Loop { body, continuing, break_if, hint } => {
                let [body, continuing] = [body, continuing].map(|block| self.block(block));
                Op::Loop { body, continuing, break_if: break_if.map(|value| self.value(value)), hint }
            }
            Op::Switch { selector, cases, hint } => {
                let selector = self.value(selector);
                Op::Switch { selector, cases: self.arms(cases), hint }
            }
            op => op.map_operands(|value| self.value(value)).map_list(|list| {
                let values: SmallVec<[Value; 8]> =
                    self.function.values(list).iter().map(|value| self.value(*value)).collect();
                self.function.list(&values)
            }),
        };
        self.put(Inst { op, ..inst }, into)
    }

    fn arms(&mut self, cases: Cases) -> Cases {
        let arms: Vec<Case> = self.function.arms(cases).to_vec();
        let copied: Vec<Case> = arms.into_iter().map(|arm| Case { body: self.block(arm.body), ..arm }).collect();
        let (start, len) = (self.function.cases.len() as u32, copied.len() as u32);
        self.function.cases.extend(copied);
        Cases { start, len }
    }

    fn put(&mut self, inst: Inst, into: &mut Insts) -> Value {
        limits::spend(1);
        limits::hold::<Inst>(1);
        let id = self.function.insts.push(inst);
        into.push(id);
        Value::Inst(id)
    }
}
