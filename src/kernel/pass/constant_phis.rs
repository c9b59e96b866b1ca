//! Removes constant phis: finds parameters and results of constructs that always have the same value, and replaces them
//! by it.
//!
//! A loop's parameter that each iteration passes on unchanged is its initial value; a result that is the same on all
//! exits is that value. The search is optimistic, so that values that only pass each other around are found too.
//! Undefined values agree with all others.

use crate::kernel::names::Names;
use crate::kernel::tree::{Flows, Tree};
use crate::kernel::{BlockId, Def, Kernel, Value};

/// Changes after which a join is assumed to vary.
const PATIENCE: u8 = 4;

/// Replaces constant parameters and results. Returns true if there were any.
pub fn run(kernel: &mut Kernel) -> bool {
    if kernel.is_straight() {
        return false;
    }
    let tree = Tree::new(kernel);
    let names = Merge::new(kernel, &tree).solve();
    let found = names.is_some();
    if let Some(names) = names {
        names.apply_all(kernel);
    }
    found
}

struct Merge<'k> {
    kernel: &'k Kernel,
    tree: &'k Tree,
    flows: Flows,
    /// The value of each name so far; `None` if nothing is known to flow in yet.
    known: Vec<Option<Value>>,
    /// Parameters and results, and for each value the indices of the joins that it flows into.
    joins: Vec<(Value, BlockId)>,
    users: Vec<Vec<u32>>,
}

impl<'k> Merge<'k> {
    fn new(kernel: &'k Kernel, tree: &'k Tree) -> Merge<'k> {
        let flows = Flows::new(kernel, tree);
        let mut known: Vec<Option<Value>> = kernel.values.handles().map(Some).collect();
        let mut users = vec![Vec::new(); kernel.values.len()];
        let joins = joins(kernel, tree);
        for (n, (join, _)) in joins.iter().enumerate() {
            known[join.index()] = None;
            flows.sources(*join).iter().for_each(|source| users[source.index()].push(n as u32));
        }
        Merge { kernel, tree, flows, known, joins, users }
    }

    /// The replacements; `None` if all values differ.
    fn solve(mut self) -> Option<Names> {
        let mut open: Vec<u32> = (0..self.joins.len() as u32).rev().collect();
        let mut changes = vec![0u8; self.joins.len()];
        while let Some(n) = open.pop() {
            let (join, at) = self.joins[n as usize];
            // A join that changes often keeps its own value, which is always right, so that the search takes linear
            // time.
            let met = if changes[n as usize] < PATIENCE { self.meet(join, at) } else { Some(join) };
            if met != self.known[join.index()] {
                self.known[join.index()] = met;
                changes[n as usize] += 1;
                open.extend(&self.users[join.index()]);
            }
        }
        let mut names = Names::default();
        let merged = |(join, _): &(Value, BlockId)| Some((*join, self.known[join.index()]?)).filter(|(a, b)| a != b);
        let merged: Vec<(Value, Value)> = self.joins.iter().filter_map(merged).collect();
        merged.iter().for_each(|(join, by)| names.replace(*join, *by));
        (!merged.is_empty()).then_some(names)
    }

    /// The single value that flows into a join; the join itself if there are several, or if that value is not visible
    /// there.
    fn meet(&self, join: Value, at: BlockId) -> Option<Value> {
        if self.known[join.index()] == Some(join) {
            return Some(join);
        }
        let mut met = None;
        for source in self.flows.sources(join) {
            let source = self.known[source.index()];
            match (met, source) {
                (_, None) => {}
                (None, source) => met = source,
                (Some(a), Some(b)) if a == b || self.is_undefined(b) => {}
                (Some(a), _) if self.is_undefined(a) => met = source,
                _ => return Some(join),
            }
        }
        met.map(|value| if value != join && self.is_visible(value, at) { value } else { join })
    }

    fn is_undefined(&self, value: Value) -> bool {
        self.kernel.values[value].def == Def::Undef
    }

    fn is_visible(&self, value: Value, at: BlockId) -> bool {
        self.tree.home(self.kernel, value).is_none_or(|home| self.tree.encloses(home, at))
    }
}

/// Parameters and results of constructs, with the block in which each is visible.
fn joins(kernel: &Kernel, tree: &Tree) -> Vec<(Value, BlockId)> {
    let mut joins = Vec::new();
    for block in &tree.blocks {
        joins.extend(kernel.blocks[*block].params.iter().map(|param| (*param, *block)));
        for inst in kernel.blocks[*block].insts.iter().filter(|inst| kernel.insts[**inst].op.is_structured()) {
            joins.extend(kernel.results(*inst).map(|result| (result, *block)));
        }
    }
    joins
}
