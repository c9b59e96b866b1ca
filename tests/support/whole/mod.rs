//! Whole kernels that are measured on a GPU by `benches/gpu` and `benches/cuda`: those written for this project are
//! part of the program; ggml's are read from the folder named by `CROSSLANE_GGML`. Each has a text for crosslane, an
//! equivalent for compilers that only know Khronos' operations, and a small case that the simulator runs too.

mod ggml;
mod listed;
mod own;
mod text;

use crate::compare::{Closeness, compare};
use crate::lavapipe::{Buffers, Request, to_words};
use crate::rates::Fill;
use crate::scalar::Type;
use crate::{compiler, simulator};
use crosslane::backend::{amd, nv, ptx};
use crosslane::compile::{Artifact, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::render;
use crosslane::kernel::Specializations;
use crosslane::profile::Profile;
use crosslane::run::BufferBinding;
use crosslane::source::NoIncludes;

/// The subgroup size that the kernels require.
pub const LANES: usize = 32;

/// A kernel of a table.
#[derive(Debug)]
pub struct Row {
    pub name: &'static str,
    pub origin: Origin,
    /// Macros, by their names.
    pub defines: &'static [(&'static str, &'static str)],
    /// Specialization constants, by their numbers.
    pub constants: &'static [(u32, u32)],
    pub push: &'static [u32],
    /// Workgroups in the measurement, and in the small case that the simulator runs too.
    pub groups: [u32; 3],
    pub checked: [u32; 3],
    /// The storage buffers, by their bindings.
    pub buffers: &'static [Buffer],
}

impl Row {
    /// Returns true if there is a case that the kernel can run.
    pub fn has_case(&self) -> bool {
        self.checked != [0; 3]
    }
}

/// Where a kernel's text is from.
#[derive(Debug, Clone, Copy)]
pub enum Origin {
    /// A whole kernel written for this project.
    Own(&'static str),
    /// A single operation in a kernel written for this project.
    Operation(&'static str),
    /// A file of ggml.
    Ggml(&'static str),
}

/// A buffer of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Buffer {
    pub words: u32,
    pub fill: Fill,
    pub kind: Type,
    /// How close results must be to each other.
    pub closeness: Closeness,
}

/// The kernels written for this project.
pub fn own() -> impl Iterator<Item = &'static Row> {
    own::KERNELS.iter().chain(own::OPERATIONS)
}

/// The kernels of ggml.
pub fn of_ggml() -> impl Iterator<Item = &'static Row> {
    ggml::KERNELS.iter()
}

/// The kernels of ggml that are only compiled.
pub fn listed() -> impl Iterator<Item = &'static Row> {
    listed::LISTED.iter()
}

/// Returns true if ggml's sources are there.
pub fn has_ggml() -> bool {
    ggml::folder().is_some()
}

/// A kernel with its texts.
pub struct Kernel {
    pub row: &'static Row,
    /// The text for crosslane.
    pub ours: String,
    /// The text for other Vulkan compilers.
    pub theirs: String,
    /// The text for NVIDIA's OpenGL compiler: with values instead of specialization constants, and a uniform block at
    /// binding 0 instead of push constants.
    pub driver: String,
}

impl Kernel {
    /// Reads a kernel of a table.
    ///
    /// # Errors
    /// Returns an error if a file of ggml cannot be read.
    pub fn read(row: &'static Row) -> Result<Kernel, String> {
        let (ours, theirs) = match row.origin {
            Origin::Own(text) | Origin::Operation(text) => {
                (text::defined(text, row.defines), text::in_khr(text, row.defines))
            }
            Origin::Ggml(file) => {
                let text = ggml::text(file, row.defines)?;
                (text.clone(), text)
            }
        };
        let driver = text::for_opengl(&theirs, row.constants);
        Ok(Kernel { row, ours, theirs, driver })
    }

    /// Its buffers before a run.
    pub fn buffers(&self) -> Vec<BufferBinding> {
        (0..).zip(self.row.buffers).map(|(binding, buffer)| buffer.fill.buffer(binding, buffer.words)).collect()
    }

    /// The bytes of its push constants.
    pub fn push(&self) -> Vec<u8> {
        self.row.push.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    /// Its program in NVIDIA assembly, with the default options.
    ///
    /// # Errors
    /// Returns the compiler's messages.
    pub fn nv(&self, profile: &str) -> Result<nv::Program, String> {
        compiler::nv_program(&self.input(), &options(profile)?, &self.settings())
    }

    /// Its program in PTX, with the default options.
    ///
    /// # Errors
    /// Returns the compiler's messages.
    pub fn ptx(&self, profile: &str) -> Result<ptx::Program, String> {
        compiler::ptx_program(&self.input(), &options(profile)?, &self.settings())
    }

    /// Its program in AMD assembly, with the default options.
    ///
    /// # Errors
    /// Returns the compiler's messages.
    pub fn amd(&self, profile: &str) -> Result<amd::Program, String> {
        compiler::amd_program(&self.input(), &options(profile)?, &self.settings())
    }

    /// Its SPIR-V, with the default options.
    ///
    /// # Errors
    /// Returns the compiler's messages.
    pub fn spirv(&self, profile: &str) -> Result<Vec<u32>, String> {
        let done = compile(&self.input(), &options(profile)?, &NoIncludes);
        match done.verdict {
            Verdict::Done(Artifact::Spirv(words)) => Ok(words),
            _ => Err(render::human(&done.sources, &done.diagnostics)),
        }
    }

    /// The buffers after the simulator has run the small case.
    ///
    /// # Errors
    /// Returns an error if the kernel has undefined behaviour or cannot be compiled.
    pub fn simulated(&self) -> Result<Vec<simulator::After>, String> {
        let kernel = compiler::parsed(&self.input(), &options("spirv-1.6")?, &self.settings())?;
        simulator::run(&kernel, LANES, &self.request()).map(|mut runs| runs.remove(0))
    }

    /// The small case.
    pub fn request(&self) -> Request {
        let words = self.buffers().iter().map(|buffer| to_words(&buffer.data)).collect();
        let request = Request::new(Vec::new(), 1, vec![words]);
        let spec_constants = self.row.constants.to_vec();
        Request { groups: self.row.checked, push_constants: self.push(), spec_constants, ..request }
    }

    /// Reports where buffers differ from the simulator's, where these are defined.
    ///
    /// # Errors
    /// Returns the differences.
    pub fn hold(&self, simulated: &[simulator::After], found: &Buffers) -> Result<(), String> {
        let expected = simulated.iter().map(simulator::After::column);
        self.compare(expected, found)
    }

    /// Reports where the buffers of two runs differ.
    ///
    /// # Errors
    /// Returns the differences.
    pub fn alike(&self, one: &Buffers, other: &Buffers) -> Result<(), String> {
        self.compare(one.iter().map(|words| words.iter().map(|word| Some(*word)).collect()), other)
    }

    fn compare(&self, expected: impl Iterator<Item = Vec<Option<u32>>>, found: &Buffers) -> Result<(), String> {
        for ((binding, buffer), (expected, found)) in self.row.buffers.iter().enumerate().zip(expected.zip(found)) {
            compare(buffer.kind, buffer.closeness, &expected, found, 1)
                .map_err(|e| format!("binding {binding}: {e}"))?;
        }
        Ok(())
    }

    fn input(&self) -> Input<'_> {
        Input { name: self.row.name, bytes: self.ours.as_bytes(), language: Language::Glsl }
    }

    fn settings(&self) -> Specializations {
        let mut settings = Specializations::new();
        self.row.constants.iter().for_each(|(id, bits)| settings.set_bits(*id, (*bits).into()));
        settings
    }
}

fn options(profile: &str) -> Result<Options, String> {
    let profile = Profile::named(profile).ok_or_else(|| format!("no profile {profile}"))?;
    let stage = Some(crosslane::ir::Stage::Compute);
    Ok(Options { stage, ..Options::new(profile) })
}
