//! The WGSL front end: text in, `ir` out.
//!
//! naga parses and validates. Before it, a pass over the tokens takes out what naga does not know (`enable` lines,
//! crosslane's built-ins) in a way that every message still points into the user's text; after it, the module is
//! translated. Mesh and ray tracing stages are refused with their place.

mod builtin;
mod carrier;
mod defines;
mod endless;
mod inferred;
mod language;
mod lexer;
mod limits;
mod offsets;
mod prepass;
mod read;
mod suggest;
mod symbols;
mod translate;
mod uses;
mod wide;
mod words;

#[cfg(test)]
mod tests;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::guard;
use crate::ir;
use crate::profile::Target;
use crate::source::{FileId, SourceMap, Span};
use crate::symbols::Symbols;
use carrier::Carriers;
use inferred::Inferred;
use lexer::Token;
use serde::Deserialize;

/// Texts longer than this are refused: naga's and our positions and times stay in bounds.
const SIZE_LIMIT: usize = 64 << 20;

/// The options of a compilation besides the text.
#[derive(Clone, Copy, Debug)]
pub struct WgslOptions<'a> {
    /// Name of the entry point; none takes all of them.
    pub entry: Option<&'a str>,
    /// The stage of the entry points; none selects all stages.
    pub stage: Option<ir::Stage>,
    /// Names and values of `-D`.
    pub defines: &'a [(String, String)],
    /// Lanes of a subgroup where the profile fixes them.
    pub wave_size: Option<u32>,
    /// The kind of code that is made; the text sees it as `CROSSLANE_TARGET_…`.
    pub target: Target,
    pub bounds_checks: BoundsChecks,
}

/// The effect of an index that is out of range on an access, and on a texel that is read there.
///
/// WGSL (14.3) lets a read give any element of the same variable, or zero, and a write go to any of them, or nowhere: both
/// kinds of checks do that. Without checks such an access is undefined, except what a device promises of buffers and
/// textures.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BoundsChecks {
    /// None are made.
    #[default]
    Unchecked,
    /// The index is clamped to the last element.
    Restrict,
    /// A read gives zero, a write does nothing.
    Zero,
}

impl BoundsChecks {
    pub const ALL: [BoundsChecks; 3] = [BoundsChecks::Unchecked, BoundsChecks::Restrict, BoundsChecks::Zero];

    /// The name in command lines and manifests.
    pub const fn word(self) -> &'static str {
        match self {
            BoundsChecks::Unchecked => "unchecked",
            BoundsChecks::Restrict => "restrict",
            BoundsChecks::Zero => "zero",
        }
    }
}

impl Default for WgslOptions<'_> {
    fn default() -> Self {
        WgslOptions {
            entry: None,
            stage: None,
            defines: &[],
            wave_size: None,
            target: Target::Spirv,
            bounds_checks: BoundsChecks::default(),
        }
    }
}

/// Compiles the WGSL text of `file`. None means that `diagnostics` has errors. Its names are recorded where they are wanted,
/// in a wrong text too.
pub fn compile(
    file: FileId,
    sources: &SourceMap,
    options: &WgslOptions<'_>,
    diagnostics: &mut Diagnostics,
    symbols: Option<&mut Symbols>,
) -> Option<ir::Module> {
    let (source, base) = (&*sources.file(file).text, sources.file(file).base);
    if source.len() > SIZE_LIMIT {
        diagnostics.push(Diagnostic::error(Code::TOO_LARGE, "the text is larger than 64 MiB"));
        return None;
    }
    let tokens = lexer::tokens(source);
    limits::count(&tokens);
    let depth = match limits::measure(source, &tokens) {
        Ok(depth) => depth,
        Err(deep) => {
            let span = Span::new(base + deep.at.lo, base + deep.at.hi);
            diagnostics.push(Diagnostic::error(Code::TOO_DEEP, deep.what).at(span, "the limit is passed here"));
            symbols.into_iter().for_each(|symbols| *symbols = symbols::symbols(source, base, &tokens, &[]));
            return None;
        }
    };
    let text = Text { source, base, tokens: &tokens };
    let mut types = symbols.is_some().then(Vec::new);
    let module = match depth.needs_stack(source.len()) {
        false => text.compile(options, diagnostics, types.as_mut()),
        true => {
            let done = guard::on_large_stack(limits::STACK, || text.compile(options, diagnostics, types.as_mut()));
            done.unwrap_or_else(|reason| {
                let message = format!("the module cannot be read on a thread of its own: {reason}");
                diagnostics.push(Diagnostic::error(Code::INTERNAL, message));
                None
            })
        }
    };
    if let Some(symbols) = symbols {
        *symbols = symbols::symbols(source, base, &tokens, &types.unwrap_or_default());
    }
    module
}

/// A text that is safe to read.
#[derive(Clone, Copy)]
struct Text<'a> {
    source: &'a str,
    base: u32,
    tokens: &'a [Token],
}

impl Text<'_> {
    fn compile(
        self,
        options: &WgslOptions<'_>,
        diagnostics: &mut Diagnostics,
        types: Option<&mut Vec<Inferred>>,
    ) -> Option<ir::Module> {
        let errors = diagnostics.error_count();
        let mut prepared = prepass::prepare(self.source, self.base, self.tokens, diagnostics);
        let text = defines::Text { source: self.source, base: self.base, tokens: self.tokens };
        let constants = defines::constants(text, prepared.crosslane, options, diagnostics);
        if diagnostics.error_count() > errors {
            return None;
        }
        let mut edits = std::mem::take(&mut prepared.edits);
        edits.retain(|edit| !constants.edits.iter().any(|new| new.lo <= edit.lo && edit.hi <= new.hi));
        edits.extend(constants.edits);
        let (mut text, offsets) = offsets::apply(self.source, self.base, edits);
        text += &prepared.tail;
        text += &constants.tail;
        match self.translate((&text, &offsets), prepared, options, diagnostics, types) {
            Ok(module) => Some(module),
            Err(errors) => {
                errors.into_iter().for_each(|error| diagnostics.push(error));
                None
            }
        }
    }

    fn translate(
        self,
        (text, offsets): (&str, &offsets::Offsets),
        prepared: prepass::Prepared,
        options: &WgslOptions<'_>,
        diagnostics: &mut Diagnostics,
        types: Option<&mut Vec<Inferred>>,
    ) -> Result<ir::Module, Vec<Diagnostic>> {
        let mut module = read::parse(text, offsets)?;
        endless::give_values(&mut module);
        let carriers = Carriers::find(&mut module, prepared.sites, &prepared.prefix, prepared.native);
        let checks = read::Checks { carriers: &carriers, text, offsets, standard_layout: prepared.standard_layout };
        let info = read::validate(&mut module, checks)?;
        types.into_iter().for_each(|types| *types = inferred::inferred(&module, &info, offsets));
        let entries = choose_entries(&module, options).map_err(|error| vec![*error])?;
        let WgslOptions { wave_size, bounds_checks, .. } = *options;
        let (naga, info, carriers) = (&module, &info, &carriers);
        let input = translate::Input { naga, info, carriers, offsets, wave_size, bounds_checks };
        let mut warnings = Vec::new();
        let out = translate::translate(input, &entries, &mut warnings)?;
        warnings.into_iter().for_each(|warning| diagnostics.push(warning));
        Ok(out)
    }
}

/// The entry point that is named, or all of the stage. A module that has none at all is a library.
fn choose_entries(module: &naga::Module, options: &WgslOptions<'_>) -> Result<Vec<usize>, Box<Diagnostic>> {
    let is_meant = |entry: &naga::EntryPoint| match (options.entry, options.stage) {
        (Some(name), _) => entry.name == name,
        (None, Some(stage)) => stage_of(stage) == Some(entry.stage),
        (None, None) => true,
    };
    let entries = module.entry_points.iter().enumerate();
    let chosen: Vec<usize> = entries.filter(|(_, entry)| is_meant(entry)).map(|(index, _)| index).collect();
    if chosen.is_empty() && (options.entry.is_some() || !module.entry_points.is_empty()) {
        return Err(Box::new(no_entry(module, options)));
    }
    Ok(chosen)
}

/// The stage by naga's name, if WGSL has it.
const fn stage_of(stage: ir::Stage) -> Option<naga::ShaderStage> {
    Some(match stage {
        ir::Stage::Vertex => naga::ShaderStage::Vertex,
        ir::Stage::Fragment => naga::ShaderStage::Fragment,
        ir::Stage::Compute => naga::ShaderStage::Compute,
        _ => return None,
    })
}

fn no_entry(module: &naga::Module, options: &WgslOptions<'_>) -> Diagnostic {
    let message = match (options.entry, options.stage) {
        (Some(name), _) => format!("the module has no entry point `{name}`"),
        (None, Some(stage)) => format!("the module has no {} entry point", stage.name()),
        (None, None) => "the module has no entry point".into(),
    };
    let names: Vec<&str> = module.entry_points.iter().map(|entry| entry.name.as_str()).collect();
    let error = Diagnostic::error(Code::ENTRY_POINT, message);
    if names.is_empty() { error } else { error.note(format!("its entry points are `{}`", names.join("`, `"))) }
}
