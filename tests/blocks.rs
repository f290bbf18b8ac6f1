//! Sums over many items, computed in blocks of items. The gradient is the same as item by item,
//! whatever the number of items, the layout and the type, and no memory for all items is allocated.

mod allocator;

use ad::check_grad;
use ad::ndarray::{Array1, Array2, Axis, s};
use ad::prelude::*;
use allocator::counted;

/// A mixture of Gaussians: `s` are the inverse deviations.
#[differentiate(wrt(w, m, s))]
fn mixture(x: &Array2<f64>, w: &Array1<f64>, m: &Array2<f64>, s: &Array2<f64>) -> f64 {
    let (n, d) = x.dim();
    let k = w.len();
    let mut total = 0.0;
    for i in 0..n {
        let mut beta = Array1::<f64>::zeros(k);
        for c in 0..k {
            let mut squares = 0.0;
            for j in 0..d {
                let z = (x[[i, j]] - m[[c, j]]) * s[[c, j]];
                squares += z * z;
            }
            beta[c] = w[c] - 0.5 * squares;
        }
        total += logsumexp(&beta);
    }
    total
}

/// Rows below a diagonal, a softmax for each item, and a row of results for each item. Items of
/// weight 0 are not read.
#[differentiate(grad, into, wrt(a, x))]
fn lower<T: Real>(x: &Array2<T>, a: &Array2<T>, weight: &Array1<T>) -> T {
    let (n, d) = x.dim();
    let mut total = T::zero();
    for i in 0..n {
        if weight[i] > T::zero() {
            let mut z = Array1::<T>::zeros(d);
            for r in 0..d {
                for j in 0..r {
                    z[r] += a[[r, j]] * x[[i, j]];
                }
            }
            let p = softmax(&z);
            for r in 0..d {
                total += weight[i] * p[r] * (x[[i, r]] * z[r]).sin();
            }
        }
    }
    total
}

/// The squared distance of each point to the nearest centre.
#[differentiate(grad, wrt(centres))]
fn nearest(points: &Array2<f64>, centres: &Array2<f64>) -> f64 {
    let mut cost = 0.0;
    for i in 0..points.nrows() {
        let mut best = f64::INFINITY;
        for j in 0..centres.nrows() {
            let mut distance = 0.0;
            for k in 0..points.ncols() {
                let d = points[[i, k]] - centres[[j, k]];
                distance += d * d;
            }
            if distance < best {
                best = distance;
            }
        }
        cost += best;
    }
    cost
}

/// Matrices whose elements below the diagonal are packed, column by column. They are read, and
/// their gradient is accumulated, in packed form.
#[differentiate(grad, into, wrt(l))]
fn packed(x: &Array2<f64>, l: &Array2<f64>) -> f64 {
    let (n, d) = x.dim();
    let k = l.nrows();
    let mut total = -0.5 * l.mapv(|e| e * e).sum();
    for i in 0..n {
        let mut beta = Array1::<f64>::zeros(k);
        for c in 0..k {
            let mut squares = 0.0;
            for r in 0..d {
                let mut z = x[[i, r]];
                for j in 0..r {
                    z += l[[c, j * (2 * d - j - 1) / 2 + r - j - 1]] * x[[i, j]];
                }
                squares += z * z;
            }
            beta[c] = -0.5 * squares;
        }
        total += logsumexp(&beta);
    }
    total
}

/// Rows below a diagonal with the same few numbers repeated.
#[differentiate(wrt(w))]
fn folded(x: &Array2<f64>, w: &Array1<f64>) -> f64 {
    let (n, d) = x.dim();
    let mut total = 0.0;
    for i in 0..n {
        let mut z = Array1::<f64>::zeros(d);
        for r in 0..d {
            for j in 0..r {
                z[r] += w[(3 * r + j * j) % w.len()] * x[[i, j]];
            }
        }
        total += logsumexp(&z);
    }
    total * w.sum()
}

/// A mixture whose components are added array by array: the items are the second axis of the arrays
/// of a component.
#[differentiate(wrt(m, s))]
fn by_components(x: &Array2<f64>, m: &Array2<f64>, s: &Array2<f64>) -> f64 {
    let mut sums: Array1<f64> = Array1::zeros(x.nrows());
    for c in 0..m.nrows() {
        let z = (x - &m.row(c)) * s.row(c);
        sums = sums + (&z * &z).sum_axis(Axis(1)).mapv(|v| (-0.5 * v).exp()) * s.row(c).product();
    }
    sums.mapv(f64::ln).sum()
}

/// The same, computed item by item.
#[differentiate(wrt(m, s))]
fn by_items(x: &Array2<f64>, m: &Array2<f64>, s: &Array2<f64>) -> f64 {
    let mut total = 0.0;
    for i in 0..x.nrows() {
        let mut sum = 0.0;
        for c in 0..m.nrows() {
            let z = (&x.row(i) - &m.row(c)) * s.row(c);
            sum += (-0.5 * z.dot(&z)).exp() * s.row(c).product();
        }
        total += sum.ln();
    }
    total
}

fn numbers(n: usize, seed: u64) -> Array1<f64> {
    let mut rng = fastrand::Rng::with_seed(seed);
    Array1::from_shape_simple_fn(n, || rng.f64() - 0.5)
}

fn matrix(rows: usize, columns: usize, seed: u64) -> Array2<f64> {
    numbers(rows * columns, seed).into_shape_with_order((rows, columns)).unwrap()
}

#[track_caller]
fn close(a: &Array2<f64>, b: &Array2<f64>) {
    let scale = b.iter().fold(1.0_f64, |m, x| m.max(x.abs()));
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= 1e-12 * scale), "{a:?}\n{b:?}");
}

/// Blocks consist of items, whichever axis the items are, also if there are as many items as
/// components.
#[test]
fn items_may_be_the_second_axis() {
    for (n, k, d) in [(0, 3, 2), (1, 1, 1), (7, 7, 7), (16, 5, 1), (17, 1, 9), (300, 12, 5), (1031, 3, 40)] {
        let (x, m, s) = (matrix(n, d, 1), matrix(k, d, 2), matrix(k, d, 3) + 1.5);
        let (expected, (em, es)) = by_items_value_and_grad(&x, &m, &s);
        let (value, (dm, ds)) = by_components_value_and_grad(&x, &m, &s);
        assert!((value - expected).abs() <= 1e-12 * expected.abs(), "{n} {k} {d}: {value} {expected}");
        close(&dm, &em);
        close(&ds, &es);
    }
    let (x, m, s) = (matrix(9, 4, 1), matrix(3, 4, 2), matrix(3, 4, 3) + 1.5);
    check_grad!(by_components(&x, &m, &s));
    // An array over all items and components would have 8 megabytes.
    let (d, k) = (4, 100);
    let (m, s) = (matrix(k, d, 3), matrix(k, d, 4) + 1.5);
    let of = |n: usize| {
        let x = matrix(n, d, 5);
        counted(|| by_components_grad(&x, &m, &s)).1.bytes
    };
    let (few, many) = (of(1_000), of(10_000));
    assert!(many <= few && many < 1 << 20, "{few} {many}");
}

/// Moves a parameter of the mixture by this distance.
type Move<'a> = dyn FnMut(f64, &mut Array1<f64>, &mut Array2<f64>, &mut Array2<f64>) + 'a;

/// A sum over items equals the sum over groups of items, each of which fits in one block. The sum
/// of one item is compared with differences.
#[test]
fn many_blocks_are_the_sum_of_their_items() {
    let (d, k) = (150, 7);
    let (w, m, inverse) = (numbers(k, 2), matrix(k, d, 3), matrix(k, d, 4) * 0.2 + 0.3);
    for n in [0, 1, 15, 16, 17, 500, 1031] {
        let x = matrix(n, d, 5);
        let (value, (dw, dm, ds)) = mixture_value_and_grad(&x, &w, &m, &inverse);
        assert!((value - mixture(&x, &w, &m, &inverse)).abs() <= 1e-12 * value.abs());
        let (mut sum, mut sw, mut sm, mut ss) = (0.0, Array1::zeros(k), Array2::zeros((k, d)), Array2::zeros((k, d)));
        for rows in x.axis_chunks_iter(Axis(0), 5) {
            let (value, (dw, dm, ds)) = mixture_value_and_grad(&rows.to_owned(), &w, &m, &inverse);
            sum += value;
            sw += &dw;
            sm += &dm;
            ss += &ds;
        }
        assert!((value - sum).abs() <= 1e-12 * value.abs(), "{n}: {value} {sum}");
        assert!(dw.iter().zip(&sw).all(|(a, b)| (a - b).abs() < 1e-10), "{n}: {dw} {sw}");
        close(&dm, &sm);
        close(&ds, &ss);
    }
    let x = matrix(3, d, 5);
    let (_, (dw, dm, ds)) = mixture_value_and_grad(&x, &w, &m, &inverse);
    let h = 1e-5;
    for c in [0, 6] {
        let by = |up: &mut Move<'_>| {
            let mut at = |h: f64| {
                let (mut w, mut m, mut s) = (w.clone(), m.clone(), inverse.clone());
                up(h, &mut w, &mut m, &mut s);
                mixture(&x, &w, &m, &s)
            };
            (at(h) - at(-h)) / (2.0 * h)
        };
        assert!((by(&mut |h, w, _, _| w[c] += h) - dw[c]).abs() < 1e-7);
        assert!((by(&mut |h, _, m, _| m[[c, 11]] += h) - dm[[c, 11]]).abs() < 1e-7);
        assert!((by(&mut |h, _, _, s| s[[c, 149]] += h) - ds[[c, 149]]).abs() < 1e-7);
    }
}

#[test]
fn layout_and_destination_change_no_bit() {
    let (n, d) = (700, 160);
    let (x, a, weight) = (matrix(n, d, 1), matrix(d, d, 2), numbers(n, 3));
    let (value, (da, dx)) = {
        let (value, (dx, da)) = lower_value_and_grad(&x, &a, &weight);
        (value, (da, dx))
    };
    let backwards = x.slice(s![..;-1, ..;-1]).to_owned();
    let turned = x.t().as_standard_layout().reversed_axes().into_owned();
    for x in [backwards.slice(s![..;-1, ..;-1]).to_owned(), turned] {
        let (again, (dx2, da2)) = lower_value_and_grad(&x, &a, &weight);
        assert_eq!((again.to_bits(), &dx2, &da2), (value.to_bits(), &dx, &da));
    }
    let (mut into_x, mut into_a) = (Array2::from_elem((n, d), 7.0), Array2::from_elem((d, d), 7.0));
    let again = lower_value_and_grad_into(&x, &a, &weight, &mut into_x, &mut into_a);
    assert_eq!((again.to_bits(), &into_x, &into_a), (value.to_bits(), &dx, &da));
    let (narrow, (_, da32)) =
        lower_value_and_grad(&x.mapv(|x| x as f32), &a.mapv(|x| x as f32), &weight.mapv(|x| x as f32));
    assert!((f64::from(narrow) - value).abs() < 1e-3 * value.abs().max(1.0));
    assert!(da32.iter().zip(&da).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-3));
}

/// The nearest centre is that of the function: the first of several, and none for a NaN point, in
/// every lane.
#[test]
fn the_nearest_centre_is_that_of_the_function() {
    for (n, k) in [(0, 3), (5, 0), (1, 1), (16, 1), (33, 4), (300, 7)] {
        let mut points = matrix(n, 3, 1).mapv(|x| (x * 8.0).round() / 4.0);
        let mut centres = matrix(k, 3, 2).mapv(|x| (x * 8.0).round() / 4.0);
        for (at, what) in [(4, f64::NAN), (14, f64::INFINITY), (20, f64::NAN)] {
            if at < n && k > 1 {
                points[[at, at % 3]] = what;
            }
        }
        if k > 3 {
            centres[[1, 2]] = f64::NAN;
            centres.row_mut(3).fill(f64::NEG_INFINITY);
            let first = centres.row(0).to_owned();
            centres.row_mut(2).assign(&first);
        }
        let (value, gradient) = nearest_value_and_grad(&points, &centres);
        let (mut cost, mut expected) = (0.0, Array2::<f64>::zeros((k, 3)));
        for point in points.rows() {
            let distances =
                centres.rows().into_iter().map(|c| point.iter().zip(c).fold(0.0, |s, (p, c)| s + (p - c) * (p - c)));
            let mut best = (f64::INFINITY, None);
            for (j, distance) in distances.enumerate() {
                if distance < best.0 {
                    best = (distance, Some(j));
                }
            }
            cost += best.0;
            if let Some(j) = best.1 {
                expected.row_mut(j).scaled_add(2.0, &(&centres.row(j) - &point));
            }
        }
        assert!(value == cost || (value - cost).abs() <= 1e-12 * cost, "{n} {k}: {value} {cost}");
        assert_eq!(nearest(&points, &centres).is_finite(), cost.is_finite());
        close(&gradient, &expected);
    }
}

/// Neither a NaN in an item that is not read, nor the elements above the diagonal, have an effect.
#[test]
fn masked_elements_have_no_effect() {
    let (n, d) = (300, 40);
    let (mut x, mut a, mut weight) = (matrix(n, d, 1), matrix(d, d, 2), numbers(n, 3).mapv(|w| w + 0.6));
    weight[77] = 0.0;
    let (value, (dx, da)) = lower_value_and_grad(&x, &a, &weight);
    x.row_mut(77).fill(f64::NAN);
    for r in 0..d {
        for j in r..d {
            a[[r, j]] = f64::NAN;
        }
    }
    let (again, (dx2, da2)) = lower_value_and_grad(&x, &a, &weight);
    assert_eq!((value, dx, da), (again, dx2, da2));
}

/// An array over all items and components would have 8 megabytes.
#[test]
fn memory_does_not_grow_with_the_items() {
    let (d, k) = (10, 100);
    let (w, m, s) = (numbers(k, 2), matrix(k, d, 3), matrix(k, d, 4) + 1.5);
    let of = |n: usize| {
        let x = matrix(n, d, 5);
        counted(|| mixture_value_and_grad(&x, &w, &m, &s)).1.bytes
    };
    let (few, many) = (of(1_000), of(10_000));
    assert!(many <= few && many < 1 << 20, "{few} {many}");
}

/// Scattered sums over items are accumulated in place, with and without items, and if two items
/// have the same index.
#[test]
fn sums_are_added_to_the_rows_of_their_labels() {
    for (n, d, k) in [(0, 3, 2), (1, 1, 2), (5, 2, 3), (17, 6, 4), (300, 9, 5), (40, 60, 90)] {
        let triangle = d * (d - 1) / 2;
        let (x, l) = (matrix(n, d, 1) * 2.0, matrix(k, triangle, 2));
        let mut expected = -&l;
        for x in x.rows() {
            let at = |r: usize, j: usize| j * (2 * d - j - 1) / 2 + r - j - 1;
            let z = |c: usize, r: usize| x[r] + (0..r).map(|j| l[[c, at(r, j)]] * x[j]).sum::<f64>();
            let z = Array2::from_shape_fn((k, d), |(c, r)| z(c, r));
            let p = softmax(&z.map_axis(Axis(1), |z| -0.5 * z.dot(&z)));
            for ((c, r), z) in z.indexed_iter() {
                (0..r).for_each(|j| expected[[c, at(r, j)]] -= p[c] * z * x[j]);
            }
        }
        let (value, gradient) = packed_value_and_grad(&x, &l);
        assert!((value - packed(&x, &l)).abs() <= 1e-12 * value.abs().max(1.0));
        close(&gradient, &expected);
        let mut into = Array2::from_elem((k, triangle), 7.0);
        assert_eq!(packed_value_and_grad_into(&x, &l, &mut into).to_bits(), value.to_bits());
        assert_eq!(into, gradient);
    }
    for (n, d, m) in [(0, 4, 3), (1, 5, 3), (33, 12, 7), (500, 40, 11)] {
        let (x, w) = (matrix(n, d, 3), numbers(m, 4));
        let (mut all, mut expected) = (0.0, Array1::<f64>::zeros(m));
        for x in x.rows() {
            let at = |r: usize, j: usize| (3 * r + j * j) % m;
            let z = Array1::from_shape_fn(d, |r| (0..r).map(|j| w[at(r, j)] * x[j]).sum::<f64>());
            let p = softmax(&z);
            all += logsumexp(&z);
            (0..d).for_each(|r| (0..r).for_each(|j| expected[at(r, j)] += p[r] * x[j] * w.sum()));
        }
        let expected = (expected + all).insert_axis(Axis(0));
        let (value, gradient) = folded_value_and_grad(&x, &w);
        assert!((value - folded(&x, &w)).abs() <= 1e-12 * value.abs().max(1.0));
        close(&gradient.insert_axis(Axis(0)), &expected);
    }
    // The triangles once more as rectangles, the gradient, and the arrays of a block. The gradient
    // is not also a rectangle.
    let (n, d, k) = (20, 64, 100);
    let (x, l) = (matrix(n, d, 1), matrix(k, d * (d - 1) / 2, 2));
    let bytes = counted(|| packed_grad(&x, &l)).1.bytes;
    assert!(bytes < 4 * 8 * l.len(), "{bytes} bytes for {}", 8 * l.len());
}

/// Only the winner has a derivative: the first of equals, by the function's own sums, and never a
/// NaN.
#[test]
fn extrema_are_those_of_the_function() {
    let (k, d) = (30, 5);
    for n in [0, 1, 400, 1500] {
        let mut points = matrix(n, d, 1);
        let mut centres = matrix(k, d, 2);
        // Equal sums, and distances that differ in their last bits if they are summed in another
        // order.
        for j in 0..k / 2 {
            let row: Vec<f64> = centres.row(j).to_vec();
            for (c, x) in row.into_iter().rev().enumerate() {
                centres[[k / 2 + j, c]] = x;
            }
        }
        centres.row_mut(7).fill(f64::NAN);
        for i in 0..n {
            let x = points[[i, 0]];
            points.row_mut(i).fill(x);
        }
        let mut expected = Array2::<f64>::zeros((k, d));
        for p in points.rows() {
            let (mut best, mut winner) = (f64::INFINITY, None);
            for (j, c) in centres.rows().into_iter().enumerate() {
                let distance = p.iter().zip(c).fold(0.0, |s, (p, c)| s + (p - c) * (p - c));
                if distance < best {
                    (best, winner) = (distance, Some(j));
                }
            }
            let winner = winner.unwrap();
            for (g, (p, c)) in expected.row_mut(winner).iter_mut().zip(p.iter().zip(centres.row(winner))) {
                *g += 2.0 * (c - p);
            }
        }
        let (value, gradient) = nearest_value_and_grad(&points, &centres);
        assert!((value - nearest(&points, &centres)).abs() <= 1e-12 * value.abs());
        close(&gradient, &expected);
    }
    // A NaN point has no nearest centre.
    let (mut points, centres) = (matrix(40, d, 1), matrix(k, d, 2));
    let without = nearest_grad(&points, &centres) - nearest_grad(&points.slice(s![3..4, ..]).to_owned(), &centres);
    points[[3, 2]] = f64::NAN;
    let (value, gradient) = nearest_value_and_grad(&points, &centres);
    assert_eq!(value, f64::INFINITY);
    close(&gradient, &without);
    assert_eq!(nearest_value_and_grad(&points, &Array2::zeros((0, d))), (f64::INFINITY, Array2::zeros((0, d))));
    let (points, centres) = (matrix(20_000, d, 1), matrix(100, d, 2));
    let bytes = counted(|| nearest_grad(&points, &centres)).1.bytes;
    assert!(bytes < 2 << 20, "{bytes}");
}

/// Regression on the first rows of `x`; their number is that of the labels.
#[differentiate(grad, into, wrt(w))]
fn logistic<T: Real>(w: &Array1<T>, x: &Array2<T>, y: &Array1<T>) -> T {
    let scores = x.dot(w);
    let losses = build1(y.len(), |i| (-y[i] * scores[i]).exp().ln_1p());
    losses.sum()
}

/// The same elementwise, with all rows. There may be more labels.
#[differentiate(wrt(w))]
fn by_rows(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let mut loss = 0.0;
    for i in 0..x.nrows() {
        let score = x.row(i).dot(w);
        loss += (-y[i] * score).exp().ln_1p();
    }
    loss
}

/// Rows from the middle, a second product forward and backward, and another array of more axes.
#[differentiate(grad, wrt(w, v))]
fn middle(w: &Array1<f64>, v: &Array1<f64>, x: &Array2<f64>, from: usize, to: usize) -> f64 {
    let (a, b) = (x.dot(w).mapv(f64::tanh), x.dot(v));
    let (a, b) = (a.slice(s![from..to]), b.slice(s![from..to]));
    (&a * &b).sum() + 0.5 * x.mapv(|e| e * e).sum() * w.sum()
}

/// A product under a condition. If the condition does not hold, no shape is checked.
#[differentiate(wrt(w))]
fn perhaps(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>, yes: bool) -> f64 {
    if yes {
        let r = x.dot(w) - y;
        r.dot(&r)
    } else {
        w.sum()
    }
}

/// Leading rows of a matrix that a loop carries, and changes after the product.
#[differentiate(wrt(w))]
fn carried(w: &Array1<f64>, x: &Array2<f64>, k: usize) -> f64 {
    let mut a = x.clone();
    let mut total = 0.0;
    for t in 0..4 {
        let p = a.slice(s![t..k, ..]).dot(w);
        total += p.mapv(f64::sin).sum();
        a[[t, 0]] += p.sum();
        a[[k - 1, 1]] *= 1.0 + w[0];
    }
    total + a.sum()
}

/// Both products with a matrix, from both sides.
#[differentiate(wrt(u, v))]
fn bilinear(u: &Array1<f64>, v: &Array1<f64>, x: &Array2<f64>) -> f64 {
    x.dot(u).mapv(f64::tanh).dot(v) + x.t().dot(v).mapv(|e| e * e).dot(u)
}

/// A mixture with as many points as weights. If `m` has no columns no point is read, so there may
/// be too few.
#[differentiate(wrt(m))]
fn weighted(points: &Array2<f64>, weights: &Array1<f64>, m: &Array2<f64>) -> f64 {
    let mut total = 0.0;
    for i in 0..weights.len() {
        let mut beta = Array1::<f64>::zeros(m.nrows());
        for c in 0..m.nrows() {
            for j in 0..m.ncols() {
                beta[c] -= (points[[i, j]] - m[[c, j]]).powi(2);
            }
        }
        total += weights[i] * logsumexp(&beta);
    }
    total
}

/// There are more labels than rows. The operations on the other labels need no row.
#[differentiate(wrt(w))]
fn unmatched(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>) -> f64 {
    let scores = x.dot(w);
    build1(y.len(), |i| if i < x.nrows() { (y[i] * scores[i]).sin() } else { y[i] }).sum()
}

/// The gradient of the logistic regression on `n` rows, element by element.
fn slopes(w: &Array1<f64>, x: &Array2<f64>, y: &Array1<f64>, n: usize) -> (f64, Array1<f64>) {
    let (mut loss, mut slope) = (0.0, Array1::zeros(w.len()));
    for i in 0..n {
        let margin = -y[i] * (0..w.len()).map(|j| x[[i, j]] * w[j]).sum::<f64>();
        loss += margin.exp().ln_1p();
        for j in 0..w.len() {
            slope[j] -= y[i] * x[[i, j]] / (1.0 + (-margin).exp());
        }
    }
    (loss, slope)
}

#[track_caller]
fn near(found: (f64, Array1<f64>), wanted: &(f64, Array1<f64>)) {
    let as_rows = |v: &Array1<f64>| v.clone().insert_axis(Axis(0));
    assert!((found.0 - wanted.0).abs() <= 1e-12 * (1.0 + wanted.0.abs()), "{} {}", found.0, wanted.0);
    close(&as_rows(&found.1), &as_rows(&wanted.1));
}

/// A matrix that is read forward and backward is read block by block, for all numbers of rows (no,
/// some and many blocks) and of columns.
#[test]
fn rows_of_a_matrix_are_read_in_place() {
    for (rows, labels, columns) in
        [(0, 0, 3), (1, 1, 0), (5, 3, 1), (16, 16, 7), (100, 83, 33), (5000, 4099, 2), (600, 600, 100)]
    {
        let (x, w) = (matrix(rows, columns, 7), numbers(columns, 8));
        let y = numbers(labels, 9).mapv(f64::signum);
        near(logistic_value_and_grad(&w, &x, &y), &slopes(&w, &x, &y, labels));
        // Column-major and reversed inputs give the same bits.
        let mut columns_first = Array2::zeros((columns, rows)).reversed_axes();
        columns_first.assign(&x);
        assert_eq!(logistic_grad(&w, &columns_first, &y), logistic_grad(&w, &x, &y));
        let mut given = Array1::from_elem(columns, 5.0);
        let value = logistic_value_and_grad_into(&w, &x, &y, &mut given);
        assert_eq!((value, given), logistic_value_and_grad(&w, &x, &y));
        let single = logistic_grad(&w.mapv(|e| e as f32), &x.mapv(|e| e as f32), &y.mapv(|e| e as f32));
        let wide = logistic_grad(&w, &x, &y);
        assert!(single.iter().zip(&wide).all(|(a, b)| (f64::from(*a) - b).abs() <= 1e-4 * (1.0 + b.abs())));
        let more = numbers(rows + 5, 10);
        near(by_rows_value_and_grad(&w, &x, &more), &slopes(&w, &x, &more, rows));
    }
}

#[test]
fn parts_of_products_are_products_of_parts() {
    check_grad!(logistic(&numbers(3, 1), &matrix(40, 3, 2), &numbers(37, 3)));
    check_grad!(by_rows(&numbers(3, 1), &matrix(40, 3, 2), &numbers(40, 3)));
    for (from, to) in [(0, 40), (3, 3), (2, 39), (17, 40)] {
        check_grad!(middle(&numbers(3, 1), &numbers(3, 4), &matrix(40, 3, 2), from, to));
    }
    check_grad!(carried(&numbers(3, 1), &matrix(40, 3, 2), 37));
    check_grad!(bilinear(&numbers(3, 1), &numbers(40, 3), &matrix(40, 3, 2)));
    check_grad!(perhaps(&numbers(3, 1), &matrix(40, 3, 2), &numbers(40, 3), true));
    // Shapes that do not fit do not matter in a branch that is not taken.
    assert_eq!(perhaps_grad(&numbers(3, 1), &matrix(40, 2, 2), &numbers(4, 3), false), Array1::ones(3));
}

/// Items use the leading rows of arrays that are longer, or, if no element is read, shorter.
#[test]
fn arrays_may_have_more_rows_than_there_are_items() {
    let (points, m) = (matrix(70, 3, 1), matrix(4, 3, 2));
    check_grad!(weighted(&points, &numbers(50, 3), &m));
    let mine = points.slice(s![..50, ..]).to_owned();
    assert_eq!(weighted_grad(&points, &numbers(50, 3), &m), weighted_grad(&mine, &numbers(50, 3), &m));
    let (value, slope) = weighted_value_and_grad(&matrix(7, 3, 1), &Array1::ones(50), &matrix(4, 0, 2));
    assert!((value - 50.0 * 4.0_f64.ln()).abs() < 1e-12 && slope.dim() == (4, 0));
}

#[test]
#[should_panic(expected = "index out of range: `scores[i]`")]
fn more_labels_than_rows_are_an_error() {
    logistic_grad(&numbers(3, 1), &matrix(4, 3, 2), &numbers(5, 3));
}

/// A matrix is never extended by rows that do not exist, for products or other operations.
#[test]
fn rows_that_do_not_exist_are_not_invented() {
    let (x, w, y) = (matrix(2, 500, 1), numbers(500, 2), numbers(5_000, 3));
    check_grad!(unmatched(
        &w.slice(s![..3]).to_owned(),
        &x.slice(s![.., ..3]).to_owned(),
        &y.slice(s![..9]).to_owned()
    ));
    let (_, used) = counted(|| unmatched_grad(&w, &x, &y));
    assert!(used.bytes < 8 * 5 * 5_000, "{}", used.bytes);
}

/// Neither the scores nor the slopes of all rows are stored.
#[test]
fn products_in_blocks_need_no_memory_for_all_rows() {
    let need = |n: usize| {
        let (x, w, y) = (matrix(n, 50, 3), numbers(50, 4), numbers(n, 5));
        counted(|| logistic_grad(&w, &x, &y)).1.bytes
    };
    assert_eq!(need(20_000), need(4_000));
}
