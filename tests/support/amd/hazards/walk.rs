//! Hazards on paths that a run does not take: walks through a program that take arbitrary sides of branches.

use super::super::inst::Unit;
use super::super::program::Program;
use super::Hazards;

/// Number of walks, and maximum number of instructions in each.
const WALKS: u64 = 24;
const STEPS: usize = 600;

/// The first hazard on some walks, which are the same each time.
pub fn walk(program: &Program) -> Result<(), String> {
    let branches = program.insts.iter().any(|inst| inst.unit == Unit::Branch && inst.name != "s_branch");
    (0..if branches { WALKS } else { 1 }).try_for_each(|seed| once(program, seed))
}

fn once(program: &Program, seed: u64) -> Result<(), String> {
    let mut hazards = Hazards::new(&program.target);
    let mut at = program.entry;
    let mut choices = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for _ in 0..STEPS {
        let Some(inst) = program.insts.get(at).filter(|inst| inst.name != "s_endpgm") else { return Ok(()) };
        let wrong = |why| format!("line {}: {}: on walk {seed}: {why}", inst.line, inst.text);
        inst.halves().try_for_each(|inst| hazards.check(inst)).map_err(wrong)?;
        inst.halves().try_for_each(|inst| hazards.record(inst)).map_err(wrong)?;
        at += 1;
        if inst.unit == Unit::Branch {
            choices = choices.rotate_left(7).wrapping_mul(0x2545_f491_4f6c_dd1d);
            if inst.name == "s_branch" || choices >> 63 == 1 {
                at = program.destination(inst)?;
            }
        }
    }
    Ok(())
}
