//! The functions that the page calls. A question is written into memory from [`alloc`]; [`ask`] frees it, and [`answer`] is
//! there until the next question. After a panic [`fault`] has its message, and the instance is of no more use.

use crate::Session;
use std::cell::{Cell, RefCell};
use std::panic;

thread_local! {
    static SESSION: RefCell<Session> = RefCell::default();
    static ANSWER: Cell<String> = const { Cell::new(String::new()) };
    static FAULT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Prepares the instance: panics leave their message.
#[unsafe(no_mangle)]
pub extern "C" fn start() {
    panic::set_hook(Box::new(|info| FAULT.with_borrow_mut(|fault| *fault = info.to_string())));
}

/// Memory for a question of `len` bytes.
#[unsafe(no_mangle)]
pub extern "C" fn alloc(len: usize) -> *mut u8 {
    Box::leak(vec![0; len].into_boxed_slice()).as_mut_ptr()
}

/// Answers the question in memory from [`alloc`] of exactly `len` bytes; returns the number of bytes of the answer.
///
/// # Safety
/// `question` comes from [`alloc`] with the same `len`, and was not asked before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ask(question: *mut u8, len: usize) -> usize {
    // SAFETY: the caller promises that this is the memory that `alloc` leaked.
    let question = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(question, len)) };
    let answer = SESSION.with_borrow_mut(|session| session.answer(&String::from_utf8_lossy(&question)));
    let bytes = answer.len();
    ANSWER.set(answer);
    bytes
}

/// The bytes of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    let text = ANSWER.take();
    let bytes = text.as_ptr();
    ANSWER.set(text);
    bytes
}

/// The message of the panic that ended the instance; returns its bytes, `fault_len` how many there are.
#[unsafe(no_mangle)]
pub extern "C" fn fault() -> *const u8 {
    FAULT.with_borrow(|fault| fault.as_ptr())
}

/// Bytes of [`fault`]; 0 without one.
#[unsafe(no_mangle)]
pub extern "C" fn fault_len() -> usize {
    FAULT.with_borrow(String::len)
}
