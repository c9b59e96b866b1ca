//! GL_EXT_spirv_intrinsics: instructions, types, decorations and execution modes of SPIR-V by number.
//!
//! Decorations are accepted on variables and blocks at global scope, but not on members, parameters and variables of
//! functions; storage classes by number are not accepted.

use super::Sema;
use super::calls::Given;
use super::expressions::Lowered;
use super::functions::{Mode, Parameters};
use super::lvalue::LValue;
use super::memory;
use super::scope::Entity;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, ExprId, ExprKind, List, Qualifier, QualifierKind, SpirvArg, SpirvValue, SpirvWord};
use crate::ir::build::Builder;
use crate::ir::{
    self, ForeignDecoration, ForeignInstruction, ForeignMode, ForeignOperand, ForeignType, GlobalId, OperandKind,
    Passing, Requirements, Scalar, TypeId, Types, Value,
};
use crate::profile::Feature;
use crate::source::Span;
use smallvec::SmallVec;

const EXTENSION: &str = "GL_EXT_spirv_intrinsics";

/// Largest opcode; the upper half of an instruction's first word is its number of words (SPIR-V 1.6 section 2.3).
const LAST_OPCODE: u32 = u16::MAX as u32;

/// The arguments between the parentheses, by their keys.
#[derive(Default)]
struct Args {
    requires: Requirements,
    set: Option<ir::Name>,
    id: Option<u32>,
    /// The arguments without a key.
    rest: SmallVec<[SpirvArg; 4]>,
}

/// The kind of operands of a qualifier after its number.
const fn operand_kind(word: SpirvWord) -> Option<OperandKind> {
    match word {
        SpirvWord::Decorate | SpirvWord::ExecutionMode => Some(OperandKind::Literals),
        SpirvWord::DecorateId | SpirvWord::ExecutionModeId => Some(OperandKind::Ids),
        SpirvWord::DecorateString => Some(OperandKind::Texts),
        _ => None,
    }
}

const fn is_decoration(word: SpirvWord) -> bool {
    matches!(word, SpirvWord::Decorate | SpirvWord::DecorateId | SpirvWord::DecorateString)
}

impl Sema<'_> {
    /// Checks that the extension is enabled. If it is not because of the target, the message says so.
    pub fn need_spirv(&mut self, span: Span) -> Option<()> {
        if self.env.is_enabled(EXTENSION) {
            return Some(());
        }
        if self.env.profile.has(Feature::SpirvIntrinsics) {
            self.needs_extension("constructs with numbers of SPIR-V need", EXTENSION, span);
            return None;
        }
        let message = format!("the profile {} has nothing that SPIR-V's numbers name", self.env.profile.name);
        self.report(Diagnostic::error(Code::PROFILE_LACKS, message).at(span, "used here"));
        None
    }

    /// Checks the conditions that a qualifier of the extension has everywhere.
    pub fn check_spirv_qualifier(&mut self, word: SpirvWord, span: Span) {
        if self.need_spirv(span).is_some() && word == SpirvWord::StorageClass {
            self.unsupported(span, "storage classes by number are");
        }
    }

    /// Reports decorations by number where they are not accepted.
    pub fn refuse_decorations(&mut self, list: List<Qualifier>) {
        let found = self.spirv_qualifiers(list).find(|(word, ..)| is_decoration(*word));
        if let Some((_, _, span)) = found {
            self.unsupported(span, "decorations by number are for variables and blocks at global scope, others are");
        }
    }

    fn spirv_qualifiers(&self, list: List<Qualifier>) -> impl Iterator<Item = (SpirvWord, List<SpirvArg>, Span)> {
        let ast = self.ast;
        ast[list].iter().filter_map(|qualifier| match qualifier.kind {
            QualifierKind::Spirv(word, args) => Some((word, args, qualifier.span)),
            _ => None,
        })
    }

    /// Returns true if a declaration has decorations by number, which may define its role in the pipeline.
    pub fn says_decoration(&self, list: List<Qualifier>) -> bool {
        self.spirv_qualifiers(list).any(|(word, ..)| is_decoration(word))
    }

    /// `spirv_type(id = 22, 16)`
    pub fn spirv_type(&mut self, b: &mut Builder<'_>, args: List<SpirvArg>, span: Span) -> Option<TypeId> {
        self.need_spirv(span)?;
        let args = self.spirv_args(b, args)?;
        let opcode = self.opcode(&args, span)?;
        let mut operands = Vec::new();
        for arg in &args.rest {
            self.type_operand(b, arg, &mut operands)?;
        }
        Some(b.foreign_type(ForeignType { opcode, operands, requires: args.requires }))
    }

    fn opcode(&mut self, args: &Args, span: Span) -> Option<u32> {
        match args.id {
            Some(id) if id <= LAST_OPCODE => return Some(id),
            Some(id) => self.error(Code::BAD_DECLARATION, span, format!("no opcode is {id}"), "more than 65535"),
            None => self.error(Code::BAD_DECLARATION, span, "an `id` is needed: the number of an opcode", "no `id`"),
        }
        None
    }

    fn spirv_args(&mut self, b: &mut Builder<'_>, list: List<SpirvArg>) -> Option<Args> {
        let ast = self.ast;
        let mut args = Args::default();
        for arg in &ast[list] {
            let Some(key) = arg.key else {
                args.rest.push(*arg);
                continue;
            };
            match (self.text(key.symbol), arg.value) {
                ("extensions", SpirvValue::List(list)) => {
                    for item in &ast[list] {
                        args.requires.extensions.push(self.spirv_text(*item)?);
                    }
                }
                ("capabilities", SpirvValue::List(list)) => {
                    for item in &ast[list] {
                        args.requires.capabilities.push(self.spirv_number(b, *item)?);
                    }
                }
                ("set", SpirvValue::Expr(value)) => args.set = Some(self.spirv_text(value)?),
                ("id", SpirvValue::Expr(value)) => args.id = Some(self.spirv_number(b, value)?),
                _ => {
                    let message = "the keys are `extensions = […]`, `capabilities = […]`, `set = \"…\"` and `id = N`";
                    self.error(Code::BAD_DECLARATION, arg.span, message, "another key or value");
                    return None;
                }
            }
        }
        Some(args)
    }

    fn spirv_text(&mut self, expr: ExprId) -> Option<ir::Name> {
        if let ExprKind::String(text) = self.ast[expr].kind {
            return Some(self.text(text).into());
        }
        self.error(
            Code::BAD_DECLARATION,
            self.ast[expr].span,
            "a string literal is needed here",
            "not a string literal",
        );
        None
    }

    fn spirv_number(&mut self, b: &mut Builder<'_>, expr: ExprId) -> Option<u32> {
        let number = self.constant_int(b, expr, "a number of SPIR-V")?;
        let fits = u32::try_from(number).ok();
        if fits.is_none() {
            let message = format!("no number of SPIR-V is {number}");
            self.error(Code::BAD_DECLARATION, self.ast[expr].span, message, "out of range");
        }
        fits
    }

    /// A type parameter: a type, a literal as words, or another constant as an id.
    fn type_operand(&mut self, b: &mut Builder<'_>, arg: &SpirvArg, into: &mut Vec<ForeignOperand>) -> Option<()> {
        let expr = match arg.value {
            SpirvValue::Type(ty) => {
                into.push(ForeignOperand::Type(self.type_spec(b, ty)?));
                return Some(());
            }
            SpirvValue::List(_) => return self.no_operand(arg.span),
            SpirvValue::Expr(expr) => expr,
        };
        match self.ast[expr].kind {
            ExprKind::Name(symbol) if self.scopes.names_type(symbol) => {
                let name = ast::Name { symbol, span: arg.span };
                into.push(ForeignOperand::Type(self.named_type(b, name)?));
                Some(())
            }
            ExprKind::Literal(_) | ExprKind::Bool(_) | ExprKind::String(_) => {
                self.operand(b, arg, OperandKind::Literals, into)
            }
            _ => self.operand(b, arg, OperandKind::Ids, into),
        }
    }

    fn no_operand(&mut self, span: Span) -> Option<()> {
        self.error(Code::BAD_DECLARATION, span, "an operand is a number, a text, a constant or a variable", "another");
        None
    }

    fn operand(
        &mut self,
        b: &mut Builder<'_>,
        arg: &SpirvArg,
        kind: OperandKind,
        into: &mut Vec<ForeignOperand>,
    ) -> Option<()> {
        let SpirvValue::Expr(expr) = arg.value else { return self.no_operand(arg.span) };
        match (kind, self.ast[expr].kind) {
            (OperandKind::Texts, _) | (OperandKind::Literals, ExprKind::String(_)) => {
                into.push(ForeignOperand::Text(self.spirv_text(expr)?));
            }
            (OperandKind::Ids, ExprKind::Name(symbol)) if self.variable(symbol).is_some() => {
                into.extend(self.variable(symbol).map(ForeignOperand::Variable));
            }
            (OperandKind::Ids, _) => into.push(ForeignOperand::Constant(self.constant(b, expr, "an operand")?)),
            (OperandKind::Literals, _) => self.literal_operand(b, expr, into)?,
        }
        Some(())
    }

    /// The variable with a name.
    fn variable(&self, symbol: crate::glsl::token::Symbol) -> Option<GlobalId> {
        match self.scopes.get(symbol).map(|declared| &declared.entity) {
            Some(Entity::LValue(LValue { root: Value::Global(id), path, swizzle: None, .. })) if path.is_empty() => {
                Some(*id)
            }
            _ => None,
        }
    }

    /// A number as words with its bits.
    fn literal_operand(&mut self, b: &mut Builder<'_>, expr: ExprId, into: &mut Vec<ForeignOperand>) -> Option<()> {
        let id = self.constant(b, expr, "a literal operand")?;
        let scalar = b.module.types.scalar_of(b.module.constants.get(id).ty);
        let (Some(bits), Some(scalar)) = (b.module.constants.bits(id), scalar) else {
            let span = self.ast[expr].span;
            self.error(Code::NOT_CONSTANT, span, "a literal operand must be known at compile time", "not a number");
            return None;
        };
        into.push(ForeignOperand::Word(bits as u32));
        if scalar.width == 64 {
            into.push(ForeignOperand::Word((bits >> 32) as u32));
        }
        Some(())
    }

    /// The number and the operands of a decoration or an execution mode.
    fn numbered(
        &mut self,
        b: &mut Builder<'_>,
        args: List<SpirvArg>,
        kind: OperandKind,
        span: Span,
    ) -> Option<(u32, Vec<ForeignOperand>, Requirements)> {
        let Args { requires, rest, .. } = self.spirv_args(b, args)?;
        let Some((SpirvArg { value: SpirvValue::Expr(number), .. }, rest)) = rest.split_first() else {
            self.error(Code::BAD_DECLARATION, span, "a number is needed here", "no number");
            return None;
        };
        let number = self.spirv_number(b, *number)?;
        let mut operands = Vec::new();
        for arg in rest {
            self.operand(b, arg, kind, &mut operands)?;
        }
        Some((number, operands, requires))
    }

    /// The decorations by number of a variable's declaration.
    pub fn decorate(&mut self, b: &mut Builder<'_>, list: List<Qualifier>, variable: GlobalId) {
        let found: SmallVec<[_; 2]> = self.spirv_qualifiers(list).filter(|(word, ..)| is_decoration(*word)).collect();
        for (word, args, span) in found {
            let Some(kind) = operand_kind(word) else { continue };
            if let Some((number, operands, requires)) = self.numbered(b, args, kind, span) {
                let decoration = ForeignDecoration { variable, number, kind, operands, requires };
                b.module.foreign.decorations.push(decoration);
            }
        }
    }

    /// `spirv_execution_mode(5027);`
    pub fn execution_modes(&mut self, b: &mut Builder<'_>, list: List<Qualifier>) {
        let found: SmallVec<[_; 2]> = self.spirv_qualifiers(list).collect();
        for (word, args, span) in found {
            let is_mode = matches!(word, SpirvWord::ExecutionMode | SpirvWord::ExecutionModeId);
            let Some(kind) = operand_kind(word).filter(|_| is_mode) else {
                self.error(Code::BAD_QUALIFIER, span, "this belongs to a variable or a function", "nothing follows");
                continue;
            };
            if let Some((number, operands, requires)) = self.numbered(b, args, kind, span) {
                b.module.foreign.modes.push(ForeignMode { number, kind, operands, requires });
            }
        }
    }

    /// `spirv_instruction(…)` among the qualifiers of a function.
    pub fn instruction_qualifier(&self, list: List<Qualifier>) -> Option<(List<SpirvArg>, Span)> {
        let mut found = self.spirv_qualifiers(list).filter(|(word, ..)| *word == SpirvWord::Instruction);
        found.next().map(|(_, args, span)| (args, span))
    }

    /// The instruction that a prototype declares, by its index in the module.
    pub fn declare_instruction(
        &mut self,
        b: &mut Builder<'_>,
        (args, span): (List<SpirvArg>, Span),
        params: &Parameters,
    ) -> Option<u32> {
        let args = self.spirv_args(b, args)?;
        if let Some(extra) = args.rest.first() {
            self.error(Code::BAD_DECLARATION, extra.span, "an instruction takes only keys and values", "not a key");
            return None;
        }
        let opcode = self.opcode(&args, span)?;
        let mut arguments = Vec::with_capacity(params.len());
        for param in params {
            arguments.push(match param.mode {
                Mode::In => Passing::Value,
                Mode::Reference => Passing::Reference,
                Mode::Literal => Passing::Literal,
                Mode::Out | Mode::InOut | Mode::Named => {
                    self.unsupported(span, "`out` parameters and ray queries of instructions are");
                    return None;
                }
            });
        }
        let known = &mut b.module.foreign.instructions;
        known.push(ForeignInstruction { set: args.set, opcode, arguments, requires: args.requires });
        Some(known.len() as u32 - 1)
    }

    /// A call of a function that is an instruction.
    pub fn emit_instruction(
        &mut self,
        b: &mut Builder<'_>,
        (instruction, ret): (u32, TypeId),
        params: &Parameters,
        given: Vec<Given>,
        whole: Span,
    ) -> Option<Lowered> {
        let mut values: SmallVec<[Value; 4]> = SmallVec::new();
        for (arg, param) in given.iter().zip(params) {
            values.push(match param.mode {
                Mode::Reference => self.pass_reference(b, arg)?,
                Mode::Literal => self.pass_literal(b, arg, param.ty)?,
                _ => self.pass_in(b, arg, param.ty)?,
            });
        }
        b.span = whole;
        let result = b.foreign(instruction, &values, ret);
        Some(if ret == Types::VOID { Lowered::Void } else { Lowered::Value(result) })
    }

    /// The pointer to an argument. Types whose form in memory differs from that of their values cannot be passed this
    /// way.
    fn pass_reference(&mut self, b: &mut Builder<'_>, arg: &Given) -> Option<Value> {
        let fits = |lvalue: &&LValue| {
            let as_it_is = b.module.types.components(lvalue.ty).is_some() || !lvalue.space.is_laid_out();
            let bool = b.module.types.scalar_of(lvalue.ty).is_some_and(Scalar::is_bool);
            lvalue.swizzle.is_none() && as_it_is && !(bool && lvalue.space.is_laid_out())
        };
        let Some(lvalue) = arg.lvalue.as_ref().filter(fits) else {
            let message = "an argument by reference must be a variable, or a scalar or vector in one";
            self.error(Code::NOT_WRITABLE, arg.span, message, "not such a variable");
            return None;
        };
        b.span = arg.span;
        Some(memory::with_access_flags(b, lvalue, |b| memory::pointer(b, lvalue)))
    }

    fn pass_literal(&mut self, b: &mut Builder<'_>, arg: &Given, ty: TypeId) -> Option<Value> {
        let value = self.pass_in(b, arg, ty)?;
        match value {
            Value::Const(id) if b.module.constants.bits(id).is_some() => Some(value),
            _ => {
                let message = "a literal operand must be known at compile time";
                self.error(Code::NOT_CONSTANT, arg.span, message, "not a known number");
                None
            }
        }
    }

    /// Reports parameters that only instructions have.
    pub fn refuse_passing(&mut self, params: &Parameters, function: &ast::Function) {
        let ast = self.ast;
        for (param, written) in params.iter().zip(&ast[function.params]) {
            if matches!(param.mode, Mode::Reference | Mode::Literal) {
                self.unsupported(written.span, "parameters by reference of functions that are not instructions are");
            }
        }
    }

    /// Reports qualifiers that make a function with a body an instruction.
    pub fn refuse_body(&mut self, function: &ast::Function) {
        if let Some((_, span)) = self.instruction_qualifier(function.qualifiers) {
            let message = format!("`{}` is an instruction", self.text(function.name.symbol));
            self.error(Code::BAD_DECLARATION, span, message, "it has a body all the same");
        }
    }
}
