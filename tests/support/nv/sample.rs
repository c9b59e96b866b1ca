//! Texture sampling (OpenGL 4.6, sections 8.14 and 8.15; Vulkan 1.3, "Texel Input Operations"): levels, edges, filters,
//! comparisons. Beyond the edge of a cube's face is the texel in that direction.

use super::pictures::Picture;
use crate::device::{Address, Sampler};

/// A lookup at a position in a texture.
pub struct Lookup {
    pub place: [f32; 3],
    pub dimensions: usize,
    pub layer: Option<f32>,
    pub reference: Option<f32>,
    pub offset: [i32; 3],
}

/// Four components of a texel: the bits.
type Texel = [u32; 4];

/// Black of floats and of integers.
const BLACK: [Texel; 2] = [[0, 0, 0, 0x3f80_0000], [0, 0, 0, 1]];

impl Lookup {
    /// The level that differences of coordinates between neighbours choose.
    pub fn level_of(&self, picture: &Picture, gradients: &[[f32; 4]; 2]) -> f32 {
        let size = picture.size_at(0);
        let scaled = |gradient: &[f32; 4]| -> f32 {
            let part = |axis: usize| {
                gradient[axis] * size[axis.min(if picture.target.contains("CUBE") { 0 } else { 2 })] as f32
            };
            (0..self.dimensions).map(|axis| part(axis) * part(axis)).sum::<f32>().sqrt()
        };
        if picture.target.contains("CUBE") && picture.levels.len() > 1 {
            return self.cube_level(gradients, size[0] as f32);
        }
        gradients.iter().map(scaled).fold(0.0, f32::max).log2()
    }

    /// The level of a cube, from the positions on the face.
    fn cube_level(&self, gradients: &[[f32; 4]; 2], size: f32) -> f32 {
        let (face, here) = on_face(self.place);
        let moved = |gradient: &[f32; 4]| {
            let there = along_face(face, std::array::from_fn(|n| self.place[n] + gradient[n]));
            let part = |n: usize| (there[n] - here[n]) * size;
            (part(0) * part(0) + part(1) * part(1)).sqrt()
        };
        gradients.iter().map(moved).fold(0.0, f32::max).log2()
    }

    /// The level to use, and the level before clamping.
    pub fn levels(&self, picture: &Picture, level: f32) -> Texel {
        let last = (picture.levels.len() - 1) as f32;
        let there = level.clamp(0.0, last);
        let there = if picture.sampler.linear { there } else { (there + 0.5).ceil() - 1.0 };
        [there.max(0.0).to_bits(), level.to_bits(), 0, 0]
    }

    /// The value at a level.
    pub fn filtered(&self, picture: &Picture, level: f32) -> Texel {
        let last = (picture.levels.len() - 1) as f32;
        let level = if level.is_nan() { 0.0 } else { level.clamp(0.0, last) };
        if !picture.sampler.linear {
            let nearest = ((level + 0.5).ceil() - 1.0).clamp(0.0, last);
            return self.at_level(picture, nearest as usize);
        }
        let (low, share) = (level.floor(), level.fract());
        let first = self.at_level(picture, low as usize);
        if share == 0.0 {
            return first;
        }
        mixed(first, self.at_level(picture, low as usize + 1), share)
    }

    fn at_level(&self, picture: &Picture, level: usize) -> Texel {
        if !picture.sampler.linear {
            let place = self.scaled(picture, level).map(|value| value.floor() as i64);
            return self.compared(self.texel(picture, level, self.moved(place)));
        }
        let place = self.scaled(picture, level).map(|value| value - 0.5);
        let base = place.map(|value| value.floor() as i64);
        let share = |axis: usize| place[axis] - place[axis].floor();
        let axes = if picture.target.contains("CUBE") { 2 } else { self.dimensions };
        let mut sums = [0.0_f64; 4];
        for corner in 0..1 << axes {
            let bit = |axis: usize| corner >> axis & 1;
            let weigh = |axis: usize| if bit(axis) == 1 { share(axis) } else { 1.0 - share(axis) };
            let weight: f32 = (0..axes).map(weigh).product();
            let at = self.moved(std::array::from_fn(|axis| base[axis] + if axis < axes { bit(axis) } else { 0 }));
            let texel = self.compared(self.texel(picture, level, at)).map(f32::from_bits);
            sums.iter_mut().zip(texel).for_each(|(sum, part)| *sum += f64::from(part * weight));
        }
        sums.map(|sum| (sum as f32).to_bits())
    }

    /// One component of the four texels that a filter would use.
    pub fn gathered(&self, picture: &Picture, component: usize) -> Texel {
        self.gathered_at(picture, component, [[0, 1], [1, 1], [1, 0], [0, 0]])
    }

    /// One component of four texels, each at an offset from the first one that linear filtering would use.
    pub fn gathered_at(&self, picture: &Picture, component: usize, offsets: [[i64; 2]; 4]) -> Texel {
        let base = self.scaled(picture, 0).map(|value| (value - 0.5).floor() as i64);
        offsets.map(|[x, y]| {
            let at = self.moved([base[0] + x, base[1] + y, base[2]]);
            self.compared(self.texel(picture, 0, at))[component]
        })
    }

    /// The position in texels of a level; for cubes, on the face.
    fn scaled(&self, picture: &Picture, level: usize) -> [f32; 3] {
        let size = picture.size_at(level);
        if picture.target.contains("CUBE") {
            let (_, [s, t]) = on_face(self.place);
            return [s * size[0] as f32, t * size[0] as f32, 0.0];
        }
        let scale = if picture.target == "RECT" { [1; 3] } else { size };
        std::array::from_fn(|axis| if axis < self.dimensions { self.place[axis] * scale[axis] as f32 } else { 0.0 })
    }

    fn moved(&self, place: [i64; 3]) -> [i64; 3] {
        std::array::from_fn(|axis| place[axis] + i64::from(self.offset[axis]))
    }

    fn texel(&self, picture: &Picture, level: usize, at: [i64; 3]) -> Texel {
        let size = picture.size_at(level).map(|size| size as i64);
        let layer = self.layer.map_or(0, |layer| layer.round_ties_even() as i64);
        let layers = if picture.target == "ARRAY1D" { size[1] } else { size[2] };
        if picture.target.contains("CUBE") {
            let (face, [x, y]) = beyond_face(on_face(self.place).0, [at[0], at[1]], size[0]);
            let cube = layer.clamp(0, layers / 6 - 1);
            return picture.levels[level][(x + size[0] * (y + size[1] * (6 * cube + face as i64))) as usize];
        }
        let mut place = [0; 3];
        for axis in 0..self.dimensions {
            let inside = wrapped(picture.sampler.address, at[axis], size[axis]);
            let Some(inside) = inside else { return BLACK[usize::from(picture.is_integer())] };
            place[axis] = inside;
        }
        let layer = layer.clamp(0, layers - 1);
        let index = match picture.target {
            "ARRAY1D" => place[0] + size[0] * layer,
            "ARRAY2D" => place[0] + size[0] * (place[1] + size[1] * layer),
            _ => place[0] + size[0] * (place[1] + size[1] * place[2]),
        };
        picture.levels[level][index as usize]
    }

    /// The result of comparing a texel.
    fn compared(&self, texel: Texel) -> Texel {
        match self.reference {
            Some(reference) => {
                let holds = reference <= f32::from_bits(texel[0]);
                [if holds { 0x3f80_0000 } else { 0 }; 4]
            }
            None => texel,
        }
    }
}

fn mixed(first: Texel, second: Texel, share: f32) -> Texel {
    let part = |n: usize| {
        let (a, b) = (f32::from_bits(first[n]), f32::from_bits(second[n]));
        (a + (b - a) * share).to_bits()
    };
    [part(0), part(1), part(2), part(3)]
}

/// The texel for an address beyond the edge; `None` for the border.
fn wrapped(address: Address, at: i64, size: i64) -> Option<i64> {
    Some(match address {
        Address::Repeat => at.rem_euclid(size),
        Address::Mirror => {
            let turn = at.rem_euclid(2 * size);
            if turn < size { turn } else { 2 * size - 1 - turn }
        }
        Address::Clamp => at.clamp(0, size - 1),
        Address::Border => return (0..size).contains(&at).then_some(at),
    })
}

/// The face of a cube that a direction hits, and the position on it (OpenGL 4.6, table 8.19).
fn on_face(place: [f32; 3]) -> (usize, [f32; 2]) {
    let [x, y, z] = place;
    let size = place.map(f32::abs);
    let axis = if size[2] >= size[0] && size[2] >= size[1] { 2 } else { usize::from(size[1] >= size[0]) };
    let face = 2 * axis + usize::from([x, y, z][axis] < 0.0);
    (face, along_face(face, place))
}

/// The face and texel for a position on a face's plane, possibly beyond its edges.
fn beyond_face(face: usize, at: [i64; 2], side: i64) -> (usize, [i64; 2]) {
    if at.iter().all(|place| (0..side).contains(place)) {
        return (face, at);
    }
    let place = at.map(|place| 2.0 * (place as f32 + 0.5) / side as f32 - 1.0);
    let (face, place) = on_face(direction(face, place));
    (face, place.map(|share| ((share * side as f32).floor() as i64).clamp(0, side - 1)))
}

/// The direction of a position on a face, from -1 to 1.
pub fn direction(face: usize, [s, t]: [f32; 2]) -> [f32; 3] {
    match face {
        0 => [1.0, -t, -s],
        1 => [-1.0, -t, s],
        2 => [s, 1.0, t],
        3 => [s, -1.0, -t],
        4 => [s, -t, 1.0],
        _ => [-s, -t, -1.0],
    }
}

/// Where a direction meets the plane of a face.
fn along_face(face: usize, [x, y, z]: [f32; 3]) -> [f32; 2] {
    let (s, t, major) = match face {
        0 => (-z, -y, x),
        1 => (z, -y, x),
        2 => (x, z, y),
        3 => (x, -z, y),
        4 => (x, -y, z),
        _ => (-x, -y, z),
    };
    [s, t].map(|value| (value / major.abs() + 1.0) / 2.0)
}

/// The sampler for accesses without sampling.
pub const NEAREST: Sampler = Sampler { linear: false, address: Address::Clamp, compare: false };
