//! The command as a replacement for glslc and glslangValidator: every option in their `--help` is in the table, exits
//! with the same status and writes the same files, and modules have the same interface to the pipeline. The rows
//! describe the differences.

mod interface;

use crate::folder::{Folder, status, stderr, stdout};
use interface::{interfaces, module};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use support::{bless, judge};

/// Files of every case.
const FILES: [(&str, &str); 28] = [
    (
        "a.vert",
        "#version 450\nlayout(location = 0) in vec3 p;\nlayout(location = 1) in vec3 spare;\n\
         layout(location = 0) out vec3 c;\nlayout(set = 0, binding = 0) uniform U { mat4 m; vec4 k; } u;\n\
         layout(set = 0, binding = 1) uniform sampler2D unused;\n\
         void main() { gl_Position = u.m * vec4(p, 1.0); c = min(p, u.k.xyz); }\n",
    ),
    (
        "a.comp",
        "#version 450\n#extension GL_GOOGLE_include_directive : enable\n#include \"inc.glsl\"\n\
         layout(local_size_x = 32) in;\nlayout(constant_id = 3) const int N = 4;\n\
         layout(binding = 0) buffer B { float x[]; };\nvoid main() { x[gl_GlobalInvocationID.x] = f(float(N)); }\n",
    ),
    (
        "lanes.comp",
        "#version 450\n#extension GL_KHR_shader_subgroup_shuffle : require\nlayout(local_size_x = 32) in;\n\
         layout(binding = 0) buffer B { uint x[]; };\nvoid main() { x[1] = subgroupShuffle(x[0], 3u); }\n",
    ),
    (
        "ballots.comp",
        "#version 450\n#extension GL_ARB_shader_ballot : require\n#extension GL_ARB_shader_group_vote : require\n\
         #extension GL_ARB_gpu_shader_int64 : require\nlayout(local_size_x = 32) in;\n\
         layout(binding = 0) buffer B { uint x[]; };\nvoid main() {\n    uint64_t b = ballotARB(x[0] > 1u);\n\
         \x20   if (anyInvocationARB(x[1] > 2u)) x[2] = uint(b) + readFirstInvocationARB(x[3]) + gl_SubGroupSizeARB;\n}\n",
    ),
    (
        "narrow.comp",
        "#version 450\n#extension GL_EXT_shader_8bit_storage : require\n#extension GL_EXT_shader_16bit_storage : require\n\
         layout(local_size_x = 32) in;\nlayout(binding = 0) buffer B { uint8_t x[]; };\n\
         layout(binding = 1) buffer C { float16_t y[]; };\nvoid main() { x[0] = x[1]; y[0] = y[1]; }\n",
    ),
    ("inc.glsl", "float f(float y) { return y * 2.0; }\n"),
    ("bad.vert", "#version 450\nvoid main() { foo(); }\n"),
    (
        "auto.frag",
        "#version 450\nlayout(location = 0) out vec4 c;\nin vec2 uv;\nin vec2 uw;\nflat in int k;\n\
         uniform sampler2D t;\nuniform texture2D tt;\nuniform sampler ss;\nuniform U { vec4 k0; };\n\
         layout(binding = 1) uniform V { vec4 z; };\nbuffer W { vec4 w; };\nlayout(set = 1) uniform X { vec4 xx; };\n\
         layout(rgba8) uniform image2D im;\nuniform sampler2D arr[3];\nlayout(set = 0) uniform sampler2D last;\n\
         void main() {\n    c = texture(t, uv) * k0 * z * w * xx * texture(sampler2D(tt, ss), uw) * imageLoad(im, ivec2(k))\n\
         \x20       * texture(arr[1], uv) * texture(last, uv);\n}\n",
    ),
    ("plain.glsl", "#version 450\nvoid main() { gl_Position = vec4(0.0); }\n"),
    ("limits.conf", "MaxDrawBuffers 4\n"),
    ("pragma.glsl", "#version 450\n#pragma shader_stage(vertex)\nvoid main() { gl_Position = vec4(0.0); }\n"),
    ("wrong_pragma.glsl", "#version 450\n#pragma shader_stage(verticle)\nvoid main() { gl_Position = vec4(0.0); }\n"),
    (
        "loose.vert",
        "#version 450\nlayout(location = 2) uniform mat4 view;\nlayout(location = 3) uniform vec4 tint[2] = vec4[2](vec4(1), vec4(2));\n\
         layout(binding = 1) uniform B { vec4 shift; };\nlayout(location = 0) out vec4 c;\n\
         void main() { c = tint[gl_VertexID & 1]; gl_Position = view * shift * float(gl_InstanceID); }\n",
    ),
    (
        "counters.frag",
        "#version 450\nlayout(binding = 0, offset = 4) uniform atomic_uint one;\nlayout(binding = 0) uniform atomic_uint two[3];\n\
         uniform sampler2D image;\nlayout(location = 3, binding = 2) uniform sampler2D other;\nlayout(location = 0) out vec4 c;\n\
         void main() { c = texture(image, vec2(0.5)) + texture(other, vec2(0.5));\n\
         c.x += atomicCounterIncrement(one) + atomicCounter(two[1]); }\n",
    ),
    (
        "free.frag",
        "#version 450\nuniform mat4 turn;\nuniform vec4 tint[2];\nuniform sampler2D image;\nuniform float factor;\nin vec2 at;\nout vec4 c;\n\
         void main() { c = turn * tint[1] * factor + texture(image, at); }\n",
    ),
    ("warn.vert", "#version 450\n#extension GL_FOO_bar : enable\nvoid main() { gl_Position = vec4(0.0); }\n"),
    ("coopmat.comp", "#version 460\n#extension GL_NV_cooperative_matrix7 : require\nvoid main() { }\n"),
    (
        "g.geom",
        "#version 450\nlayout(triangles) in;\nlayout(line_strip, max_vertices = 2) out;\n\
         layout(location = 0) in vec3 c[];\nlayout(location = 1) out vec3 d;\n\
         layout(binding = 2) uniform U { vec4 shift; };\nvoid main() {\n    for (int n = 0; n < 2; n++) {\n\
         \x20       d = c[n];\n        gl_Position = gl_in[n].gl_Position + shift;\n        EmitVertex();\n    }\n}\n",
    ),
    (
        "t.tesc",
        "#version 450\nlayout(vertices = 3) out;\nlayout(location = 0) in vec3 c[];\nlayout(location = 0) out vec3 d[];\n\
         void main() {\n    d[gl_InvocationID] = c[gl_InvocationID];\n    gl_TessLevelOuter[0] = 2.0;\n}\n",
    ),
    (
        "m.mesh",
        "#version 450\n#extension GL_EXT_mesh_shader : require\nlayout(local_size_x = 4) in;\n\
         layout(triangles, max_vertices = 3, max_primitives = 1) out;\nlayout(location = 2) out vec4 c[];\n\
         void main() {\n    SetMeshOutputsEXT(3u, 1u);\n    c[gl_LocalInvocationIndex % 3u] = vec4(1.0);\n}\n",
    ),
    (
        "r.rgen",
        "#version 460\n#extension GL_EXT_ray_tracing : require\nlayout(location = 0) rayPayloadEXT vec4 p;\n\
         layout(binding = 3) uniform accelerationStructureEXT top;\nlayout(binding = 4, rgba8) uniform image2D left;\n\
         void main() {\n    traceRayEXT(top, 0u, 255u, 0u, 1u, 0u, vec3(0.0), 0.1, vec3(1.0), 9.0, 0);\n\
         \x20   imageStore(left, ivec2(gl_LaunchIDEXT.xy), p);\n}\n",
    ),
    (
        "h.rchit",
        "#version 460\n#extension GL_EXT_ray_tracing : require\nlayout(location = 0) rayPayloadInEXT vec4 p;\n\
         hitAttributeEXT vec2 at;\nvoid main() { p = vec4(at, gl_HitTEXT, 1.0); }\n",
    ),
    (
        "late.vert",
        "#version 310 es\nvoid f() {}\n#extension GL_EXT_shader_io_blocks : enable\nvoid main() { gl_Position = vec4(0.0); }\n",
    ),
    ("lib/b.comp", B_COMP),
    ("lib/deep/deep.glsl", "#include \"deeper.glsl\"\nfloat g() { return g0(); }\n"),
    ("lib/deep/deeper.glsl", "float g0() { return 3.0; }\n"),
    ("include/sys.glsl", "float h() { return 4.0; }\n"),
    ("args", "-c a.vert\n"),
];

const B_COMP: &str = "#version 450\n#extension GL_GOOGLE_include_directive : enable\n#include \"deep/deep.glsl\"\n\
                      #include \"sys.glsl\"\n#include \"../inc.glsl\"\nlayout(local_size_x = 32) in;\n\
                      layout(binding = 0) buffer B { float x[]; };\n\
                      void main() { x[gl_GlobalInvocationID.x] = f(1.0) + g() + h(); }\n";

/// The case that a shader describes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Case {
    /// The same status and files as the other compiler's.
    Same,
    /// The difference, as the guide lists it.
    Differs(&'static str),
}

use Case::{Differs, Same};

const REFUSED: Case = Differs("the option is refused");
const ACCEPTED: Case = Differs("the option is taken");

#[rustfmt::skip]
const GLSLC: &[(&str, Case)] = &[
    ("", Same),
    ("a.vert", Same),
    ("-c a.vert a.comp", Same),
    ("a.vert a.comp", Same),
    ("-c a.vert a.comp -o x.spv", Same),
    ("-c a.vert bad.vert a.comp", Same),
    ("--foo a.vert", Same),
    ("bad.vert", Same),
    ("nofile.vert", Same),
    ("plain.glsl", Same),
    ("limits.conf", Same),
    ("-S a.vert", Same),
    ("-S -o - a.vert", Same),
    ("-E a.vert", Same),
    ("-E -o x a.vert", Same),
    ("-E -S a.vert", Same),
    ("-E -c a.vert", Same),
    ("-c -S a.vert", Same),
    ("-M a.comp", Same),
    ("-MM a.comp", Same),
    ("-M -c a.vert", Same),
    ("-M a.comp a.vert", Same),
    ("-M -o z.d a.comp", Same),
    ("-M -MF f.d a.comp", Same),
    ("-MD a.comp", Same),
    ("-MD -c a.comp", Same),
    ("-MD -S a.comp", Same),
    ("-MD -o x.spv a.comp", Same),
    ("-MD -E a.comp -o x", Same),
    ("-MD -MF f.d -c a.comp", Same),
    ("-MD -MF f.d -MT target a.comp", Same),
    ("-MD -MT t1 -MT t2 a.comp", Same),
    ("-MD -MF f.d -c a.comp a.vert", Same),
    ("-MD -M a.vert", Same),
    ("-M ./a.comp", Same),
    ("-M -S a.comp", Same),
    ("-M a.comp -o -", Same),
    ("-M -Iinclude lib/b.comp", Same),
    ("-MD -c -I lib -I include/ lib/b.comp", Same),
    ("-MD -c -Iinclude lib/b.comp -o ./x.spv", Same),
    ("-MD -MF f.d -MT x -c -Iinclude ./lib/b.comp", Same),
    ("-MD bad.vert", Differs("a shader that is wrong leaves no dependency file")),
    ("-fshader-stage=compute --target-env=vulkan1.2 -O a.comp -o a.spv -DA=1 -DB_TYPE=mat2x4 -MD -MF a.d", Same),
    ("-o - -fshader-stage=compute --target-env=vulkan1.3 coopmat.comp", Same),
    ("-o - -fshader-stage=compute --target-env=vulkan1.3 a.comp", Same),
    ("-c pragma.glsl", Same),
    ("-S pragma.glsl", Same),
    ("-fshader-stage=frag -c pragma.glsl", Same),
    ("-c wrong_pragma.glsl", Same),
    ("-E plain.glsl", Same),
    ("-M plain.glsl", Same),
    ("-c warn.vert", Same),
    ("-Werror -c warn.vert", Same),
    ("-Werror -c late.vert", Same),
    ("-c g.geom t.tesc", Same),
    ("-S g.geom", Same),
    ("-E m.mesh", Same),
    ("-c m.mesh", Same),
    ("-c r.rgen", Same),
    ("--target-env=vulkan1.2 -c m.mesh r.rgen h.rchit", Same),
    ("--target-env=vulkan1.3 -O -MD -c r.rgen g.geom", Same),
    ("-fauto-map-locations -fauto-bind-uniforms g.geom", Same),
    ("-fshader-stage=mesh --target-env=vulkan1.3 -o - m.mesh", Same),
    ("-fshader-stage=tesscontrol -c g.geom", Same),
    ("-fshader-stage=vert -c limits.conf", Same),
    ("-S h.rchit", Same),
    ("-c nope.geom", Same),
    ("-fshader-stage=geometry a.vert", Same),
    ("-c -o a.vert a.vert", Differs("an input is not overwritten")),
    ("@args", Differs("a file of arguments is read")),
    ("-mfmt=c -o - a.comp", Same),
    ("-mfmt=num -o - a.comp", Same),
    ("-MF z a.comp", Same),
    ("-MT z a.comp", Same),
    ("-MP a.vert", Same),
    ("-mfmt=bin a.comp", Same),
    ("-mfmt=c a.comp -o x.h", Same),
    ("-mfmt=num a.comp", Same),
    ("-mfmt=x a.comp", Same),
    ("-mfmt=bin -S a.comp", Same),
    ("-mfmt=num -E a.vert", Same),
    ("-mfmt=num -M a.vert", Same),
    ("auto.frag", Same),
    ("-fauto-bind-uniforms auto.frag", Same),
    ("-fauto-bind-uniforms -fauto-map-locations auto.frag", Same),
    ("-fauto-bind-uniforms -fauto-map-locations -fubo-binding-base 10 -fcbuffer-binding-base 11 -ftexture-binding-base 20 -fsampler-binding-base 30 -fimage-binding-base 40 -fssbo-binding-base 50 auto.frag", Same),
    ("-fauto-bind-uniforms -fauto-map-locations -ftexture-binding-base vert 20 -fubo-binding-base frag 7 auto.frag", Same),
    ("-fauto-combined-image-sampler a.vert", REFUSED),
    ("-fubo-binding-base 3 a.vert", Same),
    ("-fubo-binding-base vertex 3 a.vert", Same),
    ("-fubo-binding-base a.vert", Same),
    ("-fuav-binding-base 3 a.vert", Same),
    ("-fresource-set-binding t0 1 2 a.vert", Same),
    ("-fresource-set-binding vert t0 1 2 t2 3 4 a.vert", Same),
    ("-fhlsl-iomap a.vert", Same),
    ("-fhlsl-16bit-types a.vert", Same),
    ("-fhlsl_functionality1 a.vert", Same),
    ("-fhlsl-functionality1 a.vert", Same),
    ("-fhlsl-offsets a.vert", REFUSED),
    ("-finvert-y a.vert", Same),
    ("-fnan-clamp a.vert", Same),
    ("-fpreserve-bindings a.vert", Same),
    ("-fpreserve-bindings -O a.vert", Same),
    ("-fentry-point=foo a.vert", Same),
    ("-fshader-stage=vert plain.glsl", Same),
    ("-fshader-stage=vertex -c plain.glsl", Same),
    ("-fshader-stage=comp a.vert", Same),
    ("-fshader-stage=nope a.vert", Same),
    ("-flimit=MaxDrawBuffers_10 a.vert", Same),
    ("-flimit=MaxDrawBuffers=10 a.vert", Same),
    ("-flimit-file limits.conf a.vert", Same),
    ("-flimit-file inc.glsl a.vert", Same),
    ("-flimit-file nofile a.vert", Same),
    ("-g a.vert", Same),
    ("-g0 a.vert", ACCEPTED),
    ("-g2 a.vert", ACCEPTED),
    ("-gVS a.vert", ACCEPTED),
    ("-O -g a.vert", Same),
    ("-O a.vert", Same),
    ("-Os -c a.vert", Same),
    ("-O0 a.vert", Same),
    ("-O -O0 a.vert", Same),
    ("-O3 a.vert", Same),
    ("-std=450core a.vert", Same),
    ("-std=440 a.vert", Same),
    ("-std=310es a.vert", Same),
    ("-std=xx a.vert", Same),
    ("-std 450 a.vert", Same),
    ("-Werror -std=440 a.vert", Same),
    ("-Werror -std=450 a.vert", Same),
    ("-Werror -std=450core a.vert", Same),
    ("-DFOO=1 -Werror a.vert", Same),
    ("-Werror a.vert", Same),
    ("-w -std=440 a.vert", Same),
    ("-Wall a.vert", ACCEPTED),
    ("-x glsl a.vert", Same),
    ("-xglsl a.vert", Same),
    ("-x foo a.vert", Same),
    ("-x hlsl a.vert", Same),
    ("-DFOO=1 a.vert", Same),
    ("-D a.vert", Same),
    ("-D FOO a.vert", Same),
    ("-UFOO a.vert", ACCEPTED),
    ("-I a.vert", Same),
    ("-Ilib a.vert", Same),
    ("-I lib a.vert", Same),
    ("-h", Same),
    ("--help a.vert", Same),
    ("--version", Same),
    ("--show-limits", Same),
    ("-v a.vert", Same),
    ("-o a.vert", Same),
    ("@none a.vert", Same),
    ("-", Same),
    ("-fshader-stage=vert -", Same),
    ("-fshader-stage=vert -c -", Same),
    ("-fshader-stage=vert - -o x", Same),
    ("--target-env=vulkan a.vert", Same),
    ("--target-env=vulkan1.0 a.vert", Same),
    ("--target-env=vulkan1.1 a.vert", Same),
    ("--target-env=vulkan1.2 a.vert", Same),
    ("--target-env=vulkan1.3 a.vert", Same),
    ("--target-env=vulkan1.4 a.vert", Same),
    ("--target-env=nope a.vert", Same),
    ("--target-env vulkan1.1 a.vert", Same),
    ("--target-env=opengl a.vert", Same),
    ("--target-env=opengl4.5 a.vert", Same),
    ("--target-env=opengl4.6 a.vert", Same),
    ("--target-env=opengl a.comp", Same),
    ("--target-env=opengl loose.vert", Same),
    ("--target-env=opengl counters.frag", Same),
    ("--target-env=opengl -O -c counters.frag", Same),
    ("--target-env=opengl free.frag", Same),
    ("--target-env=opengl -fauto-map-locations free.frag", Same),
    ("--target-env=opengl -fauto-map-locations -fauto-bind-uniforms -c free.frag", Differs("uniforms outside of blocks get no binding")),
    ("--target-env=opengl --target-spv=spv1.0 loose.vert", Same),
    ("--target-env=opengl --target-spv=spv1.3 loose.vert", Differs("OpenGL loads SPIR-V 1.0 alone")),
    ("loose.vert", Same),
    ("counters.frag", Same),
    ("--target-spv=spv1.3 a.vert", Same),
    ("--target-spv=spv1.1 a.comp", Same),
    ("--target-spv=spv1.2 a.comp", Same),
    ("--target-env=vulkan1.3 --target-spv=spv1.0 a.comp", Same),
    ("--target-env=vulkan1.1 -c a.comp", Same),
    ("-c a.comp", Same),
    ("-O -c a.comp", Same),
    ("-c lanes.comp", Same),
    ("-c ballots.comp", Same),
    ("--target-env=vulkan1.1 -c lanes.comp", Same),
    ("--target-env=vulkan1.1 -c ballots.comp", Differs("from SPIR-V 1.3 on ballots and votes are those of the core")),
    ("-c narrow.comp", Same),
    ("--target-env=vulkan1.1 -c narrow.comp", Same),
    ("--target-env=vulkan1.1 --target-spv=spv1.4 a.vert", Same),
    ("--target-env=vulkan1.2 --target-spv=spv1.5 a.vert", Same),
    ("--target-env=vulkan1.3 --target-spv=spv1.6 a.vert", Same),
    ("--target-spv=spv1.0 a.vert", Same),
    ("--target-spv=spv9 a.vert", Same),
];

#[rustfmt::skip]
const GLSLANG: &[(&str, Case)] = &[
    ("", Same),
    ("-h", Same),
    ("--help", Same),
    ("a.vert", Same),
    ("bad.vert", Same),
    ("-V a.vert", Same),
    ("-V100 a.vert", Same),
    ("-V a.vert a.comp", Same),
    ("-V -o x.spv a.vert", Same),
    ("-o x.spv a.vert", Same),
    ("-V bad.vert", Same),
    ("-V nofile.vert", Same),
    ("-V limits.conf", Same),
    ("-V plain.glsl", Same),
    ("-V -S vert plain.glsl", Same),
    ("-V -S nope plain.glsl", Same),
    ("-V --stdin -S vert", Same),
    ("-V --stdin", Same),
    ("--foo a.vert", Same),
    ("-G a.vert", Same),
    ("-G100 a.vert", Same),
    ("-G99 a.vert", Same),
    ("--client opengl100 a.vert", Same),
    ("-G loose.vert", Same),
    ("-G counters.frag", Same),
    ("-G free.frag", Same),
    ("-G --aml free.frag", Same),
    ("-G --aml --uniform-base 7 free.frag", Same),
    ("-G --aml -ufactor:9 free.frag", Same),
    ("-G --aml --amb free.frag", Differs("uniforms outside of blocks get no binding")),
    ("-G --target-env spirv1.3 loose.vert", Differs("OpenGL loads SPIR-V 1.0 alone")),
    ("--client vulkan100 a.vert", Same),
    ("--target-env vulkan1.1 a.comp", Same),
    ("--target-env vulkan1.2 a.comp", Same),
    ("--target-env vulkan1.3 a.comp -o q.spv", Same),
    ("-V --target-env spirv1.3 a.comp", Same),
    ("-V --target-env spirv1.0 a.comp", Same),
    ("-V --target-env spirv1.1 a.comp", Same),
    ("-V --target-env spirv1.2 a.comp", Same),
    ("--target-env spirv1.3 a.comp", Same),
    ("--target-env spirv1.0 --target-env vulkan1.2 a.comp", Same),
    ("--target-env vulkan1.0 --target-env spirv1.4 a.comp", Same),
    ("-V lanes.comp", Same),
    ("-V ballots.comp", Same),
    ("--target-env vulkan1.1 lanes.comp", Same),
    ("-V narrow.comp", Same),
    ("--target-env opengl a.comp", Same),
    ("--target-env nope a.comp", Same),
    ("--target-env=vulkan1.2 a.comp", Same),
    ("-H a.vert", Same),
    ("-V --spirv-dis a.vert", Same),
    ("-V --spirv-val a.vert", Same),
    ("-V -x a.comp -o x.hex", Same),
    ("-V --vn name a.comp -o x.h", Same),
    ("-V --variable-name name a.comp -o x.h", Same),
    ("-E a.comp", Same),
    ("-E bad.vert", Same),
    ("-E warn.vert", Same),
    ("-V -E a.comp", Same),
    ("--target-env vulkan1.1 -E a.comp", Same),
    ("-V -Iinclude --depfile d.d lib/b.comp", Same),
    ("-V -I./include/ --depfile d.d -o x.spv ./lib/b.comp", Same),
    ("-V --depfile d.d a.vert a.comp", Same),
    ("-V --depfile d.d bad.vert", Same),
    ("-V a.vert bad.vert", Same),
    ("-V bad.vert a.comp", Same),
    ("-V a.vert warn.vert", Same),
    ("a.vert warn.vert", Same),
    ("-V -o x.spv a.vert a.comp", Differs("two modules are not written to one file")),
    ("limits.conf -V a.vert", Same),
    ("nofile.conf -V a.vert", Same),
    ("-V110 a.vert", Same),
    ("--client vulkan a.vert", Same),
    ("-V g.geom t.tesc", Same),
    ("-V m.mesh", Same),
    ("-V r.rgen", Same),
    ("--target-env vulkan1.2 m.mesh r.rgen h.rchit", Same),
    ("-V -l g.geom", Same),
    ("--target-env vulkan1.3 -gVS r.rgen", Same),
    ("-V -S geom a.vert", Same),
    ("-V -S mesh a.vert", Same),
    ("-V -S rgen a.vert", Same),
    ("-V -S vertex plain.glsl", Differs("stages have their long names too")),
    ("-V pragma.glsl", Same),
    ("-v", Same),
    ("--version", Same),
    ("-dumpversion", Same),
    ("-dumpfullversion", Same),
    ("-c", Same),
    ("-C -V bad.vert", Same),
    ("-V --depfile d.d a.comp", Same),
    ("-V -w a.vert", Same),
    ("-V --suppress-warnings a.vert", Same),
    ("-V --quiet a.vert", Same),
    ("-V -s bad.vert", Same),
    ("-V -g a.vert", Same),
    ("-V -g0 a.vert", Same),
    ("-V -gV a.vert", Same),
    ("-V -gVS a.vert", Same),
    ("-V -Od a.vert", Same),
    ("-V -Os a.vert", Same),
    ("-V -t a.vert", Same),
    ("-V -m a.vert", Differs("a module is written")),
    ("-V -r a.vert", Same),
    ("-V --relaxed-errors a.vert", Same),
    ("-V -R a.vert", Same),
    ("-i a.vert", Same),
    ("-l a.vert", Same),
    ("-V --lto a.vert", Same),
    ("-V --no-link a.vert", REFUSED),
    ("-q a.vert", Same),
    ("-q -l a.vert", Same),
    ("-V -e main a.vert", Same),
    ("-V --entry-point main a.vert", Same),
    ("-V -e foo --sep main a.vert", Same),
    ("-V -e foo --source-entrypoint main a.vert", Same),
    ("-V -e foo a.vert", Same),
    ("-V -e foo --sep main a.comp -o x.spv", Same),
    ("-V -e foo --sep bar a.vert", Differs("an entry point other than `main` is refused")),
    ("-V --sep main a.vert", Differs("the entry point stays `main`")),
    ("-V -q a.vert", Same),
    ("-V -i a.vert", Same),
    ("-V -DX=1 -UX a.vert", Same),
    ("-V --D X=1 --U X a.vert", Same),
    ("-V --define-macro X=1 --undef-macro X a.vert", Same),
    ("-V -Ilib a.comp", Same),
    ("-V -P#define a.vert", Same),
    ("-V --P #define a.vert", Same),
    ("-V --preamble-text #define a.vert", Same),
    ("-V -d a.vert", Same),
    ("-V -fhlsl_functionality1 a.vert", Same),
    ("-V -ufoo:1 a.vert", Same),
    ("-V --uniform-base 1 a.vert", Same),
    ("-V auto.frag", Same),
    ("-V --amb --aml auto.frag", Same),
    ("-V --auto-map-bindings --auto-map-locations auto.frag", Same),
    ("-V --amb --aml --sib 40 --ssb 30 --sbb 50 --stb 20 --sub 10 auto.frag", Same),
    ("-V --amb --aml --shift-image-binding frag 40 --shift-sampler-binding 30 --shift-ssbo-binding 50 --shift-texture-binding 20 --shift-UBO-binding 10 1 auto.frag", Same),
    ("-V --scb 3 a.vert", Same),
    ("-V --shift-cbuffer-binding 3 a.vert", Same),
    ("-V --suavb 3 a.vert", Same),
    ("-V --shift-uav-binding 3 a.vert", Same),
    ("-V --absolute-path a.vert", Same),
    ("-V --auto-sampled-textures a.vert", REFUSED),
    ("-V --dump-builtin-symbols a.vert", Same),
    ("-V --flatten-uniform-arrays a.vert", Same),
    ("-V --fua a.vert", Same),
    ("-V --glsl-version 460 a.vert", Same),
    ("-V --glsl-version 999 a.vert", Same),
    ("-V --hlsl-offsets a.vert", REFUSED),
    ("-V --hlsl-iomap a.vert", Same),
    ("-V --hlsl-enable-16bit-types a.vert", Same),
    ("-V --hlsl-dx9-compatible a.vert", Same),
    ("-V --hlsl-dx-position-w a.vert", Same),
    ("-V --invert-y a.vert", Same),
    ("-V --iy a.vert", Same),
    ("-V --enhanced-msgs a.vert", Same),
    ("-V --error-column bad.vert", Same),
    ("-V --keep-uncalled a.comp", Same),
    ("-V --ku a.comp", Same),
    ("-V --nan-clamp a.vert", Same),
    ("-V --no-storage-format a.vert", REFUSED),
    ("-V --nsf a.vert", REFUSED),
    ("-l --reflect-strict-array-suffix --reflect-basic-array-suffix --reflect-intermediate-io a.vert", Same),
    ("-l --reflect-separate-buffers --reflect-all-block-variables --reflect-unwrap-io-blocks a.vert", Same),
    ("-V --resource-set-binding 0 a.vert", REFUSED),
    ("-V --rsb 0 a.vert", REFUSED),
    ("-V --set-block-backing U buffer a.vert", Same),
    ("-V --sbs U buffer a.vert", REFUSED),
    ("-V --set-block-storage U buffer a.vert", REFUSED),
    ("-V --shift-ubo-binding 3 a.vert", Same),
    ("-V --set-atomic-counter-block U 0 a.vert", REFUSED),
    ("-V --sacb U 0 a.vert", REFUSED),
    ("-V --set-default-uniform-block U 0 1 a.vert", REFUSED),
    ("-V --sdub U 0 1 a.vert", REFUSED),
];

/// The results of one compiler, in its own folder.
struct Done {
    folder: Folder,
    output: Output,
}

impl Done {
    fn new(program: &Path, arguments: &[&str]) -> Done {
        let folder = Folder::new("stand-in");
        ["lib/deep", "include"].iter().for_each(|name| fs::create_dir_all(folder.0.join(name)).unwrap());
        for (name, text) in FILES {
            folder.file(name, text);
        }
        let input = fs::File::open(folder.0.join("plain.glsl")).unwrap();
        let mut command = Command::new(program);
        let output = command.args(arguments).current_dir(&folder.0).stdin(Stdio::from(input)).output().unwrap();
        Done { folder, output }
    }

    /// Names of the files that are new.
    fn made(&self) -> Vec<String> {
        let names = self.folder.names();
        let is_new = |name: &String| FILES.iter().all(|(known, _)| known.split('/').next() != Some(name));
        names.into_iter().filter(is_new).collect()
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.folder.0.join(name)).unwrap()
    }
}

/// The command under another name.
struct Named(Folder, PathBuf);

fn named(name: &str) -> Named {
    let folder = Folder::new("named");
    let path = folder.0.join(name);
    fs::hard_link(env!("CARGO_BIN_EXE_crosslane"), &path)
        .or_else(|_| fs::copy(env!("CARGO_BIN_EXE_crosslane"), &path).map(drop))
        .unwrap();
    Named(folder, path)
}

/// Runs every case with both; returns the differences that no row describes, and the described ones that did not occur.
fn compare(judge: &str, name: &str, cases: &[(&str, Case)]) {
    let Some(judge) = judge::need_or_skip(judge) else { return };
    let Named(_folder, ours) = named(name);
    let mut wrong = Vec::new();
    for (line, case) in cases {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (theirs, mine) = (Done::new(&judge, &words), Done::new(&ours, &words));
        let difference = difference(&words, &theirs, &mine).or_else(|| said(&words, &theirs, &mine));
        match (case, difference) {
            (Same, Some(why)) => wrong.push(format!("{name} {line}: {why}\n{}{}", stderr(&mine.output), shown(&mine))),
            (Differs(what), None) => wrong.push(format!("{name} {line}: no difference, but {what}")),
            _ => {}
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn shown(done: &Done) -> String {
    String::from_utf8_lossy(&done.output.stdout).chars().take(200).collect()
}

fn difference(words: &[&str], theirs: &Done, mine: &Done) -> Option<String> {
    let ended = [theirs, mine].map(|done| (status(&done.output), done.made()));
    if ended[0] != ended[1] {
        return Some(format!("{:?} there, {:?} here", ended[0], ended[1]));
    }
    mine.made().iter().find_map(|name| {
        let why = contents(words, &theirs.bytes(name), &mine.bytes(name), name.ends_with(".d")).err();
        why.map(|why| format!("{name}: {why}"))
    })
}

/// Modules and dependencies on standard output are equal too, and so are limits.
fn said(words: &[&str], theirs: &Done, mine: &Done) -> Option<String> {
    let (theirs, mine) = (&theirs.output.stdout, &mine.output.stdout);
    let is_text = words.iter().any(|word| matches!(*word, "-M" | "-MM" | "--show-limits"));
    contents(words, theirs, mine, is_text).err().map(|why| format!("standard output: {why}"))
}

/// Compares two files or streams, which must be the same text or equivalent modules.
fn contents(words: &[&str], theirs: &[u8], mine: &[u8], is_text: bool) -> Result<(), String> {
    if is_text {
        let [theirs, mine] = [theirs, mine].map(String::from_utf8_lossy);
        return if theirs == mine { Ok(()) } else { Err(format!("{theirs:?} there, {mine:?} here")) };
    }
    match (module(theirs), module(mine)) {
        (Some((theirs, there)), Some((mine, here))) if there == here => {
            let is_opengl = words.iter().any(|word| word.starts_with("-G") || word.contains("opengl"));
            interfaces(is_opengl, &theirs, &mine)
        }
        (None, None) => Ok(()),
        _ => Err("another kind of text".into()),
    }
}

#[test]
fn glslc_ends_alike() {
    compare("bin/glslc", "glslc", GLSLC);
}

#[test]
fn glslang_ends_alike() {
    compare("bin/glslangValidator", "glslangValidator", GLSLANG);
}

/// The options in a help text, as a user would type their beginning.
fn options(help: &str) -> BTreeSet<String> {
    let is_option = |word: &&str| word.starts_with('-') && word.len() > 1 && !word.ends_with("->");
    let lines = help.lines().filter(|line| line.trim_start().starts_with('-') && !line.trim_start().starts_with("- "));
    let words =
        lines.flat_map(|line| line.split_whitespace().take_while(|word| word.starts_with(['-', '|', '<', '['])));
    let heads = words.filter(is_option).map(|word| {
        let end = word.find(['<', '[', '{', ',']).unwrap_or(word.len());
        word[..end].trim_end_matches("macro").to_string()
    });
    heads.collect()
}

#[test]
fn every_option_of_theirs_is_in_the_table() {
    for (judge, subcommand, cases) in [("bin/glslc", "glslc", GLSLC), ("bin/glslangValidator", "glslang", GLSLANG)] {
        let Some(judge) = judge::need_or_skip(judge) else { continue };
        let theirs = Command::new(judge).arg(if subcommand == "glslc" { "--help" } else { "-h" }).output().unwrap();
        let mine = Folder::new("help").run(&[subcommand, "-h"]);
        let (theirs, mine) = (options(&stdout(&theirs)), options(&stdout(&mine)));
        let missing: Vec<&String> = theirs.difference(&mine).collect();
        assert!(missing.is_empty(), "{subcommand}: not in the table: {missing:?}");
        let tried = |option: &&String| {
            cases.iter().any(|(line, _)| line.split_whitespace().any(|word| word.starts_with(option.as_str())))
        };
        let untried: Vec<&String> = mine.iter().filter(|option| !tried(option)).collect();
        assert!(untried.is_empty(), "{subcommand}: no case for {untried:?}");
    }
}

#[test]
fn unknown_options_are_answered() {
    let folder = Folder::new("unknown");
    for (subcommand, word, meant) in
        [("glslc", "-fauto-bind-uniform", "-fauto-bind-uniforms"), ("glslang", "--qiet", "--quiet")]
    {
        let output = folder.run(&[subcommand, word, "a.vert"]);
        assert_eq!(status(&output), 1);
        let said = stderr(&output) + &stdout(&output);
        assert!(said.contains(&format!("did you mean '{meant}'?")), "{said}");
    }
}

#[test]
fn messages_are_lines_that_editors_know() {
    let folder = Folder::new("lines");
    folder.file("bad.vert", "#version 450\nvoid main() { foo(); }\n");
    let output = folder.run(&["glslc", "bad.vert"]);
    assert_eq!(stderr(&output).lines().next(), Some("bad.vert:2: error: no function `foo` is known"));
    assert!(stderr(&output).ends_with("1 error generated.\n"), "{}", stderr(&output));
    let output = folder.run(&["compile", "bad.vert", "--message-format", "lines"]);
    assert!(stderr(&output).starts_with("bad.vert:2: error: "), "{}", stderr(&output));
    let output = folder.run(&["glslang", "-V", "bad.vert"]);
    assert!(stdout(&output).contains("ERROR: bad.vert:2: "), "{}", stdout(&output));
}

#[test]
fn reads_of_writeonly_memory_are_not_spoken_of() {
    let folder = Folder::new("writeonly");
    folder.file(
        "a.comp",
        "#version 450\nlayout(binding = 0) writeonly buffer B { float x[]; };\nvoid main() { x[0] += 1.0; }\n",
    );
    assert_eq!(stderr(&folder.run(&["glslc", "a.comp"])), "");
    let asked = stderr(&folder.run(&["glslc", "-Wwriteonly-read", "a.comp"]));
    assert!(asked.contains("writeonly"), "{asked}");
}

#[test]
fn the_guide_lists_the_options() {
    let folder = Folder::new("guide");
    let mut page = String::from(
        "# Replacing glslc and glslangValidator\n\nUnder the name `glslc`, `glslangValidator` or `glslang` (a link is enough), or as \
         `crosslane glslc` and `crosslane glslang`, the command accepts the options of that compiler, writes its output files and \
         returns its exit codes. Messages have its format. The tables list every option with its effect here. Tests compare \
         every row with the original compiler.\n\n\
         Both commands escape blanks in the names of dependency files, as make requires. Warnings about lanes and uninitialized \
         values need `-W`. The wording of messages is crosslane's. `@FILE` stands for the arguments in a file. Dependency files list \
         the files that glslc and glslang list, in their order.\n",
    );
    for (title, subcommand, cases) in [("glslc", "glslc", GLSLC), ("glslangValidator", "glslang", GLSLANG)] {
        let help = stdout(&folder.run(&[subcommand, "-h"]));
        let rows = help.lines().skip_while(|line| *line != "Options:").skip(1);
        page += &format!("\n## {title}\n\n| option | here |\n|---|---|\n");
        for row in rows {
            let (option, about) = row.trim_start().split_once("  ").unwrap_or((row.trim(), ""));
            page += &format!("| `{option}` | {} |\n", about.trim_start());
        }
        page += "\nCommand lines with a different exit code or different files:\n\n| command line | difference |\n|---|---|\n";
        for (line, case) in cases {
            if let Differs(what) = case {
                page += &format!("| `{title} {line}` | {what} |\n");
            }
        }
    }
    bless::hold("docs/guide/glslc.md", &page).unwrap_or_else(|why| panic!("{why}"));
}
