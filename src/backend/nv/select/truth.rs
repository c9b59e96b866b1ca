//! Keeps -1 and 1.0 apart if a variable may be either: see [`crate::backend::truth`].

use super::Selector;
use crate::backend::nv::machine::{Class, Dest, Inst, Kind, Line, Operand, Reg};
use crate::backend::truth::{ONE, Truths};
use crate::lane::{LaneFact, MaskOp};

/// Registers copied to each other, and memory, as disjoint sets.
struct Sets {
    parents: Vec<usize>,
    holds: Vec<Truths>,
}

impl Sets {
    /// The set of a register.
    fn find(&mut self, mut at: usize) -> usize {
        while self.parents[at] != at {
            self.parents[at] = self.parents[self.parents[at]];
            at = self.parents[at];
        }
        at
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a] = b;
        self.holds[b] = self.holds[b].and(self.holds[a]);
    }

    /// Records that a word flows into a set.
    fn hold(&mut self, set: usize, word: u32) {
        let set = self.find(set);
        self.holds[set].hold(word);
    }

    fn is_mixed(&mut self, at: usize) -> bool {
        let set = self.find(at);
        self.holds[set].are_mixed()
    }
}

/// The set of the private array; registers follow.
const ARRAY: usize = 0;

fn set_of(reg: Reg) -> usize {
    reg.index() + 1
}

/// The sets that an instruction copies its sources to; `None` if it computes.
fn copied_to(inst: &Inst) -> Option<usize> {
    let copies = ["MOV", "CMP", "PK64", "UP64"].iter().any(|name| inst.name.starts_with(name));
    match &inst.dest {
        Dest::Regs(regs) if copies => regs.first().map(|reg| set_of(*reg)),
        Dest::Array(_) if copies => Some(ARRAY),
        _ => None,
    }
}

fn sets(lines: &[Line], registers: usize) -> Sets {
    let mut sets = Sets { parents: (0..=registers).collect(), holds: vec![Truths::default(); registers + 1] };
    for inst in lines.iter().filter_map(instruction) {
        let Some(to) = copied_to(inst) else { continue };
        inst.written().iter().for_each(|reg| sets.join(set_of(*reg), to));
        // `CMP` tests its first operand.
        let tested = usize::from(inst.name.starts_with("CMP"));
        for source in &inst.sources[tested..] {
            match source {
                Operand::Reg(reg) => sets.join(set_of(*reg), to),
                Operand::Vector(regs) => regs.iter().for_each(|reg| sets.join(set_of(*reg), to)),
                Operand::Constant(bits, _) => sets.hold(to, *bits),
                Operand::Constants(words) => words.iter().for_each(|bits| sets.hold(to, *bits)),
                Operand::Array(_) => sets.join(ARRAY, to),
                Operand::Named(_) | Operand::Offset(_) => {}
            }
        }
    }
    sets
}

fn instruction(line: &Line) -> Option<&Inst> {
    match line {
        Line::Inst(inst) => Some(inst),
        _ => None,
    }
}

impl Selector<'_> {
    /// Hides 1.0 from the driver wherever it flows to a variable that -1 also flows to.
    pub fn part_truths(&mut self) {
        let mut sets = sets(&self.lines, self.registers.regs.len());
        let is_mixed = |inst: &Inst| copied_to(inst).is_some_and(|to| sets.is_mixed(to)) && has_one(inst);
        let mixed: Vec<usize> = lines_of(&self.lines, is_mixed);
        if mixed.is_empty() {
            return;
        }
        let lines = std::mem::take(&mut self.lines);
        let one = self.hidden_one();
        let mut mixed = mixed.into_iter().peekable();
        for (at, line) in lines.into_iter().enumerate() {
            match line {
                Line::Inst(mut inst) if mixed.next_if_eq(&at).is_some() => {
                    self.origin = inst.origin;
                    inst.sources.iter_mut().for_each(|source| self.hide(source, one));
                    self.lines.push(Line::Inst(inst));
                }
                line => self.lines.push(line),
            }
        }
    }

    /// A register with 1.0: no lane is both below this lane and this lane itself.
    fn hidden_one(&mut self) -> Reg {
        let [below, own] = [MaskOp::Lt, MaskOp::Eq].map(|mask| self.fact(LaneFact::Mask(mask)));
        let own = Operand::Reg(self.in_reg(own));
        let zero = self.word("AND.U", &[own, below]);
        let one = self.word("OR.U", &[zero, Operand::Constant(ONE, Kind::Uint)]);
        self.in_reg(one)
    }

    /// Reads 1.0 from its register.
    fn hide(&mut self, source: &mut Operand, one: Reg) {
        match *source {
            Operand::Constant(ONE, _) => *source = Operand::Reg(one),
            Operand::Constants(words) if words.contains(&ONE) => {
                let count = if words[2..] == [0, 0] { 2 } else { 4 };
                let members = self.registers.add_vector(Class::Word, count);
                for (to, word) in members.iter().zip(words) {
                    let word = if word == ONE { Operand::Reg(one) } else { Operand::Constant(word, Kind::Uint) };
                    self.copy(*to, word);
                }
                *source = Operand::Vector(members);
            }
            _ => {}
        }
    }
}

fn has_one(inst: &Inst) -> bool {
    inst.sources.iter().any(|source| match source {
        Operand::Constant(bits, _) => *bits == ONE,
        Operand::Constants(words) => words.contains(&ONE),
        _ => false,
    })
}

/// Numbers of the lines whose instruction is such.
fn lines_of(lines: &[Line], mut is_such: impl FnMut(&Inst) -> bool) -> Vec<usize> {
    let is_such = |(at, line): (usize, &Line)| instruction(line).is_some_and(&mut is_such).then_some(at);
    lines.iter().enumerate().filter_map(is_such).collect()
}
