//! Rules of cross-lane operations: operands and results as [`LaneOp::signature`] lists them.

use super::body::Body;
use super::{Check, ensure};
use crate::ir::{Scalar, ScalarKind, Type, TypeId, Types, Values, typing};
use crate::lane::{LaneOp, Role};

impl Body<'_> {
    pub fn lane(&mut self, op: LaneOp, ty: TypeId, args: Values) -> Check {
        let args = self.list_types(args)?;
        let signature = op.signature();
        let (least, most) = signature.arity();
        ensure!((least..=most).contains(&args.len()), "{} operands instead of {least} to {most}", args.len());
        for (index, (arg, param)) in args.iter().zip(signature.params).enumerate() {
            let role = param.role;
            ensure!(self.has_role(role, *arg, args[0]), "operand {index} is {}, not {role:?}", self.name(*arg));
        }
        let expected = typing::lane(self.types, op, &args);
        self.expect_members(ty, expected)
    }

    fn has_role(&self, role: Role, ty: TypeId, first: TypeId) -> bool {
        let Ok((scalar, size)) = self.shape(ty) else { return false };
        match role {
            _ if scalar.encoding().is_some() => false,
            Role::Data | Role::Class => true,
            Role::Number => !scalar.is_bool(),
            Role::Bits => !scalar.is_float(),
            Role::Key => size == 1 && !scalar.is_bool(),
            Role::Rider => size == 1,
            Role::Same | Role::SameNumber => ty == first,
            Role::Bool => ty == Types::BOOL,
            Role::Index | Role::NvWidth => size == 1 && scalar.is_int() && scalar.width == 32,
            Role::Ballot | Role::Partition => scalar == Scalar::U32 && size == 4,
            Role::Mask => self.types.get(ty) == Type::Scalar(Scalar { kind: ScalarKind::Uint, width: 64 }),
        }
    }
}
