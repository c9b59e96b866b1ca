//! The debug information for a debugger: functions, scopes, variables and types as in the source
//! (NonSemantic.Shader.DebugInfo.100). Calls are not inlined here, so there is no inlining information.

use super::Emitter;
use super::debug::{Stretch, pieces};
use super::function::Body;
use super::words::Words;
use crate::backend::DebugInfo;
use crate::ir::layout::size_of;
use crate::ir::print::{scalar_name, type_name};
use crate::ir::{
    self, ArrayLen, Encoding, FuncId, Function, Global, LocalId, Scalar, ScalarKind, StructId, Type, TypeId, Value,
};
use crate::source::{SourceLanguage, Span};
use rspirv::spirv::{NonsemanticShaderDebuginfo100Op as Debug, Op, Word};
use rustc_hash::FxHashMap;

/// The version of the information, and of the DWARF version that it follows.
const VERSIONS: [u32; 2] = [1, 4];

/// Flags (section 4.2): a public function or member, a definition, a local variable.
const IS_PUBLIC: u32 = 3;
const IS_LOCAL: u32 = 1 << 2;
const IS_DEFINITION: u32 = 1 << 3;

/// Tags of composites.
const CLASS: u32 = 0;
const STRUCTURE: u32 = 1;

/// Encodings of basic types.
const ADDRESS: u32 = 1;

/// The items described so far; 0 for the others.
#[derive(Debug, Default)]
pub(super) struct Described {
    pub set: Word,
    /// The compilation unit and the first file's source.
    unit: Word,
    source: Word,
    none: Word,
    expression: Word,
    types: FxHashMap<TypeId, Word>,
    scalars: FxHashMap<Scalar, Word>,
    vectors: FxHashMap<(Scalar, u8), Word>,
    functions: FxHashMap<FuncId, Word>,
}

/// The scopes of the current function, outer ones first, and the parameters whose values are in variables.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    function: Word,
    blocks: Vec<(Span, Word)>,
    arguments: Vec<(LocalId, u32)>,
}

impl Emitter<'_> {
    fn describes(&self) -> bool {
        self.options.debug == DebugInfo::Full
    }

    fn set(&mut self) -> Word {
        if self.described.set == 0 {
            self.described.set = self.id();
            self.needs.extension("SPV_KHR_non_semantic_info");
        }
        self.described.set
    }

    /// An instruction of the set outside functions.
    fn describe(&mut self, op: Debug, operands: &[Word]) -> Word {
        let (void, id, set) = (self.void_type(), self.id(), self.set());
        write(&mut self.out.globals, [void, id, set, op as Word], operands);
        id
    }

    /// An instruction of the set in a function.
    fn note(&mut self, code: &mut Words, op: Debug, operands: &[Word]) {
        let (void, id, set) = (self.void_type(), self.id(), self.set());
        write(code, [void, id, set, op as Word], operands);
    }

    /// The source of a file; the first one creates the compilation unit.
    pub fn describe_source(&mut self, name: Word, text: &str) -> Word {
        let texts: Vec<Word> = pieces(text).into_iter().map(|piece| self.text(piece)).collect();
        let (first, more) = texts.split_at(texts.len().min(1));
        let source = self.describe(Debug::DebugSource, &[&[name], first].concat());
        for piece in more {
            self.describe(Debug::DebugSourceContinued, &[*piece]);
        }
        if self.described.unit == 0 {
            let ([version, dwarf], language) = (VERSIONS.map(|number| self.u32(number)), self.language().0);
            let language = self.u32(language);
            self.described.unit = self.describe(Debug::DebugCompilationUnit, &[version, dwarf, source, language]);
            self.described.source = source;
        }
        source
    }

    /// Source, line and column of a declaration.
    fn declared_at(&mut self, span: Span) -> [Word; 3] {
        match self.stretch(span) {
            Some(Stretch { source, lines, columns }) => [source, self.u32(lines[0]), self.u32(columns[0])],
            None => [self.described.source, self.u32(0), self.u32(0)],
        }
    }

    fn described_none(&mut self) -> Word {
        if self.described.none == 0 {
            self.described.none = self.describe(Debug::DebugInfoNone, &[]);
        }
        self.described.none
    }

    fn described_expression(&mut self) -> Word {
        if self.described.expression == 0 {
            self.described.expression = self.describe(Debug::DebugExpression, &[]);
        }
        self.described.expression
    }

    fn described_type(&mut self, ty: TypeId) -> Word {
        if let Some(known) = self.described.types.get(&ty) {
            return *known;
        }
        let module = self.module;
        let word = match module.types.get(ty) {
            Type::Void => self.void_type(),
            Type::Scalar(scalar) => self.described_scalar(scalar),
            Type::Vector { scalar, size } => self.described_vector(scalar, size),
            Type::Matrix { scalar, columns, rows, .. } => {
                let operands = [self.described_vector(scalar, rows), self.u32(columns.into()), self.bool(true)];
                self.describe(Debug::DebugTypeMatrix, &operands)
            }
            Type::Array { element, len, .. } => {
                let count = match len {
                    ArrayLen::Fixed(count) => count,
                    ArrayLen::Spec(id) => self.default_bits(id).unwrap_or(0) as u32,
                    ArrayLen::Runtime => 0,
                };
                let operands = [self.described_type(element), self.u32(count)];
                self.describe(Debug::DebugTypeArray, &operands)
            }
            Type::Struct(of) => self.described_struct(ty, of),
            Type::Pointer { pointee, .. } => self.described_type(pointee),
            // Structs may contain references to themselves, which cannot be described: a debugger sees the address.
            Type::BufferReference { pointee } => self.basic_type(&module.types.structs[pointee].name, 64, ADDRESS),
            _ => self.opaque_type(&type_name(&module.types, ty)),
        };
        self.described.types.insert(ty, word);
        word
    }

    fn described_scalar(&mut self, scalar: Scalar) -> Word {
        if let Some(known) = self.described.scalars.get(&scalar) {
            return *known;
        }
        let (name, encoding) = match (scalar.kind, self.sources.language) {
            (kind, SourceLanguage::Wgsl) => (scalar_name(scalar), encoding(kind)),
            (kind, _) => (glsl_name(scalar), encoding(kind)),
        };
        let bits = if scalar.is_bool() { 32 } else { scalar.width.into() };
        let word = self.basic_type(&name, bits, encoding);
        self.described.scalars.insert(scalar, word);
        word
    }

    fn basic_type(&mut self, name: &str, bits: u32, encoding: u32) -> Word {
        let operands = [self.text(name), self.u32(bits), self.u32(encoding), self.u32(0)];
        self.describe(Debug::DebugTypeBasic, &operands)
    }

    fn described_vector(&mut self, scalar: Scalar, size: u8) -> Word {
        if let Some(known) = self.described.vectors.get(&(scalar, size)) {
            return *known;
        }
        let operands = [self.described_scalar(scalar), self.u32(size.into())];
        let word = self.describe(Debug::DebugTypeVector, &operands);
        self.described.vectors.insert((scalar, size), word);
        word
    }

    /// A struct with its layout's offsets and sizes in bits; 0 without a layout.
    fn described_struct(&mut self, ty: TypeId, of: StructId) -> Word {
        let module = self.module;
        let item = &module.types.structs[of];
        let bits = |ty| 8 * size_of(&module.types, &module.constants, ty).unwrap_or(0);
        let mut members = Vec::with_capacity(item.members.len());
        for member in &item.members {
            let (name, ty) = (self.text(&member.name), self.described_type(member.ty));
            let [source, line, column] = self.declared_at(member.span);
            let (offset, size) = (8 * member.offset.unwrap_or(0), member.offset.map_or(0, |_| bits(member.ty)));
            let numbers = [offset, size, IS_PUBLIC].map(|number| self.u32(number));
            let operands = [&[name, ty, source, line, column], &numbers[..]].concat();
            members.push(self.describe(Debug::DebugTypeMember, &operands));
        }
        let is_laid_out = item.members.iter().all(|member| member.offset.is_some());
        let size = self.u32(if is_laid_out { bits(ty) } else { 0 });
        let name = self.text(&item.name);
        self.described_composite(name, STRUCTURE, item.span, (name, size), &members)
    }

    fn opaque_type(&mut self, name: &str) -> Word {
        let (linkage, size) = (self.text(&format!("@{name}")), self.described_none());
        let name = self.text(name);
        self.described_composite(name, CLASS, Span::NONE, (linkage, size), &[])
    }

    fn described_composite(
        &mut self,
        name: Word,
        tag: u32,
        span: Span,
        (linkage, size): (Word, Word),
        parts: &[Word],
    ) -> Word {
        let [source, line, column] = self.declared_at(span);
        let (tag, flags, unit) = (self.u32(tag), self.u32(IS_PUBLIC), self.described.unit);
        let head = [name, tag, source, line, column, unit, linkage, size, flags];
        self.describe(Debug::DebugTypeComposite, &[&head, parts].concat())
    }

    /// Describes a variable that the source declares.
    pub fn describe_global(&mut self, id: Word, global: &Global) {
        let is_written = !global.span.is_none() && self.sources.text(global.span).contains(&*global.name);
        if !self.describes() || !is_written {
            return;
        }
        let (name, ty) = (self.text(&global.name), self.described_type(global.ty));
        let [source, line, column] = self.declared_at(global.span);
        let (unit, flags) = (self.described.unit, self.u32(IS_DEFINITION));
        self.describe(Debug::DebugGlobalVariable, &[name, ty, source, line, column, unit, name, id, flags]);
    }

    fn described_function(&mut self, id: FuncId, f: &Function) -> Word {
        if let Some(known) = self.described.functions.get(&id) {
            return *known;
        }
        let flags = self.u32(IS_PUBLIC);
        let mut signature = vec![flags, self.described_type(f.ret)];
        signature.extend(f.params.iter().map(|param| self.described_type(param.ty)));
        let ty = self.describe(Debug::DebugTypeFunction, &signature);
        let name = self.text(&f.name);
        let [source, line, column] = self.declared_at(f.span);
        let operands = [name, ty, source, line, column, self.described.unit, name, flags, line];
        let word = self.describe(Debug::DebugFunction, &operands);
        self.described.functions.insert(id, word);
        word
    }

    pub fn write_scope(&mut self, code: &mut Words, scope: Word) {
        self.note(code, Debug::DebugScope, &[scope]);
    }

    pub fn write_line(&mut self, code: &mut Words, Stretch { source, lines, columns }: Stretch) {
        let ([first, last], [from, to]) = (lines.map(|line| self.u32(line)), columns.map(|column| self.u32(column)));
        self.note(code, Debug::DebugLine, &[source, first, last, from, to]);
    }
}

impl Body<'_, '_> {
    /// Describes the function of the next variables, with its parameters. A function without a source declaration
    /// belongs to the whole module.
    pub fn describe_function(&mut self, id: FuncId, word: Word) {
        self.debug_scopes = Scopes::default();
        if !self.m.describes() {
            return;
        }
        let f = self.f;
        let is_written = !f.span.is_none();
        let function = if is_written { self.m.described_function(id, f) } else { self.m.described.unit };
        self.debug_scopes = Scopes { function, blocks: Vec::new(), arguments: arguments(f) };
        self.m.write_scope(&mut self.intro, function);
        if let Some(stretch) = self.m.stretch(f.span) {
            self.m.write_line(&mut self.intro, stretch);
        }
        if is_written {
            self.m.note(&mut self.intro, Debug::DebugFunctionDefinition, &[function, word]);
        }
        self.describe_blocks();
        for (index, param) in f.params.iter().enumerate() {
            let number = index as u32;
            if param.name.is_empty() || self.debug_scopes.arguments.iter().any(|(_, of)| *of == number) {
                continue;
            }
            let value = self.value(Value::Param(number));
            let is_pointer = self.m.module.types.pointee(param.ty).is_some();
            let op = if is_pointer { Debug::DebugDeclare } else { Debug::DebugValue };
            self.declare((&param.name, param.ty, param.span, function), Some(number), (op, value));
        }
    }

    /// Describes the blocks that contain variable declarations.
    fn describe_blocks(&mut self) {
        let f = self.f;
        let mut spans: Vec<Span> = f.locals.iter().map(|(_, local)| local.scope).collect();
        spans.retain(|span| !span.is_none() && *span != f.span);
        spans.sort_unstable_by_key(|span| (span.lo, std::cmp::Reverse(span.hi)));
        spans.dedup();
        for span in spans {
            let around = self.scope_at(span.lo);
            let [source, line, column] = self.m.declared_at(span);
            let block = self.m.describe(Debug::DebugLexicalBlock, &[source, line, column, around]);
            self.debug_scopes.blocks.push((span, block));
        }
    }

    /// The innermost scope around a position; 0 without debug scopes.
    pub fn scope_at(&self, position: u32) -> Word {
        let Scopes { function, blocks, .. } = &self.debug_scopes;
        let around = blocks.iter().rfind(|(span, _)| (span.lo..span.hi).contains(&position));
        around.map_or(*function, |(_, block)| *block)
    }

    /// Describes a variable that the source declares.
    pub fn describe_local(&mut self, id: LocalId, word: Word) {
        let local = &self.f.locals[id];
        if !self.m.describes() || local.scope.is_none() {
            return;
        }
        let number = self.debug_scopes.arguments.iter().find(|(of, _)| *of == id).map(|(_, number)| *number);
        let scope = if local.scope == self.f.span { self.debug_scopes.function } else { self.scope_at(local.scope.lo) };
        self.declare((&local.name, local.ty, local.span, scope), number, (Debug::DebugDeclare, word));
    }

    fn declare(
        &mut self,
        (name, ty, span, scope): (&str, TypeId, Span, Word),
        argument: Option<u32>,
        (op, word): (Debug, Word),
    ) {
        let m = &mut *self.m;
        let [source, line, column] = m.declared_at(span);
        let mut operands = vec![m.text(name), m.described_type(ty), source, line, column, scope, m.u32(IS_LOCAL)];
        operands.extend(argument.map(|number| m.u32(number + 1)));
        let variable = m.describe(Debug::DebugLocalVariable, &operands);
        let expression = m.described_expression();
        if let Some(stretch) = m.stretch(span) {
            m.write_line(&mut self.intro, stretch);
        }
        m.note(&mut self.intro, op, &[variable, word, expression]);
    }
}

/// The variables that start as parameters, with the parameters' numbers.
fn arguments(f: &Function) -> Vec<(LocalId, u32)> {
    let stores = f.blocks[f.body].insts.iter().filter_map(|inst| match f.insts[*inst].op {
        ir::Op::Store { pointer: Value::Local(local), value: Value::Param(number) } => Some((local, number)),
        _ => None,
    });
    stores.filter(|(local, number)| f.locals[*local].name == f.params[*number as usize].name).collect()
}

fn write(code: &mut Words, head: [Word; 4], operands: &[Word]) {
    let start = code.begin(Op::ExtInst);
    code.extend(&head);
    code.extend(operands);
    code.end(start);
}

const fn encoding(kind: ScalarKind) -> u32 {
    match kind {
        ScalarKind::Bool => 2,
        ScalarKind::Float | ScalarKind::Encoded(_) => 3,
        ScalarKind::Sint => 4,
        ScalarKind::Uint => 6,
    }
}

fn glsl_name(scalar: Scalar) -> String {
    let plain = match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => "bool",
        (ScalarKind::Float, 32) => "float",
        (ScalarKind::Float, 64) => "double",
        (ScalarKind::Sint, 32) => "int",
        (ScalarKind::Uint, 32) => "uint",
        (ScalarKind::Float, width) => return format!("float{width}_t"),
        (ScalarKind::Encoded(Encoding::BFloat16), _) => "bfloat16_t",
        (ScalarKind::Encoded(encoding), _) => return format!("float{}_t", &encoding.name()[1..]),
        (ScalarKind::Sint, width) => return format!("int{width}_t"),
        (ScalarKind::Uint, width) => return format!("uint{width}_t"),
    };
    plain.to_string()
}
