//! Modes that a shader sets for all its rays.

use super::{Shader, assemble, listing, options};
use crate::ir::{Binding, RayModes, RayOp, RayOperand, Space, Type, Types, Value};

/// A query with these flags, in a module with these ray modes.
fn text(modes: RayModes) -> String {
    let mut shader = Shader::new(|_| vec![Types::U32]);
    let structure = shader.module.types.intern(Type::AccelerationStructure);
    let binding = Binding::Resource { set: 0, binding: 1 };
    let scene = shader.global("scene", Space::Handle, structure, binding);
    let mut module = shader.main(|b, _| {
        let query = b.module.types.intern(Type::RayQuery);
        let query = b.local("query", query, None);
        let mut operand = |operand: &RayOperand| match operand {
            RayOperand::Structure => b.load(scene),
            other => {
                let ty = other.ty(&mut b.module.types);
                b.zero(ty)
            }
        };
        let operands: Vec<Value> = RayOp::Initialize.operands().iter().map(&mut operand).collect();
        b.ray(RayOp::Initialize, query, &operands);
    });
    module.rays = modes;
    listing(&assemble(&module, &options("spirv-1.6")))
}

#[test]
fn what_is_said_of_rays_is_a_capability() {
    let rows = [
        (RayModes::PRIMITIVE_CULLING, "RayTraversalPrimitiveCullingKHR", "SPV_KHR_ray_query"),
        (RayModes::OPACITY_MICROMAPS, "RayTracingOpacityMicromapEXT", "SPV_EXT_opacity_micromap"),
    ];
    for (modes, capability, extension) in rows {
        let (with, without) = (text(modes), text(RayModes::empty()));
        let wanted = format!("OpCapability {capability}");
        assert!(with.contains(&wanted) && with.contains(extension), "{with}");
        assert!(!without.contains(&wanted), "{without}");
    }
}
