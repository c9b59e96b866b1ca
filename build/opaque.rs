//! Opaque types in rows: `sampler2DArrayShadow`, `uimage3D`, and with the prefix `T.` those whose texels have the
//! scalar `T`.

/// Stems of the names with their classes; `samplerBuffer` and `textureBuffer` are the same type.
const STEMS: [(&str, &str); 5] = [
    ("sampler", "Sampled"),
    ("image", "Storage"),
    ("texture", "Texture"),
    ("subpassInput", "Subpass"),
    ("attachment", "Attachment"),
];
/// The suffixes after the stem: dimension, array layers, multisampling.
const DIMENSIONS: [(&str, &str, bool, bool); 14] = [
    ("1D", "D1", false, false),
    ("2D", "D2", false, false),
    ("3D", "D3", false, false),
    ("Cube", "Cube", false, false),
    ("2DRect", "Rect", false, false),
    ("Buffer", "Buffer", false, false),
    ("1DArray", "D1", true, false),
    ("2DArray", "D2", true, false),
    ("CubeArray", "Cube", true, false),
    ("2DMS", "D2", false, true),
    ("2DMSArray", "D2", true, true),
    ("", "SubpassInput", false, false),
    ("MS", "SubpassInput", false, true),
    ("EXT", "Tile", false, false),
];

/// Rust text for the type that `name` spells after its `T.`; `None` if it is not an opaque type.
pub fn expression(name: &str) -> Option<String> {
    let (stem, class) = STEMS.into_iter().find(|(stem, _)| name.starts_with(stem))?;
    let rest = &name[stem.len()..];
    let (dimension, shadow) = match rest.strip_suffix("Shadow") {
        Some(dimension) => (dimension, true),
        None => (rest, false),
    };
    let (_, dim, arrayed, multisampled) = DIMENSIONS.into_iter().find(|(known, ..)| *known == dimension)?;
    let class = if dim == "Buffer" && class == "Sampled" { "Texture" } else { class };
    Some(format!(
        "Opaque {{ class: OpaqueClass::{class}, dim: ImageDim::{dim}, arrayed: {arrayed}, \
         multisampled: {multisampled}, shadow: {shadow} }}"
    ))
}
