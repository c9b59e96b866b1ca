//! Names and line numbers, with `-g` only: `OpName`, `OpMemberName`, `OpString`, `OpSource`, `OpLine` (SPIR-V 1.6 section 3.49.2).

use super::Emitter;
use super::words::clip;
use crate::ir::{Name, Struct};
use crate::source::Span;
use rspirv::spirv::{Op, SourceLanguage, Word};
use std::sync::Arc;

/// Source files named so far.
#[derive(Debug, Default)]
pub(super) struct Files {
    known: Vec<(Arc<str>, Word)>,
}

impl Emitter<'_> {
    pub fn name(&mut self, id: Word, name: &Name) {
        if self.options.debug && !name.is_empty() {
            self.write_name(id, name);
        }
    }

    fn write_name(&mut self, id: Word, name: &str) {
        let start = self.out.names.begin(Op::Name);
        self.out.names.push(id);
        self.out.names.string(clip(name, 2));
        self.out.names.end(start);
    }

    pub fn name_struct(&mut self, id: Word, item: &Struct) {
        self.name(id, &item.name);
        if !self.options.debug {
            return;
        }
        for (index, member) in item.members.iter().enumerate() {
            let start = self.out.names.begin(Op::MemberName);
            self.out.names.extend(&[id, index as Word]);
            self.out.names.string(clip(&member.name, 3));
            self.out.names.end(start);
        }
    }

    pub fn name_spec(&mut self, id: Word, number: u32) {
        let module = self.module;
        if let Some((_, name)) = module.spec_names.iter().find(|(of, _)| *of == number) {
            self.name(id, name);
        }
    }

    /// File, line and column of a span as operands of `OpLine`.
    pub fn line(&mut self, span: Span) -> Option<[Word; 3]> {
        if span.is_none() {
            return None;
        }
        let at = self.sources.locate(span.lo)?;
        Some([self.file(&at.file), at.line, at.column])
    }

    fn file(&mut self, name: &Arc<str>) -> Word {
        if let Some((_, id)) = self.files.known.iter().find(|(known, _)| known == name) {
            return *id;
        }
        let id = self.id();
        let strings = &mut self.out.strings;
        let start = strings.begin(Op::String);
        strings.push(id);
        strings.string(clip(name, 2));
        strings.end(start);
        strings.op(Op::Source, &[SourceLanguage::Unknown as Word, 0, id]);
        self.files.known.push((name.clone(), id));
        id
    }
}
