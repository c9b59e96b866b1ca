//! Every growing shape of shader, and the largest of those that once were too deep, on the stack of an ordinary thread:
//! each compiles or is refused with an error about the shader.

use crosslane::diagnostic::{Code, Severity};
use support::shapes::{self, PROFILES, Shape};

/// The stack of a thread that Rust starts.
const STACK: usize = 2 << 20;

/// The sizes for every shape: nothing at all, a few, and more than people write.
const SIZES: [usize; 3] = [1, 7, 150];

/// Shapes that ended in an overflow of the stack, and the sizes at which they did.
const ONCE_TOO_DEEP: [(&str, usize); 6] = [
    ("a chain of functions", 12_000),
    ("a chain of functions that return early", 2_000),
    ("else ifs", 5_000),
    ("WGSL else ifs", 2_000),
    ("WGSL overrides of overrides", 5_000),
    ("a chain of WGSL lets", 10_000),
];

fn ends_well(shape: &'static Shape, size: usize, profile: &'static str) {
    let thread = std::thread::Builder::new().stack_size(STACK);
    let compiled = thread.spawn(move || shape.compile(&(shape.text)(size), profile)).expect("a thread starts").join();
    let compilation = compiled.unwrap_or_else(|_| panic!("{} of size {size} for {profile}", shape.name));
    let errors = compilation.diagnostics.iter().filter(|message| message.severity == Severity::Error);
    for error in errors {
        assert_ne!(error.code, Code::INTERNAL, "{} of size {size} for {profile}: {}", shape.name, error.message);
    }
}

#[test]
fn every_shape_ends_well() {
    assert!(shapes::all().count() > 100);
    for shape in shapes::all() {
        SIZES.iter().for_each(|size| PROFILES.iter().for_each(|profile| ends_well(shape, *size, profile)));
    }
}

#[test]
fn what_was_too_deep_ends_well() {
    for (name, size) in ONCE_TOO_DEEP {
        let shape = shapes::all().find(|shape| shape.name == name).expect("the shape has this name");
        PROFILES.iter().for_each(|profile| ends_well(shape, size, profile));
    }
}
