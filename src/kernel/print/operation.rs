//! The words of operations, without their operands.

use crate::ir::print::{barrier_text, lane_text, scalar_name, snake};
use crate::ir::{ImageOp, ImageParts, Scalar};
use crate::kernel::{InstId, MemoryAccess, MemorySpace, Op, Site};
use crate::lane::{LaneFact, Primitive};

/// How an operation is written.
#[derive(Default)]
pub struct Words {
    /// The text before the operands.
    pub text: String,
    /// The construct that it names.
    pub target: Option<InstId>,
    /// The scalar type of its operands.
    pub scalar: Option<Scalar>,
    /// True if its first operand is an address.
    pub is_access: bool,
    /// The offset added to the address.
    pub offset: String,
    /// The text after the operands.
    pub after: String,
}

impl Words {
    fn plain(text: impl Into<String>) -> Words {
        Words { text: text.into(), ..Words::default() }
    }

    fn typed(text: &str, scalar: Scalar) -> Words {
        Words { scalar: Some(scalar), ..Words::plain(format!("{text}.{}", scalar_name(scalar))) }
    }

    fn target(text: &str, target: InstId) -> Words {
        Words { target: Some(target), ..Words::plain(text) }
    }

    fn access(text: &str, access: MemoryAccess) -> Words {
        let flags = [(access.coherent, " coherent"), (access.volatile, " volatile")];
        let flags: String = flags.iter().filter(|(set, _)| *set).map(|(_, word)| *word).collect();
        let MemoryAccess { components, bytes, align, .. } = access;
        Words {
            is_access: true,
            offset: if access.offset == 0 { String::new() } else { format!(" + {}", access.offset) },
            after: format!(" ({components} x {bytes} bytes, align {align}{flags})"),
            ..Words::plain(format!("{text} {}", space_text(access.space)))
        }
    }
}

/// `0`, `second 0` or `position`.
pub fn site_text(site: Site) -> String {
    match site {
        Site::Location(location) => location.to_string(),
        Site::SecondSource(location) => format!("second {location}"),
        Site::BuiltIn(built_in) => snake(built_in),
    }
}

fn space_text(space: MemorySpace) -> String {
    match space {
        MemorySpace::Buffer(index) => format!("buffer {index} "),
        MemorySpace::Push => "push ".to_owned(),
        MemorySpace::Shared => "shared ".to_owned(),
        MemorySpace::Private(variable) => format!("private {variable} "),
        MemorySpace::Physical => "physical ".to_owned(),
    }
}

/// The words of an operation.
pub fn words_of(op: &Op) -> Words {
    match *op {
        Op::Un(op, scalar) => Words::typed(&snake(op), scalar),
        Op::Bin(op, scalar) => Words::typed(&snake(op), scalar),
        Op::Cmp(op, scalar) => Words::typed(&snake(op), scalar),
        Op::Tern(op, scalar) => Words::typed(&snake(op), scalar),
        Op::BitInsert(scalar) => Words::typed("bit_insert", scalar),
        Op::Convert(from, to) => {
            let text = format!("convert.{}.{}", scalar_name(from), scalar_name(to));
            Words { scalar: Some(from), ..Words::plain(text) }
        }
        Op::BuiltIn(built_in, component) => Words::plain(format!("{}.{component}", snake(built_in))),
        Op::Input { location, component } => Words::plain(format!("input {location}.{component}")),
        Op::Interpolate { at, location, component } => {
            Words::plain(format!("interpolate.{} {location}.{component}", snake(at)))
        }
        Op::Output { site, component } => Words::plain(format!("output {}.{component}", site_text(site))),
        Op::Derivative(function) => Words::plain(snake(function)),
        Op::Image { op, image, parts } => Words::plain(image_text(op, image, parts)),
        Op::BufferBytes(buffer) => Words::plain(format!("buffer_bytes {buffer}")),
        Op::Barrier { execution, memory, kinds, order } => Words::plain(barrier_text(execution, memory, kinds, order)),
        Op::Load(access) => Words::access("load", access),
        Op::Store(access) => Words::access("store", access),
        Op::Atomic { op, ty, access, scope, order } => {
            let text = format!("atomic.{}.{}.{}.{}", snake(op), scalar_name(ty), snake(scope), snake(order));
            Words { scalar: Some(ty), ..Words::access(&text, access) }
        }
        Op::Repeat => Words::plain("repeat unless"),
        Op::Exit(target) => Words::target("exit", target),
        Op::Continue(target) => Words::target("continue", target),
        _ => across_lanes(op),
    }
}

fn across_lanes(op: &Op) -> Words {
    match *op {
        Op::Lane { op, ty: [first, second] } => {
            let second = if second == Scalar::BOOL { String::new() } else { format!(".{}", scalar_name(second)) };
            Words::plain(format!("lane.{}{second} {}", scalar_name(first), lane_text(op)))
        }
        Op::Prim { primitive, ty } => Words::plain(format!("prim.{} {}", scalar_name(ty), primitive_text(primitive))),
        Op::CombineMoved { op, ty, primitive } => {
            Words::plain(format!("{}.{} moved by {}", snake(op), scalar_name(ty), primitive_text(primitive)))
        }
        Op::Fact(LaneFact::Mask(op)) => Words::plain(format!("lane_mask.{}", snake(op))),
        Op::Fact(fact) => Words::plain(format!("lane_{}", snake(fact))),
        Op::MaskAlu(op) => Words::plain(format!("mask.{}", snake(op))),
        // The variant's name is complete.
        ref other => Words::plain(snake(other)),
    }
}

/// `image 2 sample [coordinate bias]`: the parts in the order of their operands.
fn image_text(op: ImageOp, image: u32, parts: ImageParts) -> String {
    let name = match op {
        ImageOp::Atomic(op, scope, order) => format!("atomic.{}.{}.{}", snake(op), snake(scope), snake(order)),
        op => snake(op),
    };
    let parts: Vec<String> = parts.iter_names().map(|(name, _)| name.to_lowercase()).collect();
    format!("image {image} {name} [{}]", parts.join(" "))
}

/// A primitive with all its parameters, as the planner's tables name them: `nv.Shuffle(Xor)`, `Dpp16 { control: … }`.
fn primitive_text(primitive: Primitive) -> String {
    match primitive {
        Primitive::Group(op) => format!("group.{op:?}"),
        Primitive::Nv(op) => format!("nv.{op:?}"),
        Primitive::Dpp16(op) => format!("{op:?}"),
        Primitive::Dpp8(op) => format!("{op:?}"),
        Primitive::Lds(op) => format!("lds.{op:?}"),
        Primitive::Permlane(op) => format!("permlane.{op:?}"),
        Primitive::Scalar(op) => format!("scalar.{op:?}"),
    }
}
