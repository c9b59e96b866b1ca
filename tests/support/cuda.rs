//! CUDA on machines that have it.

use super::lavapipe::{Buffers, Request, all_words};
use crosslane::backend::ptx::Program;
use crosslane::run::RunError;
use crosslane::run::cuda::Device;
use std::cell::RefCell;

/// Asks the tests to run kernels on the machine's GPU.
const ASKED: &str = "CROSSLANE_CUDA";

/// Returns true if kernels are to be run.
pub fn is_asked() -> bool {
    std::env::var_os(ASKED).is_some()
}

thread_local! {
    /// The device, with this thread's own context.
    static DEVICE: RefCell<Option<Device>> = const { RefCell::new(None) };
}

/// Runs `work` on the device. A failed context cannot be used again, so an error discards it and the next call makes a
/// new one.
fn with<T>(work: impl FnOnce(&Device) -> Result<T, RunError>) -> Result<T, String> {
    DEVICE.with_borrow_mut(|slot| {
        let device = match slot.take() {
            Some(device) => device,
            None => Device::open().map_err(|e| e.to_string())?,
        };
        let done = work(&device).map_err(|e| e.to_string())?;
        *slot = Some(device);
        Ok(done)
    })
}

/// The buffers after each run of a kernel.
pub fn run(program: &Program, request: &Request) -> Result<Vec<Buffers>, String> {
    with(|device| {
        let loaded = device.load(program)?;
        let mut bound = request.bindings();
        for buffers in &mut bound {
            loaded.run(request.groups, &request.push_constants, buffers)?;
        }
        Ok(all_words(&bound))
    })
}

/// The device's name and its driver's version.
pub fn describe() -> Result<String, String> {
    with(|device| Ok(device.info().to_string()))
}
