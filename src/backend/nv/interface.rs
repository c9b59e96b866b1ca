//! The interface of a program: the OpenGL binding point of each buffer, and the content of each local parameter.
//!
//! Storage buffers are `program.storage[n]`, uniform buffers `program.buffer[n]`, each numbered in the order of set and
//! binding. Textures and images are units, numbered in the same way. Push constants are local parameters from 0 on,
//! four words each. They are followed by the sizes of buffers that the program queries, because `program.storagelen` is
//! zero for assembly programs (NV_shader_storage_buffer_object), and the facts of a draw that only the caller knows.

use crate::diagnostic::{Code, Diagnostic};
use crate::ir::BuiltIn;
use crate::kernel::stage::DISTANCES;
use crate::kernel::tree::Tree;
use crate::kernel::{BufferKind, Kernel, MemorySpace, Op, Site, Stage};
use std::collections::BTreeSet;

/// Storage blocks that a compute program of NVIDIA's drivers can use.
const STORAGE_LIMIT: u32 = 16;
/// Bindings of NV_parameter_buffer_object in a compute program of NVIDIA's drivers.
const UNIFORM_LIMIT: u32 = 14;
/// Limit of a program's local parameters, of four words each.
const PARAMETER_LIMIT: u32 = 512;
/// Bytes of a parameter buffer that every implementation of NV_gpu_program4 on NVIDIA's hardware can read.
const UNIFORM_BYTES: u32 = 65536;
/// Bytes of workgroup memory that NVIDIA's drivers allow.
const SHARED_BYTES: u32 = 49152;
/// Units of textures and of images that a program of NVIDIA's drivers can use.
const TEXTURE_LIMIT: u32 = 32;
const IMAGE_LIMIT: u32 = 8;
/// Attributes of vertices, attributes between stages, and colours, of NVIDIA's drivers.
const VERTEX_ATTRIBUTES: u32 = 16;
const ATTRIBUTES: u32 = 32;
const COLOURS: u32 = 8;
/// Colours with a second source.
const SECOND_SOURCES: u32 = 1;
/// Invocations in each dimension: `MAX_COMPUTE_WORK_GROUP_SIZE` of NVIDIA's drivers.
const GROUP_LIMITS: [u32; 3] = [1024, 1024, 64];

/// A buffer of the kernel, for the program and the caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Name of the variable.
    pub name: String,
    /// Number of the binding point of its kind.
    pub point: u32,
    /// The word of the local parameters with its size in bytes, if the program queries it.
    pub size_word: Option<u32>,
    /// True if the program accesses the resource.
    pub is_used: bool,
}

/// Everything that the program shares with its caller.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interface {
    /// Slots by the kernel's buffer index.
    pub slots: Vec<Slot>,
    /// The unit of each texture and image, by the kernel's numbers.
    pub units: Vec<u32>,
    /// The facts about a draw that only the caller knows, each with its word of the local parameters.
    pub draw_words: Vec<(BuiltIn, u32)>,
    /// Words of push constants.
    pub push_words: u32,
    /// Words of local parameters, the sizes of buffers included.
    pub parameter_words: u32,
}

/// The declarations and options that a program needs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// Names after `OPTION`.
    pub options: BTreeSet<&'static str>,
    /// True if a local parameter is read.
    pub parameters: bool,
    /// True if positions of samples are.
    pub sample_positions: bool,
}

impl Interface {
    /// Assigns every buffer a place.
    ///
    /// # Errors
    /// Reports resources beyond the limits of NVIDIA's drivers.
    pub fn of(kernel: &Kernel, tree: &Tree) -> Result<Interface, Vec<Diagnostic>> {
        let mut interface = Interface { push_words: kernel.push_bytes.div_ceil(4), ..Interface::default() };
        interface.parameter_words = interface.push_words;
        let (mut storage, mut uniform) = (0, 0);
        for buffer in &kernel.buffers {
            let (letter, count) = match buffer.kind {
                BufferKind::Storage => ('s', &mut storage),
                BufferKind::Uniform => ('u', &mut uniform),
            };
            interface.slots.push(Slot {
                name: format!("{letter}{count}"),
                point: *count,
                size_word: None,
                is_used: false,
            });
            *count += 1;
        }
        let units = interface.number_units(kernel);
        interface.note_uses(kernel, tree);
        let mut errors = excesses(kernel, [storage, uniform, interface.parameters()]);
        errors.extend(excess_units(units));
        errors.extend(excess_ports(kernel));
        errors.extend(excess_planes(kernel, tree));
        if errors.is_empty() { Ok(interface) } else { Err(errors) }
    }

    /// Gives textures and images their units; how many of each there are.
    fn number_units(&mut self, kernel: &Kernel) -> [u32; 2] {
        let mut counts = [0, 0];
        for image in &kernel.images {
            let count = &mut counts[usize::from(image.ty.storage)];
            self.units.push(*count);
            *count += 1;
        }
        counts
    }

    fn note_uses(&mut self, kernel: &Kernel, tree: &Tree) {
        let mut asked = vec![false; self.slots.len()];
        let mut draws = BTreeSet::new();
        for inst in tree.insts(kernel) {
            match kernel.insts[inst].op {
                Op::BufferBytes(buffer) => asked[buffer as usize] = true,
                Op::BuiltIn(built_in, _) => draws.extend(DRAW_FACTS.iter().position(|(asked, ..)| *asked == built_in)),
                Op::Load(access) | Op::Store(access) | Op::Atomic { access, .. } => {
                    if let MemorySpace::Buffer(buffer) = access.space {
                        self.slots[buffer as usize].is_used = true;
                    }
                }
                _ => {}
            }
        }
        for (slot, _) in self.slots.iter_mut().zip(asked).filter(|(_, asked)| *asked) {
            slot.size_word = Some(self.parameter_words);
            self.parameter_words += 1;
        }
        for (_, fact, _) in draws.into_iter().map(|at| DRAW_FACTS[at]) {
            if self.draw_word(fact).is_none() {
                self.draw_words.push((fact, self.parameter_words));
                self.parameter_words += 1;
            }
        }
    }

    /// The word with a fact of a draw.
    pub fn draw_word(&self, fact: BuiltIn) -> Option<u32> {
        self.draw_words.iter().find(|(known, _)| *known == fact).map(|(_, word)| *word)
    }

    /// The variable of a buffer.
    pub fn slot(&self, buffer: u32) -> &Slot {
        &self.slots[buffer as usize]
    }

    /// Number of local parameters, of four words each.
    pub fn parameters(&self) -> u32 {
        self.parameter_words.div_ceil(4)
    }
}

/// Built-in values that need a draw parameter from the caller, with the parameter and its name.
pub const DRAW_FACTS: [(BuiltIn, BuiltIn, &str); 4] = [
    (BuiltIn::InstanceIndex, BuiltIn::BaseInstance, "number of the first instance"),
    (BuiltIn::BaseInstance, BuiltIn::BaseInstance, "number of the first instance"),
    (BuiltIn::BaseVertex, BuiltIn::BaseVertex, "number of the first vertex"),
    (BuiltIn::DrawIndex, BuiltIn::DrawIndex, "number of the draw"),
];

/// A word of the local parameters as an operand.
pub fn parameter(word: u32) -> String {
    format!("c[{}].{}", word / 4, ['x', 'y', 'z', 'w'][word as usize % 4])
}

fn excesses(kernel: &Kernel, [storage, uniform, parameters]: [u32; 3]) -> Vec<Diagnostic> {
    let [x, y, z] = kernel.workgroup_size;
    let too_wide = [x, y, z].iter().zip(GROUP_LIMITS).any(|(size, limit)| *size > limit);
    let large = kernel.buffers.iter().any(|b| b.kind == BufferKind::Uniform && b.bytes > UNIFORM_BYTES);
    let found = [
        (storage > STORAGE_LIMIT, format!("{storage} storage buffers; programs can use {STORAGE_LIMIT}")),
        (uniform > UNIFORM_LIMIT, format!("{uniform} uniform buffers; programs can use {UNIFORM_LIMIT}")),
        (
            parameters > PARAMETER_LIMIT,
            format!("{parameters} local parameters for push constants and sizes; programs have {PARAMETER_LIMIT}"),
        ),
        (large, format!("a uniform buffer of more than {UNIFORM_BYTES} bytes")),
        (
            kernel.shared_bytes > SHARED_BYTES,
            format!("{} bytes of workgroup memory; programs have {SHARED_BYTES}", kernel.shared_bytes),
        ),
        (too_wide, format!("a workgroup of {x} x {y} x {z}; the maximum is 1024 x 1024 x 64")),
    ];
    let excess = |(_, what)| {
        Diagnostic::error(Code::NOT_SUPPORTED, format!("the shader has {what}")).at(kernel.span, "this entry point")
    };
    found.into_iter().filter(|(exceeds, _)| *exceeds).map(excess).collect()
}

fn excess_units([textures, images]: [u32; 2]) -> Vec<Diagnostic> {
    let found = [(textures, TEXTURE_LIMIT, "textures"), (images, IMAGE_LIMIT, "images")];
    let excess = |(count, limit, what)| {
        let message = format!("the shader has {count} {what}; programs can use {limit}");
        Diagnostic::error(Code::NOT_SUPPORTED, message)
    };
    found.into_iter().filter(|(count, limit, _)| count > limit).map(excess).collect()
}

/// Reports inputs and outputs beyond the available attributes and colours.
fn excess_ports(kernel: &Kernel) -> Vec<Diagnostic> {
    let (read, written) = match kernel.stage {
        Stage::Vertex => (VERTEX_ATTRIBUTES, ATTRIBUTES),
        Stage::Fragment => (ATTRIBUTES, COLOURS),
        Stage::Compute => return Vec::new(),
    };
    let beyond = |location: u32, limit: u32, span| {
        let message = format!("location {location} is beyond the {limit} that programs have");
        (location >= limit).then(|| Diagnostic::needed(Code::NOT_SUPPORTED, message, span))
    };
    let inputs = kernel.inputs.iter().filter_map(|input| beyond(input.location, read, input.span));
    let outputs = kernel.outputs.iter().filter_map(|output| match output.site {
        Site::Location(location) => beyond(location, written, output.span),
        Site::SecondSource(location) => beyond(location, SECOND_SOURCES, output.span),
        Site::BuiltIn(_) => None,
    });
    inputs.chain(outputs).collect()
}

/// Clip and cull planes beyond the combined maximum.
fn excess_planes(kernel: &Kernel, tree: &Tree) -> Option<Diagnostic> {
    let (mut clips, mut culls, mut span) = (0, 0, kernel.span);
    for inst in tree.insts(kernel).into_iter().map(|inst| &kernel.insts[inst]) {
        match inst.op {
            Op::BuiltIn(of, at) | Op::Output { site: Site::BuiltIn(of), component: at } => match of {
                BuiltIn::ClipDistance => clips = at.saturating_add(1).max(clips),
                BuiltIn::CullDistance => (culls, span) = (at.saturating_add(1).max(culls), inst.span),
                _ => {}
            },
            _ => {}
        }
    }
    let message = format!("{clips} clip and {culls} cull distances exceed the maximum of {DISTANCES} together");
    (clips.saturating_add(culls) > DISTANCES).then(|| Diagnostic::needed(Code::NOT_SUPPORTED, message, span))
}
