//! Parameters and results that are enums: the variant that a value has is differentiated, and the
//! gradient is of the same variant.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
#![allow(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    clippy::needless_pass_by_value,
    reason = "small numbers, and parameters by value"
)]

use ad::prelude::*;

#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Shape {
    Nothing,
    Circle(f64),
    Box { sides: [f64; 2], times: usize },
    Polygon(Array1<f64>, Vec<f64>),
}

#[differentiate(grad, jvp, hvp, jacobian, pullback)]
fn area(shape: &Shape, scale: f64) -> f64 {
    match shape {
        Shape::Nothing => 0.0,
        Shape::Circle(r) => scale * r.powi(2),
        Shape::Box { sides, times } => scale * sides[0] * sides[1] * *times as f64,
        Shape::Polygon(x, y) => {
            let mut total = 0.0;
            for i in 0..x.len() {
                total += x[i] * y[i].sin();
            }
            total * scale.ln()
        }
    }
}

fn shapes() -> [Shape; 4] {
    [
        Shape::Nothing,
        Shape::Circle(3.0),
        Shape::Box { sides: [2.0, 5.0], times: 3 },
        Shape::Polygon(array![1.0, 2.0], vec![0.5, 0.25]),
    ]
}

#[test]
fn the_gradient_of_an_enum_is_of_the_same_variant() {
    let [nothing, circle, sides, polygon] = shapes();
    assert_eq!(area_grad(&nothing, 2.0), (Shape::Nothing, 0.0));
    assert_eq!(area_grad(&circle, 2.0), (Shape::Circle(12.0), 9.0));
    assert_eq!(area_grad(&sides, 2.0), (Shape::Box { sides: [30.0, 12.0], times: 3 }, 30.0));
    let (dpolygon, _) = area_grad(&polygon, 1.0);
    assert_eq!(dpolygon, Shape::Polygon(array![0.0, 0.0], vec![0.0, 0.0]));
    for shape in shapes() {
        ad::check_grad!(area(&shape, 1.5));
    }
}

#[differentiate(vjp, jvp, pullback)]
fn grown(shape: Shape, by: f64) -> Shape {
    match shape {
        Shape::Nothing => Shape::Circle(by),
        Shape::Circle(r) if r > 5.0 => Shape::Nothing,
        Shape::Circle(r) => Shape::Box { sides: [r * by, r], times: 2 },
        Shape::Box { sides, times } => Shape::Circle(sides[0] * sides[1] * by * times as f64),
        Shape::Polygon(x, y) => Shape::Polygon(&x * by, y),
    }
}

#[test]
fn an_enum_is_a_result() {
    for shape in shapes() {
        assert_eq!(grown_jvp(shape.clone(), 2.0, &shape, 1.0).0, grown(shape.clone(), 2.0));
        ad::check_grad!(grown(shape, 1.5));
    }
    let along = Shape::Circle(1.0);
    let (_, tangent) = grown_jvp(Shape::Circle(3.0), 2.0, &along, 10.0);
    assert_eq!(tangent, Shape::Box { sides: [2.0 + 30.0, 1.0], times: 2 });
    let given = Shape::Box { sides: [1.0, 10.0], times: 2 };
    let (_, gradient) = grown_vjp(Shape::Circle(3.0), 2.0, &given);
    assert_eq!(gradient, (Shape::Circle(2.0 + 10.0), 3.0));
}

/// Layers of a network are an enum, and a network is a list of them.
#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
enum Unit<T: Real> {
    Linear { gain: T, offset: T },
    Soft(T),
    Off,
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Chain<T: Real> {
    units: Vec<Unit<T>>,
    first: Unit<T>,
}

#[differentiable]
fn output<T: Real>(unit: Unit<T>, x: T) -> T {
    match unit {
        Unit::Linear { gain, offset } => gain * x + offset,
        Unit::Soft(width) => (x / width).tanh(),
        Unit::Off => x,
    }
}

#[differentiate(grad, jvp, hvp)]
fn run(chain: &Chain<f64>, x: f64) -> f64 {
    let mut x = output(chain.first, x);
    for unit in &chain.units {
        x = output(*unit, x);
    }
    x
}

#[test]
fn a_list_of_enums_is_a_structure_of_arrays() {
    let chain = Chain {
        units: vec![Unit::Soft(0.7), Unit::Off, Unit::Linear { gain: 2.0, offset: 0.1 }],
        first: Unit::Linear { gain: 0.3, offset: 0.2 },
    };
    let (gradient, _) = run_grad(&chain, 0.4);
    let [Unit::Soft(_), Unit::Off, Unit::Linear { gain, offset }] = gradient.units[..] else { panic!("{gradient:?}") };
    assert_eq!((gain, offset), ((0.32_f64 / 0.7).tanh(), 1.0));
    ad::check_grad!(run(&chain, 0.4));
}

/// The panic message of a call.
fn message<R>(call: impl FnOnce() -> R) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).err().expect("no panic");
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}

#[test]
fn a_tangent_of_another_variant_panics() {
    let [nothing, circle, sides, _] = shapes();
    let said = message(|| area_jvp(&circle, 2.0, &sides, 1.0));
    assert!(said.contains("`tangent_shape` is not of the variant of `shape`"), "{said}");
    assert!(message(|| area_hvp(&circle, 2.0, &nothing, 1.0)).contains("is not of the variant of `shape`"));
    let of_result = Shape::Box { sides: [1.0, 1.0], times: 2 };
    for wrong in [&nothing, &circle] {
        let said = message(|| grown_vjp(circle.clone(), 2.0, wrong));
        assert!(said.contains("`cotangent` is not of the variant of the result"), "{said}");
        let (_, pulled_back) = grown_pullback(circle.clone(), 2.0);
        assert_eq!(pulled_back(&of_result).0, grown_vjp(circle.clone(), 2.0, &of_result).1.0);
        assert!(message(|| pulled_back(wrong)).contains("`cotangent` is not of the variant of the result"));
    }
}

#[test]
fn a_tangent_of_a_list_has_the_variants_of_the_list() {
    let units = |units: &[Unit<f64>]| Chain { units: units.to_vec(), first: Unit::Off };
    let chain = units(&[Unit::Soft(0.7), Unit::Off]);
    let (_, tangent) = run_jvp(&chain, 0.4, &units(&[Unit::Soft(1.0), Unit::Off]), 0.0);
    assert!((tangent + 0.4 / 0.49 / (0.4_f64 / 0.7).cosh().powi(2)).abs() < 1e-12, "{tangent}");
    let said = message(|| run_jvp(&chain, 0.4, &units(&[Unit::Off, Unit::Soft(1.0)]), 0.0));
    assert!(said.contains("is not of the variant of `chain.units`"), "{said}");
    let longer = units(&[Unit::Soft(1.0), Unit::Off, Unit::Off]);
    let said = message(|| run_jvp(&chain, 0.4, &longer, 0.0));
    assert!(said.contains("does not have the shape of `chain.units"), "{said}");
    let other = Chain { first: Unit::Soft(1.0), ..chain.clone() };
    assert!(message(|| run_jvp(&chain, 0.4, &other, 0.0)).contains("is not of the variant of `chain.first`"));
}

/// A layer of a network.
#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Layer {
    Dense { w: Array2<f64>, b: Array1<f64> },
    Scale(Array1<f64>),
    Relu,
    Leaky(f64),
}

#[differentiate(grad, jvp, hvp, pullback, into)]
fn network(layers: &[Layer], x: &Array1<f64>) -> f64 {
    let mut h = x.clone();
    for layer in layers {
        h = match layer {
            Layer::Dense { w, b } => w.dot(&h) + b,
            Layer::Scale(s) => &h * s,
            Layer::Relu => h.mapv(|v| v.max(0.0)),
            Layer::Leaky(k) => h.mapv(|v| if v > 0.0 { v } else { k * v }),
        };
    }
    h.sum()
}

fn layers() -> Vec<Layer> {
    let w = array![[1.0, 0.2], [0.3, -0.4]];
    vec![
        Layer::Relu,
        Layer::Scale(array![0.3, 0.5]),
        Layer::Dense { w: w.clone(), b: array![0.1, 0.4] },
        Layer::Leaky(0.1),
        Layer::Dense { w: -w, b: array![0.1, -0.4] },
        Layer::Scale(array![0.3, 0.7]),
    ]
}

#[test]
fn elements_of_a_list_may_have_arrays() {
    let x = array![0.3, 0.4];
    ad::check_grad!(network(&layers(), &x));
    ad::check_grad!(network(&[], &x));
    let (gradient, _) = network_grad(&layers(), &x);
    let same = |(a, b): (&Layer, Layer)| std::mem::discriminant(a) == std::mem::discriminant(&b);
    assert!(gradient.iter().zip(layers()).all(same));
    // The last layer scales the output of the layers before it.
    let Layer::Scale(inputs) = &gradient[5] else { panic!("{gradient:?}") };
    assert!((inputs.sum() - network(&layers()[..5], &x)).abs() < 1e-12);
}

#[test]
fn arrays_of_variants_fit_together() {
    let mut all = layers();
    all[1] = Layer::Scale(array![0.3, 0.5, 0.7]);
    let said = message(|| network_grad(&all, &array![0.3, 0.4]));
    assert!(said.contains("shapes differ"), "{said}");
}

#[differentiate(grad, into)]
fn areas(shapes: &[Shape], k: f64) -> f64 {
    shapes.iter().map(area_of).sum::<f64>() * k
}

#[differentiable]
fn area_of(shape: &Shape) -> f64 {
    match shape {
        Shape::Nothing => 0.0,
        Shape::Circle(r) => r * r,
        Shape::Box { sides, .. } => sides[0] * sides[1],
        Shape::Polygon(x, y) => x.sum() * y.iter().sum::<f64>(),
    }
}

#[test]
fn a_gradient_replaces_an_enum_or_a_list() {
    ad::check_grad!(areas(&shapes(), 0.7));
    let (mut list, mut dk) = (vec![Shape::Circle(7.0)], 7.0);
    let value = areas_value_and_grad_into(&shapes(), 0.5, &mut list, &mut dk);
    assert_eq!((value, list, dk), (areas(&shapes(), 0.5), areas_grad(&shapes(), 0.5).0, areas_grad(&shapes(), 0.5).1));
}
