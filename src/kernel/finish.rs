//! From a typed module to a kernel that a profile's target can write: the steps in their order.

use super::lanes::{Asked, asked};
use super::{Kernel, LaneContract, Specializations, buffers_only, lower, lower_lanes, pass, verify};
use crate::diagnostic::Diagnostic;
use crate::ir::Module;
use crate::profile::{Profile, Target};

/// The kernel of entry point `entry` for a profile whose wave size is known, without cross-lane operations.
///
/// # Errors
/// With what the kernel form cannot express and what the profile cannot do.
pub fn finish(
    module: &Module,
    entry: usize,
    settings: &Specializations,
    profile: &Profile,
) -> Result<Kernel, Vec<Diagnostic>> {
    let mut kernel = simplified(module, entry, settings, profile)?;
    kernel.lanes = LaneContract::of(&kernel);
    lower_lanes(&mut kernel, profile)?;
    if profile.target == Target::Amd {
        pass::gather(&mut kernel);
    }
    check(&kernel)?;
    Ok(kernel)
}

/// The cross-lane operations of the same kernel, as they are before they are lowered.
///
/// # Errors
/// With what the kernel form cannot express.
pub fn operations(
    module: &Module,
    entry: usize,
    settings: &Specializations,
    profile: &Profile,
) -> Result<Vec<Asked>, Vec<Diagnostic>> {
    let mut kernel = simplified(module, entry, settings, profile)?;
    Ok(asked(&mut kernel, profile))
}

fn simplified(
    module: &Module,
    entry: usize,
    settings: &Specializations,
    profile: &Profile,
) -> Result<Kernel, Vec<Diagnostic>> {
    let mut kernel = lower(module, entry, settings)?;
    if profile.target == Target::Amd {
        buffers_only::check(&kernel)?;
    }
    pass::optimize(&mut kernel);
    check(&kernel)?;
    Ok(kernel)
}

/// Builds with debug assertions check what the passes made; a kernel that fails is a defect of ours.
fn check(kernel: &Kernel) -> Result<(), Vec<Diagnostic>> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    verify::verify(kernel).map_err(|errors| errors.iter().map(verify::VerifyError::diagnostic).collect())
}
