//! The known contents of memory at one point of the text, which need not be loaded again.
//!
//! It tracks the values that this invocation stored or loaded last, in a few places. A store to a place that may be the
//! same, an atomic or a barrier invalidates them. Storage buffers and physical memory may alias; constant buffers
//! ([`BufferWrites::Never`](crate::kernel::BufferWrites::Never)) and push constants never change. Coherent and volatile
//! memory is not tracked.

use crate::ir::Order;
use crate::kernel::image;
use crate::kernel::tree::Tree;
use crate::kernel::{Kernel, MemoryAccess, MemorySpace, Op, Value};

/// Maximum number of tracked places, so that the search takes constant time.
const PLACES: usize = 32;

/// Kinds of memory that do not overlap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Global,
    Shared,
    Private,
    Constant,
}

/// Sets of kinds, a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Kinds(u8);

impl Kinds {
    fn of(kind: Kind) -> Kinds {
        Kinds(match kind {
            Kind::Global => 1,
            Kind::Shared => 2,
            Kind::Private => 4,
            Kind::Constant => 0,
        })
    }

    /// The union of both.
    pub fn with(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub fn has(self, kind: Kind) -> bool {
        self.0 & Kinds::of(kind).0 != 0
    }
}

/// The memory that an instruction may change for this invocation, apart from instructions nested in it. An instruction
/// that orders accesses may change all shared memory.
pub fn written(kernel: &Kernel, op: &Op) -> Kinds {
    let seen_by_others = Kinds::of(Kind::Global).with(Kinds::of(Kind::Shared));
    match op {
        Op::Atomic { order, .. } if *order != Order::Relaxed => seen_by_others,
        Op::Store(access) | Op::Atomic { access, .. } => Kinds::of(kind(kernel, access.space)),
        Op::Barrier { .. } => seen_by_others,
        // An image may show the memory of a buffer.
        Op::Image { op, .. } if image::writes(*op) => Kinds::of(Kind::Global),
        _ => Kinds::default(),
    }
}

/// The memory that each instruction may change, nested instructions included.
pub fn written_inside(kernel: &Kernel, tree: &Tree) -> Vec<Kinds> {
    let mut all = vec![Kinds::default(); kernel.insts.len()];
    for block in tree.blocks.iter().rev() {
        for inst in &kernel.blocks[*block].insts {
            let inside = all[inst.index()].with(written(kernel, &kernel.insts[*inst].op));
            all[inst.index()] = inside;
            if let Some(owner) = tree.owner(*block) {
                all[owner.index()] = all[owner.index()].with(inside);
            }
        }
    }
    all
}

/// Returns true if the memory that a load reads cannot change while nothing of these kinds is written.
pub fn is_stable(kernel: &Kernel, access: MemoryAccess, written: Kinds) -> bool {
    !access.coherent && !access.volatile && !written.has(kind(kernel, access.space))
}

/// The kind of memory that an access touches.
pub fn kind(kernel: &Kernel, space: MemorySpace) -> Kind {
    match space {
        MemorySpace::Buffer(buffer) => match kernel.buffers.get(buffer as usize) {
            Some(buffer) if buffer.is_constant() => Kind::Constant,
            _ => Kind::Global,
        },
        MemorySpace::Push => Kind::Constant,
        MemorySpace::Shared => Kind::Shared,
        MemorySpace::Private(_) => Kind::Private,
        MemorySpace::Physical => Kind::Global,
    }
}

/// One component in memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct MemoryComponent {
    space: MemorySpace,
    address: Value,
    offset: u64,
    bytes: u8,
}

/// The known contents of memory.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    known: Vec<(MemoryComponent, Kind, Value)>,
}

impl Memory {
    /// The result of a load, if all its components are known.
    pub fn load(&self, access: MemoryAccess, address: Value) -> Option<Vec<Value>> {
        if access.coherent || access.volatile {
            return None;
        }
        let find = |component: MemoryComponent| {
            self.known.iter().rev().find(|(known, ..)| *known == component).map(|(.., value)| *value)
        };
        components(access, address).map(find).collect()
    }

    /// Learns the result of a load.
    pub fn loaded(&mut self, kernel: &Kernel, access: MemoryAccess, address: Value, values: &[Value]) {
        if access.coherent || access.volatile {
            return;
        }
        let kind = kind(kernel, access.space);
        for (component, value) in components(access, address).zip(values) {
            self.keep(component, kind, *value);
        }
    }

    /// Learns the value of a store. A single byte is truncated, so the stored value is not the value in memory.
    pub fn stored(&mut self, kernel: &Kernel, access: MemoryAccess, address: Value, values: &[Value]) {
        let kind = kind(kernel, access.space);
        let overlaps =
            |component: &MemoryComponent| !components(access, address).all(|new| are_apart(kernel, *component, new));
        self.known.retain(|(component, known, _)| *known != kind || !overlaps(component));
        if access.bytes > 1 {
            self.loaded(kernel, access, address, values);
        }
    }

    /// Forgets contents that may have changed.
    pub fn forget(&mut self, kinds: Kinds) {
        self.known.retain(|(_, kind, _)| !kinds.has(*kind));
    }

    fn keep(&mut self, component: MemoryComponent, kind: Kind, value: Value) {
        if self.known.len() == PLACES {
            self.known.remove(0);
        }
        self.known.push((component, kind, value));
    }
}

fn components(access: MemoryAccess, address: Value) -> impl Iterator<Item = MemoryComponent> {
    let offset = move |n: u8| u64::from(access.offset) + u64::from(n) * u64::from(access.bytes);
    (0..access.components).map(move |n| MemoryComponent {
        space: access.space,
        address,
        offset: offset(n),
        bytes: access.bytes,
    })
}

/// Returns true if two places share no byte.
fn are_apart(kernel: &Kernel, a: MemoryComponent, b: MemoryComponent) -> bool {
    if let (MemorySpace::Private(a), MemorySpace::Private(b)) = (a.space, b.space)
        && a != b
    {
        return true;
    }
    let start = |component: MemoryComponent| {
        let base = if a.address == b.address { Some(0) } else { kernel.as_constant(component.address) };
        base.map(|base| base.wrapping_add(component.offset))
    };
    let (Some(a_start), Some(b_start)) = (start(a), start(b)) else { return false };
    a.space == b.space && (a_start + u64::from(a.bytes) <= b_start || b_start + u64::from(b.bytes) <= a_start)
}
