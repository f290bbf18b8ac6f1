//! Constants of std by path: `std::f64::consts::PI`, `f64::INFINITY`, `usize::MAX`.

use proc_macro2::Ident;
use quote::ToTokens;

use super::types::elem_named;
use super::value::Number;
use ad_ir::ir::{Elem, IntTy, RealTy};

/// A constant's type and, if it is an integer, its value.
pub(super) enum Const {
    Real(RealTy),
    Int(IntTy, i128),
}

use std::f64::consts as c;

/// The constants of `std::f64::consts`.
const CONSTS: &[(&str, f64)] = &[
    ("PI", c::PI),
    ("TAU", c::TAU),
    ("E", c::E),
    ("LN_2", c::LN_2),
    ("LN_10", c::LN_10),
    ("LOG2_E", c::LOG2_E),
    ("LOG2_10", c::LOG2_10),
    ("LOG10_E", c::LOG10_E),
    ("LOG10_2", c::LOG10_2),
    ("SQRT_2", c::SQRT_2),
    ("FRAC_1_SQRT_2", c::FRAC_1_SQRT_2),
    ("FRAC_2_SQRT_PI", c::FRAC_2_SQRT_PI),
    ("FRAC_1_PI", c::FRAC_1_PI),
    ("FRAC_2_PI", c::FRAC_2_PI),
    ("FRAC_PI_2", c::FRAC_PI_2),
    ("FRAC_PI_3", c::FRAC_PI_3),
    ("FRAC_PI_4", c::FRAC_PI_4),
    ("FRAC_PI_6", c::FRAC_PI_6),
    ("FRAC_PI_8", c::FRAC_PI_8),
];

/// Whether a name looks like that of a constant: `RATE`, `N_2`.
pub(super) fn is_upper_case(name: &str) -> bool {
    let upper = |c: char| c.is_uppercase() || c == '_' || c.is_ascii_digit();
    name.starts_with(char::is_uppercase) && name.chars().all(upper)
}

/// A constant of `std::f64::consts` by a name without a type: `PI` or `consts::PI`, after an import
/// that the macro does not see. It takes the type of the other operand, and the generated code
/// asserts it.
pub(super) fn assumed(path: &syn::Path) -> Option<Number> {
    let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ([name] | ["consts", name]) = names[..] else { return None };
    let (_, x) = CONSTS.iter().find(|(n, _)| *n == name)?;
    Some(Number::Std(path.to_token_stream().into(), *x))
}

/// The constant that a path names, with its value if it is real.
pub(super) fn find(path: &syn::Path, real_param: Option<&Ident>) -> Option<(Const, f64)> {
    let names: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if let [.., ty, "consts", name] = names[..] {
        let Elem::Real(ty) = elem_named(ty, None)? else { return None };
        let (_, x) = CONSTS.iter().find(|(n, _)| *n == name)?;
        return Some((Const::Real(ty), *x));
    }
    let [.., ty, name] = names[..] else { return None };
    match elem_named(ty, real_param)? {
        Elem::Real(ty) => {
            let single = ty == RealTy::F32;
            let x = match name {
                "INFINITY" => f64::INFINITY,
                "NEG_INFINITY" => f64::NEG_INFINITY,
                "NAN" => f64::NAN,
                // A constant that differs between the two real types has no value for a type
                // parameter.
                _ if ty == RealTy::Param => return None,
                "EPSILON" => {
                    if single {
                        f64::from(f32::EPSILON)
                    } else {
                        f64::EPSILON
                    }
                }
                "MAX" => {
                    if single {
                        f64::from(f32::MAX)
                    } else {
                        f64::MAX
                    }
                }
                "MIN" => {
                    if single {
                        f64::from(f32::MIN)
                    } else {
                        f64::MIN
                    }
                }
                "MIN_POSITIVE" => {
                    if single {
                        f64::from(f32::MIN_POSITIVE)
                    } else {
                        f64::MIN_POSITIVE
                    }
                }
                _ => return None,
            };
            Some((Const::Real(ty), x))
        }
        Elem::Int(ty) => {
            let n = match name {
                "MAX" => ty.range().1,
                "MIN" => ty.range().0,
                _ => return None,
            };
            Some((Const::Int(ty, n), 0.0))
        }
        Elem::Bool => None,
    }
}
