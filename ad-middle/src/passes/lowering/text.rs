//! Lowered terms as text, for `AD_DUMP` and tests: the roots, and then each loop with what it
//! carries and saves. A leaf has a name with the number of its loop.

use ad_ir::sorted::SortedMap;
use std::fmt::Write as _;

use super::LoweredGraph;
use super::opened::{Loop, RowGrowth};
use ad_ir::ir::{Graph, Term, print};

impl LoweredGraph {
    /// The lowered form of these roots.
    #[must_use]
    pub fn text(&self, g: &Graph, roots: &[Term], hints: &SortedMap<Term, String>) -> String {
        let mut names: SortedMap<Term, String> = SortedMap::new();
        for (t, name) in hints {
            names.insert(self.new.get(t).copied().unwrap_or(*t), name.clone());
        }
        for (n, l) in (1..).zip(&self.loops.all) {
            names.insert(l.step, format!("step{n}"));
            for (k, c) in l.carries.iter().enumerate() {
                names.insert(c.now, format!("now{n}_{k}"));
                names.insert(c.last, format!("last{n}_{k}"));
            }
            for (k, r) in l.rows.iter().enumerate() {
                names.insert(r.all, format!("rows{n}_{k}"));
            }
        }
        let roots: Vec<Term> = roots.iter().map(|t| self.new[t]).collect();
        let mut text = print::print(g, &roots, &names);
        for (n, l) in (1..).zip(&self.loops.all) {
            let _ = writeln!(text, "loop {n}:");
            for (what, t) in parts(n, l) {
                let value = print::print(g, &[t], &names);
                // A value of several lines is below its name.
                match value.trim().split_once('\n') {
                    None => drop(writeln!(text, "  {what} {}", value.trim())),
                    Some(_) => drop(writeln!(text, "  {what}\n    {}", value.trim().replace('\n', "\n    "))),
                }
            }
        }
        text
    }
}

/// The terms of a loop, each with the words that are printed before it.
fn parts(n: usize, l: &Loop) -> Vec<(String, Term)> {
    let way = if l.reverse { "from the last step of" } else { "steps:" };
    let mut parts = vec![(way.to_string(), l.count)];
    if l.steps != l.count {
        parts.push(("at most".into(), l.steps));
    }
    parts.extend(l.stop.map(|t| ("until".into(), t)));
    for (k, c) in l.carries.iter().enumerate() {
        parts.push((format!("now{n}_{k} first"), c.init));
        parts.push((format!("now{n}_{k} then"), c.next));
    }
    for (k, r) in l.rows.iter().enumerate() {
        let how = match r.how {
            RowGrowth::None => "of",
            RowGrowth::Steps(None) => "grows by",
            RowGrowth::Steps(Some(_)) => "continues with",
            RowGrowth::Inner => "grows by the rows",
        };
        parts.push((format!("rows{n}_{k} {how}"), r.row));
        parts.extend(r.under.map(|t| ("  under".into(), t)));
    }
    parts
}
