//! Why a cell is impossible, according to section 7 of the semantics: refusals are compared with this table, and so is
//! what is not refused.

use crosslane::profile::{Profile, Target};

use super::kind::{Kind, Type};
use super::rows::Unit;
use super::shader::Shader;
use super::spelling;
use support::fixture::Language;

/// A reason.
pub struct Reason {
    /// The title in the table.
    pub title: &'static str,
    /// Returns true if this is the reason for a cell, assuming that none before it is.
    applies: fn(&Asked<'_>) -> bool,
    /// The words that the message must contain, one from each list.
    says: fn(&Asked<'_>) -> Vec<Vec<String>>,
}

/// A cell on a profile.
pub struct Asked<'a> {
    pub profile: &'a Profile,
    pub unit: &'a Unit,
    pub ty: Option<Type>,
}

/// The reasons, the first that applies counts.
pub static REASONS: &[Reason] = &[
    Reason {
        title: "no spelling in WGSL yet",
        applies: |asked| asked.unit.language == Language::Wgsl && spelling::is_missing(asked.unit),
        says: |_| vec![spelling::SAID.map(str::to_owned).to_vec()],
    },
    Reason {
        title: "no subgroups",
        // Reductions over one lane too: the shader around a cell uses the lane's index.
        applies: |asked| WITHOUT_SUBGROUPS.contains(&&*asked.profile.name),
        says: |_| {
            vec![
                WITHOUT_SUBGROUPS
                    .into_iter()
                    .chain([
                        "is not available",
                        "a profile with",
                        "WGSL has no",
                        "MSL has no",
                        "MSL yet",
                        "a subgroup of 32",
                        "the subgroup has 32",
                        "--wave-size",
                        "extension not supported",
                        "has no compute shaders",
                    ])
                    .map(str::to_owned)
                    .collect(),
            ]
        },
    },
    Reason {
        title: "no compute shaders",
        applies: |asked| ["glsl-330", "glsl-400", "glsl-410"].contains(&&*asked.profile.name),
        says: |_| vec![["has no compute shaders", "--wave-size"].map(str::to_owned).to_vec()],
    },
    Reason {
        title: "no fixed number of lanes",
        applies: |asked| {
            let needs = ["subgroup_group_size", "subgroup_log2_group_size"].contains(&asked.unit.row().title());
            needs && asked.profile.wave_size.is_none()
        },
        says: |_| vec![vec!["--wave-size".to_owned()]],
    },
    Reason {
        title: "no numbers of subgroups before SPIR-V 1.3",
        // What the profile has is refused too: the shader around a cell uses the subgroup's number.
        // `fixtures/core/lanes_of_1_0.comp` tests it.
        applies: |asked| is_early(asked.profile),
        says: |_| vec![["spirv-1.", "needs SPIR-V 1.3"].map(str::to_owned).to_vec()],
    },
    Reason {
        title: "Fermi has no shuffles",
        applies: |asked| &*asked.profile.name == "nv-fermi" && !fermi_can(asked),
        // A form that is also too wide may be reported as such.
        says: |_| {
            vec![
                ["nv-fermi", "nv-shuffle", "is not available", "a subgroup of 32", "the subgroup has 32"]
                    .map(str::to_owned)
                    .to_vec(),
            ]
        },
    },
    Reason {
        title: LACKS_TYPE,
        applies: lacks_type,
        says: |_| {
            vec![
                [
                    "has no type",
                    "cannot write type",
                    "does not fit into a subgroup",
                    "bits as a type of another size",
                    "is not available",
                    "SL has no such",
                ]
                .map(str::to_owned)
                .to_vec(),
            ]
        },
    },
];

/// The profiles in which nothing moves between lanes.
const WITHOUT_SUBGROUPS: [&str; 5] = ["wgsl-nosubgroups", "msl-ios-2.1", "hlsl-5.0", "hlsl-5.1", "glsl-es-300"];

/// The title of the reason that a type is not there.
pub const LACKS_TYPE: &str = "the language has no such type";

/// Returns true if the profile's language does not have the type of a cell's values; HLSL's halves have no bits in
/// DXC's modules.
fn lacks_type(asked: &Asked<'_>) -> bool {
    use Kind as K;
    const WORDS_ONLY: [&str; 8] =
        ["glsl-420", "glsl-430", "glsl-440", "glsl-es-310", "glsl-es-320-khr", "glsl-450-nv", "hlsl-6.0", "hlsl-6.1"];
    let has_words_only = WORDS_ONLY.contains(&&*asked.profile.name);
    if !matches!(asked.profile.target, Target::Wgsl | Target::Hlsl | Target::Msl) && !has_words_only {
        return false;
    }
    let has_narrow = asked.profile.target == Target::Msl;
    Shader::value_types(asked.unit, asked.ty).iter().any(|ty| match ty.kind {
        K::F16 | K::I8 | K::U8 | K::I16 | K::U16 if has_narrow => false,
        // The types exist, but no cross-lane operation takes them.
        K::I64 | K::U64 if has_narrow => {
            asked.profile.version < (2, 3) || Shader::taken_types(asked.unit, asked.ty).contains(ty)
        }
        K::F64 | K::I8 | K::U8 | K::I16 | K::U16 | K::I64 | K::U64 => true,
        K::F16 => has_words_only || asked.profile.target == Target::Hlsl && asked.unit.language == Language::Glsl,
        K::F32 | K::I32 | K::U32 | K::Bool => false,
    })
}

/// Returns true if a profile is of SPIR-V before its instructions of subgroups.
fn is_early(profile: &Profile) -> bool {
    profile.target == Target::Spirv && profile.version < (1, 3)
}

/// Families of votes, ballots and facts about lanes, which Fermi has.
#[rustfmt::skip]
const FERMI: &[&str] = &[
    "{F}Quad", "ballot", "laneIndex", "laneCount", "segmentLast{W}", "subgroupElect", "gl_SubgroupSize",
    "gl_SubgroupInvocationID", "subgroup{F}", "subgroupBallot", "subgroupInverseBallot", "subgroupBallotBitExtract",
    "subgroupBallot{K}BitCount", "subgroupBallotFind{E}", "gl_Subgroup{M}Mask", "subgroupQuad{F}", "activeThreadsNV",
    "ballotThreadNV", "{F}NV", "gl_WarpSizeNV", "gl_ThreadInWarpNV", "gl_Thread{M}MaskNV", "shuffle{mode}NVValid",
    "{F}", "{F}ARB", "gl_SubGroupSizeARB", "gl_SubGroupInvocationARB", "gl_SubGroup{M}MaskARB", "ballotARB", "mbcntAMD",
    "subgroup_{F}_true", "subgroup_{F}_true_tiled", "subgroup_ballot", "subgroup_ballot_full_subgroup",
    "subgroup_ballot_first_n", "subgroup_lanemask_{m}", "subgroup_invocation_id", "subgroup_group_size",
    "subgroup_log2_group_size", "subgroup_elect", "writeInvocationAMD",
];

/// Returns true if Fermi can run a cell. In GLSL the whole extension must be there for it.
fn fermi_can(asked: &Asked<'_>) -> bool {
    let (row, profile) = (asked.unit.row(), asked.profile);
    let extension = row.extension(|extension| extension.available(profile));
    let has_extension = extension.is_none_or(|extension| extension.available(profile));
    let family = row.family.as_str();
    let known = FERMI.contains(&family) || votes_do(asked) || stays(asked) || crosses_warps(asked);
    // The validity of a shuffle up or down comes from the shuffle itself.
    let shuffles = family == "shuffle{mode}NVValid" && !["shuffleNVValid", "shuffleXorNVValid"].contains(&row.title());
    known && !shuffles && (has_extension || asked.unit.language == Language::Wgsl)
}

/// Returns true for a reduction over one lane, which moves nothing. Sorts, segmented reductions and rotations of one
/// lane are refused with their wider forms.
fn stays(asked: &Asked<'_>) -> bool {
    let family = &asked.unit.row().family;
    asked.unit.width == Some(1) && !["segmented", "Rotate", "sort"].iter().any(|moves| family.contains(moves))
}

/// Returns true for a move over warps, which goes through workgroup memory alone.
fn crosses_warps(asked: &Asked<'_>) -> bool {
    let moves = ["butterfly{W}", "reverse{W}", "subgroupClusteredRotate"];
    asked.unit.width.is_some_and(|width| width > 32) && moves.contains(&asked.unit.row().family.as_str())
}

/// Ballots reduce bools, and votes compare them.
fn votes_do(asked: &Asked<'_>) -> bool {
    asked.ty.is_some_and(|ty| ty.kind == Kind::Bool) && FOLDS.contains(&asked.unit.row().family.as_str())
}

#[rustfmt::skip]
const FOLDS: &[&str] = &[
    "reduce{Op}{W}", "allReduce{Op}{W}", "inclusive{Op}{W}", "exclusive{Op}{W}", "subgroup{K}{Op}",
    "subgroupClustered{Op}", "subgroupAllEqual",
];

impl Asked<'_> {
    /// Why the profile refuses the cell; `None` if it must not.
    pub fn reason(&self) -> Option<&'static Reason> {
        REASONS.iter().find(|reason| (reason.applies)(self))
    }
}

impl Reason {
    /// Compares the messages with the expected reason.
    pub fn hold(&self, asked: &Asked<'_>, said: &str) -> Result<(), String> {
        let missing = (self.says)(asked).into_iter().find(|words| !words.iter().any(|word| said.contains(word)));
        match missing {
            None => Ok(()),
            Some(words) => Err(format!("refused as {}, and none of {words:?} is in\n{said}", self.title)),
        }
    }
}
