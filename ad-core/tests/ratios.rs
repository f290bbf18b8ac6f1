//! The cost of the gradient of a program, counted in the emitted program: the function and its
//! derivatives are compiled with counters and run at growing sizes. The gradient must cost at most
//! a fixed multiple of the function (`ratios/law.rs`): a step that reads or writes an element of an
//! array must not cost time proportional to the array. There are three counts:
//!
//! - operations on numbers, as a counting number type would see them (`ratios/numbers.rs`): at most
//!   five times the function's, for every program;
//! - all work: integers, conditions, and elements read, written and copied too (`ratios/count.rs`).
//!   A step of a function may do very little work (`pop` and a test), and its derivative has to
//!   record which step ran, so this bound is wider. It is the same for all programs;
//! - bytes that are allocated at one time, by a counting allocator: at most a value and a cotangent
//!   for each number that the function has in memory, and twice the bytes that it has lost. A value
//!   is lost if it is overwritten or dropped, or if an operation on it is not linear; so are all
//!   arrays of the function. The operands of a product of arrays are counted, its terms are not.
//!
//! The formulas in the documentation of some derivatives must agree with the first count
//! (`ratios/formulas.rs`).
//!
//! Kernels and the methods of ndarray are counted as the loops that they are (`ratios/counting`).
//!
//! `AD_ONLY=name` counts only the programs whose names contain this text. `AD_MODE=name` counts
//! another algorithm than the default one.

#[path = "ratios/added_elements.rs"]
mod added_elements;
#[path = "ratios/collect.rs"]
mod collect;
#[path = "ratios/count.rs"]
mod count;
#[path = "ratios/formulas.rs"]
mod formulas;
#[path = "ratios/groups.rs"]
mod groups;
#[path = "ratios/growing_rows.rs"]
mod growing_rows;
#[path = "ratios/integer_tables.rs"]
mod integer_tables;
#[path = "ratios/jacobians.rs"]
mod jacobians;
#[path = "ratios/kinds.rs"]
mod kinds;
#[path = "ratios/law.rs"]
mod law;
#[path = "ratios/misses.rs"]
mod misses;
#[path = "ratios/numbers.rs"]
mod numbers;
#[path = "ratios/programs.rs"]
mod programs;
#[path = "ratios/recursive.rs"]
mod recursive;
#[path = "ratios/seldom.rs"]
mod seldom;
#[path = "ratios/shapes.rs"]
mod shapes;
#[path = "ratios/stacks.rs"]
mod stacks;
#[path = "ratios/table.rs"]
mod table;
#[path = "ratios/windows.rs"]
mod windows;

use std::fmt::Write as _;

use ad_core::catalogue::reached::PAST_CAPACITY;
use law::{BOUND, breach, grows, measured, shown};

/// Programs that save at most this many numbers for each of their arguments: they read more than
/// they overwrite.
const SAVED: [(&str, f64); 8] = [
    ("cholesky", 12.0),
    ("cholesky_by_elements", 12.0),
    ("three_arms", 8.0),
    ("intervals", 12.0),
    ("pairs_of_steps", 12.0),
    ("segments", 12.0),
    ("gauss_elimination", 12.0),
    ("parts_from_behind", 12.0),
];

/// The arguments of the attribute.
fn attribute() -> proc_macro2::TokenStream {
    std::env::var("AD_MODE").map_or_else(|_| proc_macro2::TokenStream::new(), |mode| quote::quote!(mode = #mode))
}

/// Whether the algorithm takes a program. The default one takes all of them.
fn taken(item: &proc_macro2::TokenStream) -> bool {
    attribute().is_empty() || ad_core::expansion(attribute(), item.clone()).errors.is_empty()
}

/// Whether a program of this name is counted.
fn wanted(name: &str) -> bool {
    std::env::var("AD_ONLY").map_or(true, |only| name.contains(&only))
}

#[test]
fn gradients_cost_a_fixed_number_of_times_the_function() {
    let all = [
        programs::all(),
        kinds::all(),
        shapes::all(),
        stacks::all(),
        seldom::all(),
        groups::all(),
        windows::all(),
        growing_rows::all(),
        integer_tables::all(),
        added_elements::all(),
        recursive::all(),
        table::all(),
    ];
    let programs: Vec<_> = all.into_iter().flatten().filter(|p| wanted(p.name) && taken(&p.item)).collect();
    let (mut lib, mut main) = (String::from(count::PRELUDE), String::from("use ratios::*;\nfn main() {\n"));
    for p in &programs {
        let expansion = ad_core::expansion(attribute(), p.item.clone());
        assert!(expansion.errors.is_empty(), "{}: {:?}", p.name, expansion.errors);
        lib.push_str(&count::instrumented(expansion.tokens, p.name, count::GRADIENT));
        for n in p.sizes {
            writeln!(main, "measure(\"{}\", {n}, {}, {}_value_and_grad);", p.name, p.name, p.name)
                .expect("a string grows");
        }
    }
    main.push_str("}\n");
    let root = count::write("ratios", &lib, &main);
    let out = count::run(&root, "emit-target");
    let (mut verdict, mut known) = (Verdict::default(), 0);
    for p in &programs {
        let all = measured(&out, p.name);
        assert_eq!(all.len(), p.sizes.len(), "{}: {out}", p.name);
        println!("{:20} {}", p.name, shown(&all));
        let counts: Vec<(f64, [f64; 2])> = all.iter().map(|m| (m.size, m.numbers)).collect();
        if attribute().is_empty() {
            let tokens = ad_core::expansion(attribute(), p.item.clone()).tokens;
            let disagreements = formulas::disagreements(p.name, tokens, &counts);
            known += usize::from(disagreements.is_some());
            verdict.wrong.extend(disagreements.unwrap_or_default());
        }
        // A program without the allowance for each argument: all of its work counts.
        let tight = p.tight && (all.iter().any(|m| m.work[1] > BOUND * m.work[0]) || grows(&all, 0.0));
        let most = &all[all.len() - 1];
        let saved = SAVED.iter().any(|&(name, times)| name == p.name && most.bytes[1] > 8.0 * times * most.size);
        let breach = breach(&all, 1.0).or_else(|| (tight || saved).then(|| shown(&all)));
        verdict.add(p.name, &p.item.to_string(), breach);
    }
    println!("{known} of {} have formulas of their sizes", programs.len());
    verdict.end();
}

/// The programs of the other tests, at the sizes for which they run.
#[test]
fn collected_gradients_cost_a_fixed_number_of_times_the_function() {
    let programs: Vec<_> = collect::all().into_iter().filter(|p| wanted(&p.name)).collect();
    let (mut lib, mut main) = (String::from(count::PRELUDE), String::from("#![allow(warnings)]\nuse collected::*;\n"));
    main.push_str("fn main() {\nquiet();\n");
    let mut counted = Vec::new();
    for p in &programs {
        let expansion = ad_core::expansion(attribute(), p.item.clone());
        // Tests of messages.
        if !expansion.errors.is_empty() {
            continue;
        }
        counted.push(p);
        lib.push_str(&count::instrumented(expansion.tokens, &p.name, count::GRADIENT));
        let (name, args) = (&p.name, p.arguments.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
        let axes = p.axes;
        writeln!(
            main,
            "arguments::counted_at_scales((\"{name}\", {PAST_CAPACITY:?}), {axes}, |sizes| {name}({args}), \
             |sizes| {name}_value_and_grad({args}).0);"
        )
        .expect("a string grows");
    }
    main.push_str("}\n");
    let root = count::write("collected", &lib, &main);
    let out = count::run(&root, "emit-target");
    let mut verdict = Verdict { collected: true, ..Verdict::default() };
    let wrong = out.lines().filter(|l| l.starts_with("wrong:")).map(ToString::to_string);
    verdict.wrong.extend(wrong);
    let mut found = 0;
    for p in &counted {
        let all = measured(&out, &p.name);
        println!("{:30} {:30} {}", p.name, p.place, shown(&all));
        found += usize::from(!all.is_empty());
        let breach = breach(&all, 1.0);
        verdict.add(&p.name, &format!("{} of {}", p.item, p.place), breach);
    }
    // The others panic, or take too long, for all arguments that are tried.
    let none: Vec<&str> = out.lines().filter_map(|l| l.strip_prefix("none: ")).collect();
    println!("{found} of {} that are collected; without: {none:#?}", counted.len());
    assert_eq!(found + none.len(), counted.len());
    assert!(found > 250 || std::env::var_os("AD_ONLY").is_some(), "{found} programs are collected");
    verdict.end();
}

/// The programs that break the law, and the known misses among them.
#[derive(Default)]
struct Verdict {
    /// Whether they are programs of other tests.
    collected: bool,
    wrong: Vec<String>,
    missed: Vec<usize>,
}

impl Verdict {
    fn add(&mut self, name: &str, text: &str, breach: Option<String>) {
        let Some(breach) = breach else { return };
        match misses::cause(text, self.collected) {
            Some(k) => self.missed.push(k),
            None => self.wrong.push(format!("{name}: {breach}: {text}")),
        }
    }

    /// A known miss of these programs that keeps the law has to leave the list.
    fn end(self) {
        let mut mended = misses::mended(&self.missed, self.collected);
        if std::env::var_os("AD_ONLY").is_some() {
            mended.clear();
        }
        assert!(
            mended.is_empty() && self.wrong.is_empty(),
            "these keep the law now: {mended:?}; these do not:\n{}",
            self.wrong.join("\n")
        );
    }
}
