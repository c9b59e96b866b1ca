//! Jumps out of arms that hold cross-lane operations. NVIDIA's compiler of GLSL moves such an arm behind its loop, where the
//! operations run in all invocations at once (docs/verified/nv-flow.md). With a flag, the jump is at the loop's own level:
//!
//! ```glsl
//! bool leaves = false;
//! if (key == first) { together = ballotThreadNV(true); leaves = true; }
//! if (leaves) { break; }
//! ```

use super::dialect::Lanes;
use super::expr::Expr;
use super::function::Body;
use super::tree::{Kind, Stmt};
use crate::ir::calls::callees_first;
use crate::ir::{BlockId, Function, Module, Op, Types};

/// A construct around the place being written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Around {
    Loop,
    Arm,
    Switch,
}

/// For each function, true if it reaches other lanes.
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

/// The jumps that matter: `break` does not where a switch or a loop inside is what it leaves.
#[derive(Clone, Copy)]
struct Jumps {
    breaks: bool,
    continues: bool,
}

/// Returns true if any of the instructions leaves by a jump that matters.
fn leaves(f: &Function, insts: &[crate::ir::InstId], jumps: Jumps) -> bool {
    let inner = |block: BlockId, jumps: Jumps| leaves(f, &f.blocks[block].insts, jumps);
    insts.iter().any(|id| match f.insts[*id].op {
        Op::Break => jumps.breaks,
        Op::Continue => jumps.continues,
        Op::Return(_) => true,
        Op::If { then, otherwise, .. } => inner(then, jumps) || inner(otherwise, jumps),
        Op::Loop { body, continuing, .. } => {
            let none = Jumps { breaks: false, continues: false };
            inner(body, none) || inner(continuing, none)
        }
        Op::Switch { cases, .. } => f.arms(cases).iter().any(|arm| inner(arm.body, Jumps { breaks: false, ..jumps })),
        _ => false,
    })
}

impl Body<'_, '_> {
    /// The code of an arm.
    pub fn arm_of(&mut self, block: BlockId) -> Vec<Stmt> {
        self.around.push(Around::Arm);
        let code = self.block_of(block);
        self.around.pop();
        code
    }

    /// For each arm, true if its jump is to be taken after the selection.
    pub fn jumps_after(&mut self, arms: [BlockId; 2]) -> [bool; 2] {
        if self.t.dialect.lanes != Lanes::Nv || !self.around.contains(&Around::Loop) {
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
        f.blocks[block].insts.iter().any(|id| match f.insts[*id].op {
            Op::If { then, otherwise, .. } => self.has_lanes(then) || self.has_lanes(otherwise),
            Op::Loop { body, continuing, .. } => self.has_lanes(body) || self.has_lanes(continuing),
            Op::Switch { cases, .. } => f.arms(cases).iter().any(|arm| self.has_lanes(arm.body)),
            op => reaches(&op, &self.t.reaching),
        })
    }

    /// Writes a selection some of whose arms jump after it.
    pub fn select_and_jump(&mut self, condition: Expr, arms: [Vec<Stmt>; 2], after: [bool; 2], hint: &'static str) {
        let mut jumps = Vec::new();
        let [mut then, mut otherwise] = arms;
        for (arm, _) in [&mut then, &mut otherwise].into_iter().zip(after).filter(|(_, jumps)| *jumps) {
            let flag = self.named("leaves");
            let value = Some("false".to_string());
            self.push(Kind::Define { ty: "bool".to_string(), name: flag.clone(), dims: String::new(), value });
            let jump = self.jump_of(arm);
            let raised = Kind::Line(format!("{flag} = true;"));
            arm.push(Stmt { origin: self.origin, kind: raised });
            jumps.push((flag, jump));
        }
        self.push(Kind::If { condition, then, otherwise, hint });
        for (flag, jump) in jumps {
            let then = vec![Stmt { origin: self.origin, kind: Kind::Line(jump) }];
            self.push(Kind::If { condition: Expr::primary(flag), then, otherwise: Vec::new(), hint: "" });
        }
    }

    /// Takes the jump from the end of an arm. One that gives a value gives it through a variable.
    fn jump_of(&mut self, arm: &mut Vec<Stmt>) -> String {
        let Some(Stmt { origin, kind: Kind::Line(jump) }) = arm.pop() else {
            self.t.internal("an arm without its jump");
            return String::new();
        };
        let Some(value) = jump.strip_prefix("return ").filter(|_| self.f.ret != Types::VOID) else { return jump };
        let name = self.named("given");
        let (ty, dims) = self.t.declared(self.f.ret);
        arm.push(Stmt { origin, kind: Kind::Line(format!("{name} = {value}")) });
        self.push(Kind::Define { ty, name: name.clone(), dims, value: None });
        format!("return {name};")
    }
}
