//! A kernel of just one cross-lane operation: its operands come from a buffer, its results go to another one.

use crate::ir::{BuiltIn, Scalar, ScalarKind};
use crate::kernel::{BinOp, Buffer, BufferKind, Builder, Kernel, MemoryAccess, MemorySpace, Op, Stage, Ty, Value};
use crate::lane::{AluOp, Known, LaneOp, LaneType, Operand, Plan, Request, StepType, VoteOp};
use crate::profile::{Profile, Target};
use crate::source::Span;

/// Bytes that each invocation has in a buffer, of these so many for an operand or result.
const STRIDE: u32 = 128;
const SLOT: u32 = 32;

/// The kernel of an operation, whose results are those that the plan gives. For AMD it is always of a compute shader.
pub fn alone(request: &Request, plan: &Plan, profile: &Profile) -> Kernel {
    let mut kernel = Kernel::new("main", [2 * profile.wave_size.unwrap_or(1), 1, 1]);
    if request.fragment && profile.target != Target::Amd {
        (kernel.stage, kernel.workgroup_size) = (Stage::Fragment, [1; 3]);
    }
    kernel.buffers = vec![buffer("operands", 0, false), buffer("results", 1, true)];
    let mut b = Builder::new(kernel);
    let own = own(&mut b);
    let operands: Vec<Vec<Value>> = (0..request.inputs.len()).map(|n| operand(&mut b, request, n, own)).collect();
    let components = operands.iter().map(Vec::len).max().unwrap_or(1);
    let types = result_types(request, plan);
    let scalars = [0, 1].map(|n| request.inputs.get(n).map_or(Scalar::BOOL, |input| scalar_of(input.ty)));
    let mut results: Vec<Vec<Value>> = Vec::new();
    for at in 0..components {
        let args: Vec<Value> = operands.iter().filter_map(|all| all.get(at).or(all.last()).copied()).collect();
        let given: Vec<Ty> = types.iter().map(|(ty, _)| *ty).collect();
        let inst = b.inst(Op::Lane { op: request.op, ty: scalars }, &args, &given);
        results.push(b.kernel.results(inst).collect());
    }
    let results = joined(&mut b, request.op, results);
    let mut slot = 0;
    for result in results {
        for (value, (_, scalar)) in result.into_iter().zip(&types) {
            store(&mut b, value, *scalar, own, slot);
            slot += 1;
        }
    }
    b.effect(Op::Return, &[]);
    b.kernel
}

fn buffer(name: &str, binding: u32, writable: bool) -> Buffer {
    let (kind, span) = (BufferKind::Storage, Span::NONE);
    Buffer { name: name.into(), kind, set: 0, binding, element: 0, bytes: 0, writable, span }
}

/// Where the invocation's own values begin.
fn own(b: &mut Builder) -> Value {
    let place = match b.kernel.stage {
        Stage::Fragment => {
            let x = b.value(Op::BuiltIn(BuiltIn::FragCoord, 0), &[], Ty::B32);
            b.convert(Scalar::F32, Scalar::U32, x)
        }
        _ => b.value(Op::BuiltIn(BuiltIn::LocalInvocationIndex, 0), &[], Ty::B32),
    };
    let stride = b.u32(STRIDE);
    b.bin(BinOp::Mul, Scalar::U32, place, stride)
}

fn scalar_of(ty: LaneType) -> Scalar {
    match ty {
        LaneType::BALLOT => Scalar::BOOL,
        ty => Scalar { kind: ty.kind, width: ty.width },
    }
}

/// The components of operand `n`; a ballot is one mask.
fn operand(b: &mut Builder, request: &Request, n: usize, own: Value) -> Vec<Value> {
    let input = &request.inputs[n];
    let address = match input.known {
        Known::Constant(value) => return vec![b.constant(Ty::of(scalar_of(input.ty)), value.into())],
        Known::Uniform => b.u32(0),
        Known::Varying => own,
    };
    let offset = SLOT * n as u32;
    if input.ty == LaneType::BALLOT {
        let words = b.load(MemoryAccess::words(MemorySpace::Buffer(0), offset, 4), address);
        return vec![b.value(Op::MaskFromWords, &words, Ty::Mask)];
    }
    let component = |at: u8| load(b, scalar_of(input.ty), address, offset + 8 * u32::from(at));
    (0..input.ty.components).map(component).collect()
}

fn access(buffer: u32, offset: u32, bytes: u8) -> MemoryAccess {
    let align = bytes.into();
    MemoryAccess { bytes, align, ..MemoryAccess::words(MemorySpace::Buffer(buffer), offset, 1) }
}

/// A scalar from memory: bools are words there, narrow values are made of wider ones.
fn load(b: &mut Builder, scalar: Scalar, address: Value, offset: u32) -> Value {
    let bytes = if scalar.width == 64 { 8 } else { 4 };
    let word = b.load(access(0, offset, bytes), address)[0];
    match (scalar.kind, scalar.width) {
        (_, 32 | 64) => word,
        (ScalarKind::Float, _) => b.convert(Scalar::F32, scalar, word),
        _ => b.convert(Scalar::U32, scalar, word),
    }
}

/// The types of the results, and what they are; none for ballots.
fn result_types(request: &Request, plan: &Plan) -> Vec<(Ty, Option<Scalar>)> {
    let ty = |operand: Operand| match plan.ty(operand) {
        StepType::None => None,
        ty => Some(request.ty(ty)),
    };
    let typed = |ty: LaneType| match ty {
        LaneType::BALLOT => (Ty::Mask, None),
        ty => (Ty::of(scalar_of(ty)), Some(scalar_of(ty))),
    };
    let results = [Some(plan.result), plan.second].into_iter().flatten();
    results.filter(|_| request.op != LaneOp::Sync).filter_map(ty).map(typed).collect()
}

/// Vectors are equal where all components are, and lanes have the same vector that have the same components.
fn joined(b: &mut Builder, op: LaneOp, results: Vec<Vec<Value>>) -> Vec<Vec<Value>> {
    let (and, ty) = match op {
        LaneOp::Vote { op: VoteOp::Equal, .. } => (Op::Bin(BinOp::And, Scalar::BOOL), Ty::Bool),
        LaneOp::Partition => (Op::MaskAlu(AluOp::BallotAnd), Ty::Mask),
        _ => return results,
    };
    let all = results.into_iter().flatten().reduce(|all, one| b.value(and, &[all, one], ty));
    all.into_iter().map(|value| vec![value]).collect()
}

fn store(b: &mut Builder, value: Value, scalar: Option<Scalar>, own: Value, slot: u32) {
    let offset = SLOT * slot;
    let Some(scalar) = scalar else {
        let word = |b: &mut Builder, at: u32| {
            let at = b.u32(at);
            b.value(Op::MaskAlu(AluOp::BallotWord), &[value, at], Ty::B32)
        };
        let words: Vec<Value> = (0..4).map(|at| word(b, at)).collect();
        return b.store(MemoryAccess::words(MemorySpace::Buffer(1), offset, 4), own, &words);
    };
    let word = match (scalar.kind, scalar.width) {
        (_, 32 | 64) => value,
        (ScalarKind::Float, _) => b.convert(scalar, Scalar::F32, value),
        _ => b.convert(scalar, Scalar::U32, value),
    };
    let bytes = if scalar.width == 64 { 8 } else { 4 };
    b.store(access(1, offset, bytes), own, &[word]);
}
