//! Each rule with a pair of instructions that violates it, and with enough instructions in between.

use super::*;
use crate::backend::amd::machine::{Block, Dpp, Label, RegisterRange};
use crate::backend::amd::mnemonic::Operation as O;
use crate::lane::primitive::{Dpp16, DppControl};
use crate::profile::Profile;

fn arch(profile: &str) -> Arch {
    Arch::of(&Profile::all().find(|known| *known.name == *profile).expect("it is embedded")).expect("it is AMD's")
}

fn v(first: u16) -> Operand {
    vs(first, 1)
}

fn vs(first: u16, count: u8) -> Operand {
    Operand::Hardware(RegisterRange { file: File::Vector, first, count })
}

fn s(first: u16) -> Operand {
    Operand::Hardware(RegisterRange { file: File::Scalar, first, count: 1 })
}

fn pair(first: u16) -> Operand {
    Operand::Hardware(RegisterRange { file: File::Scalar, first, count: 2 })
}

const VCC: Operand = Operand::Special(Special::Vcc);
const EXEC: Operand = Operand::Special(Special::Exec);
const ZERO: Operand = Operand::Constant(0);

fn inst(operation: O, defs: &[Operand], uses: &[Operand]) -> Inst {
    Inst::real(operation, defs, uses)
}

fn moved(to: u16, from: u16) -> Inst {
    inst(O::Move, &[v(to)], &[v(from)])
}

fn dpp(to: u16, from: u16) -> Inst {
    let mut moved = moved(to, from);
    let control = DppControl::RowRor(1);
    moved.modifiers.dpp =
        Some(Dpp::Rows(Dpp16 { control, row_mask: 15, bank_mask: 15, bound_ctrl: false, fetch_inactive: false }));
    moved
}

/// V_CMPX: it writes EXEC.
fn compare_to_exec() -> Inst {
    inst(O::Compare, &[EXEC], &[v(1), v(2)])
}

fn compare(to: Operand) -> Inst {
    inst(O::Compare, &[to], &[v(1), v(2)])
}

fn select(mask: Operand) -> Inst {
    inst(O::Select, &[v(9)], &[v(1), v(2), mask])
}

fn load(to: Operand, base: Operand) -> Inst {
    let mut load = inst(O::Load32, &[to], &[v(30), base]);
    load.modifiers.prefix = "global_";
    load
}

fn store(data: Operand) -> Inst {
    let mut store = inst(O::Store128, &[], &[v(30), data, pair(40)]);
    store.modifiers.prefix = "global_";
    store
}

fn branch(operation: O) -> Inst {
    inst(operation, &[], &[Operand::Label(Label(1))])
}

/// The instructions inserted into a repaired block, in words.
fn between(profile: &str, mut blocks: Vec<Vec<Inst>>) -> Vec<String> {
    blocks.push(vec![inst(O::End, &[], &[])]);
    let before: Vec<Inst> = blocks.concat();
    let blocks = (0..).zip(blocks).map(|(label, insts)| Block { label: Label(label), insts }).collect();
    let mut function = Function { blocks, ..Function::default() };
    mend(&mut function, &arch(profile));
    let after = function.blocks.into_iter().flat_map(|block| block.insts);
    after.filter(|inst| !before.contains(inst)).map(|inst| words(&inst)).collect()
}

fn words(inst: &Inst) -> String {
    match (inst.operation(), &inst.uses[..]) {
        (Some(O::Nop), [Operand::Constant(more)]) => format!("{} states", more + 1),
        (Some(O::WaitDependencies), [Operand::Field(field, 0)]) => (*field).to_owned(),
        (Some(operation), _) => format!("{operation:?}"),
        (None, _) => format!("{:?}", inst.code),
    }
}

/// Both instructions need something in between, and nothing if `enough` is there.
fn check(profile: &str, first: Inst, last: Inst, needed: &str, enough: Vec<Inst>) {
    let found = between(profile, vec![vec![first.clone(), last.clone()]]);
    assert_eq!(found, [needed], "{profile}: {first:?}, {last:?}");
    let distant: Vec<Inst> = std::iter::once(first).chain(enough).chain([last.clone()]).collect();
    assert!(between(profile, vec![distant]).is_empty(), "{profile}: {last:?} is far enough off");
}

/// This many unrelated instructions.
fn others(count: usize) -> Vec<Inst> {
    let mut other = inst(O::ScalarMove, &[s(90)], &[ZERO]);
    other.is_lane = true;
    vec![other; count]
}

fn vectors(count: usize) -> Vec<Inst> {
    vec![moved(60, 61); count]
}

#[test]
fn wait_states_of_gcn() {
    let readlane = || inst(O::ReadLane, &[s(8)], &[v(3), s(5)]);
    let first_lane = || inst(O::ReadFirstLane, &[s(5)], &[v(1)]);
    for profile in ["gfx803", "gfx900", "gfx908", "gfx90a", "gfx942", "gfx950"] {
        check(profile, moved(1, 2), dpp(3, 1), "2 states", others(2));
        check(profile, compare_to_exec(), dpp(3, 1), "5 states", others(5));
        check(profile, first_lane(), load(v(7), s(5)), "5 states", others(5));
    }
    for profile in ["gfx600", "gfx701", "gfx803", "gfx90a", "gfx942"] {
        check(profile, first_lane(), readlane(), "4 states", others(4));
        let div = inst(O::DivFmasF32, &[v(4)], &[v(1), v(2), v(3)]);
        check(profile, compare(VCC), div, "4 states", others(4));
    }
    check("gfx600", first_lane(), inst(O::LoadScalar32, &[s(8)], &[s(5), ZERO]), "4 states", others(4));
    check("gfx701", store(vs(4, 3)), moved(5, 1), "1 states", others(1));
    check("gfx942", store(vs(4, 3)), moved(5, 1), "2 states", others(2));
}

/// With XNACK, accesses that follow directly run again together.
#[test]
fn accesses_that_run_again() {
    let plain = |to| load(v(to), pair(4));
    let on_itself = || inst(O::Load32, &[v(7)], &[v(7), pair(4)]);
    for profile in ["gfx900", "gfx90a", "gfx942", "gfx950"] {
        check(profile, plain(7), plain(30), "1 states", others(1));
        check(profile, on_itself(), plain(8), "1 states", others(1));
        check(profile, plain(8), on_itself(), "1 states", others(1));
        check(profile, plain(8), store(vs(20, 1)), "1 states", others(1));
        // The first of three counts too.
        assert_eq!(between(profile, vec![vec![plain(7), plain(8), plain(30)]]), ["1 states"]);
        assert!(between(profile, vec![vec![plain(7), plain(8), plain(9)]]).is_empty());
        assert!(between(profile, vec![vec![store(vs(20, 1)), store(vs(24, 1)), plain(9)]]).is_empty());
    }
    let scalar = |to, from| inst(O::LoadScalar32, &[s(to)], &[pair(from), ZERO]);
    check("gfx1010-wave32", scalar(8, 4), scalar(4, 6), "1 states", others(1));
    for profile in ["gfx803", "gfx1030-wave32"] {
        let codes = [vec![plain(7), plain(30)], vec![scalar(8, 4), scalar(4, 6)]];
        assert!(codes.iter().all(|code| between(profile, vec![code.clone()]).is_empty()), "{profile} has no XNACK");
    }
}

/// An instruction that fills a wait state moves the instructions it passes nearer to the next block.
#[test]
fn filling_moves_what_is_pending() {
    let swap = inst(O::ReadLane, &[s(4)], &[v(1), ZERO]);
    let first = vec![moved(1, 2), swap, others(1).remove(0), branch(O::BranchExecZero)];
    assert_eq!(between("gfx942", vec![first, vec![inst(O::Move, &[v(9)], &[s(4)])]]), ["1 states"]);
}

#[test]
fn what_needs_no_wait_states() {
    let readlane = |to, select| inst(O::ReadLane, &[to], &[v(3), select]);
    // The operand that is not moved may be new.
    let mut add = dpp(3, 1);
    add.uses.push(v(4));
    assert!(between("gfx900", vec![vec![moved(4, 2), add]]).is_empty());
    // Scalar instructions write EXEC and lane selects at any time.
    assert!(between("gfx900", vec![vec![inst(O::ScalarMove64, &[EXEC], &[ZERO]), dpp(3, 1)]]).is_empty());
    assert!(between("gfx900", vec![vec![inst(O::ScalarMove, &[s(5)], &[ZERO]), readlane(s(8), s(5))]]).is_empty());
    // 64 bits of data are read at once.
    assert!(between("gfx900", vec![vec![store(vs(4, 2)), moved(5, 1)]]).is_empty());
    // RDNA 2 waits itself.
    assert!(between("gfx1030-wave32", vec![vec![moved(1, 2), dpp(3, 1)]]).is_empty());
}

#[test]
fn wait_states_of_cdna_3() {
    let readlane = inst(O::ReadLane, &[s(8)], &[v(1), ZERO]);
    let rcp = inst(O::RcpF32, &[v(1)], &[v(2)]);
    let mut half = moved(1, 2);
    half.modifiers.op_sel = 2;
    let swap = Inst { keeps: true, ..inst(O::Permlane16Swap, &[v(1), v(5)], &[]) };
    for profile in ["gfx942", "gfx950"] {
        check(profile, compare(pair(6)), select(pair(6)), "2 states", others(2));
        check(profile, compare(VCC), select(VCC), "2 states", others(2));
        check(profile, moved(1, 2), readlane.clone(), "1 states", others(1));
        check(profile, compare_to_exec(), readlane.clone(), "4 states", others(4));
        let reads_exec = inst(O::CountBelowLow, &[v(5)], &[EXEC, ZERO]);
        check(profile, compare_to_exec(), reads_exec, "2 states", others(2));
        check(profile, rcp.clone(), moved(5, 1), "1 states", others(1));
        check(profile, half.clone(), moved(5, 1), "1 states", others(1));
        check(profile, moved(1, 2), swap.clone(), "2 states", others(2));
        check(profile, compare_to_exec(), swap.clone(), "4 states", others(4));
    }
    assert!(between("gfx90a", vec![vec![compare(VCC), select(VCC)]]).is_empty());
}

#[test]
fn stale_conditions_of_gcn() {
    let load = || inst(O::LoadScalar32, &[s(8)], &[pair(4), ZERO]);
    let wait = inst(O::WaitCounters, &[], &[Operand::Field("lgkmcnt", 0)]);
    for profile in ["gfx600", "gfx701"] {
        check(profile, load(), branch(O::BranchVccZero), "ScalarMove64", vec![wait.clone()]);
    }
    assert!(between("gfx803", vec![vec![load(), branch(O::BranchVccZero)]]).is_empty());
    let half = inst(O::ScalarMove, &[Operand::Special(Special::VccLow)], &[ZERO]);
    check("gfx900", half, branch(O::BranchVccSome), "ScalarMove64", vec![compare(VCC)]);
}

#[test]
fn bugs_of_rdna_1() {
    let profile = "gfx1010-wave64";
    let permlane = || inst(O::Permlane16, &[v(3)], &[v(1), ZERO, ZERO]);
    check(profile, compare_to_exec(), permlane(), "Move", vectors(1));
    let to_scalar = || inst(O::ReadFirstLane, &[s(33)], &[v(1)]);
    check(profile, branch(O::BranchExecZero), compare_to_exec(), "depctr_sa_sdst", vec![to_scalar()]);
    let swizzle = || inst(O::Swizzle, &[v(3)], &[v(1)]);
    let write_exec = || inst(O::ScalarMove64, &[EXEC], &[pair(20)]);
    let write_base = || inst(O::ScalarMove64, &[pair(40)], &[pair(20)]);
    let vs_zero = || inst(O::WaitStores, &[], &[Operand::Special(Special::Null), ZERO]);
    let zero = |field| inst(O::WaitCounters, &[], &[Operand::Field(field, 0)]);
    check(profile, swizzle(), write_exec(), "depctr_vm_vsrc", vec![zero("lgkmcnt")]);
    check(profile, load(v(3), pair(40)), write_base(), "depctr_vm_vsrc", vec![zero("vmcnt")]);
    check(profile, store(vs(3, 4)), write_base(), "depctr_vm_vsrc", vec![vs_zero()]);
    check(profile, store(vs(3, 4)), write_base(), "depctr_vm_vsrc", vectors(1));
    let scalar_load = || inst(O::LoadScalar32, &[s(8)], &[pair(4), ZERO]);
    let overwrite = || inst(O::ReadFirstLane, &[s(5)], &[v(1)]);
    check(profile, scalar_load(), overwrite(), "ScalarMove", others(1));
    check(profile, scalar_load(), overwrite(), "ScalarMove", vec![zero("lgkmcnt")]);
}

#[test]
fn memories_on_both_sides_of_a_branch() {
    let profile = "gfx1010-wave32";
    let wait = inst(O::WaitStores, &[], &[Operand::Special(Special::Null), ZERO]);
    let shared = inst(O::LdsWrite, &[], &[v(1), v(2)]);
    let global = load(v(3), pair(40));
    for (first, last) in [(&shared, &global), (&global, &shared)] {
        let apart = vec![vec![first.clone(), branch(O::BranchScc0)], vec![last.clone()]];
        assert_eq!(between(profile, apart.clone()), ["WaitStores"]);
        let waited = vec![vec![first.clone(), branch(O::BranchScc0)], vec![wait.clone(), last.clone()]];
        assert!(between(profile, waited).is_empty());
        assert!(between(profile, vec![vec![first.clone(), last.clone()]]).is_empty(), "there is no branch");
        assert!(between("gfx1030-wave32", apart).is_empty());
    }
    let same = vec![vec![shared.clone(), branch(O::BranchScc0)], vec![shared]];
    assert!(between(profile, same).is_empty());
}

#[test]
fn masks_of_rdna_3() {
    let profile = "gfx1150-wave64";
    let first = || select(pair(6));
    let by_scalar = || inst(O::ScalarMove64, &[pair(6)], &[ZERO]);
    let read = || inst(O::ScalarAnd64, &[pair(20)], &[pair(6), pair(22)]);
    assert_eq!(between(profile, vec![vec![first(), by_scalar(), read()]]), ["depctr_sa_sdst"]);
    assert_eq!(between(profile, vec![vec![first(), compare(pair(6)), select(pair(6))]]), ["depctr_va_sdst"]);
    assert_eq!(between(profile, vec![vec![select(VCC), compare(VCC), select(VCC)]]), ["depctr_va_vcc"]);
    // Neither another scalar that a vector instruction reads ends it, nor a wait before the write.
    let fields = ["depctr_sa_sdst", "depctr_vm_vsrc"].map(|field| Operand::Field(field, 0));
    let wait = || inst(O::WaitDependencies, &[], &fields);
    let literal = inst(O::Move, &[v(50)], &[Operand::Constant(0x1234_5678)]);
    for between_them in [inst(O::Move, &[v(50)], &[s(70)]), literal, wait()] {
        assert_eq!(between(profile, vec![vec![first(), between_them, by_scalar(), read()]]), ["depctr_sa_sdst"]);
    }
    // After a wait for the write, another one does not matter.
    assert!(between(profile, vec![vec![first(), by_scalar(), wait(), read(), by_scalar(), read()]]).is_empty());
    assert!(between("gfx1150-wave32", vec![vec![first(), by_scalar(), read()]]).is_empty());
}

/// A wait for a write on one of two paths does not end the hazard on the other.
#[test]
fn masks_that_one_way_writes_again() {
    let by_scalar = || inst(O::ScalarMove64, &[pair(6)], &[ZERO]);
    let read = || inst(O::ScalarAnd64, &[pair(20)], &[pair(6), pair(22)]);
    let wait =
        || inst(O::WaitDependencies, &[], &[Operand::Field("depctr_sa_sdst", 0), Operand::Field("depctr_vm_vsrc", 0)]);
    let past = inst(O::BranchScc0, &[], &[Operand::Label(Label(2))]);
    let blocks = vec![vec![select(pair(6)), past], vec![by_scalar()], vec![wait(), by_scalar(), read()]];
    assert_eq!(between("gfx1150-wave64", blocks), ["depctr_sa_sdst"]);
}

#[test]
fn forwarding_of_rdna_3() {
    let profile = "gfx1150-wave64";
    let exec = || inst(O::ScalarMove64, &[EXEC], &[pair(20)]);
    let both = || inst(O::AddU32, &[v(5)], &[v(1), v(2)]);
    let code = |distance: Vec<Inst>| {
        let before = vec![moved(1, 7), exec(), moved(2, 8)];
        vec![before.into_iter().chain(distance).chain([both()]).collect()]
    };
    assert_eq!(between(profile, code(vec![])), ["depctr_va_vdst"]);
    assert_eq!(between(profile, code(vectors(4))), ["depctr_va_vdst"]);
    assert!(between(profile, code(vectors(5))).is_empty());
    assert!(between(profile, code(vec![load(v(40), pair(40))])).is_empty());
    assert!(between("gfx1150-wave32", code(vec![])).is_empty());
    for same_side in [vec![exec(), moved(1, 7), moved(2, 8), both()], vec![moved(1, 7), moved(2, 8), exec(), both()]] {
        assert!(between(profile, vec![same_side]).is_empty());
    }
    // EXEC is often written again before they are read, and written twice before the second one.
    let restored = vec![moved(1, 7), exec(), moved(2, 8), exec(), both()];
    assert_eq!(between(profile, vec![restored]), ["depctr_va_vdst"]);
    let twice = vec![moved(1, 7), exec(), exec(), moved(2, 8), both()];
    assert_eq!(between(profile, vec![twice]), ["depctr_va_vdst"]);
    let old_value = vec![moved(1, 7), exec(), moved(2, 8), dpp(2, 1)];
    assert_eq!(between(profile, vec![old_value]), ["depctr_va_vdst"]);
}

#[test]
fn transcendental_results_of_rdna_3() {
    let rcp = || inst(O::RcpF32, &[v(1)], &[v(2)]);
    for profile in ["gfx1100-wave32", "gfx1100-wave64"] {
        check(profile, rcp(), moved(5, 1), "depctr_va_vdst", vectors(6));
        assert_eq!(between(profile, vec![[vec![rcp()], vectors(5), vec![moved(5, 1)]].concat()]).len(), 1);
    }
    assert!(between("gfx1150-wave32", vec![vec![rcp(), moved(5, 1)]]).is_empty());
}

#[test]
fn permlane_behind_a_write_of_exec() {
    let permlane = || inst(O::Permlane16, &[v(3)], &[v(1), ZERO, ZERO]);
    for profile in ["gfx1100-wave32", "gfx1150-wave64", "gfx1200-wave32"] {
        check(profile, compare_to_exec(), permlane(), "Move", vectors(1));
    }
    assert!(between("gfx1030-wave32", vec![vec![compare_to_exec(), permlane()]]).is_empty());
}

#[test]
fn scalars_that_rdna_4_rewrites() {
    let profile = "gfx1200-wave32";
    let use_it = |number| inst(O::Move, &[v(50)], &[s(number)]);
    let by_scalar = || inst(O::ScalarMove, &[s(6)], &[ZERO]);
    let by_vector = || inst(O::ReadFirstLane, &[s(6)], &[v(1)]);
    // A read of the other one of the pair counts too, but only the written one cannot be read at once.
    assert_eq!(between(profile, vec![vec![use_it(7), by_scalar(), use_it(6)]]), ["depctr_sa_sdst"]);
    assert!(between(profile, vec![vec![use_it(7), by_scalar(), use_it(7)]]).is_empty());
    assert_eq!(between(profile, vec![vec![use_it(6), by_vector(), use_it(6)]]), ["depctr_va_sdst"]);
    assert_eq!(between(profile, vec![vec![select(VCC), compare(VCC), select(VCC)]]), ["depctr_va_vcc"]);
    assert!(between(profile, vec![vec![by_scalar(), use_it(6)]]).is_empty(), "nothing has read it before");
    let far = [vec![use_it(7), by_scalar()], others(11), vec![use_it(6)]].concat();
    assert_eq!(between(profile, vec![far]), ["depctr_sa_sdst"], "it does not pass by itself");
    let read_by_scalar = inst(O::ScalarMove, &[s(20)], &[s(6)]);
    assert!(between(profile, vec![vec![use_it(6), by_vector(), read_by_scalar]]).is_empty(), "it waits by itself");
}

#[test]
fn what_is_pending_comes_from_all_blocks_before() {
    let first = vec![moved(1, 2), branch(O::BranchScc0)];
    assert_eq!(between("gfx900", vec![first.clone(), others(3), vec![dpp(3, 1)]]), [] as [&str; 0]);
    let skipping = vec![moved(1, 2), inst(O::BranchScc0, &[], &[Operand::Label(Label(2))])];
    assert_eq!(between("gfx900", vec![skipping, others(3), vec![dpp(3, 1)]]), ["1 states"]);
    // Around a loop.
    let again = inst(O::BranchScc0, &[], &[Operand::Label(Label(0))]);
    assert_eq!(between("gfx900", vec![vec![dpp(3, 1), moved(1, 2), again]]), ["1 states"]);
}

#[test]
fn independent_instructions_fill_wait_states() {
    let code = vec![moved(1, 2), dpp(3, 1), inst(O::AddU32, &[v(10)], &[v(11), v(12)]), others(1).remove(0)];
    let mut function = Function { blocks: vec![Block { label: Label(0), insts: code.clone() }], ..Function::default() };
    mend(&mut function, &arch("gfx900"));
    let order: Vec<usize> = function.blocks[0]
        .insts
        .iter()
        .map(|inst| code.iter().position(|known| known == inst).expect("nothing was added"))
        .collect();
    assert_eq!(order, [0, 2, 3, 1]);
}

#[test]
fn dependent_instructions_stay_where_they_are() {
    let reads_result = inst(O::AddU32, &[v(10)], &[v(3), v(12)]);
    let overwrites_source = moved(1, 12);
    let switches = inst(O::ScalarMove64, &[EXEC], &[pair(20)]);
    for last in [reads_result, overwrites_source, switches, load(v(40), pair(40))] {
        assert_eq!(between("gfx900", vec![vec![moved(1, 2), dpp(3, 1), last]]), ["2 states"]);
    }
}
