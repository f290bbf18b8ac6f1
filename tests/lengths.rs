//! A `Vec` that grows, shrinks or is replaced, and parts with dynamic length, through the macro:
//! values are the function's own, gradients those of central differences.
//! (`ad-core/tests/front/lengths.rs` has more programs for the front end.)

// Programs as people write them.
#![allow(clippy::needless_range_loop, clippy::vec_init_then_push, clippy::while_let_on_iterator)]

use ad::prelude::*;

#[track_caller]
fn verify(f: fn(&[f64]) -> f64, value_and_grad: fn(&[f64]) -> (f64, Vec<f64>), x: &[f64]) {
    let (value, gradient) = value_and_grad(x);
    let own = f(x);
    assert!((value - own).abs() <= 1e-12 * own.abs().max(1.0), "value {value} is not {own}");
    let h = 1e-5;
    for (k, &g) in gradient.iter().enumerate() {
        let at = |d: f64| {
            let mut x = x.to_vec();
            x[k] += d;
            f(&x)
        };
        let central = (at(h) - at(-h)) / (2.0 * h);
        assert!((g - central).abs() <= 1e-7 * central.abs().max(1.0), "at {k}: {g} is not {central}");
    }
}

/// The capacity covers the elements that are pushed after a loop.
#[differentiate]
fn pushed_after(x: &[f64]) -> f64 {
    let mut s = 0.0;
    for i in 0..x.len() {
        let mut v = vec![x[i]];
        for a in x {
            if *a >= x[i] {
                v.push(*a);
            }
        }
        v.push(7.0 * x[i]);
        v.push(6.0 * x[i]);
        for (k, a) in v.iter().enumerate() {
            s += a * a * k as f64;
        }
    }
    s
}

/// A tree, depth first, with a given capacity.
#[differentiate]
fn stack_dfs(x: &[f64]) -> f64 {
    let n = x.len();
    let mut stack = Vec::with_capacity(2 * n + 4);
    stack.push((0_usize, 1.0));
    let mut s = 0.0;
    while let Some((i, w)) = stack.pop() {
        if i >= n {
            continue;
        }
        s += w * x[i];
        stack.push((2 * i + 1, w * 0.5));
        stack.push((2 * i + 2, w * x[i]));
    }
    s
}

/// Pairs are combined until one is left.
#[differentiate]
fn halved(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let mut s = 0.0;
    while v.len() > 1 {
        v = v.chunks_exact(2).map(|c| c[0] * c[1] + 0.1).collect();
        s += v[0];
    }
    s
}

/// Pairs are combined in a range up to half of the length, collected or pushed.
#[differentiate]
fn halved_by_index(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    for _ in 0..3 {
        v = (0..v.len() / 2).map(|i| (v[2 * i] * v[2 * i + 1]).sin()).collect();
    }
    let mut w = x.to_vec();
    for _ in 0..2 {
        let mut next = Vec::with_capacity(w.len() / 2);
        for i in 0..w.len() / 2 {
            next.push(w[2 * i] * w[2 * i + 1] + 0.1);
        }
        w = next;
    }
    v.iter().sum::<f64>() + w.iter().sum::<f64>()
}

/// The median, by the smaller and the larger elements.
#[differentiate]
fn quick_select(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    let mut k = v.len() / 2;
    loop {
        let p = v[0];
        let below: Vec<f64> = v.iter().copied().filter(|a| *a < p).collect();
        let above: Vec<f64> = v.iter().copied().filter(|a| *a > p).collect();
        if k < below.len() {
            v = below;
        } else if k == below.len() {
            break p * p;
        } else {
            k -= below.len() + 1;
            v = above;
        }
    }
}

/// Arrays that are joined several times.
#[differentiate(grad, jvp)]
fn joined(a: &[f64], b: &[f64], k: usize) -> f64 {
    let mut v = a[..k].to_vec();
    v.extend_from_slice(b);
    v.extend_from_slice(&a[k..]);
    v.extend(b.iter().map(|x| x * 2.0));
    v.iter().enumerate().map(|(i, x)| x * x * (i + 1) as f64).sum()
}

#[test]
fn arrays_are_joined() {
    let (a, b) = ([0.3, -0.8, 1.2, 0.4], [0.7, -0.1, 0.9]);
    for (n, m, k) in [(4, 3, 2), (4, 3, 0), (4, 3, 4), (4, 0, 1), (0, 3, 0), (0, 0, 0)] {
        let (a, b) = (&a[..n], &b[..m]);
        ad::check_grad!(joined(a, b, k));
        let numbers: Vec<f64> =
            a[..k].iter().chain(b).chain(&a[k..]).copied().chain(b.iter().map(|x| 2.0 * x)).collect();
        let value: f64 = numbers.iter().enumerate().map(|(i, x)| x * x * (i + 1) as f64).sum();
        assert!((joined_value_and_grad(a, b, k).0 - value).abs() < 1e-12);
    }
}

/// A `Vec` of the last three elements.
#[differentiate]
fn window_remove(x: &[f64]) -> f64 {
    let mut q: Vec<f64> = Vec::new();
    let mut s = 0.0;
    for &v in x {
        q.push(v);
        if q.len() > 3 {
            q.remove(0);
        }
        s += q.iter().sum::<f64>() * v;
    }
    s
}

/// Medians of all prefixes.
#[differentiate]
fn inserted(x: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = Vec::new();
    let mut s = 0.0;
    for &v in x {
        let at = sorted.iter().position(|&a| a > v).unwrap_or(sorted.len());
        sorted.insert(at, v);
        s += sorted[sorted.len() / 2];
    }
    s
}

/// A list of groups, the last of which is changed.
#[differentiate]
fn dedup(x: &[f64]) -> f64 {
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for &v in x {
        match groups.last_mut() {
            Some((sum, n)) if *sum / *n as f64 > v => {
                *sum += v;
                *n += 1;
            }
            _ => groups.push((v, 1)),
        }
    }
    groups.iter().map(|(s, n)| s * s / *n as f64).sum()
}

/// Neighbours, one item after the other.
#[differentiate]
fn peeked(x: &[f64]) -> f64 {
    let mut it = x.iter().peekable();
    let mut s = 0.0;
    while let Some(v) = it.next() {
        if let Some(n) = it.peek() {
            s += *v * **n;
        }
    }
    s
}

/// The distance of each element to the mean of the previous ones.
#[differentiate]
fn part_means(x: &[f64]) -> f64 {
    let v = Array1::from_vec(x.to_vec());
    let mut s = 0.0;
    for i in 1..v.len() {
        let before = v.slice(s![..i]);
        s += (v[i] - before.mean().unwrap()).powi(2);
        s += before.iter().fold(0.0_f64, |m, &a| m.max(a));
    }
    s
}

/// Decisions on sums of parts.
#[differentiate]
fn decided_by_parts(x: &[f64]) -> f64 {
    let v = Array1::from_vec(x.to_vec());
    let mut s = 0.0;
    for k in 0..v.len() {
        if v.slice(s![..k]).sum() > 0.7 * v.slice(s![k..]).sum() {
            s += v[k];
        }
        if v.slice(s![..k]).dot(&v.slice(s![..k])) > 0.5 {
            s *= v[k];
        }
    }
    s
}

/// A loop that ends by the last two elements.
#[differentiate]
fn while_by_last(x: &[f64]) -> f64 {
    let mut v = vec![x[0].abs() + 0.5, x[1].abs()];
    loop {
        let n = v.len();
        let next = v[n - 1] + v[n - 2];
        if next > 20.0 {
            break;
        }
        v.push(next);
    }
    v.iter().map(|a| a.sin()).sum::<f64>() * v.len() as f64
}

/// Tuples pushed under a condition.
#[differentiate]
fn tuples_if(x: &[f64]) -> f64 {
    let mut v = vec![(x[0], 1.0)];
    if x[1] > 0.0 {
        v.push((x[1], 2.0));
    }
    v.iter().map(|(a, b)| a * b).sum::<f64>() * v.len() as f64
}

/// Cholesky's decomposition with products of rows.
#[differentiate]
fn cholesky(x: &[f64]) -> f64 {
    let n = x.len();
    let a = Array2::from_shape_fn((n, n), |(i, j)| x[i] * x[j] * 0.1 + if i == j { 3.0 } else { 0.0 });
    let mut l = Array2::<f64>::zeros((n, n));
    for i in 0..n {
        for j in 0..=i {
            let s = l.slice(s![i, ..j]).dot(&l.slice(s![j, ..j]));
            l[[i, j]] = if i == j { (a[[i, i]] - s).sqrt() } else { (a[[i, j]] - s) / l[[j, j]] };
        }
    }
    l.diag().mapv(f64::ln).sum()
}

/// An alignment of two sequences, row by row.
#[differentiate]
fn soft_align(x: &[f64]) -> f64 {
    let n = x.len() / 2;
    let mut prev: Vec<f64> = (0..=n).map(|j| j as f64 * 0.7).collect();
    for i in 0..n {
        let mut cur = vec![0.0; n + 1];
        cur[0] = prev[0] + 0.7;
        for j in 0..n {
            let sub = prev[j] + (x[i] - x[n + j]).abs();
            let (del, ins) = (prev[j + 1] + 0.7, cur[j] + 0.7);
            let t = 0.5;
            cur[j + 1] = -t * ((-sub / t).exp() + (-del / t).exp() + (-ins / t).exp()).ln();
        }
        prev = cur;
    }
    prev[n]
}

/// Intervals on a stack, halved until they are accurate enough.
#[differentiate]
fn adaptive_simpson(x: &[f64]) -> f64 {
    let f = |t: f64| (x[0] * t).exp() + x[1] * t;
    let simpson = |a: f64, b: f64| (b - a) / 6.0 * (f(a) + 4.0 * f(0.5 * (a + b)) + f(b));
    let mut stack = Vec::with_capacity(64);
    stack.push((0.0, 2.0));
    let mut total = 0.0;
    let mut guard = 0;
    while let Some((a, b)) = stack.pop() {
        let m = 0.5 * (a + b);
        let (whole, halves) = (simpson(a, b), simpson(a, m) + simpson(m, b));
        guard += 1;
        if (whole - halves).abs() < 1e-3 || guard > 100 {
            total += halves;
        } else {
            stack.push((a, m));
            stack.push((m, b));
        }
    }
    total
}

/// The remaining elements, three times.
#[differentiate]
fn retained(x: &[f64]) -> f64 {
    let mut v = x.to_vec();
    for k in 0..3 {
        v.retain(|a| *a > 0.1 * k as f64);
        for a in v.iter_mut() {
            *a *= 0.9;
        }
    }
    v.iter().map(|a| a * a).sum()
}

/// Each step pushes a tuple, and more are pushed at the end.
#[differentiate]
fn tuples(x: &[f64]) -> f64 {
    let mut v = Vec::new();
    for i in 0..x.len() {
        v.push((x[i], i));
    }
    v.push((x[0] * x[1], 7));
    if x[0] > 0.0 {
        v.push((x[2].sin(), 1));
    }
    v.iter().map(|&(a, i)| a * a * i as f64).sum()
}

/// Each step pushes an array, and more are pushed at the end.
#[differentiate]
fn arrays(x: &[f64]) -> f64 {
    let mut v = Vec::new();
    for i in 0..x.len() {
        v.push(array![x[i], x[0]]);
    }
    v.push(array![x[0], x[1]]);
    if x[1] > 0.0 {
        v.push(array![1.0, x[2] * x[2]]);
        v.push(array![x[0], x[2]]);
    }
    let mut s = 0.0;
    for (k, r) in v.iter().enumerate() {
        s += r.dot(r) * (k + 1) as f64;
    }
    for r in &v {
        s += r[1];
    }
    s
}

#[test]
fn values_and_gradients() {
    let long = [0.31, 0.72, -0.43, 1.15, 0.27, 0.93, -0.88, 0.51];
    for x in [&long[..], &long[..4], &[0.45, 0.8], &[-0.37], &[]] {
        verify(pushed_after, pushed_after_value_and_grad, x);
        verify(stack_dfs, stack_dfs_value_and_grad, x);
        verify(halved, halved_value_and_grad, x);
        verify(halved_by_index, halved_by_index_value_and_grad, x);
        verify(window_remove, window_remove_value_and_grad, x);
        verify(inserted, inserted_value_and_grad, x);
        verify(dedup, dedup_value_and_grad, x);
        verify(peeked, peeked_value_and_grad, x);
        verify(part_means, part_means_value_and_grad, x);
        verify(decided_by_parts, decided_by_parts_value_and_grad, x);
        verify(cholesky, cholesky_value_and_grad, x);
        verify(soft_align, soft_align_value_and_grad, x);
        verify(retained, retained_value_and_grad, x);
    }
    for x in [&long[..], &long[..5], &[0.45]] {
        verify(quick_select, quick_select_value_and_grad, x);
        verify(tuples_if, tuples_if_value_and_grad, &[x[0], 0.7]);
        verify(tuples_if, tuples_if_value_and_grad, &[x[0], -0.7]);
        verify(while_by_last, while_by_last_value_and_grad, &[x[0], 0.8]);
        verify(adaptive_simpson, adaptive_simpson_value_and_grad, &[x[0], 0.8]);
    }
    for x in [&long[..], &long[..3], &[-0.3, -0.4, 0.5]] {
        verify(tuples, tuples_value_and_grad, x);
        verify(arrays, arrays_value_and_grad, x);
    }
}

/// Depth first, with more elements than the given capacity.
#[differentiate]
fn crowded(x: &[f64]) -> f64 {
    let mut stack = Vec::with_capacity(3);
    stack.push((0, 1.0));
    let mut s = 0.0;
    while let Some((i, w)) = stack.pop() {
        if i < x.len() {
            s += w * x[i];
            stack.push((i + 1, 0.5));
            stack.push((i + 2, w * x[i]));
            stack.push((i + 3, w));
        }
    }
    s
}

/// The length exceeds the given capacity: `f` continues, and the derivative reports it.
#[test]
#[should_panic(expected = "more elements than the capacity given for the `Vec`")]
fn past_its_capacity() {
    let _ = crowded(&[1.0, 2.0, 3.0]);
    let _ = crowded_value_and_grad(&[1.0, 2.0, 3.0]);
}

#[differentiate(vjp, jvp, pullback)]
fn kept(x: &[f64]) -> Vec<f64> {
    x.iter().filter(|v| **v > 0.0).map(|v| v * v).collect()
}

#[differentiate]
fn shortened(x: &Array1<f64>, n: usize) -> Array1<f64> {
    let mut out = Vec::new();
    for i in 0..n {
        if i % 3 != 1 {
            out.push(x[i] * x[0]);
        }
    }
    Array1::from_vec(out)
}

/// The data determine the length of the result. Its cotangents have that length.
#[test]
fn results_whose_length_depends_on_data() {
    let x = [1.0, -2.0, 3.0, 0.5];
    assert_eq!(kept_vjp(&x, &[1.0, 10.0, 100.0]), (kept(&x), vec![2.0, 0.0, 60.0, 100.0]));
    assert_eq!(kept_jvp(&x, &[1.0; 4]), (kept(&x), vec![2.0, 6.0, 1.0]));
    assert_eq!(kept_vjp(&[-1.0], &[]), (vec![], vec![0.0]));
    let (value, back) = kept_pullback(&x);
    assert_eq!((value, back(&[1.0, 10.0, 100.0])), (kept(&x), vec![2.0, 0.0, 60.0, 100.0]));
    assert!(std::panic::catch_unwind(|| kept_vjp(&x, &[1.0, 10.0])).is_err());
    let x = array![2.0, 3.0, 5.0, 7.0];
    let (value, gradient) = shortened_vjp(&x, 4, &array![1.0, 1.0, 1.0]);
    assert_eq!((value, gradient), (array![4.0, 10.0, 14.0], array![4.0 + 5.0 + 7.0, 0.0, 2.0, 2.0]));
}

/// The data determine the axis.
#[differentiate]
fn means(x: &[f64]) -> f64 {
    let a = Array2::from_shape_vec((2, 3), x.to_vec()).unwrap();
    let m = if x[0] > 0.0 { a.mean_axis(Axis(0)).unwrap() } else { a.mean_axis(Axis(1)).unwrap() };
    m.mapv(|v| v * v).sum()
}

#[differentiate]
fn turned(x: &[f64]) -> f64 {
    let a = Array2::from_shape_vec((2, 3), x.to_vec()).unwrap();
    let m = if x[0] > 0.0 { a.t().to_owned() } else { a.clone() };
    let mut s = 0.0;
    for i in 0..m.nrows() {
        for j in 0..m.ncols() {
            s += m[[i, j]] * m[[i, j]] * (i + 2 * j) as f64;
        }
    }
    s
}

#[differentiate(vjp, jvp)]
fn part_or_all(x: &Array1<f64>, k: usize) -> Array1<f64> {
    match k {
        0 => x.slice(s![..;2]).to_owned(),
        1 => x * x,
        _ => Array1::zeros(k),
    }
}

/// Branches of a condition that is known before a loop may have different shapes, and so may values
/// computed from them.
#[test]
fn arms_of_different_shapes() {
    for x in [[0.3, 0.9, -0.2, 0.7, 0.1, 0.4], [-0.3, 0.9, -0.2, 0.7, 0.1, 0.4]] {
        verify(means, means_value_and_grad, &x);
        verify(turned, turned_value_and_grad, &x);
    }
    let x = array![2.0, 3.0, 5.0];
    assert_eq!(part_or_all_vjp(&x, 0, &array![1.0, 10.0]), (array![2.0, 5.0], array![1.0, 0.0, 10.0]));
    assert_eq!(part_or_all_vjp(&x, 1, &array![1.0, 1.0, 10.0]), (array![4.0, 9.0, 25.0], array![4.0, 6.0, 100.0]));
    assert_eq!(part_or_all_vjp(&x, 5, &Array1::zeros(5)).1, array![0.0, 0.0, 0.0]);
    assert_eq!(part_or_all_jvp(&x, 0, &array![1.0, 1.0, 1.0]).1, array![1.0, 1.0]);
}

/// Positions of joints, each of which has a parent. An element is read before a step pushes one.
#[differentiate]
fn skeleton(offsets: &[[f64; 2]], angles: &[f64], parents: &[usize]) -> f64 {
    let mut joints: Vec<[f64; 2]> = Vec::new();
    for i in 0..offsets.len() {
        let (c, s) = (angles[i].cos(), angles[i].sin());
        let o = [c * offsets[i][0] - s * offsets[i][1], s * offsets[i][0] + c * offsets[i][1]];
        let joint = if i == 0 {
            o
        } else {
            let p = joints[parents[i]];
            [p[0] + o[0], p[1] * o[1]]
        };
        joints.push(joint);
    }
    joints.iter().map(|p| p[0] * p[0] + p[1]).sum()
}

/// De Casteljau's algorithm on points that are arrays, and on pairs.
#[differentiate]
fn bezier(points: &[[f64; 2]], t: f64) -> f64 {
    let mut arrays = points.to_vec();
    while arrays.len() > 1 {
        let between = |w: &[[f64; 2]], k: usize| (1.0 - t) * w[0][k] + t * w[1][k];
        arrays = arrays.windows(2).map(|w| [between(w, 0), between(w, 1)]).collect();
    }
    let mut pairs: Vec<(f64, f64)> = points.iter().map(|p| (p[0], p[1])).collect();
    while pairs.len() > 1 {
        pairs = pairs.windows(2).map(|w| (w[0].0 * w[1].1, (1.0 - t) * w[0].1 + t * w[1].0)).collect();
    }
    arrays[0][0] * arrays[0][1] + pairs[0].0 * pairs[0].1
}

/// Two elements become one, and the last one may be left over.
#[differentiate]
fn in_pairs(points: &[[f64; 2]]) -> f64 {
    let mut level = points.to_vec();
    while level.len() > 1 {
        level =
            level.chunks(2).map(|c| if c.len() == 2 { [c[0][0] * c[1][0], c[0][1] + c[1][1]] } else { c[0] }).collect();
    }
    level[0][0] * level[0][1]
}

/// Weights that begin again after the last one.
#[differentiate]
fn again_and_again(x: &[f64], w: &[f64]) -> f64 {
    let weighted = x.iter().zip(w.iter().cycle()).map(|(x, w)| x * w).sum::<f64>();
    let next = x.iter().zip(x.iter().cycle().skip(1)).map(|(a, b)| a * b * b).sum::<f64>();
    weighted + next + w.iter().cycle().take(5).product::<f64>()
}

#[test]
fn lists_of_arrays_and_pairs_change_their_length() {
    let points = [[0.3, 0.1], [1.0, 2.0], [2.0, -1.0], [3.0, 0.5], [1.1, 0.2]];
    ad::check_grad!(skeleton(&points, &[0.1, 0.2, 0.3, 0.4, 0.5], &[0, 0, 1, 1, 3]));
    ad::check_grad!(bezier(&points, 0.3));
    ad::check_grad!(bezier(&points[..1], 0.3));
    for n in 1..=5 {
        ad::check_grad!(in_pairs(&points[..n]));
    }
}

#[test]
fn items_again_and_again() {
    ad::check_grad!(again_and_again(&[0.3, -0.2, 0.7, 1.1], &[0.5, 0.9, -0.4]));
    ad::check_grad!(again_and_again(&[], &[0.5]));
}

#[test]
#[should_panic(expected = "`cycle` of an iterator without items")]
fn nothing_again_and_again() {
    let _ = again_and_again_grad(&[0.3], &[]);
}
