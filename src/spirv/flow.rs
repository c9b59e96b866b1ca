//! The blocks of a function.

use super::binary::Insn;
use super::fault::Read;
use super::module::Code;
use crate::ir::Type;
use rspirv::spirv::{Op, Word};
use rustc_hash::FxHashMap;

/// A basic block: its instructions between the label and the terminator, without the merge instruction.
#[derive(Clone, Copy, Debug)]
pub struct Block<'w> {
    pub first: usize,
    pub end: usize,
    pub merge: Option<Insn<'w>>,
    pub last: Insn<'w>,
}

/// The blocks of a function, and what defines its values.
#[derive(Debug, Default)]
pub struct Flow<'w> {
    pub entry: Word,
    pub blocks: FxHashMap<Word, Block<'w>>,
    pub params: Vec<Insn<'w>>,
    /// The instructions by their results.
    pub made_by: FxHashMap<Word, usize>,
}

/// The targets of a switch: the default first, then those of the literals with the literals' bits.
pub type Targets = (Word, Vec<(u64, Word)>);

const fn ends_block(op: Op) -> bool {
    matches!(
        op,
        Op::Branch
            | Op::BranchConditional
            | Op::Switch
            | Op::Return
            | Op::ReturnValue
            | Op::Kill
            | Op::TerminateInvocation
            | Op::Unreachable
            | Op::IgnoreIntersectionKHR
            | Op::TerminateRayKHR
            | Op::EmitMeshTasksEXT
    )
}

/// Finds the blocks of a function.
pub fn flow<'w>(insns: &[Insn<'w>], code: Code) -> Read<Flow<'w>> {
    let mut flow = Flow::default();
    let mut open: Option<(Word, usize)> = None;
    for (index, insn) in insns.iter().enumerate().take(code.end).skip(code.first + 1) {
        if insn.id != 0 && flow.made_by.insert(insn.id, index).is_some() {
            return Err(insn.wrong(format!("%{} is there already", insn.id)));
        }
        match (insn.op, open) {
            (Op::FunctionParameter, None) => flow.params.push(*insn),
            (Op::Label, None) => open = Some((insn.id, index + 1)),
            (Op::Line | Op::NoLine, None) => {}
            (Op::Label, Some(_)) => return Err(insn.wrong("the block before it has no end")),
            (_, None) => return Err(insn.wrong("it is in no block")),
            (op, Some((label, first))) if ends_block(op) => {
                let before = index.checked_sub(1).filter(|before| *before >= first).map(|before| insns[before]);
                let merge = before.filter(|insn| matches!(insn.op, Op::SelectionMerge | Op::LoopMerge));
                let end = index - usize::from(merge.is_some());
                if flow.blocks.is_empty() {
                    flow.entry = label;
                }
                flow.blocks.insert(label, Block { first, end, merge, last: *insn });
                open = None;
            }
            _ => {}
        }
    }
    match open {
        Some((label, _)) => Err(insns[code.end].wrong(format!("the block %{label} has no end"))),
        None => Ok(flow),
    }
}

/// The targets of a switch on a value of a type.
pub fn targets(insn: &Insn<'_>, selector: Type) -> Read<Targets> {
    let Type::Scalar(scalar) = selector else { return Err(insn.wrong("its selector is not an integer")) };
    if !scalar.is_int() {
        return Err(insn.wrong("its selector is not an integer"));
    }
    let wide = scalar.width == 64;
    let pairs = insn.args[2..].chunks(if wide { 3 } else { 2 }).map(|pair| match (wide, pair) {
        (false, [value, label]) => Ok((u64::from(*value) & (u64::MAX >> (64 - scalar.width)), *label)),
        (true, [low, high, label]) => Ok((u64::from(*low) | u64::from(*high) << 32, *label)),
        _ => Err(insn.wrong("a label is missing")),
    });
    Ok((insn.arg(1)?, pairs.collect::<Read<_>>()?))
}
