//! Arrays of resources as separate variables, for languages without such arrays: `textures[2]` becomes `textures_2`. If
//! the index is not a constant, a function with a `switch` does the work.

use crate::ir::build::Builder;
use crate::ir::link::{resource_of, resources};
use crate::ir::{
    ArrayLen, Binding, Case, ControlHint, FuncId, Function, GlobalId, ImageOp, Inst, InstFlags, InstId, Module, Op,
    Other, Param, Type, TypeId, Types, Value,
};
use crate::source::Span;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Limit of the elements of an array. WebGPU guarantees 16 textures and 16 samplers per stage, and fewer buffers
/// (WebGPU 3.6.2).
pub(super) const MOST: u32 = 16;

/// An element that is a variable.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Element {
    pub name: String,
    /// The array in the source.
    pub array: String,
    pub element: u32,
    pub group: u32,
    pub binding: u32,
}

/// The variables that an array became.
type Split = FxHashMap<GlobalId, Vec<GlobalId>>;

/// Returns true if there are arrays to split.
pub(super) fn has_any(module: &Module, is_such: &dyn Fn(Type) -> bool) -> bool {
    module.globals.handles().any(|id| is_it(module, id, is_such))
}

/// Splits the arrays of the resources that `is_such` selects. The first element keeps the binding; the others are
/// numbered after all bindings of the set, in all stages.
pub(super) fn split(module: &mut Module, is_such: &dyn Fn(Type) -> bool) -> Vec<Element> {
    let arrays: Vec<GlobalId> = module.globals.handles().filter(|id| is_it(module, *id, is_such)).collect();
    let numbers = numbers(module);
    let mut made = Vec::new();
    let mut split: Split = arrays.iter().map(|id| (*id, elements(module, *id, &numbers, &mut made))).collect();
    // During the rewrite, the first elements are separate variables next to the arrays, and come last.
    let count = module.globals.len();
    for id in &arrays {
        let first = module.globals[*id].clone();
        split.entry(*id).or_default()[0] = module.globals.push(first);
    }
    let mut known = FxHashMap::default();
    // Functions created during the rewrite come last, and are rewritten too.
    let mut next = 0;
    while let Some(function) = module.functions.handles().nth(next) {
        Splitting { module, split: &split, known: &mut known }.split(function);
        next += 1;
    }
    let firsts: FxHashMap<GlobalId, GlobalId> = split.iter().map(|(array, elements)| (elements[0], *array)).collect();
    for (array, elements) in &split {
        module.globals[*array] = module.globals[elements[0]].clone();
    }
    module.functions.iter_mut().for_each(|(_, f)| rename(f, &firsts));
    module.globals.truncate(count);
    made
}

/// Replaces variables by others.
fn rename(f: &mut Function, names: &FxHashMap<GlobalId, GlobalId>) {
    let new = |value| match value {
        Value::Global(id) => Value::Global(names.get(&id).copied().unwrap_or(id)),
        other => other,
    };
    f.operands.iter_mut().for_each(|value| *value = new(*value));
    f.insts.iter_mut().for_each(|(_, inst)| inst.op = inst.op.map_operands(new));
}

fn is_it(module: &Module, id: GlobalId, is_such: &dyn Fn(Type) -> bool) -> bool {
    let global = &module.globals[id];
    let Type::Array { element, len: ArrayLen::Fixed(len), .. } = module.types.get(global.ty) else { return false };
    let of = module.types.get(element);
    let is_bound = resource_of(module, global).is_some();
    is_bound && len <= MOST && !matches!(of, Type::Array { .. }) && is_such(of) && is_known_everywhere(module, id)
}

/// Returns true if every operation on the elements of an array can be done in a separate function.
fn is_known_everywhere(module: &Module, id: GlobalId) -> bool {
    let mut is_known = true;
    for (_, f) in module.functions.iter() {
        crate::limits::spend(f.insts.len());
        for (_, inst) in f.insts.iter() {
            let is_base = matches!(inst.op, Op::Access { .. });
            let takes = takes_elements(inst.op);
            inst.op.each_operand(f, |value| {
                is_known &= value != Value::Global(id) || is_base;
                is_known &= takes || dynamic_element(module, f, value, &|array| array == id).is_none();
            });
        }
    }
    is_known
}

/// Returns true for operations that a function can do with an element, or that are part of its address.
fn takes_elements(op: Op) -> bool {
    matches!(
        op,
        Op::Load(_)
            | Op::Store { .. }
            | Op::Atomic { .. }
            | Op::ArrayLength { .. }
            | Op::Image { .. }
            | Op::Access { .. }
    )
}

/// The array and the index of an element with an index that is not constant: from its address, or from a value loaded
/// from it.
fn dynamic_element(
    module: &Module,
    f: &Function,
    value: Value,
    is_array: &dyn Fn(GlobalId) -> bool,
) -> Option<(GlobalId, Value)> {
    let Value::Inst(id) = value else { return None };
    match f.insts[id].op {
        Op::Access { base: Value::Global(array), indices } if is_array(array) => {
            let index = *f.values(indices).first()?;
            module.known_u32(index).is_none().then_some((array, index))
        }
        Op::Load(pointer) if is_handle(&module.types, f.insts[id].ty) => dynamic_element(module, f, pointer, is_array),
        Op::Image { op: ImageOp::Combine, operands, .. } => {
            f.values(operands).iter().find_map(|part| dynamic_element(module, f, *part, is_array))
        }
        _ => None,
    }
}

fn is_handle(types: &Types, ty: TypeId) -> bool {
    matches!(types.get(ty), Type::Image(_) | Type::SampledImage(_) | Type::Sampler | Type::AccelerationStructure)
}

/// The bindings of the second elements of all arrays by set and binding, including arrays of the program's other
/// stages.
fn numbers(module: &mut Module) -> BTreeMap<(u32, u32), u32> {
    let own = resources(module);
    let all: BTreeSet<Other> = own.iter().chain(&module.others).copied().collect();
    let mut found = BTreeMap::new();
    let mut next: BTreeMap<u32, u32> = BTreeMap::new();
    for other in &all {
        next.insert(other.set, other.binding.saturating_add(1));
    }
    let mut others: BTreeSet<Other> = module.others.iter().copied().collect();
    for other in all.iter().filter(|other| other.count > 1 && other.count <= MOST) {
        let next = next.entry(other.set).or_default();
        found.entry((other.set, other.binding)).or_insert(*next);
        if others.contains(other) {
            others.extend((0..other.count - 1).map(|n| Other { binding: next.saturating_add(n), count: 1, ..*other }));
        }
        *next = next.saturating_add(other.count - 1);
    }
    module.others = others.into_iter().collect();
    found
}

/// Turns the elements of an array into variables.
fn elements(
    module: &mut Module,
    id: GlobalId,
    numbers: &BTreeMap<(u32, u32), u32>,
    told: &mut Vec<Element>,
) -> Vec<GlobalId> {
    let array = module.globals[id].clone();
    let Type::Array { element, len: ArrayLen::Fixed(len), .. } = module.types.get(array.ty) else { return Vec::new() };
    let mut made = vec![id];
    for n in 1..len {
        let mut global = array.clone();
        (global.ty, global.name) = (element, format!("{}_{n}", array.name).as_str().into());
        if let Binding::Resource { set, binding } | Binding::Attachment { set, binding, .. } = &mut global.binding {
            *binding = numbers.get(&(*set, *binding)).map_or(0, |first| first.saturating_add(n - 1));
        }
        if let Binding::Attachment { index, .. } = &mut global.binding {
            *index = index.saturating_add(n);
        }
        made.push(module.globals.push(global));
    }
    let first = &mut module.globals[id];
    (first.ty, first.name) = (element, format!("{}_0", array.name).as_str().into());
    for (element, id) in (0..).zip(&made) {
        let global = &module.globals[*id];
        if let Binding::Resource { set, binding } | Binding::Attachment { set, binding, .. } = global.binding {
            let (name, array) = (global.name.to_string(), array.name.to_string());
            told.push(Element { name, array, element, group: set, binding });
        }
    }
    made
}

struct Splitting<'a> {
    module: &'a mut Module,
    split: &'a Split,
    /// The generated functions, by purpose.
    known: &'a mut FxHashMap<String, FuncId>,
}

impl Splitting<'_> {
    fn split(&mut self, function: FuncId) {
        let mut f = std::mem::replace(
            &mut self.module.functions[function],
            Function::new("", Span::NONE, Vec::new(), Types::VOID),
        );
        crate::limits::spend(f.insts.len());
        for block in f.blocks.handles().collect::<Vec<_>>() {
            let mut insts = std::mem::take(&mut f.blocks[block].insts);
            insts.retain(|id| self.rewrite(&mut f, *id));
            f.blocks[block].insts = insts;
        }
        self.module.functions[function] = f;
    }

    /// Rewrites an instruction. Returns false if it must be removed.
    fn rewrite(&mut self, f: &mut Function, id: InstId) -> bool {
        let op = f.insts[id].op;
        let op = op.map_operands(|value| self.element(f, value));
        let op = op.map_list(|list| {
            let values: Vec<Value> = f.values(list).iter().map(|value| self.element(f, *value)).collect();
            if values == f.values(list) { list } else { f.list(&values) }
        });
        f.insts[id].op = op;
        if self.dynamic(f, Value::Inst(id)).is_some() || self.element(f, Value::Inst(id)) != Value::Inst(id) {
            return false;
        }
        if let Op::Access { base: Value::Global(array), indices } = op
            && let Some(elements) = self.split.get(&array)
        {
            let values = f.values(indices).to_vec();
            let base = Value::Global(self.at(elements, values[0]));
            f.insts[id].op = Op::Access { base, indices: f.list(&values[1..]) };
            return true;
        }
        let mut found = None;
        op.each_operand(f, |value| found = found.or_else(|| self.dynamic(f, value)));
        if let Some((array, index)) = found {
            let (callee, args) = self.function(f, f.insts[id], array, index);
            f.insts[id].op = Op::Call(callee, f.list(&args));
        }
        true
    }

    /// The variable of an element with a known index; the last one for an index out of range.
    fn at(&self, elements: &[GlobalId], index: Value) -> GlobalId {
        let index = self.module.known_u32(index).unwrap_or(0) as usize;
        elements[index.min(elements.len() - 1)]
    }

    /// The variable that replaces an address with a known index.
    fn element(&self, f: &Function, value: Value) -> Value {
        let Value::Inst(id) = value else { return value };
        let Op::Access { base: Value::Global(array), indices } = f.insts[id].op else { return value };
        match (self.split.get(&array), f.values(indices)) {
            (Some(elements), [index]) if self.module.known_u32(*index).is_some() => {
                Value::Global(self.at(elements, *index))
            }
            _ => value,
        }
    }

    fn dynamic(&self, f: &Function, value: Value) -> Option<(GlobalId, Value)> {
        dynamic_element(self.module, f, value, &|array| self.split.contains_key(&array))
    }

    /// The function that performs an instruction on any element, and its arguments.
    fn function(&mut self, f: &Function, inst: Inst, array: GlobalId, index: Value) -> (FuncId, Vec<Value>) {
        let elements = self.split[&array].clone();
        let mut copy = Copy { f, array, index, args: vec![index] };
        let name = format!("{}_{}", verb(inst.op), self.module.globals[array].name.trim_end_matches("_0"));
        let mut b = Builder::new(self.module, &name, Span::NONE, Vec::new(), inst.ty);
        b.flags = inst.flags - InstFlags::NON_UNIFORM;
        let last = elements.len() - 1;
        let mut cases = Vec::new();
        for (n, element) in (0..).zip(&elements[..last]) {
            let body = b.block(|b| copy.end(b, inst, *element));
            cases.push(Case { values: vec![n], default: false, body, falls_through: false });
        }
        b.switch(Value::Param(0), cases, ControlHint::default());
        copy.end(&mut b, inst, elements[last]);
        let mut made = b.finish();
        let Copy { args, .. } = copy;
        for (n, arg) in args.iter().enumerate() {
            let ty = self.module.type_of(f, *arg);
            let name = if n == 0 { "index" } else { "value" };
            made.params.push(Param { name: name.into(), span: Span::NONE, ty, is_out: false });
        }
        let key = format!("{made:?}");
        if let Some(known) = self.known.get(&key) {
            return (*known, args);
        }
        made.insts.iter_mut().for_each(|(_, of)| of.span = inst.span);
        let id = self.module.functions.push(made);
        self.known.insert(key, id);
        (id, args)
    }
}

/// The first word of a function's name.
fn verb(op: Op) -> &'static str {
    match op {
        Op::Store { .. } | Op::Image { op: ImageOp::Write, .. } => "store",
        Op::Atomic { .. } | Op::Image { op: ImageOp::Atomic(..), .. } => "update",
        Op::ArrayLength { .. } | Op::Image { op: ImageOp::Size, .. } => "size_of",
        Op::Image { op: ImageOp::Gather, .. } => "gather",
        Op::Image { op: ImageOp::Sample | ImageOp::SampleProjected, .. } => "sample",
        _ => "load",
    }
}

/// Copies an instruction and the address that it uses into a function.
struct Copy<'a> {
    f: &'a Function,
    array: GlobalId,
    index: Value,
    /// The arguments of the function.
    args: Vec<Value>,
}

impl Copy<'_> {
    /// The instruction on an element, and the end of the function.
    fn end(&mut self, b: &mut Builder, inst: Inst, element: GlobalId) {
        let value = self.copied(b, inst, element);
        b.ret((inst.ty != Types::VOID).then_some(value));
    }

    fn copied(&mut self, b: &mut Builder, inst: Inst, element: GlobalId) -> Value {
        let op = inst.op.map_operands(|value| self.value(b, value, element));
        let op = op.map_list(|list| {
            let values: Vec<Value> = self.f.values(list).iter().map(|value| self.value(b, *value, element)).collect();
            b.function.list(&values)
        });
        b.emit(inst.ty, op)
    }

    fn value(&mut self, b: &mut Builder, value: Value, element: GlobalId) -> Value {
        let id = match value {
            Value::Const(_) | Value::Global(_) => return value,
            Value::Inst(id) => id,
            Value::Param(_) | Value::Local(_) => return self.arg(value),
        };
        let inst = self.f.insts[id];
        match inst.op {
            Op::Access { base: Value::Global(array), indices } => {
                let indices = self.f.values(indices);
                if array != self.array || indices[0] != self.index {
                    return self.copied(b, inst, element);
                }
                let rest: Vec<Value> = indices[1..].iter().map(|index| self.value(b, *index, element)).collect();
                if rest.is_empty() {
                    return Value::Global(element);
                }
                let indices = b.function.list(&rest);
                b.emit(inst.ty, Op::Access { base: Value::Global(element), indices })
            }
            Op::Load(_) if is_handle(&b.module.types, inst.ty) => self.copied(b, inst, element),
            Op::Image { op: ImageOp::Combine, .. } => self.copied(b, inst, element),
            _ => self.arg(value),
        }
    }

    fn arg(&mut self, value: Value) -> Value {
        let index = self.args.iter().position(|arg| *arg == value).unwrap_or_else(|| {
            self.args.push(value);
            self.args.len() - 1
        });
        Value::Param(index as u32)
    }
}
