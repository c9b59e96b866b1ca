//! Memory that an expression denotes, not yet read: a root pointer, the path into it, and possibly a swizzle.

use crate::ir::{Access, Space, TypeId, Value};
use smallvec::SmallVec;

/// An l-value in the making. Reading or writing it is [`super::memory`]'s business.
#[derive(Debug)]
pub struct LValue {
    /// Pointer to a variable or an `out` parameter.
    pub root: Value,
    pub space: Space,
    /// Indices from the root's memory type to the part.
    pub path: SmallVec<[Value; 4]>,
    /// Type of the memory that root and path name (laid out in buffers); a swizzle is not applied to it.
    pub ty: TypeId,
    pub swizzle: Option<Swizzle>,
    pub access: Access,
    /// An index into an array of resources in the path is non-uniform.
    pub non_uniform: bool,
    pub mutability: Mutability,
}

/// The mutability of an lvalue, with the reason why it may not be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mutability {
    Writable,
    /// A `const` variable or parameter.
    Const,
    /// A uniform, push constant or stage input, or a built-in variable.
    Input,
    /// Outputs of all vertices of a patch: an invocation writes its own.
    OwnVertex,
}

/// Components picked from a vector, in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Swizzle {
    pub components: [u8; 4],
    pub len: u8,
}

impl Swizzle {
    pub fn new(components: &[u8]) -> Swizzle {
        let mut all = [0; 4];
        all[..components.len()].copy_from_slice(components);
        Swizzle { components: all, len: components.len() as u8 }
    }

    pub fn components(&self) -> &[u8] {
        &self.components[..self.len as usize]
    }

    /// The swizzle of a swizzle.
    pub fn then(&self, outer: &Swizzle) -> Swizzle {
        let mut components = [0; 4];
        for (picked, at) in components.iter_mut().zip(outer.components()) {
            *picked = self.components[usize::from(*at)];
        }
        Swizzle { components, len: outer.len }
    }

    /// A swizzle with a repeated component cannot be written.
    pub fn has_duplicates(&self) -> bool {
        let seen = self.components();
        (1..seen.len()).any(|i| seen[..i].contains(&seen[i]))
    }
}

impl Clone for LValue {
    fn clone(&self) -> LValue {
        // A path is copied as one block; cloning its list would copy value by value.
        LValue { path: SmallVec::from_slice(&self.path), ..*self }
    }
}

impl LValue {
    pub fn new(root: Value, space: Space, ty: TypeId) -> LValue {
        LValue {
            root,
            space,
            path: SmallVec::new(),
            ty,
            swizzle: None,
            access: Access::empty(),
            non_uniform: false,
            mutability: Mutability::Writable,
        }
    }

    /// The part of this place that `index` selects, with type `ty`.
    #[must_use]
    pub fn part(mut self, index: Value, ty: TypeId) -> LValue {
        self.path.push(index);
        self.ty = ty;
        self
    }

    /// True if other invocations cannot see the memory, so that reading more than requested is harmless.
    pub fn is_private(&self) -> bool {
        matches!(self.space, Space::Function | Space::Private)
    }
}

#[cfg(test)]
mod tests {
    use super::Swizzle;

    #[test]
    fn swizzles_compose() {
        let zyx = Swizzle::new(&[2, 1, 0]);
        assert_eq!(zyx.then(&Swizzle::new(&[0, 0])), Swizzle::new(&[2, 2]));
        assert!(zyx.then(&Swizzle::new(&[0, 0])).has_duplicates());
        assert!(!zyx.has_duplicates());
    }
}
