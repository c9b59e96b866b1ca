//! Closes the gaps that promoted variables leave in private memory.
//!
//! Variables that share bytes move together. A variable moves by a multiple of its alignment and of the alignment that
//! its accesses assume, so that the assumptions stay true.

use crate::kernel::tree::Tree;
use crate::kernel::{Kernel, MemoryAccess, MemorySpace, Op, PrivateVariable};

/// Moves the accessed variables down as far as possible. Returns true if any moved.
pub fn run(kernel: &mut Kernel) -> bool {
    let insts = Tree::new(kernel).insts(kernel);
    let mut claimed = vec![0; kernel.private.len()];
    for inst in &insts {
        if let Some((variable, access)) = access(&mut kernel.insts[*inst].op) {
            match claimed.get_mut(variable as usize) {
                Some(claimed) => *claimed = access.align.max(*claimed).max(1),
                None => return false,
            }
        }
    }
    let (moved, bytes) = moves(&kernel.private, &claimed);
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

/// The number of bytes that each variable moves by, and the total size then. `claimed` is the largest alignment that an
/// access of each variable assumes, 0 for a variable without accesses. An access has at least the variable's start as
/// its offset, so it can move along.
fn moves(variables: &[PrivateVariable], claimed: &[u32]) -> (Vec<u32>, u32) {
    let mut order: Vec<usize> = (0..variables.len()).filter(|at| claimed[*at] > 0).collect();
    order.sort_by_key(|at| (variables[*at].start, *at));
    let mut moved = vec![0; variables.len()];
    let (mut rest, mut end) = (&order[..], 0);
    while let Some(first) = rest.first() {
        let cluster = cluster(variables, rest);
        let aligns = rest[..cluster.count].iter().map(|at| variables[*at].align.max(claimed[*at]));
        let align = aligns.max().unwrap_or(1);
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
        assert_eq!(moves(&all, &[0, 8, 0, 8, 8]), (vec![0, 16, 0, 16, 16], 72));
        assert_eq!(moves(&all, &[8, 0, 8, 0, 8]), (vec![0, 0, 24, 0, 24], 64));
        assert_eq!(moves(&all, &[0; 5]).1, 0);
    }

    #[test]
    fn accesses_stay_as_aligned_as_they_claim() {
        let all = [variable(0, 12), variable(16, 16), variable(32, 8), variable(40, 32)];
        assert_eq!(moves(&all, &[4, 0, 4, 16]), (vec![0, 0, 16, 16], 56));
        assert_eq!(moves(&all, &[0, 0, 32, 4]), (vec![0, 0, 32, 32], 40));
    }
}
