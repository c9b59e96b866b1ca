//! Cross-lane instructions (NV_shader_thread_shuffle, NV_shader_thread_group, votes of NV_gpu_program5) and masks of
//! lanes.

use super::Selector;
use crate::backend::nv::machine::{Class, Dest, Kind, Operand, X, Y};
use crate::backend::nv::mnemonic;
use crate::ir::Scalar;
use crate::kernel::{InstId, Op, Stage, Value};
use crate::lane::op::{MaskOp, QuadMove, ReduceOp, ShuffleMode, WARP};
use crate::lane::plan::AluOp;
use crate::lane::primitive::NvOp;
use crate::lane::{LaneFact, Primitive};
use std::borrow::Cow;

/// Distance in instructions within which a shuffle's predicate is searched for.
const NEAR: usize = 4;

impl Selector<'_> {
    /// A cross-lane instruction; `rest` are the instructions after it in its block.
    pub fn primitive(&mut self, inst: InstId, primitive: Primitive, ty: Scalar, rest: &[InstId]) {
        let Primitive::Nv(op) = primitive else {
            self.refused("a cross-lane instruction of other hardware");
            return;
        };
        let args = self.kernel.args(inst);
        let operand = match op {
            NvOp::Shuffle(mode) => return self.shuffle(inst, mode, ty, rest),
            NvOp::ShuffleValid(mode) => match self.given(inst) {
                true => return,
                false => self.shuffle_valid(mode, args),
            },
            NvOp::Vote(op) => {
                let predicate = self.arg(args[0], Kind::Sint);
                self.word(mnemonic::vote(op), &[predicate])
            }
            NvOp::Ballot => {
                self.needs.options.insert("NV_shader_thread_group");
                let predicate = self.uint(args[0]);
                self.word(mnemonic::BALLOT, &[predicate])
            }
            NvOp::Reduce(_) | NvOp::Match | NvOp::MatchAll | NvOp::Sync => {
                self.refused("a cross-lane instruction of PTX")
            }
            NvOp::QuadSwizzle(mv) => {
                let value = self.uint(args[0]);
                self.swizzle(mv, value, Operand::Constants([0; 4]))
            }
        };
        self.result(inst, operand);
    }

    /// A value of another invocation in the quad, or a sum with it, which is one instruction.
    fn swizzle(&mut self, mv: QuadMove, value: Operand, own: Operand) -> Operand {
        let Some(name) = mnemonic::quad_swizzle(mv).filter(|_| self.kernel.stage == Stage::Fragment) else {
            return self.refused("a swizzle of quads outside fragment programs");
        };
        self.needs.options.insert("NV_shader_thread_group");
        let value = Operand::Reg(self.in_reg(value));
        self.word(name, &[value, own])
    }

    /// Arithmetic on another invocation's value: sums in a quad.
    pub fn combine_moved(
        &mut self,
        op: ReduceOp,
        ty: Scalar,
        primitive: Primitive,
        [own, moved]: [Value; 2],
    ) -> Operand {
        match (op, ty, primitive) {
            (ReduceOp::Add, Scalar::F32, Primitive::Nv(NvOp::QuadSwizzle(mv))) => {
                let (own, moved) = (self.uint(own), self.uint(moved));
                let own = Operand::Reg(self.in_reg(own));
                self.swizzle(mv, moved, own)
            }
            _ => self.refused("arithmetic on a moved operand"),
        }
    }

    /// Returns true if an earlier instruction already produced the result.
    fn given(&self, inst: InstId) -> bool {
        self.kernel.result(inst).is_some_and(|value| self.values[value.index()].is_some())
    }

    fn shuffle(&mut self, inst: InstId, mode: ShuffleMode, ty: Scalar, rest: &[InstId]) {
        self.needs.options.insert("NV_shader_thread_shuffle");
        let args = self.kernel.args(inst);
        let (index, mask) = (self.uint(args[1]), self.uint(args[2]));
        if ty.width == 64 {
            let long = self.long_arg(args[0]);
            let moved = self.on_both_words(long, |selector, word| {
                selector.word_in(Y, mnemonic::shuffle(mode), &[word, index.clone(), mask.clone()])
            });
            return self.result(inst, moved);
        }
        let value = self.uint(args[0]);
        let sources = [value, index, mask];
        match self.predicate_of(mode, &args[1..], rest) {
            None => {
                let moved = self.word_in(Y, mnemonic::shuffle(mode), &sources);
                self.result(inst, moved);
            }
            Some(valid) => {
                let both = self.registers.add_vector(Class::Word, 2);
                self.push(mnemonic::shuffle(mode), Dest::Regs(both.clone()), &sources);
                self.result(valid, Operand::Reg(both[0]));
                self.result(inst, Operand::Reg(both[1]));
            }
        }
    }

    /// The nearby instruction that reads a shuffle's predicate.
    fn predicate_of(&self, mode: ShuffleMode, index: &[Value], rest: &[InstId]) -> Option<InstId> {
        let wanted = Primitive::Nv(NvOp::ShuffleValid(mode));
        let is_it = |inst: &&InstId| match self.kernel.insts[**inst].op {
            Op::Prim { primitive, .. } => primitive == wanted && self.kernel.args(**inst) == index,
            _ => false,
        };
        let near = rest.iter().take(NEAR).take_while(|inst| !self.kernel.insts[**inst].op.is_structured());
        near.into_iter().find(is_it).copied()
    }

    /// The predicate alone: it does not depend on the value.
    fn shuffle_valid(&mut self, mode: ShuffleMode, args: &[Value]) -> Operand {
        self.needs.options.insert("NV_shader_thread_shuffle");
        let (index, mask) = (self.uint(args[0]), self.uint(args[1]));
        self.word_in(X, mnemonic::shuffle(mode), &[index.clone(), index, mask])
    }

    pub fn fact(&mut self, fact: LaneFact) -> Operand {
        match fact {
            LaneFact::Index => self.thread(mnemonic::LANE),
            LaneFact::Size => Operand::Constant(WARP, Kind::Uint),
            LaneFact::Mask(op) => self.thread(mnemonic::lane_mask(op)),
            LaneFact::InSet(set) => {
                let own = self.thread(mnemonic::lane_mask(MaskOp::Eq));
                let bit = self.word("AND.U", &[own, Operand::Constant(set as u32, Kind::Uint)]);
                self.is_not_zero(bit)
            }
        }
    }

    /// A value that NV_shader_thread_group provides.
    pub fn group_fact(&mut self, name: impl Into<Cow<'static, str>>) -> Operand {
        self.needs.options.insert("NV_shader_thread_group");
        Operand::Named(name.into())
    }

    pub fn mask_arithmetic(&mut self, op: AluOp, args: &[Value]) -> Operand {
        let mask = match op {
            AluOp::BallotFromMask => return self.half(args[0], 0),
            _ => self.uint(args[0]),
        };
        match (op, args) {
            (AluOp::BallotAnd, [_, other]) => {
                let other = self.uint(*other);
                self.word("AND.U", &[mask, other])
            }
            (AluOp::BallotOr, [_, other]) => {
                let other = self.uint(*other);
                self.word("OR.U", &[mask, other])
            }
            (AluOp::BallotIsEmpty, _) => self.word("SEQ.S", &[mask, Operand::Constant(0, Kind::Sint)]),
            (AluOp::BallotIsSome, _) => self.is_not_zero(mask),
            (AluOp::BallotSize, _) => self.word("BTC.U", &[mask]),
            (AluOp::BallotNot, _) => self.word("NOT.U", &[mask]),
            (AluOp::BallotWord, [_, word]) => self.mask_word(mask, *word),
            _ => self.refused("this operation on masks of lanes"),
        }
    }

    /// The first word has all lanes, the others none.
    fn mask_word(&mut self, mask: Operand, word: Value) -> Operand {
        match self.uint(word) {
            Operand::Constant(0, _) => mask,
            Operand::Constant(..) => Operand::Constant(0, Kind::Uint),
            word => {
                let is_first = self.word("SEQ.U", &[word, Operand::Constant(0, Kind::Uint)]);
                self.word("AND.U", &[mask, is_first])
            }
        }
    }
}
