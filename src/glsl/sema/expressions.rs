//! Expressions (GLSL 4.60 section 5): each is lowered to a value, or to a place that has not been read yet.

use super::builtin_variables::belongs_to_another_stage;
use super::lvalue::LValue;
use super::scope::Entity;
use super::{Sema, did_you_mean, memory, operators};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{BinaryOp, Block, DeclKind, Expr, ExprId, ExprKind, UnaryOp};
use crate::glsl::extended::Allowed;
use crate::glsl::keyword;
use crate::glsl::token::{Literal, LiteralId, Symbol};
use crate::ir::build::Builder;
use crate::ir::{self, ConstValue, Encoding, Format, Scalar, ScalarKind, Space, Stage, Value};
use crate::source::Span;
use operators::{Operand, Operator};
use smallvec::SmallVec;

/// The result of lowering an expression.
#[derive(Clone, Debug)]
pub enum Lowered {
    Value(Value),
    LValue(LValue),
    /// The result of a `void` function.
    Void,
}

/// Spelling and IR operation of each infix operator except `&&` and `||`, which evaluate their right side only if
/// needed.
pub fn infix(op: BinaryOp) -> (&'static str, ir::BinaryOp) {
    match op {
        BinaryOp::Mul => ("*", ir::BinaryOp::Mul),
        BinaryOp::Div => ("/", ir::BinaryOp::Div),
        BinaryOp::Mod => ("%", ir::BinaryOp::Rem),
        BinaryOp::Add => ("+", ir::BinaryOp::Add),
        BinaryOp::Sub => ("-", ir::BinaryOp::Sub),
        BinaryOp::ShiftLeft => ("<<", ir::BinaryOp::Shl),
        BinaryOp::ShiftRight => (">>", ir::BinaryOp::Shr),
        BinaryOp::Less => ("<", ir::BinaryOp::Lt),
        BinaryOp::Greater => (">", ir::BinaryOp::Gt),
        BinaryOp::LessEqual => ("<=", ir::BinaryOp::Le),
        BinaryOp::GreaterEqual => (">=", ir::BinaryOp::Ge),
        BinaryOp::Equal => ("==", ir::BinaryOp::Eq),
        BinaryOp::NotEqual => ("!=", ir::BinaryOp::Ne),
        BinaryOp::BitAnd => ("&", ir::BinaryOp::And),
        BinaryOp::BitXor => ("^", ir::BinaryOp::Xor),
        BinaryOp::BitOr => ("|", ir::BinaryOp::Or),
        BinaryOp::And => ("&&", ir::BinaryOp::LogicalAnd),
        // Exclusive or of bools is inequality.
        BinaryOp::Xor => ("^^", ir::BinaryOp::Ne),
        BinaryOp::Or => ("||", ir::BinaryOp::LogicalOr),
    }
}

impl Sema<'_> {
    /// Lowers an expression; `None` if it has an error, which has been reported.
    pub fn lower(&mut self, b: &mut Builder<'_>, id: ExprId) -> Option<Lowered> {
        let expr = self.ast[id];
        b.span = expr.span;
        match expr.kind {
            ExprKind::Literal(literal) => self.literal(b, literal, expr.span).map(Lowered::Value),
            ExprKind::Bool(value) => Some(Lowered::Value(b.const_bool(value))),
            ExprKind::String(_) => {
                self.unsupported(expr.span, "strings are");
                None
            }
            ExprKind::Name(symbol) => self.name(b, symbol, expr.span),
            ExprKind::Unary { op, operand } => self.prefix(b, op, operand, expr.span).map(Lowered::Value),
            ExprKind::Step { op, operand } => self.step(b, op, operand, expr.span).map(Lowered::Value),
            ExprKind::Binary { .. } => self.infix_chain(b, id).map(Lowered::Value),
            ExprKind::Assign { op, target, value } => self.assign(b, op, target, value, expr.span).map(Lowered::Value),
            ExprKind::Conditional { condition, then, otherwise } => {
                self.conditional(b, condition, then, otherwise, expr.span)
            }
            ExprKind::Comma { .. } => self.comma_chain(b, id),
            ExprKind::Index { base, index } => self.index(b, base, index, expr.span),
            ExprKind::Field { base, name } => self.field(b, base, name),
            ExprKind::Length { base } => self.length(b, base, expr.span).map(Lowered::Value),
            ExprKind::Call { callee, args } => self.call(b, callee, args, expr.span),
            ExprKind::Construct { ty, args } => self.construct(b, ty, args, expr.span).map(Lowered::Value),
            ExprKind::Aggregate(_) => {
                let message = "braces initialize variables; they are not an expression";
                self.error(Code::BAD_INITIALIZER, expr.span, message, "not in an initializer");
                None
            }
        }
    }

    /// Lowers an expression and reads it.
    pub fn value(&mut self, b: &mut Builder<'_>, id: ExprId) -> Option<Value> {
        let Expr { kind, span } = self.ast[id];
        // A variable alone, which is the most common place, is read without a copy of its path.
        if let ExprKind::Name(symbol) = kind
            && let Some(Entity::LValue(lvalue)) = self.scopes.used(symbol, span).map(|declared| &declared.entity)
        {
            b.span = span;
            let marked = lvalue.non_uniform;
            let loaded = self.load(b, lvalue, span);
            return self.check(loaded).inspect(|value| self.keep_mark(marked, *value));
        }
        let lowered = self.lower(b, id)?;
        self.value_of(b, lowered, span)
    }

    /// The value of an expression's result.
    pub fn value_of(&mut self, b: &mut Builder<'_>, lowered: Lowered, span: Span) -> Option<Value> {
        match lowered {
            Lowered::Value(value) => Some(value),
            Lowered::LValue(lvalue) => self.read(b, &lvalue, span),
            Lowered::Void => {
                self.error(Code::TYPE_MISMATCH, span, "a `void` function returns no value", "a value is needed here");
                None
            }
        }
    }

    /// Lowers an expression that must denote memory which may be written.
    pub fn target(&mut self, b: &mut Builder<'_>, id: ExprId) -> Option<LValue> {
        let lowered = self.lower(b, id)?;
        self.target_of(b, lowered, id)
    }

    /// The memory that an expression, which has been lowered, denotes and that may be written.
    pub fn target_of(&mut self, b: &mut Builder<'_>, lowered: Lowered, id: ExprId) -> Option<LValue> {
        let span = self.ast[id].span;
        match lowered {
            Lowered::LValue(lvalue) => {
                self.writable(b, &lvalue, span)?;
                Some(lvalue)
            }
            _ => {
                let message = "only a variable or a part of one can be written";
                self.error(Code::NOT_WRITABLE, span, message, self.why_no_variable(id));
                None
            }
        }
    }

    /// Describes an expression that denotes no memory.
    pub fn why_no_variable(&self, id: ExprId) -> &'static str {
        let ExprKind::Name(symbol) = self.ast[id].kind else { return "not a variable" };
        match self.scopes.get(symbol).map(|declared| &declared.entity) {
            Some(Entity::Value(_)) => "a constant",
            _ => "not a variable",
        }
    }

    pub fn read(&mut self, b: &mut Builder<'_>, lvalue: &LValue, span: Span) -> Option<Value> {
        b.span = span;
        let loaded = self.load(b, lvalue, span);
        self.check(loaded).inspect(|value| self.keep_mark(lvalue.non_uniform, *value))
    }

    fn load(&self, b: &mut Builder<'_>, lvalue: &LValue, span: Span) -> Result<Value, Diagnostic> {
        if self.env.stage == Stage::Mesh && lvalue.space == Space::Output && !self.env.has_nvidia_meshes() {
            let message = Diagnostic::error(Code::NOT_READABLE, "a mesh shader cannot read its outputs");
            return Err(message.at(span, "read here"));
        }
        self.check_whole(b, lvalue, span)?;
        memory::load(b, lvalue, span)
    }

    fn literal(&mut self, b: &mut Builder<'_>, id: LiteralId, span: Span) -> Option<Value> {
        let (scalar, bits) = match self.stream.literals[id.0 as usize] {
            Literal::Int { value, width, signed } => {
                let kind = if signed { ScalarKind::Sint } else { ScalarKind::Uint };
                (Scalar { kind, width }, value)
            }
            Literal::Float { value, width } => float(value, width),
        };
        self.check_extended(scalar, "this suffix", Allowed::Everything, span)?;
        let ty = b.module.types.scalar(scalar);
        Some(Value::Const(b.module.constants.intern(ty, ConstValue::Bits(bits))))
    }

    fn name(&mut self, b: &mut Builder<'_>, symbol: Symbol, span: Span) -> Option<Lowered> {
        let complaint = match self.scopes.used(symbol, span).map(|declared| &declared.entity) {
            Some(Entity::LValue(lvalue)) => return Some(Lowered::LValue(lvalue.clone())),
            Some(Entity::Value(value)) => return Some(Lowered::Value(*value)),
            Some(Entity::Error) => return None,
            Some(Entity::Unbound) => {
                let message = format!("`{}` needs a binding to be used", self.text(symbol));
                self.error(Code::BAD_LAYOUT, span, message, "declared without one");
                return None;
            }
            Some(Entity::Idle) => {
                let message = format!("{} shaders cannot use `{}`", self.env.stage.name(), self.text(symbol));
                self.error(Code::WRONG_STAGE, span, message, "they may only declare it");
                return None;
            }
            Some(Entity::Type(_) | Entity::OpaqueStruct) => "a type",
            Some(Entity::Functions(_)) => "a function",
            None => return self.builtin_variable(b, symbol, span),
        };
        let name = self.text(symbol);
        let message = format!("`{name}` is {complaint}, not a variable");
        let error = Diagnostic::error(Code::UNKNOWN_NAME, message).at(span, "a value is needed here");
        let is_function = complaint == "a function";
        self.report(if is_function { error.help(format_args!("a call is `{name}(…)`")) } else { error });
        None
    }

    pub fn unknown_name(&mut self, symbol: Symbol, span: Span) {
        let name = self.text(symbol);
        if belongs_to_another_stage(name) {
            let message = format!("`{name}` does not exist in shaders for Vulkan");
            self.error(Code::WRONG_STAGE, span, message, "belongs to another language");
            self.scopes.declare(symbol, Entity::Error, span);
            return;
        }
        let message = format!("no variable `{name}` is in scope");
        let diagnostic = Diagnostic::error(Code::UNKNOWN_NAME, message).at(span, "not declared");
        self.report(match (self.scopes.ended(symbol), self.instance_with(symbol)) {
            (Some(declared), _) => diagnostic.with(declared, format!("the scope of this `{name}` has ended")),
            (None, Some(instance)) => {
                let instance = self.text(instance);
                diagnostic.suggest(span, format!("{instance}.{name}"), format!("did you mean `{instance}.{name}`?"))
            }
            (None, None) => {
                let near = self.scopes.visible().map(|symbol| self.text(symbol));
                let near = near.chain(crate::grammar::VARIABLES.iter().map(|variable| variable.name));
                did_you_mean(diagnostic, name, span, near.chain(keyword::values().map(|word| word as &str)))
            }
        });
        self.scopes.declare(symbol, Entity::Error, span);
    }

    /// The instance of the block that has a member with the name.
    fn instance_with(&self, member: Symbol) -> Option<Symbol> {
        let ast = self.ast;
        ast.decls.iter().find_map(|(_, decl)| {
            let DeclKind::Block(Block { members, instance, .. }) = decl.kind else { return None };
            let mut names = ast[members].iter().flat_map(|line| &ast[line.declarators]);
            names.find(|declarator| declarator.name.symbol == member)?;
            instance.map(|instance| instance.name.symbol)
        })
    }

    fn prefix(&mut self, b: &mut Builder<'_>, op: UnaryOp, operand: ExprId, span: Span) -> Option<Value> {
        let value = self.value(b, operand)?;
        let operand = Operand { value, span: self.ast[operand].span };
        b.span = span;
        let (text, op) = match op {
            UnaryOp::Plus => return self.unary_plus(b, operand),
            UnaryOp::Minus => ("-", ir::UnaryOp::Neg),
            UnaryOp::Not => ("!", ir::UnaryOp::LogicalNot),
            UnaryOp::BitNot => ("~", ir::UnaryOp::Not),
        };
        self.check_operand(b, operand)?;
        let result = operators::unary(b, op, text, operand);
        self.check(result)
    }

    /// `+x` is `x`, of every type that can be negated.
    fn unary_plus(&mut self, b: &mut Builder<'_>, operand: Operand) -> Option<Value> {
        let result = operators::unary(b, ir::UnaryOp::Neg, "+", operand);
        self.check(result).map(|_| operand.value)
    }

    /// `a + b + c …`: the left spine is walked without recursion, because chains can be long.
    fn infix_chain(&mut self, b: &mut Builder<'_>, id: ExprId) -> Option<Value> {
        let mut spine: SmallVec<[_; 4]> = SmallVec::new();
        let mut first = id;
        while let ExprKind::Binary { op, left, right } = self.ast[first].kind {
            spine.push((op, right, self.ast[first].span));
            first = left;
        }
        let mut span = self.ast[first].span;
        let mut value = self.value(b, first);
        while let Some((op, right, whole)) = spine.pop() {
            let left = value.map(|value| Operand { value, span });
            value = self.infix(b, op, left, right, whole);
            span = whole;
        }
        value
    }

    fn infix(
        &mut self,
        b: &mut Builder<'_>,
        op: BinaryOp,
        left: Option<Operand>,
        right: ExprId,
        whole: Span,
    ) -> Option<Value> {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.short_circuit(b, op, left, right, whole);
        }
        let right_span = self.ast[right].span;
        let right = self.value(b, right);
        let (left, right) = (left?, Operand { value: right?, span: right_span });
        self.apply(b, op, left, right, whole)
    }

    /// An infix operator on two values.
    pub fn apply(
        &mut self,
        b: &mut Builder<'_>,
        op: BinaryOp,
        left: Operand,
        right: Operand,
        whole: Span,
    ) -> Option<Value> {
        let refers = self.is_reference(b, left.value) || self.is_reference(b, right.value);
        if refers && !matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
            return self.reference_operator(b, op, left, right, whole);
        }
        b.span = whole;
        self.check_operand(b, left)?;
        self.check_operand(b, right)?;
        if matches!(op, BinaryOp::Equal | BinaryOp::NotEqual) {
            let ty = b.type_of(left.value);
            self.check_comparable(b, ty, whole)?;
        }
        let (text, ir_op) = infix(op);
        let operator = Operator { op: ir_op, text, span: whole };
        let result = if op == BinaryOp::Xor {
            operators::exclusive_or(b, operator, left, right)
        } else {
            operators::binary(b, self.env.implicit_conversions(), operator, left, right)
        };
        let value = self.check(result)?;
        self.check_division(b, op, right);
        Some(value)
    }

    /// Types that only blocks may contain are converted before any arithmetic.
    fn check_operand(&mut self, b: &mut Builder<'_>, operand: Operand) -> Option<()> {
        let ty = b.type_of(operand.value);
        let Some(scalar) = b.module.types.scalar_of(ty) else { return Some(()) };
        self.check_extended(scalar, "computing with this type", Allowed::Everything, operand.span)
    }

    /// Dividing integers by a constant zero is surely a mistake.
    fn check_division(&mut self, b: &mut Builder<'_>, op: BinaryOp, right: Operand) {
        let Value::Const(id) = right.value else { return };
        let zero = b.module.constants.as_int(&b.module.types, id) == Some(0);
        if zero && matches!(op, BinaryOp::Div | BinaryOp::Mod) {
            let message = Diagnostic::warning(Code::DIVISION_BY_ZERO, "integer division by zero is undefined");
            self.report(message.at(right.span, "this is 0").help("divide by a number that is not 0"));
        }
    }

    /// `a, b, c …`: walked without recursion as [`Self::infix_chain`] is.
    fn comma_chain(&mut self, b: &mut Builder<'_>, id: ExprId) -> Option<Lowered> {
        let mut rest: SmallVec<[ExprId; 4]> = SmallVec::new();
        let mut first = id;
        while let ExprKind::Comma { left, right } = self.ast[first].kind {
            rest.push(right);
            first = left;
        }
        let last = rest.first().copied().unwrap_or(first);
        self.lower(b, first);
        for id in rest[1..].iter().rev() {
            self.lower(b, *id);
        }
        match self.lower(b, last)? {
            Lowered::LValue(lvalue) => self.read(b, &lvalue, self.ast[last].span).map(Lowered::Value),
            other => Some(other),
        }
    }
}

/// The type and the bits of a literal's value, which has been rounded to its width.
fn float(value: f64, width: u8) -> (Scalar, u64) {
    match width {
        4 => (Scalar::E2M1, Encoding::E2M1.format().encode(value)),
        16 => (Scalar::F16, Format::HALF.encode(value)),
        32 => (Scalar::F32, u64::from((value as f32).to_bits())),
        _ => (Scalar::F64, value.to_bits()),
    }
}
