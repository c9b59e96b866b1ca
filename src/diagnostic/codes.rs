//! The stable codes of all messages. A released code keeps its meaning. The code of a removed message is never reused.
//!
//! Ranges: E00xx input, E01xx preprocessor, E02xx GLSL syntax, E03xx names, types and expressions, E04xx declarations
//! and layouts, E05xx cross-lane operations, E06xx WGSL, E07xx profiles and targets, E08xx simulated runs, E09xx limits
//! and internal checks; N and W: the same ranges, as notes and warnings.

use std::fmt;

/// A stable message code such as `E0301`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Code(pub &'static str);

impl Code {
    /// Returns true if the shader may be right and the profile, or crosslane so far, cannot express it (E07xx).
    pub fn is_refusal(self) -> bool {
        self.0.starts_with("E07")
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $code:literal;)+) => {
        impl Code {
            $($(#[doc = $doc])+ pub const $name: Code = Code($code);)+
        }

        /// Every code with its meaning, in ascending order.
        pub static ALL: &[(Code, &str)] = &[$((Code::$name, concat!($($doc),+))),+];
    };
}

codes! {
    // Input.
    /// The input is not UTF-8.
    NOT_UTF8 = "E0001";
    /// The input, with everything it includes, is too large.
    TOO_LARGE = "E0002";
    /// A NUL byte or another character that no language here allows.
    BAD_CHARACTER = "E0003";
    /// The language of the input has no preprocessor.
    NO_PREPROCESSOR = "E0004";
    /// A value for a specialization constant that does not exist, does not fit, or makes an impossible size.
    BAD_SETTING = "E0005";
    /// A file that a build needs cannot be read, or an output not written.
    OUTPUT_FAILED = "E0006";
    /// An output is not there, or not what would be made.
    OUTPUT_DIFFERS = "E0007";
    /// The command cannot be carried out, for a reason that no shader is to blame for.
    COMMAND_FAILED = "E0008";
    /// The words are not a SPIR-V module, or the module breaks a rule of SPIR-V.
    BAD_MODULE = "E0009";

    // Preprocessor.
    /// A directive of a name that does not exist, or one that is not written as it must be.
    BAD_DIRECTIVE = "E0100";
    /// The shader does not begin with a `#version` line.
    VERSION_MISSING = "E0101";
    /// The `#version` line names a version or profile that is not supported.
    VERSION_UNSUPPORTED = "E0102";
    /// A `#version` line follows something else.
    VERSION_PLACE = "E0103";
    /// An `#elif`, `#else` or `#endif` that belongs to no open `#if`, or is after its `#else`.
    CONDITIONAL_ORDER = "E0104";
    /// A conditional group has no `#endif`.
    UNTERMINATED_IF = "E0105";
    /// The expression of a directive is not a constant integer expression.
    BAD_CONDITION = "E0106";
    /// A name that is not a macro is used in an `#if` expression.
    UNDEFINED_IN_CONDITION = "E0107";
    /// A macro name that a shader may not define or undefine.
    RESERVED_MACRO = "E0108";
    /// A macro is defined again with another meaning.
    MACRO_REDEFINED = "E0109";
    /// A macro definition is malformed.
    BAD_MACRO = "E0110";
    /// A macro is called with the wrong number of arguments, or its argument list does not end.
    MACRO_ARGUMENTS = "E0111";
    /// Pasting two tokens with `##` does not give a token.
    BAD_PASTE = "E0112";
    /// A required extension is unknown.
    EXTENSION_UNKNOWN = "E0113";
    /// An `#extension` line asks for a behavior that does not exist or does not fit.
    EXTENSION_BEHAVIOR = "E0114";
    /// An included file is not found or cannot be read.
    INCLUDE_FAILED = "E0117";
    /// A file includes itself, or files are included too deeply.
    INCLUDE_CYCLE = "E0118";
    /// The shader's own `#error` line.
    USER_ERROR = "E0119";
    /// A comment has no end.
    UNTERMINATED_COMMENT = "E0120";
    /// A string has no end on its line.
    UNTERMINATED_STRING = "E0121";
    /// A number is malformed or too large for its type.
    BAD_NUMBER = "E0122";
    /// Macros expand to more than the compiler takes.
    MACRO_LIMIT = "E0123";
    /// A `#` that begins no directive.
    STRAY_HASH = "E0124";
    /// More files are included than the limits allow.
    INCLUDE_LIMIT = "E0125";
    /// Nothing names the stage of the shader, or `#pragma shader_stage` names none that there is.
    STAGE_UNKNOWN = "E0126";

    // GLSL syntax.
    /// Something else was expected here.
    SYNTAX = "E0200";
    /// Nesting is deeper than the compiler follows.
    TOO_DEEP = "E0201";
    /// A reserved word is used as a name.
    RESERVED_WORD = "E0202";

    // Names, types and expressions.
    /// No declaration of this name is in scope.
    UNKNOWN_NAME = "E0300";
    /// No function of this name is known.
    UNKNOWN_FUNCTION = "E0301";
    /// No overload takes these arguments.
    NO_OVERLOAD = "E0302";
    /// A value of another type is needed here.
    TYPE_MISMATCH = "E0303";
    /// No type of this name is known.
    UNKNOWN_TYPE = "E0304";
    /// An operator does not take operands of these types.
    BAD_OPERANDS = "E0305";
    /// A constant expression is needed here.
    NOT_CONSTANT = "E0306";
    /// This expression cannot be written.
    NOT_WRITABLE = "E0307";
    /// This expression cannot be read.
    NOT_READABLE = "E0308";
    /// A constant index is out of range.
    INDEX_RANGE = "E0309";
    /// There is no such member, component or element.
    NO_SUCH_PART = "E0310";
    /// A constructor does not take these arguments.
    BAD_CONSTRUCTOR = "E0311";
    /// A statement in a place where it has no meaning.
    BAD_STATEMENT = "E0312";
    /// A function is called and never defined.
    NOT_DEFINED = "E0313";
    /// Functions call each other in a circle.
    RECURSION = "E0314";
    /// More than one overload takes these arguments, and none is the best.
    AMBIGUOUS_CALL = "E0350";
    /// The built-in needs a later version of the language.
    NEEDS_VERSION = "E0351";
    /// The built-in does not exist in this stage.
    WRONG_STAGE = "E0352";
    /// An atomic operation on something that is not a buffer or shared memory.
    NOT_ATOMIC_MEMORY = "E0353";

    // Declarations and layouts.
    /// A name is declared twice in one scope.
    REDECLARED = "E0400";
    /// A qualifier that is repeated, missing or does not belong here.
    BAD_QUALIFIER = "E0401";
    /// A layout qualifier that is unknown here or has a bad value, or memory that cannot be laid out.
    BAD_LAYOUT = "E0402";
    /// A type that cannot be used here.
    BAD_TYPE = "E0403";
    /// An initializer that is missing, not allowed, or does not fit.
    BAD_INITIALIZER = "E0404";
    /// A declaration that does not belong here.
    BAD_DECLARATION = "E0405";
    /// The shader has no entry point.
    NO_MAIN = "E0406";

    // Cross-lane operations.
    /// The operation needs an `#extension` line that the shader does not have.
    MISSING_EXTENSION = "E0500";
    /// The argument must be known when the shader is compiled.
    ARGUMENT_NOT_CONSTANT = "E0501";
    /// A width that is not a power of two, or out of range.
    WIDTH_INVALID = "E0502";
    /// A constant argument out of its range.
    ARGUMENT_RANGE = "E0504";
    /// The operands of a cross-lane operation do not fit it.
    BAD_LANE_OPERAND = "E0510";

    // WGSL.
    /// The text is not WGSL.
    WGSL_SYNTAX = "E0600";
    /// The module breaks a rule of WGSL.
    WGSL_INVALID = "E0601";
    /// There is no entry point, no such entry point, or none was chosen among several.
    ENTRY_POINT = "E0602";
    /// The default of an override with a number depends on other overrides.
    OVERRIDE_DEFAULT = "E0603";
    /// A definition from the command line is not a WGSL expression.
    BAD_DEFINE = "E0604";
    /// naga, which reads WGSL here, failed on the module: a defect of naga, not of the shader.
    NAGA_FAILED = "E0605";

    // Profiles and targets.
    /// The language has it, crosslane does not support it yet.
    NOT_SUPPORTED = "E0700";
    /// The profile lacks the hardware for a cross-lane operation, the promised subgroup size, or what an extension needs.
    PROFILE_LACKS = "E0701";
    /// A cross-lane operation needs wider subgroups.
    TOO_WIDE = "E0702";
    /// Assembly targets and the simulator do not support it yet.
    NOT_IN_KERNELS = "E0703";
    /// A SPIR-V module has what crosslane does not read (yet): an instruction, a type, a kind of control flow.
    MODULE_NOT_READ = "E0704";

    // Simulated runs.
    /// An access is outside its buffer or other memory.
    OUT_OF_RANGE = "E0800";
    /// An undefined value reaches memory, a branch or an address.
    UNDEFINED_VALUE = "E0801";
    /// Only some of the invocations of a workgroup reach a barrier.
    BARRIER_NOT_REACHED = "E0802";
    /// A loop did not end within the steps that a wave may run.
    STEP_LIMIT = "E0803";
    /// An access is not aligned as its memory's layout promises.
    MISALIGNED = "E0804";
    /// Control reaches what cannot be reached.
    UNREACHABLE = "E0805";
    /// Two machines leave different values in a buffer.
    MACHINES_DIFFER = "E0806";
    /// Two waves race in workgroup memory.
    DATA_RACE = "E0807";

    // Limits and internal checks.
    /// A check inside the compiler failed: a defect of crosslane, not of the shader.
    INTERNAL = "E0900";
    /// A compilation takes more steps than its limits allow.
    STEPS_EXCEEDED = "E0901";
    /// A compilation takes more memory than its limits allow.
    MEMORY_EXCEEDED = "E0902";

    // Notes on cross-lane operations.
    /// An operation means something else where subgroups have another size.
    WAVE_SIZE = "N0500";

    // Warnings of the preprocessor.
    /// Text after a directive that takes none.
    EXTRA_TEXT = "W0100";
    /// A name that is not a macro counts as 0 in an `#if` expression.
    UNDEFINED_IS_ZERO = "W0101";
    /// An extension that is asked for and not available.
    EXTENSION_IGNORED = "W0102";
    /// An `#extension` line comes after the first token of the shader.
    EXTENSION_LATE = "W0103";
    /// A macro name that is reserved for the implementation.
    RESERVED_NAME = "W0104";
    /// A macro produces `defined`.
    DEFINED_FROM_MACRO = "W0105";
    /// An `#include` line without the extension that allows it.
    INCLUDE_IMPLIED = "W0106";
    /// The command line puts another version in the place of the shader's.
    VERSION_FORCED = "W0107";

    // Warnings of GLSL syntax.
    /// A `;` in front of a block is the whole body of a loop or an `if`.
    EMPTY_BODY = "W0200";

    // Warnings of expressions.
    /// An integer is divided by zero.
    DIVISION_BY_ZERO = "W0300";
    /// Memory that is `writeonly` is updated, which reads it.
    WRITEONLY_READ = "W0301";
    /// A variable is read that certainly has no value yet.
    UNINITIALIZED = "W0302";
    /// A function with a result can end without a `return`.
    MISSING_RETURN = "W0303";
    /// Memory that is `readonly` is written through a buffer reference.
    READONLY_WRITTEN = "W0304";

    // Warnings of cross-lane operations.
    /// The workgroup does not fill the segments of an operation that reads all their lanes.
    SEGMENT_NOT_FULL = "W0500";
    /// An operation that reads all lanes of a segment, where only some may run it.
    LANES_APART = "W0501";
    /// The result of a reduction is used in a lane that does not have it.
    RESULT_ELSEWHERE = "W0502";
    /// An index that must be the same in all lanes differs between them.
    INDEX_VARIES = "W0503";
    /// A constant lane, mask or distance names lanes that no subgroup, or no quad, has.
    LANE_OUTSIDE = "W0504";
    /// A barrier that only some invocations of the workgroup may reach.
    BARRIER_APART = "W0505";
    /// A segment is wider than the smallest subgroup that a driver may choose.
    NARROW_SUBGROUPS = "W0506";

    // Warnings of WGSL.
    /// An override without a default value.
    OVERRIDE_WITHOUT_DEFAULT = "W0600";
    /// A definition from the command line that nothing in the module takes.
    DEFINE_WITHOUT_EFFECT = "W0601";

    // Warnings of targets.
    /// The target cannot keep what `precise` promises.
    PRECISE_LOST = "W0700";
    /// A loop that `[[unroll]]` asks to unroll stays a loop.
    NOT_UNROLLED = "W0701";
    /// A qualifier that the target's text does not have.
    QUALIFIER_LOST = "W0702";

    // Warnings of simulated runs.
    /// Contents are given for a buffer that the shader does not use.
    UNUSED_BUFFER = "W0800";
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn codes_ascend_and_are_unique() {
        assert!(ALL.windows(2).all(|pair| pair[0].0.0 < pair[1].0.0), "codes.rs: out of order or used twice");
    }
}
