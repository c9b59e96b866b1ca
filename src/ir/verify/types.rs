//! Rules of types, structs and constants: handles in range, parts before wholes, layouts complete.

use super::{Check, ensure, find_cycle, is_laid_out, is_neutral};
use crate::ir::{
    ArrayLen, ConstId, ConstValue, Constant, CooperativeMatrix, Module, Struct, StructId, Type, TypeId, Types,
};

/// The errors in the types and constants of a module. If handles are out of range, nothing else is checked.
pub fn check(module: &Module) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let types = module.types.iter().map(|(id, ty)| (format!("type {id:?}"), handles_of(module, id, ty)));
    let structs = module.types.structs.iter();
    let members = structs.map(|(_, item)| (format!("struct `{}`", item.name), members_exist(module, item)));
    let constants = module.constants.iter();
    let parts = constants.map(|(id, item)| (format!("constant {id:?}"), parts_exist(module, id, item)));
    collect(&mut found, types.chain(members).chain(parts));
    if !found.is_empty() {
        return found;
    }
    let contained: Vec<Vec<usize>> = module.types.structs.iter().map(|(_, item)| contained(module, item)).collect();
    if let Some(index) = find_cycle(&contained) {
        return vec![format!(
            "struct `{}`: a cycle of members",
            module.types.structs[StructId::from_index(index)].name
        )];
    }
    let mut types = module.types.clone();
    for (id, item) in module.types.structs.iter() {
        collect(&mut found, std::iter::once((format!("struct `{}`", item.name), structure(&mut types, id))));
    }
    for (id, item) in module.constants.iter() {
        collect(&mut found, std::iter::once((format!("constant {id:?}"), constant(module, &mut types, item))));
    }
    found
}

fn collect(found: &mut Vec<String>, checks: impl Iterator<Item = (String, Check)>) {
    found.extend(checks.filter_map(|(what, check)| check.err().map(|message| format!("{what}: {message}"))));
}

fn handles_of(module: &Module, id: TypeId, ty: Type) -> Check {
    let has_struct = |of: StructId| module.types.structs.get(of).is_some();
    match ty {
        Type::Array { element, len, .. } => {
            ensure!(element < id, "its element comes after it");
            if let ArrayLen::Spec(len) = len {
                ensure!(len.index() < module.constants.len(), "its length does not exist");
            }
        }
        Type::Pointer { pointee, .. } => ensure!(pointee < id, "its pointee comes after it"),
        Type::Struct(of) => ensure!(has_struct(of), "its struct does not exist"),
        Type::BufferReference { pointee } => {
            ensure!(has_struct(pointee), "its struct does not exist");
            let align = module.types.reference_align(pointee);
            ensure!(align.is_power_of_two(), "its alignment is not a power of two");
            ensure!(module.types.structs[pointee].logical.is_some(), "its struct has no layout");
        }
        Type::Vector { size, .. } => ensure!((2..=4).contains(&size), "a vector has two to four components"),
        Type::Matrix { columns, rows, scalar, .. } => {
            ensure!((2..=4).contains(&columns) && (2..=4).contains(&rows), "a matrix has two to four columns and rows");
            ensure!(scalar.is_float(), "a matrix is made of floats");
        }
        Type::Foreign(of) => ensure!((of as usize) < module.foreign.types.len(), "there is no such foreign type"),
        Type::CooperativeMatrix(CooperativeMatrix { element, scope, rows, columns, .. }) => {
            ensure!(element < id, "its element comes after it");
            let known = |id: &ConstId| id.index() < module.constants.len();
            ensure!([scope, rows, columns].iter().all(known), "its parameters do not exist");
        }
        _ => {}
    }
    Ok(())
}

fn members_exist(module: &Module, item: &Struct) -> Check {
    ensure!(item.members.iter().all(|member| member.ty.index() < module.types.len()), "a member's type does not exist");
    ensure!(item.logical.is_none_or(|id| module.types.structs.get(id).is_some()), "its logical struct does not exist");
    Ok(())
}

/// Structs directly contained in a struct.
fn contained(module: &Module, item: &Struct) -> Vec<usize> {
    let inner = |mut ty| loop {
        match module.types.get(ty) {
            Type::Array { element, .. } => ty = element,
            Type::Struct(id) => return Some(id.index()),
            _ => return None,
        }
    };
    item.members.iter().filter_map(|member| inner(member.ty)).collect()
}

fn parts_exist(module: &Module, id: ConstId, item: &Constant) -> Check {
    ensure!(item.ty.index() < module.types.len(), "its type does not exist");
    if let ConstValue::Composite(parts) | ConstValue::SpecOp { args: parts, .. } = &item.value {
        ensure!(parts.iter().all(|part| *part < id), "a part comes after it");
    }
    Ok(())
}

fn structure(types: &mut Types, id: StructId) -> Check {
    let item = types.structs[id].clone();
    for (index, member) in item.members.iter().enumerate() {
        let name = &member.name;
        let laid = is_laid_out(types, member.ty);
        match item.logical {
            None => ensure!(!laid, "member {index} `{name}` of a logical struct has a layout"),
            Some(_) => {
                ensure!(laid || is_neutral(types, member.ty), "member {index} `{name}` has no layout");
                ensure!(member.offset.is_some(), "member {index} `{name}` has no offset");
            }
        }
    }
    item.logical.map_or(Ok(()), |logical| twin(types, &item, logical))
}

/// A laid-out struct has the members of its logical struct.
fn twin(types: &mut Types, item: &Struct, logical: StructId) -> Check {
    let expected: Vec<TypeId> = types.structs[logical].members.iter().map(|member| member.ty).collect();
    ensure!(types.structs[logical].logical.is_none(), "its logical struct is a layout itself");
    ensure!(expected.len() == item.members.len(), "its logical struct has {} members", expected.len());
    for (index, (member, expected)) in item.members.iter().zip(expected).enumerate() {
        ensure!(types.logical(member.ty) == expected, "member {index} `{}` is not its logical struct's", member.name);
    }
    Ok(())
}

fn constant(module: &Module, types: &mut Types, item: &Constant) -> Check {
    let ty = types.get(item.ty);
    match &item.value {
        ConstValue::Bits(_) | ConstValue::Spec { .. } => {
            ensure!(matches!(ty, Type::Scalar(_)), "bits are a scalar's");
        }
        ConstValue::Composite(parts) => {
            let count = match ty {
                Type::Vector { size, .. } => u32::from(size),
                Type::Matrix { columns, .. } => u32::from(columns),
                Type::Array { len: ArrayLen::Fixed(count), .. } => count,
                Type::Struct(id) => types.structs[id].members.len() as u32,
                Type::CooperativeMatrix(_) => 1,
                _ => return Err("parts are a composite's".to_owned()),
            };
            let fits = parts.len() == count as usize || super::is_whole_vector(module, item.ty, parts.len());
            ensure!(fits, "it has {} parts instead of {count}", parts.len());
            for (index, part) in parts.iter().enumerate() {
                let expected = types.element(item.ty, index as u32);
                ensure!(Some(module.constants.get(*part).ty) == expected, "part {index} has another type");
            }
        }
        ConstValue::SpecOp { args, .. } => ensure!(!args.is_empty(), "an operation has operands"),
        ConstValue::MatrixLength(of) => {
            ensure!(types.cooperative(*of).is_some(), "the length of a type that is not a cooperative matrix");
            ensure!(item.ty == Types::I32, "a length is an i32");
        }
        ConstValue::Zero | ConstValue::Undef => {}
    }
    Ok(())
}
