//! Random code on random paths: no register is read or overwritten before the slowest memory that the counters allow
//! has delivered it.

use super::*;
use crate::backend::amd::machine::RegisterRange;
use std::collections::BTreeMap;

/// A sequence of numbers (a linear congruential generator; Knuth's constants).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end.max(1)
    }
}

fn random_inst(dice: &mut Dice, prefix: &'static str) -> Inst {
    let mut vector = || v(dice.below(6) as u16);
    let (a, b, c) = (vector(), vector(), vector());
    let scalar = s(dice.below(4) as u16);
    match dice.below(9) {
        0 | 1 => memory(prefix, O::Load32, &[a], &[b, scalar]),
        2 => memory(prefix, O::Store32, &[], &[a, b, scalar]),
        3 => Inst::real(O::Swizzle, &[a], &[b]),
        4 => Inst::real(O::LoadScalar32, &[s(dice.below(4) as u16)], &[scalar, Operand::Constant(0)]),
        5 => fence(dice.below(2) == 0, dice.below(2) == 0, None),
        6 => Inst::real(O::Move, &[a], &[scalar]),
        _ => Inst::real(O::AddU32, &[a], &[b, c]),
    }
}

fn random_function(seed: u64, prefix: &'static str) -> Function {
    let dice = &mut Dice(seed);
    let count = 2 + dice.below(5);
    let blocks = (0..count).map(|label| {
        let mut insts: Vec<Inst> = (0..dice.below(8)).map(|_| random_inst(dice, prefix)).collect();
        let to = Operand::Label(Label(dice.below(count) as u32));
        match dice.below(3) {
            _ if label + 1 == count => insts.push(Inst::real(O::End, &[], &[])),
            0 => insts.push(Inst::real(O::BranchScc0, &[], &[to])),
            1 => insts.push(Inst::real(O::Branch, &[], &[to])),
            _ => {}
        }
        Block { label: Label(label as u32), insts }
    });
    Function { blocks: blocks.collect(), ..Function::default() }
}

/// The pending accesses, by the letter of their counter: in issue order, with the registers that they will write, and
/// whether they may overtake others of their counter.
#[derive(Default)]
struct Memory {
    under_way: BTreeMap<&'static str, Vec<(Option<RegisterRange>, &'static str)>>,
}

impl Memory {
    /// The counters of an instruction, and its delivery stream.
    fn begin(&mut self, inst: &Inst, is_rdna4: bool, has_stores: bool) {
        let to = inst.defs.iter().find_map(|def| if let Operand::Hardware(place) = def { Some(*place) } else { None });
        let is_flat = inst.modifiers.prefix == "flat_";
        let (lds, scalar) = if is_rdna4 { ("ds", "km") } else { ("lgkm", "lgkm") };
        let counted: &[(&'static str, &'static str)] = match inst.operation() {
            Some(O::Load32) if is_flat => &[("load", "memory"), ("lgkm", "flat")],
            Some(O::Store32) if is_flat => &[("load", "memory"), ("lgkm", "flat")],
            Some(O::Load32) => &[("load", "memory")],
            Some(O::Store32) if has_stores => &[("store", "memory")],
            Some(O::Store32) => &[("load", "memory")],
            Some(O::Swizzle) => &[(lds, "lds")],
            Some(O::LoadScalar32) => &[(scalar, "")],
            _ => &[],
        };
        for (counter, stream) in counted {
            // A flat access returns a result through its own counter only.
            let to = to.filter(|_| *stream != "flat");
            self.under_way.entry(counter).or_default().push((to, stream));
        }
    }

    /// A counter has dropped: the oldest events of each stream have completed only if that follows for every
    /// interleaving of the streams.
    fn wait(&mut self, counter: &'static str, down_to: usize) {
        let Some(all) = self.under_way.get_mut(counter) else { return };
        // In the worst case everything else has completed: only the event and later events of its stream keep the
        // counter up.
        let held = |at: usize| {
            let stream = all[at].1;
            let is_behind =
                |(_, other): &&(Option<RegisterRange>, &'static str)| *other == stream && !stream.is_empty();
            1 + all[at + 1..].iter().filter(is_behind).count()
        };
        let stay: Vec<bool> = (0..all.len()).map(|at| held(at) <= down_to).collect();
        let mut stay = stay.into_iter();
        all.retain(|_| stay.next().unwrap_or(true));
    }

    fn check(&self, inst: &Inst, name: &str) {
        for place in inst.hardware_read().chain(inst.hardware_written()) {
            let is_late = self.under_way.values().flatten().any(|(to, _)| *to == Some(place));
            assert!(!is_late, "{name}: {inst:?} meets {:?}", self.under_way);
        }
    }
}

/// Runs a path of this many instructions, with random branches.
fn run(function: &Function, profile: &str, dice: &mut Dice, name: &str) {
    let (is_rdna4, has_stores) = (profile.starts_with("gfx12"), profile.starts_with("gfx1"));
    let positions = function.positions();
    let mut memory = Memory::default();
    let (mut block, mut steps) = (0, 0);
    'blocks: while block < function.blocks.len() && steps < 400 {
        for inst in &function.blocks[block].insts {
            steps += 1;
            match (inst.operation(), inst.uses.first()) {
                (Some(O::End), _) => return,
                (Some(operation @ (O::Branch | O::BranchScc0)), Some(Operand::Label(to))) => {
                    if operation == O::Branch || dice.below(2) == 0 {
                        block = positions[to.0 as usize];
                        continue 'blocks;
                    }
                }
                (Some(operation), _) if is_wait(operation) => waited(&mut memory, inst, operation),
                _ => {
                    memory.check(inst, name);
                    memory.begin(inst, is_rdna4, has_stores);
                }
            }
        }
        block += 1;
    }
}

fn is_wait(operation: O) -> bool {
    let split = matches!(operation, O::WaitLoads | O::WaitLdsCount | O::WaitScalarLoads | O::WaitLoadsAndLds);
    split || matches!(operation, O::WaitCounters | O::WaitStores | O::WaitStoresAndLds)
}

fn waited(memory: &mut Memory, inst: &Inst, operation: O) {
    let number = inst.uses.iter().find_map(|operand| match operand {
        Operand::Constant(number) => Some(*number as usize),
        _ => None,
    });
    let number = number.unwrap_or_default();
    match operation {
        O::WaitLoads => memory.wait("load", number),
        O::WaitStores => memory.wait("store", number),
        O::WaitLdsCount => memory.wait("ds", number),
        O::WaitScalarLoads => memory.wait("km", number),
        O::WaitLoadsAndLds => {
            [("load", number >> 8), ("ds", number & 255)].into_iter().for_each(|(of, to)| memory.wait(of, to))
        }
        O::WaitStoresAndLds => {
            [("store", number >> 8), ("ds", number & 255)].into_iter().for_each(|(of, to)| memory.wait(of, to));
        }
        _ => inst.uses.iter().for_each(|operand| match operand {
            Operand::Field("vmcnt", to) => memory.wait("load", usize::from(*to)),
            Operand::Field("lgkmcnt", to) => memory.wait("lgkm", usize::from(*to)),
            _ => {}
        }),
    }
}

#[test]
fn random_ways() {
    for (profile, prefix) in [
        ("gfx600", "buffer_"),
        ("gfx803", "flat_"),
        ("gfx900", "global_"),
        ("gfx1030-wave32", "global_"),
        ("gfx1200-wave32", "global_"),
    ] {
        for seed in 0..150 {
            let mut function = random_function(seed, prefix);
            insert(&mut function, &arch(profile));
            for way in 0..8 {
                run(&function, profile, &mut Dice(seed * 100 + way), &format!("{profile}, function {seed}"));
            }
        }
    }
}
