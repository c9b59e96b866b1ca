//! Cross-lane instructions and masks of lanes.

use super::{Class, Reg, Selector};
use crate::backend::ptx::mnemonic;
use crate::ir::Scalar;
use crate::kernel::tree::Tree;
use crate::kernel::{InstId, Kernel, Op, Value};
use crate::lane::op::{MaskOp, ReduceOp, ShuffleMode, VoteOp};
use crate::lane::plan::AluOp;
use crate::lane::primitive::NvOp;
use crate::lane::{LaneFact, Primitive};
use rustc_hash::FxHashMap;

/// Distance in instructions within which a second 16-bit shuffle is searched for: the moves of a vector's components
/// are neighbours.
const PAIRED_WITHIN: usize = 16;

/// For each shuffle the later instruction that reads its predicate, before the next construct in the same block.
pub(super) fn valids(kernel: &Kernel, tree: &Tree) -> FxHashMap<InstId, InstId> {
    let mut valids = FxHashMap::default();
    let mut ahead: FxHashMap<(ShuffleMode, &[Value]), InstId> = FxHashMap::default();
    for block in &tree.blocks {
        ahead.clear();
        for inst in kernel.blocks[*block].insts.iter().rev() {
            let args = kernel.args(*inst);
            match kernel.insts[*inst].op {
                Op::Prim { primitive: Primitive::Nv(NvOp::ShuffleValid(mode)), .. } => {
                    ahead.insert((mode, args), *inst);
                }
                Op::Prim { primitive: Primitive::Nv(NvOp::Shuffle(mode)), .. } => {
                    valids.extend(ahead.get(&(mode, &args[1..])).map(|valid| (*inst, *valid)));
                }
                op if op.is_structured() => ahead.clear(),
                _ => {}
            }
        }
    }
    valids
}

impl Selector<'_> {
    /// A cross-lane instruction; `rest` are the instructions after it in its block.
    pub fn primitive(&mut self, inst: InstId, primitive: Primitive, ty: Scalar, rest: &[InstId]) {
        let Primitive::Nv(op) = primitive else {
            self.refused("a cross-lane instruction of other hardware", Class::Word);
            return;
        };
        let kernel = self.kernel;
        let args = kernel.args(inst);
        let reg = match op {
            NvOp::Shuffle(_) | NvOp::ShuffleValid(_) if self.is_given(inst) => return,
            NvOp::Shuffle(mode) => return self.shuffle(inst, mode, ty, rest),
            NvOp::ShuffleValid(mode) => self.valid(mode, args),
            NvOp::Vote(vote) => self.vote(vote, args[0]),
            NvOp::Ballot => self.ballot_of(args[0]),
            NvOp::Reduce(fold) => self.redux(fold, ty, args[0]),
            NvOp::Match => self.matched(args[0]),
            NvOp::MatchAll => self.matched_all(args[0]),
            NvOp::Sync => {
                let lanes = self.members();
                return self.push(format!("{} {lanes};", mnemonic::SYNC));
            }
            NvOp::QuadSwizzle(_) => self.refused("a swizzle of quads", Class::Word),
        };
        self.result(inst, reg);
    }

    fn vote(&mut self, vote: VoteOp, predicate: Value) -> Reg {
        let (predicate, lanes) = (self.arg(predicate), self.members());
        self.inst(Class::Pred, mnemonic::vote(vote), format_args!("{predicate}, {lanes}"))
    }

    /// The known running lanes are all active lanes.
    fn ballot_of(&mut self, predicate: Value) -> Reg {
        let lanes = self.members();
        if self.known(predicate) == Some(1) {
            return self.word("mov.b32", lanes);
        }
        let predicate = self.arg(predicate);
        self.ballot(predicate, &lanes)
    }

    pub fn ballot(&mut self, predicate: Reg, lanes: &str) -> Reg {
        self.word(mnemonic::BALLOT, format_args!("{predicate}, {lanes}"))
    }

    /// A value of up to 32 bits in a word.
    fn in_word(&mut self, scalar: Scalar, value: Value) -> Reg {
        match scalar.width {
            8 | 16 => {
                let bits = Scalar {
                    kind: if scalar.is_float() { crate::ir::ScalarKind::Uint } else { scalar.kind },
                    ..scalar
                };
                self.widened(bits, value)
            }
            _ => self.arg(value),
        }
    }

    fn redux(&mut self, fold: ReduceOp, ty: Scalar, value: Value) -> Reg {
        let (word, lanes) = (self.in_word(ty, value), self.members());
        let all = self.word(mnemonic::reduction(fold, ty.is_signed()), format_args!("{word}, {lanes}"));
        // ptxas 13.0 (-O2) makes a short branch on a uniform predicate UPn, and its `redux.sync`, code under the unrelated
        // predicate Pn.
        if self.is_skipped() {
            self.push(mnemonic::KEEPS_BRANCH.to_owned());
        }
        if ty.width < 32 { self.cut(ty, all) } else { all }
    }

    /// 16-bit values as words that are equal exactly if the values are.
    fn comparable(&mut self, value: Value) -> (Reg, u32) {
        match self.class(value) {
            Class::Half => (self.widened(Scalar::U16, value), 32),
            Class::Long => (self.arg(value), 64),
            _ => (self.arg(value), 32),
        }
    }

    fn matched(&mut self, value: Value) -> Reg {
        let ((value, bits), lanes) = (self.comparable(value), self.members());
        self.word(format_args!("{}.b{bits}", mnemonic::MATCH_ANY), format_args!("{value}, {lanes}"))
    }

    fn matched_all(&mut self, value: Value) -> Reg {
        let ((value, bits), lanes) = (self.comparable(value), self.members());
        let (mask, all) = (self.reg(Class::Word), self.reg(Class::Pred));
        self.push(format!("{}.b{bits} {mask}|{all}, {value}, {lanes};", mnemonic::MATCH_ALL));
        all
    }

    fn shuffle(&mut self, inst: InstId, mode: ShuffleMode, ty: Scalar, rest: &[InstId]) {
        let kernel = self.kernel;
        let args = kernel.args(inst);
        let [index, mask] = [args[1], args[2]].map(|arg| self.operand(arg));
        let valid = self.valids.get(&inst).copied().filter(|valid| !self.is_given(*valid));
        let given = valid.map(|inst| {
            let reg = self.reg(Class::Pred);
            self.result(inst, reg);
            reg
        });
        let lanes = self.members();
        let moved = |selector: &mut Self, word: Reg, given: Option<Reg>| {
            let to = selector.reg(Class::Word);
            let target = given.map_or(to.to_string(), |given| format!("{to}|{given}"));
            selector.push(format!("{} {target}, {word}, {index}, {mask}, {lanes};", mnemonic::shuffle(mode)));
            to
        };
        let result = match ty.width {
            64 => {
                let [low, high] = self.halves(args[0]);
                let words = [moved(self, low, given), moved(self, high, None)];
                self.join(words)
            }
            8 | 16 => match self.partner_of(inst, rest) {
                Some(second) => {
                    let [low, high] = [inst, second].map(|inst| self.arg(kernel.args(inst)[0]));
                    let word = self.word("mov.b32", format_args!("{{{low}, {high}}}"));
                    let word = moved(self, word, given);
                    let [low, high] = [self.reg(Class::Half), self.reg(Class::Half)];
                    self.push(format!("mov.b32 {{{low}, {high}}}, {word};"));
                    self.result(second, high);
                    low
                }
                None => {
                    let word = self.widened(Scalar::U16, args[0]);
                    let word = moved(self, word, given);
                    self.inst(Class::Half, "cvt.u16.u32", word)
                }
            },
            1 => {
                let value = self.arg(args[0]);
                let word = self.word("selp.b32", format_args!("1, 0, {value}"));
                let word = moved(self, word, given);
                self.inst(Class::Pred, "setp.ne.s32", format_args!("{word}, 0"))
            }
            _ => {
                let word = self.arg(args[0]);
                moved(self, word, given)
            }
        };
        self.result(inst, result);
    }

    /// Returns true if an earlier instruction already produced the result.
    fn is_given(&self, inst: InstId) -> bool {
        self.kernel.result(inst).is_some_and(|value| self.values[value.index()].is_some())
    }

    /// A nearby instruction after a 16-bit shuffle that moves another available 16-bit value in the same way, so that
    /// both fit in one word.
    fn partner_of(&self, inst: InstId, rest: &[InstId]) -> Option<InstId> {
        let kernel = self.kernel;
        let is_alike = |other: &&InstId| {
            let (own, args) = (kernel.args(inst), kernel.args(**other));
            let is_same = match (kernel.insts[inst].op, kernel.insts[**other].op) {
                (Op::Prim { primitive: a, .. }, Op::Prim { primitive: b, .. }) => a == b && own[1..] == args[1..],
                _ => false,
            };
            is_same && self.class(args[0]) == Class::Half && self.is_at_hand(args[0]) && !self.is_given(**other)
        };
        let here = rest.iter().take(PAIRED_WITHIN).take_while(|inst| !kernel.insts[**inst].op.is_structured());
        here.into_iter().find(is_alike).copied()
    }

    /// The predicate alone: it does not depend on the value.
    fn valid(&mut self, mode: ShuffleMode, args: &[Value]) -> Reg {
        let word = self.arg(args[0]);
        let [index, mask] = [args[0], args[1]].map(|arg| self.operand(arg));
        let lanes = self.members();
        let (to, valid) = (self.reg(Class::Word), self.reg(Class::Pred));
        self.push(format!("{} {to}|{valid}, {word}, {index}, {mask}, {lanes};", mnemonic::shuffle(mode)));
        valid
    }

    pub fn fact(&mut self, fact: LaneFact) -> Reg {
        match fact {
            LaneFact::Index => self.special("%laneid"),
            LaneFact::Size => self.word("mov.b32", crate::lane::WARP),
            LaneFact::Mask(op) => self.special(mnemonic::lane_mask(op)),
            LaneFact::InSet(set) => {
                let own = self.special(mnemonic::lane_mask(MaskOp::Eq));
                let bit = self.word("and.b32", format_args!("{own}, {}", set as u32 as i32));
                self.inst(Class::Pred, "setp.ne.s32", format_args!("{bit}, 0"))
            }
        }
    }

    pub fn mask_arithmetic(&mut self, op: AluOp, args: &[Value]) -> Reg {
        if op == AluOp::BallotFromMask {
            return self.halves(args[0])[0];
        }
        let mask = self.arg(args[0]);
        match (op, args) {
            (AluOp::BallotAnd, [_, other]) => {
                let other = self.operand(*other);
                self.word("and.b32", format_args!("{mask}, {other}"))
            }
            (AluOp::BallotOr, [_, other]) => {
                let other = self.operand(*other);
                self.word("or.b32", format_args!("{mask}, {other}"))
            }
            (AluOp::BallotIsEmpty, _) => self.inst(Class::Pred, "setp.eq.s32", format_args!("{mask}, 0")),
            (AluOp::BallotIsSome, _) => self.inst(Class::Pred, "setp.ne.s32", format_args!("{mask}, 0")),
            (AluOp::BallotSize, _) => self.word("popc.b32", mask),
            (AluOp::BallotNot, _) => self.word("not.b32", mask),
            (AluOp::BallotWord, [_, word]) => match self.known(*word) {
                Some(0) => mask,
                Some(_) => self.word("mov.b32", 0),
                None => {
                    let word = self.arg(*word);
                    let is_first = self.inst(Class::Pred, "setp.eq.s32", format_args!("{word}, 0"));
                    self.word("selp.b32", format_args!("{mask}, 0, {is_first}"))
                }
            },
            _ => self.refused("this operation on masks of lanes", Class::Word),
        }
    }
}
