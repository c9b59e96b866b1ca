//! Functions: frames, variables, and calls, which are replaced by the callee's body.

use super::analyze::{Root, is_large};
use super::body::{InlineFrame, Operand};
use super::pointer::{MemoryRef, Pointer};
use super::shape::Extent;
use super::{Lower, Scalars};
use crate::diagnostic::Code;
use crate::ir::{self, FuncId, Function, InstId, Local, LocalId, TypeId, Values};
use crate::kernel::{MemorySpace, Op, PrivateVariable};

impl<'m> Lower<'m> {
    /// Lowers the entry point: module-scope variables, then its body.
    pub fn entry_point(&mut self, id: FuncId) {
        self.declare_globals();
        self.declare_helper();
        self.enter(id, Vec::new());
        self.frame().outermost = true;
        let body = self.module.functions[id].body;
        self.initialize();
        self.read_inputs();
        if self.block(body) {
            self.end_invocation();
        }
        self.frames.pop();
        self.b.kernel.sort_images();
    }

    /// Ends the invocation, after writing its outputs.
    pub fn end_invocation(&mut self) {
        self.write_outputs();
        self.b.effect(Op::Return, &[]);
    }

    /// Enters a function: its variables get slots or memory, and their initial values.
    fn enter(&mut self, id: FuncId, params: Vec<Operand>) {
        let function: &'m Function = &self.module.functions[id];
        let facts = self.facts.get(id);
        let scalars = self.shapes.scalars(function.ret);
        let undefined = self.undefined(&scalars);
        let result = (self.vars.add(&undefined), undefined.len());
        let results = vec![None; function.insts.len()];
        let mut frame = InlineFrame {
            function,
            facts,
            params,
            locals: Vec::with_capacity(function.locals.len()),
            results,
            result,
            scope: None,
            outermost: false,
            open: Vec::new(),
            yielded: Scalars::new(),
        };
        for (at, local) in function.locals.iter() {
            let pointer = self.local(&frame, at, local);
            frame.locals.push(pointer);
        }
        self.frames.push(frame);
    }

    /// A variable of a function that is being entered.
    fn local(&mut self, frame: &InlineFrame<'m>, at: LocalId, local: &Local) -> Pointer {
        self.b.span = local.span;
        if !frame.facts.is_memory(Root::Local(at)) && !is_large(&mut self.shapes, local.ty) {
            return self.slots(local.ty, local.init);
        }
        let Some(memory) = self.private(local.ty) else { return Pointer::None };
        if let Some(init) = local.init {
            let values = self.shapes.values(&mut self.b.kernel, init);
            self.store_memory(memory, &values);
        }
        Pointer::Memory(memory)
    }

    /// A variable in SSA form.
    pub fn slots(&mut self, ty: TypeId, init: Option<ir::ConstId>) -> Pointer {
        let values = match init {
            Some(init) => self.shapes.values(&mut self.b.kernel, init),
            None => {
                let scalars = self.shapes.scalars(ty);
                self.undefined(&scalars)
            }
        };
        Pointer::Slots { first: self.vars.add(&values), ty }
    }

    /// A variable in private memory, until its function ends.
    pub fn private(&mut self, ty: TypeId) -> Option<MemoryRef> {
        let extent = self.known_extent(ty)?;
        let start = self.private_top.checked_next_multiple_of(extent.align);
        let end = start.and_then(|start| start.checked_add(extent.size));
        let Some((start, end)) = start.zip(end).filter(|(_, end)| *end <= PRIVATE_LIMIT) else {
            self.stop("the variables of an invocation need too much memory");
            return None;
        };
        self.private_top = end;
        let number = self.b.kernel.private.len() as u32;
        self.b.kernel.private.push(PrivateVariable { start, bytes: extent.size, align: extent.align });
        self.b.kernel.private_bytes = self.b.kernel.private_bytes.max(end);
        Some(MemoryRef::new(MemorySpace::Private(number), start, ty))
    }

    /// Bytes of a variable's memory. Reports a length that specialization has made impossible.
    pub fn known_extent(&mut self, ty: TypeId) -> Option<Extent> {
        let extent = self.shapes.extent(ty);
        match self.shapes.lacks(ty) {
            _ if extent.is_some() => {}
            _ if self.shapes.types.is_valueless(ty) => self.not_yet("ray queries"),
            Some(what) => self.stop_without(what),
            None => self.refuse(Code::BAD_SETTING, "an array has a length here that is impossible"),
        }
        extent
    }

    /// Inlines a call. Returns false if the function never returns.
    pub fn call(&mut self, inst: InstId, callee: FuncId, args: Values) -> bool {
        let (span, flags) = (self.b.span, self.b.flags);
        self.check_size(self.module.functions[callee].ret);
        let params = self.list(args).iter().map(|arg| self.operand(*arg)).collect();
        let top = self.private_top;
        self.enter(callee, params);
        let returns = self.inlined_body();
        let (first, count) = self.frame().result;
        self.frames.pop();
        self.private_top = top;
        (self.b.span, self.b.flags) = (span, flags);
        let values = self.vars.range(first, count).into();
        self.give(inst, Operand::Values(values));
        returns
    }

    /// The body of a function, in a scope if it returns early.
    fn inlined_body(&mut self) -> bool {
        let body = self.frame().function.body;
        if !self.frame().facts.returns_early {
            return self.block(body);
        }
        let scope = self.open_scope();
        self.frame().scope = Some(scope);
        let falls = self.block(body);
        match self.frame().scope.take() {
            Some(scope) => self.close_scope(scope, falls),
            None => falls,
        }
    }
}

/// Bytes of private memory that an invocation may have.
const PRIVATE_LIMIT: u32 = 1 << 24;
