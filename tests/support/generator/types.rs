//! The types of random kernels.

use super::rng::Rng;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Int,
    Uint,
    Float,
    Bool,
}

pub const KINDS: [Kind; 4] = [Kind::Int, Kind::Uint, Kind::Float, Kind::Bool];

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ty {
    /// A vector, or a scalar if it has one component.
    Vector(Kind, u8),
    /// Columns and rows.
    Matrix(u8, u8),
    Array(Box<Ty>, u8),
    /// By index in the list of structs.
    Struct(usize),
}

pub const INT: Ty = Ty::Vector(Kind::Int, 1);
pub const UINT: Ty = Ty::Vector(Kind::Uint, 1);
pub const FLOAT: Ty = Ty::Vector(Kind::Float, 1);
pub const BOOL: Ty = Ty::Vector(Kind::Bool, 1);

impl Ty {
    /// The type as GLSL spells it.
    pub fn name(&self) -> String {
        match self {
            Self::Vector(kind, 1) => ["int", "uint", "float", "bool"][*kind as usize].to_string(),
            Self::Vector(kind, size) => format!("{}vec{size}", ["i", "u", "", "b"][*kind as usize]),
            Self::Matrix(columns, rows) => format!("mat{columns}x{rows}"),
            Self::Array(..) => {
                let (mut inner, mut brackets) = (self, String::new());
                while let Self::Array(element, len) = inner {
                    brackets += &format!("[{len}]");
                    inner = element;
                }
                inner.name() + &brackets
            }
            Self::Struct(index) => format!("S{index}"),
        }
    }

    /// A scalar, vector or matrix.
    pub fn random_basic(rng: &mut Rng) -> Self {
        if rng.once_in(10) {
            return Self::Matrix(2 + rng.below(3) as u8, 2 + rng.below(3) as u8);
        }
        let size = if rng.once_in(2) { 1 } else { 2 + rng.below(3) as u8 };
        Self::Vector(*rng.pick(&KINDS), size)
    }

    fn random_vector(rng: &mut Rng, largest: usize) -> Self {
        Self::Vector(*rng.pick(&KINDS), 1 + rng.below(largest) as u8)
    }

    /// Any type; structs are those below `structs`. Types are small: drivers are slow for arrays in private memory.
    pub fn random(rng: &mut Rng, structs: usize) -> Self {
        match rng.below(10) {
            0 => Self::Array(Box::new(Self::random_vector(rng, 3)), 2 + rng.below(3) as u8),
            1 => {
                let row = Self::Array(Box::new(Self::random_vector(rng, 1)), 2 + rng.below(2) as u8);
                Self::Array(Box::new(row), 2)
            }
            2 if structs > 0 => Self::Struct(rng.below(structs)),
            3 if structs > 0 && rng.once_in(3) => Self::Array(Box::new(Self::Struct(rng.below(structs))), 2),
            _ => Self::random_basic(rng),
        }
    }
}

/// The structs of a kernel: the types of their members `m0`, `m1`, …
#[derive(Debug, Default)]
pub struct Structs(pub Vec<Vec<Ty>>);

impl Structs {
    /// Returns true if bools are in it.
    pub fn has_bools(&self, ty: &Ty) -> bool {
        self.contains(ty, &BOOL)
    }

    /// Returns true if a value of type `whole` has a part of type `part`; the parts of a vector include its swizzles.
    pub fn contains(&self, whole: &Ty, part: &Ty) -> bool {
        whole == part
            || match whole {
                Ty::Vector(kind, size) => matches!(part, Ty::Vector(k, s) if k == kind && s <= size),
                Ty::Matrix(_, rows) => self.contains(&Ty::Vector(Kind::Float, *rows), part),
                Ty::Array(element, _) => self.contains(element, part),
                Ty::Struct(index) => self.0[*index].iter().any(|member| self.contains(member, part)),
            }
    }
}
