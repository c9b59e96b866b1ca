//! The state while a module is written.

use super::combine::Pair;
use super::elements::Element;
use super::expr::Expr;
use super::function::Definition;
use super::image::ImageUses;
use super::language::Language;
use super::layout::{How, Laid};
use super::names::Names;
use super::place::Form;
use super::ports::Ports;
use super::purity::Pure;
use super::remarks::{Beside, Remarks};
use super::sets::{Moved, Point};
use super::slots::{self, Slot};
use crate::backend::Options;
use crate::backend::written::{Code, Written};
use crate::diagnostic::{Code as Number, Diagnostic, cannot_write};
use crate::ir::slice::Effects;
use crate::ir::{
    Access, Binding, BuiltIn, ConstId, FuncId, Function, GlobalId, InstId, Module, Op, StructId, Type, TypeId, Types,
    Value, calls,
};
use crate::kernel::{LaneContract, Origin};
use crate::profile::{LEAST_WAVE_SIZE, WaveSize};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A module that is being written.
pub(super) struct Writer<'a> {
    pub module: &'a Module,
    pub options: &'a Options,
    pub language: &'static dyn Language,
    /// The types of the module, and types added on demand.
    pub types: Types,
    /// A copy of the module for computing layouts.
    pub scratch: Module,
    pub names: Names,
    pub extensions: BTreeSet<&'static str>,
    /// Declarations in order of their requests; each precedes its uses.
    pub specializations: Vec<String>,
    pub structs: Vec<String>,
    pub tables: Vec<String>,
    pub variables: Vec<String>,
    /// Declarations of the module's variables, in the order of the source.
    pub declarations: BTreeMap<GlobalId, Vec<String>>,
    /// Helper functions of the text.
    pub helpers: Vec<String>,
    /// Names of renamed helpers, and the types for which each exists.
    pub helper_names: FxHashMap<&'static str, String>,
    pub helped: FxHashSet<(&'static str, TypeId)>,
    pub functions: Vec<Definition>,
    pub struct_names: FxHashMap<StructId, String>,
    /// Names of members, by struct.
    pub members: FxHashMap<StructId, Rc<[String]>>,
    /// Names that the members of blocks without an instance name have.
    pub block_members: FxHashMap<GlobalId, Rc<[String]>>,
    pub globals: FxHashMap<GlobalId, String>,
    pub spec_names: FxHashMap<u32, String>,
    /// Names of constant arrays and structs.
    pub constants: FxHashMap<ConstId, String>,
    /// Names of lengths from specialization constants.
    pub lengths: FxHashMap<ConstId, String>,
    pub function_names: FxHashMap<FuncId, String>,
    /// For each function, true if it contains cross-lane operations.
    pub reaching: Vec<bool>,
    pub references: FxHashMap<StructId, String>,
    pub declared_structs: FxHashSet<StructId>,
    pub declared_references: FxHashSet<StructId>,
    pub declared_constants: FxHashSet<u32>,
    /// Names of declared variables.
    pub global_names: FxHashMap<GlobalId, String>,
    pub block_names: FxHashMap<GlobalId, String>,
    /// Members, variables and elements with atomic operations, in languages with atomic types.
    pub atomic_members: FxHashSet<(StructId, u32)>,
    pub atomic_globals: FxHashSet<GlobalId>,
    /// How blocks are spelled.
    pub forms: FxHashMap<GlobalId, Form>,
    /// Structs in memory layout, and their names if they differ from the logical structs.
    pub laid: FxHashMap<(StructId, How), Option<Rc<Laid>>>,
    pub laid_names: FxHashMap<(StructId, How), String>,
    /// Arrays that are assigned, passed or returned whole, if the language has separate types for these.
    pub array_values: FxHashSet<TypeId>,
    /// Memory qualifiers of the images that functions are called with.
    pub param_access: FxHashMap<(FuncId, u32), Access>,
    /// The cross-lane operations so far.
    pub operations: Vec<(FuncId, InstId)>,
    pub set_ups: u32,
    /// Numbers of resources, if each kind is numbered separately.
    pub slots: Vec<Slot>,
    /// Binding points that the host assigns by name.
    pub points: Vec<Point>,
    pub ports: Ports,
    /// The operations on textures.
    pub images: Option<Rc<ImageUses>>,
    pub pure: Option<Rc<Pure>>,
    pub effects: Option<Rc<Vec<Effects>>>,
    /// Names of the buffers whose size the shader queries.
    pub sized: Vec<String>,
    /// The comments of the source, if they are kept.
    pub remarks: Option<Remarks>,
    /// Comments of variables whose declarations are not separate lines.
    pub loose_remarks: BTreeMap<GlobalId, Beside>,
    pub hlsl: super::hlsl::State,
    pub msl: super::msl::State,
    pub wgsl: super::wgsl::State,
    /// The construct being written, for messages.
    pub span: Span,
    pub diagnostics: Vec<Diagnostic>,
}

/// The variable or parameter that an argument is, or is a part of.
fn root_of(f: &Function, value: Value) -> Option<Value> {
    match value {
        Value::Inst(id) => match f.insts[id].op {
            Op::Access { base, .. } => root_of(f, base),
            Op::Load(pointer) => root_of(f, pointer),
            _ => None,
        },
        other => Some(other),
    }
}

/// The text of a module in parts.
pub(super) struct Shader {
    /// `#version`, extensions, layouts of the entry point.
    head: Vec<String>,
    extensions: Vec<&'static str>,
    pub functions: Vec<Definition>,
    operations: Vec<(FuncId, InstId)>,
    slots: Vec<Slot>,
    /// The name of the entry point.
    entry: String,
    /// Buffers whose size the shader queries.
    sized: Vec<String>,
    /// Textures combined with their samplers.
    pub pairs: Vec<Pair>,
    /// Elements of arrays that are variables.
    pub elements: Vec<Element>,
    /// Resources that are in other sets in the source.
    pub moved: Vec<Moved>,
    /// Binding points that the host assigns by name.
    pub points: Vec<Point>,
    msl: super::msl::Facts,
}

impl<'a> Writer<'a> {
    pub fn new(module: &'a Module, options: &'a Options) -> Writer<'a> {
        let language = super::language_of(&options.profile);
        Writer {
            module,
            options,
            language,
            types: module.types.clone(),
            scratch: module.clone(),
            names: Names::new(language),
            extensions: BTreeSet::new(),
            specializations: Vec::new(),
            structs: Vec::new(),
            tables: Vec::new(),
            variables: Vec::new(),
            declarations: BTreeMap::new(),
            helpers: Vec::new(),
            helper_names: FxHashMap::default(),
            helped: FxHashSet::default(),
            functions: Vec::new(),
            struct_names: FxHashMap::default(),
            members: FxHashMap::default(),
            block_members: FxHashMap::default(),
            globals: FxHashMap::default(),
            spec_names: FxHashMap::default(),
            constants: FxHashMap::default(),
            lengths: FxHashMap::default(),
            function_names: FxHashMap::default(),
            reaching: super::exits::reaching(module),
            references: FxHashMap::default(),
            declared_structs: FxHashSet::default(),
            declared_references: FxHashSet::default(),
            declared_constants: FxHashSet::default(),
            global_names: FxHashMap::default(),
            block_names: FxHashMap::default(),
            atomic_members: FxHashSet::default(),
            atomic_globals: FxHashSet::default(),
            forms: FxHashMap::default(),
            laid: FxHashMap::default(),
            laid_names: FxHashMap::default(),
            array_values: FxHashSet::default(),
            param_access: FxHashMap::default(),
            operations: Vec::new(),
            set_ups: 0,
            slots: Vec::new(),
            points: Vec::new(),
            ports: Ports::default(),
            images: None,
            pure: None,
            effects: None,
            sized: Vec::new(),
            remarks: None,
            loose_remarks: BTreeMap::new(),
            hlsl: super::hlsl::State::default(),
            msl: super::msl::State::default(),
            wgsl: super::wgsl::State::default(),
            span: Span::NONE,
            diagnostics: Vec::new(),
        }
    }

    /// # Errors
    /// Returns one diagnostic for each construct that the language, or crosslane so far, cannot express.
    pub fn run(mut self) -> Result<Shader, Vec<Diagnostic>> {
        let module = self.module;
        let entries = module.entry_points.as_slice();
        let is_allowed = entries.len() == 1 || !entries.is_empty() && self.language.has_many_entries(module);
        if !is_allowed {
            self.span = entries.get(1).map_or(Span::NONE, |entry| module.functions[entry.function].span);
            self.lacks("modules of several entry points: choose one with `-e`");
            return Err(self.diagnostics);
        }
        let functions = calls::callees_first(module, entries.iter().rev().map(|entry| entry.function));
        let entry_of = |id: FuncId| entries.iter().find(|entry| entry.function == id);
        let callees: Vec<FuncId> = functions.iter().copied().filter(|id| entry_of(*id).is_none()).collect();
        self.name_all(&callees);
        self.pass_access(&functions);
        self.check_layer();
        let mut layouts = Vec::new();
        for entry in entries {
            self.span = module.functions[entry.function].span;
            layouts.extend(self.language.stage(&mut self, entry));
        }
        for id in functions {
            let definition = self.function(id, entry_of(id));
            self.functions.push(definition);
        }
        self.declare_kept();
        self.slots.sort_by_key(|slot| (slot.role.binding().is_none(), slot.role.binding(), slot.role));
        self.diagnostics.extend(slots::check(&self.slots, self.language));
        self.drop_consequences();
        if self.diagnostics.is_empty() { Ok(self.finish(layouts)) } else { Err(self.diagnostics) }
    }

    /// After a refusal the text continues with placeholders, so only an error without a refusal shows a bug in the
    /// module or the writer.
    fn drop_consequences(&mut self) {
        if self.diagnostics.iter().any(|error| error.code != Number::INTERNAL) {
            self.diagnostics.retain(|error| error.code != Number::INTERNAL);
        }
    }

    /// Refuses layers that count from another number, which most languages do not have.
    fn check_layer(&mut self) {
        let module = self.module;
        let is_relative = module.layer.viewport_relative || module.layer.secondary_offset.is_some();
        if is_relative && !self.language.has_relative_layers() {
            let is_layer = |pointer| matches!(pointer, Value::Global(id) if module.globals[id].binding == Binding::BuiltIn(BuiltIn::Layer));
            let mut insts = module.functions.iter().flat_map(|(_, f)| f.insts.iter().map(|(_, inst)| inst));
            let store = insts.find(|inst| matches!(inst.op, Op::Store { pointer, .. } if is_layer(pointer)));
            self.span = store.map_or(self.span, |inst| inst.span);
            self.lacks("layers relative to the viewport or to the view");
        }
    }

    /// Collects the qualifiers of images that functions are called with: a parameter must have the qualifiers of its
    /// arguments.
    fn pass_access(&mut self, functions: &[FuncId]) {
        let module = self.module;
        for id in functions.iter().rev() {
            let f = &module.functions[*id];
            let calls = f.insts.iter().filter_map(|(_, inst)| match inst.op {
                Op::Call(callee, args) => Some((callee, args)),
                _ => None,
            });
            for (callee, args) in calls {
                for (index, arg) in (0..).zip(f.values(args)) {
                    let access = match root_of(f, *arg) {
                        Some(Value::Global(global)) => module.globals[global].access,
                        Some(Value::Param(index)) => self.param_access.get(&(*id, index)).copied().unwrap_or_default(),
                        _ => continue,
                    };
                    *self.param_access.entry((callee, index)).or_default() |= access;
                }
            }
        }
    }

    /// Declarations that are kept although they are unused.
    fn declare_kept(&mut self) {
        let kept = self.options.manner.keep_unused;
        for (id, global) in self.module.globals.iter() {
            if kept.keeps(global) {
                self.span = global.span;
                self.global(id);
            }
        }
    }

    fn finish(self, layouts: Vec<String>) -> Shader {
        let mut head = self.language.head(&self);
        let demand: Vec<String> = self.lanes_remark().into_iter().collect();
        let remarks = self.remarks.map(|remarks| remarks.head).unwrap_or_default();
        let first = if self.language.specializes_first() {
            [self.specializations, layouts]
        } else {
            [layouts, self.specializations]
        };
        let loose = self.loose_remarks.into_values().flat_map(Beside::all).collect();
        let variables = self.variables.into_iter().chain(self.declarations.into_values().flatten()).collect();
        let others = [self.structs, self.tables, variables, loose, self.helpers];
        for part in [demand, remarks].into_iter().chain(first).chain(others) {
            if !part.is_empty() {
                head.extend((!head.is_empty()).then(String::new));
                head.extend(part);
            }
        }
        Shader {
            head,
            extensions: self.extensions.into_iter().collect(),
            functions: self.functions,
            operations: self.operations,
            slots: self.slots,
            entry: self.ports.entry,
            sized: self.sized,
            pairs: Vec::new(),
            elements: Vec::new(),
            moved: Vec::new(),
            points: self.points,
            msl: self.msl.facts(),
        }
    }

    /// A comment on the subgroup size that the text needs, unless every subgroup is large enough.
    fn lanes_remark(&self) -> Option<String> {
        let profile = &self.options.profile;
        let lanes = |entry| LaneContract::of_entry(self.module, entry).least_of(profile);
        let least = if profile.wave_size.is_none() { self.module.entry_points.iter().map(lanes).max() } else { None };
        let needed = least.filter(|least| *least > LEAST_WAVE_SIZE);
        needed.map(WaveSize::Least).or(profile.promised()).map(|size| format!("// {}", size.remark()))
    }

    /// The name of a helper function, and true if it is not yet written for a type.
    pub fn helper(&mut self, name: &'static str, ty: TypeId) -> (String, bool) {
        let is_new = self.helped.insert((name, ty));
        (self.helper_names.get(name).map_or_else(|| name.to_string(), String::clone), is_new)
    }

    /// Returns true if atomic operations access a member of a struct, and the language has separate types for that.
    pub fn is_atomic_member(&self, ty: TypeId, member: u32) -> bool {
        matches!(self.types.get(ty), Type::Struct(of) if self.atomic_members.contains(&(of, member)))
    }

    /// Returns true if a block is the elements of its only member.
    pub fn is_elements(&mut self, id: GlobalId) -> bool {
        let language = self.language;
        matches!(language.form(self, id), Form::Elements { .. })
    }

    /// Enables an extension.
    pub fn need(&mut self, extension: &'static str) {
        if !self.language.has_extension(extension) {
            self.lacks(&format!("extension {extension}"));
        }
        self.extensions.insert(extension);
    }

    /// Reports a construct that the language does not have.
    #[cold]
    pub fn lacks(&mut self, construct: &str) {
        self.fail(Number::NOT_SUPPORTED, format!("{} has no {construct}", self.language.name()));
    }

    /// Reports a construct that is not written yet.
    #[cold]
    pub fn unsupported(&mut self, construct: &str) {
        self.fail(Number::NOT_SUPPORTED, cannot_write(construct, self.language.name()));
    }

    /// Reports a module that breaks the rules of `ir`.
    #[cold]
    pub fn internal(&mut self, found: &str) {
        self.fail(Number::INTERNAL, format!("the writer of {} met {found}", self.language.name()));
    }

    /// Like [`Self::lacks`]. Returns a placeholder for a value.
    #[cold]
    pub fn lacking(&mut self, construct: &str) -> Expr {
        self.lacks(construct);
        Expr::primary("0")
    }

    /// Like [`Self::unsupported`]. Returns a placeholder for a value.
    #[cold]
    pub fn stand_in(&mut self, construct: &str) -> Expr {
        self.unsupported(construct);
        Expr::primary("0")
    }

    /// Like [`Self::internal`]. Returns a placeholder for a value.
    #[cold]
    pub fn broken(&mut self, found: &str) -> Expr {
        self.internal(found);
        Expr::primary("0")
    }

    #[cold]
    pub fn fail(&mut self, code: Number, message: String) {
        let repeated = self.diagnostics.last().is_some_and(|last| last.code == code && last.span() == self.span);
        if !repeated {
            self.diagnostics.push(Diagnostic::error(code, message).at(self.span, ""));
        }
    }

    /// Adds advice to the last failure, if it belongs to the current instruction.
    pub fn advise(&mut self, advice: impl Into<String>) {
        let span = self.span;
        if let Some(last) = self.diagnostics.last_mut().filter(|last| last.span() == span && last.notes.is_empty()) {
            last.notes.push(advice.into());
        }
    }
}

impl Shader {
    pub fn extensions(&self) -> &[&'static str] {
        &self.extensions
    }

    pub fn msl(&self) -> &super::msl::Facts {
        &self.msl
    }

    pub fn entry(&self) -> &str {
        &self.entry
    }

    pub fn sized(&self) -> &[String] {
        &self.sized
    }

    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    pub fn text(&self) -> String {
        let mut text = self.head.iter().fold(String::new(), |text, line| text + line + "\n");
        for function in &self.functions {
            if !text.is_empty() {
                text.push('\n');
            }
            function.lines(true).iter().for_each(|line| text.push_str(&line.text));
        }
        text
    }

    /// The lines with their origins; `named` maps each operation to the caller's name.
    pub fn code(self, named: impl Fn((FuncId, InstId)) -> (FuncId, InstId)) -> Code {
        let head = self.head.iter().map(|line| Written {
            origin: Origin::Code,
            text: format!("{line}\n"),
            reads: Vec::new(),
            writes: Vec::new(),
        });
        let lines = head.chain(self.functions.iter().flat_map(|function| function.lines(false))).collect();
        Code::of(lines, self.operations.into_iter().map(named))
    }
}
