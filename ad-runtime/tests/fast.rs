//! The vectorised functions against pairs of doubles (single precision against double): errors in
//! units of the last place over all bit patterns and near every threshold, special values against
//! std.

mod reference;

use std::f64::consts::{FRAC_PI_2, LN_2};

use ad_runtime::Real;
use ad_runtime::kernel::{Body, Fused, Isa, Plain, dispatch, sigmoid, softplus};
use reference::{Scaled, error, pair, plain};

/// Each function as a loop over slices, as generated code has it.
macro_rules! loops {
    ($($body:ident: $function:ident;)*) => {$(
        struct $body<'a, F>(&'a mut [F], &'a [F]);
        impl<F: Real> Body for $body<'_, F> {
            type Out = ();
            #[inline(always)]
            fn run<I: Isa>(self) {
                for (out, &x) in self.0.iter_mut().zip(self.1) {
                    *out = I::$function(x);
                }
            }
        }
    )*};
}
loops! {
    Exp: exp; ExpM1: exp_m1; Ln: ln; Ln1p: ln_1p; Tanh: tanh; Sigmoid: sigmoid; Softplus: softplus; Sin: sin; Cos: cos;
}

struct Pow<'a, F>(&'a mut [F], &'a [F], &'a [F]);
impl<F: Real> Body for Pow<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        for ((out, &x), &y) in self.0.iter_mut().zip(self.1).zip(self.2) {
            *out = I::powf(x, y);
        }
    }
}

struct Differences<'a, F>(&'a mut [F], &'a [F], F);
impl<F: Real> Body for Differences<'_, F> {
    type Out = ();
    #[inline(always)]
    fn run<I: Isa>(self) {
        let minus_one = I::minus_one();
        for (out, &x) in self.0.iter_mut().zip(self.1) {
            *out = I::difference(x, self.2, minus_one);
        }
    }
}

macro_rules! run {
    ($body:ident, $x:expr) => {{
        let x = $x;
        let mut out = vec![Default::default(); x.len()];
        dispatch($body(&mut out, x));
        out
    }};
}

/// A generator that needs no crate: the high bits of a linear recurrence, mixed.
struct Bits(u64);
impl Bits {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let x = self.0 ^ (self.0 >> 29);
        x.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (x >> 32)
    }
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / 9_007_199_254_740_992.0
    }
}

/// How many samples of a kind; more where the build is fast.
const MANY: usize = if cfg!(debug_assertions) { 4_000 } else { 200_000 };

/// All bit patterns, the intervals given, and the numbers next to each of the thresholds.
fn samples(intervals: &[(f64, f64)], near: &[f64]) -> Vec<f64> {
    let mut bits = Bits(7);
    let mut x: Vec<f64> = (0..MANY).map(|_| f64::from_bits(bits.next())).filter(|x| x.is_finite()).collect();
    for &(low, high) in intervals {
        x.extend((0..MANY).map(|_| low + (high - low) * bits.unit()));
        // And by size: as many below 1e-10 as above.
        x.extend((0..MANY / 4).map(|_| high * (2.0f64).powf(-60.0 * bits.unit())));
        x.extend((0..MANY / 4).map(|_| low * (2.0f64).powf(-60.0 * bits.unit())));
    }
    for &t in near {
        for sign in [-1.0f64, 1.0] {
            let middle = (sign * t).to_bits();
            x.extend((0..100).flat_map(|d| [middle.saturating_add(d), middle.saturating_sub(d)]).map(f64::from_bits));
        }
    }
    x.retain(|x| x.is_finite());
    x
}

#[track_caller]
fn check(bound: f64, x: &[f64], got: &[f64], want: impl Fn(f64) -> Scaled) {
    let mut worst = (0.0, 0.0, 0.0);
    for (&x, &got) in x.iter().zip(got) {
        let e = error(got, want(x));
        if e.is_nan() || e > worst.0 {
            worst = (e, x, got);
        }
    }
    println!("{:.3} units at {:e} (gives {:e})", worst.0, worst.1, worst.2);
    assert!(worst.0 <= bound, "{} units in the last place at {:e}: {:e}", worst.0, worst.1, worst.2);
}

#[test]
fn exponentials() {
    let near = [0.5 * LN_2, 1.5 * LN_2, 708.396, 709.782_712_893_384, 745.133_219_101_941_2, 746.0, 710.0, 1e-300];
    let x = samples(&[(-746.0, 710.0), (-2.0, 2.0), (-746.0, -707.0)], &near);
    let reference = |x: f64| reference::exp(pair(x.clamp(-2000.0, 2000.0)));
    check(1.0, &x, &run!(Exp, &x), reference);
    let near = [0.5 * LN_2, 1.5 * LN_2, 709.782_712_893_384, 45.0, 37.0, f64::EPSILON, f64::EPSILON / 4.0];
    let x = samples(&[(-50.0, 50.0), (-2.0, 2.0), (600.0, 720.0)], &near);
    check(2.0, &x, &run!(ExpM1, &x), |x| {
        if x.abs() < 1e-290 { plain(pair(x)) } else { reference::exp_m1(pair(x.clamp(-100.0, 2000.0))) }
    });
}

#[test]
fn logarithms() {
    let root = std::f64::consts::FRAC_1_SQRT_2;
    let near = [1.0, root, 2.0 * root, f64::MIN_POSITIVE, f64::MAX, 5e-324, 2.0];
    let mut x = samples(&[(1e-9, 20.0), (0.5, 2.0), (0.99, 1.01)], &near);
    x.retain(|&x| x > 0.0);
    check(1.0, &x, &run!(Ln, &x), |x| plain(reference::ln(x)));
    let near = [1.0, root - 1.0, 2.0 * root - 1.0, f64::MIN_POSITIVE, f64::MAX, 0.5, 1e16, 9_007_199_254_740_992.0];
    let mut x = samples(&[(-1.0, 20.0), (-0.5, 0.5), (-1.0, -0.99), (1e10, 1e20)], &near);
    x.retain(|&x| x > -1.0);
    check(1.6, &x, &run!(Ln1p, &x), |x| plain(reference::ln_1p(pair(x))));
}

#[test]
fn logistic_functions() {
    let near = [0.25 * LN_2, 0.5 * LN_2, 1.5 * LN_2, 18.7, 19.0, 22.0, f64::MIN_POSITIVE, 5e-324];
    let x = samples(&[(-23.0, 23.0), (-1.0, 1.0), (-0.2, 0.2)], &near);
    check(2.5, &x, &run!(Tanh, &x), |x| if x.abs() < 1e-290 { plain(pair(x)) } else { plain(reference::tanh(x)) });
    let near = [0.5 * LN_2, 36.0, 40.0, 708.4, 745.133_219_101_941_2, 1e-300];
    let x = samples(&[(-746.0, 50.0), (-2.0, 2.0), (-40.0, 40.0)], &near);
    check(2.5, &x, &run!(Sigmoid, &x), |x| reference::sigmoid(x.clamp(-2000.0, 2000.0)));
    check(2.5, &x, &run!(Softplus, &x), |x| reference::softplus(x.max(-2000.0)));
}

#[test]
fn sines() {
    let limit = 35_184_372_088_832.0;
    let mut near: Vec<f64> = (1..40).map(|k| f64::from(k) * FRAC_PI_2 / 2.0).collect();
    near.extend([limit, 1e5 * FRAC_PI_2, 710.0 / 113.0 * FRAC_PI_2, 1e13]);
    // Doubles next to multiples of pi/2, where the most is cancelled.
    near.extend((0..400).map(|k| f64::from(k * k * k) * FRAC_PI_2));
    let mut x = samples(&[(-10.0, 10.0), (-1e5, 1e5), (-limit, limit), (-0.8, 0.8)], &near);
    let (sin, cos) = (run!(Sin, &x), run!(Cos, &x));
    for (i, &x) in x.iter().enumerate() {
        if x.abs() > limit {
            assert_eq!((sin[i].to_bits(), cos[i].to_bits()), (x.sin().to_bits(), x.cos().to_bits()), "at {x:e}");
        }
    }
    x.retain(|x| x.abs() <= limit);
    check(1.0, &x, &run!(Sin, &x), |x| if x.abs() < 1e-150 { plain(pair(x)) } else { plain(reference::sin_cos(x).0) });
    check(1.0, &x, &run!(Cos, &x), |x| plain(reference::sin_cos(x).1));
}

/// A block in which one lane is out of range is right in all lanes.
#[test]
fn blocks_of_sines() {
    let mut bits = Bits(3);
    for _ in 0..200 {
        let mut x = [0.0; 8];
        for x in &mut x {
            *x = f64::from_bits(bits.next());
            if bits.next().is_multiple_of(2) {
                *x = 100.0 * bits.unit();
            }
        }
        let (s, c) = Fused::sin_cos_lanes(x);
        let (s2, c2) = (Fused::sin_lanes(x), Fused::cos_lanes(x));
        for i in 0..8 {
            assert_eq!((s[i].to_bits(), c[i].to_bits()), (s2[i].to_bits(), c2[i].to_bits()));
            assert!((s[i] - x[i].sin()).abs() < 1e-15 || !x[i].is_finite(), "sin {}", x[i]);
            assert!((c[i] - x[i].cos()).abs() < 1e-15 || !x[i].is_finite(), "cos {}", x[i]);
            assert_eq!(s[i].is_nan(), !x[i].is_finite());
        }
    }
}

/// Each lane has the bits of `powi`, whatever the exponents of the others are.
#[test]
fn blocks_of_integer_powers() {
    let mut bits = Bits(17);
    let exponents = [0, 1, -1, 2, 7, -8, 31, 200, -1074, i32::MAX, i32::MIN];
    for round in 0..4000 {
        let mut x = [0.0_f64; 8];
        let mut n = [0; 8];
        for (x, n) in x.iter_mut().zip(&mut n) {
            *x = match round % 3 {
                0 => f64::from_bits(bits.next()),
                1 => 1.0 + 0.01 * (bits.unit() - 0.5),
                _ => [0.0, -0.0, 1.0, -1.0, -3.5, f64::INFINITY, f64::MIN_POSITIVE][bits.next() as usize % 7],
            };
            let any = bits.next();
            *n = if any.is_multiple_of(2) { exponents[(any / 2) as usize % 11] } else { (any / 2 % 401) as i32 - 200 };
        }
        let single = x.map(|x| x as f32);
        let (powers, singles) = (Fused::powi_lanes(x, n), Fused::powi_lanes(single, n));
        for l in 0..8 {
            let (power, of_single) = (x[l].powi(n[l]), single[l].powi(n[l]));
            assert!(same(powers[l], power), "{}.powi({}): {} for {power}", x[l], n[l], powers[l]);
            assert!(same(singles[l].into(), of_single.into()), "{}_f32.powi({})", single[l], n[l]);
        }
    }
}

/// Whether two numbers have the same bits, or are both no numbers.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

#[test]
fn powers() {
    let mut bits = Bits(11);
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for _ in 0..4 * MANY {
        // Results of every size, with bases of every size.
        let base = match bits.next() % 4 {
            0 => f64::from_bits(bits.next() >> 1),
            1 => 1.0 + 0.01 * (bits.unit() - 0.5),
            2 => 0.5 + bits.unit(),
            _ => 100.0 * bits.unit(),
        };
        let exponent = 750.0 * (2.0 * bits.unit() - 1.0) / base.ln();
        let exponent = if bits.next().is_multiple_of(4) { 10.0 * bits.unit() } else { exponent };
        if base.is_finite() && base > 0.0 && exponent.is_finite() {
            x.push(base);
            y.push(exponent);
        }
    }
    let mut got = vec![0.0; x.len()];
    dispatch(Pow(&mut got, &x, &y));
    let mut worst = (0.0, 0.0, 0.0);
    for i in 0..x.len() {
        let e = error(got[i], if x[i] == 1.0 { plain(pair(1.0)) } else { reference::pow(x[i], y[i]) });
        if e.is_nan() || e > worst.0 {
            worst = (e, x[i], y[i]);
        }
    }
    println!("{:.3} units at {:e} to {:e}", worst.0, worst.1, worst.2);
    assert!(worst.0 <= 2.0, "{} units in the last place at {:e} to {:e}", worst.0, worst.1, worst.2);
}

/// Numbers at which the functions have edges.
fn edges() -> Vec<f64> {
    let positive = [
        0.0,
        5e-324,
        1e-310,
        f64::MIN_POSITIVE,
        1e-300,
        1e-17,
        0.5,
        1.0,
        1.5,
        2.0,
        3.0,
        4.0,
        17.0,
        709.0,
        800.0,
        1e15,
        1e16,
        9_007_199_254_740_993.0,
        1e300,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
    ];
    positive.iter().flat_map(|&x| [x, -x]).collect()
}

fn same_edge<F: Real>(got: F, want: F, what: &str) {
    let (got, want) = (got.as_f64(), want.as_f64());
    let near = (got - want).abs() <= want.abs() * if size_of::<F>() == 4 { 4e-7 } else { 1e-15 };
    let tiny = if size_of::<F>() == 4 { 1e-44 } else { 1e-323 };
    let near = near || (got - want).abs() <= tiny;
    let alike = got.is_nan() == want.is_nan() && (got.is_nan() || got.is_sign_negative() == want.is_sign_negative());
    assert!(alike && (got.is_nan() || got == want || near), "{what}: {got:e}, not {want:e}");
}

fn special_values<F: Real>() {
    let x: Vec<F> = edges().into_iter().map(F::lit).collect();
    for &x in &x {
        let v = x.as_f64();
        same_edge(Fused::exp(x), x.exp(), &format!("exp {v:e}"));
        same_edge(Fused::exp_m1(x), x.exp_m1(), &format!("exp_m1 {v:e}"));
        same_edge(Fused::ln(x), x.ln(), &format!("ln {v:e}"));
        same_edge(Fused::ln_1p(x), x.ln_1p(), &format!("ln_1p {v:e}"));
        same_edge(Fused::tanh(x), x.tanh(), &format!("tanh {v:e}"));
        same_edge(Fused::sigmoid(x), sigmoid(x), &format!("sigmoid {v:e}"));
        same_edge(Fused::softplus(x), softplus(x), &format!("softplus {v:e}"));
        same_edge(Fused::sin(x), x.sin(), &format!("sin {v:e}"));
        same_edge(Fused::cos(x), x.cos(), &format!("cos {v:e}"));
    }
    for &x in &x {
        for &y in &x_of(&x) {
            same_edge(Fused::powf(x, y), x.powf(y), &format!("{:e} to {:e}", x.as_f64(), y.as_f64()));
        }
    }
}

fn x_of<F: Real>(_: &F) -> Vec<F> {
    edges().into_iter().map(F::lit).collect()
}

#[test]
fn special_values_are_as_in_std() {
    special_values::<f64>();
    special_values::<f32>();
}

/// Single precision against double: all exponents, dense mantissas.
#[test]
fn single_precision() {
    let mut bits = Bits(5);
    let mut x: Vec<f32> = (0..3 * MANY).map(|_| f32::from_bits((bits.next() >> 32) as u32)).collect();
    for (low, high) in [(-104.0, 89.0), (-2.0, 2.0), (-20.0, 20.0), (0.5, 2.0), (-1e5, 1e5), (-104.0, -86.0)] {
        x.extend((0..MANY).map(|_| (low + (high - low) * bits.unit()) as f32));
    }
    x.retain(|x| x.is_finite());
    let unit = |want: f64| {
        let exponent = ((want.abs().to_bits() >> 52) as i32 - 1023).clamp(-126, 127);
        reference::two_to(exponent - 23)
    };
    let check = |what: &str, bound: f64, got: &[f32], want: &dyn Fn(f64) -> f64| {
        let mut worst = (0.0, 0.0);
        for (&x, &got) in x.iter().zip(got) {
            let want = want(f64::from(x));
            let e = if want.is_nan() || f64::from(want as f32).is_infinite() || got.is_infinite() {
                let alike =
                    got.is_nan() == want.is_nan() && (want.is_nan() || f64::from(got) == f64::from(want as f32));
                if alike || (want.abs() > 3.402_823_2e38 && want.abs() < 3.402_824e38) { 0.0 } else { 1e9 }
            } else {
                (f64::from(got) - want).abs() / unit(want)
            };
            if e > worst.0 {
                worst = (e, x);
            }
        }
        println!("{what}: {:.3} units at {:e}", worst.0, worst.1);
        assert!(worst.0 <= bound, "{what}: {} units in the last place at {:e}", worst.0, worst.1);
    };
    check("exp", 1.0, &run!(Exp, &x), &f64::exp);
    check("exp_m1", 2.0, &run!(ExpM1, &x), &f64::exp_m1);
    check("ln", 1.0, &run!(Ln, &x), &f64::ln);
    check("ln_1p", 1.6, &run!(Ln1p, &x), &f64::ln_1p);
    check("tanh", 2.5, &run!(Tanh, &x), &f64::tanh);
    check("sigmoid", 2.5, &run!(Sigmoid, &x), &sigmoid);
    check("softplus", 2.5, &run!(Softplus, &x), &softplus);
    check("sin", 1.0, &run!(Sin, &x), &f64::sin);
    check("cos", 1.0, &run!(Cos, &x), &f64::cos);
    let y: Vec<f32> = x.iter().map(|x| (80.0 * bits.unit() / f64::from(x.abs()).ln()) as f32).collect();
    let mut got = vec![0.0; x.len()];
    dispatch(Pow(&mut got, &x, &y));
    for i in 0..x.len() {
        let want = f64::from(x[i]).powf(f64::from(y[i]));
        let near = (f64::from(got[i]) - want).abs() <= 0.51 * unit(want);
        assert!(near || want.is_nan() || want.abs() > 3.4e38, "{:e} to {:e}: {:e}", x[i], y[i], got[i]);
    }
}

/// Neighbours never cross: the functions rise where the true ones do, up to one unit in the last
/// place.
#[test]
fn functions_are_monotone() {
    let x: Vec<f64> = (-(MANY as i64)..MANY as i64).map(|i| i as f64 * 20.0 / MANY as f64).collect();
    for values in [run!(Exp, &x), run!(Tanh, &x), run!(Sigmoid, &x), run!(Softplus, &x), run!(ExpM1, &x)] {
        assert!(values.windows(2).all(|w| w[0] <= w[1] * (1.0 + f64::EPSILON * w[1].signum())));
    }
}

/// The plain version is std, to the bit; the other one near it.
#[test]
fn plain_is_std() {
    let x = samples(&[(-20.0, 20.0)], &[1.0]);
    for x in x {
        assert_eq!(Plain::exp(x).to_bits(), x.exp().to_bits());
        assert_eq!(Plain::tanh(x).to_bits(), x.tanh().to_bits());
        assert_eq!(Plain::sin(x).to_bits(), x.sin().to_bits());
        assert_eq!(Plain::powf(x.abs(), 1.7).to_bits(), x.abs().powf(1.7).to_bits());
        assert_eq!(Plain::mul_add(x, 3.0, 1.0).to_bits(), (x * 3.0 + 1.0).to_bits());
    }
}

/// Decisions depend on such differences.
#[test]
fn differences_by_products_have_the_bits_of_subtraction() {
    fn all<F: Real>(numbers: &[F]) {
        let mut got = vec![F::zero(); numbers.len()];
        for &y in numbers {
            dispatch(Differences(&mut got, numbers, y));
            for (&x, got) in numbers.iter().zip(&got) {
                let want = x - y;
                let same = got.as_f64().to_bits() == want.as_f64().to_bits() || (got.is_nan() && want.is_nan());
                assert!(same, "{x} - {y}: {got}, not {want}");
            }
        }
    }
    let mut numbers = edges();
    numbers.extend([
        0.0,
        -0.0,
        f64::MIN_POSITIVE,
        5e-324,
        -1e-310,
        f64::MAX,
        f64::MIN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ]);
    let mut bits = Bits(1);
    numbers.extend((0..500).map(|_| f64::from_bits(bits.next())));
    numbers.extend((0..200).map(|_| bits.unit() * 2.0 - 1.0));
    all(&numbers);
    let mut single: Vec<f32> = numbers.iter().map(|&x| x as f32).collect();
    single.extend((0..500).map(|_| f32::from_bits(bits.next() as u32)));
    all(&single);
}
