//! Builds function bodies: one short method per operation, which computes result types and folds constants.
//!
//! A [`Builder`] owns the function under construction and borrows the module. Operations whose operands are all
//! constants become constants (see [`super::fold`]). Instructions after a terminator in a block are dropped, so callers
//! need not check for it. The builder does no verification, which is the verifier's job, and no other simplification.

use super::fold::{self, Expr};
use super::typing;
use super::{
    AtomicOp, BinaryOp, BlockId, Case, Cases, ConstId, ConstValue, ControlHint, Ending, FuncId, Function, ImageOp,
    ImageParts, Inst, InstFlags, InstId, InterpolateAt, Local, MathFn, MemoryKinds, Module, Op, Order, Param, RayOp,
    Scalar, Scope, Space, Type, TypeId, Types, UnaryOp, Value, Values,
};
use crate::lane::LaneOp;
use crate::limits;
use crate::source::Span;
use smallvec::{SmallVec, smallvec};

/// Maximum number of operands to search for constants on the stack; longer lists (arrays) go to the heap.
const FEW: usize = 16;

/// A block under construction. Its instructions are in [`Builder::pending`] from `start` on.
struct Open {
    block: BlockId,
    start: usize,
    terminated: bool,
}

/// Builds one function of `module`.
pub struct Builder<'m> {
    pub module: &'m mut Module,
    pub function: Function,
    /// The source position of the next instructions.
    pub span: Span,
    /// The part of the source in which the next variables are visible.
    pub scope: Span,
    /// The flags of the next instructions.
    pub flags: InstFlags,
    /// True if operations on constants become constants; otherwise they stay instructions.
    pub folds: bool,
    open: SmallVec<[Open; 4]>,
    pending: Vec<InstId>,
}

impl<'m> Builder<'m> {
    /// Starts a function; the body block is current.
    pub fn new(module: &'m mut Module, name: &str, span: Span, params: Vec<Param>, ret: TypeId) -> Builder<'m> {
        Builder::in_body(module, Function::new(name, span, params, ret))
    }

    /// Starts the body of a function that the module already declares without body or parameters;
    /// [`Builder::finish_into`] puts it back.
    pub fn define(module: &'m mut Module, id: FuncId, span: Span, params: Vec<Param>) -> Builder<'m> {
        let stand_in = Function::bodiless(module.functions[id].ret);
        let function = std::mem::replace(&mut module.functions[id], stand_in);
        Builder::in_body(module, Function { span, params, ..function })
    }

    /// For code outside functions: instructions are dropped, types and constants stay.
    pub fn outside(module: &'m mut Module) -> Builder<'m> {
        let function = Function::bodiless(Types::VOID);
        let (span, flags) = (Span::NONE, InstFlags::empty());
        Builder { module, function, span, scope: span, flags, folds: true, open: SmallVec::new(), pending: Vec::new() }
    }

    fn in_body(module: &'m mut Module, function: Function) -> Builder<'m> {
        let body = Open { block: function.body, start: 0, terminated: false };
        let (span, flags) = (function.span, InstFlags::empty());
        Builder { module, function, span, scope: span, flags, folds: true, open: smallvec![body], pending: Vec::new() }
    }

    /// Makes room for about this many instructions.
    pub fn expect(&mut self, insts: usize) {
        self.function.insts.reserve(insts);
        self.function.operands.reserve(insts / 2);
        self.function.blocks.reserve(insts / 8);
        self.function.locals.reserve(insts / 8);
        self.pending.reserve(insts / 2);
    }

    /// Closes the open blocks and returns the function; the caller adds it to the module.
    pub fn finish(self) -> Function {
        self.into_parts().0
    }

    /// Puts the function from [`Builder::finish`] in place of a declaration, or adds a new one.
    pub fn finish_into(self, declared: Option<FuncId>) -> FuncId {
        let (function, module) = self.into_parts();
        let Some(id) = declared else { return module.functions.push(function) };
        module.functions[id] = function;
        id
    }

    fn into_parts(mut self) -> (Function, &'m mut Module) {
        while !self.open.is_empty() {
            self.pop_block();
        }
        (self.function, self.module)
    }

    // Blocks.

    /// Makes a new block and continues in it.
    pub fn push_block(&mut self) -> BlockId {
        let block = self.function.blocks.push(super::Block::default());
        self.open.push(Open { block, start: self.pending.len(), terminated: false });
        block
    }

    /// Closes the current block and continues in the enclosing one.
    pub fn pop_block(&mut self) -> BlockId {
        let open = self.open.pop().expect("push_block and pop_block come in pairs");
        self.function.blocks[open.block].insts = SmallVec::from_slice(&self.pending[open.start..]);
        self.pending.truncate(open.start);
        open.block
    }

    /// A block with the instructions that `fill` emits.
    pub fn block(&mut self, fill: impl FnOnce(&mut Self)) -> BlockId {
        self.push_block();
        fill(self);
        self.pop_block()
    }

    /// Moves the instructions of a closed block to the end of the current one.
    pub fn append_block(&mut self, block: BlockId) {
        let insts = std::mem::take(&mut self.function.blocks[block].insts);
        let Some(open) = self.open.last_mut().filter(|open| !open.terminated) else { return };
        open.terminated = insts.last().is_some_and(|last| self.function.insts[*last].op.is_terminator());
        self.pending.extend(insts);
    }

    /// The instructions of the current block so far.
    pub fn current_insts(&self) -> &[InstId] {
        self.open.last().map_or(&[], |open| &self.pending[open.start..])
    }

    /// Returns true if the current block has ended; further instructions are dropped.
    pub fn is_terminated(&self) -> bool {
        self.open.last().is_none_or(|open| open.terminated)
    }

    // Types and variables.

    /// Type of a value of this function.
    #[inline(always)]
    pub fn type_of(&mut self, value: Value) -> TypeId {
        match value {
            Value::Inst(id) => self.function.insts[id].ty,
            other => self.module.type_of(&self.function, other),
        }
    }

    /// Components of a scalar (1) or vector.
    pub fn components_of(&mut self, value: Value) -> u8 {
        let ty = self.type_of(value);
        self.module.types.components(ty).unwrap_or(1)
    }

    /// Adds a variable to the function; the value is a pointer to it.
    pub fn local(&mut self, name: &str, ty: TypeId, init: Option<ConstId>) -> Value {
        let (name, span, scope) = (name.into(), self.span, Span::NONE);
        Value::Local(self.function.locals.push(Local { name, span, scope, ty, restrict: false, init }))
    }

    /// Adds a variable that the source declares.
    pub fn variable(&mut self, name: &str, ty: TypeId, init: Option<ConstId>) -> Value {
        let variable = self.local(name, ty, init);
        if let Value::Local(id) = variable {
            self.function.locals[id].scope = self.scope;
        }
        variable
    }

    // Constants.

    pub fn const_bool(&mut self, value: bool) -> Value {
        Value::Const(self.module.constants.bool(value))
    }

    pub fn const_i32(&mut self, value: i32) -> Value {
        Value::Const(self.module.constants.i32(value))
    }

    pub fn const_u32(&mut self, value: u32) -> Value {
        Value::Const(self.module.constants.u32(value))
    }

    pub fn const_f32(&mut self, value: f32) -> Value {
        Value::Const(self.module.constants.f32(value))
    }

    /// All bits zero, of any type.
    pub fn zero(&mut self, ty: TypeId) -> Value {
        let value = match self.module.types.get(ty) {
            Type::Scalar(_) => ConstValue::Bits(0),
            _ => ConstValue::Zero,
        };
        Value::Const(self.module.constants.intern(ty, value))
    }

    /// An undefined value of any type.
    pub fn undef(&mut self, ty: TypeId) -> Value {
        Value::Const(self.module.constants.intern(ty, ConstValue::Undef))
    }

    // Pure operations.

    /// Applied column by column to a matrix.
    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Value {
        let ty = self.type_of(a);
        if let Type::Matrix { columns, .. } = self.module.types.get(ty) {
            return self.by_column(ty, columns, |b, at| {
                let column = b.extract(a, at);
                b.unary(op, column)
            });
        }
        self.pure(Expr::Unary(op), ty, &[a], |_| Op::Unary(op, a))
    }

    /// Component-wise operations go through matrices column by column.
    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        let (left, right) = (self.type_of(a), self.type_of(b));
        let shape = self.module.types.get(left);
        if let (Type::Matrix { columns, .. }, true) = (shape, typing::is_by_component(op)) {
            return self.by_column(left, columns, |builder, at| {
                let (a, b) = (builder.extract(a, at), builder.extract(b, at));
                builder.binary(op, a, b)
            });
        }
        let ty = typing::binary(&mut self.module.types, op, left, right).unwrap_or(left);
        self.pure(Expr::Binary(op), ty, &[a, b], |_| Op::Binary(op, a, b))
    }

    fn by_column(&mut self, ty: TypeId, columns: u8, mut column: impl FnMut(&mut Self, u32) -> Value) -> Value {
        let mut parts = [Value::Param(0); 4];
        for (at, part) in parts.iter_mut().enumerate().take(usize::from(columns)) {
            *part = column(self, at as u32);
        }
        self.construct(ty, &parts[..usize::from(columns)])
    }

    /// A built-in function with its GLSL result type.
    pub fn math(&mut self, function: MathFn, args: &[Value]) -> Value {
        let mut types = [Types::VOID; 4];
        let count = args.len().min(4);
        for (ty, arg) in types.iter_mut().zip(args) {
            *ty = self.type_of(*arg);
        }
        let ty = typing::math(&mut self.module.types, function, &types[..count]).unwrap_or(types[0]);
        self.math_as(function, ty, args)
    }

    /// A built-in function with a stated result type.
    pub fn math_as(&mut self, function: MathFn, ty: TypeId, args: &[Value]) -> Value {
        self.pure(Expr::Math(function), ty, args, |f| Op::Math(function, f.list(args)))
    }

    /// Numeric conversion, or the value itself if it already has the type. Matrices are converted column by column.
    pub fn convert(&mut self, value: Value, to: TypeId) -> Value {
        if self.type_of(value) == to {
            return value;
        }
        if let Type::Matrix { scalar, columns, rows, .. } = self.module.types.get(to) {
            let column_ty = self.module.types.vector(scalar, rows);
            return self.by_column(to, columns, |b, at| {
                let column = b.extract(value, at);
                b.convert(column, column_ty)
            });
        }
        self.pure(Expr::Convert, to, &[value], |_| Op::Convert(value))
    }

    /// Numeric conversion that saturates at the maximum of an encoded float. Not folded, because in-range results may
    /// be rounded either way.
    pub fn convert_saturated(&mut self, value: Value, to: TypeId) -> Value {
        let flags = self.flags;
        self.flags |= InstFlags::SATURATED;
        let converted = self.emit(to, Op::Convert(value));
        self.flags = flags;
        converted
    }

    /// Reinterpretation, or the value itself if it already has the type.
    pub fn bitcast(&mut self, value: Value, to: TypeId) -> Value {
        if self.type_of(value) == to {
            return value;
        }
        // An address that passes through references stays a constant.
        if let Value::Inst(id) = value
            && let Op::Bitcast(origin @ Value::Const(_)) = self.function.insts[id].op
        {
            return self.bitcast(origin, to);
        }
        self.pure(Expr::Bitcast, to, &[value], |_| Op::Bitcast(value))
    }

    pub fn select(&mut self, condition: Value, accept: Value, reject: Value) -> Value {
        let ty = self.type_of(accept);
        self.pure(Expr::Select, ty, &[condition, accept, reject], |_| Op::Select { condition, accept, reject })
    }

    pub fn construct(&mut self, ty: TypeId, parts: &[Value]) -> Value {
        self.pure(Expr::Construct, ty, parts, |f| Op::Construct(f.list(parts)))
    }

    /// A vector of `size` equal components, or the scalar itself if `size` is 1.
    pub fn splat(&mut self, scalar: Value, size: u8) -> Value {
        let of = self.type_of(scalar);
        let kind = self.module.types.scalar_of(of).filter(|_| size > 1);
        let Some(kind) = kind else { return scalar };
        let ty = self.module.types.vector(kind, size);
        self.pure(Expr::Splat, ty, &[scalar], |_| Op::Splat(scalar))
    }

    pub fn extract(&mut self, composite: Value, index: u32) -> Value {
        let ty = self.element_type(composite, index);
        self.pure(Expr::Extract(index), ty, &[composite], |_| Op::Extract { composite, index })
    }

    pub fn extract_dynamic(&mut self, composite: Value, index: Value) -> Value {
        let ty = self.element_type(composite, 0);
        self.pure(Expr::ExtractDynamic, ty, &[composite, index], |_| Op::ExtractDynamic { composite, index })
    }

    fn element_type(&mut self, composite: Value, index: u32) -> TypeId {
        let of = self.type_of(composite);
        self.module.types.element(of, index).unwrap_or(Types::VOID)
    }

    pub fn insert(&mut self, composite: Value, index: u32, part: Value) -> Value {
        let ty = self.type_of(composite);
        self.pure(Expr::Insert(index), ty, &[composite, part], |_| Op::Insert { composite, index, part })
    }

    pub fn insert_dynamic(&mut self, composite: Value, index: Value, part: Value) -> Value {
        let ty = self.type_of(composite);
        let args = [composite, index, part];
        self.pure(Expr::InsertDynamic, ty, &args, |_| Op::InsertDynamic { composite, index, part })
    }

    /// A vector of components selected from `a` followed by `b`, or a scalar if `mask` has one entry.
    pub fn shuffle(&mut self, a: Value, b: Value, mask: &[u8]) -> Value {
        if let [at] = mask {
            let size = self.components_of(a);
            return if *at < size { self.extract(a, u32::from(*at)) } else { self.extract(b, u32::from(*at - size)) };
        }
        let of = self.type_of(a);
        let scalar = self.module.types.scalar_of(of).unwrap_or(Scalar::BOOL);
        let ty = self.module.types.vector(scalar, mask.len() as u8);
        let mut padded = [0; 4];
        padded[..mask.len()].copy_from_slice(mask);
        self.pure(Expr::Shuffle(padded), ty, &[a, b], |_| Op::Shuffle { a, b, mask: padded })
    }

    /// `vector.xyz` and the like.
    pub fn swizzle(&mut self, vector: Value, mask: &[u8]) -> Value {
        self.shuffle(vector, vector, mask)
    }

    // Memory.

    /// Pointer to a part of the target of `base`, or `base` itself without indices. An access of an access becomes one
    /// flat chain. A buffer reference gives a pointer to its struct.
    pub fn access(&mut self, base: Value, indices: &[Value]) -> Value {
        let (space, mut pointee) = match self.pointee_of(base) {
            Some(target) if !indices.is_empty() => target,
            Some(_) => return base,
            None => {
                let ty = self.type_of(base);
                let Some(referred) = self.module.types.referred(ty) else { return base };
                (Space::Physical, self.module.types.intern(Type::Struct(referred)))
            }
        };
        for index in indices {
            let number = self.const_index(*index).unwrap_or(0);
            pointee = self.module.types.element(pointee, number).unwrap_or(Types::VOID);
        }
        let ty = self.module.types.pointer(space, pointee);
        let (base, indices) = self.flat_chain(base, indices);
        self.emit(ty, Op::Access { base, indices })
    }

    /// [`Builder::access`] by constant indices.
    pub fn access_const(&mut self, base: Value, index: u32) -> Value {
        let index = self.const_u32(index);
        self.access(base, &[index])
    }

    fn const_index(&self, index: Value) -> Option<u32> {
        let Value::Const(id) = index else { return None };
        self.module.constants.bits(id).map(|bits| bits as u32)
    }

    fn flat_chain(&mut self, base: Value, indices: &[Value]) -> (Value, Values) {
        let Value::Inst(id) = base else { return (base, self.function.list(indices)) };
        let Op::Access { base: root, indices: outer } = self.function.insts[id].op else {
            return (base, self.function.list(indices));
        };
        let operands = &mut self.function.operands;
        let start = operands.len() as u32;
        operands.extend_from_within(outer.start as usize..(outer.start + outer.len) as usize);
        operands.extend_from_slice(indices);
        (root, Values { start, len: outer.len + indices.len() as u32 })
    }

    /// Logical type of `pointer`'s target.
    pub fn pointee_type(&mut self, pointer: Value) -> TypeId {
        match self.pointee_of(pointer) {
            Some((_, pointee)) => self.module.types.logical(pointee),
            None => Types::VOID,
        }
    }

    /// Space and type of a pointer's target, without creating the types of pointers to variables.
    fn pointee_of(&mut self, value: Value) -> Option<(Space, TypeId)> {
        match value {
            Value::Local(id) => Some((Space::Function, self.function.locals[id].ty)),
            Value::Global(id) => Some((self.module.globals[id].space, self.module.globals[id].ty)),
            other => {
                let ty = self.type_of(other);
                self.module.types.pointee(ty)
            }
        }
    }

    pub fn load(&mut self, pointer: Value) -> Value {
        let ty = self.pointee_type(pointer);
        self.emit(ty, Op::Load(pointer))
    }

    pub fn store(&mut self, pointer: Value, value: Value) {
        self.emit(Types::VOID, Op::Store { pointer, value });
    }

    pub fn array_length(&mut self, block: Value) -> Value {
        self.emit(Types::U32, Op::ArrayLength { block })
    }

    /// Arguments as in [`AtomicOp`]. A store has no result.
    pub fn atomic(&mut self, op: AtomicOp, pointer: Value, args: &[Value], scope: Scope, order: Order) -> Value {
        let ty = match op {
            AtomicOp::Store => Types::VOID,
            _ => self.atomic_type(pointer),
        };
        let args = self.function.list(args);
        self.emit(ty, Op::Atomic { op, pointer, args, scope, order })
    }

    /// The type of the value that atomic operations change.
    fn atomic_type(&mut self, pointer: Value) -> TypeId {
        let of = self.pointee_type(pointer);
        if self.module.types.get(of) == Type::AtomicCounter { Types::U32 } else { of }
    }

    pub fn barrier(&mut self, execution: Option<Scope>, memory: Scope, kinds: MemoryKinds, order: Order) {
        self.emit(Types::VOID, Op::Barrier { execution, memory, kinds, order });
    }

    /// An operation on an image; `ty` is `VOID` if there is no result.
    pub fn image(&mut self, op: ImageOp, parts: ImageParts, operands: &[Value], ty: TypeId) -> Value {
        let operands = self.function.list(operands);
        self.emit(ty, Op::Image { op, parts, operands })
    }

    /// An operation on the ray query that `on` points to, or on an acceleration structure or its address.
    pub fn ray(&mut self, op: RayOp, on: Value, args: &[Value]) -> Value {
        let ty = op.result(&mut self.module.types);
        let args = self.function.list(args);
        self.emit(ty, Op::Ray { op, on, args })
    }

    /// Prints a text with arguments.
    pub fn print(&mut self, text: &str, args: &[Value]) {
        let number = self.module.texts.len() as u32;
        self.module.texts.push(text.into());
        let args = self.function.list(args);
        self.emit(Types::VOID, Op::Print { text: number, args });
    }

    /// The value of a fragment input at another position.
    pub fn interpolate(&mut self, at: InterpolateAt, pointer: Value, args: &[Value]) -> Value {
        let ty = self.pointee_type(pointer);
        let args = self.function.list(args);
        self.emit(ty, Op::Interpolate { at, pointer, args })
    }

    /// A cross-lane operation; `ty` is `VOID` if there is no result.
    pub fn lane(&mut self, op: LaneOp, ty: TypeId, args: &[Value]) -> Value {
        let args = self.function.list(args);
        self.emit(ty, Op::Lane(op, args))
    }

    // Control flow.

    /// Calls a function that the module already has, at least as a declaration.
    pub fn call(&mut self, callee: FuncId, args: &[Value]) -> Value {
        let ty = self.module.functions[callee].ret;
        let args = self.function.list(args);
        self.emit(ty, Op::Call(callee, args))
    }

    pub fn if_(&mut self, condition: Value, then: BlockId, otherwise: BlockId, hint: ControlHint) {
        self.emit(Types::VOID, Op::If { condition, then, otherwise, hint });
    }

    /// An `If` with a result: both blocks end in `Yield`.
    pub fn if_value(&mut self, condition: Value, then: BlockId, otherwise: BlockId, ty: TypeId) -> Value {
        self.emit(ty, Op::If { condition, then, otherwise, hint: ControlHint::None })
    }

    /// An `If` whose blocks `then` and `otherwise` fill.
    pub fn if_else(&mut self, condition: Value, then: impl FnOnce(&mut Self), otherwise: impl FnOnce(&mut Self)) {
        let then = self.block(then);
        let otherwise = self.block(otherwise);
        self.if_(condition, then, otherwise, ControlHint::None);
    }

    pub fn loop_(&mut self, body: BlockId, continuing: BlockId, break_if: Option<Value>, hint: ControlHint) {
        self.emit(Types::VOID, Op::Loop { body, continuing, break_if, hint });
    }

    pub fn switch(&mut self, selector: Value, cases: Vec<Case>, hint: ControlHint) {
        let start = self.function.cases.len() as u32;
        let cases_len = cases.len() as u32;
        self.function.cases.extend(cases);
        self.emit(Types::VOID, Op::Switch { selector, cases: Cases { start, len: cases_len }, hint });
    }

    pub fn break_(&mut self) {
        self.emit(Types::VOID, Op::Break);
    }

    pub fn continue_(&mut self) {
        self.emit(Types::VOID, Op::Continue);
    }

    pub fn ret(&mut self, value: Option<Value>) {
        self.emit(Types::VOID, Op::Return(value));
    }

    pub fn yield_(&mut self, value: Value) {
        self.emit(Types::VOID, Op::Yield(value));
    }

    pub fn discard(&mut self) {
        self.emit(Types::VOID, Op::Discard);
    }

    /// Ends the invocation.
    pub fn end(&mut self, ending: Ending, operands: &[Value]) {
        let operands = self.function.list(operands);
        self.emit(Types::VOID, Op::End(ending, operands));
    }

    pub fn interlock(&mut self, begin: bool) {
        self.emit(Types::VOID, Op::Interlock { begin });
    }

    /// The depth or the stencil value of the pixel at this moment.
    pub fn pixel(&mut self, stencil: bool) -> Value {
        match stencil {
            true => self.emit(Types::U32, Op::PixelStencil),
            false => self.emit(Types::F32, Op::PixelDepth),
        }
    }

    pub fn demote(&mut self) {
        self.emit(Types::VOID, Op::Demote);
    }

    pub fn unreachable(&mut self) {
        self.emit(Types::VOID, Op::Unreachable);
    }

    // The two ways in which all operations above become part of the function.

    /// The constant for `expr`, or the instruction for `op`.
    fn pure(&mut self, expr: Expr, ty: TypeId, args: &[Value], op: impl FnOnce(&mut Function) -> Op) -> Value {
        if self.folds
            && let Some(id) = self.fold(expr, ty, args)
        {
            return Value::Const(id);
        }
        let op = op(&mut self.function);
        self.emit(ty, op)
    }

    fn fold(&mut self, expr: Expr, ty: TypeId, args: &[Value]) -> Option<ConstId> {
        let mut few = [ConstId::from_index(0); FEW];
        let Module { types, constants, .. } = &mut *self.module;
        if args.len() > FEW {
            let ids: Vec<ConstId> = args.iter().map(|arg| as_const(*arg)).collect::<Option<_>>()?;
            return fold::fold(types, constants, expr, ty, &ids);
        }
        for (id, arg) in few.iter_mut().zip(args) {
            *id = as_const(*arg)?;
        }
        fold::fold(types, constants, expr, ty, &few[..args.len()])
    }

    /// Appends an instruction to the current block. In a terminated block it is added only to the function's arena (so
    /// that it has a type). Inlined, so that an operation is constructed in place.
    #[inline(always)]
    pub fn emit(&mut self, ty: TypeId, op: Op) -> Value {
        limits::spend(1);
        limits::hold::<Inst>(1);
        let id = self.function.insts.push(Inst { op, ty, span: self.span, flags: self.flags });
        if let Some(open) = self.open.last_mut().filter(|open| !open.terminated) {
            open.terminated = op.is_terminator();
            self.pending.push(id);
        }
        Value::Inst(id)
    }
}

fn as_const(value: Value) -> Option<ConstId> {
    match value {
        Value::Const(id) => Some(id),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{ArrayLen, Global};

    fn build(fill: impl FnOnce(&mut Builder<'_>)) -> (Module, Function) {
        let mut module = Module::new();
        let mut builder = Builder::new(&mut module, "main", Span::NONE, Vec::new(), Types::VOID);
        fill(&mut builder);
        let function = builder.finish();
        (module, function)
    }

    #[test]
    fn access_chains_are_flat() {
        build(|b| {
            let row = b.module.types.array(Types::F32, ArrayLen::Fixed(4));
            let grid = b.module.types.array(row, ArrayLen::Fixed(2));
            let memory = b.local("grid", grid, None);
            let first = b.access_const(memory, 1);
            let second = b.access_const(first, 3);
            let Value::Inst(id) = second else { panic!("an access is an instruction") };
            let Op::Access { base, indices } = b.function.insts[id].op else { panic!("an access") };
            assert_eq!((base, indices.len), (memory, 2));
            let value = b.load(second);
            assert_eq!(b.type_of(value), Types::F32);
            assert_eq!(b.access(memory, &[]), memory);
        });
    }

    #[test]
    fn code_after_a_terminator_is_dropped() {
        let (_, function) = build(|b| {
            let memory = b.local("x", Types::I32, None);
            b.ret(None);
            assert!(b.is_terminated());
            let value = b.load(memory);
            b.store(memory, value);
        });
        assert_eq!(function.blocks[function.body].insts.len(), 1);
    }

    #[test]
    fn nested_blocks_keep_their_instructions_apart() {
        let (_, function) = build(|b| {
            let memory = b.local("x", Types::BOOL, None);
            let condition = b.load(memory);
            b.if_else(condition, |b| b.store(memory, condition), |b| b.discard());
            b.ret(None);
        });
        let body = &function.blocks[function.body].insts;
        let Op::If { then, otherwise, .. } = function.insts[body[1]].op else { panic!("an if") };
        assert_eq!(body.len(), 3);
        assert!(matches!(function.insts[function.blocks[then].insts[0]].op, Op::Store { .. }));
        assert!(matches!(function.insts[function.blocks[otherwise].insts[0]].op, Op::Discard));
    }

    #[test]
    fn constant_composites_stay_constants() {
        build(|b| {
            let (one, two) = (b.const_f32(1.0), b.const_f32(2.0));
            let vec2 = b.module.types.vector(Scalar::F32, 2);
            let v = b.construct(vec2, &[one, two]);
            assert_eq!(b.extract(v, 1), two);
            let swapped = b.swizzle(v, &[1, 0]);
            assert_eq!(b.extract(swapped, 0), two);
            let more = b.insert(v, 0, two);
            assert_eq!(more, b.splat(two, 2));
        });
    }

    #[test]
    fn result_types_follow_the_operation() {
        build(|b| {
            let mat = b.module.types.matrix(Scalar::F32, 3, 2);
            let vec3 = b.module.types.vector(Scalar::F32, 3);
            let (m, v) = (b.local("m", mat, None), b.local("v", vec3, None));
            let (m, v) = (b.load(m), b.load(v));
            let product = b.binary(BinaryOp::MatrixTimesVector, m, v);
            assert_eq!(b.components_of(product), 2);
            let below = b.binary(BinaryOp::Lt, v, v);
            let bvec3 = b.module.types.vector(Scalar::BOOL, 3);
            assert_eq!(b.type_of(below), bvec3);
            let parts = b.math(MathFn::Frexp, &[v]);
            let exponent = b.extract(parts, 1);
            let ivec3 = b.module.types.vector(Scalar::I32, 3);
            assert_eq!(b.type_of(exponent), ivec3);
        });
    }

    #[test]
    fn globals_are_pointers() {
        build(|b| {
            let global = Global {
                name: "g".into(),
                span: Span::NONE,
                space: Space::Workgroup,
                ty: Types::U32,
                binding: super::super::Binding::None,
                access: super::super::Access::empty(),
                init: None,
            };
            let id = b.module.globals.push(global);
            let ty = b.type_of(Value::Global(id));
            assert_eq!(b.module.types.pointee(ty), Some((Space::Workgroup, Types::U32)));
        });
    }
}
