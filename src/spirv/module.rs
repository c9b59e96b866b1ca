//! The parts of a module outside functions: names, decorations, entry points with their modes, and what ids mean.

use super::binary::{Insn, string};
use super::fault::Read;
use super::types::Ty;
use crate::ir::{ConstId, FuncId, GlobalId, TypeId};
use crate::lane::LaneOp;
use crate::source::Span;
use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, Op, Word};
use rustc_hash::FxHashMap;

/// A decoration and its operands.
pub type Decorated<'w> = (Decoration, &'w [Word]);

/// A set of extended instructions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Set {
    Glsl,
    AmdBallot,
    /// `SPV_AMD_shader_trinary_minmax`.
    AmdTrinary,
    Printf,
    /// A set without a meaning for the result, such as debug information.
    Silent,
    Unknown,
}

/// What a module-scope variable is.
#[derive(Clone, Debug)]
pub enum Place {
    Global(GlobalId),
    /// A built-in input that is a cross-lane operation.
    Lane(LaneOp),
    /// A block of built-in variables: one variable per member, in arrays of blocks too.
    Members(Vec<GlobalId>),
}

/// An entry point of the module.
#[derive(Clone, Debug)]
pub struct Entry<'w> {
    pub insn: Insn<'w>,
    pub name: String,
    pub function: Word,
}

/// The instructions of a function.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    pub first: usize,
    pub end: usize,
}

/// A module that is being read.
#[derive(Default)]
pub struct Reader<'w> {
    pub insns: Vec<Insn<'w>>,
    pub names: FxHashMap<Word, String>,
    pub member_names: FxHashMap<(Word, Word), String>,
    pub decorations: FxHashMap<Word, Vec<Decorated<'w>>>,
    pub member_decorations: FxHashMap<(Word, Word), Vec<Decorated<'w>>>,
    pub sets: FxHashMap<Word, Set>,
    pub strings: FxHashMap<Word, String>,
    pub entries: Vec<Entry<'w>>,
    pub modes: Vec<Insn<'w>>,
    pub types: FxHashMap<Word, Ty>,
    pub laid: FxHashMap<(Word, Option<crate::ir::MatrixLayout>), TypeId>,
    pub structs: FxHashMap<super::types::Key, TypeId>,
    pub constants: FxHashMap<Word, ConstId>,
    /// Module-scope variables by their line.
    pub variables: FxHashMap<Word, usize>,
    pub places: FxHashMap<Word, Place>,
    /// Functions by their ids, and the ones that have been declared.
    pub code: FxHashMap<Word, Code>,
    pub functions: Vec<super::body::Instance>,
    /// Lines where the listing begins each instruction.
    pub starts: Vec<u32>,
    /// The position of the listing.
    pub base: u32,
    /// The constant decorated as the size of workgroups.
    pub workgroup_size: Option<Word>,
    pub uses_vulkan_memory: bool,
}

impl<'w> Reader<'w> {
    /// The line of an instruction in the listing.
    pub fn span(&self, line: u32) -> Span {
        let at = |line: usize| self.starts.get(line).map(|start| self.base + start);
        match (at(line as usize), at(line as usize + 1)) {
            (Some(lo), Some(next)) => Span::new(lo, next - 1),
            (Some(lo), None) => Span::new(lo, lo + 1),
            _ => Span::NONE,
        }
    }

    pub fn decorations(&self, id: Word) -> &[Decorated<'w>] {
        self.decorations.get(&id).map_or(&[], |list| list)
    }

    pub fn member_decorations(&self, id: Word, member: Word) -> &[Decorated<'w>] {
        self.member_decorations.get(&(id, member)).map_or(&[], |list| list)
    }

    /// Returns true if an id has a decoration.
    pub fn has(&self, id: Word, decoration: Decoration) -> bool {
        has(self.decorations(id), decoration)
    }

    /// The number of a decoration of an id.
    pub fn number(&self, id: Word, decoration: Decoration) -> Option<Word> {
        number(self.decorations(id), decoration)
    }

    /// The name of an id as an identifier; empty if it has none.
    pub fn name(&self, id: Word) -> String {
        self.names.get(&id).map(|name| identifier(name)).unwrap_or_default()
    }

    /// Reads names, decorations, entry points and modes, and finds variables and functions.
    pub fn survey(&mut self) -> Read<()> {
        let mut function: Option<(Word, usize)> = None;
        for (index, insn) in self.insns.clone().into_iter().enumerate() {
            match (insn.op, function) {
                (Op::Function, None) => function = Some((insn.id, index)),
                (Op::Function, Some(_)) => return Err(insn.wrong("the function before it has no end")),
                (Op::FunctionEnd, Some((id, first))) => {
                    self.code.insert(id, Code { first, end: index });
                    function = None;
                }
                (Op::FunctionEnd, None) => return Err(insn.wrong("no function begins before it")),
                (_, Some(_)) => {}
                (_, None) => self.declaration(index, &insn)?,
            }
        }
        match function.and_then(|(_, first)| self.insns.get(first)) {
            Some(insn) => Err(insn.wrong("the function has no end")),
            None => Ok(()),
        }
    }

    fn declaration(&mut self, index: usize, insn: &Insn<'w>) -> Read<()> {
        match insn.op {
            Op::Capability if insn.arg(0)? == rspirv::spirv::Capability::Kernel as Word => {
                return Err(insn.unread("kernels of OpenCL (the capability `Kernel`) are not read"));
            }
            Op::MemoryModel => {
                self.uses_vulkan_memory = insn.arg(1)? == rspirv::spirv::MemoryModel::Vulkan as Word;
            }
            Op::Name => self.names.extend(string(&insn.args[1..]).map(|(name, _)| (insn.args[0], name))),
            Op::MemberName => {
                let key = (insn.arg(0)?, insn.arg(1)?);
                self.member_names.extend(string(&insn.args[2..]).map(|(name, _)| (key, name)));
            }
            Op::String => self.strings.extend(string(insn.args).map(|(text, _)| (insn.id, text))),
            Op::ExtInstImport => {
                let name = string(insn.args).map(|(name, _)| name).unwrap_or_default();
                self.sets.insert(insn.id, set_of(&name));
            }
            Op::EntryPoint => self.entry(insn)?,
            Op::ExecutionMode | Op::ExecutionModeId => self.modes.push(*insn),
            Op::Decorate | Op::DecorateId => self.decorate(insn)?,
            Op::MemberDecorate => self.decorate_member(insn)?,
            Op::GroupDecorate => {
                let list = self.decorations(insn.arg(0)?).to_vec();
                insn.args[1..].iter().for_each(|id| self.decorations.entry(*id).or_default().extend(&list));
            }
            Op::GroupMemberDecorate => {
                let list = self.decorations(insn.arg(0)?).to_vec();
                for pair in insn.args[1..].chunks_exact(2) {
                    self.member_decorations.entry((pair[0], pair[1])).or_default().extend(&list);
                }
            }
            Op::Variable => {
                self.variables.insert(insn.id, index);
            }
            _ => {}
        }
        Ok(())
    }

    fn entry(&mut self, insn: &Insn<'w>) -> Read<()> {
        let (name, _) = string(&insn.args[2..]).ok_or_else(|| insn.wrong("its name has no end"))?;
        self.entries.push(Entry { insn: *insn, name, function: insn.arg(1)? });
        Ok(())
    }

    /// Unknown decorations are left out: what matters to the meaning of a module is in rspirv's list.
    fn decorate(&mut self, insn: &Insn<'w>) -> Read<()> {
        let (target, number) = (insn.arg(0)?, insn.arg(1)?);
        let Some(decoration) = Decoration::from_u32(number) else { return Ok(()) };
        let is_size = decoration == Decoration::BuiltIn && insn.arg(2)? == BuiltIn::WorkgroupSize as Word;
        if is_size {
            self.workgroup_size = Some(target);
        }
        self.decorations.entry(target).or_default().push((decoration, &insn.args[2..]));
        Ok(())
    }

    fn decorate_member(&mut self, insn: &Insn<'w>) -> Read<()> {
        let (key, number) = ((insn.arg(0)?, insn.arg(1)?), insn.arg(2)?);
        let Some(decoration) = Decoration::from_u32(number) else { return Ok(()) };
        self.member_decorations.entry(key).or_default().push((decoration, &insn.args[3..]));
        Ok(())
    }

    /// The modes of an entry point.
    pub fn modes_of(&self, function: Word) -> impl Iterator<Item = (ExecutionMode, Insn<'w>)> + '_ {
        let own = self.modes.iter().filter(move |insn| insn.args.first() == Some(&function));
        own.filter_map(|insn| Some((ExecutionMode::from_u32(*insn.args.get(1)?)?, *insn)))
    }

    /// The function of an entry point or a call, once it has been declared.
    pub fn declared(&self, is_it: impl Fn(&super::body::Instance) -> bool) -> Option<FuncId> {
        self.functions.iter().find(|instance| is_it(instance)).map(|instance| instance.id)
    }
}

pub fn has(list: &[Decorated<'_>], decoration: Decoration) -> bool {
    list.iter().any(|(known, _)| *known == decoration)
}

pub fn number(list: &[Decorated<'_>], decoration: Decoration) -> Option<Word> {
    list.iter().find(|(known, _)| *known == decoration).and_then(|(_, operands)| operands.first().copied())
}

fn set_of(name: &str) -> Set {
    match name {
        "GLSL.std.450" => Set::Glsl,
        "SPV_AMD_shader_ballot" => Set::AmdBallot,
        "SPV_AMD_shader_trinary_minmax" => Set::AmdTrinary,
        "NonSemantic.DebugPrintf" => Set::Printf,
        _ if name.starts_with("NonSemantic.") || name == "OpenCL.DebugInfo.100" => Set::Silent,
        _ => Set::Unknown,
    }
}

/// A name without what no language has in identifiers: `main(vf4;` gives `main`, `a.b` gives `a_b`.
pub fn identifier(name: &str) -> String {
    let name = name.split('(').next().unwrap_or_default();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name: String = name.chars().map(|c| if is_part(c) { c } else { '_' }).collect();
    match name.chars().next() {
        Some(first) if first.is_ascii_digit() => format!("_{name}"),
        _ => name,
    }
}
