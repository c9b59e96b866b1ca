//! Elements of arrays of images and samplers: uniform selections, and waterfall loops over varying ones.
//!
//! Each iteration of a loop handles the lanes with the elements of the first remaining lane, so that the descriptors
//! come from one place. An index beyond an array selects the last element.

use super::Selector;
use super::arithmetic::number;
use super::image::{ImageInst, Use};
use crate::backend::amd::machine::Operand;
use crate::ir::Scalar;
use crate::kernel::{BinOp, Value};
use smallvec::SmallVec;

impl Selector<'_> {
    /// Instructions that differ in their operands alone.
    pub fn image_insts(&mut self, access: &Use<'_>, insts: &[ImageInst]) {
        let results: SmallVec<[Operand; 4]> = insts.iter().filter_map(|inst| inst.to).collect();
        self.on_elements(access, &results, |selector, access| {
            insts.iter().for_each(|inst| selector.image_inst(access, inst));
        });
    }

    fn image_inst(&mut self, access: &Use<'_>, inst: &ImageInst) {
        let samples = inst.operation.takes_sampler();
        let mut uses = inst.before.clone();
        uses.push(self.image_descriptor(access));
        uses.extend(samples.then(|| self.sampler_descriptor(access)));
        uses.extend(inst.after);
        self.raw(inst.operation, inst.to.as_slice(), &uses).modifiers = inst.modifiers;
    }

    /// The result of code that uses the descriptors, if it is `wanted`: in the code's own register, or in a new one
    /// after a loop.
    pub fn with_descriptors(
        &mut self,
        access: &Use<'_>,
        wanted: bool,
        run: impl FnOnce(&mut Self, &Use<'_>) -> Option<Operand>,
    ) -> Option<Operand> {
        if let Some(access) = self.on_same_elements(access) {
            return run(self, &access);
        }
        let to = wanted.then(|| self.vectors(1));
        self.on_elements(access, to.as_slice(), |selector, access| {
            if let (Some(to), Some(from)) = (to, run(selector, access)) {
                selector.move_to(to, from);
            }
        });
        to
    }

    /// Runs code on the elements that lanes select, once per distinct selection. It writes the results in the lanes
    /// that run it.
    fn on_elements(&mut self, access: &Use<'_>, results: &[Operand], run: impl FnOnce(&mut Self, &Use<'_>)) {
        if let Some(access) = self.on_same_elements(access) {
            return run(self, &access);
        }
        let mut elements = self.elements(access);
        let differ: SmallVec<[Operand; 2]> = different(&elements, |word| self.is_vector(word));
        if differ.is_empty() {
            return run(self, &Use { elements, ..*access });
        }
        results.iter().for_each(|result| self.declare(*result));
        self.for_each_group(&differ, |selector, firsts| {
            for element in elements.iter_mut().flatten() {
                if let Some(at) = differ.iter().position(|word| word == element) {
                    *element = firsts[at];
                }
            }
            run(selector, &Use { elements, ..*access });
            for inst in &mut selector.block.insts {
                inst.keeps |= inst.defs.iter().any(|def| results.contains(def));
            }
        });
    }

    /// The access with its elements, if all lanes select the same ones.
    fn on_same_elements<'k>(&mut self, access: &Use<'k>) -> Option<Use<'k>> {
        let indices = self.kernel.image_indices(access.inst);
        let agree = indices.into_iter().flatten().all(|index| self.is_uniform(index));
        agree.then(|| Use { elements: self.elements(access), ..*access })
    }

    /// The elements of the images and of the samplers. Samplers that are bound with their textures have the same.
    fn elements(&mut self, access: &Use<'_>) -> [Option<Operand>; 2] {
        let [image, sampler] = self.kernel.image_indices(access.inst);
        let image = image.map(|index| self.element_of(index, access.image.choices.count));
        let sampler = sampler.map(|index| self.element_of(index, access.image.sampler_choices.count));
        [image, if access.image.sampler.is_some() { sampler } else { image }]
    }

    /// The index of the selected element, in a scalar register if it is uniform.
    fn element_of(&mut self, index: Value, count: u32) -> Operand {
        let last = count - 1;
        let is_inside = self.ranges.of(self.kernel, index).most <= last.into();
        let word = if self.is_uniform(index) { self.uniform_word(index) } else { self.word(index) };
        match word {
            Operand::Constant(n) => number(n.min(last)),
            word if is_inside => word,
            word => self.word_binary(BinOp::Min, Scalar::U32, [word, number(last)]),
        }
    }
}

/// The words of elements that may vary between lanes, each once.
fn different(elements: &[Option<Operand>], differs: impl Fn(Operand) -> bool) -> SmallVec<[Operand; 2]> {
    let mut found: SmallVec<[Operand; 2]> = elements.iter().flatten().copied().filter(|word| differs(*word)).collect();
    found.dedup();
    found
}
