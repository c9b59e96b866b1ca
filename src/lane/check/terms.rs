//! Symbolic values: the lanes that contributed to a value, and how they were combined.

use crate::lane::op::{InvertibleOp, ReduceOp};
use crate::lane::value::{Domain, LaneValue};
use rustc_hash::FxHashMap;

/// A symbol. Equal terms are equal values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Term {
    /// The operand of a lane. Leaves with the same label are one value. Labels order keys; [`Term::NAN`] is unordered.
    Leaf {
        input: u8,
        label: u32,
    },
    Identity(ReduceOp),
    /// The neutral value, if it differs from the identity.
    Neutral(ReduceOp),
    Zero,
    /// The reduction, in any order, of these lanes' operands: bit `j` for the leaf with label `j`.
    Lanes {
        op: ReduceOp,
        input: u8,
        set: u128,
    },
    /// Another reduction: index of a [`Node`].
    Node(u32),
}

impl Term {
    /// Label of a value that is not even equal to itself.
    pub const NAN: u32 = u32::MAX;

    /// A number that distinguishes the operands of ordered reductions.
    fn rank(self) -> u64 {
        match self {
            Term::Leaf { input, label } => u64::from(input) << 32 | u64::from(label),
            Term::Node(n) => 1 << 48 | u64::from(n),
            Term::Identity(op) => 2 << 48 | op as u64,
            Term::Neutral(op) => 3 << 48 | op as u64,
            Term::Zero => 4 << 48,
            Term::Lanes { set, .. } => 5 << 48 | ((set as u64 ^ (set >> 64) as u64) & 0xFFFF_FFFF_FFFF),
        }
    }

    /// The operand and the set of lanes that a term reduces with this operator.
    fn as_lanes(self, op: ReduceOp) -> Option<(u8, u128)> {
        match self {
            Term::Leaf { input, label: label @ 0..128 } => Some((input, 1 << label)),
            Term::Lanes { op: other, input, set } if other == op => Some((input, set)),
            _ => None,
        }
    }

    /// The reduction over disjoint sets of lanes: fast, and the usual case.
    fn union(op: ReduceOp, terms: &[Term]) -> Option<Term> {
        let (input, mut set) = terms.first()?.as_lanes(op)?;
        for term in &terms[1..] {
            match term.as_lanes(op) {
                Some((other, more)) if other == input && set & more == 0 => set |= more,
                _ => return None,
            }
        }
        Some(match set.is_power_of_two() {
            true => Term::Leaf { input, label: set.trailing_zeros() },
            false => Term::Lanes { op, input, set },
        })
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Node {
    /// Both operands, the lesser first, because a reduction of two is commutative.
    Pair(ReduceOp, Term, Term),
    /// Contributions in ascending order, folded in any order.
    Bag(ReduceOp, Vec<Term>),
    /// The first term without the second, which is not known to be part of it.
    Rest(ReduceOp, Term, Term),
}

/// The properties of values that a proof may use.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Traits {
    /// True if the order of reductions matters.
    pub ordered: bool,
    /// True if values are floats, for which `x + 0` is not always `x`.
    pub float: bool,
    /// True if values are keys with a total order, where equal keys have equal bits: sorted integers.
    pub total: bool,
}

/// All reductions of one run. If order does not matter, every reduction is the multiset of its contributions.
pub struct Terms {
    traits: Traits,
    nodes: Vec<Node>,
    interned: FxHashMap<Node, u32>,
    /// Reductions of two terms in no order, so that invocations with the same terms share the work.
    pairs: FxHashMap<(ReduceOp, Term, Term), Term>,
}

impl Terms {
    pub fn new(traits: Traits) -> Terms {
        Terms { traits, nodes: Vec::new(), interned: FxHashMap::default(), pairs: FxHashMap::default() }
    }

    fn intern(&mut self, node: Node) -> Term {
        let nodes = &mut self.nodes;
        Term::Node(*self.interned.entry(node).or_insert_with_key(|node| {
            nodes.push(node.clone());
            nodes.len() as u32 - 1
        }))
    }

    fn pair(&mut self, op: ReduceOp, a: Term, b: Term) -> Term {
        if let Some(known) = self.pairs.get(&(op, a, b)) {
            return *known;
        }
        let combined = self.combine_unordered(op, &[a, b]);
        if matches!(combined, Term::Node(_)) {
            self.pairs.insert((op, a, b), combined);
        }
        combined
    }

    /// The contributions of a term to a bag of this operator.
    fn contributions(&self, op: ReduceOp, term: Term, into: &mut Vec<Term>) {
        match term {
            Term::Lanes { op: other, input, set } if other == op => {
                into.extend((0..128).filter(|bit| set >> bit & 1 != 0).map(|label| Term::Leaf { input, label }));
            }
            Term::Node(n) => match &self.nodes[n as usize] {
                Node::Bag(other, terms) if *other == op => into.extend(terms),
                _ => into.push(term),
            },
            _ => into.push(term),
        }
    }

    /// The lesser or greater of two keys.
    fn extreme(&self, op: ReduceOp, a: Term, b: Term) -> Option<Term> {
        let (Term::Leaf { label: x, .. }, Term::Leaf { label: y, .. }) = (a, b) else { return None };
        match op {
            _ if !self.traits.total => None,
            ReduceOp::Min => Some(if x <= y { a } else { b }),
            ReduceOp::Max => Some(if x >= y { a } else { b }),
            _ => None,
        }
    }

    /// A value for people: `3` is lane 3's operand, `(0·1)` a reduction in this order, `{0 1}` one in any order.
    pub fn show(&self, value: LaneValue<Term>) -> String {
        match value {
            LaneValue::Data(term) => self.show_term(term),
            LaneValue::Poison => "something undefined".into(),
            LaneValue::Index(index) => format!("index {index}"),
            LaneValue::Bool(value) => value.to_string(),
            LaneValue::Ballot(bits) => format!("ballot {bits:#x}"),
        }
    }

    fn show_term(&self, term: Term) -> String {
        match term {
            Term::Leaf { input: 0, label } => label.to_string(),
            Term::Leaf { input, label } => format!("{label}/{input}"),
            Term::Identity(op) => format!("identity of {op:?}"),
            Term::Neutral(op) => format!("nothing to {op:?}"),
            Term::Zero => "zero".into(),
            Term::Lanes { set, .. } => {
                let lanes = (0..128).filter(|bit| set >> bit & 1 != 0).map(|bit| bit.to_string());
                format!("{{{}}}", lanes.collect::<Vec<_>>().join(" "))
            }
            Term::Node(n) => match &self.nodes[n as usize] {
                Node::Pair(_, a, b) => format!("({}·{})", self.show_term(*a), self.show_term(*b)),
                Node::Rest(_, a, b) => format!("({} without {})", self.show_term(*a), self.show_term(*b)),
                Node::Bag(_, terms) => {
                    let terms: Vec<String> = terms.iter().map(|term| self.show_term(*term)).collect();
                    format!("{{{}}}", terms.join(" "))
                }
            },
        }
    }
}

impl Domain for Terms {
    type Data = Term;

    fn combine(&mut self, op: ReduceOp, a: Term, b: Term) -> Term {
        if let Some(extreme) = self.extreme(op, a, b) {
            return extreme;
        }
        let neutral = self.neutral(op);
        match self.traits.ordered {
            _ if a == neutral => b,
            _ if b == neutral => a,
            _ if a == b && op.is_idempotent() => a,
            true if a.rank() <= b.rank() => self.intern(Node::Pair(op, a, b)),
            true => self.intern(Node::Pair(op, b, a)),
            false => self.pair(op, a, b),
        }
    }

    /// Every contribution of `part` must be one of `total`.
    fn remove(&mut self, op: InvertibleOp, total: Term, part: Term) -> Option<Term> {
        if self.traits.float {
            return None;
        }
        let op = op.folds();
        let [mut left, mut taken] = [Vec::new(), Vec::new()];
        self.contributions(op, total, &mut left);
        self.contributions(op, part, &mut taken);
        for term in taken {
            let place = left.iter().position(|other| *other == term);
            match place {
                Some(place) => drop(left.remove(place)),
                None => return Some(self.intern(Node::Rest(op, total, part))),
            }
        }
        Some(self.combine_unordered(op, &left))
    }

    fn combine_unordered(&mut self, op: ReduceOp, values: &[Term]) -> Term {
        if values.is_empty() {
            return Term::Identity(op);
        }
        if let Some(lanes) = Term::union(op, values) {
            return lanes;
        }
        let mut bag = Vec::with_capacity(values.len());
        values.iter().for_each(|value| self.contributions(op, *value, &mut bag));
        bag.sort_unstable();
        match bag.as_slice() {
            [single] => *single,
            _ => self.intern(Node::Bag(op, bag)),
        }
    }

    fn identity(&mut self, op: ReduceOp) -> Term {
        Term::Identity(op)
    }

    fn neutral(&mut self, op: ReduceOp) -> Term {
        if self.traits.float && op == ReduceOp::Add { Term::Neutral(op) } else { Term::Identity(op) }
    }

    fn zero(&mut self) -> Term {
        Term::Zero
    }

    fn equal(&self, a: Term, b: Term) -> bool {
        a == b && !matches!(a, Term::Leaf { label: Term::NAN, .. })
    }

    fn less(&self, a: Term, b: Term) -> bool {
        match (a, b) {
            (Term::Leaf { label: a, .. }, Term::Leaf { label: b, .. }) => a < b && b != Term::NAN,
            _ => false,
        }
    }
}
