//! Selections, conversions, halves of 64 bits, masks and built-in values.

use super::{Answer, Folder, Simpler};
use crate::ir::{BuiltIn, Scalar};
use crate::kernel::{BinOp, Op, Ty, UnOp};
use crate::lane::AluOp;

impl Folder<'_> {
    pub fn other(&mut self) -> Answer {
        match self.op {
            Op::Select => self.select(),
            Op::Convert(from, to) if keeps_bits(from, to) => self.is(self.args[0]),
            Op::Low => self.half(0),
            Op::High => self.half(1),
            Op::Join => self.joined(),
            Op::MaskAlu(AluOp::BallotWord) => self.mask_word(),
            Op::MaskFromWords => self.mask_of_words(),
            Op::BuiltIn(built_in, component) => self.built_in(built_in, component),
            _ => None,
        }
    }

    fn select(&mut self) -> Answer {
        let (condition, accept, reject) = (self.args[0], self.args[1], self.args[2]);
        if accept == reject {
            return self.is(accept);
        }
        if let Some(bits) = self.known(0) {
            return self.is(if bits == 0 { reject } else { accept });
        }
        if self.kernel.ty(accept) == Ty::Bool {
            let logic = |op, other| Some(Simpler::Op(Op::Bin(op, Scalar::BOOL), vec![condition, other]));
            match (self.known(1), self.known(2)) {
                (Some(1), Some(0)) => return self.is(condition),
                (Some(_), Some(_)) => return Some(Simpler::Op(Op::Un(UnOp::Not, Scalar::BOOL), vec![condition])),
                (Some(1), None) => return logic(BinOp::Or, reject),
                (None, Some(0)) => return logic(BinOp::And, accept),
                _ => {}
            }
        }
        let inner = self.kernel.definition(condition)?;
        match self.kernel.insts[inner].op {
            Op::Un(UnOp::Not, _) => Some(Simpler::Op(Op::Select, vec![self.inner_arg(inner, 0), reject, accept])),
            _ => None,
        }
    }

    /// Half `n` of a joined value.
    fn half(&mut self, n: usize) -> Answer {
        let inner = self.kernel.definition(self.args[0])?;
        (self.kernel.insts[inner].op == Op::Join).then(|| Simpler::Is(self.inner_arg(inner, n)))
    }

    /// Joins both halves of one value.
    fn joined(&mut self) -> Answer {
        let (low, high) = (self.kernel.definition(self.args[0])?, self.kernel.definition(self.args[1])?);
        let both = (self.kernel.insts[low].op, self.kernel.insts[high].op) == (Op::Low, Op::High);
        let (a, b) = (*self.kernel.args(low).first()?, *self.kernel.args(high).first()?);
        (both && a == b).then_some(Simpler::Is(a))
    }

    /// A word of a mask that was built from words; words 2 and 3 have no lanes.
    fn mask_word(&mut self) -> Answer {
        let word = self.known(1)?;
        if matches!(word, 2 | 3) {
            return self.number(Ty::B32, 0);
        }
        let inner = self.kernel.definition(self.args[0])?;
        let is_made = self.kernel.insts[inner].op == Op::MaskFromWords && word < 2;
        is_made.then(|| Simpler::Is(self.inner_arg(inner, word as usize)))
    }

    /// The words of a single mask.
    fn mask_of_words(&mut self) -> Answer {
        let mut masks = [0, 1].map(|n| {
            let inst = self.kernel.definition(self.args[n])?;
            let [mask, word] = self.kernel.args(inst) else { return None };
            let is_word = self.kernel.insts[inst].op == Op::MaskAlu(AluOp::BallotWord);
            (is_word && self.kernel.as_constant(*word) == Some(n as u64)).then_some(*mask)
        });
        (masks[0] == masks[1]).then(|| masks[0].take()).flatten().map(Simpler::Is)
    }

    /// Known sizes; in a one-dimensional workgroup the index is the position.
    fn built_in(&mut self, built_in: BuiltIn, component: u8) -> Answer {
        let size = self.kernel.workgroup_size;
        match built_in {
            BuiltIn::LocalInvocationId if size[usize::from(component)] == 1 => self.number(Ty::B32, 0),
            BuiltIn::LocalInvocationIndex if size[1..] == [1, 1] => {
                Some(Simpler::Op(Op::BuiltIn(BuiltIn::LocalInvocationId, 0), Vec::new()))
            }
            _ => None,
        }
    }
}

/// Returns true if a conversion keeps the bits: between integers of one width. 8-bit integers are extended by their
/// sign.
fn keeps_bits(from: Scalar, to: Scalar) -> bool {
    from == to || from.is_int() && to.is_int() && from.width == to.width && from.width > 8
}
