//! Cubes: the face of a direction, the coordinates on it, and the gradients along it.

use super::Selector;
use super::divide::keep;
use super::emit::FALSE;
use super::float::float;
use super::image::AddressWords;
use super::sample::Coordinates;
use crate::backend::amd::machine::{Inst, Operand};
use crate::backend::amd::mnemonic::{Generation, Operation};
use crate::kernel::{BinOp, UnOp};

/// A direction from the middle of a cube, by the face that it meets.
#[derive(Clone, Copy)]
pub struct OnFace {
    direction: [Operand; 3],
    /// Parts of the direction along the two axes of the face.
    sides: [Operand; 2],
    /// Twice the part of the direction along the axis of the face, with its sign.
    major: Operand,
    /// The reciprocal of its amount.
    inverse: Operand,
    face: Operand,
}

/// The choice of the parts of gradients for a face, and their factors (Vulkan, "Cube Map Face Selection").
struct Turn {
    not_x: Operand,
    is_y: Operand,
    is_z: Operand,
    /// Factors for the two axes of the face, and for its normal.
    factors: [Operand; 2],
    towards: Operand,
    /// From -1/2 to 1/2.
    place: [Operand; 2],
}

impl Selector<'_> {
    /// The coordinates on a face, from 1 to 2, and the face: eight for each cube of an array.
    pub fn cube_coordinates(
        &mut self,
        direction: [Operand; 3],
        layer: Option<Operand>,
        gradients: &[Operand],
    ) -> Coordinates {
        let on_face = self.on_face(direction);
        let gradients = self.along_face(&on_face, gradients);
        let place = on_face.sides.map(|side| self.vector(Operation::FmaF32, &[side, on_face.inverse, float(1.5)]));
        let mut words = AddressWords::from_slice(&place);
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
        if let Some(known) = self.image_operands.faces.iter().find(|known| known.direction == direction) {
            return *known;
        }
        let parts = direction.map(|part| self.in_vector(part));
        let [s, t, major, face] = [Operation::CubeS, Operation::CubeT, Operation::CubeMajor, Operation::CubeFace]
            .map(|operation| self.vector(operation, &parts));
        let inverse = self.vectors(1);
        self.put(Inst::real(Operation::RcpF32, &[inverse], &[major])).modifiers.abs = 1;
        let on_face = OnFace { direction, sides: [s, t], major, inverse, face };
        keep(&mut self.image_operands.faces, on_face);
        on_face
    }

    /// The change of the coordinates on a face with each direction: `(ds - s * dm) / m`, where `m` is the major part.
    fn along_face(&mut self, on_face: &OnFace, gradients: &[Operand]) -> AddressWords {
        if gradients.is_empty() {
            return AddressWords::new();
        }
        let turn = self.turn(on_face);
        gradients.chunks_exact(3).flat_map(|gradient| self.turned_gradient(&turn, gradient)).collect()
    }

    /// | face | along s | along t | towards |
    /// |---|---|---|---|
    /// | x | ∓z | -y | ±x |
    /// | y | x | ±z | ±y |
    /// | z | ±x | -y | ±z |
    fn turn(&mut self, on_face: &OnFace) -> Turn {
        let not_x = self.compare_lanes("le_f32", float(2.0), on_face.face);
        let is_z = self.compare_lanes("le_f32", float(4.0), on_face.face);
        let is_y = self.on_masks(Operation::ScalarAndNot, Operation::ScalarAndNot64, &[not_x, is_z]);
        let negative = self.compare_lanes("gt_f32", FALSE, on_face.major);
        let inverse = on_face.inverse;
        let opposite = self.float_unary(UnOp::Neg, inverse);
        let signed = self.choose(negative, opposite, inverse);
        let s = self.choose(is_z, signed, inverse);
        let reversed = self.float_unary(UnOp::Neg, signed);
        let s = self.choose(not_x, s, reversed);
        let t = self.choose(is_y, signed, opposite);
        let towards = self.vector(Operation::AddF32, &[signed, signed]);
        let place = on_face.sides.map(|side| self.vector(Operation::MulF32, &[side, inverse]));
        Turn { not_x, is_y, is_z, factors: [s, t], towards, place }
    }

    fn turned_gradient(&mut self, turn: &Turn, gradient: &[Operand]) -> [Operand; 2] {
        let [x, y, z] = [gradient[0], gradient[1], gradient[2]].map(|part| self.in_vector(part));
        let along = [self.choose(turn.not_x, x, z), self.choose(turn.is_y, z, y)];
        let towards = self.choose(turn.not_x, y, x);
        let towards = self.choose(turn.is_z, z, towards);
        let towards = self.vector(Operation::MulF32, &[towards, turn.towards]);
        [0, 1].map(|n| {
            let step = self.vector(Operation::MulF32, &[along[n], turn.factors[n]]);
            let back = self.float_unary(UnOp::Neg, turn.place[n]);
            self.vector(Operation::FmaF32, &[back, towards, step])
        })
    }
}
