//! Images, textures and samplers. Each is known at compile time: a variable, with an index if it is an array.
//!
//! A texture and a sampler that the shader combines are one image of the kernel. Projected coordinates, and the depth
//! reference with them, are divided here, as in Vulkan's "Projection Operation". A subpass input is a texture from
//! which the texel at the fragment's position is fetched. A dynamic index is an operand of the operation, and may
//! differ between invocations; implicit levels of detail are then computed as gradients first. Refused: texels of other
//! than 32 bits, and dynamic indices of arrays without a length.

use super::body::Operand;
use super::pointer::{Index, Pointer};
use super::{Lower, Scalars};
use crate::ir::format;
use crate::ir::{
    self, Access, Binding, BuiltIn, GlobalId, ImageDim, ImageOp, ImageParts, ImageType, Order, Scalar, Type, TypeId,
    Values,
};
use crate::kernel::Stage;
use crate::kernel::{BinOp, BindingPoint, Choices, Image, Op, Ty, Value, image};

/// A part of a variable with images or samplers.
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    pub global: GlobalId,
    /// The number of elements before it in the variable.
    pub element: u32,
    /// The run-time index among them.
    pub choice: Option<Choice>,
    pub ty: TypeId,
}

/// A choice among elements.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    index: Value,
    among: Choices,
}

/// Limit of the elements that an index of an array of images may select from.
const CHOICE_LIMIT: u32 = 64;

/// An operation as the shader has it, and the type of its result.
#[derive(Clone, Copy)]
struct Operation {
    op: ImageOp,
    parts: ImageParts,
    ty: TypeId,
}

/// An operation as the kernel has it, on an image of this type.
#[derive(Clone, Copy)]
struct Described {
    ty: ImageType,
    op: ImageOp,
    parts: ImageParts,
}

impl Resource {
    fn choices(self) -> Choices {
        self.choice.map_or(Choices::ONE, |choice| choice.among)
    }
}

/// Images that an entry point may have, counted with each of their samplers.
const IMAGE_LIMIT: u64 = 1 << 12;

impl Lower<'_> {
    /// An element of an array of images.
    pub fn step_in_resource(&mut self, resource: Resource, index: Index) -> Pointer {
        let Some((element, count)) = self.array_element(resource.ty) else { return Pointer::None };
        let step = self.buffers_of(element);
        let resource = match index {
            Index::Known(index) if index >= count => return Pointer::None,
            Index::Known(index) => {
                Resource { element: resource.element.saturating_add(index.saturating_mul(step)), ..resource }
            }
            Index::Computed(_) if count > CHOICE_LIMIT => {
                self.not_yet("indices that are not constant of arrays of so many images");
                return Pointer::None;
            }
            Index::Computed(index) => Resource {
                choice: Some(self.chosen(resource.choice, Choice { index, among: Choices { count, step } })),
                ..resource
            },
        };
        Pointer::Resource(Resource { ty: element, ..resource })
    }

    /// Combines two selections; an element of the first is a multiple of the second's.
    fn chosen(&mut self, first: Option<Choice>, second: Choice) -> Choice {
        let Some(first) = first else { return second };
        let Choices { count, step } = second.among;
        let each = first.among.step / step.max(1);
        let factor = self.b.u32(each);
        let before = self.b.bin(BinOp::Mul, Scalar::U32, first.index, factor);
        let index = self.b.bin(BinOp::Add, Scalar::U32, before, second.index);
        Choice { index, among: Choices { count: (first.among.count - 1) * each + count, step } }
    }

    /// An operation on an image: its results, or the resulting image.
    pub fn image(&mut self, inst: &ir::Inst) -> Operand {
        let ir::Op::Image { op, parts, operands } = inst.op else { return Operand::Values(Scalars::new()) };
        let list = self.list(operands);
        let first = self.operand(list[0]).pointer();
        if op == ImageOp::Combine {
            let sampler = self.operand(list[1]).pointer();
            return Operand::Pointer(combined(&first, &sampler));
        }
        let sparse = matches!(self.shapes.types.get(inst.ty), Type::Struct(_)).then_some("sparse textures");
        let clamped = parts.contains(ImageParts::MIN_LOD).then_some("minimum levels of detail");
        if let Some(what) = refused(op).or(sparse).or(clamped) {
            self.not_yet(what);
            return Operand::Values(self.stand_in(inst.ty));
        }
        let operation = Operation { op, parts, ty: inst.ty };
        let made = self.image_type(&first).and_then(|ty| self.on_image(&first, ty, operation, &list[1..]));
        Operand::Values(made.unwrap_or_else(|| self.stand_in(inst.ty)))
    }

    /// The type of an image, if kernels have it.
    fn image_type(&mut self, pointer: &Pointer) -> Option<ImageType> {
        let (Pointer::Resource(resource) | Pointer::Combined { image: resource, .. }) = *pointer else { return None };
        let ty = match self.shapes.types.get(resource.ty) {
            Type::Image(ty) | Type::SampledImage(ty) => ty,
            _ => return None,
        };
        let what = match (ty.dim, ty.sampled.width) {
            (ImageDim::Tile, _) => "reads of color attachments",
            (_, 32) => return Some(ty),
            _ => "images of other than 32-bit components",
        };
        self.not_yet(what);
        None
    }

    fn on_image(
        &mut self,
        pointer: &Pointer,
        ty: ImageType,
        operation: Operation,
        list: &[ir::Value],
    ) -> Option<Scalars> {
        let mut values: Scalars = list.iter().flat_map(|operand| self.values(*operand)).collect();
        let (mut op, mut parts) = (operation.op, operation.parts);
        if op == ImageOp::SampleProjected {
            self.project(ty, parts, &mut values);
            op = ImageOp::Sample;
        }
        let ty = if ty.dim == ImageDim::SubpassInput {
            (op, parts) = (ImageOp::Fetch, self.place_in_subpass(ty, parts, &mut values));
            ImageType { dim: ImageDim::D2, storage: false, format: 0, ..ty }
        } else {
            ty
        };
        if is_chosen(pointer) && self.b.kernel.stage == Stage::Fragment && image::takes_derivatives(op, parts) {
            parts = self.gradients(ty, op, parts, &mut values)?;
        }
        let expected: usize = image::arguments(ty, op, parts).map(|(_, count)| count).sum();
        if values.len() != expected || values.iter().any(|value| self.b.kernel.ty(*value) != Ty::B32) {
            self.not_yet("operations on images with such operands");
            return None;
        }
        let wanted = self.shapes.count(operation.ty).unwrap_or(0) as usize;
        let order = if let ImageOp::Atomic(_, scope, order) = op { Some((scope, order)) } else { None };
        if let Some((scope, Order::Release | Order::AcquireRelease)) = order {
            self.order_all(scope, Order::Release);
        }
        let given = self.on_chosen(pointer, Described { ty, op: relaxed(op), parts }, &values)?;
        if let Some((scope, Order::Acquire | Order::AcquireRelease)) = order {
            self.order_all(scope, Order::Acquire);
        }
        Some(given.into_iter().take(wanted).collect())
    }

    /// The operation on the image that a pointer chooses.
    fn on_chosen(&mut self, pointer: &Pointer, what: Described, values: &[Value]) -> Option<Scalars> {
        let (image, sampler) = match *pointer {
            Pointer::Resource(image) => (image, None),
            Pointer::Combined { image, sampler } => (image, Some(sampler)),
            _ => return None,
        };
        let Described { ty, op, parts } = what;
        let number = self.image_number(image, sampler, ty, parts)?;
        let results = image::results(ty, op, parts);
        let missing = format::components(ty.format)..4;
        let mut values = Scalars::from_slice(values);
        if let (ImageOp::Write, Some(data)) = (op, image::argument(ty, op, parts, ImageParts::DATA)) {
            // The format lacks these components, so they need not be computed.
            values[data][missing.clone()].fill(self.b.u32(0));
        }
        let chosen = [Some(image), sampler].into_iter().flatten().filter_map(|resource| resource.choice);
        values.extend(chosen.filter(|choice| choice.among.is_indexed()).map(|choice| choice.index));
        let made = self.b.inst(Op::Image { op, image: number, parts }, &values, &results);
        let mut results: Scalars = self.b.kernel.results(made).collect();
        if op == ImageOp::Read {
            missing.for_each(|component| results[component] = self.missing_component(ty.sampled, component));
        }
        Some(results)
    }

    /// A component that a texel's format lacks: 0, and 1 for the last one (Vulkan, "Conversion to RGBA").
    fn missing_component(&mut self, scalar: Scalar, component: usize) -> Value {
        match (component, scalar.is_float()) {
            (3, true) => self.b.f32(1.0),
            (3, false) => self.b.u32(1),
            _ => self.b.u32(0),
        }
    }

    /// Replaces the coordinates by the fragment's texel; returns the operands of a fetch.
    fn place_in_subpass(&mut self, ty: ImageType, parts: ImageParts, values: &mut Scalars) -> ImageParts {
        for (component, value) in (0..2).zip(values.iter_mut()) {
            let place = self.b.value(Op::BuiltIn(BuiltIn::FragCoord, component), &[], Ty::B32);
            let texel = self.b.convert(Scalar::F32, Scalar::I32, place);
            *value = self.b.bin(BinOp::Add, Scalar::I32, texel, *value);
        }
        if ty.multisampled {
            return parts;
        }
        values.push(self.b.u32(0));
        parts | ImageParts::LOD
    }

    /// With the derivatives of the coordinates as gradients.
    fn gradients(&mut self, ty: ImageType, op: ImageOp, parts: ImageParts, values: &mut Scalars) -> Option<ImageParts> {
        if op != ImageOp::Sample || parts.intersects(ImageParts::BIAS) {
            self.not_yet("biased levels and queries of levels in arrays of images whose index is not constant");
            return None;
        }
        let all = parts | ImageParts::GRADIENTS;
        let coordinates: Scalars = values.iter().take(image::dimensions(ty.dim)).copied().collect();
        let at = image::argument(ty, op, all, ImageParts::GRADIENTS)?.start;
        let directions = [ir::MathFn::DerivX, ir::MathFn::DerivY];
        let slopes = directions.iter().flat_map(|way| coordinates.iter().map(move |value| (*way, *value)));
        let slopes: Scalars = slopes.map(|(way, value)| self.derivative_of(way, value)).collect();
        values.insert_many(at, slopes);
        Some(all)
    }

    /// Divides coordinates and reference by the last coordinate.
    fn project(&mut self, ty: ImageType, parts: ImageParts, values: &mut Scalars) {
        let count = image::dimensions(ty.dim);
        if values.len() <= count {
            return;
        }
        let divisor = values.remove(count);
        let compared = usize::from(parts.contains(ImageParts::REFERENCE));
        for value in values.iter_mut().take(count + compared) {
            *value = self.b.bin(BinOp::Div, Scalar::F32, *value, divisor);
        }
    }

    /// The number of an image in the kernel, which is added if it is new.
    fn image_number(
        &mut self,
        resource: Resource,
        sampler: Option<Resource>,
        ty: ImageType,
        parts: ImageParts,
    ) -> Option<u32> {
        let compares = ty.depth || parts.contains(ImageParts::REFERENCE);
        let Some(new) = self.described_image(resource, sampler, ty, compares) else {
            self.not_yet("images without a binding");
            return None;
        };
        let images = &mut self.b.kernel.images;
        let found = images.iter().position(|known| *known == new).unwrap_or(images.len());
        if found == images.len() {
            images.push(new);
        }
        let with_samplers = |image: &Image| u64::from(image.choices.count) * u64::from(image.sampler_choices.count);
        if images.iter().map(with_samplers).sum::<u64>() > IMAGE_LIMIT {
            self.stop("a kernel cannot have so many images");
        }
        Some(found as u32)
    }

    fn described_image(
        &self,
        resource: Resource,
        sampler: Option<Resource>,
        ty: ImageType,
        compares: bool,
    ) -> Option<Image> {
        let global = &self.module.globals[resource.global];
        Some(Image {
            name: (&*global.name).into(),
            place: self.binding_point(resource)?,
            choices: resource.choices(),
            sampler: match sampler {
                Some(sampler) => Some(self.binding_point(sampler)?),
                None => None,
            },
            sampler_choices: sampler.map_or(Choices::ONE, Resource::choices),
            ty,
            compares,
            writable: ty.storage && !global.access.contains(Access::READONLY),
            coherent: global.access.intersects(Access::COHERENT | Access::VOLATILE),
            volatile: global.access.contains(Access::VOLATILE),
            span: global.span,
        })
    }

    fn binding_point(&self, resource: Resource) -> Option<BindingPoint> {
        match self.module.globals[resource.global].binding {
            Binding::Resource { set, binding } | Binding::Attachment { set, binding, .. } => {
                Some(BindingPoint { set, binding, element: resource.element })
            }
            _ => None,
        }
    }

    /// How a value differs between the neighbours in a quad.
    pub fn derivative(&mut self, function: ir::MathFn, args: Values) -> Scalars {
        let values = self.list(args).iter().flat_map(|arg| self.values(*arg)).collect::<Scalars>();
        values.into_iter().map(|value| self.derivative_of(function, value)).collect()
    }

    fn derivative_of(&mut self, function: ir::MathFn, value: Value) -> Value {
        use ir::MathFn as F;
        let pair = match function {
            F::DerivWidth => [F::DerivX, F::DerivY],
            F::DerivWidthFine => [F::DerivXFine, F::DerivYFine],
            F::DerivWidthCoarse => [F::DerivXCoarse, F::DerivYCoarse],
            one => return self.b.value(Op::Derivative(one), &[value], Ty::B32),
        };
        let [x, y] = pair.map(|function| {
            let along = self.b.value(Op::Derivative(function), &[value], Ty::B32);
            self.b.un(crate::kernel::UnOp::Abs, Scalar::F32, along)
        });
        self.b.bin(BinOp::Add, Scalar::F32, x, y)
    }
}

/// The name of an operation that kernels do not have.
const fn refused(op: ImageOp) -> Option<&'static str> {
    use ImageOp as O;
    match op {
        O::Atomic(..) => None,
        O::FragmentMask | O::FragmentFetch => Some("fragment masks"),
        O::Attachment => Some("reads of color attachments"),
        O::Weighted | O::BoxFilter | O::BlockMatch { .. } => Some("filters over blocks of texels"),
        O::Sample | O::SampleProjected | O::Gather | O::Fetch | O::Read | O::Write | O::Combine => None,
        O::Size | O::QueryLod | O::Levels | O::Samples => None,
    }
}

/// The relaxed form of the operation.
const fn relaxed(op: ImageOp) -> ImageOp {
    match op {
        ImageOp::Atomic(op, scope, _) => ImageOp::Atomic(op, scope, Order::Relaxed),
        other => other,
    }
}

/// Returns true if the image or sampler depends on a run-time index.
fn is_chosen(pointer: &Pointer) -> bool {
    match pointer {
        Pointer::Resource(image) => image.choice.is_some(),
        Pointer::Combined { image, sampler } => image.choice.or(sampler.choice).is_some(),
        _ => false,
    }
}

/// A texture with a sampler.
fn combined(image: &Pointer, sampler: &Pointer) -> Pointer {
    match (image, sampler) {
        (Pointer::Resource(image), Pointer::Resource(sampler)) => {
            Pointer::Combined { image: *image, sampler: *sampler }
        }
        _ => Pointer::None,
    }
}
