//! Combines separate textures and samplers, for languages in which a texture includes its sampler: each pair that a
//! shader uses becomes one variable.

use super::insts::{self, drop_unused};
use super::retype;

use crate::ir::{
    Arena, Binding, FuncId, Function, Global, GlobalId, ImageDim, ImageOp, ImageType, Inst, InstFlags, InstId, Module,
    Op, Space, Type, TypeId, Types, Value, Values,
};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// A variable that a texture and a sampler became.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Pair {
    pub name: String,
    pub texture: String,
    /// `None` for textures that are not sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampler: Option<String>,
}

/// Returns true for a type that needs a partner.
fn is_apart(types: &Types, ty: TypeId) -> bool {
    match types.get(types.innermost(ty)) {
        Type::Sampler => true,
        Type::Image(image) => {
            !image.storage && !matches!(image.dim, ImageDim::Buffer | ImageDim::SubpassInput | ImageDim::Tile)
        }
        _ => false,
    }
}

/// Returns true if functions take separate textures or samplers.
pub(super) fn has_parameters(module: &Module) -> bool {
    let pointee = |ty| module.types.pointee(ty).map_or(ty, |(_, pointee)| pointee);
    let mut params = module.functions.iter().flat_map(|(_, f)| &f.params);
    params.any(|param| is_apart(&module.types, pointee(param.ty)))
}

/// Returns true if there are variables for separate textures or samplers.
pub(super) fn has_globals(module: &Module) -> bool {
    module.globals.iter().any(|(_, global)| is_apart(&module.types, global.ty))
}

/// Creates one variable per pair, in a module whose functions do not take textures or samplers as parameters.
pub(super) fn combine(module: &mut Module) -> Vec<Pair> {
    let mut work = Work { module, found: FxHashMap::default(), changed: FxHashMap::default(), pairs: Vec::new() };
    // Textures that are read without a sampler use the variable of a pair if there is one.
    insts::each_inst(&mut work, |work| work.module, Work::join);
    insts::each_inst(&mut work, |work| work.module, Work::read);
    let Work { pairs, .. } = work;
    let Module { functions, globals, types, .. } = module;
    functions.iter_mut().for_each(|(_, f)| drop_unused(f, |f, id| is_read(globals, types, f, id)));
    pairs
}

/// The variable that an operand comes from, with its indices.
#[derive(Clone, Copy)]
struct Root {
    global: GlobalId,
    indices: Option<Values>,
    flags: InstFlags,
}

fn root_of(f: &Function, value: Value) -> Option<Root> {
    let Value::Inst(load) = value else { return None };
    let flags = f.insts[load].flags;
    match f.insts[load].op {
        Op::Load(Value::Global(global)) => Some(Root { global, indices: None, flags }),
        Op::Load(Value::Inst(at)) => match f.insts[at].op {
            Op::Access { base: Value::Global(global), indices } => {
                Some(Root { global, indices: Some(indices), flags: flags | f.insts[at].flags })
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns true for loads of textures and samplers, and for pointers to them.
fn is_read(globals: &Arena<Global>, types: &Types, f: &Function, id: InstId) -> bool {
    let of_handle = |value| match value {
        Value::Global(global) => globals[global].space == Space::Handle,
        Value::Inst(at) => matches!(types.get(f.insts[at].ty), Type::Pointer { space: Space::Handle, .. }),
        _ => false,
    };
    match f.insts[id].op {
        Op::Load(pointer) => of_handle(pointer),
        Op::Access { base, .. } => of_handle(base),
        _ => false,
    }
}

struct Work<'m> {
    module: &'m mut Module,
    /// The variable of a texture, a sampler and whether it compares.
    found: FxHashMap<(GlobalId, Option<GlobalId>, bool), GlobalId>,
    /// Textures whose variable belongs to a pair, and whether the pair compares.
    changed: FxHashMap<GlobalId, bool>,
    pairs: Vec<Pair>,
}

impl Work<'_> {
    /// Loads the variable of a pair where the two are combined.
    fn join(&mut self, function: FuncId, id: InstId, before: &mut Vec<InstId>) {
        let f = &self.module.functions[function];
        let inst = f.insts[id];
        let Op::Image { op: ImageOp::Combine, operands, .. } = inst.op else { return };
        let &[texture, sampler] = f.values(operands) else { return };
        let (Some(texture), Some(sampler)) = (root_of(f, texture), root_of(f, sampler)) else { return };
        let Type::SampledImage(image) = self.module.types.get(inst.ty) else { return };
        if sampler.indices.is_some() {
            return;
        }
        let global = self.variable(texture.global, Some(sampler.global), image);
        let pointer = self.pointer(function, (global, texture), inst, before);
        let flags = inst.flags | texture.flags | sampler.flags;
        self.module.functions[function].insts[id] = Inst { op: Op::Load(pointer), flags, ..inst };
    }

    /// Lets an operation without a sampler read the variable of a pair.
    fn read(&mut self, function: FuncId, id: InstId, before: &mut Vec<InstId>) {
        let f = &self.module.functions[function];
        let inst = f.insts[id];
        let Op::Image { op, parts, operands } = inst.op else { return };
        let mut values = f.values(operands).to_vec();
        let Some(texture) = values.first().and_then(|value| root_of(f, *value)) else { return };
        let Value::Inst(load) = values[0] else { return };
        let Type::Image(image) = self.module.types.get(f.insts[load].ty) else { return };
        if op == ImageOp::Combine || !is_apart(&self.module.types, f.insts[load].ty) {
            return;
        }
        let image = ImageType { depth: false, ..image };
        let global = match self.changed.get(&texture.global) {
            Some(false) => texture.global,
            _ => self.variable(texture.global, None, image),
        };
        let ty = self.module.types.intern(Type::SampledImage(image));
        let loaded = Inst { ty, flags: texture.flags, ..self.module.functions[function].insts[load] };
        let pointer = self.pointer(function, (global, texture), loaded, before);
        let f = &mut self.module.functions[function];
        let load = f.insts.push(Inst { op: Op::Load(pointer), ..loaded });
        before.push(load);
        values[0] = Value::Inst(load);
        let operands = f.list(&values);
        f.insts[id].op = Op::Image { op, parts, operands };
    }

    /// A pointer to the texture that is loaded with the type of `inst`.
    fn pointer(
        &mut self,
        function: FuncId,
        (global, of): (GlobalId, Root),
        inst: Inst,
        before: &mut Vec<InstId>,
    ) -> Value {
        let Some(indices) = of.indices else { return Value::Global(global) };
        let ty = self.module.types.pointer(Space::Handle, inst.ty);
        let base = Value::Global(global);
        let f = &mut self.module.functions[function];
        let at = f.insts.push(Inst { op: Op::Access { base, indices }, ty, flags: of.flags, ..inst });
        before.push(at);
        Value::Inst(at)
    }

    /// The variable of a pair: the first pair keeps the texture's variable.
    fn variable(&mut self, texture: GlobalId, sampler: Option<GlobalId>, image: ImageType) -> GlobalId {
        let key = (texture, sampler, image.depth);
        if let Some(known) = self.found.get(&key) {
            return *known;
        }
        let own = self.module.globals[texture].clone();
        let with = sampler.map(|sampler| self.module.globals[sampler].name.to_string());
        let is_first = !self.changed.contains_key(&texture);
        let global = if is_first {
            self.changed.insert(texture, image.depth);
            self.module.globals[texture].ty = self.sampled(own.ty, image);
            texture
        } else {
            let name = with.as_ref().map_or_else(|| own.name.to_string(), |sampler| format!("{}_{sampler}", own.name));
            // The array's elements are already sampled images.
            let ty = self.sampled(own.ty, image);
            let binding = self.free_binding(own.binding);
            self.module.globals.push(Global { name: name.as_str().into(), ty, binding, ..own.clone() })
        };
        self.found.insert(key, global);
        let name = self.module.globals[global].name.to_string();
        self.pairs.push(Pair { name, texture: own.name.to_string(), sampler: with });
        global
    }

    /// The type with images that have samplers.
    fn sampled(&mut self, ty: TypeId, image: ImageType) -> TypeId {
        let of_texture = |ty| match ty {
            Type::Image(_) | Type::SampledImage(_) => Some(Type::SampledImage(image)),
            _ => None,
        };
        retype::changed(&mut self.module.types, ty, &of_texture)
    }

    /// The next free binding of a set.
    fn free_binding(&self, near: Binding) -> Binding {
        let Binding::Resource { set, .. } = near else { return near };
        let taken = self.module.globals.iter().filter_map(|(_, global)| match global.binding {
            Binding::Resource { set: other, binding } | Binding::Attachment { set: other, binding, .. } => {
                (other == set).then_some(binding)
            }
            _ => None,
        });
        Binding::Resource { set, binding: taken.max().map_or(0, |last| last.saturating_add(1)) }
    }
}
