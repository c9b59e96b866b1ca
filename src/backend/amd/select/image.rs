//! Images and texel buffers: texels that are loaded, stored and changed by integer coordinates, and sizes.
//!
//! A descriptor is loaded from the arguments at its use, once per block. If lanes index an array differently, a loop
//! handles the lanes with the same element together (`waterfall`). The order of coordinates is x, y, z or layer, and
//! last the level of detail or the sample (RDNA 2 ISA, "Image VGPRs").

use super::Selector;
use super::arithmetic::number;
use super::atomic::AtomicMemory;
use super::divide::keep;
use super::emit::{FALSE, part};
use super::memory::Address;
use crate::backend::amd::interface::Descriptors;
use crate::backend::amd::machine::{File, ImageAccess, ImageShape, Modifiers, Operand, Reach, Region, Special};
use crate::backend::amd::mnemonic::{Generation, Operation};
use crate::ir::format::components;
use crate::ir::{AtomicOp, ImageDim, ImageOp, ImageParts, InstFlags, Scalar};
use crate::kernel::{BinOp, Image, InstId, Value, image};
use crate::profile::processor::ImageAddress;
use smallvec::SmallVec;

/// Limit of the descriptors that a block keeps: each occupies up to eight registers as long as it may be reused.
const DESCRIPTORS: usize = 6;

/// All four components.
pub const WHOLE: u8 = 0xf;

/// Words of an address, or the operands that have them.
pub type AddressWords = SmallVec<[Operand; 5]>;

/// An operation on an image.
#[derive(Clone, Copy)]
pub struct Use<'k> {
    pub inst: InstId,
    pub op: ImageOp,
    pub parts: ImageParts,
    pub number: u32,
    pub image: &'k Image,
    /// The elements of the arrays of images and samplers, in scalar registers; `None` before they are known.
    pub elements: [Option<Operand>; 2],
}

/// The place of a descriptor in the arguments: an offset, and the element of the array that starts there.
pub type Place = (u32, Option<Operand>);

/// An instruction on an image, except the descriptors among its operands.
pub struct ImageInst {
    pub operation: Operation,
    pub to: Option<Operand>,
    /// The operands before the descriptors, and after them.
    pub before: SmallVec<[Operand; 8]>,
    pub after: Option<Operand>,
    pub modifiers: Modifiers,
}

impl Use<'_> {
    /// The operands of a part.
    pub fn values<'k>(&self, selector: &Selector<'k>, part: ImageParts) -> &'k [Value] {
        match image::argument(self.image.ty, self.op, self.parts, part) {
            Some(range) => &selector.kernel.args(self.inst)[range],
            None => &[],
        }
    }
}

impl Selector<'_> {
    pub fn image(&mut self, inst: InstId, op: ImageOp, number: u32, parts: ImageParts) {
        let kernel = self.kernel;
        let access = Use { inst, op, parts, number, image: &kernel.images[number as usize], elements: [None; 2] };
        if let Some(why) = self.processor_refusal(&access) {
            self.refuse(why);
            return;
        }
        if let Some(what) = refusal(&access) {
            self.refused(what);
            return;
        }
        let is_buffer = access.image.ty.dim == ImageDim::Buffer;
        match (op, is_buffer) {
            (ImageOp::Size, true) => self.texel_count(&access),
            (ImageOp::Size, false) => self.image_size(&access),
            (ImageOp::Levels, _) => self.image_levels(&access),
            (ImageOp::Samples, _) => self.image_samples(&access),
            (ImageOp::Sample, _) => self.sample(&access),
            (ImageOp::Gather, _) => self.gather(&access),
            (ImageOp::Atomic(AtomicOp::Load, ..), true) => self.load_element(&access),
            (ImageOp::Atomic(AtomicOp::Load, ..), false) => self.load_texel(&access),
            (ImageOp::Write | ImageOp::Atomic(AtomicOp::Store, ..), true) => self.store_element(&access),
            (ImageOp::Write | ImageOp::Atomic(AtomicOp::Store, ..), false) => self.store_texel(&access),
            (ImageOp::Atomic(op, ..), _) => self.image_atomic(&access, op),
            (_, true) => self.load_element(&access),
            (_, false) => self.load_texel(&access),
        }
    }

    /// Why the processor cannot do it.
    fn processor_refusal(&self, access: &Use<'_>) -> Option<String> {
        let (ty, processor) = (access.image.ty, self.arch.processor);
        if ty.dim != ImageDim::Buffer && !processor.has_images {
            return Some(format!("{} has no complete set of instructions for images", processor.name));
        }
        if access.op == ImageOp::Samples && !processor.tells_samples {
            return Some(format!("the number of an image's samples cannot be written for {} so far", processor.name));
        }
        let is_wrong = access.op == ImageOp::Gather && !processor.gathers_integers && !ty.sampled.is_float();
        is_wrong.then(|| format!("{} gathers the wrong texels from textures of integers", processor.name))
    }

    // Operands and modifiers.

    /// The descriptor of an image or of a texel buffer.
    pub fn image_descriptor(&mut self, access: &Use<'_>) -> Operand {
        let words = if access.image.ty.dim == ImageDim::Buffer { 4 } else { 8 };
        let at = self.subject.interface.images[access.number as usize].among(access.image.choices);
        self.descriptor(at, access.elements[0], words)
    }

    /// This many words of a descriptor.
    pub fn descriptor(&mut self, at: Descriptors, element: Option<Operand>, words: u8) -> Operand {
        let Descriptors { offset, stride } = at;
        let place = match element {
            Some(Operand::Constant(n)) => (offset + n * stride, None),
            element => (offset, element),
        };
        if let Some((_, known)) = self.descriptors.iter().find(|(known, _)| *known == place) {
            return *known;
        }
        let to = self.scalars(words);
        match place {
            (offset, None) => self.load_argument(offset, to, words),
            (offset, Some(element)) => {
                let index = self.multiply_by(element, stride);
                self.load_indexed_argument(offset, index, to, words);
            }
        }
        if self.descriptors.len() == DESCRIPTORS {
            self.descriptors.remove(0);
        }
        self.descriptors.push((place, to));
        to
    }

    /// The shape as the hardware sees it. Storage cubes are arrays of their faces, and arrays of cubes are cubes.
    fn image_shape(&self, image: &Image) -> ImageShape {
        let widens = self.arch.processor.widens_lines;
        match (image.ty.dim, image.ty.arrayed) {
            (_, false) if image.ty.multisampled => ImageShape::PlaneSamples,
            (_, true) if image.ty.multisampled => ImageShape::PlaneSamplesArray,
            (ImageDim::Cube, _) if !image.ty.storage => ImageShape::Cube,
            (ImageDim::D1, false) if widens => ImageShape::Plane,
            (ImageDim::D1, true) if widens => ImageShape::PlaneArray,
            (ImageDim::D1, false) => ImageShape::Line,
            (ImageDim::D1, true) => ImageShape::LineArray,
            (ImageDim::Cube, _) | (_, true) => ImageShape::PlaneArray,
            (ImageDim::D3, false) => ImageShape::Volume,
            _ => ImageShape::Plane,
        }
    }

    /// Coordinates in texels, offsets added, and the sample, or the level of a fetch.
    fn texel_address(&mut self, access: &Use<'_>) -> AddressWords {
        let offsets = access.values(self, ImageParts::OFFSET);
        let mut words = AddressWords::new();
        for (n, value) in access.values(self, ImageParts::COORDINATE).iter().enumerate() {
            let word = self.word(*value);
            let word = match offsets.get(n) {
                Some(offset) => {
                    let offset = self.word(*offset);
                    self.word_binary(BinOp::Add, Scalar::U32, [word, offset])
                }
                None => word,
            };
            words.push(word);
        }
        if access.image.ty.dim == ImageDim::D1 && self.arch.processor.widens_lines {
            words.insert(1, FALSE);
        }
        if let Some(sample) = access.values(self, ImageParts::SAMPLE).first() {
            let sample = self.word(*sample);
            words.push(sample);
        } else if access.image.ty.dim != ImageDim::Buffer {
            let level = access.values(self, ImageParts::LOD).first().map(|level| self.word(*level));
            words.extend(level.filter(|level| *level != FALSE));
        }
        words
    }

    /// The words of an address as operands.
    pub fn image_address(&mut self, words: &[Operand], samples: bool) -> AddressWords {
        let apart = match self.arch.processor.image_address {
            ImageAddress::Tuple => 0,
            ImageAddress::List { most } if words.len() > most => 0,
            ImageAddress::List { .. } => words.len(),
            ImageAddress::Partial { most, sampling } => {
                let most = if samples { sampling } else { most };
                if words.len() > most { most - 1 } else { words.len() }
            }
        };
        let (apart, together) = words.split_at(apart);
        let mut operands: AddressWords = apart.iter().map(|word| self.in_vector(*word)).collect();
        if !together.is_empty() {
            operands.push(self.tuple(together));
        }
        operands
    }

    /// Words side by side in vector registers, which the block has or which are new.
    fn tuple(&mut self, words: &[Operand]) -> Operand {
        if let Some((_, known)) = self.image_operands.tuples.iter().find(|(known, _)| known[..] == *words) {
            return *known;
        }
        let whole = self.whole(words, File::Vector);
        keep(&mut self.image_operands.tuples, (words.into(), whole));
        whole
    }

    /// The modifiers of an access. Textures and the sizes of images are read-only.
    fn image_modifiers(&self, access: &Use<'_>) -> Modifiers {
        let watched = InstFlags::VOLATILE | InstFlags::COHERENT;
        let is_watched = matches!(access.op, ImageOp::Atomic(..)) || access.image.coherent || access.image.volatile;
        let is_watched = is_watched || self.kernel.insts[access.inst].flags.intersects(watched);
        let is_query = matches!(access.op, ImageOp::Size | ImageOp::Levels);
        Modifiers {
            coherent: (is_watched && !is_query).then_some(Reach::Device),
            region: if access.image.ty.storage && !is_query { Region::Buffers } else { Region::Constant },
            ..Modifiers::default()
        }
    }

    /// The modifiers of an image instruction whose address has this many operands.
    pub fn image_access(&self, access: &Use<'_>, components: u8, address: usize) -> Modifiers {
        let samples = matches!(access.op, ImageOp::Sample | ImageOp::Gather);
        let image = ImageAccess {
            shape: self.image_shape(access.image),
            components,
            address: address as u8,
            descriptors: if samples { 2 } else { 1 },
            in_texels: !samples,
        };
        Modifiers { image: Some(image), ..self.image_modifiers(access) }
    }

    /// The used components of a result, at least one.
    pub fn used_components(&self, access: &Use<'_>) -> u8 {
        let results = self.kernel.results(access.inst).enumerate();
        let used = results.filter(|(_, value)| self.uses[value.index()] > 0).fold(0, |used, (n, _)| used | 1 << n);
        if used == 0 { 1 } else { used }
    }

    /// Gives the components that an instruction has put side by side.
    pub fn give_components(&mut self, access: &Use<'_>, from: Operand, components: u8) {
        let mut next = 0;
        let results: Vec<Value> = self.kernel.results(access.inst).collect();
        for (n, value) in results.into_iter().enumerate() {
            if components >> n & 1 != 0 {
                self.give_one(value, part(from, next));
                next += 1;
            }
        }
    }

    // Images.

    fn load_texel(&mut self, access: &Use<'_>) {
        let words = self.texel_address(access);
        let is_level = access.values(self, ImageParts::LOD).first().is_some_and(|level| self.word(*level) != FALSE);
        let operation = if is_level { Operation::ImageLoadLevel } else { Operation::ImageLoad };
        let components = self.used_components(access);
        let to = self.load_from_image(access, operation, &words, components);
        self.give_components(access, to, components);
    }

    /// The result of an instruction without a sampler.
    fn load_from_image(
        &mut self,
        access: &Use<'_>,
        operation: Operation,
        words: &[Operand],
        components: u8,
    ) -> Operand {
        let before: SmallVec<[Operand; 8]> = self.image_address(words, false).into_iter().collect();
        let modifiers = self.image_access(access, components, before.len());
        let to = self.vectors(components.count_ones() as u8);
        self.image_insts(access, &[ImageInst { operation, to: Some(to), before, after: None, modifiers }]);
        to
    }

    fn store_texel(&mut self, access: &Use<'_>) {
        let data = self.texel_data(access);
        let data = self.tuple(&data);
        let words = self.texel_address(access);
        let address = self.image_address(&words, false);
        let modifiers = self.image_access(access, low_components(data), address.len());
        let before = [data].into_iter().chain(address).collect();
        let operation = Operation::ImageStore;
        self.image_insts(access, &[ImageInst { operation, to: None, before, after: None, modifiers }]);
    }

    fn image_atomic(&mut self, access: &Use<'_>, op: AtomicOp) {
        // The new value, then the comparand, as in atomics on memory.
        let data = access.values(self, ImageParts::DATA).iter().chain(access.values(self, ImageParts::COMPARED));
        let data: SmallVec<[Operand; 2]> = data.map(|value| self.vector_of(*value)).collect();
        let result = self.kernel.result(access.inst).filter(|value| self.uses[value.index()] > 0);
        let (before, after, modifiers) = if access.image.ty.dim == ImageDim::Buffer {
            self.element(access)
        } else {
            let words = self.texel_address(access);
            let address: SmallVec<[Operand; 8]> = self.image_address(&words, false).into_iter().collect();
            let modifiers = self.image_access(access, 1, address.len());
            (address, None, modifiers)
        };
        let old = self.with_descriptors(access, result.is_some(), |selector, access| {
            let descriptor = selector.image_descriptor(access);
            let operands = before.iter().copied().chain([descriptor]).chain(after).collect();
            let target = AtomicMemory::Memory(Address { operands, modifiers, most: 0 });
            selector.atomic_on(&target, op, access.image.ty.sampled, &data, result.is_some())
        });
        if let (Some(value), Some(old)) = (result, old) {
            self.give_one(value, old);
        }
    }

    /// The components of a texel that its format has.
    fn texel_data(&mut self, access: &Use<'_>) -> Vec<Operand> {
        let count = components(access.image.ty.format);
        access.values(self, ImageParts::DATA).iter().take(count).map(|value| self.word(*value)).collect()
    }

    /// `image_get_resinfo`: width, height, depth or layers, and levels, of a level.
    fn image_facts(&mut self, access: &Use<'_>, components: u8) -> Operand {
        let level = access.values(self, ImageParts::LOD).first().map_or(FALSE, |level| self.word(*level));
        self.load_from_image(access, Operation::ImageSize, &[level], components)
    }

    /// 1D images that are bound as 2D ones have their layers in the third place; cubes have six layers each (LLPC:
    /// `ImageBuilder::CreateImageQuerySize`).
    fn image_size(&mut self, access: &Use<'_>) {
        let ty = access.image.ty;
        let places: &[u8] = match (ty.dim, ty.arrayed) {
            (ImageDim::D1, false) => &[0],
            (ImageDim::D1, true) if self.arch.processor.widens_lines => &[0, 2],
            (ImageDim::D3, _) | (_, true) if ty.dim != ImageDim::D1 => &[0, 1, 2],
            _ => &[0, 1],
        };
        let results = self.kernel.results(access.inst).zip(places.iter().copied());
        let used: Vec<(Value, u8)> = results.filter(|(value, _)| self.uses[value.index()] > 0).collect();
        if used.is_empty() {
            return;
        }
        let facts = self.image_facts(access, used.iter().fold(0, |bits, (_, place)| bits | 1 << place));
        for (n, (value, place)) in used.into_iter().enumerate() {
            let word = part(facts, n as u8);
            let word = if ty.dim == ImageDim::Cube && place == 2 { self.sixth(word) } else { word };
            self.give_one(value, word);
        }
    }

    /// A sixth of a number, rounded down: the upper half of its product with 2³⁴ / 6.
    fn sixth(&mut self, word: Operand) -> Operand {
        let high = self.word_binary(BinOp::MulHigh, Scalar::U32, [word, number(0xaaaa_aaab)]);
        self.vector(Operation::ShrB32, &[number(2), high])
    }

    fn image_levels(&mut self, access: &Use<'_>) {
        let levels = self.image_facts(access, 0b1000);
        if let Some(value) = self.kernel.result(access.inst) {
            self.give_one(value, levels);
        }
    }

    fn image_samples(&mut self, access: &Use<'_>) {
        let samples = self.with_descriptors(access, true, |selector, access| {
            let word = part(selector.image_descriptor(access), 3);
            let logarithm = selector.scalar(Operation::ScalarBfeU32, &[word, number(16 | 4 << 16)]);
            Some(selector.scalar(Operation::ScalarShl, &[number(1), logarithm]))
        });
        if let (Some(value), Some(samples)) = (self.kernel.result(access.inst), samples) {
            self.give_one(value, samples);
        }
    }

    // Texel buffers.

    /// The operands of an access to a texel buffer, before its descriptor and after it, and the modifiers.
    fn element(&mut self, access: &Use<'_>) -> (SmallVec<[Operand; 8]>, Option<Operand>, Modifiers) {
        let index = self.texel_address(access).first().copied().unwrap_or(FALSE);
        let index = self.in_vector(index);
        let nothing = if self.arch.generation == Generation::Rdna4 { Operand::Special(Special::Null) } else { FALSE };
        let modifiers = Modifiers { prefix: "buffer_", idxen: true, ..self.image_modifiers(access) };
        ([index].into_iter().collect(), Some(nothing), modifiers)
    }

    /// Loads the components up to the last used one.
    fn load_element(&mut self, access: &Use<'_>) {
        let (before, after, modifiers) = self.element(access);
        let count = 8 - self.used_components(access).leading_zeros();
        let modifiers = Modifiers { suffix: first_components(count), ..modifiers };
        let to = self.vectors(count as u8);
        let operation = Operation::LoadTexel;
        self.image_insts(access, &[ImageInst { operation, to: Some(to), before, after, modifiers }]);
        self.give_components(access, to, (1 << count) - 1);
    }

    fn store_element(&mut self, access: &Use<'_>) {
        let words = self.texel_data(access);
        let data = self.whole(&words, File::Vector);
        let (mut before, after, modifiers) = self.element(access);
        before.insert(0, data);
        let modifiers = Modifiers { suffix: first_components(words.len() as u32), ..modifiers };
        let operation = Operation::StoreTexel;
        self.image_insts(access, &[ImageInst { operation, to: None, before, after, modifiers }]);
    }

    fn texel_count(&mut self, access: &Use<'_>) {
        let count = self.with_descriptors(access, true, |selector, access| Some(selector.described_count(access)));
        if let (Some(value), Some(count)) = (self.kernel.result(access.inst), count) {
            self.give_one(value, count);
        }
    }

    /// The third word of the descriptor has the number of texels, or of bytes if the upper half of the second word has
    /// the bytes per texel, which is a power of two or three words.
    fn described_count(&mut self, access: &Use<'_>) -> Operand {
        let descriptor = self.image_descriptor(access);
        let count = part(descriptor, 2);
        if !self.arch.processor.texel_buffers_in_bytes {
            return count;
        }
        let stride = self.scalar(Operation::ScalarBfeU32, &[part(descriptor, 1), number(16 | 14 << 16)]);
        let shift = self.scalar(Operation::ScalarFindLsb, &[stride]);
        let count = self.scalar(Operation::ScalarShr, &[count, shift]);
        // A multiple of three is divided by a product with the inverse of three.
        self.compare_scalars("eq_u32", stride, number(12));
        let factor = self.scalar(Operation::ScalarSelect, &[number(0xaaaa_aaab), number(1)]);
        self.scalar(Operation::ScalarMul, &[count, factor])
    }
}

/// The names of this many components, the suffix of instructions on texel buffers.
const fn first_components(count: u32) -> &'static str {
    match count {
        1 => "x",
        2 => "xy",
        3 => "xyz",
        _ => "xyzw",
    }
}

/// A component mask for the registers of an operand, from the first component on.
fn low_components(data: Operand) -> u8 {
    match data {
        Operand::Reg(slice) => (1 << slice.count) - 1,
        _ => 1,
    }
}

/// The name of an unsupported access.
const fn refusal(access: &Use<'_>) -> Option<&'static str> {
    match (access.op, access.image.ty.dim) {
        (_, ImageDim::SubpassInput | ImageDim::Tile) => Some("an attachment"),
        (ImageOp::Sample, _) if access.parts.contains(ImageParts::BIAS) => Some("a bias of the level of detail"),
        (ImageOp::Sample | ImageOp::Gather, ImageDim::Rect) => Some("sampling of a rectangle"),
        (ImageOp::Fetch, ImageDim::Cube) => Some("a fetch from a cube"),
        (ImageOp::Sample | ImageOp::Gather | ImageOp::Fetch | ImageOp::Read | ImageOp::Write, _) => None,
        (ImageOp::Size | ImageOp::Levels | ImageOp::Samples | ImageOp::Atomic(..), _) => None,
        (ImageOp::QueryLod, _) => Some("the level of detail that a lookup would take"),
        _ => Some("this operation on an image"),
    }
}
