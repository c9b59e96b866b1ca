//! Texts that shaders print (NonSemantic.DebugPrintf, SPV_KHR_non_semantic_info), and fragment inputs at other
//! positions than their declared ones (GLSL.std.450, InterpolateAt…).

use super::function::{Body, FEW};
use crate::ir::{InterpolateAt, TypeId, Value, Values};
use rspirv::spirv::{Capability, GlslStd450Op, Op, Word};
use smallvec::{SmallVec, smallvec};

/// The only instruction of its set.
const DEBUG_PRINTF: Word = 1;

/// The only instruction of its set.
const INTERPOLATE_AT_VERTEX: Word = 1;

/// The name of an extension and of its set of instructions.
pub(super) const EXPLICIT_VERTICES: &str = "SPV_AMD_shader_explicit_vertex_parameter";

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

    pub fn interpolate(&mut self, ty: TypeId, at: InterpolateAt, pointer: Value, args: Values) -> Word {
        let op = match at {
            InterpolateAt::Centroid => Some(GlslStd450Op::InterpolateAtCentroid),
            InterpolateAt::Sample => Some(GlslStd450Op::InterpolateAtSample),
            InterpolateAt::Offset => Some(GlslStd450Op::InterpolateAtOffset),
            InterpolateAt::Vertex => None,
        };
        let mut operands: SmallVec<[Word; FEW]> = smallvec![self.value(pointer)];
        operands.extend(self.values(args));
        let ty = self.m.value_type(ty);
        match op {
            Some(op) => {
                self.m.needs.capability(Capability::InterpolationFunction);
                self.extended(op, ty, &operands)
            }
            None => {
                operands.insert_from_slice(0, &[self.m.explicit_vertices_set(), INTERPOLATE_AT_VERTEX]);
                self.emit(Op::ExtInst, ty, &operands)
            }
        }
    }
}

impl super::Emitter<'_> {
    /// The set that has the values of single vertices.
    fn explicit_vertices_set(&mut self) -> Word {
        self.needs.extension(EXPLICIT_VERTICES);
        self.foreign_set(EXPLICIT_VERTICES)
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
