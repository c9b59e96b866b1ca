//! HLSL: the row of the language, and what naga's text leaves to be mended.
//!
//! A resource of set S and binding N is `register(xN, spaceS)`, where `x` is its kind's letter, unless options choose another
//! place. naga reads samplers from a heap by numbers in a buffer; here they are bound like other resources.

use super::language::{Asked, CAPABILITIES, Constants, Language, Sizing, c_type};
use super::reflection;
use super::sizes::macro_name;
use super::slots::{self, Most, Slot};
use crate::backend::places::Places;
use crate::lane::{GroupOp, GroupReduce, ReduceOp, VoteOp};
use crate::limits;
use naga::back::hlsl::{BindTarget, BindingMap, Options, PipelineOptions, ShaderModel, Writer};
use naga::valid::ModuleInfo;
use naga::{AddressSpace, ImageClass, ResourceBinding, TypeInner};

/// The register space of push constants, of which no descriptor set has the number.
const PUSH_SPACE: u32 = 255;

/// The letter of samplers' registers.
const SAMPLER: &str = "s";

pub(super) static HLSL: Language = Language {
    capabilities: CAPABILITIES,
    write: text,
    complete: |text, _| text,
    reflection: reflection::direct3d,
    stands_in: function,
    namespace: "",
    most_lanes: 128,
    naming: named,
    lane_words: &["Wave", "Quad"],
    control_words: &[
        "if ", "} else", "while", "do ", "for ", "}", "{", "break", "continue", "switch", "case ", "default",
    ],
    constants: Constants::Macros,
    sizing: Sizing {
        length: ["[", "]"],
        declares: |line| !line.starts_with(' '),
        workgroup: "[numthreads(",
        multiplies: false,
        signed: |number| format!("({number})"),
        type_name: c_type,
        bits: |kind, value| format!("as{}({value})", c_type(kind)),
        choice: |condition, accept, reject| format!("({condition} ? {accept} : {reject})"),
    },
    push_constants: Some(ResourceBinding { group: PUSH_SPACE, binding: 0 }),
    slots,
    // naga's writer has spaces of one byte.
    most_slots: |_| Most { space: 255, index: u32::MAX },
    has_uniformity: false,
    has_vertex_writes: true,
    coherent_since: Some((0, 0)),
    has_precise: true,
    folds_unsigned_bits: true,
    absent: &[],
    missing_built_ins: &[naga::BuiltIn::NumWorkGroups],
    divides_into_waves: true,
    fragments_have_w: true,
    has_frexp: false,
    has_inverse: false,
    has_offsets_of_all: false,
    compares_at_level_0: true,
    has_subgroup_barriers: false,
    has_endless_loops: true,
};

/// The functions of the language for what naga's form lacks.
fn function(op: GroupOp) -> Option<&'static str> {
    Some(match op {
        GroupOp::Elect => "WaveIsFirstLane",
        GroupOp::Partition => "WaveMatch",
        GroupOp::QuadVote(VoteOp::All) => "QuadAll",
        GroupOp::QuadVote(VoteOp::Any) => "QuadAny",
        GroupOp::PartitionedReduce(op, GroupReduce::Exclusive) => match op {
            ReduceOp::Add => "WaveMultiPrefixSum",
            ReduceOp::Mul => "WaveMultiPrefixProduct",
            ReduceOp::And => "WaveMultiPrefixBitAnd",
            ReduceOp::Or => "WaveMultiPrefixBitOr",
            ReduceOp::Xor => "WaveMultiPrefixBitXor",
            ReduceOp::Min | ReduceOp::Max => return None,
        },
        _ => return None,
    })
}

/// The name and the expression of a line such as `const float2 moved = _e3;`.
fn named(line: &str) -> Option<(&str, &str)> {
    let (left, right) = line.split_once(" = ")?;
    let (ty, name) = left.strip_prefix("const ").unwrap_or(left).split_once(' ')?;
    let is_word = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    (is_word(ty) && is_word(name)).then_some((name, right))
}

fn model((major, minor): (u8, u8)) -> Result<ShaderModel, String> {
    Ok(match (major, minor) {
        (6, 0) => ShaderModel::V6_0,
        (6, 1) => ShaderModel::V6_1,
        (6, 2) => ShaderModel::V6_2,
        (6, 3) => ShaderModel::V6_3,
        (6, 4) => ShaderModel::V6_4,
        (6, 5) => ShaderModel::V6_5,
        (6, 6) => ShaderModel::V6_6,
        (6, 7) => ShaderModel::V6_7,
        (6, 8) => ShaderModel::V6_8,
        (6, 9) => ShaderModel::V6_9,
        _ => return Err(format!("there is no Shader Model {major}.{minor}")),
    })
}

/// The resources of a module with their registers.
fn slots(module: &naga::Module, places: &Places) -> Vec<Slot> {
    slots::of_variables(module, places, &HLSL, |variable, key, place| {
        let kind = match (variable.space, &module.types[variable.ty].inner) {
            (AddressSpace::Uniform, _) => "b",
            (_, TypeInner::Sampler { .. }) => SAMPLER,
            _ if slots::is_written(module, variable) => "u",
            (_, TypeInner::Image { class: ImageClass::Storage { .. }, .. }) => "u",
            _ => "t",
        };
        let own = if HLSL.push_constants == Some(key) { 0 } else { key.group };
        let chosen = place.map(|place| (place.group.unwrap_or(own), place.number));
        let (space, index) = chosen.unwrap_or((key.group, key.binding));
        (kind, space, index)
    })
}

/// The registers as naga's writer takes them. Samplers have their numbers among the slots, for [`sampler`] to read.
fn registers(slots: &[Slot]) -> BindingMap {
    let target = |(at, slot): (usize, &Slot)| {
        let register = if slot.kind == SAMPLER { at as u32 } else { slot.index };
        let space = u8::try_from(slot.space).unwrap_or(u8::MAX);
        Some((slot.key?, BindTarget { space, register, ..BindTarget::default() }))
    };
    slots.iter().enumerate().filter_map(target).collect()
}

fn text(module: &naga::Module, info: &ModuleInfo, asked: &Asked) -> Result<String, String> {
    let options = Options {
        shader_model: model(asked.profile.version)?,
        binding_map: registers(asked.slots),
        zero_initialize_workgroup_memory: asked.zeroes_shared,
        restrict_indexing: false,
        force_loop_bounding: false,
        ..Options::default()
    };
    let pipeline = PipelineOptions::default();
    let mut text = limits::Text::default();
    let mut writer = Writer::new(&mut text, &options, &pipeline);
    writer.write(module, info, None).map_err(|error| super::finish::chain(&error))?;
    Ok(mended(&text.0, module, asked))
}

/// The text with samplers at their registers, specialization constants as macros, stores of one component to images that have
/// one, and stores to matrices of two rows that last.
fn mended(text: &str, module: &naga::Module, asked: &Asked) -> String {
    let mut private = module.global_variables.iter().filter(|(_, variable)| variable.space == AddressSpace::Private);
    let images: Vec<&str> = text.lines().filter_map(image_of_one).collect();
    let mut whole = String::with_capacity(text.len());
    for line in text.lines().map(str::trim_end) {
        limits::write(line.len());
        limits::spend(images.len());
        if is_of_heap(line) {
            continue;
        }
        if let Some(sampler) = sampler(line, asked.slots) {
            whole.push_str(&sampler);
        } else if line.starts_with("static ") && !line.starts_with("static const ") {
            let variable = private.next().map(|(handle, _)| handle);
            limits::spend(asked.macros.len());
            let constant = asked.macros.iter().find(|(made, _)| Some(*made) == variable);
            whole.push_str(&constant.map_or_else(|| line.to_string(), |(_, number)| constant_lines(line, *number)));
        } else {
            match stored(line, &images).or_else(|| setter(line)) {
                Some(line) => whole.push_str(&line),
                None => whole.push_str(line),
            }
        }
        whole.push('\n');
    }
    whole
}

/// The name of an image whose texels have one component: `RWTexture2D<uint> NAME : register(u0);`.
fn image_of_one(line: &str) -> Option<&str> {
    let (ty, rest) = line.strip_prefix("RWTexture")?.split_once("> ")?;
    let is_vector = ty.ends_with(|c: char| c.is_ascii_digit());
    rest.split_once(" : register(").map(|(name, _)| name).filter(|_| !is_vector)
}

/// A store of a vector's first component, where the line stores a vector to one of the images.
fn stored(line: &str, images: &[&str]) -> Option<String> {
    let (image, _) = line.trim_start().split_once('[')?;
    let (place, value) = line.split_once("] = ")?;
    let value = value.strip_suffix(';').filter(|_| images.contains(&image))?;
    Some(format!("{place}] = ({value}).x;"))
}

/// The head of a function of naga's that stores to a matrix of two rows, whose first parameter naga passes by value: `void
/// SetMatmOnS(S obj, float2x2 mat) {`. Functions of the shader have their brace on the next line.
fn setter(line: &str) -> Option<String> {
    let starts = ["void SetMat", "void __set_col_of_mat", "void __set_el_of_mat"];
    let is_it = starts.iter().any(|start| line.starts_with(start)) && line.ends_with(") {");
    is_it.then(|| line.replacen('(', "(inout ", 1))
}

/// Returns true for the declarations of the heaps of samplers and of the buffers with numbers in them.
fn is_of_heap(line: &str) -> bool {
    let of_numbers = line.starts_with("StructuredBuffer<uint> nagaGroup") && line.contains("SamplerIndexArray");
    of_numbers
        || line.starts_with("SamplerState nagaSamplerHeap[")
        || line.starts_with("SamplerComparisonState nagaComparisonSamplerHeap[")
}

/// Makes the declaration of a sampler from naga's, which reads a heap, with its number among the slots: `static const
/// SamplerState NAME = nagaSamplerHeap[nagaGroup0SamplerIndexArray[3]];`.
fn sampler(line: &str, slots: &[Slot]) -> Option<String> {
    let (declared, heap) = line.strip_prefix("static const ")?.split_once(" = ")?;
    let (_, array) = heap.split_once("SamplerHeap[nagaGroup")?;
    let (_, number) = array.split_once("SamplerIndexArray[")?;
    let (number, _) = number.split_once(']')?;
    let Slot { space, index, .. } = slots.get(number.parse::<usize>().ok()?)?;
    Some(match space {
        0 => format!("{declared} : register({SAMPLER}{index});"),
        _ => format!("{declared} : register({SAMPLER}{index}, space{space});"),
    })
}

/// A variable whose initial value is a macro, or its own value if the macro is not defined.
fn constant_lines(line: &str, number: u32) -> String {
    let by = macro_name(number);
    match line.split_once(" = ") {
        Some((declared, value)) => {
            let value = value.trim_end_matches(';');
            let declared = declared.replacen("static ", "static const ", 1);
            format!("#ifndef {by}\n#define {by} {value}\n#endif\n{declared} = {by};")
        }
        None => line.to_string(),
    }
}
