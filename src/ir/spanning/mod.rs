//! Cross-lane operations whose segments are wider than the subgroup: each becomes a call of a function that exchanges
//! values in workgroup memory ([`crate::lane::spanning`]).
//!
//! If a driver chooses the size of subgroups, the functions test it. They have code for a few classes of sizes, and work
//! inside the subgroup if it is wide enough.
//!
//! All invocations of the workgroup must reach such an operation, and its stage must have workgroup memory; otherwise it
//! is an error. The memory has two areas of equal size. Consecutive exchanges alternate between them, so that each needs
//! a single barrier (`areas.rs`).

mod areas;
mod survey;
mod workgroup;
mod write;

#[cfg(test)]
mod tests;

use super::calls::callees_first;
use super::print::lane_text;
use super::uniform::{is_written, parted};
use super::{
    Access, ArrayLen, Binding, ConstId, ConstValue, EntryPoint, FuncId, Global, GlobalId, Inst, InstFlags, InstId,
    Module, Op, Space, Type, TypeId, Types, Value, Values,
};
use crate::diagnostic::{Code, Diagnostic};
use crate::lane::spanning::{Given, Spanning, plan};
use crate::lane::{LaneOp, Members, Reads};
use crate::profile::{Feature, Profile};
use crate::source::Span;
use areas::{Choice, choose};
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
pub use survey::{Exchanged, SizedProgram, Survey, Usage};
use workgroup::{Counted, counted, is_over_workgroup};
use write::{BARRIER, Job, Number, Shared, Way, WideEnough, built_in, words_of, write};

/// An operation whose segment is wider than the subgroup.
#[derive(Clone, Debug)]
struct Site {
    op: LaneOp,
    inputs: Vec<TypeId>,
    ret: TypeId,
    span: Span,
    /// Invocations of its segment.
    width: u32,
    /// For each rung its program; `None` inside the subgroup.
    programs: Vec<Option<Spanning>>,
}

impl Site {
    /// The programs that exchange values.
    fn exchanging(&self) -> impl Iterator<Item = &Spanning> {
        self.programs.iter().flatten().filter(|program| program.barriers() > 0)
    }
}

/// Lanes of a subgroup for which operations that are still wider get a program of their own, if a driver chooses the
/// size: most processors have so many.
const USUAL: u32 = 32;
/// Lanes of the widest subgroups that a driver may choose (Vulkan 1.3, `maxSubgroupSize`).
const WIDEST: u32 = 128;

/// All such operations that the entry points of a module reach, in the order of functions and instructions.
struct Wide<'a> {
    module: &'a Module,
    profile: &'a Profile,
    /// Lanes that every subgroup has.
    least: u32,
    /// The sizes of subgroups with code of their own, in descending order: each is for subgroups of as many lanes and more.
    /// The last one is `least`.
    rungs: Vec<u32>,
    /// The invocations of operations over the workgroup.
    invocations: FxHashMap<(FuncId, InstId), u32>,
    sites: Vec<((FuncId, InstId), Site)>,
    index: FxHashMap<(FuncId, InstId), usize>,
}

/// The module for a profile: with calls in place of the operations that are wider than its smallest subgroups, if there
/// are some.
///
/// # Errors
/// Reports operations that some invocations of the workgroup may not reach, and stages without workgroup memory.
pub fn spanned<'a>(module: &'a Module, profile: &Profile) -> Result<Cow<'a, Module>, Vec<Diagnostic>> {
    rewritten(module, profile, profile.target.is_hardware())
}

/// Like [`spanned`], for a kernel on any profile: it has no functions, so that each operation keeps its place in the source.
///
/// # Errors
/// Like [`spanned`].
pub fn spanned_apart<'a>(module: &'a Module, profile: &Profile) -> Result<Cow<'a, Module>, Vec<Diagnostic>> {
    rewritten(module, profile, true)
}

fn rewritten<'a>(module: &'a Module, profile: &Profile, apart: bool) -> Result<Cow<'a, Module>, Vec<Diagnostic>> {
    let Counted { module: counted, invocations } = counted(module)?;
    let wide = Wide::of(&counted, invocations, profile);
    if wide.sites.is_empty() {
        return Ok(counted);
    }
    let invocations = wide.check(module)?;
    let mut module = (*counted).clone();
    Rewrite { module: &mut module, wide: &wide, invocations, apart }.run();
    Ok(Cow::Owned(module))
}

impl<'a> Wide<'a> {
    fn of(module: &'a Module, invocations: FxHashMap<(FuncId, InstId), u32>, profile: &'a Profile) -> Wide<'a> {
        let least = profile.least_wave_size();
        let (sites, index) = (Vec::new(), FxHashMap::default());
        let mut wide = Wide { module, profile, least, rungs: Vec::new(), invocations, sites, index };
        let mut found = Vec::new();
        for id in callees_first(module, module.entry_points.iter().map(|entry| entry.function)) {
            let insts = module.functions[id].insts.iter();
            found.extend(insts.filter_map(|(at, inst)| Some(((id, at), inst, wide.width_of((id, at), inst)?))));
        }
        let widest = found.iter().map(|(.., width)| *width).max();
        wide.rungs = widest.map_or_else(Vec::new, |widest| rungs(profile, widest));
        for (at, inst, width) in found {
            let site = wide.site_of(at, inst, width);
            wide.index.insert(at, wide.sites.len());
            wide.sites.push((at, site));
        }
        wide
    }

    /// The invocations of a segment that is wider than the smallest subgroups, if the instruction works on one.
    fn width_of(&self, at: (FuncId, InstId), inst: &Inst) -> Option<u32> {
        let Op::Lane(op, _) = inst.op else { return None };
        if inst.flags.contains(InstFlags::GUARDED) {
            return None;
        }
        match is_over_workgroup(op) {
            true => self.invocations.get(&at).copied(),
            false => spans(op, self.profile),
        }
    }

    fn site_of(&self, at: (FuncId, InstId), inst: &Inst, width: u32) -> Site {
        let Op::Lane(op, args) = inst.op else { unreachable!("only lane operations have a width") };
        let f = &self.module.functions[at.0];
        let inputs: Vec<TypeId> = f.values(args).iter().filter_map(|arg| self.module.value_type(f, *arg)).collect();
        let scalar = inputs.first().and_then(|ty| self.module.types.scalar_of(*ty));
        let float = scalar.is_some_and(|scalar| scalar.is_float());
        let invocations = self.invocations.get(&at).copied();
        let given = Given { inputs: inputs.len(), float, ordered: self.profile.reproducible, invocations };
        let programs = self.rungs.iter().map(|part| plan(op, given, *part)).collect();
        Site { op, inputs, ret: inst.ty, span: inst.span, width, programs }
    }

    fn site(&self, id: FuncId, inst: InstId) -> Option<&Site> {
        self.index.get(&(id, inst)).map(|at| &self.sites[*at].1)
    }

    /// The barriers of an operation on a rung; 0 if it exchanges nothing.
    fn barriers(&self, id: FuncId, inst: InstId, rung: usize) -> usize {
        self.site(id, inst).and_then(|site| site.programs[rung].as_ref()).map_or(0, Spanning::barriers)
    }

    /// The most invocations of a workgroup. `source` is the module in which operations over the workgroup say so.
    ///
    /// # Errors
    /// Reports the operations that cannot exchange values.
    fn check(&self, source: &Module) -> Result<u32, Vec<Diagnostic>> {
        let (mut most, mut errors) = (1, Vec::new());
        for entry in &self.module.entry_points {
            match self.invocations(entry) {
                Ok(invocations) => most = most.max(invocations),
                Err(found) => errors.extend(found),
            }
        }
        if errors.is_empty() {
            errors = self.divergent(source);
        }
        if errors.is_empty() { Ok(most) } else { Err(errors) }
    }

    /// Invocations of an entry point's workgroups; 1 if it has no such operation.
    fn invocations(&self, entry: &EntryPoint) -> Result<u32, Vec<Diagnostic>> {
        let functions: FxHashSet<FuncId> = callees_first(self.module, [entry.function]).into_iter().collect();
        let sites = self.sites.iter().filter(|((id, _), _)| functions.contains(id)).map(|(_, site)| site);
        let sites: Vec<&Site> = sites.collect();
        let Some(first) = sites.first() else { return Ok(1) };
        if !entry.stage.has_workgroups() {
            let reason = format!("{} shaders have no workgroup memory", entry.stage.name());
            return Err(sites.into_iter().map(|site| self.refusal(site, &reason)).collect());
        }
        let Some(size) = invocations(self.module, entry) else {
            let refusal = self.refusal(first, "the size of the workgroup is a specialization constant");
            return Err(vec![refusal.help("set the constant with `--set`")]);
        };
        let is_partial = |site: &&Site| reads_active(site.op) && !size.is_multiple_of(site.width);
        let partial = sites.iter().copied().filter(is_partial).map(|site| {
            let width = site.width;
            let refusal =
                self.refusal(site, &format!("the workgroup of {size} does not fill the last segment of {width}"));
            refusal.help("choose a workgroup of whole segments")
        });
        let mut errors: Vec<Diagnostic> = partial.collect();
        errors.extend(sites.iter().filter(|site| self.lacks_program(site)).map(|site| {
            let refusal = self.refusal(site, &format!("a workgroup of {size} has too many parts of equal size"));
            refusal.help(format!("choose a workgroup of a multiple of {} invocations", self.least))
        }));
        if errors.is_empty() { Ok(size) } else { Err(errors) }
    }

    /// An error for each exchange that a part of the workgroup may not reach.
    fn divergent(&self, source: &Module) -> Vec<Diagnostic> {
        let parted = parted(source, constant_globals(source), |op| matches!(op, Op::Lane(..)));
        let exchanges = parted.into_iter().filter_map(|(id, inst)| self.site(id, inst));
        let exchanges = exchanges.filter(|site| site.exchanging().next().is_some());
        let refusal = |site| {
            let refusal = self.refusal(site, "some invocations of the workgroup may not reach it");
            refusal.help("move it out of the branch; a buffer that decides must be `readonly`")
        };
        exchanges.map(refusal).collect()
    }

    /// Returns true if an operation has no program although its segment is wider than the smallest subgroup.
    fn lacks_program(&self, site: &Site) -> bool {
        site.programs.last().is_some_and(Option::is_none)
    }

    fn refusal(&self, site: &Site, reason: &str) -> Diagnostic {
        let (width, lanes, is_known) = (site.width, self.least, self.profile.wave_size.is_some());
        let size = if is_known { "the subgroup has" } else { "a driver may choose" };
        let message = match width <= WIDEST && !is_over_workgroup(site.op) {
            true => format!("this operation needs subgroups of {width} lanes here, and {size} {lanes}"),
            false => format!("this operation over {width} invocations needs workgroup memory"),
        };
        let count = width.div_ceil(lanes);
        let how = format!("a segment of {width} lanes spans {count} subgroups, which only workgroup memory connects");
        let error = Diagnostic::error(Code::TOO_WIDE, message).at(site.span, reason).note(how);
        if is_known || width > WIDEST || !width.is_power_of_two() {
            return error;
        }
        error.help(format!("if your program checks the size, promise it with `--wave-size {width}..`"))
    }
}

/// Returns true if two ways are the same code.
fn is_like(one: Option<&Spanning>, other: Option<&Spanning>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.is_like(other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

/// The sizes of subgroups with code of their own, for operations of which the widest has this width.
fn rungs(profile: &Profile, widest: u32) -> Vec<u32> {
    let least = profile.least_wave_size();
    if profile.wave_size.is_some() {
        return vec![least];
    }
    // Segments that are not a power of two never fit a subgroup.
    let inside = (widest <= WIDEST && widest.is_power_of_two()).then_some(widest);
    let usual = (widest > USUAL).then_some(USUAL);
    let mut rungs: Vec<u32> = [inside, usual].into_iter().flatten().filter(|size| *size > least).collect();
    rungs.push(least);
    rungs
}

/// The width of an operation that is wider than the smallest subgroup of a profile and has a program for that.
fn spans(op: LaneOp, profile: &Profile) -> Option<u32> {
    let is_taken = profile.wave_size.is_some() || is_portable(op);
    let width = op.signature().span.width()?.lanes()?;
    let is_planned = || {
        let given = Given { inputs: op.signature().params.len(), float: false, ordered: false, invocations: None };
        plan(op, given, profile.least_wave_size()).is_some()
    };
    (is_taken && width > profile.least_wave_size() && is_planned()).then_some(width)
}

/// The programs of an operation outside a module.
pub fn programs(op: LaneOp, given: Given, profile: &Profile) -> Vec<SizedProgram> {
    let width = if is_over_workgroup(op) { given.invocations } else { spans(op, profile) };
    let rungs = width.map_or_else(Vec::new, |width| rungs(profile, width));
    let programs: Vec<Option<Spanning>> = rungs.iter().map(|part| plan(op, given, *part)).collect();
    survey::sized(&rungs, &programs, |_| None)
}

/// Returns true if an operation is right in subgroups of every size. Khronos leaves clusters undefined that are wider than
/// the subgroup (`GL_KHR_shader_subgroup`, `GL_KHR_shader_subgroup_rotate`).
fn is_portable(op: LaneOp) -> bool {
    !matches!(op, LaneOp::Reduce { members: Members::Active, .. } | LaneOp::Rotate(_))
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
    wide: &'a Wide<'a>,
    /// Invocations of the largest workgroup.
    invocations: u32,
    /// True if each operation gets its own function; otherwise equal operations share one.
    apart: bool,
}

impl Rewrite<'_> {
    fn run(mut self) {
        let wide = self.wide;
        let choices = choose(self.module, wide);
        let exchanges = wide.sites.iter().filter_map(|(at, site)| Some((site, choices.get(at)?)));
        let has_areas = exchanges
            .clone()
            .any(|(site, choice)| choice.area > 0 || site.exchanging().any(|program| program.barriers() > 1));
        let area = wide.sites.iter().map(|(_, site)| self.words(site)).max().unwrap_or(0);
        let memory = (area > 0).then(|| self.memory(if has_areas { 2 * area } else { area }));
        let number = self.number();
        let promised = self.promised();
        let test = |width| WideEnough { width, promised };
        let shared = Shared { memory, area, has_areas, invocations: self.invocations, number };
        let mut functions: FxHashMap<(LaneOp, Vec<TypeId>, Option<Span>), FuncId> = FxHashMap::default();
        let apart = self.apart;
        let own_place = |site: &Site| apart.then_some(site.span);
        for ((id, inst), site) in &wide.sites {
            let choice = choices.get(&(*id, *inst)).copied().unwrap_or(Choice { area: 0, waits: false });
            let key = (site.op, site.inputs.clone(), own_place(site));
            let function = *functions.entry(key).or_insert_with(|| self.function(site, shared, test));
            self.call(*id, *inst, function, has_areas.then_some(u32::from(choice.area) * area));
        }
        let waiting: FxHashSet<_> = choices.into_iter().filter(|(_, choice)| choice.waits).map(|(at, _)| at).collect();
        if !waiting.is_empty() {
            let wait = match wide.rungs[0] {
                inside if wide.sites.iter().all(|(_, site)| site.programs[0].is_none()) => {
                    Op::Call(write::wait(self.module, test(inside)), Values::default())
                }
                _ => BARRIER,
            };
            self.wait_before(&waiting, wait);
        }
    }

    fn words(&self, site: &Site) -> u32 {
        let of_program = |program: &Spanning| {
            let of = |exchange| words_of(&self.module.types, program, &site.inputs, exchange, self.invocations);
            (0..program.exchanges.len() as u8).map(of).max().unwrap_or(0)
        };
        site.exchanging().map(of_program).max().unwrap_or(0)
    }

    fn function(&mut self, site: &Site, shared: Shared, test: impl Fn(u32) -> WideEnough) -> FuncId {
        let name: Vec<String> =
            lane_text(site.op).split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned).collect();
        let name = name.join("_");
        let precise = self.wide.profile.reproducible || self.wide.profile.target.row().is_hardware;
        let Site { op, inputs, ret, span, programs, .. } = site;
        let name = name.trim_end_matches('_');
        // Equal rungs become one.
        let rungs = self.wide.rungs.iter().zip(programs);
        let mut ways: Vec<Way> = Vec::new();
        for (least, program) in rungs {
            ways.pop_if(|way| is_like(way.program, program.as_ref()));
            ways.push(Way { test: test(*least), program: program.as_ref() });
        }
        let job = Job { name, op: *op, span: *span, ways, inputs, ret: *ret, precise };
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

    /// Puts an instruction that waits before each of these.
    fn wait_before(&mut self, waiting: &FxHashSet<(FuncId, InstId)>, wait: Op) {
        let functions: FxHashSet<FuncId> = waiting.iter().map(|(id, _)| *id).collect();
        for id in functions {
            let f = &mut self.module.functions[id];
            for block in f.blocks.handles().collect::<Vec<_>>() {
                let list = std::mem::take(&mut f.blocks[block].insts);
                for inst in list {
                    if waiting.contains(&(id, inst)) {
                        let span = f.insts[inst].span;
                        let barrier = f.insts.push(Inst { op: wait, ty: Types::VOID, span, flags: InstFlags::empty() });
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
        let profile = self.wide.profile;
        let numbers_subgroups = profile.target.row().numbers_subgroups && profile.has(Feature::Elect);
        let (built_in, name) = built_in(numbers_subgroups);
        let binding = Binding::BuiltIn(built_in);
        let is_it = |id: &GlobalId| {
            let global = &self.module.globals[*id];
            (global.space, global.binding) == (Space::Input, binding)
        };
        let known = self.module.globals.handles().find(is_it);
        let id = known.unwrap_or_else(|| self.global(name, Space::Input, Types::U32, binding));
        let lanes = self.wide.profile.wave_size;
        if numbers_subgroups { Number::Subgroup { id, lanes } } else { Number::Index(id) }
    }

    /// A constant for the lanes that every subgroup has, if a driver chooses the size and barriers must not depend on it.
    fn promised(&mut self) -> Option<ConstId> {
        let profile = self.wide.profile;
        let is_asked = profile.target.row().sets_subgroup_size && self.wide.rungs.len() > 1;
        is_asked.then(|| self.promised_size())
    }

    /// A specialization constant for the lanes that every subgroup has.
    fn promised_size(&mut self) -> ConstId {
        let is_free = |number: &u32| {
            let mut constants = self.module.constants.iter();
            !constants.any(|(_, constant)| matches!(constant.value, ConstValue::Spec { id, .. } if id == *number))
        };
        let number = (0..=u32::from(u16::MAX)).rev().find(is_free).unwrap_or(0);
        self.module.spec_names.push((number, "subgroup_min_size".into()));
        let value = ConstValue::Spec { id: number, default: self.wide.least.into() };
        self.module.constants.intern(Types::U32, value)
    }

    fn global(&mut self, name: &str, space: Space, ty: TypeId, binding: Binding) -> GlobalId {
        let (name, span, access) = (name.into(), Span::NONE, Access::empty());
        self.module.globals.push(Global { name, span, space, ty, binding, access, init: None })
    }
}
