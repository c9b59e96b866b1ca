//! Functions whose arguments are not plain values: `interpolateAt…` for fragment inputs (GLSL 4.60 section 8.13.2) and
//! `debugPrintfEXT` (GL_EXT_debug_printf).

use super::Sema;
use super::expressions::Lowered;
use super::lvalue::LValue;
use super::memory;
use crate::diagnostic::Code;
use crate::glsl::ast::{ExprId, ExprKind, List, Name};
use crate::glsl::types::counted;
use crate::ir::build::Builder;
use crate::ir::{self, Binding, Interpolation, Scalar, Space, Stage, Type, Types, Value};
use crate::source::Span;
use smallvec::SmallVec;

/// Their names; `None` for `debugPrintfEXT`.
const FUNCTIONS: [(&str, Option<ir::InterpolateAt>); 5] = [
    ("interpolateAtCentroid", Some(ir::InterpolateAt::Centroid)),
    ("interpolateAtSample", Some(ir::InterpolateAt::Sample)),
    ("interpolateAtOffset", Some(ir::InterpolateAt::Offset)),
    ("interpolateAtVertexAMD", Some(ir::InterpolateAt::Vertex)),
    ("debugPrintfEXT", None),
];

const EXPLICIT: &str = "GL_AMD_shader_explicit_vertex_parameter";

/// Returns true if a place is in an input that is declared `__explicitInterpAMD`: the variable, or the block's member.
pub fn is_explicit(b: &Builder<'_>, lvalue: &LValue) -> bool {
    let Value::Global(id) = lvalue.root else { return false };
    let global = &b.module.globals[id];
    let declared = |binding| matches!(binding, Binding::Location { interpolation: Interpolation::Explicit, .. });
    let member = match (b.module.types.get(global.ty), lvalue.path.first()) {
        (Type::Struct(of), Some(Value::Const(index))) => {
            let index = b.module.constants.bits(*index).unwrap_or(0) as usize;
            b.module.types.structs[of].members.get(index).map(|member| member.binding)
        }
        _ => None,
    };
    declared(global.binding) || member.is_some_and(declared)
}

impl Sema<'_> {
    /// A call of one of these functions; `None` for all others.
    #[expect(clippy::option_option, reason = "what is wrong and reported differs from what is another function")]
    pub fn call_with_memory(
        &mut self,
        b: &mut Builder<'_>,
        callee: Name,
        args: List<ExprId>,
        whole: Span,
    ) -> Option<Option<Lowered>> {
        let name = self.text(callee.symbol);
        let (_, at) = FUNCTIONS.into_iter().find(|(known, _)| *known == name)?;
        Some(match at {
            Some(at) => self.interpolate(b, at, callee, args, whole),
            None => self.debug_printf(b, callee, args, whole),
        })
    }

    fn interpolate(
        &mut self,
        b: &mut Builder<'_>,
        at: ir::InterpolateAt,
        callee: Name,
        args: List<ExprId>,
        whole: Span,
    ) -> Option<Lowered> {
        let name = self.text(callee.symbol);
        if self.env.stage != Stage::Fragment {
            let message = format!("`{name}` belongs to fragment shaders");
            self.error(Code::WRONG_STAGE, callee.span, message, "nothing is interpolated here");
            return None;
        }
        let wanted = if at == ir::InterpolateAt::Centroid { 1 } else { 2 };
        let ast = self.ast;
        let given = &ast[args];
        if given.len() != wanted {
            self.wrong_count(name, wanted, whole);
            return None;
        }
        if at == ir::InterpolateAt::Vertex && !self.env.is_enabled(EXPLICIT) {
            self.needs_extension("the values of single vertices need", EXPLICIT, callee.span);
            return None;
        }
        let lvalue = self.interpolant(b, given[0], at)?;
        self.check_explicit(b, at, &lvalue, ast[given[0]].span)?;
        let mut operands: SmallVec<[Value; 1]> = SmallVec::new();
        for arg in &given[1..] {
            let ty = match at {
                ir::InterpolateAt::Sample => Types::I32,
                ir::InterpolateAt::Vertex => Types::U32,
                ir::InterpolateAt::Centroid | ir::InterpolateAt::Offset => b.module.types.vector(Scalar::F32, 2),
            };
            let value = self.value(b, *arg)?;
            let value = self.coerce(b, value, ty, ast[*arg].span)?;
            if at == ir::InterpolateAt::Vertex {
                self.check_vertex(b, value, ast[*arg].span)?;
            }
            operands.push(value);
        }
        b.span = whole;
        let pointer = memory::pointer(b, &lvalue);
        let value = b.interpolate(at, pointer, &operands);
        Some(Lowered::Value(match &lvalue.swizzle {
            Some(swizzle) => b.swizzle(value, swizzle.components()),
            None => value,
        }))
    }

    /// Inputs without interpolation have values only at vertices, and other inputs have none there.
    fn check_explicit(&mut self, b: &Builder<'_>, at: ir::InterpolateAt, lvalue: &LValue, span: Span) -> Option<()> {
        if is_explicit(b, lvalue) == (at == ir::InterpolateAt::Vertex) {
            return Some(());
        }
        let message = match at {
            ir::InterpolateAt::Vertex => {
                "only inputs that are declared `__explicitInterpAMD` have values of single vertices"
            }
            _ => "an input that is declared `__explicitInterpAMD` is not interpolated",
        };
        self.error(Code::TYPE_MISMATCH, span, message, "not such an input");
        None
    }

    /// The number of a vertex is 0, 1 or 2, and constant.
    fn check_vertex(&mut self, b: &Builder<'_>, value: Value, span: Span) -> Option<()> {
        let number = match value {
            Value::Const(id) => b.module.constants.bits(id),
            _ => None,
        };
        match number {
            Some(0..=2) => return Some(()),
            Some(_) => self.error(Code::ARGUMENT_RANGE, span, "a triangle has the vertices 0 to 2", "beyond them"),
            None => {
                let message = "the number of a vertex must be a constant expression";
                let label = "its value is not known when the shader is compiled";
                self.error(Code::ARGUMENT_NOT_CONSTANT, span, message, label);
            }
        }
        None
    }

    /// A float input, or a part of one. Integers have values at vertices.
    fn interpolant(&mut self, b: &mut Builder<'_>, arg: ExprId, at: ir::InterpolateAt) -> Option<LValue> {
        let span = self.ast[arg].span;
        let fits = |scalar: Scalar| scalar.is_float() || at == ir::InterpolateAt::Vertex;
        match self.lower(b, arg)? {
            Lowered::LValue(lvalue)
                if lvalue.space == Space::Input
                    && b.module.types.components(lvalue.ty).is_some()
                    && b.module.types.scalar_of(lvalue.ty).is_some_and(fits) =>
            {
                Some(lvalue)
            }
            _ => {
                let message = "only inputs of floats are interpolated";
                self.error(Code::TYPE_MISMATCH, span, message, "not such an input");
                None
            }
        }
    }

    fn debug_printf(&mut self, b: &mut Builder<'_>, callee: Name, args: List<ExprId>, whole: Span) -> Option<Lowered> {
        if !self.env.is_enabled("GL_EXT_debug_printf") {
            self.needs_extension("printing needs", "GL_EXT_debug_printf", callee.span);
            return None;
        }
        let ast = self.ast;
        let Some((ExprKind::String(text), rest)) =
            ast[args].split_first().map(|(first, rest)| (ast[*first].kind, rest))
        else {
            let message = "the first argument of `debugPrintfEXT` is a string literal";
            self.error(Code::NO_OVERLOAD, whole, message, "not a string literal");
            return None;
        };
        let mut values: SmallVec<[Value; 4]> = SmallVec::new();
        for arg in rest {
            values.push(self.printed(b, *arg)?);
        }
        let asked = conversions(self.text(text));
        if asked != values.len() {
            let message = format!("the text prints {}", counted(asked, "value"));
            self.error(Code::NO_OVERLOAD, whole, message, format!("{} given", values.len()));
            return None;
        }
        b.span = whole;
        b.print(&unescaped(self.text(text)), &values);
        Some(Lowered::Void)
    }

    /// A number or a vector of numbers.
    fn printed(&mut self, b: &mut Builder<'_>, arg: ExprId) -> Option<Value> {
        let value = self.value(b, arg)?;
        let ty = b.type_of(value);
        if b.module.types.components(ty).is_some() {
            return Some(value);
        }
        let name = self.type_name(b, ty);
        let message = "only scalars and vectors are printed";
        self.error(Code::TYPE_MISMATCH, self.ast[arg].span, message, format!("this is `{name}`"));
        None
    }
}

/// The number of values in a format string: each `%` except a doubled one.
fn conversions(text: &str) -> usize {
    text.replace("%%", "").matches('%').count()
}

/// A text with its escapes, such as `\\n`, replaced by the characters.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some(other) => out.push(other),
            None => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::unescaped;

    #[test]
    fn escapes_become_characters() {
        assert_eq!(unescaped(r#"a\n\"b\" \\ %f"#), "a\n\"b\" \\ %f");
        assert_eq!(unescaped("plain"), "plain");
    }
}
