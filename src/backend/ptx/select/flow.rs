//! Control flow as branches, and the participating lanes: see [`crate::backend::ptx`].

use super::{Class, Line, Reg, Selector};
use crate::backend::copies::{Step, in_order};
use crate::ir::Scope;
use crate::kernel::tree::Tree;
use crate::kernel::uniform::{Extent, Uniformity};
use crate::kernel::{BlockId, InstId, Kernel, Op, Value};
use crate::lane::WARP;
use std::collections::BTreeSet;

/// The lanes that run the next instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanes {
    /// All lanes of the workgroup in the warp.
    All,
    /// The lanes of a mask.
    Of(Reg),
    /// Not needed.
    Unknown,
}

/// The places that need the set of active lanes: cross-lane operations that only some lanes of a warp may reach.
pub struct Asks {
    insts: Vec<bool>,
    /// Blocks that contain such an operation, at any depth.
    blocks: Vec<bool>,
    /// True if there is a cross-lane operation at all.
    any: bool,
}

impl Asks {
    pub fn of(kernel: &Kernel, tree: &Tree, uniformity: &Uniformity) -> Asks {
        let mut asks =
            Asks { insts: vec![false; kernel.insts.len()], blocks: vec![false; kernel.blocks.len()], any: false };
        for block in tree.blocks.iter().rev() {
            for inst in &kernel.blocks[*block].insts {
                let meets = is_met(kernel.insts[*inst].op);
                asks.any |= meets;
                let inside = kernel.inner_blocks(*inst).any(|inner| asks.blocks[inner.index()]);
                asks.insts[inst.index()] = inside || meets && uniformity.flow(*inst) < Extent::Wave;
                asks.blocks[block.index()] |= asks.insts[inst.index()];
            }
        }
        asks
    }

    fn block(&self, block: BlockId) -> bool {
        self.blocks[block.index()]
    }
}

/// Returns true for operations that lanes execute together.
const fn is_met(op: Op) -> bool {
    matches!(op, Op::Prim { .. } | Op::Barrier { execution: Some(Scope::Subgroup), .. })
}

/// The target of a jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Goal {
    /// The end of the invocation.
    Return,
    /// After a construct.
    End(InstId),
    /// The continuing block of a loop.
    Next(InstId),
}

impl Goal {
    /// Its number in the register of goals; 0 means none.
    const fn number(self) -> usize {
        match self {
            Goal::Return => 1,
            Goal::End(inst) => 2 + 2 * inst.index(),
            Goal::Next(inst) => 3 + 2 * inst.index(),
        }
    }
}

/// A point where paths through a construct meet.
#[derive(Debug)]
struct Point {
    goal: Goal,
    label: String,
    /// True if all lanes that entered come here, even lanes on their way to an outer target.
    joins: bool,
    /// The goals of lanes that pass through.
    passing: Vec<Goal>,
}

/// A construct that is being written.
#[derive(Debug)]
pub struct OpenConstruct {
    /// The places ahead, the nearest last.
    ahead: Vec<Point>,
    /// The mask of a loop's lanes in their current iteration.
    turn: Option<Reg>,
    /// Start of a loop.
    head: String,
}

impl Selector<'_> {
    pub fn label(&mut self) -> String {
        self.labels += 1;
        format!("$L{}", self.labels)
    }

    pub fn put_label(&mut self, label: &str) {
        self.lines.push(Line::Label(label.to_owned(), self.origin));
    }

    /// The whole kernel.
    pub fn body(&mut self) {
        self.load_addresses();
        if self.asks.any {
            self.find_whole();
        }
        self.part_truths();
        let start = self.lines.len();
        self.block(self.kernel.body);
        self.origin = crate::kernel::Origin::Code;
        if let Some(goal) = self.goal {
            self.lines.insert(start, Line::Inst(format!("mov.b32 {goal}, 0;"), self.origin));
        }
        if self.lines.last() != Some(&Line::Inst("ret;".to_owned(), self.origin)) {
            self.push("ret;".to_owned());
        }
        self.drop_idle_jumps();
    }

    /// The lanes of a partial last warp.
    fn find_whole(&mut self) {
        let total = self.kernel.invocations();
        let (rest, last) = (total % WARP, total / WARP * WARP);
        if rest == 0 || total < WARP {
            return;
        }
        let index = self.local_index();
        let is_last = self.inst(Class::Pred, "setp.ge.u32", format_args!("{index}, {last}"));
        self.whole = Some(self.word("selp.b32", format_args!("{}, -1, {is_last}", (1_u32 << rest) - 1)));
    }

    /// Removes jumps to the next block.
    fn drop_idle_jumps(&mut self) {
        let mut is_idle = vec![false; self.lines.len()];
        // The lines so far that are neither labels nor empty.
        let mut others = Vec::new();
        for (at, line) in self.lines.iter().enumerate() {
            let Line::Label(label, _) = line else {
                others.push(at);
                continue;
            };
            let jumps_here =
                |before: &usize| matches!(&self.lines[*before], Line::Inst(text, _) if leads_to(text, label));
            if let Some(before) = others.pop_if(|before| jumps_here(before)) {
                is_idle[before] = true;
            }
        }
        let mut idle = is_idle.into_iter();
        self.lines.retain(|_| !idle.next().unwrap_or(false));
    }

    /// A set of lanes as an operand.
    fn mask_text(&mut self, lanes: Lanes) -> String {
        match (lanes, self.whole) {
            (Lanes::Of(mask), _) | (Lanes::All, Some(mask)) => mask.to_string(),
            (Lanes::All, None) => match self.kernel.invocations() {
                total if total < WARP => ((1_u32 << total) - 1).to_string(),
                _ => "-1".to_owned(),
            },
            (Lanes::Unknown, _) => {
                self.refuse("internal error: it is not known which lanes run this");
                "-1".to_owned()
            }
        }
    }

    /// The operand with the lanes that run the current instruction.
    pub fn members(&mut self) -> String {
        self.mask_text(self.lanes)
    }

    fn block(&mut self, block: BlockId) {
        let kernel = self.kernel;
        let insts = &kernel.blocks[block].insts;
        let (outer, visible) = (self.origin, self.predicates.visible());
        let last_asking = insts.iter().rposition(|inst| self.asks.insts[inst.index()]);
        let is_asked_at_end = self.is_asked_at_end(block);
        for (at, inst) in insts.iter().enumerate() {
            self.begin(*inst);
            if self.uniformity.flow(*inst) >= Extent::Wave {
                self.lanes = Lanes::All;
            }
            let asked = last_asking.is_some_and(|last| at < last) || is_asked_at_end;
            match kernel.insts[*inst].op {
                Op::If { then, otherwise } => self.if_(*inst, [then, otherwise], asked),
                Op::Scope { body } => self.scope(*inst, body, asked),
                Op::Loop { body, continuing } => self.loop_(*inst, [body, continuing], asked),
                op if op.is_terminator() => self.terminator(*inst, block),
                _ => self.plain(*inst, &insts[at + 1..]),
            }
            self.origin = outer;
        }
        self.predicates.forget(visible);
    }

    /// Returns true if the lanes that reach the end of a block must be known: a loop's lanes continue to its next
    /// iteration.
    fn is_asked_at_end(&self, block: BlockId) -> bool {
        let Some(owner) = self.tree.owner(block) else { return false };
        match self.kernel.insts[owner].op {
            Op::Loop { body, continuing } => self.asks.block(body) || self.asks.block(continuing),
            _ => false,
        }
    }

    /// Registers for values from here on.
    fn registers_for(&mut self, values: impl Iterator<Item = Value>) {
        for value in values {
            let reg = self.reg(self.class(value));
            self.give(value, reg);
        }
    }

    fn point(&mut self, goal: Goal, joins: bool) -> Point {
        Point { goal, label: self.label(), joins, passing: Vec::new() }
    }

    // Branches.

    /// Returns true if all lanes that enter a block reach its end.
    fn keeps_lanes(&self, block: BlockId) -> bool {
        self.kernel.completes(block) && !self.kernel.blocks[block].insts.iter().any(|inst| self.leaving[inst.index()])
    }

    fn if_(&mut self, inst: InstId, [then, otherwise]: [BlockId; 2], asked: bool) {
        let kernel = self.kernel;
        self.registers_for(kernel.results(inst));
        let value = kernel.args(inst)[0];
        let condition = self.arg(value);
        let (outer, arms) = (self.lanes, [then, otherwise]);
        let completes = arms.map(|arm| kernel.completes(arm));
        let is_leaving = self.leaving[inst.index()];
        // The arm that is the only one whose lanes continue.
        let goes_on = [0, 1].into_iter().find(|n| self.keeps_lanes(arms[*n]) && !completes[1 - n]);
        let asking = [0, 1].map(|n| self.asks.block(arms[n]) || asked && is_leaving && goes_on == Some(n));
        let inside = match (self.uniformity.is_uniform(value), asking.contains(&true)) {
            (true, _) => [outer; 2],
            (false, false) => [Lanes::Unknown; 2],
            (false, true) => self.part(condition, outer, asking[1]),
        };
        let joins = is_leaving && goes_on.is_none() && asked;
        let end = self.point(Goal::End(inst), joins);
        let (label, other) = (end.label.clone(), self.label());
        self.frames.push(OpenConstruct { ahead: vec![end], turn: None, head: String::new() });
        self.push(format!("@!{condition} bra {other};"));
        self.lanes = inside[0];
        self.block(then);
        if completes[0] {
            self.push(format!("bra {label};"));
        }
        self.put_label(&other);
        self.lanes = inside[1];
        self.block(otherwise);
        self.put_label(&label);
        self.lanes = match goes_on {
            _ if !is_leaving => outer,
            Some(n) => inside[n],
            None => Lanes::Unknown,
        };
        self.close(outer);
    }

    /// The lanes of both arms of a branch.
    fn part(&mut self, condition: Reg, outer: Lanes, both: bool) -> [Lanes; 2] {
        let all = self.mask_text(outer);
        let accepted = self.ballot(condition, &all);
        let rejected = match both {
            true => Lanes::Of(self.word("xor.b32", format_args!("{accepted}, {all}"))),
            false => Lanes::Unknown,
        };
        [Lanes::Of(accepted), rejected]
    }

    fn scope(&mut self, inst: InstId, body: BlockId, asked: bool) {
        self.registers_for(self.kernel.results(inst));
        let outer = self.lanes;
        let is_leaving = self.leaving[inst.index()];
        let end = self.point(Goal::End(inst), is_leaving && asked);
        let label = end.label.clone();
        self.frames.push(OpenConstruct { ahead: vec![end], turn: None, head: String::new() });
        self.block(body);
        self.put_label(&label);
        self.lanes = if is_leaving { Lanes::Unknown } else { outer };
        self.close(outer);
    }

    fn loop_(&mut self, inst: InstId, [body, continuing]: [BlockId; 2], asked: bool) {
        let kernel = self.kernel;
        self.registers_for(kernel.results(inst));
        for block in [body, continuing] {
            self.registers_for(kernel.blocks[block].params.iter().copied());
        }
        self.assign(&kernel.blocks[body].params, kernel.args(inst));
        let outer = self.lanes;
        let is_leaving = self.leaving[inst.index()];
        let asks = self.asks.block(body) || self.asks.block(continuing);
        let turn = asks.then(|| {
            let all = self.mask_text(outer);
            self.word("mov.b32", all)
        });
        let end = self.point(Goal::End(inst), is_leaving && asked);
        let next = self.point(Goal::Next(inst), asks && self.continues_inside(inst, body));
        let [end_label, next_label] = [&end, &next].map(|point| point.label.clone());
        let head = self.label();
        self.put_label(&head);
        self.lanes = turn.map_or(Lanes::Unknown, Lanes::Of);
        self.frames.push(OpenConstruct { ahead: vec![end, next], turn, head });
        self.block(body);
        self.put_label(&next_label);
        let entered = turn.map_or(Lanes::Unknown, Lanes::Of);
        self.come_together(entered);
        self.block(continuing);
        self.put_label(&end_label);
        self.lanes = if is_leaving { Lanes::Unknown } else { outer };
        self.close(outer);
    }

    /// Returns true if a branch may skip this place in an iteration of the innermost loop, or in the kernel if there is
    /// none.
    pub fn is_skipped(&self) -> bool {
        let innermost = self.frames.last().and_then(|frame| frame.ahead.last());
        innermost.is_some_and(|point| match point.goal {
            Goal::Next(of) => match self.kernel.insts[of].op {
                Op::Loop { body, .. } => self.continues_inside(of, body),
                _ => false,
            },
            Goal::End(_) | Goal::Return => true,
        })
    }

    /// Returns true if a place other than the end of a loop's body jumps to its continue block.
    fn continues_inside(&self, of: InstId, body: BlockId) -> bool {
        let mut ends = self.tree.inside(body).iter().filter_map(|block| self.kernel.blocks[*block].insts.last());
        ends.any(|last| self.kernel.insts[*last].op == Op::Continue(of))
    }

    /// The end of a continuing block.
    fn repeat(&mut self, inst: InstId, of: InstId) {
        let kernel = self.kernel;
        let Op::Loop { body, .. } = kernel.insts[of].op else { return };
        let params = &kernel.blocks[body].params;
        let (leave, values) = kernel.args(inst).split_at(1);
        let (again, results) = values.split_at(params.len());
        let Some(frame) = self.frames.last() else { return };
        let (turn, head, end) = (frame.turn, frame.head.clone(), frame.ahead[0].label.clone());
        let known = self.known(leave[0]);
        if known != Some(0) {
            self.assign_results(of, results);
        }
        if known == Some(1) {
            return self.push(format!("bra {end};"));
        }
        let condition = (known.is_none()).then(|| self.arg(leave[0]));
        if let Some(turn) = turn {
            let all = self.members();
            match condition.filter(|_| !self.uniformity.is_uniform(leave[0])) {
                Some(condition) => {
                    let stays = self.inverse(condition);
                    let left = self.ballot(stays, &all);
                    self.copy(turn, left);
                }
                None if all != turn.to_string() => self.copy(turn, all),
                None => {}
            }
        }
        if let Some(condition) = condition {
            self.push(format!("@{condition} bra {end};"));
        }
        self.assign(params, again);
        self.push(format!("bra {head};"));
    }

    fn terminator(&mut self, inst: InstId, block: BlockId) {
        let kernel = self.kernel;
        let args = kernel.args(inst);
        match (kernel.insts[inst].op, self.tree.owner(block)) {
            (Op::Repeat, Some(of)) => self.repeat(inst, of),
            (Op::Yield, Some(of)) => self.assign_results(of, args),
            (Op::Exit(of), _) => {
                self.assign_results(of, args);
                self.jump(Goal::End(of));
            }
            (Op::Continue(of), _) => {
                if let Op::Loop { continuing, .. } = kernel.insts[of].op {
                    self.assign(&kernel.blocks[continuing].params, args);
                }
                self.jump(Goal::Next(of));
            }
            (Op::Return, _) => self.jump(Goal::Return),
            (Op::Unreachable, _) => self.push("ret;".to_owned()),
            _ => {}
        }
    }

    // Jumps over several constructs.

    /// The next stop on the way to a goal: a point where all lanes of a construct meet, otherwise the goal itself.
    fn next_stop(&mut self, goal: Goal) -> Option<(&mut Point, bool)> {
        for point in self.frames.iter_mut().rev().flat_map(|frame| frame.ahead.iter_mut().rev()) {
            if point.goal == goal {
                return Some((point, true));
            }
            if point.joins {
                return Some((point, false));
            }
        }
        None
    }

    fn jump(&mut self, goal: Goal) {
        let Some((point, arrives)) = self.next_stop(goal) else { return self.push("ret;".to_owned()) };
        let label = point.label.clone();
        if !arrives {
            note(&mut point.passing, goal);
            let register = self.goal_register();
            self.copy(register, goal.number());
        }
        self.push(format!("bra {label};"));
    }

    fn goal_register(&mut self) -> Reg {
        match self.goal {
            Some(goal) => goal,
            None => {
                let goal = self.reg(Class::Word);
                self.goal = Some(goal);
                goal
            }
        }
    }

    /// Ends the innermost construct, which these lanes entered.
    fn close(&mut self, entered: Lanes) {
        self.come_together(entered);
        self.frames.pop();
    }

    /// Emits the nearest reconvergence point. A ballot there selects the lanes that continue; the others jump on.
    fn come_together(&mut self, entered: Lanes) {
        let Some(point) = self.frames.last_mut().and_then(|frame| frame.ahead.pop()) else { return };
        if !point.joins || point.passing.is_empty() {
            if point.joins {
                self.lanes = entered;
            }
            return;
        }
        let (goal, all) = (self.goal_register(), self.mask_text(entered));
        let here = self.inst(Class::Pred, "setp.eq.s32", format_args!("{goal}, 0"));
        let left = self.ballot(here, &all);
        self.lanes = Lanes::Of(left);
        for passing in point.passing {
            self.pass_on(goal, passing);
        }
    }

    /// Makes the lanes with a goal jump on.
    fn pass_on(&mut self, register: Reg, goal: Goal) {
        let is_it = self.inst(Class::Pred, "setp.eq.s32", format_args!("{register}, {}", goal.number()));
        let Some((point, arrives)) = self.next_stop(goal) else { return self.push(format!("@{is_it} ret;")) };
        let label = point.label.clone();
        if arrives {
            self.push(format!("@{is_it} mov.b32 {register}, 0;"));
        } else {
            note(&mut point.passing, goal);
        }
        self.push(format!("@{is_it} bra {label};"));
    }

    // Values.

    fn assign_results(&mut self, of: InstId, from: &[Value]) {
        let results: Vec<Value> = self.kernel.results(of).collect();
        self.assign(&results, from);
    }

    /// Copies values into the registers of others, in parallel: a register that is still to be read is not overwritten.
    fn assign(&mut self, to: &[Value], from: &[Value]) {
        let mut pending: Vec<(Reg, String)> = Vec::new();
        for (to, from) in to.iter().zip(from) {
            let is_undefined = self.kernel.values[*from].def == crate::kernel::Def::Undef;
            let Some(reg) = self.values[to.index()].filter(|_| !is_undefined) else { continue };
            let operand = match self.known(*from) {
                Some(bits) if self.hidden(reg.class, bits).is_none() => super::bits_text(reg.class, bits),
                _ => self.arg(*from).to_string(),
            };
            if operand != reg.to_string() {
                pending.push((reg, operand));
            }
        }
        let read = |(_, from): &(Reg, String), read: &mut BTreeSet<String>| read.extend([from.clone()]);
        in_order(
            pending,
            |(to, _)| Some(to.to_string()),
            read,
            |step| match step {
                Step::Copy((to, from)) => self.copy(to, from),
                Step::OpenRing((held, _), readers) => self.open_ring(held, readers),
            },
        );
    }

    /// Copies a register for the instructions that still read its old value.
    fn open_ring(&mut self, held: Reg, readers: &mut [(Reg, String)]) {
        let kept = self.reg(held.class);
        self.copy(kept, held);
        readers.iter_mut().for_each(|(_, from)| *from = kept.to_string());
    }
}

/// Returns true for a jump to a label.
fn leads_to(line: &str, label: &str) -> bool {
    line.strip_prefix("bra ").and_then(|to| to.strip_suffix(';')) == Some(label)
}

fn note(goals: &mut Vec<Goal>, goal: Goal) {
    if !goals.contains(&goal) {
        goals.push(goal);
    }
}
