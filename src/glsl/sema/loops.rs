//! `while`, `do` and `for` as the loop of the IR.

use super::Sema;
use crate::glsl::ast::{Condition, ExprId, Stmt, StmtId, StmtKind};
use crate::ir::build::Builder;
use crate::ir::{BlockId, ControlHint, UnaryOp};

impl Sema<'_> {
    pub fn loop_statement(&mut self, b: &mut Builder<'_>, stmt: &Stmt) {
        let hint = self.hint(stmt.attributes);
        match stmt.kind {
            StmtKind::While { condition, body } => {
                self.scoped(|sema| sema.for_loop(b, Some(condition), None, body, hint))
            }
            StmtKind::For { init, condition, step, body } => self.scoped(|sema| {
                if let Some(init) = init {
                    sema.statement(b, init);
                    b.span = stmt.span;
                }
                sema.for_loop(b, condition, step, body, hint);
            }),
            StmtKind::DoWhile { body, condition } => self.do_loop(b, body, condition, hint),
            _ => {}
        }
        debug_assert!(matches!(stmt.kind, StmtKind::While { .. } | StmtKind::DoWhile { .. } | StmtKind::For { .. }));
    }

    /// The condition is tested at the head of the body; the step is the continuing block.
    fn for_loop(
        &mut self,
        b: &mut Builder<'_>,
        condition: Option<Condition>,
        step: Option<ExprId>,
        body: StmtId,
        hint: ControlHint,
    ) {
        let span = b.span;
        b.push_block();
        self.scopes.enter();
        if let Some(condition) = condition {
            self.leave_unless(b, &condition);
        }
        self.loop_body(b, body);
        // The step can access the condition's variable, but not the body's.
        let body = b.pop_block();
        b.push_block();
        if let Some(step) = step {
            self.lower(b, step);
        }
        let continuing = b.pop_block();
        self.scopes.leave();
        b.span = span;
        b.loop_(body, continuing, None, hint);
    }

    fn leave_unless(&mut self, b: &mut Builder<'_>, condition: &Condition) {
        let Some(value) = self.loop_condition(b, condition) else { return };
        let stay = b.block(|_| {});
        let leave = b.block(Builder::break_);
        b.if_(value, stay, leave, ControlHint::None);
    }

    fn loop_body(&mut self, b: &mut Builder<'_>, body: StmtId) {
        self.breakable += 1;
        self.continuable += 1;
        self.scoped(|sema| sema.statement(b, body));
        self.breakable -= 1;
        self.continuable -= 1;
    }

    fn do_loop(&mut self, b: &mut Builder<'_>, body: StmtId, condition: ExprId, hint: ControlHint) {
        let span = b.span;
        b.push_block();
        self.loop_body(b, body);
        let body: BlockId = b.pop_block();
        b.push_block();
        let again = self.condition(b, condition);
        let done = again.map(|again| b.unary(UnaryOp::LogicalNot, again));
        let continuing = b.pop_block();
        b.span = span;
        b.loop_(body, continuing, done, hint);
    }
}
