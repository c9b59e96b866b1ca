//! Texts that shaders print (NonSemantic.DebugPrintf, SPV_KHR_non_semantic_info), and fragment inputs at other places than
//! those where they are interpolated (GLSL.std.450, InterpolateAt…).

use super::function::{Body, FEW};
use crate::ir::{Place, TypeId, Value, Values};
use rspirv::spirv::{Capability, GlslStd450Op, Op, Word};
use smallvec::{SmallVec, smallvec};

/// The only instruction of its set.
const DEBUG_PRINTF: Word = 1;

impl Body<'_, '_> {
    pub fn print(&mut self, text: u32, args: Values) -> Word {
        let module = self.m.module;
        let Some(text) = module.texts.get(text as usize) else { return self.m.internal("a text that is not there") };
        let text = self.m.text(text);
        let mut operands: SmallVec<[Word; FEW]> = smallvec![self.m.printf_set(), DEBUG_PRINTF, text];
        operands.extend(self.values(args));
        let void = self.m.void_type();
        self.emit(Op::ExtInst, void, &operands);
        0
    }

    pub fn interpolate(&mut self, ty: TypeId, at: Place, pointer: Value, args: Values) -> Word {
        self.m.needs.capability(Capability::InterpolationFunction);
        let op = match at {
            Place::Centroid => GlslStd450Op::InterpolateAtCentroid,
            Place::Sample => GlslStd450Op::InterpolateAtSample,
            Place::Offset => GlslStd450Op::InterpolateAtOffset,
        };
        let mut operands: SmallVec<[Word; FEW]> = smallvec![self.value(pointer)];
        operands.extend(self.values(args));
        let ty = self.m.value_type(ty);
        self.extended(op, ty, &operands)
    }
}

impl super::Emitter<'_> {
    /// A text as `OpString`.
    fn text(&mut self, text: &str) -> Word {
        let id = self.id();
        let start = self.out.strings.begin(Op::String);
        self.out.strings.push(id);
        self.out.strings.string(super::words::clip(text, 2));
        self.out.strings.end(start);
        id
    }

    /// The set that the printing instruction names.
    fn printf_set(&mut self) -> Word {
        if self.printf == 0 {
            self.printf = self.id();
            self.needs.extension("SPV_KHR_non_semantic_info");
        }
        self.printf
    }
}
