//! An owner for every kind of Vulkan handle, which destroys the handle when it goes out of scope.

use super::Device;

/// A handle that belongs to `device`. The guard destroys it, unless the device is stuck in a shader that never
/// finished: objects that a driver may still use must not be freed.
pub struct Guard<'d, H: Copy> {
    device: &'d Device,
    handle: H,
    destroy: fn(&ash::Device, H),
}

impl<'d, H: Copy> Guard<'d, H> {
    /// Takes over `handle`; `destroy` must be the call that frees such a handle.
    pub fn new(device: &'d Device, handle: H, destroy: fn(&ash::Device, H)) -> Self {
        Self { device, handle, destroy }
    }

    /// The handle, for use while the guard lives.
    pub fn get(&self) -> H {
        self.handle
    }
}

impl<H: Copy> Drop for Guard<'_, H> {
    fn drop(&mut self) {
        if !self.device.stuck.get() {
            (self.destroy)(&self.device.raw, self.handle);
        }
    }
}
