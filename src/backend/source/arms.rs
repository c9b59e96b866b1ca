//! Switches for languages without fall-through, or whose arms cannot continue a loop.

use super::exits::Around;
use super::expr::{Expr, Level};
use super::function::Body;
use super::tree::{Arm, Kind, Stmt};
use crate::ir::flow::DeadEnds;
use crate::ir::{BlockId, Case, Op, Scalar, ScalarKind, Types};

/// Limit of the instructions that are copied into arms because of fall-through.
const MOST_COPIES: usize = 64;

/// A switch written as a loop that runs once.
#[derive(Debug)]
pub(super) struct Chain {
    /// The length of `around` inside the switch.
    depth: usize,
    /// The flag that is set if an arm continues the enclosing loop.
    continues: Option<String>,
}

/// The labels of an arm.
pub(super) fn labels_of(arm: &Case, scalar: Scalar) -> Vec<String> {
    let label = |value: &u64| match scalar.kind {
        ScalarKind::Sint => format!("case {}", *value as i32),
        _ => format!("case {}u", *value as u32),
    };
    arm.values.iter().map(label).chain(arm.default.then(|| Arm::DEFAULT.to_string())).collect()
}

impl Body<'_, '_> {
    /// Writes a switch in which each case contains copies of the cases that it falls into.
    pub fn parted_switch(&mut self, selector: String, (value, scalar): (Expr, Scalar), arms: &[Case]) {
        let ends = DeadEnds::of(self.f);
        let goes_on = !self.t.language.continues_from_switches() && arms.iter().any(|arm| self.continues(arm.body));
        if goes_on || (1..arms.len()).any(|at| arms[at - 1].falls_through && self.sees_others(arms[at].body)) {
            return self.chain(&value, scalar, arms, &ends);
        }
        self.around.push(Around::Switch);
        let mut made = Vec::new();
        for (at, arm) in arms.iter().enumerate() {
            let labels = labels_of(arm, scalar);
            if !labels.is_empty() {
                let mut body = self.arm_with_next(&arms[at..], &ends);
                self.end_arm(&mut body);
                made.push(Arm { labels, body, falls: false });
            }
        }
        self.around.pop();
        if !arms.iter().any(|arm| arm.default) {
            let mut body = Vec::new();
            self.end_arm(&mut body);
            made.push(Arm { labels: vec![Arm::DEFAULT.to_string()], body, falls: false });
        }
        self.push(Kind::Switch { selector, arms: made, hint: "" });
    }

    /// Ends an arm of a switch as the language does.
    fn end_arm(&self, body: &mut Vec<Stmt>) {
        let end = self.t.language.syntax().arm_end.filter(|_| !body.last().is_some_and(Stmt::jumps));
        body.extend(end.map(|end| Stmt::new(self.origin, Kind::Line(end.to_string()))));
    }

    /// The code of the first arm, followed by copies of the arms that it falls into.
    fn arm_with_next(&mut self, arms: &[Case], ends: &DeadEnds) -> Vec<Stmt> {
        let falling = arms.iter().take_while(|arm| arm.falls_through).count();
        if falling > MOST_COPIES {
            self.t.unsupported("switches in which so many arms fall through");
            return Vec::new();
        }
        let mut code = Vec::new();
        for arm in arms {
            code.extend(self.block_of(arm.body));
            if !arm.falls_through || ends.has_block(arm.body) {
                break;
            }
        }
        let leaves = |stmt: &Stmt| matches!(&stmt.kind, Kind::Line(text) if text == "break;");
        if code.last().is_some_and(leaves) {
            code.pop();
        }
        code
    }

    /// Returns true if a block contains operations that depend on which invocations run it.
    fn sees_others(&self, block: BlockId) -> bool {
        let f = self.f;
        crate::limits::spend(f.blocks[block].insts.len());
        f.blocks[block].insts.iter().any(|id| match f.insts[*id].op {
            Op::Lane(..) | Op::Call(..) | Op::Barrier { .. } | Op::Image { .. } => true,
            Op::Math(function, _) => function.is_derivative(),
            op => f.inner_blocks(op).into_iter().any(|inner| self.sees_others(inner)),
        })
    }

    /// A switch as a loop that runs once: each arm runs together in the invocations that its labels select and in the
    /// invocations that fall into it.
    fn chain(&mut self, selector: &Expr, scalar: Scalar, arms: &[Case], ends: &DeadEnds) {
        let ty = self.t.types.scalar(scalar);
        // The arms may change the variables in it.
        let selector = match selector.is_plain() && selector.reads.is_empty() {
            true => selector.clone(),
            false => self.name("selector", ty, selector),
        };
        let runs = self.changing("runs", Types::BOOL, &Expr::primary("false"));
        self.around.push(Around::Loop);
        self.chains.push(Chain { depth: self.around.len(), continues: None });
        let body = self.within(|b| {
            for arm in arms {
                let chosen = b.chooses(&selector, scalar, arms, arm);
                let value = match chosen {
                    Some(chosen) => Expr::binary("||", Level::LogicalOr, &runs, &chosen).text,
                    None => "true".to_string(),
                };
                b.line(format!("{} = {value}", runs.text));
                let mut then = b.block_of(arm.body);
                if !arm.falls_through && !ends.has_block(arm.body) {
                    then.push(Stmt::new(b.origin, Kind::Line("break;".to_string())));
                }
                b.push(Kind::If { condition: runs.clone(), then, otherwise: Vec::new(), hint: "" });
            }
            b.line("break".to_string());
        });
        let continues = self.chains.pop().and_then(|chain| chain.continues);
        self.around.pop();
        if let Some(flag) = &continues {
            let value = Expr::primary("false");
            self.push(Kind::Define(super::tree::Declared {
                ty: "bool".to_string(),
                name: flag.clone(),
                dims: String::new(),
                value: Some(value.text),
                is_fixed: false,
            }));
        }
        self.push(Kind::For { first: None, condition: None, steps: Vec::new(), body, hint: "" });
        if let Some(flag) = continues {
            let then = self.within(Self::go_on);
            self.push(Kind::If { condition: Expr::primary(flag), then, otherwise: Vec::new(), hint: "" });
        }
    }

    /// The condition under which the labels of an arm select it; `None` if they always do.
    fn chooses(&mut self, selector: &Expr, scalar: Scalar, arms: &[Case], arm: &Case) -> Option<Expr> {
        let (op, level, join) =
            if arm.default { ("!=", Level::LogicalAnd, "&&") } else { ("==", Level::LogicalOr, "||") };
        let labels: Vec<u64> = match arm.default {
            false => arm.values.clone(),
            true => arms.iter().filter(|other| !other.default).flat_map(|other| other.values.clone()).collect(),
        };
        labels.into_iter().fold(None, |chosen, label| {
            let label = self.t.literal(scalar, label);
            let test = Expr::binary(op, Level::Equality, selector, &label);
            Some(chosen.map_or(test.clone(), |before| Expr::binary(join, level, &before, &test)))
        })
    }

    /// Goes on with the next iteration of the innermost loop of the source.
    pub fn go_on(&mut self) {
        let Some(Chain { depth, continues }) = self.chains.last() else { return self.line("continue".to_string()) };
        let inside = self.around.get(*depth..).unwrap_or_default();
        if inside.contains(&Around::Loop) {
            return self.line("continue".to_string());
        }
        if inside.contains(&Around::Switch) {
            return self.t.unsupported("`continue` in a switch in an arm that another falls into");
        }
        let flag = match continues {
            Some(known) => known.clone(),
            None => self.named("continues"),
        };
        if let Some(chain) = self.chains.last_mut() {
            chain.continues = Some(flag.clone());
        }
        self.line(format!("{flag} = true"));
        self.line("break".to_string());
    }
}
