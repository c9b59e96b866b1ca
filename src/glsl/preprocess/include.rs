//! `#include` (GL_GOOGLE_include_directive): finds the file through the loader and limits the nesting of includes.

use super::Preprocessor;
use super::input::Input;
use crate::diagnostic::{Code, Diagnostic};
use crate::limits::Limits;
use crate::source::{IncludeKind, LoadError, Loaded, Span};

impl Preprocessor<'_> {
    /// `#include "name"` or `#include <name>`
    pub(super) fn include(&mut self, at: Span) {
        let header = self.input().lexer.header_name().map(|(kind, name, span)| (kind, name.to_string(), span));
        let Some((kind, name, span)) = header else {
            self.skip_line();
            let label = "`\"file\"` or `<file>` must follow";
            return self.error(Code::BAD_DIRECTIVE, at, "`#include` needs the name of a file", label);
        };
        self.expect_line_end();
        self.check_includes_allowed(at);
        let from = self.sources.file(self.inputs[self.inputs.len() - 1].file).name.clone();
        match self.loader.load(&name, kind, &from) {
            Ok(loaded) => self.enter_file(loaded, at.to(span)),
            Err(reason) => self.include_failed(&name, kind, reason, span),
        }
    }

    /// Warns once. Other compilers accept includes without the line, and much code relies on that.
    fn check_includes_allowed(&mut self, at: Span) {
        if self.includes {
            return;
        }
        self.includes = true;
        let line = "#extension GL_GOOGLE_include_directive : require";
        let place = self.after_version();
        let warning = Diagnostic::warning(Code::INCLUDE_IMPLIED, "`#include` without the extension that allows it")
            .at(at, "not enabled")
            .suggest(place, format!("{line}\n"), format!("add `{line}` below the `#version` line"));
        self.diagnostics.push(warning);
    }

    /// The empty span at the start of the line after `#version`.
    fn after_version(&self) -> Span {
        let file = self.sources.file(self.inputs[0].file);
        let end = self.output.version.span.hi.saturating_sub(file.base) as usize;
        let rest = file.text.get(end..).unwrap_or_default();
        let line = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
        let place = file.base + if self.output.version.span.is_none() { 0 } else { (end + line) as u32 };
        Span::new(place, place)
    }

    fn include_failed(&mut self, name: &str, kind: IncludeKind, reason: LoadError, span: Span) {
        let mut error = Diagnostic::error(Code::INCLUDE_FAILED, format!("cannot include `{name}`"));
        error = match reason {
            LoadError::Unreadable(why) => error.at(span, why),
            LoadError::NotFound(places) => {
                let error = error.at(span, "not found");
                if places.is_empty() { error } else { error.note(format!("looked for {}", places.join(", "))) }
            }
        };
        if kind == IncludeKind::Angled {
            error = error.note("`<…>` looks in the include directories only, `\"…\"` beside the including file first");
        }
        self.diagnostics.push(error);
    }

    fn enter_file(&mut self, loaded: Loaded, at: Span) {
        if self.once.contains(&loaded.name) {
            return;
        }
        if self.is_cycle(&loaded.name) {
            let chain = self.chain(&loaded.name);
            let message = format!("`{}` includes itself", loaded.name);
            let error = Diagnostic::error(Code::INCLUDE_CYCLE, message).at(at, "makes the cycle");
            return self.diagnostics.push(error.note(format!("{chain} → {}", loaded.name)));
        }
        let Limits { include_depth, includes, .. } = self.options.limits;
        if self.inputs.len() >= include_depth {
            let message = format!("files include each other more than {include_depth} deep");
            return self.error(Code::INCLUDE_CYCLE, at, message, "too deep");
        }
        if self.included >= includes {
            if self.included == includes {
                self.error(Code::INCLUDE_LIMIT, at, format!("more than {includes} files are included"), "one too many");
            }
            self.included = includes + 1;
            return;
        }
        self.included += 1;
        match self.sources.add(loaded.name, loaded.text) {
            Ok(file) => self.inputs.push(Input::included(file, self.sources, self.conditionals.len())),
            Err(_) => self.error(Code::TOO_LARGE, at, "the shader and what it includes is too large", "no room"),
        }
    }

    /// Returns true if an open file would be read again. A file whose guard is already defined expands to nothing and
    /// is not a cycle.
    fn is_cycle(&self, name: &str) -> bool {
        let mut open = self.inputs.iter().filter(|input| *self.sources.file(input.file).name == *name);
        open.any(|input| input.guard.is_none_or(|guard| !self.macros.is_user_defined(guard)))
    }

    /// The open files from `name` on.
    fn chain(&self, name: &str) -> String {
        let names = self.inputs.iter().map(|input| &*self.sources.file(input.file).name);
        names.skip_while(|open| *open != name).collect::<Vec<_>>().join(" → ")
    }
}
