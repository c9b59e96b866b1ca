//! Accesses to memory as vectors of two and four components, which NVIDIA's instructions move.

use crate::kernel::MemoryAccess;

/// Consecutive components that one instruction moves.
pub struct Piece {
    /// Number of its first component.
    pub first: usize,
    pub count: usize,
    /// Bytes from the address of the access.
    pub offset: u32,
}

/// The pieces of an access, widest first, as its alignment allows. `is_moved` returns true if one instruction moves a
/// vector of that many bytes.
pub fn pieces(access: MemoryAccess, is_moved: impl Fn(u32) -> bool) -> Vec<Piece> {
    let (bytes, components) = (u32::from(access.bytes), usize::from(access.components));
    let mut pieces = Vec::new();
    let mut first = 0;
    while first < components {
        let offset = first as u32 * bytes;
        let align = if offset == 0 { access.align } else { access.align.min(1 << offset.trailing_zeros()) };
        let fits = |count: &usize| {
            let size = *count as u32 * bytes;
            *count <= components - first && align >= size && is_moved(size)
        };
        let count = [4, 2].into_iter().find(fits).unwrap_or(1);
        pieces.push(Piece { first, count, offset });
        first += count;
    }
    pieces
}
