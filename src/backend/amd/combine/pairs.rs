//! Joins two accesses to workgroup memory, at two offsets from one address, in one instruction (`ds_read2`,
//! `ds_write2`).
//!
//! A load joins an earlier one with no write to workgroup memory in between, a store absorbs an earlier one with no
//! access in between. Source: "LDS Instructions" in AMD's GCN 3, Vega, RDNA 2 and RDNA 3 ISA guides: both offsets have
//! 8 bits, in units of the moved words. More distant places are relative to a separate base, which all pairs there
//! share.

use super::{Walk, is_own, slices};
use crate::backend::amd::machine::{Code, File, Inst, Modifiers, Operand, Pseudo, Slice};
use crate::backend::amd::mnemonic::{Form, Operation};
use crate::backend::amd::unit::Unit;
use smallvec::smallvec;

/// An access and that to two places.
#[derive(Debug)]
struct Row {
    one: Operation,
    two: Operation,
    /// Words of each place.
    words: u8,
}

static ROWS: [Row; 4] = [
    Row { one: Operation::LdsRead, two: Operation::LdsReadTwo, words: 1 },
    Row { one: Operation::LdsRead64, two: Operation::LdsReadTwo64, words: 2 },
    Row { one: Operation::LdsWrite, two: Operation::LdsWriteTwo, words: 1 },
    Row { one: Operation::LdsWrite64, two: Operation::LdsWriteTwo64, words: 2 },
];

/// Limit of the loads that are kept for joining.
const KEPT: usize = 8;

/// An access that another one may join.
#[derive(Clone, Copy, Debug)]
struct Single {
    at: usize,
    number: u32,
    row: &'static Row,
    address: Operand,
    offset: u32,
}

/// An address plus a distance, which moves the accesses into the range of offsets.
#[derive(Clone, Debug)]
pub struct Base {
    address: Operand,
    distance: u32,
    /// The instruction that the sum precedes.
    pub at: usize,
    pub sum: Inst,
}

/// The accesses of a block that others may join.
#[derive(Debug, Default)]
pub struct Singles {
    loads: Vec<Single>,
    store: Option<Single>,
}

/// The two addresses of one instruction.
#[derive(Clone, Copy, Debug)]
struct Places {
    /// Added to the address.
    distance: u32,
    /// Offsets from it, in units of the moved words.
    offsets: [u32; 2],
}

/// The row of a plain access in the shader's own code.
fn row(inst: &Inst) -> Option<&'static Row> {
    let row = ROWS.iter().find(|row| inst.operation() == Some(row.one))?;
    let is_plain = inst.modifiers == Modifiers { offset: inst.modifiers.offset, ..Modifiers::default() };
    (is_own(inst) && is_plain && !inst.keeps).then_some(row)
}

/// Returns true if an instruction accesses workgroup memory, or orders accesses to it.
fn touches_shared(inst: &Inst) -> bool {
    match inst.code {
        Code::Pseudo(pseudo) => matches!(pseudo, Pseudo::Fence(_)),
        Code::Real(operation) => {
            matches!(operation.unit(), Unit::Lds | Unit::Control) || inst.modifiers.prefix == "flat_"
        }
    }
}

/// Both offsets if one instruction reaches them; `is_far` if that needs a sum of the address first.
fn places([a, b]: [u32; 2], words: u8, is_far: bool) -> Option<Places> {
    let unit = 4 * u32::from(words);
    let reach = 256 * unit;
    let is_near = a.max(b) < reach;
    let distance = if is_near { 0 } else { a.min(b) / reach * reach };
    let fits = |offset: u32| offset.is_multiple_of(unit) && offset - distance < reach;
    let can = a != b && fits(a) && fits(b) && (is_near || is_far);
    can.then(|| Places { distance, offsets: [a, b].map(|offset| (offset - distance) / unit) })
}

impl Walk<'_> {
    /// Joins an access with an earlier one if possible.
    pub fn pair_access(&mut self, at: usize) {
        let inst = &self.block.insts[at];
        let Some(row) = row(inst) else {
            if touches_shared(inst) {
                self.singles = Singles::default();
            }
            return;
        };
        let address = self.resolved(inst.uses[0]);
        let single = Single { at, number: self.accesses.number, row, address, offset: inst.modifiers.offset };
        if row.one.is_shared_load() {
            self.pair_load(single);
        } else {
            self.pair_store(single);
        }
    }

    fn pair_load(&mut self, single: Single) {
        self.singles.store = None;
        if !self.is_written_once(single.at) {
            return;
        }
        let loads = &self.singles.loads;
        match (0..loads.len()).find_map(|n| Some((n, self.joint(&loads[n], &single)?))) {
            Some((n, places)) => {
                let known = self.singles.loads.remove(n);
                self.join_loads(&known, &single, places);
            }
            None => {
                let loads = &mut self.singles.loads;
                if loads.len() == KEPT {
                    loads.remove(0);
                }
                loads.push(single);
            }
        }
    }

    fn is_written_once(&self, at: usize) -> bool {
        slices(&self.block.insts[at].defs).all(|slice| {
            let width = self.info(slice.reg).width;
            self.accesses.writes[slice.reg.index()] == 1 && slice.count == width
        })
    }

    fn pair_store(&mut self, single: Single) {
        self.singles.loads.clear();
        let found = self.singles.store.take().and_then(|known| {
            let data =
                slices(&self.block.insts[known.at].uses[1..]).all(|slice| self.is_unchanged(slice, known.number));
            self.joint(&known, &single).filter(|_| data).map(|places| (known, places))
        });
        match found {
            Some((known, places)) => self.join_stores(&known, &single, places),
            None => self.singles.store = Some(single),
        }
    }

    fn is_unchanged(&self, slice: Slice, since: u32) -> bool {
        self.accesses.written[slice.reg.index()] <= since
    }

    /// The places of two accesses, if one instruction can do both.
    fn joint(&self, known: &Single, single: &Single) -> Option<Places> {
        let is_same = std::ptr::eq(known.row, single.row) && known.address == single.address;
        let is_unchanged = slices(&[known.address]).all(|slice| self.is_unchanged(slice, known.number));
        let can = is_same && is_unchanged && self.exec < known.number;
        let sum = Operation::AddU32.spelling(self.arch.generation);
        let is_far = sum.is_some_and(|sum| sum.form == Form::Plain);
        places([known.offset, single.offset], single.row.words, is_far).filter(|_| can)
    }

    /// The address of access `at` plus a distance, computed before it or before an earlier instruction.
    fn based(&mut self, at: usize, address: Operand, distance: u32) -> Operand {
        let own = self.block.insts[at].uses[0];
        if distance == 0 {
            return own;
        }
        let is_valid = |base: &Base| {
            let since = self.start + base.at.min(at) as u32 + 1;
            let is_same = base.address == address && base.distance == distance;
            is_same && self.exec < since && slices(&[address]).all(|slice| self.is_unchanged(slice, since))
        };
        let Some(n) = self.bases.iter().rev().take(KEPT).position(is_valid) else {
            return self.new_base(at, address, distance);
        };
        let n = self.bases.len() - 1 - n;
        let base = &mut self.bases[n];
        if at < base.at {
            base.at = at;
            base.sum.uses[1] = own;
        }
        base.sum.defs[0]
    }

    fn new_base(&mut self, at: usize, address: Operand, distance: u32) -> Operand {
        let access = &self.block.insts[at];
        let (code, modifiers) = (Code::Real(Operation::AddU32), Modifiers::default());
        let uses = smallvec![Operand::Constant(distance), access.uses[0]];
        let access = access.clone();
        let reg = self.new_register(File::Vector, 1);
        let defs = smallvec![Operand::Reg(Slice { reg, first: 0, count: 1 })];
        let sum = Inst { code, modifiers, defs, uses, ..access };
        let reg = sum.defs[0];
        self.bases.push(Base { address, distance, at, sum });
        reg
    }

    /// Puts both loads in place of the first one.
    fn join_loads(&mut self, known: &Single, single: &Single, places: Places) {
        let words = known.row.words;
        let base = self.based(known.at, known.address, places.distance);
        let reg = self.new_register(File::Vector, 2 * words);
        for (n, at) in [known.at, single.at].into_iter().enumerate() {
            if let Operand::Reg(slice) = self.block.insts[at].defs[0] {
                self.changes.renamed.insert(slice.reg, Slice { reg, first: n as u8 * words, count: words });
            }
        }
        let load = &mut self.block.insts[known.at];
        load.code = Code::Real(known.row.two);
        load.uses[0] = base;
        load.defs = smallvec![Operand::Reg(Slice { reg, first: 0, count: 2 * words })];
        (load.modifiers.offset, load.modifiers.second) = (places.offsets[0], Some(places.offsets[1]));
        self.gone[single.at] = true;
    }

    /// Puts both stores in place of the second one.
    fn join_stores(&mut self, known: &Single, single: &Single, places: Places) {
        let base = self.based(single.at, single.address, places.distance);
        let first = self.block.insts[known.at].uses[1];
        let store = &mut self.block.insts[single.at];
        store.code = Code::Real(known.row.two);
        store.uses[0] = base;
        store.uses.insert(1, first);
        (store.modifiers.offset, store.modifiers.second) = (places.offsets[0], Some(places.offsets[1]));
        self.gone[known.at] = true;
    }
}
