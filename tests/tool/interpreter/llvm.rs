//! Kernels compiled by llc: the interpreter must accept them and compute the same results as plain Rust.

use super::cases::{CASES, Case, Kind, MOVES};
use std::process::Command;
use support::amd::memory::Memory;
use support::amd::target::Target;
use support::amd::{Dispatch, Program, run, walk};
use support::assembler::options;
use support::judge;

/// Processors and lanes of a wave.
const TARGETS: [(&str, usize); 10] = [
    ("gfx600", 64),
    ("gfx701", 64),
    ("gfx803", 64),
    ("gfx90a", 64),
    ("gfx942", 64),
    ("gfx1010", 64),
    ("gfx1030", 32),
    ("gfx1100", 64),
    ("gfx1150", 32),
    ("gfx1201", 32),
];

/// Invocations of a workgroup, and in all.
const GROUP: usize = 64;
const COUNT: usize = 128;

/// A kernel around a body: for each invocation it reads two 64-bit numbers and writes one.
fn source(body: &str, wide: bool) -> String {
    let store = if wide { "store i64 %R" } else { "store i32 %r" };
    format!(
        "declare i32 @llvm.amdgcn.workgroup.id.x()\ndeclare i32 @llvm.amdgcn.workitem.id.x()\n\
         define amdgpu_kernel void @k(ptr addrspace(1) %in0, ptr addrspace(1) %in1, ptr addrspace(1) %out) #0 {{\nentry:\n\
         %group = call i32 @llvm.amdgcn.workgroup.id.x()\n%l = call i32 @llvm.amdgcn.workitem.id.x()\n\
         %first = mul i32 %group, 64\n%at = add i32 %first, %l\n\
         %pa = getelementptr i64, ptr addrspace(1) %in0, i32 %at\n%pb = getelementptr i64, ptr addrspace(1) %in1, i32 %at\n\
         %po = getelementptr i64, ptr addrspace(1) %out, i32 %at\n\
         %X = load i64, ptr addrspace(1) %pa\n%Y = load i64, ptr addrspace(1) %pb\n\
         %x = trunc i64 %X to i32\n%y = trunc i64 %Y to i32\n%f = bitcast i32 %x to float\n%g = bitcast i32 %y to float\n\
         %d = bitcast i64 %X to double\n%e = bitcast i64 %Y to double\n{body}\n{store}, ptr addrspace(1) %po\nret void }}\n\
         attributes #0 = {{ \"amdgpu-flat-work-group-size\"=\"64,64\" nounwind }}\n"
    )
}

/// The assembler's text of a kernel.
fn compile(name: &str, source: &str, processor: &str, wave: usize) -> Result<String, String> {
    let stem = std::env::temp_dir().join(format!("crosslane-{}-{name}-{processor}-{wave}", std::process::id()));
    let (input, output) = (stem.with_extension("ll"), stem.with_extension("s"));
    std::fs::write(&input, source).map_err(|e| e.to_string())?;
    // The interpreter rejects LLVM 22's dual instructions on gfx11, whose operands may be in the same bank (pull
    // request 220348).
    let mut llc = Command::new("llc-22");
    llc.args(["-O3", "-mtriple=amdgcn-amd-amdhsa", "-amdgpu-enable-vopd=0"]).args(options(processor, wave as u32));
    let done = llc.arg(&input).arg("-o").arg(&output).output().map_err(|e| e.to_string())?;
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).into_owned());
    }
    let text = std::fs::read_to_string(&output).map_err(|e| e.to_string())?;
    [input, output].iter().try_for_each(std::fs::remove_file).map_err(|e| e.to_string())?;
    Ok(text)
}

/// The numbers that a kernel writes.
fn execute(text: &str, target: Target, inputs: [&[u64]; 2]) -> Result<Vec<u64>, String> {
    let program = Program::read(text, target)?;
    walk(&program)?;
    let mut memory = Memory::default();
    let bytes = |numbers: &[u64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<u8>>();
    let out = vec![0; 8 * COUNT];
    let places = [memory.add(bytes(inputs[0]), false), memory.add(bytes(inputs[1]), false), memory.add(out, true)];
    // The runtime's own arguments follow the kernel's.
    let mut arguments: Vec<u8> = bytes(&places);
    arguments.resize(512, 0);
    let (groups, group_size) = ([(COUNT / GROUP) as u32, 1, 1], [GROUP as u32, 1, 1]);
    run(
        &program,
        &mut memory,
        &Dispatch { groups, group_size, arguments: &arguments, backwards: false, together: false },
    )?;
    let block = memory.block(places[2]).ok_or("no such block")?;
    if block.undefined_bits().iter().any(|bits| *bits != 0) {
        return Err("a result is undefined".to_owned());
    }
    Ok(block.bytes().chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().unwrap_or_default())).collect())
}

/// Mixed numbers, corners first.
fn numbers(kind: Kind, salt: u64) -> Vec<u64> {
    const FLOATS: [f32; 14] = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        2.5,
        1e-40,
        -1e-39,
        3e38,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        1e-30,
        1e30,
        12345.678,
    ];
    let mut state = salt;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state ^ state >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let number = |n: usize| {
        let (random, corner) = (next(), FLOATS[(n * salt as usize + n / 14) % 14]);
        match kind {
            Kind::Float if n < 64 => corner.to_bits().into(),
            Kind::Double if n < 64 => f64::from(corner).to_bits(),
            Kind::Float => f32::from_bits(random as u32 & !0x4000_0000).to_bits().into(),
            Kind::Double => random & !(1 << 62),
            _ => random >> (n % 40),
        }
    };
    (0..COUNT).map(number).collect()
}

/// Returns true if a result is as expected.
fn agrees(case: &Case, expected: u64, got: u64) -> bool {
    let (want, have) = match case.kind {
        Kind::Float => (f64::from(f32::from_bits(expected as u32)), f64::from(f32::from_bits(got as u32))),
        Kind::Double => (f64::from_bits(expected), f64::from_bits(got)),
        _ => return expected == got,
    };
    expected == got || want.is_nan() && have.is_nan() || (want - have).abs() <= case.share * want.abs()
}

fn hold(case: &Case, processor: &str, wave: usize) -> Result<(), String> {
    let wide = matches!(case.kind, Kind::Wide | Kind::Double);
    let text = compile(case.name, &source(case.body, wide), processor, wave)?;
    let (a, b) = (numbers(case.kind, 3), numbers(case.kind, 5));
    let got = execute(&text, Target::new(processor, wave)?, [&a, &b])?;
    let cut = |number: u64| if wide { number } else { number & 0xffff_ffff };
    for (n, got) in got.into_iter().enumerate() {
        let (x, y) = (cut(a[n]), cut(b[n]));
        let expected = (case.rule)(x, y);
        if !agrees(case, expected, cut(got)) {
            return Err(format!("of {x:#x} and {y:#x}: expected {expected:#x}, got {got:#x}"));
        }
    }
    Ok(())
}

fn hold_move(number: usize, processor: &str, wave: usize) -> Result<(), String> {
    let moved = &MOVES[number];
    let target = Target::new(processor, wave)?;
    if !(moved.since..=moved.until).contains(&target.version) {
        return Ok(());
    }
    let text = compile(moved.name, &source(moved.body, false), processor, wave)?;
    let numbers = numbers(Kind::Int, 7);
    let got = execute(&text, target, [&numbers, &numbers])?;
    let values: Vec<u64> = numbers.iter().map(|number| number & 0xffff_ffff).collect();
    for (n, got) in got.into_iter().enumerate() {
        let expected = (moved.rule)(n % wave, &values[n / wave * wave..][..wave]);
        if got != expected {
            return Err(format!("invocation {n}: expected {expected:#x}, got {got:#x}"));
        }
    }
    Ok(())
}

/// Runs every case on every processor, or reports that llc is missing.
fn on_all(count: usize, name: impl Fn(usize) -> &'static str, hold: impl Fn(usize, &str, usize) -> Result<(), String>) {
    if Command::new("llc-22").arg("--version").output().is_err() {
        assert!(!judge::required(), "no llc-22 (run scripts/test.sh)");
        eprintln!("skipped: no llc-22 (run scripts/test.sh)");
        return;
    }
    let tried = (0..count).flat_map(|n| TARGETS.map(|(processor, wave)| (n, processor, wave)));
    let wrong = |(n, processor, wave)| {
        hold(n, processor, wave).err().map(|why| format!("{} on {processor}, {wave} lanes: {why}", name(n)))
    };
    let wrong: Vec<String> = tried.filter_map(wrong).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn arithmetic() {
    on_all(CASES.len(), |n| CASES[n].name, |n, processor, wave| hold(&CASES[n], processor, wave));
}

#[test]
fn moves_between_lanes() {
    on_all(MOVES.len(), |n| MOVES[n].name, hold_move);
}
