//! Instruction counts for AMD listings by crosslane, by LLVM's disassembler, and by ACO for hardware that the
//! disassembler does not support.

use std::collections::BTreeMap;
use std::ops::Range;

/// How often the body of a loop counts in [`Tally::weighted`].
pub const TURNS: u64 = 8;

/// The instructions of a listing, by the part of the processor that runs them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Vector arithmetic; a `v_dual_` pair counts as one.
    pub vector: u64,
    /// Scalar arithmetic, messages, barriers and the end.
    pub scalar: u64,
    pub scalar_memory: u64,
    /// Buffer, global, flat and scratch memory.
    pub vector_memory: u64,
    pub shared_memory: u64,
    pub branches: u64,
    /// Waits and no-operations, which are not in [`Tally::all`].
    pub waits: u64,
    /// All instructions except waits, where those in a loop count [`TURNS`] times.
    pub weighted: u64,
    /// The number of vector registers and of scalar registers, up to the highest one used.
    pub vectors: u64,
    pub scalars: u64,
}

/// The registers of the vector and of the scalar file; ACO numbers trap registers above these.
const FILE: [u64; 2] = [256, 106];

/// The part of the processor that runs an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Vector,
    Scalar,
    ScalarMemory,
    VectorMemory,
    SharedMemory,
    Branch,
    Wait,
    /// Hints, which change neither results nor order.
    Hint,
}

/// Beginnings of names, the first that fits counts.
const PARTS: [(&str, Part); 22] = [
    ("s_load_", Part::ScalarMemory),
    ("s_buffer_load_", Part::ScalarMemory),
    ("s_branch", Part::Branch),
    ("s_cbranch_", Part::Branch),
    ("s_wait", Part::Wait),
    ("s_nop", Part::Wait),
    ("v_nop", Part::Wait),
    ("s_delay_alu", Part::Hint),
    ("s_clause", Part::Hint),
    ("s_code_end", Part::Hint),
    ("s_inst_prefetch", Part::Hint),
    ("s_set_inst_prefetch_distance", Part::Hint),
    ("s_setprio", Part::Hint),
    ("s_sendmsg", Part::Hint),
    ("v_", Part::Vector),
    ("s_", Part::Scalar),
    ("ds_", Part::SharedMemory),
    ("buffer_", Part::VectorMemory),
    ("global_", Part::VectorMemory),
    ("flat_", Part::VectorMemory),
    ("scratch_", Part::VectorMemory),
    ("image_", Part::VectorMemory),
];

/// An instruction of a listing.
struct Inst<'t> {
    part: Part,
    /// Its text without the results that ACO writes first.
    text: &'t str,
}

impl Tally {
    /// Counts a listing. Lines without an instruction are ignored.
    pub fn of(listing: &str) -> Tally {
        let (insts, labels) = read(listing);
        let mut tally = Tally::default();
        insts.iter().for_each(|inst| tally.add(inst));
        let weights = weights(&insts, &labels);
        let counts = |inst: &&Inst<'_>| !matches!(inst.part, Part::Wait | Part::Hint);
        tally.weighted = insts.iter().zip(&weights).filter(|(inst, _)| counts(inst)).map(|(_, weight)| weight).sum();
        for line in code(listing) {
            tally.vectors = tally.vectors.max(registers(line, 'v'));
            tally.scalars = tally.scalars.max(registers(line, 's'));
        }
        tally
    }

    /// All instructions except waits and hints.
    pub fn all(&self) -> u64 {
        self.vector + self.scalar + self.memory() + self.branches
    }

    /// Accesses of any memory.
    pub fn memory(&self) -> u64 {
        self.scalar_memory + self.vector_memory + self.shared_memory
    }

    fn add(&mut self, inst: &Inst<'_>) {
        let counter = match inst.part {
            Part::Vector => &mut self.vector,
            Part::Scalar => &mut self.scalar,
            Part::ScalarMemory => &mut self.scalar_memory,
            Part::VectorMemory => &mut self.vector_memory,
            Part::SharedMemory => &mut self.shared_memory,
            Part::Branch => &mut self.branches,
            Part::Wait => &mut self.waits,
            Part::Hint => return,
        };
        *counter += 1;
    }
}

/// The lines of the code, without comments and without the kernel's descriptor at the end.
fn code(listing: &str) -> impl Iterator<Item = &str> {
    let lines = listing.lines().map(|line| line.split([';', '/']).next().unwrap_or_default().trim());
    lines.take_while(|line| !line.starts_with(".amdhsa_kernel") && !line.starts_with("*** SHADER STATS"))
}

/// The instructions, and the place of each label.
fn read(listing: &str) -> (Vec<Inst<'_>>, BTreeMap<&str, usize>) {
    let mut insts = Vec::new();
    let mut labels = BTreeMap::new();
    for line in code(listing) {
        let label = line.trim_end_matches(':');
        if is_label(label) {
            labels.insert(label, insts.len());
        } else {
            insts.extend(inst(line));
        }
    }
    (insts, labels)
}

/// Returns true for a label of this compiler (`.L3`) or of ACO (`BB3`).
fn is_label(word: &str) -> bool {
    let number = word.strip_prefix(".L").or_else(|| word.strip_prefix("BB"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The instruction on a line, possibly after ACO's results: `v1: %5:v[0] = v_add_f32 …`.
fn inst(line: &str) -> Option<Inst<'_>> {
    let text = line.split_once(" = ").map_or(line, |(_, text)| text.trim_start());
    let name = text.split_whitespace().next()?;
    let (_, part) = PARTS.into_iter().find(|(start, _)| name.starts_with(start))?;
    Some(Inst { part, text })
}

/// How often each instruction counts: [`TURNS`] times as often for each loop around it. A loop is the code between a
/// label and the last branch back to it.
fn weights(insts: &[Inst<'_>], labels: &BTreeMap<&str, usize>) -> Vec<u64> {
    let mut loops: BTreeMap<usize, Range<usize>> = BTreeMap::new();
    for (at, inst) in insts.iter().enumerate().filter(|(_, inst)| inst.part == Part::Branch) {
        if let Some(start) = target(inst.text, labels).filter(|start| *start <= at) {
            loops.insert(start, start..at + 1);
        }
    }
    let mut weights = vec![1; insts.len()];
    for body in loops.into_values() {
        weights[body].iter_mut().for_each(|weight| *weight *= TURNS);
    }
    weights
}

/// The target of a branch: ACO writes `s_cbranch_scc1 block:BB3`.
fn target(text: &str, labels: &BTreeMap<&str, usize>) -> Option<usize> {
    text.split([' ', ',', ':']).find_map(|word| labels.get(word)).copied()
}

/// One more than the highest register of a file on a line: `v7`, `v[2:3]`, and ACO's `v[2-3]`.
fn registers(line: &str, file: char) -> u64 {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '[' | ']' | '-' | '.');
    let words = line.split(|c: char| !is_part(c) && c != ':').flat_map(|word| separated(word, file));
    let highest =
        words.filter_map(|word| highest(word, file)).filter(|number| *number < FILE[usize::from(file == 's')]);
    highest.map(|number| number + 1).max().unwrap_or(0)
}

/// The registers in a word, which ACO puts after a value's name: `%5:v[0]`.
fn separated(word: &str, file: char) -> Option<&str> {
    let range = word.find(&format!("{file}[")).map(|at| &word[at..]);
    range.or_else(|| word.rsplit(':').next().filter(|name| name.starts_with(file)))
}

/// The highest register in a word.
fn highest(word: &str, file: char) -> Option<u64> {
    let rest = word.strip_prefix(file)?;
    match rest.strip_prefix('[') {
        Some(range) => range.split(']').next()?.rsplit([':', '-']).next()?.parse().ok(),
        None => rest.parse().ok(),
    }
}
