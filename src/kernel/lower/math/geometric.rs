//! GLSL 4.60 section 8.5.

use super::{Lower, Scalars};
use crate::ir::{MathFn, Scalar};
use crate::kernel::{BinOp, CmpOp, UnOp, Value};

impl Lower<'_> {
    pub fn geometric(&mut self, function: MathFn, scalar: Scalar, args: &[Scalars]) -> Scalars {
        match (function, args) {
            (MathFn::Dot, [a, b]) => Scalars::from_elem(self.dot(scalar, a, b), 1),
            (MathFn::Length, [a]) => Scalars::from_elem(self.length(scalar, a), 1),
            (MathFn::Distance, [a, b]) => {
                let between = self.all(BinOp::Sub, scalar, a, b);
                Scalars::from_elem(self.length(scalar, &between), 1)
            }
            (MathFn::Normalize, [a]) => {
                let length = self.length(scalar, a);
                self.all(BinOp::Div, scalar, a, &[length])
            }
            (MathFn::Cross, [a, b]) => self.cross(scalar, a, b),
            (MathFn::FaceForward, [normal, incident, reference]) => {
                self.face_forward(scalar, normal, incident, reference)
            }
            (MathFn::Reflect, [incident, normal]) => self.reflect(scalar, incident, normal),
            (MathFn::Refract, [incident, normal, eta]) => self.refract(scalar, incident, normal, eta[0]),
            _ => Scalars::new(),
        }
    }

    /// Component by component; a single scalar on the right is repeated.
    fn all(&mut self, op: BinOp, scalar: Scalar, a: &[Value], b: &[Value]) -> Scalars {
        self.zip(a, b, |lower, a, b| lower.b.bin(op, scalar, a, b))
    }

    fn length(&mut self, scalar: Scalar, a: &[Value]) -> Value {
        if let [only] = *a {
            return self.b.un(UnOp::Abs, scalar, only);
        }
        let square = self.dot(scalar, a, a);
        self.b.un(UnOp::Sqrt, scalar, square)
    }

    fn cross(&mut self, scalar: Scalar, a: &[Value], b: &[Value]) -> Scalars {
        let turned = |v: &[Value], by: usize| -> Scalars { (0..3).map(|at| v[(at + by) % 3]).collect() };
        let left = self.all(BinOp::Mul, scalar, &turned(a, 1), &turned(b, 2));
        let right = self.all(BinOp::Mul, scalar, &turned(a, 2), &turned(b, 1));
        self.all(BinOp::Sub, scalar, &left, &right)
    }

    /// The normal, negated if the reference points along the incident vector.
    fn face_forward(&mut self, scalar: Scalar, normal: &[Value], incident: &[Value], reference: &[Value]) -> Scalars {
        let along = self.dot(scalar, reference, incident);
        let zero = self.real(scalar, 0.0);
        let against = self.less(scalar, along, zero);
        let pick = |n: &Value| {
            let negative = self.b.un(UnOp::Neg, scalar, *n);
            self.b.select(against, *n, negative)
        };
        normal.iter().map(pick).collect()
    }

    /// `incident - 2 * dot(normal, incident) * normal`.
    fn reflect(&mut self, scalar: Scalar, incident: &[Value], normal: &[Value]) -> Scalars {
        let (two, along) = (self.real(scalar, 2.0), self.dot(scalar, normal, incident));
        let twice = self.mul(scalar, two, along);
        let change = self.all(BinOp::Mul, scalar, normal, &[twice]);
        self.all(BinOp::Sub, scalar, incident, &change)
    }

    /// With `d = dot(normal, incident)` and `k = 1 - eta * eta * (1 - d * d)`: zero where `k < 0`, otherwise
    /// `eta * incident - (eta * d + sqrt(k)) * normal`.
    fn refract(&mut self, scalar: Scalar, incident: &[Value], normal: &[Value], eta: Value) -> Scalars {
        let (zero, one) = (self.real(scalar, 0.0), self.real(scalar, 1.0));
        let d = self.dot(scalar, normal, incident);
        let square = self.mul(scalar, d, d);
        let rest = self.sub(scalar, one, square);
        let eta_square = self.mul(scalar, eta, eta);
        let product = self.mul(scalar, eta_square, rest);
        let k = self.sub(scalar, one, product);
        let root = self.b.un(UnOp::Sqrt, scalar, k);
        let bent = self.mul(scalar, eta, d);
        let factor = self.add(scalar, bent, root);
        let along = self.all(BinOp::Mul, scalar, incident, &[eta]);
        let change = self.all(BinOp::Mul, scalar, normal, &[factor]);
        let result = self.all(BinOp::Sub, scalar, &along, &change);
        let none = self.b.cmp(CmpOp::Lt, scalar, k, zero);
        result.into_iter().map(|value| self.b.select(none, zero, value)).collect()
    }
}
