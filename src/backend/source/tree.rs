//! Statements, and their text with margins.

use super::expr::Expr;
use crate::backend::written::{Written, names_in};
use crate::kernel::Origin;
use crate::limits;

/// A statement with what it was made for.
#[derive(Clone, Debug)]
pub(super) struct Stmt {
    pub origin: Origin,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// One that ends with its line.
    Line(String),
    /// The declaration of a name with its value, or without.
    Define {
        ty: String,
        name: String,
        dims: String,
        value: Option<String>,
    },
    Comment(String),
    If {
        condition: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
        hint: &'static str,
    },
    /// Without a condition it runs for ever.
    For {
        /// Type, name and value of the variable that is declared in its head.
        first: Option<Box<[String; 3]>>,
        condition: Option<String>,
        steps: Vec<String>,
        body: Vec<Stmt>,
        hint: &'static str,
    },
    Do {
        body: Vec<Stmt>,
        condition: String,
        hint: &'static str,
    },
    Switch {
        selector: String,
        arms: Vec<Arm>,
        hint: &'static str,
    },
}

/// An arm of a switch; without a jump at its end it goes on in the next.
#[derive(Clone, Debug)]
pub(super) struct Arm {
    pub labels: Vec<String>,
    pub body: Vec<Stmt>,
}

impl Stmt {
    /// Returns true if nothing after it in its block runs.
    pub fn jumps(&self) -> bool {
        match &self.kind {
            Kind::Line(text) => {
                let first = text.split([' ', ';']).next().unwrap_or_default();
                matches!(first, "break" | "continue" | "return" | "discard" | "terminateInvocation")
            }
            Kind::If { then, otherwise, .. } => {
                let ends = |block: &[Stmt]| block.last().is_some_and(Stmt::jumps);
                ends(then) && ends(otherwise)
            }
            _ => false,
        }
    }
}

/// The lines of a text being written.
#[derive(Default)]
pub(super) struct Lines {
    pub lines: Vec<Written>,
    depth: usize,
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

    pub fn indented(depth: usize) -> Lines {
        Lines { lines: Vec::new(), depth }
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
        let origin = stmt.origin;
        match &stmt.kind {
            Kind::Line(text) => self.add(origin, text, Vec::new()),
            Kind::Define { ty, name, dims, value } => {
                let value = value.as_ref().map_or_else(String::new, |value| format!(" = {value}"));
                self.add(origin, &format!("{ty} {name}{dims}{value};"), vec![name.clone()]);
            }
            Kind::Comment(text) => self.add(origin, &format!("// {text}"), Vec::new()),
            Kind::If { condition, then, otherwise, hint } => {
                self.conditional(origin, condition, [then, otherwise], hint)
            }
            Kind::For { first, condition, steps, body, hint } => {
                let declared = first.iter().map(|first| first[1].clone()).collect();
                let head = match condition {
                    Some(condition) if steps.is_empty() && first.is_none() => format!("{hint}while ({condition}) {{"),
                    condition => {
                        let condition = condition.as_ref().map_or_else(String::new, |text| format!(" {text}"));
                        let steps = if steps.is_empty() { String::new() } else { format!(" {}", steps.join(", ")) };
                        let first = first.as_ref().map_or_else(String::new, |first| {
                            let [ty, name, value] = first.as_ref();
                            format!("{ty} {name} = {value}")
                        });
                        format!("{hint}for ({first};{condition};{steps}) {{")
                    }
                };
                self.add(origin, &head, declared);
                self.nested(body);
                self.add(origin, "}", Vec::new());
            }
            Kind::Do { body, condition, hint } => {
                self.add(origin, &format!("{hint}do {{"), Vec::new());
                self.nested(body);
                self.add(origin, &format!("}} while ({condition});"), Vec::new());
            }
            Kind::Switch { selector, arms, hint } => {
                self.add(origin, &format!("{hint}switch ({selector}) {{"), Vec::new());
                for arm in arms {
                    for label in &arm.labels[..arm.labels.len().saturating_sub(1)] {
                        self.add(origin, &format!("{label}:"), Vec::new());
                    }
                    let last = arm.labels.last().map_or("default", String::as_str);
                    self.add(origin, &format!("{last}: {{"), Vec::new());
                    self.nested(&arm.body);
                    self.add(origin, "}", Vec::new());
                }
                self.add(origin, "}", Vec::new());
            }
        }
    }

    fn conditional(&mut self, origin: Origin, condition: &Expr, [then, otherwise]: [&Vec<Stmt>; 2], hint: &str) {
        let (condition, then, otherwise) = match then.is_empty() && !otherwise.is_empty() {
            true => (condition.not(), otherwise, then),
            false => (condition.clone(), then, otherwise),
        };
        self.add(origin, &format!("{hint}if ({}) {{", condition.text), Vec::new());
        self.nested(then);
        let mut rest = otherwise.as_slice();
        // `else if` where the other arm is nothing but another selection.
        while let [Stmt { kind: Kind::If { condition, then, otherwise, hint: "" }, .. }] = rest
            && !then.is_empty()
        {
            self.add(origin, &format!("}} else if ({}) {{", condition.text), Vec::new());
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
