//! Keeps instructions as far apart as the hardware requires: one pass over the blocks, one table of rules per
//! generation.
//!
//! Runs after register allocation and the waits for memory. The pending hazards at the start of a block are the union
//! of those of its predecessors. Missing wait states are filled with independent instructions of the block, or with
//! `s_nop` if there are none; nothing else writes `s_nop`, `v_nop` or waits for DEPCTR.

mod clause;
mod fill;
mod forwarding;
mod rows;
mod state;

use super::arch::Arch;
use super::forward;
use super::machine::{File, Function, Inst, Operand, Special};
use super::mnemonic::Operation;
use super::pending;
use super::view::View;
use crate::kernel::Origin;
use rows::{Fix, Table};
use smallvec::SmallVec;
use state::State;
use std::collections::VecDeque;

/// Resolves the hazards of a function after register allocation.
pub fn mend(function: &mut Function, arch: &Arch) {
    let table = rows::of(arch);
    let starts = starts(function, arch, table);
    for (block, state) in function.blocks.iter_mut().zip(starts) {
        let mut mender = Mender::new(arch, table, state, std::mem::take(&mut block.insts));
        mender.run();
        block.insts = mender.done;
    }
}

/// Wait states between a write of a vector register and a DPP read of it.
pub fn states_before_dpp(arch: &Arch) -> u8 {
    rows::of(arch).rows.iter().find(|row| **row == rows::MOVED).map_or(0, |row| row.reach)
}

/// Returns true if a comparison may write EXEC alone, without a wait for instructions that have read it.
pub fn compares_into_exec(arch: &Arch) -> bool {
    let waits = rows::of(arch).rows.contains(&rows::EXEC_READ_THEN_WRITTEN);
    Operation::CompareExec.spelling(arch.generation).is_some() && !waits
}

/// The pending events at the start of each block, after fixing hazards: an instruction that fills wait states moves the
/// instructions it passes nearer to the next block.
fn starts(function: &Function, arch: &Arch, table: &Table) -> Vec<State> {
    pending::starts(function, |block, state: State| {
        let mut mender = Mender::new(arch, table, state, block.insts.clone());
        mender.run();
        mender.state
    })
}

/// Processes one block.
struct Mender<'a> {
    arch: &'a Arch,
    table: &'a Table,
    state: State,
    /// The instructions still to be processed, and their views.
    next: VecDeque<Inst>,
    views: VecDeque<View>,
    done: Vec<Inst>,
}

impl<'a> Mender<'a> {
    fn new(arch: &'a Arch, table: &'a Table, state: State, insts: Vec<Inst>) -> Mender<'a> {
        let views = insts.iter().map(|inst| View::new(inst, arch)).collect();
        Mender { arch, table, state, next: insts.into(), views, done: Vec::new() }
    }

    fn run(&mut self) {
        while let (Some(inst), Some(view)) = (self.next.front(), self.views.front()) {
            let (inst, view) = (inst.clone(), view.clone());
            let mut there: SmallVec<[Fix; 2]> = SmallVec::new();
            loop {
                let need = self.state.need(self.table, &view, &there);
                match need.fix {
                    _ if need.is_none() => break,
                    Some(fix) => {
                        there.push(fix);
                        self.put(mending(fix, &inst).made_for(self.cause(&inst)));
                    }
                    None => self.wait(need.states, self.cause(&inst)),
                }
            }
            self.next.pop_front();
            self.views.pop_front();
            self.state.pass(self.table, &view);
            self.done.push(inst);
        }
    }

    /// The operation that causes a hazard: the instruction's own, otherwise the previous one's.
    fn cause(&self, inst: &Inst) -> Origin {
        match inst.origin {
            Origin::Code => self.done.last().map_or(Origin::Code, |last| last.origin),
            own => own,
        }
    }

    fn put(&mut self, inst: Inst) {
        self.state.pass(self.table, &View::new(&inst, self.arch));
        self.done.push(inst);
    }

    /// Inserts wait states: moves one later instruction forward, or emits `s_nop`.
    fn wait(&mut self, states: u8, origin: Origin) {
        let fits = |view: &View| self.state.need(self.table, view, &[]).is_none();
        let found = forward::earlier(self.views.iter(), fill::WINDOW, fits);
        let moved = found.and_then(|at| self.next.remove(at).zip(self.views.remove(at)));
        match moved {
            Some((inst, view)) => {
                self.state.pass(self.table, &view);
                self.done.push(inst);
            }
            None => self.put(nop(states).made_for(origin)),
        }
    }
}

fn nop(states: u8) -> Inst {
    Inst::real(Operation::Nop, &[], &[Operand::Constant(u32::from(states) - 1)])
}

/// The instruction inserted before another one.
fn mending(fix: Fix, before: &Inst) -> Inst {
    let null = Operand::Special(Special::Null);
    match fix {
        Fix::Wait(field) => Inst::real(Operation::WaitDependencies, &[], &[Operand::Field(field, 0)]),
        Fix::WaitForStores => Inst::real(Operation::WaitStores, &[], &[null, Operand::Constant(0)]),
        Fix::IdleMove => {
            let is_vector =
                |operand: &&Operand| matches!(operand, Operand::Hardware(place) if place.file == File::Vector);
            match before.uses.iter().find(is_vector) {
                Some(source) => Inst::real(Operation::Move, &[*source], &[*source]),
                None => Inst::real(Operation::VectorNop, &[], &[]),
            }
        }
        Fix::MoveToNull => Inst::real(Operation::ScalarMove, &[null], &[Operand::Constant(0)]),
        Fix::RewriteVcc => {
            let vcc = Operand::Special(Special::Vcc);
            Inst::real(Operation::ScalarMove64, &[vcc], &[vcc])
        }
    }
}

#[cfg(test)]
mod tests;
