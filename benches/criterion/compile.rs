//! Time to compile a shader in process: text in, SPIR-V words out.
//!
//! `cargo bench -p crosslane-criterion --bench compile`

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use crosslane::compile::{EmitKind, Input, Language, Options, Verdict, compile};
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;
use mimalloc::MiMalloc;
use std::hint::black_box;

/// The command's allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

const SHADERS: &[(&str, Language, &str)] =
    &[("glsl", Language::Glsl, include_str!("subgroup.comp")), ("wgsl", Language::Wgsl, include_str!("subgroup.wgsl"))];

fn options(profile: &str, emit: EmitKind) -> Options {
    let profile = Profile::named(profile).expect("a built-in profile");
    Options { emit, ..Options::new(profile) }
}

fn whole(c: &mut Criterion) {
    let mut group = c.benchmark_group("compile");
    for (name, language, text) in SHADERS {
        let input = Input { name, bytes: text.as_bytes(), language: *language };
        let options = options("spirv-1.6", EmitKind::Binary);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(*name, |b| {
            b.iter(|| {
                let compilation = compile(black_box(&input), &options, &NoIncludes);
                assert!(matches!(compilation.verdict, Verdict::Done(_)));
                compilation
            });
        });
    }
    group.finish();
}

fn profile(c: &mut Criterion) {
    c.bench_function("profile", |b| b.iter(|| Profile::named(black_box("spirv-1.6"))));
}

criterion_group!(benches, whole, profile);
criterion_main!(benches);
