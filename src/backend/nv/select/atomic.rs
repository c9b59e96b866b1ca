//! Atomics of storage buffers and workgroup memory: `ATOMB` and `ATOMS`, which return the old value.

use super::Selector;
use crate::backend::nv::machine::{ANY, Class, Dest, Kind, Operand, X};
use crate::ir::{AtomicOp, Scalar};
use crate::kernel::{InstId, MemoryAccess, MemorySpace, Value};
use smallvec::smallvec;

/// The modifier of an operation; loads add zero, and subtractions add the negated value.
pub const fn modifier(op: AtomicOp) -> &'static str {
    match op {
        AtomicOp::Load => "OR",
        AtomicOp::Store | AtomicOp::Exchange => "EXCH",
        AtomicOp::Add | AtomicOp::Sub => "ADD",
        AtomicOp::Min => "MIN",
        AtomicOp::Max => "MAX",
        AtomicOp::And => "AND",
        AtomicOp::Or => "OR",
        AtomicOp::Xor => "XOR",
        AtomicOp::CompareExchange => "CSWAP",
    }
}

/// The option that an operation needs; `None` if the target lacks it.
pub fn option(op: AtomicOp, scalar: Scalar) -> Option<Option<&'static str>> {
    let exchanges = matches!(op, AtomicOp::Store | AtomicOp::Exchange);
    match (scalar.is_float(), scalar.width) {
        (_, 8 | 16) => None,
        (true, 32) if op == AtomicOp::Add => Some(Some("NV_shader_atomic_float")),
        (true, 64) if op == AtomicOp::Add => Some(Some("NV_shader_atomic_float64")),
        (true, _) => (exchanges || op == AtomicOp::Load).then_some(None),
        (false, 64) => {
            let plain = matches!(op, AtomicOp::Add | AtomicOp::Sub | AtomicOp::CompareExchange) || exchanges;
            Some((!plain).then_some("NV_shader_atomic_int64"))
        }
        _ => Some(None),
    }
}

/// Type of the operation: only ordered and float operations depend on more than bits.
pub fn suffix(op: AtomicOp, scalar: Scalar) -> String {
    let letter = match op {
        AtomicOp::Min | AtomicOp::Max if scalar.is_signed() => 'S',
        AtomicOp::Add if scalar.is_float() => 'F',
        _ => 'U',
    };
    format!("{letter}{}", scalar.width)
}

impl Selector<'_> {
    pub fn atomic(&mut self, inst: InstId, op: AtomicOp, scalar: Scalar, access: MemoryAccess) {
        let Some(needed) = option(op, scalar) else {
            self.refused("this atomic operation on this type");
            return;
        };
        let name = match access.space {
            MemorySpace::Buffer(_) => "ATOMB",
            MemorySpace::Shared => "ATOMS",
            _ => {
                self.refused("atomics of this memory");
                return;
            }
        };
        self.needs.options.extend(needed);
        let args = self.kernel.args(inst);
        let data = self.data(op, scalar, &args[1..]);
        let place = Operand::Array(self.array_ref(access, args[0]));
        let class = if scalar.width == 64 { Class::Long } else { Class::Word };
        let name = format!("{name}.{}.{}", modifier(op), suffix(op, scalar));
        let target = match self.kernel.result(inst) {
            None if class == Class::Word => Dest::Scratch,
            _ => Dest::Regs(smallvec![self.registers.add(class, X)]),
        };
        if let (Dest::Regs(regs), Some(value)) = (&target, self.kernel.result(inst)) {
            self.give(value, Operand::Reg(regs[0]));
        }
        self.push(name, target, &[data, place]).effect = true;
    }

    pub fn data(&mut self, op: AtomicOp, scalar: Scalar, args: &[Value]) -> Operand {
        match (op, args) {
            (AtomicOp::Load, _) => self.zero(scalar),
            (AtomicOp::Sub, [value]) => self.negated(scalar, *value),
            (AtomicOp::CompareExchange, [new, compared]) => {
                let class = self.class(*new);
                let parts = [self.any_arg(*compared), self.any_arg(*new)];
                self.vector(&parts, class)
            }
            // A number without a point would be converted to a float.
            (AtomicOp::Add, [value]) if scalar.is_float() && scalar.width == 32 => self.arg(*value, Kind::Float),
            (_, [value, ..]) => self.any_arg(*value),
            (_, []) => self.zero(scalar),
        }
    }

    fn zero(&mut self, scalar: Scalar) -> Operand {
        if scalar.width == 64 { self.long_constant(0) } else { Operand::Constant(0, Kind::Uint) }
    }

    fn negated(&mut self, scalar: Scalar, value: Value) -> Operand {
        let zero = self.zero(scalar);
        let value = self.any_arg(value);
        if scalar.width == 64 {
            return self.long("SUB.U64", &[zero, value]);
        }
        self.word_in(ANY, "SUB.U", &[zero, value])
    }
}
