//! Joins two accesses to workgroup memory, at two distances from one address, in one instruction (`ds_read2`, `ds_write2`).
//!
//! A load joins an earlier one with no write to workgroup memory in between, a store takes in an earlier one with no
//! access in between. Source: "LDS Instructions" of AMD's GCN 3, Vega, RDNA 2 and RDNA 3 ISA guides: both offsets are 8 bits,
//! in units of the words that are moved.

use super::{Walk, is_own, slices};
use crate::backend::amd::machine::{Code, File, Inst, Modifiers, Operand, Pseudo, Reg, RegInfo, Slice};
use crate::backend::amd::mnemonic::Operation;
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

/// How many loads are kept that others may join.
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

/// The accesses of a block that others may join.
#[derive(Debug, Default)]
pub struct Singles {
    loads: Vec<Single>,
    store: Option<Single>,
}

/// The row of a plain access of the shader's own.
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

/// Both offsets in units of so many words, if the encoding has room for them.
fn units([a, b]: [u32; 2], words: u8) -> Option<[u32; 2]> {
    let unit = 4 * u32::from(words);
    let fits = |offset: u32| offset.is_multiple_of(unit) && offset / unit <= u8::MAX.into();
    (a != b && fits(a) && fits(b)).then_some([a / unit, b / unit])
}

impl Walk<'_> {
    /// Joins an access with an earlier one where it can.
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
            Some((n, offsets)) => {
                let known = self.singles.loads.remove(n);
                self.join_loads(&known, &single, offsets);
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
            let width = self.registers[slice.reg.index()].width;
            self.accesses.writes[slice.reg.index()] == 1 && slice.count == width
        })
    }

    fn pair_store(&mut self, single: Single) {
        self.singles.loads.clear();
        let found = self.singles.store.take().and_then(|known| {
            let data =
                slices(&self.block.insts[known.at].uses[1..]).all(|slice| self.is_unchanged(slice, known.number));
            self.joint(&known, &single).filter(|_| data).map(|offsets| (known, offsets))
        });
        match found {
            Some((known, offsets)) => self.join_stores(&known, &single, offsets),
            None => self.singles.store = Some(single),
        }
    }

    fn is_unchanged(&self, slice: Slice, since: u32) -> bool {
        self.accesses.written[slice.reg.index()] <= since
    }

    /// The offsets of two accesses, if one instruction can do both.
    fn joint(&self, known: &Single, single: &Single) -> Option<[u32; 2]> {
        let is_same = std::ptr::eq(known.row, single.row) && known.address == single.address;
        let is_unchanged = slices(&[known.address]).all(|slice| self.is_unchanged(slice, known.number));
        let can = is_same && is_unchanged && self.exec < known.number;
        units([known.offset, single.offset], single.row.words).filter(|_| can)
    }

    /// Puts both loads where the first one was.
    fn join_loads(&mut self, known: &Single, single: &Single, [offset, second]: [u32; 2]) {
        let words = known.row.words;
        let reg = Reg((self.registers.len() + self.changes.added.len()) as u32);
        self.changes.added.push(RegInfo { file: File::Vector, width: 2 * words, fixed: None });
        for (n, at) in [known.at, single.at].into_iter().enumerate() {
            if let Operand::Reg(slice) = self.block.insts[at].defs[0] {
                self.changes.renamed.insert(slice.reg, Slice { reg, first: n as u8 * words, count: words });
            }
        }
        let load = &mut self.block.insts[known.at];
        load.code = Code::Real(known.row.two);
        load.defs = smallvec![Operand::Reg(Slice { reg, first: 0, count: 2 * words })];
        (load.modifiers.offset, load.modifiers.second) = (offset, Some(second));
        self.gone[single.at] = true;
    }

    /// Puts both stores where the second one was.
    fn join_stores(&mut self, known: &Single, single: &Single, [offset, second]: [u32; 2]) {
        let first = self.block.insts[known.at].uses[1];
        let store = &mut self.block.insts[single.at];
        store.code = Code::Real(known.row.two);
        store.uses.insert(1, first);
        (store.modifiers.offset, store.modifiers.second) = (offset, Some(second));
        self.gone[known.at] = true;
    }
}
