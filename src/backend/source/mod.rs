//! Shading languages as targets, written from the typed form as a person would write them.
//!
//! Structured control flow is preserved. Values with a single use are written in place; all others get a name. A
//! [`Language`] spells the constructs of the module; there is one folder per language. There is one file per subject:
//! `names`, `types`, `constants`, `globals`, `helpers` (functions added to a text), `uses` (of values and variables),
//! `function`, `memory`, `control`, `exits` (jumps out of arms with cross-lane operations), `operators`, `image`,
//! `inout` (arguments that functions write), `lane`, `expr` and `tree` (expressions and statements as text).

mod annotate;
mod arms;
mod attachments;
mod combine;
mod constants;
mod control;
mod coordinates;
mod elements;
mod exits;
mod expr;
mod function;
mod globals;
mod glsl;
mod helpers;
mod hlsl;
mod host;
mod image;
mod inout;
mod insts;
mod lane;
mod language;
mod layout;
mod lines;
mod memory;
mod msl;
mod names;
mod operators;
mod place;
mod ports;
mod purity;
mod ranges;
mod remarks;
mod retype;
mod runs;
mod sets;
mod slots;
mod tree;
mod types;
mod uniform;
mod uses;
mod varyings;
mod vertex_inputs;
mod wgsl;
mod writer;

use super::written::{Code, Unit};
use super::{Artifact, Backend, Form, Made, ModuleWriter, Options, Writer as BackendWriter};
use crate::ir::inline::inline;
use crate::ir::{FuncId, InstId, Module, Op};
use crate::lane::{GroupOp, LaneOp, Primitive};
use crate::profile::{Placing, Profile, Target};
use crate::source::{SourceMap, Span};
use combine::Pair;
use elements::Element;
use language::Language;
use remarks::Remarks;
use rustc_hash::FxHashMap;
use sets::Moved;
use std::borrow::Cow;
use writer::Writer;

/// The row of GLSL.
pub(super) const GLSL: Backend = Backend {
    units: &[Unit::Subgroup, Unit::Arithmetic, Unit::Control],
    unit: glsl::unit,
    mnemonic: |_, _| None,
    writer: BackendWriter::Module(ModuleWriter { write, written, losses: |_, _| Vec::new() }),
};

/// The row of HLSL.
pub(super) const HLSL: Backend = Backend {
    unit: hlsl::unit,
    mnemonic: |primitive, _| of_group(primitive, hlsl::intrinsic),
    writer: BackendWriter::Module(ModuleWriter { write, written, losses: hlsl::losses }),
    ..GLSL
};

/// The row of MSL.
pub(super) const MSL: Backend = Backend {
    unit: msl::unit,
    mnemonic: |primitive, _| of_group(primitive, msl::function),
    writer: BackendWriter::Module(ModuleWriter { write, written, losses: msl::losses }),
    ..GLSL
};

/// The row of WGSL.
pub(super) const WGSL: Backend = Backend {
    unit: wgsl::unit,
    mnemonic: |primitive, _| of_group(primitive, wgsl::function),
    writer: BackendWriter::Module(ModuleWriter { write, written, losses: wgsl::losses }),
    ..GLSL
};

/// The name of the function for a portable instruction.
fn of_group(primitive: Primitive, name: fn(GroupOp) -> Option<&'static str>) -> Option<Cow<'static, str>> {
    match primitive {
        Primitive::Group(op) => name(op).map(Cow::from),
        _ => None,
    }
}

/// The language of a profile.
fn language_of(profile: &Profile) -> &'static dyn Language {
    match profile.target {
        Target::Hlsl => hlsl::Hlsl::of(profile),
        Target::Msl => &msl::MSL,
        Target::Wgsl => &wgsl::WGSL,
        _ => glsl::Dialect::of(profile),
    }
}

fn write(module: &Module, form: Form, options: &Options, sources: &SourceMap) -> Made<Artifact> {
    let language = language_of(&options.profile);
    let Prepared { module, divided, pairs, elements, moved } = &prepared(module, options)?;
    let mut writer = Writer::new(divided.as_ref().unwrap_or(module), options);
    writer.remarks = options.manner.notes.comments.then(|| Remarks::of(writer.module, sources));
    let bodies = writer.remarks.as_mut().map(|remarks| std::mem::take(&mut remarks.bodies)).unwrap_or_default();
    let mut shader = writer.run()?;
    annotate::comment(&mut shader.functions, &bodies, sources);
    if options.manner.notes.lines {
        annotate::direct(&mut shader.functions, sources, language);
    }
    (shader.pairs, shader.elements, shader.moved) = (pairs.clone(), elements.clone(), moved.clone());
    Ok(Artifact::Text(match form {
        Form::Binary | Form::Text => shader.text(),
        Form::Reflection => language.reflection(&shader, module, options)?,
    }))
}

fn written(module: &Module, options: &Options, _: &SourceMap) -> Made<Code> {
    let joins = language_of(&options.profile).joins_functions(module);
    let Prepared { module: prepared, divided, .. } = prepared(module, options)?;
    let prepared = divided.as_ref().unwrap_or(&prepared);
    let named = if joins { lane_operations(module) } else { LanesBySpan::default() };
    let alike = |(function, id): (FuncId, InstId)| {
        let inst = &prepared.functions[function].insts[id];
        let Op::Lane(op, _) = inst.op else { return (function, id) };
        let alike = named.get(&inst.span).into_iter().flatten();
        alike.clone().find(|(other, _)| *other == op).map_or((function, id), |(_, at)| *at)
    };
    Ok(Writer::new(prepared, options).run()?.code(alike))
}

/// The cross-lane operations by source span.
type LanesBySpan = FxHashMap<Span, Vec<(LaneOp, (FuncId, InstId))>>;

/// The cross-lane operations of a module by source span, which is preserved when calls are inlined.
fn lane_operations(module: &Module) -> LanesBySpan {
    let mut found = LanesBySpan::default();
    for (function, f) in module.functions.iter() {
        for (id, inst) in f.insts.iter() {
            if let Op::Lane(op, _) = inst.op {
                found.entry(inst.span).or_default().push((op, (function, id)));
            }
        }
    }
    found
}

/// A module in a form that the language can express.
struct Prepared<'m> {
    module: Cow<'m, Module>,
    /// The module to write, if its entry point becomes two.
    divided: Option<Module>,
    /// The textures combined with their samplers.
    pairs: Vec<Pair>,
    /// The elements of arrays that are variables.
    elements: Vec<Element>,
    /// The resources that are in other sets in the source.
    moved: Vec<Moved>,
}

/// The module with the user's places, after removing constructs that the language lacks.
fn prepared<'m>(module: &'m Module, options: &Options) -> Made<Prepared<'m>> {
    let language = language_of(&options.profile);
    let has_groups = options.profile.target.row().placing == Placing::Groups || !language.has_sets();
    if !language.has_sets() {
        sets::check_push_constants(module, &options.places)?;
    }
    let mut module = options.places.applied(module, has_groups);
    if !options.places.inputs.is_empty() {
        vertex_inputs::place(module.to_mut(), &options.places, options.profile.target == Target::Hlsl)?;
    }
    if language.joins_functions(&module) {
        inline(module.to_mut(), usize::MAX, usize::MAX);
    }
    let lacks_arrays = |ty| language.lacks_arrays_of(ty);
    let elements = match elements::has_any(&module, &lacks_arrays) {
        true => elements::split(module.to_mut(), &lacks_arrays),
        false => Vec::new(),
    };
    if !language.has_attachments() && attachments::has_any(&module) {
        attachments::read_as_textures(module.to_mut(), language.joins_samplers());
    }
    language.reshape(&mut module);
    let is_apart = language.joins_samplers() && combine::has_globals(&module);
    let pairs = if is_apart { combine::combine(module.to_mut()) } else { Vec::new() };
    let moved =
        if language.has_sets() { Vec::new() } else { sets::flatten(module.to_mut(), &options.places, language)? };
    if !language.has_port_blocks() {
        varyings::open_blocks(module.to_mut());
    }
    if !language.has_port_locations() {
        varyings::name_by_location(module.to_mut());
    }
    let lines = lines::such(&module, |image| language.lacks_line(&module, image));
    if !lines.is_empty() {
        lines::widen(module.to_mut(), &lines);
    }
    if !language.puts_references_last() && coordinates::has_any(&module) {
        coordinates::take_apart(module.to_mut());
    }
    let divided = language.divided(&module)?;
    Ok(Prepared { module, divided, pairs, elements, moved })
}
