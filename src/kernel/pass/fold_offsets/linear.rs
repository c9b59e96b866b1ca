//! Linear forms of addresses: sums of values times constants, modulo 2^32, and a constant.

use crate::kernel::{BinOp, Kernel, Op, Value};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// Values with their factors, in the order of the values. No factor is zero.
type Terms = SmallVec<[(Value, u32); 4]>;

/// Limit of the nested operations that a form is expanded through.
const DEPTH: u32 = 6;
/// Limit of the terms of a form; a value with more counts as one term.
const MOST: usize = 6;

/// The number of a form without its constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FormId(u32);

/// The known forms and their numbers.
#[derive(Debug, Default)]
pub struct Forms {
    ids: FxHashMap<Terms, FormId>,
    known: FxHashMap<Value, (FormId, u32)>,
}

impl Forms {
    /// The form of a value, and its constant.
    pub fn of(&mut self, kernel: &Kernel, value: Value) -> (FormId, u32) {
        if let Some(known) = self.known.get(&value) {
            return *known;
        }
        let (terms, constant) = form(kernel, value, DEPTH);
        let next = FormId(self.ids.len() as u32);
        let id = *self.ids.entry(terms).or_insert(next);
        self.known.insert(value, (id, constant));
        (id, constant)
    }
}

fn form(kernel: &Kernel, value: Value, depth: u32) -> (Terms, u32) {
    if let Some(bits) = kernel.as_constant(value) {
        return (Terms::new(), bits as u32);
    }
    parts(kernel, value, depth).unwrap_or_else(|| (smallvec![(value, 1)], 0))
}

/// The form of a value that is a sum, a difference or a product with a constant.
fn parts(kernel: &Kernel, value: Value, depth: u32) -> Option<(Terms, u32)> {
    let inner = depth.checked_sub(1)?;
    let Op::Bin(op, scalar) = kernel.insts[kernel.definition(value)?].op else { return None };
    let [a, b] = *kernel.args(kernel.definition(value)?) else { return None };
    let factor = kernel.as_constant(b).map(|bits| bits as u32);
    if scalar.width != 32 || !scalar.is_int() {
        return None;
    }
    match (op, factor) {
        (BinOp::Add, _) => sum(form(kernel, a, inner), form(kernel, b, inner)),
        (BinOp::Sub, _) => sum(form(kernel, a, inner), times(form(kernel, b, inner), u32::MAX)),
        (BinOp::Mul, Some(factor)) => Some(times(form(kernel, a, inner), factor)),
        (BinOp::Shl, Some(by)) => Some(times(form(kernel, a, inner), 1_u32.checked_shl(by)?)),
        _ => None,
    }
}

fn times((mut terms, constant): (Terms, u32), factor: u32) -> (Terms, u32) {
    terms.iter_mut().for_each(|(_, own)| *own = own.wrapping_mul(factor));
    terms.retain(|(_, own)| *own != 0);
    (terms, constant.wrapping_mul(factor))
}

fn sum((mut terms, a): (Terms, u32), (others, b): (Terms, u32)) -> Option<(Terms, u32)> {
    for (value, factor) in others {
        match terms.binary_search_by_key(&value, |(known, _)| *known) {
            Ok(at) => terms[at].1 = terms[at].1.wrapping_add(factor),
            Err(at) => terms.insert(at, (value, factor)),
        }
    }
    terms.retain(|(_, factor)| *factor != 0);
    (terms.len() <= MOST).then(|| (terms, a.wrapping_add(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{BuiltIn, Scalar};
    use crate::kernel::{Builder, Ty};

    const U: Scalar = Scalar::U32;

    #[test]
    fn the_order_of_sums_does_not_matter() {
        let mut b = Builder::new(Kernel::new("main", [64, 1, 1]));
        let [x, y] = [0, 1].map(|n| b.value(Op::BuiltIn(BuiltIn::WorkgroupId, n), &[], Ty::B32));
        let (two, seven, four) = (b.u32(2), b.u32(7), b.u32(4));
        let next = b.bin(BinOp::Add, U, x, seven);
        let (one, other) = (b.bin(BinOp::Add, U, next, y), b.bin(BinOp::Add, U, y, x));
        let (one, other) = (b.bin(BinOp::Shl, U, one, two), b.bin(BinOp::Mul, U, other, four));
        let mut forms = Forms::default();
        let (a, by) = forms.of(&b.kernel, one);
        assert_eq!((a, by), (forms.of(&b.kernel, other).0, 28));
        assert_ne!(a, forms.of(&b.kernel, y).0);
        let none = b.bin(BinOp::Sub, U, next, next);
        let zero = b.u32(0);
        assert_eq!(forms.of(&b.kernel, none), forms.of(&b.kernel, zero));
    }
}
