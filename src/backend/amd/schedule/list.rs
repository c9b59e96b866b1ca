//! Orders a region: instructions are taken one by one from those whose dependences are met.
//!
//! Loads come as soon as their addresses are known, grouped by kind; then instructions that lead to further loads; then
//! everything else in source order, unless it must wait for a result. If nothing is ready, the instruction with the
//! shortest wait is next. An instruction that would exceed the available registers is deferred until no other can run,
//! and then the first one in the source is taken: in the limit this is the source order.

use super::graph::Graph;
use super::pressure::{Counts, Level, Lives};
use super::{Load, Node};
use crate::limits;
use std::collections::BTreeSet;

/// An instruction at most this many steps before a load that needs it runs before loads that are ready.
const NEAR: u32 = 6;
/// Number of ready loads that are not delayed for further ones.
const GROUP: usize = 8;
/// Registers that loads leave for computations in the meantime.
const RESERVE: i32 = 4;
/// The distance of an instruction whose result no load needs.
const FAR: u32 = u32::MAX;

/// A stretch of straight code.
#[derive(Debug)]
pub struct Stretch {
    pub nodes: Vec<Node>,
    pub graph: Graph,
    pub lives: Lives,
}

impl Stretch {
    pub fn source(&self) -> std::ops::Range<u32> {
        0..self.nodes.len() as u32
    }

    /// The cycles until all instructions of an order have run and all loads have arrived, and those without the loads.
    pub fn cycles(&self, order: impl Iterator<Item = u32>) -> (u32, u32) {
        let mut earliest = vec![0; self.nodes.len()];
        let (mut now, mut end) = (0, 0);
        for n in order {
            let node = &self.nodes[n as usize];
            now = earliest[n as usize].max(now);
            let arrived = if node.load.is_some() { now + node.latency } else { now };
            end = end.max(arrived);
            for edge in self.graph.after(n) {
                let known = &mut earliest[edge.to as usize];
                *known = (*known).max(now + edge.latency);
            }
            now += node.issue;
        }
        (end.max(now), now)
    }

    /// An order with at most this many registers if possible; examines at most `window` instructions after the first
    /// remaining one.
    pub fn ordered(&self, most: Counts, window: u32) -> Vec<u32> {
        let before = self.graph.before.clone();
        let ready = self.source().filter(|n| before[*n as usize] == 0);
        let mut list = List {
            stretch: self,
            level: self.lives.level(),
            distances: self.distances(),
            earliest: vec![0; self.nodes.len()],
            is_done: vec![false; self.nodes.len()],
            ready: ready.collect(),
            ready_loads: 0,
            before,
            first: 0,
            now: 0,
            last: None,
            most,
            window,
        };
        list.ready_loads = list.ready.iter().filter(|n| self.nodes[**n as usize].load.is_some()).count();
        self.source().map(|_| list.next()).collect()
    }

    /// Number of instructions from each one to the next load that needs its result.
    fn distances(&self) -> Vec<u32> {
        let mut distances = vec![FAR; self.nodes.len()];
        for n in self.source().rev() {
            let needed = self.graph.after(n).iter().filter(|edge| edge.latency > 0);
            let distance = needed.map(|edge| match self.nodes[edge.to as usize].load {
                Some(_) => 1,
                None => distances[edge.to as usize].saturating_add(1),
            });
            distances[n as usize] = distance.min().unwrap_or(FAR);
        }
        distances
    }
}

struct List<'s> {
    stretch: &'s Stretch,
    level: Level<'s>,
    distances: Vec<u32>,
    /// The earliest known cycle of each instruction.
    earliest: Vec<u32>,
    is_done: Vec<bool>,
    ready: BTreeSet<u32>,
    ready_loads: usize,
    /// How many dependences of each instruction are not met.
    before: Vec<u32>,
    /// The first remaining one in the source.
    first: u32,
    now: u32,
    /// The kind of the last instruction, if it was a load.
    last: Option<Load>,
    most: Counts,
    window: u32,
}

/// The priority of an instruction: the smallest is taken. First the cycle if it must wait, then the rank.
type Key = (u32, u32);

/// Instructions without code.
const FREE: u32 = 0;
/// Scalar loads, which others wait for, and loads of the same kind as the last one.
const EARLY: u32 = 1;
const ADDRESS: u32 = 2;
const LOAD: u32 = 3;
const FEEDER: u32 = 6;
const OTHER: u32 = 7;

impl List<'_> {
    fn next(&mut self) -> u32 {
        let n = self.choose();
        let node = &self.stretch.nodes[n as usize];
        self.ready.remove(&n);
        self.ready_loads -= usize::from(node.load.is_some());
        self.is_done[n as usize] = true;
        self.level.pass(n);
        self.now = self.now.max(self.earliest[n as usize]);
        for edge in self.stretch.graph.after(n) {
            let to = edge.to as usize;
            self.earliest[to] = self.earliest[to].max(self.now + edge.latency);
            self.before[to] -= 1;
            if self.before[to] == 0 {
                self.ready.insert(edge.to);
                self.ready_loads += usize::from(self.stretch.nodes[to].load.is_some());
            }
        }
        self.now += node.issue;
        if node.issue > 0 {
            self.last = node.load;
        }
        while self.is_done.get(self.first as usize) == Some(&true) {
            self.first += 1;
        }
        n
    }

    fn choose(&self) -> u32 {
        let is_full = (0..2).any(|file| self.level.now[file] + RESERVE >= self.most[file]);
        let seen = self.ready.range(self.first..self.first.saturating_add(self.window));
        let mut best: Option<(Key, u32)> = None;
        for n in seen.copied() {
            limits::spend(1);
            let key = self.key(n, is_full);
            if best.is_none_or(|(known, _)| key < known) && !self.is_too_much(n) {
                best = Some((key, n));
            }
        }
        best.map_or(self.first, |(_, n)| n)
    }

    fn key(&self, n: u32, is_full: bool) -> Key {
        let node = &self.stretch.nodes[n as usize];
        let distance = self.distances[n as usize];
        let rank = match node.load {
            _ if node.issue == 0 => FREE,
            Some(load) if load == Load::Scalar || self.last == node.load => EARLY,
            Some(load) => LOAD + load as u32,
            None if distance <= NEAR && self.ready_loads < GROUP && !is_full => ADDRESS,
            None if distance < FAR && !is_full => FEEDER,
            None => OTHER,
        };
        // A group of loads is worth waiting for an address.
        let patience = if rank < FEEDER { node.patience } else { 0 };
        let earliest = self.earliest[n as usize];
        let late = if earliest > self.now + patience { earliest } else { 0 };
        (late, rank)
    }

    /// Returns true if an instruction would exceed the available registers.
    fn is_too_much(&self, n: u32) -> bool {
        let reserve = if self.stretch.nodes[n as usize].load.is_some() { RESERVE } else { 0 };
        let change = self.level.change(n);
        (0..2).any(|file| change[file] > 0 && self.level.now[file] + change[file] + reserve > self.most[file])
    }
}
