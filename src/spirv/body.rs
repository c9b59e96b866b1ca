//! Function bodies: what the ids in them mean, and where they may be used.
//!
//! In `ir` a value is visible in its block and the blocks in it, in SPIR-V wherever its block dominates. A body is read
//! until no value is used outside of its block: a value that is gets a variable in the next round, and a pointer or a
//! resource is computed again where it is used.

use super::binary::Insn;
use super::control::Construct;
use super::fault::Read;
use super::flow::{Flow, flow};
use super::module::{Place, Reader};
use super::types::Shape;
use crate::ir::{Builder, FuncId, Function, InstFlags, Module, Param, Space, Type, TypeId, Types, Value};
use crate::lane::LaneOp;
use crate::limits;
use rspirv::spirv::{Decoration, Op, StorageClass, Word};
use rustc_hash::{FxHashMap, FxHashSet};

/// How a function gets an argument.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Given {
    /// As its parameter.
    Param,
    /// As its parameter, which is the resource that the argument points to.
    Resource,
    /// As this variable of the module.
    Variable(Value),
}

/// A function of the module, for one way to give it arguments.
#[derive(Clone, Debug)]
pub struct Instance {
    pub id: FuncId,
    pub function: Word,
    pub given: Vec<Given>,
}

/// What a round has found out for the next one.
#[derive(Clone, Default)]
pub struct Wanted {
    /// Values that need variables.
    pub kept: FxHashSet<Word>,
    /// Merge blocks of loops that are left from inside a switch.
    pub left: FxHashSet<Word>,
}

impl Wanted {
    fn len(&self) -> usize {
        self.kept.len() + self.left.len()
    }
}

/// Pointers to resources computed again within each other.
const MOST_AGAIN: u32 = 32;

/// A function body that is being read.
pub struct Body<'a, 'm, 'w> {
    pub r: &'a mut Reader<'w>,
    pub b: Builder<'m>,
    pub flow: &'a Flow<'w>,
    /// Values with the block of `ir` that they are in.
    values: FxHashMap<Word, (Value, usize)>,
    /// Pointers to built-in inputs that are cross-lane operations, or to a component of one.
    pub facts: FxHashMap<Word, (LaneOp, Option<Value>)>,
    /// Pointers into blocks of built-in variables: the variable of the block, and indices before the member.
    pub blocks_of_members: FxHashMap<Word, (Word, Vec<Value>)>,
    /// Pointers to texels: the image's pointer, the coordinate, and the sample.
    pub texels: FxHashMap<Word, [Word; 3]>,
    /// The open blocks of `ir`, and for each one there was whether it is open.
    scopes: Vec<usize>,
    open: Vec<bool>,
    pub wanted: &'a mut Wanted,
    keepers: FxHashMap<Word, Value>,
    pub phis: FxHashMap<Word, Value>,
    pub stack: Vec<Construct>,
    pub visited: FxHashSet<Word>,
    pub reached: FxHashSet<Word>,
    /// The case that the arm being read falls through to.
    pub fallen: Option<Word>,
    /// The condition on which the loop's continuing block ends the loop.
    pub break_if: Option<Value>,
    /// Variables that are true once their loop is left.
    pub leaving: FxHashMap<Word, Value>,
    pub depth: usize,
    again: u32,
}

impl<'w> Reader<'w> {
    /// The function of `ir` for a function of the module and a way to give it arguments. It is read later.
    pub fn instance(&mut self, m: &mut Module, insn: &Insn<'_>, function: Word, given: Vec<Given>) -> Read<FuncId> {
        limits::spend(self.functions.len());
        if let Some(known) = self.declared(|known| known.function == function && known.given == given) {
            return Ok(known);
        }
        let code = *self.code.get(&function).ok_or_else(|| insn.wrong(format!("%{function} is not a function")))?;
        let head = self.insns[code.first];
        let Shape::Function { ret, params } = self.ty(&head, head.arg(1)?)?.shape.clone() else {
            return Err(head.wrong("its type is not the type of a function"));
        };
        if ret != head.ty {
            return Err(head.wrong("its result is not the one of its type"));
        }
        let ret = self.value_type(m, &head, ret)?;
        if matches!(m.types.get(ret), Type::Pointer { .. }) {
            return Err(head.unread("functions that return pointers are not read"));
        }
        let names: Vec<Insn<'w>> = self.insns[code.first + 1..code.end].iter().take(params.len()).copied().collect();
        let mut taken = Vec::new();
        for ((ty, insn), given) in params.iter().zip(names).zip(&given) {
            let ty = match given {
                Given::Param => self.value_type(m, &insn, *ty)?,
                Given::Resource => self.resource(&insn, *ty)?,
                Given::Variable(_) => continue,
            };
            taken.push(Param { name: self.name(insn.id).into(), span: self.span(insn.line), ty, is_out: false });
        }
        let name = match self.entries.iter().find(|entry| entry.function == function) {
            Some(_) => String::from("main"),
            None => Some(self.name(function)).filter(|name| !name.is_empty()).unwrap_or(format!("function_{function}")),
        };
        let id = m.functions.push(Function::new(&name, self.span(head.line), taken, ret));
        self.functions.push(Instance { id, function, given });
        Ok(id)
    }

    /// The type of the resource that a type points to.
    fn resource(&self, insn: &Insn<'_>, id: Word) -> Read<TypeId> {
        match &self.ty(insn, id)?.shape {
            Shape::Pointer { pointee, .. } => Ok(self.ty(insn, *pointee)?.logical),
            _ => Err(insn.wrong("it is not a pointer")),
        }
    }

    /// Reads the body of a declared function.
    pub fn read_body(&mut self, m: &mut Module, instance: &Instance) -> Read<()> {
        let code = self.code[&instance.function];
        let flow = flow(&self.insns, code)?;
        let head = self.insns[code.first];
        if flow.blocks.is_empty() {
            return Err(head.unread("functions of other modules are not read"));
        }
        let mut wanted = Wanted::default();
        loop {
            let before = wanted.len();
            let declared = &m.functions[instance.id];
            let (name, params, ret) = (declared.name.clone(), declared.params.clone(), declared.ret);
            let b = Builder::new(m, &name, self.span(head.line), params, ret);
            let mut body = Body::new(self, b, &flow, &mut wanted);
            body.enter(&head, &instance.given)?;
            body.walk(&head, flow.entry)?;
            body.b.finish_into(Some(instance.id));
            if wanted.len() == before {
                return Ok(());
            }
        }
    }
}

impl<'a, 'm, 'w> Body<'a, 'm, 'w> {
    fn new(r: &'a mut Reader<'w>, b: Builder<'m>, flow: &'a Flow<'w>, wanted: &'a mut Wanted) -> Body<'a, 'm, 'w> {
        Body {
            r,
            b,
            flow,
            values: FxHashMap::default(),
            facts: FxHashMap::default(),
            blocks_of_members: FxHashMap::default(),
            texels: FxHashMap::default(),
            scopes: vec![0],
            open: vec![true],
            wanted,
            keepers: FxHashMap::default(),
            phis: FxHashMap::default(),
            stack: Vec::new(),
            visited: FxHashSet::default(),
            reached: FxHashSet::default(),
            fallen: None,
            break_if: None,
            leaving: FxHashMap::default(),
            depth: 0,
            again: 0,
        }
    }

    /// Gives the parameters their meaning.
    fn enter(&mut self, head: &Insn<'w>, given: &[Given]) -> Read<()> {
        if self.flow.params.len() != given.len() {
            return Err(head.wrong("it does not have as many parameters as its type"));
        }
        let mut next = 0;
        for (param, given) in self.flow.params.iter().zip(given) {
            let value = match given {
                Given::Variable(value) => *value,
                Given::Param | Given::Resource => {
                    next += 1;
                    Value::Param(next - 1)
                }
            };
            self.values.insert(param.id, (value, 0));
        }
        Ok(())
    }

    /// Opens a block of `ir`.
    pub fn push(&mut self) {
        self.b.push_block();
        self.scopes.push(self.open.len());
        self.open.push(true);
    }

    /// Closes it.
    pub fn pop(&mut self) -> crate::ir::BlockId {
        if let Some(scope) = self.scopes.pop() {
            self.open[scope] = false;
        }
        self.b.pop_block()
    }

    /// How many blocks of `ir` are open.
    pub fn level(&self) -> usize {
        self.scopes.len()
    }

    /// Gives the result of an instruction its value.
    pub fn define(&mut self, insn: &Insn<'_>, value: Value) {
        let scope = self.scopes.last().copied().unwrap_or(0);
        self.values.insert(insn.id, (value, scope));
        if self.wanted.kept.contains(&insn.id) {
            let keeper = self.keeper(insn.id, value);
            self.b.store(keeper, value);
        }
    }

    /// The variable of a value that is used outside of its block.
    fn keeper(&mut self, id: Word, value: Value) -> Value {
        if let Some(known) = self.keepers.get(&id) {
            return *known;
        }
        let ty = self.b.type_of(value);
        let made = self.b.local(&self.r.name(id), ty, None);
        self.keepers.insert(id, made);
        made
    }

    /// The value of an id.
    pub fn value(&mut self, insn: &Insn<'w>, id: Word) -> Read<Value> {
        if let Some(id) = self.r.constants.get(&id) {
            return Ok(Value::Const(*id));
        }
        if let Some((value, scope)) = self.values.get(&id).copied() {
            let is_visible = self.open[scope] || !matches!(value, Value::Inst(_));
            return if is_visible { Ok(value) } else { self.value_from_elsewhere(insn, id, value) };
        }
        if self.r.variables.contains_key(&id) {
            return match self.r.place(self.b.module, insn, id)? {
                Place::Global(global) => Ok(Value::Global(global)),
                _ => Err(insn.unread(format!("the built-in variable %{id} is not read as a whole"))),
            };
        }
        match self.flow.made_by.get(&id) {
            Some(_) => Err(insn.wrong(format!("%{id} is used where it has no value"))),
            None => Err(insn.wrong(format!("%{id} is not a value"))),
        }
    }

    /// A value of a block that has been closed.
    fn value_from_elsewhere(&mut self, insn: &Insn<'w>, id: Word, value: Value) -> Read<Value> {
        let ty = self.b.type_of(value);
        if !can_be_kept(&self.b.module.types, ty) {
            return self.value_again(insn, id);
        }
        self.wanted.kept.insert(id);
        match self.keepers.get(&id) {
            Some(keeper) => Ok(self.b.load(*keeper)),
            None => Ok(self.b.undef(ty)),
        }
    }

    /// Computes a pointer or a resource again.
    fn value_again(&mut self, insn: &Insn<'w>, id: Word) -> Read<Value> {
        let maker = self.flow.made_by.get(&id).map(|index| self.r.insns[*index]);
        let is_pure = |op| {
            matches!(
                op,
                Op::AccessChain | Op::InBoundsAccessChain | Op::Load | Op::SampledImage | Op::Image | Op::CopyObject
            )
        };
        let Some(maker) = maker.filter(|maker| is_pure(maker.op) && self.again < MOST_AGAIN) else {
            return Err(insn.unread(format!("the use of %{id} outside of the construct that computes it is not read")));
        };
        self.again += 1;
        self.instruction(&maker)?;
        self.again -= 1;
        self.values.get(&id).map(|(value, _)| *value).ok_or_else(|| insn.wrong(format!("%{id} is not a value")))
    }

    pub fn values(&mut self, insn: &Insn<'w>, ids: &[Word]) -> Read<Vec<Value>> {
        ids.iter().map(|id| self.value(insn, *id)).collect()
    }

    /// A value of a scalar of `bool`.
    pub fn condition(&mut self, insn: &Insn<'w>, id: Word) -> Read<Value> {
        let value = self.value(insn, id)?;
        match self.b.type_of(value) == Types::BOOL {
            true => Ok(value),
            false => Err(insn.wrong(format!("%{id} is not a condition"))),
        }
    }

    /// The type of an instruction's result.
    pub fn result_type(&mut self, insn: &Insn<'_>) -> Read<TypeId> {
        self.r.value_type(self.b.module, insn, insn.ty)
    }

    /// The result, which must have the type that the instruction states.
    pub fn deliver(&mut self, insn: &Insn<'_>, value: Value) -> Read<()> {
        let ty = self.result_type(insn)?;
        match super::arithmetic::typed(&mut self.b, value, ty) {
            Ok(value) => self.define(insn, value),
            Err(message) => return Err(insn.wrong(message)),
        }
        Ok(())
    }

    /// Sets what the next instructions promise and allow.
    pub fn mark(&mut self, insn: &Insn<'_>) {
        self.b.span = self.r.span(insn.line);
        let mut flags = InstFlags::empty();
        if insn.id != 0 {
            flags.set(InstFlags::PRECISE, self.r.has(insn.id, Decoration::NoContraction));
            flags.set(InstFlags::RELAXED, self.r.has(insn.id, Decoration::RelaxedPrecision));
            flags.set(InstFlags::NON_UNIFORM, self.r.has(insn.id, Decoration::NonUniform));
        }
        self.b.flags = flags;
    }

    /// Calls a function.
    pub fn call(&mut self, insn: &Insn<'w>) -> Read<()> {
        let function = insn.arg(0)?;
        let code = self.r.code.get(&function).ok_or_else(|| insn.wrong(format!("%{function} is not a function")))?;
        let head = self.r.insns[code.first];
        let Shape::Function { params, .. } = self.r.ty(&head, head.arg(1)?)?.shape.clone() else {
            return Err(insn.wrong(format!("%{function} has no type of functions")));
        };
        if params.len() + 1 != insn.args.len() {
            return Err(insn.wrong("it does not have as many arguments as the function has parameters"));
        }
        let (mut given, mut args) = (Vec::new(), Vec::new());
        for (ty, id) in params.iter().zip(&insn.args[1..]) {
            let value = self.value(insn, *id)?;
            let how = self.given(insn, *ty, value)?;
            match how {
                Given::Param => args.push(value),
                Given::Resource => args.push(self.b.load(value)),
                Given::Variable(_) => {}
            }
            given.push(how);
        }
        let callee = self.r.instance(self.b.module, insn, function, given)?;
        for (index, arg) in args.iter().enumerate() {
            let wanted = self.b.module.functions[callee].params[index].ty;
            if self.b.type_of(*arg) != wanted {
                return Err(insn.wrong(format!("argument {index} has another type than the parameter")));
            }
        }
        let value = self.b.call(callee, &args);
        match self.b.type_of(value) == Types::VOID {
            true => Ok(()),
            false => self.deliver(insn, value),
        }
    }

    /// How an argument is given: memory that is not of the caller's call as itself, resources as values.
    fn given(&mut self, insn: &Insn<'w>, ty: Word, value: Value) -> Read<Given> {
        let Shape::Pointer { class, .. } = self.r.ty(insn, ty)?.shape else { return Ok(Given::Param) };
        let own = self.b.type_of(value);
        let space = self.b.module.types.pointee(own).map(|(space, _)| space);
        match (class, value) {
            (StorageClass::PhysicalStorageBuffer, _) => Ok(Given::Param),
            (StorageClass::UniformConstant, _) if space != Some(Space::Handle) => Ok(Given::Param),
            (StorageClass::UniformConstant, Value::Global(_)) => Ok(Given::Variable(value)),
            (StorageClass::UniformConstant, _) => Ok(Given::Resource),
            (StorageClass::Function, Value::Local(_) | Value::Param(_)) => Ok(Given::Param),
            (_, Value::Global(_)) if class != StorageClass::Function => Ok(Given::Variable(value)),
            _ => Err(insn.unread("arguments that point to a part of a variable are not read")),
        }
    }
}

/// Returns true if a variable can keep values of a type.
fn can_be_kept(types: &Types, ty: TypeId) -> bool {
    !types.holds(ty, |ty| {
        matches!(
            ty,
            Type::Void
                | Type::Pointer { .. }
                | Type::Image(_)
                | Type::Sampler
                | Type::SampledImage(_)
                | Type::AccelerationStructure
                | Type::AtomicCounter
                | Type::RayQuery
                | Type::HitObject { .. }
        )
    })
}
