//! Vectorizes memory accesses: joins loads, and stores, of neighbouring words into one access of up to four words.
//!
//! Loads move up to the first of them and stores down to the last one, within a block, and never past an instruction
//! that may touch the same memory. A store that touches no byte of the loads before it leaves their group open; a later
//! load of the stored bytes starts a new group. [`Joins`] selects the accesses to join: if hardware moves several words
//! from any word address, alignment does not matter; otherwise it follows from the known bits of the address. Private
//! memory and coherent or volatile accesses are not joined.

use super::memory::{Kind, kind, written};
use super::range::Ranges;
use crate::kernel::names::Names;
use crate::kernel::tree::Tree;
use crate::kernel::{BlockId, InstId, Kernel, MemoryAccess, MemorySpace, Op, Value};
use crate::profile::Joins;
use rustc_hash::FxHashMap;

/// Limit of the open groups, so that the search takes constant time.
const OPEN: usize = 16;

/// Limit of the accesses in a group, and of the stores that it stays open past.
const MEMBERS: usize = 32;

/// Bytes of an access.
const WIDEST: u64 = 16;

/// Joins accesses. Returns true if there were some.
pub fn run(kernel: &mut Kernel, joins: Joins) -> bool {
    let mut names = Names::default();
    let mut changed = false;
    let tree = Tree::new(kernel);
    let ranges = match joins {
        Joins::Words => Ranges::new(kernel),
        Joins::Aligned => learnt(kernel, &tree),
    };
    for block in tree.blocks {
        let groups = groups(kernel, block);
        let joined: Vec<Joined> = groups.into_iter().flat_map(|group| cut(kernel, group, joins, &ranges)).collect();
        changed |= !joined.is_empty();
        rewrite(kernel, block, joined, &mut names);
    }
    names.apply_all(kernel);
    changed
}

/// The ranges of all results.
fn learnt(kernel: &Kernel, tree: &Tree) -> Ranges {
    let mut ranges = Ranges::new(kernel);
    for inst in tree.insts(kernel) {
        if let Some(result) = kernel.result(inst) {
            ranges.learn(kernel, &kernel.insts[inst].op, kernel.args(inst), result);
        }
    }
    ranges
}

/// The largest power of two, up to [`WIDEST`], that divides the address of an access. Every memory except pointers'
/// starts at a multiple of it.
fn alignment(kernel: &Kernel, ranges: &Ranges, inst: InstId) -> u64 {
    let Some((access, _)) = joinable(kernel, inst) else { return 1 };
    let zeros = ranges.of(kernel, kernel.args(inst)[0]).zeros().min(access.offset.trailing_zeros());
    let known = if access.space == MemorySpace::Physical { 0 } else { zeros };
    u64::from(access.align).max(1 << known.min(WIDEST.trailing_zeros()))
}

/// Accesses at one address with different offsets, and nothing between them that may touch the same memory.
struct Group {
    is_store: bool,
    space: MemorySpace,
    kind: Kind,
    address: Value,
    bytes: u8,
    /// In text order.
    members: Vec<InstId>,
    /// The bytes, relative to the address, that stores between the members wrote: no load of them may move up to the
    /// first member.
    overwritten: Vec<(u64, u64)>,
}

/// Accesses that become one.
struct Joined {
    /// In the order of their offsets.
    members: Vec<InstId>,
    /// The access that it replaces.
    place: InstId,
    /// The known alignment.
    align: u32,
}

/// The access of a load or a store that can be joined with others.
fn joinable(kernel: &Kernel, inst: InstId) -> Option<(MemoryAccess, bool)> {
    let (access, is_store) = match kernel.insts[inst].op {
        Op::Load(access) => (access, false),
        Op::Store(access) => (access, true),
        _ => return None,
    };
    let is_private = matches!(access.space, MemorySpace::Private(_));
    let is_plain = !access.coherent && !access.volatile && access.bytes >= 4 && !is_private;
    is_plain.then_some((access, is_store))
}

fn groups(kernel: &Kernel, block: BlockId) -> Vec<Group> {
    let (mut open, mut done) = (Vec::new(), Vec::new());
    for inst in &kernel.blocks[block].insts {
        close(kernel, *inst, &mut open, &mut done);
        overwrite(kernel, *inst, &mut open);
        if let Some((access, is_store)) = joinable(kernel, *inst) {
            add(kernel, *inst, access, is_store, &mut open, &mut done);
        }
    }
    done.append(&mut open);
    done.retain(|group| group.members.len() > 1);
    done
}

/// Closes the groups that cannot grow past an instruction.
fn close(kernel: &Kernel, inst: InstId, open: &mut Vec<Group>, done: &mut Vec<Group>) {
    let op = kernel.insts[inst].op;
    let is_sync = matches!(op, Op::Prim { primitive, .. } if primitive.is_sync());
    let changes = written(kernel, &op);
    let closes = |group: &Group| match op {
        // It touches no memory, and the same lanes continue after it.
        Op::Whole { .. } => false,
        _ if op.is_structured() || is_sync => true,
        Op::Load(access) => {
            group.is_store && group.kind == kind(kernel, access.space) && !is_apart(kernel, inst, group)
        }
        Op::Store(_) => {
            changes.has(group.kind) && (group.overwritten.len() == MEMBERS || !is_apart(kernel, inst, group))
        }
        _ => changes.has(group.kind),
    };
    for at in (0..open.len()).rev() {
        if closes(&open[at]) {
            done.push(open.remove(at));
        }
    }
}

/// Records the bytes that a store writes in the groups of loads that stay open past it.
fn overwrite(kernel: &Kernel, inst: InstId, open: &mut [Group]) {
    let Op::Store(access) = kernel.insts[inst].op else { return };
    let kind = kind(kernel, access.space);
    for group in open.iter_mut().filter(|group| !group.is_store && group.kind == kind) {
        group.overwritten.push(extent(access));
    }
}

/// Returns true if an access shares no byte with a group's accesses.
fn is_apart(kernel: &Kernel, inst: InstId, group: &Group) -> bool {
    let Some((access, _)) = joinable(kernel, inst) else { return false };
    let same = access.space == group.space && kernel.args(inst)[0] == group.address;
    let is_beside =
        |member: &InstId| joinable(kernel, *member).is_some_and(|(other, _)| are_apart(extent(access), extent(other)));
    same && group.members.iter().all(is_beside)
}

/// Returns true if two half-open ranges of bytes are disjoint.
fn are_apart(a: (u64, u64), b: (u64, u64)) -> bool {
    a.1 <= b.0 || b.1 <= a.0
}

/// The half-open byte range of an access, relative to its address.
fn extent(access: MemoryAccess) -> (u64, u64) {
    let start = u64::from(access.offset);
    (start, start + u64::from(access.bytes) * u64::from(access.components))
}

fn add(
    kernel: &Kernel,
    inst: InstId,
    access: MemoryAccess,
    is_store: bool,
    open: &mut Vec<Group>,
    done: &mut Vec<Group>,
) {
    let address = kernel.args(inst)[0];
    let wanted = (is_store, access.space, address, access.bytes);
    let may_join = |group: &Group| {
        group.members.len() < MEMBERS && group.overwritten.iter().all(|bytes| are_apart(*bytes, extent(access)))
    };
    let found = open
        .iter_mut()
        .find(|group| (group.is_store, group.space, group.address, group.bytes) == wanted && may_join(group));
    if let Some(group) = found {
        return group.members.push(inst);
    }
    if open.len() == OPEN {
        done.push(open.remove(0));
    }
    let kind = kind(kernel, access.space);
    open.push(Group {
        is_store,
        space: access.space,
        kind,
        address,
        bytes: access.bytes,
        members: vec![inst],
        overwritten: Vec::new(),
    });
}

/// The consecutive members of a group, in pieces of the largest size that fits.
fn cut(kernel: &Kernel, group: Group, joins: Joins, ranges: &Ranges) -> Vec<Joined> {
    let place_of = |inst: &InstId| joinable(kernel, *inst).map_or((0, 0), |(access, _)| extent(access));
    let mut sorted = group.members.clone();
    sorted.sort_by_key(place_of);
    let mut joined = Vec::new();
    let mut rest = &sorted[..];
    while let [first, ..] = rest {
        let align = alignment(kernel, ranges, *first);
        let most = match joins {
            Joins::Words => following(rest, place_of, |bytes| bytes <= WIDEST),
            Joins::Aligned => following(rest, place_of, |bytes| matches!(bytes, 8 | 16) && bytes <= align),
        };
        let (members, others) = rest.split_at(most);
        let first = joinable(kernel, *first).map_or(0, |(access, _)| access.align);
        let fits = joins == Joins::Aligned || group.space != MemorySpace::Shared || first >= 8;
        if members.len() > 1 && fits {
            let align = if joins == Joins::Aligned { align as u32 } else { first };
            joined.extend(place(&group, members.to_vec(), align));
        }
        rest = others;
    }
    joined
}

/// The number of accesses from the first of a list on that are adjacent: the most that together have an allowed size,
/// or 1.
fn following(list: &[InstId], place_of: impl Fn(&InstId) -> (u64, u64), is_allowed: impl Fn(u64) -> bool) -> usize {
    let (start, mut end) = place_of(&list[0]);
    let mut most = 1;
    for (n, inst) in list.iter().enumerate().skip(1) {
        let (next, after) = place_of(inst);
        if next != end || after - start > WIDEST {
            break;
        }
        end = after;
        if is_allowed(end - start) {
            most = n + 1;
        }
    }
    most
}

fn place(group: &Group, members: Vec<InstId>, align: u32) -> Option<Joined> {
    let is_member = |inst: &&InstId| members.contains(inst);
    let place = match group.is_store {
        true => group.members.iter().rfind(is_member),
        false => group.members.iter().find(is_member),
    };
    place.copied().map(|place| Joined { members, place, align })
}

/// Puts joined accesses into the places of their members.
fn rewrite(kernel: &mut Kernel, block: BlockId, joined: Vec<Joined>, names: &mut Names) {
    let mut gone: FxHashMap<InstId, Option<InstId>> = FxHashMap::default();
    for Joined { members, place, align } in joined {
        let made = make(kernel, &members, place, align, names);
        gone.extend(members.into_iter().map(|member| (member, (member == place).then_some(made))));
    }
    let insts = &mut kernel.blocks[block].insts;
    *insts = insts.drain(..).filter_map(|inst| gone.get(&inst).copied().unwrap_or(Some(inst))).collect();
}

/// The access that covers all members.
fn make(kernel: &mut Kernel, members: &[InstId], place: InstId, align: u32, names: &mut Names) -> InstId {
    let (flags, span) = (kernel.insts[place].flags, kernel.insts[place].span);
    let accesses = members.iter().filter_map(|member| joinable(kernel, *member));
    let components = accesses.map(|(access, _)| access.components).sum();
    let mut args = vec![kernel.args(place)[0]];
    let results: Vec<Value> = members.iter().flat_map(|member| kernel.results(*member)).collect();
    let types: Vec<_> = results.iter().map(|result| kernel.ty(*result)).collect();
    members.iter().for_each(|member| args.extend(&kernel.args(*member)[1..]));
    let op = match kernel.insts[members[0]].op {
        Op::Load(first) => Op::Load(MemoryAccess { components, align, ..first }),
        Op::Store(first) => Op::Store(MemoryAccess { components, align, ..first }),
        other => other,
    };
    let made = kernel.add_inst(op, &args, &types, flags, span);
    names.replace_all(results, kernel.results(made));
    made
}
