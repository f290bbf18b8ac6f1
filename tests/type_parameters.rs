//! Generic functions that are called: a type parameter means the type that it has in the call.

use ad::prelude::*;

#[differentiable]
fn halved<T: Real>(x: T) -> T {
    T::lit(0.5) * x + T::zero()
}

#[differentiable]
fn softened<T>(x: &Array1<T>, floor: T) -> Array1<T>
where
    T: Real,
{
    let mut out = Array1::<T>::zeros(x.len());
    for i in 0..x.len() {
        let shifted = |v: T| v - T::lit(0.25);
        out[i] = T::max(shifted(x[i]), floor) * T::from(i + 1).unwrap();
    }
    out
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Spring<T: Real> {
    stiffness: T,
    length: T,
}

#[differentiate]
impl<T: Real> Spring<T> {
    fn energy(&self, x: T) -> T {
        T::lit(0.5) * self.stiffness * (x - self.length).powi(2) + Self::offset(x)
    }

    fn offset(x: T) -> T {
        T::one() / (T::lit(2.0) + x * x)
    }
}

#[differentiate]
fn in_f64(x: f64) -> f64 {
    halved(x) * halved(x * x)
}

#[differentiate]
fn in_f32(x: f32) -> f32 {
    halved(x) * halved(x * x)
}

/// The parameter has another name here.
#[differentiate]
fn in_generic<Number: Real>(x: Number) -> Number {
    halved(x) * halved(x * x)
}

#[differentiate]
fn with_literal(x: f64) -> f64 {
    x * halved(3.0) * halved::<f64>(2.0)
}

#[differentiate]
fn of_arrays(x: &Array1<f64>) -> f64 {
    let y = softened(x, 0.1);
    y.dot(&y)
}

#[differentiate]
fn nested(x: f64) -> f64 {
    fn third<T: Real>(x: T) -> T {
        let sum: T = [x, T::lit(2.0)].iter().copied().sum::<T>();
        sum / T::lit(3.0)
    }
    third(x) * third(x * x)
}

/// The nested function has a parameter of the same name.
#[differentiate(wrt(x))]
fn nested_in_generic<T: Real>(x: T, weight: f64) -> T {
    fn third<T: Real>(x: T) -> T {
        x / T::lit(3.0)
    }
    T::lit(third(weight)) * third(x * x)
}

#[differentiate]
fn by_method(spring: &Spring<f64>, x: f64) -> f64 {
    spring.energy(x) + Spring::<f64>::offset(x)
}

#[differentiate]
fn by_method_in_f32(spring: &Spring<f32>, x: f32) -> f32 {
    spring.energy(x)
}

/// A function of both types.
#[differentiate(wrt(x))]
fn mixed(x: f64, y: f32) -> f64 {
    halved(x) * f64::from(halved(y))
}

#[test]
fn a_type_parameter_means_the_type_of_the_call() {
    ad::check_grad!(in_f64(0.7));
    assert_eq!(in_f64_grad(2.0), 3.0);
    assert_eq!(in_f32_grad(2.0), 3.0);
    assert_eq!(in_generic_grad(2.0_f32), 3.0);
    assert_eq!(with_literal_grad(2.0), 1.5);
}

#[test]
fn it_is_found_in_arrays_and_where_clauses() {
    ad::check_grad!(of_arrays(&array![0.5, -1.0, 2.0]));
    ad::check_grad!(of_arrays(&array![]));
}

#[test]
fn nested_functions_have_their_own() {
    ad::check_grad!(nested(0.7));
    assert_eq!(nested_in_generic_grad(3.0_f32, 6.0), 4.0);
}

#[test]
fn methods_of_generic_types_have_those_of_the_value() {
    let spring = Spring { stiffness: 2.0, length: 1.0 };
    ad::check_grad!(by_method(&spring, 0.3));
    let (by_spring, by_x) = by_method_in_f32_grad(&Spring { stiffness: 2.0, length: 1.0 }, 0.0);
    assert_eq!((by_spring.stiffness, by_spring.length, by_x), (0.5, 2.0, -2.0));
}

#[test]
fn calls_of_different_types_do_not_meet() {
    assert_eq!(mixed_grad(1.0, 4.0), 1.0);
}
