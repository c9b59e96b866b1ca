// Tessellation, mesh and object functions: declarations with the types of Metal's, so that a text that uses them compiles.
// Nothing runs them.
#pragma once

/// Section 2.17, Packed and Other Types; MTLTessellationFactors of the API's headers.
struct MTLQuadTessellationFactorsHalf {
    half edgeTessellationFactor[4];
    half insideTessellationFactor[2];
};
struct MTLTriangleTessellationFactorsHalf {
    half edgeTessellationFactor[3];
    half insideTessellationFactor;
};

namespace metal {
/// The control points of a patch, which are read alone.
template <class T> struct patch_control_point {
    size_t size() const { return 32; }
    const T& operator[](size_t) const {
        static const T point{};
        return point;
    }
};
} // namespace metal
