//! The GLSL front end: [`preprocess`] into a [`token`] stream, [`parse`] into an [`ast`], resolve into [`crate::ir`].

pub mod ast;
pub mod builtin;
mod chunk;
pub mod convert;
pub mod dialect;
mod dialects;
pub mod env;
pub mod extended;
mod foreign;
pub mod keyword;
pub mod lex;
pub mod number;
pub(crate) mod opaque;
pub mod parse;
mod pragma;
pub mod preprocess;
mod sema;
mod symbols;
pub mod token;
pub mod types;

use crate::diagnostic::{Code, Diagnostic, Diagnostics, cannot_write};
use crate::grammar;
use crate::guard;
use crate::ir::{FpContract, Module, Stage};
use crate::limits::Limits;
use crate::profile::Profile;
use crate::source::{FileId, Loader, SourceLanguage, SourceMap, Span};
use crate::symbols::Symbols;
use dialect::Dialect;
use dialects::ProfileDialects;
use env::Env;
use preprocess::{MacroOption, PreprocessOptions};
pub use sema::resolve;

/// The spelling of constructs of the typed form, for writers of the language.
pub(crate) mod spelling {
    pub use super::sema::hit_objects::{extension as hit_extension, hit_call};
    pub use super::sema::primitives::{is_usual, primitive_word};
    pub use super::sema::ray_query::ray_query_call;
    pub use super::sema::ray_tracing::{RAY_TRACING, RAY_TRACING_NV, RECORDS, ray_call, ray_word};
}
use token::{ExtensionBehavior, GlslProfile, Interner, TokenStream};

/// The options of a GLSL compilation.
#[derive(Clone, Copy)]
pub struct GlslOptions<'a> {
    pub profile: &'a Profile,
    /// By default from `#pragma shader_stage`, otherwise compute.
    pub stage: Option<Stage>,
    /// `-D` and `-U`, in their order.
    pub macros: &'a [MacroOption],
    pub dialect: &'a Dialect,
    /// Unless the shader has a `#pragma crosslane fp_contract`.
    pub fp_contract: FpContract,
    pub limits: Limits,
}

impl<'a> GlslOptions<'a> {
    fn preprocessing(&self, dialects: &'a ProfileDialects) -> PreprocessOptions<'a> {
        let Dialect { version, names_profile, preamble, .. } = self.dialect;
        PreprocessOptions {
            dialects,
            stage: self.stage,
            macros: self.macros,
            preamble: preamble.as_deref().unwrap_or_default(),
            default_version: None,
            forced_version: *version,
            names_profile: *names_profile,
            limits: self.limits,
        }
    }
}

/// Compiles a shader that has been added to `sources`; `None` if it has errors. If requested, its names are recorded,
/// as far as they are known in a shader with errors.
pub fn compile(
    file: FileId,
    sources: &mut SourceMap,
    loader: &dyn Loader,
    options: &GlslOptions,
    diagnostics: &mut Diagnostics,
    symbols: Option<&mut Symbols>,
) -> Option<Module> {
    let mut words = Interner::new();
    let dialects = ProfileDialects(options.profile);
    let settings = options.preprocessing(&dialects);
    let mark = diagnostics.mark();
    let stream = preprocess::preprocess(file, sources, loader, &settings, &mut words, diagnostics);
    let number = stream.version.number;
    let is_es = stream.version.profile == GlslProfile::Es;
    sources.language = if is_es { SourceLanguage::Essl(number) } else { SourceLanguage::Glsl(number) };
    let stage = stage(&stream, &words, options, diagnostics);
    if is_foreign(stage, options.profile) {
        // The preprocessor's refusal of the stage's extension is a consequence of this one.
        drop(diagnostics.take_refusals(mark));
        diagnostics.push(foreign_stage(stage, options.profile).at(stream.version.span, "such a shader"));
        return None;
    }
    check_stage(&stream, &words, stage, diagnostics);
    check_mesh_form(&stream, &words, stage, diagnostics);
    let pragma::Choices { fp_contract, wave_size } = pragma::Choices::of(&stream, &words, diagnostics);
    let tree = parse::parse(&stream, &words, sources, diagnostics);
    let mut env = Env { dialect: options.dialect, ..Env::new(stream.version, stage, options.profile) };
    env.wave_size = wave_size.and_then(|(size, _)| size.lanes()).or(env.wave_size);
    let read = Read { tree: &tree, stream: &stream, words: &words, env };
    if diagnostics.has_errors() {
        if let Some(symbols) = symbols {
            read.record(symbols);
        }
        return None;
    }
    let mut module = read.resolve(diagnostics, symbols);
    fp_contract.map_or(options.fp_contract, |(choice, _)| choice).apply(&mut module);
    module.promise = wave_size;
    (!diagnostics.has_errors()).then_some(module)
}

/// A parsed shader.
struct Read<'a> {
    tree: &'a ast::Ast,
    stream: &'a TokenStream,
    words: &'a Interner,
    env: Env<'a>,
}

impl Read<'_> {
    fn resolve(self, diagnostics: &mut Diagnostics, symbols: Option<&mut Symbols>) -> Module {
        let Read { tree, stream, words, env } = self;
        let uses = symbols.map(|symbols| {
            symbols.declarations = symbols::declarations(tree);
            &mut symbols.uses
        });
        resolve(tree, stream, words, env, diagnostics, uses)
    }

    /// Records the names of a tree without the parts that could not be parsed. Messages from this are consequences of
    /// earlier errors.
    fn record(self, symbols: &mut Symbols) {
        let resolved = guard::caught_panic(|| {
            let mut symbols = Symbols::default();
            self.resolve(&mut Diagnostics::new(), Some(&mut symbols));
            symbols
        });
        *symbols = resolved.unwrap_or_default();
    }
}

/// Returns true if a text names a supported version of the language, such as `450core`.
pub fn is_version(text: &str) -> bool {
    dialect::version(text).is_some_and(preprocess::is_supported)
}

/// The stage that the options or `#pragma shader_stage(NAME)` name.
fn stage(stream: &TokenStream, words: &Interner, options: &GlslOptions, diagnostics: &mut Diagnostics) -> Stage {
    if let Some(stage) = options.stage {
        return stage;
    }
    let named =
        stream.pragmas.iter().find_map(|pragma| Some((pragma::shader_stage(words.text(pragma.text))?, pragma.span)));
    let stage = named.and_then(|(name, _)| Stage::named(name));
    let (message, span) = match named {
        Some((name, span)) => (format!("unknown shader stage `{name}`"), span),
        None => ("neither an option nor `#pragma shader_stage(…)` names the stage".to_string(), Span::NONE),
    };
    if stage.is_none() && (named.is_some() || options.dialect.needs_stage) {
        let stages = Stage::ALL.map(Stage::word).join(", ");
        let diagnostic = Diagnostic::error(Code::STAGE_UNKNOWN, message).at(span, "");
        diagnostics.push(diagnostic.note(format!("the stages are {stages}")));
    }
    stage.unwrap_or(Stage::Compute)
}

/// The first version of a language for features that always need an extension.
const NEVER: u16 = u16::MAX;

/// The first version of a language with a stage, and the first with it by extension.
struct Since {
    version: u16,
    earliest: u16,
    extensions: &'static [&'static str],
    /// Extensions alone describe the stage, in all versions.
    is_apart: bool,
}

impl Since {
    /// The extensions that a target has.
    fn of_target(&self, profile: &Profile) -> impl Iterator<Item = &'static grammar::Extension> {
        let target = profile.target;
        self.extensions.iter().filter_map(|name| grammar::extension(name)).filter(move |of| of.is_of(target))
    }
}

const fn since(version: u16, earliest: u16, extensions: &'static [&'static str]) -> Since {
    Since { version, earliest, extensions, is_apart: version == NEVER }
}

const GEOMETRY_ES: Since = since(320, 310, &["GL_EXT_geometry_shader", "GL_OES_geometry_shader"]);
const TESSELLATION: Since = since(400, 150, &["GL_ARB_tessellation_shader"]);
const TESSELLATION_ES: Since = since(320, 310, &["GL_EXT_tessellation_shader", "GL_OES_tessellation_shader"]);

const MESH_EXTENSIONS: [&str; 2] = ["GL_EXT_mesh_shader", "GL_NV_mesh_shader"];
const MESH: Since = since(NEVER, 450, &MESH_EXTENSIONS);
const MESH_ES: Since = since(NEVER, 320, &MESH_EXTENSIONS);

/// A ray tracing shader that uses no extension, such as an empty one, need not enable any.
const RAYS: Since =
    Since { version: 460, earliest: 460, extensions: &["GL_EXT_ray_tracing", "GL_NV_ray_tracing"], is_apart: true };
const RAYS_ES: Since = since(NEVER, NEVER, &[]);

/// The stages that not all versions of GLSL, and of GLSL ES, have.
const STAGES_SINCE: &[(Stage, Since, Since)] = &[
    (Stage::Compute, since(430, 420, &["GL_ARB_compute_shader"]), since(310, 310, &[])),
    (Stage::Geometry, since(150, 150, &[]), GEOMETRY_ES),
    (Stage::TessControl, TESSELLATION, TESSELLATION_ES),
    (Stage::TessEvaluation, TESSELLATION, TESSELLATION_ES),
    (Stage::Task, MESH, MESH_ES),
    (Stage::Mesh, MESH, MESH_ES),
    (Stage::RayGeneration, RAYS, RAYS_ES),
    (Stage::Intersection, RAYS, RAYS_ES),
    (Stage::AnyHit, RAYS, RAYS_ES),
    (Stage::ClosestHit, RAYS, RAYS_ES),
    (Stage::Miss, RAYS, RAYS_ES),
    (Stage::Callable, RAYS, RAYS_ES),
];

/// Returns true if a stage needs an extension that the profile's target, or the GLSL of its API, lacks.
fn is_foreign(stage: Stage, profile: &Profile) -> bool {
    let Some((_, since, _)) = STAGES_SINCE.iter().find(|(of, ..)| *of == stage) else { return false };
    since.is_apart && !since.of_target(profile).any(|extension| extension.is_for(profile.client))
}

/// The message about a stage that [`is_foreign`].
fn foreign_stage(stage: Stage, profile: &Profile) -> Diagnostic {
    let (name, row) = (stage.name(), profile.target.row());
    let of_stage = STAGES_SINCE.iter().find(|(of, ..)| *of == stage);
    if of_stage.is_some_and(|(_, since, _)| since.of_target(profile).next().is_some()) {
        let message = format!("GLSL for {} has no {name} shaders", profile.client.name());
        return Diagnostic::error(Code::NOT_SUPPORTED, message);
    }
    if row.has_no_more_stages {
        return Diagnostic::error(Code::NOT_SUPPORTED, format!("{} has no {name} shaders", row.language));
    }
    if !row.is_hardware {
        let message = cannot_write(&format!("{name} shaders"), row.language);
        return Diagnostic::error(Code::NOT_SUPPORTED, message);
    }
    let message = format!("{name} shaders are not supported on assembly targets and in the simulator yet");
    Diagnostic::error(Code::NOT_IN_KERNELS, message)
}

/// Reports a stage that the shader's version of the language does not have.
fn check_stage(stream: &TokenStream, words: &Interner, stage: Stage, diagnostics: &mut Diagnostics) {
    let version = &stream.version;
    let Some((_, core, es)) = STAGES_SINCE.iter().find(|(of, ..)| *of == stage) else { return };
    let is_es = version.profile == GlslProfile::Es;
    let (language, since) = if is_es { ("GLSL ES", es) } else { ("GLSL", core) };
    let mut uses = stream.extensions.iter().filter(|line| line.behavior != ExtensionBehavior::Disable);
    let mut is_brought = || uses.any(|line| since.extensions.contains(&words.text(line.name)));
    if version.number >= since.version || version.number >= since.earliest && is_brought() {
        return;
    }
    let message = format!("{language} {} has no {} shaders", version.number, stage.name());
    let label = match since.version {
        NEVER if since.extensions.is_empty() => "none has".into(),
        NEVER => "none has them without an extension".into(),
        version => format!("{version} and later have"),
    };
    let diagnostic = Diagnostic::error(Code::VERSION_UNSUPPORTED, message).at(version.span, label);
    diagnostics.push(match since.extensions {
        [] => diagnostic,
        names => diagnostic.note(format!("{} brings them to {}", names.join(" or "), since.earliest)),
    });
}

/// Reports a task or mesh shader that is of both extensions.
fn check_mesh_form(stream: &TokenStream, words: &Interner, stage: Stage, diagnostics: &mut Diagnostics) {
    let line_of = |name: &str| {
        let mut lines = stream.extensions.iter().filter(|line| line.behavior != ExtensionBehavior::Disable);
        lines.find(|line| words.text(line.name) == name)
    };
    if let (Stage::Task | Stage::Mesh, [Some(first), Some(second)]) = (stage, MESH_EXTENSIONS.map(line_of)) {
        let message = format!("a {} shader is of one of {}", stage.name(), MESH_EXTENSIONS.join(" and "));
        let (first, second) = (first.span.min(second.span), first.span.max(second.span));
        let diagnostic = Diagnostic::error(Code::BAD_DECLARATION, message).at(second, "the second one");
        diagnostics.push(diagnostic.with(first, "the first one"));
    }
}

/// Preprocesses a shader to text (`-E`).
pub fn preprocess_only(
    file: FileId,
    sources: &mut SourceMap,
    loader: &dyn Loader,
    options: &GlslOptions,
    diagnostics: &mut Diagnostics,
) -> String {
    let mut words = Interner::new();
    let dialects = ProfileDialects(options.profile);
    let settings = options.preprocessing(&dialects);
    preprocess::preprocess_to_text(file, sources, loader, &settings, &mut words, diagnostics)
}
