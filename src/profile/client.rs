//! The APIs that load SPIR-V, one row each, with the differences of their GLSL.

use serde::Deserialize;

/// The API that loads the code of a profile, and whose form of GLSL its shaders use.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Client {
    #[default]
    Vulkan,
    OpenGl,
}

/// The differences between the forms of GLSL (GL_KHR_vulkan_glsl, GL_ARB_gl_spirv), and between the modules that the
/// APIs load.
#[derive(Debug)]
pub struct ClientRow {
    /// In messages.
    pub name: &'static str,
    /// The GLSL macro that identifies the API, and its value.
    pub define: &'static str,
    pub value: u32,
    /// True if resources are in descriptor sets, and blocks can be push constants.
    pub has_sets: bool,
    /// True if there are textures without samplers, and samplers without textures.
    pub has_separate_samplers: bool,
    /// True if there are textures and images by texels, without levels (`sampler2DRect`).
    pub has_rectangles: bool,
    /// True if pixels are read from attachments.
    pub has_attachments: bool,
    /// True if uniforms may be outside of blocks, at locations, and if atomic counters are among them.
    pub has_default_block: bool,
    /// The binding of images and samplers without an explicit one.
    pub default_binding: Option<u32>,
    /// True if the fragment at the origin is the lower left one, unless the shader states otherwise.
    pub lower_left_origin: bool,
    /// The environment name for `spirv-val`, if it differs from the API version's name.
    pub environment: Option<&'static str>,
    /// The newest version of SPIR-V that every implementation loads, if the API does not guarantee a newer one.
    pub newest: Option<(u8, u8)>,
}

static ROWS: [ClientRow; 2] = [
    ClientRow {
        name: "Vulkan",
        define: "VULKAN",
        value: 100,
        has_sets: true,
        has_separate_samplers: true,
        has_rectangles: false,
        has_attachments: true,
        has_default_block: false,
        default_binding: None,
        lower_left_origin: false,
        environment: None,
        newest: None,
    },
    ClientRow {
        name: "OpenGL",
        define: "GL_SPIRV",
        value: 100,
        has_sets: false,
        has_separate_samplers: false,
        has_rectangles: true,
        has_attachments: false,
        has_default_block: true,
        default_binding: Some(0),
        lower_left_origin: true,
        environment: Some("opengl4.5"),
        newest: Some((1, 0)),
    },
];

impl Client {
    pub const ALL: [Client; 2] = [Client::Vulkan, Client::OpenGl];

    pub const fn row(self) -> &'static ClientRow {
        &ROWS[self as usize]
    }

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        self.row().name
    }
}
