//! Transform feedback: the outputs that are written to buffers, and their places (GLSL 4.60 section 4.4.2,
//! `xfb_buffer`, `xfb_offset`, `xfb_stride`).

use super::Sema;
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::LayoutId;
use crate::ir::build::Builder;
use crate::ir::{ArrayLen, Feedback, GlobalId, Module, Scalar, Type, TypeId};
use crate::source::Span;

/// Number of buffers for outputs.
const BUFFERS: u32 = 4;

/// The parts of one `layout(…)`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct FeedbackLayout {
    pub buffer: Option<u32>,
    pub stride: Option<(u32, Span)>,
    pub offset: Option<u32>,
}

/// The declarations so far.
#[derive(Default, Debug)]
pub struct Captured {
    /// The default buffer of outputs.
    usual: u32,
    /// Strides as they were declared.
    strides: [Option<u32>; BUFFERS as usize],
    /// End of the used part of each buffer, and the required factor of its stride.
    ends: [(u32, u32); BUFFERS as usize],
    list: Vec<Feedback>,
}

impl Sema<'_> {
    /// Reads an identifier that starts with `xfb_`.
    pub fn feedback_id(&mut self, b: &mut Builder<'_>, id: &LayoutId, layout: &mut FeedbackLayout) -> Option<()> {
        let value = self.layout_value(b, id)?;
        match self.text(id.name.symbol) {
            "xfb_buffer" if value < BUFFERS => layout.buffer = Some(value),
            "xfb_buffer" => {
                let message = format!("transform feedback has the buffers 0 to {}", BUFFERS - 1);
                self.error(Code::BAD_LAYOUT, id.span, message, "no such buffer");
            }
            "xfb_offset" => layout.offset = Some(value),
            "xfb_stride" => layout.stride = Some((value, id.span)),
            _ => self.unknown_layout_id(id),
        }
        Some(())
    }

    /// The stride of a buffer, if a layout sets one: its own, the enclosing block's, or the default.
    pub fn feedback_stride(&mut self, layout: FeedbackLayout, block: FeedbackLayout) {
        let Some((stride, span)) = layout.stride else { return };
        let buffer = layout.buffer.or(block.buffer).unwrap_or(self.feedback.usual) as usize;
        let known = self.feedback.strides[buffer].replace(stride);
        if !stride.is_multiple_of(2) {
            self.error(Code::BAD_LAYOUT, span, format!("the stride {stride} is odd"), "not aligned");
        } else if known.is_some_and(|known| known != stride) {
            self.error(Code::BAD_LAYOUT, span, "this buffer has two strides", "the second one");
        }
    }

    /// `layout(xfb_buffer = 1, xfb_stride = 32) out;`
    pub fn usual_feedback(&mut self, b: &mut Builder<'_>, id: &LayoutId) {
        let mut layout = FeedbackLayout::default();
        if self.feedback_id(b, id, &mut layout).is_some() {
            self.feedback.usual = layout.buffer.unwrap_or(self.feedback.usual);
            self.feedback_stride(layout, layout);
        }
    }

    /// Notes an output, or a member of a block, that has an offset. Gives the first byte after it.
    pub fn capture(
        &mut self,
        b: &Builder<'_>,
        (global, member): (GlobalId, Option<u32>),
        ty: TypeId,
        layout: FeedbackLayout,
        span: Span,
    ) -> Option<u32> {
        let offset = layout.offset?;
        let (bytes, align) = captured_size(b, ty);
        if bytes == 0 || !offset.is_multiple_of(align) {
            let message = format!("the offset {offset} is not a multiple of {align}");
            self.report(Diagnostic::error(Code::BAD_LAYOUT, message).at(span, "captured there"));
            return None;
        }
        let buffer = layout.buffer.unwrap_or(self.feedback.usual);
        let end = offset.checked_add(bytes)?;
        let (most, least) = self.feedback.ends[buffer as usize];
        self.feedback.ends[buffer as usize] = (most.max(end), least.max(align));
        self.feedback.list.push(Feedback { global, member, buffer, stride: 0, offset });
        Some(end)
    }

    /// Computes the strides after all declarations: a stride that is not stated reaches to the last output.
    pub fn close_feedback(&mut self, module: &mut Module) {
        let Captured { strides, ends, list, .. } = &mut self.feedback;
        for mut feedback in std::mem::take(list) {
            let (end, align) = ends[feedback.buffer as usize];
            let stride = strides[feedback.buffer as usize];
            feedback.stride = stride.unwrap_or_else(|| end.next_multiple_of(align.max(4)));
            module.feedback.push(feedback);
        }
    }
}

/// Size of a captured output in bytes, and the alignment of its offset.
pub fn captured_size(b: &Builder<'_>, ty: TypeId) -> (u32, u32) {
    let types = &b.module.types;
    let of = |scalar: Scalar, count: u32| (scalar.bytes().saturating_mul(count), scalar.bytes());
    match types.get(ty) {
        Type::Scalar(scalar) => of(scalar, 1),
        Type::Vector { scalar, size } => of(scalar, size.into()),
        Type::Matrix { scalar, columns, rows, .. } => of(scalar, u32::from(columns) * u32::from(rows)),
        Type::Array { element, len: ArrayLen::Fixed(len), .. } => {
            let (bytes, align) = captured_size(b, element);
            (bytes.next_multiple_of(align).saturating_mul(len), align)
        }
        Type::Struct(id) => types.structs[id].members.iter().fold((0, 1), |(bytes, align), member| {
            let (size, own) = captured_size(b, member.ty);
            (u32::saturating_add(bytes.next_multiple_of(own), size), align.max(own))
        }),
        _ => (0, 4),
    }
}
