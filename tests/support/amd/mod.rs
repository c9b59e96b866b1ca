//! Runs AMD assembly on the CPU, from the text alone, following LLVM's assembler and AMD's ISA documents.
//!
//! It shares no code with the compiler. It reports faults that hardware does not: unwritten registers are undefined bit
//! by bit, and must not affect a branch or an address; a register that memory will write needs a wait; dependent
//! instructions need the distance that the hardware does not enforce. The caller learns which undefined bits are stored
//! to memory. Rounding is exact where the hardware's is not.

pub mod memory;
pub mod single;
pub mod target;

mod descriptor;
mod dpp;
pub mod float;
mod group;
mod hazards;
mod inst;
mod lanes;
mod operand;
mod packed;
mod pair;
mod program;
mod row;
mod scalar;
mod scalar_run;
mod state;
mod table;
mod vector;
mod waits;

pub use hazards::walk;
pub use program::Program;

pub use descriptor::Registers;

use descriptor::Start;
use group::Group;
use inst::{Inst, Unit};
use memory::Memory;
use std::ops::AddAssign;

/// How a program is started.
#[derive(Debug, Clone, Copy)]
pub struct Dispatch<'d> {
    pub groups: [u32; 3],
    pub group_size: [u32; 3],
    /// The bytes of the arguments.
    pub arguments: &'d [u8],
    /// True if the last wave goes first between barriers.
    pub backwards: bool,
    /// True if all workgroups run concurrently, a few instructions of each in turn.
    pub together: bool,
}

/// Instructions that a wave runs in its turn, where workgroups run concurrently.
const TURN: usize = 7;

/// The waves of a run and the instructions that they executed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Executed {
    pub waves: u64,
    /// Vector arithmetic; a dual instruction counts as one.
    pub vector: u64,
    pub scalar: u64,
    /// Accesses of any memory.
    pub memory: u64,
    pub branches: u64,
    /// Waits, barriers, hints and the end.
    pub control: u64,
    /// The instructions of the first wave in their order, by their numbers in the program.
    pub first: Vec<usize>,
}

impl Executed {
    /// All instructions except waits, barriers, hints and the end.
    pub fn all(&self) -> u64 {
        self.vector + self.scalar + self.memory + self.branches
    }

    /// Counts an instruction.
    fn count(&mut self, inst: &Inst) {
        match inst.unit {
            Unit::Vector => self.vector += 1,
            Unit::Scalar => self.scalar += 1,
            Unit::Smem | Unit::Vmem | Unit::Flat | Unit::Lds => self.memory += 1,
            Unit::Branch => self.branches += 1,
            Unit::Control => self.control += 1,
        }
    }
}

/// A run with a trace of its first wave.
#[derive(Debug, Clone)]
pub struct Traced {
    pub executed: Executed,
    /// The first wave's instructions in execution order, one per line.
    pub first_wave: String,
}

impl Traced {
    pub fn new(program: &Program, executed: Executed) -> Self {
        Self { first_wave: program.texts(&executed.first), executed }
    }
}

impl AddAssign for Executed {
    fn add_assign(&mut self, other: Self) {
        self.waves += other.waves;
        self.vector += other.vector;
        self.scalar += other.scalar;
        self.memory += other.memory;
        self.branches += other.branches;
        self.control += other.control;
        if self.first.is_empty() {
            self.first = other.first;
        }
    }
}

/// Runs all workgroups of a program, one after the other or concurrently.
pub fn run(program: &Program, memory: &mut Memory, dispatch: &Dispatch<'_>) -> Result<Executed, String> {
    if dispatch.arguments.len() < program.descriptor.kernarg {
        return Err(format!(
            "{} bytes of arguments, {} are asked for",
            dispatch.arguments.len(),
            program.descriptor.kernarg
        ));
    }
    let arguments = memory.add(dispatch.arguments.to_vec(), false);
    let packet = memory.add(packet(program, dispatch, arguments), false);
    let scratch = 0x6000_ffff_f000;
    let [x, y, z] = dispatch.groups;
    let groups = (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])));
    let start = |group| {
        let group_size = dispatch.group_size;
        Start { arguments, packet, scratch, scratch_offset: 0, group, group_size, first: 0 }
    };
    let groups: Vec<[u32; 3]> = groups.collect();
    let (at_once, turn) = if dispatch.together { (groups.len().max(1), TURN) } else { (1, usize::MAX) };
    let mut executed = Executed::default();
    for numbers in groups.chunks(at_once) {
        let mut running: Vec<Group<'_>> =
            numbers.iter().map(|number| Group::new(program, start(*number), turn)).collect();
        let mut goes_on = true;
        while goes_on {
            goes_on = false;
            for (group, number) in running.iter_mut().zip(numbers) {
                let ran = group.run(memory, dispatch.backwards);
                goes_on |= ran.map_err(|why| format!("workgroup {number:?}: {why}"))?;
            }
        }
        running.into_iter().for_each(|group| executed += group.executed());
    }
    Ok(executed)
}

/// The dispatch packet of the HSA runtime: 64 bytes.
fn packet(program: &Program, dispatch: &Dispatch<'_>, arguments: u64) -> Vec<u8> {
    let mut bytes = vec![0; 64];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    for n in 0..3 {
        put(4 + 2 * n, &(dispatch.group_size[n] as u16).to_le_bytes());
        put(12 + 4 * n, &(dispatch.group_size[n] * dispatch.groups[n]).to_le_bytes());
    }
    put(24, &(program.descriptor.scratch as u32).to_le_bytes());
    put(28, &(program.descriptor.lds as u32).to_le_bytes());
    put(40, &arguments.to_le_bytes());
    bytes
}
