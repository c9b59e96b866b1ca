//! Plans in AMD's assembly language, as LLVM's assembler reads it.
//!
//! Values of lanes are in vector registers, one for each 32 bits of each component; bools and ballots are masks in scalar
//! registers; what is the same in all lanes stays in scalar registers where a step made it there. Neither scheduling nor
//! folding happens: one step gives one instruction or the few that stand for it.

mod arithmetic;
mod compare;
mod emit;
mod movers;
mod operand;
mod place;
mod scalar;

use super::registers::{LastUses, Pool};
use super::{Listing, Unwritten};
pub use crate::backend::amd::dpp::control as control_text;
use crate::backend::amd::mnemonic::Operation;
use crate::ir::Scalar;
use crate::kernel::arith;
use crate::lane::{LaneFact, LaneType, Operand, Plan, Request, Step, StepOp};
use crate::profile::{CostClass, Processor, Profile};
use emit::Writer;
use operand::{Arg, Register};
use place::Place;
use std::collections::BTreeMap;

type Done = Result<(), Unwritten>;
type Placed = Result<Place, Unwritten>;

/// The lines of a plan for AMD.
///
/// # Errors
/// When the profile names no processor that is known, or a step cannot be written.
pub fn list(plan: &Plan, request: &Request, profile: &Profile) -> Result<Listing, Unwritten> {
    let processor = Processor::named(&profile.processor);
    let processor = processor.ok_or_else(|| Unwritten(format!("unknown processor `{}`", profile.processor)))?;
    let wave = profile.wave_size.unwrap_or(64);
    let mask_wait = profile.costs.of(CostClass::AmdBallot).map_or(0, |cost| cost.wait_after.into());
    let mut lister = Lister {
        plan,
        request,
        profile,
        writer: Writer::new(processor.generation, wave, mask_wait),
        vectors: Pool::default(),
        scalars: Pool::default(),
        uses: LastUses::new(plan),
        inputs: Vec::new(),
        setup: Vec::new(),
        steps: Vec::new(),
        saved_exec: None,
        own_address: None,
        swapped: None,
        holders: BTreeMap::new(),
    };
    lister.run()?;
    lister.finish()
}

/// A plan that is being written down.
struct Lister<'a> {
    plan: &'a Plan,
    request: &'a Request<'a>,
    profile: &'a Profile,
    writer: Writer,
    vectors: Pool,
    scalars: Pool,
    uses: LastUses,
    inputs: Vec<Place>,
    setup: Vec<Place>,
    steps: Vec<Place>,
    /// Where EXEC is kept while all lanes run.
    saved_exec: Option<Arg>,
    /// The address of the lane's own word of the local data share.
    own_address: Option<Arg>,
    /// The second register of a swap, for the step behind it.
    swapped: Option<Vec<u32>>,
    /// How many values are in a register: one step's result may be another's as it is.
    holders: BTreeMap<Register, u32>,
}

impl Lister<'_> {
    fn run(&mut self) -> Done {
        for n in 0..self.request.inputs.len() {
            let place = self.input(n);
            self.hold(&place);
            self.inputs.push(place);
        }
        let plan = self.plan;
        for step in &plan.setup {
            let place = self.in_setup(|lister| lister.step(step, usize::MAX))?;
            self.hold(&place);
            self.setup.push(place);
        }
        for (at, step) in plan.steps.iter().enumerate() {
            let place = self.step(step, at)?;
            self.hold(&place);
            self.steps.push(place);
            self.release_dead(at);
        }
        self.switch_lanes(plan.steps.len())?;
        self.writer.settle()
    }

    fn finish(self) -> Result<Listing, Unwritten> {
        let results = [Some(self.plan.result), self.plan.second].into_iter().flatten();
        let shown = results.filter(|result| *result != Operand::None).map(|result| Ok(self.place(result)?.to_string()));
        Ok(Listing {
            inputs: self.inputs.iter().map(ToString::to_string).collect(),
            results: shown.collect::<Result<_, Unwritten>>()?,
            setup: self.writer.setup,
            lines: self.writer.lines,
            wait_states: self.writer.wait_states,
        })
    }

    /// Does something whose lines belong to the set-up.
    fn in_setup<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.writer.enter_setup(true);
        let result = write(self);
        self.writer.enter_setup(before);
        result
    }

    /// An operand of the operation: a number if it is known, else registers of its own.
    fn input(&mut self, n: usize) -> Place {
        let input = self.request.inputs[n];
        match input.known {
            crate::lane::Known::Constant(value) => Place::Words(vec![value]),
            _ => self.fresh(input.ty),
        }
    }

    /// Registers for a value of a type.
    fn fresh(&mut self, ty: LaneType) -> Place {
        match ty {
            LaneType::BOOL => Place::Mask(self.fresh_mask()),
            _ if ty.kind == LaneType::BOOL.kind => {
                Place::Masks((0..ty.components).map(|_| self.fresh_mask()).collect())
            }
            _ => Place::Vector(self.fresh_vectors(ty)),
        }
    }

    fn fresh_vectors(&mut self, ty: LaneType) -> Vec<u32> {
        let words = words(ty);
        let pair = |pool: &mut Pool| {
            let first = pool.take(words, words);
            first..first + words
        };
        (0..ty.components).flat_map(|_| pair(&mut self.vectors)).collect()
    }

    fn fresh_vector(&mut self) -> Arg {
        Arg::Vector(self.vectors.take(1, 1))
    }

    fn fresh_scalar(&mut self) -> Arg {
        Arg::Scalar(self.scalars.take(1, 1))
    }

    /// A mask of lanes: one scalar register for each 32.
    fn fresh_mask(&mut self) -> Arg {
        match self.writer.wave {
            64 => Arg::Scalars(self.scalars.take(2, 2)),
            _ => self.fresh_scalar(),
        }
    }

    fn place(&self, operand: Operand) -> Placed {
        let found = match operand {
            Operand::Input(n) => self.inputs.get(usize::from(n)).cloned(),
            Operand::Setup(n) => self.setup.get(usize::from(n)).cloned(),
            Operand::Step(n) => self.steps.get(usize::from(n)).cloned(),
            Operand::Const(value) => Some(Place::Words(vec![value])),
            Operand::Bool(value) => Some(Place::Truth(value)),
            Operand::None => None,
        };
        match found.ok_or_else(|| Unwritten("a step has an operand that is not there".into()))? {
            Place::Active => Ok(Place::Mask(self.active())),
            place => Ok(place),
        }
    }

    fn operand_ty(&self, operand: Operand) -> LaneType {
        self.request.ty(self.plan.ty(operand))
    }

    /// Counts a value among those that are in its registers.
    fn hold(&mut self, place: &Place) {
        for register in place.registers() {
            *self.holders.entry(register).or_insert(0) += 1;
        }
    }

    /// Gives back the registers of results that step `at` reads last.
    fn release_dead(&mut self, at: usize) {
        for n in self.uses.dying(at) {
            for register in self.steps[usize::from(n)].registers() {
                let holders = self.holders.entry(register).or_insert(1);
                *holders -= 1;
                if *holders == 0 {
                    self.release(register);
                }
            }
        }
    }

    /// Whether step `at` is the last to read an operand and nothing else is in its registers.
    fn is_last_use(&self, operand: Operand, registers: &[u32], at: usize) -> bool {
        let alone = |n: &u32| self.holders.get(&Register::Vector(*n)) == Some(&1);
        self.uses.dies(operand, at) && registers.iter().all(alone)
    }

    /// Writes one step; `at` is its number among the steps.
    fn step(&mut self, step: &Step, at: usize) -> Placed {
        self.switch_lanes(at)?;
        match step.op {
            StepOp::Prim(primitive) => self.primitive(step, primitive, at),
            StepOp::FoldMoved(op, primitive) => self.fold_moved(step, op, primitive, at),
            StepOp::Fact(fact) => self.fact(fact),
            StepOp::Alu(op) => self.alu(step, op, at),
            StepOp::Fold(op) => self.fold(step, op, at),
            StepOp::Compare(op) => self.compare(step, op),
            StepOp::Select => self.select(step, at),
            StepOp::Identity(op) => Ok(self.constant(step, |scalar| arith::identity(op, scalar))),
            StepOp::Neutral(op) => Ok(self.constant(step, |scalar| arith::neutral(op, scalar))),
            StepOp::Zero => Ok(self.constant(step, |_| 0)),
        }
    }

    /// Words of a constant, the same in all components.
    fn constant(&self, step: &Step, bits: impl Fn(Scalar) -> u64) -> Place {
        let ty = self.request.ty(step.ty);
        let bits = bits(Scalar { kind: ty.kind, width: ty.width });
        if ty.kind == LaneType::BOOL.kind {
            return Place::Truth(bits != 0);
        }
        let component = [bits as u32, (bits >> 32) as u32];
        Place::Words((0..ty.components).flat_map(|_| &component[..words(ty) as usize]).copied().collect())
    }

    /// Turns to all lanes of the wave where the plan wants that, and back.
    fn switch_lanes(&mut self, at: usize) -> Done {
        let whole = &self.plan.whole;
        if whole.is_empty() || at == usize::MAX {
            return Ok(());
        }
        let exec = self.exec();
        match self.saved_exec {
            None if at == usize::from(whole.start) => {
                let saved = self.fresh_mask();
                let save = self.sized(Operation::SaveExecOr, Operation::SaveExecOr64);
                self.saved_exec = Some(saved);
                self.writer.plain(save, &[saved], &[Arg::AllOnes])
            }
            Some(saved) if at == usize::from(whole.end) => {
                self.saved_exec = None;
                self.writer.settle()?;
                let restore = self.sized(Operation::ScalarMove, Operation::ScalarMove64);
                self.writer.plain(restore, &[exec], &[saved])
            }
            _ => Ok(()),
        }
    }

    fn fact(&mut self, fact: LaneFact) -> Placed {
        match fact {
            LaneFact::Index => self.lane_index().map(|arg| Place::Vector(vec![vector_number(arg)])),
            LaneFact::Size => Ok(Place::Words(vec![self.writer.wave])),
            LaneFact::Mask(op) => self.lane_mask(op),
            LaneFact::InSet(set) => self.lane_set(set),
        }
    }

    /// A set of lanes that is known: a constant in scalar registers.
    fn lane_set(&mut self, set: u64) -> Placed {
        let mask = self.fresh_mask();
        for (register, word) in mask.numbers().into_iter().zip([set as u32, (set >> 32) as u32]) {
            self.writer.plain(Operation::ScalarMove, &[Arg::Scalar(register)], &[Arg::Number(word)])?;
        }
        Ok(Place::Mask(mask))
    }

    fn lane_index(&mut self) -> Result<Arg, Unwritten> {
        if let Some(Place::Vector(index)) = self.index_of_setup() {
            return Ok(Arg::Vector(index[0]));
        }
        let index = self.fresh_vector();
        let all = Arg::AllOnes;
        self.writer.plain(Operation::CountBelowLow, &[index], &[all, Arg::Number(0)])?;
        if self.writer.wave == 64 {
            self.writer.plain(Operation::CountBelowHigh, &[index], &[all, index])?;
        }
        Ok(index)
    }

    /// Gives a register back that held no step's result.
    fn release(&mut self, register: Register) {
        match register {
            Register::Vector(n) => self.vectors.release(n, 1),
            Register::Scalar(n) => self.scalars.release(n, 1),
            Register::Carry => {}
        }
    }

    /// The lane's number, where the set-up has it.
    fn index_of_setup(&self) -> Option<Place> {
        let is_index = |step: &&Step| step.op == StepOp::Fact(LaneFact::Index);
        let found = self.plan.setup.iter().zip(&self.setup).find(|(step, _)| is_index(step));
        found.map(|(_, place)| place.clone())
    }

    fn cost(&self, class: Option<CostClass>) -> Option<crate::profile::Cost> {
        class.and_then(|class| self.profile.costs.of(class))
    }
}

/// 32-bit registers of one component.
fn words(ty: LaneType) -> u32 {
    u32::from(ty.width).div_ceil(32)
}

fn vector_number(arg: Arg) -> u32 {
    match arg {
        Arg::Vector(n) | Arg::Vectors(n) => n,
        _ => 0,
    }
}
