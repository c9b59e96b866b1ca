//! The facts about a SPIR-V module that determine the driver's arguments: the workgroup size, and the push constants
//! that it reads.

use std::collections::{BTreeMap, BTreeSet};

/// Numbers of instructions, decorations and storage classes (SPIR-V, 3.49 to 3.52).
const ENTRY_POINT: u32 = 15;
const EXECUTION_MODE: u32 = 16;
const EXECUTION_MODE_ID: u32 = 331;
const TYPE_POINTER: u32 = 32;
const CONSTANT: u32 = 43;
const SPEC_CONSTANT: u32 = 50;
const SPEC_CONSTANT_COMPOSITE: u32 = 51;
const FUNCTION: u32 = 54;
const FUNCTION_CALL: u32 = 57;
const VARIABLE: u32 = 59;
const ACCESS_CHAINS: [u32; 2] = [65, 66];
const DECORATE: u32 = 71;
const MEMBER_DECORATE: u32 = 72;
const LOCAL_SIZE: u32 = 17;
const SPEC_ID: u32 = 1;
const BUILT_IN: u32 = 11;
const WORKGROUP_SIZE: u32 = 25;
const OFFSET: u32 = 35;
const PUSH_CONSTANT: u32 = 9;

/// The instructions of a module: the number and the operands of each.
fn instructions(module: &[u32]) -> Vec<(u32, &[u32])> {
    let mut found = Vec::new();
    let mut rest = module.get(5..).unwrap_or_default();
    while let Some(first) = rest.first() {
        let count = (*first >> 16) as usize;
        let Some(operands) = rest.get(1..count) else { break };
        found.push((first & 0xffff, operands));
        rest = &rest[count..];
    }
    found
}

/// Constants by id, after specialization.
fn constants(module: &[(u32, &[u32])], special: &[(u32, u32)]) -> BTreeMap<u32, u32> {
    let numbers: BTreeMap<u32, u32> = module.iter().filter_map(|inst| decorated(inst, SPEC_ID)).collect();
    let value = |id: u32, usual: u32| {
        let set = numbers.get(&id).and_then(|number| special.iter().find(|(known, _)| known == number));
        set.map_or(usual, |(_, value)| *value)
    };
    let constants =
        module.iter().filter(|(op, operands)| [CONSTANT, SPEC_CONSTANT].contains(op) && operands.len() == 3);
    constants.map(|(_, operands)| (operands[1], value(operands[1], operands[2]))).collect()
}

/// The id and the number of a decoration.
fn decorated((op, operands): &(u32, &[u32]), decoration: u32) -> Option<(u32, u32)> {
    (*op == DECORATE && operands.len() == 3 && operands[1] == decoration).then(|| (operands[0], operands[2]))
}

/// The invocations of a workgroup.
pub fn group_size(module: &[u32], special: &[(u32, u32)]) -> Result<[u32; 3], String> {
    let module = instructions(module);
    let constants = constants(&module, special);
    let of_ids =
        |ids: &[u32]| Some([*constants.get(ids.first()?)?, *constants.get(ids.get(1)?)?, *constants.get(ids.get(2)?)?]);
    let built_in =
        module.iter().filter_map(|inst| decorated(inst, BUILT_IN)).find(|(_, which)| *which == WORKGROUP_SIZE);
    let composite = built_in.and_then(|(id, _)| {
        let (_, operands) = module.iter().find(|(op, operands)| *op == SPEC_CONSTANT_COMPOSITE && operands[1] == id)?;
        of_ids(&operands[2..])
    });
    let by_id = module.iter().find(|(op, _)| *op == EXECUTION_MODE_ID).and_then(|(_, operands)| of_ids(&operands[2..]));
    let mode = module.iter().find_map(|(op, operands)| match operands {
        [_, LOCAL_SIZE, x, y, z] if *op == EXECUTION_MODE => Some([*x, *y, *z]),
        _ => None,
    });
    composite.or(by_id).or(mode).ok_or_else(|| "the module has no size of workgroups".to_owned())
}

/// The words of the push constants that the entry point's functions name, in ascending order.
pub fn push_words(module: &[u32]) -> Result<Vec<usize>, String> {
    let module = instructions(module);
    let constants = constants(&module, &[]);
    let Some(variable) = module.iter().find(|(op, operands)| *op == VARIABLE && operands[2] == PUSH_CONSTANT) else {
        return Ok(Vec::new());
    };
    let (pointer, variable) = (variable.1[0], variable.1[1]);
    let is_type = |(op, operands): &&(u32, &[u32])| *op == TYPE_POINTER && operands[0] == pointer;
    let block =
        module.iter().find(is_type).map(|(_, operands)| operands[2]).ok_or("the push constants have no type")?;
    let offset = |member: u32| {
        let is_offset =
            |(op, operands): &&(u32, &[u32])| *op == MEMBER_DECORATE && operands.starts_with(&[block, member, OFFSET]);
        module.iter().find(is_offset).and_then(|(_, operands)| operands.get(3)).copied()
    };
    let called = called(&module);
    let (mut inside, mut found) = (0, BTreeSet::new());
    for (op, operands) in &module {
        if *op == FUNCTION {
            inside = operands[1];
        }
        if !ACCESS_CHAINS.contains(op) || operands[2] != variable || !called.contains(&inside) {
            continue;
        }
        let [_, _, _, member] = operands else { return Err("a part of a push constant is read".to_owned()) };
        let at = constants.get(member).and_then(|member| offset(*member)).ok_or("a push constant has no offset")?;
        found.insert(at as usize / 4);
    }
    Ok(found.into_iter().collect())
}

/// The functions that the entry point reaches.
fn called(module: &[(u32, &[u32])]) -> BTreeSet<u32> {
    let mut calls: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let mut inside = 0;
    for (op, operands) in module {
        match *op {
            FUNCTION => inside = operands[1],
            FUNCTION_CALL => calls.entry(inside).or_default().push(operands[2]),
            _ => {}
        }
    }
    let entry = module.iter().find(|(op, _)| *op == ENTRY_POINT).map(|(_, operands)| operands[1]);
    let (mut reached, mut left) = (BTreeSet::new(), Vec::from_iter(entry));
    while let Some(function) = left.pop() {
        if reached.insert(function) {
            left.extend(calls.get(&function).into_iter().flatten());
        }
    }
    reached
}
