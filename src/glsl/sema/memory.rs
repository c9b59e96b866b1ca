//! Reading and writing places.

use super::lvalue::{LValue, Mutability, Swizzle};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::build::Builder;
use crate::ir::{Access, InstFlags, Space, TypeId, Value};
use crate::source::Span;

/// Pointer to the memory of a place, without its swizzle.
pub fn pointer(b: &mut Builder<'_>, lvalue: &LValue) -> Value {
    if lvalue.path.is_empty() && lvalue.space != Space::Physical {
        lvalue.root
    } else {
        b.access(lvalue.root, &lvalue.path)
    }
}

/// Pointer for an operation on memory, marked as non-uniform if the path to it varies.
pub fn marked_pointer(b: &mut Builder<'_>, lvalue: &LValue) -> Value {
    let before = b.flags;
    b.flags.set(InstFlags::NON_UNIFORM, lvalue.non_uniform);
    let pointer = pointer(b, lvalue);
    b.flags = before;
    pointer
}

/// Type of the value at the place.
pub fn value_type(b: &mut Builder<'_>, lvalue: &LValue) -> TypeId {
    let ty = b.module.types.logical(lvalue.ty);
    match (&lvalue.swizzle, b.module.types.scalar_of(ty)) {
        (Some(swizzle), Some(scalar)) => b.module.types.vector(scalar, swizzle.len),
        _ => ty,
    }
}

/// Reads a place.
///
/// # Errors
/// Returns an error if the place is `writeonly`, a ray query, a hit object, or an input that only has values at
/// vertices.
pub fn load(b: &mut Builder<'_>, lvalue: &LValue, span: Span) -> Result<Value, Diagnostic> {
    let is_resource = lvalue.space == Space::Handle;
    if b.module.types.is_valueless(lvalue.ty) {
        return Err(super::ray_query::no_value(&b.module.types, lvalue.ty, span));
    }
    if lvalue.space == Space::Input && super::pipeline::is_explicit(b, lvalue) {
        let message = "an input that is declared `__explicitInterpAMD` cannot be read";
        let message = Diagnostic::error(Code::NOT_READABLE, message).at(span, "read here");
        return Err(message.note("`interpolateAtVertexAMD` gives the value of one vertex"));
    }
    if lvalue.access.contains(Access::WRITEONLY) && !is_resource {
        let message = Diagnostic::error(Code::NOT_READABLE, "this memory is `writeonly`");
        return Err(message.at(span, "read here"));
    }
    let value = with_access_flags(b, lvalue, |b| {
        let pointer = pointer(b, lvalue);
        b.load(pointer)
    });
    Ok(match &lvalue.swizzle {
        Some(swizzle) => b.swizzle(value, swizzle.components()),
        None => value,
    })
}

/// Writes a writable place. The value has the place's value type.
pub fn store(b: &mut Builder<'_>, lvalue: &LValue, value: Value) {
    with_access_flags(b, lvalue, |b| match &lvalue.swizzle {
        Some(swizzle) if lvalue.is_private() => store_merged(b, lvalue, swizzle, value),
        Some(swizzle) => store_components(b, lvalue, swizzle, value),
        None => {
            let pointer = pointer(b, lvalue);
            b.store(pointer, value);
        }
    });
}

/// Checks that the place may be written; [`Sema::writable`](super::Sema::writable) is less strict.
///
/// # Errors
/// Returns a message with the reason that the place cannot be written.
pub fn check_writable(lvalue: &LValue, span: Span) -> Result<(), Diagnostic> {
    let reason = match lvalue.mutability {
        _ if lvalue.space == Space::Handle => "images, samplers and atomic counters cannot be assigned",
        Mutability::Const => "a constant cannot be written",
        Mutability::OwnVertex => "an invocation writes its own vertex only: index this output with `gl_InvocationID`",
        Mutability::Input => "uniforms, inputs and built-in variables cannot be written",
        Mutability::Writable if lvalue.access.contains(Access::READONLY) && lvalue.space != Space::Physical => {
            "this memory is `readonly`"
        }
        Mutability::Writable if lvalue.swizzle.as_ref().is_some_and(Swizzle::has_duplicates) => {
            "a swizzle that names a component twice cannot be written"
        }
        Mutability::Writable => return Ok(()),
    };
    let diagnostic = Diagnostic::error(Code::NOT_WRITABLE, reason).at(span, "written here");
    Err(match lvalue.mutability {
        Mutability::Input => diagnostic.help("copy the value into a local variable, and change that"),
        _ => diagnostic,
    })
}

/// Emits the instructions of `act` with the memory qualifiers of a place.
pub fn with_access_flags<R>(b: &mut Builder<'_>, lvalue: &LValue, act: impl FnOnce(&mut Builder<'_>) -> R) -> R {
    let before = b.flags;
    b.flags.set(InstFlags::COHERENT, lvalue.access.contains(Access::COHERENT));
    b.flags.set(InstFlags::VOLATILE, lvalue.access.contains(Access::VOLATILE));
    b.flags.set(InstFlags::DEVICE, lvalue.access.contains(Access::DEVICE));
    b.flags.set(InstFlags::NON_UNIFORM, lvalue.non_uniform);
    if lvalue.space == Space::Handle {
        // Qualifiers of an image apply to its texels, not to reading its handle.
        b.flags.remove(InstFlags::COHERENT | InstFlags::VOLATILE | InstFlags::DEVICE);
    }
    let result = act(b);
    b.flags = before;
    result
}

/// Reads the vector, replaces the components and writes it back: only for memory that no other invocation sees.
fn store_merged(b: &mut Builder<'_>, lvalue: &LValue, swizzle: &Swizzle, value: Value) {
    let pointer = pointer(b, lvalue);
    let old = b.load(pointer);
    let size = b.components_of(old);
    let mut mask = [0, 1, 2, 3];
    for (at, component) in swizzle.components().iter().enumerate() {
        mask[usize::from(*component)] = size + at as u8;
    }
    let merged = b.shuffle(old, value, &mask[..usize::from(size)]);
    b.store(pointer, merged);
}

/// Writes component by component, so that components that are not named are not touched.
fn store_components(b: &mut Builder<'_>, lvalue: &LValue, swizzle: &Swizzle, value: Value) {
    for (at, component) in swizzle.components().iter().enumerate() {
        let mut path = lvalue.path.clone();
        path.push(b.const_u32(u32::from(*component)));
        let pointer = b.access(lvalue.root, &path);
        let part = b.extract(value, at as u32);
        b.store(pointer, part);
    }
}
