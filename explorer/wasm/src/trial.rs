//! Runs on the simulator.

use crate::answer::{Buffer, Difference, RunAnswer};
use crate::open::{Open, first_error};
use crate::question::Request;
use crosslane::compile::Options;
use crosslane::kernel::{self, BufferKind, Specializations};
use crosslane::sim::{Dispatch, MAX_WAVE, Memory, Undefined};
use crosslane::simulate::element::Element;
use crosslane::simulate::fill::{self, Slot};
use crosslane::simulate::usual::{Usual, usual};
use crosslane::simulate::{Semantics, Shader, compare, contents, read, run as simulate};
use crosslane::source::SourceMap;

/// Instructions that a wave may run while somebody waits.
const MAX_STEPS: u64 = 1 << 22;

/// Invocations that a run may have.
const MAX_INVOCATIONS: u64 = 1 << 16;

/// A run: the shader, and what it left in its buffers.
pub struct Ran {
    shader: Shader,
    after: Vec<Memory>,
}

/// The run that was asked for; none, and the reason in the answer, where the shader did not run to its end.
pub fn run(open: &Open, request: &Request) -> Result<(Option<Ran>, RunAnswer), String> {
    let options = options(open, request)?;
    let nothing = |fault| RunAnswer {
        buffers: Vec::new(),
        push_bytes: 0,
        workgroup: [0; 3],
        lanes: options.profile.wave_size.unwrap_or(request.lanes),
        fault: Some(fault),
    };
    let shader = match read_shader(open, &options, request, Semantics::Plans) {
        Ok((shader, _)) => shader,
        Err(fault) => return Ok((None, nothing(fault))),
    };
    let lanes = shader.wave_size;
    let mut setup = Setup::new(&shader, request)?;
    let after = simulate(&shader.kernel, lanes, &setup.dispatch(request), setup.before.clone());
    if let Ok(after) = &after {
        setup.show(after, request.shown);
    }
    let (push_bytes, workgroup) = (shader.kernel.push_bytes, shader.kernel.workgroup_size);
    let fault = after.as_ref().err().map(|fault| first_error(std::iter::once(fault)));
    let answer = RunAnswer { buffers: setup.buffers, push_bytes, workgroup, lanes, fault };
    Ok((after.ok().map(|after| Ran { shader, after }), answer))
}

/// The options of a run.
pub fn options(open: &Open, request: &Request) -> Result<Options, String> {
    Ok(open.options_for(open.profile(&request.profile)?))
}

/// The shader of a run, in waves of the requested size where the profile and the shader allow it, and its sources.
pub fn read_shader(
    open: &Open,
    options: &Options,
    request: &Request,
    semantics: Semantics,
) -> Result<(Shader, SourceMap), String> {
    let settings = Specializations::default();
    let (shader, found) = read(&open.input(), options, request.lanes, &settings, open.files(), semantics);
    let shader = shader.ok_or_else(|| first_error(found.diagnostics.iter()))?;
    match shader.wave_size {
        lanes if lanes > MAX_WAVE => {
            let name = &options.profile.name;
            Err(format!("{name} has waves of {lanes} lanes; the simulator has at most {MAX_WAVE}"))
        }
        _ => Ok((shader, found.sources)),
    }
}

/// The buffers before a run.
pub struct Setup {
    buffers: Vec<Buffer>,
    elements: Vec<Element>,
    pub before: Vec<Memory>,
    push: Vec<u8>,
}

impl Setup {
    pub fn new(shader: &Shader, request: &Request) -> Result<Setup, String> {
        let kernel = &shader.kernel;
        let all = request.groups.iter().chain(&kernel.workgroup_size);
        let invocations: u64 = all.map(|count| u64::from(*count)).product();
        if invocations > MAX_INVOCATIONS {
            return Err(format!("{invocations} invocations are more than the page runs ({MAX_INVOCATIONS})"));
        }
        let mut setup = Setup { buffers: Vec::new(), elements: Vec::new(), before: Vec::new(), push: Vec::new() };
        for buffer in &kernel.buffers {
            setup.add(shader, buffer, request, invocations as u32)?;
        }
        let described = (!request.push.is_empty()).then(|| fill::bytes(&request.push));
        setup.push = match described {
            None => vec![0; kernel.push_bytes as usize],
            Some(described) => described.ok_or("push constants are written as `f32:1,2,3`")??,
        };
        if setup.push.len() < kernel.push_bytes as usize {
            return Err(format!("the shader has {} bytes of push constants", kernel.push_bytes));
        }
        Ok(setup)
    }

    pub fn dispatch(&self, request: &Request) -> Dispatch<'_> {
        Dispatch { push: &self.push, max_steps: MAX_STEPS, undefined: Undefined::Keep, ..Dispatch::new(request.groups) }
    }

    fn add(
        &mut self,
        shader: &Shader,
        buffer: &kernel::Buffer,
        request: &Request,
        invocations: u32,
    ) -> Result<(), String> {
        let slot = Slot::of(buffer).to_string();
        let usual: Usual = usual(shader, buffer, invocations);
        let fill = request.fills.get(&slot).filter(|fill| !fill.trim().is_empty()).unwrap_or(&usual.fill).trim();
        let memory = contents(buffer, described(fill)?)?;
        let named = |name: &String| Element::named(name).ok_or_else(|| format!("there is no type `{name}`"));
        let element = request.types.get(&slot).map(named).transpose()?.unwrap_or(usual.element);
        self.buffers.push(Buffer {
            slot,
            name: buffer.name.to_string(),
            set: buffer.set,
            binding: buffer.binding,
            is_uniform: buffer.kind == BufferKind::Uniform,
            is_writable: buffer.is_writable(),
            bytes: memory.len(),
            fill: fill.into(),
            ty: element.name().into(),
            before: element.cells(&memory, request.shown),
            after: Vec::new(),
            words: words(memory.bytes()),
        });
        self.elements.push(element);
        self.before.push(memory);
        Ok(())
    }

    fn show(&mut self, after: &[Memory], shown: usize) {
        for ((buffer, element), memory) in self.buffers.iter_mut().zip(&self.elements).zip(after) {
            buffer.after = element.cells(memory, shown);
        }
    }
}

/// The bytes that a text describes.
pub fn described(fill: &str) -> Result<Vec<u8>, String> {
    let described = fill::bytes(fill);
    described.unwrap_or_else(|| {
        Err(format!("`{fill}`: write zeros:TYPE:COUNT, iota:TYPE:COUNT, random:TYPE:COUNT:SEED or TYPE:1,2,3"))
    })
}

/// Bytes as little-endian words, the last one filled up with zeros.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
    bytes.chunks(4).map(word).collect()
}

impl Ran {
    /// Where what another machine left differs, for each buffer that does.
    pub fn compare(&self, words: Vec<Vec<u32>>, within: f64) -> Result<Vec<Difference>, String> {
        let Ran { shader, after } = self;
        if words.len() != after.len() {
            return Err(format!("the run has {} buffers", after.len()));
        }
        let mut all = Vec::new();
        for ((buffer, words), ours) in shader.kernel.buffers.iter().zip(words).zip(after) {
            let theirs = Memory::from(words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
            let found = compare::compare(&shader.module, shader.ty(buffer), [ours, &theirs], within);
            if let Some((first, count)) = found {
                let [x, y] = first.numbers;
                let text = format!("{x} here and {y} there at byte {}; {count} numbers differ", first.byte);
                all.push(Difference { slot: Slot::of(buffer).to_string(), text });
            }
        }
        Ok(all)
    }
}
