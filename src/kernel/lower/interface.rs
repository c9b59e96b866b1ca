//! Inputs and outputs of vertex and fragment shaders: variables that contain the inputs at the start, and whose values
//! at each end of the invocation are the outputs.
//!
//! Inputs and outputs consist of 32-bit words. A 64-bit number is two words, and a narrower one is widened; only vertex
//! attributes have unsplit 64-bit numbers. Refused: inputs of whole primitives.

use super::analyze::is_large;
use super::pointer::Pointer;
use super::{Lower, Scalars};
use crate::diagnostic::Code;
use crate::ir::{
    self, Binding, BuiltIn, Global, GlobalId, InterpolateAt, Interpolation, Sampling, Scalar, Space, StructId, Type,
    TypeId, Values,
};
use crate::kernel::Stage;
use crate::kernel::stage::DISTANCES;
use crate::kernel::{Input, Op, Output, Site, Ty, Value};

/// The place of a scalar in an interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Port {
    site: Site,
    component: u8,
    scalar: Scalar,
    /// Part of a vertex attribute, whose vectors take one location each.
    attribute: bool,
    interpolation: Interpolation,
    sampling: Sampling,
}

impl Lower<'_> {
    /// The variable for an input or output while the shader runs.
    pub fn interface_variable(&mut self, id: GlobalId, global: &Global) -> Pointer {
        let Some(ports) = self.ports(global) else { return Pointer::None };
        self.declare_ports(global, &ports);
        let pointer = match self.facts.is_memory(id) || is_large(&mut self.shapes, global.ty) {
            false => self.slots(global.ty, None),
            true => self.private(global.ty).map_or(Pointer::None, Pointer::Memory),
        };
        self.interface.push((id, ports));
        pointer
    }

    /// The place of each scalar of a variable, in order; `None`, with a message, if it has no place.
    fn ports(&mut self, global: &Global) -> Option<Vec<Port>> {
        let mut ports = Vec::new();
        let is_attribute = self.b.kernel.stage == Stage::Vertex && global.space == Space::Input;
        self.collect_ports(global.ty, global.binding, is_attribute, &mut ports);
        let counted = self.shapes.count(global.ty).is_some_and(|count| count as usize == ports.len());
        if !counted {
            self.not_yet("inputs and outputs of such a type");
            return None;
        }
        let whole = |port: &Port| {
            matches!(
                port.interpolation,
                Interpolation::PerVertex
                    | Interpolation::Explicit
                    | Interpolation::Patch
                    | Interpolation::PerPrimitive { .. }
            )
        };
        if ports.iter().any(whole) {
            self.not_yet("inputs of whole primitives");
            return None;
        }
        Some(ports)
    }

    fn collect_ports(&mut self, ty: TypeId, binding: Binding, attribute: bool, into: &mut Vec<Port>) {
        match (self.shapes.types.get(ty), binding) {
            (Type::Struct(id), Binding::None | Binding::Location { location: None, .. }) => self.members(id, into),
            (_, Binding::BuiltIn(built_in)) => {
                let scalars = self.shapes.scalars(ty);
                // Masks of views may be any number.
                let scalars = if scalars.len() > usize::from(DISTANCES) { &[][..] } else { &scalars[..] };
                into.extend((0..).zip(scalars.iter()).map(|(component, scalar)| port_of(built_in, component, *scalar)));
            }
            (_, Binding::Location { location: Some(location), component, index, interpolation, sampling }) => {
                let scalar = Scalar::F32;
                let site = Site::Location(location);
                let first = Port { site, component: 0, scalar, attribute, interpolation, sampling };
                let before = into.len();
                self.locations(ty, first, component, into);
                if index > 0 {
                    into[before..].iter_mut().for_each(|port| port.site = port.site.second());
                }
            }
            _ => {}
        }
    }

    /// Members of a block, which have locations or built-ins of their own.
    fn members(&mut self, id: StructId, into: &mut Vec<Port>) {
        let module = self.module;
        module.types.structs[id]
            .members
            .iter()
            .for_each(|member| self.collect_ports(member.ty, member.binding, false, into));
    }

    /// A value from a location on: each vector, column and element takes one location, and 64-bit numbers up to two
    /// (GLSL 4.60, section 4.4.1).
    fn locations(&mut self, ty: TypeId, at: Port, component: u32, into: &mut Vec<Port>) -> u32 {
        let Site::Location(location) = at.site else { return 0 };
        let part = |lower: &mut Self| lower.shapes.types.element(ty, 0);
        let (count, element) = match self.shapes.types.get(ty) {
            Type::Scalar(scalar) | Type::Vector { scalar, .. } => {
                let size = self.shapes.types.components(ty).map_or(1, u32::from);
                let words = words_of(scalar);
                let place = |n: u32| component + n * words;
                let site = |n: u32| Site::Location(location + place(n) / 4);
                let port = |n| Port { site: site(n), component: (place(n) % 4) as u8, scalar, ..at };
                let wide = |n| Port { component: (place(n) / words) as u8, scalar, ..at };
                let is_wide = at.attribute && words == 2;
                into.extend((0..size).map(|n| if is_wide { wide(n) } else { port(n) }));
                return place(size).div_ceil(4).max(1);
            }
            Type::Matrix { columns, .. } => (u32::from(columns), part(self)),
            Type::Array { len, .. } => (self.shapes.length(len).unwrap_or(0), part(self)),
            Type::Struct(id) => return self.struct_locations(id, at, into),
            _ => return 0,
        };
        let Some(element) = element else { return 0 };
        let mut taken = 0;
        for _ in 0..count {
            taken += self.locations(element, Port { site: Site::Location(location + taken), ..at }, component, into);
        }
        taken
    }

    fn struct_locations(&mut self, id: StructId, at: Port, into: &mut Vec<Port>) -> u32 {
        let Site::Location(location) = at.site else { return 0 };
        let mut taken = 0;
        for member in &self.module.types.structs[id].members {
            taken += self.locations(member.ty, Port { site: Site::Location(location + taken), ..at }, 0, into);
        }
        taken
    }

    /// Adds the ports to the kernel's declarations.
    fn declare_ports(&mut self, global: &Global, ports: &[Port]) {
        for port in ports {
            let kernel = &mut self.b.kernel;
            let (name, span) = (Box::from(&*global.name), global.span);
            let is_float = port.scalar.is_float() && port.scalar.width < 64;
            match (global.space, port.site) {
                (Space::Input, Site::Location(location)) => {
                    let (interpolation, sampling) = (port.interpolation, port.sampling);
                    // Types that cannot be interpolated are flat even without the qualifier.
                    let interpolation = if is_float { interpolation } else { Interpolation::Flat };
                    let wide = port.is_wide();
                    match kernel.inputs.binary_search_by_key(&location, |known| known.location) {
                        Ok(known) if kernel.inputs[known].wide != wide => {
                            self.not_yet("locations of numbers of 64 bits and of others")
                        }
                        Ok(_) => {}
                        Err(at) => {
                            kernel.inputs.insert(at, Input { name, location, wide, interpolation, sampling, span })
                        }
                    }
                }
                (_, site) => {
                    if let Err(at) = kernel.outputs.binary_search_by_key(&site, |known| known.site) {
                        kernel.outputs.insert(at, Output { name, site, span });
                    }
                }
            }
        }
    }

    /// Fills the variables that are inputs.
    pub fn read_inputs(&mut self) {
        for (id, ports) in self.interface.clone() {
            if self.module.globals[id].space != Space::Input {
                continue;
            }
            self.b.span = self.module.globals[id].span;
            let values: Vec<Value> = ports.iter().map(|port| self.input(*port)).collect();
            let pointer = self.global(id);
            self.store(&pointer, &values);
        }
    }

    fn input(&mut self, port: Port) -> Value {
        let Site::Location(location) = port.site else { return self.b.u32(0) };
        let first = port.component;
        if port.is_wide() {
            return self.b.value(Op::Input { location, component: first }, &[], Ty::B64);
        }
        let words = words_of(port.scalar) as u8;
        let word = |component| self.b.value(Op::Input { location, component }, &[], Ty::B32);
        let words: Scalars = (first..first + words).map(word).collect();
        self.of_words(port.scalar, &words)
    }

    /// A number from its interface words.
    fn of_words(&mut self, scalar: Scalar, words: &[Value]) -> Value {
        match *words {
            [low, high] => self.b.value(Op::Join, &[low, high], Ty::B64),
            _ => self.converted(Scalar { width: 32, ..scalar }, scalar, words[0]),
        }
    }

    /// The interface words of a number.
    fn border_words(&mut self, scalar: Scalar, value: Value) -> Scalars {
        if words_of(scalar) == 2 {
            return [Op::Low, Op::High].map(|half| self.b.value(half, &[value], Ty::B32)).into_iter().collect();
        }
        let word = self.converted(scalar, Scalar { width: 32, ..scalar }, value);
        [word].into_iter().collect()
    }

    /// A part of an input at another position in the pixel.
    pub fn interpolate(&mut self, at: InterpolateAt, pointer: ir::Value, args: Values, ty: TypeId) -> Scalars {
        let args: Scalars = self.list(args).iter().flat_map(|arg| self.values(*arg)).collect();
        let pointer = self.pointer(pointer);
        let count = self.shapes.count(ty).unwrap_or(0) as usize;
        let Some(ports) = self.ports_behind(&pointer, count) else {
            self.not_yet("inputs at other places of the pixel whose index is not constant");
            return self.stand_in(ty);
        };
        let value = |port: Port| match port.site {
            Site::Location(location) => {
                let operation = Op::Interpolate { at, location, component: port.component };
                let word = self.b.value(operation, &args, Ty::B32);
                self.of_words(port.scalar, &[word])
            }
            Site::BuiltIn(_) | Site::SecondSource(_) => self.b.u32(0),
        };
        ports.into_iter().map(value).collect()
    }

    /// The places of `count` scalars of an input that a pointer points to.
    fn ports_behind(&self, pointer: &Pointer, count: usize) -> Option<Vec<Port>> {
        let Pointer::Slots { first, .. } = *pointer else { return None };
        self.interface.iter().find_map(|(id, ports)| match self.global(*id) {
            Pointer::Slots { first: start, .. } => {
                let from = first.checked_sub(start)? as usize;
                ports.get(from..from + count).map(<[Port]>::to_vec)
            }
            _ => None,
        })
    }

    /// Gives the variables that are outputs to the pipeline.
    pub fn write_outputs(&mut self) {
        for (id, ports) in self.interface.clone() {
            let global = &self.module.globals[id];
            if global.space != Space::Output {
                continue;
            }
            let pointer = self.global(id);
            let values = self.load(&pointer, global.ty);
            for (port, value) in ports.iter().zip(values) {
                let words = self.border_words(port.scalar, value);
                for (component, word) in (port.component..).zip(words) {
                    self.b.effect(Op::Output { site: port.site, component }, &[word]);
                }
            }
        }
    }

    /// A slot that is true if the invocation is a helper. Its initial value comes from the pipeline, read before
    /// anything can change it.
    pub fn declare_helper(&mut self) {
        if self.facts.asks_helper {
            let now = self.b.value(Op::BuiltIn(BuiltIn::HelperInvocation, 0), &[], Ty::Bool);
            self.helper = Some(self.vars.add(&[now]));
        }
    }

    /// True if the invocation is a helper by now (GL_EXT_demote_to_helper_invocation).
    pub fn is_helper(&mut self) -> Value {
        if let Some(slot) = self.helper {
            return self.vars.get(slot);
        }
        self.refuse(Code::INTERNAL, "the request for helper invocations is not recorded");
        self.b.bool(false)
    }

    /// Turns the invocation into a helper, or ends it.
    pub fn kill(&mut self, ends: bool) {
        self.b.effect(Op::Kill, &[]);
        if let Some(slot) = self.helper {
            let yes = self.b.bool(true);
            self.vars.set(slot, yes);
        }
        if ends {
            self.b.effect(Op::Return, &[]);
        }
    }
}

impl Port {
    /// Returns true for a 64-bit number passed whole.
    const fn is_wide(&self) -> bool {
        self.attribute && self.scalar.width == 64
    }
}

/// Words of a number at the border.
fn words_of(scalar: Scalar) -> u32 {
    u32::from(scalar.width).div_ceil(32)
}

/// A component of a built-in output.
const fn port_of(built_in: BuiltIn, component: u8, scalar: Scalar) -> Port {
    let (interpolation, sampling) = (Interpolation::Perspective, Sampling::Center);
    Port { site: Site::BuiltIn(built_in), component, scalar, attribute: false, interpolation, sampling }
}
