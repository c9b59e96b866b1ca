//! A workgroup: its registers, its control flow and its memory.

use super::parse::{Condition, Index, Inst, Node, Operand, Program, Space};
use super::pictures::{Picture, in_lane};
use super::{Memory, lanes, scalar};
use scalar::Kind;

/// Lanes of a warp.
pub const WARP: usize = 32;
/// What registers hold that nothing has written.
const JUNK: u64 = 0x5bad_c0de_5bad_c0de;
/// Statements after which a program counts as endless.
const STEPS: usize = 2_000_000;

/// One bool for each invocation.
pub type Mask = Vec<bool>;
/// One value for each invocation.
pub type Row = Vec<u64>;

pub struct Machine<'p> {
    program: &'p Program,
    memory: &'p mut Memory,
    group: [u32; 3],
    groups: [u32; 3],
    shared: Vec<u8>,
    /// Components of variables, one after another, for each invocation.
    registers: Vec<Row>,
    /// Whether the last result with `.CC` in each component was not zero.
    conditions: [Mask; 4],
    /// Lanes that left the `REP`s around, innermost last.
    broken: Vec<Mask>,
    steps: usize,
}

impl<'p> Machine<'p> {
    pub fn new(program: &'p Program, memory: &'p mut Memory, group: [u32; 3], groups: [u32; 3]) -> Self {
        let lanes = program.group_size.iter().product::<u32>() as usize;
        Self {
            program,
            memory,
            group,
            groups,
            shared: vec![0xc5; program.shared_bytes],
            registers: vec![vec![JUNK; lanes]; program.components],
            conditions: std::array::from_fn(|_| vec![false; lanes]),
            broken: Vec::new(),
            steps: 0,
        }
    }

    pub fn run(&mut self) -> Result<(), String> {
        let all = vec![true; self.conditions[0].len()];
        self.nodes(&self.program.body, all).map(|_| ())
    }

    /// Runs statements in the lanes of a mask; gives those that reach the end.
    fn nodes(&mut self, nodes: &'p [Node], mut mask: Mask) -> Result<Mask, String> {
        for node in nodes {
            self.steps += 1;
            if self.steps > STEPS {
                return Err("the program does not end".to_owned());
            }
            if !mask.contains(&true) {
                break;
            }
            mask = self.node(node, mask)?;
        }
        Ok(mask)
    }

    fn node(&mut self, node: &'p Node, mask: Mask) -> Result<Mask, String> {
        match node {
            Node::Inst(inst) => {
                self.inst(inst, &mask).map_err(|why| format!("line {}: {}: {why}", inst.line, inst.op))?;
                Ok(mask)
            }
            Node::If(test, then, otherwise) => {
                let holds: Mask = (0..mask.len()).map(|lane| mask[lane] && self.holds(*test, lane)).collect();
                let fails: Mask = mask.iter().zip(&holds).map(|(on, holds)| *on && !holds).collect();
                let first = self.nodes(then, holds)?;
                let second = self.nodes(otherwise, fails)?;
                Ok(first.iter().zip(second).map(|(a, b)| *a || b).collect())
            }
            Node::Repeat(body) => {
                self.broken.push(vec![false; mask.len()]);
                let mut inside = mask;
                while inside.contains(&true) {
                    inside = self.nodes(body, inside)?;
                }
                self.broken.pop().ok_or_else(|| "a loop ended twice".to_owned())
            }
            Node::Break(test) => {
                let leaves = |lane: usize| mask[lane] && test.is_none_or(|test| self.holds(test, lane));
                let leaving: Mask = (0..mask.len()).map(leaves).collect();
                let broken = self.broken.last_mut().ok_or("BRK outside REP")?;
                broken.iter_mut().zip(&leaving).for_each(|(broken, leaves)| *broken |= leaves);
                Ok(mask.iter().zip(leaving).map(|(on, leaves)| *on && !leaves).collect())
            }
            Node::Return => Ok(vec![false; mask.len()]),
        }
    }

    fn inst(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        match &inst.op[..] {
            "MEMBAR" | "BAR" => Ok(()),
            "STB" | "STS" => self.store(inst, mask),
            "LDB" | "LDS" | "LDC" => self.load(inst, mask),
            "ATOMB" | "ATOMS" => self.atomic(inst, mask),
            "STOREIM" => self.store_texel(inst, mask),
            "ATOMIM" => self.atomic_texel(inst, mask),
            "LOADIM" | "TXF" | "TXL" | "TXQ" | "IMQ" => self.look_up(inst, mask),
            _ => {
                let results = self.results(inst, mask)?;
                self.write(inst, &results, mask)
            }
        }
    }

    /// The four components of the result, one row each, or one row for all.
    fn results(&mut self, inst: &Inst, mask: &Mask) -> Result<Vec<Row>, String> {
        let kinds = Kind::of(inst)?;
        if inst.op.starts_with("SHF") || inst.op.starts_with("TG") {
            let sources = self.scalars(inst, kinds.source)?;
            return lanes::apply(&inst.op, &sources, mask);
        }
        if scalar::takes_vector(&inst.op) {
            let vector = self.vector(&inst.operands[1], kinds.source)?;
            let rest: Vec<Row> =
                inst.operands[2..].iter().map(|operand| self.row(operand, kinds.source)).collect::<Result<_, _>>()?;
            return self.each(mask, |lane| {
                let vector: Vec<u64> = vector.iter().map(|row| row[lane]).collect();
                let rest: Vec<u64> = rest.iter().map(|row| row[lane]).collect();
                scalar::on_vector(inst, &vector, &rest)
            });
        }
        let sources = self.scalars(inst, kinds.source)?;
        self.each(mask, |lane| {
            let values: Vec<u64> = sources.iter().map(|row| row[lane]).collect();
            scalar::apply(inst, kinds, &values).map(|value| vec![value])
        })
    }

    fn holds(&self, test: Condition, lane: usize) -> bool {
        self.conditions[test.component][lane] == test.holds
    }

    fn each(&self, mask: &Mask, apply: impl Fn(usize) -> Result<Vec<u64>, String>) -> Result<Vec<Row>, String> {
        let mut rows: Vec<Row> = Vec::new();
        for lane in (0..mask.len()).filter(|lane| mask[*lane]) {
            let values = apply(lane)?;
            rows.resize(values.len(), vec![JUNK; mask.len()]);
            rows.iter_mut().zip(values).for_each(|(row, value)| row[lane] = value);
        }
        Ok(rows)
    }

    /// Writes components of a result: component `n` of the target gets row `n`, or the only one.
    fn write(&mut self, inst: &Inst, rows: &[Row], mask: &Mask) -> Result<(), String> {
        let row = |component: usize| rows.get(component).or(if rows.len() == 1 { rows.first() } else { None });
        match inst.operands.first() {
            Some(Operand::Variable { first, components, guard }) => {
                let writes = |lane: &usize| mask[*lane] && guard.is_none_or(|guard| self.holds(guard, *lane));
                let lanes: Vec<usize> = (0..mask.len()).filter(writes).collect();
                let sets_codes = inst.modifiers.iter().any(|modifier| modifier == "CC");
                for component in components {
                    let row = row(*component).ok_or("the result has no such component")?.clone();
                    for lane in &lanes {
                        self.registers[first + component][*lane] = row[*lane];
                        if sets_codes {
                            self.conditions[*component][*lane] = row[*lane] as u32 != 0;
                        }
                    }
                }
            }
            Some(Operand::Element { first, count, index, component }) => {
                let row = row(*component).ok_or("the result has no such component")?.clone();
                for lane in (0..mask.len()).filter(|lane| mask[*lane]) {
                    let at = self.element(*first, *count, index, lane)? + component;
                    self.registers[at][lane] = row[lane];
                }
            }
            _ => return Err("it has no target".to_owned()),
        }
        Ok(())
    }

    // Operands.

    fn scalars(&self, inst: &Inst, kind: Kind) -> Result<Vec<Row>, String> {
        inst.operands.iter().skip(1).map(|operand| self.row(operand, kind)).collect()
    }

    /// The first component of an operand in each lane.
    fn row(&self, operand: &Operand, kind: Kind) -> Result<Row, String> {
        self.vector(operand, kind)?.into_iter().next().ok_or_else(|| "an operand without components".to_owned())
    }

    /// The components of an operand.
    fn vector(&self, operand: &Operand, kind: Kind) -> Result<Vec<Row>, String> {
        let lanes = self.conditions[0].len();
        Ok(match operand {
            Operand::Variable { first, components, guard: None } => {
                components.iter().map(|component| self.registers[first + component].clone()).collect()
            }
            Operand::Number(text) => vec![vec![kind.literal(text)?; lanes]; 4],
            Operand::Numbers(texts) => {
                texts.iter().map(|text| Ok(vec![Kind::Uint.literal(text)?; lanes])).collect::<Result<_, String>>()?
            }
            Operand::Environment(name) => {
                vec![(0..lanes).map(|lane| self.environment(name, lane)).collect::<Result<_, _>>()?]
            }
            Operand::Element { first, count, index, component } => {
                let value = |lane| Ok(self.registers[self.element(*first, *count, index, lane)? + component][lane]);
                vec![(0..lanes).map(value).collect::<Result<_, String>>()?]
            }
            Operand::Memory { space: Space::Parameters, index, component: Some(component), .. } => {
                let word = |lane| {
                    let at = (self.address(index, lane) as usize).wrapping_mul(4).wrapping_add(*component);
                    u64::from(self.memory.parameters.get(at).copied().unwrap_or(JUNK as u32))
                };
                vec![(0..lanes).map(word).collect()]
            }
            _ => return Err("an operand that is no source".to_owned()),
        })
    }

    fn address(&self, index: &Index, lane: usize) -> u32 {
        let base = index.register.map_or(0, |register| self.registers[register][lane] as u32);
        base.wrapping_add(index.offset as u32)
    }

    /// The first component of an element of an array; one that is not there is the last one.
    fn element(&self, first: usize, count: usize, index: &Index, lane: usize) -> Result<usize, String> {
        let at = self.address(index, lane) as usize;
        Ok(first + 4 * at.min(count - 1))
    }

    fn environment(&self, name: &str, lane: usize) -> Result<u64, String> {
        let [x, y, _] = self.program.group_size.map(|size| size as usize);
        let own = lane % WARP;
        let bit = |mask: u64| mask & 0xffff_ffff;
        let parts: Vec<&str> = name.split('.').collect();
        let component = "xyz".find(parts[parts.len() - 1]).ok_or("no such component")?;
        Ok(match parts[1] {
            "groupid" => self.group[component].into(),
            "groupcount" => self.groups[component].into(),
            "localid" => [lane % x, lane / x % y, lane / x / y][component] as u64,
            "localindex" => lane as u64,
            "threadid" => own as u64,
            "threadeqmask" => 1 << own,
            "threadltmask" => (1 << own) - 1,
            "threadlemask" => (2 << own) - 1,
            "threadgtmask" => bit(!((2_u64 << own) - 1)),
            "threadgemask" => bit(!((1_u64 << own) - 1)),
            "warpid" | "smid" => 0,
            "thread" => 1,
            _ => return Err(format!("{name} does not exist")),
        })
    }

    // Memory.

    fn bytes(&mut self, space: Space, number: usize) -> Result<&mut Vec<u8>, String> {
        match space {
            Space::Storage => self.memory.storage.get_mut(number),
            Space::Uniform => self.memory.uniform.get_mut(number),
            Space::Shared => Some(&mut self.shared),
            Space::Parameters => None,
        }
        .ok_or_else(|| "this memory is not bound".to_owned())
    }

    /// Where an instruction reaches in a lane; none beyond the end. An address off its alignment is an error.
    fn reach(&mut self, operand: &Operand, size: usize, lane: usize) -> Result<Option<(Space, usize, usize)>, String> {
        let Operand::Memory { space, number, index, component: None } = operand else {
            return Err("an operand that is no memory".to_owned());
        };
        let at = self.address(index, lane) as usize;
        if !at.is_multiple_of(size) {
            return Err(format!("address {at} is no multiple of {size}"));
        }
        let inside = at + size <= self.bytes(*space, *number)?.len();
        if !inside && *space == Space::Shared {
            return Err(format!("address {at} is beyond the workgroup's memory"));
        }
        Ok(inside.then_some((*space, *number, at)))
    }

    fn load(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        let (bytes, count) = scalar::storage(inst)?;
        let mut rows = vec![vec![0; mask.len()]; 4];
        for lane in (0..mask.len()).filter(|lane| mask[*lane]) {
            if let Some((space, number, at)) = self.reach(&inst.operands[1], bytes * count, lane)? {
                let memory = self.bytes(space, number)?;
                for (n, row) in rows.iter_mut().enumerate().take(count) {
                    row[lane] = scalar::get(&memory[at + n * bytes..][..bytes]);
                }
            }
        }
        self.write(inst, &rows, mask)
    }

    fn store(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        let (bytes, count) = scalar::storage(inst)?;
        let vector = self.vector(&inst.operands[0], Kind::Uint)?;
        for lane in (0..mask.len()).filter(|lane| mask[*lane]) {
            if let Some((space, number, at)) = self.reach(&inst.operands[1], bytes * count, lane)? {
                let memory = self.bytes(space, number)?;
                for n in 0..count {
                    scalar::put(&mut memory[at + n * bytes..][..bytes], vector[n][lane]);
                }
            }
        }
        Ok(())
    }

    fn atomic(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        let (bytes, _) = scalar::storage(inst)?;
        // A GPU converts a number to the type of the operation: 0x40000000 is 1073741824.0 for `.F32`.
        let kind = if inst.modifiers.iter().any(|modifier| modifier == "F32") { Kind::Float } else { Kind::Uint };
        let data = self.vector(&inst.operands[1], kind)?;
        let mut old = vec![JUNK; mask.len()];
        for lane in (0..mask.len()).filter(|lane| mask[*lane]) {
            if let Some((space, number, at)) = self.reach(&inst.operands[2], bytes, lane)? {
                let second = data.get(1).map_or(0, |row| row[lane]);
                let slice = &mut self.bytes(space, number)?[at..at + bytes];
                old[lane] = scalar::get(slice);
                scalar::put(slice, scalar::updated(inst, old[lane], data[0][lane], second)?);
            }
        }
        if let Operand::Variable { components, .. } = &inst.operands[0]
            && components != &[0]
        {
            return Err("an atomic's old value is in x".to_owned());
        }
        self.write(inst, &[old], mask)
    }

    // Textures and images.

    /// What an operation on a unit works on; its target must be that of what is bound.
    fn picture(&mut self, inst: &Inst) -> Result<&mut Picture, String> {
        let unit = inst.operands.iter().find_map(|operand| match operand {
            Operand::Unit(unit) => Some(*unit),
            _ => None,
        });
        let target = inst.operands.iter().find_map(|operand| match operand {
            Operand::Target(target) => Some(target.clone()),
            _ => None,
        });
        let pictures = &mut self.memory.pictures;
        let list = if inst.op.starts_with('T') { &mut pictures.textures } else { &mut pictures.images };
        let picture = list.get_mut(unit.ok_or("it has no unit")?).ok_or("nothing is bound")?;
        if target.as_deref() == Some(picture.target) {
            Ok(picture)
        } else {
            Err(format!("{} is bound", picture.target))
        }
    }

    /// Loads, fetches, lookups and sizes.
    fn look_up(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        let kind = if inst.op == "TXL" { Kind::Float } else { Kind::Sint };
        let given = if inst.op == "IMQ" { Vec::new() } else { self.vector(&inst.operands[1], kind)? };
        let mut rows = vec![vec![JUNK; mask.len()]; 4];
        for lane in (0..mask.len()).filter(|lane| mask[*lane]) {
            let at = in_lane(&given, lane);
            let picture = self.picture(inst)?;
            let found = match &inst.op[..] {
                "LOADIM" => picture.load(&inst.modifiers[0], &at)?,
                "TXF" => picture.fetch(&at)?.map(u64::from),
                "TXL" => picture.nearest(&at)?.map(u64::from),
                _ => picture.query(at[0] as usize)?,
            };
            rows.iter_mut().zip(found).for_each(|(row, word)| row[lane] = word);
        }
        self.write(inst, &rows, mask)
    }

    fn store_texel(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        let (data, at) = (self.vector(&inst.operands[1], Kind::Uint)?, self.vector(&inst.operands[2], Kind::Sint)?);
        for lane in (0..mask.len()).filter(|lane| mask[*lane]) {
            self.picture(inst)?.store(in_lane(&data, lane), &in_lane(&at, lane));
        }
        Ok(())
    }

    fn atomic_texel(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        let (data, at) = (self.vector(&inst.operands[1], Kind::Uint)?, self.vector(&inst.operands[2], Kind::Sint)?);
        let mut old = vec![JUNK; mask.len()];
        for lane in (0..mask.len()).filter(|lane| mask[*lane]) {
            let second = data.get(1).map_or(0, |row| row[lane]);
            if let Some(word) = self.picture(inst)?.word(&in_lane(&at, lane)) {
                old[lane] = u64::from(*word);
                *word = scalar::updated(inst, old[lane], data[0][lane], second)? as u32;
            }
        }
        self.write(inst, &[old], mask)
    }
}
