//! Scenes on NVIDIA's OpenGL: textures, draws, and the driver's own compilation of GLSL, in addition to assembly
//! programs.

mod draw;
mod scene;
mod shader;
mod texture;

pub use draw::{Attribute, Draw, Numbers};
pub use scene::{Programs, Scene};
pub use shader::Shader;
pub use texture::{Format, Shape, Spot, Texture};

use crosslane::gl_functions;
use crosslane::ir::Stage;
use crosslane::run::RunError;
use crosslane::run::gl::{Device, OpenError};
use std::ffi::{c_char, c_void};

gl_functions! {
    /// OpenGL 4.6: textures and framebuffers by name (ARB_direct_state_access), shaders, and draws.
    Gl {
        glEnable(u32);
        glDisable(u32);
        glDepthFunc(u32);
        glBlendFunc(u32, u32);
        glClipControl(u32, u32);
        glProvokingVertex(u32);
        glViewport(i32, i32, i32, i32);
        glPixelStorei(u32, i32);
        glCreateTextures(u32, i32, *mut u32);
        glDeleteTextures(i32, *const u32);
        glTextureStorage1D(u32, i32, u32, i32);
        glTextureStorage2D(u32, i32, u32, i32, i32);
        glTextureStorage3D(u32, i32, u32, i32, i32, i32);
        glTextureStorage2DMultisample(u32, i32, u32, i32, i32, u8);
        glTextureStorage3DMultisample(u32, i32, u32, i32, i32, i32, u8);
        glClearTexImage(u32, i32, u32, u32, *const c_void);
        glTextureSubImage1D(u32, i32, i32, i32, u32, u32, *const c_void);
        glTextureSubImage2D(u32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
        glTextureSubImage3D(u32, i32, i32, i32, i32, i32, i32, i32, u32, u32, *const c_void);
        glTextureBuffer(u32, u32, u32);
        glTextureParameteri(u32, u32, i32);
        glTextureParameterfv(u32, u32, *const f32);
        glTextureParameterIiv(u32, u32, *const i32);
        glGetTextureImage(u32, i32, u32, u32, i32, *mut c_void);
        glBindTextureUnit(u32, u32);
        glBindImageTexture(u32, u32, i32, u8, i32, u32, u32);
        glCreateFramebuffers(i32, *mut u32);
        glDeleteFramebuffers(i32, *const u32);
        glBindFramebuffer(u32, u32);
        glCheckNamedFramebufferStatus(u32, u32) -> u32;
        glNamedFramebufferTexture(u32, u32, u32, i32);
        glNamedFramebufferTextureLayer(u32, u32, u32, i32, i32);
        glNamedFramebufferDrawBuffers(u32, i32, *const u32);
        glNamedFramebufferReadBuffer(u32, u32);
        glBlitNamedFramebuffer(u32, u32, i32, i32, i32, i32, i32, i32, i32, i32, u32, u32);
        glClearNamedFramebufferfv(u32, u32, i32, *const f32);
        glVertexAttribPointer(u32, i32, u32, u8, i32, *const c_void);
        glVertexAttribIPointer(u32, i32, u32, i32, *const c_void);
        glVertexAttribLPointer(u32, i32, u32, i32, *const c_void);
        glEnableVertexAttribArray(u32);
        glDisableVertexAttribArray(u32);
        glVertexAttribDivisor(u32, u32);
        glDrawArraysInstancedBaseInstance(u32, i32, i32, i32, u32);
        glBindBuffer(u32, u32);
        glBindBufferBase(u32, u32, u32);
        glMemoryBarrier(u32);
        glCreateShader(u32) -> u32;
        glShaderSource(u32, i32, *const *const c_char, *const i32);
        glCompileShader(u32);
        glGetShaderiv(u32, u32, *mut i32);
        glGetShaderInfoLog(u32, i32, *mut i32, *mut c_char);
        glDeleteShader(u32);
        glCreateProgram() -> u32;
        glProgramParameteri(u32, u32, i32);
        glAttachShader(u32, u32);
        glLinkProgram(u32);
        glGetProgramiv(u32, u32, *mut i32);
        glGetProgramInfoLog(u32, i32, *mut i32, *mut c_char);
        glGetProgramBinary(u32, i32, *mut i32, *mut u32, *mut c_void);
        glUseProgram(u32);
        glDeleteProgram(u32);
    }
}

/// A device and the functions that scenes need besides those for a dispatch.
pub struct Painter {
    pub device: Device,
    gl: Gl,
}

impl Painter {
    /// Opens the first device that runs assembly programs.
    pub fn open() -> Result<Painter, OpenError> {
        let device = Device::open()?;
        // SAFETY: the device returns the function with the requested name.
        let gl = unsafe { Gl::load(|name| device.function(name)) }.map_err(OpenError::NoFunction)?;
        Ok(Painter { device, gl })
    }

    /// Lets the driver compile a GLSL compute shader.
    pub fn compile(&self, glsl: &str) -> Result<Shader<'_>, RunError> {
        Shader::new(self, &[(shader::GL_COMPUTE_SHADER, glsl)])
    }

    /// Lets the driver compile a GLSL shader of any stage.
    ///
    /// # Errors
    /// Returns the driver's message if it rejects the shader.
    pub fn takes(&self, stage: Stage, glsl: &str) -> Result<(), RunError> {
        shader::takes(&self.gl, stage, glsl)
    }

    /// Lets the driver compile and link a GLSL vertex and a fragment shader.
    pub fn link(&self, vertex: &str, fragment: &str) -> Result<Shader<'_>, RunError> {
        Shader::new(self, &[(shader::GL_VERTEX_SHADER, vertex), (shader::GL_FRAGMENT_SHADER, fragment)])
    }
}
