//! Writing instructions down: their text, and the waiting that the program must do between them.
//!
//! Results of the local data share arrive asynchronously, so they are waited for before they are read. Wait states are
//! those of the profile's prices ([`crate::profile::Cost`]): before an instruction that moves a freshly written register,
//! before one whose index a vector instruction wrote, behind one whose scalar result a vector instruction reads. Hazards
//! with instructions outside of the plan are the emitter's.

use super::operand::{Arg, Instruction, Register};
use crate::backend::amd::mnemonic::{Form, Generation, Operation};
use crate::explain::listing::{Line, Unit, Unwritten};
use crate::profile::Cost;
use std::collections::BTreeMap;

/// What an instruction's price says about waiting, and which of its operands that is about.
#[derive(Clone, Copy, Default)]
pub struct Waits {
    /// The moved register, and the other one of a swap.
    pub moved: [Option<Register>; 2],
    /// The scalar register of its index.
    pub index: Option<Register>,
    pub before: u32,
    pub before_index: u32,
    /// Behind it, until a vector instruction reads its result.
    pub after: u32,
}

impl Waits {
    pub fn new(cost: Option<Cost>, moved: Arg, index: Option<Arg>) -> Waits {
        let Some(cost) = cost else { return Waits::default() };
        let vector = |arg: Arg| arg.registers().next().filter(|register| matches!(register, Register::Vector(_)));
        let index = index.and_then(|index| index.registers().next());
        let index = index.filter(|register| matches!(register, Register::Scalar(_)));
        let (before, before_index) = (cost.wait_before.into(), cost.wait_index.into());
        Waits { moved: [vector(moved), None], index, before, before_index, after: cost.wait_after.into() }
    }
}

/// When a register was written by the vector unit, and from when on that unit may read it.
#[derive(Clone, Copy)]
struct Written {
    at: u32,
    ready: u32,
}

/// Lines so far.
pub struct Writer {
    pub generation: Generation,
    pub wave: u32,
    pub setup: Vec<Line>,
    pub lines: Vec<Line>,
    pub wait_states: u32,
    /// Wait states behind a comparison, until a vector instruction reads its mask.
    pub mask_wait: u32,
    in_setup: bool,
    /// Wait states that have passed.
    clock: u32,
    written: BTreeMap<Register, Written>,
    /// Registers that the local data share has yet to write.
    pending: Vec<Register>,
}

impl Writer {
    pub fn new(generation: Generation, wave: u32, mask_wait: u32) -> Writer {
        Writer {
            generation,
            wave,
            setup: Vec::new(),
            lines: Vec::new(),
            wait_states: 0,
            mask_wait,
            in_setup: false,
            clock: 0,
            written: BTreeMap::new(),
            pending: Vec::new(),
        }
    }

    /// Turns to the set-up, where all hazards are long over when the operation begins, or away from it. Gives what was so
    /// before.
    pub fn enter_setup(&mut self, enter: bool) -> bool {
        std::mem::replace(&mut self.in_setup, enter)
    }

    /// The registers that carry carries.
    pub fn carry(&self) -> Arg {
        if self.wave == 64 { Arg::Carry64 } else { Arg::Carry32 }
    }

    pub fn plain(&mut self, operation: Operation, written: &[Arg], read: &[Arg]) -> Result<(), Unwritten> {
        self.put(&Instruction::new(operation, written, read), Waits::default())
    }

    /// Writes an instruction behind the waiting that it needs.
    pub fn put(&mut self, instruction: &Instruction, waits: Waits) -> Result<(), Unwritten> {
        let spelling = instruction.operation.spelling(self.generation);
        let missing = || Unwritten(format!("{:?} does not exist here", instruction.operation));
        let spelling = spelling.ok_or_else(missing)?;
        let unit = unit(spelling.name);
        if !self.in_setup {
            self.wait_for_lds(instruction)?;
            self.wait_states(instruction, unit, &waits)?;
        }
        let suffix = match (instruction.suffix.as_str(), spelling.form) {
            ("_dpp", Form::Vop3) => "_e64_dpp",
            (suffix, _) => suffix,
        };
        let carry = (spelling.form == Form::Carry && instruction.written.len() == 1).then(|| self.carry());
        let operands = instruction.written.iter().chain(&carry).chain(&instruction.read);
        let operands: Vec<String> = operands.map(ToString::to_string).collect();
        let space = if operands.is_empty() { "" } else { " " };
        let modifiers = &instruction.modifiers;
        let gap = if modifiers.is_empty() { "" } else { " " };
        let text = format!("{}{suffix}{space}{}{gap}{modifiers}", spelling.name, operands.join(", "));
        self.line(Line { text, unit });
        self.note(instruction, unit, carry, &waits);
        Ok(())
    }

    fn line(&mut self, line: Line) {
        if self.in_setup {
            self.setup.push(line);
        } else {
            self.lines.push(line);
            self.clock += 1;
        }
    }

    /// Remembers what the instruction wrote.
    fn note(&mut self, instruction: &Instruction, unit: Unit, carry: Option<Arg>, waits: &Waits) {
        let registers = instruction.written.iter().copied().chain(carry).flat_map(Arg::registers);
        for register in registers {
            self.written.remove(&register);
            match unit {
                Unit::Lds => self.pending.push(register),
                Unit::Vector if !self.in_setup => {
                    let ready = self.clock + waits.after;
                    self.written.insert(register, Written { at: self.clock, ready });
                }
                _ => {}
            }
        }
    }

    fn wait_for_lds(&mut self, instruction: &Instruction) -> Result<(), Unwritten> {
        let touched = instruction.written.iter().chain(&instruction.read).flat_map(|arg| arg.registers());
        if touched.into_iter().any(|register| self.pending.contains(&register)) { self.settle() } else { Ok(()) }
    }

    /// Waits for everything that is under way.
    pub fn settle(&mut self) -> Result<(), Unwritten> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let spelling = Operation::WaitLds.spelling(self.generation);
        let text = spelling.ok_or_else(|| Unwritten("no wait for the local data share".into()))?.name;
        self.line(Line { text: text.into(), unit: Unit::Wait });
        self.pending.clear();
        Ok(())
    }

    fn wait_states(&mut self, instruction: &Instruction, unit: Unit, waits: &Waits) -> Result<(), Unwritten> {
        let since = |register: &Register| self.written.get(register).map(|written| self.clock - written.at);
        let left = |register: Option<Register>, states: u32| {
            register.and_then(|register| since(&register)).map_or(0, |passed| states.saturating_sub(passed))
        };
        let moved = waits.moved.iter().map(|register| left(*register, waits.before)).max().unwrap_or(0);
        let mut states = moved.max(left(waits.index, waits.before_index));
        if unit == Unit::Vector {
            let read = instruction.read.iter().flat_map(|arg| arg.registers());
            let ready = read.filter_map(|register| self.written.get(&register)).map(|written| written.ready).max();
            states = states.max(ready.unwrap_or(0).saturating_sub(self.clock));
        }
        self.idle(states)
    }

    /// One S_NOP for so many wait states; each leaves at most 8.
    fn idle(&mut self, mut states: u32) -> Result<(), Unwritten> {
        self.wait_states += states;
        while states > 0 {
            let step = states.min(8);
            let spelling = Operation::Nop.spelling(self.generation);
            let name = spelling.ok_or_else(|| Unwritten("no wait states".into()))?.name;
            self.lines.push(Line { text: format!("{name} {}", step - 1), unit: Unit::Wait });
            self.clock += step;
            states -= step;
        }
        Ok(())
    }
}

/// The unit that a name begins with.
fn unit(name: &str) -> Unit {
    match name.split_once('_').map_or("", |(unit, _)| unit) {
        "v" => Unit::Vector,
        "ds" => Unit::Lds,
        _ if name.starts_with("s_wait") || name.starts_with("s_nop") => Unit::Wait,
        _ => Unit::Scalar,
    }
}
