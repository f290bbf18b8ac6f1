//! Panics of a derivative for panics of its function inside of a loop.
//!
//! A derivative detects that some iteration of its function would fail, but not which one. The
//! message of the panic may show values of that iteration. So the derivative calls the function
//! with its own arguments and lets that fail. Nothing here is generic, so that each check does not
//! compile an instance. **Not a public API**: stable only together with the macros.

use std::any::Any;
use std::fmt::Arguments;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Panics as the function does; with `message` if the function returns.
///
/// # Panics
/// Always.
#[cold]
#[track_caller]
pub fn panic_of(function: &dyn Fn(), message: Arguments<'_>) -> ! {
    function();
    panic!("{message}")
}

/// Panics with `message`, and with the message of the function's own panic.
///
/// # Panics
/// Always.
#[cold]
#[track_caller]
pub fn panic_because(function: &dyn Fn(), message: Arguments<'_>) -> ! {
    match catch_unwind(AssertUnwindSafe(function)) {
        Err(payload) => match text(&*payload) {
            Some(reason) => panic!("{message}: {reason}"),
            None => panic!("{message}"),
        },
        Ok(()) => panic!("{message}"),
    }
}

/// The message of a panic.
fn text(payload: &(dyn Any + Send)) -> Option<&str> {
    payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied())
}
