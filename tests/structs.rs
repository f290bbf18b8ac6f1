//! Parameters and results that are structs: every derivative by every kind of type, with known
//! numbers and against finite differences.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]
// Functions of every kind of type, by value and by reference, with names as in formulas.
#![allow(
    clippy::cast_precision_loss,
    clippy::float_cmp,
    clippy::many_single_char_names,
    clippy::needless_pass_by_value,
    clippy::needless_range_loop,
    clippy::trivially_copy_pass_by_ref,
    clippy::type_complexity
)]

use ad::prelude::*;

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Layer {
    weights: Array2<f64>,
    bias: Vec<f64>,
    /// It has no gradient.
    inputs: usize,
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Model {
    layer: Layer,
    scale: f64,
    point: Point,
}

#[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
struct Point(f64, [f64; 2]);

#[differentiate(grad, vjp, jvp, jacobian, hvp, pullback, into)]
fn loss(m: &Model, x: &[f64]) -> f64 {
    let h = m.layer.weights.dot(&Array1::from(x.to_vec()));
    let mut total = 0.0;
    for i in 0..m.layer.bias.len() {
        total += (h[i] + m.layer.bias[i]).powi(2) * m.scale;
    }
    let Point(a, b) = m.point;
    total + a.sin() * b[0] * b[1] + m.layer.inputs as f64 * a
}

fn model() -> Model {
    Model {
        layer: Layer { weights: array![[1.0, 2.0], [3.0, 4.0]], bias: vec![0.5, -0.5], inputs: 2 },
        scale: 0.25,
        point: Point(0.3, [2.0, 3.0]),
    }
}

#[test]
fn a_struct_has_a_gradient_of_its_own_type() {
    let (m, x) = (model(), [1.0, -1.0]);
    let (value, (dm, _)): (f64, (Model, Vec<f64>)) = loss_value_and_grad(&m, &x);
    let r = [1.0 - 2.0 + 0.5, 3.0 - 4.0 - 0.5];
    assert!((value - (0.25 * (r[0] * r[0] + r[1] * r[1]) + 6.0 * 0.3_f64.sin() + 0.6)).abs() < 1e-14);
    assert_eq!(dm.layer.bias, [0.5 * r[0], 0.5 * r[1]]);
    assert_eq!(dm.layer.inputs, 2);
    assert_eq!(dm.scale, r[0] * r[0] + r[1] * r[1]);
    ad::check_grad!(loss(&m, &x));
}

/// Generic over the number and a size.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Spring<T: Real, const N: usize> {
    stiffness: [T; N],
    pub rest: T,
    fixed: bool,
}

#[differentiate(grad, jvp, hvp, into)]
fn energy<T: Real, const N: usize>(s: &Spring<T, N>, x: &[T; N]) -> T {
    let mut total = T::lit(0.0);
    for i in 0..N {
        let d = x[i] - s.rest;
        total += T::lit(0.5) * s.stiffness[i] * d * d;
    }
    if s.fixed { total } else { total * T::lit(2.0) }
}

#[test]
fn a_generic_struct_has_the_gradient_of_its_instance() {
    let s = Spring { stiffness: [1.0_f32, 2.0], rest: 0.5, fixed: false };
    let (ds, dx): (Spring<f32, 2>, [f32; 2]) = energy_grad(&s, &[1.0, 2.0]);
    assert_eq!(ds, Spring { stiffness: [0.25, 2.25], rest: -2.0 * (0.5 + 3.0), fixed: false });
    assert_eq!(dx, [1.0, 6.0]);
    ad::check_grad!(energy(&s, &[1.0, 2.0]));
    ad::check_grad!(energy(&Spring { stiffness: [1.0, 2.0, 3.0], rest: 0.1, fixed: true }, &[0.3, 0.4, -0.5]));
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Camera {
    at: [f64; 3],
    focus: f64,
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Image {
    pixels: Vec<f64>,
    mean: f64,
    seen: usize,
    by: Camera,
}

#[differentiate(vjp, jvp, jacobian, pullback)]
fn image(c: Camera, n: usize) -> Image {
    let mut pixels = Vec::new();
    for i in 0..n {
        pixels.push(c.focus * c.at[0] + c.at[1].sin() * i as f64);
    }
    let mean = pixels.iter().sum::<f64>() / n as f64;
    let by = Camera { at: [c.at[2], c.at[0] * c.at[1], 1.0], ..c.clone() };
    Image { pixels, mean, seen: n, by }
}

#[test]
fn a_struct_is_a_result() {
    let c = Camera { at: [1.0, 0.5, 2.0], focus: 3.0 };
    let along = Camera { at: [0.0, 1.0, 0.0], focus: 0.0 };
    let (value, tangent): (Image, Image) = image_jvp(c.clone(), 2, &along);
    assert_eq!(value, image(c.clone(), 2));
    assert_eq!(tangent.pixels, [0.0, 0.5_f64.cos()]);
    assert_eq!(tangent.seen, 2);
    assert_eq!(tangent.by, Camera { at: [0.0, 1.0, 0.0], focus: 0.0 });
    let (_, gradient): (Image, Camera) = image_vjp(c.clone(), 2, &Image { pixels: vec![0.0; 2], mean: 1.0, ..value });
    assert_eq!(gradient.focus, 1.0 + 3.0);
    // The blocks are in tuples: a parameter's fields outside, the result's inside.
    let (by_at, by_focus) = image_jacobian(c.clone(), 2);
    let (pixels, mean, _, (_, focus)): (Array2<f64>, [f64; 3], usize, ([[f64; 3]; 3], [f64; 3])) = by_at;
    assert_eq!(pixels[[1, 1]], 0.5_f64.cos());
    assert_eq!((mean[0], focus), (3.0, [0.0; 3]));
    assert_eq!(by_focus.0, array![1.0, 1.0]);
    ad::check_grad!(image(c, 2));
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Body {
    place: [f64; 2],
    mass: f64,
    tag: usize,
}

#[differentiate(grad, vjp, jvp, hvp, jacobian, pullback)]
fn potential(bodies: &[Body], (strength, softening): (f64, f64)) -> f64 {
    let mut total = 0.0;
    for i in 0..bodies.len() {
        for j in 0..i {
            let (a, b) = (&bodies[i], &bodies[j]);
            let (x, y) = (a.place[0] - b.place[0], a.place[1] - b.place[1]);
            total -= strength * a.mass * b.mass / (x * x + y * y + softening).sqrt() + a.tag as f64;
        }
    }
    total
}

fn bodies() -> Vec<Body> {
    vec![
        Body { place: [0.0, 0.1], mass: 1.0, tag: 3 },
        Body { place: [1.0, 0.0], mass: 2.0, tag: 1 },
        Body { place: [0.5, 1.5], mass: 0.5, tag: 4 },
    ]
}

#[test]
fn a_list_of_structs_is_a_structure_of_arrays() {
    let all = bodies();
    let (grad, _): (Vec<Body>, (f64, f64)) = potential_grad(&all, (1.5, 0.1));
    let sum: f64 = grad.iter().map(|b| b.place[0]).sum();
    assert!(sum.abs() < 1e-14, "{grad:?}");
    assert_eq!(grad.iter().map(|b| b.tag).collect::<Vec<_>>(), [3, 1, 4]);
    ad::check_grad!(potential(&all, (1.5, 0.1)));
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct World {
    bodies: Vec<Body>,
    scale: f64,
}

#[differentiate(grad, jvp, hvp)]
fn spread(w: &World, more: Vec<Body>) -> f64 {
    let mut total = 0.0;
    for b in &w.bodies {
        total += b.mass * b.place[0] * w.scale;
    }
    for b in &more {
        total += b.mass.powi(2) * b.place[1];
    }
    total
}

#[differentiate(vjp, jvp, pullback)]
fn moved(w: &World) -> World {
    let mut bodies = Vec::new();
    for b in &w.bodies {
        bodies.push(Body { place: [b.place[0] * w.scale, b.place[1].sin()], mass: b.mass, tag: b.tag });
    }
    World { bodies, scale: 2.0 * w.scale }
}

#[test]
fn a_struct_may_contain_a_list_of_structs() {
    let w = World { bodies: bodies(), scale: 2.0 };
    let (dw, more): (World, Vec<Body>) = spread_grad(&w, bodies());
    assert_eq!(dw.bodies[1], Body { place: [4.0, 0.0], mass: 2.0, tag: 1 });
    assert_eq!(dw.scale, 2.0 + 0.25);
    assert_eq!(more[0].mass, 0.2);
    ad::check_grad!(spread(&w, bodies()));
    assert_eq!(moved_vjp(&w, &w).0, moved(&w));
    ad::check_grad!(moved(&w));
}

mod inner {
    use ad::prelude::*;

    #[derive(Clone, Debug, PartialEq, Differentiable)]
    pub struct Hidden {
        x: f64,
        part: Part,
    }

    /// It has no name outside of the module.
    #[derive(Clone, Debug, PartialEq, Differentiable)]
    struct Part {
        y: [f64; 2],
    }

    #[differentiable]
    pub fn product(h: &Hidden) -> f64 {
        h.x * h.part.y[0] * h.part.y[1]
    }

    pub fn hidden(x: f64, y: [f64; 2]) -> Hidden {
        Hidden { x, part: Part { y } }
    }
}

use inner::Hidden as Renamed;

#[differentiate(grad, into)]
fn through(h: &Renamed, x: f64) -> f64 {
    inner::product(h) * x
}

#[test]
fn fields_may_be_private() {
    let h = inner::hidden(2.0, [3.0, 5.0]);
    assert_eq!(through_grad(&h, 1.0), (inner::hidden(15.0, [10.0, 6.0]), 30.0));
    let (mut place, mut dx) = (inner::hidden(0.0, [0.0; 2]), 0.0);
    assert_eq!(through_value_and_grad_into(&h, 1.0, &mut place, &mut dx), 30.0);
    assert_eq!((place, dx), (inner::hidden(15.0, [10.0, 6.0]), 30.0));
    ad::check_grad!(through(&h, 0.5));
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Line {
    slope: Array1<f64>,
    offset: f64,
    #[constant]
    scale: [f64; 2],
    #[constant]
    origin: Vec<f64>,
}

#[differentiate(grad, vjp, jvp, jacobian, hvp, pullback, into)]
fn fit(line: &Line, x: &Array2<f64>) -> f64 {
    let error = x.dot(&line.slope) + line.offset - line.origin[0];
    line.scale[0] * error.mapv(|e| e * e).sum() * line.scale[1]
}

#[differentiate(hessian, wrt(line))]
fn curved(line: Line) -> f64 {
    line.offset.powi(3) * line.scale[0] + line.slope[0] * line.offset * line.origin[0]
}

#[test]
fn constant_fields_are_copied() {
    let line = Line { slope: array![1.0, 2.0], offset: 0.5, scale: [2.0, 3.0], origin: vec![4.0] };
    let x = array![[1.0, -1.0], [0.5, 2.0]];
    let (gradient, _) = fit_grad(&line, &x);
    assert_eq!((gradient.scale, &*gradient.origin), ([2.0, 3.0], &[4.0][..]));
    let r = [1.0 - 2.0 + 0.5 - 4.0, 0.5 + 4.0 + 0.5 - 4.0];
    assert_eq!(gradient.offset, 12.0 * (r[0] + r[1]));
    // The fields of a direction in their place are not read.
    let along = Line { slope: array![0.0, 0.0], offset: 1.0, scale: [9.0, 9.0], origin: Vec::new() };
    let (_, tangent) = fit_jvp(&line, &x, &along, &Array2::zeros((2, 2)));
    assert!((tangent - gradient.offset).abs() < 1e-12);
    ad::check_grad!(fit(&line, &x));
    ad::check_grad!(curved(line));
}

#[test]
fn types_and_functions_may_be_in_a_body() {
    #[derive(Clone, Debug, PartialEq, Differentiable)]
    struct Own {
        x: f64,
        n: usize,
    }

    #[differentiate]
    fn square(own: &Own) -> f64 {
        own.x * own.x * own.n as f64
    }

    assert_eq!(square_grad(&Own { x: 3.0, n: 2 }), Own { x: 12.0, n: 2 });
}
