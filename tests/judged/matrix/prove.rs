//! The request of a cell to the planner, and the proof of its plan: the operations in the catalog are proven by the
//! lane engine's tests, plans for others are checked here.

use std::collections::HashSet;
use std::sync::{LazyLock, Mutex};

use crosslane::grammar::{Lowering, TypeExpr, VariableSource};
use crosslane::ir::derived::Derived;
use crosslane::lane::check::{Effort, check};
use crosslane::lane::spanning::{self, Given, Spanning};
use crosslane::lane::{Activity, Group, Input, Known, LaneOp, LaneType, Request, catalog, plan};
use crosslane::profile::{Profile, Target};

use super::domain::Domain;
use super::formula::Value;
use super::kind::Type;
use super::rows::{Callee, Unit, shape_of};
use super::shader::Shader;

/// An operation with its operands.
type Asked = (LaneOp, Vec<Input>);

/// The requests proven so far, by profile.
static PROVEN: LazyLock<Mutex<HashSet<(String, Asked)>>> = LazyLock::new(Mutex::default);

/// Proves the plans of a cell.
pub fn prove(unit: &Unit, ty: Option<Type>, profile: &Profile, effort: Effort) -> Result<(), String> {
    asked(unit, ty).into_iter().try_for_each(|asked| prove_one(asked, profile, effort))
}

fn prove_one(asked: Asked, profile: &Profile, effort: Effort) -> Result<(), String> {
    let (op, inputs) = &asked;
    let inputs = &inputs.iter().map(|input| component(input, profile)).collect::<Vec<_>>();
    let request = Request { op: *op, inputs: inputs.into(), activity: Activity::Any, index: None, fragment: false };
    if profile.is_builtin && catalog::holds(&request) {
        return Ok(());
    }
    let key = (profile.name.to_string(), asked.clone());
    if PROVEN.lock().expect("no proof panics").contains(&key) {
        return Ok(());
    }
    if let Some(program) = program(&request, profile) {
        spanning::check::check(&request, profile.reproducible, &program, effort)
            .map_err(|wrong| format!("{op:?} over subgroups: {wrong}"))?;
        PROVEN.lock().expect("no proof panics").insert(key);
        let mut inside = program.inside(&request).into_iter().map(|inner| (inner.op, inner.inputs.into_owned()));
        return inside.try_for_each(|asked| prove_one(asked, profile, effort));
    }
    let plan = plan(&request, profile).map_err(|refusal| format!("no plan for {op:?}: {refusal}"))?;
    check(&request, profile, &plan, effort).map_err(|wrong| format!("{op:?}, {:?}: {wrong}", plan.rule))?;
    PROVEN.lock().expect("no proof panics").insert(key);
    Ok(())
}

/// The program of an operation that is wider than the profile's subgroups.
fn program(request: &Request, profile: &Profile) -> Option<Spanning> {
    spanning::plan(request.op, Given::of(request, profile.reproducible), profile.wave_size?)
}

/// An operand as the planner sees it: assembly moves vectors a component at a time.
fn component(input: &Input, profile: &Profile) -> Input {
    match profile.target {
        Target::Spirv | Target::Wgsl | Target::Glsl | Target::Hlsl | Target::Msl => *input,
        Target::Nv | Target::Amd | Target::Ptx if input.ty == LaneType::BALLOT => *input,
        Target::Nv | Target::Amd | Target::Ptx => Input { ty: LaneType { components: 1, ..input.ty }, ..*input },
    }
}

/// The operations of a cell.
fn asked(unit: &Unit, ty: Option<Type>) -> Vec<Asked> {
    let arguments = Shader::types_of(unit, ty);
    match unit.row().call {
        Callee::Variable(variable) => match variable.source {
            VariableSource::Lane(op) => vec![(op, Vec::new())],
            _ => Vec::new(),
        },
        Callee::Function(overload) => {
            of_function(overload.lowering, &arguments, &|n| matches!(overload.params[n].ty, TypeExpr::Test(_)))
        }
    }
}

/// An argument: its domain, its type, and its value if constant.
type Argument = (Domain, Type, Option<Value>);

fn of_function(lowering: Lowering, arguments: &[Argument], is_test: &dyn Fn(usize) -> bool) -> Vec<Asked> {
    let operands = |but: Option<u8>| -> Vec<Input> {
        let all =
            arguments.iter().enumerate().filter(|(n, (domain, ..))| but != Some(*n as u8) && *domain != Domain::Out);
        all.map(|(n, argument)| operand(argument, is_test(n))).collect()
    };
    match lowering {
        Lowering::Lane { op, constant_arg } => {
            let said = constant_arg.and_then(|n| op.with_constants(&constants(&arguments[usize::from(n)])));
            vec![(said.unwrap_or(op), operands(constant_arg))]
        }
        Lowering::LaneAndValid { op, valid } => {
            let all = operands(None);
            vec![(valid, all[1..].to_vec()), (op, all)]
        }
        Lowering::Derived(Derived::BallotWord) => vec![(LaneOp::Ballot(Group::Subgroup), operands(Some(1)))],
        Lowering::Derived(Derived::IsFirstLane) => vec![(LaneOp::LaneIndex(Group::Subgroup), Vec::new())],
        // Arithmetic and constants.
        _ => Vec::new(),
    }
}

/// The components of a constant argument; of the logarithm of a width, the width.
fn constants((domain, ty, value): &Argument) -> Vec<u32> {
    let value = value.expect("a constant argument has a value");
    match domain {
        Domain::Log2 => vec![1 << value[0]],
        _ => value.iter().take(ty.size.into()).map(|part| *part as u32).collect(),
    }
}

fn operand((_, ty, value): &Argument, is_test: bool) -> Input {
    let scalar = shape_of(*ty).scalar();
    let known = value.filter(|_| ty.size == 1).map_or(Known::Varying, |value| Known::Constant(value[0] as u32));
    let ty = LaneType { kind: scalar.kind, width: scalar.width, components: ty.size };
    Input { ty: if is_test { LaneType::BOOL } else { ty }, known }
}
