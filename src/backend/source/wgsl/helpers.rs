//! Functions that a text has in addition to the source's, one per type, because the language has no overloads.

use super::Wgsl;
use crate::backend::source::constants::component;
use crate::backend::source::helpers::{Helper, helper};
use crate::backend::source::writer::Writer;
use crate::ir::{Scalar, Type, TypeId};

/// `N` represents the function's name.
const HELPERS: &[Helper] = &[
    // The language rejects infinities that it computes at shader creation.
    helper("float_of", &["fn N(bits: u32) -> f32 {", "    return bitcast<f32>(bits);", "}"]),
    helper(
        "words_of_halves",
        &[
            "fn N(halves: vec4h) -> vec2u {",
            "    return vec2u(pack2x16float(vec2f(halves.xy)), pack2x16float(vec2f(halves.zw)));",
            "}",
        ],
    ),
    helper(
        "halves_of_words",
        &[
            "fn N(words: vec2u) -> vec4h {",
            "    return vec4h(vec4f(unpack2x16float(words.x), unpack2x16float(words.y)));",
            "}",
        ],
    ),
    helper("modulo", &["fn N(x: T, y: T) -> T {", "    return x - y * floor(x / y);", "}"]),
    helper("is_nan", &["fn N(x: T) -> B {", "    return (bitcast<U>(x) & U(0x7fffffffu)) > U(0x7f800000u);", "}"]),
    helper("is_inf", &["fn N(x: T) -> B {", "    return (bitcast<U>(x) & U(0x7fffffffu)) == U(0x7f800000u);", "}"]),
    helper(
        "face_forward",
        &["fn N(n: T, i: T, reference: T) -> T {", "    return select(-n, n, reference * i < 0.0);", "}"],
    ),
    helper("reflected", &["fn N(i: T, n: T) -> T {", "    return i - 2.0 * n * i * n;", "}"]),
    helper(
        "refracted",
        &[
            "fn N(i: T, n: T, eta: T) -> T {",
            "    let cosine = n * i;",
            "    let k = 1.0 - eta * eta * (1.0 - cosine * cosine);",
            "    if k < 0.0 {",
            "        return 0.0;",
            "    }",
            "    return eta * i - (eta * cosine + sqrt(k)) * n;",
            "}",
        ],
    ),
    helper(
        "high_product",
        &[
            "fn N(x: U, y: U) -> U {",
            "    let low = (x & U(0xffffu)) * (y & U(0xffffu));",
            "    let middle = (x >> U(16u)) * (y & U(0xffffu)) + (low >> U(16u));",
            "    let other = (x & U(0xffffu)) * (y >> U(16u)) + (middle & U(0xffffu));",
            "    return (x >> U(16u)) * (y >> U(16u)) + (middle >> U(16u)) + (other >> U(16u));",
            "}",
        ],
    ),
    // A negative factor subtracts the other one from the high half.
    helper(
        "high_signed_product",
        &[
            "fn N(x: I, y: I) -> I {",
            "    let high = H(U(x), U(y)) - select(U(), U(y), x < I()) - select(U(), U(x), y < I());",
            "    return I(high);",
            "}",
        ],
    ),
    helper(
        "lanes_below",
        &[
            "fn N(count: u32) -> vec4u {",
            "    let counts = max(vec4u(count), vec4u(0u, 32u, 64u, 96u)) - vec4u(0u, 32u, 64u, 96u);",
            "    return vec4u(",
            "        extractBits(0xffffffffu, 0u, min(counts.x, 32u)), extractBits(0xffffffffu, 0u, min(counts.y, 32u)),",
            "        extractBits(0xffffffffu, 0u, min(counts.z, 32u)), extractBits(0xffffffffu, 0u, min(counts.w, 32u)));",
            "}",
        ],
    ),
];

/// The inverse of a matrix of two, three or four columns.
const INVERSES: [&[&str]; 3] = [
    &["fn N(m: T) -> T {", "    return T(m[1][1], -m[0][1], -m[1][0], m[0][0]) * (1.0 / determinant(m));", "}"],
    &[
        "fn N(m: T) -> T {",
        "    let x = cross(m[1], m[2]);",
        "    let y = cross(m[2], m[0]);",
        "    let z = cross(m[0], m[1]);",
        "    return transpose(T(x, y, z)) * (1.0 / dot(m[0], x));",
        "}",
    ],
    &[
        "fn N(m: T) -> T {",
        "    let a0 = m[0][0] * m[1][1] - m[0][1] * m[1][0];",
        "    let a1 = m[0][0] * m[1][2] - m[0][2] * m[1][0];",
        "    let a2 = m[0][0] * m[1][3] - m[0][3] * m[1][0];",
        "    let a3 = m[0][1] * m[1][2] - m[0][2] * m[1][1];",
        "    let a4 = m[0][1] * m[1][3] - m[0][3] * m[1][1];",
        "    let a5 = m[0][2] * m[1][3] - m[0][3] * m[1][2];",
        "    let b0 = m[2][0] * m[3][1] - m[2][1] * m[3][0];",
        "    let b1 = m[2][0] * m[3][2] - m[2][2] * m[3][0];",
        "    let b2 = m[2][0] * m[3][3] - m[2][3] * m[3][0];",
        "    let b3 = m[2][1] * m[3][2] - m[2][2] * m[3][1];",
        "    let b4 = m[2][1] * m[3][3] - m[2][3] * m[3][1];",
        "    let b5 = m[2][2] * m[3][3] - m[2][3] * m[3][2];",
        "    let adjugate = T(",
        "        m[1][1] * b5 - m[1][2] * b4 + m[1][3] * b3, -m[0][1] * b5 + m[0][2] * b4 - m[0][3] * b3,",
        "        m[3][1] * a5 - m[3][2] * a4 + m[3][3] * a3, -m[2][1] * a5 + m[2][2] * a4 - m[2][3] * a3,",
        "        -m[1][0] * b5 + m[1][2] * b2 - m[1][3] * b1, m[0][0] * b5 - m[0][2] * b2 + m[0][3] * b1,",
        "        -m[3][0] * a5 + m[3][2] * a2 - m[3][3] * a1, m[2][0] * a5 - m[2][2] * a2 + m[2][3] * a1,",
        "        m[1][0] * b4 - m[1][1] * b2 + m[1][3] * b0, -m[0][0] * b4 + m[0][1] * b2 - m[0][3] * b0,",
        "        m[3][0] * a4 - m[3][1] * a2 + m[3][3] * a0, -m[2][0] * a4 + m[2][1] * a2 - m[2][3] * a0,",
        "        -m[1][0] * b3 + m[1][1] * b1 - m[1][2] * b0, m[0][0] * b3 - m[0][1] * b1 + m[0][2] * b0,",
        "        -m[3][0] * a3 + m[3][1] * a1 - m[3][2] * a0, m[2][0] * a3 - m[2][1] * a1 + m[2][2] * a0);",
        "    return adjugate * (1.0 / (a0 * b5 - a1 * b4 + a2 * b3 + a3 * b2 - a4 * b1 + a5 * b0));",
        "}",
    ],
];

impl Wgsl {
    /// Adds a function to the text for a type of operands, and returns its name.
    pub fn help(&self, t: &mut Writer, name: &'static str, ty: TypeId) -> String {
        self.helped(t, name, ty, |_| {
            let found = HELPERS.iter().find(|helper| helper.name == name);
            found.map_or_else(Vec::new, |helper| helper.lines.iter().map(|line| (*line).to_string()).collect())
        })
    }

    /// The name of a function for a type; `write` returns its lines if the text does not contain it yet.
    fn helped(
        &self,
        t: &mut Writer,
        base: &'static str,
        ty: TypeId,
        write: impl FnOnce(&mut Writer) -> Vec<String>,
    ) -> String {
        if let Some(known) = t.wgsl.helpers.get(&(base, ty)) {
            return known.clone();
        }
        let name = t.names.unique(base, None);
        t.wgsl.helpers.insert((base, ty), name.clone());
        let lines = write(t);
        let rows = if let Type::Matrix { rows, .. } = t.types.get(ty) { rows } else { 1 };
        let lines: Vec<String> = lines.iter().map(|line| named(line, 'N', &name)).collect();
        t.helpers.extend((!t.helpers.is_empty()).then(String::new));
        t.write_helper(&lines, ty, rows);
        name
    }

    /// The inverse of a square matrix.
    pub fn help_invert(&self, t: &mut Writer, ty: TypeId) -> Option<String> {
        let Type::Matrix { columns, .. } = t.types.get(ty) else { return None };
        let lines = INVERSES.get(usize::from(columns).checked_sub(2)?)?;
        Some(self.helped(t, "inverse", ty, |_| lines.iter().map(|line| (*line).to_string()).collect()))
    }

    /// An operator of two matrices component by component.
    pub fn help_by_column(&self, t: &mut Writer, op: &str, ty: TypeId) -> String {
        let name = if op == "/" { "quotients" } else { "products" };
        let Type::Matrix { columns, .. } = t.types.get(ty) else { return name.to_string() };
        let parts: Vec<String> = (0..columns).map(|n| format!("a[{n}] {op} b[{n}]")).collect();
        self.helped(t, name, ty, |_| {
            vec!["fn N(a: T, b: T) -> T {".to_string(), format!("    return T({});", parts.join(", ")), "}".to_string()]
        })
    }

    /// The product of a column and a row that results in this matrix.
    pub fn help_outer_product(&self, t: &mut Writer, ty: TypeId) -> String {
        let name = "outer_product";
        let Type::Matrix { columns, scalar, .. } = t.types.get(ty) else { return name.to_string() };
        self.helped(t, name, ty, |t| {
            let row = t.vector_name(scalar, columns);
            let products: Vec<String> =
                (0..u32::from(columns)).map(|n| format!("column * row{}", component(n))).collect();
            vec![
                format!("fn N(column: V, row: {row}) -> T {{"),
                format!("    return T({});", products.join(", ")),
                "}".to_string(),
            ]
        })
    }

    /// The high half of a product of integers.
    pub fn help_high_product(&self, t: &mut Writer, ty: TypeId) -> String {
        let size = t.types.components(ty).unwrap_or(1);
        let words = t.types.vector(Scalar::U32, size);
        let of_words = self.help(t, "high_product", words);
        if !t.types.scalar_of(ty).is_some_and(Scalar::is_signed) {
            return of_words;
        }
        self.helped(t, "high_signed_product", ty, |_| {
            let found = HELPERS.iter().find(|helper| helper.name == "high_signed_product");
            found.map_or_else(Vec::new, |helper| helper.lines.iter().map(|line| named(line, 'H', &of_words)).collect())
        })
    }
}

/// A line with a name for a single letter.
fn named(line: &str, letter: char, name: &str) -> String {
    let call = format!("{letter}(");
    match line.find(&call) {
        Some(at) if !line[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_') => {
            format!("{}{name}({}", &line[..at], &line[at + call.len()..])
        }
        _ => line.to_string(),
    }
}
