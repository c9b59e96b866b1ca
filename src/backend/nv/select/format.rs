//! The memory form of texels, by SPIR-V's formats (section 3.11, Image Format). `LOADIM` returns the words of a texel
//! unconverted, and the code here unpacks them, so that no extension is needed.

use super::Selector;
use crate::backend::nv::machine::{Class, Components, Dest, Kind, Operand, X_OR_Z};

/// The meaning of a component's bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Means {
    /// A float of 32 bits, 16 bits, or, without a sign, of 11 or 10 bits.
    Float,
    /// An integer of 0 to 1.
    Unorm,
    /// An integer of -1 to 1.
    Snorm,
    Sint,
    Uint,
}

/// A texel: its words, the modifier that loads them, and its components from the lowest bit on.
#[derive(Debug)]
pub struct Format {
    /// SPIR-V's number.
    number: u8,
    /// The modifier of `LOADIM`.
    pub modifier: &'static str,
    pub words: usize,
    means: Means,
    /// Bits of each component.
    bits: &'static [u32],
}

const fn row(number: u8, modifier: &'static str, words: usize, means: Means, bits: &'static [u32]) -> Format {
    Format { number, modifier, words, means, bits }
}

const FORMATS: &[Format] = &[
    row(1, "F32X4", 4, Means::Float, &[32; 4]),
    row(2, "U32X2", 2, Means::Float, &[16; 4]),
    row(3, "F32", 1, Means::Float, &[32]),
    row(4, "U32", 1, Means::Unorm, &[8; 4]),
    row(5, "U32", 1, Means::Snorm, &[8; 4]),
    row(6, "F32X2", 2, Means::Float, &[32; 2]),
    row(7, "U32", 1, Means::Float, &[16; 2]),
    row(8, "U32", 1, Means::Float, &[11, 11, 10]),
    row(9, "U16", 1, Means::Float, &[16]),
    row(10, "U32X2", 2, Means::Unorm, &[16; 4]),
    row(11, "U32", 1, Means::Unorm, &[10, 10, 10, 2]),
    row(12, "U32", 1, Means::Unorm, &[16; 2]),
    row(13, "U16", 1, Means::Unorm, &[8; 2]),
    row(14, "U16", 1, Means::Unorm, &[16]),
    row(15, "U8", 1, Means::Unorm, &[8]),
    row(16, "U32X2", 2, Means::Snorm, &[16; 4]),
    row(17, "U32", 1, Means::Snorm, &[16; 2]),
    row(18, "U16", 1, Means::Snorm, &[8; 2]),
    row(19, "U16", 1, Means::Snorm, &[16]),
    row(20, "U8", 1, Means::Snorm, &[8]),
    row(21, "S32X4", 4, Means::Sint, &[32; 4]),
    row(22, "U32X2", 2, Means::Sint, &[16; 4]),
    row(23, "U32", 1, Means::Sint, &[8; 4]),
    row(24, "S32", 1, Means::Sint, &[32]),
    row(25, "S32X2", 2, Means::Sint, &[32; 2]),
    row(26, "U32", 1, Means::Sint, &[16; 2]),
    row(27, "U16", 1, Means::Sint, &[8; 2]),
    row(28, "U16", 1, Means::Sint, &[16]),
    row(29, "U8", 1, Means::Sint, &[8]),
    row(30, "U32X4", 4, Means::Uint, &[32; 4]),
    row(31, "U32X2", 2, Means::Uint, &[16; 4]),
    row(32, "U32", 1, Means::Uint, &[8; 4]),
    row(33, "U32", 1, Means::Uint, &[32]),
    row(34, "U32", 1, Means::Uint, &[10, 10, 10, 2]),
    row(35, "U32X2", 2, Means::Uint, &[32; 2]),
    row(36, "U32", 1, Means::Uint, &[16; 2]),
    row(37, "U16", 1, Means::Uint, &[8; 2]),
    row(38, "U16", 1, Means::Uint, &[16]),
    row(39, "U8", 1, Means::Uint, &[8]),
];

/// The format with a number; `None` if it is not stated, or has 64 bits.
pub fn format(number: u8) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.number == number)
}

/// The components `Y` and `W`, where `UP2H` and `UP2US` put the upper half.
const Y_OR_W: Components = 10;

impl Selector<'_> {
    /// The four components of a texel; missing ones are 0, 0 and 1.
    pub fn unpacked(&mut self, format: &Format, words: &[Operand]) -> Vec<Operand> {
        let mut at = 0;
        let mut components = Vec::new();
        for bits in format.bits {
            let component = self.component(format.means, &words[at / 32], at as u32 % 32, *bits);
            components.push(component);
            at += *bits as usize;
        }
        let one = if matches!(format.means, Means::Sint | Means::Uint) { 1 } else { 1.0_f32.to_bits() };
        for missing in components.len()..4 {
            components.push(Operand::Constant(if missing == 3 { one } else { 0 }, Kind::Uint));
        }
        components
    }

    fn component(&mut self, means: Means, word: &Operand, offset: u32, bits: u32) -> Operand {
        if bits == 32 {
            return word.clone();
        }
        match means {
            Means::Uint => self.texel_bits("BFE.U", word, offset, bits),
            Means::Sint => self.signed_field(word.clone(), offset, bits),
            Means::Float => self.float(word, offset, bits),
            Means::Unorm if bits == 8 => self.texel_part(1 << (offset / 8), "UP4UB.F", word),
            Means::Unorm if bits == 16 => self.texel_part(half(offset), "UP2US.F", word),
            Means::Unorm => {
                let field = self.texel_bits("BFE.U", word, offset, bits);
                self.scaled("I2F.U", field, bits)
            }
            Means::Snorm => {
                let field = self.texel_bits("BFE.S", word, offset, bits);
                let number = self.scaled("I2F.S", field, bits - 1);
                self.word("MAX.F32", &[number, Operand::Constant((-1.0_f32).to_bits(), Kind::Float)])
            }
        }
    }

    fn texel_bits(&mut self, name: &'static str, word: &Operand, offset: u32, bits: u32) -> Operand {
        self.word(name, &[Operand::Constants([bits, offset, 0, 0]), word.clone()])
    }

    /// One component of an unpacked value.
    fn texel_part(&mut self, component: Components, name: &'static str, word: &Operand) -> Operand {
        let to = self.registers.add(Class::Word, component);
        self.push(name, Dest::Regs([to].into_iter().collect()), std::slice::from_ref(word));
        Operand::Reg(to)
    }

    /// A number divided by the maximum of this many bits.
    fn scaled(&mut self, convert: &'static str, field: Operand, bits: u32) -> Operand {
        let number = self.word(convert, &[field]);
        let greatest = Operand::Constant((((1_u32 << bits) - 1) as f32).to_bits(), Kind::Float);
        self.word("DIV.F32", &[number, greatest])
    }

    /// A half, or a smaller unsigned float, which is a half without its low bits.
    fn float(&mut self, word: &Operand, offset: u32, bits: u32) -> Operand {
        if bits == 16 {
            return self.texel_part(half(offset), "UP2H.F", word);
        }
        let field = self.texel_bits("BFE.U", word, offset, bits);
        let shifted = self.word("SHL.U", &[field, Operand::Constant(15 - bits, Kind::Uint)]);
        self.texel_part(X_OR_Z, "UP2H.F", &shifted)
    }
}

/// The components that contain half of a word.
const fn half(offset: u32) -> Components {
    if offset == 0 { X_OR_Z } else { Y_OR_W }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_fill_the_words_that_are_loaded() {
        for format in FORMATS {
            let bits: u32 = format.bits.iter().sum();
            let loaded = match format.modifier {
                "U8" => 8,
                "U16" => 16,
                _ => 32 * format.words as u32,
            };
            assert_eq!(bits, loaded, "format {}", format.number);
        }
    }

    #[test]
    fn every_format_of_32_bits_and_less_has_a_row() {
        assert!((1..40).all(|number| format(number).is_some_and(|found| found.number == number)));
        assert!(format(0).is_none() && format(40).is_none());
    }
}
