//! Memory instructions by name: which memory they access, what they do there, and which operand is which.

use super::super::inst::{Inst, Role, Unit, mask_registers};
use super::super::operand::{EXEC, FLAT_SCRATCH, M0, NULL, Reg};
use super::super::target::Target;
use super::atomic::Atomic;

/// The memory that an instruction accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    Scalar,
    ScalarBuffer,
    Global,
    Flat,
    Scratch,
    Buffer,
    Image,
    Lds,
}

/// The shape of a load or store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Bytes of an element.
    pub bytes: usize,
    /// Number of elements of four bytes, or one smaller element.
    pub count: usize,
    pub signed: bool,
    /// Only one half of the register takes part: the upper (true) or the lower (false).
    pub half: Option<bool>,
}

/// The choice of a level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    First,
    Given,
    /// By gradients.
    Computed,
}

/// A read through a sampler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// One component of four texels instead of a filtered value.
    pub gathers: bool,
    pub compares: bool,
    pub level: Level,
    pub has_offset: bool,
}

impl Sampling {
    /// Parses the suffixes of a name: `_c_lz_o`.
    fn named(gathers: bool, mut rest: &str) -> Option<Self> {
        let mut takes = |part: &str| {
            let left = rest.strip_prefix(part);
            rest = left.unwrap_or(rest);
            left.is_some()
        };
        let compares = takes("_c");
        let level = match () {
            () if takes("_lz") => Level::First,
            () if takes("_l") => Level::Given,
            () if !gathers && takes("_d") => Level::Computed,
            () => return None,
        };
        let has_offset = takes("_o");
        rest.is_empty().then_some(Self { gathers, compares, level, has_offset })
    }
}

/// The effect of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    Load(Shape),
    Store(Shape),
    /// Two elements, with offsets in units of this many bytes.
    LoadTwo {
        bytes: usize,
        unit: u64,
    },
    StoreTwo {
        bytes: usize,
        unit: u64,
    },
    Atomic {
        atomic: Atomic,
        returns: bool,
    },
    /// Of images, and of texel buffers.
    LoadTexel,
    /// With a level of detail in the last part of the address.
    LoadTexelLevel,
    StoreTexel,
    /// Width, height, depth or layers, and levels.
    ImageFacts,
    Sample(Sampling),
    Swizzle,
    Permute,
    Bpermute {
        fetch_inactive: bool,
    },
}

/// A memory instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    pub space: Space,
    pub deed: Deed,
    /// Numbers of operands: the result, the address in vector registers, data, and scalar operands.
    pub result: Option<usize>,
    pub address: Option<usize>,
    pub data: Vec<usize>,
    pub scalars: Vec<usize>,
}

/// Prefixes of names.
static SPACES: &[(&str, Space, u32, u32)] = &[
    ("s_buffer_load_", Space::ScalarBuffer, 600, 9999),
    ("s_load_", Space::Scalar, 600, 9999),
    ("global_", Space::Global, 900, 9999),
    ("flat_", Space::Flat, 700, 9999),
    ("scratch_", Space::Scratch, 900, 9999),
    ("buffer_", Space::Buffer, 600, 9999),
    ("ds_", Space::Lds, 600, 9999),
    // CDNA 3 has no image instructions; CDNA 2 has only some.
    ("image_", Space::Image, 600, 909),
    ("image_", Space::Image, 1000, 9999),
];

const fn shape(bytes: usize, count: usize, signed: bool, half: Option<bool>) -> Shape {
    Shape { bytes, count, signed, half }
}

/// The suffix after `load_` and `store_`, and the first and last version that has it.
static SHAPES: &[(&str, u32, u32, Shape)] = &[
    ("dword", 600, 9999, shape(4, 1, false, None)),
    ("dwordx2", 600, 9999, shape(4, 2, false, None)),
    ("dwordx3", 700, 9999, shape(4, 3, false, None)),
    ("dwordx4", 600, 9999, shape(4, 4, false, None)),
    ("dwordx8", 600, 9999, shape(4, 8, false, None)),
    ("dwordx16", 600, 9999, shape(4, 16, false, None)),
    ("ubyte", 600, 9999, shape(1, 1, false, None)),
    ("sbyte", 600, 9999, shape(1, 1, true, None)),
    ("ushort", 600, 9999, shape(2, 1, false, None)),
    ("sshort", 600, 9999, shape(2, 1, true, None)),
    ("byte", 600, 9999, shape(1, 1, false, None)),
    ("short", 600, 9999, shape(2, 1, false, None)),
    ("short_d16", 900, 9999, shape(2, 1, false, Some(false))),
    ("short_d16_hi", 900, 9999, shape(2, 1, false, Some(true))),
    ("ubyte_d16", 900, 9999, shape(1, 1, false, Some(false))),
    ("ubyte_d16_hi", 900, 9999, shape(1, 1, false, Some(true))),
    ("sbyte_d16", 900, 9999, shape(1, 1, true, Some(false))),
    ("sbyte_d16_hi", 900, 9999, shape(1, 1, true, Some(true))),
    ("byte_d16_hi", 900, 9999, shape(1, 1, false, Some(true))),
    ("b32", 1100, 9999, shape(4, 1, false, None)),
    ("b64", 1100, 9999, shape(4, 2, false, None)),
    ("b96", 1100, 9999, shape(4, 3, false, None)),
    ("b128", 1100, 9999, shape(4, 4, false, None)),
    ("b256", 1100, 9999, shape(4, 8, false, None)),
    ("b512", 1100, 9999, shape(4, 16, false, None)),
    ("u8", 1100, 9999, shape(1, 1, false, None)),
    ("i8", 1100, 9999, shape(1, 1, true, None)),
    ("u16", 1100, 9999, shape(2, 1, false, None)),
    ("i16", 1100, 9999, shape(2, 1, true, None)),
    ("b8", 1100, 9999, shape(1, 1, false, None)),
    ("b16", 1100, 9999, shape(2, 1, false, None)),
    ("d16_b16", 1100, 9999, shape(2, 1, false, Some(false))),
    ("d16_hi_b16", 1100, 9999, shape(2, 1, false, Some(true))),
    ("d16_u8", 1100, 9999, shape(1, 1, false, Some(false))),
    ("d16_hi_u8", 1100, 9999, shape(1, 1, false, Some(true))),
    ("d16_i8", 1100, 9999, shape(1, 1, true, Some(false))),
    ("d16_hi_i8", 1100, 9999, shape(1, 1, true, Some(true))),
    ("d16_hi_b8", 1100, 9999, shape(1, 1, false, Some(true))),
];

/// Shapes after `ds_read_`, `ds_load_`, `ds_write_` and `ds_store_`.
static LDS_SHAPES: &[(&str, u32, u32, Shape)] = &[
    ("b32", 600, 9999, shape(4, 1, false, None)),
    ("b64", 600, 9999, shape(4, 2, false, None)),
    ("b96", 700, 9999, shape(4, 3, false, None)),
    ("b128", 700, 9999, shape(4, 4, false, None)),
    ("u8", 600, 9999, shape(1, 1, false, None)),
    ("i8", 600, 9999, shape(1, 1, true, None)),
    ("u16", 600, 9999, shape(2, 1, false, None)),
    ("i16", 600, 9999, shape(2, 1, true, None)),
    ("b8", 600, 9999, shape(1, 1, false, None)),
    ("b16", 600, 9999, shape(2, 1, false, None)),
    ("u16_d16", 900, 9999, shape(2, 1, false, Some(false))),
    ("u16_d16_hi", 900, 9999, shape(2, 1, false, Some(true))),
    ("u8_d16", 900, 9999, shape(1, 1, false, Some(false))),
    ("u8_d16_hi", 900, 9999, shape(1, 1, false, Some(true))),
    ("b16_d16_hi", 900, 9999, shape(2, 1, false, Some(true))),
    ("b8_d16_hi", 900, 9999, shape(1, 1, false, Some(true))),
];

/// The number of components at the end of a texel buffer instruction's name: `load_format_xy`.
pub fn texel_components(name: &str, start: &str) -> Option<u32> {
    let (_, components) = name.split_once(start)?;
    "xyzw".starts_with(components).then(|| (1 << components.len()) - 1).filter(|bits| *bits > 0)
}

impl Access {
    pub fn read(inst: &Inst, target: &Target) -> Result<Self, String> {
        let unknown = || format!("{} has no such instruction", target.name());
        let find = |row: &&(&'static str, Space, u32, u32)| {
            inst.name.starts_with(row.0) && (row.2..=row.3).contains(&target.version)
        };
        let (prefix, space, ..) = *SPACES.iter().find(find).ok_or_else(unknown)?;
        let rest = &inst.name[prefix.len()..];
        let deed = match space {
            Space::Scalar | Space::ScalarBuffer => shaped(SHAPES, rest, target).map(Deed::Load),
            Space::Lds => lds_deed(rest, target),
            Space::Image => image_deed(inst, rest, target),
            Space::Buffer if texel_components(rest, "load_format_").is_some() => Some(Deed::LoadTexel),
            Space::Buffer if texel_components(rest, "store_format_").is_some() => Some(Deed::StoreTexel),
            _ => vector_deed(inst, rest, target),
        };
        let mut access = Access {
            space,
            deed: deed.ok_or_else(unknown)?,
            result: None,
            address: None,
            data: Vec::new(),
            scalars: Vec::new(),
        };
        access.number(inst)?;
        Ok(access)
    }

    /// Determines which operand is which.
    fn number(&mut self, inst: &Inst) -> Result<(), String> {
        let order = self.order();
        if order.len() != inst.args.len() {
            return Err(format!("{} operands expected, there are {}", order.len(), inst.args.len()));
        }
        for (n, part) in order.chars().enumerate() {
            match part {
                'r' => self.result = Some(n),
                'a' => self.address = Some(n),
                'd' => self.data.push(n),
                'b' => {
                    self.data.push(n);
                    self.result = Some(n);
                }
                _ => self.scalars.push(n),
            }
        }
        Ok(())
    }

    /// The operands in order: result, address, data, scalar; `b` is data that becomes the result.
    fn order(&self) -> &'static str {
        let returns = matches!(self.deed, Deed::Atomic { returns: true, .. });
        let two = matches!(self.deed, Deed::Atomic { atomic, .. } if atomic.operands() == 2);
        match (self.space, self.deed) {
            (Space::Scalar | Space::ScalarBuffer, _) => "rss",
            (Space::Lds, Deed::Swizzle) => "rd",
            (Space::Lds, Deed::Permute | Deed::Bpermute { .. }) => "rad",
            (Space::Lds, Deed::Load(_) | Deed::LoadTwo { .. }) => "ra",
            (Space::Lds, Deed::Store(_)) => "ad",
            (Space::Lds, Deed::StoreTwo { .. }) => "add",
            (Space::Lds, Deed::Atomic { .. }) => match (returns, two) {
                (true, true) => "radd",
                (true, false) => "rad",
                (false, true) => "add",
                (false, false) => "ad",
            },
            (Space::Flat, Deed::Load(_)) => "ra",
            (Space::Flat, Deed::Store(_)) => "ad",
            (Space::Flat, _) => {
                if returns {
                    "rad"
                } else {
                    "ad"
                }
            }
            (Space::Image, Deed::StoreTexel | Deed::Atomic { returns: false, .. }) => "das",
            (Space::Image, Deed::Atomic { .. }) => "bas",
            (Space::Image, Deed::Sample(_)) => "rass",
            (Space::Image, _) => "ras",
            (Space::Buffer, Deed::Load(_) | Deed::LoadTexel) => "rass",
            (Space::Buffer, Deed::Store(_) | Deed::StoreTexel) => "dass",
            (Space::Buffer, _) => {
                if returns {
                    "bass"
                } else {
                    "dass"
                }
            }
            (_, Deed::Load(_)) => "ras",
            (_, Deed::Store(_)) => "ads",
            _ => {
                if returns {
                    "rads"
                } else {
                    "ads"
                }
            }
        }
    }

    /// Returns true if it returns nothing.
    pub fn is_store(&self) -> bool {
        matches!(self.deed, Deed::Store(_) | Deed::StoreTwo { .. } | Deed::Atomic { returns: false, .. })
            || self.deed == Deed::StoreTexel
    }

    /// Returns true if it reads a texture through a sampler.
    pub fn takes_sampler(&self) -> bool {
        matches!(self.deed, Deed::Sample(_))
    }

    /// Returns true if it is on the LDS pipe without touching LDS.
    pub fn is_crossbar(&self) -> bool {
        matches!(self.deed, Deed::Swizzle | Deed::Permute | Deed::Bpermute { .. })
    }

    /// The registers that are read and written.
    pub fn registers(&self, inst: &Inst, target: &Target) -> (Vec<(Reg, Role)>, Vec<Reg>) {
        let (scalar_role, data_role) = match inst.unit {
            Unit::Smem => (Role::SmemScalar, Role::Plain),
            Unit::Vmem | Unit::Flat => (Role::VmemScalar, Role::StoreData),
            _ => (Role::Plain, Role::Plain),
        };
        let mut reads: Vec<(Reg, Role)> = Vec::new();
        let mut add = |n: &usize, role| reads.extend(inst.args[*n].registers().into_iter().map(|reg| (reg, role)));
        self.address.iter().for_each(|n| add(n, Role::Plain));
        self.data.iter().for_each(|n| add(n, if self.is_store() { data_role } else { Role::Plain }));
        for n in &self.scalars {
            let is_buffer = self.space == Space::ScalarBuffer && Some(n) == self.scalars.first();
            add(n, if is_buffer { Role::SmemBuffer } else { scalar_role });
        }
        let writes = self.result.map(|n| inst.args[n].registers()).unwrap_or_default();
        if let Deed::Load(Shape { half: Some(_), .. }) = self.deed {
            reads.extend(writes.iter().map(|reg| (*reg, Role::Plain)));
        }
        reads.retain(|(reg, _)| *reg != Reg::Scalar(NULL));
        reads.extend(self.implicit(inst, target));
        (reads, writes)
    }

    fn implicit(&self, inst: &Inst, target: &Target) -> Vec<(Reg, Role)> {
        let mut reads = Vec::new();
        if inst.unit != Unit::Smem {
            reads.extend(mask_registers(target).iter().map(|n| (Reg::Scalar(EXEC + n), Role::Plain)));
        }
        if self.space == Space::Lds && !self.is_crossbar() && target.bounds_lds_by_m0() {
            reads.push((Reg::Scalar(M0), Role::Plain));
        }
        if self.space == Space::Scratch && (900..940).contains(&target.version) {
            reads.extend([FLAT_SCRATCH, FLAT_SCRATCH + 1].map(|n| (Reg::Scalar(n), Role::VmemScalar)));
        }
        reads
    }
}

fn shaped(table: &[(&str, u32, u32, Shape)], name: &str, target: &Target) -> Option<Shape> {
    let fits = |row: &&(&str, u32, u32, Shape)| row.0 == name && (row.1..=row.2).contains(&target.version);
    table.iter().find(fits).map(|(.., shape)| *shape)
}

fn vector_deed(inst: &Inst, rest: &str, target: &Target) -> Option<Deed> {
    if let Some(name) = rest.strip_prefix("load_") {
        return shaped(SHAPES, name, target).map(Deed::Load);
    }
    if let Some(name) = rest.strip_prefix("store_") {
        return shaped(SHAPES, name, target).map(Deed::Store);
    }
    let atomic = Atomic::named(rest.strip_prefix("atomic_")?)?;
    let returns = match target.version {
        1200.. => inst.modifier("th").is_some_and(|th| th.contains("RETURN")),
        940..1000 => inst.modifier("sc0").is_some(),
        _ => inst.modifier("glc").is_some(),
    };
    Some(Deed::Atomic { atomic, returns })
}

fn image_deed(inst: &Inst, rest: &str, target: &Target) -> Option<Deed> {
    if let Some(end) = rest.strip_prefix("sample") {
        return Sampling::named(false, end).map(Deed::Sample);
    }
    if let Some(end) = rest.strip_prefix("gather4") {
        return Sampling::named(true, end).map(Deed::Sample);
    }
    Some(match rest {
        "load" => Deed::LoadTexel,
        "load_mip" => Deed::LoadTexelLevel,
        "store" => Deed::StoreTexel,
        "get_resinfo" => Deed::ImageFacts,
        _ => return vector_deed(inst, rest, target),
    })
}

fn lds_deed(rest: &str, target: &Target) -> Option<Deed> {
    let since = |least: u32, deed: Deed| (target.version >= least).then_some(deed);
    let deed = match rest {
        "swizzle_b32" => Some(Deed::Swizzle),
        "permute_b32" => return since(800, Deed::Permute),
        "bpermute_b32" => return since(800, Deed::Bpermute { fetch_inactive: false }),
        "bpermute_fi_b32" => return since(1200, Deed::Bpermute { fetch_inactive: true }),
        _ => None,
    };
    deed.or_else(|| lds_pair(rest)).or_else(|| lds_plain(rest, target))
}

/// `read2_b32`, `load_2addr_stride64_b64` and the like.
fn lds_pair(rest: &str) -> Option<Deed> {
    let bytes = if rest.ends_with("_b64") { 8 } else { 4 };
    let stem = rest.strip_suffix("_b64").or(rest.strip_suffix("_b32"))?;
    let unit = if stem.ends_with("64") { 64 * bytes as u64 } else { bytes as u64 };
    Some(match stem {
        "read2" | "load_2addr" | "read2st64" | "load_2addr_stride64" => Deed::LoadTwo { bytes, unit },
        "write2" | "store_2addr" | "write2st64" | "store_2addr_stride64" => Deed::StoreTwo { bytes, unit },
        _ => return None,
    })
}

fn lds_plain(rest: &str, target: &Target) -> Option<Deed> {
    let renamed = target.version >= 1100;
    let named = |old: &str, new: &str| rest.strip_prefix(old).or(rest.strip_prefix(new).filter(|_| renamed));
    if let Some(shape) = named("read_", "load_").and_then(|name| shaped(LDS_SHAPES, name, target)) {
        return Some(Deed::Load(shape));
    }
    if let Some(shape) = named("write_", "store_").and_then(|name| shaped(LDS_SHAPES, name, target)) {
        return Some(Deed::Store(shape));
    }
    let returns = rest.contains("_rtn_");
    let atomic = Atomic::named(&rest.replace("_rtn_", "_"))?;
    Some(Deed::Atomic { atomic, returns })
}
