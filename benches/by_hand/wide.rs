//! Building blocks of the kernels: fused multiply-add if the processor has it, sums in lanes, and
//! exp, ln and tanh that LLVM can vectorise.

/// A loop that is compiled twice: for any processor, and for one with AVX2 and FMA.
pub trait Kernel {
    type Out;
    /// The loop. `FMA` says whether [`madd`] may be fused. It has to be `inline(always)`, so that
    /// each version is compiled for its instruction set.
    fn run<const FMA: bool>(self) -> Self::Out;
}

/// Runs a kernel as this processor does it best.
pub fn run<K: Kernel>(kernel: K) -> K::Out {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2,fma")]
        fn wide<K: Kernel>(kernel: K) -> K::Out {
            kernel.run::<true>()
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has the instructions that `wide` is compiled for.
            return unsafe { wide(kernel) };
        }
    }
    kernel.run::<false>()
}

/// `a * b + c`. Not fused, `mul_add` would be a library call.
#[inline(always)]
pub fn madd<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// Accumulators of a sum: enough to hide the latency of an addition.
pub const LANES: usize = 16;

/// Sum of the lanes, halving.
#[inline(always)]
pub fn total(mut lanes: [f64; LANES]) -> f64 {
    let mut half = LANES / 2;
    while half > 0 {
        for k in 0..half {
            lanes[k] += lanes[k + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// The dot product.
#[inline(always)]
pub fn dot<const FMA: bool>(x: &[f64], y: &[f64]) -> f64 {
    let y = &y[..x.len()];
    let (x_blocks, x_rest) = x.as_chunks::<LANES>();
    let (y_blocks, y_rest) = y.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (x, y) in x_blocks.iter().zip(y_blocks) {
        for k in 0..LANES {
            lanes[k] = madd::<FMA>(x[k], y[k], lanes[k]);
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    total(lanes) + rest
}

/// `y += a x`.
#[inline(always)]
pub fn axpy<const FMA: bool>(y: &mut [f64], a: f64, x: &[f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y = madd::<FMA>(a, *x, *y);
    }
}

/// `y += a[0] x[0] + .. + a[3] x[3]`, reading and writing `y` once.
#[inline(always)]
pub fn axpy4<const FMA: bool>(y: &mut [f64], a: [f64; 4], x: [&[f64]; 4]) {
    let n = y.len();
    let [x0, x1, x2, x3] = x.map(|x| &x[..n]);
    for k in 0..n {
        let low = madd::<FMA>(a[1], x1[k], madd::<FMA>(a[0], x0[k], y[k]));
        y[k] = madd::<FMA>(a[3], x3[k], madd::<FMA>(a[2], x2[k], low));
    }
}

/// Adding it to a number of moderate size rounds the number, and leaves the integer in the low
/// bits.
const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52
const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// `exp` for arguments whose result is a normal number. The argument is clamped to that range.
#[inline(always)]
pub fn exp<const FMA: bool>(x: f64) -> f64 {
    let x = if x < -708.0 { -708.0 } else { x };
    let x = if x > 709.0 { 709.0 } else { x };
    let shifted = madd::<FMA>(x, std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = madd::<FMA>(-k, LN2_LOW, madd::<FMA>(-k, LN2_HIGH, x));
    // Taylor's series is short enough for |r| <= ln(2) / 2: the term left out is 4e-18.
    const INVERSE_FACTORIALS: [f64; 14] = {
        let mut c = [1.0; 14];
        let mut n = 1;
        while n < 14 {
            c[n] = c[n - 1] / n as f64;
            n += 1;
        }
        c
    };
    let p = horner::<FMA, _>(r, &INVERSE_FACTORIALS);
    // 2^k: k is in the low bits of `shifted`.
    let power = f64::from_bits(((shifted.to_bits() as i64) << 52).wrapping_add(1023 << 52) as u64);
    p * power
}

/// `ln` of positive normal numbers.
#[inline(always)]
pub fn ln<const FMA: bool>(x: f64) -> f64 {
    // x = 2^k m with sqrt(1/2) <= m < sqrt(2)
    let offset = std::f64::consts::FRAC_1_SQRT_2.to_bits();
    let bits = x.to_bits().wrapping_sub(offset);
    let k = ((bits as i64) >> 52) as i32 as f64;
    let m = f64::from_bits((bits & ((1 << 52) - 1)).wrapping_add(offset));
    // ln m = 2 artanh s
    let s = (m - 1.0) / (m + 1.0);
    const ODD: [f64; 11] = {
        let mut c = [2.0; 11];
        let mut n = 0;
        while n < 11 {
            c[n] = 2.0 / (2 * n + 1) as f64;
            n += 1;
        }
        c
    };
    let p = s * horner::<FMA, _>(s * s, &ODD);
    madd::<FMA>(k, LN2_HIGH, madd::<FMA>(k, LN2_LOW, p))
}

/// `tanh`, to 4e-16 absolutely: relatively too for all but small arguments, which these workloads
/// do not have.
#[inline(always)]
pub fn tanh<const FMA: bool>(x: f64) -> f64 {
    let e = exp::<FMA>(-2.0 * x.abs());
    ((1.0 - e) / (1.0 + e)).copysign(x)
}

#[inline(always)]
fn horner<const FMA: bool, const N: usize>(x: f64, coefficients: &[f64; N]) -> f64 {
    let mut p = coefficients[N - 1];
    for n in (0..N - 1).rev() {
        p = madd::<FMA>(p, x, coefficients[n]);
    }
    p
}
