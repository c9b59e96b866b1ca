//! Lets invocations join after a loop before the next branch.
//!
//! If control flow follows a loop, with nothing but arithmetic in between, NVIDIA's compiler redirects each invocation
//! from the loop's exit to its eventual destination: the back edge of the enclosing loop, or an arm whose condition is
//! known there. The exit does not wait for the invocations that are still in the loop, so later cross-lane operations
//! lack lanes (seen on an H100, driver 580.159). An `IF` around the loop, on a per-lane condition that always holds,
//! makes them wait at its `ENDIF`.

use super::Selector;
use crate::backend::nv::machine::{Line, Test};
use crate::lane::{LaneFact, MaskOp};
use std::ops::Range;

impl Selector<'_> {
    /// Puts an `IF` around each loop that control flow follows, in or before a loop nest with cross-lane operations.
    pub fn join_loops(&mut self) {
        let loops = followed_loops(&self.lines);
        if loops.is_empty() {
            return;
        }
        let (mut starts, mut ends) = (vec![false; self.lines.len()], vec![false; self.lines.len()]);
        for Range { start, end } in loops {
            (starts[start], ends[end]) = (true, true);
        }
        let lines = std::mem::take(&mut self.lines);
        let own = self.fact(LaneFact::Mask(MaskOp::Eq));
        let own = self.in_reg(own);
        for (at, line) in lines.into_iter().enumerate() {
            if starts[at] {
                self.lines.push(Line::If(own, Test::True));
            }
            self.lines.push(line);
            if ends[at] {
                self.lines.push(Line::EndIf);
            }
        }
    }
}

/// A loop, from its `REP` to its `ENDREP`, and its outermost enclosing loop.
struct Found {
    lines: Range<usize>,
    nest: usize,
}

/// The state of a scan: the starts of the open loops, and the last loop if nothing has followed it yet.
#[derive(Default)]
struct Scan {
    open: Vec<usize>,
    last: Option<Found>,
    found: Vec<Found>,
}

impl Scan {
    fn line(&mut self, at: usize, line: &Line) {
        match line {
            Line::Repeat(_) => {
                self.found.extend(self.last.take());
                self.open.push(at);
            }
            Line::EndRepeat => {
                self.found.extend(self.last.take());
                let Some(start) = self.open.pop() else { return };
                let nest = self.open.first().copied().unwrap_or(start);
                self.last = Some(Found { lines: start..at, nest });
            }
            Line::If(..) | Line::Else | Line::EndIf | Line::Break | Line::BreakIf(..) | Line::BreakNever => {
                self.found.extend(self.last.take());
            }
            Line::Inst(inst) if !inst.effect && !inst.is_cross_lane() => {}
            line if line.is_remark() => {}
            _ => self.last = None,
        }
    }
}

/// The loops that control flow follows, if a cross-lane operation comes later or in an enclosing loop.
fn followed_loops(lines: &[Line]) -> Vec<Range<usize>> {
    let is_lane = |line: &Line| matches!(line, Line::Inst(inst) if inst.is_cross_lane());
    let Some(last) = lines.iter().rposition(is_lane) else { return Vec::new() };
    let mut scan = Scan::default();
    lines.iter().enumerate().for_each(|(at, line)| scan.line(at, line));
    let matters = |found: &Found| found.lines.start < last || lines[found.nest..found.lines.end].iter().any(is_lane);
    scan.found.into_iter().filter(matters).map(|found| found.lines).collect()
}
