//! Rules of cross-lane operations: operands and results as [`LaneOp::signature`] lists them.

use super::body::Body;
use super::{Check, ensure};
use crate::ir::{TypeId, Values, typing};
use crate::lane::LaneOp;

impl Body<'_> {
    pub fn lane(&mut self, op: LaneOp, ty: TypeId, args: Values) -> Check {
        let args = self.list_types(args)?;
        let signature = op.signature();
        let (least, most) = signature.arity();
        ensure!((least..=most).contains(&args.len()), "{} operands instead of {least} to {most}", args.len());
        for (index, (arg, param)) in args.iter().zip(signature.params).enumerate() {
            let role = param.role;
            ensure!(
                typing::has_role(self.types, role, *arg, args[0]),
                "operand {index} is {}, not {role:?}",
                self.name(*arg)
            );
        }
        let expected = typing::lane(self.types, op, &args);
        self.expect_members(ty, expected)
    }
}
