//! From text to statements: the part of the grammar of NV_gpu_program4, 5 and NV_compute_program5 that programs use.

use std::collections::BTreeMap;

/// An attribute that is read: its number, its first component among the variables, and the words before `ATTRIB`.
#[derive(Debug)]
pub struct Attribute {
    pub number: usize,
    pub first: usize,
    pub qualifiers: String,
}

/// A whole program.
#[derive(Debug, Default)]
pub struct Program {
    pub attributes: Vec<Attribute>,
    /// First component of each result, by its name: `result.position`.
    pub results: BTreeMap<String, usize>,
    pub group_size: [u32; 3],
    pub shared_bytes: usize,
    /// Names of memory by their variables: a kind and a number.
    pub memory: BTreeMap<String, (Space, usize)>,
    /// First component and number of elements of each variable, in components of 64 bits.
    pub variables: BTreeMap<String, (usize, usize)>,
    /// Components of all variables.
    pub components: usize,
    pub options: Vec<String>,
    pub body: Vec<Node>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Space {
    Storage,
    Uniform,
    Shared,
    Parameters,
    /// The positions of samples in their pixels.
    SamplePositions,
}

/// A statement.
#[derive(Debug)]
pub enum Node {
    Inst(Inst),
    /// With both arms.
    If(Condition, Vec<Node>, Vec<Node>),
    /// With the number of iterations after which it ends, if there is one.
    Repeat(Option<u32>, Vec<Node>),
    /// With the condition, if there is one.
    Break(Option<Condition>),
    Kill(Condition),
    Return,
}

/// A test of a component's condition code.
#[derive(Debug, Clone, Copy)]
pub struct Condition {
    /// True if it is `NE`; otherwise `EQ`.
    pub holds: bool,
    pub component: usize,
}

#[derive(Debug)]
pub struct Inst {
    pub line: usize,
    pub op: String,
    pub modifiers: Vec<String>,
    pub operands: Vec<Operand>,
}

#[derive(Debug, Clone)]
pub enum Operand {
    /// Components of a variable; as a target possibly with a condition under which they are written.
    Variable {
        first: usize,
        components: Vec<usize>,
        guard: Option<Condition>,
    },
    /// An element of an array of variables: index and the component.
    Element {
        first: usize,
        count: usize,
        index: Index,
        component: usize,
    },
    Number(String),
    Numbers(Vec<String>),
    /// `invocation.…` or `state.…`.
    Environment(String),
    /// `texture[n]` or `image[n]`, and the gathered component of a texture.
    Unit(usize, usize),
    /// `offset(…)`, or numbers in parentheses.
    Offset(Box<Operand>),
    /// `2D` and the like.
    Target(String),
    Memory {
        space: Space,
        number: usize,
        index: Index,
        component: Option<usize>,
    },
}

/// The supported targets of textures and images.
const TARGETS: [&str; 11] =
    ["1D", "2D", "3D", "RECT", "CUBE", "BUFFER", "ARRAY1D", "ARRAY2D", "ARRAYCUBE", "2DMS", "ARRAY2DMS"];

/// The prefixes of the names of the program's environment.
const ENVIRONMENT: [&str; 5] = ["invocation.", "state.", "fragment.", "vertex.", "primitive."];

/// Values and results that require an option in the program.
const OPTIONAL: [(&str, &str); 6] = [
    ("result.layer.", "NV_viewport_array2"),
    ("result.viewport.", "NV_viewport_array2"),
    ("fragment.layer.", "ARB_fragment_layer_viewport"),
    ("fragment.viewport.", "ARB_fragment_layer_viewport"),
    ("result.cull[", "ARB_cull_distance"),
    ("fragment.cull[", "ARB_cull_distance"),
];

/// A register component, if there is one, and a constant.
#[derive(Debug, Clone)]
pub struct Index {
    pub register: Option<usize>,
    pub offset: usize,
}

/// Reads a program.
pub fn program(text: &str) -> Result<Program, String> {
    crate::assembler::is_ascii(text)?;
    let mut lines = text.lines().enumerate();
    let first = lines.next().map(|(_, line)| line);
    if !matches!(first, Some("!!NVcp5.0" | "!!NVvp5.0" | "!!NVfp5.0")) {
        return Err("it does not begin with a program's name".to_owned());
    }
    let statements: Vec<(usize, String)> = lines
        .map(|(at, line)| (at + 1, line.split('#').next().unwrap_or_default().trim().to_owned()))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    if statements.last().map(|(_, line)| &line[..]) != Some("END") {
        return Err("it does not end with END".to_owned());
    }
    let mut reader = Reader { program: Program::default(), open: vec![(Open::Body, Vec::new())] };
    for (line, statement) in &statements[..statements.len() - 1] {
        reader.statement(*line, statement).ok_or_else(|| format!("line {line}: {statement}"))?;
    }
    let Some((Open::Body, body)) = reader.open.pop() else { return Err("a block is open at the end".to_owned()) };
    reader.program.body = body;
    Ok(reader.program)
}

enum Open {
    Body,
    /// The condition, and the first arm once the second has begun.
    If(Condition, Option<Vec<Node>>),
    Repeat(Option<u32>),
}

struct Reader {
    program: Program,
    open: Vec<(Open, Vec<Node>)>,
}

impl Reader {
    fn statement(&mut self, line: usize, text: &str) -> Option<()> {
        if text == "main:" {
            return Some(());
        }
        let text = text.strip_suffix(';')?;
        if let Some((qualifiers, declared)) = text.split_once("ATTRIB ") {
            return self.attribute(qualifiers, declared);
        }
        let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
        match name {
            "OPTION" => self.program.options.push(rest.to_owned()),
            "GROUP_SIZE" => {
                let sizes: Vec<u32> = rest.split(' ').map(|size| size.parse().ok()).collect::<Option<_>>()?;
                self.program.group_size = sizes.try_into().ok()?;
            }
            "SHARED_MEMORY" => self.program.shared_bytes = rest.parse().ok()?,
            "STORAGE" | "CBUFFER" | "SHARED" | "PARAM" => self.memory(name, rest)?,
            "OUTPUT" => {
                let (variable, result) = rest.split_once(" = ")?;
                self.variables(variable)?;
                self.program.results.insert(result.to_owned(), self.program.variables[variable].0);
            }
            "KIL" => self.push(Node::Kill(condition(rest)?))?,
            "TEMP" => self.variables(rest)?,
            "LONG" => self.variables(rest.strip_prefix("TEMP ")?)?,
            "IF" => self.open.push((Open::If(condition(rest)?, None), Vec::new())),
            "ELSE" => {
                let (open, nodes) = self.open.pop()?;
                let Open::If(test, None) = open else { return None };
                self.open.push((Open::If(test, Some(nodes)), Vec::new()));
            }
            "ENDIF" => match self.open.pop()? {
                (Open::If(test, None), then) => self.push(Node::If(test, then, Vec::new()))?,
                (Open::If(test, Some(then)), otherwise) => self.push(Node::If(test, then, otherwise))?,
                _ => return None,
            },
            "REP" => self.open.push((Open::Repeat(None), Vec::new())),
            "REP.S" => self.open.push((Open::Repeat(Some(rest.parse().ok()?)), Vec::new())),
            "ENDREP" => {
                let (Open::Repeat(rounds), body) = self.open.pop()? else { return None };
                // The loader requires a trip count, or an unconditional break.
                (rounds.is_some() || body.iter().any(|node| matches!(node, Node::Break(_)))).then_some(())?;
                self.push(Node::Repeat(rounds, body))?;
            }
            "BRK" if rest.is_empty() => self.push(Node::Break(None))?,
            "BRK" => {
                let test = condition(rest.strip_prefix('(')?.strip_suffix(')')?)?;
                self.push(Node::Break(Some(test)))?;
            }
            "RET" => self.push(Node::Return)?,
            _ => {
                self.result(rest)?;
                let inst = self.inst(line, name, rest)?;
                self.push(Node::Inst(inst))?;
            }
        }
        Some(())
    }

    fn push(&mut self, node: Node) -> Option<()> {
        self.open.last_mut()?.1.push(node);
        Some(())
    }

    /// `name[] = { program.kind[number] }`, `name[] = { program.sharedmem }`, `name[n] = { program.local[0..k] }`,
    /// `name[n] = { state.multisample.positions[0..k] }`.
    fn memory(&mut self, keyword: &str, rest: &str) -> Option<()> {
        let (name, binding) = rest.split_once(" = { ")?;
        let (name, _) = name.split_once('[')?;
        let binding = binding.strip_suffix(" }")?;
        let number = binding.split_once('[').and_then(|(_, number)| number.strip_suffix(']'));
        let entry = match (keyword, binding.split('[').next()?) {
            ("STORAGE", "program.storage") => (Space::Storage, number?.parse().ok()?),
            ("CBUFFER", "program.buffer") => (Space::Uniform, number?.parse().ok()?),
            ("SHARED", "program.sharedmem") => (Space::Shared, 0),
            ("PARAM", "program.local") => (Space::Parameters, 0),
            ("PARAM", "state.multisample.positions") => (Space::SamplePositions, 0),
            _ => return None,
        };
        self.program.memory.insert(name.to_owned(), entry);
        Some(())
    }

    /// `a2 = fragment.attrib[2]`.
    fn attribute(&mut self, qualifiers: &str, declared: &str) -> Option<()> {
        let (name, binding) = declared.split_once(" = ")?;
        let (_, number) = binding.strip_suffix(']')?.split_once(".attrib[")?;
        self.variables(name)?;
        let (first, _) = self.program.variables[name];
        let number = number.parse().ok()?;
        self.program.attributes.push(Attribute { number, first, qualifiers: qualifiers.to_owned() });
        Some(())
    }

    /// Makes room for the result that the first operand of an instruction may be.
    fn result(&mut self, operands: &str) -> Option<()> {
        let target = operands.split(',').next()?;
        if let Some((name, _)) = target.rsplit_once('.').filter(|_| target.starts_with("result."))
            && !self.program.results.contains_key(name)
        {
            self.variables(&name.replace('[', "("))?;
            self.program.results.insert(name.to_owned(), self.program.components - 4);
        }
        Some(())
    }

    fn variables(&mut self, names: &str) -> Option<()> {
        for name in names.split(", ") {
            let (name, count) = match name.split_once('[') {
                Some((name, count)) => (name, count.strip_suffix(']')?.parse().ok()?),
                None => (name, 1),
            };
            let before = self.program.variables.insert(name.to_owned(), (self.program.components, count));
            before.is_none().then_some(())?;
            self.program.components += 4 * count;
        }
        Some(())
    }

    fn inst(&self, line: usize, name: &str, rest: &str) -> Option<Inst> {
        let mut parts = name.split('.').map(str::to_owned);
        let op = parts.next()?;
        let operands = split(rest).into_iter().map(|text| self.operand(text)).collect::<Option<_>>()?;
        Some(Inst { line, op, modifiers: parts.collect(), operands })
    }

    fn operand(&self, text: &str) -> Option<Operand> {
        let option = OPTIONAL.iter().find(|(prefix, _)| text.starts_with(prefix)).map(|(_, option)| *option);
        option.is_none_or(|option| self.program.options.iter().any(|known| known == option)).then_some(())?;
        if TARGETS.contains(&text.strip_prefix("SHADOW").unwrap_or(text)) {
            return Some(Operand::Target(text.to_owned()));
        }
        if let Some(unit) = text.strip_prefix("texture[").or(text.strip_prefix("image[")) {
            let (unit, behind) = unit.split_once(']')?;
            let gathered = behind.strip_prefix('.').and_then(|letter| component(letter.chars().next()?));
            return Some(Operand::Unit(unit.parse().ok()?, gathered.unwrap_or(0)));
        }
        if let Some(offset) = text.strip_prefix("offset(") {
            return Some(Operand::Offset(Box::new(self.operand(offset.strip_suffix(')')?)?)));
        }
        if let Some(numbers) = text.strip_prefix('(') {
            let numbers = numbers.strip_suffix(')')?.split(", ").map(str::to_owned).collect();
            return Some(Operand::Offset(Box::new(Operand::Numbers(numbers))));
        }
        if let Some((name, letters)) = text.rsplit_once('.').filter(|_| text.starts_with("result.")) {
            let components = letters.chars().map(component).collect::<Option<_>>()?;
            return Some(Operand::Variable { first: *self.program.results.get(name)?, components, guard: None });
        }
        if let Some(list) = text.strip_prefix('{') {
            let list = list.strip_suffix('}')?;
            return Some(Operand::Numbers(list.split(", ").map(str::to_owned).collect()));
        }
        if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return Some(Operand::Number(text.to_owned()));
        }
        if ENVIRONMENT.iter().any(|prefix| text.starts_with(prefix)) {
            return Some(Operand::Environment(text.to_owned()));
        }
        if let Some((name, rest)) = text.split_once('[') {
            return self.indexed(name, rest);
        }
        let (text, guard) = match text.strip_suffix(')').and_then(|text| text.split_once('(')) {
            Some((text, test)) => (text, Some(condition(test)?)),
            None => (text, None),
        };
        let (name, components) = text.split_once('.')?;
        let (first, _) = *self.program.variables.get(name)?;
        let components: Vec<usize> = components.chars().map(component).collect::<Option<_>>()?;
        Some(Operand::Variable { first, components, guard })
    }

    fn indexed(&self, name: &str, rest: &str) -> Option<Operand> {
        let (index, behind) = rest.split_once(']')?;
        let index = self.index(index)?;
        let component = match behind.strip_prefix('.') {
            Some(letter) => Some(component(letter.chars().next()?)?),
            None => None,
        };
        if let Some((space, number)) = self.program.memory.get(name) {
            return Some(Operand::Memory { space: *space, number: *number, index, component });
        }
        let (first, count) = *self.program.variables.get(name)?;
        Some(Operand::Element { first, count, index, component: component? })
    }

    fn index(&self, text: &str) -> Option<Index> {
        let (register, offset) = match text.split_once(" + ") {
            Some((register, offset)) => (Some(register), offset),
            None if text.starts_with(|c: char| c.is_ascii_digit()) => (None, text),
            None => (Some(text), "0"),
        };
        let register = match register {
            Some(text) => match self.operand(text)? {
                Operand::Variable { first, components, guard: None } if components.len() == 1 => {
                    Some(first + components[0])
                }
                _ => return None,
            },
            None => None,
        };
        Some(Index { register, offset: offset.parse().ok()? })
    }
}

fn condition(text: &str) -> Option<Condition> {
    let (test, letter) = text.split_once('.')?;
    let mut letters = letter.chars();
    let component = letters.next().filter(|_| letters.as_str().is_empty()).and_then(component)?;
    match test {
        "NE" => Some(Condition { holds: true, component }),
        "EQ" => Some(Condition { holds: false, component }),
        _ => None,
    }
}

fn component(letter: char) -> Option<usize> {
    "xyzw".find(letter)
}

/// Operands separated by commas outside braces.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = text[start..].trim();
    parts.extend((!last.is_empty()).then_some(last));
    parts
}
