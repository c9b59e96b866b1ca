//! A workgroup: its waves run one after the other from barrier to barrier.

use super::Executed;
use super::descriptor::Start;
use super::hazards::Hazards;
use super::inst::{Code, Inst, Unit};
use super::memory::access::Deed;
use super::memory::run::{Reach, Touch};
use super::memory::{Bytes, Memory, run as access};
use super::operand::{Reg, VCC};
use super::program::Program;
use super::state::State;
use super::waits::Waits;
use super::{scalar_run, vector};

/// Number of instructions after which a wave counts as endless.
const STEPS: usize = 500_000;
/// Bytes between the scratch of two waves, as the dispatcher counts them.
const SCRATCH_STEP: u64 = 0x4000;

/// The next action of a wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Runs,
    AtBarrier,
    Ended,
}

struct Wave {
    state: State,
    at: usize,
    status: Status,
    waits: Waits,
    hazards: Hazards,
    scratch: Vec<Bytes>,
    scratch_base: u64,
    /// True if the wave has signaled the barrier, where that is separate from waiting.
    signaled: bool,
    /// On gfx6 and gfx7, VCCZ may be stale after a scalar load until VCC is written (LLVM's FeatureReadVCCZBug).
    stale_vccz: bool,
    steps: usize,
}

/// A workgroup of a program.
pub struct Group<'p> {
    program: &'p Program,
    /// All memory, while the group runs.
    memory: Memory,
    lds: Bytes,
    waves: Vec<Wave>,
    executed: Executed,
    /// Instructions that a wave runs before the next one continues.
    turn: usize,
}

impl<'p> Group<'p> {
    /// `start` has everything except where a wave begins; a wave runs `turn` instructions, then the next one continues.
    pub fn new(program: &'p Program, start: Start, turn: usize) -> Self {
        let (target, descriptor) = (program.target, &program.descriptor);
        let total: usize = start.group_size.iter().map(|size| *size as usize).product();
        let wave = |first: usize| {
            let scratch_offset = SCRATCH_STEP * (first / target.wave + 1) as u64;
            Wave {
                state: descriptor.start(&target, &Start { first, scratch_offset, ..start }),
                at: program.entry,
                status: Status::Runs,
                waits: Waits::default(),
                hazards: Hazards::new(&target),
                scratch: vec![Bytes::undefined(descriptor.scratch); target.wave],
                scratch_base: start.scratch + scratch_offset,
                signaled: false,
                stale_vccz: false,
                steps: 0,
            }
        };
        let waves: Vec<Wave> = (0..total).step_by(target.wave).map(wave).collect();
        let executed = Executed { waves: waves.len() as u64, ..Executed::default() };
        Self { program, memory: Memory::default(), lds: Bytes::undefined(descriptor.lds), waves, executed, turn }
    }

    /// Runs each wave for a turn or to the next barrier, in ascending or descending order, on the memory that all
    /// groups share. Returns false once all have ended.
    pub fn run(&mut self, memory: &mut Memory, backwards: bool) -> Result<bool, String> {
        std::mem::swap(&mut self.memory, memory);
        let mut order: Vec<usize> = (0..self.waves.len()).collect();
        if backwards {
            order.reverse();
        }
        let done = order.into_iter().try_for_each(|n| self.run_wave(n));
        std::mem::swap(&mut self.memory, memory);
        done?;
        if self.waves.iter().all(|wave| wave.status != Status::Runs) {
            let waiting = self.waves.iter_mut().filter(|wave| wave.status == Status::AtBarrier);
            waiting.for_each(|wave| wave.status = Status::Runs);
        }
        Ok(self.waves.iter().any(|wave| wave.status != Status::Ended))
    }

    /// The instructions that the waves have executed.
    pub fn executed(self) -> Executed {
        self.executed
    }

    fn run_wave(&mut self, n: usize) -> Result<(), String> {
        let (program, mut left) = (self.program, self.turn);
        while self.waves[n].status == Status::Runs && left > 0 {
            let inst = program.insts.get(self.waves[n].at).ok_or("the program runs past its end")?;
            self.step(n, inst).map_err(|why| format!("line {}: {}: {why}", inst.line, inst.text))?;
            left -= 1;
        }
        Ok(())
    }

    fn step(&mut self, n: usize, inst: &Inst) -> Result<(), String> {
        let program = self.program;
        let wave = &mut self.waves[n];
        wave.steps += 1;
        if wave.steps > STEPS {
            return Err("the program does not end".to_owned());
        }
        if let Code::Unknown(why) = &inst.code {
            return Err(why.clone());
        }
        self.executed.count(inst);
        if n == 0 {
            self.executed.first.push(wave.at);
        }
        // This compiler's and LLVM's texts wait for whole registers.
        let lanes = if program.descriptor.by_driver { wave.state.exec() } else { u64::MAX };
        for inst in inst.halves() {
            wave.waits.check(inst, lanes)?;
            wave.hazards.check(inst)?;
        }
        wave.at += 1;
        match inst.unit {
            Unit::Vector => match &inst.pair {
                Some(second) => vector::run_pair(&mut wave.state, inst, second, program.descriptor.ieee)?,
                None => vector::run(&mut wave.state, inst, program.descriptor.ieee)?,
            },
            Unit::Scalar => scalar_run::run(&mut wave.state, inst, program.descriptor.ieee)?,
            Unit::Branch => wave.branch(inst, program)?,
            Unit::Control => wave.control(inst, program)?,
            _ => self.access(n, inst)?,
        }
        let wave = &mut self.waves[n];
        wave.track_vccz(inst);
        inst.halves().try_for_each(|inst| wave.hazards.record(inst))
    }

    fn access(&mut self, n: usize, inst: &Inst) -> Result<(), String> {
        let Code::Access(deed) = &inst.code else { return Err("no access".to_owned()) };
        let wave = &mut self.waves[n];
        let mut reach = Reach {
            memory: &mut self.memory,
            lds: &mut self.lds,
            scratch: &mut wave.scratch,
            scratch_base: wave.scratch_base,
            touched: Vec::new(),
        };
        access::run(&mut wave.state, inst, deed, &mut reach)?;
        let touched = reach.touched;
        wave.waits.issue(inst, &touched, &self.program.target, wave.state.exec());
        // An atomic reads the current value, in any order of the waves.
        if matches!(deed.deed, Deed::Atomic { .. }) { Ok(()) } else { self.check_seen(n, &touched) }
    }

    /// No other wave may still be storing what this one reads. Between waves that run concurrently, a read may race
    /// with an atomic: a compare-and-swap loop reads a guess of the value first.
    fn check_seen(&self, n: usize, touched: &[Touch]) -> Result<(), String> {
        let may_race = self.turn != usize::MAX;
        let others = || self.waves.iter().enumerate().filter(|(other, _)| *other != n);
        for touch in touched.iter().filter(|touch| !touch.writes) {
            if let Some(line) = others().find_map(|(_, wave)| wave.waits.unseen(touch, may_race)) {
                return Err(format!("another wave has not waited for its store of line {line}, which is read here"));
            }
        }
        Ok(())
    }
}

impl Wave {
    fn branch(&mut self, inst: &Inst, program: &Program) -> Result<(), String> {
        let Code::Branch { when } = inst.code else { return Err("no branch".to_owned()) };
        let goes = match when {
            "" => true,
            "scc0" => !self.state.scc()?,
            "scc1" => self.state.scc()?,
            "execz" => self.state.exec() == 0,
            "execnz" => self.state.exec() != 0,
            _ => (when == "vccz") == self.is_vcc_zero()?,
        };
        if goes {
            self.at = program.destination(inst)?;
        }
        Ok(())
    }

    fn is_vcc_zero(&self) -> Result<bool, String> {
        if self.stale_vccz {
            return Err("VCCZ may be stale after a scalar load".to_owned());
        }
        let vcc = self.state.vcc();
        if vcc.bits & !vcc.undefined != 0 {
            return Ok(false);
        }
        vcc.defined("VCC").map(|bits| bits == 0)
    }

    fn track_vccz(&mut self, inst: &Inst) {
        if self.state.target.version >= 800 {
            return;
        }
        if inst.unit == Unit::Smem {
            self.stale_vccz = true;
        } else if inst.writes.contains(&Reg::Scalar(VCC)) && !self.waits.has_scalar_loads() {
            self.stale_vccz = false;
        }
    }

    fn control(&mut self, inst: &Inst, program: &Program) -> Result<(), String> {
        if self.waits.control(inst, &program.target)? {
            return Ok(());
        }
        match &inst.name[..] {
            "s_endpgm" => self.status = Status::Ended,
            "s_barrier" => self.status = Status::AtBarrier,
            "s_barrier_signal" => self.signal(true)?,
            "s_barrier_wait" => {
                self.signal(false)?;
                self.status = Status::AtBarrier;
            }
            "s_sendmsg" if !inst.rest.contains("DEALLOC_VGPRS") => return Err("no message is known here".to_owned()),
            _ => {}
        }
        Ok(())
    }

    /// Signals the barrier, or withdraws the signal by waiting.
    fn signal(&mut self, comes: bool) -> Result<(), String> {
        if std::mem::replace(&mut self.signaled, comes) == comes {
            return Err(format!("the barrier was {}told before", if comes { "" } else { "not " }));
        }
        Ok(())
    }
}
