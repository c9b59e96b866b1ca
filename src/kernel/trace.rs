//! The kernel form at each step from a module to a profile's kernel: `--emit kernel@PASS`.

use super::finish::{LOWER, watch};
use super::lanes::{DPP_COMBINE, LANE_FACTS, LOWER_LANES};
use super::pass::{FP_CONTRACT, OPTIMIZING, REPEATING, expanding, gathering, reducing};
use super::print::print;
use super::{Kernel, Specializations};
use crate::diagnostic::nearest::nearest;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::Module;
use crate::profile::{Profile, Target};
use crate::source::SourceMap;
use rustc_hash::FxHashMap;

/// When to show the form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Moment {
    /// After each step that changes the kernel.
    EachChange,
    /// After a run of a step, counted from 1; after its last run if there is no number.
    After(&'static str, Option<u32>),
}

/// The steps of a target, in the order of their first run. Cleaning passes run again after other steps.
pub fn steps(target: Target) -> impl Iterator<Item = &'static str> {
    let is_hardware = target.row().is_hardware;
    let lanes = is_hardware.then_some([LANE_FACTS, LOWER_LANES, DPP_COMBINE]);
    let reducing = reducing(target).map(|pass| pass.name);
    let contracting = is_hardware.then_some(FP_CONTRACT);
    let gathering = gathering(target).map(|pass| pass.name);
    let optimizing = OPTIMIZING.into_iter().map(|pass| pass.name);
    let repeating = target.row().loop_copies.map(|_| REPEATING.map(|pass| pass.name));
    let optimizing = optimizing.chain(repeating.into_iter().flatten());
    [LOWER]
        .into_iter()
        .chain(expanding(target).map(|pass| pass.name))
        .chain(optimizing)
        .chain(lanes.into_iter().flatten())
        .chain(reducing)
        .chain(contracting)
        .chain(gathering)
}

impl Moment {
    /// Reads `PASS`, `PASS.2` or `all`.
    ///
    /// # Errors
    /// Returns a sentence if the target has no such pass, or the number is invalid.
    pub fn parse(text: &str, target: Target) -> Result<Moment, String> {
        if text == "all" {
            return Ok(Moment::EachChange);
        }
        let (name, run) = text.split_once('.').map_or((text, None), |(name, run)| (name, Some(run)));
        let step = steps(target).find(|step| *step == name).ok_or_else(|| unknown(name, target))?;
        let number = |run: &str| run.parse().ok().filter(|run| *run > 0);
        match run.map(|run| number(run).ok_or(run)).transpose() {
            Ok(run) => Ok(Moment::After(step, run)),
            Err(run) => Err(format!("`{run}` does not number a run of `{name}`; runs count from 1")),
        }
    }
}

fn unknown(name: &str, target: Target) -> String {
    let hint = match nearest(name, steps(target)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            format!("the passes for {} are {}", target.row().language, steps(target).collect::<Vec<_>>().join(", "))
        }
    };
    format!("unknown pass `{name}`; {hint}")
}

/// The text of the first entry point's kernel at a step.
///
/// # Errors
/// Reports constructs that the kernel form cannot express, operations that the profile lacks, and a step that runs less
/// often.
pub fn trace(
    module: &Module,
    profile: &Profile,
    moment: Moment,
    sources: Option<&SourceMap>,
) -> Result<String, Vec<Diagnostic>> {
    let mut runs: FxHashMap<&str, u32> = FxHashMap::default();
    let mut text = String::new();
    let mut watcher = |name: &'static str, changed: bool, kernel: &Kernel| {
        let run = runs.entry(name).or_insert(0);
        *run += 1;
        let shown = || format!("// after {name}.{run}\n{}", print(kernel, sources));
        match moment {
            Moment::EachChange if changed => text += &(shown() + "\n"),
            Moment::After(step, wanted) if step == name && wanted.is_none_or(|wanted| wanted == *run) => text = shown(),
            _ => {}
        }
    };
    let end = watch(module, &Specializations::new(), profile, &mut watcher);
    match moment {
        // The text before an error helps to find its cause.
        _ if !text.is_empty() => Ok(text),
        Moment::After(step, run) => {
            end?;
            Err(vec![too_few(step, run, runs.get(step).copied().unwrap_or(0))])
        }
        Moment::EachChange => end.map(|()| text),
    }
}

fn too_few(step: &str, wanted: Option<u32>, runs: u32) -> Diagnostic {
    let wanted = wanted.map(|wanted| format!(", not {wanted}")).unwrap_or_default();
    let times = if runs == 1 { "once".to_owned() } else { format!("{runs} times") };
    Diagnostic::error(Code::NOT_SUPPORTED, format!("`{step}` runs {times} on this shader{wanted}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_passes_with_numbers() {
        assert_eq!(Moment::parse("gvn", Target::Nv), Ok(Moment::After("gvn", None)));
        assert_eq!(Moment::parse("gvn.2", Target::Nv), Ok(Moment::After("gvn", Some(2))));
        assert_eq!(Moment::parse("all", Target::Nv), Ok(Moment::EachChange));
    }

    #[test]
    fn other_names_are_refused() {
        let said = |text: &str, target| Moment::parse(text, target).expect_err("no moment");
        assert_eq!(said("gvm", Target::Nv), "unknown pass `gvm`; did you mean `gvn`?");
        assert_eq!(said("gvn.0", Target::Nv), "`0` does not number a run of `gvn`; runs count from 1");
        let list = "unknown pass `inline`; the passes for SPIR-V are lower, constant_phis, gvn, simplify_cfg, if_convert, \
                    jump_threading, early_exit, dce, unroll, scalar_promotion, sroa, licm, fold_offsets, pack_private";
        assert_eq!(said("inline", Target::Spirv), list);
        assert!(said("share_moves", Target::Nv).ends_with("lower_lanes, dpp_combine, fp_contract"), "AMD's alone");
        assert!(Moment::parse("share_moves", Target::Amd).is_ok());
    }
}
