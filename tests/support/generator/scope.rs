//! The declarations of a random kernel so far, and the spelling of its parts.

use super::rng::Rng;
use super::types::{Kind, Structs, Ty};

#[derive(Debug, Clone)]
pub struct Variable {
    pub name: String,
    pub ty: Ty,
    pub writable: bool,
    /// A constant expression.
    pub constant: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    In,
    Out,
    InOut,
}

#[derive(Debug, Clone)]
pub struct Function {
    pub name: String,
    pub params: Vec<(Mode, Ty)>,
    pub ret: Option<Ty>,
}

/// Variables that are written only by functions with `out` parameters and by assignments inside expressions: each full
/// expression reads them only in evaluation order.
pub const EFFECTS: [&str; 3] = ["e0", "e1", "e2"];

/// The generator's state.
#[derive(Debug)]
pub struct Program {
    pub rng: Rng,
    pub text: String,
    pub structs: Structs,
    pub variables: Vec<Variable>,
    pub functions: Vec<Function>,
    /// Only constant expressions may be generated.
    pub constant: bool,
    /// Statements that may still be generated.
    pub budget: usize,
    /// Calls that may still be generated: drivers inline them all.
    pub calls: usize,
    pub loops: usize,
    pub indent: usize,
    pub names: usize,
    /// Invocations of the workgroup.
    pub invocations: usize,
    /// The type that `return` needs here.
    pub ret: Option<Ty>,
}

impl Program {
    pub fn new(seed: u64) -> Self {
        Self {
            rng: Rng::new(seed),
            text: String::new(),
            structs: Structs::default(),
            variables: Vec::new(),
            functions: Vec::new(),
            constant: false,
            budget: 0,
            calls: 0,
            loops: 0,
            indent: 0,
            names: 0,
            invocations: super::program::INVOCATIONS,
            ret: None,
        }
    }

    pub fn line(&mut self, line: &str) {
        self.text += &"    ".repeat(self.indent);
        self.text += line;
        self.text.push('\n');
    }

    pub fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    pub fn declare(&mut self, name: &str, ty: &Ty, writable: bool, constant: bool) {
        self.variables.push(Variable { name: name.to_string(), ty: ty.clone(), writable, constant });
    }

    /// A part of a variable with the type `ty`, if there is one.
    pub fn part(&mut self, ty: &Ty, writable: bool) -> Option<String> {
        let (structs, constant) = (&self.structs, self.constant);
        let fits =
            |v: &&Variable| (v.writable || !writable) && (v.constant || !constant) && structs.contains(&v.ty, ty);
        let found: Vec<Variable> = self.variables.iter().filter(fits).cloned().collect();
        if found.is_empty() {
            return None;
        }
        let root = self.rng.pick(&found).clone();
        Some(self.descend(root.name, &root.ty, ty, writable))
    }

    /// Descends from `path`, of type `from`, to a part of type `to`.
    fn descend(&mut self, path: String, from: &Ty, to: &Ty, writable: bool) -> String {
        match from {
            Ty::Vector(_, size) => {
                let Ty::Vector(_, wanted) = to else { unreachable!("a vector has only vectors inside") };
                self.components(path, *size, *wanted, writable)
            }
            _ if from == to => path,
            Ty::Matrix(columns, rows) => {
                let index = self.index(*columns);
                self.descend(format!("{path}[{index}]"), &Ty::Vector(Kind::Float, *rows), to, writable)
            }
            Ty::Array(element, len) => {
                let index = self.index(*len);
                self.descend(format!("{path}[{index}]"), element, to, writable)
            }
            Ty::Struct(of) => {
                let members = self.structs.0[*of].clone();
                let fits: Vec<usize> = (0..members.len()).filter(|m| self.structs.contains(&members[*m], to)).collect();
                let member = *self.rng.pick(&fits);
                self.descend(format!("{path}.m{member}"), &members[member], to, writable)
            }
        }
    }

    /// `wanted` components of a vector: itself, an index, a swizzle or a swizzle of a swizzle.
    fn components(&mut self, path: String, size: u8, wanted: u8, distinct: bool) -> String {
        if size == 1 || (size == wanted && !self.rng.once_in(3)) {
            return path;
        }
        if wanted == 1 && self.rng.once_in(2) {
            let index = self.index(size);
            return format!("{path}[{index}]");
        }
        if self.rng.once_in(5) {
            let inner = wanted.max(2) + self.rng.below(usize::from(size - wanted.max(2)) + 1) as u8;
            let swizzle = self.swizzle(size, inner, distinct);
            let outer = self.swizzle(inner, wanted, distinct);
            return format!("{path}.{swizzle}.{outer}");
        }
        let swizzle = self.swizzle(size, wanted, distinct);
        format!("{path}.{swizzle}")
    }

    fn swizzle(&mut self, size: u8, wanted: u8, distinct: bool) -> String {
        let set = *self.rng.pick(&["xyzw", "rgba", "stpq"]);
        let mut left: Vec<char> = set.chars().take(usize::from(size)).collect();
        let mut made = String::new();
        for _ in 0..wanted {
            let at = self.rng.below(left.len());
            made.push(if distinct { left.remove(at) } else { left[at] });
        }
        made
    }

    /// An index below `len`, constant or not.
    fn index(&mut self, len: u8) -> String {
        if !self.rng.once_in(3) {
            return self.rng.below(usize::from(len)).to_string();
        }
        let depth = self.rng.below(2);
        if len.is_power_of_two() {
            let value = self.pure(&super::types::INT, depth);
            return format!("{value} & {}", len - 1);
        }
        let value = self.pure(&super::types::UINT, depth);
        format!("{value} % {len}u")
    }
}
