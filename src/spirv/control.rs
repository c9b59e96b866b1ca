//! Structured control flow: the merge instructions say where constructs end, and each branch either goes on inside its
//! construct or leaves it in one of the ways that `ir` has.

use super::binary::Insn;
use super::body::Body;
use super::fault::Read;
use super::flow::{Block, targets};
use crate::ir::{Case, ControlHint, Type, UnaryOp, Value};
use crate::limits;
use rspirv::spirv::{LoopControl, Op, SelectionControl, Word};

/// How deeply constructs may be nested.
const DEEPEST: usize = 160;

/// An open construct.
#[derive(Clone, Debug)]
pub enum Construct {
    If {
        merge: Word,
    },
    Switch {
        merge: Word,
        cases: Vec<Word>,
    },
    /// The body of a loop, at a level of blocks.
    Loop {
        header: Word,
        merge: Word,
        continuing: Word,
        level: usize,
    },
    /// The continuing block of a loop, at a level of blocks.
    Continuing {
        header: Word,
        merge: Word,
        level: usize,
    },
}

/// Where a branch leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    /// To the end of the current block of `ir`.
    Falls,
    /// To the next arm of the switch.
    FallsThrough,
    Break,
    Continue,
    /// Out of the loop with this merge block, from inside a switch.
    Leave(Word),
    /// To a block of the same construct.
    Inner,
}

impl Way {
    const fn jumps(self) -> bool {
        matches!(self, Way::Break | Way::Continue | Way::Leave(_))
    }
}

impl<'w> Body<'_, '_, 'w> {
    /// Reads the blocks from a label to the end of the current block of `ir`.
    pub fn walk(&mut self, from: &Insn<'w>, label: Word) -> Read<()> {
        if self.depth == DEEPEST {
            return Err(from.unread(format!("control flow is nested deeper than {DEEPEST} constructs")));
        }
        self.depth += 1;
        let mut next = Some(label);
        let mut from = *from;
        while let Some(label) = next {
            let block = *self.flow.blocks.get(&label).ok_or_else(|| from.wrong(format!("%{label} is not a block")))?;
            if !self.visited.insert(label) {
                return Err(unstructured(&from, label));
            }
            from = block.last;
            next = match block.merge {
                Some(merge) if merge.op == Op::LoopMerge => self.repeat(label, &block, &merge)?,
                _ => {
                    self.content(&block)?;
                    self.end(label, &block)?
                }
            };
        }
        self.depth -= 1;
        Ok(())
    }

    /// The instructions of a block before its end.
    fn content(&mut self, block: &Block<'w>) -> Read<()> {
        for index in block.first..block.end {
            let insn = self.r.insns[index];
            match insn.op {
                Op::Phi => self.join(&insn)?,
                _ => self.instruction(&insn)?,
            }
        }
        Ok(())
    }

    /// `OpPhi`: the value that the edge to the block has stored.
    fn join(&mut self, insn: &Insn<'w>) -> Read<()> {
        self.mark(insn);
        let variable = self.phi(insn)?;
        let value = self.b.load(variable);
        self.define(insn, value);
        Ok(())
    }

    /// The variable of an `OpPhi`.
    fn phi(&mut self, insn: &Insn<'w>) -> Read<Value> {
        if let Some(known) = self.phis.get(&insn.id) {
            return Ok(*known);
        }
        let ty = self.result_type(insn)?;
        if let Type::Pointer { .. } | Type::Image(_) | Type::Sampler | Type::SampledImage(_) | Type::Void =
            self.b.module.types.get(ty)
        {
            return Err(insn.unread("a choice between pointers or resources is not read"));
        }
        let made = self.b.local(&self.r.name(insn.id), ty, None);
        self.phis.insert(insn.id, made);
        Ok(made)
    }

    /// Stores what the values of a block's `OpPhi` are if it is reached from `from`: all are read before one is
    /// written.
    fn edge(&mut self, insn: &Insn<'w>, from: Word, target: Word) -> Read<()> {
        let Some(block) = self.flow.blocks.get(&target).copied() else {
            return Err(insn.wrong(format!("%{target} is not a block")));
        };
        let mut stores = Vec::new();
        for index in block.first..block.end {
            let phi = self.r.insns[index];
            match phi.op {
                Op::Phi => {}
                Op::Line | Op::NoLine => continue,
                _ => break,
            }
            limits::spend(phi.args.len());
            let mut pairs = phi.args.chunks_exact(2);
            let pair = pairs.find(|pair| pair[1] == from);
            let pair = pair.ok_or_else(|| phi.wrong(format!("it has no value for the block %{from}")))?;
            let (variable, value) = (self.phi(&phi)?, self.value(&phi, pair[0])?);
            let ty = self.result_type(&phi)?;
            if self.b.type_of(value) != ty {
                return Err(phi.wrong(format!("%{} has another type than the result", pair[0])));
            }
            stores.push((variable, value));
        }
        stores.into_iter().for_each(|(variable, value)| self.b.store(variable, value));
        Ok(())
    }

    /// Where a branch to a target leads from a block of `ir` at a level.
    fn way(&self, insn: &Insn<'w>, target: Word, at: usize) -> Read<Way> {
        let (mut first, mut in_switch) = (true, false);
        for construct in self.stack.iter().rev() {
            match construct {
                Construct::If { merge } if *merge == target => {
                    return if first { Ok(Way::Falls) } else { Err(unstructured(insn, target)) };
                }
                Construct::If { .. } => {}
                Construct::Switch { merge, .. } if *merge == target => return Ok(Way::Break),
                Construct::Switch { cases, .. } if cases.contains(&target) => {
                    return if first { Ok(Way::FallsThrough) } else { Err(unstructured(insn, target)) };
                }
                Construct::Switch { .. } => in_switch = true,
                Construct::Loop { merge, .. } if *merge == target && in_switch => return Ok(Way::Leave(target)),
                Construct::Loop { merge, .. } if *merge == target => return Ok(Way::Break),
                Construct::Loop { continuing, level, .. } if *continuing == target => {
                    return Ok(if first && *level == at { Way::Falls } else { Way::Continue });
                }
                Construct::Loop { header, .. } if *header == target => return Err(unstructured(insn, target)),
                Construct::Loop { .. } => return Ok(Way::Inner),
                Construct::Continuing { header, level, .. } if *header == target => {
                    let is_end = first && *level == at;
                    return if is_end { Ok(Way::Falls) } else { Err(unstructured(insn, target)) };
                }
                Construct::Continuing { merge, .. } if *merge == target => return Err(unstructured(insn, target)),
                Construct::Continuing { .. } => return Ok(Way::Inner),
            }
            first = false;
        }
        Ok(Way::Inner)
    }

    /// Branches to a target. Returns it if the current block of `ir` goes on there.
    fn go(&mut self, insn: &Insn<'w>, from: Word, target: Word) -> Read<Option<Word>> {
        let way = self.way(insn, target, self.level())?;
        self.edge(insn, from, target)?;
        self.reached.insert(target);
        match way {
            Way::Inner => return Ok(Some(target)),
            Way::Falls => {}
            Way::FallsThrough => match self.fallen.replace(target) {
                Some(other) if other != target => return Err(unstructured(insn, target)),
                _ => {}
            },
            Way::Break => self.b.break_(),
            Way::Continue => self.b.continue_(),
            Way::Leave(merge) => {
                self.wanted.left.insert(merge);
                if let Some(flag) = self.leaving.get(&merge).copied() {
                    let truth = self.b.const_bool(true);
                    self.b.store(flag, truth);
                }
                self.b.break_();
            }
        }
        Ok(None)
    }

    /// Branches to a target, and reads what follows in the current block of `ir`.
    fn follow(&mut self, insn: &Insn<'w>, from: Word, target: Word) -> Read<()> {
        match self.go(insn, from, target)? {
            Some(next) => self.walk(insn, next),
            None => Ok(()),
        }
    }

    /// The end of a block. Returns the block that follows in the same block of `ir`.
    fn end(&mut self, label: Word, block: &Block<'w>) -> Read<Option<Word>> {
        let insn = &block.last;
        self.mark(insn);
        match insn.op {
            Op::Branch => return self.go(insn, label, insn.arg(0)?),
            Op::BranchConditional => return self.branch(label, block),
            Op::Switch => return self.switch(label, block),
            Op::Return => self.b.ret(None),
            Op::ReturnValue => {
                let value = self.value(insn, insn.arg(0)?)?;
                if self.b.type_of(value) != self.b.function.ret {
                    return Err(insn.wrong("the value has another type than the function's result"));
                }
                self.b.ret(Some(value));
            }
            Op::Kill | Op::TerminateInvocation => self.b.discard(),
            Op::Unreachable => self.b.unreachable(),
            _ => return Err(insn.unread("it is not read")),
        }
        Ok(None)
    }

    fn branch(&mut self, label: Word, block: &Block<'w>) -> Read<Option<Word>> {
        let insn = &block.last;
        let (accept, reject) = (insn.arg(1)?, insn.arg(2)?);
        let selection = block.merge.filter(|merge| merge.op == Op::SelectionMerge);
        if accept == reject && selection.is_none() {
            return self.go(insn, label, accept);
        }
        let condition = self.condition(insn, insn.arg(0)?)?;
        match selection {
            Some(merge) => self.select(label, insn, &merge, condition),
            None => self.branch_out(label, insn, condition),
        }
    }

    /// An `if` with a merge block.
    fn select(&mut self, label: Word, insn: &Insn<'w>, merge: &Insn<'w>, condition: Value) -> Read<Option<Word>> {
        let after = merge.arg(0)?;
        let hint = selection_hint(merge.arg(1)?);
        self.stack.push(Construct::If { merge: after });
        self.push();
        self.follow(insn, label, insn.arg(1)?)?;
        let then = self.pop();
        self.push();
        self.follow(insn, label, insn.arg(2)?)?;
        let otherwise = self.pop();
        self.stack.pop();
        self.mark(insn);
        self.b.if_(condition, then, otherwise, hint);
        Ok(self.after(after))
    }

    /// What follows a construct: its merge block, if it is reached.
    fn after(&mut self, merge: Word) -> Option<Word> {
        if self.reached.contains(&merge) {
            return Some(merge);
        }
        self.b.unreachable();
        None
    }

    /// A conditional branch without a merge block: at most one of its targets is inside the construct.
    fn branch_out(&mut self, label: Word, insn: &Insn<'w>, condition: Value) -> Read<Option<Word>> {
        let targets = [insn.arg(1)?, insn.arg(2)?];
        if let Some(Construct::Continuing { header, merge, level }) = self.stack.last().cloned()
            && level == self.level()
            && (targets == [header, merge] || targets == [merge, header])
        {
            targets.iter().try_for_each(|target| self.edge(insn, label, *target))?;
            self.reached.insert(merge);
            let ends = if targets[0] == merge { condition } else { self.b.unary(UnaryOp::LogicalNot, condition) };
            self.break_if = Some(ends);
            return Ok(None);
        }
        let inside = self.level() + 1;
        let ways = [self.way(insn, targets[0], inside)?, self.way(insn, targets[1], inside)?];
        if ways == [Way::Inner; 2] {
            return Err(insn.unread("a branch without a merge instruction, of which both targets are in its construct (unstructured control flow), is not read"));
        }
        // After a jump the rest of the code needs no block of its own.
        let jump = ways.iter().position(|way| way.jumps());
        let mut blocks = [None; 2];
        for (index, target) in targets.into_iter().enumerate() {
            self.push();
            if jump.is_none_or(|jump| jump == index) {
                self.follow(insn, label, target)?;
            }
            blocks[index] = Some(self.pop());
        }
        let [Some(then), Some(otherwise)] = blocks else { return Ok(None) };
        self.mark(insn);
        self.b.if_(condition, then, otherwise, ControlHint::None);
        match jump {
            Some(jump) => self.go(insn, label, targets[1 - jump]),
            None => Ok(None),
        }
    }

    /// A loop: its body from the header on, and its continuing block.
    fn repeat(&mut self, header: Word, block: &Block<'w>, insn: &Insn<'w>) -> Read<Option<Word>> {
        let (merge, continuing) = (insn.arg(0)?, insn.arg(1)?);
        let hint = loop_hint(insn.arg(2)?);
        self.mark(insn);
        self.prepare_to_leave(merge);
        self.push();
        self.stack.push(Construct::Loop { header, merge, continuing, level: self.level() });
        self.content(block)?;
        if let Some(next) = self.end(header, block)? {
            self.walk(&block.last, next)?;
        }
        let body = self.pop();
        self.stack.pop();
        self.push();
        self.stack.push(Construct::Continuing { header, merge, level: self.level() });
        let around = self.break_if.take();
        if continuing != header && self.reached.contains(&continuing) {
            self.walk(insn, continuing)?;
        }
        let break_if = std::mem::replace(&mut self.break_if, around);
        self.stack.pop();
        let continuing = self.pop();
        self.mark(insn);
        self.b.loop_(body, continuing, break_if, hint);
        Ok(self.after(merge))
    }

    /// Gives a loop that is left from inside a switch the variable that says so.
    fn prepare_to_leave(&mut self, merge: Word) {
        if self.wanted.left.contains(&merge) {
            let flag = self.b.local("leaves", crate::ir::Types::BOOL, None);
            let no = self.b.const_bool(false);
            self.b.store(flag, no);
            self.leaving.insert(merge, flag);
        }
    }

    /// Leaves the loop around a switch, if the switch was left for that.
    fn leave_on(&mut self) {
        let is_loop =
            |construct: &&Construct| matches!(construct, Construct::Loop { .. } | Construct::Continuing { .. });
        let Some(Construct::Loop { merge, .. }) = self.stack.iter().rev().find(is_loop) else { return };
        let Some(flag) = self.leaving.get(merge).copied() else { return };
        let leaves = self.b.load(flag);
        self.b.if_else(leaves, |b| b.break_(), |_| {});
    }

    fn switch(&mut self, label: Word, block: &Block<'w>) -> Read<Option<Word>> {
        let insn = &block.last;
        let Some(selection) = block.merge.filter(|merge| merge.op == Op::SelectionMerge) else {
            return Err(insn.unread("a switch without a merge instruction (unstructured control flow) is not read"));
        };
        let merge = selection.arg(0)?;
        let selector = self.value(insn, insn.arg(0)?)?;
        let ty = self.b.type_of(selector);
        let (default, pairs) = targets(insn, self.b.module.types.get(ty))?;
        let arms = self.arms(insn, (default, &pairs), label, merge)?;
        self.mark(insn);
        self.b.switch(selector, arms, selection_hint(selection.arg(1)?));
        self.leave_on();
        Ok(self.after(merge))
    }

    /// The arms, in an order in which one that falls through is before its successor.
    fn arms(
        &mut self,
        insn: &Insn<'w>,
        (default, pairs): (Word, &[(u64, Word)]),
        from: Word,
        merge: Word,
    ) -> Read<Vec<Case>> {
        let mut labels: Vec<(Word, Vec<u64>)> = Vec::new();
        let mut places: rustc_hash::FxHashMap<Word, usize> = rustc_hash::FxHashMap::default();
        for (value, label) in pairs.iter().map(|(value, label)| (Some(*value), *label)).chain([(None, default)]) {
            let at = *places.entry(label).or_insert_with(|| {
                labels.push((label, Vec::new()));
                labels.len() - 1
            });
            labels[at].1.extend(value);
        }
        let cases = labels.iter().map(|(label, _)| *label).filter(|label| *label != merge).collect();
        self.stack.push(Construct::Switch { merge, cases });
        let around = self.fallen.take();
        let mut made: Vec<(Word, Case, Option<Word>)> = Vec::new();
        for (label, values) in labels {
            self.push();
            self.edge(insn, from, label)?;
            self.reached.insert(label);
            match label == merge {
                true => self.b.break_(),
                false => self.walk(insn, label)?,
            }
            let body = self.pop();
            let fallen = self.fallen.take();
            made.push((
                label,
                Case { values, default: label == default, body, falls_through: fallen.is_some() },
                fallen,
            ));
        }
        self.fallen = around;
        self.stack.pop();
        in_order(insn, made)
    }
}

/// Puts each arm that falls through before the arm that it falls to.
fn in_order(insn: &Insn<'_>, arms: Vec<(Word, Case, Option<Word>)>) -> Read<Vec<Case>> {
    let targets: Vec<Word> = arms.iter().filter_map(|(.., fallen)| *fallen).collect();
    let mut rest: rustc_hash::FxHashMap<Word, (Case, Option<Word>)> = rustc_hash::FxHashMap::default();
    let mut heads = Vec::new();
    for (label, case, fallen) in arms {
        if !targets.contains(&label) {
            heads.push(label);
        }
        rest.insert(label, (case, fallen));
    }
    let mut ordered = Vec::new();
    for head in heads {
        let mut next = Some(head);
        while let Some(label) = next {
            let Some((case, fallen)) = rest.remove(&label) else { return Err(unstructured(insn, label)) };
            ordered.push(case);
            next = fallen;
        }
    }
    match rest.keys().min() {
        Some(label) => Err(unstructured(insn, *label)),
        None => Ok(ordered),
    }
}

fn unstructured(insn: &Insn<'_>, target: Word) -> Box<super::fault::Fault> {
    insn.unread(format!(
        "the branch to %{target} leaves its construct in a way that structured control flow does not have"
    ))
}

fn selection_hint(bits: Word) -> ControlHint {
    let control = SelectionControl::from_bits_truncate(bits);
    match (control.contains(SelectionControl::FLATTEN), control.contains(SelectionControl::DONT_FLATTEN)) {
        (true, _) => ControlHint::Flatten,
        (_, true) => ControlHint::DontFlatten,
        _ => ControlHint::None,
    }
}

fn loop_hint(bits: Word) -> ControlHint {
    let control = LoopControl::from_bits_truncate(bits);
    match (control.contains(LoopControl::UNROLL), control.contains(LoopControl::DONT_UNROLL)) {
        (true, _) => ControlHint::Unroll,
        (_, true) => ControlHint::DontUnroll,
        _ => ControlHint::None,
    }
}
