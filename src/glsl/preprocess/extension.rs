//! `#extension` lines (GLSL 4.60 section 3.3): their form, and whether the extension is available.

use super::{Dialects, ExtensionInfo, Preprocessor};
use crate::diagnostic::nearest::nearest;
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::glsl::lex::{PpKind, PpToken};
use crate::glsl::token::{ExtensionBehavior, ExtensionUse, Punct, Symbol};
use crate::source::Span;

const INCLUDE_EXTENSIONS: [&str; 2] = ["GL_GOOGLE_include_directive", "GL_ARB_shading_language_include"];

const LINE_EXTENSION: &str = "GL_GOOGLE_cpp_style_line_directive";

/// Shaders with this extension emulate others, and define their macros.
const STAND_IN: &str = "GL_EXT_spirv_intrinsics";

const BEHAVIORS: &[(&str, ExtensionBehavior)] = &[
    ("require", ExtensionBehavior::Require),
    ("enable", ExtensionBehavior::Enable),
    ("warn", ExtensionBehavior::Warn),
    ("disable", ExtensionBehavior::Disable),
];

/// The extension with a name: one of the preprocessor's own or of the dialects.
pub(super) fn find(name: &str, dialects: &dyn Dialects) -> Option<ExtensionInfo> {
    let own = name == LINE_EXTENSION || INCLUDE_EXTENSIONS.contains(&name);
    if own { Some(ExtensionInfo { value: 1, unavailable: None }) } else { dialects.extension(name) }
}

impl Preprocessor<'_> {
    /// `#extension name : behavior`
    pub(super) fn extension(&mut self, at: Span) {
        let tokens = self.line_tokens();
        let [first, colon, behavior] = tokens[..] else { return self.malformed_extension(at, &tokens) };
        let PpKind::Word(name) = first.kind() else { return self.malformed_extension(at, &tokens) };
        let name_span = first.span;
        if !colon.is(Punct::Colon) {
            return self.malformed_extension(at, &tokens);
        }
        let Some(known) = self.behavior(behavior) else {
            return self.unknown_behavior(behavior);
        };
        let span = at.to(behavior.span);
        self.stands_in |= self.interner.text(name) == STAND_IN && known != ExtensionBehavior::Disable;
        self.keep_line(span);
        self.check_extension_place(at);
        let named = if self.interner.text(name) == "all" {
            self.check_all(known, behavior.span)
        } else {
            self.check_available(name, name_span, known)
        };
        if named {
            self.enable(name, known);
            let token = self.token_index();
            self.output.extensions.push(ExtensionUse { name, behavior: known, span, token });
        }
    }

    fn malformed_extension(&mut self, at: Span, tokens: &[PpToken]) {
        let span = tokens.last().map_or(at, |last| at.to(last.span));
        let error = Diagnostic::error(Code::BAD_DIRECTIVE, "malformed `#extension` line").at(span, "not understood");
        self.diagnostics.push(error.note("its form is `#extension NAME : require`, or `enable`, `warn`, `disable`"));
    }

    fn behavior(&self, token: PpToken) -> Option<ExtensionBehavior> {
        let text = token.kind().spelling(self.interner);
        BEHAVIORS.iter().find(|(known, _)| *known == text).map(|(_, behavior)| *behavior)
    }

    fn unknown_behavior(&mut self, token: PpToken) {
        let text = token.kind().spelling(self.interner);
        let message = format!("unknown extension behavior `{text}`");
        let mut error = Diagnostic::error(Code::EXTENSION_BEHAVIOR, message)
            .at(token.span, "must be `require`, `enable`, `warn` or `disable`");
        if let Some(near) = nearest(&text, BEHAVIORS.iter().map(|(known, _)| *known)) {
            error = error.suggest(token.span, near, format!("did you mean `{near}`?"));
        }
        self.diagnostics.push(error);
    }

    /// Both languages require this place, but shaders for other compilers do not always respect it.
    fn check_extension_place(&mut self, at: Span) {
        let late = self.token_index() > 0;
        if late && !std::mem::replace(&mut self.warned.late_extension, true) {
            let message = "an `#extension` line must come before the first declaration";
            self.warn(Code::EXTENSION_LATE, at, message, "too late", "move it up, below the `#version` line");
        }
    }

    /// `all` can only be set to `warn` or `disable`.
    fn check_all(&mut self, behavior: ExtensionBehavior, span: Span) -> bool {
        let fits = matches!(behavior, ExtensionBehavior::Warn | ExtensionBehavior::Disable);
        if !fits {
            let message = "`all` extensions cannot be required or enabled";
            self.error(Code::EXTENSION_BEHAVIOR, span, message, "only `warn` and `disable` fit `all`");
        }
        fits
    }

    fn check_available(&mut self, name: Symbol, span: Span, behavior: ExtensionBehavior) -> bool {
        let text = self.interner.text(name);
        let known = find(text, self.options.dialects);
        let is_misspelt = known.is_none();
        let (code, label) = match known {
            None => (Code::EXTENSION_UNKNOWN, "crosslane has no such extension".to_string()),
            Some(ExtensionInfo { unavailable: Some(reason), .. }) => (Code::PROFILE_LACKS, reason.into_owned()),
            Some(_) => return true,
        };
        // Build systems search compiler output for these words.
        let message = format!("extension not supported: {text}");
        let (severity, code) = match behavior {
            ExtensionBehavior::Require => (Severity::Error, code),
            _ => (Severity::Warning, Code::EXTENSION_IGNORED),
        };
        let mut diagnostic = Diagnostic::new(severity, code, message).at(span, label);
        if is_misspelt && let Some(near) = nearest(text, self.options.dialects.extension_names()) {
            diagnostic = diagnostic.suggest(span, near, format!("did you mean `{near}`?"));
        } else if severity == Severity::Warning {
            diagnostic = diagnostic.help("remove the line if nothing in the shader needs the extension");
        }
        self.diagnostics.push(diagnostic);
        false
    }

    /// Extensions of the preprocessor itself take effect at once.
    fn enable(&mut self, name: Symbol, behavior: ExtensionBehavior) {
        let text = self.interner.text(name);
        let on = behavior != ExtensionBehavior::Disable;
        if INCLUDE_EXTENSIONS.contains(&text) {
            self.includes = on;
        }
        if text == LINE_EXTENSION || INCLUDE_EXTENSIONS.contains(&text) {
            self.file_names = on;
        }
    }
}
