//! Walks along a plan and adds up its cost.

use super::PlanCost;
use super::price::{self, Unit, Work};
use crate::lane::plan::{AluOp, LaneFact, Operand, Plan, Step, StepOp, StepType};
use crate::lane::primitive::{LdsOp, NvOp, PermlaneOp, Primitive, ScalarOp};
use crate::lane::request::{LaneType, Request, ScalarKind};
use crate::profile::{Cost, Feature, Profile};

/// Switches to the whole wave and back: one write of EXEC each.
const MODE_SWITCHES: u32 = 2;

/// Instructions of a branch that the steps on either side wait for: the condition code, and the jump.
const BRANCH_LATENCY: u32 = 2;

/// Cost of computing the start of the wave's part of workgroup memory: its index as a scalar, and two shifts.
const WAVE_BASE: u32 = 3;

/// The kind of register of a step's result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RegisterKind {
    Vector,
    Scalar,
    /// A mask of lanes in scalar registers.
    Mask,
    /// A constant of the instruction that uses it.
    Nowhere,
}

/// The facts about an earlier step.
#[derive(Clone, Copy, Debug)]
struct Passed {
    place: RegisterKind,
    /// Cycle at which the result is there.
    ready: u32,
    /// Instructions and wait states issued up to and including it.
    slot: u32,
    /// Wait states before a vector instruction may read the result.
    wait_after: u32,
    /// Registers that the result takes.
    registers: u32,
}

struct Meter<'a> {
    plan: &'a Plan,
    request: &'a Request<'a>,
    profile: &'a Profile,
    setup: Vec<Passed>,
    steps: Vec<Passed>,
    /// For each step, the number of the last step that uses it.
    last_use: Vec<usize>,
    /// For each operand of the operation, the last step that reads it. The code after the plan is unknown and assumed
    /// not to read them.
    last_read: Vec<usize>,
    /// For each step, the registers of its instruction in addition to operands and result, vectors first.
    beside: Vec<[u32; 2]>,
    slot: u32,
    /// Outstanding results of the local data share.
    pending: Vec<Operand>,
    cost: PlanCost,
}

/// The cost of a plan.
pub fn measure(plan: &Plan, request: &Request, profile: &Profile) -> PlanCost {
    let mut last_read = vec![0; request.inputs.len()];
    let mut meter = Meter {
        plan,
        request,
        profile,
        setup: Vec::new(),
        steps: Vec::new(),
        last_use: last_uses(plan, &mut last_read),
        last_read,
        beside: Vec::new(),
        slot: 0,
        pending: Vec::new(),
        cost: PlanCost::default(),
    };
    plan.setup.iter().for_each(|step| meter.set_up(step));
    plan.steps.iter().enumerate().for_each(|(n, step)| meter.pass(n, step));
    meter.finish()
}

/// For each step, and each operand of the operation, the last step that reads it; results are read at the end.
fn last_uses(plan: &Plan, inputs: &mut [usize]) -> Vec<usize> {
    let mut last: Vec<usize> = (0..plan.steps.len()).collect();
    let mut read = |operand: Operand, at: usize| match operand {
        Operand::Step(n) => last[usize::from(n)] = at,
        Operand::Input(n) => inputs[usize::from(n)] = at,
        _ => {}
    };
    for (at, step) in plan.steps.iter().enumerate() {
        step.operands().iter().for_each(|operand| read(*operand, at));
    }
    [Some(plan.result), plan.second].into_iter().flatten().for_each(|operand| read(operand, plan.steps.len()));
    last
}

impl Meter<'_> {
    fn passed(&self, operand: Operand) -> Option<&Passed> {
        match operand {
            Operand::Setup(n) => self.setup.get(usize::from(n)),
            Operand::Step(n) => self.steps.get(usize::from(n)),
            _ => None,
        }
    }

    fn register_kind(&self, operand: Operand) -> RegisterKind {
        match operand {
            Operand::Input(n) => match self.request.input_ty(n).kind {
                ScalarKind::Bool => RegisterKind::Mask,
                _ => RegisterKind::Vector,
            },
            Operand::Const(_) | Operand::Bool(_) | Operand::None => RegisterKind::Nowhere,
            _ => self.passed(operand).map_or(RegisterKind::Nowhere, |passed| passed.place),
        }
    }

    /// A ballot is as many scalar registers as a mask of lanes.
    fn ty(&self, ty: StepType) -> LaneType {
        match ty {
            StepType::Ballot => LaneType { components: self.halves() as u8, ..LaneType::U32 },
            ty => self.request.ty(ty),
        }
    }

    /// Scalar registers of a mask of lanes.
    fn halves(&self) -> u32 {
        self.profile.wave_size.map_or(4, |size| size.div_ceil(32))
    }

    /// Returns true if waves have scalar registers.
    fn has_scalars(&self) -> bool {
        self.profile.target.row().has_scalar_registers
    }

    fn is_scalar(&self, operand: Operand) -> bool {
        !matches!(self.register_kind(operand), RegisterKind::Vector)
    }

    fn all_scalar(&self, step: &Step) -> bool {
        step.operands().iter().all(|operand| self.is_scalar(*operand))
    }

    /// The kind of register of a result. Only AMD has scalar registers.
    fn result_kind(&self, step: &Step) -> RegisterKind {
        let ty = self.ty(step.ty);
        match step.op {
            op if op.is_constant() => RegisterKind::Nowhere,
            _ if !self.has_scalars() => RegisterKind::Vector,
            _ if ty.kind == ScalarKind::Bool => RegisterKind::Mask,
            StepOp::Prim(Primitive::Scalar(op)) if op.is_scalar() => RegisterKind::Scalar,
            StepOp::Fact(LaneFact::Size) => RegisterKind::Nowhere,
            StepOp::Alu(_) if self.all_scalar(step) => RegisterKind::Scalar,
            StepOp::Combine(_) | StepOp::Remove(_) if self.all_scalar(step) && has_scalar_form(ty) => {
                RegisterKind::Scalar
            }
            _ => RegisterKind::Vector,
        }
    }

    /// The arithmetic of a step; `None` for instructions with their own price.
    fn work(&self, step: &Step) -> Option<Work> {
        let scalar = self.all_scalar(step) && self.has_scalars();
        let (ty, table) = (self.ty(step.ty), price::table(self.profile.target));
        let combined = |op| match price::of_combine(op, ty) {
            work if scalar && has_scalar_form(ty) => Work { unit: Unit::Scalar, ..work },
            work => work,
        };
        Some(match step.op {
            StepOp::Prim(_) | StepOp::CombineMoved(..) => return None,
            StepOp::Fact(fact) => match (fact, table.built_in) {
                (LaneFact::Index | LaneFact::Mask(_), Some(count)) => Work { unit: Unit::Vector, count },
                _ => price::of_fact(fact, self.halves()),
            },
            StepOp::Alu(AluOp::FindMsb) => table.find_msb,
            StepOp::Alu(op) => match table.find_lsb.filter(|_| op == AluOp::FindLsb) {
                Some(work) => work,
                None => price::of_alu(op, scalar, matches!(step.args[1], Operand::Const(_)), self.halves()),
            },
            StepOp::Combine(op) => combined(op),
            StepOp::Remove(op) => combined(op.folds()),
            StepOp::Compare(_) => Work { unit: Unit::Compare, count: self.comparisons(step) },
            StepOp::Select => match table.select_bool.filter(|_| ty.kind == ScalarKind::Bool) {
                Some(work) => work,
                None => Work { unit: Unit::Vector, count: price::registers(ty) },
            },
            StepOp::Identity(_) | StepOp::Neutral(_) | StepOp::Zero => Work { unit: Unit::Scalar, count: 0 },
        })
    }

    /// Instructions of a comparison: one or more per component, and one to combine each further component.
    fn comparisons(&self, step: &Step) -> u32 {
        let ty = self.operand_ty(step);
        let StepOp::Compare(op) = step.op else { return 0 };
        let each = (price::table(self.profile.target).compare)(op, ty);
        (each + 1) * u32::from(ty.components) - 1
    }

    /// Returns true if it runs on the vector unit, or would on AMD.
    fn is_of_vector_unit(&self, step: &Step) -> bool {
        let compares = self.work(step).is_some_and(|work| work.unit == Unit::Compare);
        self.result_kind(step) == RegisterKind::Vector || compares && self.operand_ty(step) != LaneType::BOOL
    }

    /// Type of a comparison's operands.
    fn operand_ty(&self, step: &Step) -> LaneType {
        match step.args[0] {
            Operand::Input(n) => self.request.input_ty(n),
            Operand::Step(n) => self.plan.steps.get(usize::from(n)).map_or(LaneType::U32, |step| self.ty(step.ty)),
            _ => LaneType::U32,
        }
    }

    /// Price of one of the step's instructions, and their number.
    fn price(&self, step: &Step) -> (Cost, u32) {
        let fused = |op, ty| price::of_combine(op, ty).count.max(price::registers(ty));
        match (step.op, self.work(step)) {
            (_, Some(work)) => (price::of_unit(self.profile, work.unit), work.count),
            (StepOp::CombineMoved(op, primitive), None) => {
                (price::of_primitive(self.profile, primitive), fused(op, self.ty(step.ty)))
            }
            (StepOp::Prim(primitive), None) => {
                let count = if takes_each_register(primitive) { price::registers(self.ty(step.ty)) } else { 1 };
                (price::of_primitive(self.profile, primitive), count + self.around_bool(primitive, step))
            }
            _ => (price::of_unit(self.profile, Unit::Vector), 1),
        }
    }

    /// Instructions around a move, if it moves a bool.
    fn around_bool(&self, primitive: Primitive, step: &Step) -> u32 {
        let is_bool = primitive.moves_values() && self.ty(step.ty).kind == ScalarKind::Bool;
        if is_bool { price::table(self.profile.target).moved_bool } else { 0 }
    }

    fn set_up(&mut self, step: &Step) {
        let (price, count) = self.price(step);
        self.cost.setup += count * u32::from(price.instructions);
        let place = self.result_kind(step);
        let registers = self.registers(step, place);
        self.setup.push(Passed { place, ready: 0, slot: 0, wait_after: 0, registers });
    }

    fn registers(&self, step: &Step, place: RegisterKind) -> u32 {
        match place {
            RegisterKind::Nowhere => 0,
            RegisterKind::Mask => self.halves(),
            RegisterKind::Vector | RegisterKind::Scalar => price::registers(self.ty(step.ty)),
        }
    }

    /// The time at which a step can start: its operands are ready, and on one side of a fork the branch is decided. A
    /// fork's select does not wait for the less common side.
    fn start(&self, n: usize, step: &Step) -> u32 {
        let operands = if self.joins_ways(n) { &step.args[..2] } else { step.operands() };
        let ready = |operand| self.passed(operand).map(|passed| passed.ready);
        let cycle = u32::from(price::of_unit(self.profile, Unit::Vector).latency);
        let decided = self.condition(n).and_then(ready).map(|ready| ready + BRANCH_LATENCY * cycle);
        operands.iter().copied().filter_map(ready).chain(decided).max().unwrap_or(0)
    }

    /// The condition under which a step runs, if it is on one side of a fork.
    fn condition(&self, n: usize) -> Option<Operand> {
        let fork = self.plan.fork.as_ref()?;
        let ways = fork.accept.start..fork.reject.end;
        ways.contains(&(n as u16)).then(|| self.plan.steps[usize::from(fork.select())].args[0])
    }

    /// Returns true if the step is on the less common side of a fork.
    fn is_rare(&self, n: usize) -> bool {
        self.plan.fork.as_ref().is_some_and(|fork| fork.reject.contains(&(n as u16)))
    }

    /// Returns true if the step is the select of a fork, whose sides leave their results in the same place.
    fn joins_ways(&self, n: usize) -> bool {
        self.plan.fork.as_ref().is_some_and(|fork| usize::from(fork.select()) == n)
    }

    fn pass(&mut self, n: usize, step: &Step) {
        let is_half = self.is_second_of_swap(n, step) || self.is_predicate_of_shuffle(n, step);
        let is_free = is_half || is_ballot(step) || self.joins_ways(n);
        let (price, count) = if is_free { (price::FREE, 0) } else { self.price(step) };
        self.wait_for_lds(step);
        let copies = if count > 0 { self.copies(n, step) } else { 0 };
        let moves = if count > 0 { self.moves_to_vectors(step) } else { 0 };
        let early = if moves > 0 { self.waits_for_scalars(step) } else { 0 };
        let extra = copies + moves + price::selector_constants(step.op);
        self.slot += extra + early;
        let waits = early + self.waits(step, &price).max(self.waits_behind_copies(step, &price, copies));
        let instructions = count * u32::from(price.instructions);
        self.slot += waits - early + instructions;
        match self.is_rare(n) {
            true => self.cost.rare += instructions + extra,
            false => self.cost.instructions += instructions + extra,
        }
        self.cost.waits += waits;
        self.cost.lds += count * u32::from(price.lds);
        if count > 0 && price.lds > 0 {
            self.pending.push(Operand::Step(n as u16));
        }
        let cycle = u32::from(price::of_unit(self.profile, Unit::Vector).latency);
        let start = self.start(n, step);
        let busy = u32::from(price.latency) * count.min(1) + cycle * (count.saturating_sub(1) + waits);
        let place = self.result_kind(step);
        self.steps.push(Passed {
            place,
            ready: start + busy,
            slot: self.slot,
            wait_after: price.wait_after.into(),
            registers: self.registers(step, place),
        });
        self.beside.push([price.registers.into(), price.scalars.into()]);
    }

    /// A wait for outstanding results of the local data share takes one slot, and covers all of them.
    fn wait_for_lds(&mut self, step: &Step) {
        if step.operands().iter().any(|operand| self.pending.contains(operand)) {
            self.pending.clear();
            self.slot += 1;
        }
    }

    /// Wait states before scalars are moved to vectors.
    fn waits_for_scalars(&self, step: &Step) -> u32 {
        let scalars = step.operands().iter().filter_map(|operand| self.passed(*operand));
        let left = |passed: &Passed| passed.wait_after.saturating_sub(self.slot - passed.slot);
        scalars.filter(|passed| passed.place != RegisterKind::Vector).map(left).max().unwrap_or(0)
    }

    /// A swap reads the copies that were just made for it.
    fn waits_behind_copies(&self, step: &Step, price: &Cost, copies: u32) -> u32 {
        match swapped_block(step) {
            Some(_) if copies > 0 => {
                u32::from(price.wait_before).saturating_sub(price::registers(self.ty(step.ty)) - 1)
            }
            _ => 0,
        }
    }

    /// The address of the lane's word of memory, which every move through memory needs, and the lane count for it. It
    /// is computed in all lanes of the wave, so EXEC is changed around it.
    fn own_address(&self) -> u32 {
        if !self.plan.steps.iter().any(|step| step.op == StepOp::Prim(LdsOp::Bounce.into())) {
            return 0;
        }
        // The count also gives the index.
        let index = self.plan.setup.iter().any(|step| step.op == StepOp::Fact(LaneFact::Index));
        MODE_SWITCHES + WAVE_BASE + 2 + self.halves() - u32::from(index)
    }

    /// Copies of values that the instruction overwrites and that are still needed, or of a constant that it must
    /// preserve.
    fn copies(&self, n: usize, step: &Step) -> u32 {
        let overwritten = overwritten(step);
        // The other register of a swap is read by the same instruction.
        let n = n + usize::from(self.plan.steps.get(n + 1).is_some_and(|next| self.is_second_of_swap(n + 1, next)));
        let lives = |operand: &Operand| match operand {
            Operand::Step(m) => {
                self.last_use[usize::from(*m)] > n || self.steps[usize::from(*m)].place != RegisterKind::Vector
            }
            Operand::Input(m) => self.last_read[usize::from(*m)] > n,
            _ => true,
        };
        let copied = overwritten.iter().filter(|operand| **operand != Operand::None && lives(operand)).count();
        // A swap of a value with itself needs a second register.
        let twin = overwritten[0] != Operand::None && overwritten[0] == overwritten[1];
        (copied + usize::from(twin && copied == 0)) as u32 * price::registers(self.ty(step.ty))
    }

    /// Moves of scalars that the instruction cannot read: a moved operand must be a vector, and only one other operand
    /// (on newer hardware two) may be a scalar.
    fn moves_to_vectors(&self, step: &Step) -> u32 {
        if !self.has_scalars() || self.result_kind(step) != RegisterKind::Vector {
            return 0;
        }
        let read =
            |operand: &&Operand| matches!(self.register_kind(**operand), RegisterKind::Scalar | RegisterKind::Mask);
        match step.op {
            StepOp::CombineMoved(..) => step.operands().iter().take(2).filter(read).count() as u32,
            StepOp::Prim(primitive) if primitive.moves_values() && !primitive.instruction().value_is_uniform() => {
                step.operands().iter().take(1).filter(read).count() as u32
            }
            StepOp::Prim(_) => 0,
            _ => {
                let limit = if self.profile.has(Feature::AmdTwoScalars) { 2 } else { 1 };
                let literal = |operand: &&Operand| self.is_literal(**operand);
                let taken = step.operands().iter().filter(|operand| read(operand) || literal(operand)).count() as u32;
                taken.saturating_sub(limit)
            }
        }
    }

    /// Returns true for a constant that does not fit in the instruction that reads it, and is read as a scalar is.
    fn is_literal(&self, operand: Operand) -> bool {
        let Operand::Step(n) = operand else { return false };
        let step = &self.plan.steps[usize::from(n)];
        match step.op {
            StepOp::Identity(op) => price::is_literal(op, self.ty(step.ty), false),
            StepOp::Neutral(op) => price::is_literal(op, self.ty(step.ty), true),
            _ => false,
        }
    }

    /// Wait states before a step that earlier steps do not cover.
    fn waits(&self, step: &Step, price: &Cost) -> u32 {
        let moved = match step.op {
            StepOp::CombineMoved(..) => 1,
            _ => 0,
        };
        let values = match step.op {
            StepOp::Prim(primitive) => step.operands().len() - primitive.instruction().index_operands(),
            _ => step.operands().len(),
        };
        let is_vector = self.is_of_vector_unit(step);
        let is_moved = |n: usize| n == moved || n < 2 && swapped_block(step).is_some();
        let needed = |(n, operand): (usize, &Operand)| {
            let Some(passed @ Passed { place, .. }) = self.passed(*operand) else { return 0 };
            let Operand::Step(_) = operand else { return 0 };
            let before = if is_moved(n) && *place == RegisterKind::Vector { price.wait_before.into() } else { 0 };
            let index = if n >= values && *place == RegisterKind::Scalar { price.wait_index.into() } else { 0 };
            let after = if is_vector { passed.wait_after } else { 0 };
            u32::max(before, index).max(after).saturating_sub(self.slot - passed.slot)
        };
        step.operands().iter().enumerate().map(needed).max().unwrap_or(0)
    }

    /// Returns true if the step is the other register of the swap before it: one instruction writes both.
    fn is_second_of_swap(&self, n: usize, step: &Step) -> bool {
        let Some(before) = n.checked_sub(1).map(|n| self.plan.steps[n]) else { return false };
        let mirrored = before.args[0] == step.args[1] && before.args[1] == step.args[0];
        mirrored && swapped_block(&before).is_some() && swapped_block(&before) == swapped_block(step)
    }

    /// Returns true if the step is the predicate of the NVIDIA shuffle before it: one instruction writes both.
    fn is_predicate_of_shuffle(&self, n: usize, step: &Step) -> bool {
        let StepOp::Prim(Primitive::Nv(NvOp::ShuffleValid(mode))) = step.op else { return false };
        let shuffle = StepOp::Prim(NvOp::Shuffle(mode).into());
        self.plan.steps[..n].iter().any(|other| other.op == shuffle && other.args[1..] == step.args[..2])
    }

    /// The maximum number of live registers of one kind: setup is always live, results of steps until their last use.
    fn most_live(&self, vector: bool) -> u32 {
        let here = |passed: &&Passed| (passed.place == RegisterKind::Vector) == vector;
        let held: u32 = self.setup.iter().filter(here).map(|passed| passed.registers).sum();
        let mut change = vec![0_i64; self.steps.len() + 1];
        for (n, passed) in self.steps.iter().enumerate().filter(|(_, passed)| here(passed)) {
            change[n] += i64::from(passed.registers);
            change[self.last_use[n]] -= i64::from(passed.registers);
        }
        let live = change.iter().scan(0, |live, change| {
            *live += change;
            Some(*live as u32)
        });
        let beside = self.beside.iter().map(|beside| beside[usize::from(!vector)]).chain([0]);
        held + live.zip(beside).map(|(live, beside)| live + beside).max().unwrap_or(0)
    }

    fn finish(mut self) -> PlanCost {
        let results = [Some(self.plan.result), self.plan.second].into_iter().flatten();
        let ready = results.filter_map(|operand| self.passed(operand)).map(|passed| passed.ready).max();
        self.cost.latency = ready.unwrap_or(0);
        self.cost.vectors = self.most_live(true);
        self.cost.scalars = self.most_live(false);
        self.cost.setup += self.own_address();
        if self.plan.turns.is_some() {
            self.cost.instructions += (price::table(self.profile.target).turns)(self.halves());
        }
        if self.plan.fork.is_some() {
            self.cost.instructions += price::table(self.profile.target).fork;
        }
        if !self.plan.whole.is_empty() {
            let switch = price::of_unit(self.profile, Unit::Scalar);
            self.cost.instructions += MODE_SWITCHES * u32::from(switch.instructions);
            self.cost.latency += MODE_SWITCHES * u32::from(switch.latency);
            self.cost.scalars += self.halves();
        }
        self.cost
    }
}

/// Returns true if the scalar unit reduces values of this type: 32-bit integers.
fn has_scalar_form(ty: LaneType) -> bool {
    matches!(ty.kind, ScalarKind::Sint | ScalarKind::Uint) && ty.width == 32 && ty.components == 1
}

/// Returns true if there is an instruction for each register of a value.
fn takes_each_register(primitive: Primitive) -> bool {
    !matches!(primitive, Primitive::Group(_)) && primitive.moves_values()
}

/// The operands whose registers the instruction writes in addition to its result: the old value that it may keep, or
/// both of a swap.
fn overwritten(step: &Step) -> [Operand; 2] {
    let kept = |primitive: Primitive, old: Operand| match primitive {
        Primitive::Dpp16(dpp) if dpp.writes_all() => Operand::None,
        Primitive::Dpp16(_) | Primitive::Scalar(ScalarOp::WriteLane) => old,
        Primitive::Permlane(PermlaneOp::Row { .. } | PermlaneOp::Half) => old,
        // With a selector by lane the old value is there only next to it.
        Primitive::Permlane(PermlaneOp::RowVar { .. }) if step.args[2] != Operand::None => old,
        _ => Operand::None,
    };
    match step.op {
        StepOp::Prim(_) if swapped_block(step).is_some() => [step.args[0], step.args[1]],
        StepOp::Prim(primitive) => [kept(primitive, step.args[1]), Operand::None],
        StepOp::CombineMoved(_, primitive) => [kept(primitive, step.args[0]), Operand::None],
        _ => [Operand::None; 2],
    }
}

/// Returns true if a step turns a bool into a mask, which costs nothing: a bool is a mask that is false in inactive
/// lanes.
fn is_ballot(step: &Step) -> bool {
    step.op == StepOp::Prim(Primitive::Scalar(ScalarOp::Ballot))
}

/// The size of the blocks that a step swaps.
fn swapped_block(step: &Step) -> Option<u8> {
    match step.op {
        StepOp::Prim(Primitive::Permlane(
            PermlaneOp::SwapFirst { block, .. } | PermlaneOp::SwapSecond { block, .. },
        )) => Some(block),
        _ => None,
    }
}
