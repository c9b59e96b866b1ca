//! Textures that are read through samplers: lookups, and gathers of four texels.
//!
//! The address consists, in this order, of the offsets in one word, the depth reference, the gradients of x and of y,
//! the coordinates, the layer or face, and the level of detail (RDNA 2 ISA, "Image VGPRs"). Outside fragment shaders a
//! lookup without a level uses the first one.

use super::Selector;
use super::arithmetic::number;
use super::cube::OnFace;
use super::divide::keep;
use super::emit::{FALSE, part};
use super::float::float;
use super::image::{AddressWords, ImageInst, Use, WHOLE};
use crate::backend::amd::machine::Operand;
use crate::backend::amd::mnemonic::Operation;
use crate::ir::{ImageDim, ImageParts, Scalar};
use crate::kernel::{BinOp, UnOp, Value, image};
use smallvec::SmallVec;

/// The choice of a level of detail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Level {
    First,
    Given,
    /// Computed from the gradients of the coordinates.
    Computed,
}

/// The suffix of an instruction that reads a texture through a sampler.
const fn suffix(compares: bool, level: Level, has_offset: bool) -> &'static str {
    match (compares, level, has_offset) {
        (false, Level::First, false) => "lz",
        (false, Level::First, true) => "lz_o",
        (false, Level::Given, false) => "l",
        (false, Level::Given, true) => "l_o",
        (false, Level::Computed, false) => "d",
        (false, Level::Computed, true) => "d_o",
        (true, Level::First, false) => "c_lz",
        (true, Level::First, true) => "c_lz_o",
        (true, Level::Given, false) => "c_l",
        (true, Level::Given, true) => "c_l_o",
        (true, Level::Computed, false) => "c_d",
        (true, Level::Computed, true) => "c_d_o",
    }
}

/// Coordinates in the hardware's form.
pub struct Coordinates {
    pub words: AddressWords,
    /// Differences of the coordinates, in x and then in y.
    pub gradients: AddressWords,
}

/// Operands of image instructions that a block has computed.
#[derive(Default)]
pub struct ImageOperands {
    pub faces: Vec<OnFace>,
    /// Layers, and the whole numbers next to them.
    layers: Vec<(Operand, Operand)>,
    /// Offsets, and the words that contain them.
    offsets: Vec<(AddressWords, Operand)>,
    /// Words, and the consecutive registers that contain them.
    pub tuples: Vec<(AddressWords, Operand)>,
}

impl ImageOperands {
    pub fn clear(&mut self) {
        self.faces.clear();
        self.layers.clear();
        self.offsets.clear();
        self.tuples.clear();
    }
}

impl Selector<'_> {
    /// A filtered texel, or the result of comparing.
    pub fn sample(&mut self, access: &Use<'_>) {
        let components = self.used_components(access);
        let to = self.vectors(components.count_ones() as u8);
        let offset = access.values(self, ImageParts::OFFSET);
        let inst = self.lookup(Operation::ImageSample, access, components, offset, to);
        self.image_insts(access, &[inst]);
        self.give_components(access, to, components);
    }

    /// One component of four texels. If each has its own offset, they are the last texels of four gathers.
    pub fn gather(&mut self, access: &Use<'_>) {
        let component = match access.values(self, ImageParts::COMPONENT).first() {
            None => 0,
            Some(value) => match self.kernel.as_constant(*value) {
                Some(n @ 0..=3) => n as u8,
                _ => {
                    self.refused("a gather of a component that is not constant");
                    return;
                }
            },
        };
        let four = access.values(self, ImageParts::OFFSETS);
        let offsets: SmallVec<[&[Value]; 4]> = match four {
            [] => [access.values(self, ImageParts::OFFSET)].into_iter().collect(),
            four => four.chunks(2).collect(),
        };
        let mut insts: SmallVec<[ImageInst; 4]> = SmallVec::new();
        for offset in &offsets {
            let to = self.vectors(4);
            insts.push(self.lookup(Operation::ImageGather, access, 1 << component, offset, to));
        }
        self.image_insts(access, &insts);
        let texels: SmallVec<[Operand; 4]> = insts.iter().filter_map(|inst| inst.to).collect();
        match texels[..] {
            [texels] => self.give_components(access, texels, WHOLE),
            _ => {
                let results: SmallVec<[Value; 4]> = self.kernel.results(access.inst).collect();
                results.into_iter().zip(texels).for_each(|(value, texels)| self.give_one(value, part(texels, 3)));
            }
        }
    }

    /// The instruction that writes the components of a lookup, or the four texels of a gather, to registers.
    fn lookup(
        &mut self,
        operation: Operation,
        access: &Use<'_>,
        components: u8,
        offset: &[Value],
        to: Operand,
    ) -> ImageInst {
        let level = access.values(self, ImageParts::LOD).first().map(|level| self.word(*level));
        let level = level.filter(|level| ![FALSE, float(-0.0)].contains(level));
        let compares = access.parts.contains(ImageParts::REFERENCE);
        let how = match level {
            Some(_) => Level::Given,
            None if access.parts.contains(ImageParts::GRADIENTS) => Level::Computed,
            None => Level::First,
        };
        let words = self.sampling_address(access, offset, level);
        let before: SmallVec<[Operand; 8]> = self.image_address(&words, true).into_iter().collect();
        let mut modifiers = self.image_access(access, components, before.len());
        modifiers.suffix = suffix(compares, how, !offset.is_empty());
        ImageInst { operation, to: Some(to), before, after: None, modifiers }
    }

    pub fn sampler_descriptor(&mut self, access: &Use<'_>) -> Operand {
        match self.subject.interface.samplers[access.number as usize] {
            Some(at) => self.descriptor(at.among(access.image.sampling_choices()), access.elements[1], 4),
            None => self.refused("a texture without a sampler")[0],
        }
    }

    fn sampling_address(&mut self, access: &Use<'_>, offset: &[Value], level: Option<Operand>) -> AddressWords {
        let mut address = AddressWords::new();
        if !offset.is_empty() {
            address.push(self.packed_offset(offset));
        }
        address.extend(access.values(self, ImageParts::REFERENCE).first().map(|reference| self.word(*reference)));
        let Coordinates { words, gradients } = self.sampling_coordinates(access);
        address.extend(gradients.into_iter().chain(words).chain(level));
        address
    }

    /// Offsets in texels: six bits each, in the lowest bits of the bytes.
    fn packed_offset(&mut self, offset: &[Value]) -> Operand {
        let words: AddressWords = offset.iter().map(|value| self.word(*value)).collect();
        let known = words.iter().zip([0, 8, 16]).map(|(word, place)| match word {
            Operand::Constant(bits) => Some((bits & 0x3f) << place),
            _ => None,
        });
        if let Some(packed) = known.sum() {
            return number(packed);
        }
        if let Some((_, known)) = self.image_operands.offsets.iter().find(|(known, _)| *known == words) {
            return *known;
        }
        let mut packed = FALSE;
        for (n, word) in words.iter().enumerate() {
            let field = self.word_binary(BinOp::And, Scalar::U32, [*word, number(0x3f)]);
            packed = match n {
                0 => field,
                _ => {
                    let field = self.word_binary(BinOp::Shl, Scalar::U32, [field, number(8 * n as u32)]);
                    self.word_binary(BinOp::Or, Scalar::U32, [packed, field])
                }
            };
        }
        keep(&mut self.image_operands.offsets, (words, packed));
        packed
    }

    fn sampling_coordinates(&mut self, access: &Use<'_>) -> Coordinates {
        let ty = access.image.ty;
        let count = image::dimensions(ty.dim);
        let given: AddressWords =
            access.values(self, ImageParts::COORDINATE).iter().map(|value| self.word(*value)).collect();
        let gradients: AddressWords =
            access.values(self, ImageParts::GRADIENTS).iter().map(|value| self.word(*value)).collect();
        let layer = given.get(count).map(|layer| self.whole_layer(*layer));
        if ty.dim == ImageDim::Cube {
            return self.cube_coordinates([given[0], given[1], given[2]], layer, &gradients);
        }
        let (mut words, mut gradients) = (AddressWords::from_slice(&given[..count]), gradients);
        if ty.dim == ImageDim::D1 && self.arch.processor.widens_lines {
            words.push(float(0.5));
            gradients = gradients.into_iter().flat_map(|gradient| [gradient, FALSE]).collect();
        }
        words.extend(layer);
        Coordinates { words, gradients }
    }

    fn whole_layer(&mut self, layer: Operand) -> Operand {
        if let Some((_, whole)) = self.image_operands.layers.iter().find(|(known, _)| *known == layer) {
            return *whole;
        }
        let whole = match layer {
            Operand::Constant(bits) => return float(f32::from_bits(bits).round_ties_even()),
            _ => self.float_unary(UnOp::RoundEven, layer),
        };
        keep(&mut self.image_operands.layers, (layer, whole));
        whole
    }
}
