//! Textures: `TEX`, `TXB`, `TXL`, `TXD`, `TXF`, `TXFMS`, `TXG`, `TXQ`, `TXQS`, `LOD` (NV_gpu_program4 section 2.X.4.4,
//! NV_gpu_program5).
//!
//! Where the reference of a comparison and the level of detail stand beside the coordinates is a row of a table. Refused are
//! offsets that the target does not take, and gathers with four offsets.

use super::Selector;
use super::image::{Access, Slots, letter, target};
use crate::ir::{ImageDim, ImageOp, ImageParts, ImageType};
use crate::kernel::Value;
use crate::target::nv::machine::{Class, Kind, Operand, Target, W};

/// Where an operand stands: in the vector of the coordinates, or in one behind it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum At {
    First(usize),
    Second(usize),
    Nowhere,
}

/// Where a target has its operands.
struct Row {
    dim: ImageDim,
    arrayed: bool,
    shadow: bool,
    reference: At,
    /// Bias, and level of detail.
    level: At,
}

const fn row(dim: ImageDim, arrayed: bool, shadow: bool, reference: At, level: At) -> Row {
    Row { dim, arrayed, shadow, reference, level }
}

/// NV_gpu_program4, table X.21 ("Texture Targets"), with NV_gpu_program5's second vectors; what is not here takes neither.
const ROWS: &[Row] = &[
    row(ImageDim::D1, false, false, At::Nowhere, At::First(3)),
    row(ImageDim::D1, true, false, At::Nowhere, At::First(3)),
    row(ImageDim::D2, false, false, At::Nowhere, At::First(3)),
    row(ImageDim::D2, true, false, At::Nowhere, At::First(3)),
    row(ImageDim::D3, false, false, At::Nowhere, At::First(3)),
    row(ImageDim::Cube, false, false, At::Nowhere, At::First(3)),
    row(ImageDim::Cube, true, false, At::Nowhere, At::Second(0)),
    row(ImageDim::D1, false, true, At::First(2), At::First(3)),
    row(ImageDim::D1, true, true, At::First(2), At::First(3)),
    row(ImageDim::D2, false, true, At::First(2), At::First(3)),
    row(ImageDim::D2, true, true, At::First(3), At::Second(0)),
    row(ImageDim::Rect, false, true, At::First(2), At::Nowhere),
    row(ImageDim::Cube, false, true, At::First(3), At::Second(0)),
    row(ImageDim::Cube, true, true, At::Second(0), At::Nowhere),
];

fn places(ty: ImageType, shadow: bool) -> (At, At) {
    let found = ROWS.iter().find(|row| (row.dim, row.arrayed, row.shadow) == (ty.dim, ty.arrayed, shadow));
    found.map_or((At::Nowhere, At::Nowhere), |row| (row.reference, row.level))
}

/// Offsets that instructions take, in texels (`MIN_` and `MAX_PROGRAM_TEXEL_OFFSET`, and of gathers).
const OFFSETS: std::ops::RangeInclusive<i32> = -8..=7;
const GATHER_OFFSETS: std::ops::RangeInclusive<i32> = -32..=31;

impl Selector<'_> {
    pub fn texture(&mut self, access: &Access) {
        match access.op {
            _ if access.parts.contains(ImageParts::OFFSETS) => {
                self.refused("a gather with four offsets");
            }
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
                let coordinates = self.coordinates(access, None);
                self.query("LOD.F", access, &coordinates);
            }
            ImageOp::Levels => self.levels(access),
            _ => {
                self.refused("this operation on a texture");
            }
        }
    }

    /// The number of levels, which stands behind the size of the first one, as in the driver's own programs.
    fn levels(&mut self, access: &Access) {
        let to = self.registers.add(Class::Word, W);
        let [unit, target] = self.texture_unit(access);
        self.push("TXQ", Target::Regs([to].into_iter().collect()), &[Operand::Constant(0, Kind::Sint), unit, target]);
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

    /// Coordinates with the reference and the level where the target wants them: one vector, and one behind it if there is
    /// no room.
    fn coordinates(&mut self, access: &Access, level: Option<Value>) -> Vec<Operand> {
        let shadow = self.kernel.images[access.number as usize].compares;
        let (reference_at, level_at) = places(access.ty, shadow);
        let mut vectors = [Slots::default(), Slots::default()];
        let coordinates = access.values(self, ImageParts::COORDINATE);
        for (slot, value) in vectors[0].iter_mut().zip(coordinates) {
            *slot = Some(self.uint(*value));
        }
        let reference = access.values(self, ImageParts::REFERENCE).first().copied();
        for (value, at) in [(reference, reference_at), (level, level_at)] {
            let Some(value) = value else { continue };
            let operand = Some(self.uint(value));
            match at {
                At::First(n) => vectors[0][n] = operand,
                At::Second(n) => vectors[1][n] = operand,
                At::Nowhere => {
                    self.refused("such an access to a texture of this kind");
                }
            }
        }
        let filled = vectors.iter().filter(|slots| slots.iter().any(Option::is_some));
        filled.map(|slots| self.slots(slots, Kind::Float)).collect()
    }

    fn sample(&mut self, access: &Access) {
        let gradients = access.values(self, ImageParts::GRADIENTS);
        let bias = access.values(self, ImageParts::BIAS).first().copied();
        let lod = access.values(self, ImageParts::LOD).first().copied();
        // These have one level only, and no place for its number.
        let lod = lod.filter(|_| access.ty.dim != ImageDim::Rect);
        let name = match (bias, lod, gradients) {
            (None, None, []) => "TEX",
            (Some(_), ..) => "TXB",
            (_, Some(_), _) => "TXL",
            _ => "TXD",
        };
        let mut operands = self.coordinates(access, bias.or(lod));
        for direction in gradients.chunks(gradients.len().max(2) / 2) {
            let mut slots = Slots::default();
            for (slot, value) in slots.iter_mut().zip(direction) {
                *slot = Some(self.uint(*value));
            }
            operands.push(self.slots(&slots, Kind::Float));
        }
        operands.extend(self.texture_unit(access));
        operands.extend(self.offset(access, OFFSETS, name != "TXD"));
        self.look_up(access, name, &operands);
    }

    fn look_up(&mut self, access: &Access, name: &'static str, operands: &[Operand]) {
        let results = self.kernel.results(access.inst).len();
        let to = self.results(results);
        self.push(format!("{name}.{}", letter(access.ty)), Target::Regs(to.clone()), operands);
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
        let mut operands = self.coordinates(access, None);
        operands.extend(self.texture_component(access, component));
        operands.extend(self.offset(access, GATHER_OFFSETS, true));
        self.look_up(access, "TXG", &operands);
    }

    /// A texel by its number: the level of detail, or the sample, stands in `w`.
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

/// A constant offset: as a vector, which has the wider range, or as the numbers that `TXD` alone takes.
fn known_offset(known: &[i32], as_vector: bool) -> Operand {
    let mut numbers: Vec<String> = known.iter().map(i32::to_string).collect();
    if !as_vector {
        return Operand::Named(format!("({})", numbers.join(", ")).into());
    }
    numbers.resize(4, "0".to_owned());
    Operand::Named(format!("offset({{{}}})", numbers.join(", ")).into())
}
