//! Cross-lane operations whose segments are wider than the subgroup: each becomes a call of a function that exchanges
//! values in workgroup memory ([`crate::lane::spanning`]).
//!
//! All invocations of the workgroup must reach such an operation, and its stage must have workgroup memory; otherwise it
//! is an error. The memory has two areas of equal size. Consecutive exchanges alternate between them, so that each needs
//! a single barrier ([`areas`]).

mod areas;
mod write;

#[cfg(test)]
mod tests;

use super::calls::callees_first;
use super::print::lane_text;
use super::uniform::{is_written, parted};
use super::{
    Access, ArrayLen, Binding, EntryPoint, FuncId, Function, Global, GlobalId, Inst, InstFlags, InstId, Module, Op,
    Space, Type, TypeId, Types, Value,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::lane::spanning::{Given, Spanning, plan};
use crate::lane::{LaneOp, Reads, Span, Width};
use crate::profile::{Feature, Profile};
use crate::source;
use areas::{Choice, choose};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use write::{BARRIER, Job, Number, Shared, built_in, words_of, write};

/// An operation whose segment is wider than the subgroup.
#[derive(Clone, Debug)]
struct Site {
    op: LaneOp,
    inputs: Vec<TypeId>,
    ret: TypeId,
    span: source::Span,
    program: Spanning,
}

/// All such operations that entry points reach, in the order of functions and instructions.
#[derive(Debug, Default)]
struct Wide {
    sites: Vec<((FuncId, InstId), Site)>,
    index: FxHashMap<(FuncId, InstId), usize>,
}

/// The module for a profile: with calls in place of the operations that are wider than its subgroups, if there are some.
///
/// # Errors
/// Reports operations that a part of the workgroup may not reach, or for which there is no workgroup memory.
pub fn spanned<'a>(module: &'a Module, profile: &Profile) -> Result<Cow<'a, Module>, Vec<Diagnostic>> {
    let Some(lanes) = profile.wave_size else { return Ok(Cow::Borrowed(module)) };
    let wide = Wide::of(module, profile, lanes);
    if wide.sites.is_empty() {
        return Ok(Cow::Borrowed(module));
    }
    let invocations = wide.check(module, profile, lanes)?;
    let mut module = module.clone();
    Rewrite { module: &mut module, profile, lanes, invocations }.run(&wide);
    Ok(Cow::Owned(module))
}

/// An error for each operation whose segment is wider than the profile's subgroups.
pub fn refusals(module: &Module, profile: &Profile) -> Vec<Diagnostic> {
    let Some(lanes) = profile.wave_size else { return Vec::new() };
    let width = |f: &Function, op: LaneOp, args| match op.signature().span {
        Span::Operand => f.values(args).last().and_then(|width| module.known_u32(*width)),
        span => op.width().or(span.width().filter(|_| matches!(op, LaneOp::Vote { .. }))).and_then(Width::lanes),
    };
    let refusal = |f: &Function, inst: &Inst| {
        let Op::Lane(op, args) = inst.op else { return None };
        let width = width(f, op, args).filter(|width| *width > lanes)?;
        let message = format!("a segment of {width} lanes does not fit into a subgroup of {lanes}");
        Some(Diagnostic::error(Code::TOO_WIDE, message).at(inst.span, format!("works on segments of {width} lanes")))
    };
    let entries = module.entry_points.iter().map(|entry| entry.function);
    let functions = callees_first(module, entries).into_iter().map(|id| &module.functions[id]);
    functions.flat_map(|f| f.insts.iter().filter_map(|(_, inst)| refusal(f, inst))).collect()
}

impl Wide {
    fn of(module: &Module, profile: &Profile, lanes: u32) -> Wide {
        let mut wide = Wide::default();
        for id in callees_first(module, module.entry_points.iter().map(|entry| entry.function)) {
            let f = &module.functions[id];
            for (at, inst) in f.insts.iter() {
                let Op::Lane(op, args) = inst.op else { continue };
                let inputs: Vec<TypeId> = f.values(args).iter().map(|arg| type_of(module, id, *arg)).collect();
                let scalar = inputs.first().and_then(|ty| module.types.scalar_of(*ty));
                let float = scalar.is_some_and(|scalar| scalar.is_float());
                let given = Given { inputs: inputs.len(), float, ordered: profile.reproducible };
                if let Some(program) = plan(op, given, lanes) {
                    wide.index.insert((id, at), wide.sites.len());
                    wide.sites.push(((id, at), Site { op, inputs, ret: inst.ty, span: inst.span, program }));
                }
            }
        }
        wide
    }

    fn site(&self, id: FuncId, inst: InstId) -> Option<&Site> {
        self.index.get(&(id, inst)).map(|at| &self.sites[*at].1)
    }

    /// The barriers of an operation; 0 if it exchanges nothing.
    fn barriers(&self, id: FuncId, inst: InstId) -> usize {
        self.site(id, inst).map_or(0, |site| site.program.barriers())
    }

    /// The most invocations of a workgroup.
    fn check(&self, module: &Module, profile: &Profile, lanes: u32) -> Result<u32, Vec<Diagnostic>> {
        let mut errors: Vec<Diagnostic> = Vec::new();
        let mut most = 1;
        let refuse = |site: &Site, reason: String, advice: &str| refusal(site, profile, lanes, reason, advice);
        for entry in &module.entry_points {
            let sites = self.reached(module, entry);
            let Some(first) = sites.first() else { continue };
            if !entry.stage.has_workgroups() {
                let reason = format!("{} shaders have no workgroup memory", entry.stage.name());
                errors.extend(sites.iter().map(|site| refuse(site, reason.clone(), "")));
                continue;
            }
            let Some(size) = invocations(module, entry) else {
                let reason = "the size of the workgroup is a specialization constant".to_owned();
                errors.push(refuse(first, reason, "set the constant with `--set`"));
                continue;
            };
            most = most.max(size);
            for site in sites.iter().filter(|site| reads_active(site.op) && size % site.program.width != 0) {
                let reason =
                    format!("the workgroup of {size} does not fill the last segment of {}", site.program.width);
                errors.push(refuse(site, reason, "choose a workgroup of whole segments"));
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        // Only an exchange waits.
        let waits = |op: &Op| matches!(op, Op::Lane(..));
        let parted = parted(module, constant_globals(module), waits);
        let divergent = parted.into_iter().filter_map(|(id, inst)| self.site(id, inst));
        let divergent = divergent.filter(|site| site.program.barriers() > 0).map(|site| {
            let reason = "some invocations of the workgroup may not reach it".to_owned();
            refuse(site, reason, "move it out of the branch; a buffer that decides must be `readonly`")
        });
        let errors: Vec<Diagnostic> = divergent.collect();
        if errors.is_empty() { Ok(most) } else { Err(errors) }
    }

    fn reached(&self, module: &Module, entry: &EntryPoint) -> Vec<&Site> {
        let functions: FxHashSet<FuncId> = callees_first(module, [entry.function]).into_iter().collect();
        self.sites.iter().filter(|((id, _), _)| functions.contains(id)).map(|(_, site)| site).collect()
    }
}

fn refusal(site: &Site, profile: &Profile, lanes: u32, reason: String, advice: &str) -> Diagnostic {
    let width = site.program.width;
    let message = format!("this operation needs subgroups of {width} lanes here, and the subgroup has {lanes}");
    let error = Diagnostic::error(Code::TOO_WIDE, message).at(site.span, reason);
    let error = error.note(format!(
        "on `{}`, a segment of {width} lanes spans {} subgroups, which exchange values in workgroup memory",
        profile.name,
        width / lanes
    ));
    if advice.is_empty() { error } else { error.help(advice) }
}

fn type_of(module: &Module, id: FuncId, value: Value) -> TypeId {
    match value {
        Value::Inst(inst) => module.functions[id].insts[inst].ty,
        Value::Param(n) => module.functions[id].params[n as usize].ty,
        Value::Const(constant) => module.constants.get(constant).ty,
        Value::Global(_) | Value::Local(_) => Types::VOID,
    }
}

/// Returns true if an operation is defined for any set of active invocations.
fn reads_active(op: LaneOp) -> bool {
    let signature = op.signature();
    signature.reads == Reads::Active && !signature.params.is_empty()
}

/// Invocations of a workgroup; `None` if the size is not known.
fn invocations(module: &Module, entry: &EntryPoint) -> Option<u32> {
    entry.workgroup_size.iter().try_fold(1, |product: u32, id| {
        let count = module.constants.as_int(&module.types, *id)?;
        product.checked_mul(u32::try_from(count).ok()?)
    })
}

/// The variables that no invocation changes.
fn constant_globals(module: &Module) -> FxHashSet<GlobalId> {
    let is_constant = |id: &GlobalId| {
        let global = &module.globals[*id];
        let is_image = matches!(module.types.get(global.ty), Type::Image(image) if image.storage);
        match global.space {
            Space::Uniform | Space::PushConstant => true,
            Space::Handle => !is_image || global.access.contains(Access::READONLY),
            Space::Storage => global.access.contains(Access::READONLY) || !is_written(module, *id),
            _ => false,
        }
    };
    module.globals.handles().filter(is_constant).collect()
}

/// The replacement of the operations in a copy of their module.
struct Rewrite<'a> {
    module: &'a mut Module,
    profile: &'a Profile,
    lanes: u32,
    invocations: u32,
}

impl Rewrite<'_> {
    fn run(mut self, wide: &Wide) {
        let choices = choose(self.module, wide);
        let exchanges = wide.sites.iter().filter_map(|(at, site)| Some((site, choices.get(at)?)));
        let has_areas = exchanges.clone().any(|(site, choice)| choice.area > 0 || site.program.barriers() > 1);
        let area = wide.sites.iter().map(|(_, site)| self.words(site)).max().unwrap_or(0);
        let memory = (area > 0).then(|| self.memory(if has_areas { 2 * area } else { area }));
        let number = self.number();
        let shared = Shared { memory, area, has_areas, invocations: self.invocations, number };
        let mut functions: FxHashMap<(LaneOp, Vec<TypeId>), FuncId> = FxHashMap::default();
        for ((id, inst), site) in &wide.sites {
            let choice = choices.get(&(*id, *inst)).copied().unwrap_or(Choice { area: 0, waits: false });
            let key = (site.op, site.inputs.clone());
            let function = *functions.entry(key).or_insert_with(|| self.function(site, shared));
            self.call(*id, *inst, function, has_areas.then_some(u32::from(choice.area) * area));
        }
        let waiting = choices.into_iter().filter(|(_, choice)| choice.waits).map(|(at, _)| at).collect();
        self.wait_before(&waiting);
    }

    fn words(&self, site: &Site) -> u32 {
        let of = |exchange| words_of(&self.module.types, &site.program, &site.inputs, exchange, self.invocations);
        (0..site.program.exchanges.len() as u8).map(of).max().unwrap_or(0)
    }

    fn function(&mut self, site: &Site, shared: Shared) -> FuncId {
        let name: Vec<String> =
            lane_text(site.op).split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned).collect();
        let name = name.join("_");
        let precise = self.profile.reproducible || self.profile.target.row().is_hardware;
        let Site { inputs, ret, span, program, .. } = site;
        let job = Job { name: name.trim_end_matches('_'), span: *span, spanning: program, inputs, ret: *ret, precise };
        write(self.module, shared, &job)
    }

    /// Replaces an operation by the call of its function.
    fn call(&mut self, id: FuncId, inst: InstId, callee: FuncId, area: Option<u32>) {
        let area = area.map(|area| Value::Const(self.module.constants.u32(area)));
        let f = &mut self.module.functions[id];
        let Op::Lane(_, args) = f.insts[inst].op else { return };
        let args: Vec<Value> = f.values(args).iter().copied().chain(area).collect();
        f.insts[inst].op = Op::Call(callee, f.list(&args));
    }

    /// Puts a barrier before each of these instructions.
    fn wait_before(&mut self, waiting: &FxHashSet<(FuncId, InstId)>) {
        let functions: FxHashSet<FuncId> = waiting.iter().map(|(id, _)| *id).collect();
        for id in functions {
            let f = &mut self.module.functions[id];
            for block in f.blocks.handles().collect::<Vec<_>>() {
                let list = std::mem::take(&mut f.blocks[block].insts);
                for inst in list {
                    if waiting.contains(&(id, inst)) {
                        let span = f.insts[inst].span;
                        let barrier =
                            f.insts.push(Inst { op: BARRIER, ty: Types::VOID, span, flags: InstFlags::empty() });
                        f.blocks[block].insts.push(barrier);
                    }
                    f.blocks[block].insts.push(inst);
                }
            }
        }
    }

    /// An array of words in workgroup memory.
    fn memory(&mut self, words: u32) -> GlobalId {
        let ty = self.module.types.array(Types::U32, ArrayLen::Fixed(words));
        self.global("segments", Space::Workgroup, ty, Binding::None)
    }

    fn number(&mut self) -> Number {
        let row = self.profile.target.row();
        let numbers_subgroups = row.numbers_subgroups && self.profile.has(Feature::Elect);
        let (built_in, name) = built_in(numbers_subgroups);
        let binding = Binding::BuiltIn(built_in);
        let is_it = |id: &GlobalId| {
            let global = &self.module.globals[*id];
            (global.space, global.binding) == (Space::Input, binding)
        };
        let known = self.module.globals.handles().find(is_it);
        let id = known.unwrap_or_else(|| self.global(name, Space::Input, Types::U32, binding));
        if numbers_subgroups { Number::Subgroup { id, lanes: self.lanes } } else { Number::Index(id) }
    }

    fn global(&mut self, name: &str, space: Space, ty: TypeId, binding: Binding) -> GlobalId {
        let (name, span, access) = (name.into(), source::Span::NONE, Access::empty());
        self.module.globals.push(Global { name, span, space, ty, binding, access, init: None })
    }
}
