//! Cross-lane functions, through the extensions of the dialect.

use super::Dialect;
use super::dialect::Lanes;
use crate::backend::source::constants::component;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::Body;
use crate::backend::source::lane::Arg;
use crate::backend::source::writer::Writer;
use crate::ir::{Scalar, ScalarKind, TypeId};
use crate::lane::{CountOp, GroupOp, GroupReduce, LaneFact, QuadMove, ReduceOp, VoteOp};

impl Dialect {
    pub fn fact(&self, b: &mut Body, fact: LaneFact) -> Expr {
        let lanes = self.lanes;
        match (fact, lanes) {
            (LaneFact::Index, Lanes::Khr) => self.basic(b, "gl_SubgroupInvocationID"),
            (LaneFact::Size, Lanes::Khr) => self.basic(b, "gl_SubgroupSize"),
            (LaneFact::Mask(op), Lanes::Khr) => {
                b.t.need("GL_KHR_shader_subgroup_ballot");
                Expr::primary(format!("gl_Subgroup{op:?}Mask"))
            }
            (LaneFact::Index, Lanes::Nv) => self.brought(b, "GL_NV_shader_thread_group", "gl_ThreadInWarpNV"),
            (LaneFact::Size, Lanes::Nv) => self.brought(b, "GL_NV_shader_thread_group", "gl_WarpSizeNV"),
            (LaneFact::Mask(op), Lanes::Nv) => {
                b.t.need("GL_NV_shader_thread_group");
                Expr::primary(format!("uvec4(gl_Thread{op:?}MaskNV, 0u, 0u, 0u)"))
            }
            (LaneFact::Index, Lanes::Amd) => self.brought(b, "GL_ARB_shader_ballot", "gl_SubGroupInvocationARB"),
            (LaneFact::Size, Lanes::Amd) => self.brought(b, "GL_ARB_shader_ballot", "gl_SubGroupSizeARB"),
            (LaneFact::Mask(op), Lanes::Amd) => {
                b.t.need("GL_ARB_shader_ballot");
                self.mask_as_ballot(b, &Expr::primary(format!("gl_SubGroup{op:?}MaskARB")))
            }
            (LaneFact::InSet(_), _) => b.t.broken("a set of lanes"),
        }
    }

    fn brought(&self, b: &mut Body, extension: &'static str, name: &str) -> Expr {
        b.t.need(extension);
        Expr::primary(name)
    }

    fn basic(&self, b: &mut Body, name: &str) -> Expr {
        self.brought(b, "GL_KHR_shader_subgroup_basic", name)
    }

    pub fn group(&self, b: &mut Body, op: GroupOp, args: &[Arg]) -> Expr {
        match self.lanes {
            Lanes::Khr => self.khr(b, op, args),
            Lanes::Nv => self.nv(b, op, args),
            Lanes::Amd => self.amd(b, op, args),
        }
    }

    /// A function of GL_KHR_shader_subgroup_*.
    fn khr(&self, b: &mut Body, op: GroupOp, args: &[Arg]) -> Expr {
        let Some((extension, name)) = khr_function(op) else {
            return b.t.broken("a subgroup function that the language does not have");
        };
        b.t.need(extension);
        let narrow = args.first().map(|arg| arg.shape.0).filter(|scalar| !matches!(scalar.width, 1 | 32));
        if let Some(extension) = narrow.and_then(extended) {
            b.t.need(extension);
        }
        if op == GroupOp::Sync {
            b.line(format!("{name}()"));
            return Expr::primary("0u");
        }
        let mut list: Vec<Expr> = Vec::new();
        for (at, arg) in args.iter().enumerate() {
            list.push(if at == 0 { arg.value.clone() } else { b.index_of(arg) });
        }
        let cluster = match op {
            GroupOp::Reduce(_, GroupReduce::Clustered(width)) | GroupOp::Rotate(width) => width.lanes(),
            _ => None,
        };
        list.extend(cluster.map(|lanes| Expr::primary(format!("{lanes}u"))));
        Expr::call(&name, &list)
    }

    /// A function of NVIDIA's extensions.
    fn nv(&self, b: &mut Body, op: GroupOp, args: &[Arg]) -> Expr {
        let value = args.first().map_or_else(|| Expr::primary("0"), |arg| arg.value.clone());
        let (shuffle, index) = match op {
            GroupOp::Vote(vote) => {
                b.t.need("GL_NV_gpu_shader5");
                return Expr::call(if vote == VoteOp::All { "allThreadsNV" } else { "anyThreadNV" }, &[value]);
            }
            GroupOp::Ballot => return Expr::call("uvec4", &[self.nv_ballot(b, &value), Expr::primary("0u, 0u, 0u")]),
            GroupOp::BroadcastFirst => {
                let first = Expr::call("findLSB", &[self.nv_ballot(b, &Expr::primary("true"))]);
                ("shuffleNV", Expr::call("uint", &[first]))
            }
            GroupOp::Shuffle | GroupOp::Broadcast => ("shuffleNV", b.index_of(&args[1])),
            GroupOp::ShuffleXor => ("shuffleXorNV", b.index_of(&args[1])),
            GroupOp::ShuffleUp => ("shuffleUpNV", b.index_of(&args[1])),
            GroupOp::ShuffleDown => ("shuffleDownNV", b.index_of(&args[1])),
            _ => return b.t.broken("a subgroup function that the language does not have"),
        };
        b.t.need("GL_NV_shader_thread_shuffle");
        self.as_number(b, &args[0], |value| Expr::call(shuffle, &[value, index, Expr::primary("32u")]))
    }

    fn nv_ballot(&self, b: &mut Body, value: &Expr) -> Expr {
        b.t.need("GL_NV_shader_thread_group");
        Expr::call("ballotThreadNV", std::slice::from_ref(value))
    }

    /// A move of a value through a function that only takes numbers.
    fn as_number(&self, b: &mut Body, arg: &Arg, moved: impl FnOnce(Expr) -> Expr) -> Expr {
        let (scalar, size) = arg.shape;
        if !scalar.is_bool() {
            return moved(arg.value.clone());
        }
        let [words, bools] = [Scalar::U32, Scalar::BOOL].map(|scalar| b.t.vector_name(scalar, size));
        let number = Expr::call(&words, std::slice::from_ref(&arg.value));
        Expr::call(&bools, &[moved(number)])
    }

    /// A function of AMD's extensions, or of the group extensions that preceded Khronos' own.
    fn amd(&self, b: &mut Body, op: GroupOp, args: &[Arg]) -> Expr {
        let value = args.first().map_or_else(|| Expr::primary("0"), |arg| arg.value.clone());
        match op {
            GroupOp::Vote(vote) => {
                b.t.need("GL_ARB_shader_group_vote");
                let name = if vote == VoteOp::All { "allInvocationsARB" } else { "anyInvocationARB" };
                Expr::call(name, &[value])
            }
            GroupOp::Ballot => {
                b.t.need("GL_ARB_shader_ballot");
                self.mask_as_ballot(b, &Expr::call("ballotARB", &[value]))
            }
            GroupOp::MaskedCountAmd => {
                b.t.need("GL_AMD_shader_ballot");
                Expr::call("mbcntAMD", &[value])
            }
            GroupOp::ReduceAmd(op, reach) => {
                b.t.need("GL_AMD_shader_ballot");
                Expr::call(&amd_reduction(op, reach), &[value])
            }
            GroupOp::WriteAmd => {
                b.t.need("GL_AMD_shader_ballot");
                let index = b.index_of(&args[2]);
                Expr::call("writeInvocationAMD", &[value, args[1].value.clone(), index])
            }
            _ => match self.amd_move(b, op, args) {
                Some(by) => self.as_words(b, &args[0], &mut |body, words, ty| self.moved_by(body, &by, words, ty)),
                None => b.t.broken("a subgroup function that the language does not have"),
            },
        }
    }

    /// The function of a move, with the arguments after the value.
    fn amd_move(&self, b: &mut Body, op: GroupOp, args: &[Arg]) -> Option<AmdMove> {
        let index = args.get(1).map(|arg| (arg.known, b.index_of(arg)));
        let quad =
            |lanes: [u32; 4]| AmdMove::Swizzle(format!("uvec4({})", lanes.map(|lane| format!("{lane}u")).join(", ")));
        let masked = |and: u32, or: u32, xor: u32| AmdMove::Masked(format!("uvec3({and}u, {or}u, {xor}u)"));
        Some(match (op, index) {
            (GroupOp::BroadcastFirst, _) => AmdMove::First,
            (GroupOp::SwizzleAmd(mode), _) => quad([0, 1, 2, 3].map(|lane| u32::from(mode >> (2 * lane) & 3))),
            (GroupOp::SwizzleMaskedAmd { and, or, xor }, _) => masked(and.into(), or.into(), xor.into()),
            (GroupOp::QuadSwap(swap), _) => {
                let by = match swap {
                    QuadMove::Y => 2,
                    QuadMove::Diagonal => 3,
                    _ => 1,
                };
                quad([0, 1, 2, 3].map(|lane| lane ^ by))
            }
            (GroupOp::QuadBroadcast, Some((Some(lane), _))) => quad([lane & 3; 4]),
            (GroupOp::QuadBroadcast, Some((None, lane))) => {
                let base = Expr::binary("&", Level::And, &self.fact(b, LaneFact::Index), &Expr::primary("~3u"));
                AmdMove::Shuffle(Expr::binary("|", Level::Or, &base, &lane))
            }
            (GroupOp::Broadcast, Some((_, lane))) | (GroupOp::Shuffle, Some((Some(_), lane))) => AmdMove::Read(lane),
            (GroupOp::Shuffle, Some((None, lane))) => AmdMove::Shuffle(lane),
            // The masks reach 32 lanes.
            (GroupOp::ShuffleXor, Some((Some(mask @ 0..32), _))) => masked(31, 0, mask),
            (GroupOp::ShuffleXor, Some((_, mask))) => AmdMove::Shuffle(self.own_lane_and(b, "^", Level::Xor, &mask)),
            (GroupOp::ShuffleUp, Some((_, delta))) => AmdMove::Shuffle(self.own_lane_and(b, "-", Level::Sum, &delta)),
            (GroupOp::ShuffleDown, Some((_, delta))) => AmdMove::Shuffle(self.own_lane_and(b, "+", Level::Sum, &delta)),
            _ => return None,
        })
    }

    fn own_lane_and(&self, b: &mut Body, op: &'static str, level: Level, by: &Expr) -> Expr {
        Expr::binary(op, level, &self.fact(b, LaneFact::Index), by)
    }

    /// A value of 32-bit numbers from another lane.
    fn moved_by(&self, b: &mut Body, by: &AmdMove, value: Expr, ty: TypeId) -> Expr {
        let (extension, name, more) = match by {
            AmdMove::First => ("GL_ARB_shader_ballot", "readFirstInvocationARB", None),
            AmdMove::Read(lane) => ("GL_ARB_shader_ballot", "readInvocationARB", Some(lane.clone())),
            AmdMove::Swizzle(lanes) => ("GL_AMD_shader_ballot", "swizzleInvocationsAMD", Some(Expr::primary(lanes))),
            AmdMove::Masked(masks) => {
                ("GL_AMD_shader_ballot", "swizzleInvocationsMaskedAMD", Some(Expr::primary(masks)))
            }
            AmdMove::Shuffle(lane) => {
                let name = self.shuffle_by_reads(b.t, ty);
                return Expr::call(&name, &[value, lane.clone()]);
            }
        };
        b.t.need(extension);
        Expr::call(name, &[value].into_iter().chain(more).collect::<Vec<_>>())
    }

    /// A move through functions for 32-bit numbers: other types are converted to words.
    fn as_words(&self, b: &mut Body, arg: &Arg, moved: &mut dyn FnMut(&mut Body, Expr, TypeId) -> Expr) -> Expr {
        let (scalar, size) = arg.shape;
        let own = b.t.types.vector(scalar, size);
        match scalar.width {
            32 => moved(b, arg.value.clone(), own),
            64 => {
                let [part, words] = [b.t.types.vector(scalar, 1), b.t.types.vector(Scalar::U32, 2)];
                let value = if size == 1 { arg.value.clone() } else { b.name("own", own, &arg.value) };
                let mut parts = Vec::new();
                for n in 0..u32::from(size) {
                    let one = if size == 1 { value.clone() } else { value.part(&component(n)) };
                    let halves = b.t.reinterpreted(&one, part, words);
                    let halves = moved(b, halves, words);
                    parts.push(b.t.reinterpreted(&halves, words, part));
                }
                if size == 1 { parts.remove(0) } else { Expr::call(&b.t.vector_name(scalar, size), &parts) }
            }
            _ => {
                let bits = if scalar.is_bool() { scalar } else { Scalar { kind: ScalarKind::Uint, ..scalar } };
                let [bits, words] = [bits, Scalar::U32].map(|scalar| b.t.types.vector(scalar, size));
                let narrow = b.t.reinterpreted(&arg.value, own, bits);
                let wide = b.t.converted(&narrow, bits, words);
                let wide = moved(b, wide, words);
                let narrow = b.t.converted(&wide, words, bits);
                b.t.reinterpreted(&narrow, bits, own)
            }
        }
    }

    /// A mask of 64 bits as a ballot.
    pub fn mask_as_ballot(&self, b: &mut Body, mask: &Expr) -> Expr {
        b.t.vector_name(Scalar::U64, 1);
        let words = Expr::call("unpackUint2x32", std::slice::from_ref(mask));
        Expr::call("uvec4", &[words, Expr::primary("0u, 0u")])
    }
}

/// The name of AMD's function for a reduction.
fn amd_reduction(op: ReduceOp, reach: GroupReduce) -> String {
    let how = match reach {
        GroupReduce::Inclusive => "InclusiveScan",
        GroupReduce::Exclusive => "ExclusiveScan",
        GroupReduce::Reduce | GroupReduce::Clustered(_) => "",
    };
    format!("{}Invocations{how}NonUniformAMD", format!("{op:?}").to_lowercase())
}

/// A move of AMD's extensions.
enum AmdMove {
    First,
    /// From one lane to all.
    Read(Expr),
    Swizzle(String),
    Masked(String),
    /// From any lane, through a function in the text.
    Shuffle(Expr),
}

/// The extension with subgroup functions for this type.
const fn extended(scalar: Scalar) -> Option<&'static str> {
    Some(match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 16) => "GL_EXT_shader_subgroup_extended_types_float16",
        (ScalarKind::Float, _) => return None,
        (_, 8) => "GL_EXT_shader_subgroup_extended_types_int8",
        (_, 16) => "GL_EXT_shader_subgroup_extended_types_int16",
        (_, 64) => "GL_EXT_shader_subgroup_extended_types_int64",
        _ => return None,
    })
}

/// The extension and the name of a Khronos function.
fn khr_function(op: GroupOp) -> Option<(&'static str, String)> {
    const SHUFFLE: &str = "GL_KHR_shader_subgroup_shuffle";
    const RELATIVE: &str = "GL_KHR_shader_subgroup_shuffle_relative";
    const BALLOT: &str = "GL_KHR_shader_subgroup_ballot";
    const QUAD: &str = "GL_KHR_shader_subgroup_quad";
    let (extension, name) = match op {
        GroupOp::Shuffle => (SHUFFLE, "subgroupShuffle"),
        GroupOp::ShuffleXor => (SHUFFLE, "subgroupShuffleXor"),
        GroupOp::ShuffleUp => (RELATIVE, "subgroupShuffleUp"),
        GroupOp::ShuffleDown => (RELATIVE, "subgroupShuffleDown"),
        GroupOp::Rotate(width) => {
            let name = if width.lanes().is_some() { "subgroupClusteredRotate" } else { "subgroupRotate" };
            ("GL_KHR_shader_subgroup_rotate", name)
        }
        GroupOp::Broadcast => (BALLOT, "subgroupBroadcast"),
        GroupOp::BroadcastFirst => (BALLOT, "subgroupBroadcastFirst"),
        GroupOp::QuadBroadcast => (QUAD, "subgroupQuadBroadcast"),
        GroupOp::QuadSwap(QuadMove::Y) => (QUAD, "subgroupQuadSwapVertical"),
        GroupOp::QuadSwap(QuadMove::Diagonal) => (QUAD, "subgroupQuadSwapDiagonal"),
        GroupOp::QuadSwap(_) => (QUAD, "subgroupQuadSwapHorizontal"),
        GroupOp::Reduce(op, reach) => {
            let (extension, how) = match reach {
                GroupReduce::Reduce => ("GL_KHR_shader_subgroup_arithmetic", ""),
                GroupReduce::Inclusive => ("GL_KHR_shader_subgroup_arithmetic", "Inclusive"),
                GroupReduce::Exclusive => ("GL_KHR_shader_subgroup_arithmetic", "Exclusive"),
                GroupReduce::Clustered(_) => ("GL_KHR_shader_subgroup_clustered", "Clustered"),
            };
            return Some((extension, format!("subgroup{how}{op:?}")));
        }
        GroupOp::Vote(VoteOp::All) => ("GL_KHR_shader_subgroup_vote", "subgroupAll"),
        GroupOp::Vote(VoteOp::Any) => ("GL_KHR_shader_subgroup_vote", "subgroupAny"),
        GroupOp::Vote(VoteOp::Equal) => ("GL_KHR_shader_subgroup_vote", "subgroupAllEqual"),
        GroupOp::QuadVote(VoteOp::Any) => ("GL_EXT_shader_quad_control", "subgroupQuadAny"),
        GroupOp::QuadVote(_) => ("GL_EXT_shader_quad_control", "subgroupQuadAll"),
        GroupOp::Elect => ("GL_KHR_shader_subgroup_basic", "subgroupElect"),
        GroupOp::Sync => ("GL_KHR_shader_subgroup_basic", "subgroupBarrier"),
        GroupOp::Ballot => (BALLOT, "subgroupBallot"),
        GroupOp::InverseBallot => (BALLOT, "subgroupInverseBallot"),
        GroupOp::BallotBitExtract => (BALLOT, "subgroupBallotBitExtract"),
        GroupOp::BallotBitCount(CountOp::All) => (BALLOT, "subgroupBallotBitCount"),
        GroupOp::BallotBitCount(CountOp::Inclusive) => (BALLOT, "subgroupBallotInclusiveBitCount"),
        GroupOp::BallotBitCount(CountOp::Exclusive) => (BALLOT, "subgroupBallotExclusiveBitCount"),
        GroupOp::BallotFindLsb => (BALLOT, "subgroupBallotFindLSB"),
        GroupOp::BallotFindMsb => (BALLOT, "subgroupBallotFindMSB"),
        _ => return None,
    };
    Some((extension, name.to_string()))
}

impl Dialect {
    /// The function that reads any lane's value, one lane at a time.
    fn shuffle_by_reads(&self, t: &mut Writer, ty: TypeId) -> String {
        t.need("GL_ARB_shader_ballot");
        let (name, is_new) = t.helper(SHUFFLE, ty);
        if is_new {
            let of = t.type_name(ty);
            let lines = [
                format!("{of} {name}({of} value, uint lane) {{"),
                format!("    {of} moved = value;"),
                "    for (uint turn = 0u; turn < gl_SubGroupSizeARB; turn++) {".to_string(),
                format!("        {of} read = readInvocationARB(value, turn);"),
                "        if (turn == lane) {".to_string(),
                "            moved = read;".to_string(),
                "        }".to_string(),
                "    }".to_string(),
                "    return moved;".to_string(),
                "}".to_string(),
            ];
            t.helpers.extend(lines);
        }
        name
    }
}

/// The name of that function.
pub(super) const SHUFFLE: &str = "shuffleInvocation";
