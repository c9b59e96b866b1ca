//! Words for errors about entry points and their inputs and outputs.

use super::{Speaker, Words, camel_case, missing, named};
use naga::valid::{EntryPointError, GlobalUse, VaryingError};
use naga::{AddressSpace, BuiltIn, Handle, StorageAccess};

impl Speaker<'_> {
    pub(super) fn entry_point(&self, error: &EntryPointError) -> Option<Words> {
        Some(match error {
            EntryPointError::Conflict => "two entry points of one stage have the same name".into(),
            EntryPointError::MissingVertexOutputPosition => {
                "a vertex entry point returns a `@builtin(position)`".into()
            }
            EntryPointError::UnexpectedEarlyDepthTest => {
                "`@early_depth_test` is for fragment entry points".into()
            }
            EntryPointError::UnexpectedWorkgroupSize => "`@workgroup_size` is for compute entry points".into(),
            EntryPointError::OutOfRangeWorkgroupSize => {
                "a size of the workgroup is zero, or the workgroup is larger than any device takes".into()
            }
            EntryPointError::ForbiddenStageOperations => {
                "the entry point reaches an operation that its stage does not have: derivatives, and samples that choose their \
                 level by them, are for fragments, barriers for compute shaders"
                    .into()
            }
            EntryPointError::InvalidGlobalUsage(of, usage) => self.wrong_use(*of, *usage).into(),
            EntryPointError::MoreThanOneImmediateUsed => {
                "the entry point uses more than one variable of immediate data".into()
            }
            EntryPointError::BindingCollision(of) => self.collision(*of).into(),
            EntryPointError::UnsupportedCapability(needed) => missing(*needed),
            EntryPointError::Function(error) => return self.function(error),
            EntryPointError::Result(error) | EntryPointError::Argument(_, error) => return self.varying(error),
            EntryPointError::ExpectedMeshShaderAttributes
            | EntryPointError::UnexpectedMeshShaderAttributes
            | EntryPointError::UnexpectedTaskPayload
            | EntryPointError::TaskPayloadWrongAddressSpace
            | EntryPointError::WrongTaskPayloadUsed
            | EntryPointError::WrongTaskShaderEntryResult
            | EntryPointError::ExpectedTaskPayload
            | EntryPointError::BadMeshOutputVariableType
            | EntryPointError::BadMeshOutputVariableField
            | EntryPointError::UnexpectedMeshShaderEntryResult
            | EntryPointError::InvalidMeshOutputType
            | EntryPointError::InvalidMeshPrimitiveOutputType
            | EntryPointError::WrongMeshOutputAddressSpace
            | EntryPointError::TaskPayloadTooSmall(_) => {
                Words::refusal("mesh and task entry points are not supported yet")
            }
            EntryPointError::RayPayloadInInvalidStage(_) | EntryPointError::IncomingRayPayloadInInvalidStage(_) => {
                Words::refusal("ray tracing entry points are not supported yet")
            }
        })
    }

    fn wrong_use(&self, of: Handle<naga::GlobalVariable>, usage: GlobalUse) -> String {
        let name = self.variable_name(of);
        let space = self.module.global_variables[of].space;
        if matches!(space, AddressSpace::Storage { access } if !access.contains(StorageAccess::STORE)) {
            format!("`{name}` is only read; to write it, declare it as `var<storage, read_write>`")
        } else if space == AddressSpace::WorkGroup {
            format!("`{name}` is workgroup memory, which only compute shaders have")
        } else if usage.contains(GlobalUse::WRITE) {
            format!("`{name}` cannot be written in {}", named(space))
        } else {
            format!("`{name}` cannot be used like this in {}", named(space))
        }
    }

    /// Two resources of one entry point at the same place.
    fn collision(&self, of: Handle<naga::GlobalVariable>) -> String {
        let variables = &self.module.global_variables;
        let (name, place) = (self.variable_name(of), &variables[of].binding);
        let other = variables.iter().find(|(handle, other)| *handle != of && other.binding == *place);
        let other = other.map_or("another resource", |(handle, _)| self.variable_name(handle));
        match place {
            Some(at) => {
                let (group, binding) = (at.group, at.binding);
                format!("`{name}` and `{other}` of one entry point are both `@group({group}) @binding({binding})`")
            }
            None => format!("`{name}` and `{other}` have the same binding"),
        }
    }

    pub(super) fn varying(&self, error: &VaryingError) -> Option<Words> {
        Some(match *error {
            VaryingError::NotIOShareableType(of) | VaryingError::InvalidType(of) => format!(
                "a `{}` cannot be an input or output of an entry point: numbers and vectors of them can",
                self.type_name(of)
            )
            .into(),
            VaryingError::InvalidInterpolationForInteger => {
                "integers cannot be interpolated: write `@interpolate(flat)`".into()
            }
            VaryingError::InvalidInterpolationSamplingCombination { .. } => {
                "this kind of interpolation does not go with this kind of sampling".into()
            }
            VaryingError::InvalidBuiltInStage(of) => {
                format!("`@builtin({})` does not exist in this stage, or not in this direction", builtin(of)).into()
            }
            VaryingError::InvalidBuiltInType(of, ref seen) => {
                format!("`@builtin({})` has another type than `{}`", builtin(of), self.inner_name(seen)).into()
            }
            VaryingError::MissingBinding => Words::with_help(
                "inputs and outputs of an entry point have a `@location` or a `@builtin`",
                "a vertex's position is `@builtin(position) vec4f`, a color `@location(0) vec4f`",
            ),
            VaryingError::MemberMissingBinding(at) => {
                format!("member {} of the struct has no `@location` and no `@builtin`", at + 1).into()
            }
            VaryingError::BindingCollision { location } => {
                format!("two inputs, or two outputs, are at location {location}").into()
            }
            VaryingError::BindingCollisionBlendSrc { blend_src } => {
                format!("two outputs are `@blend_src({blend_src})`").into()
            }
            VaryingError::DuplicateBuiltIn(of) => format!("`@builtin({})` is there twice", builtin(of)).into(),
            VaryingError::UnsupportedCapability(needed) => missing(needed),
            VaryingError::InvalidBlendSrcIndex { .. } => "`@blend_src` is 0 or 1, at location 0".into(),
            VaryingError::IncompleteBlendSrcUsage { present_blend_src } => {
                format!("`@blend_src({present_blend_src})` is there without the other one").into()
            }
            VaryingError::InvalidBlendSrcWithOtherBindings { location } => {
                format!("an output at location {location} cannot be beside outputs with `@blend_src`").into()
            }
            VaryingError::BlendSrcOutputTypeMismatch { blend_src_0_type: a, blend_src_1_type: b } => format!(
                "the two outputs with `@blend_src` have different types, `{}` and `{}`",
                self.type_name(a),
                self.type_name(b)
            )
            .into(),
            VaryingError::BlendSrcNotOnStructMember => "`@blend_src` is for members of a struct".into(),
            VaryingError::InvalidInterpolationInStage(_, stage) => {
                format!("`@interpolate` of this kind is for {stage:?} entry points only").to_lowercase().into()
            }
            VaryingError::MissingInterpolation => {
                "values that pass from vertices to fragments need an interpolation".into()
            }
            VaryingError::InvalidInputAttributeInStage(_, stage) | VaryingError::InvalidAttributeInStage(_, stage) => {
                format!("this attribute is not allowed in a {} entry point", camel_case(&format!("{stage:?}"))).into()
            }
            VaryingError::InvalidPerPrimitive | VaryingError::MissingPerPrimitive => {
                "`@per_primitive` is for inputs of fragment entry points".into()
            }
            VaryingError::PerVertexNotArrayOfThree => {
                "an input with `@interpolate(per_vertex)` is an array of three values".into()
            }
            VaryingError::InvalidPerVertexSampling => "an input with `@interpolate(per_vertex)` has no sampling".into(),
            // naga only sees one-dimensional workgroups.
            VaryingError::InvalidMultiDimensionalSubgroupBuiltIn => return None,
        })
    }
}

/// The spelling of a built-in value; naga writes it in capitals.
fn builtin(of: BuiltIn) -> String {
    let debug = format!("{of:?}");
    let name = debug.split([' ', '(', '{']).next().unwrap_or_default().replace("WorkGroup", "Workgroup");
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.extend(c.to_lowercase());
    }
    text
}
