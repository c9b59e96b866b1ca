//! Private arrays with run-time indices: an array of `TEMP`s with one word each.

use super::Selector;
use crate::backend::nv::machine::{ArrayRef, Class, Dest, Kind, Operand, Reg};
use crate::kernel::{MemoryAccess, Value};

/// Name of the array for private memory.
pub const PRIVATE: &str = "P";

impl Selector<'_> {
    /// The element of the private array at a byte address, as a register and a constant.
    fn element(&mut self, access: MemoryAccess, address: Value) -> (Option<Reg>, u32) {
        match self.uint(address) {
            Operand::Constant(base, _) => (None, base.wrapping_add(access.offset) / 4),
            operand if access.offset.is_multiple_of(4) => {
                let index = self.word("SHR.U", &[operand, Operand::Constant(2, Kind::Uint)]);
                (Some(self.in_reg(index)), access.offset / 4)
            }
            operand => {
                let sum = self.word("ADD.U", &[operand, Operand::Constant(access.offset, Kind::Uint)]);
                let index = self.word("SHR.U", &[sum, Operand::Constant(2, Kind::Uint)]);
                (Some(self.in_reg(index)), 0)
            }
        }
    }

    fn private_word(&self, (index, first): (Option<Reg>, u32), word: u32) -> ArrayRef {
        ArrayRef { array: PRIVATE.into(), index, offset: first + word, component: Some('x') }
    }

    pub fn load_private(&mut self, access: MemoryAccess, address: Value, results: &[Value]) {
        if access.bytes < 4 {
            return self.load_narrow(access, address, results);
        }
        let element = self.element(access, address);
        let count = u32::from(access.bytes) / 4 * u32::from(access.components);
        let words: Vec<Operand> = (0..count)
            .map(|word| {
                let place = self.private_word(element, word);
                self.word("MOV.U", &[Operand::Array(place)])
            })
            .collect();
        let values = self.gathered(access, words);
        results.iter().zip(values).for_each(|(value, operand)| self.give(*value, operand));
    }

    pub fn store_private(&mut self, access: MemoryAccess, address: Value, values: &[Value]) {
        if access.bytes < 4 {
            return self.store_narrow(access, address, values);
        }
        let element = self.element(access, address);
        let mut words = Vec::new();
        for value in values {
            match access.bytes {
                8 => {
                    let long = self.long_arg(*value);
                    words.extend(self.split(long));
                }
                _ => words.push(self.uint(*value)),
            }
        }
        for (n, word) in words.into_iter().enumerate() {
            let place = self.private_word(element, n as u32);
            self.push("MOV.U", Dest::Array(place), &[word]).effect = true;
        }
    }

    // Values of 8 and 16 bits: parts of words.

    fn load_narrow(&mut self, access: MemoryAccess, address: Value, results: &[Value]) {
        let mask = Operand::Constant((1 << (8 * u32::from(access.bytes))) - 1, Kind::Uint);
        for (n, value) in results.iter().enumerate() {
            let (place, shift) = self.part(access, address, n as u32);
            let word = self.word("MOV.U", &[Operand::Array(place)]);
            let low = self.word("SHR.U", &[word, shift]);
            let part = self.word("AND.U", &[low, mask.clone()]);
            self.give(*value, part);
        }
    }

    fn store_narrow(&mut self, access: MemoryAccess, address: Value, values: &[Value]) {
        let bits = Operand::Constant(8 * u32::from(access.bytes), Kind::Uint);
        for (n, value) in values.iter().enumerate() {
            let (place, shift) = self.part(access, address, n as u32);
            let word = self.word("MOV.U", &[Operand::Array(place.clone())]);
            let field = self.vector(&[bits.clone(), shift], Class::Word);
            let value = self.uint(*value);
            let changed = self.word("BFI.U", &[field, value, word]);
            self.push("MOV.U", Dest::Array(place), &[changed]).effect = true;
        }
    }

    /// The word with component `n` of an access, and the position of its bits.
    fn part(&mut self, access: MemoryAccess, address: Value, n: u32) -> (ArrayRef, Operand) {
        let offset = access.offset.wrapping_add(n * u32::from(access.bytes));
        let constant = |value| Operand::Constant(value, Kind::Uint);
        if let Operand::Constant(base, _) = self.uint(address) {
            let at = base.wrapping_add(offset);
            return (self.private_word((None, at / 4), 0), constant(at % 4 * 8));
        }
        let address = self.uint(address);
        let at = self.word("ADD.U", &[address, constant(offset)]);
        let element = self.word("SHR.U", &[at.clone(), constant(2)]);
        let byte = self.word("AND.U", &[at, constant(3)]);
        let shift = self.word("SHL.U", &[byte, constant(3)]);
        let index = self.in_reg(element);
        (self.private_word((Some(index), 0), 0), shift)
    }
}
