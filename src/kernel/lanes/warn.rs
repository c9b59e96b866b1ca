//! Warnings about operations that are defined only where all lanes of a segment take part.

use super::Lowering;
use crate::diagnostic::{Code, Diagnostic};
use crate::kernel::InstId;
use crate::lane::{Activity, LaneOp, Members, Width};

impl Lowering<'_> {
    /// Warns if lanes that an operation reads are missing, or may be.
    pub fn warn(&mut self, inst: InstId, op: LaneOp, activity: Activity) {
        let Some(width) = reads(op) else { return };
        let lanes = width.lanes_in(self.profile.wave_size.unwrap_or(1));
        let invocations = self.kernel.invocations();
        let span = self.kernel.insts[inst].span;
        if activity == Activity::Any {
            let message = "this cross-lane operation is in control flow that lanes take differently";
            let note = format!("it is defined only where all lanes of its segment of {lanes} run it");
            self.push(Diagnostic::warning(Code::LANES_APART, message).at(span, "").note(note));
        } else if !invocations.is_multiple_of(lanes) {
            let message = format!("the workgroup's {invocations} invocations do not fill segments of {lanes} lanes");
            let note = "the result is undefined in the last segment";
            self.push(Diagnostic::warning(Code::SEGMENT_NOT_FULL, message).at(span, "this operation").note(note));
        }
    }

    /// One message for all components of a vector.
    fn push(&mut self, warning: Diagnostic) {
        if self.warnings.last() != Some(&warning) {
            self.warnings.push(warning);
        }
    }
}

/// The segment all of whose lanes an operation reads; none for those that look at active lanes, or at single ones that
/// are not known here.
fn reads(op: LaneOp) -> Option<Width> {
    match op {
        LaneOp::Butterfly(width) | LaneOp::Segmented { width, .. } | LaneOp::Sort { width } => Some(width),
        LaneOp::Fold { width, members: Members::All, .. } => Some(width),
        LaneOp::Quad { .. } | LaneOp::QuadAdd(_) | LaneOp::QuadPermute(_) => Width::new(4),
        _ => None,
    }
}
