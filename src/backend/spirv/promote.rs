//! Promotes function variables to values: a variable that is only loaded and stored, whole or by constant indices, is
//! not written as memory. Its value is known everywhere, because control flow is structured: where paths meet, `OpPhi`
//! selects among their values (SPIR-V 1.6 section 2.4 and 3.49.17).
//!
//! Only stores inside a construct can change a variable there, so each construct has a list of the variables that it
//! stores to. Only these are examined where it begins, branches and ends. A variable that is used in a single arm is
//! not in the list.

use super::control::Scope;
use super::function::Body;
use crate::ir::plain::{plain_locals, root_local};
use crate::ir::{ArrayLen, BlockId, Function, InstId, LocalId, Module, Op, Scalar, Type, TypeId, Types, Value, Values};
use crate::limits;
use rspirv::spirv::{self, Word};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::ops::{Range, RangeInclusive};

/// Maximum number of scalars, vectors and columns in a promoted composite.
const MOST_PARTS: u32 = 64;

/// Values of the variables that a construct stores to, in the order of its list.
pub(super) type State = SmallVec<[Word; 4]>;

/// An edge into a block: its source block and the values on it.
pub(super) struct Edge {
    pub from: Word,
    pub state: State,
}

/// The variables of the function being written that are values.
#[derive(Default)]
pub(super) struct Promoted {
    /// Indexed by variable.
    is_value: Vec<bool>,
    /// The current value of each; 0 for the initial one.
    current: Vec<Word>,
    /// The lists of all constructs, one after the other.
    stored: Vec<LocalId>,
    /// The list of each construct that stores to some.
    lists: FxHashMap<InstId, Range<usize>>,
    /// Extent of each variable.
    extents: Vec<Extent>,
    /// Undefined values by type.
    undefined: FxHashMap<TypeId, Word>,
}

impl Promoted {
    /// Finds the variables of a function to promote, except variables that `is_kept` names.
    pub fn find(&mut self, module: &Module, f: &Function, is_kept: impl Fn(LocalId) -> bool) {
        self.current.clear();
        self.current.resize(f.locals.len(), 0);
        self.stored.clear();
        self.lists.clear();
        self.is_value.clear();
        let is_plain = plain_locals(f, |local, indices| is_path(module, f, f.locals[local].ty, indices));
        self.is_value.extend(f.locals.iter().zip(is_plain).map(|((id, local), is_plain)| {
            let is_small = parts(&module.types, local.ty).is_some_and(|parts| parts <= MOST_PARTS);
            is_plain && is_small && !local.restrict && !is_kept(id)
        }));
        self.extents.clear();
        self.extents.resize(f.locals.len(), Extent { first: u32::MAX, last: 0 });
        self.measure(f, f.body, &mut 0);
        self.list(f, f.body, &mut Listing::default());
    }

    /// Finds the first and the last use of each variable in code order.
    fn measure(&mut self, f: &Function, block: BlockId, place: &mut u32) {
        limits::spend(f.blocks[block].insts.len());
        for id in &f.blocks[block].insts {
            *place += 1;
            let op = f.insts[*id].op;
            op.each_operand(f, |value| {
                if let Value::Local(local) = value {
                    let Extent { first, last } = &mut self.extents[local.index()];
                    (*first, *last) = ((*first).min(*place), *place);
                }
            });
            f.inner_blocks(op).into_iter().for_each(|inner| self.measure(f, inner, place));
        }
    }

    /// Promotes no variable.
    pub fn clear(&mut self) {
        self.is_value.clear();
    }

    pub fn has(&self, id: LocalId) -> bool {
        self.is_value.get(id.index()).copied().unwrap_or(false)
    }

    /// The variables of a list.
    pub fn listed(&self, list: Range<usize>) -> impl Iterator<Item = LocalId> {
        self.stored[list].iter().copied()
    }

    /// Lists the variables that the constructs in a block store to.
    fn list(&mut self, f: &Function, block: BlockId, listing: &mut Listing) {
        for id in &f.blocks[block].insts {
            listing.place += 1;
            let start = listing.open.len();
            match f.insts[*id].op {
                Op::Store { pointer, .. } => {
                    listing.open.extend(root_local(f, pointer).filter(|local| self.has(*local)));
                    continue;
                }
                op => self.list_inside(f, op, listing),
            }
            let open = &mut listing.open;
            if open.len() == start {
                continue;
            }
            open[start..].sort_unstable_by_key(|local| local.index());
            let mut inner: SmallVec<[LocalId; 8]> = SmallVec::from_slice(&open[start..]);
            inner.dedup();
            limits::spend(1 + inner.len());
            limits::hold::<LocalId>(inner.len());
            open.truncate(start);
            open.extend_from_slice(&inner);
            let first = self.stored.len();
            self.stored.extend(inner);
            self.lists.insert(*id, first..self.stored.len());
        }
    }

    /// Lists the variables that the blocks of a construct store to, except variables that only one of these blocks
    /// uses: their values end with it, unless a loop repeats it.
    fn list_inside(&mut self, f: &Function, op: Op, listing: &mut Listing) {
        let is_loop = matches!(op, Op::Loop { .. });
        listing.loops += usize::from(is_loop);
        for inner in f.inner_blocks(op) {
            let (start, before) = (listing.open.len(), listing.place);
            self.list(f, inner, listing);
            if listing.loops == 0 {
                let inside = before + 1..=listing.place;
                let outlives = |local: &LocalId| !self.extents[local.index()].is_inside(&inside);
                let left: SmallVec<[LocalId; 8]> = listing.open.drain(start..).filter(outlives).collect();
                listing.open.extend(left);
            }
        }
        listing.loops -= usize::from(is_loop);
    }
}

/// The first and the last instruction that names a variable, in the order of the code.
#[derive(Clone, Copy)]
struct Extent {
    first: u32,
    last: u32,
}

impl Extent {
    fn is_inside(self, places: &RangeInclusive<u32>) -> bool {
        places.contains(&self.first) && places.contains(&self.last)
    }
}

/// The state of [`Promoted::list`].
#[derive(Default)]
struct Listing {
    /// The variables that the enclosing blocks have stored to so far.
    open: Vec<LocalId>,
    /// The number of instructions so far, in text order.
    place: u32,
    /// The number of enclosing loops.
    loops: usize,
}

/// The scalars, vectors and columns of a type; `None` if it has other parts or an unknown number of them.
fn parts(types: &Types, ty: TypeId) -> Option<u32> {
    match types.get(ty) {
        Type::Scalar(_) | Type::Vector { .. } | Type::BufferReference { .. } => Some(1),
        Type::Matrix { columns, .. } => Some(columns.into()),
        Type::Array { element, len: ArrayLen::Fixed(len), .. } => parts(types, element)?.checked_mul(len),
        Type::Struct(id) => types.structs[id]
            .members
            .iter()
            .try_fold(0, |sum: u32, member| sum.checked_add(parts(types, member.ty)?).filter(|sum| *sum <= MOST_PARTS)),
        _ => None,
    }
}

/// The composite that an index selects from. The columns of a matrix have no type in the module.
#[derive(Clone, Copy)]
enum Composite {
    Of(TypeId),
    Vector(Scalar, u8),
    None,
}

impl Composite {
    fn new(types: &Types, ty: TypeId) -> Composite {
        match types.get(ty) {
            Type::Vector { scalar, size } => Composite::Vector(scalar, size),
            _ => Composite::Of(ty),
        }
    }

    /// The element at an index, or `None` if the index is out of bounds.
    fn element(self, types: &Types, index: u32) -> Option<Composite> {
        match self {
            Composite::Vector(_, size) => (index < u32::from(size)).then_some(Composite::None),
            Composite::None => None,
            Composite::Of(ty) => match types.get(ty) {
                Type::Matrix { scalar, columns, rows, .. } => {
                    (index < u32::from(columns)).then_some(Composite::Vector(scalar, rows))
                }
                Type::Array { element, len: ArrayLen::Fixed(len), .. } => {
                    (index < len).then(|| Composite::new(types, element))
                }
                Type::Struct(id) => {
                    let member = types.structs[id].members.get(index as usize)?;
                    Some(Composite::new(types, member.ty))
                }
                _ => None,
            },
        }
    }
}

/// Returns true if indices are constants within their composites; a last index into a vector may be any value.
fn is_path(module: &Module, f: &Function, ty: TypeId, indices: Values) -> bool {
    let mut around = Some(Composite::new(&module.types, ty));
    f.values(indices).iter().all(|index| {
        let Some(composite) = around else { return false };
        around = match (module.known_u32(*index), composite) {
            (Some(known), _) => composite.element(&module.types, known),
            (None, Composite::Vector(..)) => Some(Composite::None),
            (None, _) => None,
        };
        around.is_some()
    })
}

/// A position in a value.
struct Place {
    /// Constant indices.
    path: SmallVec<[Word; 4]>,
    /// The component of the vector there, with the vector's scalar and size.
    component: Option<(Value, Scalar, u8)>,
}

impl Body<'_, '_> {
    /// The list of variables of the construct that is being written.
    pub fn stored_by(&self, construct: InstId) -> Range<usize> {
        self.promoted.lists.get(&construct).cloned().unwrap_or_default()
    }

    /// The values of the variables of a list.
    pub fn state(&mut self, list: Range<usize>) -> State {
        limits::spend(list.len());
        limits::hold::<Word>(list.len());
        list.map(|at| self.current(self.promoted.stored[at])).collect()
    }

    pub fn set_state(&mut self, list: Range<usize>, state: &[Word]) {
        for (at, word) in list.zip(state) {
            self.promoted.current[self.promoted.stored[at].index()] = *word;
        }
    }

    /// The value of a variable.
    fn current(&mut self, id: LocalId) -> Word {
        if self.promoted.current[id.index()] == 0 {
            let local = &self.f.locals[id];
            self.m.need_narrow_type(local.ty);
            self.promoted.current[id.index()] = match local.init.filter(|init| !self.m.is_undef(*init)) {
                Some(init) => self.m.constant(init),
                None => self.undefined(local.ty),
            };
        }
        self.promoted.current[id.index()]
    }

    fn undefined(&mut self, ty: TypeId) -> Word {
        match self.promoted.undefined.get(&ty) {
            Some(word) => *word,
            None => {
                let word = self.m.undef(ty);
                self.promoted.undefined.insert(ty, word);
                word
            }
        }
    }

    /// Sets the values where paths meet, at the start of their block.
    pub fn join(&mut self, list: Range<usize>, edges: &[Edge]) {
        limits::spend(list.len() * edges.len());
        for (number, at) in list.enumerate() {
            let Some(first) = edges.first().map(|edge| edge.state[number]) else { return };
            let local = self.promoted.stored[at];
            let is_same = edges.iter().all(|edge| edge.state[number] == first);
            self.promoted.current[local.index()] = if is_same { first } else { self.phi(local, number, edges) };
        }
    }

    fn phi(&mut self, local: LocalId, number: usize, edges: &[Edge]) -> Word {
        let ty = self.f.locals[local].ty;
        self.m.need_narrow_type(ty);
        let ty = self.m.value_type(ty);
        let mut operands: SmallVec<[Word; 8]> = SmallVec::new();
        for edge in edges {
            operands.extend([edge.state[number], edge.from]);
        }
        let id = self.m.id();
        self.code.typed(spirv::Op::Phi, ty, id, &operands);
        id
    }

    /// Gives the variables of a list their values at the start of each iteration of a loop, which is entered from the
    /// block `from`; returns the positions of the instructions. [`Body::close_round`] completes them.
    pub fn begin_rounds(&mut self, list: Range<usize>, from: Word) -> Vec<usize> {
        list.map(|at| {
            let local = self.promoted.stored[at];
            let edge = Edge { from, state: smallvec![self.current(local)] };
            let place = self.code.as_slice().len();
            let next = Edge { from: 0, state: smallvec![0] };
            self.promoted.current[local.index()] = self.phi(local, 0, &[edge, next]);
            place
        })
        .collect()
    }

    /// Records the values with which the innermost loop continues from the block being written.
    pub fn close_round(&mut self) {
        let Some(Scope { list, rounds, .. }) = self.scopes.last() else { return };
        for (at, place) in list.clone().zip(rounds.clone()) {
            let word = self.current(self.promoted.stored[at]);
            self.code.set(place + 5, word);
            self.code.set(place + 6, self.label);
        }
    }

    /// The promoted variable that a pointer points into.
    pub fn promoted_at(&self, pointer: Value) -> Option<LocalId> {
        root_local(self.f, pointer).filter(|local| self.promoted.has(*local))
    }

    fn place_of(&self, local: LocalId, pointer: Value) -> Place {
        let mut place = Place { path: SmallVec::new(), component: None };
        let Value::Inst(id) = pointer else { return place };
        let Op::Access { indices, .. } = self.f.insts[id].op else { return place };
        let (module, mut around) = (self.m.module, Composite::new(&self.m.module.types, self.f.locals[local].ty));
        for index in self.f.values(indices) {
            match (module.known_u32(*index), around) {
                (Some(known), _) => {
                    place.path.push(known);
                    around = around.element(&module.types, known).unwrap_or(Composite::None);
                }
                (None, Composite::Vector(scalar, size)) => place.component = Some((*index, scalar, size)),
                _ => {}
            }
        }
        place
    }

    pub fn load_promoted(&mut self, local: LocalId, pointer: Value, ty: TypeId) -> Word {
        let (whole, place) = (self.current(local), self.place_of(local, pointer));
        let word = self.m.value_type(ty);
        match place.component {
            None if place.path.is_empty() => whole,
            None => self.extract(word, whole, &place.path),
            Some((component, scalar, size)) => {
                let vector = self.m.vector_type(scalar, size);
                let (vector, component) = (self.extract(vector, whole, &place.path), self.value(component));
                self.emit(spirv::Op::VectorExtractDynamic, word, &[vector, component])
            }
        }
    }

    pub fn store_promoted(&mut self, local: LocalId, pointer: Value, value: Word) {
        let place = self.place_of(local, pointer);
        let mut value = value;
        if let Some((component, scalar, size)) = place.component {
            let (whole, ty) = (self.current(local), self.m.vector_type(scalar, size));
            let (vector, component) = (self.extract(ty, whole, &place.path), self.value(component));
            value = self.emit(spirv::Op::VectorInsertDynamic, ty, &[vector, value, component]);
        }
        if !place.path.is_empty() {
            let (whole, ty) = (self.current(local), self.m.value_type(self.f.locals[local].ty));
            let mut operands: SmallVec<[Word; 8]> = smallvec![value, whole];
            operands.extend_from_slice(&place.path);
            value = self.emit(spirv::Op::CompositeInsert, ty, &operands);
        }
        self.promoted.current[local.index()] = value;
    }
}
