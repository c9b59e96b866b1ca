//! SPIR-V 1.0 to 1.6 for Vulkan 1.0 to 1.4.
//!
//! [`emit`] walks the IR from the entry points; unreachable parts are not written. Types, constants and variables are
//! declared at their first use, so that their order depends only on the module. There is one file per subject, among
//! them `function` (bodies), `early` (before SPIR-V 1.3), `interface` (of stages), `model` (memory model), `form` and
//! `unknown` (instructions by number), `promote`, `flatten`, `share`, `simplify` and `dead` (optimization), `describe`
//! (names and debug information), and `written` (lines with their origins).

mod capability;
mod client;
mod constants;
mod control;
mod cooperative;
mod dead;
mod debug;
mod describe;
mod dot;
mod early;
mod encoded;
mod entry;
mod flatten;
mod foreign;
mod form;
mod function;
mod globals;
mod image;
mod interface;
pub mod inverse;
#[cfg(debug_assertions)]
mod judged;
mod lane;
mod listing;
mod math;
mod memory;
mod model;
mod narrow;
mod physical;
mod print;
mod process;
mod promote;
mod ray;
pub mod reflection;
mod share;
mod simplify;
mod small_floats;
mod types;
mod unknown;
mod words;
mod written;

#[cfg(test)]
mod tests;

use super::written::Unit;
use super::{Artifact, Backend, DebugInfo, Form, Made, ModuleWriter, Optimize, Options, Writer};
use crate::diagnostic::{Code, Diagnostic, cannot_write};
use crate::ir::converge_switches::Diverging;
use crate::ir::optimize::Growth;
use crate::ir::{self, FuncId, Module, Stage, StructId};
use crate::kernel;
use crate::profile::Profile;
use crate::source::{SourceMap, Span};
use capability::Needs;
use constants::ConstMap;
use debug::Files;
use describe::Described;
use globals::{GlobalMap, Variable};
pub use listing::disassemble;
use rspirv::spirv::{Decoration, GlslStd450Op, MAGIC_NUMBER, Op, Word};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use types::TypeMap;
use words::Words;
pub use written::written;

/// A version of SPIR-V that some Vulkan version guarantees.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Version {
    /// Vulkan 1.0.
    V1_0,
    /// Vulkan 1.1 accepts it.
    V1_1,
    /// Vulkan 1.1 accepts this version too.
    V1_2,
    /// Vulkan 1.1.
    V1_3,
    /// Vulkan 1.1 with `VK_KHR_spirv_1_4`.
    V1_4,
    /// Vulkan 1.2.
    V1_5,
    /// Vulkan 1.3.
    V1_6,
}

impl Version {
    /// The version in the module header (section 2.3, word 1).
    const fn word(self) -> Word {
        match self {
            Version::V1_0 => 0x0001_0000,
            Version::V1_1 => 0x0001_0100,
            Version::V1_2 => 0x0001_0200,
            Version::V1_3 => 0x0001_0300,
            Version::V1_4 => 0x0001_0400,
            Version::V1_5 => 0x0001_0500,
            Version::V1_6 => 0x0001_0600,
        }
    }

    /// The usual spelling.
    const fn text(self) -> &'static str {
        match self {
            Version::V1_0 => "1.0",
            Version::V1_1 => "1.1",
            Version::V1_2 => "1.2",
            Version::V1_3 => "1.3",
            Version::V1_4 => "1.4",
            Version::V1_5 => "1.5",
            Version::V1_6 => "1.6",
        }
    }

    /// The version of a profile; `None` for versions that Vulkan does not accept.
    pub const fn of(profile: &Profile) -> Option<Version> {
        match profile.version {
            (1, 0) => Some(Version::V1_0),
            (1, 1) => Some(Version::V1_1),
            (1, 2) => Some(Version::V1_2),
            (1, 3) => Some(Version::V1_3),
            (1, 4) => Some(Version::V1_4),
            (1, 5) => Some(Version::V1_5),
            (1, 6) => Some(Version::V1_6),
            _ => None,
        }
    }

    /// The version that a profile names; an error for versions that Vulkan does not accept.
    ///
    /// # Errors
    /// Refuses versions that Vulkan does not accept.
    fn needed(profile: &Profile) -> Made<Version> {
        Version::of(profile).ok_or_else(|| {
            let message = format!("the profile {} names a SPIR-V version that is not supported", profile.name);
            vec![Diagnostic::error(Code::NOT_SUPPORTED, message)]
        })
    }

    /// Returns true if version 1.3 is included: the instructions of subgroups, a storage class of storage buffers.
    fn has_1_3(self) -> bool {
        self >= Version::V1_3
    }

    /// Returns true if version 1.4 is included: `OpCopyLogical`, `OpSelect` of composites, interfaces that list every
    /// variable.
    fn has_1_4(self) -> bool {
        self >= Version::V1_4
    }
}

/// AMD's cross-lane instructions: the name of an extension, and of the instruction set that it adds.
const AMD_BALLOT: &str = "SPV_AMD_shader_ballot";

/// The row of the back end.
pub(super) const BACKEND: Backend = Backend {
    units: &[Unit::Subgroup, Unit::Arithmetic, Unit::Control],
    unit: written::unit,
    mnemonic: lane::mnemonic,
    writer: Writer::Module(ModuleWriter { write, written, losses: |_, _| Vec::new() }),
};

fn write(module: &Module, form: Form, options: &Options, sources: &SourceMap) -> Made<Artifact> {
    let words = emit(module, options, sources)?;
    #[cfg(debug_assertions)]
    if module.foreign.is_empty()
        && !encoded::any(&module.types)
        && let Some(refusal) = judged::refusal(&words, Version::needed(&options.profile)?, options.profile.client)
    {
        return Err(vec![refusal]);
    }
    Ok(match form {
        Form::Binary => Artifact::Spirv(words),
        Form::Text => Artifact::Text(remark(&options.profile) + &text(&words)?),
        Form::Reflection => {
            let entry = kernel::only_entry(module).map_err(|error| vec![*error])?;
            let kept = options.manner.keep_unused;
            Artifact::Text(reflection::json(&words, module, entry, kept, &options.profile))
        }
    })
}

/// The comment at the top of a text with the promised subgroup size.
fn remark(profile: &Profile) -> String {
    profile.promised().map(|size| format!("; {}\n", size.remark())).unwrap_or_default()
}

/// The text of a module; a module that cannot be read back is a bug in crosslane.
fn text(words: &[u32]) -> Made<String> {
    let unread = |reason| vec![Diagnostic::error(Code::INTERNAL, format!("the module has no listing: {reason}"))];
    disassemble(words).map_err(unread)
}

/// Writes all entry points of `module` and everything that they reach as one SPIR-V module.
///
/// # Errors
/// Returns one diagnostic for each construct that SPIR-V, this version of it, or crosslane cannot express.
pub fn emit(module: &Module, options: &Options, sources: &SourceMap) -> Made<Vec<u32>> {
    let changed = changed(module, options);
    let mut emitter = Emitter::new(changed.as_ref().unwrap_or(module), options, sources)?;
    emitter.run();
    if emitter.diagnostics.is_empty() { Ok(emitter.finish()) } else { Err(emitter.diagnostics) }
}

/// The changed module to write; `None` if the module stays unchanged.
fn changed(module: &Module, options: &Options) -> Option<Module> {
    // Debuggers identify functions by the positions of their code.
    let growth = match options.manner.optimize {
        _ if options.debug == DebugInfo::Full => None,
        Optimize::None => None,
        Optimize::Speed => Some(Growth::SPEED),
        Optimize::Size => Some(Growth::SIZE),
    };
    let mut changed = growth.map(|growth| {
        let mut optimized = module.clone();
        ir::optimize::optimize(&mut optimized, growth);
        optimized
    });
    let diverging = Diverging::of(changed.as_ref().unwrap_or(module));
    if !diverging.is_empty() {
        diverging.converge(changed.get_or_insert_with(|| module.clone()));
    }
    if let Some(changed) = &changed {
        debug_assert!(ir::verify::verify(changed).is_ok(), "{:?}", ir::verify::verify(changed));
    }
    changed
}

/// The sections that are filled while bodies are written (section 2.4, logical layout).
#[derive(Debug, Default)]
struct Sections {
    entry_points: Words,
    modes: Words,
    strings: Words,
    names: Words,
    decorations: Words,
    globals: Words,
    functions: Words,
    /// The parts of `functions` that belong to cross-lane operations.
    marks: written::Marks,
}

impl Sections {
    /// Sections with room for a typical module.
    fn for_module(module: &Module) -> Sections {
        let insts: usize = module.functions.iter().map(|(_, function)| function.insts.len()).sum();
        Sections {
            decorations: Words::with_capacity(256),
            globals: Words::with_capacity(4 * (module.types.len() + module.constants.len())),
            functions: Words::with_capacity(6 * insts),
            ..Sections::default()
        }
    }

    /// All sections, in the order of section 2.4.
    fn in_order(&self) -> [&Words; 7] {
        let Sections { entry_points, modes, strings, names, decorations, globals, functions, marks: _ } = self;
        [entry_points, modes, strings, names, decorations, globals, functions]
    }
}

/// The variables that a function body uses, for the interfaces of entry points.
#[derive(Debug, Default)]
struct Uses {
    variables: FxHashSet<Variable>,
    calls: SmallVec<[FuncId; 4]>,
}

/// State of one emission.
struct Emitter<'a> {
    module: &'a Module,
    options: &'a Options,
    /// True if the module is not to be a straight copy of the source.
    optimizes: bool,
    version: Version,
    sources: &'a SourceMap,
    out: Sections,
    needs: Needs,
    types: TypeMap,
    constants: ConstMap,
    globals: GlobalMap,
    files: Files,
    described: Described,
    /// True if the module names scalars of 8 or 16 bits.
    narrow: bool,
    /// True if the module is written in the memory model of Vulkan.
    vulkan_memory: bool,
    /// The structs of storage buffers, if these are in `Uniform` memory.
    buffer_blocks: Option<FxHashSet<StructId>>,
    /// Ids of functions by [`FuncId`]; 0 if nothing calls one yet.
    functions: Vec<Word>,
    uses: Vec<Uses>,
    /// Functions with an id but no body yet, the next one last.
    queue: Vec<FuncId>,
    /// The GLSL.std.450 instruction set; 0 until it is used.
    glsl: Word,
    /// The NonSemantic.DebugPrintf instruction set; 0 until it is used.
    printf: Word,
    /// The instruction set [`AMD_BALLOT`]; 0 until it is used.
    amd_ballot: Word,
    /// The instruction sets that the shader names itself.
    sets: FxHashMap<&'a str, Word>,
    /// The stage of the current entry point: a function is written for one stage.
    stage: Stage,
    /// The last id assigned.
    last: Word,
    /// The source of the current instruction, for messages.
    span: Span,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Emitter<'a> {
    fn new(module: &'a Module, options: &'a Options, sources: &'a SourceMap) -> Made<Emitter<'a>> {
        let version = Version::needed(&options.profile)?;
        let optimizes = options.manner.optimize != Optimize::None;
        let vulkan_memory = model::needs_vulkan(module);
        let mut constants = ConstMap::new(&module.constants);
        if optimizes {
            constants.keep_bits();
        }
        Ok(Emitter {
            module,
            options,
            optimizes,
            version,
            sources,
            out: Sections::for_module(module),
            needs: Needs::new(version),
            types: TypeMap::new(&module.types),
            constants,
            globals: GlobalMap::new(module.globals.len()),
            files: Files::default(),
            described: Described::default(),
            narrow: narrow::any(&module.types),
            vulkan_memory,
            buffer_blocks: early::buffer_blocks(module, version).filter(|_| !vulkan_memory),
            functions: vec![0; module.functions.len()],
            uses: module.functions.iter().map(|_| Uses::default()).collect(),
            queue: Vec::new(),
            glsl: 0,
            printf: 0,
            amd_ballot: 0,
            sets: FxHashMap::default(),
            stage: Stage::Compute,
            last: 0,
            span: Span::NONE,
            diagnostics: Vec::new(),
        })
    }

    fn run(&mut self) {
        let module = self.module;
        self.choose_memory_model();
        self.begin_debug();
        for entry in &module.entry_points {
            self.stage = entry.stage;
            self.function(entry.function);
            function::emit_queued(self);
        }
        self.declare_unused();
        for entry in &module.entry_points {
            self.entry_point(entry);
        }
        self.workgroup_size_constant();
        self.alias_shared_blocks();
        self.ray_modes();
        self.refuse_late();
        if self.optimizes {
            self.eliminate_dead();
        }
    }

    /// The module from its sections, in the order of section 2.4.
    fn finish(mut self) -> Vec<Word> {
        self.needs.settle_narrow();
        let words: usize = self.out.in_order().iter().map(|section| section.as_slice().len()).sum();
        let mut head = Words::with_capacity(128 + words);
        let generator = 0;
        head.extend(&[MAGIC_NUMBER, self.version.word(), generator, self.last + 1, 0]);
        for capability in self.needs.capabilities() {
            head.op(Op::Capability, &[capability]);
        }
        for extension in self.needs.extensions() {
            let start = head.begin(Op::Extension);
            head.string(extension);
            head.end(start);
        }
        let sets = [
            (self.glsl, "GLSL.std.450"),
            (self.printf, "NonSemantic.DebugPrintf"),
            (self.described.set, "NonSemantic.Shader.DebugInfo.100"),
            (self.amd_ballot, AMD_BALLOT),
        ];
        let mut named: Vec<(Word, &str)> = self.sets.iter().map(|(name, id)| (*id, *name)).collect();
        named.sort_unstable();
        for (id, name) in sets.into_iter().filter(|(id, _)| *id != 0).chain(named) {
            let start = head.begin(Op::ExtInstImport);
            head.push(id);
            head.string(name);
            head.end(start);
        }
        head.op(Op::MemoryModel, &self.memory_model());
        for section in self.out.in_order() {
            head.append(section);
        }
        head.into_vec()
    }

    fn id(&mut self) -> Word {
        self.last += 1;
        self.last
    }

    /// The id of a function; its body is queued at the first call.
    fn function(&mut self, id: FuncId) -> Word {
        if self.functions[id.index()] == 0 {
            self.functions[id.index()] = self.id();
            self.queue.push(id);
        }
        self.functions[id.index()]
    }

    /// The set that an extended instruction names.
    fn glsl_set(&mut self) -> Word {
        if self.glsl == 0 {
            self.glsl = self.id();
        }
        self.glsl
    }

    /// AMD's cross-lane instructions: an instruction set and an extension with the same name.
    fn amd_ballot_set(&mut self) -> Word {
        if self.amd_ballot == 0 {
            self.amd_ballot = self.id();
            self.needs.extension(AMD_BALLOT);
        }
        self.amd_ballot
    }

    fn decorate(&mut self, id: Word, decoration: Decoration, operands: &[Word]) {
        self.out.decorations.typed(Op::Decorate, id, decoration as Word, operands);
    }

    fn decorate_member(&mut self, id: Word, member: Word, decoration: Decoration, operands: &[Word]) {
        let start = self.out.decorations.begin(Op::MemberDecorate);
        self.out.decorations.extend(&[id, member, decoration as Word]);
        self.out.decorations.extend(operands);
        self.out.decorations.end(start);
    }

    /// Reports a construct that cannot be expressed yet. The id 0 that it returns never reaches a finished module.
    #[cold]
    fn unsupported(&mut self, what: &str) -> Word {
        self.fail(Code::NOT_SUPPORTED, cannot_write(what, "SPIR-V"))
    }

    /// Reports a module that breaks the rules of `ir`.
    #[cold]
    fn internal(&mut self, what: &str) -> Word {
        self.fail(Code::INTERNAL, format!("the SPIR-V target met {what}"))
    }

    /// Reports capabilities and extensions requested and that this version does not have.
    fn refuse_late(&mut self) {
        self.refuse_late_of("this");
    }

    /// Like `refuse_late`, with the name of the feature that needs them.
    fn refuse_late_of(&mut self, what: &str) {
        for (name, first) in self.needs.take_late() {
            self.fail(Code::PROFILE_LACKS, format!("{what} needs {name}, which needs SPIR-V {}", first.text()));
        }
    }

    #[cold]
    fn fail(&mut self, code: Code, message: String) -> Word {
        let repeated = self.diagnostics.last().is_some_and(|last| last.code == code && last.span() == self.span);
        if !repeated {
            self.diagnostics.push(Diagnostic::error(code, message).at(self.span, ""));
        }
        0
    }
}

impl Emitter<'_> {
    /// Number of an extended instruction, with the set imported.
    fn extended(&mut self, op: GlslStd450Op) -> [Word; 2] {
        [self.glsl_set(), op as Word]
    }
}
