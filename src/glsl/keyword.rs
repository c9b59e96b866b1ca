//! The keywords and reserved words of GLSL 4.60 and GLSL ES 3.20 (section 3.6 of both specifications), and of the
//! extensions whose words the grammar needs.
//!
//! The table is hashed by the compiler, so that nothing is built at start-up; [`Classes`] holds the class of each
//! interned word. The parser decides if a keyword needs an extension or a later version.

use super::ast::{Interpolation, List, Memory, Precision, QualifierKind, RayStorage, SpirvWord, Storage};
use super::token::{Interner, Symbol};
use crate::grammar::key::Key;
use QualifierKind as Q;
use WordClass::{Bool, CallQualifier, Keyword as K, Qualifier, Reserved, SoftKeyword, SoftQualifier, Type};

/// The grammar's classes of words.
#[derive(Clone, Copy, Debug)]
pub enum WordClass {
    Identifier,
    /// Names a built-in type.
    Type,
    Qualifier(QualifierKind),
    /// A qualifier if another word follows, otherwise an identifier. These come from extensions.
    SoftQualifier(QualifierKind),
    /// A qualifier if `(` follows, otherwise an identifier.
    CallQualifier(QualifierKind),
    Keyword(Keyword),
    /// A statement if `;` follows, otherwise an identifier.
    SoftKeyword(Keyword),
    /// `true` and `false`.
    Bool(bool),
    /// Reserved for later versions of the language: it must not be used.
    Reserved,
}

/// Words that start a statement or declaration.
#[rustfmt::skip]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Keyword {
    If, Else, Switch, Case, Default, While, Do, For, Break, Continue, Return, Discard,
    Demote, TerminateInvocation, IgnoreIntersection, TerminateRay, Struct, Precision,
}

/// One of the two word lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    Desktop,
    Es,
}

/// Words of one class.
struct Group {
    class: WordClass,
    /// The class in GLSL ES.
    es: WordClass,
    words: &'static [&'static str],
}

const fn both(class: WordClass, words: &'static [&'static str]) -> Group {
    Group { class, es: class, words }
}

/// Words that GLSL ES only reserves.
const fn desktop(class: WordClass, words: &'static [&'static str]) -> Group {
    Group { class, es: Reserved, words }
}

const fn storage(storage: Storage, word: &'static [&'static str]) -> Group {
    both(Qualifier(Q::Storage(storage)), word)
}

const fn ray(storage: RayStorage, word: &'static [&'static str]) -> Group {
    both(SoftQualifier(Q::Storage(Storage::Ray(storage))), word)
}

const fn memory(memory: Memory, word: &'static [&'static str]) -> Group {
    both(Qualifier(Q::Memory(memory)), word)
}

const fn scope(memory: Memory, word: &'static [&'static str]) -> Group {
    both(SoftQualifier(Q::Memory(memory)), word)
}

const fn spirv(spirv: SpirvWord, word: &'static [&'static str]) -> Group {
    let kind = Q::Spirv(spirv, List::EMPTY);
    both(if spirv.has_args() { CallQualifier(kind) } else { SoftQualifier(kind) }, word)
}

#[rustfmt::skip]
static GROUPS: &[Group] = &[
    both(Type, &[
        "void", "bool", "int", "uint", "float",
        "bvec2", "bvec3", "bvec4", "ivec2", "ivec3", "ivec4", "uvec2", "uvec3", "uvec4", "vec2", "vec3", "vec4",
        "mat2", "mat3", "mat4", "mat2x2", "mat2x3", "mat2x4", "mat3x2", "mat3x3", "mat3x4", "mat4x2", "mat4x3", "mat4x4",
        "atomic_uint",
    ]),
    desktop(Type, &[
        "double", "dvec2", "dvec3", "dvec4",
        "dmat2", "dmat3", "dmat4", "dmat2x2", "dmat2x3", "dmat2x4", "dmat3x2", "dmat3x3", "dmat3x4", "dmat4x2", "dmat4x3",
        "dmat4x4",
    ]),
    both(Type, &[
        "sampler2D", "isampler2D", "usampler2D", "sampler2DShadow",
        "sampler2DArray", "isampler2DArray", "usampler2DArray", "sampler2DArrayShadow",
        "sampler2DMS", "isampler2DMS", "usampler2DMS", "sampler2DMSArray", "isampler2DMSArray", "usampler2DMSArray",
        "sampler3D", "isampler3D", "usampler3D", "samplerCube", "isamplerCube", "usamplerCube", "samplerCubeShadow",
        "samplerCubeArray", "isamplerCubeArray", "usamplerCubeArray", "samplerCubeArrayShadow",
        "samplerBuffer", "isamplerBuffer", "usamplerBuffer",
        "image2D", "iimage2D", "uimage2D", "image2DArray", "iimage2DArray", "uimage2DArray",
        "image3D", "iimage3D", "uimage3D", "imageCube", "iimageCube", "uimageCube",
        "imageCubeArray", "iimageCubeArray", "uimageCubeArray", "imageBuffer", "iimageBuffer", "uimageBuffer",
    ]),
    desktop(Type, &[
        "sampler1D", "isampler1D", "usampler1D", "sampler1DShadow",
        "sampler1DArray", "isampler1DArray", "usampler1DArray", "sampler1DArrayShadow",
        "sampler2DRect", "isampler2DRect", "usampler2DRect", "sampler2DRectShadow",
        "image1D", "iimage1D", "uimage1D", "image1DArray", "iimage1DArray", "uimage1DArray",
        "image2DRect", "iimage2DRect", "uimage2DRect",
        "image2DMS", "iimage2DMS", "uimage2DMS", "image2DMSArray", "iimage2DMSArray", "uimage2DMSArray",
    ]),

    storage(Storage::Const, &["const"]),
    storage(Storage::In, &["in"]),
    storage(Storage::Out, &["out"]),
    storage(Storage::InOut, &["inout"]),
    storage(Storage::Centroid, &["centroid"]),
    storage(Storage::Patch, &["patch"]),
    storage(Storage::Sample, &["sample"]),
    storage(Storage::Uniform, &["uniform"]),
    storage(Storage::Buffer, &["buffer"]),
    storage(Storage::Shared, &["shared"]),
    desktop(Qualifier(Q::Storage(Storage::Attribute)), &["attribute"]),
    desktop(Qualifier(Q::Storage(Storage::Varying)), &["varying"]),
    both(SoftQualifier(Q::Storage(Storage::TileImage)), &["tileImageEXT"]),
    both(SoftQualifier(Q::Storage(Storage::TaskPayload)), &["taskPayloadSharedEXT"]),
    both(SoftQualifier(Q::Storage(Storage::TaskMemory)), &["taskNV"]),
    both(SoftQualifier(Q::Storage(Storage::PerView)), &["perviewNV"]),
    ray(RayStorage::Payload, &["rayPayloadEXT"]),
    ray(RayStorage::PayloadNv, &["rayPayloadNV"]),
    ray(RayStorage::PayloadIn, &["rayPayloadInEXT"]),
    ray(RayStorage::PayloadInNv, &["rayPayloadInNV"]),
    ray(RayStorage::HitAttribute, &["hitAttributeEXT"]),
    ray(RayStorage::HitAttributeNv, &["hitAttributeNV"]),
    ray(RayStorage::HitObjectAttributeNv, &["hitObjectAttributeNV"]),
    ray(RayStorage::HitObjectAttribute, &["hitObjectAttributeEXT"]),
    ray(RayStorage::CallableData, &["callableDataEXT"]),
    ray(RayStorage::CallableDataNv, &["callableDataNV"]),
    ray(RayStorage::CallableDataIn, &["callableDataInEXT"]),
    ray(RayStorage::CallableDataInNv, &["callableDataInNV"]),

    memory(Memory::Coherent, &["coherent"]),
    memory(Memory::Volatile, &["volatile"]),
    memory(Memory::Restrict, &["restrict"]),
    memory(Memory::ReadOnly, &["readonly"]),
    memory(Memory::WriteOnly, &["writeonly"]),
    scope(Memory::DeviceCoherent, &["devicecoherent"]),
    scope(Memory::QueueFamilyCoherent, &["queuefamilycoherent"]),
    scope(Memory::WorkgroupCoherent, &["workgroupcoherent"]),
    scope(Memory::SubgroupCoherent, &["subgroupcoherent"]),
    scope(Memory::ShaderCallCoherent, &["shadercallcoherent"]),
    scope(Memory::NonPrivate, &["nonprivate"]),
    scope(Memory::NonTemporal, &["nontemporal"]),

    both(Qualifier(Q::Interpolation(Interpolation::Smooth)), &["smooth"]),
    both(Qualifier(Q::Interpolation(Interpolation::Flat)), &["flat"]),
    desktop(Qualifier(Q::Interpolation(Interpolation::NoPerspective)), &["noperspective"]),
    both(SoftQualifier(Q::Interpolation(Interpolation::PerVertex)), &["pervertexEXT", "pervertexNV"]),
    both(SoftQualifier(Q::Interpolation(Interpolation::Explicit)), &["__explicitInterpAMD"]),
    both(SoftQualifier(Q::Interpolation(Interpolation::PerPrimitive { nvidia: false })), &["perprimitiveEXT"]),
    both(SoftQualifier(Q::Interpolation(Interpolation::PerPrimitive { nvidia: true })), &["perprimitiveNV"]),
    both(Qualifier(Q::Precision(Precision::Low)), &["lowp"]),
    both(Qualifier(Q::Precision(Precision::Medium)), &["mediump"]),
    both(Qualifier(Q::Precision(Precision::High)), &["highp"]),
    both(Qualifier(Q::Layout(List::EMPTY)), &["layout"]),
    both(Qualifier(Q::Precise), &["precise"]),
    both(Qualifier(Q::Invariant), &["invariant"]),
    both(SoftQualifier(Q::NonUniform), &["nonuniformEXT"]),
    desktop(Qualifier(Q::Subroutine(List::EMPTY)), &["subroutine"]),

    spirv(SpirvWord::Instruction, &["spirv_instruction"]),
    spirv(SpirvWord::Decorate, &["spirv_decorate"]),
    spirv(SpirvWord::DecorateId, &["spirv_decorate_id"]),
    spirv(SpirvWord::DecorateString, &["spirv_decorate_string"]),
    spirv(SpirvWord::ExecutionMode, &["spirv_execution_mode"]),
    spirv(SpirvWord::ExecutionModeId, &["spirv_execution_mode_id"]),
    spirv(SpirvWord::StorageClass, &["spirv_storage_class"]),
    spirv(SpirvWord::ByReference, &["spirv_by_reference"]),
    spirv(SpirvWord::Literal, &["spirv_literal"]),

    both(Bool(true), &["true"]),
    both(Bool(false), &["false"]),
    both(K(Keyword::If), &["if"]),
    both(K(Keyword::Else), &["else"]),
    both(K(Keyword::Switch), &["switch"]),
    both(K(Keyword::Case), &["case"]),
    both(K(Keyword::Default), &["default"]),
    both(K(Keyword::While), &["while"]),
    both(K(Keyword::Do), &["do"]),
    both(K(Keyword::For), &["for"]),
    both(K(Keyword::Break), &["break"]),
    both(K(Keyword::Continue), &["continue"]),
    both(K(Keyword::Return), &["return"]),
    both(K(Keyword::Discard), &["discard"]),
    both(SoftKeyword(Keyword::Demote), &["demote"]),
    both(SoftKeyword(Keyword::TerminateInvocation), &["terminateInvocation"]),
    both(SoftKeyword(Keyword::IgnoreIntersection), &["ignoreIntersectionEXT"]),
    both(SoftKeyword(Keyword::TerminateRay), &["terminateRayEXT"]),
    both(K(Keyword::Struct), &["struct"]),
    both(K(Keyword::Precision), &["precision"]),

    both(Reserved, &[
        "common", "partition", "active", "asm", "class", "union", "enum", "typedef", "template", "this", "resource", "goto",
        "inline", "noinline", "public", "static", "extern", "external", "interface",
        "long", "short", "half", "fixed", "unsigned", "superp", "input", "output",
        "hvec2", "hvec3", "hvec4", "fvec2", "fvec3", "fvec4",
        "filter", "sizeof", "cast", "namespace", "using", "sampler3DRect",
    ]),
];

/// Slots of the hash table: a power of two, about four times the number of words.
const SLOTS: usize = 1024;
/// A free slot.
const FREE: (u8, u8) = (u8::MAX, 0);
/// Group and index within it, by [`Key`], with linear probing.
static TABLE: [(u8, u8); SLOTS] = table();

const fn table() -> [(u8, u8); SLOTS] {
    let mut table = [FREE; SLOTS];
    let mut group = 0;
    while group < GROUPS.len() {
        let mut word = 0;
        while word < GROUPS[group].words.len() {
            let mut slot = Key::of(GROUPS[group].words[word].as_bytes()).slot(SLOTS - 1);
            while table[slot].0 != FREE.0 {
                slot = (slot + 1) % SLOTS;
            }
            table[slot] = (group as u8, word as u8);
            word += 1;
        }
        group += 1;
    }
    table
}

/// All words of the tables with their classes.
pub fn words(language: Language) -> impl Iterator<Item = (&'static str, WordClass)> {
    GROUPS.iter().flat_map(move |group| {
        let class = if language == Language::Es { group.es } else { group.class };
        group.words.iter().map(move |word| (*word, class))
    })
}

/// The words that are a complete expression or statement.
pub fn values() -> impl Iterator<Item = &'static str> {
    let is_one =
        |class| matches!(class, Bool(_) | K(Keyword::Break | Keyword::Continue | Keyword::Return | Keyword::Discard));
    words(Language::Desktop).filter(move |(_, class)| is_one(*class)).map(|(word, _)| word)
}

/// The names of built-in types.
pub fn types() -> impl Iterator<Item = &'static str> {
    words(Language::Desktop).filter(|(_, class)| matches!(class, Type)).map(|(word, _)| word)
}

/// The class of a word.
pub fn classify(word: &str, language: Language) -> WordClass {
    classify_keyed(|| word.as_bytes(), Key::of(word.as_bytes()), language)
}

/// The class of a word by its key; the text is only compared if the key matches.
fn classify_keyed<'w>(word: impl Fn() -> &'w [u8], key: Key, language: Language) -> WordClass {
    let mut slot = key.slot(SLOTS - 1);
    loop {
        let (group, index) = TABLE[slot];
        if group == FREE.0 {
            return WordClass::Identifier;
        }
        let group = &GROUPS[group as usize];
        if group.words[index as usize].as_bytes() == word() {
            return if language == Language::Es { group.es } else { group.class };
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// The classes of the words of one shader, each looked up once.
#[derive(Debug)]
pub struct Classes {
    /// Indexed by symbol.
    known: Vec<WordClass>,
}

impl Classes {
    pub fn new(interner: &Interner, language: Language) -> Classes {
        let class = |(symbol, key)| classify_keyed(|| interner.bytes(symbol), key, language);
        Classes { known: interner.keys().map(class).collect() }
    }

    pub fn of(&self, symbol: Symbol) -> WordClass {
        self.known[symbol.0 as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_and_stands_once() {
        let mut words: Vec<&str> = GROUPS.iter().flat_map(|group| group.words).copied().collect();
        for word in &words {
            assert!(!matches!(classify(word, Language::Desktop), WordClass::Identifier), "{word}");
        }
        let count = words.len();
        words.sort_unstable();
        words.dedup();
        assert_eq!((words.len(), count * 2 < SLOTS), (count, true));
    }

    #[test]
    fn other_words_are_identifiers() {
        for word in
            ["", "x", "main", "gl_Position", "float16_t", "texture2D", "Float", "a_name_longer_than_any_keyword"]
        {
            assert!(matches!(classify(word, Language::Desktop), WordClass::Identifier), "{word}");
        }
    }

    #[test]
    fn es_reserves_what_only_the_desktop_has() {
        assert!(matches!(classify("double", Language::Desktop), Type));
        assert!(matches!(classify("double", Language::Es), Reserved));
    }
}
