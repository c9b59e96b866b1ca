//! Operations on images with their operands.

use super::expr::Expr;
use super::function::{Body, Made};
use crate::ir::{ImageOp, ImageParts, ImageType, Op, Type, TypeId, Value, Values};
use smallvec::SmallVec;

/// An operation with its operands.
pub(super) struct ImageCall {
    pub image: ImageType,
    pub has_sampler: bool,
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

impl Body<'_, '_> {
    /// Texture and sampler of an operation, in languages where these are two.
    pub fn texture_and_sampler(&mut self, call: &ImageCall) -> [Expr; 2] {
        match self.made(call.values[0]) {
            Made::Pair(parts) => parts,
            _ => {
                let none = Expr::primary("");
                [call.texts[0].clone(), call.text(ImageParts::SAMPLER).unwrap_or(none)]
            }
        }
    }

    /// The vector whose components are the coordinate and then the reference.
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
        let (image, has_sampler) = match self.t.types.get(of) {
            Type::Image(image) => (image, false),
            Type::SampledImage(image) => (image, true),
            _ => return Some(Made::One(self.t.broken("an image operation on no image"))),
        };
        let texts = values
            .iter()
            .map(|value| match self.made(*value) {
                Made::Pair([texture, _]) if self.is_handle(self.type_of(*value)) => texture,
                _ => self.value(*value),
            })
            .collect();
        let call = ImageCall { image, has_sampler, parts, texts, values };
        language.image(self, op, &call, ty).map(Made::One)
    }
}
