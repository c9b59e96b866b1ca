//! Memory: buffers with types and without, atomic operations and barriers.

use super::Hlsl;
use super::globals::{Form, is_plain};
use super::layout::{Packing, bytes};
use crate::backend::source::constants::component;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::{Body, Made};
use crate::backend::source::language::Ordering;
use crate::backend::source::memory::{Address, LaidPath};
use crate::backend::source::tree::Kind;
use crate::ir::{
    ArrayLen, AtomicOp, GlobalId, InstFlags, InstId, MemoryKinds, Order, Scalar, Scope, Space, Type, TypeId, Types,
    Value, Values,
};

/// A place in memory, with the type of what lies there as it is laid out.
enum Place {
    Path(LaidPath),
    Bytes(Address),
}

/// The number of a part.
enum Index {
    Known(u32),
    Varying(Expr),
}

impl Index {
    fn text(&self) -> String {
        match self {
            Index::Known(number) => number.to_string(),
            Index::Varying(value) => value.text.clone(),
        }
    }
}

/// The space of a variable that is memory outside of the shader.
const fn is_buffer(space: Space) -> bool {
    matches!(space, Space::Uniform | Space::Storage | Space::PushConstant)
}

impl Hlsl {
    /// The path to a part: into buffers by their form, elsewhere as it is.
    pub fn access(&self, b: &mut Body, id: InstId, base: Value, indices: Values, flags: InstFlags) -> Made {
        let Value::Global(global) = base else { return Made::One(b.path(id, base, indices, flags)) };
        let space = b.t.module.globals[global].space;
        if space == Space::Handle {
            return self.element_of_handles(b, id, global, indices, flags);
        }
        if !is_buffer(space) {
            return Made::One(b.path(id, base, indices, flags));
        }
        let f = b.f;
        let mut rest = f.values(indices);
        let name = b.t.global(global);
        let mut name = Expr::primary(name).reading_memory(space == Space::Storage);
        let mut ty = b.t.module.globals[global].ty;
        while let Type::Array { element, .. } = b.t.types.get(ty) {
            let Some((first, others)) = rest.split_first() else { break };
            name = self.chosen(b, id, &name, *first, flags);
            (ty, rest) = (element, others);
        }
        let mut place = match (self.form(b.t, global), rest) {
            (Form::Constants, [member, others @ ..]) if b.t.block_members.contains_key(&global) => {
                let index = b.t.module.known_u32(*member).unwrap_or(0);
                rest = others;
                let names = b.t.block_members[&global].clone();
                let path = Expr::primary(names[index as usize].clone());
                let Some(ty) = b.t.types.element(ty, index) else { return Made::One(b.t.broken("no such member")) };
                Place::Path(LaidPath { path, ty, is_rows: true, stride: None })
            }
            (Form::Constants, _) => Place::Path(LaidPath { path: name, ty, is_rows: true, stride: None }),
            (Form::Elements, [_, others @ ..]) => {
                rest = others;
                let Some(ty) = b.t.types.element(ty, 0) else { return Made::One(b.t.broken("no such member")) };
                Place::Path(LaidPath { path: name, ty, is_rows: false, stride: None })
            }
            (form, _) => Place::Bytes(Address {
                buffer: name,
                is_rows: form == Form::Rows,
                varying: None,
                constant: 0,
                ty,
                step: None,
            }),
        };
        for index in rest {
            let number = match b.t.module.known_u32(*index) {
                Some(number) => Index::Known(number),
                None => Index::Varying(b.index(id, *index)),
            };
            place = match self.part(b, &place, &number) {
                Some(place) => place,
                None => return Made::One(b.t.broken("an access to a part that is not there")),
            };
        }
        match place {
            Place::Path(laid) if Self::is_plain(b, &laid) => Made::One(laid.path),
            Place::Path(laid) => Made::Laid(laid),
            Place::Bytes(address) => Made::Bytes(address),
        }
    }

    /// Returns true if what lies at a path has its logical type. The language converts matrices itself.
    fn is_plain(b: &Body, laid: &LaidPath) -> bool {
        let packing = if laid.is_rows { Packing::Rows } else { Packing::Scalars };
        matches!(b.t.types.get(laid.ty), Type::Matrix { .. }) || is_plain(b.t, laid.ty, packing, laid.stride)
    }

    /// An element of an array of resources.
    fn chosen(&self, b: &mut Body, id: InstId, base: &Expr, index: Value, flags: InstFlags) -> Expr {
        let number = b.index(id, index);
        let is_marked = flags.contains(InstFlags::NON_UNIFORM) && b.t.module.known_u32(index).is_none();
        let text = if is_marked { format!("NonUniformResourceIndex({})", number.text) } else { number.text.clone() };
        base.part(&format!("[{text}]")).reading(&number.reads)
    }

    fn element_of_handles(
        &self,
        b: &mut Body,
        id: InstId,
        global: GlobalId,
        indices: Values,
        flags: InstFlags,
    ) -> Made {
        let list = b.f.values(indices);
        let step =
            |b: &mut Body, base: Expr| list.iter().fold(base, |base, index| self.chosen(b, id, &base, *index, flags));
        match self.global(b, global) {
            Made::One(base) => Made::One(step(b, base)),
            Made::Pair([texture, sampler]) => Made::Pair([step(b, texture), step(b, sampler)]),
            other => other,
        }
    }

    /// A part of a place.
    fn part(&self, b: &mut Body, place: &Place, index: &Index) -> Option<Place> {
        let number = if let Index::Known(number) = index { *number } else { 0 };
        match place {
            Place::Path(laid) => {
                let whole = b.t.types.get(laid.ty);
                let suffix = match (whole, index) {
                    (Type::Struct(of), _) => format!(".{}", b.t.member_names(of).get(number as usize)?),
                    (Type::Vector { .. }, Index::Known(number)) => component(*number),
                    _ => format!("[{}]", index.text()),
                };
                let ty = b.t.types.element(laid.ty, number)?;
                let stride = if let Type::Array { stride, .. } = whole { stride } else { None };
                let reads = if let Index::Varying(value) = index { value.reads.clone() } else { Default::default() };
                let path = laid.path.part(&suffix).reading(&reads);
                Some(Place::Path(LaidPath { path, ty, stride, ..*laid }))
            }
            Place::Bytes(address) => Some(Place::Bytes(self.part_of_bytes(b, address, index)?)),
        }
    }

    fn part_of_bytes(&self, b: &mut Body, address: &Address, index: &Index) -> Option<Address> {
        let number = if let Index::Known(number) = index { *number } else { 0 };
        let whole = b.t.types.get(address.ty);
        let (ty, stride, step) = match whole {
            Type::Struct(of) => {
                let member = &b.t.types.structs[of].members.get(number as usize)?;
                let mut made = address.clone();
                (made.constant, made.ty) = (address.constant + member.offset?, member.ty);
                return Some(made);
            }
            Type::Array { element, stride, .. } => (element, stride?, None),
            Type::Matrix { scalar, rows, layout: Some(layout), .. } => {
                let column = b.t.types.vector(scalar, rows);
                match layout.row_major {
                    true => (column, bytes(scalar), Some(layout.stride)),
                    false => (column, layout.stride, None),
                }
            }
            Type::Vector { scalar, .. } => (b.t.types.scalar(scalar), address.step.unwrap_or(bytes(scalar)), None),
            _ => return None,
        };
        let mut made = Address { ty, step, ..address.clone() };
        match index {
            Index::Known(number) => made.constant = address.constant.checked_add(number.checked_mul(stride)?)?,
            Index::Varying(value) => {
                let bytes = match stride {
                    1 => value.clone(),
                    _ => Expr::binary("*", Level::Product, value, &Expr::primary(stride.to_string())),
                };
                made.varying = Some(match &address.varying {
                    Some(outer) => Expr::binary("+", Level::Sum, outer, &bytes),
                    None => bytes,
                });
            }
        }
        Some(made)
    }

    /// The offset of an address, some bytes on.
    fn offset(address: &Address, more: u32) -> Expr {
        let constant = address.constant + more;
        match &address.varying {
            None => Expr::primary(constant.to_string()),
            Some(varying) if constant == 0 => varying.clone(),
            Some(varying) => Expr::binary("+", Level::Sum, varying, &Expr::primary(constant.to_string())),
        }
    }

    pub fn load(&self, b: &mut Body, pointer: Value) -> Made {
        let place = match b.made(pointer) {
            Made::Pair(parts) => return Made::Pair(parts),
            Made::Bytes(address) => Place::Bytes(address),
            Made::Laid(laid) => Place::Path(laid),
            Made::One(_) => return Made::One(b.load_path(pointer)),
        };
        Made::One(self.read(b, &place))
    }

    /// The value at a place.
    fn read(&self, b: &mut Body, place: &Place) -> Expr {
        let ty = match place {
            Place::Path(laid) if Self::is_plain(b, laid) => return laid.path.clone(),
            Place::Path(laid) => laid.ty,
            Place::Bytes(address) => match b.t.types.get(address.ty) {
                Type::Scalar(scalar) => return self.read_vector(b, address, scalar, 1),
                Type::Vector { scalar, size } => return self.read_vector(b, address, scalar, size),
                _ => address.ty,
            },
        };
        let logical = b.t.types.logical(ty);
        match b.t.types.get(ty) {
            Type::Matrix { columns, .. } => {
                let parts =
                    (0..u32::from(columns)).filter_map(|n| self.part(b, place, &Index::Known(n))).collect::<Vec<_>>();
                let columns: Vec<Expr> = parts.iter().map(|part| self.read(b, part)).collect();
                Expr::call(&b.t.type_name(logical), &columns)
            }
            Type::Struct(of) => {
                let count = b.t.types.structs[of].members.len() as u32;
                let parts = (0..count).filter_map(|n| self.part(b, place, &Index::Known(n))).collect::<Vec<_>>();
                let values: Vec<Expr> = parts.iter().map(|part| self.read(b, part)).collect();
                self.construct(b, logical, values)
            }
            Type::Array { len: ArrayLen::Fixed(_) | ArrayLen::Spec(_), .. } => {
                let whole = b.variable("elements", logical);
                self.each_element(b, ty, |language, b, index| {
                    let Some(part) = language.part(b, place, index) else { return };
                    let value = language.read(b, &part);
                    b.line(format!("{}[{}] = {}", whole.text, index.text(), value.text));
                });
                whole
            }
            Type::BufferReference { .. } => b.t.lacking("buffer references"),
            _ => b.t.stand_in("loads of such types"),
        }
    }

    /// A loop over the elements of an array.
    fn each_element(&self, b: &mut Body, ty: TypeId, write: impl FnOnce(&Hlsl, &mut Body, &Index)) {
        let Type::Array { len, .. } = b.t.types.get(ty) else { return };
        let length = b.t.length(len);
        let zero = b.t.literal(Scalar::U32, 0);
        let index = b.name("element", Types::U32, &zero);
        let body = b.within(|b| write(self, b, &Index::Varying(index.clone())));
        let condition = Some(format!("{} < {length}", index.text));
        b.push(Kind::For { condition, steps: vec![format!("{}++", index.text)], body, hint: "[loop] " });
    }

    fn read_vector(&self, b: &mut Body, address: &Address, scalar: Scalar, size: u8) -> Expr {
        if address.step.is_some() || (address.is_rows && size > 1) {
            let step = address.step.unwrap_or(bytes(scalar));
            let parts: Vec<Expr> =
                (0..u32::from(size)).map(|n| self.read_scalar(b, address, scalar, (n * step, 1))).collect();
            return if size == 1 { parts[0].clone() } else { Expr::call(&b.t.vector_name(scalar, size), &parts) };
        }
        self.read_scalar(b, address, scalar, (0, size))
    }

    /// A scalar so many bytes on, or a vector of such that follow each other.
    fn read_scalar(&self, b: &mut Body, address: &Address, scalar: Scalar, (more, size): (u32, u8)) -> Expr {
        let offset = Self::offset(address, more);
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

    /// A word of a buffer of rows.
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

    pub fn store(&self, b: &mut Body, pointer: Value, value: Value) {
        let value = b.value(value);
        let place = match b.made(pointer) {
            Made::Bytes(address) => Place::Bytes(address),
            Made::Laid(laid) => Place::Path(laid),
            Made::Pair(_) => return b.t.internal("a store to resources"),
            Made::One(_) => return b.store_path(pointer, value),
        };
        self.write(b, &place, value);
    }

    fn write(&self, b: &mut Body, place: &Place, value: Expr) {
        let ty = match place {
            Place::Path(laid) if Self::is_plain(b, laid) => {
                return b.line(format!("{} = {}", laid.path.text, value.text));
            }
            Place::Path(laid) => laid.ty,
            Place::Bytes(address) => match b.t.types.get(address.ty) {
                Type::Scalar(scalar) => return self.write_vector(b, address, (scalar, 1), &value),
                Type::Vector { scalar, size } => return self.write_vector(b, address, (scalar, size), &value),
                _ => address.ty,
            },
        };
        let logical = b.t.types.logical(ty);
        let value = if value.is_plain() { value } else { b.name("stored", logical, &value) };
        match b.t.types.get(ty) {
            Type::Matrix { columns, .. } => {
                for n in 0..u32::from(columns) {
                    if let Some(part) = self.part(b, place, &Index::Known(n)) {
                        self.write(b, &part, value.part(&format!("[{n}]")));
                    }
                }
            }
            Type::Struct(of) => {
                let names = b.t.member_names(of);
                for (n, name) in (0..).zip(names.iter()) {
                    if let Some(part) = self.part(b, place, &Index::Known(n)) {
                        self.write(b, &part, value.part(&format!(".{name}")));
                    }
                }
            }
            Type::Array { len: ArrayLen::Fixed(_) | ArrayLen::Spec(_), .. } => {
                self.each_element(b, ty, |language, b, index| {
                    let Some(part) = language.part(b, place, index) else { return };
                    language.write(b, &part, value.part(&format!("[{}]", index.text())));
                });
            }
            _ => b.t.unsupported("stores of such types"),
        }
    }

    fn write_vector(&self, b: &mut Body, address: &Address, (scalar, size): (Scalar, u8), value: &Expr) {
        if let (Some(step), true) = (address.step, size > 1) {
            let ty = b.t.types.vector(scalar, size);
            let value = b.plain(value.clone(), ty);
            for n in 0..u32::from(size) {
                let constant = address.constant + n * step;
                let part = Address { constant, step: None, ..address.clone() };
                self.write_vector(b, &part, (scalar, 1), &value.part(&component(n)));
            }
            return;
        }
        let offset = Self::offset(address, 0);
        let own = b.t.types.vector(scalar, size);
        let words = b.t.types.vector(Scalar::U32, size);
        let text = match (scalar.is_bool(), scalar.width) {
            (true, _) => b.t.converted(value, own, words).text,
            (false, 32) => b.t.reinterpreted(value, own, words).text,
            _ => {
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
                let is_typed = matches!(block, Value::Global(id) if self.form(b.t, id) == Form::Elements);
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
            Made::Bytes(address) => (format!("{}.", address.buffer.text), Self::offset(address, 0)),
            Made::One(path) => (String::new(), path.clone()),
            Made::Pair(_) | Made::Laid(_) => return Some(b.t.broken("an atomic operation on resources")),
        };
        self.interlocked(b, op, (scalar, ty), (&call, &first), args)
    }

    /// A call of an interlocked function; `call` is what comes before its name, `first` its first argument.
    pub fn interlocked(
        &self,
        b: &mut Body,
        op: AtomicOp,
        (scalar, ty): (Scalar, TypeId),
        (call, first): (&str, &Expr),
        args: Vec<Expr>,
    ) -> Option<Expr> {
        if scalar.is_float() && !matches!(op, AtomicOp::Exchange | AtomicOp::Store) || scalar.width != 32 {
            if scalar.is_float() {
                return Some(b.t.lacking("atomic operations on floats"));
            }
            return Some(b.t.stand_in("atomic operations on such types"));
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
            // The value that is compared with comes first in the language.
            AtomicOp::CompareExchange => list.extend([args[1].text.clone(), args[0].text.clone()]),
            _ => list.extend(args.iter().map(|arg| arg.text.clone())),
        }
        let ty = b.t.types.logical(ty);
        let is_plain = !matches!(name, "Exchange" | "CompareExchange");
        if is_plain && !b.current.is_some_and(|id| b.uses.is_used(id)) {
            b.line(format!("{call}Interlocked{name}({})", list.join(", ")));
            return None;
        }
        let before = b.variable("before", ty);
        list.push(before.text.clone());
        b.line(format!("{call}Interlocked{name}({})", list.join(", ")));
        (op != AtomicOp::Store).then_some(before)
    }

    pub fn barrier(&self, b: &mut Body, execution: Option<Scope>, memory: Scope, kinds: MemoryKinds, order: Order) {
        let outer = kinds.intersects(MemoryKinds::BUFFER | MemoryKinds::IMAGE | MemoryKinds::ATOMIC_COUNTER);
        let shared = kinds.contains(MemoryKinds::SHARED);
        let of = match (outer, shared) {
            (true, true) => "All",
            (true, false) => "Device",
            (false, _) => "Group",
        };
        match execution {
            Some(Scope::Workgroup) => b.line(format!("{of}MemoryBarrierWithGroupSync()")),
            Some(Scope::Invocation) => {}
            Some(_) => b.t.lacks("barriers of the subgroup"),
            None if kinds.is_empty() || order == Order::Relaxed || memory == Scope::Invocation => {}
            None => b.line(format!("{of}MemoryBarrier()")),
        }
    }
}
