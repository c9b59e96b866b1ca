//! The entry points of EGL and OpenGL that a run needs, looked up in the libraries of the machine.
//!
//! The types are those of the registry's headers; the functions keep their own names.
#![allow(non_snake_case)]

use std::ffi::{CStr, c_char, c_void};

pub type Handle = *mut c_void;

/// A table of functions that are looked up by name.
macro_rules! table {
    ($(#[$doc:meta])* $table:ident { $($name:ident($($ty:ty),*) $(-> $result:ty)?;)* }) => {
        $(#[$doc])*
        pub struct $table {
            $(pub $name: unsafe extern "system" fn($($ty),*) $(-> $result)?,)*
        }

        impl $table {
            /// Looks all functions up; the name of the first one that is missing otherwise.
            ///
            /// # Safety
            /// What `find` gives for a name must be null or the function of that name.
            pub unsafe fn load(find: impl Fn(&CStr) -> *const c_void) -> Result<$table, &'static str> {
                $(
                    let name = concat!(stringify!($name), "\0");
                    let name = CStr::from_bytes_with_nul(name.as_bytes()).map_err(|_| stringify!($name))?;
                    let found = find(name);
                    if found.is_null() {
                        return Err(stringify!($name));
                    }
                    // SAFETY: the caller promises that it is this function; the signature is the registry's.
                    let $name = unsafe {
                        std::mem::transmute::<*const c_void, unsafe extern "system" fn($($ty),*) $(-> $result)?>(found)
                    };
                )*
                Ok($table { $($name,)* })
            }
        }
    };
}

table! {
    /// EGL 1.5 with EGL_EXT_device_enumeration and EGL_EXT_platform_base.
    Egl {
        eglQueryDevicesEXT(i32, *mut Handle, *mut i32) -> u32;
        eglGetPlatformDisplayEXT(u32, Handle, *const i32) -> Handle;
        eglInitialize(Handle, *mut i32, *mut i32) -> u32;
        eglBindAPI(u32) -> u32;
        eglCreateContext(Handle, Handle, Handle, *const i32) -> Handle;
        eglMakeCurrent(Handle, Handle, Handle, Handle) -> u32;
        eglDestroyContext(Handle, Handle) -> u32;
        eglTerminate(Handle) -> u32;
    }
}

table! {
    /// OpenGL 4.6, textures and framebuffers by their names (ARB_direct_state_access), with ARB_vertex_program's loading
    /// calls, NV_gpu_program4 and NV_parameter_buffer_object.
    Gl {
        glGetString(u32) -> *const c_char;
        glGetStringi(u32, u32) -> *const c_char;
        glGetIntegerv(u32, *mut i32);
        glGetProgramivARB(u32, u32, *mut i32);
        glGetError() -> u32;
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
        glGenProgramsARB(i32, *mut u32);
        glBindProgramARB(u32, u32);
        glProgramStringARB(u32, u32, i32, *const c_void);
        glDeleteProgramsARB(i32, *const u32);
        glProgramLocalParametersI4uivNV(u32, u32, i32, *const u32);
        glGenBuffers(i32, *mut u32);
        glDeleteBuffers(i32, *const u32);
        glBindBuffer(u32, u32);
        glBufferData(u32, isize, *const c_void, u32);
        glGetBufferSubData(u32, isize, isize, *mut c_void);
        glBindBufferBase(u32, u32, u32);
        glBindBufferBaseNV(u32, u32, u32);
        glDispatchCompute(u32, u32, u32);
        glMemoryBarrier(u32);
        glFenceSync(u32, u32) -> Handle;
        glClientWaitSync(Handle, u32, u64) -> u32;
        glDeleteSync(Handle);
        glCreateShader(u32) -> u32;
        glShaderSource(u32, i32, *const *const c_char, *const i32);
        glCompileShader(u32);
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
        glGenQueries(i32, *mut u32);
        glDeleteQueries(i32, *const u32);
        glBeginQuery(u32, u32);
        glEndQuery(u32);
        glGetQueryObjectui64v(u32, u32, *mut u64);
    }
}
