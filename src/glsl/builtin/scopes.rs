//! Scopes, kinds of memory and orders as GL_KHR_memory_scope_semantics numbers them, which are SPIR-V's numbers.

use crate::grammar::Lowering;
use crate::ir::build::Builder;
use crate::ir::{AtomicOp, ImageOp, MemoryKinds, Order, Scope, Value};

/// Bits of a memory order; other bits make writes available and visible, which GLSL's memory model does anyway.
const ORDERS: [(i128, Order); 3] = [(8, Order::AcquireRelease), (2, Order::Acquire), (4, Order::Release)];

/// Bits of kinds of memory.
const STORAGE: [(i128, MemoryKinds); 4] = [
    (0x40, MemoryKinds::BUFFER),
    (0x100, MemoryKinds::SHARED),
    (0x800, MemoryKinds::IMAGE),
    (0x1000, MemoryKinds::OUTPUT),
];

fn number(builder: &Builder<'_>, value: Option<&Value>) -> Option<i128> {
    match value {
        Some(Value::Const(id)) => builder.module.constants.as_int(&builder.module.types, *id),
        _ => None,
    }
}

/// Invalid scopes count as the widest one.
fn scope(number: Option<i128>) -> Scope {
    match number {
        Some(2) => Scope::Workgroup,
        Some(3) => Scope::Subgroup,
        Some(4) => Scope::Invocation,
        // Shaders that called each other run in one queue family.
        Some(5 | 6) => Scope::QueueFamily,
        _ => Scope::Device,
    }
}

fn order(number: Option<i128>) -> Order {
    let bits = number.unwrap_or(0);
    ORDERS.into_iter().find(|(bit, _)| bits & bit != 0).map_or(Order::Relaxed, |(_, order)| order)
}

fn kinds(number: Option<i128>) -> MemoryKinds {
    let bits = number.unwrap_or(0);
    let chosen = STORAGE.into_iter().filter(|(bit, _)| bits & bit != 0);
    chosen.fold(MemoryKinds::empty(), |all, (_, kind)| all | kind)
}

/// Valid bits of a memory order: acquire, release, both, and the bits for availability and visibility.
const SEMANTICS: i128 = 0x2 | 0x4 | 0x8 | 0x2000 | 0x4000 | 0x8000;

/// The atomic operation that a function is, on memory or on an image.
const fn atomic(lowering: Lowering) -> Option<AtomicOp> {
    match lowering {
        Lowering::Atomic(op) | Lowering::Image { op: ImageOp::Atomic(op, ..), .. } => Some(op),
        _ => None,
    }
}

/// The error in the mask `bits` for the argument `param` of a function, if there is one: GL_KHR_memory_scope_semantics,
/// "Memory semantics", and VUID-StandaloneSpirv-OpAtomicLoad-04731, -OpAtomicStore-04730.
pub fn complaint(function: Lowering, param: &str, bits: i128) -> Option<&'static str> {
    let op = atomic(function);
    let all_storage = STORAGE.iter().fold(0, |all, (bit, _)| all | bit);
    match param {
        "storage" | "storageUnequal" if bits & !all_storage != 0 => Some("no kinds of memory have this sum"),
        "semantics" | "semanticsUnequal" if bits & !SEMANTICS != 0 => Some("no memory semantics have this sum"),
        "semantics" if (bits & 0xe).count_ones() > 1 => Some("acquire and release together are AcquireRelease"),
        "semantics" if op == Some(AtomicOp::Load) && bits & 0xc != 0 => Some("a load does not release"),
        "semantics" if op == Some(AtomicOp::Store) && bits & 0xa != 0 => Some("a store does not acquire"),
        "semanticsUnequal" if bits & 0xc != 0 => Some("where nothing is written nothing is released"),
        _ => None,
    }
}

/// The scope and order from the constant arguments of an atomic operation: scope, storage, semantics. An order applies
/// to all memory, not only to the named kinds.
pub fn of_atomic(builder: &Builder<'_>, how: &[Value]) -> (Scope, Order) {
    let [scope_arg, _, semantics, ..] = how else { return (Scope::QueueFamily, Order::Relaxed) };
    (scope(number(builder, Some(scope_arg))), order(number(builder, Some(semantics))))
}

/// `controlBarrier`, whose first argument is the execution scope, and `memoryBarrier`.
pub fn barrier(builder: &mut Builder<'_>, waits: bool, args: &[Value]) {
    let numbers: [Option<i128>; 4] = std::array::from_fn(|at| number(builder, args.get(at)));
    let execution = waits.then(|| scope(numbers[0]));
    let first = usize::from(waits);
    builder.barrier(execution, scope(numbers[first]), kinds(numbers[first + 1]), order(numbers[first + 2]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_extension() {
        assert_eq!([1, 2, 3, 4, 5].map(|n| scope(Some(n))), {
            [Scope::Device, Scope::Workgroup, Scope::Subgroup, Scope::Invocation, Scope::QueueFamily]
        });
        assert_eq!(kinds(Some(0x140)), MemoryKinds::BUFFER | MemoryKinds::SHARED);
        for (bits, expected) in [(0, Order::Relaxed), (0x8000, Order::Relaxed), (0x4002, Order::Acquire)] {
            assert_eq!(order(Some(bits)), expected);
        }
        let add = Lowering::Atomic(AtomicOp::Add);
        assert!(complaint(add, "semantics", 6).is_some() && complaint(add, "semantics", 8).is_none());
        for (bits, expected) in [(4, Order::Release), (8, Order::AcquireRelease)] {
            assert_eq!(order(Some(bits)), expected);
        }
    }
}
