//! Conversions between scalar types, as `ir::Op::Convert` defines them.

use super::arithmetic::{class, ty};
use super::{Class, Reg, Selector, bits_text};
use crate::ir::Scalar;
use crate::kernel::Value;

impl Selector<'_> {
    pub fn convert(&mut self, from: Scalar, to: Scalar, value: Value) -> Reg {
        match (from.is_bool(), to.is_bool()) {
            (true, true) => self.arg(value),
            (true, false) => self.bool_to_number(to, value),
            (false, true) => self.number_to_bool(from, value),
            (false, false) => self.between_numbers(from, to, value),
        }
    }

    fn bool_to_number(&mut self, to: Scalar, value: Value) -> Reg {
        let one = match (to.is_float(), to.width) {
            (true, 16) => 0x3c00,
            (true, 32) => 1.0_f32.to_bits().into(),
            (true, _) => 1.0_f64.to_bits(),
            _ => 1,
        };
        let (class, condition) = (class(to), self.arg(value));
        let one = bits_text(class, one);
        self.inst(class, format_args!("selp.{}", class.ty()), format_args!("{one}, 0, {condition}"))
    }

    /// Tests a number for being other than zero, which a NaN is.
    fn number_to_bool(&mut self, from: Scalar, value: Value) -> Reg {
        let (from, number) = match from.is_float() && from.width == 16 {
            true => (Scalar::F32, self.widened(from, value)),
            false => (from, self.arg(value)),
        };
        let (name, zero) = match (from.is_float(), from.width) {
            (true, 64) => ("neu", "0d0000000000000000"),
            (true, _) => ("neu", "0f00000000"),
            _ => ("ne", "0"),
        };
        self.inst(Class::Pred, format_args!("setp.{name}.{}", ty(from)), format_args!("{number}, {zero}"))
    }

    fn between_numbers(&mut self, from: Scalar, to: Scalar, value: Value) -> Reg {
        let number = self.arg(value);
        if from.is_int() && to.is_int() {
            return self.between_ints(from, to, number);
        }
        // 8-bit integers are read as the 16 bits that they are stored in, and converted from words.
        let rounding = match (from.is_float(), to.is_float()) {
            (true, true) if to.width >= from.width => "",
            (true, true) | (false, true) => ".rn",
            _ => ".rzi",
        };
        if from == to {
            return number;
        }
        if to.is_int() && to.width < 32 {
            let wide = Scalar { width: 32, ..to };
            let word = self.word(format_args!("cvt.rzi.{}.{}", ty(wide), ty(from)), number);
            return self.cut(to, word);
        }
        self.inst(class(to), format_args!("cvt{rounding}.{}.{}", ty(to), ty(from)), number)
    }

    fn between_ints(&mut self, from: Scalar, to: Scalar, number: Reg) -> Reg {
        let (before, after) = (class(from), class(to));
        let number = if before == after {
            number
        } else {
            // When widening, the source's sign counts; when narrowing, it does not matter.
            let letter = if from.is_signed() { 's' } else { 'u' };
            let [wide, narrow] = [to.width.max(16), from.width.max(16)];
            self.inst(after, format_args!("cvt.{letter}{wide}.{letter}{narrow}"), number)
        };
        if to.width == 8 { self.extended(to, number) } else { number }
    }
}
