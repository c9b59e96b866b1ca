//! Warnings about cross-lane operations that may read missing lanes or give a misleading result. The warnings are the
//! same for every target, because they follow from the meaning of the operations.
//!
//! The checks cover operations that read their whole segment, with the control flow around them and the size of the
//! workgroup; uses of the result of a `reduce`; indices that must be the same in all lanes; and barriers in divergent
//! control flow. They run only if a module has cross-lane operations or barriers. Reads of uninitialized variables are
//! found in all modules. Warnings never change or refuse a module.

mod check;
mod fact;
mod flow;
mod input;
mod size;
mod slice;
mod unset;
mod value;
mod walk;
mod width;

use crate::diagnostic::Diagnostic;
use crate::ir::calls::callees_first;
use crate::ir::{EntryPoint, FuncId, Module, Stage};
use crate::lane::Width;
use crate::profile::Profile;
pub use size::sizes;
use slice::Slice;
pub use unset::variables as unset_variables;
pub use width::{least_lanes, widths};

/// The module and profile under analysis.
pub struct Work<'m> {
    module: &'m Module,
    stage: Stage,
    /// Lanes of a subgroup, if known.
    lanes: Option<u32>,
    /// The binary logarithm of the subgroup size, or of the largest possible one if it is unknown.
    size: u8,
    /// The binary logarithm of the smallest subgroup that a driver may choose.
    least: u8,
    /// Invocations of a workgroup along x, y and z, if known.
    group: [Option<u32>; 3],
}

/// The warnings of a module, in the order of the source.
pub fn warnings(module: &Module, profile: &Profile) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let is_watched = module.functions.handles().any(|id| is_watched(module, id));
    for entry in &module.entry_points {
        let order = callees_first(module, [entry.function]);
        found.extend(order.iter().flat_map(|id| unset::reads(module, &module.functions[*id])));
        if !is_watched {
            continue;
        }
        let work = Work::new(module, entry, profile);
        found.append(&mut walk::run(&work, &order, &Slice::new(module, &order, work.size)));
    }
    found.sort_by_key(|warning| (warning.span(), warning.code));
    found.dedup_by_key(|warning| (warning.span(), warning.code));
    found
}

/// Returns true if a function has an operation that may need a warning.
fn is_watched(module: &Module, id: FuncId) -> bool {
    module.functions[id].insts.iter().any(|(_, inst)| check::watches(inst.op))
}

impl<'m> Work<'m> {
    fn new(module: &'m Module, entry: &EntryPoint, profile: &Profile) -> Work<'m> {
        let lanes = profile.wave_size;
        let size = lanes.map_or(7, |lanes| lanes.ilog2() as u8);
        let known = |size: &crate::ir::ConstId| module.constants.bits(*size).map(|size| size as u32);
        let group = match entry.stage {
            stage if stage.has_workgroups() => entry.workgroup_size.each_ref().map(known),
            _ => [None; 3],
        };
        Work { module, stage: entry.stage, lanes, size, least: profile.least_wave_size().ilog2() as u8, group }
    }

    /// The binary logarithm of the lanes that a subgroup has at least.
    fn least_size(&self) -> u8 {
        self.least
    }

    /// The binary logarithm of a segment's lanes.
    fn bits(&self, width: Width) -> u8 {
        width.lanes().map_or(self.size, |lanes| lanes.ilog2() as u8)
    }

    /// Invocations of a workgroup.
    fn invocations(&self) -> Option<u32> {
        self.group.iter().copied().product()
    }
}

#[cfg(test)]
mod tests;
