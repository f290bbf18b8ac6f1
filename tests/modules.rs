//! Marked modules: everything in one is visible to everything in it.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
// The names that formulas give to parameters, and functions of every kind.
#![allow(clippy::float_cmp, clippy::many_single_char_names, clippy::needless_pass_by_value)]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::trivially_copy_pass_by_ref)]

use ad::check_grad;
use ad::prelude::*;

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{a} {b}");
}

/// A helper outside of the module.
#[differentiable]
fn outside(x: f64) -> f64 {
    x * x + 1.0
}

#[differentiate]
mod model {
    use super::outside as of_outside;
    use ad::prelude::*;

    const GAIN: f64 = 1.5;
    type Vector = Array1<f64>;

    pub(super) trait Layer {
        fn apply(&self, x: &Vector) -> Vector;
        /// A default that one type replaces.
        fn twice(&self, x: &Vector) -> Vector {
            self.apply(&self.apply(x))
        }
    }

    /// A type without a derive.
    pub(super) struct Scale {
        pub(super) by: f64,
    }

    #[derive(Clone, Debug, PartialEq, Differentiable)]
    pub(super) struct Shift {
        pub(super) by: Vector,
        #[constant]
        pub(super) label: usize,
    }

    impl Layer for Scale {
        fn apply(&self, x: &Vector) -> Vector {
            x * (self.by * GAIN)
        }
    }

    impl Layer for Shift {
        fn apply(&self, x: &Vector) -> Vector {
            x + &self.by
        }
        fn twice(&self, x: &Vector) -> Vector {
            x + &(&self.by * 2.0) + tiny()
        }
    }

    impl Shift {
        pub(super) fn new(by: Vector) -> Self {
            Shift { by, label: 7 }
        }

        #[differentiate]
        pub(super) fn energy(&self, x: f64) -> f64 {
            generic(self.by.sum()) * of_outside(x) + Self::half(x)
        }
    }

    impl Shift {
        fn half(x: f64) -> f64 {
            0.5 * x
        }

        /// Nothing reads it.
        pub(super) fn print(&self) -> String {
            format!("{} {}", self.label, read_a_file())
        }
    }

    fn read_a_file() -> String {
        std::fs::read_to_string("no such file").unwrap_or_default()
    }

    fn generic<T: Real>(x: T) -> T {
        x * x
    }

    fn tiny() -> f64 {
        inner::deep::tiny() + inner::SMALL
    }

    #[differentiate(grad, jvp)]
    pub(super) fn loss(a: &Scale, b: &Shift, x: &Array1<f64>) -> f64 {
        let y = b.twice(&a.twice(x));
        norm_of(&y) + even(3, x[0])
    }

    fn norm_of(x: &Vector) -> f64 {
        let mut total = 0.0;
        for v in x {
            total += generic(*v);
        }
        total.sqrt()
    }

    // Two functions that call each other.
    fn even(n: usize, x: f64) -> f64 {
        if n == 0 { x } else { odd(n - 1, x * 1.1) }
    }

    fn odd(n: usize, x: f64) -> f64 {
        if n == 0 { x * x } else { x.sin() * even(n - 1, x) }
    }

    pub(super) mod inner {
        use super::{Shift, generic};
        use ad::prelude::*;

        pub(super) const SMALL: f64 = 0.125;

        pub(super) mod deep {
            pub(in super::super) fn tiny() -> f64 {
                super::SMALL * 2.0
            }
        }

        #[differentiate]
        pub(in super::super) fn of_nested(s: &Shift, x: f64) -> f64 {
            generic(x) * s.energy(x) + super::tiny()
        }
    }
}

use model::{Scale, Shift};

#[test]
fn a_marked_function_sees_the_module() {
    let (a, b, x) = (Scale { by: 0.3 }, Shift::new(array![0.5, -0.25]), array![1.0, 2.0]);
    let (value, (da, db, dx)) = model::loss_value_and_grad(&a, &b, &x);
    near(value, model::loss(&a, &b, &x));
    let plus = model::loss(&Scale { by: 0.3 + 1e-6 }, &b, &x);
    let minus = model::loss(&Scale { by: 0.3 - 1e-6 }, &b, &x);
    assert!((da.by - (plus - minus) / 2e-6).abs() < 1e-6);
    assert_eq!((db.by.len(), db.label, dx.len()), (2, 7, 2));
    let step = |k: usize, h: f64| {
        let mut x = x.clone();
        x[k] += h;
        model::loss(&a, &b, &x)
    };
    for k in 0..2 {
        assert!((dx[k] - (step(k, 1e-6) - step(k, -1e-6)) / 2e-6).abs() < 1e-6);
    }
    assert_eq!(b.print(), "7 ");
}

#[test]
fn a_method_and_a_function_of_a_nested_module() {
    let s = Shift::new(array![0.5, -0.25]);
    check_grad!(s.energy(0.7));
    check_grad!(model::inner::of_nested(&s, 0.7));
}

mod elsewhere {
    use super::model::{Layer, Shift, loss};
    use ad::prelude::*;

    /// Outside of the module, by the type alone.
    #[differentiate(wrt(s, x))]
    pub(super) fn around(s: &Shift, x: &Array1<f64>) -> f64 {
        let y = s.apply(x) + s.twice(x);
        y.sum() * s.energy(x[1]) + loss(&super::Scale { by: x[0] }, s, x)
    }
}

#[test]
fn functions_of_a_module_are_called_from_outside() {
    let (s, x) = (Shift::new(array![0.5, -0.25]), array![1.0, 2.0]);
    check_grad!(elsewhere::around(&s, &x));
}

/// Functions that are generic over traits of the module read constants of it.
#[differentiate]
mod pricing {
    use ad::prelude::*;

    const STEPS: usize = 6;
    const RATE: f64 = 0.03;
    const YEARS: f64 = DAYS as f64 / 365.0;
    const DAYS: u32 = MONTHS * 30;
    const MONTHS: u32 = 6;
    const WEIGHTS: [f64; 2] = [0.25, 1.75];
    const ROOT: f64 = root();

    const fn root() -> f64 {
        1.5
    }

    pub(super) trait Payoff {
        fn payoff(&self, spot: f64) -> f64;
        fn scaled<P: Payoff>(&self, other: &P, spot: f64) -> f64 {
            RATE * self.payoff(spot) + other.payoff(spot)
        }
    }

    #[derive(Clone, Copy, Debug, Differentiable)]
    pub(super) struct Call {
        pub(super) strike: f64,
    }

    #[derive(Clone, Copy, Debug, Differentiable)]
    pub(super) struct Digital {
        pub(super) strike: f64,
        pub(super) width: f64,
    }

    impl Payoff for Call {
        fn payoff(&self, spot: f64) -> f64 {
            (spot - self.strike).max(0.0)
        }
    }

    impl Payoff for Digital {
        fn payoff(&self, spot: f64) -> f64 {
            ((spot - self.strike) / self.width).tanh()
        }
    }

    fn tree<P: Payoff>(option: &P, spot: f64, up: f64) -> f64 {
        let mut values = [0.0; STEPS + 1];
        for (k, v) in values.iter_mut().enumerate() {
            *v = option.payoff(spot * up.powi(2 * k as i32 - STEPS as i32));
        }
        for n in (0..STEPS).rev() {
            for k in 0..=n {
                values[k] = (0.5 * values[k] + 0.5 * values[k + 1]) * (-RATE).exp();
            }
        }
        values[0] + discount(option, spot)
    }

    fn discount(option: &impl Payoff, spot: f64) -> f64 {
        option.payoff(spot) * (-RATE * YEARS).exp() * WEIGHTS.iter().sum::<f64>() * ROOT
    }

    #[differentiate]
    pub(super) fn price(call: &Call, digital: &Digital, spot: f64) -> f64 {
        tree(call, spot, 1.1) + tree::<Digital>(digital, spot, 1.2) + call.scaled(digital, spot)
    }
}

#[test]
fn generic_functions_read_constants_of_the_module() {
    let (call, digital) = (pricing::Call { strike: 1.0 }, pricing::Digital { strike: 0.9, width: 0.2 });
    check_grad!(pricing::price(&call, &digital, 1.03));
}

/// Functions with names of the prelude and of methods, a number on the left of an operator, and
/// sums of structs.
#[differentiate]
mod own_names {
    use ad::prelude::*;
    use std::iter::{Product, Sum};
    use std::ops::{Add, Mul};

    #[derive(Clone, Copy, Debug, PartialEq)]
    pub(super) struct Pair {
        pub(super) a: f64,
        pub(super) b: f64,
    }

    impl Add for Pair {
        type Output = Pair;
        fn add(self, other: Pair) -> Pair {
            Pair { a: self.a + other.a, b: self.b + other.b }
        }
    }

    impl Mul for Pair {
        type Output = Pair;
        fn mul(self, other: Pair) -> Pair {
            Pair { a: self.a * other.a, b: self.b * other.b }
        }
    }

    impl Mul<Pair> for f64 {
        type Output = Pair;
        fn mul(self, pair: Pair) -> Pair {
            Pair { a: self * pair.a, b: self * pair.b }
        }
    }

    impl Sum for Pair {
        fn sum<I: Iterator<Item = Pair>>(pairs: I) -> Pair {
            pairs.fold(Pair { a: 0.0, b: 0.0 }, |x, y| x + y)
        }
    }

    impl Product for Pair {
        fn product<I: Iterator<Item = Pair>>(pairs: I) -> Pair {
            pairs.fold(Pair { a: 1.0, b: 1.0 }, Pair::mul)
        }
    }

    fn relu(x: f64) -> f64 {
        if x > 0.0 { x } else { 0.1 * x }
    }

    fn exp(x: f64) -> f64 {
        x.exp() + 1.0
    }

    fn max(pair: Pair) -> f64 {
        2.0 * exp(pair.a.max(pair.b))
    }

    impl Pair {
        fn softened(self) -> f64 {
            relu(self.a) + max(self)
        }
    }

    #[differentiate]
    pub(super) fn total(pairs: &[Pair], scale: f64) -> f64 {
        let all: Pair = pairs.iter().map(|&pair| scale * pair).sum();
        let part = pairs.iter().skip(1).copied().product::<Pair>();
        all.softened() + part.a * part.b + pairs.iter().map(|p| relu(p.a)).sum::<f64>()
    }
}

#[test]
fn own_functions_hide_those_of_the_prelude() {
    let pairs = [own_names::Pair { a: -0.4, b: 0.3 }, own_names::Pair { a: -0.7, b: 1.2 }];
    let at = own_names::total(&pairs, 2.0);
    near(at, 0.1 * -2.2 + 2.0 * (3.0_f64.exp() + 1.0) + -0.7 * 1.2 + 0.1 * -1.1);
    check_grad!(own_names::total(&pairs, 2.0));
}

/// A function with the name of one of the prelude, and another number of parameters.
#[differentiable]
fn product(a: f64, b: f64) -> f64 {
    a * b
}

#[differentiate]
fn of_product(x: f64) -> f64 {
    product(x, x) + 1.0
}

#[test]
fn a_helper_with_a_name_of_the_prelude() {
    assert_eq!(of_product_grad(3.0), 6.0);
}
