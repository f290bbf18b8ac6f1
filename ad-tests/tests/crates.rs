//! Calls of marked functions of another crate: its private helpers and constants are those of that
//! crate, whatever has their names here.

#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, clippy::all)]

use ad::check_grad;
use ad::prelude::*;
use ad_test_model::{Unit, energy, mirrored, shape};

/// It has the name of a constant of the library.
const GAIN: f64 = 100.0;

/// It has the name of a private function of the library.
#[differentiable]
fn scaled(x: f64) -> f64 {
    GAIN * x
}

#[differentiate]
fn loss(x: &Array1<f64>, k: f64) -> f64 {
    energy(x, k) + shape(x[0]) + ad_test_model::curve(k) + scaled(x[1])
}

#[test]
fn a_function_of_another_crate_is_differentiated_through() {
    let x = array![0.3, -1.2];
    check_grad!(loss(&x, 0.7));
    let own = |v: f64| 1.5 / (1.0 + (-v / 4.0).exp());
    let curve = |v: f64| (0..4).map(|k| f64::from(k + 1) * 0.1 * (v * f64::from(k)).sin()).sum::<f64>();
    let energy: f64 = x.iter().map(|v| 0.35 * own(*v) * own(*v)).sum();
    let expected = energy + curve(0.3) + curve(0.7) + 100.0 * x[1];
    let found = loss_value_and_grad(&x, 0.7).0;
    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
}

mod renamed {
    pub use ad_test_model::step as soft;
}

mod globbed {
    use super::renamed::*;
    use ad::prelude::*;

    #[differentiate]
    pub fn of_glob(x: f64) -> f64 {
        soft(x) * soft(2.0 * x)
    }
}

#[test]
fn a_re_export_carries_the_definition() {
    check_grad!(globbed::of_glob(0.4));
}

#[differentiate(grad, jvp, into)]
fn of_unit(unit: &ad_test_model::Unit, x: &Array1<f64>) -> f64 {
    ad_test_model::output(unit, x) + ad_test_model::output(&ad_test_model::mirrored(unit), x)
}

#[differentiate(vjp, jvp, pullback)]
fn unit(u: &Unit, scale: f64) -> (Unit, f64) {
    (mirrored(&mirrored(u)), scale * scale)
}

#[test]
fn a_type_of_another_crate_keeps_its_parts_private() {
    let (u, x) = (Unit::new(array![0.5, -1.0], 0.3), array![1.0, 2.0]);
    check_grad!(of_unit(&u, &x));
    check_grad!(unit(&u, 1.5));
    let (value, (du, dscale)): ((Unit, f64), (Unit, f64)) = unit_vjp(&u, 1.5, (&u, 1.0));
    assert_eq!(value, (Unit::new(array![0.5, -1.0], 1.2), 2.25));
    assert_eq!((du, dscale), (Unit::new(array![0.5, -1.0], 1.2), 3.0));
}

#[differentiate(wrt(unit, x))]
fn of_methods(unit: &Unit, x: &Array1<f64>) -> f64 {
    unit.amplified(x) * GAIN + unit.energy(x)
}

#[test]
fn methods_of_another_crate_are_differentiated_through() {
    let (unit, x) = (Unit::new(array![0.3, -0.2], 0.4), array![1.0, 2.0]);
    check_grad!(of_methods(&unit, &x));
    check_grad!(unit.energy(&x));
    let expected = unit.amplified(&x) * 100.0 + unit.amplified(&x).powi(2);
    assert!((of_methods_value_and_grad(&unit, &x).0 - expected).abs() < 1e-9);
}

mod with_rules {
    use ad::prelude::*;
    use ad_test_model::{Unit, answered, looked_up, response};

    /// It has the name of a rule of the library.
    #[allow(dead_code, reason = "only the name matters")]
    fn response_rule() {}

    #[differentiate]
    fn both(unit: &Unit, x: f64) -> f64 {
        response(unit, x) * looked_up(0) + answered(unit, x * x)
    }

    #[test]
    fn a_rule_of_another_crate_is_used() {
        let unit = Unit::new(array![1.0, 2.0], 0.5);
        let (value, (_, dx)) = both_value_and_grad(&unit, 0.8);
        assert!((value - both(&unit, 0.8)).abs() < 1e-14);
        assert!((dx - (1.5 * 2.0 * 0.8 * 1.5 + 3.0 * 4.0 * 0.8_f64.powi(3) * 1.5)).abs() < 1e-12, "{dx}");
        ad::check_grad!(both(&unit, 0.8));
        ad::check_grad!(ad_test_model::response(&unit, 0.8));
    }
}
