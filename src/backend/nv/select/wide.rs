//! Arithmetic on 64-bit values, in components of `LONG TEMP` variables (NV_gpu_program_fp64).

use super::Selector;
use super::arithmetic::comparison;
use crate::backend::nv::machine::{Class, Dest, Kind, Operand, Y};
use crate::ir::Scalar;
use crate::kernel::{BinOp, CmpOp, UnOp, Value};

/// Suffix of an instruction on 64 bits.
fn suffix(scalar: Scalar) -> &'static str {
    match (scalar.is_float(), scalar.is_signed()) {
        (true, _) => "F64",
        (false, true) => "S64",
        (false, false) => "U64",
    }
}

/// Name of an instruction on 64-bit values; `None` if there is no single one.
fn binary_name(op: BinOp, scalar: Scalar, is_exact: bool) -> Option<String> {
    let is_float = scalar.is_float();
    let name = match op {
        BinOp::Add => "ADD",
        BinOp::Sub => "SUB",
        BinOp::Mul => "MUL",
        BinOp::Div => "DIV",
        BinOp::Rem if !scalar.is_signed() => "MOD",
        BinOp::Min => "MIN",
        BinOp::Max => "MAX",
        BinOp::And if !is_float => "AND",
        BinOp::Or if !is_float => "OR",
        BinOp::Xor if !is_float => "XOR",
        BinOp::Shl => "SHL",
        BinOp::Shr => "SHR",
        BinOp::Rem | BinOp::MulHigh | BinOp::And | BinOp::Or | BinOp::Xor => return None,
    };
    let is_kept = is_exact && is_float && matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul);
    Some(format!("{name}.{}{}", suffix(scalar), if is_kept { ".PREC" } else { "" }))
}

impl Selector<'_> {
    pub fn long_unary(&mut self, op: UnOp, scalar: Scalar, a: Value) -> Operand {
        let a = self.long_arg(a);
        if scalar.is_float() { self.double_unary(op, a) } else { self.long_int_unary(op, scalar, a) }
    }

    fn double_unary(&mut self, op: UnOp, a: Operand) -> Operand {
        match op {
            UnOp::Neg => self.on_high_word(a, "XOR.U", 0x8000_0000),
            UnOp::Abs => self.on_high_word(a, "AND.U", 0x7fff_ffff),
            UnOp::Floor => self.long("FLR.F64", &[a]),
            UnOp::Ceil => self.long("CEIL.F64", &[a]),
            UnOp::Trunc => self.long("TRUNC.F64", &[a]),
            UnOp::RoundEven => self.long("ROUND.F64", &[a]),
            UnOp::InverseSqrt => self.long("RSQ.F64", &[a]),
            UnOp::Sqrt => {
                let inverse = self.long("RSQ.F64", &[a]);
                let one = self.long_constant(1.0_f64.to_bits());
                self.long("DIV.F64", &[one, inverse])
            }
            _ => self.refused("this function of a double"),
        }
    }

    fn long_int_unary(&mut self, op: UnOp, scalar: Scalar, a: Operand) -> Operand {
        match op {
            UnOp::Neg => {
                let zero = self.long_constant(0);
                self.long("SUB.U64", &[zero, a])
            }
            UnOp::Not => self.long("NOT.U64", &[a]),
            UnOp::Abs if scalar.is_signed() => self.long("ABS.S64", &[a]),
            UnOp::Abs => a,
            _ => self.refused("this operation on 64-bit integers"),
        }
    }

    /// Changes the word with a double's sign.
    fn on_high_word(&mut self, a: Operand, name: &'static str, mask: u32) -> Operand {
        let [low, high] = self.split(a);
        let high = self.word(name, &[high, Operand::Constant(mask, Kind::Uint)]);
        let words = self.vector(&[low, high], Class::Word);
        self.join(words)
    }

    pub fn long_binary(&mut self, op: BinOp, scalar: Scalar, args: [Value; 2]) -> Operand {
        let a = self.long_arg(args[0]);
        if let (BinOp::Shl, Some(amount @ 33..=63)) = (op, self.known(args[1])) {
            return self.far_left(a, amount);
        }
        if matches!(op, BinOp::Shl | BinOp::Shr) {
            let amount = self.uint(args[1]);
            let name = binary_name(op, scalar, self.is_exact).unwrap_or_default();
            return self.long(name, &[a, amount]);
        }
        let b = self.long_arg(args[1]);
        match binary_name(op, scalar, self.is_exact) {
            Some(name) => self.long(name, &[a, b]),
            None if op == BinOp::Rem => self.long_remainder([a, b]),
            None => self.refused("this operation on 64-bit values"),
        }
    }

    /// A left shift by at least 32, word by word: NVIDIA's compiler confuses the high and the low word when it combines
    /// such a shift with an addition.
    fn far_left(&mut self, a: Operand, amount: u32) -> Operand {
        let [low, _] = self.split(a);
        let high = self.word("SHL.U", &[low, Operand::Constant(amount - 32, Kind::Uint)]);
        let words = self.vector(&[Operand::Constant(0, Kind::Uint), high], Class::Word);
        self.join(words)
    }

    /// `a - a / b * b`, as for 32 bits.
    fn long_remainder(&mut self, [a, b]: [Operand; 2]) -> Operand {
        let quotient = self.long("DIV.S64", &[a.clone(), b.clone()]);
        let whole = self.long("MUL.U64", &[quotient, b]);
        self.long("SUB.U64", &[a, whole])
    }

    /// Comparisons return 64 bits. The high word distinguishes true (-1 or 1.0) from false.
    pub fn long_compare(&mut self, op: CmpOp, scalar: Scalar, args: [Value; 2]) -> Operand {
        let args = args.map(|arg| self.long_arg(arg));
        self.long_compare_operands(op, scalar, args)
    }

    pub fn long_compare_operands(&mut self, op: CmpOp, scalar: Scalar, args: [Operand; 2]) -> Operand {
        let result = self.long(format!("{}.{}", comparison(op), suffix(scalar)), &args);
        let high = self.word_in(Y, "UP64.U", &[result]);
        if scalar.is_float() { self.is_not_zero(high) } else { high }
    }

    /// The instruction on both words of a 64-bit value, joined again.
    pub fn on_both_words(&mut self, long: Operand, mut each: impl FnMut(&mut Self, Operand) -> Operand) -> Operand {
        let words = self.split(long).map(|word| each(self, word));
        let words = self.vector(&words, Class::Word);
        self.join(words)
    }

    /// A conversion between sizes; `name` has both types.
    pub fn cvt(&mut self, to: Class, name: String, a: Operand) -> Operand {
        let allowed = crate::backend::nv::machine::ANY;
        let reg = self.registers.add(to, allowed);
        self.push(name, Dest::Regs([reg].into_iter().collect()), &[a]);
        Operand::Reg(reg)
    }
}
