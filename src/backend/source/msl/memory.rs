//! Memory: bytes of buffers, atomic operations (section 6.15) and barriers (section 6.9).

use super::Msl;
use super::dialect::Part;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::{Body, Made};
use crate::backend::source::language::Ordering;
use crate::backend::source::layout::Packing;
use crate::backend::source::place::Address;
use crate::backend::source::uniform::parted;
use crate::backend::source::writer::Writer;
use crate::ir::{
    AtomicOp, EntryPoint, InstId, MemoryKinds, Op, Order, Scalar, ScalarKind, Scope, Space, Stage, Type, TypeId, Types,
    Value, Values,
};

const MEMORY_ORDER: &str = "memory_order_relaxed";

impl Msl {
    /// A vector of consecutive components, without its own alignment.
    pub fn packed_name(&self, t: &mut Writer, scalar: Scalar, size: u8) -> String {
        format!("packed_{}", t.vector_name(scalar, size))
    }

    /// Members that pad.
    pub fn pad_lines(&self, _: Packing, offset: u32, bytes: u32) -> Vec<String> {
        vec![format!("    char pad_{offset}[{bytes}];")]
    }

    pub fn read_bytes(&self, b: &mut Body, address: &Address, scalar: Scalar, (more, size): (u32, u8)) -> Expr {
        let stored = if scalar.is_bool() { Scalar::U32 } else { scalar };
        let name = if size == 1 { b.t.vector_name(stored, 1) } else { self.packed_name(b.t, stored, size) };
        let place = self.place_at(b, address, more, &name);
        let read = place.reading_memory(true);
        let [from, to] = [stored, scalar].map(|scalar| b.t.types.vector(scalar, size));
        let value = if size == 1 { read } else { Expr::call(&b.t.type_name(from), &[read]) };
        b.t.converted(&value, from, to)
    }

    pub fn write_bytes(&self, b: &mut Body, address: &Address, (scalar, size): (Scalar, u8), value: &Expr) {
        let stored = if scalar.is_bool() { Scalar::U32 } else { scalar };
        let [from, to] = [scalar, stored].map(|scalar| b.t.types.vector(scalar, size));
        let value = b.t.converted(value, from, to);
        let name = if size == 1 { b.t.vector_name(stored, 1) } else { self.packed_name(b.t, stored, size) };
        let place = self.place_at(b, address, 0, &name);
        b.line(format!("{} = {}", place.text, value.text));
    }

    /// The value at an address, as a type.
    fn place_at(&self, b: &Body, address: &Address, more: u32, ty: &str) -> Expr {
        let offset = address.offset(more);
        let space = address.global.map_or("device ", |global| self.space_words(b.t, global));
        let buffer = &address.buffer;
        let at = match offset.text.as_str() {
            "0" => buffer.at(Level::Unary),
            _ => format!("({} + {})", buffer.at(Level::Sum), offset.at(Level::Sum)),
        };
        Expr::new(format!("*({space}{ty}*){at}"), Level::Unary).reading(&offset.reads)
    }

    pub fn array_length(&self, b: &mut Body, block: Value) -> Expr {
        let Some((_, ty)) = b.pointee_of(block) else { return b.t.stand_in("lengths of such arrays") };
        let Type::Struct(of) = b.t.types.get(ty) else {
            return b.t.broken("the length of something other than a block");
        };
        let last = b.t.types.structs[of].members.last().map(|member| (member.ty, member.offset.unwrap_or(0)));
        let Some((Type::Array { stride: Some(stride), .. }, offset)) = last.map(|(ty, at)| (b.t.types.get(ty), at))
        else {
            return b.t.broken("the length of something other than an array");
        };
        let f = b.f;
        let (id, element) = match block {
            Value::Global(id) => (id, None),
            Value::Inst(at) => match f.insts[at].op {
                Op::Access { base: Value::Global(id), indices } => match f.values(indices) {
                    [index] => (id, Some(*index)),
                    _ => return b.t.stand_in("lengths of arrays in arrays of arrays of blocks"),
                },
                _ => return b.t.stand_in("lengths of arrays that parameters point to"),
            },
            _ => return b.t.stand_in("lengths of arrays that parameters point to"),
        };
        let ty = b.t.module.globals[id].ty;
        if element.is_some() && self.is_open(b.t, ty) {
            return b.t.stand_in("lengths of arrays in arrays of blocks of any length");
        }
        let element = element.map(|index| match b.t.module.known_u32(index) {
            Some(known) => Expr::primary(known.to_string()),
            None => b.value(index),
        });
        let Some(bytes) = self.size_index(b, id, element) else {
            return b.t.broken("the length of a buffer whose size is not known");
        };
        let rest = match offset {
            0 => bytes,
            _ => Expr::binary("-", Level::Sum, &bytes, &Expr::primary(offset.to_string())),
        };
        Expr::binary("/", Level::Product, &rest, &Expr::primary(stride.to_string())).reading_memory(false)
    }

    /// An atomic operation, with the fences that order the accesses around it: all of the language's are relaxed.
    pub fn atomic(&self, b: &mut Body, op: AtomicOp, pointer: Value, args: Values, how: Ordering) -> Option<Expr> {
        let ty = b.pointee_of(pointer).map_or(Types::U32, |(_, ty)| ty);
        self.ordered(b, how, ty, |b| self.relaxed_atomic(b, op, pointer, args))
    }

    /// An atomic operation that `write` writes, between fences, with a result of a type.
    pub fn ordered(
        &self,
        b: &mut Body,
        (scope, order): Ordering,
        ty: TypeId,
        write: impl FnOnce(&mut Body) -> Option<Expr>,
    ) -> Option<Expr> {
        let is_relaxed = order == Order::Relaxed || scope == Scope::Invocation;
        if is_relaxed || !self.needs_for(b.t, Part::Fences, "atomic operations that order memory") {
            return write(b);
        }
        let fence = self.fence(b, MemoryKinds::BUFFER | MemoryKinds::SHARED | MemoryKinds::IMAGE, scope);
        if order != Order::Acquire {
            b.line(fence.clone());
        }
        let made = write(b)?;
        if order == Order::Release {
            return Some(made);
        }
        let found = b.variable("found", ty);
        b.line(format!("{} = {}", found.text, made.text));
        b.line(fence);
        Some(found)
    }

    fn relaxed_atomic(&self, b: &mut Body, op: AtomicOp, pointer: Value, args: Values) -> Option<Expr> {
        let Some((space, ty)) = b.pointee_of(pointer) else {
            return Some(b.t.stand_in("atomic operations on such memory"));
        };
        let Some((scalar, 1)) = b.t.shape(ty) else {
            return Some(b.t.stand_in("atomic operations on such types"));
        };
        let args = b.list(args);
        let Some(name) = self.atomic_type(b, op, scalar, space) else { return Some(Expr::primary("0")) };
        let words = if space == Space::Workgroup { "threadgroup " } else { "device " };
        let place = match b.made(pointer) {
            Made::Bytes(address) => {
                let offset = address.offset(0);
                format!("({words}{name}*)({} + {})", address.buffer.at(Level::Sum), offset.at(Level::Sum))
            }
            Made::One(path) if self.is_component(b, pointer) => of_component(&path.text, words, name),
            Made::One(path) => format!("({words}{name}*)&{}", path.at(Level::Primary)),
            Made::Laid(laid) => format!("({words}{name}*)&{}", laid.path.at(Level::Primary)),
            Made::Pair(_) => return Some(b.t.broken("an atomic operation on resources")),
        };
        self.atomic_call(b, op, ty, Expr::primary(place), args)
    }

    /// Returns true if a pointer is to a component of a vector, which has no address in the language.
    fn is_component(&self, b: &mut Body, pointer: Value) -> bool {
        let f = b.f;
        let Value::Inst(id) = pointer else { return false };
        let Op::Access { base, indices } = f.insts[id].op else { return false };
        let Some((_, mut ty)) = b.pointee_of(base) else { return false };
        let Some((_, before)) = f.values(indices).split_last() else { return false };
        for index in before {
            let number = b.t.module.known_u32(*index).unwrap_or(0);
            match b.t.types.element(ty, number) {
                Some(part) => ty = part,
                None => return false,
            }
        }
        matches!(b.t.types.get(ty), Type::Vector { .. })
    }

    /// The type of atomic places (section 2.6).
    fn atomic_type(&self, b: &mut Body, op: AtomicOp, scalar: Scalar, space: Space) -> Option<&'static str> {
        let is_move = matches!(op, AtomicOp::Load | AtomicOp::Store | AtomicOp::Exchange);
        match (scalar.kind, scalar.width) {
            (ScalarKind::Uint, 32) => Some("atomic_uint"),
            (ScalarKind::Sint, 32) => Some("atomic_int"),
            (ScalarKind::Float, 32) if is_move || op == AtomicOp::Add => {
                if space == Space::Workgroup {
                    b.t.lacks("atomic operations on floats in memory of workgroups");
                }
                self.needs(b.t, Part::FloatAtomics).then_some("atomic_float")
            }
            (ScalarKind::Float, _) => {
                b.t.lacks("such atomic operations on floats");
                None
            }
            _ => {
                b.t.unsupported("atomic operations on such types");
                None
            }
        }
    }

    /// A call of an atomic function on a place.
    fn atomic_call(&self, b: &mut Body, op: AtomicOp, ty: TypeId, place: Expr, args: Vec<Expr>) -> Option<Expr> {
        let order = Expr::primary(MEMORY_ORDER);
        let name = match op {
            AtomicOp::Add => "atomic_fetch_add_explicit",
            AtomicOp::Sub => "atomic_fetch_sub_explicit",
            AtomicOp::Min => "atomic_fetch_min_explicit",
            AtomicOp::Max => "atomic_fetch_max_explicit",
            AtomicOp::And => "atomic_fetch_and_explicit",
            AtomicOp::Or => "atomic_fetch_or_explicit",
            AtomicOp::Xor => "atomic_fetch_xor_explicit",
            AtomicOp::Exchange => "atomic_exchange_explicit",
            AtomicOp::Load => "atomic_load_explicit",
            AtomicOp::Store => {
                let call = Expr::call("atomic_store_explicit", &[place, args[0].clone(), order]);
                b.line(call.text);
                return None;
            }
            AtomicOp::CompareExchange => {
                let logical = b.t.types.logical(ty);
                let helper = self.help(b.t, "compare_exchange", logical);
                // The comparand comes first in the helper.
                return Some(Expr::call(helper, &[place, args[1].clone(), args[0].clone()]).reading_memory(true));
            }
        };
        let mut list = vec![place];
        list.extend(args);
        list.push(order);
        Some(Expr::call(name, &list).reading_memory(true))
    }

    pub fn barrier(&self, b: &mut Body, execution: Option<Scope>, memory: Scope, kinds: MemoryKinds, order: Order) {
        // Outputs of a patch are in buffers, and levels in memory of the workgroup.
        if (b.t.stage(), execution) == (Some(Stage::TessControl), Some(Scope::Workgroup)) {
            return b.line("threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup)".to_string());
        }
        let (all, waits, is_first) = self.run_of(b);
        let orders = !kinds.is_empty() && order != Order::Relaxed && memory != Scope::Invocation;
        let reach = reach(memory, kinds);
        let is_wide = orders && reach > Scope::Workgroup;
        let has_fences = self.has(b.t, Part::Fences);
        let fence = (is_wide && has_fences).then(|| self.fence(b, kinds, reach));
        let wait = match execution {
            // Consecutive barriers become one.
            Some(Scope::Workgroup) if is_first => Some(format!("threadgroup_barrier({})", self.flags_of(b, all))),
            Some(Scope::Subgroup) => Some(format!("simdgroup_barrier({})", self.flags_of(b, kinds))),
            Some(Scope::Workgroup | Scope::Invocation) => None,
            Some(_) => return b.t.lacks("barriers of such a scope"),
            None if fence.is_some() || waits || !orders => None,
            None if has_fences => Some(self.fence(b, kinds, reach)),
            None => self.barrier_for_fence(b, kinds, reach),
        };
        let after = fence.clone().filter(|_| wait.is_some());
        fence.into_iter().chain(wait).chain(after).for_each(|line| b.line(line));
    }

    /// The memory that a barrier orders; workgroup memory includes the payload.
    fn flags_of(&self, b: &Body, kinds: MemoryKinds) -> String {
        let is_of_payload = b.t.stage() == Some(Stage::Task) && b.t.msl.mesh.payload.is_some();
        match flags_of(kinds) {
            flags if is_of_payload && kinds.intersects(MemoryKinds::SHARED) => {
                format!("{flags} | mem_flags::mem_object_data")
            }
            flags => flags,
        }
    }

    /// Orders memory for the whole device, which barriers do not.
    fn fence(&self, b: &Body, kinds: MemoryKinds, reach: Scope) -> String {
        let scope = match reach {
            Scope::Subgroup => "thread_scope_simdgroup",
            Scope::Workgroup => "thread_scope_threadgroup",
            _ => "thread_scope_device",
        };
        format!("atomic_thread_fence({}, memory_order_seq_cst, {scope})", self.flags_of(b, kinds))
    }

    /// Finds the memory barriers that a part of the workgroup may not reach, if barriers replace fences.
    pub fn find_parted_fences(&self, t: &mut Writer, entry: &EntryPoint) {
        if entry.stage.has_workgroups() && !self.has(t, Part::Fences) {
            t.msl.parted_fences =
                parted(t, |op| matches!(op, Op::Barrier { execution: None, .. })).into_iter().collect();
        }
    }

    /// A barrier instead of a fence, in versions without fences: all participating threads wait.
    fn barrier_for_fence(&self, b: &mut Body, kinds: MemoryKinds, reach: Scope) -> Option<String> {
        let flags = self.flags_of(b, kinds);
        let has_workgroups = b.t.stage().is_some_and(Stage::has_workgroups);
        let is_reached = |id| has_workgroups && !b.t.msl.parted_fences.contains(&(b.id, id));
        match reach {
            Scope::Subgroup => Some(format!("simdgroup_barrier({flags})")),
            Scope::Workgroup if b.current.is_some_and(is_reached) => Some(format!("threadgroup_barrier({flags})")),
            Scope::Workgroup => {
                let words = "memory barriers where invocations of the workgroup may part";
                self.needs_for(b.t, Part::Fences, words);
                None
            }
            _ => {
                self.needs(b.t, Part::Fences);
                None
            }
        }
    }

    /// The memory that consecutive barriers order, and true if one of them waits for the workgroup; false for the last
    /// value if an earlier barrier already does this.
    fn run_of(&self, b: &Body) -> (MemoryKinds, bool, bool) {
        let Some((block, at)) = b.current.and_then(|id| b.uses.place(id)) else {
            return (MemoryKinds::empty(), false, true);
        };
        let at = at as usize;
        let list = &b.f.blocks[block].insts;
        let barrier = |id: &InstId| match b.f.insts[*id].op {
            Op::Barrier { execution, kinds, .. } => Some((kinds, execution == Some(Scope::Workgroup))),
            _ => None,
        };
        let before: Vec<_> = list[..at].iter().rev().map_while(barrier).collect();
        let after = list[at..].iter().map_while(barrier);
        let is_first = !before.iter().any(|(_, waits)| *waits);
        let all = before.iter().copied().chain(after);
        let (kinds, waits) =
            all.fold((MemoryKinds::empty(), false), |(all, any), (own, waits)| (all | own, any | waits));
        (kinds, waits, is_first)
    }
}

/// The address of a vector component as an atomic place, at an offset from the vector's.
fn of_component(path: &str, words: &str, name: &str) -> String {
    let (vector, index) = match path.rsplit_once('.') {
        Some((vector, letter)) if letter.len() == 1 => (vector, "xyzw".find(letter).unwrap_or(0).to_string()),
        _ => {
            let mut depth = 0;
            let open = path.bytes().rposition(|c| {
                depth += i32::from(c == b']') - i32::from(c == b'[');
                c == b'[' && depth == 0
            });
            let open = open.unwrap_or(0);
            (&path[..open], path.get(open + 1..path.len() - 1).unwrap_or_default().to_string())
        }
    };
    match index.as_str() {
        "0" => format!("({words}{name}*)&{vector}"),
        _ if index.bytes().all(|c| c.is_ascii_alphanumeric() || c == b'_') => {
            format!("({words}{name}*)&{vector} + {index}")
        }
        _ => format!("({words}{name}*)&{vector} + ({index})"),
    }
}

/// The invocations for which a barrier orders memory: other workgroups do not share workgroup memory.
fn reach(memory: Scope, kinds: MemoryKinds) -> Scope {
    if kinds == MemoryKinds::SHARED { memory.min(Scope::Workgroup) } else { memory }
}

/// The memory that a barrier orders.
fn flags_of(kinds: MemoryKinds) -> String {
    let of = [
        (MemoryKinds::BUFFER | MemoryKinds::ATOMIC_COUNTER, "mem_flags::mem_device"),
        (MemoryKinds::SHARED, "mem_flags::mem_threadgroup"),
        (MemoryKinds::IMAGE, "mem_flags::mem_texture"),
    ];
    let list: Vec<&str> = of.iter().filter(|(kind, _)| kinds.intersects(*kind)).map(|(_, name)| *name).collect();
    if list.is_empty() { "mem_flags::mem_none".to_string() } else { list.join(" | ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_so_many_after_their_vector() {
        let place = |path| of_component(path, "device ", "atomic_uint");
        assert_eq!(place("data.v.x"), "(device atomic_uint*)&data.v");
        assert_eq!(place("data.v[a[1]].z"), "(device atomic_uint*)&data.v[a[1]] + 2");
        assert_eq!(place("data.v[a[1]]"), "(device atomic_uint*)&data.v + (a[1])");
    }
}
