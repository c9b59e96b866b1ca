//! Helper functions of a text, for operations that the language lacks.

use super::Msl;
use crate::backend::source::constants::component;
use crate::backend::source::helpers::{Helper, helper};
use crate::backend::source::writer::Writer;
use crate::ir::{Type, TypeId};

/// Names of functions whose lines depend on the size of a matrix.
const OF_MATRICES: [&str; 3] = ["inverse", "matrix_comp_mult", "outer_product"];

const HELPERS: &[Helper] = &[
    helper("mod", &["T mod(T x, T y) {", "    return x - y * floor(x / y);", "}"]),
    // Fast arithmetic has no functions that detect them.
    helper("is_nan", &["B is_nan(T x) {", "    return (as_type<U>(x) & 0x7fffffffu) > 0x7f800000u;", "}"]),
    helper("is_inf", &["B is_inf(T x) {", "    return (as_type<U>(x) & 0x7fffffffu) == 0x7f800000u;", "}"]),
    helper("find_lsb", &["I find_lsb(T x) {", "    return select(I(ctz(x)), I(-1), x == T(0));", "}"]),
    helper(
        "find_msb",
        &["I find_msb(T x) {", "    return I(clz(T(0))) - 1 - I(clz(select(x, T(~x), x < T(0))));", "}"],
    ),
    helper(
        "face_forward",
        &["T face_forward(T n, T i, T reference) {", "    return reference * i < T(0.0) ? n : -n;", "}"],
    ),
    helper("reflected", &["T reflected(T i, T n) {", "    return i - T(2.0) * n * i * n;", "}"]),
    helper(
        "refracted",
        &[
            "T refracted(T i, T n, T eta) {",
            "    T cosine = n * i;",
            "    T k = T(1.0) - eta * eta * (T(1.0) - cosine * cosine);",
            "    return k < T(0.0) ? T(0.0) : eta * i - (eta * cosine + sqrt(k)) * n;",
            "}",
        ],
    ),
    helper(
        "compare_exchange",
        &[
            "template <typename A>",
            "T compare_exchange(A place, T compared, T value) {",
            "    T before = compared;",
            "    bool is_done = false;",
            "    while (!is_done && before == compared) {",
            "        is_done = atomic_compare_exchange_weak_explicit(",
            "            place, &before, value, memory_order_relaxed, memory_order_relaxed);",
            "    }",
            "    return before;",
            "}",
        ],
    ),
    helper(
        "lanes_below",
        &[
            "uint4 lanes_below(uint count) {",
            "    return uint4(extract_bits(0xffffffffu, 0u, count), 0u, 0u, 0u);",
            "}",
        ],
    ),
];

/// Returns true for the names of the functions.
pub(super) fn is_name(name: &str) -> bool {
    OF_MATRICES.contains(&name) || HELPERS.iter().any(|helper| helper.name == name)
}

impl Msl {
    /// Adds a function to the text for a type of operands, and returns its name.
    pub fn help(&self, t: &mut Writer, name: &'static str, ty: TypeId) -> &'static str {
        t.help(HELPERS, name, ty)
    }

    /// The product of two matrices component by component.
    pub fn help_comp_mult(&self, t: &mut Writer, ty: TypeId) -> &'static str {
        let name = "matrix_comp_mult";
        if let (true, Type::Matrix { columns, rows, .. }) = (t.helper(name, ty).1, t.types.get(ty)) {
            let products: Vec<String> = (0..columns).map(|n| format!("a[{n}] * b[{n}]")).collect();
            let lines =
                [format!("T {name}(T a, T b) {{"), format!("    return T({});", products.join(", ")), "}".to_string()];
            t.write_helper(&lines, ty, rows);
        }
        name
    }

    /// The product of a column and a row that results in this matrix.
    pub fn help_outer_product(&self, t: &mut Writer, ty: TypeId) -> &'static str {
        let name = "outer_product";
        if let (true, Type::Matrix { columns, rows, scalar, .. }) = (t.helper(name, ty).1, t.types.get(ty)) {
            let row = t.vector_name(scalar, columns);
            let products: Vec<String> =
                (0..u32::from(columns)).map(|n| format!("column * row{}", component(n))).collect();
            let lines = [
                format!("T {name}(V column, {row} row) {{"),
                format!("    return T({});", products.join(", ")),
                "}".to_string(),
            ];
            t.write_helper(&lines, ty, rows);
        }
        name
    }
}

/// An array as a value, which can be assigned, passed and returned.
pub(super) const ARRAY: &[&str] = &[
    "template <typename T, size_t N>",
    "struct Array {",
    "    T elements[N];",
    "    thread T& operator[](size_t n) thread { return elements[n]; }",
    "    const thread T& operator[](size_t n) const thread { return elements[n]; }",
    "    device T& operator[](size_t n) device { return elements[n]; }",
    "    const device T& operator[](size_t n) const device { return elements[n]; }",
    "    threadgroup T& operator[](size_t n) threadgroup { return elements[n]; }",
    "    const threadgroup T& operator[](size_t n) const threadgroup { return elements[n]; }",
    "    const constant T& operator[](size_t n) const constant { return elements[n]; }",
    "};",
];

/// The operators of an array type in a payload.
pub(super) const OF_PAYLOADS: [&str; 2] = [
    "    object_data T& operator[](size_t n) object_data { return elements[n]; }",
    "    const object_data T& operator[](size_t n) const object_data { return elements[n]; }",
];

/// A texture or sampler in a buffer.
pub(super) const HANDLE: &[&str] = &["template <typename T>", "struct Handle {", "    T value;", "};"];
