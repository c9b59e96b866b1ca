//! Helper functions of a text, for operations that the language lacks.

use super::Hlsl;
use super::constants::typed;
use crate::backend::source::expr::Expr;
use crate::backend::source::helpers::{Helper, helper};
use crate::backend::source::writer::Writer;
use crate::ir::{Scalar, TypeId};

/// Names of the functions.
pub(super) const NAMES: &[&str] = &[
    "mod",
    "find_msb",
    "sign_of",
    "asinh",
    "acosh",
    "atanh",
    "ldexp_exact",
    "frexp_exact",
    "umul_high",
    "imul_high",
    "bitfield_extract",
    "bitfield_insert",
    "pack_snorm4x8",
    "unpack_snorm4x8",
    "pack_unorm4x8",
    "unpack_unorm4x8",
    "pack_snorm2x16",
    "unpack_snorm2x16",
    "pack_unorm2x16",
    "unpack_unorm2x16",
    "pack_half2x16",
    "unpack_half2x16",
    "inverse",
    "unpack_double",
    "image_size",
    "texture_size",
    "texture_levels",
    "texture_samples",
    "lanes_below",
    "pack_uint64",
    "unpack_uint64",
    "pack_uint32",
    "unpack_uint32",
];

const HELPERS: &[Helper] = &[
    helper("mod", &["T mod(T x, T y) {", "    return x - y * floor(x / y);", "}"]),
    helper("asinh", &["T asinh(T x) {", "    return sign(x) * log(abs(x) + sqrt(x * x + 1.0));", "}"]),
    helper("acosh", &["T acosh(T x) {", "    return log(x + sqrt(x * x - 1.0));", "}"]),
    helper("atanh", &["T atanh(T x) {", "    return 0.5 * log((1.0 + x) / (1.0 - x));", "}"]),
    helper(
        "ldexp_exact",
        &[
            "T ldexp_exact(T x, I exponent) {",
            "    I first = clamp(exponent, -126, 127);",
            "    I second = clamp(exponent - first, -126, 127);",
            "    return x * asfloat((first + 127) << 23) * asfloat((second + 127) << 23);",
            "}",
        ],
    ),
    helper(
        "frexp_exact",
        &[
            "T frexp_exact(T x, out I exponent) {",
            "    U bits = asuint(x);",
            "    I is_tiny = I((bits & 0x7f800000u) == 0u) & I(x != 0.0);",
            "    bits = asuint(x * T(1 + is_tiny * 16777215));",
            "    I is_number = I((bits & 0x7fffffffu) != 0u) & I((bits & 0x7f800000u) != 0x7f800000u);",
            "    exponent = is_number * (I((bits >> 23) & 0xffu) - 126 - 24 * is_tiny);",
            "    U fraction = (bits & 0x807fffffu) | 0x3f000000u;",
            "    return asfloat(bits + (fraction - bits) * U(is_number));",
            "}",
        ],
    ),
    helper(
        "umul_high",
        &[
            "T umul_high(T x, T y) {",
            "    T low = (x & 0xffffu) * (y & 0xffffu);",
            "    T first = (x >> 16) * (y & 0xffffu) + (low >> 16);",
            "    T second = (x & 0xffffu) * (y >> 16) + (first & 0xffffu);",
            "    return (x >> 16) * (y >> 16) + (first >> 16) + (second >> 16);",
            "}",
        ],
    ),
    helper(
        "imul_high",
        &["T imul_high(T x, T y) {", "    return T(umul_high(U(x), U(y))) - ((x >> 31) & y) - ((y >> 31) & x);", "}"],
    ),
    helper("find_msb", &["T find_msb(T x) {", "    return T(firstbithigh(U(x ^ (x >> 31))));", "}"]),
    helper("sign_of", &["T sign_of(T x) {", "    return T(x > 0) - T(x < 0);", "}"]),
    helper(
        "bitfield_extract",
        &[
            "T bitfield_extract(T value, uint offset, uint bits) {",
            "    if (bits == 0u) {",
            "        return (T)0;",
            "    }",
            "    return (value << (32u - bits - offset)) >> (32u - bits);",
            "}",
        ],
    ),
    helper(
        "bitfield_insert",
        &[
            "T bitfield_insert(T value, T part, uint offset, uint bits) {",
            "    uint mask = bits == 32u ? 0xffffffffu : ((1u << bits) - 1u) << (offset & 31u);",
            "    return (value & (T)(~mask)) | ((part << (offset & 31u)) & (T)mask);",
            "}",
        ],
    ),
    helper(
        "pack_snorm4x8",
        &[
            "uint pack_snorm4x8(float4 value) {",
            "    int4 parts = int4(round(clamp(value, -1.0, 1.0) * 127.0)) & 0xff;",
            "    return uint(parts.x | parts.y << 8 | parts.z << 16 | parts.w << 24);",
            "}",
        ],
    ),
    helper(
        "unpack_snorm4x8",
        &[
            "float4 unpack_snorm4x8(uint value) {",
            "    int4 parts = int4(int(value << 24), int(value << 16), int(value << 8), int(value)) >> 24;",
            "    return clamp(float4(parts) / 127.0, -1.0, 1.0);",
            "}",
        ],
    ),
    helper(
        "pack_unorm4x8",
        &[
            "uint pack_unorm4x8(float4 value) {",
            "    uint4 parts = uint4(round(saturate(value) * 255.0));",
            "    return parts.x | parts.y << 8 | parts.z << 16 | parts.w << 24;",
            "}",
        ],
    ),
    helper(
        "unpack_unorm4x8",
        &[
            "float4 unpack_unorm4x8(uint value) {",
            "    return float4(uint4(value, value >> 8, value >> 16, value >> 24) & 0xffu) / 255.0;",
            "}",
        ],
    ),
    helper(
        "pack_snorm2x16",
        &[
            "uint pack_snorm2x16(float2 value) {",
            "    int2 parts = int2(round(clamp(value, -1.0, 1.0) * 32767.0)) & 0xffff;",
            "    return uint(parts.x | parts.y << 16);",
            "}",
        ],
    ),
    helper(
        "unpack_snorm2x16",
        &[
            "float2 unpack_snorm2x16(uint value) {",
            "    int2 parts = int2(int(value << 16), int(value)) >> 16;",
            "    return clamp(float2(parts) / 32767.0, -1.0, 1.0);",
            "}",
        ],
    ),
    helper(
        "pack_unorm2x16",
        &[
            "uint pack_unorm2x16(float2 value) {",
            "    uint2 parts = uint2(round(saturate(value) * 65535.0));",
            "    return parts.x | parts.y << 16;",
            "}",
        ],
    ),
    helper(
        "unpack_unorm2x16",
        &[
            "float2 unpack_unorm2x16(uint value) {",
            "    return float2(uint2(value, value >> 16) & 0xffffu) / 65535.0;",
            "}",
        ],
    ),
    helper(
        "pack_half2x16",
        &["uint pack_half2x16(float2 value) {", "    return f32tof16(value.x) | f32tof16(value.y) << 16;", "}"],
    ),
    helper(
        "unpack_half2x16",
        &[
            "float2 unpack_half2x16(uint value) {",
            "    return float2(f16tof32(value & 0xffffu), f16tof32(value >> 16));",
            "}",
        ],
    ),
    helper(
        "unpack_double",
        &[
            "uint2 unpack_double(double value) {",
            "    uint2 words;",
            "    asuint(value, words.x, words.y);",
            "    return words;",
            "}",
        ],
    ),
    helper(
        "pack_uint64",
        &["uint64_t pack_uint64(uint2 words) {", "    return uint64_t(words.x) | uint64_t(words.y) << 32;", "}"],
    ),
    helper(
        "unpack_uint64",
        &["uint2 unpack_uint64(uint64_t value) {", "    return uint2(uint(value), uint(value >> 32));", "}"],
    ),
    helper(
        "pack_uint32",
        &["uint pack_uint32(uint16_t2 halves) {", "    return uint(halves.x) | uint(halves.y) << 16;", "}"],
    ),
    helper(
        "unpack_uint32",
        &[
            "uint16_t2 unpack_uint32(uint value) {",
            "    return uint16_t2(uint16_t(value), uint16_t(value >> 16));",
            "}",
        ],
    ),
    helper(
        "lanes_below",
        &[
            "uint4 lanes_below(uint count) {",
            "    int4 rest = clamp(int(count) - int4(0, 32, 64, 96), 0, 32);",
            "    return uint4(",
            "        rest.x == 32 ? 0xffffffffu : (1u << rest.x) - 1u,",
            "        rest.y == 32 ? 0xffffffffu : (1u << rest.y) - 1u,",
            "        rest.z == 32 ? 0xffffffffu : (1u << rest.z) - 1u,",
            "        rest.w == 32 ? 0xffffffffu : (1u << rest.w) - 1u);",
            "}",
        ],
    ),
];

impl Hlsl {
    /// Adds a function to the text for a type of operands, and returns its name.
    pub fn help(&self, t: &mut Writer, name: &'static str, ty: TypeId) -> &'static str {
        t.help(HELPERS, name, ty)
    }

    /// A call of a function that is added to the text for the type of its first operand.
    pub fn helped(&self, t: &mut Writer, name: &'static str, args: &[Expr], ty: TypeId) -> Expr {
        let name = self.help(t, name, ty);
        match args {
            // The literal of an integer fits the overloads for both signs.
            [first, rest @ ..] if t.types.scalar_of(ty).is_some_and(Scalar::is_int) => {
                Expr::call(name, &[&[typed(t, first, ty)], rest].concat())
            }
            _ => Expr::call(name, args),
        }
    }
}
