//! ndarray's memory orders and orders of summation. This module knows the core language and nothing of the front end.

mod rules;

pub use rules::{ReductionOrder, ResultOrder};
