//! Images and texel buffers. Their descriptors are the interpreter's own: the first word identifies a picture of the
//! run, and a texel buffer's size is where the hardware has it. The picture must have the properties that an access
//! requires.

use super::super::inst::Inst;
use super::super::operand::{Operand, integer};
use super::super::state::{State, Value};
use super::super::target::Target;
use super::Memory;
use super::access::{Access, Deed, Sampling, Space, texel_components};
use super::atomic::Atomic;
use crate::nv::Picture;
use crate::nv::pictures::packed;

/// Marks the upper half of a descriptor's first word, for pictures and samplers.
const MARK: u32 = 0x1a6e_0000;
const SAMPLER_MARK: u32 = 0x5a3b_0000;
/// The other words of a descriptor, on which nothing may depend.
const FILLED: u32 = 0xdead_beef;

/// The descriptor of picture `n`: eight words, or four for a texel buffer.
pub fn descriptor(n: usize, picture: &Picture, target: &Target) -> Vec<u32> {
    let mut words = vec![FILLED; 8];
    words[0] = MARK | n as u32;
    words[3] = words[3] & !(0xf << 16) | picture.samples.ilog2() << 16;
    if picture.target == "BUFFER" {
        words.truncate(4);
        let (count, bytes) = (picture.size[0] as u32, packed(&picture.format, [0; 4]).len() as u32);
        words[1] = 0xc000_beef | bytes << 16;
        words[2] = if (800..900).contains(&target.version) { count * bytes } else { count };
    }
    words
}

/// The descriptor of sampler `n`.
pub fn sampler_descriptor(n: usize) -> Vec<u32> {
    vec![SAMPLER_MARK | n as u32, FILLED, FILLED, FILLED]
}

/// The number in the descriptor that a scalar operand has.
fn described(state: &State, inst: &Inst, arg: usize, words: usize, mark: u32) -> Result<usize, String> {
    let Operand::Scalar { first, count } = inst.args[arg].operand else {
        return Err("a descriptor is in scalar registers".to_owned());
    };
    if count != words {
        return Err(format!("a descriptor of {count} words"));
    }
    let word = state.scalars(first, 1).defined("the descriptor")? as u32;
    word.checked_sub(mark).map(|number| number as usize).ok_or_else(|| "the registers hold no descriptor".to_owned())
}

pub fn run(state: &mut State, inst: &Inst, access: &Access, memory: &mut Memory) -> Result<(), String> {
    let words = if access.space == Space::Image { 8 } else { 4 };
    let number = described(state, inst, access.scalars[0], words, MARK)?;
    let (picture, writable) = memory.pictures.get_mut(number).ok_or("the descriptor names no picture of this run")?;
    if matches!(access.deed, Deed::StoreTexel | Deed::Atomic { .. }) && !*writable {
        return Err("the image cannot be written".to_owned());
    }
    if access.takes_sampler() {
        let number = described(state, inst, access.scalars[1], 4, SAMPLER_MARK)?;
        picture.sampler = *memory.samplers.get(number).ok_or("the descriptor names no sampler of this run")?;
    }
    let texels = Texels { inst, access, picture };
    match access.space {
        Space::Image => texels.image(state),
        _ => texels.buffer(state),
    }
}

pub struct Texels<'t> {
    inst: &'t Inst,
    access: &'t Access,
    pub picture: &'t mut Picture,
}

impl Texels<'_> {
    fn buffer(mut self, state: &mut State) -> Result<(), String> {
        if self.picture.target != "BUFFER" || self.inst.modifier("idxen").is_none() {
            return Err("a texel buffer is reached by the number of an element".to_owned());
        }
        let address = self.address()?;
        if address.len() != 1 {
            return Err("the number of an element is one word".to_owned());
        }
        let components = match self.access.deed {
            Deed::Load(_) => 1,
            Deed::Atomic { atomic, .. } => low_bits(atomic.operands()),
            _ => texel_components(&self.inst.name, "_format_").ok_or("the components are missing")?,
        };
        self.lanes(state, components, &address, |words| Ok(([words[0], 0, 0, 0], 0)))
    }

    fn image(mut self, state: &mut State) -> Result<(), String> {
        let version = state.target.version;
        let components = self.inst.modifier("dmask").and_then(integer).ok_or("a dmask is missing")? as u32;
        let (dimension, is_layered) = self.shape()?;
        let named = self.inst.modifier("dim");
        let is_right = match version {
            1000.. => named == Some(dimension),
            _ => is_layered == self.inst.modifier("da").is_some(),
        };
        let in_texels = !self.access.takes_sampler();
        let is_right = is_right && (version >= 1000 || in_texels == self.inst.modifier("unorm").is_some());
        if !is_right {
            return Err(format!("the image is {dimension}"));
        }
        let widened = (900..1000).contains(&version) && dimension.contains("1D");
        let address = self.address()?;
        if self.access.deed == Deed::ImageFacts {
            return self.facts(state, components, &address, widened);
        }
        if let Deed::Sample(sampling) = self.access.deed {
            return self.sample(state, sampling, components, &address, widened);
        }
        let is_multisampled = dimension.contains("MSAA");
        let plain = dimension.contains('2') as usize + 2 * usize::from(dimension.contains('3')) + 1;
        let count = plain + usize::from(widened) + usize::from(is_layered);
        let has_level = self.access.deed == Deed::LoadTexelLevel;
        if address.len() != count + usize::from(has_level) + usize::from(is_multisampled) {
            return Err(format!("an address of {} words for {dimension}", address.len()));
        }
        self.lanes(state, components, &address, |words| {
            if widened && words[1] != 0 {
                return Err("an image of one dimension is one texel high".to_owned());
            }
            let mut at = [words[0], 0, 0, 0];
            (1..plain).for_each(|n| at[n] = words[n]);
            if is_layered {
                at[2] = words[count - 1];
            }
            if is_multisampled {
                at[3] = words[count];
            }
            Ok((at, if has_level { words[count] } else { 0 }))
        })
    }

    /// The dimension that instructions name, and true if there are layers.
    fn shape(&self) -> Result<(&'static str, bool), String> {
        Ok(match self.picture.target {
            "1D" => ("SQ_RSRC_IMG_1D", false),
            "2D" | "RECT" => ("SQ_RSRC_IMG_2D", false),
            "3D" => ("SQ_RSRC_IMG_3D", false),
            "ARRAY1D" => ("SQ_RSRC_IMG_1D_ARRAY", true),
            "CUBE" | "ARRAYCUBE" if self.is_cube() => ("SQ_RSRC_IMG_CUBE", true),
            "ARRAY2D" | "CUBE" | "ARRAYCUBE" => ("SQ_RSRC_IMG_2D_ARRAY", true),
            "2DMS" => ("SQ_RSRC_IMG_2D_MSAA", false),
            "ARRAY2DMS" => ("SQ_RSRC_IMG_2D_MSAA_ARRAY", true),
            other => return Err(format!("{other} is not read here")),
        })
    }

    /// Returns true if the instruction sees a cube: storage images are arrays of faces.
    fn is_cube(&self) -> bool {
        let asks = self.access.deed == Deed::ImageFacts && self.inst.modifier("dim") != Some("SQ_RSRC_IMG_2D_ARRAY");
        self.access.takes_sampler() || asks
    }

    /// The registers of the address.
    fn address(&self) -> Result<Vec<usize>, String> {
        let at = self.access.address.ok_or("an address is missing")?;
        match &self.inst.args[at].operand {
            Operand::Vector { first, count } => Ok((*first..first + count).collect()),
            Operand::List(list) => Ok(list.clone()),
            _ => Err("an address is in vector registers".to_owned()),
        }
    }

    /// The registers of the result or the data, by component.
    pub fn registers(&self, components: u32) -> Result<Vec<(usize, usize)>, String> {
        let at = self.access.result.or(self.access.data.first().copied()).ok_or("a register is missing")?;
        let Operand::Vector { first, count } = self.inst.args[at].operand else {
            return Err("texels are in vector registers".to_owned());
        };
        let gathers = matches!(self.access.deed, Deed::Sample(Sampling { gathers: true, .. }));
        let components = if gathers { 0xf } else { components };
        if count != components.count_ones() as usize {
            return Err(format!("{count} registers for the components {components:#x}"));
        }
        let named = (0..4).filter(|n| components >> n & 1 == 1);
        Ok(named.enumerate().map(|(n, component)| (component, first + n)).collect())
    }

    fn lanes(
        &mut self,
        state: &mut State,
        components: u32,
        address: &[usize],
        place: impl Fn(&[u32]) -> Result<([u32; 4], u32), String>,
    ) -> Result<(), String> {
        let registers = self.registers(components)?;
        for lane in state.active() {
            let word =
                |register: &usize| state.lane(*register, 1, lane).defined("a coordinate").map(|bits| bits as u32);
            let words: Vec<u32> = address.iter().map(word).collect::<Result<_, _>>()?;
            let (at, level) = place(&words)?;
            if self.access.deed == Deed::StoreTexel {
                let mut texel = [0; 4];
                for (component, register) in &registers {
                    texel[*component] = state.lane(*register, 1, lane).defined("a texel")? as u32;
                }
                self.picture.store(texel, &at);
                continue;
            }
            if let Deed::Atomic { atomic, returns } = self.access.deed {
                self.change(state, lane, atomic, returns, registers[0].1, &at)?;
                continue;
            }
            let texel = self.load(at, level)?;
            for (component, register) in &registers {
                state.set_lane(*register, 1, lane, Value::of(texel[*component].into()));
            }
        }
        Ok(())
    }

    /// An atomic on the first component; registers have the new value and the comparand.
    fn change(
        &mut self,
        state: &mut State,
        lane: usize,
        atomic: Atomic,
        returns: bool,
        register: usize,
        at: &[u32; 4],
    ) -> Result<(), String> {
        let value = state.lane(register, 1, lane).defined("the data")?;
        let compared = if atomic.operands() == 2 { state.lane(register + 1, 1, lane).defined("the data")? } else { 0 };
        let mut old = 0;
        if let Some(word) = self.picture.word(at) {
            old = u64::from(*word);
            *word = atomic.apply(old, value, compared) as u32;
        }
        if returns {
            state.set_lane(register, 1, lane, Value::of(old));
        }
        Ok(())
    }

    fn load(&self, at: [u32; 4], level: u32) -> Result<[u32; 4], String> {
        if level == 0 {
            return Ok(self.picture.load("U", &at)?.map(|word| word as u32));
        }
        let second = if self.picture.target == "ARRAY1D" { at[2] } else { at[1] };
        self.picture.fetch(&[at[0], second, at[2], level])
    }

    /// 1D images that are bound as 2D images have their layers in the third coordinate.
    fn facts(&self, state: &mut State, components: u32, address: &[usize], widened: bool) -> Result<(), String> {
        let [level] = address else { return Err("the address is a level".to_owned()) };
        let registers = self.registers(components)?;
        for lane in state.active() {
            let level = state.lane(*level, 1, lane).defined("the level")? as usize;
            if level >= self.picture.levels.len() {
                return Err(format!("level {level} of a picture with {} levels", self.picture.levels.len()));
            }
            let [width, height, depth] = self.picture.size_at(level);
            let [height, depth] = if widened { [1, height] } else { [height, depth] };
            let facts = [width, height, depth, self.picture.levels.len()];
            for (component, register) in &registers {
                state.set_lane(*register, 1, lane, Value::of(facts[*component] as u64));
            }
        }
        Ok(())
    }
}

/// A word with its lowest `count` bits set.
fn low_bits(count: usize) -> u32 {
    (1 << count) - 1
}
