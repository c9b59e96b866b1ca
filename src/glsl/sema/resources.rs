//! Images, textures, samplers and subpass inputs: their declarations (GLSL 4.60 sections 4.1.7 and 4.4.7,
//! GL_KHR_vulkan_glsl), and the uses that their qualifiers allow.

use super::Sema;
use super::lengths;
use super::lvalue::LValue;
use super::qualifiers::Qualifiers;
use super::scope::Entity;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, Declarator, LayoutId};
use crate::glsl::opaque;
use crate::glsl::types::with_article;
use crate::ir::build::Builder;
use crate::ir::format::format;
use crate::ir::{Access, ArrayLen, Binding, Global, ImageDim, ImageType, Module, Space, Type, TypeId, Value};
use crate::source::Span;

/// The `layout(…)` of a resource.
#[derive(Default)]
pub(super) struct ResourceLayout {
    set: Option<u32>,
    pub binding: Option<u32>,
    /// The location of a uniform of the default block.
    location: Option<u32>,
    /// Offset of an atomic counter in its buffer.
    pub offset: Option<(u32, Span)>,
    attachment: Option<u32>,
    format: Option<LayoutId>,
}

impl Sema<'_> {
    /// Returns true if a type is an image, a sampler, or an array of them.
    pub fn is_opaque(&self, b: &Builder<'_>, ty: TypeId) -> bool {
        match b.module.types.get(ty) {
            Type::Array { element, .. } => self.is_opaque(b, element),
            Type::Image(_)
            | Type::Sampler
            | Type::SampledImage(_)
            | Type::AccelerationStructure
            | Type::AtomicCounter => true,
            _ => false,
        }
    }

    /// Reports an opaque type where only values are allowed.
    pub fn refuse_opaque(&mut self, b: &Builder<'_>, ty: TypeId, span: Span) -> Option<()> {
        if !self.is_opaque(b, ty) {
            return Some(());
        }
        let name = with_article(&self.type_name(b, ty));
        let what = if self.is_tile(b, ty) { "`tileImageEXT`" } else { "a uniform" };
        let message = format!("{name} can only be {what} or a parameter");
        self.error(Code::BAD_TYPE, span, message, "declared here");
        None
    }

    /// Reports an initializer of a variable that the pipeline provides.
    pub fn refuse_initial_value(&mut self, declarator: &Declarator, what: &str) {
        if let Some(init) = declarator.init {
            let message = format!("{what} has no initial value");
            self.error(Code::BAD_INITIALIZER, self.ast[init].span, message, "not allowed");
        }
    }

    /// `layout(set = 0, binding = 1, rgba8) uniform image2D name[2];`
    pub fn resource(
        &mut self,
        b: &mut Builder<'_>,
        decl: &ast::Decl,
        qualifiers: &Qualifiers,
        base: TypeId,
        declarator: &Declarator,
    ) -> Option<Entity> {
        if self.is_tile(b, base) {
            return self.tile_image(b, decl, qualifiers, base, declarator);
        }
        if let Some(span) = qualifiers.tile {
            return self.no_attachment(span);
        }
        if qualifiers.uniform.is_none() {
            self.refuse_opaque(b, base, declarator.span)?;
        }
        self.refuse_initial_value(declarator, "an image or sampler");
        let mut layout = ResourceLayout::default();
        for id in &self.layout_ids(decl.qualifiers) {
            self.resource_layout_id(b, id, &mut layout)?;
        }
        let base = self.with_format(b, base, layout.format)?;
        let ty = self.with_dimensions(b, base, declarator.dimensions)?;
        let binding = match b.module.types.get(base) {
            Type::AtomicCounter => self.atomic_counter(b, &layout, declarator, ty)?,
            _ => self.resource_binding(b, ty, base, &layout, declarator)?,
        };
        Some(self.handle(b, declarator, ty, binding, qualifiers.access))
    }

    /// A variable for a resource.
    pub fn handle(
        &mut self,
        b: &mut Builder<'_>,
        declarator: &Declarator,
        ty: TypeId,
        binding: Binding,
        access: Access,
    ) -> Entity {
        let (name, span) = (self.text(declarator.name.symbol).into(), declarator.name.span);
        let space = Space::Handle;
        let id = b.module.globals.push(Global { name, span, space, ty, binding, access, init: None });
        Entity::LValue(LValue { access, ..LValue::new(Value::Global(id), space, ty) })
    }

    pub fn resource_layout_id(
        &mut self,
        b: &mut Builder<'_>,
        id: &LayoutId,
        layout: &mut ResourceLayout,
    ) -> Option<()> {
        match self.text(id.name.symbol) {
            "set" => layout.set = Some(self.set_number(b, id)?),
            "binding" => layout.binding = Some(self.layout_value(b, id)?),
            "location" if self.has_default_block() => layout.location = Some(self.uniform_location(b, id)?),
            "offset" if self.has_default_block() => layout.offset = Some((self.counter_offset(b, id)?, id.span)),
            "input_attachment_index" => layout.attachment = Some(self.layout_value(b, id)?),
            name if format(name).is_some() => layout.format = Some(*id),
            _ => self.unknown_layout_id(id),
        }
        Some(())
    }

    /// The image type with the format that a layout names.
    fn with_format(&mut self, b: &mut Builder<'_>, ty: TypeId, id: Option<LayoutId>) -> Option<TypeId> {
        let Some(id) = id else { return Some(ty) };
        let name = self.text(id.name.symbol);
        let (format, scalar) = format(name)?;
        match b.module.types.get(ty) {
            Type::Array { element, len, .. } => {
                let element = self.with_format(b, element, Some(id))?;
                Some(b.module.types.array(element, len))
            }
            Type::Image(image) if image.storage && image.sampled == scalar => {
                Some(b.module.types.intern(Type::Image(ImageType { format, ..image })))
            }
            _ => {
                let message = format!("the format `{name}` is not for {}", with_article(&self.type_name(b, ty)));
                self.error(Code::BAD_LAYOUT, id.span, message, "another kind of texel");
                None
            }
        }
    }

    /// Arrays of resources that the pipeline sizes need GL_EXT_nonuniform_qualifier, which may be enabled between their
    /// declaration and their use. Without it constant indices determine the length (GLSL 4.60 section 4.1.9).
    pub fn check_resource_length(
        &mut self,
        b: &Builder<'_>,
        lvalue: &LValue,
        at: Option<Value>,
        span: Span,
    ) -> Option<()> {
        let is_open = matches!(b.module.types.get(lvalue.ty), Type::Array { len: ArrayLen::Runtime, .. });
        let is_resource = matches!(lvalue.space, Space::Handle | Space::Uniform | Space::Storage | Space::Loose);
        if !(is_open && is_resource && lvalue.path.is_empty()) {
            return Some(());
        }
        if self.env.is_enabled("GL_EXT_nonuniform_qualifier") {
            self.open_resources.retain(|(open, _)| Value::Global(*open) != lvalue.root);
            return Some(());
        }
        let known = at.and_then(|at| lengths::known(b, at)).and_then(|at| at.checked_add(1));
        if let (Value::Global(id), Some(length)) = (lvalue.root, known) {
            match self.open_resources.iter_mut().find(|(open, _)| *open == id) {
                Some((_, least)) => *least = length.max(*least),
                None => self.open_resources.push((id, length)),
            }
            return Some(());
        }
        let message = "an array of resources without a size needs the extension GL_EXT_nonuniform_qualifier";
        let note = "add `#extension GL_EXT_nonuniform_qualifier : require`, or a size";
        let mut diagnostic = Diagnostic::error(Code::MISSING_EXTENSION, message).at(span, "used here");
        if let Value::Global(id) = lvalue.root {
            diagnostic = diagnostic.with(b.module.globals[id].span, "no size");
        }
        self.report(diagnostic.note(note));
        None
    }

    /// Gives arrays of resources without a size the length that their constant indices require.
    pub fn close_resources(&mut self, module: &mut Module) {
        for (id, length) in std::mem::take(&mut self.open_resources) {
            if let Type::Array { element, len: ArrayLen::Runtime, .. } = module.types.get(module.globals[id].ty) {
                module.globals[id].ty = module.types.array(element, ArrayLen::Fixed(length));
            }
        }
    }

    /// Returns true if a resource is declared again in its scope, at the same place: an array without a size may be,
    /// with or without a size (GLSL 4.60 section 4.1.9).
    pub fn resource_again(
        &mut self,
        b: &mut Builder<'_>,
        decl: &ast::Decl,
        base: TypeId,
        declarator: &Declarator,
    ) -> bool {
        let Some(before) = self.scopes.get_innermost(declarator.name.symbol) else { return false };
        let Entity::LValue(lvalue) = &before.entity else { return false };
        let (lvalue, Value::Global(id)) = (lvalue.clone(), lvalue.root) else { return false };
        let Global { ty, space: Space::Handle, binding, .. } = b.module.globals[id] else { return false };
        let Type::Array { element, len: ArrayLen::Runtime, .. } = b.module.types.get(ty) else { return false };
        let alike = match (b.module.types.get(element), b.module.types.get(base)) {
            // The format is one of the layout's words.
            (Type::Image(first), Type::Image(second)) => ImageType { format: second.format, ..first } == second,
            (first, second) => first == second,
        };
        if !alike || declarator.dimensions.is_empty() || !self.is_bound_so(b, decl, binding) {
            return false;
        }
        let Some(again) = self.with_dimensions(b, element, declarator.dimensions) else { return true };
        if again != ty {
            b.module.globals[id].ty = again;
            self.scopes.declare(
                declarator.name.symbol,
                Entity::LValue(LValue { ty: again, ..lvalue }),
                declarator.name.span,
            );
        }
        true
    }

    /// Returns true if the layout of a declaration does not name a different place.
    fn is_bound_so(&mut self, b: &mut Builder<'_>, decl: &ast::Decl, place: Binding) -> bool {
        let mut layout = ResourceLayout::default();
        for id in &self.layout_ids(decl.qualifiers) {
            if self.resource_layout_id(b, id, &mut layout).is_none() {
                return true;
            }
        }
        matches!(place, Binding::Resource { set, binding }
            if layout.set.is_none_or(|given| given == set) && layout.binding.is_none_or(|given| given == binding))
    }

    /// The note on how to assign a binding.
    pub fn binding_note(&self) -> &'static str {
        match self.env.profile.client.row().has_sets {
            true => "write `layout(set = 0, binding = N)` in front of it",
            false => "write `layout(binding = N)` in front of it",
        }
    }

    /// The descriptor set of a layout; only some APIs have other sets than the first.
    pub fn set_number(&mut self, b: &mut Builder<'_>, id: &LayoutId) -> Option<u32> {
        let set = self.layout_value(b, id)?;
        if set != 0 && !self.env.profile.client.row().has_sets {
            self.no_part_of_client("descriptor sets", id.span);
            return None;
        }
        Some(set)
    }

    /// Checks that the API has samplers without textures.
    pub fn need_separate_samplers(&mut self, span: Span) -> Option<()> {
        if self.env.profile.client.row().has_separate_samplers {
            return Some(());
        }
        self.no_part_of_client("samplers apart from textures", span);
        None
    }

    /// Checks that the API has images of this kind.
    pub fn need_image(&mut self, image: ImageType, name: &str, span: Span) -> Option<()> {
        let row = self.env.profile.client.row();
        let missing = match image.dim {
            ImageDim::SubpassInput if !row.has_attachments => "subpass inputs",
            _ if !row.has_separate_samplers && name.trim_start_matches(['i', 'u']).starts_with("texture") => {
                "textures apart from samplers"
            }
            _ => return Some(()),
        };
        self.no_part_of_client(missing, span);
        None
    }

    /// Reports a part of the language that the API's form of GLSL lacks.
    pub fn no_part_of_client(&mut self, what: &str, span: Span) {
        let message = format!("GLSL for {} has no {what}", self.env.profile.client.name());
        self.error(Code::BAD_LAYOUT, span, message, "belongs to GLSL for Vulkan");
    }

    fn resource_binding(
        &mut self,
        b: &Builder<'_>,
        whole: TypeId,
        ty: TypeId,
        layout: &ResourceLayout,
        declarator: &Declarator,
    ) -> Option<Binding> {
        let name = self.text(declarator.name.symbol);
        if let Some((_, span)) = layout.offset {
            self.error(Code::BAD_LAYOUT, span, format!("`{name}` is not an atomic counter"), "has an `offset`");
            return None;
        }
        let automatic = |sema: &mut Self| sema.automatic_binding(b.module, layout.set.is_some());
        let given = layout.binding.or_else(|| automatic(self)).or(self.env.profile.client.row().default_binding);
        let Some(binding) = given else {
            let message = format!("`{name}` needs a binding");
            let note = self.binding_note();
            self.report(Diagnostic::error(Code::BAD_LAYOUT, message).at(declarator.name.span, "no binding").note(note));
            return None;
        };
        let location = layout.location.or_else(|| self.automatic_uniform(b, declarator.name, whole));
        if let Some(location) = location {
            return Some(Binding::Uniform { location, binding: Some(binding) });
        }
        let set = layout.set.unwrap_or(0);
        let is_subpass = matches!(b.module.types.get(ty), Type::Image(image) if image.dim == ImageDim::SubpassInput);
        match (is_subpass, layout.attachment) {
            (false, None) => Some(Binding::Resource { set, binding }),
            (true, Some(index)) => Some(Binding::Attachment { set, binding, index }),
            (true, None) => {
                let message = format!("the subpass input `{name}` needs an `input_attachment_index`");
                self.error(Code::BAD_LAYOUT, declarator.name.span, message, "which attachment?");
                None
            }
            (false, Some(_)) => {
                let message = format!("`{name}` is not a subpass input");
                self.error(Code::BAD_LAYOUT, declarator.name.span, message, "has an `input_attachment_index`");
                None
            }
        }
    }

    /// Checks that a function may access an image that is `readonly` or `writeonly`, or has no format.
    pub fn check_image_access(&mut self, b: &Builder<'_>, name: &str, lvalue: &LValue, span: Span) -> Option<()> {
        let Type::Image(image) = b.module.types.get(lvalue.ty) else { return Some(()) };
        if lvalue.space != Space::Handle || !name.starts_with("image") && !name.starts_with("sparseImage") {
            return Some(());
        }
        let (reads, writes) = match name {
            "imageLoad" | "imageLoadLodAMD" | "sparseImageLoadARB" | "sparseImageLoadLodAMD" => (true, false),
            "imageStore" | "imageStoreLodAMD" => (false, true),
            "imageSize" | "imageSamples" => return Some(()),
            _ => (true, true),
        };
        if reads && lvalue.access.contains(Access::WRITEONLY) {
            self.error(Code::NOT_READABLE, span, "this image is `writeonly`", "read here");
            return None;
        }
        if writes && lvalue.access.contains(Access::READONLY) {
            self.error(Code::NOT_WRITABLE, span, "this image is `readonly`", "written here");
            return None;
        }
        self.check_format(image, (reads, writes), span)?;
        let halves = image.atomic_texel().1 > 1 && self.env.is_enabled("GL_NV_shader_atomic_fp16_vector");
        if name.starts_with("imageAtomic") && !halves && !opaque::is_atomic(image.format) {
            let message = "atomic operations need an image of one whole word, such as `layout(r32ui)`";
            self.error(Code::BAD_LAYOUT, span, message, "this image has another format");
            return None;
        }
        Some(())
    }

    fn check_format(&mut self, image: ImageType, (reads, writes): (bool, bool), span: Span) -> Option<()> {
        let is_formatted = || !writes && self.env.is_enabled("GL_EXT_shader_image_load_formatted");
        if !reads || image.format != 0 || is_formatted() {
            return Some(());
        }
        let message = "an image that is read needs a format, such as `layout(rgba8)`";
        self.error(Code::BAD_LAYOUT, span, message, "this image has none");
        None
    }
}
