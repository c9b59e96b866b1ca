//! The matrix's scalar types: how the languages spell them, and how values are stored in words of a buffer.

use crosslane::grammar::Shape;
use crosslane::ir::{Scalar, ScalarKind};

use support::fixture::Language;

/// A scalar type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    F32,
    I32,
    U32,
    Bool,
    F64,
    F16,
    I8,
    U8,
    I16,
    U16,
    I64,
    U64,
}

/// How a language spells a type; `$0` and `$1` stand for words of a buffer, `$e` for a value.
struct Spelling {
    scalar: &'static str,
    /// The prefix of its vectors.
    vector: &'static str,
    load: &'static str,
    /// An expression for each word.
    store: &'static [&'static str],
}

const fn spelling(
    scalar: &'static str,
    vector: &'static str,
    load: &'static str,
    store: &'static [&'static str],
) -> Spelling {
    Spelling { scalar, vector, load, store }
}

#[rustfmt::skip]
static GLSL: [Spelling; 12] = [
    spelling("float", "vec", "uintBitsToFloat($0)", &["floatBitsToUint($e)"]),
    spelling("int", "ivec", "int($0)", &["uint($e)"]),
    spelling("uint", "uvec", "$0", &["$e"]),
    spelling("bool", "bvec", "($0 != 0u)", &["uint($e)"]),
    spelling("double", "dvec", "packDouble2x32(uvec2($0, $1))", &["unpackDouble2x32($e).x", "unpackDouble2x32($e).y"]),
    spelling("float16_t", "f16vec", "unpackFloat2x16($0).x", &["packFloat2x16(f16vec2($e, float16_t(0.0)))"]),
    spelling("int8_t", "i8vec", "int8_t(int($0))", &["uint(uint8_t($e))"]),
    spelling("uint8_t", "u8vec", "uint8_t($0)", &["uint($e)"]),
    spelling("int16_t", "i16vec", "int16_t(int($0))", &["uint(uint16_t($e))"]),
    spelling("uint16_t", "u16vec", "uint16_t($0)", &["uint($e)"]),
    spelling("int64_t", "i64vec", "int64_t(packUint2x32(uvec2($0, $1)))",
        &["unpackUint2x32(uint64_t($e)).x", "unpackUint2x32(uint64_t($e)).y"]),
    spelling("uint64_t", "u64vec", "packUint2x32(uvec2($0, $1))", &["unpackUint2x32($e).x", "unpackUint2x32($e).y"]),
];

/// WGSL has no access to the bits of an `f64`: it is passed as an `f32`. naga does not read the bits of an `f16`. WGSL
/// has no integers of 8 and 16 bits.
#[rustfmt::skip]
static WGSL: [Option<Spelling>; 12] = [
    Some(spelling("f32", "", "bitcast<f32>($0)", &["bitcast<u32>($e)"])),
    Some(spelling("i32", "", "bitcast<i32>($0)", &["bitcast<u32>($e)"])),
    Some(spelling("u32", "", "$0", &["$e"])),
    Some(spelling("bool", "", "($0 != 0u)", &["u32($e)"])),
    Some(spelling("f64", "", "f64(bitcast<f32>($0))", &["bitcast<u32>(f32($e))"])),
    Some(spelling("f16", "", "f16(unpack2x16float($0).x)", &["pack2x16float(vec2<f32>(f32($e), 0.0))"])),
    None,
    None,
    None,
    None,
    Some(spelling("i64", "", "bitcast<i64>((u64($1) << 32u) | u64($0))",
        &["u32(bitcast<u64>($e) & 4294967295lu)", "u32(bitcast<u64>($e) >> 32u)"])),
    Some(spelling("u64", "", "((u64($1) << 32u) | u64($0))", &["u32($e & 4294967295lu)", "u32($e >> 32u)"])),
];

impl Kind {
    /// The type of this name in the tables.
    pub fn of(scalar: Scalar) -> Self {
        match (scalar.kind, scalar.width) {
            (ScalarKind::Bool, _) => Self::Bool,
            (ScalarKind::Float, 16) => Self::F16,
            (ScalarKind::Float, 64) => Self::F64,
            (ScalarKind::Float, _) => Self::F32,
            (ScalarKind::Sint, 8) => Self::I8,
            (ScalarKind::Sint, 16) => Self::I16,
            (ScalarKind::Sint, 64) => Self::I64,
            (ScalarKind::Sint, _) => Self::I32,
            (ScalarKind::Uint, 8) => Self::U8,
            (ScalarKind::Uint, 16) => Self::U16,
            (ScalarKind::Uint, 64) => Self::U64,
            (ScalarKind::Uint, _) => Self::U32,
            (ScalarKind::Encoded(_), _) => panic!("no cross-lane operation takes encoded floats"),
        }
    }

    pub fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32 | Self::F64)
    }

    pub fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }

    /// Bits of a value.
    pub fn bits(self) -> u32 {
        match self {
            Self::Bool => 1,
            Self::I8 | Self::U8 => 8,
            Self::F16 | Self::I16 | Self::U16 => 16,
            Self::F32 | Self::I32 | Self::U32 => 32,
            Self::F64 | Self::I64 | Self::U64 => 64,
        }
    }

    fn spelling(self, language: Language) -> Option<&'static Spelling> {
        match language {
            Language::Glsl => Some(&GLSL[self as usize]),
            Language::Wgsl => WGSL[self as usize].as_ref(),
        }
    }

    /// Returns true if a language has the type.
    pub fn is_in(self, language: Language) -> bool {
        self.spelling(language).is_some()
    }

    fn spelled(self, language: Language) -> &'static Spelling {
        self.spelling(language).expect("cells are made of the types that a language has")
    }

    /// Number of buffer words for a value.
    pub fn words(self, language: Language) -> usize {
        self.spelled(language).store.len()
    }

    /// The value as words.
    pub fn encode(self, language: Language, bits: u64) -> Vec<u32> {
        match (self, self.words(language)) {
            (Self::F64, 1) => vec![(f64::from_bits(bits) as f32).to_bits()],
            (_, 1) => vec![bits as u32],
            _ => vec![bits as u32, (bits >> 32) as u32],
        }
    }

    /// The value as a shader in a language receives it.
    pub fn through(self, language: Language, bits: u64) -> u64 {
        match (self, language) {
            (Self::F64, Language::Wgsl) => f64::from(f64::from_bits(bits) as f32).to_bits(),
            _ => bits,
        }
    }

    /// The expression for a value that begins at word `at` of the buffer that `word` spells.
    fn load(self, language: Language, at: usize, word: &impl Fn(usize) -> String) -> String {
        self.spelled(language).load.replace("$0", &word(at)).replace("$1", &word(at + 1))
    }
}

/// A scalar or a vector.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Type {
    pub kind: Kind,
    /// 1 to 4.
    pub size: u8,
}

impl Type {
    pub fn of(shape: Shape) -> Self {
        Self { kind: Kind::of(shape.scalar()), size: shape.size() }
    }

    pub fn name(self, language: Language) -> String {
        let spelled = self.kind.spelled(language);
        match (self.size, language) {
            (1, _) => spelled.scalar.to_owned(),
            (n, Language::Glsl) => format!("{}{n}", spelled.vector),
            (n, Language::Wgsl) => format!("vec{n}<{}>", spelled.scalar),
        }
    }

    /// Words of a buffer.
    pub fn words(self, language: Language) -> usize {
        usize::from(self.size) * self.kind.words(language)
    }

    /// The expression that reads a value from word `at` on.
    pub fn load(self, language: Language, at: usize, word: impl Fn(usize) -> String) -> String {
        let step = self.kind.words(language);
        let part = |n: u8| self.kind.load(language, at + usize::from(n) * step, &word);
        match self.size {
            1 => part(0),
            n => format!("{}({})", self.name(language), (0..n).map(part).collect::<Vec<_>>().join(", ")),
        }
    }

    /// An expression for each word of a variable.
    pub fn store(self, language: Language, variable: &str) -> Vec<String> {
        let parts = ["x", "y", "z", "w"].into_iter().take(usize::from(self.size));
        let values = parts.map(|part| if self.size == 1 { variable.to_owned() } else { format!("{variable}.{part}") });
        let store = self.kind.spelled(language).store;
        values.flat_map(|value| store.iter().map(move |word| word.replace("$e", &value))).collect()
    }
}
