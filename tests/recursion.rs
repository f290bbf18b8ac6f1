//! Functions that call themselves, with a depth that is not known when they are expanded.

use ad::ndarray::{Array1, Array2, ArrayView1, array, s};
use ad::{check_grad, differentiable, differentiate};

/// Whether two numbers are equal up to rounding.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * (1.0 + b.abs())
}

#[differentiate(grad, vjp, jvp, pullback)]
fn of_power(x: f64, n: usize) -> f64 {
    fn power(x: f64, n: usize) -> f64 {
        if n == 0 { 1.0 } else { x * power(x, n - 1) }
    }
    power(x, n).sin()
}

#[test]
fn a_function_over_numbers_calls_itself() {
    let (x, n) = (1.1_f64, 7);
    let own = 7.0 * x.powi(6) * x.powi(7).cos();
    let (value, gradient) = of_power_value_and_grad(x, n);
    assert!(close(value, x.powi(7).sin()) && close(gradient, own));
    assert!(close(of_power_jvp(x, n, 2.0).1, 2.0 * own));
    assert!(close(of_power_vjp(x, n, 3.0).1, 3.0 * own));
    let (_, back) = of_power_pullback(x, n);
    assert!(close(back(1.0), own) && close(back(-2.0), -2.0 * own), "a pullback can be called twice");
    assert!(close(of_power_grad(x, 0), 0.0));
    check_grad!(of_power(x, 12));
}

#[differentiate(grad, jvp)]
fn itself(x: f64, n: usize) -> f64 {
    if n < 2 {
        return x.sin();
    }
    let half = itself(x * 0.5, n / 2);
    half * itself(x + 1.0, n - 1 - n / 2) + x
}

#[test]
fn the_annotated_function_calls_itself_twice() {
    for n in [0, 1, 2, 5, 13] {
        check_grad!(itself(0.7, n));
    }
}

#[differentiable]
fn factorial(n: usize, x: f64) -> f64 {
    if n == 0 { x } else { factorial(n - 1, x) * n as f64 }
}

#[differentiate]
fn of_factorial(n: usize, x: f64) -> f64 {
    factorial(n, x.sin()) * x
}

#[differentiable]
fn scaled(x: f64) -> f64 {
    x / 2.0
}

#[differentiable]
fn scaled_power(x: f64, n: usize) -> f64 {
    if n == 0 { 1.0 } else { scaled(x) * scaled_power(x, n - 1) }
}

/// It has an item of the name that the marked function means another item by.
#[differentiate]
fn beside_an_item_of_the_name(x: f64, n: usize) -> f64 {
    fn scaled(x: f64) -> f64 {
        10.0 * x
    }
    scaled(x) + scaled_power(x, n)
}

#[test]
fn a_marked_function_sees_no_items_of_its_caller() {
    let (value, gradient) = beside_an_item_of_the_name_value_and_grad(0.6, 3);
    assert!(close(value, 6.0 + 0.3_f64.powi(3)) && close(gradient, 10.0 + 1.5 * 0.09));
    check_grad!(beside_an_item_of_the_name(0.6, 3));
}

#[differentiate(grad, jacobian)]
fn generic<T: ad::Real>(x: T, n: usize) -> T {
    if n == 0 { x } else { generic(x * x, n - 1) + x.sin() }
}

#[test]
fn a_marked_function_calls_itself() {
    check_grad!(of_factorial(5, 0.8));
    check_grad!(generic(0.8_f64, 4));
    assert!((generic_grad(0.8_f32, 4) - generic_grad(0.8_f64, 4) as f32).abs() < 1e-5);
}

#[differentiate]
fn alternating(x: f64, y: f64, n: u32) -> f64 {
    fn even(x: f64, y: f64, n: u32) -> f64 {
        if n == 0 { x } else { (odd(x, y, n - 1) * y).sin() }
    }
    fn odd(x: f64, y: f64, n: u32) -> f64 {
        if n == 0 { y } else { even(x * y, y, n - 1) + x }
    }
    even(x, y, n) + odd(y, x, n)
}

#[test]
fn functions_call_each_other() {
    for n in [0, 1, 2, 3, 8] {
        check_grad!(alternating(0.7, 1.3, n));
    }
}

#[differentiate]
fn of_ackermann(x: f64, m: u64, n: u64) -> f64 {
    fn ackermann(m: u64, n: u64) -> u64 {
        match (m, n) {
            (0, n) => n + 1,
            (m, 0) => ackermann(m - 1, 1),
            (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
        }
    }
    x * ackermann(m, n) as f64
}

#[test]
fn a_function_of_integers_calls_itself() {
    assert!(close(of_ackermann_grad(0.5, 2, 3), 9.0));
    assert!(close(of_ackermann_value_and_grad(0.5, 1, 4).0, 3.0));
}

#[differentiate]
fn halves(x: &[f64]) -> f64 {
    fn product(x: &[f64]) -> f64 {
        match x.len() {
            0 => 1.0,
            1 => x[0],
            n => product(&x[..n / 2]) * product(&x[n / 2..]),
        }
    }
    product(x)
}

#[test]
fn slices_are_divided() {
    let x = [1.5, -0.5, 2.0, 3.0, 0.25];
    let gradient = halves_grad(&x);
    for (k, g) in gradient.iter().enumerate() {
        assert!(close(*g, x.iter().product::<f64>() / x[k]), "{gradient:?}");
    }
    assert!(halves_grad(&[]).is_empty());
    check_grad!(halves(&x));
}

#[differentiate]
fn in_a_loop(x: &Array1<f64>, n: usize) -> f64 {
    fn chebyshev(x: f64, n: usize) -> f64 {
        match n {
            0 => 1.0,
            1 => x,
            _ => 2.0 * x * chebyshev(x, n - 1) - chebyshev(x, n - 2),
        }
    }
    let mut state = 0.5;
    for (i, &v) in x.iter().enumerate() {
        state = 0.5 * state + chebyshev(v * state, (i + n) % 5);
    }
    state
}

#[differentiate]
fn in_a_build(x: &Array1<f64>) -> f64 {
    fn tower(x: f64, n: usize) -> f64 {
        if n == 0 { x } else { tower(x.sin(), n - 1) * x }
    }
    let all: Array1<f64> = x.iter().enumerate().map(|(i, &v)| if v > 0.0 { tower(v, i) } else { v }).collect();
    all.dot(x)
}

#[test]
fn calls_are_in_loops_and_builds() {
    check_grad!(in_a_loop(&array![0.3, -0.7, 1.1, 0.9, -0.2, 0.4], 2));
    check_grad!(in_a_build(&array![0.3, -0.7, 1.1, 0.9, -0.2, 0.4]));
}

#[differentiate(grad, vjp)]
fn of_pairs(x: f64, y: f64, n: usize) -> f64 {
    fn rotate(x: f64, y: f64, n: usize) -> (f64, usize, f64) {
        if n == 0 {
            return (x, 0, y);
        }
        let (a, k, b) = rotate(x * y.cos(), x + y, n - 1);
        (a * b, k + 1, b - x)
    }
    let (a, k, b) = rotate(x, y, n);
    a + b * k as f64
}

#[differentiate]
fn of_arrays(x: [f64; 3], n: usize) -> f64 {
    fn step(x: [f64; 3], n: usize) -> [f64; 3] {
        if n == 0 { x } else { step([x[1] * 0.9, x[2].sin() + x[0], x[0] * x[1]], n - 1) }
    }
    let y = step(x, n);
    y[0] + 2.0 * y[1] * y[2]
}

#[test]
fn results_are_tuples_and_arrays() {
    for n in [0, 1, 4] {
        check_grad!(of_pairs(0.7, 0.4, n));
        check_grad!(of_arrays([0.7, 0.4, -0.3], n));
    }
}

#[differentiate]
fn determinant(a: &[f64], n: usize) -> f64 {
    fn det(a: &[f64], n: usize) -> f64 {
        if n == 1 {
            return a[0];
        }
        let mut sum = 0.0;
        let mut sign = 1.0;
        for i in 0..n {
            let mut minor = vec![0.0; (n - 1) * (n - 1)];
            for r in 0..n - 1 {
                for c in 0..n - 1 {
                    let row = if r < i { r } else { r + 1 };
                    minor[r * (n - 1) + c] = a[row * n + c + 1];
                }
            }
            sum += sign * a[i * n] * det(&minor, n - 1);
            sign = -sign;
        }
        sum
    }
    det(a, n)
}

#[test]
fn a_determinant_by_minors() {
    let a = [2.0, 0.5, -1.0, 0.3, 1.5, 0.7, -0.2, 0.9, 1.1];
    check_grad!(determinant(&a, 3));
    let own =
        a[0] * (a[4] * a[8] - a[5] * a[7]) - a[3] * (a[1] * a[8] - a[2] * a[7]) + a[6] * (a[1] * a[5] - a[2] * a[4]);
    assert!(close(determinant_value_and_grad(&a, 3).0, own));
}

#[differentiate(grad, vjp, jvp, pullback)]
fn panics_unread(x: f64, n: usize) -> f64 {
    fn limited(x: f64, n: usize) -> f64 {
        assert!(n != 3, "three");
        if n == 0 { x } else { limited(x, n - 1) * x }
    }
    let _ = limited(x, n);
    x * x
}

#[differentiate]
fn panics_in_a_loop(x: &[f64], n: usize) -> f64 {
    fn index(n: usize, all: &[usize]) -> usize {
        if n == 0 { all[0] } else { index(n - 1, &all[1..]) }
    }
    let order = [2_usize, 0, 1];
    let mut sum = 0.0;
    for (k, &v) in x.iter().enumerate() {
        let _ = index(k + n, &order);
        sum = v.sin() * sum + v;
    }
    sum
}

#[differentiate]
fn panics_in_an_arm(x: &Array1<f64>, n: i64) -> f64 {
    fn even(n: i64) -> bool {
        if n == 0 { true } else { odd(n - 1) }
    }
    fn odd(n: i64) -> bool {
        assert!(n >= 0, "less than nothing");
        if n == 0 { false } else { even(n - 1) }
    }
    x.mapv(|v| {
        if v > 0.0 {
            let _ = even(n);
            v * v
        } else {
            v
        }
    })
    .sum()
}

fn message<R>(f: impl FnOnce() -> R) -> Option<String> {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).err()?;
    let said = caught.downcast_ref::<String>().cloned();
    Some(said.or_else(|| caught.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default())
}

#[test]
fn a_panic_of_a_call_whose_result_is_not_read() {
    for n in [0, 2] {
        check_grad!(panics_unread(0.7, n));
    }
    let said = [
        message(|| panics_unread(0.7, 5)),
        message(|| panics_unread_grad(0.7, 5)),
        message(|| panics_unread_vjp(0.7, 5, 1.0)),
        message(|| panics_unread_jvp(0.7, 5, 1.0)),
        message(|| panics_unread_pullback(0.7, 5).1(1.0)),
    ];
    for said in said {
        assert!(said.as_ref().is_some_and(|said| said.contains("three")), "{said:?}");
    }
}

#[test]
fn a_panic_of_such_a_call_in_a_loop_or_an_arm() {
    check_grad!(panics_in_a_loop(&[0.5, 0.25], 1));
    check_grad!(panics_in_a_loop(&[], 9));
    assert!(message(|| panics_in_a_loop(&[0.5, 0.25], 2)).is_some());
    assert!(message(|| panics_in_a_loop_grad(&[0.5, 0.25], 2)).is_some());
    let x = array![0.5, -0.5];
    check_grad!(panics_in_an_arm(&x, 4));
    check_grad!(panics_in_an_arm(&array![-0.5], -1));
    for said in [message(|| panics_in_an_arm(&x, -1)), message(|| panics_in_an_arm_grad(&x, -1).sum())] {
        assert!(said.as_ref().is_some_and(|said| said.contains("less than nothing")), "{said:?}");
    }
}

#[differentiate(grad, vjp, jvp, pullback, into)]
fn by_masks(a: &[f64], n: usize) -> f64 {
    fn det(a: &[f64], n: usize, row: usize, used: usize) -> f64 {
        if row == n {
            return 1.0;
        }
        let mut sum = 0.0;
        let mut sign = 1.0;
        for c in 0..n {
            if used & (1 << c) == 0 {
                sum += sign * a[row * n + c] * det(a, n, row + 1, used | (1 << c));
                sign = -sign;
            }
        }
        sum
    }
    det(a, n, 0, 0)
}

#[differentiate]
fn by_lists(a: &[f64], n: usize) -> f64 {
    fn det(a: &[f64], n: usize, row: usize, columns: &[usize]) -> f64 {
        if columns.is_empty() {
            return 1.0;
        }
        let mut sum = 0.0;
        for (k, &c) in columns.iter().enumerate() {
            let mut rest = columns.to_vec();
            rest.remove(k);
            let sign = if k % 2 == 0 { 1.0 } else { -1.0 };
            sum += sign * a[row * n + c] * det(a, n, row + 1, &rest);
        }
        sum
    }
    let columns: Vec<usize> = (0..n).collect();
    det(a, n, 0, &columns)
}

#[test]
fn determinants_in_other_ways() {
    let a: Vec<f64> = (0..16).map(|k| ((7 * k) % 11) as f64 * 0.3 - 1.0).collect();
    let (value, gradient) = determinant_value_and_grad(&a, 4);
    for (other, of_other) in [by_masks_value_and_grad(&a, 4), by_lists_value_and_grad(&a, 4)] {
        assert!(close(other, value) && of_other.iter().zip(&gradient).all(|(a, b)| close(*a, *b)), "{of_other:?}");
    }
    check_grad!(by_masks(&a, 4));
    check_grad!(by_lists(&a[..9], 3));
    let (_, back) = by_masks_pullback(&a, 4);
    let twice: Vec<f64> = gradient.iter().map(|g| 2.0 * g).collect();
    for (scale, want) in [(1.0, &gradient), (2.0, &twice)] {
        assert!(back(scale).iter().zip(want).all(|(a, b)| close(*a, *b)), "a pullback adds to its own array");
    }
    let mut into = vec![9.0; 16];
    by_masks_value_and_grad_into(&a, 4, &mut into);
    assert!(into.iter().zip(&gradient).all(|(a, b)| close(*a, *b)));
}

/// With 2^50 calls it would not end.
#[differentiate(grad, jacobian)]
fn once_in_each_call(x: &[f64], n: usize) -> f64 {
    fn deep(x: &[f64], n: usize) -> f64 {
        if n == 0 {
            return x[0];
        }
        let mut sum = 0.0;
        let mut sign = 1.0;
        for (i, &v) in x.iter().enumerate() {
            if i == n % x.len() {
                sum += sign * v.cos() * deep(x, n - 1);
                sign = -sign;
            }
        }
        sum
    }
    deep(x, n)
}

#[test]
fn no_call_is_made_twice() {
    let x = [0.1, -0.2, 0.3];
    check_grad!(once_in_each_call(&x, 50));
    let (gradient, jacobian) = (once_in_each_call_grad(&x, 7), once_in_each_call_jacobian(&x, 7));
    assert!(gradient.iter().zip(&jacobian).all(|(a, b)| close(*a, *b)));
}

#[differentiate(vjp, jacobian)]
fn both_kinds(x: &[f64], scale: f64, n: usize) -> [f64; 2] {
    /// Two active arguments, and arrays that change from call to call.
    fn folded(x: &[f64], scale: f64, n: usize) -> (f64, f64) {
        if n == 0 || x.len() < 2 {
            return (x.iter().sum(), scale);
        }
        let next: Vec<f64> = (1..x.len()).map(|i| x[i] * scale - x[i - 1]).collect();
        let (a, b) = folded(&next, scale * 0.5, n - 1);
        (a * x[0], b + a)
    }
    /// One active argument, an array, by halves and twice in one sum.
    fn halved(x: &[f64]) -> f64 {
        match x.len() {
            0 => 1.0,
            1 => x[0],
            n => halved(&x[1..]) * x[0] + halved(&x[..n / 2]) + halved(&x[..n - 1]),
        }
    }
    let (a, b) = folded(x, scale, n);
    [a * b, halved(x)]
}

#[test]
fn arrays_that_change_and_several_active_arguments() {
    let x = [0.4, -0.3, 0.7, 1.1];
    for n in [0, 1, 3, 9] {
        check_grad!(both_kinds(&x, 0.8, n));
    }
}

#[differentiate]
fn of_an_ndarray(x: &Array1<f64>, n: usize) -> f64 {
    fn scaled(x: &Array1<f64>, n: usize) -> f64 {
        if n == 0 { x.sum() } else { scaled(x, n - 1) * x[0] }
    }
    fn seen(x: ArrayView1<f64>, n: usize) -> f64 {
        if n == 0 { x.dot(&x) } else { seen(x.slice(s![1..]), n - 1) + x[0] }
    }
    scaled(x, n) + seen(x.view(), n)
}

#[differentiate]
fn of_a_vec(x: Vec<f64>) -> f64 {
    fn shrinking(x: Vec<f64>) -> f64 {
        if x.len() < 2 { x[0] } else { shrinking(x[1..].to_vec()) * x[0] }
    }
    shrinking(x)
}

#[differentiate]
fn of_a_pattern(x: &[f64]) -> f64 {
    fn polynomial(x: &[f64], at: f64) -> f64 {
        match x {
            [] => 0.0,
            [first, rest @ ..] => first + at * polynomial(rest, at),
        }
    }
    fn product(x: &[f64]) -> f64 {
        if let Some((first, rest)) = x.split_first() { first * product(rest) } else { 1.0 }
    }
    polynomial(x, 0.5) * product(x)
}

#[differentiate]
fn itself_over_a_pattern(x: &[f64]) -> f64 {
    let (first, rest) = match x {
        [] => return 1.0,
        [first, rest @ ..] => (*first, rest),
    };
    first.sin() * itself_over_a_pattern(rest)
}

#[test]
fn parameters_as_people_write_them() {
    let x = [0.7, -0.4, 1.2, 0.3];
    for n in [0, 1, 3] {
        check_grad!(of_an_ndarray(&Array1::from(x.to_vec()), n));
    }
    check_grad!(of_a_vec(x.to_vec()));
    check_grad!(of_a_pattern(&x));
    check_grad!(itself_over_a_pattern(&x));
    assert!(close(of_a_pattern(&[]), 0.0) && itself_over_a_pattern_grad(&[]).is_empty());
}

#[differentiate(grad, jvp)]
fn by_minors(a: &Array2<f64>) -> f64 {
    let n = a.nrows();
    if n == 1 {
        return a[[0, 0]];
    }
    let mut total = 0.0;
    for j in 0..n {
        let minor = Array2::from_shape_fn((n - 1, n - 1), |(r, c)| a[[r + 1, if c < j { c } else { c + 1 }]]);
        let sign = if j % 2 == 0 { 1.0 } else { -1.0 };
        total += sign * a[[0, j]] * by_minors(&minor);
    }
    total
}

#[differentiate]
fn of_the_same_matrix(x: &Array2<f64>, v: &Array1<f64>, n: usize) -> f64 {
    if n == 0 { v.sum() } else { of_the_same_matrix(x, &x.dot(v), n - 1) + x[[0, 1]] }
}

#[differentiate]
fn of_rows(rows: &[[f64; 2]]) -> f64 {
    match rows {
        [] => 1.0,
        [first, rest @ ..] => first[0] * of_rows(rest) + first[1].sin(),
    }
}

#[differentiate]
fn of_a_list_of_pairs(pairs: &[(f64, f64)], k: usize) -> f64 {
    if k == pairs.len() { 1.0 } else { (pairs[k].0 * of_a_list_of_pairs(pairs, k + 1)).sin() + pairs[k].1 }
}

#[test]
fn parameters_with_any_number_of_axes() {
    let a = array![[1.2, -0.4, 0.7], [0.3, 0.9, -0.8], [-0.5, 0.6, 1.1]];
    let own = 1.2 * (0.9 * 1.1 + 0.8 * 0.6) + 0.4 * (0.3 * 1.1 - 0.8 * 0.5) + 0.7 * (0.3 * 0.6 + 0.9 * 0.5);
    assert!(close(by_minors_value_and_grad(&a).0, own));
    assert!(close(by_minors_grad(&a)[[0, 0]], 0.9 * 1.1 + 0.8 * 0.6));
    check_grad!(by_minors(&a));
    check_grad!(of_the_same_matrix(&a, &array![0.2, -0.3, 0.5], 4));
    check_grad!(of_rows(&[[0.4, 0.7], [1.3, -0.2], [0.8, 0.1]]));
    check_grad!(of_a_list_of_pairs(&[(0.4, 0.7), (1.3, -0.2), (0.8, 0.1)], 0));
}

#[differentiate]
fn of_a_method(x: f64, n: usize) -> f64 {
    struct Halving {
        factor: f64,
        rate: Array1<f64>,
    }
    impl Halving {
        fn times(&self, n: usize) -> f64 {
            if n == 0 { self.factor } else { self.rate[n % 2] * self.times(n - 1) }
        }
    }
    Halving { factor: x, rate: array![0.5, x.sin()] }.times(n)
}

#[test]
fn a_method_of_a_local_type_calls_itself() {
    for n in [0, 1, 4] {
        check_grad!(of_a_method(0.7, n));
    }
}
