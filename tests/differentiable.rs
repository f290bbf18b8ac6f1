//! `#[derive(Differentiable)]`: the real numbers of structs, enums, and of lists of them, as one
//! vector.

#![deny(warnings, clippy::all, clippy::pedantic)]
#![allow(clippy::float_cmp, reason = "sums of small integers are exact")]

use ad::prelude::*;

#[derive(Clone, Debug, PartialEq)]
struct Name(&'static str);

/// Fields of all kinds; one of them has numbers that are not parameters.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Layer<T: Real, const N: usize> {
    weights: Array2<T>,
    pub(crate) bias: [T; N],
    inputs: usize,
    activation: Activation<T>,
    #[constant]
    name: Name,
    #[constant]
    seen: Vec<f32>,
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Activation<T>
where
    T: Real,
{
    Linear,
    Leaky(T, u8),
    Spline { knots: Vec<(T, T)>, closed: bool },
}

/// Its numbers are named by the types of its fields only.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Network(Vec<Layer<f64, 2>>, Option<Box<Tail>>);

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Tail {
    scale: f64,
    next: Option<Box<Tail>>,
}

/// A tree whose type does not state the type of the numbers in any field.
#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Tree {
    Leaf(Tail),
    Node(Box<Tree>, Box<Tree>),
}

/// No numbers.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
enum Kind {
    Call,
    Put,
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Unit;

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Holder<A, B> {
    part: A,
    #[constant]
    other: B,
    at: f32,
}

fn layer(k: f64) -> Layer<f64, 2> {
    Layer {
        weights: array![[k, k + 1.0], [k + 2.0, k + 3.0]],
        bias: [k + 4.0, k + 5.0],
        inputs: 2,
        activation: Activation::Spline { knots: vec![(k + 6.0, k + 7.0)], closed: true },
        name: Name("first"),
        seen: vec![0.5],
    }
}

fn tail(scales: &[f64]) -> Option<Box<Tail>> {
    let (&scale, rest) = scales.split_first()?;
    Some(Box::new(Tail { scale, next: tail(rest) }))
}

#[test]
fn numbers_are_in_the_order_of_declaration() {
    let mut first = layer(1.0);
    assert_eq!(first.flat_len(), 8);
    assert_eq!(first.to_flat(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
    // Row by row, whatever the order in memory is.
    first.weights = first.weights.reversed_axes();
    assert_eq!(first.to_flat()[..4], [1.0, 3.0, 2.0, 4.0]);
    let net = Network(vec![layer(0.0), layer(10.0)], tail(&[7.0, 8.0]));
    let flat = net.to_flat();
    assert_eq!(flat.len(), 18);
    assert_eq!(flat[14..], [16.0, 17.0, 7.0, 8.0]);
}

#[test]
fn a_value_is_rebuilt_from_its_numbers() {
    let net = Network(vec![layer(0.0), layer(10.0)], tail(&[7.0, 8.0]));
    assert_eq!(net.from_flat(&net.to_flat()), net);
    let numbers: Vec<f64> = (0..18).map(f64::from).collect();
    let other = net.from_flat(&numbers);
    assert_eq!(other.to_flat(), numbers);
    assert_eq!(other.0[1].name, Name("first"));
    assert_eq!(other.0[1].seen, [0.5]);
    let mut turned = layer(1.0);
    turned.weights = turned.weights.reversed_axes();
    assert_eq!(turned.from_flat(&turned.to_flat()), turned);
}

#[test]
fn sums_and_products_are_those_of_the_lists() {
    let (mut a, b) = (layer(1.0), layer(3.0));
    let expected: Vec<f64> = a.to_flat().iter().zip(b.to_flat()).map(|(a, b)| a + 0.5 * b).collect();
    let product: f64 = a.to_flat().iter().zip(b.to_flat()).map(|(a, b)| a * b).sum();
    assert_eq!(a.dot(&b), product);
    a.axpy(0.5, &b);
    assert_eq!(a.to_flat(), expected);
    assert_eq!(a.seen, [0.5]);
    assert_eq!(doubled(&b).dot(&b), 2.0 * b.dot(&b));
    let zeros = a.zeros_like();
    assert_eq!(zeros.to_flat(), [0.0; 8]);
    assert_eq!((zeros.inputs, zeros.name), (2, Name("first")));
}

#[test]
fn trees_and_enums_keep_their_variants() {
    let leaf = |scale| Box::new(Tree::Leaf(Tail { scale, next: None }));
    let tree = Tree::Node(leaf(1.0), Box::new(Tree::Node(leaf(2.0), leaf(3.0))));
    assert_eq!(tree.to_flat(), [1.0, 2.0, 3.0]);
    assert_eq!(tree.zeros_like(), tree.from_flat(&[0.0; 3]));
    let mut sloped = Activation::Leaky(0.5, 3);
    sloped.axpy(2.0, &Activation::Leaky(1.0, 4));
    assert_eq!(sloped, Activation::Leaky(2.5, 3));
    assert_eq!(Activation::<f32>::Linear.flat_len(), 0);
    assert_eq!(Activation::<f64>::Linear.dot(&Activation::Linear), 0.0);
}

#[test]
fn types_without_numbers_combine_with_any_number_type() {
    let mut option = (Kind::Call, 2.0_f32, Unit);
    option.axpy(3.0, &(Kind::Call, 1.0, Unit));
    assert_eq!(option, (Kind::Call, 5.0, Unit));
    assert_eq!(Differentiable::<f64>::flat_len(&Kind::Put), 0);
    let holder = Holder { part: array![1.0_f32, 2.0], other: Kind::Put, at: 3.0 };
    assert_eq!(holder.to_flat(), [1.0_f32, 2.0, 3.0]);
}

/// One step of gradient descent, for whatever is differentiable.
fn step<P: Differentiable>(parameters: &mut P, gradient: &P, rate: f64) {
    parameters.axpy(-rate, gradient);
}

#[differentiate(grad, wrt(w, b))]
fn loss(w: &Array1<f64>, b: f64, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
    (x.dot(w) + b - y).mapv(|v| v * v).sum()
}

/// Code that is generic over the number needs no further bound.
fn doubled<T: Real>(layer: &Layer<T, 2>) -> Layer<T, 2> {
    let mut twice = layer.clone();
    twice.axpy(T::lit(1.0), layer);
    twice
}

#[test]
fn gradients_are_steps_of_parameters() {
    let (x, y) = (array![[1.0, 2.0], [0.5, -1.0], [3.0, 1.0]], array![5.5, -0.5, 6.5]);
    let mut parameters = (array![0.0, 0.0], 0.0);
    for _ in 0..2000 {
        let gradient = loss_grad(&parameters.0, parameters.1, &x, &y);
        step(&mut parameters, &gradient, 0.02);
    }
    let found = parameters.to_flat();
    assert!(found.iter().zip([1.0, 2.0, 0.5]).all(|(a, b)| (a - b).abs() < 0.5), "{found:?}");
    assert!(loss(&parameters.0, parameters.1, &x, &y) < 1e-3);
}

#[test]
#[should_panic(expected = "from_flat: 7 numbers for a value that has 8")]
fn too_few_numbers() {
    let _ = layer(1.0).from_flat(&[0.0; 7]);
}

#[test]
#[should_panic(expected = "the structures differ: different variants of `Activation`")]
fn different_variants() {
    let _ = Activation::Linear.dot(&Activation::Leaky(1.0, 0));
}

#[test]
#[should_panic(expected = "the structures differ: 1 elements and 2 elements")]
fn different_lengths() {
    vec![1.0].axpy(1.0, &vec![1.0, 2.0]);
}

#[test]
#[should_panic(expected = "the structures differ: arrays of shape [2] and [1]")]
fn different_shapes() {
    let _ = (array![1.0, 2.0],).dot(&(array![1.0],));
}
