//! Loads and stores of places in buffers.

use super::{Address, Index, LaidPath, Place, dereferenced, first_of, is_plain_path, stored_as};
use crate::backend::source::constants::component;
use crate::backend::source::expr::Expr;
use crate::backend::source::function::{Body, Made};
use crate::backend::source::layout::{self, Fit, bytes};
use crate::backend::source::tree::Kind;
use crate::ir::{ArrayLen, Scalar, Type, TypeId, Types, Value};

impl Body<'_, '_> {
    /// The value that a pointer points to.
    pub fn load_place(&mut self, pointer: Value) -> Made {
        if let Some(place) = self.whole_place(pointer) {
            return Made::One(self.read(&place));
        }
        let place = match self.made(pointer) {
            Made::Pair(parts) => return Made::Pair(parts),
            Made::Bytes(address) => Place::Bytes(address),
            Made::Laid(laid) => Place::Path(laid),
            Made::One(_) => return Made::One(self.load_path(pointer)),
        };
        Made::One(self.read(&place))
    }

    /// The value at a place.
    fn read(&mut self, place: &Place) -> Expr {
        let ty = match place {
            Place::Path(laid) => {
                if let Some(value) = self.read_path(laid) {
                    return value;
                }
                laid.ty
            }
            Place::Bytes(address) => match self.t.shape(address.ty) {
                Some((scalar, size)) => return self.read_vector(address, scalar, size),
                None if self.is_reference(address.ty) => return self.read_vector(address, Scalar::U64, 1),
                None => address.ty,
            },
        };
        let logical = self.t.types.logical(ty);
        let language = self.t.language;
        match self.t.types.get(ty) {
            Type::Matrix { scalar, columns, rows, .. }
                if let Place::Path(laid) = place
                    && laid.is_in_rows(self.t) =>
            {
                let laid: Vec<LaidPath> = (0..rows).filter_map(|row| self.row(laid, &row.to_string())).collect();
                let parts = laid.into_iter().map(|row| self.read(&Place::Path(row))).collect();
                let turned = self.t.types.matrix(scalar, rows, columns);
                let turned = language.construct(self, turned, parts);
                Expr::call("transpose", &[turned])
            }
            Type::Matrix { columns, .. } => {
                let columns = self.read_parts(place, columns.into());
                language.construct(self, logical, columns)
            }
            Type::Struct(of) => {
                let count = self.t.types.structs[of].members.len() as u32;
                let values = self.read_parts(place, count);
                language.construct(self, logical, values)
            }
            Type::Array { len: ArrayLen::Fixed(_) | ArrayLen::Spec(_), .. } => {
                let whole = self.variable("elements", logical);
                self.each_element(ty, |b, index| {
                    let Some(part) = b.part(place, index) else { return };
                    let value = b.read(&part);
                    b.line(format!("{}[{}] = {}", whole.text, index.text(), value.text));
                });
                whole
            }
            _ => self.t.stand_in("loads of such types"),
        }
    }

    fn read_parts(&mut self, place: &Place, count: u32) -> Vec<Expr> {
        let parts: Vec<Place> = (0..count).filter_map(|n| self.part(place, &Index::Known(n))).collect();
        parts.iter().map(|part| self.read(part)).collect()
    }

    /// The value at a path that can be read as a whole.
    fn read_path(&mut self, laid: &LaidPath) -> Option<Expr> {
        if is_plain_path(self.t, laid) {
            return Some(if laid.points { dereferenced(&laid.path) } else { laid.path.clone() });
        }
        let (scalar, size) = self.t.shape(laid.ty)?;
        if let Some(parts) = self.down_column(laid) {
            return Some(Expr::call(&self.t.vector_name(scalar, size), &parts));
        }
        let language = self.t.language;
        let stored = stored_as(scalar, laid.how);
        let value = match layout::fit(self.t, laid.ty, laid.how, laid.is_packed)? {
            _ if laid.is_atomic => language.atomic_read(&laid.path),
            Fit::Own => laid.path.clone(),
            Fit::Wrapped => laid.path.part(".value"),
            Fit::First(_) => laid.path.part(&first_of(size)),
            Fit::Packed => {
                let name = self.t.vector_name(stored, size);
                Expr::call(&name, std::slice::from_ref(&laid.path))
            }
        };
        let [from, to] = [stored, scalar].map(|scalar| self.t.types.vector(scalar, size));
        Some(self.t.converted(&value, from, to))
    }

    /// A loop over the elements of an array.
    pub fn each_index(&mut self, ty: TypeId, write: impl FnOnce(&mut Self, &Expr)) {
        let Type::Array { len, .. } = self.t.types.get(ty) else { return };
        let length = self.t.length(len);
        let zero = self.t.literal(Scalar::U32, 0);
        let index = self.changing("element", Types::U32, &zero);
        let first = if self.t.language.has_fixed_names() { self.take_counter(&index.text) } else { None };
        let body = self.within(|b| write(b, &index));
        let condition = Some(format!("{} < {length}", index.text));
        let hint = self.t.language.hint(self, crate::ir::ControlHint::DontUnroll);
        self.push(Kind::For { first, condition, steps: vec![format!("{}++", index.text)], body, hint });
    }

    fn each_element(&mut self, ty: TypeId, write: impl FnOnce(&mut Self, &Index)) {
        self.each_index(ty, |b, index| write(b, &Index::Varying(index.clone())));
    }

    fn read_vector(&mut self, address: &Address, scalar: Scalar, size: u8) -> Expr {
        let language = self.t.language;
        if address.step.is_some() || (address.is_rows && size > 1) {
            let step = address.step.unwrap_or(bytes(scalar));
            let parts: Vec<Expr> =
                (0..u32::from(size)).map(|n| language.read_bytes(self, address, scalar, (n * step, 1))).collect();
            let name = self.t.vector_name(scalar, size);
            return if size == 1 { parts[0].clone() } else { Expr::call(&name, &parts) };
        }
        language.read_bytes(self, address, scalar, (0, size))
    }

    /// Stores to the target of a pointer.
    pub fn store_place(&mut self, pointer: Value, value: Value) {
        let value = self.value(value);
        if let Some(place) = self.whole_place(pointer) {
            return self.write(&place, value);
        }
        let place = match self.made(pointer) {
            Made::Bytes(address) => Place::Bytes(address),
            Made::Laid(laid) => Place::Path(laid),
            Made::Pair(_) => return self.t.internal("a store to resources"),
            Made::One(_) => return self.store_path(pointer, value),
        };
        self.write(&place, value);
    }

    fn write(&mut self, place: &Place, value: Expr) {
        let ty = match place {
            Place::Path(laid) => match self.write_path(laid, &value) {
                true => return,
                false => laid.ty,
            },
            Place::Bytes(address) => match self.t.shape(address.ty) {
                Some((scalar, size)) => return self.write_vector(address, (scalar, size), &value),
                None if self.is_reference(address.ty) => {
                    return self.write_vector(address, (Scalar::U64, 1), &value);
                }
                None => address.ty,
            },
        };
        let logical = self.t.types.logical(ty);
        let value = if value.is_plain() { value } else { self.name("stored", logical, &value) };
        match self.t.types.get(ty) {
            Type::Matrix { scalar, columns, rows, .. }
                if let Place::Path(laid) = place
                    && laid.is_in_rows(self.t) =>
            {
                let turned = self.t.types.matrix(scalar, rows, columns);
                let turned = self.name("rows", turned, &Expr::call("transpose", &[value]));
                for n in 0..rows {
                    if let Some(row) = self.row(laid, &n.to_string()) {
                        self.write(&Place::Path(row), turned.part(&format!("[{n}]")));
                    }
                }
            }
            Type::Matrix { columns, .. } => {
                for n in 0..u32::from(columns) {
                    if let Some(part) = self.part(place, &Index::Known(n)) {
                        self.write(&part, value.part(&format!("[{n}]")));
                    }
                }
            }
            Type::Struct(of) => {
                let names = self.t.member_names(of);
                for (n, name) in (0..).zip(names.iter()) {
                    if let Some(part) = self.part(place, &Index::Known(n)) {
                        self.write(&part, value.part(&format!(".{name}")));
                    }
                }
            }
            Type::Array { len: ArrayLen::Fixed(_) | ArrayLen::Spec(_), .. } => {
                self.each_element(ty, |b, index| {
                    let Some(part) = b.part(place, index) else { return };
                    b.write(&part, value.part(&format!("[{}]", index.text())));
                });
            }
            _ => self.t.unsupported("stores of such types"),
        }
    }

    /// Stores to a path that can be written as a whole. Returns false for others.
    fn write_path(&mut self, laid: &LaidPath, value: &Expr) -> bool {
        if is_plain_path(self.t, laid) {
            let place = if laid.points { dereferenced(&laid.path) } else { laid.path.clone() };
            self.line(format!("{} = {}", place.text, value.text));
            return true;
        }
        let Some((scalar, size)) = self.t.shape(laid.ty) else { return false };
        if let Some(places) = self.down_column(laid) {
            self.write_components(&places, value, laid.ty);
            return true;
        }
        let language = self.t.language;
        if laid.is_atomic {
            self.line(language.atomic_write(&laid.path, value));
            return true;
        }
        let Some(fit) = layout::fit(self.t, laid.ty, laid.how, laid.is_packed) else { return false };
        let stored = stored_as(scalar, laid.how);
        let [from, to] = [scalar, stored].map(|scalar| self.t.types.vector(scalar, size));
        let value = self.t.converted(value, from, to);
        if matches!(fit, Fit::First(_)) && size > 1 && !language.assigns_swizzles() {
            let places: Vec<Expr> = (0..size).map(|n| laid.path.part(&component(n.into()))).collect();
            self.write_components(&places, &value, to);
            return true;
        }
        let place = match fit {
            Fit::First(_) => laid.path.part(&first_of(size)),
            Fit::Wrapped => laid.path.part(".value"),
            _ => laid.path.clone(),
        };
        self.line(format!("{} = {}", place.text, value.text));
        true
    }

    /// Stores a vector component by component.
    fn write_components(&mut self, places: &[Expr], value: &Expr, ty: TypeId) {
        let value = self.plain(value.clone(), ty);
        for (n, place) in (0..).zip(places) {
            self.line(format!("{} = {}", place.text, value.part(&component(n)).text));
        }
    }

    fn write_vector(&mut self, address: &Address, (scalar, size): (Scalar, u8), value: &Expr) {
        if let (Some(step), true) = (address.step, size > 1) {
            let ty = self.t.types.vector(scalar, size);
            let value = self.plain(value.clone(), ty);
            for n in 0..u32::from(size) {
                let constant = address.constant + n * step;
                let part = Address { constant, step: None, ..address.clone() };
                self.write_vector(&part, (scalar, 1), &value.part(&component(n)));
            }
            return;
        }
        let language = self.t.language;
        language.write_bytes(self, address, (scalar, size), value);
    }
}
