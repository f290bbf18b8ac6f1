//! `mode = "dual_numbers"`: each derivative, each type of parameter and result, and bodies that the
//! array compiler does not read.

#[allow(dead_code, reason = "not every file counts bytes")]
mod allocator;
#[path = "dual_numbers_steps/mod.rs"]
mod steps;

use std::collections::{BTreeMap, HashMap};

use ad::ndarray::{ArrayRef1, ArrayView2};
use ad::prelude::*;

/// Whether two lists agree to a part in 10^10.
fn close(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-10 * (1.0 + b.abs()))
}

// ---- each derivative, compared with that of the same function in mode "dual_arrays"

macro_rules! in_both_modes {
    ($(#[differentiate($($option:tt)*)] fn $name:ident = $numbers:ident, $arrays:ident($($params:tt)*) -> $result:ty $body:block)*) => {$(
        #[differentiate($($option)*, mode = "dual_numbers")]
        fn $numbers<T: Real>($($params)*) -> $result $body

        #[differentiate($($option)*)]
        fn $arrays<T: Real>($($params)*) -> $result $body
    )*};
}

in_both_modes! {
    #[differentiate(grad, vjp, jvp, hvp, hessian, laplacian, pullback, into, jacobian)]
    fn wave = wave_n, wave_a(x: &Array1<T>) -> T {
        let mut sum = T::lit(0.0);
        for i in 0..x.len() {
            sum += (x[i] * x[(i + 1) % x.len()]).sin() + x[i].powi(3) / (T::lit(1.0) + x[i] * x[i]);
        }
        sum
    }

    #[differentiate(grad, hvp, into)]
    fn several = several_n, several_a(w: &Array2<T>, b: T, v: &[T], n: usize) -> T {
        let mut sum = b.exp();
        for i in 0..n {
            for j in 0..w.ncols() {
                sum += (w[[i, j]] * v[j]).tanh() * b;
            }
        }
        sum
    }

    #[differentiate(vjp, jvp, jacobian, pullback)]
    fn polar = polar_n, polar_a(p: (T, T)) -> [T; 2] {
        [p.0 * p.1.cos(), p.0 * p.1.sin()]
    }

    #[differentiate(vjp, jvp, jacobian, pullback)]
    fn product = product_n, product_a(a: &Array2<T>, x: &Array1<T>) -> Array1<T> {
        a.dot(x).mapv(|v| v * v)
    }
}

#[test]
fn derivatives_of_a_number_agree_with_those_of_the_other_mode() {
    let x = array![0.3, -1.2, 0.8, 2.0];
    let d = array![1.0, 0.5, -0.25, 2.0];
    assert_eq!(wave_n_value_and_grad(&x).0, wave_n(&x));
    assert!(close(wave_n_grad(&x).as_slice().unwrap(), wave_a_grad(&x).as_slice().unwrap()));
    let (a, b) = (wave_n_vjp(&x, 2.0), wave_a_vjp(&x, 2.0));
    assert!(close(a.1.as_slice().unwrap(), b.1.as_slice().unwrap()));
    let (a, b) = (wave_n_jvp(&x, &d), wave_a_jvp(&x, &d));
    assert!(close(&[a.0, a.1], &[b.0, b.1]));
    assert!(close(wave_n_hvp(&x, &d).as_slice().unwrap(), wave_a_hvp(&x, &d).as_slice().unwrap()));
    let (a, b): (Array2<f64>, Array2<f64>) = (wave_n_hessian(&x), wave_a_hessian(&x));
    assert!(close(a.as_slice().unwrap(), b.as_slice().unwrap()));
    assert!(close(&[wave_n_laplacian(&x)], &[wave_a_laplacian(&x)]));
    let (value, pull) = wave_n_pullback(&x);
    assert_eq!(value, wave_n(&x));
    assert!(close(pull(2.0).as_slice().unwrap(), wave_a_vjp(&x, 2.0).1.as_slice().unwrap()));
    assert!(close(pull(1.0).as_slice().unwrap(), wave_a_grad(&x).as_slice().unwrap()));
    let mut g = Array1::zeros(4);
    assert_eq!(wave_n_value_and_grad_into(&x, &mut g), wave_n(&x));
    assert_eq!(g, wave_n_grad(&x));
    let row: Array1<f64> = wave_n_jacobian(&x);
    assert_eq!(row, g);
    // The same in single precision.
    let single = x.mapv(|v| v as f32);
    let g32 = wave_n_grad(&single);
    assert!(g32.iter().zip(&g).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-5));
}

#[test]
fn several_parameters_and_some_that_are_passed_on() {
    let (w, v) = (array![[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], [1.0, -2.0, 0.5]);
    let (a, b) = (several_n_grad(&w, 0.7, &v, 2), several_a_grad(&w, 0.7, &v, 2));
    assert!(close(a.0.as_slice().unwrap(), b.0.as_slice().unwrap()) && close(&[a.1], &[b.1]) && close(&a.2, &b.2));
    let a = several_n_hvp(&w, 0.7, &v, 2, &w, 0.3, &v);
    let b = several_a_hvp(&w, 0.7, &v, 2, &w, 0.3, &v);
    assert!(close(a.0.as_slice().unwrap(), b.0.as_slice().unwrap()) && close(&[a.1], &[b.1]) && close(&a.2, &b.2));
    let (mut gw, mut gb, mut gv) = (Array2::zeros((2, 3)), 0.0, [0.0; 3]);
    several_n_value_and_grad_into(&w, 0.7, &v, 2, &mut gw, &mut gb, &mut gv);
    let all = several_n_grad(&w, 0.7, &v, 2);
    assert_eq!((gw, gb, gv.to_vec()), all);
}

#[test]
#[should_panic(expected = "the destination has the lengths [3], and the argument has [4]")]
fn a_destination_of_another_shape_is_an_error() {
    wave_n_value_and_grad_into(&array![0.3, -1.2, 0.8, 2.0], &mut Array1::zeros(3));
}

#[test]
#[should_panic(expected = "a direction has the lengths [2], and its argument has [3]")]
fn a_direction_of_another_shape_is_an_error() {
    let _ = wave_n_jvp(&array![0.3, -1.2, 0.8], &array![1.0, 2.0]);
}

#[test]
fn jacobians_have_the_structure_of_the_other_mode() {
    let a: ([f64; 2], [f64; 2]) = polar_n_jacobian((2.0, 0.5));
    let b: ([f64; 2], [f64; 2]) = polar_a_jacobian((2.0, 0.5));
    assert!(close(&a.0, &b.0) && close(&a.1, &b.1));
    let (m, x) = (array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], array![0.5, -0.5, 1.0]);
    type Blocks = (Array3<f64>, Array2<f64>);
    let (a, b): (Blocks, Blocks) = (product_n_jacobian(&m, &x), product_a_jacobian(&m, &x));
    assert_eq!((a.0.shape(), a.1.shape()), (b.0.shape(), b.1.shape()));
    assert!(a.0.iter().zip(&b.0).all(|(a, b)| (a - b).abs() < 1e-12_f64));
    assert!(a.1.iter().zip(&b.1).all(|(a, b)| (a - b).abs() < 1e-12_f64));
    let (a, b) = (product_n_vjp(&m, &x, &array![1.0, 2.0]), product_a_vjp(&m, &x, &array![1.0, 2.0]));
    assert!(close(a.1.0.as_slice().unwrap(), b.1.0.as_slice().unwrap()));
    let (a, b) = (product_n_jvp(&m, &x, &m, &x), product_a_jvp(&m, &x, &m, &x));
    assert!(close(a.1.as_slice().unwrap(), b.1.as_slice().unwrap()));
    let (value, pull) = product_n_pullback(&m, &x);
    assert_eq!(value, product_n(&m, &x));
    assert_eq!(pull(&array![1.0, 2.0]), product_n_vjp(&m, &x, &array![1.0, 2.0]).1);
    let transposed = m.t();
    let (_, pull) = product_n_pullback(&transposed.to_owned(), &array![1.0, 2.0]);
    assert_eq!(pull(&array![0.0, 0.0, 0.0]).0, Array2::<f64>::zeros((3, 2)));
}

// ---- types of parameters

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Params<T: Real> {
    w: Array1<T>,
    b: T,
    layers: Vec<[T; 2]>,
    #[constant]
    name: String,
    steps: usize,
}

#[differentiate(grad, vjp, jvp, hvp, pullback, mode = "dual_numbers")]
fn of_params<T: Real>(p: &Params<T>, x: T) -> T {
    let mut y = p.b * T::lit(p.name.len() as f64);
    for _ in 0..p.steps {
        y += p.w.sum() * x + p.layers.iter().map(|l| l[0] * l[1]).sum::<T>() * y;
    }
    y
}

#[test]
fn structs_are_taken_apart() {
    let p = Params { w: array![1.0, 2.0], b: 0.5, layers: vec![[0.1, 0.2], [0.3, 0.4]], name: "ab".into(), steps: 2 };
    let (g, dx) = of_params_grad(&p, 0.7);
    assert_eq!((g.name.as_str(), g.steps, g.layers.len()), ("ab", 2, 2));
    let flat = p.to_flat();
    for k in 0..flat.len() {
        let moved = |h: f64| {
            let mut flat = flat.clone();
            flat[k] += h;
            of_params(&p.from_flat(&flat), 0.7)
        };
        let difference = (moved(1e-6) - moved(-1e-6)) / 2e-6;
        assert!((g.to_flat()[k] - difference).abs() < 1e-6, "{k}");
    }
    assert!((dx - (of_params(&p, 0.7 + 1e-6) - of_params(&p, 0.7 - 1e-6)) / 2e-6).abs() < 1e-6);
    let (_, t) = of_params_jvp(&p, 0.7, &p, 0.0);
    assert!((t - g.dot(&p)).abs() < 1e-12);
    assert_eq!(of_params_pullback(&p, 0.7).1(1.0), (g, dx));
}

#[allow(clippy::too_many_arguments, clippy::ptr_arg, reason = "each parameter is of another type")]
#[differentiate(mode = "dual_numbers", wrt(x, y))]
fn many<T: Real, const N: usize>(
    x: [T; N],
    y: &[[T; 2]; 2],
    z: ArrayView2<'_, T>,
    c: f64,
    words: &HashMap<String, f64>,
    flags: Vec<bool>,
    f: &dyn Fn(f64) -> f64,
    v: &Vec<T>,
    a: &ArrayRef1<T>,
) -> T {
    let mut sum = T::lit(c) + T::lit(f(words["one"]));
    for (i, x) in x.iter().enumerate() {
        if flags[i] {
            sum += *x * *x * z[[0, i]] * y[0][1];
        }
    }
    sum * y[1][0] + v[0] * a[0] * y[0][0]
}

#[test]
fn parameters_of_many_types() {
    let z = array![[1.0, 2.0, 3.0]];
    let words = HashMap::from([("one".to_string(), 1.0)]);
    let y = [[0.5, 1.5], [2.0, 3.0]];
    let f = |x: f64| x + 1.0;
    let (dx, dy) =
        many_grad([1.0, 2.0, 3.0], &y, z.view(), 0.5, &words, vec![true, false, true], &f, &vec![2.0], &array![3.0]);
    assert_eq!(dx, [2.0 * 1.5 * 2.0, 0.0, 2.0 * 3.0 * 3.0 * 1.5 * 2.0]);
    assert_eq!(dy, [[6.0, 28.0 * 2.0], [2.5 + 28.0 * 1.5, 0.0]]);
}

#[differentiate(vjp, jacobian, mode = "dual_numbers")]
fn of_tuples<T: Real>(p: (&Array1<T>, [T; 2]), q: (T, &[T])) -> (T, Array1<T>) {
    (p.0.sum() * q.0, p.0.mapv(|v| v * p.1[0]) + q.1[0] * p.1[1])
}

#[test]
fn tuples_of_references() {
    let (x, q) = (array![1.0, 2.0], [0.5]);
    let (value, ((dx, ds), (db, dq))) = of_tuples_vjp((&x, [3.0, 4.0]), (2.0, &q), (1.0, &array![1.0, 10.0]));
    assert_eq!(value.0, 6.0);
    assert_eq!((dx, ds, db, dq), (array![5.0, 32.0], [21.0, 5.5], 3.0, vec![44.0]));
    let ((jx, js), _) = of_tuples_jacobian((&x, [3.0, 4.0]), (2.0, &q));
    assert_eq!((jx.0, jx.1), (array![2.0, 2.0], array![[3.0, 0.0], [0.0, 3.0]]));
    assert_eq!((js.0, js.1), ([0.0, 0.0], array![[1.0, 0.5], [2.0, 0.5]]));
}

#[differentiate(mode = "dual_numbers", aux)]
fn with_more<T: Real>(x: T) -> (T, Vec<T>) {
    (x * x, vec![x, x + T::lit(1.0)])
}

#[test]
fn results_of_other_types() {
    assert_eq!(with_more_value_and_grad(3.0), ((9.0, vec![3.0, 4.0]), 6.0));
}

// ---- bodies that the array compiler does not read

#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Tree<T: Real> {
    Leaf(T),
    Node(Box<Tree<T>>, Box<Tree<T>>),
}

impl<T: Real> Tree<T> {
    fn product(&self) -> T {
        match self {
            Tree::Leaf(x) => *x,
            Tree::Node(a, b) => a.product() * b.product(),
        }
    }
}

#[differentiate(mode = "dual_numbers")]
fn of_a_tree<T: Real>(tree: &Tree<T>) -> T {
    tree.product().ln()
}

#[test]
fn recursion_over_a_tree() {
    let leaf = |x| Box::new(Tree::Leaf(x));
    let tree = Tree::Node(leaf(2.0), Box::new(Tree::Node(leaf(4.0), leaf(5.0))));
    let expected = Tree::Node(leaf(0.5), Box::new(Tree::Node(leaf(0.25), leaf(0.2))));
    let found = of_a_tree_grad(&tree);
    assert!(close(&found.to_flat(), &expected.to_flat()));
    assert!(matches!(found, Tree::Node(..)));
}

trait Shape<T> {
    fn area(&self) -> T;
}
struct Square<T>(T);
struct Circle<T>(T);
impl<T: Real> Shape<T> for Square<T> {
    fn area(&self) -> T {
        self.0 * self.0
    }
}
impl<T: Real> Shape<T> for Circle<T> {
    fn area(&self) -> T {
        T::lit(std::f64::consts::PI) * self.0 * self.0
    }
}

#[differentiate(mode = "dual_numbers")]
fn of_objects_and_maps<T: Real>(sizes: &[T], prices: &BTreeMap<&'static str, T>) -> T {
    let shapes: Vec<Box<dyn Shape<T>>> = sizes
        .iter()
        .enumerate()
        .map(|(k, s)| if k % 2 == 0 { Box::new(Square(*s)) as Box<dyn Shape<T>> } else { Box::new(Circle(*s)) })
        .collect();
    let mut areas: HashMap<usize, T> = HashMap::new();
    for (k, shape) in shapes.iter().enumerate() {
        *areas.entry(k % 2).or_insert_with(T::zero) += shape.area();
    }
    areas[&0] * prices["square"] + areas[&1] * prices["circle"]
}

#[test]
fn trait_objects_and_maps() {
    let prices = BTreeMap::from([("square", 2.0), ("circle", 3.0)]);
    let (sizes, by_price) = of_objects_and_maps_grad(&[1.0, 2.0, 3.0], &prices);
    let pi = std::f64::consts::PI;
    assert!(close(&sizes, &[4.0, 12.0 * pi, 12.0]));
    assert!(close(&[by_price["square"], by_price["circle"]], &[10.0, 4.0 * pi]));
}

#[differentiate(grad, hessian, mode = "dual_numbers")]
fn of_generic_arrays<T: Real>(x: &Array1<T>, m: &Array2<f64>) -> T {
    let m = m.mapv(T::lit);
    let y = m.dot(x) * T::lit(2.0) + x;
    let z = y.iter().fold(T::zero(), |a, b| a.max(*b));
    (&y * &y).sum() + z + y.mapv(|v| v.exp()).sum() / T::lit(3.0) - x.dot(&y)
}

#[test]
#[should_panic(expected = "used in another call")]
fn a_number_that_leaves_its_call_has_no_derivative() {
    // The numbers of a call are kept under their type, which only the function itself knows.
    use std::any::Any;
    use std::cell::RefCell;
    thread_local! {
        static KEPT: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
    }
    #[differentiate(mode = "dual_numbers")]
    fn keeps<T: Real>(x: T) -> T {
        let before = KEPT.with_borrow_mut(|kept| kept.replace(Box::new(x)));
        match before.and_then(|kept| kept.downcast::<T>().ok()) {
            Some(kept) => x * *kept,
            None => x * x,
        }
    }
    assert_eq!(keeps_grad(3.0), 6.0);
    let _ = keeps_grad(3.0);
}

#[differentiate(mode = "dual_numbers")]
fn stopped<T: Real>(x: T) -> T {
    x * x.without_derivative()
}

#[differentiate(mode = "dual_numbers")]
fn stopped_by_the_function_for_all_types<T: Real>(x: &Array1<T>) -> T {
    stop_gradient(x).sum()
}

#[test]
fn what_is_stopped_has_no_derivative() {
    assert_eq!(stopped_value_and_grad(3.0), (9.0, 3.0));
    assert_eq!(stopped_by_the_function_for_all_types(&array![1.0, 2.0]), 3.0);
    let panic = std::panic::catch_unwind(|| stopped_by_the_function_for_all_types_grad(&array![1.0, 2.0]));
    let text = panic.expect_err("it panics").downcast_ref::<&str>().map(|t| (*t).to_string()).unwrap_or_default();
    assert!(text.contains("without_derivative"), "{text}");
}

// ---- memory

#[differentiate(grad, pullback, hvp, mode = "dual_numbers")]
fn in_a_loop<T: Real>(x: [T; 2], steps: usize) -> T {
    (0..steps).fold(x[0], |y, _| (y * x[1]).sin() + y / (x[0] + T::lit(2.0)))
}

#[test]
fn only_the_first_call_allocates() {
    // 3 * 10^5 operations are many chunks. Second derivatives have another recorder.
    for steps in [3, 100_000] {
        let (first, _) = allocator::counted(|| in_a_loop_value_and_grad([0.3, 0.7], steps));
        let (second, used) = allocator::counted(|| in_a_loop_value_and_grad([0.3, 0.7], steps));
        assert_eq!((first, used.times), (second, 0));
        let (first, _) = allocator::counted(|| in_a_loop_hvp([0.3, 0.7], steps, [1.0, 0.5]));
        let (second, used) = allocator::counted(|| in_a_loop_hvp([0.3, 0.7], steps, [1.0, 0.5]));
        // The directions are a list.
        assert!(first == second && used.bytes <= 64, "{used:?}");
    }
    // A longer call allocates once more for each chunk, and a shorter one after it does not.
    let (_, used) = allocator::counted(|| in_a_loop_value_and_grad([0.3, 0.7], 200_000));
    assert!((1..60).contains(&used.times), "{used:?}");
    let (_, used) = allocator::counted(|| in_a_loop_value_and_grad([0.3, 0.7], 150_000));
    assert_eq!(used.times, 0);
    // The closure of a pullback keeps the memory until it is dropped.
    let (_, pull) = in_a_loop_pullback([0.3, 0.7], 150_000);
    let (_, used) = allocator::counted(|| in_a_loop_value_and_grad([0.3, 0.7], 3));
    assert!(used.times > 0);
    drop(pull);
    let (_, used) = allocator::counted(|| in_a_loop_value_and_grad([0.3, 0.7], 150_000));
    assert_eq!(used.times, 0);
}

// ---- calls between modes

#[differentiate(grad, mode = "dual_numbers")]
fn inner<T: Real>(x: &Array1<T>, y: T) -> T {
    x.iter().map(|v| *v * y).fold(T::zero(), |a, b| a * T::lit(0.5) + b.sin())
}

#[differentiate(grad, jvp)]
fn outer(x: &Array1<f64>) -> f64 {
    inner(&(x * x), x[0]) * 2.0 + x[1]
}

#[differentiate]
fn an_array_function<T: Real>(x: &Array1<T>) -> T {
    x.dot(x) + x[0]
}

#[differentiate(mode = "dual_numbers")]
fn calls_the_other_way<T: Real>(x: &Array1<T>) -> T {
    // The function runs on the numbers, and so does the gradient that the other mode has written.
    an_array_function(x) + an_array_function_grad(x).sum()
}

#[test]
fn calls_between_modes() {
    let x = array![0.4, 1.2];
    let of = |x: &Array1<f64>| inner(&(x * x), x[0]) * 2.0 + x[1];
    let g = outer_grad(&x);
    for k in 0..2 {
        let moved = |h: f64| {
            let mut x = x.clone();
            x[k] += h;
            of(&x)
        };
        assert!((g[k] - (moved(1e-6) - moved(-1e-6)) / 2e-6).abs() < 1e-7);
    }
    let (_, t) = outer_jvp(&x, &array![1.0, 2.0]);
    assert!((t - g.dot(&array![1.0, 2.0])).abs() < 1e-12);
    assert_eq!(calls_the_other_way_grad(&x), array![2.0 * 0.4 + 1.0 + 2.0, 2.0 * 1.2 + 2.0]);
}

#[differentiate]
mod inside {
    use ad::prelude::*;

    #[differentiate(mode = "dual_numbers")]
    pub fn cube<T: Real>(x: T) -> T {
        x * x * x
    }

    #[differentiate]
    pub fn square(x: f64) -> f64 {
        x * x
    }
}

/// A differentiated module may have functions of both modes.
#[test]
fn in_a_module() {
    assert_eq!((inside::cube_grad(2.0), inside::square_grad(2.0)), (12.0, 4.0));
}
