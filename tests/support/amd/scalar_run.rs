//! The scalar unit: operands, results, SCC, and writes to EXEC.

use super::float::extreme;
use super::inst::{Code, Inst};
use super::operand::{EXEC, Kind, SCC};
use super::scalar::Scalar;
use super::state::{State, Value};

/// Runs a scalar instruction; `ieee` is the mode of minima and maxima.
pub fn run(state: &mut State, inst: &Inst, ieee: bool) -> Result<(), String> {
    match &inst.code {
        Code::Scalar(scalar) => plain(state, inst, scalar, ieee),
        Code::SaveExec { operation, bits } => save_exec(state, inst, operation, *bits),
        _ => Err("the scalar unit does not do this".to_owned()),
    }
}

/// Operations in which each result bit depends only on certain bits of the sources, so that undefined bits do not
/// spread.
const BITWISE: [&str; 18] = [
    "s_mov",
    "s_not",
    "s_and",
    "s_or",
    "s_nand",
    "s_nor",
    "s_lshl_",
    "s_lshr",
    "s_ashr",
    "s_bfe",
    "s_brev",
    "s_wqm",
    "s_cselect",
    "s_cmov",
    "s_quadmask",
    "s_bitreplicate",
    "s_bitcmp",
    "s_pack",
];

fn plain(state: &mut State, inst: &Inst, scalar: &Scalar, ieee: bool) -> Result<(), String> {
    let values = sources(state, inst, scalar)?;
    let mut all = [Value::default(); 3];
    all.iter_mut().zip(values).for_each(|(place, value)| *place = value);
    if scalar.reads_scc {
        all[2] = state.scalars(SCC, 1);
    }
    let (mut value, scc) = apply(inst, scalar, all);
    if ieee && has_mode(inst) && value.undefined == 0 {
        value.bits = extreme(all[0].bits, all[1].bits, Kind::Float32, inst.name == "s_max_f32", true);
    }
    write(state, inst, scalar, value)?;
    if scalar.writes_scc {
        state.set_scc(scc.bits != 0, scc.undefined == 0);
    }
    Ok(())
}

/// Returns true for a minimum or maximum that a mode of the wave changes.
pub fn has_mode(inst: &Inst) -> bool {
    ["s_min_f32", "s_max_f32"].contains(&&inst.name[..])
}

fn sources(state: &State, inst: &Inst, scalar: &Scalar) -> Result<Vec<Value>, String> {
    let mut values = Vec::new();
    if scalar.accumulates {
        values.push(state.uniform(&inst.args[0], scalar.sources[0])?);
    }
    for (arg, kind) in inst.args[inst.results..].iter().zip(&inst.kinds) {
        values.push(state.uniform(arg, *kind)?);
    }
    Ok(values)
}

/// The result and SCC.
fn apply(inst: &Inst, scalar: &Scalar, values: [Value; 3]) -> (Value, Value) {
    let (bits, scc) = (scalar.apply)(values.map(|value| value.bits));
    let any = values.iter().fold(0, |any, value| any | value.undefined);
    if any == 0 {
        return (Value::of(bits), Value::of(scc.into()));
    }
    let is_bitwise = BITWISE.iter().any(|name| inst.name.starts_with(name)) && !inst.name.starts_with("s_xor");
    if !is_bitwise {
        let all = if inst.name.contains("xor") || inst.name.contains("xnor") { any } else { u64::MAX };
        return (Value { bits, undefined: all }, Value { bits: scc.into(), undefined: 1 });
    }
    let (high, scc_high) = (scalar.apply)(values.map(|value| value.bits | value.undefined));
    let (low, scc_low) = (scalar.apply)(values.map(|value| value.bits & !value.undefined));
    (Value { bits, undefined: high ^ low }, Value { bits: scc.into(), undefined: u64::from(scc_high != scc_low) })
}

fn write(state: &mut State, inst: &Inst, scalar: &Scalar, value: Value) -> Result<(), String> {
    let Some(kind) = scalar.result else { return Ok(()) };
    let first = inst.args[0].scalar()?;
    let is_exec = first == EXEC || first == EXEC + 1;
    if is_exec && value.undefined & if kind == Kind::Int64 { u64::MAX } else { 0xffff_ffff } != 0 {
        return Err("EXEC would be undefined".to_owned());
    }
    state.set_scalars(first, kind.registers(), value);
    Ok(())
}

fn save_exec(state: &mut State, inst: &Inst, operation: &str, bits: usize) -> Result<(), String> {
    if bits != state.target.wave {
        return Err("the mask is not as wide as the wave".to_owned());
    }
    let kind = if bits == 64 { Kind::Int64 } else { Kind::Int32 };
    let source = state.uniform(&inst.args[1], kind)?;
    let exec = state.exec();
    let apply = |source: u64| match operation {
        "and" => source & exec,
        "or" => source | exec,
        "xor" => source ^ exec,
        "andn2" | "and_not1" => source & !exec,
        "orn2" | "or_not1" => source | !exec,
        "andn1" | "and_not0" => !source & exec,
        "orn1" | "or_not0" => !source | exec,
        "nand" => !(source & exec),
        "nor" => !(source | exec),
        _ => !(source ^ exec),
    };
    let all = state.target.all_lanes();
    if (apply(source.bits | source.undefined) ^ apply(source.bits & !source.undefined)) & all != 0 {
        return Err("EXEC would be undefined".to_owned());
    }
    state.set_scalars(inst.args[0].scalar()?, bits / 32, Value::of(exec));
    state.set_exec(apply(source.bits) & all);
    state.set_scc(state.exec() != 0, true);
    Ok(())
}
