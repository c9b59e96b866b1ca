//! Finds the results of loops that are already in a parameter of the loop.
//!
//! Lanes that leave a loop early are inactive until its end, so the vector registers of its parameters keep those
//! lanes' values. A result that is the same parameter at every exit needs neither a copy nor a separate register. Loops
//! that re-enable lanes are excluded, because the allocator may reuse a parameter's register between its last use and
//! its next value.

use super::reconvergence::{Reconvergence, ReconvergencePoint};
use crate::kernel::tree::Tree;
use crate::kernel::uniform::Uniformity;
use crate::kernel::{BlockId, Def, InstId, Kernel, Op, Ty, Value};
use rustc_hash::FxHashMap;

/// For each result of a loop, the parameter with its value.
#[derive(Debug)]
pub struct Kept(FxHashMap<Value, Value>);

impl Kept {
    pub fn of(kernel: &Kernel, tree: &Tree, uniformity: &Uniformity, points: &Reconvergence) -> Kept {
        let mut search = Search { kernel, uniformity, found: FxHashMap::default() };
        for inst in tree.passing(kernel) {
            match kernel.insts[inst].op {
                Op::Exit(of) => search.exit(inst, of),
                Op::Repeat => {
                    tree.block_of(inst)
                        .and_then(|block| tree.owner(block))
                        .into_iter()
                        .for_each(|of| search.repeat(inst, of));
                }
                _ => {}
            }
        }
        let switches = tree.holding(kernel, |op| op.is_cross_lane() || matches!(op, Op::Whole { .. }));
        let is_vector = |value: Value| kernel.ty(value) != Ty::Bool && !uniformity.is_uniform(value);
        let found = search.found.into_iter().filter_map(|(result, (of, param))| {
            let can = points.diverges(ReconvergencePoint::End(of)) && !switches[of.index()];
            param.filter(|param| can && is_vector(*param) && is_vector(result)).map(|param| (result, param))
        });
        Kept(found.collect())
    }

    /// The parameter with a loop result's value.
    pub fn by(&self, result: Value) -> Option<Value> {
        self.0.get(&result).copied()
    }

    /// The parameters with results, in no order.
    pub fn holders(&self) -> impl Iterator<Item = Value> + '_ {
        self.0.values().copied()
    }
}

/// The search for parameters with results.
struct Search<'k> {
    kernel: &'k Kernel,
    uniformity: &'k Uniformity,
    /// For each result of a loop, the loop and the parameter that the exits so far agree on.
    found: FxHashMap<Value, (InstId, Option<Value>)>,
}

impl Search<'_> {
    /// An exit from within the body, where parameters have the values of this iteration.
    fn exit(&mut self, inst: InstId, of: InstId) {
        let Some(body) = self.body(of) else { return };
        let kernel = self.kernel;
        for (result, arg) in kernel.results(of).zip(kernel.args(inst)) {
            let param = matches!(kernel.values[*arg].def, Def::Param(block, _) if block == body).then_some(*arg);
            self.agree(result, of, |known| if known.is_none_or(|known| Some(known) == param) { param } else { None });
        }
    }

    /// The exit of lanes at the end of an iteration, where parameters have the values of the next one.
    fn repeat(&mut self, inst: InstId, of: InstId) {
        let Some(body) = self.body(of) else { return };
        let kernel = self.kernel;
        let params = &kernel.blocks[body].params;
        let (leave, values) = (kernel.args(inst)[0], &kernel.args(inst)[1..]);
        if kernel.as_constant(leave) == Some(0) {
            return;
        }
        let (again, results) = values.split_at(params.len());
        let is_late = self.uniformity.is_uniform(leave);
        let next: FxHashMap<Value, Value> = params.iter().copied().zip(again.iter().copied()).collect();
        let holders: FxHashMap<Value, Value> = again.iter().copied().zip(params.iter().copied()).collect();
        for (result, arg) in kernel.results(of).zip(results) {
            self.agree(result, of, |known| match known {
                _ if is_late => None,
                Some(known) => Some(known).filter(|param| next.get(param) == Some(arg)),
                None => holders.get(arg).copied(),
            });
        }
    }

    fn body(&self, of: InstId) -> Option<BlockId> {
        match self.kernel.insts[of].op {
            Op::Loop { body, .. } => Some(body),
            _ => None,
        }
    }

    /// Records the parameter of another exit; permanently `None` if exits differ.
    fn agree(&mut self, result: Value, of: InstId, param: impl Fn(Option<Value>) -> Option<Value>) {
        match self.found.get_mut(&result) {
            None => {
                self.found.insert(result, (of, param(None)));
            }
            Some((_, known)) => *known = known.and_then(|known| param(Some(known))),
        }
    }
}
