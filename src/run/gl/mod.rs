//! Loads NVIDIA assembly programs into OpenGL and runs them, without a display.
//!
//! libEGL is opened at run time, so a program built with this feature starts on any machine. The first NVIDIA device
//! with NV_compute_program5 is used. A context belongs to the thread that opened it.

mod api;
mod dispatch;
mod program;

pub use dispatch::Buffers;
pub use program::Program;

use api::{Egl, Gl, Handle};
use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::ptr;

/// The library to search for.
const LIBRARY: &str = "libEGL.so.1";
/// The extension that the driver must have, as `glGetStringi(GL_EXTENSIONS, n)` spells it.
const NEEDED: &str = "GL_NV_compute_program5";

const EGL_PLATFORM_DEVICE: u32 = 0x313F;
const EGL_OPENGL_API: u32 = 0x30A2;
/// Version 4.6 of the compatibility profile, which alone has assembly programs.
const CONTEXT: [i32; 7] = [0x3098, 4, 0x30FB, 6, 0x30FD, 2, 0x3038];
const GL_VENDOR: u32 = 0x1F00;
const GL_RENDERER: u32 = 0x1F01;
const GL_VERSION: u32 = 0x1F02;
const GL_EXTENSIONS: u32 = 0x1F03;
const GL_NUM_EXTENSIONS: u32 = 0x821D;

/// The reason that no device could be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no libEGL; the dynamic loader's message.
    NoLibrary(String),
    /// A library lacks this function.
    NoFunction(&'static str),
    /// No device runs assembly programs; a description of each device that was found.
    NoDevice(Vec<String>),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLibrary(why) => write!(f, "no OpenGL: looked for {LIBRARY} on the library path ({why})"),
            Self::NoFunction(name) => write!(f, "no OpenGL that runs assembly programs: {name} is missing"),
            Self::NoDevice(found) if found.is_empty() => {
                write!(f, "no OpenGL device: EGL found none (looked for NVIDIA's with {NEEDED})")
            }
            Self::NoDevice(found) => write!(f, "no OpenGL device with {NEEDED}; found {}", found.join("; ")),
        }
    }
}

impl std::error::Error for OpenError {}

/// A device's description of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The renderer's name.
    pub name: String,
    /// The OpenGL and driver version, as the driver reports it.
    pub version: String,
}

/// An open device with a context that is current in this thread.
pub struct Device {
    display: Handle,
    context: Handle,
    egl: Egl,
    gl: Gl,
    info: DeviceInfo,
    find: Find,
    /// Keeps the library open.
    _library: libloading::Library,
}

impl Device {
    /// Opens the first device of EGL that runs assembly programs.
    ///
    /// # Errors
    /// Returns [`OpenError`] if there is no libEGL or no such device.
    pub fn open() -> Result<Device, OpenError> {
        // SAFETY: loading the system's EGL runs its initialisers, as intended.
        let library = unsafe { libloading::Library::new(LIBRARY) }.map_err(|e| OpenError::NoLibrary(e.to_string()))?;
        let get = finder(&library)?;
        // SAFETY: the name is zero-terminated, and the library stays open while its functions are called.
        let find: Find = Box::new(move |name| unsafe { get(name.as_ptr()) });
        // SAFETY: EGL returns the function with the requested name.
        let egl = unsafe { Egl::load(&find) }.map_err(OpenError::NoFunction)?;
        let mut found = Vec::new();
        for device in devices(&egl) {
            let Some((display, context)) = context_of(&egl, device) else { continue };
            // SAFETY: EGL returns the function with the requested name, and a context is current.
            let gl = unsafe { Gl::load(&find) }.map_err(OpenError::NoFunction)?;
            let info = describe(&gl);
            if has_extension(&gl, NEEDED) {
                return Ok(Device { display, context, egl, gl, info, find, _library: library });
            }
            found.push(info.name);
            close(&egl, display, context);
        }
        Err(OpenError::NoDevice(found))
    }

    /// The device's description of itself.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// Limits of assembly programs, by the names of OpenGL.
    pub fn limits(&self) -> Vec<(&'static str, i32)> {
        let program = |(name, what)| {
            let mut value = -1;
            // SAFETY: the query writes one number.
            unsafe { (self.gl.glGetProgramivARB)(program::GL_COMPUTE_PROGRAM, what, &raw mut value) };
            (name, value)
        };
        let general = |(name, what)| {
            let mut value = -1;
            // SAFETY: the query writes one number.
            unsafe { (self.gl.glGetIntegerv)(what, &raw mut value) };
            (name, value)
        };
        let limits = PROGRAM_LIMITS.iter().copied().map(program).chain(LIMITS.iter().copied().map(general)).collect();
        // SAFETY: a name unknown to the driver causes an OpenGL error, which this call clears.
        unsafe { (self.gl.glGetError)() };
        limits
    }

    /// Loads a program.
    ///
    /// # Errors
    /// Returns [`super::RunError::Refused`] with the driver's message and the place in the text.
    pub fn load(&self, program: &crate::backend::nv::Program) -> Result<Program<'_>, super::RunError> {
        Program::new(self, program)
    }

    /// The address of an OpenGL function, or null if the driver lacks it; for tables of
    /// [`gl_functions`](crate::gl_functions).
    pub fn function(&self, name: &CStr) -> *const c_void {
        (self.find)(name)
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        close(&self.egl, self.display, self.context);
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("info", &self.info).finish_non_exhaustive()
    }
}

/// `glGetProgramivARB` names (ARB_vertex_program, NV_vertex_program2_option, NV_gpu_program4).
const PROGRAM_LIMITS: &[(&str, u32)] = &[
    ("MAX_PROGRAM_TEMPORARIES_ARB", 0x88A5),
    ("MAX_PROGRAM_LOCAL_PARAMETERS_ARB", 0x88B4),
    ("MAX_PROGRAM_INSTRUCTIONS_ARB", 0x88A1),
    ("MAX_PROGRAM_IF_DEPTH_NV", 0x88F6),
    ("MAX_PROGRAM_LOOP_DEPTH_NV", 0x88F7),
];

/// `glGetIntegerv` names.
const LIMITS: &[(&str, u32)] = &[
    ("MAX_COMPUTE_SHADER_STORAGE_BLOCKS", 0x90DB),
    ("MAX_SHADER_STORAGE_BUFFER_BINDINGS", 0x90DD),
    ("MAX_COMPUTE_SHARED_MEMORY_SIZE", 0x8262),
    ("MAX_PROGRAM_PARAMETER_BUFFER_BINDINGS_NV", 0x8DA0),
    ("MAX_PROGRAM_PARAMETER_BUFFER_SIZE_NV", 0x8DA1),
];

type GetProcAddress = unsafe extern "system" fn(*const c_char) -> *const c_void;
type Find = Box<dyn Fn(&CStr) -> *const c_void>;

/// `eglGetProcAddress`.
fn finder(library: &libloading::Library) -> Result<GetProcAddress, OpenError> {
    // SAFETY: this is the function's signature (EGL 1.5, section 3.13).
    let get = unsafe { library.get::<GetProcAddress>(b"eglGetProcAddress\0") };
    get.map(|get| *get).map_err(|_| OpenError::NoFunction("eglGetProcAddress"))
}

fn devices(egl: &Egl) -> Vec<Handle> {
    let mut devices = [ptr::null_mut(); 16];
    let mut count = 0;
    // SAFETY: there is room for the requested number of devices.
    unsafe { (egl.eglQueryDevicesEXT)(devices.len() as i32, devices.as_mut_ptr(), &raw mut count) };
    devices[..usize::try_from(count).unwrap_or(0).min(devices.len())].to_vec()
}

/// A display of the device and a context that is current.
fn context_of(egl: &Egl, device: Handle) -> Option<(Handle, Handle)> {
    let none = ptr::null_mut();
    // SAFETY: the device comes from EGL, attribute lists are terminated, and results are checked before use.
    unsafe {
        let display = (egl.eglGetPlatformDisplayEXT)(EGL_PLATFORM_DEVICE, device, ptr::null());
        if display.is_null() || (egl.eglInitialize)(display, ptr::null_mut(), ptr::null_mut()) == 0 {
            return None;
        }
        (egl.eglBindAPI)(EGL_OPENGL_API);
        let context = (egl.eglCreateContext)(display, none, none, CONTEXT.as_ptr());
        if context.is_null() {
            (egl.eglTerminate)(display);
            return None;
        }
        if (egl.eglMakeCurrent)(display, none, none, context) == 0 {
            (egl.eglDestroyContext)(display, context);
            (egl.eglTerminate)(display);
            return None;
        }
        Some((display, context))
    }
}

fn close(egl: &Egl, display: Handle, context: Handle) {
    let none = ptr::null_mut();
    // SAFETY: both are open and not used afterwards.
    unsafe {
        (egl.eglMakeCurrent)(display, none, none, none);
        (egl.eglDestroyContext)(display, context);
        (egl.eglTerminate)(display);
    }
}

fn describe(gl: &Gl) -> DeviceInfo {
    // SAFETY: a context is current; the strings are static strings of the driver.
    let string = |name| unsafe { text((gl.glGetString)(name)) };
    DeviceInfo { name: format!("{} {}", string(GL_VENDOR), string(GL_RENDERER)), version: string(GL_VERSION) }
}

fn has_extension(gl: &Gl, name: &str) -> bool {
    let mut count = 0;
    // SAFETY: the query writes one number.
    unsafe { (gl.glGetIntegerv)(GL_NUM_EXTENSIONS, &raw mut count) };
    let count = u32::try_from(count).unwrap_or(0);
    // SAFETY: each number below the count names a static string of the driver.
    (0..count).any(|n| unsafe { text((gl.glGetStringi)(GL_EXTENSIONS, n)) } == name)
}

/// A zero-terminated string of the driver; empty if it is null.
///
/// # Safety
/// The pointer must be null or point to a zero-terminated string.
unsafe fn text(string: *const c_char) -> String {
    if string.is_null() {
        return String::new();
    }
    // SAFETY: the caller guarantees it.
    unsafe { CStr::from_ptr(string) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_say_what_was_looked_for() {
        assert!(OpenError::NoLibrary("missing".into()).to_string().contains("libEGL.so.1"));
        assert!(OpenError::NoDevice(vec![]).to_string().contains("GL_NV_compute_program5"));
        assert!(OpenError::NoDevice(vec!["Mesa llvmpipe".into()]).to_string().ends_with("found Mesa llvmpipe"));
        assert!(OpenError::NoFunction("glProgramStringARB").to_string().contains("glProgramStringARB"));
    }
}
