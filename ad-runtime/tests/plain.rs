//! The kernels as on a machine without AVX2 and FMA: near the results of this machine, and the same
//! every time. Alone in its file, because the switch is the process's.

use ad_runtime::kernel::{
    Body, Isa, Operand, argmax, axpy, column_sums, dispatch, dot, force_plain, gemm, gemv, gemv_t, ger, maximum,
    minimum, sum,
};

struct Elementwise<'a>(&'a mut Vec<f64>, &'a [f64]);
impl Body for Elementwise<'_> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        for &x in self.1 {
            self.0.extend([I::exp(x), I::exp_m1(x), I::ln(x.abs()), I::ln_1p(x.abs()), I::tanh(x), I::sigmoid(x)]);
            self.0.extend([I::softplus(x), I::powf(x.abs(), 1.3), I::sin(x), I::cos(x), I::mul_add(x, x, 1.0)]);
        }
        let (blocks, _) = self.1.as_chunks::<8>();
        for &block in blocks {
            let (s, c) = I::sin_cos_lanes(block);
            self.0.extend(s.into_iter().chain(c));
        }
    }
}

/// Numbers that a product and its rounding make no integers of.
fn numbers(n: usize, step: usize) -> Vec<f64> {
    (0..n).map(|i| ((i * step) % 1009) as f64 / 503.3 - 1.0).collect()
}

/// Everything that depends on the machine.
fn everything() -> Vec<f64> {
    let mut all = Vec::new();
    dispatch(Elementwise(&mut all, &numbers(1000, 7919)));
    for n in [1, 7, 16, 100, 1001] {
        let (x, y) = (numbers(n, 31), numbers(n, 57));
        all.extend([sum(&x), dot(&x, &y), maximum(&x), minimum(&y), argmax(&x) as f64]);
        let mut z = y.clone();
        axpy(&mut z, 0.3, &x);
        all.extend(z);
    }
    for [m, k, n] in [[1, 9, 9], [4, 4, 4], [5, 7, 11], [16, 100, 16], [33, 300, 10], [3, 5, 70], [40, 40, 40]] {
        let (a, b) = (numbers(m * k, 31), numbers(k * n, 57));
        for (ta, tb) in [(false, false), (true, false), (false, true), (true, true)] {
            let operand = |x, t| if t { Operand::Transposed(x) } else { Operand::Plain(x) };
            let mut c = vec![0.0; m * n];
            gemm(&mut c, operand(&a, ta), operand(&b, tb), [m, k, n], false);
            all.extend(&c);
            let (mut y, mut z, mut g) = (vec![0.0; m], vec![0.0; k], vec![0.0; m * k]);
            gemv(&mut y, &a, &b[..k], false);
            gemv_t(&mut z, &a, &y, false);
            ger(&mut g, &y, &z, false);
            all.extend(y.iter().chain(&z).chain(&g));
            column_sums(&mut z, &a, false);
            all.extend(z);
        }
    }
    all
}

#[test]
fn without_vector_instructions() {
    let (first, again) = (everything(), everything());
    assert!(first.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits()), "the same bits every time");
    let better = force_plain(true);
    let (plain, again) = (everything(), everything());
    assert!(plain.iter().zip(&again).all(|(a, b)| a.to_bits() == b.to_bits()), "the same bits every time");
    assert_eq!(first.len(), plain.len());
    for (i, (a, b)) in first.iter().zip(&plain).enumerate() {
        // Sums of some hundred numbers below 1, products of sums among them.
        assert!((a - b).abs() <= 1e-13 * (1.0 + a.abs()), "{a} and {b} at {i}");
    }
    let differ = first.iter().zip(&plain).any(|(a, b)| a.to_bits() != b.to_bits());
    assert_eq!(differ, better, "the switch switches");
    force_plain(false);
    assert!(first.iter().zip(&everything()).all(|(a, b)| a.to_bits() == b.to_bits()));
}
