//! An assembly program in the driver, and runs of it.

use super::dispatch::Buffers;
use super::{Device, text};
use crate::backend::nv::{self, Reflection};
use crate::run::{BufferBinding, BufferKind, RunError};
use std::ffi::c_void;

/// The program target whose limits are queried.
pub(super) const GL_COMPUTE_PROGRAM: u32 = nv::reflection::COMPUTE_PROGRAM;
const GL_PROGRAM_ERROR_POSITION: u32 = 0x864B;
const GL_PROGRAM_ERROR_STRING: u32 = 0x8874;

/// A program that the driver has loaded.
pub struct Program<'d> {
    device: &'d Device,
    name: u32,
    reflection: Reflection,
    /// The driver's remark about a loaded program.
    pub note: String,
}

impl<'d> Program<'d> {
    pub(super) fn new(device: &'d Device, program: &nv::Program) -> Result<Program<'d>, RunError> {
        let gl = &device.gl;
        let (target, mut name) = (program.reflection.gl.program_target, 0);
        let length = i32::try_from(program.text.len())
            .map_err(|_| RunError::Refused("the program is longer than 2 GiB".to_owned()))?;
        // SAFETY: a context is current; the text has the stated length.
        let (position, note) = unsafe {
            (gl.glGenProgramsARB)(1, &raw mut name);
            (gl.glBindProgramARB)(target, name);
            let bytes = program.text.as_ptr().cast::<c_void>();
            (gl.glProgramStringARB)(target, nv::reflection::FORMAT_ASCII, length, bytes);
            let mut position = -1;
            (gl.glGetIntegerv)(GL_PROGRAM_ERROR_POSITION, &raw mut position);
            (position, text((gl.glGetString)(GL_PROGRAM_ERROR_STRING)))
        };
        let loaded = Program { device, name, reflection: program.reflection.clone(), note };
        device.check("glProgramStringARB").map_err(|error| refusal(&program.text, position, &loaded.note, error))?;
        if position >= 0 {
            let error = RunError::Driver("glProgramStringARB", "an error position".to_owned());
            return Err(refusal(&program.text, position, &loaded.note, error));
        }
        Ok(loaded)
    }

    /// Runs the program once with buffers bound, waits for it to finish, and copies the results back to the buffers.
    ///
    /// # Errors
    /// Returns [`RunError`]; the buffers are then unchanged.
    pub fn run(&self, groups: [u32; 3], push: &[u8], buffers: &mut [BufferBinding]) -> Result<(), RunError> {
        let bound = self.bind(push, buffers, [0, 0])?;
        self.enable();
        self.device.dispatch(groups)?;
        self.device.wait()?;
        bound.read_all(buffers)
    }

    /// GPU time of each of several consecutive runs over the same buffers, in nanoseconds.
    ///
    /// # Errors
    /// Returns [`RunError`].
    pub fn time(
        &self,
        groups: [u32; 3],
        push: &[u8],
        buffers: &[BufferBinding],
        runs: usize,
    ) -> Result<Vec<u64>, RunError> {
        let _bound = self.bind(push, buffers, [0, 0])?;
        self.enable();
        self.device.time(groups, runs)
    }

    /// Of its stage.
    fn target(&self) -> u32 {
        self.reflection.gl.program_target
    }

    /// Puts the program in use.
    pub fn enable(&self) {
        // SAFETY: a context is current.
        unsafe {
            (self.device.gl.glBindProgramARB)(self.target(), self.name);
            (self.device.gl.glEnable)(self.target());
        }
    }

    /// The resources and parameters of the program.
    pub fn reflection(&self) -> &Reflection {
        &self.reflection
    }

    /// Uploads and binds the buffers and sets the local parameters, for a draw with this first vertex and instance.
    ///
    /// # Errors
    /// Returns [`RunError::Driver`].
    pub fn bind(&self, push: &[u8], buffers: &[BufferBinding], first: [u32; 2]) -> Result<Buffers<'d>, RunError> {
        // SAFETY: a context is current.
        unsafe { (self.device.gl.glBindProgramARB)(self.target(), self.name) };
        self.set_parameters(push, buffers, first);
        let mut bound = Buffers::new(self.device);
        for buffer in buffers {
            let name = bound.add(&buffer.data);
            let places = self.reflection.buffers.iter();
            let Some(place) = places.into_iter().find(|b| b.set == buffer.set && b.binding == buffer.binding) else {
                continue;
            };
            // SAFETY: a context is current; the buffer exists.
            unsafe {
                match buffer.kind {
                    BufferKind::Storage => (self.device.gl.glBindBufferBase)(place.gl_target, place.gl_index, name),
                    BufferKind::Uniform => (self.device.gl.glBindBufferBaseNV)(place.gl_target, place.gl_index, name),
                }
            }
        }
        self.device.check("glBindBufferBase").map(|()| bound)
    }

    fn set_parameters(&self, push: &[u8], buffers: &[BufferBinding], first: [u32; 2]) {
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
        let Reflection { base_vertex_word, base_instance_word, .. } = self.reflection;
        for (word, first) in [base_vertex_word, base_instance_word].into_iter().zip(first) {
            word.into_iter().for_each(|word| words[word as usize] = first);
        }
        if !words.is_empty() {
            let count = words.len() as i32 / 4;
            // SAFETY: the program is bound, and there are four words for each parameter.
            unsafe { (self.device.gl.glProgramLocalParametersI4uivNV)(self.target(), 0, count, words.as_ptr()) };
        }
    }
}

impl Drop for Program<'_> {
    fn drop(&mut self) {
        // SAFETY: a context is current; no other code uses the program.
        unsafe { (self.device.gl.glDeleteProgramsARB)(1, &raw const self.name) };
    }
}

/// The driver's message, with the place in the text that it refers to.
fn refusal(program: &str, position: i32, note: &str, error: RunError) -> RunError {
    let Ok(position) = usize::try_from(position) else { return error };
    let before = program.get(..position).unwrap_or(program);
    let line = before.matches('\n').count() + 1;
    let shown = program.lines().nth(line - 1).unwrap_or("the end of the program");
    RunError::Refused(format!("{} (line {line}: {})", note.trim(), shown.trim()))
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
