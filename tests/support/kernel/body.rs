//! Blocks: their instructions, and the constructs that contain blocks.

use super::words::{Words, named, number};
use super::{Lines, Read};
use crosslane::ir::InstFlags;
use crosslane::kernel::{BlockId, InstId, Kernel, Op, Origin, Ty, Value};
use crosslane::source::Span;
use std::collections::HashMap;

/// A kernel in the making.
pub struct Body<'l, 't> {
    pub kernel: Kernel,
    lines: &'l mut Lines<'t>,
    values: HashMap<&'t str, Value>,
    constructs: HashMap<&'t str, InstId>,
}

/// Names and types of results or parameters.
type Declared<'t> = Vec<(&'t str, Ty)>;

impl<'l, 't> Body<'l, 't> {
    pub fn new(kernel: Kernel, lines: &'l mut Lines<'t>) -> Body<'l, 't> {
        Body { kernel, lines, values: HashMap::new(), constructs: HashMap::new() }
    }

    /// Reads a block up to the line that closes it, and returns the words after the brace.
    fn block(&mut self, block: BlockId) -> Read<Words<'t>> {
        let line = self.lines.need()?;
        self.block_from(block, line)
    }

    /// Like `block`, given the first line.
    pub fn block_from(&mut self, block: BlockId, mut line: &'t str) -> Read<Words<'t>> {
        loop {
            let mut words = Words::new(line);
            if words.eat("}") {
                self.close(block);
                return Ok(words);
            }
            self.line(block, words)?;
            line = self.lines.need()?;
        }
    }

    /// Ends a block without results.
    fn close(&mut self, block: BlockId) {
        let last = self.kernel.blocks[block].insts.last();
        if !last.is_some_and(|last| self.kernel.insts[*last].op.is_terminator()) {
            let end = self.kernel.add_inst(Op::Yield, &[], &[], InstFlags::empty(), Span::NONE);
            self.kernel.blocks[block].insts.push(end);
        }
    }

    fn line(&mut self, block: BlockId, mut words: Words<'t>) -> Read<()> {
        let results = self.results(&mut words)?;
        for keyword in ["if", "loop", "scope", "whole"] {
            if words.eat(keyword) {
                return self.construct(block, keyword, &results, words);
            }
        }
        let (op, args) = self.operation(&mut words)?;
        self.add(block, op, &args, &results, &mut words)?;
        words.end()
    }

    /// Adds an instruction to a block, with the marks that follow it.
    fn add(
        &mut self,
        block: BlockId,
        op: Op,
        args: &[Value],
        results: &Declared<'t>,
        words: &mut Words<'t>,
    ) -> Read<InstId> {
        let types: Vec<Ty> = results.iter().map(|(_, ty)| *ty).collect();
        let inst = self.kernel.add_inst(op, args, &types, InstFlags::empty(), Span::NONE);
        self.kernel.blocks[block].insts.push(inst);
        let values: Vec<Value> = self.kernel.results(inst).collect();
        for ((name, _), value) in results.iter().zip(values) {
            self.name(name, value)?;
        }
        while words.eat("!") {
            self.mark(inst, words.word()?)?;
        }
        Ok(inst)
    }

    fn mark(&mut self, inst: InstId, word: &str) -> Read<()> {
        let inst = &mut self.kernel.insts[inst];
        match word.split_once('.') {
            Some(("operation", count)) => inst.origin = Origin::Operation(number(count)?),
            Some(("set_up", count)) => inst.origin = Origin::SetUp(number(count)?),
            Some(("within", count)) => inst.origin = Origin::Within(number(count)?),
            _ => {
                let flag = InstFlags::from_name(&word.to_uppercase());
                inst.flags |= flag.ok_or_else(|| format!("unknown flag `{word}`"))?;
            }
        }
        Ok(())
    }

    fn construct(&mut self, block: BlockId, keyword: &str, results: &Declared<'t>, mut words: Words<'t>) -> Read<()> {
        let label = if matches!(keyword, "loop" | "scope") { Some(label(&mut words)?) } else { None };
        let [first, second] = [(); 2].map(|()| self.kernel.add_block(&[]));
        let (op, args) = match keyword {
            "if" => (Op::If { then: first, otherwise: second }, self.operands(&mut words)?),
            "loop" => (Op::Loop { body: first, continuing: second }, self.params(first, &mut words)?),
            "scope" => (Op::Scope { body: first }, Vec::new()),
            _ => (Op::Whole { body: first }, Vec::new()),
        };
        let inst = self.add(block, op, &args, results, &mut words)?;
        if let Some(label) = label {
            self.constructs.insert(label, inst);
        }
        words.expect("{")?;
        words.end()?;
        let mut closing = self.block(first)?;
        match keyword {
            "if" if closing.eat("else {") => closing = self.block(second)?,
            "if" => self.close(second),
            "loop" => {
                closing.expect("continuing")?;
                self.params(second, &mut closing)?;
                closing.expect("{")?;
                closing = self.block(second)?;
            }
            _ => {}
        }
        closing.end()
    }

    /// `%1: b32, %2: bool =`, if there are results.
    fn results(&mut self, words: &mut Words<'t>) -> Read<Declared<'t>> {
        let mut results = Vec::new();
        while words.eat("%") {
            results.push(declared(words)?);
            if !words.eat(",") {
                words.expect("=")?;
            }
        }
        Ok(results)
    }

    /// `(%1: b32 = 0, %2: b32)`: parameters of a block with their initial values.
    fn params(&mut self, block: BlockId, words: &mut Words<'t>) -> Read<Vec<Value>> {
        let mut initial = Vec::new();
        if !words.eat("(") {
            return Ok(initial);
        }
        while words.eat("%") {
            let (name, ty) = declared(words)?;
            if words.eat("=") {
                initial.push(self.value(words)?);
            }
            let param = self.kernel.add_param(block, ty);
            self.name(name, param)?;
            words.eat(",");
        }
        words.expect(")").map(|()| initial)
    }

    fn name(&mut self, name: &'t str, value: Value) -> Read<()> {
        let before = self.values.insert(name, value);
        if before.is_some() { Err(format!("there are two values `%{name}`")) } else { Ok(()) }
    }

    /// The construct that `@1` names.
    pub fn target(&self, words: &mut Words<'t>) -> Read<InstId> {
        let label = label(words)?;
        self.constructs.get(label).copied().ok_or_else(|| format!("unknown construct `@{label}`"))
    }

    /// Comma-separated values, up to the end of the line or a `!`, `{` or `(`.
    pub fn operands(&mut self, words: &mut Words<'t>) -> Read<Vec<Value>> {
        let mut values = Vec::new();
        while !words.rest().is_empty() && !words.rest().starts_with(['!', '{', '(']) {
            values.push(self.value(words)?);
            if !words.eat(",") {
                break;
            }
        }
        Ok(values)
    }

    /// `%1`, `true`, `12`, `0.5`, `7:b64`, `undef:bool`.
    pub fn value(&mut self, words: &mut Words<'t>) -> Read<Value> {
        if words.eat("%") {
            let name = words.name()?;
            return self.values.get(name).copied().ok_or_else(|| format!("unknown value `%{name}`"));
        }
        let word = words.literal()?;
        if let Ok(truth) = word.parse::<bool>() {
            return Ok(self.kernel.constant(Ty::Bool, truth.into()));
        }
        let ty = if words.eat(":") { ty(words.name()?)? } else { Ty::B32 };
        match word {
            "undef" => Ok(self.kernel.undefined(ty)),
            _ => bits(word, ty).map(|bits| self.kernel.constant(ty, bits)),
        }
    }
}

fn label<'t>(words: &mut Words<'t>) -> Read<&'t str> {
    words.expect("@")?;
    words.name()
}

fn declared<'t>(words: &mut Words<'t>) -> Read<(&'t str, Ty)> {
    let name = words.name()?;
    words.expect(":")?;
    Ok((name, ty(words.name()?)?))
}

fn ty(word: &str) -> Read<Ty> {
    named(word)
}

/// The bits of a number.
fn bits(word: &str, ty: Ty) -> Read<u64> {
    if let Some(digits) = word.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).map_err(|_| format!("`{word}` is not a number"));
    }
    match ty {
        _ if word.bytes().all(|digit| digit.is_ascii_digit()) => number(word),
        Ty::B32 => number::<f32>(word).map(|float| float.to_bits().into()),
        Ty::B64 => number::<f64>(word).map(f64::to_bits),
        _ => Err(format!("`{word}` is not a number of that type")),
    }
}
