//! One owner for every kind of Vulkan handle: destroys it when it goes out of scope.

use std::mem;

/// A handle that belongs to `device` and is destroyed with the guard.
pub(super) struct Guard<'d, H: Copy> {
    device: &'d ash::Device,
    handle: H,
    destroy: fn(&ash::Device, H),
}

impl<'d, H: Copy> Guard<'d, H> {
    /// Takes over `handle`; `destroy` must be the call that frees such a handle.
    pub(super) fn new(device: &'d ash::Device, handle: H, destroy: fn(&ash::Device, H)) -> Self {
        Self { device, handle, destroy }
    }

    /// The handle, for use while the guard lives.
    pub(super) fn get(&self) -> H {
        self.handle
    }

    /// Gives the handle up for good: what a device that never ended its work may still use must not be freed.
    pub(super) fn leak(self) {
        mem::forget(self);
    }
}

impl<H: Copy> Drop for Guard<'_, H> {
    fn drop(&mut self) {
        (self.destroy)(self.device, self.handle);
    }
}
