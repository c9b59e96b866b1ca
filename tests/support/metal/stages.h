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

// Section 2.17, Ray-Tracing Types, and sections 6.18.1 to 6.18.5.
namespace raytracing {
struct instancing {};
struct triangle_data {};
template <class... Tags> struct acceleration_structure {};
struct ray {
    ray(float3, float3, float, float) {}
};
enum class intersection_type { none, triangle, bounding_box, curve };
enum class forced_opacity { none, opaque, non_opaque };
enum class triangle_cull_mode { none, front, back };
enum class opacity_cull_mode { none, opaque, non_opaque };
enum class geometry_cull_mode { none, triangle, bounding_box };
struct intersection_params {
    void force_opacity(forced_opacity) {}
    void accept_any_intersection(bool) {}
    void set_triangle_cull_mode(triangle_cull_mode) {}
    void set_opacity_cull_mode(opacity_cull_mode) {}
    void set_geometry_cull_mode(geometry_cull_mode) {}
};
/// Nothing copies it.
template <class... Tags> struct intersection_query {
    intersection_query() {}
    intersection_query(const intersection_query&) = delete;
    intersection_query& operator=(const intersection_query&) = delete;
    void reset(ray, acceleration_structure<instancing>, uint) {}
    void reset(ray, acceleration_structure<instancing>, uint, intersection_params) {}
    bool next() { return false; }
    void abort() {}
    void commit_triangle_intersection() {}
    void commit_bounding_box_intersection(float) {}
    float get_ray_min_distance() const { return 0; }
    float3 get_world_space_ray_origin() const { return float3(); }
    float3 get_world_space_ray_direction() const { return float3(); }
    bool is_candidate_non_opaque_bounding_box() const { return false; }
    float get_candidate_triangle_distance() const { return 0; }
    float get_committed_distance() const { return 0; }
#define OF_HIT(HIT) \
    intersection_type get_##HIT##_intersection_type() const { return intersection_type::none; } \
    uint get_##HIT##_user_instance_id() const { return 0; } \
    uint get_##HIT##_instance_id() const { return 0; } \
    uint get_##HIT##_geometry_id() const { return 0; } \
    uint get_##HIT##_primitive_id() const { return 0; } \
    float2 get_##HIT##_triangle_barycentric_coord() const { return float2(); } \
    bool is_##HIT##_triangle_front_facing() const { return false; } \
    float3 get_##HIT##_ray_origin() const { return float3(); } \
    float3 get_##HIT##_ray_direction() const { return float3(); } \
    float4x3 get_##HIT##_object_to_world_transform() const { return float4x3(); } \
    float4x3 get_##HIT##_world_to_object_transform() const { return float4x3(); }
    OF_HIT(candidate)
    OF_HIT(committed)
#undef OF_HIT
};
} // namespace raytracing
} // namespace metal
