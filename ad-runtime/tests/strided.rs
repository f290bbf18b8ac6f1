//! Products on strided arrays against loops over all indices: any order of axes, parts of arrays,
//! summed axes of the batch, operands that are not all there, zeros that absorb.

use ad_runtime::kernel::{Indices, absorbing_products, products, products_off_heap};

/// Pseudo-random numbers below a bound.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    /// The strides of axes of these sizes in a random order, with gaps between rows; and the number
    /// of elements.
    fn layout<const N: usize>(&mut self, sizes: [usize; N], gap: usize) -> ([usize; N], usize) {
        let mut order: Vec<usize> = (0..N).collect();
        for k in (1..N).rev() {
            order.swap(k, self.below(k + 1));
        }
        let (mut strides, mut len) = ([0; N], 1);
        for k in order {
            strides[k] = len;
            len *= sizes[k].max(1) + gap;
        }
        (strides, len)
    }
}

/// A batch, a summed axis of the batch, rows, summed indices, columns.
struct Case {
    sizes: [usize; 5],
    c: [usize; 3],
    a: [usize; 4],
    b: [usize; 4],
    start: usize,
}

impl Case {
    fn indices(&self) -> Indices<2> {
        let ([e, s, m, k, n], c, a, b) = (self.sizes, self.c, self.a, self.b);
        Indices {
            batch: [[e, c[0], a[0], b[0]], [s, 0, a[1], b[1]]],
            rows: [m, c[1], a[2]],
            summed: [k, a[3], b[2]],
            columns: [n, c[2], b[3]],
        }
    }

    /// Every element of the result and its place.
    fn expected(&self, x: &[f64], y: &[f64], absorbs: [bool; 2]) -> Vec<(usize, f64)> {
        let ([e, s, m, k, n], c, a, b) = (self.sizes, self.c, self.a, self.b);
        let at = |x: &[f64], place: usize| x.get(place).copied().unwrap_or(0.0);
        let mut all = Vec::new();
        for p in 0..e {
            for i in 0..m {
                for j in 0..n {
                    let mut sum = 0.0;
                    for q in 0..s {
                        for l in 0..k {
                            let x = at(x, self.start + p * a[0] + q * a[1] + i * a[2] + l * a[3]);
                            let y = at(y, p * b[0] + q * b[1] + l * b[2] + j * b[3]);
                            let none = (absorbs[0] && x == 0.0) || (absorbs[1] && y == 0.0);
                            sum += if none { 0.0 } else { x * y };
                        }
                    }
                    all.push((p * c[0] + i * c[1] + j * c[2], sum));
                }
            }
        }
        all
    }
}

/// 600 cases; whole numbers, so that each order of summation gives the same bits.
fn cases(mut check: impl FnMut(&Case, usize, &[f64], &[f64], &mut Random)) {
    let mut random = Random(11);
    for round in 0..600 {
        let largest = [3, 3, 7, 7, 7].map(|n| if round % 3 == 0 { n } else { 2 * n });
        let mut sizes = largest.map(|n| 1 + random.below(n));
        if round % 10 == 0 {
            sizes[random.below(5)] = 0;
        }
        let [e, s, m, k, n] = sizes;
        let gap = random.below(2);
        let ((a, len_a), (b, len_b)) = (random.layout([e, s, m, k], gap), random.layout([e, s, k, n], gap));
        let (c, len_c) = random.layout([e, m, n], 0);
        let case = Case { sizes, c, a, b, start: random.below(3) };
        let numbers =
            |random: &mut Random, n: usize| -> Vec<f64> { (0..n).map(|_| random.below(9) as f64 - 4.0).collect() };
        let (x, y) = (numbers(&mut random, len_a + 3), numbers(&mut random, len_b));
        check(&case, len_c, &x, &y, &mut random);
    }
}

#[test]
fn all_orders_of_axes() {
    cases(|case, len, x, y, _| {
        let expected = case.expected(x, y, [false; 2]);
        let starts = [[case.start, 1]];
        let mut c = vec![f64::NAN; len];
        products(&mut c, (x, &starts), (y, &[]), case.indices());
        assert!(expected.iter().all(|&(at, v)| c[at] == v), "{:?}", case.sizes);
        let mut c = vec![f64::NAN; len];
        products_off_heap(&mut c, (x, &starts), (y, &[]), case.indices(), [false; 2]);
        assert!(expected.iter().all(|&(at, v)| c[at] == v), "{:?}", case.sizes);
    });
}

#[test]
fn missing_elements_are_zero() {
    cases(|case, len, x, y, random| {
        let (x, y) = (&x[..random.below(x.len() + 1)], &y[..random.below(y.len() + 1)]);
        let mut c = vec![f64::NAN; len];
        products(&mut c, (x, &[[case.start, 1]]), (y, &[]), case.indices());
        assert!(case.expected(x, y, [false; 2]).iter().all(|&(at, v)| c[at] == v), "{:?}", case.sizes);
        // A start that no array has.
        products(&mut c, (x, &[[usize::MAX, 2]]), (y, &[]), case.indices());
        assert!(case.expected(x, y, [false; 2]).iter().all(|&(at, _)| c[at] == 0.0), "{:?}", case.sizes);
    });
}

#[test]
fn zeros_absorb() {
    cases(|case, len, x, y, random| {
        let [mut x, mut y] = [x, y].map(<[f64]>::to_vec);
        for v in [&mut x, &mut y] {
            let at = random.below(v.len());
            v[at] = [f64::NAN, f64::INFINITY][random.below(2)];
        }
        let absorbs = [random.below(2) == 0, random.below(2) == 0];
        let mut c = vec![f64::NAN; len];
        absorbing_products(&mut c, (&x, &[[case.start, 1]]), (&y, &[]), case.indices(), absorbs);
        for (at, v) in case.expected(&x, &y, absorbs) {
            assert!(c[at] == v || (c[at].is_nan() && v.is_nan()), "{} instead of {v}, {:?}", c[at], case.sizes);
        }
    });
}
