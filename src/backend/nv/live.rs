//! Live ranges of the virtual registers.
//!
//! The analysis walks from each use back to the definitions that reach it, over the blocks between the lines of control
//! flow, and forwards from the definitions: before any definition has run, a register is not live although a path leads
//! from there to a use. The effort is proportional to the result, because each block is visited once for each register
//! that is live in it. In ranges, line `n` reads at `2 n` and writes at `2 n + 1`.

use super::machine::{Line, Reg};
use crate::backend::range::{Range, Ranges, joined};
use crate::limits;
use smallvec::SmallVec;

/// Consecutive lines without control flow.
#[derive(Debug)]
struct Block {
    first: u32,
    /// The line after the last one.
    end: u32,
    before: SmallVec<[u32; 2]>,
    after: SmallVec<[u32; 2]>,
}

/// The ranges of each register, ascending and disjoint; none for a register without writes.
pub fn ranges(lines: &[Line], registers: usize) -> Vec<Ranges> {
    let graph = Graph::new(lines);
    let (reads, writes) = accesses(lines, registers);
    let none = vec![u32::MAX; graph.blocks.len()];
    let (met, reached) = (none.clone(), none.clone());
    let mut walk = Walk { graph: &graph, met, entered: none, reached, queue: Vec::new(), alive: Vec::new() };
    (0..registers).map(|reg| walk.register(reg as u32, &reads[reg], &writes[reg])).collect()
}

/// Numbers of lines.
type Places = SmallVec<[u32; 4]>;

/// The lines that read and that write each register, in order.
fn accesses(lines: &[Line], registers: usize) -> (Vec<Places>, Vec<Places>) {
    let (mut reads, mut writes) = (vec![Places::new(); registers], vec![Places::new(); registers]);
    for (at, line) in lines.iter().enumerate() {
        line.for_each_read(|reg: Reg| reads[reg.index()].push(at as u32));
        line.written().iter().for_each(|reg| writes[reg.index()].push(at as u32));
    }
    (reads, writes)
}

struct Graph {
    blocks: Vec<Block>,
    /// The block of each line.
    block_of: Vec<u32>,
}

/// A construct that the scan for edges has entered.
enum Open {
    /// The block that ends with `IF`, and the block that ends the first arm.
    If(u32, Option<u32>),
    /// The block after `REP`, the blocks that break, and true if it has a fixed number of iterations.
    Repeat(u32, Vec<u32>, bool),
}

impl Graph {
    fn new(lines: &[Line]) -> Graph {
        let mut graph = Graph { blocks: Vec::new(), block_of: vec![0; lines.len()] };
        graph.cut(lines);
        graph.connect(lines);
        graph
    }

    /// Every line of control flow ends a block.
    fn cut(&mut self, lines: &[Line]) {
        let mut first = 0;
        for (at, line) in lines.iter().enumerate() {
            self.block_of[at] = self.blocks.len() as u32;
            let plain = matches!(line, Line::Inst(_)) || line.is_remark();
            if !plain || at + 1 == lines.len() {
                let (before, after) = (SmallVec::new(), SmallVec::new());
                self.blocks.push(Block { first, end: at as u32 + 1, before, after });
                first = at as u32 + 1;
            }
        }
    }

    fn connect(&mut self, lines: &[Line]) {
        let mut open: Vec<Open> = Vec::new();
        for block in 0..self.blocks.len() as u32 {
            let last = &lines[self.blocks[block as usize].end as usize - 1];
            match last {
                Line::If(..) => {
                    open.push(Open::If(block, None));
                    self.edge(block, block + 1);
                }
                Line::Else => {
                    if let Some(Open::If(head, end)) = open.last_mut() {
                        *end = Some(block);
                        let head = *head;
                        self.edge(head, block + 1);
                    }
                }
                Line::EndIf => self.close_if(&mut open, block),
                Line::Repeat(rounds) => {
                    open.push(Open::Repeat(block + 1, Vec::new(), rounds.is_some()));
                    self.edge(block, block + 1);
                }
                Line::EndRepeat => self.close_repeat(&mut open, block),
                Line::Break | Line::BreakIf(..) => {
                    let innermost = open.iter_mut().rev().find_map(|construct| match construct {
                        Open::Repeat(_, breaks, _) => Some(breaks),
                        Open::If(..) => None,
                    });
                    innermost.into_iter().for_each(|breaks| breaks.push(block));
                    if *last != Line::Break {
                        self.edge(block, block + 1);
                    }
                }
                Line::Return => {}
                _ => self.edge(block, block + 1),
            }
        }
    }

    /// After an `IF` comes the end of either arm, or the `IF` itself if there is only one arm.
    fn close_if(&mut self, open: &mut Vec<Open>, block: u32) {
        if let Some(Open::If(head, first)) = open.pop() {
            self.edge(first.unwrap_or(head), block + 1);
        }
        self.edge(block, block + 1);
    }

    fn close_repeat(&mut self, open: &mut Vec<Open>, block: u32) {
        if let Some(Open::Repeat(head, breaks, is_counted)) = open.pop() {
            self.edge(block, head);
            if is_counted {
                self.edge(block, block + 1);
            }
            breaks.into_iter().for_each(|from| self.edge(from, block + 1));
        }
    }

    fn edge(&mut self, from: u32, to: u32) {
        if let Some(block) = self.blocks.get_mut(to as usize) {
            block.before.push(from);
            self.blocks[from as usize].after.push(to);
        }
    }
}

struct Walk<'g> {
    graph: &'g Graph,
    /// For each block, the last register for which its end was visited.
    met: Vec<u32>,
    /// For each block, the last register that was live at its start.
    entered: Vec<u32>,
    /// The registers whose definition reaches the start of a block.
    reached: Vec<u32>,
    queue: Vec<u32>,
    /// The live ranges of the register where a definition reaches it.
    alive: Vec<Alive>,
}

impl Walk<'_> {
    fn register(&mut self, reg: u32, reads: &[u32], writes: &[u32]) -> Ranges {
        let mut found: Ranges = writes.iter().map(|at| Range { from: 2 * at + 1, to: 2 * at + 1 }).collect();
        if writes.is_empty() {
            return found;
        }
        for at in reads {
            self.back(reg, self.graph.block_of[*at as usize], 2 * at, writes);
            while let Some(block) = self.queue.pop() {
                limits::spend(1);
                if std::mem::replace(&mut self.met[block as usize], reg) != reg {
                    let to = 2 * self.graph.blocks[block as usize].end - 1;
                    self.back(reg, block, to, writes);
                }
            }
        }
        self.reach(reg, writes);
        let reached = &self.reached;
        let is_defined = |alive: &Alive| alive.entered.is_none_or(|block| reached[block as usize] == reg);
        found.extend(self.alive.drain(..).filter(is_defined).map(|alive| alive.range));
        joined(found)
    }

    /// Live in a block up to `to`: from the last write before, or from the block's start and before.
    fn back(&mut self, reg: u32, block: u32, to: u32, writes: &[u32]) {
        let Block { first, before, .. } = &self.graph.blocks[block as usize];
        let behind = writes.partition_point(|at| 2 * at < to);
        let alive = match behind.checked_sub(1).map(|last| writes[last]) {
            Some(write) if write >= *first => Alive { entered: None, range: Range { from: 2 * write + 1, to } },
            _ => {
                self.entered[block as usize] = reg;
                self.queue.extend(before);
                Alive { entered: Some(block), range: Range { from: 2 * first, to } }
            }
        };
        self.alive.push(alive);
    }

    /// Follows a written value to the starts of blocks where it is live.
    fn reach(&mut self, reg: u32, writes: &[u32]) {
        self.queue.extend(writes.iter().map(|at| self.graph.block_of[*at as usize]));
        while let Some(block) = self.queue.pop() {
            limits::spend(1);
            for after in &self.graph.blocks[block as usize].after {
                let at = *after as usize;
                if self.entered[at] == reg && std::mem::replace(&mut self.reached[at], reg) != reg {
                    self.queue.push(*after);
                }
            }
        }
    }
}

/// A range of a block in which a register is live, and the block if the range starts there.
struct Alive {
    entered: Option<u32>,
    range: Range,
}

#[cfg(test)]
mod tests {
    use super::super::machine::{Dest, Inst, Operand, Test};
    use super::*;
    use crate::kernel::Origin;
    use smallvec::smallvec;

    fn inst(target: Dest, sources: &[Reg]) -> Line {
        let sources = sources.iter().map(|reg| Operand::Reg(*reg)).collect();
        Line::Inst(Box::new(Inst {
            name: "MOV.U".into(),
            dest: target,
            sources,
            guard: None,
            effect: false,
            origin: Origin::Code,
        }))
    }

    fn write(reg: u32) -> Line {
        inst(Dest::Regs(smallvec![Reg(reg)]), &[])
    }

    fn read(reg: u32) -> Line {
        inst(Dest::None, &[Reg(reg)])
    }

    #[test]
    fn nothing_is_alive_before_it_is_defined() {
        let lines = [write(0), Line::If(Reg(0), Test::True), write(1), Line::EndIf, read(1)];
        assert_eq!(ranges(&lines, 2)[1][..], [Range { from: 5, to: 8 }]);
    }

    #[test]
    fn what_a_round_leaves_is_alive_in_the_next() {
        let (condition, leave) = (Line::If(Reg(0), Test::True), Line::BreakIf(Reg(0), Test::False));
        let lines = [write(0), Line::Repeat(None), read(1), condition, write(1), Line::EndIf, leave, Line::EndRepeat];
        assert_eq!(ranges(&lines, 2)[1][..], [Range { from: 4, to: 7 }, Range { from: 9, to: 15 }]);
    }
}
