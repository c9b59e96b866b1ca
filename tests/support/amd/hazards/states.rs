//! Wait states on gfx6 to gfx9: the number of instructions, or steps of S_NOP, required between two instructions.

use super::super::inst::{Code, Inst, Role, Unit};
use super::super::operand::{EXEC, Reg, SCALARS, VECTORS, integer};

/// The event of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Event {
    /// A vector instruction wrote a vector register, a scalar register, or EXEC.
    VectorByVector,
    ScalarByVector,
    ExecByVector,
    ScalarByScalar,
    /// A slow function wrote it.
    Transcendental,
    /// A store of more than 64 bits reads it.
    WideStore,
}

const EVENTS: usize = 6;

/// The use that must not come too early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    As(Role),
    /// Any read by a vector instruction that is not a slow function.
    ByPlainVector,
}

struct Rule {
    since: u32,
    until: u32,
    event: Event,
    then: Use,
    states: u64,
}

const fn rule(since: u32, until: u32, event: Event, then: Use, states: u64) -> Rule {
    Rule { since, until, event, then, states }
}

/// LLVM's GCNHazardRecognizer and the tables of required wait states in AMD's ISA documents.
static RULES: &[Rule] = &[
    rule(800, 999, Event::VectorByVector, Use::As(Role::DppSource), 2),
    rule(800, 999, Event::ExecByVector, Use::As(Role::DppExec), 5),
    rule(600, 999, Event::ScalarByVector, Use::As(Role::LaneSelect), 4),
    rule(600, 999, Event::ScalarByVector, Use::As(Role::VmemScalar), 5),
    rule(600, 699, Event::ScalarByVector, Use::As(Role::SmemScalar), 4),
    rule(600, 699, Event::ScalarByVector, Use::As(Role::SmemBuffer), 4),
    rule(600, 699, Event::ScalarByScalar, Use::As(Role::SmemBuffer), 4),
    rule(600, 999, Event::ScalarByVector, Use::As(Role::Fmas), 4),
    rule(800, 999, Event::ScalarByScalar, Use::As(Role::MessageM0), 1),
    rule(700, 939, Event::WideStore, Use::As(Role::Overwritten), 1),
    rule(940, 999, Event::WideStore, Use::As(Role::Overwritten), 2),
    rule(940, 999, Event::ScalarByVector, Use::As(Role::Constant), 2),
    rule(940, 999, Event::ScalarByVector, Use::As(Role::LaneMask), 2),
    rule(940, 999, Event::VectorByVector, Use::As(Role::ReadLane), 1),
    rule(940, 999, Event::ExecByVector, Use::As(Role::LaneExec), 4),
    rule(940, 999, Event::Transcendental, Use::ByPlainVector, 1),
    rule(950, 999, Event::VectorByVector, Use::As(Role::Swap), 2),
    rule(950, 999, Event::ExecByVector, Use::As(Role::SwapExec), 4),
];

/// The time of the last events for each register.
pub struct WaitStates {
    rules: Vec<&'static Rule>,
    clock: u64,
    last: Vec<[u64; EVENTS]>,
}

/// Long before the program.
const LONG_AGO: u64 = 1000;

fn index(reg: Reg) -> usize {
    match reg {
        Reg::Vector(n) => n,
        Reg::Scalar(n) => VECTORS + n,
    }
}

impl WaitStates {
    pub fn new(version: u32) -> Self {
        let rules: Vec<&Rule> = RULES.iter().filter(|rule| (rule.since..=rule.until).contains(&version)).collect();
        let registers = if rules.is_empty() { 0 } else { VECTORS + SCALARS };
        Self { rules, clock: LONG_AGO, last: vec![[0; EVENTS]; registers] }
    }

    pub fn check(&self, inst: &Inst) -> Result<(), String> {
        if self.rules.is_empty() {
            return Ok(());
        }
        for (reg, role) in &inst.reads {
            self.check_use(*reg, Use::As(*role))?;
            if inst.unit == Unit::Vector && !inst.is_transcendental() && matches!(reg, Reg::Vector(_)) {
                self.check_use(*reg, Use::ByPlainVector)?;
            }
        }
        if inst.unit == Unit::Vector {
            inst.writes.iter().try_for_each(|reg| self.check_use(*reg, Use::As(Role::Overwritten)))?;
        }
        Ok(())
    }

    fn check_use(&self, reg: Reg, then: Use) -> Result<(), String> {
        for rule in self.rules.iter().filter(|rule| rule.then == then) {
            let between = self.clock - self.last[index(reg)][rule.event as usize] - 1;
            if between < rule.states {
                let (event, states) = (rule.event, rule.states);
                return Err(format!(
                    "{reg:?}: {between} wait states after {event:?} where {states} are needed ({then:?})"
                ));
            }
        }
        Ok(())
    }

    pub fn record(&mut self, inst: &Inst) {
        if self.rules.is_empty() {
            return;
        }
        match inst.unit {
            Unit::Vector => inst.writes.iter().for_each(|reg| self.vector_wrote(*reg, inst)),
            Unit::Scalar => inst.writes.iter().for_each(|reg| self.mark(*reg, Event::ScalarByScalar)),
            Unit::Vmem | Unit::Flat => self.stored(inst),
            _ => {}
        }
        self.clock += if inst.name == "s_nop" { integer(&inst.rest).unwrap_or(0) as u64 + 1 } else { 1 };
    }

    fn vector_wrote(&mut self, reg: Reg, inst: &Inst) {
        match reg {
            Reg::Vector(_) => {
                self.mark(reg, Event::VectorByVector);
                if inst.is_transcendental() {
                    self.mark(reg, Event::Transcendental);
                }
            }
            Reg::Scalar(n) => {
                self.mark(reg, Event::ScalarByVector);
                if n == EXEC || n == EXEC + 1 {
                    self.mark(reg, Event::ExecByVector);
                }
            }
        }
    }

    fn stored(&mut self, inst: &Inst) {
        let Code::Access(access) = &inst.code else { return };
        let data: Vec<Reg> = access.data.iter().flat_map(|n| inst.args[*n].registers()).collect();
        if access.is_store() && data.len() > 2 {
            data.into_iter().for_each(|reg| self.mark(reg, Event::WideStore));
        }
    }

    fn mark(&mut self, reg: Reg, event: Event) {
        self.last[index(reg)][event as usize] = self.clock;
    }
}
