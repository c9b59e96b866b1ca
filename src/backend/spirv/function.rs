//! Function bodies: ids of values, instructions one by one, composites, conversions and calls.
//!
//! A body is written in three parts that are joined at its end: variables, setup that dominates everything, code.
//! Unreachable code is not written.

use super::constants::shape;
use super::share;
use super::types::storage_class;
use super::words::Words;
use super::written::Mark;
use super::{Emitter, Uses};
use crate::backend::DebugInfo;
use crate::ir::{
    self, ConstId, FuncId, Function, Inst, InstFlags, InstId, LocalId, Scalar, Space, Type, TypeId, UnaryOp, Value,
};
use rspirv::spirv::{Decoration, FunctionControl, Op, StorageClass, Word};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// Number of operands that is usually enough; more go to the heap.
pub(super) const FEW: usize = 6;

/// The flags that become decorations of the result.
const DECORATED: InstFlags = InstFlags::NON_UNIFORM.union(InstFlags::SATURATED).union(InstFlags::RELAXED);

/// State of the current function. One body writes all functions of a module, so that its lists grow only once.
pub(super) struct Body<'e, 'a> {
    pub m: &'e mut Emitter<'a>,
    pub f: &'a Function,
    pub vars: Words,
    /// The description of the function and its variables.
    pub intro: Words,
    pub setup: Words,
    pub code: Words,
    /// Positions of the current block's access chains in `code`.
    pub chains: Vec<usize>,
    /// Label of the block being written.
    pub label: Word,
    /// True if the current position is reachable.
    pub live: bool,
    pub scopes: Vec<super::control::Scope>,
    pub promoted: super::promote::Promoted,
    pub shared: super::share::Shared,
    /// True if equal instructions of the current function are written once.
    pub shares: bool,
    /// True if writes of other invocations may become visible while the function runs.
    pub synchronizes: bool,
    /// The flags of the instruction being written, as bits.
    pub decorations: Word,
    /// The instruction being written.
    pub at: InstId,
    pub uses: Uses,
    /// Ids of setup steps of lane plans.
    pub lane_setup: super::lane::Setup,
    /// Cross-lane operations and the positions of their instructions in `code`.
    lane_code: Vec<(InstId, Range<usize>)>,
    /// True if the instruction being written is `precise`.
    pub exact: bool,
    values: Vec<Word>,
    params: Vec<Word>,
    locals: Vec<Word>,
    /// Variables with constants for run-time indexing.
    tables: Vec<(ConstId, Word)>,
    pub position: super::debug::Position,
    pub debug_scopes: super::describe::Scopes,
}

/// Writes the bodies of the functions in the queue, and of the functions that they call.
pub(super) fn emit_queued(m: &mut Emitter) {
    let Some(first) = m.queue.last() else { return };
    let f = &m.module.functions[*first];
    let mut body = Body {
        f,
        vars: Words::with_capacity(5 * f.locals.len()),
        intro: Words::default(),
        setup: Words::with_capacity(64),
        code: Words::with_capacity(8 * f.insts.len()),
        chains: Vec::new(),
        label: 0,
        live: true,
        scopes: Vec::new(),
        promoted: super::promote::Promoted::default(),
        shared: super::share::Shared::default(),
        shares: false,
        synchronizes: false,
        decorations: 0,
        at: InstId::from_index(0),
        uses: Uses::default(),
        lane_setup: super::lane::Setup::default(),
        lane_code: Vec::new(),
        exact: false,
        values: Vec::with_capacity(f.insts.len()),
        params: Vec::new(),
        locals: Vec::with_capacity(f.locals.len()),
        tables: Vec::new(),
        position: super::debug::Position::default(),
        debug_scopes: super::describe::Scopes::default(),
        m,
    };
    while let Some(id) = body.m.queue.pop() {
        body.begin(id);
        body.run(id);
    }
}

impl<'a> Body<'_, 'a> {
    /// Forgets the previous function.
    fn begin(&mut self, id: FuncId) {
        let f = &self.m.module.functions[id];
        self.m.span = f.span;
        self.f = f;
        self.live = true;
        [&mut self.vars, &mut self.intro, &mut self.setup, &mut self.code].into_iter().for_each(Words::clear);
        self.chains.clear();
        self.lane_setup.clear();
        self.forget_places();
        self.tables.clear();
        self.params.clear();
        clear_to(&mut self.values, f.insts.len());
        clear_to(&mut self.locals, f.locals.len());
        self.begin_values(id);
    }

    /// Finds the variables that are values. Variables that a debugger shows are not values.
    fn begin_values(&mut self, id: FuncId) {
        self.shared.clear();
        self.promoted.clear();
        if self.m.optimizes {
            let (f, describes) = (&self.m.module.functions[id], self.m.options.debug == DebugInfo::Full);
            self.synchronizes = f.insts.iter().any(|(_, inst)| inst.op.synchronizes());
            self.promoted.find(self.m.module, f, |local| describes && !f.locals[local].scope.is_none());
        }
    }

    fn run(&mut self, id: FuncId) {
        self.head(id);
        let first = self.m.id();
        self.m.out.functions.named(Op::Label, first, &[]);
        self.label = first;
        self.block(self.f.body);
        self.fall_off();
        for stretch in [&self.vars, &self.intro, &self.setup, &self.code] {
            self.m.out.functions.append(stretch);
        }
        self.mark(id);
        self.m.out.functions.op(Op::FunctionEnd, &[]);
        self.m.uses[id.index()] = std::mem::take(&mut self.uses);
    }

    /// Records the words of cross-lane operations.
    fn mark(&mut self, id: FuncId) {
        let end = self.m.out.functions.as_slice().len();
        let code = end - self.code.as_slice().len();
        let marks = &mut self.m.out.marks;
        marks.set_up.push(code - self.setup.as_slice().len()..code);
        for (inst, words) in self.lane_code.drain(..) {
            let (words, result) = (code + words.start..code + words.end, self.values[inst.index()]);
            marks.operations.push(Mark { operation: (id, inst), words, result });
        }
    }

    /// `OpFunction` and its parameters.
    fn head(&mut self, id: FuncId) {
        let f = self.f;
        let mut signature: SmallVec<[Word; FEW]> = smallvec![self.m.value_type(f.ret)];
        signature.extend(f.params.iter().map(|param| self.m.value_type(param.ty)));
        let ty = self.m.function_type(&signature);
        let name = self.m.function(id);
        self.m.name(name, &f.name);
        self.m.out.functions.typed(Op::Function, signature[0], name, &[FunctionControl::NONE.bits(), ty]);
        for (param, ty) in f.params.iter().zip(&signature[1..]) {
            let id = self.m.id();
            self.m.out.functions.typed(Op::FunctionParameter, *ty, id, &[]);
            self.m.name(id, &param.name);
            self.m.decorate_parameter(id, param.ty);
            self.params.push(id);
        }
        self.describe_function(id, name);
    }

    /// The end of the outermost block.
    fn fall_off(&mut self) {
        if self.live {
            self.place_again();
            let op = if self.f.ret == ir::Types::VOID { Op::Return } else { Op::Unreachable };
            self.code.op(op, &[]);
        }
    }

    /// An instruction with a result, in the current block. Not inlined: a hundred copies would fill the instruction
    /// cache.
    #[inline(never)]
    pub fn emit(&mut self, op: Op, ty: Word, operands: &[Word]) -> Word {
        match self.shares && self.is_pure(op, operands) {
            true => self.emit_once(op, ty, operands),
            false => self.emit_always(op, ty, operands),
        }
    }

    fn is_pure(&self, op: Op, operands: &[Word]) -> bool {
        match operands {
            [set, number, ..] if op == Op::ExtInst => *set == self.m.glsl && share::is_pure_function(*number),
            _ => share::is_pure(op),
        }
    }

    /// An instruction with a result that is the same for the same operands.
    pub fn emit_once(&mut self, op: Op, ty: Word, operands: &[Word]) -> Word {
        self.emit_once_in(0, op, ty, operands)
    }

    /// An instruction with a result that is the same for the same operands in an epoch.
    pub fn emit_once_in(&mut self, epoch: Word, op: Op, ty: Word, operands: &[Word]) -> Word {
        let key = self.key(epoch, op, ty, operands);
        if let Some(known) = self.shared.find(&key) {
            return known;
        }
        let word = self.emit_always(op, ty, operands);
        if op == Op::CompositeInsert {
            self.shared.note(op, word, operands);
        }
        self.shared.add(key, word);
        word
    }

    fn emit_always(&mut self, op: Op, ty: Word, operands: &[Word]) -> Word {
        self.m.needs.op(op);
        let id = self.m.id();
        self.code.typed(op, ty, id, operands);
        if self.exact && super::math::can_contract(op) {
            self.m.decorate(id, Decoration::NoContraction, &[]);
        }
        id
    }

    /// An instruction without result.
    pub fn emit_void(&mut self, op: Op, operands: &[Word]) {
        self.m.needs.op(op);
        self.code.op(op, operands);
    }

    /// The id of an operand.
    #[inline(always)]
    pub fn value(&mut self, value: Value) -> Word {
        match value {
            Value::Inst(id) => self.values[id.index()],
            other => self.declared(other),
        }
    }

    /// The id of an operand, which is declared on first use.
    fn declared(&mut self, value: Value) -> Word {
        match value {
            Value::Inst(id) => self.values[id.index()],
            Value::Const(id) => self.m.constant(id),
            Value::Param(index) => self.params[index as usize],
            Value::Local(id) => self.local(id),
            Value::Global(id) => {
                let variable = self.m.global(id);
                self.use_variable(variable)
            }
        }
    }

    /// Records that this function uses a module-scope variable.
    pub fn use_variable(&mut self, variable: super::Variable) -> Word {
        self.uses.variables.insert(variable);
        variable.id
    }

    pub fn values(&mut self, list: ir::Values) -> SmallVec<[Word; FEW]> {
        let mut words = SmallVec::new();
        self.push_values(&mut words, list);
        words
    }

    /// Adds the ids of operands to a list.
    pub fn push_values(&mut self, words: &mut SmallVec<[Word; FEW]>, list: ir::Values) {
        for value in self.f.values(list) {
            words.push(self.value(*value));
        }
    }

    /// Type of an operand that is not a variable.
    pub fn type_of(&self, value: Value) -> Option<TypeId> {
        self.m.module.value_type(self.f, value)
    }

    /// Space and pointee of an operand that points.
    pub fn pointee_of(&self, value: Value) -> Option<(Space, TypeId)> {
        self.m.module.pointee_of(self.f, &self.m.module.types, value)
    }

    /// Scalar and number of components of an operand that is a scalar or vector.
    pub fn shape_of(&self, value: Value) -> Option<(Scalar, u8)> {
        shape(&self.m.module.types, self.type_of(value)?)
    }

    fn local(&mut self, id: LocalId) -> Word {
        if self.locals[id.index()] == 0 {
            let f = self.f;
            let local = &f.locals[id];
            let init = local.init.filter(|init| !self.m.is_undef(*init)).map(|init| self.m.constant(init));
            self.m.need_narrow_type(local.ty);
            let ty = self.m.value_type(local.ty);
            self.locals[id.index()] = self.variable(ty, init);
            self.m.decorate_references(self.locals[id.index()], local.ty, local.restrict);
            self.m.name(self.locals[id.index()], &local.name);
            self.describe_local(id, self.locals[id.index()]);
        }
        self.locals[id.index()]
    }

    /// A variable of the function.
    pub fn variable(&mut self, ty: Word, init: Option<Word>) -> Word {
        let class = StorageClass::Function;
        let (pointer, id) = (self.m.pointer_to(class, ty), self.m.id());
        match init {
            Some(init) => self.vars.typed(Op::Variable, pointer, id, &[class as Word, init]),
            None => self.vars.typed(Op::Variable, pointer, id, &[class as Word]),
        }
        id
    }

    /// Starts a block. Lines are forgotten, because `OpLine` only applies to the end of a block.
    pub fn start_block(&mut self, label: Word) {
        self.code.named(Op::Label, label, &[]);
        self.chains.clear();
        self.label = label;
        self.forget_place();
    }

    /// Returns true for reductions and scans that must give the guaranteed bits.
    fn is_ordered(&self, inst: &Inst) -> bool {
        matches!(inst.op, ir::Op::Lane(..)) && self.m.options.profile.reproducible
    }

    /// Writes one instruction of the IR.
    pub fn instruction(&mut self, id: InstId) {
        let inst = &self.f.insts[id];
        self.m.span = inst.span;
        if self.m.options.debug.has_lines() {
            self.place(inst.span);
        }
        self.exact = inst.flags.contains(InstFlags::PRECISE) || self.is_ordered(inst);
        if self.m.narrow {
            self.need_narrow(inst);
        }
        (self.at, self.decorations) = (id, Word::from(inst.flags.bits()));
        let (start, last) = (self.code.as_slice().len(), self.m.last);
        let word = if self.m.optimizes { self.optimized(inst) } else { self.operation(inst) };
        if self.m.needs.has_late() {
            self.m.refuse_late();
        }
        if let ir::Op::Lane(..) = inst.op {
            self.lane_code.push((id, start..self.code.as_slice().len()));
        }
        self.exact = false;
        self.values[id.index()] = word;
        if inst.flags.intersects(DECORATED) {
            self.decorate_result(inst, word, word > last);
        }
    }

    /// Writes one instruction, or finds the words of an equal one.
    fn optimized(&mut self, inst: &Inst) -> Word {
        self.shares = can_share(inst);
        let word = self.operation(inst);
        self.shares = false;
        self.shared.epoch += Word::from(inst.op.synchronizes());
        word
    }

    fn decorate_result(&mut self, inst: &Inst, word: Word, is_new: bool) {
        if inst.flags.contains(InstFlags::NON_UNIFORM) {
            self.mark_non_uniform(inst, word);
        }
        if inst.flags.contains(InstFlags::SATURATED) {
            self.m.decorate(word, Decoration::SaturatedToLargestFloat8NormalConversionEXT, &[]);
        }
        if inst.flags.contains(InstFlags::RELAXED) && is_new && self.can_relax(inst) {
            self.m.decorate(word, Decoration::RelaxedPrecision, &[]);
        }
    }

    /// `RelaxedPrecision` is for 32-bit numbers, and for ids of this very instruction.
    fn can_relax(&self, inst: &Inst) -> bool {
        let computes = matches!(inst.op, ir::Op::Unary(..) | ir::Op::Binary(..) | ir::Op::Math(..) | ir::Op::Load(_));
        let scalar = self.m.module.types.scalar_of(inst.ty);
        computes && scalar.is_some_and(|scalar| !scalar.is_bool() && scalar.width == 32)
    }

    fn operation(&mut self, inst: &Inst) -> Word {
        use ir::Op as O;
        match inst.op {
            O::Unary(..) | O::Binary(..) | O::Math(..) | O::Convert(_) | O::Bitcast(_) | O::Select { .. } => {
                self.arithmetic(inst)
            }
            O::Construct(_) | O::Splat(_) | O::Extract { .. } | O::Insert { .. } | O::Shuffle { .. } => {
                self.composite(inst)
            }
            O::ExtractDynamic { composite, index } => self.extract_dynamic(inst.ty, composite, index),
            O::InsertDynamic { composite, index, part } => {
                let ty = self.m.value_type(inst.ty);
                let words = [composite, part, index].map(|value| self.value(value));
                self.emit(Op::VectorInsertDynamic, ty, &words)
            }
            O::Interpolate { at, pointer, args } => self.interpolate(inst.ty, at, pointer, args),
            O::PixelDepth => self.of_fragment(Op::DepthAttachmentReadEXT, inst.ty),
            O::PixelStencil => self.of_fragment(Op::StencilAttachmentReadEXT, inst.ty),
            O::Print { text, args } => self.print(text, args),
            O::Ray { op, on, args } => self.ray(inst.ty, op, on, args),
            O::Image { op, parts, operands } => self.image(inst.ty, op, parts, operands),
            O::Lane(op, args) => self.lane(op, args, inst.ty),
            O::Foreign(instruction, args) => self.foreign(inst.ty, instruction, args),
            O::Cooperative(op, args) => self.cooperative(inst.ty, op, args, inst.flags),
            O::Call(function, args) => self.call(inst.ty, function, args),
            O::Access { .. } | O::Load(_) | O::Store { .. } | O::ArrayLength { .. } => self.memory(inst),
            O::Atomic { .. } | O::Barrier { .. } => self.synchronize(inst),
            _ => self.control(inst),
        }
    }

    fn call(&mut self, ty: TypeId, function: FuncId, args: ir::Values) -> Word {
        let ty = self.m.value_type(ty);
        let mut words: SmallVec<[Word; FEW]> = smallvec![self.callee(function)];
        self.push_values(&mut words, args);
        self.emit(Op::FunctionCall, ty, &words)
    }

    /// The id of a function that this one calls.
    pub fn callee(&mut self, function: FuncId) -> Word {
        if !self.uses.calls.contains(&function) {
            self.uses.calls.push(function);
        }
        self.m.function(function)
    }

    /// The built-in values of a fragment invocation.
    fn of_fragment(&mut self, op: Op, ty: TypeId) -> Word {
        let ty = self.m.value_type(ty);
        self.emit(op, ty, &[])
    }

    fn composite(&mut self, inst: &Inst) -> Word {
        let ty = self.m.value_type(inst.ty);
        match inst.op {
            ir::Op::Construct(parts) if self.m.is_replicated(inst.ty, parts.len as usize) => {
                let words = self.values(parts);
                self.emit(Op::CompositeConstructReplicateEXT, ty, &words)
            }
            ir::Op::Construct(parts) => {
                let word = self.construct(ty, parts);
                self.note_elements(inst.ty, word, parts);
                word
            }
            ir::Op::Splat(part) => {
                let part = self.value(part);
                let size = self.m.module.types.components(inst.ty).unwrap_or(1);
                self.splat(ty, part, size)
            }
            ir::Op::Extract { composite, index } => {
                let composite = self.value(composite);
                self.extract(ty, composite, &[index])
            }
            ir::Op::Insert { composite, index, part } => {
                let (part, composite) = (self.value(part), self.value(composite));
                self.emit(Op::CompositeInsert, ty, &[part, composite, index])
            }
            ir::Op::Shuffle { a, b, mask } => self.shuffle(inst.ty, a, b, mask),
            _ => self.m.internal("a composite operation that is none"),
        }
    }

    /// Records a composite with one part per element.
    fn note_elements(&mut self, ty: TypeId, word: Word, parts: ir::Values) {
        let elements = self.m.module.types.components(ty).map_or(parts.len, Word::from);
        if self.shares && elements == parts.len {
            let words = self.values(parts);
            self.shared.note(Op::CompositeConstruct, word, &words);
        }
    }

    fn construct(&mut self, ty: Word, parts: ir::Values) -> Word {
        let words = self.values(parts);
        if words.len() + 3 > super::words::MAX_WORDS {
            return self.m.unsupported("composites with more than 65532 parts");
        }
        self.emit(Op::CompositeConstruct, ty, &words)
    }

    /// A vector of `size` equal components, or the scalar itself if there is one.
    pub fn splat(&mut self, ty: Word, part: Word, size: u8) -> Word {
        match size {
            1 => part,
            _ => self.emit(Op::CompositeConstruct, ty, &[part; 4][..usize::from(size)]),
        }
    }

    fn shuffle(&mut self, ty: TypeId, a: Value, b: Value, mask: [u8; 4]) -> Word {
        let size = self.m.module.types.components(ty).unwrap_or(1);
        let word = self.m.value_type(ty);
        let mut operands = [self.value(a), self.value(b), 0, 0, 0, 0];
        for (operand, pick) in operands[2..].iter_mut().zip(mask) {
            *operand = Word::from(pick);
        }
        self.emit(Op::VectorShuffle, word, &operands[..2 + usize::from(size)])
    }

    /// Vectors are indexed as values; SPIR-V indexes other composites in memory only.
    fn extract_dynamic(&mut self, ty: TypeId, composite: Value, index: Value) -> Word {
        let Some(of) = self.type_of(composite) else { return self.m.internal("a pointer where a value is needed") };
        let (ty, index) = (self.m.value_type(ty), self.value(index));
        if let Type::Vector { .. } = self.m.module.types.get(of) {
            let composite = self.value(composite);
            return self.emit(Op::VectorExtractDynamic, ty, &[composite, index]);
        }
        let variable = self.in_memory(of, composite);
        let pointer = self.m.pointer_to(storage_class(Space::Function), ty);
        let element = self.emit(Op::AccessChain, pointer, &[variable, index]);
        self.emit(Op::Load, ty, &[element])
    }

    /// The constant of a value, if a variable may be initialised with it: `OpUndef` is not a constant.
    fn initializer(&self, value: Value) -> Option<ConstId> {
        let Value::Const(id) = value else { return None };
        (!self.m.is_undef(id)).then_some(id)
    }

    /// A variable with a value; one for each constant, initialised once.
    fn in_memory(&mut self, ty: TypeId, value: Value) -> Word {
        let of = ty;
        let (ty, word) = (self.m.value_type(ty), self.value(value));
        if let Some(constant) = self.initializer(value) {
            if let Some((_, variable)) = self.tables.iter().find(|(known, _)| *known == constant) {
                return *variable;
            }
            let variable = self.variable(ty, Some(word));
            self.m.decorate_references(variable, of, false);
            self.tables.push((constant, variable));
            return variable;
        }
        let variable = self.variable(ty, None);
        self.m.decorate_references(variable, of, false);
        self.emit_void(Op::Store, &[variable, word]);
        variable
    }

    fn arithmetic(&mut self, inst: &Inst) -> Word {
        match inst.op {
            ir::Op::Unary(op, value) => self.unary(op, value, inst.ty),
            ir::Op::Binary(op, a, b) => self.binary(op, a, b, inst.ty),
            ir::Op::Math(function, args) => self.math(function, args, inst.ty),
            ir::Op::Convert(value) => self.convert(value, inst.ty),
            ir::Op::Bitcast(value) => self.bitcast(value, inst.ty),
            ir::Op::Select { condition, accept, reject } => self.select(condition, accept, reject, inst.ty),
            _ => self.m.internal("arithmetic that is none"),
        }
    }

    fn unary(&mut self, op: UnaryOp, value: Value, ty: TypeId) -> Word {
        let float = self.m.module.types.number_of(ty).is_some_and(Scalar::is_float);
        let op = match op {
            UnaryOp::Neg if float => Op::FNegate,
            UnaryOp::Neg => Op::SNegate,
            UnaryOp::Not => Op::Not,
            UnaryOp::LogicalNot => Op::LogicalNot,
        };
        let value = self.value(value);
        self.by_column(op, ty, &[value])
    }
}

/// Returns true if an instruction may share existing words. A result that a use decorates needs separate words.
fn can_share(inst: &Inst) -> bool {
    use ir::Op as O;
    let plain = !inst.flags.intersects(InstFlags::NON_UNIFORM | InstFlags::SATURATED);
    let computes = inst.op.is_arithmetic() || matches!(inst.op, O::Access { .. } | O::Load(_) | O::Store { .. });
    plain && computes
}

/// Resets a list to `len` zeros.
fn clear_to(list: &mut Vec<Word>, len: usize) {
    list.clear();
    list.resize(len, 0);
}
