//! Runs RADV's kernels: the listing from ACO, with the registers and descriptors that the driver would set up.
//!
//! The driver's arguments are derived from its output: the registers from ACO's first instruction, their meaning from
//! the intrinsics that read them. Push constants in registers are assumed to be the lowest words that the module reads;
//! a wrong guess shows in the buffers, which the caller compares.

mod words;

use crate::amd::memory::Memory;
use crate::amd::target::Target;
use crate::amd::{self, Dispatch, Registers, Traced};
use crate::interpret::words;
use crate::lavapipe::{Buffers, Request};
use crate::radv::{self, Shader};

/// The addresses of the descriptors and of the push constants: 32-bit pointers get this high half.
const DESCRIPTORS: u64 = 0xffff_8000_0001_0000;
const PUSH: u64 = 0xffff_8000_0002_0000;
/// The last of a descriptor's four words: destination channels and a format, which untyped accesses do not read.
const FORMAT: u32 = 0x0002_4fac;
/// The register of the pointer to the descriptors; those before it are for scratch memory.
const SET: usize = 2;

/// The meanings of a kernel's scalar registers, in their order after the pointer of the descriptors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Arguments {
    /// True if the first is a pointer to the push constants.
    pointer: bool,
    /// Push constants in registers.
    inlined: usize,
    /// True if the numbers of workgroups follow.
    counts: bool,
    groups: [bool; 3],
    group_info: bool,
}

/// Runs a shader's first case on a processor; the buffers after it and the instructions that it executed.
pub fn run(shader: &Shader<'_>, family: &str, processor: &str, request: &Request) -> Result<(Buffers, Traced), String> {
    let wave = shader.wave.ok_or("the size of waves is not said")? as usize;
    let target = Target::new(processor, wave)?;
    let listing = radv::measured(shader, family)?;
    let arguments = Arguments::read(&radv::intermediate(shader, family)?, &target)?;
    if statistic(&listing, "Scratch size") != Some(0) {
        return Err("the kernel has scratch memory".to_owned());
    }
    let before = request.runs.first().ok_or("the request has no runs")?;
    let mut memory = Memory::default();
    let bytes = |words: &Vec<u32>| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let addresses: Vec<u64> = before.iter().map(|words| memory.add(bytes(words), true)).collect();
    memory.add_at(DESCRIPTORS, descriptors(before, &addresses));
    memory.add_at(PUSH, request.push_constants.clone());
    let mut registers = arguments.registers(shader, request)?;
    let group_size = words::group_size(shader.module, shader.constants)?;
    registers.dimensions = group_size.iter().rposition(|size| *size > 1).map_or(1, |last| last + 1);
    registers.lds = statistic(&listing, "LDS size").unwrap_or(0);
    let program = amd::Program::listed(&code(&listing)?, target, registers)?;
    let dispatch = Dispatch { groups: request.groups, group_size, arguments: &[], backwards: false, together: false };
    let executed = amd::run(&program, &mut memory, &dispatch)?;
    let after = addresses.iter().map(|address| memory.block(*address).map(words).unwrap_or_default());
    Ok((after.collect(), Traced::new(&program, executed)))
}

/// The instructions and labels of a listing, with repeated instructions expanded.
fn code(listing: &str) -> Result<String, String> {
    let (_, code) = listing.split_once("disasm:\n").ok_or("RADV printed no listing")?;
    let mut lines: Vec<&str> = Vec::new();
    for line in code.lines().take_while(|line| !line.is_empty()) {
        if line.contains("(invalid instruction)") {
            return Err("the listing has instructions that LLVM's disassembler does not know".to_owned());
        }
        match (repetitions(line), lines.last().copied()) {
            (Some(times), Some(last)) => lines.extend(std::iter::repeat_n(last, times)),
            _ => lines.push(line),
        }
    }
    Ok(lines.join("\n"))
}

/// How often the instruction before a note is repeated: `(then repeated 2 times)`.
fn repetitions(line: &str) -> Option<usize> {
    line.trim().strip_prefix("(then repeated ")?.strip_suffix(" times)")?.parse().ok()
}

/// A line `NAME: NUMBER` of the driver's statistics.
fn statistic(listing: &str, name: &str) -> Option<usize> {
    let line = listing.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
    line.trim().parse().ok()
}

/// The descriptors of the buffers: address, number of bytes, and a word about formats.
fn descriptors(buffers: &Buffers, addresses: &[u64]) -> Vec<u8> {
    let words = buffers
        .iter()
        .zip(addresses)
        .flat_map(|(buffer, address)| [*address as u32, (*address >> 32) as u32, 4 * buffer.len() as u32, FORMAT]);
    words.flat_map(u32::to_le_bytes).collect()
}

impl Arguments {
    /// Reads NIR and ACO's form of a kernel.
    fn read(printed: &str, target: &Target) -> Result<Self, String> {
        let start = printed.lines().find(|line| line.contains("p_startpgm")).ok_or("the listing has no p_startpgm")?;
        // Before gfx11 the last one is for scratch memory.
        let scalars = start.split_whitespace().filter(|word| word.starts_with('%') && word.contains(":s[")).count();
        let scalars = scalars.saturating_sub(usize::from(target.version < 1100));
        let values = |intrinsic: &str| {
            let lines = printed.lines().filter(|line| line.contains(intrinsic)).collect::<Vec<_>>();
            lines.into_iter().filter_map(|line| line.split_whitespace().find(|word| word.starts_with('%')))
        };
        let argument = |n: usize| values(&format!("@load_scalar_arg_amd (base={n},")).collect::<Vec<_>>();
        let is_address = |value: &str| printed.contains(&format!("pack_64_2x32_split {value},"));
        let ids: Vec<&str> = values("@load_workgroup_id").collect();
        let is_read = |axis| ids.iter().any(|id| reads(printed, id, axis));
        let groups = [is_read('x'), is_read('y'), is_read('z')];
        // Workgroup ids are not read by number, so such a read of the last argument reads the wave's position. The
        // first two arguments are the scratch memory registers and the descriptors.
        let pointer = argument(2).iter().any(|value| is_address(value));
        let group_info = scalars > 2 && !argument(scalars - 1).is_empty();
        let counts = printed.contains("@load_num_workgroups");
        let taken = 2
            + usize::from(pointer)
            + usize::from(counts)
            + groups.iter().filter(|enabled| **enabled).count()
            + usize::from(group_info);
        let inlined =
            scalars.checked_sub(taken).ok_or_else(|| format!("{scalars} arguments are fewer than {taken}"))?;
        Ok(Self { pointer, inlined, counts, groups, group_info })
    }

    /// The values of the registers for a case.
    fn registers(&self, shader: &Shader<'_>, request: &Request) -> Result<Registers, String> {
        let mut values = vec![DESCRIPTORS as u32];
        values.extend(self.pointer.then_some(PUSH as u32));
        let read = words::push_words(shader.module)?;
        let missing = || format!("{} push constants are in registers, the module reads {}", self.inlined, read.len());
        let inlined = read.get(..self.inlined).ok_or_else(missing)?;
        if !self.pointer && inlined.len() != read.len() {
            return Err(missing());
        }
        for word in inlined {
            let bytes = request.push_constants.get(4 * word..4 * word + 4).ok_or("a push constant is not given")?;
            values.push(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        }
        values.extend(request.groups.iter().filter(|_| self.counts));
        let groups_at = SET + values.len();
        let given = (SET..).zip(values).collect();
        let Self { groups, group_info, .. } = *self;
        Ok(Registers { given, groups_at, groups, group_info, ..Registers::default() })
    }
}

/// Returns true if a component of a value is read: `%18.y`, or the value as a whole.
fn reads(printed: &str, value: &str, axis: char) -> bool {
    let part = format!("{value}.{axis}");
    let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric());
    printed.match_indices(&part).any(|(at, _)| ends(&printed[at + part.len()..]))
}
