//! Comparisons that disable lanes: `V_CMPX` instead of `V_CMP` and the scalar logic that writes its result to EXEC.
//!
//! Source: "Vector ALU comparison" in AMD's RDNA 2 and RDNA 3 ISA guides. Up to gfx9 `V_CMPX` also writes a scalar
//! register, and most memory accesses after it would wait for EXEC, so there the scalar unit writes it.

use super::Walk;
use crate::backend::amd::hazards;
use crate::backend::amd::machine::{Code, Inst, Operand, Special};
use crate::backend::amd::mnemonic::Operation;
use smallvec::smallvec;

const EXEC: Operand = Operand::Special(Special::Exec);

/// Relations and their negations, including for NaNs.
macro_rules! opposites {
    ($($relation:literal, $opposite:literal: $($ty:literal)+;)+) => {
        &[$($((concat!($relation, "_", $ty), concat!($opposite, "_", $ty)),)+)+]
    };
}

const OPPOSITES: &[(&str, &str)] = opposites! {
    "eq", "ne": "i32" "u32" "i64" "u64";
    "lt", "ge": "i32" "u32" "i64" "u64";
    "le", "gt": "i32" "u32" "i64" "u64";
    "eq", "neq": "f32" "f64";
    "lt", "nlt": "f32" "f64";
    "le", "nle": "f32" "f64";
    "gt", "ngt": "f32" "f64";
    "ge", "nge": "f32" "f64";
};

fn opposite(relation: &str) -> Option<&'static str> {
    OPPOSITES.iter().find_map(|(a, b)| match relation {
        _ if relation == *a => Some(*b),
        _ if relation == *b => Some(*a),
        _ => None,
    })
}

/// The lanes that a scalar instruction leaves active.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Leaves {
    /// The lanes of a mask.
    Named,
    /// The lanes outside a mask.
    Others,
    /// The lanes of a mask; the instruction saves the previous EXEC in a register.
    NamedAndSaves,
}

/// The lanes that an instruction leaves active, and its mask operand.
fn leaves(inst: &Inst) -> Option<(Leaves, usize)> {
    use Operation as O;
    let writes_exec = inst.defs[..] == [EXEC];
    match inst.operation()? {
        O::ScalarAnd | O::ScalarAnd64 if writes_exec => {
            inst.uses.iter().position(|operand| *operand != EXEC).map(|n| (Leaves::Named, n))
        }
        O::ScalarAndNot | O::ScalarAndNot64 if writes_exec => Some((Leaves::Others, 1)),
        O::SaveExecAnd | O::SaveExecAnd64 => Some((Leaves::NamedAndSaves, 0)),
        _ => None,
    }
}

impl Walk<'_> {
    /// Makes a comparison write EXEC if its result alone decides which lanes stay active.
    pub fn compare_into_exec(&mut self, at: usize) {
        let outer = &self.block.insts[at];
        let Some((leaves, slot)) = leaves(outer) else { return };
        let is_of_exec = leaves == Leaves::NamedAndSaves || outer.uses[1 - slot] == EXEC;
        if !is_of_exec || !self.condition_is_dead[at] || !hazards::compares_into_exec(self.arch) {
            return;
        }
        let Some((inner, compare)) =
            self.maker(at, slot).and_then(|inner| Some((inner, self.compared(inner, leaves)?)))
        else {
            return;
        };
        // Saving takes a separate instruction: still two, but the second does not wait for the first.
        if leaves == Leaves::NamedAndSaves {
            let narrow = outer.operation() == Some(Operation::SaveExecAnd);
            let code = Code::Real(if narrow { Operation::ScalarMove } else { Operation::ScalarMove64 });
            let save = Inst { code, uses: smallvec![EXEC], ..outer.clone() };
            self.put_before(at, save);
        }
        self.replace(at, [inner], compare);
    }

    /// A comparison that writes EXEC.
    fn compared(&self, at: usize, leaves: Leaves) -> Option<Inst> {
        let inst = &self.block.insts[at];
        if inst.operation() != Some(Operation::Compare) {
            return None;
        }
        let code = Code::Real(Operation::CompareExec);
        let mut compare = Inst { code, defs: smallvec![], ..inst.clone() };
        if leaves == Leaves::Others {
            compare.modifiers.suffix = opposite(inst.modifiers.suffix)?;
        }
        Some(compare)
    }
}
