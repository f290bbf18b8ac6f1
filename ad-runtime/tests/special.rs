//! The functions of one number against values computed in 40 digits (by mpmath, of exactly the
//! doubles below), and their behaviour at the edges.

#![allow(clippy::excessive_precision, clippy::approx_constant, reason = "the tables are printed by another program")]

use ad_runtime::kernel::{
    digamma, erf, erfc, ln_gamma, mul_zero, polygamma, relu, sigmoid, softplus, tetragamma, trigamma,
};
use proptest::prelude::*;

const ERF: &[(f64, f64)] = &[
    (1e-300, 1.1283791670955126e-300),
    (1e-10, 1.1283791670955126e-10),
    (0.1, 0.1124629160182849),
    (0.3, 0.3286267594591274),
    (0.4999, 0.5204119951613866),
    (0.5, 0.5204998778130465),
    (0.75, 0.7111556336535151),
    (0.999, 0.8422852702064969),
    (1.0, 0.8427007929497149),
    (1.3, 0.9340079449406524),
    (2.0, 0.9953222650189527),
    (2.7, 0.9998656672600594),
    (3.5, 0.9999992569016276),
    (5.0, 0.9999999999984626),
    (5.9, 0.9999999999999999),
];
const ERFC: &[(f64, f64)] = &[
    (-6.0, 2.0),
    (-2.0, 1.9953222650189528),
    (-0.7, 1.6778011938374184),
    (-0.3, 1.3286267594591274),
    (0.1, 0.887537083981715),
    (0.49, 0.4883317388114769),
    (0.5, 0.4795001221869535),
    (0.51, 0.4707563801588296),
    (0.8, 0.2578990352923395),
    (1.0, 0.15729920705028513),
    (1.5, 0.033894853524689274),
    (2.3, 0.0011431765973566525),
    (3.0, 2.209049699858544e-05),
    (4.4, 4.891710270605872e-10),
    (5.7, 7.566211621862486e-16),
    (8.1, 2.216308572065754e-30),
    (12.3, 9.029925149482068e-68),
    (17.7, 2.7710425007754264e-138),
    (22.9, 4.3934655937655665e-230),
    (26.2, 1.643250792438946e-300),
];
const LN_GAMMA: &[(f64, f64)] = &[
    (1e-300, 690.7755278982137),
    (1e-08, 18.42068073818021),
    (0.02, 3.900804516098376),
    (0.3, 1.0957979948180756),
    (0.5, 0.5723649429247001),
    (0.7, 0.26086724653166654),
    (0.95, 0.030968795237972926),
    (0.9999999, 5.772157468444193e-08),
    (1.0000001, -5.772155829918507e-08),
    (1.2, -0.08537409000331583),
    (1.45, -0.12142059074030692),
    (1.5, -0.12078223763524522),
    (1.6, -0.11259176569675577),
    (1.9, -0.03898427592308336),
    (1.999999, -4.227840125965854e-07),
    (2.000001, 4.2278465762452923e-07),
    (2.3, 0.15418945495963046),
    (2.5, 0.2846828704729192),
    (2.6, 0.35741186354897986),
    (3.0, 0.6931471805599453),
    (4.2, 2.04855563696059),
    (6.5, 5.662562059857142),
    (9.9, 12.57717990421988),
    (10.0, 12.801827480081469),
    (10.1, 13.027526738633236),
    (25.5, 56.389167643719944),
    (171.3, 708.1149470389969),
    (1000.5, 5908.674175848678),
    (10000000000.0, 220258509288.81058),
    (1e+300, 6.897755278982137e+302),
    (-0.3, 1.4648400508576025),
    (-0.5, 1.2655121234846454),
    (-0.7, 1.4524729387568078),
    (-1.5, 0.860047015376481),
    (-3.3, -0.8243558050174264),
    (-10.2, -13.90053096369515),
    (-100.4, -364.38932358026403),
];
const DIGAMMA: &[(f64, f64)] = &[
    (1e-300, -9.999999999999999e+299),
    (1e-08, -100000000.57721564),
    (0.02, -50.54478931045618),
    (0.3, -3.502524222200133),
    (0.7, -1.2200235536979347),
    (1.0, -0.5772156649015329),
    (1.2, -0.2890398965921884),
    (1.46, -0.0015805619870834522),
    (1.4616, -3.110625123034165e-05),
    (1.461632144968362, -3.072790566546293e-16),
    (1.47, 0.008066489011364869),
    (1.8, 0.28499143329386156),
    (2.0, 0.42278433509846713),
    (2.5, 0.7031566406452432),
    (3.7, 1.1671535393615113),
    (7.1, 1.8880223866580461),
    (9.99, 2.250700372831201),
    (10.0, 2.251752589066721),
    (11.3, 2.3799028250798995),
    (50.5, 3.912039670928392),
    (100000.0, 11.512920464961896),
    (10000000000.0, 23.025850929890456),
    (-0.3, 2.113309779635399),
    (-0.5, 0.03648997397857652),
    (-1.3, 2.8825405488661673),
    (-2.75, -1.959055264977997),
    (-20.6, 2.02860126183962),
];
const TRIGAMMA: &[(f64, f64)] = &[
    (1e-100, 1e+200),
    (1e-08, 1.0000000000000002e+16),
    (0.02, 2501.598118191868),
    (0.3, 12.245364546107732),
    (0.7, 2.834049156694611),
    (1.0, 1.6449340668482264),
    (1.5, 0.9348022005446793),
    (2.0, 0.6449340668482264),
    (3.7, 0.3100378576700383),
    (7.1, 0.15122758043907264),
    (9.99, 0.10527695014824179),
    (10.0, 0.10516633568168575),
    (11.3, 0.09252663707965436),
    (50.5, 0.01999933342663716),
    (100000.0, 1.0000050000166667e-05),
    (10000000000.0, 1.00000000005e-10),
    (-0.3, 13.945160267805722),
    (-0.5, 8.934802200544679),
    (-1.3, 14.53687624413708),
    (-2.75, 19.433868949488463),
    (-20.6, 10.864181760517212),
];
const TETRAGAMMA: &[(f64, f64)] = &[
    (1e-100, -1.9999999999999998e+300),
    (1e-08, -2e+24),
    (0.02, -250002.27905420522),
    (0.3, -75.27253658872604),
    (0.7, -6.4349928741909235),
    (1.0, -2.4041138063191885),
    (1.5, -0.82879664423432),
    (2.0, -0.4041138063191886),
    (3.7, -0.09539530872855403),
    (7.1, -0.022826808325782027),
    (9.99, -0.011073070531461051),
    (10.0, -0.011049834970802067),
    (11.3, -0.008555103497593714),
    (50.5, -0.00039996000932920303),
    (100000.0, -1.00001000005e-10),
    (10000000000.0, -1.0000000001e-20),
    (-0.3, 67.63908119988317),
    (-0.5, -0.82879664423432),
    (-1.3, 68.54941347116214),
    (-2.75, -124.11765305971518),
    (-20.6, -22.27854195784691),
];

/// Holds `f` against a table: relative error below `bound`; below `1e-14` absolute where x is
/// negative (there the functions have zeros that no double is near).
#[track_caller]
fn check(f: impl Fn(f64) -> f64, table: &[(f64, f64)], bound: f64) {
    for &(x, expected) in table {
        let got = f(x);
        let error = (got - expected).abs();
        let relative = error / expected.abs();
        assert!(relative < bound || (x < 0.0 && error < 1e-14), "at {x}: {got}, not {expected}, by {relative:e}");
    }
}

#[test]
fn error_functions() {
    check(erf, ERF, 3e-16);
    check(erfc, ERFC, 1e-15);
    for x in [0.2, 0.5, 1.0, 3.0, 7.0] {
        assert_eq!(erf(-x), -erf(x), "erf is odd, at {x}");
    }
    assert_eq!(erf(0.0), 0.0);
    assert!(erf(-0.0_f64).is_sign_negative());
    assert_eq!((erf(f64::INFINITY), erf(f64::NEG_INFINITY)), (1.0, -1.0));
    assert_eq!((erfc(f64::INFINITY), erfc(f64::NEG_INFINITY), erfc(40.0)), (0.0, 2.0, 0.0));
    assert!(erf(f64::NAN).is_nan() && erfc(f64::NAN).is_nan());
}

#[test]
fn gamma_functions() {
    check(ln_gamma, LN_GAMMA, 1e-15);
    check(digamma, DIGAMMA, 1e-15);
    check(trigamma, TRIGAMMA, 1e-15);
    check(tetragamma, TETRAGAMMA, 2e-15);
    check(|x| polygamma(1.0, x), TRIGAMMA, 1e-14);
    check(|x| polygamma(2.0, x), TETRAGAMMA, 1e-14);
    // pi^4 / 15, pi^4, -24 zeta(5), and at a negative argument by the recurrence.
    let pi4 = std::f64::consts::PI.powi(4);
    let near = |x: f64, y: f64| assert!(((x - y) / y).abs() < 1e-14, "{x}, not {y}");
    near(polygamma(3.0, 1.0), pi4 / 15.0);
    near(polygamma(3.0, 0.5), pi4);
    near(polygamma(4.0, 1.0), -24.886_266_123_440_88);
    near(polygamma(4.0, -0.5) + 24.0 / (-0.5_f64).powi(5), polygamma(4.0, 0.5));
    near(polygamma(3.0, -0.5), pi4 + 6.0 / 0.5_f64.powi(4));
    assert_eq!((polygamma(3.0, -2.0), polygamma(3.0, 0.0)), (f64::INFINITY, f64::INFINITY));
    assert!(polygamma(4.0_f64, -2.0).is_nan() && polygamma(4.0, 0.0) == f64::NEG_INFINITY);
    assert_eq!((ln_gamma(1.0), ln_gamma(2.0)), (0.0, 0.0));
    for pole in [0.0, -1.0, -2.0, -100.0, f64::NEG_INFINITY] {
        assert_eq!(ln_gamma(pole), f64::INFINITY, "at {pole}");
    }
    assert_eq!(ln_gamma(f64::INFINITY), f64::INFINITY);
    assert_eq!((digamma(0.0), digamma(-0.0)), (f64::NEG_INFINITY, f64::INFINITY));
    assert!(digamma(-3.0_f64).is_nan() && digamma(f64::NEG_INFINITY).is_nan());
    assert_eq!(digamma(f64::INFINITY), f64::INFINITY);
    assert_eq!((trigamma(0.0), trigamma(-3.0), trigamma(f64::INFINITY)), (f64::INFINITY, f64::INFINITY, 0.0));
    assert_eq!((tetragamma(0.0), tetragamma(-0.0)), (f64::NEG_INFINITY, f64::INFINITY));
    assert!(tetragamma(-3.0_f64).is_nan() && tetragamma(f64::NEG_INFINITY).is_nan() && tetragamma(f64::NAN).is_nan());
    assert_eq!(tetragamma(f64::INFINITY), 0.0);
    assert!(ln_gamma(f64::NAN).is_nan() && digamma(f64::NAN).is_nan() && trigamma(f64::NAN).is_nan());
}

#[test]
fn logistic_functions_at_the_edges() {
    assert_eq!((sigmoid(f64::INFINITY), sigmoid(f64::NEG_INFINITY), sigmoid(0.0)), (1.0, 0.0, 0.5));
    assert_eq!(sigmoid(-745.0), (-745.0_f64).exp(), "no underflow before exp itself");
    assert_eq!(softplus(f64::INFINITY), f64::INFINITY);
    assert_eq!((softplus(f64::NEG_INFINITY), softplus(800.0), softplus(-800.0)), (0.0, 800.0, 0.0));
    assert_eq!(softplus(0.0), std::f64::consts::LN_2);
    assert_eq!((relu(-1.0), relu(0.0), relu(2.0), relu(f64::NEG_INFINITY)), (0.0, 0.0, 2.0, 0.0));
    assert!(relu(-0.0_f64).is_sign_positive());
    assert!(sigmoid(f64::NAN).is_nan() && softplus(f64::NAN).is_nan() && relu(f64::NAN).is_nan());
    assert_eq!((mul_zero(0.0, f64::NAN), mul_zero(-0.0, f64::INFINITY), mul_zero(2.0, 3.0)), (0.0, 0.0, 6.0));
    assert!(mul_zero(1.0, f64::NAN).is_nan());
}

#[test]
fn single_precision_goes_through_double() {
    for &(x, _) in ERF {
        #[allow(clippy::cast_possible_truncation, reason = "the point of the test")]
        let (single, rounded) = (x as f32, |y: f64| y as f32);
        assert_eq!(erf(single), rounded(erf(f64::from(single))));
        assert_eq!(ln_gamma(single), rounded(ln_gamma(f64::from(single))));
    }
    assert_eq!(sigmoid(0.0_f32), 0.5);
}

proptest! {
    #[test]
    fn complements(x in -6.0..6.0_f64) {
        // 2.5 ulp of each (1.1e-16 at most), and the rounding of their sum.
        prop_assert!((erf(x) + erfc(x) - 1.0).abs() < 7e-16);
        prop_assert!((sigmoid(x) + sigmoid(-x) - 1.0).abs() < 4e-16);
        prop_assert!((softplus(x) - softplus(-x) - x).abs() < 2e-15 * (1.0 + x.abs()));
    }

    /// The recurrences tie every branch (fit, shifted, asymptotic, reflected) to its neighbours.
    #[test]
    fn gamma_recurrences(x in -8.0..40.0_f64) {
        prop_assume!((x - x.round()).abs() > 1e-3);
        let tolerance = |v: f64| 4e-14 * (1.0 + v.abs());
        prop_assert!((ln_gamma(x + 1.0) - ln_gamma(x) - x.abs().ln()).abs() < tolerance(ln_gamma(x)));
        let d = digamma(x);
        prop_assert!((digamma(x + 1.0) - d - 1.0 / x).abs() < 100.0 * tolerance(d));
        let t = trigamma(x);
        prop_assert!((t - trigamma(x + 1.0) - 1.0 / (x * x)).abs() < 100.0 * tolerance(t));
    }

    /// erfc falls, everywhere where it is not constant, across the seams of its pieces too.
    #[test]
    fn erfc_is_monotone(x in -5.0..26.0_f64) {
        prop_assert!(erfc(x + 1e-3) < erfc(x));
    }

    #[test]
    fn derivatives_of_ln_gamma(x in 0.2..60.0_f64) {
        let h = 1e-4 * x.min(1.0);
        let slope = (ln_gamma(x + h) - ln_gamma(x - h)) / (2.0 * h);
        prop_assert!((slope - digamma(x)).abs() < 1e-6 * (1.0 + digamma(x).abs()));
        let slope = (digamma(x + h) - digamma(x - h)) / (2.0 * h);
        prop_assert!((slope - trigamma(x)).abs() < 1e-6 * (1.0 + trigamma(x)));
        let slope = (trigamma(x + h) - trigamma(x - h)) / (2.0 * h);
        prop_assert!((slope - tetragamma(x)).abs() < 1e-5 * (1.0 - tetragamma(x)));
    }
}
