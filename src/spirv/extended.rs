//! Extended instructions: GLSL.std.450 and AMD's sets.

use super::arithmetic::{self, typed};
use super::binary::Insn;
use super::body::Body;
use super::fault::Read;
use super::module::Set;
use crate::ir::{BinaryOp, InterpolateAt, MathFn, TypeId, Value};
use rspirv::spirv::{GlslStd450Op as G, Word};

impl<'w> Body<'_, '_, 'w> {
    pub fn extended(&mut self, insn: &Insn<'w>) -> Read<()> {
        let (set, number) = (insn.arg(0)?, insn.arg(1)?);
        let ids = &insn.args[2..];
        match self.r.sets.get(&set) {
            Some(Set::Glsl) => {
                let op =
                    G::from_u32(number).ok_or_else(|| insn.wrong("there is no such instruction in GLSL.std.450"))?;
                self.glsl(insn, op, ids)
            }
            Some(Set::AmdBallot) => self.amd_ballot(insn, number, ids),
            Some(Set::AmdTrinary) => self.trinary(insn, number, ids),
            Some(Set::Printf) => self.print(insn, ids),
            Some(Set::Silent) => Ok(()),
            Some(Set::Unknown) => Err(insn.unread("its set of instructions is not read")),
            None => Err(insn.wrong(format!("%{set} is not a set of instructions"))),
        }
    }

    fn glsl(&mut self, insn: &Insn<'w>, op: G, ids: &[Word]) -> Read<()> {
        let ty = self.result_type(insn)?;
        let args = self.values(insn, ids)?;
        let value = match (op, args.as_slice()) {
            (G::InterpolateAtCentroid, args) => return self.interpolate(insn, InterpolateAt::Centroid, args),
            (G::InterpolateAtSample, args) => return self.interpolate(insn, InterpolateAt::Sample, args),
            (G::InterpolateAtOffset, args) => return self.interpolate(insn, InterpolateAt::Offset, args),
            (G::Modf, [value, pointer]) => self.with_pointer(insn, MathFn::Modf, *value, *pointer)?,
            (G::Frexp, [value, pointer]) => self.with_pointer(insn, MathFn::Frexp, *value, *pointer)?,
            (G::NMin, [a, b]) => self.without_nan(insn, (G::FMin, ty), *a, *b)?,
            (G::NMax, [a, b]) => self.without_nan(insn, (G::FMax, ty), *a, *b)?,
            (G::NClamp, [value, least, most]) => {
                let value = self.without_nan(insn, (G::FMax, ty), *value, *least)?;
                self.without_nan(insn, (G::FMin, ty), value, *most)?
            }
            (op, args) => self.function(insn, op, ty, args)?,
        };
        self.deliver(insn, value)
    }

    fn function(&mut self, insn: &Insn<'w>, op: G, ty: TypeId, args: &[Value]) -> Read<Value> {
        let made = arithmetic::extended(&mut self.b, op, ty, args);
        let made = made.ok_or_else(|| insn.unread(format!("`{op:?}` of GLSL.std.450 is not read")))?;
        made.map_err(|message| insn.wrong(message))
    }

    /// The minimum or maximum that is the other operand if one is a NaN.
    fn without_nan(&mut self, insn: &Insn<'w>, (op, ty): (G, TypeId), left: Value, right: Value) -> Read<Value> {
        let either = self.function(insn, op, ty, &[left, right])?;
        let is_nan = |body: &mut Self, value| body.b.binary(BinaryOp::Ne, value, value);
        let (no_left, no_right) = (is_nan(self, left), is_nan(self, right));
        let rest = self.b.select(no_right, left, either);
        Ok(self.b.select(no_left, right, rest))
    }

    /// A function with a second result, which is stored.
    fn with_pointer(&mut self, insn: &Insn<'w>, of: MathFn, value: Value, pointer: Value) -> Read<Value> {
        let own = self.b.type_of(value);
        if !self.b.module.types.scalar_of(own).is_some_and(|scalar| scalar.is_float()) {
            return Err(insn.wrong("its operand is not a float"));
        }
        let both = self.b.math(of, &[value]);
        let (first, second) = (self.b.extract(both, 0), self.b.extract(both, 1));
        let target = self.b.pointee_type(pointer);
        let second = typed(&mut self.b, second, target).map_err(|message| insn.wrong(message))?;
        self.b.store(pointer, second);
        Ok(first)
    }

    /// `FMin3AMD` to `SMid3AMD`: smallest, largest and middle of three, for floats, unsigned and signed numbers.
    fn trinary(&mut self, insn: &Insn<'w>, number: Word, ids: &[Word]) -> Read<()> {
        const MINIMA: [G; 3] = [G::FMin, G::UMin, G::SMin];
        const MAXIMA: [G; 3] = [G::FMax, G::UMax, G::SMax];
        let ty = self.result_type(insn)?;
        let args = self.values(insn, ids)?;
        let ([a, b, c], 1..=9) = (&args[..], number) else {
            return Err(insn.wrong("there is no such instruction in its set"));
        };
        let (what, kind) = ((number - 1) / 3, (number as usize - 1) % 3);
        let (least, most) = (MINIMA[kind], MAXIMA[kind]);
        let value = match what {
            0 => {
                let two = self.function(insn, least, ty, &[*a, *b])?;
                self.function(insn, least, ty, &[two, *c])?
            }
            1 => {
                let two = self.function(insn, most, ty, &[*a, *b])?;
                self.function(insn, most, ty, &[two, *c])?
            }
            _ => {
                let (low, high) =
                    (self.function(insn, least, ty, &[*a, *b])?, self.function(insn, most, ty, &[*a, *b])?);
                let inner = self.function(insn, least, ty, &[high, *c])?;
                self.function(insn, most, ty, &[low, inner])?
            }
        };
        self.deliver(insn, value)
    }

    fn print(&mut self, insn: &Insn<'w>, ids: &[Word]) -> Read<()> {
        let Some((format, args)) = ids.split_first() else { return Err(insn.wrong("an operand is missing")) };
        let Some(text) = self.r.strings.get(format).cloned() else { return Err(insn.wrong("it prints no string")) };
        let args = self.values(insn, args)?;
        self.b.print(&text, &args);
        Ok(())
    }
}
