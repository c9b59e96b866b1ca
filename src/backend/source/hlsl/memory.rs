//! Memory: buffers with types and without, atomic operations and barriers.

use super::Hlsl;
use crate::backend::source::constants::component;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::{Body, Made};
use crate::backend::source::language::Ordering;
use crate::backend::source::place::{Address, Form};
use crate::ir::{AtomicOp, MemoryKinds, Order, Scalar, Scope, Space, Stage, Type, TypeId, Types, Value, Values};

impl Hlsl {
    /// A scalar this many bytes later, or a vector of consecutive scalars.
    pub fn read_bytes(&self, b: &mut Body, address: &Address, scalar: Scalar, (more, size): (u32, u8)) -> Expr {
        let offset = address.offset(more);
        let reads = offset.reads.clone();
        let stored = if scalar.is_bool() { Scalar::U32 } else { scalar };
        let words = if address.is_rows {
            if scalar.width != 32 && !scalar.is_bool() {
                return b.t.stand_in("such numbers in constant buffers that are laid out otherwise");
            }
            self.word_of_rows(address, more, &offset)
        } else if stored.width == 32 {
            let name = if size == 1 { "Load".to_string() } else { format!("Load{size}") };
            address.buffer.part(&format!(".{name}({})", offset.text)).reading_memory(true)
        } else {
            self.require_wide(b);
            let ty = b.t.vector_name(stored, size);
            return address.buffer.part(&format!(".Load<{ty}>({})", offset.text)).reading_memory(true).reading(&reads);
        };
        let words = words.reading(&reads);
        let [from, to] = [Scalar::U32, stored].map(|scalar| b.t.types.vector(scalar, size));
        let value = b.t.reinterpreted(&words, from, to);
        if !scalar.is_bool() {
            return value;
        }
        let bools = b.t.types.vector(Scalar::BOOL, size);
        b.t.converted(&value, from, bools)
    }

    /// Loads and stores of types other than words came with Shader Model 6.
    fn require_wide(&self, b: &mut Body) {
        if !self.has_long {
            b.t.lacks("numbers of 64 bits in buffers of bytes before Shader Model 6.0");
        }
    }

    /// A word of a buffer with row packing.
    fn word_of_rows(&self, address: &Address, more: u32, offset: &Expr) -> Expr {
        match &address.varying {
            None => {
                let at = address.constant + more;
                address.buffer.part(&format!("[{}]{}", at / 16, component(at / 4 % 4)))
            }
            Some(_) => {
                let sum = offset.at(Level::Sum);
                let part = offset.at(Level::Unary);
                address.buffer.part(&format!("[({sum}) / 16][{part} / 4 % 4]"))
            }
        }
    }

    pub fn write_bytes(&self, b: &mut Body, address: &Address, (scalar, size): (Scalar, u8), value: &Expr) {
        let offset = address.offset(0);
        let own = b.t.types.vector(scalar, size);
        let words = b.t.types.vector(Scalar::U32, size);
        let text = match (scalar.is_bool(), scalar.width) {
            (true, _) => b.t.converted(value, own, words).text,
            (false, 32) => b.t.reinterpreted(value, own, words).text,
            _ => {
                self.require_wide(b);
                let ty = b.t.vector_name(scalar, size);
                return b.line(format!("{}.Store<{ty}>({}, {})", address.buffer.text, offset.text, value.text));
            }
        };
        let name = if size == 1 { "Store".to_string() } else { format!("Store{size}") };
        b.line(format!("{}.{name}({}, {text})", address.buffer.text, offset.text));
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
        match b.made(block) {
            Made::Bytes(address) => {
                let bytes = b.variable("bytes", Types::U32);
                b.line(format!("{}.GetDimensions({})", address.buffer.text, bytes.text));
                self.count_of(&bytes, offset, stride)
            }
            Made::One(buffer) => {
                let is_typed =
                    matches!(block, Value::Global(id) if matches!(self.form(b.t, id), Form::Elements { .. }));
                if !is_typed {
                    let bytes = b.variable("bytes", Types::U32);
                    b.line(format!("{}.GetDimensions({})", buffer.text, bytes.text));
                    return self.count_of(&bytes, offset, stride);
                }
                let (count, size) = (b.variable("count", Types::U32), b.variable("stride", Types::U32));
                b.line(format!("{}.GetDimensions({}, {})", buffer.text, count.text, size.text));
                count
            }
            Made::Pair(_) | Made::Laid(_) => b.t.broken("the length of something other than a block"),
        }
    }

    fn count_of(&self, bytes: &Expr, offset: u32, stride: u32) -> Expr {
        let rest = match offset {
            0 => bytes.clone(),
            _ => Expr::binary("-", Level::Sum, bytes, &Expr::primary(offset.to_string())),
        };
        Expr::binary("/", Level::Product, &rest, &Expr::primary(stride.to_string()))
    }

    pub fn atomic(&self, b: &mut Body, op: AtomicOp, pointer: Value, args: Values, _: Ordering) -> Option<Expr> {
        let Some((space, ty)) = b.pointee_of(pointer) else {
            return Some(b.t.stand_in("atomic operations on such memory"));
        };
        let Some((scalar, 1)) = b.t.shape(ty) else {
            return Some(b.t.stand_in("atomic operations on such types"));
        };
        let args = b.list(args);
        let place = b.made(pointer);
        if let (Made::One(path), AtomicOp::Load, Space::Workgroup | Space::Storage) = (&place, op, space) {
            return Some(path.clone().reading_memory(true));
        }
        let (call, first) = match &place {
            Made::Bytes(address) => (format!("{}.", address.buffer.text), address.offset(0)),
            Made::One(path) => (String::new(), path.clone()),
            Made::Pair(_) | Made::Laid(_) => return Some(b.t.broken("an atomic operation on resources")),
        };
        self.interlocked(b, op, (scalar, ty), (&call, &first), args)
    }

    /// A call of an interlocked function; `call` is the text before its name, `first` its first argument.
    pub fn interlocked(
        &self,
        b: &mut Body,
        op: AtomicOp,
        (scalar, ty): (Scalar, TypeId),
        (call, first): (&str, &Expr),
        args: Vec<Expr>,
    ) -> Option<Expr> {
        match (scalar.is_float(), scalar.width) {
            (true, 32) if self.has_long && matches!(op, AtomicOp::Exchange | AtomicOp::Store) => {}
            (true, _) => return Some(b.t.lacking("atomic operations on floats")),
            (false, 32) => {}
            (false, 64) if b.t.options.profile.version >= (6, 6) => {}
            (false, 64) => return Some(b.t.lacking("atomic operations of 64 bits before Shader Model 6.6")),
            (false, _) => return Some(b.t.lacking("atomic operations on such types")),
        }
        let name = match op {
            AtomicOp::Add | AtomicOp::Sub | AtomicOp::Load => "Add",
            AtomicOp::Min => "Min",
            AtomicOp::Max => "Max",
            AtomicOp::And => "And",
            AtomicOp::Or => "Or",
            AtomicOp::Xor => "Xor",
            AtomicOp::Exchange | AtomicOp::Store => "Exchange",
            AtomicOp::CompareExchange => "CompareExchange",
        };
        let mut list = vec![first.text.clone()];
        match op {
            AtomicOp::Load => list.push(b.t.literal(scalar, 0).text),
            AtomicOp::Sub => list.push(Expr::unary("-", &args[0]).text),
            // The comparand comes first in the language.
            AtomicOp::CompareExchange => list.extend([args[1].text.clone(), args[0].text.clone()]),
            _ => list.extend(args.iter().map(|arg| arg.text.clone())),
        }
        let ty = b.t.types.logical(ty);
        // A method of a buffer has the width in its name.
        let wide = if scalar.width == 64 && !call.is_empty() { "64" } else { "" };
        let is_plain = !matches!(name, "Exchange" | "CompareExchange");
        if is_plain && !b.current.is_some_and(|id| b.uses.is_used(id)) {
            b.line(format!("{call}Interlocked{name}{wide}({})", list.join(", ")));
            return None;
        }
        let before = b.variable("before", ty);
        list.push(before.text.clone());
        b.line(format!("{call}Interlocked{name}{wide}({})", list.join(", ")));
        (op != AtomicOp::Store).then_some(before)
    }

    pub fn barrier(&self, b: &mut Body, execution: Option<Scope>, memory: Scope, kinds: MemoryKinds, order: Order) {
        let outer = kinds.intersects(MemoryKinds::BUFFER | MemoryKinds::IMAGE | MemoryKinds::ATOMIC_COUNTER);
        let has_workgroups = b.t.stage().is_some_and(Stage::has_workgroups);
        let shared = kinds.contains(MemoryKinds::SHARED) && has_workgroups;
        let of = match (outer, shared) {
            (true, true) => "All",
            (true, false) => "Device",
            (false, true) => "Group",
            (false, false) if has_workgroups => "Group",
            // No memory that other stages share.
            (false, false) => return,
        };
        match execution {
            Some(Scope::Workgroup) => b.line(format!("{of}MemoryBarrierWithGroupSync()")),
            Some(Scope::Invocation) => {}
            Some(Scope::Device | Scope::QueueFamily) => b.t.lacks("barriers of so many invocations"),
            // The lanes of a wave run in lockstep without one (Microsoft's reference, "HLSL Shader Model 6.0",
            // terminology), so only the order of memory remains to be stated.
            Some(Scope::Subgroup) | None
                if kinds.is_empty() || order == Order::Relaxed || memory == Scope::Invocation => {}
            Some(Scope::Subgroup) | None => b.line(format!("{of}MemoryBarrier()")),
        }
    }
}
