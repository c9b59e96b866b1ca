//! Vector instructions that access other lanes without DPP.

use super::inst::{Code, Inst};
use super::operand::{Arg, Kind};
use super::state::{Row, State, Value};

/// Lanes of a row.
const ROW: usize = 16;

/// V_READLANE and the like.
pub fn run(state: &mut State, inst: &Inst) -> Result<(), String> {
    match &inst.code {
        Code::ReadLane => read_lane(state, inst),
        Code::ReadFirstLane => {
            let lane = state.active().next().unwrap_or(0);
            read(state, inst, lane)
        }
        Code::WriteLane => write_lane(state, inst),
        Code::Permlane16 { crosses, by_lane } => permlane16(state, inst, *crosses, *by_lane),
        _ => permlane64(state, inst),
    }
}

/// The lane that an operand selects.
fn selected(state: &State, arg: &Arg) -> Result<usize, String> {
    let lane = state.uniform(arg, Kind::Int32)?.defined("the lane")?;
    Ok(lane as usize % state.target.wave)
}

fn read_lane(state: &mut State, inst: &Inst) -> Result<(), String> {
    let lane = selected(state, &inst.args[2])?;
    read(state, inst, lane)
}

fn read(state: &mut State, inst: &Inst, lane: usize) -> Result<(), String> {
    let value = state.lane(inst.args[1].vector()?, 1, lane);
    state.set_scalars(inst.args[0].scalar()?, 1, value);
    Ok(())
}

fn write_lane(state: &mut State, inst: &Inst) -> Result<(), String> {
    let lane = selected(state, &inst.args[2])?;
    let value = state.uniform(&inst.args[1], Kind::Int32)?;
    state.set_lane(inst.args[0].vector()?, 1, lane, value);
    Ok(())
}

/// Each lane reads a lane of its own row or of the other row of the pair; selectors are nibbles of two scalars, or a
/// number in each lane.
fn permlane16(state: &mut State, inst: &Inst, crosses: bool, by_lane: bool) -> Result<(), String> {
    let (fetch_inactive, bound_ctrl) = flags(inst);
    let exec = state.exec();
    let from = state.row(&inst.args[1], Kind::Int32)?;
    let selectors = if by_lane { state.row(&inst.args[2], Kind::Int32)? } else { nibbles(state, inst)? };
    let mut row = from;
    let mut mask = exec;
    for lane in state.active() {
        let pick = selectors[lane].defined("a selector")? as usize % ROW;
        let source = (lane & !(ROW - 1) ^ if crosses { ROW } else { 0 }) | pick;
        row[lane] = from[source];
        if exec >> source & 1 == 0 && !fetch_inactive {
            row[lane] = Value::of(0);
            mask &= !(u64::from(!bound_ctrl) << lane);
        }
    }
    state.set_row(inst.args[0].vector()?, 1, &row, mask);
    Ok(())
}

/// `op_sel:[fi,bound_ctrl]`.
fn flags(inst: &Inst) -> (bool, bool) {
    let list = inst.modifier("op_sel").unwrap_or_default();
    let mut bits = list.trim_matches(['[', ']']).split(',').map(|bit| bit.trim() == "1");
    (bits.next().unwrap_or(false), bits.next().unwrap_or(false))
}

/// Two scalars as a selector for each lane of a row.
fn nibbles(state: &State, inst: &Inst) -> Result<Row, String> {
    let word = |arg| state.uniform(arg, Kind::Int32)?.defined("a selector");
    let all = word(&inst.args[3])? << 32 | word(&inst.args[2])?;
    Ok(std::array::from_fn(|lane| Value::of(all >> (4 * (lane % ROW)) & 15)))
}

/// Swaps the halves of a wave; does nothing in a wave with only one half.
fn permlane64(state: &mut State, inst: &Inst) -> Result<(), String> {
    if state.target.wave == 32 {
        return Ok(());
    }
    let from = state.row(&inst.args[1], Kind::Int32)?;
    let row: Row = std::array::from_fn(|lane| from[lane ^ 32]);
    let exec = state.exec();
    state.set_row(inst.args[0].vector()?, 1, &row, exec);
    Ok(())
}

/// Swaps two registers, or odd rows (or the upper half) of the first with even rows (or the lower half) of the second.
pub fn swap(state: &mut State, inst: &Inst) -> Result<(), String> {
    let (first, second) = (inst.args[0].vector()?, inst.args[1].vector()?);
    let (a, b) = (state.row(&inst.args[0], Kind::Int32)?, state.row(&inst.args[1], Kind::Int32)?);
    let exec = state.exec();
    let Code::SwapRows { lanes } = inst.code else {
        state.set_row(first, 1, &b, exec);
        state.set_row(second, 1, &a, exec);
        return Ok(());
    };
    let fetch = inst.modifier("fi") == Some("1");
    // The value read from an inactive lane is undefined.
    let take = |row: &Row, from: usize| if exec >> from & 1 == 1 || fetch { row[from] } else { Value::UNDEFINED };
    let upper: Row = std::array::from_fn(|lane| if lane & lanes != 0 { take(&b, lane ^ lanes) } else { a[lane] });
    let lower: Row = std::array::from_fn(|lane| if lane & lanes == 0 { take(&a, lane ^ lanes) } else { b[lane] });
    state.set_row(first, 1, &upper, exec);
    state.set_row(second, 1, &lower, exec);
    Ok(())
}
