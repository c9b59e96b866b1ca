//! The time that each interface's timers report for a kernel that does nothing. Ratios between interfaces exclude it.

use crate::operations::{program, ptx_program};
use crosslane::run::cuda;
use std::fmt;
use support::device::gl::Painter;
use support::rates::{Ratio, Turns, microseconds, without};

const EMPTY: &str = "#version 450\nlayout(local_size_x = 32) in;\nvoid main() {}\n";
const RUNS: usize = 32;

/// Nanoseconds for an empty kernel; 0 if the machine lacks the interface.
#[derive(Clone, Copy, Debug)]
pub struct Overhead {
    opengl: u64,
    cuda: u64,
}

impl Overhead {
    /// Measures both interfaces.
    pub fn measure(painter: Option<&Painter>, cuda: Option<&cuda::Device>) -> Overhead {
        let opengl = painter.map(|painter| {
            let kernel = painter.device.load(&program(EMPTY)).expect("an empty kernel");
            median(|| kernel.time([1; 3], &[], &[], RUNS).expect("it was loaded"))
        });
        let cuda = cuda.map(|device| {
            let kernel = device.load(&ptx_program(EMPTY)).expect("an empty kernel");
            median(|| kernel.time([1; 3], &[], &[], RUNS).expect("it was loaded"))
        });
        Overhead { opengl: opengl.unwrap_or(0), cuda: cuda.unwrap_or(0) }
    }

    /// The ratio of times on CUDA to times on OpenGL.
    pub fn ratio(self, cuda: &Turns, opengl: &Turns) -> Ratio {
        Ratio::new(&without(cuda, self.cuda), &without(opengl, self.opengl))
    }
}

/// The median of a round's runs. A first round only wakes the clocks.
fn median(time: impl Fn() -> Vec<u64>) -> u64 {
    time();
    (1000.0 * microseconds(&vec![time()])) as u64
}

impl fmt::Display for Overhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [opengl, cuda] = [self.opengl, self.cuda].map(|time| time as f64 / 1000.0);
        write!(
            f,
            "An empty kernel takes {opengl:.1} µs on OpenGL and {cuda:.1} µs on CUDA; the ratio of PTX to the faster of assembly and \
             the driver excludes that time."
        )
    }
}
