//! What a gradient of a loop program costs, counted in the emitted program: the function and what the macro writes beside it are compiled
//! with counters and run at growing sizes. The gradient must cost a fixed number of times the function: no step costs anything in proportion
//! to an array of which it reads or writes an element. There are two counts:
//!
//! - operations on numbers, which is what a number type that counts would see (`ratios/numbers.rs`): five times the function's, for every program;
//! - all work: integers, conditions, and elements read, written and copied too (`ratios/count.rs`). A function may do less of it than of anything
//!   else (`pop` and a test in a step), and its derivative has to say for each step which one it was: the bound is wider, and the same for all.

#[path = "ratios/collect.rs"]
mod collect;
#[path = "ratios/count.rs"]
mod count;
#[path = "ratios/kinds.rs"]
mod kinds;
#[path = "ratios/numbers.rs"]
mod numbers;
#[path = "ratios/programs.rs"]
mod programs;

use std::fmt::Write as _;

/// Gradients at most so many times the function (issue 4).
const BOUND: f64 = 5.0;
/// All work at most so many times the function's, of programs that are not `tight`. (Most for a loop of little more than a sine: arguments and
/// results pass through the lanes of a block, where they are written and read once more; it takes a quarter of the time that it took without.)
const WORK: f64 = 10.0;
/// Where there are fewer items, lanes are computed for nothing.
const LANES: f64 = 16.0;
/// Work for each number of a gradient, beside: it is written even where the function does not look.
const RESULT: f64 = 4.0;
/// Operations on it.
const ADDED: f64 = 1.0;
/// Programs that save no more than so many numbers for each of their arguments: they read more than they overwrite.
const SAVED: [(&str, f64); 6] = [
    ("cholesky", 12.0),
    ("cholesky_by_elements", 12.0),
    ("three_arms", 8.0),
    ("intervals", 12.0),
    ("pairs_of_steps", 12.0),
    ("segments", 12.0),
];
/// By how much the ratio at the largest size may be above those at smaller ones. What is done once in a call counts less at larger sizes.
const GROWTH: f64 = 1.15;

#[test]
fn gradients_cost_a_fixed_number_of_times_the_function() {
    let programs: Vec<_> = programs::all().into_iter().chain(kinds::all()).collect();
    let (mut lib, mut main) = (String::from(count::PRELUDE), String::from("use ratios::*;\nfn main() {\n"));
    for p in &programs {
        let expansion = ad_core::expansion(proc_macro2::TokenStream::new(), p.item.clone());
        assert!(expansion.errors.is_empty(), "{}: {:?}", p.name, expansion.errors);
        lib.push_str(&count::instrumented(expansion.tokens, p.name));
        for n in p.sizes {
            writeln!(main, "measure(\"{}\", {n}, {}, {}_value_and_grad);", p.name, p.name, p.name)
                .expect("a string grows");
        }
    }
    main.push_str("}\n");
    let root = count::write("ratios", &lib, &main);
    let out = count::run(&root);
    let mut wrong = String::new();
    for p in &programs {
        let all = measured(&out, p.name);
        assert_eq!(all.len(), p.sizes.len(), "{}: {out}", p.name);
        println!("{:20} {}", p.name, shown(&all));
        // What is saved is at most what the function has read; a triangular loop saves in a rectangle.
        let most = &all[all.len() - 1];
        let gradient = if p.tight { 0.0 } else { most.size };
        if most.memory > 2.0 * most.work[0] + gradient {
            writeln!(wrong, "{}: {} numbers of memory for {} operations", p.name, most.memory, most.work[0])
                .expect("a string grows");
        }
        if SAVED.iter().any(|&(name, times)| name == p.name && most.memory > times * most.size) {
            writeln!(wrong, "{}: {} numbers of memory for {} arguments", p.name, most.memory, most.size)
                .expect("a string grows");
        }
        for m in all.iter().filter(|m| m.above_the_law(1.0) || (p.tight && m.work[1] > BOUND * m.work[0])) {
            writeln!(wrong, "{}: {m:?}", p.name).expect("a string grows");
        }
        if grows(&all, if p.tight { 0.0 } else { 1.0 }) {
            writeln!(wrong, "{} grows: {}", p.name, shown(&all)).expect("a string grows");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A function and its gradient at a size.
#[derive(Debug)]
struct Measured {
    size: f64,
    /// All work of each.
    work: [f64; 2],
    /// Operations on numbers of each.
    numbers: [f64; 2],
    /// Numbers of memory that the gradient makes.
    memory: f64,
}

impl Measured {
    /// Whether the gradient costs more than it may, with so many arguments of this size.
    fn above_the_law(&self, arguments: f64) -> bool {
        self.numbers[1] > BOUND * self.numbers[0] + ADDED * self.size * arguments
            || self.work[1] > WORK * self.work[0] * (LANES / self.size).max(1.0) + RESULT * self.size * arguments
    }
}

/// What has been printed of a program.
fn measured(out: &str, name: &str) -> Vec<Measured> {
    let lines = out.lines().filter_map(|l| l.strip_prefix(name)?.strip_prefix(' '));
    let of = |line: &str| {
        let row: Vec<f64> = line.split(' ').map(|n| n.parse().expect("a number")).collect();
        let [size, f, g, memory, of_f, of_g] = row[..] else { panic!("{name}: {line}") };
        Measured { size, work: [f, g], numbers: [of_f, of_g], memory }
    };
    lines.map(of).collect()
}

/// The ratios.
fn shown(all: &[Measured]) -> String {
    let ratio = |[f, g]: [f64; 2]| g / f;
    let work: Vec<f64> = all.iter().map(|m| ratio(m.work)).collect();
    let numbers: Vec<f64> = all.iter().map(|m| ratio(m.numbers)).collect();
    let sizes: Vec<f64> = all.iter().map(|m| m.size).collect();
    let last = all.last().map(|m| (m.work, m.numbers));
    format!("{sizes:?}: numbers {numbers:.2?}, work {work:.2?}, at last {last:?}")
}

/// Whether one of the ratios grows with the size, without what is done for each number of `arguments` gradients.
fn grows(all: &[Measured], arguments: f64) -> bool {
    let [before @ .., last] = all else { return false };
    let work = |m: &Measured| (m.work[1] - RESULT * m.size * arguments) / m.work[0];
    let numbers = |m: &Measured| (m.numbers[1] - ADDED * m.size * arguments) / m.numbers[0];
    let grow = |ratio: &dyn Fn(&Measured) -> f64| {
        before.len() > 1 && ratio(last) > before.iter().map(ratio).fold(0.0, f64::max) * GROWTH
    };
    grow(&work) || grow(&numbers)
}

/// The loop programs of the other tests, at the sizes for which they run.
#[test]
fn collected_gradients_cost_a_fixed_number_of_times_the_function() {
    let programs = collect::all();
    let (mut lib, mut main) = (String::from(count::PRELUDE), String::from("use collected::*;\nfn main() {\n"));
    main.push_str("std::panic::set_hook(Box::new(|_| {}));\n");
    let mut counted = Vec::new();
    for p in &programs {
        let expansion = ad_core::expansion(proc_macro2::TokenStream::new(), p.item.clone());
        // Tests of messages.
        if !expansion.errors.is_empty() {
            continue;
        }
        counted.push(p);
        lib.push_str(&count::instrumented(expansion.tokens, &p.name));
        let (name, args) = (&p.name, p.arguments.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
        writeln!(main, "growing(\"{name}\", |n| {name}({args}), |n| {name}_value_and_grad({args}).0);")
            .expect("a string grows");
    }
    main.push_str("}\n");
    let root = count::write("collected", &lib, &main);
    let out = count::run(&root);
    let mut wrong = String::new();
    let mut found = 0;
    for p in &counted {
        let all = measured(&out, &p.name);
        println!("{:30} {:30} {}", p.name, p.place, shown(&all));
        found += usize::from(!all.is_empty());
        // A gradient has an element for each number of the arguments, read or not.
        let arguments = p.arguments.len() as f64;
        if let Some(m) = all.iter().find(|m| m.above_the_law(arguments)) {
            writeln!(wrong, "{} of {}: {m:?} {}: {}", p.name, p.place, shown(&all), p.item).expect("a string grows");
        }
        if grows(&all, arguments) {
            writeln!(wrong, "{} of {} grows: {}: {}", p.name, p.place, shown(&all), p.item).expect("a string grows");
        }
    }
    println!("{found} of {} that are collected", counted.len());
    assert!(wrong.is_empty(), "{wrong}");
}
