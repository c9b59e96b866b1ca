//! The `#version` line (GLSL 4.60 and GLSL ES 3.20, section 3.3 and 3.4): the supported versions, and the places where
//! it may be.

use super::{FALLBACK_VERSION, Preprocessor};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::lex::{PpKind, PpToken};
use crate::glsl::token::{GlslProfile, Version};
use crate::source::Span;

/// Version numbers, with true for GLSL ES.
#[rustfmt::skip]
const SUPPORTED: &[(u16, bool)] = &[
    (140, false), (150, false), (330, false), (400, false), (410, false), (420, false), (430, false), (440, false),
    (450, false), (460, false), (310, true), (320, true),
];

const SUPPORTED_TEXT: &str = "supported are 140 to 460 (compute shaders from 430 on), 310 es and 320 es";

const PROFILES: &[(&str, GlslProfile)] =
    &[("core", GlslProfile::Core), ("compatibility", GlslProfile::Compatibility), ("es", GlslProfile::Es)];

fn profile_name(profile: GlslProfile) -> &'static str {
    PROFILES.iter().find(|(_, known)| *known == profile).map_or("", |(name, _)| name)
}

/// Returns true if there is such a version of the language.
pub fn is_supported((number, profile): (u16, GlslProfile)) -> bool {
    SUPPORTED.contains(&(number, profile == GlslProfile::Es))
}

impl Preprocessor<'_> {
    /// Reads the `#version` line at the top of the main file; anything else stays unread.
    pub(super) fn read_version(&mut self) {
        let input = self.inputs.last_mut().expect("the main file is never left");
        let mark = input.lexer.mark();
        let hash = input.lexer.next(self.interner);
        let name = input.lexer.next_in_line(self.interner);
        let is_version =
            |token: &PpToken| matches!(token.kind(), PpKind::Word(w) if self.interner.text(w) == "version");
        match name.filter(|name| hash.kind() == PpKind::Hash && is_version(name)) {
            Some(name) => self.version(hash.span.to(name.span)),
            None => {
                input.lexer.reset(mark);
                self.version_missing(hash.span);
            }
        }
        self.force_version();
    }

    /// Applies the command line's version instead of the shader's.
    fn force_version(&mut self) {
        let Some((number, profile)) = self.options.forced_version else { return };
        let written = self.output.version;
        let differs = (written.number, written.profile) != (number, profile)
            || self.options.names_profile.is_some_and(|names| names != self.names_profile);
        if !written.span.is_none() && differs {
            let message = format!("the command line makes this version {number} ({})", profile_name(profile));
            let help = "leave the option out to keep the version that the shader names";
            self.warn(Code::VERSION_FORCED, written.span, message, "not obeyed", help);
        }
        self.output.version = Version { number, profile, ..written };
    }

    fn version_missing(&mut self, first: Span) {
        if self.options.forced_version.is_some() {
            self.output.version.span = Span::NONE;
            return;
        }
        if let Some(version) = self.options.default_version {
            self.output.version = version;
            return;
        }
        let start = Span::new(first.lo, first.lo);
        let error = Diagnostic::error(Code::VERSION_MISSING, "the shader has no `#version` line")
            .at(first, "`#version` must come before this")
            .note("without it a shader is GLSL 1.10, which has no compute shaders")
            .suggest(start, "#version 460\n", "begin with `#version 460`");
        self.diagnostics.push(error);
    }

    fn version(&mut self, at: Span) {
        let tokens = self.line_tokens();
        let span = tokens.last().map_or(at, |last| at.to(last.span));
        self.keep_line(span);
        self.names_profile = tokens.len() > 1;
        self.output.version = match self.parse_version(&tokens) {
            Some((number, profile)) => Version { number, profile, span },
            None => {
                let error = Diagnostic::error(Code::VERSION_UNSUPPORTED, "this version of GLSL is not supported");
                self.diagnostics.push(error.at(span, "unknown here").note(SUPPORTED_TEXT));
                Version { span, ..FALLBACK_VERSION }
            }
        };
        self.check_es_version_place(at);
    }

    fn parse_version(&self, tokens: &[PpToken]) -> Option<(u16, GlslProfile)> {
        let (number, profile) = match tokens {
            [number] => (number, GlslProfile::Core),
            [number, profile] => (number, self.profile(profile)?),
            _ => return None,
        };
        let PpKind::Number(number) = number.kind() else { return None };
        let number = self.interner.text(number).parse().ok()?;
        SUPPORTED.contains(&(number, profile == GlslProfile::Es)).then_some((number, profile))
    }

    fn profile(&self, token: &PpToken) -> Option<GlslProfile> {
        let PpKind::Word(name) = token.kind() else { return None };
        let name = self.interner.text(name);
        PROFILES.iter().find(|(known, _)| *known == name).map(|(_, profile)| *profile)
    }

    /// GLSL ES 3.20 section 3.4: not even comments or empty lines may be before it.
    fn check_es_version_place(&mut self, at: Span) {
        let file = self.sources.file(self.inputs[0].file);
        let start = file.base + if file.text.starts_with('\u{feff}') { 3 } else { 0 };
        let before = file.text.get(..(at.lo - file.base) as usize).unwrap_or_default();
        if self.is_es() && at.lo != start && before.contains(['\n', '\r', '/']) {
            let message = "in GLSL ES the `#version` line must be the first line";
            self.error(Code::VERSION_PLACE, at, message, "only spaces may come before it");
        }
    }

    /// A `#version` line anywhere but at the top.
    pub(super) fn late_version(&mut self, at: Span) {
        self.skip_line();
        let mut error = Diagnostic::error(Code::VERSION_PLACE, "`#version` must come before everything else")
            .at(at, "only comments and white space may come before it");
        if !self.output.version.span.is_none() {
            error = error.with(self.output.version.span, "the first `#version` line");
        }
        self.diagnostics.push(error);
    }
}
