//! Removes leftovers of block-by-block control flow: unreachable blocks, jumps to the next block, jumps to jumps, and
//! borders between blocks that always run one after the other.

use super::machine::{Block, Code, Function, Inst, Label, Operand};
use super::mnemonic::Operation;
use rustc_hash::FxHashSet;

/// Tidies the blocks of a kernel.
pub fn tidy(function: &mut Function) {
    thread(function);
    turn_around(function);
    drop_unreachable(function);
    drop_empty_jumps(function);
    join(function);
}

/// Redirects branches to jumps to the jumps' targets.
fn thread(function: &mut Function) {
    let positions = function.positions();
    let goals: Vec<Option<Label>> = function.blocks.iter().map(|block| jump_alone(&block.insts)).collect();
    let follow = |label: Label| {
        let mut goal = label;
        // A cycle of jumps has no end.
        for _ in 0..goals.len() {
            match goals[positions[goal.0 as usize]] {
                Some(next) if next != goal => goal = next,
                _ => break,
            }
        }
        goal
    };
    for block in &mut function.blocks {
        let ends = block.insts.iter_mut().rev().take_while(|inst| inst.operation().is_some_and(Operation::ends_block));
        for operand in ends.flat_map(|inst| inst.uses.iter_mut()) {
            if let Operand::Label(label) = operand {
                *label = follow(*label);
            }
        }
    }
}

/// The target of a block that is only a jump.
fn jump_alone(insts: &[Inst]) -> Option<Label> {
    match insts {
        [jump] if jump.operation() == Some(Operation::Branch) => target(jump),
        _ => None,
    }
}

/// Turns a branch over a jump into the opposite branch to the jump's target.
fn turn_around(function: &mut Function) {
    let targeted = targeted(function);
    for at in 0..function.blocks.len() {
        let Some(turned) = opposite(function.blocks[at].insts.last()) else { continue };
        let Some(over) = function.blocks[at].insts.last().and_then(target) else { continue };
        let passed = at + 1..function.blocks.len();
        let Some(jump) = passed.clone().find(|n| !function.blocks[*n].insts.is_empty()) else { continue };
        let Some(goal) = jump_alone(&function.blocks[jump].insts) else { continue };
        let is_free = function.blocks[at + 1..=jump].iter().all(|block| !targeted.contains(&block.label));
        let mut after = function.blocks[jump + 1..].iter();
        let comes_to = after.find(|block| block.label == over || !block.insts.is_empty());
        if !is_free || comes_to.is_none_or(|block| block.label != over) {
            continue;
        }
        function.blocks[jump].insts.clear();
        if let Some(branch) = function.blocks[at].insts.last_mut() {
            branch.code = Code::Real(turned);
            branch.uses[0] = Operand::Label(goal);
        }
    }
}

/// The labels that are branch targets.
fn targeted(function: &Function) -> FxHashSet<Label> {
    function.blocks.iter().filter_map(|block| block.insts.last()).filter_map(target).collect()
}

/// The branch on the opposite condition.
pub fn opposite(branch: Option<&Inst>) -> Option<Operation> {
    Some(match branch?.operation()? {
        Operation::BranchScc0 => Operation::BranchScc1,
        Operation::BranchScc1 => Operation::BranchScc0,
        Operation::BranchVccZero => Operation::BranchVccSome,
        Operation::BranchVccSome => Operation::BranchVccZero,
        Operation::BranchExecZero => Operation::BranchExecSome,
        Operation::BranchExecSome => Operation::BranchExecZero,
        _ => return None,
    })
}

fn drop_unreachable(function: &mut Function) {
    let positions = function.positions();
    let mut reached = vec![false; function.blocks.len()];
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            open.extend(function.successors(at, &positions));
        }
    }
    let mut reached = reached.into_iter();
    function.blocks.retain(|_| reached.next().unwrap_or(true));
}

/// Removes jumps to the next block, ignoring empty blocks.
fn drop_empty_jumps(function: &mut Function) {
    for at in 0..function.blocks.len() {
        while let Some(to) = function.blocks[at].insts.last().and_then(target) {
            let mut next = function.blocks[at + 1..].iter();
            let passed = next.by_ref().find(|block| block.label == to || !block.insts.is_empty());
            if passed.is_none_or(|block| block.label != to) {
                break;
            }
            function.blocks[at].insts.pop();
        }
    }
}

/// Joins a block without branches to it with the previous block, if that falls through.
fn join(function: &mut Function) {
    let targeted = targeted(function);
    let runs_on = |block: &Block| !block.insts.last().and_then(Inst::operation).is_some_and(Operation::ends_block);
    let blocks = std::mem::take(&mut function.blocks);
    for block in blocks {
        match function.blocks.last_mut() {
            Some(last) if runs_on(last) && !targeted.contains(&block.label) => last.insts.extend(block.insts),
            _ => function.blocks.push(block),
        }
    }
}

/// The target of a branch.
pub fn target(inst: &Inst) -> Option<Label> {
    let branches = inst.operation().is_some_and(|operation| operation.ends_block() && operation != Operation::End);
    match inst.uses.first() {
        Some(Operand::Label(label)) if branches => Some(*label),
        _ => None,
    }
}
