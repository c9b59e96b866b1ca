//! Links two stages that are compiled together: makes the inputs of one agree with the outputs of the previous one.
//!
//! Vulkan matches them by location and otherwise allows differences. Direct3D 12 also needs the same registers, Metal
//! the same types, and WebGPU the same types and interpolation.

use super::splice::{self, Splice};
use super::{
    Access, ArrayLen, Binding, BuiltIn, ConstValue, Crowd, FuncId, Function, Global, GlobalId, InstId, Interpolation,
    Member, Module, Name, Op, Other, PrimitiveMode, ResourceClass, Sampling, Scalar, Space, Stage, Struct, StructId,
    Type, TypeId, Types, Value,
};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// The resources of a module, in the order of their places.
pub fn resources(module: &Module) -> BTreeSet<Other> {
    module.globals.iter().filter_map(|(_, global)| resource_of(module, global)).collect()
}

/// A variable as a resource; `None` for other variables.
pub fn resource_of(module: &Module, global: &Global) -> Option<Other> {
    let (Binding::Resource { set, binding } | Binding::Attachment { set, binding, .. }) = global.binding else {
        return None;
    };
    let class = match (global.space, module.types.get(module.types.innermost(global.ty))) {
        (Space::Uniform, _) => ResourceClass::UniformBlock,
        (_, Type::SampledImage(_)) => ResourceClass::SampledTexture,
        (_, Type::Image(image)) if image.storage => ResourceClass::Image,
        (_, Type::Image(_)) => ResourceClass::Texture,
        (_, Type::Sampler) => ResourceClass::Sampler,
        (_, Type::AccelerationStructure) => ResourceClass::AccelerationStructure,
        _ => ResourceClass::StorageBlock,
    };
    Some(Other { set, binding, class, count: elements(&module.types, global.ty) })
}

/// The number of elements of an array of resources.
fn elements(types: &Types, ty: TypeId) -> u32 {
    match types.get(ty) {
        Type::Array { element, len: ArrayLen::Fixed(len), .. } => elements(types, element).saturating_mul(len),
        _ => 1,
    }
}

/// The interpolation of a fragment input, and its sampling position.
type Manner = (Interpolation, Sampling);

/// A part of an input or output with its own location: never a struct.
#[derive(Clone, Debug)]
struct Port {
    global: GlobalId,
    /// The member of a block; `None` for a whole variable or a part of a struct.
    member: Option<u32>,
    is_whole: bool,
    /// True if there is one for each of several vertices.
    is_crowd: bool,
    name: Name,
    ty: TypeId,
    /// Number of locations.
    locations: u32,
    /// Number of components in each location.
    width: u32,
    manner: Manner,
}

/// Location and first component.
type Place = (u32, u32);

type Ports = BTreeMap<Place, Port>;

/// Makes the outputs of a stage and the inputs of the next one agree. With `by_order` their order matters too, so the
/// later stage also gets the inputs that it does not read.
pub fn link(before: &mut Module, after: &mut Module, by_order: bool) {
    let (outputs, inputs) = (ports(before, Space::Output), ports(after, Space::Input));
    for (place, input) in &inputs {
        outputs.get(place).into_iter().for_each(|output| interpolate(before, output, *place, input.manner));
    }
    for (place, output) in &outputs {
        match inputs.get(place) {
            Some(input) if input.is_crowd || output.is_crowd => {}
            Some(input) if is_alone(&outputs, *place) && is_alone(&inputs, *place) => {
                widen_narrower(before, after, output, input);
            }
            Some(_) => {}
            None if by_order && is_followed(after, &inputs, *place) && !is_covered(&inputs, *place) => {
                copy(before, output, *place, after, Space::Input);
            }
            None => {}
        }
    }
    for (place, input) in inputs.iter().filter(|(place, _)| !is_covered(&outputs, **place)) {
        if let Some(output) = copy(after, input, *place, before, Space::Output) {
            fill_with_zeros(before, output);
        }
    }
}

/// Gives each tessellation stage the modes that the other one states: SPIR-V allows either stage to state them.
pub fn link_tessellation(control: &mut Module, evaluation: &mut Module) {
    let modes = |module: &Module| module.entry_points.iter().flat_map(|entry| entry.primitives.clone()).collect();
    let stated: [Vec<_>; 2] = [modes(control), modes(evaluation)];
    for (module, others) in [control, evaluation].into_iter().zip(stated.iter().rev()) {
        for entry in &mut module.entry_points {
            let news: Vec<_> = others.iter().copied().filter(|mode| !entry.primitives.contains(mode)).collect();
            entry.primitives.extend(news);
        }
    }
}

/// Initialises an output that the source does not have, at the start of the stage.
fn fill_with_zeros(module: &mut Module, output: GlobalId) {
    // Their outputs are zero until the stage writes them.
    if module.entry_points.iter().any(|entry| entry.stage == Stage::TessControl) {
        return;
    }
    let zero = module.constants.intern(module.globals[output].ty, ConstValue::Zero);
    let store = Op::Store { pointer: Value::Global(output), value: Value::Const(zero) };
    for entry in &module.entry_points {
        let mut splice = Splice::new(&mut module.functions[entry.function]);
        splice.add(store, Types::VOID);
        splice.at_start();
    }
}

/// Returns true if no other port starts at a location.
fn is_alone(ports: &Ports, (location, _): Place) -> bool {
    ports.range((location, 0)..=(location, u32::MAX)).nth(1).is_none()
}

/// Returns true if a port covers a component of a location.
fn is_covered(ports: &Ports, (location, component): Place) -> bool {
    let takes = |((first, from), port): (&Place, &Port)| {
        location - first < port.locations && (*from..from + port.width).contains(&component)
    };
    ports.range(..=(location, u32::MAX)).any(takes)
}

/// The components of each of its locations that a type uses, from the first one on.
fn width(module: &Module, ty: TypeId) -> u32 {
    const ALL: u32 = 4;
    let innermost = module.types.innermost(ty);
    let is_wide = module.types.holds_scalar(innermost, |scalar| scalar.width == 64);
    module.types.components(innermost).filter(|_| !is_wide).map_or(ALL, u32::from)
}

/// Returns true if the stage has an input after the place; built-in values come after all locations.
fn is_followed(module: &Module, inputs: &Ports, place: Place) -> bool {
    inputs.range(place..).next().is_some() || module.globals.iter().any(|(_, global)| is_passed_built_in(global))
}

/// Returns true for built-in inputs that the previous stage writes.
fn is_passed_built_in(global: &Global) -> bool {
    match global.binding {
        // Only stages in the middle take positions as inputs.
        Binding::BuiltIn(BuiltIn::Position) => global.space == Space::Input,
        Binding::BuiltIn(of) => global.space == Space::Input && of.is_passed_on(),
        // Read at the fragment's position.
        Binding::Attachment { .. } => true,
        _ => false,
    }
}

/// The inputs or outputs at locations, in the order of these.
fn ports(module: &Module, space: Space) -> Ports {
    let mut found = BTreeMap::new();
    for (id, global) in module.globals.iter().filter(|(_, global)| global.space == space) {
        let (location, component, (interpolation, sampling)) = match global.binding {
            Binding::Location { location, component, interpolation, sampling, .. } => {
                (location, component, (interpolation, sampling))
            }
            // The members of a block for each vertex have the locations.
            Binding::None if is_block(module, global) && element_of_crowd(module, global).is_some() => {
                (None, 0, Manner::default())
            }
            _ => continue,
        };
        let element = element_of_crowd(module, global);
        let ty = element.unwrap_or(global.ty);
        let whole = Port {
            global: id,
            member: None,
            is_whole: true,
            is_crowd: element.is_some(),
            name: global.name.clone(),
            ty,
            locations: module.types.locations(ty),
            width: width(module, ty),
            manner: (interpolation, sampling),
        };
        let Type::Struct(of) = module.types.get(ty) else {
            found.extend(location.map(|location| ((location, component), whole)));
            continue;
        };
        add_members(module, of, location.unwrap_or(0), &whole, &mut found);
    }
    found
}

/// The type of the element that an input or output has for each of several vertices.
fn element_of_crowd(module: &Module, global: &Global) -> Option<TypeId> {
    let stage = module.entry_points.first()?.stage;
    let crowd = stage.crowd(global.space, interpolation_of(module, global))?;
    match module.types.get(global.ty) {
        Type::Array { element, .. } if crowd != Crowd::Corners => Some(element),
        _ => None,
    }
}

/// Returns true for a block, or an array of blocks, whose members have locations.
fn is_block(module: &Module, global: &Global) -> bool {
    let Type::Struct(of) = module.types.get(module.types.innermost(global.ty)) else { return false };
    let is_located = |member: &Member| matches!(member.binding, Binding::Location { .. });
    module.types.structs[of].block && module.types.structs[of].members.iter().any(is_located)
}

/// The interpolation of a variable, or of a block's first member.
fn interpolation_of(module: &Module, global: &Global) -> Interpolation {
    match (global.binding, module.types.get(module.types.innermost(global.ty))) {
        (Binding::None, Type::Struct(of)) => {
            let first = module.types.structs[of].members.first();
            first.map_or_else(Interpolation::default, |member| member.binding.interpolation())
        }
        (binding, _) => binding.interpolation(),
    }
}

fn add_members(module: &Module, of: StructId, first: u32, whole: &Port, found: &mut Ports) {
    let item = &module.types.structs[of];
    let mut next = first;
    for (index, member) in (0..).zip(&item.members) {
        let mut port = Port {
            member: item.block.then_some(index),
            is_whole: false,
            name: member.name.clone(),
            ty: member.ty,
            locations: module.types.locations(member.ty),
            width: width(module, member.ty),
            ..whole.clone()
        };
        let mut component = 0;
        match member.binding {
            Binding::BuiltIn(_) => continue,
            Binding::Location { location, component: first, interpolation, sampling, .. } => {
                next = location.unwrap_or(next);
                component = first;
                port.manner = (interpolation, sampling);
            }
            _ => {}
        }
        match module.types.get(member.ty) {
            Type::Struct(inner) => add_members(module, inner, next, &port, found),
            _ => drop(found.insert((next, component), port)),
        }
        next = next.saturating_add(module.types.locations(member.ty));
    }
}

/// Gives an output the interpolation of its input. Struct members use the variable's.
fn interpolate(module: &mut Module, output: &Port, place: Place, manner: Manner) {
    let is_known = matches!(manner.0, Interpolation::Perspective | Interpolation::Linear | Interpolation::Flat);
    if !is_known || output.manner == manner {
        return;
    }
    let global = &mut module.globals[output.global];
    let Some(index) = output.member else {
        global.binding = global.binding.sampled(manner.1).interpolated(manner.0);
        return;
    };
    let Type::Struct(of) = module.types.get(global.ty) else { return };
    if let Some(member) = module.types.structs[of].members.get_mut(index as usize) {
        member.binding = at(place, manner);
    }
}

fn at((location, component): Place, (interpolation, sampling): Manner) -> Binding {
    Binding::Location { location: Some(location), component, index: 0, interpolation, sampling }
}

/// Adds a port of one stage to another stage that lacks it; `None` if that stage cannot express its type.
fn copy(from: &Module, port: &Port, place: Place, to: &mut Module, space: Space) -> Option<GlobalId> {
    let ty = Import { from: &from.types, structs: FxHashMap::default() }.ty(port.ty, &mut to.types)?;
    let ty = for_each_vertex(to, ty, space, port.manner.0)?;
    let (name, span, access) = (port.name.clone(), Span::NONE, Access::empty());
    Some(to.globals.push(Global { name, span, space, ty, binding: at(place, port.manner), access, init: None }))
}

/// The type of a variable with one such element per vertex, if the stage has one per vertex; `None` if their number is
/// unknown.
fn for_each_vertex(to: &mut Module, ty: TypeId, space: Space, interpolation: Interpolation) -> Option<TypeId> {
    const MOST_OF_PATCH: u32 = 32;
    let entry = to.entry_points.first()?;
    let count = match entry.stage.crowd(space, interpolation) {
        None | Some(Crowd::Corners) => return Some(ty),
        Some(Crowd::PatchVertices) => MOST_OF_PATCH,
        Some(Crowd::OutputVertices) => entry.primitives.iter().find_map(|mode| match mode {
            PrimitiveMode::OutputVertices(count) => Some(*count),
            _ => None,
        })?,
        Some(_) => return None,
    };
    Some(to.types.array(ty, ArrayLen::Fixed(count)))
}

/// Imports the types of one module into another.
struct Import<'a> {
    from: &'a Types,
    structs: FxHashMap<StructId, StructId>,
}

impl Import<'_> {
    /// `None` for types that inputs and outputs cannot have, or whose size is unknown.
    fn ty(&mut self, ty: TypeId, to: &mut Types) -> Option<TypeId> {
        Some(match self.from.get(ty) {
            Type::Scalar(scalar) => to.scalar(scalar),
            Type::Vector { scalar, size } => to.vector(scalar, size),
            Type::Matrix { scalar, columns, rows, layout: None } => to.matrix(scalar, columns, rows),
            Type::Array { element, len: len @ ArrayLen::Fixed(_), stride: None } => {
                let element = self.ty(element, to)?;
                to.array(element, len)
            }
            Type::Struct(of) => match self.structs.get(&of) {
                Some(known) => to.intern(Type::Struct(*known)),
                None => self.item(of, to)?,
            },
            _ => return None,
        })
    }

    fn item(&mut self, of: StructId, to: &mut Types) -> Option<TypeId> {
        let item = &self.from.structs[of];
        let member = |own: &Member| Some(Member { ty: self.ty(own.ty, to)?, span: Span::NONE, ..own.clone() });
        let members = item.members.iter().map(member).collect::<Option<_>>()?;
        let copy = to.add_struct(Struct { members, span: Span::NONE, ..item.clone() });
        if let Type::Struct(id) = to.get(copy) {
            self.structs.insert(of, id);
        }
        Some(copy)
    }
}

/// Gives both stages the wider of two vectors at one place with the same component type.
fn widen_narrower(before: &mut Module, after: &mut Module, output: &Port, input: &Port) {
    let (Some((scalar, written)), Some((other, read))) = (vector(before, output), vector(after, input)) else { return };
    if scalar != other {
        return;
    }
    if written < read {
        widen(before, output.global, scalar, written, read);
    } else if read < written {
        widen(after, input.global, scalar, read, written);
    }
}

/// The component type and size of a port that is a whole variable of vector or scalar type.
fn vector(module: &Module, port: &Port) -> Option<(Scalar, u8)> {
    let scalar = module.types.scalar_of(port.ty).filter(|_| port.is_whole)?;
    Some((scalar, module.types.components(port.ty)?))
}

/// A variable of the interface that becomes wider.
#[derive(Clone, Copy)]
struct Widening {
    /// The original variable, which becomes private.
    inner: GlobalId,
    /// Its replacement.
    outer: GlobalId,
    scalar: Scalar,
    sizes: [u8; 2],
}

/// Makes a variable private and replaces it in the interface by a wider one, which is copied when the stage starts or
/// ends.
fn widen(module: &mut Module, inner: GlobalId, scalar: Scalar, size: u8, wide: u8) {
    if is_interpolated_anew(module, inner) {
        return;
    }
    let ty = module.types.vector(scalar, wide);
    let narrow = &mut module.globals[inner];
    let port = Global { ty, ..narrow.clone() };
    (narrow.space, narrow.binding, narrow.access) = (Space::Private, Binding::None, Access::empty());
    let is_input = port.space == Space::Input;
    let widening = Widening { inner, outer: module.globals.push(port), scalar, sizes: [size, wide] };
    let all: Vec<FuncId> = module.functions.handles().collect();
    all.into_iter().for_each(|function| point_to_private(module, function, inner));
    let entries: Vec<FuncId> = module.entry_points.iter().map(|entry| entry.function).collect();
    for entry in entries {
        if is_input { fill_at_start(module, entry, widening) } else { empty_at_ends(module, entry, widening) }
    }
}

/// Returns true if an input is also interpolated at another position than its declared one, which is possible only for
/// inputs.
fn is_interpolated_anew(module: &Module, id: GlobalId) -> bool {
    let of_function = |f: &Function| {
        f.insts.iter().any(|(_, inst)| match inst.op {
            Op::Interpolate { pointer: Value::Global(of), .. } => of == id,
            Op::Interpolate { pointer: Value::Inst(of), .. } => {
                matches!(f.insts[of].op, Op::Access { base: Value::Global(of), .. } if of == id)
            }
            _ => false,
        })
    };
    module.functions.iter().any(|(_, f)| of_function(f))
}

/// Redirects pointers to parts of a variable to private memory.
fn point_to_private(module: &mut Module, function: FuncId, id: GlobalId) {
    let Module { functions, types, .. } = module;
    let f = &mut functions[function];
    let all: Vec<InstId> = f.insts.handles().collect();
    for inst in all {
        let inst = &mut f.insts[inst];
        if let (Op::Access { base: Value::Global(base), .. }, Type::Pointer { pointee, .. }) =
            (inst.op, types.get(inst.ty))
            && base == id
        {
            inst.ty = types.pointer(Space::Private, pointee);
        }
    }
}

fn fill_at_start(module: &mut Module, entry: FuncId, Widening { inner, outer, scalar, sizes }: Widening) {
    let [narrow, wide] = sizes.map(|size| module.types.vector(scalar, size));
    let mut splice = Splice::new(&mut module.functions[entry]);
    let whole = splice.add(Op::Load(Value::Global(outer)), wide);
    let mask = [0, 1, 2, 3].map(|at| if at < sizes[0] { at } else { 0 });
    let part = match sizes[0] {
        1 => Op::Extract { composite: whole, index: 0 },
        _ => Op::Shuffle { a: whole, b: whole, mask },
    };
    let value = splice.add(part, narrow);
    splice.add(Op::Store { pointer: Value::Global(inner), value }, Types::VOID);
    splice.at_start();
}

fn empty_at_ends(module: &mut Module, entry: FuncId, Widening { inner, outer, scalar, sizes }: Widening) {
    let [narrow, wide] = sizes.map(|size| module.types.vector(scalar, size));
    let of_scalar = module.types.scalar(scalar);
    let zero = Value::Const(module.constants.intern(of_scalar, ConstValue::Bits(0)));
    for block in splice::ends(&module.functions[entry]) {
        let mut splice = Splice::new(&mut module.functions[entry]);
        let part = splice.add(Op::Load(Value::Global(inner)), narrow);
        let zeros = (sizes[0]..sizes[1]).map(|_| zero);
        let parts: Vec<Value> = [part].into_iter().chain(zeros).collect();
        let parts = splice.f.list(&parts);
        let value = splice.add(Op::Construct(parts), wide);
        splice.add(Op::Store { pointer: Value::Global(outer), value }, Types::VOID);
        splice.at_end(block);
    }
}
