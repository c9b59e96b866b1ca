//! The function that runs the program of an operation.

use crate::ir::build::Builder;
use crate::ir::fold::{identity, neutral};
use crate::ir::{
    BinaryOp, BlockId, BuiltIn, ConstId, ConstValue, ControlHint, FuncId, GlobalId, InstFlags, MathFn, MemoryKinds,
    Module, Op, Order, Param, Scalar, ScalarKind, Scope, TypeId, Types, UnaryOp, Value, typing,
};
use crate::lane::spanning::{Column, SpanOp, SpanStep, Spanning};
use crate::lane::{AluOp, CompareOp, Group, LaneOp, Operand, ReduceOp, StepOp, StepType};
use crate::source::Span;

/// The variables that the functions share.
#[derive(Clone, Copy)]
pub struct Shared {
    /// An array of words in workgroup memory, unless nothing is exchanged.
    pub memory: Option<GlobalId>,
    /// Words of one area.
    pub area: u32,
    /// True if the functions have a parameter for the first word of their first area.
    pub has_areas: bool,
    /// Invocations of the workgroup, for which there are slots.
    pub invocations: u32,
    pub number: Number,
}

/// The test that a subgroup has so many lanes.
#[derive(Clone, Copy)]
pub struct WideEnough {
    pub width: u32,
    /// The lanes that every subgroup has, in languages in which a barrier must not depend on the size of the invocation's own.
    pub promised: Option<ConstId>,
}

impl WideEnough {
    fn test(self, b: &mut Builder) -> Value {
        let size = match self.promised {
            Some(id) => Value::Const(id),
            None => b.lane(LaneOp::LaneCount(Group::Subgroup), Types::U32, &[]),
        };
        let width = b.const_u32(self.width);
        b.binary(BinaryOp::Ge, size, width)
    }
}

/// How an invocation gets its number in the workgroup.
#[derive(Clone, Copy)]
pub enum Number {
    /// From the variable with its index.
    Index(GlobalId),
    /// From the number of its subgroup, a variable, and its lane. All subgroups have `lanes` lanes if that is known.
    Subgroup { id: GlobalId, lanes: Option<u32> },
}

/// The code for subgroups of some size and more.
#[derive(Clone, Copy)]
pub struct Way<'a> {
    pub test: WideEnough,
    /// The program over several subgroups; `None` if the operation stays inside.
    pub program: Option<&'a Spanning>,
}

/// An operation to write.
pub struct Job<'a> {
    pub name: &'a str,
    pub op: LaneOp,
    pub span: Span,
    /// The code for subgroups of each size, the widest first. The last one needs no test.
    pub ways: Vec<Way<'a>>,
    /// The types of the operands.
    pub inputs: &'a [TypeId],
    pub ret: TypeId,
    /// True if sums and products must be rounded as they are written.
    pub precise: bool,
}

/// Words of a value's slot.
pub fn words(types: &Types, ty: TypeId) -> u32 {
    let scalar = types.scalar_of(ty).unwrap_or(Scalar::U32);
    u32::from(types.components(ty).unwrap_or(1)) * if scalar.width > 32 { 2 } else { 1 }
}

/// Words that one exchange uses.
pub fn words_of(types: &Types, spanning: &Spanning, inputs: &[TypeId], exchange: u8, invocations: u32) -> u32 {
    let exchange = &spanning.exchanges[usize::from(exchange)];
    let values: u32 = exchange.columns.iter().map(|ty| words(types, type_of(*ty, inputs))).sum();
    values * spanning.slots(exchange, invocations)
}

fn type_of(ty: StepType, inputs: &[TypeId]) -> TypeId {
    match ty {
        StepType::Like(n) => inputs[usize::from(n)],
        StepType::Bool => Types::BOOL,
        StepType::Index | StepType::Ballot | StepType::None => Types::U32,
    }
}

/// Adds a function that waits for the workgroup unless operations stay inside the subgroup.
pub fn wait(module: &mut Module, choice: WideEnough) -> FuncId {
    let mut b = Builder::new(module, "wait_for_segments", Span::NONE, Vec::new(), Types::VOID);
    let is_wide = choice.test(&mut b);
    b.if_else(
        is_wide,
        |_| {},
        |b| {
            b.emit(Types::VOID, BARRIER);
        },
    );
    b.finish_into(None)
}

/// Adds the function to the module.
pub fn write(module: &mut Module, shared: Shared, job: &Job) -> FuncId {
    let mut params: Vec<Param> = job.inputs.iter().zip(["value", "other"]).map(|(ty, name)| param(name, *ty)).collect();
    if shared.has_areas {
        params.push(param("area", Types::U32));
    }
    let b = Builder::new(module, job.name, job.span, params, job.ret);
    let mut writer = Writer { b, shared, job, program: None, is_guarded: false, steps: Vec::new(), riders: None };
    let last = job.ways.len() - 1;
    for (way, n) in job.ways.iter().zip(0..) {
        if n == last {
            writer.way(*way, false);
            continue;
        }
        let is_wide = way.test.test(&mut writer.b);
        let then = writer.block(|writer| writer.way(*way, true));
        let otherwise = writer.block(|_| {});
        writer.b.if_(is_wide, then, otherwise, ControlHint::None);
    }
    writer.b.finish_into(None)
}

fn param(name: &str, ty: TypeId) -> Param {
    Param { name: name.into(), span: Span::NONE, ty, is_out: false }
}

struct Writer<'m, 'j> {
    b: Builder<'m>,
    shared: Shared,
    job: &'j Job<'j>,
    /// The program that is being written, and whether its subgroups have been tested.
    program: Option<&'j Spanning>,
    is_guarded: bool,
    steps: Vec<Value>,
    /// The values of the last sort.
    riders: Option<Value>,
}

impl<'j> Writer<'_, 'j> {
    fn arg(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Input(n) => Value::Param(n.into()),
            Operand::Step(n) => self.steps[usize::from(n)],
            Operand::Bool(value) => self.b.const_bool(value),
            Operand::Const(value) => self.b.const_u32(value),
            Operand::Setup(_) | Operand::None => self.b.const_u32(0),
        }
    }

    /// Returns the result by one of the ways.
    fn way(&mut self, way: Way<'j>, is_guarded: bool) {
        self.is_guarded = is_guarded;
        let Some(program) = way.program else {
            let inputs: Vec<Value> = (0..self.job.inputs.len() as u32).map(Value::Param).collect();
            let value = self.lane_value(self.job.op, self.job.ret, &inputs);
            return self.b.ret(Some(value));
        };
        self.program = Some(program);
        self.steps.clear();
        let start = program.tail.map_or(program.steps.len(), |tail| usize::from(tail.start));
        self.run(&program.steps[..start]);
        let Some(tail) = program.tail else { return self.end(program) };
        let condition = self.arg(tail.condition);
        let then = self.block(|writer| {
            writer.run(&program.steps[start..]);
            let result = writer.arg(program.result);
            writer.b.yield_(result);
        });
        // The result is undefined elsewhere.
        let otherwise = self.block(|writer| writer.b.yield_(Value::Param(0)));
        let result = self.b.if_value(condition, then, otherwise, self.job.ret);
        self.b.ret(Some(result));
    }

    fn run(&mut self, steps: &[SpanStep]) {
        for step in steps {
            let value = self.step(step);
            self.steps.push(value);
        }
    }

    /// Returns the result of a program.
    fn end(&mut self, program: &Spanning) {
        let mut result = self.arg(program.result);
        if let Some(second) = program.second {
            let second = self.arg(second);
            result = self.b.construct(self.job.ret, &[result, second]);
        }
        self.b.ret(Some(result));
    }

    /// An operation inside the subgroup.
    fn lane_value(&mut self, op: LaneOp, ty: TypeId, args: &[Value]) -> Value {
        self.b.flags.set(InstFlags::GUARDED, self.is_guarded);
        let value = self.b.lane(op, ty, args);
        self.b.flags = InstFlags::empty();
        value
    }

    /// The result of a step; any value if it has none.
    fn step(&mut self, step: &SpanStep) -> Value {
        let args: Vec<Value> = step.operands().iter().map(|arg| self.arg(*arg)).collect();
        let ty = type_of(step.ty, self.job.inputs);
        match (step.op, args.as_slice()) {
            (SpanOp::Lane(op), args) => self.lane(op, args),
            (SpanOp::Number, _) => self.number(),
            (SpanOp::Plain(op), args) => self.plain(op, args, ty),
            (SpanOp::Put(column), [slot, value, condition]) => {
                let (slot, value) = (*slot, *value);
                let then = self.block(|writer| writer.put(column, slot, value));
                let otherwise = self.block(|_| {});
                self.b.if_(*condition, then, otherwise, ControlHint::None);
                value
            }
            (SpanOp::Put(column), [slot, value, ..]) => {
                self.put(column, *slot, *value);
                *value
            }
            (SpanOp::Get(column), [slot, ..]) => self.get(column, *slot, ty),
            (SpanOp::Barrier, _) => self.b.emit(Types::VOID, BARRIER),
            (SpanOp::Riders, _) => self.riders.unwrap_or(Value::Param(1)),
            (SpanOp::Put(_) | SpanOp::Get(_), _) => self.b.undef(ty),
        }
    }

    fn block(&mut self, fill: impl FnOnce(&mut Self)) -> BlockId {
        self.b.push_block();
        fill(self);
        self.b.pop_block()
    }

    fn lane(&mut self, op: LaneOp, args: &[Value]) -> Value {
        let types: Vec<TypeId> = args.iter().map(|arg| self.b.type_of(*arg)).collect();
        let ty = typing::lane(&mut self.b.module.types, op, &types);
        let value = self.lane_value(op, ty, args);
        if !matches!(op, LaneOp::Sort { .. }) || args.len() < 2 {
            return value;
        }
        self.riders = Some(self.b.extract(value, 1));
        self.b.extract(value, 0)
    }

    fn number(&mut self) -> Value {
        match self.shared.number {
            Number::Index(index) => self.b.load(Value::Global(index)),
            Number::Subgroup { id, lanes } => {
                let id = self.b.load(Value::Global(id));
                let lanes = match lanes {
                    Some(lanes) => self.b.const_u32(lanes),
                    None => self.b.lane(LaneOp::LaneCount(Group::Subgroup), Types::U32, &[]),
                };
                let first = self.b.binary(BinaryOp::Mul, id, lanes);
                let lane = self.b.lane(LaneOp::LaneIndex(Group::Subgroup), Types::U32, &[]);
                self.b.binary(BinaryOp::Add, first, lane)
            }
        }
    }

    fn plain(&mut self, op: StepOp, args: &[Value], ty: TypeId) -> Value {
        match (op, args) {
            (StepOp::Alu(op), [a]) => self.b.unary(unary(op), *a),
            (StepOp::Alu(op), [a, b]) => self.b.binary(binary(op), *a, *b),
            (StepOp::Combine(op), [a, b]) => {
                self.b.flags.set(InstFlags::PRECISE, self.job.precise);
                let combined = self.combine(op, *a, *b);
                self.b.flags = InstFlags::empty();
                combined
            }
            (StepOp::Compare(op), [a, b]) => self.compare(op, *a, *b),
            (StepOp::Select, [condition, accept, reject]) => self.b.select(*condition, *accept, *reject),
            (StepOp::Identity(op), _) => self.constant(ty, |scalar| identity(op, scalar)),
            (StepOp::Neutral(op), _) => self.constant(ty, |scalar| neutral(op, scalar)),
            _ => self.b.undef(ty),
        }
    }

    fn constant(&mut self, ty: TypeId, bits: impl Fn(Scalar) -> u64) -> Value {
        let (scalar, size) = self.shape(ty);
        let ty = self.b.module.types.scalar(scalar);
        let one = Value::Const(self.b.module.constants.intern(ty, ConstValue::Bits(bits(scalar))));
        self.b.splat(one, size)
    }

    fn shape(&self, ty: TypeId) -> (Scalar, u8) {
        let types = &self.b.module.types;
        (types.scalar_of(ty).unwrap_or(Scalar::U32), types.components(ty).unwrap_or(1))
    }

    fn combine(&mut self, op: ReduceOp, a: Value, b: Value) -> Value {
        match op {
            ReduceOp::Add => self.b.binary(BinaryOp::Add, a, b),
            ReduceOp::Mul => self.b.binary(BinaryOp::Mul, a, b),
            ReduceOp::And => self.b.binary(BinaryOp::And, a, b),
            ReduceOp::Or => self.b.binary(BinaryOp::Or, a, b),
            ReduceOp::Xor => self.b.binary(BinaryOp::Xor, a, b),
            ReduceOp::Min => self.b.math(MathFn::Min, &[a, b]),
            ReduceOp::Max => self.b.math(MathFn::Max, &[a, b]),
        }
    }

    fn compare(&mut self, op: CompareOp, a: Value, b: Value) -> Value {
        let is_bool = self.b.type_of(a) == Types::BOOL;
        match op {
            CompareOp::Lt if is_bool => {
                let is_false = self.b.unary(UnaryOp::LogicalNot, a);
                self.b.binary(BinaryOp::LogicalAnd, is_false, b)
            }
            CompareOp::Lt => self.b.binary(BinaryOp::Lt, a, b),
            CompareOp::Eq | CompareOp::Same => {
                let equal = self.b.binary(BinaryOp::Eq, a, b);
                if self.b.components_of(a) > 1 { self.b.math(MathFn::All, &[equal]) } else { equal }
            }
        }
    }

    // Memory.

    fn put(&mut self, column: Column, slot: Value, value: Value) {
        for (word, number) in self.words_of_value(value).into_iter().zip(0..) {
            let pointer = self.pointer(column, slot, number);
            self.b.store(pointer, word);
        }
    }

    fn get(&mut self, column: Column, slot: Value, ty: TypeId) -> Value {
        let loaded = (0..words(&self.b.module.types, ty)).map(|word| {
            let pointer = self.pointer(column, slot, word);
            self.b.load(pointer)
        });
        let loaded: Vec<Value> = loaded.collect();
        self.value_of_words(&loaded, ty)
    }

    /// Pointer to a word of a slot. The slots of one word are consecutive, so that lanes access different banks.
    fn pointer(&mut self, column: Column, slot: Value, word: u32) -> Value {
        let Some(program) = self.program else { unreachable!("only programs exchange values") };
        let exchange = &program.exchanges[usize::from(column.exchange)];
        let slots = program.slots(exchange, self.shared.invocations);
        let before = &exchange.columns[..usize::from(column.value)];
        let types = &self.b.module.types;
        let before: u32 = before.iter().map(|ty| words(types, type_of(*ty, self.job.inputs))).sum();
        let first = (before + word) * slots;
        let starts = [self.area(column), (first > 0).then(|| self.b.const_u32(first))];
        let zero = self.b.const_u32(0);
        let mut terms = starts.into_iter().flatten().collect::<Vec<_>>();
        if slot != zero || terms.is_empty() {
            terms.insert(0, slot);
        }
        let sum = terms.into_iter().reduce(|index, start| self.b.binary(BinaryOp::Add, start, index));
        let index = sum.unwrap_or(zero);
        let memory = self.shared.memory.map_or(Value::Const(self.b.module.constants.u32(0)), Value::Global);
        self.b.access(memory, &[index])
    }

    /// The first word of an exchange's area, if there are two.
    fn area(&mut self, column: Column) -> Option<Value> {
        if !self.shared.has_areas {
            return None;
        }
        let area = Value::Param(self.job.inputs.len() as u32);
        let is_other = column.exchange % 2 == 1;
        let size = self.b.const_u32(self.shared.area);
        Some(if is_other { self.b.binary(BinaryOp::Sub, size, area) } else { area })
    }

    fn words_of_value(&mut self, value: Value) -> Vec<Value> {
        let ty = self.b.type_of(value);
        let (scalar, size) = self.shape(ty);
        let part = |writer: &mut Self, at: u8| {
            if size > 1 { writer.b.extract(value, at.into()) } else { value }
        };
        let mut words = Vec::new();
        for at in 0..size {
            let part = part(self, at);
            match (scalar.kind, scalar.width) {
                (_, 64) => {
                    let pair = self.b.module.types.vector(Scalar::U32, 2);
                    let pair = self.b.bitcast(part, pair);
                    words.extend([self.b.extract(pair, 0), self.b.extract(pair, 1)]);
                }
                (ScalarKind::Float, 16) => {
                    let wide = self.b.convert(part, Types::F32);
                    words.push(self.b.bitcast(wide, Types::U32));
                }
                (ScalarKind::Bool, _) | (_, 8 | 16) => words.push(self.b.convert(part, Types::U32)),
                _ => words.push(self.b.bitcast(part, Types::U32)),
            }
        }
        words
    }

    fn value_of_words(&mut self, words: &[Value], ty: TypeId) -> Value {
        let (scalar, size) = self.shape(ty);
        let of = self.b.module.types.scalar(scalar);
        let parts: Vec<Value> = match (scalar.kind, scalar.width) {
            (_, 64) => {
                let pair = self.b.module.types.vector(Scalar::U32, 2);
                let parts = words.chunks(2).map(|words| {
                    let both = self.b.construct(pair, words);
                    self.b.bitcast(both, of)
                });
                parts.collect()
            }
            (ScalarKind::Float, 16) => {
                let parts = words.iter().map(|word| {
                    let wide = self.b.bitcast(*word, Types::F32);
                    self.b.convert(wide, of)
                });
                parts.collect()
            }
            (ScalarKind::Bool, _) | (_, 8 | 16) => words.iter().map(|word| self.b.convert(*word, of)).collect(),
            _ => words.iter().map(|word| self.b.bitcast(*word, of)).collect(),
        };
        if size > 1 { self.b.construct(ty, &parts) } else { parts[0] }
    }
}

/// Waits for the workgroup, whose writes are visible afterwards.
pub const BARRIER: Op = Op::Barrier {
    execution: Some(Scope::Workgroup),
    memory: Scope::Workgroup,
    kinds: MemoryKinds::SHARED,
    order: Order::AcquireRelease,
};

/// The index of the invocation in its workgroup, or the number of its subgroup.
pub fn built_in(numbers_subgroups: bool) -> (BuiltIn, &'static str) {
    match numbers_subgroups {
        true => (BuiltIn::SubgroupId, "gl_SubgroupID"),
        false => (BuiltIn::LocalInvocationIndex, "gl_LocalInvocationIndex"),
    }
}

fn unary(op: AluOp) -> UnaryOp {
    if op == AluOp::BoolNot { UnaryOp::LogicalNot } else { UnaryOp::Not }
}

fn binary(op: AluOp) -> BinaryOp {
    match op {
        AluOp::Add => BinaryOp::Add,
        AluOp::Sub => BinaryOp::Sub,
        AluOp::Mul => BinaryOp::Mul,
        AluOp::And => BinaryOp::And,
        AluOp::Or => BinaryOp::Or,
        AluOp::Xor => BinaryOp::Xor,
        AluOp::Shl => BinaryOp::Shl,
        AluOp::Shr => BinaryOp::Shr,
        AluOp::Eq => BinaryOp::Eq,
        AluOp::Ne => BinaryOp::Ne,
        AluOp::Lt => BinaryOp::Lt,
        AluOp::Le => BinaryOp::Le,
        AluOp::Gt => BinaryOp::Gt,
        AluOp::Ge => BinaryOp::Ge,
        AluOp::BoolAnd => BinaryOp::LogicalAnd,
        AluOp::BoolOr => BinaryOp::LogicalOr,
        AluOp::BoolXor => BinaryOp::Ne,
        _ => unreachable!("programs have no other arithmetic of two operands"),
    }
}
