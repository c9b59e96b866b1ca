//! The expressions of kernels of narrow and wide types.

use super::wide::{BOOL, Class, Kind, PACKING, Wide};

impl Wide {
    /// An expression of a type, in parentheses where needed.
    pub fn expr(&mut self, kind: Kind, size: u32, depth: usize) -> String {
        let Some(depth) = depth.checked_sub(1) else { return self.leaf(kind, size) };
        match self.rng.below(9) {
            0 => self.leaf(kind, size),
            1 => {
                let condition = self.expr(BOOL, 1, depth);
                let [yes, no] = [(); 2].map(|()| self.expr(kind, size, depth));
                format!("({condition} ? {yes} : {no})")
            }
            2 => self.converted(kind, size, depth),
            3 if size > 1 => self.put_together(kind, size, depth),
            _ => match kind.class {
                Class::Bool => self.bool(size, depth),
                Class::Float => self.float(kind, size, depth),
                Class::Signed | Class::Unsigned => self.number(kind, size, depth),
            },
        }
    }

    /// A vector of scalars and vectors.
    fn put_together(&mut self, kind: Kind, size: u32, depth: usize) -> String {
        let (mut left, mut parts) = (size, Vec::new());
        while left > 0 {
            let part = 1 + self.rng.below(left.min(size - 1) as usize) as u32;
            parts.push(self.expr(kind, part, depth));
            left -= part;
        }
        format!("{}({})", kind.of(size), parts.join(", "))
    }

    /// Floats become integers only where these are large enough, and integers become floats only where these are exact.
    fn converted(&mut self, kind: Kind, size: u32, depth: usize) -> String {
        let from = self.kind();
        let value = self.expr(from, size, depth);
        let (to, low) = (kind.of(size), if kind.class == Class::Unsigned { 0 } else { -8 });
        match (from.class, kind.class) {
            (Class::Float, Class::Signed | Class::Unsigned) => {
                format!("{to}(clamp({value}, {0}({low}), {0}(8)))", from.name)
            }
            (Class::Signed | Class::Unsigned, Class::Float) => format!("{to}({value} & {}(7))", from.name),
            _ => format!("{to}({value})"),
        }
    }

    /// The size of an operand that may be a scalar instead of a vector.
    fn second(&mut self, size: u32) -> u32 {
        if self.rng.once_in(5) { 1 } else { size }
    }

    fn number(&mut self, kind: Kind, size: u32, depth: usize) -> String {
        let a = self.expr(kind, size, depth);
        let (right, ty) = (self.second(size), kind.name);
        match self.rng.below(14) {
            0 => format!("(- {a})"),
            1 => format!("(~{a})"),
            2..=6 => {
                let operator = *self.rng.pick(&["+", "-", "*", "&", "|", "^"]);
                format!("({a} {operator} {})", self.expr(kind, right, depth))
            }
            7 | 8 => {
                let other = self.integer();
                let by = self.expr(other, right, depth);
                let most = (kind.bits - 1).min(127);
                format!("({a} {} ({by} & {}({most})))", self.rng.pick(&["<<", ">>"]), other.name)
            }
            9 => self.quotient(kind, size, &a, depth),
            10 => format!("{}({a}, {})", *self.rng.pick(&["min", "max"]), self.expr(kind, size, depth)),
            11 => format!("min(max({a}, {ty}(2)), {})", self.expr(kind, size, depth)),
            12 => {
                let (b, chosen) = (self.expr(kind, size, depth), self.expr(BOOL, size, depth));
                format!("mix({a}, {b}, {chosen})")
            }
            _ if kind.bits == 32 && self.rng.once_in(2) => self.of_bits(kind, size, &a, depth),
            _ => self.packed(kind, size, depth).unwrap_or(a),
        }
    }

    fn quotient(&mut self, kind: Kind, size: u32, a: &str, depth: usize) -> String {
        let (b, ty) = (self.expr(kind, size, depth), kind.name);
        match (kind.class, self.rng.below(2)) {
            (Class::Unsigned, n) => format!("({a} {} ({b} | {ty}(1)))", ["/", "%"][n]),
            (_, 0) => format!("({a} / (({b} & {ty}(100)) + {ty}(1)))"),
            // Remainders of negative numbers are undefined.
            _ => format!("(({a} & {ty}({:#x}ul)) % (({b} & {ty}(100)) + {ty}(1)))", (1_u64 << (kind.bits - 1)) - 1),
        }
    }

    fn of_bits(&mut self, kind: Kind, size: u32, a: &str, depth: usize) -> String {
        let ty = kind.of(size);
        match self.rng.below(5) {
            0 => format!("{ty}(bitCount({a}))"),
            1 => format!("bitfieldReverse({a})"),
            2 => format!("{ty}({}({a}))", self.rng.pick(&["findMSB", "findLSB"])),
            3 => format!("bitfieldExtract({a}, {}, {})", self.rng.below(16), self.rng.below(17)),
            _ => {
                let b = self.expr(kind, size, depth);
                format!("bitfieldInsert({a}, {b}, {}, {})", self.rng.below(16), self.rng.below(17))
            }
        }
    }

    /// The same bits as components of another width, where the kernel has such types.
    fn packed(&mut self, kind: Kind, size: u32, depth: usize) -> Option<String> {
        let source = |bits: u32| self.kinds.iter().copied().find(|from| from.class == kind.class && from.bits == bits);
        let fits = PACKING.iter().filter(|(_, to, _)| *to == [kind.bits, size]);
        let found: Vec<(&str, Kind, u32)> =
            fits.filter_map(|(name, _, [bits, count])| Some((*name, source(*bits)?, *count))).collect();
        let (name, from, count) = *found.get(self.rng.below(found.len().max(1)))?;
        Some(format!("{name}({})", self.expr(from, count, depth)))
    }

    fn float(&mut self, kind: Kind, size: u32, depth: usize) -> String {
        let a = self.expr(kind, size, depth);
        let (right, ty) = (self.second(size), kind.name);
        match self.rng.below(9) {
            0 => format!("(- {a})"),
            1 | 2 => {
                let operator = *self.rng.pick(&["+", "-"]);
                format!("lim({a} {operator} {})", self.expr(kind, right, depth))
            }
            3 => format!("lim(lim({a}) * lim({}))", self.expr(kind, right, depth)),
            4 => {
                let name = *self.rng.pick(&["min", "max", "step"]);
                format!("{name}({a}, {})", self.expr(kind, size, depth))
            }
            5 => format!("{}({a})", self.rng.pick(&["abs", "floor", "ceil", "trunc", "sign", "fract"])),
            6 => format!("clamp({a}, {ty}(-3), {ty}(5))"),
            7 => {
                let (b, chosen) = (self.expr(kind, size, depth), self.expr(BOOL, size, depth));
                format!("mix({a}, {b}, {chosen})")
            }
            _ => {
                let other = self.integer();
                format!("lim({a} + {}({} & {}(15)))", kind.of(size), self.expr(other, size, depth), other.name)
            }
        }
    }

    fn bool(&mut self, size: u32, depth: usize) -> String {
        let compared = self.kind();
        if size > 1 {
            let names = ["equal", "notEqual", "lessThan", "lessThanEqual", "greaterThan", "greaterThanEqual"];
            let name = *self.rng.pick(&names);
            let [a, b] = [(); 2].map(|()| self.expr(compared, size, depth));
            return format!("{name}({a}, {b})");
        }
        match self.rng.below(6) {
            n @ 0..=2 => {
                let [a, b] = [(); 2].map(|()| self.expr(BOOL, 1, depth));
                format!("({a} {} {b})", ["&&", "||", "^^"][n])
            }
            3 => {
                let count = 2 + self.rng.below(3) as u32;
                format!("{}({})", *self.rng.pick(&["any", "all", "!all"]), self.expr(BOOL, count, depth))
            }
            4 => {
                let count = self.size();
                let [a, b] = [(); 2].map(|()| self.expr(compared, count, depth));
                format!("({a} {} {b})", self.rng.pick(&["==", "!="]))
            }
            _ => {
                let [a, b] = [(); 2].map(|()| self.expr(compared, 1, depth));
                format!("({a} {} {b})", self.rng.pick(&["<", "<=", ">", ">="]))
            }
        }
    }
}
