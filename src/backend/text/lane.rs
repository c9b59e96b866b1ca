//! Runs the plan of a cross-lane operation: each step becomes one expression or statement.
//!
//! The language's subgroup functions take numbers: bools move as words that are 0 or 1.

use super::entry::Port;
use super::function::Body;
use super::language::{MOST_LANES, stands_in};
use super::types::scalar_of;
use crate::backend::plans::{self, BOOL, INDEX, Shape, Shaped, identity};
use crate::ir::{self, InstId, Scalar, ScalarKind, TypeId, Value, Values};
use crate::lane::{
    AluOp, CompareOp, GroupOp, GroupReduce, InvertibleOp, LaneFact, LaneOp, MaskOp, Operand, Primitive, QuadMove,
    ReduceOp, Step, StepOp, StepType, VoteOp,
};
use naga::{
    BinaryOperator, Block, CollectiveOperation, Direction, Expression, GatherMode, Handle, MathFunction,
    RelationalFunction, Statement, SubgroupOperation, UnaryOperator,
};
use rustc_hash::FxHashMap;

/// Set-up steps of a function by operation, operands and result type.
pub(super) type Setup = FxHashMap<(StepOp, [Key; 3], Shape), Handle<Expression>>;

/// An operand of a set-up step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Key {
    None,
    Value(Handle<Expression>),
    Number(u32),
    Truth(bool),
}

/// A step's operand: its value and type, and the number that it is known to be.
#[derive(Clone, Copy)]
struct Arg {
    value: Option<Handle<Expression>>,
    shape: Shape,
    known: Option<u32>,
    key: Key,
}

impl Arg {
    const fn of(value: Handle<Expression>, shape: Shape) -> Arg {
        Arg { value: Some(value), shape, known: None, key: Key::Value(value) }
    }
}

impl Shaped for Arg {
    fn shape(&self) -> Shape {
        self.shape
    }
}

/// One run of a plan.
type Run<'p> = plans::Run<'p, Arg>;

impl Body<'_, '_> {
    pub fn lane(&mut self, id: InstId, op: LaneOp, args: Values, ty: TypeId) -> Option<Handle<Expression>> {
        let f = self.f;
        let values = f.values(args);
        let input = |value: &Value| Some(plans::input(self.t.module, *value, self.shape_of(*value)?));
        let Some(known) = values.iter().map(input).collect::<Option<_>>() else {
            return Some(self.broken("a cross-lane operation on a composite"));
        };
        let plan = match self.t.options.plan_of(op, known) {
            Ok(plan) => plan,
            Err(refusal) => {
                self.t.fail(refusal.code(), refusal.message());
                return Some(self.u32(0));
            }
        };
        let mut run = Run::new(&plan, values.iter().map(|value| self.lane_arg(*value)));
        for step in &plan.setup {
            let result = self.setup_step(step, &run);
            run.setup.push(result);
        }
        let note = self.t.notes.begin((self.id, id), op, plan.rule);
        self.note(note);
        run.write(self, Self::step, Self::turns);
        let result = self.lane_result(&run, ty);
        let note = self.t.notes.end();
        self.note(note);
        result
    }

    /// Calls the function that marks a place in the text.
    fn note(&mut self, number: u32) {
        let function = self.t.notes.function(&mut self.t.out);
        let number = self.u32(number);
        self.call_of(function, vec![number], false);
    }

    /// A loop that lanes leave one by one, with variables for its values.
    fn turns(&mut self, run: &mut Run, steps: std::ops::Range<usize>) {
        let first = run.steps.len();
        let mut kept = Vec::new();
        let body = self.within(|inner| {
            for step in &run.plan.steps[steps] {
                let result = inner.step(step, run);
                run.steps.push(result);
            }
            for arg in &run.steps[first..] {
                kept.push(inner.kept(arg));
            }
            let done = run.plan.turns.as_ref().map_or(Operand::Bool(true), |turns| turns.done);
            let condition = inner.arg(done, run);
            let condition = inner.value_of(&condition);
            let accept = inner.within(|arm| arm.statement(Statement::Break));
            inner.statement(Statement::If { condition, accept, reject: Block::new() });
        });
        self.statement(Statement::Loop { body, continuing: Block::new(), break_if: None });
        for (arg, variable) in run.steps[first..].iter_mut().zip(kept) {
            if let Some(pointer) = variable {
                *arg = Arg::of(self.emit(Expression::Load { pointer }), arg.shape);
            }
        }
    }

    /// A variable that takes the value of a step.
    fn kept(&mut self, arg: &Arg) -> Option<Handle<Expression>> {
        let value = arg.value?;
        let ty = self.t.vector(scalar_of(arg.shape.0), arg.shape.1);
        let local = self.new_local("turn", ty, None);
        let pointer = self.append(Expression::LocalVariable(local));
        self.statement(Statement::Store { pointer, value });
        Some(pointer)
    }

    fn lane_result(&mut self, run: &Run, ty: TypeId) -> Option<Handle<Expression>> {
        if ty == ir::Types::VOID {
            return None;
        }
        let first = self.arg(run.plan.result, run);
        let first = self.value_of(&first);
        Some(match run.plan.second {
            None => first,
            Some(second) => {
                let second = self.arg(second, run);
                let second = self.value_of(&second);
                self.compose(ty, vec![first, second])
            }
        })
    }

    fn lane_arg(&mut self, value: Value) -> Arg {
        let shape = self.shape_of(value).unwrap_or(INDEX);
        let known = self.t.module.known_u32(value);
        let made = self.value(value);
        // Distances and lanes are unsigned.
        match known {
            Some(number) if shape == (Scalar::I32, 1) => {
                Arg { value: Some(made), shape, known, key: Key::Number(number) }
            }
            _ => Arg { known, ..Arg::of(made, shape) },
        }
    }

    fn arg(&mut self, operand: Operand, run: &Run) -> Arg {
        match operand {
            Operand::Input(n) => run.inputs[usize::from(n)],
            Operand::Setup(n) => run.setup[usize::from(n)],
            Operand::Step(n) => run.steps[usize::from(n)],
            Operand::Const(value) => Arg { value: None, shape: INDEX, known: Some(value), key: Key::Number(value) },
            Operand::Bool(value) => Arg { value: None, shape: BOOL, known: None, key: Key::Truth(value) },
            Operand::None => Arg { value: None, shape: INDEX, known: None, key: Key::None },
        }
    }

    fn value_of(&mut self, arg: &Arg) -> Handle<Expression> {
        match (arg.value, arg.key) {
            (Some(value), _) => value,
            (None, Key::Truth(value)) => self.append(Expression::Literal(naga::Literal::Bool(value))),
            (None, _) => self.u32(arg.known.unwrap_or(0)),
        }
    }

    /// An operand as an unsigned index.
    fn index_of(&mut self, arg: &Arg) -> Handle<Expression> {
        match arg.known {
            Some(number) => self.u32(number),
            None => {
                let value = self.value_of(arg);
                if arg.shape.0 == Scalar::I32 { self.as_kind(value, ScalarKind::Uint) } else { value }
            }
        }
    }

    /// A lane's number, a distance or a mask. A constant must be below the most lanes of a subgroup; beyond the result is
    /// undefined, so any other constant does.
    fn lane_of(&mut self, arg: &Arg) -> Handle<Expression> {
        match arg.known {
            Some(number) => self.u32(number % MOST_LANES),
            None => self.index_of(arg),
        }
    }

    /// A step at the function's start, where the same one may be already.
    fn setup_step(&mut self, step: &Step, run: &Run) -> Arg {
        let keys = step.args.map(|operand| self.arg(operand, run).key);
        let shape = run.shape(step.ty);
        let key = (step.op, keys, shape);
        if let Some(value) = self.lane_setup.get(&key) {
            return Arg::of(*value, shape);
        }
        let blocks = std::mem::take(&mut self.blocks);
        let note = self.t.notes.begin_setup();
        self.note(note);
        let result = self.step(step, run);
        let note = self.t.notes.end();
        self.note(note);
        self.blocks = blocks;
        if let Some(value) = result.value {
            self.lane_setup.insert(key, value);
        }
        result
    }

    fn step(&mut self, step: &Step, run: &Run) -> Arg {
        let args: Vec<Arg> = step.operands().iter().map(|operand| self.arg(*operand, run)).collect();
        let shape = run.shape(step.ty);
        let value = match step.op {
            StepOp::Prim(Primitive::Group(op)) => match self.group(op, shape, &args) {
                Some(value) => value,
                None => return Arg { value: None, shape, known: None, key: Key::None },
            },
            StepOp::Fact(fact) => self.fact(fact),
            StepOp::Alu(op) => self.alu(op, &args),
            StepOp::Combine(op) => {
                let values = [self.value_of(&args[0]), self.value_of(&args[1])];
                self.fold(op, shape, values)
            }
            StepOp::Remove(op) => {
                let values = [self.value_of(&args[0]), self.value_of(&args[1])];
                match op {
                    InvertibleOp::Add => self.plain(BinaryOperator::Subtract, values[0], values[1]),
                    InvertibleOp::Xor => self.fold(op.folds(), shape, values),
                }
            }
            StepOp::Compare(op) => {
                let values = [self.value_of(&args[0]), self.value_of(&args[1])];
                self.compare(op, values, args[0].shape)
            }
            StepOp::Select => {
                let values = [0, 1, 2].map(|n| self.value_of(&args[n]));
                self.choose(values[0], (values[1], values[2]))
            }
            StepOp::Identity(op) => self.splat_constant(shape.0, shape.1, identity(op, shape.0)),
            StepOp::Zero => self.zero(shape.0, shape.1),
            StepOp::Prim(_) | StepOp::CombineMoved(..) | StepOp::Neutral(_) => {
                self.broken("an instruction that no shading language has")
            }
        };
        self.name(value, step.ty);
        Arg::of(value, shape)
    }

    /// Names the value of a step, so that it has a line of its own.
    fn name(&mut self, value: Handle<Expression>, ty: StepType) {
        let is_free = matches!(
            self.out.expressions[value],
            Expression::Binary { .. }
                | Expression::Unary { .. }
                | Expression::Select { .. }
                | Expression::Math { .. }
                | Expression::As { .. }
                | Expression::Relational { .. }
                | Expression::Compose { .. }
                | Expression::Access { .. }
                | Expression::AccessIndex { .. }
        );
        let name = match ty {
            StepType::Index => "lane",
            StepType::Bool => "test",
            StepType::Ballot => "ballot",
            StepType::Like(_) | StepType::None => "moved",
        };
        if is_free && !self.out.named_expressions.contains_key(&value) {
            self.out.named_expressions.insert(value, name.to_string());
        }
    }

    fn fact(&mut self, fact: LaneFact) -> Handle<Expression> {
        match fact {
            LaneFact::Index => self.lane_port(Port::LaneIndex),
            LaneFact::Size => self.lane_port(Port::LaneCount),
            LaneFact::Mask(op) => self.mask(op),
            LaneFact::InSet(_) => self.broken("a set of lanes"),
        }
    }

    /// The lanes of the subgroup that compare so with the own one.
    fn mask(&mut self, op: MaskOp) -> Handle<Expression> {
        let i = self.lane_port(Port::LaneIndex);
        let one = self.u32(1);
        let next = self.plain(BinaryOperator::Add, i, one);
        let (from, to) = match op {
            MaskOp::Lt => return self.lanes_below(i),
            MaskOp::Le => return self.lanes_below(next),
            MaskOp::Eq => (i, next),
            MaskOp::Ge => (i, self.lane_port(Port::LaneCount)),
            MaskOp::Gt => (next, self.lane_port(Port::LaneCount)),
        };
        let (from, to) = (self.lanes_below(from), self.lanes_below(to));
        self.plain(BinaryOperator::ExclusiveOr, to, from)
    }

    /// The mask of the lanes below a number.
    fn lanes_below(&mut self, count: Handle<Expression>) -> Handle<Expression> {
        let function = self.t.lanes_below_function();
        self.call_of(function, vec![count], true).unwrap_or(count)
    }

    fn group(&mut self, op: GroupOp, shape: Shape, args: &[Arg]) -> Option<Handle<Expression>> {
        self.t.notes.needs.subgroups = true;
        let of_bools = args.first().map(|arg| arg.shape).filter(|(scalar, _)| scalar.is_bool());
        if let Some((_, size)) =
            of_bools.filter(|_| !matches!(op, GroupOp::Vote(_) | GroupOp::QuadVote(_) | GroupOp::Ballot))
        {
            return Some(self.group_of_bools(op, size, args));
        }
        let gather = match op {
            GroupOp::Shuffle => GatherMode::Shuffle(self.lane_of(&args[1])),
            GroupOp::ShuffleXor => GatherMode::ShuffleXor(self.lane_of(&args[1])),
            GroupOp::ShuffleUp => GatherMode::ShuffleUp(self.lane_of(&args[1])),
            GroupOp::ShuffleDown => GatherMode::ShuffleDown(self.lane_of(&args[1])),
            GroupOp::Broadcast => GatherMode::Broadcast(self.lane_of(&args[1])),
            GroupOp::BroadcastFirst => GatherMode::BroadcastFirst,
            GroupOp::QuadBroadcast => GatherMode::QuadBroadcast(self.index_of(&args[1])),
            GroupOp::QuadSwap(QuadMove::Y) => GatherMode::QuadSwap(Direction::Y),
            GroupOp::QuadSwap(QuadMove::Diagonal) => GatherMode::QuadSwap(Direction::Diagonal),
            GroupOp::QuadSwap(_) => GatherMode::QuadSwap(Direction::X),
            GroupOp::Reduce(op, reach) => return Some(self.collective(reduction(op), reach, args, shape)),
            GroupOp::Vote(VoteOp::All) => {
                return Some(self.collective(SubgroupOperation::All, GroupReduce::Reduce, args, shape));
            }
            GroupOp::Vote(VoteOp::Any) => {
                return Some(self.collective(SubgroupOperation::Any, GroupReduce::Reduce, args, shape));
            }
            GroupOp::Ballot => {
                let predicate = Some(self.value_of(&args[0]));
                let result = self.append(Expression::SubgroupBallotResult);
                self.statement(Statement::SubgroupBallot { result, predicate });
                return Some(result);
            }
            other => return Some(self.stand_in(other, shape, args)),
        };
        let argument = self.value_of(&args[0]);
        let ty = self.t.vector(scalar_of(shape.0), shape.1);
        let result = self.append(Expression::SubgroupOperationResult { ty });
        self.statement(Statement::SubgroupGather { mode: gather, argument, result });
        Some(result)
    }

    /// A call of a function that naga's form lacks.
    fn stand_in(&mut self, op: GroupOp, shape: Shape, args: &[Arg]) -> Handle<Expression> {
        let Some(spelled) = stands_in(op) else {
            return self.broken("a subgroup function that the language does not have");
        };
        let ty = self.t.vector(scalar_of(shape.0), shape.1);
        let types: Vec<_> = args.iter().map(|arg| self.t.vector(scalar_of(arg.shape.0), arg.shape.1)).collect();
        let values = args.iter().map(|arg| self.value_of(arg)).collect();
        let function = self.t.notes.stand_in(spelled, &types, ty, &mut self.t.out);
        self.call_of(function, values, true).unwrap_or_else(|| self.u32(0))
    }

    fn collective(
        &mut self,
        op: SubgroupOperation,
        reach: GroupReduce,
        args: &[Arg],
        shape: Shape,
    ) -> Handle<Expression> {
        let collective_op = match reach {
            GroupReduce::Reduce | GroupReduce::Clustered(_) => CollectiveOperation::Reduce,
            GroupReduce::Inclusive => CollectiveOperation::InclusiveScan,
            GroupReduce::Exclusive => CollectiveOperation::ExclusiveScan,
        };
        let argument = self.value_of(&args[0]);
        let ty = self.t.vector(scalar_of(shape.0), shape.1);
        let result = self.append(Expression::SubgroupOperationResult { ty });
        self.statement(Statement::SubgroupCollectiveOperation { op, collective_op, argument, result });
        result
    }

    fn group_of_bools(&mut self, op: GroupOp, size: u8, args: &[Arg]) -> Handle<Expression> {
        let words = self.value_of(&args[0]);
        let words = self.as_words(words, size);
        let mut args = args.to_vec();
        args[0] = Arg::of(words, (Scalar::U32, size));
        match self.group(op, (Scalar::U32, size), &args) {
            Some(result) => self.is_set(result, size),
            None => words,
        }
    }

    fn alu(&mut self, op: AluOp, args: &[Arg]) -> Handle<Expression> {
        use BinaryOperator as B;
        let values: Vec<_> = args
            .iter()
            .map(|arg| if arg.shape.0.is_int() && arg.shape.1 == 1 { self.index_of(arg) } else { self.value_of(arg) })
            .collect();
        let math = |body: &mut Self, fun| {
            let arg1 = values.get(1).copied();
            body.emit(Expression::Math { fun, arg: values[0], arg1, arg2: None, arg3: None })
        };
        let operator = match op {
            AluOp::Min => return math(self, MathFunction::Min),
            AluOp::Max => return math(self, MathFunction::Max),
            AluOp::BitCount => return math(self, MathFunction::CountOneBits),
            AluOp::FindLsb => return math(self, MathFunction::FirstTrailingBit),
            AluOp::FindMsb => return math(self, MathFunction::FirstLeadingBit),
            AluOp::Not | AluOp::BallotNot => {
                return self.emit(Expression::Unary { op: UnaryOperator::BitwiseNot, expr: values[0] });
            }
            AluOp::BoolNot => return self.emit(Expression::Unary { op: UnaryOperator::LogicalNot, expr: values[0] }),
            AluOp::BallotWord => {
                return match args[1].known {
                    Some(index) => self.emit(Expression::AccessIndex { base: values[0], index }),
                    None => self.emit(Expression::Access { base: values[0], index: values[1] }),
                };
            }
            AluOp::BallotIsEmpty => return self.compared(values[0], B::Equal, RelationalFunction::All),
            AluOp::BallotIsSome => return self.compared(values[0], B::NotEqual, RelationalFunction::Any),
            AluOp::BallotSize => return self.ballot_size(values[0]),
            AluOp::BallotFromMask => return self.lacking("masks of 64 bits"),
            AluOp::Add => B::Add,
            AluOp::Sub => B::Subtract,
            AluOp::Mul => B::Multiply,
            AluOp::And | AluOp::BallotAnd => B::And,
            AluOp::Or | AluOp::BallotOr => B::InclusiveOr,
            AluOp::Xor => B::ExclusiveOr,
            AluOp::Shl => B::ShiftLeft,
            AluOp::Shr => B::ShiftRight,
            AluOp::Eq => B::Equal,
            AluOp::Ne | AluOp::BoolXor => B::NotEqual,
            AluOp::Lt => B::Less,
            AluOp::Le => B::LessEqual,
            AluOp::Gt => B::Greater,
            AluOp::Ge => B::GreaterEqual,
            AluOp::BoolAnd => B::LogicalAnd,
            AluOp::BoolOr => B::LogicalOr,
        };
        self.plain(operator, values[0], values[1])
    }

    fn compared(
        &mut self,
        ballot: Handle<Expression>,
        op: BinaryOperator,
        fun: RelationalFunction,
    ) -> Handle<Expression> {
        let zero = self.zero(Scalar::U32, 4);
        let argument = self.plain(op, ballot, zero);
        self.emit(Expression::Relational { fun, argument })
    }

    fn ballot_size(&mut self, ballot: Handle<Expression>) -> Handle<Expression> {
        let fun = MathFunction::CountOneBits;
        let counts = self.emit(Expression::Math { fun, arg: ballot, arg1: None, arg2: None, arg3: None });
        let counts = [0, 1, 2, 3].map(|index| self.emit(Expression::AccessIndex { base: counts, index }));
        counts.into_iter().reduce(|a, b| self.plain(BinaryOperator::Add, a, b)).unwrap_or(ballot)
    }

    fn fold(
        &mut self,
        op: ReduceOp,
        (scalar, size): Shape,
        [left, right]: [Handle<Expression>; 2],
    ) -> Handle<Expression> {
        use BinaryOperator as B;
        let operator = match op {
            ReduceOp::Min | ReduceOp::Max => {
                let fun = if op == ReduceOp::Min { MathFunction::Min } else { MathFunction::Max };
                return self.emit(Expression::Math { fun, arg: left, arg1: Some(right), arg2: None, arg3: None });
            }
            ReduceOp::Add => B::Add,
            ReduceOp::Mul => B::Multiply,
            ReduceOp::Xor if scalar.is_bool() => B::NotEqual,
            ReduceOp::And if scalar.is_bool() && size == 1 => B::LogicalAnd,
            ReduceOp::Or if scalar.is_bool() && size == 1 => B::LogicalOr,
            ReduceOp::And => B::And,
            ReduceOp::Or => B::InclusiveOr,
            ReduceOp::Xor => B::ExclusiveOr,
        };
        self.plain(operator, left, right)
    }

    fn compare(&mut self, op: CompareOp, values: [Handle<Expression>; 2], (scalar, size): Shape) -> Handle<Expression> {
        let [left, right] = match op {
            CompareOp::Same if scalar.is_float() => values.map(|value| self.bits_of(value, scalar)),
            _ => values,
        };
        if op == CompareOp::Lt && scalar.is_bool() {
            let not = self.emit(Expression::Unary { op: UnaryOperator::LogicalNot, expr: left });
            return self.plain(BinaryOperator::LogicalAnd, not, right);
        }
        let operator = if op == CompareOp::Lt { BinaryOperator::Less } else { BinaryOperator::Equal };
        let argument = self.plain(operator, left, right);
        match size {
            1 => argument,
            _ => self.emit(Expression::Relational { fun: RelationalFunction::All, argument }),
        }
    }

    /// The bits of a float; those of a half are those of the number as 32 bits.
    fn bits_of(&mut self, value: Handle<Expression>, scalar: Scalar) -> Handle<Expression> {
        let wide = match scalar.width {
            32 => value,
            _ => self.emit(Expression::As { expr: value, kind: naga::ScalarKind::Float, convert: Some(4) }),
        };
        self.as_kind(wide, ScalarKind::Uint)
    }
}

const fn reduction(op: ReduceOp) -> SubgroupOperation {
    match op {
        ReduceOp::Add => SubgroupOperation::Add,
        ReduceOp::Mul => SubgroupOperation::Mul,
        ReduceOp::Min => SubgroupOperation::Min,
        ReduceOp::Max => SubgroupOperation::Max,
        ReduceOp::And => SubgroupOperation::And,
        ReduceOp::Or => SubgroupOperation::Or,
        ReduceOp::Xor => SubgroupOperation::Xor,
    }
}
