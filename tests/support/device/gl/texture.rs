//! Textures and images of a run: created from bytes, bound to units, and read back.

use super::Painter;
use crate::device::Address;
use crosslane::run::RunError;
use serde::{Deserialize, Serialize};
use std::ffi::c_void;

const GL_TEXTURE_MAG_FILTER: u32 = 0x2800;
const GL_TEXTURE_MIN_FILTER: u32 = 0x2801;
const GL_TEXTURE_WRAP: [u32; 3] = [0x2802, 0x2803, 0x8072];
const GL_TEXTURE_COMPARE_MODE: u32 = 0x884C;
const GL_COMPARE_REF_TO_TEXTURE: i32 = 0x884E;
const GL_TEXTURE_BORDER_COLOR: u32 = 0x1004;
const GL_NEAREST: i32 = 0x2600;
const GL_LINEAR: i32 = 0x2601;
const GL_NEAREST_MIPMAP_NEAREST: i32 = 0x2700;
const GL_LINEAR_MIPMAP_LINEAR: i32 = 0x2703;
const GL_READ_WRITE: u32 = 0x88BA;
const GL_TEXTURE_BUFFER: u32 = 0x8C2A;
const GL_BYTE: u32 = 0x1400;
const GL_UNSIGNED_BYTE: u32 = 0x1401;
const GL_SHORT: u32 = 0x1402;
const GL_UNSIGNED_SHORT: u32 = 0x1403;
const GL_INT: u32 = 0x1404;
const GL_UNSIGNED_INT: u32 = 0x1405;
pub(super) const GL_FLOAT: u32 = 0x1406;
const GL_HALF_FLOAT: u32 = 0x140B;
pub(super) const GL_DEPTH_COMPONENT: u32 = 0x1902;
const GL_RED: u32 = 0x1903;
const GL_RG: u32 = 0x8227;
const GL_RGB: u32 = 0x1907;
const GL_RED_INTEGER: u32 = 0x8D94;
const GL_RG_INTEGER: u32 = 0x8228;
const GL_RGB_INTEGER: u32 = 0x8D98;
const GL_RGBA_INTEGER: u32 = 0x8D99;
const GL_PACK_ALIGNMENT: u32 = 0x0D05;
const GL_UNPACK_ALIGNMENT: u32 = 0x0CF5;

/// Dimensions of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Shape {
    D1,
    D1Array,
    D2,
    D2Array,
    D3,
    Cube,
    CubeArray,
    Rect,
    Buffer,
}

impl Shape {
    const fn target(self, samples: u32) -> u32 {
        match self {
            Shape::D1 => 0x0DE0,
            Shape::D1Array => 0x8C18,
            Shape::D2 if samples > 1 => 0x9100,
            Shape::D2Array if samples > 1 => 0x9102,
            Shape::D2 => 0x0DE1,
            Shape::D2Array => 0x8C1A,
            Shape::D3 => 0x806F,
            Shape::Cube => 0x8513,
            Shape::CubeArray => 0x9009,
            Shape::Rect => 0x84F5,
            Shape::Buffer => GL_TEXTURE_BUFFER,
        }
    }
}

/// The memory format of texels, as OpenGL's constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Format {
    /// The texture's format: `GL_RGBA32F` and so on.
    pub internal: u32,
    /// The format of the bytes: `GL_RGBA` and `GL_FLOAT` and so on.
    pub external: u32,
    pub component: u32,
}

impl Format {
    /// Bytes of a texel.
    pub const fn bytes(self) -> usize {
        let component = match self.component {
            GL_BYTE | GL_UNSIGNED_BYTE => 1,
            GL_SHORT | GL_UNSIGNED_SHORT | GL_HALF_FLOAT => 2,
            GL_INT | GL_UNSIGNED_INT | GL_FLOAT => 4,
            // All components in one word.
            _ => return 4,
        };
        let count = match self.external {
            GL_RED | GL_RED_INTEGER | GL_DEPTH_COMPONENT => 1,
            GL_RG | GL_RG_INTEGER => 2,
            GL_RGB | GL_RGB_INTEGER => 3,
            _ => 4,
        };
        component * count
    }

    /// Returns true if components are integers, which cannot be filtered.
    const fn is_integer(self) -> bool {
        matches!(self.external, GL_RED_INTEGER | GL_RG_INTEGER | GL_RGBA_INTEGER)
    }
}

/// Where a texture, an image or a sampler is bound: set, binding, and array element.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Spot {
    pub set: u32,
    pub binding: u32,
    pub element: u32,
}

/// A texture or an image that is bound for a run.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Texture {
    pub at: Spot,
    /// The sampler used with it, if bound separately.
    pub sampler: Option<Spot>,
    /// True if it is read and written directly.
    pub is_image: bool,
    pub shape: Shape,
    /// Width, height, depth or layers; a cube has six layers.
    pub size: [u32; 3],
    pub format: Format,
    /// Samples per texel; all of them start as the first texel, and are not read back.
    pub samples: u32,
    /// Bytes of each level, the largest first.
    pub levels: Vec<Vec<u8>>,
    pub linear: bool,
    pub address: Address,
    /// True if texels are compared with a reference: the result is true if the reference is less or equal.
    pub compares: bool,
}

/// Textures in the driver.
pub struct Textures<'d> {
    painter: &'d Painter,
    names: Vec<u32>,
}

impl<'d> Textures<'d> {
    pub fn new(painter: &'d Painter) -> Textures<'d> {
        let gl = &painter.gl;
        // SAFETY: a context is current.
        unsafe {
            (gl.glPixelStorei)(GL_PACK_ALIGNMENT, 1);
            (gl.glPixelStorei)(GL_UNPACK_ALIGNMENT, 1);
        }
        Textures { painter, names: Vec::new() }
    }

    /// Makes a texture with its contents; a buffer texture shows the buffer.
    pub fn add(&mut self, texture: &Texture, buffer: impl FnOnce(&[u8]) -> u32) -> Result<u32, RunError> {
        let (gl, mut name) = (&self.painter.gl, 0);
        // SAFETY: a context is current; there is room for one name.
        unsafe { (gl.glCreateTextures)(texture.shape.target(texture.samples), 1, &raw mut name) };
        self.names.push(name);
        let first = texture.levels.first().map_or(&[][..], |level| level);
        if texture.shape == Shape::Buffer {
            // SAFETY: the buffer exists.
            unsafe { (gl.glTextureBuffer)(name, texture.format.internal, buffer(first)) };
            return self.painter.device.check("glTextureBuffer").map(|()| name);
        }
        if texture.samples > 1 {
            self.sampled(name, texture, first);
            return self.painter.device.check("glTextureStorageMultisample").map(|()| name);
        }
        self.storage(name, texture);
        for (level, bytes) in texture.levels.iter().enumerate() {
            self.fill(name, texture, level as i32, bytes);
        }
        self.parameters(name, texture);
        self.painter.device.check("glTextureStorage").map(|()| name)
    }

    /// Allocates a multisampled texture, and fills all its texels with the first one of these bytes.
    fn sampled(&self, name: u32, texture: &Texture, bytes: &[u8]) {
        let (gl, Format { internal, external, component }) = (&self.painter.gl, texture.format);
        let ([width, height, depth], samples) = (texture.size.map(|size| size as i32), texture.samples as i32);
        // SAFETY: a context is current, the texture is new, and the bytes begin with a texel.
        unsafe {
            match texture.shape {
                Shape::D2Array => {
                    (gl.glTextureStorage3DMultisample)(name, samples, internal, width, height, depth, 1);
                }
                _ => (gl.glTextureStorage2DMultisample)(name, samples, internal, width, height, 1),
            }
            if !bytes.is_empty() {
                (gl.glClearTexImage)(name, 0, external, component, bytes.as_ptr().cast());
            }
        }
    }

    fn storage(&self, name: u32, texture: &Texture) {
        let (gl, format, levels) = (&self.painter.gl, texture.format.internal, texture.levels.len().max(1) as i32);
        let [width, height, depth] = texture.size.map(|size| size as i32);
        // SAFETY: a context is current and the texture is new.
        unsafe {
            match texture.shape {
                Shape::D1 => (gl.glTextureStorage1D)(name, levels, format, width),
                Shape::D1Array | Shape::D2 | Shape::Cube | Shape::Rect => {
                    (gl.glTextureStorage2D)(name, levels, format, width, height);
                }
                _ => (gl.glTextureStorage3D)(name, levels, format, width, height, depth),
            }
        }
    }

    fn fill(&self, name: u32, texture: &Texture, level: i32, bytes: &[u8]) {
        let (gl, Format { external, component, .. }) = (&self.painter.gl, texture.format);
        let layered = !matches!(texture.shape, Shape::D3);
        let halved = |size: u32, is_layer: bool| if is_layer { size as i32 } else { (size >> level).max(1) as i32 };
        let [width, height, depth] = texture.size;
        let (width, height) = (halved(width, false), halved(height, texture.shape == Shape::D1Array));
        let (depth, data) = (halved(depth, layered), bytes.as_ptr().cast::<c_void>());
        // SAFETY: a context is current; the level has as many bytes as it needs.
        unsafe {
            match texture.shape {
                Shape::D1 => (gl.glTextureSubImage1D)(name, level, 0, width, external, component, data),
                Shape::D1Array | Shape::D2 | Shape::Rect => {
                    (gl.glTextureSubImage2D)(name, level, 0, 0, width, height, external, component, data);
                }
                _ => (gl.glTextureSubImage3D)(name, level, 0, 0, 0, width, height, depth, external, component, data),
            }
        }
    }

    fn parameters(&self, name: u32, texture: &Texture) {
        let magnified = if texture.linear { GL_LINEAR } else { GL_NEAREST };
        let minified = match (texture.levels.len() > 1, texture.linear) {
            (false, _) => magnified,
            (true, false) => GL_NEAREST_MIPMAP_NEAREST,
            (true, true) => GL_LINEAR_MIPMAP_LINEAR,
        };
        let compared = if texture.compares { GL_COMPARE_REF_TO_TEXTURE } else { 0 };
        let wrapped = match texture.address {
            Address::Repeat => 0x2901,
            Address::Mirror => 0x8370,
            Address::Clamp => 0x812F,
            Address::Border => 0x812D,
        };
        let wraps = GL_TEXTURE_WRAP.map(|wrap| (wrap, wrapped));
        let others = [
            (GL_TEXTURE_MAG_FILTER, magnified),
            (GL_TEXTURE_MIN_FILTER, minified),
            (GL_TEXTURE_COMPARE_MODE, compared),
        ];
        for (parameter, value) in wraps.into_iter().chain(others) {
            // SAFETY: a context is current.
            unsafe { (self.painter.gl.glTextureParameteri)(name, parameter, value) };
        }
        self.border(name, texture.format.is_integer());
    }

    /// Opaque black beyond the edge.
    fn border(&self, name: u32, is_integer: bool) {
        // SAFETY: a context is current; there are four numbers.
        unsafe {
            match is_integer {
                true => (self.painter.gl.glTextureParameterIiv)(name, GL_TEXTURE_BORDER_COLOR, [0, 0, 0, 1].as_ptr()),
                false => {
                    (self.painter.gl.glTextureParameterfv)(
                        name,
                        GL_TEXTURE_BORDER_COLOR,
                        [0.0, 0.0, 0.0, 1.0].as_ptr(),
                    );
                }
            }
        }
    }

    /// Binds a texture to a unit of its kind.
    pub fn bind(&self, name: u32, texture: &Texture, unit: u32) -> Result<(), RunError> {
        // SAFETY: a context is current and the texture exists.
        unsafe {
            match texture.is_image {
                true => {
                    (self.painter.gl.glBindImageTexture)(unit, name, 0, 1, 0, GL_READ_WRITE, texture.format.internal)
                }
                false => (self.painter.gl.glBindTextureUnit)(unit, name),
            }
        }
        self.painter.device.check("glBindTextureUnit")
    }

    /// Reads the contents of the first level.
    pub fn read(&self, name: u32, texture: &mut Texture) -> Result<(), RunError> {
        let Format { external, component, .. } = texture.format;
        let is_read = texture.shape != Shape::Buffer && texture.samples < 2;
        let Some(bytes) = texture.levels.first_mut().filter(|_| is_read) else { return Ok(()) };
        let (length, data) = (bytes.len() as i32, bytes.as_mut_ptr().cast::<c_void>());
        // SAFETY: the buffer has the given size.
        unsafe { (self.painter.gl.glGetTextureImage)(name, 0, external, component, length, data) };
        self.painter.device.check("glGetTextureImage")
    }
}

impl Drop for Textures<'_> {
    fn drop(&mut self) {
        // SAFETY: a context is current; nothing else uses the textures.
        unsafe { (self.painter.gl.glDeleteTextures)(self.names.len() as i32, self.names.as_ptr()) };
    }
}
