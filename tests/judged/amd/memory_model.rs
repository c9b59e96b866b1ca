//! Accesses, atomics, fences and barriers compared with LLVM's code for the same operations: which caches are bypassed,
//! written back and invalidated, and in which order, on every processor.

use super::machine_code::{filter, target};
use crosslane::compile::{Input, Language};
use crosslane::kernel::Specializations;
use crosslane::profile::Profile;
use std::process::Command;
use support::{assembler, compiler, shader};

/// A statement of GLSL, and the same for LLVM.
static ROWS: &[(&str, &str)] = &[
    ("b[i] = a[i];", "%x = load atomic i32, ptr addrspace(1) %a syncscope(\"agent\") monotonic, align 4; RESULT"),
    ("a[i] = 7u;", "store atomic i32 7, ptr addrspace(1) %a syncscope(\"agent\") monotonic, align 4"),
    ("atomicAdd(a[i], 5u);", "%x = atomicrmw add ptr addrspace(1) %a, i32 5 syncscope(\"agent\") monotonic"),
    (
        "b[i] = atomicAdd(a[i], 5u);",
        "%x = atomicrmw add ptr addrspace(1) %a, i32 5 syncscope(\"agent\") monotonic; RESULT",
    ),
    (
        "b[i] = atomicCompSwap(a[i], 5u, 6u);",
        "%y = cmpxchg ptr addrspace(1) %a, i32 5, i32 6 syncscope(\"agent\") monotonic monotonic; \
         %x = extractvalue { i32, i1 } %y, 0; RESULT",
    ),
    (
        "atomicAdd(a[i], 5u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);",
        "%x = atomicrmw add ptr addrspace(1) %a, i32 5 syncscope(\"agent\") release",
    ),
    (
        "atomicAdd(a[i], 5u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);",
        "%x = atomicrmw add ptr addrspace(1) %a, i32 5 syncscope(\"agent\") acq_rel",
    ),
    (
        "b[i] = atomicLoad(a[i], gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquire);",
        "%x = load atomic i32, ptr addrspace(1) %a syncscope(\"agent\") acquire, align 4; RESULT",
    ),
    (
        "atomicStore(a[i], 7u, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsRelease);",
        "store atomic i32 7, ptr addrspace(1) %a syncscope(\"agent\") release, align 4",
    ),
    ("memoryBarrier();", "fence syncscope(\"agent\") acq_rel"),
    ("memoryBarrierBuffer();", "fence syncscope(\"agent-one-as\") acq_rel"),
    ("groupMemoryBarrier();", "fence syncscope(\"workgroup\") acq_rel"),
    (
        "memoryBarrierShared();",
        "fence syncscope(\"workgroup\") acq_rel, !mmra !{!\"amdgpu-synchronize-as\", !\"local\"}",
    ),
    (
        "controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);",
        "fence syncscope(\"workgroup\") release; call void @llvm.amdgcn.s.barrier(); \
         fence syncscope(\"workgroup\") acquire",
    ),
    (
        "controlBarrier(gl_ScopeWorkgroup, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease);",
        "fence syncscope(\"agent\") release; call void @llvm.amdgcn.s.barrier(); fence syncscope(\"agent\") acquire",
    ),
];

/// Every row on every profile.
pub fn hold(profiles: &[Profile]) -> Result<(), String> {
    if !assembler::are_there()? {
        return Ok(());
    }
    let mut wrong = Vec::new();
    for profile in profiles {
        let mut llc = Command::new("llc-22");
        let theirs =
            filter(llc.args(target(profile)).args(["-mtriple=amdgcn-amd-amdhsa", "-o", "-", "-"]), &for_llvm())?;
        for (n, (statement, _)) in ROWS.iter().enumerate() {
            let start = format!("row_{n}:");
            let theirs = theirs.split(&start).nth(1).ok_or_else(|| format!("LLVM has no {start}"))?;
            let (ours, theirs) = (steps(&compile(statement, profile)?), steps(theirs));
            if ours != theirs {
                wrong.push(format!("{statement} on {}: {ours:?}, LLVM has {theirs:?}", profile.name));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn for_llvm() -> String {
    let row = |(n, (_, code)): (usize, &(&str, &str))| {
        let code = code.replace("RESULT", "store i32 %x, ptr addrspace(1) %b").replace("; ", "\n");
        format!(
            "define amdgpu_kernel void @row_{n}(ptr addrspace(1) %a, ptr addrspace(1) %b) #0 {{\n{code}\nret void }}\n"
        )
    };
    let rows: String = ROWS.iter().enumerate().map(row).collect();
    rows + "attributes #0 = { \"amdgpu-flat-work-group-size\"=\"256,256\" }\n"
}

fn compile(statement: &str, profile: &Profile) -> Result<String, String> {
    let source = format!(
        "#version 450\n#extension GL_KHR_memory_scope_semantics : require\nlayout(local_size_x = 256) in;\n\
         layout(std430, binding = 0) coherent buffer A {{ uint a[]; }};\nlayout(std430, binding = 1) buffer B {{ uint b[]; }};\n\
         void main() {{\n    uint i = gl_LocalInvocationIndex;\n    {statement}\n}}\n"
    );
    let input = Input { name: "statement.comp", bytes: source.as_bytes(), language: Language::Glsl };
    compiler::amd_program(&input, &shader::options(&profile.name)?, &Specializations::new()).map(|program| program.text)
}

/// The accesses with their cache bits, the barriers, and the cache controls, up to the end.
fn steps(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| line.split(';').next().unwrap_or_default().trim());
    lines.take_while(|line| *line != "s_endpgm").filter_map(step).collect()
}

fn step(line: &str) -> Option<String> {
    let name = line.split(' ').next().unwrap_or_default();
    if ["s_barrier", "s_barrier_wait"].contains(&name) {
        return Some("barrier".to_owned());
    }
    if !["global_", "flat_", "buffer_"].iter().any(|start| name.starts_with(start)) {
        return None;
    }
    let Some(deed) = ["_load", "_store", "_atomic"].into_iter().find(|deed| name.contains(deed)) else {
        // On gfx7, crosslane invalidates all lines, LLVM only those that others may write.
        return Some(line.replace("wbinvl1_vol", "wbinvl1"));
    };
    let is_policy =
        |word: &&str| ["glc", "dlc", "sc0", "sc1"].contains(word) || word.contains("SCOPE") || word.contains("TH_");
    let words: Vec<&str> = std::iter::once(&deed[1..]).chain(line.split(' ').filter(is_policy)).collect();
    Some(words.join(" "))
}
