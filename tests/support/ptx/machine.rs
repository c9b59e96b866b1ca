//! A workgroup: lanes with their own registers and program counters, and their shared state.

use super::Schedule;
use super::arithmetic::{self, Type};
use super::parse::{Inst, Operand, Program, Register};
use std::collections::HashMap;

/// Lanes of a warp.
const WARP: usize = 32;
/// The content of unwritten registers.
const JUNK: u64 = 0x5bad_c0de_5bad_c0de;
/// Instructions of all lanes after which a program counts as endless.
const STEPS: usize = 40_000_000;
/// Bytes between the starts of buffers.
const APART: u64 = 1 << 33;

/// Memory that all workgroups share.
#[derive(Default)]
pub struct Memory {
    pub buffers: Vec<Vec<u8>>,
    arguments: Vec<(String, Vec<u8>)>,
}

impl Memory {
    pub fn new(buffers: Vec<Vec<u8>>, arguments: Vec<(String, Vec<u8>)>) -> Memory {
        Memory { buffers, arguments }
    }

    /// The address of a buffer.
    pub const fn address(buffer: usize) -> u64 {
        (buffer as u64 + 1) * APART
    }
}

/// The reason for which a lane waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Runs,
    /// In the current instruction, for the lanes of a mask.
    Meets(u32),
    /// At a barrier of the workgroup.
    Waits,
    Ended,
}

struct Lane {
    pc: usize,
    state: State,
    /// By the kinds in [`KINDS`].
    registers: [Vec<u64>; 4],
    local: Vec<u8>,
    /// A hash of the branches taken. Lanes of a warp with different hashes may have diverged.
    ways: u64,
}

impl Lane {
    fn branch(&mut self, at: usize, taken: bool) {
        self.ways = (self.ways ^ (at as u64 * 2 + u64::from(taken))).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    }

    fn get(&self, (letter, n): Register) -> u64 {
        self.registers[kind(letter)][n]
    }

    /// Registers have the number of bits given by their names.
    fn set(&mut self, (letter, n): Register, value: u64) {
        let kind = kind(letter);
        self.registers[kind][n] = value & KINDS[kind].1;
    }
}

/// Prefixes of register names, and the registers' number of bits.
const KINDS: [(char, u64); 4] = [('p', 1), ('h', 0xffff), ('r', 0xffff_ffff), ('d', u64::MAX)];

fn kind(letter: char) -> usize {
    KINDS.iter().position(|(known, _)| *known == letter).unwrap_or(3)
}

pub struct Group<'p> {
    program: &'p Program,
    /// All memory, while the group runs.
    memory: Memory,
    group: [u32; 3],
    groups: [u32; 3],
    schedule: Schedule,
    lanes: Vec<Lane>,
    shared: Vec<u8>,
    steps: usize,
}

impl<'p> Group<'p> {
    pub fn new(program: &'p Program, [group, groups]: [[u32; 3]; 2], schedule: Schedule) -> Self {
        let count = program.group_size.iter().product::<u32>() as usize;
        let registers = KINDS.map(|(letter, bits)| {
            let count = program.registers.get(&letter).copied().unwrap_or_default();
            vec![JUNK & bits; count]
        });
        let local = vec![0xc5; program.local.values().sum()];
        let lane = || Lane { pc: 0, state: State::Runs, registers: registers.clone(), local: local.clone(), ways: 0 };
        let lanes = (0..count).map(|_| lane()).collect();
        let shared = vec![0xc5; program.shared.values().sum()];
        Group { program, memory: Memory::default(), group, groups, schedule, lanes, shared, steps: 0 }
    }

    /// Runs lanes for a while, on the memory that all groups share. Returns false once all have ended.
    pub fn run(&mut self, memory: &mut Memory) -> Result<bool, String> {
        std::mem::swap(&mut self.memory, memory);
        let goes_on = self.round();
        std::mem::swap(&mut self.memory, memory);
        goes_on
    }

    fn round(&mut self) -> Result<bool, String> {
        self.advance()?;
        let met = self.meet()?;
        if met || self.lanes.iter().any(|lane| lane.state == State::Runs) {
            return Ok(true);
        }
        if self.lanes.iter().all(|lane| lane.state == State::Ended) {
            return Ok(false);
        }
        self.pass_barrier().map(|()| true)
    }

    /// Runs lanes as far as possible, or one instruction each.
    fn advance(&mut self) -> Result<(), String> {
        let count = self.lanes.len();
        match self.schedule {
            Schedule::Ascending => (0..count).try_for_each(|lane| self.run_lane(lane, usize::MAX)),
            Schedule::Descending => (0..count).rev().try_for_each(|lane| self.run_lane(lane, usize::MAX)),
            Schedule::Mixed(state) => {
                // xorshift64.
                let mut state = state;
                for bits in [13, 7, 17] {
                    state ^= if bits == 7 { state >> bits } else { state << bits };
                }
                self.schedule = Schedule::Mixed(state);
                let turned = state as usize % count;
                (0..count).try_for_each(|n| self.run_lane((n + turned) % count, 1 + (state >> (n % 60)) as usize % 5))
            }
        }
    }

    fn run_lane(&mut self, lane: usize, mut left: usize) -> Result<(), String> {
        while self.lanes[lane].state == State::Runs && left > 0 {
            let program = self.program;
            let at = self.lanes[lane].pc;
            let inst = program.insts.get(at).ok_or("a lane runs past the end")?;
            self.steps += 1;
            if self.steps > STEPS {
                return Err("it does not end".to_owned());
            }
            self.step(lane, inst)
                .map_err(|why| format!("line {}: {}: lane {lane}: {why}", inst.line, inst.name.join(".")))?;
            left -= 1;
        }
        Ok(())
    }

    // Lanes that meet.

    /// Runs the instructions at which all lanes of a mask have met. Returns true if there was one.
    fn meet(&mut self) -> Result<bool, String> {
        let mut met = false;
        for lane in 0..self.lanes.len() {
            let State::Meets(mask) = self.lanes[lane].state else { continue };
            let first = lane / WARP * WARP;
            let members: Vec<usize> = (0..WARP).filter(|n| mask >> n & 1 != 0).map(|n| first + n).collect();
            let pc = self.lanes[lane].pc;
            let inst = &self.program.insts[pc];
            let fault = |why: String| format!("line {}: {}: lane {lane}: {why}", inst.line, inst.name.join("."));
            if let Some(missing) = members.iter().find(|member| self.lanes.get(**member).is_none()) {
                return Err(fault(format!(
                    "the mask {mask:#x} names lane {missing}, which the workgroup does not have"
                )));
            }
            if let Some(ended) = members.iter().find(|member| self.lanes[**member].state == State::Ended) {
                return Err(fault(format!("the mask {mask:#x} names lane {ended}, which has ended")));
            }
            let is_here =
                |member: &usize| self.lanes[*member].state == State::Meets(mask) && self.lanes[*member].pc == pc;
            if members.iter().all(is_here) {
                self.across(inst, &members, first).map_err(fault)?;
                for member in members {
                    self.lanes[member].state = State::Runs;
                    self.lanes[member].pc += 1;
                }
                met = true;
            }
        }
        Ok(met)
    }

    /// Releases a barrier at which all lanes that have not ended are waiting.
    fn pass_barrier(&mut self) -> Result<(), String> {
        let stuck = self.lanes.iter().enumerate().find(|(_, lane)| matches!(lane.state, State::Meets(_)));
        if let Some((n, lane)) = stuck {
            let (state, line) = (lane.state, self.program.insts[lane.pc].line);
            let others: Vec<String> = self
                .lanes
                .iter()
                .enumerate()
                .filter(|(other, _)| other / WARP == n / WARP)
                .map(|(other, lane)| {
                    format!("{other}: line {} {:?}", self.program.insts.get(lane.pc).map_or(0, |i| i.line), lane.state)
                })
                .collect();
            return Err(format!("line {line}: lane {n} waits for ever, {state:?}; {}", others.join(", ")));
        }
        let mut places = self.lanes.iter().filter(|lane| lane.state == State::Waits).map(|lane| lane.pc);
        let first = places.next().ok_or("no lane runs")?;
        if places.any(|place| place != first) {
            return Err("lanes wait at different barriers".to_owned());
        }
        self.check_aligned(first)?;
        for lane in self.lanes.iter_mut().filter(|lane| lane.state == State::Waits) {
            lane.state = State::Runs;
            lane.pc += 1;
        }
        Ok(())
    }

    /// Holds the lanes of each warp to the contract of the aligned form of a barrier.
    fn check_aligned(&self, pc: usize) -> Result<(), String> {
        let inst = &self.program.insts[pc];
        let is_apart = |warp: &[Lane]| {
            let mut ways = warp.iter().filter(|lane| lane.state == State::Waits).map(|lane| lane.ways);
            let first = ways.next();
            ways.any(|way| Some(way) != first)
        };
        match inst.name[0] == "bar" && self.lanes.chunks(WARP).any(is_apart) {
            true => Err(format!("line {}: lanes that a branch has parted come to an aligned barrier", inst.line)),
            false => Ok(()),
        }
    }

    /// An instruction of lanes that have met; `first` is the first lane of their warp.
    fn across(&mut self, inst: &Inst, members: &[usize], first: usize) -> Result<(), String> {
        let row = |group: &Self, n: usize| -> Result<HashMap<usize, u64>, String> {
            members.iter().map(|lane| Ok((*lane, group.value(*lane, &inst.operands[n])?))).collect()
        };
        let kind = inst.name[0].as_str();
        if kind == "bar" {
            return Ok(());
        }
        let values = row(self, 1)?;
        let bits = |of: &dyn Fn(u64) -> bool| {
            members.iter().fold(0_u64, |bits, lane| bits | u64::from(of(values[lane])) << (lane - first))
        };
        let result: HashMap<usize, (u64, bool)> = match kind {
            "vote" => {
                let ones = members.iter().filter(|lane| values[*lane] != 0).count();
                let value = match inst.name[2].as_str() {
                    "ballot" => bits(&|value| value != 0),
                    "all" => (ones == members.len()).into(),
                    "any" => (ones > 0).into(),
                    "uni" => (ones == 0 || ones == members.len()).into(),
                    _ => return Err("an unknown vote".to_owned()),
                };
                members.iter().map(|lane| (*lane, (value, false))).collect()
            }
            "match" => {
                let all = members.iter().all(|lane| values[lane] == values[&members[0]]);
                let of = |lane: &usize| match inst.name[1].as_str() {
                    "any" => bits(&|value| value == values[lane]),
                    _ if all => bits(&|_| true),
                    _ => 0,
                };
                members.iter().map(|lane| (*lane, (of(lane), all))).collect()
            }
            "redux" => {
                let value = redux(inst, members.iter().map(|lane| values[lane]))?;
                members.iter().map(|lane| (*lane, (value, false))).collect()
            }
            "shfl" => {
                let (index, clamp) = (row(self, 2)?, row(self, 3)?);
                let of = |lane: &usize| {
                    let (source, valid) = shuffled(&inst.name[2], lane - first, index[lane], clamp[lane])?;
                    // The value of a lane that is not named is undefined.
                    Ok((*lane, (values.get(&(first + source)).copied().unwrap_or(JUNK), valid)))
                };
                members.iter().map(of).collect::<Result<_, String>>()?
            }
            _ => return Err("not known of warps".to_owned()),
        };
        for (lane, (value, valid)) in result {
            match inst.operands[0] {
                Operand::Register(to) => self.lanes[lane].set(to, value),
                Operand::Pair(to, predicate) => {
                    self.lanes[lane].set(to, value);
                    self.lanes[lane].set(predicate, valid.into());
                }
                _ => return Err("it has no target".to_owned()),
            }
        }
        Ok(())
    }

    // The instructions that a lane runs by itself.

    fn step(&mut self, lane: usize, inst: &Inst) -> Result<(), String> {
        if let Some((predicate, holds)) = inst.guard
            && (self.lanes[lane].get(('p', predicate)) != 0) != holds
        {
            if inst.name[0] == "bra" {
                self.lanes[lane].branch(inst.line, false);
            }
            self.lanes[lane].pc += 1;
            return Ok(());
        }
        match inst.name[0].as_str() {
            "bra" => {
                let [Operand::Name(label)] = &inst.operands[..] else { return Err("no label".to_owned()) };
                if inst.guard.is_some() {
                    self.lanes[lane].branch(inst.line, true);
                }
                self.lanes[lane].pc = self.program.labels[label];
                return Ok(());
            }
            "ret" => {
                self.lanes[lane].state = State::Ended;
                return Ok(());
            }
            "bar" | "barrier" if inst.name[1] == "sync" => {
                self.lanes[lane].state = State::Waits;
                return Ok(());
            }
            "vote" | "match" | "redux" | "shfl" | "bar" => return self.arrive(lane, inst),
            "membar" | "nanosleep" => {}
            "ld" => self.load(lane, inst)?,
            "st" => self.store(lane, inst)?,
            "atom" => self.atomic(lane, inst)?,
            "mov"
                if matches!(inst.operands[1], Operand::Vector(_)) || matches!(inst.operands[0], Operand::Vector(_)) =>
            {
                self.pack(lane, inst)?;
            }
            _ => {
                let args: Vec<u64> =
                    inst.operands[1..].iter().map(|operand| self.value(lane, operand)).collect::<Result<_, _>>()?;
                let value = arithmetic::apply(inst, &args)?;
                let Operand::Register(to) = inst.operands[0] else { return Err("it has no target".to_owned()) };
                self.lanes[lane].set(to, value);
            }
        }
        self.lanes[lane].pc += 1;
        Ok(())
    }

    /// Waits for the lanes that the last operand names.
    fn arrive(&mut self, lane: usize, inst: &Inst) -> Result<(), String> {
        if !inst.has("sync") {
            return Err("it names no lanes".to_owned());
        }
        let mask = self.value(lane, inst.operands.last().ok_or("no mask")?)? as u32;
        if mask >> (lane % WARP) & 1 == 0 {
            return Err(format!("the mask {mask:#x} does not name the own lane"));
        }
        self.lanes[lane].state = State::Meets(mask);
        Ok(())
    }

    /// Composes a value from its halves, or splits it.
    fn pack(&mut self, lane: usize, inst: &Inst) -> Result<(), String> {
        let half = if inst.has("b32") { 16 } else { 32 };
        match (&inst.operands[0], &inst.operands[1]) {
            (Operand::Register(to), Operand::Vector(parts)) if parts.len() == 2 => {
                let [low, high] = [self.value(lane, &parts[0])?, self.value(lane, &parts[1])?];
                self.lanes[lane].set(*to, low & ((1 << half) - 1) | high << half);
            }
            (Operand::Vector(parts), from) => {
                let value = self.value(lane, from)?;
                let [Operand::Register(low), Operand::Register(high)] = parts[..] else {
                    return Err("two halves".to_owned());
                };
                self.lanes[lane].set(low, value);
                self.lanes[lane].set(high, value >> half);
            }
            _ => return Err("a vector elsewhere".to_owned()),
        }
        Ok(())
    }

    fn value(&self, lane: usize, operand: &Operand) -> Result<u64, String> {
        match operand {
            Operand::Register(register) => Ok(self.lanes[lane].get(*register)),
            Operand::Constant(bits) => Ok(*bits),
            Operand::Special(name) => self.special(lane, name),
            // The only array in its address space begins at 0.
            Operand::Name(name) if self.program.shared.contains_key(name) || self.program.local.contains_key(name) => {
                Ok(0)
            }
            _ => Err("an operand that is no value".to_owned()),
        }
    }

    fn special(&self, lane: usize, name: &str) -> Result<u64, String> {
        let [x, y, _] = self.program.group_size.map(|size| size as usize);
        let own = lane % WARP;
        let axis = |name: &str| "xyz".find(&name[name.len() - 1..]).unwrap_or(0);
        Ok(match name {
            "%tid.x" | "%tid.y" | "%tid.z" => [lane % x, lane / x % y, lane / x / y][axis(name)] as u64,
            "%ctaid.x" | "%ctaid.y" | "%ctaid.z" => self.group[axis(name)].into(),
            "%nctaid.x" | "%nctaid.y" | "%nctaid.z" => self.groups[axis(name)].into(),
            "%laneid" => own as u64,
            "%lanemask_eq" => 1 << own,
            "%lanemask_lt" => (1 << own) - 1,
            "%lanemask_le" => (2 << own) - 1,
            "%lanemask_gt" => !((2_u64 << own) - 1) & 0xffff_ffff,
            "%lanemask_ge" => !((1_u64 << own) - 1) & 0xffff_ffff,
            "%warpid" => (lane / WARP) as u64,
            "%smid" => 0,
            "%nwarpid" => 64,
            "%nsmid" => 1,
            _ => return Err(format!("{name} is not known")),
        })
    }

    // Memory.

    /// The bytes at an address; `None` beyond the end of a buffer, where reads and writes have no effect.
    fn bytes(&mut self, lane: usize, inst: &Inst, operand: &Operand, size: usize) -> Result<Option<&mut [u8]>, String> {
        let Operand::Memory { base, offset } = operand else { return Err("no address".to_owned()) };
        if let (true, Operand::Name(name)) = (inst.has("param"), &**base) {
            let found = self.memory.arguments.iter_mut().find(|(known, _)| known == name);
            let (_, bytes) = found.ok_or_else(|| format!("no parameter {name}"))?;
            let at = *offset as usize;
            return bytes.get_mut(at..at + size).map(Some).ok_or_else(|| "beyond the parameter".to_owned());
        }
        let address = self.value(lane, base)?.wrapping_add(*offset as u64);
        if !address.is_multiple_of(size as u64) {
            return Err(format!("address {address:#x} is not a multiple of {size}"));
        }
        if inst.has("global") {
            let buffer = (address / APART).checked_sub(1).map(|buffer| buffer as usize);
            let buffer = buffer.and_then(|buffer| self.memory.buffers.get_mut(buffer)).ok_or("no buffer is there")?;
            let at = (address % APART) as usize;
            return Ok(buffer.get_mut(at..at + size));
        }
        let bytes = if inst.has("shared") { &mut self.shared } else { &mut self.lanes[lane].local };
        let at = address as u32 as usize;
        bytes.get_mut(at..at + size).map(Some).ok_or_else(|| format!("address {at} is outside"))
    }

    fn load(&mut self, lane: usize, inst: &Inst) -> Result<(), String> {
        let size = (Type::read(inst.ty())?.bits / 8) as usize;
        let to = registers(&inst.operands[0])?;
        count_fits(inst, to.len())?;
        let bytes = self.bytes(lane, inst, &inst.operands[1], size * to.len())?;
        let bytes = bytes.map_or(vec![0; size * to.len()], |bytes| bytes.to_vec());
        for (to, bytes) in to.into_iter().zip(bytes.chunks_exact(size)) {
            self.lanes[lane].set(to, read(bytes));
        }
        Ok(())
    }

    fn store(&mut self, lane: usize, inst: &Inst) -> Result<(), String> {
        let size = (Type::read(inst.ty())?.bits / 8) as usize;
        let from = registers(&inst.operands[1])?;
        count_fits(inst, from.len())?;
        let values: Vec<u64> = from.iter().map(|from| self.lanes[lane].get(*from)).collect();
        if let Some(bytes) = self.bytes(lane, inst, &inst.operands[0], size * values.len())? {
            for (bytes, value) in bytes.chunks_exact_mut(size).zip(values) {
                bytes.copy_from_slice(&value.to_le_bytes()[..size]);
            }
        }
        Ok(())
    }

    fn atomic(&mut self, lane: usize, inst: &Inst) -> Result<(), String> {
        let size = (Type::read(inst.ty())?.bits / 8) as usize;
        let args: Vec<u64> =
            inst.operands[2..].iter().map(|operand| self.value(lane, operand)).collect::<Result<_, _>>()?;
        let mut old = JUNK;
        if let Some(bytes) = self.bytes(lane, inst, &inst.operands[1], size)? {
            old = read(bytes);
            let new = updated(inst, old, &args)?;
            bytes.copy_from_slice(&new.to_le_bytes()[..size]);
        }
        let Operand::Register(to) = inst.operands[0] else { return Err("it has no target".to_owned()) };
        self.lanes[lane].set(to, old);
        Ok(())
    }
}

fn registers(operand: &Operand) -> Result<Vec<Register>, String> {
    match operand {
        Operand::Register(register) => Ok(vec![*register]),
        Operand::Vector(members) => {
            members.iter().map(registers).collect::<Result<Vec<_>, _>>().map(|all| all.concat())
        }
        _ => Err("no registers".to_owned()),
    }
}

fn count_fits(inst: &Inst, count: usize) -> Result<(), String> {
    let said = if inst.has("v4") {
        4
    } else if inst.has("v2") {
        2
    } else {
        1
    };
    if said == count { Ok(()) } else { Err(format!("{count} registers for {said} values")) }
}

fn read(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte))
}

fn updated(inst: &Inst, old: u64, args: &[u64]) -> Result<u64, String> {
    let name = inst.name[inst.name.len() - 2].as_str();
    let plain = |name: &str, rounds: &[&str]| {
        let parts = [name].iter().chain(rounds).copied().chain([inst.ty()]).map(str::to_owned).collect();
        arithmetic::apply(&Inst { guard: None, name: parts, operands: Vec::new(), line: inst.line }, &[old, args[0]])
    };
    match name {
        "exch" => Ok(args[0]),
        "cas" => Ok(if old == args[0] { args[1] } else { old }),
        "add" if inst.ty().starts_with('f') => plain("add", &["rn"]),
        "add" | "min" | "max" | "and" | "or" | "xor" => plain(name, &[]),
        _ => Err("an unknown atomic".to_owned()),
    }
}

fn redux(inst: &Inst, values: impl Iterator<Item = u64>) -> Result<u64, String> {
    let ty = inst.ty().to_owned();
    let name = inst.name[2].clone();
    let step = |a: u64, b: u64| {
        let parts = vec![name.clone(), ty.clone()];
        arithmetic::apply(&Inst { guard: None, name: parts, operands: Vec::new(), line: inst.line }, &[a, b])
    };
    let mut values = values;
    let first = values.next().ok_or("no lane")?;
    values.try_fold(first, step)
}

/// The lane that a shuffle reads, and whether it is in range (PTX ISA, `shfl.sync`).
fn shuffled(mode: &str, lane: usize, index: u64, clamp: u64) -> Result<(usize, bool), String> {
    let (lane, index) = (lane as i64, (index & 31) as i64);
    let (segment, clamp) = ((clamp >> 8 & 31) as i64, (clamp & 31) as i64);
    let most = lane & segment | clamp & !segment;
    let least = lane & segment;
    let (source, valid) = match mode {
        "up" => (lane - index, lane - index >= most),
        "down" => (lane + index, lane + index <= most),
        "bfly" => (lane ^ index, lane ^ index <= most),
        "idx" => (least | index & !segment & 31, (least | index & !segment & 31) <= most),
        _ => return Err("an unknown shuffle".to_owned()),
    };
    Ok((if valid { source } else { lane } as usize, valid))
}
