//! Lets invocations join after a loop before the next branch.
//!
//! Where control flow follows a loop, with nothing but arithmetic in between, NVIDIA's compiler leads each invocation from
//! the loop's exit to the place where that ends for it: the back edge of the loop around it, or an arm whose condition it
//! knows there. The exit does not wait for the invocations that are still in the loop, so that cross-lane operations later on lack
//! lanes (seen on an H100, driver 580.159). An `IF` around the loop, on a condition that depends on the lane and always
//! holds, makes them wait at its `ENDIF`.

use super::Selector;
use crate::backend::nv::machine::{Line, Test};
use crate::lane::{LaneFact, MaskOp};
use std::ops::Range;

impl Selector<'_> {
    /// Puts an `IF` around each loop that control flow follows, in a nest with cross-lane operations or before one.
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

/// A loop, from its `REP` to its `ENDREP`, and the outermost one around it.
struct Found {
    lines: Range<usize>,
    nest: usize,
}

/// The state of a scan: the starts of the open loops, and the last loop where nothing happened after it.
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

/// The loops that control flow follows, where a cross-lane operation comes later or in a loop around them.
fn followed_loops(lines: &[Line]) -> Vec<Range<usize>> {
    let is_lane = |line: &Line| matches!(line, Line::Inst(inst) if inst.is_cross_lane());
    let Some(last) = lines.iter().rposition(is_lane) else { return Vec::new() };
    let mut scan = Scan::default();
    lines.iter().enumerate().for_each(|(at, line)| scan.line(at, line));
    let matters = |found: &Found| found.lines.start < last || lines[found.nest..found.lines.end].iter().any(is_lane);
    scan.found.into_iter().filter(matters).map(|found| found.lines).collect()
}
