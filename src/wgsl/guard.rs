//! Keeps a panic inside naga from becoming one of ours: it is caught, printed nowhere, and returned as text.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether panics of this thread go unreported.
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Puts a hook in front of the one that is there. It passes on the panics of all threads but the quiet ones.
fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
}

/// Runs `what`.
///
/// # Errors
/// The message of the panic that ended it.
pub(super) fn caught<T>(what: impl FnOnce() -> T) -> Result<T, String> {
    install_hook();
    let was = QUIET.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(what));
    QUIET.set(was);
    result.map_err(|payload| message(&*payload))
}

fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_string());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}

/// Runs `what` on a thread with a stack of `bytes`.
///
/// # Errors
/// When there is no room for the thread, or `what` panics.
pub(super) fn on_large_stack<T: Send>(bytes: usize, what: impl FnOnce() -> T + Send) -> Result<T, String> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(bytes).spawn_scoped(scope, what);
        let thread = thread.map_err(|error| error.to_string())?;
        thread.join().map_err(|payload| message(&*payload))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_become_text() {
        assert_eq!(caught(|| panic!("gone {}", 3)), Err::<(), _>("gone 3".into()));
        assert_eq!(caught(|| 7), Ok(7));
        assert_eq!(on_large_stack(1 << 20, || 8), Ok(8));
    }
}
