//! Memory: which variables are in memory, their positions, and the width of accesses.

use super::made::{buffer, finish, global};
use super::{codes, count, kernel, run, specialized, with_body};
use crate::ir::{self, ArrayLen, BinaryOp, Binding, BuiltIn, ConstValue, Module, Space, Types, Value};
use crate::kernel::{BufferKind, BufferWrites, Kernel, MemoryAccess, MemorySpace, Op};
use crate::source::Span;

const INPUT: [u32; 8] = [3, 1, 4, 1, 5, 9, 2, 6];

/// The accesses of a kernel to one memory, in order.
fn accesses(kernel: &Kernel, space: MemorySpace) -> Vec<MemoryAccess> {
    let access = |op: Op| match op {
        Op::Load(access) | Op::Store(access) | Op::Atomic { access, .. } => Some(access),
        _ => None,
    };
    kernel.insts.iter().filter_map(|(_, inst)| access(inst.op)).filter(|access| access.space == space).collect()
}

#[test]
fn variables_with_constant_indices_have_no_memory() {
    let body =
        "uint a[3] = uint[](v, v + 1u, 7u); uvec4 b = uvec4(v); b[v & 3u] = 9u; a[1] += b[i & 3u]; y[i] = a[0] + a[1];";
    let kernel = with_body("", body);
    assert_eq!(kernel.private_bytes, 0);
    let expected = [0, 1, 2, 3, 4, 5, 6, 7].map(|i: u32| {
        let v = INPUT[i as usize];
        2 * v + 1 + if v & 3 == i & 3 { 9 } else { v }
    });
    assert_eq!(run(&kernel, &INPUT), expected);
}

#[test]
fn variables_with_computed_indices_are_memory() {
    let body = "uint a[4] = uint[](v, 10u, 20u, 30u); a[v & 3u] += 5u; y[i] = a[0] + a[1] + a[2] + a[3];";
    let kernel = with_body("", body);
    assert_eq!(kernel.private_bytes, 16);
    assert_eq!(run(&kernel, &INPUT), INPUT.map(|v| v + 65));
}

#[test]
fn calls_one_after_the_other_share_memory() {
    let function = "uint f(uint v) { uint a[8]; for (uint n = 0u; n < 8u; n++) a[n] = n * v; return a[v & 7u]; }";
    let kernel = with_body(function, "y[i] = f(v) + f(v + 1u);");
    assert_eq!(kernel.private_bytes, 32);
    let f = |v: u32| v * (v & 7);
    assert_eq!(run(&kernel, &INPUT), INPUT.map(|v| f(v) + f(v + 1)));
}

#[test]
fn constant_tables_are_written_once() {
    let globals = "const uint table[6] = uint[](5u, 8u, 2u, 9u, 1u, 7u);";
    let kernel = with_body(globals, "uint r = 0u; for (uint n = 0u; n < 9u; n++) r += table[(v + n) % 6u]; y[i] = r;");
    let stores = accesses(&kernel, MemorySpace::Private(0));
    assert_eq!(stores.iter().map(|access| access.components).collect::<Vec<_>>(), [4, 2, 1]);
    let table = [5, 8, 2, 9, 1, 7];
    assert_eq!(run(&kernel, &INPUT), INPUT.map(|v| (0..9).map(|n| table[(v as usize + n) % 6]).sum::<u32>()));
}

#[test]
fn accesses_are_wide_and_keep_constant_offsets() {
    let text = "#version 450
layout(local_size_x = 1) in;
struct S { vec4 a; vec3 b; float c; mat2 m; };
layout(std430, binding = 3) buffer B { uint n; S s[]; } data;
void main() { S t = data.s[gl_WorkGroupID.x]; data.s[2] = t; data.s[0].m[1].y = t.c; }";
    let wide: Vec<(u32, u8)> = accesses(&kernel(text), MemorySpace::Buffer(0))
        .iter()
        .map(|access| (access.offset, access.components))
        .collect();
    // A structure of 48 bytes after 16.
    assert_eq!(wide, [(16, 4), (32, 4), (48, 4), (112, 4), (128, 4), (144, 4), (60, 1)]);
}

#[test]
fn rows_of_matrices_are_strided() {
    let text = "#version 450
layout(local_size_x = 1) in;
layout(std430, row_major, binding = 0) buffer B { mat3x2 m; };
void main() { m[1] = vec2(1.0, 2.0); }";
    let stores: Vec<(u32, u8)> = accesses(&kernel(text), MemorySpace::Buffer(0))
        .iter()
        .map(|access| (access.offset, access.components))
        .collect();
    assert_eq!(stores, [(4, 1), (20, 1)]);
}

#[test]
fn buffers_stand_in_the_order_of_their_bindings() {
    let text = "#version 450
layout(local_size_x = 1) in;
layout(std430, set = 1, binding = 0) buffer A { uint a[]; } last;
layout(std430, binding = 2) readonly buffer B { uint b; uint c[]; } two[2];
layout(std430, binding = 7) buffer Unused { uint u[]; };
layout(std140, binding = 1) uniform C { vec3 c; } one;
layout(std430, binding = 5) buffer D { uvec2 d[]; } view;
layout(std430, binding = 5) readonly buffer E { uint e[5]; } other;
void main() { last.a[two[1].c.length()] = two[1].b + uint(one.c.x) + other.e[0]; view.d[0] = uvec2(1u); }";
    let kernel = kernel(text);
    let found: Vec<_> =
        kernel.buffers.iter().map(|b| (b.set, b.binding, b.element, b.bytes, b.is_writable())).collect();
    let expected =
        [(0, 1, 0, 12, false), (0, 2, 0, 4, false), (0, 2, 1, 4, false), (0, 5, 0, 20, true), (1, 0, 0, 0, true)];
    assert_eq!(found, expected);
    assert_eq!(kernel.buffers[0].kind, BufferKind::Uniform);
    assert_eq!(count(&kernel, |op| *op == Op::BufferBytes(2)), 1);
}

#[test]
fn qualifiers_say_what_may_write_a_buffer() {
    let text = "#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer A { uint a[]; };
layout(std430, binding = 1) readonly buffer B { uint b[]; };
layout(std430, binding = 2) readonly restrict buffer C { uint c[]; };
layout(std430, binding = 3) readonly restrict volatile buffer D { uint d[]; };
layout(std430, binding = 4) restrict buffer E { uint e[]; };
layout(std430, binding = 5) readonly restrict buffer F { uint f[]; };
layout(std430, binding = 5) restrict buffer G { uint g[]; };
layout(binding = 6) uniform H { uint h; };
void main() { a[0] = b[0] + c[0] + d[0] + e[0] + f[0] + g[0] + h; }";
    use BufferWrites::{Elsewhere, Here, Never};
    let found: Vec<_> = kernel(text).buffers.iter().map(|buffer| buffer.writes).collect();
    assert_eq!(found, [Here, Elsewhere, Never, Elsewhere, Here, Here, Never]);
}

#[test]
fn workgroup_variables_lie_side_by_side() {
    let globals = "shared uint a; shared uvec4 b[2]; shared bool c; shared vec3 d;";
    let body = "if (i == 0u) { a = v; b[1] = uvec4(v); c = true; d = vec3(1.0); } barrier(); y[i] = a + b[1].w + uint(c) + uint(d.z);";
    let kernel = with_body(globals, body);
    assert_eq!(kernel.shared_bytes, 64);
    assert_eq!(run(&kernel, &INPUT), [8; 8]);
}

/// Each of eight invocations adds up an array of `words` words that begins as zero, and its own word of the input.
fn zeroed(words: u32) -> Kernel {
    let mut module = Module::new();
    let ty = module.types.array(Types::U32, ArrayLen::Fixed(words));
    let (input, output) = (buffer(&mut module, 0, Types::U32, 4), buffer(&mut module, 1, Types::U32, 4));
    let index = global(&mut module, Space::Input, Types::U32, Binding::BuiltIn(BuiltIn::LocalInvocationIndex));
    let shared = global(&mut module, Space::Workgroup, ty, Binding::None);
    let Value::Global(id) = shared else { panic!("a variable") };
    module.globals[id].init = Some(module.constants.intern(ty, ConstValue::Zero));
    let mut b = ir::Builder::new(&mut module, "main", Span::NONE, Vec::new(), Types::VOID);
    let (zero, index) = (b.const_u32(0), b.load(index));
    let own = b.access(input, &[zero, index]);
    let mut sum = b.load(own);
    for word in 0..words {
        let place = b.access_const(shared, word);
        let value = b.load(place);
        sum = b.binary(BinaryOp::Add, sum, value);
    }
    let own = b.access(output, &[zero, index]);
    b.store(own, sum);
    b.ret(None);
    let function = b.finish_into(None);
    finish(module, function)
}

#[test]
fn workgroup_memory_that_begins_as_zero_is_cleared() {
    for words in [5, 8, 20, 200] {
        assert_eq!(run(&zeroed(words), &INPUT), INPUT, "{words} words");
    }
}

#[test]
fn dynamic_buffer_indices_are_refused() {
    let text = "#version 450
layout(local_size_x = 1) in;
layout(std430, binding = 2) buffer B { uint b; } many[2];
void main() { many[gl_WorkGroupID.x].b = 1u; }";
    assert_eq!(codes(specialized(text, &[])), ["E0703"]);
}

#[test]
fn copies_between_buffers_of_one_layout_go_piece_by_piece() {
    let text = |copy: &str| {
        format!(
            "#version 450
layout(local_size_x = 1) in;
struct S {{ vec4 a[4]; float b; }};
layout(std430, binding = 0) buffer A {{ S s; S t; }} from;
layout(std430, binding = 1) COHERENT buffer B {{ S s; S t; }} to;
void main() {{ {copy} }}"
        )
    };
    let order = |text: &str| -> String {
        let kernel = kernel(text);
        let letter = |op: Op| match op {
            Op::Load(_) => Some('l'),
            Op::Store(_) => Some('s'),
            _ => None,
        };
        kernel.insts.iter().filter_map(|(_, inst)| letter(inst.op)).collect()
    };
    let plain = text("to.s = from.s; from.t = to.t;").replace("COHERENT ", "");
    assert_eq!(order(&plain), "lllsssllsslllsssllss");
    let watched = text("to.s = from.s;").replace("COHERENT", "coherent");
    assert_eq!(order(&watched), "lllllsssss");
}
