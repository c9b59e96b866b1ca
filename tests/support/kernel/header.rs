//! The declarations of a kernel.

use super::Read;
use super::words::{Words, named, number, scalar};
use crosslane::ir::{FragmentModes, ImageType, Interlock, PixelParts};
use crosslane::kernel::{
    BindingPoint, Buffer, BufferWrites, Choices, Image, Input, Kernel, Output, PrivateVariable, Site, Stage,
};
use crosslane::source::Span;

/// The first line.
pub fn head(words: &mut Words<'_>) -> Read<Kernel> {
    let stage = if words.eat("kernel") { Stage::Compute } else { named(words.name()?)? };
    if stage != Stage::Compute {
        words.expect("kernel")?;
    }
    let mut kernel = Kernel::new(words.name()?, [1; 3]);
    kernel.stage = stage;
    if stage == Stage::Compute {
        words.expect(",")?;
        words.expect("workgroup")?;
        kernel.workgroup_size = [
            words.number()?,
            {
                words.expect("x")?;
                words.number()?
            },
            {
                words.expect("x")?;
                words.number()?
            },
        ];
    }
    words.expect("{")?;
    Ok(kernel)
}

/// Reads a declaration. Returns whether the line is one.
pub fn declare(kernel: &mut Kernel, line: &str) -> Read<bool> {
    let mut words = Words::new(line);
    let is_colon = |n: usize| line.split(' ').nth(n).is_some_and(|word| word.ends_with(':'));
    match words.name().unwrap_or_default() {
        "buffer" => {
            in_order(&mut words, kernel.buffers.len())?;
            kernel.buffers.push(buffer(&mut words)?);
        }
        "image" if is_colon(2) => {
            in_order(&mut words, kernel.images.len())?;
            kernel.images.push(image(&mut words)?);
        }
        "input" => kernel.inputs.push(input(&mut words)?),
        "output" if is_colon(1) => {
            let name = name(words.until(":")?);
            kernel.outputs.push(Output { name, site: site(&mut words)?, span: Span::NONE });
        }
        "modes" => kernel.fragment = modes(&mut words)?,
        "lanes" => {
            kernel.lanes.widest = Some(words.number()?);
            kernel.lanes.whole_subgroup = words.eat("whole subgroup");
        }
        "operation" => set_ups(kernel, &mut words)?,
        "push" => kernel.push_bytes = bytes(&mut words)?,
        "shared" => kernel.shared_bytes = bytes(&mut words)?,
        "private" => kernel.private_bytes = bytes(&mut words)?,
        "variable" => {
            in_order(&mut words, kernel.private.len())?;
            kernel.private.push(variable(&mut words)?);
        }
        _ => return Ok(false),
    }
    words.end().map(|()| true)
}

fn in_order(words: &mut Words<'_>, count: usize) -> Read<()> {
    let number: usize = words.number()?;
    if number == count { Ok(()) } else { Err(format!("number {count} should come before number {number}")) }
}

fn bytes(words: &mut Words<'_>) -> Read<u32> {
    let count = words.number()?;
    words.expect("bytes").map(|()| count)
}

fn name(name: &str) -> Box<str> {
    if name == "_" { "".into() } else { name.into() }
}

/// A number after its name.
fn after(words: &mut Words<'_>, name: &str) -> Read<u32> {
    words.expect(name)?;
    words.number()
}

fn buffer(words: &mut Words<'_>) -> Read<Buffer> {
    let name = name(words.until(":")?);
    let kind = named(words.name()?)?;
    let (set, binding) = (after(words, "set")?, after(words, "binding")?);
    let element = if words.eat("element") { words.number()? } else { 0 };
    words.expect(",")?;
    let bytes = bytes(words)?;
    let writes = match (words.eat("constant"), words.eat("read-only")) {
        (true, _) => BufferWrites::Never,
        (false, true) => BufferWrites::Elsewhere,
        (false, false) => BufferWrites::Here,
    };
    Ok(Buffer { name, kind, set, binding, element, bytes, writes, span: Span::NONE })
}

fn point(words: &mut Words<'_>) -> Read<BindingPoint> {
    let (set, binding) = (after(words, "set")?, after(words, "binding")?);
    Ok(BindingPoint { set, binding, element: after(words, "element")? })
}

/// The elements of an array of images or samplers from which an index selects.
fn choices(words: &mut Words<'_>) -> Read<Choices> {
    let count = if words.eat("of") { words.number()? } else { 1 };
    Ok(Choices { count, step: if words.eat("step") { words.number()? } else { 1 } })
}

fn image(words: &mut Words<'_>) -> Read<Image> {
    let name = name(words.until(":")?);
    let (place, choices) = (point(words)?, choices(words)?);
    let sampled = scalar(words.name()?)?;
    let ty = ImageType {
        sampled,
        dim: named(words.name()?)?,
        arrayed: words.eat("array"),
        multisampled: words.eat("multisampled"),
        depth: words.eat("depth"),
        storage: !words.eat("sampled"),
        format: if words.eat("format") { words.number()? } else { 0 },
    };
    let (compares, writable) = (words.eat("compares"), words.eat("writable"));
    let (coherent, volatile) = (words.eat("coherent"), words.eat("volatile"));
    let sampler = if words.eat(", sampler") { Some(point(words)?) } else { None };
    let (sampler_choices, span) = (self::choices(words)?, Span::NONE);
    Ok(Image { name, place, choices, sampler, sampler_choices, ty, compares, writable, coherent, volatile, span })
}

fn input(words: &mut Words<'_>) -> Read<Input> {
    let location = words.number()?;
    let name = name(words.until(":")?);
    let (interpolation, sampling) = (named(words.name()?)?, named(words.name()?)?);
    Ok(Input { name, location, wide: words.eat("wide"), interpolation, sampling, span: Span::NONE })
}

/// `0`, `second 0` or `position`.
pub fn site(words: &mut Words<'_>) -> Read<Site> {
    let word = words.name()?;
    Ok(match number(word) {
        Ok(location) => Site::Location(location),
        Err(_) if word == "second" => Site::SecondSource(words.number()?),
        Err(_) => Site::BuiltIn(named(word)?),
    })
}

fn modes(words: &mut Words<'_>) -> Read<FragmentModes> {
    let mut modes = FragmentModes::default();
    while !words.rest().is_empty() {
        match words.word()? {
            "early_tests" => modes.early_tests = true,
            "early_and_late_tests" => modes.early_and_late_tests = true,
            "full_quads" => modes.full_quads = true,
            "quad_derivatives" => modes.quad_derivatives = true,
            "post_depth_coverage" => modes.post_depth_coverage = true,
            "override_coverage" => modes.override_coverage = true,
            word => mode(&mut modes, word)?,
        }
    }
    Ok(modes)
}

fn mode(modes: &mut FragmentModes, word: &str) -> Read<()> {
    let parts: Vec<&str> = word.split('.').collect();
    match *parts {
        ["depth", promise] => modes.depth = named(promise)?,
        ["non_coherent", part] => {
            let part = PixelParts::from_name(&part.to_uppercase()).ok_or_else(|| format!("unknown mode `{word}`"))?;
            modes.non_coherent |= part;
        }
        ["interlock", of, ref order @ ..] => {
            modes.interlock = Some(Interlock { of_sample: of == "sample", ordered: *order == ["ordered"] });
        }
        _ => return Err(format!("unknown mode `{word}`")),
    }
    Ok(())
}

fn set_ups(kernel: &mut Kernel, words: &mut Words<'_>) -> Read<()> {
    let operation: usize = words.number()?;
    words.expect("needs")?;
    let count = kernel.set_ups.len().max(operation + 1);
    kernel.set_ups.resize(count, Vec::new());
    while !words.rest().is_empty() {
        kernel.set_ups[operation].push(words.number()?);
    }
    Ok(())
}

fn variable(words: &mut Words<'_>) -> Read<PrivateVariable> {
    words.expect(":")?;
    let bytes = bytes(words)?;
    Ok(PrivateVariable { bytes, start: after(words, "at")?, align: after(words, "align")? })
}
