//! A draw into a framebuffer of textures, or a dispatch, with textures and buffers: from bytes to bytes, for assembly programs
//! and for the driver's own shaders alike.

use super::Device;
use super::api::Gl;
use super::dispatch::{Bound, check, dispatch, wait};
use super::program::Program;
use super::shader::{Shader, Using};
use super::texture::{Format, Shape, Texture, Textures};
use crate::run::{BufferBinding, RunError};
use crate::target::nv::reflection::{FRAGMENT_PROGRAM, VERTEX_PROGRAM};
use serde::{Deserialize, Serialize};
use std::ffi::c_void;

const GL_COLOR_ATTACHMENT0: u32 = 0x8CE0;
const GL_DEPTH_ATTACHMENT: u32 = 0x8D00;
const GL_FRAMEBUFFER: u32 = 0x8D40;
const GL_FRAMEBUFFER_COMPLETE: u32 = 0x8CD5;
const GL_COLOR: u32 = 0x1800;
const GL_DEPTH: u32 = 0x1801;
const GL_DEPTH_TEST: u32 = 0x0B71;
const GL_ALWAYS: u32 = 0x0207;
const GL_ARRAY_BUFFER: u32 = 0x8892;
const GL_TRIANGLES: u32 = 4;
const GL_INT: u32 = 0x1404;
const GL_UNSIGNED_INT: u32 = 0x1405;
const GL_FLOAT: u32 = 0x1406;
const GL_ALL_BARRIER_BITS: u32 = 0xFFFF_FFFF;
const DEPTH: Format = Format { internal: 0x8CAC, external: 0x1902, component: GL_FLOAT };

/// An attribute of vertices, of four 32-bit words each.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Attribute {
    pub location: u32,
    pub is_integer: bool,
    pub words: Vec<u32>,
}

/// What is drawn where.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Draw {
    /// Width and height of the framebuffer.
    pub size: [u32; 2],
    /// `GL_FLOAT`, `GL_INT` or `GL_UNSIGNED_INT` of four components, for each attachment.
    pub colours: Vec<u32>,
    pub depth: bool,
    /// Vertices of triangles.
    pub vertices: u32,
    pub attributes: Vec<Attribute>,
    pub instances: u32,
    pub first_instance: u32,
}

/// Resources of a run; it leaves in them what the programs left there.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Scene {
    pub draw: Draw,
    /// Workgroups, of a dispatch.
    pub groups: [u32; 3],
    pub push: Vec<u8>,
    pub textures: Vec<Texture>,
    /// Contents of the storage buffers at set 0 and these bindings.
    pub storage: Vec<(u32, Vec<u8>)>,
    pub uniform: Vec<(u32, Vec<u8>)>,
    /// What was drawn: each attachment, then the depth.
    pub drawn: Vec<Vec<u8>>,
}

/// The programs of a run.
pub enum Programs<'p, 'd> {
    /// One of a compute shader, or a vertex and a fragment program.
    Assembly(&'p [Program<'d>]),
    Glsl(&'p Shader<'d>),
}

impl Device {
    /// Runs a scene.
    ///
    /// # Errors
    /// [`RunError`]; the scene is then half changed.
    pub fn run_scene(&self, programs: &Programs<'_, '_>, scene: &mut Scene) -> Result<(), RunError> {
        let gl = &self.gl;
        let mut buffers: Vec<BufferBinding> = Vec::new();
        buffers.extend(scene.storage.iter().map(|(binding, data)| BufferBinding::storage(0, *binding, data.clone())));
        buffers.extend(scene.uniform.iter().map(|(binding, data)| BufferBinding::uniform(0, *binding, data.clone())));
        let (bound, mut texels) = (programs.bind(scene, &buffers)?, Bound::new(gl));
        let mut textures = Textures::new(gl);
        let mut names = Vec::new();
        for texture in &scene.textures {
            let name = textures.add(texture, |bytes| texels.add(bytes))?;
            names.push(name);
            programs.units(texture).into_iter().try_for_each(|unit| textures.bind(name, texture, unit))?;
        }
        programs.with(gl, || match scene.groups {
            [0, ..] => draw(gl, &scene.draw).map(|drawn| scene.drawn = drawn),
            groups => dispatch(gl, groups).and_then(|()| wait(gl)),
        })?;
        bound.iter().try_for_each(|bound| bound.read_all(&mut buffers))?;
        for ((_, data), buffer) in scene.storage.iter_mut().zip(buffers) {
            *data = buffer.data;
        }
        read_textures(&textures, &texels, &names, &mut scene.textures)
    }
}

/// What images hold now, and the buffers that images show.
fn read_textures(
    textures: &Textures<'_>,
    texels: &Bound<'_>,
    names: &[u32],
    list: &mut [Texture],
) -> Result<(), RunError> {
    let shown = list.iter().filter(|texture| texture.shape == Shape::Buffer);
    let first = |texture: &Texture| texture.levels.first().cloned().unwrap_or_default();
    let mut buffers: Vec<BufferBinding> = shown.map(|texture| BufferBinding::storage(0, 0, first(texture))).collect();
    texels.read_all(&mut buffers)?;
    let mut shown = buffers.into_iter();
    for (texture, name) in list.iter_mut().zip(names) {
        if texture.shape == Shape::Buffer {
            texture.levels = shown.next().map(|buffer| buffer.data).into_iter().collect();
        } else if texture.is_image {
            textures.read(*name, texture)?;
        }
    }
    Ok(())
}

impl<'d> Programs<'_, 'd> {
    /// Binds buffers and sets parameters.
    fn bind(&self, scene: &Scene, buffers: &[BufferBinding]) -> Result<Vec<Bound<'d>>, RunError> {
        match self {
            Programs::Assembly(programs) => {
                let first_instance = scene.draw.first_instance;
                programs.iter().map(|program| program.bind(&scene.push, buffers, first_instance)).collect()
            }
            Programs::Glsl(shader) => shader.bind(buffers).map(|bound| vec![bound]),
        }
    }

    /// The units that a texture goes to: a driver's own shader has those of its bindings.
    fn units(&self, texture: &Texture) -> Vec<u32> {
        match self {
            Programs::Assembly(programs) => programs.iter().flat_map(|program| program.units(texture)).collect(),
            Programs::Glsl(_) => vec![texture.binding + texture.element],
        }
    }

    /// Runs something while the programs are in use.
    fn with(&self, gl: &Gl, run: impl FnOnce() -> Result<(), RunError>) -> Result<(), RunError> {
        match self {
            Programs::Glsl(shader) => {
                let _using = Using::new(shader);
                run()
            }
            Programs::Assembly(programs) => {
                programs.iter().for_each(Program::enable);
                let outcome = run();
                for target in [VERTEX_PROGRAM, FRAGMENT_PROGRAM] {
                    // SAFETY: a context is current.
                    unsafe { (gl.glDisable)(target) };
                }
                outcome
            }
        }
    }
}

/// A framebuffer that goes with this.
struct Framebuffer<'d>(&'d Gl, u32);

impl Drop for Framebuffer<'_> {
    fn drop(&mut self) {
        // SAFETY: a context is current; nobody else knows the framebuffer.
        unsafe {
            (self.0.glBindFramebuffer)(GL_FRAMEBUFFER, 0);
            (self.0.glDeleteFramebuffers)(1, &raw const self.1);
        }
    }
}

/// An empty attachment.
fn attachment(draw: &Draw, format: Format, bytes: usize) -> Texture {
    let [width, height] = draw.size;
    let level = vec![0; (width * height) as usize * bytes];
    Texture {
        set: 0,
        binding: 0,
        element: 0,
        is_image: false,
        shape: Shape::D2,
        size: [width, height, 1],
        format,
        levels: vec![level],
        linear: false,
        compares: false,
    }
}

/// The format of four components of a kind.
fn colour_format(component: u32) -> Format {
    match component {
        GL_INT => Format { internal: 0x8D82, external: 0x8D99, component },
        GL_UNSIGNED_INT => Format { internal: 0x8D70, external: 0x8D99, component },
        _ => Format { internal: 0x8814, external: 0x1908, component: GL_FLOAT },
    }
}

/// Draws the triangles; the bytes of each attachment, and of the depth.
fn draw(gl: &Gl, draw: &Draw) -> Result<Vec<Vec<u8>>, RunError> {
    let mut textures = Textures::new(gl);
    let colours = draw.colours.iter().map(|component| attachment(draw, colour_format(*component), 16));
    let mut attached: Vec<Texture> = colours.chain(draw.depth.then(|| attachment(draw, DEPTH, 4))).collect();
    let names = attached.iter().map(|texture| textures.add(texture, |_| 0)).collect::<Result<Vec<u32>, _>>()?;
    let _framebuffer = framebuffer(gl, draw, &names)?;
    let mut vertices = Bound::new(gl);
    for attribute in &draw.attributes {
        feed(gl, &mut vertices, attribute);
    }
    // SAFETY: a context is current; all attributes have as many vertices.
    unsafe {
        (gl.glViewport)(0, 0, draw.size[0] as i32, draw.size[1] as i32);
        let (count, instances) = (draw.vertices as i32, draw.instances.max(1) as i32);
        (gl.glDrawArraysInstancedBaseInstance)(GL_TRIANGLES, 0, count, instances, draw.first_instance);
        (gl.glMemoryBarrier)(GL_ALL_BARRIER_BITS);
        (gl.glDisable)(GL_DEPTH_TEST);
        draw.attributes.iter().for_each(|attribute| (gl.glDisableVertexAttribArray)(attribute.location));
    }
    check(gl, "glDrawArrays")?;
    wait(gl)?;
    attached.iter_mut().zip(&names).try_for_each(|(texture, name)| textures.read(*name, texture))?;
    Ok(attached.into_iter().flat_map(|texture| texture.levels).collect())
}

fn framebuffer<'d>(gl: &'d Gl, draw: &Draw, names: &[u32]) -> Result<Framebuffer<'d>, RunError> {
    let mut name = 0;
    let count = draw.colours.len() as u32;
    let buffers: Vec<u32> = (0..count).map(|n| GL_COLOR_ATTACHMENT0 + n).collect();
    // SAFETY: a context is current; the textures exist, and there are as many numbers as is said.
    let status = unsafe {
        (gl.glCreateFramebuffers)(1, &raw mut name);
        for (n, texture) in names.iter().enumerate() {
            let place = if n < buffers.len() { buffers[n] } else { GL_DEPTH_ATTACHMENT };
            (gl.glNamedFramebufferTexture)(name, place, *texture, 0);
        }
        (gl.glNamedFramebufferDrawBuffers)(name, buffers.len() as i32, buffers.as_ptr());
        for (n, component) in (0..).zip(&draw.colours) {
            match *component {
                GL_INT => (gl.glClearNamedFramebufferiv)(name, GL_COLOR, n, [0; 4].as_ptr()),
                GL_UNSIGNED_INT => (gl.glClearNamedFramebufferuiv)(name, GL_COLOR, n, [0; 4].as_ptr()),
                _ => (gl.glClearNamedFramebufferfv)(name, GL_COLOR, n, [0.0; 4].as_ptr()),
            }
        }
        if draw.depth {
            (gl.glClearNamedFramebufferfv)(name, GL_DEPTH, 0, [1.0].as_ptr());
            (gl.glEnable)(GL_DEPTH_TEST);
            (gl.glDepthFunc)(GL_ALWAYS);
        }
        (gl.glBindFramebuffer)(GL_FRAMEBUFFER, name);
        (gl.glCheckNamedFramebufferStatus)(name, GL_FRAMEBUFFER)
    };
    let framebuffer = Framebuffer(gl, name);
    match status {
        GL_FRAMEBUFFER_COMPLETE => check(gl, "glNamedFramebufferTexture").map(|()| framebuffer),
        other => Err(RunError::Driver("glCheckNamedFramebufferStatus", format!("{other:#06x}"))),
    }
}

/// Lets an attribute's array be read by vertices.
fn feed(gl: &Gl, vertices: &mut Bound<'_>, attribute: &Attribute) {
    let bytes: Vec<u8> = attribute.words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let name = vertices.add(&bytes);
    let start = std::ptr::null::<c_void>();
    // SAFETY: a context is current; the buffer stays until the draw is over.
    unsafe {
        (gl.glBindBuffer)(GL_ARRAY_BUFFER, name);
        match attribute.is_integer {
            true => (gl.glVertexAttribIPointer)(attribute.location, 4, GL_INT, 0, start),
            false => (gl.glVertexAttribPointer)(attribute.location, 4, GL_FLOAT, 0, 0, start),
        }
        (gl.glEnableVertexAttribArray)(attribute.location);
    }
}
