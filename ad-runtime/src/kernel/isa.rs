//! Decides at run time which instructions a loop may use, without `unsafe` in the crate that has
//! the loop. A plain x86-64 build has two doubles in a register and no fused multiply-add
//! (`f64::mul_add` is then a library call, 22 times slower than the instruction). Nearly every
//! machine has registers of four doubles and the instruction. A generated loop is therefore an
//! implementation of [`Body`], which [`dispatch`] calls.
//!
//! The choice must depend on nothing but the processor (and a switch for tests): the same machine
//! gives the same bits. Two machines may differ in the last places, as in their mathematical
//! libraries.

use core::sync::atomic::{AtomicU8, Ordering};

use super::special;
use super::{fast, integer_power};
use crate::Real;

/// A loop that [`dispatch`] runs with the best instructions of the machine.
///
/// ```
/// use ad_runtime::kernel::{Body, Isa, dispatch};
///
/// struct Sigmoids<'a>(&'a mut [f64], &'a [f64]);
/// impl Body for Sigmoids<'_> {
///     type Out = ();
///     #[inline(always)]
///     fn run<I: Isa>(self) {
///         sigmoids::<I>(self.0, self.1);
///     }
/// }
/// #[inline(always)]
/// fn sigmoids<I: Isa>(out: &mut [f64], x: &[f64]) {
///     for (out, &x) in out.iter_mut().zip(x) {
///         *out = I::sigmoid(I::mul_add(2.0, x, 1.0));
///     }
/// }
/// let mut out = [0.0; 2];
/// dispatch(Sigmoids(&mut out, &[-0.5, 1.0]));
/// assert_eq!(out[0], 0.5);
/// ```
///
/// - `run` and everything it calls must be `#[inline(always)]`: only what is inlined into
///   [`dispatch`]'s function gets its instructions. A closure that is given to an iterator needs no
///   attribute: an optimised build inlines it.
/// - `run` passes its slices to a function that has them as parameters. The compiler knows that
///   parameters do not alias, also after inlining, and does not know it of fields. (Without that,
///   such a loop is not vectorised, or only after tests at run time.)
/// - Only functions that `dispatch` calls may name [`Fused`]; the loop itself is generic.
/// - One `dispatch` costs about a nanosecond: a loop nest has one, around its outermost loop. A
///   function that is called inside has the `I` of its caller.
pub trait Body {
    /// The result of the loop.
    type Out;

    /// The loop. Write `#[inline(always)]` on it.
    fn run<I: Isa>(self) -> Self::Out;
}

/// The arithmetic that depends on the instruction set. Implemented by [`Plain`] and [`Fused`] only.
///
/// Errors of [`Fused`] are at most 2.5 units in the last place over the whole range, in both
/// precisions; infinities, NaN, subnormal numbers and the signs of zeros are as in std. [`Plain`]
/// is std (and [`super::sigmoid`] and so on).
pub trait Isa: Copy + private::Sealed {
    /// Whether this is [`Fused`]. A kernel of which there is a shorter one is compiled for it only.
    const FUSED: bool;
    /// `a * b + c`, rounded once with [`Fused`] and twice with [`Plain`].
    fn mul_add<F: Real>(a: F, b: F, c: F) -> F;
    /// `mul_zero(a, b) + c`, with one rounding if that costs no more. If `a` is 0, the result is
    /// `c`, whatever `b` is.
    #[inline(always)]
    fn mul_zero_add<F: Real>(a: F, b: F, c: F) -> F {
        Self::mul_add(a, if a.vanishes() { F::zero() } else { b }, c)
    }
    /// `x - y`, bit-identical to the subtraction (except for NaN payloads). If `minus_one` is
    /// [`Isa::minus_one`], it uses a fused multiply-add: a processor has ports for additions and
    /// for multiplications, and a loop of many additions is faster if it takes some of its
    /// differences this way.
    #[inline(always)]
    #[allow(unused_variables, reason = "without fused multiply-add a product is one more operation")]
    fn difference<F: Real>(x: F, y: F, minus_one: F) -> F {
        x - y
    }
    /// -1, hidden from the optimiser, which would otherwise turn the product back into a
    /// subtraction.
    #[inline(always)]
    #[must_use]
    fn minus_one<F: Real>() -> F {
        core::hint::black_box(F::lit(-1.0))
    }
    /// `exp(x)`.
    fn exp<F: Real>(x: F) -> F;
    /// `exp(x) - 1`.
    fn exp_m1<F: Real>(x: F) -> F;
    /// The natural logarithm.
    fn ln<F: Real>(x: F) -> F;
    /// `ln(1 + x)`.
    fn ln_1p<F: Real>(x: F) -> F;
    /// The hyperbolic tangent.
    fn tanh<F: Real>(x: F) -> F;
    /// `1 / (1 + exp(-x))`.
    fn sigmoid<F: Real>(x: F) -> F;
    /// `ln(1 + exp(x))`.
    fn softplus<F: Real>(x: F) -> F;
    /// `x` to the power `y`, as std's `powf`.
    fn powf<F: Real>(x: F, y: F) -> F;
    /// `x` to the integer power `n`, as std's `powi`; not vectorised (see [`Isa::powi_lanes`]).
    #[inline(always)]
    fn powi<F: Real>(x: F, n: i32) -> F {
        x.powi(n)
    }
    /// The sine; not vectorised (see [`Isa::sin_lanes`]).
    #[inline(always)]
    fn sin<F: Real>(x: F) -> F {
        let [y] = Self::sin_lanes([x]);
        y
    }
    /// The cosine; not vectorised (see [`Isa::cos_lanes`]).
    #[inline(always)]
    fn cos<F: Real>(x: F) -> F {
        let [y] = Self::cos_lanes([x]);
        y
    }
    /// Sine and cosine; not vectorised (see [`Isa::sin_cos_lanes`]).
    #[inline(always)]
    fn sin_cos<F: Real>(x: F) -> (F, F) {
        let ([s], [c]) = Self::sin_cos_lanes([x]);
        (s, c)
    }
    /// The integer powers of a block, bit-identical to [`Isa::powi`].
    #[inline(always)]
    fn powi_lanes<F: Real, const N: usize>(x: [F; N], n: [i32; N]) -> [F; N] {
        integer_power::lanes(x, n)
    }
    /// The sines of a block, of 8 or 16 for instance.
    fn sin_lanes<F: Real, const N: usize>(x: [F; N]) -> [F; N];
    /// The cosines of a block.
    fn cos_lanes<F: Real, const N: usize>(x: [F; N]) -> [F; N];
    /// The sines and the cosines of a block, for little more than the cost of one of them.
    fn sin_cos_lanes<F: Real, const N: usize>(x: [F; N]) -> ([F; N], [F; N]);
}

mod private {
    pub trait Sealed {}
    impl Sealed for super::Plain {}
    impl Sealed for super::Fused {}
}

/// The baseline of every machine: std's functions, and products that are rounded before they are
/// added.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

/// Fused multiply-add in vectors: AVX2 and FMA on x86-64, and wherever the build may assume FMA.
///
/// Its functions have no branches, so that a loop over them is vectorised. The exceptions are `sin`
/// and `cos`, which need the library beyond 2^45: a loop over lanes uses [`Isa::sin_cos_lanes`] and
/// similar functions, which test a block at a time.
#[derive(Clone, Copy, Debug)]
pub struct Fused;

impl Isa for Plain {
    const FUSED: bool = false;
    #[inline(always)]
    fn mul_add<F: Real>(a: F, b: F, c: F) -> F {
        a * b + c
    }
    #[inline(always)]
    fn exp<F: Real>(x: F) -> F {
        x.exp()
    }
    #[inline(always)]
    fn exp_m1<F: Real>(x: F) -> F {
        x.exp_m1()
    }
    #[inline(always)]
    fn ln<F: Real>(x: F) -> F {
        x.ln()
    }
    #[inline(always)]
    fn ln_1p<F: Real>(x: F) -> F {
        x.ln_1p()
    }
    #[inline(always)]
    fn tanh<F: Real>(x: F) -> F {
        x.tanh()
    }
    #[inline(always)]
    fn sigmoid<F: Real>(x: F) -> F {
        special::sigmoid(x)
    }
    #[inline(always)]
    fn softplus<F: Real>(x: F) -> F {
        special::softplus(x)
    }
    #[inline(always)]
    fn powf<F: Real>(x: F, y: F) -> F {
        x.powf(y)
    }
    #[inline(always)]
    fn sin_lanes<F: Real, const N: usize>(x: [F; N]) -> [F; N] {
        x.map(F::sin)
    }
    #[inline(always)]
    fn cos_lanes<F: Real, const N: usize>(x: [F; N]) -> [F; N] {
        x.map(F::cos)
    }
    #[inline(always)]
    fn sin_cos_lanes<F: Real, const N: usize>(x: [F; N]) -> ([F; N], [F; N]) {
        (x.map(F::sin), x.map(F::cos))
    }
}

/// Defines a function of a type parameter that calls the function of its precision. The size of
/// `f32` and `f64` determines which it is, and the conversions are from a type to itself. Numbers
/// with derivatives have the other function.
macro_rules! by_precision {
    ($name:ident($($x:ident),*) else $other:path) => {
        #[inline(always)]
        fn $name<F: Real>($($x: F),*) -> F {
            if !F::IS_MACHINE {
                $other($($x),*)
            } else if size_of::<F>() == size_of::<f32>() {
                F::lit(f64::from(fast::single::$name($(single($x)),*)))
            } else {
                F::lit(fast::double::$name($($x.as_f64()),*))
            }
        }
    };
}

#[inline(always)]
#[allow(clippy::cast_possible_truncation, reason = "F is f32")]
fn single<F: Real>(x: F) -> f32 {
    x.as_f64() as f32
}

impl Isa for Fused {
    const FUSED: bool = true;
    #[inline(always)]
    fn mul_add<F: Real>(a: F, b: F, c: F) -> F {
        a.fused(b, c)
    }
    #[inline(always)]
    fn difference<F: Real>(x: F, y: F, minus_one: F) -> F {
        // The product is exact, so the only rounding is that of the difference.
        y.fused(minus_one, x)
    }
    by_precision!(exp(x) else F::exp);
    by_precision!(exp_m1(x) else F::exp_m1);
    by_precision!(ln(x) else F::ln);
    by_precision!(ln_1p(x) else F::ln_1p);
    by_precision!(tanh(x) else F::tanh);
    by_precision!(sigmoid(x) else super::sigmoid);
    by_precision!(softplus(x) else super::softplus);
    by_precision!(powf(x, y) else F::powf);
    #[inline(always)]
    fn sin_lanes<F: Real, const N: usize>(x: [F; N]) -> [F; N] {
        fast::trigonometric::lanes(x, fast::trigonometric::sin, F::sin)
    }
    #[inline(always)]
    fn cos_lanes<F: Real, const N: usize>(x: [F; N]) -> [F; N] {
        fast::trigonometric::lanes(x, fast::trigonometric::cos, F::cos)
    }
    #[inline(always)]
    fn sin_cos_lanes<F: Real, const N: usize>(x: [F; N]) -> ([F; N], [F; N]) {
        fast::trigonometric::lanes2(x)
    }
}

/// Whether the build itself may assume fused multiply-add (`-C target-cpu=native`, or aarch64).
const FMA_ASSUMED: bool = cfg!(any(all(target_feature = "avx2", target_feature = "fma"), target_arch = "aarch64"));

/// The detected level of the machine.
static LEVEL: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const NO_FMA: u8 = 1;
const FMA: u8 = 2;

/// Whether [`dispatch`] runs [`Fused`]; the processor is queried once.
#[inline]
fn fused() -> bool {
    match LEVEL.load(Ordering::Relaxed) {
        UNKNOWN => detect(),
        level => level == FMA,
    }
}

#[cold]
fn detect() -> bool {
    #[cfg(all(target_arch = "x86_64", feature = "std"))]
    let found = FMA_ASSUMED || (std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma"));
    // Only std can ask the processor.
    #[cfg(not(all(target_arch = "x86_64", feature = "std")))]
    let found = FMA_ASSUMED;
    LEVEL.store(if found { FMA } else { NO_FMA }, Ordering::Relaxed);
    found
}

/// For tests: the rest of this process runs with [`Plain`] only (or again with the instructions
/// that the machine supports). Returns whether the machine supports more than [`Plain`].
#[doc(hidden)]
pub fn force_plain(plain: bool) -> bool {
    let found = detect();
    if plain {
        LEVEL.store(NO_FMA, Ordering::Relaxed);
    }
    found
}

/// Runs the loop with the best instruction set of the machine.
#[inline]
pub fn dispatch<B: Body>(body: B) -> B::Out {
    if fused() {
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: `avx2_fma` may be called where the processor has AVX2 and FMA. `fused` is
            // only true if `detect` found both (the processor reports them, or the build assumes
            // them); nothing else stores FMA. The body is safe code and requires nothing else.
            #[allow(unsafe_code, reason = "the one place where instructions beyond the build's are entered")]
            return unsafe { avx2_fma(body) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        return body.run::<Fused>();
    }
    body.run::<Plain>()
}

/// The body, compiled with AVX2 and FMA.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn avx2_fma<B: Body>(body: B) -> B::Out {
    body.run::<Fused>()
}

/// The call of a loop inside [`dispatch`](crate::kernel::dispatch): `dispatched!('a, F; inner(x:
/// &'a [F]) -> F)` is `inner::<I, F>(x)` for the machine's `I`, and `dispatched!('a, ; inner(x: &'a
/// [f64]) -> f64)` is `inner::<I>(x)`. `inner` is `#[inline(always)]`. **Not a public API**:
/// generated code and kernels call loops with it.
#[doc(hidden)]
#[macro_export]
macro_rules! dispatched {
    ($a:lifetime, $($f:ident)?; $inner:ident($($arg:ident: $ty:ty),* $(,)?) -> $out:ty) => {{
        struct Call<$a $(, $f)?>(($($ty,)*), ::core::marker::PhantomData<(&$a (), $($f)?)>);
        impl<$a $(, $f: $crate::Real)?> $crate::kernel::Body for Call<$a $(, $f)?> {
            type Out = $out;
            #[inline(always)]
            fn run<Machine: $crate::kernel::Isa>(self) -> $out {
                let ($($arg,)*) = self.0;
                $inner::<Machine $(, $f)?>($($arg),*)
            }
        }
        $crate::kernel::dispatch(Call::<$($f)?>(($($arg,)*), ::core::marker::PhantomData))
    }};
}
pub(super) use dispatched;
