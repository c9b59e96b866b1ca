//! Textures and images of a module with other types.

use crate::ir::{Module, Type, TypeId, Types};

/// The new type of a texture or an image; `None` if it is unchanged.
pub(super) type Change<'a> = &'a dyn Fn(Type) -> Option<Type>;

/// The type with the textures in it changed.
pub(super) fn changed(types: &mut Types, ty: TypeId, change: Change) -> TypeId {
    let old = types.get(ty);
    match old {
        Type::Array { element, len, stride } => {
            let element = changed(types, element, change);
            types.intern(Type::Array { element, len, stride })
        }
        Type::Pointer { space, pointee } => {
            let pointee = changed(types, pointee, change);
            types.pointer(space, pointee)
        }
        _ => change(old).map_or(ty, |new| types.intern(new)),
    }
}

/// Changes the textures of variables, parameters and values.
pub(super) fn change_all(module: &mut Module, change: Change) {
    let Module { types, globals, functions, .. } = module;
    let mut of = |ty: &mut TypeId| *ty = changed(types, *ty, change);
    globals.iter_mut().for_each(|(_, global)| of(&mut global.ty));
    for (_, f) in functions.iter_mut() {
        f.params.iter_mut().for_each(|param| of(&mut param.ty));
        f.insts.iter_mut().for_each(|(_, inst)| of(&mut inst.ty));
    }
}
