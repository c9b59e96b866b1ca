//! Operand and result types of operations within a lane.

use super::{Check, Verifier, ensure};
use crate::ir::Scalar;
use crate::ir::print::scalar_name;
use crate::kernel::stage::{belongs, built_in_input};
use crate::kernel::{BinOp, CmpOp, InstId, Op, TernOp, Ty, UnOp};
use crate::lane::{AluOp, LaneFact};

/// The operand and result types of an operation.
pub struct Signature {
    pub args: Vec<Ty>,
    pub results: Vec<Ty>,
}

impl Signature {
    pub fn new(args: impl Into<Vec<Ty>>, results: impl Into<Vec<Ty>>) -> Signature {
        Signature { args: args.into(), results: results.into() }
    }
}

/// Kinds of scalars that an operation works on.
#[derive(Clone, Copy)]
enum On {
    Ints,
    Floats,
    Numbers,
    /// Integers and bools.
    Bits,
    All,
}

impl On {
    fn takes(self, scalar: Scalar) -> bool {
        match self {
            On::Ints => scalar.is_int(),
            On::Floats => scalar.is_float(),
            On::Numbers => !scalar.is_bool(),
            On::Bits => !scalar.is_float(),
            On::All => true,
        }
    }
}

impl Verifier<'_> {
    pub fn signature_check(&self, inst: InstId) -> Check {
        let expected = self.signature(inst)?;
        self.claim(inst)?;
        let args = self.types(self.kernel.args(inst).iter().copied());
        let results = self.types(self.kernel.results(inst));
        ensure!(args == expected.args, "its operands are {args:?} and should be {:?}", expected.args);
        ensure!(results == expected.results, "its results are {results:?} and should be {:?}", expected.results);
        Ok(())
    }

    fn signature(&self, inst: InstId) -> Check<Signature> {
        let op = self.kernel.insts[inst].op;
        match op {
            Op::Lane { op, ty } => self.lane(inst, op, ty),
            Op::Prim { .. } | Op::CombineMoved { .. } => self.primitive(inst, op),
            Op::Load(_) | Op::Store(_) | Op::Atomic { .. } | Op::BufferBytes(_) => self.memory(op),
            Op::Barrier { .. } => Ok(Signature::new([], [])),
            Op::BuiltIn(built_in, component) => {
                let (ty, count) = built_in_input(built_in).ok_or("it is not an input of a kernel")?;
                ensure!(belongs(built_in, self.kernel.stage), "it is not an input of this stage");
                ensure!(component < count, "there is no such component");
                Ok(Signature::new([], [ty]))
            }
            Op::Input { .. } | Op::Interpolate { .. } | Op::Output { .. } | Op::Kill | Op::Derivative(_) => {
                self.of_stage(op)
            }
            Op::Image { op, image, parts } => self.image(op, image, parts),
            Op::Select => {
                let ty = self.kernel.args(inst).get(1).map_or(Ty::Bool, |accept| self.kernel.ty(*accept));
                Ok(Signature::new([Ty::Bool, ty, ty], [ty]))
            }
            Op::Fact(LaneFact::InSet(_)) => Ok(Signature::new([], [Ty::Bool])),
            Op::Fact(LaneFact::Mask(_)) => Ok(Signature::new([], [Ty::Mask])),
            Op::Fact(_) => Ok(Signature::new([], [Ty::B32])),
            Op::MaskAlu(op) => mask_arithmetic(op),
            Op::MaskFromWords => Ok(Signature::new([Ty::B32; 4], [Ty::Mask])),
            _ => arithmetic(op),
        }
    }
}

fn arithmetic(op: Op) -> Check<Signature> {
    Ok(match op {
        Op::Un(op, scalar) => like(scalar, 1, unary_on(op))?,
        Op::Bin(BinOp::Shl | BinOp::Shr, scalar) => {
            let ty = like(scalar, 1, On::Ints)?.args[0];
            Signature::new([ty, Ty::B32], [ty])
        }
        Op::Bin(op, scalar) => like(scalar, 2, binary_on(op))?,
        Op::Cmp(op, scalar) => {
            let on = if matches!(op, CmpOp::Eq | CmpOp::Ne) { On::All } else { On::Numbers };
            Signature::new(like(scalar, 2, on)?.args, [Ty::Bool])
        }
        Op::Tern(TernOp::Fma, scalar) => like(scalar, 3, On::Floats)?,
        Op::Tern(TernOp::BitExtract, scalar) => {
            let ty = like(scalar, 1, On::Ints)?.args[0];
            Signature::new([ty, Ty::B32, Ty::B32], [ty])
        }
        Op::BitInsert(scalar) => {
            let ty = like(scalar, 1, On::Ints)?.args[0];
            Signature::new([ty, ty, Ty::B32, Ty::B32], [ty])
        }
        Op::Convert(from, to) => Signature::new([Ty::of(from)], [Ty::of(to)]),
        Op::Join => Signature::new([Ty::B32, Ty::B32], [Ty::B64]),
        Op::Low | Op::High => Signature::new([Ty::B64], [Ty::B32]),
        _ => return Err("it is not known".to_owned()),
    })
}

/// `count` operands and a result of one type.
fn like(scalar: Scalar, count: usize, on: On) -> Check<Signature> {
    ensure!(on.takes(scalar), "it is not on {}", scalar_name(scalar));
    let ty = Ty::of(scalar);
    Ok(Signature::new(vec![ty; count], [ty]))
}

const fn unary_on(op: UnOp) -> On {
    use UnOp as U;
    match op {
        U::Neg | U::Abs => On::Numbers,
        U::Not => On::Bits,
        U::BitCount | U::BitReverse | U::FindLsb | U::FindMsb => On::Ints,
        _ => On::Floats,
    }
}

const fn binary_on(op: BinOp) -> On {
    use BinOp as B;
    match op {
        B::Add | B::Sub | B::Mul | B::Div | B::Min | B::Max => On::Numbers,
        B::And | B::Or | B::Xor => On::Bits,
        B::MulHigh | B::Rem | B::Shl | B::Shr => On::Ints,
    }
}

fn mask_arithmetic(op: AluOp) -> Check<Signature> {
    Ok(match op {
        AluOp::BallotAnd | AluOp::BallotOr => Signature::new([Ty::Mask; 2], [Ty::Mask]),
        AluOp::BallotIsEmpty | AluOp::BallotIsSome => Signature::new([Ty::Mask], [Ty::Bool]),
        AluOp::BallotSize => Signature::new([Ty::Mask], [Ty::B32]),
        AluOp::BallotNot => Signature::new([Ty::Mask], [Ty::Mask]),
        AluOp::BallotWord => Signature::new([Ty::Mask, Ty::B32], [Ty::B32]),
        AluOp::BallotFromMask => Signature::new([Ty::B64], [Ty::Mask]),
        _ => return Err("it is not arithmetic on masks".to_owned()),
    })
}
