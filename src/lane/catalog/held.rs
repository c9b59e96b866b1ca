//! Which requests the catalog has, told from a request alone: nothing is built for the answer.
//!
//! Words of 32 bits are moved alike whatever they mean, and vectors like their components; the tests hold plans against each
//! other for that. Whatever is not listed here counts as not held, and its plan is checked when it is made.

use super::{MASKS, MOVED_BY, NV_MOVED_BY, NV_WIDTHS, PARTITIONED, QUAD_MODES};
use crate::lane::op::{FoldKind, FoldOp, Group, LaneOp, Members, Width};
use crate::lane::request::{Input, Known, LaneType, Request, ScalarKind};

/// Whether a request is for an operation of the catalog with operands that it has there.
pub fn holds(request: &Request) -> bool {
    request.index.is_none() && has_stage(request) && has_width(request.op) && has_operands(request.op, request.inputs)
}

/// Only quads are planned otherwise in fragment shaders.
fn has_stage(request: &Request) -> bool {
    !request.fragment || matches!(request.op, LaneOp::Quad { float_only: true, .. } | LaneOp::QuadAdd(_))
}

/// The catalog has no segments of one lane.
fn has_width(op: LaneOp) -> bool {
    let width = match op {
        LaneOp::Vote { group: Group::Segment(width), .. } | LaneOp::LaneIndex(Group::Segment(width)) => Some(width),
        op => op.width(),
    };
    width.is_none_or(|width| width.lanes() != Some(1))
}

fn has_operands(op: LaneOp, inputs: &[Input]) -> bool {
    use LaneOp as O;
    match (op, inputs) {
        (O::Quad { float_only, .. }, [value]) => is_word(value) && (!float_only || value.ty.is_float()),
        (O::QuadAdd(_), [value, operand]) => [value, operand].iter().all(|it| is_word(it) && it.ty.is_float()),
        (O::QuadPermute(mode) | O::QuadPermuteZero(mode), [value]) => QUAD_MODES.contains(&mode) && is_word(value),
        (O::SwizzleMasked { and, or, xor }, [value]) => MASKS.contains(&(and, or, xor)) && is_word(value),
        (O::Butterfly(_) | O::BroadcastFirst, [value]) => is_word(value),
        (O::QuadBroadcast, [value, lane]) => is_word(value) && is_index(lane, &[2]),
        (O::Rotate(_) | O::Permute, [value, index]) => is_word(value) && is_index(index, &[]),
        (O::Shuffle(_), [value, index]) => is_word(value) && is_index(index, &MOVED_BY),
        (O::Bpermute, [value, index]) => is_word(value) && is_index(index, &[37]),
        (O::Broadcast, [value, lane]) => is_word(value) && is_index(lane, &[1]),
        (O::WriteLane, [old, new, lane]) => {
            is_index(lane, &[]) && (is_bool(old) && is_bool(new) || is_word(old) && is_word(new))
        }
        (O::ShuffleNv(_), [value, index, width]) => is_word(value) && is_nv(index, width),
        (O::ShuffleNvValid(_), [index, width]) => is_nv(index, width),
        _ => has_values(op, inputs),
    }
}

/// Operations that compute with what they are given, and facts.
fn has_values(op: LaneOp, inputs: &[Input]) -> bool {
    use LaneOp as O;
    match (op, inputs) {
        (O::Fold { op, kind, width, members }, [value]) => has_fold(kind, width, members) && is_folded(op, value),
        (O::Segmented { op, .. }, [value, head]) => {
            matches!(op, FoldOp::Add | FoldOp::Min | FoldOp::Max) && is(value, LaneType::F32) && is_bool(head)
        }
        (O::Sort { .. }, [key]) => is(key, LaneType::F32),
        (O::Sort { .. }, [key, value]) => is(key, LaneType::F32) && is(value, LaneType::U32),
        (O::Partition, [value]) => [LaneType::U32, LaneType::F32, LaneType::BOOL].iter().any(|ty| is(value, *ty)),
        (O::Partitioned { op, kind }, [value, sets]) => is(sets, LaneType::BALLOT) && is_partitioned(op, kind, value),
        (O::Vote { op, .. }, [value]) => is_bool(value) || op == crate::lane::VoteOp::Equal && is(value, LaneType::F32),
        (O::Ballot(group), [value]) => matches!(group, Group::Subgroup | Group::Warp) && is_bool(value),
        (O::InverseBallot | O::BallotCount(_) | O::BallotFindLsb | O::BallotFindMsb, [ballot]) => {
            is(ballot, LaneType::BALLOT)
        }
        (O::BallotBit, [ballot, lane]) => is(ballot, LaneType::BALLOT) && is_index(lane, &[]),
        (O::MaskedCount, [mask]) => is(mask, LaneType::scalar(ScalarKind::Uint, 64)),
        (O::Elect | O::ActiveMask | O::Sync | O::LaneIndex(_) | O::SegmentLast(_), []) => true,
        (O::LaneCount(group), []) => !matches!(group, Group::Segment(_)),
        (O::LaneMask(_, group), []) => matches!(group, Group::Subgroup | Group::Warp),
        _ => false,
    }
}

fn has_fold(kind: FoldKind, width: Width, members: Members) -> bool {
    match members {
        Members::All => true,
        Members::Active => match kind {
            FoldKind::AllReduce => true,
            FoldKind::Inclusive | FoldKind::Exclusive => width == Width::SUBGROUP,
            FoldKind::Reduce | FoldKind::ReduceLow => false,
        },
    }
}

/// Bits and bools are folded by And, Or and Xor, words by the others.
fn is_folded(op: FoldOp, value: &Input) -> bool {
    match op {
        FoldOp::And | FoldOp::Or | FoldOp::Xor => is_bool(value) || is_word(value) && !value.ty.is_float(),
        FoldOp::Add | FoldOp::Mul | FoldOp::Min | FoldOp::Max => is_word(value),
    }
}

fn is_partitioned(op: FoldOp, kind: FoldKind, value: &Input) -> bool {
    value.known == Known::Varying && PARTITIONED.contains(&(op, kind, value.ty))
}

fn is(input: &Input, ty: LaneType) -> bool {
    input.known == Known::Varying && input.ty == ty
}

fn is_bool(input: &Input) -> bool {
    is(input, LaneType::BOOL)
}

/// A word of 32 bits or a vector of such, whatever it means.
fn is_word(input: &Input) -> bool {
    input.known == Known::Varying && input.ty.width == 32
}

/// A number that may be any or is one of these.
fn is_index(input: &Input, constants: &[u32]) -> bool {
    let known = match input.known {
        Known::Varying => true,
        Known::Uniform => false,
        Known::Constant(value) => constants.contains(&value),
    };
    known && matches!(input.ty, LaneType::U32 | LaneType::I32)
}

fn is_nv(index: &Input, width: &Input) -> bool {
    is_index(index, &NV_MOVED_BY) && is_index(width, &NV_WIDTHS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::catalog::{Sample, all};
    use crate::lane::planner::unproven;
    use crate::profile::Profile;
    use std::collections::HashSet;

    type Key = (LaneOp, Vec<Input>, bool);

    /// What plans do not tell apart: words by their meaning where they are only moved, or folded with a sign or without.
    fn key(op: LaneOp, inputs: &[Input], fragment: bool) -> Key {
        let keeps_floats = matches!(
            op,
            LaneOp::Fold { .. }
                | LaneOp::Quad { float_only: true, .. }
                | LaneOp::QuadAdd(_)
                | LaneOp::Vote { .. }
                | LaneOp::Segmented { .. }
                | LaneOp::Sort { .. }
                | LaneOp::Partition
                | LaneOp::Partitioned { .. }
        );
        let plain = |input: &Input| {
            let is_plain = input.ty == LaneType::I32 || input.ty == LaneType::F32 && !keeps_floats;
            if is_plain { Input { ty: LaneType::U32, ..*input } } else { *input }
        };
        (op, inputs.iter().map(plain).collect(), fragment)
    }

    /// The same operation with another operand here and there.
    fn variants(sample: &Sample) -> Vec<Vec<Input>> {
        let types = [
            LaneType::BOOL,
            LaneType::U32,
            LaneType::I32,
            LaneType::F32,
            LaneType::BALLOT,
            LaneType::scalar(ScalarKind::Float, 64),
            LaneType::scalar(ScalarKind::Uint, 16),
            LaneType::scalar(ScalarKind::Uint, 64),
        ];
        let known = [Known::Varying, Known::Uniform, Known::Constant(1), Known::Constant(5), Known::Constant(16)];
        let others = types.iter().flat_map(|ty| known.map(|known| Input { ty: *ty, known }));
        let at = |n: usize| {
            others.clone().map(move |other| {
                let mut inputs = sample.inputs.clone();
                inputs[n] = other;
                inputs
            })
        };
        (0..sample.inputs.len()).flat_map(at).chain([sample.inputs.clone()]).collect()
    }

    #[test]
    fn what_is_held_is_in_the_catalog_and_most_of_that_is_held() {
        let samples = all();
        let catalog: HashSet<Key> = samples.iter().map(|it| key(it.op, &it.inputs, it.fragment)).collect();
        let mut held = 0;
        for sample in &samples {
            for inputs in variants(sample) {
                for fragment in [false, true] {
                    let request = Request { inputs: &inputs, fragment, ..sample.request() };
                    let is_vector = inputs.iter().any(|input| input.ty.components > 1);
                    if holds(&request) && !is_vector {
                        assert!(catalog.contains(&key(sample.op, &inputs, fragment)), "{request:?}");
                    }
                }
            }
            held += usize::from(holds(&sample.request()));
        }
        assert!(held * 100 > samples.len() * 98, "{held} of {} samples", samples.len());
        let row = [0; 64];
        assert!(!samples.iter().any(|sample| holds(&Request { index: Some(&row), ..sample.request() })));
        let one = Width::new(1).expect("a power of two");
        let narrow = |sample: &Sample| holds(&Request { op: sample.op.with_width(one), ..sample.request() });
        assert!(!samples.iter().any(|sample| sample.op.width().is_some() && narrow(sample)));
    }

    /// Words that differ in their meaning, and vectors on SPIR-V, which alone plans them whole.
    #[test]
    fn what_counts_as_the_same_has_the_same_plan() {
        for name in ["spirv-1.3", "nv-fermi", "nv-ampere", "gfx701", "gfx900", "gfx1030-wave64"] {
            let profile = Profile::named(name).expect("a profile");
            for sample in all() {
                let plan = unproven(&sample.request(), &profile);
                for ty in [LaneType::U32, LaneType::I32, LaneType::F32] {
                    for components in 1..=if name == "spirv-1.3" { 4 } else { 1 } {
                        let mut inputs = sample.inputs.clone();
                        let Some(value) = inputs.first_mut().filter(|value| value.ty.width == 32) else { continue };
                        value.ty = LaneType { components, ..ty };
                        let request = Request { inputs: &inputs, ..sample.request() };
                        let is_same =
                            key(sample.op, &inputs, false) == key(sample.op, &sample.inputs, false) || components > 1;
                        if is_same && holds(&request) && holds(&sample.request()) {
                            assert_eq!(unproven(&request, &profile), plan, "{request:?} on {name}");
                        }
                    }
                }
            }
        }
    }
}
