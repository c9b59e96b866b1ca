//! Rules of bodies: every block is used once, terminators are last, values are visible at their uses, and jumps are
//! inside the constructs that they leave.

use super::{Check, VerifyError, ensure};
use crate::ir::depth::DEPTH_LIMIT;
use crate::ir::print::type_name;
use crate::ir::{
    BlockId, Case, Cases, ConstId, FuncId, Function, Inst, InstId, Module, Op, Scalar, Space, Type, TypeId, Types,
    Value, Values,
};
use rustc_hash::FxHashSet;

/// Checks a function; returns the functions that it calls.
pub fn check(module: &Module, types: &mut Types, id: FuncId, errors: &mut Vec<VerifyError>) -> Vec<usize> {
    let function = &module.functions[id];
    let mut body = Body {
        module,
        types,
        function,
        visible: vec![false; function.insts.len()],
        placed: vec![false; function.insts.len()],
        seen: vec![false; function.blocks.len()],
        scope: Vec::new(),
        depth: 0,
        calls: Vec::new(),
        errors,
        id,
    };
    body.function();
    body.calls
}

/// A function under inspection.
pub(super) struct Body<'v> {
    pub module: &'v Module,
    pub types: &'v mut Types,
    pub function: &'v Function,
    /// Instructions whose results may be used here.
    visible: Vec<bool>,
    /// Instructions that are already in a block.
    placed: Vec<bool>,
    /// Blocks that have been visited.
    seen: Vec<bool>,
    /// The visible values, in the order in which they became visible.
    scope: Vec<InstId>,
    depth: usize,
    /// Functions that it calls.
    pub calls: Vec<usize>,
    errors: &'v mut Vec<VerifyError>,
    id: FuncId,
}

/// The jumps that the constructs around a block allow.
#[derive(Clone, Copy)]
struct Around {
    breaks: bool,
    continues: bool,
    returns: bool,
    /// Type of the `If` that takes this block's `Yield`.
    yields: Option<TypeId>,
}

/// The exits of a block.
#[derive(Clone, Copy, Default)]
struct Exit {
    /// At its end.
    falls: bool,
    /// Leaves by a `Break` to the enclosing construct.
    breaks: bool,
}

impl<'v> Body<'v> {
    fn function(&mut self) {
        if let Err(message) = self.signature() {
            return self.fail(message, self.function.span);
        }
        let around = Around { breaks: false, continues: false, returns: true, yields: None };
        let exit = self.block(self.function.body, around, None);
        if exit.falls && self.function.ret != Types::VOID {
            self.fail("control reaches the end without a value".to_owned(), self.function.span);
        }
    }

    fn signature(&mut self) -> Check {
        let known = self.types.len();
        let function = self.function;
        ensure!(function.ret.index() < known, "its result type does not exist");
        ensure!(!matches!(self.types.get(function.ret), Type::Pointer { .. }), "it returns a pointer");
        ensure!(function.params.iter().all(|param| param.ty.index() < known), "a parameter's type does not exist");
        ensure!(function.params.iter().all(|param| param.ty != Types::VOID), "a parameter is void");
        for (_, local) in function.locals.iter() {
            ensure!(local.ty.index() < known, "the type of `{}` does not exist", local.name);
            let check = super::check_memory(self.types, Space::Function, local.ty);
            check.map_err(|message| format!("variable `{}`: {message}", local.name))?;
            let Some(init) = local.init else { continue };
            ensure!(self.constant_type(init)? == local.ty, "the initial value of `{}` is of another type", local.name);
        }
        Ok(())
    }

    fn fail(&mut self, message: String, span: crate::source::Span) {
        let message = format!("function `{}`: {message}", self.function.name);
        self.errors.push(VerifyError { message, span, function: Some(self.id) });
    }

    /// Walks a block. `condition` is a value that is used at its end: a loop's `break_if`.
    fn block(&mut self, id: BlockId, around: Around, condition: Option<Value>) -> Exit {
        match self.seen.get(id.index()) {
            None => self.fail(format!("block {id:?} does not exist"), self.function.span),
            Some(true) => self.fail(format!("block {id:?} is used twice"), self.function.span),
            Some(false) if self.depth == DEPTH_LIMIT => {
                self.fail(format!("blocks are nested deeper than {DEPTH_LIMIT}"), self.function.span);
            }
            Some(false) => {
                self.seen[id.index()] = true;
                self.depth += 1;
                let exit = self.instructions(id, around, condition);
                self.depth -= 1;
                return exit;
            }
        }
        Exit::default()
    }

    fn instructions(&mut self, id: BlockId, around: Around, condition: Option<Value>) -> Exit {
        let start = self.scope.len();
        let function = self.function;
        let insts = &function.blocks[id].insts;
        let mut exit = Exit { falls: true, breaks: false };
        for (at, id) in insts.iter().enumerate() {
            let Some(inst) = function.insts.get(*id) else {
                self.fail(format!("instruction {id:?} does not exist"), function.span);
                continue;
            };
            if inst.op.is_terminator() && at + 1 < insts.len() {
                self.fail(format!("{:?} is not the last of its block", inst.op), inst.span);
            }
            let nested = self.instruction(*id, inst, around);
            exit = Exit { falls: exit.falls && nested.falls, breaks: exit.breaks || nested.breaks };
        }
        if let Some(condition) = condition {
            let check = self.bool_value(condition).map_err(|message| format!("break_if: {message}"));
            check.unwrap_or_else(|message| self.fail(message, function.span));
        }
        for id in self.scope.drain(start..) {
            self.visible[id.index()] = false;
        }
        exit
    }

    fn instruction(&mut self, id: InstId, inst: &Inst, around: Around) -> Exit {
        if std::mem::replace(&mut self.placed[id.index()], true) {
            self.fail(format!("instruction {id:?} is in two places"), inst.span);
            return Exit { falls: true, breaks: false };
        }
        let check = match inst.ty.index() < self.types.len() {
            true => self.operation(inst),
            false => Err("its type does not exist".to_owned()),
        };
        if let Err(message) = check {
            self.fail(format!("{:?}: {message}", inst.op), inst.span);
        }
        let exit = self.flow(inst, around);
        self.visible[id.index()] = inst.ty != Types::VOID;
        self.scope.push(id);
        exit
    }

    fn flow(&mut self, inst: &Inst, around: Around) -> Exit {
        let gone = Exit::default();
        match inst.op {
            Op::If { then, otherwise, .. } => self.branches(inst, then, otherwise, around),
            Op::Loop { body, continuing, break_if, .. } => {
                let inside = Around { breaks: true, continues: true, yields: None, ..around };
                let exit = self.block(body, inside, None);
                let end = Around { breaks: false, continues: false, returns: false, yields: None };
                self.block(continuing, end, break_if);
                Exit { falls: exit.breaks || break_if.is_some(), breaks: false }
            }
            Op::Switch { cases, .. } => self.arms(inst, cases, around),
            Op::Break => {
                self.require(around.breaks, inst, "there is nothing here to break out of");
                Exit { falls: false, breaks: true }
            }
            Op::Continue => {
                self.require(around.continues, inst, "there is nothing here to continue");
                gone
            }
            Op::Return(_) | Op::Discard | Op::End(..) => {
                self.require(around.returns, inst, "a loop's continuing block cannot end the function");
                gone
            }
            Op::Yield(value) => {
                let found = self.value(value).ok();
                self.require(around.yields.is_some() && around.yields == found, inst, "no `If` here takes this value");
                gone
            }
            Op::Unreachable => gone,
            _ => Exit { falls: true, breaks: false },
        }
    }

    fn require(&mut self, condition: bool, inst: &Inst, message: &str) {
        if !condition {
            self.fail(format!("{:?}: {message}", inst.op), inst.span);
        }
    }

    fn branches(&mut self, inst: &Inst, then: BlockId, otherwise: BlockId, around: Around) -> Exit {
        let yields = (inst.ty != Types::VOID).then_some(inst.ty);
        let inside = Around { yields, ..around };
        let exits = [then, otherwise].map(|block| {
            let exit = self.block(block, inside, None);
            let last = self.function.blocks.get(block).and_then(|block| block.insts.last().copied());
            let op = last.and_then(|id| self.function.insts.get(id)).map(|inst| inst.op);
            let has_value = matches!(op, Some(Op::Yield(_)));
            self.require(yields.is_none() || has_value, inst, "a branch gives no value");
            exit
        });
        let [then, otherwise] = exits;
        Exit { falls: yields.is_some() || then.falls || otherwise.falls, breaks: then.breaks || otherwise.breaks }
    }

    fn arms(&mut self, inst: &Inst, cases: Cases, around: Around) -> Exit {
        let function = self.function;
        let range = cases.start as usize..cases.start as usize + cases.len as usize;
        let Some(arms) = function.cases.get(range) else {
            self.fail("a switch's arms do not exist".to_owned(), inst.span);
            return Exit { falls: true, breaks: false };
        };
        let labels = check_labels(arms);
        labels.unwrap_or_else(|message| self.fail(message, inst.span));
        let inside = Around { breaks: true, yields: None, ..around };
        let mut leaves = !arms.iter().any(|arm| arm.default);
        for (at, arm) in arms.iter().enumerate() {
            let exit = self.block(arm.body, inside, None);
            let goes_on = arm.falls_through && at + 1 < arms.len();
            leaves |= exit.breaks || (exit.falls && !goes_on);
        }
        Exit { falls: leaves, breaks: false }
    }

    // Queries of the rules.

    /// Type of an operand that may be used here.
    pub fn value(&mut self, value: Value) -> Result<TypeId, String> {
        match value {
            Value::Inst(id) => {
                ensure!(self.visible.get(id.index()) == Some(&true), "{value:?} is not visible here");
                Ok(self.function.insts[id].ty)
            }
            Value::Const(id) => self.constant_type(id),
            Value::Param(index) => {
                let param = self.function.params.get(index as usize);
                Ok(param.ok_or_else(|| format!("there is no parameter {index}"))?.ty)
            }
            Value::Global(id) => {
                let global = self.module.globals.get(id).ok_or_else(|| format!("there is no variable {id:?}"))?;
                Ok(self.types.pointer(global.space, global.ty))
            }
            Value::Local(id) => {
                let local = self.function.locals.get(id).ok_or_else(|| format!("there is no local {id:?}"))?;
                Ok(self.types.pointer(Space::Function, local.ty))
            }
        }
    }

    fn constant_type(&self, id: ConstId) -> Result<TypeId, String> {
        ensure!(id.index() < self.module.constants.len(), "there is no constant {id:?}");
        Ok(self.module.constants.get(id).ty)
    }

    /// The operands of a list.
    pub fn list(&self, list: Values) -> Result<&'v [Value], String> {
        let range = list.start as usize..list.start as usize + list.len as usize;
        self.function.operands.get(range).ok_or_else(|| "its operands do not exist".to_owned())
    }

    pub fn list_types(&mut self, list: Values) -> Result<Vec<TypeId>, String> {
        self.list(list)?.iter().map(|value| self.value(*value)).collect()
    }

    /// Scalar type and number of components of a scalar or vector.
    pub fn shape(&self, ty: TypeId) -> Result<(Scalar, u8), String> {
        match self.types.get(ty) {
            Type::Scalar(scalar) => Ok((scalar, 1)),
            Type::Vector { scalar, size } => Ok((scalar, size)),
            _ => Err(format!("{} is not a scalar or vector", self.name(ty))),
        }
    }

    /// The scalar of a type with arithmetic.
    pub fn number(&self, ty: TypeId) -> Result<Scalar, String> {
        let computes = self.types.components(ty).is_some() || self.types.cooperative(ty).is_some();
        let scalar = self.types.number_of(ty).filter(|_| computes);
        scalar.ok_or_else(|| format!("{} is not a scalar or vector", self.name(ty)))
    }

    pub fn name(&self, ty: TypeId) -> String {
        type_name(self.types, ty)
    }

    pub fn expect(&self, found: TypeId, expected: TypeId) -> Check {
        ensure!(found == expected, "{} instead of {}", self.name(found), self.name(expected));
        Ok(())
    }

    pub fn bool_value(&mut self, value: Value) -> Check {
        let ty = self.value(value)?;
        self.expect(ty, Types::BOOL)
    }

    /// An integer scalar, such as an index.
    pub fn int_value(&mut self, value: Value) -> Check {
        let ty = self.value(value)?;
        let is_int = matches!(self.types.get(ty), Type::Scalar(scalar) if scalar.is_int());
        ensure!(is_int, "{} is not an integer", self.name(ty));
        Ok(())
    }
}

/// Labels are unique, and there is at most one default.
fn check_labels(arms: &[Case]) -> Check {
    let mut seen = FxHashSet::default();
    for value in arms.iter().flat_map(|arm| &arm.values) {
        ensure!(seen.insert(*value), "the case {value} is there twice");
    }
    ensure!(arms.iter().filter(|arm| arm.default).count() <= 1, "there are two defaults");
    Ok(())
}
