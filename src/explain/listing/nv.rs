//! Plans in NVIDIA's assembly language (NV_gpu_program5).
//!
//! Each component of a value has a register of its own: shuffles write `.y`, everything else `.x`. Bools are -1 and 0,
//! a ballot is one word. Values of other sizes than 32 bits have no lines yet.

use super::registers::{LastUses, Pool};
use super::{Line, Listing, Unit, Unwritten};
use crate::backend::nv::mnemonic;
use crate::ir::Scalar;
use crate::kernel::arith;
use crate::lane::primitive::NvOp;
use crate::lane::{
    AluOp, CompareOp, FoldOp, Known, LaneFact, LaneType, Operand, Plan, Primitive, QuadMove, Request, ShuffleMode,
    Step, StepOp, StepType,
};
use std::fmt;

/// Where one component is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// A register's `.x`.
    Result(u32),
    /// A register's `.y`: what a shuffle moved.
    Moved(u32),
    /// Both, as a shuffle writes them where its predicate is used too.
    Both(u32),
    Number(u32),
}

impl Place {
    const fn register(self) -> Option<u32> {
        match self {
            Place::Result(n) | Place::Moved(n) | Place::Both(n) => Some(n),
            Place::Number(_) => None,
        }
    }
}

type Places = Vec<Place>;
type Placed = Result<Places, Unwritten>;

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Place::Result(n) => write!(f, "R{n}.x"),
            Place::Moved(n) => write!(f, "R{n}.y"),
            Place::Both(n) => write!(f, "R{n}.xy"),
            Place::Number(word) if word <= i32::MAX as u32 => word.fmt(f),
            Place::Number(word) => write!(f, "{word:#x}"),
        }
    }
}

/// The lines of a plan for NVIDIA.
///
/// # Errors
/// When a step has no spelling.
pub fn list(plan: &Plan, request: &Request) -> Result<Listing, Unwritten> {
    let mut lister = Lister {
        plan,
        request,
        pool: Pool::default(),
        uses: LastUses::new(plan),
        inputs: Vec::new(),
        setup: Vec::new(),
        steps: Vec::new(),
        given: Vec::new(),
        lines: Vec::new(),
    };
    lister.run()
}

struct Lister<'a> {
    plan: &'a Plan,
    request: &'a Request<'a>,
    pool: Pool,
    uses: LastUses,
    inputs: Vec<Places>,
    setup: Vec<Places>,
    steps: Vec<Places>,
    /// Steps whose predicate the shuffle before them gave already, and where that is.
    given: Vec<(usize, Place)>,
    lines: Vec<Line>,
}

impl Lister<'_> {
    fn run(&mut self) -> Result<Listing, Unwritten> {
        self.inputs = self.request.inputs.iter().map(|input| self.input(input.ty, input.known)).collect::<Vec<_>>();
        let plan = self.plan;
        for step in &plan.setup {
            let places = self.step(step)?;
            self.setup.push(places);
        }
        let setup = std::mem::take(&mut self.lines);
        for (at, step) in plan.steps.iter().enumerate() {
            let places = self.step(step)?;
            self.steps.push(places);
            self.release_dead(at);
        }
        let results = [Some(plan.result), plan.second].into_iter().flatten();
        let results = results.filter(|result| *result != Operand::None);
        Ok(Listing {
            inputs: self.inputs.iter().map(|places| text(places)).collect(),
            setup,
            results: results.map(|result| Ok(text(&self.places(result)?))).collect::<Result<_, Unwritten>>()?,
            lines: std::mem::take(&mut self.lines),
            wait_states: 0,
        })
    }

    fn input(&mut self, ty: LaneType, known: Known) -> Places {
        match known {
            Known::Constant(value) => vec![Place::Number(value)],
            _ => {
                let words = u32::from(ty.components) * u32::from(ty.width).div_ceil(32);
                (0..words).map(|_| Place::Result(self.pool.take(1, 1))).collect()
            }
        }
    }

    /// Gives back the registers of results that no later step reads.
    fn release_dead(&mut self, at: usize) {
        for n in self.uses.dying(at) {
            for place in self.steps[usize::from(n)].clone() {
                if let Some(register) = place.register()
                    && !self.is_shared(register, at)
                {
                    self.pool.release(register, 1);
                }
            }
        }
    }

    /// Whether a value that is needed behind step `at` is in a register.
    fn is_shared(&self, register: u32, at: usize) -> bool {
        let is_same = |place: &Place| place.register() == Some(register);
        let live = (0..).zip(&self.steps).filter(|(n, _)| !self.uses.dies(Operand::Step(*n), at));
        let live = live.map(|(_, places)| places).chain(&self.setup).chain(&self.inputs).flatten();
        let given = self.given.iter().filter(|(n, _)| *n > at).map(|(_, place)| place);
        live.chain(given).any(is_same)
    }

    fn places(&self, operand: Operand) -> Placed {
        let found = match operand {
            Operand::Input(n) => self.inputs.get(usize::from(n)).cloned(),
            Operand::Setup(n) => self.setup.get(usize::from(n)).cloned(),
            Operand::Step(n) => self.steps.get(usize::from(n)).cloned(),
            Operand::Const(value) => Some(vec![Place::Number(value)]),
            Operand::Bool(value) => Some(vec![Place::Number(if value { u32::MAX } else { 0 })]),
            Operand::None => None,
        };
        found.ok_or_else(|| Unwritten("a step has an operand that is not there".into()))
    }

    /// A ballot of a warp is one word.
    fn ty(&self, ty: StepType) -> LaneType {
        match ty {
            StepType::Ballot => LaneType::U32,
            ty => self.request.ty(ty),
        }
    }

    fn operand_ty(&self, operand: Operand) -> LaneType {
        self.ty(self.plan.ty(operand))
    }

    /// Writes `name result, operands;`.
    fn put(&mut self, unit: Unit, name: &str, result: Place, operands: &[&dyn fmt::Display]) -> Place {
        let operands: String = operands.iter().map(|operand| format!(", {operand}")).collect();
        self.lines.push(Line { text: format!("{name} {result}{operands};"), unit });
        result
    }

    fn fresh(&mut self) -> Place {
        Place::Result(self.pool.take(1, 1))
    }

    fn step(&mut self, step: &Step) -> Placed {
        let ty = self.ty(step.ty);
        if !matches!(ty.width, 1 | 32) {
            return Err(Unwritten(format!("values of {} bits", ty.width)));
        }
        let scalar = Scalar { kind: ty.kind, width: ty.width };
        match step.op {
            StepOp::Prim(Primitive::Nv(op)) => self.primitive(step, op),
            StepOp::FoldMoved(FoldOp::Add, Primitive::Nv(NvOp::QuadSwizzle(mv))) => self.swizzle_and_add(step, mv),
            StepOp::Prim(_) | StepOp::FoldMoved(..) => Err(Unwritten("an instruction of another vendor".into())),
            StepOp::Fact(fact) => self.fact(fact),
            StepOp::Alu(op) => self.alu(step, op),
            StepOp::Fold(op) => self.fold(step, op, ty),
            StepOp::Compare(op) => self.compare(step, op),
            StepOp::Select => self.select(step),
            StepOp::Identity(op) => Ok(constant(ty, arith::identity(op, scalar))),
            StepOp::Neutral(op) => Ok(constant(ty, arith::neutral(op, scalar))),
            StepOp::Zero => Ok(constant(ty, 0)),
        }
    }

    fn primitive(&mut self, step: &Step, op: NvOp) -> Placed {
        match op {
            NvOp::Shuffle(mode) => self.shuffle(step, mode),
            NvOp::ShuffleValid(mode) => {
                if let Some((_, place)) = self.given.iter().find(|(n, _)| *n == self.steps.len()) {
                    return Ok(vec![*place]);
                }
                let (index, mask) = (self.single(step.args[0])?, self.single(step.args[1])?);
                let result = self.fresh();
                Ok(vec![self.put(Unit::Shuffle, mnemonic::shuffle(mode), result, &[&index, &index, &mask])])
            }
            NvOp::QuadSwizzle(mv) => {
                let values = self.places(step.args[0])?;
                let zeros = vec!["{0, 0, 0, 0}"; values.len()];
                self.swizzle(mv, values, &zeros)
            }
            NvOp::Vote(vote) => self.voted(step, mnemonic::vote(vote)),
            NvOp::Ballot => self.voted(step, mnemonic::BALLOT),
        }
    }

    /// The instruction adds its last operand.
    fn swizzle<T: fmt::Display>(&mut self, mv: QuadMove, values: Places, added: &[T]) -> Placed {
        let name = mnemonic::quad_swizzle(mv).ok_or_else(|| Unwritten("a swizzle across the quad".into()))?;
        let one = |lister: &mut Self, (value, added): (Place, &T)| {
            let result = lister.fresh();
            lister.put(Unit::Shuffle, name, result, &[&value, added])
        };
        Ok(values.into_iter().zip(added).map(|pair| one(self, pair)).collect())
    }

    fn swizzle_and_add(&mut self, step: &Step, mv: QuadMove) -> Placed {
        let (own, moved) = (self.places(step.args[0])?, self.places(step.args[1])?);
        self.swizzle(mv, moved, &own)
    }

    fn voted(&mut self, step: &Step, name: &str) -> Placed {
        let predicate = self.single(step.args[0])?;
        let result = self.fresh();
        Ok(vec![self.put(Unit::Vote, name, result, &[&predicate])])
    }

    fn shuffle(&mut self, step: &Step, mode: ShuffleMode) -> Placed {
        let (index, mask) = (self.single(step.args[1])?, self.single(step.args[2])?);
        let one = |lister: &mut Self, value: Place| {
            let register = lister.pool.take(1, 1);
            let written = match lister.predicate_of(step, mode) {
                Some(n) => {
                    lister.given.push((n, Place::Result(register)));
                    Place::Both(register)
                }
                None => Place::Moved(register),
            };
            lister.put(Unit::Shuffle, mnemonic::shuffle(mode), written, &[&value, &index, &mask]);
            Place::Moved(register)
        };
        Ok(self.places(step.args[0])?.into_iter().map(|value| one(self, value)).collect())
    }

    /// The step behind a shuffle that asks for its predicate, unless it was given already.
    fn predicate_of(&self, step: &Step, mode: ShuffleMode) -> Option<usize> {
        let wanted = StepOp::Prim(NvOp::ShuffleValid(mode).into());
        let asks = |other: &Step| other.op == wanted && other.args[..2] == step.args[1..];
        let found = (self.steps.len() + 1..self.plan.steps.len()).find(|n| asks(&self.plan.steps[*n]))?;
        (!self.given.iter().any(|(n, _)| *n == found)).then_some(found)
    }

    /// The only component of an operand; of a ballot that the shader passes the word that has a warp's lanes.
    fn single(&self, operand: Operand) -> Result<Place, Unwritten> {
        match self.places(operand)?.as_slice() {
            [place] => Ok(*place),
            [place, ..] if self.operand_ty(operand) == LaneType::BALLOT => Ok(*place),
            _ => Err(Unwritten("a vector where one number is meant".into())),
        }
    }

    fn fact(&mut self, fact: LaneFact) -> Placed {
        let name = match fact {
            LaneFact::Index => mnemonic::LANE,
            LaneFact::Size => return Ok(vec![Place::Number(32)]),
            LaneFact::Mask(op) => mnemonic::lane_mask(op),
            LaneFact::InSet(_) => return Err(Unwritten("a set of lanes".into())),
        };
        let (result, name) = (self.fresh(), format!("invocation.{name}.x"));
        Ok(vec![self.put(Unit::Arithmetic, mnemonic::MOVE, result, &[&name])])
    }

    fn alu(&mut self, step: &Step, op: AluOp) -> Placed {
        match op {
            // A warp has one word; the others are empty.
            AluOp::BallotWord if matches!(step.args[1], Operand::Const(1..)) => Ok(vec![Place::Number(0)]),
            AluOp::BallotWord => self.single(step.args[0]).map(|place| vec![place]),
            AluOp::BallotFromMask => Ok(self.places(step.args[0])?.into_iter().take(1).collect()),
            AluOp::BallotIsEmpty | AluOp::BallotIsSome | AluOp::BoolNot => {
                let word = self.single(step.args[0])?;
                let name = match op {
                    AluOp::BallotIsEmpty => "SEQ.U",
                    AluOp::BallotIsSome => "SNE.U",
                    _ => mnemonic::INVERT,
                };
                let result = self.fresh();
                Ok(vec![self.put(Unit::Arithmetic, name, result, &[&word, &0])])
            }
            _ => {
                let name = mnemonic::alu(op).ok_or_else(|| Unwritten(format!("{op:?}")))?;
                let read: Places =
                    step.operands().iter().map(|operand| self.single(*operand)).collect::<Result<_, _>>()?;
                let read: Vec<&dyn fmt::Display> = read.iter().map(|place| place as &dyn fmt::Display).collect();
                let result = self.fresh();
                Ok(vec![self.put(Unit::Arithmetic, name, result, &read)])
            }
        }
    }

    fn fold(&mut self, step: &Step, op: FoldOp, ty: LaneType) -> Placed {
        let name = mnemonic::fold(op, ty).ok_or_else(|| Unwritten(format!("{op:?} of {ty:?}")))?;
        let (a, b) = (self.places(step.args[0])?, self.places(step.args[1])?);
        let one = |lister: &mut Self, (a, b): (Place, Place)| {
            let (a, b) = (lister.readable(a, ty), lister.readable(b, ty));
            let result = lister.fresh();
            lister.put(Unit::Arithmetic, &name, result, &[&a, &b])
        };
        Ok(a.into_iter().zip(b).map(|pair| one(self, pair)).collect())
    }

    /// A float's bits are no literal of a float instruction, so they are moved first.
    fn readable(&mut self, place: Place, ty: LaneType) -> Place {
        match place {
            Place::Number(_) if ty.is_float() => {
                let result = self.fresh();
                self.put(Unit::Arithmetic, mnemonic::MOVE, result, &[&place])
            }
            place => place,
        }
    }

    /// Comparisons give -1 and 0, of floats 1.0 and 0.0, which a second one turns into those.
    fn compare(&mut self, step: &Step, op: CompareOp) -> Placed {
        let ty = self.operand_ty(step.args[0]);
        let ty = if op == CompareOp::Same { ty.bits() } else { ty };
        let (suffix, name) = match (ty.is_float(), ty.kind == LaneType::U32.kind, op) {
            (true, _, _) => ("F", relation(op)),
            (_, true, _) => ("U", relation(op)),
            // Bools: false (0) comes before true (-1).
            (_, _, CompareOp::Lt) if ty == LaneType::BOOL => ("S", "SGT"),
            _ => ("S", relation(op)),
        };
        let pairs = self.places(step.args[0])?.into_iter().zip(self.places(step.args[1])?);
        let mut all: Option<Place> = None;
        for (a, b) in pairs.collect::<Vec<_>>() {
            let result = self.fresh();
            let mut truth = self.put(Unit::Arithmetic, &format!("{name}.{suffix}"), result, &[&a, &b]);
            if ty.is_float() {
                truth = self.put(Unit::Arithmetic, "SNE.S", result, &[&truth, &0]);
            }
            all = Some(match all {
                None => truth,
                Some(before) => self.put(Unit::Arithmetic, "AND.S", before, &[&before, &truth]),
            });
        }
        all.map(|place| vec![place]).ok_or_else(|| Unwritten("a comparison of nothing".into()))
    }

    fn select(&mut self, step: &Step) -> Placed {
        let condition = self.single(step.args[0])?;
        let pairs = self.places(step.args[1])?.into_iter().zip(self.places(step.args[2])?);
        let one = |lister: &mut Self, (accept, reject): (Place, Place)| {
            let result = lister.fresh();
            lister.put(Unit::Arithmetic, mnemonic::SELECT, result, &[&condition, &accept, &reject])
        };
        Ok(pairs.collect::<Vec<_>>().into_iter().map(|pair| one(self, pair)).collect())
    }
}

const fn relation(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq | CompareOp::Same => "SEQ",
        CompareOp::Lt => "SLT",
    }
}

/// A constant of each component; a true bool is -1.
fn constant(ty: LaneType, bits: u64) -> Places {
    let word = if ty.kind == LaneType::BOOL.kind && bits != 0 { u32::MAX } else { bits as u32 };
    vec![Place::Number(word); usize::from(ty.components)]
}

fn text(places: &[Place]) -> String {
    places.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
