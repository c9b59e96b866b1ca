//! The syntax tree as text: one line per statement or declaration, expressions in prefix form between parentheses.
//!
//! Spans are left out; nothing parses this form.

use crate::glsl::ast::*;
use crate::glsl::token::{Interner, Literal, LiteralId, Symbol};
use std::fmt::Write;

/// Writes a whole tree; `literals` come from its token stream.
pub fn dump(ast: &Ast, literals: &[Literal], interner: &Interner) -> String {
    let mut dump = Dump { ast, literals, interner, out: String::new(), indent: 0 };
    for item in &ast.items {
        dump.item(item);
    }
    dump.out
}

struct Dump<'a> {
    ast: &'a Ast,
    literals: &'a [Literal],
    interner: &'a Interner,
    out: String,
    indent: usize,
}

impl<'a> Dump<'a> {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn name(&mut self, symbol: Symbol) {
        self.out.push_str(self.interner.text(symbol));
    }

    /// Writes one line, indented.
    fn line(&mut self, content: impl FnOnce(&mut Self)) {
        self.out.extend(std::iter::repeat_n("  ", self.indent));
        content(self);
        self.out.push('\n');
    }

    /// Writes details of the previous line.
    fn inside(&mut self, content: impl FnOnce(&mut Self)) {
        self.indent += 1;
        content(self);
        self.indent -= 1;
    }

    fn separated<T: Pooled + 'a>(&mut self, list: List<T>, separator: &str, one: fn(&mut Self, &'a T)) {
        for (index, item) in self.ast[list].iter().enumerate() {
            self.put(if index > 0 { separator } else { "" });
            one(self, item);
        }
    }
}

/// Declarations.
impl<'a> Dump<'a> {
    fn item(&mut self, item: &Item) {
        match item.kind {
            ItemKind::Function(id) => self.function(id),
            ItemKind::Decl(id) => self.line(|d| d.decl(id)),
        }
    }

    fn function(&mut self, id: FunctionId) {
        let function = self.ast[id];
        self.line(|d| d.prototype(&function));
        if let Some(body) = function.body {
            self.inside(|d| d.stmts(body.stmts));
        }
    }

    fn prototype(&mut self, function: &Function) {
        self.attributes(function.attributes);
        self.qualifiers(function.qualifiers);
        self.ty(function.return_type);
        self.put(" ");
        self.name(function.name.symbol);
        self.put("(");
        self.separated(function.params, ", ", Self::param);
        self.put(if function.body.is_some() { "):" } else { ")" });
    }

    fn param(&mut self, param: &'a Param) {
        self.qualifiers(param.qualifiers);
        self.ty(param.ty);
        if let Some(name) = param.name {
            self.put(" ");
            self.name(name.symbol);
        }
        self.dimensions(param.dimensions);
    }

    fn decl(&mut self, id: DeclId) {
        let decl = self.ast[id];
        self.qualifiers(decl.qualifiers);
        match decl.kind {
            DeclKind::Variables { ty, declarators } => self.variables(ty, declarators),
            DeclKind::Block(block) => self.block(&block),
            DeclKind::Prototype(id) => self.prototype(&self.ast[id]),
            DeclKind::Precision { precision, ty } => {
                self.put("precision ");
                self.put(precision_text(precision));
                self.put(" ");
                self.ty(ty);
            }
            DeclKind::Requalify(names) => self.separated(names, ", ", |d, name| d.name(name.symbol)),
            DeclKind::Defaults => self.put("default"),
        }
    }

    fn variables(&mut self, ty: TypeId, declarators: List<Declarator>) {
        self.ty(ty);
        self.put(if declarators.is_empty() { "" } else { " " });
        self.separated(declarators, ", ", Self::declarator);
    }

    fn declarator(&mut self, declarator: &'a Declarator) {
        self.name(declarator.name.symbol);
        self.dimensions(declarator.dimensions);
        if let Some(init) = declarator.init {
            self.put(" = ");
            self.expr(init);
        }
    }

    fn block(&mut self, block: &Block) {
        self.put("block ");
        self.name(block.name.symbol);
        self.members(block.members);
        if let Some(instance) = block.instance {
            self.put(" ");
            self.name(instance.name.symbol);
            self.dimensions(instance.dimensions);
        }
    }

    fn members(&mut self, members: List<Member>) {
        self.put(" { ");
        self.separated(members, "; ", |d, member| {
            d.qualifiers(member.qualifiers);
            d.variables(member.ty, member.declarators);
        });
        self.put(" }");
    }

    fn ty(&mut self, id: TypeId) {
        let ty = self.ast[id];
        match ty.kind {
            TypeKind::Named(name) => self.name(name.symbol),
            TypeKind::Struct(id) => self.structure(&self.ast[id]),
            TypeKind::Spirv(args) => {
                self.put("spirv_type");
                self.spirv_args(args);
            }
            TypeKind::Tensor(spec) => {
                self.name(spec.name.symbol);
                self.put("<");
                self.operands(spec.parameters);
                self.put(">");
            }
            TypeKind::Matrix(spec) => {
                self.name(spec.name.symbol);
                self.put("<");
                spec.element.into_iter().for_each(|element| self.ty(element));
                self.operands(spec.parameters);
                self.put(">");
            }
        }
        self.dimensions(ty.dimensions);
    }

    fn structure(&mut self, spec: &StructSpec) {
        self.put("struct");
        if let Some(name) = spec.name {
            self.put(" ");
            self.name(name.symbol);
        }
        self.members(spec.members);
    }

    fn dimensions(&mut self, dimensions: List<Dimension>) {
        self.separated(dimensions, "", |d, dimension| {
            d.put("[");
            d.optional("", dimension.size);
            d.put("]");
        });
    }

    fn qualifiers(&mut self, qualifiers: List<Qualifier>) {
        for qualifier in &self.ast[qualifiers] {
            self.qualifier(qualifier.kind);
            self.put(" ");
        }
    }

    fn qualifier(&mut self, kind: QualifierKind) {
        match kind {
            QualifierKind::Storage(storage) => self.word(storage),
            QualifierKind::Memory(memory) => self.word(memory),
            QualifierKind::Interpolation(interpolation) => self.word(interpolation),
            QualifierKind::Precision(precision) => self.put(precision_text(precision)),
            QualifierKind::Precise => self.put("precise"),
            QualifierKind::Invariant => self.put("invariant"),
            QualifierKind::NonUniform => self.put("nonuniform"),
            QualifierKind::Layout(ids) => {
                self.put("layout(");
                self.separated(ids, ", ", Self::layout_id);
                self.put(")");
            }
            QualifierKind::Spirv(word, args) => {
                self.put("spirv ");
                self.word(word);
                self.spirv_args(args);
            }
            QualifierKind::Subroutine(names) => {
                self.put("subroutine(");
                self.separated(names, ", ", |d, name| d.name(name.symbol));
                self.put(")");
            }
        }
    }

    fn spirv_args(&mut self, args: List<SpirvArg>) {
        self.put("(");
        self.separated(args, ", ", |d, arg| {
            if let Some(key) = arg.key {
                d.name(key.symbol);
                d.put(" = ");
            }
            match arg.value {
                SpirvValue::Expr(id) => d.expr(id),
                SpirvValue::Type(id) => d.ty(id),
                SpirvValue::List(list) => d.operands(list),
            }
        });
        self.put(")");
    }

    /// The name of a variant, in small letters.
    fn word(&mut self, variant: impl std::fmt::Debug) {
        let text = format!("{variant:?}").to_lowercase();
        self.put(&text);
    }

    fn layout_id(&mut self, id: &'a LayoutId) {
        self.name(id.name.symbol);
        self.optional("=", id.value);
    }

    fn attributes(&mut self, attributes: List<Attribute>) {
        for attribute in &self.ast[attributes] {
            self.put("[[");
            self.name(attribute.name.symbol);
            self.operands(attribute.args);
            self.put("]] ");
        }
    }
}

fn precision_text(precision: Precision) -> &'static str {
    match precision {
        Precision::Low => "lowp",
        Precision::Medium => "mediump",
        Precision::High => "highp",
    }
}

/// Statements.
impl Dump<'_> {
    fn stmts(&mut self, stmts: List<StmtId>) {
        for id in &self.ast[stmts] {
            self.stmt(*id);
        }
    }

    fn stmt(&mut self, id: StmtId) {
        let stmt = self.ast[id];
        self.line(|d| {
            d.attributes(stmt.attributes);
            d.head(stmt.kind);
        });
        self.inside(|d| d.parts(stmt.kind));
    }

    /// Lines of a statement's own head.
    fn head(&mut self, kind: StmtKind) {
        match kind {
            StmtKind::Empty => self.put("empty"),
            StmtKind::Expr(id) => self.expr(id),
            StmtKind::Decl(id) => self.decl(id),
            StmtKind::Compound(_) => self.put("do:"),
            StmtKind::If { .. } => self.put("if:"),
            StmtKind::Switch { selector, .. } => self.with_colon("switch", selector),
            StmtKind::Case(value) => self.with_colon("case", value),
            StmtKind::Default => self.put("default:"),
            StmtKind::While { condition, .. } => {
                self.put("while");
                self.condition(Some(condition));
                self.put(":");
            }
            StmtKind::DoWhile { condition, .. } => self.with_colon("do-while", condition),
            StmtKind::For { init, condition, step, .. } => self.for_head(init, condition, step),
            StmtKind::Return(value) => {
                self.put("return");
                self.optional(" ", value);
            }
            jump => self.word(jump),
        }
    }

    fn with_colon(&mut self, word: &str, value: ExprId) {
        self.put(word);
        self.optional(" ", Some(value));
        self.put(":");
    }

    fn condition(&mut self, condition: Option<Condition>) {
        match condition {
            Some(Condition::Expr(id)) => self.optional(" ", Some(id)),
            Some(Condition::Decl(id)) => {
                self.put(" ");
                self.decl(id);
            }
            None => {}
        }
    }

    fn for_head(&mut self, init: Option<StmtId>, condition: Option<Condition>, step: Option<ExprId>) {
        self.put("for ");
        if let Some(init) = init {
            self.head(self.ast[init].kind);
        }
        self.put(";");
        self.condition(condition);
        self.put(";");
        self.optional(" ", step);
        self.put(":");
    }

    /// The statements that belong to a statement.
    fn parts(&mut self, kind: StmtKind) {
        match kind {
            StmtKind::Compound(stmts) | StmtKind::Switch { body: stmts, .. } => self.stmts(stmts),
            StmtKind::If { arms, otherwise } => self.arms(arms, otherwise),
            StmtKind::While { body, .. } | StmtKind::DoWhile { body, .. } | StmtKind::For { body, .. } => {
                self.stmt(body)
            }
            _ => {}
        }
    }

    fn arms(&mut self, arms: List<IfArm>, otherwise: Option<StmtId>) {
        for arm in &self.ast[arms] {
            self.line(|d| d.with_colon("when", arm.condition));
            self.inside(|d| d.stmt(arm.body));
        }
        if let Some(otherwise) = otherwise {
            self.line(|d| d.put("else:"));
            self.inside(|d| d.stmt(otherwise));
        }
    }
}

/// Expressions.
impl Dump<'_> {
    fn optional(&mut self, before: &str, id: Option<ExprId>) {
        if let Some(id) = id {
            self.put(before);
            self.expr(id);
        }
    }

    fn expr(&mut self, id: ExprId) {
        match self.ast[id].kind {
            ExprKind::Literal(id) => self.literal(id),
            ExprKind::Bool(value) => self.word(value),
            ExprKind::String(text) => self.string(text),
            ExprKind::Name(symbol) => self.name(symbol),
            ExprKind::Unary { op, operand } => self.form(op.text(), &[operand]),
            ExprKind::Step { op, operand } => self.step(op, operand),
            ExprKind::Binary { op, left, right } => self.form(op.text(), &[left, right]),
            ExprKind::Assign { op, target, value } => self.assign(op, target, value),
            ExprKind::Conditional { condition, then, otherwise } => self.form("?:", &[condition, then, otherwise]),
            ExprKind::Comma { left, right } => self.form(",", &[left, right]),
            ExprKind::Index { base, index } => self.form("[]", &[base, index]),
            ExprKind::Field { base, name } => self.field(base, name.symbol),
            ExprKind::Length { base } => self.form("length", &[base]),
            ExprKind::Call { callee, args } => self.call("", |d| d.name(callee.symbol), args),
            ExprKind::Construct { ty, args } => self.call("new ", |d| d.ty(ty), args),
            ExprKind::Aggregate(items) => self.call("", |d| d.put("{}"), items),
        }
    }

    /// `(head operand …)`
    fn form(&mut self, head: &str, operands: &[ExprId]) {
        self.put("(");
        self.put(head);
        for operand in operands {
            self.put(" ");
            self.expr(*operand);
        }
        self.put(")");
    }

    fn step(&mut self, op: StepOp, operand: ExprId) {
        let head = if op.is_postfix() { format!("post{}", op.text()) } else { op.text().to_owned() };
        self.form(&head, &[operand]);
    }

    fn assign(&mut self, op: Option<BinaryOp>, target: ExprId, value: ExprId) {
        let head = format!("{}=", op.map_or("", BinaryOp::text));
        self.form(&head, &[target, value]);
    }

    fn field(&mut self, base: ExprId, name: Symbol) {
        self.put("(. ");
        self.expr(base);
        self.put(" ");
        self.name(name);
        self.put(")");
    }

    fn call(&mut self, before: &str, head: impl FnOnce(&mut Self), args: List<ExprId>) {
        self.put("(");
        self.put(before);
        head(self);
        self.operands(args);
        self.put(")");
    }

    fn operands(&mut self, args: List<ExprId>) {
        for arg in &self.ast[args] {
            self.put(" ");
            self.expr(*arg);
        }
    }

    fn string(&mut self, text: Symbol) {
        let text = format!("{:?}", self.interner.text(text));
        self.put(&text);
    }

    fn literal(&mut self, id: LiteralId) {
        let written = match self.literals[id.0 as usize] {
            Literal::Int { value, width, signed } => {
                let suffix = if signed { "" } else { "u" };
                write!(self.out, "{value}{suffix}{}", width_suffix(width))
            }
            Literal::Float { value, width } => write!(self.out, "{value:?}{}", width_suffix(width)),
        };
        written.expect("writing to a string cannot fail");
    }
}

fn width_suffix(width: u8) -> &'static str {
    match width {
        4 => "_4",
        16 => "_16",
        64 => "_64",
        _ => "",
    }
}

impl BinaryOp {
    /// How it is written.
    pub const fn text(self) -> &'static str {
        const TEXTS: [&str; BinaryOp::Or as usize + 1] =
            ["*", "/", "%", "+", "-", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|", "&&", "^^", "||"];
        TEXTS[self as usize]
    }
}

impl UnaryOp {
    /// How it is written.
    pub const fn text(self) -> &'static str {
        match self {
            UnaryOp::Plus => "+",
            UnaryOp::Minus => "-",
            UnaryOp::Not => "!",
            UnaryOp::BitNot => "~",
        }
    }
}

impl StepOp {
    /// How it is written.
    pub const fn text(self) -> &'static str {
        match self {
            StepOp::PreIncrement | StepOp::PostIncrement => "++",
            StepOp::PreDecrement | StepOp::PostDecrement => "--",
        }
    }

    /// True for `x++` and `x--`.
    pub const fn is_postfix(self) -> bool {
        matches!(self, StepOp::PostIncrement | StepOp::PostDecrement)
    }
}
