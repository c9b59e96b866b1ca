//! The entry point and its `layout` lines.

use super::constants::macro_of;
use super::{Dialect, versions};
use crate::backend::source::writer::Writer;
use crate::ir::{
    Binding, BuiltIn, ConstValue, DepthPromise, DerivativeGroup, EntryPoint, Global, PixelParts, Reconvergence, Stage,
};

impl Dialect {
    /// The `layout` lines of the stage.
    pub fn entry_layouts(&self, t: &mut Writer, entry: &EntryPoint) -> Vec<String> {
        match entry.stage {
            Stage::Compute => self.require(t, &versions::COMPUTE),
            Stage::Geometry => self.require(t, &versions::GEOMETRY),
            Stage::TessControl | Stage::TessEvaluation => self.require(t, &versions::TESSELLATION),
            _ => {}
        }
        let mut lines = match entry.stage {
            Stage::Compute => vec![self.workgroup_size(t, entry)],
            Stage::Vertex => {
                self.redeclare_outputs(t);
                Vec::new()
            }
            Stage::Fragment => self.fragment_layouts(t, entry),
            Stage::Geometry | Stage::TessControl | Stage::TessEvaluation => self.primitive_layouts(t, entry),
            Stage::Task | Stage::Mesh => {
                self.need_meshes(t, t.module.nvidia_meshes);
                let mut lines = vec![self.workgroup_size(t, entry)];
                lines.extend(self.primitive_layouts(t, entry));
                lines
            }
            _ => {
                self.need_rays(t);
                Vec::new()
            }
        };
        lines.extend(self.ray_layouts(t));
        lines
    }

    fn workgroup_size(&self, t: &mut Writer, entry: &EntryPoint) -> String {
        let mut words = Vec::new();
        for (axis, id) in ["x", "y", "z"].into_iter().zip(entry.workgroup_size) {
            let constant = t.module.constants.get(id).clone();
            match constant.value {
                ConstValue::Bits(1) if axis != "x" => {}
                ConstValue::Bits(size) => words.push(format!("local_size_{axis} = {size}")),
                ConstValue::Spec { id, default } if self.is_vulkan => {
                    words.push(format!("local_size_{axis} = {default}, local_size_{axis}_id = {id}"));
                }
                ConstValue::Spec { id: number, .. } => {
                    t.constant(id);
                    words.push(format!("local_size_{axis} = {}", macro_of(number)));
                }
                _ => t.unsupported("sizes of workgroups that are expressions of specialization constants"),
            }
        }
        if let Some(group) = entry.derivatives {
            t.need("GL_NV_compute_shader_derivatives");
            words.push(match group {
                DerivativeGroup::Quads => "derivative_group_quadsNV".to_string(),
                DerivativeGroup::Linear => "derivative_group_linearNV".to_string(),
            });
        }
        format!("layout({}) in;", words.join(", "))
    }

    fn fragment_layouts(&self, t: &mut Writer, entry: &EntryPoint) -> Vec<String> {
        let modes = entry.fragment;
        let mut lines = Vec::new();
        if modes.early_tests {
            let is_depth = |global: &Global| global.binding == Binding::BuiltIn(BuiltIn::FragDepth);
            if self.is_es && t.module.globals.iter().any(|(_, global)| is_depth(global)) {
                t.lacks("shaders that write depth and have early tests");
            }
            self.require(t, &versions::EARLY_TESTS);
            lines.push("layout(early_fragment_tests) in;".to_string());
        }
        let promise = match modes.depth {
            // ES has no depth promises, which only make tests earlier.
            _ if self.is_es => None,
            DepthPromise::Any => None,
            DepthPromise::Greater => Some("greater"),
            DepthPromise::Less => Some("less"),
            DepthPromise::Unchanged => Some("unchanged"),
        };
        if let Some(promise) = promise {
            self.require(t, &versions::DEPTH_PROMISES);
            lines.push(format!("layout(depth_{promise}) out float gl_FragDepth;"));
        }
        if modes.post_depth_coverage {
            t.need("GL_ARB_post_depth_coverage");
            lines.push("layout(post_depth_coverage) in;".to_string());
        }
        if modes.full_quads || modes.quad_derivatives {
            t.need("GL_EXT_shader_quad_control");
        }
        if modes.full_quads {
            lines.push("layout(full_quads) in;".to_string());
        }
        if modes.quad_derivatives {
            lines.push("layout(quad_derivatives) in;".to_string());
        }
        if let Some(interlock) = modes.interlock {
            t.need("GL_ARB_fragment_shader_interlock");
            let of = if interlock.of_sample { "sample" } else { "pixel" };
            let order = if interlock.ordered { "ordered" } else { "unordered" };
            lines.push(format!("layout({of}_interlock_{order}) in;"));
        }
        if modes.override_coverage || modes.early_and_late_tests || modes.non_coherent != PixelParts::empty() {
            t.unsupported("such modes of fragment shaders");
        }
        lines
    }

    /// The attribute that follows the header of `main`.
    pub fn reconvergence(&self, t: &mut Writer, entry: &EntryPoint) -> &'static str {
        match entry.reconvergence {
            Reconvergence::Default => "",
            Reconvergence::SubgroupUniform => {
                t.need("GL_EXT_subgroup_uniform_control_flow");
                " [[subgroup_uniform_control_flow]]"
            }
            Reconvergence::Maximal => {
                t.need("GL_EXT_maximal_reconvergence");
                " [[maximally_reconverges]]"
            }
        }
    }
}
