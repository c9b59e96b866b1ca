//! Loads and stores of buffers, push constants and workgroup memory, and barriers.
//!
//! An access is split into pieces that its alignment allows: `X4` needs 16 bytes and `X2` 8, and there is no `X3`
//! (NV_gpu_program5, section 2.X.4.5).

use super::{Operands, Selector};
use crate::backend::nv::interface::parameter;
use crate::backend::nv::machine::{ArrayRef, Class, Dest, Kind, Operand, Reg, X};
use crate::backend::pieces::{self, Piece};
use crate::ir::{MemoryKinds, Order, Scope};
use crate::kernel::{BufferKind, InstId, MemoryAccess, MemorySpace, Stage, Value};

/// Name of the workgroup's memory.
pub const SHARED: &str = "m";

/// Instructions of a kind of memory.
struct Instructions {
    load: &'static str,
    store: &'static str,
}

/// The pieces of an access. Components of less than a word move one by one.
fn pieces(access: MemoryAccess) -> Vec<Piece> {
    pieces::pieces(access, |_| access.bytes >= 4)
}

/// The modifiers of volatile accesses. `.VOL` alone may read a stale line of the multiprocessor's cache forever, so,
/// like the driver's own compiler, this uses both.
pub const VOLATILE: &str = ".VOL.COH";

/// The modifiers of an access to memory that other invocations access meanwhile. Volatile memory is coherent.
pub fn watched(coherent: bool, volatile: bool) -> &'static str {
    match (volatile, coherent) {
        (true, _) => VOLATILE,
        (false, true) => ".COH",
        (false, false) => "",
    }
}

/// The storage modifier of a piece.
fn modifier(access: MemoryAccess, count: usize) -> String {
    let vector = if count > 1 { format!("X{count}") } else { String::new() };
    format!("U{}{vector}", u32::from(access.bytes) * 8)
}

impl Selector<'_> {
    pub fn load(&mut self, inst: InstId, access: MemoryAccess) {
        let results: Vec<Value> = self.kernel.results(inst).collect();
        let address = self.kernel.args(inst)[0];
        match access.space {
            MemorySpace::Private(_) => self.load_private(access, address, &results),
            MemorySpace::Push => self.load_push(access, address, &results),
            MemorySpace::Physical => {
                self.refused("memory at a physical address");
            }
            _ => self.load_pieces(access, address, &results),
        }
    }

    pub fn store(&mut self, inst: InstId, access: MemoryAccess) {
        let args = self.kernel.args(inst);
        match access.space {
            MemorySpace::Private(_) => self.store_private(access, args[0], &args[1..]),
            MemorySpace::Physical => {
                self.refused("memory at a physical address");
            }
            _ => self.store_pieces(access, args[0], &args[1..]),
        }
    }

    // Buffers and workgroup memory.

    /// The variable of a space, and the instructions on it.
    fn memory(&mut self, space: MemorySpace) -> (String, Instructions) {
        match space {
            MemorySpace::Buffer(buffer) => {
                let name = self.interface.slot(buffer).name.clone();
                if self.kernel.buffers[buffer as usize].kind == BufferKind::Uniform {
                    return (name, Instructions { load: "LDC", store: "" });
                }
                self.needs.options.insert("NV_shader_storage_buffer");
                (name, Instructions { load: "LDB", store: "STB" })
            }
            _ => (SHARED.to_owned(), Instructions { load: "LDS", store: "STS" }),
        }
    }

    /// The variable of an access, with an address of one register and a constant.
    pub fn array_ref(&mut self, access: MemoryAccess, address: Value) -> ArrayRef {
        let array = self.memory(access.space).0.into();
        let place = |index, offset| ArrayRef { array, index, offset, component: None };
        match self.uint(address) {
            Operand::Constant(base, _) => place(None, base.wrapping_add(access.offset)),
            // The syntax has no negative offsets.
            operand if access.offset > i32::MAX as u32 => {
                let sum = self.word("ADD.U", &[operand, Operand::Constant(access.offset, Kind::Uint)]);
                place(Some(self.in_reg(sum)), 0)
            }
            operand => place(Some(self.in_reg(operand)), access.offset),
        }
    }

    /// The modifier after the storage of a load or store that others may observe. Constants never change.
    fn coherence(access: MemoryAccess, name: &str) -> &'static str {
        match name {
            "LDB" | "STB" => watched(access.coherent, access.volatile),
            _ => "",
        }
    }

    fn load_pieces(&mut self, access: MemoryAccess, address: Value, results: &[Value]) {
        let load = self.memory(access.space).1.load;
        let coherence = Self::coherence(access, load);
        let at = self.array_ref(access, address);
        let class = if access.bytes == 8 { Class::Long } else { Class::Word };
        for piece in pieces(access) {
            let to = self.loaded(class, piece.count);
            let place = ArrayRef { offset: at.offset + piece.offset, ..at.clone() };
            let name = format!("{load}.{}{coherence}", modifier(access, piece.count));
            self.push(name, Dest::Regs(to.clone()), &[Operand::Array(place)]).effect = access.volatile;
            for (value, reg) in results[piece.first..].iter().zip(to) {
                self.give(*value, Operand::Reg(reg));
            }
        }
    }

    /// Registers that a load of this many components fills.
    fn loaded(&mut self, class: Class, count: usize) -> smallvec::SmallVec<[Reg; 4]> {
        match count {
            1 => [self.registers.add(class, X)].into_iter().collect(),
            _ => self.registers.add_vector(class, count),
        }
    }

    fn store_pieces(&mut self, access: MemoryAccess, address: Value, values: &[Value]) {
        let store = self.memory(access.space).1.store;
        let coherence = Self::coherence(access, store);
        let at = self.array_ref(access, address);
        for piece in pieces(access) {
            let values: Operands =
                values[piece.first..piece.first + piece.count].iter().map(|value| self.any_arg(*value)).collect();
            let class = if access.bytes == 8 { Class::Long } else { Class::Word };
            let source = match &values[..] {
                [one] => one.clone(),
                many => self.vector(many, class),
            };
            let place = ArrayRef { offset: at.offset + piece.offset, ..at.clone() };
            let name = format!("{store}.{}{coherence}", modifier(access, piece.count));
            self.effect(name, &[source, Operand::Array(place)]);
        }
    }

    pub fn buffer_bytes(&mut self, buffer: u32) -> Operand {
        let word = self.interface.slot(buffer).size_word.unwrap_or_default();
        self.needs.parameters = true;
        self.word("MOV.U", &[Operand::Named(parameter(word).into())])
    }

    // Push constants.

    fn load_push(&mut self, access: MemoryAccess, address: Value, results: &[Value]) {
        self.needs.parameters = true;
        if access.bytes < 4 {
            self.refused("push constants of less than 32 bits");
            return;
        }
        let words: Vec<Operand> = match self.uint(address) {
            Operand::Constant(base, _) => {
                let first = base.wrapping_add(access.offset) / 4;
                let count = u32::from(access.bytes) / 4 * u32::from(access.components);
                let in_range = |word: u32| word < self.interface.push_words;
                (first..first.saturating_add(count))
                    .map(|word| match in_range(word) {
                        true => Operand::Named(parameter(word).into()),
                        false => Operand::Constant(0, Kind::Uint),
                    })
                    .collect()
            }
            index => self.push_words_at(access, index),
        };
        let values = self.gathered(access, words);
        results.iter().zip(values).for_each(|(value, operand)| self.give(*value, operand));
    }

    /// Words of push constants at a run-time address: the parameter, then its component.
    fn push_words_at(&mut self, access: MemoryAccess, address: Operand) -> Vec<Operand> {
        let count = u32::from(access.bytes) / 4 * u32::from(access.components);
        (0..count)
            .map(|word| {
                let offset = Operand::Constant(access.offset.wrapping_add(4 * word), Kind::Uint);
                let at = self.word("ADD.U", &[address.clone(), offset]);
                self.push_word_at(at)
            })
            .collect()
    }

    fn push_word_at(&mut self, address: Operand) -> Operand {
        let constant = |value| Operand::Constant(value, Kind::Uint);
        let element = self.word("SHR.U", &[address.clone(), constant(4)]);
        let index = Some(self.in_reg(element));
        let component = self.word("AND.U", &[address, constant(12)]);
        let mut found = None;
        for (n, letter) in ['x', 'y', 'z', 'w'].into_iter().enumerate() {
            let place = ArrayRef { array: "c".into(), index, offset: 0, component: Some(letter) };
            let word = self.word("MOV.U", &[Operand::Array(place)]);
            found = Some(match found {
                None => word,
                Some(before) => {
                    let is_it = self.word("SEQ.U", &[component.clone(), constant(4 * n as u32)]);
                    self.word("CMP.S", &[is_it, word, before])
                }
            });
        }
        found.unwrap_or(constant(0))
    }

    /// Values of a load from its words.
    pub fn gathered(&mut self, access: MemoryAccess, words: Vec<Operand>) -> Vec<Operand> {
        if access.bytes < 8 {
            return words;
        }
        words
            .chunks_exact(2)
            .map(|pair| {
                let pair = self.vector(pair, Class::Word);
                self.join(pair)
            })
            .collect()
    }

    // Barriers.

    /// `MEMBAR` orders device memory, and `MEMBAR.CTA` workgroup memory, in compute programs only. `BAR` waits for the
    /// workgroup and also orders its shared memory: the driver translates GLSL's `barrier()` to it, for which GLSL 4.60
    /// section 8.16 requires both. A subgroup runs in lockstep, so a subgroup barrier only has to order memory.
    pub fn barrier(&mut self, execution: Option<Scope>, memory: Scope, kinds: MemoryKinds, order: Order) {
        let waits = execution == Some(Scope::Workgroup);
        let ordered = if waits { MemoryKinds::SHARED } else { MemoryKinds::empty() };
        let orders = order != Order::Relaxed && !ordered.contains(kinds) && memory != Scope::Invocation;
        if orders {
            let is_grouped = self.kernel.stage == Stage::Compute;
            let near = !matches!(memory, Scope::Device | Scope::QueueFamily) || kinds == MemoryKinds::SHARED;
            self.effect(if near && is_grouped { "MEMBAR.CTA" } else { "MEMBAR" }, &[]);
        }
        if waits {
            self.effect("BAR", &[]);
        }
    }
}
