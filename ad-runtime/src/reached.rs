//! Panics of a derivative for panics of its function inside of a loop, and errors for errors.
//!
//! A derivative detects that some iteration of its function would fail, but not which one. The
//! message of the panic may show values of that iteration. So the derivative calls the function
//! with its own arguments and lets that fail. No check of a panic is generic, so that
//! none compiles an instance. **Not a public API**: stable only together with the macros.

use core::fmt::Arguments;

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

/// Panics with `message`, and with the message of the function's own panic. Without std, a panic
/// cannot be caught, so it is the function's own panic alone.
///
/// # Panics
/// Always.
#[cold]
#[track_caller]
#[cfg(not(feature = "std"))]
pub fn panic_because(function: &dyn Fn(), message: Arguments<'_>) -> ! {
    panic_of(function, message)
}

/// Panics with `message`, and with the message of the function's own panic.
///
/// # Panics
/// Always.
#[cold]
#[track_caller]
#[cfg(feature = "std")]
pub fn panic_because(function: &dyn Fn(), message: Arguments<'_>) -> ! {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    match catch_unwind(AssertUnwindSafe(function)) {
        Err(payload) => match text(&*payload) {
            Some(reason) => panic!("{message}: {reason}"),
            None => panic!("{message}"),
        },
        Ok(()) => panic!("{message}"),
    }
}

/// The error of a function whose derivative finds no result.
///
/// # Panics
/// If the function has a result. Its derivative takes the same decisions, so this is a defect of
/// the derivative.
#[cold]
pub fn error_of<T, E>(result: Result<T, E>) -> E {
    match result {
        Err(error) => error,
        Ok(_) => panic!("the function has a result, but its derivative found none"),
    }
}

/// The message of a panic.
#[cfg(feature = "std")]
fn text(payload: &(dyn core::any::Any + Send)) -> Option<&str> {
    use alloc::string::String;

    payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied())
}
