//! Records which stage of the compiler is running. Only the report of an internal failure uses
//! this.

use std::cell::Cell;

thread_local! {
    static STAGE: Cell<&'static str> = const { Cell::new("the front end") };
}

/// Records the stage that runs from here on.
pub fn enter(stage: &'static str) {
    STAGE.set(stage);
}

/// The running stage.
pub fn current() -> &'static str {
    STAGE.get()
}
