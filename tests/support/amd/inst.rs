//! One line of assembly as an instruction: its operation, what it reads and what it writes.

use super::dpp::{Dpp, Sdwa};
use super::memory::access::Access;
use super::operand::{Arg, EXEC, Kind, M0, Operand, Reg, SCC, VCC};
use super::packed::{self, Function};
use super::scalar::{self, Scalar};
use super::table::{self, Plain};
use super::target::Target;

/// The part of the processor that runs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Vector,
    Scalar,
    /// Scalar memory.
    Smem,
    /// Buffer, global and scratch memory.
    Vmem,
    Flat,
    Lds,
    /// Branches.
    Branch,
    /// Other SOPP instructions: waits, barriers, no-operations.
    Control,
}

/// Why a register is read: some reads need wait states after some writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Plain,
    /// A vector instruction's scalar operand.
    Constant,
    /// Scalar registers with a bit for each lane.
    LaneMask,
    /// V_DIV_FMAS's VCC.
    Fmas,
    /// The operand that DPP moves.
    DppSource,
    /// EXEC, which determines the lanes that DPP can read.
    DppExec,
    /// The lane of V_READLANE and V_WRITELANE.
    LaneSelect,
    /// The vector register of V_READLANE and V_READFIRSTLANE.
    ReadLane,
    /// EXEC of instructions on single lanes.
    LaneExec,
    /// Either register of a row swap.
    Swap,
    SwapExec,
    VmemScalar,
    SmemScalar,
    /// The four registers of a buffer.
    SmemBuffer,
    MessageM0,
    /// Data of a store.
    StoreData,
    /// Overwritten without being read.
    Overwritten,
}

/// The operation.
#[derive(Clone)]
pub enum Code {
    Plain(Plain),
    /// Minima, maxima and medians of floats.
    Extreme {
        kind: Kind,
        steps: Vec<bool>,
        median: bool,
        ieee: bool,
    },
    Compare {
        test: &'static str,
        kind: Kind,
        exec: bool,
    },
    Class {
        kind: Kind,
        exec: bool,
    },
    Carry {
        subtract: bool,
        reversed: bool,
        takes: bool,
    },
    Select,
    DivScale(Kind),
    DivFmas(Kind),
    MadWide {
        signed: bool,
    },
    /// A function of the sources' halves, for each half of the result.
    Packed {
        kind: Kind,
        function: Function,
    },
    /// V_FMA_MIX: a fused multiply-add of floats, each of which may be half of a register; `half` of the result, if it
    /// is not a whole register.
    Mix {
        half: Option<bool>,
    },
    CountBelow {
        high: bool,
    },
    ReadLane,
    ReadFirstLane,
    WriteLane,
    Permlane16 {
        crosses: bool,
        by_lane: bool,
    },
    Permlane64,
    SwapRows {
        lanes: usize,
    },
    Swap,
    Scalar(Scalar),
    /// EXEC is saved and becomes a function of itself and the source.
    SaveExec {
        operation: &'static str,
        bits: usize,
    },
    Branch {
        when: &'static str,
    },
    Access(Access),
    /// Waits, barriers and the like, by name.
    Control,
    /// An instruction that cannot run, and why.
    Unknown(String),
}

/// An instruction.
#[derive(Clone)]
pub struct Inst {
    pub line: usize,
    pub text: String,
    /// Without the suffix of an encoding.
    pub name: String,
    pub unit: Unit,
    pub code: Code,
    pub args: Vec<Arg>,
    /// The modifiers after the operands: `row_shr:1`, `glc`; with the part after the colon.
    pub modifiers: Vec<(String, String)>,
    /// Everything after the mnemonic, as written.
    pub rest: String,
    /// How many of the operands are written.
    pub results: usize,
    /// The kinds of the other operands of vector and scalar instructions.
    pub kinds: Vec<Kind>,
    pub dpp: Option<Dpp>,
    pub sdwa: Option<Sdwa>,
    pub reads: Vec<(Reg, Role)>,
    pub writes: Vec<Reg>,
    /// The second half of a dual instruction, which reads before the first one writes.
    pub pair: Option<Box<Inst>>,
}

/// Suffixes that name an encoding.
const ENCODINGS: [&str; 8] = ["_e64_dpp8", "_e64_dpp", "_dpp8", "_dpp", "_e32", "_e64", "_sdwa", "_gfx11"];

impl Inst {
    /// Reads a line without its comment.
    pub fn read(line: usize, text: &str, target: &Target) -> Result<Self, String> {
        let Some((first, second)) = text.split_once("::") else { return Self::single(line, text, target) };
        if !(1100..9999).contains(&target.version) || target.wave != 32 {
            return Err(format!("{} has no two instructions in one here", target.name()));
        }
        let mut inst = Self::single(line, &half(first)?, target)?;
        inst.pair = Some(Box::new(Self::single(line, &half(second)?, target)?));
        inst.text = text.to_owned();
        Ok(inst)
    }

    /// A line that is not understood.
    pub fn unknown(line: usize, text: &str, why: String) -> Self {
        Inst { code: Code::Unknown(why), ..Self::blank(line, text, text) }
    }

    fn blank(line: usize, text: &str, mnemonic: &str) -> Self {
        let name = ENCODINGS.iter().find_map(|suffix| mnemonic.strip_suffix(suffix)).unwrap_or(mnemonic);
        Inst {
            line,
            text: text.to_owned(),
            name: name.to_owned(),
            unit: unit(name),
            code: Code::Control,
            args: Vec::new(),
            modifiers: Vec::new(),
            rest: String::new(),
            results: 0,
            kinds: Vec::new(),
            dpp: None,
            sdwa: None,
            reads: Vec::new(),
            writes: Vec::new(),
            pair: None,
        }
    }

    /// The instruction itself, and the second half if it is dual.
    pub fn halves(&self) -> impl Iterator<Item = &Inst> {
        std::iter::once(self).chain(self.pair.as_deref())
    }

    /// Reads an instruction that is not a pair.
    fn single(line: usize, text: &str, target: &Target) -> Result<Self, String> {
        let (mnemonic, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let mut inst = Inst { rest: rest.trim().to_owned(), ..Self::blank(line, text, mnemonic) };
        if inst.unit != Unit::Control {
            inst.operands()?;
        }
        inst.understand(target)?;
        inst.dpp = Dpp::read(&inst.modifiers, target)?;
        inst.sdwa = Sdwa::read(&inst.modifiers, target)?;
        inst.list(target)?;
        Ok(inst)
    }

    fn operands(&mut self) -> Result<(), String> {
        for piece in split(&self.rest, ',') {
            let mut words = split(&piece, ' ').into_iter().filter(|word| !word.is_empty());
            let first = words.next().ok_or("an operand is missing")?;
            self.args.push(Arg::read(&first)?);
            for word in words {
                let (key, value) = word.split_once(':').unwrap_or((&word, ""));
                self.modifiers.push((key.to_owned(), value.to_owned()));
            }
        }
        Ok(())
    }

    /// The text after a modifier's colon.
    pub fn modifier(&self, name: &str) -> Option<&str> {
        self.modifiers.iter().find(|(key, _)| key == name).map(|(_, value)| &value[..])
    }

    fn understand(&mut self, target: &Target) -> Result<(), String> {
        let unknown = || format!("{} has no such instruction", target.name());
        match self.unit {
            Unit::Vector => self.vector(target).ok_or_else(unknown),
            Unit::Scalar | Unit::Branch => self.scalar(target).ok_or_else(unknown),
            Unit::Control => control(&self.name, target).then_some(()).ok_or_else(unknown),
            Unit::Smem | Unit::Vmem | Unit::Flat | Unit::Lds => {
                let access = Access::read(self, target)?;
                self.code = Code::Access(access);
                Ok(())
            }
        }
    }

    fn set(&mut self, code: Code, results: usize, kinds: &[Kind]) {
        (self.code, self.results, self.kinds) = (code, results, kinds.to_vec());
    }

    fn vector(&mut self, target: &Target) -> Option<()> {
        let (name, version) = (self.name.clone(), target.version);
        if let Some(plain) = table::find(&name, version) {
            let written = plain.sources.len() - usize::from(plain.accumulates);
            let kinds = plain.sources[..written].to_vec();
            self.set(Code::Plain(plain), 1, &kinds);
        } else if let Some((kind, count, function)) = packed::find(&name, version) {
            self.set(Code::Packed { kind, function }, 1, &vec![kind; count]);
        } else if let Some(half) = packed::mix(&name, version) {
            self.set(Code::Mix { half }, 1, &[Kind::Float32; 3]);
        } else if let Some((code, kinds)) = extreme(&name, version) {
            self.set(code, 1, &kinds);
        } else if let Some((code, kinds)) = compare(&name, version) {
            let exec = matches!(code, Code::Compare { exec: true, .. } | Code::Class { exec: true, .. });
            let results = usize::from(!exec || version < 1000 || self.args.len() == 3);
            self.set(code, results, &kinds);
        } else {
            let (code, results, kinds) = special(&name, version)?;
            self.set(code, results, kinds);
        }
        (self.args.len() == self.results + self.kinds.len()).then_some(())
    }

    fn scalar(&mut self, target: &Target) -> Option<()> {
        let name = self.name.clone();
        if self.unit == Unit::Branch {
            let when = branch(&name)?;
            self.set(Code::Branch { when }, 0, &[]);
            return Some(());
        }
        if let Some((operation, bits)) = save_exec(&name, target) {
            let kind = if bits == 64 { Kind::Int64 } else { Kind::Int32 };
            self.set(Code::SaveExec { operation, bits }, 1, &[kind]);
            return Some(());
        }
        let scalar = scalar::find(&name, target.version)?;
        let first = usize::from(scalar.accumulates);
        let kinds = scalar.sources[first..].to_vec();
        let results = usize::from(scalar.result.is_some());
        self.set(Code::Scalar(scalar), results, &kinds);
        (self.args.len() == self.results + self.kinds.len()).then_some(())
    }

    /// Lists the registers that are read and written.
    fn list(&mut self, target: &Target) -> Result<(), String> {
        match self.unit {
            Unit::Vector => self.list_vector(target),
            Unit::Scalar => self.list_scalar(target),
            Unit::Branch => self.reads.extend(branch_reads(&self.code, target)),
            Unit::Control => {
                self.reads.extend((self.name == "s_sendmsg").then_some((Reg::Scalar(M0), Role::MessageM0)))
            }
            _ => {
                let Code::Access(access) = self.code.clone() else { return Err("no access".to_owned()) };
                (self.reads, self.writes) = access.registers(self, target);
            }
        }
        Ok(())
    }

    fn list_vector(&mut self, target: &Target) {
        let mask = mask_registers(target);
        for arg in &self.args[..self.results] {
            self.writes.extend(arg.registers());
        }
        for (n, arg) in self.args[self.results..].iter().enumerate() {
            let role = self.role(n);
            self.reads.extend(arg.registers().into_iter().map(|reg| match reg {
                Reg::Scalar(_) if role == Role::Plain => (reg, Role::Constant),
                _ => (reg, role),
            }));
        }
        match &self.code {
            Code::Plain(Plain { accumulates: true, .. }) | Code::WriteLane => {
                self.reads.extend(self.writes.iter().map(|reg| (*reg, Role::Plain)));
            }
            Code::DivFmas(_) => self.reads.extend(mask.iter().map(|n| (Reg::Scalar(VCC + n), Role::Fmas))),
            Code::Compare { exec: true, .. } | Code::Class { exec: true, .. } => {
                self.writes.extend(mask.iter().map(|n| Reg::Scalar(EXEC + n)));
            }
            Code::Swap => self.swap_both(Role::Plain),
            Code::SwapRows { .. } => self.swap_both(Role::Swap),
            _ => {}
        }
        let exec = match &self.code {
            Code::ReadLane | Code::WriteLane | Code::ReadFirstLane => Role::LaneExec,
            Code::SwapRows { .. } => Role::SwapExec,
            _ if self.dpp.is_some() => Role::DppExec,
            _ => Role::Plain,
        };
        self.reads.extend(mask.iter().map(|n| (Reg::Scalar(EXEC + n), exec)));
    }

    /// Both operands are read and written.
    fn swap_both(&mut self, role: Role) {
        let both: Vec<Reg> = self.args.iter().flat_map(Arg::registers).collect();
        self.reads.extend(both.iter().map(|reg| (*reg, role)));
        self.writes = both;
    }

    /// Why source `n` is read.
    fn role(&self, n: usize) -> Role {
        match (&self.code, n) {
            (Code::ReadLane | Code::ReadFirstLane, 0) => Role::ReadLane,
            (Code::ReadLane | Code::WriteLane, 1) => Role::LaneSelect,
            (Code::Select | Code::Carry { takes: true, .. }, 2) => Role::LaneMask,
            (_, 0) if self.dpp.is_some() => Role::DppSource,
            _ => Role::Plain,
        }
    }

    fn list_scalar(&mut self, target: &Target) {
        for (n, arg) in self.args.iter().enumerate() {
            if n < self.results {
                self.writes.extend(arg.registers());
            } else {
                self.reads.extend(arg.registers().into_iter().map(|reg| (reg, Role::Plain)));
            }
        }
        match &self.code {
            Code::Scalar(scalar) => {
                if scalar.accumulates {
                    self.reads.extend(self.writes.iter().map(|reg| (*reg, Role::Plain)));
                }
                self.reads.extend(scalar.reads_scc.then_some((Reg::Scalar(SCC), Role::Plain)));
                self.writes.extend(scalar.writes_scc.then_some(Reg::Scalar(SCC)));
            }
            Code::SaveExec { .. } => {
                let mask = mask_registers(target);
                self.reads.extend(mask.iter().map(|n| (Reg::Scalar(EXEC + n), Role::Plain)));
                self.writes.extend(mask.iter().map(|n| Reg::Scalar(EXEC + n)));
                self.writes.push(Reg::Scalar(SCC));
            }
            _ => {}
        }
    }

    /// Returns true for transcendental functions, which have their own pipeline.
    pub fn is_transcendental(&self) -> bool {
        let functions = ["v_rcp_", "v_rsq_", "v_sqrt_", "v_exp_", "v_log_", "v_sin_", "v_cos_"];
        functions.iter().any(|function| self.name.starts_with(function))
    }

    /// Returns true if a comparison writes EXEC.
    pub fn is_cmpx(&self) -> bool {
        self.name.starts_with("v_cmpx_")
    }
}

/// One half of a dual instruction, as it is written alone: a selection reads VCC.
fn half(text: &str) -> Result<String, String> {
    let text = text.trim();
    let rest = text.strip_prefix("v_dual_").ok_or("only v_dual_ instructions are pairs")?;
    let vcc = if rest.starts_with("cndmask_") && text.matches(',').count() == 2 { ", vcc_lo" } else { "" };
    Ok(format!("v_{rest}{vcc}"))
}

/// The registers of a mask of lanes, counted from its first.
pub fn mask_registers(target: &Target) -> &'static [usize] {
    if target.wave == 64 { &[0, 1] } else { &[0] }
}

/// Splits text at separators outside brackets and quotes.
fn split(text: &str, separator: char) -> Vec<String> {
    let (mut pieces, mut depth, mut quoted) = (vec![String::new()], 0, false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if c == separator && depth == 0 && !quoted {
            pieces.push(String::new());
        } else if let Some(piece) = pieces.last_mut() {
            piece.push(c);
        }
    }
    let pieces: Vec<String> = pieces.iter().map(|piece| piece.trim().to_owned()).collect();
    if pieces == [""] { Vec::new() } else { pieces }
}

/// Prefixes of names and their units; the first match counts.
static UNITS: &[(&str, Unit)] = &[
    ("v_", Unit::Vector),
    ("s_load_", Unit::Smem),
    ("s_buffer_load_", Unit::Smem),
    ("s_branch", Unit::Branch),
    ("s_cbranch_", Unit::Branch),
    ("ds_", Unit::Lds),
    ("flat_", Unit::Flat),
    ("global_load_", Unit::Vmem),
    ("global_store_", Unit::Vmem),
    ("global_atomic_", Unit::Vmem),
    ("scratch_", Unit::Vmem),
    ("buffer_load_", Unit::Vmem),
    ("buffer_store_", Unit::Vmem),
    ("buffer_atomic_", Unit::Vmem),
    ("image_", Unit::Vmem),
];

fn unit(name: &str) -> Unit {
    if control_row(name).is_some() {
        return Unit::Control;
    }
    UNITS.iter().find(|(prefix, _)| name.starts_with(prefix)).map_or(Unit::Scalar, |(_, unit)| *unit)
}

/// Instructions that neither compute nor touch memory, and the versions that have them.
static CONTROL: &[(&str, u32, u32)] = &[
    ("s_nop", 600, 9999),
    ("s_endpgm", 600, 9999),
    ("s_waitcnt", 600, 1199),
    ("s_waitcnt_vscnt", 1000, 1199),
    ("s_waitcnt_vmcnt", 1000, 1199),
    ("s_waitcnt_lgkmcnt", 1000, 1199),
    ("s_waitcnt_expcnt", 1000, 1199),
    ("s_waitcnt_depctr", 1000, 1199),
    ("s_wait_alu", 1200, 9999),
    ("s_wait_loadcnt", 1200, 9999),
    ("s_wait_storecnt", 1200, 9999),
    ("s_wait_samplecnt", 1200, 9999),
    ("s_wait_bvhcnt", 1200, 9999),
    ("s_wait_expcnt", 1200, 9999),
    ("s_wait_dscnt", 1200, 9999),
    ("s_wait_kmcnt", 1200, 9999),
    ("s_wait_loadcnt_dscnt", 1200, 9999),
    ("s_wait_storecnt_dscnt", 1200, 9999),
    ("s_wait_idle", 1000, 9999),
    ("s_barrier", 600, 1199),
    ("s_barrier_signal", 1200, 9999),
    ("s_barrier_wait", 1200, 9999),
    ("s_delay_alu", 1100, 9999),
    ("s_clause", 1000, 9999),
    ("s_sleep", 600, 9999),
    ("s_setprio", 600, 9999),
    ("s_code_end", 1000, 9999),
    ("s_inst_prefetch", 1030, 1099),
    ("s_set_inst_prefetch_distance", 1100, 1199),
    ("s_sendmsg", 600, 9999),
    ("s_dcache_inv", 600, 9999),
    ("s_dcache_wb", 800, 1099),
    ("s_icache_inv", 600, 9999),
    ("buffer_wbinvl1", 600, 999),
    ("buffer_wbinvl1_vol", 700, 999),
    ("buffer_wbinvl1_sc", 600, 699),
    ("buffer_inv", 940, 999),
    ("buffer_wbl2", 910, 999),
    ("buffer_invl2", 910, 939),
    ("buffer_gl0_inv", 1000, 1199),
    ("buffer_gl1_inv", 1000, 1199),
    ("global_inv", 1200, 9999),
    ("global_wb", 1200, 9999),
    ("global_wbinv", 1200, 9999),
    ("v_nop", 600, 9999),
];

fn control_row(name: &str) -> Option<&'static (&'static str, u32, u32)> {
    CONTROL.iter().find(|(own, ..)| *own == name)
}

fn control(name: &str, target: &Target) -> bool {
    control_row(name).is_some_and(|(_, since, until)| (*since..=*until).contains(&target.version))
}

const CONDITIONS: [&str; 6] = ["scc0", "scc1", "vccz", "vccnz", "execz", "execnz"];

/// The condition for a branch.
fn branch(name: &str) -> Option<&'static str> {
    if name == "s_branch" {
        return Some("");
    }
    let condition = name.strip_prefix("s_cbranch_")?;
    CONDITIONS.into_iter().find(|when| *when == condition)
}

fn branch_reads(code: &Code, target: &Target) -> Vec<(Reg, Role)> {
    let Code::Branch { when } = code else { return Vec::new() };
    let mask = |first: usize| mask_registers(target).iter().map(|n| (Reg::Scalar(first + n), Role::Plain)).collect();
    match *when {
        "scc0" | "scc1" => vec![(Reg::Scalar(SCC), Role::Plain)],
        "vccz" | "vccnz" => mask(VCC),
        "execz" | "execnz" => mask(EXEC),
        _ => Vec::new(),
    }
}

const SAVES: [&str; 12] =
    ["and", "or", "xor", "andn2", "orn2", "nand", "nor", "xnor", "andn1", "orn1", "and_not1", "or_not1"];

/// `s_or_saveexec_b64`: the operation and the bits.
fn save_exec(name: &str, target: &Target) -> Option<(&'static str, usize)> {
    let (operation, bits) = name.strip_prefix("s_")?.split_once("_saveexec_b")?;
    let bits = bits.parse().ok().filter(|bits| *bits == 64 || *bits == 32 && target.version >= 1000)?;
    SAVES.into_iter().find(|own| *own == operation).map(|operation| (operation, bits))
}

/// The kind that a suffix names.
fn kind_of(suffix: &str) -> Option<Kind> {
    Some(match suffix {
        "f16" => Kind::Float16,
        "f32" => Kind::Float32,
        "f64" => Kind::Float64,
        "i16" | "u16" => Kind::Int16,
        "i32" | "u32" => Kind::Int32,
        "i64" | "u64" => Kind::Int64,
        _ => return None,
    })
}

/// Minima and maxima of floats: the name, the first version, and which steps are maxima; no steps for a median.
static EXTREMES: [(&str, u32, &[bool]); 14] = [
    ("min", 600, &[false]),
    ("max", 600, &[true]),
    ("min_num", 1200, &[false]),
    ("max_num", 1200, &[true]),
    ("min3", 600, &[false, false]),
    ("min3_num", 1200, &[false, false]),
    ("max3", 600, &[true, true]),
    ("max3_num", 1200, &[true, true]),
    ("maxmin", 1100, &[true, false]),
    ("maxmin_num", 1200, &[true, false]),
    ("minmax", 1100, &[false, true]),
    ("minmax_num", 1200, &[false, true]),
    ("med3", 600, &[]),
    ("med3_num", 1200, &[]),
];

/// The instructions of gfx12 do not depend on the IEEE mode.
fn extreme(name: &str, version: u32) -> Option<(Code, Vec<Kind>)> {
    let (stem, suffix) = name.strip_prefix("v_")?.rsplit_once('_')?;
    let kind = kind_of(suffix).filter(|kind| kind.sign().is_some())?;
    let (_, since, steps) = *EXTREMES.iter().find(|(own, ..)| *own == stem)?;
    let is_none = kind == Kind::Float16 && version < 800 || kind == Kind::Float64 && steps.len() != 1;
    if version < since || is_none {
        return None;
    }
    let count = if steps.len() == 1 { 2 } else { 3 };
    let code = Code::Extreme { kind, steps: steps.to_vec(), median: steps.is_empty(), ieee: version < 1200 };
    Some((code, vec![kind; count]))
}

const TESTS: [&str; 18] =
    ["f", "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "ne", "t", "tru"];

/// `v_cmp_lt_u32` and `v_cmpx_class_f32`.
fn compare(name: &str, version: u32) -> Option<(Code, Vec<Kind>)> {
    let (exec, rest) = match name.strip_prefix("v_cmpx_") {
        Some(rest) => (true, rest),
        None => (false, name.strip_prefix("v_cmp_")?),
    };
    let (test, suffix) = rest.rsplit_once('_')?;
    let kind = kind_of(suffix)?;
    if kind.is_short() && version < 800 || !has_test(test, kind, version) {
        return None;
    }
    if test == "class" {
        return Some((Code::Class { kind, exec }, vec![kind, Kind::Int32]));
    }
    let test = TESTS.into_iter().find(|own| *own == test)?;
    // The name of an unsigned comparison keeps its suffix, since the kind does not tell signedness.
    let test = if suffix.starts_with('u') { unsigned(test)? } else { test };
    Some((Code::Compare { test, kind, exec }, vec![kind; 2]))
}

/// Returns true if such a comparison exists for a kind. Comparisons that are always true or always false were removed
/// in different versions.
fn has_test(test: &str, kind: Kind, version: u32) -> bool {
    let (is_float, is_constant) = (kind.sign().is_some(), ["f", "t", "tru"].contains(&test));
    let named = match is_float {
        true => test != "ne" && test != if version < 1100 { "t" } else { "tru" },
        false => ["f", "lt", "eq", "le", "gt", "ne", "ge", "t"].contains(&test),
    };
    named && !(is_constant && (version >= 1200 || kind == Kind::Int16 && version >= 1000))
}

fn unsigned(test: &'static str) -> Option<&'static str> {
    Some(match test {
        "lt" => "ult",
        "le" => "ule",
        "gt" => "ugt",
        "ge" => "uge",
        "f" | "eq" | "ne" | "t" => test,
        _ => return None,
    })
}

const I: Kind = Kind::Int32;

/// Instructions that do more than compute one result from their own lane: the name, the first and last version, the
/// number of results in the text, and the sources.
type Special = (&'static str, u32, u32, Code, usize, &'static [Kind]);

static SPECIAL: &[Special] = {
    use Kind::{Float32 as F, Float64 as D, Int16 as S, Int64 as Q};
    &[
        ("v_cndmask_b32", 600, 9999, Code::Select, 1, &[F, F, Q]),
        ("v_cndmask_b16", 1100, 9999, Code::Select, 1, &[S, S, Q]),
        ("v_div_scale_f32", 600, 9999, Code::DivScale(F), 2, &[F; 3]),
        ("v_div_scale_f64", 600, 9999, Code::DivScale(D), 2, &[D; 3]),
        ("v_div_fmas_f32", 600, 9999, Code::DivFmas(F), 1, &[F; 3]),
        ("v_div_fmas_f64", 600, 9999, Code::DivFmas(D), 1, &[D; 3]),
        ("v_mad_u64_u32", 700, 9999, Code::MadWide { signed: false }, 2, &[I, I, Q]),
        ("v_mad_i64_i32", 700, 9999, Code::MadWide { signed: true }, 2, &[I, I, Q]),
        ("v_mad_co_u64_u32", 700, 9999, Code::MadWide { signed: false }, 2, &[I, I, Q]),
        ("v_mad_co_i64_i32", 700, 9999, Code::MadWide { signed: true }, 2, &[I, I, Q]),
        ("v_mbcnt_lo_u32_b32", 600, 9999, Code::CountBelow { high: false }, 1, &[I, I]),
        ("v_mbcnt_hi_u32_b32", 600, 9999, Code::CountBelow { high: true }, 1, &[I, I]),
        ("v_readlane_b32", 600, 9999, Code::ReadLane, 1, &[I, I]),
        ("v_readfirstlane_b32", 600, 9999, Code::ReadFirstLane, 1, &[I]),
        ("v_writelane_b32", 600, 9999, Code::WriteLane, 1, &[I, I]),
        ("v_permlane16_b32", 1000, 9999, Code::Permlane16 { crosses: false, by_lane: false }, 1, &[I; 3]),
        ("v_permlanex16_b32", 1000, 9999, Code::Permlane16 { crosses: true, by_lane: false }, 1, &[I; 3]),
        ("v_permlane16_var_b32", 1200, 9999, Code::Permlane16 { crosses: false, by_lane: true }, 1, &[I, I]),
        ("v_permlanex16_var_b32", 1200, 9999, Code::Permlane16 { crosses: true, by_lane: true }, 1, &[I, I]),
        ("v_permlane64_b32", 1100, 9999, Code::Permlane64, 1, &[I]),
        ("v_permlane16_swap_b32", 950, 950, Code::SwapRows { lanes: 16 }, 1, &[I]),
        ("v_permlane32_swap_b32", 950, 950, Code::SwapRows { lanes: 32 }, 1, &[I]),
        ("v_swap_b32", 900, 9999, Code::Swap, 1, &[I]),
    ]
};

fn special(name: &str, version: u32) -> Option<(Code, usize, &'static [Kind])> {
    if let Some((code, takes)) = carry(name, version) {
        return Some((code, 2, if takes { &[I, I, Kind::Int64] } else { &[I, I] }));
    }
    let fits = |row: &&Special| row.0 == name && (row.1..=row.2).contains(&version);
    SPECIAL.iter().find(fits).map(|(_, _, _, code, results, kinds)| (code.clone(), *results, *kinds))
}

/// The names of the computing instructions in this file.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = SPECIAL.iter().map(|row| row.0.to_owned()).collect();
    names.extend(CARRIES.iter().map(|row| row.0.to_owned()));
    let typed = |stems: &[&str], kinds: &[&str]| -> Vec<String> {
        stems.iter().flat_map(|stem| kinds.iter().map(move |kind| format!("{stem}_{kind}"))).collect()
    };
    let minima: Vec<String> = EXTREMES.iter().map(|(stem, ..)| format!("v_{stem}")).collect();
    names.extend(typed(&minima.iter().map(String::as_str).collect::<Vec<_>>(), &FLOATS));
    for prefix in ["v_cmp", "v_cmpx"] {
        let tests: Vec<String> = TESTS.iter().chain(&["class"]).map(|test| format!("{prefix}_{test}")).collect();
        names.extend(typed(&tests.iter().map(String::as_str).collect::<Vec<_>>(), &[&FLOATS[..], &INTEGERS].concat()));
    }
    let saves: Vec<String> = SAVES.iter().map(|operation| format!("s_{operation}_saveexec")).collect();
    names.extend(typed(&saves.iter().map(String::as_str).collect::<Vec<_>>(), &["b32", "b64"]));
    names
}

/// The names of the instructions that do not compute: waits, barriers, branches and the like.
pub fn control_names() -> Vec<String> {
    let branches = CONDITIONS.iter().map(|condition| format!("s_cbranch_{condition}"));
    CONTROL.iter().map(|row| row.0.to_owned()).chain(branches).chain(["s_branch".to_owned()]).collect()
}

const FLOATS: [&str; 3] = ["f16", "f32", "f64"];
const INTEGERS: [&str; 6] = ["i16", "u16", "i32", "u32", "i64", "u64"];

/// Additions and subtractions with a carry: the name, the versions, and whether a carry is taken.
static CARRIES: &[(&str, u32, u32, bool)] = &[
    ("v_add_i32", 600, 799, false),
    ("v_sub_i32", 600, 799, false),
    ("v_subrev_i32", 600, 799, false),
    ("v_add_u32", 800, 899, false),
    ("v_sub_u32", 800, 899, false),
    ("v_subrev_u32", 800, 899, false),
    ("v_addc_u32", 600, 899, true),
    ("v_subb_u32", 600, 899, true),
    ("v_subbrev_u32", 600, 899, true),
    ("v_add_co_u32", 900, 9999, false),
    ("v_sub_co_u32", 900, 9999, false),
    ("v_subrev_co_u32", 900, 9999, false),
    ("v_addc_co_u32", 900, 999, true),
    ("v_subb_co_u32", 900, 999, true),
    ("v_subbrev_co_u32", 900, 999, true),
    ("v_add_co_ci_u32", 1000, 9999, true),
    ("v_sub_co_ci_u32", 1000, 9999, true),
    ("v_subrev_co_ci_u32", 1000, 9999, true),
];

fn carry(name: &str, version: u32) -> Option<(Code, bool)> {
    let fits = |row: &&(&str, u32, u32, bool)| row.0 == name && (row.1..=row.2).contains(&version);
    let (_, _, _, takes) = *CARRIES.iter().find(fits)?;
    let code = Code::Carry { subtract: name.starts_with("v_sub"), reversed: name.contains("rev"), takes };
    Some((code, takes))
}

/// The number of distinct scalar registers and literals that a vector instruction reads through the constant bus.
pub fn constant_reads(inst: &Inst) -> usize {
    let mut seen: Vec<&Operand> = Vec::new();
    for (n, arg) in inst.args[inst.results..].iter().enumerate() {
        let reads = match arg.operand {
            Operand::Scalar { first, .. } => first != super::operand::NULL,
            _ => arg.is_literal(inst.kinds[n]),
        };
        if reads && !seen.contains(&&arg.operand) {
            seen.push(&arg.operand);
        }
    }
    let vcc = inst.reads.iter().any(|(_, role)| *role == Role::Fmas);
    let named = seen.iter().any(|operand| matches!(operand, Operand::Scalar { first: VCC, .. }));
    seen.len() + usize::from(vcc && !named)
}
