//! Textures and images, for accesses that address a texel: fetches, loads, stores, atomics, sizes, and lookups of the
//! nearest texel in a level.
//!
//! Texels are four words; the GLSL name of an image's format determines how they are stored (GLSL 4.60, section 4.4.7).

use super::machine::Row;
use crate::device::Sampler;

/// A texture or an image.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// The name of its target in programs.
    pub target: &'static str,
    /// Width, height, and depth or layers, of the first level.
    pub size: [usize; 3],
    /// Texels of each level, by rows and layers.
    pub levels: Vec<Vec<[u32; 4]>>,
    /// The name of an image's format.
    pub format: String,
    /// How a texture is sampled.
    pub sampler: Sampler,
    /// Samples per texel, which are stored side by side.
    pub samples: usize,
}

/// The packing of a format's texel: bits of each component, and their meaning.
struct Packing {
    bits: Vec<u32>,
    means: &'static str,
}

fn packing(format: &str) -> Packing {
    let letters: String = format.chars().take_while(|c| c.is_ascii_alphabetic()).collect();
    let digits: u32 =
        format[letters.len()..].chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap_or(0);
    let means = match () {
        () if format.ends_with("_snorm") => "snorm",
        () if format.ends_with("ui") => "uint",
        () if format.ends_with('i') => "sint",
        () if format.ends_with('f') => "float",
        () => "unorm",
    };
    let bits = match format {
        "r11f_g11f_b10f" => vec![11, 11, 10],
        "d32" => vec![32],
        _ if format.starts_with("rgb10_a2") => vec![10, 10, 10, 2],
        _ => vec![digits; letters.len()],
    };
    let means = if matches!(format, "r11f_g11f_b10f" | "d32") { "float" } else { means };
    Packing { bits, means }
}

impl Packing {
    /// The bits that a component stores for a word.
    fn packed(&self, bits: u32, word: u32) -> u64 {
        let value = f32::from_bits(word);
        let most = |bits: u32| f64::from((1_u64 << bits) as f32) - 1.0;
        let kept = match self.means {
            "float" if bits == 32 => u64::from(word),
            "float" if bits == 16 => u64::from(super::scalar::float_to_half(value)),
            // A half without its sign and its lowest bits.
            "float" => u64::from(super::scalar::float_to_half(value.max(0.0))) >> (15 - bits),
            "unorm" => (f64::from(value.clamp(0.0, 1.0)) * most(bits)).round_ties_even() as u64,
            "snorm" => (f64::from(value.clamp(-1.0, 1.0)) * most(bits - 1)).round_ties_even() as i64 as u64,
            _ => u64::from(word),
        };
        if bits == 32 { kept & 0xffff_ffff } else { kept & ((1 << bits) - 1) }
    }

    /// The word for a component's stored bits.
    fn unpacked(&self, bits: u32, kept: u64) -> u32 {
        let signed = ((kept << (64 - bits)) as i64) >> (64 - bits);
        let most = |bits: u32| f64::from((1_u64 << bits) as f32) - 1.0;
        match self.means {
            "float" if bits == 32 => kept as u32,
            "float" if bits == 16 => super::scalar::half_to_float(kept as u16).to_bits(),
            "float" => super::scalar::half_to_float((kept << (15 - bits)) as u16).to_bits(),
            "unorm" => ((kept as f64 / most(bits)) as f32).to_bits(),
            "snorm" => ((signed as f64 / most(bits - 1)).max(-1.0) as f32).to_bits(),
            "sint" => signed as u32,
            _ => kept as u32,
        }
    }
}

/// The texel of an image of a format after a write; components that it does not have are 0, 0 and 1.
pub fn kept(format: &str, texel: [u32; 4]) -> [u32; 4] {
    let packing = packing(format);
    let one = if matches!(packing.means, "sint" | "uint") { 1 } else { 1.0_f32.to_bits() };
    let mut out = [0, 0, 0, one];
    for (n, bits) in packing.bits.iter().enumerate() {
        out[n] = packing.unpacked(*bits, packing.packed(*bits, texel[n]));
    }
    out
}

/// The words of a texel in memory.
fn words(format: &str, texel: [u32; 4]) -> Vec<u64> {
    let packing = packing(format);
    let (mut words, mut at) = (vec![0_u64; 4], 0);
    for (n, bits) in packing.bits.iter().enumerate() {
        words[at / 32] |= packing.packed(*bits, texel[n]) << (at % 32);
        at += *bits as usize;
    }
    words
}

/// The largest difference between two values of a component that were rounded to a format; `None` if nothing is
/// rounded.
pub fn step(format: &str) -> Option<f32> {
    let packing = packing(format);
    let least = packing.bits.iter().copied().min().unwrap_or(32);
    match packing.means {
        "unorm" | "snorm" => Some(1.5 / ((1_u64 << least.min(16)) as f32 / 2.0)),
        "float" if least == 16 => Some(1.0 / 1000.0),
        "float" if least < 16 => Some(1.0 / 16.0),
        _ => None,
    }
}

/// A texel from its bytes.
pub fn unpacked(format: &str, bytes: &[u8]) -> [u32; 4] {
    let packing = packing(format);
    let one = if matches!(packing.means, "sint" | "uint") { 1 } else { 1.0_f32.to_bits() };
    let all = bytes.iter().rev().fold(0_u128, |all, byte| all << 8 | u128::from(*byte));
    let (mut out, mut at) = ([0, 0, 0, one], 0);
    for (n, bits) in packing.bits.iter().enumerate() {
        out[n] = packing.unpacked(*bits, (all >> at) as u64 & ((1_u64 << bits) - 1));
        at += bits;
    }
    out
}

/// The bytes of a texel.
pub fn packed(format: &str, texel: [u32; 4]) -> Vec<u8> {
    let packing = packing(format);
    let (mut all, mut at) = (0_u128, 0);
    for (n, bits) in packing.bits.iter().enumerate() {
        all |= u128::from(packing.packed(*bits, texel[n])) << at;
        at += bits;
    }
    all.to_le_bytes()[..at as usize / 8].to_vec()
}

/// The modifier with which a format's texels are loaded (EXT_shader_image_load_store, tables X.2 and X.3).
fn loads_as(format: &str, modifier: &str) -> bool {
    let bits: u32 = packing(format).bits.iter().sum();
    let sizes: &[&str] = match bits {
        8 => &["U8", "S8"],
        16 => &["U16", "S16"],
        32 => &["U32", "S32", "F32"],
        64 => &["U32X2", "S32X2", "F32X2"],
        _ => &["U32X4", "S32X4", "F32X4"],
    };
    sizes.contains(&modifier)
}

impl Picture {
    /// The components of a coordinate that address a texel: layers of images are in `z`.
    fn axes(&self, is_image: bool) -> &'static [usize] {
        match self.target {
            "1D" | "BUFFER" => &[0],
            "2D" | "2DMS" | "RECT" => &[0, 1],
            "ARRAY1D" if is_image => &[0, 2],
            "ARRAY1D" => &[0, 1],
            _ => &[0, 1, 2],
        }
    }

    pub fn size_at(&self, level: usize) -> [usize; 3] {
        let [width, height, depth] = self.size;
        let halved = |size: usize| (size >> level).max(1);
        let layered = matches!(self.target, "ARRAY2D" | "ARRAY2DMS" | "CUBE" | "ARRAYCUBE");
        let height = if self.target == "ARRAY1D" { height } else { halved(height) };
        [halved(width), height, if layered { depth } else { halved(depth) }]
    }

    /// The number of a texel; `None` if out of range.
    fn place(&self, at: &[u32; 4], level: usize, is_image: bool) -> Option<usize> {
        let size = self.size_at(level);
        let mut index = 0;
        for (axis, from) in self.axes(is_image).iter().enumerate().rev() {
            let here = at[*from] as usize;
            index = (here < size[axis]).then_some(index * size[axis] + here)?;
        }
        Some(index)
    }

    /// `TXF`: the texel of a level, which is in `w`.
    pub fn fetch(&self, at: &[u32; 4]) -> Result<[u32; 4], String> {
        let level = if matches!(self.target, "BUFFER" | "RECT") { 0 } else { at[3] as usize };
        let texels = self.levels.get(level).ok_or("there is no such level")?;
        self.place(at, level, false).map(|place| texels[place]).ok_or_else(|| "a fetch beyond the texture".to_owned())
    }

    /// `TXFMS`: the sample of a texel, which is in `w`.
    pub fn fetch_sample(&self, at: &[u32; 4]) -> Result<[u32; 4], String> {
        let place = self.place(at, 0, false).ok_or("a fetch beyond the texture")?;
        let sample = at[3] as usize;
        if sample >= self.samples {
            Err("there is no such sample".to_owned())
        } else {
            Ok(self.levels[0][place * self.samples + sample])
        }
    }

    /// Returns true if its components are integers.
    pub fn is_integer(&self) -> bool {
        matches!(packing(&self.format).means, "sint" | "uint")
    }

    /// `LOADIM`: the words of a texel, then 0, 0 and 1; zero out of range.
    pub fn load(&self, modifier: &str, at: &[u32; 4]) -> Result<[u64; 4], String> {
        if !matches!(modifier, "F" | "S" | "U") && !loads_as(&self.format, modifier) {
            return Err(format!("{} is not loaded as {modifier}", self.format));
        }
        // Any format, if the load is one without a format (EXT_shader_image_load_formatted).
        if matches!(modifier, "F" | "S" | "U") {
            return Ok(self.sampled_place(at).map_or([0; 4], |place| self.levels[0][place].map(u64::from)));
        }
        let Some(place) = self.sampled_place(at) else { return Ok([0; 4]) };
        let words = words(&self.format, self.levels[0][place]);
        let count = modifier.split_once('X').map_or(1, |(_, count)| count.parse().unwrap_or(1));
        let one = if modifier.starts_with('F') { u64::from(1.0_f32.to_bits()) } else { 1 };
        let filled = [0, 0, 0, one];
        Ok(std::array::from_fn(|n| if n < count { words[n] } else { filled[n] }))
    }

    /// `STOREIM`, which converts; does nothing out of range.
    pub fn store(&mut self, texel: [u32; 4], at: &[u32; 4]) {
        if let Some(place) = self.sampled_place(at) {
            self.levels[0][place] = kept(&self.format, texel);
        }
    }

    /// The number of an image's texel, or of its sample, which is in `w`.
    fn sampled_place(&self, at: &[u32; 4]) -> Option<usize> {
        let place = self.place(at, 0, true)?;
        if self.samples < 2 { Some(place) } else { Some(place * self.samples + at[3] as usize) }
    }

    /// The texel that an atomic operates on.
    pub fn word(&mut self, at: &[u32; 4]) -> Option<&mut u32> {
        let place = self.sampled_place(at)?;
        Some(&mut self.levels[0][place][0])
    }

    /// `TXQ` and `IMQ`: cubes count their layers by six.
    pub fn query(&self, level: usize) -> Result<[u64; 4], String> {
        if level >= self.levels.len() {
            return Err("there is no such level".to_owned());
        }
        let [width, height, depth] = self.size_at(level);
        let depth = if self.target == "ARRAYCUBE" { depth / 6 } else { depth };
        Ok([width as u64, height as u64, depth as u64, self.levels.len() as u64])
    }
}

/// The components of a coordinate in one lane; a short vector repeats its last component.
pub fn in_lane(rows: &[Row], lane: usize) -> [u32; 4] {
    std::array::from_fn(|n| rows.get(n).or(rows.last()).map_or(0, |row| row[lane] as u32))
}
