//! A kernel that the driver has loaded.

use super::Device;
use super::api::{Handle, error_name};
use crate::backend::ptx::Program;
use crate::backend::ptx::reflection::{Parameter, ParameterKind, Reflection};
use crate::run::{BufferBinding, RunError};
use std::ffi::{CStr, CString, c_int, c_void};
use std::ptr;

/// `CU_JIT_ERROR_LOG_BUFFER` and `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`.
const ERROR_LOG: [c_int; 2] = [5, 6];
const LOG_BYTES: usize = 8192;

/// A kernel in a separate module.
pub struct Loaded<'d> {
    device: &'d Device,
    module: Module<'d>,
    function: Handle,
    reflection: Reflection,
}

impl Device {
    /// Loads a kernel into the driver.
    ///
    /// # Errors
    /// Returns [`RunError::Refused`] with the message of the driver's assembler.
    pub fn load(&self, program: &Program) -> Result<Loaded<'_>, RunError> {
        let zero = |_| RunError::Refused("the text holds a zero".to_owned());
        let text = CString::new(program.text.as_bytes()).map_err(zero)?;
        let symbol = CString::new(program.reflection.symbol.as_str()).map_err(zero)?;
        let (mut module, mut log) = (ptr::null_mut(), vec![0_u8; LOG_BYTES]);
        let (mut options, mut values) = (ERROR_LOG, [log.as_mut_ptr().cast::<c_void>(), LOG_BYTES as *mut c_void]);
        // SAFETY: the text is zero-terminated; the number of options and the size of the log are correct.
        let result = unsafe {
            (self.api.module_load)(&raw mut module, text.as_ptr().cast(), 2, options.as_mut_ptr(), values.as_mut_ptr())
        };
        if result != 0 {
            let said = CStr::from_bytes_until_nul(&log).unwrap_or_default().to_string_lossy();
            return Err(RunError::Refused(format!("{}: {}", error_name(&self.api, result), said.trim_end())));
        }
        let (module, mut function) = (Module { device: self, module }, ptr::null_mut());
        // SAFETY: the module is loaded and the name is zero-terminated.
        let found = unsafe { (self.api.module_function)(&raw mut function, module.module, symbol.as_ptr()) };
        self.check("cuModuleGetFunction", found)?;
        Ok(Loaded { device: self, module, function, reflection: program.reflection.clone() })
    }

    /// Device memory with these bytes. It has a minimum size, so that it always has an address.
    fn place(&self, data: &[u8]) -> Result<DeviceMemory<'_>, RunError> {
        let mut address = 0;
        // SAFETY: the call writes one address.
        self.check("cuMemAlloc", unsafe { (self.api.allocate)(&raw mut address, data.len().max(16)) })?;
        let memory = DeviceMemory { device: self, address };
        // SAFETY: the memory has room for the bytes.
        self.check("cuMemcpyHtoD", unsafe { (self.api.upload)(address, data.as_ptr().cast(), data.len()) })?;
        Ok(memory)
    }
}

impl Loaded<'_> {
    /// Runs the kernel once over this many workgroups, waits for it to finish, and copies the results back to the
    /// buffers.
    ///
    /// # Errors
    /// Returns [`RunError`]; the buffers are then unchanged.
    pub fn run(&self, groups: [u32; 3], push: &[u8], buffers: &mut [BufferBinding]) -> Result<(), RunError> {
        let mut bound = self.bind(push, buffers)?;
        self.launch(groups, &mut bound)?;
        self.finish()?;
        let after = buffers.iter().zip(&bound.memory).map(|(buffer, memory)| memory.read(buffer.data.len()));
        let after = after.collect::<Result<Vec<_>, _>>()?;
        buffers.iter_mut().zip(after).for_each(|(buffer, data)| buffer.data = data);
        Ok(())
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
        let mut bound = self.bind(push, buffers)?;
        let [before, after] = [Event::new(self.device)?, Event::new(self.device)?];
        let mut one = |_| {
            before.record()?;
            self.launch(groups, &mut bound)?;
            after.record()?;
            self.finish()?;
            let mut milliseconds = 0.0;
            // SAFETY: both events are recorded and over.
            let read = unsafe { (self.device.api.event_elapsed)(&raw mut milliseconds, before.event, after.event) };
            self.device.check("cuEventElapsedTime", read)?;
            Ok((f64::from(milliseconds) * 1e6) as u64)
        };
        (0..runs).map(&mut one).collect()
    }

    fn bind(&self, push: &[u8], buffers: &[BufferBinding]) -> Result<Bound<'_>, RunError> {
        let memory = buffers.iter().map(|buffer| self.device.place(&buffer.data)).collect::<Result<Vec<_>, _>>()?;
        let mut push = push.to_vec();
        for (buffer, memory) in buffers.iter().zip(&memory) {
            if let Some(at) = buffer.address_at.and_then(|at| push.get_mut(at..at + 8)) {
                at.copy_from_slice(&memory.address.to_le_bytes());
            }
        }
        let parameters = self.reflection.parameters.iter();
        let values =
            parameters.map(|parameter| argument(parameter, &push, buffers, &memory)).collect::<Result<_, _>>()?;
        Ok(Bound { memory, values })
    }

    fn launch(&self, groups: [u32; 3], bound: &mut Bound) -> Result<(), RunError> {
        let mut arguments: Vec<*mut c_void> = bound.values.iter_mut().map(|value| value.as_mut_ptr().cast()).collect();
        let ([x, y, z], [w, h, d]) = (groups, self.reflection.workgroup_size);
        // SAFETY: there is one pointer per parameter, to as many bytes as it has.
        let launched = unsafe {
            let none = ptr::null_mut();
            let launch = self.device.api.launch;
            launch(self.function, x, y, z, w, h, d, 0, none, arguments.as_mut_ptr(), ptr::null_mut())
        };
        self.device.check("cuLaunchKernel", launched)
    }

    fn finish(&self) -> Result<(), RunError> {
        // SAFETY: the context is current.
        self.device.check("cuCtxSynchronize", unsafe { (self.device.api.synchronize)() })
    }
}

impl std::fmt::Debug for Loaded<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loaded").field("module", &self.module.module).finish_non_exhaustive()
    }
}

/// The arguments of a launch.
struct Bound<'d> {
    memory: Vec<DeviceMemory<'d>>,
    values: Vec<Vec<u8>>,
}

/// The bytes of an argument.
fn argument(
    parameter: &Parameter,
    push: &[u8],
    buffers: &[BufferBinding],
    bound: &[DeviceMemory<'_>],
) -> Result<Vec<u8>, RunError> {
    let mut bytes = match (parameter.kind, &parameter.buffer) {
        (ParameterKind::PushConstants, _) | (_, None) => push.to_vec(),
        (kind, Some(wanted)) => {
            let place = (wanted.set, wanted.binding, wanted.element);
            let at = buffers.iter().position(|buffer| (buffer.set, buffer.binding, buffer.element) == place);
            let at = at.ok_or_else(|| {
                let (set, binding, element) = place;
                RunError::Refused(format!("nothing is bound at set {set} binding {binding}, element {element}"))
            })?;
            let value = if kind == ParameterKind::Address { bound[at].address } else { buffers[at].data.len() as u64 };
            value.to_le_bytes().to_vec()
        }
    };
    bytes.resize(parameter.size as usize, 0);
    Ok(bytes)
}

/// A module that the driver has loaded.
struct Module<'d> {
    device: &'d Device,
    module: Handle,
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: the module is loaded and not used afterwards.
        unsafe { (self.device.api.module_unload)(self.module) };
    }
}

/// A point in time of the GPU.
struct Event<'d> {
    device: &'d Device,
    event: Handle,
}

impl<'d> Event<'d> {
    fn new(device: &'d Device) -> Result<Event<'d>, RunError> {
        let mut event = ptr::null_mut();
        // SAFETY: the call writes one handle.
        device.check("cuEventCreate", unsafe { (device.api.event_create)(&raw mut event, 0) })?;
        Ok(Event { device, event })
    }

    fn record(&self) -> Result<(), RunError> {
        // SAFETY: the event exists.
        let recorded = unsafe { (self.device.api.event_record)(self.event, ptr::null_mut()) };
        self.device.check("cuEventRecord", recorded)
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: the event exists and is not used afterwards.
        unsafe { (self.device.api.event_destroy)(self.event) };
    }
}

/// Memory of the device.
struct DeviceMemory<'d> {
    device: &'d Device,
    address: u64,
}

impl DeviceMemory<'_> {
    fn read(&self, len: usize) -> Result<Vec<u8>, RunError> {
        let mut bytes = vec![0; len];
        // SAFETY: both have room for this many bytes.
        let read = unsafe { (self.device.api.download)(bytes.as_mut_ptr().cast(), self.address, len) };
        self.device.check("cuMemcpyDtoH", read)?;
        Ok(bytes)
    }
}

impl Drop for DeviceMemory<'_> {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated and is not used afterwards.
        unsafe { (self.device.api.free)(self.address) };
    }
}
