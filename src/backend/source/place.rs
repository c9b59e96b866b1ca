//! Places in buffers: paths through members that the language lays out, and addresses in byte buffers.

mod access;

use super::constants::component;
use super::expr::{Expr, Level};
use super::function::{Body, Made};
use super::layout::{self, Fit, How, Packing, Part, bytes};
use super::writer::Writer;
use crate::ir::{GlobalId, InstFlags, InstId, Scalar, Space, StructId, Type, TypeId, Value, Values};
use std::rc::Rc;

/// How a block of a buffer is spelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    /// A struct that is laid out so.
    Struct(Packing),
    /// The elements of the block's only member.
    Elements {
        packing: Packing,
        is_packed: bool,
    },
    /// Rows of 16 bytes.
    Rows,
    Bytes,
}

/// A place in a buffer that the language treats as bytes.
#[derive(Clone, Debug)]
pub(super) struct Address {
    /// Its block; `None` for a buffer reference.
    pub global: Option<GlobalId>,
    /// The buffer, the element of an array of buffers, or a buffer reference.
    pub buffer: Expr,
    /// True for constant buffers, which are an array of 16-byte rows.
    pub is_rows: bool,
    /// Bytes from its start: the variable part and the constant part.
    pub varying: Option<Expr>,
    pub constant: u32,
    /// The memory type at that place.
    pub ty: TypeId,
    /// Stride of the components of a vector in bytes, if they are not consecutive: columns of row-major matrices.
    pub step: Option<u32>,
}

impl Address {
    /// The offset plus some bytes.
    pub fn offset(&self, more: u32) -> Expr {
        let constant = self.constant.saturating_add(more);
        match &self.varying {
            None => Expr::primary(constant.to_string()),
            Some(varying) if constant == 0 => varying.clone(),
            Some(varying) => Expr::binary("+", Level::Sum, varying, &Expr::primary(constant.to_string())),
        }
    }
}

/// A path to a value whose memory layout differs from its logical type.
#[derive(Clone, Debug)]
pub(super) struct LaidPath {
    pub path: Expr,
    pub ty: TypeId,
    pub how: How,
    /// True if vectors in it are packed.
    is_packed: bool,
    /// True if the path is a pointer to the place.
    points: bool,
    /// True if it is changed by atomic operations.
    pub is_atomic: bool,
    /// The row-major matrix that contains this column, and the column index after a row's name.
    column: Option<Rc<(LaidPath, String)>>,
}

impl LaidPath {
    /// Returns true if it is a whole row-major matrix, as an array of its rows.
    fn is_in_rows(&self, t: &Writer) -> bool {
        let is_row_major =
            matches!(t.types.get(self.ty), Type::Matrix { layout: Some(layout), .. } if layout.row_major);
        self.how.packing.is_sized() && is_row_major
    }
}

/// A place in memory, with its memory type.
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
pub(super) const fn is_buffer(space: Space) -> bool {
    matches!(space, Space::Uniform | Space::Storage | Space::PushConstant)
}

impl Body<'_, '_> {
    /// The path to a part: buffers by their form, other variables directly.
    pub fn place_of(&mut self, id: InstId, base: Value, indices: Values, flags: InstFlags) -> Made {
        if let Some(of) = self.t.types.referred(self.type_of(base)) {
            return self.referred_place(id, base, of, indices);
        }
        let Value::Global(global) = base else { return Made::One(self.path(id, base, indices, flags)) };
        let space = self.t.module.globals[global].space;
        if space == Space::Handle {
            return self.element_of_handles(id, global, indices, flags);
        }
        if !is_buffer(space) && !self.t.atomic_globals.contains(&global) {
            return Made::One(self.path(id, base, indices, flags));
        }
        let f = self.f;
        let mut rest = f.values(indices);
        let mut name = self.value(base).reading_memory(super::memory::is_changing(space));
        let mut ty = self.t.module.globals[global].ty;
        let is_many = is_buffer(space) && matches!(self.t.types.get(ty), Type::Array { .. });
        while let (true, Type::Array { element, .. }) = (is_many, self.t.types.get(ty)) {
            let Some((first, others)) = rest.split_first() else { break };
            name = self.chosen_resource(id, &name, *first, flags);
            (ty, rest) = (element, others);
        }
        match self.root(global, (name, ty), is_many, &mut rest) {
            Some(place) => self.part_of_place(id, place, rest),
            None => Made::One(self.t.broken("no such member")),
        }
    }

    /// The path to a part of a buffer reference's target.
    fn referred_place(&mut self, id: InstId, base: Value, of: StructId, indices: Values) -> Made {
        let Some(ty) = self.t.types.find(Type::Struct(of)) else {
            return Made::One(self.t.broken("a reference to something other than a struct"));
        };
        let f = self.f;
        let of_base = self.type_of(base);
        self.is_reference(of_base);
        let buffer = self.held(id, base, "reference").reading_memory(true);
        let place = Address { global: None, buffer, is_rows: false, varying: None, constant: 0, ty, step: None };
        self.part_of_place(id, Place::Bytes(place), f.values(indices))
    }

    /// Returns true for buffer references. Also names the type, so that a language without them refuses it.
    fn is_reference(&mut self, ty: TypeId) -> bool {
        let is_it = self.t.types.referred(ty).is_some();
        if is_it {
            let _ = self.t.type_name(ty);
        }
        is_it
    }

    /// An index relative to a buffer reference, in as many bits as the address has.
    fn as_distance(&mut self, place: &Place, index: Value, value: Expr) -> Expr {
        let from = self.type_of(index);
        match (place, self.t.types.scalar_of(from)) {
            (Place::Bytes(Address { global: None, .. }), Some(scalar)) => {
                let wide = self.t.types.scalar(Scalar { width: 64, ..scalar });
                self.t.converted(&value, from, wide)
            }
            _ => value,
        }
    }

    fn part_of_place(&mut self, id: InstId, mut place: Place, indices: &[Value]) -> Made {
        for index in indices {
            let number = match self.t.module.known_u32(*index) {
                Some(number) => Index::Known(number),
                None => {
                    let value = self.index(id, *index);
                    Index::Varying(self.as_distance(&place, *index, value))
                }
            };
            place = match self.part(&place, &number) {
                Some(place) => place,
                None => return Made::One(self.t.broken("an access to a part that is not there")),
            };
        }
        match place {
            Place::Path(laid) if !laid.points && is_plain_path(self.t, &laid) => Made::One(laid.path),
            Place::Path(laid) => Made::Laid(laid),
            Place::Bytes(address) => Made::Bytes(address),
        }
    }

    /// The place of a whole block, or of the part of it that has a separate name.
    fn root(
        &mut self,
        global: GlobalId,
        (name, ty): (Expr, TypeId),
        is_many: bool,
        rest: &mut &[Value],
    ) -> Option<Place> {
        let language = self.t.language;
        let form = language.form(self.t, global);
        let is_scalar = self.t.types.components(self.t.innermost(ty)) == Some(1);
        let is_atomic = is_scalar && self.t.atomic_globals.contains(&global);
        let laid = |path, ty, packing, is_packed| LaidPath {
            path,
            ty,
            how: How::of(packing),
            is_packed,
            points: false,
            is_atomic,
            column: None,
        };
        Some(match (form, *rest) {
            (Form::Struct(packing), [member, others @ ..]) if self.t.block_members.contains_key(&global) => {
                let index = self.t.module.known_u32(*member).unwrap_or(0);
                *rest = others;
                let path = Expr::primary(self.t.block_members[&global][index as usize].clone());
                Place::Path(laid(path, self.t.types.element(ty, index)?, packing, false))
            }
            (Form::Struct(packing), _) => {
                let points = is_many && language.block_arrays_point();
                Place::Path(LaidPath { points, ..laid(name, ty, packing, false) })
            }
            (Form::Elements { packing, is_packed }, [_, others @ ..]) => {
                *rest = others;
                let is_atomic = self.t.is_atomic_member(ty, 0);
                let place = laid(name, self.t.types.element(ty, 0)?, packing, is_packed);
                Place::Path(LaidPath { is_atomic, ..place })
            }
            (form, _) => {
                let is_rows = form == Form::Rows;
                let global = Some(global);
                Place::Bytes(Address { global, buffer: name, is_rows, varying: None, constant: 0, ty, step: None })
            }
        })
    }

    /// An element of an array of resources.
    fn chosen_resource(&mut self, id: InstId, base: &Expr, index: Value, flags: InstFlags) -> Expr {
        let number = self.index(id, index);
        let is_marked = flags.contains(InstFlags::NON_UNIFORM) && self.t.module.known_u32(index).is_none();
        let language = self.t.language;
        let text = if is_marked { language.non_uniform(self.t, &number.text) } else { number.text.clone() };
        base.part(&format!("[{text}]")).reading(&number.reads)
    }

    fn element_of_handles(&mut self, id: InstId, global: GlobalId, indices: Values, flags: InstFlags) -> Made {
        let f = self.f;
        let list = f.values(indices);
        let language = self.t.language;
        let suffix = language.element_suffix(self.t, self.t.module.globals[global].ty);
        let step = |b: &mut Self, base: Expr| {
            let element = list.iter().fold(base, |base, index| b.chosen_resource(id, &base, *index, flags));
            if suffix.is_empty() { element } else { element.part(suffix) }
        };
        match self.made(Value::Global(global)) {
            Made::One(base) => Made::One(step(self, base)),
            Made::Pair([texture, sampler]) => Made::Pair([step(self, texture), step(self, sampler)]),
            other => other,
        }
    }

    /// A part of a place.
    fn part(&mut self, place: &Place, index: &Index) -> Option<Place> {
        let number = if let Index::Known(number) = index { *number } else { 0 };
        match place {
            Place::Path(laid) => self.part_of_path(laid, index, number).map(Place::Path),
            Place::Bytes(address) => self.part_of_bytes(address, index, number).map(Place::Bytes),
        }
    }

    fn part_of_path(&mut self, laid: &LaidPath, index: &Index, number: u32) -> Option<LaidPath> {
        let ty = self.t.types.element(laid.ty, number)?;
        let reads = if let Index::Varying(value) = index { value.reads.clone() } else { Default::default() };
        let own = |suffix: &str, how, is_packed| {
            let path = laid.path.part(suffix).reading(&reads);
            Some(LaidPath { path, ty, how, is_packed, points: false, ..laid.clone() })
        };
        if let Some(column) = &laid.column {
            return self
                .in_column(column, &index.text())
                .map(|place| LaidPath { path: place.path.reading(&reads), ..place });
        }
        match (self.t.types.get(laid.ty), index) {
            (Type::Struct(of), _) => {
                let (how, is_packed) = layout::lay_out(self.t, of, laid.how)?.members[number as usize];
                let join = if laid.points { "->" } else { "." };
                let suffix = format!("{join}{}", self.t.member_names(of).get(number as usize)?);
                let is_atomic = self.t.is_atomic_member(laid.ty, number);
                own(&suffix, how, is_packed).map(|place| LaidPath { is_atomic, ..place })
            }
            (Type::Matrix { layout: Some(layout), .. }, _) if laid.how.packing.is_sized() && layout.row_major => {
                let column = match index {
                    Index::Known(number) => component(*number),
                    Index::Varying(_) => format!("[{}]", index.text()),
                };
                let path = laid.path.clone().reading(&reads);
                Some(LaidPath { path, ty, column: Some(Rc::new((laid.clone(), column))), ..laid.clone() })
            }
            (Type::Matrix { layout: Some(layout), .. }, _) if laid.how.packing.is_sized() => {
                own(&format!("[{}]", index.text()), laid.how.element(layout.stride), false)
            }
            (Type::Vector { .. }, Index::Known(number)) => {
                let is_packed = layout::fit(self.t, laid.ty, laid.how, laid.is_packed) == Some(Fit::Packed);
                let suffix = if is_packed { format!("[{number}]") } else { component(*number) };
                let wrapped = self.unwrapped(laid);
                own(&format!("{wrapped}{suffix}"), How::of(laid.how.packing), false)
            }
            (Type::Array { stride, .. }, _) => own(
                &format!("[{}]", index.text()),
                stride.map_or(laid.how, |stride| laid.how.element(stride)),
                laid.is_packed,
            ),
            _ => {
                let wrapped = self.unwrapped(laid);
                own(&format!("{wrapped}[{}]", index.text()), How::of(laid.how.packing), false)
            }
        }
    }

    /// The path from a struct that is as long as a stride to the value in it.
    fn unwrapped(&self, laid: &LaidPath) -> &'static str {
        let is_wrapped = layout::fit(self.t, laid.ty, laid.how, laid.is_packed) == Some(Fit::Wrapped);
        if is_wrapped { ".value" } else { "" }
    }

    /// A row of a row-major matrix.
    fn row(&mut self, matrix: &LaidPath, row: &str) -> Option<LaidPath> {
        let Type::Matrix { scalar, columns, layout: Some(layout), .. } = self.t.types.get(matrix.ty) else {
            return None;
        };
        let ty = self.t.types.vector(scalar, columns);
        let path = matrix.path.part(&format!("[{row}]"));
        Some(LaidPath { path, ty, how: matrix.how.element(layout.stride), ..matrix.clone() })
    }

    /// A component of a column of a row-major matrix.
    fn in_column(&mut self, (matrix, column): &(LaidPath, String), row: &str) -> Option<LaidPath> {
        let row = self.row(matrix, row)?;
        let path = row.path.part(&format!("{}{column}", self.unwrapped(&row)));
        let ty = self.t.types.element(row.ty, 0)?;
        Some(LaidPath { path, ty, how: How::of(row.how.packing), ..row })
    }

    /// The places of the components of a column of a row-major matrix.
    fn down_column(&mut self, laid: &LaidPath) -> Option<Vec<Expr>> {
        let column = laid.column.clone()?;
        let size = self.t.types.components(laid.ty)?;
        (0..size).map(|row| self.in_column(&column, &row.to_string()).map(|place| place.path)).collect()
    }

    /// The whole target of a pointer to a variable in memory layout.
    fn whole_place(&mut self, pointer: Value) -> Option<Place> {
        let Value::Global(id) = pointer else { return None };
        let ty = self.t.module.globals[id].ty;
        let is_laid = is_buffer(self.t.module.globals[id].space) || self.t.atomic_globals.contains(&id);
        let is_block = matches!(self.t.types.get(ty), Type::Struct(_)) || self.t.atomic_globals.contains(&id);
        let form = self.t.language.form(self.t, id);
        if !is_laid || !is_block || !matches!(form, Form::Struct(packing) if packing.is_sized()) {
            return None;
        }
        let name = self.value(pointer).reading_memory(super::memory::is_changing(self.t.module.globals[id].space));
        self.root(id, (name, ty), false, &mut &[][..])
    }

    /// The path through a pointer to a place with a different layout.
    pub fn laid_path(&mut self, pointer: Value) -> Option<LaidPath> {
        match (self.whole_place(pointer), pointer) {
            (Some(Place::Path(laid)), _) => Some(laid),
            (_, Value::Inst(_)) => {
                if let Made::Laid(laid) = self.made(pointer) {
                    Some(laid)
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    fn part_of_bytes(&mut self, address: &Address, index: &Index, number: u32) -> Option<Address> {
        let whole = self.t.types.get(address.ty);
        let (ty, stride, step) = match whole {
            Type::Struct(of) => {
                let member = &self.t.types.structs[of].members.get(number as usize)?;
                let constant = address.constant.checked_add(member.offset?)?;
                return Some(Address { constant, ty: member.ty, ..address.clone() });
            }
            Type::Array { element, stride, .. } => (element, stride?, None),
            Type::Matrix { scalar, rows, layout: Some(layout), .. } => {
                let column = self.t.types.vector(scalar, rows);
                match layout.row_major {
                    true => (column, bytes(scalar), Some(layout.stride)),
                    false => (column, layout.stride, None),
                }
            }
            Type::Vector { scalar, .. } => (self.t.types.scalar(scalar), address.step.unwrap_or(bytes(scalar)), None),
            _ => return None,
        };
        let mut made = Address { ty, step, ..address.clone() };
        match index {
            Index::Known(number) => made.constant = address.constant.checked_add(number.checked_mul(stride)?)?,
            Index::Varying(value) => {
                let bytes = match stride {
                    // The sum in an index wraps itself.
                    1 => Expr::primary(value.at(Level::Product)).reading(&value.reads),
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
}

/// The scalar type in memory for one of the module's.
fn stored_as(scalar: Scalar, how: How) -> Scalar {
    if scalar.is_bool() && how.packing != Packing::Free { Scalar::U32 } else { scalar }
}

fn dereferenced(path: &Expr) -> Expr {
    Expr::unary("*", path)
}

/// The first components of a vector, after its name.
fn first_of(size: u8) -> String {
    (0..u32::from(size)).fold(".".to_string(), |text, n| text + &component(n)[1..])
}

/// Returns true if the value at a path has its logical type. The language converts matrices itself.
fn is_plain_path(t: &mut Writer, laid: &LaidPath) -> bool {
    if laid.how.packing.is_sized() {
        return !laid.is_atomic && laid.column.is_none() && is_plain(t, laid.ty, laid.how, false);
    }
    matches!(t.types.get(laid.ty), Type::Matrix { .. }) || is_plain(t, laid.ty, laid.how, laid.is_packed)
}

/// Returns true if a laid-out type has the same spelling as the logical one.
fn is_plain(t: &mut Writer, ty: TypeId, how: How, is_packed: bool) -> bool {
    match t.types.get(ty) {
        Type::Struct(of) => is_as_logical(t, of, how),
        Type::Array { element, stride, .. } => {
            let logical = t.types.logical(ty);
            let how = stride.map_or(how, |stride| how.element(stride));
            !t.is_array_value(logical) && is_plain(t, element, how, is_packed)
        }
        Type::Matrix { scalar, rows, layout: Some(layout), .. } if how.packing.is_sized() => {
            layout::is_natural(scalar, rows, layout)
        }
        Type::Matrix { layout: Some(layout), .. } => !layout.row_major,
        Type::Scalar(scalar) | Type::Vector { scalar, .. }
            if matches!(how.packing, Packing::Vectors | Packing::Sized) =>
        {
            !scalar.is_bool() && layout::fit(t, ty, how, is_packed) == Some(Fit::Own)
        }
        _ => true,
    }
}

/// Returns true if a laid-out struct has the same spelling as the logical one.
fn is_as_logical(t: &mut Writer, of: StructId, how: How) -> bool {
    let Some(laid) = layout::lay_out(t, of, how) else { return false };
    let has_no_pads = laid.parts.iter().all(|part| matches!(part, Part::Member(_)));
    let members = t.types.structs[of].members.clone();
    let has_atomics = (0..members.len() as u32).any(|n| t.atomic_members.contains(&(of, n)));
    has_no_pads
        && !has_atomics
        && members.iter().zip(&laid.members).all(|(member, (how, is_packed))| is_plain(t, member.ty, *how, *is_packed))
}

impl Writer<'_> {
    /// The name of a laid-out type that is not an array: structs whose layout is the language's keep their names.
    pub fn laid_name(&mut self, ty: TypeId, how: How, is_packed: bool) -> String {
        let language = self.language;
        let Type::Struct(of) = self.types.get(ty) else {
            return match self.shape(ty) {
                Some((scalar, size)) if how.packing == Packing::Vectors => {
                    let stored = stored_as(scalar, how);
                    match layout::fit(self, ty, how, is_packed) {
                        Some(Fit::Packed) => language.packed_name(self, stored, size),
                        Some(Fit::First(size)) => self.vector_name(stored, size),
                        _ => self.vector_name(stored, size),
                    }
                }
                _ => self.type_name(ty),
            };
        };
        if is_as_logical(self, of, how) {
            return self.struct_name(of);
        }
        let how = self.least_how(of, how);
        if let Some(known) = self.laid_names.get(&(of, how)) {
            return known.clone();
        }
        let base = self.types.structs[self.logical(of)].name.clone();
        let ending = if how.packing == Packing::Free { "shared" } else { "laid_out" };
        let name = self.names.unique(&format!("{base}_{ending}"), None);
        self.laid_names.insert((of, how), name.clone());
        let names = self.member_names(of);
        let lines = language.member_lines(self, of, how, &names);
        self.declare_struct_of(&name, lines, self.types.structs[of].span);
        name
    }

    /// The layout of a struct, without its natural stride.
    fn least_how(&mut self, of: StructId, how: How) -> How {
        let alone = how.alone();
        if !how.packing.is_sized() || how.stride.is_none() {
            return how;
        }
        let count = |t: &mut Self, how| layout::lay_out(t, of, how).map(|laid| laid.parts.len());
        if count(self, alone) == count(self, how) { alone } else { how }
    }

    /// The member declarations of a struct in memory layout, padding included.
    pub fn member_lines(&mut self, of: StructId, how: How, names: &[String]) -> Vec<String> {
        let Some(laid) = layout::lay_out(self, of, how) else {
            self.internal("a struct that it does not lay out");
            return Vec::new();
        };
        let language = self.language;
        let members = self.types.structs[of].members.clone();
        let mut lines = Vec::new();
        for part in &laid.parts {
            match part {
                Part::Pad { offset, bytes } => lines.extend(language.pad_lines(how.packing, *offset, *bytes)),
                Part::Member(index) => {
                    let ty = members[*index].ty;
                    let (how, is_packed) = laid.members[*index];
                    let order = language.member_words(self, ty);
                    let dims = self.dims_of(ty);
                    let how = stride_of(self, ty).map_or(how, |stride| how.element(stride));
                    let base = self.laid_name(self.innermost(ty), how, is_packed);
                    let line = language.member_line(&format!("{order}{base}"), &names[*index], &dims);
                    self.push_member(&mut lines, members[*index].span, line);
                }
            }
        }
        lines
    }

    /// The lengths of an array of resources, or of an array in memory. A runtime-sized array is the last member of its
    /// struct.
    pub fn dims_of(&mut self, ty: TypeId) -> String {
        let mut dims = String::new();
        let mut ty = ty;
        while let Type::Array { element, len, .. } = self.types.get(ty) {
            let length = self.length(len);
            dims.push_str(&format!("[{length}]"));
            ty = element;
        }
        dims
    }
}

/// The stride of the innermost array of a type.
fn stride_of(t: &Writer, ty: TypeId) -> Option<u32> {
    match t.types.get(ty) {
        Type::Array { element, stride, .. } => match t.types.get(element) {
            Type::Array { .. } => stride_of(t, element),
            _ => stride,
        },
        _ => None,
    }
}
