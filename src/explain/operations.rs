//! The cross-lane operations of a shader, in source order, with the facts known about each.
//!
//! Assembly is written from the kernel form, where functions are inlined and loops unrolled. There, one operation of
//! the source may have several copies with different facts, or none. SPIR-V is written from the module.

use super::listing::{Emitted, Listing};
use super::whole::{self, Whole};
use crate::backend::{Backend, Writer, plans};
use crate::compile::{Options, Reading};
use crate::diagnostic::Diagnostic;
use crate::ir::calls::callees_first;
use crate::ir::spanning::{Exchanged, Survey};
use crate::ir::{FuncId, Function, InstId, Module, Op, ScalarKind, Stage, Value};
use crate::kernel::Kernel;
use crate::lane::spanning::Spanning;
use crate::lane::{Activity, Input, Known, LaneOp, LaneType, Plans, Request};
use crate::profile::Profile;
use crate::source::{SourceMap, Span};
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One operation of a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Site {
    pub op: LaneOp,
    pub inputs: Vec<Input>,
    /// Repetitions of the operation: one per component where vectors have no plans.
    pub parts: u32,
    pub span: Span,
    /// The instruction in the module, or `None` if there is no module.
    pub inst: Option<(FuncId, InstId)>,
    /// True if it runs in a fragment shader.
    pub fragment: bool,
    /// The lanes known to run it.
    pub activity: Activity,
    /// See [`Request::index`].
    pub index: Option<Vec<u32>>,
    /// The struct, array or matrix that the operation moves a part of.
    pub whole: Option<Whole>,
    /// Its lines in the shader's own program, if known.
    pub listing: Option<Listing>,
    /// Its program if it is wider than the smallest subgroup.
    pub wide: Option<Wide>,
}

/// An operation that is wider than the smallest subgroup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wide {
    /// The profile compiles it over several subgroups.
    Program {
        exchanged: Box<Exchanged>,
        /// For each program, for each operation inside a subgroup in the order of the steps, its copies.
        inside: Vec<Vec<Vec<Site>>>,
    },
    /// The program cannot run here; the reason.
    Refused(String),
    /// It stays inside the subgroup, whose size is known where it runs.
    Inside,
}

impl Site {
    /// The request to the planner.
    pub fn request(&self) -> Request<'_> {
        let Site { op, inputs, activity, index, fragment, .. } = self;
        Request {
            op: *op,
            inputs: inputs.into(),
            activity: *activity,
            index: index.as_deref().map(Cow::Borrowed),
            fragment: *fragment,
        }
    }

    /// The operations inside a subgroup of a program for this one, without a place in a module.
    pub fn inside(&self, program: &Spanning) -> Vec<Site> {
        let site = |Request { op, inputs, .. }: Request<'_>| {
            let inputs = inputs.into_owned();
            Site { op, inputs, index: None, inst: None, listing: None, wide: Some(Wide::Inside), ..self.clone() }
        };
        program.inside(&self.request()).into_iter().map(site).collect()
    }

    /// How many operations of the kernel form it is.
    fn components(&self) -> usize {
        let data = self.inputs.iter().filter(|input| input.ty != LaneType::BALLOT);
        data.map(|input| usize::from(input.ty.components)).max().unwrap_or(1)
    }

    /// This site with the kernel form's facts about one copy.
    fn with_facts(&self, asked: &Request<'_>) -> Site {
        // Bools are moved one by one, and vectors of them have no plans.
        let is_parted = self.inputs.first().is_some_and(|own| own.ty.kind == ScalarKind::Bool);
        let parts = if is_parted { self.components() as u32 } else { 1 };
        let known = |(own, asked): (&Input, &Input)| match asked.known {
            _ if is_parted => *asked,
            // One component of a vector says nothing about the others.
            Known::Constant(_) if own.ty.components > 1 => Input { known: Known::Uniform, ..*own },
            known => Input { known, ..*own },
        };
        let inputs = self.inputs.iter().zip(asked.inputs.iter()).map(known).collect();
        let index = asked.index.clone().map(Cow::into_owned);
        Site { inputs, parts, activity: asked.activity, index, ..self.clone() }
    }
}

/// The lines of operations in a hardware program, which need a whole compilation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lines {
    Wanted,
    Unneeded,
}

/// The facts about a module's operations at the point where a profile's output is written, and their lines there.
pub struct Facts<'a> {
    survey: Survey<'a>,
    /// `None` if the profile refuses the shader.
    written: Option<Written>,
}

enum Written {
    Kernel(KernelFacts),
    /// The written module, with the numbers of its operations.
    Module(Emitted, BTreeMap<(FuncId, InstId), u32>),
}

impl<'a> Facts<'a> {
    /// The facts of a shader for a profile, which may refuse it.
    pub fn of(reading: &Reading, module: &'a Module, options: &Options, lines: Lines) -> Facts<'a> {
        let survey = Survey::of(module, &options.profile);
        let written = Written::of(reading, &survey.module, options, lines).ok();
        Facts { survey, written }
    }

    /// The output, and the places of its operations by their numbers. Operations over several subgroups can share a function,
    /// whose operations then have the places of all of them.
    pub fn places(&self) -> Option<(&Emitted, BTreeMap<u32, Vec<Span>>)> {
        match self.written.as_ref()? {
            Written::Kernel(facts) => {
                let asked = facts.asked.iter();
                let places = asked.flat_map(|(span, all)| all.iter().map(|(number, _)| (*number, vec![*span])));
                Some((facts.emitted.as_ref()?, places.collect()))
            }
            Written::Module(emitted, numbers) => {
                let functions = &self.survey.module.functions;
                let callers = self.callers();
                let place = |(function, inst): &(FuncId, InstId)| match callers.get(function) {
                    Some(spans) => spans.clone(),
                    None => vec![functions[*function].insts[*inst].span],
                };
                Some((emitted, numbers.iter().map(|(at, number)| (*number, place(at))).collect()))
            }
        }
    }

    /// The places of the operations that call each function over several subgroups.
    fn callers(&self) -> BTreeMap<FuncId, Vec<Span>> {
        let mut callers: BTreeMap<FuncId, Vec<Span>> = BTreeMap::new();
        for (function, inst) in self.survey.operations.keys() {
            let call = &self.survey.module.functions[*function].insts[*inst];
            if let Op::Call(callee, _) = call.op {
                callers.entry(callee).or_default().push(call.span);
            }
        }
        callers.values_mut().for_each(|spans| spans.sort());
        callers
    }

    /// The copies of an operation, each once.
    pub fn copies(&self, site: &Site) -> Vec<Site> {
        match (self.wide(site), &self.written) {
            (Some(wide), _) => vec![Site { wide: Some(wide), listing: self.inside_subgroup(site), ..site.clone() }],
            (None, Some(written)) => written.copies(site),
            (None, None) => vec![site.clone()],
        }
    }

    /// The lines of an operation that stays inside the subgroup if the driver's is wide enough.
    fn inside_subgroup(&self, site: &Site) -> Option<Listing> {
        let (_, inst) = self.inside(site).into_iter().find(|(op, _)| *op == site.op)?;
        self.written.as_ref()?.copies(&Site { inst: Some(inst), ..site.clone() }).into_iter().next()?.listing
    }

    /// The program of an operation that is wider than the smallest subgroup.
    fn wide(&self, site: &Site) -> Option<Wide> {
        let exchanged = self.survey.operations.get(&site.inst?)?;
        if let Some(reason) = self.survey.refusal(site.span) {
            return Some(Wide::Refused(reason.into()));
        }
        let mut written = self.inside(site);
        let mut copies = |inside: Site| {
            let at = written.iter().position(|(op, _)| *op == inside.op);
            let inst = at.map(|at| written.remove(at).1);
            let inside = Site { inst, ..inside };
            self.written.as_ref().map_or_else(|| vec![inside.clone()], |written| written.copies(&inside))
        };
        let programs = exchanged.programs.iter();
        let inside = programs.map(|sized| site.inside(&sized.program).into_iter().map(&mut copies).collect()).collect();
        Some(Wide::Program { exchanged: Box::new(exchanged.clone()), inside })
    }

    /// The operations of the function that an operation has become.
    fn inside(&self, site: &Site) -> Vec<(LaneOp, (FuncId, InstId))> {
        let module = &self.survey.module;
        let op = site.inst.map(|(function, inst)| module.functions[function].insts[inst].op);
        let Some(Op::Call(callee, _)) = op else { return Vec::new() };
        let function = &module.functions[callee];
        let lane = |inst: InstId| match function.insts[inst].op {
            Op::Lane(op, _) => Some((op, (callee, inst))),
            _ => None,
        };
        instructions(function).filter_map(lane).collect()
    }
}

impl Written {
    fn of(reading: &Reading, module: &Module, options: &Options, lines: Lines) -> Result<Written, Vec<Diagnostic>> {
        let (backend, sources) = (Backend::of(options.profile.target), reading.sources());
        match &backend.writer {
            Writer::Kernel(writer) => {
                let emit = |kernel: &Kernel| Emitted::of_kernel(backend, writer, kernel, &options.profile).ok();
                KernelFacts::of(reading, &options.profile, (lines == Lines::Wanted).then_some(emit))
                    .map(Written::Kernel)
            }
            Writer::Module(writer) => {
                let options = options.of_backend(sources);
                let (emitted, operations) = Emitted::of_module(backend, writer, module, &options, sources)?;
                Ok(Written::Module(emitted, operations.into_iter().zip(0..).collect()))
            }
        }
    }

    fn copies(&self, site: &Site) -> Vec<Site> {
        match self {
            Written::Kernel(facts) => facts.copies(site),
            Written::Module(emitted, numbers) => {
                let number = site.inst.and_then(|inst| numbers.get(&inst));
                let listing = |number: &u32| Some(emitted.listing(&[*number]));
                number.map(|number| Site { listing: listing(number), ..site.clone() }).into_iter().collect()
            }
        }
    }
}

/// The facts about a module's operations in the kernel form, and their lines in its program.
pub struct KernelFacts {
    /// Requests by place, with their numbers.
    asked: BTreeMap<Span, Vec<(u32, Request<'static>)>>,
    emitted: Option<Emitted>,
}

impl KernelFacts {
    fn of(
        reading: &Reading,
        profile: &Profile,
        emit: Option<impl FnOnce(&Kernel) -> Option<Emitted>>,
    ) -> Result<KernelFacts, Vec<Diagnostic>> {
        let prepared = reading.prepared(profile)?;
        let mut asked: BTreeMap<Span, Vec<(u32, Request<'static>)>> = BTreeMap::new();
        for (number, (span, request)) in (0..).zip(prepared.requests()) {
            asked.entry(span).or_default().push((number, request.clone()));
        }
        let emitted = emit.and_then(|emit| emit(&reading.lowered(profile, &Plans::default()).ok()?.kernel));
        Ok(KernelFacts { asked, emitted })
    }

    fn copies(&self, site: &Site) -> Vec<Site> {
        let mut copies: Vec<(Site, Vec<u32>)> = Vec::new();
        // The parts of a struct have the same place.
        let is_part = |(_, asked): &&(u32, Request<'static>)| {
            asked.op == site.op && (site.whole.is_none() || same_data(asked, site))
        };
        for (number, asked) in self.asked.get(&site.span).into_iter().flatten().filter(is_part) {
            let copy = site.with_facts(asked);
            match copies.iter_mut().find(|(known, _)| *known == copy) {
                Some((_, numbers)) if numbers.len() >= site.components() => {}
                Some((_, numbers)) => numbers.push(*number),
                None => copies.push((copy, vec![*number])),
            }
        }
        let listing = |numbers: &[u32]| self.emitted.as_ref().map(|emitted| emitted.listing(numbers));
        copies.into_iter().map(|(copy, numbers)| Site { listing: listing(&numbers), ..copy }).collect()
    }
}

/// Returns true if a copy moves the same scalars as an operation.
fn same_data(asked: &Request<'_>, site: &Site) -> bool {
    let data = |inputs: &[Input]| inputs.first().map(|input| (input.ty.kind, input.ty.width));
    data(&asked.inputs) == data(&site.inputs)
}

/// The place of an operation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize)]
pub struct CallSite {
    pub file: String,
    /// Counted from 1; columns count characters.
    pub line: u32,
    pub column: u32,
    /// The first line of the operation in the source.
    pub code: String,
    /// The whole line.
    pub text: String,
    /// The file and the byte range in it, ignoring `#line`.
    #[serde(skip)]
    pub physical: (Arc<str>, usize, usize),
}

/// The operations of all functions that an entry point reaches. Moves of a struct's parts count once per kind.
/// Operations on values other than scalars and vectors, which no front end emits, are left out.
pub fn sites(module: &Module) -> Vec<Site> {
    let mut sites: Vec<Site> = Vec::new();
    for id in callees_first(module, module.entry_points.iter().map(|entry| entry.function)) {
        of_function(module, id).into_iter().for_each(|site| add(&mut sites, site));
    }
    sites.sort_by_key(|site| site.span);
    sites
}

/// Adds an operation, or counts it with equal operations of the struct.
fn add(sites: &mut Vec<Site>, site: Site) {
    let before = sites.iter_mut().rev().take_while(|other| other.span == site.span && other.whole.is_some());
    let alike = before.into_iter().find(|other| other.inputs == site.inputs);
    match alike.filter(|_| site.whole.is_some()).and_then(|other| other.whole.as_mut()) {
        Some(whole) => whole.alike += 1,
        None => sites.push(site),
    }
}

fn instructions(function: &Function) -> impl Iterator<Item = InstId> {
    function.blocks.iter().flat_map(|(_, block)| &block.insts).copied()
}

fn of_function(module: &Module, function_id: FuncId) -> Vec<Site> {
    let function = &module.functions[function_id];
    let fragment = module.entry_points.iter().any(|entry| entry.stage == Stage::Fragment);
    let mut wholes = whole::wholes(module, function);
    let site = |id: InstId| {
        let (Op::Lane(op, args), span) = (function.insts[id].op, function.insts[id].span) else { return None };
        let inputs =
            function.values(args).iter().map(|value| input(module, function, *value)).collect::<Option<_>>()?;
        let (inst, whole) = (Some((function_id, id)), wholes.remove(&id));
        let (activity, index, listing, wide) = (Activity::Any, None, None, None);
        Some(Site { op, inputs, parts: 1, span, inst, fragment, activity, index, whole, listing, wide })
    };
    instructions(function).filter_map(site).collect()
}

/// The facts about an operand that are known to back ends that write from modules.
fn input(module: &Module, function: &Function, value: Value) -> Option<Input> {
    let ty = module.value_type(function, value)?;
    let shape = (module.types.scalar_of(ty)?, module.types.components(ty)?);
    Some(plans::input(module, value, shape))
}

/// The place of a span. Operations without source text get a place without a file.
pub fn call_site(sources: &SourceMap, span: Span) -> CallSite {
    let Some((location, (id, range))) = sources.locate(span.lo).zip(sources.resolve(span)) else {
        return CallSite::default();
    };
    let file = sources.file(id);
    let line = file.line_of(range.start as u32);
    let physical = (file.name.clone(), range.start, range.end);
    let code = file.text.get(range).unwrap_or_default();
    let starts = file.line_starts();
    let end = starts.get(line + 1).map_or(file.text.len(), |next| *next as usize);
    let whole = file.text.get(starts[line] as usize..end).unwrap_or_default();
    let (file, line, column) = (location.file.to_string(), location.line, location.column);
    CallSite { file, line, column, code: first_line(code), text: whole.trim_end().into(), physical }
}

fn first_line(code: &str) -> String {
    code.lines().next().unwrap_or_default().trim_end().into()
}
