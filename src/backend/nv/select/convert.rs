//! Conversions between scalar types, as `ir::Op::Convert` defines them.

use super::Selector;
use super::arithmetic::kind;
use crate::backend::nv::machine::{Class, Kind, Operand};
use crate::ir::Scalar;
use crate::kernel::Value;

/// The word 1.
pub const ONE: Operand = Operand::Constant(1, Kind::Uint);
const FLOAT_ONE: Operand = Operand::Constant(0x3f80_0000, Kind::Uint);

/// The name of a type in `CVT`.
fn cvt_name(scalar: Scalar) -> String {
    let letter = match kind(scalar) {
        Kind::Uint => 'U',
        Kind::Sint => 'S',
        Kind::Float => 'F',
    };
    format!("{letter}{}", scalar.width)
}

impl Selector<'_> {
    pub fn convert(&mut self, from: Scalar, to: Scalar, value: Value) -> Operand {
        if from.is_bool() {
            return self.bool_to_number(to, value);
        }
        if to.is_bool() {
            return self.number_to_bool(from, value);
        }
        match (from.width == 64, to.width == 64) {
            (false, false) => {
                let word = self.word_of(from, value);
                let word = self.between_words(from, to, word);
                if to.width < 32 { self.cut(to, word) } else { word }
            }
            (true, true) if from.is_int() && to.is_int() => self.long_arg(value),
            _ => self.between_sizes(from, to, value),
        }
    }

    /// A value of at most 32 bits, widened to them.
    fn word_of(&mut self, scalar: Scalar, value: Value) -> Operand {
        if scalar.width < 32 { self.widen(scalar, value) } else { self.arg(value, kind(scalar)) }
    }

    /// From 32 bits to 32 bits.
    fn between_words(&mut self, from: Scalar, to: Scalar, word: Operand) -> Operand {
        match (kind(from), kind(to)) {
            (Kind::Uint, Kind::Float) => self.word("I2F.U", &[word]),
            (Kind::Sint, Kind::Float) => self.word("I2F.S", &[word]),
            (Kind::Float, Kind::Uint) => self.word("TRUNC.U", &[word]),
            (Kind::Float, Kind::Sint) => self.word("TRUNC.S", &[word]),
            _ => word,
        }
    }

    /// A conversion with 64 bits on one side or both.
    fn between_sizes(&mut self, from: Scalar, to: Scalar, value: Value) -> Operand {
        let (source, operand) = if from.width == 64 {
            (cvt_name(from), self.long_arg(value))
        } else {
            let word = self.word_of(from, value);
            (cvt_name(Scalar { width: 32, ..from }), Operand::Reg(self.in_reg(word)))
        };
        let class = if to.width == 64 { Class::Long } else { Class::Word };
        // A widened number is extended by the source's sign: NVIDIA's compiler combines `CVT.S64.U32` and a shift into
        // one signed product (docs/verified/nv-flow.md).
        let grows = from.is_int() && to.is_int() && from.width < to.width;
        let target = Scalar { width: to.width.max(32), ..if grows { from } else { to } };
        let rounding = if from.is_float() && to.is_int() { ".TRUNC" } else { "" };
        let result = self.cvt(class, format!("CVT.{}.{source}{rounding}", cvt_name(target)), operand);
        if to.width < 32 { self.cut(to, result) } else { result }
    }

    fn bool_to_number(&mut self, to: Scalar, value: Value) -> Operand {
        let bool = self.uint(value);
        match (to.is_float(), to.width) {
            (_, 1) => bool,
            (false, 64) => {
                let one = self.word("AND.U", &[bool, ONE]);
                self.cvt(Class::Long, "CVT.U64.U32".to_owned(), one)
            }
            (true, 64) => {
                let high = self.word("AND.U", &[bool, Operand::Constant((1.0_f64.to_bits() >> 32) as u32, Kind::Uint)]);
                let words = self.vector(&[Operand::Constant(0, Kind::Uint), high], Class::Word);
                self.join(words)
            }
            (true, 16) => self.word("AND.U", &[bool, Operand::Constant(0x3c00, Kind::Uint)]),
            (true, _) => self.word("AND.U", &[bool, FLOAT_ONE]),
            (false, _) => self.word("AND.U", &[bool, ONE]),
        }
    }

    /// True if a number is not zero; a NaN is not.
    fn number_to_bool(&mut self, from: Scalar, value: Value) -> Operand {
        use crate::kernel::CmpOp;
        if from.width == 64 {
            let zero = self.long_constant(0);
            let value = self.long_arg(value);
            return self.long_compare_operands(CmpOp::Ne, from, [value, zero]);
        }
        let word = self.word_of(from, value);
        let zero = Operand::Constant(0, kind(from));
        self.word_compare(CmpOp::Ne, kind(from), [word, zero])
    }
}
