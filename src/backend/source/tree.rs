//! Statements, and their indented text.

use super::expr::Expr;
use crate::backend::written::{Written, names_in};
use crate::kernel::Origin;
use crate::limits;
use crate::source::Span;

/// A statement with its origin.
#[derive(Clone, Debug)]
pub(super) struct Stmt {
    /// The construct of the source.
    pub span: Span,
    pub origin: Origin,
    pub kind: Kind,
    /// A comment at the end of its line.
    pub remark: Option<Box<str>>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// One that ends with its line.
    Line(String),
    /// A demotion: it looks like a jump, but the invocation continues after it.
    Demote,
    Define(Declared),
    /// A comment, or a line of one, with its delimiters.
    Comment(String),
    /// A line of the preprocessor.
    Directive(String),
    If {
        condition: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
        hint: &'static str,
    },
    /// Without a condition the loop runs forever.
    For {
        /// The variable declared in its head.
        first: Option<Box<Declared>>,
        condition: Option<String>,
        steps: Vec<String>,
        body: Vec<Stmt>,
        hint: &'static str,
    },
    /// A loop with a condition at its end.
    Do {
        body: Vec<Stmt>,
        ends: Expr,
        hint: &'static str,
    },
    /// A loop with statements between its iterations, which `continue` also runs, in languages that have such loops.
    Loop {
        body: Vec<Stmt>,
        between: Vec<Stmt>,
        ends: Option<Expr>,
    },
    Switch {
        selector: String,
        arms: Vec<Arm>,
        hint: &'static str,
    },
}

/// The declaration of a name with its value, or without.
#[derive(Clone, Debug)]
pub(super) struct Declared {
    pub ty: String,
    pub name: String,
    pub dims: String,
    pub value: Option<String>,
    /// True if it is never reassigned.
    pub is_fixed: bool,
}

/// How a language writes statements.
#[derive(Debug)]
pub(super) struct Syntax {
    /// The signs around a condition.
    pub around: [&'static str; 2],
    /// A declaration, without its terminator.
    pub declared: fn(&Declared) -> String,
    /// The lines at the start of an arm, the last without its brace.
    pub labels: fn(&[String]) -> Vec<String>,
    /// How much deeper than the switch its labels are.
    pub arms: usize,
    /// The statement at the end of an arm; `None` if its brace is enough.
    pub arm_end: Option<&'static str>,
    /// The header of an infinite loop.
    pub endless: &'static str,
    /// The header of a loop with a condition at its end.
    pub repeated: &'static str,
    /// The lines at the end of the loop.
    pub ends: fn(&Expr) -> Vec<String>,
}

/// C's syntax.
pub(super) const C: Syntax = Syntax {
    around: ["(", ")"],
    declared: |Declared { ty, name, dims, value, .. }| match value {
        Some(value) => format!("{ty} {name}{dims} = {value}"),
        None => format!("{ty} {name}{dims}"),
    },
    labels: |labels| {
        let mut lines: Vec<String> = labels.iter().map(|label| format!("{label}:")).collect();
        if lines.is_empty() {
            lines.push(format!("{}:", Arm::DEFAULT));
        }
        lines
    },
    arms: 0,
    arm_end: Some("break;"),
    endless: "for (;;)",
    repeated: "do",
    ends: |ends| vec![format!("}} while ({});", ends.not().text)],
};

/// An arm of a switch.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub labels: Vec<String>,
    pub body: Vec<Stmt>,
    /// True if it falls through to the next one.
    pub falls: bool,
}

impl Arm {
    /// The label of the default arm.
    pub const DEFAULT: &str = "default";
}

impl Kind {
    /// The nested blocks of statements, in text order.
    pub fn blocks(&self) -> impl Iterator<Item = &Vec<Stmt>> {
        let (pair, arms): ([Option<&Vec<Stmt>>; 2], &[Arm]) = match self {
            Kind::If { then, otherwise, .. } => ([Some(then), Some(otherwise)], &[]),
            Kind::For { body, .. } | Kind::Do { body, .. } => ([Some(body), None], &[]),
            Kind::Loop { body, between, .. } => ([Some(body), Some(between)], &[]),
            Kind::Switch { arms, .. } => ([None, None], arms),
            Kind::Line(_) | Kind::Demote | Kind::Define(_) | Kind::Comment(_) | Kind::Directive(_) => {
                ([None, None], &[])
            }
        };
        pair.into_iter().flatten().chain(arms.iter().map(|arm| &arm.body))
    }

    /// Like [`Kind::blocks`].
    pub fn blocks_mut(&mut self) -> impl Iterator<Item = &mut Vec<Stmt>> {
        let (pair, arms): ([Option<&mut Vec<Stmt>>; 2], &mut [Arm]) = match self {
            Kind::If { then, otherwise, .. } => ([Some(then), Some(otherwise)], &mut []),
            Kind::For { body, .. } | Kind::Do { body, .. } => ([Some(body), None], &mut []),
            Kind::Loop { body, between, .. } => ([Some(body), Some(between)], &mut []),
            Kind::Switch { arms, .. } => ([None, None], arms),
            Kind::Line(_) | Kind::Demote | Kind::Define(_) | Kind::Comment(_) | Kind::Directive(_) => {
                ([None, None], &mut [])
            }
        };
        pair.into_iter().flatten().chain(arms.iter_mut().map(|arm| &mut arm.body))
    }
}

impl Stmt {
    /// Returns true if it takes one line.
    pub fn is_line(&self) -> bool {
        matches!(self.kind, Kind::Line(_) | Kind::Define(_) | Kind::Demote)
    }

    pub fn new(origin: Origin, kind: Kind) -> Stmt {
        Stmt { span: Span::NONE, origin, kind, remark: None }
    }

    /// Returns true if nothing after it in its block runs.
    pub fn jumps(&self) -> bool {
        let ends = |block: &[Stmt]| block.last().is_some_and(Stmt::jumps);
        match &self.kind {
            Kind::Line(text) => {
                let first = text.split([' ', ';']).next().unwrap_or_default();
                matches!(first, "break" | "continue" | "return" | "discard" | "terminateInvocation")
            }
            Kind::If { condition, then, otherwise, .. } => match condition.text.as_str() {
                "true" => ends(then),
                "false" => ends(otherwise),
                _ => ends(then) && ends(otherwise),
            },
            Kind::For { condition, .. } => {
                condition.as_deref().is_none_or(|text| text == "true") && !self.inner().any(Stmt::breaks)
            }
            Kind::Switch { arms, .. } => {
                let is_default = |arm: &Arm| arm.labels.iter().any(|label| label == Arm::DEFAULT);
                arms.iter().any(is_default)
                    && !self.inner().any(Stmt::breaks)
                    && arms.iter().all(|arm| arm.falls || ends(&arm.body))
                    && arms.last().is_some_and(|last| !last.falls)
            }
            _ => false,
        }
    }

    /// The statements of the blocks in it.
    pub fn inner(&self) -> impl Iterator<Item = &Stmt> {
        self.kind.blocks().flatten()
    }

    /// Returns true if it may leave the enclosing loop or switch, and continue after that.
    pub fn breaks(&self) -> bool {
        match &self.kind {
            Kind::Line(text) => text == "break;",
            Kind::If { .. } => self.inner().any(Stmt::breaks),
            _ => false,
        }
    }
}

/// The lines of a text being written.
pub(super) struct Lines {
    pub lines: Vec<Written>,
    depth: usize,
    syntax: &'static Syntax,
}

impl Lines {
    fn add(&mut self, origin: Origin, text: &str, writes: Vec<String>) {
        let margin = "    ".repeat(self.depth);
        let reads = names_in(text);
        limits::spend(1 + reads.len());
        limits::hold::<Written>(1);
        limits::hold::<String>(reads.len());
        limits::write(2 * (margin.len() + text.len()));
        self.lines.push(Written { origin, text: format!("{margin}{text}\n"), reads, writes });
    }

    pub fn indented(depth: usize, syntax: &'static Syntax) -> Lines {
        Lines { lines: Vec::new(), depth, syntax }
    }

    fn nested(&mut self, body: &[Stmt]) {
        self.depth += 1;
        self.block(body);
        self.depth -= 1;
    }

    pub fn block(&mut self, body: &[Stmt]) {
        for stmt in body {
            self.statement(stmt);
        }
    }

    fn statement(&mut self, stmt: &Stmt) {
        self.kind(stmt);
        if let (Some(remark), Some(last)) = (&stmt.remark, self.lines.last_mut()) {
            last.text.insert_str(last.text.trim_end().len(), &format!(" {remark}"));
        }
    }

    fn kind(&mut self, stmt: &Stmt) {
        let (origin, syntax) = (stmt.origin, self.syntax);
        let [open, close] = syntax.around;
        match &stmt.kind {
            Kind::Line(text) => self.add(origin, text, Vec::new()),
            Kind::Demote => self.add(origin, "discard;", Vec::new()),
            Kind::Define(declared) => {
                self.add(origin, &format!("{};", (syntax.declared)(declared)), vec![declared.name.clone()]);
            }
            Kind::Comment(text) => self.add(origin, text, Vec::new()),
            Kind::Directive(text) => {
                let depth = std::mem::take(&mut self.depth);
                self.add(origin, text, Vec::new());
                self.depth = depth;
            }
            Kind::If { condition, then, otherwise, hint } => {
                self.conditional(origin, condition, [then, otherwise], hint)
            }
            Kind::For { first, condition, steps, body, hint } => {
                let declared = first.iter().map(|first| first.name.clone()).collect();
                let head = match (condition, first) {
                    (None, None) if steps.is_empty() => syntax.endless.to_string(),
                    (Some(condition), None) if steps.is_empty() => format!("while {open}{condition}{close}"),
                    _ => {
                        let condition = condition.as_ref().map_or_else(String::new, |text| format!(" {text}"));
                        let steps = if steps.is_empty() { String::new() } else { format!(" {}", steps.join(", ")) };
                        let first = first.as_ref().map_or_else(String::new, |first| (syntax.declared)(first));
                        format!("for ({first};{condition};{steps})")
                    }
                };
                self.add(origin, &format!("{hint}{head} {{"), declared);
                self.nested(body);
                self.add(origin, "}", Vec::new());
            }
            Kind::Do { body, ends, hint } => {
                self.add(origin, &format!("{hint}{} {{", syntax.repeated), Vec::new());
                self.nested(body);
                (syntax.ends)(ends).iter().for_each(|line| self.add(origin, line, Vec::new()));
            }
            Kind::Loop { body, between, ends } => self.continued(origin, body, between, ends.as_ref()),
            Kind::Switch { selector, arms, hint } => {
                self.add(origin, &format!("{hint}switch {open}{selector}{close} {{"), Vec::new());
                self.depth += syntax.arms;
                for arm in arms {
                    let mut lines = (syntax.labels)(&arm.labels);
                    let last = lines.pop().unwrap_or_default();
                    lines.iter().for_each(|line| self.add(origin, line, Vec::new()));
                    self.add(origin, &format!("{last} {{"), Vec::new());
                    self.nested(&arm.body);
                    self.add(origin, "}", Vec::new());
                }
                self.depth -= syntax.arms;
                self.add(origin, "}", Vec::new());
            }
        }
    }

    fn continued(&mut self, origin: Origin, body: &[Stmt], between: &[Stmt], ends: Option<&Expr>) {
        self.add(origin, &format!("{} {{", self.syntax.endless), Vec::new());
        self.nested(body);
        self.depth += 1;
        self.add(origin, "continuing {", Vec::new());
        self.nested(between);
        self.depth += 1;
        if let Some(ends) = ends {
            self.add(origin, &format!("break if {};", ends.text), Vec::new());
        }
        self.depth -= 1;
        self.add(origin, "}", Vec::new());
        self.depth -= 1;
        self.add(origin, "}", Vec::new());
    }

    fn conditional(&mut self, origin: Origin, condition: &Expr, [then, otherwise]: [&Vec<Stmt>; 2], hint: &str) {
        let (condition, then, otherwise) = match then.is_empty() && !otherwise.is_empty() {
            true => (condition.not(), otherwise, then),
            false => (condition.clone(), then, otherwise),
        };
        let [open, close] = self.syntax.around;
        self.add(origin, &format!("{hint}if {open}{}{close} {{", condition.text), Vec::new());
        self.nested(then);
        let mut rest = otherwise.as_slice();
        // `else if` if the other arm is only another selection.
        while let Some((condition, then, otherwise)) = else_if(rest) {
            self.add(origin, &format!("}} else if {open}{}{close} {{", condition.text), Vec::new());
            self.nested(then);
            rest = otherwise;
        }
        if !rest.is_empty() {
            self.add(origin, "} else {", Vec::new());
            self.nested(rest);
        }
        self.add(origin, "}", Vec::new());
    }
}

/// The parts of the selection if an arm is only that, so that it becomes `else if`.
pub(super) fn else_if(block: &[Stmt]) -> Option<(&Expr, &Vec<Stmt>, &Vec<Stmt>)> {
    match block {
        [Stmt { kind: Kind::If { condition, then, otherwise, hint: "" }, .. }] if !then.is_empty() => {
            Some((condition, then, otherwise))
        }
        _ => None,
    }
}

/// The `#line` directive of C's preprocessor.
pub(super) fn line_directive(line: u32, file: &str) -> String {
    let file: String = file.chars().filter(|c| !c.is_control()).collect();
    format!("#line {line} \"{}\"", file.replace('\\', "\\\\").replace('"', "\\\""))
}
