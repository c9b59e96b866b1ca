//! One wave: its rows, and how its lanes diverge and reconverge.
//!
//! Lanes of a wave run in lockstep. Each structure (`If`, `Loop`, `Scope`) that lanes have entered has an
//! [`OpenStructure`]; where lanes diverge, some continue and the others wait in it. When no lane is left to run, the
//! innermost structure selects the lanes that continue: first lanes that still have a part of it to run, then,
//! together, lanes that have finished it. The structures and one place in the code are the whole control state, so a
//! wave can stop at any barrier and continue later.

use super::fault::{Fault, FaultKind, Use};
use super::group::Env;
use super::memory::Memory;
use super::program::{Action, Inst, InstIndex, Program, RowIndex};
use crate::source::Span;

/// A structure that lanes have entered.
#[derive(Clone, Copy, Debug)]
struct OpenStructure {
    /// Lanes that have left it and wait for the others.
    done: u64,
    /// Lanes that continue at `pending_at` when no lane in the structure runs.
    pending: u64,
    pending_at: InstIndex,
    after: InstIndex,
    span: Span,
    /// True if it is a loop.
    repeats: bool,
}

/// Why a wave stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stop {
    /// All lanes of the wave have ended.
    End,
    /// All lanes of the wave wait at the barrier of this place.
    Barrier(InstIndex),
}

/// One wave of a workgroup.
#[derive(Clone, Debug)]
pub(super) struct Wave {
    pub size: usize,
    /// Number in the workgroup.
    pub index: u32,
    /// Lanes that the workgroup fills, and the lanes among them that have not returned.
    pub filled: u64,
    pub alive: u64,
    pub active: u64,
    pub private: Memory,
    /// The bits of each row, lane by lane.
    pub rows: Vec<u64>,
    /// The lanes in which a row is undefined.
    pub undefined: Vec<u64>,
    frames: Vec<OpenStructure>,
    pub place: InstIndex,
    steps: u64,
    /// Values in transit between rows.
    moving: Vec<u64>,
    moving_undefined: Vec<u64>,
}

/// The lowest `count` bits set, of 64.
pub(super) fn low_lanes(count: u32) -> u64 {
    if count >= 64 { u64::MAX } else { (1 << count) - 1 }
}

/// The lanes of a mask in ascending order.
pub(super) fn lanes_of(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros();
        mask &= mask.wrapping_sub(1);
        (lane < 64).then_some(lane as usize)
    })
}

impl Wave {
    pub fn new(program: &Program) -> Wave {
        let size = program.wave_size as usize;
        let mut rows = vec![0; size * program.rows.len()];
        let mut undefined = vec![0; program.rows.len()];
        for (row, bits) in &program.constants {
            let at = *row as usize;
            rows[at * size..][..size].fill(bits.unwrap_or(0));
            undefined[at] = if bits.is_none() { u64::MAX } else { 0 };
        }
        Wave {
            size,
            index: 0,
            filled: 0,
            alive: 0,
            active: 0,
            private: Memory::undefined(size * program.kernel.private_bytes as usize),
            rows,
            undefined,
            frames: Vec::new(),
            place: 0,
            steps: 0,
            moving: Vec::new(),
            moving_undefined: Vec::new(),
        }
    }

    /// Makes it wave `index` of a workgroup, before its first instruction.
    pub fn start(&mut self, index: u32, filled: u64) {
        (self.index, self.filled, self.alive, self.active) = (index, filled, filled, filled);
        (self.place, self.steps) = (0, 0);
        self.frames.clear();
        self.private.forget();
    }

    /// A row's bits.
    pub fn row(&self, row: RowIndex) -> &[u64] {
        &self.rows[row as usize * self.size..][..self.size]
    }

    /// Active lanes in which a row is undefined.
    pub fn undefined_in(&self, row: RowIndex) -> u64 {
        self.undefined[row as usize] & self.active
    }

    /// Runs until its end or a barrier.
    pub fn run(&mut self, env: &mut Env) -> Result<Stop, Box<Fault>> {
        let program = env.program;
        if self.active == 0 && !self.resume() {
            return Ok(Stop::End);
        }
        loop {
            let inst = &program.code[self.place as usize];
            self.place += 1;
            self.steps += 1;
            match inst.action {
                Action::Straight(op) => self.straight(env, inst, op)?,
                Action::Barrier => return self.barrier(env, inst),
                _ => {
                    if !self.control(env, inst)? {
                        return Ok(Stop::End);
                    }
                }
            }
        }
    }

    fn barrier(&mut self, env: &Env, inst: &Inst) -> Result<Stop, Box<Fault>> {
        let missing = self.filled & !self.active;
        if missing != 0 {
            return Err(env.barrier_fault(self, inst.span, missing));
        }
        Ok(Stop::Barrier(self.place - 1))
    }

    /// Runs a control instruction. Returns false when no lane is left.
    fn control(&mut self, env: &Env, inst: &Inst) -> Result<bool, Box<Fault>> {
        let args = env.program.args(inst);
        match inst.action {
            Action::If { otherwise, after } => {
                let truth = self.truth(env, inst, args)?;
                let waiting = self.active & !truth;
                self.open(after, otherwise, waiting, inst.span, false);
                self.active = truth;
            }
            Action::Loop { continuing, after } => {
                self.transfer(args, inst.out, self.active);
                self.open(after, continuing, 0, inst.span, true);
            }
            Action::Whole => {
                self.open(0, 0, self.active, inst.span, false);
                self.active = low_lanes(self.size as u32);
            }
            Action::EndWhole => {
                self.active = self.frames.pop().map_or(0, |frame| frame.pending);
                self.transfer(args, inst.out, self.active);
            }
            Action::Scope { after } => self.open(after, 0, 0, inst.span, false),
            Action::Exit { depth } => {
                self.transfer(args, inst.out, self.active);
                self.frames[depth as usize].done |= self.active;
                self.active = 0;
            }
            Action::Continue { depth } => {
                self.transfer(args, inst.out, self.active);
                self.frames[depth as usize].pending |= self.active;
                self.active = 0;
            }
            Action::Repeat { body, params, count } => self.repeat(env, inst, body, params, count)?,
            Action::Return => {
                self.alive &= !self.active;
                self.active = 0;
            }
            _ => return Err(env.fault(self, FaultKind::Unreachable, inst.span, self.active)),
        }
        Ok(self.active != 0 || self.resume())
    }

    fn open(&mut self, after: InstIndex, pending_at: InstIndex, pending: u64, span: Span, repeats: bool) {
        self.frames.push(OpenStructure { done: 0, pending, pending_at, after, span, repeats });
    }

    /// Resumes the lanes that wait in the innermost frames. Returns false if there are none.
    fn resume(&mut self) -> bool {
        while let Some(frame) = self.frames.last_mut() {
            if frame.pending != 0 {
                self.active = std::mem::take(&mut frame.pending);
                self.place = frame.pending_at;
                return true;
            }
            (self.active, self.place) = (frame.done, frame.after);
            self.frames.pop();
            if self.active != 0 {
                return true;
            }
        }
        false
    }

    /// Active lanes in which the first operand is true; it must be defined.
    fn truth(&self, env: &Env, inst: &Inst, args: &[RowIndex]) -> Result<u64, Box<Fault>> {
        let undefined = self.undefined_in(args[0]);
        if undefined != 0 {
            return Err(env.fault(self, FaultKind::Undefined(Use::Condition), inst.span, undefined));
        }
        let bits = self.row(args[0]).iter().enumerate();
        Ok(bits.fold(0, |mask, (lane, bit)| mask | (bit & 1) << lane) & self.active)
    }

    fn repeat(
        &mut self,
        env: &Env,
        inst: &Inst,
        body: InstIndex,
        params: RowIndex,
        count: u32,
    ) -> Result<(), Box<Fault>> {
        let args = env.program.args(inst);
        let leaving = self.truth(env, inst, args)?;
        let (again, results) = args[1..].split_at(count as usize);
        self.transfer(results, inst.out, leaving);
        self.active &= !leaving;
        self.transfer(again, params, self.active);
        self.place = body;
        if let Some(frame) = self.frames.last_mut() {
            frame.done |= leaving;
        }
        if self.steps > env.limit {
            return Err(env.fault(self, FaultKind::Steps { limit: env.limit }, self.loop_span(), self.filled));
        }
        Ok(())
    }

    /// The innermost loop.
    fn loop_span(&self) -> Span {
        self.frames.iter().rev().find(|frame| frame.repeats).map_or(Span::NONE, |frame| frame.span)
    }

    /// Moves rows to the rows from `out` on, in these lanes, all at once.
    fn transfer(&mut self, from: &[RowIndex], out: RowIndex, lanes: u64) {
        if let [from] = from {
            return self.transfer_one(*from, out, lanes);
        }
        self.moving.clear();
        self.moving_undefined.clear();
        for row in from {
            let at = *row as usize;
            self.moving.extend_from_slice(&self.rows[at * self.size..][..self.size]);
            self.moving_undefined.push(self.undefined[at]);
        }
        for n in 0..from.len() {
            let (at, undefined) = (out as usize + n, self.moving_undefined[n]);
            self.undefined[at] = self.undefined[at] & !lanes | undefined & lanes;
            for lane in lanes_of(lanes) {
                self.rows[at * self.size + lane] = self.moving[n * self.size + lane];
            }
        }
    }

    fn transfer_one(&mut self, from: RowIndex, out: RowIndex, lanes: u64) {
        let (from, out) = (from as usize, out as usize);
        self.undefined[out] = self.undefined[out] & !lanes | self.undefined[from] & lanes;
        for lane in lanes_of(lanes) {
            self.rows[out * self.size + lane] = self.rows[from * self.size + lane];
        }
    }
}
