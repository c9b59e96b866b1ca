//! Constants, specialization constants and expressions of them (SPIR-V 1.6 section 3.49.7).
//!
//! IR constants get ids on first use; emitters create the few scalars that they need through [`Emitter::u32`] and
//! similar functions. Expressions of specialization constants are limited to integers and bools, like
//! `OpSpecConstantOp` in shaders; others are refused.

use super::Emitter;
use super::narrow::is_narrow;
use super::words::MAX_WORDS;
use crate::ir::{
    BinaryOp, ConstId, ConstValue, Constant, Constants, Scalar, ScalarKind, SpecOp, Type, TypeId, Types, UnaryOp,
};
use rspirv::spirv::{Decoration, Op, Word};
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::{SmallVec, smallvec};

/// Constant ids assigned so far; 0 marks an unused one.
#[derive(Debug, Default)]
pub(super) struct ConstMap {
    known: Vec<Word>,
    /// Scalars by type id and bits.
    scalars: FxHashMap<(Word, u64), Word>,
    /// The bits of those scalars, if they are kept ([`ConstMap::keep_bits`]).
    bits: Option<FxHashMap<Word, u64>>,
    nulls: FxHashMap<Word, Word>,
    /// Vectors of `uint` by their components.
    vectors: FxHashMap<SmallVec<[Word; 4]>, Word>,
}

impl ConstMap {
    pub fn new(constants: &Constants) -> ConstMap {
        let scalars = FxHashMap::with_capacity_and_hasher(constants.len(), FxBuildHasher);
        ConstMap { known: vec![0; constants.len()], scalars, ..ConstMap::default() }
    }

    /// Starts recording [`ConstMap::bits`].
    pub fn keep_bits(&mut self) {
        self.bits = Some(FxHashMap::default());
    }

    /// The bits of a scalar by its id.
    pub fn bits(&self, word: Word) -> Option<u64> {
        self.bits.as_ref()?.get(&word).copied()
    }
}

impl Emitter<'_> {
    /// The id of an IR constant. Parts come first; a work list replaces recursion, because chains may be long.
    pub fn constant(&mut self, id: ConstId) -> Word {
        if self.constants.known[id.index()] != 0 {
            return self.constants.known[id.index()];
        }
        let module = self.module;
        if parts(module.constants.get(id)).is_empty() {
            self.declare_constant(id);
            return self.constants.known[id.index()];
        }
        let mut waiting: SmallVec<[_; 8]> = smallvec![(id, 0)];
        while let Some((id, done)) = waiting.last_mut() {
            let id = *id;
            let next =
                if self.constants.known[id.index()] == 0 { parts(module.constants.get(id)).get(*done) } else { None };
            *done += 1;
            match next {
                Some(part) => waiting.push((*part, 0)),
                None => {
                    self.declare_constant(id);
                    waiting.pop();
                }
            }
        }
        self.constants.known[id.index()]
    }

    pub fn u32(&mut self, value: u32) -> Word {
        self.scalar_constant(Scalar::U32, u64::from(value))
    }

    /// A vector of two to four `uint`.
    pub fn u32_vector(&mut self, values: &[Word]) -> Word {
        if let Some(id) = self.constants.vectors.get(values) {
            return *id;
        }
        let parts: SmallVec<[Word; 4]> = values.iter().map(|value| self.u32(*value)).collect();
        let ty = self.vector_type(Scalar::U32, values.len() as u8);
        let id = self.id();
        self.out.globals.typed(Op::ConstantComposite, ty, id, &parts);
        self.constants.vectors.insert(values.into(), id);
        id
    }

    pub fn bool(&mut self, value: bool) -> Word {
        self.scalar_constant(Scalar::BOOL, u64::from(value))
    }

    /// A scalar by its bits, zero-extended.
    pub fn scalar_constant(&mut self, scalar: Scalar, bits: u64) -> Word {
        let ty = self.scalar_type(scalar);
        if let Some(id) = self.constants.scalars.get(&(ty, bits)) {
            return *id;
        }
        self.need_constant_of(scalar);
        let id = self.id();
        self.declare_scalar(Declare::Fixed, scalar, (ty, id), bits);
        self.constants.scalars.insert((ty, bits), id);
        if let Some(kept) = &mut self.constants.bits {
            kept.insert(id, bits);
        }
        id
    }

    /// A scalar, or a vector with all components the same.
    pub fn splat_constant(&mut self, scalar: Scalar, size: u8, bits: u64) -> Word {
        let part = self.scalar_constant(scalar, bits);
        if size == 1 {
            return part;
        }
        let ty = self.vector_type(scalar, size);
        let key = (ty, bits);
        if let Some(id) = self.constants.scalars.get(&key) {
            return *id;
        }
        let id = self.id();
        self.out.globals.typed(Op::ConstantComposite, ty, id, &[part; 4][..usize::from(size)]);
        self.constants.scalars.insert(key, id);
        id
    }

    pub fn is_undef(&self, id: ConstId) -> bool {
        self.module.constants.get(id).value == ConstValue::Undef
    }

    /// The bits of a scalar constant, including a specialization constant's default; `None` for expressions.
    pub fn default_bits(&self, id: ConstId) -> Option<u64> {
        match self.module.constants.get(id).value {
            ConstValue::Spec { default, .. } => Some(default),
            _ => self.module.constants.bits(id),
        }
    }

    /// The value of a type whose bits are all zero.
    pub fn null(&mut self, ty: Word) -> Word {
        if let Some(id) = self.constants.nulls.get(&ty) {
            return *id;
        }
        let id = self.id();
        self.out.globals.typed(Op::ConstantNull, ty, id, &[]);
        self.constants.nulls.insert(ty, id);
        id
    }

    fn declare_constant(&mut self, id: ConstId) {
        if self.constants.known[id.index()] != 0 {
            return;
        }
        let module = self.module;
        let Constant { ty, value } = module.constants.get(id);
        if *value != ConstValue::Undef {
            // Storage capabilities alone allow no constants (SPIR-V 1.6 section 2.16.1).
            self.need_narrow_type(*ty);
        }
        let word = match value {
            ConstValue::Bits(bits) => self.bits_constant(*ty, *bits),
            ConstValue::Zero => self.zero(*ty),
            ConstValue::Undef => self.undef(*ty),
            ConstValue::Composite(parts) => self.composite(id, *ty, parts),
            ConstValue::Spec { id, default } => self.spec(*ty, *id, *default),
            ConstValue::SpecOp { op, args } => self.spec_op(*op, *ty, args),
            ConstValue::MatrixLength(of) => self.matrix_length(*of, *ty),
        };
        self.constants.known[id.index()] = word;
    }

    /// Storage capabilities alone allow no constants (SPIR-V 1.6 section 2.16.1).
    fn need_constant_of(&mut self, scalar: Scalar) {
        if is_narrow(scalar) {
            self.needs.scalar(scalar);
        }
    }

    fn bits_constant(&mut self, ty: TypeId, bits: u64) -> Word {
        match self.module.types.get(ty) {
            Type::Scalar(scalar) => self.scalar_constant(scalar, bits),
            _ => self.internal("bits of a composite constant"),
        }
    }

    fn zero(&mut self, ty: TypeId) -> Word {
        match self.module.types.get(ty) {
            Type::Scalar(scalar) => self.scalar_constant(scalar, 0),
            _ => {
                let ty = self.value_type(ty);
                self.null(ty)
            }
        }
    }

    pub fn undef(&mut self, ty: TypeId) -> Word {
        let (ty, id) = (self.value_type(ty), self.id());
        self.out.globals.typed(Op::Undef, ty, id, &[]);
        id
    }

    /// Returns true if this many parts form a cooperative vector with one value in all components.
    pub fn is_replicated(&self, ty: TypeId, parts: usize) -> bool {
        let Some(vector) = self.module.types.cooperative(ty).filter(|of| of.is_vector()) else { return false };
        parts == 1 && self.module.constants.as_int(&self.module.types, vector.columns) != Some(1)
    }

    fn composite(&mut self, id: ConstId, ty: TypeId, parts: &[ConstId]) -> Word {
        if parts.len() + 3 > MAX_WORDS {
            return self.unsupported("constants with more than 65532 parts");
        }
        let op = match (self.module.constants.is_spec(id), self.is_replicated(ty, parts.len())) {
            (true, true) => Op::SpecConstantCompositeReplicateEXT,
            (true, false) => Op::SpecConstantComposite,
            (false, true) => Op::ConstantCompositeReplicateEXT,
            (false, false) => Op::ConstantComposite,
        };
        self.needs.op(op);
        let ty = self.value_type(ty);
        let words: SmallVec<[Word; 8]> = parts.iter().map(|part| self.constants.known[part.index()]).collect();
        let id = self.id();
        self.out.globals.typed(op, ty, id, &words);
        id
    }

    fn spec(&mut self, ty: TypeId, number: u32, default: u64) -> Word {
        let Type::Scalar(scalar) = self.module.types.get(ty) else {
            return self.internal("a specialization constant that is not a scalar");
        };
        self.need_constant_of(scalar);
        let (ty, id) = (self.scalar_type(scalar), self.id());
        self.declare_scalar(Declare::Spec, scalar, (ty, id), default);
        self.decorate(id, Decoration::SpecId, &[number]);
        self.name_spec(id, number);
        id
    }

    fn declare_scalar(&mut self, how: Declare, scalar: Scalar, (ty, id): (Word, Word), bits: u64) {
        let globals = &mut self.out.globals;
        let (low, high) = (bits as Word, (bits >> 32) as Word);
        match (how, scalar.kind, scalar.width) {
            (Declare::Fixed, ScalarKind::Bool, _) if bits != 0 => globals.typed(Op::ConstantTrue, ty, id, &[]),
            (Declare::Fixed, ScalarKind::Bool, _) => globals.typed(Op::ConstantFalse, ty, id, &[]),
            (Declare::Spec, ScalarKind::Bool, _) if bits != 0 => globals.typed(Op::SpecConstantTrue, ty, id, &[]),
            (Declare::Spec, ScalarKind::Bool, _) => globals.typed(Op::SpecConstantFalse, ty, id, &[]),
            (how, _, 64) => globals.typed(how.op(), ty, id, &[low, high]),
            // Narrow signed literals are sign-extended (section 2.2.1, literal).
            (how, ScalarKind::Sint, width) if width < 32 => {
                globals.typed(how.op(), ty, id, &[crate::ir::constant::sign_extend(bits, scalar) as Word]);
            }
            (how, ..) => globals.typed(how.op(), ty, id, &[low]),
        }
    }

    fn spec_op(&mut self, op: SpecOp, ty: TypeId, args: &[ConstId]) -> Word {
        let words: Vec<Word> = args.iter().map(|arg| self.constants.known[arg.index()]).collect();
        let operand = args.first().map_or(ty, |arg| self.module.constants.get(*arg).ty);
        let is_float = self.module.types.scalar_of(operand).is_some_and(Scalar::is_float);
        match (op, words.as_slice()) {
            (SpecOp::Unary(op), [_]) if !is_float => self.spec_word(spec_unary(op), ty, &words),
            (SpecOp::Binary(op), [_, _]) if !is_float => self.spec_binary(op, operand, ty, &words),
            (SpecOp::Convert | SpecOp::Bitcast, [word]) => self.spec_convert(operand, ty, *word),
            (SpecOp::Select, [_, _, _]) => self.spec_select(operand, ty, &words),
            (SpecOp::Extract(index), [word]) => self.spec_word(Op::CompositeExtract, ty, &[*word, index]),
            _ => self.unsupported("this function of specialization constants"),
        }
    }

    fn spec_binary(&mut self, op: BinaryOp, operand: TypeId, ty: TypeId, words: &[Word]) -> Word {
        let kind = self.module.types.scalar_of(operand).map_or(ScalarKind::Uint, |scalar| scalar.kind);
        match super::math::binary_opcode(op, kind) {
            Some(op) => self.spec_word(op, ty, words),
            None => self.unsupported("this operation on specialization constants"),
        }
    }

    /// Before 1.4 a select between vectors needs one condition per component. Later versions allow a single condition,
    /// but Mesa then only selects the first component.
    fn spec_select(&mut self, condition: TypeId, ty: TypeId, words: &[Word]) -> Word {
        let types = &self.module.types;
        match types.components(ty) {
            Some(size) if types.components(condition) != Some(size) => {
                let (conditions, id) = (self.vector_type(Scalar::BOOL, size), self.id());
                let parts = [words[0]; 4];
                self.out.globals.typed(Op::SpecConstantComposite, conditions, id, &parts[..usize::from(size)]);
                self.spec_word(Op::Select, ty, &[&[id], &words[1..]].concat())
            }
            None if !self.version.has_1_4() => {
                self.unsupported("a choice between specialization constants that are not vectors before SPIR-V 1.4")
            }
            _ => self.spec_word(Op::Select, ty, words),
        }
    }

    pub fn spec_convert(&mut self, from: TypeId, to: TypeId, word: Word) -> Word {
        let types = &self.module.types;
        let (Some(source), Some((target, size))) = (types.scalar_of(from), shape(types, to)) else {
            return self.internal("conversion of a composite constant");
        };
        if source == target {
            return word;
        }
        if target.is_bool() {
            let zero = self.splat_constant(source, size, 0);
            return self.spec_word(Op::INotEqual, to, &[word, zero]);
        }
        if source.is_bool() {
            let one = self.splat_constant(target, size, target.one_bits());
            let zero = self.splat_constant(target, size, 0);
            return self.spec_word(Op::Select, to, &[word, one, zero]);
        }
        self.spec_resize(source, (target, size), to, word)
    }

    /// Between widths, then signs. `OpBitcast` is not allowed in a shader's `OpSpecConstantOp`; adding zero gives the
    /// same bits. `OpUConvert` is allowed from version 1.4 on.
    fn spec_resize(&mut self, source: Scalar, (target, size): (Scalar, u8), to: TypeId, word: Word) -> Word {
        let op = match source.kind {
            ScalarKind::Float => return self.spec_word(Op::FConvert, to, &[word]),
            ScalarKind::Sint => Op::SConvert,
            _ => Op::UConvert,
        };
        let mut word = word;
        if source.width != target.width {
            if op == Op::UConvert && !self.version.has_1_4() {
                return self.unsupported("conversion of unsigned specialization constants before SPIR-V 1.4");
            }
            let ty = self.vector_type(Scalar { kind: source.kind, width: target.width }, size);
            word = self.spec_typed(op, ty, &[word]);
        }
        if source.kind == target.kind {
            return word;
        }
        let zero = self.splat_constant(target, size, 0);
        self.spec_word(Op::IAdd, to, &[word, zero])
    }

    pub fn spec_word(&mut self, op: Op, ty: TypeId, words: &[Word]) -> Word {
        let ty = self.value_type(ty);
        self.spec_typed(op, ty, words)
    }

    fn spec_typed(&mut self, op: Op, ty: Word, words: &[Word]) -> Word {
        let id = self.id();
        let start = self.out.globals.begin(Op::SpecConstantOp);
        self.out.globals.extend(&[ty, id, op as Word]);
        self.out.globals.extend(words);
        self.out.globals.end(start);
        id
    }
}

#[derive(Clone, Copy)]
enum Declare {
    Fixed,
    Spec,
}

impl Declare {
    const fn op(self) -> Op {
        match self {
            Declare::Fixed => Op::Constant,
            Declare::Spec => Op::SpecConstant,
        }
    }
}

fn parts(constant: &Constant) -> &[ConstId] {
    match &constant.value {
        ConstValue::Composite(parts) | ConstValue::SpecOp { args: parts, .. } => parts,
        _ => &[],
    }
}

const fn spec_unary(op: UnaryOp) -> Op {
    match op {
        UnaryOp::Neg => Op::SNegate,
        UnaryOp::Not => Op::Not,
        UnaryOp::LogicalNot => Op::LogicalNot,
    }
}

/// The scalar and component count of a scalar or vector type.
pub(super) fn shape(types: &Types, ty: TypeId) -> Option<(Scalar, u8)> {
    Some((types.scalar_of(ty)?, types.components(ty)?))
}
