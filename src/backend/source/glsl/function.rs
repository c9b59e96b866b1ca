//! Functions, and facts about the stage that depend on their bodies.

use super::types::sampler_name;
use super::{Dialect, versions};
use crate::backend::source::expr::Expr;
use crate::backend::source::function::Body;
use crate::backend::source::image::Root;
use crate::ir::{ControlHint, EntryPoint, Param, Type, TypeId};

impl Dialect {
    pub fn signature(&self, b: &mut Body, name: &str, params: &[String], entry: Option<&EntryPoint>) -> String {
        let ret = b.t.type_name(b.f.ret);
        let note = entry.map_or("", |entry| self.reconvergence(b.t, entry));
        format!("{ret} {name}({}){note} {{", params.join(", "))
    }

    pub fn parameter(&self, b: &mut Body, index: u32, param: &Param, name: &str) -> String {
        let (mode, ty) = b.mode_of(param);
        let access = b.t.param_access.get(&(b.id, index)).copied().unwrap_or_default();
        let access = access | self.only_access(b.t, Root::Param(b.id, index), (ty, access));
        let access = if b.is_image(ty) { super::globals::access_words(access) } else { String::new() };
        let (mut text, dims) = b.t.declared(ty);
        if let Type::Sampler = b.t.types.get(b.t.innermost(ty)) {
            text = sampler_name(b.t, Root::Param(b.id, index)).to_string();
        }
        // Most samplers have no default precision in ES.
        let is_handle = matches!(b.t.types.get(b.t.innermost(ty)), Type::Image(_) | Type::SampledImage(_));
        let precision = if self.is_es && is_handle { "highp " } else { "" };
        format!("{mode}{access}{precision}{text} {name}{dims}")
    }

    pub fn mixed(&self, b: &mut Body, [c, a, r]: &[Expr; 3], ty: TypeId) -> Expr {
        let Some((scalar, _)) = b.t.shape(ty) else {
            return b.t.broken("a choice by components of no vector");
        };
        if scalar.width == 32 || scalar.is_bool() {
            if !scalar.is_float() {
                self.require(b.t, &versions::INTEGER_MIXES);
            }
            return Expr::call("mix", &[r.clone(), a.clone(), c.clone()]);
        }
        b.chosen_apart([c, a, r], ty)
    }

    pub fn hint(&self, b: &mut Body, hint: ControlHint) -> &'static str {
        let text = match hint {
            ControlHint::None => return "",
            _ if !self.is_vulkan => return "",
            ControlHint::Unroll => "[[unroll]] ",
            ControlHint::DontUnroll => "[[dont_unroll]] ",
            ControlHint::Flatten => "[[flatten]] ",
            ControlHint::DontFlatten => "[[dont_flatten]] ",
        };
        b.t.need("GL_EXT_control_flow_attributes");
        text
    }

    pub fn print(&self, b: &mut Body, text: &str, args: Vec<Expr>) {
        b.t.need("GL_EXT_debug_printf");
        let mut list = vec![Expr::primary(quoted(text))];
        list.extend(args);
        let call = Expr::call("debugPrintfEXT", &list);
        b.line(call.text);
    }
}

/// A text as a string literal.
fn quoted(text: &str) -> String {
    let mut made = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => made.push_str("\\n"),
            '\t' => made.push_str("\\t"),
            '"' | '\\' => made.extend(['\\', c]),
            other => made.push(other),
        }
    }
    made.push('"');
    made
}
