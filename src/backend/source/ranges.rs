//! Ranges of signed numbers, for languages with undefined signed overflow.

use super::function::Body;
use crate::ir::{
    BinaryOp, BlockId, ConstId, ConstValue, ImageOp, InstId, LocalId, MathFn, Op, Scalar, ScalarKind, Value,
};
use crate::limits;

/// The smallest and the largest number that a value can be, over all components.
type Range = (i64, i64);

/// Maximum nesting depth of examined values.
const DEPTH: u32 = 6;

/// The largest size of an image, a workgroup or a subgroup.
const MOST_TEXELS: i64 = 1 << 16;

const ALL: Range = (i32::MIN as i64, i32::MAX as i64);

impl Body<'_, '_> {
    /// Returns true if a sum, difference or product of signed 32-bit numbers is known not to overflow.
    pub fn is_in_range(&self, op: BinaryOp, [a, b]: [Value; 2]) -> bool {
        let range = self.range(a, DEPTH).zip(self.range(b, DEPTH)).and_then(|(a, b)| combined(op, a, b));
        range.is_some()
    }

    /// Returns true if a signed number is known not to be the minimum, which has no negation.
    pub fn has_negation(&self, value: Value) -> bool {
        self.range(value, DEPTH).is_some_and(|range| range.0 > ALL.0)
    }

    /// The range of a value; `None` if it is not a number of at most 32 bits.
    fn range(&self, value: Value, depth: u32) -> Option<Range> {
        limits::spend(1);
        let ty = self.type_of(value);
        let scalar = self.t.types.scalar_of(ty)?;
        let all = range_of(scalar)?;
        if depth == 0 {
            return Some(all);
        }
        let found = match value {
            Value::Const(id) => self.constant_range(id),
            Value::Inst(id) => self.range_of_result(id, depth - 1),
            _ => None,
        };
        Some(found.unwrap_or(all))
    }

    fn constant_range(&self, id: ConstId) -> Option<Range> {
        let constant = self.t.module.constants.get(id);
        let scalar = self.t.types.scalar_of(constant.ty)?;
        match &constant.value {
            ConstValue::Bits(bits) => {
                let number = match scalar.kind {
                    ScalarKind::Sint => crate::ir::constant::sign_extend(*bits, scalar),
                    _ => i64::try_from(*bits).ok()?,
                };
                Some((number, number))
            }
            ConstValue::Zero => Some((0, 0)),
            ConstValue::Composite(parts) => {
                let ranges = parts.iter().map(|part| self.constant_range(*part)).collect::<Option<Vec<_>>>()?;
                ranges.into_iter().reduce(union)
            }
            _ => None,
        }
    }

    fn range_of_result(&self, id: InstId, depth: u32) -> Option<Range> {
        let inst = &self.f.insts[id];
        let of = |value| self.range(value, depth);
        match inst.op {
            Op::Convert(from) => {
                let scalar = self.t.types.scalar_of(self.type_of(from))?;
                let all = range_of(self.t.types.scalar_of(inst.ty)?)?;
                if scalar.is_bool() {
                    Some((0, 1))
                } else {
                    of(from).filter(|range| range.0 >= all.0 && range.1 <= all.1)
                }
            }
            Op::Splat(a) => of(a),
            Op::Extract { composite, .. } => of(composite),
            Op::Shuffle { a, b, .. } => Some(union(of(a)?, of(b)?)),
            Op::Construct(parts) => {
                self.f.values(parts).iter().map(|part| of(*part)).collect::<Option<Vec<_>>>()?.into_iter().reduce(union)
            }
            Op::Select { accept, reject, .. } => Some(union(of(accept)?, of(reject)?)),
            Op::Binary(op, a, b) => match op {
                BinaryOp::And => {
                    let mask =
                        [a, b].into_iter().filter_map(of).filter(|range| range.0 >= 0).map(|range| range.1).min();
                    mask.map(|most| (0, most))
                }
                BinaryOp::Rem => {
                    let (divisor, range) = (of(b)?, of(a)?);
                    let most = divisor.0.abs().max(divisor.1.abs()) - 1;
                    (divisor.0 > 0).then(|| (if range.0 >= 0 { 0 } else { -most }, most))
                }
                BinaryOp::Div => {
                    let (divisor, range) = (of(b)?, of(a)?);
                    (divisor.0 == divisor.1 && divisor.0 > 0).then(|| (range.0 / divisor.0, range.1 / divisor.0))
                }
                BinaryOp::Shr => {
                    let (by, range) = (of(b)?, of(a)?);
                    (by.0 == by.1 && (0..32).contains(&by.0)).then(|| (range.0 >> by.0, range.1 >> by.0))
                }
                _ => combined(op, of(a)?, of(b)?),
            },
            Op::Math(function, args) => {
                let args = self.f.values(args);
                let first = of(args[0]);
                match function {
                    MathFn::Min => first.zip(of(args[1])).map(|(a, b)| (a.0.min(b.0), a.1.min(b.1))),
                    MathFn::Max => first.zip(of(args[1])).map(|(a, b)| (a.0.max(b.0), a.1.max(b.1))),
                    MathFn::Clamp => first
                        .zip(of(args[1]).zip(of(args[2])))
                        .map(|(a, (low, high))| (a.0.max(low.0).min(high.0), a.1.max(low.1).min(high.1))),
                    MathFn::BitCount => Some((0, 64)),
                    MathFn::FindLsb | MathFn::FindMsb => Some((-1, 63)),
                    _ => None,
                }
            }
            Op::ArrayLength { .. } => Some((0, ALL.1)),
            Op::Image { op: ImageOp::Size | ImageOp::Levels | ImageOp::Samples, .. } => Some((0, MOST_TEXELS)),
            Op::Load(Value::Local(local)) => self.counter_range(local, id, depth),
            _ => None,
        }
    }

    /// The range of a loop's counter, for a read in its body.
    fn counter_range(&self, local: LocalId, read: InstId, depth: u32) -> Option<Range> {
        let (at, inside) = self.uses.loop_around(self.f, local, read)?;
        let Op::Loop { body, continuing, .. } = self.f.insts[at].op else { return None };
        let start = self.range(self.counter_start(local, continuing)?, depth)?;
        let (step, stepped) = self.counter_step(local, continuing)?;
        let (op, bound, index) = self.guard(local, body)?;
        // The guard holds after it in the body, and between two iterations until the step.
        let is_guarded = if inside.0 == body { inside.1 > index } else { inside.1 <= stepped };
        let bound = self.range(bound, depth).filter(|_| is_guarded)?;
        let range = match (op, step > 0) {
            (BinaryOp::Lt, true) => (start.0, bound.1 - 1),
            (BinaryOp::Le, true) => (start.0, bound.1),
            (BinaryOp::Gt, false) => (bound.0 + 1, start.1),
            (BinaryOp::Ge, false) => (bound.0, start.1),
            _ => return None,
        };
        // The last step must not wrap either.
        let last = if step > 0 { range.1 } else { range.0 };
        combined(BinaryOp::Add, (last, last), (step, step)).map(|_| range)
    }

    /// The only value that is stored to a variable outside a loop's continuing block.
    fn counter_start(&self, local: LocalId, continuing: BlockId) -> Option<Value> {
        let [first, second] = self.uses.stores_of(self.f, local)?;
        let starts = [first, second].into_iter().filter(|(_, (block, _))| *block != continuing);
        let list: Vec<Value> = starts.map(|(value, _)| value).collect();
        if let [only] = list.as_slice() { Some(*only) } else { None }
    }

    /// The increment of a variable in a loop's continuing block, and the index of the store.
    fn counter_step(&self, local: LocalId, continuing: BlockId) -> Option<(i64, u32)> {
        let stores = self.uses.stores_of(self.f, local)?;
        let (value, (_, index)) = stores.into_iter().find(|(_, (block, _))| *block == continuing)?;
        let Value::Inst(id) = value else { return None };
        let Op::Binary(op, Value::Inst(load), by) = self.f.insts[id].op else { return None };
        let is_own = matches!(self.f.insts[load].op, Op::Load(Value::Local(of)) if of == local);
        let (low, high) = self.range(by, 1)?;
        let sign = match op {
            BinaryOp::Add => 1,
            BinaryOp::Sub => -1,
            _ => return None,
        };
        (is_own && low == high).then_some((sign * low, index))
    }

    /// The comparison that keeps a loop running: operator, operand, and the index of the instruction.
    fn guard(&self, local: LocalId, body: BlockId) -> Option<(BinaryOp, Value, u32)> {
        let insts = &self.f.blocks[body].insts;
        let (index, id) = (0..).zip(insts).find(|(_, id)| matches!(self.f.insts[**id].op, Op::If { .. }))?;
        let is_pure = |id: &InstId| {
            !matches!(self.f.insts[*id].op, Op::Store { .. } | Op::Call(..) | Op::Loop { .. } | Op::Switch { .. })
        };
        if !insts[..index as usize].iter().all(is_pure) {
            return None;
        }
        let Op::If { condition, then, otherwise, .. } = self.f.insts[*id].op else { return None };
        let ends = |block: BlockId| matches!(self.f.blocks[block].insts.as_slice(), [only] if matches!(self.f.insts[*only].op, Op::Break));
        if self.f.blocks[then].insts.is_empty() && ends(otherwise) {
            let Value::Inst(id) = condition else { return None };
            return self.comparison(local, id).map(|(op, bound)| (op, bound, index));
        }
        let Value::Inst(id) = condition else { return None };
        let Op::Unary(crate::ir::UnaryOp::LogicalNot, Value::Inst(id)) = self.f.insts[id].op else { return None };
        let is_other = ends(then) && self.f.blocks[otherwise].insts.is_empty();
        self.comparison(local, id).filter(|_| is_other).map(|(op, bound)| (op, bound, index))
    }

    fn comparison(&self, local: LocalId, id: InstId) -> Option<(BinaryOp, Value)> {
        let Op::Binary(op, left, right) = self.f.insts[id].op else { return None };
        let is_it = |value| matches!(value, Value::Inst(id) if matches!(self.f.insts[id].op, Op::Load(Value::Local(of)) if of == local));
        let is_compared = matches!(op, BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge);
        (is_compared && is_it(left)).then_some((op, right))
    }
}

fn union(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

/// The range of a result; `None` if it may overflow.
fn combined(op: BinaryOp, a: Range, b: Range) -> Option<Range> {
    let made = match op {
        BinaryOp::Add => (a.0 + b.0, a.1 + b.1),
        BinaryOp::Sub => (a.0 - b.1, a.1 - b.0),
        BinaryOp::Mul => {
            let corners = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
            let all = corners.map(|(a, b)| a.checked_mul(b));
            (all.into_iter().min()??, all.into_iter().max()??)
        }
        _ => return None,
    };
    (made.0 >= ALL.0 && made.1 <= ALL.1).then_some(made)
}

/// All numbers of a type of at most 32 bits.
fn range_of(scalar: Scalar) -> Option<Range> {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => Some((0, 1)),
        (ScalarKind::Sint, 8 | 16 | 32) => {
            let most = 1_i64 << (scalar.width - 1);
            Some((-most, most - 1))
        }
        (ScalarKind::Uint, 8 | 16 | 32) => Some((0, (1_i64 << scalar.width) - 1)),
        _ => None,
    }
}
