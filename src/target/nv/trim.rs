//! Drops what does nothing: instructions whose results nobody reads, and arms without instructions.
//!
//! One pass from the end, in which a dropped line takes its reads with it. What only feeds itself around a loop stays.

use super::machine::{Inst, Line, Target};

/// An `IF` whose end was met.
#[derive(Default)]
struct Open {
    /// The line of its `ELSE`, if it was met.
    middle: Option<usize>,
    end: usize,
    /// Whether the arm that the pass is in holds anything, and whether the second arm did.
    filled: bool,
    second: bool,
}

/// Makes the lines that do nothing empty, before registers share places.
pub fn trim(lines: &mut [Line], registers: usize) {
    let mut reads = vec![0_u32; registers];
    lines.iter().for_each(|line| line.for_each_read(|reg| reads[reg.index()] += 1));
    pass(lines, &mut reads, true);
}

/// Makes arms empty that copies have left, now that registers have places.
pub fn trim_arms(lines: &mut [Line], registers: usize) {
    pass(lines, &mut vec![u32::MAX; registers], false);
}

fn pass(lines: &mut [Line], reads: &mut [u32], drops_instructions: bool) {
    let mut open: Vec<Open> = Vec::new();
    for at in (0..lines.len()).rev() {
        let is_dead = drops_instructions && matches!(&lines[at], Line::Inst(inst) if is_idle(inst, reads));
        match &lines[at] {
            Line::Empty | Line::Source(_) | Line::Lane(_) => {}
            Line::EndIf => open.push(Open { end: at, ..Open::default() }),
            Line::Else => {
                if let Some(innermost) = open.last_mut() {
                    innermost.middle = Some(at);
                    innermost.second = std::mem::take(&mut innermost.filled);
                }
            }
            Line::If(..) => {
                let Some(closed) = open.pop() else { continue };
                let stays = close(lines, at, &closed, reads);
                mark(&mut open, stays);
            }
            _ if is_dead => {
                lines[at].for_each_read(|reg| reads[reg.index()] -= 1);
                lines[at] = Line::Empty;
            }
            _ => mark(&mut open, true),
        }
    }
}

fn mark(open: &mut [Open], filled: bool) {
    if let Some(innermost) = open.last_mut() {
        innermost.filled |= filled;
    }
}

fn is_idle(inst: &Inst, reads: &[u32]) -> bool {
    let is_read = |regs: &[super::machine::Reg]| {
        regs.iter().any(|reg| {
            let own = u32::from(inst.guard.is_some());
            reads[reg.index()] > own
        })
    };
    !inst.effect && matches!(&inst.target, Target::Regs(regs) if !is_read(regs))
}

/// Takes out arms that are empty; says whether anything is left.
fn close(lines: &mut [Line], at: usize, closed: &Open, reads: &mut [u32]) -> bool {
    let Line::If(condition, test) = lines[at] else { return true };
    match (closed.filled, closed.second, closed.middle) {
        (false, false, middle) => {
            reads[condition.index()] -= 1;
            for line in [Some(at), middle, Some(closed.end)].into_iter().flatten() {
                lines[line] = Line::Empty;
            }
            return false;
        }
        (true, false, Some(middle)) => lines[middle] = Line::Empty,
        (false, true, Some(middle)) => {
            lines[at] = Line::If(condition, test.inverted());
            lines[middle] = Line::Empty;
        }
        _ => {}
    }
    true
}
