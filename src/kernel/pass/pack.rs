//! Closes the gaps that variables have left in the invocation's memory.
//!
//! Variables that share bytes keep doing so: they move together.

use crate::kernel::tree::Tree;
use crate::kernel::{Kernel, MemoryAccess, MemorySpace, Op, PrivateVariable};

/// Moves the variables that are accessed as far down as they go. Gives whether one moved.
pub fn run(kernel: &mut Kernel) -> bool {
    let insts = Tree::new(kernel).insts(kernel);
    let mut used = vec![false; kernel.private.len()];
    for inst in &insts {
        if let Some((variable, _)) = access(&mut kernel.insts[*inst].op) {
            match used.get_mut(variable as usize) {
                Some(used) => *used = true,
                None => return false,
            }
        }
    }
    let (moved, bytes) = moves(&kernel.private, &used);
    for inst in insts {
        if let Some((variable, access)) = access(&mut kernel.insts[inst].op) {
            access.offset -= moved[variable as usize];
        }
    }
    kernel.private.iter_mut().zip(&moved).for_each(|(variable, by)| variable.start -= by);
    std::mem::replace(&mut kernel.private_bytes, bytes) != bytes
}

/// The variable that an instruction accesses.
fn access(op: &mut Op) -> Option<(u32, &mut MemoryAccess)> {
    match op {
        Op::Load(access) | Op::Store(access) => match access.space {
            MemorySpace::Private(variable) => Some((variable, access)),
            _ => None,
        },
        _ => None,
    }
}

/// By how many bytes each variable moves, and the bytes that all need then. An access of a variable has at least the
/// variable's start as its offset, so that it can move along.
fn moves(variables: &[PrivateVariable], used: &[bool]) -> (Vec<u32>, u32) {
    let mut order: Vec<usize> = (0..variables.len()).filter(|at| used[*at]).collect();
    order.sort_by_key(|at| (variables[*at].start, *at));
    let mut moved = vec![0; variables.len()];
    let (mut rest, mut end) = (&order[..], 0);
    while let Some(first) = rest.first() {
        let cluster = cluster(variables, rest);
        let align = rest[..cluster.count].iter().map(|at| variables[*at].align.max(1)).max().unwrap_or(1);
        let by = (variables[*first].start - end) / align * align;
        rest[..cluster.count].iter().for_each(|at| moved[*at] = by);
        end = cluster.end - by;
        rest = &rest[cluster.count..];
    }
    (moved, end)
}

/// Variables that share bytes, at the beginning of a list.
struct Cluster {
    count: usize,
    end: u32,
}

fn cluster(variables: &[PrivateVariable], order: &[usize]) -> Cluster {
    let mut end = 0;
    let shares = |at: &&usize| {
        let shares = end == 0 || variables[**at].start < end;
        if shares {
            end = end.max(variables[**at].end());
        }
        shares
    };
    let count = order.iter().take_while(shares).count();
    Cluster { count, end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(start: u32, bytes: u32) -> PrivateVariable {
        PrivateVariable { start, bytes, align: 8 }
    }

    #[test]
    fn gaps_close_and_shared_bytes_stay_shared() {
        let all = [variable(0, 12), variable(16, 24), variable(40, 8), variable(40, 32), variable(48, 40)];
        assert_eq!(moves(&all, &[false, true, false, true, true]), (vec![0, 16, 0, 16, 16], 72));
        assert_eq!(moves(&all, &[true, false, true, false, true]), (vec![0, 0, 24, 0, 24], 64));
        assert_eq!(moves(&all, &[false; 5]).1, 0);
    }
}
