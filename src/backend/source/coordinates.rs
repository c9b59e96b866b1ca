//! Splits texture coordinates that the source combines with a depth reference in one vector, for languages with two
//! arguments.

use super::expr::Expr;
use super::function::Body;
use super::image::ImageCall;
use super::insts::{self, drop_unused};
use super::writer::Writer;
use crate::ir::{ConstValue, FuncId, Function, ImageParts, Inst, InstId, Module, Op, Types, Value};

/// Takes coordinates and references from the operands of the vector that they are components of.
pub(super) fn take_apart(module: &mut Module) {
    insts::each_inst(
        module,
        |module| module,
        |module, function, id, before| before.extend(parts_of(module, function, id)),
    );
    let is_part = |op| matches!(op, Op::Shuffle { .. } | Op::Extract { .. } | Op::Construct(_));
    module.functions.iter_mut().for_each(|(_, f)| drop_unused(f, |f, id| is_part(f.insts[id].op)));
}

/// Returns true if a module compares texels.
pub(super) fn has_any(module: &Module) -> bool {
    let compares = |op| matches!(op, Op::Image { parts, .. } if parts.contains(ImageParts::REFERENCE));
    module.functions.iter().any(|(_, f)| f.insts.iter().any(|(_, inst)| compares(inst.op)))
}

/// Changes the operands of an instruction; returns a new coordinate if it needs one.
fn parts_of(module: &mut Module, function: FuncId, id: InstId) -> Option<InstId> {
    let Module { functions, types, constants, .. } = module;
    let f = &mut functions[function];
    let inst = f.insts[id];
    let Op::Image { op, parts, operands } = inst.op else { return None };
    if !parts.contains(ImageParts::COORDINATE | ImageParts::REFERENCE) {
        return None;
    }
    let mut values = f.values(operands).to_vec();
    let at = 2 + usize::from(parts.contains(ImageParts::SAMPLER));
    let [coordinate, reference] = [values[1], values[at]].map(|value| inst_of(f, value));
    let (coordinate, reference) = (coordinate?, reference?);
    let (Op::Shuffle { a: whole, mask, .. }, Op::Extract { composite, index }) = (coordinate.op, reference.op) else {
        return None;
    };
    let Op::Construct(list) = inst_of(f, whole)?.op else { return None };
    let size = types.components(coordinate.ty)?;
    let is_start = (0..size).all(|n| mask[usize::from(n)] == n);
    let parts_of_whole = f.values(list).to_vec();
    let size_of = |value: Value| match value {
        Value::Inst(id) => types.components(f.insts[id].ty),
        Value::Const(id) => types.components(constants.get(id).ty),
        Value::Param(index) => types.components(f.params[index as usize].ty),
        _ => None,
    };
    let starts = starts(parts_of_whole.iter().map(|part| size_of(*part)))?;
    let end = starts.iter().position(|start| *start == u32::from(size))?;
    let last = starts.iter().position(|start| *start == index)?;
    if composite != whole || !is_start || size_of(parts_of_whole[last]) != Some(1) {
        return None;
    }
    values[at] = parts_of_whole[last];
    let mut added = None;
    values[1] = match &parts_of_whole[..end] {
        [only] => *only,
        several => {
            let parts = f.list(several);
            let made = f.insts.push(Inst { op: Op::Construct(parts), ..coordinate });
            added = Some(made);
            Value::Inst(made)
        }
    };
    let operands = f.list(&values);
    f.insts[id].op = Op::Image { op, parts, operands };
    added
}

fn inst_of(f: &Function, value: Value) -> Option<Inst> {
    if let Value::Inst(id) = value { Some(f.insts[id]) } else { None }
}

/// The positions at which parts of a vector start, and its end.
fn starts(sizes: impl Iterator<Item = Option<u8>>) -> Option<Vec<u32>> {
    let mut starts = vec![0];
    for size in sizes {
        starts.push(starts.last()? + u32::from(size?));
    }
    Some(starts)
}

impl Body<'_, '_> {
    /// The values that a vector is constructed from.
    fn parts_in(&self, value: Value) -> Option<Vec<Value>> {
        match value {
            Value::Const(id) => match &self.t.module.constants.get(id).value {
                ConstValue::Composite(parts) => Some(parts.iter().map(|part| Value::Const(*part)).collect()),
                _ => None,
            },
            other => match inst_of(self.f, other)?.op {
                Op::Construct(list) => Some(self.f.values(list).to_vec()),
                _ => None,
            },
        }
    }

    /// The first `axes` components of a coordinate and the last one, if the coordinate is constructed in place from
    /// such parts.
    pub fn coordinate_parts(&mut self, call: &ImageCall, axes: u8) -> Option<(Expr, Value)> {
        let at = call.at(ImageParts::COORDINATE).filter(|at| !call.texts[*at].is_plain())?;
        let parts = self.parts_in(call.values[at])?;
        let sizes: Vec<Option<u8>> = parts.iter().map(|part| self.shape_of(*part).map(|(_, size)| size)).collect();
        let starts = starts(sizes.into_iter())?;
        let end = starts.iter().position(|start| *start == u32::from(axes))?;
        let (last, leading) = parts.split_last().filter(|(_, leading)| leading.len() == end)?;
        let place = match self.vector_parts(leading).as_slice() {
            [only] => only.clone(),
            several => {
                let (scalar, _) = self.shape_of(call.values[at])?;
                let name = self.t.vector_name(scalar, axes);
                Expr::call(&name, several)
            }
        };
        Some((place, *last))
    }
}

impl Body<'_, '_> {
    /// The 32-bit integer that a layer was converted from.
    pub fn converted_from(&self, layer: Value) -> Option<Value> {
        let Op::Convert(from) = inst_of(self.f, layer)?.op else { return None };
        self.shape_of(from).filter(|(scalar, _)| scalar.is_int() && scalar.width == 32).map(|_| from)
    }
}

impl Writer<'_> {
    /// The value of a constant float, if it is a valid layer index.
    pub fn whole_number(&self, value: Value) -> Option<u32> {
        let Value::Const(id) = value else { return None };
        let constant = self.module.constants.get(id);
        let number = f32::from_bits(self.module.constants.bits(id)? as u32);
        let counts = constant.ty == Types::F32 && number.fract() == 0.0 && (0.0..65536.0).contains(&number);
        counts.then_some(number as u32)
    }
}
