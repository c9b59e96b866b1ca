//! A program in the driver, and runs of it from bytes to bytes.

use super::api::Gl;
use super::{Device, text};
use crate::run::{BufferBinding, BufferKind, RunError};
use crate::target::nv::{self, Reflection};
use std::ffi::c_void;
use std::ptr;

pub(super) const GL_COMPUTE_PROGRAM: u32 = nv::reflection::COMPUTE_PROGRAM;
const GL_PROGRAM_ERROR_POSITION: u32 = 0x864B;
const GL_PROGRAM_ERROR_STRING: u32 = 0x8874;
const GL_STATIC_DRAW: u32 = 0x88E4;
const GL_ALL_BARRIER_BITS: u32 = 0xFFFF_FFFF;
const GL_SYNC_GPU_COMMANDS_COMPLETE: u32 = 0x9117;
const GL_SYNC_FLUSH_COMMANDS: u32 = 1;
const GL_TIMEOUT_EXPIRED: u32 = 0x911B;
const GL_WAIT_FAILED: u32 = 0x911D;

/// How long a dispatch may take, in seconds.
const LIMIT: u64 = 60;

/// A program that the driver has taken.
pub struct Program<'d> {
    gl: &'d Gl,
    name: u32,
    reflection: Reflection,
    /// What the driver said about it although it took it.
    pub note: String,
}

impl<'d> Program<'d> {
    pub(super) fn new(device: &'d Device, program: &nv::Program) -> Result<Program<'d>, RunError> {
        let gl = &device.gl;
        let mut name = 0;
        let length = i32::try_from(program.text.len())
            .map_err(|_| RunError::Refused("the program is longer than 2 GiB".to_owned()))?;
        // SAFETY: a context is current; the text has the length that is said.
        let (position, note) = unsafe {
            (gl.glGenProgramsARB)(1, &raw mut name);
            (gl.glBindProgramARB)(GL_COMPUTE_PROGRAM, name);
            let bytes = program.text.as_ptr().cast::<c_void>();
            (gl.glProgramStringARB)(GL_COMPUTE_PROGRAM, nv::reflection::FORMAT_ASCII, length, bytes);
            let mut position = -1;
            (gl.glGetIntegerv)(GL_PROGRAM_ERROR_POSITION, &raw mut position);
            (position, text((gl.glGetString)(GL_PROGRAM_ERROR_STRING)))
        };
        let loaded = Program { gl, name, reflection: program.reflection.clone(), note };
        loaded.check("glProgramStringARB").map_err(|error| refusal(&program.text, position, &loaded.note, error))?;
        if position >= 0 {
            let error = RunError::Driver("glProgramStringARB", "an error position".to_owned());
            return Err(refusal(&program.text, position, &loaded.note, error));
        }
        Ok(loaded)
    }

    /// An error of OpenGL since the last call.
    fn check(&self, call: &'static str) -> Result<(), RunError> {
        // SAFETY: a context is current.
        match unsafe { (self.gl.glGetError)() } {
            0 => Ok(()),
            code => Err(RunError::Driver(call, format!("{code:#06x}"))),
        }
    }

    /// Runs the program once with buffers bound, waits for its end, and leaves in each buffer what the program left there.
    ///
    /// # Errors
    /// [`RunError`]; the buffers are then unchanged.
    pub fn run(&self, groups: [u32; 3], push: &[u8], buffers: &mut [BufferBinding]) -> Result<(), RunError> {
        let bound = self.bind(push, buffers)?;
        self.dispatch(groups)?;
        self.wait()?;
        for (name, buffer) in bound.names.iter().zip(buffers) {
            if buffer.kind == BufferKind::Storage {
                bound.read(*name, &mut buffer.data);
            }
        }
        self.check("glGetBufferSubData")
    }

    fn dispatch(&self, [x, y, z]: [u32; 3]) -> Result<(), RunError> {
        // SAFETY: a context is current.
        unsafe {
            (self.gl.glBindProgramARB)(GL_COMPUTE_PROGRAM, self.name);
            (self.gl.glEnable)(GL_COMPUTE_PROGRAM);
            (self.gl.glDispatchCompute)(x, y, z);
            (self.gl.glMemoryBarrier)(GL_ALL_BARRIER_BITS);
        }
        self.check("glDispatchCompute")
    }

    fn wait(&self) -> Result<(), RunError> {
        // SAFETY: a context is current; the fence is this function's own.
        let answer = unsafe {
            let fence = (self.gl.glFenceSync)(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
            let answer = (self.gl.glClientWaitSync)(fence, GL_SYNC_FLUSH_COMMANDS, LIMIT * 1_000_000_000);
            (self.gl.glDeleteSync)(fence);
            answer
        };
        match answer {
            GL_TIMEOUT_EXPIRED => Err(RunError::Timeout(LIMIT)),
            GL_WAIT_FAILED => Err(RunError::Driver("glClientWaitSync", "GL_WAIT_FAILED".to_owned())),
            _ => Ok(()),
        }
    }

    /// Uploads and binds the buffers and sets the local parameters.
    fn bind(&self, push: &[u8], buffers: &[BufferBinding]) -> Result<Bound<'d>, RunError> {
        // SAFETY: a context is current.
        unsafe { (self.gl.glBindProgramARB)(GL_COMPUTE_PROGRAM, self.name) };
        self.set_parameters(push, buffers);
        let mut bound = Bound { gl: self.gl, names: Vec::new() };
        for buffer in buffers {
            let name = bound.add(&buffer.data);
            let places = self.reflection.buffers.iter();
            let Some(place) = places.into_iter().find(|b| b.set == buffer.set && b.binding == buffer.binding) else {
                continue;
            };
            // SAFETY: a context is current; the buffer exists.
            unsafe {
                match buffer.kind {
                    BufferKind::Storage => (self.gl.glBindBufferBase)(place.gl_target, place.gl_index, name),
                    BufferKind::Uniform => (self.gl.glBindBufferBaseNV)(place.gl_target, place.gl_index, name),
                }
            }
        }
        self.check("glBindBufferBase").map(|()| bound)
    }

    fn set_parameters(&self, push: &[u8], buffers: &[BufferBinding]) {
        let mut words = vec![0_u32; self.reflection.local_parameters as usize * 4];
        for (word, bytes) in words.iter_mut().zip(push.chunks(4)) {
            let mut four = [0; 4];
            four[..bytes.len()].copy_from_slice(bytes);
            *word = u32::from_le_bytes(four);
        }
        for place in &self.reflection.buffers {
            let bound = buffers.iter().find(|b| b.set == place.set && b.binding == place.binding);
            if let (Some(word), Some(buffer)) = (place.size_word, bound) {
                words[word as usize] = buffer.data.len() as u32;
            }
        }
        if !words.is_empty() {
            let count = words.len() as i32 / 4;
            // SAFETY: the program is bound, and there are four words for each parameter.
            unsafe { (self.gl.glProgramLocalParametersI4uivNV)(GL_COMPUTE_PROGRAM, 0, count, words.as_ptr()) };
        }
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: a context is current; nobody else knows the program.
        unsafe { (self.gl.glDeleteProgramsARB)(1, &raw const self.name) };
    }
}

/// The driver's words, with the place in the text that they speak of.
fn refusal(program: &str, position: i32, note: &str, error: RunError) -> RunError {
    let Ok(position) = usize::try_from(position) else { return error };
    let before = program.get(..position).unwrap_or(program);
    let line = before.matches('\n').count() + 1;
    let shown = program.lines().nth(line - 1).unwrap_or("the end of the program");
    RunError::Refused(format!("{} (line {line}: {})", note.trim(), shown.trim()))
}

/// Buffers of one run.
struct Bound<'d> {
    gl: &'d Gl,
    names: Vec<u32>,
}

impl Bound<'_> {
    fn add(&mut self, data: &[u8]) -> u32 {
        let target = nv::reflection::STORAGE_BUFFER;
        let mut name = 0;
        // SAFETY: a context is current; the data has the length that is said. A buffer of no bytes gets four.
        unsafe {
            (self.gl.glGenBuffers)(1, &raw mut name);
            (self.gl.glBindBuffer)(target, name);
            let bytes = if data.is_empty() { ptr::null() } else { data.as_ptr().cast::<c_void>() };
            (self.gl.glBufferData)(target, data.len().max(4) as isize, bytes, GL_STATIC_DRAW);
        }
        self.names.push(name);
        name
    }

    fn read(&self, name: u32, data: &mut [u8]) {
        let target = nv::reflection::STORAGE_BUFFER;
        // SAFETY: the buffer holds at least as many bytes as the data.
        unsafe {
            (self.gl.glBindBuffer)(target, name);
            (self.gl.glGetBufferSubData)(target, 0, data.len() as isize, data.as_mut_ptr().cast::<c_void>());
        }
    }
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        // SAFETY: a context is current; nobody else knows the buffers.
        unsafe { (self.gl.glDeleteBuffers)(self.names.len() as i32, self.names.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_name_the_line() {
        let error = || RunError::Driver("glProgramStringARB", "0x0502".to_owned());
        let text = "!!NVcp5.0\nMOV.U R0.x, 1;\nBAD R0;\nEND\n";
        let place = text.find("BAD").expect("it is there") as i32;
        let said = refusal(text, place, "error: unknown opcode\n", error()).to_string();
        assert!(said.ends_with("error: unknown opcode (line 3: BAD R0;)"), "{said}");
        assert_eq!(refusal(text, -1, "", error()), error());
        assert!(refusal(text, 1000, "short", error()).to_string().contains("the end of the program"));
    }
}
