//! From a typed module to a kernel that a profile's target can write: the steps in their order.

use super::lanes::{self, LANE_FACTS, Operation};
use super::pass::{Pipeline, Watcher};
use super::{Kernel, LaneContract, Specializations, buffers_only, lower, verify};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::Module;
use crate::ir::spanning::spanned;
use crate::lane::{Plan, Plans, Request};
use crate::profile::{Profile, Target};
use crate::source::Span;
use std::sync::Arc;

/// The first step, as [`Watcher`] sees it.
pub const LOWER: &str = "lower";

/// The kernel of a module's entry point for a profile with a known wave size, without cross-lane operations.
///
/// # Errors
/// Reports constructs that the kernel form cannot express and operations that the profile lacks.
pub fn finish(module: &Module, settings: &Specializations, profile: &Profile) -> Result<Kernel, Vec<Diagnostic>> {
    let prepared = Prepared::new(module, settings, profile)?;
    let plans = prepared.plans(profile, &Plans::default())?;
    prepared.finish(&plans, profile)
}

/// Shows the kernel after each step: for a profile of hardware of [`finish`], otherwise of [`simplified`].
///
/// # Errors
/// Reports constructs that the kernel form cannot express and operations that the profile lacks.
pub fn watch(
    module: &Module,
    settings: &Specializations,
    profile: &Profile,
    watcher: &mut Watcher<'_>,
) -> Result<(), Vec<Diagnostic>> {
    let mut pipeline = Pipeline::watched(watcher);
    let kernel = simplify(&*spanned(module, profile)?, settings, profile.target, &mut pipeline)?;
    if !profile.target.row().is_hardware {
        return Ok(());
    }
    let prepared = Prepared::of(kernel, profile);
    pipeline.show(LANE_FACTS, true, &prepared.kernel);
    let plans = prepared.plans(profile, &Plans::default())?;
    prepared.finish_in(&plans, profile, &mut pipeline).map(drop)
}

/// A kernel for all profiles of a target and wave size, with the planner requests of its cross-lane operations.
#[derive(Clone, Debug)]
pub struct Prepared {
    kernel: Kernel,
    operations: Vec<Operation>,
}

impl Prepared {
    /// Takes the first steps.
    ///
    /// # Errors
    /// Reports constructs that the kernel form cannot express.
    pub fn new(module: &Module, settings: &Specializations, profile: &Profile) -> Result<Prepared, Vec<Diagnostic>> {
        let kernel = simplified(&*spanned(module, profile)?, settings, profile.target)?;
        check_workgroup(kernel.workgroup_size, kernel.span, profile.target)?;
        Ok(Prepared::of(kernel, profile))
    }

    fn of(mut kernel: Kernel, profile: &Profile) -> Prepared {
        kernel.lanes = LaneContract::of(&kernel);
        let operations = lanes::operations(&mut kernel, profile);
        Prepared { kernel, operations }
    }

    /// The cross-lane operations and their source spans, in kernel order; none if the profile has no fixed wave size.
    pub fn requests(&self) -> impl Iterator<Item = (Span, &Request<'static>)> {
        self.operations.iter().map(|operation| (self.kernel.insts[operation.inst].span, &operation.request))
    }

    /// The plan of each operation.
    ///
    /// # Errors
    /// Reports operations that the profile lacks, and a missing wave size.
    pub fn plans(&self, profile: &Profile, known: &Plans) -> Result<Vec<Arc<Plan>>, Vec<Diagnostic>> {
        lanes::plans_of(&self.kernel, &self.operations, profile, known)
    }

    /// Runs the remaining passes. Profiles with the same features, plans and fast fused operations get the same kernel.
    ///
    /// # Errors
    /// Returns an error if a pass has produced an invalid kernel.
    pub fn finish(self, plans: &[Arc<Plan>], profile: &Profile) -> Result<Kernel, Vec<Diagnostic>> {
        self.finish_in(plans, profile, &mut Pipeline::default())
    }

    fn finish_in(
        self,
        plans: &[Arc<Plan>],
        profile: &Profile,
        pipeline: &mut Pipeline<'_>,
    ) -> Result<Kernel, Vec<Diagnostic>> {
        let Prepared { mut kernel, operations } = self;
        lanes::write(&mut kernel, &operations, plans, profile, pipeline);
        pipeline.reduce(&mut kernel, profile.target);
        pipeline.contract(&mut kernel, profile);
        pipeline.gather(&mut kernel, profile.target);
        check(&kernel)?;
        Ok(kernel)
    }
}

/// Like [`finish`], with one plan for all cross-lane operations, which need not be the best one.
///
/// # Errors
/// Like [`finish`].
pub fn finish_by(module: &Module, plan: &Plan, profile: &Profile) -> Result<Kernel, Vec<Diagnostic>> {
    let prepared = Prepared::new(module, &Specializations::default(), profile)?;
    let plan = Arc::new(plan.clone());
    let plans = vec![plan; prepared.operations.len()];
    prepared.finish(&plans, profile)
}

/// The kernel of the entry point of a module for every profile of a target, with its cross-lane operations.
///
/// # Errors
/// Reports constructs that the kernel form cannot express.
pub fn simplified(module: &Module, settings: &Specializations, target: Target) -> Result<Kernel, Vec<Diagnostic>> {
    simplify(module, settings, target, &mut Pipeline::default())
}

fn simplify(
    module: &Module,
    settings: &Specializations,
    target: Target,
    pipeline: &mut Pipeline<'_>,
) -> Result<Kernel, Vec<Diagnostic>> {
    let mut kernel = lower(module, settings)?;
    pipeline.show(LOWER, true, &kernel);
    match target.row() {
        row if !row.has_images => buffers_only::check(&kernel)?,
        row if !row.has_graphics => buffers_only::check_stage(&kernel)?,
        _ => {}
    }
    pipeline.expand(&mut kernel, target);
    let copies = target.row().loop_copies;
    pipeline.optimize(&mut kernel, copies.is_some());
    if let Some(copies) = copies {
        pipeline.repeat(&mut kernel, copies);
    }
    check(&kernel)?;
    Ok(kernel)
}

/// Checks that a target can run workgroups of a size.
///
/// # Errors
/// Returns the number of invocations if the target cannot run that many.
pub fn check_workgroup(size: [u32; 3], span: Span, target: Target) -> Result<(), Vec<Diagnostic>> {
    let total: u128 = size.into_iter().map(u128::from).product();
    let limit = target.row().invocations;
    if total <= limit.into() {
        return Ok(());
    }
    let [x, y, z] = size;
    let message =
        format!("a workgroup of {x} x {y} x {z} has {total} invocations; profiles for {} take {limit}", target.name());
    Err(vec![Diagnostic::error(Code::NOT_SUPPORTED, message).at(span, "of this entry point")])
}

/// Builds with debug assertions verify the result of the passes. A kernel that fails is a bug in crosslane.
fn check(kernel: &Kernel) -> Result<(), Vec<Diagnostic>> {
    if !cfg!(debug_assertions) {
        return Ok(());
    }
    verify::verify(kernel).map_err(|errors| errors.iter().map(verify::VerifyError::diagnostic).collect())
}
