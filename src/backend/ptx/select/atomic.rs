//! Atomics of buffers and of workgroup memory. An operation without an instruction is a compare-and-swap loop.

use super::arithmetic::{binary_name, class, ty};
use super::memory::Address;
use super::{Class, Reg, Selector};
use crate::backend::ptx::isa::Isa;
use crate::diagnostic::cannot_write;
use crate::ir::{AtomicOp, MemoryKinds, Order, Scalar, Scope};
use crate::kernel::{BinOp, InstId, MemoryAccess, MemorySpace, Value};

/// The operation with its type; `None` if it needs a loop.
fn operation(op: AtomicOp, scalar: Scalar, isa: Isa) -> Option<String> {
    let (bits, is_float) = (scalar.width, scalar.is_float());
    let is_later = matches!(op, AtomicOp::And | AtomicOp::Or | AtomicOp::Xor | AtomicOp::Min | AtomicOp::Max);
    Some(match op {
        AtomicOp::Add if bits == 64 && is_float && !isa.has_double_atomics() => return None,
        _ if is_later && bits == 64 && !isa.has_wide_atomics() => return None,
        AtomicOp::Add if is_float => format!("add.{}", ty(scalar)),
        AtomicOp::Add | AtomicOp::Sub if !is_float => format!("add.u{bits}"),
        AtomicOp::Min if !is_float => format!("min.{}", ty(scalar)),
        AtomicOp::Max if !is_float => format!("max.{}", ty(scalar)),
        AtomicOp::And => format!("and.b{bits}"),
        AtomicOp::Or => format!("or.b{bits}"),
        AtomicOp::Xor => format!("xor.b{bits}"),
        AtomicOp::Exchange => format!("exch.b{bits}"),
        AtomicOp::CompareExchange => format!("cas.b{bits}"),
        _ => return None,
    })
}

/// Returns true if an operation is a loop that each lane repeats until no other write has intervened.
pub fn tries_again(op: AtomicOp, scalar: Scalar, isa: Isa) -> bool {
    !matches!(op, AtomicOp::Load | AtomicOp::Store) && operation(op, scalar, isa).is_none()
}

impl Selector<'_> {
    pub fn atomic(
        &mut self,
        inst: InstId,
        op: AtomicOp,
        scalar: Scalar,
        access: MemoryAccess,
        (scope, order): (Scope, Order),
    ) {
        let kinds = if access.space == MemorySpace::Shared { MemoryKinds::SHARED } else { MemoryKinds::BUFFER };
        let kinds = if order == Order::Relaxed { kinds } else { kinds | MemoryKinds::BUFFER };
        if matches!(order, Order::Release | Order::AcquireRelease) {
            self.fence(scope, kinds);
        }
        self.atomic_access(inst, op, scalar, access);
        if matches!(order, Order::Acquire | Order::AcquireRelease) {
            self.fence(scope, kinds);
        }
    }

    fn atomic_access(&mut self, inst: InstId, op: AtomicOp, scalar: Scalar, access: MemoryAccess) {
        let space = match access.space {
            MemorySpace::Shared => "shared",
            MemorySpace::Buffer(_) | MemorySpace::Physical if scalar.width >= 32 => "global",
            _ => return self.refuse(cannot_write("atomics of this memory", "PTX")),
        };
        if scalar.width < 32 {
            return self.refuse(cannot_write("atomics of less than 32 bits", "PTX"));
        }
        let kernel = self.kernel;
        let args = kernel.args(inst);
        match op {
            AtomicOp::Load => return self.load(inst, MemoryAccess { volatile: true, ..access }),
            AtomicOp::Store => return self.store(inst, MemoryAccess { volatile: true, ..access }),
            _ => {}
        }
        let place = self.place(access, args[0]);
        let old = match operation(op, scalar, self.isa) {
            Some(name) => {
                let data = self.data(op, scalar, &args[1..]);
                self.inst(class(scalar), format_args!("atom.{space}.{name}"), format_args!("{}, {data}", place.at(0)))
            }
            None => self.updated(op, scalar, space, &place, args[1]),
        };
        self.result(inst, old);
    }

    fn data(&mut self, op: AtomicOp, scalar: Scalar, args: &[Value]) -> String {
        match (op, args) {
            (AtomicOp::CompareExchange, [new, compared]) => {
                let [new, compared] = [*new, *compared].map(|value| self.arg(value));
                format!("{compared}, {new}")
            }
            (AtomicOp::Sub, [value]) => {
                let value = self.arg(*value);
                self.inst(class(scalar), format_args!("neg.s{}", scalar.width), value).to_string()
            }
            (_, [value, ..]) => self.arg(*value).to_string(),
            (_, []) => String::new(),
        }
    }

    /// Computes the new value from the old one and stores it by compare-and-swap until that succeeds.
    fn updated(&mut self, op: AtomicOp, scalar: Scalar, space: &str, place: &Address, value: Value) -> Reg {
        let operator = match op {
            AtomicOp::Min => BinOp::Min,
            AtomicOp::Max => BinOp::Max,
            AtomicOp::Sub => BinOp::Sub,
            AtomicOp::And => BinOp::And,
            AtomicOp::Or => BinOp::Or,
            AtomicOp::Xor => BinOp::Xor,
            _ => BinOp::Add,
        };
        let name = binary_name(operator, scalar).unwrap_or_default();
        let (bits, size) = (scalar.width, class(scalar));
        let value = self.arg(value);
        let old = self.inst(size, format_args!("ld.volatile.{space}.b{bits}"), place.at(0));
        let again = self.label();
        self.put_label(&again);
        let new = self.inst(size, name, format_args!("{old}, {value}"));
        let found =
            self.inst(size, format_args!("atom.{space}.cas.b{bits}"), format_args!("{}, {old}, {new}", place.at(0)));
        let missed = self.inst(Class::Pred, format_args!("setp.ne.b{bits}"), format_args!("{found}, {old}"));
        self.copy(old, found);
        self.push(format!("@{missed} bra {again};"));
        old
    }
}
