//! Operands moved between lanes on their way into a vector instruction (DPP16, DPP8), and parts of registers (SDWA).

use super::operand::integer;
use super::target::Target;

/// Lanes of a row.
const ROW: usize = 16;

/// The lane map of a DPP control.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    QuadPerm([usize; 4]),
    RowShl(usize),
    RowShr(usize),
    RowRor(usize),
    WaveShl,
    WaveRol,
    WaveShr,
    WaveRor,
    Mirror,
    HalfMirror,
    Broadcast15,
    Broadcast31,
    Share(usize),
    Xmask(usize),
    Eight([usize; 8]),
}

/// A DPP operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dpp {
    pub control: Control,
    /// Rows and banks in which the result is written.
    pub row_mask: u64,
    pub bank_mask: u64,
    /// Read zero instead of writing nothing.
    pub bound_ctrl: bool,
    pub fetch_inactive: bool,
}

/// The value that a lane of a DPP operand gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    From(usize),
    Zero,
    /// The result is not written.
    Nothing,
}

impl Dpp {
    /// The DPP part of an instruction's modifiers, if it has one.
    pub fn read(modifiers: &[(String, String)], target: &Target) -> Result<Option<Self>, String> {
        let mut found = None;
        for (key, value) in modifiers {
            if let Some(control) = control(key, value, target)? {
                found = Some(control);
            }
        }
        let Some(control) = found else { return Ok(None) };
        let value = |name: &str| modifiers.iter().find(|(key, _)| key == name).map(|(_, value)| &value[..]);
        let mask = |name| value(name).and_then(integer).map_or(15, |mask| mask as u64);
        let bound_ctrl = value("bound_ctrl").is_some_and(|value| target.version < 1100 || value != "0");
        let fetch_inactive = value("fi") == Some("1");
        if fetch_inactive && target.version < 1000 {
            return Err(format!("{} cannot fetch from inactive lanes", target.name()));
        }
        let (row_mask, bank_mask) = (mask("row_mask"), mask("bank_mask"));
        Ok(Some(Dpp { control, row_mask, bank_mask, bound_ctrl, fetch_inactive }))
    }

    /// Returns true if a lane's result is written as far as the masks of rows and banks go.
    pub fn writes(&self, lane: usize) -> bool {
        self.row_mask >> (lane / ROW) & 1 == 1 && self.bank_mask >> (lane % ROW / 4) & 1 == 1
    }

    /// The source of a lane's operand, given the active lanes of a wave.
    pub fn source(&self, lane: usize, exec: u64) -> Moved {
        let zero =
            if self.bound_ctrl || matches!(self.control, Control::Eight(_)) { Moved::Zero } else { Moved::Nothing };
        match self.control.source(lane) {
            None => zero,
            Some(from) if exec >> from & 1 == 1 || self.fetch_inactive => Moved::From(from),
            Some(_) => zero,
        }
    }
}

/// Names of controls, the lowest and highest versions that have them, and their values.
type ControlRow = (&'static str, u32, u32, std::ops::RangeInclusive<i64>, fn(usize) -> Control);

static CONTROLS: &[ControlRow] = &[
    ("row_shl", 800, 9999, 1..=15, Control::RowShl),
    ("row_shr", 800, 9999, 1..=15, Control::RowShr),
    ("row_ror", 800, 9999, 1..=15, Control::RowRor),
    ("wave_shl", 800, 999, 1..=1, |_| Control::WaveShl),
    ("wave_rol", 800, 999, 1..=1, |_| Control::WaveRol),
    ("wave_shr", 800, 999, 1..=1, |_| Control::WaveShr),
    ("wave_ror", 800, 999, 1..=1, |_| Control::WaveRor),
    ("row_mirror", 800, 9999, 0..=0, |_| Control::Mirror),
    ("row_half_mirror", 800, 9999, 0..=0, |_| Control::HalfMirror),
    ("row_bcast", 800, 999, 15..=31, |n| if n == 15 { Control::Broadcast15 } else { Control::Broadcast31 }),
    ("row_newbcast", 910, 999, 0..=15, Control::Share),
    ("row_share", 1000, 9999, 0..=15, Control::Share),
    ("row_xmask", 1000, 9999, 0..=15, Control::Xmask),
];

fn control(key: &str, value: &str, target: &Target) -> Result<Option<Control>, String> {
    let lacks = || format!("{} has no {key}", target.name());
    if key == "quad_perm" {
        return if target.version < 800 { Err(lacks()) } else { Ok(Some(Control::QuadPerm(lanes(value)?))) };
    }
    if key == "dpp8" {
        return if target.version < 1000 { Err(lacks()) } else { Ok(Some(Control::Eight(lanes(value)?))) };
    }
    let Some((_, since, until, values, make)) = CONTROLS.iter().find(|(name, ..)| *name == key) else {
        return Ok(None);
    };
    if !(*since..=*until).contains(&target.version) {
        return Err(lacks());
    }
    let n = if value.is_empty() { 0 } else { integer(value).ok_or("the control has no number")? };
    if !values.contains(&n) || key == "row_bcast" && n != 15 && n != 31 {
        return Err(format!("{key} cannot be {n}"));
    }
    Ok(Some(make(n as usize)))
}

/// `[1,0,3,2]`.
fn lanes<const N: usize>(text: &str) -> Result<[usize; N], String> {
    let inner =
        text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).ok_or("a list of lanes is expected here")?;
    let lanes: Vec<usize> = inner.split(',').filter_map(|lane| lane.trim().parse().ok()).collect();
    let lanes: [usize; N] = lanes.try_into().map_err(|_| "a list of lanes is expected here")?;
    if lanes.iter().all(|lane| *lane < N) { Ok(lanes) } else { Err("no such lane".to_owned()) }
}

impl Control {
    /// The lane that a lane reads; `None` if it would be out of range.
    pub fn source(self, lane: usize) -> Option<usize> {
        let (row, at) = (lane & !(ROW - 1), lane % ROW);
        match self {
            Control::QuadPerm(from) => Some(lane & !3 | from[lane & 3]),
            Control::RowShl(by) => (at + by < ROW).then_some(lane + by),
            Control::RowShr(by) => (at >= by).then(|| lane - by),
            Control::RowRor(by) => Some(row | ((at + ROW - by) % ROW)),
            Control::WaveShl => (lane < 63).then_some(lane + 1),
            Control::WaveRol => Some((lane + 1) % 64),
            Control::WaveShr => lane.checked_sub(1),
            Control::WaveRor => Some((lane + 63) % 64),
            Control::Mirror => Some(row | (15 - at)),
            Control::HalfMirror => Some(lane & !7 | (7 - lane % 8)),
            Control::Broadcast15 => row.checked_sub(1),
            Control::Broadcast31 => (lane >= 32).then_some(31),
            Control::Share(from) => Some(row | from),
            Control::Xmask(mask) => Some(lane ^ mask),
            Control::Eight(from) => Some(lane & !7 | from[lane & 7]),
        }
    }
}

/// The lane that a lane reads through DS_SWIZZLE, by its 16-bit pattern.
pub fn swizzle(pattern: u32, lane: usize, target: &Target) -> Result<usize, String> {
    let (half, at) = (lane & !31, lane & 31);
    let field = |from: u32| (pattern >> from & 31) as usize;
    let in_half = match pattern {
        0..=0x7fff => (at & field(0) | field(5)) ^ field(10),
        0x8000..=0x80ff => at & !3 | (pattern >> (2 * (at & 3)) & 3) as usize,
        0xc000..=0xffff if target.version < 800 => return Err(format!("{} has no such swizzle", target.name())),
        0xc000..=0xdfff => {
            let moved = if pattern >> 10 & 1 == 0 { at + field(5) } else { at + 32 - field(5) };
            at & field(0) | moved & !field(0) & 31
        }
        0xe000..=0xffff => {
            let reversed = (at as u32).reverse_bits() >> 27;
            (reversed >> field(0).count_ones()) as usize | at & field(0)
        }
        _ => return Err("no such swizzle".to_owned()),
    };
    Ok(half | in_half)
}

/// `offset:` of DS_SWIZZLE as a number: plain or `swizzle(...)`.
pub fn swizzle_pattern(text: &str) -> Result<u32, String> {
    if let Some(value) = integer(text) {
        return Ok(value as u32);
    }
    let wrong = || format!("{text} is not a swizzle");
    let inner = text.strip_prefix("swizzle(").and_then(|text| text.strip_suffix(')')).ok_or_else(wrong)?;
    let words: Vec<&str> = inner.split(',').map(str::trim).collect();
    let numbers: Vec<u32> = words[1..].iter().filter_map(|word| integer(word)).map(|n| n as u32).collect();
    Ok(match (words[0], &numbers[..]) {
        ("QUAD_PERM", [a, b, c, d]) => 0x8000 | a | b << 2 | c << 4 | d << 6,
        ("SWAP", [size]) => 0x1f | size << 10,
        ("REVERSE", [size]) => 0x1f | (size - 1) << 10,
        ("BROADCAST", [size, lane]) => (32 - size) | (lane << 5),
        ("ROTATE", [way, by]) => 0xc000 | way << 10 | by << 5,
        ("FFT", [mask]) => 0xe000 | mask,
        ("BITMASK_PERM", []) => bitmask(words.get(1).ok_or_else(wrong)?.trim_matches('"')),
        _ => return Err(wrong()),
    })
}

/// `01pip`, the highest bit first.
fn bitmask(text: &str) -> u32 {
    let bit = |c| match c {
        '0' => 0,
        '1' => 1 << 5,
        'p' => 1,
        _ => 1 | 1 << 10,
    };
    text.chars().fold(0, |pattern, c| pattern << 1 | bit(c))
}

/// The part of a register that SDWA selects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Byte(u32),
    Word(u32),
    All,
}

impl Part {
    fn named(name: &str) -> Result<Self, String> {
        Ok(match name {
            "BYTE_0" => Part::Byte(0),
            "BYTE_1" => Part::Byte(1),
            "BYTE_2" => Part::Byte(2),
            "BYTE_3" => Part::Byte(3),
            "WORD_0" => Part::Word(0),
            "WORD_1" => Part::Word(1),
            "DWORD" => Part::All,
            _ => return Err(format!("{name} is not a part of a register")),
        })
    }

    /// Its first bit and number of bits.
    pub fn place(self) -> (u32, u32) {
        match self {
            Part::Byte(n) => (8 * n, 8),
            Part::Word(n) => (16 * n, 16),
            Part::All => (0, 32),
        }
    }

    /// The part of a word, extended.
    pub fn of(self, word: u32, signed: bool) -> u32 {
        let (at, bits) = self.place();
        let moved = word << (32 - at - bits);
        if signed { (moved as i32 >> (32 - bits)) as u32 } else { moved >> (32 - bits) }
    }
}

/// Sub-dword addressing: parts of the sources and of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sdwa {
    pub sources: [Part; 2],
    pub result: Part,
    /// The rest of the result: zeros, copies of the sign, or the old bits.
    pub signed: bool,
    pub preserve: bool,
}

impl Sdwa {
    /// The SDWA part of an instruction's modifiers, if it has one.
    pub fn read(modifiers: &[(String, String)], target: &Target) -> Result<Option<Self>, String> {
        let value = |name: &str| modifiers.iter().find(|(key, _)| key == name).map(|(_, value)| &value[..]);
        if value("src0_sel").is_none() {
            return Ok(None);
        }
        if !(800..1100).contains(&target.version) {
            return Err(format!("{} has no SDWA", target.name()));
        }
        let part = |name| value(name).map_or(Ok(Part::All), Part::named);
        let unused = value("dst_unused");
        Ok(Some(Sdwa {
            sources: [part("src0_sel")?, part("src1_sel")?],
            result: part("dst_sel")?,
            signed: unused == Some("UNUSED_SEXT"),
            preserve: unused == Some("UNUSED_PRESERVE"),
        }))
    }
}
