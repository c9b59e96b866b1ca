//! Runs the plan of a cross-lane operation: each step becomes one line.

use super::constants::component;
use super::dialect::Lanes;
use super::expr::{Expr, Level};
use super::function::{Body, Made};
use super::tree::{Kind, Stmt};
use crate::backend::plans::{self, BOOL, INDEX, Shape, Shaped, identity};
use crate::ir::{BinaryOp, InstId, Scalar, ScalarKind, TypeId, Types, Value, Values, print::lane_text};
use crate::kernel::Origin;
use crate::lane::{
    AluOp, CompareOp, CountOp, GroupOp, GroupReduce, InvertibleOp, LaneFact, LaneOp, Operand, Plan, Primitive,
    QuadMove, ReduceOp, Step, StepOp, StepType, VoteOp,
};
use rustc_hash::FxHashMap;

/// Set-up steps of a function by operation, operands and result type.
pub(super) type Setup = FxHashMap<(StepOp, [String; 3], Shape), Expr>;

/// A step's operand: its text and type, and the number that it is known to be.
#[derive(Clone)]
struct Arg {
    value: Expr,
    shape: Shape,
    known: Option<u32>,
}

impl Shaped for Arg {
    fn shape(&self) -> Shape {
        self.shape
    }
}

/// One run of a plan.
type Run<'p> = plans::Run<'p, Arg>;

impl Body<'_, '_> {
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
        // A mere fact needs no line of its own.
        if !plan.steps.is_empty() {
            self.push(Kind::Comment(format!("{}: {}", lane_text(op), plan.rule)));
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
            let then = vec![Stmt { origin: inner.origin, kind: Kind::Line("break;".to_string()) }];
            inner.push(Kind::If { condition, then, otherwise: Vec::new(), hint: "" });
        });
        self.push(Kind::For { condition: None, steps: Vec::new(), body, hint: "" });
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
                Arg { value: Expr::primary(format!("{value}u")), shape: INDEX, known: Some(value) }
            }
            Operand::Bool(value) => Arg { value: Expr::primary(value.to_string()), shape: BOOL, known: None },
            Operand::None => Arg { value: Expr::primary("0u"), shape: INDEX, known: None },
        }
    }

    /// An operand as an unsigned index.
    fn index_of(&self, arg: &Arg) -> Expr {
        match arg.known {
            Some(number) => Expr::primary(format!("{number}u")),
            None if arg.shape.0 == Scalar::I32 => Expr::call("uint", std::slice::from_ref(&arg.value)),
            None => arg.value.clone(),
        }
    }

    /// A step at the function's start, where the same one may be already.
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
        let value = match step.op {
            StepOp::Prim(Primitive::Group(op)) => self.group(op, &args),
            StepOp::Fact(fact) => return Arg { value: self.fact(fact), shape, known: None },
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
        let name = self.t.vector_name(scalar, size);
        Expr::call(&name, &[part])
    }

    fn chosen(&mut self, args: &[Arg], shape: Shape) -> Expr {
        if args[0].shape.1 == 1 {
            return Expr::choice(&args[0].value, &args[1].value, &args[2].value);
        }
        let ty = self.t.types.vector(shape.0, shape.1);
        self.mixed(&[0, 1, 2].map(|n| args[n].value.clone()), ty)
    }

    fn fact(&mut self, fact: LaneFact) -> Expr {
        let lanes = self.t.dialect.lanes;
        match (fact, lanes) {
            (LaneFact::Index, Lanes::Khr) => self.basic("gl_SubgroupInvocationID"),
            (LaneFact::Size, Lanes::Khr) => self.basic("gl_SubgroupSize"),
            (LaneFact::Mask(op), Lanes::Khr) => {
                self.t.need("GL_KHR_shader_subgroup_ballot");
                Expr::primary(format!("gl_Subgroup{op:?}Mask"))
            }
            (LaneFact::Index, Lanes::Nv) => self.of("GL_NV_shader_thread_group", "gl_ThreadInWarpNV"),
            (LaneFact::Size, Lanes::Nv) => self.of("GL_NV_shader_thread_group", "gl_WarpSizeNV"),
            (LaneFact::Mask(op), Lanes::Nv) => {
                self.t.need("GL_NV_shader_thread_group");
                Expr::primary(format!("uvec4(gl_Thread{op:?}MaskNV, 0u, 0u, 0u)"))
            }
            (LaneFact::Index, Lanes::Amd) => self.of("GL_ARB_shader_ballot", "gl_SubGroupInvocationARB"),
            (LaneFact::Size, Lanes::Amd) => self.of("GL_ARB_shader_ballot", "gl_SubGroupSizeARB"),
            (LaneFact::Mask(op), Lanes::Amd) => {
                self.t.need("GL_ARB_shader_ballot");
                self.mask_as_ballot(&Expr::primary(format!("gl_SubGroup{op:?}MaskARB")))
            }
            (LaneFact::InSet(_), _) => self.t.broken("a set of lanes"),
        }
    }

    fn of(&mut self, extension: &'static str, name: &str) -> Expr {
        self.t.need(extension);
        Expr::primary(name)
    }

    fn basic(&mut self, name: &str) -> Expr {
        self.of("GL_KHR_shader_subgroup_basic", name)
    }

    fn group(&mut self, op: GroupOp, args: &[Arg]) -> Expr {
        match self.t.dialect.lanes {
            Lanes::Khr => self.khr(op, args),
            Lanes::Nv => self.nv(op, args),
            Lanes::Amd => self.amd(op, args),
        }
    }

    /// A function of GL_KHR_shader_subgroup_*.
    fn khr(&mut self, op: GroupOp, args: &[Arg]) -> Expr {
        let Some((extension, name)) = khr_function(op) else {
            return self.t.broken("a subgroup function that the language does not have");
        };
        self.t.need(extension);
        let narrow = args.first().map(|arg| arg.shape.0).filter(|scalar| !matches!(scalar.width, 1 | 32));
        if let Some(extension) = narrow.and_then(extended) {
            self.t.need(extension);
        }
        if op == GroupOp::Sync {
            self.line(format!("{name}()"));
            return Expr::primary("0u");
        }
        let mut list: Vec<Expr> = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            list.push(if at == 0 { arg.value.clone() } else { self.index_of(arg) });
        }
        let cluster = match op {
            GroupOp::Reduce(_, GroupReduce::Clustered(width)) | GroupOp::Rotate(width) => width.lanes(),
            _ => None,
        };
        list.extend(cluster.map(|lanes| Expr::primary(format!("{lanes}u"))));
        Expr::call(&name, &list)
    }

    /// A function of NVIDIA's extensions.
    fn nv(&mut self, op: GroupOp, args: &[Arg]) -> Expr {
        let value = args.first().map_or_else(|| Expr::primary("0"), |arg| arg.value.clone());
        let (shuffle, index) = match op {
            GroupOp::Vote(vote) => {
                self.t.need("GL_NV_gpu_shader5");
                return Expr::call(if vote == VoteOp::All { "allThreadsNV" } else { "anyThreadNV" }, &[value]);
            }
            GroupOp::Ballot => return Expr::call("uvec4", &[self.nv_ballot(&value), Expr::primary("0u, 0u, 0u")]),
            GroupOp::BroadcastFirst => {
                let first = Expr::call("findLSB", &[self.nv_ballot(&Expr::primary("true"))]);
                ("shuffleNV", Expr::call("uint", &[first]))
            }
            GroupOp::Shuffle | GroupOp::Broadcast => ("shuffleNV", self.index_of(&args[1])),
            GroupOp::ShuffleXor => ("shuffleXorNV", self.index_of(&args[1])),
            GroupOp::ShuffleUp => ("shuffleUpNV", self.index_of(&args[1])),
            GroupOp::ShuffleDown => ("shuffleDownNV", self.index_of(&args[1])),
            _ => return self.t.broken("a subgroup function that the language does not have"),
        };
        self.t.need("GL_NV_shader_thread_shuffle");
        self.as_number(&args[0], |value| Expr::call(shuffle, &[value, index, Expr::primary("32u")]))
    }

    fn nv_ballot(&mut self, value: &Expr) -> Expr {
        self.t.need("GL_NV_shader_thread_group");
        Expr::call("ballotThreadNV", std::slice::from_ref(value))
    }

    /// A move of a value by a function that takes numbers only.
    fn as_number(&mut self, arg: &Arg, moved: impl FnOnce(Expr) -> Expr) -> Expr {
        let (scalar, size) = arg.shape;
        if !scalar.is_bool() {
            return moved(arg.value.clone());
        }
        let [words, bools] = [Scalar::U32, Scalar::BOOL].map(|scalar| self.t.vector_name(scalar, size));
        let number = Expr::call(&words, std::slice::from_ref(&arg.value));
        Expr::call(&bools, &[moved(number)])
    }

    /// A function of AMD's extensions and of the ones for groups that came before Khronos' own.
    fn amd(&mut self, op: GroupOp, args: &[Arg]) -> Expr {
        let value = args.first().map_or_else(|| Expr::primary("0"), |arg| arg.value.clone());
        match op {
            GroupOp::Vote(vote) => {
                self.t.need("GL_ARB_shader_group_vote");
                let name = if vote == VoteOp::All { "allInvocationsARB" } else { "anyInvocationARB" };
                Expr::call(name, &[value])
            }
            GroupOp::Ballot => {
                self.t.need("GL_ARB_shader_ballot");
                self.mask_as_ballot(&Expr::call("ballotARB", &[value]))
            }
            GroupOp::MaskedCountAmd => {
                self.t.need("GL_AMD_shader_ballot");
                Expr::call("mbcntAMD", &[value])
            }
            GroupOp::ReduceAmd(op, reach) => {
                self.t.need("GL_AMD_shader_ballot");
                Expr::call(&amd_reduction(op, reach), &[value])
            }
            GroupOp::WriteAmd => {
                self.t.need("GL_AMD_shader_ballot");
                let index = self.index_of(&args[2]);
                Expr::call("writeInvocationAMD", &[value, args[1].value.clone(), index])
            }
            _ => match self.amd_move(op, args) {
                Some(by) => self.as_words(&args[0], &mut |body, words, ty| body.moved_by(&by, words, ty)),
                None => self.t.broken("a subgroup function that the language does not have"),
            },
        }
    }

    /// The function of a move, with what follows the value.
    fn amd_move(&mut self, op: GroupOp, args: &[Arg]) -> Option<AmdMove> {
        let index = args.get(1).map(|arg| (arg.known, self.index_of(arg)));
        let quad =
            |lanes: [u32; 4]| AmdMove::Swizzle(format!("uvec4({})", lanes.map(|lane| format!("{lane}u")).join(", ")));
        let masked = |and: u32, or: u32, xor: u32| AmdMove::Masked(format!("uvec3({and}u, {or}u, {xor}u)"));
        Some(match (op, index) {
            (GroupOp::BroadcastFirst, _) => AmdMove::First,
            (GroupOp::SwizzleAmd(mode), _) => quad([0, 1, 2, 3].map(|lane| u32::from(mode >> (2 * lane) & 3))),
            (GroupOp::SwizzleMaskedAmd { and, or, xor }, _) => masked(and.into(), or.into(), xor.into()),
            (GroupOp::QuadSwap(swap), _) => {
                let by = match swap {
                    QuadMove::Y => 2,
                    QuadMove::Diagonal => 3,
                    _ => 1,
                };
                quad([0, 1, 2, 3].map(|lane| lane ^ by))
            }
            (GroupOp::QuadBroadcast, Some((Some(lane), _))) => quad([lane & 3; 4]),
            (GroupOp::QuadBroadcast, Some((None, lane))) => {
                let base = Expr::binary("&", Level::And, &self.fact(LaneFact::Index), &Expr::primary("~3u"));
                AmdMove::Shuffle(Expr::binary("|", Level::Or, &base, &lane))
            }
            (GroupOp::Broadcast, Some((_, lane))) | (GroupOp::Shuffle, Some((Some(_), lane))) => AmdMove::Read(lane),
            (GroupOp::Shuffle, Some((None, lane))) => AmdMove::Shuffle(lane),
            // The masks reach 32 lanes.
            (GroupOp::ShuffleXor, Some((Some(mask @ 0..32), _))) => masked(31, 0, mask),
            (GroupOp::ShuffleXor, Some((_, mask))) => AmdMove::Shuffle(self.own_lane_and("^", Level::Xor, &mask)),
            (GroupOp::ShuffleUp, Some((_, delta))) => AmdMove::Shuffle(self.own_lane_and("-", Level::Sum, &delta)),
            (GroupOp::ShuffleDown, Some((_, delta))) => AmdMove::Shuffle(self.own_lane_and("+", Level::Sum, &delta)),
            _ => return None,
        })
    }

    fn own_lane_and(&mut self, op: &'static str, level: Level, by: &Expr) -> Expr {
        Expr::binary(op, level, &self.fact(LaneFact::Index), by)
    }

    /// A value of 32-bit numbers from another lane.
    fn moved_by(&mut self, by: &AmdMove, value: Expr, ty: TypeId) -> Expr {
        let (extension, name, more) = match by {
            AmdMove::First => ("GL_ARB_shader_ballot", "readFirstInvocationARB", None),
            AmdMove::Read(lane) => ("GL_ARB_shader_ballot", "readInvocationARB", Some(lane.clone())),
            AmdMove::Swizzle(lanes) => ("GL_AMD_shader_ballot", "swizzleInvocationsAMD", Some(Expr::primary(lanes))),
            AmdMove::Masked(masks) => {
                ("GL_AMD_shader_ballot", "swizzleInvocationsMaskedAMD", Some(Expr::primary(masks)))
            }
            AmdMove::Shuffle(lane) => {
                let name = self.t.shuffle_by_reads(ty);
                return Expr::call(&name, &[value, lane.clone()]);
            }
        };
        self.t.need(extension);
        Expr::call(name, &[value].into_iter().chain(more).collect::<Vec<_>>())
    }

    /// A move of a value by functions that take numbers of 32 bits: others go as such numbers.
    fn as_words(&mut self, arg: &Arg, moved: &mut dyn FnMut(&mut Self, Expr, TypeId) -> Expr) -> Expr {
        let (scalar, size) = arg.shape;
        let own = self.t.types.vector(scalar, size);
        match scalar.width {
            32 => moved(self, arg.value.clone(), own),
            64 => {
                let [part, words] = [self.t.types.vector(scalar, 1), self.t.types.vector(Scalar::U32, 2)];
                let value = if size == 1 { arg.value.clone() } else { self.name("own", own, &arg.value) };
                let mut parts = Vec::new();
                for n in 0..u32::from(size) {
                    let one = if size == 1 { value.clone() } else { value.part(&component(n)) };
                    let halves = self.t.reinterpreted(&one, part, words);
                    let halves = moved(self, halves, words);
                    parts.push(self.t.reinterpreted(&halves, words, part));
                }
                if size == 1 { parts.remove(0) } else { Expr::call(&self.t.vector_name(scalar, size), &parts) }
            }
            _ => {
                let bits = if scalar.is_bool() { scalar } else { Scalar { kind: ScalarKind::Uint, ..scalar } };
                let [bits, words] = [bits, Scalar::U32].map(|scalar| self.t.types.vector(scalar, size));
                let narrow = self.t.reinterpreted(&arg.value, own, bits);
                let wide = self.t.converted(&narrow, bits, words);
                let wide = moved(self, wide, words);
                let narrow = self.t.converted(&wide, words, bits);
                self.t.reinterpreted(&narrow, bits, own)
            }
        }
    }

    /// A mask of 64 bits as a ballot.
    fn mask_as_ballot(&mut self, mask: &Expr) -> Expr {
        self.t.vector_name(Scalar::U64, 1);
        let words = Expr::call("unpackUint2x32", std::slice::from_ref(mask));
        Expr::call("uvec4", &[words, Expr::primary("0u, 0u")])
    }

    fn alu(&mut self, op: AluOp, args: &[Arg]) -> Expr {
        let values: Vec<Expr> = args
            .iter()
            .map(|arg| if arg.shape.0.is_int() && arg.shape.1 == 1 { self.index_of(arg) } else { arg.value.clone() })
            .collect();
        let (text, level) = match op {
            AluOp::Min => return Expr::call("min", &values),
            AluOp::Max => return Expr::call("max", &values),
            AluOp::BitCount | AluOp::FindLsb | AluOp::FindMsb => {
                let name = match op {
                    AluOp::BitCount => "bitCount",
                    AluOp::FindLsb => "findLSB",
                    _ => "findMSB",
                };
                return Expr::call("uint", &[Expr::call(name, &values)]);
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
                return Expr::binary("==", Level::Equality, &values[0], &Expr::primary("uvec4(0u)"));
            }
            AluOp::BallotIsSome => return Expr::binary("!=", Level::Equality, &values[0], &Expr::primary("uvec4(0u)")),
            AluOp::BallotSize => {
                let ballot = if values[0].is_plain() {
                    values[0].clone()
                } else {
                    let ty = self.t.types.vector(Scalar::U32, 4);
                    self.name("ballot", ty, &values[0])
                };
                let counts = (0..4).map(|n| Expr::call("bitCount", &[ballot.part(&component(n))]));
                let sum = counts.reduce(|a, b| Expr::binary("+", Level::Sum, &a, &b));
                return Expr::call("uint", &[sum.unwrap_or_else(|| Expr::primary("0"))]);
            }
            AluOp::BallotFromMask => {
                return self.mask_as_ballot(&values[0]);
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
        Expr::binary(text, level, &values[0], &values[1])
    }

    fn fold(&mut self, op: ReduceOp, shape: Shape, [a, b]: [&Expr; 2]) -> Expr {
        use BinaryOp as B;
        let op = match op {
            ReduceOp::Min => return Expr::call("min", &[a.clone(), b.clone()]),
            ReduceOp::Max => return Expr::call("max", &[a.clone(), b.clone()]),
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
            let from = self.t.types.vector(scalar, size);
            let to = self.t.types.vector(Scalar { kind: ScalarKind::Uint, ..scalar }, size);
            [left, right] = [left, right].map(|value| self.t.reinterpreted(&value, from, to));
        }
        match op {
            CompareOp::Lt if scalar.is_bool() => Expr::binary("&&", Level::LogicalAnd, &left.not(), &right),
            CompareOp::Lt => Expr::binary("<", Level::Relation, &left, &right),
            // Of vectors too: whether all components are equal.
            CompareOp::Eq | CompareOp::Same => Expr::binary("==", Level::Equality, &left, &right),
        }
    }
}

/// The name of AMD's function of a fold.
fn amd_reduction(op: ReduceOp, reach: GroupReduce) -> String {
    let how = match reach {
        GroupReduce::Inclusive => "InclusiveScan",
        GroupReduce::Exclusive => "ExclusiveScan",
        GroupReduce::Reduce | GroupReduce::Clustered(_) => "",
    };
    format!("{}Invocations{how}NonUniformAMD", format!("{op:?}").to_lowercase())
}

/// A way in which AMD's extensions move a value.
enum AmdMove {
    First,
    /// From one lane to all.
    Read(Expr),
    Swizzle(String),
    Masked(String),
    /// From any lane, by a function of the text.
    Shuffle(Expr),
}

/// How often the steps of a plan read an operand of the operation.
fn reads_input(plan: &Plan, at: usize) -> usize {
    let is_it = |operand: &&Operand| matches!(operand, Operand::Input(n) if usize::from(*n) == at);
    let of_steps = plan.steps.iter().flat_map(|step| step.operands()).filter(is_it).count();
    let in_turns = plan.turns.is_some() && of_steps > 0;
    let of_results = [Some(plan.result), plan.second].iter().flatten().filter(is_it).count();
    of_steps + of_results + usize::from(in_turns)
}

/// The extension that brings subgroup functions of such numbers.
const fn extended(scalar: Scalar) -> Option<&'static str> {
    Some(match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 16) => "GL_EXT_shader_subgroup_extended_types_float16",
        (ScalarKind::Float, _) => return None,
        (_, 8) => "GL_EXT_shader_subgroup_extended_types_int8",
        (_, 16) => "GL_EXT_shader_subgroup_extended_types_int16",
        (_, 64) => "GL_EXT_shader_subgroup_extended_types_int64",
        _ => return None,
    })
}

/// The extension and the name of a Khronos function.
fn khr_function(op: GroupOp) -> Option<(&'static str, String)> {
    const SHUFFLE: &str = "GL_KHR_shader_subgroup_shuffle";
    const RELATIVE: &str = "GL_KHR_shader_subgroup_shuffle_relative";
    const BALLOT: &str = "GL_KHR_shader_subgroup_ballot";
    const QUAD: &str = "GL_KHR_shader_subgroup_quad";
    let (extension, name) = match op {
        GroupOp::Shuffle => (SHUFFLE, "subgroupShuffle"),
        GroupOp::ShuffleXor => (SHUFFLE, "subgroupShuffleXor"),
        GroupOp::ShuffleUp => (RELATIVE, "subgroupShuffleUp"),
        GroupOp::ShuffleDown => (RELATIVE, "subgroupShuffleDown"),
        GroupOp::Rotate(width) => {
            let name = if width.lanes().is_some() { "subgroupClusteredRotate" } else { "subgroupRotate" };
            ("GL_KHR_shader_subgroup_rotate", name)
        }
        GroupOp::Broadcast => (BALLOT, "subgroupBroadcast"),
        GroupOp::BroadcastFirst => (BALLOT, "subgroupBroadcastFirst"),
        GroupOp::QuadBroadcast => (QUAD, "subgroupQuadBroadcast"),
        GroupOp::QuadSwap(QuadMove::Y) => (QUAD, "subgroupQuadSwapVertical"),
        GroupOp::QuadSwap(QuadMove::Diagonal) => (QUAD, "subgroupQuadSwapDiagonal"),
        GroupOp::QuadSwap(_) => (QUAD, "subgroupQuadSwapHorizontal"),
        GroupOp::Reduce(op, reach) => {
            let (extension, how) = match reach {
                GroupReduce::Reduce => ("GL_KHR_shader_subgroup_arithmetic", ""),
                GroupReduce::Inclusive => ("GL_KHR_shader_subgroup_arithmetic", "Inclusive"),
                GroupReduce::Exclusive => ("GL_KHR_shader_subgroup_arithmetic", "Exclusive"),
                GroupReduce::Clustered(_) => ("GL_KHR_shader_subgroup_clustered", "Clustered"),
            };
            return Some((extension, format!("subgroup{how}{op:?}")));
        }
        GroupOp::Vote(VoteOp::All) => ("GL_KHR_shader_subgroup_vote", "subgroupAll"),
        GroupOp::Vote(VoteOp::Any) => ("GL_KHR_shader_subgroup_vote", "subgroupAny"),
        GroupOp::Vote(VoteOp::Equal) => ("GL_KHR_shader_subgroup_vote", "subgroupAllEqual"),
        GroupOp::QuadVote(VoteOp::Any) => ("GL_EXT_shader_quad_control", "subgroupQuadAny"),
        GroupOp::QuadVote(_) => ("GL_EXT_shader_quad_control", "subgroupQuadAll"),
        GroupOp::Elect => ("GL_KHR_shader_subgroup_basic", "subgroupElect"),
        GroupOp::Sync => ("GL_KHR_shader_subgroup_basic", "subgroupBarrier"),
        GroupOp::Ballot => (BALLOT, "subgroupBallot"),
        GroupOp::InverseBallot => (BALLOT, "subgroupInverseBallot"),
        GroupOp::BallotBitExtract => (BALLOT, "subgroupBallotBitExtract"),
        GroupOp::BallotBitCount(CountOp::All) => (BALLOT, "subgroupBallotBitCount"),
        GroupOp::BallotBitCount(CountOp::Inclusive) => (BALLOT, "subgroupBallotInclusiveBitCount"),
        GroupOp::BallotBitCount(CountOp::Exclusive) => (BALLOT, "subgroupBallotExclusiveBitCount"),
        GroupOp::BallotFindLsb => (BALLOT, "subgroupBallotFindLSB"),
        GroupOp::BallotFindMsb => (BALLOT, "subgroupBallotFindMSB"),
        _ => return None,
    };
    Some((extension, name.to_string()))
}
