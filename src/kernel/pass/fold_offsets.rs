//! Moves constants from an address into the access, if the sum cannot wrap.
//!
//! A scaled sum counts as a sum: `(i + 1) << 2` is `(i << 2) + 4`. Addresses that differ by a constant in other ways
//! are found by their linear forms ([`linear`]). The ranges of the parts, or an earlier access, must show that a sum
//! does not wrap: all accesses are within their memory, whose size is at most [`Kernel::LARGEST_BUFFER`], so no address
//! within that distance after such an access wraps.

mod linear;

use super::range::{Range, Ranges};
use crate::ir::{InstFlags, Scalar};
use crate::kernel::{BinOp, BlockId, InstId, Kernel, MemoryAccess, MemorySpace, Op, Ty, Value};
use crate::source::Span;
use linear::{FormId, Forms};
use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Folds constants into accesses. Returns true if there were any.
pub fn run(kernel: &mut Kernel) -> bool {
    let body = kernel.body;
    let ranges = Ranges::new(kernel);
    let mut folding = Folding {
        kernel,
        ranges,
        ends: Scoped::default(),
        scaled: Scoped::default(),
        forms: Forms::default(),
        alike: Scoped::default(),
        changed: false,
    };
    folding.block(body);
    folding.changed
}

struct Folding<'k> {
    kernel: &'k mut Kernel,
    ranges: Ranges,
    /// Bytes after an address known to be within the memory.
    ends: Scoped<(MemorySpace, Value), u64>,
    /// Products with constants: by operation, factor and constant.
    scaled: Scoped<(Op, Value, Value), Value>,
    forms: Forms,
    /// The first accessed address among addresses that differ by constants, and its constant.
    alike: Scoped<(MemorySpace, FormId), (Value, u32)>,
    changed: bool,
}

impl Folding<'_> {
    fn block(&mut self, block: BlockId) {
        let marks = (self.ends.mark(), self.scaled.mark(), self.alike.mark());
        let insts = std::mem::take(&mut self.kernel.blocks[block].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            while let Some((base, offset)) = self.split(inst, &mut out) {
                self.changed = true;
                self.kernel.args_mut(inst)[0] = base;
                set_offset(self.kernel, inst, offset);
            }
            self.learn(inst);
            out.push(inst);
            self.kernel.inner_blocks(inst).for_each(|inner| self.block(inner));
        }
        self.kernel.blocks[block].insts = out;
        self.ends.back_to(marks.0);
        self.scaled.back_to(marks.1);
        self.alike.back_to(marks.2);
    }

    fn learn(&mut self, inst: InstId) {
        let (op, args) = (self.kernel.insts[inst].op, self.kernel.args(inst));
        if let Some(result) = self.kernel.result(inst) {
            self.ranges.learn(self.kernel, &op, args, result);
            if let (Op::Bin(BinOp::Shl | BinOp::Mul, _), [base, factor]) = (op, args) {
                self.scaled.set((op, *base, *factor), result);
            }
        }
        if let Some(access) = access(&op) {
            let end = u64::from(access.offset) + u64::from(access.components) * u64::from(access.bytes);
            let key = (access.space, args[0]);
            self.ends.set(key, end.max(self.ends.get(&key).unwrap_or(0)));
            if let Some((form, constant)) = self.form(access.space, key.1)
                && self.alike.get(&(access.space, form)).is_none()
            {
                self.alike.set((access.space, form), (key.1, constant));
            }
        }
    }

    /// The linear form of an address of 32 bits, and its constant.
    fn form(&mut self, space: MemorySpace, address: Value) -> Option<(FormId, u32)> {
        (space != MemorySpace::Physical).then(|| self.forms.of(self.kernel, address))
    }

    /// Splits the address of an access into a base and a constant offset. Instructions that compute the base are
    /// appended to `out`.
    fn split(&mut self, inst: InstId, out: &mut Vec<InstId>) -> Option<(Value, u32)> {
        let access = access(&self.kernel.insts[inst].op)?;
        let address = *self.kernel.args(inst).first()?;
        let moved = |by: u64| u32::try_from(by).ok()?.checked_add(access.offset);
        if let Some(bits) = self.kernel.as_constant(address).filter(|bits| *bits != 0) {
            return Some((self.kernel.constant(self.kernel.ty(address), 0), moved(bits)?));
        }
        if let Some((base, by)) = self.sum(address, access.space) {
            return Some((base, moved(by)?));
        }
        if let Some(product) = self.scaled_sum(address, access.space) {
            let offset = moved(product.by)?;
            let base = product.known.unwrap_or_else(|| self.multiply(product.op, product.factors, out));
            return Some((base, offset));
        }
        let (base, by) = self.beside(address, access.space)?;
        Some((base, moved(by)?))
    }

    /// An address that has been accessed, and the constant by which this one follows it without wrapping.
    fn beside(&mut self, address: Value, space: MemorySpace) -> Option<(Value, u64)> {
        let (form, constant) = self.form(space, address)?;
        let (base, first) = self.alike.get(&(space, form))?;
        let by = constant.wrapping_sub(first).into();
        (base != address && self.is_inside(space, base, by)).then_some((base, by))
    }

    /// The parts of an address that is a sum with a constant and does not wrap.
    fn sum(&self, address: Value, space: MemorySpace) -> Option<(Value, u64)> {
        let (_, _, [base, by]) = self.arithmetic(address)?;
        let by = self.added(address, by)?;
        // The ends of physical memory are never mapped, so sums with small constants do not wrap.
        let is_small = space == MemorySpace::Physical && by < 1 << 31;
        let fits = is_small || self.fits(space, self.ranges.of(self.kernel, base), Some(base), by);
        fits.then_some((base, by))
    }

    /// The parts of an address that is a constant times a sum.
    fn scaled_sum(&self, address: Value, space: MemorySpace) -> Option<Scaled> {
        let (op @ (BinOp::Shl | BinOp::Mul), scalar, [sum, factor]) = self.arithmetic(address)? else { return None };
        let (_, _, [base, by]) = self.arithmetic(sum)?;
        let (by, times) = (self.added(sum, by)?, self.kernel.as_constant(factor)?);
        let by = if op == BinOp::Shl { by.checked_shl(times as u32)? } else { by.checked_mul(times)? };
        let (whole, factors) = (Op::Bin(op, scalar), [base, factor]);
        let known = self.scaled.get(&(whole, base, factor));
        let range = self.ranges.would_be(self.kernel, &whole, &factors, Ty::B32);
        // The constant alone must not wrap either.
        let fits = scalar.width == 32 && by <= u32::MAX.into() && self.fits(space, range, known, by);
        fits.then_some(Scaled { op: whole, factors, known, by })
    }

    /// Operation and operands of the instruction that defines a value.
    fn arithmetic(&self, value: Value) -> Option<(BinOp, Scalar, [Value; 2])> {
        let made = self.kernel.definition(value)?;
        let Op::Bin(op, scalar) = self.kernel.insts[made].op else { return None };
        Some((op, scalar, <[Value; 2]>::try_from(self.kernel.args(made)).ok()?))
    }

    /// The constant `c` if a value is another value plus `c`.
    fn added(&self, value: Value, by: Value) -> Option<u64> {
        let by = self.kernel.as_constant(by)?;
        let (op, _, [base, _]) = self.arithmetic(value)?;
        let is_sum = match op {
            BinOp::Add => true,
            // No carry: the bits of one operand are zero in the other.
            BinOp::Or => self.ranges.of(self.kernel, base).may & by == 0,
            _ => false,
        };
        is_sum.then_some(by)
    }

    /// Returns true if the sum of a value and a constant does not wrap, by its range, or because an executed access
    /// reaches that far.
    fn fits(&self, space: MemorySpace, range: Range, known: Option<Value>, by: u64) -> bool {
        let most = if space == MemorySpace::Physical { u64::MAX } else { u32::MAX.into() };
        let is_apart = by.checked_ilog2().is_none_or(|top| top < range.zeros());
        let is_inside = known.is_some_and(|known| self.is_inside(space, known, by));
        is_apart || is_inside || range.most.checked_add(by).is_some_and(|sum| sum <= most)
    }

    /// Returns true if the sum of an address and a constant does not wrap because that address was accessed.
    fn is_inside(&self, space: MemorySpace, address: Value, by: u64) -> bool {
        self.ends.get(&(space, address)).is_some_and(|end| by <= end + room(space))
    }

    fn multiply(&mut self, op: Op, factors: [Value; 2], out: &mut Vec<InstId>) -> Value {
        let added = self.kernel.add_inst(op, &factors, &[Ty::B32], InstFlags::empty(), Span::NONE);
        self.learn(added);
        out.push(added);
        self.kernel.result(added).expect("it was made with one result")
    }
}

/// Number of 32-bit addresses that no memory of a space uses.
fn room(space: MemorySpace) -> u64 {
    let largest = match space {
        MemorySpace::Shared | MemorySpace::Push | MemorySpace::Private(_) => 1 << 31,
        _ => Kernel::LARGEST_BUFFER,
    };
    (1 << 32) - largest
}

/// An address that is a product plus a constant.
struct Scaled {
    op: Op,
    factors: [Value; 2],
    /// The product, if it exists.
    known: Option<Value>,
    by: u64,
}

/// Values by keys; a block undoes its entries at its end.
struct Scoped<K, V> {
    map: FxHashMap<K, V>,
    /// The earlier value of each key that was set.
    before: Vec<(K, Option<V>)>,
}

impl<K, V> Default for Scoped<K, V> {
    fn default() -> Scoped<K, V> {
        Scoped { map: FxHashMap::default(), before: Vec::new() }
    }
}

impl<K: Copy + Eq + Hash, V: Copy> Scoped<K, V> {
    fn get(&self, key: &K) -> Option<V> {
        self.map.get(key).copied()
    }

    fn set(&mut self, key: K, value: V) {
        let before = self.map.insert(key, value);
        self.before.push((key, before));
    }

    fn mark(&self) -> usize {
        self.before.len()
    }

    fn back_to(&mut self, mark: usize) {
        for (key, before) in self.before.drain(mark..).rev() {
            match before {
                Some(value) => self.map.insert(key, value),
                None => self.map.remove(&key),
            };
        }
    }
}

fn access(op: &Op) -> Option<MemoryAccess> {
    match op {
        Op::Load(access) | Op::Store(access) | Op::Atomic { access, .. } => Some(*access),
        _ => None,
    }
}

fn set_offset(kernel: &mut Kernel, inst: InstId, offset: u32) {
    match &mut kernel.insts[inst].op {
        Op::Load(access) | Op::Store(access) | Op::Atomic { access, .. } => access.offset = offset,
        _ => {}
    }
}
