//! The functions of ndarray, one for each row of the table: values are the function's own,
//! gradients those of central differences, and neither depends on the memory layout of the input.
//! The rows of an input may share memory, and there may be no rows.

mod layouts;

use ad::ndarray::Array;
use ad::prelude::*;

type ValueAndGrad = fn(&ArrayRef2<f64>) -> (f64, Array2<f64>);

/// Tests a function of a 3 by 4 matrix.
#[track_caller]
fn verify(f: fn(&ArrayRef2<f64>) -> f64, value_and_grad: ValueAndGrad) {
    let x = Array2::from_shape_fn((3, 4), |(i, j)| 0.4 + ((i * 4 + j) as f64 * 0.83).sin().abs());
    let (value, gradient) = value_and_grad(&x);
    let own = f(&x);
    assert!((value - own).abs() <= 1e-12 * own.abs().max(1.0), "value {value} is not {own}");
    let h = 1e-5;
    for (ix, &g) in gradient.indexed_iter() {
        let at = |d: f64| {
            let mut x = x.clone();
            x[ix] += d;
            f(&x)
        };
        let central = (at(h) - at(-h)) / (2.0 * h);
        assert!((g - central).abs() <= 1e-7 * central.abs().max(1.0), "at {ix:?}: {g} is not {central}");
    }
    assert!(gradient.iter().any(|&g| g != 0.0));
    layouts::on_every_input(f, value_and_grad, &x);
}

/// A function with an array as its result. The differentiated function is a weighted sum of the
/// elements.
macro_rules! arrays {
    ($($name:ident: |$x:ident| $body:expr;)*) => {$(
        mod $name {
            use super::*;
            #[allow(unused_imports, reason = "not every row joins arrays")]
            use ad::ndarray::{NewAxis, Slice, arr0, arr1, arr2, arr3, aview0, aview1, aview2, azip, concatenate, linalg::kron, stack};

            #[differentiate]
            fn f(given: &ArrayRef2<f64>) -> f64 {
                let $x = &given.to_owned();
                let result = $body;
                let flat = result.flatten();
                build1(flat.len(), |i| flat[i].sin() * (i + 1) as f64).sum()
            }

            #[test]
            fn gradient() {
                verify(f, f_value_and_grad);
            }
        }
    )*};
}

/// The same for functions whose result is a number.
macro_rules! numbers {
    ($($name:ident: |$x:ident| $body:expr;)*) => {$(
        mod $name {
            use super::*;

            #[differentiate]
            fn f(given: &ArrayRef2<f64>) -> f64 {
                let $x = &given.to_owned();
                $body
            }

            #[test]
            fn gradient() {
                verify(f, f_value_and_grad);
            }
        }
    )*};
}

mod construction {
    use super::*;
    arrays! {
        build_nested: |x| build1(3, |i| build1(2, |j| build1(4, |k| x[[i, k]] * x[[j, k]])));
        build_arrays: |x| build1(4, |j| x * x[[0, j]]);
        build_rank_six: |x| build([2, 1, 3, 2, 1, 2], |[a, b, i, c, d, e]| x[[i, a + c + e + b + d]] * (a + 2 * e) as f64);
        from_shape_fn: |x| Array::from_shape_fn((4, 3), |(j, i)| x[[i, j]] * x[[2, j]]);
        from_shape_fn_of_one: |x| Array1::from_shape_fn(4, |j| x[[1, j]].exp());
        from_shape_fn_of_four: |x| Array4::from_shape_fn((2, 3, 1, 4), |(a, i, _, j)| x[[i, j]] * (a as f64 - 0.3));
        from_elem: |x| Array2::from_elem((2, 3), x[[0, 1]]) * x.slice(s![..2, ..3]);
        from_elem_like: |x| Array::from_elem(x.raw_dim(), x[[2, 3]]) + x;
        zeros_and_ones: |x| Array2::<f64>::zeros(x.dim()) + x * &Array2::<f64>::ones((3, 4)) + Array::<f64, _>::default(x.raw_dim());
        eye: |x| x.dot(&x.t()) + Array2::<f64>::eye(3);
        from_diag: |x| Array2::from_diag(&x.row(0)) * 2.0 + x[[1, 1]];
        from_diag_elem: |x| Array2::from_diag_elem(3, x[[0, 0]]).dot(x);
        from_vec: |x| Array1::from_vec(vec![x[[0, 0]], 1.0, x[[2, 1]] * x[[0, 0]]]);
        from_shape_vec: |x| Array2::from_shape_vec((2, 2), vec![x[[0, 0]], 1.0, x[[2, 1]], x[[1, 1]]]).unwrap();
        from_array: |x| Array1::from(vec![x[[0, 0]]; 3]);
        simple: |x| Array2::from_shape_simple_fn((2, 2), || x[[0, 1]].sqrt());
        linspace: |x| Array1::linspace(x[[0, 0]], 3.0, 7) * x[[0, 1]];
        linspace_of_one: |x| Array1::linspace(x[[0, 0]], x[[1, 0]], 1);
        range: |x| Array1::range(x[[0, 0]], 3.0, 0.5) * x[[0, 1]];
        range_by_a_parameter: |x| Array::range(1.0, -1.2, -x[[0, 0]].abs() - 0.2) * x[[0, 1]];
        logspace: |x| Array1::logspace(2.5, x[[0, 0]], x[[1, 2]], 5);
        from_iter: |x| Array1::from_iter((0..3).map(|i| x[[i, i]] * x[[0, 1]]));
        literal_of_three: |x| array![[[x[[0, 0]], 1.0], [2.0, x[[0, 1]]]], [[0.5, x[[2, 2]]], [x[[0, 0]], x[[1, 1]]]]];
        literals: |x| arr1(&[x[[0, 0]], x[[1, 1]]]) * arr2(&[[x[[0, 1]], 1.0], [2.0, x[[2, 2]]]]) + arr0(x[[1, 0]]);
        literal_views: |x| &aview1(&[x[[0, 0]], x[[1, 1]]]) * &aview2(&[[x[[0, 1]], 1.0], [2.0, x[[2, 2]]]]) * aview0(&x[[1, 0]]);
        literal_of_rank_three: |x| arr3(&[[[x[[0, 0]], x[[0, 1]]]], [[1.0, x[[2, 3]]]]]);
        replicated: |x| replicate(3, x.row(1).to_owned()) * replicate(4, x[[0, 2]]);
        one_hots: |x| one_hot::<f64>(4, 2) * x.row(1) + x.row(0);
        counted: |x| iota(4).mapv(|i| i as f64) * x.row(2);
    }
}

mod elementwise {
    use super::*;
    arrays! {
        operators: |x| -(x - &(x * x)) / (x + 2.0) + 3.0 * x - 1.0 / x;
        by_rows: |x| x * &x.row(1) - &x.column(2).insert_axis(Axis(1)) / x;
        of_different_rank: |x| &x.row(0) + &x.view().insert_axis(Axis(0));
        remainder: |x| (x * 5.0) % 1.7;
        functions: |x| x.exp() + x.ln() * x.sqrt() + x.powi(3) + x.powf(0.7) + x.abs() + x.recip() + x.cbrt() + x.exp2() + x.exp_m1() + x.log2() + x.log10() + x.ln_1p();
        trigonometry: |x| x.sin() + x.cos() * x.tan() + (x / 3.0).asin() + (x / 3.0).acos() + x.atan() + x.sinh() + x.cosh() + x.tanh() + x.asinh() + (x + 1.0).acosh() + (x / 3.0).atanh() + x.to_degrees() * 0.01 + x.to_radians();
        steps: |x| x.floor() + x.ceil() * x + x.round() + x.trunc() + x.fract() + x.signum();
        of_two: |x| x.hypot(0.7) + x.log(3.0) + x.abs_sub(0.9) + x.pow2() + x.clamp(0.6, 1.2);
        paths: |x| x.mapv(f64::exp) + x.map(|v| v * v) + x.clone().mapv_into(|v| v.ln()) + x.clone().mapv_into_any(f64::sin);
        captured: |x| { let row = x.row(0); x.mapv(|v| v * row[1] + row[2]) };
        ours: |x| sigmoid(x) + relu(&(x - 0.9)) + softplus(x) + erf(x) * erfc(x) + ln_gamma(x) + digamma(x);
        pairs: |x| map2(x, &(x * x), |a, b| a / (1.0 + b) + a.atan2(b));
        zip_of_two: |x| Zip::from(x).and(&x.mapv(f64::sin)).map_collect(|a, b| a * b + 1.0);
        zip_of_five: |x| Zip::from(x).and(x).and(&x.slice(s![..;-1, ..])).and(x).and_broadcast(&x.row(1)).map_collect(|a, b, c, d, e| a * b + c * d + e);
        zip_indexed: |x| Zip::indexed(x).and(x).map_collect(|(i, j), a, b| a * b + (i * j) as f64 * a);
        zip_indexed_vector: |x| Zip::indexed(&x.row(0)).map_collect(|i, &a| a * (i as f64).cos());
        not_a_number: |x| Zip::from(&x.is_nan()).and(x).map_collect(|&c, &v| if c { 0.0 } else { v });
        zip_that_changes: |x| {
            let (mut y, mut z) = (x.clone(), Array2::zeros(x.dim()));
            Zip::from(&mut y).and(x).for_each(|y, &x| *y += x * x);
            Zip::indexed(&mut z).and(&y).and_broadcast(&x.row(1)).for_each(|(i, j), z, y, r| *z = y * r + (i * j) as f64);
            Zip::from(y.rows_mut()).and(&x.column(0)).for_each(|mut row, &v| row += v);
            z * y
        };
        zip_into: |x| { let mut y = x.t().to_owned(); Zip::from(&x.t()).and(&x.t()).map_assign_into(&mut y, |a, b| a * b); y };
        azips: |x| {
            let mut y = Array2::zeros(x.dim());
            azip!((y in &mut y, &a in x, &b in &x.sin()) *y = a * b);
            azip!((index (i, j), y in &mut y) { if i > j { *y *= 2.0; } });
            y
        };
        changed_with: |x| { let mut y = x.clone(); y.zip_mut_with(&x.row(1), |y, &r| *y = *y * r + 1.0); y.map_inplace(|v| *v = v.sin()); y };
        scaled: |x| { let mut y = x.sin(); y.scaled_add(x[[0, 1]], x); y.scaled_add(-2.0, &x.row(2)); y };
        chosen: |x| select(x[[0, 0]] > 0.1, x * 2.0, x.sin());
    }
}

mod reductions {
    use super::*;
    numbers! {
        chunks_of_rows: |x| x.axis_chunks_iter(Axis(0), 2).map(|c| c.sum().sin() * c.iter().map(|v| v * v).sum::<f64>()).sum();
        chunks_of_columns: |x| x.axis_chunks_iter(Axis(1), 3).enumerate().map(|(k, c)| c.mapv(|v| v.exp() * k as f64).sum() * c.ncols() as f64 + c[[1, 0]]).sum();
        chunks_of_a_row: |x| x.row(1).axis_chunks_iter(Axis(0), 3).map(|c| c.dot(&c) * c[0]).sum();
        zip_folded: |x| Zip::from(x).and(&x.cos()).fold(0.5, |acc, a, b| acc * 0.9 + a * b);
        zip_asked: |x| if Zip::from(x).and(&x.sin()).all(|a, b| a > b) && !Zip::from(x).any(|&a| a < 0.0) { x.sum() } else { 0.0 };
        reduced_to_one: |x| x.iter().copied().reduce(|a, b| a * 0.7 + b).unwrap_or(0.0) + x.row(0).iter().map(|v| v * v).reduce(f64::max).map_or(0.0, |v| v);
        ranges: |x| { let r = 1..3; if (0.0..10.0).contains(&x[[0, 0]]) && [1, 2].contains(&r.start) { x[[0, r.start]] * x[[1, r.end]] } else { 0.0 } };
        total: |x| (x * x).sum() * x[[0, 0]];
        mean: |x| (x * x).mean().unwrap() + x.mean().expect("elements");
        var: |x| x.var(0.0) + x.var(1.0) * x[[0, 0]];
        std: |x| x.std(1.0) + x.std(0.0).sin();
        norms: |x| norm(x) * norm(&x.row(1)) + logsumexp(&x.column(0)) + maximum(x) + minimum(&x.t());
        dots: |x| x.row(0).dot(&x.row(1)) + x.dot(&x.row(2)).sum() + x.column(0).dot(x).sum() + x.dot(&x.t()).dot(x).sum();
        places: |x| { let (i, j) = (argmax(&x.row(0)), argmin(&x.column(1))); x[[j, i]] * 3.0 + x[[0, i]] };
        any_special: |x| if x.is_any_nan() || x.is_any_infinite() { 0.0 } else { x.sum() };
        nested: |x| x.to_shape((3, 2, 2)).unwrap().sum_axis(Axis(1)).mean_axis(Axis(0)).unwrap().var(0.0);
    }
    arrays! {
        sum_axis: |x| (x * x).sum_axis(Axis(1)) + x.sum_axis(Axis(0)).sum();
        mean_axis: |x| (x * x).mean_axis(Axis(0)).unwrap();
        var_axis: |x| x.var_axis(Axis(0), 1.0);
        std_axis: |x| x.std_axis(Axis(1), 0.0);
        map_axis: |x| x.map_axis(Axis(0), |lane| lane[0] * lane.sum()) + x.map_axis(Axis(1), |lane| logsumexp(&lane)).sum();
        map_axis_of_the_middle: |x| x.to_shape((3, 2, 2)).unwrap().map_axis(Axis(1), |lane| lane[0] / lane[1]);
        outer: |x| sum_outer(&(x * x)) * sum_outer(&x.row(0));
        soft: |x| softmax(x) + softmax(&x.row(0));
        soft_of_three: |x| softmax(&x.to_shape((2, 2, 3)).unwrap());
        differences: |x| x.diff(1, Axis(0)).t().dot(&x.diff(2, Axis(1)).slice(s![1.., ..])).diff(0, Axis(0));
    }
}

mod layout {
    use super::*;
    arrays! {
        transposed: |x| x.t().dot(x) + x.clone().reversed_axes().dot(x);
        permuted: |x| x.to_shape((3, 2, 2)).unwrap().permuted_axes((2, 0, 1)) * x[[0, 0]];
        permuted_by_a_list: |x| x.view().permuted_axes([1, 0]).dot(x);
        shapes: |x| x.to_shape((2, 6)).unwrap().dot(&x.clone().into_shape_with_order((6, 2)).unwrap());
        shape_of_rank_six: |x| x.to_shape((1, 2, 1, 3, 2, 1)).unwrap().permuted_axes((3, 1, 0, 5, 4, 2)) * 2.0;
        shape_clone: |x| x.clone().into_shape_clone(12).unwrap().slice(s![..;3]).to_owned() * x.flatten()[4];
        axes: |x| x.clone().insert_axis(Axis(1)).insert_axis(Axis(3)).remove_axis(Axis(0)) * x[[1, 1]];
        index_axes: |x| x.view().index_axis_move(Axis(1), 2).to_owned() * x.index_axis(Axis(1), 0);
        broadcasted: |x| &x.row(0).broadcast((2, 4)).unwrap() * &x.slice(s![1.., ..]);
        broadcast_one: |x| &x.column(1).insert_axis(Axis(1)).broadcast((3, 4)).unwrap() * x;
        stack_zero: |x| stack![Axis(0), *x, x.sin()];
        stack_last: |x| stack![Axis(2), *x, x.sin(), x.slice(s![..;-1, ..])];
        stack_function: |x| stack(Axis(1), &[x.row(0), x.row(2)]).unwrap();
        joined: |x| concatenate![Axis(0), x.view(), x.slice(s![1.., ..]), x.view()];
        joined_last: |x| concatenate![Axis(1), x.slice(s![.., ..1]), x.slice(s![.., 1..;2]), x.slice(s![.., 3..3])];
        joined_function: |x| concatenate(Axis(0), &[x.row(0), x.row(2)]).unwrap() * concatenate(Axis(0), &[x.column(0).view(), aview1(&[x[[0, 0]]; 5])]).unwrap();
        joined_rank_three: |x| concatenate![Axis(1), x.to_shape((2, 2, 3)).unwrap(), x.to_shape((2, 2, 3)).unwrap().slice(s![.., ..1, ..])];
        reversed: |x| x.slice(s![..;-1, 1..;2]).to_owned() + x.slice(s![.., ..;-2]);
        new_axis: |x| &x.slice(s![.., NewAxis, 1]) * &x.slice(s![NewAxis, 0, ..]);
        moved: |x| x.clone().slice_move(s![1.., ..-1]) * x.slice_axis(Axis(0), Slice::from(..2)).slice(s![.., 1..]);
        axis_slices: |x| x.slice_axis(Axis(1), Slice::new(1, None, 2)).to_owned() * x.slice_axis(Axis(1), Slice::new(-2, Some(4), -1));
        axis_slices_by_steps: |x| &x.slice_axis(Axis(0), Slice::from(..).step_by(-2)) * &x.slice(s![Slice::from(1..), ..]);
        axis_slices_changed: |x| {
            let mut y = x.clone();
            y.slice_axis_mut(Axis(1), Slice::new(0, Some(-1), 2)).assign(&x.slice_axis(Axis(1), (2..4).into()));
            y.slice_axis_mut(Axis(0), Slice::from(1..)).mapv_inplace(|v| v * v);
            y
        };
        selected: |x| x.select(Axis(1), &[2, 0, 2]) * 2.0;
        selected_rows: |x| x.select(Axis(0), &[1, 1]).dot(&x.t());
        selected_of_three: |x| x.to_shape((2, 2, 3)).unwrap().select(Axis(2), &[2, 2, 0, 1]);
        diagonals: |x| x.diag().to_owned() * x.dot(&x.t()).into_diag();
        diagonal_of_three: |x| x.to_shape((2, 2, 3)).unwrap().diag().to_owned();
        triangles: |x| x.triu(0) + x.triu(1).sin() * x.triu(-1) + x.tril(0) - x.tril(2) * x.tril(-1);
        split: |x| { let (a, b) = x.view().split_at(Axis(1), 1); a.dot(&b.t().slice(s![..1, ..])) };
        vectors: |x| Array1::from(x.row(1).to_vec()) * Array1::from_vec(x.clone().into_raw_vec_and_offset().0).slice(s![..4]);
        as_slices: |x| Array1::from(x.row(1).to_owned().as_slice().unwrap().to_vec());
        kroneckered: |x| kron(&x.slice(s![..2, ..2]), x);
        dimensions: |x| x.clone().into_dimensionality::<ad::ndarray::Ix2>().unwrap().as_standard_layout().view().reborrow().dot(&x.t());
    }
}

mod movement {
    use super::*;
    arrays! {
        gathered: |x| gather([2, 4], x, |[a, j]| [a * 2, 3 - j]);
        gathered_three: |x| gather([2, 2, 3], x, |[a, b, i]| [i, a + b]);
        gathered_by_array: |x| { let ids = array![2_usize, 0, 0, 1]; gather([4], x, |[a]| [ids[a], a]) };
        scattered: |x| scatter([5], x, |[i, j]| [(i * j) % 5]);
        scattered_three: |x| scatter([2, 3, 2], x, |[i, j]| [j % 2, i, j / 2]);
        scattered_from_one: |x| scatter([2, 2], &x.row(0), |[j]| [j % 2, j / 2]);
    }
}

/// Code that is not reached does not fail. A failure has its source location.
mod reached {
    use super::*;
    use ad::ndarray::{arr1, concatenate, stack};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[differentiate]
    fn shaped(x: &Array1<f64>, wide: bool) -> f64 {
        if wide { x.to_shape((2, 3)).unwrap().sum_axis(Axis(0)).mapv(f64::sin).sum() } else { x.sum() }
    }

    #[differentiate]
    fn shaped_in_a_loop(x: &Array1<f64>, n: usize) -> f64 {
        build1(n, |i| x.to_shape((2, 3)).unwrap()[[1, i]] * x.broadcast((2, 6)).unwrap()[[1, i]]).sum() + x.sum()
    }

    #[differentiate]
    fn joined(x: &Array2<f64>, y: &Array2<f64>, both: bool) -> f64 {
        if both {
            concatenate![Axis(0), x.view(), y.view()].mapv(f64::sin).dot(&x.row(0)).sum()
        } else {
            x.sum() * y.sum()
        }
    }

    #[differentiate]
    fn stacked(x: &[f64], y: &[f64], n: usize) -> f64 {
        build1(n, |i| stack![Axis(0), arr1(x), arr1(y)][[0, i]]).sum() + x.iter().sum::<f64>()
    }

    #[differentiate]
    fn spread(x: &Array1<f64>, ddof: f64) -> f64 {
        x.var(ddof) + x.std(ddof)
    }

    fn fails<T>(f: impl FnOnce() -> T) -> bool {
        catch_unwind(AssertUnwindSafe(f)).is_err()
    }

    #[test]
    fn checks_under_a_condition_are_made_only_there() {
        let (six, five) = (Array1::linspace(0.1, 0.9, 6), Array1::linspace(0.1, 0.9, 5));
        assert!(fails(|| shaped(&five, true)) && fails(|| shaped_grad(&five, true)));
        assert_eq!(shaped_grad(&five, false), Array1::<f64>::ones(5));
        assert_eq!(shaped_grad(&six, false), Array1::<f64>::ones(6));
        assert!((shaped_value_and_grad(&six, true).0 - shaped(&six, true)).abs() < 1e-12);
        assert_eq!(shaped_in_a_loop_grad(&five, 0), Array1::<f64>::ones(5));
        assert!(fails(|| shaped_in_a_loop(&five, 1)) && fails(|| shaped_in_a_loop_grad(&five, 1)));
        assert!((shaped_in_a_loop_value_and_grad(&six, 2).0 - shaped_in_a_loop(&six, 2)).abs() < 1e-12);
        let (a, b, c) = (Array2::<f64>::ones((2, 3)), Array2::<f64>::ones((4, 3)), Array2::<f64>::ones((4, 2)));
        assert!(!fails(|| joined_grad(&a, &b, true)) && !fails(|| joined_grad(&a, &c, false)));
        assert!(fails(|| joined(&a, &c, true)) && fails(|| joined_grad(&a, &c, true)));
        assert!(fails(|| stacked(&[1.0, 2.0], &[1.0], 1)) && fails(|| stacked_grad(&[1.0, 2.0], &[1.0], 1)));
        assert!(!fails(|| stacked(&[1.0, 2.0], &[1.0], 0)));
        assert_eq!(stacked_grad(&[1.0, 2.0], &[1.0], 0), (vec![1.0, 1.0], vec![0.0]));
        assert_eq!(stacked_grad(&[1.0, 2.0], &[1.0, 1.0], 1), (vec![2.0, 1.0], vec![0.0, 0.0]));
        assert!(fails(|| spread(&five, 6.0)) && fails(|| spread_grad(&five, 6.0)));
        assert!(fails(|| spread(&five, -1.0)) && fails(|| spread_grad(&five, -1.0)));
    }
}

/// Points where the derivative is not defined, and arrays without elements.
mod conventions {
    use super::*;
    use ad::ndarray::concatenate;

    #[differentiate]
    fn constant_dot(c: f64, x: &Array1<f64>) -> f64 {
        Array1::from_elem(x.len(), c).dot(x)
    }

    /// A factor that is taken out of a sum is not multiplied by the 0 of an empty sum.
    #[test]
    fn products_of_zero_and_infinity() {
        let nothing = Array1::zeros(0);
        assert_eq!(constant_dot_value_and_grad(f64::INFINITY, &nothing), (0.0, (0.0, nothing)));
        let (value, gradient) = constant_dot_value_and_grad(2.0, &array![1.0, 3.0]);
        assert_eq!((value, gradient), (8.0, (4.0, array![2.0, 2.0])));
    }

    #[differentiate]
    fn length(x: &Array2<f64>) -> f64 {
        norm(x)
    }

    #[differentiate]
    fn deviation(x: &Array1<f64>) -> f64 {
        x.std(0.0)
    }

    #[differentiate]
    fn soft(x: &Array2<f64>, w: &Array2<f64>) -> f64 {
        (softmax(x) * w).sum()
    }

    #[differentiate]
    fn ends(x: &Array2<f64>) -> f64 {
        let joined = concatenate![Axis(1), x.view(), x.slice(s![.., ..;-1])];
        let pairs = Zip::from(&joined).and(&joined.sin()).map_collect(|a, b| a * b);
        pairs.sum() + x.flatten().len() as f64 + x.diag().sum() + x.t().sum_axis(Axis(0)).sum() + softmax(x).sum()
    }

    #[differentiate]
    fn variance(x: &Array2<f64>) -> f64 {
        x.var_axis(Axis(0), 0.0).sum() + x.std(0.0)
    }

    #[test]
    fn conventions_of_norms_hold() {
        assert_eq!(length_value_and_grad(&Array2::zeros((2, 2))), (0.0, Array2::zeros((2, 2))));
        assert_eq!(length_value_and_grad(&Array2::zeros((0, 2))), (0.0, Array2::zeros((0, 2))));
        assert!((length_grad(&array![[3.0, 4.0]]) - array![[0.6, 0.8]]).iter().all(|e| e.abs() < 1e-15));
        assert_eq!(deviation_value_and_grad(&array![2.0, 2.0]), (0.0, array![0.0, 0.0]));
        let none = f64::NEG_INFINITY;
        let (value, (x, w)) = soft_value_and_grad(&array![[none, none], [0.0, none]], &array![[1.0, 2.0], [3.0, 4.0]]);
        assert_eq!((value, x, w), (3.0, Array2::zeros((2, 2)), array![[0.0, 0.0], [1.0, 0.0]]));
        for shape in [(0, 0), (0, 3), (3, 0)] {
            let x = Array2::<f64>::zeros(shape);
            assert_eq!(ends_value_and_grad(&x), (ends(&x), x.clone()), "{shape:?}");
        }
        for shape in [(0, 2), (2, 0), (0, 0)] {
            let x = Array2::<f64>::zeros(shape);
            let (value, gradient) = variance_value_and_grad(&x);
            assert!(value.is_nan() && variance(&x).is_nan() && gradient.dim() == shape, "{shape:?}");
        }
    }

    #[differentiate]
    fn evenly(a: f64, b: f64) -> Array1<f64> {
        Array1::linspace(a, b, 11)
    }

    #[test]
    fn linspace_has_the_bits_of_ndarray() {
        for (a, b) in [(0.1, 0.7), (-3.3, 1e3), (2.0, 2.0)] {
            let own = evenly(a, b);
            assert_eq!(evenly_vjp(a, b, &Array1::ones(11)).0, own);
        }
    }

    #[differentiate(vjp, jvp)]
    fn single(x: &Array2<f32>) -> Array2<f32> {
        let zeros: Array2<f32> = Array2::zeros(x.raw_dim());
        let joined = concatenate![Axis(0), x.view(), zeros.view()];
        softmax(&joined) * Array1::<f32>::linspace(0.0, 1.0, 3) + Array2::<f32>::from_elem((4, 3), 0.1) + x.var(1.0)
    }

    #[test]
    fn in_single_precision() {
        let x = Array2::from_shape_fn((2, 3), |(i, j)| (i * 3 + j) as f32 * 0.1);
        let (value, gradient) = single_vjp(&x, &Array2::ones((4, 3)));
        assert!((&value - &single(&x)).iter().all(|e| e.abs() < 1e-6));
        let direction = Array2::from_shape_fn((2, 3), |(i, j)| (i + j) as f32);
        let (_, tangent) = single_jvp(&x, &direction);
        assert!((tangent.sum() - (&gradient * &direction).sum()).abs() < 1e-4);
    }
}

/// Parameters and results of the highest ranks, of any layout.
mod high_ranks {
    use super::*;
    use ad::ndarray::concatenate;

    #[differentiate(vjp, jvp)]
    fn mixed(x: &Array6<f64>, y: ArrayView4<'_, f64>) -> Array5<f64> {
        let part = x.index_axis(Axis(2), 1).permuted_axes((4, 0, 3, 1, 2));
        let summed = part.sum_axis(Axis(1)) * y.slice(s![.., ..;-1, .., ..]);
        let rows = softmax(&y).mean_axis(Axis(0)).unwrap();
        let longer = concatenate![Axis(3), summed.view(), y];
        let stacked = longer.sin().insert_axis(Axis(2)) + rows.sum();
        Zip::from(&stacked).and(&stacked.mapv(|v| v.exp())).map_collect(|a, b| a * b)
    }

    #[differentiate]
    fn total(x: ArrayView5<'_, f64>, y: &Array5<f64>) -> f64 {
        (&x * y).var(0.0) + x.dim().0 as f64 * maximum(y) + norm(&x.select(Axis(4), &[1, 0, 1]))
    }

    #[test]
    fn both_directions_agree() {
        let x = Array6::from_shape_fn((2, 3, 2, 1, 2, 2), |(a, b, c, d, e, f)| {
            (a + 2 * b + 3 * c + d + 5 * e + 7 * f) as f64 * 0.1
        });
        let y = Array4::from_shape_fn((2, 2, 3, 1), |(a, b, c, d)| (a * 3 + b + 2 * c + d) as f64 * 0.3 - 0.5);
        let own = mixed(&x, y.view());
        let u = Array5::from_shape_fn(own.raw_dim(), |(a, b, _, c, d)| ((a + 2 * b + 3 * c + 4 * d) as f64).cos());
        let (value, (gx, gy)) = mixed_vjp(&x, y.view(), &u);
        assert!((&value - &own).iter().all(|e| e.abs() < 1e-12));
        let (vx, vy) = (x.sin(), y.cos());
        let (_, tangent) = mixed_jvp(&x, y.view(), &vx, &vy);
        let (left, right) = ((&u * &tangent).sum(), (&gx * &vx).sum() + (&gy * &vy).sum());
        assert!((left - right).abs() < 1e-10 * left.abs().max(1.0), "{left} is not {right}");
        let h = 1e-6;
        let moved = |h: f64| mixed(&(&x + h * &vx), (&y + h * &vy).view());
        let central = (moved(h) - moved(-h)) / (2.0 * h);
        let near = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-6 * a.abs().max(1.0);
        assert!(tangent.iter().zip(&central).all(near));
        let turned = y.clone().reversed_axes().as_standard_layout().into_owned().reversed_axes();
        assert_eq!(mixed_vjp(&x, turned.view(), &u), (value, (gx, gy)));
    }

    #[test]
    fn of_rank_five() {
        let x = Array5::from_shape_fn((2, 1, 3, 2, 2), |(a, b, c, d, e)| (a + b + c * 2 + d * 5 + e * 3) as f64 * 0.21);
        let y = x.cos();
        let (value, (gx, gy)) = total_value_and_grad(x.view(), &y);
        assert!((value - total(x.view(), &y)).abs() < 1e-12);
        let (vx, vy, h) = (x.sin(), y.exp(), 1e-6);
        let at = |h: f64| total((&x + h * &vx).view(), &(&y + h * &vy));
        let central = (at(h) - at(-h)) / (2.0 * h);
        assert!(((&gx * &vx).sum() + (&gy * &vy).sum() - central).abs() < 1e-7);
    }
}
