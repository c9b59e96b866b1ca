//! Atomic operations in the interpreter and in the pseudo-code: the new value and the returned value.

use super::compare::{Case, Part, alike};
use super::operands::{Random, any, extremes};
use support::amd::single::{Atom, Kind};
use support::pcode::{Run, Texts, Value};

/// Operands for each instruction: all pairs of special values, and as many random ones.
const MOST: usize = 6000;

/// Everything that differs.
pub fn differences(texts: &Texts, name: &str, atom: Atom) -> Result<Vec<Case>, String> {
    let (width, kind) = (8 * atom.bytes() as u32, kind_of(name, atom));
    let list = extremes(kind);
    let mut random = Random::new(name);
    let mut run = Run::new(texts, name)?;
    let mut found = Vec::new();
    for n in 0..(2 * list.len() * list.len()).min(MOST) {
        let at = |by: usize| list.get(n / by % list.len()).copied().filter(|_| n < list.len() * list.len());
        let old = at(1).unwrap_or_else(|| any(kind, &list, &mut random));
        let first = at(list.len()).unwrap_or_else(|| any(kind, &list, &mut random));
        let second = if n % 2 == 0 { old } else { any(kind, &list, &mut random) };
        let operands = if n % 3 == 0 { [second, first] } else { [first, second] };
        let (theirs, returned) = theirs(&mut run, atom, width, old, operands)?;
        let ours = atom.apply(old, operands);
        if !alike(kind, false, ours, theirs) || returned != old {
            let sources = [old, operands[0], operands[1]];
            let kinds = [Some(kind); 3];
            found.push(Case { sources, kinds, exec: 0, lane: 0, ieee: false, part: Part::Result, kind, ours, theirs });
        }
    }
    Ok(found)
}

/// The contents of memory and the returned value after running a text.
fn theirs(run: &mut Run<'_>, atom: Atom, width: u32, old: u64, operands: [u64; 2]) -> Result<(u64, u64), String> {
    let [first, second] = operands;
    let both = Value::new(u128::from(second) << width | u128::from(first), 2 * width, support::pcode::Sort::Unsigned);
    let single = |bits| Value::unsigned(bits, width);
    run.set("ADDR", Value::unsigned(0, 64));
    run.set("MEM", single(old));
    run.set("DATA", if atom.is_lds || atom.operands() == 1 { single(first) } else { both });
    run.set("DATA2", single(second));
    run.set("RETURN_DATA", single(0));
    run.run()?;
    let of = |name| run.get(name).map(|value| value.bits as u64).ok_or_else(|| format!("{name} is not there"));
    Ok((of("MEM")?, of("RETURN_DATA")?))
}

fn kind_of(name: &str, atom: Atom) -> Kind {
    let is_float = ["_f32", "_f64"].iter().any(|suffix| name.ends_with(suffix));
    match (is_float, atom.bytes()) {
        (true, 8) => Kind::Float64,
        (true, _) => Kind::Float32,
        (false, 8) => Kind::Int64,
        (false, _) => Kind::Int32,
    }
}
