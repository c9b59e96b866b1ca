//! From a shader's text to its module: the part that all outputs with equal front-end options share.

use super::kernels::{Kernels, Lowered};
use super::{Artifact, Compilation, Input, Job, Language, Options, measured, treat_warnings, verdict};
use crate::backend::Made;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::dictionary::advice::advise;
use crate::glsl;
use crate::glsl::preprocess::MacroOption;
use crate::grammar;
use crate::guard;
use crate::ir::spanning::spanned;
use crate::ir::{Module, Stage, depth, link};
use crate::kernel::Prepared;
use crate::lane::Plans;
use crate::limits::Taken;
use crate::profile::{Matching, Profile};
use crate::source::{FileId, Loader, SOURCE_LIMIT, SourceLanguage, SourceMap, Span};
use crate::spirv::{self, ModuleOptions};
use crate::symbols::Symbols;
use crate::wgsl::{self, WgslOptions};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// A shader that was parsed for one profile, and the profiles for which the result is the same.
#[derive(Debug)]
pub struct Reading {
    profile: Profile,
    /// `None` if the shader has errors.
    module: Option<Module>,
    diagnostics: Diagnostics,
    sources: Arc<SourceMap>,
    kernels: Kernels,
    warnings: OnceLock<Vec<Diagnostic>>,
    /// Usage of the limits by the reading.
    taken: Taken,
}

/// Returns true if shaders mean the same for two profiles: both have the same sizes and extensions, and therefore the
/// same macros, and segments of several subgroups have the same programs. Messages may name the profiles differently.
pub fn read_alike(a: &Profile, b: &Profile) -> bool {
    let mut asked = grammar::EXTENSIONS.iter().flat_map(|extension| extension.needs);
    let sizes =
        |profile: &Profile| (profile.target, profile.wave_size, profile.least_wave_size(), profile.reproducible);
    sizes(a) == sizes(b) && asked.all(|feature| a.has(*feature) == b.has(*feature))
}

impl Reading {
    /// Reads a shader with these options.
    pub fn new(input: &Input<'_>, options: &Options, loader: &dyn Loader) -> Reading {
        let mut reader = Reader::new(options, loader);
        let module = reader.within(|reader| reader.module(input));
        Reading::of(module, reader)
    }

    /// Like `Reading::new`, and records the names of the shader, as far as errors allow.
    pub fn with_symbols(input: &Input<'_>, options: &Options, loader: &dyn Loader) -> (Reading, Symbols) {
        let mut reader = Reader { symbols: Some(Symbols::default()), ..Reader::new(options, loader) };
        let module = reader.within(|reader| reader.module(input));
        let symbols = reader.symbols.take().unwrap_or_default();
        (Reading::of(module, reader), symbols)
    }

    fn of(module: Option<Module>, reader: Reader<'_>) -> Reading {
        let Reader { options, sources, diagnostics, taken, .. } = reader;
        Reading {
            profile: options.profile.clone(),
            module,
            diagnostics,
            sources: Arc::new(sources),
            kernels: Kernels::default(),
            warnings: OnceLock::new(),
            taken,
        }
    }

    /// Makes the readings of the stages of one program agree where the profile's language requires it: on the interface
    /// between a fragment shader and the previous stage, and on the places of resources. Pass one reading per stage,
    /// before you compile any of them.
    pub fn link(stages: &mut [&mut Reading]) {
        let resources: Vec<_> = stages.iter().map(|stage| stage.module.as_ref().map(link::resources)).collect();
        for (own, stage) in stages.iter_mut().enumerate() {
            let Some(module) = &mut stage.module else { continue };
            let others = resources.iter().enumerate().filter(|(other, _)| *other != own);
            module.others = others.filter_map(|(_, others)| others.as_ref()).flatten().copied().collect();
        }
        let kinds: Vec<Option<Stage>> = stages.iter().map(|stage| stage.stage()).collect();
        let place = |of| kinds.iter().position(|stage| *stage == Some(of));
        let before = [Stage::Geometry, Stage::TessEvaluation, Stage::Vertex].into_iter().find_map(place);
        let of_vertex = place(Stage::Vertex);
        let of_tessellation = (place(Stage::TessControl), place(Stage::TessEvaluation));
        if let (Some(before), Some(after)) = (before, place(Stage::Fragment))
            && let Ok([before, after]) = stages.get_disjoint_mut([before, after])
        {
            before.link_to(after);
        }
        let control = of_tessellation.0.and_then(|at| stages[at].module.clone());
        if let (Some(control), Some(vertex)) = (control, of_vertex) {
            stages[vertex].note_control(control);
        }
        let (control, evaluation) = of_tessellation;
        if let (Some(control), Some(evaluation)) = (control, evaluation)
            && let Ok([control, evaluation]) = stages.get_disjoint_mut([control, evaluation])
        {
            control.link_tessellation(evaluation);
            control.link_inside(evaluation);
        }
        if let (Some(vertex), Some(control)) = (of_vertex, control)
            && let Ok([vertex, control]) = stages.get_disjoint_mut([vertex, control])
        {
            vertex.link_inside(control);
        }
    }

    /// Tells a vertex stage about the control stage, in languages that pass vertices in a buffer.
    fn note_control(&mut self, control: Module) {
        if let (Matching::Type, Some(module)) = (self.profile.target.row().matching, &mut self.module) {
            module.control = Some(Arc::new(control));
        }
    }

    /// Tells the tessellation stages about each other.
    fn link_tessellation(&mut self, evaluation: &mut Reading) {
        if self.profile.target.row().matching == Matching::Location {
            return;
        }
        if let (Some(control), Some(evaluation)) = (&mut self.module, &mut evaluation.module) {
            link::link_tessellation(control, evaluation);
        }
    }

    /// Makes two stages before the last vertex stage agree.
    fn link_inside(&mut self, after: &mut Reading) {
        if self.profile.target.row().matching != Matching::Order {
            return;
        }
        if let (Some(before), Some(after)) = (&mut self.module, &mut after.module) {
            link::link(before, after, true);
        }
    }

    /// The stage of a module with one entry point.
    pub fn stage(&self) -> Option<Stage> {
        match self.module.as_ref()?.entry_points.as_slice() {
            [entry] => Some(entry.stage),
            _ => None,
        }
    }

    fn link_to(&mut self, after: &mut Reading) {
        let matching = self.profile.target.row().matching;
        if matching == Matching::Location {
            return;
        }
        if let (Some(before), Some(after)) = (&mut self.module, &mut after.module) {
            link::link(before, after, matching == Matching::Order);
        }
    }

    /// The module, or `None` if the shader has errors.
    pub fn module(&self) -> Option<&Module> {
        self.module.as_ref()
    }

    /// The module as back ends get it for a profile that the reading serves; see [`spanned`].
    ///
    /// # Errors
    /// Reports operations that need wider subgroups. Without a module it reports nothing.
    pub fn written(&self, profile: &Profile) -> Made<Cow<'_, Module>> {
        let module = self.module.as_ref().ok_or_else(Vec::new)?;
        spanned(module, &*module.profile(profile)?)
    }

    /// The options for the shader; see [`Options::narrowed`].
    ///
    /// # Errors
    /// Like [`Module::profile`].
    pub fn narrowed<'o>(&self, options: &'o Options) -> Made<Cow<'o, Options>> {
        self.module.as_ref().map_or(Ok(Cow::Borrowed(options)), |module| options.narrowed(module))
    }

    /// Returns true if the shader has no entry point, so there is nothing to compile.
    pub fn is_library(&self) -> bool {
        self.module.as_ref().is_some_and(|module| module.entry_points.is_empty())
    }

    /// The sources that the spans of the module and of messages point into.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// The sources, shared.
    pub fn shared_sources(&self) -> Arc<SourceMap> {
        self.sources.clone()
    }

    /// The messages, with warnings as the options configure them.
    pub fn messages(&self, options: &Options) -> Diagnostics {
        let mut diagnostics = self.diagnostics.clone();
        treat_warnings(options, &self.sources, &mut diagnostics);
        diagnostics
    }

    /// The kernel of the module for a profile that the reading serves. Its cross-lane operations have no plans yet.
    ///
    /// # Errors
    /// Reports constructs that the kernel form cannot express. Without a module it reports nothing.
    pub fn prepared(&self, profile: &Profile) -> Made<&Prepared> {
        let module = self.module.as_ref().ok_or_else(Vec::new)?;
        self.kernels.prepared(module, &*module.profile(profile)?)
    }

    /// The kernel with the plans of its operations lowered.
    ///
    /// # Errors
    /// Returns an error for each operation that the profile cannot express.
    pub fn lowered(&self, profile: &Profile, plans: &Plans) -> Made<Arc<Lowered>> {
        let module = self.module.as_ref().ok_or_else(Vec::new)?;
        self.kernels.lowered(module, &*module.profile(profile)?, plans)
    }

    /// Returns true if parsing for another profile would give the same result. Messages may name the profile.
    pub fn serves(&self, profile: &Profile) -> bool {
        read_alike(&self.profile, profile) && (self.profile.name == profile.name || self.diagnostics.is_empty())
    }

    /// Compiles the shader with options that differ from the reading's only in the profile (one that the reading
    /// serves), the output format and the treatment of warnings.
    pub fn compile(&self, options: &Options) -> Compilation {
        let Reading { sources, kernels, warnings, .. } = self;
        let mut diagnostics = self.diagnostics.clone();
        let narrowed = diagnostics.take(self.narrowed(options));
        let options = narrowed.as_deref().unwrap_or(options);
        let (artifact, taken) = measured(options, &mut diagnostics, |diagnostics| {
            let source = self.module.as_ref().filter(|_| narrowed.is_some())?;
            let module = &*diagnostics.take(self.written(&options.profile))?;
            Job { options, source, module, sources, kernels, warnings, diagnostics }.run()
        });
        conclude(options, artifact, diagnostics, sources.clone(), self.taken + taken)
    }
}

/// The readings of a shader for several profiles. Profiles that read it alike share one.
pub struct Readings<'a> {
    input: Input<'a>,
    loader: &'a dyn Loader,
    known: Vec<Arc<Reading>>,
}

impl<'a> Readings<'a> {
    /// Creates readings on demand, except the `known` ones.
    pub fn new(input: Input<'a>, loader: &'a dyn Loader, known: Vec<Arc<Reading>>) -> Readings<'a> {
        Readings { input, loader, known }
    }

    /// The reading for the profile of these options, which otherwise equal the options of the other readings.
    pub fn get(&mut self, options: &Options) -> Arc<Reading> {
        if let Some(known) = self.known.iter().find(|reading| reading.serves(&options.profile)) {
            return known.clone();
        }
        let reading = Arc::new(Reading::new(&self.input, options, self.loader));
        self.known.push(reading.clone());
        reading
    }
}

/// The compilation that ends after the preprocessor.
pub(super) fn preprocess(input: &Input<'_>, options: &Options, loader: &dyn Loader) -> Compilation {
    let mut reader = Reader::new(options, loader);
    let artifact = reader.within(|reader| match spirv::is_module(input.bytes) {
        true => reader.no_preprocessor("SPIR-V"),
        false => {
            let file = reader.add_source(input)?;
            reader.preprocess(file, input.language).map(Artifact::Text)
        }
    });
    let Reader { sources, diagnostics, taken, .. } = reader;
    conclude(options, artifact, diagnostics, Arc::new(sources), taken)
}

fn conclude(
    options: &Options,
    artifact: Option<Artifact>,
    mut diagnostics: Diagnostics,
    sources: Arc<SourceMap>,
    taken: Taken,
) -> Compilation {
    treat_warnings(options, &sources, &mut diagnostics);
    Compilation { verdict: verdict(artifact, &diagnostics), diagnostics, sources, taken }
}

/// The module of a shader if it has no errors, its sources and its messages.
pub(super) fn read(
    input: &Input<'_>,
    options: &Options,
    loader: &dyn Loader,
) -> (Option<Module>, SourceMap, Diagnostics) {
    let mut reader = Reader::new(options, loader);
    let module = reader.within(|reader| reader.module(input));
    (module, reader.sources, reader.diagnostics)
}

struct Reader<'a> {
    options: &'a Options,
    loader: &'a dyn Loader,
    sources: SourceMap,
    diagnostics: Diagnostics,
    /// The names of the shader, if requested.
    symbols: Option<Symbols>,
    /// Usage of the limits by the steps so far.
    taken: Taken,
}

impl<'a> Reader<'a> {
    fn new(options: &'a Options, loader: &'a dyn Loader) -> Reader<'a> {
        Reader {
            options,
            loader,
            sources: SourceMap::limited(options.limits.source_bytes),
            diagnostics: Diagnostics::new(),
            symbols: None,
            taken: Taken::default(),
        }
    }

    /// Runs a step within the limits of the options. If a limit ends it, earlier messages and files are kept.
    fn within<T>(&mut self, step: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let (done, taken) = guard::measured(self.options.limits, || step(self));
        self.taken = self.taken + taken;
        done.unwrap_or_else(|failure| {
            self.diagnostics.push(failure);
            None
        })
    }

    /// The front end's module if the shader has no errors.
    fn module(&mut self, input: &Input<'_>) -> Option<Module> {
        let module = match spirv::is_module(input.bytes) {
            true => self.spirv(input)?,
            false => {
                let file = self.add_source(input)?;
                self.front(file, input.language)?
            }
        };
        let is_right = !self.diagnostics.has_errors() && !self.is_too_deep(&module) && self.is_sound(&module);
        is_right.then(|| self.fixed(module)).flatten()
    }

    /// Applies the specialization constants and the clip space of the options to the module.
    fn fixed(&mut self, mut module: Module) -> Option<Module> {
        let fixed = self.options.settings.fix(&mut module);
        self.diagnostics.take(fixed)?;
        self.options.clip_space.apply(&mut module);
        Some(module)
    }

    /// Reports blocks that nest deeper than the passes can follow. Each front end limits its own recursion, but short
    /// constructs can still create many blocks.
    fn is_too_deep(&mut self, module: &Module) -> bool {
        let Some(span) = depth::too_deep(module) else { return false };
        let message = format!("control flow is nested deeper than {} levels", depth::DEPTH_LIMIT);
        self.diagnostics.push(Diagnostic::error(Code::TOO_DEEP, message).at(span, "too deep here"));
        true
    }

    fn add_source(&mut self, input: &Input<'_>) -> Option<FileId> {
        let text = match std::str::from_utf8(input.bytes) {
            Ok(text) => text.into(),
            // Comments may hold any bytes; elsewhere the preprocessor reports them.
            Err(_) if input.language == Language::Glsl => String::from_utf8_lossy(input.bytes),
            Err(error) => {
                self.not_utf8(input, error.valid_up_to());
                return None;
            }
        };
        let added = self.sources.add(input.name, text);
        if added.is_err() {
            self.too_large(self.options.limits.source_bytes.min(SOURCE_LIMIT));
        }
        added.ok()
    }

    /// Shows the text up to the bad byte, so that the message can point to it.
    fn not_utf8(&mut self, input: &Input<'_>, valid: usize) {
        let message = Diagnostic::error(Code::NOT_UTF8, format!("{} is not UTF-8 (byte {valid})", input.name));
        let shown = String::from_utf8_lossy(input.bytes).into_owned();
        let message = match self.sources.add(input.name, shown) {
            Ok(file) => {
                let at = self.sources.file(file).base + valid as u32;
                message.at(Span::new(at, at), "this byte starts no character")
            }
            Err(_) => message,
        };
        self.diagnostics.push(message);
    }

    fn preprocess(&mut self, file: FileId, language: Language) -> Option<String> {
        match language {
            Language::Glsl => {
                let options = self.options.glsl();
                Some(glsl::preprocess_only(file, &mut self.sources, self.loader, &options, &mut self.diagnostics))
            }
            Language::Wgsl => self.no_preprocessor("WGSL"),
        }
    }

    fn no_preprocessor<T>(&mut self, language: &str) -> Option<T> {
        let message = format!("{language} has no preprocessor");
        self.diagnostics.push(Diagnostic::error(Code::NO_PREPROCESSOR, message));
        None
    }

    fn front(&mut self, file: FileId, language: Language) -> Option<Module> {
        match language {
            Language::Glsl => {
                self.check_entry();
                let (options, symbols, mark) = (self.options.glsl(), self.symbols.as_mut(), self.diagnostics.mark());
                let (sources, diagnostics) = (&mut self.sources, &mut self.diagnostics);
                let module = glsl::compile(file, sources, self.loader, &options, diagnostics, symbols);
                diagnostics.since(mark).for_each(|message| advise(message, sources));
                module
            }
            Language::Wgsl => {
                self.sources.language = SourceLanguage::Wgsl;
                self.wgsl(file)
            }
        }
    }

    /// Reads a module of SPIR-V.
    fn spirv(&mut self, input: &Input<'_>) -> Option<Module> {
        let limit = self.options.limits.source_bytes.min(SOURCE_LIMIT);
        if input.bytes.len() as u64 > limit {
            self.too_large(limit);
            return None;
        }
        let options = ModuleOptions { entry: self.options.entry.as_deref(), stage: self.options.stage };
        let (sources, diagnostics) = (&mut self.sources, &mut self.diagnostics);
        let mut module = spirv::compile(input.name, input.bytes, sources, &options, diagnostics)?;
        self.options.fp_contract.apply(&mut module);
        Some(module)
    }

    fn too_large(&mut self, limit: u64) {
        let message = format!("the shader is larger than {limit} bytes");
        self.diagnostics.push(Diagnostic::error(Code::TOO_LARGE, message).note("`Limits::source_bytes` is the limit"));
    }

    /// GLSL has one entry point, which is always `main`.
    fn check_entry(&mut self) {
        let Some(entry) = self.options.entry.as_deref().filter(|entry| *entry != "main") else { return };
        let message = format!("the entry point of a GLSL shader is `main`; there is no `{entry}` to choose");
        let error = Diagnostic::error(Code::ENTRY_POINT, message);
        self.diagnostics
            .push(error.help("leave out `--entry`; `--entry-name` names the entry point of a SPIR-V module"));
    }

    fn wgsl(&mut self, file: FileId) -> Option<Module> {
        let defines: Vec<(String, String)> = self.options.macros.iter().filter_map(MacroOption::defined).collect();
        let profile = &self.options.profile;
        let (wave_size, target) = (profile.wave_size, profile.target);
        let (entry, stage) = (self.options.entry.as_deref(), self.options.stage);
        let bounds_checks = self.options.bounds_checks;
        let options = WgslOptions { entry, stage, defines: &defines, wave_size, target, bounds_checks };
        let symbols = self.symbols.as_mut();
        let mut module = wgsl::compile(file, &self.sources, &options, &mut self.diagnostics, symbols)?;
        self.options.fp_contract.apply(&mut module);
        Some(module)
    }

    /// Builds with debug assertions verify the front ends' modules. A module that fails is a bug in crosslane.
    fn is_sound(&mut self, module: &Module) -> bool {
        if !cfg!(debug_assertions) {
            return true;
        }
        let errors = crate::ir::verify::verify(module).err().unwrap_or_default();
        errors.iter().for_each(|error| self.diagnostics.push(error.diagnostic()));
        errors.is_empty()
    }
}
