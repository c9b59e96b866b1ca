//! Assignments, increments and decrements.

use super::lvalue::LValue;
use super::operators::Operand;
use super::{Sema, memory, operators};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{BinaryOp, ExprId, StepOp};
use crate::glsl::types::Basic;
use crate::ir::build::Builder;
use crate::ir::{Access, ConstValue, Space, Type, Value};
use crate::source::Span;

impl Sema<'_> {
    /// `target = value`, `target op= value`; the value assigned is the value of the expression.
    pub fn assign(
        &mut self,
        b: &mut Builder<'_>,
        op: Option<BinaryOp>,
        target: ExprId,
        value: ExprId,
        whole: Span,
    ) -> Option<Value> {
        let lvalue = self.target(b, target);
        let value_span = self.ast[value].span;
        let right = self.value(b, value);
        let (lvalue, right) = (lvalue?, right?);
        let right = match op {
            Some(op) => {
                let left = self.read_anyway(b, &lvalue, self.ast[target].span)?;
                let mut right = Operand { value: right, span: value_span };
                if self.env.implicit_conversions() {
                    right = operators::compound(b, left, right);
                }
                let left = Operand { value: left, span: self.ast[target].span };
                self.apply(b, op, left, right, whole)?
            }
            None => right,
        };
        self.write(b, &lvalue, right, value_span, whole)
    }

    /// Reads a value that is updated or passed to a function. Other compilers accept `x += y` and `mod(x, y)` on
    /// `writeonly` memory, and some shaders rely on it. The qualifier is then dropped, so that the module makes no
    /// false promise.
    pub fn read_anyway(&mut self, b: &mut Builder<'_>, lvalue: &LValue, span: Span) -> Option<Value> {
        if !lvalue.access.contains(Access::WRITEONLY) || lvalue.space == Space::Handle {
            return self.read(b, lvalue, span);
        }
        let message = Diagnostic::warning(Code::WRITEONLY_READ, "this reads memory that is `writeonly`");
        let message = message.at(span, "read here").note("the qualifier is ignored");
        self.report(message.help("remove `writeonly` from the declaration"));
        forget(b, lvalue, Access::WRITEONLY);
        let readable = LValue { access: lvalue.access - Access::WRITEONLY, ..lvalue.clone() };
        self.read(b, &readable, span)
    }

    /// Checks that a place may be written. Other compilers accept writes through a `readonly` buffer reference, and
    /// some shaders rely on it: the qualifier is dropped with a warning.
    pub fn writable(&mut self, b: &mut Builder<'_>, lvalue: &LValue, span: Span) -> Option<()> {
        let checked = memory::check_writable(lvalue, span);
        self.check(checked)?;
        if lvalue.space == Space::Physical && forget(b, lvalue, Access::READONLY) {
            let message = Diagnostic::warning(Code::READONLY_WRITTEN, "this writes memory that is `readonly`");
            let message = message.at(span, "written here").note("the qualifier is ignored");
            self.report(message.help("remove `readonly` from the declaration"));
        }
        Some(())
    }

    /// Converts a value to the place's type and stores it.
    pub fn write(
        &mut self,
        b: &mut Builder<'_>,
        lvalue: &LValue,
        value: Value,
        from: Span,
        whole: Span,
    ) -> Option<Value> {
        let ty = memory::value_type(b, lvalue);
        let value = self.coerce(b, value, ty, from)?;
        self.writable(b, lvalue, whole)?;
        b.span = whole;
        memory::store(b, lvalue, value);
        Some(value)
    }

    /// `++` and `--`, prefix or postfix.
    pub fn step(&mut self, b: &mut Builder<'_>, op: StepOp, operand: ExprId, whole: Span) -> Option<Value> {
        let lvalue = self.target(b, operand)?;
        let span = self.ast[operand].span;
        let before = self.read_anyway(b, &lvalue, span)?;
        let Some(one) = self.one_like(b, before) else {
            self.error(Code::BAD_OPERANDS, span, "only numbers can be incremented and decremented", "not a number");
            return None;
        };
        let sign = match op {
            StepOp::PreIncrement | StepOp::PostIncrement => BinaryOp::Add,
            StepOp::PreDecrement | StepOp::PostDecrement => BinaryOp::Sub,
        };
        let after = self.apply(b, sign, Operand { value: before, span }, Operand { value: one, span }, whole)?;
        self.write(b, &lvalue, after, span, whole)?;
        Some(match op {
            StepOp::PreIncrement | StepOp::PreDecrement => after,
            StepOp::PostIncrement | StepOp::PostDecrement => before,
        })
    }

    /// The constant 1 in the value's scalar type.
    fn one_like(&mut self, b: &mut Builder<'_>, value: Value) -> Option<Value> {
        let ty = b.type_of(value);
        if b.module.types.referred(ty).is_some() {
            return Some(b.const_i32(1));
        }
        let scalar = Basic::of(&b.module.types, ty).map(|basic| basic.scalar).filter(|scalar| scalar.is_number())?;
        let ty = b.module.types.scalar(scalar);
        Some(Value::Const(b.module.constants.intern(ty, ConstValue::Bits(scalar.one_bits()))))
    }
}

/// Removes a qualifier from a block and its members. Returns true if any had it.
fn forget(b: &mut Builder<'_>, lvalue: &LValue, qualifier: Access) -> bool {
    let mut found = false;
    let mut take = |access: &mut Access| {
        found |= access.contains(qualifier);
        *access -= qualifier;
    };
    let mut ty = match lvalue.root {
        Value::Global(id) => {
            let global = &mut b.module.globals[id];
            take(&mut global.access);
            global.ty
        }
        root => b.type_of(root),
    };
    while let Type::Array { element, .. } = b.module.types.get(ty) {
        ty = element;
    }
    if let Type::Struct(block) | Type::BufferReference { pointee: block } = b.module.types.get(ty) {
        b.module.types.structs[block].members.iter_mut().for_each(|member| take(&mut member.access));
    }
    found
}
