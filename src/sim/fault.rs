//! The errors of a run: the place, the invocation and a message.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;

/// The kind of access to memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    Load,
    Store,
    Atomic,
}

/// An access and the memory that it misses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Access {
    pub kind: AccessKind,
    /// The buffer's name, or the kind of memory.
    pub memory: Box<str>,
    /// First byte, counted from the start of the memory.
    pub offset: u64,
    /// Bytes of the access.
    pub bytes: u32,
    /// Bytes of the memory.
    pub size: u64,
}

/// The use of an undefined value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    Memory,
    Address,
    Condition,
}

/// The kind of error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FaultKind {
    OutOfRange(Access),
    /// The address is not a multiple of the assumed alignment, in bytes.
    Misaligned(Access, u32),
    Undefined(Use),
    /// Only some of the invocations of a workgroup reach a barrier; this many wait there.
    Barrier {
        waiting: u32,
        of: u32,
    },
    /// The invocations of a workgroup wait at different barriers, one of them here.
    Barriers {
        other: Span,
    },
    /// Another wave accesses the same workgroup memory there, one of the two writes it, and no barrier orders them.
    Race {
        other: Span,
    },
    /// A wave ran this many instructions, and its loop, if it is in one, did not exit.
    Steps {
        limit: u64,
    },
    /// Control reaches unreachable code.
    Unreachable,
    /// An operation has operands of the wrong kind: a bug in the compiler.
    Malformed(Box<str>),
}

/// An invocation of a dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Invocation {
    pub workgroup: [u32; 3],
    /// The invocation's position in its workgroup.
    pub local: [u32; 3],
    /// Number of its wave in the workgroup.
    pub wave: u32,
    pub lane: u32,
}

/// The end of a run by an error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    pub kind: FaultKind,
    pub span: Span,
    pub at: Invocation,
}

impl AccessKind {
    /// With its article, as in "a load of 4 bytes at 8 is …".
    const fn with_article(self) -> &'static str {
        match self {
            AccessKind::Load => "a load",
            AccessKind::Store => "a store",
            AccessKind::Atomic => "an atomic operation",
        }
    }
}

impl Fault {
    /// The message for people and tools.
    pub fn diagnostic(&self) -> Diagnostic {
        let diagnostic = match &self.kind {
            FaultKind::OutOfRange(access) => {
                let message = format!("{} is out of range", access.kind.with_article());
                Diagnostic::error(Code::OUT_OF_RANGE, message).at(self.span, access.place())
            }
            FaultKind::Misaligned(access, align) => {
                let message = format!("{} is not at a multiple of {align} bytes", access.kind.with_article());
                Diagnostic::error(Code::MISALIGNED, message).at(self.span, access.place())
            }
            FaultKind::Undefined(reached) => self.undefined(*reached),
            FaultKind::Barrier { waiting, of } => {
                Diagnostic::error(Code::BARRIER_NOT_REACHED, "not all invocations of the workgroup reach this barrier")
                    .at(self.span, format!("{waiting} of {of} invocations wait here"))
            }
            FaultKind::Barriers { other } => {
                Diagnostic::error(Code::BARRIER_NOT_REACHED, "invocations of a workgroup wait at different barriers")
                    .at(self.span, "some wait here")
                    .with(*other, "others wait here")
            }
            FaultKind::Race { other } => {
                let message = "two waves race in workgroup memory";
                let race = Diagnostic::error(Code::DATA_RACE, message).at(self.span, "this access");
                let race = if *other == self.span { race } else { race.with(*other, "an access to the same bytes") };
                race.note("no barrier orders the accesses, and one of them changes the bytes")
                    .help("put `barrier();` between them")
            }
            FaultKind::Steps { limit } => {
                Diagnostic::error(Code::STEP_LIMIT, format!("the loop does not end within {limit} steps"))
                    .at(self.span, "this loop does not end")
                    .note("--max-steps allows a wave more instructions")
            }
            FaultKind::Unreachable => {
                Diagnostic::error(Code::UNREACHABLE, "control reaches a place that has no meaning")
                    .at(self.span, "this is reached")
            }
            FaultKind::Malformed(what) => {
                Diagnostic::error(Code::INTERNAL, "an operation cannot take its operands").at(self.span, what.as_ref())
            }
        };
        diagnostic.note(self.at.to_string())
    }

    fn undefined(&self, reached: Use) -> Diagnostic {
        let (message, label) = match reached {
            Use::Memory => ("an undefined value reaches memory", "the value that is stored here is undefined"),
            Use::Address => ("an undefined value is used as an address", "the address is undefined"),
            Use::Condition => ("control flow depends on an undefined value", "the condition is undefined"),
        };
        Diagnostic::error(Code::UNDEFINED_VALUE, message).at(self.span, label)
    }
}

impl Access {
    fn place(&self) -> String {
        let Access { memory, offset, bytes, size, .. } = self;
        format!("{bytes} bytes at byte {offset} of {memory}, which has {size}")
    }
}

impl std::fmt::Display for Invocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ([gx, gy, gz], [x, y, z]) = (self.workgroup, self.local);
        write!(
            f,
            "in invocation ({x}, {y}, {z}) of workgroup ({gx}, {gy}, {gz}): lane {} of wave {}",
            self.lane, self.wave
        )
    }
}
