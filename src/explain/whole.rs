//! Moves of structs, arrays and matrices. The intermediate form has one move for each scalar and vector in them; this
//! module finds the moves that belong together, and names the whole.

use crate::ir::whole::is_whole;
use crate::ir::{Function, InstId, Module, Op, Type, TypeId, Value};
use crate::lane::LaneOp;
use std::collections::BTreeMap;

/// A value that is moved whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Whole {
    /// Such as `struct P of 3 members`.
    pub words: String,
    /// Number of moves that it is split into.
    pub moves: usize,
    /// The number of moves that are done in the same way.
    pub alike: usize,
}

/// Maps each move to the value that it is a part of, in one function. Such a value is built directly after its moves,
/// and from nothing else.
pub fn wholes(module: &Module, function: &Function) -> BTreeMap<InstId, Whole> {
    let mut found = BTreeMap::new();
    for id in function.blocks.iter().flat_map(|(_, block)| &block.insts) {
        let inst = &function.insts[*id];
        let mut moves = Vec::new();
        if is_whole(&module.types, inst.ty) && parts(function, *id, None, &mut moves).is_some() {
            let whole = Whole { words: words(module, inst.ty), moves: moves.len(), alike: 1 };
            found.extend(moves.into_iter().map(|part| (part, whole.clone())));
        }
    }
    found
}

/// Adds the moves that a value consists of, or `None` if it has any other part.
fn parts(function: &Function, id: InstId, op: Option<LaneOp>, moves: &mut Vec<InstId>) -> Option<LaneOp> {
    let Op::Construct(args) = function.insts[id].op else { return None };
    let mut op = op;
    for arg in function.values(args) {
        let Value::Inst(arg) = *arg else { return None };
        if function.insts[arg].span != function.insts[id].span {
            return None;
        }
        op = match function.insts[arg].op {
            Op::Lane(own, _) if op.is_none_or(|op| op == own) => {
                moves.push(arg);
                Some(own)
            }
            _ => Some(parts(function, arg, op, moves)?),
        };
    }
    op
}

fn words(module: &Module, ty: TypeId) -> String {
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    match module.types.get(ty) {
        Type::Struct(id) => {
            let of = &module.types.structs[id];
            format!("struct {} of {}", of.name, count(of.members.len(), "member"))
        }
        Type::Matrix { columns, .. } => format!("matrix of {}", count(columns.into(), "column")),
        Type::Array { len: crate::ir::ArrayLen::Fixed(len), .. } => {
            format!("array of {}", count(len as usize, "element"))
        }
        _ => "array".into(),
    }
}
