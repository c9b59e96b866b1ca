//! One draw into a framebuffer of textures: its vertices, its targets, and the results read back.
//!
//! Depths are between 0 and 1 and tested (less or equal), and flat inputs come from the first vertex, both as in
//! Vulkan.

use super::Painter;
use super::texture::{Format, GL_DEPTH_COMPONENT, GL_FLOAT, Shape, Spot, Texture, Textures};
use crate::device::{Address, Rate, Topology};
use crosslane::run::RunError;
use crosslane::run::gl::Buffers;
use serde::{Deserialize, Serialize};
use std::ffi::c_void;
use std::ops::Range;

const GL_COLOR_ATTACHMENT0: u32 = 0x8CE0;
const GL_DEPTH_ATTACHMENT: u32 = 0x8D00;
const GL_FRAMEBUFFER: u32 = 0x8D40;
const GL_FRAMEBUFFER_COMPLETE: u32 = 0x8CD5;
const GL_COLOR_BUFFER_BIT: u32 = 0x4000;
const GL_NEAREST: u32 = 0x2600;
const GL_DEPTH: u32 = 0x1801;
const GL_DEPTH_TEST: u32 = 0x0B71;
const GL_LEQUAL: u32 = 0x0203;
const GL_BLEND: u32 = 0x0BE2;
const GL_DITHER: u32 = 0x0BD0;
const GL_ONE: u32 = 1;
const GL_SRC1_COLOR: u32 = 0x88F9;
const GL_CLIP_DISTANCE0: u32 = 0x3000;
const GL_PROGRAM_POINT_SIZE: u32 = 0x8642;
const GL_POINT_SPRITE: u32 = 0x8861;
const GL_TEXTURE_CUBE_MAP_SEAMLESS: u32 = 0x884F;
const GL_LOWER_LEFT: u32 = 0x8CA1;
const GL_ZERO_TO_ONE: u32 = 0x935F;
const GL_FIRST_VERTEX_CONVENTION: u32 = 0x8E4D;
const GL_ARRAY_BUFFER: u32 = 0x8892;
const GL_ALL_BARRIER_BITS: u32 = 0xFFFF_FFFF;
const DEPTH: Format = Format { internal: 0x8CAC, external: GL_DEPTH_COMPONENT, component: GL_FLOAT };

/// The numeric class in which an attribute's components reach the shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Numbers {
    Floats,
    /// Floats between 0 and 1, or -1 and 1, stored as integers.
    Shares,
    Integers,
    /// 64-bit floats that keep their width.
    Doubles,
}

/// An attribute of vertices.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Attribute {
    pub location: u32,
    /// Components of a value, and the constant of OpenGL for their type.
    pub components: u32,
    pub component: u32,
    pub numbers: Numbers,
    pub rate: Rate,
    pub bytes: Vec<u8>,
}

/// A draw and its attachments.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Draw {
    /// Width and height of the framebuffer.
    pub size: [u32; 2],
    /// Layers among which the vertex stage chooses; 0 if it does not.
    pub layers: u32,
    /// Samples of a pixel, which are resolved before they are read; 0 and 1 are the same.
    pub samples: u32,
    /// The formats of the colours by location, which are zero before the draw.
    pub colours: Vec<Format>,
    /// The depth before the draw, if there is one.
    pub depth: Option<f32>,
    pub topology: Topology,
    pub vertices: Range<u32>,
    pub instances: Range<u32>,
    pub attributes: Vec<Attribute>,
    /// Multiplies the target by the fragment's second source and adds the first.
    pub dual_source: bool,
    /// Distances that clip.
    pub clip_distances: u32,
}

/// A framebuffer that goes with this.
struct Framebuffer<'d>(&'d Painter, u32);

impl Drop for Framebuffer<'_> {
    fn drop(&mut self) {
        // SAFETY: a context is current; no other code knows the framebuffer.
        unsafe {
            (self.0.gl.glBindFramebuffer)(GL_FRAMEBUFFER, 0);
            (self.0.gl.glDeleteFramebuffers)(1, &raw const self.1);
        }
    }
}

/// Fixed functions enabled during the lifetime of this value.
struct Switches<'d>(&'d Painter, Vec<u32>);

impl<'d> Switches<'d> {
    fn new(painter: &'d Painter, draw: &Draw) -> Switches<'d> {
        let gl = &painter.gl;
        let asked = [
            (draw.depth.is_some(), GL_DEPTH_TEST),
            (draw.dual_source, GL_BLEND),
            (draw.topology == Topology::Points, GL_PROGRAM_POINT_SIZE),
            (draw.topology == Topology::Points, GL_POINT_SPRITE),
        ];
        let asked = asked.into_iter().filter_map(|(asked, name)| asked.then_some(name));
        let names: Vec<u32> = asked.chain((0..draw.clip_distances).map(|n| GL_CLIP_DISTANCE0 + n)).collect();
        // SAFETY: a context is current.
        unsafe {
            names.iter().for_each(|name| (gl.glEnable)(*name));
            (gl.glEnable)(GL_TEXTURE_CUBE_MAP_SEAMLESS);
            (gl.glDisable)(GL_DITHER);
            (gl.glDepthFunc)(GL_LEQUAL);
            (gl.glBlendFunc)(GL_ONE, GL_SRC1_COLOR);
            (gl.glClipControl)(GL_LOWER_LEFT, GL_ZERO_TO_ONE);
            (gl.glProvokingVertex)(GL_FIRST_VERTEX_CONVENTION);
        }
        Switches(painter, names)
    }
}

impl Drop for Switches<'_> {
    fn drop(&mut self) {
        // SAFETY: a context is current.
        self.1.iter().for_each(|name| unsafe { (self.0.gl.glDisable)(*name) });
    }
}

impl Draw {
    /// An attachment filled with zeros.
    fn attachment(&self, format: Format, samples: u32) -> Texture {
        let [width, height] = self.size;
        Texture {
            at: Spot::default(),
            sampler: None,
            is_image: false,
            shape: if self.layers > 0 { Shape::D2Array } else { Shape::D2 },
            size: [width, height, self.layers.max(1)],
            format,
            samples,
            levels: vec![vec![0; (width * height * self.layers.max(1)) as usize * format.bytes()]],
            linear: false,
            address: Address::Clamp,
            compares: false,
        }
    }

    const fn mode(&self) -> u32 {
        match self.topology {
            Topology::Points => 0,
            Topology::Lines => 1,
            Topology::Triangles => 4,
            Topology::Strip => 5,
            Topology::Adjacent => 10,
            Topology::Patches(_) => 14,
        }
    }
}

/// Draws; the bytes of each attachment, and of the depth.
pub fn draw(painter: &Painter, draw: &Draw) -> Result<Vec<Vec<u8>>, RunError> {
    let gl = &painter.gl;
    let mut textures = Textures::new(painter);
    let attached = Attached::new(&mut textures, draw, draw.samples)?;
    let framebuffer = framebuffer(painter, draw, &attached.names, None)?;
    clear_depth(painter, draw, &framebuffer);
    let mut vertices = Buffers::new(&painter.device);
    draw.attributes.iter().for_each(|attribute| feed(painter, &mut vertices, attribute));
    let switches = Switches::new(painter, draw);
    // SAFETY: a context is current; all attributes have as many vertices.
    unsafe {
        (gl.glBindFramebuffer)(GL_FRAMEBUFFER, framebuffer.1);
        (gl.glViewport)(0, 0, draw.size[0] as i32, draw.size[1] as i32);
        let (first, count, instances) = (draw.vertices.start, draw.vertices.len() as i32, draw.instances.len() as i32);
        let mode = draw.mode();
        (gl.glDrawArraysInstancedBaseInstance)(mode, first as i32, count, instances, draw.instances.start);
        (gl.glMemoryBarrier)(GL_ALL_BARRIER_BITS);
        draw.attributes.iter().for_each(|attribute| (gl.glDisableVertexAttribArray)(attribute.location));
    }
    drop(switches);
    painter.device.check("glDrawArrays")?;
    painter.device.wait()?;
    if draw.samples < 2 {
        return attached.read(&textures);
    }
    let resolved = Attached::new(&mut textures, draw, 1)?;
    resolve(painter, draw, &attached, &resolved)?;
    resolved.read(&textures)
}

/// The attached images, the depth last.
struct Attached {
    list: Vec<Texture>,
    names: Vec<u32>,
}

impl Attached {
    fn new(textures: &mut Textures<'_>, draw: &Draw, samples: u32) -> Result<Attached, RunError> {
        let formats = draw.colours.iter().copied().chain(draw.depth.map(|_| DEPTH));
        let list: Vec<Texture> = formats.map(|format| draw.attachment(format, samples)).collect();
        let names = list.iter().map(|texture| textures.add(texture, |_| 0)).collect::<Result<_, _>>()?;
        Ok(Attached { list, names })
    }

    fn read(mut self, textures: &Textures<'_>) -> Result<Vec<Vec<u8>>, RunError> {
        self.list.iter_mut().zip(&self.names).try_for_each(|(texture, name)| textures.read(*name, texture))?;
        Ok(self.list.into_iter().flat_map(|texture| texture.levels).collect())
    }
}

/// A framebuffer of these textures, the depth last, or of one layer of each.
fn framebuffer<'d>(
    painter: &'d Painter,
    draw: &Draw,
    names: &[u32],
    layer: Option<u32>,
) -> Result<Framebuffer<'d>, RunError> {
    let (gl, mut name) = (&painter.gl, 0);
    let buffers: Vec<u32> = (0..draw.colours.len() as u32).map(|n| GL_COLOR_ATTACHMENT0 + n).collect();
    // SAFETY: a context is current; the textures exist, and the count matches the array.
    let status = unsafe {
        (gl.glCreateFramebuffers)(1, &raw mut name);
        for (n, texture) in names.iter().enumerate() {
            let place = buffers.get(n).copied().unwrap_or(GL_DEPTH_ATTACHMENT);
            match layer {
                Some(layer) => (gl.glNamedFramebufferTextureLayer)(name, place, *texture, 0, layer as i32),
                None => (gl.glNamedFramebufferTexture)(name, place, *texture, 0),
            }
        }
        (gl.glNamedFramebufferDrawBuffers)(name, buffers.len() as i32, buffers.as_ptr());
        (gl.glCheckNamedFramebufferStatus)(name, GL_FRAMEBUFFER)
    };
    let framebuffer = Framebuffer(painter, name);
    match status {
        GL_FRAMEBUFFER_COMPLETE => painter.device.check("glNamedFramebufferTexture").map(|()| framebuffer),
        other => Err(RunError::Driver("glCheckNamedFramebufferStatus", format!("{other:#06x}"))),
    }
}

/// Fills the depth, in all layers, with its initial value.
fn clear_depth(painter: &Painter, draw: &Draw, framebuffer: &Framebuffer<'_>) {
    if let Some(depth) = draw.depth {
        // SAFETY: a context is current and the framebuffer has a depth.
        unsafe { (painter.gl.glClearNamedFramebufferfv)(framebuffer.1, GL_DEPTH, 0, [depth].as_ptr()) };
    }
}

/// Resolves the samples of each colour. For layered framebuffers only the first layer is copied, so each layer has its
/// own framebuffer.
fn resolve(painter: &Painter, draw: &Draw, from: &Attached, to: &Attached) -> Result<(), RunError> {
    let layers: Vec<Option<u32>> = if draw.layers > 0 { (0..draw.layers).map(Some).collect() } else { vec![None] };
    for layer in layers {
        let [from, to] = [&from.names, &to.names].map(|names| framebuffer(painter, draw, names, layer));
        let (from, to) = (from?, to?);
        clear_depth(painter, draw, &to);
        resolve_colours(painter, draw, from.1, to.1);
    }
    painter.device.check("glBlitNamedFramebuffer")?;
    painter.device.wait()
}

fn resolve_colours(painter: &Painter, draw: &Draw, from: u32, to: u32) {
    let gl = &painter.gl;
    let [width, height] = draw.size.map(|size| size as i32);
    for n in 0..draw.colours.len() as u32 {
        let place = GL_COLOR_ATTACHMENT0 + n;
        // SAFETY: a context is current; both framebuffers have the attachment.
        unsafe {
            (gl.glNamedFramebufferReadBuffer)(from, place);
            (gl.glNamedFramebufferDrawBuffers)(to, 1, &raw const place);
            let area = (0, 0, width, height);
            let ((x, y, w, h), mask) = (area, GL_COLOR_BUFFER_BIT);
            (gl.glBlitNamedFramebuffer)(from, to, x, y, w, h, x, y, w, h, mask, GL_NEAREST);
        }
    }
}

/// Lets an attribute's array be read by vertices.
fn feed(painter: &Painter, vertices: &mut Buffers<'_>, attribute: &Attribute) {
    let gl = &painter.gl;
    let name = vertices.add(&attribute.bytes);
    let start = std::ptr::null::<c_void>();
    let Attribute { location, components, component, numbers, rate, .. } = *attribute;
    let (count, is_share) = (components as i32, u8::from(numbers == Numbers::Shares));
    // SAFETY: a context is current; the buffer outlives the draw.
    unsafe {
        (gl.glBindBuffer)(GL_ARRAY_BUFFER, name);
        match numbers {
            Numbers::Doubles => (gl.glVertexAttribLPointer)(location, count, component, 0, start),
            Numbers::Integers => (gl.glVertexAttribIPointer)(location, count, component, 0, start),
            _ => (gl.glVertexAttribPointer)(location, count, component, is_share, 0, start),
        }
        (gl.glVertexAttribDivisor)(location, u32::from(rate == Rate::Instance));
        (gl.glEnableVertexAttribArray)(location);
    }
}
