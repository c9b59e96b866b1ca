//! Passes that make kernels smaller and faster without changing their results: one file per pass, under its common name
//! in compilers.
//!
//! Every pass preserves the form's rules ([`super::verify`]) and takes time proportional to the kernel's size. Floats
//! are never re-associated, and only [`fp_contract`] contracts them. An undefined result may become any value.
//! Cross-lane operations stay in place, because moving one would change the participating lanes.

mod constant_phis;
mod copy;
mod dce;
mod early_exit;
mod expand_image_arrays;
mod fold;
mod fold_offsets;
mod fp_contract;
mod gvn;
mod if_convert;
mod jump_threading;
mod licm;
mod load_store_vectorize;
mod memory;
mod pack_private;
pub mod range;
mod scalar_promotion;
mod share_moves;
mod simplify_cfg;
mod sroa;
mod strength_reduction;
mod unroll;

use super::Kernel;
use crate::limits;
use crate::profile::{Joins, LoopCopies, Profile, Target};
pub use unroll::{Count, counted, refused as not_unrolled};

/// One pass.
#[derive(Clone, Copy)]
pub struct Pass {
    pub name: &'static str,
    /// Changes a kernel. Returns true if it did.
    pub run: fn(&mut Kernel) -> bool,
}

impl Pass {
    const fn new(name: &'static str, run: fn(&mut Kernel) -> bool) -> Pass {
        Pass { name, run }
    }
}

const EXPAND_IMAGE_ARRAYS: Pass = Pass::new("expand_image_arrays", expand_image_arrays::run);
const CONSTANT_PHIS: Pass = Pass::new("constant_phis", constant_phis::run);
const GVN: Pass = Pass::new("gvn", gvn::run);
const SIMPLIFY_CFG: Pass = Pass::new("simplify_cfg", simplify_cfg::run);
const IF_CONVERT: Pass = Pass::new("if_convert", if_convert::run);
const JUMP_THREADING: Pass = Pass::new("jump_threading", jump_threading::run);
const EARLY_EXIT: Pass = Pass::new("early_exit", early_exit::run);
const DCE: Pass = Pass::new("dce", dce::run);
const UNROLL: Pass = Pass::new("unroll", |kernel| unroll::run(kernel, false));
const UNROLL_FURTHER: Pass = Pass::new(UNROLL.name, |kernel| unroll::run(kernel, true));
const PARTIAL_UNROLL: Pass = Pass::new("partial_unroll", |kernel| unroll::run_partly(kernel, LoopCopies::FEW));
const SCALAR_PROMOTION: Pass = Pass::new("scalar_promotion", scalar_promotion::run);
const SROA: Pass = Pass::new("sroa", sroa::run);
const LICM: Pass = Pass::new("licm", licm::run);
const FOLD_OFFSETS: Pass = Pass::new("fold_offsets", fold_offsets::run);
const PACK_PRIVATE: Pass = Pass::new("pack_private", pack_private::run);
const SHARE_MOVES: Pass = Pass::new("share_moves", share_moves::run);
const STRENGTH_REDUCTION: Pass = Pass::new("strength_reduction", strength_reduction::run);
const LOAD_STORE_VECTORIZE: Pass =
    Pass::new("load_store_vectorize", |kernel| load_store_vectorize::run(kernel, Joins::Words));
const LOAD_STORE_VECTORIZE_ALIGNED: Pass =
    Pass::new("load_store_vectorize_aligned", |kernel| load_store_vectorize::run(kernel, Joins::Aligned));

/// The passes of [`expanding`] of all targets.
pub const EXPANDING: [Pass; 1] = [EXPAND_IMAGE_ARRAYS];

/// The passes that replace operands that a target's instructions lack, before all others.
pub fn expanding(target: Target) -> impl Iterator<Item = Pass> {
    EXPANDING.into_iter().filter(move |_| target.row().lacks_image_indices)
}

/// The passes of [`Pipeline::optimize`], in the order of their first use.
pub const OPTIMIZING: [Pass; 13] = [
    CONSTANT_PHIS,
    GVN,
    SIMPLIFY_CFG,
    IF_CONVERT,
    JUMP_THREADING,
    EARLY_EXIT,
    DCE,
    UNROLL,
    SCALAR_PROMOTION,
    SROA,
    LICM,
    FOLD_OFFSETS,
    PACK_PRIVATE,
];

/// The passes of [`Pipeline::repeat`].
pub const REPEATING: [Pass; 1] = [PARTIAL_UNROLL];

/// The contraction of floats, for kernels whose cross-lane operations are lowered.
pub const FP_CONTRACT: &str = "fp_contract";

/// The passes of [`reducing`] of all targets.
pub const REDUCING: [Pass; 1] = [STRENGTH_REDUCTION];

/// The passes that replace operations that a target and all later compilers lack, for kernels whose cross-lane
/// operations are lowered.
pub fn reducing(target: Target) -> impl Iterator<Item = Pass> {
    REDUCING.into_iter().filter(move |_| target.row().lacks_division)
}

/// The passes of [`gathering`] of all targets.
pub const GATHERING: [Pass; 3] = [SHARE_MOVES, LOAD_STORE_VECTORIZE, LOAD_STORE_VECTORIZE_ALIGNED];

/// The final passes for kernels of a target, after cross-lane operations are lowered: they minimise moves between lanes
/// where these cost as much as other instructions, and memory accesses where all accesses take the same time.
pub fn gathering(target: Target) -> impl Iterator<Item = Pass> {
    let row = target.row();
    let joins = row.joins.map(|joins| match joins {
        Joins::Words => LOAD_STORE_VECTORIZE,
        Joins::Aligned => LOAD_STORE_VECTORIZE_ALIGNED,
    });
    row.has_scalar_registers.then_some(SHARE_MOVES).into_iter().chain(joins)
}

/// The passes that repeat, in this order, until nothing changes.
const CLEANING: [Pass; 7] = [CONSTANT_PHIS, GVN, SIMPLIFY_CFG, IF_CONVERT, JUMP_THREADING, EARLY_EXIT, DCE];

/// Limit of the cleaning rounds: each mostly finds what the previous one exposed, and soon nothing is left.
const ROUNDS: usize = 4;

/// Sees a kernel after each pass, with the pass's name and whether it changed the kernel.
pub type Watcher<'w> = dyn FnMut(&'static str, bool, &Kernel) + 'w;

/// Runs passes. [`Pipeline::default`] has no observer.
#[derive(Default)]
pub struct Pipeline<'w> {
    watcher: Option<&'w mut Watcher<'w>>,
}

impl<'w> Pipeline<'w> {
    /// Shows the kernel after each pass.
    pub fn watched(watcher: &'w mut Watcher<'w>) -> Pipeline<'w> {
        Pipeline { watcher: Some(watcher) }
    }

    /// Shows a kernel after something that may have changed it.
    pub(super) fn show(&mut self, name: &'static str, changed: bool, kernel: &Kernel) {
        if let Some(watcher) = &mut self.watcher {
            watcher(name, changed, kernel);
        }
    }

    fn run(&mut self, pass: Pass, kernel: &mut Kernel) -> bool {
        limits::spend(kernel.insts.len() + kernel.operands.len());
        let changed = (pass.run)(kernel);
        self.show(pass.name, changed, kernel);
        changed
    }

    /// Runs the passes of [`expanding`].
    pub(super) fn expand(&mut self, kernel: &mut Kernel, target: Target) {
        expanding(target).for_each(|pass| _ = self.run(pass, kernel));
    }

    /// Simplifies a kernel without knowledge of the profile. Loops are unrolled `further` if no later compiler does it.
    pub fn optimize(&mut self, kernel: &mut Kernel, further: bool) {
        self.clean(kernel);
        if self.run(if further { UNROLL_FURTHER } else { UNROLL }, kernel) {
            self.clean(kernel);
        }
        self.run(SCALAR_PROMOTION, kernel);
        if self.run(SROA, kernel) {
            self.clean(kernel);
        }
        self.run(LICM, kernel);
        self.run(FOLD_OFFSETS, kernel);
        self.clean(kernel);
        self.run(PACK_PRIVATE, kernel);
    }

    /// Unrolls loops in part, for targets whose compilers do not.
    pub fn repeat(&mut self, kernel: &mut Kernel, copies: LoopCopies) {
        let changed = unroll::run_partly(kernel, copies);
        self.show(PARTIAL_UNROLL.name, changed, kernel);
        if changed {
            self.clean(kernel);
            self.run(FOLD_OFFSETS, kernel);
            self.clean(kernel);
        }
    }

    /// Contracts floats of the widths for which a profile has fast fused operations.
    pub(super) fn contract(&mut self, kernel: &mut Kernel, profile: &Profile) {
        let changed = fp_contract(kernel, profile);
        self.show(FP_CONTRACT, changed, kernel);
        if changed {
            // Removes negations that sums have absorbed.
            self.run(DCE, kernel);
        }
    }

    /// Runs the passes of [`reducing`].
    pub(super) fn reduce(&mut self, kernel: &mut Kernel, target: Target) {
        for pass in reducing(target) {
            if self.run(pass, kernel) {
                self.clean(kernel);
            }
        }
    }

    /// Runs the passes of [`gathering`].
    pub(super) fn gather(&mut self, kernel: &mut Kernel, target: Target) {
        gathering(target).for_each(|pass| _ = self.run(pass, kernel));
    }

    /// Simplifies without copying code, until a full round of passes changes nothing.
    pub(super) fn clean(&mut self, kernel: &mut Kernel) {
        let mut idle = 0;
        for pass in CLEANING.into_iter().cycle().take(ROUNDS * CLEANING.len()) {
            idle = if self.run(pass, kernel) { 0 } else { idle + 1 };
            if idle == CLEANING.len() {
                return;
            }
        }
    }
}

/// Simplifies a kernel without knowledge of the target.
pub fn optimize(kernel: &mut Kernel) {
    Pipeline::default().optimize(kernel, false);
}

/// Contracts floats as a profile does. Returns true if there were some.
pub fn fp_contract(kernel: &mut Kernel, profile: &Profile) -> bool {
    fp_contract::run(kernel, profile.fast_fma())
}

#[cfg(test)]
mod tests;
