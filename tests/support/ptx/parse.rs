//! The text of a kernel as instructions.

use std::collections::HashMap;

/// A register: the prefix of its name, and its number.
pub type Register = (char, usize);

#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    Register(Register),
    /// Bits of an integer, extended by its sign, or of a float.
    Constant(u64),
    /// `%tid.x`.
    Special(String),
    /// A variable, a parameter or a label.
    Name(String),
    Memory {
        base: Box<Operand>,
        offset: i64,
    },
    Vector(Vec<Operand>),
    /// `%r1|%p2`.
    Pair(Register, Register),
}

#[derive(Debug)]
pub struct Inst {
    /// The predicate under which it runs, and the required value.
    pub guard: Option<(usize, bool)>,
    /// The name in its parts.
    pub name: Vec<String>,
    pub operands: Vec<Operand>,
    pub line: usize,
}

impl Inst {
    pub fn has(&self, part: &str) -> bool {
        self.name.iter().any(|known| known == part)
    }

    /// The last part: the type.
    pub fn ty(&self) -> &str {
        self.name.last().map_or("", String::as_str)
    }
}

#[derive(Debug, Default)]
pub struct Program {
    pub insts: Vec<Inst>,
    pub labels: HashMap<String, usize>,
    pub group_size: [u32; 3],
    /// Bytes of the arrays by their names.
    pub shared: HashMap<String, usize>,
    pub local: HashMap<String, usize>,
    pub parameters: Vec<String>,
    /// Registers of each kind.
    pub registers: HashMap<char, usize>,
}

pub fn program(text: &str) -> Result<Program, String> {
    crate::assembler::is_ascii(text)?;
    let mut program = Program::default();
    for (at, line) in text.lines().enumerate() {
        let line = line.split("//").next().unwrap_or_default().trim();
        read(&mut program, line, at + 1).map_err(|why| format!("line {}: {why}: {line}", at + 1))?;
    }
    for inst in program.insts.iter().filter(|inst| inst.name[0] == "bra") {
        match &inst.operands[..] {
            [Operand::Name(label)] if program.labels.contains_key(label) => {}
            _ => return Err(format!("line {}: a branch to nowhere", inst.line)),
        }
    }
    Ok(program)
}

fn read(program: &mut Program, line: &str, number: usize) -> Result<(), String> {
    if let Some(label) = line.strip_suffix(':') {
        return match program.labels.insert(label.to_owned(), program.insts.len()) {
            None => Ok(()),
            Some(_) => Err("a label twice".to_owned()),
        };
    }
    if line.is_empty() || matches!(line, "{" | "}" | ")" | "(") {
        return Ok(());
    }
    match line.strip_prefix('.') {
        Some(directive) => self::directive(program, directive),
        None => {
            let inst = inst(line, number)?;
            check_registers(program, &inst)?;
            program.insts.push(inst);
            Ok(())
        }
    }
}

fn directive(program: &mut Program, text: &str) -> Result<(), String> {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter(|w| !w.is_empty()).collect();
    let number = |text: &str| text.parse::<usize>().map_err(|_| "a number is wrong".to_owned());
    match words[..] {
        ["version" | "target" | "address_size" | "minnctapersm", _] | ["visible", ".entry", _] => Ok(()),
        ["shared", ".align", "16", ".b8", array] => declare(&mut program.shared, array),
        ["local", ".align", "16", ".b8", array] => declare(&mut program.local, array),
        ["param", ".u64", name] => {
            program.parameters.push(name.to_owned());
            Ok(())
        }
        ["param", ".align", "16", ".b8", array] => {
            let mut arrays = HashMap::new();
            declare(&mut arrays, array)?;
            program.parameters.extend(arrays.into_keys());
            Ok(())
        }
        ["reqntid", x, y, z] => {
            program.group_size = [number(x)? as u32, number(y)? as u32, number(z)? as u32];
            Ok(())
        }
        ["reg", ty, names] => {
            let letter = match ty {
                ".pred" => 'p',
                ".b16" => 'h',
                ".b32" => 'r',
                ".b64" => 'd',
                _ => return Err("a type of registers".to_owned()),
            };
            let (name, count) = names.trim_end_matches('>').split_once('<').ok_or("a range of registers")?;
            if name != format!("%{letter}") {
                return Err("a name of registers".to_owned());
            }
            program.registers.insert(letter, number(count)?);
            Ok(())
        }
        _ => Err("an unknown directive".to_owned()),
    }
}

fn declare(arrays: &mut HashMap<String, usize>, array: &str) -> Result<(), String> {
    let (name, size) = array.trim_end_matches(']').split_once('[').ok_or("an array")?;
    arrays.insert(name.to_owned(), size.parse().map_err(|_| "a size")?);
    Ok(())
}

fn inst(line: &str, number: usize) -> Result<Inst, String> {
    let line = line.strip_suffix(';').ok_or("no semicolon")?;
    let (guard, rest) = match line.strip_prefix('@') {
        None => (None, line),
        Some(guarded) => {
            let (guard, rest) = guarded.split_once(' ').ok_or("a guard alone")?;
            let holds = !guard.starts_with('!');
            match register(guard.trim_start_matches('!')) {
                Some(('p', n)) => (Some((n, holds)), rest),
                _ => return Err("a guard that is no predicate".to_owned()),
            }
        }
    };
    let (name, operands) = rest.split_once(' ').unwrap_or((rest, ""));
    Ok(Inst {
        guard,
        name: name.split('.').map(str::to_owned).collect(),
        operands: split(operands).into_iter().map(operand).collect::<Result<_, _>>()?,
        line: number,
    })
}

/// Operands between the commas outside of braces.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    if !text.trim().is_empty() {
        parts.push(text[start..].trim());
    }
    parts
}

fn register(text: &str) -> Option<Register> {
    let name = text.strip_prefix('%')?;
    let letter = name.chars().next().filter(|letter| "phrd".contains(*letter))?;
    Some((letter, name[1..].parse().ok()?))
}

fn operand(text: &str) -> Result<Operand, String> {
    if let Some(inside) = text.strip_prefix('{') {
        let members = split(inside.strip_suffix('}').ok_or("a vector")?);
        return Ok(Operand::Vector(members.into_iter().map(operand).collect::<Result<_, _>>()?));
    }
    if let Some(inside) = text.strip_prefix('[') {
        let inside = inside.strip_suffix(']').ok_or("an address")?;
        let (base, offset) = match inside.split_once('+') {
            Some((base, offset)) => (base, offset.parse().map_err(|_| "an offset")?),
            None => (inside, 0),
        };
        return Ok(Operand::Memory { base: Box::new(operand(base)?), offset });
    }
    if let Some((first, second)) = text.split_once('|') {
        let both = register(first).zip(register(second)).ok_or("a pair of registers")?;
        return Ok(Operand::Pair(both.0, both.1));
    }
    if let Some(register) = register(text) {
        return Ok(Operand::Register(register));
    }
    if text.starts_with('%') {
        return Ok(Operand::Special(text.to_owned()));
    }
    if let Some(bits) = text.strip_prefix("0f").or(text.strip_prefix("0d")) {
        return u64::from_str_radix(bits, 16).map(Operand::Constant).map_err(|_| "a float".to_owned());
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        let number = text.parse::<i64>().map(|number| number as u64).or_else(|_| text.parse::<u64>());
        return number.map(Operand::Constant).map_err(|_| "a number".to_owned());
    }
    Ok(Operand::Name(text.to_owned()))
}

fn check_registers(program: &Program, inst: &Inst) -> Result<(), String> {
    fn all(operand: &Operand) -> Vec<Register> {
        match operand {
            Operand::Register(register) => vec![*register],
            Operand::Pair(a, b) => vec![*a, *b],
            Operand::Vector(members) => members.iter().flat_map(all).collect(),
            Operand::Memory { base, .. } => all(base),
            _ => Vec::new(),
        }
    }
    let guard = inst.guard.map(|(n, _)| ('p', n));
    let mut named = inst.operands.iter().flat_map(all).chain(guard);
    let is_there = |(letter, n): &Register| program.registers.get(letter).is_some_and(|count| n < count);
    match named.find(|register| !is_there(register)) {
        Some((letter, n)) => Err(format!("%{letter}{n} is not declared")),
        None => Ok(()),
    }
}
