//! Functions and composites.

use super::Wgsl;
use super::math::call;
use crate::backend::source::expr::Expr;
use crate::backend::source::function::{Body, Made};
use crate::backend::source::image::Root;
use crate::backend::source::tree::{Kind, Stmt};
use crate::ir::{EntryPoint, FuncId, GlobalId, Param, Space, Type, TypeId, Types};

impl Wgsl {
    pub fn signature(&self, b: &mut Body, name: &str, params: &[String], entry: Option<&EntryPoint>) -> String {
        if let Some(entry) = entry {
            return self.entry_signature(b, entry);
        }
        let params = params.join(", ");
        if b.f.ret == Types::VOID {
            return format!("fn {name}({params}) {{");
        }
        format!("fn {name}({params}) -> {} {{", b.t.type_name(b.f.ret))
    }

    pub fn parameter(&self, b: &mut Body, index: u32, param: &Param, name: &str) -> String {
        let root = Root::Param(b.id, index);
        let pointee = b.t.types.pointee(param.ty);
        let ty = pointee.map_or(param.ty, |(_, pointee)| pointee);
        match (b.t.types.get(ty), pointee) {
            (Type::SampledImage(image), _) => {
                let of = b.t.image_use(root);
                let texture = self.texture_name(b.t, image, of);
                if !of.samples {
                    return format!("{name}: {texture}");
                }
                let sampler = b.named(&format!("{name}_sampler"));
                b.t.wgsl.param_samplers.insert((b.id, index), sampler.clone());
                format!("{name}: {texture}, {sampler}: {}", sampler_name(of.compares))
            }
            (Type::Image(image), _) => {
                let of = b.t.image_use(root);
                format!("{name}: {}", self.texture_name(b.t, image, of))
            }
            (Type::Sampler, _) => format!("{name}: {}", sampler_name(b.t.image_use(root).compares)),
            (_, Some((Space::Function | Space::Private, pointee))) => {
                format!("{name}: ptr<function, {}>", b.t.type_name(pointee))
            }
            (_, Some(_)) => {
                b.t.unsupported("pointers to other memory than a function's own");
                String::new()
            }
            (_, None) => format!("{name}: {}", b.t.type_name(param.ty)),
        }
    }

    /// A parameter at its use: a texture with its sampler is two.
    pub fn param(&self, b: &mut Body, index: u32) -> Made {
        let name = Expr::primary(b.params[index as usize].clone());
        let ty = b.f.params[index as usize].ty;
        let pointee = b.t.types.pointee(ty);
        match b.t.types.get(pointee.map_or(ty, |(_, pointee)| pointee)) {
            Type::SampledImage(_) => match b.t.wgsl.param_samplers.get(&(b.id, index)) {
                Some(sampler) => Made::Pair([name, Expr::primary(sampler.clone())]),
                None => Made::One(name),
            },
            Type::Image(_) | Type::Sampler => Made::One(name),
            _ if pointee.is_some() => Made::One(Expr::unary("*", &name).reading_memory(true)),
            _ => Made::One(name),
        }
    }

    pub fn call(&self, b: &mut Body, callee: FuncId, name: &str, args: Vec<Made>) -> Expr {
        let module = b.t.module;
        let params = &module.functions[callee].params;
        self.pass_lanes(b, callee);
        let mut list = Vec::new();
        for (index, arg) in (0..).zip(args) {
            let points = params.get(index as usize).is_some_and(|param| {
                matches!(b.t.types.pointee(param.ty), Some((Space::Function | Space::Private, _)))
            });
            match arg {
                Made::One(value) if points => list.push(address_of(&value)),
                Made::One(value) => list.push(value),
                Made::Pair([texture, sampler]) => {
                    list.push(texture);
                    if b.t.image_use(Root::Param(callee, index)).samples {
                        list.push(sampler);
                    }
                }
                Made::Bytes(_) | Made::Laid(_) => {
                    list.push(b.t.stand_in("pointers to other memory than a function's own"))
                }
            }
        }
        call(name, &list)
    }

    /// A module-scope variable at its use.
    pub fn global(&self, b: &mut Body, id: GlobalId) -> Made {
        let global = &b.t.module.globals[id];
        match global.space {
            Space::Input | Space::Output => Made::One(self.port(b, id)),
            Space::Handle => {
                let texture = Expr::primary(b.t.global(id));
                match b.t.types.get(global.ty) {
                    Type::SampledImage(_) if b.t.image_use(Root::Global(id)).samples => {
                        Made::Pair([texture, Expr::primary(self.sampler_of(b.t, id))])
                    }
                    _ => Made::One(texture),
                }
            }
            _ => Made::One(Expr::primary(b.t.global(id))),
        }
    }

    /// A composite of its parts.
    pub fn construct(&self, b: &mut Body, ty: TypeId, parts: &[Expr]) -> Expr {
        // The components of a vector in order are that vector.
        if let ([whole], Type::Vector { .. }) = (parts, b.t.types.get(ty)) {
            return whole.clone();
        }
        call(&b.t.type_name(ty), parts)
    }

    /// A select between two values; arrays, matrices and structs go through a variable.
    pub fn choice(&self, b: &mut Body, parts: &[Expr; 3], ty: TypeId) -> Expr {
        if b.t.shape(ty).is_some() {
            return self.select(parts);
        }
        let [condition, accept, reject] = parts;
        let chosen = b.variable("chosen", ty);
        let [then, otherwise] = [accept, reject]
            .map(|value| vec![Stmt::new(b.origin, Kind::Line(format!("{} = {};", chosen.text, value.text)))]);
        b.push(Kind::If { condition: condition.clone(), then, otherwise, hint: "" });
        chosen
    }

    /// Ends a fragment's invocation: it continues as a helper, whose writes have no effect, so it also returns.
    pub fn discard(&self, b: &mut Body) {
        b.push(Kind::Demote);
        b.leave();
    }
}

/// The type of a sampler.
pub(super) const fn sampler_name(compares: bool) -> &'static str {
    if compares { "sampler_comparison" } else { "sampler" }
}

/// A pointer to a place.
pub(super) fn address_of(place: &Expr) -> Expr {
    match place.text.strip_prefix('*') {
        Some(pointer) => Expr::primary(pointer),
        None => Expr::unary("&", place),
    }
    .reading(&place.reads)
}
