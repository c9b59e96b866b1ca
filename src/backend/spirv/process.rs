//! Image processing of SPV_QCOM_image_processing and SPV_QCOM_image_processing2: weighted samples, box filters, and
//! differences between blocks of two images. The variables of the images and samplers are decorated.

use super::function::Body;
use super::image::Operands;
use crate::ir::{self, BlockWindow, ImageOp, ImageParts, TypeId, Value};
use rspirv::spirv::{Decoration, Op, Word};
use smallvec::{SmallVec, smallvec};

/// Opcodes by window and by whether differences are squared.
const fn opcode(op: ImageOp) -> Option<Op> {
    Some(match op {
        ImageOp::Weighted => Op::ImageSampleWeightedQCOM,
        ImageOp::BoxFilter => Op::ImageBoxFilterQCOM,
        ImageOp::BlockMatch { squared, window } => match (window, squared) {
            (BlockWindow::Single, false) => Op::ImageBlockMatchSADQCOM,
            (BlockWindow::Single, true) => Op::ImageBlockMatchSSDQCOM,
            (BlockWindow::Window, false) => Op::ImageBlockMatchWindowSADQCOM,
            (BlockWindow::Window, true) => Op::ImageBlockMatchWindowSSDQCOM,
            (BlockWindow::Gather, false) => Op::ImageBlockMatchGatherSADQCOM,
            (BlockWindow::Gather, true) => Op::ImageBlockMatchGatherSSDQCOM,
        },
        _ => return None,
    })
}

impl Body<'_, '_> {
    pub fn process(&mut self, ty: TypeId, op: ImageOp, operands: &Operands) -> Word {
        let Some(opcode) = opcode(op) else { return self.m.internal("image processing that is none") };
        // The second extension builds on the first, and does not add its decorations.
        self.m.needs.extension("SPV_QCOM_image_processing");
        self.decorate_processed(op, operands);
        let parts = [ImageParts::COORDINATE, ImageParts::OTHER, ImageParts::OTHER_COORDINATE, ImageParts::EXTENT];
        let mut words: SmallVec<[Word; 8]> = smallvec![operands.words[0]];
        words.extend(parts.into_iter().filter_map(|part| operands.word(part)));
        let ty = self.m.value_type(ty);
        self.emit(opcode, ty, &words)
    }

    fn decorate_processed(&mut self, op: ImageOp, operands: &Operands) {
        let other = operands.at(ImageParts::OTHER).map(|at| operands.values[at]);
        match op {
            ImageOp::Weighted => self.decorate_source(other, Decoration::WeightTextureQCOM, None),
            ImageOp::BlockMatch { window, .. } => {
                let sampler = (window != BlockWindow::Single).then_some(Decoration::BlockMatchSamplerQCOM);
                self.decorate_source(Some(operands.values[0]), Decoration::BlockMatchTextureQCOM, sampler);
                self.decorate_source(other, Decoration::BlockMatchTextureQCOM, sampler);
            }
            _ => {}
        }
    }

    /// Decorates the variables that a sampled image is loaded from: a single one, or one for the image and one for the
    /// sampler.
    fn decorate_source(&mut self, source: Option<Value>, image: Decoration, sampler: Option<Decoration>) {
        let Some(Value::Inst(id)) = source else { return };
        match self.f.insts[id].op {
            ir::Op::Load(pointer) => {
                self.decorate_once(pointer, image);
                sampler.into_iter().for_each(|decoration| self.decorate_once(pointer, decoration));
            }
            ir::Op::Image { op: ImageOp::Combine, operands, .. } => {
                let f = self.f;
                let [of, with] = f.values(operands) else { return };
                self.decorate_source(Some(*of), image, None);
                if let Some(decoration) = sampler {
                    self.decorate_source(Some(*with), decoration, None);
                }
            }
            _ => {}
        }
    }

    fn decorate_once(&mut self, pointer: Value, decoration: Decoration) {
        let word = self.value(pointer);
        if self.m.globals.processed.insert((word, decoration as Word)) {
            self.m.decorate(word, decoration, &[]);
        }
    }
}
