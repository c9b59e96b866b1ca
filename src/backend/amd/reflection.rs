//! The resources that a kernel's caller must bind and that the kernel uses, as JSON.

use super::arch::Arch;
use super::descriptor::Usage;
use super::interface::{Descriptors, Interface, SAMPLER_BYTES, descriptor_bytes};
use crate::ir::ImageDim;
use crate::kernel::{BindingPoint, BufferKind, Image, Kernel};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything that the kernel shares with its caller.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reflection {
    pub entry_point: String,
    /// Name of the kernel in the code object; its descriptor is that and `.kd`.
    pub symbol: String,
    /// Invocations of a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// Lanes of a wave.
    pub subgroup_size: u32,
    /// The workgroup's number of invocations must be a multiple of this, so that all segments of cross-lane operations
    /// are full.
    pub workgroup_multiple: u32,
    /// Bytes of the segment of arguments.
    pub argument_bytes: u32,
    pub arguments: Vec<Argument>,
    /// Bytes of workgroup memory, including cross-lane operations.
    pub shared_bytes: u32,
    /// Bytes of scratch memory of an invocation.
    pub scratch_bytes: u32,
    pub vector_registers: u32,
    pub scalar_registers: u32,
    /// Spilled 32-bit values: per invocation, and per wave.
    pub spilled: [u32; 2],
    /// Waves that run at once on one SIMD, by their registers.
    pub occupancy: u32,
}

/// The content of an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgumentKind {
    /// The address of a buffer that the kernel may write.
    Storage,
    /// The address of a read-only buffer.
    Uniform,
    /// The number of bytes that are bound.
    Bytes,
    PushConstants,
    /// The number of workgroups in one dimension, which an HSA runtime fills in.
    WorkgroupCount,
    /// The descriptor of an image, in 8 words, in the hardware's format.
    Image,
    /// The descriptor of a texel buffer, in 4 words.
    TexelBuffer,
    /// The descriptor of a sampler, in 4 words; for a combined texture and sampler, the sampler's part.
    Sampler,
}

/// One argument.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Argument {
    pub name: String,
    pub kind: ArgumentKind,
    /// Bytes from the start of the segment.
    pub offset: u32,
    pub size: u32,
    /// Descriptor set of the buffer or image.
    pub set: Option<u32>,
    pub binding: Option<u32>,
    /// The index in an array of images or samplers; `None` for other arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub element: Option<u32>,
    /// The smallest number of bytes of that buffer.
    pub bytes: Option<u32>,
    pub writable: Option<bool>,
    /// Dimension of a number of workgroups.
    pub axis: Option<u8>,
}

impl Argument {
    /// Its name in the metadata of code objects.
    pub const fn value_kind(&self) -> &'static str {
        match (self.kind, self.axis) {
            (ArgumentKind::Storage | ArgumentKind::Uniform, _) => "global_buffer",
            (ArgumentKind::WorkgroupCount, Some(0)) => "hidden_block_count_x",
            (ArgumentKind::WorkgroupCount, Some(1)) => "hidden_block_count_y",
            (ArgumentKind::WorkgroupCount, _) => "hidden_block_count_z",
            _ => "by_value",
        }
    }
}

impl Reflection {
    pub(super) fn of(kernel: &Kernel, symbol: &str, arch: &Arch, interface: &Interface, usage: &Usage) -> Reflection {
        Reflection {
            entry_point: kernel.name.to_string(),
            symbol: symbol.to_owned(),
            workgroup_size: kernel.workgroup_size,
            subgroup_size: arch.wave,
            workgroup_multiple: kernel.lanes.workgroup_multiple(Some(arch.wave)).unwrap_or(arch.wave),
            argument_bytes: interface.bytes,
            arguments: arguments(kernel, interface),
            shared_bytes: interface.shared_bytes,
            scratch_bytes: usage.scratch_bytes,
            vector_registers: usage.vectors.into(),
            scalar_registers: usage.scalars.into(),
            spilled: usage.spilled,
            occupancy: usage.occupancy,
        }
    }
}

/// The arguments in the order of their offsets.
fn arguments(kernel: &Kernel, interface: &Interface) -> Vec<Argument> {
    let mut arguments = Vec::new();
    for (n, (buffer, offset)) in kernel.buffers.iter().zip(&interface.addresses).enumerate() {
        let kind = match buffer.kind {
            BufferKind::Storage => ArgumentKind::Storage,
            BufferKind::Uniform => ArgumentKind::Uniform,
        };
        arguments.push(Argument {
            set: Some(buffer.set),
            binding: Some(buffer.binding),
            bytes: Some(buffer.bytes),
            writable: Some(buffer.is_writable()),
            ..argument(format!("buffer{n}"), kind, *offset, 8)
        });
    }
    for (n, (buffer, offset)) in kernel.buffers.iter().zip(&interface.sizes).enumerate() {
        if let Some(offset) = offset {
            let (set, binding) = (Some(buffer.set), Some(buffer.binding));
            arguments.push(Argument { set, binding, ..argument(format!("bytes{n}"), ArgumentKind::Bytes, *offset, 4) });
        }
    }
    if kernel.push_bytes > 0 {
        let kind = ArgumentKind::PushConstants;
        arguments.push(argument("push".to_owned(), kind, interface.push, kernel.push_bytes.next_multiple_of(4)));
    }
    for axis in 0..3 {
        if let Some(offset) = interface.groups {
            let kind = ArgumentKind::WorkgroupCount;
            let name = format!("workgroups_{}", ["x", "y", "z"][usize::from(axis)]);
            arguments.push(Argument { axis: Some(axis), ..argument(name, kind, offset + 4 * u32::from(axis), 4) });
        }
    }
    let images = kernel.images.iter().zip(&interface.images);
    let images =
        images.flat_map(|(image, at)| each(*at, image.places()).map(move |(offset, point)| (offset, point, image)));
    let images = images.map(|(offset, point, image)| (offset, of_image(image, point, offset, kernel)));
    let samplers = kernel.images.iter().zip(&interface.samplers);
    let samplers = samplers.filter_map(|(image, at)| Some(each((*at)?, image.sampling_places())));
    let samplers = samplers.flatten().map(|(offset, point)| (offset, of_sampler(point, offset)));
    // Each descriptor is there once, and they follow each other.
    arguments.extend(images.chain(samplers).collect::<BTreeMap<u32, Argument>>().into_values());
    arguments
}

/// The offsets of descriptors.
fn each(
    Descriptors { offset, stride }: Descriptors,
    points: impl Iterator<Item = BindingPoint>,
) -> impl Iterator<Item = (u32, BindingPoint)> {
    (0..).map(move |n| offset + stride * n).zip(points)
}

/// A descriptor, writable if any use of the binding writes.
fn of_image(image: &Image, point: BindingPoint, offset: u32, kernel: &Kernel) -> Argument {
    let is_buffer = image.ty.dim == ImageDim::Buffer;
    let kind = if is_buffer { ArgumentKind::TexelBuffer } else { ArgumentKind::Image };
    let writable = kernel.images.iter().any(|other| other.writable && other.places().any(|place| place == point));
    Argument { writable: Some(writable), ..descriptor("image", point, kind, offset, descriptor_bytes(image)) }
}

fn of_sampler(point: BindingPoint, offset: u32) -> Argument {
    descriptor("sampler", point, ArgumentKind::Sampler, offset, SAMPLER_BYTES)
}

fn descriptor(name: &str, place: BindingPoint, kind: ArgumentKind, offset: u32, size: u32) -> Argument {
    let BindingPoint { set, binding, element } = place;
    Argument {
        set: Some(set),
        binding: Some(binding),
        element: Some(element),
        ..argument(format!("{name}_{set}_{binding}_{element}"), kind, offset, size)
    }
}

fn argument(name: String, kind: ArgumentKind, offset: u32, size: u32) -> Argument {
    Argument {
        name,
        kind,
        offset,
        size,
        set: None,
        binding: None,
        element: None,
        bytes: None,
        writable: None,
        axis: None,
    }
}
