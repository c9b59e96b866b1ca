//! Waits of small functions, written as a listing has them.

mod random;

use super::*;
use crate::backend::amd::machine::{Block, File, Label, Reach, RegisterRange};
use crate::backend::amd::mnemonic::Operation as O;
use crate::profile::Profile;

fn arch(profile: &str) -> Arch {
    Arch::of(&Profile::all().find(|known| *known.name == *profile).expect("it is embedded")).expect("it is AMD's")
}

fn v(first: u16) -> Operand {
    Operand::Hardware(RegisterRange { file: File::Vector, first, count: 1 })
}

fn s(first: u16) -> Operand {
    Operand::Hardware(RegisterRange { file: File::Scalar, first, count: 1 })
}

fn memory(prefix: &'static str, operation: O, defs: &[Operand], uses: &[Operand]) -> Inst {
    let mut inst = Inst::real(operation, defs, uses);
    inst.modifiers.prefix = prefix;
    inst
}

fn load(to: u16) -> Inst {
    memory("global_", O::Load32, &[v(to)], &[v(30), s(2)])
}

fn store(data: u16) -> Inst {
    memory("global_", O::Store32, &[], &[v(30), v(data), s(2)])
}

fn swizzle(to: u16) -> Inst {
    Inst::real(O::Swizzle, &[v(to)], &[v(31)])
}

fn scalar_load(to: u16) -> Inst {
    Inst::real(O::LoadScalar32, &[s(to)], &[s(0), Operand::Constant(0)])
}

fn read(from: Operand) -> Inst {
    Inst::real(O::Move, &[v(60)], &[from])
}

fn fence(buffers: bool, shared: bool, reach: Option<Reach>) -> Inst {
    Inst::new(Code::Pseudo(Pseudo::Fence(Fence { buffers, shared, release: reach, acquire: reach })), &[], &[])
}

/// The waits and cache controls in blocks with the labels 0, 1 and so on.
fn waits(profile: &str, blocks: Vec<Vec<Inst>>) -> Vec<Vec<String>> {
    let arch = arch(profile);
    let known: Vec<Inst> = blocks.concat();
    let blocks = (0..).zip(blocks).map(|(label, insts)| Block { label: Label(label), insts }).collect();
    let mut function = Function { blocks, ..Function::default() };
    insert(&mut function, &arch);
    let of_block = |block: Block| {
        let new = block.insts.into_iter().filter(|inst| !known.contains(inst));
        new.map(|inst| written(&inst, &arch)).collect()
    };
    function.blocks.into_iter().map(of_block).collect()
}

fn one(profile: &str, insts: Vec<Inst>) -> Vec<String> {
    waits(profile, vec![insts]).remove(0)
}

fn written(inst: &Inst, arch: &Arch) -> String {
    let operation = inst.operation().expect("pseudo instructions are gone");
    let mut text = operation.spelling(arch.generation).expect("it exists").name.to_owned();
    for operand in &inst.uses {
        text += &match operand {
            Operand::Field(field, count) => format!(" {field}({count})"),
            Operand::Constant(number) => format!(" {number:#x}"),
            Operand::Special(Special::Null) => " null,".to_owned(),
            other => panic!("{other:?} in a wait"),
        };
    }
    text
}

#[test]
fn loads_in_order_are_counted() {
    let insts = || vec![load(1), load(2), load(3), read(v(1)), read(v(3)), read(v(2))];
    for profile in ["gfx600", "gfx900", "gfx942", "gfx1030-wave32", "gfx1100-wave64"] {
        assert_eq!(one(profile, insts()), ["s_waitcnt vmcnt(2)", "s_waitcnt vmcnt(0)"], "{profile}");
    }
    assert_eq!(one("gfx1200-wave32", insts()), ["s_wait_loadcnt 0x2", "s_wait_loadcnt 0x0"]);
}

#[test]
fn stores_count_where_they_share_the_counter() {
    let insts = || vec![load(1), store(5), read(v(1))];
    assert_eq!(one("gfx900", insts()), ["s_waitcnt vmcnt(1)"]);
    assert_eq!(one("gfx1030-wave32", insts()), ["s_waitcnt vmcnt(0)"]);
}

#[test]
fn what_is_under_way_is_not_overwritten() {
    assert_eq!(one("gfx900", vec![load(60), read(v(5))]), ["s_waitcnt vmcnt(0)"]);
    assert_eq!(one("gfx900", vec![swizzle(60), read(v(5))]), ["s_waitcnt lgkmcnt(0)"]);
}

#[test]
fn scalar_loads_come_in_any_order() {
    let insts = || vec![scalar_load(4), scalar_load(5), read(s(4))];
    assert_eq!(one("gfx900", insts()), ["s_waitcnt lgkmcnt(0)"]);
    assert_eq!(one("gfx1201-wave64", insts()), ["s_wait_kmcnt 0x0"]);
    // If both share a counter, so do accesses to workgroup memory.
    let mixed = || vec![swizzle(1), swizzle(2), scalar_load(4), read(v(1))];
    assert_eq!(one("gfx900", mixed()), ["s_waitcnt lgkmcnt(0)"]);
    assert_eq!(one("gfx1201-wave64", mixed()), ["s_wait_dscnt 0x1"]);
    assert_eq!(one("gfx900", vec![swizzle(1), swizzle(2), read(v(1))]), ["s_waitcnt lgkmcnt(1)"]);
}

#[test]
fn stores_wait_for_scalar_loads() {
    assert_eq!(one("gfx900", vec![scalar_load(4), store(1)]), ["s_waitcnt lgkmcnt(0)"]);
    assert_eq!(one("gfx1201-wave64", vec![scalar_load(4), store(1)]), ["s_wait_kmcnt 0x0"]);
}

#[test]
fn flat_accesses_are_counted_with_workgroup_memory_too() {
    let flat = |to| memory("flat_", O::Load32, &[v(to)], &[v(30)]);
    assert_eq!(one("gfx803", vec![flat(1), flat(2), read(v(1))]), ["s_waitcnt vmcnt(1)"]);
    assert_eq!(one("gfx803", vec![swizzle(5), swizzle(1), flat(2), read(v(5))]), ["s_waitcnt lgkmcnt(0)"]);
}

#[test]
fn gfx6_reads_stored_data_late() {
    let overwrite = || Inst::real(O::Move, &[v(5)], &[v(6)]);
    assert_eq!(one("gfx600", vec![store(5), overwrite()]), ["s_waitcnt expcnt(0)"]);
    assert_eq!(one("gfx600", vec![store(5), read(v(5))]), [] as [&str; 0]);
    assert_eq!(one("gfx701", vec![store(5), overwrite()]), [] as [&str; 0]);
    // An atomic's data register receives the result, so it does not stay busy as store data.
    let mut atomic = memory("buffer_", O::AtomicAdd, &[v(7)], &[v(5), s(4), Operand::Constant(0)]);
    (atomic.keeps, atomic.modifiers.returns) = (true, true);
    assert_eq!(one("gfx600", vec![atomic, overwrite(), read(v(7))]), ["s_waitcnt vmcnt(0)"]);
}

#[test]
fn two_counters_in_one_instruction() {
    let both = || Inst::real(O::AddU32, &[v(60)], &[v(1), v(2)]);
    assert_eq!(one("gfx900", vec![load(1), swizzle(2), both()]), ["s_waitcnt vmcnt(0) lgkmcnt(0)"]);
    let many = vec![load(1), load(3), swizzle(2), both()];
    assert_eq!(one("gfx1200-wave32", many), ["s_wait_loadcnt_dscnt 0x100"]);
}

#[test]
fn long_queues_stop_at_the_largest_count() {
    let insts: Vec<Inst> = (100..140).map(load).chain([read(v(100))]).collect();
    assert_eq!(one("gfx803", insts.clone()), ["s_waitcnt vmcnt(14)"]);
    assert_eq!(one("gfx900", insts), ["s_waitcnt vmcnt(39)"]);
}

#[test]
fn fences_wait_and_control_caches() {
    let insts = |fence| vec![load(1), store(5), swizzle(2), fence, read(v(9))];
    let none = [] as [&str; 0];
    assert_eq!(one("gfx900", insts(fence(false, true, None))), ["s_waitcnt lgkmcnt(0)"]);
    assert_eq!(one("gfx900", insts(fence(true, false, None))), ["s_waitcnt vmcnt(0)"]);
    assert_eq!(one("gfx900", vec![fence(true, true, None)]), none);
    let device = Some(Reach::Device);
    assert_eq!(one("gfx900", insts(fence(true, false, device))), ["s_waitcnt vmcnt(0)", "buffer_wbinvl1_vol"]);
    assert_eq!(
        one("gfx942", insts(fence(true, false, device))),
        ["buffer_wbl2 sc1", "s_waitcnt vmcnt(0)", "buffer_inv sc1"]
    );
    assert_eq!(
        one("gfx1030-wave32", insts(fence(true, false, Some(Reach::Workgroup)))),
        ["s_waitcnt vmcnt(0)", "s_waitcnt_vscnt null, 0x0", "buffer_gl0_inv"]
    );
    assert_eq!(
        one("gfx1200-wave32", insts(fence(true, true, device))),
        ["s_wait_loadcnt_dscnt 0x0", "s_wait_storecnt 0x0", "global_inv scope:SCOPE_DEV"]
    );
}

#[test]
fn what_releases_writes_back_and_what_acquires_invalidates() {
    let insts = |release, acquire| {
        let fence = Fence { buffers: true, shared: false, release, acquire };
        vec![store(5), Inst::new(Code::Pseudo(Pseudo::Fence(fence)), &[], &[])]
    };
    let device = Some(Reach::Device);
    assert_eq!(one("gfx942", insts(device, None)), ["buffer_wbl2 sc1", "s_waitcnt vmcnt(0)"]);
    assert_eq!(one("gfx942", insts(None, device)), ["s_waitcnt vmcnt(0)", "buffer_inv sc1"]);
}

#[test]
fn old_barriers_wait_for_all() {
    let insts = || vec![load(1), store(5), Inst::real(O::Barrier, &[], &[])];
    assert_eq!(one("gfx900", insts()), ["s_waitcnt vmcnt(0)"]);
    assert_eq!(one("gfx90a", insts()), [] as [&str; 0]);
}

#[test]
fn the_outer_cache_is_invalidated_first() {
    let found = one("gfx1100-wave32", vec![fence(true, false, Some(Reach::Device))]);
    assert_eq!(found, ["buffer_gl1_inv", "buffer_gl0_inv"]);
}

/// Until the barrier other waves may bring old values to the cache.
#[test]
fn fences_before_a_barrier_acquire_after_it() {
    let words = |more: Vec<Inst>| {
        let insts = [vec![fence(true, true, Some(Reach::Workgroup))], more].concat();
        let mut function = Function { blocks: vec![Block { label: Label(0), insts }], ..Function::default() };
        insert(&mut function, &arch("gfx1100-wave32"));
        let operations = function.blocks[0].insts.iter().filter_map(Inst::operation);
        operations.map(|operation| format!("{operation:?}")).collect::<Vec<_>>()
    };
    let barrier = || Inst::real(O::Barrier, &[], &[]);
    let own = || {
        Inst::new(
            Code::Pseudo(Pseudo::Fence(Fence { acquire: Some(Reach::Workgroup), buffers: true, ..Fence::default() })),
            &[],
            &[],
        )
    };
    let expected = ["Barrier", "InvalidateVectorCache", "Load32"];
    assert_eq!(words(vec![barrier(), load(1)]), expected);
    assert_eq!(words(vec![fence(false, true, Some(Reach::Workgroup)), barrier(), load(1)]), expected);
    assert_eq!(words(vec![barrier(), own(), load(1)]), expected);
    assert_eq!(
        words(vec![load(1), barrier()]),
        ["InvalidateVectorCache", "Load32", "Barrier", "InvalidateVectorCache"]
    );
}

#[test]
fn nothing_waits_at_the_end() {
    assert_eq!(one("gfx900", vec![load(1), store(5), Inst::real(O::End, &[], &[])]), [] as [&str; 0]);
}

/// The arm loads later, so the queue is longer on the other path; the shorter one counts.
#[test]
fn ways_meet_with_the_younger_event() {
    let branch = |to| Inst::real(O::BranchScc0, &[], &[Operand::Label(Label(to))]);
    let blocks = vec![vec![load(1), load(2), branch(2)], vec![load(3)], vec![read(v(1)), read(v(3))]];
    let found = waits("gfx900", blocks);
    assert_eq!(found[2], ["s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(0)"]);
}

#[test]
fn loops_wait_for_what_the_round_before_began() {
    let branch = Inst::real(O::BranchScc0, &[], &[Operand::Label(Label(1))]);
    let blocks = vec![vec![], vec![read(v(1)), load(1), load(2), branch]];
    // Neither the read of the first register nor the write of the second one needs all to be complete.
    assert_eq!(waits("gfx900", blocks)[1], ["s_waitcnt vmcnt(1)", "s_waitcnt vmcnt(1)"]);
}
