//! Prints constants. Scalars and vectors are printed at their uses; large composites and specialization-constant
//! expressions have their own line and a name (`#12`).

use super::Printer;
use super::types::{scalar_name, write_type};
use super::words::spec_op_name;
use crate::ir::fold::f16_to_f64;
use crate::ir::{
    ArrayLen, ConstId, ConstValue, CooperativeMatrix, Function, Module, Op, Scalar, ScalarKind, StructId, Type, Value,
    constant::sign_extend,
};

/// The constants that something in a module uses.
pub struct Used(Vec<bool>);

impl Used {
    pub fn of(module: &Module) -> Used {
        let mut used = Used(vec![false; module.constants.len()]);
        module.globals.iter().filter_map(|(_, global)| global.init).for_each(|id| used.mark(id));
        module.entry_points.iter().flat_map(|entry| entry.workgroup_size).for_each(|id| used.mark(id));
        module.functions.iter().for_each(|(_, function)| used.function(function));
        for (_, ty) in module.types.iter() {
            match ty {
                Type::Array { len: ArrayLen::Spec(id), .. } => used.mark(id),
                Type::CooperativeMatrix(CooperativeMatrix { scope, rows, columns, .. }) => {
                    [scope, rows, columns].into_iter().for_each(|id| used.mark(id));
                }
                _ => {}
            }
        }
        module.foreign.each_constant(|id| used.mark(id));
        used.parts(module);
        used
    }

    fn mark(&mut self, id: ConstId) {
        self.0[id.index()] = true;
    }

    /// All operands that an instruction could name. Operands in lists do not require a walk over the blocks.
    fn function(&mut self, function: &Function) {
        function.locals.iter().filter_map(|(_, local)| local.init).for_each(|id| self.mark(id));
        let single = function.insts.iter().flat_map(|(_, inst)| direct_operands(&inst.op)).flatten();
        for value in single.chain(function.operands.iter().copied()) {
            if let Value::Const(id) = value {
                self.mark(id);
            }
        }
    }

    /// Parts precede their composites, so one walk from the end reaches all.
    fn parts(&mut self, module: &Module) {
        for index in (0..self.0.len()).rev() {
            if self.0[index] {
                self.mark_parts(module, ConstId::from_index(index));
            }
        }
    }

    fn mark_parts(&mut self, module: &Module, id: ConstId) {
        match &module.constants.get(id).value {
            ConstValue::Composite(parts) | ConstValue::SpecOp { args: parts, .. } => {
                parts.iter().for_each(|part| self.mark(*part));
            }
            _ => {}
        }
    }
}

/// Operands stored in the operation itself, not in a list.
fn direct_operands(op: &Op) -> [Option<Value>; 3] {
    match *op {
        Op::Unary(_, a) | Op::Convert(a) | Op::Bitcast(a) | Op::Splat(a) | Op::Load(a) | Op::Yield(a) => {
            [Some(a), None, None]
        }
        Op::Binary(_, a, b) => [Some(a), Some(b), None],
        Op::Select { condition, accept, reject } => [Some(condition), Some(accept), Some(reject)],
        Op::Extract { composite, .. } => [Some(composite), None, None],
        Op::ExtractDynamic { composite, index } => [Some(composite), Some(index), None],
        Op::Insert { composite, part, .. } => [Some(composite), Some(part), None],
        Op::InsertDynamic { composite, index, part } => [Some(composite), Some(index), Some(part)],
        Op::Shuffle { a, b, .. } => [Some(a), Some(b), None],
        Op::Store { pointer, value } => [Some(pointer), Some(value), None],
        Op::If { condition, .. } => [Some(condition), None, None],
        Op::Loop { break_if, .. } => [break_if, None, None],
        Op::Switch { selector, .. } => [Some(selector), None, None],
        Op::Return(value) => [value, None, None],
        _ => [None; 3],
    }
}

impl Printer<'_> {
    /// The lines of specialization constants and of constants with a name.
    pub fn constants(&mut self, used: &Used) {
        for (id, constant) in self.module.constants.iter() {
            let is_spec = matches!(constant.value, ConstValue::Spec { .. });
            if !used.0[id.index()] || !(is_spec || has_line(self.module, id)) {
                continue;
            }
            let (name, ty) = (self.constant(id), self.type_text(constant.ty));
            let value = self.definition(id);
            self.put(format_args!("const {name}: {ty} = {value}\n"));
        }
        self.end_paragraph();
    }

    fn definition(&self, id: ConstId) -> String {
        let constant = self.module.constants.get(id);
        let list = |ids: &[ConstId]| ids.iter().map(|id| self.constant(*id)).collect::<Vec<_>>().join(", ");
        match &constant.value {
            ConstValue::Composite(parts) => format!("{{ {} }}", list(parts)),
            ConstValue::SpecOp { op, args } => format!("{}({})", spec_op_name(*op), list(args)),
            ConstValue::MatrixLength(of) => format!("length {}", self.type_text(*of)),
            ConstValue::Spec { id: number, default } => {
                let default = match self.module.types.get(constant.ty) {
                    Type::Scalar(scalar) => number_text(scalar, *default),
                    _ => default.to_string(),
                };
                format!("spec {number} default {default}")
            }
            _ => self.constant(id),
        }
    }
}

/// Returns true if a constant is defined on its own line.
fn has_line(module: &Module, id: ConstId) -> bool {
    let constant = module.constants.get(id);
    match constant.value {
        ConstValue::SpecOp { .. } | ConstValue::MatrixLength(_) => true,
        ConstValue::Composite(_) => !matches!(module.types.get(constant.ty), Type::Vector { .. }),
        _ => false,
    }
}

/// The spelling of a constant at its uses.
pub fn reference(module: &Module, id: ConstId, struct_name: &dyn Fn(StructId) -> String) -> String {
    if has_line(module, id) {
        return format!("#{}", id.index());
    }
    let constant = module.constants.get(id);
    let part = |id: &ConstId| reference(module, *id, struct_name);
    let mut ty = String::new();
    write_type(&mut ty, &module.types, constant.ty, struct_name, &|id| part(&id));
    match (&constant.value, module.types.get(constant.ty)) {
        (ConstValue::Bits(bits), Type::Scalar(scalar)) => number_text(scalar, *bits),
        (ConstValue::Bits(bits), _) => format!("{ty}(bits {bits:#x})"),
        (ConstValue::Composite(parts), _) => format!("{ty}({})", parts.iter().map(part).collect::<Vec<_>>().join(", ")),
        (ConstValue::Zero, _) => format!("{ty}(zero)"),
        (ConstValue::Undef, _) => format!("{ty}(undef)"),
        (ConstValue::Spec { id: number, .. }, _) => spec_name(module, *number),
        (ConstValue::SpecOp { .. } | ConstValue::MatrixLength(_), _) => format!("#{}", id.index()),
    }
}

fn spec_name(module: &Module, number: u32) -> String {
    match module.spec_names.iter().find(|(id, _)| *id == number) {
        Some((_, name)) => name.to_string(),
        None => format!("spec{number}"),
    }
}

/// A scalar, with a suffix unless its type is `i32`, `f32` or `bool`.
fn number_text(scalar: Scalar, bits: u64) -> String {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => (bits != 0).to_string(),
        (ScalarKind::Sint, 32) => sign_extend(bits, scalar).to_string(),
        (ScalarKind::Uint, 32) => format!("{bits}u"),
        (ScalarKind::Sint, _) => format!("{}{}", sign_extend(bits, scalar), scalar_name(scalar)),
        (ScalarKind::Uint, _) => format!("{bits}{}", scalar_name(scalar)),
        (ScalarKind::Float, 16) => format!("{:?}f16", f16_to_f64(bits as u16)),
        (ScalarKind::Float, 32) => float_text(format!("{:?}", f32::from_bits(bits as u32)), bits),
        (ScalarKind::Float, _) => format!("{}f64", float_text(format!("{:?}", f64::from_bits(bits)), bits)),
        (ScalarKind::Encoded(encoding), _) => {
            format!("{:?}{}", encoding.format().decode(bits), scalar_name(scalar))
        }
    }
}

/// Shows the bits of a NaN.
fn float_text(text: String, bits: u64) -> String {
    if text == "NaN" { format!("nan({bits:#x})") } else { text }
}
