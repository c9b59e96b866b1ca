//! Drops code without effect: instructions with unused results, empty arms, and redundant breaks.
//!
//! One pass from the end, in which a removed line also removes its reads. Values that only feed themselves around a
//! loop stay.

use super::machine::{Dest, Inst, Line};

/// An `IF` whose end was visited.
#[derive(Default)]
struct Open {
    /// The line of its `ELSE`, if it was met.
    middle: Option<usize>,
    end: usize,
    /// True if the current arm contains anything, and whether the second arm did.
    filled: bool,
    second: bool,
}

/// Makes lines without effect empty, before registers share places.
pub fn trim(lines: &mut [Line], registers: usize) {
    let mut reads = vec![0_u32; registers];
    lines.iter().for_each(|line| line.for_each_read(|reg| reads[reg.index()] += 1));
    pass(lines, &mut reads, true);
}

/// Makes arms empty that only contained removed copies, after registers have places.
pub fn trim_arms(lines: &mut [Line], registers: usize) {
    pass(lines, &mut vec![u32::MAX; registers], false);
}

/// Turns an `IF` around a single break into a conditional break. Removes the breaks that are never taken from loops
/// with another break at their own level, which is all that the loader requires.
pub fn trim_breaks(lines: &mut [Line]) {
    let mut ifs: Vec<usize> = Vec::new();
    for at in 0..lines.len() {
        match lines[at] {
            Line::If(..) => ifs.push(at),
            Line::EndIf => {
                if let Some(start) = ifs.pop() {
                    join_break(&mut lines[start..=at]);
                }
            }
            _ => {}
        }
    }
    drop_idle_breaks(lines);
}

/// Joins the lines of one `IF` if they are only a break.
fn join_break(lines: &mut [Line]) {
    let inside: Vec<&Line> = lines.iter().filter(|line| !line.is_remark()).collect();
    if let [Line::If(condition, test), Line::Break, Line::EndIf] = inside[..] {
        lines[0] = Line::BreakIf(*condition, *test);
        lines[1..].fill(Line::Empty);
    }
}

fn drop_idle_breaks(lines: &mut [Line]) {
    // For each open `REP`: the number of open arms in it, whether it has a break outside them, and a break that is
    // never taken.
    let mut open: Vec<(u32, bool, Option<usize>)> = Vec::new();
    for at in 0..lines.len() {
        if matches!(lines[at], Line::Repeat(_)) {
            open.push((0, false, None));
        }
        let Some((arms, breaks, idle)) = open.last_mut() else { continue };
        match lines[at] {
            Line::If(..) => *arms += 1,
            Line::EndIf => *arms -= 1,
            Line::Break | Line::BreakIf(..) => *breaks |= *arms == 0,
            Line::BreakNever => *idle = Some(at),
            Line::EndRepeat => {
                if let Some((_, true, Some(idle))) = open.pop() {
                    lines[idle] = Line::Empty;
                }
            }
            _ => {}
        }
    }
}

fn pass(lines: &mut [Line], reads: &mut [u32], drops_instructions: bool) {
    let mut open: Vec<Open> = Vec::new();
    for at in (0..lines.len()).rev() {
        let is_dead = drops_instructions && matches!(&lines[at], Line::Inst(inst) if is_idle(inst, reads));
        match &lines[at] {
            line if line.is_remark() => {}
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
    !inst.effect && matches!(&inst.dest, Dest::Regs(regs) if !is_read(regs))
}

/// Removes empty arms; returns true if anything is left.
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
