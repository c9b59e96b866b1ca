//! Functions that a text has besides those of the source: what the language has no function for.

use super::Hlsl;
use crate::backend::source::writer::Writer;
use crate::ir::{Scalar, TypeId};

/// A function by its name and its lines, with `T` for a type, `U` for the unsigned one and `B` for the bools of as many components.
struct Helper {
    name: &'static str,
    lines: &'static [&'static str],
}

const fn helper(name: &'static str, lines: &'static [&'static str]) -> Helper {
    Helper { name, lines }
}

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

/// The inverse of a matrix of two, three or four columns.
const INVERSES: [&[&str]; 3] = [
    &["T inverse(T m) {", "    return T(m[1][1], -m[0][1], -m[1][0], m[0][0]) / determinant(m);", "}"],
    &[
        "T inverse(T m) {",
        "    V x = cross(m[1], m[2]);",
        "    V y = cross(m[2], m[0]);",
        "    V z = cross(m[0], m[1]);",
        "    return transpose(T(x, y, z)) / dot(m[0], x);",
        "}",
    ],
    &[
        "T inverse(T m) {",
        "    S a0 = m[0][0] * m[1][1] - m[0][1] * m[1][0];",
        "    S a1 = m[0][0] * m[1][2] - m[0][2] * m[1][0];",
        "    S a2 = m[0][0] * m[1][3] - m[0][3] * m[1][0];",
        "    S a3 = m[0][1] * m[1][2] - m[0][2] * m[1][1];",
        "    S a4 = m[0][1] * m[1][3] - m[0][3] * m[1][1];",
        "    S a5 = m[0][2] * m[1][3] - m[0][3] * m[1][2];",
        "    S b0 = m[2][0] * m[3][1] - m[2][1] * m[3][0];",
        "    S b1 = m[2][0] * m[3][2] - m[2][2] * m[3][0];",
        "    S b2 = m[2][0] * m[3][3] - m[2][3] * m[3][0];",
        "    S b3 = m[2][1] * m[3][2] - m[2][2] * m[3][1];",
        "    S b4 = m[2][1] * m[3][3] - m[2][3] * m[3][1];",
        "    S b5 = m[2][2] * m[3][3] - m[2][3] * m[3][2];",
        "    T adjugate = T(",
        "        m[1][1] * b5 - m[1][2] * b4 + m[1][3] * b3, -m[0][1] * b5 + m[0][2] * b4 - m[0][3] * b3,",
        "        m[3][1] * a5 - m[3][2] * a4 + m[3][3] * a3, -m[2][1] * a5 + m[2][2] * a4 - m[2][3] * a3,",
        "        -m[1][0] * b5 + m[1][2] * b2 - m[1][3] * b1, m[0][0] * b5 - m[0][2] * b2 + m[0][3] * b1,",
        "        -m[3][0] * a5 + m[3][2] * a2 - m[3][3] * a1, m[2][0] * a5 - m[2][2] * a2 + m[2][3] * a1,",
        "        m[1][0] * b4 - m[1][1] * b2 + m[1][3] * b0, -m[0][0] * b4 + m[0][1] * b2 - m[0][3] * b0,",
        "        m[3][0] * a4 - m[3][1] * a2 + m[3][3] * a0, -m[2][0] * a4 + m[2][1] * a2 - m[2][3] * a0,",
        "        -m[1][0] * b3 + m[1][1] * b1 - m[1][2] * b0, m[0][0] * b3 - m[0][1] * b1 + m[0][2] * b0,",
        "        -m[3][0] * a3 + m[3][1] * a1 - m[3][2] * a0, m[2][0] * a3 - m[2][1] * a1 + m[2][2] * a0);",
        "    return adjugate / (a0 * b5 - a1 * b4 + a2 * b3 + a3 * b2 - a4 * b1 + a5 * b0);",
        "}",
    ],
];

impl Hlsl {
    /// The name of a function that the text has from now on, for a type of its operands; `words` are the texts of `T`, `U`, `I`.
    pub fn help(&self, t: &mut Writer, name: &'static str, ty: TypeId) -> &'static str {
        if !t.helper(name, ty).1 {
            return name;
        }
        let Some(helper) = HELPERS.iter().find(|helper| helper.name == name) else {
            t.internal("a function that it does not have");
            return name;
        };
        self.write_helper(t, helper.lines, ty, 1);
        name
    }

    /// As [`Hlsl::help`], of the inverse of a square matrix.
    pub fn help_invert(&self, t: &mut Writer, ty: TypeId, columns: u8) -> &'static str {
        if t.helper("inverse", ty).1
            && let Some(lines) = usize::from(columns).checked_sub(2).and_then(|at| INVERSES.get(at))
        {
            self.write_helper(t, lines, ty, columns);
        }
        "inverse"
    }

    fn write_helper(&self, t: &mut Writer, lines: &[&str], ty: TypeId, columns: u8) {
        let scalar = t.types.scalar_of(ty).unwrap_or(Scalar::F32);
        let size = t.types.components(ty).unwrap_or(1);
        let of = t.type_name(ty);
        let words = [
            ('T', of),
            ('U', t.vector_name(Scalar::U32, size)),
            ('I', t.vector_name(Scalar::I32, size)),
            ('S', t.vector_name(scalar, 1)),
            ('V', t.vector_name(scalar, columns)),
        ];
        let lines: Vec<String> = lines.iter().map(|line| spelled(line, &words)).collect();
        t.helpers.extend(lines);
    }
}

/// A line with the texts of its one-letter words.
fn spelled(line: &str, words: &[(char, String)]) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut made = String::with_capacity(line.len() + 16);
    let mut before = ' ';
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let is_word = !is_part(before) && !rest.peek().is_some_and(|next| is_part(*next));
        match words.iter().find(|(letter, _)| is_word && *letter == c) {
            Some((_, text)) => made.push_str(text),
            None => made.push(c),
        }
        before = c;
    }
    made
}
