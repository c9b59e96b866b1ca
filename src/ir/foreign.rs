//! SPIR-V instructions, types, decorations and execution modes given by number (GL_EXT_spirv_intrinsics). Their meaning
//! is unknown: the SPIR-V target writes them unchanged, and other targets refuse them.

use super::{Builder, ConstId, GlobalId, Name, Op, Type, TypeId, Value};
use rustc_hash::FxHashMap;

/// The declarations that a module needs if it uses one of these.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Requirements {
    pub extensions: Vec<Name>,
    pub capabilities: Vec<u32>,
}

/// A compile-time operand.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ForeignOperand {
    /// A literal word.
    Word(u32),
    Text(Name),
    Constant(ConstId),
    Type(TypeId),
    Variable(GlobalId),
}

/// A type by its opcode. Equal types are one type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ForeignType {
    pub opcode: u32,
    pub operands: Vec<ForeignOperand>,
    pub requires: Requirements,
}

/// How an argument of an instruction is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passing {
    Value,
    /// The pointer to a variable.
    Reference,
    /// The bits of a constant, as words of the instruction.
    Literal,
}

/// An instruction by its opcode, or by its number in an extended set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignInstruction {
    pub set: Option<Name>,
    pub opcode: u32,
    pub arguments: Vec<Passing>,
    pub requires: Requirements,
}

/// The operands of a decoration or an execution mode.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandKind {
    Literals,
    Ids,
    Texts,
}

/// A decoration of a variable, by number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignDecoration {
    pub variable: GlobalId,
    pub number: u32,
    pub kind: OperandKind,
    pub operands: Vec<ForeignOperand>,
    pub requires: Requirements,
}

/// An execution mode of the entry point, by number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ForeignMode {
    pub number: u32,
    pub kind: OperandKind,
    pub operands: Vec<ForeignOperand>,
    pub requires: Requirements,
}

/// All such entities of a module.
#[derive(Clone, Debug, Default)]
pub struct Foreign {
    pub types: Vec<ForeignType>,
    pub instructions: Vec<ForeignInstruction>,
    /// In the order of their variables.
    pub decorations: Vec<ForeignDecoration>,
    pub modes: Vec<ForeignMode>,
    /// Places of types.
    known: FxHashMap<ForeignType, u32>,
}

impl Foreign {
    /// Returns true if the module has none.
    pub const fn is_empty(&self) -> bool {
        self.types.is_empty() && self.instructions.is_empty() && self.decorations.is_empty() && self.modes.is_empty()
    }

    /// The decorations of a variable.
    pub fn decorations_of(&self, variable: GlobalId) -> &[ForeignDecoration] {
        let start = self.decorations.partition_point(|known| known.variable < variable);
        let rest = &self.decorations[start..];
        &rest[..rest.partition_point(|known| known.variable == variable)]
    }

    /// Calls `see` with each constant among the operands.
    pub fn each_constant(&self, mut see: impl FnMut(ConstId)) {
        let types = self.types.iter().flat_map(|known| &known.operands);
        let decorations = self.decorations.iter().flat_map(|known| &known.operands);
        let modes = self.modes.iter().flat_map(|known| &known.operands);
        for operand in types.chain(decorations).chain(modes) {
            if let ForeignOperand::Constant(id) = operand {
                see(*id);
            }
        }
    }
}

impl Builder<'_> {
    /// The handle of a foreign type; adds it when it is new.
    pub fn foreign_type(&mut self, ty: ForeignType) -> TypeId {
        let Foreign { types, known, .. } = &mut self.module.foreign;
        let index = *known.entry(ty).or_insert_with_key(|ty| {
            types.push(ty.clone());
            types.len() as u32 - 1
        });
        self.module.types.intern(Type::Foreign(index))
    }

    /// The index of a foreign instruction, which is added if it is new.
    pub fn known_instruction(&mut self, instruction: ForeignInstruction) -> u32 {
        let known = &mut self.module.foreign.instructions;
        let place = known.iter().position(|other| *other == instruction).unwrap_or_else(|| {
            known.push(instruction);
            known.len() - 1
        });
        place as u32
    }

    /// A foreign instruction; `ty` is `VOID` if there is no result.
    pub fn foreign(&mut self, instruction: u32, args: &[Value], ty: TypeId) -> Value {
        let args = self.function.list(args);
        self.emit(ty, Op::Foreign(instruction, args))
    }
}
