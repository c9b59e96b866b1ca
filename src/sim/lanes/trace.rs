//! The data flow of an operation, recorded once: which values are combined, and the source of each result.
//!
//! To record it, the operation runs on node numbers in place of values. If it compares two values, there is no record.

use super::bits;
use crate::ir::Scalar;
use crate::kernel::arith;
use crate::lane::ReduceOp;
use crate::lane::value::{Domain, LaneRow, LaneValue};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// Index of a value: operands, zero, the identity, the neutral value, then the reductions in order.
type Node = u16;

/// The source of a result in one lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Output {
    Node(Node),
    Bits(u64),
    Undefined,
}

impl Output {
    /// The bits, or `None` if they are undefined.
    pub fn value(self, nodes: &[u64]) -> Option<u64> {
        match self {
            Output::Node(node) => nodes.get(usize::from(node)).copied(),
            Output::Bits(bits) => Some(bits),
            Output::Undefined => None,
        }
    }
}

/// The record of one operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The operator of all reductions.
    op: ReduceOp,
    folds: Vec<[Node; 2]>,
    /// A row a result.
    pub results: Vec<Vec<Output>>,
}

impl Trace {
    /// The values of all nodes, from one row per operand.
    pub fn compute<'a>(&self, ty: Scalar, inputs: impl Iterator<Item = &'a [u64]>, nodes: &mut Vec<u64>) {
        nodes.clear();
        inputs.for_each(|row| nodes.extend_from_slice(row));
        nodes.extend([0, arith::identity(self.op, ty), arith::neutral(self.op, ty)]);
        for [a, b] in &self.folds {
            let value = bits::fold(self.op, ty, nodes[usize::from(*a)], nodes[usize::from(*b)]);
            nodes.push(value);
        }
    }
}

/// Records an operation.
pub struct Recorder {
    size: u32,
    zero: Node,
    op: Option<ReduceOp>,
    folds: Vec<[Node; 2]>,
    /// Reductions already made, so that none is made twice.
    made: FxHashMap<[Node; 2], Node>,
    /// True if the values decided something, or the operation used two operators.
    is_dynamic: Cell<bool>,
}

impl Recorder {
    pub fn new(size: u32, operands: usize) -> Recorder {
        let zero = (size as usize * operands) as Node;
        Recorder { size, zero, op: None, folds: Vec::new(), made: FxHashMap::default(), is_dynamic: Cell::new(false) }
    }

    /// The row of operand `n`.
    pub fn input(&self, n: usize) -> LaneRow<Node> {
        (0..self.size).map(|lane| LaneValue::Data((n as u32 * self.size + lane) as Node)).collect()
    }

    /// The record, when the operation gave these results.
    pub fn finish(self, results: &[LaneRow<Node>]) -> Option<Trace> {
        if self.is_dynamic.get() {
            return None;
        }
        let output = |value: &LaneValue<Node>| match *value {
            LaneValue::Poison => Output::Undefined,
            LaneValue::Data(node) => Output::Node(node),
            LaneValue::Index(index) => Output::Bits(index.into()),
            LaneValue::Bool(value) => Output::Bits(value.into()),
            LaneValue::Ballot(ballot) => Output::Bits(ballot as u64),
        };
        let results = results.iter().map(|row| row.iter().map(output).collect()).collect();
        Some(Trace { op: self.op.unwrap_or(ReduceOp::Add), folds: self.folds, results })
    }

    fn uses(&mut self, op: ReduceOp) {
        if *self.op.get_or_insert(op) != op {
            self.is_dynamic.set(true);
        }
    }
}

impl Domain for Recorder {
    type Data = Node;

    fn combine(&mut self, op: ReduceOp, a: Node, b: Node) -> Node {
        self.uses(op);
        if let Some(node) = self.made.get(&[a, b]) {
            return *node;
        }
        let node = usize::from(self.zero) + 3 + self.folds.len();
        self.is_dynamic.set(self.is_dynamic.get() | (node > Node::MAX.into()));
        self.folds.push([a, b]);
        self.made.insert([a, b], node as Node);
        node as Node
    }

    fn combine_unordered(&mut self, op: ReduceOp, values: &[Node]) -> Node {
        let folded = values.iter().copied().reduce(|a, b| self.combine(op, a, b));
        folded.unwrap_or_else(|| self.identity(op))
    }

    fn identity(&mut self, op: ReduceOp) -> Node {
        self.uses(op);
        self.zero + 1
    }

    fn neutral(&mut self, op: ReduceOp) -> Node {
        self.uses(op);
        self.zero + 2
    }

    fn zero(&mut self) -> Node {
        self.zero
    }

    fn equal(&self, _: Node, _: Node) -> bool {
        self.is_dynamic.set(true);
        false
    }

    fn same(&self, _: Node, _: Node) -> bool {
        self.is_dynamic.set(true);
        false
    }

    fn less(&self, _: Node, _: Node) -> bool {
        self.is_dynamic.set(true);
        false
    }
}
