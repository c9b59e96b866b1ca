//! Whole modules: valid ones become verified `ir`, invalid ones get their message at the right place.

use super::{WgslOptions, compile};
use crate::backend::{Options, spirv};
use crate::diagnostic::{Code, Diagnostics};
use crate::ir::Stage;
use crate::ir::{self, print, verify};
use crate::profile::Profile;
use crate::source::SourceMap;

/// The printed module of a text, or its messages.
struct Result {
    printed: Option<String>,
    diagnostics: Diagnostics,
    sources: SourceMap,
}

fn compiled(source: &str, options: &WgslOptions<'_>) -> Result {
    let mut sources = SourceMap::new();
    let file = sources.add("test.wgsl", source).unwrap();
    let mut diagnostics = Diagnostics::new();
    let module = compile(file, &sources, options, &mut diagnostics, None);
    assert_eq!(module.is_none(), diagnostics.has_errors(), "{diagnostics:?}");
    if let Some(module) = &module {
        assert_verified(module);
        assert_emits(module, &sources);
    }
    let printed = module.map(|module| print::print(&module, None));
    Result { printed, diagnostics, sources }
}

fn assert_verified(module: &ir::Module) {
    let found = verify::verify(module);
    assert!(found.is_ok(), "{found:?}\n{}", print::print(module, None));
}

/// Checks that the target accepts the front end's module.
fn assert_emits(module: &ir::Module, sources: &SourceMap) {
    let profile = Profile::named("spirv-1.3").expect("a profile of the package").with_wave_size(Some(64));
    let options = Options::new(profile);
    if let Err(errors) = spirv::emit(module, &options, sources) {
        panic!("{errors:?}\n{}", print::print(module, None));
    }
}

/// The printed module of a text that must compile.
fn accepted(source: &str) -> String {
    let result = compiled(source, &WgslOptions { wave_size: Some(32), ..WgslOptions::default() });
    result.printed.unwrap_or_else(|| panic!("{:?}\n{source}", result.diagnostics))
}

/// A module whose entry point, 64 invocations wide, has this body; `data` is its buffer, `v` a value from it.
fn kernel(body: &str) -> String {
    format!(
        "enable subgroups;\nenable crosslane;\n@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
         @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) {{\n\
         var v = data[g.x];\n{body}\ndata[g.x] = v;\n}}\n"
    )
}

/// Code and marked text of the first error of a text that must not compile.
fn refused(source: &str) -> (Code, String) {
    let result = compiled(source, &WgslOptions::default());
    let error = result.diagnostics.iter().next().unwrap_or_else(|| panic!("accepted: {source}"));
    (error.code, result.sources.text(error.span()).to_string())
}

/// Code and message of the first error of a text that must not compile.
fn refusal(source: &str) -> (Code, String) {
    let result = compiled(source, &WgslOptions::default());
    let error = result.diagnostics.iter().next().unwrap_or_else(|| panic!("accepted: {source}"));
    (error.code, error.message.clone())
}

#[test]
fn arithmetic_has_wgsl_results() {
    let printed = accepted(&kernel("v = v / (v - 3u) + v % 4u + (v << v) + (v << 3u) + u32(f32(v));"));
    assert!(printed.contains("rem %") && printed.contains(", 4u"), "{printed}");
    assert_eq!(printed.matches("select ").count(), 1, "only the unknown divisor is guarded: {printed}");
    assert_eq!(printed.matches("31u").count(), 1, "only the unknown amount is masked: {printed}");
    assert!(printed.contains("clamp"), "{printed}");
    assert!(accepted(&kernel("let i = i32(v); v = u32(i / (i - 1));")).contains("logical_and"));
}

#[test]
fn every_built_in_function_passes() {
    let bodies = [
        "let a = modf(f32(v)); let b = frexp(a.fract); v = u32(b.fract) + u32(b.exp) + u32(a.whole);",
        "v = countOneBits(v) + reverseBits(v) + firstLeadingBit(v) + firstTrailingBit(v) + countLeadingZeros(v);",
        "v = extractBits(v, v, 3u) + insertBits(v, 1u, 2u, v) + countTrailingZeros(v) + u32(firstLeadingBit(i32(v)));",
        "v = pack4xI8(unpack4xI8(v)) + pack4xU8Clamp(unpack4xU8(v)) + dot4U8Packed(v, v) + u32(dot4I8Packed(v, v));",
        "v = pack4x8snorm(unpack4x8snorm(v)) + pack2x16float(unpack2x16float(v)) + pack2x16unorm(unpack2x16unorm(v));",
        "let m = mat3x3f(1, 2, 3, 4, 5, 6, 7, 8, f32(v)); v = u32(determinant(m + transpose(m)) + (m * m[0]).x);",
        "v = dot(vec3u(v), vec3u(1, 2, 3)) + u32(mix(vec2f(1), vec2f(f32(v)), 0.5).x) + u32(saturate(f32(v)));",
        "v = select(v, 1u, any(vec2(v > 3u, v < 9u)) && all(v == 5u)) + u32(quantizeToF16(vec3f(f32(v))).y);",
        "v = bitcast<u32>(bitcast<vec2f>(vec2u(v)).x) + u32(abs(-i32(v))) + u32(sign(i32(v))) + max(v, 3u);",
        "v = u32(ldexp(f32(v), 2) + round(f32(v)) + smoothstep(0.0, 1.0, f32(v)) + length(vec2f(f32(v))));",
    ];
    for body in bodies {
        accepted(&kernel(body));
    }
}

#[test]
fn control_flow_is_structured() {
    let loops = "for (var i = 0u; i < 4u; i++) { if i == v { continue; } if v > 9u { break; } v += i; }\n\
                 while v > 3u { v -= 1u; }\n\
                 switch i32(v) { case 1, 2: { v = 3u; } case 4, default: { return; } }";
    let printed = accepted(&kernel(loops));
    assert!(printed.contains("case 1, case 2") && printed.contains("case 4, default"), "{printed}");
}

#[test]
fn a_continuing_block_sees_the_body() {
    let body = "var a: array<u32, 4>;\n\
                loop { let q = v + 1u; let p = &a[q & 3u]; if q > 9u { break; } continuing { *p = q; v += q; } }";
    let printed = accepted(&kernel(body));
    assert!(printed.contains("continuing"), "{printed}");
}

#[test]
fn memory_is_laid_out() {
    let source = "struct In { a: vec3f, n: u32, m: mat4x3f, tail: array<vec2f> }\n\
        @group(1) @binding(2) var<storage, read> input: In;\n\
        @group(1) @binding(3) var<uniform> scale: vec4f;\n\
        @group(1) @binding(4) var<storage, read_write> out: array<f32>;\n\
        @compute @workgroup_size(4, 4) fn main(@builtin(local_invocation_index) i: u32) {\n\
        let whole = input.m; out[i] = whole[1][2] + scale.x + input.tail[i].y + f32(arrayLength(&input.tail)); }";
    let printed = accepted(source);
    for line in ["@12 n: u32", "@16 m: mat4x3<f32 stride 16>", "stride 8", "set 1 binding 2", "readonly"] {
        assert!(printed.contains(line), "{line}: {printed}");
    }
}

#[test]
fn workgroup_memory_starts_as_zero() {
    let source = "var<workgroup> a: array<u32, 64>; var<workgroup> b: array<u32, 200>; var<workgroup> c: atomic<u32>;\n\
        var<workgroup> unused: array<u32, 9>; var<workgroup> small: array<u32, 5>;\n\
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {\n\
        data[i] = a[i] + b[i] + small[i & 3u] + atomicAdd(&c, 1u); }";
    let printed = accepted(source);
    assert!(printed.contains("loop") && printed.contains("barrier"), "{printed}");
    assert!(!printed.contains("@unused"), "{printed}");
}

#[test]
fn pointers_are_passed() {
    let source = "var<private> kept: array<u32, 4>;\n\
        fn bump(p: ptr<function, u32>) -> u32 { *p += 1u; return *p; }\n\
        fn keep(p: ptr<private, u32>) { *p = 3u; }\n\
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
        @compute @workgroup_size(1) fn main(@builtin(local_invocation_index) i: u32) {\n\
        var a: array<u32, 2>; var b = 1u; keep(&kept[i]); keep(&kept[2]);\n\
        data[0] = bump(&a[1]) + bump(&b) + kept[2]; }";
    let printed = accepted(source);
    assert_eq!(printed.matches("fn bump").count(), 1, "{printed}");
    assert_eq!(printed.matches("fn keep").count(), 2, "one for each path: {printed}");
}

#[test]
fn atomics_and_barriers() {
    let source = "enable subgroups; var<workgroup> flag: atomic<i32>; var<workgroup> shared_value: u32;\n\
        @group(0) @binding(0) var<storage, read_write> data: array<atomic<u32>>;\n\
        @compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {\n\
        atomicStore(&flag, 3); let old = atomicCompareExchangeWeak(&data[i], 1u, 2u);\n\
        if old.exchanged { atomicMax(&data[0], old.old_value); }\n\
        storageBarrier(); workgroupBarrier(); subgroupBarrier();\n\
        atomicAdd(&data[1], workgroupUniformLoad(&shared_value) + u32(atomicLoad(&flag))); }";
    let printed = accepted(source);
    for part in ["atomic.store", "atomic.compare_exchange.device", "atomic.max.device", "execution subgroup"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn overrides_are_specialization_constants() {
    let source = "override n: u32 = 8; @id(0) override on: bool = true; override m = n * 2u; override bare: f32;\n\
        var<workgroup> tile: array<u32, n>;\n\
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
        @compute @workgroup_size(n, 2) fn main(@builtin(local_invocation_index) i: u32) {\n\
        if on { data[i] = tile[i] + m + u32(bare); } }";
    let result = compiled(source, &WgslOptions::default());
    let printed = result.printed.expect("it compiles");
    assert!(printed.contains("spec 1 default 8u") && printed.contains("spec 0 default true"), "{printed}");
    let codes: Vec<Code> = result.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, [Code::OVERRIDE_WITHOUT_DEFAULT]);
}

#[test]
fn overrides_may_be_computed_from_others() {
    let source = "override a: f32 = 2; override b: f32 = a * 3; override n: u32 = 4; override m: u32 = n * n;\n\
        var<workgroup> tile: array<u32, m>;\n\
        @group(0) @binding(0) var<storage, read_write> data: array<f32>;\n\
        @compute @workgroup_size(m) fn main(@builtin(local_invocation_index) i: u32) {\n\
        data[i] = b + b * f32(tile[i] + m); }";
    let printed = accepted(source);
    assert!(printed.contains("mul a, 3.0"), "{printed}");
    let chain: String = (1..60).map(|n| format!("override o{n}: f32 = o{} * o{};\n", n - 1, n - 1)).collect();
    let source = format!(
        "override o0: f32 = 1;\n{chain}@group(0) @binding(0) var<storage, read_write> data: f32;\n\
         @compute @workgroup_size(1) fn main() {{ data = o59; }}"
    );
    assert_eq!(accepted(&source).matches("= mul ").count(), 59);
}

#[test]
fn subgroup_built_ins_need_their_extension() {
    let body = "v = subgroupAdd(v) + subgroupExclusiveMul(v) + subgroupBallot(v > 3u).x + subgroupShuffleXor(v, 1u)\n\
                + quadSwapX(v) + quadBroadcast(v, 2) + subgroupBroadcast(v, /* lane */ 3) + select(0u, 1u, subgroupAny(v > 1u))\n\
                + select(0u, 1u, subgroupElect());";
    let with = |enabled: &str| kernel(body).replace("enable crosslane;\n", "").replace("enable subgroups;\n", enabled);
    let printed = accepted(&with("enable subgroups;\n"));
    assert_eq!(printed, accepted(&with("enable crosslane;\n")), "crosslane's extension includes it");
    let (code, message) = refusal(&with(""));
    assert_eq!((code, &*message), (Code::WGSL_INVALID, "`subgroupAdd` needs `enable subgroups;`"));
    let value = "@compute @workgroup_size(8) fn main(@builtin(subgroup_size) s: u32) { }";
    assert_eq!(refusal(value).1, "`subgroup_size` needs `enable subgroups;`");
    let own =
        "fn subgroupAdd(v: u32) -> u32 { return v; }\n@compute @workgroup_size(8) fn main() { _ = subgroupAdd(1u); }";
    accepted(own);
    for part in ["all_reduce.add.active", "shuffle.xor", "quad.x", "elect"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn language_extensions_need_no_more_than_their_names() {
    let names = "fragment_depth, immediate_address_space, texture_and_sampler_let, texture_formats_tier1";
    let source = format!(
        "requires {names};\nvar<immediate> k: vec4f;\n@group(0) @binding(0) var t: texture_2d<f32>;\n\
         @group(0) @binding(1) var s: sampler;\n@group(0) @binding(2) var o: texture_storage_2d<rg16snorm, write>;\n\
         @fragment fn main(@location(0) uv: vec2f) -> @builtin(frag_depth, less) f32 {{\n\
         let tt = t; let ss = s; textureStore(o, vec2u(0), k); return textureSample(tt, ss, uv).x; }}"
    );
    accepted(&source);
    let (code, message) = refusal("requires buffer_view;\n@compute @workgroup_size(1) fn main() { }");
    assert_eq!(code, Code::NOT_SUPPORTED);
    assert_eq!(message, "crosslane does not read the language extension `buffer_view` yet");
}

#[test]
fn uniform_buffers_may_have_the_layout_of_storage_buffers() {
    let source = "struct S { a: array<f32, 8>, b: vec2f }\n@group(0) @binding(1) var<uniform> u: S;\n\
        @group(0) @binding(0) var<storage, read_write> b: array<f32>;\n\
        @compute @workgroup_size(1) fn main() { b[0] = u.a[3] + u.b.y; }";
    assert!(refusal(source).1.contains("elements of this array lie 4 bytes apart"));
    accepted(&format!("requires uniform_buffer_standard_layout;\n{source}"));
}

#[test]
fn linear_indices_are_computed() {
    let source = "requires linear_indexing;\nstruct In { @builtin(workgroup_index) w: u32, @builtin(local_invocation_index) l: u32 }\n\
        @group(0) @binding(0) var<storage, read_write> b: array<u32>;\n\
        @compute @workgroup_size(4, 2) fn main(@builtin(global_invocation_index) g: u32, in: In) { b[g] = in.w + in.l; }";
    let printed = accepted(source);
    for part in ["num_workgroups", "global_invocation_id", "workgroup_id"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let vertex =
        "@vertex fn main(@builtin(workgroup_index) w: u32) -> @builtin(position) vec4f { return vec4f(f32(w)); }";
    refused(vertex);
}

#[test]
fn swizzles_are_assigned_to() {
    let body = "var f: vec4f; f.zx = vec2(1, 2); f.yw += vec2f(f32(v)); let p = &f; p.xy *= 2.0; (*p).bgr = f.xyz;\n\
        var m: mat3x3f; var i = 0; m[i].yz = f.xy; var a: array<vec3u, 4>; a[bump(&i)].xy <<= vec2u(a[i].x);\n\
        if f.x == f.y { a[2].zy = a[1].xy; } v = u32(f.x) + a[1].y;";
    let source = kernel(body) + "\nfn bump(p: ptr<function, i32>) -> i32 { *p += 1; return *p; }";
    assert_eq!(accepted(&source).matches("call bump(").count(), 1);
    // A member of a struct is not a swizzle.
    let member = "struct S { xy: vec2f }\n@compute @workgroup_size(1) fn main() { var s: S; s.xy = vec2f(1.0); }";
    accepted(member);
    assert!(refusal(&kernel("var f: vec4f; f.xx = vec2f(1.0);")).1.contains("left-hand side"));
    let (_, message) = refusal(&kernel("var f: vec4f; f.xy = vec3f(1.0);"));
    assert!(!message.contains("crosslane_call"), "{message}");
}

#[test]
fn workgroups_of_two_dimensions_have_subgroups() {
    let source = "enable subgroups;\n@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
        @compute @workgroup_size(8, 8) fn main(@builtin(subgroup_invocation_id) i: u32, @builtin(subgroup_id) s: u32) {\n\
        data[i] = s; }";
    assert!(accepted(source).contains("workgroup 8u x 8u x 1u"));
}

#[test]
fn portable_built_ins_take_every_type() {
    let body = "let f = vec3<f32>(f32(v)); let b = vec2<bool>(v > 1u, v < 9u);\n\
        let c = butterfly16(f) + quadSwizzleFloatX(f) + allReduceAdd(f, 8);\n\
        let d = quadSwizzle3(b) & butterfly(b, 4u);\n\
        let e = bpermute(i32(v), v >> 1u) + exclusiveMax32(-i32(v)) + broadcastFirst(1);\n\
        let h = segmentLast16() || allQuad(d.x) || anyQuad(d.y) || allReduceAnd8(v > 3u);\n\
        v = u32(c.x) + u32(e) + select(0u, 1u, h) + laneIndex() + laneCount() + ballot(h).y;";
    let printed = accepted(&kernel(body));
    for part in ["vec2<bool> = lane quad.3", "vec3<f32> = lane all_reduce.add<8>", "vec2<bool> = lane butterfly<4>"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn nvidia_shuffles_have_a_value_and_a_predicate() {
    let body = "let w = 8u + 8u; let x = shuffleUpNV(v, 1u, w); let ok = shuffleUpNVValid(1u, w);\n\
        v = select(0u, x, ok) + shuffleNV(shuffleXorNV(v, v, 32u), 3u, 4u) + threadInWarpNV();";
    let printed = accepted(&kernel(body));
    for part in ["shuffle_nv.up", "shuffle_nv_valid.up", "shuffle_nv.xor", "lane_index<warp>"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn sorts_write_through_pointers() {
    let body = "var key = f32(v); var pairs: array<u32, 4>; let p = &pairs[v & 3u];\n\
        bitonicSort16(&key, &v); bitonicSort(&key, p); bitonicSort(&v, 8); bitonicSort(&shared_keys[v], &key, 8u);\n\
        bitonicSort4(&kept); for (var i = 0u; i < 2u; bitonicSort2(&i)) { sort_both(&key); i += 1u; }";
    let source = format!(
        "{}var<workgroup> shared_keys: array<i32, 64>; var<private> kept: u32;\n\
         fn sort_both(p: ptr<function, f32>) {{ bitonicSort(p); }}",
        kernel(body)
    );
    let printed = accepted(&source);
    for part in ["sort<16>", "sort<subgroup> %", "sort<8>", "sort<4>", "sort<2>"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert_eq!(printed.matches("lane sort").count(), 7, "{printed}");
}

#[test]
fn values_of_any_type_are_handed_through() {
    let body = "let f = vec2f(f32(v)); let m = subgroupPartitionNV(f);\n\
        let a = writeInvocationAMD(f, f * 2.0, 3u) + quadSwizzle1NV(f, f) + subgroupPartitionedAddNV(f, m);\n\
        let e = subgroupAllEqual(f) || subgroupAllEqual(v) || subgroupAllEqual(e1 == v);\n\
        var ok: bool; let s = shuffleUpNV(f, 1u, 8u, &ok) + a;\n\
        v = u32(s.x) + u32(subgroup_all_true(f.x)) + u32(subgroup_all_true_tiled(v, 2)) + select(0u, 1u, e && ok);";
    let printed = accepted(&kernel(&format!("let e1 = v + 1u;\n{body}")));
    for part in ["partition %", "write_lane %", "quad_add.1 %", "partitioned.all_reduce.add %", "vote.equal<subgroup>"]
    {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert!(printed.contains("shuffle_nv_valid.up") && printed.contains("vote.all<4>"), "{printed}");
}

#[test]
fn numbers_without_a_suffix_have_the_type_of_the_first_value() {
    let printed = accepted(&kernel("v = writeInvocationAMD(v, 7, 2) + u32(writeInvocationAMD(f32(v), -7, 2));"));
    assert!(printed.contains(", 7u, 2u") && printed.contains(", -7.0, 2u"), "{printed}");
    assert_eq!(refused(&kernel("v = writeInvocationAMD(v, -7, 2);")), (Code::NO_OVERLOAD, "-7".to_string()));
}

#[test]
fn structs_and_arrays_move_whole() {
    let source = "enable crosslane;\nstruct In { a: vec2f, b: array<u32, 2> } struct P { a: f32, on: bool, m: mat2x2f, s: In }\n\
        @group(0) @binding(0) var<storage, read_write> data: array<f32>;\n\
        @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {\n\
        var p: P; p.a = data[i]; p.on = data[i] > 1.0; p.s.b[1] = i;\n\
        let q = shuffleXorNV(broadcast(p, 3u), 1u, 8u); var n = 0u; let w = writeInvocationAMD(q, p, 2u);\n\
        loop { let r = bpermute(w, i + n); if n > 3u { break; } continuing { n += u32(r.a) + broadcastFirst(r.s).b[0]; } }\n\
        data[i] = q.a + select(0.0, 1.0, q.on) + w.m[1].x + butterfly8(p.s.b)[1] + f32(n); }"
        .replace("butterfly8(p.s.b)[1]", "f32(butterfly8(p.s.b)[1])");
    let printed = accepted(&source);
    // Float, bool, two columns, vector, two numbers.
    for (part, count) in
        [("lane broadcast %", 7), ("lane shuffle_nv.xor", 7), ("lane write_lane", 7), ("lane bpermute", 7)]
    {
        assert_eq!(printed.matches(part).count(), count, "{part}: {printed}");
    }
    assert_eq!((printed.matches("lane broadcast_first").count(), printed.matches("butterfly<8>").count()), (3, 2));
}

#[test]
fn khronos_functions_and_masks_are_there() {
    let body = "let b = subgroupBallot(v > 3u); let r = subgroupClusteredRotate(v, 1u, 8) + subgroupRotate(v, v);\n\
        v = subgroupClusteredMax(r, 4) + subgroupBallotBitCount(b & subgroupLtMask()) + subgroupBallotFindLSB(b)\n\
        + select(0u, 1u, subgroupInverseBallot(b) != subgroupBallotBitExtract(b, 3u)) + subgroupInclusiveMin(v)\n\
        + subgroupSize() + subgroupInvocationID() + numSubgroups() + subgroupID() + subgroupQuadSwapDiagonal(v);\n\
        subgroupMemoryBarrierShared(); subgroup_sync();";
    let printed = accepted(&kernel(body));
    for part in ["rotate<8>", "rotate<subgroup>", "all_reduce.max.active<4>", "lane_mask.lt", "barrier"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn native_functions_take_what_wgsl_says_and_bools() {
    let body = "let i = i32(v) - 1; let b = v > 3u;\n\
        v = subgroupShuffle(v, i) + subgroupShuffle(v, 3) + subgroupBroadcast(v, 2i) + subgroupShuffleXor(v, 1)\n\
        + select(0u, 1u, subgroupShuffle(b, i) && subgroupBroadcastFirst(b) && quadSwapX(b) && subgroupAnd(b));";
    let printed = accepted(&kernel(body));
    assert!(
        printed.contains("bool = lane shuffle.index") && printed.contains("bool = lane all_reduce.and"),
        "{printed}"
    );
    for (body, text) in [("subgroupShuffleUp(v, i32(v))", "i32(v)"), ("subgroupShuffle(v, 1.5)", "1.5")] {
        assert_eq!(refused(&kernel(&format!("v = {body};"))), (Code::WGSL_INVALID, text.to_string()));
    }
    assert_eq!(refused(&kernel("v = subgroupBroadcast(v, 128);")).0, Code::ARGUMENT_RANGE);
}

#[test]
fn names_of_the_module_win() {
    let source = "enable crosslane;\nfn laneIndex() -> u32 { return 7u; }\nfn subgroupShuffleXor(a: u32) -> u32 { return a; }\n\
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
        @compute @workgroup_size(1) fn main() { data[0] = laneIndex() + butterfly2(data[1]) + subgroupShuffleXor(1u); }";
    let printed = accepted(source);
    assert!(printed.contains("call laneIndex") && printed.contains("butterfly<2>"), "{printed}");
    assert!(!printed.contains("lane_index"), "{printed}");
}

#[test]
fn constants_come_from_outside() {
    let defines = [("N".to_string(), "4u".to_string())];
    let options = WgslOptions { wave_size: Some(64), defines: &defines, ..WgslOptions::default() };
    let source = kernel("if CROSSLANE_TARGET_SPIRV && !CROSSLANE_TARGET_NV { v = CROSSLANE_SUBGROUP_SIZE + N; }");
    let printed = compiled(&source, &options).printed.expect("it compiles");
    assert!(printed.contains("68u"), "{printed}");
}

#[test]
fn the_entry_point_is_chosen() {
    let source = "@compute @workgroup_size(1) fn a() {}\n@compute @workgroup_size(2) fn b() {}";
    let all = accepted(source);
    assert!(all.contains("workgroup 1u") && all.contains("workgroup 2u"), "{all}");
    let none = WgslOptions { entry: Some("c"), ..WgslOptions::default() };
    assert!(compiled(source, &none).printed.is_none() && compiled("fn a() {}", &none).printed.is_none());
    let chosen = compiled(source, &WgslOptions { entry: Some("b"), ..WgslOptions::default() });
    assert!(chosen.printed.expect("it compiles").contains("workgroup 2u"));
}

#[test]
fn errors_point_into_the_users_text() {
    let after_rewriting = "v = butterfly16(v) + reduceAdd(v, 16) + shuffleXorNV(v, 1u, 8u);\n";
    let cases = [
        ("v = unknown_thing;", Code::WGSL_SYNTAX, "unknown_thing"),
        ("v = butterfly16(v, 1u, 2u);", Code::NO_OVERLOAD, "butterfly16(v, 1u, 2u)"),
        ("v = butterfly17(v);", Code::WGSL_SYNTAX, "butterfly17"),
        ("v = reduceAdd(v, v);", Code::ARGUMENT_NOT_CONSTANT, "v"),
        ("v = reduceAdd(v, 12u);", Code::WIDTH_INVALID, "12u"),
        ("v = shuffleXorNV(v, 1u, 64u);", Code::WIDTH_INVALID, "64u"),
        ("v = u32(reduceAnd8(f32(v)));", Code::NO_OVERLOAD, "f32(v)"),
        ("v = quadSwizzleFloat0(v);", Code::NO_OVERLOAD, "v"),
        ("v = bpermute(v, 1.5);", Code::WGSL_SYNTAX, "1.5"),
        ("bitonicSort16(v);", Code::NO_OVERLOAD, "v"),
        ("bitonicSort(&v, &data);", Code::NO_OVERLOAD, "&data"),
        ("var b = true; bitonicSort8(&b);", Code::NO_OVERLOAD, "&b"),
        ("bitonicSort8(&v, 4);", Code::NO_OVERLOAD, "4"),
        ("v = bitonicSort8(&v);", Code::WGSL_SYNTAX, "bitonicSort8(&v)"),
        ("v = writeInvocationAMD(v, 1.5, 0u);", Code::NO_OVERLOAD, "1.5"),
        ("v = broadcastFirst(data)[0];", Code::WGSL_INVALID, "data"),
        ("v = butterfly16(v", Code::WGSL_SYNTAX, "data"),
    ];
    for (body, code, text) in cases {
        let (found, marked) = refused(&kernel(&format!("{after_rewriting}{body}")));
        assert_eq!((found, marked.as_str()), (code, text), "{body}");
    }
}

#[test]
fn a_missing_enable_line_is_suggested() {
    let result = compiled(&kernel("v = butterfly16(v);").replace("enable crosslane;", ""), &WgslOptions::default());
    let error = result.diagnostics.iter().next().expect("an error");
    assert_eq!(error.code, Code::UNKNOWN_FUNCTION);
    assert_eq!(result.sources.text(error.span()), "butterfly16");
    assert_eq!(error.suggestion.as_ref().map(|s| s.replacement.as_str()), Some("enable crosslane;\n"));
}

#[test]
fn close_names_are_suggested() {
    let result = compiled(&kernel("v = buterfly16(v);"), &WgslOptions::default());
    let suggestion = result.diagnostics.iter().next().and_then(|error| error.suggestion.clone());
    assert_eq!(suggestion.map(|s| s.replacement).as_deref(), Some("butterfly16"));
}

#[test]
fn halves_move_like_floats() {
    let source = kernel("let h = butterfly16(vec2<f16>(f16(v))); v = u32(h.x);");
    let printed = accepted(&source.replace("enable subgroups;", "enable f16, subgroups;"));
    assert!(printed.contains("vec2<f16> = lane butterfly<16>"), "{printed}");
}

#[test]
fn what_textures_cannot_be_is_refused() {
    let of = |ty: &str, call: &str| {
        format!(
            "enable wgpu_binding_array;\n@group(0) @binding(0) var t: {ty};\n\
            @compute @workgroup_size(1) fn main() {{ {call} }}"
        )
    };
    let swapped = of("texture_storage_2d<bgra8unorm, write>", "textureStore(t, vec2u(), vec4f());");
    assert_eq!(refused(&swapped).0, Code::NOT_SUPPORTED);
    let many = of("binding_array<texture_2d<f32>, 4>", "_ = textureLoad(t[0], vec2u(), 0);");
    assert_eq!(refused(&many).0, Code::NOT_SUPPORTED);
}

#[test]
fn stages_have_their_built_in_values() {
    let fragment = accepted(
        "@fragment fn main(@builtin(position) at: vec4f, @builtin(sample_mask) mask: u32) -> @builtin(sample_mask) u32 {\n\
        if at.x < 1.0 { discard; }\n return mask; }",
    );
    for word in ["FragCoord", "SampleMask", "demote"] {
        assert!(fragment.contains(word), "{word} in {fragment}");
    }
    let vertex = accepted(
        "@vertex fn main(@builtin(vertex_index) n: u32) -> @builtin(position) vec4f { return vec4f(f32(n)); }",
    );
    assert!(vertex.contains("Position") && vertex.contains("VertexIndex"), "{vertex}");
}

#[test]
fn a_function_may_end_in_a_discard() {
    let printed = accepted(
        "fn pick(x: f32) -> f32 { if x > 1.0 { return x; } discard; }\n\
        @fragment fn main(@location(0) x: f32) -> @location(0) vec4f { return vec4f(pick(x)); }",
    );
    assert!(printed.contains("demote"), "{printed}");
}

#[test]
fn the_stage_chooses_among_entry_points() {
    let source = "@vertex fn a() -> @builtin(position) vec4f { return vec4f(); }\n\
        @fragment fn b() {}\n@fragment fn c() {}";
    let of = |stage| compiled(source, &WgslOptions { stage: Some(stage), ..WgslOptions::default() }).printed;
    assert!(of(Stage::Vertex).is_some_and(|printed| printed.contains("Position") && !printed.contains("fragment")));
    assert!(of(Stage::Fragment).is_some_and(|printed| !printed.contains("Position")));
    assert!(of(Stage::Compute).is_none());
}

#[test]
fn strange_texts_end_in_messages() {
    let deep = format!("const a = {}1{};", "(".repeat(10_000), ")".repeat(10_000));
    let long = format!("const a = {}1;", "1 + ".repeat(50_000));
    let blocks = format!("fn f() {{ {} {} }}", "{".repeat(150), "}".repeat(150));
    let texts = [deep, long, blocks, "/* never".into(), "\0".into(), "fn f() { laneIndex(".into(), "enable ;;".into()];
    for text in &texts {
        refused(text);
    }
    assert!(
        compiled("\u{FEFF}@compute @workgroup_size(1)\r\nfn main() {}\r\n", &WgslOptions::default()).printed.is_some()
    );
}

#[test]
fn deep_texts_within_limits_compile() {
    let sum = format!("v = {}1u;", "v + ".repeat(900));
    let nest = format!("{} v = 1u; {}", "if v > 1u {".repeat(100), "}".repeat(100));
    for body in [sum, nest] {
        accepted(&kernel(&body));
    }
}

#[test]
fn two_runs_agree() {
    let source = kernel("v = butterfly16(v) + reduceAdd(v, 16) + subgroupAdd(v);");
    assert_eq!(accepted(&source), accepted(&source));
}
