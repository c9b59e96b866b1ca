//! Runs the plan of a cross-lane operation: each step becomes one line.

use super::constants::component;
use super::expr::{Expr, Level};
use super::function::{Body, Made};
use super::tree::{Kind, Stmt};
use crate::backend::plans::{self, BALLOT, BOOL, INDEX, Shape, Shaped};
use crate::ir::fold::identity;
use crate::ir::{BinaryOp, InstId, MathFn, Scalar, TypeId, Types, Value, Values, print::lane_text};
use crate::kernel::Origin;
use crate::lane::{
    AluOp, CompareOp, GroupOp, InvertibleOp, LaneOp, Operand, Plan, Primitive, ReduceOp, Step, StepOp, StepType,
};
use rustc_hash::FxHashMap;

/// Set-up steps of a function by operation, operands and result type.
pub(super) type Setup = FxHashMap<(StepOp, [String; 3], Shape), Expr>;

/// A step's operand: its text and type, and its number if known.
#[derive(Clone)]
pub(super) struct Arg {
    pub value: Expr,
    pub shape: Shape,
    pub known: Option<u32>,
}

impl Shaped for Arg {
    fn shape(&self) -> Shape {
        self.shape
    }
}

/// One run of a plan.
type Run<'p> = plans::Run<'p, Arg>;

impl Body<'_, '_> {
    /// The operation on words instead of bools.
    pub fn of_words(&mut self, op: GroupOp, args: &[Arg]) -> Expr {
        let size = args[0].shape.1;
        let [from, to] = [Scalar::BOOL, Scalar::U32].map(|scalar| self.t.types.vector(scalar, size));
        let mut args = args.to_vec();
        args[0] = Arg { value: self.t.converted(&args[0].value, from, to), shape: (Scalar::U32, size), known: None };
        let language = self.t.language;
        let made = language.group(self, op, &args);
        self.t.converted(&made, to, from)
    }

    pub fn lane(&mut self, id: InstId, op: LaneOp, args: Values, ty: TypeId) -> Option<Made> {
        let f = self.f;
        let values = f.values(args);
        let input = |value: &Value| Some(plans::input(self.t.module, *value, self.shape_of(*value)?));
        let Some(known) = values.iter().map(input).collect::<Option<_>>() else {
            return Some(Made::One(self.t.broken("a cross-lane operation on a composite")));
        };
        let plan = match self.t.options.plan_of(op, known) {
            Ok(plan) => plan,
            Err(refusal) => {
                self.t.fail(refusal.code(), refusal.message());
                return Some(Made::One(Expr::primary("0")));
            }
        };
        let number = self.t.operations.len() as u32;
        self.t.operations.push((self.id, id));
        let mut run = Run::new(&plan, values.iter().map(|value| self.lane_arg(*value)));
        for step in &plan.setup {
            let result = self.setup_step(step, &run);
            run.setup.push(result);
        }
        let outside = std::mem::replace(&mut self.origin, Origin::Operation(number));
        // A fact alone needs no separate line.
        if !plan.steps.is_empty() {
            self.push(Kind::Comment(format!("// {}: {}", lane_text(op), plan.rule)));
        }
        // A value that a plan reads more than once has a name.
        for at in 0..run.inputs.len() {
            let is_named = run.inputs[at].value.is_plain() && !run.inputs[at].value.reads.memory;
            if !is_named && reads_input(&plan, at) > 1 {
                let ty = self.t.types.vector(run.inputs[at].shape.0, run.inputs[at].shape.1);
                run.inputs[at].value = self.name("own", ty, &run.inputs[at].value.clone());
            }
        }
        run.write(self, Self::step, Self::turns);
        let result = self.lane_result(&run, ty);
        self.origin = outside;
        result
    }

    /// A loop that lanes leave one by one, with variables for its values.
    fn turns(&mut self, run: &mut Run, steps: std::ops::Range<usize>) {
        let first = run.steps.len();
        let kept: Vec<Option<Expr>> = run.plan.steps[steps.clone()]
            .iter()
            .map(|step| {
                let shape = run.shape(step.ty);
                (step.ty != StepType::None).then(|| {
                    let ty = self.t.types.vector(shape.0, shape.1);
                    self.variable("turn", ty)
                })
            })
            .collect();
        let body = self.within(|inner| {
            for (step, kept) in run.plan.steps[steps].iter().zip(&kept) {
                let result = inner.step(step, run);
                if let Some(kept) = kept {
                    inner.line(format!("{} = {}", kept.text, result.value.text));
                }
                run.steps.push(result);
            }
            let done = run.plan.turns.as_ref().map_or(Operand::Bool(true), |turns| turns.done);
            let condition = inner.arg(done, run).value;
            let then = vec![Stmt::new(inner.origin, Kind::Line("break;".to_string()))];
            inner.push(Kind::If { condition, then, otherwise: Vec::new(), hint: "" });
        });
        self.push(Kind::For { first: None, condition: None, steps: Vec::new(), body, hint: "" });
        for (arg, kept) in run.steps[first..].iter_mut().zip(kept) {
            if let Some(value) = kept {
                arg.value = value;
            }
        }
    }

    fn lane_result(&mut self, run: &Run, ty: TypeId) -> Option<Made> {
        if ty == Types::VOID {
            return None;
        }
        let first = self.arg(run.plan.result, run).value;
        Some(match run.plan.second {
            None => Made::One(first),
            Some(second) => Made::Pair([first, self.arg(second, run).value]),
        })
    }

    fn lane_arg(&mut self, value: Value) -> Arg {
        let shape = self.shape_of(value).unwrap_or(INDEX);
        let known = self.t.module.known_u32(value).filter(|_| shape.1 == 1 && shape.0.width == 32 && shape.0.is_int());
        Arg { value: self.value(value), shape, known }
    }

    fn arg(&mut self, operand: Operand, run: &Run) -> Arg {
        match operand {
            Operand::Input(n) => run.inputs[usize::from(n)].clone(),
            Operand::Setup(n) => run.setup[usize::from(n)].clone(),
            Operand::Step(n) => run.steps[usize::from(n)].clone(),
            Operand::Const(value) => {
                Arg { value: self.t.literal(Scalar::U32, value.into()), shape: INDEX, known: Some(value) }
            }
            Operand::Bool(value) => Arg { value: Expr::primary(value.to_string()), shape: BOOL, known: None },
            Operand::None => Arg { value: self.t.literal(Scalar::U32, 0), shape: INDEX, known: None },
        }
    }

    /// An operand as an unsigned index.
    pub fn index_of(&mut self, arg: &Arg) -> Expr {
        match arg.known {
            Some(number) => self.t.literal(Scalar::U32, number.into()),
            None if arg.shape.0 == Scalar::I32 => self.t.converted(&arg.value, Types::I32, Types::U32),
            None => arg.value.clone(),
        }
    }

    /// A step at the function's start, shared with an equal one.
    fn setup_step(&mut self, step: &Step, run: &Run) -> Arg {
        let keys = step.args.map(|operand| self.arg(operand, run).value.text);
        let shape = run.shape(step.ty);
        let key = (step.op, keys, shape);
        if let Some(value) = self.lane_setup.get(&key) {
            return Arg { value: value.clone(), shape, known: None };
        }
        let blocks = std::mem::take(&mut self.blocks);
        let outside = std::mem::replace(&mut self.origin, Origin::SetUp(self.t.set_ups));
        self.t.set_ups += 1;
        let result = self.step(step, run);
        self.origin = outside;
        self.blocks = blocks;
        self.lane_setup.insert(key, result.value.clone());
        result
    }

    fn step(&mut self, step: &Step, run: &Run) -> Arg {
        let args: Vec<Arg> = step.operands().iter().map(|operand| self.arg(*operand, run)).collect();
        let shape = run.shape(step.ty);
        let language = self.t.language;
        let value = match step.op {
            StepOp::Prim(Primitive::Group(op)) => language.group(self, op, &args),
            StepOp::Fact(fact) => return Arg { value: language.fact(self, fact), shape, known: None },
            StepOp::Alu(op) => self.alu(op, &args),
            StepOp::Combine(op) => self.fold(op, shape, [&args[0].value, &args[1].value]),
            StepOp::Remove(InvertibleOp::Add) => self.joined(BinaryOp::Sub, shape, [&args[0].value, &args[1].value]),
            StepOp::Remove(InvertibleOp::Xor) => self.fold(ReduceOp::Xor, shape, [&args[0].value, &args[1].value]),
            StepOp::Compare(op) => self.compare(op, &args),
            StepOp::Select => self.chosen(&args, shape),
            StepOp::Identity(op) => {
                return Arg { value: self.splat(shape, identity(op, shape.0)), shape, known: None };
            }
            StepOp::Zero => return Arg { value: self.splat(shape, 0), shape, known: None },
            StepOp::Prim(_) | StepOp::CombineMoved(..) | StepOp::Neutral(_) => {
                self.t.broken("an instruction that no shading language has")
            }
        };
        if step.ty == StepType::None {
            return Arg { value, shape, known: None };
        }
        let name = match step.ty {
            StepType::Index => "lane",
            StepType::Bool => "test",
            StepType::Ballot => "ballot",
            StepType::Like(_) | StepType::None => "moved",
        };
        let ty = self.t.types.vector(shape.0, shape.1);
        Arg { value: self.name(name, ty, &value), shape, known: None }
    }

    fn splat(&mut self, (scalar, size): Shape, bits: u64) -> Expr {
        let part = self.t.literal(scalar, bits);
        if size == 1 {
            return part;
        }
        let ty = self.t.types.vector(scalar, size);
        let language = self.t.language;
        language.splat(self.t, ty, part)
    }

    fn chosen(&mut self, args: &[Arg], shape: Shape) -> Expr {
        if args[0].shape.1 == 1 {
            return self.t.language.picked([0, 1, 2].map(|n| args[n].value.clone()));
        }
        let ty = self.t.types.vector(shape.0, shape.1);
        let language = self.t.language;
        language.mixed(self, &[0, 1, 2].map(|n| args[n].value.clone()), ty)
    }

    fn alu(&mut self, op: AluOp, args: &[Arg]) -> Expr {
        let language = self.t.language;
        let values: Vec<Expr> = args
            .iter()
            .map(|arg| if arg.shape.0.is_int() && arg.shape.1 == 1 { self.index_of(arg) } else { arg.value.clone() })
            .collect();
        let (text, level) = match op {
            AluOp::Min => return self.function(MathFn::Min, &values, INDEX),
            AluOp::Max => return self.function(MathFn::Max, &values, INDEX),
            AluOp::BitCount | AluOp::FindLsb | AluOp::FindMsb => {
                let function = match op {
                    AluOp::BitCount => MathFn::BitCount,
                    AluOp::FindLsb => MathFn::FindLsb,
                    _ => MathFn::FindMsb,
                };
                return self.function(function, &values, INDEX);
            }
            AluOp::Not | AluOp::BallotNot => return Expr::unary("~", &values[0]),
            AluOp::BoolNot => return values[0].not(),
            AluOp::BallotWord => {
                return match args[1].known {
                    Some(index) => values[0].part(&component(index)),
                    None => values[0].part(&format!("[{}]", values[1].text)),
                };
            }
            AluOp::BallotIsEmpty => {
                let nothing = self.splat(BALLOT, 0);
                return self.t.language.equal(&values[0], &nothing, BALLOT.1);
            }
            AluOp::BallotIsSome => {
                let nothing = self.splat(BALLOT, 0);
                return self.t.language.unequal(&values[0], &nothing, BALLOT.1);
            }
            AluOp::BallotSize => {
                let ballot = if values[0].is_plain() {
                    values[0].clone()
                } else {
                    let ty = self.t.types.vector(Scalar::U32, 4);
                    self.name("ballot", ty, &values[0])
                };
                let of = (language.count_scalar(), 1);
                let counts = [0, 1, 2, 3]
                    .map(|n| self.function_to(MathFn::BitCount, &[ballot.part(&component(n))], (INDEX, of)));
                let [a, b, c, d] = counts.each_ref();
                let sum = |a: &Expr, b: &Expr| Expr::binary("+", Level::Sum, a, b);
                let whole = sum(&sum(&sum(a, b), c), d);
                let given = self.t.types.vector(of.0, 1);
                return self.t.converted(&whole, given, Types::U32);
            }
            AluOp::BallotFromMask => {
                return language.ballot_of_mask(self, &values[0]);
            }
            AluOp::Add => ("+", Level::Sum),
            AluOp::Sub => ("-", Level::Sum),
            AluOp::Mul => ("*", Level::Product),
            AluOp::And | AluOp::BallotAnd => ("&", Level::And),
            AluOp::Or | AluOp::BallotOr => ("|", Level::Or),
            AluOp::Xor => ("^", Level::Xor),
            AluOp::Shl => ("<<", Level::Shift),
            AluOp::Shr => (">>", Level::Shift),
            AluOp::Eq => ("==", Level::Equality),
            AluOp::Ne | AluOp::BoolXor => ("!=", Level::Equality),
            AluOp::Lt => ("<", Level::Relation),
            AluOp::Le => ("<=", Level::Relation),
            AluOp::Gt => (">", Level::Relation),
            AluOp::Ge => (">=", Level::Relation),
            AluOp::BoolAnd => ("&&", Level::LogicalAnd),
            AluOp::BoolOr => ("||", Level::LogicalOr),
        };
        self.t.language.infix((text, level), &values[0], &values[1])
    }

    /// A built-in function of operands of one shape.
    fn function(&mut self, function: MathFn, args: &[Expr], shape: Shape) -> Expr {
        self.function_to(function, args, (shape, shape))
    }

    /// A built-in function whose result has a different shape than its operands.
    fn function_to(&mut self, function: MathFn, args: &[Expr], (of, to): (Shape, Shape)) -> Expr {
        let language = self.t.language;
        let [of, to] = [of, to].map(|(scalar, size)| self.t.types.vector(scalar, size));
        let of = vec![of; args.len()];
        match language.function_of(self.t, function, args, &of, to) {
            Some(made) => made,
            None => self.t.broken("a function that the language does not have"),
        }
    }

    fn fold(&mut self, op: ReduceOp, shape: Shape, [a, b]: [&Expr; 2]) -> Expr {
        use BinaryOp as B;
        let op = match op {
            ReduceOp::Min => return self.function(MathFn::Min, &[a.clone(), b.clone()], shape),
            ReduceOp::Max => return self.function(MathFn::Max, &[a.clone(), b.clone()], shape),
            ReduceOp::Add => B::Add,
            ReduceOp::Mul => B::Mul,
            ReduceOp::And => B::And,
            ReduceOp::Or => B::Or,
            ReduceOp::Xor => B::Xor,
        };
        self.joined(op, shape, [a, b])
    }

    fn joined(&mut self, op: BinaryOp, (scalar, size): Shape, values: [&Expr; 2]) -> Expr {
        let ty = self.t.types.vector(scalar, size);
        match self.t.binary(op, values, [ty, ty]) {
            Some(made) => made,
            None => self.t.broken("a reduction of such values"),
        }
    }

    fn compare(&mut self, op: CompareOp, args: &[Arg]) -> Expr {
        let (scalar, size) = args[0].shape;
        let [mut left, mut right] = [args[0].value.clone(), args[1].value.clone()];
        if op == CompareOp::Same && scalar.is_float() {
            let language = self.t.language;
            [left, right] = [left, right].map(|value| language.bits_of(self.t, &value, (scalar, size)));
        }
        match op {
            CompareOp::Lt if scalar.is_bool() => Expr::binary("&&", Level::LogicalAnd, &left.not(), &right),
            CompareOp::Lt => self.t.language.infix(("<", Level::Relation), &left, &right),
            // For vectors: true if all components are equal.
            CompareOp::Eq | CompareOp::Same => self.t.language.equal(&left, &right, size),
        }
    }
}

/// How often the steps of a plan read an operand of the operation.
fn reads_input(plan: &Plan, at: usize) -> usize {
    let is_it = |operand: &&Operand| matches!(operand, Operand::Input(n) if usize::from(*n) == at);
    let of_steps = plan.steps.iter().flat_map(|step| step.operands()).filter(is_it).count();
    let in_turns = plan.turns.is_some() && of_steps > 0;
    let of_results = [Some(plan.result), plan.second].iter().flatten().filter(is_it).count();
    of_steps + of_results + usize::from(in_turns)
}
