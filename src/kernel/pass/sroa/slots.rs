//! The variables that can become values, and the parts that each access touches.
//!
//! A variable can become values if all accesses divide it into the same parts. The variable may have many parts if all
//! addresses are constant; otherwise only as many as are worth a comparison each.

use crate::kernel::pass::range::Ranges;
use crate::kernel::tree::Tree;
use crate::kernel::{BinOp, InstId, Kernel, MemoryAccess, MemorySpace, Op, PrivateVariable, Ty, Value};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Limit of the parts of a variable with a run-time address. LLVM keeps arrays of up to 16 words in registers too
/// (`AMDGPUPromoteAlloca`).
const COMPARED: usize = 16;

/// Parts of any other variable.
const KNOWN: usize = 256;

/// Limit of the parts of all variables together: each is a value wherever constructs end.
const ALL: usize = 1024;

/// A part of a variable that becomes one value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Slot {
    /// Its first byte, from the start of private memory.
    pub start: u32,
    pub ty: Ty,
}

/// The parts that an access may touch, for each of its components, as numbers of [`Slots::all`].
pub type Touched = Vec<Vec<usize>>;

/// The variables that become values.
#[derive(Debug, Default)]
pub struct Slots {
    pub all: Vec<Slot>,
    pub touched: FxHashMap<InstId, Touched>,
}

impl Slots {
    pub fn of(kernel: &Kernel, tree: &Tree) -> Slots {
        let mut ranges = Ranges::new(kernel);
        let mut found: Vec<Found> = kernel.private.iter().map(|_| Found::default()).collect();
        for inst in tree.insts(kernel) {
            if let Some((variable, access)) = private(kernel, inst) {
                let address = kernel.args(inst)[0];
                if let Some(found) = found.get_mut(variable as usize) {
                    let reach = Reach { kernel, ranges: &ranges, variable: kernel.private[variable as usize], access };
                    found.add(inst, access, reach.starts(address));
                }
            } else if let Some(result) = kernel.result(inst) {
                ranges.learn(kernel, &kernel.insts[inst].op, kernel.args(inst), result);
            }
        }
        let mut slots = Slots::default();
        found.into_iter().filter(Found::is_worth_it).for_each(|found| slots.add(found));
        slots
    }

    fn add(&mut self, found: Found) {
        if self.all.len() + found.parts.len() > ALL {
            return;
        }
        let first = self.all.len();
        let number = |start: &u32| first + found.parts.range(..start).count();
        for (inst, starts) in &found.accesses {
            self.touched.insert(*inst, starts.iter().map(|starts| starts.iter().map(number).collect()).collect());
        }
        self.all.extend(found.parts.iter().map(|(start, ty)| Slot { start: *start, ty: *ty }));
    }

    /// The parts that an instruction writes.
    pub fn written(&self, kernel: &Kernel, inst: InstId) -> impl Iterator<Item = usize> {
        let is_store = matches!(kernel.insts[inst].op, Op::Store(_));
        let touched = self.touched.get(&inst).filter(|_| is_store);
        touched.into_iter().flatten().flatten().copied()
    }
}

/// The variable that a load or store touches.
fn private(kernel: &Kernel, inst: InstId) -> Option<(u32, MemoryAccess)> {
    match kernel.insts[inst].op {
        Op::Load(access) | Op::Store(access) => match access.space {
            MemorySpace::Private(variable) => Some((variable, access)),
            _ => None,
        },
        _ => None,
    }
}

/// The findings about one variable.
#[derive(Default)]
struct Found {
    /// Its parts by their first bytes.
    parts: BTreeMap<u32, Ty>,
    /// The first bytes that each access may touch, by its components.
    accesses: Vec<(InstId, Vec<Vec<u32>>)>,
    /// True if an address is known only at run time.
    compared: bool,
    refused: bool,
}

impl Found {
    fn add(&mut self, inst: InstId, access: MemoryAccess, starts: Option<Vec<Vec<u32>>>) {
        // A byte is truncated when it is stored, so it is not its own value.
        let Some(starts) = starts.filter(|_| !access.volatile && access.bytes > 1 && !self.refused) else {
            self.refused = true;
            return;
        };
        let ty = access.component();
        for start in starts.iter().flatten() {
            self.refused |= *self.parts.entry(*start).or_insert(ty) != ty;
        }
        self.compared |= starts.iter().any(|starts| starts.len() > 1);
        self.refused |= self.parts.len() > KNOWN;
        self.accesses.push((inst, starts));
    }

    fn is_worth_it(&self) -> bool {
        let is_apart = |((start, ty), (next, _)): ((&u32, &Ty), (&u32, &Ty))| start + ty.bits() / 8 <= *next;
        let few = self.parts.len() <= if self.compared { COMPARED } else { KNOWN };
        !self.refused && few && self.parts.iter().zip(self.parts.iter().skip(1)).all(is_apart)
    }
}

/// The parts of a variable that an access may touch. Only places within the variable count, because others are
/// undefined.
struct Reach<'k> {
    kernel: &'k Kernel,
    ranges: &'k Ranges,
    variable: PrivateVariable,
    access: MemoryAccess,
}

impl Reach<'_> {
    /// The possible first bytes of each component; `None` if there are too many, or none.
    fn starts(&self, address: Value) -> Option<Vec<Vec<u32>>> {
        let bytes = u32::from(self.access.bytes);
        let component = |n: u32| self.access.offset.wrapping_add(n * bytes);
        (0..self.access.components.into()).map(|n| self.component(address, component(n))).collect()
    }

    fn component(&self, address: Value, offset: u32) -> Option<Vec<u32>> {
        let PrivateVariable { start, .. } = self.variable;
        let last = self.variable.end().checked_sub(self.access.bytes.into())?;
        if let Some(base) = self.kernel.as_constant(address) {
            let at = offset.wrapping_add(base as u32);
            return (start..=last).contains(&at).then(|| vec![at]);
        }
        let step = self.step(address);
        let first = start + (i64::from(offset) - i64::from(start)).rem_euclid(step.into()) as u32;
        let count = last.checked_sub(first)? / step + 1;
        (count as usize <= COMPARED).then(|| (0..count).map(|n| first + n * step).collect())
    }

    /// The known factor of the address.
    fn step(&self, address: Value) -> u32 {
        let bytes = u32::from(self.access.bytes);
        let step = multiple(self.kernel, self.ranges, address, DEPTH);
        if step.is_multiple_of(bytes) { step } else { bytes }
    }
}

/// Maximum number of sums and products to look through.
const DEPTH: u32 = 4;

/// The known factor of a number: a power of two, or any factor if it did not wrap.
fn multiple(kernel: &Kernel, ranges: &Ranges, value: Value, depth: u32) -> u32 {
    let range = ranges.of(kernel, value);
    let known = 1 << range.zeros().min(16);
    let Some(inst) = kernel.definition(value).filter(|_| depth > 0) else { return known };
    let most = |at: usize| ranges.of(kernel, kernel.args(inst)[at]).most;
    let factor = match kernel.insts[inst].op {
        Op::Bin(BinOp::Mul, _) => {
            let [number, by] = kernel.args(inst) else { return known };
            let by = kernel.as_constant(*by).filter(|by| (1..1 << 16).contains(by));
            let by = by.filter(|by| ranges.of(kernel, *number).most.saturating_mul(*by) <= u32::MAX.into());
            by.unwrap_or(1) as u32
        }
        Op::Bin(BinOp::Add, _) if most(0).saturating_add(most(1)) <= u32::MAX.into() => {
            let part = |at: usize| match kernel.as_constant(kernel.args(inst)[at]) {
                Some(bits) => bits as u32,
                None => multiple(kernel, ranges, kernel.args(inst)[at], depth - 1),
            };
            common_divisor(part(0), part(1))
        }
        _ => 1,
    };
    factor.max(known)
}

fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a.max(1) } else { common_divisor(b, a % b) }
}
