//! Textures: `TEX`, `TXB`, `TXL`, `TXD`, `TXF`, `TXFMS`, `TXG`, `TXGO`, `TXQ`, `TXQS`, `LOD` (NV_gpu_program4 section
//! 2.X.4.4, NV_gpu_program5).
//!
//! A table has the positions of the depth reference, the bias and the level of detail next to the coordinates. Offsets,
//! biases and levels that the target does not support are refused.

use super::Selector;
use super::image::{Access, Slots, letter, target};
use crate::backend::nv::machine::{Class, Dest, Kind, Operand, W};
use crate::ir::{ImageDim, ImageOp, ImageParts, ImageType};
use crate::kernel::Value;

/// The position of an operand: in the vector of the coordinates, or in one after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    First(usize),
    Second(usize),
    /// Only the first level is possible, selected by zero gradients.
    Gradients,
    Nowhere,
}

/// The positions of a target's operands.
struct TargetOperands {
    dim: ImageDim,
    arrayed: bool,
    shadow: bool,
    places: Places,
}

#[derive(Clone, Copy)]
struct Places {
    reference: At,
    bias: At,
    level: At,
}

const fn row(dim: ImageDim, arrayed: bool, shadow: bool, [reference, bias, level]: [At; 3]) -> TargetOperands {
    TargetOperands { dim, arrayed, shadow, places: Places { reference, bias, level } }
}

const NONE: Places = Places { reference: At::Nowhere, bias: At::Nowhere, level: At::Nowhere };

/// NV_gpu_program4, table X.21 ("Texture Targets"), with NV_gpu_program5's second vectors; targets that are not listed
/// have no such operands. For `TXB` and `TXL` the driver's behaviour decides.
const ROWS: &[TargetOperands] = &[
    row(ImageDim::D1, false, false, [At::Nowhere, At::First(3), At::First(3)]),
    row(ImageDim::D1, true, false, [At::Nowhere, At::First(3), At::First(3)]),
    row(ImageDim::D2, false, false, [At::Nowhere, At::First(3), At::First(3)]),
    row(ImageDim::D2, true, false, [At::Nowhere, At::First(3), At::First(3)]),
    row(ImageDim::D3, false, false, [At::Nowhere, At::First(3), At::First(3)]),
    row(ImageDim::Cube, false, false, [At::Nowhere, At::First(3), At::First(3)]),
    row(ImageDim::Cube, true, false, [At::Nowhere, At::Second(0), At::Second(0)]),
    row(ImageDim::D1, false, true, [At::First(2), At::First(3), At::First(3)]),
    row(ImageDim::D1, true, true, [At::First(2), At::First(3), At::First(3)]),
    row(ImageDim::D2, false, true, [At::First(2), At::First(3), At::First(3)]),
    row(ImageDim::D2, true, true, [At::First(3), At::Nowhere, At::Gradients]),
    row(ImageDim::Rect, false, true, [At::First(2), At::Nowhere, At::Nowhere]),
    row(ImageDim::Cube, false, true, [At::First(3), At::Second(0), At::Gradients]),
    row(ImageDim::Cube, true, true, [At::Second(0), At::Nowhere, At::Nowhere]),
];

fn places(ty: ImageType, shadow: bool) -> Places {
    let found = ROWS.iter().find(|row| (row.dim, row.arrayed, row.shadow) == (ty.dim, ty.arrayed, shadow));
    found.map_or(NONE, |row| row.places)
}

/// A value, its position, and its role.
type Placed = (Value, At, &'static str);

/// The bits of the two zeros.
const ZEROS: [Option<u32>; 2] = [Some(0), Some(0x8000_0000)];

/// Range of offsets in texels (`MIN_` and `MAX_PROGRAM_TEXEL_OFFSET`, and the limits for gathers).
const OFFSETS: std::ops::RangeInclusive<i32> = -8..=7;
const GATHER_OFFSETS: std::ops::RangeInclusive<i32> = -32..=31;

impl Selector<'_> {
    pub fn texture(&mut self, access: &Access) {
        match access.op {
            ImageOp::Sample => self.sample(access),
            ImageOp::Gather => self.gather(access),
            ImageOp::Fetch => self.fetch(access),
            ImageOp::Size => {
                let level = access.values(self, ImageParts::LOD).first().copied();
                let level = level.map_or(Operand::Constant(0, Kind::Sint), |level| self.arg(level, Kind::Sint));
                self.query("TXQ", access, &[level]);
            }
            ImageOp::Samples => {
                self.needs.options.insert("ARB_shader_texture_image_samples");
                self.query("TXQS", access, &[]);
            }
            ImageOp::QueryLod => {
                let coordinates = self.coordinates(access, &[]);
                self.query("LOD.F", access, &coordinates);
            }
            ImageOp::Levels => self.levels(access),
            _ => {
                self.refused("this operation on a texture");
            }
        }
    }

    /// The number of levels, which follows the size of the first one, as in the driver's own programs.
    fn levels(&mut self, access: &Access) {
        let to = self.registers.add(Class::Word, W);
        let [unit, target] = self.texture_unit(access);
        self.push("TXQ", Dest::Regs([to].into_iter().collect()), &[Operand::Constant(0, Kind::Sint), unit, target]);
        self.result(access.inst, Operand::Reg(to));
    }

    /// The texture unit and the target.
    pub fn texture_unit(&self, access: &Access) -> [Operand; 2] {
        self.texture_component(access, "")
    }

    fn texture_component(&self, access: &Access, component: &str) -> [Operand; 2] {
        let unit = self.interface.units[access.number as usize];
        let shadow = if self.kernel.images[access.number as usize].compares { "SHADOW" } else { "" };
        let unit = Operand::Named(format!("texture[{unit}]{component}").into());
        [unit, Operand::Named(format!("{shadow}{}", target(access.ty)).into())]
    }

    /// The positions of the operands for an access's target.
    fn places(&self, access: &Access) -> Places {
        places(access.ty, self.kernel.images[access.number as usize].compares)
    }

    /// Coordinates with the reference and other operands where the target needs them: one vector, and another after it
    /// if there is no room.
    fn coordinates(&mut self, access: &Access, others: &[Placed]) -> Vec<Operand> {
        let mut vectors = [Slots::default(), Slots::default()];
        let coordinates = access.values(self, ImageParts::COORDINATE);
        for (slot, value) in vectors[0].iter_mut().zip(coordinates) {
            *slot = Some(self.uint(*value));
        }
        let reference = access.values(self, ImageParts::REFERENCE).first().copied();
        let reference = reference.map(|value| (value, self.places(access).reference, "a reference"));
        for (value, at, what) in reference.into_iter().chain(others.iter().copied()) {
            let operand = Some(self.uint(value));
            match at {
                At::First(n) => vectors[0][n] = operand,
                At::Second(n) => vectors[1][n] = operand,
                At::Gradients | At::Nowhere => {
                    self.refused(&format!("{what} for a texture of this kind"));
                }
            }
        }
        let filled = vectors.iter().filter(|slots| slots.iter().any(Option::is_some));
        filled.map(|slots| self.slots(slots, Kind::Float)).collect()
    }

    fn sample(&mut self, access: &Access) {
        let places = self.places(access);
        let bias = access.values(self, ImageParts::BIAS).first().copied();
        let lod = access.values(self, ImageParts::LOD).first().copied();
        // Rectangle textures have one level, and no operand for it.
        let lod = lod.filter(|_| access.ty.dim != ImageDim::Rect);
        let is_first = places.level == At::Gradients && lod.is_some_and(|lod| ZEROS.contains(&self.known(lod)));
        let (name, others) = match (bias, lod) {
            (Some(bias), _) => ("TXB", vec![(bias, places.bias, "a bias")]),
            (_, Some(_)) if is_first => ("TXD", Vec::new()),
            (_, Some(lod)) if places.level == At::Gradients => {
                ("TXL", vec![(lod, places.level, "a level other than the first")])
            }
            (_, Some(lod)) => ("TXL", vec![(lod, places.level, "a level")]),
            _ if access.parts.contains(ImageParts::GRADIENTS) => ("TXD", Vec::new()),
            _ => ("TEX", Vec::new()),
        };
        let mut operands = self.coordinates(access, &others);
        if name == "TXD" {
            if operands.len() > 1 {
                self.refused("gradients for a texture of this kind");
            }
            operands.extend(self.gradients(access));
        }
        operands.extend(self.texture_unit(access));
        operands.extend(self.offset(access, OFFSETS, name != "TXD"));
        self.look_up(access, name, &operands);
    }

    /// The gradients of the coordinates in each direction; zero if the access has none.
    fn gradients(&mut self, access: &Access) -> [Operand; 2] {
        let values = access.values(self, ImageParts::GRADIENTS);
        let (x, y) = values.split_at(values.len() / 2);
        [x, y].map(|direction| {
            let mut slots = Slots::default();
            for (slot, value) in slots.iter_mut().zip(direction) {
                *slot = Some(self.uint(*value));
            }
            if direction.is_empty() { Operand::Constants([0; 4]) } else { self.slots(&slots, Kind::Float) }
        })
    }

    fn look_up(&mut self, access: &Access, name: &'static str, operands: &[Operand]) {
        let results = self.kernel.results(access.inst).len();
        let to = self.results(results);
        self.push(format!("{name}.{}", letter(access.ty)), Dest::Regs(to.clone()), operands);
        self.give_all(access.inst, to.into_iter().map(Operand::Reg).collect());
    }

    fn gather(&mut self, access: &Access) {
        let component = access.values(self, ImageParts::COMPONENT).first().map(|value| self.known(*value));
        let component = match component {
            None => "",
            Some(Some(n @ 0..=3)) => [".x", ".y", ".z", ".w"][n as usize],
            Some(_) => {
                self.refused("a gather of a component that is not constant");
                return;
            }
        };
        let mut operands = self.coordinates(access, &[]);
        let four = self.four_offsets(access);
        let name = if four.is_some() { "TXGO" } else { "TXG" };
        operands.extend(four.into_iter().flatten());
        operands.extend(self.texture_component(access, component));
        operands.extend(self.offset(access, GATHER_OFFSETS, true));
        self.look_up(access, name, &operands);
    }

    /// The offsets of a gather's four texels in x and in y, if each has its own.
    fn four_offsets(&mut self, access: &Access) -> Option<[Operand; 2]> {
        let values = access.values(self, ImageParts::OFFSETS);
        let known: Option<Vec<i32>> = values.iter().map(|value| self.known(*value).map(|bits| bits as i32)).collect();
        let known = known.filter(|known| known.iter().all(|offset| GATHER_OFFSETS.contains(offset)));
        match known.as_deref() {
            Some([]) => None,
            Some(known) => Some([0, 1].map(|axis| {
                let numbers: Vec<String> = known.chunks(2).map(|offset| offset[axis].to_string()).collect();
                Operand::Named(format!("{{{}}}", numbers.join(", ")).into())
            })),
            None => {
                self.refused("such an offset of a texture's coordinates");
                None
            }
        }
    }

    /// A texel by its number: the level of detail, or the sample, is in `w`.
    fn fetch(&mut self, access: &Access) {
        let mut slots = Slots::default();
        for (slot, value) in slots.iter_mut().zip(access.values(self, ImageParts::COORDINATE)) {
            *slot = Some(self.uint(*value));
        }
        let sample = access.values(self, ImageParts::SAMPLE).first().copied();
        let level = access.values(self, ImageParts::LOD).first().copied();
        let last = sample.or(level).map_or(Operand::Constant(0, Kind::Uint), |value| self.uint(value));
        slots[3] = Some(last);
        let mut operands = vec![self.slots(&slots, Kind::Sint)];
        operands.extend(self.texture_unit(access));
        operands.extend(self.offset(access, OFFSETS, true));
        if sample.is_some() {
            self.needs.options.insert("NV_texture_multisample");
        }
        self.look_up(access, if sample.is_some() { "TXFMS" } else { "TXF" }, &operands);
    }

    /// The offset of an access in texels, if it has one.
    fn offset(
        &mut self,
        access: &Access,
        range: std::ops::RangeInclusive<i32>,
        takes_computed: bool,
    ) -> Option<Operand> {
        let values = access.values(self, ImageParts::OFFSET);
        if values.is_empty() {
            return None;
        }
        let known: Option<Vec<i32>> = values.iter().map(|value| self.known(*value).map(|bits| bits as i32)).collect();
        match known {
            Some(known) if known.iter().all(|offset| range.contains(offset)) => {
                Some(known_offset(&known, takes_computed))
            }
            None if takes_computed && access.ty.dim != ImageDim::Cube => {
                let mut slots = Slots::default();
                for (slot, value) in slots.iter_mut().zip(values) {
                    *slot = Some(self.uint(*value));
                }
                Some(match self.slots(&slots, Kind::Float) {
                    Operand::Vector(regs) => Operand::Offset(regs),
                    Operand::Named(attribute) => Operand::Named(format!("offset({attribute})").into()),
                    other => other,
                })
            }
            _ => {
                self.refused("such an offset of a texture's coordinates");
                None
            }
        }
    }
}

/// A constant offset: as a vector, which has the wider range, or as numbers, the only form that `TXD` supports.
fn known_offset(known: &[i32], as_vector: bool) -> Operand {
    let mut numbers: Vec<String> = known.iter().map(i32::to_string).collect();
    if !as_vector {
        return Operand::Named(format!("({})", numbers.join(", ")).into());
    }
    numbers.resize(4, "0".to_owned());
    Operand::Named(format!("offset({{{}}})", numbers.join(", ")).into())
}
