//! Statements (GLSL 4.60 section 6).

use super::Sema;
use super::scope::Entity;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, Condition, ExprId, ExprKind, IfArm, List, StmtId, StmtKind};
use crate::ir::build::Builder;
use crate::ir::{ControlHint, Ending, Stage, Types, Value};
use crate::source::Span;
use smallvec::SmallVec;

/// Attributes of GL_EXT_control_flow_attributes and their hints. `branch` and `loop` request the default.
static HINTS: &[(&str, ControlHint)] = &[
    ("unroll", ControlHint::Unroll),
    ("dont_unroll", ControlHint::DontUnroll),
    ("loop", ControlHint::DontUnroll),
    ("flatten", ControlHint::Flatten),
    ("dont_flatten", ControlHint::DontFlatten),
    ("branch", ControlHint::DontFlatten),
];

/// Limit of the arms of an `if` chain. In the IR each `else` nests one level deeper.
const LONGEST_CHAIN: usize = 500;

impl Sema<'_> {
    pub fn statements(&mut self, b: &mut Builder<'_>, list: List<StmtId>) {
        let ast = self.ast;
        for id in &ast[list] {
            self.statement(b, *id);
        }
    }

    pub fn statement(&mut self, b: &mut Builder<'_>, id: StmtId) {
        let stmt = self.ast[id];
        b.span = stmt.span;
        if matches!(stmt.kind, StmtKind::Decl(_)) {
            return self.statement_in(b, &stmt);
        }
        let around = std::mem::replace(&mut b.scope, stmt.span);
        self.statement_in(b, &stmt);
        b.scope = around;
    }

    fn statement_in(&mut self, b: &mut Builder<'_>, stmt: &ast::Stmt) {
        match stmt.kind {
            StmtKind::Empty => {}
            StmtKind::Expr(expr) => {
                self.lower(b, expr);
            }
            StmtKind::Decl(decl) => {
                let decl = self.ast[decl];
                self.local_variables(b, &decl);
            }
            StmtKind::Compound(list) => self.scoped(|sema| sema.statements(b, list)),
            StmtKind::If { arms, otherwise } => {
                let hint = self.hint(stmt.attributes);
                self.if_chain(b, arms, otherwise, hint);
            }
            StmtKind::Switch { selector, body } => self.switch(b, selector, body, stmt),
            StmtKind::Case(_) | StmtKind::Default => {
                self.error(Code::BAD_STATEMENT, stmt.span, "a label outside a `switch`", "not in a switch");
            }
            StmtKind::While { .. } | StmtKind::DoWhile { .. } | StmtKind::For { .. } => self.loop_statement(b, stmt),
            StmtKind::Break | StmtKind::Continue => self.jump(b, stmt),
            StmtKind::Return(value) => self.return_statement(b, value, stmt.span),
            StmtKind::Discard => self.end_fragment(b, stmt, None),
            StmtKind::Demote => self.end_fragment(b, stmt, Some("GL_EXT_demote_to_helper_invocation")),
            StmtKind::TerminateInvocation => self.end_fragment(b, stmt, Some("GL_EXT_terminate_invocation")),
            StmtKind::IgnoreIntersection => {
                self.end_hit(b, "ignoreIntersectionEXT", Ending::IgnoreIntersection, stmt.span)
            }
            StmtKind::TerminateRay => self.end_hit(b, "terminateRayEXT", Ending::TerminateRay, stmt.span),
        }
    }

    /// `discard;` and its kin, for which an extension may be needed.
    fn end_fragment(&mut self, b: &mut Builder<'_>, stmt: &ast::Stmt, extension: Option<&str>) {
        if self.env.stage != Stage::Fragment {
            let message = "`discard`, `demote` and `terminateInvocation` belong to fragment shaders";
            self.error(Code::BAD_STATEMENT, stmt.span, message, "not in this stage");
            return;
        }
        if let Some(extension) = extension.filter(|extension| !self.env.is_enabled(extension)) {
            let message = format!("this statement needs the extension {extension}");
            let note = format!("add `#extension {extension} : require`");
            self.report(Diagnostic::error(Code::MISSING_EXTENSION, message).at(stmt.span, "used here").note(note));
            return;
        }
        match stmt.kind {
            StmtKind::Demote => b.demote(),
            _ => b.discard(),
        }
    }

    /// Runs `act` in a separate scope.
    pub fn scoped<R>(&mut self, act: impl FnOnce(&mut Self) -> R) -> R {
        self.scopes.enter();
        let result = act(self);
        self.scopes.leave();
        result
    }

    pub fn hint(&mut self, attributes: List<ast::Attribute>) -> ControlHint {
        let mut hint = ControlHint::None;
        for attribute in &self.ast[attributes] {
            let name = self.text(attribute.name.symbol);
            if let Some((_, known)) = HINTS.iter().find(|(known, _)| *known == name) {
                hint = *known;
                if !self.env.is_enabled("GL_EXT_control_flow_attributes") {
                    self.needs_extension("this attribute needs", "GL_EXT_control_flow_attributes", attribute.name.span);
                }
            }
        }
        hint
    }

    /// All arms of an `if` chain; each `else` nests one level deeper in the IR, but not on this stack.
    fn if_chain(&mut self, b: &mut Builder<'_>, arms: List<IfArm>, otherwise: Option<StmtId>, hint: ControlHint) {
        let ast = self.ast;
        if let Some(arm) = ast[arms].get(LONGEST_CHAIN) {
            let message = format!("more than {LONGEST_CHAIN} arms in one `if` chain");
            self.error(Code::TOO_DEEP, ast[arm.condition].span, message, "one too many");
            return;
        }
        let mut open: SmallVec<[_; 2]> = SmallVec::new();
        for (index, arm) in ast[arms].iter().enumerate() {
            if index > 0 {
                b.push_block();
            }
            let condition = self.condition(b, arm.condition);
            let then = self.nested(b, arm.body);
            open.push((condition, then, ast[arm.condition].span));
        }
        let mut last = match otherwise {
            Some(id) => self.nested(b, id),
            None => b.block(|_| {}),
        };
        while let Some((condition, then, span)) = open.pop() {
            b.span = span;
            let condition = condition.unwrap_or_else(|| b.const_bool(false));
            b.if_(condition, then, last, hint);
            if !open.is_empty() {
                last = b.pop_block();
            }
        }
    }

    /// A statement as a separate block and scope.
    pub fn nested(&mut self, b: &mut Builder<'_>, id: StmtId) -> crate::ir::BlockId {
        b.push_block();
        self.scoped(|sema| sema.statement(b, id));
        b.pop_block()
    }

    /// A scalar bool.
    pub fn condition(&mut self, b: &mut Builder<'_>, expr: ExprId) -> Option<Value> {
        let value = self.value(b, expr)?;
        let ty = b.type_of(value);
        if ty == Types::BOOL {
            return Some(value);
        }
        let name = self.type_name(b, ty);
        let span = self.ast[expr].span;
        let diagnostic = Diagnostic::error(Code::TYPE_MISMATCH, "a condition is a `bool`");
        let help = match self.ast[expr].kind {
            ExprKind::Assign { op: None, .. } => "`=` assigns; `==` compares",
            _ => "compare it with a value, as in `x != 0`",
        };
        self.report(diagnostic.at(span, format!("this is `{name}`")).help(help));
        None
    }

    /// The condition of a loop, which may declare a variable.
    pub fn loop_condition(&mut self, b: &mut Builder<'_>, condition: &Condition) -> Option<Value> {
        let decl = match condition {
            Condition::Expr(expr) => return self.condition(b, *expr),
            Condition::Decl(decl) => self.ast[*decl],
        };
        self.local_variables(b, &decl);
        let ast::DeclKind::Variables { declarators, .. } = decl.kind else { return None };
        let name = self.ast[declarators].first()?.name;
        let lvalue = match &self.scopes.get(name.symbol)?.entity {
            Entity::LValue(lvalue) => lvalue.clone(),
            Entity::Value(value) => return Some(*value),
            _ => return None,
        };
        let loaded = super::memory::load(b, &lvalue, name.span);
        let value = self.check(loaded)?;
        if b.type_of(value) != Types::BOOL {
            self.error(Code::TYPE_MISMATCH, name.span, "a condition is a `bool`", "not a `bool`");
            return None;
        }
        Some(value)
    }

    fn jump(&mut self, b: &mut Builder<'_>, stmt: &ast::Stmt) {
        let (allowed, word, around) = match stmt.kind {
            StmtKind::Break => (self.breakable > 0, "break", "a loop or a switch"),
            _ => (self.continuable > 0, "continue", "a loop"),
        };
        if !allowed {
            self.error(Code::BAD_STATEMENT, stmt.span, format!("`{word}` outside {around}"), "nothing to leave");
        } else if matches!(stmt.kind, StmtKind::Break) {
            b.break_();
        } else {
            b.continue_();
        }
    }

    fn return_statement(&mut self, b: &mut Builder<'_>, value: Option<ExprId>, span: Span) {
        let wanted = self.return_type;
        self.returns = true;
        match value {
            None if wanted == Types::VOID => b.ret(None),
            None => {
                let name = self.type_name(b, wanted);
                self.error(Code::TYPE_MISMATCH, span, format!("this function returns a `{name}`"), "no value");
                self.returned(b, None);
            }
            Some(expr) if wanted == Types::VOID => {
                let message = Diagnostic::error(Code::TYPE_MISMATCH, "a `void` function returns no value");
                self.report(message.at(self.ast[expr].span, "this value"));
            }
            Some(expr) => {
                let value = self.value(b, expr);
                let value = value.and_then(|value| self.coerce(b, value, wanted, self.ast[expr].span));
                b.span = span;
                self.returned(b, value);
            }
        }
    }

    /// Returns a value; an arbitrary one if it is wrong, so that the path still ends.
    fn returned(&self, b: &mut Builder<'_>, value: Option<Value>) {
        let value = value.unwrap_or_else(|| b.undef(self.return_type));
        b.ret(Some(value));
    }
}
