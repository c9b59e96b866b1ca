//! Inputs and outputs that use the same components of a location (GLSL 4.60 section 4.4.1). Variables that share a
//! location without sharing components may have different types, and the interfaces of two stages are not compared.

use super::Sema;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{ArrayLen, Binding, Global, Module, Scalar, Space, Stage, Type, TypeId, Types};
use rustc_hash::FxHashMap;

/// Limit of the examined locations of one variable; no interface has this many.
const MOST: u32 = 1 << 10;

/// Components of a location.
const COMPONENTS: u32 = 4;

/// A location of the inputs or the outputs; outputs have two sources of blending.
type Spot = (Space, u32, u32);

/// One part of an interface, walked location by location.
struct Walk<'t> {
    types: &'t Types,
    /// The next location, and the one to stop at.
    next: u32,
    end: u32,
    /// Locations and their used components, one bit each.
    taken: Vec<(u32, u32)>,
}

impl Sema<'_> {
    /// Reports each variable that overlaps an earlier one.
    pub fn check_locations(&mut self, module: &Module) {
        let mut owners: FxHashMap<Spot, [Option<&Global>; COMPONENTS as usize]> = FxHashMap::default();
        let borders = module.globals.iter().map(|(_, global)| global);
        for global in borders.filter(|global| matches!(global.space, Space::Input | Space::Output)) {
            let other = parts(&module.types, global, self.env.stage).into_iter().find_map(|(spot, mask)| {
                let owner = owners.entry(spot).or_default();
                let taken = owner.iter_mut().enumerate().filter(|(n, _)| mask >> n & 1 != 0);
                let before = taken.fold(None, |found, (_, slot)| found.or(slot.replace(global)));
                before.map(|other| (spot, other))
            });
            if let Some(((_, _, location), other)) = other {
                self.report(collision(global, other, location));
            }
        }
    }
}

#[cold]
fn collision(global: &Global, other: &Global, location: u32) -> Diagnostic {
    let message = if std::ptr::eq(global, other) {
        format!("members of `{}` share location {location}", global.name)
    } else {
        format!("`{}` and `{}` share location {location}", other.name, global.name)
    };
    Diagnostic::error(Code::BAD_LAYOUT, message).at(global.span, "this location is taken")
}

/// The locations and components of a variable; `None` if its place is given otherwise.
fn parts(types: &Types, global: &Global, stage: Stage) -> Vec<(Spot, u32)> {
    let of = |binding, ty| {
        part(types, binding, ty).map(move |(index, taken)| {
            taken.into_iter().map(move |(location, mask)| ((global.space, index, location), mask))
        })
    };
    let ty = match types.get(global.ty) {
        // The values of all vertices have the same location.
        Type::Array { element, .. } if stage.crowd(global.space, global.binding.interpolation()).is_some() => element,
        _ => global.ty,
    };
    match (part(types, global.binding, ty), types.get(ty)) {
        (None, Type::Struct(id)) => {
            let members = types.structs[id].members.iter();
            members.filter_map(|member| of(member.binding, member.ty)).flatten().collect()
        }
        _ => of(global.binding, ty).into_iter().flatten().collect(),
    }
}

/// The blend source of a variable or member, and its components of each location.
fn part(types: &Types, binding: Binding, ty: TypeId) -> Option<(u32, Vec<(u32, u32)>)> {
    let Binding::Location { location: Some(first), component, index, .. } = binding else { return None };
    let mut walk = Walk { types, next: first, end: first.saturating_add(MOST), taken: Vec::new() };
    walk.through(ty, component);
    Some((index, walk.taken))
}

impl Walk<'_> {
    fn through(&mut self, ty: TypeId, component: u32) {
        match self.types.get(ty) {
            Type::Scalar(scalar) => self.column(scalar, 1, component),
            Type::Vector { scalar, size } => self.column(scalar, size, component),
            Type::Matrix { scalar, columns, rows, .. } => {
                (0..columns).for_each(|_| self.column(scalar, rows, component))
            }
            Type::Array { element, len: ArrayLen::Fixed(len), .. } => {
                let mut left = 0..len;
                while self.next < self.end && left.next().is_some() {
                    self.through(element, component);
                }
            }
            Type::Struct(of) => {
                let types = self.types;
                types.structs[of].members.iter().for_each(|member| self.through(member.ty, 0));
            }
            _ => {}
        }
    }

    /// A scalar or vector: doubles use two components, and four of them two locations.
    fn column(&mut self, scalar: Scalar, rows: u8, component: u32) {
        let wide = if scalar.width == 64 { 2 } else { 1 };
        let mut mask = ((1 << (wide * u32::from(rows))) - 1) << component;
        while mask != 0 {
            self.taken.push((self.next, mask & 0xf));
            self.next = self.next.saturating_add(1);
            mask >>= COMPONENTS;
        }
    }
}
