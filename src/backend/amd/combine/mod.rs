//! Combines instructions: two steps in one, if only the second uses the result of the first. Moves of the same value
//! are shared, loads extend signs, moves of bytes are combined, operands are parts of registers, accesses to two places
//! in workgroup memory become one instruction, and comparisons write EXEC directly.
//!
//! The pass works on virtual registers, in one block at a time, on the shader's own code: sequences of cross-lane
//! operations stay as planned. The combined instruction replaces the second one. The first one is removed if nothing in
//! between writes its operands or disables lanes, and nothing reads its condition code.

mod bytes;
mod exec;
mod loads;
mod moves;
mod pairs;
mod parts;
mod rows;
mod signs;
#[cfg(test)]
mod tests;

use super::arch::Arch;
use super::machine::{Block, Code, File, Function, Inst, Operand, Reg, RegInfo, Slice, Specials, is_inline};
use crate::kernel::Origin;
use moves::{Moved, Renamed};
use pairs::{Base, Singles};
use rows::{Encoding, Pair, Row};

/// Combines the instructions of each block.
pub fn combine(function: &mut Function, arch: &Arch) {
    let mut accesses = Accesses::new(function);
    let ends_dead = !function.blocks.iter().any(takes_condition);
    let registers = &function.registers;
    let mut changes = Changes::default();
    for block in &mut function.blocks {
        let mut walk = Walk::new(block, arch, registers, &mut accesses, &mut changes, ends_dead);
        walk.all(Walk::share_move);
        walk.all(|walk, at| walk.fuse(at, rows::VECTOR));
        walk.all(Walk::extend_load);
        walk.all(Walk::permute_bytes);
        walk.all(Walk::convert_byte);
        walk.all(Walk::take_signs);
        walk.all(Walk::take_parts);
        // Vector instructions are fused with each other first, because they cost more than scalar ones.
        walk.all(|walk, at| walk.fuse(at, rows::SCALAR));
        walk.all(Walk::compare_into_exec);
        walk.all(Walk::pair_access);
        walk.finish();
    }
    function.registers.extend(changes.added);
    moves::rename(function, &changes.renamed);
}

/// Returns true if a block reads the condition code of the previous one.
fn takes_condition(block: &Block) -> bool {
    let touches = |inst: &&Inst| (inst.specials_read() | inst.specials_written()).contains(Specials::SCC);
    block.insts.iter().find(touches).is_some_and(|inst| inst.specials_read().contains(Specials::SCC))
}

/// For each instruction, true if nothing reads its condition code.
fn dead_conditions(insts: &[Inst], ends_dead: bool) -> Vec<bool> {
    let mut dead = vec![false; insts.len()];
    let mut is_dead = ends_dead;
    for (inst, dead) in insts.iter().zip(&mut dead).rev() {
        *dead = is_dead;
        is_dead |= inst.specials_written().contains(Specials::SCC);
        is_dead &= !inst.specials_read().contains(Specials::SCC);
    }
    dead
}

/// Virtual registers among operands.
fn slices(operands: &[Operand]) -> impl Iterator<Item = Slice> + '_ {
    let slice = |operand: &Operand| if let Operand::Reg(slice) = operand { Some(*slice) } else { None };
    operands.iter().filter_map(slice)
}

/// The positions and number of accesses to registers.
struct Accesses {
    /// How often each is read in the whole function.
    reads: Vec<u32>,
    /// How often each is written in the whole function.
    writes: Vec<u32>,
    /// The number of the instruction that has written each last.
    written: Vec<u32>,
    /// The number of the last instruction that was met.
    number: u32,
}

impl Accesses {
    fn new(function: &Function) -> Accesses {
        let none = vec![0; function.registers.len()];
        let mut accesses = Accesses { reads: none.clone(), writes: none.clone(), written: none, number: 0 };
        function.blocks.iter().flat_map(|block| &block.insts).for_each(|inst| accesses.count(inst, 1));
        accesses
    }

    fn add_register(&mut self) {
        [&mut self.reads, &mut self.writes, &mut self.written].into_iter().for_each(|counts| counts.push(0));
    }

    /// Counts the accesses of an instruction, or removes them.
    fn count(&mut self, inst: &Inst, by: i32) {
        for slice in inst.reads() {
            let reads = &mut self.reads[slice.reg.index()];
            *reads = reads.wrapping_add_signed(by);
        }
        for slice in slices(&inst.defs) {
            let writes = &mut self.writes[slice.reg.index()];
            *writes = writes.wrapping_add_signed(by);
        }
    }
}

/// Changes to the function's registers, applied after all walks.
#[derive(Debug, Default)]
struct Changes {
    renamed: Renamed,
    /// Additional registers.
    added: Vec<RegInfo>,
}

/// Walks through the instructions of a block, which replace each other.
struct Walk<'w> {
    arch: &'w Arch,
    registers: &'w [RegInfo],
    accesses: &'w mut Accesses,
    block: &'w mut Block,
    changes: &'w mut Changes,
    /// The last moves.
    moves: Vec<Moved>,
    singles: Singles,
    bases: Vec<Base>,
    /// New instructions, each with the position that it is inserted before.
    before: Vec<(usize, Inst)>,
    /// True for instructions that have been removed.
    gone: Vec<bool>,
    condition_is_dead: Vec<bool>,
    /// The number of the last instruction before the block in this walk.
    start: u32,
    /// The number of the instruction that has written EXEC last.
    exec: u32,
}

impl<'w> Walk<'w> {
    fn new(
        block: &'w mut Block,
        arch: &'w Arch,
        registers: &'w [RegInfo],
        accesses: &'w mut Accesses,
        changes: &'w mut Changes,
        ends_dead: bool,
    ) -> Walk<'w> {
        let gone = vec![false; block.insts.len()];
        let condition_is_dead = dead_conditions(&block.insts, ends_dead);
        Walk {
            arch,
            registers,
            accesses,
            block,
            changes,
            moves: Vec::new(),
            singles: Singles::default(),
            bases: Vec::new(),
            before: Vec::new(),
            gone,
            condition_is_dead,
            start: 0,
            exec: 0,
        }
    }

    /// Calls a function for each instruction in order.
    fn all(&mut self, mut visit: impl FnMut(&mut Self, usize)) {
        self.start = self.accesses.number;
        self.exec = self.start;
        for at in 0..self.block.insts.len() {
            self.accesses.number += 1;
            if !self.gone[at] {
                visit(self, at);
                self.pass(at);
            }
        }
    }

    fn pass(&mut self, at: usize) {
        let (inst, number) = (&self.block.insts[at], self.accesses.number);
        slices(&inst.defs).for_each(|slice| self.accesses.written[slice.reg.index()] = number);
        if inst.specials_written().contains(Specials::EXEC) {
            self.exec = number;
        }
    }

    /// Removes deleted instructions and inserts new ones.
    fn finish(mut self) {
        self.before.extend(self.bases.into_iter().map(|base| (base.at, base.sum)));
        self.before.sort_by_key(|(at, _)| *at);
        let mut before = self.before.into_iter().peekable();
        let mut insts = Vec::with_capacity(self.block.insts.len());
        for (at, (inst, gone)) in std::mem::take(&mut self.block.insts).into_iter().zip(self.gone).enumerate() {
            while let Some((_, inst)) = before.next_if(|(place, _)| *place == at) {
                insts.push(inst);
            }
            insts.extend((!gone).then_some(inst));
        }
        self.block.insts = insts;
    }

    /// Inserts an instruction before the current one.
    fn put_before(&mut self, at: usize, inst: Inst) {
        self.accesses.count(&inst, 1);
        slices(&inst.defs).for_each(|slice| self.accesses.written[slice.reg.index()] = self.accesses.number);
        self.before.push((at, inst));
    }

    // Registers.

    fn info(&self, reg: Reg) -> &RegInfo {
        let (old, index) = (self.registers.len(), reg.index());
        if index < old { &self.registers[index] } else { &self.changes.added[index - old] }
    }

    /// The register that the next call of [`Self::new_register`] returns.
    fn next_register(&self) -> Reg {
        Reg((self.registers.len() + self.changes.added.len()) as u32)
    }

    fn new_register(&mut self, file: File, width: u8) -> Reg {
        let reg = self.next_register();
        self.changes.added.push(RegInfo { file, width, fixed: None });
        self.accesses.add_register();
        reg
    }

    // Pairs.

    /// Fuses an instruction with producers that have no other use.
    fn fuse(&mut self, at: usize, rows: &[Row]) {
        while let Some((inner, fused)) = self.fused(at, rows) {
            self.replace(at, [inner], fused);
        }
    }

    /// The instruction for the first row that applies, and the inner one that it replaces.
    fn fused(&self, at: usize, rows: &[Row]) -> Option<(usize, Inst)> {
        let outer = &self.block.insts[at];
        let operation = outer.operation()?;
        let known = rows.iter().filter(|row| row.outer == operation && self.exists(row));
        let mut places = known.flat_map(|row| row.slots.each().map(move |slot| (row, slot)));
        places.find_map(|(row, slot)| self.apply(row, at, slot))
    }

    fn exists(&self, row: &Row) -> bool {
        row.fused.spelling(self.arch.generation).is_some()
    }

    fn apply(&self, row: &Row, at: usize, slot: usize) -> Option<(usize, Inst)> {
        let outer = &self.block.insts[at];
        let inner_at = self.maker(at, slot)?;
        let inner = &self.block.insts[inner_at];
        let is_plain = inner.modifiers.is_empty() && outer.modifiers.is_empty();
        if inner.operation() != Some(row.inner) || !is_plain {
            return None;
        }
        let has_condition = outer.specials_written().contains(Specials::SCC);
        if has_condition && !row.keeps_condition && !self.condition_is_dead[at] {
            return None;
        }
        let uses = (row.uses)(&Pair { inner: &inner.uses, outer: &outer.uses, slot })?;
        let code = Code::Real(row.fused);
        // A sum without a fused form may write a carry, which nothing reads.
        let defs = outer.defs[..1].into();
        self.fits(row.encoding, &uses).then(|| (inner_at, Inst { code, defs, uses, ..outer.clone() }))
    }

    /// The instruction of the block that defines an operand, if it can be merged into instruction `at`, its only use.
    fn maker(&self, at: usize, slot: usize) -> Option<usize> {
        let is_single = |slice: &Slice| self.accesses.reads[slice.reg.index()] == 1;
        let operand = self.block.insts[at].uses.get(slot)?;
        slices(std::slice::from_ref(operand)).next().filter(is_single)?;
        self.repeatable(at, slot)
    }

    /// The instruction that defines an operand, even if others also use the result: instruction `at` can repeat its
    /// work.
    fn repeatable(&self, at: usize, slot: usize) -> Option<usize> {
        let outer = &self.block.insts[at];
        let Some(Operand::Reg(slice)) = outer.uses.get(slot).copied() else { return None };
        let reg = slice.reg.index();
        let is_whole = slice.count == self.info(slice.reg).width;
        let number = self.accesses.written[reg];
        if !is_whole || self.accesses.writes[reg] != 1 || number <= self.start {
            return None;
        }
        let inner_at = (number - self.start) as usize - 1;
        let inner = &self.block.insts[inner_at];
        (is_own(outer) && is_own(inner) && !inner.keeps && self.can_wait(inner_at, number)).then_some(inner_at)
    }

    /// Returns true if an instruction may run at the current position instead.
    fn can_wait(&self, at: usize, number: u32) -> bool {
        let inst = &self.block.insts[at];
        let is_same = slices(&inst.uses).all(|slice| self.accesses.written[slice.reg.index()] <= number);
        let (reads, writes) = (inst.specials_read(), inst.specials_written());
        let lanes_are_same = self.exec < number || !reads.contains(Specials::EXEC);
        let is_free = (reads - Specials::EXEC).is_empty();
        let condition = !writes.contains(Specials::SCC) || self.condition_is_dead[at];
        is_same && lanes_are_same && is_free && condition
    }

    /// Replaces an instruction, and removes earlier ones, the last one first, whose results are no longer used.
    fn replace(&mut self, at: usize, makers: impl IntoIterator<Item = usize>, by: Inst) {
        self.accesses.count(&self.block.insts[at], -1);
        self.accesses.count(&by, 1);
        self.block.insts[at] = by;
        for inner in makers {
            let inst = &self.block.insts[inner];
            let is_read = slices(&inst.defs).any(|slice| self.accesses.reads[slice.reg.index()] > 0);
            if !is_read && !self.gone[inner] {
                self.accesses.count(inst, -1);
                self.gone[inner] = true;
            }
        }
    }

    fn is_vector(&self, operand: &Operand) -> bool {
        slices(std::slice::from_ref(operand)).any(|slice| self.info(slice.reg).file == File::Vector)
    }

    /// Returns true if an encoding reads these operands.
    fn fits(&self, encoding: Encoding, uses: &[Operand]) -> bool {
        let is_vector = |operand: &Operand| self.is_vector(operand);
        let is_literal = |operand: &Operand| matches!(operand, Operand::Constant(bits) if !is_inline(*bits));
        let is_scalar = |operand: &Operand| !is_vector(operand) && !matches!(operand, Operand::Constant(_));
        let distinct = |is_it: &dyn Fn(&Operand) -> bool| {
            let is_first = |n: usize| !uses[..n].contains(&uses[n]);
            (0..uses.len()).filter(|n| is_it(&uses[*n]) && is_first(*n)).count()
        };
        let (literals, scalars) = (distinct(&is_literal), distinct(&is_scalar));
        match encoding {
            Encoding::Scalar => literals <= 1,
            Encoding::Short => uses[1..].iter().all(is_vector),
            Encoding::Long => {
                let most = usize::from(self.arch.has_long_literals());
                literals <= most && literals + scalars <= self.arch.scalar_reads()
            }
        }
    }
}

/// Returns true for the shader's own code, which is not part of a plan.
pub fn is_own(inst: &Inst) -> bool {
    inst.origin == Origin::Code && !inst.is_lane
}
