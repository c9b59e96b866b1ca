//! The fragment tests that a fragment shader declares (GLSL 4.60 section 4.4.1.3).

use super::Sema;
use crate::glsl::ast::LayoutId;
use crate::ir::{FragmentModes, Interlock, PixelParts};

const INTERLOCK: &[&str] = &["GL_ARB_fragment_shader_interlock", "GL_NV_fragment_shader_interlock"];

const TILE_IMAGE: &[&str] = &["GL_EXT_shader_tile_image"];

/// A row of `layout(…) in;` in a fragment shader: its name, the extensions of which it needs one, and its effect.
type FragmentLayout = (&'static str, &'static [&'static str], fn(&mut FragmentModes));

#[rustfmt::skip]
const FRAGMENT_LAYOUTS: &[FragmentLayout] = &[
    ("early_fragment_tests", &[], |modes| modes.early_tests = true),
    ("full_quads", &["GL_EXT_shader_quad_control"], |modes| modes.full_quads = true),
    ("quad_derivatives", &["GL_EXT_shader_quad_control"], |modes| modes.quad_derivatives = true),
    ("post_depth_coverage", &["GL_EXT_post_depth_coverage", "GL_ARB_post_depth_coverage"], |modes| (modes.post_depth_coverage, modes.early_tests) = (true, true)),
    ("early_and_late_fragment_tests_amd", &["GL_AMD_shader_early_and_late_fragment_tests"], |modes| modes.early_and_late_tests = true),
    ("pixel_interlock_ordered", INTERLOCK, |modes| modes.interlock = Some(Interlock { of_sample: false, ordered: true })),
    ("pixel_interlock_unordered", INTERLOCK, |modes| modes.interlock = Some(Interlock { of_sample: false, ordered: false })),
    ("sample_interlock_ordered", INTERLOCK, |modes| modes.interlock = Some(Interlock { of_sample: true, ordered: true })),
    ("non_coherent_color_attachment_readEXT", TILE_IMAGE, |modes| modes.non_coherent |= PixelParts::COLOR),
    ("non_coherent_depth_attachment_readEXT", TILE_IMAGE, |modes| modes.non_coherent |= PixelParts::DEPTH),
    ("non_coherent_stencil_attachment_readEXT", TILE_IMAGE, |modes| modes.non_coherent |= PixelParts::STENCIL),
    ("sample_interlock_unordered", INTERLOCK, |modes| modes.interlock = Some(Interlock { of_sample: true, ordered: false })),
];

impl Sema<'_> {
    /// `layout(early_fragment_tests) in;`
    pub fn fragment_input_layout(&mut self, id: &LayoutId) {
        let name = self.text(id.name.symbol);
        let Some((_, extensions, set)) = FRAGMENT_LAYOUTS.iter().find(|(known, ..)| *known == name) else {
            self.unknown_layout_id(id);
            return;
        };
        if !(extensions.is_empty() || extensions.iter().any(|extension| self.env.is_enabled(extension))) {
            self.needs_extension("this layout needs", extensions[0], id.span);
        }
        set(&mut self.fragment);
    }
}
