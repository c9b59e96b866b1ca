//! Buffers of a run, and dispatches of the current program: run to the end, or timed.

use super::Device;
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

/// Time limit of a dispatch, in seconds.
const LIMIT: u64 = 60;

impl Device {
    /// Returns an error if OpenGL has reported one since the last check; `call` names the failed call.
    ///
    /// # Errors
    /// Returns [`RunError::Driver`] with the code of the error.
    pub fn check(&self, call: &'static str) -> Result<(), RunError> {
        // SAFETY: a context is current.
        match unsafe { (self.gl.glGetError)() } {
            0 => Ok(()),
            code => Err(RunError::Driver(call, format!("{code:#06x}"))),
        }
    }

    /// Starts workgroups of the program in use.
    ///
    /// # Errors
    /// Returns [`RunError::Driver`].
    pub fn dispatch(&self, [x, y, z]: [u32; 3]) -> Result<(), RunError> {
        // SAFETY: a context is current.
        unsafe {
            (self.gl.glDispatchCompute)(x, y, z);
            (self.gl.glMemoryBarrier)(GL_ALL_BARRIER_BITS);
        }
        self.check("glDispatchCompute")
    }

    /// Waits for all pending work.
    ///
    /// # Errors
    /// Returns [`RunError::Timeout`] after a minute.
    pub fn wait(&self) -> Result<(), RunError> {
        let gl = &self.gl;
        // SAFETY: a context is current; the fence is local to this function.
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

    /// GPU time of each of several dispatches of the current program, in nanoseconds.
    ///
    /// # Errors
    /// Returns [`RunError::Driver`].
    pub fn time(&self, groups: [u32; 3], runs: usize) -> Result<Vec<u64>, RunError> {
        let (gl, mut query) = (&self.gl, 0);
        // SAFETY: a context is current; there is room for one name.
        unsafe { (gl.glGenQueries)(1, &raw mut query) };
        let one = |_| {
            // SAFETY: the query exists and no other is open.
            unsafe { (gl.glBeginQuery)(GL_TIME_ELAPSED, query) };
            let started = self.dispatch(groups);
            let mut nanoseconds = 0;
            // SAFETY: the query exists; the result is one number, and the call waits for it.
            unsafe {
                (gl.glEndQuery)(GL_TIME_ELAPSED);
                (gl.glGetQueryObjectui64v)(query, GL_QUERY_RESULT, &raw mut nanoseconds);
            }
            started.map(|()| nanoseconds)
        };
        let times = (0..runs).map(one).collect();
        // SAFETY: the query is local to this function.
        unsafe { (gl.glDeleteQueries)(1, &raw const query) };
        times
    }
}

/// Buffers of one run.
pub struct Buffers<'d> {
    device: &'d Device,
    names: Vec<u32>,
}

impl<'d> Buffers<'d> {
    /// No buffers yet.
    pub fn new(device: &'d Device) -> Buffers<'d> {
        Buffers { device, names: Vec::new() }
    }

    /// Adds a buffer with these bytes, at least four, and returns its name.
    pub fn add(&mut self, data: &[u8]) -> u32 {
        let mut name = 0;
        // SAFETY: a context is current; the data has the stated length.
        unsafe {
            (self.device.gl.glGenBuffers)(1, &raw mut name);
            (self.device.gl.glBindBuffer)(STORAGE_BUFFER, name);
            let bytes = if data.is_empty() { ptr::null() } else { data.as_ptr().cast::<c_void>() };
            (self.device.gl.glBufferData)(STORAGE_BUFFER, data.len().max(4) as isize, bytes, GL_STATIC_DRAW);
        }
        self.names.push(name);
        name
    }

    /// Reads back the storage buffers, which were added in this order.
    ///
    /// # Errors
    /// Returns [`RunError::Driver`].
    pub fn read_all(&self, buffers: &mut [BufferBinding]) -> Result<(), RunError> {
        let added = self.names.iter().zip(buffers).filter(|(_, buffer)| buffer.kind == BufferKind::Storage);
        for (name, buffer) in added {
            let (length, data) = (buffer.data.len() as isize, buffer.data.as_mut_ptr().cast::<c_void>());
            // SAFETY: the buffer has at least as many bytes as the data.
            unsafe {
                (self.device.gl.glBindBuffer)(STORAGE_BUFFER, *name);
                (self.device.gl.glGetBufferSubData)(STORAGE_BUFFER, 0, length, data);
            }
        }
        self.device.check("glGetBufferSubData")
    }
}

impl Drop for Buffers<'_> {
    fn drop(&mut self) {
        // SAFETY: a context is current; no other code uses the buffers.
        unsafe { (self.device.gl.glDeleteBuffers)(self.names.len() as i32, self.names.as_ptr()) };
    }
}
