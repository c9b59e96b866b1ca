//! The processors, and the facts about each that other files ask for.

/// The processors in the order in which instructions came and went; the number is the ISA's version, gfx90a's as 910.
static PROCESSORS: &[(&str, u32)] = &[
    ("gfx600", 600),
    ("gfx701", 701),
    ("gfx803", 803),
    ("gfx900", 900),
    ("gfx906", 906),
    ("gfx908", 908),
    ("gfx90a", 910),
    ("gfx942", 942),
    ("gfx950", 950),
    ("gfx1010", 1010),
    ("gfx1030", 1030),
    ("gfx1100", 1100),
    ("gfx1150", 1150),
    ("gfx1200", 1200),
    ("gfx1201", 1201),
];

/// A processor with the size of its waves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    pub name: &'static str,
    /// See [`PROCESSORS`].
    pub version: u32,
    /// Lanes of a wave.
    pub wave: usize,
}

impl Target {
    pub fn new(name: &str, wave: usize) -> Result<Self, String> {
        let row = PROCESSORS.iter().find(|(processor, _)| *processor == name);
        let (name, version) = *row.ok_or_else(|| format!("no processor {name}"))?;
        if wave != 64 && (wave != 32 || version < 1000) {
            return Err(format!("{name} has no waves of {wave} lanes"));
        }
        Ok(Self { name, version, wave })
    }

    /// The lanes of a wave as a mask.
    pub fn all_lanes(&self) -> u64 {
        u64::MAX >> (64 - self.wave)
    }

    /// How many scalar registers and literals one vector instruction may read.
    pub fn scalar_reads(&self) -> usize {
        if self.version >= 1000 { 2 } else { 1 }
    }

    /// Whether one register holds all three workitem ids, ten bits each.
    pub fn packs_ids(&self) -> bool {
        matches!(self.version, 910..=999 | 1100..)
    }

    /// Whether pairs and quads of vector registers begin at an even one.
    pub fn aligns_vectors(&self) -> bool {
        (910..1000).contains(&self.version)
    }

    /// Bytes that one step of a scalar load's offset stands for.
    pub fn scalar_offset_unit(&self) -> i64 {
        if self.version < 800 { 4 } else { 1 }
    }

    /// Whether LDS accesses are checked against M0.
    pub fn bounds_lds_by_m0(&self) -> bool {
        self.version < 900
    }

    /// Bytes of LDS that a workgroup can have.
    pub fn most_lds(&self) -> u32 {
        match self.version {
            ..700 => 32 << 10,
            950 => 160 << 10,
            _ => 64 << 10,
        }
    }

    /// Whether stores are counted apart from loads.
    pub fn counts_stores(&self) -> bool {
        self.version >= 1000
    }

    /// Whether a store's data may be overwritten only after a wait for `expcnt` (LLVM's vmemWriteNeedsExpWaitcnt).
    pub fn holds_store_data(&self) -> bool {
        self.version < 700
    }

    /// Whether the workgroup's place comes in trap temporaries instead of scalar registers.
    pub fn has_group_in_ttmp(&self) -> bool {
        self.version >= 1200
    }

    /// Whether 16-bit results leave the upper half of the register alone; older processors clear it.
    pub fn keeps_upper_half(&self) -> bool {
        self.version >= 1000
    }

    /// How many lanes DS_PERMUTE and DS_BPERMUTE reach over.
    pub fn permute_reach(&self) -> usize {
        if (1000..1200).contains(&self.version) { 32 } else { self.wave }
    }

    /// The least sum of user and system scalar registers (LLVM's FeatureUserSGPRInit16Bug).
    pub fn least_initial_scalars(&self) -> usize {
        if self.version == 1100 && self.wave == 32 { 16 } else { 0 }
    }
}
