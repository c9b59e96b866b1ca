//! Random accesses to memory that has several names: components of 8 to 64 bits and vectors, through blocks of
//! different types at one binding, through references, and in workgroup and private memory, with stores between loads,
//! in sequences longer than compilers track.
//!
//! Each invocation has its own part. All values are integers, and all of memory is compared at the end.

use super::program::{INVOCATIONS, MEMORY, RESULTS};
use super::rng::Rng;

/// Words of the part that statements use, the first of the invocation's [`MEMORY`].
const WORDS: usize = 64;

/// The offset in the push constants at which references find the memory's address, and its binding.
pub const ADDRESS: (usize, u32) = (0, 2);

/// An element type, its bytes, and the scalar type of its components.
#[derive(Debug, Clone, Copy)]
struct Element {
    ty: &'static str,
    bytes: usize,
    scalar: &'static str,
    components: usize,
}

const fn element(ty: &'static str, bytes: usize, scalar: &'static str, components: usize) -> Element {
    Element { ty, bytes, scalar, components }
}

const WORD: Element = element("uint", 4, "uint", 1);

/// Elements of at least a word.
const WIDE: [Element; 7] = [
    element("int", 4, "int", 1),
    element("uvec2", 8, "uint", 2),
    element("uvec4", 16, "uint", 4),
    element("ivec4", 16, "int", 4),
    element("uint64_t", 8, "uint64_t", 1),
    element("int64_t", 8, "int64_t", 1),
    element("u64vec2", 16, "uint64_t", 2),
];

/// Elements of 16 bits, and of 8.
const HALVES: [Element; 4] = [
    element("uint16_t", 2, "uint16_t", 1),
    element("int16_t", 2, "int16_t", 1),
    element("u16vec2", 4, "uint16_t", 2),
    element("u16vec4", 8, "uint16_t", 4),
];
const BYTES: [Element; 3] =
    [element("uint8_t", 1, "uint8_t", 1), element("int8_t", 1, "int8_t", 1), element("u8vec4", 4, "uint8_t", 4)];

/// A name for memory.
#[derive(Debug, Clone)]
struct View {
    /// The array, or an expression for it.
    array: String,
    element: Element,
    /// Elements per invocation, and the expression for the first of them.
    count: usize,
    first: String,
    writable: bool,
}

/// The source for a seed.
pub fn kernel(seed: u64) -> String {
    write(seed, 30, 36)
}

/// A shorter one, for drivers that are slow for each statement.
pub fn short_kernel(seed: u64) -> String {
    write(seed, 8, 8)
}

/// A kernel with at least `least` statements, some of which consist of `many` accesses.
fn write(seed: u64, least: usize, many: usize) -> String {
    let rng = Rng::new(seed ^ 0x3e30);
    let mut memory =
        Memory { rng, text: String::new(), views: Vec::new(), indent: 0, budget: 0, names: 0, least, many };
    memory.head();
    memory.main();
    memory.text
}

struct Memory {
    rng: Rng,
    text: String,
    views: Vec<View>,
    indent: usize,
    budget: usize,
    names: usize,
    least: usize,
    many: usize,
}

impl Memory {
    fn line(&mut self, line: &str) {
        self.text += &"    ".repeat(self.indent);
        self.text += line;
        self.text.push('\n');
    }

    fn head(&mut self) {
        self.line("#version 460");
        self.line("#extension GL_EXT_shader_explicit_arithmetic_types : require");
        let mut elements = vec![WORD];
        let narrow: &[Element] = match self.rng.below(8) {
            0 => &BYTES,
            1 | 2 => &HALVES,
            _ => &WIDE,
        };
        match narrow[0].bytes {
            1 => self.line("#extension GL_EXT_shader_8bit_storage : require"),
            2 => self.line("#extension GL_EXT_shader_16bit_storage : require"),
            _ => {}
        }
        for _ in 0..1 + self.rng.below(2) {
            elements.push(*self.rng.pick(narrow));
        }
        elements.push(*self.rng.pick(&WIDE));
        let refers = self.rng.once_in(3);
        if refers {
            self.line("#extension GL_EXT_buffer_reference : require");
        }
        self.line(&format!("layout(local_size_x = {INVOCATIONS}) in;"));
        self.line("layout(std430, binding = 0) readonly buffer In { uint given[]; };");
        self.line("layout(std430, binding = 1) buffer Out { uint o[]; };");
        for (n, element) in elements.iter().enumerate() {
            self.block(n, *element, n > 0);
        }
        if refers {
            self.line("layout(push_constant) uniform Push { uint64_t address; } push;");
            for n in 0..2 {
                let element = *self.rng.pick(&elements);
                self.reference(n, element);
            }
        }
        self.own();
    }

    /// A block at the memory's binding.
    fn block(&mut self, n: usize, element: Element, may_be_special: bool) {
        let special = ["readonly ", "coherent ", "volatile "];
        let qualifier = if may_be_special && self.rng.once_in(5) { *self.rng.pick(&special) } else { "" };
        let ty = element.ty;
        self.line(&format!("layout(std430, binding = 2) {qualifier}buffer Mem{n} {{ {ty} m{n}[]; }};"));
        self.add(format!("m{n}"), element, qualifier != special[0]);
    }

    fn reference(&mut self, n: usize, element: Element) {
        let (ty, bytes) = (element.ty, element.bytes);
        let layout = format!("buffer_reference, std430, buffer_reference_align = {bytes}");
        self.line(&format!("layout({layout}) buffer Ref{n} {{ {ty} r[]; }};"));
        self.add(format!("Ref{n}(push.address).r"), element, true);
    }

    fn add(&mut self, array: String, element: Element, writable: bool) {
        let (count, stride) = (4 * WORDS / element.bytes, 4 * MEMORY / element.bytes);
        self.views.push(View { array, element, count, first: format!("i * {stride}u"), writable });
    }

    /// Memory of the workgroup and of the invocation.
    fn own(&mut self) {
        for n in 0..2 {
            let element = *self.rng.pick(&WIDE);
            let ty = element.ty;
            self.line(&format!("shared {ty} s{n}[{}];", 8 * INVOCATIONS));
            let first = "i * 8u".to_owned();
            self.views.push(View { array: format!("s{n}"), element, count: 8, first, writable: true });
            self.line(&format!("{ty} p{n}[8];"));
            let first = "0u".to_owned();
            self.views.push(View { array: format!("p{n}"), element, count: 8, first, writable: true });
        }
        self.line("uint i, x, y, a;");
        self.line("uint64_t q;");
    }

    fn main(&mut self) {
        self.line("void main() {");
        self.indent += 1;
        self.line("i = gl_LocalInvocationIndex;");
        self.line(&format!(
            "x = given[i]; y = given[i + {INVOCATIONS}u]; a = x ^ 5u; q = uint64_t(y) * 0x100000001ul;"
        ));
        for view in self.views.clone().iter().filter(|view| view.count == 8) {
            let ty = view.element.ty;
            self.line(&format!("for (uint k = 0u; k < 8u; k++) {}[{} + k] = {ty}(x + k);", view.array, view.first));
        }
        self.budget = self.least + self.rng.below(self.least);
        while self.budget > 0 {
            self.statement();
        }
        self.line("uint h = 0u;");
        for view in self.views.clone().iter().filter(|view| view.count == 8) {
            let element = View::at(view, "k");
            self.line(&format!("for (uint k = 0u; k < 8u; k++) h = h * 31u + {};", view.folded(&element)));
        }
        self.line(&format!("for (uint k = 0u; k < {WORDS}u; k++) h = h * 31u + m0[i * {MEMORY}u + k];"));
        for (n, value) in ["a", "uint(q)", "uint(q >> 32)", "h"].iter().enumerate() {
            self.line(&format!("o[i * {RESULTS}u + {n}u] = {value};"));
        }
        self.indent -= 1;
        self.line("}");
    }

    fn statement(&mut self) {
        self.budget = self.budget.saturating_sub(1);
        match self.rng.below(24) {
            0..=6 => self.load(),
            7..=12 => self.store(),
            13 => self.many_loads(),
            14 => self.many_of_one(),
            15 => self.copy(),
            16 => self.add_to(),
            17 => self.order(),
            18..=20 if self.indent < 3 => self.branch(),
            21..=22 if self.indent < 3 => self.repeat(),
            _ => self.line("a = a * 3u + uint(q >> 7); q = q * 5ul + uint64_t(a);"),
        }
    }

    fn view(&mut self, written: bool) -> View {
        let views: Vec<View> = self.views.iter().filter(|view| view.writable || !written).cloned().collect();
        self.rng.pick(&views).clone()
    }

    /// An element, often one of the first, selected by a constant or by a number known only at run time.
    fn index(&mut self, view: &View) -> String {
        let few = if self.rng.once_in(4) { view.count } else { view.count.min(6) };
        let n = self.rng.below(few);
        match self.rng.below(5) {
            0 => format!("(x & 3u) + {}u", n.min(view.count - 4)),
            1 => format!("(y & 1u) * 2u + {}u", n.min(view.count - 4)),
            _ => format!("{n}u"),
        }
    }

    /// A component of an element, or all of it.
    fn place(&mut self, view: &View) -> (String, bool) {
        let index = self.index(view);
        let element = view.at(&index);
        let components = view.element.components;
        if components == 1 || self.rng.once_in(3) {
            return (element, true);
        }
        (format!("{element}.{}", "xyzw".as_bytes()[self.rng.below(components)] as char), false)
    }

    fn load(&mut self) {
        let view = self.view(false);
        let (place, whole) = self.place(&view);
        let value = if whole { view.folded(&place) } else { format!("uint({place})") };
        let line = if view.element.bytes / view.element.components == 8 && (!whole || view.element.components == 1) {
            format!("q = q * 7ul + uint64_t({place});")
        } else {
            format!("a = a * 5u + {value};")
        };
        self.line(&line);
    }

    fn value(&mut self) -> String {
        let n = self.rng.below(64);
        let value = *self.rng.pick(&["a", "x", "y", "q", "(a ^ y)", "(q >> 20)"]);
        format!("{value} + {n}")
    }

    fn store(&mut self) {
        let view = self.view(true);
        let (place, whole) = self.place(&view);
        let value = self.value();
        let Element { ty, scalar, components, .. } = view.element;
        if whole && components > 1 {
            let parts: Vec<String> = (0..components).map(|n| format!("{scalar}({value}) + {scalar}({n})")).collect();
            return self.line(&format!("{place} = {ty}({});", parts.join(", ")));
        }
        self.line(&format!("{place} = {scalar}({value});"));
    }

    /// Loads from memory through one name and from the workgroup's, more than forwarding keeps track of.
    fn many_loads(&mut self) {
        let view = self.view(false);
        for n in 0..self.many / 2 {
            let index = format!("{}u", n % view.count.min(24));
            let element = view.at(&index);
            self.line(&format!("a ^= {} << {}u;", view.folded(&element), n % 5));
            self.line(&format!("a ^= given[{n}u % {INVOCATIONS}u];"));
            if self.rng.once_in(12) {
                self.store();
            }
        }
    }

    /// Many accesses to consecutive words, with others between them.
    fn many_of_one(&mut self) {
        let view = self.view(true);
        let (writes, ty) = (self.rng.once_in(2), view.element.ty);
        for n in 0..self.many {
            let element = view.at(&format!("{}u", n % view.count.min(40)));
            if writes {
                self.line(&format!("{element} = {ty}(a + {n}u);"));
            } else {
                self.line(&format!("a += {};", view.folded(&element)));
            }
            match self.rng.below(24) {
                0 => self.store(),
                1 => self.load(),
                _ => {}
            }
        }
    }

    fn copy(&mut self) {
        let (from, to) = (self.view(false), self.view(true));
        let (index, place) = (self.index(&from), self.index(&to));
        let (from, ty, place) = (from.folded(&from.at(&index)), to.element.ty, to.at(&place));
        self.line(&format!("{place} = {ty}({from});"));
    }

    fn add_to(&mut self) {
        let index = self.index(&self.views[0].clone());
        let word = self.views[0].at(&index);
        let line = match self.rng.below(3) {
            0 => format!("a ^= atomicAdd({word}, a | 1u);"),
            1 => format!("{word} += a;"),
            _ => format!("for (uint k = 0u; k < (x & 3u); k++) {word} += y + k;"),
        };
        self.line(&line);
    }

    fn order(&mut self) {
        let line = *self.rng.pick(&["memoryBarrierBuffer();", "memoryBarrierShared();", "memoryBarrier();"]);
        self.line(line);
    }

    fn condition(&mut self) -> String {
        let n = self.rng.below(8);
        match self.rng.below(4) {
            0 => format!("(a & 7u) > {n}u"),
            1 => "(q & 1ul) == 0ul".to_owned(),
            2 => format!("(y & 7u) == {n}u"),
            _ => "(x & 1u) == 0u".to_owned(),
        }
    }

    fn statements(&mut self, count: usize) {
        self.indent += 1;
        (0..count).for_each(|_| self.statement());
        self.indent -= 1;
    }

    fn branch(&mut self) {
        let condition = self.condition();
        self.line(&format!("if ({condition}) {{"));
        let count = 1 + self.rng.below(4);
        self.statements(count);
        if self.rng.once_in(2) {
            self.line("} else {");
            self.statements(count);
        }
        self.line("}");
    }

    fn repeat(&mut self) {
        self.names += 1;
        let (n, times) = (format!("n{}", self.names), *self.rng.pick(&["2u", "4u", "(x & 3u)", "(y & 7u)"]));
        self.line(&format!("for (uint {n} = 0u; {n} < {times}; {n}++) {{"));
        let count = 1 + self.rng.below(4);
        self.statements(count);
        if self.rng.once_in(3) {
            let condition = self.condition();
            self.line(&format!("    if ({condition}) break;"));
        }
        self.line("}");
    }
}

impl View {
    fn at(&self, index: &str) -> String {
        format!("{}[{} + {index}]", self.array, self.first)
    }

    /// A word computed from all components of an element.
    fn folded(&self, element: &str) -> String {
        let scalar = |component: String| match self.element.bytes / self.element.components {
            8 => format!("uint({component}) + uint({component} >> 32)"),
            _ => format!("uint({component})"),
        };
        match self.element.components {
            1 => format!("({})", scalar(element.to_owned())),
            count => {
                let parts = "xyzw".chars().take(count).map(|letter| scalar(format!("{element}.{letter}")));
                format!("({})", parts.collect::<Vec<_>>().join(" * 3u + "))
            }
        }
    }
}
