//! Locations of inputs and outputs: scalars and vectors at them, and members that several variables share.

use super::dialect::Part;
use super::{Extra, Msl};
use crate::backend::source::constants::component;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::Body;
use crate::backend::source::ports::location_of;
use crate::backend::source::writer::Writer;
use crate::ir::{
    ArrayLen, Binding, BuiltIn, Function, Global, GlobalId, InterpolateAt, Interpolation, Op, Sampling, Scalar, Space,
    Stage, Type, TypeId, Types, Value, Values,
};
use std::collections::{BTreeMap, BTreeSet};

/// A scalar or vector at a location: its name in the struct of all inputs or outputs, and its path in the variable.
pub(super) struct Leaf {
    pub name: String,
    pub path: String,
    pub ty: TypeId,
    pub binding: Binding,
}

/// A location in a space: true for outputs, its number, and the index of a color.
pub(super) type Place = (bool, u32, u32);

/// A location shared by several variables: one member of the input or output struct.
#[derive(Clone, Debug)]
pub(super) struct Whole {
    name: String,
    scalar: Scalar,
    size: u8,
    /// The leaves found at it, and true if one of them does not start at its first component.
    leaves: u32,
    is_parted: bool,
}

fn place_of(binding: Binding, space: Space) -> Option<Place> {
    let Binding::Location { location: Some(location), index, .. } = binding else { return None };
    Some((space == Space::Output, location, index))
}

const fn component_of(binding: Binding) -> u32 {
    if let Binding::Location { component, .. } = binding { component } else { 0 }
}

/// Returns true if an input is interpolated.
const fn is_smooth(binding: Binding) -> bool {
    matches!(binding, Binding::Location { interpolation: Interpolation::Perspective | Interpolation::Linear, .. })
}

const fn perspective_of(binding: Binding) -> &'static str {
    match binding {
        Binding::Location { interpolation: Interpolation::Linear, .. } => "no_perspective",
        _ => "perspective",
    }
}

/// The input that a pointer points into, and the indices to its part.
fn input_of(f: &Function, pointer: Value) -> Option<(GlobalId, Vec<Value>)> {
    match pointer {
        Value::Global(id) => Some((id, Vec::new())),
        Value::Inst(id) => {
            let Op::Access { base, indices } = f.insts[id].op else { return None };
            let (id, mut list) = input_of(f, base)?;
            list.extend_from_slice(f.values(indices));
            Some((id, list))
        }
        _ => None,
    }
}

/// Limit of the locations of one input or output, each a member of a struct.
const MOST_LOCATIONS: u32 = 1024;

impl Msl {
    /// Finds the locations that several variables share, or in which a variable does not start at the first component.
    pub fn find_parted(&self, t: &mut Writer) {
        let mut found: BTreeMap<Place, Whole> = BTreeMap::new();
        let is_separate = |stage, space| match stage {
            Some(Stage::TessControl) => true,
            Some(Stage::TessEvaluation) => space == Space::Input,
            _ => false,
        };
        for (side, space) in [Space::Input, Space::Output].into_iter().enumerate() {
            if is_separate(t.stage(), space) {
                continue;
            }
            for id in t.ports.located[side].clone() {
                let global = &t.module.globals[id];
                t.span = global.span;
                for leaf in self.leaves(t, id, global) {
                    let (Some(place), Some((scalar, size))) = (place_of(leaf.binding, space), t.shape(leaf.ty)) else {
                        continue;
                    };
                    let first = component_of(leaf.binding);
                    let end = (first as u8).saturating_add(size).min(4);
                    let whole = found.entry(place).or_insert(Whole {
                        name: String::new(),
                        scalar,
                        size: end,
                        leaves: 0,
                        is_parted: false,
                    });
                    whole.size = whole.size.max(end);
                    whole.leaves += 1;
                    whole.is_parted |= first > 0;
                }
            }
        }
        found.retain(|_, whole| whole.is_parted || whole.leaves > 1);
        for ((_, location, _), whole) in &mut found {
            whole.name = t.names.unique(&format!("location_{location}"), None);
        }
        t.msl.parted = found;
    }

    fn whole_of(&self, t: &Writer, binding: Binding, space: Space) -> Option<Whole> {
        t.msl.parted.get(&place_of(binding, space)?).cloned()
    }

    /// Returns true if an input or output is a member of the common struct, which contains scalars and vectors.
    pub fn is_member(&self, t: &Writer, global: &Global) -> bool {
        let is_alone = self.whole_of(t, global.binding, global.space).is_none();
        t.shape(global.ty).is_some() && is_alone && !self.is_pulled(t, global.binding, global.space)
    }

    /// The member of the common input or output struct for a leaf, and the leaf's part of it.
    fn member_of(&self, t: &Writer, leaf: &Leaf, space: Space) -> [String; 2] {
        let Some(whole) = self.whole_of(t, leaf.binding, space) else { return [leaf.name.clone(), String::new()] };
        let (first, size) = (component_of(leaf.binding), t.types.components(leaf.ty).unwrap_or(1));
        if size == whole.size {
            return [whole.name, String::new()];
        }
        let letters: String = (first..first + u32::from(size)).map(|n| component(n)[1..].to_string()).collect();
        [whole.name, format!(".{letters}")]
    }

    /// The member of the output struct for a leaf, with the leaf's part of it.
    pub(super) fn output_member(&self, t: &Writer, leaf: &Leaf) -> String {
        self.member_of(t, leaf, Space::Output).concat()
    }

    /// Declares the member of the common input or output struct for a leaf, once.
    pub(super) fn add_line(&self, t: &mut Writer, leaf: &Leaf, space: Space, lines: &mut Vec<String>) {
        let Some((scalar, size)) = t.shape(leaf.ty) else { return };
        if scalar.width == 64 {
            t.lacks("inputs and outputs of 64 bits");
        }
        let whole = self.whole_of(t, leaf.binding, space);
        let (name, scalar, size) = match &whole {
            Some(whole) => (&whole.name, whole.scalar, whole.size),
            None => (&leaf.name, scalar, size),
        };
        let ty = t.vector_name(scalar, size);
        let at = self.location(t, leaf.binding, scalar, space);
        let declared = format!(" {name} [[");
        if whole.is_some() && lines.iter().any(|line| line.contains(&declared)) {
            return;
        }
        lines.push(match self.is_pulled(t, leaf.binding, space) {
            true => format!("    interpolant<{ty}, interpolation::{}>{declared}{at}]];", perspective_of(leaf.binding)),
            false => format!("    {ty}{declared}{at}]];"),
        });
    }

    /// The value of an input's leaf.
    pub(super) fn input_value(&self, b: &mut Body, leaf: &Leaf, input: &str) -> String {
        let [name, part] = self.member_of(b.t, leaf, Space::Input);
        let at = if self.is_pulled(b.t, leaf.binding, Space::Input) {
            self.own_place(b, leaf.binding)
        } else {
            String::new()
        };
        self.as_leaf(b.t, Expr::primary(format!("{input}.{name}{at}{part}")), leaf).text
    }

    /// The position in the pixel of a value that the language interpolates by a call.
    fn own_place(&self, b: &mut Body, binding: Binding) -> String {
        let Binding::Location { sampling, .. } = binding else { return String::new() };
        match sampling {
            Sampling::Center => ".interpolate_at_center()".to_string(),
            Sampling::Centroid => ".interpolate_at_centroid()".to_string(),
            Sampling::Sample => {
                let sample = self.built_in(b, BuiltIn::SampleId, Space::Input);
                format!(".interpolate_at_sample({})", sample.map_or_else(String::new, |sample| sample.text))
            }
        }
    }

    /// Finds the inputs that the shader interpolates at other places of the pixel.
    pub fn find_pulled(&self, t: &mut Writer) {
        let module = t.module;
        let mut found = BTreeSet::new();
        for (_, f) in module.functions.iter() {
            for (_, inst) in f.insts.iter() {
                let Op::Interpolate { pointer, .. } = inst.op else { continue };
                let Some((id, _)) = input_of(f, pointer) else { continue };
                for leaf in self.leaves(t, id, &module.globals[id]) {
                    let is_float = t.types.scalar_of(leaf.ty).is_some_and(Scalar::is_float);
                    if let (true, Some(place)) =
                        (is_float && is_smooth(leaf.binding), place_of(leaf.binding, Space::Input))
                    {
                        found.insert(place);
                        if matches!(leaf.binding, Binding::Location { sampling: Sampling::Sample, .. }) {
                            t.note_built_in(BuiltIn::SampleId, "sample_index", Types::I32);
                        }
                    }
                }
            }
        }
        if !found.is_empty() {
            t.msl.names.inputs = t.names.unique("inputs", None);
        }
        t.msl.pulled = found;
    }

    /// Returns true if the language interpolates an input by a call.
    pub fn is_pulled(&self, t: &Writer, binding: Binding, space: Space) -> bool {
        place_of(binding, space).is_some_and(|place| t.msl.pulled.contains(&place))
    }

    /// An input at another position in the pixel.
    pub fn interpolate(&self, b: &mut Body, at: InterpolateAt, pointer: Value, args: Values) -> Expr {
        if at == InterpolateAt::Vertex {
            return b.t.lacking("values of a vertex in fragment shaders");
        }
        let Some((id, indices)) = input_of(b.f, pointer) else { return b.t.stand_in("such places of inputs") };
        let global = &b.t.module.globals[id];
        let (mut path, mut ty) = (self.port_name(b.t, id), global.ty);
        let mut rest = indices.as_slice();
        while let (None, [index, others @ ..]) = (b.t.shape(ty), rest) {
            let Some(number) = b.t.module.known_u32(*index) else {
                return b.t.lacking("interpolation of elements whose number is not a constant");
            };
            path += &b.suffix(ty, number);
            let Some(part) = b.t.types.element(ty, number) else { return b.t.broken("no such part") };
            (ty, rest) = (part, others);
        }
        let leaves = self.leaves(b.t, id, global);
        let Some(leaf) = leaves.iter().find(|leaf| leaf.path == path) else {
            return b.t.stand_in("interpolation of inputs of such types");
        };
        if !self.is_pulled(b.t, leaf.binding, Space::Input) {
            return b.value(pointer);
        }
        self.needs(b.t, Part::PulledInputs);
        let args = b.list(args);
        let call = match at {
            InterpolateAt::Centroid => "interpolate_at_centroid()".to_string(),
            InterpolateAt::Sample => format!("interpolate_at_sample({})", args[0].text),
            // Offsets start in the corner of the pixel, in sixteenths, whose eighth is the center. SPIRV-Cross adds the
            // same amount, based on tests on devices.
            _ => format!("interpolate_at_offset({} + 0.4375)", args[0].at(Level::Sum)),
        };
        let inputs = self.inputs(b);
        let [name, part] = self.member_of(b.t, leaf, Space::Input);
        let value = Expr::primary(format!("{inputs}.{name}.{call}{part}"));
        let mut value = self.as_leaf(b.t, value, leaf);
        for index in rest {
            let suffix = match b.t.module.known_u32(*index) {
                Some(number) => component(number),
                None => format!("[{}]", b.value(*index).text),
            };
            value = value.part(&suffix);
        }
        args.iter().fold(value, |value, arg| value.reading(&arg.reads))
    }

    /// The struct of all inputs, which functions that interpolate receive whole.
    pub fn inputs(&self, b: &mut Body) -> String {
        if b.entry.is_some() {
            return b.t.ports.input.clone();
        }
        b.t.msl.used.insert(Extra::Inputs);
        b.t.msl.names.inputs.clone()
    }

    /// A part of a location in the leaf's own type.
    fn as_leaf(&self, t: &mut Writer, value: Expr, leaf: &Leaf) -> Expr {
        let (Some(whole), Some((_, size))) = (self.whole_of(t, leaf.binding, Space::Input), t.shape(leaf.ty)) else {
            return value;
        };
        let from = t.types.vector(whole.scalar, size);
        t.converted(&value, from, leaf.ty)
    }

    /// The place of an output's leaf in the struct, and the value for it.
    pub(super) fn output_place(&self, t: &mut Writer, leaf: &Leaf) -> (String, String) {
        let place = self.member_of(t, leaf, Space::Output).concat();
        let value = Expr::primary(leaf.path.clone());
        let value = match (self.whole_of(t, leaf.binding, Space::Output), t.shape(leaf.ty)) {
            (Some(whole), Some((_, size))) => {
                let to = t.types.vector(whole.scalar, size);
                t.converted(&value, leaf.ty, to)
            }
            _ => value,
        };
        (place, value.text)
    }

    /// The leaves of an input or output.
    pub(super) fn leaves(&self, t: &mut Writer, id: GlobalId, global: &Global) -> Vec<Leaf> {
        if t.types.locations(global.ty) > MOST_LOCATIONS {
            let outside = std::mem::replace(&mut t.span, global.span);
            t.unsupported(&format!("inputs and outputs of more than {MOST_LOCATIONS} locations"));
            t.span = outside;
            return Vec::new();
        }
        let name = self.port_name(t, id);
        let mut leaves = Vec::new();
        let (path, ty) = self.leaf_root(t, id, &name);
        match t.block_of(global.ty) {
            Some(_) => {
                let whole = Leaf { path, name, ty, binding: global.binding };
                let mut next = location_of(t, global).unwrap_or(0);
                self.add_blocks(t, &whole, 0, &mut next, &mut leaves);
            }
            None => self.add_leaves(t, Leaf { path, name, ty, binding: global.binding }, &mut leaves),
        }
        leaves
    }

    /// The leaves of a block, or of an array of blocks, whose elements have consecutive locations.
    fn add_blocks(&self, t: &mut Writer, whole: &Leaf, shift: u32, next: &mut u32, leaves: &mut Vec<Leaf>) {
        match t.types.get(whole.ty) {
            Type::Array { element, len: ArrayLen::Fixed(len), .. } => {
                let locations = t.types.locations(element);
                for n in 0..len {
                    crate::limits::spend(1);
                    let name = format!("{}_{n}", whole.name);
                    let path = format!("{}[{n}]", whole.path);
                    let one = Leaf { name, path, ty: element, binding: whole.binding };
                    self.add_blocks(t, &one, shift + n * locations, next, leaves);
                }
            }
            Type::Struct(of) => {
                let names = t.member_names(of);
                for (member, named) in t.types.structs[of].members.clone().iter().zip(names.iter()) {
                    if matches!(member.binding, Binding::BuiltIn(_)) {
                        continue;
                    }
                    let own = match member.binding {
                        Binding::Location { .. } => member.binding,
                        _ => whole.binding,
                    };
                    let location = match member.binding {
                        Binding::Location { location: Some(at), .. } => at.saturating_add(shift),
                        _ => *next,
                    };
                    *next = location + t.types.locations(member.ty);
                    let leaf = Leaf {
                        name: format!("{}_{named}", whole.name),
                        path: format!("{}.{named}", whole.path),
                        ty: member.ty,
                        binding: at_location(own, location),
                    };
                    self.add_leaves(t, leaf, leaves);
                }
            }
            _ => t.unsupported("inputs and outputs of such types"),
        }
    }

    fn add_leaves(&self, t: &mut Writer, of: Leaf, leaves: &mut Vec<Leaf>) {
        if t.shape(of.ty).is_some() {
            return leaves.push(of);
        }
        let Binding::Location { location: Some(mut at), .. } = of.binding else {
            return t.unsupported("inputs and outputs without a location");
        };
        let parts: Vec<(String, String, TypeId)> = match t.types.get(of.ty) {
            Type::Matrix { scalar, columns, rows, .. } => {
                let ty = t.types.vector(scalar, rows);
                (0..columns).map(|n| (format!("_{n}"), format!("[{n}]"), ty)).collect()
            }
            Type::Array { element, len: ArrayLen::Fixed(len), .. } => {
                (0..len).map(|n| (format!("_{n}"), format!("[{n}]"), element)).collect()
            }
            Type::Struct(id) => {
                let names = t.member_names(id);
                let members = &t.types.structs[id].members;
                members.iter().zip(names.iter()).map(|(m, n)| (format!("_{n}"), format!(".{n}"), m.ty)).collect()
            }
            _ => return t.unsupported("inputs and outputs of such types"),
        };
        for (name, path, ty) in parts {
            crate::limits::spend(1);
            let binding = at_location(of.binding, at);
            at = at.saturating_add(t.types.locations(ty));
            let leaf = Leaf { name: format!("{}{name}", of.name), path: format!("{}{path}", of.path), ty, binding };
            self.add_leaves(t, leaf, leaves);
        }
    }
}

/// The binding at another location.
fn at_location(binding: Binding, at: u32) -> Binding {
    match binding {
        Binding::Location { component, index, interpolation, sampling, .. } => {
            Binding::Location { location: Some(at), component, index, interpolation, sampling }
        }
        other => other,
    }
}
