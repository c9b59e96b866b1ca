//! Lets invocations join after a loop that ends the body of another one.
//!
//! Where the exit of an inner loop is the back edge of the loop around it, NVIDIA's compiler does not wait for the
//! invocations that are still in the inner loop: the others begin the next iteration alone, and cross-lane operations
//! there lack lanes (seen on an H100, driver 580.159). An `IF` around the inner loop, on a condition that depends on
//! the lane and always holds, makes them wait at its `ENDIF`.

use super::Selector;
use crate::backend::nv::machine::{Line, Test};
use crate::lane::{LaneFact, MaskOp};
use std::ops::Range;

/// A `REP` that is open in the scan.
struct Open {
    start: usize,
    /// The inner `REP` after which nothing happens so far.
    last: Option<Range<usize>>,
}

impl Selector<'_> {
    /// Puts an `IF` around each inner loop that ends the body of a loop in a nest with cross-lane operations.
    pub fn join_last_loops(&mut self) {
        let loops = last_loops(&self.lines);
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

/// The loops that end the body of another one, where the outermost loop around them holds cross-lane operations.
fn last_loops(lines: &[Line]) -> Vec<Range<usize>> {
    let (mut open, mut found): (Vec<Open>, Vec<Range<usize>>) = (Vec::new(), Vec::new());
    let (mut nest, mut has_lanes) = (0, false);
    for (at, line) in lines.iter().enumerate() {
        match line {
            Line::Repeat => {
                happens(&mut open);
                open.push(Open { start: at, last: None });
            }
            Line::EndRepeat => {
                let Some(Open { start, last }) = open.pop() else { continue };
                found.extend(last);
                match open.last_mut() {
                    Some(outer) => outer.last = Some(start..at),
                    None => {
                        if !std::mem::take(&mut has_lanes) {
                            found.truncate(nest);
                        }
                        nest = found.len();
                    }
                }
            }
            Line::Inst(inst) => {
                has_lanes |= inst.is_cross_lane() && !open.is_empty();
                if inst.effect || inst.is_cross_lane() {
                    happens(&mut open);
                }
            }
            Line::Break | Line::BreakNever => {}
            line if line.is_remark() => {}
            _ => happens(&mut open),
        }
    }
    found
}

/// Something happens after the last loop in the innermost open one.
fn happens(open: &mut [Open]) {
    if let Some(innermost) = open.last_mut() {
        innermost.last = None;
    }
}
