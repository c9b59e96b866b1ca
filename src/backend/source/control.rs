//! Control flow: the language has all constructs of the typed form except code between the iterations of a loop.

use super::exits::Around;
use super::expr::{Expr, Level};
use super::function::Body;
use super::tree::{Arm, Declared, Kind, Stmt};
use crate::ir::{self, BlockId, Case, Cases, ControlHint, Inst, Op, Types, Value};

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
            Op::Continue => self.go_on(),
            Op::Return(value) => self.return_from(value),
            Op::Yield(value) => self.give(value),
            Op::Discard => language.discard(self),
            Op::Demote => language.demote(self),
            Op::Unreachable => self.leave(),
            Op::End(ending, args) => language.end(self, ending, args),
            _ => self.t.internal("an instruction that it does not know"),
        }
        None
    }

    /// Returns an arbitrary value from the function: this is unreachable.
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
        // If the arms only compute, it is an expression.
        if let ((first, Some(accept)), (second, Some(reject))) = (&then, &otherwise)
            && first.is_empty()
            && second.is_empty()
            && self.t.language.picks(self.t, ty)
        {
            return Some(self.as_expression(&condition, accept, reject));
        }
        let name = self.named("chosen");
        let (base, dims) = self.t.declared(ty);
        self.push(Kind::Define(Declared { ty: base, name: name.clone(), dims, value: None, is_fixed: false }));
        for (code, value) in [&mut then, &mut otherwise] {
            if let Some(value) = value {
                let text = format!("{name} = {};", value.text);
                code.push(Stmt::new(self.origin, Kind::Line(text)));
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
        if break_if.is_none() && !self.t.language.has_endless_loops() && !super::exits::leaves_loop(self.f, body) {
            self.t.lacks("loops that never end");
        }
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
        match (steps_of(&after, self.t.language.most_steps()), ends) {
            // The steps between two iterations fit the head of the loop.
            (Some(steps), None) => {
                let condition = take_condition(&mut code);
                let first = if steps.is_empty() { None } else { counter.and_then(|name| self.take_counter(&name)) };
                if let Some(first) = first.as_deref().filter(|_| self.t.language.ends_counters()) {
                    self.names.release(&first.name);
                }
                self.push(Kind::For { first, condition: condition.map(|c| c.text), steps, body: code, hint });
            }
            (Some(steps), Some(ends)) if steps.is_empty() => {
                self.push(Kind::Do { body: code, ends, hint });
            }
            (_, ends) if self.t.language.has_continuing() => {
                self.push(Kind::Loop { body: code, between: after, ends });
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

    /// A choice as `&&`, `||` or `?:`.
    fn as_expression(&self, condition: &Expr, accept: &Expr, reject: &Expr) -> Expr {
        match (accept.text.as_str(), reject.text.as_str()) {
            (_, "false") => Expr::binary("&&", Level::LogicalAnd, condition, accept),
            ("true", _) => Expr::binary("||", Level::LogicalOr, condition, reject),
            _ => self.t.language.picked([condition, accept, reject].map(Clone::clone)),
        }
    }

    /// The variable that is declared directly before the current loop, if only the loop uses it. Declarations without a
    /// value may follow it.
    fn counter(&self) -> Option<String> {
        let (local, name) = self.declared.as_ref()?;
        let (_, before) = last_given(self.blocks.last()?)?;
        let Kind::Define(Declared { name: last, dims, value: Some(_), .. }) = &before.kind else { return None };
        let place = self.current.and_then(|id| self.uses.place(id))?;
        let is_it = last == name && dims.is_empty() && self.uses.is_only_in(*local, place);
        is_it.then(|| name.clone())
    }

    /// Takes the declaration of a variable that the last statement is, for the head of a loop.
    pub fn take_counter(&mut self, counter: &str) -> Option<Box<Declared>> {
        let block = self.blocks.last_mut()?;
        let (at, declaration) = last_given(block)?;
        match &declaration.kind {
            Kind::Define(declared) if declared.name == counter && declared.value.is_some() => {
                let first = Box::new(declared.clone());
                block.remove(at);
                Some(first)
            }
            _ => None,
        }
    }

    /// The body of a loop with a flag for the first iteration; `between` runs before every other iteration.
    fn resumed(&mut self, body: Vec<Stmt>, between: Vec<Stmt>) -> Vec<Stmt> {
        let again = self.named("again");
        let value = Some("false".to_string());
        let (ty, name) = ("bool".to_string(), again.clone());
        self.push(Kind::Define(Declared { ty, name, dims: String::new(), value, is_fixed: false }));
        let raised = format!("{again} = true;");
        let first = Kind::If { condition: Expr::primary(again), then: between, otherwise: Vec::new(), hint: "" };
        let origin = self.origin;
        [first, Kind::Line(raised)].into_iter().map(|kind| Stmt::new(origin, kind)).chain(body).collect()
    }

    fn statements_of(&mut self, block: BlockId) {
        let code = self.block_of(block);
        match self.blocks.last_mut() {
            Some(open) => open.extend(code),
            None => self.setup.extend(code),
        }
    }

    fn leaving(&self, condition: Expr) -> Stmt {
        let then = vec![Stmt::new(self.origin, Kind::Line("break;".to_string()))];
        Stmt::new(self.origin, Kind::If { condition, then, otherwise: Vec::new(), hint: "" })
    }

    /// Returns true if a loop's body continues with the next iteration before its end.
    pub fn continues(&self, block: BlockId) -> bool {
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
        if !language.falls_through() {
            return self.parted_switch(selector, (value, scalar), arms);
        }
        let bodies: Vec<BlockId> = arms.iter().map(|arm| arm.body).collect();
        let returns = self.raises_returns(&bodies, false);
        self.around.push(Around::Switch);
        let made: Vec<Arm> = arms
            .iter()
            .enumerate()
            .map(|(at, arm)| {
                let labels = super::arms::labels_of(arm, scalar);
                let mut body = self.block_of(arm.body);
                let falls = arm.falls_through && at + 1 < arms.len();
                if !falls && !body.last().is_some_and(Stmt::jumps) {
                    body.push(Stmt::new(self.origin, Kind::Line("break;".to_string())));
                }
                Arm { labels, body, falls }
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

/// The last statement of a block, ignoring declarations without a value.
fn last_given(block: &[Stmt]) -> Option<(usize, &Stmt)> {
    let is_given = |stmt: &Stmt| !matches!(stmt.kind, Kind::Define(Declared { value: None, .. }));
    block.iter().enumerate().rev().find(|(_, stmt)| is_given(stmt))
}

/// The statements as expressions for a loop's header; `None` if any is not an expression.
fn steps_of(code: &[Stmt], most: usize) -> Option<Vec<String>> {
    let step = |stmt: &Stmt| match &stmt.kind {
        Kind::Line(text) if !text.contains('{') && !stmt.jumps() => Some(text.trim_end_matches(';').to_string()),
        _ => None,
    };
    if code.len() > most { None } else { code.iter().map(step).collect() }
}

/// Removes the selection at the start of a body if it only exits the loop; returns the condition for continuing.
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
