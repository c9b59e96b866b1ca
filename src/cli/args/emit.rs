//! The values of `--emit`.

use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser};
use clap::{Arg, ValueEnum};
use std::ffi::OsStr;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// A SPIR-V binary.
    Spirv,
    /// SPIR-V as text.
    SpirvText,
    /// The typed intermediate form.
    Ir,
    /// The kernel form that assembly is written from.
    Kernel,
    /// An NVIDIA assembly program.
    Nv,
    /// An AMD kernel as assembly text.
    S,
    /// A PTX kernel.
    Ptx,
    /// A cubin, by CUDA's `ptxas`.
    Cubin,
    /// WGSL.
    Wgsl,
    /// GLSL.
    Glsl,
    /// HLSL.
    Hlsl,
    /// Metal's language.
    Msl,
    /// A code object for AMD's runtimes, by LLVM's assembler and linker.
    Hsaco,
    /// The resources that the caller must bind and the values that it must set, as JSON.
    Reflection,
    /// The preprocessed source.
    Preprocessed,
}

/// A value of `--emit`.
#[derive(Clone)]
pub struct Emitted {
    pub form: Emit,
    /// The text after `@`.
    pub moment: Option<String>,
}

/// Reads `FORM` and `FORM@MOMENT`.
#[derive(Clone)]
pub struct EmitParser;

impl TypedValueParser for EmitParser {
    type Value = Emitted;

    fn parse_ref(&self, cmd: &clap::Command, arg: Option<&Arg>, value: &OsStr) -> Result<Emitted, clap::Error> {
        let split = value.to_str().and_then(|value| value.split_once('@'));
        let (form, moment) = split.map_or((value, None), |(form, moment)| (OsStr::new(form), Some(moment)));
        let form = EnumValueParser::<Emit>::new().parse_ref(cmd, arg, form)?;
        Ok(Emitted { form, moment: moment.map(str::to_owned) })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(Emit::value_variants().iter().filter_map(Emit::to_possible_value)))
    }
}
