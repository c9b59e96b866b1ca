//! Reads through samplers: the address of an image instruction as a lookup in a picture.

use super::super::state::{State, Value};
use super::access::{Level, Sampling};
use super::texel::Texels;
use crate::nv::Picture;
use crate::nv::sample::{Lookup, direction};

/// The coordinates of a picture's shape.
struct Shape {
    /// Words that are coordinates on a line, a plane or a face, or in a volume.
    count: usize,
    /// 1D images that are bound as 2D images have another coordinate in the middle.
    is_widened: bool,
    is_layered: bool,
    is_cube: bool,
}

/// The lookup of a lane, and its level of detail.
struct Asked {
    lookup: Lookup,
    level: f32,
}

impl Texels<'_> {
    pub fn sample(
        &mut self,
        state: &mut State,
        sampling: Sampling,
        components: u32,
        address: &[usize],
        widened: bool,
    ) -> Result<(), String> {
        let registers = self.registers(components)?;
        for lane in state.active() {
            let word =
                |register: &usize| state.lane(*register, 1, lane).defined("a coordinate").map(|word| word as u32);
            let words: Vec<u32> = address.iter().map(word).collect::<Result<_, _>>()?;
            let asked = Shape::of(self.picture, widened)?.asked(self.picture, sampling, &words)?;
            let texel = match sampling.gathers {
                true if components.count_ones() != 1 => return Err("a gather is of one component".to_owned()),
                true => asked.lookup.gathered(self.picture, components.trailing_zeros() as usize),
                false => asked.lookup.filtered(self.picture, asked.level),
            };
            for (component, register) in &registers {
                state.set_lane(*register, 1, lane, Value::of(texel[*component].into()));
            }
        }
        Ok(())
    }
}

impl Shape {
    fn of(picture: &Picture, is_widened: bool) -> Result<Self, String> {
        let (count, is_layered, is_cube) = match picture.target {
            "1D" => (1, false, false),
            "ARRAY1D" => (1, true, false),
            "2D" => (2, false, false),
            "ARRAY2D" => (2, true, false),
            "3D" => (3, false, false),
            "CUBE" | "ARRAYCUBE" => (2, false, true),
            other => return Err(format!("{other} is not sampled")),
        };
        Ok(Shape { count, is_widened, is_layered, is_cube })
    }

    /// Coordinates and gradients without the added coordinate, which must be the middle of the texel.
    fn narrow(&self, words: &[u32], middle: f32) -> Result<Vec<f32>, String> {
        let floats: Vec<f32> = words.iter().map(|word| f32::from_bits(*word)).collect();
        if !self.is_widened {
            return Ok(floats);
        }
        let is_middle = floats.iter().skip(1).step_by(2).all(|word| *word == middle);
        if is_middle { Ok(floats.into_iter().step_by(2).collect()) } else { Err("a line is one texel high".to_owned()) }
    }

    fn asked(&self, picture: &Picture, sampling: Sampling, words: &[u32]) -> Result<Asked, String> {
        let mut rest = words;
        let mut take = |count: usize| {
            let (taken, left) = rest.split_at_checked(count).ok_or("the address is too short")?;
            rest = left;
            Ok::<&[u32], String>(taken)
        };
        let axes = self.count + usize::from(self.is_widened);
        let offset = take(usize::from(sampling.has_offset))?.first().copied().unwrap_or(0);
        let reference = take(usize::from(sampling.compares))?.first().map(|word| f32::from_bits(*word));
        let gradients = if sampling.level == Level::Computed { 2 * axes } else { 0 };
        let gradients = self.narrow(take(gradients)?, 0.0)?;
        let place = self.narrow(take(axes)?, 0.5)?;
        let last = take(usize::from(self.is_layered || self.is_cube))?.first().map(|word| f32::from_bits(*word));
        let level = take(usize::from(sampling.level == Level::Given))?.first().map(|word| f32::from_bits(*word));
        if !rest.is_empty() {
            return Err(format!("an address of {} words", words.len()));
        }
        let mut lookup = self.lookup(picture, &place, last)?;
        lookup.reference = reference;
        lookup.offset = [0, 8, 16].map(|at| ((offset >> at) as i32) << 26 >> 26);
        let level = level.unwrap_or_else(|| self.computed(&lookup, picture, &gradients));
        Ok(Asked { lookup, level })
    }

    /// A lookup at a position; `last` is the layer, or the face plus eight for each cube.
    fn lookup(&self, picture: &Picture, place: &[f32], last: Option<f32>) -> Result<Lookup, String> {
        let mut at = [0.0; 3];
        at[..place.len()].copy_from_slice(place);
        let mut layer = last;
        if let Some(face) = last.filter(|_| self.is_cube) {
            let cube = (face / 8.0).floor();
            let number = face - 8.0 * cube;
            if number.fract() != 0.0 || number > 5.0 || place.iter().any(|part| !(1.0..=2.0).contains(part)) {
                return Err(format!("{place:?} on face {face}"));
            }
            at = direction(number as usize, [at[0], at[1]].map(|part| 2.0 * (part - 1.5)));
            layer = (picture.target == "ARRAYCUBE").then_some(cube);
        }
        if layer.is_some_and(|layer| layer.fract() != 0.0) {
            return Err("the layer is not rounded".to_owned());
        }
        let dimensions = if self.is_cube { 3 } else { self.count };
        Ok(Lookup { place: at, dimensions, layer, reference: None, offset: [0; 3] })
    }

    /// The level computed from gradients; for cubes they are along the face.
    fn computed(&self, lookup: &Lookup, picture: &Picture, gradients: &[f32]) -> f32 {
        if gradients.is_empty() {
            return 0.0;
        }
        let (x, y) = gradients.split_at(gradients.len() / 2);
        if self.is_cube {
            let side = picture.size_at(0)[0] as f32;
            return [x, y].map(|part| (part[0] * side).hypot(part[1] * side)).into_iter().fold(0.0, f32::max).log2();
        }
        let four = [x, y].map(|part| std::array::from_fn(|n| part.get(n).copied().unwrap_or(0.0)));
        lookup.level_of(picture, &four)
    }
}
