//! Instructions as text for LLVM's assembler.

use super::arch::Arch;
use super::dpp;
use super::machine::{
    Dpp, File, HalfSelect, ImageAccess, ImageShape, Inst, Label, Modifiers, Operand, Part, Reach, RegisterRange, Slice,
    Special, inline_half, is_inline,
};
use super::mnemonic::{Form, Generation, Operation};
use super::unit::Unit;
use std::fmt::Write;
use std::ops::Range;

/// The settings for printing instructions.
#[derive(Clone, Copy, Debug)]
pub struct Printer {
    pub arch: Arch,
    /// The number of the vector register shared by both halves of a wave.
    pub shared_vector: u16,
}

const TAKEN: &str = "a string takes everything";

/// The name of a block.
pub fn label(label: Label) -> String {
    format!(".L{}", label.0)
}

impl Printer {
    /// One instruction; `None` if it has no code.
    pub fn inst(&self, inst: &Inst) -> Option<String> {
        match &inst.second {
            Some(second) => Some(format!("{} :: {}", self.half(inst)?, self.half(second)?)),
            None => self.single(inst),
        }
    }

    /// One half of a pair, which reads VCC without naming it.
    fn half(&self, inst: &Inst) -> Option<String> {
        let operation = inst.operation()?;
        let spelling = operation.spelling(self.arch.generation)?;
        let name = spelling.name.strip_prefix("v_")?;
        let mut text = format!("v_dual_{name}");
        let named = |operand: &Operand| !matches!(operand, Operand::Special(Special::Vcc | Special::VccLow));
        let uses = inst.uses.iter().copied().filter(named).collect();
        self.operands(&mut text, operation, &Inst { uses, second: None, ..inst.clone() }, spelling.form);
        Some(text)
    }

    fn single(&self, inst: &Inst) -> Option<String> {
        let operation = inst.operation()?;
        let spelling = operation.spelling(self.arch.generation)?;
        let modifiers = &inst.modifiers;
        let mut text = format!("{}{}", modifiers.prefix, spelling.name);
        if !modifiers.suffix.is_empty() {
            write!(text, "_{}", modifiers.suffix).expect(TAKEN);
        }
        if modifiers.dpp.is_some() {
            text += if spelling.form == Form::Vop3 { "_e64_dpp" } else { "_dpp" };
        }
        if modifiers.swap_fetch.contains(&true) {
            text += "_e64";
        }
        if modifiers.parts.is_some() {
            text += "_sdwa";
        }
        self.operands(&mut text, operation, inst, spelling.form);
        if let Some(halves) = modifiers.halves {
            text += &half_words(halves, inst, spelling.form);
        }
        if let Some(parts) = modifiers.parts {
            text += &part_words(parts.iter().take(inst.uses.len()));
        }
        self.modifiers(&mut text, operation, modifiers);
        Some(text)
    }

    fn operands(&self, text: &mut String, operation: Operation, inst: &Inst, form: Form) {
        let width = operation.float_width(self.arch.generation, inst.modifiers.suffix);
        let list = address_list(inst);
        let uses = inst.uses.iter().enumerate().map(|(n, operand)| {
            let operand = bracketed(self.operand(*operand, width), n, &list);
            let has = |bits: u8| u32::from(bits).checked_shr(n as u32).is_some_and(|bits| bits & 1 != 0);
            let is_signed = inst.modifiers.parts.is_some_and(|parts| parts.get(n).is_some_and(|part| part.is_signed));
            let operand = if is_signed { format!("sext({operand})") } else { operand };
            let operand = if has(inst.modifiers.abs) { format!("|{operand}|") } else { operand };
            match operand {
                _ if form == Form::Packed || !has(inst.modifiers.neg) => operand,
                zero if zero == "0" => format!("neg({zero})"),
                operand => format!("-{operand}"),
            }
        });
        let defs = inst.defs.iter().map(|operand| self.operand(*operand, width));
        let fields = inst.uses.iter().any(|operand| matches!(operand, Operand::Field(..)));
        let all: Vec<String> = defs.chain(uses).collect();
        if !all.is_empty() {
            write!(text, " {}", all.join(if fields { " " } else { ", " })).expect(TAKEN);
        }
    }

    pub fn operand(&self, operand: Operand, float_width: u8) -> String {
        match operand {
            Operand::Reg(Slice { reg, first, count }) => format!("%{}[{first}:{}]", reg.0, first + count.max(1) - 1),
            Operand::Hardware(place) => self.hardware(place),
            Operand::Special(special) => self.special(special),
            Operand::Constant(bits) => constant(bits, float_width),
            Operand::Double(bits) => format!("{:?}", f64::from_bits(bits)),
            Operand::Off => "off".to_owned(),
            Operand::Label(to) => label(to),
            Operand::Field(name, number) => format!("{name}({number})"),
        }
    }

    fn hardware(&self, RegisterRange { file, first, count }: RegisterRange) -> String {
        let letter = if file == File::Vector { 'v' } else { 's' };
        match count {
            1 => format!("{letter}{first}"),
            _ => format!("{letter}[{first}:{}]", first + u16::from(count) - 1),
        }
    }

    fn special(&self, special: Special) -> String {
        let is_wide = self.arch.wave == 64;
        match special {
            Special::Vcc if is_wide => "vcc".to_owned(),
            Special::Exec if is_wide => "exec".to_owned(),
            Special::Vcc | Special::VccLow => "vcc_lo".to_owned(),
            Special::Exec | Special::ExecLow => "exec_lo".to_owned(),
            Special::VccHigh => "vcc_hi".to_owned(),
            Special::ExecHigh => "exec_hi".to_owned(),
            Special::M0 => "m0".to_owned(),
            Special::Null => "null".to_owned(),
            Special::SharedVector => format!("v{}", self.shared_vector),
            Special::Ttmp(n) => format!("ttmp{n}"),
        }
    }

    fn modifiers(&self, text: &mut String, operation: Operation, modifiers: &Modifiers) {
        if modifiers.op_sel_count > 0 {
            let bits: Vec<String> =
                (0..modifiers.op_sel_count).map(|n| (modifiers.op_sel >> n & 1).to_string()).collect();
            write!(text, " op_sel:[{}]", bits.join(",")).expect(TAKEN);
        }
        if modifiers.clamp {
            *text += " clamp";
        }
        match modifiers.dpp {
            Some(Dpp::Rows(rows)) => write!(text, " {}", dpp::controls(&rows)).expect(TAKEN),
            Some(Dpp::Eights(eights)) => write!(text, " {}", dpp::controls8(&eights)).expect(TAKEN),
            None => {}
        }
        if modifiers.swap_fetch.contains(&true) {
            let [bound, fetch] = modifiers.swap_fetch.map(u8::from);
            write!(text, " bound_ctrl:{bound} fi:{fetch}").expect(TAKEN);
        }
        self.memory_modifiers(text, operation, modifiers);
    }

    fn memory_modifiers(&self, text: &mut String, operation: Operation, modifiers: &Modifiers) {
        let words = [(modifiers.addr64, " addr64"), (modifiers.offen, " offen"), (modifiers.idxen, " idxen")];
        for (is_set, word) in words {
            if is_set {
                *text += word;
            }
        }
        match (operation, modifiers.offset, modifiers.second) {
            (_, first, Some(second)) => {
                for (n, offset) in [first, second].into_iter().enumerate().filter(|(_, offset)| *offset > 0) {
                    write!(text, " offset{n}:{offset}").expect(TAKEN);
                }
            }
            (_, 0, _) => {}
            (Operation::Swizzle, mode, _) => write!(text, " offset:{mode:#x}").expect(TAKEN),
            (_, offset, _) => write!(text, " offset:{offset}").expect(TAKEN),
        }
        if let Some(image) = modifiers.image {
            *text += &self.image_words(image);
        }
        if operation.unit() == Unit::Memory {
            *text += &self.cache_policy(operation, modifiers);
            *text += self.array_word(modifiers.image);
        }
    }

    /// The components of an image, its shape from gfx10 on, and that coordinates are texels, for which gfx12 has no
    /// word.
    fn image_words(&self, image: ImageAccess) -> String {
        let components = image.components;
        let named = self.arch.generation >= Generation::Rdna1;
        let shape = if named { format!(" dim:{}", dimension(image.shape)) } else { String::new() };
        let unit = if image.in_texels && self.arch.generation < Generation::Rdna4 { " unorm" } else { "" };
        format!(" dmask:{components:#x}{shape}{unit}")
    }

    /// The last word before gfx10, after the cache policy: the image is an array.
    fn array_word(&self, image: Option<ImageAccess>) -> &'static str {
        let is_arrayed = image.is_some_and(|image| image.shape.is_arrayed());
        if is_arrayed && self.arch.generation < Generation::Rdna1 { " da" } else { "" }
    }

    /// The cache policy bits of an access: whether an atomic returns the old value, and the scope of the access (LLVM's
    /// `AMDGPUUsage`, memory model of each family).
    fn cache_policy(&self, operation: Operation, modifiers: &Modifiers) -> String {
        let returned = match self.arch.generation {
            _ if !modifiers.returns => "",
            _ if self.arch.processor.scope_bits => " sc0",
            Generation::Rdna4 => " th:TH_ATOMIC_RETURN",
            _ => " glc",
        };
        let reach = modifiers.coherent.map_or("", |reach| self.reach_word(operation, reach));
        format!("{returned}{reach}")
    }

    /// Atomics run where all waves can see them, and stores write through, unless they name their scope.
    fn reach_word(&self, operation: Operation, reach: Reach) -> &'static str {
        match (self.arch.generation, reach) {
            (Generation::Rdna4, Reach::Device) => " scope:SCOPE_DEV",
            (Generation::Rdna4, Reach::Workgroup) => " scope:SCOPE_SE",
            _ if operation.is_atomic() => "",
            (_, Reach::Device) if self.arch.processor.scope_bits => " sc1",
            (_, Reach::Workgroup) if self.arch.processor.scope_bits => " sc0",
            _ if !operation.is_load() => "",
            (Generation::Rdna1, Reach::Device) => " glc dlc",
            _ => " glc",
        }
    }
}

/// The uses that are the address of an image instruction.
fn address_list(inst: &Inst) -> Range<usize> {
    let Some(image) = inst.modifiers.image else { return 0..0 };
    let end = inst.uses.len() - usize::from(image.descriptors);
    end - usize::from(image.address)..end
}

/// An operand with the bracket that starts or ends a list.
fn bracketed(operand: String, n: usize, list: &Range<usize>) -> String {
    match n {
        _ if list.len() < 2 => operand,
        _ if n == list.start => format!("[{operand}"),
        _ if n + 1 == list.end => format!("{operand}]"),
        _ => operand,
    }
}

const fn dimension(shape: ImageShape) -> &'static str {
    match shape {
        ImageShape::Line => "SQ_RSRC_IMG_1D",
        ImageShape::Plane => "SQ_RSRC_IMG_2D",
        ImageShape::Volume => "SQ_RSRC_IMG_3D",
        ImageShape::Cube => "SQ_RSRC_IMG_CUBE",
        ImageShape::LineArray => "SQ_RSRC_IMG_1D_ARRAY",
        ImageShape::PlaneArray => "SQ_RSRC_IMG_2D_ARRAY",
        ImageShape::PlaneSamples => "SQ_RSRC_IMG_2D_MSAA",
        ImageShape::PlaneSamplesArray => "SQ_RSRC_IMG_2D_MSAA_ARRAY",
    }
}

/// The modifiers that select halves, if they differ from the defaults, and the signs of both halves.
fn half_words(HalfSelect { lower, upper }: HalfSelect, inst: &Inst, form: Form) -> String {
    let all = (1 << inst.uses.len()) - 1;
    let (is_packed, neg) = (form == Form::Packed, inst.modifiers.neg);
    let signs = if is_packed { neg } else { 0 };
    let words = [
        ("op_sel", lower, 0),
        ("op_sel_hi", upper, if is_packed { all } else { 0 }),
        ("neg_lo", signs, 0),
        ("neg_hi", signs, 0),
    ];
    let list = |bits: u8| (0..inst.uses.len()).map(|n| (bits >> n & 1).to_string()).collect::<Vec<_>>().join(",");
    let words = words.into_iter().filter(|(_, bits, usual)| bits != usual);
    words.map(|(name, bits, _)| format!(" {name}:[{}]", list(bits))).collect()
}

/// The modifiers that select parts of the operands; the result is a whole word.
fn part_words<'p>(parts: impl Iterator<Item = &'p Part>) -> String {
    let of = |(n, part): (usize, &Part)| format!(" src{n}_sel:{}", part.name());
    format!(" dst_sel:DWORD dst_unused:UNUSED_PAD{}", parts.enumerate().map(of).collect::<String>())
}

/// A constant of 32 bits: inline floats by their value, small integers in decimal, other bits in hexadecimal.
fn constant(bits: u32, float_width: u8) -> String {
    let number = bits as i32;
    match (float_width, inline_half(bits)) {
        _ if (-16..=64).contains(&number) => number.to_string(),
        (16, Some(float)) => format!("{float:?}"),
        (32, _) if is_inline(bits) => format!("{:?}", f32::from_bits(bits)),
        _ => format!("{bits:#x}"),
    }
}
