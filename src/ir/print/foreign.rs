//! Prints the entities given by SPIR-V numbers, one per line after the entry points.

use super::Printer;
use crate::ir::{ForeignOperand, Requirements};

impl Printer<'_> {
    pub fn foreign(&mut self) {
        let module = self.module;
        for (index, ty) in module.foreign.types.iter().enumerate() {
            let (operands, requires) = (self.operands(&ty.operands), requirements(&ty.requires));
            self.put(format_args!("foreign<{index}> = {}{operands}{requires}\n", ty.opcode));
        }
        for known in &module.foreign.decorations {
            let (operands, requires) = (self.operands(&known.operands), requirements(&known.requires));
            let name = &self.names.globals[known.variable.index()].clone();
            self.put(format_args!("decorate @{name} {}{operands}{requires}\n", known.number));
        }
        for known in &module.foreign.modes {
            let (operands, requires) = (self.operands(&known.operands), requirements(&known.requires));
            self.put(format_args!("mode {}{operands}{requires}\n", known.number));
        }
    }

    fn operands(&self, operands: &[ForeignOperand]) -> String {
        let text = |operand: &ForeignOperand| match operand {
            ForeignOperand::Word(word) => word.to_string(),
            ForeignOperand::Text(text) => format!("{text:?}"),
            ForeignOperand::Constant(id) => self.constant(*id),
            ForeignOperand::Type(ty) => self.type_text(*ty),
            ForeignOperand::Variable(id) => format!("@{}", self.names.globals[id.index()]),
        };
        operands.iter().map(|operand| format!(" {}", text(operand))).collect()
    }
}

/// ` needs "SPV_…" 5055`
fn requirements(requires: &Requirements) -> String {
    let extensions = requires.extensions.iter().map(|name| format!(" {name:?}"));
    let all: String = extensions.chain(requires.capabilities.iter().map(|number| format!(" {number}"))).collect();
    if all.is_empty() { all } else { format!(" needs{all}") }
}
