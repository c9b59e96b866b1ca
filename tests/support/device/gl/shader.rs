//! GLSL shaders that the driver compiles itself: the reference for assembly programs.

use super::{Gl, Painter};
use crosslane::backend::nv::reflection::STORAGE_BUFFER;
use crosslane::ir::Stage;
use crosslane::run::gl::Buffers;
use crosslane::run::{BufferBinding, BufferKind, RunError};
use std::ffi::{c_char, c_void};

pub(super) const GL_COMPUTE_SHADER: u32 = 0x91B9;
pub(super) const GL_VERTEX_SHADER: u32 = 0x8B31;
pub(super) const GL_FRAGMENT_SHADER: u32 = 0x8B30;
const GL_GEOMETRY_SHADER: u32 = 0x8DD9;
const GL_TESS_EVALUATION_SHADER: u32 = 0x8E87;
const GL_TESS_CONTROL_SHADER: u32 = 0x8E88;
const GL_COMPILE_STATUS: u32 = 0x8B81;
const GL_LINK_STATUS: u32 = 0x8B82;
const GL_UNIFORM_BUFFER: u32 = 0x8A11;
const GL_PROGRAM_BINARY_LENGTH: u32 = 0x8741;
const GL_PROGRAM_BINARY_RETRIEVABLE_HINT: u32 = 0x8257;

/// The first bytes of the last listing in a program's binary, of the stages that there may be.
const LISTINGS: [&[u8]; 2] = [b"!!NVcp", b"!!NVfp"];

/// Shaders that the driver has compiled and linked.
pub struct Shader<'d> {
    painter: &'d Painter,
    name: u32,
}

/// Compiles a shader, and forgets it.
pub(super) fn takes(gl: &Gl, stage: Stage, source: &str) -> Result<(), RunError> {
    let ty = match stage {
        Stage::Vertex => GL_VERTEX_SHADER,
        Stage::TessControl => GL_TESS_CONTROL_SHADER,
        Stage::TessEvaluation => GL_TESS_EVALUATION_SHADER,
        Stage::Geometry => GL_GEOMETRY_SHADER,
        Stage::Fragment => GL_FRAGMENT_SHADER,
        _ => GL_COMPUTE_SHADER,
    };
    let length =
        i32::try_from(source.len()).map_err(|_| RunError::Refused("the shader is longer than 2 GiB".to_owned()))?;
    let text = source.as_ptr().cast::<c_char>();
    let mut said = vec![0_u8; 4096];
    let (mut taken, mut written) = (0, 0);
    // SAFETY: a context is current; there is one text, with the given length, and the log has the given size.
    unsafe {
        let shader = (gl.glCreateShader)(ty);
        (gl.glShaderSource)(shader, 1, &raw const text, &raw const length);
        (gl.glCompileShader)(shader);
        (gl.glGetShaderiv)(shader, GL_COMPILE_STATUS, &raw mut taken);
        (gl.glGetShaderInfoLog)(shader, said.len() as i32, &raw mut written, said.as_mut_ptr().cast());
        (gl.glDeleteShader)(shader);
    }
    said.truncate(usize::try_from(written).unwrap_or(0));
    if taken == 0 { Err(RunError::Refused(String::from_utf8_lossy(&said).into_owned())) } else { Ok(()) }
}

impl<'d> Shader<'d> {
    /// Links shaders of these types.
    pub(super) fn new(painter: &'d Painter, sources: &[(u32, &str)]) -> Result<Shader<'d>, RunError> {
        let gl = &painter.gl;
        // SAFETY: a context is current.
        let program = Shader { painter, name: unsafe { (gl.glCreateProgram)() } };
        sources.iter().try_for_each(|(ty, source)| program.attach(*ty, source))?;
        let mut linked = 0;
        // SAFETY: a context is current; the query writes one number.
        unsafe {
            (gl.glProgramParameteri)(program.name, GL_PROGRAM_BINARY_RETRIEVABLE_HINT, 1);
            (gl.glLinkProgram)(program.name);
            (gl.glGetProgramiv)(program.name, GL_LINK_STATUS, &raw mut linked);
        }
        if linked == 0 {
            Err(RunError::Refused(program.log()))
        } else {
            painter.device.check("glLinkProgram").map(|()| program)
        }
    }

    fn attach(&self, ty: u32, source: &str) -> Result<(), RunError> {
        let gl = &self.painter.gl;
        let length =
            i32::try_from(source.len()).map_err(|_| RunError::Refused("the shader is longer than 2 GiB".to_owned()))?;
        let text = source.as_ptr().cast::<c_char>();
        // SAFETY: a context is current; there is one text, with the given length. A deleted shader stays until its
        // program is deleted.
        unsafe {
            let shader = (gl.glCreateShader)(ty);
            (gl.glShaderSource)(shader, 1, &raw const text, &raw const length);
            (gl.glCompileShader)(shader);
            (gl.glAttachShader)(self.name, shader);
            (gl.glDeleteShader)(shader);
        }
        self.painter.device.check("glAttachShader")
    }

    /// The driver's log for a program, which repeats its shader's errors.
    fn log(&self) -> String {
        let mut bytes = vec![0_u8; 8192];
        let mut length = 0;
        let room = bytes.len() as i32;
        // SAFETY: the buffer has the given size.
        unsafe { (self.painter.gl.glGetProgramInfoLog)(self.name, room, &raw mut length, bytes.as_mut_ptr().cast()) };
        bytes.truncate(usize::try_from(length).unwrap_or(0));
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }

    /// The assembly that the driver makes of it, found as text in the program's binary; `None` if there is none.
    pub fn listing(&self) -> Option<String> {
        let (mut length, mut format) = (0, 0);
        // SAFETY: a context is current; the query writes one number.
        unsafe { (self.painter.gl.glGetProgramiv)(self.name, GL_PROGRAM_BINARY_LENGTH, &raw mut length) };
        let mut binary = vec![0_u8; usize::try_from(length).unwrap_or(0)];
        let data = binary.as_mut_ptr().cast::<c_void>();
        // SAFETY: the buffer has the given size.
        unsafe { (self.painter.gl.glGetProgramBinary)(self.name, length, &raw mut length, &raw mut format, data) };
        let find = |listing: &&[u8]| binary.windows(listing.len()).position(|bytes| bytes == *listing);
        let start = LISTINGS.iter().find_map(find)?;
        let text = binary[start..].split(|byte| *byte == 0).next()?;
        Some(String::from_utf8_lossy(text).into_owned())
    }

    /// Runs the shader once, like [`crosslane::run::gl::Program::run`]; buffers are bound to the units with their
    /// binding numbers.
    ///
    /// # Errors
    /// Returns [`RunError`]; the buffers are then unchanged.
    pub fn run(&self, groups: [u32; 3], buffers: &mut [BufferBinding]) -> Result<(), RunError> {
        let bound = self.bind(buffers)?;
        let _using = Using::new(self);
        self.painter.device.dispatch(groups)?;
        self.painter.device.wait()?;
        bound.read_all(buffers)
    }

    /// GPU time in nanoseconds of each of several runs, one after the other on the same buffers.
    ///
    /// # Errors
    /// Returns [`RunError`].
    pub fn time(&self, groups: [u32; 3], buffers: &[BufferBinding], runs: usize) -> Result<Vec<u64>, RunError> {
        let _bound = self.bind(buffers)?;
        let _using = Using::new(self);
        self.painter.device.time(groups, runs)
    }

    pub(super) fn bind(&self, buffers: &[BufferBinding]) -> Result<Buffers<'d>, RunError> {
        let mut bound = Buffers::new(&self.painter.device);
        for buffer in buffers {
            let name = bound.add(&buffer.data);
            let target = match buffer.kind {
                BufferKind::Storage => STORAGE_BUFFER,
                BufferKind::Uniform => GL_UNIFORM_BUFFER,
            };
            // SAFETY: a context is current; the buffer exists.
            unsafe { (self.painter.gl.glBindBufferBase)(target, buffer.binding, name) };
        }
        self.painter.device.check("glBindBufferBase").map(|()| bound)
    }
}

impl Drop for Shader<'_> {
    fn drop(&mut self) {
        // SAFETY: a context is current; nothing else uses the program.
        unsafe { (self.painter.gl.glDeleteProgram)(self.name) };
    }
}

/// While it lives, a shader is in use; assembly programs run again afterwards.
pub(super) struct Using<'d>(&'d Painter);

impl<'d> Using<'d> {
    pub(super) fn new(shader: &Shader<'d>) -> Using<'d> {
        // SAFETY: a context is current and the program is linked.
        unsafe { (shader.painter.gl.glUseProgram)(shader.name) };
        Using(shader.painter)
    }
}

impl Drop for Using<'_> {
    fn drop(&mut self) {
        // SAFETY: a context is current.
        unsafe { (self.0.gl.glUseProgram)(0) };
    }
}
