//! What a gradient of a loop program costs, counted in the emitted program: the function and what the macro writes beside it are compiled
//! with a counter in each block (`ratios/count.rs`) and run at growing sizes. The gradient must cost a fixed number of times the function:
//! no step costs anything in proportion to an array of which it reads or writes an element.

#[path = "ratios/collect.rs"]
mod collect;
#[path = "ratios/count.rs"]
mod count;
#[path = "ratios/programs.rs"]
mod programs;

use std::fmt::Write as _;

/// Gradients at most so many times the function (issue 4).
const BOUND: f64 = 5.0;
/// Of the collected ones, by what is in them, and how far: a `Vec` that a `while` makes longer (the loop is run once more for how long it gets), few
/// operations under many conditions; a `Vec` that is pushed to behind a loop or in an arm of a step (it is copied into more room each time);
/// recurrences of items in blocks, which count lane by lane what is one instruction for several lanes (llsq takes less time than the function).
const COLLECTED_ABOVE: [(&str, f64); 17] = [
    ("v . push (7.0 * x [i])", 8.0),
    ("v . push (a * 4.0)", 8.0),
    ("v . push ((* a , 5))", 8.0),
    ("s += x [k + j] ; } k += 1", 8.0),
    ("r -= x [j] * power ; power *= t", 6.0),
    ("r -= v * p ; p *= t", 6.0),
    ("g += h . sin () * v", 7.0),
    ("'outer : for i in 0 .. x . len ()", 9.0),
    ("h *= 1.5 ; } ts . push (t)", 11.0),
    ("powi (2) * s . cos ()", 6.0),
    ("for j in i + 1 .. n { s += x [i] * x [j] ; }", 6.0),
    ("y . push (s + 1.0)", 8.0),
    ("v [v . len () - 1 - j % v . len ()]", 6.0),
    ("stack . pop () { s = s * v + 1.0", 8.5),
    ("if y < 0.3 { v . push (y * y) ; }", 9.0),
    ("while y < 3.0 { y += x [0]", 9.0),
    ("n /= 2", 7.0),
];
/// Operations for each number of a gradient, beside: it is written even where the function does not look.
const RESULT: f64 = 4.0;
/// By how much the ratio at a size may be above that at the smallest one. What is done once in a call counts less at larger sizes.
const GROWTH: f64 = 1.15;

#[test]
fn gradients_cost_a_fixed_number_of_times_the_function() {
    let programs = programs::all();
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
        let lines = out.lines().filter_map(|l| l.strip_prefix(p.name)?.strip_prefix(' '));
        let all: Vec<Vec<f64>> = lines.map(|l| l.split(' ').map(|n| n.parse().expect("a number")).collect()).collect();
        assert_eq!(all.len(), p.sizes.len(), "{}: {out}", p.name);
        let ratio = |row: &Vec<f64>| row[2] / row[1];
        let ratios: Vec<f64> = all.iter().map(ratio).collect();
        println!(
            "{:20} {:?}: {ratios:.2?}, memory {:?}",
            p.name,
            p.sizes,
            all.iter().map(|r| r[3]).collect::<Vec<_>>()
        );
        let last = ratios[ratios.len() - 1];
        // What is saved is at most what the function has read; a triangular loop saves in a rectangle.
        let most = &all[all.len() - 1];
        if most[3] > 2.0 * most[1] {
            writeln!(wrong, "{}: {} numbers of memory for {} operations", p.name, most[3], most[1])
                .expect("a string grows");
        }
        if last > BOUND || last > ratios[0].max(ratios[1]) * GROWTH {
            writeln!(wrong, "{} at {:?}: {ratios:?}", p.name, p.sizes).expect("a string grows");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
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
    let mut measured = 0;
    for p in &counted {
        let lines = out.lines().filter_map(|l| l.strip_prefix(&p.name)?.strip_prefix(' '));
        let all: Vec<Vec<f64>> = lines.map(|l| l.split(' ').map(|n| n.parse().expect("a number")).collect()).collect();
        let ratios: Vec<f64> = all.iter().map(|row| row[2] / row[1]).collect();
        println!(
            "{:30} {:30} {:?}: {ratios:.2?}",
            p.name,
            p.place,
            all.iter().map(|r| (r[0], r[1], r[2])).collect::<Vec<_>>()
        );
        measured += usize::from(!all.is_empty());
        // A gradient has an element for each number of the arguments, read or not.
        let text = p.item.to_string();
        let bound = COLLECTED_ABOVE.iter().find(|a| text.contains(a.0)).map_or(BOUND, |a| a.1);
        let above = |row: &&Vec<f64>| row[2] > bound * row[1] + RESULT * row[0] * p.arguments.len() as f64;
        if let Some(row) = all.iter().find(above) {
            let excess = (row[2] - BOUND * row[1]) / row[0];
            writeln!(wrong, "{} of {}: {ratios:.2?} {:?} {excess:.2}: {}", p.name, p.place, row, p.item)
                .expect("a string grows");
        }
    }
    println!("{measured} of {} that are collected", counted.len());
    assert!(wrong.is_empty(), "{wrong}");
}
