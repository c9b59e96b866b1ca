//! Texture and image instructions, and those that access the other lanes of a quad.
//!
//! The target determines how many coordinates there are and what follows them (NV_gpu_program4, tables X.21 and X.22).

use super::machine::{JUNK, Machine, Mask, Row};
use super::parse::{Inst, Operand};
use super::pictures::{Picture, in_lane};
use super::sample::Lookup;
use super::scalar::{self, Kind};

/// A target without `SHADOW`: the number of coordinates without the layer, whether there is a layer, and the components
/// of the reference and the level; those from 4 on are in the second vector.
struct Form {
    target: &'static str,
    dimensions: usize,
    layered: bool,
    reference: usize,
    level: [usize; 2],
}

const fn form(target: &'static str, dimensions: usize, layered: bool, reference: usize, level: [usize; 2]) -> Form {
    Form { target, dimensions, layered, reference, level }
}

/// The level is elsewhere if there is a reference.
static FORMS: [Form; 11] = [
    form("1D", 1, false, 2, [3, 3]),
    form("ARRAY1D", 1, true, 2, [3, 3]),
    form("2D", 2, false, 2, [3, 3]),
    form("RECT", 2, false, 2, [3, 3]),
    form("ARRAY2D", 2, true, 3, [3, 4]),
    form("3D", 3, false, 3, [3, 3]),
    form("CUBE", 3, false, 3, [3, 4]),
    form("ARRAYCUBE", 3, true, 4, [4, 5]),
    form("2DMS", 2, false, 2, [3, 3]),
    form("ARRAY2DMS", 2, true, 3, [3, 3]),
    form("BUFFER", 1, false, 2, [3, 3]),
];

impl Machine<'_> {
    /// The texture or image that an operation uses, and whether it compares; its target must match the binding.
    fn picture(&mut self, inst: &Inst) -> Result<(&mut Picture, bool), String> {
        let unit = inst.operands.iter().find_map(|operand| match operand {
            Operand::Unit(unit, _) => Some(*unit),
            _ => None,
        });
        let target = target_of(inst)?;
        let pictures = &mut self.memory.pictures;
        let is_texture = inst.op.starts_with('T') || inst.op == "LOD";
        let list = if is_texture { &mut pictures.textures } else { &mut pictures.images };
        let picture = list.get_mut(unit.ok_or("it has no unit")?).ok_or("nothing is bound")?;
        let plain = target.strip_prefix("SHADOW").unwrap_or(target);
        if plain == picture.target {
            Ok((picture, plain != target))
        } else {
            Err(format!("{} is bound", picture.target))
        }
    }

    /// Loads, fetches, lookups and sizes.
    pub fn look_up(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        let asks = matches!(&inst.op[..], "IMQ" | "IMQS" | "TXQS");
        let is_filtered = matches!(&inst.op[..], "TEX" | "TXB" | "TXL" | "TXD" | "TXG" | "TXGO" | "LOD");
        let kind = if is_filtered { Kind::Float } else { Kind::Sint };
        let behind = inst.operands.iter().position(|operand| matches!(operand, Operand::Unit(..)));
        let count = if asks { 0 } else { behind.ok_or("it has no unit")?.saturating_sub(1) };
        let vectors = inst.operands[1..=count].iter().map(|operand| self.vector(operand, kind));
        let vectors = vectors.collect::<Result<Vec<_>, _>>()?;
        let offset = self.offset(inst)?;
        let mut rows = vec![vec![JUNK; mask.len()]; 4];
        for lane in (0..mask.len()).filter(|lane| mask[*lane]) {
            let at: Vec<[u32; 4]> = vectors.iter().map(|rows| in_lane(rows, lane)).collect();
            let shift = offset.as_ref().map_or([0; 4], |rows| in_lane(rows, lane).map(|word| word as i32));
            let first = at.first().copied().unwrap_or_default();
            let quad = if is_filtered { vectors.first().map(|rows| slopes(rows, lane)) } else { None };
            let (picture, compares) = self.picture(inst)?;
            let found = match &inst.op[..] {
                "LOADIM" => picture.load(&inst.modifiers[0], &first)?,
                "TXF" => picture.fetch(&shifted(first, shift))?.map(u64::from),
                "TXFMS" => picture.fetch_sample(&first)?.map(u64::from),
                "TXQ" | "IMQ" => picture.query(first[0] as usize)?,
                "TXQS" | "IMQS" => [picture.samples as u64; 4],
                _ => look(inst, picture, compares, &at, shift, quad.unwrap_or_default())?.map(u64::from),
            };
            rows.iter_mut().zip(found).for_each(|(row, word)| row[lane] = word);
        }
        self.write(inst, &rows, mask)
    }

    /// The rows of an instruction's offset, if it has one.
    fn offset(&self, inst: &Inst) -> Result<Option<Vec<Row>>, String> {
        match inst.operands.last() {
            Some(Operand::Offset(inner)) => match &**inner {
                Operand::Numbers(texts) => {
                    let lanes = self.helpers().len();
                    let row = |text: &String| Kind::Sint.literal(text).map(|bits| vec![bits; lanes]);
                    texts.iter().map(row).collect::<Result<_, _>>().map(Some)
                }
                other => self.vector(other, Kind::Sint).map(Some),
            },
            _ => Ok(None),
        }
    }

    pub fn store_texel(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        let (data, at) = (self.vector(&inst.operands[1], Kind::Uint)?, self.vector(&inst.operands[2], Kind::Sint)?);
        for lane in (0..mask.len()).filter(|lane| mask[*lane]) {
            self.picture(inst)?.0.store(in_lane(&data, lane), &in_lane(&at, lane));
        }
        Ok(())
    }

    pub fn atomic_texel(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        let kind = if inst.modifiers.iter().any(|modifier| modifier == "F32") { Kind::Float } else { Kind::Uint };
        let (data, at) = (self.vector(&inst.operands[1], kind)?, self.vector(&inst.operands[2], Kind::Sint)?);
        let mut old = vec![JUNK; mask.len()];
        for lane in (0..mask.len()).filter(|lane| mask[*lane]) {
            let second = data.get(1).map_or(0, |row| row[lane]);
            if let Some(word) = self.picture(inst)?.0.word(&in_lane(&at, lane)) {
                old[lane] = u64::from(*word);
                *word = scalar::updated(inst, old[lane], data[0][lane], second)? as u32;
            }
        }
        self.write(inst, &[old], mask)
    }

    // Quads.

    /// `DDX` and `DDY`: for each row or column of the quad, which is also allowed for coarse derivatives, and what
    /// lavapipe does.
    pub fn derivative(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        let row = self.row(&inst.operands[1], Kind::Float)?;
        let step = if inst.op == "DDX" { 1 } else { 2 };
        let float = |lane: usize| f32::from_bits(row[lane] as u32);
        let slope = |lane: usize| u64::from((float(lane | step) - float(lane & !step)).to_bits());
        let row = (0..mask.len()).map(slope).collect();
        self.write(inst, &[row], mask)
    }

    /// `QSWZ`: the operand of another lane of the quad, and the second operand added.
    pub fn swizzle(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        let (row, added) = (self.row(&inst.operands[1], Kind::Float)?, self.row(&inst.operands[2], Kind::Float)?);
        let source = |lane: usize| match inst.op.as_bytes().last() {
            Some(b'X') => lane ^ 1,
            Some(b'Y') => lane ^ 2,
            Some(digit) => lane & !3 | usize::from(digit - b'0') & 3,
            None => lane,
        };
        let float = |word: u64| f32::from_bits(word as u32);
        let sum = |lane: usize| match (row[source(lane)], added[lane]) {
            (word, 0) => word,
            (word, other) => u64::from((float(word) + float(other)).to_bits()),
        };
        let row = (0..mask.len()).map(sum).collect();
        self.write(inst, &[row], mask)
    }

    /// `IPAC` and `IPAO` with one sample per pixel: the attribute at the centre, plus an offset.
    pub fn interpolate(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        let Operand::Variable { first, components, .. } = &inst.operands[1] else { return Err("no attribute".into()) };
        let attribute = self.program.attributes.iter().find(|attribute| attribute.first == *first);
        let number = attribute.ok_or("it is not an attribute")?.number;
        let offset = match &inst.op[..] {
            "IPAO" => Some(self.vector(&inst.operands[2], Kind::Float)?),
            "IPAC" => None,
            _ => return Err("samples are not interpreted".to_owned()),
        };
        let inputs = self.around.inputs.as_ref().ok_or("only fragments interpolate")?;
        let value = |lane: usize| {
            let by = offset.as_ref().map_or([0; 4], |rows| in_lane(rows, lane)).map(f32::from_bits);
            u64::from(inputs(number, components[0], lane, [by[0], by[1]]))
        };
        let row = (0..mask.len()).map(value).collect();
        self.write(inst, &[row], mask)
    }
}

fn target_of(inst: &Inst) -> Result<&str, String> {
    let target = inst.operands.iter().find_map(|operand| match operand {
        Operand::Target(target) => Some(&target[..]),
        _ => None,
    });
    target.ok_or_else(|| "it has no target".to_owned())
}

fn shifted(at: [u32; 4], by: [i32; 4]) -> [u32; 4] {
    std::array::from_fn(|n| if n < 3 { at[n].wrapping_add_signed(by[n]) } else { at[n] })
}

/// The differences of a float vector along each side of the quad.
fn slopes(rows: &[Row], lane: usize) -> [[f32; 4]; 2] {
    let first = lane & !3;
    let float = |lane: usize| in_lane(rows, lane.min(rows[0].len() - 1)).map(f32::from_bits);
    let (here, right, below) = (float(first), float(first | 1), float(first | 2));
    [right, below].map(|other| std::array::from_fn(|n| other[n] - here[n]))
}

/// The component of each texel that a gather takes.
fn component(inst: &Inst) -> usize {
    let gathered = inst.operands.iter().find_map(|operand| match operand {
        Operand::Unit(_, component) => Some(*component),
        _ => None,
    });
    gathered.unwrap_or(0)
}

/// A lookup that filters.
fn look(
    inst: &Inst,
    picture: &Picture,
    compares: bool,
    at: &[[u32; 4]],
    offset: [i32; 4],
    quad: [[f32; 4]; 2],
) -> Result<[u32; 4], String> {
    let form = FORMS.iter().find(|form| form.target == picture.target).ok_or("it has no form")?;
    let operand = |place: usize| at.get(place / 4).map_or(0.0, |vector| f32::from_bits(vector[place % 4]));
    let gradients = match (&inst.op[..], at) {
        ("TXD", [.., x, y]) => [x, y].map(|vector| vector.map(f32::from_bits)),
        _ => quad,
    };
    let level = operand(form.level[usize::from(compares)]);
    let lookup = Lookup {
        place: [operand(0), operand(1), operand(2)],
        dimensions: form.dimensions,
        layer: form.layered.then(|| operand(form.dimensions)),
        reference: compares.then(|| operand(form.reference)),
        offset: [offset[0], offset[1], offset[2]],
    };
    let slope = || lookup.level_of(picture, &gradients);
    Ok(match &inst.op[..] {
        "TXL" => lookup.filtered(picture, level),
        "TXB" => lookup.filtered(picture, slope() + level),
        "TEX" | "TXD" => lookup.filtered(picture, slope()),
        "TXG" => lookup.gathered(picture, component(inst)),
        "TXGO" => {
            let [.., x, y] = at else { return Err("it has no offsets".to_owned()) };
            let signed = |word: u32| i64::from(word as i32);
            let offsets = std::array::from_fn(|n| [signed(x[n]), signed(y[n])]);
            lookup.gathered_at(picture, component(inst), offsets)
        }
        _ => lookup.levels(picture, slope()),
    })
}
