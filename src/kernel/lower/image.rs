//! Images, textures and samplers. They are known when the kernel is made: a variable, and which of an array.
//!
//! A texture and a sampler that the shader combines are one image of the kernel. Projected coordinates are divided here, with
//! the reference that goes with them, as Vulkan's "Projection Operation" says. Refused: texels of other than 32 bits, subpass
//! inputs, and indices of arrays that are not constant.

use super::body::Operand;
use super::pointer::{Index, Pointer};
use super::{Lower, Scalars};
use crate::ir::{
    self, Access, AtomicOp, Binding, GlobalId, ImageDim, ImageOp, ImageParts, ImageType, Order, Scalar, Type, TypeId,
    Values,
};
use crate::kernel::{BinOp, BindingPoint, Image, Op, Value, image};

/// A part of a variable that holds images or samplers.
#[derive(Clone, Copy, Debug)]
pub struct Resource {
    pub global: GlobalId,
    /// How many come before it in the variable.
    pub element: u32,
    pub ty: TypeId,
}

/// Images that an entry point may have.
const IMAGE_LIMIT: usize = 1 << 12;

impl Lower<'_> {
    /// An element of an array of images.
    pub fn step_in_resource(&mut self, resource: Resource, index: Index) -> Pointer {
        let Index::Known(index) = index else {
            self.not_yet("indices of arrays of images that are not constant");
            return Pointer::None;
        };
        let Some((element, _)) = self.array_element(resource.ty).filter(|(_, count)| index < *count) else {
            return Pointer::None;
        };
        let before = index.saturating_mul(self.buffers_of(element));
        Pointer::Resource(Resource { element: resource.element.saturating_add(before), ty: element, ..resource })
    }

    /// An operation on an image: its results, or the image that it makes.
    pub fn image(&mut self, inst: &ir::Inst) -> Operand {
        let ir::Op::Image { op, parts, operands } = inst.op else { return Operand::Values(Scalars::new()) };
        let list = self.list(operands);
        let first = self.operand(list[0]).pointer();
        if op == ImageOp::Combine {
            let sampler = self.operand(list[1]).pointer();
            return Operand::Pointer(combined(&first, &sampler));
        }
        if let Some(what) = refused(op) {
            self.not_yet(what);
            return Operand::Values(self.stand_in(inst.ty));
        }
        let made = self.image_number(&first, parts).and_then(|number| self.on_image(number, inst, op, parts, list));
        Operand::Values(made.unwrap_or_else(|| self.stand_in(inst.ty)))
    }

    fn on_image(
        &mut self,
        number: u32,
        inst: &ir::Inst,
        op: ImageOp,
        parts: ImageParts,
        list: &[ir::Value],
    ) -> Option<Scalars> {
        let ty = self.b.kernel.images[number as usize].ty;
        let mut values: Scalars = list[1..].iter().flat_map(|operand| self.values(*operand)).collect();
        let op = match op {
            ImageOp::SampleProjected => {
                self.project(ty, parts, &mut values);
                ImageOp::Sample
            }
            op => op,
        };
        let expected: usize = image::arguments(ty, op, parts).map(|(_, count)| count).sum();
        if values.len() != expected || values.iter().any(|value| self.b.kernel.ty(*value) != crate::kernel::Ty::B32) {
            self.not_yet("operations on images with such operands");
            return None;
        }
        let results = image::results(ty, op, parts);
        let made = self.b.inst(Op::Image { op, image: number, parts }, &values, &results);
        let given: Scalars = self.b.kernel.results(made).collect();
        let wanted = self.shapes.count(inst.ty).unwrap_or(0) as usize;
        Some(given.into_iter().take(wanted).collect())
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

    /// The number of an image in the kernel, to which it is added where it is new.
    fn image_number(&mut self, pointer: &Pointer, parts: ImageParts) -> Option<u32> {
        let (resource, sampler) = match *pointer {
            Pointer::Resource(resource) => (resource, None),
            Pointer::Combined { image, sampler } => (image, Some(sampler)),
            _ => return None,
        };
        let ty = match self.shapes.types.get(resource.ty) {
            Type::Image(ty) | Type::SampledImage(ty) => ty,
            _ => return None,
        };
        if ty.sampled.width != 32 || matches!(ty.dim, ImageDim::SubpassInput | ImageDim::Tile) {
            self.not_yet("subpass inputs, color attachments and images of other than 32-bit components");
            return None;
        }
        let compares = ty.depth || parts.contains(ImageParts::REFERENCE);
        let new = self.described_image(resource, sampler, ty, compares)?;
        let images = &mut self.b.kernel.images;
        let found = images.iter().position(|known| *known == new).unwrap_or(images.len());
        if found == images.len() {
            images.push(new);
        }
        if found >= IMAGE_LIMIT {
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
            sampler: match sampler {
                Some(sampler) => Some(self.binding_point(sampler)?),
                None => None,
            },
            ty,
            compares,
            writable: ty.storage && !global.access.contains(Access::READONLY),
            coherent: global.access.contains(Access::COHERENT),
            volatile: global.access.contains(Access::VOLATILE),
            span: global.span,
        })
    }

    fn binding_point(&self, resource: Resource) -> Option<BindingPoint> {
        match self.module.globals[resource.global].binding {
            Binding::Resource { set, binding } => Some(BindingPoint { set, binding, element: resource.element }),
            _ => None,
        }
    }

    /// Puts textures before images, each in the order of their bindings.
    pub fn sort_images(&mut self) {
        let kernel = &mut self.b.kernel;
        let mut order: Vec<usize> = (0..kernel.images.len()).collect();
        order.sort_by_key(|at| {
            let Image { place, sampler, ty, compares, .. } = &kernel.images[*at];
            (ty.storage, *place, *sampler, *compares)
        });
        let mut numbers = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            numbers[*old] = new as u32;
        }
        kernel.images = order.iter().map(|at| kernel.images[*at].clone()).collect();
        for inst in kernel.insts.handles().collect::<Vec<_>>() {
            if let Op::Image { image, .. } = &mut kernel.insts[inst].op {
                *image = numbers[*image as usize];
            }
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
            one => return self.b.value(Op::Derivative(one), &[value], crate::kernel::Ty::B32),
        };
        let [x, y] = pair.map(|function| {
            let along = self.b.value(Op::Derivative(function), &[value], crate::kernel::Ty::B32);
            self.b.un(crate::kernel::UnOp::Abs, Scalar::F32, along)
        });
        self.b.bin(BinOp::Add, Scalar::F32, x, y)
    }
}

/// What an operation is that kernels do not have.
const fn refused(op: ImageOp) -> Option<&'static str> {
    use ImageOp as O;
    match op {
        O::Atomic(AtomicOp::Load | AtomicOp::Store, ..) => Some("atomic loads and stores of texels"),
        O::Atomic(_, _, Order::Relaxed) => None,
        O::Atomic(..) => Some("atomic operations on images that order other accesses"),
        O::FragmentMask | O::FragmentFetch => Some("fragment masks"),
        O::Attachment => Some("reads of color attachments"),
        O::Weighted | O::BoxFilter | O::BlockMatch { .. } => Some("filters over blocks of texels"),
        O::Sample | O::SampleProjected | O::Gather | O::Fetch | O::Read | O::Write | O::Combine => None,
        O::Size | O::QueryLod | O::Levels | O::Samples => None,
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
