//! The rules: the mistakes that get a warning, and their messages.

use super::fact::{Alike, Fact, Held, Picks};
use super::flow::{Cause, Leave};
use super::walk::Walk;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{ImageOp, Inst, Op, Scope, Value};
use crate::lane::{self, LaneOp, ReduceKind, Role, ShuffleMode, Span as LaneSpan, Width};
use crate::source::Span;

/// The lanes that an operation reads in addition to its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reads {
    /// All lanes of its segment.
    Segment(Width),
    /// One lane of a segment, not known here.
    One(Width),
}

impl Walk<'_> {
    /// Examines an instruction that is neither control flow nor a plain memory access.
    pub fn check(&mut self, inst: &Inst) {
        match inst.op {
            Op::Lane(op, args) => self.check_lanes(op, self.values(args), inst.span),
            Op::Barrier { execution: Some(scope), .. } if scope > Scope::Subgroup => self.check_barrier(inst.span),
            Op::Atomic { .. } | Op::Image { op: ImageOp::Write | ImageOp::Atomic(..), .. } => {
                let mut all = Fact::PLAIN;
                inst.op.each_operand(self.function, |value| all = all.mix(self.fact(value)));
                self.reach(all, inst.span);
            }
            _ => {}
        }
    }

    fn check_lanes(&mut self, op: LaneOp, args: &[Value], at: Span) {
        if self.check_bound(op, args, at) {
            return;
        }
        if let Some(reads) = self.reads(op, args) {
            self.check_flow(reads, at);
        }
        if let Some((n, lanes)) = uniform_operand(op, self.work.size) {
            self.check_index(args[n], lanes, at);
        }
        if matches!(op, LaneOp::Reduce { kind: ReduceKind::AllReduce, .. } | LaneOp::Vote { .. }) {
            self.reach(self.fact(args[0]), at);
        }
    }

    /// `None` for operations that read only active lanes or only their own.
    fn reads(&self, op: LaneOp, args: &[Value]) -> Option<Reads> {
        let (signature, constant) = (op.signature(), |n: usize| args.get(n).and_then(|arg| self.constant(*arg)));
        let width = match (op, signature.span) {
            (LaneOp::Shuffle(ShuffleMode::Xor), _) => {
                let lanes = constant(1).and_then(|mask| mask.checked_add(1)?.checked_next_power_of_two());
                lanes.and_then(|lanes| Width::new(u32::try_from(lanes).ok()?)).unwrap_or(Width::SUBGROUP)
            }
            // Where a part of the workgroup may not reach it, it is an error.
            (_, LaneSpan::Segment(Width::WORKGROUP)) => return None,
            (_, LaneSpan::Segment(width)) => width,
            (_, LaneSpan::Operand) => {
                let lanes = signature.position(Role::NvWidth).and_then(constant);
                lanes.and_then(|lanes| Width::new(u32::try_from(lanes).ok()?)).or(Width::new(32))?
            }
            (_, LaneSpan::Group(_)) => return None,
        };
        match signature.reads {
            lane::Reads::Active => None,
            lane::Reads::One => Some(Reads::One(width)),
            lane::Reads::All => Some(Reads::Segment(width)),
        }
    }

    /// Warns about a lane or a distance outside all subgroups, or outside the quad. Returns true if it did.
    fn check_bound(&mut self, op: LaneOp, args: &[Value], at: Span) -> bool {
        let signature = op.signature();
        let (Some(width), Some(n)) = (signature.bound, signature.position(Role::Index)) else { return false };
        let lanes = if width == Width::WORKGROUP { self.work.invocations() } else { width.lanes().or(self.work.lanes) };
        if width == Width::WORKGROUP && lanes.is_none() {
            return false;
        }
        let most = u64::from(lanes.unwrap_or(1 << self.work.size));
        let Some(index) = self.constant(args[n]).filter(|index| *index >= most) else { return false };
        let segment = match (width.lanes(), lanes) {
            (Some(_), _) => format!("a quad has {most} lanes"),
            _ if width == Width::WORKGROUP => format!("the workgroup has {most} invocations"),
            (None, Some(_)) => format!("a subgroup has {most} lanes"),
            (None, None) => format!("a subgroup has at most {most} lanes"),
        };
        let message = format!("this operation reads lanes that do not exist: {segment}");
        let what = match op {
            LaneOp::Shuffle(ShuffleMode::Xor) => "the mask",
            LaneOp::Shuffle(ShuffleMode::Up | ShuffleMode::Down) => "the distance",
            _ => "the lane",
        };
        let warning = Diagnostic::warning(Code::LANE_OUTSIDE, message).at(at, format!("{what} is {index}"));
        let warning = warning.note("the result is undefined in every lane");
        self.found.push(warning.help(format_args!("{what} must be below {most}")));
        true
    }

    fn check_flow(&mut self, reads: Reads, at: Span) {
        let (Reads::Segment(width) | Reads::One(width)) = reads;
        let bits = self.work.bits(width).min(self.work.size);
        if self.here() < bits {
            let message = "this cross-lane operation is in control flow that lanes take differently";
            let warning = Diagnostic::warning(Code::LANES_APART, message).at(at, "").note(self.needs(reads));
            let warning = with_cause(warning, self.cause(bits));
            let help = "run it before the lanes part, with its result in a variable";
            self.found.push(warning.help(help));
        } else if let Reads::Segment(width) = reads {
            self.check_fill(width, at);
        }
    }

    /// Warns of a barrier that some invocations of the workgroup can miss.
    fn check_barrier(&mut self, at: Span) {
        if self.here() >= Alike::GROUP || self.work.invocations() == Some(1) {
            return;
        }
        let message = "this barrier is in control flow that invocations of the workgroup take differently";
        let warning = Diagnostic::warning(Code::BARRIER_APART, message).at(at, "");
        let warning = warning.note("a barrier is defined only where all invocations of the workgroup reach it");
        let help = "move the barrier out of the control flow, and leave the rest of the work in it";
        self.found.push(with_cause(warning, self.cause(Alike::GROUP)).help(help));
    }

    /// The functions in terms of which an operation is defined.
    fn needs(&self, reads: Reads) -> String {
        let name = |width: Width| self.name(width);
        match reads {
            Reads::Segment(width) => format!("it is defined only where all lanes of its {} run it", name(width)),
            Reads::One(width) => {
                format!("it is defined only where the lane of its {} that it reads runs it too", name(width))
            }
        }
    }

    fn name(&self, width: Width) -> String {
        match width.lanes() {
            Some(lanes) => format!("segment of {lanes}"),
            None => "subgroup".to_string(),
        }
    }

    fn check_fill(&mut self, width: Width, at: Span) {
        let (Some(lanes), Some(invocations)) = (width.lanes().or(self.work.lanes), self.work.invocations()) else {
            return;
        };
        if invocations.is_multiple_of(lanes) {
            return;
        }
        let message = format!("the workgroup's {invocations} invocations do not fill segments of {lanes} lanes");
        let note = "the result is undefined in the last segment";
        let warning = Diagnostic::warning(Code::SEGMENT_NOT_FULL, message).at(at, "this operation").note(note);
        self.found.push(warning.help(format_args!("make the size of the workgroup a multiple of {lanes}")));
    }

    /// Warns about an index that differs between lanes that must share it.
    fn check_index(&mut self, index: Value, lanes: u8, at: Span) {
        let fact = self.fact(index);
        if !fact.varies || self.lanes(fact.alike) >= lanes || self.here() < lanes {
            return;
        }
        let message = "this operation takes one lane for all, and its index differs between lanes";
        let own = match index {
            Value::Inst(id) => self.function.insts[id].span,
            _ => Span::NONE,
        };
        let warning = Diagnostic::warning(Code::INDEX_VARIES, message).at(at, "");
        let warning = if own.is_none() || own == at { warning } else { warning.with(own, "this depends on the lane") };
        let warning = warning.note("its result is undefined");
        self.found.push(warning.help("a shuffle or `bpermute` takes an index for each lane"));
    }

    /// Warns if a value that only one lane of each segment has reaches memory, a branch or another reduction that the
    /// other lanes execute too.
    pub fn reach(&mut self, value: Fact, at: Span) {
        let Some(held) = value.held else { return };
        let bits = self.work.bits(held.width).min(self.work.size);
        let only_others = self.frames.iter().filter_map(|frame| frame.picks).any(|picks| misses(picks, held, bits));
        if !only_others && self.here() < bits {
            return;
        }
        let which = if held.is_low { "lowest" } else { "highest" };
        let segment = self.name(held.width);
        let message = format!("this uses the result of a reduction that only the {which} lane of its {segment} has");
        let label = if only_others { "another lane runs this" } else { "every lane runs this" };
        let warning = Diagnostic::warning(Code::RESULT_ELSEWHERE, message).at(at, label).with(held.at, "the reduction");
        let note = match held.is_low {
            true => {
                "use it where the lane's index in its segment is 0, or use a reduction that gives every lane the result"
            }
            false => "use it where `segmentLast` of the same width holds, or `allReduce` in place of `reduce`",
        };
        self.found.push(warning.help(note));
    }
}

/// Returns true if an instruction may need a warning in divergent control flow.
pub fn watches(op: Op) -> bool {
    match op {
        Op::Lane(op, _) => is_watched(op),
        Op::Barrier { execution: Some(scope), .. } => scope > Scope::Subgroup,
        _ => false,
    }
}

/// Returns true if an operation may need a warning, because of the lanes it reads or because only some lanes get its
/// result.
pub fn is_watched(op: LaneOp) -> bool {
    let signature = op.signature();
    let in_some = matches!(op, LaneOp::Reduce { kind: ReduceKind::Reduce | ReduceKind::ReduceLow, .. });
    in_some || signature.reads != lane::Reads::Active || signature.bound.is_some() || signature.uniform.is_some()
}

/// The operand that must be the same in groups of this many lanes, as a binary logarithm.
pub fn uniform_operand(op: LaneOp, size: u8) -> Option<(usize, u8)> {
    let signature = op.signature();
    let bits = signature.uniform?.lanes().map_or(size, |lanes| lanes.trailing_zeros() as u8);
    Some((signature.position(Role::Index)?, bits))
}

/// Returns true if the selected lanes certainly lack the reduction's result.
fn misses(picks: Picks, held: Held, bits: u8) -> bool {
    let known = (1_u8 << picks.bits.min(bits).min(7)) - 1;
    let holder = if held.is_low { 0 } else { known };
    picks.lane & known != holder
}

/// Adds the place where lanes diverge.
fn with_cause(warning: Diagnostic, cause: Cause) -> Diagnostic {
    let Cause { condition, leave } = cause;
    let differs = match leave {
        Some((Leave::Break, _)) => "lanes leave the loop in different rounds: this condition differs between lanes",
        _ => "lanes part here: this condition differs between lanes",
    };
    let warning = if condition.is_none() { warning } else { warning.with(condition, differs) };
    match leave {
        Some((how, at)) if !at.is_none() && at != condition => warning.with(at, left(how)),
        _ => warning,
    }
}

fn left(how: Leave) -> &'static str {
    match how {
        Leave::Return => "those that return here miss it",
        Leave::Break => "those that leave here miss it",
        Leave::Continue => "those that go on to the next round here miss it",
        Leave::Discard => "those that are discarded here miss it",
    }
}
