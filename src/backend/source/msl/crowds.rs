//! Inputs and outputs in memory that several invocations share: per vertex, control point or primitive, and per patch.
//! Each owner has a struct with a member for each variable.

use super::types::vector_text;
use super::{Extra, Msl};
use crate::backend::source::expr::Expr;
use crate::backend::source::function::Body;
use crate::backend::source::ports::{built_in_of, location_of};
use crate::backend::source::tree::{Declared, Kind};
use crate::backend::source::writer::Writer;
use crate::ir::{
    ArrayLen, Binding, BuiltIn, Global, GlobalId, Interpolation, Scalar, Space, Stage, Type, TypeId, Value,
};

/// The owner of the values in a struct.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::backend::source) enum Owner {
    /// An input vertex of a control stage's patch.
    Vertex,
    /// An output control point of a control stage, which is an input of an evaluation stage.
    ControlPoint,
    /// Values that a control stage writes per patch.
    Patch,
    /// The tessellation levels that a control stage assigns.
    Factors,
    /// A vertex or a primitive that a mesh shader assigns.
    MeshVertex,
    MeshPrimitive,
    /// The mesh itself, which has the indices of primitives.
    Mesh,
    /// The numbers of a mesh's vertices and primitives.
    Counts,
    /// The grid of mesh functions that an object function starts.
    Grid,
}

/// The names of an owner's struct, of the buffer with all of them, and of the invocation's own one or its patch's.
#[derive(Clone, Default, Debug)]
pub(in crate::backend::source) struct OwnerNames {
    pub ty: String,
    pub buffer: String,
    pub own: String,
}

/// A vector or scalar in a struct of an owner.
#[derive(Clone, Debug)]
pub(in crate::backend::source) struct Part {
    /// A separate name, and the path to it from the variable.
    pub name: String,
    pub path: String,
    /// The type in the text.
    pub text: String,
    pub location: Option<u32>,
    pub component: u32,
    pub built_in: Option<BuiltIn>,
    /// Bytes from the start of the split composite.
    pub offset: u32,
    /// Its size and alignment.
    pub bytes: (u32, u32),
}

/// A struct in a buffer that a host or another stage shares.
#[derive(Clone, Default, Debug)]
pub(in crate::backend::source) struct Record {
    /// The buffer that contains them consecutively.
    pub buffer: String,
    pub stride: u32,
    pub parts: Vec<Part>,
}

/// Returns true for built-in values that each vertex has.
pub(super) const fn is_of_vertices(of: BuiltIn) -> bool {
    matches!(of, BuiltIn::Position | BuiltIn::PointSize | BuiltIn::ClipDistance | BuiltIn::CullDistance)
}

/// The interpolation of a variable; the members of a block may have their own.
fn interpolation_of(t: &Writer, global: &Global) -> Interpolation {
    let first = t.block_of(global.ty).and_then(|of| t.types.structs[of].members.first());
    match (global.binding.interpolation(), first) {
        (Interpolation::Perspective, Some(member)) => member.binding.interpolation(),
        (own, _) => own,
    }
}

/// Size and alignment of a type in the language's own layout (sections 2.2 to 2.4, tables of sizes and alignments).
pub(super) fn size_of(t: &Writer, ty: TypeId) -> (u32, u32) {
    let vector = |scalar: Scalar, size: u8| {
        let bytes = (u32::from(scalar.width) / 8).max(1) * u32::from(if size == 3 { 4 } else { size });
        (bytes, bytes)
    };
    match t.types.get(ty) {
        Type::Scalar(scalar) => vector(scalar, 1),
        Type::Vector { scalar, size } => vector(scalar, size),
        Type::Matrix { scalar, columns, rows, .. } => {
            let (size, align) = vector(scalar, rows);
            (size * u32::from(columns), align)
        }
        Type::Array { element, len: ArrayLen::Fixed(len), .. } => {
            let (size, align) = size_of(t, element);
            (size.saturating_mul(len), align)
        }
        Type::Struct(of) => {
            let members = &t.types.structs[of].members;
            let (end, align) = members.iter().fold((0u32, 1), |(end, most), member| {
                let (size, align) = size_of(t, member.ty);
                (end.next_multiple_of(align).saturating_add(size), most.max(align))
            });
            (end.next_multiple_of(align), align)
        }
        _ => (0, 1),
    }
}

/// Splits a type into vectors and scalars, starting at a place.
pub(super) fn take_apart(t: &mut Writer, ty: TypeId, first: Part, parts: &mut Vec<Part>) {
    if t.shape(ty).is_some() {
        let text = vector_text(t, ty);
        return parts.push(Part { text, bytes: size_of(t, ty), ..first });
    }
    let inner: Vec<(String, String, TypeId, Option<u32>)> = match t.types.get(ty) {
        Type::Matrix { scalar, columns, rows, .. } => {
            let column = t.types.vector(scalar, rows);
            (0..columns).map(|n| (format!("_{n}"), format!("[{n}]"), column, None)).collect()
        }
        Type::Array { element, len: ArrayLen::Fixed(len), .. } => {
            (0..len).map(|n| (format!("_{n}"), format!("[{n}]"), element, None)).collect()
        }
        Type::Struct(of) => {
            let names = t.member_names(of);
            let item = &t.types.structs[of];
            let own = |binding| match binding {
                Binding::Location { location, .. } if item.block => location,
                _ => None,
            };
            let rows = item.members.iter().zip(names.iter());
            rows.map(|(member, name)| (format!("_{name}"), format!(".{name}"), member.ty, own(member.binding)))
                .collect()
        }
        _ => return t.unsupported("inputs and outputs of such types"),
    };
    let (mut location, mut offset) = (first.location, 0u32);
    for (name, path, ty, own) in inner {
        crate::limits::spend(1);
        let (size, align) = size_of(t, ty);
        offset = offset.next_multiple_of(align);
        location = own.or(location);
        let part = Part {
            name: format!("{}{name}", first.name),
            path: format!("{}{path}", first.path),
            location,
            offset: first.offset.saturating_add(offset),
            ..first.clone()
        };
        take_apart(t, ty, part, parts);
        offset = offset.saturating_add(size);
        location = location.map(|location| location.saturating_add(t.types.locations(ty)));
    }
}

impl Msl {
    /// The owner of an input or output that is in the memory of several invocations.
    pub fn owner_of(&self, t: &Writer, id: GlobalId) -> Option<Owner> {
        let global = &t.module.globals[id];
        let built_in = built_in_of(t, global);
        let is_many = matches!(t.types.get(global.ty), Type::Array { .. }) && built_in.is_none_or(is_of_vertices);
        let is_of_patch = interpolation_of(t, global) == Interpolation::Patch;
        match (t.stage()?, global.space) {
            (Stage::TessControl, Space::Output)
                if matches!(built_in, Some(BuiltIn::TessLevelOuter | BuiltIn::TessLevelInner)) =>
            {
                Some(Owner::Factors)
            }
            (Stage::TessControl, Space::Output) if is_of_patch => Some(Owner::Patch),
            (Stage::TessControl, Space::Output) if is_many => Some(Owner::ControlPoint),
            (Stage::TessControl, Space::Input) if is_many => Some(Owner::Vertex),
            (Stage::Mesh, Space::Output) if built_in.is_some_and(|of| of.crowd().is_some()) => Some(Owner::Mesh),
            (Stage::Mesh, Space::Output) if !matches!(t.types.get(global.ty), Type::Array { .. }) => None,
            (Stage::Mesh, Space::Output) => Some(match (built_in, interpolation_of(t, global)) {
                (Some(of), _) if is_of_vertices(of) => Owner::MeshVertex,
                (None, Interpolation::PerPrimitive { .. }) | (Some(_), _) => Owner::MeshPrimitive,
                (None, _) => Owner::MeshVertex,
            }),
            (Stage::TessEvaluation, Space::Input) if is_many && !is_of_patch => Some(Owner::ControlPoint),
            _ => None,
        }
    }

    /// The type of a variable for one of its owners.
    pub fn type_for_one(&self, t: &Writer, id: GlobalId) -> TypeId {
        let ty = t.module.globals[id].ty;
        match (self.owner_of(t, id), t.types.get(ty)) {
            (Some(Owner::Vertex | Owner::ControlPoint), Type::Array { element, .. }) => element,
            (Some(Owner::MeshVertex | Owner::MeshPrimitive), Type::Array { element, .. }) => {
                // Some built-in values are the only member of a block.
                match t.types.get(element) {
                    Type::Struct(of) if built_in_of(t, &t.module.globals[id]).is_some() => {
                        t.types.structs[of].members.first().map_or(element, |member| member.ty)
                    }
                    _ => element,
                }
            }
            _ => ty,
        }
    }

    /// Gives an owner's built-in values the names of variables. As members, these need not be unique names.
    pub fn name_owned(&self, t: &mut Writer) {
        for id in t.module.globals.handles() {
            let global = &t.module.globals[id];
            let is_member = t.stage() != Some(Stage::TessEvaluation) || self.is_alone(t, id);
            if let (Some(of), true) = (built_in_of(t, global), self.owner_of(t, id).is_some() && is_member) {
                let name = super::names::spelled(&global.name);
                let alike = t.ports.built_in.iter_mut().filter(|given| given.of == of);
                alike.for_each(|given| given.name.clone_from(&name));
            }
            if let (Some(of), true) = (built_in_of(t, global), self.owner_of(t, id).is_some())
                && let Some(name) = t.ports.find(of, global.space).map(|given| given.name.clone())
            {
                t.global_names.insert(id, name);
            }
        }
    }

    /// The names of an owner's struct and of the variables that have it.
    pub fn names_of(&self, t: &Writer, owner: Owner) -> OwnerNames {
        t.msl.owners.get(&owner).cloned().unwrap_or_default()
    }

    /// The variables of an owner, in the order of its struct: variables at locations, then built-in values.
    pub fn owned(&self, t: &Writer, owner: Owner) -> Vec<GlobalId> {
        let is_owned = |id: &GlobalId| self.owner_of(t, *id) == Some(owner);
        let located = t.ports.located.iter().flatten().copied().filter(is_owned);
        let is_used = |id: &GlobalId| t.ports.named.contains(id) && built_in_of(t, &t.module.globals[*id]).is_some();
        let mut built_in: Vec<GlobalId> = t.module.globals.handles().filter(is_used).filter(is_owned).collect();
        built_in.sort_by_key(|id| built_in_of(t, &t.module.globals[*id]));
        built_in.dedup_by_key(|id| built_in_of(t, &t.module.globals[*id]));
        located.chain(built_in).collect()
    }

    /// The name of a variable as a member.
    pub fn member_name(&self, t: &Writer, id: GlobalId) -> String {
        let global = &t.module.globals[id];
        match built_in_of(t, global) {
            Some(of) => {
                t.ports.find(of, global.space).map_or_else(|| global.name.to_string(), |given| given.name.clone())
            }
            None => self.port_name(t, id),
        }
    }

    /// The parts of a variable for one of its owners.
    pub fn parts_of_one(&self, t: &mut Writer, id: GlobalId) -> Vec<Part> {
        let global = &t.module.globals[id];
        let name = self.member_name(t, id);
        let ty = self.type_for_one(t, id);
        let component = if let Binding::Location { component, .. } = global.binding { component } else { 0 };
        let first = Part {
            path: name.clone(),
            name,
            text: String::new(),
            location: location_of(t, global),
            component,
            built_in: built_in_of(t, global),
            offset: 0,
            bytes: (0, 1),
        };
        let mut parts = Vec::new();
        take_apart(t, ty, first, &mut parts);
        parts
    }

    /// Declares the struct of an owner, with its variables as members. Returns the struct's layout in a buffer.
    pub fn declare_record(&self, t: &mut Writer, owner: Owner) -> Record {
        let names = self.names_of(t, owner);
        let (mut lines, mut parts) = (Vec::new(), Vec::new());
        let (mut end, mut most) = (0u32, 1);
        for id in self.owned(t, owner) {
            let outside = std::mem::replace(&mut t.span, t.module.globals[id].span);
            let ty = self.type_for_one(t, id);
            self.check_width(t, ty);
            let (base, dims) = t.declared(ty);
            lines.push(format!("    {base} {}{dims};", self.member_name(t, id)));
            let (size, align) = size_of(t, ty);
            end = end.next_multiple_of(align);
            most = most.max(align);
            let own = self.parts_of_one(t, id);
            parts.extend(own.into_iter().map(|part| Part { offset: part.offset.saturating_add(end), ..part }));
            end = end.saturating_add(size);
            t.span = outside;
        }
        t.declare_struct(&names.ty, lines);
        Record { buffer: names.buffer, stride: end.next_multiple_of(most), parts }
    }

    /// Refuses numbers that the language does not pass between stages.
    pub fn check_width(&self, t: &mut Writer, ty: TypeId) {
        if t.types.holds_scalar(ty, |scalar| scalar.width == 64) {
            t.lacks("inputs and outputs of 64 bits");
        }
    }

    /// An input or output of an owner at its use: the invocation's element, or the member of its patch.
    pub fn owned_port(&self, b: &mut Body, id: GlobalId, owner: Owner) -> Expr {
        if b.t.stage() == Some(Stage::TessEvaluation) {
            if !self.is_alone(b.t, id) {
                b.t.msl.used.insert(Extra::Global(id));
                return Expr::primary(self.port_name(b.t, id));
            }
            let inputs = self.inputs(b);
            return Expr::primary(format!("{inputs}.{}", self.names_of(b.t, owner).own));
        }
        let own = self.names_of(b.t, owner).own;
        if owner == Owner::Factors {
            return self.levels(b, id);
        }
        b.t.msl.used.insert(Extra::Own(owner));
        match owner {
            Owner::Patch => Expr::primary(format!("{own}.{}", self.member_name(b.t, id))),
            _ => Expr::primary(own),
        }
    }

    /// The elements of all owners as an array, if a variable is read whole.
    pub fn load_all(&self, b: &mut Body, pointer: Value, ty: TypeId) -> Option<Expr> {
        let Value::Global(id) = pointer else { return None };
        let owner = self.owner_of(b.t, id)?;
        let member = self.member_of_element(b.t, id)?;
        let from = self.owned_port(b, id, owner);
        let whole = b.variable("elements", ty);
        let count = match (b.t.stage(), owner) {
            (Some(Stage::TessEvaluation), _) => format!("uint({}.size())", from.text),
            (_, Owner::Vertex) => {
                self.built_in(b, BuiltIn::PatchVertices, Space::Input).map_or_else(String::new, |count| count.text)
            }
            _ => b.t.types.part_count(ty).unwrap_or(0).to_string(),
        };
        let index = b.named("element");
        let line = format!("{}[{index}] = {}[{index}]{member}", whole.text, from.text);
        let body = b.within(|b| b.line(line));
        let (name, value) = (index.clone(), Some("0u".to_string()));
        let first = Declared { ty: "uint".to_string(), name, dims: String::new(), value, is_fixed: false };
        let condition = Some(format!("{index} < {count}"));
        let steps = vec![format!("{index}++")];
        b.push(Kind::For { first: Some(Box::new(first)), condition, steps, body, hint: "" });
        Some(whole)
    }

    /// The element's member that represents a variable.
    pub fn member_of_element(&self, t: &Writer, id: GlobalId) -> Option<String> {
        let owner = self.owner_of(t, id)?;
        let is_evaluated = t.stage() == Some(Stage::TessEvaluation);
        let has_member =
            matches!(owner, Owner::Vertex | Owner::ControlPoint | Owner::MeshVertex | Owner::MeshPrimitive)
                && (!is_evaluated || self.is_alone(t, id));
        has_member.then(|| format!(".{}", self.member_name(t, id)))
    }

    /// Returns true if an input of an evaluation stage is one vector or scalar for each control point.
    pub fn is_alone(&self, t: &Writer, id: GlobalId) -> bool {
        t.shape(self.type_for_one(t, id)).is_some()
    }
}
