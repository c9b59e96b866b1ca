//! Jumps out of arms that contain cross-lane operations. NVIDIA's GLSL compiler moves such an arm out of its loop,
//! where all invocations run the operations at once (docs/verified/nv-flow.md). So a flag moves the jump to the loop's
//! own level:
//!
//! ```glsl
//! bool leaves = false;
//! if (key == first) { together = ballotThreadNV(true); leaves = true; }
//! if (leaves) { break; }
//! ```
//!
//! That compiler does not reconverge invocations that return from inside a loop either, so such a return also sets a
//! flag and leaves the loop by `break`.

use super::expr::Expr;
use super::function::Body;
use super::tree::{Declared, Kind, Stmt};
use crate::ir::calls::callees_first;
use crate::ir::{BlockId, Function, Module, Op, Types, Value};
use crate::limits;

/// A construct around the current position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Around {
    Loop,
    Arm,
    Switch,
}

/// The flag for returns inside a loop, and the variable with their value.
#[derive(Debug)]
pub(super) struct Returns {
    flag: String,
    value: Option<String>,
}

/// For each function, true if it contains cross-lane operations.
pub(super) fn reaching(module: &Module) -> Vec<bool> {
    let mut reach = vec![false; module.functions.len()];
    for id in callees_first(module, module.functions.iter().map(|(id, _)| id)) {
        reach[id.index()] = module.functions[id].insts.iter().any(|(_, inst)| reaches(&inst.op, &reach));
    }
    reach
}

fn reaches(op: &Op, functions: &[bool]) -> bool {
    matches!(op, Op::Lane { .. }) || op.callees().into_iter().flatten().any(|callee| functions[callee.index()])
}

/// The jumps that count: `break` does not if it leaves an inner switch or loop.
#[derive(Clone, Copy)]
struct Jumps {
    breaks: bool,
    continues: bool,
}

/// Returns true if any of the instructions leaves by a jump that counts.
fn leaves(f: &Function, insts: &[crate::ir::InstId], jumps: Jumps) -> bool {
    limits::spend(insts.len());
    let inner = |block: BlockId, jumps: Jumps| leaves(f, &f.blocks[block].insts, jumps);
    insts.iter().any(|id| match f.insts[*id].op {
        Op::Break => jumps.breaks,
        Op::Continue => jumps.continues,
        Op::Return(_) => true,
        Op::If { then, otherwise, .. } => inner(then, jumps) || inner(otherwise, jumps),
        Op::Loop { body, continuing, .. } => inner(body, RETURNS) || inner(continuing, RETURNS),
        Op::Switch { cases, .. } => f.arms(cases).iter().any(|arm| inner(arm.body, Jumps { breaks: false, ..jumps })),
        _ => false,
    })
}

/// Returns true if a loop's body leaves the loop.
pub(super) fn leaves_loop(f: &Function, body: BlockId) -> bool {
    leaves(f, &f.blocks[body].insts, Jumps { breaks: true, continues: false }) || ends(f, body)
}

/// Returns true if a block can end the invocation.
fn ends(f: &Function, block: BlockId) -> bool {
    limits::spend(f.blocks[block].insts.len());
    f.blocks[block].insts.iter().map(|id| f.insts[*id].op).any(|op| {
        let is_end = matches!(op, Op::Discard | Op::Unreachable | Op::End(..));
        is_end || f.inner_blocks(op).into_iter().any(|inner| ends(f, inner))
    })
}

/// Only jumps that leave the function.
const RETURNS: Jumps = Jumps { breaks: false, continues: false };

impl Body<'_, '_> {
    /// Returns from the function; inside a loop, through its flag.
    pub fn return_from(&mut self, value: Option<Value>) {
        let given = value.map(|value| self.value(value).text);
        let Some(Returns { flag, value }) = &self.returns else {
            return self.leave_with(given);
        };
        let raised = format!("{flag} = true");
        let stored = value.as_ref().zip(given).map(|(name, given)| format!("{name} = {given}"));
        stored.into_iter().chain([raised, "break".to_string()]).for_each(|text| self.line(text));
    }

    /// Returns from the function, or from the entry point as the language does.
    pub fn leave_with(&mut self, value: Option<String>) {
        let language = self.t.language;
        match value {
            None if self.entry.is_some() => language.leave_entry(self),
            None => self.line("return".to_string()),
            Some(value) => self.line(format!("return {value}")),
        }
    }

    /// Returns true if blocks of a loop or a switch have returns that leave it through a flag. The outermost loop
    /// declares the flag.
    pub fn raises_returns(&mut self, blocks: &[BlockId], is_loop: bool) -> bool {
        let f = self.f;
        let is_wanted = self.t.language.jumps_after_arms() && self.t.reaching.contains(&true);
        let has_returns = || blocks.iter().any(|block| leaves(f, &f.blocks[*block].insts, RETURNS));
        if !is_wanted || !(is_loop || self.returns.is_some()) || !has_returns() {
            return false;
        }
        if self.returns.is_none() {
            let flag = self.named("returns");
            let value = Some("false".to_string());
            let (ty, name) = ("bool".to_string(), flag.clone());
            self.push(Kind::Define(Declared { ty, name, dims: String::new(), value, is_fixed: false }));
            let value = (f.ret != Types::VOID).then(|| self.named("given"));
            if let Some(name) = &value {
                let (ty, dims) = self.t.declared(f.ret);
                self.push(Kind::Define(Declared { ty, name: name.clone(), dims, value: None, is_fixed: false }));
            }
            self.returns = Some(Returns { flag, value });
        }
        true
    }

    /// Continues returns after the loop or switch that they left.
    pub fn go_on_returning(&mut self) {
        let is_outermost = !self.around.contains(&Around::Loop);
        let Some(Returns { flag, value }) = &self.returns else { return };
        let condition = Expr::primary(flag.clone());
        let jump = match value {
            _ if !is_outermost => "break;".to_string(),
            Some(value) => format!("return {value};"),
            None => "return;".to_string(),
        };
        if is_outermost {
            self.returns = None;
        }
        let then = vec![Stmt::new(self.origin, Kind::Line(jump))];
        self.push(Kind::If { condition, then, otherwise: Vec::new(), hint: "" });
    }

    /// The code of an arm.
    pub fn arm_of(&mut self, block: BlockId) -> Vec<Stmt> {
        self.around.push(Around::Arm);
        let code = self.block_of(block);
        self.around.pop();
        code
    }

    /// For each arm, true if its jump is moved after the selection.
    pub fn jumps_after(&mut self, arms: [BlockId; 2]) -> [bool; 2] {
        if !self.t.language.jumps_after_arms() || !self.around.contains(&Around::Loop) {
            return [false; 2];
        }
        arms.map(|arm| self.jumps_after_arm(arm))
    }

    fn jumps_after_arm(&mut self, arm: BlockId) -> bool {
        let f = self.f;
        let breakable = self.around.iter().rev().find(|around| **around != Around::Arm);
        let jumps = Jumps { breaks: breakable == Some(&Around::Loop), continues: true };
        let insts = &f.blocks[arm].insts;
        if !leaves(f, insts, jumps) || !self.has_lanes(arm) {
            return false;
        }
        let is_last = insts.split_last().is_some_and(|(last, others)| {
            matches!(f.insts[*last].op, Op::Break | Op::Continue | Op::Return(_)) && !leaves(f, others, jumps)
        });
        if is_last && self.around.last() == Some(&Around::Loop) {
            return true;
        }
        self.t.unsupported("cross-lane operations in an arm that leaves a loop from inside another arm");
        false
    }

    fn has_lanes(&self, block: BlockId) -> bool {
        let f = self.f;
        limits::spend(f.blocks[block].insts.len());
        f.blocks[block].insts.iter().map(|id| f.insts[*id].op).any(|op| {
            reaches(&op, &self.t.reaching) || f.inner_blocks(op).into_iter().any(|inner| self.has_lanes(inner))
        })
    }

    /// Writes a selection whose arms' jumps may be moved after it.
    pub fn select_and_jump(&mut self, condition: Expr, arms: [Vec<Stmt>; 2], after: [bool; 2], hint: &'static str) {
        let mut jumps = Vec::new();
        let [mut then, mut otherwise] = arms;
        for (arm, _) in [&mut then, &mut otherwise].into_iter().zip(after).filter(|(_, jumps)| *jumps) {
            let flag = self.named("leaves");
            let value = Some("false".to_string());
            let (ty, name) = ("bool".to_string(), flag.clone());
            self.push(Kind::Define(Declared { ty, name, dims: String::new(), value, is_fixed: false }));
            let jump = self.jump_of(arm);
            let raised = Kind::Line(format!("{flag} = true;"));
            arm.push(Stmt::new(self.origin, raised));
            jumps.push((flag, jump));
        }
        self.push(Kind::If { condition, then, otherwise, hint });
        for (flag, jump) in jumps {
            let then = vec![Stmt::new(self.origin, Kind::Line(jump))];
            self.push(Kind::If { condition: Expr::primary(flag), then, otherwise: Vec::new(), hint: "" });
        }
    }

    /// Removes the jump from the end of an arm.
    fn jump_of(&mut self, arm: &mut Vec<Stmt>) -> String {
        match arm.pop() {
            Some(Stmt { kind: Kind::Line(jump), .. }) => jump,
            _ => {
                self.t.internal("an arm without its jump");
                String::new()
            }
        }
    }
}
