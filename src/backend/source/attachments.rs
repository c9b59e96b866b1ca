//! Input attachments as textures that are read at the fragment's own position, for languages without attachments.

use super::insts;
use super::retype;
use crate::ir::{
    Access, Binding, BuiltIn, FuncId, Global, GlobalId, ImageDim, ImageOp, ImageParts, ImageType, Inst, InstId, Module,
    Op, Scalar, Space, Type, TypeId, Types, Value,
};
use crate::source::Span;

fn is_attachment(types: &Types, ty: TypeId) -> bool {
    matches!(types.get(types.innermost(ty)), Type::Image(image) if image.dim == ImageDim::SubpassInput)
}

/// Returns true if a module has input attachments.
pub(super) fn has_any(module: &Module) -> bool {
    module.globals.iter().any(|(_, global)| is_attachment(&module.types, global.ty))
}

/// Turns input attachments into textures; `with_samplers` into ones with a sampler.
pub(super) fn read_as_textures(module: &mut Module, with_samplers: bool) {
    let position = position(module);
    insts::each_inst(
        module,
        |module| module,
        |module, function, id, before| read(module, (function, id), position, before),
    );
    retype::change_all(module, &|ty| match ty {
        Type::Image(image) if image.dim == ImageDim::SubpassInput => {
            let image = ImageType { dim: ImageDim::D2, storage: false, ..image };
            Some(if with_samplers { Type::SampledImage(image) } else { Type::Image(image) })
        }
        _ => None,
    });
}

/// The position of the fragment.
fn position(module: &mut Module) -> GlobalId {
    let binding = Binding::BuiltIn(BuiltIn::FragCoord);
    let is_it = |global: &Global| global.space == Space::Input && global.binding == binding;
    if let Some((id, _)) = module.globals.iter().find(|(_, global)| is_it(global)) {
        return id;
    }
    let ty = module.types.vector(Scalar::F32, 4);
    let (name, span, access) = ("gl_FragCoord".into(), Span::NONE, Access::empty());
    module.globals.push(Global { name, span, space: Space::Input, ty, binding, access, init: None })
}

/// Turns a read of an attachment into a read of the texture, after instructions that compute the coordinates.
fn read(module: &mut Module, (function, id): (FuncId, InstId), position: GlobalId, before: &mut Vec<InstId>) {
    let f = &module.functions[function];
    let inst = f.insts[id];
    let Op::Image { op: ImageOp::Read, parts, operands } = inst.op else { return };
    let values = f.values(operands).to_vec();
    if !module.value_type(f, values[0]).is_some_and(|ty| is_attachment(&module.types, ty)) {
        return;
    }
    let [whole, place, texel] =
        [(Scalar::F32, 4), (Scalar::F32, 2), (Scalar::I32, 2)].map(|(scalar, size)| module.types.vector(scalar, size));
    let level = Value::Const(module.constants.i32(0));
    let f = &mut module.functions[function];
    let mut add = |op, ty| {
        let id = f.insts.push(Inst { op, ty, ..inst });
        before.push(id);
        Value::Inst(id)
    };
    let at = add(Op::Load(Value::Global(position)), whole);
    let at = add(Op::Shuffle { a: at, b: at, mask: [0, 1, 0, 0] }, place);
    let at = add(Op::Convert(at), texel);
    let (parts, last) = match parts.contains(ImageParts::SAMPLE) {
        true => (ImageParts::SAMPLE, values[values.len() - 1]),
        false => (ImageParts::LOD, level),
    };
    let operands = f.list(&[values[0], at, last]);
    f.insts[id].op = Op::Image { op: ImageOp::Fetch, parts: parts | ImageParts::COORDINATE, operands };
}
