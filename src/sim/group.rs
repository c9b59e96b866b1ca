//! Workgroups: their waves take turns, from barrier to barrier, always in the same order.

use super::fault::{Access, AccessKind, Fault, FaultKind, Invocation};
use super::lanes::Lanes;
use super::memory::Memory;
use super::program::{Inst, Program};
use super::races::Races;
use super::watch::Watch;
use super::wave::{Stop, Wave, low_lanes};
use super::{Dispatch, Undefined};
use crate::kernel::{MemoryAccess, MemorySpace};
use crate::source::Span;

/// The state that all waves of a workgroup share.
pub(super) struct Env<'a> {
    pub program: &'a Program<'a>,
    pub buffers: &'a mut [Memory],
    pub push: Memory,
    pub shared: Memory,
    /// The accesses to `shared`.
    pub races: Races,
    pub lanes: Lanes,
    pub group: [u32; 3],
    pub groups: [u32; 3],
    pub limit: u64,
    /// True if memory may contain undefined values.
    pub keeps_undefined: bool,
    /// The operations whose executions are kept.
    pub watch: Option<Watch>,
}

impl<'a> Env<'a> {
    pub fn new(program: &'a Program<'a>, dispatch: &Dispatch, buffers: &'a mut [Memory]) -> Env<'a> {
        let shared_bytes = program.kernel.shared_bytes as usize;
        Env {
            program,
            buffers,
            push: dispatch.push.to_vec().into(),
            shared: Memory::undefined(shared_bytes),
            races: Races::new(if dispatch.allow_races { 0 } else { shared_bytes }),
            lanes: Lanes::new(program),
            group: [0; 3],
            groups: dispatch.groups,
            limit: dispatch.max_steps,
            keeps_undefined: dispatch.undefined == Undefined::Keep,
            watch: None,
        }
    }

    /// A fault of the lowest of some lanes.
    pub fn fault(&self, wave: &Wave, kind: FaultKind, span: Span, lanes: u64) -> Box<Fault> {
        let lane = lanes.trailing_zeros();
        let at = Invocation { workgroup: self.group, local: self.local(wave, lane), wave: wave.index, lane };
        Box::new(Fault { kind, span, at })
    }

    /// An invocation's position in its workgroup.
    fn local(&self, wave: &Wave, lane: u32) -> [u32; 3] {
        let [x, y, _] = self.program.kernel.workgroup_size.map(|size| size.max(1));
        let index = wave.index * self.program.wave_size + lane;
        [index % x, index / x % y, index / x / y]
    }

    /// A wave is at a barrier without some of its lanes.
    pub fn barrier_fault(&self, wave: &Wave, span: Span, missing: u64) -> Box<Fault> {
        let (waiting, of) = ((wave.filled & !missing).count_ones(), wave.filled.count_ones());
        self.fault(wave, FaultKind::Barrier { waiting, of }, span, missing)
    }

    /// A lane's access races with another one.
    pub fn race(&self, wave: &Wave, inst: &Inst, lane: usize, other: Span) -> Box<Fault> {
        self.fault(wave, FaultKind::Race { other }, inst.span, 1 << lane)
    }

    /// An access that cannot be, for messages.
    pub fn access(&self, kind: AccessKind, access: MemoryAccess, offset: u64) -> Access {
        let kernel = self.program.kernel;
        let (memory, size) = match access.space {
            MemorySpace::Buffer(n) => {
                let name = kernel.buffers.get(n as usize).map_or("?", |buffer| &buffer.name);
                (format!("buffer `{name}`"), self.buffers.get(n as usize).map_or(0, Memory::len))
            }
            MemorySpace::Push => ("the push constants".into(), self.push.len()),
            MemorySpace::Shared => ("workgroup memory".into(), self.shared.len()),
            MemorySpace::Private(_) => ("an indexed variable's memory".into(), kernel.private_bytes as usize),
            MemorySpace::Physical => ("memory".into(), 0),
        };
        let bytes = u32::from(access.bytes) * u32::from(access.components);
        Access { kind, memory: memory.into(), offset, bytes, size: size as u64 }
    }

    /// Runs all workgroups, x first.
    pub fn run(&mut self) -> Result<(), Box<Fault>> {
        let mut waves = self.waves();
        let [x, y, z] = self.groups;
        for index in 0..u64::from(x) * u64::from(y) * u64::from(z) {
            let (row, layer) = (index / u64::from(x), index / u64::from(x) / u64::from(y));
            self.group = [(index % u64::from(x)) as u32, (row % u64::from(y)) as u32, layer as u32];
            self.shared.forget();
            self.races.order();
            match self.program.has_barrier {
                true => self.run_together(&mut waves)?,
                false => self.run_in_turn(&mut waves[0])?,
            }
        }
        Ok(())
    }

    fn wave_count(&self) -> u32 {
        self.program.kernel.invocations().div_ceil(self.program.wave_size)
    }

    /// The lanes of wave `index` that have invocations.
    fn filled(&self, index: u32) -> u64 {
        low_lanes((self.program.kernel.invocations() - index * self.program.wave_size).min(self.program.wave_size))
    }

    /// The waves that exist at one time.
    fn waves(&self) -> Vec<Wave> {
        let count = if self.program.has_barrier { self.wave_count() } else { 1 };
        vec![Wave::new(self.program); count as usize]
    }

    /// Waves that never wait run one after the other in the same rows.
    fn run_in_turn(&mut self, wave: &mut Wave) -> Result<(), Box<Fault>> {
        for index in 0..self.wave_count() {
            wave.start(index, self.filled(index));
            wave.run(self)?;
        }
        Ok(())
    }

    fn run_together(&mut self, waves: &mut [Wave]) -> Result<(), Box<Fault>> {
        for (index, wave) in waves.iter_mut().enumerate() {
            wave.start(index as u32, self.filled(index as u32));
        }
        loop {
            let stops = waves.iter_mut().map(|wave| wave.run(self)).collect::<Result<Vec<Stop>, _>>()?;
            match stops.iter().find(|stop| **stop != Stop::End) {
                None => return Ok(()),
                Some(first) => self.meet(waves, &stops, *first)?,
            }
            self.races.order();
        }
    }

    /// Checks that all waves wait at the same barrier.
    fn meet(&self, waves: &[Wave], stops: &[Stop], first: Stop) -> Result<(), Box<Fault>> {
        let Some(other) = stops.iter().position(|stop| *stop != first) else { return Ok(()) };
        let span = |stop: Stop| match stop {
            Stop::Barrier(place) => self.program.code[place as usize].span,
            Stop::End => Span::NONE,
        };
        let waits = |(stop, _): &(&Stop, &Wave)| **stop == first;
        let waiting = stops.iter().zip(waves).filter(waits).map(|(_, wave)| wave.filled.count_ones()).sum();
        let kind = match stops[other] {
            Stop::End => FaultKind::Barrier { waiting, of: self.program.kernel.invocations() },
            stop => FaultKind::Barriers { other: span(stop) },
        };
        Err(self.fault(&waves[other], kind, span(first), waves[other].filled))
    }
}
