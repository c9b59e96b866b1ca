//! The names of instructions and functions that the profiles' own plans are made of.

use super::{Entry, Means, general, operands};
use crate::backend::Backend;
use crate::ir::ScalarKind;
use crate::lane::planner::unproven;
use crate::lane::{Activity, LaneOp, Plan, Primitive, Request, StepOp, catalog};
use crate::profile::{Profile, Target};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A target, a name and an operation, with the number of steps of the shortest plan.
type Found = BTreeMap<(Target, Cow<'static, str>, LaneOp), usize>;

/// The names that targets have for all operations of the catalog, those of the shortest plans first.
pub fn of_targets() -> Vec<Entry> {
    let mut found = Found::new();
    let profiles = distinct();
    for sample in catalog::all() {
        profiles.iter().for_each(|profile| gather(&sample.request(), profile, &mut found));
    }
    entries(found)
}

/// The names that targets have for just an operation.
pub fn of_op(op: LaneOp) -> Vec<Entry> {
    let mut found = Found::new();
    let inputs = operands(op);
    let request = Request { op, inputs: (&inputs).into(), activity: Activity::Any, index: None, fragment: false };
    distinct().iter().for_each(|profile| gather(&request, profile, &mut found));
    let mut entries = entries(found);
    entries.retain(|entry| matches!(entry.means, Means::Is(_)));
    entries
}

/// The built-in profiles, but for those that plan like another one.
fn distinct() -> Vec<Profile> {
    let mut profiles: Vec<Profile> = Vec::new();
    for profile in Profile::all() {
        let is_known = |other: &Profile| other.target == profile.target && other.plans_like(&profile);
        if !profiles.iter().any(is_known) {
            profiles.push(profile);
        }
    }
    profiles
}

fn gather(request: &Request, profile: &Profile, found: &mut Found) {
    let Ok(plan) = unproven(request, profile) else { return };
    let steps = plan.steps.len();
    let kinds = match request.inputs.first() {
        Some(input) if !input.ty.is_float() => vec![input.ty.kind, ScalarKind::Uint],
        Some(input) => vec![input.ty.kind],
        None => vec![ScalarKind::Uint],
    };
    for (primitive, kind) in moved(&plan).flat_map(|primitive| kinds.iter().map(move |kind| (primitive, *kind))) {
        for name in names(primitive, kind, profile.target) {
            let least = found.entry((profile.target, name, general(request.op))).or_insert(steps);
            *least = steps.min(*least);
        }
    }
}

/// The instructions of a plan that reach other lanes.
fn moved(plan: &Plan) -> impl Iterator<Item = Primitive> + '_ {
    plan.steps.iter().filter_map(|step| match step.op {
        StepOp::Prim(primitive) | StepOp::CombineMoved(_, primitive) => Some(primitive),
        _ => None,
    })
}

/// The names of an instruction without what follows a colon, and that of the move that carries a control of DPP.
fn names(primitive: Primitive, kind: ScalarKind, target: Target) -> Vec<Cow<'static, str>> {
    let Some(name) = (Backend::of(target).mnemonic)(primitive, kind).filter(|name| !name.contains(' ')) else {
        return Vec::new();
    };
    let name = name.split(':').next().unwrap_or_default().to_owned().into();
    match primitive {
        Primitive::Dpp16(_) => vec![name, "v_mov_b32_dpp".into()],
        Primitive::Dpp8(_) => vec![name, "v_mov_b32_dpp8".into()],
        _ => vec![name],
    }
}

fn entries(found: Found) -> Vec<Entry> {
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_by_key(|(_, steps)| *steps);
    let entry = |((target, name, op), steps): ((Target, Cow<'static, str>, LaneOp), usize)| Entry {
        name,
        language: language(target),
        means: if steps == 1 { Means::Is(op) } else { Means::StepOf(op) },
        note: "",
    };
    found.into_iter().map(entry).collect()
}

/// The language of a target's instructions.
const fn language(target: Target) -> &'static str {
    match target {
        Target::Amd => "AMD assembly",
        Target::Nv => "NVIDIA assembly",
        _ => target.row().language,
    }
}
