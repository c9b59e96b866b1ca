//! Sizes that specialization constants give: lengths of arrays in workgroup memory and workgroups (WGSL 6.2.9, Array Types;
//! 13.3.3, `workgroup_size`).
//!
//! naga's writer has no text for them. Numbers stand for the lengths in its text until the expressions take their places; the
//! sizes of workgroups take theirs by the order of the entry points.

use super::language::type_name;
use super::translator::Translator;
use crate::ir::{ArrayLen, BinaryOp, ConstId, ConstValue, Module, ScalarKind, SpecOp, Type, UnaryOp};
use crate::limits;
use naga::ArraySize;
use std::num::NonZeroU32;

/// The first number that may stand for a length.
const FIRST: u32 = 1009;

/// The text before the size of a workgroup.
const WORKGROUP: &str = "@workgroup_size(";

/// The sizes of one module.
#[derive(Default)]
pub(super) struct Sizes {
    /// Lengths by the numbers that stand for them.
    lengths: Vec<(u32, ConstId)>,
    /// The sizes of workgroups, one row per entry point that has them.
    workgroups: Vec<[ConstId; 3]>,
}

impl Translator<'_> {
    /// The length of an array as a number that stands for it.
    pub fn specialized_length(&mut self, id: ConstId) -> ArraySize {
        self.require_overrides(id);
        let known = self.sizes.lengths.iter().find(|(_, length)| *length == id).map(|(number, _)| *number);
        let number = known.unwrap_or_else(|| {
            let after = self.sizes.lengths.last().map_or(FIRST, |(number, _)| number + 1);
            let is_taken = |number: &u32| self.types.iter().any(|(_, ty)| is_array_of(ty, *number));
            let number = (after..).find(|number| !is_taken(number)).unwrap_or(after);
            self.sizes.lengths.push((number, id));
            number
        });
        ArraySize::Constant(NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN))
    }

    /// The size of workgroups; 1 where a specialization constant says it.
    pub fn workgroup_size(&mut self, size: [ConstId; 3]) -> [u32; 3] {
        self.sizes.workgroups.push(size);
        size.map(|id| match self.module.constants.bits(id) {
            Some(size) => size as u32,
            None => {
                self.require_overrides(id);
                1
            }
        })
    }

    /// Makes the overrides that an expression names.
    fn require_overrides(&mut self, id: ConstId) {
        let module = self.module;
        match &module.constants.get(id).value {
            ConstValue::Spec { .. } => drop(self.override_of(id)),
            ConstValue::SpecOp { args, .. } => args.iter().for_each(|arg| self.require_overrides(*arg)),
            _ => {}
        }
        if expression(module, id, &|_| Some(String::new())).is_none() {
            self.unsupported("sizes that are such an expression of specialization constants");
        }
    }
}

fn is_array_of(ty: Type, number: u32) -> bool {
    matches!(ty, Type::Array { len: ArrayLen::Fixed(len), .. } if len == number)
}

impl Sizes {
    /// The text with the expressions in their places.
    pub fn put(&self, text: String, module: &Module) -> String {
        if self.lengths.is_empty() && self.workgroups.iter().flatten().all(|id| module.constants.bits(*id).is_some()) {
            return text;
        }
        let name = |number: u32| override_name(&text, number).map(str::to_owned);
        let of = |id: ConstId| expression(module, id, &name).unwrap_or_default();
        let mut workgroups = self.workgroups.iter();
        let mut put = String::with_capacity(text.len());
        for line in text.lines() {
            let mut line = line.to_owned();
            limits::spend(1 + self.lengths.len());
            limits::write(line.len());
            for (number, id) in &self.lengths {
                let length = |length: &str| format!(", {length}>");
                line = line.replace(&length(&number.to_string()), &length(&of(*id)));
            }
            if let Some((before, rest)) = line.split_once(WORKGROUP)
                && let Some((_, after)) = rest.split_once(')')
                && let Some(size) = workgroups.next()
            {
                let [x, y, z] = size.map(|id| match module.constants.bits(id) {
                    Some(size) => size.to_string(),
                    None => of(id),
                });
                line = format!("{before}{WORKGROUP}{x}, {y}, {z}){after}");
            }
            put.push_str(&line);
            put.push('\n');
        }
        put
    }
}

/// The name that the text has for an override.
fn override_name(text: &str, number: u32) -> Option<&str> {
    let start = format!("@id({number}) override ");
    text.lines().find_map(|line| line.strip_prefix(&start)?.split_once(':')).map(|(name, _)| name)
}

/// The text of a constant; none for what has no text here.
fn expression(module: &Module, id: ConstId, name: &dyn Fn(u32) -> Option<String>) -> Option<String> {
    let constant = module.constants.get(id);
    let Type::Scalar(scalar) = module.types.get(constant.ty) else { return None };
    let part = |id: &ConstId| expression(module, *id, name);
    match (&constant.value, scalar.kind) {
        (ConstValue::Bits(bits), ScalarKind::Sint) => Some(format!("{}i", *bits as i32)),
        (ConstValue::Bits(bits), ScalarKind::Uint) => Some(format!("{}u", *bits as u32)),
        (ConstValue::Bits(bits), ScalarKind::Bool) => Some((*bits != 0).to_string()),
        (ConstValue::Spec { id, .. }, _) => name(*id),
        (ConstValue::SpecOp { op: SpecOp::Unary(op), args }, _) => {
            Some(format!("{}({})", prefix(*op), part(&args[0])?))
        }
        (ConstValue::SpecOp { op: SpecOp::Binary(op), args }, _) => {
            Some(format!("({} {} {})", part(&args[0])?, infix(*op)?, part(&args[1])?))
        }
        (ConstValue::SpecOp { op: SpecOp::Convert, args }, ScalarKind::Sint | ScalarKind::Uint) => {
            Some(format!("{}({})", type_name(scalar.kind), part(&args[0])?))
        }
        (ConstValue::SpecOp { op: SpecOp::Bitcast, args }, ScalarKind::Sint | ScalarKind::Uint) => {
            Some(format!("bitcast<{}>({})", type_name(scalar.kind), part(&args[0])?))
        }
        (ConstValue::SpecOp { op: SpecOp::Select, args }, _) => {
            Some(format!("select({}, {}, {})", part(&args[2])?, part(&args[1])?, part(&args[0])?))
        }
        _ => None,
    }
}

const fn prefix(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Neg => "-",
        UnaryOp::Not => "~",
        UnaryOp::LogicalNot => "!",
    }
}

/// Operators that mean the same of all integers and bools.
const fn infix(op: BinaryOp) -> Option<&'static str> {
    Some(match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::Rem => "%",
        BinaryOp::And => "&",
        BinaryOp::Or => "|",
        BinaryOp::Xor => "^",
        BinaryOp::LogicalAnd => "&&",
        BinaryOp::LogicalOr => "||",
        BinaryOp::Eq => "==",
        BinaryOp::Ne => "!=",
        BinaryOp::Lt => "<",
        BinaryOp::Le => "<=",
        BinaryOp::Gt => ">",
        BinaryOp::Ge => ">=",
        _ => return None,
    })
}
