//! An instruction on the interpreter and on the pseudo-code, with the same registers.

use super::operands::{Random, any, extremes};
use support::amd::single::{EXEC, Form, Kind, Place, SCC, Single, VCC};
use support::amd::target::Target;
use support::pcode::{Run, Sort, Texts, Value};

/// Lanes of the rows of operands.
const LANES: usize = 64;
/// The distance between successive pairs, coprime to the lists' lengths.
const STRIDE: usize = 1009;
/// Registers of the operands: a vector and a scalar register for each source, and the result.
const SOURCES: [usize; 3] = [0, 4, 8];
const SCALARS: [usize; 3] = [10, 12, 14];
const RESULT: usize = 16;
const SCALAR_RESULT: usize = 20;
const REGISTERS: usize = 20;

/// The operands and results of an instruction that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    pub sources: [u64; 3],
    pub kinds: [Option<Kind>; 3],
    pub exec: u64,
    pub lane: usize,
    pub ieee: bool,
    /// The part that differs.
    pub part: Part,
    pub kind: Kind,
    pub ours: u64,
    pub theirs: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Result,
    Mask,
    Exec,
    Scc,
    Source,
}

/// A processor's instruction with its text.
pub struct Subject<'t> {
    pub texts: &'t Texts,
    pub name: &'t str,
    /// The name that the texts have for it.
    pub text: &'t str,
    pub form: Form,
    pub target: Target,
}

/// The registers of one comparison.
struct Given {
    /// Operands for each lane; a scalar operand is the first lane's.
    sources: Vec<[u64; 3]>,
    old: Vec<u64>,
    exec: u64,
    vcc: u64,
    scc: bool,
    ieee: bool,
    /// The halves that mixed operands use, and whether an operand is half of a register.
    selects: [u64; 2],
}

impl Subject<'_> {
    /// All differences found in this number of rounds.
    pub fn differences(&self, rounds: usize) -> Result<Vec<Case>, String> {
        let mut random = Random::new(self.name);
        let values: Vec<Vec<u64>> = self.form.sources.iter().map(|kind| extremes(*kind)).collect();
        let mut found = Vec::new();
        for round in 0..rounds {
            let given = self.given(round, &values, &mut random);
            found.extend(if self.form.is_vector { self.vector(&given)? } else { self.scalar(&given)? });
        }
        Ok(found)
    }

    /// Alternately pairs of special operands and random ones.
    fn given(&self, round: usize, values: &[Vec<u64>], random: &mut Random) -> Given {
        let all = self.target.all_lanes();
        let mut source = |lane: usize| {
            let pair = (round / 2 * LANES + lane) * STRIDE;
            std::array::from_fn(|n| {
                let Some(kind) = self.form.sources.get(n) else { return 0 };
                let list = &values[n];
                match n {
                    0 if round.is_multiple_of(2) => list[pair % list.len()],
                    1 if round.is_multiple_of(2) => list[pair / values[0].len() % list.len()],
                    _ => any(*kind, list, random),
                }
            })
        };
        let sources: Vec<[u64; 3]> = (0..LANES).map(&mut source).collect();
        let exec = match round % 4 {
            0 | 1 => all,
            2 => random.next() & all,
            _ => [0, 1, 1 << (self.target.wave - 1), random.next() & random.next()][random.below(4)] & all,
        };
        Given {
            sources,
            old: (0..LANES).map(|_| random.next()).collect(),
            exec: if self.form.is_vector && !self.is_of_wave() && round < 40 { all } else { exec },
            vcc: random.next() & all,
            scc: random.next() & 1 == 1,
            ieee: self.form.has_mode && round / 2 % 2 == 1,
            selects: [random.next() & 7, random.next() & 7],
        }
    }

    /// Returns true if the text describes the wave rather than a lane.
    fn is_of_wave(&self) -> bool {
        self.texts.text(self.text).is_some_and(|text| text.contains("VGPR[") && !text.contains("VGPR[laneId]"))
    }

    fn is_scalar(&self, source: usize) -> bool {
        if source == 0 { self.form.first_is_scalar } else { self.form.others_are_scalar }
    }

    /// The instruction's text.
    fn text(&self, given: &Given) -> String {
        let mask = || if self.target.wave == 64 { "vcc" } else { "vcc_lo" }.to_owned();
        let register = |letter: char, first: usize, kind: Kind| match kind.registers() {
            1 => format!("{letter}{first}"),
            _ => format!("{letter}[{first}:{}]", first + 1),
        };
        let mut operands: Vec<String> = Vec::new();
        for place in &self.form.results {
            operands.push(match place {
                Place::Vector(kind) => register('v', RESULT, *kind),
                Place::Scalar(kind) => register('s', SCALAR_RESULT, *kind),
                Place::Mask => mask(),
            });
        }
        for (n, kind) in self.form.sources.iter().enumerate() {
            operands.push(match () {
                () if self.form.takes_mask && n == 2 => mask(),
                () if self.is_scalar(n) => register('s', SCALARS[n], *kind),
                () => register('v', SOURCES[n], *kind),
            });
        }
        let bits = |value: u64| format!("[{},{},{}]", value & 1, value >> 1 & 1, value >> 2 & 1);
        let modifiers = match self.mixes() {
            true => format!(" op_sel:{} op_sel_hi:{}", bits(given.selects[0]), bits(given.selects[1])),
            false => String::new(),
        };
        format!("{} {}{modifiers}", self.name, operands.join(", "))
    }

    fn mixes(&self) -> bool {
        self.name.starts_with("v_fma_mix")
    }

    /// The interpreter's registers after the instruction.
    fn ours(&self, given: &Given) -> Result<Single, String> {
        let mut single = Single::new(&self.text(given), self.target)?;
        for lane in 0..self.target.wave {
            for (n, value) in given.sources[lane].iter().enumerate() {
                single.set_vector(SOURCES[n], lane, *value as u32);
                single.set_vector(SOURCES[n] + 1, lane, (*value >> 32) as u32);
            }
            single.set_vector(RESULT, lane, given.old[lane] as u32);
            single.set_vector(RESULT + 1, lane, (given.old[lane] >> 32) as u32);
        }
        for (n, value) in given.sources[0].iter().enumerate() {
            single.set_scalars(SCALARS[n], 2, *value);
        }
        single.set_scalars(SCALAR_RESULT, 2, given.old[0]);
        single.set_scalars(VCC, 2, given.vcc);
        single.set_scalars(EXEC, 2, given.exec);
        single.set_scalars(SCC, 1, given.scc.into());
        single.run(given.ieee)?;
        Ok(single)
    }

    /// The pseudo-code with the state that all lanes share.
    fn theirs(&self, given: &Given) -> Result<Run<'_>, String> {
        let mut run = Run::new(self.texts, self.text)?;
        let of = |value: u64| Value::unsigned(value, 64);
        run.set_mode(given.ieee);
        run.set("WAVE32", Value::bool(self.target.wave == 32));
        run.set("wave32", Value::bool(self.target.wave == 32));
        run.set("WAVE64", Value::bool(self.target.wave == 64));
        run.set("EXEC", of(given.exec));
        run.set("EXEC_LO", Value::unsigned(given.exec & 0xffff_ffff, 32));
        run.set("VCC", of(given.vcc));
        run.set("SCC", Value::bool(given.scc));
        run.set("OPSEL", of(given.selects[0]));
        run.set("OPSEL_HI", of(given.selects[1]));
        run.set("SRC0", of(SOURCES[0] as u64));
        run.set("SRC1", of(SOURCES[1] as u64));
        run.set("VDST", of(RESULT as u64));
        Ok(run)
    }

    /// Gives a run the operands of a lane and the previous result.
    fn set_operands(&self, run: &mut Run<'_>, given: &Given, lane: usize) {
        let constant_at = match () {
            () if self.name.contains("fmamk") => 1,
            () if self.name.contains("fmaak") => 2,
            () => 3,
        };
        let mut names = ["S0", "S1", "S2"].into_iter();
        for (n, kind) in self.form.sources.iter().enumerate() {
            let from = if self.is_scalar(n) { 0 } else { lane };
            let value = Value::unsigned(given.sources[from][n], 32 * kind.registers() as u32);
            let name = if n == constant_at { Some("SIMM32") } else { names.next() };
            run.set(name.unwrap_or_default(), value);
        }
        run.set_array("S", given.sources[lane].iter().map(|bits| Value::unsigned(*bits, 32)).collect());
        run.set("laneId", Value::unsigned(lane as u64, 32));
        run.set("D1", Value::unsigned(0, 64));
        if let Some(kind) = self.form.sources.last() {
            let from = if self.form.others_are_scalar { 0 } else { lane };
            let constant = given.sources[from][self.form.sources.len() - 1];
            run.set("SIMM16", Value::unsigned(constant, 32 * kind.registers() as u32));
        }
        // V_DIV_SCALE leaves the operand unchanged where the text does not specify a value.
        let old = if self.scales() { given.sources[lane][0] } else { given.old[lane] };
        run.set("D0", Value::unsigned(old & self.result_bits(), self.result_width()));
    }

    fn scales(&self) -> bool {
        self.name.starts_with("v_div_scale")
    }

    fn result_width(&self) -> u32 {
        match self.form.results.first() {
            Some(Place::Vector(kind) | Place::Scalar(kind)) => 32 * kind.registers() as u32,
            _ => 64,
        }
    }

    fn result_bits(&self) -> u64 {
        u64::MAX >> (64 - self.result_width())
    }

    fn case(&self, given: &Given, lane: usize, part: Part, kind: Kind, ours: u64, theirs: u64) -> Case {
        let kinds = std::array::from_fn(|n| self.form.sources.get(n).copied());
        let from = |n: usize| if self.is_scalar(n) { 0 } else { lane };
        let sources = std::array::from_fn(|n| given.sources[from(n)][n]);
        Case { sources, kinds, exec: given.exec, lane, ieee: given.ieee, part, kind, ours, theirs }
    }

    fn vector(&self, given: &Given) -> Result<Vec<Case>, String> {
        let ours = self.ours(given)?;
        let mut run = self.theirs(given)?;
        if self.is_of_wave() {
            return self.wave(given, &ours, run);
        }
        let mut found = Vec::new();
        for lane in (0..self.target.wave).filter(|lane| given.exec >> lane & 1 == 1) {
            for (name, value) in [("VCC", given.vcc), ("EXEC", given.exec)] {
                run.set(name, Value::unsigned(value, 64));
            }
            self.set_operands(&mut run, given, lane);
            run.run()?;
            if self.scales() {
                run.written = self.result_bits().into();
            }
            found.extend(self.lane(given, &ours, &run, lane)?);
        }
        Ok(found)
    }

    /// The differences in a lane.
    fn lane(&self, given: &Given, ours: &Single, run: &Run<'_>, lane: usize) -> Result<Vec<Case>, String> {
        let mut found = Vec::new();
        for place in &self.form.results {
            if let Place::Vector(kind) = place {
                let written = run.written as u64;
                let first =
                    written.checked_ilog2().map(|_| written.trailing_zeros()).ok_or("the text gives no result")?;
                let theirs = run.get("D0").map_or(0, |value| (value.bits as u64 & written) >> first);
                let (bits, undefined) = whole_vector(ours, RESULT, lane, *kind);
                let (bits, kind) = ((bits & written) >> first, self.seen_as(*kind));
                if undefined & written != 0 || !alike(kind, self.has_halves(), bits, theirs) {
                    found.push(self.case(given, lane, Part::Result, kind, bits, theirs));
                }
            } else {
                found.extend(self.bit(given, ours, lane, Part::Mask, VCC, self.their_bit(run, lane)));
            }
        }
        if self.form.writes_exec {
            let theirs = run.get("EXEC").map_or(0, |value| (value.bits >> lane & 1) as u64);
            found.extend(self.bit(given, ours, lane, Part::Exec, EXEC, theirs));
        }
        if self.name == "v_swap_b32" {
            let theirs = run.get("S0").map_or(0, |value| value.bits as u64);
            let (bits, _) = whole_vector(ours, SOURCES[0], lane, Kind::Int32);
            found.extend((bits != theirs).then(|| self.case(given, lane, Part::Source, Kind::Int32, bits, theirs)));
        }
        Ok(found)
    }

    fn bit(&self, given: &Given, ours: &Single, lane: usize, part: Part, register: usize, theirs: u64) -> Option<Case> {
        let (bits, undefined) = ours.scalars(register, self.target.wave / 32);
        let bit = bits >> lane & 1;
        let differs = bit != theirs || undefined >> lane & 1 == 1;
        differs.then(|| self.case(given, lane, part, Kind::Int32, bit, theirs))
    }

    /// The lane's bit of a mask that a text writes: in its second result, in VCC, or in its only result.
    fn their_bit(&self, run: &Run<'_>, lane: usize) -> u64 {
        let (name, at) = match () {
            () if run.names("D1") => ("D1", 0),
            // Without an index it is the lane's bit.
            () if self.texts.text(self.text).is_some_and(|text| text.contains("VCC = ")) => ("VCC", 0),
            () if run.names("VCC") => ("VCC", lane),
            () => ("D0", lane),
        };
        run.get(name).map_or(0, |value| (value.bits >> at & 1) as u64)
    }

    /// The kind of a result for comparisons: moves and selections leave bits unchanged.
    fn seen_as(&self, kind: Kind) -> Kind {
        if self.name.starts_with("v_cndmask") { Kind::Int32 } else { kind }
    }

    /// Returns true if the result is two floats of 16 bits.
    fn has_halves(&self) -> bool {
        self.name.starts_with("v_pk_") && self.name.ends_with("f16") || self.name.contains("rtz_f16")
    }

    fn wave(&self, given: &Given, ours: &Single, mut run: Run<'_>) -> Result<Vec<Case>, String> {
        run.registers = vec![[0; LANES]; REGISTERS];
        for lane in 0..LANES {
            for (n, at) in SOURCES.into_iter().enumerate() {
                run.registers[at][lane] = given.sources[lane][n] as u32;
            }
            run.registers[RESULT][lane] = given.old[lane] as u32;
        }
        self.set_operands(&mut run, given, 0);
        run.run()?;
        let mut found = Vec::new();
        for lane in 0..self.target.wave {
            for (register, part) in [(RESULT, Part::Result), (SOURCES[0], Part::Source)] {
                let ((bits, undefined), theirs) = (ours.vector(register, lane), run.registers[register][lane]);
                if bits != theirs || undefined != 0 {
                    found.push(self.case(given, lane, part, Kind::Int32, bits.into(), theirs.into()));
                }
            }
        }
        if let [Place::Scalar(kind)] = self.form.results[..] {
            found.extend(self.scalar_result(given, ours, &run, kind));
        }
        Ok(found)
    }

    fn scalar_result(&self, given: &Given, ours: &Single, run: &Run<'_>, kind: Kind) -> Option<Case> {
        let (bits, undefined) = ours.scalars(SCALAR_RESULT, kind.registers());
        let theirs = run.get("D0").map_or(0, |value| value.bits as u64) & self.result_bits();
        let differs = undefined != 0 || !alike(kind, false, bits, theirs);
        differs.then(|| self.case(given, 0, Part::Result, kind, bits, theirs))
    }

    /// An instruction of the scalar unit, with the operands of each lane in turn.
    fn scalar(&self, given: &Given) -> Result<Vec<Case>, String> {
        let mut found = Vec::new();
        let mut run = self.theirs(given)?;
        for lane in 0..LANES {
            let one = Given { sources: vec![given.sources[lane]; LANES], old: vec![given.old[lane]; LANES], ..*given };
            let scc = given.scc ^ (lane % 2 == 1);
            let one = Given { scc, ..one };
            let ours = self.ours(&one)?;
            run.set("SCC", Value::bool(scc));
            run.set("EXEC", Value::unsigned(given.exec, self.target.wave as u32));
            self.set_operands(&mut run, &one, 0);
            run.run()?;
            found.extend(self.of_scalar(&one, &ours, &run));
        }
        Ok(found)
    }

    fn of_scalar(&self, given: &Given, ours: &Single, run: &Run<'_>) -> Vec<Case> {
        let mut found = Vec::new();
        if let [Place::Scalar(kind)] = self.form.results[..] {
            found.extend(self.scalar_result(given, ours, run, kind));
        }
        let theirs = run.get("SCC").map_or(given.scc.into(), |value| value.bits as u64);
        let (bits, undefined) = ours.scalars(SCC, 1);
        if bits != theirs || undefined != 0 {
            found.push(self.case(given, 0, Part::Scc, Kind::Int32, bits, theirs));
        }
        if self.form.writes_exec {
            let theirs = run.get("EXEC").map_or(0, |value| value.bits as u64);
            let (bits, _) = ours.scalars(EXEC, self.target.wave / 32);
            found.extend((bits != theirs).then(|| self.case(given, 0, Part::Exec, Kind::Int64, bits, theirs)));
        }
        found
    }
}

fn whole_vector(ours: &Single, register: usize, lane: usize, kind: Kind) -> (u64, u64) {
    let ((low, first), (high, second)) = (ours.vector(register, lane), ours.vector(register + 1, lane));
    let join = |low: u32, high: u32| u64::from(low) | if kind.registers() == 2 { u64::from(high) << 32 } else { 0 };
    (join(low, high), join(first, second))
}

/// The bits are equal, or both are NaNs: neither side specifies which NaN.
pub fn alike(kind: Kind, halves: bool, a: u64, b: u64) -> bool {
    if halves {
        return [0, 16].into_iter().all(|at| alike(Kind::Float16, false, a >> at & 0xffff, b >> at & 0xffff));
    }
    let is_nan = |bits: u64| kind.sign().is_some() && number(bits, kind).is_nan();
    a == b || is_nan(a) && is_nan(b)
}

/// The value of a float.
pub fn number(bits: u64, kind: Kind) -> f64 {
    let (width, bits) = match kind {
        Kind::Float16 => (16, bits & 0xffff),
        Kind::Float32 => (32, bits & 0xffff_ffff),
        _ => (64, bits),
    };
    Value::new(bits.into(), width, Sort::Float).number()
}
