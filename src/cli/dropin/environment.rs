//! Target environments, as other compilers name them, and the profiles for them.

/// The profile for a version of Vulkan.
pub fn of_vulkan(version: &str) -> Option<&'static str> {
    Some(match version {
        "1.0" | "1.1" => "spirv-1.3",
        "1.2" => "spirv-1.5",
        "1.3" | "1.4" => "spirv-1.6",
        _ => return None,
    })
}

/// The profile for a version of SPIR-V, from 1.3 on.
pub fn of_spirv(version: &str) -> Option<&'static str> {
    Some(match version {
        "1.3" => "spirv-1.3",
        "1.4" => "spirv-1.4",
        "1.5" => "spirv-1.5",
        "1.6" => "spirv-1.6",
        _ => return None,
    })
}
