//! 1D textures as 2D textures with one row, for languages that lack 1D textures.

use super::insts;
use super::retype;
use crate::ir::{
    BinaryOp, ConstValue, FuncId, Function, ImageDim, ImageOp, ImageParts, ImageType, Inst, InstId, Module, Op, Scalar,
    Type, TypeId, Value,
};

/// The types of 1D textures and images that `is_such` selects.
pub(super) fn such(module: &Module, is_such: impl Fn(ImageType) -> bool) -> Vec<ImageType> {
    let lines = module.types.iter().filter_map(|(_, ty)| image_of(ty)).filter(|image| image.dim == ImageDim::D1);
    lines.filter(|image| is_such(*image)).collect()
}

/// Returns true if 1D textures are sampled with one of these operands, or queried for the level of detail.
pub(super) fn are_sampled_with(module: &Module, parts: ImageParts) -> bool {
    let is_line = |f: &Function, value: Value| {
        let of = module.value_type(f, value).and_then(|ty| image_of(module.types.get(ty)));
        of.is_some_and(|image| image.dim == ImageDim::D1)
    };
    let asks = |f: &Function, inst: &Inst| match inst.op {
        Op::Image { op, parts: of, operands } => {
            let is_it = of.intersects(parts) || op == ImageOp::QueryLod;
            (op.is_lookup() || op == ImageOp::QueryLod) && is_it && is_line(f, f.values(operands)[0])
        }
        _ => false,
    };
    module.functions.iter().any(|(_, f)| f.insts.iter().any(|(_, inst)| asks(f, inst)))
}

/// Turns 1D textures and images of these types into 2D ones. The rest of the shader is not affected: coordinates get
/// the middle of the row, sizes lose the height.
pub(super) fn widen(module: &mut Module, lines: &[ImageType]) {
    insts::each_inst(
        module,
        |module| module,
        |module, function, id, before| Operation { module, function, id, before }.widen(lines),
    );
    retype::change_all(module, &|ty| match ty {
        Type::Image(image) if lines.contains(&image) => Some(Type::Image(plane(image))),
        Type::SampledImage(image) if lines.contains(&image) => Some(Type::SampledImage(plane(image))),
        _ => None,
    });
}

fn plane(line: ImageType) -> ImageType {
    ImageType { dim: ImageDim::D2, ..line }
}

fn image_of(ty: Type) -> Option<ImageType> {
    match ty {
        Type::Image(image) | Type::SampledImage(image) => Some(image),
        _ => None,
    }
}

/// An instruction whose types are still 1D.
struct Operation<'a> {
    module: &'a mut Module,
    function: FuncId,
    id: InstId,
    /// The list for the instructions that it needs.
    before: &'a mut Vec<InstId>,
}

impl Operation<'_> {
    fn widen(&mut self, lines: &[ImageType]) {
        let f = &self.module.functions[self.function];
        let Op::Image { op, parts, operands } = f.insts[self.id].op else { return };
        let mut values = f.values(operands).to_vec();
        let Some(image) = values.first().and_then(|of| self.image_of(*of)).filter(|image| lines.contains(image)) else {
            return;
        };
        let mut at = 1;
        for part in parts.iter() {
            let row = match (part, op) {
                (ImageParts::COORDINATE, ImageOp::SampleProjected) => Row::Divided,
                (ImageParts::COORDINATE, ImageOp::Sample | ImageOp::Gather | ImageOp::QueryLod) => Row::Middle,
                (ImageParts::COORDINATE | ImageParts::GRADIENTS | ImageParts::OFFSET, _) => Row::Zero,
                _ => Row::Absent,
            };
            let count = if part == ImageParts::GRADIENTS { 2 } else { 1 };
            for value in values.iter_mut().skip(at).take(count) {
                *value = self.with_row(*value, row);
            }
            at += count;
        }
        let operands = self.module.functions[self.function].list(&values);
        let op = Op::Image { op, parts, operands };
        if matches!(op, Op::Image { op: ImageOp::Size, .. }) {
            self.without_height(op, image.arrayed);
        } else {
            self.module.functions[self.function].insts[self.id].op = op;
        }
    }

    fn image_of(&self, value: Value) -> Option<ImageType> {
        let (module, f) = (&*self.module, &self.module.functions[self.function]);
        let of = match module.pointee_of(f, &module.types, value) {
            Some((_, pointee)) => pointee,
            None => module.value_type(f, value)?,
        };
        image_of(module.types.get(of))
    }

    fn add(&mut self, op: Op, ty: TypeId) -> Value {
        let f = &mut self.module.functions[self.function];
        let id = f.insts.push(Inst { op, ty, ..f.insts[self.id] });
        self.before.push(id);
        Value::Inst(id)
    }

    fn construct(&mut self, parts: &[Value], ty: TypeId) -> Value {
        let parts = self.module.functions[self.function].list(parts);
        self.add(Op::Construct(parts), ty)
    }

    /// The value with a second component.
    fn with_row(&mut self, value: Value, row: Row) -> Value {
        let (module, f) = (&*self.module, &self.module.functions[self.function]);
        let Some(ty) = module.value_type(f, value).filter(|_| row != Row::Absent) else { return value };
        let (Some(scalar), Some(size)) = (module.types.scalar_of(ty), module.types.components(ty)) else {
            return value;
        };
        let (of, whole) = (self.module.types.scalar(scalar), self.module.types.vector(scalar, size + 1));
        let half = ConstValue::Bits(if row == Row::Zero { 0 } else { half(scalar) });
        let half = Value::Const(self.module.constants.intern(of, half));
        let parts: Vec<Value> = (0..u32::from(size)).map(|index| self.part(value, size, index, of)).collect();
        let row = match (row, parts.last()) {
            (Row::Divided, Some(divisor)) => self.add(Op::Binary(BinaryOp::Mul, half, *divisor), of),
            _ => half,
        };
        let parts: Vec<Value> = parts[..1].iter().copied().chain([row]).chain(parts[1..].iter().copied()).collect();
        let known: Option<Vec<_>> =
            parts.iter().map(|part| if let Value::Const(id) = part { Some(*id) } else { None }).collect();
        match known {
            Some(parts) => Value::Const(self.module.constants.intern(whole, ConstValue::Composite(parts.into()))),
            None => self.construct(&parts, whole),
        }
    }

    fn part(&mut self, value: Value, size: u8, index: u32, of: TypeId) -> Value {
        if size == 1 {
            return value;
        }
        let f = &self.module.functions[self.function];
        if let Value::Inst(id) = value
            && let Op::Construct(parts) = f.insts[id].op
            && parts.len == u32::from(size)
        {
            return f.values(parts)[index as usize];
        }
        if let Value::Const(id) = value
            && let ConstValue::Composite(parts) = &self.module.constants.get(id).value
        {
            return Value::Const(parts[index as usize]);
        }
        self.add(Op::Extract { composite: value, index }, of)
    }

    /// The 2D size, whose instruction then becomes the width, with the number of layers.
    fn without_height(&mut self, op: Op, is_arrayed: bool) {
        let ty = self.module.functions[self.function].insts[self.id].ty;
        let scalar = self.module.types.scalar_of(ty).unwrap_or(Scalar::I32);
        let whole = self.module.types.vector(scalar, 2 + u8::from(is_arrayed));
        let size = self.add(op, whole);
        let width = match is_arrayed {
            true => Op::Shuffle { a: size, b: size, mask: [0, 2, 0, 0] },
            false => Op::Extract { composite: size, index: 0 },
        };
        self.module.functions[self.function].insts[self.id].op = width;
    }
}

/// The coordinate for the only row of a 2D image that replaces a 1D image.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Row {
    Absent,
    Zero,
    /// The middle of the only row.
    Middle,
    /// The middle of the only row times the divisor, which is the last component.
    Divided,
}

/// The bits of one half.
fn half(scalar: Scalar) -> u64 {
    if scalar == Scalar::F16 { 0x3800 } else { u64::from(0.5f32.to_bits()) }
}
