//! Operations on images with their operands.

use super::expr::Expr;
use super::function::{Body, Made};
use super::writer::Writer;
use crate::backend::losses::SEEN_BY_OTHERS;
use crate::ir::{
    FuncId, Function, GlobalId, ImageOp, ImageParts, ImageType, Module, Op, Space, Type, TypeId, Value, Values,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::rc::Rc;

/// The operations on a texture that its type must allow.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(super) struct ImageUse {
    pub reads: bool,
    pub writes: bool,
    pub compares: bool,
    /// True if it is sampled; for samplers too.
    pub samples: bool,
    /// True if writes are immediately visible to other invocations.
    pub is_coherent: bool,
}

/// Returns true if a texture is a depth texture, the only kind that languages can compare with.
pub(super) fn is_depth(image: ImageType, of: ImageUse) -> bool {
    !image.storage && (image.depth || of.compares)
}

/// A variable or parameter that is a texture or a sampler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Root {
    Global(GlobalId),
    Param(FuncId, u32),
}

/// The operations on all textures of a module. A parameter and its arguments share one type and therefore one set of
/// operations.
#[derive(Default)]
pub(super) struct ImageUses {
    /// Another texture of the same type.
    same: FxHashMap<Root, Root>,
    uses: FxHashMap<Root, ImageUse>,
}

impl ImageUses {
    fn of(module: &Module) -> ImageUses {
        let mut made = ImageUses::default();
        for (id, f) in module.functions.iter() {
            for (_, inst) in f.insts.iter() {
                if let Op::Call(callee, args) = inst.op {
                    for (index, arg) in (0..).zip(f.values(args)) {
                        if let Some(root) = root_of(f, id, *arg) {
                            made.join(root, Root::Param(callee, index));
                        }
                    }
                }
            }
        }
        let seen = module.globals.iter().filter(|(_, global)| global.access.intersects(SEEN_BY_OTHERS));
        for (id, _) in seen.filter(|(_, global)| global.space == Space::Handle) {
            made.uses.entry(made.first(Root::Global(id))).or_default().is_coherent = true;
        }
        for (id, f) in module.functions.iter() {
            for (_, inst) in f.insts.iter() {
                let Op::Image { op, parts, operands } = inst.op else { continue };
                if let (ImageOp::Combine, Type::SampledImage(image)) = (op, module.types.get(inst.ty))
                    && let Some(root) = f.values(operands).get(1).and_then(|value| root_of(f, id, *value))
                {
                    made.uses.entry(made.first(root)).or_default().compares |= image.depth;
                }
                let Some(root) = f.values(operands).first().and_then(|value| root_of(f, id, *value)) else { continue };
                let root = made.first(root);
                let uses = made.uses.entry(root).or_default();
                uses.reads |= matches!(op, ImageOp::Read | ImageOp::Atomic(..));
                uses.writes |= matches!(op, ImageOp::Write | ImageOp::Atomic(..));
                let compares = parts.contains(ImageParts::REFERENCE);
                let samples =
                    matches!(op, ImageOp::Sample | ImageOp::SampleProjected | ImageOp::Gather | ImageOp::QueryLod);
                uses.compares |= compares;
                uses.samples |= samples;
                if let Some(root) = sampler_of(f, id, (parts, f.values(operands))) {
                    let uses = made.uses.entry(made.first(root)).or_default();
                    uses.compares |= compares;
                    uses.samples |= samples;
                }
            }
        }
        made
    }

    /// The texture that represents all textures of the same type.
    fn first(&self, root: Root) -> Root {
        let mut root = root;
        while let Some(next) = self.same.get(&root) {
            root = *next;
        }
        root
    }

    fn join(&mut self, a: Root, b: Root) {
        let (a, b) = (self.first(a), self.first(b));
        if a != b {
            self.same.insert(b, a);
        }
    }
}

/// The variable or parameter that the sampler of an operation comes from.
fn sampler_of(f: &Function, id: FuncId, (parts, values): (ImageParts, &[Value])) -> Option<Root> {
    if parts.contains(ImageParts::SAMPLER) {
        let before = parts.intersection(ImageParts::from_bits_truncate(ImageParts::SAMPLER.bits() - 1));
        return root_of(f, id, *values.get(1 + before.bits().count_ones() as usize)?);
    }
    match *values.first()? {
        Value::Inst(inst) => match f.insts[inst].op {
            Op::Image { op: ImageOp::Combine, operands, .. } => root_of(f, id, *f.values(operands).get(1)?),
            _ => None,
        },
        _ => None,
    }
}

/// The variable or parameter that a texture comes from.
fn root_of(f: &Function, id: FuncId, value: Value) -> Option<Root> {
    match value {
        Value::Global(global) => Some(Root::Global(global)),
        Value::Param(index) => Some(Root::Param(id, index)),
        Value::Inst(inst) => match f.insts[inst].op {
            Op::Access { base, .. } => root_of(f, id, base),
            Op::Load(pointer) => root_of(f, id, pointer),
            Op::Image { op: ImageOp::Combine, operands, .. } => root_of(f, id, f.values(operands)[0]),
            _ => None,
        },
        _ => None,
    }
}

/// An operation with its operands.
pub(super) struct ImageCall {
    pub image: ImageType,
    pub parts: ImageParts,
    pub texts: SmallVec<[Expr; 8]>,
    pub values: SmallVec<[Value; 8]>,
}

impl ImageCall {
    /// Place of a part's first operand.
    pub fn at(&self, part: ImageParts) -> Option<usize> {
        let before = self.parts.intersection(ImageParts::from_bits_truncate(part.bits() - 1));
        let pair = usize::from(before.contains(ImageParts::GRADIENTS));
        self.parts.contains(part).then(|| 1 + before.bits().count_ones() as usize + pair)
    }

    pub fn text(&self, part: ImageParts) -> Option<Expr> {
        self.at(part).map(|at| self.texts[at].clone())
    }
}

impl Writer<'_> {
    /// The operations on the textures that are of a variable's or a parameter's type.
    pub fn image_use(&mut self, root: Root) -> ImageUse {
        let module = self.module;
        let all = self.images.get_or_insert_with(|| Rc::new(ImageUses::of(module)));
        all.uses.get(&all.first(root)).copied().unwrap_or_default()
    }
}

impl Body<'_, '_> {
    /// The operations on the textures that are of the type of a value.
    pub fn image_use(&mut self, value: Value) -> ImageUse {
        root_of(self.f, self.id, value).map_or_else(ImageUse::default, |root| self.t.image_use(root))
    }

    /// Texture and sampler of an operation, in languages with separate ones.
    pub fn texture_and_sampler(&mut self, call: &ImageCall) -> [Expr; 2] {
        match self.made(call.values[0]) {
            Made::Pair(parts) => parts,
            _ => {
                let none = Expr::primary("");
                [call.texts[0].clone(), call.text(ImageParts::SAMPLER).unwrap_or(none)]
            }
        }
    }

    /// The vector of the coordinate and the depth reference.
    pub fn coordinate_with_reference(&self, call: &ImageCall) -> Option<Value> {
        let [coordinate, reference] = [ImageParts::COORDINATE, ImageParts::REFERENCE].map(|part| {
            let Some(Value::Inst(id)) = call.at(part).map(|at| call.values[at]) else { return None };
            Some(self.f.insts[id])
        });
        let Op::Extract { composite: whole, index } = reference?.op else { return None };
        let Op::Shuffle { a, b, mask } = coordinate?.op else { return None };
        let size = self.t.types.components(coordinate?.ty)?;
        let is_whole = a == whole && b == whole && (0..size).all(|n| mask[usize::from(n)] == n);
        let has_end = self.t.types.components(self.type_of(whole)) == Some(size + 1) && index == u32::from(size);
        (is_whole && has_end).then_some(whole)
    }

    pub fn image(&mut self, op: ImageOp, parts: ImageParts, list: Values, ty: TypeId) -> Option<Made> {
        let language = self.t.language;
        if op == ImageOp::Combine {
            return Some(language.combined(self, list, ty));
        }
        let values: SmallVec<[Value; 8]> = SmallVec::from_slice(self.f.values(list));
        let of = self.pointee_of(values[0]).map_or_else(|| self.type_of(values[0]), |(_, pointee)| pointee);
        let image = match self.t.types.get(of) {
            Type::Image(image) | Type::SampledImage(image) => image,
            _ => return Some(Made::One(self.t.broken("an image operation on no image"))),
        };
        let texts = values
            .iter()
            .map(|value| match self.made(*value) {
                Made::Pair([texture, _]) if self.is_handle(self.type_of(*value)) => texture,
                _ => self.value(*value),
            })
            .collect();
        let call = ImageCall { image, parts, texts, values };
        if let Type::Struct(pair) = self.t.types.get(ty) {
            let texel = self.t.types.structs[pair].members[1].ty;
            return language.resident(self, op, &call, texel).map(Made::Pair);
        }
        language.image(self, op, &call, ty).map(Made::One)
    }
}
