//! Color attachments that fragment shaders read (GL_EXT_shader_tile_image). It is not checked that the outputs at the
//! same locations have the same kind of components.

use super::Sema;
use super::qualifiers::Qualifiers;
use super::scope::Entity;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, Declarator};
use crate::ir::build::Builder;
use crate::ir::{Access, ArrayLen, Binding, ImageDim, Stage, Type, TypeId};
use crate::source::Span;

const EXTENSION: &str = "GL_EXT_shader_tile_image";

/// Range of locations of a declaration, including the last one, and its place.
pub type Taken = (u32, u32, Span);

impl Sema<'_> {
    /// Returns true if a type is a color attachment or an array of them.
    pub fn is_tile(&self, b: &Builder<'_>, ty: TypeId) -> bool {
        match b.module.types.get(ty) {
            Type::Array { element, .. } => self.is_tile(b, element),
            Type::Image(image) => image.dim == ImageDim::Tile,
            _ => false,
        }
    }

    /// Checks that the extension of the type's name is enabled.
    pub fn need_tiles(&mut self, span: Span) -> Option<()> {
        if !self.env.is_enabled(EXTENSION) {
            self.needs_extension("this type needs", EXTENSION, span);
            return None;
        }
        if self.env.stage != Stage::Fragment {
            self.error(Code::WRONG_STAGE, span, "attachments are read in fragment shaders only", "another stage");
            return None;
        }
        Some(())
    }

    /// `layout(location = 0) tileImageEXT attachmentEXT name;`
    pub fn tile_image(
        &mut self,
        b: &mut Builder<'_>,
        decl: &ast::Decl,
        qualifiers: &Qualifiers,
        base: TypeId,
        declarator: &Declarator,
    ) -> Option<Entity> {
        if qualifiers.tile.is_none() {
            self.refuse_opaque(b, base, declarator.span)?;
        }
        self.refuse_initial_value(declarator, "an attachment");
        let ty = self.with_dimensions(b, base, declarator.dimensions)?;
        let mut location = None;
        for id in &self.layout_ids(decl.qualifiers) {
            match self.text(id.name.symbol) {
                "location" => location = Some(self.layout_value(b, id)?),
                _ => self.unknown_layout_id(id),
            }
        }
        let Some(location) = location else {
            self.needs_location(declarator.name);
            return None;
        };
        self.take_locations(b, ty, location, declarator)?;
        Some(self.handle(b, declarator, ty, Binding::Tile { location }, Access::empty()))
    }

    /// Checks that attachments do not share locations; an array uses one per element.
    fn take_locations(&mut self, b: &Builder<'_>, ty: TypeId, first: u32, declarator: &Declarator) -> Option<()> {
        let Some(count) = length(b, ty) else {
            self.error(Code::BAD_TYPE, declarator.span, "an array of attachments needs a size", "no size");
            return None;
        };
        let last = first.saturating_add(count - 1);
        let span = declarator.name.span;
        let other = self.tiles.iter().find(|(start, end, _)| *start <= last && first <= *end);
        if let Some((start, _, before)) = other {
            let message = format!("two attachments have the location {}", first.max(*start));
            let diagnostic = Diagnostic::error(Code::BAD_LAYOUT, message).at(span, "the second one");
            let diagnostic = diagnostic.with(*before, "the first one");
            self.report(diagnostic);
            return None;
        }
        self.tiles.push((first, last, span));
        Some(())
    }

    /// `tileImageEXT` on a variable that is not an attachment.
    pub fn no_attachment(&mut self, span: Span) -> Option<Entity> {
        let message =
            "`tileImageEXT` belongs to variables of type `attachmentEXT`, `iattachmentEXT` or `uattachmentEXT`";
        self.error(Code::BAD_QUALIFIER, span, message, "of another type");
        None
    }
}

/// Number of attachments in a type; `None` if an array has no size.
fn length(b: &Builder<'_>, ty: TypeId) -> Option<u32> {
    match b.module.types.get(ty) {
        Type::Array { element, len: ArrayLen::Fixed(len), .. } => Some(len.saturating_mul(length(b, element)?)),
        Type::Array { .. } => None,
        _ => Some(1),
    }
}
