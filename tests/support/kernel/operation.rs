//! Operations with their operands.

use super::Read;
use super::body::Body;
use super::header::site;
use super::words::{Words, debug, named, number, scalar};
use crosslane::ir::{AtomicOp, ImageOp, ImageParts, MemoryKinds, Scalar};
use crosslane::kernel::{MemoryAccess, MemorySpace, Op, Value};
use crosslane::lane::{Group, LaneFact, LaneOp, Members, Primitive, QuadMove, ReduceOp, Swap, Width};

impl<'t> Body<'_, 't> {
    /// An operation, and its operands.
    pub fn operation(&mut self, words: &mut Words<'t>) -> Read<(Op, Vec<Value>)> {
        let word = words.word()?;
        let parts: Vec<&str> = word.split('.').collect();
        let op = match *parts {
            ["load"] => return self.access(words, Op::Load),
            ["store"] => return self.access(words, Op::Store),
            ["atomic", op, ty, scope, order] => {
                let (op, ty, scope, order) = (named(op)?, scalar(ty)?, named(scope)?, named(order)?);
                return self.access(words, |access| Op::Atomic { op, ty, access, scope, order });
            }
            ["exit"] => Op::Exit(self.target(words)?),
            ["continue"] => Op::Continue(self.target(words)?),
            ["repeat"] => words.expect("unless").map(|()| Op::Repeat)?,
            _ => operation(&parts, words)?,
        };
        Ok((op, self.operands(words)?))
    }

    /// `buffer 0 [%1 + 16] %2 (1 x 4 bytes, align 4 coherent)`.
    fn access(&mut self, words: &mut Words<'t>, op: impl Fn(MemoryAccess) -> Op) -> Read<(Op, Vec<Value>)> {
        let space = space(words)?;
        words.expect("[")?;
        let mut args = vec![self.value(words)?];
        let offset = if words.eat("+") { words.number()? } else { 0 };
        words.expect("]")?;
        args.extend(self.operands(words)?);
        words.expect("(")?;
        let components = words.number()?;
        words.expect("x")?;
        let bytes = words.number()?;
        words.expect("bytes, align")?;
        let align = words.number()?;
        let (coherent, volatile) = (words.eat("coherent"), words.eat("volatile"));
        words.expect(")")?;
        Ok((op(MemoryAccess { space, offset, bytes, components, align, coherent, volatile }), args))
    }
}

fn space(words: &mut Words<'_>) -> Read<MemorySpace> {
    Ok(match words.name()? {
        "buffer" => MemorySpace::Buffer(words.number()?),
        "push" => MemorySpace::Push,
        "shared" => MemorySpace::Shared,
        "private" => MemorySpace::Private(words.number()?),
        "physical" => MemorySpace::Physical,
        other => return Err(format!("unknown memory `{other}`")),
    })
}

/// Reads an operation that names neither memory nor constructs.
fn operation(parts: &[&str], words: &mut Words<'_>) -> Read<Op> {
    Ok(match *parts {
        ["select"] => Op::Select,
        ["join"] => Op::Join,
        ["low"] => Op::Low,
        ["high"] => Op::High,
        ["kill"] => Op::Kill,
        ["yield"] => Op::Yield,
        ["return"] => Op::Return,
        ["unreachable"] => Op::Unreachable,
        ["mask_from_words"] => Op::MaskFromWords,
        ["bit_insert", ty] => Op::BitInsert(scalar(ty)?),
        ["convert", from, to] => Op::Convert(scalar(from)?, scalar(to)?),
        ["buffer_bytes"] => Op::BufferBytes(words.number()?),
        ["input"] => {
            let (location, component) = place(words)?;
            Op::Input { location, component }
        }
        ["interpolate", at] => {
            let (location, component) = place(words)?;
            Op::Interpolate { at: named(at)?, location, component }
        }
        ["output"] => {
            let site = site(words)?;
            words.expect(".")?;
            Op::Output { site, component: words.number()? }
        }
        ["image"] => image(words)?,
        ["barrier"] => barrier(words)?,
        ["lane", ty] => Op::Lane { op: lane(words)?, ty: [scalar(ty)?, Scalar::BOOL] },
        ["lane", first, second] => Op::Lane { op: lane(words)?, ty: [scalar(first)?, scalar(second)?] },
        ["prim", ty] => Op::Prim { primitive: primitive(words)?, ty: scalar(ty)? },
        ["lane_mask", op] => Op::Fact(LaneFact::Mask(named(op)?)),
        ["lane_index"] => Op::Fact(LaneFact::Index),
        ["lane_size"] => Op::Fact(LaneFact::Size),
        ["lane_in_set"] => {
            words.expect("(")?;
            let lanes = words.number()?;
            words.expect(")")?;
            Op::Fact(LaneFact::InSet(lanes))
        }
        ["mask", op] => Op::MaskAlu(named(op)?),
        [derivative] => Op::Derivative(named(derivative)?),
        [built_in, component] if component.parse::<u8>().is_ok() => Op::BuiltIn(named(built_in)?, number(component)?),
        [op, ty] => arithmetic(op, scalar(ty)?, words)?,
        _ => return Err(format!("unknown operation `{}`", parts.join("."))),
    })
}

/// The location and component of `3.1`.
fn place(words: &mut Words<'_>) -> Read<(u32, u8)> {
    let word = words.word()?;
    let (location, component) = word.split_once('.').ok_or_else(|| format!("`{word}` has no component"))?;
    Ok((number(location)?, number(component)?))
}

fn arithmetic(op: &str, ty: Scalar, words: &mut Words<'_>) -> Read<Op> {
    if words.eat("moved by") {
        return Ok(Op::CombineMoved { op: named::<ReduceOp>(op)?, ty, primitive: primitive(words)? });
    }
    let unary = named(op).map(|op| Op::Un(op, ty));
    let binary = || named(op).map(|op| Op::Bin(op, ty));
    let comparison = || named(op).map(|op| Op::Cmp(op, ty));
    unary.or_else(|_| binary()).or_else(|_| comparison()).or_else(|_| named(op).map(|op| Op::Tern(op, ty)))
}

/// `2 sample [coordinate bias]`.
fn image(words: &mut Words<'_>) -> Read<Op> {
    let image = words.number()?;
    let word = words.word()?;
    let names: Vec<&str> = word.split('.').collect();
    let op = match *names {
        ["atomic", op, scope, order] => ImageOp::Atomic(named::<AtomicOp>(op)?, named(scope)?, named(order)?),
        _ => named(word)?,
    };
    words.expect("[")?;
    let mut parts = ImageParts::empty();
    for name in words.until("]")?.split_whitespace() {
        parts |= ImageParts::from_name(&name.to_uppercase()).ok_or_else(|| format!("unknown part `{name}`"))?;
    }
    Ok(Op::Image { op, image, parts })
}

/// `execution workgroup, memory workgroup (shared) acquire_release`.
fn barrier(words: &mut Words<'_>) -> Read<Op> {
    let execution = if words.eat("execution") { Some(named(words.name()?)?) } else { None };
    words.eat(",");
    words.expect("memory")?;
    let memory = named(words.name()?)?;
    words.expect("(")?;
    let mut kinds = MemoryKinds::empty();
    for name in words.until(")")?.split_whitespace() {
        kinds |= MemoryKinds::from_name(&name.to_uppercase()).ok_or_else(|| format!("unknown memory `{name}`"))?;
    }
    Ok(Op::Barrier { execution, memory, kinds, order: named(words.name()?)? })
}

/// `nv.Shuffle(Xor)`, `Dpp16 { control: RowShr(1), … }`.
fn primitive(words: &mut Words<'_>) -> Read<Primitive> {
    let family = if words.rest().starts_with("Dpp") { "" } else { words.name()? };
    if !family.is_empty() {
        words.expect(".")?;
    }
    Ok(match family {
        "group" => Primitive::Group(debug(words)?),
        "nv" => Primitive::Nv(debug(words)?),
        "lds" => Primitive::Lds(debug(words)?),
        "permlane" => Primitive::Permlane(debug(words)?),
        "scalar" => Primitive::Scalar(debug(words)?),
        _ if words.rest().starts_with("Dpp16") => Primitive::Dpp16(debug(words)?),
        _ => Primitive::Dpp8(debug(words)?),
    })
}

/// `all_reduce.add<16>`, `shuffle.xor`, `vote.any<quad>`.
fn lane(words: &mut Words<'_>) -> Read<LaneOp> {
    let word = words.word()?;
    let argument = if words.eat("<") { words.until(">")? } else { "" };
    let parts: Vec<&str> = word.split('.').collect();
    let of_width = || width(argument);
    Ok(match *parts {
        ["quad", mv, ref rest @ ..] => LaneOp::Quad { mv: quad(mv)?, float_only: *rest == ["float_only"] },
        ["quad_add", mv] => LaneOp::QuadAdd(quad(mv)?),
        ["quad_permute"] => LaneOp::QuadPermute(hexadecimal(argument)?),
        ["quad_permute_zero"] => LaneOp::QuadPermuteZero(hexadecimal(argument)?),
        ["shuffle", mode] => LaneOp::Shuffle(named(mode)?),
        ["rotate"] => LaneOp::Rotate(of_width()?),
        ["shuffle_nv", mode] => LaneOp::ShuffleNv(named(mode)?),
        ["shuffle_nv_valid", mode] => LaneOp::ShuffleNvValid(named(mode)?),
        ["swizzle_masked"] => swizzle(&mut Words::new(argument))?,
        ["segmented", op] => LaneOp::Segmented { op: named(op)?, width: of_width()? },
        ["partitioned", kind, op] => LaneOp::Partitioned { op: named(op)?, kind: named(kind)? },
        ["sort"] => LaneOp::Sort { width: of_width()? },
        ["vote", op] => LaneOp::Vote { op: named(op)?, group: group(argument)? },
        ["ballot"] => LaneOp::Ballot(group(argument)?),
        ["ballot_count", count] => LaneOp::BallotCount(named(count)?),
        ["lane_index"] => LaneOp::LaneIndex(group(argument)?),
        ["lane_count"] => LaneOp::LaneCount(group(argument)?),
        ["segment_last"] => LaneOp::SegmentLast(of_width()?),
        ["lane_mask", mask] => LaneOp::LaneMask(named(mask)?, group(argument)?),
        [swap] if let Ok(swap) = named::<Swap>(swap) => LaneOp::Swap(swap, of_width()?),
        [kind, op, ref rest @ ..] => {
            let members = if *rest == ["active"] { Members::Active } else { Members::All };
            LaneOp::Reduce { op: named(op)?, kind: named(kind)?, width: of_width()?, members }
        }
        _ => named(word)?,
    })
}

fn quad(word: &str) -> Read<QuadMove> {
    number(word).map(QuadMove::Lane).or_else(|_: String| named(word))
}

fn hexadecimal(word: &str) -> Read<u8> {
    let digits = word.strip_prefix("0x").unwrap_or(word);
    u8::from_str_radix(digits, 16).map_err(|_| format!("`{word}` is not a byte"))
}

fn width(word: &str) -> Read<Width> {
    if word == "subgroup" {
        return Ok(Width::SUBGROUP);
    }
    Width::new(number(word)?).ok_or_else(|| format!("`{word}` is not a width"))
}

fn group(word: &str) -> Read<Group> {
    // A segment of the whole subgroup is written as the subgroup is.
    named(word).or_else(|_: String| width(word).map(Group::Segment))
}

/// `and 1, or 2, xor 3`.
fn swizzle(words: &mut Words<'_>) -> Read<LaneOp> {
    words.expect("and")?;
    let and = words.number()?;
    words.expect(", or")?;
    let or = words.number()?;
    words.expect(", xor")?;
    Ok(LaneOp::SwizzleMasked { and, or, xor: words.number()? })
}
