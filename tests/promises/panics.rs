//! The message of a call that panics, and all functions that can be called.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static SAID: RefCell<(String, u32, String)> = const { RefCell::new((String::new(), 0, String::new())) };
    /// Whether a panic is expected.
    static WANTED: Cell<bool> = const { Cell::new(false) };
}

/// The message of the panic of `f`, its line, and the file.
#[track_caller]
pub fn panic_of<T>(f: impl FnOnce() -> T) -> (String, u32, String) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !WANTED.get() {
                return before(info);
            }
            let place = info.location().map_or((0, String::new()), |l| (l.line(), l.file().to_string()));
            let text = info.payload_as_str().unwrap_or_default().to_string();
            SAID.with(|said| *said.borrow_mut() = (text, place.0, place.1));
        }));
    });
    WANTED.set(true);
    let result = catch_unwind(AssertUnwindSafe(f));
    WANTED.set(false);
    assert!(result.is_err(), "there is no panic");
    SAID.with(|said| said.borrow().clone())
}

/// A call of one of the generated functions.
pub type Call<'a> = (&'static str, Box<dyn Fn() + 'a>);

/// All functions that the attribute generates for a function of `(x: &Array1<f64>, k: usize)` with
/// all options, and the function itself.
macro_rules! calls {
    ($x:expr, $k:expr, $f:ident $grad:ident $both:ident $vjp:ident $jvp:ident $jacobian:ident $hvp:ident $hessian:ident $pullback:ident $into:ident) => {{
        let (x, k): (&Array1<f64>, usize) = ($x, $k);
        let d = Array1::<f64>::ones(x.len());
        let (d1, d2) = (d.clone(), d.clone());
        let calls: Vec<$crate::panics::Call<'_>> = vec![
            (
                "function",
                Box::new(move || {
                    let _ = $f(x, k);
                }),
            ),
            (
                "grad",
                Box::new(move || {
                    let _ = $grad(x, k);
                }),
            ),
            (
                "value_and_grad",
                Box::new(move || {
                    let _ = $both(x, k);
                }),
            ),
            (
                "vjp",
                Box::new(move || {
                    let _ = $vjp(x, k, 1.0);
                }),
            ),
            (
                "jvp",
                Box::new(move || {
                    let _ = $jvp(x, k, &d1);
                }),
            ),
            (
                "jacobian",
                Box::new(move || {
                    let _ = $jacobian(x, k);
                }),
            ),
            (
                "hvp",
                Box::new(move || {
                    let _ = $hvp(x, k, &d2);
                }),
            ),
            (
                "hessian",
                Box::new(move || {
                    let _ = $hessian(x, k);
                }),
            ),
            (
                "pullback",
                Box::new(move || {
                    let _ = $pullback(x, k).1(1.0);
                }),
            ),
            (
                "into",
                Box::new(move || {
                    let _ = $into(x, k, &mut d.clone());
                }),
            ),
        ];
        calls
    }};
}
pub(crate) use calls;
