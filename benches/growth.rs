//! Time of a compilation against the size of the shader: each shape of `tests/support/shapes.rs`, at sizes that double until
//! one takes too long, for one profile per target. Prints the exponent of the last doublings, the steepest shapes first.
//!
//! `cargo bench --bench growth [PART_OF_A_NAME]...`. An exponent of 1 is linear, of 2 quadratic. What compiles in
//! milliseconds at the largest size has no exponent worth reading; it is left out.

use crosslane::compile::Compilation;
use crosslane::diagnostic::Severity;
use std::time::{Duration, Instant};
use support::shapes::{self, Shape};

const PROFILES: [&str; 3] = ["spirv-1.6", "nv-hopper", "gfx1100-wave32"];
const FIRST: usize = 64;
const LAST: usize = 1 << 16;
/// The next size is not tried after a compilation that took longer.
const CAP: Duration = Duration::from_millis(400);
/// Shorter times tell nothing.
const LEAST: Duration = Duration::from_millis(20);
/// The stack of the thread that compiles: what a thread of a server has.
const STACK: usize = 2 << 20;

/// How long compilations of a shape took, by size.
struct Growth {
    shape: &'static str,
    profile: &'static str,
    times: Vec<(usize, Duration)>,
    ended: &'static str,
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let is_asked = |shape: &&Shape| asked.is_empty() || asked.iter().any(|part| shape.name.contains(&**part));
    let mut measured = Vec::new();
    for shape in shapes::all().filter(is_asked) {
        for profile in PROFILES {
            measured.push(std::thread::scope(|scope| {
                let builder = std::thread::Builder::new().stack_size(STACK);
                let thread = builder.spawn_scoped(scope, || measure(shape, profile)).expect("a thread starts");
                thread.join().expect("compilations do not panic")
            }));
        }
    }
    measured.retain(|growth| growth.times.last().is_some_and(|(_, time)| *time >= LEAST));
    measured.sort_by(|a, b| b.exponent().total_cmp(&a.exponent()));
    println!("{:>8}  {:>8}  {:>9}  {:<10}  {:<15} shape", "exponent", "size", "time", "ended", "profile");
    for growth in &measured {
        let (size, time) = growth.times[growth.times.len() - 1];
        let (exponent, millis) = (growth.exponent(), time.as_secs_f64() * 1e3);
        println!(
            "{exponent:8.2}  {size:8}  {millis:6.0} ms  {:<10}  {:<15} {}",
            growth.ended, growth.profile, growth.shape
        );
    }
}

fn measure(shape: &Shape, profile: &'static str) -> Growth {
    let (mut times, mut ended, mut size) = (Vec::new(), "", FIRST);
    while size <= LAST && times.last().is_none_or(|(_, time)| *time < CAP) {
        let text = (shape.text)(size);
        let start = Instant::now();
        ended = outcome(&shape.compile(&text, profile));
        times.push((size, start.elapsed()));
        size *= 2;
    }
    Growth { shape: shape.name, profile, times, ended }
}

/// Says how a compilation ended: with the code of its first error, or well.
fn outcome(compilation: &Compilation) -> &'static str {
    compilation.diagnostics.iter().find(|message| message.severity == Severity::Error).map_or("compiled", |e| e.code.0)
}

impl Growth {
    /// The slope of the last two doublings on logarithmic scales.
    fn exponent(&self) -> f64 {
        let [.., (small, first), _, (large, last)] = &self.times[..] else { return 0.0 };
        (last.as_secs_f64() / first.as_secs_f64()).ln() / (*large as f64 / *small as f64).ln()
    }
}
