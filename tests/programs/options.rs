//! Prices of options on a binomial tree, with an enum of contracts, and their sensitivities.

use ad::check_grad;
use ad::prelude::*;

/// Kinds of contracts, as the table of trades has them.
const CALL: u8 = 0;
const PUT: u8 = 1;
const AMERICAN_PUT: u8 = 2;
const DIGITAL: u8 = 3;
const SPREAD: u8 = 4;
const BARRIER: u8 = 5;

/// Cox, Ross and Rubinstein's tree.
#[differentiate(wrt(spot, strike, rate, volatility))]
fn price(kind: u8, spot: f64, strike: f64, rate: f64, volatility: f64, years: f64, steps: usize) -> f64 {
    #[derive(Clone, Copy, PartialEq)]
    enum Exercise {
        European,
        American,
    }

    enum Contract {
        Vanilla {
            sign: f64,
            strike: f64,
            exercise: Exercise,
        },
        Digital {
            strike: f64,
            width: f64,
        },
        Spread(f64, f64),
        /// Worthless from the level on.
        UpAndOut {
            strike: f64,
            level: f64,
        },
    }

    impl Contract {
        fn new(kind: u8, strike: f64) -> Option<Contract> {
            let exercise = if kind == AMERICAN_PUT { Exercise::American } else { Exercise::European };
            match kind {
                CALL => Some(Contract::Vanilla { sign: 1.0, strike, exercise }),
                PUT | AMERICAN_PUT => Some(Contract::Vanilla { sign: -1.0, strike, exercise }),
                DIGITAL => Some(Contract::Digital { strike, width: 2.0 }),
                SPREAD => Some(Contract::Spread(strike, 1.2 * strike)),
                BARRIER => Some(Contract::UpAndOut { strike, level: 1.5 * strike }),
                _ => None,
            }
        }

        fn payoff(&self, spot: f64) -> f64 {
            match *self {
                Contract::Vanilla { sign, strike, .. } => (sign * (spot - strike)).max(0.0),
                Contract::Digital { strike, width } => sigmoid((spot - strike) / width),
                Contract::Spread(low, high) => (spot - low).max(0.0) - (spot - high).max(0.0),
                Contract::UpAndOut { level, .. } if spot >= level => 0.0,
                Contract::UpAndOut { strike, .. } => (spot - strike).max(0.0),
            }
        }

        /// The value of the contract at a node, given the value of holding it.
        fn value(&self, spot: f64, held: f64) -> f64 {
            match self {
                Contract::Vanilla { exercise: Exercise::American, .. } => held.max(self.payoff(spot)),
                Contract::UpAndOut { level, .. } if spot >= *level => 0.0,
                _ => held,
            }
        }
    }

    let Some(contract) = Contract::new(kind, strike) else {
        return 0.0;
    };
    let dt = years / steps as f64;
    let up = (volatility * dt.sqrt()).exp();
    let down = 1.0 / up;
    let discount = (-rate * dt).exp();
    let chance = ((rate * dt).exp() - down) / (up - down);
    let node = |step: usize, ups: usize| spot * up.powi(2 * ups as i32 - step as i32);

    let mut values: Vec<f64> = (0..=steps).map(|ups| contract.payoff(node(steps, ups))).collect();
    for step in (0..steps).rev() {
        for ups in 0..=step {
            let held = discount * (chance * values[ups + 1] + (1.0 - chance) * values[ups]);
            values[ups] = contract.value(node(step, ups), held);
        }
    }
    values[0]
}

/// The value of a book of trades: kinds, strikes and how many.
#[differentiate(wrt(spot, volatility))]
fn book(trades: &[(u8, f64, f64)], spot: f64, volatility: f64) -> f64 {
    let mut total = 0.0;
    for &(kind, strike, amount) in trades {
        total += amount * price(kind, spot, strike, 0.05, volatility, 1.0, 20);
    }
    total
}

/// Black and Scholes for a share at 100, a strike of 100, 5 %, 20 % and a year, from any textbook.
#[test]
fn sensitivities_are_those_of_textbooks() {
    let (value, (delta, dual_delta, rho, vega)) = price_value_and_grad(CALL, 100.0, 100.0, 0.05, 0.2, 1.0, 1001);
    assert!((value - 10.4506).abs() < 3e-3, "{value}");
    assert!((delta - 0.6368).abs() < 1e-3, "{delta}");
    assert!((rho - 53.2325).abs() < 5e-2, "{rho}");
    assert!((vega - 37.5240).abs() < 5e-2, "{vega}");
    assert!((dual_delta + 0.5323).abs() < 1e-3, "{dual_delta}");
}

/// A call less a put is a share less the strike: for any tree.
#[test]
fn calls_and_puts_are_in_parity() {
    let call = price_grad(CALL, 90.0, 100.0, 0.03, 0.3, 2.0, 33);
    let put = price_grad(PUT, 90.0, 100.0, 0.03, 0.3, 2.0, 33);
    assert!((call.0 - put.0 - 1.0).abs() < 1e-10);
    assert!((call.1 - put.1 + (-0.06_f64).exp()).abs() < 1e-10);
    assert!((call.3 - put.3).abs() < 1e-9);
    // A contract that can be exercised early is worth more.
    assert!(price(AMERICAN_PUT, 90.0, 100.0, 0.03, 0.3, 2.0, 33) > price(PUT, 90.0, 100.0, 0.03, 0.3, 2.0, 33));
}

#[test]
fn differences_agree() {
    for kind in [CALL, PUT, AMERICAN_PUT, DIGITAL, SPREAD, BARRIER] {
        check_grad!(price(kind, 97.3, 101.0, 0.04, 0.25, 1.5, 9));
    }
    assert_eq!(price_grad(77, 97.3, 101.0, 0.04, 0.25, 1.5, 9), (0.0, 0.0, 0.0, 0.0));
    let trades = [(CALL, 95.0, 2.0), (AMERICAN_PUT, 101.0, -1.0), (SPREAD, 99.0, 3.0)];
    check_grad!(book(&trades, 98.2, 0.22));
}
