//! Atomics on buffers and workgroup memory. An operation that the generation lacks becomes a compare-and-swap loop.

use super::emit::{EXEC, FALSE};
use super::memory::{Address, stored};
use super::{Selector, Words};
use crate::backend::amd::machine::{Code, Fence, File, ImageAccess, Inst, Modifiers, Operand, Pseudo, Reach};
use crate::backend::amd::mnemonic::{Generation, Operation};
use crate::ir::{AtomicOp, Order, Scalar};
use crate::kernel::{InstId, MemoryAccess, MemorySpace, Value};

/// The instructions on buffers, of 32 and of 64 bits, and the one on images.
fn operations(op: AtomicOp, scalar: Scalar) -> Option<[Operation; 3]> {
    use Operation as O;
    let is_signed = scalar.is_signed();
    let exchanges = matches!(op, AtomicOp::Exchange | AtomicOp::CompareExchange);
    if scalar.is_float() && !exchanges {
        return None;
    }
    Some(match op {
        AtomicOp::Add => [O::AtomicAdd, O::AtomicAdd64, O::ImageAdd],
        AtomicOp::Sub => [O::AtomicSub, O::AtomicSub64, O::ImageSub],
        AtomicOp::Min if is_signed => [O::AtomicMinI, O::AtomicMinI64, O::ImageMinI],
        AtomicOp::Min => [O::AtomicMinU, O::AtomicMinU64, O::ImageMinU],
        AtomicOp::Max if is_signed => [O::AtomicMaxI, O::AtomicMaxI64, O::ImageMaxI],
        AtomicOp::Max => [O::AtomicMaxU, O::AtomicMaxU64, O::ImageMaxU],
        AtomicOp::And => [O::AtomicAnd, O::AtomicAnd64, O::ImageAnd],
        AtomicOp::Or => [O::AtomicOr, O::AtomicOr64, O::ImageOr],
        AtomicOp::Xor => [O::AtomicXor, O::AtomicXor64, O::ImageXor],
        AtomicOp::Exchange => [O::AtomicSwap, O::AtomicSwap64, O::ImageSwap],
        AtomicOp::CompareExchange => [O::AtomicCompareSwap, O::AtomicCompareSwap64, O::ImageCompareSwap],
        AtomicOp::Load | AtomicOp::Store => return None,
    })
}

/// The names after `ds_` of operations on workgroup memory: without and with a result, of 32 and of 64 bits.
fn shared_names(op: AtomicOp, scalar: Scalar) -> Option<[&'static str; 4]> {
    let is_signed = scalar.is_signed();
    if scalar.is_float() {
        return None;
    }
    Some(match op {
        AtomicOp::Add => ["add_u32", "add_rtn_u32", "add_u64", "add_rtn_u64"],
        AtomicOp::Sub => ["sub_u32", "sub_rtn_u32", "sub_u64", "sub_rtn_u64"],
        AtomicOp::Min if is_signed => ["min_i32", "min_rtn_i32", "min_i64", "min_rtn_i64"],
        AtomicOp::Min => ["min_u32", "min_rtn_u32", "min_u64", "min_rtn_u64"],
        AtomicOp::Max if is_signed => ["max_i32", "max_rtn_i32", "max_i64", "max_rtn_i64"],
        AtomicOp::Max => ["max_u32", "max_rtn_u32", "max_u64", "max_rtn_u64"],
        AtomicOp::And => ["and_b32", "and_rtn_b32", "and_b64", "and_rtn_b64"],
        AtomicOp::Or => ["or_b32", "or_rtn_b32", "or_b64", "or_rtn_b64"],
        AtomicOp::Xor => ["xor_b32", "xor_rtn_b32", "xor_b64", "xor_rtn_b64"],
        _ => return None,
    })
}

/// The memory of an atomic.
pub enum AtomicMemory {
    Shared {
        index: Operand,
        offset: u32,
    },
    /// A buffer, or a texel of an image with one component.
    Memory(Address),
}

/// The instruction for an address, among those for buffers and images.
fn at_address([word, long, texel]: [Operation; 3], at: &Address, is_long: bool) -> Operation {
    match (at.modifiers.image, is_long) {
        (Some(_), _) => texel,
        (None, true) => long,
        (None, false) => word,
    }
}

impl Selector<'_> {
    pub fn atomic(&mut self, inst: InstId, op: AtomicOp, scalar: Scalar, access: MemoryAccess, order: Order) {
        if matches!(order, Order::Release | Order::AcquireRelease) {
            self.fence_all(Some(Reach::Device), None);
        }
        self.atomic_access(inst, op, scalar, access);
        if matches!(order, Order::Acquire | Order::AcquireRelease) {
            self.fence_all(None, Some(Reach::Device));
        }
    }

    fn atomic_access(&mut self, inst: InstId, op: AtomicOp, scalar: Scalar, access: MemoryAccess) {
        if scalar.width < 32 || matches!(access.space, MemorySpace::Private(_) | MemorySpace::Push) {
            self.refused("this atomic operation");
            return;
        }
        let args = self.kernel.args(inst);
        let access = MemoryAccess { coherent: true, ..access };
        match op {
            AtomicOp::Load => return self.load(inst, access),
            AtomicOp::Store => return self.store(inst, access),
            _ => {}
        }
        let wanted = self.kernel.result(inst).is_some_and(|value| self.uses[value.index()] > 0);
        let data: Vec<Operand> = args[1..].iter().map(|value| self.vector_of(*value)).collect();
        let Some(target) = self.atomic_target(access, args[0]) else { return };
        let old = self.atomic_on(&target, op, scalar, &data, wanted);
        if let Some(old) = old {
            let words = self.words_of(old, scalar.width / 32);
            self.result(inst, words);
        }
    }

    fn atomic_target(&mut self, access: MemoryAccess, address: Value) -> Option<AtomicMemory> {
        if access.space == MemorySpace::Shared {
            let (index, offset) = self.shared_address(access, address);
            return Some(AtomicMemory::Shared { index, offset });
        }
        let at = self.address(access, address)?;
        Some(AtomicMemory::Memory(self.reached(at)))
    }

    /// The operation, and its old value if used.
    pub fn atomic_on(
        &mut self,
        target: &AtomicMemory,
        op: AtomicOp,
        scalar: Scalar,
        data: &[Operand],
        wanted: bool,
    ) -> Option<Operand> {
        let is_long = scalar.width == 64;
        match (target, op) {
            (_, AtomicOp::CompareExchange) => Some(self.compare_exchange(target, is_long, data[0], data[1])),
            (AtomicMemory::Shared { index, offset }, AtomicOp::Exchange) => {
                let operation = if is_long { Operation::LdsSwap64 } else { Operation::LdsSwap };
                let old = self.vectors(if is_long { 2 } else { 1 });
                self.raw(operation, &[old], &[*index, data[0]]).modifiers.offset = *offset;
                Some(old)
            }
            (AtomicMemory::Shared { index, offset }, _) => match shared_names(op, scalar) {
                Some(names) => {
                    let name = names[usize::from(is_long) * 2 + usize::from(wanted)];
                    let old = wanted.then(|| self.vectors(if is_long { 2 } else { 1 }));
                    let inst = self.raw(Operation::LdsAtomic, old.as_slice(), &[*index, data[0]]);
                    (inst.modifiers.suffix, inst.modifiers.offset) = (name, *offset);
                    old
                }
                None => Some(self.by_exchange(target, op, scalar, data[0])),
            },
            (AtomicMemory::Memory(at), _) => match operations(op, scalar) {
                Some(operations) => {
                    self.memory_atomic(at, at_address(operations, at, is_long), is_long, data[0], wanted)
                }
                None => Some(self.by_exchange(target, op, scalar, data[0])),
            },
        }
    }

    /// Buffer and image instructions return the old value in the register of the data.
    fn memory_atomic(
        &mut self,
        at: &Address,
        operation: Operation,
        is_long: bool,
        data: Operand,
        wanted: bool,
    ) -> Option<Operand> {
        let width = if is_long { 2 } else { 1 };
        if !wanted {
            let uses = stored(at, data);
            self.raw(operation, &[], &uses).modifiers = at.modifiers;
            return None;
        }
        let mut modifiers = at.modifiers;
        modifiers.returns = true;
        if modifiers.is_data_first() {
            let Operand::Reg(slice) = data else { return None };
            let both = self.vectors(slice.count);
            self.move_to(both, data);
            let inst = self.raw(operation, &[both], &at.operands);
            (inst.modifiers, inst.keeps) = (modifiers, true);
            let words = self.words_of(both, width);
            return Some(self.whole(&words, File::Vector));
        }
        let old = self.vectors(width);
        let uses = stored(at, data);
        self.raw(operation, &[old], &uses).modifiers = modifiers;
        Some(old)
    }

    fn compare_exchange(&mut self, target: &AtomicMemory, is_long: bool, new: Operand, compared: Operand) -> Operand {
        let width = if is_long { 2 } else { 1 };
        match target {
            AtomicMemory::Shared { index, offset } => {
                let operation = if is_long { Operation::LdsCompareSwap64 } else { Operation::LdsCompareSwap };
                let old = self.vectors(width);
                // The new value is first from gfx11 on (LLVM: `DS_CMPSTORE`).
                let is_new_first = self.arch.generation >= Generation::Rdna3;
                let data = if is_new_first { [new, compared] } else { [compared, new] };
                self.raw(operation, &[old], &[*index, data[0], data[1]]).modifiers.offset = *offset;
                old
            }
            AtomicMemory::Memory(at) => {
                let words: Words =
                    self.words_of(new, width).into_iter().chain(self.words_of(compared, width)).collect();
                let data = self.whole(&words, File::Vector);
                // Both words count as components of a texel.
                let image = at.modifiers.image.map(|image| ImageAccess { components: 0b11, ..image });
                let at = Address { modifiers: Modifiers { image, ..at.modifiers }, ..at.clone() };
                let operations =
                    [Operation::AtomicCompareSwap, Operation::AtomicCompareSwap64, Operation::ImageCompareSwap];
                let old = self.memory_atomic(&at, at_address(operations, &at, is_long), is_long, data, true);
                old.unwrap_or(FALSE)
            }
        }
    }

    /// A compare-and-swap loop: lanes that have succeeded wait for the others.
    fn by_exchange(&mut self, target: &AtomicMemory, op: AtomicOp, scalar: Scalar, value: Operand) -> Operand {
        let width = scalar.width / 32;
        let first = self.plain_load(target, width);
        let old = self.vectors(width);
        self.move_to(old, first);
        let entered = self.mask_register();
        let move_mask = self.sized(Operation::ScalarMove, Operation::ScalarMove64);
        self.raw(move_mask, &[entered], &[EXEC]);
        self.repeat_lanes(|selector| {
            let new = selector.combined(op, scalar, old, value);
            let got = selector.compare_exchange(target, width == 2, new, old);
            let relation = if width == 2 { "eq_u64" } else { "eq_u32" };
            let done = selector.compare_lanes(relation, got, old);
            selector.move_to(old, got).keeps = true;
            done
        });
        self.raw(move_mask, &[EXEC], &[entered]);
        old
    }

    fn plain_load(&mut self, target: &AtomicMemory, width: u8) -> Operand {
        let to = self.vectors(width);
        match target {
            AtomicMemory::Shared { index, offset } => {
                let operation = if width == 2 { Operation::LdsRead64 } else { Operation::LdsRead };
                self.raw(operation, &[to], &[*index]).modifiers.offset = *offset;
            }
            AtomicMemory::Memory(at) => {
                let operations = [Operation::Load32, Operation::Load64, Operation::ImageLoad];
                let operation = at_address(operations, at, width == 2);
                self.raw(operation, &[to], &at.operands).modifiers = at.modifiers;
            }
        }
        to
    }

    /// The new value that the operation makes from the old one.
    fn combined(&mut self, op: AtomicOp, scalar: Scalar, old: Operand, value: Operand) -> Operand {
        use crate::kernel::BinOp;
        let op = match op {
            AtomicOp::Add => BinOp::Add,
            AtomicOp::Sub => BinOp::Sub,
            AtomicOp::Min => BinOp::Min,
            AtomicOp::Max => BinOp::Max,
            _ => return self.refused("this atomic operation on floats")[0],
        };
        if scalar.width == 64 {
            let (a, b) = (self.words_of(old, 2), self.words_of(value, 2));
            let words = self.double_binary(op, &a, &b);
            return self.whole(&words, File::Vector);
        }
        self.float_binary(op, [old, value])
    }

    /// Orders the accesses around an atomic.
    fn fence_all(&mut self, release: Option<Reach>, acquire: Option<Reach>) {
        let fence = Fence { buffers: true, shared: true, release, acquire };
        self.put(Inst::new(Code::Pseudo(Pseudo::Fence(fence)), &[], &[]));
    }
}
