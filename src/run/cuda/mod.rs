//! Loads PTX into CUDA's driver and runs it.
//!
//! libcuda is opened at run time, so a program built with this feature starts on any machine. The first device is used;
//! its context is current in the thread that opened it.

mod api;
mod program;

use super::RunError;
use api::{Api, Handle, error_name};
pub use program::Loaded;
use std::ffi::{CStr, c_int};
use std::fmt;
use std::ptr;

/// The library to search for.
const LIBRARY: &str = "libcuda.so.1";

/// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR` and `_MINOR`.
const CAPABILITY: [c_int; 2] = [75, 76];

/// The reason that no device could be opened.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OpenError {
    /// There is no libcuda; the dynamic loader's message.
    NoLibrary(String),
    /// The library lacks this function.
    NoFunction(&'static str),
    /// The driver failed a call; the call and its result.
    Driver(&'static str, String),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLibrary(why) => write!(f, "no CUDA: looked for {LIBRARY} on the library path ({why})"),
            Self::NoFunction(name) => write!(f, "no CUDA that runs PTX: {name} is missing"),
            Self::Driver(call, result) => write!(f, "no CUDA device: {call} gives {result}"),
        }
    }
}

impl std::error::Error for OpenError {}

/// The properties of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceInfo {
    pub name: String,
    /// The newest architecture that it runs: 90 for `sm_90`.
    pub sm: u32,
    /// The newest version of CUDA that the driver supports, major and minor.
    pub version: (u32, u32),
}

impl fmt::Display for DeviceInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DeviceInfo { name, sm, version: (major, minor) } = self;
        write!(f, "{name}, sm_{sm}, CUDA {major}.{minor}")
    }
}

/// An open device with a context that is current in this thread.
pub struct Device {
    api: Api,
    context: Handle,
    info: DeviceInfo,
    /// Keeps the library open.
    _library: libloading::Library,
}

impl Device {
    /// Opens the first device.
    ///
    /// # Errors
    /// Returns [`OpenError`] if there is no libcuda or no device.
    pub fn open() -> Result<Device, OpenError> {
        // SAFETY: loading the system's driver runs its initialisers, as intended.
        let library = unsafe { libloading::Library::new(LIBRARY) }.map_err(|e| OpenError::NoLibrary(e.to_string()))?;
        let api = Api::load(&library).map_err(OpenError::NoFunction)?;
        let check = |call, result| match result {
            0 => Ok(()),
            result => Err(OpenError::Driver(call, error_name(&api, result))),
        };
        let (mut device, mut context, mut name) = (0, ptr::null_mut(), [0_u8; 256]);
        let (mut capability, mut version) = ([0; 2], 0);
        // SAFETY: each call writes to local variables of the stated sizes.
        unsafe {
            check("cuInit", (api.init)(0))?;
            check("cuDeviceGet", (api.device_get)(&raw mut device, 0))?;
            check("cuDeviceGetName", (api.device_name)(name.as_mut_ptr().cast(), name.len() as c_int - 1, device))?;
            check("cuDriverGetVersion", (api.driver_version)(&raw mut version))?;
            for (value, attribute) in capability.iter_mut().zip(CAPABILITY) {
                check("cuDeviceGetAttribute", (api.device_attribute)(value, attribute, device))?;
            }
            check("cuCtxCreate", (api.context_create)(&raw mut context, 0, device))?;
        }
        let name = CStr::from_bytes_until_nul(&name).unwrap_or_default().to_string_lossy().into_owned();
        let [major, minor] = capability.map(c_int::unsigned_abs);
        let version = version.unsigned_abs();
        let info = DeviceInfo { name, sm: 10 * major + minor, version: (version / 1000, version % 1000 / 10) };
        Ok(Device { api, context, info, _library: library })
    }

    /// The properties of the device.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn check(&self, call: &'static str, result: c_int) -> Result<(), RunError> {
        if result == 0 { Ok(()) } else { Err(RunError::Driver(call, error_name(&self.api, result))) }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: the context is open and not used afterwards.
        unsafe { (self.api.context_destroy)(self.context) };
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Device").field("info", &self.info).finish_non_exhaustive()
    }
}
