//! Uniform, storage and push-constant blocks (GLSL 4.60 section 4.3.9): their layout, their variable, their names.

use super::Sema;
use super::expressions::Lowered;
use super::lvalue::{LValue, Mutability};
use super::qualifiers::Qualifiers;
use super::ray_tracing::RECORDS;
use super::scope::Entity;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, Decl, LayoutId};
use crate::ir::build::Builder;
use crate::ir::layout::{LayoutError, MemberRule, Problem, Rule};
use crate::ir::{ArrayLen, Binding, Global, Member, Space, Struct, StructId, Type, TypeId, Types, Value};
use crate::source::Span;
use rustc_hash::FxHashSet;

/// The default layout of blocks of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Usual {
    pub rule: Option<Rule>,
    pub row_major: bool,
}

/// `layout(…) uniform;`, `layout(…) buffer;` and `layout(…) shared;`.
#[derive(Clone, Copy, Debug)]
pub struct Defaults {
    pub uniform: Usual,
    pub buffer: Usual,
    pub shared: Usual,
}

impl Defaults {
    /// The defaults of the blocks in a space.
    const fn of(&mut self, space: Space) -> &mut Usual {
        match space {
            Space::Storage => &mut self.buffer,
            Space::Workgroup => &mut self.shared,
            _ => &mut self.uniform,
        }
    }
}

impl Default for Defaults {
    fn default() -> Defaults {
        let none = Usual { rule: None, row_major: false };
        Defaults { uniform: none, buffer: none, shared: none }
    }
}

/// The `layout(…)` of a block.
#[derive(Clone, Copy, Debug)]
struct BlockLayout {
    space: Space,
    rule: Rule,
    row_major: bool,
    set: Option<u32>,
    binding: Option<u32>,
    /// It declares a type of buffer references, with this alignment in bytes.
    reference: bool,
    reference_align: Option<u32>,
    /// The minimum alignment of each member without an explicit one.
    align: Option<u32>,
}

/// A declared member, next to its IR form.
struct Written {
    member: Member,
    rule: MemberRule,
    span: Span,
    name: ast::Name,
}

/// Layout identifiers that only affect memory layout.
enum MemoryLayout {
    Rule(Rule),
    RowMajor(bool),
    /// GLSL's `shared` and `packed`.
    Unknown,
}

impl Sema<'_> {
    pub fn block(&mut self, b: &mut Builder<'_>, decl: &Decl, block: &ast::Block) {
        let made = self.make_block(b, decl, block);
        if made.is_none() {
            self.scopes.declare(block.name.symbol, Entity::Error, block.name.span);
            self.declare_nothing(block);
        }
    }

    /// Declares the names of an invalid block, so that their uses are not reported.
    fn declare_nothing(&mut self, block: &ast::Block) {
        let ast = self.ast;
        match &block.instance {
            Some(instance) if self.text(instance.name.symbol).starts_with("gl_") => {}
            Some(instance) => self.declare(instance.name, Entity::Error),
            None => {
                for declarator in ast[block.members].iter().flat_map(|line| &ast[line.declarators]) {
                    self.declare(declarator.name, Entity::Error);
                }
            }
        }
    }

    fn make_block(&mut self, b: &mut Builder<'_>, decl: &Decl, block: &ast::Block) -> Option<()> {
        let qualifiers = self.qualifiers(decl.qualifiers);
        if qualifiers.task.is_none() && (qualifiers.input.is_some() || qualifiers.output.is_some()) {
            self.refuse_decorations(decl.qualifiers);
            return self.stage_block(b, decl, block);
        }
        if let (Some(of), Some(span)) = (qualifiers.of_ray, qualifiers.ray) {
            return self.ray_block(b, decl, (of, span), block);
        }
        let layout = self.block_layout(b, decl, &qualifiers)?;
        let reserved = layout.reference.then(|| self.reference_block(b, block, &layout));
        let mut written = self.block_members(b, block, layout.align)?;
        let open = self.settle_lengths(b, &layout, &mut written);
        self.check_record(b, layout.space, &written)?;
        let ty = self.lay_out_block(b, block, &layout, &written)?;
        for (number, member, declared) in open {
            self.open_member(b, ty, number, member, declared);
        }
        let ty = match reserved {
            Some(reserved) => self.define_reference(b, reserved, ty, layout.reference_align, qualifiers.access),
            None => ty,
        };
        if layout.reference && self.is_type_alone(block, &layout) {
            return Some(());
        }
        if layout.space == Space::TaskPayload {
            self.only_payload(b, "taskNV", block.name.span)?;
        }
        let (space, binding) = (layout.space, self.block_binding(b, &layout, block)?);
        let ty = match &block.instance {
            Some(instance) => self.block_array(b, ty, space, instance)?,
            None => ty,
        };
        let name = block.instance.as_ref().map_or("", |instance| self.text(instance.name.symbol));
        let (name, span, access) = (name.into(), block.name.span, qualifiers.access);
        let id = b.module.globals.push(Global { name, span, space, ty, binding, access, init: None });
        self.decorate(b, decl.qualifiers, id);
        let mutability = match space {
            Space::Storage | Space::Workgroup => Mutability::Writable,
            Space::TaskPayload => self.payload_mutability(block.name.span)?,
            _ => Mutability::Input,
        };
        let whole = LValue { access, mutability, ..LValue::new(Value::Global(id), space, ty) };
        self.declare_block(b, block, whole, &written);
        Some(())
    }

    /// Returns true if a block of buffer references is not a variable: it has no instance, or an instance without a
    /// binding, which cannot be used. A binding without an instance has no effect.
    fn is_type_alone(&mut self, block: &ast::Block, layout: &BlockLayout) -> bool {
        let Some(instance) = &block.instance else { return true };
        let is_bound = layout.binding.is_some() || self.env.dialect.auto_bindings;
        if !is_bound {
            self.declare(instance.name, Entity::Unbound);
        }
        !is_bound
    }

    /// `layout(buffer_reference) buffer Name { … };`: a type, and with an instance also a variable.
    fn reference_block(&mut self, b: &mut Builder<'_>, block: &ast::Block, layout: &BlockLayout) -> StructId {
        self.need_references(block.name.span);
        if layout.space != Space::Storage {
            let message = "a block of buffer references is a `buffer`";
            self.error(Code::BAD_LAYOUT, block.name.span, message, "another kind of block");
        }
        self.announced(b, block.name)
    }

    /// The length of a shader record, or of task memory, must be known (VUID-StandaloneSpirv-OpTypeRuntimeArray-04680).
    fn check_record(&mut self, b: &Builder<'_>, space: Space, written: &[Written]) -> Option<()> {
        let open =
            |item: &&Written| matches!(b.module.types.get(item.member.ty), Type::Array { len: ArrayLen::Runtime, .. });
        let what = match space {
            Space::ShaderRecord => "a shader record",
            Space::TaskPayload => "a `taskNV` block",
            _ => return Some(()),
        };
        let Some(item) = written.last().filter(open) else { return Some(()) };
        self.error(Code::BAD_LAYOUT, item.span, format!("an array in {what} needs a size"), "no size");
        None
    }

    fn declare_block(&mut self, b: &mut Builder<'_>, block: &ast::Block, whole: LValue, written: &[Written]) {
        if let Some(instance) = &block.instance {
            self.declare(instance.name, Entity::LValue(whole));
            return;
        }
        for (index, item) in written.iter().enumerate() {
            let Some(ty) = b.module.types.element(whole.ty, index as u32) else { continue };
            let mut lvalue = whole.clone().part(b.const_u32(index as u32), ty);
            lvalue.access |= item.member.access;
            self.declare(item.name, Entity::LValue(lvalue));
        }
    }

    fn block_array(
        &mut self,
        b: &mut Builder<'_>,
        ty: TypeId,
        space: Space,
        instance: &ast::Declarator,
    ) -> Option<TypeId> {
        if matches!(space, Space::PushConstant | Space::ShaderRecord | Space::TaskPayload)
            && !instance.dimensions.is_empty()
        {
            let message = match space {
                Space::TaskPayload => "a `taskNV` block cannot be an array",
                _ => "a block of push constants, or a shader record, cannot be an array",
            };
            self.error(Code::BAD_DECLARATION, instance.span, message, "an array");
            return None;
        }
        self.with_dimensions(b, ty, instance.dimensions)
    }

    fn block_binding(&mut self, b: &Builder<'_>, layout: &BlockLayout, block: &ast::Block) -> Option<Binding> {
        if matches!(layout.space, Space::PushConstant | Space::Workgroup | Space::ShaderRecord | Space::TaskPayload) {
            return Some(Binding::None);
        }
        let automatic = |sema: &mut Self| sema.automatic_binding(b.module, layout.set.is_some());
        let Some(binding) = layout.binding.or_else(|| automatic(self)) else {
            let message = format!("block `{}` needs a binding", self.text(block.name.symbol));
            let note = self.binding_note();
            self.report(Diagnostic::error(Code::BAD_LAYOUT, message).at(block.name.span, "no binding").note(note));
            // The members are still declared.
            return Some(Binding::Resource { set: layout.set.unwrap_or(0), binding: 0 });
        };
        Some(Binding::Resource { set: layout.set.unwrap_or(0), binding })
    }

    fn block_layout(&mut self, b: &mut Builder<'_>, decl: &Decl, qualifiers: &Qualifiers) -> Option<BlockLayout> {
        let ids = self.layout_ids(decl.qualifiers);
        let push = ids.iter().find(|id| self.text(id.name.symbol) == "push_constant");
        if let Some(id) = push.filter(|_| !self.env.profile.client.row().has_sets) {
            self.no_part_of_client("push constants", id.span);
            return None;
        }
        let record = ids.iter().find(|id| RECORDS.contains(&self.text(id.name.symbol)));
        let space = match record {
            Some(id) if qualifiers.buffer.is_some() => self.shader_record(b, id)?,
            _ => self.block_space(decl, qualifiers, push.is_some())?,
        };
        let default = *self.block_defaults.of(space);
        let usual = if space == Space::Uniform { Rule::Std140 } else { Rule::Std430 };
        let is_own = matches!(space, Space::PushConstant | Space::TaskPayload);
        let rule = if is_own { usual } else { default.rule.unwrap_or(usual) };
        let row_major = default.row_major && space != Space::TaskPayload;
        let mut layout = BlockLayout {
            space,
            rule,
            row_major,
            set: None,
            binding: None,
            reference: false,
            reference_align: None,
            align: None,
        };
        for id in &ids {
            self.block_layout_id(b, id, &mut layout)?;
        }
        Some(layout)
    }

    fn block_space(&mut self, decl: &Decl, qualifiers: &Qualifiers, push: bool) -> Option<Space> {
        match (qualifiers.uniform, qualifiers.buffer) {
            (Some(_), _) if push => Some(Space::PushConstant),
            (Some(_), _) => Some(Space::Uniform),
            (None, Some(_)) => Some(Space::Storage),
            (None, None) if qualifiers.shared.is_some() => {
                if !self.env.is_enabled("GL_EXT_shared_memory_block") {
                    self.needs_extension("`shared` blocks need", "GL_EXT_shared_memory_block", decl.span);
                }
                Some(Space::Workgroup)
            }
            (None, None) if qualifiers.task.is_some() => Some(Space::TaskPayload),
            (None, None) => {
                let message = "a block is `uniform`, `buffer`, `shared`, `in` or `out`";
                self.error(Code::BAD_QUALIFIER, decl.span, message, "none of them");
                None
            }
        }
    }

    fn block_layout_id(&mut self, b: &mut Builder<'_>, id: &LayoutId, layout: &mut BlockLayout) -> Option<()> {
        match self.text(id.name.symbol) {
            "push_constant" => {}
            word if layout.space == Space::ShaderRecord && RECORDS.contains(&word) => {}
            "set" | "binding" if layout.space == Space::ShaderRecord => {
                self.error(Code::BAD_LAYOUT, id.span, "a shader record has no set and no binding", "nothing is bound");
            }
            "set" | "binding" if layout.space == Space::Workgroup => {
                self.error(Code::BAD_LAYOUT, id.span, "a `shared` block has no set and no binding", "nothing is bound");
            }
            "set" | "binding" | "location" if layout.space == Space::TaskPayload => {
                self.error(Code::BAD_LAYOUT, id.span, "a `taskNV` block has no place of its own", "not here");
            }
            "set" => layout.set = Some(self.set_number(b, id)?),
            "binding" => layout.binding = Some(self.layout_value(b, id)?),
            "buffer_reference" => layout.reference = true,
            "buffer_reference_align" => layout.reference_align = Some(self.power_of_two(b, id)?),
            "align" => layout.align = Some(self.power_of_two(b, id)?),
            _ => match self.memory_layout(id) {
                Some(MemoryLayout::Rule(rule)) => layout.rule = rule,
                Some(MemoryLayout::RowMajor(row_major)) => layout.row_major = row_major,
                Some(MemoryLayout::Unknown) => {}
                None => self.unknown_layout_id(id),
            },
        }
        Some(())
    }

    fn power_of_two(&mut self, b: &mut Builder<'_>, id: &LayoutId) -> Option<u32> {
        let align = self.layout_value(b, id)?;
        if align.is_power_of_two() {
            return Some(align);
        }
        self.error(Code::BAD_LAYOUT, id.span, format!("the alignment {align} is not a power of two"), "not possible");
        None
    }

    fn memory_layout(&mut self, id: &LayoutId) -> Option<MemoryLayout> {
        Some(match self.text(id.name.symbol) {
            "std140" => MemoryLayout::Rule(Rule::Std140),
            "std430" => MemoryLayout::Rule(Rule::Std430),
            "scalar" => {
                self.need_scalar_layout(id.span);
                MemoryLayout::Rule(Rule::Scalar)
            }
            "row_major" => MemoryLayout::RowMajor(true),
            "column_major" => MemoryLayout::RowMajor(false),
            name @ ("shared" | "packed") => {
                let message = format!("the `{name}` layout is not part of GLSL for SPIR-V; use std140 or std430");
                self.error(Code::BAD_LAYOUT, id.span, message, "implementation-defined layout");
                MemoryLayout::Unknown
            }
            _ => return None,
        })
    }

    fn need_scalar_layout(&mut self, span: Span) {
        if !self.env.is_enabled("GL_EXT_scalar_block_layout") {
            let message = "the `scalar` layout needs GL_EXT_scalar_block_layout";
            let note = "add `#extension GL_EXT_scalar_block_layout : require`";
            self.report(Diagnostic::error(Code::MISSING_EXTENSION, message).at(span, "used here").note(note));
        }
    }

    /// `layout(row_major, std430) buffer;`
    pub fn default_block_layout(&mut self, id: &LayoutId, space: Space) {
        let changed = self.memory_layout(id);
        let default = self.block_defaults.of(space);
        match changed {
            Some(MemoryLayout::Rule(rule)) => default.rule = Some(rule),
            Some(MemoryLayout::RowMajor(row_major)) => default.row_major = row_major,
            Some(MemoryLayout::Unknown) => {}
            None => self.unknown_layout_id(id),
        }
    }

    fn block_members(&mut self, b: &mut Builder<'_>, block: &ast::Block, align: Option<u32>) -> Option<Vec<Written>> {
        let ast = self.ast;
        let mut written: Vec<Written> = Vec::with_capacity(block.members.len());
        let (mut names, mut complete) = (FxHashSet::default(), true);
        for line in &ast[block.members] {
            let access = self.qualifiers(line.qualifiers).access;
            self.refuse_decorations(line.qualifiers);
            let base = self.type_spec(b, line.ty);
            let rule = self.member_rule(b, line, align);
            for declarator in &ast[line.declarators] {
                let ty = base.and_then(|base| self.with_dimensions(b, base, declarator.dimensions));
                let ty = ty.filter(|ty| self.refuse_opaque(b, *ty, declarator.span).is_some());
                let ty = ty.filter(|ty| self.refuse_valueless(b, *ty, declarator.span).is_some());
                complete &= ty.is_some();
                let name = self.text(declarator.name.symbol);
                self.check_new_member(&mut names, declarator.name);
                let ty = ty.unwrap_or(Types::VOID);
                let member = Member {
                    name: name.into(),
                    span: declarator.name.span,
                    ty,
                    offset: None,
                    access,
                    binding: Binding::None,
                };
                written.push(Written { member, rule, span: declarator.span, name: declarator.name });
            }
        }
        complete.then_some(written)
    }

    /// Gives arrays their lengths, except an array at the end of a storage block, whose length depends on the buffer
    /// (GLSL 4.60 section 4.1.9). Returns the arrays without a length so far: number, member, place.
    fn settle_lengths(
        &mut self,
        b: &mut Builder<'_>,
        layout: &BlockLayout,
        written: &mut [Written],
    ) -> Vec<(usize, u32, Span)> {
        let mut open = Vec::new();
        let ends_sized = matches!(layout.space, Space::Uniform | Space::PushConstant);
        let sized = written.len() - usize::from(!ends_sized && !written.is_empty());
        for (member, item) in (0..).zip(&mut written[..sized]) {
            match self.with_length(b, item.member.ty) {
                Ok(ty) => item.member.ty = ty,
                Err(_) if layout.reference => {
                    let message = "only a block's last member can be an array without a size";
                    self.error(Code::BAD_LAYOUT, item.span, message, "laid out here");
                }
                Err(number) => open.push((number, member, item.span)),
            }
        }
        open
    }

    fn member_rule(&mut self, b: &mut Builder<'_>, line: &ast::Member, align: Option<u32>) -> MemberRule {
        let mut rule = MemberRule { align, ..MemberRule::default() };
        for id in &self.layout_ids(line.qualifiers) {
            match self.text(id.name.symbol) {
                "offset" => rule.offset = self.layout_value(b, id),
                "align" => rule.align = self.layout_value(b, id),
                "row_major" => rule.row_major = Some(true),
                "column_major" => rule.row_major = Some(false),
                _ => self.unknown_layout_id(id),
            }
        }
        rule
    }

    fn lay_out_block(
        &mut self,
        b: &mut Builder<'_>,
        block: &ast::Block,
        layout: &BlockLayout,
        written: &[Written],
    ) -> Option<TypeId> {
        let name = self.text(block.name.symbol);
        let members = written.iter().map(|item| item.member.clone()).collect();
        let (name, span) = (name.into(), block.name.span);
        let logical = b.module.types.structs.push(Struct { name, span, members, block: false, logical: None });
        let rules: Vec<MemberRule> = written.iter().map(|item| item.rule).collect();
        let laid = self.layouts.lay_out_struct(b.module, logical, layout.rule, layout.row_major, &rules);
        match laid {
            Ok(laid) => {
                self.finish_block_struct(b, laid.ty, written);
                Some(laid.ty)
            }
            Err(error) => {
                self.report_layout(b, error, block, logical, written);
                None
            }
        }
    }

    fn finish_block_struct(&mut self, b: &mut Builder<'_>, ty: TypeId, written: &[Written]) {
        let Type::Struct(id) = b.module.types.get(ty) else { return };
        let laid = &mut b.module.types.structs[id];
        laid.block = true;
        for (member, item) in laid.members.iter_mut().zip(written) {
            member.access = item.member.access;
        }
    }

    fn report_layout(
        &mut self,
        b: &Builder<'_>,
        error: LayoutError,
        block: &ast::Block,
        logical: StructId,
        written: &[Written],
    ) {
        let item = error.member.and_then(|index| written.get(index as usize));
        let span = item.map_or(block.name.span, |item| item.span);
        let message = match error.problem {
            Problem::NotStorable(ty) => {
                format!("memory cannot hold a `{}`", self.type_name(b, ty))
            }
            Problem::BadAlign(align) => format!("`align = {align}` is not a power of two"),
            Problem::Misaligned { offset, align } => format!("offset {offset} is not a multiple of {align}"),
            Problem::Overlap { other } => {
                let name = &b.module.types.structs[logical].members[other as usize].name;
                format!("this member begins inside `{name}`")
            }
            Problem::RuntimeNotLast => "only a block's last member can be an array without a size".to_string(),
            Problem::UnknownLength => "the length of this array is not known".to_string(),
            Problem::TooLarge => "this block is larger than 4 GiB".to_string(),
            Problem::TooDeep => "structs and arrays are nested too deeply".to_string(),
        };
        self.error(Code::BAD_LAYOUT, span, message, "laid out here");
    }

    /// Qualifiers for names that are already declared.
    pub fn requalify(&mut self, b: &mut Builder<'_>, decl: &Decl, names: ast::List<ast::Name>) {
        if self.says_reference(decl.qualifiers) {
            return self.announce_references(b, decl, names);
        }
        let qualifiers = self.qualifiers(decl.qualifiers);
        let ast = self.ast;
        for name in &ast[names] {
            let declared = self.scopes.used(name.symbol, name.span);
            let first = declared.map_or(name.span, |declared| declared.span);
            match declared.map(|declared| declared.entity.clone()) {
                Some(Entity::LValue(lvalue)) if qualifiers.invariant => self.make_invariant(b, &lvalue, name.span),
                Some(Entity::LValue(mut lvalue)) => {
                    lvalue.access |= qualifiers.access;
                    self.scopes.declare(name.symbol, Entity::LValue(lvalue), first);
                }
                Some(_) => {}
                None if self.text(name.symbol).starts_with("gl_") => {
                    let built_in = self.builtin_variable(b, name.symbol, name.span);
                    if let (true, Some(Lowered::LValue(lvalue))) = (qualifiers.invariant, built_in) {
                        self.make_invariant(b, &lvalue, name.span);
                    }
                }
                None => {
                    let message = format!("`{}` is not declared", self.text(name.symbol));
                    self.error(Code::UNKNOWN_NAME, name.span, message, "unknown");
                }
            }
        }
    }
}
