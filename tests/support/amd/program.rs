//! A file of assembly: instructions, labels, the kernel's descriptor and its metadata.

use super::descriptor::{Descriptor, Registers};
use super::inst::{Inst, Unit, constant_reads};
use super::operand::{Operand, Reg, VCC};
use super::pair;
use super::target::Target;
use std::collections::BTreeMap;

/// A kernel that can run.
pub struct Program {
    pub target: Target,
    pub descriptor: Descriptor,
    /// The lines between `.amdgpu_metadata` and its end.
    pub metadata: String,
    pub insts: Vec<Inst>,
    /// The start of the kernel, and of each label.
    pub entry: usize,
    pub labels: BTreeMap<String, usize>,
}

impl Program {
    /// Reads a file with one kernel.
    pub fn read(text: &str, target: Target) -> Result<Self, String> {
        crate::assembler::is_ascii(text)?;
        let mut reader = Reader::default();
        for (n, line) in text.lines().enumerate() {
            reader.line(n + 1, line, &target).map_err(|why| format!("line {}: {}: {why}", n + 1, line.trim()))?;
        }
        let kernel = reader.kernel.ok_or("there is no .amdhsa_kernel")?;
        let entry = *reader.labels.get(&kernel).ok_or_else(|| format!("there is no label {kernel}"))?;
        let descriptor = Descriptor::read(&reader.directives, &target)?;
        let program = Program {
            target,
            descriptor,
            metadata: reader.metadata,
            insts: reader.insts,
            entry,
            labels: reader.labels,
        };
        for (at, inst) in program.insts.iter().enumerate() {
            let checked = program.check(inst).and_then(|()| program.check_clause(at));
            checked.map_err(|why| format!("line {}: {}: {why}", inst.line, inst.text))?;
        }
        Ok(program)
    }

    /// Parses the instructions and labels of a listing for a kernel that is described separately. An unknown
    /// instruction fails when it runs.
    pub fn listed(text: &str, target: Target, registers: Registers) -> Result<Self, String> {
        let mut reader = Reader { keeps_unknown: true, ..Reader::default() };
        for (n, line) in text.lines().enumerate() {
            reader.line(n + 1, line, &target).map_err(|why| format!("line {}: {}: {why}", n + 1, line.trim()))?;
        }
        let descriptor = Descriptor::of(registers);
        let Reader { insts, labels, .. } = reader;
        Ok(Program { target, descriptor, metadata: String::new(), insts, entry: 0, labels })
    }

    /// The text of instructions, one per line.
    pub fn texts(&self, insts: &[usize]) -> String {
        insts.iter().map(|at| format!("{}\n", self.insts[*at].text)).collect()
    }

    /// Checks the operands against the encoding and the descriptor.
    fn check(&self, inst: &Inst) -> Result<(), String> {
        if let Some(second) = &inst.pair {
            pair::check(inst, second, &self.target)?;
            self.check(second)?;
        }
        for arg in &inst.args {
            let (first, count) = match &arg.operand {
                Operand::Vector { first, count } => (*first, *count),
                Operand::List(list) => (list.iter().copied().max().unwrap_or(0), 1),
                _ => continue,
            };
            if self.target.aligns_vectors() && count > 1 && first % 2 == 1 {
                return Err("vector registers of more than 32 bits begin at an even one".to_owned());
            }
            if first + count > self.descriptor.vectors {
                return Err(format!("the descriptor has {} vector registers", self.descriptor.vectors));
            }
        }
        let beyond = |reg: &Reg| matches!(reg, Reg::Scalar(n) if (self.descriptor.scalars..VCC).contains(n));
        if inst.writes.iter().chain(inst.reads.iter().map(|(reg, _)| reg)).any(beyond) {
            return Err(format!("the descriptor has {} scalar registers", self.descriptor.scalars));
        }
        if inst.unit == Unit::Vector && constant_reads(inst) > self.target.scalar_reads() {
            return Err("it reads too many scalar registers and literals".to_owned());
        }
        if inst.unit == Unit::Branch {
            self.destination(inst)?;
        }
        Ok(())
    }

    /// Checks that a clause is followed by the stated number of accesses of one kind, and that no branch leads into it.
    fn check_clause(&self, at: usize) -> Result<(), String> {
        if self.insts[at].name != "s_clause" {
            return Ok(());
        }
        let text = &self.insts[at].rest;
        let digits = text.strip_prefix("0x").map_or_else(|| text.parse(), |hex| usize::from_str_radix(hex, 16));
        let last = at + 1 + digits.map_err(|_| "a clause has a length")?;
        let longest = if self.target.version >= 1100 { 32 } else { 63 };
        let kind = |inst: &Inst| (inst.unit, inst.unit == Unit::Smem || inst.name.contains("_load_"));
        let Some(clause) = self.insts.get(at + 1..=last) else { return Err("the code ends in a clause".to_owned()) };
        let is_clause = clause.iter().all(|inst| kind(inst) == (clause[0].unit, true));
        if !is_clause || !(2..=longest).contains(&clause.len()) {
            return Err(format!("the next {} instructions are not loads of one kind", clause.len()));
        }
        if self.labels.values().any(|label| (at + 1..=last).contains(label)) {
            return Err("a label is in a clause".to_owned());
        }
        Ok(())
    }

    /// The target of a branch.
    pub fn destination(&self, inst: &Inst) -> Result<usize, String> {
        let label = inst.rest.trim();
        self.labels.get(label).copied().ok_or_else(|| format!("there is no label {label}"))
    }
}

#[derive(Default)]
struct Reader {
    insts: Vec<Inst>,
    labels: BTreeMap<String, usize>,
    directives: BTreeMap<String, String>,
    metadata: String,
    kernel: Option<String>,
    in_kernel: bool,
    in_metadata: bool,
    in_comment: bool,
    keeps_unknown: bool,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str, target: &Target) -> Result<(), String> {
        if self.in_metadata {
            self.in_metadata = line.trim() != ".end_amdgpu_metadata";
            if self.in_metadata {
                self.metadata.push_str(line);
                self.metadata.push('\n');
            }
            return Ok(());
        }
        let text = self.without_comments(line);
        let mut text = text.trim();
        while let Some((label, rest)) = label(text) {
            self.labels.insert(label.to_owned(), self.insts.len());
            text = rest.trim();
        }
        if text.is_empty() {
            return Ok(());
        }
        if text.starts_with('.') {
            return self.directive(text, target);
        }
        let inst = match Inst::read(number, text, target) {
            Err(why) if self.keeps_unknown => Inst::unknown(number, text, why),
            inst => inst?,
        };
        self.insts.push(inst);
        Ok(())
    }

    fn without_comments(&mut self, line: &str) -> String {
        let mut kept = String::new();
        let mut rest = line;
        loop {
            if self.in_comment {
                let Some((_, behind)) = rest.split_once("*/") else { return kept };
                (self.in_comment, rest) = (false, behind);
            }
            let ends = [rest.find("//"), rest.find(';')].into_iter().flatten().min().unwrap_or(rest.len());
            match rest.find("/*").filter(|at| *at < ends) {
                Some(at) => {
                    kept.push_str(&rest[..at]);
                    (self.in_comment, rest) = (true, &rest[at + 2..]);
                }
                None => {
                    kept.push_str(&rest[..ends]);
                    return kept;
                }
            }
        }
    }

    fn directive(&mut self, text: &str, target: &Target) -> Result<(), String> {
        let (name, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match name {
            ".amdhsa_kernel" if self.kernel.is_some() => return Err("one kernel at a time".to_owned()),
            ".amdhsa_kernel" => (self.kernel, self.in_kernel) = (Some(rest.trim().to_owned()), true),
            ".end_amdhsa_kernel" => self.in_kernel = false,
            ".amdgpu_metadata" => self.in_metadata = true,
            ".amdgcn_target" => {
                let processor = rest.trim_matches('"').rsplit_once('-').map_or(rest, |(_, processor)| processor);
                let processor = processor.split(':').next().unwrap_or_default();
                if Target::version_of(processor) != Some(target.version) {
                    return Err(format!("it is for {processor} instead of {}", target.name()));
                }
            }
            _ if self.in_kernel => {
                self.directives.insert(name.to_owned(), rest.trim().to_owned());
            }
            _ => {}
        }
        Ok(())
    }
}

/// Splits a label from the text after it.
fn label(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_.$".contains(c));
    is_name.then_some((name, rest))
}
