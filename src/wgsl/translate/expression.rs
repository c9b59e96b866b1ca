//! Expressions. Arithmetic, conversions and built-in functions have separate files.

use super::Outcome;
use super::function::{Body, Slot};
use super::memory::PointerPath;
use super::texture::{Sampling, Texel};
use crate::ir::{ConstValue, TypeId, Types, Value};
use naga::{Expression, Handle, Literal, SwizzleComponent, VectorSize};

impl Body<'_, '_, '_> {
    /// Evaluates an expression here and now.
    pub(super) fn evaluate(&mut self, of: Handle<Expression>) -> Outcome<Slot> {
        let expressions = self.expressions;
        let value = match &expressions[of] {
            Expression::FunctionArgument(index) => return Ok(self.arguments[*index as usize].clone()),
            Expression::GlobalVariable(handle) => {
                return self.shader.global(self.b.module, *handle).map(Slot::Pointer);
            }
            Expression::LocalVariable(handle) => {
                return Ok(Slot::Pointer(PointerPath::of(self.locals[handle.index()])));
            }
            Expression::Access { base, index } => return self.access(*base, *index),
            Expression::AccessIndex { base, index } => return self.access_index(*base, *index),
            Expression::Literal(literal) => self.literal(literal, of)?,
            Expression::Constant(handle) => Value::Const(self.named_constant(*handle)?),
            Expression::Override(handle) => match self.shader.computed_override(*handle) {
                Some(default) => self.module_scope(default)?,
                None => Value::Const(self.shader.override_const(self.b.module, *handle)?),
            },
            Expression::ZeroValue(ty) => {
                let ty = self.shader.logical(self.b.module, *ty)?;
                self.b.zero(ty)
            }
            Expression::Compose { ty, components } => self.compose(*ty, components)?,
            Expression::Splat { size, value } => {
                let scalar = self.value(*value)?;
                self.b.splat(scalar, *size as u8)
            }
            Expression::Swizzle { size, vector, pattern } => self.swizzle(*size, *vector, pattern)?,
            Expression::Load { pointer } => self.load(*pointer)?,
            Expression::Unary { op, expr } => self.unary(*op, *expr)?,
            Expression::Binary { op, left, right } => self.binary(*op, *left, *right)?,
            Expression::Select { condition, accept, reject } => {
                let (condition, accept) = (self.value(*condition)?, self.value(*accept)?);
                let reject = self.value(*reject)?;
                self.b.select(condition, accept, reject)
            }
            Expression::Relational { fun, argument } => self.relational(*fun, *argument)?,
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                self.math(*fun, of, [Some(*arg), *arg1, *arg2, *arg3])?
            }
            Expression::As { expr, kind, convert } => self.cast(*expr, *kind, *convert, of)?,
            Expression::ArrayLength(array) => self.array_length(*array)?,
            Expression::ImageSample {
                image,
                sampler,
                gather,
                coordinate,
                array_index: layer,
                offset,
                level,
                depth_ref: reference,
                clamp_to_edge,
            } => self.sample(&Sampling {
                image: *image,
                sampler: *sampler,
                gather: *gather,
                coordinate: *coordinate,
                layer: *layer,
                offset: *offset,
                level: *level,
                reference: *reference,
                clamp_to_edge: *clamp_to_edge,
            })?,
            Expression::ImageLoad { image, coordinate, array_index, sample, level } => {
                let (coordinate, layer) = (*coordinate, *array_index);
                self.load_texel(*image, &Texel { coordinate, layer, sample: *sample, level: *level })?
            }
            Expression::ImageQuery { image, query } => self.query(*image, *query)?,
            Expression::Derivative { axis, ctrl, expr } => self.derivative(*axis, *ctrl, *expr)?,
            other => return Err(self.cannot_evaluate(other, of)),
        };
        Ok(Slot::Value(value))
    }

    fn cannot_evaluate(&self, expression: &Expression, at: Handle<Expression>) -> super::Failure {
        let what = match expression {
            Expression::CooperativeLoad { .. } | Expression::CooperativeMultiplyAdd { .. } => "a cooperative matrix",
            Expression::RayQueryVertexPositions { .. }
            | Expression::RayQueryProceedResult
            | Expression::RayQueryGetIntersection { .. } => "a ray query",
            _ => return self.unexpected("a result before its statement", self.expression_span(at)),
        };
        self.unsupported(what, at)
    }

    fn named_constant(&mut self, handle: Handle<naga::Constant>) -> Outcome<crate::ir::ConstId> {
        let init = self.shader.naga.constants[handle].init;
        self.shader.constant(self.b.module, init)
    }

    fn literal(&mut self, literal: &Literal, at: Handle<Expression>) -> Outcome<Value> {
        let bits = match *literal {
            Literal::Bool(value) => return Ok(self.b.const_bool(value)),
            Literal::I32(value) => return Ok(self.b.const_i32(value)),
            Literal::U32(value) => return Ok(self.b.const_u32(value)),
            Literal::F32(value) => return Ok(self.b.const_f32(value)),
            Literal::F64(value) => value.to_bits(),
            Literal::F16(value) => u64::from(value.to_bits()),
            Literal::U16(value) => u64::from(value),
            Literal::I16(value) => u64::from(value as u16),
            Literal::U64(value) => value,
            Literal::I64(value) => value as u64,
            Literal::AbstractInt(_) | Literal::AbstractFloat(_) => {
                return Err(self.unexpected("an abstract number", self.expression_span(at)));
            }
        };
        let scalar = self.shader.scalar(literal.scalar(), self.expression_span(at))?;
        let ty = self.b.module.types.scalar(scalar);
        Ok(Value::Const(self.b.module.constants.intern(ty, ConstValue::Bits(bits))))
    }

    fn compose(&mut self, ty: Handle<naga::Type>, components: &[Handle<Expression>]) -> Outcome<Value> {
        let ty = self.shader.logical(self.b.module, ty)?;
        let parts = components.iter().map(|part| self.value(*part)).collect::<Outcome<Vec<Value>>>()?;
        let parts = self.columns_of_scalars(ty, parts);
        Ok(self.b.construct(ty, &parts))
    }

    /// A matrix may be written scalar by scalar; `ir` needs columns.
    fn columns_of_scalars(&mut self, ty: TypeId, parts: Vec<Value>) -> Vec<Value> {
        let crate::ir::Type::Matrix { scalar, columns, rows, .. } = self.b.module.types.get(ty) else { return parts };
        if parts.len() == usize::from(columns) {
            return parts;
        }
        let column = self.b.module.types.vector(scalar, rows);
        parts.chunks(usize::from(rows)).map(|part| self.b.construct(column, part)).collect()
    }

    fn swizzle(
        &mut self,
        size: VectorSize,
        vector: Handle<Expression>,
        pattern: &[SwizzleComponent; 4],
    ) -> Outcome<Value> {
        let vector = self.value(vector)?;
        let mask = pattern.map(|component| component as u8);
        Ok(self.b.swizzle(vector, &mask[..size as usize]))
    }

    fn access(&mut self, base: Handle<Expression>, index: Handle<Expression>) -> Outcome<Slot> {
        let index = self.value(index)?;
        if let Some(part) = self.split_part(base, index)? {
            return Ok(Slot::Pointer(part));
        }
        Ok(match self.slot(base)? {
            Slot::Pointer(path) => Slot::Pointer(self.element(path, index)),
            Slot::Value(composite) => Slot::Value(self.element_of_value(composite, index)),
        })
    }

    fn access_index(&mut self, base: Handle<Expression>, index: u32) -> Outcome<Slot> {
        let at = self.b.const_u32(index);
        if let Some(part) = self.split_part(base, at)? {
            return Ok(Slot::Pointer(part));
        }
        Ok(match self.slot(base)? {
            Slot::Pointer(path) => Slot::Pointer(self.element(path, at)),
            Slot::Value(composite) => Slot::Value(self.b.extract(composite, index)),
        })
    }

    /// `any` and `all` accept a single bool too.
    fn relational(&mut self, function: naga::RelationalFunction, argument: Handle<Expression>) -> Outcome<Value> {
        use crate::ir::MathFn;
        let value = self.value(argument)?;
        let function = match function {
            naga::RelationalFunction::Any => MathFn::Any,
            naga::RelationalFunction::All => MathFn::All,
            naga::RelationalFunction::IsNan => MathFn::IsNan,
            naga::RelationalFunction::IsInf => MathFn::IsInf,
        };
        let is_scalar = self.b.type_of(value) == Types::BOOL;
        Ok(if is_scalar { value } else { self.b.math(function, &[value]) })
    }
}
