//! The translation of one function body, with the values of naga's expressions.
//!
//! naga evaluates an expression where an `Emit` statement covers it; literals, constants and variables need none. A
//! pointer is represented by a [`PointerPath`] (root and indices), so that it costs nothing until memory is touched.
//! Expressions of a loop's body that its `continuing` block uses go through variables, because `ir` gives the two
//! blocks separate scopes.

use super::memory::PointerPath;
use super::port::Output;
use super::{Failure, Outcome, Shader};
use crate::diagnostic::Code;
use crate::ir::{self, Builder, Param, TypeId, Types, Value};
use crate::source::Span;
use naga::valid::FunctionInfo;
use naga::{Arena, Expression, Handle};
use rustc_hash::FxHashMap;

/// Limit of overrides that are computed from each other, because this needs recursion.
const DEEPEST: u32 = 128;

/// The translation of an expression.
#[derive(Clone)]
pub(super) enum Slot {
    Value(Value),
    Pointer(PointerPath),
}

/// The translation of a naga function parameter.
pub(super) type Argument = Slot;

/// The origin of a body.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    pub function: &'a naga::Function,
    pub info: &'a FunctionInfo,
    /// The function to look up in the carriers.
    pub key: super::super::carrier::FunctionKey,
}

/// The translation of one function, or of the module's constant expressions.
pub(super) struct Body<'s, 'a, 'm> {
    pub shader: &'s mut Shader<'a>,
    pub b: Builder<'m>,
    pub origin: Option<Origin<'a>>,
    pub expressions: &'a Arena<Expression>,
    pub arguments: Vec<Argument>,
    pub locals: Vec<Value>,
    /// An invocation can become a helper here.
    pub demotes: bool,
    /// The outputs that a `return` writes, in an entry point.
    pub outputs: Vec<Output>,
    slots: Vec<Option<Slot>>,
    /// Cached values of module-scope expressions, while an expression that uses them is evaluated.
    computed: FxHashMap<Handle<Expression>, Value>,
    /// Nesting depth of module-scope expressions during evaluation.
    depth: u32,
    /// Variables for expressions of a loop's body that its `continuing` block uses.
    spills: FxHashMap<Handle<Expression>, Option<Value>>,
}

impl<'s, 'a, 'm> Body<'s, 'a, 'm> {
    /// For the body of a function; the caller adds arguments, then [`Body::run`]s it.
    pub(super) fn new(
        shader: &'s mut Shader<'a>,
        out: &'m mut ir::Module,
        origin: Origin<'a>,
        span: Span,
        params: Vec<Param>,
        ret: TypeId,
    ) -> Self {
        let name = origin.function.name.as_deref().unwrap_or("main");
        let b = Builder::new(out, name, span, params, ret);
        let expressions = &origin.function.expressions;
        let slots = vec![None; expressions.len()];
        let (arguments, locals, outputs) = (Vec::new(), Vec::new(), Vec::new());
        let (computed, spills) = (FxHashMap::default(), FxHashMap::default());
        Body {
            shader,
            b,
            origin: Some(origin),
            expressions,
            arguments,
            locals,
            demotes: false,
            outputs,
            slots,
            computed,
            depth: 0,
            spills,
        }
    }

    /// For expressions at module scope, which fold to constants.
    pub(super) fn constants(shader: &'s mut Shader<'a>, out: &'m mut ir::Module) -> Self {
        let b = Builder::new(out, "constants", Span::NONE, Vec::new(), Types::VOID);
        let expressions = &shader.naga.global_expressions;
        let (arguments, locals, outputs) = (Vec::new(), Vec::new(), Vec::new());
        let (computed, spills) = (FxHashMap::default(), FxHashMap::default());
        Body {
            shader,
            b,
            origin: None,
            expressions,
            arguments,
            locals,
            demotes: false,
            outputs,
            slots: Vec::new(),
            computed,
            depth: 0,
            spills,
        }
    }

    /// Translates the variables and the statements of the function.
    pub(super) fn run(&mut self) -> Outcome<()> {
        let Some(origin) = self.origin else { return Ok(()) };
        for (handle, _) in origin.function.local_variables.iter() {
            self.local_variable(origin.function, handle)?;
        }
        self.block(&origin.function.body)?;
        self.return_as_helper(origin.function)
    }

    /// naga treats `discard` as the end of a function. Helper invocations continue and must return a value, which is
    /// unused.
    fn return_as_helper(&mut self, function: &'a naga::Function) -> Outcome<()> {
        let Some(result) = function.result.as_ref().filter(|_| self.demotes && !self.b.is_terminated()) else {
            return Ok(());
        };
        let ty = self.shader.logical(self.b.module, result.ty)?;
        let zero = self.b.zero(ty);
        self.b.ret(if self.outputs.is_empty() { Some(zero) } else { None });
        Ok(())
    }

    /// A variable starts as its initialiser, or zero (WGSL 7.3); a value computed from overrides is stored at the
    /// start.
    fn local_variable(&mut self, function: &'a naga::Function, handle: Handle<naga::LocalVariable>) -> Outcome<()> {
        let var = &function.local_variables[handle];
        self.b.span = self.shader.span(function.local_variables.get_span(handle));
        let ty = self.shader.logical(self.b.module, var.ty)?;
        let init = match var.init {
            Some(init) => self.value(init)?,
            None => self.b.zero(ty),
        };
        let name = var.name.as_deref().unwrap_or("");
        let local = match init {
            Value::Const(init) => self.b.variable(name, ty, Some(init)),
            _ => {
                let local = self.b.variable(name, ty, None);
                self.b.store(local, init);
                local
            }
        };
        self.locals.push(local);
        Ok(())
    }

    pub(super) fn expression_span(&self, of: Handle<Expression>) -> naga::Span {
        self.expressions.get_span(of)
    }

    /// Fails with "not supported yet" at an expression.
    pub(super) fn unsupported(&self, what: &str, at: Handle<Expression>) -> Failure {
        self.shader.unsupported(what, self.expression_span(at))
    }

    /// A state that naga's validator rules out.
    pub(super) fn unexpected(&self, what: &str, at: naga::Span) -> Failure {
        let message = format!("naga's module holds {what} where none can be");
        self.shader.fail(Code::INTERNAL, message, at, "met here")
    }

    /// Stores the value of an expression.
    pub(super) fn set(&mut self, of: Handle<Expression>, slot: Slot) {
        if let (Some(home), Slot::Value(value)) = (self.spills.get(&of).copied(), &slot) {
            self.spill(of, home, *value);
        }
        self.slots[of.index()] = Some(slot);
    }

    fn spill(&mut self, of: Handle<Expression>, home: Option<Value>, value: Value) {
        let home = home.unwrap_or_else(|| {
            let ty = self.b.type_of(value);
            self.b.local("", ty, None)
        });
        self.b.store(home, value);
        self.spills.insert(of, Some(home));
    }

    /// Requests variables for these expressions, from their next evaluation on.
    pub(super) fn spill_all(&mut self, of: &[Handle<Expression>]) {
        self.spills.extend(of.iter().map(|handle| (*handle, None)));
    }

    /// Forgets the values of expressions that a `continuing` block reads back from their variables.
    pub(super) fn reload_all(&mut self, of: &[Handle<Expression>]) {
        for handle in of {
            let home = self.spills.remove(handle).flatten();
            self.slots[handle.index()] = home.map(|home| Slot::Value(self.b.load(home)));
        }
    }

    /// The translation of an expression, evaluated now if it needs no `Emit`.
    pub(super) fn slot(&mut self, of: Handle<Expression>) -> Outcome<Slot> {
        if let Some(Some(known)) = self.slots.get(of.index()) {
            return Ok(known.clone());
        }
        let slot = self.evaluate(of)?;
        if matches!(slot, Slot::Value(Value::Const(_))) && of.index() < self.slots.len() {
            self.slots[of.index()] = Some(slot.clone());
        }
        Ok(slot)
    }

    /// Evaluates a module-scope expression here, because SPIR-V cannot compute floats from specialization constants.
    pub(super) fn module_scope(&mut self, of: Handle<Expression>) -> Outcome<Value> {
        if let Some(known) = self.computed.get(&of) {
            return Ok(*known);
        }
        if self.depth == DEEPEST {
            let what = format!("a chain of more than {DEEPEST} overrides");
            return Err(self.unsupported(&what, of));
        }
        let globals = &self.shader.naga.global_expressions;
        let outermost = !std::ptr::eq(self.expressions, globals);
        let expressions = std::mem::replace(&mut self.expressions, globals);
        let slots = std::mem::take(&mut self.slots);
        self.depth += 1;
        let value = self.value(of);
        self.depth -= 1;
        (self.expressions, self.slots) = (expressions, slots);
        match (&value, outermost) {
            (Ok(value), false) => drop(self.computed.insert(of, *value)),
            _ => self.computed.clear(),
        }
        value
    }

    pub(super) fn value(&mut self, of: Handle<Expression>) -> Outcome<Value> {
        match self.slot(of)? {
            Slot::Value(value) => Ok(value),
            Slot::Pointer(_) => Err(self.unexpected("a pointer", self.expression_span(of))),
        }
    }

    pub(super) fn path(&mut self, of: Handle<Expression>) -> Outcome<PointerPath> {
        match self.slot(of)? {
            Slot::Pointer(path) => Ok(path),
            Slot::Value(_) => Err(self.unexpected("a value", self.expression_span(of))),
        }
    }

    /// The number that an expression is, if it is a constant integer.
    pub(super) fn constant_int(&mut self, of: Handle<Expression>) -> Outcome<Option<i128>> {
        let Value::Const(id) = self.value(of)? else { return Ok(None) };
        Ok(self.b.module.constants.as_int(&self.b.module.types, id))
    }
}
