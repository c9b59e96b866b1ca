//! The constants of a module, without duplicates. Scalars are stored as bits, zero-extended to 64.

use super::arena::Handle;
use super::op::{BinaryOp, MathFn, UnaryOp};
use super::types::{Scalar, ScalarKind, Type, TypeId, Types};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::{SmallVec, smallvec};

pub type ConstId = Handle<Constant>;

/// The operation of a specialization-constant expression, as in [`super::Op`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SpecOp {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Math(MathFn),
    /// Numeric conversion to the constant's type.
    Convert,
    Bitcast,
    /// Operands: condition, accepted, rejected.
    Select,
    /// Operand: composite.
    Extract(u32),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ConstValue {
    /// A scalar's bits: a `bool` is 0 or 1, narrower types are zero-extended.
    Bits(u64),
    /// Vector components, matrix columns, array elements or struct members.
    Composite(Box<[ConstId]>),
    /// All bits zero, of any type.
    Zero,
    /// An undefined value.
    Undef,
    /// A scalar that can be set at pipeline creation; `default` are its bits otherwise.
    Spec { id: u32, default: u64 },
    /// Computed from specialization constants.
    SpecOp { op: SpecOp, args: Box<[ConstId]> },
    /// The number of elements of a cooperative matrix per invocation, which only the device knows.
    MatrixLength(TypeId),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Constant {
    pub ty: TypeId,
    pub value: ConstValue,
}

/// The constants of a module.
#[derive(Clone, Debug)]
pub struct Constants {
    list: Vec<Constant>,
    /// Scalars by type and bits.
    scalars: FxHashMap<(TypeId, u64), ConstId>,
    /// The smallest `int`s and `uint`s, which name members and components all the time.
    small: [[Option<ConstId>; SMALL]; 2],
    /// All other constants.
    interned: FxHashMap<Constant, ConstId>,
}

/// Integers from 0 on that are found without hashing.
const SMALL: usize = 16;

/// Initial capacity, in constants.
const USUAL: usize = 96;

impl Default for Constants {
    fn default() -> Self {
        let scalars = FxHashMap::with_capacity_and_hasher(USUAL, FxBuildHasher);
        let small = [[None; SMALL]; 2];
        Constants { list: Vec::with_capacity(USUAL), scalars, small, interned: FxHashMap::default() }
    }
}

impl Constants {
    pub fn intern(&mut self, ty: TypeId, value: ConstValue) -> ConstId {
        if let ConstValue::Bits(bits) = value {
            return self.scalar(ty, bits);
        }
        let constant = Constant { ty, value };
        if let Some(id) = self.interned.get(&constant) {
            return *id;
        }
        let id = ConstId::from_index(self.list.len());
        self.list.push(constant.clone());
        self.interned.insert(constant, id);
        id
    }

    /// A scalar of type `ty` by its bits.
    fn scalar(&mut self, ty: TypeId, bits: u64) -> ConstId {
        if bits >= SMALL as u64 || !(ty == Types::I32 || ty == Types::U32) {
            return self.any_scalar(ty, bits);
        }
        let place = (usize::from(ty == Types::U32), bits as usize);
        if let Some(id) = self.small[place.0][place.1] {
            return id;
        }
        let id = self.any_scalar(ty, bits);
        self.small[place.0][place.1] = Some(id);
        id
    }

    fn any_scalar(&mut self, ty: TypeId, bits: u64) -> ConstId {
        let list = &mut self.list;
        *self.scalars.entry((ty, bits)).or_insert_with(|| {
            list.push(Constant { ty, value: ConstValue::Bits(bits) });
            ConstId::from_index(list.len() - 1)
        })
    }

    /// Replaces a constant by another value of its type. A constant that already has this value stays separate.
    pub(super) fn replace(&mut self, id: ConstId, value: ConstValue) {
        self.list[id.index()].value = value;
    }

    pub fn get(&self, id: ConstId) -> &Constant {
        &self.list[id.index()]
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (ConstId, &Constant)> {
        self.list.iter().enumerate().map(|(index, c)| (ConstId::from_index(index), c))
    }

    pub fn bool(&mut self, value: bool) -> ConstId {
        self.scalar(Types::BOOL, u64::from(value))
    }

    pub fn i32(&mut self, value: i32) -> ConstId {
        self.scalar(Types::I32, u64::from(value as u32))
    }

    pub fn u32(&mut self, value: u32) -> ConstId {
        self.scalar(Types::U32, u64::from(value))
    }

    pub fn f32(&mut self, value: f32) -> ConstId {
        self.scalar(Types::F32, u64::from(value.to_bits()))
    }

    /// Returns true if the value is known only at pipeline creation.
    pub fn is_spec(&self, id: ConstId) -> bool {
        match &self.get(id).value {
            ConstValue::Spec { .. } | ConstValue::SpecOp { .. } | ConstValue::MatrixLength(_) => true,
            ConstValue::Composite(parts) => parts.iter().any(|part| self.is_spec(*part)),
            _ => false,
        }
    }

    /// Returns true if all bits of a constant are known to be zero.
    pub fn is_zero(&self, id: ConstId) -> bool {
        match &self.get(id).value {
            ConstValue::Bits(bits) => *bits == 0,
            ConstValue::Zero => true,
            ConstValue::Composite(parts) => parts.iter().all(|part| self.is_zero(*part)),
            _ => false,
        }
    }

    /// Bits of a scalar with a known value (not a specialization constant).
    pub fn bits(&self, id: ConstId) -> Option<u64> {
        match self.get(id).value {
            ConstValue::Bits(bits) => Some(bits),
            ConstValue::Zero => Some(0),
            _ => None,
        }
    }

    /// The integer components of a scalar or vector; `None` if one is unknown.
    pub fn as_ints(&self, types: &Types, id: ConstId) -> SmallVec<[i128; 4]> {
        let constant = self.get(id);
        let ints: Option<SmallVec<[i128; 4]>> = match (&constant.value, types.get(constant.ty)) {
            (ConstValue::Composite(parts), Type::Vector { .. }) => {
                parts.iter().map(|part| self.as_int(types, *part)).collect()
            }
            (ConstValue::Zero, Type::Vector { size, .. }) => Some(smallvec![0; usize::from(size)]),
            _ => self.as_int(types, id).map(|int| smallvec![int]),
        };
        ints.unwrap_or_default()
    }

    /// Value of an integer scalar as a mathematical integer.
    pub fn as_int(&self, types: &Types, id: ConstId) -> Option<i128> {
        let Type::Scalar(scalar) = types.get(self.get(id).ty) else { return None };
        let bits = self.bits(id)?;
        match scalar.kind {
            ScalarKind::Sint => Some(i128::from(sign_extend(bits, scalar))),
            ScalarKind::Uint => Some(i128::from(bits)),
            _ => None,
        }
    }
}

/// A scalar's bits as a signed number.
pub fn sign_extend(bits: u64, scalar: Scalar) -> i64 {
    let unused = 64 - u32::from(scalar.width);
    ((bits << unused) as i64) >> unused
}
