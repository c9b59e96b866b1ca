//! Target environments, as other compilers name them, and the profiles for them.

use crate::cli::CommandError;

/// The default profile, for Vulkan 1.0.
pub const DEFAULT: &str = "spirv-1.0";

/// The profile for OpenGL.
pub const OPENGL: &str = "spirv-1.0-opengl";

/// Versions of Vulkan with the newest SPIR-V that each guarantees.
const VULKAN: [(&str, &str); 5] =
    [("1.0", DEFAULT), ("1.1", "spirv-1.3"), ("1.2", "spirv-1.5"), ("1.3", "spirv-1.6"), ("1.4", "spirv-1.6")];

/// Versions of SPIR-V.
const SPIRV: [(&str, &str); 7] = [
    ("1.0", "spirv-1.0"),
    ("1.1", "spirv-1.1"),
    ("1.2", "spirv-1.2"),
    ("1.3", "spirv-1.3"),
    ("1.4", "spirv-1.4"),
    ("1.5", "spirv-1.5"),
    ("1.6", "spirv-1.6"),
];

/// The profile for a version of Vulkan.
pub fn of_vulkan(version: &str) -> Option<&'static str> {
    row(&VULKAN, version)
}

/// The profile for an environment by glslc's name; `vulkan` alone is Vulkan 1.0.
pub fn named(name: &str) -> Option<&'static str> {
    if matches!(name, "opengl" | "opengl4.5") {
        return Some(OPENGL);
    }
    let version = name.strip_prefix("vulkan")?;
    of_vulkan(if version.is_empty() { "1.0" } else { version })
}

/// The profile for a version of SPIR-V.
pub fn of_spirv(version: &str) -> Option<&'static str> {
    row(&SPIRV, version)
}

/// The profile for an environment and a version of SPIR-V, which goes before it.
///
/// # Errors
/// Returns an error if the environment does not load this version.
pub fn profile(environment: Option<&'static str>, version: Option<&'static str>) -> Result<&'static str, CommandError> {
    match (environment, version) {
        (Some(OPENGL), None | Some(DEFAULT)) => Ok(OPENGL),
        (Some(OPENGL), Some(_)) => Err(CommandError("OpenGL loads SPIR-V 1.0, and no later version".into())),
        _ => Ok(version.or(environment).unwrap_or(DEFAULT)),
    }
}

fn row(rows: &[(&str, &'static str)], version: &str) -> Option<&'static str> {
    rows.iter().find(|(known, _)| *known == version).map(|(_, profile)| *profile)
}
