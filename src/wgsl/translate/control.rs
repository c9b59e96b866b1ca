//! Statements and control flow.

use super::Outcome;
use super::function::{Body, Slot};
use super::texture::Texel;
use crate::ir::{BlockId, Case, ControlHint};
use naga::{Block, Expression, Handle, Statement, SwitchCase, SwitchValue};

impl<'a> Body<'_, 'a, '_> {
    pub(super) fn block(&mut self, block: &'a Block) -> Outcome<()> {
        for (statement, span) in block.span_iter() {
            self.b.span = self.shader.span(*span);
            self.statement(statement, *span)?;
        }
        Ok(())
    }

    fn nested(&mut self, block: &'a Block) -> Outcome<BlockId> {
        self.b.push_block();
        self.block(block)?;
        Ok(self.b.pop_block())
    }

    fn statement(&mut self, statement: &'a Statement, at: naga::Span) -> Outcome<()> {
        match statement {
            Statement::Emit(range) => range.clone().try_for_each(|handle| self.emit(handle)),
            Statement::Block(block) => self.block(block),
            Statement::If { condition, accept, reject } => self.if_else(*condition, accept, reject),
            Statement::Switch { selector, cases } => self.switch(*selector, cases),
            Statement::Loop { body, continuing, break_if } => self.repeat(body, continuing, *break_if),
            Statement::Break => self.leave(|body| body.b.break_()),
            Statement::Continue => self.leave(|body| body.b.continue_()),
            // WGSL 9.4.8: the invocation continues as a helper.
            Statement::Kill => self.leave(|body| {
                body.demotes = true;
                body.b.demote();
            }),
            Statement::ImageStore { image, coordinate, array_index, value } => {
                self.store_texel(*image, &Texel::at(*coordinate, *array_index), *value)
            }
            Statement::ImageAtomic { image, coordinate, array_index, fun, value } => {
                self.texel_atomic(*image, &Texel::at(*coordinate, *array_index), *fun, *value)
            }
            Statement::Return { value } => self.return_value(*value),
            Statement::Store { pointer, value } => self.store(*pointer, *value),
            Statement::Call { function, arguments, result } => self.call(*function, arguments, *result, at),
            Statement::Atomic { pointer, fun, value, result } => self.atomic(*pointer, *fun, *value, *result),
            Statement::WorkGroupUniformLoad { pointer, result } => self.uniform_load(*pointer, *result),
            Statement::ControlBarrier(barrier) => self.leave(|body| body.control_barrier(*barrier)),
            _ => self.lane_statement(statement, at),
        }
    }

    fn leave(&mut self, how: impl FnOnce(&mut Self)) -> Outcome<()> {
        how(self);
        Ok(())
    }

    /// Evaluates an expression at the point where naga does.
    fn emit(&mut self, handle: Handle<Expression>) -> Outcome<()> {
        self.b.span = self.shader.span(self.expression_span(handle));
        if self.through(handle).is_some() {
            return Ok(());
        }
        let slot = match self.carrier_at(handle)? {
            Some(value) => Slot::Value(value),
            None => self.evaluate(handle)?,
        };
        self.set(handle, slot);
        Ok(())
    }

    fn return_value(&mut self, value: Option<Handle<Expression>>) -> Outcome<()> {
        let value = value.map(|of| self.value(of)).transpose()?;
        match value.filter(|_| !self.outputs.is_empty()) {
            Some(value) => {
                self.give_outputs(value);
                self.b.ret(None);
            }
            None => self.b.ret(value),
        }
        Ok(())
    }

    fn if_else(&mut self, condition: Handle<Expression>, accept: &'a Block, reject: &'a Block) -> Outcome<()> {
        let condition = self.value(condition)?;
        let span = self.b.span;
        let (then, otherwise) = (self.nested(accept)?, self.nested(reject)?);
        self.b.span = span;
        self.b.if_(condition, then, otherwise, ControlHint::None);
        Ok(())
    }

    /// naga writes `case 1, 2:` as an empty case 1 that falls through into case 2.
    fn switch(&mut self, selector: Handle<Expression>, cases: &'a [SwitchCase]) -> Outcome<()> {
        let selector = self.value(selector)?;
        let span = self.b.span;
        let mut arms = Vec::new();
        let (mut values, mut default) = (Vec::new(), false);
        for case in cases {
            match case.value {
                SwitchValue::I32(value) => values.push(u64::from(value as u32)),
                SwitchValue::U32(value) => values.push(u64::from(value)),
                SwitchValue::Default => default = true,
            }
            if case.fall_through && case.body.is_empty() {
                continue;
            }
            let body = self.nested(&case.body)?;
            arms.push(Case { values: std::mem::take(&mut values), default, body, falls_through: case.fall_through });
            default = false;
        }
        self.b.span = span;
        self.b.switch(selector, arms, ControlHint::None);
        Ok(())
    }

    fn repeat(&mut self, body: &'a Block, continuing: &'a Block, break_if: Option<Handle<Expression>>) -> Outcome<()> {
        let span = self.b.span;
        let shared = match self.origin {
            Some(origin) => {
                let hidden = super::super::carrier::Within { carriers: self.shader.carriers, function: origin.key };
                super::super::uses::shared_values(self.expressions, &hidden, body, continuing, break_if)
            }
            None => Vec::new(),
        };
        self.spill_all(&shared);
        let body = self.nested(body)?;
        self.b.push_block();
        self.reload_all(&shared);
        self.block(continuing)?;
        let break_if = break_if.map(|of| self.value(of)).transpose()?;
        let continuing = self.b.pop_block();
        self.b.span = span;
        self.b.loop_(body, continuing, break_if, ControlHint::None);
        Ok(())
    }
}
