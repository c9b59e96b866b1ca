//! The formats of texels and vertex inputs, by the names of GLSL's layout qualifiers.

use ash::vk;

use crosslane::run::RunError;
use crosslane::run::vulkan::parts::refuse;

/// A format, its name, and the bytes of a texel.
pub struct Format {
    name: &'static str,
    pub vulkan: vk::Format,
    pub bytes: usize,
}

macro_rules! formats {
    ($($name:literal $vulkan:ident $bytes:literal)*) => {
        &[$(Format { name: $name, vulkan: vk::Format::$vulkan, bytes: $bytes }),*]
    };
}

/// The rows of GLSL 4.60, section 4.4.7, formats of vertex inputs that no image has, and depth.
static FORMATS: &[Format] = formats! {
    "rgba32f" R32G32B32A32_SFLOAT 16
    "rgb32f" R32G32B32_SFLOAT 12
    "rg32f" R32G32_SFLOAT 8
    "r32f" R32_SFLOAT 4
    "rgba16f" R16G16B16A16_SFLOAT 8
    "rg16f" R16G16_SFLOAT 4
    "r16f" R16_SFLOAT 2
    "r11f_g11f_b10f" B10G11R11_UFLOAT_PACK32 4
    "rgba16" R16G16B16A16_UNORM 8
    "rgb10_a2" A2B10G10R10_UNORM_PACK32 4
    "rg16" R16G16_UNORM 4
    "r16" R16_UNORM 2
    "rgba8" R8G8B8A8_UNORM 4
    "rg8" R8G8_UNORM 2
    "r8" R8_UNORM 1
    "rgba16_snorm" R16G16B16A16_SNORM 8
    "rg16_snorm" R16G16_SNORM 4
    "r16_snorm" R16_SNORM 2
    "rgba8_snorm" R8G8B8A8_SNORM 4
    "rg8_snorm" R8G8_SNORM 2
    "r8_snorm" R8_SNORM 1
    "rgba32i" R32G32B32A32_SINT 16
    "rgb32i" R32G32B32_SINT 12
    "rg32i" R32G32_SINT 8
    "r32i" R32_SINT 4
    "rgba16i" R16G16B16A16_SINT 8
    "rg16i" R16G16_SINT 4
    "r16i" R16_SINT 2
    "rgba8i" R8G8B8A8_SINT 4
    "rg8i" R8G8_SINT 2
    "r8i" R8_SINT 1
    "r64i" R64_SINT 8
    "rgba32ui" R32G32B32A32_UINT 16
    "rgb32ui" R32G32B32_UINT 12
    "rg32ui" R32G32_UINT 8
    "r32ui" R32_UINT 4
    "rgba16ui" R16G16B16A16_UINT 8
    "rgb10_a2ui" A2B10G10R10_UINT_PACK32 4
    "rg16ui" R16G16_UINT 4
    "r16ui" R16_UINT 2
    "rgba8ui" R8G8B8A8_UINT 4
    "rg8ui" R8G8_UINT 2
    "r8ui" R8_UINT 1
    "r64ui" R64_UINT 8
    "rgba64f" R64G64B64A64_SFLOAT 32
    "rgb64f" R64G64B64_SFLOAT 24
    "rg64f" R64G64_SFLOAT 16
    "r64f" R64_SFLOAT 8
    "d32" D32_SFLOAT 4
};

impl Format {
    pub fn named(name: &str) -> Result<&'static Format, RunError> {
        let found = FORMATS.iter().find(|format| format.name == name);
        found.map_or_else(|| refuse(format!("no format is called `{name}`")), Ok)
    }

    /// Returns true if its texels are depths.
    pub fn is_depth(&self) -> bool {
        self.vulkan == vk::Format::D32_SFLOAT
    }

    /// The aspect of an image that is read and written.
    pub fn aspect(&self) -> vk::ImageAspectFlags {
        if self.is_depth() { vk::ImageAspectFlags::DEPTH } else { vk::ImageAspectFlags::COLOR }
    }
}
