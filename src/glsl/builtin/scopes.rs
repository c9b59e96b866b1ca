//! Scopes, kinds of memory and orders as GL_KHR_memory_scope_semantics numbers them, which are SPIR-V's numbers.

use crate::ir::build::Builder;
use crate::ir::{MemoryKinds, Order, Scope, Value};

/// Bits of an order; others make writes available and visible, which the memory model of GLSL does anyway.
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

/// Numbers that are no scope count as the widest one.
fn scope(number: Option<i128>) -> Scope {
    match number {
        Some(2) => Scope::Workgroup,
        Some(3) => Scope::Subgroup,
        Some(4) => Scope::Invocation,
        Some(5) => Scope::QueueFamily,
        _ => Scope::Device,
    }
}

fn order(number: Option<i128>) -> Order {
    let bits = number.unwrap_or(0);
    if bits & 6 == 6 {
        return Order::AcquireRelease;
    }
    ORDERS.into_iter().find(|(bit, _)| bits & bit != 0).map_or(Order::Relaxed, |(_, order)| order)
}

fn kinds(number: Option<i128>) -> MemoryKinds {
    let bits = number.unwrap_or(0);
    let chosen = STORAGE.into_iter().filter(|(bit, _)| bits & bit != 0);
    chosen.fold(MemoryKinds::empty(), |all, (_, kind)| all | kind)
}

/// What the constant arguments of an atomic operation say: scope, storage, semantics. An order holds for all memory, not
/// only for the kinds that are named.
pub fn of_atomic(builder: &Builder<'_>, how: &[Value]) -> (Scope, Order) {
    let [scope_arg, _, semantics, ..] = how else { return (Scope::QueueFamily, Order::Relaxed) };
    (scope(number(builder, Some(scope_arg))), order(number(builder, Some(semantics))))
}

/// `controlBarrier`, whose first argument says who waits, and `memoryBarrier`.
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
        for (bits, expected) in [(4, Order::Release), (8, Order::AcquireRelease), (6, Order::AcquireRelease)] {
            assert_eq!(order(Some(bits)), expected);
        }
    }
}
