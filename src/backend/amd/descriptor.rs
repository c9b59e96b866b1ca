//! The text around a kernel's code: header comment, kernel descriptor, metadata of the code object.
//!
//! Directives by processor: LLVM's `AMDGPUUsage`, "Code Object Metadata" and the `.amdhsa` directives, and what its
//! assembler accepts.

use super::arch::Arch;
use super::interface::{Interface, Needs};
use super::mnemonic::Generation;
use super::reflection::{Argument, Reflection};
use std::fmt::Write;

const TAKEN: &str = "a string takes everything";

/// The hardware resources that a kernel uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Usage {
    /// Vector registers, without the shared ones.
    pub vectors: u16,
    pub scalars: u16,
    /// Vector registers shared by both halves of a wave.
    pub shared_vectors: u16,
    /// Bytes of scratch memory of an invocation.
    pub scratch_bytes: u32,
    /// Values of 32 bits without a register: of each invocation, and of a wave.
    pub spilled: [u32; 2],
    /// Waves that run at once on one SIMD.
    pub occupancy: u32,
}

/// Allocation granularity of shared vector registers (LLVM: `.amdhsa_shared_vgpr_count`).
pub const SHARED_GRANULE: u16 = 8;

/// The padding after the code, which instruction fetch may read: filler words up to an alignment, then a fixed number
/// more (LLVM: `AMDGPUTargetELFStreamer::EmitCodeEnd`).
pub fn padding(arch: &Arch) -> String {
    let (align, count, word) = match arch.generation {
        Generation::Rdna1 => (6, 48, 0xbf9f_0000_u32),
        Generation::Rdna3 | Generation::Rdna4 => (7, 96, 0xbf9f_0000),
        Generation::Vega if arch.processor.even_pairs => (6, 256, 0xbf80_0000),
        _ => return String::new(),
    };
    format!("\t.p2alignl {align}, {word}\n\t.fill {count}, 4, {word}\n")
}

/// The kernel descriptor.
pub fn descriptor(name: &str, arch: &Arch, interface: &Interface, needs: &Needs, usage: &Usage) -> String {
    let mut text = format!("\t.rodata\n\t.p2align 6\n\t.amdhsa_kernel {name}\n");
    let mut put = |key: &str, value: u32| writeln!(text, "\t\t.amdhsa_{key} {value}").expect(TAKEN);
    put("group_segment_fixed_size", interface.shared_bytes);
    put("private_segment_fixed_size", usage.scratch_bytes);
    put("kernarg_size", interface.bytes);
    put("user_sgpr_kernarg_segment_ptr", 1);
    if needs.scratch_resource {
        put("user_sgpr_private_segment_buffer", 1);
    }
    put("user_sgpr_count", needs.user_scalars);
    if needs.scratch {
        let key = match arch.processor.scratch_instructions {
            true => "enable_private_segment",
            false => "system_sgpr_private_segment_wavefront_offset",
        };
        put(key, 1);
    }
    for (axis, wanted) in ["x", "y", "z"].into_iter().zip(needs.group_ids) {
        put(&format!("system_sgpr_workgroup_id_{axis}"), wanted.into());
    }
    put("system_vgpr_workitem_id", needs.local_ids.into());
    put("next_free_vgpr", usage.vectors.max(1).into());
    put("next_free_sgpr", usage.scalars.max(1).into());
    if arch.processor.even_pairs {
        put("accum_offset", u32::from(usage.vectors.max(1)).next_multiple_of(4));
    }
    put("reserve_vcc", 1);
    if arch.reserves_flat_scratch() {
        put("reserve_flat_scratch", 0);
    }
    put("float_denorm_mode_32", 3);
    put("float_denorm_mode_16_64", 3);
    if arch.generation < Generation::Rdna4 {
        put("ieee_mode", 0);
        put("dx10_clamp", 0);
    }
    if arch.generation >= Generation::Rdna1 {
        put("wavefront_size32", u32::from(arch.wave == 32));
    }
    if usage.shared_vectors > 0 {
        put("shared_vgpr_count", u32::from(usage.shared_vectors / SHARED_GRANULE));
    }
    text + "\t.end_amdhsa_kernel\n"
}

/// The metadata, as YAML.
pub fn metadata(arch: &Arch, reflection: &Reflection) -> String {
    let mut text = String::from("\t.amdgpu_metadata\n---\namdhsa.version: [1, 2]\n");
    writeln!(text, "amdhsa.target: {}", target(arch)).expect(TAKEN);
    text += "amdhsa.kernels:\n";
    writeln!(text, "  - .name: {0}\n    .symbol: {0}.kd", reflection.symbol).expect(TAKEN);
    let mut put = |key: &str, value: u32| writeln!(text, "    .{key}: {value}").expect(TAKEN);
    put("kernarg_segment_size", reflection.argument_bytes);
    put("kernarg_segment_align", 16);
    put("group_segment_fixed_size", reflection.shared_bytes);
    put("private_segment_fixed_size", reflection.scratch_bytes);
    put("wavefront_size", reflection.subgroup_size);
    put("sgpr_count", reflection.scalar_registers);
    put("vgpr_count", reflection.vector_registers);
    if arch.processor.has_accumulators {
        put("agpr_count", 0);
    }
    put("max_flat_workgroup_size", reflection.workgroup_size.iter().product());
    let [x, y, z] = reflection.workgroup_size;
    writeln!(text, "    .reqd_workgroup_size: [{x}, {y}, {z}]").expect(TAKEN);
    if reflection.arguments.is_empty() {
        text += "    .args: []\n";
    } else {
        text += "    .args:\n";
        reflection.arguments.iter().for_each(|argument| text += &argument_lines(argument));
    }
    text + "...\n\t.end_amdgpu_metadata\n"
}

fn argument_lines(argument: &Argument) -> String {
    let Argument { name, offset, size, .. } = argument;
    let kind = argument.value_kind();
    let space = if kind == "global_buffer" { "\n      .address_space: global" } else { "" };
    format!("    - .name: {name}\n      .offset: {offset}\n      .size: {size}\n      .value_kind: {kind}{space}\n")
}

/// The target name.
pub fn target(arch: &Arch) -> String {
    format!("amdgcn-amd-amdhsa--{}", arch.processor.name)
}
