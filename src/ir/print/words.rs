//! The words of operations: Rust's names of the variants in snake case.

use crate::ir::{ControlHint, InstFlags, MemoryKinds, Order, Scope, SpecOp};
use std::fmt::Debug;

/// `BitfieldExtract` becomes `bitfield_extract`, `Atan2` stays one word.
pub fn snake(name: impl Debug) -> String {
    let mut text = String::new();
    for (at, letter) in format!("{name:?}").char_indices() {
        if letter.is_ascii_uppercase() && at > 0 {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

pub fn spec_op_name(op: SpecOp) -> String {
    match op {
        SpecOp::Unary(op) => snake(op),
        SpecOp::Binary(op) => snake(op),
        SpecOp::Math(function) => snake(function),
        SpecOp::Extract(index) => format!("extract.{index}"),
        SpecOp::Convert | SpecOp::Bitcast | SpecOp::Select => snake(op),
    }
}

pub fn hint_text(hint: ControlHint) -> String {
    match hint {
        ControlHint::None => String::new(),
        hint => format!(" [{}]", snake(hint)),
    }
}

pub fn flags_text(flags: InstFlags) -> String {
    flags.iter_names().map(|(name, _)| format!(" !{}", name.to_lowercase())).collect()
}

/// `barrier execution workgroup, memory workgroup (shared) acquire_release`.
pub fn barrier_text(execution: Option<Scope>, memory: Scope, kinds: MemoryKinds, order: Order) -> String {
    let execution = execution.map(|scope| format!(" execution {},", snake(scope))).unwrap_or_default();
    let kinds: Vec<String> = kinds.iter_names().map(|(name, _)| name.to_lowercase()).collect();
    format!("barrier{execution} memory {} ({}) {}", snake(memory), kinds.join(" "), snake(order))
}
