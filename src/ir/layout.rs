//! Memory layouts: offsets, strides and sizes, by rule or as the source states them.
//!
//! The rules are those of GLSL 4.60 section 7.6.2.2 ("Standard Uniform Block Layout", with std430's exceptions at its
//! end) and of GL_EXT_scalar_block_layout. A struct gets a laid-out twin (see [`super::types`]) for each rule and
//! matrix order in which it is used. The front ends decide which rule a block may use, and implement WGSL's rule
//! themselves.

use super::fold::Specializer;
use super::{ArrayLen, Constants, MatrixLayout, Module, Scalar, StructId, Type, TypeId, Types};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::fmt;

/// How deeply types may be nested.
pub const DEPTH_LIMIT: u32 = 256;

/// A layout rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rule {
    /// Arrays and structs are aligned to 16 bytes.
    Std140,
    /// Vectors of three align like vectors of four, arrays and structs like their parts.
    Std430,
    /// Every type has the alignment of its scalars; there is no padding at the end.
    Scalar,
}

/// The source's layout of one member of a block.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct MemberRule {
    pub offset: Option<u32>,
    pub align: Option<u32>,
    /// `row_major` or `column_major`; the block's order when absent.
    pub row_major: Option<bool>,
}

/// The reason that a type has no layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Problem {
    /// This kind of memory cannot contain such a type.
    NotStorable(TypeId),
    /// `align` is not a power of two.
    BadAlign(u32),
    /// The offset is not a multiple of the alignment that the type needs.
    Misaligned { offset: u32, align: u32 },
    /// The member overlaps another one.
    Overlap { other: u32 },
    /// A run-time array that is not at the end.
    RuntimeNotLast,
    /// The length of the array is unknown or not a valid size.
    UnknownLength,
    /// The type is larger than 4 GiB.
    TooLarge,
    /// Structs and arrays are nested deeper than [`DEPTH_LIMIT`].
    TooDeep,
}

/// An impossible layout, and the member of the outermost struct that causes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LayoutError {
    pub member: Option<u32>,
    pub problem: Problem,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::NotStorable(_) => f.write_str("a type like this cannot lie in memory with a layout"),
            Problem::BadAlign(align) => write!(f, "the alignment {align} is not a power of two"),
            Problem::Misaligned { offset, align } => {
                write!(f, "the offset {offset} is not a multiple of the alignment, which is {align}")
            }
            Problem::Overlap { .. } => f.write_str("this member lies within another one"),
            Problem::RuntimeNotLast => f.write_str("an array without a size must be the last member of a block"),
            Problem::UnknownLength => f.write_str("the size of this array is not known"),
            Problem::TooDeep => write!(f, "types are nested deeper than {DEPTH_LIMIT}"),
            Problem::TooLarge => f.write_str("the type is larger than 4 GiB"),
        }
    }
}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl From<Problem> for LayoutError {
    fn from(problem: Problem) -> LayoutError {
        LayoutError { member: None, problem }
    }
}

/// A type with its layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Laid {
    pub ty: TypeId,
    /// Size in bytes, including padding at its end if the rule has some; 0 for a run-time array.
    pub size: u32,
    pub align: u32,
}

/// Computes layouts, once per struct, rule and matrix order.
#[derive(Clone, Debug, Default)]
pub struct Layouts {
    twins: FxHashMap<(StructId, Rule, bool), Laid>,
    lengths: Specializer,
    depth: u32,
    /// Run-time arrays may be before the last member of the outermost struct.
    open_members: bool,
}

impl Layouts {
    pub fn new() -> Layouts {
        Layouts::default()
    }

    /// Layouts for a language in which the length of an array before the last member can become known later. Until then
    /// it counts as empty.
    pub fn with_open_members() -> Layouts {
        Layouts { open_members: true, ..Layouts::default() }
    }

    /// The laid-out form of a logical type. Matrices are row-major if `row_major`.
    ///
    /// # Errors
    /// Returns an error if the type, or a part of it, has no layout.
    pub fn lay_out(&mut self, module: &mut Module, ty: TypeId, rule: Rule, row_major: bool) -> Result<Laid, Problem> {
        if self.depth == DEPTH_LIMIT {
            return Err(Problem::TooDeep);
        }
        self.depth += 1;
        let laid = self.lay_out_inner(module, ty, rule, row_major);
        self.depth -= 1;
        laid
    }

    fn lay_out_inner(&mut self, module: &mut Module, ty: TypeId, rule: Rule, row_major: bool) -> Result<Laid, Problem> {
        match module.types.get(ty) {
            Type::Scalar(scalar) | Type::Vector { scalar, .. } if scalar.is_below_byte() => {
                Err(Problem::NotStorable(ty))
            }
            Type::Scalar(scalar) => Ok(Laid { ty, size: scalar.bytes(), align: scalar.bytes() }),
            Type::Vector { scalar, size } => Ok(lay_out_vector(ty, scalar, size, rule)),
            Type::Matrix { scalar, columns, rows, .. } => {
                Ok(lay_out_matrix(&mut module.types, scalar, (columns, rows), rule, row_major))
            }
            Type::Array { element, len, .. } => self.lay_out_array(module, element, len, rule, row_major),
            Type::Struct(id) => self.lay_out_struct(module, id, rule, row_major, &[]).map_err(|error| error.problem),
            Type::BufferReference { .. } => Ok(Laid { ty, size: 8, align: 8 }),
            _ => Err(Problem::NotStorable(ty)),
        }
    }

    fn lay_out_array(
        &mut self,
        module: &mut Module,
        element: TypeId,
        len: ArrayLen,
        rule: Rule,
        row_major: bool,
    ) -> Result<Laid, Problem> {
        if is_runtime_sized(&module.types, element) {
            return Err(Problem::RuntimeNotLast);
        }
        let part = self.lay_out(module, element, rule, row_major)?;
        let align = aggregate_align(rule, part.align);
        let stride = round_up(part.size, align)?;
        let ty = module.types.intern(Type::Array { element: part.ty, len, stride: Some(stride) });
        let count = self.length(module, len)?;
        let whole = stride.checked_mul(count).ok_or(Problem::TooLarge)?;
        // Scalar layout omits the padding after the last element.
        let padding = if rule == Rule::Scalar && count > 0 { stride - part.size } else { 0 };
        Ok(Laid { ty, size: whole - padding, align })
    }

    /// Elements of an array. Specialization constants count as their defaults; a run-time array has none.
    fn length(&mut self, module: &mut Module, len: ArrayLen) -> Result<u32, Problem> {
        let id = match len {
            ArrayLen::Fixed(count) => return Ok(count),
            ArrayLen::Runtime => return Ok(0),
            ArrayLen::Spec(id) => id,
        };
        let Module { types, constants, .. } = module;
        let known = self.lengths.get(types, constants, id, |_| None).ok_or(Problem::UnknownLength)?;
        let count = constants.as_int(types, known).ok_or(Problem::UnknownLength)?;
        u32::try_from(count).map_err(|_| Problem::UnknownLength)
    }

    /// The laid-out twin of a logical struct. `members` has the source's layout of its members; it may be shorter.
    ///
    /// # Errors
    /// Returns an error if a member has no layout, or cannot have the requested one.
    pub fn lay_out_struct(
        &mut self,
        module: &mut Module,
        id: StructId,
        rule: Rule,
        row_major: bool,
        members: &[MemberRule],
    ) -> Result<Laid, LayoutError> {
        let plain = members.iter().all(|member| *member == MemberRule::default());
        if let Some(twin) = self.twins.get(&(id, rule, row_major)).filter(|_| plain) {
            return Ok(*twin);
        }
        let laid = self.make_twin(module, id, rule, row_major, members)?;
        if plain {
            self.twins.insert((id, rule, row_major), laid);
        }
        Ok(laid)
    }

    fn make_twin(
        &mut self,
        module: &mut Module,
        id: StructId,
        rule: Rule,
        row_major: bool,
        rules: &[MemberRule],
    ) -> Result<Laid, LayoutError> {
        let mut twin = module.types.structs[id].clone();
        let mut place = Placement::new(rule);
        let count = twin.members.len();
        for (index, member) in twin.members.iter_mut().enumerate() {
            let blame = |problem| LayoutError { member: Some(index as u32), problem };
            let open = self.open_members && matches!(module.types.get(member.ty), Type::Array { .. });
            if index + 1 < count && !open && is_runtime_sized(&module.types, member.ty) {
                return Err(blame(Problem::RuntimeNotLast));
            }
            let written = rules.get(index).copied().unwrap_or_default();
            let order = written.row_major.unwrap_or(row_major);
            let laid = self.lay_out(module, member.ty, rule, order).map_err(blame)?;
            member.ty = laid.ty;
            member.offset = Some(place.member(laid, written).map_err(blame)?);
        }
        place.check_overlap()?;
        twin.logical = Some(id);
        let (size, align) = place.whole()?;
        Ok(Laid { ty: module.types.add_struct(twin), size, align })
    }
}

/// The placement of the members of one struct.
struct Placement {
    rule: Rule,
    /// First byte after the member placed last.
    next: u32,
    /// First byte after all members.
    end: u32,
    align: u32,
    /// Start and end of each member; checked if the source gives offsets.
    taken: SmallVec<[(u32, u32); 8]>,
    explicit: bool,
}

impl Placement {
    fn new(rule: Rule) -> Placement {
        Placement { rule, next: 0, end: 0, align: 1, taken: SmallVec::new(), explicit: false }
    }

    /// The offset of the next member.
    fn member(&mut self, laid: Laid, written: MemberRule) -> Result<u32, Problem> {
        if let Some(align) = written.align.filter(|align| !align.is_power_of_two()) {
            return Err(Problem::BadAlign(align));
        }
        if let Some(offset) = written.offset.filter(|offset| !offset.is_multiple_of(laid.align)) {
            return Err(Problem::Misaligned { offset, align: laid.align });
        }
        let align = laid.align.max(written.align.unwrap_or(1));
        let offset = round_up(written.offset.unwrap_or(self.next), align)?;
        self.next = offset.checked_add(laid.size).ok_or(Problem::TooLarge)?;
        self.end = self.end.max(self.next);
        self.align = self.align.max(align);
        self.explicit |= written.offset.is_some();
        self.taken.push((offset, self.next));
        Ok(offset)
    }

    fn check_overlap(&self) -> Result<(), LayoutError> {
        if self.explicit { check_overlap(&self.taken) } else { Ok(()) }
    }

    /// Size and alignment of the struct.
    fn whole(&self) -> Result<(u32, u32), Problem> {
        let align = aggregate_align(self.rule, self.align);
        match self.rule {
            Rule::Scalar => Ok((self.end, align)),
            Rule::Std140 | Rule::Std430 => Ok((round_up(self.end, align)?, align)),
        }
    }
}

/// Finds the first member that overlaps another one (GLSL 4.60 section 4.4.5).
fn check_overlap(taken: &[(u32, u32)]) -> Result<(), LayoutError> {
    let mut order: Vec<usize> = (0..taken.len()).collect();
    order.sort_by_key(|index| taken[*index]);
    for pair in order.windows(2) {
        if taken[pair[1]].0 < taken[pair[0]].1 {
            let (early, late) = (pair[0].min(pair[1]) as u32, pair[0].max(pair[1]) as u32);
            return Err(LayoutError { member: Some(late), problem: Problem::Overlap { other: early } });
        }
    }
    Ok(())
}

fn round_up(value: u32, align: u32) -> Result<u32, Problem> {
    value.checked_next_multiple_of(align).ok_or(Problem::TooLarge)
}

/// Alignment of an array or struct whose parts need `align`.
fn aggregate_align(rule: Rule, align: u32) -> u32 {
    match rule {
        Rule::Std140 => align.next_multiple_of(16),
        Rule::Std430 | Rule::Scalar => align,
    }
}

/// Alignment of a vector: rules 1 to 3.
fn vector_align(scalar: Scalar, size: u8, rule: Rule) -> u32 {
    match (rule, size) {
        (Rule::Scalar, _) => scalar.bytes(),
        (_, 3) => 4 * scalar.bytes(),
        _ => u32::from(size) * scalar.bytes(),
    }
}

fn lay_out_vector(ty: TypeId, scalar: Scalar, size: u8, rule: Rule) -> Laid {
    Laid { ty, size: u32::from(size) * scalar.bytes(), align: vector_align(scalar, size, rule) }
}

/// A matrix has the layout of an array of its columns, or of its rows: rules 5 and 7.
fn lay_out_matrix(types: &mut Types, scalar: Scalar, (columns, rows): (u8, u8), rule: Rule, row_major: bool) -> Laid {
    let (count, length) = if row_major { (rows, columns) } else { (columns, rows) };
    let align = aggregate_align(rule, vector_align(scalar, length, rule));
    let stride = (u32::from(length) * scalar.bytes()).next_multiple_of(align);
    let layout = Some(MatrixLayout { stride, row_major });
    let ty = types.intern(Type::Matrix { scalar, columns, rows, layout });
    Laid { ty, size: stride * u32::from(count), align }
}

/// Returns true if a type is a run-time array or ends in one.
fn is_runtime_sized(types: &Types, mut ty: TypeId) -> bool {
    loop {
        match types.get(ty) {
            Type::Array { len, .. } => return len == ArrayLen::Runtime,
            Type::Struct(id) => match types.structs[id].members.last() {
                Some(last) => ty = last.ty,
                None => return false,
            },
            _ => return false,
        }
    }
}

/// Size of a laid-out type in bytes, without padding at the end. A run-time array counts as empty and a specialization
/// constant as its default. `None` for types without a layout and for lengths that only [`Layouts`] can compute.
pub fn size_of(types: &Types, constants: &Constants, ty: TypeId) -> Option<u32> {
    match types.get(ty) {
        Type::Scalar(scalar) => Some(scalar.bytes()),
        Type::Vector { scalar, size } => Some(u32::from(size) * scalar.bytes()),
        Type::Matrix { scalar, columns, rows, layout } => {
            let layout = layout?;
            let (count, length) = if layout.row_major { (rows, columns) } else { (columns, rows) };
            Some(layout.stride * u32::from(count - 1) + u32::from(length) * scalar.bytes())
        }
        Type::Array { element, len, stride } => match default_length(constants, len)? {
            0 => Some(0),
            count => stride?.checked_mul(count - 1)?.checked_add(size_of(types, constants, element)?),
        },
        Type::Struct(id) => {
            let ends = types.structs[id].members.iter().map(|member| {
                let size = size_of(types, constants, member.ty)?;
                member.offset?.checked_add(size)
            });
            ends.collect::<Option<Vec<u32>>>().map(|ends| ends.into_iter().max().unwrap_or(0))
        }
        Type::BufferReference { .. } => Some(8),
        _ => None,
    }
}

fn default_length(constants: &Constants, len: ArrayLen) -> Option<u32> {
    match len {
        ArrayLen::Fixed(count) => Some(count),
        ArrayLen::Runtime => Some(0),
        ArrayLen::Spec(id) => match constants.get(id).value {
            super::ConstValue::Spec { default, .. } => u32::try_from(default).ok(),
            _ => constants.bits(id).and_then(|bits| u32::try_from(bits).ok()),
        },
    }
}

/// The minimum alignment of a type in memory: the alignment of its widest scalar.
pub fn align_of(types: &Types, ty: TypeId) -> Option<u32> {
    match types.get(ty) {
        Type::Scalar(scalar) | Type::Vector { scalar, .. } | Type::Matrix { scalar, .. } => Some(scalar.bytes()),
        Type::Array { element, .. } => align_of(types, element),
        Type::Struct(id) => {
            let members = types.structs[id].members.iter();
            members.map(|member| align_of(types, member.ty)).try_fold(1, |most, align| Some(most.max(align?)))
        }
        Type::BufferReference { .. } => Some(8),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
