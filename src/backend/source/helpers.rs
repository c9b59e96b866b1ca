//! Helper functions for operations that the language lacks. One-letter words in their lines represent the types of the
//! operands.

use super::writer::Writer;
use crate::ir::{Scalar, TypeId};

/// A function: its name and its lines. `T` represents a type, `S` its scalar, `V` the vector with a component for each
/// row of a matrix, and for vectors of the same size: `U` and `I` words, `B` bools.
pub(super) struct Helper {
    pub name: &'static str,
    pub lines: &'static [&'static str],
}

pub(super) const fn helper(name: &'static str, lines: &'static [&'static str]) -> Helper {
    Helper { name, lines }
}

/// The inverse of a matrix of two, three or four columns.
const INVERSES: [&[&str]; 3] = [
    &["T inverse(T m) {", "    return T(m[1][1], -m[0][1], -m[1][0], m[0][0]) * (S(1.0) / determinant(m));", "}"],
    &[
        "T inverse(T m) {",
        "    V x = cross(m[1], m[2]);",
        "    V y = cross(m[2], m[0]);",
        "    V z = cross(m[0], m[1]);",
        "    return transpose(T(x, y, z)) * (S(1.0) / dot(m[0], x));",
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
        "    return adjugate * (S(1.0) / (a0 * b5 - a1 * b4 + a2 * b3 + a3 * b2 - a4 * b1 + a5 * b0));",
        "}",
    ],
];

impl Writer<'_> {
    /// The name of a function from a language's table, which is added to the text for a type of operands.
    pub fn help(&mut self, table: &[Helper], name: &'static str, ty: TypeId) -> &'static str {
        if !self.helper(name, ty).1 {
            return name;
        }
        let Some(helper) = table.iter().find(|helper| helper.name == name) else {
            self.internal("a function that it does not have");
            return name;
        };
        self.write_helper(helper.lines, ty, 1);
        name
    }

    /// Like [`Writer::help`], for the inverse of a square matrix.
    pub fn help_invert(&mut self, ty: TypeId, columns: u8) -> &'static str {
        if self.helper("inverse", ty).1
            && let Some(lines) = usize::from(columns).checked_sub(2).and_then(|at| INVERSES.get(at))
        {
            self.write_helper(lines, ty, columns);
        }
        "inverse"
    }

    /// Adds a function; `rows` is the row count of a matrix.
    pub fn write_helper<L: AsRef<str>>(&mut self, lines: &[L], ty: TypeId, rows: u8) {
        let scalar = self.types.scalar_of(ty).unwrap_or(Scalar::F32);
        let size = self.types.components(ty).unwrap_or(1);
        let of = self.type_name(ty);
        let words = [
            ('T', of),
            ('U', self.vector_name(Scalar::U32, size)),
            ('I', self.vector_name(Scalar::I32, size)),
            ('B', self.vector_name(Scalar::BOOL, size)),
            ('S', self.vector_name(scalar, 1)),
            ('V', self.vector_name(scalar, rows)),
        ];
        let lines: Vec<String> = lines.iter().map(|line| spelled(line.as_ref(), &words)).collect();
        self.helpers.extend(lines);
    }
}

/// A line with its one-letter words replaced.
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
