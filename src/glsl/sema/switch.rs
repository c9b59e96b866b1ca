//! `switch`: labels and statements become arms, in source order, keeping fall-through.

use super::Sema;
use super::constants::is_int_scalar;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{ExprId, List, Stmt, StmtId, StmtKind};
use crate::ir::build::Builder;
use crate::ir::{Case, ConstId, TypeId, Types, Value};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The arms found so far.
#[derive(Default)]
struct Arms {
    cases: Vec<Case>,
    /// Labels of the open arm.
    values: Vec<u64>,
    default: bool,
    open: bool,
    /// Place of each label.
    seen: FxHashMap<u64, Span>,
    default_at: Option<Span>,
}

impl Sema<'_> {
    pub fn switch(&mut self, b: &mut Builder<'_>, selector: ExprId, body: List<StmtId>, stmt: &Stmt) {
        let hint = self.hint(stmt.attributes);
        let Some(value) = self.value(b, selector) else { return };
        if !is_int_scalar(b, value) {
            let span = self.ast[selector].span;
            self.error(Code::TYPE_MISMATCH, span, "a `switch` selects by an integer", "not an integer");
            return;
        }
        let ty = b.type_of(value);
        self.breakable += 1;
        let cases = self.scoped(|sema| sema.arms(b, body, ty));
        self.breakable -= 1;
        b.span = stmt.span;
        b.switch(value, cases, hint);
    }

    fn arms(&mut self, b: &mut Builder<'_>, body: List<StmtId>, ty: TypeId) -> Vec<Case> {
        let mut arms = Arms::default();
        let ast = self.ast;
        for id in &ast[body] {
            let stmt = ast[*id];
            match stmt.kind {
                StmtKind::Case(_) | StmtKind::Default => {
                    close(b, &mut arms);
                    self.label(b, &stmt, ty, &mut arms);
                }
                _ if arms.values.is_empty() && !arms.default => {
                    self.error(Code::BAD_STATEMENT, stmt.span, "a statement before the first label", "never reached");
                    return arms.cases;
                }
                _ => {
                    if !arms.open {
                        b.push_block();
                        arms.open = true;
                    }
                    self.statement(b, *id);
                }
            }
        }
        finish(b, &mut arms);
        arms.cases
    }

    fn label_value(&mut self, b: &mut Builder<'_>, expr: ExprId, ty: TypeId) -> Option<u64> {
        let span = self.ast[expr].span;
        let id = self.constant(b, expr, "a case label")?;
        let Value::Const(id) = self.label_as(b, id, ty, span)? else { return None };
        let bits = b.module.constants.bits(id);
        if bits.is_none() {
            let message = "a case label must be known at compile time";
            self.error(Code::NOT_CONSTANT, span, message, "depends on a specialization constant");
        }
        bits
    }

    /// If the label or the selector is unsigned, both are compared as unsigned (GLSL 4.60 section 6.2).
    fn label_as(&mut self, b: &mut Builder<'_>, id: ConstId, ty: TypeId, span: Span) -> Option<Value> {
        let from = b.module.constants.get(id).ty;
        match from == Types::U32 && ty == Types::I32 {
            true => Some(b.bitcast(Value::Const(id), ty)),
            false => self.coerce(b, Value::Const(id), ty, span),
        }
    }

    fn label(&mut self, b: &mut Builder<'_>, stmt: &Stmt, ty: TypeId, arms: &mut Arms) {
        let StmtKind::Case(expr) = stmt.kind else {
            if let Some(first) = arms.default_at.replace(stmt.span) {
                let diagnostic = Diagnostic::error(Code::BAD_STATEMENT, "a `switch` has one `default`");
                self.report(diagnostic.at(stmt.span, "the second one").with(first, "the first one"));
            }
            arms.default = true;
            return;
        };
        let span = self.ast[expr].span;
        let Some(bits) = self.label_value(b, expr, ty) else {
            // Only the label is wrong, not the code after it.
            arms.default = true;
            return;
        };
        match arms.seen.entry(bits) {
            Entry::Vacant(entry) => _ = entry.insert(span),
            Entry::Occupied(entry) => {
                let diagnostic = Diagnostic::error(Code::BAD_STATEMENT, "two labels have the same value");
                self.report(diagnostic.at(span, "the second one").with(*entry.get(), "the first one"));
            }
        }
        arms.values.push(bits);
    }
}

/// Ends the open arm, if any; it falls through to the next one unless it ended itself.
fn close(b: &mut Builder<'_>, arms: &mut Arms) {
    if !arms.open {
        return;
    }
    let falls_through = !b.is_terminated();
    let body = b.pop_block();
    let (values, default) = (std::mem::take(&mut arms.values), std::mem::take(&mut arms.default));
    arms.cases.push(Case { values, default, body, falls_through });
    arms.open = false;
}

/// The last arm leaves the switch; labels without statements form an empty arm.
fn finish(b: &mut Builder<'_>, arms: &mut Arms) {
    if !arms.open && (arms.default || !arms.values.is_empty()) {
        b.push_block();
        arms.open = true;
    }
    close(b, arms);
    if let Some(last) = arms.cases.last_mut() {
        last.falls_through = false;
    }
}
