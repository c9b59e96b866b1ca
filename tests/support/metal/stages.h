// Tessellation, mesh and object functions: declarations with the types of Metal's, so that a text that uses them compiles.
// Nothing runs them.
#pragma once

#define object_data

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

/// Section 2.20.1.
struct mesh_grid_properties {
    void set_threadgroups_per_grid(uint3) {}
};

enum class topology { point, line, triangle };

/// The primitives of a mesh; none without a type of theirs. Section 2.20.2.
template <class P> struct mesh_primitives {
    void set_primitive(uint, P) {}
};
template <> struct mesh_primitives<void> {};
template <class V, class P, uint NV, uint NP, topology T> struct mesh : mesh_primitives<P> {
    static_assert(std::is_class_v<V> && NV > 0 && NP > 0);
    void set_vertex(uint, V) {}
    void set_primitive_count(uint) {}
    void set_index(uint, uchar) {}
};
} // namespace metal
