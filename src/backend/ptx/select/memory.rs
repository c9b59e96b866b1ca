//! Loads and stores, and barriers.

use super::{Class, Reg, Selector};
use crate::backend::pieces::{self, Piece};
use crate::backend::ptx::interface::{PRIVATE, PUSH, SHARED};
use crate::backend::ptx::mnemonic;
use crate::ir::{MemoryKinds, Order, Scope};
use crate::kernel::{InstId, MemoryAccess, MemorySpace, Value};

/// The pieces of an access, of at most 16 bytes (PTX ISA, section "Vectors").
fn pieces(access: MemoryAccess) -> Vec<Piece> {
    pieces::pieces(access, |size| size <= 16)
}

/// A register and a constant that make an address.
pub struct Address {
    base: String,
    offset: u32,
}

impl Address {
    pub fn at(&self, more: u32) -> String {
        match self.offset.wrapping_add(more) {
            0 => format!("[{}]", self.base),
            offset => format!("[{}+{offset}]", self.base),
        }
    }
}

impl Selector<'_> {
    /// The address of a buffer, which is loaded at the start.
    pub fn load_addresses(&mut self) {
        for (n, slot) in self.interface.slots.iter().enumerate().filter(|(_, slot)| slot.is_used) {
            let generic = self.inst(Class::Long, "ld.param.u64", format_args!("[{}]", slot.address));
            self.buffers[n] = Some(self.inst(Class::Long, "cvta.to.global.u64", generic));
        }
    }

    pub fn buffer_bytes(&mut self, buffer: u32) -> Reg {
        let name = self.interface.slots[buffer as usize].size.clone().unwrap_or_default();
        let bytes = self.inst(Class::Long, "ld.param.u64", format_args!("[{name}]"));
        self.word("cvt.u32.u64", bytes)
    }

    /// The place of an access.
    pub fn place(&mut self, access: MemoryAccess, address: Value) -> Address {
        let named = match access.space {
            MemorySpace::Shared => SHARED,
            MemorySpace::Private(_) => {
                self.uses_private = true;
                PRIVATE
            }
            MemorySpace::Push => PUSH,
            MemorySpace::Physical => return self.physical(access, address),
            MemorySpace::Buffer(buffer) => return self.in_buffer(buffer, access, address),
        };
        if let Some(bits) = self.known(address) {
            return Address { base: named.to_owned(), offset: (bits as u32).wrapping_add(access.offset) };
        }
        let (start, index) = (self.word("mov.b32", named), self.arg(address));
        let sum = self.word("add.s32", format_args!("{start}, {index}"));
        Address { base: sum.to_string(), offset: access.offset }
    }

    fn physical(&mut self, access: MemoryAccess, address: Value) -> Address {
        let base = self.arg(address);
        self.near(base, access.offset)
    }

    fn in_buffer(&mut self, buffer: u32, access: MemoryAccess, address: Value) -> Address {
        let base = match self.buffers[buffer as usize] {
            Some(base) => base,
            None => self.reg(Class::Long),
        };
        if let Some(bits) = self.known(address) {
            return self.near(base, (bits as u32).wrapping_add(access.offset));
        }
        let index = self.arg(address);
        let wide = self.inst(Class::Long, "cvt.u64.u32", index);
        let sum = self.inst(Class::Long, "add.s64", format_args!("{base}, {wide}"));
        self.near(sum, access.offset)
    }

    /// An address with an offset from a register; the offset of an instruction is at most `i32::MAX`.
    fn near(&mut self, base: Reg, offset: u32) -> Address {
        if i32::try_from(offset).is_ok() {
            return Address { base: base.to_string(), offset };
        }
        let sum = self.inst(Class::Long, "add.s64", format_args!("{base}, {offset}"));
        Address { base: sum.to_string(), offset: 0 }
    }

    /// The state space, and the sharing qualifier.
    fn space(&self, access: MemoryAccess, is_load: bool) -> &'static str {
        let watched = access.coherent || access.volatile;
        match access.space {
            MemorySpace::Buffer(buffer) if is_load && self.is_constant(buffer) => "global.nc",
            MemorySpace::Buffer(_) | MemorySpace::Physical if watched => "volatile.global",
            MemorySpace::Buffer(_) | MemorySpace::Physical => "global",
            MemorySpace::Shared if watched => "volatile.shared",
            MemorySpace::Shared => "shared",
            MemorySpace::Private(_) => "local",
            MemorySpace::Push => "param",
        }
    }

    fn is_constant(&self, buffer: u32) -> bool {
        self.kernel.buffers[buffer as usize].is_constant() && self.isa.has_constant_loads()
    }

    pub fn load(&mut self, inst: InstId, access: MemoryAccess) {
        let results: Vec<Value> = self.kernel.results(inst).collect();
        let address = self.kernel.args(inst)[0];
        if access.space == MemorySpace::Push && self.known(address).is_none() {
            return self.load_push(access, address, &results);
        }
        let (place, space) = (self.place(access, address), self.space(access, true));
        let class = Class::of(access.component());
        for Piece { first, count, offset } in pieces(access) {
            let to: Vec<Reg> = (0..count).map(|_| self.reg(class)).collect();
            let at = place.at(offset);
            self.push(format!("ld.{space}{} {}, {at};", modifier(access, count), vector(&to)));
            for (value, reg) in results[first..].iter().zip(to) {
                self.give(*value, reg);
            }
        }
    }

    /// Parameters cannot be indexed without an address, which only private memory has.
    fn load_push(&mut self, access: MemoryAccess, address: Value, results: &[Value]) {
        let (class, bytes) = (Class::of(access.component()), u32::from(access.bytes));
        let index = self.arg(address);
        for (n, value) in results.iter().enumerate() {
            let own = access.offset.wrapping_add(n as u32 * bytes);
            let to = self.reg(class);
            self.copy(to, 0);
            for at in (0..self.interface.push_bytes)
                .step_by(bytes as usize)
                .filter(|at| at + bytes <= self.interface.push_bytes)
            {
                let here =
                    self.inst(Class::Pred, "setp.eq.s32", format_args!("{index}, {}", at.wrapping_sub(own) as i32));
                let suffix = modifier(access, 1);
                self.push(format!("@{here} ld.param{suffix} {to}, [{PUSH}+{at}];"));
            }
            self.give(*value, to);
        }
    }

    pub fn store(&mut self, inst: InstId, access: MemoryAccess) {
        let kernel = self.kernel;
        let args = kernel.args(inst);
        let (place, space) = (self.place(access, args[0]), self.space(access, false));
        for Piece { first, count, offset } in pieces(access) {
            let from: Vec<Reg> = args[1 + first..1 + first + count].iter().map(|value| self.arg(*value)).collect();
            let at = place.at(offset);
            self.push(format!("st.{space}{} {at}, {};", modifier(access, count), vector(&from)));
        }
    }

    // Barriers.

    /// `barrier.sync` and `bar.warp.sync` wait for the workgroup and the warp, and order their memory accesses;
    /// `membar` orders memory for other invocations. `bar.sync` is the form of `barrier.sync` that all lanes of a warp
    /// must execute together (PTX ISA, `barrier`: `.aligned`): otherwise a GPU may hang.
    pub fn barrier(&mut self, inst: InstId, execution: Option<Scope>, ordered: (Scope, MemoryKinds, Order)) {
        let (memory, kinds, order) = ordered;
        let is_ordered = match execution {
            Some(Scope::Workgroup) => {
                matches!(memory, Scope::Workgroup | Scope::Subgroup) || kinds == MemoryKinds::SHARED
            }
            Some(Scope::Subgroup) => memory == Scope::Subgroup,
            _ => false,
        };
        if order != Order::Relaxed && !kinds.is_empty() && memory != Scope::Invocation && !is_ordered {
            self.fence(memory, kinds);
        }
        match execution {
            Some(Scope::Subgroup) => {
                let lanes = self.members();
                self.push(format!("{} {lanes};", mnemonic::SYNC));
            }
            Some(Scope::Workgroup) => {
                let name = if self.apart.at(inst) { "barrier.sync" } else { "bar.sync" };
                self.push(format!("{name} 0;"));
            }
            _ => {}
        }
    }

    pub fn fence(&mut self, memory: Scope, kinds: MemoryKinds) {
        let near = !matches!(memory, Scope::Device | Scope::QueueFamily) || kinds == MemoryKinds::SHARED;
        self.push(if near { "membar.cta;" } else { "membar.gl;" }.to_owned());
    }
}

/// The suffix after the state space.
fn modifier(access: MemoryAccess, count: usize) -> String {
    let vector = if count > 1 { format!(".v{count}") } else { String::new() };
    let letter = if access.bytes == 1 { 'u' } else { 'b' };
    format!("{vector}.{letter}{}", u32::from(access.bytes) * 8)
}

/// Registers as one operand.
fn vector(regs: &[Reg]) -> String {
    match regs {
        [one] => one.to_string(),
        many => format!("{{{}}}", many.iter().map(Reg::to_string).collect::<Vec<_>>().join(", ")),
    }
}
