//! Entry points: a stage's inputs are arguments, its outputs the result (WGSL 13.3.1, Inter-stage Input and Output).

use super::Wgsl;
use super::math::call;
use super::stage::{Leaf, Port, uses_of};
use crate::backend::source::expr::Expr;
use crate::backend::source::function::Body;
use crate::backend::source::tree::{Declared, Kind, Stmt};
use crate::backend::source::writer::Writer;
use crate::backend::written::names_in;
use crate::ir::{ArrayLen, EntryPoint, Scalar, Space, Stage, Type, TypeId};

/// Maximum width of a function's header before each argument gets a line.
const WIDEST: usize = 110;

/// The result of an entry point.
#[derive(Clone, Default, Debug)]
pub(super) struct Outputs {
    leaves: Vec<Leaf>,
    /// The variable of the output struct, if there are several outputs.
    whole: String,
    ty: String,
    /// The statements that declare variables.
    declared: Vec<Kind>,
}

impl Wgsl {
    /// Finds the outputs of an entry point, and the variables for them in its function.
    pub fn begin(&self, b: &mut Body) {
        b.t.wgsl.named_constants.clear();
        let Some(entry) = b.entry else { return };
        b.t.wgsl.places.clear();
        let ports: Vec<Port> =
            uses_of(b.t, b.id).into_iter().filter(|port| self.space_of(b.t, *port) == Space::Output).collect();
        let mut outputs = Outputs::default();
        for port in &ports {
            outputs.leaves.extend(self.leaves(b.t, *port, entry.stage));
        }
        self.add_blend_sources(b.t, &mut outputs.leaves);
        let is_struct = outputs.leaves.len() > 1;
        if is_struct {
            // Several entry points have one each.
            let is_taken = b.t.wgsl.has_outputs;
            b.t.wgsl.has_outputs = true;
            outputs.ty = if is_taken { b.t.names.unique("Output", None) } else { b.t.ports.types[1].clone() };
            outputs.whole = b.named("output");
            self.name_members(b.t, &mut outputs.leaves);
        }
        for port in ports {
            let is_own = !b.t.wgsl.shared.contains(&port);
            let name = self.port_name(b.t, port);
            b.t.span = self.span_of_port(b.t, port);
            let leaf = outputs.leaves.iter().find(|leaf| leaf.port == port && leaf.path.is_empty());
            let place = match leaf {
                Some(leaf) if is_own && is_struct && self.given_type(b.t, leaf.ty, leaf.given) == leaf.ty => {
                    format!("{}.{}", outputs.whole, leaf.name)
                }
                _ if is_own => {
                    let ty = b.t.type_name(self.type_of_port(b.t, port));
                    outputs.declared.push(variable(ty, &name));
                    name
                }
                _ => self.private_port(b.t, port),
            };
            b.t.wgsl.places.insert(port, place);
        }
        if is_struct {
            outputs.declared.insert(0, variable(outputs.ty.clone(), &outputs.whole));
            let mut lines = Vec::new();
            for leaf in &outputs.leaves {
                let ty = self.given_name(b.t, leaf);
                lines.push(format!("    {} {}: {ty},", leaf.attributes, leaf.name));
                if let Port::Located(id) = leaf.port {
                    b.t.remark_on_port(id, lines.last_mut());
                }
            }
            b.t.declare_struct(&outputs.ty, lines);
        }
        b.t.wgsl.outputs = outputs;
    }

    /// If one output is a second blend source, marks the others as the first.
    fn add_blend_sources(&self, t: &mut Writer, leaves: &mut [Leaf]) {
        if leaves.iter().any(|leaf| leaf.source.is_some()) {
            t.need("dual_source_blending");
            for leaf in leaves.iter_mut().filter(|leaf| leaf.attributes.starts_with("@location")) {
                if !leaf.attributes.starts_with("@location(0)") {
                    t.span = self.span_of_port(t, leaf.port);
                    t.lacks("second sources of blending at other locations than 0");
                }
                leaf.attributes.push_str(&format!(" @blend_src({})", leaf.source.unwrap_or(0)));
            }
        }
    }

    /// Gives each member of the struct of outputs a unique name.
    fn name_members(&self, t: &Writer, leaves: &mut [Leaf]) {
        let mut names = crate::backend::source::names::Names::new(t.language);
        for leaf in leaves {
            leaf.name = names.unique(&leaf.name, None);
        }
    }

    /// The language's type of an input or output.
    fn given_name(&self, t: &mut Writer, leaf: &Leaf) -> String {
        let ty = self.given_type(t, leaf.ty, leaf.given);
        t.type_name(ty)
    }

    /// The language's type for an input or output: scalars and vectors may have other scalar types than in the module.
    fn given_type(&self, t: &mut Writer, ty: TypeId, given: Scalar) -> TypeId {
        match t.types.components(ty) {
            Some(size) => t.types.vector(given, size),
            None => ty,
        }
    }

    pub fn entry_signature(&self, b: &mut Body, entry: &EntryPoint) -> String {
        let params = self.arguments(b, entry.stage);
        let outputs = b.t.wgsl.outputs.clone();
        let origin = b.origin;
        b.setup.splice(0..0, outputs.declared.into_iter().map(|kind| Stmt::new(origin, kind)));
        let result = match outputs.leaves.as_slice() {
            [] => String::new(),
            [only] => format!(" -> {} {}", only.attributes, self.given_name(b.t, only)),
            _ => format!(" -> {}", outputs.ty),
        };
        let attributes = match entry.stage {
            Stage::Vertex => "@vertex".to_string(),
            Stage::Fragment => "@fragment".to_string(),
            _ => format!("@compute @workgroup_size({})", self.workgroup_size(b.t, entry)),
        };
        let list = params.join(", ");
        let params = match list.len() + result.len() > WIDEST {
            true => format!("\n    {},\n", params.join(",\n    ")),
            false => list,
        };
        format!("{attributes}\nfn {}({params}){result} {{", entry.name)
    }

    /// The sizes of a workgroup, without trailing ones.
    fn workgroup_size(&self, t: &mut Writer, entry: &EntryPoint) -> String {
        let sizes = entry.workgroup_size.map(|id| match t.module.constants.bits(id) {
            Some(size) => size.to_string(),
            None => t.constant(id).text,
        });
        let used = sizes.iter().rposition(|size| size != "1").map_or(1, |last| last + 1);
        sizes[..used].join(", ")
    }

    /// The arguments, and the statements that fill variables of inputs.
    fn arguments(&self, b: &mut Body, stage: Stage) -> Vec<String> {
        let mut params = Vec::new();
        let mut filled = Vec::new();
        for port in uses_of(b.t, b.id) {
            if self.space_of(b.t, port) == Space::Output {
                continue;
            }
            let leaves = self.leaves(b.t, port, stage);
            let ty = self.type_of_port(b.t, port);
            if b.t.shape(ty).is_some() {
                params.extend(self.plain_argument(b, port, &leaves, &mut filled));
            } else {
                params.extend(self.composite_arguments(b, (port, ty), &leaves, &mut filled));
            }
        }
        let origin = b.origin;
        b.setup.splice(0..0, filled.into_iter().map(|kind| Stmt::new(origin, kind)));
        params
    }

    /// An input passed directly as an argument.
    fn plain_argument(&self, b: &mut Body, port: Port, leaves: &[Leaf], filled: &mut Vec<Kind>) -> Option<String> {
        let leaf = leaves.first()?;
        let known = b.t.wgsl.places.get(&port).cloned();
        let is_shared = b.t.wgsl.shared.contains(&port);
        let name = match known {
            Some(name) => name,
            None if is_shared => b.named(&leaf.name),
            None => leaf.name.clone(),
        };
        if is_shared {
            let private = self.private_port(b.t, port);
            filled.push(Kind::Line(format!("{private} = {name};")));
        }
        Some(format!("{} {name}: {}", leaf.attributes, self.given_name(b.t, leaf)))
    }

    /// The arguments that an input consists of, and the statement that assembles it.
    fn composite_arguments(
        &self,
        b: &mut Body,
        (port, ty): (Port, TypeId),
        leaves: &[Leaf],
        filled: &mut Vec<Kind>,
    ) -> Vec<String> {
        let mut params = Vec::new();
        let mut values = Vec::new();
        for leaf in leaves {
            let name = b.named(&leaf.name);
            params.push(format!("{} {name}: {}", leaf.attributes, self.given_name(b.t, leaf)));
            let value = Expr::primary(name);
            let value = self.as_scalar(b.t, &value, leaf.ty, leaf.given, false);
            values.push((leaf.path.clone(), value));
        }
        let value = self.made_of(b.t, ty, "", &values).text;
        let place = b.t.wgsl.places.get(&port).cloned();
        match place {
            Some(name) if !b.t.wgsl.shared.contains(&port) => {
                let ty = b.t.type_name(ty);
                let declared = Declared { ty, name, dims: String::new(), value: Some(value), is_fixed: false };
                filled.push(Kind::Define(declared));
            }
            _ => {
                let name = self.private_port(b.t, port);
                filled.push(Kind::Line(format!("{name} = {value};")));
            }
        }
        params
    }

    /// A composite of the values of its parts; unused parts are zero.
    fn made_of(&self, t: &mut Writer, ty: TypeId, path: &str, values: &[(String, Expr)]) -> Expr {
        if let Some((_, value)) = values.iter().find(|(of, _)| of == path) {
            return value.clone();
        }
        if !values.iter().any(|(of, _)| of.starts_with(path)) {
            return t.zero(ty);
        }
        let parts: Vec<(TypeId, String)> = match t.types.get(ty) {
            Type::Matrix { scalar, columns, rows, .. } => {
                let column = t.types.vector(scalar, rows);
                (0..columns).map(|n| (column, format!("[{n}]"))).collect()
            }
            Type::Array { element, len: ArrayLen::Fixed(len), .. } => {
                (0..len).map(|n| (element, format!("[{n}]"))).collect()
            }
            Type::Struct(of) => {
                let names = t.member_names(of);
                let members = &t.types.structs[of].members;
                members.iter().zip(names.iter()).map(|(member, name)| (member.ty, format!(".{name}"))).collect()
            }
            _ => return t.zero(ty),
        };
        let mut made = Vec::new();
        for (part, suffix) in parts {
            made.push(self.made_of(t, part, &format!("{path}{suffix}"), values));
        }
        let name = t.type_name(ty);
        call(&name, &made)
    }

    /// A value converted between the module's scalar type and the language's.
    fn as_scalar(&self, t: &mut Writer, value: &Expr, ty: TypeId, given: Scalar, gives: bool) -> Expr {
        let other = self.given_type(t, ty, given);
        if gives { t.converted(value, ty, other) } else { t.converted(value, other, ty) }
    }

    /// Gives back the outputs.
    pub fn leave_entry(&self, b: &mut Body) {
        let outputs = b.t.wgsl.outputs.clone();
        let is_struct = outputs.leaves.len() > 1;
        for leaf in &outputs.leaves {
            let place = b.t.wgsl.places.get(&leaf.port).cloned().unwrap_or_default();
            let value = Expr::primary(format!("{place}{}", leaf.path));
            let value = self.as_scalar(b.t, &value, leaf.ty, leaf.given, true);
            let member = format!("{}.{}", outputs.whole, leaf.name);
            if !is_struct {
                return b.line(format!("return {}", value.text));
            }
            if value.text != member {
                b.line(format!("{member} = {}", value.text));
            }
        }
        b.line(if is_struct { format!("return {}", outputs.whole) } else { "return".to_string() });
    }

    /// Returns the only output directly, if nothing else uses its variable.
    pub fn polish(&self, b: &mut Body, code: &mut Vec<Stmt>) {
        let outputs = &b.t.wgsl.outputs;
        let ([only], [Kind::Define(declared)]) = (outputs.leaves.as_slice(), outputs.declared.as_slice()) else {
            return;
        };
        let name = declared.name.clone();
        if b.entry.is_none() || !only.path.is_empty() {
            return;
        }
        let returned = format!("return {name};");
        let stored = format!("{name} = ");
        let [.., before, last] = code.as_slice() else { return };
        let (Kind::Line(before), Kind::Line(last)) = (&before.kind, &last.kind) else { return };
        let Some(value) = before.strip_prefix(&stored).filter(|_| *last == returned).map(str::to_string) else {
            return;
        };
        if code.iter().chain(&b.setup).map(|stmt| mentions(stmt, &name)).sum::<usize>() != 2 || value.contains(&name) {
            return;
        }
        code.pop();
        if let Some(stmt) = code.last_mut() {
            stmt.kind = Kind::Line(format!("return {value}"));
        }
        b.t.wgsl.outputs.declared.clear();
    }
}

/// The declaration of a variable without a value.
fn variable(ty: String, name: &str) -> Kind {
    Kind::Define(Declared { ty, name: name.to_string(), dims: String::new(), value: None, is_fixed: false })
}

/// How many statements in a statement name a variable.
fn mentions(stmt: &Stmt, name: &str) -> usize {
    let of = |text: &str| usize::from(names_in(text).iter().any(|word| word == name));
    let all = |block: &[Stmt]| block.iter().map(|stmt| mentions(stmt, name)).sum::<usize>();
    match &stmt.kind {
        Kind::Line(text) => of(text),
        Kind::Define(declared) => declared.value.as_deref().map_or(0, of),
        Kind::Demote | Kind::Comment(_) | Kind::Directive(_) => 0,
        Kind::If { condition, then, otherwise, .. } => of(&condition.text) + all(then) + all(otherwise),
        Kind::For { first, condition, steps, body, .. } => {
            let first = first.as_ref().and_then(|first| first.value.as_deref()).map_or(0, of);
            first + condition.as_deref().map_or(0, of) + steps.iter().map(|step| of(step)).sum::<usize>() + all(body)
        }
        Kind::Do { body, ends, .. } => all(body) + of(&ends.text),
        Kind::Loop { body, between, ends } => all(body) + all(between) + ends.as_ref().map_or(0, |ends| of(&ends.text)),
        Kind::Switch { selector, arms, .. } => of(selector) + arms.iter().map(|arm| all(&arm.body)).sum::<usize>(),
    }
}
