//! Control flow: the language has all constructs of the typed form except code between the iterations of a loop.

use super::exits::Around;
use super::expr::{Expr, Level};
use super::function::Body;
use super::tree::{Arm, Kind, Stmt};
use crate::ir::{self, BlockId, Case, Cases, ControlHint, Inst, Op, ScalarKind, Types, Value};

impl Body<'_, '_> {
    /// An instruction that moves control.
    pub fn control(&mut self, inst: &Inst) -> Option<Expr> {
        let language = self.t.language;
        match inst.op {
            Op::If { condition, then, otherwise, hint } => {
                return self.conditional(condition, [then, otherwise], inst.ty, hint);
            }
            Op::Loop { body, continuing, break_if, hint } => self.repeat(body, continuing, break_if, hint),
            Op::Switch { selector, cases, hint } => self.switch(selector, cases, hint),
            Op::Break => self.line("break".to_string()),
            Op::Continue => self.line("continue".to_string()),
            Op::Return(value) => self.return_from(value),
            Op::Yield(value) => self.give(value),
            Op::Discard => language.discard(self),
            Op::Demote => language.demote(self),
            Op::Unreachable => self.leave(),
            Op::End(..) => self.t.unsupported("shaders that end so"),
            _ => self.t.internal("an instruction that it does not know"),
        }
        None
    }

    /// Returns from the function with any value: nothing comes here.
    pub fn leave(&mut self) {
        let value = (self.f.ret != Types::VOID).then(|| self.t.zero(self.f.ret).text);
        self.leave_with(value);
    }

    fn hint(&mut self, hint: ControlHint) -> &'static str {
        let language = self.t.language;
        language.hint(self, hint)
    }

    fn conditional(
        &mut self,
        condition: Value,
        blocks: [BlockId; 2],
        ty: ir::TypeId,
        hint: ControlHint,
    ) -> Option<Expr> {
        let condition = self.value(condition);
        let hint = self.hint(hint);
        if ty == Types::VOID {
            let after = self.jumps_after(blocks);
            let arms = blocks.map(|block| self.arm_of(block));
            self.select_and_jump(condition, arms, after, hint);
            return None;
        }
        let [mut then, mut otherwise] = blocks.map(|block| {
            self.yields.push(None);
            let code = self.arm_of(block);
            (code, self.yields.pop().flatten())
        });
        // Where the arms do nothing but compute, it is an expression.
        if let ((first, Some(accept)), (second, Some(reject))) = (&then, &otherwise)
            && first.is_empty()
            && second.is_empty()
        {
            return Some(chosen(&condition, accept, reject));
        }
        let name = self.named("chosen");
        let (base, dims) = self.t.declared(ty);
        self.push(Kind::Define { ty: base, name: name.clone(), dims, value: None });
        for (code, value) in [&mut then, &mut otherwise] {
            if let Some(value) = value {
                let text = format!("{name} = {};", value.text);
                code.push(Stmt { origin: self.origin, kind: Kind::Line(text) });
            }
        }
        self.push(Kind::If { condition, then: then.0, otherwise: otherwise.0, hint });
        Some(Expr::primary(name))
    }

    fn give(&mut self, value: Value) {
        let value = self.value(value);
        match self.yields.last_mut() {
            Some(slot) => *slot = Some(value),
            None => self.t.internal("a value of no selection"),
        }
    }

    fn repeat(&mut self, body: BlockId, continuing: BlockId, break_if: Option<Value>, hint: ControlHint) {
        let hint = self.hint(hint);
        let counter = self.counter();
        let continues = self.continues(body);
        let returns = self.raises_returns(&[body, continuing], true);
        self.around.push(Around::Loop);
        let mut code = self.block_of(body);
        let mut ends = None;
        let after = self.within(|inner| {
            inner.statements_of(continuing);
            ends = break_if.map(|value| inner.value(value));
        });
        self.around.pop();
        match (steps_of(&after), ends) {
            // The steps between two iterations fit the head of the loop.
            (Some(steps), None) => {
                let condition = take_condition(&mut code);
                let first = if steps.is_empty() { None } else { counter.and_then(|name| self.take_counter(&name)) };
                if let Some([_, name, _]) = first.as_deref().filter(|_| self.t.language.ends_counters()) {
                    self.names.release(name);
                }
                self.push(Kind::For { first, condition: condition.map(|c| c.text), steps, body: code, hint });
            }
            (Some(steps), Some(ends)) if steps.is_empty() => {
                self.push(Kind::Do { body: code, condition: ends.not().text, hint });
            }
            (_, ends) => {
                let end = ends.map(|ends| self.leaving(ends));
                let between = after.into_iter().chain(end);
                let body = match continues {
                    true => self.resumed(code, between.collect()),
                    false => code.into_iter().chain(between).collect(),
                };
                self.push(Kind::For { first: None, condition: None, steps: Vec::new(), body, hint });
            }
        }
        if returns {
            self.go_on_returning();
        }
    }

    /// The variable that the statement before the current loop declares, where nothing but the loop uses it. Declarations
    /// without a value may come between.
    fn counter(&self) -> Option<String> {
        let (local, name) = self.declared.as_ref()?;
        let (_, before) = last_given(self.blocks.last()?)?;
        let Kind::Define { name: last, dims, value: Some(_), .. } = &before.kind else { return None };
        let place = self.current.and_then(|id| self.uses.place(id))?;
        let is_it = last == name && dims.is_empty() && self.uses.is_only_in(*local, place);
        is_it.then(|| name.clone())
    }

    /// Takes the declaration of a variable that the last statement is, for the head of a loop.
    fn take_counter(&mut self, counter: &str) -> Option<Box<[String; 3]>> {
        let block = self.blocks.last_mut()?;
        let (at, declaration) = last_given(block)?;
        match &declaration.kind {
            Kind::Define { ty, name, value: Some(value), .. } if name == counter => {
                let first = Box::new([ty.clone(), name.clone(), value.clone()]);
                block.remove(at);
                Some(first)
            }
            _ => None,
        }
    }

    /// The body of a loop with a flag that tells the first turn from the others, before which `between` runs.
    fn resumed(&mut self, body: Vec<Stmt>, between: Vec<Stmt>) -> Vec<Stmt> {
        let again = self.named("again");
        let value = Some("false".to_string());
        self.push(Kind::Define { ty: "bool".to_string(), name: again.clone(), dims: String::new(), value });
        let raised = format!("{again} = true;");
        let first = Kind::If { condition: Expr::primary(again), then: between, otherwise: Vec::new(), hint: "" };
        let origin = self.origin;
        [first, Kind::Line(raised)].into_iter().map(|kind| Stmt { origin, kind }).chain(body).collect()
    }

    fn statements_of(&mut self, block: BlockId) {
        let code = self.block_of(block);
        match self.blocks.last_mut() {
            Some(open) => open.extend(code),
            None => self.setup.extend(code),
        }
    }

    fn leaving(&self, condition: Expr) -> Stmt {
        let then = vec![Stmt { origin: self.origin, kind: Kind::Line("break;".to_string()) }];
        Stmt { origin: self.origin, kind: Kind::If { condition, then, otherwise: Vec::new(), hint: "" } }
    }

    /// Returns true if a loop's body goes on with the next turn before its end.
    fn continues(&self, block: BlockId) -> bool {
        let f = self.f;
        f.blocks[block].insts.iter().any(|id| match f.insts[*id].op {
            Op::Continue => true,
            Op::If { then, otherwise, .. } => self.continues(then) || self.continues(otherwise),
            Op::Switch { cases, .. } => f.arms(cases).iter().any(|arm| self.continues(arm.body)),
            _ => false,
        })
    }

    fn switch(&mut self, selector: Value, cases: Cases, hint: ControlHint) {
        let hint = self.hint(hint);
        let f = self.f;
        let arms: &[Case] = f.arms(cases);
        let Some((scalar, _)) = self.shape_of(selector) else { return self.t.internal("a switch over such a value") };
        if scalar.width != 32 {
            return self.t.unsupported("switches over such integers");
        }
        let language = self.t.language;
        let (ty, value) = (self.type_of(selector), self.value(selector));
        let selector = language.selector(self.t, &value, ty);
        let bodies: Vec<BlockId> = arms.iter().map(|arm| arm.body).collect();
        let returns = self.raises_returns(&bodies, false);
        self.around.push(Around::Switch);
        let label = |value: u64| match scalar.kind {
            ScalarKind::Sint => format!("case {}", value as i32),
            _ => format!("case {}u", value as u32),
        };
        let made: Vec<Arm> = arms
            .iter()
            .enumerate()
            .map(|(at, arm)| {
                let mut labels: Vec<String> = arm.values.iter().map(|value| label(*value)).collect();
                labels.extend(arm.default.then(|| "default".to_string()));
                let mut body = self.block_of(arm.body);
                let falls = arm.falls_through && at + 1 < arms.len();
                if !falls && !body.last().is_some_and(Stmt::jumps) {
                    body.push(Stmt { origin: self.origin, kind: Kind::Line("break;".to_string()) });
                }
                Arm { labels, body }
            })
            .filter(|arm| !arm.labels.is_empty())
            .collect();
        self.around.pop();
        if !made.is_empty() {
            self.push(Kind::Switch { selector, arms: made, hint });
        }
        if returns {
            self.go_on_returning();
        }
    }
}

/// The last statement of a block that is no declaration without a value.
fn last_given(block: &[Stmt]) -> Option<(usize, &Stmt)> {
    block.iter().enumerate().rev().find(|(_, stmt)| !matches!(stmt.kind, Kind::Define { value: None, .. }))
}

/// A choice as `&&`, `||` or `?:`.
fn chosen(condition: &Expr, accept: &Expr, reject: &Expr) -> Expr {
    match (accept.text.as_str(), reject.text.as_str()) {
        (_, "false") => Expr::binary("&&", Level::LogicalAnd, condition, accept),
        ("true", _) => Expr::binary("||", Level::LogicalOr, condition, reject),
        _ => Expr::choice(condition, accept, reject),
    }
}

/// The statements as expressions that a loop's head takes; none where some are more.
fn steps_of(code: &[Stmt]) -> Option<Vec<String>> {
    const MOST: usize = 3;
    let step = |stmt: &Stmt| match &stmt.kind {
        Kind::Line(text) if !text.contains('{') && !stmt.jumps() => Some(text.trim_end_matches(';').to_string()),
        _ => None,
    };
    if code.len() > MOST { None } else { code.iter().map(step).collect() }
}

/// Takes the selection that a body begins with where all it does is leave the loop; the condition of going on.
fn take_condition(code: &mut Vec<Stmt>) -> Option<Expr> {
    let is_break = |block: &[Stmt]| matches!(block, [Stmt { kind: Kind::Line(text), .. }] if text == "break;");
    let Stmt { kind: Kind::If { condition, then, otherwise, hint: "" }, .. } = code.first()? else { return None };
    let goes_on = match (then.as_slice(), otherwise.as_slice()) {
        ([], other) if is_break(other) => condition.clone(),
        (first, []) if is_break(first) => condition.not(),
        _ => return None,
    };
    code.remove(0);
    Some(goes_on)
}
