//! Inserts waits for results of memory instructions: one pass over the blocks, one table per generation.
//!
//! Runs after register allocation. Before an instruction that reads or overwrites a register with a pending access, the
//! pass waits for the counter to drop to the number of later accesses, if it counts in order; so loads that are not
//! needed yet continue. Fences become waits and cache controls. The accesses pending at the start of a block are the
//! union of those of its predecessors. Nothing else writes waits for counters.

mod state;
mod table;

use super::arch::Arch;
use super::machine::{Code, Fence, Function, Inst, Operand, Pseudo, Reach, Special};
use super::mnemonic::Operation;
use super::pending;
use super::unit::Unit;
use super::view::{Cell, Roles, Traits, View};
use crate::kernel::Origin;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use state::{State, Waits};
use table::{COUNTERS, Event, Table};

/// Inserts waits into a function after register allocation, and removes fences.
pub fn insert(function: &mut Function, arch: &Arch) {
    let table = Table::of(arch);
    let mut origins = FxHashMap::default();
    for (block, start) in starts(function, arch, table).into_iter().enumerate() {
        let insts = std::mem::take(&mut function.blocks[block].insts);
        let done = Some(Vec::with_capacity(insts.len()));
        let mut writer = Writer { arch, table, state: start, done, origins };
        writer.all(&insts);
        origins = writer.origins;
        function.blocks[block].insts = writer.done.unwrap_or_default();
    }
}

/// The pending events at the start of each block.
fn starts(function: &Function, arch: &Arch, table: &Table) -> Vec<State> {
    pending::starts(function, |block, state| {
        let mut writer = Writer { arch, table, state, done: None, origins: FxHashMap::default() };
        writer.all(&block.insts);
        writer.state
    })
}

struct Writer<'a> {
    arch: &'a Arch,
    table: &'a Table,
    state: State,
    /// The finished instructions; `None` while only the state matters.
    done: Option<Vec<Inst>>,
    /// The origins of the instructions with pending registers.
    origins: FxHashMap<Cell, Origin>,
}

impl Writer<'_> {
    fn all(&mut self, insts: &[Inst]) {
        for (n, inst) in insts.iter().enumerate() {
            let rest = &insts[n + 1..];
            match fence_of(inst) {
                Some(fence) => self.fence(&fence, inst.origin, rest),
                None => self.next(inst),
            }
            if is_barrier(inst) {
                self.acquire_again(rest);
            }
        }
    }

    fn next(&mut self, inst: &Inst) {
        let view = View::new(inst, self.arch);
        let (mut waits, mut origin) = ([None; COUNTERS], inst.origin);
        let merged = merged(inst).filter(|event| self.table.in_order.contains(event));
        let is_merged = |cell: Cell| merged.is_some() && view.writes.iter().any(|access| access.cell == cell);
        let reads = view.reads.iter().map(|access| access.cell).filter(|cell| !is_merged(*cell));
        let writes = view.writes.iter().map(|access| (access.cell, true));
        for (cell, is_written) in reads.map(|cell| (cell, false)).chain(writes) {
            let before = waits;
            match is_written {
                true => self.state.before_write(self.table, cell, merged, &mut waits),
                false => self.state.before_read(self.table, cell, &mut waits),
            }
            if waits != before {
                origin = self.origins.get(&cell).copied().unwrap_or(origin);
            }
        }
        if writes_memory(inst) {
            // Scalar loads may pass a store that precedes them.
            self.state.before_fence(self.table, Event::ScalarLoad, &mut waits);
        }
        if inst.operation() == Some(Operation::Barrier) && self.table.barriers_wait {
            Event::ALL.iter().for_each(|event| self.state.before_fence(self.table, *event, &mut waits));
        }
        self.wait(&waits, origin);
        self.begin(inst, &view);
        self.put(inst);
    }

    fn put(&mut self, inst: &Inst) {
        self.done.iter_mut().for_each(|done| done.push(inst.clone()));
    }

    /// Waits for pending events of an instruction of that origin.
    fn wait(&mut self, waits: &Waits, origin: Origin) {
        self.state.wait(self.table, waits);
        if self.done.is_some() {
            waiting(self.table, waits).into_iter().for_each(|inst| self.put(&inst.made_for(origin)));
        }
    }

    fn fence(&mut self, fence: &Fence, origin: Origin, rest: &[Inst]) {
        for operation in self.table.write_back(fence) {
            self.next(&Inst::real(*operation, &[], &[]).made_for(origin));
        }
        let mut waits = [None; COUNTERS];
        let buffers: &[Event] = if fence.buffers { &[Event::Load, Event::Sample, Event::Store] } else { &[] };
        let shared: &[Event] = if fence.shared { &[Event::Lds] } else { &[] };
        for event in buffers.iter().chain(shared) {
            self.state.before_fence(self.table, *event, &mut waits);
        }
        self.wait(&waits, origin);
        let acquire = fence.acquire.filter(|_| fence.buffers);
        if fence.release.is_some() {
            self.state.acquired = self.state.acquired.max(acquire);
        }
        if fence.release.is_none() || !comes_to_barrier(rest) {
            self.invalidate(acquire);
        }
    }

    /// A fence before a barrier orders accesses after the barrier: until then other waves may bring old values into
    /// caches.
    fn acquire_again(&mut self, rest: &[Inst]) {
        let acquired = self.state.acquired.take();
        let own = rest.first().and_then(fence_of).filter(|fence| fence.buffers).and_then(|fence| fence.acquire);
        if acquired > own {
            self.invalidate(acquired);
        }
    }

    fn invalidate(&mut self, reach: Option<Reach>) {
        for operation in self.table.invalidate(reach) {
            self.put(&Inst::real(*operation, &[], &[]));
        }
    }

    /// Records the events that an instruction starts.
    fn begin(&mut self, inst: &Inst, view: &View) {
        let written = || view.writes.iter().map(|access| access.cell);
        let is_flat = inst.modifiers.prefix == "flat_";
        let mut events: SmallVec<[Event; 2]> = SmallVec::new();
        let kinds = [
            (Traits::LOAD, load_event(inst)),
            (Traits::STORE, Event::Store),
            (Traits::LDS, Event::Lds),
            (Traits::SMEM, Event::ScalarLoad),
        ];
        events.extend(kinds.into_iter().filter(|(of, _)| view.traits.contains(*of)).map(|(_, event)| event));
        if self.done.is_some() && !events.is_empty() {
            let cells = view.reads.iter().chain(&view.writes).map(|access| (access.cell, inst.origin));
            self.origins.extend(cells);
        }
        for event in events {
            self.state.begin(self.table, event, written());
        }
        if is_flat {
            // It returns nothing, because no address is in workgroup memory, but it is counted.
            self.state.begin(self.table, Event::Flat, std::iter::empty());
        }
        let data: SmallVec<[Cell; 4]> =
            view.reads.iter().filter(|access| access.roles.contains(Roles::DATA)).map(|access| access.cell).collect();
        if !data.is_empty() {
            self.state.begin(self.table, Event::StoreData, data.into_iter());
        }
    }
}

/// The kind of event caused by a vector memory load.
fn load_event(inst: &Inst) -> Event {
    if inst.operation().is_some_and(Operation::takes_sampler) { Event::Sample } else { Event::Load }
}

/// The kind of a texel load that keeps its result's other lanes: it needs no wait for loads of that kind to the same
/// registers if they write in order.
fn merged(inst: &Inst) -> Option<Event> {
    let is_texel = inst.modifiers.image.is_some() || inst.operation() == Some(Operation::LoadTexel);
    (inst.keeps && is_texel && inst.operation().is_some_and(Operation::is_load)).then(|| load_event(inst))
}

fn fence_of(inst: &Inst) -> Option<Fence> {
    if let Code::Pseudo(Pseudo::Fence(fence)) = inst.code { Some(fence) } else { None }
}

/// Returns true if an instruction may write memory that scalar loads read.
fn writes_memory(inst: &Inst) -> bool {
    let is_private = inst.modifiers.prefix == "scratch_";
    inst.operation().is_some_and(|operation| operation.unit() == Unit::Memory && !operation.is_load()) && !is_private
}

/// Returns true if an instruction waits for the other waves of the workgroup.
fn is_barrier(inst: &Inst) -> bool {
    matches!(inst.operation(), Some(Operation::Barrier | Operation::BarrierWait))
}

/// Returns true if a barrier comes before the next memory access.
fn comes_to_barrier(rest: &[Inst]) -> bool {
    let is_access = |unit| matches!(unit, Unit::Memory | Unit::ScalarMemory);
    let next = rest.iter().find(|inst| is_barrier(inst) || inst.operation().is_some_and(|op| is_access(op.unit())));
    next.is_some_and(is_barrier)
}

/// The instructions that wait so far.
fn waiting(table: &Table, waits: &Waits) -> SmallVec<[Inst; 2]> {
    let mut left = *waits;
    let mut insts = SmallVec::new();
    for (first, second, operation) in table.fused {
        let (high, low) = (left[usize::from(*first)], left[usize::from(*second)]);
        if let (Some(high), Some(low)) = (high, low) {
            let both = u32::from(high) << 8 | u32::from(low);
            insts.push(Inst::real(*operation, &[], &[Operand::Constant(both)]));
            left[usize::from(*first)] = None;
            left[usize::from(*second)] = None;
        }
    }
    let mut fields: SmallVec<[Operand; 3]> = SmallVec::new();
    for (counter, down_to) in table.counters.iter().zip(left) {
        match (counter.alone, down_to) {
            (_, None) => {}
            (None, Some(down_to)) => fields.push(Operand::Field(counter.field, down_to)),
            (Some(operation), Some(down_to)) => insts.push(alone(table, operation, down_to)),
        }
    }
    if !fields.is_empty() {
        insts.insert(0, Inst::real(Operation::WaitCounters, &[], &fields));
    }
    insts
}

/// Waits for one counter. If counters also have fields, the other instructions take a register to add, here the null
/// register.
fn alone(table: &Table, operation: Operation, down_to: u8) -> Inst {
    let number = Operand::Constant(u32::from(down_to));
    let has_fields = table.counters.iter().any(|counter| counter.alone.is_none());
    let uses: &[Operand] = if has_fields { &[Operand::Special(Special::Null), number] } else { &[number] };
    Inst::real(operation, &[], uses)
}

#[cfg(test)]
mod tests;
