//! Geometric functions: GLSL 4.60 section 8.5. Sums run from the first component to the last.

use super::number::{Num, round_to};
use super::{Folder, Vector};
use crate::ir::{BinaryOp, ConstId, MathFn, TypeId};

impl Folder<'_> {
    pub fn geometric(&mut self, function: MathFn, ty: TypeId, args: &[ConstId]) -> Option<ConstId> {
        let a = self.vector(*args.first()?)?;
        let b = args.get(1).map_or(Some(a), |arg| self.vector(*arg))?;
        let c = args.get(2).map_or(Some(a), |arg| self.vector(*arg))?;
        let value = match function {
            MathFn::Dot => a.dot(&b)?,
            MathFn::Length => a.length()?,
            MathFn::Distance => a.zip(&b, BinaryOp::Sub)?.length()?,
            MathFn::Normalize => a.zip(&a.length()?, BinaryOp::Div)?,
            MathFn::Cross => a.cross(&b)?,
            // Operands: normal, incident, reference.
            MathFn::FaceForward => a.signed(b.dot(&c)?.lane(0).float()? >= 0.0),
            MathFn::Reflect => a.reflect(&b)?,
            MathFn::Refract => a.refract(&b, &c)?,
            _ => return None,
        };
        self.vector_of(ty, &value)
    }
}

impl Vector {
    pub fn dot(&self, other: &Vector) -> Option<Vector> {
        let products = self.zip(other, BinaryOp::Mul)?;
        let mut sum = self.number(products.lane(0));
        for lane in &products.lanes()[1..] {
            sum = sum.zip(&self.number(*lane), BinaryOp::Add)?;
        }
        Some(sum)
    }

    /// A scalar of this vector's kind.
    fn number(&self, value: Num) -> Vector {
        Vector::new(self.scalar, 1, |_| value)
    }

    fn real(&self, value: f64) -> Vector {
        self.number(Num::Float(value))
    }

    fn length(&self) -> Option<Vector> {
        if self.size == 1 {
            return Some(self.real(self.lane(0).float()?.abs()));
        }
        Some(self.real(round_to(self.scalar.width, self.dot(self)?.lane(0).float()?.sqrt())))
    }

    fn cross(&self, other: &Vector) -> Option<Vector> {
        let turned = |v: &Vector, by: usize| Vector::new(v.scalar, 3, |index| v.lane((index + by) % 3));
        let left = turned(self, 1).zip(&turned(other, 2), BinaryOp::Mul)?;
        left.zip(&turned(self, 2).zip(&turned(other, 1), BinaryOp::Mul)?, BinaryOp::Sub)
    }

    /// The vector, or its negative.
    fn signed(&self, negate: bool) -> Vector {
        Vector::new(self.scalar, self.size, |index| match self.lane(index) {
            Num::Float(value) if negate => Num::Float(-value),
            lane => lane,
        })
    }

    /// `self - 2 * dot(normal, self) * normal`.
    fn reflect(&self, normal: &Vector) -> Option<Vector> {
        let twice = self.real(2.0).zip(&normal.dot(self)?, BinaryOp::Mul)?;
        self.zip(&normal.zip(&twice, BinaryOp::Mul)?, BinaryOp::Sub)
    }

    /// `k = 1 - eta * eta * (1 - dot * dot)`; zero where `k < 0`, otherwise `eta * self - (eta * dot + sqrt(k)) *
    /// normal`.
    fn refract(&self, normal: &Vector, eta: &Vector) -> Option<Vector> {
        use BinaryOp::{Add, Mul, Sub};
        let (one, dot) = (self.real(1.0), normal.dot(self)?);
        let rest = one.zip(&dot.zip(&dot, Mul)?, Sub)?;
        let k = one.zip(&eta.zip(eta, Mul)?.zip(&rest, Mul)?, Sub)?.lane(0).float()?;
        if k < 0.0 {
            return Some(Vector::new(self.scalar, self.size, |_| Num::Float(0.0)));
        }
        let factor = eta.zip(&dot, Mul)?.zip(&self.real(k.sqrt()), Add)?;
        self.zip(eta, Mul)?.zip(&normal.zip(&factor, Mul)?, Sub)
    }
}
