//! The scene for rays in all tests: a bottom level of triangles, one of boxes, and a top level with instances of both.
//! In world space it faces a grid of 16 x 16 rays along z.

use ash::{khr, vk};

use crosslane::run::RunError;
use crosslane::run::vulkan::Device;
use crosslane::run::vulkan::parts::{Block, Commands, Guard, run_failure};

/// A part of a bottom level.
struct Part {
    shape: Shape,
    opaque: bool,
}

enum Shape {
    /// Three corners each.
    Triangles(&'static [[[f32; 3]; 3]]),
    /// Two corners each.
    Boxes(&'static [[[f32; 3]; 2]]),
}

/// The bottom levels: hits on the second part of each do not invoke the any-hit shader.
static BOTTOMS: [[Part; 2]; 2] = [
    [
        Part {
            shape: Shape::Triangles(&[
                [[0.0, 0.0, 0.0], [4.0, 0.0, 0.5], [0.0, 4.0, 0.0]],
                [[4.0, 0.0, 0.5], [0.0, 4.0, 0.0], [4.0, 4.0, 1.0]],
                [[0.5, 0.0, -0.5], [2.0, 4.0, -1.0], [3.5, 0.0, -0.25]],
            ]),
            opaque: false,
        },
        Part {
            shape: Shape::Triangles(&[
                [[1.0, 1.0, 2.0], [6.0, 1.0, 2.0], [1.0, 6.0, 2.5]],
                [[5.0, 5.0, 3.0], [5.0, -1.0, 3.5], [-1.0, 5.0, 3.0]],
            ]),
            opaque: true,
        },
    ],
    [
        Part {
            shape: Shape::Boxes(&[
                [[0.0, 0.0, 0.0], [2.0, 2.0, 2.0]],
                [[3.0, 0.0, 0.0], [5.0, 2.0, 1.0]],
                [[0.0, 3.0, 1.0], [2.0, 6.0, 3.0]],
            ]),
            opaque: false,
        },
        Part { shape: Shape::Boxes(&[[[3.0, 3.0, 0.0], [6.0, 6.0, 2.0]]]), opaque: true },
    ],
];

/// One instance of a bottom level.
struct Instance {
    bottom: usize,
    /// Three rows of four columns.
    transform: [f32; 12],
    custom: u32,
    mask: u32,
    /// The first of its records in the hit table.
    record: u32,
    flags: vk::GeometryInstanceFlagsKHR,
}

/// The triangles use records 0 to 5, the boxes 6 to 9.
static INSTANCES: [Instance; 6] = [
    Instance {
        bottom: 0,
        transform: [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 5.0],
        custom: 7,
        mask: 0x01,
        record: 0,
        flags: vk::GeometryInstanceFlagsKHR::empty(),
    },
    Instance {
        bottom: 0,
        transform: [0.0, -1.25, 0.0, 14.0, 1.25, 0.0, 0.0, 1.0, 0.0, 0.0, 1.5, 4.0],
        custom: 0x00ab_cdef,
        mask: 0x02,
        record: 2,
        flags: vk::GeometryInstanceFlagsKHR::empty(),
    },
    Instance {
        bottom: 1,
        transform: [1.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 8.0, 0.0, 0.0, 1.0, 3.0],
        custom: 11,
        mask: 0x04,
        record: 6,
        flags: vk::GeometryInstanceFlagsKHR::empty(),
    },
    Instance {
        bottom: 0,
        transform: [-1.0, 0.0, 0.0, 8.0, 0.0, 1.0, 0.0, 7.5, 0.0, 0.25, 1.0, 9.0],
        custom: 0,
        mask: 0x08,
        record: 4,
        flags: vk::GeometryInstanceFlagsKHR::FORCE_OPAQUE,
    },
    Instance {
        bottom: 1,
        transform: [1.25, 0.25, 0.0, 8.0, 0.0, 1.0, 0.0, 8.5, 0.0, 0.0, 2.0, 6.0],
        custom: 0x00ff_ffff,
        mask: 0x10,
        record: 8,
        flags: vk::GeometryInstanceFlagsKHR::FORCE_NO_OPAQUE,
    },
    Instance {
        bottom: 0,
        transform: [4.0, 0.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 2.0, 20.0],
        custom: 99,
        mask: 0x80,
        record: 0,
        flags: vk::GeometryInstanceFlagsKHR::TRIANGLE_FACING_CULL_DISABLE,
    },
];

/// The world on a device.
pub struct World<'d> {
    bottoms: Vec<Level<'d>>,
    top: Level<'d>,
}

impl<'d> World<'d> {
    /// The scene, not built yet.
    pub fn new(device: &'d Device) -> Result<Self, RunError> {
        let bottoms = BOTTOMS.iter().map(|parts| bottom(device, parts)).collect::<Result<Vec<_>, _>>()?;
        let references: Vec<u64> = bottoms.iter().map(Level::address).collect();
        let data: Vec<u8> = INSTANCES.iter().flat_map(|instance| instance.bytes(&references)).collect();
        let top = Level::new(device, vk::AccelerationStructureTypeKHR::TOP_LEVEL, &data, |address| {
            let instances = vk::AccelerationStructureGeometryInstancesDataKHR::default().data(at(address));
            let data = vk::AccelerationStructureGeometryDataKHR { instances };
            let geometry = vk::AccelerationStructureGeometryKHR::default();
            vec![(geometry.geometry_type(vk::GeometryTypeKHR::INSTANCES).geometry(data), INSTANCES.len() as u32)]
        })?;
        Ok(Self { bottoms, top })
    }

    /// The handle of its top level.
    pub fn handle(&self) -> vk::AccelerationStructureKHR {
        self.top.owner.get().handle
    }

    /// The address of its top level.
    pub fn address(&self) -> vk::DeviceAddress {
        self.top.address()
    }

    /// Records the commands that build it.
    pub fn load(&self, commands: &Commands<'_>) {
        self.bottoms.iter().for_each(|level| level.build(commands));
        commands.barrier();
        self.top.build(commands);
    }
}

impl Instance {
    /// A `VkAccelerationStructureInstanceKHR`.
    fn bytes(&self, references: &[u64]) -> Vec<u8> {
        let transform = self.transform.iter().flat_map(|number| number.to_le_bytes());
        let words = [self.custom | self.mask << 24, self.record | self.flags.as_raw() << 24];
        let words = words.into_iter().flat_map(u32::to_le_bytes);
        transform.chain(words).chain(references[self.bottom].to_le_bytes()).collect()
    }
}

fn bottom<'d>(device: &'d Device, parts: &[Part]) -> Result<Level<'d>, RunError> {
    let data: Vec<u8> = parts.iter().flat_map(Part::bytes).collect();
    Level::new(device, vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL, &data, |address| {
        let offsets = parts.iter().scan(address, |next, part| {
            let offset = *next;
            *next += part.bytes().len() as u64;
            Some(offset)
        });
        parts.iter().zip(offsets).map(|(part, offset)| part.geometry(offset)).collect()
    })
}

impl Part {
    fn bytes(&self) -> Vec<u8> {
        let numbers = match self.shape {
            Shape::Triangles(triangles) => triangles.as_flattened().as_flattened(),
            Shape::Boxes(boxes) => boxes.as_flattened().as_flattened(),
        };
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    /// The geometry with its data at an address, and its primitives.
    fn geometry(&self, address: u64) -> (vk::AccelerationStructureGeometryKHR<'static>, u32) {
        let (kind, geometry, count) = match self.shape {
            Shape::Triangles(all) => (vk::GeometryTypeKHR::TRIANGLES, triangles(address, all.len()), all.len()),
            Shape::Boxes(all) => {
                let aabbs = vk::AccelerationStructureGeometryAabbsDataKHR::default().data(at(address)).stride(24);
                (vk::GeometryTypeKHR::AABBS, vk::AccelerationStructureGeometryDataKHR { aabbs }, all.len())
            }
        };
        let flags = if self.opaque { vk::GeometryFlagsKHR::OPAQUE } else { vk::GeometryFlagsKHR::empty() };
        let whole = vk::AccelerationStructureGeometryKHR::default().geometry_type(kind).geometry(geometry).flags(flags);
        (whole, count as u32)
    }
}

fn triangles(address: u64, count: usize) -> vk::AccelerationStructureGeometryDataKHR<'static> {
    let triangles = vk::AccelerationStructureGeometryTrianglesDataKHR::default()
        .vertex_format(vk::Format::R32G32B32_SFLOAT)
        .vertex_data(at(address))
        .vertex_stride(12)
        .max_vertex(count as u32 * 3 - 1)
        .index_type(vk::IndexType::NONE_KHR);
    vk::AccelerationStructureGeometryDataKHR { triangles }
}

fn at(device_address: u64) -> vk::DeviceOrHostAddressConstKHR {
    vk::DeviceOrHostAddressConstKHR { device_address }
}

/// A handle and the function that frees it.
#[derive(Clone, Copy)]
struct Owned {
    handle: vk::AccelerationStructureKHR,
    destroy: vk::PFN_vkDestroyAccelerationStructureKHR,
}

/// An acceleration structure, its memory, and its build inputs.
struct Level<'d> {
    device: &'d Device,
    kind: vk::AccelerationStructureTypeKHR,
    owner: Guard<'d, Owned>,
    geometries: Vec<vk::AccelerationStructureGeometryKHR<'static>>,
    counts: Vec<u32>,
    scratch: Block<'d>,
    _data: Block<'d>,
    _storage: Block<'d>,
}

/// A multiple of the scratch address alignment that devices require.
const SCRATCH_ALIGNMENT: u64 = 256;

type Geometries = Vec<(vk::AccelerationStructureGeometryKHR<'static>, u32)>;

impl<'d> Level<'d> {
    /// A level from `data`; `make` returns the geometries and their primitives, given the address of the data.
    fn new(
        device: &'d Device,
        kind: vk::AccelerationStructureTypeKHR,
        data: &[u8],
        make: impl Fn(u64) -> Geometries,
    ) -> Result<Self, RunError> {
        let input = vk::BufferUsageFlags::ACCELERATION_STRUCTURE_BUILD_INPUT_READ_ONLY_KHR;
        let data = addressed(device, input, data)?;
        // SAFETY: `addressed` made it.
        let (geometries, counts): (Vec<_>, Vec<_>) = make(unsafe { data.address(device) }).into_iter().unzip();
        let mut sizes = vk::AccelerationStructureBuildSizesInfoKHR::default();
        let info = info(kind, &geometries);
        let on_device = vk::AccelerationStructureBuildTypeKHR::DEVICE;
        // SAFETY: there is a count for each geometry.
        unsafe {
            functions(device).get_acceleration_structure_build_sizes(on_device, &info, &counts, &mut sizes);
        }
        let storage = vec![0; sizes.acceleration_structure_size as usize];
        let storage = addressed(device, vk::BufferUsageFlags::ACCELERATION_STRUCTURE_STORAGE_KHR, &storage)?;
        let scratch = vec![0; (sizes.build_scratch_size + SCRATCH_ALIGNMENT) as usize];
        let scratch = addressed(device, vk::BufferUsageFlags::STORAGE_BUFFER, &scratch)?;
        let create = vk::AccelerationStructureCreateInfoKHR::default().ty(kind).buffer(storage.buffer.get());
        let owner = create_structure(device, &create.size(sizes.acceleration_structure_size))?;
        Ok(Self { device, kind, owner, geometries, counts, scratch, _data: data, _storage: storage })
    }

    fn address(&self) -> vk::DeviceAddress {
        let info = vk::AccelerationStructureDeviceAddressInfoKHR::default();
        let info = info.acceleration_structure(self.owner.get().handle);
        // SAFETY: the structure is live.
        unsafe { functions(self.device).get_acceleration_structure_device_address(&info) }
    }

    fn build(&self, commands: &Commands<'_>) {
        // SAFETY: `addressed` made it.
        let scratch = unsafe { self.scratch.address(self.device) };
        let device_address = scratch.next_multiple_of(SCRATCH_ALIGNMENT);
        let info = info(self.kind, &self.geometries)
            .dst_acceleration_structure(self.owner.get().handle)
            .scratch_data(vk::DeviceOrHostAddressKHR { device_address });
        let range = |count: &u32| vk::AccelerationStructureBuildRangeInfoKHR::default().primitive_count(*count);
        let ranges: Vec<_> = self.counts.iter().map(range).collect();
        // SAFETY: the buffer is recording; all inputs and outputs of the build are live and have the requested sizes.
        unsafe {
            functions(self.device).cmd_build_acceleration_structures(commands.buffer, &[info], &[&ranges]);
        }
    }
}

fn functions(device: &Device) -> khr::acceleration_structure::Device {
    khr::acceleration_structure::Device::new(device.physical().0, device.raw())
}

fn info<'g>(
    kind: vk::AccelerationStructureTypeKHR,
    geometries: &'g [vk::AccelerationStructureGeometryKHR<'static>],
) -> vk::AccelerationStructureBuildGeometryInfoKHR<'g> {
    let info = vk::AccelerationStructureBuildGeometryInfoKHR::default().ty(kind).geometries(geometries);
    match kind {
        // Shaders read positions of corners from it.
        vk::AccelerationStructureTypeKHR::BOTTOM_LEVEL => {
            info.flags(vk::BuildAccelerationStructureFlagsKHR::ALLOW_DATA_ACCESS)
        }
        _ => info,
    }
}

/// A buffer that has an address.
pub fn addressed<'d>(device: &'d Device, usage: vk::BufferUsageFlags, data: &[u8]) -> Result<Block<'d>, RunError> {
    Block::new(device, usage | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS, data)
}

fn create_structure<'d>(
    device: &'d Device,
    create: &vk::AccelerationStructureCreateInfoKHR<'_>,
) -> Result<Guard<'d, Owned>, RunError> {
    let functions = functions(device);
    // SAFETY: the buffer is live and large enough.
    let made = unsafe { functions.create_acceleration_structure(create, None) };
    let handle = made.map_err(run_failure("vkCreateAccelerationStructureKHR"))?;
    let owned = Owned { handle, destroy: functions.fp().destroy_acceleration_structure_khr };
    // SAFETY: the guard is the only owner, and its function is of the same device.
    Ok(Guard::new(device, owned, |d, h| unsafe { (h.destroy)(d.handle(), h.handle, std::ptr::null()) }))
}
