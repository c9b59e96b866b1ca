//! The processors, and the facts about each that other files need.

/// A processor with the size of its waves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The number in its name, whose last digit is hexadecimal: 910 for gfx90a.
    pub version: u32,
    /// Lanes of a wave.
    pub wave: usize,
}

impl Target {
    pub fn new(name: &str, wave: usize) -> Result<Self, String> {
        let wrong = || format!("no processor {name}");
        let version = Self::version_of(name).ok_or_else(wrong)?;
        if wave != 64 && (wave != 32 || version < 1000) {
            return Err(format!("{name} has no waves of {wave} lanes"));
        }
        Ok(Self { version, wave })
    }

    /// The version in a processor's name.
    pub fn version_of(name: &str) -> Option<u32> {
        let digits = name.strip_prefix("gfx")?;
        let (all_but_last, last) = digits.split_at_checked(digits.len().checked_sub(1)?)?;
        Some(all_but_last.parse::<u32>().ok()? * 10 + last.chars().next()?.to_digit(16)?)
    }

    /// The processor's name.
    pub fn name(&self) -> String {
        match self.version {
            910..=915 => format!("gfx90{:x}", self.version - 900),
            version => format!("gfx{version}"),
        }
    }

    /// The lanes of a wave as a mask.
    pub fn all_lanes(&self) -> u64 {
        u64::MAX >> (64 - self.wave)
    }

    /// Number of scalar registers and literals that one vector instruction may read.
    pub fn scalar_reads(&self) -> usize {
        if self.version >= 1000 { 2 } else { 1 }
    }

    /// The first bit of the wave's number in TG_SIZE.
    pub fn wave_number_at(&self) -> u32 {
        if self.version >= 1030 { 20 } else { 6 }
    }

    /// Returns true if one register holds all three workitem ids, ten bits each.
    pub fn packs_ids(&self) -> bool {
        matches!(self.version, 910..=999 | 1100..)
    }

    /// Returns true if pairs and quads of vector registers must start at an even register.
    pub fn aligns_vectors(&self) -> bool {
        (910..1000).contains(&self.version)
    }

    /// Bytes per unit of a scalar load's offset.
    pub fn scalar_offset_unit(&self) -> i64 {
        if self.version < 800 { 4 } else { 1 }
    }

    /// Returns true if LDS accesses are checked against M0.
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

    /// Returns true if stores are counted separately from loads.
    pub fn counts_stores(&self) -> bool {
        self.version >= 1000
    }

    /// Returns true if a store's data may be overwritten only after a wait for `expcnt` (LLVM's
    /// vmemWriteNeedsExpWaitcnt).
    pub fn holds_store_data(&self) -> bool {
        self.version < 700
    }

    /// Returns true if the workgroup's coordinates are in trap temporaries instead of scalar registers.
    pub fn has_group_in_ttmp(&self) -> bool {
        self.version >= 1200
    }

    /// Returns true if 16-bit results leave the upper half of the register unchanged; older processors clear it.
    pub fn keeps_upper_half(&self) -> bool {
        self.version >= 1000
    }

    /// Number of lanes that DS_PERMUTE and DS_BPERMUTE can reach.
    pub fn permute_reach(&self) -> usize {
        if (1000..1200).contains(&self.version) { 32 } else { self.wave }
    }

    /// The smallest sum of user and system scalar registers (LLVM's FeatureUserSGPRInit16Bug).
    pub fn least_initial_scalars(&self) -> usize {
        if matches!(self.version, 1100 | 1102) && self.wave == 32 { 16 } else { 0 }
    }
}
