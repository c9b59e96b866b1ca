//! Non-uniform indices of arrays of resources (GL_EXT_nonuniform_qualifier): marked values, variables that are declared
//! so, and values computed from them. Other indices are assumed to be uniform.

use super::Sema;
use super::expressions::Lowered;
use crate::diagnostic::Code;
use crate::glsl::ast::{ExprId, List};
use crate::ir::build::Builder;
use crate::ir::{ImageOp, InstFlags, Op, Space, Value};
use crate::source::Span;
use rustc_hash::FxHashSet;

impl Sema<'_> {
    /// `nonuniformEXT(index)`, `nonuniformEXT(images[index])`.
    pub fn mark_non_uniform(&mut self, b: &mut Builder<'_>, args: List<ExprId>, whole: Span) -> Option<Lowered> {
        let ast = self.ast;
        let [arg] = ast[args] else {
            self.error(Code::NO_OVERLOAD, whole, "`nonuniformEXT` takes one argument", "not one");
            return None;
        };
        match self.lower(b, arg)? {
            Lowered::LValue(mut lvalue) if lvalue.space == Space::Handle => {
                lvalue.non_uniform = true;
                Some(Lowered::LValue(lvalue))
            }
            Lowered::LValue(lvalue) => {
                let value = self.read(b, &lvalue, ast[arg].span)?;
                self.keep_mark(true, value);
                Some(Lowered::Value(value))
            }
            Lowered::Value(value) => {
                self.keep_mark(true, value);
                flag_handle(b, value);
                Some(Lowered::Value(value))
            }
            Lowered::Void => {
                self.error(Code::TYPE_MISMATCH, whole, "a `void` function returns no value", "a value is needed here");
                None
            }
        }
    }

    /// The marker and the qualifier belong to an extension.
    pub fn need_non_uniform(&mut self, span: Span) -> Option<()> {
        const EXTENSION: &str = "GL_EXT_nonuniform_qualifier";
        if self.env.is_enabled(EXTENSION) {
            return Some(());
        }
        self.needs_extension("`nonuniformEXT` needs", EXTENSION, span);
        None
    }

    /// Records that a value was read from a marked variable.
    pub fn keep_mark(&mut self, marked: bool, value: Value) {
        if marked && !matches!(value, Value::Const(_)) {
            self.non_uniform.insert(value);
        }
    }

    /// Returns true if a variable declared here is `nonuniformEXT`.
    pub fn is_declared_non_uniform(&self, name: Span) -> bool {
        self.non_uniform_declarations.iter().any(|at| at.lo <= name.lo && name.hi <= at.hi)
    }

    /// Returns true if a value is marked, or computed from one that is.
    pub fn is_non_uniform(&self, b: &Builder<'_>, value: Value) -> bool {
        if self.non_uniform.is_empty() {
            return false;
        }
        let (mut open, mut seen) = (vec![value], FxHashSet::default());
        while let Some(value) = open.pop() {
            if self.non_uniform.contains(&value) {
                return true;
            }
            let Value::Inst(id) = value else { continue };
            let op = &b.function.insts[id].op;
            if op.is_arithmetic() && seen.insert(id) {
                op.each_operand(&b.function, |operand| open.push(operand));
            }
        }
        false
    }
}

/// Returns true if an image or sampler was read through an index that differs.
pub fn is_flagged(b: &Builder<'_>, value: Value) -> bool {
    matches!(value, Value::Inst(id) if b.function.insts[id].flags.contains(InstFlags::NON_UNIFORM))
}

/// Flags an image or sampler that was already read, and its path.
fn flag_handle(b: &mut Builder<'_>, value: Value) {
    let Value::Inst(id) = value else { return };
    let op = b.function.insts[id].op;
    let is_handle = matches!(op, Op::Image { op: ImageOp::Combine, .. } | Op::Load(_) | Op::Access { .. });
    if !is_handle {
        return;
    }
    b.function.insts[id].flags.insert(InstFlags::NON_UNIFORM);
    if let Op::Access { .. } = op {
        return;
    }
    let mut operands = Vec::new();
    op.each_operand(&b.function, |operand| operands.push(operand));
    operands.into_iter().for_each(|operand| flag_handle(b, operand));
}
