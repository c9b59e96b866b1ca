//! The dictionary of cross-lane operations ([`crate::dictionary`]) for readers: [`answer`] reports one name, [`page`] writes the
//! book's page.

pub mod answer;
pub mod page;

use super::book::topics::{Example, TOPICS};
use crate::ir::ScalarKind;
use crate::lane::{Input, LaneOp, LaneType, Role};

/// Operands for an operation: its example in the book, otherwise typical ones.
pub fn operands(op: LaneOp) -> Vec<Input> {
    let example = TOPICS.iter().flat_map(|topic| topic.examples).find(|example: &&Example| example.op == op);
    example.map_or_else(|| typical(op), |example| example.inputs.to_vec())
}

fn typical(op: LaneOp) -> Vec<Input> {
    let (row, needed) = (op.signature(), op.signature().arity().0);
    let operand = |role| match role {
        Role::Number | Role::SameNumber | Role::Key => Input::varying(LaneType::F32),
        Role::Bool => Input::varying(LaneType::BOOL),
        Role::Ballot | Role::Partition => Input::varying(LaneType::BALLOT),
        Role::Mask => Input::varying(LaneType::scalar(ScalarKind::Uint, 64)),
        Role::Index if row.modulo.is_none() || row.uniform.is_some() => Input::constant(1),
        Role::NvWidth => Input::constant(8),
        Role::Index | Role::Data | Role::Same | Role::Class | Role::Bits | Role::Rider => Input::varying(LaneType::U32),
    };
    row.params.iter().take(needed).map(|param| operand(param.role)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::portable;
    use crate::grammar::SPELLINGS;
    use crate::ir::spanning::programs;
    use crate::lane::planner::unproven;
    use crate::lane::spanning::Given;
    use crate::lane::{Activity, Request};
    use crate::profile::Profile;

    #[test]
    fn every_row_of_another_language_has_a_portable_name_and_code() {
        let profile = Profile::named("gfx900").expect("built in");
        for row in SPELLINGS {
            let Some(op) = row.op else {
                assert!(!row.note.is_empty(), "{}: no operation and no advice", row.name);
                continue;
            };
            assert!(!portable(op).is_empty(), "{}: no portable name", row.name);
            let inputs = operands(op);
            let request =
                Request { op, inputs: (&inputs).into(), activity: Activity::Any, index: None, fragment: false };
            let given = Given { invocations: Some(256), ..Given::of(&request, false) };
            let is_planned = unproven(&request, &profile).is_ok() || !programs(op, given, &profile).is_empty();
            assert!(is_planned, "{}: no plan", row.name);
        }
    }
}
