//! What a gradient of a loop program costs, counted in the emitted program: the function and what the macro writes beside it are compiled
//! with a counter in each block (`ratios/count.rs`) and run at growing sizes. The gradient must cost a fixed number of times the function:
//! no step costs anything in proportion to an array of which it reads or writes an element.

#[path = "ratios/count.rs"]
mod count;
#[path = "ratios/programs.rs"]
mod programs;

use std::fmt::Write as _;

/// Gradients at most so many times the function (issue 4).
const BOUND: f64 = 5.0;
/// Not right yet, and how far: where the steps of an inner loop that stops early are saved, the loops are run once more before, to count them.
const ABOVE: [(&str, f64); 1] = [("insertion_sort", 5.3)];
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
    let root = count::write(&lib, &main);
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
        let bound = ABOVE.iter().find(|a| a.0 == p.name).map_or(BOUND, |a| a.1);
        if last > bound || last > ratios[0].max(ratios[1]) * GROWTH {
            writeln!(wrong, "{} at {:?}: {ratios:?}", p.name, p.sizes).expect("a string grows");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
