//! The parts of the language by version, one row each (GLSL 4.60, section 1.2, and the same section of earlier
//! versions; GLSL ES 3.00, 3.10 and 3.20; Khronos' registry for extensions).

/// A part of the language and the versions that have it.
#[derive(Debug)]
pub(in crate::backend::source) struct Since {
    /// In messages.
    pub what: &'static str,
    pub core: Edition,
    pub es: Edition,
}

/// The versions of desktop GLSL, or of GLSL ES, that have a part.
#[derive(Debug)]
pub(in crate::backend::source) struct Edition {
    /// The first one; 0 if no version has it.
    pub version: u16,
    /// The extension that adds it to earlier versions, and the first of them.
    pub extension: Option<(u16, &'static str)>,
}

impl Edition {
    /// Returns true if an extension provides the part in some version.
    pub fn is_by(&self, name: &str) -> bool {
        self.extension.is_some_and(|(_, extension)| extension == name)
    }

    /// Returns true if an extension provides the part in a version.
    pub fn brings(&self, number: u16, name: &str) -> bool {
        self.extension.is_some_and(|(since, extension)| extension == name && number >= since)
    }
}

const fn core(version: u16) -> Edition {
    Edition { version, extension: None }
}

const fn by(version: u16, since: u16, extension: &'static str) -> Edition {
    Edition { version, extension: Some((since, extension)) }
}

macro_rules! parts {
    ($($name:ident = $what:literal, $core:expr, $es:expr;)*) => {
        $(pub(in crate::backend::source) static $name: Since = Since { what: $what, core: $core, es: $es };)*

        impl Since {
            pub fn all() -> impl Iterator<Item = &'static Since> {
                [$(&$name),*].into_iter()
            }
        }
    };
}

parts! {
    ARRAYS_OF_ARRAYS = "arrays of arrays", by(430, 330, "GL_ARB_arrays_of_arrays"), core(310);
    BINDINGS = "binding points in layouts", by(420, 330, "GL_ARB_shading_language_420pack"), core(310);
    BIT_FUNCTIONS = "functions that take numbers apart", by(400, 330, "GL_ARB_gpu_shader5"), core(310);
    CHANGING_OFFSETS = "offsets of gathers that are not constants", by(400, 330, "GL_ARB_gpu_shader5"), by(320, 310, "GL_EXT_gpu_shader5");
    COMPONENTS = "inputs and outputs at parts of locations", by(440, 330, "GL_ARB_enhanced_layouts"), core(0);
    COMPUTE = "compute shaders", by(430, 420, "GL_ARB_compute_shader"), core(310);
    CUBE_ARRAYS = "arrays of cube maps", by(400, 330, "GL_ARB_texture_cube_map_array"), by(320, 310, "GL_EXT_texture_cube_map_array");
    DEPTH_PROMISES = "promises about depth", by(420, 330, "GL_ARB_conservative_depth"), core(0);
    EARLY_TESTS = "early tests of fragments", by(420, 330, "GL_ARB_shader_image_load_store"), core(310);
    FEEDBACK = "transform feedback in layouts", core(440), core(0);
    FLOAT_EXCHANGES = "exchanges of floats in images", core(450), core(310);
    GEOMETRY = "geometry shaders", core(150), by(320, 310, "GL_EXT_geometry_shader");
    GEOMETRY_INVOCATIONS = "invocations and streams of geometry shaders", core(400), by(320, 310, "GL_EXT_geometry_shader");
    IMAGE_ATOMICS = "atomic operations on images", by(420, 330, "GL_ARB_shader_image_load_store"), by(320, 310, "GL_OES_shader_image_atomic");
    IMAGES = "storage images", by(420, 330, "GL_ARB_shader_image_load_store"), core(310);
    INDEXED_RESOURCES = "arrays of resources at an index that is not a constant", core(400), by(320, 310, "GL_EXT_gpu_shader5");
    INTEGER_MIXES = "choices of integers and booleans by components", by(450, 330, "GL_EXT_shader_integer_mix"), by(310, 300, "GL_EXT_shader_integer_mix");
    MULTISAMPLED = "textures of several samples", core(150), core(310);
    MULTISAMPLED_ARRAYS = "arrays of textures of several samples", core(150), by(320, 310, "GL_OES_texture_storage_multisample_2d_array");
    OFFSETS = "offsets of members", by(440, 330, "GL_ARB_enhanced_layouts"), core(0);
    PORT_BLOCK_LOCATIONS = "locations of blocks", by(440, 330, "GL_ARB_enhanced_layouts"), by(320, 310, "GL_EXT_shader_io_blocks");
    PORT_BLOCKS = "blocks of inputs and outputs", core(150), by(320, 310, "GL_EXT_shader_io_blocks");
    PORT_LOCATIONS = "locations between stages", by(410, 330, "GL_ARB_separate_shader_objects"), core(310);
    PRECISE = "`precise`", core(400), by(320, 310, "GL_EXT_gpu_shader5");
    SAMPLE_MASKS = "masks of samples", core(400), by(320, 310, "GL_OES_sample_variables");
    SAMPLES = "inputs of each sample", core(400), by(320, 310, "GL_OES_shader_multisample_interpolation");
    STORAGE = "storage buffers", by(430, 420, "GL_ARB_shader_storage_buffer_object"), core(310);
    TESSELLATION = "tessellation shaders", by(400, 330, "GL_ARB_tessellation_shader"), by(320, 310, "GL_EXT_tessellation_shader");
    TEXEL_BUFFERS = "texel buffers", core(140), by(320, 310, "GL_EXT_texture_buffer");
}
