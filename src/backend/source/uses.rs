//! Uses of a function's values and variables, and the code in between.

use super::expr::Reads;
use super::purity::Pure;
use super::runs::Runs;
use crate::ir::{
    BinaryOp, BlockId, FuncId, Function, ImageOp, ImageParts, Inst, InstId, LocalId, Module, Op, Type, Types, Value,
};
use crate::limits;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::Range;
use std::rc::Rc;

/// A position in a block: before the instruction with this index.
pub(super) type Place = (BlockId, u32);

/// Maximum number of instructions examined between a value and its use.
const MOST_LOOKED_AT: usize = 96;

/// The uses of one function.
pub(super) struct Uses {
    places: FxHashMap<InstId, Place>,
    users: FxHashMap<InstId, SmallVec<[Place; 2]>>,
    /// The position of a block in the enclosing one; true if it repeats.
    parents: FxHashMap<BlockId, (Place, bool)>,
    locals: FxHashMap<LocalId, Vec<Place>>,
    params: FxHashMap<u32, usize>,
    /// Components that a composite takes together with their whole vector.
    joined: FxHashSet<InstId>,
    /// Variables by the position before which they are declared.
    declared: FxHashMap<Place, Vec<LocalId>>,
    pure: Rc<Pure>,
}

impl Uses {
    pub fn of(f: &Function, types: &Types, runs: &Runs, pure: Rc<Pure>) -> Uses {
        let mut uses = Uses {
            places: FxHashMap::default(),
            users: FxHashMap::default(),
            parents: FxHashMap::default(),
            locals: FxHashMap::default(),
            params: FxHashMap::default(),
            joined: FxHashSet::default(),
            declared: FxHashMap::default(),
            pure,
        };
        uses.look_at(f);
        uses.join_parts(f, types);
        uses.join_runs(runs);
        uses
    }

    /// A vector with a single combined store has one use, the first store.
    fn join_runs(&mut self, runs: &Runs) {
        for (store, run) in runs.iter() {
            let (Value::Inst(whole), Some(place)) = (run.value, self.place(store)) else { continue };
            let is_alone = run.extracts.iter().all(|id| self.count(*id) == 1);
            let Some(users) = self.users.get_mut(&whole).filter(|_| is_alone) else { continue };
            let places: SmallVec<[Place; 4]> =
                run.extracts.iter().filter_map(|id| self.places.get(id).copied()).collect();
            limits::spend(users.len());
            users.retain(|user| !places.contains(user));
            users.push(place);
            self.joined.extend(&run.extracts);
        }
    }

    /// Returns true for functions that only compute a result.
    pub fn is_pure(&self, function: FuncId) -> bool {
        self.pure.contains(&function)
    }

    /// A vector whose components all go into a composite in order is used once, by the composite.
    fn join_parts(&mut self, f: &Function, types: &Types) {
        for (id, inst) in f.insts.iter() {
            let (Op::Construct(parts), Some(place)) = (inst.op, self.place(id)) else { continue };
            for part in parts_of(f, types, f.values(parts)) {
                let Part::Whole(Value::Inst(whole), extracts) = part else { continue };
                let places: SmallVec<[Place; 4]> = extracts.iter().filter_map(|id| self.place(*id)).collect();
                let is_alone = extracts.iter().all(|id| self.count(*id) == 1);
                let Some(users) = self.users.get_mut(&whole).filter(|_| is_alone) else { continue };
                limits::spend(users.len());
                users.retain(|user| !places.contains(user));
                users.push(place);
                self.joined.extend(extracts);
            }
        }
    }

    fn look_at(&mut self, f: &Function) {
        let mut open = vec![f.body];
        while let Some(block) = open.pop() {
            limits::spend(f.blocks[block].insts.len());
            limits::hold::<(InstId, Place)>(3 * f.blocks[block].insts.len());
            for (index, id) in (0..).zip(&f.blocks[block].insts) {
                let place = (block, index);
                self.places.insert(*id, place);
                let inst = &f.insts[*id];
                match inst.op {
                    // The text contains a single vector once.
                    Op::Shuffle { a, b, .. } if a == b => self.use_at(a, place),
                    op => op.each_operand(f, |value| self.use_at(value, place)),
                }
                let mut nested = |inner: BlockId, repeats| {
                    self.parents.insert(inner, (place, repeats));
                    open.push(inner);
                };
                match inst.op {
                    Op::If { then, otherwise, .. } => [then, otherwise].into_iter().for_each(|arm| nested(arm, false)),
                    Op::Switch { cases, .. } => f.arms(cases).iter().for_each(|arm| nested(arm.body, false)),
                    Op::Loop { body, continuing, break_if, .. } => {
                        [body, continuing].into_iter().for_each(|block| nested(block, true));
                        let end = (continuing, f.blocks[continuing].insts.len() as u32);
                        break_if.into_iter().for_each(|value| self.use_at(value, end));
                    }
                    _ => {}
                }
            }
        }
    }

    fn use_at(&mut self, value: Value, place: Place) {
        match value {
            Value::Inst(id) => self.users.entry(id).or_default().push(place),
            Value::Local(id) => self.locals.entry(id).or_default().push(place),
            Value::Param(index) => *self.params.entry(index).or_default() += 1,
            _ => {}
        }
    }

    /// The blocks around a position, from its own outwards, each with the position in it.
    fn around(&self, place: Place) -> Vec<(Place, bool)> {
        let mut all = vec![(place, false)];
        let mut block = place.0;
        while let Some((outer, repeats)) = self.parents.get(&block) {
            if let Some(last) = all.last_mut() {
                last.1 = *repeats;
            }
            all.push((*outer, false));
            block = outer.0;
        }
        all
    }

    /// Finds the innermost block that contains all uses of each variable, including uses of the argument that replaces
    /// it. A variable that keeps its value between iterations of a loop stays outside the loop.
    pub fn declare(&mut self, f: &Function, passed: &FxHashMap<LocalId, Value>) {
        let mut all = self.locals.clone();
        for (copy, place) in passed {
            if let (Some(local), Some(places)) = (local_of(f, *place), self.locals.get(copy)) {
                all.entry(local).or_default().extend(places);
            }
        }
        let mut found = Vec::new();
        for (local, places) in &all {
            let mut chain = self.around(places[0]);
            for place in &places[1..] {
                let other = self.around(*place);
                limits::spend(chain.len() + other.len());
                // Both end with the body of the function.
                let pairs = chain.iter().rev().zip(other.iter().rev());
                let common = pairs.take_while(|(((mine, _), _), ((theirs, _), _))| mine == theirs).count();
                if common == 0 {
                    continue;
                }
                let [mine, theirs] = [&chain, &other].map(|chain| chain.len() - common);
                let first = chain[mine].0.1.min(other[theirs].0.1);
                chain.drain(..mine);
                chain[0].0.1 = first;
            }
            let (place, _) = chain[0];
            let starts = self.gives_whole(f, place, *local, passed) && f.locals[*local].init.is_none();
            let at = match chain.iter().rposition(|(_, repeats)| *repeats) {
                Some(outermost) if !starts => chain[outermost + 1].0,
                _ => place,
            };
            found.push((at, *local));
        }
        found.sort_unstable_by_key(|((block, index), local)| (block.index(), *index, local.index()));
        for (at, local) in found {
            self.declared.entry(at).or_default().push(local);
        }
    }

    /// Returns true if the instruction at a position assigns all of a variable: a store, or a call of a function that
    /// does not read the argument.
    fn gives_whole(
        &self,
        f: &Function,
        (block, index): Place,
        local: LocalId,
        passed: &FxHashMap<LocalId, Value>,
    ) -> bool {
        let Some(id) = f.blocks[block].insts.get(index as usize) else { return false };
        let is_given = |arg: &Value| match arg {
            // The call, and the copy after it.
            Value::Local(copy) => passed.get(copy) == Some(&Value::Local(local)) && self.locals[copy].len() == 2,
            _ => false,
        };
        match f.insts[*id].op {
            Op::Store { pointer: Value::Local(to), value } => to == local && value != Value::Local(local),
            Op::Call(_, args) => f.values(args).iter().any(is_given),
            _ => false,
        }
    }

    /// The variables declared before an instruction.
    pub fn declared_at(&self, place: Place) -> &[LocalId] {
        self.declared.get(&place).map_or(&[], Vec::as_slice)
    }

    pub fn place(&self, id: InstId) -> Option<Place> {
        self.places.get(&id).copied()
    }

    /// Returns true if some instruction uses a result.
    pub fn is_used(&self, id: InstId) -> bool {
        self.users.contains_key(&id)
    }

    pub fn count(&self, id: InstId) -> usize {
        self.users.get(&id).map_or(0, |users| users.len())
    }

    /// Returns true if a value can be computed at its use: it is used once, in its own block, and for a read of memory,
    /// before any write.
    pub fn can_move(&self, f: &Function, id: InstId, reads: &Reads) -> bool {
        let (Some((block, at)), Some([(user, to)])) = (self.place(id), self.users.get(&id).map(SmallVec::as_slice))
        else {
            return false;
        };
        *user == block && !self.writes_between(f, block, at..*to, reads)
    }

    /// Returns true if all uses of a pointer or a variable's value are in its block, before any write of the memory
    /// that it reads.
    pub fn is_stable(&self, f: &Function, id: InstId, reads: &Reads) -> bool {
        let Some((block, at)) = self.place(id) else { return false };
        self.last_use(f, id).is_some_and(|last| !self.writes_between(f, block, at..last, reads))
    }

    /// The last position in its block that uses a value or a pointer derived from it; `None` if other blocks do.
    fn last_use(&self, f: &Function, id: InstId) -> Option<u32> {
        let (block, at) = self.place(id)?;
        let mut last = at;
        for (user, to) in self.users.get(&id)? {
            let user = f.blocks[block].insts.get(*to as usize).copied().filter(|_| *user == block)?;
            last = last.max(*to);
            if matches!(f.insts[user].op, Op::Access { .. }) && self.is_used(user) {
                last = last.max(self.last_use(f, user)?);
            }
        }
        Some(last)
    }

    /// The only instruction that uses a result, if there is one.
    pub fn only_user(&self, f: &Function, id: InstId) -> Option<InstId> {
        let [(block, at)] = self.users.get(&id)?.as_slice() else { return None };
        f.blocks[*block].insts.get(*at as usize).copied()
    }

    /// The innermost loop around an instruction that contains another use of a variable than the earlier ones: the
    /// loop, and the position of the instruction in the loop's own blocks.
    pub fn loop_around(&self, f: &Function, local: LocalId, id: InstId) -> Option<(InstId, Place)> {
        let chain = self.around(self.place(id)?);
        limits::spend(chain.len());
        let steps =
            |continuing: BlockId| self.locals.get(&local).is_some_and(|all| all.iter().any(|at| at.0 == continuing));
        chain.windows(2).find_map(|pair| {
            let ((inside, _), ((block, index), _)) = (pair[0], pair[1]);
            let outer = *f.blocks[block].insts.get(index as usize)?;
            match f.insts[outer].op {
                Op::Loop { continuing, .. } if steps(continuing) => Some((outer, inside)),
                _ => None,
            }
        })
    }

    /// The two values that are stored to a variable, with their positions, if nothing else changes it.
    pub fn stores_of(&self, f: &Function, local: LocalId) -> Option<[(Value, Place); 2]> {
        const MOST: usize = 24;
        let places = self.locals.get(&local).filter(|places| places.len() <= MOST)?;
        limits::spend(places.len());
        let mut stores = SmallVec::<[(Value, Place); 2]>::new();
        for place @ (block, at) in places {
            match f.insts[*f.blocks[*block].insts.get(*at as usize)?].op {
                Op::Load(_) => {}
                Op::Store { pointer: Value::Local(to), value } if to == local => stores.push((value, *place)),
                _ => return None,
            }
        }
        <[(Value, Place); 2]>::try_from(stores.as_slice()).ok().filter(|_| f.locals[local].init.is_none())
    }

    /// Returns true if a variable gets its value from only one store of the whole.
    pub fn is_given_once(&self, f: &Function, types: &Types, local: LocalId) -> bool {
        const MOST: usize = 256;
        let Some(places) = self.locals.get(&local).filter(|places| places.len() <= MOST) else { return false };
        limits::spend(places.len());
        let is_whole = !matches!(types.get(f.locals[local].ty), Type::Array { .. } | Type::Struct(_));
        let mut stores = 0;
        for (block, at) in places {
            let Some(id) = f.blocks[*block].insts.get(*at as usize) else { return false };
            match f.insts[*id].op {
                Op::Load(_) => {}
                Op::Store { pointer: Value::Local(to), value } if to == local && value != Value::Local(local) => {
                    stores += 1
                }
                Op::Access { .. } if is_whole && self.is_loaded(f, *id) => {}
                _ => return false,
            }
        }
        stores == 1
    }

    /// Returns true if a variable is loaded to be an index.
    pub fn is_index(&self, f: &Function, local: LocalId) -> bool {
        let places = self.locals.get(&local).map_or(&[][..], Vec::as_slice);
        let user = |(block, at): &Place| f.blocks[*block].insts.get(*at as usize).copied();
        let loads = places.iter().filter_map(user).filter(|id| matches!(f.insts[*id].op, Op::Load(_)));
        let mut users = loads.flat_map(|id| self.users.get(&id).into_iter().flatten()).filter_map(user);
        limits::spend(places.len());
        users.any(|id| {
            matches!(f.insts[id].op, Op::Access { .. } | Op::ExtractDynamic { .. } | Op::InsertDynamic { .. })
        })
    }

    /// Returns true if a pointer is used by loads alone.
    fn is_loaded(&self, f: &Function, pointer: InstId) -> bool {
        let users = self.users.get(&pointer).map_or(&[][..], |users| users.as_slice());
        limits::spend(users.len());
        users.iter().all(|(block, at)| {
            let user = f.blocks[*block].insts.get(*at as usize);
            user.is_some_and(|user| matches!(f.insts[*user].op, Op::Load(_)))
        })
    }

    /// Returns true if a variable is only used in a loop, except for the store that initialises it.
    pub fn is_only_in(&self, local: LocalId, of: Place) -> bool {
        const MOST: usize = 64;
        let Some(places) = self.locals.get(&local).filter(|places| places.len() <= MOST) else { return false };
        let inside = |place: &Place| self.around(*place).iter().skip(1).any(|(outer, _)| *outer == of);
        let outside = places.iter().filter(|place| !inside(place)).count();
        limits::spend(places.len());
        outside == 1
    }

    /// The instructions that use a variable, in order if they are in one block; `None` if they are in several, or more
    /// than `most`.
    pub fn insts_of(&self, f: &Function, local: LocalId, most: usize) -> Option<SmallVec<[InstId; 3]>> {
        let mut places = self.locals.get(&local).filter(|places| places.len() <= most)?.clone();
        places.sort_unstable_by_key(|(_, at)| *at);
        let block = places.first()?.0;
        places
            .iter()
            .map(|(of, at)| f.blocks[block].insts.get(*at as usize).copied().filter(|_| *of == block))
            .collect()
    }

    /// Returns true if an instruction between two others of a block may write the memory that is read.
    pub fn is_written(&self, f: &Function, from: InstId, to: InstId, reads: &Reads) -> bool {
        match (self.place(from), self.place(to)) {
            (Some((block, at)), Some((other, to))) if block == other => self.writes_between(f, block, at..to, reads),
            _ => true,
        }
    }

    /// Returns true for a component that its only user takes with the whole vector.
    pub fn is_joined(&self, id: InstId) -> bool {
        self.joined.contains(&id)
    }

    /// How often a parameter is used.
    pub fn param_count(&self, index: u32) -> usize {
        self.params.get(&index).copied().unwrap_or(0)
    }

    /// Returns true if the only use of a value is the next instruction, which otherwise only uses constants and
    /// variables.
    pub fn is_taken_next(&self, f: &Function, id: InstId) -> bool {
        let (Some((block, at)), Some([(user, to)])) = (self.place(id), self.users.get(&id).map(SmallVec::as_slice))
        else {
            return false;
        };
        let next = f.blocks[block].insts.get(*to as usize).map(|next| f.insts[*next].op);
        *user == block
            && *to == at + 1
            && match next {
                Some(Op::Store { pointer: Value::Local(_), value }) => value == Value::Inst(id),
                Some(Op::Return(_)) => true,
                _ => false,
            }
    }

    /// Returns true if the only use of a value is a store of it.
    pub fn is_stored(&self, f: &Function, id: InstId) -> bool {
        let user = self.only_user(f, id).map(|user| f.insts[user].op);
        matches!(user, Some(Op::Store { value, .. }) if value == Value::Inst(id))
    }

    /// Returns true if the only use of a value is in a list that declares a variable: it is the variable's initial
    /// value, or a part of an array or struct, which otherwise gets a name itself.
    pub fn is_listed(&self, f: &Function, types: &Types, id: InstId) -> bool {
        let Some([place]) = self.users.get(&id).map(SmallVec::as_slice) else { return false };
        let Some(user) = f.blocks[place.0].insts.get(place.1 as usize).map(|user| &f.insts[*user]) else {
            return false;
        };
        match user.op {
            Op::Store { pointer: Value::Local(local), value } => {
                value == Value::Inst(id) && f.locals[local].init.is_none() && self.declared_at(*place).contains(&local)
            }
            Op::Construct(_) => matches!(types.get(user.ty), Type::Array { .. } | Type::Struct(_)),
            _ => false,
        }
    }

    /// Returns true if a value that is computed at its use is always computed: no select or short circuit skips it.
    pub fn is_always_taken(&self, f: &Function, id: InstId) -> bool {
        const MOST: usize = 16;
        let mut of = id;
        for _ in 0..MOST {
            // A value with several uses is named.
            let Some(user) = self.only_user(f, of) else { return of != id };
            match f.insts[user].op {
                Op::Store { .. } | Op::Return(_) | Op::If { .. } | Op::Switch { .. } => return true,
                Op::Binary(BinaryOp::LogicalAnd | BinaryOp::LogicalOr, ..) => return false,
                Op::Extract { .. } | Op::Shuffle { .. } | Op::Binary(..) | Op::Unary(..) | Op::Math(..) => of = user,
                Op::Construct(_) | Op::Convert(_) | Op::Splat(_) | Op::Call(..) => of = user,
                _ => return false,
            }
        }
        false
    }
}

impl Uses {
    /// Returns true if an instruction between two others of a block may write the memory that is read.
    fn writes_between(&self, f: &Function, block: BlockId, places: Range<u32>, reads: &Reads) -> bool {
        if reads.is_empty() {
            return false;
        }
        let (from, to) = (places.start as usize + 1, places.end as usize);
        if to.saturating_sub(from) > MOST_LOOKED_AT {
            return true;
        }
        limits::spend(to.saturating_sub(from));
        f.blocks[block].insts[from..to.max(from)].iter().any(|id| self.writes(f, &f.insts[*id], reads))
    }

    /// Returns true if an instruction may write the memory that is read, or makes others' writes visible.
    fn writes(&self, f: &Function, inst: &Inst, reads: &Reads) -> bool {
        match inst.op {
            Op::Image { op, .. } => reads.memory && matches!(op, ImageOp::Write | ImageOp::Atomic(..)),
            Op::Store { pointer, .. } => match local_of(f, pointer) {
                Some(local) => reads.locals.contains(&local),
                None => reads.memory,
            },
            Op::Atomic { .. } | Op::Barrier { .. } | Op::Interlock { .. } | Op::Print { .. } => reads.memory,
            Op::Call(callee, _) => !self.is_pure(callee),
            Op::If { .. } | Op::Loop { .. } | Op::Switch { .. } | Op::Ray { .. } | Op::Demote => true,
            Op::Foreign(..) | Op::Cooperative(..) => true,
            _ => false,
        }
    }

    /// Returns true if the only use of a value is the condition of the next instruction.
    pub fn is_next_condition(&self, f: &Function, id: InstId) -> bool {
        let (Some((block, at)), Some([(user, to)])) = (self.place(id), self.users.get(&id).map(SmallVec::as_slice))
        else {
            return false;
        };
        let next = f.blocks[block].insts.get(*to as usize).map(|next| f.insts[*next].op);
        *user == block
            && *to == at + 1
            && matches!(next, Some(Op::If { condition, .. }) if condition == Value::Inst(id))
    }
}

/// A part of a composite.
#[derive(Debug)]
pub(super) enum Part {
    One(Value),
    /// A whole vector, with the instructions that extract its components.
    Whole(Value, SmallVec<[InstId; 4]>),
}

/// The parts of a composite; consecutive components of a vector become the vector.
pub(super) fn parts_of(f: &Function, types: &Types, parts: &[Value]) -> Vec<Part> {
    let component = |value: Value| match value {
        Value::Inst(id) => match f.insts[id].op {
            Op::Extract { composite: Value::Inst(of), index } => Some((id, of, index)),
            _ => None,
        },
        _ => None,
    };
    let mut made = Vec::new();
    let mut rest = parts;
    while let Some(first) = rest.first() {
        let whole = component(*first).filter(|(_, _, index)| *index == 0).and_then(|(_, of, _)| {
            let size = usize::from(types.components(f.insts[of].ty)?);
            let taken = rest.get(..size).filter(|_| size > 1)?;
            let extracts: SmallVec<[InstId; 4]> = (0..)
                .zip(taken)
                .map_while(|(n, value)| component(*value).filter(|(_, other, index)| *other == of && *index == n))
                .map(|(id, ..)| id)
                .collect();
            (extracts.len() == size).then_some((of, extracts))
        });
        let count = match whole {
            Some((of, extracts)) => {
                let count = extracts.len();
                made.push(Part::Whole(Value::Inst(of), extracts));
                count
            }
            None => {
                made.push(Part::One(*first));
                1
            }
        };
        rest = &rest[count..];
    }
    made
}

/// The function variable that a pointer points into.
pub(super) fn local_of(f: &Function, pointer: Value) -> Option<LocalId> {
    match pointer {
        Value::Local(id) => Some(id),
        Value::Inst(id) => match f.insts[id].op {
            Op::Access { base, .. } => local_of(f, base),
            _ => None,
        },
        _ => None,
    }
}

/// Returns true if fragments use values of their neighbours: by derivatives, by levels of detail that depend on them,
/// or by cross-lane operations.
pub(super) fn asks_neighbours(module: &Module) -> bool {
    let asks = |op: Op| match op {
        Op::Lane(..) => true,
        Op::Math(function, _) => function.is_derivative(),
        Op::Image { op, parts, .. } => {
            let is_sampled = matches!(op, ImageOp::Sample | ImageOp::SampleProjected | ImageOp::QueryLod);
            is_sampled && !parts.intersects(ImageParts::LOD | ImageParts::GRADIENTS)
        }
        _ => false,
    };
    module.functions.iter().any(|(_, f)| f.insts.iter().any(|(_, inst)| asks(inst.op)))
}
