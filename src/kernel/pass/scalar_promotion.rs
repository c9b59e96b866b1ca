//! Keeps an element of workgroup memory in a variable of the invocation while a loop adds to it:
//! `s[i] = 0; for (…) s[i] += x` stores once, after the loop. LLVM calls this scalar promotion.
//!
//! The element must be the only workgroup memory that the loop accesses, and the loop must not order accesses, so that
//! no other invocation can observe intermediate values. The store before the loop, which is removed, shows that this
//! invocation may write the element even if the loop does not; without it, a store of the unchanged value could undo
//! another invocation's.
//!
//! The variable is in private memory, and [`sroa`](super::sroa) turns it into values.

use crate::ir::Order;
use crate::kernel::tree::Tree;
use crate::kernel::{BlockId, InstId, Kernel, MemoryAccess, MemorySpace, Op, PrivateVariable, Ty, Value};

/// Promotes elements of workgroup memory. Returns true if there were some.
pub fn run(kernel: &mut Kernel) -> bool {
    if kernel.shared_bytes == 0 || kernel.is_straight() {
        return false;
    }
    let tree = Tree::new(kernel);
    let leaving = tree.leaving(kernel);
    let touching = tree.holding(kernel, touches);
    let mut promoted: Vec<Promotion> = Vec::new();
    // True for each instruction that is a promoted loop, or in one.
    let mut inside = vec![false; kernel.insts.len()];
    for block in &tree.blocks {
        if tree.owner(*block).is_some_and(|owner| inside[owner.index()]) {
            kernel.blocks[*block].insts.iter().for_each(|inst| inside[inst.index()] = true);
            continue;
        }
        let found = in_block(kernel, *block, &leaving, &touching);
        found.iter().for_each(|promotion| inside[promotion.inst.index()] = true);
        promoted.extend(found);
    }
    promoted.iter().for_each(|promotion| promote(kernel, promotion));
    !promoted.is_empty()
}

/// An element that becomes a variable in a loop.
struct Promotion {
    /// The block that contains the loop, and the loop itself.
    block: BlockId,
    inst: InstId,
    /// The store of the element before the loop, and the accesses in it.
    before: InstId,
    accesses: Vec<InstId>,
}

/// Returns true if an operation reads, writes or orders workgroup memory.
fn touches(op: Op) -> bool {
    match op {
        Op::Load(access) | Op::Store(access) => access.space == MemorySpace::Shared,
        Op::Atomic { access, order, .. } => access.space == MemorySpace::Shared || order != Order::Relaxed,
        Op::Barrier { .. } | Op::Whole { .. } => true,
        _ => false,
    }
}

/// The loops of one block whose element becomes a variable.
fn in_block(kernel: &Kernel, block: BlockId, leaving: &[bool], touching: &[bool]) -> Vec<Promotion> {
    let mut found = Vec::new();
    let mut before = None;
    for inst in &kernel.blocks[block].insts {
        match kernel.insts[*inst].op {
            Op::Store(_) if touching[inst.index()] => before = Some(*inst),
            Op::Loop { body, continuing } if touching[inst.index()] => {
                let store = before.take().filter(|_| !leaving[inst.index()]);
                let accesses = store.and_then(|store| accesses(kernel, [body, continuing], store));
                found.extend(store.zip(accesses).map(|(before, accesses)| Promotion {
                    block,
                    inst: *inst,
                    before,
                    accesses,
                }));
            }
            _ if touching[inst.index()] => before = None,
            _ => {}
        }
    }
    found
}

/// The accesses in a loop if all of them access the element of a store, and one of them is a store.
fn accesses(kernel: &Kernel, blocks: [BlockId; 2], store: InstId) -> Option<Vec<InstId>> {
    let element = element(kernel, store)?;
    let mut found = Vec::new();
    let mut open = blocks.to_vec();
    while let Some(block) = open.pop() {
        for inst in &kernel.blocks[block].insts {
            if touches(kernel.insts[*inst].op) {
                (self::element(kernel, *inst)? == element).then(|| found.push(*inst))?;
            }
            open.extend(kernel.inner_blocks(*inst));
        }
    }
    let stores = |inst: &InstId| matches!(kernel.insts[*inst].op, Op::Store(_));
    found.iter().any(stores).then_some(found)
}

/// The place that a load or store accesses.
fn element(kernel: &Kernel, inst: InstId) -> Option<(Value, MemoryAccess)> {
    match kernel.insts[inst].op {
        Op::Load(access) | Op::Store(access) if !access.coherent && !access.volatile => {
            Some((kernel.args(inst)[0], MemoryAccess { align: 1, ..access }))
        }
        _ => None,
    }
}

fn promote(kernel: &mut Kernel, promotion: &Promotion) {
    let Op::Store(shared) = kernel.insts[promotion.before].op else { return };
    let private = variable(kernel, shared);
    let (span, flags) = (kernel.insts[promotion.before].span, kernel.insts[promotion.before].flags);
    let before = kernel.args(promotion.before).to_vec();
    let address = kernel.constant(Ty::B32, 0);
    for inst in &promotion.accesses {
        kernel.insts[*inst].op = match kernel.insts[*inst].op {
            Op::Load(_) => Op::Load(private),
            _ => Op::Store(private),
        };
        kernel.args_mut(*inst)[0] = address;
    }
    let first: Vec<_> = [address].into_iter().chain(before[1..].iter().copied()).collect();
    let first = kernel.add_inst(Op::Store(private), &first, &[], flags, span);
    let types = vec![shared.component(); shared.components.into()];
    let last = kernel.add_inst(Op::Load(private), &[address], &types, flags, span);
    let values: Vec<_> = [before[0]].into_iter().chain(kernel.results(last)).collect();
    let after = kernel.add_inst(Op::Store(shared), &values, &[], flags, span);
    let insts = &mut kernel.blocks[promotion.block].insts;
    insts.retain(|inst| *inst != promotion.before);
    if let Some(at) = insts.iter().position(|inst| *inst == promotion.inst) {
        insts.splice(at..=at, [first, promotion.inst, last, after]);
    }
}

/// The accesses of a new variable for an element of workgroup memory. The offset is the variable's start, with which it
/// moves.
fn variable(kernel: &mut Kernel, shared: MemoryAccess) -> MemoryAccess {
    let (align, bytes) = (u32::from(shared.bytes), u32::from(shared.bytes) * u32::from(shared.components));
    let start = kernel.private_bytes.next_multiple_of(align);
    kernel.private_bytes = start + bytes;
    kernel.private.push(PrivateVariable { start, bytes, align });
    let space = MemorySpace::Private(kernel.private.len() as u32 - 1);
    MemoryAccess { space, offset: start, align, ..shared }
}
