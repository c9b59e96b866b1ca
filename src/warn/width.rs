//! Warnings of operations whose segments are wider than the smallest subgroup that a driver may choose.

use crate::diagnostic::{Code, Diagnostic};
use crate::ir::Module;
use crate::kernel::{Demand, demands};
use crate::profile::Profile;
use std::cmp::Reverse;

/// A warning for each entry point with an operation that is undefined on the smallest subgroups of the profile: at the first of
/// the widest operations.
pub fn widths(module: &Module, profile: &Profile) -> Vec<Diagnostic> {
    widest(module, profile).map(|demand| warning(&demand, profile)).collect()
}

/// Fewest lanes that a subgroup must have for a shader, where a driver may choose fewer than that.
pub fn least_lanes(module: &Module, profile: &Profile) -> Option<u32> {
    widest(module, profile).map(|demand| demand.lanes).max()
}

/// The first of the widest operations of each entry point that a driver's smallest subgroup is too narrow for. The front ends refuse
/// operations wider than a fixed size.
fn widest(module: &Module, profile: &Profile) -> impl Iterator<Item = Demand> {
    let entries = if profile.wave_size.is_none() { &*module.entry_points } else { &[] };
    let least = profile.least_wave_size();
    entries.iter().filter_map(move |entry| {
        let wide = demands(module, entry).filter(|demand| demand.lanes > least);
        wide.min_by_key(|demand| (Reverse(demand.lanes), demand.span))
    })
}

fn warning(demand: &Demand, profile: &Profile) -> Diagnostic {
    let (lanes, least) = (demand.lanes, profile.least_wave_size());
    let message = format!("this shader needs subgroups of at least {lanes} lanes, and a driver may choose {least}");
    Diagnostic::warning(Code::NARROW_SUBGROUPS, message)
        .at(demand.span, format!("undefined where a subgroup has fewer than {lanes} lanes"))
        .note(format!("`{}` leaves the size of the subgroup to the driver", profile.name))
        .help(format!("check the size in your program, and promise it with `--wave-size {lanes}..`"))
}
