//! Images: `LOADIM`, `STOREIM`, `ATOMIM`, `IMQ` (EXT_shader_image_load_store, ARB_shader_image_size), and the code
//! shared with textures: targets, and vectors of operands.
//!
//! The layer of every array is the third component, even of 1D arrays (table X.5 of EXT_shader_image_load_store).

use super::format::{Format, format};
use super::memory::{VOLATILE, watched};
use super::{Selector, atomic};
use crate::backend::nv::machine::{Class, Dest, Kind, Operand, Reg, X};
use crate::ir::{AtomicOp, ImageDim, ImageOp, ImageParts, ImageType, InstFlags, ScalarKind};
use crate::kernel::{InstId, Ty, Value, image};
use smallvec::SmallVec;

/// An operation and its operands by role.
pub struct Access {
    pub inst: InstId,
    pub op: ImageOp,
    pub parts: ImageParts,
    pub number: u32,
    pub ty: ImageType,
}

/// Up to four components of a vector; unread ones are `None`.
pub type Slots = [Option<Operand>; 4];

/// The name of a target, without `SHADOW`.
pub fn target(ty: ImageType) -> &'static str {
    match (ty.dim, ty.arrayed, ty.multisampled) {
        (ImageDim::D1, false, _) => "1D",
        (ImageDim::D1, true, _) => "ARRAY1D",
        (ImageDim::D2 | ImageDim::SubpassInput | ImageDim::Tile, false, false) => "2D",
        (ImageDim::D2 | ImageDim::SubpassInput | ImageDim::Tile, true, false) => "ARRAY2D",
        (ImageDim::D2 | ImageDim::SubpassInput | ImageDim::Tile, false, true) => "2DMS",
        (ImageDim::D2 | ImageDim::SubpassInput | ImageDim::Tile, true, true) => "ARRAY2DMS",
        (ImageDim::D3, ..) => "3D",
        (ImageDim::Cube, false, _) => "CUBE",
        (ImageDim::Cube, true, _) => "ARRAYCUBE",
        (ImageDim::Rect, ..) => "RECT",
        (ImageDim::Buffer, ..) => "BUFFER",
    }
}

/// The letter of a texel's type.
pub const fn letter(ty: ImageType) -> &'static str {
    match ty.sampled.kind {
        ScalarKind::Float => "F",
        ScalarKind::Sint => "S",
        ScalarKind::Uint | ScalarKind::Bool | ScalarKind::Encoded(_) => "U",
    }
}

impl Access {
    /// The values of a part.
    pub fn values<'k>(&self, selector: &Selector<'k>, part: ImageParts) -> &'k [Value] {
        match image::argument(self.ty, self.op, self.parts, part) {
            Some(range) => &selector.kernel.args(self.inst)[range],
            None => &[],
        }
    }
}

impl Selector<'_> {
    /// An operation on an image or a texture.
    pub fn image(&mut self, inst: InstId, op: ImageOp, number: u32, parts: ImageParts) {
        let ty = self.kernel.images[number as usize].ty;
        let access = Access { inst, op, parts, number, ty };
        if !ty.storage {
            return self.texture(&access);
        }
        match op {
            ImageOp::Read => self.read_texel(&access),
            ImageOp::Write => self.write_texel(&access),
            ImageOp::Atomic(op, ..) => self.atomic_texel(&access, op),
            ImageOp::Size => self.image_size(&access),
            ImageOp::Samples => {
                self.needs.options.insert("ARB_shader_texture_image_samples");
                self.query("IMQS", &access, &[]);
            }
            _ => {
                self.refused("this operation on an image");
            }
        }
    }

    /// The image unit and the target, the last operands of most instructions.
    fn unit(&self, access: &Access) -> [Operand; 2] {
        let unit = self.interface.units[access.number as usize];
        [Operand::Named(format!("image[{unit}]").into()), Operand::Named(target(access.ty).into())]
    }

    /// The modifier of an access that others may observe.
    fn watched(&self, access: &Access) -> &'static str {
        let (image, flags) = (&self.kernel.images[access.number as usize], self.kernel.insts[access.inst].flags);
        let coherent = image.coherent || flags.contains(InstFlags::COHERENT);
        watched(coherent, image.volatile || flags.contains(InstFlags::VOLATILE))
    }

    /// The coordinates of a texel: signed integers, the layer in `z`, the number of a sample in `w`.
    fn texel(&mut self, access: &Access) -> Operand {
        let values = access.values(self, ImageParts::COORDINATE);
        let mut slots = Slots::default();
        for (at, value) in values.iter().enumerate() {
            let is_layer = access.ty.arrayed && at + 1 == values.len() && access.ty.dim != ImageDim::Cube;
            slots[if is_layer { 2 } else { at }] = Some(self.uint(*value));
        }
        if let [sample] = access.values(self, ImageParts::SAMPLE) {
            slots[3] = Some(self.uint(*sample));
        }
        self.slots(&slots, Kind::Sint)
    }

    fn read_texel(&mut self, access: &Access) {
        let coordinate = self.texel(access);
        let [unit, target] = self.unit(access);
        let watched = self.watched(access);
        let found = format(access.ty.format);
        let (modifier, words) = match found {
            Some(Format { modifier, words, .. }) => (*modifier, *words),
            None if access.ty.format == 0 => {
                self.needs.options.insert("EXT_shader_image_load_formatted");
                (letter(access.ty), 4)
            }
            None => {
                self.refused("an image of this format");
                return;
            }
        };
        let to = self.results(words);
        let name = format!("LOADIM.{modifier}{watched}");
        self.push(name, Dest::Regs(to.clone()), &[coordinate, unit, target]).effect = watched == VOLATILE;
        let words: Vec<Operand> = to.into_iter().map(Operand::Reg).collect();
        let components = match found {
            Some(format) => self.unpacked(format, &words),
            None => words,
        };
        self.give_all(access.inst, components);
    }

    fn write_texel(&mut self, access: &Access) {
        let mut slots = Slots::default();
        for (slot, value) in slots.iter_mut().zip(access.values(self, ImageParts::DATA)) {
            *slot = Some(self.uint(*value));
        }
        let kind = if access.ty.sampled.is_float() { Kind::Float } else { Kind::Uint };
        let data = self.slots(&slots, kind);
        let coordinate = self.texel(access);
        let [unit, target] = self.unit(access);
        let name = format!("STOREIM.{}{}", letter(access.ty), self.watched(access));
        self.effect(name, &[unit, data, coordinate, target]);
    }

    fn atomic_texel(&mut self, access: &Access, op: AtomicOp) {
        let scalar = access.ty.sampled;
        // A load would be a bitwise operation, which float images are not specified to support.
        let has_load = op != AtomicOp::Load || !scalar.is_float();
        let Some(option) = atomic::option(op, scalar).filter(|_| has_load) else {
            self.refused("this atomic operation on this type");
            return;
        };
        self.needs.options.extend(option);
        // The new value, then the comparand, as in atomics on memory.
        let data = access.values(self, ImageParts::DATA);
        let compared = access.values(self, ImageParts::COMPARED);
        let args: SmallVec<[Value; 2]> = data.iter().chain(compared).copied().collect();
        let data = self.data(op, scalar, &args);
        let coordinate = self.texel(access);
        let [unit, target] = self.unit(access);
        let name = format!("ATOMIM.{}.{}", atomic::modifier(op), atomic::suffix(op, scalar));
        let to = match self.kernel.result(access.inst) {
            None => Dest::Scratch,
            Some(value) => {
                let reg = self.registers.add(Class::Word, X);
                self.give(value, Operand::Reg(reg));
                Dest::Regs([reg].into_iter().collect())
            }
        };
        self.push(name, to, &[data, coordinate, unit, target]).effect = true;
    }

    fn image_size(&mut self, access: &Access) {
        self.needs.options.insert("ARB_shader_image_size");
        self.query("IMQ", access, &[]);
    }

    /// A query with its result in the first components; `before` precedes the unit.
    pub fn query(&mut self, name: &'static str, access: &Access, before: &[Operand]) {
        let unit = if access.ty.storage { self.unit(access) } else { self.texture_unit(access) };
        let results = self.kernel.results(access.inst).len();
        let to = self.results(results);
        let operands: Vec<Operand> = before.iter().cloned().chain(unit).collect();
        self.push(name, Dest::Regs(to.clone()), &operands);
        self.give_all(access.inst, to.into_iter().map(Operand::Reg).collect());
    }

    // Vectors.

    /// Registers for this many components of a result, from `x` on.
    pub fn results(&mut self, count: usize) -> SmallVec<[Reg; 4]> {
        match count {
            1 => [self.registers.add(Class::Word, X)].into_iter().collect(),
            _ => self.registers.add_vector(Class::Word, count),
        }
    }

    /// Gives the results of an instruction.
    pub fn give_all(&mut self, inst: InstId, operands: Vec<Operand>) {
        self.kernel.results(inst).zip(operands).for_each(|(value, operand)| self.give(value, operand));
    }

    /// A vector with these components; one of them fills the unrequested ones. Constants that an instruction would
    /// convert, and negative ones, go to registers as bits.
    pub fn slots(&mut self, slots: &Slots, kind: Kind) -> Operand {
        let present: Vec<Operand> = slots.iter().flatten().cloned().collect();
        let is_plain = |operand: &Operand| matches!(operand, Operand::Constant(bits, _) if *bits <= i32::MAX as u32);
        if kind != Kind::Float && present.iter().all(is_plain) {
            let number = |slot: &Option<Operand>| match slot {
                Some(Operand::Constant(bits, _)) => *bits,
                _ => 0,
            };
            return Operand::Constants([0, 1, 2, 3].map(|at| number(&slots[at])));
        }
        if let Some(named) = attribute_vector(slots) {
            return named;
        }
        let regs = self.vector_regs(&present);
        let mut next = regs.iter();
        let first = regs[0];
        let spread = slots.iter().map(|slot| slot.as_ref().and_then(|_| next.next().copied()).unwrap_or(first));
        Operand::Vector(spread.collect())
    }

    /// Operands in order in one variable.
    fn vector_regs(&mut self, operands: &[Operand]) -> SmallVec<[Reg; 4]> {
        let group = operands.first().and_then(|first| self.group_of(first));
        if group.is_some() && operands.iter().all(|operand| self.group_of(operand) == group) {
            return operands.iter().flat_map(Operand::regs).collect();
        }
        let members = self.registers.add_vector(Class::Word, operands.len());
        for (to, from) in members.iter().zip(operands) {
            self.copy(*to, from.clone());
        }
        members
    }

    /// The bits of a value that is a constant of 32 bits.
    pub fn known(&self, value: Value) -> Option<u32> {
        let bits = self.kernel.as_constant(value)?;
        (self.kernel.ty(value) == Ty::B32).then_some(bits as u32)
    }
}

/// Components of one attribute as a vector; the first one fills unrequested components.
fn attribute_vector(slots: &Slots) -> Option<Operand> {
    let parts = slots.iter().map(|slot| match slot {
        Some(Operand::Named(name)) => name.split_once('.').filter(|(_, letter)| letter.len() == 1).map(Some),
        Some(_) => None,
        None => Some(None),
    });
    let parts: Vec<Option<(&str, &str)>> = parts.collect::<Option<_>>()?;
    let (variable, first) = parts.iter().flatten().next()?;
    let is_same = parts.iter().flatten().all(|(other, _)| other == variable);
    let letters: String = parts.iter().map(|part| part.map_or(*first, |(_, letter)| letter)).collect();
    is_same.then(|| Operand::Named(format!("{variable}.{letters}").into()))
}
