//! Functions of two numbers in LLVM's language, with their results in plain Rust.

use support::amd::float::{from_half, to_half};

/// The operands and results of a case: the low 32 bits or all 64 of its numbers, integers or floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Int,
    Wide,
    Float,
    Double,
}

/// A function that each lane computes.
pub struct Case {
    pub name: &'static str,
    pub kind: Kind,
    /// From `%x` and `%y` (32 bits), `%X` and `%Y` (64), `%f` and `%g` (floats), `%d` and `%e` (doubles) to `%r` or
    /// `%R`.
    pub body: &'static str,
    pub rule: fn(u64, u64) -> u64,
    /// The allowed relative difference of results.
    pub share: f64,
}

const fn case(name: &'static str, kind: Kind, body: &'static str, rule: fn(u64, u64) -> u64) -> Case {
    Case { name, kind, body, rule, share: 0.0 }
}

const fn close(name: &'static str, kind: Kind, share: f64, body: &'static str, rule: fn(u64, u64) -> u64) -> Case {
    Case { name, kind, body, rule, share }
}

fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn of(value: f32) -> u64 {
    value.to_bits().into()
}

fn low(value: u32) -> u64 {
    value.into()
}

fn int(bits: u64) -> i32 {
    bits as i32
}

fn signed(value: i32) -> u64 {
    low(value as u32)
}

fn collatz(start: u64) -> u64 {
    let steps = std::iter::successors(Some((start & 255) + 1), |x| Some(if x % 2 == 0 { x / 2 } else { 3 * x + 1 }));
    steps.take_while(|x| *x != 1).count() as u64
}

/// A function of both halves of two words, without their largest exponents, which LLVM's cases below mask out.
fn by_halves(x: u64, y: u64, function: fn([f64; 2], [f64; 2]) -> [f64; 2]) -> u64 {
    let halves = |word: u64| [0, 16].map(|at| from_half((word >> at) as u16 & 0xbfff));
    let [low, high] = function(halves(x), halves(y)).map(to_half);
    u64::from(low) | u64::from(high) << 16
}

pub static CASES: &[Case] = &[
    case(
        "packed halves",
        Kind::Int,
        "%m = and i32 %x, -1073758209\n%n = and i32 %y, -1073758209\n%p = bitcast i32 %m to <2 x half>\n\
         %q = bitcast i32 %n to <2 x half>\n%w = shufflevector <2 x half> %q, <2 x half> %q, <2 x i32> <i32 1, i32 0>\n\
         %t = fmul <2 x half> %p, %w\n%s = fsub <2 x half> %p, %q\n%u = bitcast <2 x half> %t to i32\n\
         %v = bitcast <2 x half> %s to i32\n%r = xor i32 %u, %v",
        |x, y| by_halves(x, y, |[a, b], [c, d]| [a * d, b * c]) ^ by_halves(x, y, |[a, b], [c, d]| [a - c, b - d]),
    ),
    case(
        "least halves",
        Kind::Int,
        "%m = and i32 %x, -1073758209\n%n = and i32 %y, -1073758209\n%p = bitcast i32 %m to <2 x half>\n\
         %q = bitcast i32 %n to <2 x half>\n%t = fadd <2 x half> %p, splat (half 1.0)\n\
         %s = call <2 x half> @llvm.minnum.v2f16(<2 x half> %t, <2 x half> %q)\n%r = bitcast <2 x half> %s to i32",
        |x, y| {
            by_halves(x, y, |[a, b], [c, d]| {
                let sum = |a: f64| from_half(to_half(a + 1.0));
                [sum(a).min(c), sum(b).min(d)]
            })
        },
    ),
    case(
        "mixed floats",
        Kind::Float,
        "%n = and i32 %y, -1073758209\n%q = bitcast i32 %n to <2 x half>\n%low = extractelement <2 x half> %q, i32 0\n\
         %high = extractelement <2 x half> %q, i32 1\n%a = fpext half %low to float\n%b = fpext half %high to float\n\
         %c = fneg float %b\n%s = call float @llvm.fma.f32(float %c, float %f, float %a)\n\
         %r = bitcast float %s to i32",
        |x, y| {
            let [low, high] = [0, 16].map(|at| from_half((y >> at) as u16 & 0xbfff) as f32);
            of((-high).mul_add(f(x), low))
        },
    ),
    case(
        "packed shorts",
        Kind::Int,
        "%p = bitcast i32 %x to <2 x i16>\n%q = bitcast i32 %y to <2 x i16>\n%t = mul <2 x i16> %p, %q\n\
         %u = ashr <2 x i16> %t, splat (i16 3)\n%s = sub <2 x i16> %u, %q\n%r = bitcast <2 x i16> %s to i32",
        |x, y| {
            let part = |at: u64| {
                let (a, b) = ((x >> at) as u16, (y >> at) as u16);
                u64::from(((a.wrapping_mul(b) as i16) >> 3).wrapping_sub(b as i16) as u16)
            };
            part(0) | part(16) << 16
        },
    ),
    case("add", Kind::Int, "%r = add i32 %x, %y", |x, y| low((x as u32).wrapping_add(y as u32))),
    case("mul", Kind::Int, "%r = mul i32 %x, %y", |x, y| low((x as u32).wrapping_mul(y as u32))),
    case("udiv", Kind::Int, "%z = or i32 %y, 1\n%r = udiv i32 %x, %z", |x, y| low(x as u32 / (y as u32 | 1))),
    case("urem", Kind::Int, "%z = or i32 %y, 1\n%r = urem i32 %x, %z", |x, y| low(x as u32 % (y as u32 | 1))),
    case("sdiv", Kind::Int, "%z = or i32 %y, 1\n%r = sdiv i32 %x, %z", |x, y| signed(int(x).wrapping_div(int(y) | 1))),
    case("ctlz", Kind::Int, "%r = call i32 @llvm.ctlz.i32(i32 %x, i1 false)", |x, _| low((x as u32).leading_zeros())),
    case("bswap", Kind::Int, "%r = call i32 @llvm.bswap.i32(i32 %x)", |x, _| low((x as u32).swap_bytes())),
    case("fshl", Kind::Int, "%r = call i32 @llvm.fshl.i32(i32 %x, i32 %y, i32 7)", |x, y| {
        low((x as u32) << 7 | y as u32 >> 25)
    }),
    case("select", Kind::Int, "%c = icmp slt i32 %x, %y\n%r = select i1 %c, i32 %x, i32 7", |x, y| {
        if int(x) < int(y) { x } else { 7 }
    }),
    case(
        "short",
        Kind::Int,
        "%a = trunc i32 %x to i16\n%b = trunc i32 %y to i16\n%m = mul i16 %a, %b\n%s = lshr i16 %m, 3\n%r = sext i16 %s to i32",
        |x, y| signed(((x as u16).wrapping_mul(y as u16) >> 3) as i16 as i32),
    ),
    case("add64", Kind::Wide, "%R = add i64 %X, %Y", u64::wrapping_add),
    case("mul64", Kind::Wide, "%R = mul i64 %X, %Y", u64::wrapping_mul),
    case("udiv64", Kind::Wide, "%z = or i64 %Y, 1\n%R = udiv i64 %X, %z", |x, y| x / (y | 1)),
    case("ashr64", Kind::Wide, "%n = and i64 %Y, 63\n%R = ashr i64 %X, %n", |x, y| (x as i64 >> (y & 63)) as u64),
    case("smax64", Kind::Wide, "%R = call i64 @llvm.smax.i64(i64 %X, i64 %Y)", |x, y| (x as i64).max(y as i64) as u64),
    case(
        "fmul_add",
        Kind::Float,
        "%t = fmul float %f, %g\n%s = fadd float %t, %g\n%r = bitcast float %s to i32",
        |x, y| of(f(x) * f(y) + f(y)),
    ),
    case("fdiv", Kind::Float, "%s = fdiv float %f, %g\n%r = bitcast float %s to i32", |x, y| of(f(x) / f(y))),
    case(
        "fsqrt",
        Kind::Float,
        "%t = call float @llvm.fabs.f32(float %f)\n%s = call float @llvm.sqrt.f32(float %t)\n%r = bitcast float %s to i32",
        |x, _| of(f(x).abs().sqrt()),
    ),
    case("floor", Kind::Float, "%s = call float @llvm.floor.f32(float %f)\n%r = bitcast float %s to i32", |x, _| {
        of(f(x).floor())
    }),
    case(
        "ldexp",
        Kind::Float,
        "%s = call float @llvm.ldexp.f32.i32(float %f, i32 -140)\n%r = bitcast float %s to i32",
        |x, _| of((f64::from(f(x)) * 2f64.powi(-140)) as f32),
    ),
    close(
        "log",
        Kind::Float,
        1e-5,
        "%t = call float @llvm.fabs.f32(float %f)\n%s = call float @llvm.log.f32(float %t)\n%r = bitcast float %s to i32",
        |x, _| of(f(x).abs().ln()),
    ),
    case("ddiv", Kind::Double, "%s = fdiv double %d, %e\n%R = bitcast double %s to i64", |x, y| {
        (d(x) / d(y)).to_bits()
    }),
    case(
        "dsqrt",
        Kind::Double,
        "%t = call double @llvm.fabs.f64(double %d)\n%s = call double @llvm.sqrt.f64(double %t)\n%R = bitcast double %s to i64",
        |x, _| d(x).abs().sqrt().to_bits(),
    ),
    case(
        "loop",
        Kind::Int,
        "%x8 = and i32 %x, 255\n%x9 = add i32 %x8, 1\nbr label %head\nhead:\n%v = phi i32 [%x9, %entry], [%nv, %latch]\n\
         %n = phi i32 [0, %entry], [%nn, %latch]\n%c = icmp eq i32 %v, 1\nbr i1 %c, label %done, label %step\nstep:\n\
         %o = and i32 %v, 1\n%oc = icmp eq i32 %o, 0\nbr i1 %oc, label %even, label %odd\neven:\n%h = lshr i32 %v, 1\n\
         br label %latch\nodd:\n%m3 = mul i32 %v, 3\n%m4 = add i32 %m3, 1\nbr label %latch\nlatch:\n\
         %nv = phi i32 [%h, %even], [%m4, %odd]\n%nn = add i32 %n, 1\nbr label %head\ndone:\n%r = add i32 %n, 0",
        |x, _| collatz(x),
    ),
    case(
        "switch",
        Kind::Int,
        "%k = and i32 %x, 3\nswitch i32 %k, label %other [i32 0, label %c0\ni32 1, label %c1\ni32 2, label %c2]\nc0:\n\
         %a0 = mul i32 %y, 3\nbr label %j\nc1:\n%a1 = xor i32 %y, 12345\nbr label %j\nc2:\n%a2 = lshr i32 %y, 3\nbr label %j\n\
         other:\nbr label %j\nj:\n%r = phi i32 [%a0, %c0], [%a1, %c1], [%a2, %c2], [99, %other]",
        |x, y| match x & 3 {
            0 => low((y as u32).wrapping_mul(3)),
            1 => y ^ 12345,
            2 => y >> 3,
            _ => 99,
        },
    ),
    case(
        "private",
        Kind::Int,
        "%m = alloca [8 x i32], addrspace(5)\n%ix = and i32 %x, 7\n%iy = and i32 %y, 7\n\
         %p = getelementptr [8 x i32], ptr addrspace(5) %m, i32 0, i32 %ix\n\
         %q = getelementptr [8 x i32], ptr addrspace(5) %m, i32 0, i32 %iy\nstore volatile i32 5, ptr addrspace(5) %q\n\
         store volatile i32 %x, ptr addrspace(5) %p\n%r = load volatile i32, ptr addrspace(5) %q",
        |x, y| if x & 7 == y & 7 { x } else { 5 },
    ),
];

/// A move between lanes: the versions that have it, and a lane's result from the first numbers of its wave.
pub struct Move {
    pub name: &'static str,
    pub since: u32,
    pub until: u32,
    pub body: &'static str,
    pub rule: fn(usize, &[u64]) -> u64,
}

const fn moves(name: &'static str, since: u32, until: u32, body: &'static str, rule: fn(usize, &[u64]) -> u64) -> Move {
    Move { name, since, until, body, rule }
}

pub static MOVES: &[Move] = &[
    moves(
        "row_ror",
        800,
        9999,
        "%r = call i32 @llvm.amdgcn.update.dpp.i32(i32 77, i32 %x, i32 291, i32 15, i32 15, i1 0)",
        |lane, v| v[lane & !15 | ((lane + 13) % 16)],
    ),
    moves(
        "row_shl",
        800,
        9999,
        "%r = call i32 @llvm.amdgcn.update.dpp.i32(i32 77, i32 %x, i32 259, i32 15, i32 15, i1 1)",
        |lane, v| if lane % 16 < 13 { v[lane + 3] } else { 0 },
    ),
    moves(
        "masks",
        800,
        9999,
        "%r = call i32 @llvm.amdgcn.update.dpp.i32(i32 77, i32 %x, i32 320, i32 10, i32 3, i1 0)",
        |lane, v| if lane / 16 % 2 == 1 && lane % 16 < 8 { v[lane ^ 15] } else { 77 },
    ),
    moves(
        "row_bcast31",
        800,
        999,
        "%r = call i32 @llvm.amdgcn.update.dpp.i32(i32 77, i32 %x, i32 323, i32 12, i32 15, i1 0)",
        |lane, v| if lane >= 32 { v[31] } else { 77 },
    ),
    moves(
        "row_xmask",
        1000,
        9999,
        "%r = call i32 @llvm.amdgcn.update.dpp.i32(i32 77, i32 %x, i32 357, i32 15, i32 15, i1 0)",
        |lane, v| v[lane ^ 5],
    ),
    moves("swizzle", 600, 9999, "%r = call i32 @llvm.amdgcn.ds.swizzle(i32 %x, i32 4127)", |lane, v| v[lane ^ 4]),
    moves("read_lane", 600, 9999, "%r = call i32 @llvm.amdgcn.readlane.i32(i32 %x, i32 17)", |_, v| v[17]),
    moves("write_lane", 600, 9999, "%r = call i32 @llvm.amdgcn.writelane.i32(i32 99, i32 5, i32 %x)", |lane, v| {
        if lane == 5 { 99 } else { v[lane] }
    }),
    moves(
        "permlanex16",
        1000,
        9999,
        "%r = call i32 @llvm.amdgcn.permlanex16.i32(i32 %x, i32 %x, i32 1985229328, i32 -19088744, i1 0, i1 0)",
        |lane, v| v[lane ^ 16],
    ),
    moves(
        "count_below",
        600,
        9999,
        "%c = call i32 @llvm.amdgcn.mbcnt.lo(i32 -1, i32 0)\n%r = call i32 @llvm.amdgcn.mbcnt.hi(i32 -1, i32 %c)",
        |lane, _| lane as u64,
    ),
    moves(
        "ballot",
        600,
        9999,
        "%c = icmp slt i32 %x, 0\n%b = call i64 @llvm.amdgcn.ballot.i64(i1 %c)\n%r = trunc i64 %b to i32",
        |_, v| (0..32).map(|n| u64::from(int(v[n]) < 0) << n).sum(),
    ),
];
