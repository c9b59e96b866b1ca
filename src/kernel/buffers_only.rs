//! The kernels that need buffers alone: compute shaders without images. AMD's targets, PTX and the simulator take no others.

use super::{Kernel, Op};
use crate::diagnostic::{Code, Diagnostic};
use crate::kernel::Stage;

/// The end of all messages.
const NOT_YET: &str = "not supported on AMD targets, in PTX and in the simulator yet";

/// Refuses other stages than compute, and images.
///
/// # Errors
/// With the entry point, or with each variable and operation.
pub fn check(kernel: &Kernel) -> Result<(), Vec<Diagnostic>> {
    if kernel.stage != Stage::Compute {
        let message = format!("{} shaders are {NOT_YET}", kernel.stage.name());
        return Err(vec![Diagnostic::error(Code::NOT_IN_KERNELS, message).at(kernel.span, "this entry point")]);
    }
    let message = format!("images and textures are {NOT_YET}");
    let mut errors = Vec::new();
    for inst in kernel.insts.iter().map(|(_, inst)| inst).filter(|inst| matches!(inst.op, Op::Image { .. })) {
        Diagnostic::needed(Code::NOT_IN_KERNELS, message.clone(), inst.span).join(&mut errors);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}
