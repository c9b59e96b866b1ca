//! Loads, stores and atomics: from memory places to accesses of one to four components.
//!
//! Neighbouring scalars of one size become one access if the address is known to be a multiple of the access's size,
//! rounded up to a power of two. A bool takes 32 bits; any nonzero value is true.

use super::pointer::{MemoryRef, Pointer, power_of_two};
use super::shape::{Held, SCALAR_LIMIT};
use super::{Lower, Scalars};
use crate::ir::{self, AtomicOp, InstFlags, MemoryKinds, Op as IrOp, Order, Scalar, ScalarKind, Scope, Type, TypeId};
use crate::kernel::{BinOp, CmpOp, MemoryAccess, MemorySpace, Op, Ty, Value};
use std::rc::Rc;

/// Accesses of a copy that load before any stores: enough that the memory has something to do.
const PIECE: usize = 3;

/// A scalar in memory, with its offset from the place.
#[derive(Clone, Copy, Debug)]
struct Cell {
    offset: u32,
    scalar: Scalar,
}

/// Adjacent scalars that one access covers.
struct Run<'c> {
    access: MemoryAccess,
    address: Option<Value>,
    cells: &'c [Cell],
}

impl Lower<'_> {
    pub fn load(&mut self, pointer: &Pointer, ty: TypeId) -> Scalars {
        match *pointer {
            Pointer::Slots { first, ty } => {
                let count = self.shapes.scalars(ty).len();
                self.vars.range(first, count).into()
            }
            Pointer::Component { first, count, index } => {
                let all: Scalars = self.vars.range(first, count as usize).into();
                Scalars::from_elem(self.pick(&all, index), 1)
            }
            Pointer::Memory(memory) => self.load_memory(memory),
            Pointer::BuiltIn { name, ty } => self.built_ins(name, ty),
            Pointer::BuiltInComponent { name, index } => Scalars::from_elem(self.built_in_component(name, index), 1),
            Pointer::None | Pointer::Buffers { .. } | Pointer::Resource(_) | Pointer::Combined { .. } => {
                let scalars = self.shapes.scalars(ty);
                self.undefined(&scalars)
            }
        }
    }

    pub fn store(&mut self, pointer: &Pointer, values: &[Value]) {
        match *pointer {
            Pointer::Slots { first, .. } => {
                (first..).zip(values).for_each(|(slot, value)| self.vars.set(slot, *value));
            }
            Pointer::Component { first, count, index } => {
                let Some(new) = values.first().copied() else { return };
                let old: Scalars = self.vars.range(first, count as usize).into();
                let new = self.replace(&old, index, new);
                (first..).zip(new).for_each(|(slot, value)| self.vars.set(slot, value));
            }
            Pointer::Memory(memory) => self.store_memory(memory, values),
            Pointer::None | Pointer::BuiltIn { .. } | Pointer::BuiltInComponent { .. } | Pointer::Buffers { .. } => {}
            Pointer::Resource(_) | Pointer::Combined { .. } => {}
        }
    }

    /// Copies the value that `load` would load to another pointer. Between memories of the same layout it is copied
    /// piece by piece, so that few values are live at once. Partial overlap, which no layout creates, would have no
    /// defined order.
    pub fn copy(&mut self, to: &Pointer, from: &Pointer, load: &ir::Inst) -> Scalars {
        let pieces = match (to, from) {
            (Pointer::Memory(to), Pointer::Memory(from)) if to.held == from.held => Some((*to, *from)),
            _ => None,
        };
        let flags = self.b.flags;
        let watched = (flags | load.flags).intersects(InstFlags::COHERENT | InstFlags::VOLATILE);
        if let Some((to, from)) = pieces.filter(|_| !watched) {
            return self.copy_memory(to, from);
        }
        self.b.flags = load.flags;
        let values = self.load(from, load.ty);
        self.b.flags = flags;
        self.store(to, &values);
        values
    }

    fn copy_memory(&mut self, to: MemoryRef, from: MemoryRef) -> Scalars {
        let cells = self.cells(from.held);
        let mut values = Scalars::new();
        let mut rest = &cells[..];
        for accesses in runs(from, &cells, self.b.flags).chunks(PIECE) {
            let (piece, others) = rest.split_at(accesses.iter().map(|run| run.cells.len()).sum());
            let loaded = self.load_cells(from, piece);
            self.store_cells(to, piece, &loaded);
            values.extend(loaded);
            rest = others;
        }
        values
    }

    fn load_memory(&mut self, memory: MemoryRef) -> Scalars {
        let cells = self.cells(memory.held);
        self.load_cells(memory, &cells)
    }

    fn load_cells(&mut self, memory: MemoryRef, cells: &[Cell]) -> Scalars {
        let mut values = Scalars::new();
        for run in runs(memory, cells, self.b.flags) {
            let address = self.address(run.address);
            let loaded = self.b.load(run.access, address);
            for (cell, value) in run.cells.iter().zip(loaded) {
                values.push(self.loaded_scalar(cell.scalar, value));
            }
        }
        values
    }

    pub fn store_memory(&mut self, memory: MemoryRef, values: &[Value]) {
        let cells = self.cells(memory.held);
        self.store_cells(memory, &cells, values);
    }

    fn store_cells(&mut self, memory: MemoryRef, cells: &[Cell], values: &[Value]) {
        let mut values = values.iter();
        for run in runs(memory, cells, self.b.flags) {
            let stored: Scalars =
                run.cells.iter().zip(&mut values).map(|(c, v)| self.stored_scalar(c.scalar, *v)).collect();
            let address = self.address(run.address);
            self.b.store(run.access, address, &stored);
        }
    }

    fn address(&mut self, address: Option<Value>) -> Value {
        address.unwrap_or_else(|| self.b.u32(0))
    }

    fn loaded_scalar(&mut self, scalar: Scalar, value: Value) -> Value {
        let zero_extended = Scalar { kind: ScalarKind::Uint, width: scalar.width };
        match scalar {
            Scalar::BOOL => {
                let zero = self.b.u32(0);
                self.b.cmp(CmpOp::Ne, Scalar::U32, value, zero)
            }
            Scalar { kind: ScalarKind::Sint, width: 8 } => self.b.convert(zero_extended, scalar, value),
            _ => value,
        }
    }

    fn stored_scalar(&mut self, scalar: Scalar, value: Value) -> Value {
        if scalar.is_bool() { self.b.convert(Scalar::BOOL, Scalar::U32, value) } else { value }
    }

    /// The scalars in memory, in the order of the value's scalars.
    fn cells(&mut self, held: Held) -> Rc<[Cell]> {
        let mut cells = Vec::new();
        self.collect_cells(held, 0, &mut cells);
        if cells.len() > SCALAR_LIMIT as usize {
            self.stop("a value of more than 65536 scalars is too large for a kernel");
        }
        cells.into()
    }

    fn collect_cells(&mut self, held: Held, offset: u32, cells: &mut Vec<Cell>) {
        if let Held::Type(ty) = held {
            match self.shapes.types.get(ty) {
                Type::Scalar(scalar) => return cells.push(Cell { offset, scalar }),
                Type::BufferReference { .. } => {
                    return cells.push(Cell { offset, scalar: Scalar { kind: ScalarKind::Uint, width: 64 } });
                }
                _ => {}
            }
        }
        let count = match held {
            Held::Type(ty) => self.shapes.part_count(ty).unwrap_or(0),
            Held::Column { rows, .. } => rows,
        };
        for index in 0..count {
            let Some(part) = self.shapes.part(held, index).filter(|_| cells.len() <= SCALAR_LIMIT as usize) else {
                return;
            };
            self.collect_cells(part.held, offset.wrapping_add(part.offset), cells);
        }
    }

    /// `elements of the run-time array`: the bound size, minus the bytes before the array, in whole elements.
    pub fn array_length(&mut self, block: ir::Value) -> Value {
        let Pointer::Memory(MemoryRef { space: MemorySpace::Buffer(buffer), offset, held: Held::Type(ty), .. }) =
            self.pointer(block)
        else {
            return self.b.kernel.undefined(Ty::B32);
        };
        let last = self.shapes.part_count(ty).and_then(|count| count.checked_sub(1));
        let array = last.and_then(|last| self.shapes.part(Held::Type(ty), last));
        let element = array.and_then(|array| Some((array, self.shapes.part(array.held, 0)?)));
        let Some((array, element)) = element else { return self.b.kernel.undefined(Ty::B32) };
        let bytes = self.b.value(Op::BufferBytes(buffer), &[], Ty::B32);
        let before = self.b.u32(offset.wrapping_add(array.offset));
        let rest = self.b.bin(BinOp::Sub, Scalar::U32, bytes, before);
        let stride = self.b.u32(element.stride.max(1));
        self.b.bin(BinOp::Div, Scalar::U32, rest, stride)
    }

    pub fn atomic(&mut self, inst: &ir::Inst) -> Scalars {
        let IrOp::Atomic { op, pointer, args, scope, order } = inst.op else { return Scalars::new() };
        let pointer = self.pointer(pointer);
        let Some((memory, cell)) = self.atomic_memory(&pointer) else {
            self.not_yet("atomic operations on such memory");
            let scalars = self.shapes.scalars(inst.ty);
            return self.undefined(&scalars);
        };
        let args: Scalars = self.list(args).iter().map(|arg| self.scalar(*arg)).collect();
        let access = access(memory, cell, 1, self.b.flags);
        let address = self.address(memory.address);
        let operands: Scalars = [address].into_iter().chain(args).collect();
        if matches!(order, Order::Release | Order::AcquireRelease) {
            self.order_all(scope, Order::Release);
        }
        let operation = Op::Atomic { op, ty: cell.scalar, access, scope, order: Order::Relaxed };
        let result = match op {
            AtomicOp::Store => {
                self.b.effect(operation, &operands);
                Scalars::new()
            }
            _ => Scalars::from_elem(self.b.value(operation, &operands, Ty::of(cell.scalar)), 1),
        };
        if matches!(order, Order::Acquire | Order::AcquireRelease) {
            self.order_all(scope, Order::Acquire);
        }
        result
    }

    /// Orders memory before or after an atomic operation: kernels have a separate barrier for that.
    pub fn order_all(&mut self, memory: Scope, order: Order) {
        let kinds = MemoryKinds::BUFFER | MemoryKinds::SHARED | MemoryKinds::IMAGE;
        self.b.effect(Op::Barrier { execution: None, memory, kinds, order }, &[]);
    }

    fn atomic_memory(&mut self, pointer: &Pointer) -> Option<(MemoryRef, Cell)> {
        let Pointer::Memory(memory) = *pointer else { return None };
        let Held::Type(ty) = memory.held else { return None };
        let Type::Scalar(scalar) = self.shapes.types.get(ty) else { return None };
        Some((memory, Cell { offset: 0, scalar }))
    }
}

/// An access to `count` scalars from a cell of a place on. Volatile memory is also coherent (GLSL 4.60, 4.10, "Memory
/// Qualifiers").
fn access(memory: MemoryRef, first: Cell, count: usize, flags: InstFlags) -> MemoryAccess {
    let offset = memory.offset.wrapping_add(first.offset);
    MemoryAccess {
        space: memory.space,
        offset,
        bytes: first.scalar.bytes() as u8,
        components: count as u8,
        align: memory.align.min(power_of_two(offset)),
        coherent: flags.intersects(InstFlags::COHERENT | InstFlags::VOLATILE),
        volatile: flags.contains(InstFlags::VOLATILE),
    }
}

/// The accesses that touch all cells, in order.
fn runs(memory: MemoryRef, cells: &[Cell], flags: InstFlags) -> Vec<Run<'_>> {
    let mut runs = Vec::new();
    let mut rest = cells;
    while let Some(first) = rest.first() {
        let (cells, others) = rest.split_at(run_length(memory, *first, rest));
        let access = access(memory, *first, cells.len(), flags);
        runs.push(Run { access, address: memory.address, cells });
        rest = others;
    }
    runs
}

/// The number of cells, from the first on, that one access can cover.
fn run_length(memory: MemoryRef, first: Cell, cells: &[Cell]) -> usize {
    let bytes = first.scalar.bytes();
    let next_to =
        |(at, cell): (u32, &Cell)| cell.scalar.bytes() == bytes && cell.offset == first.offset.wrapping_add(at * bytes);
    let side_by_side = (0..4).zip(cells).take_while(|(at, cell)| next_to((*at, cell))).count();
    let align = memory.align.min(power_of_two(memory.offset.wrapping_add(first.offset)));
    let fits = |count: &usize| align.is_multiple_of(bytes * count.next_power_of_two() as u32);
    (1..=side_by_side).rev().find(fits).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::MemorySpace;

    fn lengths(align: u32, offset: u32, count: u32) -> Vec<u8> {
        let held = Held::Type(crate::ir::Types::F32);
        let memory = MemoryRef { space: MemorySpace::Shared, address: None, offset, align, held };
        let cells: Vec<Cell> = (0..count).map(|at| Cell { offset: 4 * at, scalar: Scalar::F32 }).collect();
        runs(memory, &cells, InstFlags::empty()).iter().map(|run| run.access.components).collect()
    }

    #[test]
    fn accesses_are_as_wide_as_they_are_aligned() {
        assert_eq!(lengths(16, 0, 4), [4]);
        assert_eq!(lengths(16, 0, 3), [3]);
        assert_eq!(lengths(16, 8, 4), [2, 2]);
        assert_eq!(lengths(4, 0, 3), [1, 1, 1]);
        assert_eq!(lengths(16, 4, 7), [1, 2, 4]);
    }
}
