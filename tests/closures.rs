//! Functions as values: chosen by conditions and numbers, in arrays, structs and boxes, passed to
//! functions and returned by them. The derivative is that of the chosen function, with respect to
//! its captured variables too.

use ad::check_grad;
use ad::prelude::*;
use ndarray::{Array1, array};

#[differentiate]
fn by_reference(x: f64) -> f64 {
    let f: &dyn Fn(f64) -> f64 = if x > 0.0 { &|y| y * x } else { &|y| y + 1.0 };
    f(2.0)
}

#[differentiate]
fn pointers(x: f64, k: usize) -> f64 {
    let f: fn(f64) -> f64 = match k {
        0 => f64::sin,
        1 => |y| y * y,
        _ => f64::cos,
    };
    f(x)
}

#[differentiate]
fn by_numbers(x: f64, which: &[usize]) -> f64 {
    let all: [fn(f64) -> f64; 3] = [f64::sin, f64::cos, f64::tanh];
    let mut y = x;
    for k in which {
        y = all[*k](y) + x;
    }
    y
}

#[differentiate]
fn optional(x: f64) -> f64 {
    let f: Option<fn(f64) -> f64> = if x > 1.0 { Some(f64::exp) } else { None };
    match f {
        Some(f) => f(x),
        None => x * x,
    }
}

/// A function in a struct, called by a method.
#[differentiate]
fn in_a_struct(x: f64) -> f64 {
    struct Scaled<F: Fn(f64) -> f64> {
        f: F,
        by: f64,
    }
    impl<F: Fn(f64) -> f64> Scaled<F> {
        fn at(&self, y: f64) -> f64 {
            (self.f)(y) * self.by
        }
    }
    Scaled { f: |y: f64| y * x, by: x }.at(3.0)
}

#[differentiate]
fn composed(x: f64) -> f64 {
    fn after(f: impl Fn(f64) -> f64, g: impl Fn(f64) -> f64) -> impl Fn(f64) -> f64 {
        move |y| f(g(y))
    }
    after(f64::sin, move |y| y * x)(x)
}

#[differentiate]
fn curried(x: f64) -> f64 {
    let product = |a: f64| move |b: f64| a * b * x;
    product(x)(2.0)
}

#[differentiate]
fn boxed(x: &Array1<f64>) -> f64 {
    let f: Box<dyn Fn(f64) -> f64> = Box::new(|y| y.tanh());
    x.mapv(|v| f(v) * v).sum()
}

#[differentiate]
fn returned(x: f64, deep: bool) -> f64 {
    fn pick(deep: bool, x: f64) -> Box<dyn Fn(f64) -> f64> {
        if deep { Box::new(move |y| (y * x).sin()) } else { Box::new(move |y| y * x) }
    }
    pick(deep, x)(x)
}

#[differentiate]
fn replaced(x: f64) -> f64 {
    let mut f: Box<dyn Fn(f64) -> f64> = Box::new(|y| y);
    if x > 0.0 {
        f = Box::new(move |y| y * x);
    }
    f(3.0)
}

#[differentiate]
fn in_a_list(x: f64) -> f64 {
    let layers: Vec<Box<dyn Fn(f64) -> f64>> = vec![Box::new(f64::sin), Box::new(move |y| y * x)];
    layers.iter().fold(x, |y, f| f(y))
}

/// A box counts as the value in it.
#[differentiate]
fn numbers_in_boxes(x: f64) -> f64 {
    struct Pair {
        first: Box<f64>,
        second: (Box<[f64; 2]>, f64),
    }
    let pair = Pair { first: Box::new(x * x), second: (Box::new([x, 2.0]), x.cos()) };
    let b = Box::new(pair);
    *b.first * b.second.0[0] + b.first.sin() * b.second.1
}

#[test]
fn the_derivative_is_that_of_the_chosen_function() {
    assert_eq!(by_reference_value_and_grad(1.5), (3.0, 2.0));
    assert_eq!(by_reference_value_and_grad(-1.5), (3.0, 0.0));
    assert_eq!(pointers_grad(1.5, 1), 3.0);
    assert_eq!(pointers_grad(1.5, 0), 1.5_f64.cos());
    assert_eq!(optional_grad(0.5), 1.0);
    assert_eq!(optional_grad(2.0), 2.0_f64.exp());
    assert_eq!(replaced_grad(2.0), 3.0);
    assert_eq!(replaced_grad(-2.0), 0.0);
    for which in [&[][..], &[0, 1, 2, 1], &[2, 2]] {
        check_grad!(by_numbers(0.4, which));
    }
    check_grad!(returned(0.8, true));
    check_grad!(returned(0.8, false));
}

#[test]
fn captured_values_have_their_derivatives() {
    check_grad!(in_a_struct(0.7));
    check_grad!(composed(0.7));
    check_grad!(curried(0.7));
    check_grad!(in_a_list(0.7));
    check_grad!(numbers_in_boxes(0.7));
    check_grad!(boxed(&array![0.3, -1.2]));
}

/// The arm of `Some` calls a function that no value has.
#[differentiate]
fn never_there(x: f64) -> f64 {
    let f = if cfg!(any()) { Some(|y: f64| y * y) } else { None };
    match f {
        Some(f) => f(x),
        None => x.sin(),
    }
}

#[test]
fn a_function_that_is_always_none() {
    assert_eq!(never_there_grad(0.5), 0.5_f64.cos());
}
