//! `&&`, `||` and `?:`: the unused side is not evaluated, unless its evaluation is harmless.

use super::Sema;
use super::expressions::Lowered;
use super::operators::Operand;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{BinaryOp, ExprId};
use crate::glsl::convert;
use crate::glsl::types::with_article;
use crate::ir::build::Builder;
use crate::ir::{self, BlockId, ControlHint, InstId, Op, Type, TypeId, Types, Value};
use crate::source::Span;

/// Maximum number of instructions that are evaluated speculatively instead of conditionally.
const CHEAP: usize = 6;

impl Sema<'_> {
    pub fn short_circuit(
        &mut self,
        b: &mut Builder<'_>,
        op: BinaryOp,
        left: Option<Operand>,
        right: ExprId,
        whole: Span,
    ) -> Option<Value> {
        let (text, ir_op) = super::expressions::infix(op);
        b.push_block();
        let value = self.value(b, right);
        let (left, value) = match (left, value) {
            (Some(left), Some(value)) => (left, value),
            _ => {
                b.pop_block();
                return None;
            }
        };
        let right = Operand { value, span: self.ast[right].span };
        if !self.are_bools(b, text, left, right, whole) {
            b.pop_block();
            return None;
        }
        b.span = whole;
        if is_harmless(b) {
            splice(b);
            return Some(b.binary(ir_op, left.value, right.value));
        }
        b.yield_(right.value);
        let taken = b.pop_block();
        let skipped = b.block(|b| {
            let known = b.const_bool(op == BinaryOp::Or);
            b.yield_(known);
        });
        let (then, otherwise) = if op == BinaryOp::And { (taken, skipped) } else { (skipped, taken) };
        Some(b.if_value(left.value, then, otherwise, Types::BOOL))
    }

    fn are_bools(&mut self, b: &mut Builder<'_>, text: &str, left: Operand, right: Operand, whole: Span) -> bool {
        for operand in [left, right] {
            let ty = b.type_of(operand.value);
            if ty != Types::BOOL {
                let name = self.type_name(b, ty);
                let message = Diagnostic::error(Code::BAD_OPERANDS, format!("`{text}` takes `bool` operands"));
                self.report(message.at(operand.span, format!("this is `{name}`")).with(whole, "in this expression"));
                return false;
            }
        }
        true
    }

    pub fn conditional(
        &mut self,
        b: &mut Builder<'_>,
        condition: ExprId,
        then: ExprId,
        otherwise: ExprId,
        whole: Span,
    ) -> Option<Lowered> {
        let test = self.condition(b, condition);
        let (accept, then_block) = self.side(b, then);
        let (reject, otherwise_block) = self.side(b, otherwise);
        let test = test?;
        let (accept, reject) = match (accept?, reject?) {
            (Chosen::Nothing, Chosen::Nothing) => {
                b.span = whole;
                b.if_(test, then_block.block, otherwise_block.block, ControlHint::None);
                return Some(Lowered::Void);
            }
            (Chosen::Value(accept), Chosen::Value(reject)) => (accept, reject),
            _ => {
                self.error(
                    Code::TYPE_MISMATCH,
                    whole,
                    "`?:` chooses between a value and nothing",
                    "one side is `void`",
                );
                return None;
            }
        };
        let ty = self.common_type(b, accept, reject, whole)?;
        b.span = whole;
        if let Some(known) = known_bool(b, test) {
            let (value, side) = if known { (accept, then_block) } else { (reject, otherwise_block) };
            side.reopen(b);
            return Some(Lowered::Value(convert::numeric(b, value, ty)));
        }
        if then_block.harmless && otherwise_block.harmless && is_selectable(b, ty) {
            then_block.reopen(b);
            otherwise_block.reopen(b);
            let accept = convert::numeric(b, accept, ty);
            let reject = convert::numeric(b, reject, ty);
            return Some(Lowered::Value(b.select(test, accept, reject)));
        }
        let then = then_block.yielding(b, accept, ty);
        let otherwise = otherwise_block.yielding(b, reject, ty);
        Some(Lowered::Value(b.if_value(test, then, otherwise, ty)))
    }

    /// One side of `?:` in a separate block.
    fn side(&mut self, b: &mut Builder<'_>, expr: ExprId) -> (Option<Chosen>, Side) {
        b.push_block();
        let chosen = match self.lower(b, expr) {
            Some(Lowered::Void) => Some(Chosen::Nothing),
            Some(lowered) => self.value_of(b, lowered, self.ast[expr].span).map(Chosen::Value),
            None => None,
        };
        (chosen, Side::close(b))
    }

    /// The common type of both sides of `?:`.
    fn common_type(&mut self, b: &mut Builder<'_>, accept: Value, reject: Value, whole: Span) -> Option<TypeId> {
        let (a, r) = (b.type_of(accept), b.type_of(reject));
        if self.converts(b, r, a) {
            return Some(a);
        }
        if self.converts(b, a, r) {
            return Some(r);
        }
        let names = [a, r].map(|ty| self.type_name(b, ty));
        let message = format!("`?:` chooses between {} and {}", with_article(&names[0]), with_article(&names[1]));
        self.error(Code::TYPE_MISMATCH, whole, message, "the types have nothing in common");
        None
    }
}

/// The value of a compile-time condition, which leaves only one side.
fn known_bool(b: &Builder<'_>, condition: Value) -> Option<bool> {
    match condition {
        Value::Const(id) => b.module.constants.bits(id).map(|bits| bits != 0),
        _ => None,
    }
}

/// The value of a side of `?:`.
#[derive(Clone, Copy)]
enum Chosen {
    Value(Value),
    Nothing,
}

/// A block with one side of a choice.
struct Side {
    block: BlockId,
    harmless: bool,
}

impl Side {
    fn close(b: &mut Builder<'_>) -> Side {
        let harmless = is_harmless(b);
        Side { block: b.pop_block(), harmless }
    }

    /// Moves the instructions into the current block.
    fn reopen(self, b: &mut Builder<'_>) {
        b.append_block(self.block);
    }

    /// The block with the value, converted, as its result.
    fn yielding(self, b: &mut Builder<'_>, value: Value, ty: TypeId) -> BlockId {
        b.push_block();
        b.append_block(self.block);
        let value = convert::numeric(b, value, ty);
        b.yield_(value);
        b.pop_block()
    }
}

/// Ends the current block and moves its instructions into the enclosing one.
fn splice(b: &mut Builder<'_>) {
    let block = b.pop_block();
    b.append_block(block);
}

fn is_selectable(b: &Builder<'_>, ty: TypeId) -> bool {
    matches!(b.module.types.get(ty), Type::Scalar(_) | Type::Vector { .. })
}

/// Returns true if the current block may run even if its result is not needed: it has few instructions, without
/// effects, failures or cross-lane operations.
fn is_harmless(b: &Builder<'_>) -> bool {
    let insts = b.current_insts();
    insts.len() <= CHEAP && insts.iter().all(|id| is_harmless_inst(b, *id))
}

fn is_harmless_inst(b: &Builder<'_>, id: InstId) -> bool {
    match b.function.insts[id].op {
        Op::Unary(..) | Op::Convert(_) | Op::Bitcast(_) | Op::Select { .. } | Op::Construct(_) | Op::Splat(_) => true,
        Op::Extract { .. } | Op::Insert { .. } | Op::Shuffle { .. } => true,
        Op::Access { .. } => is_plain_access(b, id),
        Op::Binary(op, ..) => !matches!(op, ir::BinaryOp::Div | ir::BinaryOp::Rem) || is_float(b, id),
        Op::Load(pointer) => is_plain_variable(b, pointer),
        _ => false,
    }
}

/// Division of floats by zero gives an infinity, division of integers by zero is undefined.
fn is_float(b: &Builder<'_>, id: InstId) -> bool {
    b.module.types.scalar_of(b.function.insts[id].ty).is_some_and(ir::Scalar::is_float)
}

/// A variable of this invocation, or a part of one at known indices, so that reading it cannot fail.
fn is_plain_variable(b: &Builder<'_>, pointer: Value) -> bool {
    match pointer {
        Value::Local(_) => true,
        Value::Global(id) => matches!(b.module.globals[id].space, ir::Space::Private | ir::Space::Input),
        Value::Inst(id) => is_plain_access(b, id),
        _ => false,
    }
}

fn is_plain_access(b: &Builder<'_>, id: InstId) -> bool {
    let Op::Access { base, indices } = b.function.insts[id].op else { return false };
    let known = b.function.values(indices).iter().all(|index| matches!(index, Value::Const(_)));
    known && is_plain_variable(b, base)
}
