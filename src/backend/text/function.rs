//! Function bodies: values of instructions, composites, conversions and calls.
//!
//! Set-up that dominates everything is written to a block of its own, which begins the function.

use super::entry::{Port, Ports, Stage};
use super::translator::{Translator, naga_span};
use super::types::{scalar_of, size_of};
use crate::ir::flow::DeadEnds;
use crate::ir::{
    self, BlockId, FuncId, Function, Inst, InstId, Scalar, ScalarKind, Space, Type, TypeId, Value, Values,
};
use crate::limits;
use crate::wgsl::operands as operands_of;
use naga::{Block, Expression, Handle, LocalVariable, Range, Statement, SwizzleComponent};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;

/// Expressions inside each other beyond which one becomes a variable: naga's writer, and readers of its text, take them by
/// recursion.
const DEEPEST: u32 = 128;

/// State of the function being written.
pub(super) struct Body<'t, 'a> {
    pub t: &'t mut Translator<'a>,
    pub f: &'a Function,
    pub id: FuncId,
    pub out: naga::Function,
    /// Set-up that the whole function sees.
    pub setup: Block,
    /// The blocks being written, the innermost last.
    pub blocks: Vec<Block>,
    /// How many expressions are inside each other in the text of each.
    depths: Vec<u32>,
    pub values: FxHashMap<Value, Handle<Expression>>,
    /// Places that are values: inputs that are arguments.
    pub direct: FxHashSet<Handle<Expression>>,
    /// Pointers that stand for columns of matrices which lie row by row: the matrix, and the column's number.
    pub columns: FxHashMap<Handle<Expression>, (Handle<Expression>, Value)>,
    pub locals: FxHashMap<ir::LocalId, Handle<LocalVariable>>,
    /// Inputs and outputs that the function and its callees use.
    pub uses: Ports,
    /// The stage's side of an entry point.
    pub stage: Option<Stage>,
    pub lane_setup: super::lane::Setup,
    /// Variables that take the values of the selections being written.
    pub yields: Vec<Option<Handle<Expression>>>,
    /// Inside a switch that is a loop: the variable that says that the loop around it goes on, once there is one.
    pub leaves_chain: Option<Option<Handle<Expression>>>,
    /// Switches inside that loop around the place being written.
    pub inner_switches: usize,
    ends: OnceCell<DeadEnds>,
}

impl<'a> Translator<'a> {
    /// Writes a function that is not an entry point.
    pub fn function(&mut self, id: FuncId) {
        let f = &self.module.functions[id];
        self.span = f.span;
        let mut body = Body::new(self, id, None);
        body.parameters();
        let (function, uses) = body.finish();
        let made = self.out.functions.append(function, naga_span(f.span));
        self.functions.insert(id, made);
        self.uses.insert(id, uses);
    }
}

impl<'t, 'a> Body<'t, 'a> {
    pub fn new(t: &'t mut Translator<'a>, id: FuncId, stage: Option<Stage>) -> Body<'t, 'a> {
        let f = &t.module.functions[id];
        let out = naga::Function { name: Some(f.name.to_string()), ..naga::Function::default() };
        Body {
            t,
            f,
            id,
            out,
            setup: Block::new(),
            blocks: Vec::new(),
            depths: Vec::new(),
            values: FxHashMap::default(),
            direct: FxHashSet::default(),
            columns: FxHashMap::default(),
            locals: FxHashMap::default(),
            uses: Ports::default(),
            stage,
            lane_setup: super::lane::Setup::default(),
            yields: Vec::new(),
            leaves_chain: None,
            inner_switches: 0,
            ends: OnceCell::new(),
        }
    }

    /// The blocks of the function at whose end nothing goes on.
    pub fn ends(&self) -> &DeadEnds {
        self.ends.get_or_init(|| DeadEnds::of(self.f))
    }

    fn parameters(&mut self) {
        for param in &self.f.params {
            self.t.span = param.span;
            let ty = match self.t.types.pointee(param.ty) {
                Some((Space::Function, pointee)) => {
                    let base = self.t.value_type(pointee);
                    self.t.add(None, naga::TypeInner::Pointer { base, space: naga::AddressSpace::Function })
                }
                Some(_) => {
                    self.t.unsupported("pointers to other memory than a function's own");
                    return;
                }
                None => self.t.value_type(param.ty),
            };
            let name = (!param.name.is_empty()).then(|| param.name.to_string());
            self.out.arguments.push(naga::FunctionArgument { name, ty, binding: None });
        }
        if self.f.ret != ir::Types::VOID {
            let ty = self.t.value_type(self.f.ret);
            self.out.result = Some(naga::FunctionResult { ty, binding: None });
        }
    }

    /// Writes the body; gives the function, and what it uses of the stage's inputs and outputs.
    pub fn finish(mut self) -> (naga::Function, Ports) {
        let mut code = self.nested(self.f.body);
        let mut setup = std::mem::take(&mut self.setup);
        self.prologue();
        self.setup.append(&mut setup);
        self.setup.append(&mut code);
        self.out.body = std::mem::take(&mut self.setup);
        (self.out, self.uses)
    }

    /// The code of a block of instructions.
    pub fn nested(&mut self, block: BlockId) -> Block {
        self.blocks.push(Block::new());
        self.block(block);
        self.blocks.pop().unwrap_or_default()
    }

    /// Collects the statements of `write` in a block of their own.
    pub fn within(&mut self, write: impl FnOnce(&mut Self)) -> Block {
        self.blocks.push(Block::new());
        write(self);
        self.blocks.pop().unwrap_or_default()
    }

    pub fn block(&mut self, block: BlockId) {
        let f = self.f;
        let is_barrier = |id: &InstId| matches!(f.insts[*id].op, ir::Op::Barrier { .. });
        for run in f.blocks[block].insts.chunk_by(|a, b| is_barrier(a) && is_barrier(b)) {
            if is_barrier(&run[0]) {
                self.barriers(run);
            } else {
                self.instruction(run[0], &f.insts[run[0]]);
            }
        }
    }

    /// Adds an expression that needs no statement.
    pub fn append(&mut self, expression: Expression) -> Handle<Expression> {
        let mut operands = Vec::new();
        operands_of(&expression, &mut operands);
        limits::spend(1 + operands.len());
        limits::hold::<Expression>(1);
        limits::hold::<Handle<Expression>>(operands.len());
        let deepest = operands.into_iter().map(|operand| self.depths[operand.index()]).max();
        self.depths.push(deepest.map_or(0, |depth| depth + 1));
        self.out.expressions.append(expression, self.t.here())
    }

    /// Adds an expression and computes it here.
    pub fn emit(&mut self, expression: Expression) -> Handle<Expression> {
        let is_place = matches!(expression, Expression::Access { .. } | Expression::AccessIndex { .. });
        let handle = self.append(expression);
        if self.depths[handle.index()] > DEEPEST && !is_place {
            self.out.named_expressions.insert(handle, "part".to_owned());
            self.depths[handle.index()] = 0;
        }
        self.statement(Statement::Emit(Range::new_from_bounds(handle, handle)));
        handle
    }

    pub fn statement(&mut self, statement: Statement) {
        limits::spend(1);
        limits::hold::<Statement>(1);
        let block = self.blocks.last_mut().unwrap_or(&mut self.setup);
        block.push(statement, self.t.here());
    }

    /// Reports a construct that is not written yet; the value that stands in for it.
    #[cold]
    pub fn nothing(&mut self, construct: &str) -> Handle<Expression> {
        self.t.unsupported(construct);
        self.u32(0)
    }

    /// Reports a construct that the language does not have; the value that stands in for it.
    #[cold]
    pub fn lacking(&mut self, construct: &str) -> Handle<Expression> {
        self.t.lacks(construct);
        self.u32(0)
    }

    /// Reports a module that breaks the rules of `ir`; the value that stands in for it.
    #[cold]
    pub fn broken(&mut self, found: &str) -> Handle<Expression> {
        self.t.internal(found);
        self.u32(0)
    }

    pub fn value(&mut self, value: Value) -> Handle<Expression> {
        if let Some(known) = self.values.get(&value) {
            return *known;
        }
        let made = match value {
            Value::Const(id) => return self.constant(id),
            Value::Inst(_) => return self.broken("a value before its instruction"),
            Value::Param(index) => self.append(Expression::FunctionArgument(index)),
            Value::Local(id) => {
                let local = self.local(id);
                self.append(Expression::LocalVariable(local))
            }
            Value::Global(id) if self.t.is_port(id) => return self.port(Port::Variable(id)),
            Value::Global(id) => {
                let global = self.t.global(id);
                self.append(Expression::GlobalVariable(global))
            }
        };
        self.values.insert(value, made);
        made
    }

    fn local(&mut self, id: ir::LocalId) -> Handle<LocalVariable> {
        if let Some(known) = self.locals.get(&id) {
            return *known;
        }
        let local = &self.f.locals[id];
        let ty = self.t.value_type(local.ty);
        let init = local.init.and_then(|init| {
            let known = self.t.global_constant(init);
            if known.is_none() {
                self.t.unsupported("variables that start with specialization constants, infinities or NaN");
            }
            known.map(|_| self.constant(init))
        });
        let name = if local.name.is_empty() { "variable".to_string() } else { local.name.to_string() };
        let made = self.new_local(&name, ty, init);
        self.locals.insert(id, made);
        made
    }

    /// Adds a variable of the function.
    pub fn new_local(
        &mut self,
        name: &str,
        ty: Handle<naga::Type>,
        init: Option<Handle<Expression>>,
    ) -> Handle<LocalVariable> {
        let local = LocalVariable { name: Some(name.to_string()), ty, init };
        self.out.local_variables.append(local, self.t.here())
    }

    /// A variable of the function for a value on its way, as a place.
    pub fn variable(&mut self, name: &str, ty: TypeId) -> Handle<Expression> {
        let ty = self.t.value_type(ty);
        let local = self.new_local(name, ty, None);
        self.append(Expression::LocalVariable(local))
    }

    pub fn list(&mut self, list: Values) -> Vec<Handle<Expression>> {
        let f = self.f;
        f.values(list).iter().map(|value| self.value(*value)).collect()
    }

    /// The type of an operand that is not a variable.
    pub fn type_of(&self, value: Value) -> Option<TypeId> {
        self.t.module.value_type(self.f, value)
    }

    /// The types of operands that are values.
    pub fn types_of(&self, list: Values) -> Vec<TypeId> {
        self.f.values(list).iter().map(|value| self.type_of(*value).unwrap_or(ir::Types::VOID)).collect()
    }

    /// Scalar and number of components of an operand that is a scalar or vector.
    pub fn shape_of(&self, value: Value) -> Option<(Scalar, u8)> {
        self.t.shape(self.type_of(value)?)
    }

    fn instruction(&mut self, id: InstId, inst: &Inst) {
        self.t.span = inst.span;
        let made = self.operation(id, inst);
        if let Some(made) = made {
            self.values.insert(Value::Inst(id), made);
        }
    }

    fn operation(&mut self, id: InstId, inst: &Inst) -> Option<Handle<Expression>> {
        use ir::Op as O;
        let ty = inst.ty;
        Some(match inst.op {
            O::Unary(op, a) => {
                let (of, a) = (self.type_of(a)?, self.value(a));
                self.unary(op, a, of)
            }
            O::Binary(op, a, b) => {
                let of = [self.type_of(a)?, self.type_of(b)?];
                let values = [self.value(a), self.value(b)];
                self.binary(op, values, of, ty)
            }
            O::Math(function, args) => {
                let (values, types) = (self.list(args), self.types_of(args));
                self.math_of(function, &values, &types, ty)
            }
            O::Convert(a) => {
                let (of, a) = (self.type_of(a)?, self.value(a));
                self.convert(a, of, ty)
            }
            O::Bitcast(a) => {
                let (of, a) = (self.type_of(a)?, self.value(a));
                self.bitcast(a, of, ty)
            }
            O::Select { condition, accept, reject } => self.select(condition, (accept, reject), ty),
            O::Construct(parts) => {
                let components = self.list(parts);
                self.compose(ty, components)
            }
            O::Splat(a) => {
                let (value, size) = (self.value(a), self.t.types.components(ty).unwrap_or(1));
                self.splat(value, size)
            }
            O::Extract { composite, index } => {
                let base = self.value(composite);
                let index = self.place_of(composite, index);
                self.emit(Expression::AccessIndex { base, index })
            }
            O::ExtractDynamic { composite, index } => {
                let (base, index) = (self.value(composite), self.value(index));
                self.emit(Expression::Access { base, index })
            }
            O::Insert { composite, index, part } => self.insert(composite, index, part, ty),
            O::InsertDynamic { composite, index, part } => {
                let index = self.value(index);
                self.insert_at(composite, part, ty, |body, base| body.emit(Expression::Access { base, index }))
            }
            O::Shuffle { a, b, mask } => self.shuffled((a, b), mask, ty),
            O::Access { base, indices } => self.access(base, indices),
            O::Load(pointer) => self.load(pointer),
            O::Store { pointer, value } => {
                self.store(pointer, value);
                return None;
            }
            O::ArrayLength { block } => self.array_length(block),
            O::Atomic { op, pointer, args, .. } => return self.atomic(op, pointer, args, ty),
            O::Image { op, parts, operands } => return self.image(op, parts, operands, ty),
            O::Lane(op, args) => return self.lane(id, op, args, ty),
            O::Call(callee, args) => return self.call(callee, args, ty),
            O::Ray { .. } => self.nothing("ray queries"),
            O::Cooperative(..) => self.nothing("cooperative matrices"),
            O::Foreign(..) => self.lacking("instructions of SPIR-V's own"),
            O::Interpolate { .. } => self.lacking("interpolation at another place"),
            O::Print { .. } => self.lacking("printing"),
            O::PixelDepth | O::PixelStencil => self.lacking("reads of the pixel"),
            O::Interlock { .. } => self.lacking("critical sections"),
            _ => return self.control(inst),
        })
    }

    /// The number of a member or component among those of the made type.
    fn place_of(&mut self, composite: Value, index: u32) -> u32 {
        let Some(ty) = self.type_of(composite) else { return index };
        match self.t.types.get(ty) {
            Type::Struct(_) => {
                let made = self.t.value_type(ty);
                self.t.members.get(&made).and_then(|places| places.get(index as usize)).copied().unwrap_or(index)
            }
            _ => index,
        }
    }

    pub fn compose(&mut self, ty: TypeId, components: Vec<Handle<Expression>>) -> Handle<Expression> {
        let ty = self.t.value_type(ty);
        self.emit(Expression::Compose { ty, components })
    }

    pub fn splat(&mut self, value: Handle<Expression>, size: u8) -> Handle<Expression> {
        match size {
            1 => value,
            _ => self.emit(Expression::Splat { size: size_of(size), value }),
        }
    }

    fn insert(&mut self, composite: Value, index: u32, part: Value, ty: TypeId) -> Handle<Expression> {
        if let Type::Vector { size, .. } = self.t.types.get(ty) {
            let (base, part) = (self.value(composite), self.value(part));
            let component = |body: &mut Self, n| match n == index {
                true => part,
                false => body.emit(Expression::AccessIndex { base, index: n }),
            };
            let components = (0..u32::from(size)).map(|n| component(self, n)).collect();
            return self.compose(ty, components);
        }
        let index = self.place_of(composite, index);
        self.insert_at(composite, part, ty, |body, base| body.emit(Expression::AccessIndex { base, index }))
    }

    /// Puts a part into a copy of a composite, through a variable.
    fn insert_at(
        &mut self,
        composite: Value,
        part: Value,
        ty: TypeId,
        place: impl FnOnce(&mut Self, Handle<Expression>) -> Handle<Expression>,
    ) -> Handle<Expression> {
        let (value, part) = (self.value(composite), self.value(part));
        let copy = self.variable("changed", ty);
        self.statement(Statement::Store { pointer: copy, value });
        let pointer = place(self, copy);
        self.statement(Statement::Store { pointer, value: part });
        self.emit(Expression::Load { pointer: copy })
    }

    fn shuffled(&mut self, (a, b): (Value, Value), mask: [u8; 4], ty: TypeId) -> Handle<Expression> {
        let size = self.t.types.components(ty).unwrap_or(1);
        let first = self.shape_of(a).map_or(1, |(_, size)| size);
        let used = &mask[..usize::from(size)];
        let values = [self.value(a), self.value(b)];
        if first > 1 && used.iter().all(|at| *at < first) {
            const NAMES: [SwizzleComponent; 4] =
                [SwizzleComponent::X, SwizzleComponent::Y, SwizzleComponent::Z, SwizzleComponent::W];
            let pattern = mask.map(|at| NAMES[usize::from(at & 3)]);
            return self.emit(Expression::Swizzle { size: size_of(size), vector: values[0], pattern });
        }
        let components = used.iter().map(|at| {
            let (of, at) = if *at < first { (0, *at) } else { (1, *at - first) };
            self.emit(Expression::AccessIndex { base: values[of], index: u32::from(at) })
        });
        let components = components.collect();
        self.compose(ty, components)
    }

    fn select(&mut self, condition: Value, (accept, reject): (Value, Value), ty: TypeId) -> Handle<Expression> {
        let values = [condition, accept, reject].map(|value| self.value(value));
        if self.t.shape(ty).is_some() {
            return self.choose(values[0], (values[1], values[2]));
        }
        let chosen = self.variable("chosen", ty);
        let accept = self.within(|body| body.statement(Statement::Store { pointer: chosen, value: values[1] }));
        let reject = self.within(|body| body.statement(Statement::Store { pointer: chosen, value: values[2] }));
        self.statement(Statement::If { condition: values[0], accept, reject });
        self.emit(Expression::Load { pointer: chosen })
    }

    /// A choice between scalars or vectors.
    pub fn choose(
        &mut self,
        condition: Handle<Expression>,
        (accept, reject): (Handle<Expression>, Handle<Expression>),
    ) -> Handle<Expression> {
        self.emit(Expression::Select { condition, accept, reject })
    }

    /// A numeric conversion, component by component.
    pub fn convert(&mut self, value: Handle<Expression>, from: TypeId, to: TypeId) -> Handle<Expression> {
        if self.t.value_type(from) == self.t.value_type(to) {
            return value;
        }
        let Some(scalar) = self.t.types.scalar_of(to) else { return self.broken("a conversion to such a type") };
        let scalar = scalar_of(scalar);
        self.emit(Expression::As { expr: value, kind: scalar.kind, convert: Some(scalar.width) })
    }

    /// The same bits as another type.
    pub fn bitcast(&mut self, value: Handle<Expression>, from: TypeId, to: TypeId) -> Handle<Expression> {
        match (self.t.shape(from), self.t.shape(to)) {
            (Some(from), Some(to)) if from == to => value,
            (Some((from, n)), Some((to, m))) if n == m && from.width == to.width && from.width == 32 => {
                self.as_kind(value, to.kind)
            }
            _ => self.nothing("bits as a type of another size"),
        }
    }

    /// The same 32 bits as a number of another kind.
    pub fn as_kind(&mut self, value: Handle<Expression>, kind: ScalarKind) -> Handle<Expression> {
        let kind = scalar_of(Scalar { kind, width: 32 }).kind;
        self.emit(Expression::As { expr: value, kind, convert: None })
    }

    fn call(&mut self, callee: FuncId, args: Values, ty: TypeId) -> Option<Handle<Expression>> {
        let arguments = self.list(args);
        let Some(function) = self.t.functions.get(&callee).copied() else {
            return Some(self.broken("a call of a function that is not written"));
        };
        self.uses.extend(self.t.uses.get(&callee).into_iter().flatten());
        self.call_of(function, arguments, ty != ir::Types::VOID)
    }

    /// Calls a function of the made module.
    pub fn call_of(
        &mut self,
        function: Handle<naga::Function>,
        arguments: Vec<Handle<Expression>>,
        has_result: bool,
    ) -> Option<Handle<Expression>> {
        let result = has_result.then(|| self.append(Expression::CallResult(function)));
        self.statement(Statement::Call { function, arguments, result });
        result
    }
}
