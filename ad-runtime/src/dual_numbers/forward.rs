//! Numbers of forward mode: a value and its tangent. This module must never hold a rule of
//! differentiation.

use super::rules::Number;
use crate::Real;

/// A number of type `T`, and its derivative along a direction.
#[derive(Clone, Copy, Default)]
pub struct Forward<T> {
    pub(super) value: T,
    pub(super) tangent: T,
}

/// A product with a tangent. A tangent of zero contributes nothing, even if the partial derivative
/// is infinite.
#[inline(always)]
fn along<T: Real>(tangent: T, partial: impl FnOnce() -> T) -> T {
    if tangent.vanishes() { T::zero() } else { partial() * tangent }
}

impl<T: Real> Number for Forward<T> {
    type Inner = T;

    #[inline(always)]
    fn constant(value: T) -> Self {
        Forward { value, tangent: T::zero() }
    }

    #[inline(always)]
    fn primal(self) -> T {
        self.value
    }

    #[inline(always)]
    fn vanishes(self) -> bool {
        self.value.vanishes() && self.tangent.vanishes()
    }

    #[inline(always)]
    fn is_constant(self) -> bool {
        self.tangent.vanishes()
    }

    #[inline(always)]
    fn shifted(self, value: T) -> Self {
        Forward { value, ..self }
    }

    #[inline(always)]
    fn unary(self, value: T, partial: impl FnOnce() -> T) -> Self {
        Forward { value, tangent: along(self.tangent, partial) }
    }

    #[inline(always)]
    fn binary(self, other: Self, value: T, first: impl FnOnce() -> T, second: impl FnOnce() -> T) -> Self {
        Forward { value, tangent: along(self.tangent, first) + along(other.tangent, second) }
    }
}
