//! Uniformity by the rules of WGSL (15.2): control flow in which the invocations of a workgroup, or of a quad, may
//! diverge.
//!
//! A WGSL compiler refuses a barrier there, and derivatives unless a diagnostic is turned off. A value is either the
//! same in all invocations or not; values from memory that invocations write are not. The analysis works on naga's
//! statements, which are those of the text.

use crate::limits;
use crate::wgsl::operands as operands_of;
use naga::{
    AddressSpace, Block, BuiltIn, Expression, Function, Handle, ImageClass, LocalVariable, Module, SampleLevel, Span,
    Statement, StorageAccess, TypeInner,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// The statements that need uniform control flow and may not have it.
#[derive(Default, Debug)]
pub(super) struct Parted {
    pub barrier: Option<Span>,
    pub derivatives: bool,
}

/// Looks through all entry points.
pub(super) fn parted(module: &Module) -> Parted {
    let mut search = Search { module, parted: Parted::default(), calls: FxHashMap::default() };
    let asks = |f: &Function| f.expressions.iter().any(|(_, e)| takes_derivatives(e)) || has_barrier(&f.body);
    let entries = module.entry_points.iter().map(|entry| &entry.function);
    if module.functions.iter().map(|(_, f)| f).chain(entries).any(asks) {
        for entry in &module.entry_points {
            let arguments = entry.function.arguments.iter().map(|argument| !is_uniform(argument.binding.as_ref()));
            Walk::new(&mut search, &entry.function, arguments.collect(), false).run();
        }
    }
    search.parted
}

/// Inputs that are the same in a whole workgroup.
fn is_uniform(binding: Option<&naga::Binding>) -> bool {
    use BuiltIn::{NumSubgroups, NumWorkGroups, SubgroupSize, WorkGroupId};
    matches!(binding, Some(naga::Binding::BuiltIn(WorkGroupId | NumWorkGroups | SubgroupSize | NumSubgroups)))
}

fn takes_derivatives(expression: &Expression) -> bool {
    match expression {
        Expression::Derivative { .. } => true,
        Expression::ImageSample { level, .. } => matches!(level, SampleLevel::Auto | SampleLevel::Bias(_)),
        _ => false,
    }
}

fn has_barrier(block: &Block) -> bool {
    block.iter().any(|statement| match statement {
        Statement::ControlBarrier(_) => true,
        Statement::Block(block) => has_barrier(block),
        Statement::If { accept, reject, .. } => has_barrier(accept) || has_barrier(reject),
        Statement::Switch { cases, .. } => cases.iter().any(|case| has_barrier(&case.body)),
        Statement::Loop { body, continuing, .. } => has_barrier(body) || has_barrier(continuing),
        _ => false,
    })
}

/// A call: the function, which arguments differ (of pointers what they point to), and the control flow.
type Call = (Handle<Function>, Vec<bool>, bool);

struct Search<'m> {
    module: &'m Module,
    parted: Parted,
    /// The results of calls: if they differ, and where pointers point.
    calls: FxHashMap<Call, (bool, Vec<bool>)>,
}

/// Variables whose contents differ.
type Differing = FxHashSet<Handle<LocalVariable>>;

/// The state of one invocation group on its way through a function.
#[derive(Clone, Default, PartialEq)]
struct State {
    locals: Differing,
    /// Of arguments: the values, or what pointers point to.
    arguments: Vec<bool>,
    /// True if some invocations may be elsewhere.
    is_parted: bool,
}

impl State {
    /// Adds what another way brings, but for its control flow.
    fn join(&mut self, other: &State) {
        limits::spend(other.locals.len() + other.arguments.len());
        self.locals.extend(&other.locals);
        for (mine, other) in self.arguments.iter_mut().zip(&other.arguments) {
            *mine |= other;
        }
    }
}

/// A loop or a switch around the place.
#[derive(Default)]
struct Around {
    breaks: Option<State>,
    continues: Option<State>,
    is_loop: bool,
}

/// The ways that lead out of a block (WGSL 9.8, Statements Behavior Analysis).
#[derive(Clone, Copy, Default)]
struct Ends {
    falls: bool,
    breaks: bool,
    continues: bool,
    returns: bool,
}

impl Ends {
    const FALLS: Ends = Ends { falls: true, breaks: false, continues: false, returns: false };

    /// Returns true if some way leads elsewhere than to the next statement.
    fn jump(self) -> bool {
        self.breaks || self.continues || self.returns
    }

    fn or(self, other: Ends) -> Ends {
        Ends {
            falls: self.falls || other.falls,
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
            returns: self.returns || other.returns,
        }
    }
}

struct Walk<'s, 'm> {
    search: &'s mut Search<'m>,
    f: &'m Function,
    values: Vec<bool>,
    state: State,
    result: bool,
    /// Where the function returns: what pointers among the arguments point to.
    returned: Vec<bool>,
    around: Vec<Around>,
    /// The findings at the heads of loops, by their bodies.
    heads: FxHashMap<*const Block, State>,
}

impl<'s, 'm> Walk<'s, 'm> {
    fn new(search: &'s mut Search<'m>, f: &'m Function, arguments: Vec<bool>, is_parted: bool) -> Walk<'s, 'm> {
        let state = State { arguments, is_parted, ..State::default() };
        let (values, returned) = (vec![false; f.expressions.len()], vec![false; state.arguments.len()]);
        let (around, heads) = (Vec::new(), FxHashMap::default());
        Walk { search, f, values, state, result: false, returned, around, heads }
    }

    /// Gives if the results differ, and what pointers among the arguments point to.
    fn run(mut self) -> (bool, Vec<bool>) {
        for (handle, local) in self.f.local_variables.iter() {
            if local.init.is_some_and(|init| self.value(init)) {
                self.state.locals.insert(handle);
            }
        }
        if self.block(&self.f.body).falls {
            self.give_back();
        }
        (self.result, self.returned)
    }

    fn give_back(&mut self) {
        self.returned.iter_mut().zip(&self.state.arguments).for_each(|(all, now)| *all |= now);
    }

    /// Returns true if a value differs, at the place where it is used.
    fn value(&self, handle: Handle<Expression>) -> bool {
        match self.f.expressions[handle] {
            Expression::FunctionArgument(index) => {
                !self.is_pointer(index) && self.state.arguments.get(index as usize).copied().unwrap_or(true)
            }
            _ => self.values[handle.index()] || self.state.is_parted,
        }
    }

    fn is_pointer(&self, argument: u32) -> bool {
        let ty = self.f.arguments.get(argument as usize).map(|argument| argument.ty);
        ty.is_some_and(|ty| matches!(self.search.module.types[ty].inner, TypeInner::Pointer { .. }))
    }

    /// Computes a value here.
    fn compute(&mut self, handle: Handle<Expression>) {
        let expression = &self.f.expressions[handle];
        if takes_derivatives(expression) {
            self.search.parted.derivatives |= self.state.is_parted;
        }
        let mut used = Vec::new();
        operands_of(expression, &mut used);
        let differs = match expression {
            Expression::Load { pointer } => self.contents(*pointer),
            Expression::ImageLoad { image, .. } if self.is_written(*image) => true,
            Expression::ArrayLength(_) => false,
            _ => used.into_iter().any(|operand| self.value(operand)),
        };
        self.values[handle.index()] = differs || self.state.is_parted;
    }

    /// Returns true if a storage texture may be written.
    fn is_written(&self, image: Handle<Expression>) -> bool {
        let module = self.search.module;
        let ty = match self.f.expressions[image] {
            Expression::GlobalVariable(variable) => module.global_variables[variable].ty,
            _ => return false,
        };
        match module.types[ty].inner {
            TypeInner::Image { class: ImageClass::Storage { access, .. }, .. } => access.contains(StorageAccess::STORE),
            _ => false,
        }
    }

    /// The variable that a pointer points into, and if it depends on an index that differs.
    fn root(&self, pointer: Handle<Expression>) -> (Handle<Expression>, bool) {
        let (mut at, mut differs) = (pointer, false);
        loop {
            match self.f.expressions[at] {
                Expression::Access { base, index } => {
                    differs |= self.value(index);
                    at = base;
                }
                Expression::AccessIndex { base, .. } => at = base,
                _ => return (at, differs),
            }
        }
    }

    /// Returns true if what a pointer points to differs.
    fn contents(&self, pointer: Handle<Expression>) -> bool {
        let (root, differs) = self.root(pointer);
        differs
            || match self.f.expressions[root] {
                Expression::LocalVariable(local) => self.state.locals.contains(&local),
                Expression::FunctionArgument(index) => self.state.arguments.get(index as usize).is_none_or(|it| *it),
                Expression::GlobalVariable(variable) => match self.search.module.global_variables[variable].space {
                    AddressSpace::Uniform | AddressSpace::Handle => false,
                    AddressSpace::Storage { access } => access.contains(StorageAccess::STORE),
                    _ => true,
                },
                _ => true,
            }
    }

    /// Gives memory of the function a value.
    fn store(&mut self, pointer: Handle<Expression>, differs: bool) {
        let (root, by_index) = self.root(pointer);
        let is_whole = root == pointer;
        let differs = differs || by_index || self.state.is_parted;
        match self.f.expressions[root] {
            Expression::LocalVariable(local) if differs => drop(self.state.locals.insert(local)),
            Expression::LocalVariable(local) if is_whole => drop(self.state.locals.remove(&local)),
            Expression::FunctionArgument(index) => {
                if let Some(argument) = self.state.arguments.get_mut(index as usize) {
                    *argument = differs || *argument && !is_whole;
                }
            }
            _ => {}
        }
    }

    fn block(&mut self, block: &'m Block) -> Ends {
        let mut all = Ends::FALLS;
        for (statement, span) in block.span_iter() {
            let ends = self.statement(statement, *span);
            all = Ends { falls: ends.falls, ..all.or(ends) };
            if !ends.falls {
                break;
            }
        }
        all
    }

    fn statement(&mut self, statement: &'m Statement, span: Span) -> Ends {
        limits::spend(1);
        match statement {
            Statement::Emit(range) => range.clone().for_each(|handle| self.compute(handle)),
            Statement::Block(block) => return self.block(block),
            Statement::If { condition, accept, reject } => return self.choice(*condition, &[accept, reject]),
            Statement::Switch { selector, cases } => {
                let arms: Vec<&Block> = cases.iter().map(|case| &case.body).collect();
                return self.switch(*selector, &arms);
            }
            Statement::Loop { body, continuing, break_if } => return self.turns(body, continuing, *break_if),
            Statement::Break => {
                self.leave(|around| Some(&mut around.breaks));
                return Ends { breaks: true, ..Ends::default() };
            }
            Statement::Continue => {
                self.leave(|around| around.is_loop.then_some(&mut around.continues));
                return Ends { continues: true, ..Ends::default() };
            }
            Statement::Return { value } => {
                self.result |= self.state.is_parted || value.is_some_and(|value| self.value(value));
                self.give_back();
                return Ends { returns: true, ..Ends::default() };
            }
            Statement::ControlBarrier(_) if self.state.is_parted => {
                self.search.parted.barrier.get_or_insert(span);
            }
            Statement::Store { pointer, value } => self.store(*pointer, self.value(*value)),
            Statement::Call { function, arguments, result } => self.call(*function, arguments, *result),
            Statement::Atomic { result, .. } => self.differs(*result),
            Statement::SubgroupBallot { result, .. }
            | Statement::SubgroupGather { result, .. }
            | Statement::SubgroupCollectiveOperation { result, .. } => self.differs(Some(*result)),
            _ => {}
        }
        Ends::FALLS
    }

    fn differs(&mut self, result: Option<Handle<Expression>>) {
        if let Some(result) = result {
            self.values[result.index()] = true;
        }
    }

    /// Adds the state to those that leave the innermost construct which has such an exit.
    fn leave(&mut self, exit: impl Fn(&mut Around) -> Option<&mut Option<State>>) {
        if let Some(exit) = self.around.iter_mut().rev().find_map(exit) {
            exit.get_or_insert_with(|| self.state.clone()).join(&self.state);
        }
    }

    /// Blocks of which one runs.
    fn choice(&mut self, condition: Handle<Expression>, arms: &[&'m Block]) -> Ends {
        limits::spend((1 + arms.len()) * (self.state.locals.len() + self.state.arguments.len()));
        let before = self.state.clone();
        let differs = self.value(condition);
        let mut all = Ends::default();
        let mut after: Option<State> = None;
        let mut is_parted = false;
        for arm in arms {
            self.state = State { is_parted: before.is_parted || differs, ..before.clone() };
            let ends = self.block(arm);
            is_parted |= self.state.is_parted;
            all = all.or(ends);
            if ends.falls {
                after.get_or_insert_with(|| self.state.clone()).join(&self.state);
            }
        }
        self.state = after.unwrap_or_else(|| before.clone());
        self.state.is_parted = if all.jump() { is_parted } else { before.is_parted };
        all
    }

    /// Arms that a break leaves.
    fn switch(&mut self, selector: Handle<Expression>, arms: &[&'m Block]) -> Ends {
        let was_parted = self.state.is_parted;
        self.around.push(Around::default());
        let ends = self.choice(selector, arms);
        let breaks = self.around.pop().and_then(|around| around.breaks);
        let all = Ends { falls: ends.falls || breaks.is_some(), breaks: false, ..ends };
        self.meet(breaks, ends.falls);
        if !all.jump() {
            self.state.is_parted = was_parted;
        }
        all
    }

    /// Goes on where other ways lead to, from here too if that is reached.
    fn meet(&mut self, others: Option<State>, is_reached: bool) {
        match others {
            Some(others) if is_reached => self.state.join(&others),
            Some(others) => self.state = State { is_parted: self.state.is_parted, ..others },
            None => {}
        }
    }

    fn turns(&mut self, body: &'m Block, continuing: &'m Block, break_if: Option<Handle<Expression>>) -> Ends {
        let was_parted = self.state.is_parted;
        let key = std::ptr::from_ref(body);
        loop {
            limits::spend(4 * self.state.locals.len());
            let mut head = self.heads.remove(&key).unwrap_or_else(|| self.state.clone());
            head.join(&self.state);
            head.is_parted |= self.state.is_parted;
            self.heads.insert(key, head.clone());
            self.state = head.clone();
            self.around.push(Around { is_loop: true, ..Around::default() });
            let ends = self.block(body);
            let continues = self.around.last_mut().and_then(|around| around.continues.take());
            let turns = ends.falls || continues.is_some();
            self.meet(continues, ends.falls);
            if turns {
                self.block(continuing);
                if let Some(condition) = break_if {
                    self.state.is_parted |= self.value(condition);
                    self.leave(|around| Some(&mut around.breaks));
                }
            }
            let breaks = self.around.pop().and_then(|around| around.breaks);
            let mut next = head.clone();
            if turns {
                next.join(&self.state);
                next.is_parted |= self.state.is_parted;
            }
            if next != head {
                self.state = next;
                continue;
            }
            let falls = breaks.is_some();
            self.state = breaks.unwrap_or_default();
            self.state.is_parted = if ends.returns { head.is_parted } else { was_parted };
            return Ends { falls, returns: ends.returns, ..Ends::default() };
        }
    }

    fn call(
        &mut self,
        function: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) {
        let module = self.search.module;
        let callee = &module.functions[function];
        let is_pointer = |at: usize| {
            let ty = callee.arguments.get(at).map(|argument| argument.ty);
            ty.is_some_and(|ty| matches!(module.types[ty].inner, TypeInner::Pointer { .. }))
        };
        let given = arguments.iter().enumerate();
        let given: Vec<bool> = given
            .map(|(at, argument)| if is_pointer(at) { self.contents(*argument) } else { self.value(*argument) })
            .collect();
        let call = (function, given, self.state.is_parted);
        let (differs, after) = match self.search.calls.get(&call) {
            Some(known) => known.clone(),
            None => {
                let found = Walk::new(self.search, callee, call.1.clone(), call.2).run();
                self.search.calls.insert(call, found.clone());
                found
            }
        };
        for (at, argument) in arguments.iter().enumerate().filter(|(at, _)| is_pointer(*at)) {
            self.store(*argument, after.get(at).is_none_or(|it| *it));
        }
        if let Some(result) = result {
            self.values[result.index()] = differs || self.state.is_parted;
        }
    }
}
