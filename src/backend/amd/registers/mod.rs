//! Gives virtual registers hardware registers.
//!
//! Copies first become free where possible: instructions write where the value is needed, and registers connected by
//! copies share a place. Then a linear scan places the rest. A register without a place is spilled to memory, with
//! loads and stores around its accesses, and allocation starts again. Under the rules of [`machine`](super::machine) a
//! register stays in one place for its whole life, so nothing is ever split.

mod absorb;
mod finish;
mod limits;
mod place;
mod spill;
mod webs;

use super::arch::Arch;
use super::live::Live;
use super::machine::{File, Function, Inst};
use super::mnemonic::Operation;
pub use absorb::absorb;
pub use limits::{Limits, occupancy};
use place::Full;
pub use spill::Room;
use webs::Webs;

/// How registers were assigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Allocation {
    /// Vector registers: the highest in use plus one.
    pub vectors: u16,
    /// Scalar registers: the highest in use plus one, without VCC.
    pub scalars: u16,
    /// 32-bit values of an invocation that live in scratch memory.
    pub spilled_vectors: u32,
    /// 32-bit values of a wave that live in lanes of vector registers.
    pub spilled_scalars: u32,
    /// Bytes of scratch memory of one invocation, for variables and spilled values.
    pub scratch_bytes: u32,
}

/// Why registers cannot be assigned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Something must go to scratch memory, which the function has not set up.
    NeedsScratch,
    /// The operands of one instruction do not fit.
    Full(File),
}

/// Limit of the spilling rounds; each one leaves fewer values in registers, and real kernels need two or three.
const ROUNDS: u32 = 24;

/// Steps per instruction and round, in addition to the steps counted elsewhere.
const STEPS_PER_INST: usize = 4;

/// Puts all registers into places.
///
/// # Errors
/// Returns an error if values must go to scratch memory and cannot, or if even that is not enough.
pub fn allocate(function: &mut Function, arch: &Arch, limits: &Limits) -> Result<Allocation, Failure> {
    let mut room = Room::new(function, arch);
    absorb(function);
    let mut file = File::Vector;
    for _ in 0..ROUNDS {
        crate::limits::spend(STEPS_PER_INST * function.blocks.iter().map(|block| block.insts.len()).sum::<usize>());
        let depths = depths(function);
        let live = Live::new(function, writes_early);
        let placed = |webs: Webs| {
            let costs = spill::costs(function, &webs, &depths, &room);
            place::place(&webs, limits, &costs).map(|placement| (webs, placement))
        };
        // Wide webs, and webs with a fixed register, may not fit where single registers do.
        let joined = placed(Webs::joined(function, arch, &live, &depths));
        let found = joined.or_else(|_| placed(Webs::single(function, arch, &live)));
        let (webs, placement) = found.map_err(|Full(file)| Failure::Full(file))?;
        let Some(first) = placement.evicted.first() else {
            return Ok(done(function, arch, &webs, &placement.firsts, &room));
        };
        file = webs.webs[*first].file;
        spill::spill(function, &webs, &placement.evicted, &mut room)?;
    }
    Err(Failure::Full(file))
}

fn done(function: &mut Function, arch: &Arch, webs: &Webs, firsts: &[Option<u16>], room: &Room) -> Allocation {
    let ends = |file| {
        let placed = webs.webs.iter().zip(firsts).filter(|(web, _)| web.file == file);
        placed.filter_map(|(web, first)| Some((*first)? + web.slots.len() as u16)).max().unwrap_or(0)
    };
    let (vectors, scalars) = (ends(File::Vector), ends(File::Scalar));
    finish::finish(function, |slice| {
        let (web, offset) = webs.home(slice.reg);
        // A register without a place is never live: its value is never read.
        firsts[web].unwrap_or(0) + offset
    });
    Allocation {
        vectors: vectors + limits::spare_vectors(function, arch, vectors),
        scalars,
        spilled_vectors: room.spilled_vectors(),
        spilled_scalars: room.spilled_scalars(),
        scratch_bytes: function.scratch_bytes,
    }
}

/// Returns true if an instruction may write before it has read all operands: with XNACK the memory unit repeats a
/// scalar load of several registers after a page fault, so it must not overwrite its own address (LLVM: the `_ec`
/// loads).
fn writes_early(inst: &Inst) -> bool {
    use Operation as O;
    matches!(inst.operation(), Some(O::LoadScalar64 | O::LoadScalar128 | O::LoadScalar256))
}

/// How many loops are around each block: a backward branch encloses the blocks between.
fn depths(function: &Function) -> Vec<u32> {
    let positions = function.positions();
    let mut changes = vec![0_i32; function.blocks.len() + 1];
    for at in 0..function.blocks.len() {
        for head in function.successors(at, &positions).into_iter().filter(|next| *next <= at) {
            changes[head] += 1;
            changes[at + 1] -= 1;
        }
    }
    let mut depth = 0;
    let sums = changes[..function.blocks.len()].iter().map(|change| {
        depth += change;
        depth.unsigned_abs()
    });
    sums.collect()
}

#[cfg(test)]
mod tests;
