//! Cross-lane operations whose segments are wider than the subgroup: each becomes a call of a function that exchanges
//! values in workgroup memory ([`crate::lane::spanning`]).
//!
//! If a driver chooses the size of subgroups, the functions test it, and work inside the subgroup if it is wide enough.
//!
//! All invocations of the workgroup must reach such an operation, and its stage must have workgroup memory; otherwise it
//! is an error. The memory has two areas of equal size. Consecutive exchanges alternate between them, so that each needs
//! a single barrier (`areas.rs`).

mod areas;
mod survey;
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
pub use survey::{Exchanged, Survey, Usage};
use write::{BARRIER, Job, Number, Shared, WideEnough, built_in, words_of, write};

/// An operation whose segment is wider than the subgroup.
#[derive(Clone, Debug)]
struct Site {
    op: LaneOp,
    inputs: Vec<TypeId>,
    ret: TypeId,
    span: Span,
    program: Spanning,
}

/// All such operations that the entry points of a module reach, in the order of functions and instructions.
struct Wide<'a> {
    module: &'a Module,
    profile: &'a Profile,
    /// Lanes that every subgroup has.
    least: u32,
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
    let wide = Wide::of(module, profile);
    if wide.sites.is_empty() {
        return Ok(Cow::Borrowed(module));
    }
    let invocations = wide.check()?;
    let mut module = module.clone();
    Rewrite { module: &mut module, wide: &wide, invocations, apart }.run();
    Ok(Cow::Owned(module))
}

impl<'a> Wide<'a> {
    fn of(module: &'a Module, profile: &'a Profile) -> Wide<'a> {
        let least = profile.least_wave_size();
        let mut wide = Wide { module, profile, least, sites: Vec::new(), index: FxHashMap::default() };
        for id in callees_first(module, module.entry_points.iter().map(|entry| entry.function)) {
            for (at, inst) in module.functions[id].insts.iter() {
                if let Some(site) = wide.site_of(id, inst) {
                    wide.index.insert((id, at), wide.sites.len());
                    wide.sites.push(((id, at), site));
                }
            }
        }
        wide
    }

    /// An instruction, if it is an operation with a program for several subgroups.
    fn site_of(&self, id: FuncId, inst: &Inst) -> Option<Site> {
        let Op::Lane(op, args) = inst.op else { return None };
        if inst.flags.contains(InstFlags::GUARDED) {
            return None;
        }
        let f = &self.module.functions[id];
        let inputs: Vec<TypeId> =
            f.values(args).iter().map(|arg| self.module.value_type(f, *arg)).collect::<Option<_>>()?;
        let scalar = inputs.first().and_then(|ty| self.module.types.scalar_of(*ty));
        let float = scalar.is_some_and(|scalar| scalar.is_float());
        let given = Given { inputs: inputs.len(), float, ordered: self.profile.reproducible };
        let program = program(op, given, self.profile)?;
        Some(Site { op, inputs, ret: inst.ty, span: inst.span, program })
    }

    fn site(&self, id: FuncId, inst: InstId) -> Option<&Site> {
        self.index.get(&(id, inst)).map(|at| &self.sites[*at].1)
    }

    /// The barriers of an operation; 0 if it exchanges nothing.
    fn barriers(&self, id: FuncId, inst: InstId) -> usize {
        self.site(id, inst).map_or(0, |site| site.program.barriers())
    }

    /// The most invocations of a workgroup.
    ///
    /// # Errors
    /// Reports the operations that cannot exchange values.
    fn check(&self) -> Result<u32, Vec<Diagnostic>> {
        let (mut most, mut errors) = (1, Vec::new());
        for entry in &self.module.entry_points {
            match self.invocations(entry) {
                Ok(invocations) => most = most.max(invocations),
                Err(found) => errors.extend(found),
            }
        }
        if errors.is_empty() {
            errors = self.divergent();
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
        let is_partial = |site: &&Site| reads_active(site.op) && !size.is_multiple_of(site.program.width);
        let partial = sites.into_iter().filter(is_partial).map(|site| {
            let width = site.program.width;
            let refusal =
                self.refusal(site, &format!("the workgroup of {size} does not fill the last segment of {width}"));
            refusal.help("choose a workgroup of whole segments")
        });
        let errors: Vec<Diagnostic> = partial.collect();
        if errors.is_empty() { Ok(size) } else { Err(errors) }
    }

    /// An error for each exchange that a part of the workgroup may not reach.
    fn divergent(&self) -> Vec<Diagnostic> {
        let parted = parted(self.module, constant_globals(self.module), |op| matches!(op, Op::Lane(..)));
        let exchanges = parted.into_iter().filter_map(|(id, inst)| self.site(id, inst));
        let exchanges = exchanges.filter(|site| site.program.barriers() > 0);
        let refusal = |site| {
            let refusal = self.refusal(site, "some invocations of the workgroup may not reach it");
            refusal.help("move it out of the branch; a buffer that decides must be `readonly`")
        };
        exchanges.map(refusal).collect()
    }

    fn refusal(&self, site: &Site, reason: &str) -> Diagnostic {
        let (width, lanes, is_known) = (site.program.width, self.least, self.profile.wave_size.is_some());
        let size = if is_known { "the subgroup has" } else { "a driver may choose" };
        let message = format!("this operation needs subgroups of {width} lanes here, and {size} {lanes}");
        let count = width / lanes;
        let how = format!("a segment of {width} lanes spans {count} subgroups, which only workgroup memory connects");
        let error = Diagnostic::error(Code::TOO_WIDE, message).at(site.span, reason).note(how);
        if is_known {
            return error;
        }
        error.help(format!("if your program checks the size, promise it with `--wave-size {width}..`"))
    }
}

/// The program of an operation that is wider than the smallest subgroup of a profile.
pub fn program(op: LaneOp, given: Given, profile: &Profile) -> Option<Spanning> {
    let is_taken = profile.wave_size.is_some() || is_portable(op);
    if is_taken { plan(op, given, profile.least_wave_size()) } else { None }
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
        let has_areas = exchanges.clone().any(|(site, choice)| choice.area > 0 || site.program.barriers() > 1);
        let area = wide.sites.iter().map(|(_, site)| self.words(site)).max().unwrap_or(0);
        let memory = (area > 0).then(|| self.memory(if has_areas { 2 * area } else { area }));
        let number = self.number();
        let choice = self.choice();
        let shared = Shared { memory, area, has_areas, invocations: self.invocations, number, choice };
        let mut functions: FxHashMap<(LaneOp, Vec<TypeId>, Option<Span>), FuncId> = FxHashMap::default();
        let apart = self.apart;
        let own_place = |site: &Site| apart.then_some(site.span);
        for ((id, inst), site) in &wide.sites {
            let choice = choices.get(&(*id, *inst)).copied().unwrap_or(Choice { area: 0, waits: false });
            let key = (site.op, site.inputs.clone(), own_place(site));
            let function = *functions.entry(key).or_insert_with(|| self.function(site, shared));
            self.call(*id, *inst, function, has_areas.then_some(u32::from(choice.area) * area));
        }
        let waiting: FxHashSet<_> = choices.into_iter().filter(|(_, choice)| choice.waits).map(|(at, _)| at).collect();
        if !waiting.is_empty() {
            let wait = choice.map_or(BARRIER, |choice| Op::Call(write::wait(self.module, choice), Values::default()));
            self.wait_before(&waiting, wait);
        }
    }

    fn words(&self, site: &Site) -> u32 {
        let of = |exchange| words_of(&self.module.types, &site.program, &site.inputs, exchange, self.invocations);
        (0..site.program.exchanges.len() as u8).map(of).max().unwrap_or(0)
    }

    fn function(&mut self, site: &Site, shared: Shared) -> FuncId {
        let name: Vec<String> =
            lane_text(site.op).split(|c: char| !c.is_ascii_alphanumeric()).map(str::to_owned).collect();
        let name = name.join("_");
        let precise = self.wide.profile.reproducible || self.wide.profile.target.row().is_hardware;
        let Site { op, inputs, ret, span, program } = site;
        let name = name.trim_end_matches('_');
        let job = Job { name, op: *op, span: *span, spanning: program, inputs, ret: *ret, precise };
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

    /// The choice of the driver's subgroups, if it has one. All operations choose alike: areas alternate only if all exchange.
    fn choice(&mut self) -> Option<WideEnough> {
        let profile = self.wide.profile;
        if profile.wave_size.is_some() {
            return None;
        }
        let width = self.wide.sites.iter().map(|(_, site)| site.program.width).max()?;
        let promised = profile.target.row().sets_subgroup_size.then(|| self.promised_size());
        Some(WideEnough { width, promised })
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
