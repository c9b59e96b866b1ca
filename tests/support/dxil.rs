//! The signatures in DXIL containers: the locations of a stage's inputs and outputs.

/// Offset of the number of parts, and of their offsets, in a container.
const PARTS: usize = 28;

/// Bytes of an element of a signature.
const ELEMENT: usize = 32;

/// Values that the pipeline provides to a fragment shader, regardless of the previous stage.
const GENERATED: [&str; 8] = [
    "SV_ISFRONTFACE",
    "SV_SAMPLEINDEX",
    "SV_COVERAGE",
    "SV_BARYCENTRICS",
    "SV_VIEWID",
    "SV_PRIMITIVEID",
    "SV_OUTPUTCONTROLPOINTID",
    "SV_DOMAINLOCATION",
];

/// An input or output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    /// The semantic in capitals, with its number.
    pub semantic: String,
    pub register: u32,
    /// Components as bits.
    pub mask: u8,
    /// The number of the component's type.
    pub kind: u32,
    is_generated: bool,
}

/// The inputs or the outputs (`ISG1`, `OSG1`) in a container.
pub fn signature(container: &[u8], part: &[u8; 4]) -> Option<Vec<Element>> {
    let count = word(container, PARTS)? as usize;
    let starts = (0..count).filter_map(|n| word(container, PARTS + 4 + 4 * n));
    let start = starts.map(|at| at as usize).find(|at| container.get(*at..at + 4) == Some(part))?;
    let body = container.get(start + 8..)?;
    (0..word(body, 0)? as usize).map(|n| element(body, 8 + ELEMENT * n)).collect()
}

fn element(body: &[u8], at: usize) -> Option<Element> {
    let name = body.get(word(body, at + 4)? as usize..)?;
    let end = name.iter().position(|byte| *byte == 0)?;
    let name = String::from_utf8_lossy(&name[..end]).to_uppercase();
    Some(Element {
        semantic: format!("{name}{}", word(body, at + 8)?),
        kind: word(body, at + 16)?,
        register: word(body, at + 20)?,
        mask: *body.get(at + 24)?,
        is_generated: GENERATED.contains(&name.as_str()),
    })
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

/// Checks that every input is an output of the previous stage: the same semantic in the same register, with the same
/// type and no more components. Direct3D 12 creates no pipeline otherwise.
///
/// # Errors
/// Returns the first input that is not an output.
pub fn agree(outputs: &[Element], inputs: &[Element]) -> Result<(), String> {
    for input in inputs.iter().filter(|input| !input.is_generated) {
        let output = outputs.iter().find(|output| output.semantic == input.semantic);
        let output = output.ok_or_else(|| format!("{} is read and not written", input.semantic))?;
        let is_alike = (output.register, output.kind) == (input.register, input.kind);
        if !is_alike || input.mask & !output.mask != 0 {
            return Err(format!("{output:?} is read as {input:?}"));
        }
    }
    Ok(())
}
