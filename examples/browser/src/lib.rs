//! A curve that is fitted by gradient descent while somebody drags the points: the part of the
//! example that runs as WebAssembly.
//!
//! The page calls the functions at the end of this file, and passes numbers only. So neither side
//! reads the other's memory, and no tool has to write glue between them.

mod fit;

use std::cell::RefCell;

pub use fit::{Fit, Network};

thread_local! {
    static FIT: RefCell<Fit> = RefCell::new(Fit::new(UNITS));
}

/// The number of units of the network.
const UNITS: usize = 12;

fn with<R>(f: impl FnOnce(&mut Fit) -> R) -> R {
    FIT.with_borrow_mut(f)
}

/// Begins again, with this number of units. The points stay.
#[unsafe(no_mangle)]
pub extern "C" fn restart(units: u32) {
    with(|fit| fit.restart(units.clamp(1, 64) as usize));
}

/// The number of points.
#[unsafe(no_mangle)]
pub extern "C" fn points() -> u32 {
    with(|fit| u32::try_from(fit.points().len()).unwrap_or(u32::MAX))
}

/// The coordinate of a point; NaN if there is no such point.
#[unsafe(no_mangle)]
pub extern "C" fn point_x(k: u32) -> f64 {
    with(|fit| fit.points().get(k as usize).map_or(f64::NAN, |p| p[0]))
}

/// The value of a point; NaN if there is no such point.
#[unsafe(no_mangle)]
pub extern "C" fn point_y(k: u32) -> f64 {
    with(|fit| fit.points().get(k as usize).map_or(f64::NAN, |p| p[1]))
}

/// Adds a point, and returns its number.
#[unsafe(no_mangle)]
pub extern "C" fn add_point(x: f64, y: f64) -> u32 {
    with(|fit| fit.add_point([x, y]));
    points() - 1
}

/// Moves a point.
#[unsafe(no_mangle)]
pub extern "C" fn move_point(k: u32, x: f64, y: f64) {
    with(|fit| fit.move_point(k as usize, [x, y]));
}

/// Removes a point. The points after it move up by one.
#[unsafe(no_mangle)]
pub extern "C" fn remove_point(k: u32) {
    with(|fit| fit.remove_point(k as usize));
}

/// Makes so many steps of gradient descent, and returns the loss before the last one.
#[unsafe(no_mangle)]
pub extern "C" fn descend(steps: u32, rate: f64) -> f64 {
    with(|fit| (0..steps).map(|_| fit.step(rate)).last()).unwrap_or(f64::NAN)
}

/// The length of the last gradient.
#[unsafe(no_mangle)]
pub extern "C" fn slope() -> f64 {
    with(|fit| fit.slope())
}

/// The value of the fitted curve.
#[unsafe(no_mangle)]
pub extern "C" fn curve(x: f64) -> f64 {
    with(|fit| fit.curve(x))
}

/// The number of parameters that are fitted.
#[unsafe(no_mangle)]
pub extern "C" fn parameters() -> u32 {
    with(|fit| u32::try_from(fit.parameters()).unwrap_or(u32::MAX))
}
