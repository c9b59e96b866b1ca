//! Moves constants that are added to an address into the access, where the sum cannot wrap.

use super::range::Ranges;
use crate::kernel::tree::Tree;
use crate::kernel::{BinOp, InstId, Kernel, MemoryAccess, MemorySpace, Op, Value};

/// Folds constants into accesses. Gives whether there were some.
pub fn run(kernel: &mut Kernel) -> bool {
    let mut ranges = Ranges::new(kernel);
    let mut changed = false;
    // A value's block comes before those in which it is used, and its instruction before later ones of the block.
    for inst in Tree::new(kernel).insts(kernel) {
        if let Some(result) = kernel.result(inst) {
            ranges.learn(kernel, &kernel.insts[inst].op, kernel.args(inst), result);
        }
    }
    for inst in Tree::new(kernel).insts(kernel) {
        while let Some((base, offset)) = split(kernel, &ranges, inst) {
            changed = true;
            kernel.args_mut(inst)[0] = base;
            set_offset(kernel, inst, offset);
        }
    }
    changed
}

fn access(op: &Op) -> Option<MemoryAccess> {
    match op {
        Op::Load(access) | Op::Store(access) | Op::Atomic { access, .. } => Some(*access),
        _ => None,
    }
}

fn set_offset(kernel: &mut Kernel, inst: InstId, offset: u32) {
    match &mut kernel.insts[inst].op {
        Op::Load(access) | Op::Store(access) | Op::Atomic { access, .. } => access.offset = offset,
        _ => {}
    }
}

/// The address of an access without a constant that is added to it, and the offset with it.
fn split(kernel: &mut Kernel, ranges: &Ranges, inst: InstId) -> Option<(Value, u32)> {
    let access = access(&kernel.insts[inst].op)?;
    let address = *kernel.args(inst).first()?;
    if let Some(bits) = kernel.as_constant(address).filter(|bits| *bits != 0) {
        let offset = u32::try_from(bits).ok()?.checked_add(access.offset)?;
        return Some((kernel.constant(kernel.ty(address), 0), offset));
    }
    let (base, constant) = sum(kernel, ranges, address, access.space)?;
    Some((base, u32::try_from(constant).ok()?.checked_add(access.offset)?))
}

/// The parts of an address that is a sum with a constant and does not wrap.
fn sum(kernel: &Kernel, ranges: &Ranges, address: Value, space: MemorySpace) -> Option<(Value, u64)> {
    let made = kernel.definition(address)?;
    let [base, by] = kernel.args(made) else { return None };
    let by = kernel.as_constant(*by)?;
    let range = ranges.of(kernel, *base);
    let apart = by.checked_ilog2().is_none_or(|top| top < range.zeros());
    let most = if space == MemorySpace::Physical { u64::MAX } else { u32::MAX.into() };
    let fits = match kernel.insts[made].op {
        Op::Bin(BinOp::Add, _) => apart || range.most.checked_add(by).is_some_and(|sum| sum <= most),
        // No carry: the bits of one are zero in the other.
        Op::Bin(BinOp::Or, _) => range.may & by == 0,
        _ => false,
    };
    // Nothing lies at the ends of physical memory, so that sums with small constants do not wrap.
    let small =
        space == MemorySpace::Physical && by < 1 << 31 && matches!(kernel.insts[made].op, Op::Bin(BinOp::Add, _));
    (fits || small).then_some((*base, by))
}
