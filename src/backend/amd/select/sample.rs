//! Textures that are read through samplers: lookups, and gathers of four texels.
//!
//! The address is, in this order: the offsets in one word, the reference, the gradients of x and of y, the coordinates, the
//! layer or face, the level of detail (RDNA 2 ISA, "Image VGPRs"). Outside of fragment shaders a lookup that names no level
//! takes the first one.

use super::Selector;
use super::arithmetic::number;
use super::emit::FALSE;
use super::float::float;
use super::image::{AddressWords, Use, WHOLE};
use crate::backend::amd::machine::{Inst, Operand};
use crate::backend::amd::mnemonic::{Generation, Operation};
use crate::ir::{ImageDim, ImageParts, Scalar};
use crate::kernel::{BinOp, UnOp, Value, image};
use smallvec::SmallVec;

/// The choice of a level of detail.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Level {
    First,
    Given,
    /// By the gradients of the coordinates.
    Computed,
}

/// The end of the name of an instruction that reads a texture through a sampler.
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

/// Coordinates as the hardware takes them.
struct Coordinates {
    words: AddressWords,
    /// Differences of the coordinates, in x and then in y.
    gradients: AddressWords,
}

/// A direction from the middle of a cube, by the face that it meets.
struct OnFace {
    /// Twice the part of the direction along the axis of the face, with its sign.
    major: Operand,
    /// The reciprocal of its amount.
    inverse: Operand,
    /// From -1/2 to 1/2.
    place: [Operand; 2],
    face: Operand,
}

impl Selector<'_> {
    /// A filtered texel, or the result of comparing.
    pub fn sample(&mut self, access: &Use<'_>) {
        let components = self.used_components(access);
        let inst = self.sampled(Operation::ImageSample, access, components, access.values(self, ImageParts::OFFSET));
        self.give_components(access, inst, components);
    }

    /// One component of four texels. With an offset for each they are the last ones of four gathers.
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
        if four.is_empty() {
            let offset = access.values(self, ImageParts::OFFSET);
            let texels = self.sampled(Operation::ImageGather, access, 1 << component, offset);
            self.give_components(access, texels, WHOLE);
            return;
        }
        let results: SmallVec<[Value; 4]> = self.kernel.results(access.inst).collect();
        for (value, offset) in results.into_iter().zip(four.chunks(2)) {
            let texels = self.sampled(Operation::ImageGather, access, 1 << component, offset);
            self.give_one(value, super::emit::part(texels, 3));
        }
    }

    /// The registers of the components of a lookup, or of the four texels of a gather.
    fn sampled(&mut self, operation: Operation, access: &Use<'_>, components: u8, offset: &[Value]) -> Operand {
        let level = access.values(self, ImageParts::LOD).first().map(|level| self.word(*level));
        let level = level.filter(|level| ![FALSE, float(-0.0)].contains(level));
        let compares = access.parts.contains(ImageParts::REFERENCE);
        let how = match level {
            Some(_) => Level::Given,
            None if access.parts.contains(ImageParts::GRADIENTS) => Level::Computed,
            None => Level::First,
        };
        let words = self.sampling_address(access, offset, level);
        let mut uses: SmallVec<[Operand; 8]> = self.image_address(&words, true).into_iter().collect();
        let mut modifiers = self.image_access(access, components, uses.len());
        modifiers.suffix = suffix(compares, how, !offset.is_empty());
        uses.push(self.image_descriptor(access));
        uses.push(self.sampler_descriptor(access));
        let count = if operation == Operation::ImageGather { 4 } else { components.count_ones() as u8 };
        let to = self.vectors(count);
        self.raw(operation, &[to], &uses).modifiers = modifiers;
        to
    }

    fn sampler_descriptor(&mut self, access: &Use<'_>) -> Operand {
        match self.subject.interface.samplers[access.number as usize] {
            Some(offset) => self.descriptor(offset, 4),
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
        let mut packed = FALSE;
        for (n, value) in offset.iter().enumerate() {
            let word = self.word(*value);
            let word = self.word_binary(BinOp::And, Scalar::U32, [word, number(0x3f)]);
            let word = self.word_binary(BinOp::Shl, Scalar::U32, [word, number(8 * n as u32)]);
            packed = if n == 0 { word } else { self.word_binary(BinOp::Or, Scalar::U32, [packed, word]) };
        }
        packed
    }

    fn sampling_coordinates(&mut self, access: &Use<'_>) -> Coordinates {
        let ty = access.image.ty;
        let count = image::dimensions(ty.dim);
        let given: AddressWords =
            access.values(self, ImageParts::COORDINATE).iter().map(|value| self.word(*value)).collect();
        let gradients: AddressWords =
            access.values(self, ImageParts::GRADIENTS).iter().map(|value| self.word(*value)).collect();
        let layer = given.get(count).map(|layer| self.float_unary(UnOp::RoundEven, *layer));
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

    // Cubes.

    /// The place on a face, from 1 to 2, and the face: eight for each cube of an array.
    fn cube_coordinates(
        &mut self,
        direction: [Operand; 3],
        layer: Option<Operand>,
        gradients: &[Operand],
    ) -> Coordinates {
        let on_face = self.on_face(direction);
        let gradients: AddressWords =
            gradients.chunks_exact(3).flat_map(|gradient| self.along_face(&on_face, gradient)).collect();
        let mut words: AddressWords =
            on_face.place.into_iter().map(|place| self.vector(Operation::AddF32, &[float(1.5), place])).collect();
        words.push(match layer {
            Some(layer) => self.face_of_array(layer, on_face.face),
            None => on_face.face,
        });
        Coordinates { words, gradients }
    }

    /// Before gfx9 a layer below the first one would change the face (Mesa: `ac_nir_lower_tex_coords`).
    fn face_of_array(&mut self, layer: Operand, face: Operand) -> Operand {
        let is_clamped = self.arch.generation >= Generation::Vega;
        let layer = if is_clamped { layer } else { self.float_binary(BinOp::Max, [layer, FALSE]) };
        self.vector(Operation::FmaF32, &[layer, float(8.0), face])
    }

    fn on_face(&mut self, direction: [Operand; 3]) -> OnFace {
        let direction = direction.map(|part| self.in_vector(part));
        let [s, t, major, face] = [Operation::CubeS, Operation::CubeT, Operation::CubeMajor, Operation::CubeFace]
            .map(|operation| self.vector(operation, &direction));
        let inverse = self.vectors(1);
        self.put(Inst::real(Operation::RcpF32, &[inverse], &[major])).modifiers.abs = 1;
        let place = [s, t].map(|part| self.vector(Operation::MulF32, &[part, inverse]));
        OnFace { major, inverse, place, face }
    }

    /// How much the place on a face changes with a direction: `(ds - s * dm) / m`, where `m` is the major part.
    fn along_face(&mut self, on_face: &OnFace, gradient: &[Operand]) -> [Operand; 2] {
        let (steps, major) = self.steps_on_face(on_face, gradient);
        let major = self.vector(Operation::MulF32, &[major, on_face.inverse]);
        let mut ends = steps.into_iter().zip(on_face.place).map(|(step, place)| {
            let step = self.vector(Operation::MulF32, &[step, on_face.inverse]);
            let turned = self.vector(Operation::MulF32, &[place, major]);
            self.vector(Operation::SubF32, &[step, turned])
        });
        std::array::from_fn(|_| ends.next().unwrap_or(FALSE))
    }

    /// The parts of a gradient along the axes of a face, and twice that towards it (Vulkan, "Cube Map Face Selection").
    fn steps_on_face(&mut self, on_face: &OnFace, gradient: &[Operand]) -> ([Operand; 2], Operand) {
        let [x, y, z] = [gradient[0], gradient[1], gradient[2]].map(|part| self.in_vector(part));
        let is_z = self.compare_lanes("le_f32", float(4.0), on_face.face);
        let is_x = self.compare_lanes("gt_f32", float(2.0), on_face.face);
        let negative = self.compare_lanes("gt_f32", FALSE, on_face.major);
        let signed = |selector: &mut Self, part: Operand| {
            let opposite = selector.float_unary(UnOp::Neg, part);
            selector.choose(negative, opposite, part)
        };
        let (x_signed, z_signed) = (signed(self, x), signed(self, z));
        let z_opposite = self.float_unary(UnOp::Neg, z_signed);
        let y_opposite = self.float_unary(UnOp::Neg, y);
        // On the faces of y: x, and z with the sign of y.
        let s = self.choose(is_z, x_signed, x);
        let s = self.choose(is_x, z_opposite, s);
        let t = self.choose(is_z, y_opposite, z_signed);
        let t = self.choose(is_x, y_opposite, t);
        let y_signed = signed(self, y);
        let major = self.choose(is_z, z_signed, y_signed);
        let major = self.choose(is_x, x_signed, major);
        ([s, t], self.vector(Operation::AddF32, &[major, major]))
    }
}
