//! Removes instructions with unused results from the finished sections, together with stores to variables that are
//! never read, and with types, constants, names and decorations that only they used.
//!
//! Everything with an effect stays, and everything that it uses, in turn. Operands are found by rspirv's grammar; in an
//! instruction of unknown form, each word counts as a use.

use super::Emitter;
use super::share::{is_pure, is_pure_function};
use super::words::Words;
use rspirv::grammar::{INSTRUCTION_TABLE, OperandKind, OperandQuantifier};
use rspirv::spirv::{Decoration, Op, StorageClass, Word};
use rustc_hash::FxHashMap;

/// Bit of `OpLoad`'s memory operands (section 3.26).
const VOLATILE: Word = 1;

/// The positions of ids in an instruction.
#[derive(Clone, Copy)]
struct Shape {
    has_type: bool,
    has_result: bool,
    /// One bit for each operand after type and result that is not an id, up to the first of variable form.
    literals: u32,
    /// True if all words from the first operand of variable form on are literals.
    ends_in_literals: bool,
    /// Operands of fixed form.
    fixed: u32,
}

/// An instruction that is written only if its result is used.
#[derive(Clone, Copy)]
struct Place {
    in_functions: bool,
    at: usize,
}

/// The instructions and ids that a module uses.
#[derive(Default)]
struct Uses {
    shapes: FxHashMap<Word, Shape>,
    /// Indexed by id.
    places: Vec<Option<Place>>,
    is_used: Vec<bool>,
    /// Ids whose operands are still to be examined.
    open: Vec<Word>,
    /// Stores to a variable of a function.
    stores: FxHashMap<Word, Vec<usize>>,
}

impl Emitter<'_> {
    /// Removes unused instructions.
    pub fn eliminate_dead(&mut self) {
        let mut uses = Uses {
            places: vec![None; self.last as usize + 1],
            is_used: vec![false; self.last as usize + 1],
            ..Uses::default()
        };
        let glsl = self.glsl;
        let (globals, functions) = (self.out.globals.as_slice(), self.out.functions.as_slice());
        let mut kept = uses.place(globals, false, is_removable_global);
        kept.extend(uses.place(functions, true, |inst| is_removable(inst, glsl)));
        for (in_functions, at) in kept {
            let section = if in_functions { functions } else { globals };
            if !(in_functions && uses.defer(functions, at)) {
                uses.operands(instruction(section, at));
            }
        }
        let others = [&self.out.entry_points, &self.out.modes];
        others.into_iter().flat_map(|section| section.as_slice()).for_each(|word| uses.see(*word));
        uses.decorated(self.out.decorations.as_slice());
        uses.close(globals, functions);

        let (names, decorations) = (self.out.names.as_slice(), self.out.decorations.as_slice());
        let names = uses.kept(names, |inst, uses| uses.is_written(inst[1]));
        let decorations = uses.kept(decorations, |inst, uses| uses.is_written(inst[1]));
        let left = uses.kept(globals, |inst, uses| uses.keeps_result(inst));
        let code = uses.kept(functions, |inst, uses| uses.keeps_result(inst) && uses.keeps_store(functions, inst));
        (self.out.names, self.out.decorations, self.out.globals, self.out.functions) = (names, decorations, left, code);
    }
}

/// The instructions of a section, with their places.
fn instructions(section: &[Word]) -> impl Iterator<Item = (usize, &[Word])> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let at = next;
        (at < section.len()).then(|| {
            let inst = instruction(section, at);
            next = at + inst.len();
            (at, inst)
        })
    })
}

fn instruction(section: &[Word], at: usize) -> &[Word] {
    let count = (section[at] >> 16).max(1) as usize;
    &section[at..(at + count).min(section.len())]
}

fn opcode(inst: &[Word]) -> Option<Op> {
    Op::from_u32(inst[0] & 0xffff)
}

/// Types and constants; not variables, which belong to the interface.
fn is_removable_global(inst: &[Word]) -> bool {
    let Some(op) = opcode(inst) else { return false };
    !matches!(op, Op::Variable | Op::ExtInst | Op::TypeForwardPointer | Op::UntypedVariableKHR)
}

/// Instructions of functions whose only effect is their result.
fn is_removable(inst: &[Word], glsl: Word) -> bool {
    let Some(op) = opcode(inst) else { return false };
    match op {
        Op::ExtInst => inst[3] == glsl && is_pure_function(inst[4]),
        Op::Load => inst.get(4).is_none_or(|memory| memory & VOLATILE == 0),
        Op::Phi
        | Op::Undef
        | Op::Variable
        | Op::ArrayLength
        | Op::ConvertPtrToU
        | Op::ConvertUToPtr
        | Op::DPdx
        | Op::DPdxCoarse
        | Op::DPdxFine
        | Op::DPdy
        | Op::DPdyCoarse
        | Op::DPdyFine
        | Op::Fwidth
        | Op::FwidthCoarse
        | Op::FwidthFine
        | Op::Image
        | Op::ImageFetch
        | Op::ImageGather
        | Op::ImageQueryLevels
        | Op::ImageQueryLod
        | Op::ImageQuerySamples
        | Op::ImageQuerySize
        | Op::ImageQuerySizeLod
        | Op::ImageSampleDrefExplicitLod
        | Op::ImageSampleDrefImplicitLod
        | Op::ImageSampleExplicitLod
        | Op::ImageSampleImplicitLod
        | Op::SampledImage => true,
        _ => is_pure(op),
    }
}

impl Uses {
    /// Records the removable instructions of a section; returns the positions of the others.
    fn place(
        &mut self,
        section: &[Word],
        in_functions: bool,
        is_removable: impl Fn(&[Word]) -> bool,
    ) -> Vec<(bool, usize)> {
        let mut others = Vec::new();
        for (at, inst) in instructions(section) {
            match self.result(inst).filter(|_| is_removable(inst)) {
                Some(result) => self.places[result as usize] = Some(Place { in_functions, at }),
                None => others.push((in_functions, at)),
            }
        }
        others
    }

    fn shape(&mut self, inst: &[Word]) -> Option<Shape> {
        let number = inst[0] & 0xffff;
        if let Some(shape) = self.shapes.get(&number) {
            return Some(*shape);
        }
        let shape = shape_of(number)?;
        self.shapes.insert(number, shape);
        Some(shape)
    }

    /// The result id of an instruction.
    fn result(&mut self, inst: &[Word]) -> Option<Word> {
        let shape = self.shape(inst).filter(|shape| shape.has_result)?;
        inst.get(1 + usize::from(shape.has_type)).copied().filter(|id| (*id as usize) < self.places.len())
    }

    /// Marks an id as used.
    fn see(&mut self, id: Word) {
        if let Some(is_used) = self.is_used.get_mut(id as usize)
            && !*is_used
        {
            *is_used = true;
            self.open.push(id);
        }
    }

    /// Marks the ids that an instruction uses.
    fn operands(&mut self, inst: &[Word]) {
        let Some(shape) = self.shape(inst) else {
            return inst[1..].iter().for_each(|word| self.see(*word));
        };
        if shape.has_type {
            self.see(inst[1]);
        }
        let first = 1 + usize::from(shape.has_type) + usize::from(shape.has_result);
        for (number, word) in (0..).zip(inst.get(first..).unwrap_or_default()) {
            let is_literal = match number < shape.fixed {
                true => shape.literals >> number & 1 == 1,
                false => shape.ends_in_literals,
            };
            if !is_literal {
                self.see(*word);
            }
        }
    }

    /// Puts off a plain store to a variable of the function: it counts if the variable is read.
    fn defer(&mut self, functions: &[Word], at: usize) -> bool {
        let inst = instruction(functions, at);
        let variable = match inst {
            [_, pointer, _] if opcode(inst) == Some(Op::Store) => self.variable(functions, *pointer),
            _ => None,
        };
        if let Some(variable) = variable {
            self.stores.entry(variable).or_default().push(at);
        }
        variable.is_some()
    }

    /// The function variable that a pointer points into.
    fn variable(&self, functions: &[Word], pointer: Word) -> Option<Word> {
        let place = |id: Word| self.places.get(id as usize).copied().flatten().filter(|place| place.in_functions);
        let inst = instruction(functions, place(pointer)?.at);
        let root = if opcode(inst) == Some(Op::AccessChain) { inst[3] } else { pointer };
        let inst = instruction(functions, place(root)?.at);
        let is_variable = opcode(inst) == Some(Op::Variable) && inst[3] == StorageClass::Function as Word;
        is_variable.then_some(root)
    }

    /// Marks operands of decorations, and ids that are visible outside by their decoration.
    fn decorated(&mut self, decorations: &[Word]) {
        const KNOWN: [Decoration; 2] = [Decoration::BuiltIn, Decoration::SpecId];
        for (_, inst) in instructions(decorations) {
            match (opcode(inst), inst) {
                (Some(Op::Decorate), [_, target, decoration, ..])
                    if KNOWN.iter().any(|known| *known as Word == *decoration) =>
                {
                    self.see(*target);
                }
                (Some(Op::DecorateId), [_, _, _, used @ ..]) => used.iter().for_each(|id| self.see(*id)),
                _ => {}
            }
        }
    }

    /// Marks the operands of marked instructions.
    fn close(&mut self, globals: &[Word], functions: &[Word]) {
        while let Some(id) = self.open.pop() {
            if let Some(Place { in_functions, at }) = self.places[id as usize] {
                self.operands(instruction(if in_functions { functions } else { globals }, at));
            }
            for at in self.stores.remove(&id).unwrap_or_default() {
                self.operands(instruction(functions, at));
            }
        }
    }

    /// Returns true unless an id belongs to a removed instruction.
    fn is_written(&self, id: Word) -> bool {
        let id = id as usize;
        self.places.get(id).is_none_or(|place| place.is_none() || self.is_used[id])
    }

    fn keeps_result(&mut self, inst: &[Word]) -> bool {
        match (opcode(inst), inst) {
            (Some(Op::TypeForwardPointer), [_, pointer, ..]) => self.is_written(*pointer),
            _ => self.result(inst).is_none_or(|result| self.is_written(result)),
        }
    }

    fn keeps_store(&self, functions: &[Word], inst: &[Word]) -> bool {
        match inst {
            [_, pointer, _] if opcode(inst) == Some(Op::Store) => {
                self.variable(functions, *pointer).is_none_or(|variable| self.is_written(variable))
            }
            _ => true,
        }
    }

    /// The instructions of a section that are kept.
    fn kept(&mut self, section: &[Word], keeps: impl Fn(&[Word], &mut Uses) -> bool) -> Words {
        let mut kept = Words::with_capacity(section.len());
        for (_, inst) in instructions(section) {
            if keeps(inst, self) {
                kept.extend(inst);
            }
        }
        kept
    }
}

/// The form of an instruction in rspirv's grammar; `None` if it is unknown.
fn shape_of(number: Word) -> Option<Shape> {
    use OperandKind as K;
    let row = INSTRUCTION_TABLE.lookup_opcode(number)?;
    let mut shape = Shape { has_type: false, has_result: false, literals: 0, ends_in_literals: false, fixed: 0 };
    for operand in row.operands {
        let literal = match operand.kind {
            K::IdResultType => {
                shape.has_type = true;
                continue;
            }
            K::IdResult => {
                shape.has_result = true;
                continue;
            }
            K::IdRef | K::IdScope | K::IdMemorySemantics => false,
            K::LiteralInteger | K::LiteralExtInstInteger | K::StorageClass | K::Dim | K::ImageFormat => true,
            K::LiteralContextDependentNumber => {
                shape.ends_in_literals = true;
                break;
            }
            _ => break,
        };
        if operand.quantifier != OperandQuantifier::One || shape.fixed == Word::BITS {
            shape.ends_in_literals = literal;
            break;
        }
        shape.literals |= Word::from(literal) << shape.fixed;
        shape.fixed += 1;
    }
    Some(shape)
}
