//! Composites: their parts, and values made of parts.

use super::arithmetic::{Made, shape_of};
use crate::ir::{Builder, Type, TypeId, Value};

/// A part that is not there.
const NO_PART: &str = "an index leads to no part";

/// Parts or results of other types than the instruction needs.
const MISFIT: &str = "its parts do not have the types that it needs";

/// The most parts of an array that is copied part by part into another type.
const MOST_COPIED: u32 = 1 << 12;

/// The type of a part of a composite value.
fn part_of(b: &mut Builder<'_>, composite: Value, index: u32) -> Result<TypeId, &'static str> {
    let of = b.type_of(composite);
    let exists = b.module.types.part_count(of).is_some_and(|count| index < count);
    b.module.types.element(of, index).filter(|_| exists).ok_or(NO_PART)
}

/// The part that a path of indices leads to.
pub fn extract(b: &mut Builder<'_>, args: &[Value], path: &[u32]) -> Made {
    let mut value = *args.first().ok_or(MISFIT)?;
    for index in path {
        part_of(b, value, *index)?;
        value = b.extract(value, *index);
    }
    Ok(value)
}

/// A composite in which the part at the end of a path is replaced; the operands are the part and the composite.
pub fn insert(b: &mut Builder<'_>, args: &[Value], path: &[u32]) -> Made {
    let [part, composite] = args else { return Err(MISFIT) };
    let mut around = vec![*composite];
    for index in path {
        let outer = around[around.len() - 1];
        part_of(b, outer, *index)?;
        around.push(b.extract(outer, *index));
    }
    let replaced = around[around.len() - 1];
    if b.type_of(replaced) != b.type_of(*part) {
        return Err(MISFIT);
    }
    let mut value = *part;
    for (outer, index) in around[..path.len()].iter().zip(path).rev() {
        value = b.insert(*outer, *index, value);
    }
    Ok(value)
}

/// Components of two vectors; an undefined one is the first.
pub fn shuffle(b: &mut Builder<'_>, args: &[Value], mask: &[u32]) -> Made {
    let [left, right] = args else { return Err(MISFIT) };
    let ((scalar, count), (other, more)) = (shape_of(b, *left).ok_or(MISFIT)?, shape_of(b, *right).ok_or(MISFIT)?);
    let picked = mask.iter().map(|at| if *at == u32::MAX { 0 } else { *at });
    let picked: Vec<u8> = picked.map(|at| u8::try_from(at).unwrap_or(u8::MAX)).collect();
    let fits = scalar == other && count > 1 && more > 1 && (2..=4).contains(&mask.len());
    match fits && picked.iter().all(|at| *at < count + more) {
        true => Ok(b.shuffle(*left, *right, &picked)),
        false => Err(NO_PART),
    }
}

/// A composite of parts.
pub fn construct(b: &mut Builder<'_>, ty: TypeId, parts: &[Value]) -> Made {
    if let Type::Vector { scalar, size } = b.module.types.get(ty) {
        let mut count = 0;
        for part in parts {
            let (_, size) = shape_of(b, *part).filter(|(kind, _)| *kind == scalar).ok_or(MISFIT)?;
            count += u32::from(size);
        }
        return if count == u32::from(size) { Ok(b.construct(ty, parts)) } else { Err(MISFIT) };
    }
    if b.module.types.part_count(ty) != Some(parts.len() as u32) {
        return Err(MISFIT);
    }
    for (index, part) in (0..).zip(parts) {
        if b.module.types.element(ty, index) != Some(b.type_of(*part)) {
            return Err(MISFIT);
        }
    }
    Ok(b.construct(ty, parts))
}

/// A value in another type of the same parts.
pub fn relabel(b: &mut Builder<'_>, value: Value, ty: TypeId) -> Made {
    let own = b.type_of(value);
    if own == ty {
        return Ok(value);
    }
    let (count, wanted) = (b.module.types.part_count(own), b.module.types.part_count(ty));
    let is_aggregate = |of| matches!(of, Type::Struct(_) | Type::Array { .. });
    if !is_aggregate(b.module.types.get(own)) || count != wanted {
        return Err(MISFIT);
    }
    let count = count.filter(|count| *count <= MOST_COPIED).ok_or("the array is too long to be copied")?;
    let mut parts = Vec::with_capacity(count as usize);
    for index in 0..count {
        let element = b.module.types.element(ty, index).ok_or(MISFIT)?;
        let part = b.extract(value, index);
        parts.push(relabel(b, part, element)?);
    }
    Ok(b.construct(ty, &parts))
}

/// Returns true if a value is an integer that can be an index.
pub fn is_index(b: &mut Builder<'_>, index: Value) -> bool {
    shape_of(b, index).is_some_and(|(scalar, size)| scalar.is_int() && size == 1)
}

/// A component of a vector by a run-time index.
pub fn extract_dynamic(b: &mut Builder<'_>, vector: Value, index: Value) -> Made {
    let is_vector = shape_of(b, vector).is_some_and(|(_, size)| size > 1);
    if is_vector && is_index(b, index) { Ok(b.extract_dynamic(vector, index)) } else { Err(MISFIT) }
}

/// A vector with a component replaced, by a run-time index.
pub fn insert_dynamic(b: &mut Builder<'_>, vector: Value, part: Value, index: Value) -> Made {
    let fits = shape_of(b, vector).filter(|(_, size)| *size > 1).map(|(scalar, _)| (scalar, 1)) == shape_of(b, part);
    if fits && is_index(b, index) { Ok(b.insert_dynamic(vector, index, part)) } else { Err(MISFIT) }
}
