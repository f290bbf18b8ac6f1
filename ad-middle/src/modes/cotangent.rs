//! Cotangents with the zeros that are known in them, and their sums. Every algorithm that sends
//! cotangents backwards adds them up here, so that a mask of an arm that is not taken is kept in
//! the same way by all. This module must never know where a cotangent comes from.

use super::condition::{self, wrap, zero_arm};
use super::linear::{KnownZeros, hidden_mask};
use ad_ir::ir::{Graph, Term};

/// A cotangent, and the known zeros in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cotangent {
    pub(crate) term: Term,
    pub(crate) masked: KnownZeros,
}

impl Cotangent {
    /// The known zeros after an operation on the term.
    pub(crate) fn hidden(self, g: &Graph) -> KnownZeros {
        if zero_arm(g, self.term).is_some() { KnownZeros::Arm } else { hidden_mask(g, self.term, self.masked) }
    }
}

/// The sum of cotangents. Conditionals on one condition are merged, so that an arm that is not
/// taken costs nothing.
pub(crate) fn add(g: &mut Graph, before: Option<Cotangent>, ct: Cotangent) -> Cotangent {
    let Some(before) = before else { return ct };
    // A sum is a masked zero only where both summands are, for whatever reason. If one condition
    // masks both, it is at the root of the sum as well, so it is not hidden.
    let under = |ct: Cotangent| zero_arm(g, ct.term).map(|arm| arm.0);
    let masked = match (under(before), under(ct)) {
        (Some(one), Some(other)) if one == other => {
            hidden_mask(g, before.term, before.masked).min(hidden_mask(g, ct.term, ct.masked))
        }
        _ => before.hidden(g).min(ct.hidden(g)),
    };
    Cotangent { term: condition::add(g, before.term, ct.term), masked }
}

/// Applies a linear operation inside of a conditional that has a zero arm, so that an arm that is
/// not taken costs nothing.
pub(crate) fn commute(g: &mut Graph, ct: Term, operation: &dyn Fn(&mut Graph, Term) -> Term) -> Term {
    match zero_arm(g, ct) {
        Some((guard, arm)) => {
            let term = commute(g, arm, operation);
            wrap(g, term, guard)
        }
        None => operation(g, ct),
    }
}
