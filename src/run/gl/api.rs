//! The entry points of EGL and OpenGL that a run needs, looked up in the libraries of the machine.
//!
//! The types follow the registry's headers; the functions keep their own names.

use std::ffi::{c_char, c_void};

pub type Handle = *mut c_void;

/// A table of functions that are looked up by name: `gl_functions! { Table { glFinish(); glGetError() -> u32; } }`.
#[macro_export]
macro_rules! gl_functions {
    ($(#[$doc:meta])* $table:ident { $($name:ident($($ty:ty),*) $(-> $result:ty)?;)* }) => {
        $(#[$doc])*
        #[allow(non_snake_case)]
        pub struct $table {
            $(pub $name: unsafe extern "system" fn($($ty),*) $(-> $result)?,)*
        }

        #[allow(non_snake_case)]
        impl $table {
            /// Looks up all functions. Returns the name of the first missing one as the error.
            ///
            /// # Safety
            /// The caller guarantees that `find` returns null or the function of the given name.
            pub unsafe fn load(
                find: impl Fn(&::std::ffi::CStr) -> *const ::std::ffi::c_void,
            ) -> Result<$table, &'static str> {
                $(let $name = {
                    let name = concat!(stringify!($name), "\0");
                    let name = ::std::ffi::CStr::from_bytes_with_nul(name.as_bytes()).map_err(|_| stringify!($name))?;
                    let found = find(name);
                    if found.is_null() {
                        return Err(stringify!($name));
                    }
                    type Pointer = *const ::std::ffi::c_void;
                    type Function = unsafe extern "system" fn($($ty),*) $(-> $result)?;
                    // SAFETY: the caller guarantees that this is the function; the signature is the registry's.
                    unsafe { ::std::mem::transmute::<Pointer, Function>(found) }
                };)*
                Ok($table { $($name,)* })
            }
        }
    };
}

gl_functions! {
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

gl_functions! {
    /// OpenGL 4.6 with ARB_vertex_program's loading calls, NV_gpu_program4 and NV_parameter_buffer_object.
    Gl {
        glGetString(u32) -> *const c_char;
        glGetStringi(u32, u32) -> *const c_char;
        glGetIntegerv(u32, *mut i32);
        glGetProgramivARB(u32, u32, *mut i32);
        glGetError() -> u32;
        glEnable(u32);
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
        glGenQueries(i32, *mut u32);
        glDeleteQueries(i32, *const u32);
        glBeginQuery(u32, u32);
        glEndQuery(u32);
        glGetQueryObjectui64v(u32, u32, *mut u64);
    }
}
