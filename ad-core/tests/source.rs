//! Random source programs through the front end: every stage preserves the meaning of the program,
//! in value and derivatives.
//!
//! `AD_CASES` sets the number of programs, `AD_SEED` the first seed; `AD_ONE=seed` shows one.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use common::modes;
use common::source::forms::{Form, all_forms, row};
use common::source::oracle::{self, Outcome};
use common::source::{Real, program};

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(default)
}

fn check(forms: &[Form], seed: u64) -> Result<Option<Outcome>, String> {
    let source = catch_unwind(AssertUnwindSafe(|| program(forms, seed)));
    let source = source.map_err(|e| format!("seed {seed}: the generator fails: {:?}", e.downcast_ref::<String>()))?;
    let result = catch_unwind(AssertUnwindSafe(|| oracle::stages_agree(&source)));
    let result = result.unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Err(text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).into())).unwrap_or_default())
    });
    let focus = forms[(seed % forms.len() as u64) as usize].text;
    result
        .map_err(|e| format!("seed {seed} (for `{focus}`): {e}\n#[differentiate({})]\n{}", source.options, source.text))
}

#[test]
fn every_stage_agrees_with_the_source() {
    modes::every_mode(|| {
        let forms = all_forms();
        let cases = number("AD_CASES", modes::share(1000));
        let first = number("AD_SEED", 0);
        let (mut wild, mut panics, mut kinds) = (0, 0, BTreeMap::new());
        let (mut uses, mut single): (BTreeMap<String, usize>, BTreeSet<String>) = Default::default();
        let mut control: BTreeMap<&str, usize> = BTreeMap::new();
        let mut failures = Vec::new();
        for seed in first..first + cases {
            match check(&forms, seed) {
                Ok(None) => wild += 1,
                Ok(Some(outcome)) => {
                    panics += u64::from(matches!(outcome, Outcome::Panics(_)));
                    let source = program(&forms, seed);
                    *kinds.entry(source.real.text()).or_insert(0) += 1;
                    for word in CONTROL.iter().filter(|word| source.text.contains(**word)) {
                        *control.entry(word).or_default() += 1;
                    }
                    if source.real == Real::F32 {
                        single.extend(source.uses.iter().cloned());
                    }
                    for row in source.uses {
                        *uses.entry(row).or_default() += 1;
                    }
                }
                Err(e) => failures.push(e),
            }
        }
        println!(
            "{} forms, {cases} programs, {wild} wild, {panics} that panic, {kinds:?}\n{uses:?}\n{control:?}",
            forms.len()
        );
        let (taken, refused) = modes::counts();
        println!("{}: {taken} programs taken, {refused} refused by name", modes::mode().name());
        let shown = number("AD_SHOWN", 4) as usize;
        assert!(
            failures.is_empty(),
            "{} failures\n{}",
            failures.len(),
            failures[..failures.len().min(shown)].join("\n")
        );
        // A program has three forms.
        if cases < forms.len() as u64 {
            return;
        }
        let rare: Vec<&&str> = CONTROL.iter().filter(|word| control.get(**word).copied().unwrap_or(0) < 3).collect();
        assert_eq!(rare, Vec::<&&str>::new(), "statements that random programs hardly have");
        assert!(wild * 20 < cases && panics * 20 < cases, "{wild} wild, {panics} panic");
        assert!(kinds[Real::F32.text()] * 10 > cases && kinds[Real::Param.text()] * 20 > cases, "{kinds:?}");
        if cases < 2 * forms.len() as u64 {
            return;
        }
        let rows = ad_oracle::documents::names();
        let named = rows.iter().map(|r| row(r.on, r.name));
        // Random terms have linear algebra and transforms (`props`).
        let in_terms = ["ad::linalg.", "ad::fft.", "function-of-a-common-name."];
        let linalg = |row: &str| in_terms.iter().any(|of| row.starts_with(of));
        let left_out = |row: &str, of: &[&str]| linalg(row) || LEFT_OUT.contains(&row) || of.contains(&row);
        let missing: Vec<String> = named.clone().filter(|row| !uses.contains_key(row) && !left_out(row, &[])).collect();
        assert_eq!(missing, Vec::<String>::new(), "rows of the front end's table that no random program has");
        let missing: Vec<String> = named.filter(|row| !single.contains(row) && !left_out(row, OF_PARAMETERS)).collect();
        assert_eq!(missing, Vec::<String>::new(), "rows that no random program in single precision has");
        let unknown: Vec<&String> = uses.keys().filter(|u| !rows.iter().any(|r| **u == row(r.on, r.name))).collect();
        assert_eq!(unknown, Vec::<&String>::new(), "rows that are not in the front end's table");
    });
}

/// Forms of control flow, of changes in loops, of types, functions and closures, for which the
/// table has no row.
const CONTROL: &[&str] = &[
    "while ",
    "loop {",
    "for ",
    ".rev()",
    "break;",
    "break '",
    "continue;",
    "continue '",
    "return ",
    "if ",
    "match ",
    " += ",
    " -= ",
    " *= ",
    "] = ",
    "] *= ",
    ".swap(",
    "std::mem::swap(",
    ".push(",
    "struct ",
    "impl ",
    "enum ",
    "matches!(",
    " else { continue };",
    "fn h",
    "impl Fn(",
    "&mut [",
    "&dyn Fn(",
    "Box<dyn Fn(",
    " move |",
    ": fn(",
];

/// Rows that the generator does not write, since the type of their result depends on the context.
/// Other tests cover them.
const LEFT_OUT: &[&str] = &["value.borrow", "value.as_ref", "iterator.iter"];

/// Rows for type parameters.
const OF_PARAMETERS: &[&str] = &["type.lit", "type.zero", "type.one"];

/// One program, to be run by hand: `AD_ONE=seed cargo test -p ad-core --test source one --
/// --nocapture`. `AD_MODE` names the mode.
#[test]
fn one() {
    let Ok(seed) = std::env::var("AD_ONE") else { return };
    let (forms, seed) = (all_forms(), seed.trim().parse().unwrap());
    let source = program(&forms, seed);
    println!("#[differentiate({})]\n{}{:?}", source.options, source.text, source.args);
    modes::every_mode(|| println!("{:?}", check(&forms, seed).unwrap_or_else(|e| panic!("{e}"))));
}
