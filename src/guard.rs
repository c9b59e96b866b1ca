//! Keeps panics and limits inside the library: an unwind is caught, printed nowhere, and becomes a message.

use crate::diagnostic::{Code, Diagnostic};
use crate::limits::{self, Budget, Exceeded, Limits, Taken};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// True if panics of this thread go unreported.
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// The place of the last panic.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Installs a hook in front of the existing one. It passes on the panics of all threads except the quiet ones. If
/// panics abort, it passes on those too, because nothing else would report them.
fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if QUIET.get() && cfg!(panic = "unwind") {
                PLACE.set(info.location().map(|at| format!("{}:{}", at.file(), at.line())));
            } else {
                before(info);
            }
        }));
    });
}

/// Why a computation did not finish.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Failure {
    Limit(Exceeded),
    Panic {
        message: String,
        /// File and line, in crosslane or in a dependency.
        place: Option<String>,
    },
}

impl Failure {
    fn of(payload: &(dyn Any + Send)) -> Failure {
        match payload.downcast_ref::<Exceeded>() {
            Some(exceeded) => Failure::Limit(*exceeded),
            None => Failure::Panic { message: message(payload), place: PLACE.take() },
        }
    }

    fn diagnostic(self) -> Diagnostic {
        match self {
            Failure::Limit(limit) => {
                let (code, note) = match limit {
                    Exceeded::Steps(_) => (Code::STEPS_EXCEEDED, "`Limits::steps` is the limit"),
                    Exceeded::Memory(_) => (Code::MEMORY_EXCEEDED, "`Limits::memory` is the limit"),
                };
                Diagnostic::error(code, limit.to_string()).note(note)
            }
            Failure::Panic { message, place } => {
                let first = message.lines().next().unwrap_or("");
                let place = place.map(|place| format!(" ({place})")).unwrap_or_default();
                let message = format!("the compiler failed: {first}{place}");
                Diagnostic::error(Code::INTERNAL, message).note("this is a defect of crosslane; please report it")
            }
        }
    }
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}

/// Runs part of a compilation within limits.
///
/// # Errors
/// Returns the limit that ended the part, or the panic, which is a bug in crosslane.
pub(crate) fn bounded<T>(limits: Limits, part: impl FnOnce() -> T) -> Result<T, Diagnostic> {
    measured(limits, part).0
}

/// Runs part of a compilation within limits, and returns how much of the limits was used.
pub(crate) fn measured<T>(limits: Limits, part: impl FnOnce() -> T) -> (Result<T, Diagnostic>, Taken) {
    let around = limits::replace(Budget::new(limits));
    let result = caught(part);
    let taken = limits::replace(around).taken();
    (result.map_err(Failure::diagnostic), taken)
}

/// Runs `what`.
///
/// # Errors
/// Returns the limit or the panic that ended `what` early.
pub(crate) fn caught<T>(what: impl FnOnce() -> T) -> Result<T, Failure> {
    install_hook();
    let was = QUIET.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(what));
    QUIET.set(was);
    result.map_err(|payload| Failure::of(&*payload))
}

/// Runs `what`. A limit that is hit still ends the enclosing compilation.
///
/// # Errors
/// Returns the message of the panic that ended `what`.
pub(crate) fn caught_panic<T>(what: impl FnOnce() -> T) -> Result<T, String> {
    caught(what).map_err(|failure| match failure {
        Failure::Limit(exceeded) => panic::resume_unwind(Box::new(exceeded)),
        Failure::Panic { message, .. } => message,
    })
}

/// Runs `what` on a thread with a stack of `bytes` and this thread's budget. WebAssembly has one thread; the linker
/// sets the size of its stack.
///
/// # Errors
/// Returns an error if the thread cannot be created.
pub(crate) fn on_large_stack<T: Send>(bytes: usize, what: impl FnOnce() -> T + Send) -> Result<T, String> {
    if cfg!(target_family = "wasm") {
        return Ok(what());
    }
    let budget = limits::current();
    let (result, left) = std::thread::scope(|scope| {
        let work = || {
            limits::replace(budget);
            (caught(what), limits::current())
        };
        let thread = std::thread::Builder::new().stack_size(bytes).spawn_scoped(scope, work);
        let joined = thread.map_err(|error| error.to_string())?.join();
        joined.map_err(|payload| message(&*payload))
    })?;
    limits::replace(left);
    result.map_err(|failure| match failure {
        Failure::Limit(exceeded) => panic::resume_unwind(Box::new(exceeded)),
        Failure::Panic { message, .. } => message,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_messages() {
        assert_eq!(caught_panic(|| panic!("gone {}", 3)), Err::<(), _>("gone 3".into()));
        assert_eq!(caught_panic(|| 7), Ok(7));
        let error = bounded(Limits::default(), || -> u32 { panic!("gone") }).expect_err("it panics");
        assert_eq!(error.code, Code::INTERNAL);
        assert!(error.message.starts_with("the compiler failed: gone (src/guard.rs:"), "{}", error.message);
    }

    #[test]
    fn counts_end_what_passes_them() {
        let limits = Limits { steps: 10, memory: 16, ..Limits::default() };
        let code = |part: fn()| bounded(limits, part).expect_err("it is too much").code;
        assert_eq!(bounded(limits, || limits::spend(10)), Ok(()));
        assert_eq!(code(|| (0..11).for_each(|_| limits::spend(1))), Code::STEPS_EXCEEDED);
        assert_eq!(code(|| limits::hold::<u64>(3)), Code::MEMORY_EXCEEDED);
        assert_eq!(code(|| drop(caught_panic(|| limits::spend(11)))), Code::STEPS_EXCEEDED);
        limits::spend(1 << 20);
    }

    #[test]
    fn a_thread_with_a_large_stack_takes_the_budget_along() {
        assert_eq!(on_large_stack(1 << 20, || 8), Ok(8));
        let limits = Limits { steps: 10, ..Limits::default() };
        let part = || {
            let done = on_large_stack(1 << 20, || limits::spend(6));
            limits::spend(6);
            done
        };
        assert_eq!(bounded(limits, part).expect_err("it is too much").code, Code::STEPS_EXCEEDED);
    }
}
