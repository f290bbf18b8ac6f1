//! Methods and associated functions of marked `impl` blocks: their derivatives, and calls of them
//! in differentiated functions, wherever the type is known.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
// Functions of every kind of type, by value and by reference, with the names that formulas give
// them.
#![allow(clippy::float_cmp, clippy::many_single_char_names, clippy::needless_pass_by_value)]

use ad::check_grad;
use ad::prelude::*;

fn near(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{a} {b}");
}

/// A function before the type and its blocks.
#[differentiate]
fn before(net: &Net, x: &Array1<f64>) -> f64 {
    net.forward(x).sum() * Net::GAIN
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Net {
    first: Dense,
    second: Dense,
    layers: usize,
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Dense {
    w: Array2<f64>,
    b: Array1<f64>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
enum Kind {
    Plain,
    Tanh,
    Leaky(f64),
}

#[differentiate]
impl Kind {
    fn of(&self, v: f64) -> f64 {
        match self {
            Kind::Plain => v,
            Kind::Tanh => v.tanh(),
            Self::Leaky(slope) => {
                if v > 0.0 {
                    v
                } else {
                    slope * v
                }
            }
        }
    }
}

#[differentiate]
impl Net {
    const GAIN: f64 = 1.5;

    /// It calls methods of another type of the same name.
    fn forward(&self, x: &Array1<f64>) -> Array1<f64> {
        let hidden = self.first.forward(x);
        self.second.forward(&hidden)
    }

    #[differentiate(grad, jvp, hvp, pullback, wrt(self))]
    fn loss(&self, x: &Array1<f64>, y: &Array1<f64>) -> f64 {
        let e = self.forward(x) - y;
        Self::half(e.dot(&e)) + self.penalty()
    }

    fn half(x: f64) -> f64 {
        0.5 * x
    }

    /// A macro that no differentiated function may have, in a function that none calls.
    fn print(&self) -> String {
        format!("{} layers", self.layers)
    }
}

/// A second block of the type, and one without a mark.
#[differentiate]
impl Net {
    fn penalty(&self) -> f64 {
        0.1 * (self.first.squares() + self.second.squares())
    }

    #[differentiate]
    fn scaled(a: f64, x: &Array1<f64>) -> f64 {
        a * Self::GAIN * x.sum()
    }
}

impl Net {
    fn new() -> Self {
        let first = Dense { w: array![[0.1, 0.2], [0.3, -0.4]], b: array![0.5, -0.6], kind: Kind::Tanh };
        let second = Dense { w: array![[-1.0, 0.5]], b: array![0.1], kind: Kind::Leaky(0.1) };
        Net { first, second, layers: 2 }
    }
}

#[differentiate]
impl Dense {
    fn forward(&self, x: &Array1<f64>) -> Array1<f64> {
        let kind = self.kind;
        (self.w.dot(x) + &self.b).mapv(|v| kind.of(v))
    }

    fn squares(&self) -> f64 {
        let mut total = 0.0;
        for i in 0..self.w.nrows() {
            for j in 0..self.w.ncols() {
                total += square(self.w[[i, j]]);
            }
        }
        total
    }
}

#[differentiable]
fn square(x: f64) -> f64 {
    x * x
}

#[test]
fn a_method_has_derivatives_beside_it() {
    let (net, x, y) = (Net::new(), array![1.0, 2.0], array![0.3]);
    check_grad!(net.loss(&x, &y));
    check_grad!(Net::loss(&net, &x, &y), grad, jvp);
    let (value, gradient): (f64, Net) = net.loss_value_and_grad(&x, &y);
    near(value, net.loss(&x, &y));
    assert_eq!(gradient.layers, net.layers);
    assert_eq!(gradient, Net::loss_grad(&net, &x, &y));
    // The second layer is below zero: d/db of half the squared error by the slope.
    let out = net.forward(&x)[0];
    near(gradient.second.b[0], 0.1 * (out - 0.3));
    assert_eq!(net.print(), "2 layers");
}

#[test]
fn an_associated_function_has_derivatives() {
    let x = array![1.0, 2.0];
    let (da, dx): (f64, Array1<f64>) = Net::scaled_grad(0.5, &x);
    near(da, 4.5);
    assert_eq!(dx, array![0.75, 0.75]);
    check_grad!(Net::scaled(0.5, &x));
}

#[test]
fn a_function_calls_methods_of_blocks_after_it() {
    let (net, x) = (Net::new(), array![1.0, 2.0]);
    check_grad!(before(&net, &x));
    near(before(&net, &x), before_value_and_grad(&net, &x).0);
}

mod elsewhere {
    use super::Net as Model;
    use ad::prelude::*;

    /// Only the type is imported, under another name.
    #[differentiate(grad, jvp, wrt(net))]
    pub(super) fn risk(net: &Model, xs: &Array2<f64>) -> f64 {
        let mut total = 0.0;
        for k in 0..xs.nrows() {
            total += net.forward(&xs.row(k).to_owned()).sum() + Model::half(net.penalty());
        }
        total
    }

    /// A path.
    #[differentiate]
    pub(super) fn by_path(kind: super::Kind, x: f64) -> f64 {
        kind.of(x)
    }
}

#[test]
fn another_module_needs_the_type_only() {
    let (net, xs) = (Net::new(), array![[1.0, 2.0], [-0.5, 0.7]]);
    check_grad!(elsewhere::risk(&net, &xs));
    let (dk, dx) = elsewhere::by_path_grad(Kind::Leaky(0.25), -2.0);
    assert_eq!(dk, Kind::Leaky(-2.0));
    assert_eq!(dx, 0.25);
}

/// A generic type with a const parameter, and private methods.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Poly<T: Real, const N: usize> {
    coefficients: [T; N],
}

#[differentiate]
impl<T: Real, const N: usize> Poly<T, N> {
    #[differentiate(grad, jvp, into)]
    fn at(&self, x: T) -> T {
        let mut value = T::lit(0.0);
        for k in (0..N).rev() {
            value = Self::step(value, x, self.coefficients[k]);
        }
        value
    }

    fn step(value: T, x: T, c: T) -> T {
        value * x + c
    }

    #[differentiate(wrt(self))]
    fn consumed(self, x: T) -> T {
        let Poly { coefficients } = self;
        coefficients[0] * x + coefficients[N - 1]
    }
}

#[test]
fn blocks_may_be_generic() {
    let p = Poly { coefficients: [1.0, 2.0, 3.0] };
    let (dp, dx) = p.at_grad(2.0);
    assert_eq!(dp, Poly { coefficients: [1.0, 2.0, 4.0] });
    near(dx, 14.0);
    check_grad!(p.at(2.0));
    let q = Poly { coefficients: [1.0_f32, 2.0] };
    assert_eq!(q.at_grad(2.0_f32).1, 2.0);
    assert_eq!(p.consumed_grad(5.0), Poly { coefficients: [5.0, 0.0, 1.0] });
}

/// Operators, and the methods of a trait.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct V {
    x: f64,
    y: f64,
}

#[differentiate]
impl std::ops::Add for V {
    type Output = V;
    fn add(self, other: V) -> V {
        V { x: self.x + other.x, y: self.y + other.y }
    }
}

#[differentiate]
impl std::ops::Mul<f64> for V {
    type Output = V;
    fn mul(self, k: f64) -> V {
        V { x: self.x * k, y: self.y * k }
    }
}

trait Norm {
    fn norm(&self) -> f64;
}

#[differentiate]
impl Norm for V {
    #[differentiate]
    fn norm(&self) -> f64 {
        self.x.hypot(self.y)
    }
}

#[differentiate]
impl V {
    /// `&mut self`, as other functions that change what they are given.
    fn shift(&mut self, by: f64) {
        self.x += by;
    }
}

#[differentiate]
fn moved(a: V, b: V, k: f64) -> f64 {
    let mut c = a + b * k;
    c.shift(k);
    c.norm()
}

#[test]
fn operators_and_methods_of_traits() {
    let (a, b) = (V { x: 1.0, y: 2.0 }, V { x: -0.5, y: 0.25 });
    check_grad!(moved(a, b, 0.3));
    check_grad!(a.norm());
    let g = V { x: 3.0, y: 4.0 }.norm_grad();
    near(g.x, 0.6);
}
