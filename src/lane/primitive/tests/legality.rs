//! The instructions of each profile: cases that are easily mixed up.

use crate::lane::op::{QuadMove, ReduceOp, ShuffleMode};
use crate::lane::primitive::{
    Dpp8, Dpp16, DppControl, Fetch, GroupOp, LdsOp, NvOp, PermlaneOp, Primitive, Reach, ScalarOp, Swizzle,
};
use crate::profile::Profile;

/// The profiles of hardware.
fn hardware() -> impl Iterator<Item = Profile> {
    Profile::all().filter(|profile| profile.target.is_hardware())
}

/// A profile's name without `gfx`, and without the wave size of 32.
fn short(name: &str) -> &str {
    let name = name.trim_start_matches("gfx");
    name.strip_suffix("-wave32").unwrap_or(name)
}

/// Processors with the same instructions as another one.
const ALIKE: [(&str, &str); 6] = [
    ("gfx1101", "gfx1100"),
    ("gfx1102", "gfx1100"),
    ("gfx1103", "gfx1100"),
    ("gfx1151", "gfx1150"),
    ("gfx1152", "gfx1150"),
    ("gfx1153", "gfx1150"),
];

/// The profile of an equivalent processor.
fn twin(profile: &Profile) -> Option<Profile> {
    let (own, other) = ALIKE.iter().find(|(own, _)| profile.name.starts_with(own))?;
    Profile::named(&profile.name.replace(own, other))
}

/// Names of the hardware profiles that have an instruction; AMD's without `gfx`. Processors that equal another one are
/// checked against it and not listed.
fn who(primitive: impl Into<Primitive>) -> String {
    let primitive = primitive.into();
    let mut names = Vec::new();
    for profile in hardware() {
        let is_legal = primitive.is_legal(&profile);
        match twin(&profile) {
            Some(twin) => assert_eq!(is_legal, primitive.is_legal(&twin), "{}", profile.name),
            None if is_legal => names.push(short(&profile.name).to_string()),
            None => {}
        }
    }
    names.join(" ")
}

const GCN3_UP: &str = "803 900 906 908 90a 942 950";
const RDNA: &str =
    "1010 1010-wave64 1030 1030-wave64 1100 1100-wave64 1150 1150-wave64 1200 1200-wave64 1201 1201-wave64";

#[test]
fn dpp_by_generation() {
    let with = |control| Dpp16::new(control);
    assert_eq!(who(with(DppControl::RowShl(1))), format!("{GCN3_UP} {RDNA}"));
    assert_eq!(who(with(DppControl::WaveShr)), GCN3_UP);
    assert_eq!(who(with(DppControl::RowBcast15)), GCN3_UP);
    assert_eq!(who(with(DppControl::RowBcast31)), GCN3_UP);
    assert_eq!(who(with(DppControl::RowNewBcast(3))), "90a 942 950");
    assert_eq!(who(with(DppControl::RowShare(3))), RDNA);
    assert_eq!(who(with(DppControl::RowXmask(0))), RDNA);
    assert_eq!(who(Dpp16 { fetch_inactive: true, ..with(DppControl::RowMirror) }), RDNA);
    assert_eq!(who(Dpp8 { selectors: 0, fetch_inactive: true }), RDNA);
}

#[test]
fn parameters_have_ranges() {
    assert_eq!(who(Dpp16::new(DppControl::RowShl(0))), "");
    assert_eq!(who(Dpp16::new(DppControl::RowRor(16))), "");
    assert_eq!(who(Dpp16 { row_mask: 16, ..Dpp16::new(DppControl::RowMirror) }), "");
    assert_eq!(who(Dpp8 { selectors: 1 << 24, fetch_inactive: false }), "");
    assert_eq!(who(LdsOp::Swizzle(Swizzle::Mask { and: 32, or: 0, xor: 0 })), "");
    assert_eq!(who(NvOp::QuadSwizzle(QuadMove::Diagonal)), "");
}

/// Permutations are as wide as the wave, except on RDNA 1 to 3.5 with 64 lanes.
#[test]
fn reaches_of_permutations() {
    let with = |reach| LdsOp::Bpermute { reach, offset: 0, fetch_inactive: false };
    assert_eq!(who(with(Reach::Half)), "1010-wave64 1030-wave64 1100-wave64 1150-wave64");
    let wave = who(with(Reach::Wave));
    assert_eq!(wave, format!("{GCN3_UP} 1010 1030 1100 1150 1200 1200-wave64 1201 1201-wave64"));
    let fetching = LdsOp::Bpermute { reach: Reach::Wave, offset: 0, fetch_inactive: true };
    assert_eq!(who(fetching), "1200 1200-wave64 1201 1201-wave64");
}

#[test]
fn the_rest_by_generation() {
    let fetch = Fetch::default();
    assert_eq!(who(PermlaneOp::Row { across: true, selectors: 0, fetch }), RDNA);
    assert_eq!(who(PermlaneOp::RowVar { across: true, fetch }), "1200 1200-wave64 1201 1201-wave64");
    let eleven_up = "1100 1100-wave64 1150 1150-wave64 1200 1200-wave64 1201 1201-wave64";
    assert_eq!(who(PermlaneOp::Half), eleven_up);
    assert_eq!(who(PermlaneOp::SwapFirst { block: 16, fetch }), "950");
    assert_eq!(who(PermlaneOp::SwapSecond { block: 8, fetch }), "");
    assert_eq!(who(PermlaneOp::Shared { high: true }), "1010-wave64 1030-wave64");
    assert_eq!(who(LdsOp::Swizzle(Swizzle::Quad(0))), format!("600 701 {GCN3_UP} {RDNA}"));
    assert_eq!(who(LdsOp::Swizzle(Swizzle::Fft { keep: 0 })), format!("{GCN3_UP} {RDNA}"));
    assert_eq!(who(ScalarOp::ReadLane), format!("600 701 {GCN3_UP} {RDNA}"));
    let wave64 = "1010-wave64 1030-wave64 1100-wave64 1150-wave64 1200-wave64 1201-wave64";
    assert_eq!(who(ScalarOp::CountBelowHigh), format!("600 701 {GCN3_UP} {wave64}"));
}

#[test]
fn nvidia_by_generation() {
    let ptx = "ptx-sm30 ptx-sm70 ptx-sm80 ptx-sm90 ptx-sm100";
    let shuffles = format!("nv-kepler nv-maxwell nv-volta nv-ampere nv-hopper {ptx}");
    assert_eq!(who(NvOp::Shuffle(ShuffleMode::Xor)), shuffles);
    let swizzles = "nv-fermi nv-kepler nv-maxwell nv-volta nv-ampere nv-hopper";
    assert_eq!(who(NvOp::QuadSwizzle(QuadMove::X)), swizzles);
    assert_eq!(who(NvOp::Match), "ptx-sm70 ptx-sm80 ptx-sm90 ptx-sm100");
    assert_eq!(who(NvOp::Reduce(ReduceOp::Add)), "ptx-sm80 ptx-sm90 ptx-sm100");
    assert_eq!(who(NvOp::Reduce(ReduceOp::Mul)), "");
    assert_eq!(who(NvOp::Ballot), format!("nv-fermi {shuffles}"));
}

#[test]
fn portable_instructions_are_no_hardware() {
    assert_eq!(who(GroupOp::Shuffle), "");
    let spirv = Profile::named("spirv-1.3").expect("built in");
    assert!(Primitive::from(GroupOp::Shuffle).is_legal(&spirv));
    assert!(!Primitive::from(NvOp::Ballot).is_legal(&spirv));
    assert!(!Primitive::from(ScalarOp::ReadLane).is_legal(&spirv));
}

#[test]
fn only_new_broadcasts_move_64_bits() {
    let moves = |name: &str, control| {
        let profile = Profile::named(name).expect("a profile");
        Primitive::from(Dpp16::new(control)).moves_64_bits(&profile)
    };
    assert!(moves("gfx942", DppControl::RowNewBcast(0)));
    assert!(!moves("gfx90a", DppControl::RowNewBcast(0)));
    assert!(!moves("gfx942", DppControl::RowMirror));
}

/// Whatever a profile has, it can price.
#[test]
fn every_legal_instruction_has_a_price() {
    let fetch = Fetch::default();
    let samples: Vec<Primitive> = vec![
        NvOp::Shuffle(ShuffleMode::Up).into(),
        NvOp::QuadSwizzle(QuadMove::X).into(),
        NvOp::Ballot.into(),
        Dpp16::new(DppControl::RowMirror).into(),
        Dpp8 { selectors: 0, fetch_inactive: false }.into(),
        LdsOp::Swizzle(Swizzle::Quad(0)).into(),
        LdsOp::Permute { reach: Reach::Wave, offset: 0 }.into(),
        LdsOp::Bounce.into(),
        PermlaneOp::Row { across: true, selectors: 0, fetch }.into(),
        PermlaneOp::RowVar { across: true, fetch }.into(),
        PermlaneOp::Half.into(),
        PermlaneOp::SwapFirst { block: 32, fetch }.into(),
        PermlaneOp::Shared { high: false }.into(),
        ScalarOp::ReadLane.into(),
        ScalarOp::WriteLane.into(),
        ScalarOp::Ballot.into(),
        ScalarOp::WholeQuads.into(),
        ScalarOp::CountBelowLow.into(),
    ];
    for profile in hardware() {
        for primitive in samples.iter().filter(|primitive| primitive.is_legal(&profile)) {
            let class = primitive.instruction().cost_class().expect("a class");
            assert!(profile.costs.of(class).is_some(), "{} {primitive:?}", profile.name);
        }
    }
}
