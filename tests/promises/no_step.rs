//! Loops without steps: an operation in such a loop neither panics nor gives NaN, wherever it is
//! computed.

use ad::prelude::*;
use ndarray::{Array1, Array2, array};

#[differentiate(grad, vjp, jvp, hvp)]
fn lengths(x: &Array1<f64>, y: &Array1<f64>, n: usize) -> f64 {
    let mut s = x.sum();
    for _ in 0..n {
        s += (x * y).sum() + x.dot(y);
    }
    s
}

#[differentiate(grad, vjp, jvp, hvp)]
fn lengths_in_builds(x: &Array1<f64>, y: &Array1<f64>, n: usize) -> f64 {
    let rows = build1(n, |i| (x * y * x[i]).sum() + (y - x).mapv(f64::exp)[i]);
    rows.sum() + x.sum() - y.sum()
}

#[differentiate(grad, vjp, jvp, hvp)]
fn products(a: &Array2<f64>, b: &Array2<f64>, v: &Array1<f64>, n: usize) -> f64 {
    let mut s = a.sum() * b.sum() + v.sum();
    for i in 0..n {
        s += a.dot(b).sum() + a.dot(v)[i] + v.dot(a)[i] + (a.t().dot(v) * v).sum() + (&(a * b) + v).sum();
    }
    s
}

#[differentiate(grad, vjp, jvp, hvp)]
fn kept_in_a_loop(w: &Array2<f64>, x: &Array1<f64>, n: usize) -> f64 {
    let mut h = x.clone();
    for _ in 0..n {
        h = w.dot(&h).mapv(f64::tanh) * x;
    }
    (&h * &h).sum() + w.sum()
}

#[differentiate(grad, vjp, jvp, hvp)]
fn shapes(x: &Array1<f64>, k: usize, n: usize) -> f64 {
    let mut s = 0.5 * x.dot(x);
    for i in 0..n {
        let m = x.to_shape((k, k)).unwrap();
        s += m.dot(&m)[[i, 0]] + m.row(i).sum() * x[k] + x.slice(s![..k]).sum() * x[i];
    }
    s
}

#[differentiate(grad, vjp, jvp, hvp)]
fn inner(x: &Array1<f64>, y: &Array1<f64>, n: usize, m: usize) -> f64 {
    let mut s = x.sum() + y.sum();
    for i in 0..n {
        for _ in 0..m {
            s += x[i] * (x * y).sum();
        }
    }
    s
}

/// Rows of which a part is written, in loops over rows that may not exist.
#[differentiate]
fn parts_of_rows(a: &Array2<f64>, x: &Array1<f64>, idx: &Array1<usize>, sizes: &[usize]) -> f64 {
    let (steps, n, m) = (sizes[0], sizes[1], sizes[2]);
    let mut s: f64 = 0.3;
    let mut b = a.clone();
    for t in 0..steps {
        let k = idx[t];
        for i in 0..n {
            for j in 0..m {
                b[[i, j + k]] += s * x[j];
            }
        }
        s = (s * b[[0, 0]]).sin();
    }
    s + b.sum()
}

#[test]
fn rows_that_are_not_reached_are_not_sliced() {
    let (a, x, idx) = (Array2::from_elem((1, 5), 0.5), array![1.0, 2.0], array![0]);
    let value = parts_of_rows(&a, &x, &idx, &[1, 0, 5]);
    assert_eq!(parts_of_rows_value_and_grad(&a, &x, &idx, &[1, 0, 5]).0, value);
    assert_eq!(parts_of_rows_grad(&a, &x, &idx, &[1, 0, 5]).1, array![0.0, 0.0]);
    ad::check_grad!(parts_of_rows(&a, &x, &idx, &[1, 1, 2]));
}

/// "the others run where `f` reaches them": sizes that only a loop requires to be equal may differ
/// if the loop has no steps.
#[test]
fn unreached_arrays_may_have_any_size() {
    let sizes = [(3, 1), (1, 3), (0, 2), (2, 0), (3, 3), (40, 17), (17, 40)];
    for (n, m) in sizes {
        let (x, y) = (Array1::from_shape_fn(n, |i| i as f64 + 0.5), Array1::from_shape_fn(m, |i| 2.0 - i as f64));
        let (ones, others) = (Array1::<f64>::ones(n), Array1::<f64>::ones(m));
        assert_eq!(lengths_value_and_grad(&x, &y, 0), (lengths(&x, &y, 0), (ones.clone(), 0.0 * &y)));
        assert_eq!(lengths_vjp(&x, &y, 0, 2.0), (x.sum(), (2.0 * &ones, 0.0 * &y)));
        assert_eq!(lengths_jvp(&x, &y, 0, &x, &y), (x.sum(), x.sum()));
        assert_eq!(lengths_hvp(&x, &y, 0, &x, &y), (0.0 * &x, 0.0 * &y));
        let value = lengths_in_builds(&x, &y, 0);
        assert_eq!(lengths_in_builds_value_and_grad(&x, &y, 0), (value, (ones.clone(), -&others)));
        assert_eq!(lengths_in_builds_vjp(&x, &y, 0, 1.0).1, (ones.clone(), -&others));
        assert_eq!(lengths_in_builds_jvp(&x, &y, 0, &x, &y), (value, value));
        assert_eq!(lengths_in_builds_hvp(&x, &y, 0, &x, &y), (0.0 * &x, 0.0 * &y));
        for (steps, more) in [(0, 0), (0, 3), (n.min(1), 0)] {
            assert_eq!(inner_grad(&x, &y, steps, more), (ones.clone(), others.clone()));
            assert_eq!(inner_vjp(&x, &y, steps, more, 1.0).1, (ones.clone(), others.clone()));
            assert_eq!(inner_jvp(&x, &y, steps, more, &x, &y).1, x.sum() + y.sum());
            assert_eq!(inner_hvp(&x, &y, steps, more, &x, &y), (0.0 * &x, 0.0 * &y));
        }
        for (k, l, len) in sizes.into_iter().map(|(k, l)| (k.min(3), l.min(3), n)) {
            let a = Array2::from_shape_fn((k, l), |(i, j)| i as f64 - j as f64 + 1.0);
            let b = Array2::from_shape_fn((len.min(4), k), |(i, j)| i as f64 + j as f64);
            let zeros = (0.0 * &a, 0.0 * &b, 0.0 * &x);
            let gradient = (&zeros.0 + b.sum(), &zeros.1 + a.sum(), ones.clone());
            assert_eq!(products_value_and_grad(&a, &b, &x, 0), (products(&a, &b, &x, 0), gradient.clone()));
            assert_eq!(products_vjp(&a, &b, &x, 0, 1.0).1, gradient);
            let along = products_jvp(&a, &b, &x, 0, &a, &b, &x).1;
            assert_eq!(along, 2.0 * a.sum() * b.sum() + x.sum());
            let second = products_hvp(&a, &b, &x, 0, &a, &b, &x);
            assert_eq!(second, (&zeros.0 + b.sum(), &zeros.1 + a.sum(), zeros.2));
            assert_eq!(kept_in_a_loop_grad(&a, &x, 0), (Array2::ones((k, l)), 2.0 * &x));
            assert_eq!(kept_in_a_loop_vjp(&a, &x, 0, 1.0).1, (Array2::ones((k, l)), 2.0 * &x));
            assert_eq!(kept_in_a_loop_jvp(&a, &x, 0, &a, &x).1, a.sum() + 2.0 * x.dot(&x));
            assert_eq!(kept_in_a_loop_hvp(&a, &x, 0, &a, &x), (0.0 * &a, 2.0 * &x));
            assert_eq!(shapes_value_and_grad(&x, k, 0), (shapes(&x, k, 0), x.clone()));
            assert_eq!(shapes_vjp(&x, k, 0, 1.0).1, x);
            assert_eq!(shapes_jvp(&x, k, 0, &x).1, x.dot(&x));
            assert_eq!(shapes_hvp(&x, k, 0, &x), x);
        }
    }
}

#[differentiate(grad, vjp, jvp, hvp)]
fn product(x: &Array1<f64>, n: usize) -> f64 {
    let mut s = 1.0;
    for _ in 0..n {
        s += x[0] * x[1] * x[2];
    }
    s
}

#[differentiate(grad, vjp, jvp, hvp)]
fn shared_by_two_loops(x: &Array1<f64>, n: usize) -> f64 {
    let mut s = 1.0;
    for _ in 0..n {
        s += x[0] * x[1];
    }
    for i in 0..n {
        s -= 3.0 * (x[0] * x[1]) * x[i] + (x[0] * x[2]).exp();
    }
    s
}

#[differentiate(grad, vjp, jvp, hvp)]
fn built(x: &Array1<f64>, n: usize) -> f64 {
    build1(n, |i| x[i] * (x[0] * x[1] + x[1] * x[2])).sum() + 1.0
}

#[differentiate(grad, vjp, jvp, hvp)]
fn built_twice(x: &Array1<f64>, n: usize) -> f64 {
    build([n, n], |[i, j]| x[i] * x[j] * (x[0] * x[1]) * x[2].powi(3)).sum() + 1.0
}

#[differentiate(grad, vjp, jvp, hvp)]
fn of_arrays(x: &Array1<f64>, n: usize) -> f64 {
    let mut s = 1.0;
    for i in 0..n {
        s += (x * x * x[0]).mapv(|v| v * x[1]).dot(x) * x[i];
    }
    s
}

#[differentiate(grad, vjp, jvp, hvp)]
fn of_iterators(x: &Array1<f64>, n: usize) -> f64 {
    1.0 + (0..n).map(|i| x[i] * x[0] * x[1]).sum::<f64>() + x.iter().take(n).fold(0.0, |s, v| s * v + x[1] * x[2])
}

#[differentiate(grad, vjp, jvp, hvp)]
fn carried(x: &Array1<f64>, n: usize) -> f64 {
    let mut h = 1.0;
    for i in 0..n {
        h = (h * x[i] + x[0] * x[1]).tanh() * (x[1] / x[2]);
    }
    h
}

#[differentiate(grad, vjp, jvp, hvp)]
fn carried_array(x: &Array1<f64>, n: usize) -> f64 {
    let mut h = Array1::<f64>::ones(3);
    for _ in 0..n {
        h = &h * &(x * x[0]) + x.dot(x);
        h[0] += x[1] * x[2];
    }
    h.sum() / 3.0
}

#[differentiate(grad, vjp, jvp, hvp)]
fn in_a_loop(x: &Array1<f64>, n: usize) -> f64 {
    let mut s = 1.0;
    for i in 0..n {
        for j in 0..i {
            s += x[i] * x[j] * (x[0] * x[1]);
        }
    }
    s
}

#[differentiate(grad, vjp, jvp, hvp)]
fn while_it_lasts(x: &Array1<f64>, n: usize) -> f64 {
    let (mut s, mut i) = (1.0, 0);
    while i < n && s < 10.0 {
        s += x[0] * x[1] * x[i];
        i += 1;
    }
    s
}

#[differentiate(grad, vjp, jvp, hvp)]
fn left_at_once(x: &Array1<f64>, n: usize) -> f64 {
    let mut s = 1.0;
    for i in 0..3 {
        if i >= n {
            break;
        }
        s *= x[0] * x[1] + x[i];
    }
    s
}

#[differentiate(grad, vjp, jvp, hvp)]
fn in_a_function(x: &Array1<f64>, n: usize) -> f64 {
    fn term(x: &Array1<f64>) -> f64 {
        if x.len() > 7 {
            return 0.0;
        }
        x[0] * x[1] / x[2]
    }
    let mut s = 1.0;
    for i in 0..n {
        s += term(x) * x[i];
    }
    s
}

#[differentiate(grad, vjp, jvp, hvp)]
fn in_an_arm_and_a_loop(x: &Array1<f64>, n: usize) -> f64 {
    let s = if n > 5 { x[0] * x[1] } else { 1.0 };
    let mut more = 0.0;
    for _ in 0..n {
        more += x[0] * x[1];
    }
    s + more
}

#[differentiate(grad, vjp, jvp, hvp)]
fn pushed(x: &Array1<f64>, n: usize) -> f64 {
    let mut v = vec![1.0];
    for i in 0..n {
        v.push(x[i] * x[0] * x[1]);
    }
    v.iter().sum()
}

#[differentiate(grad, vjp, jvp, hvp)]
fn nested(x: &Array1<f64>, sizes: &[usize]) -> f64 {
    let (n, m) = (sizes[0], sizes[1]);
    let mut s = 1.0;
    for i in 0..n {
        for j in 0..m {
            s += x[i] * x[2] * x[j] * (x[0] * x[1]);
        }
    }
    s
}

#[differentiate(grad, vjp, jvp, hvp)]
fn build_of_sums(x: &Array1<f64>, sizes: &[usize]) -> f64 {
    let (n, m) = (sizes[0], sizes[1]);
    1.0 + build1(n, |i| (0..m).map(|j| x[j] * (x[i] * x[0]) + x[i].exp() * x[1]).sum::<f64>()).sum()
}

#[differentiate(grad, vjp, jvp, hvp)]
fn loop_in_build(x: &Array1<f64>, sizes: &[usize]) -> f64 {
    let (n, m) = (sizes[0], sizes[1]);
    build1(n, |i| {
        let mut h = 0.0;
        for _ in 0..m {
            h = (h + x[i] * x[0]).sin() * (x[1] * x[2]);
        }
        h
    })
    .sum()
        + 1.0
}

#[differentiate(grad, vjp, jvp, hvp)]
fn build_in_loop(x: &Array1<f64>, sizes: &[usize]) -> f64 {
    let (n, m) = (sizes[0], sizes[1]);
    let mut s = 1.0;
    for i in 0..n {
        let v = build1(m, |j| x[j] * (x[i] * x[0]));
        s += v.sum() * s;
    }
    s
}

#[differentiate(grad, vjp, jvp, hvp)]
fn row_after_row(x: &Array1<f64>, sizes: &[usize]) -> f64 {
    let (n, m) = (sizes[0], sizes[1]);
    let mut s: f64 = 1.0;
    let w = build1(n, |i| build1(m, |j| x[i] * x[j]));
    for i in 0..n {
        s += w.row(i).sum() * s.ln() + (&w.row(i) * x[0] * x[1]).sum();
    }
    s
}

#[differentiate(grad, vjp, jvp, hvp)]
fn while_in_for(x: &Array1<f64>, sizes: &[usize]) -> f64 {
    let (n, m) = (sizes[0], sizes[1]);
    let mut s = 1.0;
    for i in 0..n {
        let mut j = 0;
        while j < m && s < 100.0 {
            s += x[i] * x[0] * x[1];
            j += 1;
        }
    }
    s
}

macro_rules! no_step {
    ($x:ident $size:expr => $($f:ident $grad:ident $vjp:ident $jvp:ident $hvp:ident;)*) => {
        let (none, v) = (Array1::<f64>::zeros(3), Array1::<f64>::ones(3));
        $(
            let name = stringify!($f);
            assert_eq!($f(&$x, $size), 1.0, "{name}");
            assert_eq!($grad(&$x, $size), (1.0, none.clone()), "{name} at {}", $x);
            assert_eq!($vjp(&$x, $size, 2.0), (1.0, none.clone()), "{name} at {}", $x);
            assert_eq!($jvp(&$x, $size, &v), (1.0, 0.0), "{name} at {}", $x);
            assert_eq!($hvp(&$x, $size, &v), none, "{name} at {}", $x);
        )*
    };
}

/// "A loop of zero iterations" contributes nothing, not even NaN, although loop-invariant values
/// are computed before it. Here all of these are infinite or NaN, or multiply the cotangent by such
/// a number.
#[test]
fn iterations_that_do_not_run_contribute_nothing() {
    for x in [array![f64::INFINITY, 2.0, 0.0], array![0.0, f64::NEG_INFINITY, 1.0], array![0.0, 0.0, f64::NAN]] {
        no_step! { x 0 =>
            product product_value_and_grad product_vjp product_jvp product_hvp;
            shared_by_two_loops shared_by_two_loops_value_and_grad shared_by_two_loops_vjp shared_by_two_loops_jvp shared_by_two_loops_hvp;
            built built_value_and_grad built_vjp built_jvp built_hvp;
            built_twice built_twice_value_and_grad built_twice_vjp built_twice_jvp built_twice_hvp;
            of_arrays of_arrays_value_and_grad of_arrays_vjp of_arrays_jvp of_arrays_hvp;
            of_iterators of_iterators_value_and_grad of_iterators_vjp of_iterators_jvp of_iterators_hvp;
            carried carried_value_and_grad carried_vjp carried_jvp carried_hvp;
            carried_array carried_array_value_and_grad carried_array_vjp carried_array_jvp carried_array_hvp;
            in_a_loop in_a_loop_value_and_grad in_a_loop_vjp in_a_loop_jvp in_a_loop_hvp;
            while_it_lasts while_it_lasts_value_and_grad while_it_lasts_vjp while_it_lasts_jvp while_it_lasts_hvp;
            left_at_once left_at_once_value_and_grad left_at_once_vjp left_at_once_jvp left_at_once_hvp;
            in_a_function in_a_function_value_and_grad in_a_function_vjp in_a_function_jvp in_a_function_hvp;
            in_an_arm_and_a_loop in_an_arm_and_a_loop_value_and_grad in_an_arm_and_a_loop_vjp in_an_arm_and_a_loop_jvp in_an_arm_and_a_loop_hvp;
            pushed pushed_value_and_grad pushed_vjp pushed_jvp pushed_hvp;
        }
        no_step! { x &[2, 0] =>
            nested nested_value_and_grad nested_vjp nested_jvp nested_hvp;
            build_of_sums build_of_sums_value_and_grad build_of_sums_vjp build_of_sums_jvp build_of_sums_hvp;
            loop_in_build loop_in_build_value_and_grad loop_in_build_vjp loop_in_build_jvp loop_in_build_hvp;
            build_in_loop build_in_loop_value_and_grad build_in_loop_vjp build_in_loop_jvp build_in_loop_hvp;
            row_after_row row_after_row_value_and_grad row_after_row_vjp row_after_row_jvp row_after_row_hvp;
            while_in_for while_in_for_value_and_grad while_in_for_vjp while_in_for_jvp while_in_for_hvp;
        }
        no_step! { x &[0, 2] =>
            nested nested_value_and_grad nested_vjp nested_jvp nested_hvp;
            build_of_sums build_of_sums_value_and_grad build_of_sums_vjp build_of_sums_jvp build_of_sums_hvp;
            loop_in_build loop_in_build_value_and_grad loop_in_build_vjp loop_in_build_jvp loop_in_build_hvp;
            build_in_loop build_in_loop_value_and_grad build_in_loop_vjp build_in_loop_jvp build_in_loop_hvp;
            row_after_row row_after_row_value_and_grad row_after_row_vjp row_after_row_jvp row_after_row_hvp;
            while_in_for while_in_for_value_and_grad while_in_for_vjp while_in_for_jvp while_in_for_hvp;
        }
    }
}
