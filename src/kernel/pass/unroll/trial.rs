//! Runs a loop on the constants in it, to count its iterations.
//!
//! If a condition is known one block runs, otherwise both. A result is then known if both agree on it.

use crate::kernel::pass::fold::evaluate;
use crate::kernel::{BlockId, InstId, Kernel, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Why the trip count of a loop is unknown.
pub enum Miss {
    /// It is not constant, or there are too many iterations.
    Uncounted,
    /// The steps ran out.
    TooLong,
}

/// The number of iterations after which a loop has certainly ended, none of which is certainly skipped.
///
/// # Errors
/// Returns an error if the number cannot be determined within the limits.
pub fn rounds(kernel: &Kernel, inst: InstId, steps: usize, most: usize) -> Result<usize, Miss> {
    let (blocks, mut params) = start(kernel, inst).ok_or(Miss::Uncounted)?;
    let mut trial = Trial::new(kernel, steps);
    for round in 1..=most {
        match trial.round(inst, blocks, &params)? {
            Round::Last => return Ok(round),
            Round::Next { args, .. } => params = args,
        }
    }
    Err(Miss::Uncounted)
}

/// The blocks of a loop and its initial constants. A loop without any constants cannot be counted, unless it never
/// repeats.
fn start(kernel: &Kernel, inst: InstId) -> Option<([BlockId; 2], Vec<Option<u64>>)> {
    let Op::Loop { body, continuing } = kernel.insts[inst].op else { return None };
    let ends_so = kernel.blocks[continuing].insts.last().is_some_and(|last| kernel.insts[*last].op == Op::Repeat);
    let params: Vec<Option<u64>> = kernel.args(inst).iter().map(|arg| kernel.as_constant(*arg)).collect();
    (ends_so && params.iter().any(Option::is_some)).then_some(([body, continuing], params))
}

/// Runs a loop while constants show in each iteration that it continues. Returns the trial at the end of the last
/// iteration, and the number of iterations before it.
fn last_round(kernel: &Kernel, inst: InstId, copies: usize, most: usize, steps: usize) -> Option<(Trial<'_>, usize)> {
    let (blocks, mut params) = start(kernel, inst)?;
    let mut trial = Trial::new(kernel, steps);
    trial.decided.copies = copies;
    for round in 0..most {
        trial.position = round % copies;
        match trial.round(inst, blocks, &params).ok()? {
            Round::Last => return Some((trial, round)),
            Round::Next { args, is_decided: true } => params = args,
            Round::Next { .. } => return None,
        }
    }
    None
}

/// The iterations of a loop that ends at a single place.
pub struct Count {
    pub rounds: usize,
    /// The test at the start of its body that ends it; `None` if its continuing block does.
    pub test: Option<FirstTest>,
}

/// A branch at the start of a loop's body that only leaves the loop.
pub struct FirstTest {
    pub branch: InstId,
    /// The exit in one of its arms, with values from before the iteration.
    pub exit: InstId,
    /// The value of the condition for which it leaves.
    pub leaves: u64,
}

/// The trip count of a loop if it is constant and at least one.
pub fn count(kernel: &Kernel, inst: InstId, most: usize, steps: usize) -> Option<Count> {
    let (trial, before) = last_round(kernel, inst, 1, most + 1, steps)?;
    if trial.reached.contains(&JumpTarget::Continuing(inst)) {
        return Some(Count { rounds: before + 1, test: None });
    }
    let test = first_test(kernel, inst)?;
    let is_certain = before > 0 && trial.value(kernel.args(test.branch)[0]) == Some(test.leaves);
    is_certain.then_some(Count { rounds: before, test: Some(test) })
}

/// The test at the beginning of a loop's body.
pub fn first_test(kernel: &Kernel, inst: InstId) -> Option<FirstTest> {
    let Op::Loop { body, .. } = kernel.insts[inst].op else { return None };
    let insts = &kernel.blocks[body].insts;
    let first = insts.iter().position(|inst| !kernel.insts[*inst].op.is_pure())?;
    let branch = insts[first];
    let Op::If { then, otherwise } = kernel.insts[branch].op else { return None };
    let only = |block: BlockId| if let [only] = kernel.blocks[block].insts[..] { Some(only) } else { None };
    let (then, otherwise) = (only(then)?, only(otherwise)?);
    let op = |arm: InstId| kernel.insts[arm].op;
    let (exit, stays, leaves) = if op(then) == Op::Exit(inst) { (then, otherwise, 1) } else { (otherwise, then, 0) };
    let is_before = |value: &Value| kernel.definition(*value).is_none_or(|made| !insts[..first].contains(&made));
    let is_test = op(exit) == Op::Exit(inst) && op(stays) == Op::Yield && kernel.args(exit).iter().all(is_before);
    is_test.then_some(FirstTest { branch, exit, leaves })
}

/// The known conditions in a loop, by the iteration modulo a number of copies.
#[derive(Default)]
pub struct Decided {
    copies: usize,
    /// The conditions of branches; `None` if iterations differ.
    conditions: FxHashMap<(InstId, usize), Option<u64>>,
    /// The iteration whose continuing block ends the loop, if any.
    ends: Option<usize>,
}

impl Decided {
    /// A single branch's condition in every iteration.
    pub fn always(branch: InstId, condition: u64) -> Decided {
        let conditions = FxHashMap::from_iter([((branch, 0), Some(condition))]);
        Decided { copies: 1, conditions, ends: None }
    }

    /// The branches whose condition is the same in all iterations at a position, with that condition.
    pub fn at(&self, position: usize) -> impl Iterator<Item = (InstId, u64)> + '_ {
        let here = self.conditions.iter().filter(move |((_, at), _)| *at == position);
        here.filter_map(|((inst, _), condition)| condition.map(|condition| (*inst, condition)))
    }

    /// Returns true if no continuing block at a position ends the loop.
    pub fn goes_on(&self, position: usize) -> bool {
        self.ends != Some(position)
    }
}

/// The conditions in this many copies of a loop's body, if constants show in each iteration whether the loop ends.
pub fn decided(kernel: &Kernel, inst: InstId, copies: usize, most: usize, steps: usize) -> Option<Decided> {
    let (mut trial, _) = last_round(kernel, inst, copies, most, steps)?;
    let at_end = trial.reached.contains(&JumpTarget::Continuing(inst));
    trial.decided.ends = at_end.then_some(trial.position);
    Some(trial.decided)
}

/// How an iteration ended.
enum Round {
    /// With the loop.
    Last,
    /// With the parameters of the next iteration; `is_decided` if the loop certainly continues here.
    Next { args: Vec<Option<u64>>, is_decided: bool },
}

/// A destination that control may reach.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum JumpTarget {
    /// To the end of a construct.
    End(InstId),
    /// To the continuing block of a loop.
    Continuing(InstId),
}

struct Trial<'k> {
    kernel: &'k Kernel,
    /// The values of this iteration; `None` if they differ or are unknown.
    known: FxHashMap<Value, Option<u64>>,
    reached: FxHashSet<JumpTarget>,
    /// The remaining number of instructions to examine.
    steps: usize,
    decided: Decided,
    /// The number of this iteration modulo the copies.
    position: usize,
}

impl<'k> Trial<'k> {
    fn new(kernel: &'k Kernel, steps: usize) -> Trial<'k> {
        let (known, reached) = (FxHashMap::default(), FxHashSet::default());
        Trial { kernel, known, reached, steps, decided: Decided::default(), position: 0 }
    }

    /// Runs an iteration with these parameters.
    fn round(&mut self, inst: InstId, blocks: [BlockId; 2], params: &[Option<u64>]) -> Result<Round, Miss> {
        let [body, continuing] = blocks;
        self.start(&self.kernel.blocks[body].params, params);
        self.block(body, Some(inst)).ok_or(Miss::TooLong)?;
        if !self.reached.contains(&JumpTarget::Continuing(inst)) {
            return Ok(Round::Last);
        }
        let is_left = self.reached.contains(&JumpTarget::End(inst));
        self.block(continuing, Some(inst)).ok_or(Miss::TooLong)?;
        let repeat = *self.kernel.blocks[continuing].insts.last().ok_or(Miss::Uncounted)?;
        let args: Vec<Option<u64>> = self.kernel.args(repeat).iter().map(|arg| self.value(*arg)).collect();
        match args[0] {
            Some(1) => Ok(Round::Last),
            ends => {
                let args = args[1..=params.len()].to_vec();
                Ok(Round::Next { args, is_decided: !is_left && ends == Some(0) })
            }
        }
    }

    fn start(&mut self, params: &[Value], values: &[Option<u64>]) {
        self.known.clear();
        self.reached.clear();
        self.known.extend(params.iter().copied().zip(values.iter().copied()));
    }

    fn value(&self, value: Value) -> Option<u64> {
        self.kernel.as_constant(value).or_else(|| self.known.get(&value).copied().flatten())
    }

    /// Runs a nested block. `None` if the steps run out.
    fn block(&mut self, block: BlockId, owner: Option<InstId>) -> Option<()> {
        for inst in &self.kernel.blocks[block].insts {
            self.steps = self.steps.checked_sub(1)?;
            let op = self.kernel.insts[*inst].op;
            match op {
                op if op.is_structured() => {
                    self.construct(*inst, op)?;
                    if !self.reached.contains(&JumpTarget::End(*inst)) {
                        return Some(());
                    }
                }
                op if op.is_terminator() => self.terminator(*inst, op, owner),
                op => self.compute(*inst, op),
            }
        }
        Some(())
    }

    fn compute(&mut self, inst: InstId, op: Op) {
        let Some(result) = self.kernel.result(inst) else { return };
        let args: Option<Vec<u64>> = self.kernel.args(inst).iter().map(|arg| self.value(*arg)).collect();
        let value = match op {
            Op::Select => self.selected(inst),
            op => args.and_then(|args| evaluate(op, &args)),
        };
        self.known.insert(result, value);
    }

    fn selected(&self, inst: InstId) -> Option<u64> {
        let args = self.kernel.args(inst);
        self.value(args[if self.value(args[0])? == 0 { 2 } else { 1 }])
    }

    fn construct(&mut self, inst: InstId, op: Op) -> Option<()> {
        match op {
            Op::If { then, otherwise } => {
                let condition = self.value(self.kernel.args(inst)[0]);
                self.decide(inst, condition);
                if condition != Some(0) {
                    self.block(then, Some(inst))?;
                }
                if condition != Some(1) {
                    self.block(otherwise, Some(inst))?;
                }
            }
            Op::Scope { body } | Op::Whole { body } => self.block(body, Some(inst))?,
            // The values that an inner loop carries are unknown.
            Op::Loop { body, continuing } => {
                self.block(body, Some(inst))?;
                self.block(continuing, Some(inst))?;
                self.known.extend(self.kernel.results(inst).map(|result| (result, None)));
            }
            _ => {}
        }
        Some(())
    }

    /// Records the condition of a branch in this iteration.
    fn decide(&mut self, inst: InstId, condition: Option<u64>) {
        if self.decided.copies > 0 {
            let known = self.decided.conditions.entry((inst, self.position)).or_insert(condition);
            *known = known.filter(|known| Some(*known) == condition);
        }
    }

    fn terminator(&mut self, inst: InstId, op: Op, owner: Option<InstId>) {
        let args = self.kernel.args(inst);
        match (op, owner) {
            (Op::Yield, Some(target)) | (Op::Exit(target), _) => self.arrive(target, args),
            (Op::Repeat, Some(target)) => {
                let results = self.kernel.results(target).len();
                self.arrive(target, &args[args.len() - results..]);
            }
            (Op::Continue(target), _) => {
                self.reached.insert(JumpTarget::Continuing(target));
                if let Op::Loop { continuing, .. } = self.kernel.insts[target].op {
                    self.join(&self.kernel.blocks[continuing].params, args);
                }
            }
            _ => {}
        }
    }

    fn arrive(&mut self, target: InstId, args: &[Value]) {
        self.reached.insert(JumpTarget::End(target));
        let results: Vec<Value> = self.kernel.results(target).collect();
        self.join(&results, args);
    }

    /// Merges the values of another path.
    fn join(&mut self, values: &[Value], args: &[Value]) {
        for (value, arg) in values.iter().zip(args) {
            let new = self.value(*arg);
            let known = self.known.entry(*value).or_insert(new);
            if *known != new {
                *known = None;
            }
        }
    }
}
