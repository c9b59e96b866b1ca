//! The differences between the shading languages.

use super::expr::{Expr, Level};
use super::function::{Body, Made};
use super::image::ImageCall;
use super::inout::References;
use super::lane::Arg;
use super::layout::{How, Packing};
use super::place::{Address, Form};
use super::tree::{self, Stmt, Syntax};
use super::writer::{Shader, Writer};
use crate::backend::{Made as Result, Options};
use crate::ir::{
    AtomicOp, BinaryOp, BuiltIn, ConstId, ControlHint, Ending, EntryPoint, FuncId, Function, Global, GlobalId, ImageOp,
    ImageType, InstFlags, InstId, InterpolateAt, LocalId, MathFn, MemoryKinds, Module, Order, Param, RayOp,
    ResourceClass, Scalar, ScalarKind, Scope, Space, StructId, Type, TypeId, UnaryOp, Value, Values,
};
use crate::lane::{GroupOp, LaneFact};
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::fmt::Debug;

/// The order of two memory accesses: the invocations that it reaches, and its strength.
pub(super) type Ordering = (Scope, Order);

/// A language, or one dialect of it. The writer walks the module and gets the spelling of each construct from it.
pub(super) trait Language: Debug + Sync {
    /// The language in messages.
    fn name(&self) -> &'static str;

    /// A valid name of the language, without reserved words and prefixes.
    fn spelled(&self, name: &str) -> String;

    /// Returns true if jumps out of arms with cross-lane operations must be moved after the selection (`exits`).
    fn jumps_after_arms(&self) -> bool {
        false
    }

    /// Returns true if the functions of a module must be part of its entry point.
    fn joins_functions(&self, _: &Module) -> bool {
        false
    }

    /// Changes a module before it is written.
    fn reshape(&self, _: &mut Cow<Module>) {}

    /// Returns true if layers may count from the viewport's number or differ in the second view.
    fn has_relative_layers(&self) -> bool {
        false
    }

    /// Returns true if textures are combined with their samplers.
    fn joins_samplers(&self) -> bool {
        false
    }

    /// Returns true if resources are in descriptor sets or numbered by the language's own rules. Without sets they use
    /// OpenGL's binding points.
    fn has_sets(&self) -> bool {
        true
    }

    /// The class of resources that share numbers with a class, in languages without sets.
    fn numbered_with(&self, class: ResourceClass) -> ResourceClass {
        if class == ResourceClass::SampledTexture { ResourceClass::Texture } else { class }
    }

    /// The minimum and maximum number of resources of a class, if there are no sets.
    fn numbers(&self, _: &Module, _: ResourceClass) -> (u32, u32) {
        (0, u32::MAX)
    }

    /// Returns true if inputs and outputs between stages have locations; otherwise they are matched by name.
    fn has_port_locations(&self) -> bool {
        true
    }

    /// Returns true if inputs and outputs can be in blocks.
    fn has_port_blocks(&self) -> bool {
        true
    }

    /// Returns true if several components of a vector can be assigned at once.
    fn assigns_components(&self) -> bool {
        true
    }

    /// Returns true if the depth reference is a component of the coordinate.
    fn puts_references_last(&self) -> bool {
        false
    }

    /// Returns true if resources of a type cannot be in an array.
    fn lacks_arrays_of(&self, _: Type) -> bool {
        false
    }

    /// Returns true if input attachments are a separate kind of variable.
    fn has_attachments(&self) -> bool {
        false
    }

    /// Returns true for 1D textures and images that are written as 2D ones.
    fn lacks_line(&self, _: &Module, _: ImageType) -> bool {
        false
    }

    /// The directive that sets the number of the next line in a file, which has an index; `None` if the language has
    /// none.
    fn line_directive(&self, _: u32, _: (usize, &str)) -> Option<String> {
        None
    }

    /// How statements are written.
    fn syntax(&self) -> &'static Syntax {
        &tree::C
    }

    /// Returns true if the text of a module can have several entry points.
    fn has_many_entries(&self, _: &Module) -> bool {
        false
    }

    /// The module with several entry points if the language has several functions instead of one; otherwise `None`.
    ///
    /// # Errors
    /// Reports ambiguous choices.
    fn divided(&self, _: &Module) -> Result<Option<Module>> {
        Ok(None)
    }

    /// The name of the function of an entry point.
    fn entry_name(&self, _: &EntryPoint) -> String {
        "main".to_string()
    }

    /// The lines before all declarations.
    fn head(&self, t: &Writer) -> Vec<String>;

    /// The lines that configure the stage, before all declarations of variables.
    fn stage(&self, t: &mut Writer, entry: &EntryPoint) -> Vec<String>;

    /// The resources and values that the caller must bind, as JSON.
    ///
    /// # Errors
    /// Returns an error for modules with several entry points.
    fn reflection(&self, shader: &Shader, module: &Module, options: &Options) -> Result<String>;

    // Types.

    /// A vector, or a scalar if `size` is 1.
    fn vector_name(&self, t: &mut Writer, scalar: Scalar, size: u8) -> String;

    fn matrix_name(&self, t: &mut Writer, scalar: Scalar, columns: u8, rows: u8) -> String;

    /// A type of resources or references.
    fn handle_name(&self, t: &mut Writer, ty: Type) -> String;

    /// Returns true if an extension is one of the language's.
    fn has_extension(&self, _: &str) -> bool {
        true
    }

    /// Returns true if the declaration of the stage uses specialization constants.
    fn specializes_first(&self) -> bool {
        false
    }

    /// The type of an array that is assigned, passed or returned whole, if that is a separate type.
    fn array_name(&self, _: &mut Writer, _: TypeId) -> Option<String> {
        None
    }

    /// Called for arrays of arrays.
    fn nest_arrays(&self, _: &mut Writer) {}

    /// The words before the type of a struct's member.
    fn member_words(&self, _: &Writer, _: TypeId) -> &'static str {
        ""
    }

    /// The declaration of a struct's member.
    fn member_line(&self, ty: &str, name: &str, dims: &str) -> String {
        format!("    {ty} {name}{dims};")
    }

    /// Returns true if there is an empty line between structs.
    fn parts_structs(&self) -> bool {
        false
    }

    /// The last line of a struct.
    fn struct_end(&self) -> &'static str {
        "};"
    }

    /// The length of a runtime-sized array at the end of a block.
    fn open_length(&self) -> &'static str {
        ""
    }

    // Constants.

    /// The words before the type of a constant of the module.
    fn constant_words(&self) -> &'static str;

    /// The declaration of a constant of the module: of its type, name, lengths and value.
    fn constant_line(&self, [ty, name, dims, value]: [&str; 4]) -> String {
        format!("{}{ty} {name}{dims} = {value};", self.constant_words())
    }

    /// The length of an array from specialization constants; `None` if it needs a name.
    fn length_text(&self, _: &mut Writer, _: ConstId) -> Option<String> {
        None
    }

    /// Returns true if a constant array or struct is a constant of the module.
    fn names_constant(&self, _: &Writer, _: ConstId) -> bool {
        true
    }

    /// A constant as an operand.
    fn constant(&self, b: &mut Body, id: ConstId) -> Expr {
        b.t.constant(id)
    }

    fn literal(&self, t: &mut Writer, scalar: Scalar, bits: u64) -> Expr;

    /// Zero of any type that has values.
    fn zero(&self, t: &mut Writer, ty: TypeId) -> Expr;

    /// A constant of these parts; a single part for all components of a vector.
    fn composite(&self, t: &mut Writer, ty: TypeId, parts: &[Expr]) -> Expr;

    /// The initial value of a variable.
    fn initial(&self, t: &mut Writer, id: ConstId) -> String;

    /// Declares a specialization constant.
    fn specialization(&self, t: &mut Writer, name: &str, number: u32, scalar: Scalar, default: u64);

    // Module-scope variables.

    /// The name of the variable for a block without an instance name; `None` if its members are global names.
    fn block_variable(&self, _: &mut Writer, _: GlobalId, _: StructId) -> Option<String> {
        None
    }

    /// Returns true if the name of a value can replace a variable.
    fn can_name(&self, _: &mut Body, _: LocalId, _: Value) -> bool {
        true
    }

    /// The largest space and number that a kind of resource can have.
    fn most_slots(&self, _: &'static str) -> (u32, u32) {
        (u32::MAX, u32::MAX)
    }

    /// Declares a variable, and returns its name.
    fn declare(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String;

    /// The variable for a built-in value of a block; `None` if the language has none.
    fn built_in(&self, b: &mut Body, of: BuiltIn, space: Space) -> Option<Expr>;

    /// The language's scalar type for a built-in value, which may differ from the module's.
    fn built_in_scalar(&self, t: &mut Writer, id: GlobalId) -> Option<Scalar>;

    // Buffers with the language's own layout rules, or that it treats as bytes.

    /// The form of a block if places in it go through `place`.
    fn form(&self, _: &mut Writer, _: GlobalId) -> Form {
        Form::Bytes
    }

    /// The text after an element of an array of textures or samplers.
    fn element_suffix(&self, _: &mut Writer, _: TypeId) -> &'static str {
        ""
    }

    /// Returns true if the elements of an array of blocks are pointers.
    fn block_arrays_point(&self) -> bool {
        false
    }

    /// A vector without its own alignment.
    fn packed_name(&self, t: &mut Writer, scalar: Scalar, size: u8) -> String {
        self.vector_name(t, scalar, size)
    }

    /// The declarations of a laid-out struct's members.
    fn member_lines(&self, t: &mut Writer, of: StructId, how: How, names: &[String]) -> Vec<String> {
        t.member_lines(of, how, names)
    }

    /// Returns true if components of a vector that are named together can be assigned.
    fn assigns_swizzles(&self) -> bool {
        true
    }

    /// The value at an atomic place, in languages that only read it by atomic operations.
    fn atomic_read(&self, place: &Expr) -> Expr {
        place.clone()
    }

    /// The store to an atomic place.
    fn atomic_write(&self, place: &Expr, value: &Expr) -> String {
        format!("{} = {}", place.text, value.text)
    }

    /// The declarations of members for this many bytes from an offset on.
    fn pad_lines(&self, _: Packing, _: u32, _: u32) -> Vec<String> {
        Vec::new()
    }

    /// The scalar this many bytes after an address, or the vector of consecutive scalars there.
    fn read_bytes(&self, b: &mut Body, _: &Address, _: Scalar, _: (u32, u8)) -> Expr {
        b.t.broken("bytes of a buffer")
    }

    /// Stores a scalar, or a vector of consecutive scalars.
    fn write_bytes(&self, b: &mut Body, _: &Address, _: (Scalar, u8), _: &Expr) {
        b.t.internal("bytes of a buffer");
    }

    /// The variables of a function to clear first, because compilers reject stores of undefined values.
    fn unset(&self, _: &Module, _: &Function) -> FxHashSet<LocalId> {
        FxHashSet::default()
    }

    // Functions.

    /// Called with the body of a function before its head is written.
    fn polish(&self, _: &mut Body, _: &mut Vec<Stmt>) {}

    /// Called before the body of a function is written.
    fn begin(&self, _: &mut Body) {}

    /// The head of a function: results, name, parameters, attributes.
    fn signature(&self, b: &mut Body, name: &str, params: &[String], entry: Option<&EntryPoint>) -> String;

    /// The declaration of a parameter; of the target's type if it is a pointer.
    fn parameter(&self, b: &mut Body, index: u32, param: &Param, name: &str) -> String;

    /// The word before the type of a variable with exact results.
    fn precise_word(&self, t: &mut Writer) -> &'static str;

    /// Returns from the entry point.
    fn leave_entry(&self, b: &mut Body) {
        b.line("return".to_string());
    }

    fn call(&self, b: &mut Body, callee: FuncId, name: &str, args: Vec<Made>) -> Expr;

    /// The arguments that a function may receive by reference, which must be the only one to its variable.
    fn references(&self) -> References {
        References::No
    }

    /// Returns true if parameters and names of values cannot be assigned.
    fn has_fixed_names(&self) -> bool {
        false
    }

    /// The value that declares a variable of a type.
    fn first_value(&self, b: &mut Body, value: Value, _: TypeId) -> String {
        b.value(value).text
    }

    /// Returns true if declarations in a loop header are out of scope after the loop.
    fn ends_counters(&self) -> bool {
        true
    }

    fn hint(&self, b: &mut Body, hint: ControlHint) -> &'static str;

    /// Returns true if a loop needs no exit.
    fn has_endless_loops(&self) -> bool {
        true
    }

    /// Returns true if loops have statements between iterations.
    fn has_continuing(&self) -> bool {
        false
    }

    /// Maximum number of steps in a loop's header.
    fn most_steps(&self) -> usize {
        3
    }

    /// Returns true if an arm of a switch can continue in the next.
    fn falls_through(&self) -> bool {
        true
    }

    /// Returns true if an arm of a switch can continue the loop around it.
    fn continues_from_switches(&self) -> bool {
        true
    }

    /// The value that a switch tests.
    fn selector(&self, _: &mut Writer, value: &Expr, _: TypeId) -> String {
        value.text.clone()
    }

    fn discard(&self, b: &mut Body);

    fn demote(&self, b: &mut Body);

    fn interlock(&self, b: &mut Body, begin: bool);

    fn print(&self, b: &mut Body, text: &str, args: Vec<Expr>);

    /// Ends the invocation.
    fn end(&self, b: &mut Body, _: Ending, _: Values) {
        b.t.unsupported("shaders that end so");
    }

    // Values.

    /// A composite of a value for each of its parts.
    fn construct(&self, b: &mut Body, ty: TypeId, parts: Vec<Expr>) -> Expr;

    fn splat(&self, t: &mut Writer, ty: TypeId, part: Expr) -> Expr;

    /// Returns true if a select between values of a type can be an expression.
    fn picks(&self, _: &Writer, _: TypeId) -> bool {
        true
    }

    /// A condition, the value if it is true, and the other value, as an expression.
    fn picked(&self, [condition, accept, reject]: [Expr; 3]) -> Expr {
        Expr::choice(&condition, &accept, &reject)
    }

    /// One of two values by a condition.
    fn choice(&self, b: &mut Body, parts: &[Expr; 3], ty: TypeId) -> Expr;

    /// A select for each component separately.
    fn mixed(&self, b: &mut Body, parts: &[Expr; 3], ty: TypeId) -> Expr;

    fn unary(&self, t: &mut Writer, op: UnaryOp, a: &Expr, of: TypeId) -> Expr;

    /// Returns true if overflow of signed sums, differences, products and negations is undefined in the language.
    fn has_undefined_overflow(&self) -> bool {
        false
    }

    /// The operands of an operator, without values that the language rejects at compile time.
    fn guarded(&self, _: &mut Body, _: BinaryOp, _: [Value; 2], both: [Expr; 2]) -> [Expr; 2] {
        both
    }

    /// An operator; `None` if its expansion needs the operands more than once.
    fn binary(&self, t: &mut Writer, op: BinaryOp, both: [&Expr; 2], of: [TypeId; 2]) -> Option<Expr>;

    /// The remainder with the sign of the dividend, if [`Language::binary`] returns `None`.
    fn remainder(&self, b: &mut Body, both: [Expr; 2], ty: TypeId) -> Expr;

    /// An operator between two operands.
    fn infix(&self, (op, level): (&str, Level), a: &Expr, b: &Expr) -> Expr {
        Expr::binary(op, level, a, b)
    }

    /// True if all components are equal.
    fn equal(&self, a: &Expr, b: &Expr, size: u8) -> Expr {
        let equal = self.infix(("==", Level::Equality), a, b);
        if size == 1 { equal } else { Expr::call("all", &[equal]) }
    }

    /// True if any components differ.
    fn unequal(&self, a: &Expr, b: &Expr, size: u8) -> Expr {
        let unequal = self.infix(("!=", Level::Equality), a, b);
        if size == 1 { unequal } else { Expr::call("any", &[unequal]) }
    }

    /// A call of a built-in function with one result; `None` if the language lacks it.
    fn function_of(&self, t: &mut Writer, function: MathFn, args: &[Expr], of: &[TypeId], ty: TypeId) -> Option<Expr>;

    fn math(&self, b: &mut Body, function: MathFn, args: Values, ty: TypeId) -> Made;

    /// A number as another type, component by component.
    fn converted(&self, t: &mut Writer, value: &Expr, from: TypeId, to: TypeId) -> Expr {
        if from == to {
            return value.clone();
        }
        Expr::call(&t.type_name(to), std::slice::from_ref(value))
    }

    /// Reinterprets the bits as another type.
    fn reinterpreted(&self, t: &mut Writer, value: &Expr, from: TypeId, to: TypeId) -> Expr;

    // Memory.

    /// A parameter at its use.
    fn param(&self, b: &mut Body, index: u32) -> Made {
        let points = b.t.types.pointee(b.f.params[index as usize].ty).is_some();
        Made::One(Expr::primary(b.params[index as usize].clone()).reading_memory(points))
    }

    /// A module-scope variable at its use.
    fn global(&self, b: &mut Body, id: GlobalId) -> Made {
        Made::One(Expr::primary(b.t.global(id)))
    }

    /// The suffix for a variable in an element, if the language has the variables of each vertex or primitive in one
    /// struct.
    fn element_part(&self, _: &mut Writer, _: GlobalId) -> Option<String> {
        None
    }

    /// The path to a part of a pointer's target.
    fn access(&self, b: &mut Body, id: InstId, base: Value, indices: Values, flags: InstFlags) -> Made {
        Made::One(b.path(id, base, indices, flags))
    }

    fn load(&self, b: &mut Body, pointer: Value, ty: TypeId) -> Made;

    fn store(&self, b: &mut Body, pointer: Value, value: Value);

    /// An index of resources that may differ between invocations.
    fn non_uniform(&self, t: &mut Writer, index: &str) -> String;

    /// The number of elements of a block's last member.
    fn array_length(&self, b: &mut Body, block: Value) -> Expr;

    /// `None` for stores.
    fn atomic(&self, b: &mut Body, op: AtomicOp, pointer: Value, args: Values, how: Ordering) -> Option<Expr>;

    fn barrier(&self, b: &mut Body, execution: Option<Scope>, memory: Scope, kinds: MemoryKinds, order: Order);

    fn interpolate(&self, b: &mut Body, at: InterpolateAt, pointer: Value, args: Values) -> Expr;

    /// An image with its sampler.
    fn combined(&self, b: &mut Body, args: Values, _: TypeId) -> Made {
        let args = b.list(args);
        Made::Pair([args[0].clone(), args[1].clone()])
    }

    /// The code of a texel that may not be resident, and the texel.
    fn resident(&self, b: &mut Body, _: ImageOp, _: &ImageCall, _: TypeId) -> Option<[Expr; 2]> {
        b.t.lacks("residency of texels");
        None
    }

    /// `None` for stores.
    fn image(&self, b: &mut Body, op: ImageOp, call: &ImageCall, ty: TypeId) -> Option<Expr>;

    /// An operation on a ray query or an acceleration structure; `None` if it has no result.
    fn ray(&self, b: &mut Body, _: RayOp, _: Value, _: Values, _: TypeId) -> Option<Expr> {
        Some(b.t.stand_in("ray queries"))
    }

    /// A foreign SPIR-V instruction; `None` if it has no result.
    fn foreign(&self, b: &mut Body, _: u32, _: Values, _: TypeId) -> Option<Expr> {
        Some(b.t.stand_in("instructions of SPIR-V's own"))
    }

    // Cross-lane operations.

    fn fact(&self, b: &mut Body, fact: LaneFact) -> Expr;

    /// The scalar type of bit functions' results.
    fn count_scalar(&self) -> Scalar {
        Scalar::U32
    }

    /// Unsigned numbers that are equal exactly if floats have the same bits.
    fn bits_of(&self, t: &mut Writer, value: &Expr, (scalar, size): (Scalar, u8)) -> Expr {
        let [from, to] =
            [scalar, Scalar { kind: ScalarKind::Uint, ..scalar }].map(|scalar| t.types.vector(scalar, size));
        t.reinterpreted(value, from, to)
    }

    /// The ballot of a mask of 64 bits.
    fn ballot_of_mask(&self, b: &mut Body, mask: &Expr) -> Expr {
        let [words, pair] = [(Scalar::U64, 1), (Scalar::U32, 2)].map(|(scalar, size)| b.t.types.vector(scalar, size));
        let halves = b.t.reinterpreted(mask, words, pair);
        let name = b.t.vector_name(Scalar::U32, 4);
        Expr::call(&name, &[halves, Expr::primary("0u"), Expr::primary("0u")])
    }

    /// A cross-lane function.
    fn group(&self, b: &mut Body, op: GroupOp, args: &[Arg]) -> Expr;
}
