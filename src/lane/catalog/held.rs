//! Finds a request in the catalog by walking its rows, without building any request.
//!
//! Moves treat all 32-bit words alike, and vectors like their components; the tests compare such plans with each other.
//! The plan of a request that is not in the rows is checked when it is made.

use super::rows;
use crate::lane::request::{Input, LaneType, Request, ScalarKind};
use crate::lane::signature::Role;

/// Returns true if a request is for an operation of the catalog with operands that it has there.
pub fn holds(request: &Request) -> bool {
    if request.index.is_some() {
        return false;
    }
    let params = request.op.signature().params;
    let asked = &*request.inputs;
    let is_known_so = |row: &[Input]| row.iter().map(|input| input.known).eq(asked.iter().map(|input| input.known));
    let is_like = |row: &[Input]| {
        let mut pairs = params.iter().zip(row.iter().zip(asked));
        pairs.all(|(param, (row, asked))| alike(param.role, row.ty) == alike(param.role, asked.ty))
    };
    let mut found = false;
    rows(request.op, &mut |_, row, fragment| {
        found = found || fragment == request.fragment && is_known_so(row) && is_like(row);
    });
    found
}

/// A representative type for all operand types with equal plans.
fn alike(role: Role, ty: LaneType) -> LaneType {
    let LaneType { kind, width, .. } = ty;
    match role {
        _ if width != 32 => ty,
        Role::Data | Role::Same | Role::Index | Role::NvWidth => LaneType::U32,
        Role::Number | Role::SameNumber | Role::Bits if kind != ScalarKind::Float => LaneType::U32,
        Role::Number | Role::SameNumber => LaneType::F32,
        Role::Key | Role::Rider if ty == LaneType::I32 => LaneType::U32,
        _ => ty,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lane::Width;
    use crate::lane::catalog::{Sample, all};
    use crate::lane::planner::unproven;
    use crate::lane::request::Known;
    use crate::profile::Profile;

    #[test]
    fn the_catalog_holds_its_samples_and_no_others() {
        let (row, one) = ([0; 64], Width::new(1).expect("a power of two"));
        for sample in all() {
            let request = sample.request();
            assert!(holds(&request), "{request:?}");
            assert!(!holds(&Request { index: Some((&row).into()), ..request.clone() }), "{request:?}");
            assert!(
                request.op.width().is_none() || !holds(&Request { op: request.op.with_width(one), ..request.clone() })
            );
            for n in 0..request.inputs.len() {
                let with = |other: Input| {
                    let mut inputs = sample.inputs.clone();
                    inputs[n] = other;
                    holds(&Request { inputs: (&inputs).into(), ..request.clone() })
                };
                let own = sample.inputs[n];
                assert!(!with(Input { known: Known::Uniform, ..own }), "{request:?}");
                assert!(!with(Input { known: Known::Constant(5), ..own }), "{request:?}");
                assert!(!with(Input { ty: LaneType::scalar(ScalarKind::Uint, 16), ..own }), "{request:?}");
            }
        }
    }

    /// Numbers that differ in their meaning, and vectors on SPIR-V, which alone plans them whole.
    #[test]
    fn what_counts_as_the_same_has_the_same_plan() {
        let types = [LaneType::U32, LaneType::I32, LaneType::F32];
        for name in ["spirv-1.3", "nv-fermi", "nv-ampere", "gfx701", "gfx900", "gfx1030-wave64"] {
            let profile = Profile::named(name).expect("a profile");
            let vectors = 1..=if profile.target.is_hardware() { 1 } else { 4 };
            for sample in all() {
                let plan = unproven(&sample.request(), &profile);
                for ty in types.iter().flat_map(|ty| vectors.clone().map(|components| LaneType { components, ..*ty })) {
                    check_alike(&sample, ty, |request| {
                        assert_eq!(unproven(request, &profile), plan, "{request:?} on {name}");
                    });
                }
            }
        }
    }

    /// Calls for a sample whose first operand has an equivalent type.
    fn check_alike(sample: &Sample, ty: LaneType, check: impl Fn(&Request)) {
        let mut inputs = sample.inputs.clone();
        let (Some(first), Some(role)) = (inputs.first_mut(), sample.op.signature().role(0)) else { return };
        let other = Input { ty, ..*first };
        if alike(role, other.ty) == alike(role, first.ty) {
            *first = other;
            check(&Request { inputs: (&inputs).into(), ..sample.request() });
        }
    }
}
