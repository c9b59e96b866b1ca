//! Functions, composites and inputs at other places of the pixel.

use super::Hlsl;
use super::globals::sampler_type;
use super::primitives;
use super::rays::ray_value;
use super::stage::given;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::{Body, Made};
use crate::backend::source::image::Root;
use crate::backend::source::tree::{Kind, Stmt};
use crate::backend::source::writer::Writer;
use crate::ir::{
    Binding, BuiltIn, DerivativeGroup, EntryPoint, Function, GlobalId, InstId, InterpolateAt, Op, Param, Sampling,
    Scalar, Space, Stage, Type, TypeId, Value, Values,
};

impl Hlsl {
    /// Refuses stages and modes that are not written.
    pub fn check_stage(&self, t: &mut Writer, entry: &EntryPoint) {
        self.check_primitives(t, entry);
        self.check_rays(t, entry);
        if !matches!(entry.stage, Stage::Compute | Stage::Vertex | Stage::Fragment)
            && !primitives::has_crowds(entry.stage)
            && !entry.stage.is_of_rays()
        {
            t.unsupported(&format!("{} shaders", entry.stage.name()));
        }
        self.check_fragment(t, entry);
        if entry.derivatives.is_some() && t.options.profile.version < (6, 6) {
            t.lacks("derivatives of compute shaders before Shader Model 6.6");
        }
        // If both sizes are even, the language uses squares of invocations (Shader Model 6.6, Derivatives).
        let is_even = |id| t.module.constants.bits(id).is_some_and(|size| size.is_multiple_of(2));
        let [x, y, _] = entry.workgroup_size;
        if entry.derivatives == Some(DerivativeGroup::Linear) && is_even(x) && is_even(y) {
            t.lacks("derivatives along lines in workgroups of even width and height");
        }
    }

    /// Refuses fragment shader modes that HLSL lacks. HLSL always runs all pixels of a quad (Microsoft's reference,
    /// "HLSL Shader Model 6.0", terminology), so `full_quads` needs no check.
    fn check_fragment(&self, t: &mut Writer, entry: &EntryPoint) {
        let modes = entry.fragment;
        let lacking = [
            (modes.quad_derivatives, "derivatives in control flow that the quad alone shares"),
            (modes.post_depth_coverage, "coverage after the tests of depth and stencil"),
            (modes.override_coverage, "sample masks that add to the coverage"),
            (modes.early_and_late_tests, "tests both before and after a fragment shader"),
            (!modes.non_coherent.is_empty(), "reads of the pixel"),
        ];
        for (_, what) in lacking.iter().filter(|(is_asked, _)| *is_asked) {
            t.lacks(what);
        }
        let is_of_samples = |binding| match binding {
            Binding::Location { sampling, .. } => sampling == Sampling::Sample,
            Binding::BuiltIn(of) => matches!(of, BuiltIn::SampleId | BuiltIn::SamplePosition),
            _ => false,
        };
        let inputs = t.module.globals.iter().filter(|(_, global)| global.space == Space::Input);
        let runs_for_samples = inputs.into_iter().any(|(_, global)| is_of_samples(global.binding));
        if runs_for_samples && modes.interlock.is_some_and(|interlock| !interlock.of_sample) {
            t.lacks("exclusion of a pixel's invocations where each sample has one");
        }
    }

    pub fn parameter(&self, b: &mut Body, index: u32, param: &Param, name: &str) -> String {
        let (mode, ty) = b.mode_of(param);
        let (text, dims) = b.t.declared(ty);
        match b.t.types.get(b.t.innermost(ty)) {
            Type::SampledImage(image) => {
                format!("{text} {name}{dims}, {} {name}_sampler{dims}", sampler_type(image.depth))
            }
            Type::Sampler => {
                let compares = b.t.image_use(Root::Param(b.id, index)).compares;
                format!("{} {name}{dims}", sampler_type(compares))
            }
            _ => format!("{mode}{text} {name}{dims}"),
        }
    }

    /// A parameter at its use: a texture with its sampler is two.
    pub fn param(&self, b: &mut Body, index: u32) -> Made {
        let name = b.params[index as usize].clone();
        let ty = b.f.params[index as usize].ty;
        let pointee = b.t.types.pointee(ty);
        match b.t.types.get(pointee.map_or(ty, |(_, pointee)| pointee)) {
            Type::SampledImage(_) => {
                Made::Pair([Expr::primary(name.clone()), Expr::primary(format!("{name}_sampler"))])
            }
            _ => Made::One(Expr::primary(name).reading_memory(pointee.is_some())),
        }
    }

    pub fn call(&self, b: &mut Body, name: &str, args: Vec<Made>) -> Expr {
        let mut list = Vec::new();
        for arg in args {
            match arg {
                Made::One(value) => list.push(value),
                Made::Pair(parts) => list.extend(parts),
                Made::Bytes(_) | Made::Laid(_) => list.push(b.t.stand_in("parameters that point to memory")),
            }
        }
        Expr::call(name, &list)
    }

    pub fn global(&self, b: &mut Body, id: GlobalId) -> Made {
        let global = &b.t.module.globals[id];
        match global.space {
            Space::Input | Space::Output => Made::One(self.port(b, id)),
            Space::Handle => {
                let texture = Expr::primary(b.t.global(id));
                match b.t.types.get(b.t.innermost(global.ty)) {
                    Type::SampledImage(_) => Made::Pair([texture, Expr::primary(self.sampler_name(b.t, id))]),
                    _ => Made::One(texture),
                }
            }
            _ => Made::One(Expr::primary(b.t.global(id))),
        }
    }

    /// The language's scalar type for a built-in value.
    pub fn given_scalar(&self, t: &mut Writer, id: GlobalId) -> Option<Scalar> {
        let global = &t.module.globals[id];
        let Binding::BuiltIn(of) = global.binding else { return None };
        if let (true, Some(row)) = (t.stage().is_some_and(Stage::is_of_rays), ray_value(of)) {
            return Some(row.scalar);
        }
        let is_shared = t.ports.find(of, global.space).is_some_and(|given| given.is_shared);
        let is_variable = global.space == Space::Output && !self.is_member(t, of);
        // The only one that may be signed.
        let is_signed = of == BuiltIn::InvocationId && t.stage() == Some(Stage::TessControl);
        if is_shared || is_variable || is_signed {
            return t.types.scalar_of(global.ty);
        }
        given(of).or_else(|| t.types.scalar_of(global.ty))
    }

    /// A composite from its parts: only initial values can be lists, so other arrays and structs get a name.
    pub fn construct(&self, b: &mut Body, ty: TypeId, parts: Vec<Expr>) -> Expr {
        match b.t.types.get(ty) {
            Type::Scalar(_) | Type::Vector { .. } | Type::Matrix { .. } => Expr::call(&b.t.type_name(ty), &parts),
            _ => {
                let parts = self.loaded_apart(b, parts);
                let list: Vec<&str> = parts.iter().map(|part| part.text.as_str()).collect();
                let value = Expr::primary(format!("{{ {} }}", list.join(", ")));
                let is_listed = b.current.is_some_and(|id| {
                    let inst = &b.f.insts[id];
                    matches!(inst.op, Op::Construct(_)) && inst.ty == ty && b.uses.is_listed(b.f, &b.t.types, id)
                });
                if is_listed { value.reading(&Expr::call("", &parts).reads) } else { b.name("made", ty, &value) }
            }
        }
    }

    /// The parts of a list, with a name for the first one if its first number is loaded from a buffer of bytes: DXC gives
    /// a list that begins with such a load the type that it has in memory.
    fn loaded_apart(&self, b: &mut Body, mut parts: Vec<Expr>) -> Vec<Expr> {
        let Some(part) = b.current.and_then(|id| first_of(b.f, id)) else { return parts };
        let ty = b.f.insts[part].ty;
        let is_vector = matches!(b.t.types.get(ty), Type::Vector { .. });
        let number = first_of(b.f, part).filter(|_| is_vector).unwrap_or(part);
        if let Op::Load(pointer) = b.f.insts[number].op
            && matches!(b.made(pointer), Made::Bytes(_))
        {
            parts[0] = b.plain(parts[0].clone(), ty);
        }
        parts
    }

    pub fn choice(&self, b: &mut Body, [condition, accept, reject]: &[Expr; 3], ty: TypeId) -> Expr {
        if b.t.language.picks(b.t, ty) {
            return Expr::choice(condition, accept, reject);
        }
        let chosen = b.variable("chosen", ty);
        let [then, otherwise] = [accept, reject]
            .map(|value| vec![Stmt::new(b.origin, Kind::Line(format!("{} = {};", chosen.text, value.text)))]);
        b.push(Kind::If { condition: condition.clone(), then, otherwise, hint: "" });
        chosen
    }

    /// Ends a fragment's invocation. The language lets it continue as a helper, so it also returns.
    pub fn discard(&self, b: &mut Body) {
        b.push(Kind::Demote);
        b.leave();
    }

    pub fn interpolate(&self, b: &mut Body, at: InterpolateAt, pointer: Value, args: Values) -> Expr {
        let mut list = vec![b.value(pointer)];
        let mut args = b.list(args);
        let name = match at {
            InterpolateAt::Centroid => "EvaluateAttributeCentroid",
            InterpolateAt::Sample => "EvaluateAttributeAtSample",
            InterpolateAt::Offset => {
                // Sixteenths of a pixel.
                let ty = b.t.types.vector(Scalar::F32, 2);
                let offset = b.plain(args[0].clone(), ty);
                let sixteenths = Expr::binary("*", Level::Product, &offset, &Expr::primary("16.0"));
                args = vec![Expr::call("int2", &[sixteenths])];
                "EvaluateAttributeSnapped"
            }
            InterpolateAt::Vertex => return b.t.stand_in("values of a vertex"),
        };
        list.extend(args);
        Expr::call(name, &list)
    }
}

/// The first part of a composite, if it is the result of an instruction.
fn first_of(f: &Function, id: InstId) -> Option<InstId> {
    let first = match f.insts[id].op {
        Op::Construct(parts) => *f.values(parts).first()?,
        Op::Splat(part) => part,
        _ => return None,
    };
    if let Value::Inst(id) = first { Some(id) } else { None }
}
