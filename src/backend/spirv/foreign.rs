//! Types, instructions, decorations and execution modes that the shader gives by SPIR-V's numbers
//! (GL_EXT_spirv_intrinsics). They are copied unchanged; the shader is responsible for their meaning.

use super::function::{Body, FEW};
use super::words::Words;
use super::{Emitter, Version};
use crate::ir::{
    ConstId, ForeignOperand, GlobalId, OperandKind, Passing, PrimitiveMode, Requirements, Scalar, TypeId, Types, Value,
    Values,
};
use rspirv::spirv::{Op, Word};
use smallvec::{SmallVec, smallvec};

impl<'a> Emitter<'a> {
    fn require(&mut self, requires: &Requirements) {
        for name in &requires.extensions {
            self.needs.extension(name);
        }
        for number in &requires.capabilities {
            self.needs.numbered_capability(*number);
        }
    }

    /// The id of a foreign type.
    pub fn foreign_type(&mut self, index: u32) -> Word {
        let known = &self.module.foreign.types[index as usize];
        self.require(&known.requires);
        if !self.is_type_opcode(known.opcode) {
            return 0;
        }
        let operands = self.operands(&known.operands);
        let id = self.id();
        let mut made = Words::default();
        made.raw(known.opcode, Some(id), &operands);
        self.check_form(None, made.as_slice());
        self.out.globals.append(&made);
        id
    }

    /// Operands as words, after declaring their ids.
    fn operands(&mut self, operands: &[ForeignOperand]) -> SmallVec<[Word; FEW]> {
        let mut words = Words::default();
        for operand in operands {
            match operand {
                ForeignOperand::Word(word) => words.push(*word),
                ForeignOperand::Text(text) => words.string(text),
                ForeignOperand::Constant(id) => words.push(self.constant(*id)),
                ForeignOperand::Type(ty) => words.push(self.value_type(*ty)),
                ForeignOperand::Variable(id) => words.push(self.global(*id).id),
            }
        }
        SmallVec::from_slice(words.as_slice())
    }

    /// The decorations from a variable's declaration.
    pub fn decorate_foreign(&mut self, global: GlobalId, id: Word) {
        let module = self.module;
        for known in module.foreign.decorations_of(global) {
            self.require(&known.requires);
            let operands = self.operands(&known.operands);
            let op = match known.kind {
                OperandKind::Literals => Op::Decorate,
                OperandKind::Ids => Op::DecorateId,
                OperandKind::Texts => Op::DecorateString,
            };
            self.need_op(op);
            let mut made = Words::default();
            made.typed(op, id, known.number, &operands);
            self.check_form(None, made.as_slice());
            self.out.decorations.append(&made);
        }
    }

    /// Records an instruction that older versions lack or have only through an extension.
    fn need_op(&mut self, op: Op) {
        match op {
            Op::DecorateId | Op::ExecutionModeId => self.needs.since(Version::V1_2, &format!("Op{op:?}")),
            Op::DecorateString if !self.version.has_1_4() => self.needs.extension("SPV_GOOGLE_decorate_string"),
            _ => {}
        }
    }

    /// The execution modes that a shader requests.
    pub fn foreign_modes(&mut self, function: Word) {
        let module = self.module;
        for known in &module.foreign.modes {
            self.require(&known.requires);
            let operands = self.operands(&known.operands);
            let op = if known.kind == OperandKind::Ids { Op::ExecutionModeId } else { Op::ExecutionMode };
            self.need_op(op);
            let mut made = Words::default();
            made.typed(op, function, known.number, &operands);
            self.check_form(None, made.as_slice());
            self.out.modes.append(&made);
        }
    }

    /// The id of an extended set that a shader names.
    pub fn foreign_set(&mut self, name: &'a str) -> Word {
        if name == "GLSL.std.450" {
            return self.glsl_set();
        }
        if let Some(id) = self.sets.get(name) {
            return *id;
        }
        let id = self.id();
        self.sets.insert(name, id);
        id
    }

    /// The words of a constant scalar.
    fn literal(&mut self, id: ConstId) -> SmallVec<[Word; 2]> {
        let constants = &self.module.constants;
        let Some(bits) = constants.bits(id) else {
            self.internal("a literal that is not known");
            return SmallVec::new();
        };
        let width = self.module.types.scalar_of(constants.get(id).ty).map_or(32, |scalar| scalar.width);
        if width == 64 { smallvec![bits as Word, (bits >> 32) as Word] } else { smallvec![bits as Word] }
    }
}

/// The most that a mesh shader assigns, in the order of the operands of `OpSetMeshOutputsEXT`.
fn most_outputs(modes: &[PrimitiveMode]) -> [Option<u32>; 2] {
    let find = |of: fn(&PrimitiveMode) -> Option<u32>| modes.iter().find_map(of);
    [
        find(|mode| if let PrimitiveMode::OutputVertices(most) = mode { Some(*most) } else { None }),
        find(|mode| if let PrimitiveMode::OutputPrimitives(most) = mode { Some(*most) } else { None }),
    ]
}

impl Body<'_, '_> {
    /// A module may not contain constant output counts above the shader's maximum (SPV_EXT_mesh_shader,
    /// OpSetMeshOutputsEXT). A call with such counts is undefined, but may be unreachable; a copy is not a constant.
    fn veil_counts(&mut self, args: Values, operands: &mut [Word]) {
        let module = self.m.module;
        let most = module.entry_points.iter().map(|entry| most_outputs(&entry.primitives)).next().unwrap_or_default();
        let values = self.f.values(args);
        for ((value, word), most) in values.iter().zip(operands).zip(most) {
            let known = self.known_bits(*value, *word);
            if known.zip(most).is_some_and(|(known, most)| known > u64::from(most)) {
                let ty = self.m.scalar_type(Scalar::U32);
                *word = self.emit(Op::CopyObject, ty, &[*word]);
            }
        }
    }

    pub fn foreign(&mut self, ty: TypeId, instruction: u32, args: Values) -> Word {
        let module = self.m.module;
        let known = &module.foreign.instructions[instruction as usize];
        self.m.require(&known.requires);
        let mut operands: SmallVec<[Word; FEW]> = SmallVec::new();
        if let Some(set) = &known.set {
            operands.extend([self.m.foreign_set(set), known.opcode]);
        }
        for (value, passing) in self.f.values(args).iter().zip(&known.arguments) {
            match (passing, value) {
                (Passing::Literal, Value::Const(id)) => operands.extend(self.m.literal(*id)),
                _ => operands.push(self.value(*value)),
            }
        }
        let opcode = if known.set.is_some() { Op::ExtInst as u32 } else { known.opcode };
        if !self.m.is_body_opcode(opcode) {
            return 0;
        }
        if opcode == Op::SetMeshOutputsEXT as u32 {
            self.veil_counts(args, &mut operands);
        }
        let set = known.set.as_ref().map(|name| (operands[0], &**name));
        let mut made = Words::default();
        let mut id = 0;
        if ty == Types::VOID && known.set.is_none() {
            made.raw(opcode, None, &operands);
        } else {
            let ty = self.m.value_type(ty);
            id = self.m.id();
            operands.insert(0, id);
            made.raw(opcode, Some(ty), &operands);
        }
        self.m.check_form(set, made.as_slice());
        self.code.append(&made);
        id
    }
}
