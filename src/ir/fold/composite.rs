//! Composites: extraction and construction, for specialization constants too.

use super::Folder;
use crate::ir::{ArrayLen, ConstId, ConstValue, SpecOp, Type, TypeId};

/// Arrays with more elements than this are not decomposed.
const ELEMENT_LIMIT: u32 = 1 << 16;

impl Folder<'_> {
    /// Parts of a composite type; `None` for scalars and arrays without a known length.
    pub fn part_count(&self, ty: TypeId) -> Option<u32> {
        match self.types.get(ty) {
            Type::Vector { size, .. } => Some(u32::from(size)),
            Type::Matrix { columns, .. } => Some(u32::from(columns)),
            Type::Array { len: ArrayLen::Fixed(len), .. } => Some(len),
            Type::Struct(id) => Some(self.types.structs[id].members.len() as u32),
            _ => None,
        }
    }

    /// Value of a constant index.
    pub fn index(&self, id: ConstId) -> Option<u32> {
        u32::try_from(self.constants.as_int(self.types, id)?).ok()
    }

    /// Part `index` of a composite constant.
    pub fn extract(&mut self, composite: ConstId, index: u32) -> Option<ConstId> {
        let of = self.constants.get(composite).ty;
        if index >= self.part_count(of)? {
            return None;
        }
        let ty = self.types.element(of, index)?;
        match &self.constants.get(composite).value {
            ConstValue::Composite(parts) => parts.get(index as usize).copied(),
            ConstValue::Zero => Some(self.zero(ty)),
            ConstValue::Undef => Some(self.constants.intern(ty, ConstValue::Undef)),
            ConstValue::SpecOp { .. } => {
                let value = ConstValue::SpecOp { op: SpecOp::Extract(index), args: Box::new([composite]) };
                Some(self.constants.intern(ty, value))
            }
            ConstValue::Bits(_) | ConstValue::Spec { .. } | ConstValue::MatrixLength(_) => None,
        }
    }

    /// All bits zero; scalars as bits, so that equal scalars stay one constant.
    pub fn zero(&mut self, ty: TypeId) -> ConstId {
        let value = match self.types.get(ty) {
            Type::Scalar(_) => ConstValue::Bits(0),
            _ => ConstValue::Zero,
        };
        self.constants.intern(ty, value)
    }

    /// All parts of a composite constant.
    pub fn parts(&mut self, composite: ConstId) -> Option<Vec<ConstId>> {
        let count = self.part_count(self.constants.get(composite).ty)?;
        if count > ELEMENT_LIMIT {
            return None;
        }
        (0..count).map(|index| self.extract(composite, index)).collect()
    }

    /// Components of a vector, or the scalar itself.
    pub fn components(&mut self, id: ConstId) -> Option<Vec<ConstId>> {
        match self.types.get(self.constants.get(id).ty) {
            Type::Scalar(_) => Some(vec![id]),
            Type::Vector { .. } => self.parts(id),
            _ => None,
        }
    }

    pub fn composite(&mut self, ty: TypeId, parts: Vec<ConstId>) -> ConstId {
        self.constants.intern(ty, ConstValue::Composite(parts.into_boxed_slice()))
    }

    /// A composite of `args`; for a vector, these may be vectors themselves.
    pub fn construct(&mut self, ty: TypeId, args: &[ConstId]) -> Option<ConstId> {
        if !matches!(self.types.get(ty), Type::Vector { .. }) {
            return Some(self.composite(ty, args.to_vec()));
        }
        let mut parts = Vec::with_capacity(4);
        for arg in args {
            parts.extend(self.components(*arg)?);
        }
        Some(self.composite(ty, parts))
    }

    /// A vector of equal components.
    pub fn splat(&mut self, ty: TypeId, scalar: ConstId) -> Option<ConstId> {
        let size = self.types.components(ty)?;
        Some(self.composite(ty, vec![scalar; usize::from(size)]))
    }

    /// `composite` with part `index` replaced.
    pub fn insert(&mut self, composite: ConstId, index: u32, part: ConstId) -> Option<ConstId> {
        let ty = self.constants.get(composite).ty;
        let mut parts = self.parts(composite)?;
        *parts.get_mut(index as usize)? = part;
        Some(self.composite(ty, parts))
    }

    /// The components of `a` followed by `b`'s that `mask` picks.
    pub fn shuffle(&mut self, ty: TypeId, a: ConstId, b: ConstId, mask: [u8; 4]) -> Option<ConstId> {
        let size = usize::from(self.types.components(ty)?);
        let mut from = self.components(a)?;
        from.extend(self.components(b)?);
        let picked: Option<Vec<ConstId>> = mask[..size].iter().map(|at| from.get(usize::from(*at)).copied()).collect();
        Some(self.composite(ty, picked?))
    }
}
