//! Rotates loops: if a loop starts with a short test, its end repeats the test instead of jumping back to it. An
//! iteration then has one branch instead of two.

use super::combine::is_own;
use super::machine::{Block, Code, Function, Inst, Label, Operand};
use super::mnemonic::Operation;
use super::tidy::{opposite, target};

/// Maximum number of instructions of a repeated test, without its branch.
const LONGEST: usize = 6;

/// A test at the start of a loop, to be repeated at its end.
struct Test {
    /// With a branch back into the loop.
    insts: Vec<Inst>,
    exit: Label,
}

/// Repeats the tests of loops at their ends. Returns true if any was repeated.
pub fn rotate(function: &mut Function) -> bool {
    let positions = function.positions();
    let tests: Vec<Option<Test>> = (0..function.blocks.len()).map(|at| test(function, &positions, at)).collect();
    let changes = tests.iter().any(Option::is_some);
    let mut labels = positions.len() as u32;
    let mut blocks = std::mem::take(&mut function.blocks).into_iter().peekable();
    for test in tests {
        let Some(mut block) = blocks.next() else { break };
        let next = blocks.peek().map(|next| next.label);
        let exit = test.map(|test| {
            block.insts.pop();
            block.insts.extend(test.insts);
            test.exit
        });
        function.blocks.push(block);
        if let Some(exit) = exit.filter(|exit| next != Some(*exit)) {
            let jump = Inst::real(Operation::Branch, &[], &[Operand::Label(exit)]);
            function.blocks.push(Block { label: Label(labels), insts: vec![jump] });
            labels += 1;
        }
    }
    changes
}

/// The test that a block leads back to by a jump. That of a cross-lane operation is written once.
fn test(function: &Function, positions: &[usize], at: usize) -> Option<Test> {
    let (jump, before) = function.blocks[at].insts.split_last()?;
    let first = positions[target(jump).filter(|_| jump.operation() == Some(Operation::Branch))?.0 as usize];
    if first >= at || before.last().is_some_and(ends_block) {
        return None;
    }
    let (branch, test) = function.blocks[first].insts.split_last()?;
    let is_short = test.len() <= LONGEST && test.iter().all(|inst| is_own(inst) && !ends_block(inst));
    if !is_short || !is_own(branch) {
        return None;
    }
    let (back, exit) = (opposite(Some(branch))?, target(branch)?);
    let body = function.blocks[first + 1].label;
    let mut insts = test.to_vec();
    insts.push(Inst { code: Code::Real(back), uses: [Operand::Label(body)].into_iter().collect(), ..branch.clone() });
    Some(Test { insts, exit })
}

fn ends_block(inst: &Inst) -> bool {
    inst.operation().is_some_and(Operation::ends_block)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn work() -> Inst {
        Inst::real(Operation::Nop, &[], &[Operand::Constant(0)])
    }

    fn branch(operation: Operation, to: u32) -> Inst {
        Inst::real(operation, &[], &[Operand::Label(Label(to))])
    }

    fn function(blocks: &[(u32, &[Inst])]) -> Function {
        let block = |(label, insts): &(u32, &[Inst])| Block { label: Label(*label), insts: insts.to_vec() };
        Function { blocks: blocks.iter().map(block).collect(), ..Function::default() }
    }

    /// A loop with a test of this length, followed by the block `next`.
    fn counted(test: usize, next: u32) -> Function {
        let mut head = vec![work(); test];
        head.push(branch(Operation::BranchScc0, 3));
        let end = [Inst::real(Operation::End, &[], &[])];
        let body = [work(), work(), branch(Operation::Branch, 1)];
        let (after, other) = if next == 3 { (3, 4) } else { (4, 3) };
        function(&[(0, &[work()]), (1, &head), (2, &body), (after, &end), (other, &end)])
    }

    #[test]
    fn the_end_of_a_loop_repeats_its_test() {
        let mut function = counted(1, 3);
        assert!(rotate(&mut function));
        let body = &function.blocks[2].insts;
        assert_eq!(body[..], [work(), work(), work(), branch(Operation::BranchScc1, 2)]);
        assert_eq!(function.blocks.len(), 5);
    }

    #[test]
    fn a_loop_that_leads_elsewhere_jumps_there() {
        let mut function = counted(1, 4);
        assert!(rotate(&mut function));
        let [jump, next] = &function.blocks[3..5] else { panic!("{:?}", function.blocks) };
        assert_eq!((jump.label, &jump.insts[..]), (Label(5), &[branch(Operation::Branch, 3)][..]));
        assert_eq!(next.label, Label(4));
    }

    #[test]
    fn long_tests_and_cross_lane_operations_are_written_once() {
        assert!(!rotate(&mut counted(LONGEST + 1, 3)));
        let mut function = counted(1, 3);
        function.blocks[1].insts[0].is_lane = true;
        assert!(!rotate(&mut function));
    }

    #[test]
    fn jumps_ahead_stay() {
        let test = [work(), branch(Operation::BranchScc0, 3)];
        let end = [Inst::real(Operation::End, &[], &[])];
        let ahead = [branch(Operation::Branch, 1)];
        assert!(!rotate(&mut function(&[(0, &ahead), (1, &test), (2, &end), (3, &end)])));
    }
}
