//! The clip space of another API: conversion of the positions that a stage writes.

use super::splice::{self, Splice};
use super::{
    BinaryOp, Binding, BuiltIn, ConstId, FuncId, GlobalId, Module, Op, Space, Stage, Type, TypeId, Types, UnaryOp,
    Value,
};
use serde::Deserialize;

/// The change of the depths in clip space.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DepthRange {
    /// Unchanged.
    #[default]
    Source,
    /// From -w to w, as OpenGL has them, to 0 to w: `z` becomes `(z + w) / 2`.
    #[serde(rename = "from-opengl")]
    FromOpenGl,
    /// From 0 to w, as Vulkan, Direct3D, Metal and WebGPU have them, to -w to w: `z` becomes `2 z - w`.
    #[serde(rename = "to-opengl")]
    ToOpenGl,
}

impl DepthRange {
    pub const ALL: [DepthRange; 3] = [DepthRange::Source, DepthRange::FromOpenGl, DepthRange::ToOpenGl];

    /// Its word for `--depth-range` and manifests.
    pub const fn word(self) -> &'static str {
        match self {
            DepthRange::Source => "source",
            DepthRange::FromOpenGl => "from-opengl",
            DepthRange::ToOpenGl => "to-opengl",
        }
    }
}

/// The changes of the positions that vertex and tessellation evaluation shaders write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct ClipSpace {
    /// `y` counts in the opposite direction.
    pub flip_y: bool,
    pub depth: DepthRange,
}

/// A written position: a variable, or a member of a block.
#[derive(Clone, Copy)]
struct Position {
    global: GlobalId,
    member: Option<u32>,
}

impl ClipSpace {
    /// Changes the position at the end of each entry point.
    pub fn apply(self, module: &mut Module) {
        if self == ClipSpace::default() {
            return;
        }
        let is_it = |stage| matches!(stage, Stage::Vertex | Stage::TessEvaluation);
        let entries = module.entry_points.iter().filter(|entry| is_it(entry.stage)).map(|entry| entry.function);
        for entry in entries.collect::<Vec<_>>() {
            if let Some(position) = position(module) {
                self.change(module, entry, position);
            }
        }
    }

    fn change(self, module: &mut Module, entry: FuncId, at: Position) {
        for block in splice::ends(&module.functions[entry]) {
            let mut part = Component::new(module, entry, at);
            if self.flip_y {
                let y = part.load(1);
                let flipped = part.splice.add(Op::Unary(UnaryOp::Neg, y), Types::F32);
                part.store(1, flipped);
            }
            if self.depth != DepthRange::Source {
                let [z, w] = [2, 3].map(|index| part.load(index));
                let (first, second) = match self.depth {
                    DepthRange::ToOpenGl => (Op::Binary(BinaryOp::Add, z, z), BinaryOp::Sub),
                    _ => (Op::Binary(BinaryOp::Add, z, w), BinaryOp::Mul),
                };
                let first = part.splice.add(first, Types::F32);
                let other = if second == BinaryOp::Sub { w } else { Value::Const(part.half) };
                let depth = part.splice.add(Op::Binary(second, first, other), Types::F32);
                part.store(2, depth);
            }
            part.splice.at_end(block);
        }
    }
}

/// The components of a position.
struct Component<'a> {
    splice: Splice<'a>,
    base: Value,
    /// The index of the member, which precedes the component's.
    member: Option<Value>,
    indices: [Value; 4],
    pointer: TypeId,
    half: ConstId,
}

impl<'a> Component<'a> {
    fn new(module: &'a mut Module, entry: FuncId, at: Position) -> Component<'a> {
        let Module { types, constants, functions, .. } = module;
        let mut index = |n| Value::Const(constants.u32(n));
        let (member, indices) = (at.member.map(&mut index), [0, 1, 2, 3].map(&mut index));
        Component {
            splice: Splice::new(&mut functions[entry]),
            base: Value::Global(at.global),
            member,
            indices,
            pointer: types.pointer(Space::Output, Types::F32),
            half: constants.f32(0.5),
        }
    }

    fn place(&mut self, index: usize) -> Value {
        let indices: Vec<Value> = self.member.into_iter().chain([self.indices[index]]).collect();
        let indices = self.splice.f.list(&indices);
        self.splice.add(Op::Access { base: self.base, indices }, self.pointer)
    }

    fn load(&mut self, index: usize) -> Value {
        let place = self.place(index);
        self.splice.add(Op::Load(place), Types::F32)
    }

    fn store(&mut self, index: usize, value: Value) {
        let pointer = self.place(index);
        self.splice.add(Op::Store { pointer, value }, Types::VOID);
    }
}

/// The position that the module writes.
fn position(module: &Module) -> Option<Position> {
    let is_it = |binding| binding == Binding::BuiltIn(BuiltIn::Position);
    module.globals.iter().filter(|(_, global)| global.space == Space::Output).find_map(|(id, global)| {
        if is_it(global.binding) {
            return Some(Position { global: id, member: None });
        }
        let Type::Struct(of) = module.types.get(global.ty) else { return None };
        let members = &module.types.structs[of].members;
        let at = members.iter().position(|member| is_it(member.binding))?;
        Some(Position { global: id, member: Some(at as u32) })
    })
}
