// Textures and functions of fragments: declarations with the types of Metal's, so that a text that uses them compiles. They
// give zeros; nothing runs them.
#pragma once

#define vertex static
#define fragment static

namespace metal {
enum class access { sample, read, write, read_write };
enum memory_coherence { memory_coherence_threadgroup, memory_coherence_device };
enum class component { x, y, z, w };
struct sampler {};
struct level { explicit level(float) {} };
struct bias { explicit bias(float) {} };
struct min_lod_clamp { explicit min_lod_clamp(float) {} };
struct gradient2d { gradient2d(float2, float2) {} };
struct gradient3d { gradient3d(float3, float3) {} };
struct gradientcube { gradientcube(float3, float3) {} };
/// The type of an argument that a function does not take.
struct none {};

template <class T, class... Known> constexpr bool is_one_of = (std::is_same_v<T, Known> || ...);

struct texture {
    uint get_width(uint = 0) const { return 1; }
    uint get_height(uint = 0) const { return 1; }
    uint get_depth(uint = 0) const { return 1; }
    uint get_num_mip_levels() const { return 1; }
    uint get_num_samples() const { return 1; }
    uint get_array_size() const { return 1; }
};

/// The level of detail at a `Place`.
template <class Place> struct leveled : texture {
    float calculate_clamped_lod(sampler, Place) const { return 0; }
    float calculate_unclamped_lod(sampler, Place) const { return 0; }
};

/// Samples of `R` at a `Place`. `Layer` is `uint` where there are layers; `Gradient` and `Offset` are last arguments.
template <class R, class Place, class Gradient, class Offset, class... Layer> struct sampled : leveled<Place> {
    template <class... Rest> R sample(sampler, Place, Layer..., Rest...) const {
        static_assert((is_one_of<Rest, level, bias, Gradient, min_lod_clamp, Offset> && ...) && sizeof...(Rest) <= 3);
        return R();
    }
    template <class... Rest> R gather(sampler, Place, Layer..., Rest...) const {
        static_assert((is_one_of<Rest, Offset, component> && ...) && sizeof...(Rest) <= 2);
        return R();
    }
};
/// Those of depths.
template <class Place, class Offset, class... Layer> struct compared : leveled<Place> {
    template <class... Rest> float sample(sampler, Place, Layer..., Rest...) const {
        static_assert((is_one_of<Rest, level, bias, Offset> && ...) && sizeof...(Rest) <= 2);
        return 0;
    }
    template <class... Rest> float sample_compare(sampler, Place, Layer..., float, Rest...) const {
        static_assert((is_one_of<Rest, level, bias, gradient2d, gradientcube, Offset> && ...) && sizeof...(Rest) <= 2);
        return 0;
    }
    template <class... Rest> float4 gather(sampler, Place, Layer..., Rest...) const {
        static_assert((is_one_of<Rest, Offset> && ...) && sizeof...(Rest) <= 1);
        return float4();
    }
    template <class... Rest> float4 gather_compare(sampler, Place, Layer..., float, Rest...) const {
        static_assert((is_one_of<Rest, Offset> && ...) && sizeof...(Rest) <= 1);
        return float4();
    }
};
/// Single texels; `Place` is what says where one is.
template <class R, access A, class Base, class... Place> struct texels : Base {
    R read(Place...) const {
        static_assert(A != access::write);
        return R();
    }
    /// At a level.
    R read(Place..., uint) const { return read(Place()...); }
    void write(R, Place...) const { static_assert(A == access::write || A == access::read_write); }
    void fence() const { static_assert(A == access::read_write); }
    /// From version 3.1 on.
    R atomic_load(Place...) const {
        static_assert(A == access::read_write);
        return R();
    }
#define ATOMIC_TEXEL(NAME) \
    R NAME(Place..., R) const { \
        static_assert(A == access::read_write); \
        return R(); \
    }
    ATOMIC_TEXEL(atomic_exchange)
    ATOMIC_TEXEL(atomic_fetch_add)
    ATOMIC_TEXEL(atomic_fetch_sub)
    ATOMIC_TEXEL(atomic_fetch_min)
    ATOMIC_TEXEL(atomic_fetch_max)
    ATOMIC_TEXEL(atomic_fetch_and)
    ATOMIC_TEXEL(atomic_fetch_or)
    ATOMIC_TEXEL(atomic_fetch_xor)
#undef ATOMIC_TEXEL
    bool atomic_compare_exchange_weak(Place..., R*, R) const {
        static_assert(A == access::read_write);
        return true;
    }
};

#define TEXTURE(NAME, BASE, ...) \
    template <class T, access A = access::sample, memory_coherence = memory_coherence_threadgroup> \
    struct NAME : texels<vec<T, 4>, A, BASE, __VA_ARGS__> {};
#define BASE(...) sampled<vec<T, 4>, __VA_ARGS__>
TEXTURE(texture1d, BASE(float, none, none), uint)
TEXTURE(texture1d_array, BASE(float, none, none, uint), uint, uint)
TEXTURE(texture2d, BASE(float2, gradient2d, int2), uint2)
TEXTURE(texture2d_array, BASE(float2, gradient2d, int2, uint), uint2, uint)
TEXTURE(texture3d, BASE(float3, gradient3d, int3), uint3)
TEXTURE(texturecube, BASE(float3, gradientcube, none), uint2, uint)
TEXTURE(texturecube_array, BASE(float3, gradientcube, none, uint), uint2, uint, uint)
TEXTURE(texture_buffer, texture, uint)
TEXTURE(texture2d_ms, texture, uint2, uint)
TEXTURE(texture2d_ms_array, texture, uint2, uint, uint)

#define DEPTH(NAME, BASE, ...) template <class T, access A = access::sample> struct NAME : texels<float, A, BASE, __VA_ARGS__> {};
#define COMPARED(...) compared<__VA_ARGS__>
DEPTH(depth2d, COMPARED(float2, int2), uint2)
DEPTH(depth2d_array, COMPARED(float2, int2, uint), uint2, uint)
DEPTH(depthcube, COMPARED(float3, none), uint2, uint)
DEPTH(depthcube_array, COMPARED(float3, none, uint), uint2, uint, uint)
DEPTH(depth2d_ms, texture, uint2, uint)

#define DERIVED(NAME) template <class T> T NAME(const T&) { return T(); }
DERIVED(dfdx) DERIVED(dfdy) DERIVED(fwidth)
#undef TEXTURE
#undef BASE
#undef DEPTH
#undef COMPARED
#undef DERIVED
inline void discard_fragment() {}
inline bool simd_is_helper_thread() { return false; }
inline float2 get_sample_position(uint) { return float2(); }

enum class interpolation { perspective, no_perspective };
/// An input that calls interpolate; nothing else reads it.
template <class T, interpolation> struct interpolant {
    T interpolate_at_center() const { return T(); }
    T interpolate_at_centroid() const { return T(); }
    T interpolate_at_sample(uint) const { return T(); }
    T interpolate_at_offset(float2) const { return T(); }
};
} // namespace metal
