//! A workgroup: its registers, its control flow and its memory.

use super::parse::{Condition, Index, Inst, Node, Operand, Program, Space};
use super::{Memory, lanes, scalar};
use scalar::Kind;
use std::collections::BTreeMap;

/// Lanes of a warp.
pub const WARP: usize = 32;
/// The content of unwritten registers.
pub const JUNK: u64 = 0x5bad_c0de_5bad_c0de;
/// Statements after which a program counts as endless.
const STEPS: usize = 2_000_000;

/// One bool per invocation.
pub type Mask = Vec<bool>;
/// One value per invocation.
pub type Row = Vec<u64>;

pub struct Machine<'p> {
    pub program: &'p Program,
    pub memory: &'p mut Memory,
    group: [u32; 3],
    groups: [u32; 3],
    /// The inputs of a vertex or fragment program.
    pub around: Around,
    shared: Vec<u8>,
    /// Components of variables, one after another, for each invocation.
    registers: Vec<Row>,
    /// For each component, the lanes in which the last result with `.CC` was not zero.
    conditions: [Mask; 4],
    /// Lanes that left the enclosing `REP`s, innermost last.
    broken: Vec<Mask>,
    steps: usize,
}

/// The environment of vertices and fragments; empty for workgroups.
#[derive(Default)]
pub struct Around {
    /// Values of the environment by name, four components of each.
    pub named: BTreeMap<String, Vec<Row>>,
    /// Attributes at the requested positions.
    pub inputs: Option<Inputs>,
    /// Lanes without output: helpers from the start, and killed lanes.
    pub helpers: Mask,
}

/// The word of an attribute's component in a lane, at an offset from the pixel's centre.
pub type Inputs = Box<dyn Fn(usize, usize, usize, [f32; 2]) -> u32>;

impl<'p> Machine<'p> {
    pub fn new(program: &'p Program, memory: &'p mut Memory, group: [u32; 3], groups: [u32; 3]) -> Self {
        let lanes = program.group_size.iter().product::<u32>() as usize;
        Self::with_lanes(program, memory, lanes, [group, groups], Around::default())
    }

    /// Lanes of vertices, or of fragments by quads.
    pub fn with_lanes(
        program: &'p Program,
        memory: &'p mut Memory,
        lanes: usize,
        [group, groups]: [[u32; 3]; 2],
        around: Around,
    ) -> Self {
        Self {
            around: Around { helpers: resized(around.helpers, lanes), ..around },
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

    /// The lanes with output.
    pub fn kept(&self, mask: &Mask) -> Mask {
        mask.iter().zip(&self.around.helpers).map(|(on, helps)| *on && !helps).collect()
    }

    /// Writes an attribute's component before the run.
    pub fn preset(&mut self, register: usize, row: Row) {
        self.registers[register] = row;
    }

    /// A register after the run.
    pub fn register(&self, register: usize) -> &Row {
        &self.registers[register]
    }

    pub fn helpers(&self) -> &Mask {
        &self.around.helpers
    }

    pub fn run(&mut self) -> Result<(), String> {
        let all = vec![true; self.conditions[0].len()];
        self.nodes(&self.program.body, all).map(|_| ())
    }

    /// Runs statements in the lanes of a mask; returns those that reach the end.
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
            Node::Repeat(rounds, body) => {
                self.broken.push(vec![false; mask.len()]);
                let mut inside = mask;
                let mut left = *rounds;
                while inside.contains(&true) && left != Some(0) {
                    inside = self.nodes(body, inside)?;
                    left = left.map(|left| left - 1);
                }
                let broken = self.broken.pop().ok_or("a loop ended twice")?;
                Ok(broken.into_iter().zip(inside).map(|(broken, inside)| broken || inside).collect())
            }
            Node::Break(test) => {
                let leaves = |lane: usize| mask[lane] && test.is_none_or(|test| self.holds(test, lane));
                let leaving: Mask = (0..mask.len()).map(leaves).collect();
                let broken = self.broken.last_mut().ok_or("BRK outside REP")?;
                broken.iter_mut().zip(&leaving).for_each(|(broken, leaves)| *broken |= leaves);
                Ok(mask.iter().zip(leaving).map(|(on, leaves)| *on && !leaves).collect())
            }
            Node::Kill(test) => {
                for lane in (0..mask.len()).filter(|lane| mask[*lane]) {
                    self.around.helpers[lane] |= self.holds(*test, lane);
                }
                Ok(mask)
            }
            Node::Return => Ok(vec![false; mask.len()]),
        }
    }

    fn inst(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        match &inst.op[..] {
            "MEMBAR" | "BAR" => Ok(()),
            "STB" | "STS" => self.store(inst, &self.kept(mask)),
            "LDB" | "LDS" | "LDC" => self.load(inst, mask),
            "ATOMB" | "ATOMS" => self.atomic(inst, &self.kept(mask)),
            "STOREIM" => self.store_texel(inst, &self.kept(mask)),
            "ATOMIM" => self.atomic_texel(inst, &self.kept(mask)),
            "LOADIM" | "TXF" | "TXFMS" | "TXL" | "TXB" | "TEX" | "TXD" | "TXG" | "TXGO" | "LOD" | "TXQ" | "TXQS"
            | "IMQ" | "IMQS" => self.look_up(inst, mask),
            "IPAC" | "IPAS" | "IPAO" => self.interpolate(inst, mask),
            "DDX" | "DDY" => self.derivative(inst, mask),
            op if op.starts_with("QSWZ") => self.swizzle(inst, mask),
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
    pub fn write(&mut self, inst: &Inst, rows: &[Row], mask: &Mask) -> Result<(), String> {
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
    pub fn row(&self, operand: &Operand, kind: Kind) -> Result<Row, String> {
        self.vector(operand, kind)?.into_iter().next().ok_or_else(|| "an operand without components".to_owned())
    }

    /// Built-in values of vertices and fragments.
    fn around(&self, name: &str) -> Result<Option<Vec<Row>>, String> {
        let (base, letters) = name.rsplit_once('.').ok_or("a value without components")?;
        if base == "fragment.helperthread" {
            let helps = |helps: &bool| if *helps { 0xffff_ffff } else { 0 };
            return Ok(Some(vec![self.around.helpers.iter().map(helps).collect()]));
        }
        let Some(rows) = self.around.named.get(base) else { return Ok(None) };
        let row = |letter| "xyzw".find(letter).and_then(|at| rows.get(at)).cloned();
        letters.chars().map(row).collect::<Option<_>>().map(Some).ok_or_else(|| format!("{name} has no such component"))
    }

    /// The components of an operand.
    pub fn vector(&self, operand: &Operand, kind: Kind) -> Result<Vec<Row>, String> {
        let lanes = self.conditions[0].len();
        Ok(match operand {
            Operand::Variable { first, components, guard: None } => {
                components.iter().map(|component| self.registers[first + component].clone()).collect()
            }
            Operand::Number(text) => vec![vec![kind.literal(text)?; lanes]; 4],
            Operand::Numbers(texts) => {
                let kind = |text: &str| if text.starts_with('-') { Kind::Sint } else { Kind::Uint };
                texts.iter().map(|text| Ok(vec![kind(text).literal(text)?; lanes])).collect::<Result<_, String>>()?
            }
            Operand::Environment(name) => match self.around(name)? {
                Some(rows) => rows,
                None => vec![(0..lanes).map(|lane| self.environment(name, lane)).collect::<Result<_, _>>()?],
            },
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
            Operand::Memory { space: Space::SamplePositions, index, component: Some(0 | 1), .. } => {
                // One sample per pixel, in its middle.
                let word = |lane| if self.address(index, lane) == 0 { 0.5_f32.to_bits() } else { JUNK as u32 };
                vec![(0..lanes).map(|lane| u64::from(word(lane))).collect()]
            }
            _ => return Err("an operand that is not a source".to_owned()),
        })
    }

    fn address(&self, index: &Index, lane: usize) -> u32 {
        let base = index.register.map_or(0, |register| self.registers[register][lane] as u32);
        base.wrapping_add(index.offset as u32)
    }

    /// The first component of an array element; an index out of range selects the last element.
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
            Space::Parameters | Space::SamplePositions => None,
        }
        .ok_or_else(|| "this memory is not bound".to_owned())
    }

    /// The address that an instruction accesses in a lane; `None` beyond the end. A misaligned address is an error.
    fn reach(&mut self, operand: &Operand, size: usize, lane: usize) -> Result<Option<(Space, usize, usize)>, String> {
        let Operand::Memory { space, number, index, component: None } = operand else {
            return Err("an operand that is not memory".to_owned());
        };
        let at = self.address(index, lane) as usize;
        if !at.is_multiple_of(size) {
            return Err(format!("address {at} is not a multiple of {size}"));
        }
        let inside = at + size <= self.bytes(*space, *number)?.len();
        if !inside && *space == Space::Shared {
            return Err(format!("address {at} is beyond the workgroup's memory"));
        }
        Ok(inside.then_some((*space, *number, at)))
    }

    fn load(&mut self, inst: &Inst, mask: &Mask) -> Result<(), String> {
        let has = |wanted: &str| inst.modifiers.iter().any(|modifier| modifier == wanted);
        if has("VOL") && !has("COH") {
            return Err("it may read a stale word for ever: other invocations write what is volatile".to_owned());
        }
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
}

fn resized(mut mask: Mask, lanes: usize) -> Mask {
    mask.resize(lanes, false);
    mask
}
