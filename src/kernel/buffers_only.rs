//! The restrictions of targets with compute shaders only, and of targets without images.

use super::{Kernel, Op};
use crate::diagnostic::{Code, Diagnostic};
use crate::kernel::Stage;

/// The targets without images.
const NO_IMAGES: &str = "in PTX and in the simulator";

/// Refuses other stages than compute.
///
/// # Errors
/// Returns an error at the entry point.
pub fn check_stage(kernel: &Kernel) -> Result<(), Vec<Diagnostic>> {
    if kernel.stage == Stage::Compute {
        return Ok(());
    }
    let message = format!("{} shaders are not supported on AMD targets, {NO_IMAGES} yet", kernel.stage.name());
    Err(vec![Diagnostic::error(Code::NOT_IN_KERNELS, message).at(kernel.span, "this entry point")])
}

/// Refuses other stages than compute, and images.
///
/// # Errors
/// Returns an error at the entry point, or one at each image operation.
pub fn check(kernel: &Kernel) -> Result<(), Vec<Diagnostic>> {
    check_stage(kernel)?;
    let message = format!("images and textures are not supported {NO_IMAGES} yet");
    let mut errors = Vec::new();
    for inst in kernel.insts.iter().map(|(_, inst)| inst).filter(|inst| matches!(inst.op, Op::Image { .. })) {
        Diagnostic::needed(Code::NOT_IN_KERNELS, message.clone(), inst.span).join(&mut errors);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
