//! The panics of a derivative where its function panics inside of a loop.
//!
//! A derivative finds out that an iteration of its function would fail, not which one. The message
//! of the panic may show values of that iteration. So the derivative calls the function with its own
//! arguments and lets that fail. **Not a public API**: stable only together with the macros.

use std::any::Any;
use std::fmt::Arguments;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Panics as the function does; with `message` if the function returns.
///
/// # Panics
/// Always.
#[cold]
#[track_caller]
pub fn panic_of<R>(function: impl FnOnce() -> R, message: Arguments<'_>) -> ! {
    let _value = function();
    panic!("{message}")
}

/// Panics with `message`, and with what the function says when it panics.
///
/// # Panics
/// Always.
#[cold]
#[track_caller]
pub fn panic_because<R>(function: impl FnOnce() -> R, message: Arguments<'_>) -> ! {
    match catch_unwind(AssertUnwindSafe(function)) {
        Err(payload) => match text(&*payload) {
            Some(reason) => panic!("{message}: {reason}"),
            None => panic!("{message}"),
        },
        Ok(_) => panic!("{message}"),
    }
}

/// The message of a panic.
fn text(payload: &(dyn Any + Send)) -> Option<&str> {
    payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied())
}
