//! Cross-lane operations: every kind of step in plans for this target.

use super::{Shader, assemble, check, listing, options};
use crate::backend::Options;
use crate::backend::spirv::written;
use crate::diagnostic::Code;
use crate::ir::{ArrayLen, BinaryOp, Builder, ConstValue, Scalar, Stage, Types, Value};
use crate::kernel::Origin;
use crate::lane::{
    CountOp, Group, LaneOp, MaskOp, Members, QuadMove, ReduceKind, ReduceOp, ShuffleMode, Swap, VoteOp, Width,
};

fn shader() -> Shader {
    Shader::new(|m| vec![m.types.array(Types::U32, ArrayLen::Runtime)])
}

fn any(b: &mut Builder, scalar: Scalar, size: u8) -> Value {
    let ty = b.module.types.vector(scalar, size);
    let local = b.local("v", ty, None);
    b.load(local)
}

const KINDS: [Scalar; 4] = [Scalar::BOOL, Scalar::I32, Scalar::U32, Scalar::F32];

fn width(lanes: u32) -> Width {
    Width::new(lanes).unwrap()
}

#[test]
fn moves() {
    let moves = [
        LaneOp::Quad { mv: QuadMove::Lane(2), float_only: false },
        LaneOp::Quad { mv: QuadMove::X, float_only: false },
        LaneOp::Quad { mv: QuadMove::Diagonal, float_only: false },
        LaneOp::Swap(Swap::Butterfly, width(16)),
        LaneOp::BroadcastFirst,
    ];
    let module = shader().main(|b, _| {
        for scalar in KINDS {
            for size in [1, 3] {
                let value = any(b, scalar, size);
                let (ty, index) = (b.type_of(value), any(b, Scalar::U32, 1));
                for op in moves {
                    b.lane(op, ty, &[value]);
                }
                for mode in [ShuffleMode::Index, ShuffleMode::Xor, ShuffleMode::Up, ShuffleMode::Down] {
                    b.lane(LaneOp::Shuffle(mode), ty, &[value, index]);
                    let eight = b.const_u32(8);
                    b.lane(LaneOp::ShuffleNv(mode), ty, &[value, index, eight]);
                    b.lane(LaneOp::ShuffleNvValid(mode), Types::BOOL, &[index, eight]);
                }
                b.lane(LaneOp::Bpermute, ty, &[value, index]);
                let three = b.const_u32(3);
                b.lane(LaneOp::Broadcast, ty, &[value, three]);
            }
        }
    });
    check(&module);
}

#[test]
fn folds() {
    let kinds = [ReduceKind::Reduce, ReduceKind::AllReduce, ReduceKind::Inclusive, ReduceKind::Exclusive];
    let module = shader().main(|b, _| {
        for (scalar, ops) in [
            (Scalar::F32, &[ReduceOp::Add, ReduceOp::Mul, ReduceOp::Min, ReduceOp::Max][..]),
            (Scalar::I32, &[ReduceOp::Add, ReduceOp::Min, ReduceOp::And]),
            (Scalar::U32, &[ReduceOp::Max, ReduceOp::Xor]),
            (Scalar::BOOL, &[ReduceOp::And, ReduceOp::Or, ReduceOp::Xor]),
        ] {
            let value = any(b, scalar, 2);
            let ty = b.type_of(value);
            for op in ops {
                for kind in kinds {
                    for (width, members) in
                        [(width(8), Members::All), (Width::SUBGROUP, Members::All), (Width::SUBGROUP, Members::Active)]
                    {
                        b.lane(LaneOp::Reduce { op: *op, kind, width, members }, ty, &[value]);
                    }
                }
            }
        }
    });
    check(&module);
}

#[test]
fn votes_ballots_and_lane_facts() {
    let module = shader().main(|b, _| {
        let (flag, ballot) = (any(b, Scalar::BOOL, 1), b.module.types.vector(Scalar::U32, 4));
        for op in [VoteOp::All, VoteOp::Any, VoteOp::Equal] {
            b.lane(LaneOp::Vote { op, group: Group::Subgroup }, Types::BOOL, &[flag]);
        }
        for op in [VoteOp::All, VoteOp::Any] {
            b.lane(LaneOp::Vote { op, group: Group::Quad }, Types::BOOL, &[flag]);
        }
        let bits = b.lane(LaneOp::Ballot(Group::Subgroup), ballot, &[flag]);
        for count in [CountOp::All, CountOp::Inclusive, CountOp::Exclusive] {
            b.lane(LaneOp::BallotCount(count), Types::U32, &[bits]);
        }
        b.lane(LaneOp::BallotFindLsb, Types::U32, &[bits]);
        b.lane(LaneOp::BallotFindMsb, Types::U32, &[bits]);
        b.lane(LaneOp::InverseBallot, Types::BOOL, &[bits]);
        let index = b.lane(LaneOp::LaneIndex(Group::Subgroup), Types::U32, &[]);
        b.lane(LaneOp::BallotBit, Types::BOOL, &[bits, index]);
        b.lane(LaneOp::LaneCount(Group::Subgroup), Types::U32, &[]);
        b.lane(LaneOp::LaneMask(MaskOp::Lt, Group::Subgroup), ballot, &[]);
        b.lane(LaneOp::SegmentLast(width(8)), Types::BOOL, &[]);
        b.lane(LaneOp::Elect, Types::BOOL, &[]);
        b.lane(LaneOp::Sync, Types::VOID, &[]);
    });
    check(&module);
}

#[test]
fn set_up_is_written_once_and_nothing_unneeded_is_asked_for() {
    let module = shader().main(|b, _| {
        for _ in 0..3 {
            b.lane(LaneOp::LaneIndex(Group::Subgroup), Types::U32, &[]);
        }
    });
    let [listing, ..] = check(&module);
    assert_eq!(listing.matches("OpLoad").count(), 1, "{listing}");
    assert!(listing.contains("OpCapability GroupNonUniform\n"));
    assert_eq!(listing.matches("OpCapability").count(), 2);
}

#[test]
fn too_wide_a_form_is_refused() {
    let module = shader().main(|b, _| {
        let value = any(b, Scalar::F32, 1);
        b.lane(LaneOp::Swap(Swap::Butterfly, width(128)), Types::F32, &[value]);
    });
    let profile = crate::profile::Profile::named("spirv-1.3").unwrap().with_wave_size(Some(32));
    let options = Options::new(profile);
    let messages = super::emit(&module, &options, &crate::source::SourceMap::new()).unwrap_err();
    assert_eq!(messages[0].code, Code::TOO_WIDE);
}

/// The lines of an operation are the lines between the surrounding code, with the constants and built-in values that
/// they use.
#[test]
fn lines_have_origins() {
    let module = shader().main(|b, _| {
        let value = any(b, Scalar::F32, 1);
        let sum = b.binary(BinaryOp::Add, value, value);
        let kind = ReduceKind::AllReduce;
        let fold = LaneOp::Reduce { op: ReduceOp::Add, kind, width: width(8), members: Members::All };
        b.lane(fold, Types::F32, &[sum]);
        b.lane(LaneOp::LaneIndex(Group::Subgroup), Types::U32, &[]);
    });
    let options = options("spirv-1.5");
    let code = written(&module, &options, &crate::source::SourceMap::new()).unwrap();
    let text = listing(&assemble(&module, &options));
    assert!(code.lines.iter().all(|line| text.contains(&line.text)), "{code:#?}");
    let of = |origin| code.lines.iter().filter(move |line| line.origin == origin).map(|line| &*line.text);
    let own: Vec<&str> = of(Origin::Operation(0)).collect();
    assert!(matches!(own[..], [line] if line.contains("OpGroupNonUniformFAdd") && line.contains(" ClusteredReduce ")));
    let shared = |n: usize| code.set_ups[n].iter().flat_map(|number| of(Origin::SetUp(*number))).collect::<String>();
    assert!(shared(0).contains("= OpConstant %") && shared(0).contains(" 8\n"), "{}", shared(0));
    assert!(of(Origin::Operation(1)).count() == 0 && shared(1).contains("= OpLoad"), "{}", shared(1));
    assert_eq!(code.operations.len(), 2);
}

/// The identity of a reduction is the constant that the shader may also use.
#[test]
fn identities_are_constants_of_the_shader() {
    let module = shader().main(|b, _| {
        let value = any(b, Scalar::I8, 1);
        let ty = b.type_of(value);
        let least = Value::Const(b.module.constants.intern(ty, ConstValue::Bits(0x80)));
        let value = b.binary(BinaryOp::Add, value, least);
        let (op, kind) = (ReduceOp::Max, ReduceKind::Exclusive);
        b.lane(LaneOp::Reduce { op, kind, width: width(4), members: Members::All }, ty, &[value]);
    });
    let text = listing(&assemble(&module, &options("spirv-1.5")));
    let constants = text.lines().filter(|line| line.contains("= OpConstant %") && line.ends_with(" -128"));
    assert_eq!(constants.count(), 1, "{text}");
}

#[test]
fn lanes_are_read_again_where_shaders_call_others() {
    let twice = |stage| {
        let mut module = shader().main(|b, block| {
            for index in [LaneOp::LaneIndex(Group::Subgroup), LaneOp::LaneIndex(Group::Subgroup)] {
                let (lane, zero) = (b.lane(index, Types::U32, &[]), b.const_u32(0));
                let place = b.access(block, &[zero, lane]);
                b.store(place, lane);
            }
        });
        module.entry_points[0].stage = stage;
        let text = listing(&assemble(&module, &options("spirv-1.6")));
        let count = |word: &str| text.matches(word).count();
        (count(" Volatile"), count("OpLoad"))
    };
    assert_eq!(twice(Stage::Compute), (0, 1));
    assert_eq!(twice(Stage::RayGeneration), (1, 2));
    assert_eq!(twice(Stage::AnyHit), (0, 1));
}
