//! Buffers of a run, and dispatches of whatever program is in use: run to their end, or timed.

use super::api::Gl;
use crate::backend::nv::reflection::STORAGE_BUFFER;
use crate::run::{BufferBinding, BufferKind, RunError};
use std::ffi::c_void;
use std::ptr;

const GL_STATIC_DRAW: u32 = 0x88E4;
const GL_ALL_BARRIER_BITS: u32 = 0xFFFF_FFFF;
const GL_SYNC_GPU_COMMANDS_COMPLETE: u32 = 0x9117;
const GL_SYNC_FLUSH_COMMANDS: u32 = 1;
const GL_TIMEOUT_EXPIRED: u32 = 0x911B;
const GL_WAIT_FAILED: u32 = 0x911D;
const GL_TIME_ELAPSED: u32 = 0x88BF;
const GL_QUERY_RESULT: u32 = 0x8866;

/// How long a dispatch may take, in seconds.
const LIMIT: u64 = 60;

/// An error of OpenGL since the last call.
pub fn check(gl: &Gl, call: &'static str) -> Result<(), RunError> {
    // SAFETY: a context is current.
    match unsafe { (gl.glGetError)() } {
        0 => Ok(()),
        code => Err(RunError::Driver(call, format!("{code:#06x}"))),
    }
}

/// Starts workgroups of the program in use.
pub fn dispatch(gl: &Gl, [x, y, z]: [u32; 3]) -> Result<(), RunError> {
    // SAFETY: a context is current.
    unsafe {
        (gl.glDispatchCompute)(x, y, z);
        (gl.glMemoryBarrier)(GL_ALL_BARRIER_BITS);
    }
    check(gl, "glDispatchCompute")
}

/// Waits for the end of all that was started.
pub fn wait(gl: &Gl) -> Result<(), RunError> {
    // SAFETY: a context is current; the fence is this function's own.
    let answer = unsafe {
        let fence = (gl.glFenceSync)(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        let answer = (gl.glClientWaitSync)(fence, GL_SYNC_FLUSH_COMMANDS, LIMIT * 1_000_000_000);
        (gl.glDeleteSync)(fence);
        answer
    };
    match answer {
        GL_TIMEOUT_EXPIRED => Err(RunError::Timeout(LIMIT)),
        GL_WAIT_FAILED => Err(RunError::Driver("glClientWaitSync", "GL_WAIT_FAILED".to_owned())),
        _ => Ok(()),
    }
}

/// Nanoseconds that the GPU takes for each of several dispatches.
pub fn timed(gl: &Gl, groups: [u32; 3], runs: usize) -> Result<Vec<u64>, RunError> {
    let mut query = 0;
    // SAFETY: a context is current; there is room for one name.
    unsafe { (gl.glGenQueries)(1, &raw mut query) };
    let one = |_| {
        // SAFETY: the query exists and no other is open.
        unsafe { (gl.glBeginQuery)(GL_TIME_ELAPSED, query) };
        let started = dispatch(gl, groups);
        let mut nanoseconds = 0;
        // SAFETY: as above; the answer is one number, for which the call waits.
        unsafe {
            (gl.glEndQuery)(GL_TIME_ELAPSED);
            (gl.glGetQueryObjectui64v)(query, GL_QUERY_RESULT, &raw mut nanoseconds);
        }
        started.map(|()| nanoseconds)
    };
    let times = (0..runs).map(one).collect();
    // SAFETY: the query is this function's own.
    unsafe { (gl.glDeleteQueries)(1, &raw const query) };
    times
}

/// Buffers of one run.
pub struct Bound<'d> {
    gl: &'d Gl,
    names: Vec<u32>,
}

impl<'d> Bound<'d> {
    pub fn new(gl: &'d Gl) -> Bound<'d> {
        Bound { gl, names: Vec::new() }
    }

    /// A buffer that holds these bytes; one of no bytes gets four.
    pub fn add(&mut self, data: &[u8]) -> u32 {
        let mut name = 0;
        // SAFETY: a context is current; the data has the length that is said.
        unsafe {
            (self.gl.glGenBuffers)(1, &raw mut name);
            (self.gl.glBindBuffer)(STORAGE_BUFFER, name);
            let bytes = if data.is_empty() { ptr::null() } else { data.as_ptr().cast::<c_void>() };
            (self.gl.glBufferData)(STORAGE_BUFFER, data.len().max(4) as isize, bytes, GL_STATIC_DRAW);
        }
        self.names.push(name);
        name
    }

    /// What the storage buffers, added in this order, hold now.
    pub fn read_all(&self, buffers: &mut [BufferBinding]) -> Result<(), RunError> {
        let added = self.names.iter().zip(buffers).filter(|(_, buffer)| buffer.kind == BufferKind::Storage);
        for (name, buffer) in added {
            let (length, data) = (buffer.data.len() as isize, buffer.data.as_mut_ptr().cast::<c_void>());
            // SAFETY: the buffer holds at least as many bytes as the data.
            unsafe {
                (self.gl.glBindBuffer)(STORAGE_BUFFER, *name);
                (self.gl.glGetBufferSubData)(STORAGE_BUFFER, 0, length, data);
            }
        }
        check(self.gl, "glGetBufferSubData")
    }
}

impl Drop for Bound<'_> {
    fn drop(&mut self) {
        // SAFETY: a context is current; nobody else knows the buffers.
        unsafe { (self.gl.glDeleteBuffers)(self.names.len() as i32, self.names.as_ptr()) };
    }
}
