//! The interface between a kernel and its caller: the segment of arguments.
//!
//! The segment contains: for every buffer, in the order of set and binding, its address in 8 bytes; for every buffer
//! whose size the kernel queries, the number of bound bytes, in 4; the push constants, at a multiple of 16; if the
//! kernel reads it, the number of workgroups in x, y and z, which an HSA runtime fills in; the descriptors of images,
//! each once: 32 bytes for an image at a multiple of 32, and 16 for a texel buffer at a multiple of 16; and the
//! descriptors of samplers, 16 bytes at a multiple of 16. An array with run-time indices has all elements from the
//! first to the last that the index may select.

use crate::backend::amd::arch::Arch;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{BuiltIn, ImageDim, ImageOp};
use crate::kernel::tree::Tree;
use crate::kernel::{BindingPoint, Choices, Image, Kernel, Op};
use std::collections::{BTreeMap, BTreeSet};

/// The inputs of a kernel in addition to its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// Scalar registers that the hardware fills for the user: scratch resource and arguments.
    pub user_scalars: u32,
    /// Scalar registers that the hardware fills, from the first one on.
    pub filled_scalars: u32,
    /// It reads its workgroup indices in x, y and z; x is always there.
    pub group_ids: [bool; 3],
    /// The index of the last local id that it reads.
    pub local_ids: u8,
    /// If it is needed, the resource for scratch memory is in the first four scalar registers.
    pub scratch_resource: bool,
    /// True if it may use scratch memory.
    pub scratch: bool,
    /// It uses a vector register shared by both halves of a wave.
    pub shared_vector: bool,
}

/// Offsets of the arguments in their segment, in bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interface {
    /// Offset of each buffer's address.
    pub addresses: Vec<u32>,
    /// Offset of each buffer's size, if the kernel queries it.
    pub sizes: Vec<Option<u32>>,
    pub push: u32,
    /// Offset of the number of workgroups in x, y and z.
    pub groups: Option<u32>,
    /// Offset of each image's descriptor or descriptor array.
    pub images: Vec<Descriptors>,
    /// Offset of each image's sampler descriptor, if anything is sampled with it.
    pub samplers: Vec<Option<Descriptors>>,
    /// Bytes of the whole segment.
    pub bytes: u32,
    /// Bytes of workgroup memory: the shader's own, followed by the waves'.
    pub shared_bytes: u32,
    /// Start of the first wave's part, if there is one.
    pub wave_memory: Option<u32>,
    /// True for each buffer that the kernel uses.
    pub is_used: Vec<bool>,
}

/// The descriptors of an image or a sampler; the descriptors of an array are consecutive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptors {
    /// Offset of the first one.
    pub offset: u32,
    /// Stride in bytes.
    pub stride: u32,
}

impl Descriptors {
    /// The descriptors of the elements that an index selects from.
    pub fn among(self, Choices { step, .. }: Choices) -> Descriptors {
        Descriptors { stride: self.stride * step, ..self }
    }
}

/// Bytes of workgroup memory that a wave has for cross-lane operations: 4 for each of up to 64 lanes.
pub const WAVE_BYTES: u32 = 256;

impl Interface {
    /// Assigns every argument a place.
    ///
    /// # Errors
    /// Reports resources beyond the limits of the processor.
    pub fn of(kernel: &Kernel, tree: &Tree, arch: &Arch) -> Result<Interface, Vec<Diagnostic>> {
        let count = kernel.buffers.len();
        let mut interface = Interface { sizes: vec![None; count], is_used: vec![false; count], ..Interface::default() };
        let uses = Uses::of(kernel, tree, &mut interface);
        interface.addresses = (0..count as u32).map(|n| 8 * n).collect();
        let mut next = 8 * count as u32;
        for (size, wanted) in interface.sizes.iter_mut().zip(uses.sizes) {
            if wanted {
                *size = Some(next);
                next += 4;
            }
        }
        interface.push = next.next_multiple_of(16);
        next = if kernel.push_bytes > 0 { interface.push + kernel.push_bytes.next_multiple_of(4) } else { next };
        if uses.groups {
            interface.groups = Some(next);
            next += 12;
        }
        next = interface.place_images(&kernel.images, next);
        interface.bytes = interface.place_samplers(&kernel.images, &uses.samplers, next);
        interface.place_shared(kernel, arch, uses.wave_memory);
        interface.check(kernel, arch)?;
        Ok(interface)
    }

    /// Places descriptors from an offset on, the descriptors of a binding consecutively; returns their end.
    fn place_images(&mut self, images: &[Image], mut next: u32) -> u32 {
        let mut bindings: BTreeMap<(u32, u32), (u32, BTreeSet<BindingPoint>)> = BTreeMap::new();
        for image in images {
            let (size, points) = bindings.entry((image.place.set, image.place.binding)).or_default();
            *size = descriptor_bytes(image).max(*size);
            points.extend(image.places());
        }
        let mut places: BTreeMap<BindingPoint, Descriptors> = BTreeMap::new();
        for BindingPoint { set, binding, .. } in images.iter().map(|image| image.place) {
            let (stride, points) = bindings.remove(&(set, binding)).unwrap_or_default();
            for point in points {
                let offset = next.next_multiple_of(stride);
                next = offset + stride;
                places.insert(point, Descriptors { offset, stride });
            }
        }
        self.images = images.iter().map(|image| places[&image.place]).collect();
        next
    }

    /// Places the descriptors of the samplers that images are used with.
    fn place_samplers(&mut self, images: &[Image], used: &[bool], mut next: u32) -> u32 {
        let sampled = images.iter().zip(used).filter(|(_, used)| **used);
        let points: BTreeSet<BindingPoint> = sampled.flat_map(|(image, _)| image.sampling_places()).collect();
        let mut places: BTreeMap<BindingPoint, Descriptors> = BTreeMap::new();
        for point in points {
            let offset = next.next_multiple_of(SAMPLER_BYTES);
            next = offset + SAMPLER_BYTES;
            places.insert(point, Descriptors { offset, stride: SAMPLER_BYTES });
        }
        let place = |(image, used): (&Image, &bool)| used.then(|| places[&image.sampling_place()]);
        self.samplers = images.iter().zip(used).map(place).collect();
        next
    }

    fn place_shared(&mut self, kernel: &Kernel, arch: &Arch, wave_memory: bool) {
        self.shared_bytes = kernel.shared_bytes;
        if wave_memory {
            let start = kernel.shared_bytes.next_multiple_of(4);
            self.wave_memory = Some(start);
            self.shared_bytes = start.saturating_add(WAVE_BYTES * kernel.invocations().div_ceil(arch.wave));
        }
    }

    fn check(&self, kernel: &Kernel, arch: &Arch) -> Result<(), Vec<Diagnostic>> {
        let mut errors = Vec::new();
        let mut refuse = |message: String| {
            errors.push(Diagnostic::error(Code::NOT_SUPPORTED, message).at(kernel.span, "this entry point"));
        };
        let limit = arch.processor.shared_limit;
        if self.shared_bytes > limit {
            let bytes = self.shared_bytes;
            refuse(format!(
                "the shader needs {bytes} bytes of workgroup memory, and {} has {limit}",
                arch.processor.name
            ));
        }
        if errors.is_empty() { Ok(()) } else { Err(errors) }
    }
}

/// Bytes of the descriptor of a sampler.
pub const SAMPLER_BYTES: u32 = 16;

/// Bytes of the descriptor of an image.
pub fn descriptor_bytes(image: &Image) -> u32 {
    if image.ty.dim == ImageDim::Buffer { 16 } else { 32 }
}

/// The facts that a kernel uses.
struct Uses {
    sizes: Vec<bool>,
    /// The images that are read through their samplers.
    samplers: Vec<bool>,
    groups: bool,
    wave_memory: bool,
}

impl Uses {
    fn of(kernel: &Kernel, tree: &Tree, interface: &mut Interface) -> Uses {
        use crate::kernel::MemorySpace::Buffer;
        use crate::lane::Primitive;
        use crate::lane::primitive::LdsOp;
        let mut uses = Uses {
            sizes: vec![false; kernel.buffers.len()],
            samplers: vec![false; kernel.images.len()],
            groups: false,
            wave_memory: false,
        };
        for inst in tree.insts(kernel) {
            match kernel.insts[inst].op {
                Op::BufferBytes(buffer) => uses.sizes[buffer as usize] = true,
                Op::Image { op: ImageOp::Sample | ImageOp::Gather, image, .. } => uses.samplers[image as usize] = true,
                Op::BuiltIn(BuiltIn::NumWorkgroups, _) => uses.groups = true,
                Op::Prim { primitive: Primitive::Lds(LdsOp::Bounce), .. } => uses.wave_memory = true,
                Op::Load(access) | Op::Store(access) | Op::Atomic { access, .. } => {
                    if let Buffer(buffer) = access.space {
                        interface.is_used[buffer as usize] = true;
                    }
                }
                _ => {}
            }
        }
        uses
    }
}
