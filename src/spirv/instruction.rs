//! Instructions inside blocks, by what they do.

use super::arithmetic;
use super::binary::Insn;
use super::body::Body;
use super::composite;
use super::fault::Read;
use crate::backend::spirv::inverse::atomic_of;
use crate::ir::{ForeignInstruction, InterpolateAt, MathFn, Passing, Requirements, Types, Value};
use rspirv::spirv::{Capability, Decoration, FPRoundingMode, Op};

impl<'w> Body<'_, '_, 'w> {
    /// Reads one instruction.
    pub fn instruction(&mut self, insn: &Insn<'w>) -> Read<()> {
        self.mark(insn);
        match insn.op {
            Op::Nop | Op::Line | Op::NoLine | Op::Label | Op::AssumeTrueKHR => Ok(()),
            Op::Variable => self.variable(insn),
            Op::Load => self.load(insn),
            Op::Store => self.store(insn),
            Op::CopyMemory => self.copy_memory(insn),
            Op::AccessChain | Op::InBoundsAccessChain => self.access_chain(insn),
            Op::ArrayLength => self.array_length(insn),
            Op::CompositeConstruct | Op::CompositeExtract | Op::CompositeInsert | Op::VectorShuffle => {
                self.composite(insn)
            }
            Op::VectorExtractDynamic | Op::VectorInsertDynamic | Op::CopyLogical => self.composite(insn),
            Op::Undef => {
                let ty = self.result_type(insn)?;
                let value = self.b.undef(ty);
                self.define(insn, value);
                Ok(())
            }
            Op::CopyObject => self.copy_object(insn),
            Op::FunctionCall => self.call(insn),
            Op::ExtInst => self.extended(insn),
            Op::ControlBarrier | Op::MemoryBarrier => self.barrier(insn),
            Op::DemoteToHelperInvocation => {
                self.b.demote();
                Ok(())
            }
            Op::IsHelperInvocationEXT => {
                let value = self.b.math(MathFn::IsHelper, &[]);
                self.deliver(insn, value)
            }
            Op::BeginInvocationInterlockEXT | Op::EndInvocationInterlockEXT => {
                self.b.interlock(insn.op == Op::BeginInvocationInterlockEXT);
                Ok(())
            }
            Op::EmitVertex | Op::EndPrimitive => self.primitive(insn, Capability::Geometry),
            Op::EmitStreamVertex | Op::EndStreamPrimitive => self.primitive(insn, Capability::GeometryStreams),
            op if atomic_of(op).is_some() || is_other_atomic(op) => self.atomic(insn),
            op if Body::is_lane(op) => self.lane(insn),
            op if Body::is_image(op) => self.image(insn),
            _ => self.arithmetic(insn),
        }
    }

    fn arithmetic(&mut self, insn: &Insn<'w>) -> Read<()> {
        if insn.id == 0 || insn.ty == 0 {
            return Err(insn.unread("it is not read"));
        }
        let ty = self.result_type(insn)?;
        if !insn.takes_ids_alone() {
            return Err(insn.unread("it is not read"));
        }
        let rounding = self.r.number(insn.id, Decoration::FPRoundingMode);
        if rounding.is_some_and(|mode| mode != FPRoundingMode::RTE as u32) {
            return Err(insn.unread("a conversion that rounds other than to the nearest number is not read"));
        }
        let args = self.values(insn, insn.args)?;
        match arithmetic::pure(&mut self.b, insn.op, ty, &args) {
            Some(Ok(value)) => {
                self.define(insn, value);
                Ok(())
            }
            Some(Err(message)) => Err(insn.wrong(message)),
            None => Err(insn.unread("it is not read")),
        }
    }

    /// An instruction of geometry shaders, which `ir` keeps by its number.
    fn primitive(&mut self, insn: &Insn<'w>, capability: Capability) -> Read<()> {
        let args = self.values(insn, insn.args)?;
        let requires = Requirements { extensions: Vec::new(), capabilities: vec![capability as u32] };
        let arguments = vec![Passing::Value; args.len()];
        let known = ForeignInstruction { set: None, opcode: insn.op as u32, arguments, requires };
        let known = self.b.known_instruction(known);
        self.b.foreign(known, &args, Types::VOID);
        Ok(())
    }

    /// A copy of a pointer or a value.
    fn copy_object(&mut self, insn: &Insn<'w>) -> Read<()> {
        let value = self.value(insn, insn.arg(0)?)?;
        self.define(insn, value);
        Ok(())
    }

    fn composite(&mut self, insn: &Insn<'w>) -> Read<()> {
        let ty = self.result_type(insn)?;
        let ids = match insn.op {
            Op::CompositeExtract => 1,
            Op::CompositeInsert | Op::VectorShuffle => 2,
            _ => insn.args.len(),
        };
        let (ids, numbers) = insn.args.split_at(ids);
        let args = self.values(insn, ids)?;
        let b = &mut self.b;
        let made = match (insn.op, args.as_slice()) {
            (Op::CompositeConstruct, args) => composite::construct(b, ty, args),
            (Op::CompositeExtract, args) => composite::extract(b, args, numbers),
            (Op::CompositeInsert, args) => composite::insert(b, args, numbers),
            (Op::VectorShuffle, args) => composite::shuffle(b, args, numbers),
            (Op::CopyLogical, [value]) => composite::relabel(b, *value, ty),
            (Op::VectorExtractDynamic, [vector, index]) => composite::extract_dynamic(b, *vector, *index),
            (Op::VectorInsertDynamic, [vector, part, index]) => composite::insert_dynamic(b, *vector, *part, *index),
            _ => Err("it does not have as many operands as it needs"),
        };
        let value = made.map_err(|message| insn.wrong(message))?;
        match self.b.type_of(value) == ty {
            true => self.define(insn, value),
            false => return Err(insn.wrong("its result has another type")),
        }
        Ok(())
    }

    /// A fragment input at another position than its own.
    pub fn interpolate(&mut self, insn: &Insn<'w>, at: InterpolateAt, args: &[Value]) -> Read<()> {
        let Some((pointer, rest)) = args.split_first() else { return Err(insn.wrong("an operand is missing")) };
        let mut rest = rest.to_vec();
        if let (InterpolateAt::Sample, [sample]) = (at, &mut rest[..]) {
            *sample = arithmetic::typed(&mut self.b, *sample, Types::I32).map_err(|message| insn.wrong(message))?;
        }
        let value = self.b.interpolate(at, *pointer, &rest);
        self.deliver(insn, value)
    }
}

const fn is_other_atomic(op: Op) -> bool {
    matches!(
        op,
        Op::AtomicIIncrement | Op::AtomicIDecrement | Op::AtomicFAddEXT | Op::AtomicFMinEXT | Op::AtomicFMaxEXT
    )
}
