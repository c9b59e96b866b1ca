//! Inputs and outputs of stages, derivatives, and operations on images.

use super::operation::Signature;
use super::{Check, Verifier, ensure};
use crate::ir::{ImageDim, ImageOp, ImageParts, InterpolateAt, MathFn};
use crate::kernel::stage::DISTANCES;
use crate::kernel::{Choices, Op, Stage, Ty, image};

/// Components of a location.
const COMPONENTS: u8 = 4;

impl Verifier<'_> {
    pub fn of_stage(&self, op: Op) -> Check<Signature> {
        let stage = self.kernel.stage;
        match op {
            Op::Input { location, component } => {
                let input = self.kernel.input(location);
                let input = input.filter(|_| component < COMPONENTS).ok_or("there is no such input")?;
                ensure!(!input.wide || stage == Stage::Vertex, "only attributes of vertices are wide");
                Ok(Signature::new([], [input.component()]))
            }
            Op::Interpolate { at, location, component } => {
                let is_declared = self.kernel.input(location).is_some();
                ensure!(stage == Stage::Fragment, "only fragments have pixels");
                ensure!(is_declared && component < COMPONENTS, "there is no such input");
                let args = match at {
                    InterpolateAt::Centroid => 0,
                    InterpolateAt::Sample | InterpolateAt::Vertex => 1,
                    InterpolateAt::Offset => 2,
                };
                Ok(Signature::new(vec![Ty::B32; args], [Ty::B32]))
            }
            Op::Output { site, component } => {
                let is_declared = self.kernel.output(site).is_some();
                ensure!(is_declared && component < DISTANCES, "there is no such output");
                Ok(Signature::new([Ty::B32], []))
            }
            Op::Kill => {
                ensure!(stage == Stage::Fragment, "only fragments have helpers");
                Ok(Signature::new([], []))
            }
            Op::Derivative(function) => {
                ensure!(stage == Stage::Fragment, "only fragments have neighbours");
                ensure!(is_plain_derivative(function), "it is not a derivative in one direction");
                Ok(Signature::new([Ty::B32], [Ty::B32]))
            }
            _ => Err("it is not known".to_owned()),
        }
    }

    pub fn image(&self, op: ImageOp, number: u32, parts: ImageParts) -> Check<Signature> {
        let found = self.kernel.images.get(number as usize).ok_or_else(|| format!("there is no image {number}"))?;
        ensure!(!matches!(op, ImageOp::SampleProjected | ImageOp::Combine), "kernels do not have it");
        ensure!(found.ty.dim != ImageDim::SubpassInput, "kernels have no subpasses");
        ensure!(found.writable || !image::writes(op), "it writes to what is read-only");
        ensure!(found.choices.count > 0 && found.sampler_choices.count > 0, "its array is empty");
        ensure!(found.sampler.is_some() || found.sampler_choices == Choices::ONE, "it has no samplers of its own");
        let count = image::arguments(found.ty, op, parts).map(|(_, count)| count).sum::<usize>() + found.indices();
        Ok(Signature::new(vec![Ty::B32; count], image::results(found.ty, op, parts)))
    }
}

const fn is_plain_derivative(function: MathFn) -> bool {
    use MathFn as F;
    let along_x = matches!(function, F::DerivX | F::DerivXFine | F::DerivXCoarse);
    along_x || matches!(function, F::DerivY | F::DerivYFine | F::DerivYCoarse)
}
