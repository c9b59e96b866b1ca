//! Builds the steps of a plan: moves lane-dependent constants into the setup, folds constants, and never adds the same
//! step twice.

use super::No;
use crate::lane::op::{InvertibleOp, MaskOp, ReduceOp, Width};
use crate::lane::plan::{
    Activity, AluOp, CompareOp, Fork, LaneFact, Operand, Plan, Step, StepOp, StepType, Turns, is_same_everywhere,
};
use crate::lane::primitive::{GroupOp, GroupReduce, Primitive};
use crate::lane::request::{Known, Request};
use crate::lane::signature::Depends;
use crate::lane::value::low_bits;
use crate::profile::{Feature, Profile};
use smallvec::SmallVec;
use std::ops::Range;

/// The steps of a growing plan. Most rules lose, so few plans need the heap.
type Steps = SmallVec<[Step; 8]>;

/// A plan that grows.
pub struct Builder<'a> {
    pub request: &'a Request<'a>,
    pub profile: &'a Profile,
    setup: Steps,
    steps: Steps,
    /// See [`Plan::second`].
    pub second: Option<Operand>,
    /// See [`Plan::assumes`].
    pub assumes: Activity,
    /// See [`Plan::whole`]; the end is open while the range grows.
    whole: Range<u16>,
    in_whole: bool,
    /// See [`Plan::turns`]; the end is open while the turns grow.
    turns: Option<Turns>,
    in_turns: bool,
    /// See [`Plan::fork`].
    fork: Option<Fork>,
    /// Steps of the fork that do not precede the following ones.
    closed: Range<usize>,
}

impl<'a> Builder<'a> {
    pub fn new(request: &'a Request<'a>, profile: &'a Profile) -> Builder<'a> {
        Builder {
            request,
            profile,
            setup: Steps::new(),
            steps: Steps::new(),
            second: None,
            assumes: Activity::Any,
            whole: 0..0,
            in_whole: false,
            turns: None,
            in_turns: false,
            fork: None,
            closed: 0..0,
        }
    }

    pub fn finish(&self, rule: &'static str, result: Operand, least_size: u32) -> Plan {
        Plan {
            rule,
            setup: self.setup.to_vec(),
            steps: self.steps.to_vec(),
            result,
            second: self.second,
            assumes: self.assumes,
            whole: self.whole.clone(),
            turns: self.turns.clone(),
            fork: self.fork.clone(),
            uniform: self.is_uniform(),
            least_size,
        }
    }

    /// Returns true if the result is uniform in all active lanes, whatever the plan.
    fn is_uniform(&self) -> bool {
        let signature = self.request.op.signature();
        let is_known = |first| self.request.inputs.iter().skip(first).all(|input| input.known != Known::Varying);
        match signature.depends {
            Depends::Size => true,
            Depends::Operands => is_known(0),
            Depends::Named => is_known(1),
            Depends::Span => signature.span.is_whole(self.most_lanes()),
            Depends::Lane | Depends::Any => false,
        }
    }

    /// Runs the steps that `build` adds in all lanes of the wave, active or not ([`Plan::whole`]); once per plan.
    pub fn in_whole_wave<T>(&mut self, build: impl FnOnce(&mut Self) -> T) -> T {
        self.whole.start = self.steps.len() as u16;
        self.in_whole = true;
        let result = build(self);
        self.in_whole = false;
        self.whole.end = self.steps.len() as u16;
        result
    }

    /// Runs the steps that `build` adds in turns, until the bool that it returns has been true in each lane; once per
    /// plan. Returns the values of each lane's last turn.
    pub fn in_turns(&mut self, build: impl FnOnce(&mut Self) -> (Operand, Operand)) -> Operand {
        let start = self.steps.len() as u16;
        self.turns = Some(Turns { steps: start..u16::MAX, done: Operand::None });
        self.in_turns = true;
        let (result, done) = build(self);
        self.in_turns = false;
        self.turns = Some(Turns { steps: start..self.steps.len() as u16, done });
        result
    }

    /// Runs the steps that `accept` adds if the bool `test`, which is uniform in all active lanes, is true, otherwise
    /// those that `reject` adds, which are right in either case; once per plan. Returns the result of the side that
    /// ran.
    pub fn fork(
        &mut self,
        test: Operand,
        accept: impl FnOnce(&mut Self) -> Operand,
        reject: impl FnOnce(&mut Self) -> Operand,
    ) -> Operand {
        let start = self.steps.len();
        let accepted = accept(self);
        let middle = self.steps.len();
        self.closed = start..middle;
        let rejected = reject(self);
        let end = self.steps.len();
        self.closed = start..end;
        self.fork = Some(Fork { accept: start as u16..middle as u16, reject: middle as u16..end as u16 });
        self.select(test, accepted, rejected)
    }

    pub fn has(&self, feature: Feature) -> bool {
        self.profile.has(feature)
    }

    /// Operand `n` of the operation, with its value if known.
    pub fn input(&self, n: u8) -> Operand {
        match self.request.inputs[n as usize].known {
            Known::Constant(value) => Operand::Const(value),
            _ => Operand::Input(n),
        }
    }

    /// The bits of the operation's index that count.
    pub fn index_bits(&self) -> u32 {
        self.request.op.signature().index_bits(self.lanes())
    }

    /// The index that is operand `n`, cut to the bits that count.
    pub fn counted(&mut self, n: u8) -> Operand {
        let index = self.input(n);
        self.modulo(index)
    }

    /// A number modulo the number of lanes that the operation's index counts.
    pub fn modulo(&mut self, index: Operand) -> Operand {
        let mask = match self.request.op.signature().modulo {
            None => return index,
            Some(Width::SUBGROUP) => {
                let size = self.size();
                self.alu(AluOp::Sub, size, Operand::Const(1))
            }
            Some(_) => Operand::Const(self.index_bits()),
        };
        self.alu(AluOp::And, index, mask)
    }

    /// The value that the operation moves or reduces.
    pub fn value(&self) -> Operand {
        Operand::Input(0)
    }

    /// The number of lanes, if known.
    pub fn fixed_size(&self) -> Option<u32> {
        self.profile.wave_size
    }

    /// Lanes of a wave, on targets where the number is known.
    pub fn lanes(&self) -> u32 {
        self.most_lanes()
    }

    /// Returns true if all lanes are known to be active. A plan that relies on this must set `assumes`.
    pub fn is_full(&self) -> bool {
        self.request.activity == Activity::Full
    }

    /// Returns true if steps are being added that run in all lanes of the wave.
    pub fn is_in_whole_wave(&self) -> bool {
        self.in_whole
    }

    /// The most lanes that the subgroup can have (SPIR-V: 128, Vulkan's limit on subgroup sizes).
    pub fn most_lanes(&self) -> u32 {
        self.fixed_size().unwrap_or(128)
    }

    /// Returns true if a segment is the whole subgroup.
    pub fn is_whole(&self, width: Width) -> bool {
        width.lanes().is_none_or(|lanes| lanes >= self.most_lanes())
    }

    /// Maximum number of lanes in a segment; for [`Width::SUBGROUP`], in the largest possible subgroup.
    pub fn most_in(&self, width: Width) -> u32 {
        width.lanes_in(self.most_lanes())
    }

    pub fn ty(&self, operand: Operand) -> StepType {
        match operand {
            Operand::Input(n) => StepType::Like(n),
            Operand::Setup(n) => self.setup[n as usize].ty,
            Operand::Step(n) => self.steps[n as usize].ty,
            Operand::Const(_) => StepType::Index,
            Operand::Bool(_) => StepType::Bool,
            Operand::None => StepType::None,
        }
    }

    /// Adds a step, or finds an equal one that runs in the same lanes.
    fn add(&mut self, op: StepOp, args: [Operand; 3], ty: StepType) -> Operand {
        let step = Step { op, args, ty };
        let is_setup = is_setup(&step) && (!self.in_whole || is_known_everywhere(&step));
        let apart = self.apart();
        let alike = |n: usize| is_setup || !apart.contains(&n);
        let first = if is_setup { 0 } else { self.first_alike() };
        let (list, name): (_, fn(u16) -> Operand) = match is_setup {
            true => (&mut self.setup, Operand::Setup),
            false => (&mut self.steps, Operand::Step),
        };
        let found = (first..).zip(&list[first..]).find(|(n, known)| **known == step && alike(*n));
        let index = found.map(|(n, _)| n).unwrap_or_else(|| {
            list.push(step);
            list.len() - 1
        });
        name(index as u16)
    }

    /// Steps with other lanes or at other times than the new step.
    fn apart(&self) -> Range<usize> {
        if !self.closed.is_empty() {
            return self.closed.clone();
        }
        let turns = self.turns.as_ref().filter(|_| !self.in_turns).map(|turns| turns.steps.clone());
        let steps = if self.in_whole { 0..0 } else { turns.unwrap_or(self.whole.clone()) };
        steps.start.into()..steps.end.into()
    }

    /// The first step that runs in the same lanes as the new one.
    fn first_alike(&self) -> usize {
        match &self.turns {
            Some(turns) if self.in_turns => turns.steps.start.into(),
            _ if self.in_whole => self.whole.start.into(),
            _ => 0,
        }
    }

    /// `i`.
    pub fn index(&mut self) -> Operand {
        self.fact(LaneFact::Index, StepType::Index)
    }

    /// `S`.
    pub fn size(&mut self) -> Operand {
        match self.fixed_size() {
            Some(size) => Operand::Const(size),
            None => self.fact(LaneFact::Size, StepType::Index),
        }
    }

    /// Lanes with this relation to `i`, as a ballot.
    pub fn mask(&mut self, op: MaskOp) -> Operand {
        self.fact(LaneFact::Mask(op), StepType::Ballot)
    }

    fn fact(&mut self, fact: LaneFact, ty: StepType) -> Operand {
        self.add(StepOp::Fact(fact), [Operand::None; 3], ty)
    }

    /// `local(i, W)`.
    pub fn local(&mut self, width: Width) -> Operand {
        let i = self.index();
        match width.lanes() {
            Some(lanes) => self.alu(AluOp::And, i, Operand::Const(lanes - 1)),
            None => i,
        }
    }

    /// `base(i, W)`.
    pub fn base(&mut self, lanes: u32) -> Operand {
        let i = self.index();
        self.alu(AluOp::And, i, Operand::Const(!(lanes - 1)))
    }

    /// Arithmetic on two operands, at planning time if they are known.
    pub fn alu(&mut self, op: AluOp, a: Operand, b: Operand) -> Operand {
        if let Some(known) = self.known(op, a, b) {
            return known;
        }
        self.add(StepOp::Alu(op), [a, b, Operand::None], op.result())
    }

    /// Arithmetic on one operand.
    pub fn alu1(&mut self, op: AluOp, a: Operand) -> Operand {
        match (op, a) {
            (AluOp::BoolNot, Operand::Bool(value)) => Operand::Bool(!value),
            _ => self.add(StepOp::Alu(op), [a, Operand::None, Operand::None], op.result()),
        }
    }

    /// The result, if the operands determine it.
    fn known(&self, op: AluOp, a: Operand, b: Operand) -> Option<Operand> {
        match (a, b) {
            (Operand::Const(a), Operand::Const(b)) => op.on_constants(a, b),
            (Operand::Bool(known), other) | (other, Operand::Bool(known)) => match (op, known) {
                (AluOp::BoolAnd, true) | (AluOp::BoolOr, false) => Some(other),
                (AluOp::BoolAnd, false) | (AluOp::BoolOr, true) => Some(Operand::Bool(known)),
                _ => None,
            },
            (value, Operand::Const(b)) => self.known_index(op, value, b),
            (Operand::Const(0), value) if matches!(op, AluOp::Add | AluOp::Or | AluOp::Xor) => Some(value),
            _ => None,
        }
    }

    /// `value op b` if it is `value` itself, zero, or decided by the range of the lane index.
    fn known_index(&self, op: AluOp, value: Operand, b: u32) -> Option<Operand> {
        let most = if self.is_index(value) { self.most_lanes() - 1 } else { u32::MAX };
        match op {
            AluOp::And if most & !b == 0 => Some(value),
            AluOp::And if most & b == 0 => Some(Operand::Const(0)),
            AluOp::Shr if b > 0 && most.checked_shr(b) == Some(0) => Some(Operand::Const(0)),
            AluOp::Add | AluOp::Sub | AluOp::Or | AluOp::Xor | AluOp::Shl | AluOp::Shr if b == 0 => Some(value),
            AluOp::Ge if b == 0 => Some(Operand::Bool(true)),
            _ => None,
        }
    }

    fn is_index(&self, operand: Operand) -> bool {
        matches!(operand, Operand::Setup(n) if self.setup[n as usize].op == StepOp::Fact(LaneFact::Index))
    }

    /// An instruction with a result of type `ty`.
    pub fn prim(&mut self, primitive: impl Into<Primitive>, args: &[Operand], ty: StepType) -> Operand {
        let mut all = [Operand::None; 3];
        all[..args.len()].copy_from_slice(args);
        self.add(StepOp::Prim(primitive.into()), all, ty)
    }

    /// `own op primitive(moved)` in one instruction.
    pub fn combine_moved(
        &mut self,
        op: ReduceOp,
        primitive: impl Into<Primitive>,
        own: Operand,
        moved: Operand,
    ) -> Operand {
        self.add(StepOp::CombineMoved(op, primitive.into()), [own, moved, Operand::None], self.ty(own))
    }

    /// True if `i` is in a set, bit `j` for lane `j`.
    pub fn in_set(&mut self, set: u64) -> Operand {
        match self.fixed_size().map(|size| low_bits(size) as u64) {
            _ if set == 0 => Operand::Bool(false),
            Some(all) if set & all == all => Operand::Bool(true),
            _ => self.fact(LaneFact::InSet(set), StepType::Bool),
        }
    }

    /// A subgroup instruction with a result of type `ty`.
    pub fn group(&mut self, op: GroupOp, args: &[Operand], ty: StepType) -> Operand {
        self.prim(op, args, ty)
    }

    /// A subgroup instruction that moves `value`.
    pub fn mover(&mut self, op: GroupOp, value: Operand, operand: Operand) -> Operand {
        self.group(op, &[value, operand], self.ty(value))
    }

    /// `v[index]`.
    pub fn shuffle(&mut self, value: Operand, index: Operand) -> Operand {
        self.mover(GroupOp::Shuffle, value, index)
    }

    /// `v[i ^ mask]`.
    pub fn shuffle_xor(&mut self, value: Operand, mask: Operand) -> Operand {
        match mask {
            Operand::Const(0) => value,
            _ if self.takes_distance(mask) => self.mover(GroupOp::ShuffleXor, value, mask),
            _ => {
                let i = self.index();
                let source = self.alu(AluOp::Xor, i, mask);
                self.shuffle(value, source)
            }
        }
    }

    /// `v[i - delta]`.
    pub fn shuffle_up(&mut self, value: Operand, delta: Operand) -> Operand {
        self.relative(GroupOp::ShuffleUp, AluOp::Sub, value, delta)
    }

    /// `v[i + delta]`.
    pub fn shuffle_down(&mut self, value: Operand, delta: Operand) -> Operand {
        self.relative(GroupOp::ShuffleDown, AluOp::Add, value, delta)
    }

    /// A relative shuffle, or a shuffle by index if the profile has no other.
    fn relative(&mut self, op: GroupOp, index: AluOp, value: Operand, delta: Operand) -> Operand {
        if delta == Operand::Const(0) {
            return value;
        }
        if self.has(Feature::ShuffleRelative) && self.takes_distance(delta) {
            return self.mover(op, value, delta);
        }
        let i = self.index();
        let source = self.alu(index, i, delta);
        self.shuffle(value, source)
    }

    /// Returns true if shuffles by a distance accept this one: some require it to be uniform.
    fn takes_distance(&self, distance: Operand) -> bool {
        self.has(Feature::VaryingDistance) || self.is_same_everywhere(distance)
    }

    /// Returns true if an operand is known to be uniform.
    pub fn is_same_everywhere(&self, operand: Operand) -> bool {
        is_same_everywhere(operand, self.request, &self.setup, &self.steps)
    }

    /// A reduction over the active lanes by one instruction.
    pub fn native_reduction(&mut self, op: ReduceOp, reach: GroupReduce) -> Operand {
        let value = self.value();
        self.group(GroupOp::Reduce(op, reach), &[value], self.ty(value))
    }

    /// A reduction over the active lanes by one of AMD's instructions.
    pub fn native_reduction_amd(&mut self, op: ReduceOp, reach: GroupReduce) -> Result<Operand, No> {
        // These functions do not exist for 8 bits.
        if !matches!(op, ReduceOp::Add | ReduceOp::Min | ReduceOp::Max) || self.request.input_ty(0).width < 16 {
            return Err(No::NotMine);
        }
        self.need(Feature::ShaderBallotAmd)?;
        let value = self.value();
        Ok(self.group(GroupOp::ReduceAmd(op, reach), &[value], self.ty(value)))
    }

    pub fn combine(&mut self, op: ReduceOp, a: Operand, b: Operand) -> Operand {
        self.add(StepOp::Combine(op), [a, b, Operand::None], self.ty(a))
    }

    /// `total` without `part`, which was combined into it.
    pub fn remove(&mut self, op: InvertibleOp, total: Operand, part: Operand) -> Operand {
        self.add(StepOp::Remove(op), [total, part, Operand::None], self.ty(total))
    }

    pub fn compare(&mut self, op: CompareOp, a: Operand, b: Operand) -> Operand {
        self.add(StepOp::Compare(op), [a, b, Operand::None], StepType::Bool)
    }

    pub fn select(&mut self, condition: Operand, accept: Operand, reject: Operand) -> Operand {
        match condition {
            Operand::Bool(true) => accept,
            Operand::Bool(false) => reject,
            _ => self.add(StepOp::Select, [condition, accept, reject], self.ty(accept)),
        }
    }

    /// A reduction's identity element in the value's type.
    pub fn identity(&mut self, op: ReduceOp) -> Operand {
        self.add(StepOp::Identity(op), [Operand::None; 3], StepType::DATA)
    }

    /// The neutral value of a reduction, in the type of the value.
    pub fn neutral(&mut self, op: ReduceOp) -> Operand {
        self.add(StepOp::Neutral(op), [Operand::None; 3], StepType::DATA)
    }

    /// Zero in the value's type.
    pub fn zero(&mut self) -> Operand {
        self.add(StepOp::Zero, [Operand::None; 3], StepType::DATA)
    }

    pub fn ballot(&mut self, predicate: Operand) -> Operand {
        self.group(GroupOp::Ballot, &[predicate], StepType::Ballot)
    }

    /// The 32-bit word of a ballot for this lane.
    pub fn own_word(&mut self, ballot: Operand) -> Operand {
        let i = self.index();
        let word = self.alu(AluOp::Shr, i, Operand::Const(5));
        self.alu(AluOp::BallotWord, ballot, word)
    }

    /// Fails unless the profile has the feature.
    pub fn need(&self, feature: Feature) -> Result<(), No> {
        if self.has(feature) { Ok(()) } else { Err(No::Lacks(feature)) }
    }
}

/// Returns true if a setup step is defined in inactive lanes too: constants are.
fn is_known_everywhere(step: &Step) -> bool {
    matches!(step.op, StepOp::Fact(LaneFact::InSet(_) | LaneFact::Size))
}

/// Returns true if a step depends on the lane and on constants alone.
fn is_setup(step: &Step) -> bool {
    let of_lane = |arg: &Operand| matches!(arg, Operand::Setup(_) | Operand::Const(_) | Operand::Bool(_));
    match step.op {
        StepOp::Fact(_) => true,
        StepOp::Alu(_) => step.operands().iter().all(of_lane),
        _ => false,
    }
}
