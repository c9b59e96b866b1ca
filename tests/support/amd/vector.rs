//! The vector unit: fetches operands with their modifiers, applies an instruction in each active lane, writes the
//! results.

use super::dpp::Moved;
use super::float;
use super::inst::{Code, Inst};
use super::lanes;
use super::operand::{Arg, EXEC, Kind, Operand};
use super::packed;
use super::state::{LANES, Row, State, Value};
use super::table::Plain;

/// Runs a vector instruction; `ieee` is the mode of minima and maxima.
pub fn run(state: &mut State, inst: &Inst, ieee: bool) -> Result<(), String> {
    match &inst.code {
        Code::ReadLane | Code::ReadFirstLane | Code::WriteLane | Code::Permlane16 { .. } | Code::Permlane64 => {
            lanes::run(state, inst)
        }
        Code::SwapRows { .. } | Code::Swap => lanes::swap(state, inst),
        Code::Packed { .. } => {
            let vector = Vector { sources: Vec::new(), mask: state.exec(), exec: state.exec(), inst, state };
            vector.packed(ieee)
        }
        _ => Vector::fetch(state, inst)?.run(ieee),
    }
}

/// Runs a dual instruction: the second half does not see the first one's result.
pub fn run_pair(state: &mut State, first: &Inst, second: &Inst, ieee: bool) -> Result<(), String> {
    let result = first.args[0].vector()?;
    if second.args[0].vector()? % 2 == result % 2 {
        return Err("the results of a pair are an even and an odd register".to_owned());
    }
    let (before, all) = (state.register(result), state.target.all_lanes());
    run(state, first, ieee)?;
    let after = state.register(result);
    state.set_row(result, 1, &before, all);
    run(state, second, ieee)?;
    state.set_row(result, 1, &after, all);
    Ok(())
}

/// An instruction with its operands.
struct Vector<'s> {
    state: &'s mut State,
    inst: &'s Inst,
    sources: Vec<Row>,
    /// Lanes in which the result is written: active and not disabled by DPP.
    mask: u64,
    /// The lanes that are active.
    exec: u64,
}

impl<'s> Vector<'s> {
    fn fetch(state: &'s mut State, inst: &'s Inst) -> Result<Self, String> {
        let exec = state.exec();
        let mut vector = Self { state, inst, sources: Vec::new(), mask: exec, exec };
        for n in 0..inst.kinds.len() {
            let row = vector.source(n)?;
            vector.sources.push(row);
        }
        Ok(vector)
    }

    fn arg(&self, n: usize) -> &'s Arg {
        &self.inst.args[self.inst.results + n]
    }

    /// Source `n` of every lane, with its modifiers applied.
    fn source(&mut self, n: usize) -> Result<Row, String> {
        let (arg, kind) = (self.arg(n), self.inst.kinds[n]);
        let is_mask = matches!((&self.inst.code, n), (Code::Select | Code::Carry { takes: true, .. }, 2));
        if is_mask {
            return self.lane_bits(arg);
        }
        if let Code::Mix { .. } = self.inst.code {
            return self.mixed_source(n);
        }
        let mut row = self.state.row(arg, kind)?;
        if n == 0 && self.inst.dpp.is_some() {
            row = self.moved(&row);
        }
        if kind.is_short() && self.is_high(n, arg) {
            row.iter_mut().for_each(|value| *value = upper_half(*value));
        }
        if let Some(sdwa) = self.inst.sdwa.filter(|_| n < 2) {
            let part = sdwa.sources[n];
            row.iter_mut().for_each(|value| *value = part_of(*value, |word| part.of(word, arg.sext)));
        }
        if arg.neg || arg.abs {
            let sign = kind.sign().ok_or("only floats have a sign to change")?;
            row.iter_mut().for_each(|value| value.bits = changed_sign(value.bits, sign, arg));
        }
        if kind.is_short() {
            row.iter_mut()
                .for_each(|value| *value = Value { bits: value.bits & 0xffff, undefined: value.undefined & 0xffff });
        }
        Ok(row)
    }

    /// A mask operand as one bit for each lane.
    fn lane_bits(&self, arg: &Arg) -> Result<Row, String> {
        let mask = match arg.scalar() {
            Ok(first) => self.state.mask(first),
            Err(_) => self.state.uniform(arg, Kind::Int64)?,
        };
        let bit = |lane: usize| Value { bits: mask.bits >> lane & 1, undefined: mask.undefined >> lane & 1 };
        Ok(std::array::from_fn(bit))
    }

    /// A row after DPP moved it; removes lanes from the mask that are not written.
    fn moved(&mut self, row: &Row) -> Row {
        let mut moved = *row;
        let Some(dpp) = self.inst.dpp else { return moved };
        for lane in (0..self.state.target.wave).filter(|lane| self.exec >> lane & 1 == 1) {
            match dpp.source(lane, self.exec) {
                Moved::From(from) if from < self.state.target.wave => moved[lane] = row[from],
                Moved::Zero => moved[lane] = Value::of(0),
                _ => self.mask &= !(1 << lane),
            }
            if !dpp.writes(lane) {
                self.mask &= !(1 << lane);
            }
        }
        moved
    }

    /// Returns true if a 16-bit operand is in the upper half.
    fn is_high(&self, n: usize, arg: &Arg) -> bool {
        arg.half == Some(true) || selects_upper(self.inst, n)
    }

    fn run(mut self, ieee: bool) -> Result<(), String> {
        let inst = self.inst;
        match &inst.code {
            Code::Plain(plain) => self.plain(plain),
            Code::Extreme { kind, steps, median, ieee: has_mode } => {
                let ieee = ieee && *has_mode;
                let apply = |sources: [u64; 3]| extreme(sources, *kind, steps, *median, ieee);
                let row = self.each(&apply, None);
                self.write(&row, *kind)
            }
            Code::Compare { test, kind, exec } => self.compare(*exec, |a, b| compare(test, *kind, a, b)),
            Code::Class { kind, exec } => self.compare(*exec, |a, mask| float::is_of_class(a, mask, *kind)),
            Code::Carry { subtract, reversed, .. } => self.carry(*subtract, *reversed),
            Code::Select => self.select(),
            Code::Mix { half } => self.mix(*half),
            Code::DivScale(kind) => self.div_scale(*kind),
            Code::DivFmas(kind) => self.div_fmas(*kind),
            Code::MadWide { signed } => self.mad_wide(*signed),
            Code::CountBelow { high } => self.count_below(*high),
            _ => Err("the vector unit does not do this".to_owned()),
        }
    }

    fn lanes(&self, mask: u64) -> impl Iterator<Item = usize> + use<> {
        (0..self.state.target.wave).filter(move |lane| mask >> lane & 1 == 1)
    }

    /// The sources of a lane; missing ones are zero.
    fn of_lane(&self, lane: usize) -> [Value; 3] {
        let mut values = [Value::default(); 3];
        values.iter_mut().zip(&self.sources).for_each(|(value, row)| *value = row[lane]);
        values
    }

    /// Applies a function to the sources in each lane that is written. An undefined source makes the whole result
    /// undefined, except for bitwise functions, which are evaluated with both values of the undefined bits.
    fn each(&self, apply: &impl Fn([u64; 3]) -> u64, bitwise: Option<u64>) -> Row {
        let mut row = [Value::default(); LANES];
        for lane in self.lanes(self.mask) {
            let values = self.of_lane(lane);
            let bits = apply(values.map(|value| value.bits));
            let is_defined = values.iter().all(|value| value.undefined == 0);
            let undefined = match bitwise {
                _ if is_defined => 0,
                Some(all) => {
                    let set = apply(values.map(|value| value.bits | value.undefined));
                    (set ^ apply(values.map(|value| value.bits & !value.undefined))) & all
                }
                None => u64::MAX,
            };
            row[lane] = Value { bits, undefined };
        }
        row
    }

    fn plain(&mut self, plain: &Plain) -> Result<(), String> {
        if plain.accumulates {
            let kind = plain.sources[plain.sources.len() - 1];
            let old = self.state.row(&self.inst.args[0], kind)?;
            self.sources.push(old);
        }
        let row = self.each(&plain.apply, plain.is_bitwise.then_some(u64::MAX));
        self.write(&row, plain.result)
    }

    /// One half of a packed instruction's source in every lane, for the half `upper` of the result.
    fn packed_source(&self, n: usize, upper: bool, kind: Kind) -> Result<Row, String> {
        let arg = self.arg(n);
        let (select, sign) = if upper { ("op_sel_hi", "neg_hi") } else { ("op_sel", "neg_lo") };
        let is_high = packed::flag(self.inst, select, n, upper);
        if is_high && !matches!(arg.operand, Operand::Vector { .. } | Operand::Scalar { .. }) {
            return Err("the upper half of a constant differs between processors".to_owned());
        }
        if arg.neg || arg.abs {
            return Err("packed sources have neg_lo and neg_hi".to_owned());
        }
        let neg = packed::flag(self.inst, sign, n, false);
        if neg && kind.sign().is_none() {
            return Err("only floats have a sign to change".to_owned());
        }
        let mut row = self.state.row(arg, kind)?;
        for value in &mut row {
            let half = if is_high { upper_half(*value) } else { *value };
            *value = Value {
                bits: (half.bits ^ if neg { 1 << 15 } else { 0 }) & 0xffff,
                undefined: half.undefined & 0xffff,
            };
        }
        Ok(row)
    }

    /// A packed instruction: each half of the result is defined if its sources are.
    fn packed(mut self, ieee: bool) -> Result<(), String> {
        let Code::Packed { kind, function } = self.inst.code else { return Err("not packed".to_owned()) };
        let mut halves = Vec::new();
        for upper in [false, true] {
            self.sources = (0..self.inst.kinds.len())
                .map(|n| self.packed_source(n, upper, kind))
                .collect::<Result<Vec<Row>, String>>()?;
            halves.push(self.each(&|sources| function(sources, ieee), None));
        }
        let joined = |lane: usize| {
            let [low, high] = [halves[0][lane], halves[1][lane]];
            let join = |low: u64, high: u64| low & 0xffff | (high & 0xffff) << 16;
            Value { bits: join(low.bits, high.bits), undefined: join(low.undefined, high.undefined) }
        };
        self.write(&std::array::from_fn(joined), Kind::Int32)
    }

    /// A source of V_FMA_MIX as a 32-bit float: `op_sel_hi` says that it has 16 bits, `op_sel` in which half.
    fn mixed_source(&self, n: usize) -> Result<Row, String> {
        let arg = self.arg(n);
        let is_half = packed::flag(self.inst, "op_sel_hi", n, false);
        let is_high = packed::flag(self.inst, "op_sel", n, false);
        let kind = if is_half { Kind::Float16 } else { Kind::Float32 };
        if is_half && !matches!(arg.operand, Operand::Vector { .. } | Operand::Scalar { .. }) {
            return Err("a constant with 16 bits is not known here".to_owned());
        }
        let mut row = self.state.row(arg, kind)?;
        for value in &mut row {
            if is_half {
                let half = if is_high { upper_half(*value) } else { *value };
                let undefined = if half.undefined & 0xffff == 0 { 0 } else { u64::MAX };
                *value = Value { bits: float::bits(float::value(half.bits & 0xffff, kind), Kind::Float32), undefined };
            }
            value.bits = changed_sign(value.bits, 1 << 31, arg);
        }
        Ok(row)
    }

    /// A fused multiply-add in 32 bits, rounded again if the result is half of a register.
    fn mix(&mut self, half: Option<bool>) -> Result<(), String> {
        let sum = |[a, b, c]: [u64; 3]| float::fma(a, b, c, Kind::Float32);
        if half.is_none() {
            let row = self.each(&sum, None);
            return self.write(&row, Kind::Float32);
        }
        let row = self.each(&|sources| float::bits(float::value(sum(sources), Kind::Float32), Kind::Float16), None);
        self.write(&row, Kind::Float16)
    }

    /// Writes a result to the first operand.
    fn write(&mut self, row: &Row, kind: Kind) -> Result<(), String> {
        let first = self.inst.args[0].vector()?;
        let mut row = *row;
        self.output(&mut row, kind)?;
        for lane in self.lanes(self.mask) {
            if kind.is_short() || self.inst.sdwa.is_some() {
                row[lane] = self.merged(row[lane], self.state.lane(first, 1, lane), kind);
            }
        }
        self.state.set_row(first, kind.registers(), &row, self.mask);
        Ok(())
    }

    /// Output modifiers and then `clamp`, of floats.
    fn output(&self, row: &mut Row, kind: Kind) -> Result<(), String> {
        let factor = match (self.inst.modifier("mul"), self.inst.modifier("div")) {
            (None, None) => 1.0,
            _ if !self.state.flushes => return Err("output modifiers do not keep subnormals".to_owned()),
            (Some("2"), None) => 2.0,
            (Some("4"), None) => 4.0,
            (None, Some("2")) => 0.5,
            _ => return Err("no such output modifier".to_owned()),
        };
        if factor != 1.0 {
            row.iter_mut().for_each(|value| value.bits = float::bits(float::value(value.bits, kind) * factor, kind));
        }
        if self.inst.modifier("clamp").is_none() {
            return Ok(());
        }
        if kind.sign().is_none() {
            return Err("clamp of an integer is not known here".to_owned());
        }
        let clamp = |bits| {
            let x = float::value(bits, kind);
            float::bits(if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) }, kind)
        };
        row.iter_mut().for_each(|value| value.bits = clamp(value.bits));
        Ok(())
    }

    /// A short result together with the part of the register that stays.
    fn merged(&self, value: Value, old: Value, kind: Kind) -> Value {
        let (at, bits) = match self.inst.sdwa {
            Some(sdwa) => sdwa.result.place(),
            None => (16 * u32::from(self.writes_upper()), 16),
        };
        let field = (u64::MAX >> (64 - bits)) << at;
        let kept = self.kept_part(kind);
        let rest = |new: u64, old: u64| new << at & field | old & !field & kept;
        Value { bits: rest(value.bits, old.bits), undefined: rest(value.undefined, old.undefined) }
    }

    fn writes_upper(&self) -> bool {
        let is_mixed_high = matches!(self.inst.code, Code::Mix { half: Some(true) });
        is_mixed_high || self.inst.args[0].half == Some(true) || selects_upper(self.inst, 3)
    }

    /// The bits next to a short result that stay; the others become zero.
    fn kept_part(&self, kind: Kind) -> u64 {
        let keeps = match self.inst.sdwa {
            Some(sdwa) => sdwa.preserve,
            // gfx9 changed this for instructions with three operands, and has the previous ones as legacy.
            None => {
                let version = self.state.target.version;
                let clears = self.inst.name.contains("_legacy_");
                self.state.target.keeps_upper_half()
                    || version >= 900 && (self.sources.len() == 3 && !clears || self.writes_upper())
            }
        };
        if keeps && (kind.is_short() || self.inst.sdwa.is_some()) { u64::MAX } else { 0 }
    }

    /// Writes a bit for each active lane to a mask register or EXEC.
    fn compare(&mut self, exec: bool, holds: impl Fn(u64, u64) -> bool) -> Result<(), String> {
        let mut mask = Value::default();
        for lane in self.lanes(self.exec) {
            let [a, b, _] = self.of_lane(lane);
            let is_defined = a.undefined == 0 && b.undefined == 0 && self.mask >> lane & 1 == 1;
            mask.bits |= u64::from(holds(a.bits, b.bits)) << lane;
            mask.undefined |= u64::from(!is_defined) << lane;
        }
        if self.inst.results == 1 && self.inst.args[0].scalar()? != EXEC {
            self.state.set_mask(self.inst.args[0].scalar()?, mask);
        }
        if exec {
            let defined = mask.defined("a comparison that decides which lanes go on")?;
            self.state.set_exec(defined);
        }
        Ok(())
    }

    /// Writes results of 32 or 64 bits and a bit of a mask register for each lane.
    fn with_mask(&mut self, kind: Kind, apply: impl Fn([u64; 3]) -> (u64, bool)) -> Result<(), String> {
        let (mut row, mut mask) = ([Value::default(); LANES], Value::default());
        // The manual does not define the mask bit of a lane that DPP disables.
        mask.undefined = self.exec & !self.mask;
        for lane in self.lanes(self.mask) {
            let values = self.of_lane(lane);
            let (bits, bit) = apply(values.map(|value| value.bits));
            let is_defined = values.iter().all(|value| value.undefined == 0);
            row[lane] = Value { bits, undefined: if is_defined { 0 } else { u64::MAX } };
            mask.bits |= u64::from(bit) << lane;
            mask.undefined |= u64::from(!is_defined) << lane;
        }
        self.write(&row, kind)?;
        self.state.set_mask(self.inst.args[1].scalar()?, mask);
        Ok(())
    }

    fn carry(&mut self, subtract: bool, reversed: bool) -> Result<(), String> {
        self.with_mask(Kind::Int32, |[a, b, carry]| {
            let (a, b) = if reversed { (b, a) } else { (a, b) };
            let result = if subtract { a.wrapping_sub(b).wrapping_sub(carry) } else { a + b + carry };
            (result & 0xffff_ffff, result >> 32 != 0)
        })
    }

    fn select(&mut self) -> Result<(), String> {
        let mut row = [Value::default(); LANES];
        for lane in self.lanes(self.mask) {
            let [no, yes, bit] = self.of_lane(lane);
            row[lane] = match bit {
                Value { undefined: 0, bits: 0 } => no,
                Value { undefined: 0, .. } => yes,
                _ if no == yes => no,
                _ => Value::UNDEFINED,
            };
        }
        self.write(&row, self.inst.kinds[0])
    }

    fn div_scale(&mut self, kind: Kind) -> Result<(), String> {
        self.with_mask(kind, |[value, den, num]| float::div_scale(value, den, num, kind))
    }

    fn div_fmas(&mut self, kind: Kind) -> Result<(), String> {
        let vcc = self.state.vcc();
        let mut row = [Value::default(); LANES];
        for lane in self.lanes(self.mask) {
            let values = self.of_lane(lane);
            let [a, b, c] = values.map(|value| value.bits);
            let scaled = vcc.bits >> lane & 1 == 1;
            let bits = if scaled { float::fma_scaled(a, b, c, kind) } else { float::fma(a, b, c, kind) };
            let known = vcc.undefined >> lane & 1 == 0 && values.iter().all(|value| value.undefined == 0);
            row[lane] = Value { bits, undefined: if known { 0 } else { u64::MAX } };
        }
        self.write(&row, kind)
    }

    fn mad_wide(&mut self, signed: bool) -> Result<(), String> {
        self.with_mask(Kind::Int64, |[a, b, c]| {
            if signed {
                // The mask gets the sign of the exact sum, its bit 64.
                let product = i64::from(a as i32) * i64::from(b as i32);
                let sum = i128::from(product) + i128::from(c as i64);
                (sum as u64, sum < 0)
            } else {
                (u64::from(a as u32) * u64::from(b as u32)).overflowing_add(c)
            }
        })
    }

    /// The number of bits set in half of a mask for lanes below this one, added to the second source.
    fn count_below(&mut self, high: bool) -> Result<(), String> {
        let mut row = [Value::default(); LANES];
        for lane in self.lanes(self.mask) {
            let below = match (high, lane) {
                (false, 32..) => 0xffff_ffff,
                (true, ..32) => 0,
                _ => (1u64 << (lane & 31)) - 1,
            };
            let [mask, add, _] = self.of_lane(lane);
            let known = mask.undefined & below == 0 && add.undefined == 0;
            let bits = (u64::from((mask.bits & below).count_ones()) + add.bits) & 0xffff_ffff;
            row[lane] = Value { bits, undefined: if known { 0 } else { u64::MAX } };
        }
        self.write(&row, Kind::Int32)
    }
}

/// Returns true if `op_sel` picks the upper half of source `n`; 3 stands for the result, which is last in the list.
fn selects_upper(inst: &Inst, n: usize) -> bool {
    let Some(list) = inst.modifier("op_sel") else { return false };
    let bits: Vec<&str> = list.trim_matches(['[', ']']).split(',').map(str::trim).collect();
    let at = if n == 3 { inst.kinds.len() } else { n };
    bits.get(at) == Some(&"1")
}

fn upper_half(value: Value) -> Value {
    Value { bits: value.bits >> 16, undefined: value.undefined >> 16 }
}

fn part_of(value: Value, part: impl Fn(u32) -> u32) -> Value {
    Value { bits: part(value.bits as u32).into(), undefined: part(value.undefined as u32).into() }
}

fn changed_sign(bits: u64, sign: u64, arg: &Arg) -> u64 {
    let bits = if arg.abs { bits & !sign } else { bits };
    if arg.neg { bits ^ sign } else { bits }
}

fn extreme([a, b, c]: [u64; 3], kind: Kind, steps: &[bool], median: bool, ieee: bool) -> u64 {
    let pick = |a, b, greatest| float::extreme(a, b, kind, greatest, ieee);
    if median && [a, b, c].iter().any(|bits| float::value(*bits, kind).is_nan()) {
        // V_MED3: the minimum of all three if one is a NaN.
        return pick(pick(a, b, false), c, false);
    }
    if median {
        // The larger of those that are not the largest; zeros are equal here.
        let most = float::value(pick(pick(a, b, true), c, true), kind);
        let is_most = |bits| float::value(bits, kind) == most;
        return match () {
            () if is_most(a) => pick(b, c, true),
            () if is_most(b) => pick(a, c, true),
            () => pick(a, b, true),
        };
    }
    let first = pick(a, b, steps[0]);
    steps.get(1).map_or(first, |greatest| pick(first, c, *greatest))
}

fn compare(test: &str, kind: Kind, a: u64, b: u64) -> bool {
    if kind.sign().is_some() {
        return compare_floats(test, float::value(a, kind), float::value(b, kind));
    }
    let shift = 64 - if kind.is_short() { 16 } else { 32 * kind.registers() as u32 };
    let (a, b) = (a << shift, b << shift);
    let (x, y) = (a as i64, b as i64);
    match test {
        "lt" => x < y,
        "le" => x <= y,
        "gt" => x > y,
        "ge" => x >= y,
        "ult" => a < b,
        "ule" => a <= b,
        "ugt" => a > b,
        "uge" => a >= b,
        "eq" => a == b,
        "ne" => a != b,
        _ => test == "t",
    }
}

fn compare_floats(test: &str, x: f64, y: f64) -> bool {
    let ordered = !x.is_nan() && !y.is_nan();
    match test {
        "lt" => x < y,
        "eq" => x == y,
        "le" => x <= y,
        "gt" => x > y,
        "lg" => ordered && x != y,
        "ge" => x >= y,
        "o" => ordered,
        "u" => !ordered,
        "nge" => !ordered || x < y,
        "nlg" => !ordered || x == y,
        "ngt" => !ordered || x <= y,
        "nle" => !ordered || x > y,
        "neq" => x != y,
        "nlt" => !ordered || x >= y,
        _ => test == "t" || test == "tru",
    }
}
