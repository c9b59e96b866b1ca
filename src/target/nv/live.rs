//! Where each virtual register holds a value that is still needed.
//!
//! A walk from each use back to the definitions that reach it, over the blocks between the lines of control flow. The
//! effort is that of the result: each block is met once for each register that is alive in it. In ranges, line `n` reads
//! at `2 n` and writes at `2 n + 1`.

use super::machine::{Line, Reg};
use crate::target::range::{Range, joined};
use smallvec::SmallVec;

/// Lines that run one after another.
#[derive(Debug)]
struct Block {
    first: u32,
    /// The line after the last one.
    end: u32,
    before: SmallVec<[u32; 2]>,
}

/// The ranges of each register, in ascending order and apart; none for a register that nothing writes.
pub fn ranges(lines: &[Line], registers: usize) -> Vec<Vec<Range>> {
    let graph = Graph::new(lines);
    let (reads, writes) = accesses(lines, registers);
    let mut walk = Walk { graph: &graph, met: vec![u32::MAX; graph.blocks.len()], queue: Vec::new() };
    (0..registers).map(|reg| walk.register(reg as u32, &reads[reg], &writes[reg])).collect()
}

/// The lines that read and that write each register, in order.
fn accesses(lines: &[Line], registers: usize) -> (Vec<Vec<u32>>, Vec<Vec<u32>>) {
    let (mut reads, mut writes) = (vec![Vec::new(); registers], vec![Vec::new(); registers]);
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

/// A construct that the scan for edges is in.
enum Open {
    /// The block that ends with `IF`, and the one that ends the first arm.
    If(u32, Option<u32>),
    /// The block after `REP`, and the blocks that break.
    Repeat(u32, Vec<u32>),
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
            let plain = matches!(line, Line::Inst(_) | Line::Source(_) | Line::Lane(_) | Line::Empty);
            if !plain || at + 1 == lines.len() {
                self.blocks.push(Block { first, end: at as u32 + 1, before: SmallVec::new() });
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
                Line::Repeat => {
                    open.push(Open::Repeat(block + 1, Vec::new()));
                    self.edge(block, block + 1);
                }
                Line::EndRepeat => self.close_repeat(&mut open, block),
                Line::Break | Line::BreakIf(..) => {
                    let innermost = open.iter_mut().rev().find_map(|construct| match construct {
                        Open::Repeat(_, breaks) => Some(breaks),
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

    /// Behind an `IF` comes what either arm ends with, or the `IF` itself where there is one arm.
    fn close_if(&mut self, open: &mut Vec<Open>, block: u32) {
        if let Some(Open::If(head, first)) = open.pop() {
            self.edge(first.unwrap_or(head), block + 1);
        }
        self.edge(block, block + 1);
    }

    fn close_repeat(&mut self, open: &mut Vec<Open>, block: u32) {
        if let Some(Open::Repeat(head, breaks)) = open.pop() {
            self.edge(block, head);
            breaks.into_iter().for_each(|from| self.edge(from, block + 1));
        }
    }

    fn edge(&mut self, from: u32, to: u32) {
        if let Some(block) = self.blocks.get_mut(to as usize) {
            block.before.push(from);
        }
    }
}

struct Walk<'g> {
    graph: &'g Graph,
    /// The register for which a block's end was met last.
    met: Vec<u32>,
    queue: Vec<u32>,
}

impl Walk<'_> {
    fn register(&mut self, reg: u32, reads: &[u32], writes: &[u32]) -> Vec<Range> {
        let mut found: Vec<Range> = writes.iter().map(|at| Range { from: 2 * at + 1, to: 2 * at + 1 }).collect();
        if writes.is_empty() {
            return found;
        }
        for at in reads {
            self.back(self.graph.block_of[*at as usize], 2 * at, writes, &mut found);
            while let Some(block) = self.queue.pop() {
                if std::mem::replace(&mut self.met[block as usize], reg) != reg {
                    let to = 2 * self.graph.blocks[block as usize].end - 1;
                    self.back(block, to, writes, &mut found);
                }
            }
        }
        joined(found)
    }

    /// Alive in a block up to `to`: from the last write before, or from its beginning and before.
    fn back(&mut self, block: u32, to: u32, writes: &[u32], found: &mut Vec<Range>) {
        let Block { first, before, .. } = &self.graph.blocks[block as usize];
        let behind = writes.partition_point(|at| 2 * at < to);
        match behind.checked_sub(1).map(|last| writes[last]) {
            Some(write) if write >= *first => found.push(Range { from: 2 * write + 1, to }),
            _ => {
                found.push(Range { from: 2 * first, to });
                self.queue.extend(before);
            }
        }
    }
}
