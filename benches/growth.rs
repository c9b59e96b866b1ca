//! Compile time as a function of shader size: each shape in `tests/support/shapes.rs`, at sizes that double until one
//! takes too long, for each writer. Prints the exponents over the last doublings, the steepest shapes first.
//!
//! `cargo bench --bench growth [PART_OF_A_NAME]... [PROFILE]...`. An exponent of 1 means linear, 2 quadratic. The
//! column `output` has the exponent of the output's size in bytes: time may grow as fast as the output. `steps` and
//! `held` are the quantities that the compilation counts against its limits; `ns/step` is the time per counted step,
//! `peak` the largest number of bytes allocated at once. Shapes that compile in milliseconds at the largest size are
//! left out, since their exponents are noise.

use crosslane::compile::{Compilation, Verdict};
use crosslane::diagnostic::Severity;
use crosslane::limits::Taken;
use std::time::{Duration, Instant};
use support::heap;
use support::shapes::{self, PROFILES, Shape};

#[global_allocator]
static ALLOCATOR: heap::Counting = heap::Counting;

const FIRST: usize = 64;
const LAST: usize = 1 << 16;
/// No larger size is tried after a compilation that took longer than this.
const CAP: Duration = Duration::from_millis(400);
/// Shorter times are noise.
const LEAST: Duration = Duration::from_millis(20);
/// Stack of the compiling thread, as for a server's threads.
const STACK: usize = 2 << 20;

/// Time and output size of a shape compiled at one size.
struct Sample {
    size: usize,
    time: Duration,
    /// Bytes of output; 0 without output.
    bytes: usize,
    taken: Taken,
    /// The largest number of bytes allocated at once.
    peak: usize,
}

/// Time and output size of a shape, by shape size.
struct Growth {
    shape: &'static str,
    profile: &'static str,
    samples: Vec<Sample>,
    ended: &'static str,
}

fn main() {
    let asked: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with("--")).collect();
    let (profiles, names): (Vec<String>, Vec<String>) = asked.into_iter().partition(|word| PROFILES.contains(&&**word));
    let is_asked = |shape: &&Shape| names.is_empty() || names.iter().any(|part| shape.name.contains(&**part));
    let mut measured = Vec::new();
    for shape in shapes::all().filter(is_asked) {
        for profile in PROFILES.into_iter().filter(|name| profiles.is_empty() || profiles.iter().any(|p| p == name)) {
            measured.push(std::thread::scope(|scope| {
                let builder = std::thread::Builder::new().stack_size(STACK);
                let thread = builder.spawn_scoped(scope, || measure(shape, profile)).expect("a thread starts");
                thread.join().expect("compilations do not panic")
            }));
        }
    }
    measured.retain(|growth| growth.last().time >= LEAST);
    measured.sort_by(|a, b| b.exponent(Sample::seconds).total_cmp(&a.exponent(Sample::seconds)));
    println!(
        "    time  steps  output      size      time  ns/step      held      peak      bytes  ended       profile         shape"
    );
    measured.iter().for_each(Growth::print);
}

fn measure(shape: &Shape, profile: &'static str) -> Growth {
    let mut growth = Growth { shape: shape.name, profile, samples: Vec::new(), ended: "" };
    let mut size = FIRST;
    while size <= LAST && growth.samples.last().is_none_or(|sample| sample.time < CAP) {
        let text = (shape.text)(size);
        let start = Instant::now();
        let (compilation, peak) = heap::peak_of(|| shape.compile(&text, profile));
        let time = start.elapsed();
        growth.ended = outcome(&compilation);
        let taken = compilation.taken;
        let bytes = match compilation.verdict {
            Verdict::Done(artifact) => artifact.to_bytes().len(),
            Verdict::ShaderWrong | Verdict::ProfileLacks => 0,
        };
        growth.samples.push(Sample { size, time, bytes, taken, peak });
        size *= 2;
    }
    growth
}

/// How a compilation ended: the code of its first error, or success.
fn outcome(compilation: &Compilation) -> &'static str {
    compilation.diagnostics.iter().find(|message| message.severity == Severity::Error).map_or("compiled", |e| e.code.0)
}

impl Sample {
    fn seconds(&self) -> f64 {
        self.time.as_secs_f64()
    }

    fn bytes(&self) -> f64 {
        self.bytes as f64
    }

    fn steps(&self) -> f64 {
        self.taken.steps as f64
    }
}

impl Growth {
    fn last(&self) -> &Sample {
        self.samples.last().expect("the first size is measured")
    }

    /// The slope of a quantity over the last two doublings on logarithmic scales.
    fn exponent(&self, of: impl Fn(&Sample) -> f64) -> f64 {
        let [.., first, _, last] = &self.samples[..] else { return 0.0 };
        (of(last) / of(first)).ln() / (last.size as f64 / first.size as f64).ln()
    }

    fn print(&self) {
        let Sample { size, bytes, taken, peak, .. } = *self.last();
        let (time, output) = (self.exponent(Sample::seconds), self.exponent(Sample::bytes));
        let (steps, each) = (self.exponent(Sample::steps), self.last().seconds() * 1e9 / taken.steps as f64);
        let (held, peak) = (taken.memory >> 10, peak >> 10);
        let output = if bytes == 0 { String::new() } else { format!("{output:.2}") };
        let millis = self.last().seconds() * 1e3;
        println!(
            "{time:8.2}  {steps:5.2}  {output:>6}  {size:8}  {millis:6.0} ms  {each:7.0}  {held:7}k  {peak:7}k  {bytes:9}  {:<10}  {:<14}  {}",
            self.ended, self.profile, self.shape
        );
    }
}
