//! Arithmetic on 32 and 64 bits, and on bools.
//!
//! Approximations flush subnormal operands and results, as Vulkan allows: without `.ftz` the assembler scales both,
//! with three instructions each time.

use super::{Class, Reg, Selector};
use crate::ir::{Scalar, ScalarKind};
use crate::kernel::{BinOp, CmpOp, TernOp, UnOp, Value};

/// A type as PTX writes it: `s32`.
pub fn ty(scalar: Scalar) -> String {
    let letter = match scalar.kind {
        ScalarKind::Float => 'f',
        ScalarKind::Sint => 's',
        ScalarKind::Uint | ScalarKind::Bool | ScalarKind::Encoded(_) => 'u',
    };
    format!("{letter}{}", scalar.width.max(16))
}

/// The class of a scalar's values.
pub const fn class(scalar: Scalar) -> Class {
    match scalar.width {
        1 => Class::Pred,
        8 | 16 => Class::Half,
        32 => Class::Word,
        _ => Class::Long,
    }
}

/// The name of the instruction with two operands; `None` if one instruction is not enough.
pub fn binary_name(op: BinOp, scalar: Scalar) -> Option<String> {
    let (ty, bits) = (ty(scalar), scalar.width.max(16));
    Some(match (op, scalar.is_float()) {
        // The rounding mode keeps the assembler from contracting.
        (BinOp::Add, true) => format!("add.rn.{ty}"),
        (BinOp::Sub, true) => format!("sub.rn.{ty}"),
        (BinOp::Mul, true) => format!("mul.rn.{ty}"),
        (BinOp::Div, true) if bits == 64 => "div.rn.f64".to_owned(),
        (BinOp::Div, true) if bits == 32 => "div.full.ftz.f32".to_owned(),
        (BinOp::Add, false) => format!("add.s{bits}"),
        (BinOp::Sub, false) => format!("sub.s{bits}"),
        (BinOp::Mul, false) => format!("mul.lo.s{bits}"),
        (BinOp::MulHigh, false) => format!("mul.hi.{ty}"),
        (BinOp::Div, false) => format!("div.{ty}"),
        (BinOp::Rem, false) => format!("rem.{ty}"),
        (BinOp::Min, _) => format!("min.{ty}"),
        (BinOp::Max, _) => format!("max.{ty}"),
        (BinOp::And, false) => format!("and.b{bits}"),
        (BinOp::Or, false) => format!("or.b{bits}"),
        (BinOp::Xor, false) => format!("xor.b{bits}"),
        (BinOp::Shl, false) => format!("shl.b{bits}"),
        (BinOp::Shr, false) => format!("shr.{ty}"),
        _ => return None,
    })
}

/// The name of a comparison.
pub const fn comparison(op: CmpOp, is_float: bool) -> &'static str {
    match op {
        CmpOp::Eq => "eq",
        // True of a NaN.
        CmpOp::Ne if is_float => "neu",
        CmpOp::Ne => "ne",
        CmpOp::Lt => "lt",
        CmpOp::Le => "le",
        CmpOp::Gt => "gt",
        CmpOp::Ge => "ge",
    }
}

impl Selector<'_> {
    pub fn unary(&mut self, op: UnOp, scalar: Scalar, a: Value) -> Reg {
        match (scalar.width, scalar.is_float()) {
            (1, _) => {
                let a = self.arg(a);
                self.inverse(a)
            }
            (8 | 16, _) => self.narrow_unary(op, scalar, a),
            (_, true) => {
                let a = self.arg(a);
                self.float_unary(op, scalar, a)
            }
            _ => {
                let a = self.arg(a);
                self.int_unary(op, scalar, a)
            }
        }
    }

    pub fn float_unary(&mut self, op: UnOp, scalar: Scalar, a: Reg) -> Reg {
        let (class, bits) = (class(scalar), scalar.width);
        let sign = 1_u64 << (bits - 1);
        let sign_text = super::bits_text(class, sign);
        let rest = super::bits_text(class, sign - 1);
        let round = |mode: &str| format!("cvt.{mode}.f{bits}.f{bits}");
        let name = match op {
            UnOp::Neg => return self.inst(class, format_args!("xor.b{bits}"), format_args!("{a}, {sign_text}")),
            UnOp::Abs => return self.inst(class, format_args!("and.b{bits}"), format_args!("{a}, {rest}")),
            UnOp::Floor => round("rmi"),
            UnOp::Ceil => round("rpi"),
            UnOp::Trunc => round("rzi"),
            UnOp::RoundEven => round("rni"),
            UnOp::Sqrt if bits == 64 => "sqrt.rn.f64".to_owned(),
            UnOp::Sqrt => "sqrt.approx.ftz.f32".to_owned(),
            UnOp::InverseSqrt if bits == 64 => {
                let root = self.inst(class, "sqrt.rn.f64", a);
                return self.inst(class, "rcp.rn.f64", root);
            }
            UnOp::InverseSqrt => "rsqrt.approx.ftz.f32".to_owned(),
            UnOp::Exp2 if bits == 32 => "ex2.approx.ftz.f32".to_owned(),
            UnOp::Log2 if bits == 32 => "lg2.approx.ftz.f32".to_owned(),
            UnOp::Sin if bits == 32 => "sin.approx.f32".to_owned(),
            UnOp::Cos if bits == 32 => "cos.approx.f32".to_owned(),
            _ => return self.refused("this function of a double", class),
        };
        self.inst(class, name, a)
    }

    pub fn int_unary(&mut self, op: UnOp, scalar: Scalar, a: Reg) -> Reg {
        let (class, bits) = (class(scalar), scalar.width);
        match op {
            // The assembler assumes that the negation of -32768 is 32768 (docs/verified/nv-flow.md).
            UnOp::Neg if bits == 16 => self.inst(class, "mul.lo.s16", format_args!("{a}, -1")),
            // The assembler loses a `neg` in the minimum or maximum of three operands, and compares an `abs` with a
            // constant as if it were the minimum.
            UnOp::Neg => {
                let inverse = self.inst(class, format_args!("not.b{bits}"), a);
                self.inst(class, format_args!("add.s{bits}"), format_args!("{inverse}, 1"))
            }
            UnOp::Not => self.inst(class, format_args!("not.b{bits}"), a),
            UnOp::Abs if scalar.is_signed() => self.inst(class, format_args!("abs.s{bits}"), a),
            UnOp::BitReverse => self.inst(class, format_args!("brev.b{bits}"), a),
            UnOp::BitCount => {
                let count = self.word(format_args!("popc.b{bits}"), a);
                self.sized(scalar, count)
            }
            UnOp::FindMsb => {
                let at = self.word(format_args!("bfind.{}", ty(scalar)), a);
                self.sized(scalar, at)
            }
            UnOp::FindLsb => {
                let turned = self.inst(class, format_args!("brev.b{bits}"), a);
                let at = self.word(format_args!("bfind.shiftamt.u{bits}"), turned);
                self.sized(scalar, at)
            }
            _ => a,
        }
    }

    /// A signed word in a 32- or 64-bit type.
    fn sized(&mut self, scalar: Scalar, word: Reg) -> Reg {
        if scalar.width == 64 { self.inst(Class::Long, "cvt.s64.s32", word) } else { word }
    }

    pub fn binary(&mut self, op: BinOp, scalar: Scalar, args: [Value; 2]) -> Reg {
        if scalar.is_bool() {
            let [a, b] = args.map(|arg| self.arg(arg));
            return self.logic(op, a, b);
        }
        if scalar.width < 32 {
            return self.narrow_binary(op, scalar, args);
        }
        let Some(name) = binary_name(op, scalar) else {
            return self.refused("this operation", class(scalar));
        };
        let b = if matches!(op, BinOp::Shl | BinOp::Shr) { self.operand(args[1]) } else { self.typed(scalar, args[1]) };
        let a = self.typed(scalar, args[0]);
        self.inst(class(scalar), name, format_args!("{a}, {b}"))
    }

    pub fn compare(&mut self, op: CmpOp, scalar: Scalar, args: [Value; 2]) -> Reg {
        if scalar.is_bool() {
            let [a, b] = args.map(|arg| self.arg(arg));
            let differ = self.logic(BinOp::Xor, a, b);
            return if op == CmpOp::Ne { differ } else { self.inverse(differ) };
        }
        let name = comparison(op, scalar.is_float());
        if scalar == Scalar::F16 && !self.isa.has_halves() {
            let [a, b] = args.map(|arg| self.widened(scalar, arg));
            return self.inst(Class::Pred, format_args!("setp.{name}.f32"), format_args!("{a}, {b}"));
        }
        let [a, b] = args.map(|arg| self.typed(scalar, arg));
        let made = self.inst(Class::Pred, format_args!("setp.{name}.{}", ty(scalar)), format_args!("{a}, {b}"));
        self.predicates.compared((op, scalar), [&a, &b], made);
        made
    }

    pub fn ternary(&mut self, op: TernOp, scalar: Scalar, args: [Value; 3]) -> Reg {
        match op {
            TernOp::Fma if scalar.width == 16 && !self.isa.has_halves() => {
                self.refused("the fused multiplication and addition of halves before sm_53", Class::Half)
            }
            TernOp::Fma => {
                let [a, b, c] = args.map(|arg| self.typed(scalar, arg));
                self.inst(class(scalar), format_args!("fma.rn.{}", ty(scalar)), format_args!("{a}, {b}, {c}"))
            }
            TernOp::BitExtract => {
                let wide = Scalar { width: scalar.width.max(32), ..scalar };
                let base = if scalar.width < 32 { self.widened(scalar, args[0]) } else { self.arg(args[0]) };
                let field = match wide.is_signed() && self.floats_unsigned {
                    true => self.signed_field(wide, base, args[1], args[2]),
                    false => self.field(wide, base, args[1], args[2]),
                };
                if scalar.width < 32 { self.cut(scalar, field) } else { field }
            }
        }
    }

    /// The offset or the size of a bit field; constants have 8 bits (PTX ISA, `bfe` and `bfi`).
    fn field_number(&mut self, number: Value) -> String {
        match self.known(number) {
            Some(known) => (known & 0xff).to_string(),
            None => self.operand(number),
        }
    }

    fn field(&mut self, scalar: Scalar, base: Reg, offset: Value, bits: Value) -> Reg {
        let [offset, bits] = [offset, bits].map(|arg| self.field_number(arg));
        self.inst(class(scalar), format_args!("bfe.{}", ty(scalar)), format_args!("{base}, {offset}, {bits}"))
    }

    /// A signed field without `bfe.s32`: see [`crate::kernel::Op::floats_unsigned`]. Shifts if the position is known;
    /// otherwise flips the highest bit of the unsigned field and subtracts it.
    fn signed_field(&mut self, scalar: Scalar, base: Reg, offset: Value, bits: Value) -> Reg {
        let (class, width) = (class(scalar), u64::from(scalar.width));
        if let (Some(at), Some(count @ 1..)) = (self.known(offset), self.known(bits))
            && at + count <= width
        {
            let high = self.inst(class, format_args!("shl.b{width}"), format_args!("{base}, {}", width - at - count));
            return self.inst(class, format_args!("shr.s{width}"), format_args!("{high}, {}", width - count));
        }
        let field = self.field(Scalar { kind: ScalarKind::Uint, ..scalar }, base, offset, bits);
        let count = self.arg(bits);
        // For an empty field this is an excessive shift, which gives 0.
        let last = self.word("sub.s32", format_args!("{count}, 1"));
        let one = self.inst(class, format_args!("mov.b{width}"), 1);
        let highest = self.inst(class, format_args!("shl.b{width}"), format_args!("{one}, {last}"));
        let turned = self.inst(class, format_args!("xor.b{width}"), format_args!("{field}, {highest}"));
        self.inst(class, format_args!("sub.s{width}"), format_args!("{turned}, {highest}"))
    }

    pub fn bit_insert(&mut self, scalar: Scalar, args: &[Value]) -> Reg {
        let is_narrow = scalar.width < 32;
        let wide = Scalar { width: scalar.width.max(32), ..scalar };
        let [base, insert] =
            [args[0], args[1]].map(|arg| if is_narrow { self.widened(scalar, arg) } else { self.arg(arg) });
        let [offset, bits] = [args[2], args[3]].map(|arg| self.field_number(arg));
        let name = format!("bfi.b{}", wide.width);
        let whole = self.inst(class(wide), name, format_args!("{insert}, {base}, {offset}, {bits}"));
        if is_narrow { self.cut(scalar, whole) } else { whole }
    }
}
