//! Expands arrays of images, for targets whose instructions name a single image: an operation with an index becomes a
//! decision tree over the elements, with one operation each.

use crate::ir::Scalar;
use crate::kernel::tree::Tree;
use crate::kernel::{BindingPoint, BlockId, Choices, CmpOp, Image, InstId, Kernel, Op, Ty, Value};
use std::ops::Range;

/// Expands all indices. Returns true if there were any.
pub fn run(kernel: &mut Kernel) -> bool {
    if kernel.images.iter().all(|image| image.indices() == 0) {
        return false;
    }
    let blocks = Tree::new(kernel).blocks;
    let mut expand = Expand { kernel };
    blocks.into_iter().for_each(|block| expand.block(block));
    kernel.sort_images();
    true
}

struct Expand<'k> {
    kernel: &'k mut Kernel,
}

impl Expand<'_> {
    fn block(&mut self, block: BlockId) {
        let insts = std::mem::take(&mut self.kernel.blocks[block].insts);
        let mut out = Vec::with_capacity(insts.len());
        insts.into_iter().for_each(|inst| self.inst(inst, &mut out));
        self.kernel.blocks[block].insts = out;
    }

    /// An instruction, expanded by its first index and then by the second.
    fn inst(&mut self, inst: InstId, out: &mut Vec<InstId>) {
        let [image, sampler] = self.kernel.image_indices(inst);
        match image.or(sampler) {
            Some(index) => self.choose(inst, index, 0..self.count(inst), out),
            None => out.push(inst),
        }
    }

    fn image(&self, inst: InstId) -> Option<&Image> {
        match self.kernel.insts[inst].op {
            Op::Image { image, .. } => self.kernel.images.get(image as usize),
            _ => None,
        }
    }

    /// Elements among which the first index of an operation chooses.
    fn count(&self, inst: InstId) -> u32 {
        let choices = |image: &Image| if image.choices.is_indexed() { image.choices } else { image.sampler_choices };
        self.image(inst).map_or(Choices::ONE, choices).count
    }

    /// Halves the range of elements until one is left.
    fn choose(&mut self, inst: InstId, index: Value, range: Range<u32>, out: &mut Vec<InstId>) {
        if range.len() < 2 {
            self.take(inst, range.start);
            return self.inst(inst, out);
        }
        let middle = range.start.midpoint(range.end);
        let bound = self.kernel.constant(Ty::B32, middle.into());
        let (flags, span) = (self.kernel.insts[inst].flags, self.kernel.insts[inst].span);
        let compare = self.kernel.add_inst(Op::Cmp(CmpOp::Lt, Scalar::U32), &[index, bound], &[Ty::Bool], flags, span);
        let [then, otherwise] = [range.start..middle, middle..range.end].map(|range| self.arm(inst, index, range));
        let condition: Vec<Value> = self.kernel.results(compare).collect();
        self.kernel.insts[inst].op = Op::If { then, otherwise };
        self.kernel.set_args(inst, &condition);
        out.extend([compare, inst]);
    }

    /// A block with the operation on some of the elements, which yields its results.
    fn arm(&mut self, inst: InstId, index: Value, range: Range<u32>) -> BlockId {
        let crate::kernel::Inst { op, flags, span, .. } = self.kernel.insts[inst];
        let args = self.kernel.args(inst).to_vec();
        let types: Vec<Ty> = self.kernel.results(inst).map(|result| self.kernel.ty(result)).collect();
        let own = self.kernel.add_inst(op, &args, &types, flags, span);
        let mut insts = Vec::new();
        self.choose(own, index, range, &mut insts);
        let results: Vec<Value> = self.kernel.results(own).collect();
        insts.push(self.kernel.add_inst(Op::Yield, &results, &[], flags, span));
        let block = self.kernel.add_block(&[]);
        self.kernel.blocks[block].insts = insts;
        block
    }

    /// Replaces the array of an operation by one of its elements, and removes the first index.
    fn take(&mut self, inst: InstId, number: u32) {
        let Some(array) = self.image(inst).cloned() else { return };
        let at = |first: BindingPoint, choices: Choices| BindingPoint {
            element: first.element + number * choices.step,
            ..first
        };
        let one = if array.choices.is_indexed() {
            Image { place: at(array.place, array.choices), choices: Choices::ONE, ..array.clone() }
        } else {
            let sampler = array.sampler.map(|sampler| at(sampler, array.sampler_choices));
            Image { sampler, sampler_choices: Choices::ONE, ..array.clone() }
        };
        let mut args = self.kernel.args(inst).to_vec();
        args.remove(args.len() - array.indices());
        self.kernel.set_args(inst, &args);
        let number = self.number(one);
        if let Op::Image { image, .. } = &mut self.kernel.insts[inst].op {
            *image = number;
        }
    }

    /// The number of an image, which is added if it is new.
    fn number(&mut self, image: Image) -> u32 {
        let images = &mut self.kernel.images;
        let found = images.iter().position(|known| *known == image).unwrap_or(images.len());
        if found == images.len() {
            images.push(image);
        }
        found as u32
    }
}
