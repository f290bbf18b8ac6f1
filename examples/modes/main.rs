//! One function, differentiated four ways, and three functions that only dual numbers take: of a
//! tree, of a map and of a trait object.
//!
//! ```text
//! cargo run -p ad-tests --example modes
//! ```
//!
//! The attribute is the compiler in a macro. Here it is also called as a library, with the same
//! tokens, to print the program that each mode writes for value and gradient.

use std::collections::HashMap;
use std::error::Error;

use ad::prelude::*;
use quote::quote;

/// The same function in each mode, and its text.
macro_rules! in_each_mode {
    ($(#[mode = $mode:tt] $name:ident $gradient:ident;)* fn $same:ident $params:tt -> $result:ty $body:block) => {
        $(
            #[differentiate(mode = $mode)]
            fn $name<T: Real> $params -> $result $body
        )*

        /// The modes, with the value and the gradient at one place.
        fn by_each_mode(x: &Array1<f64>, w: f64) -> Vec<(&'static str, Gradient)> {
            vec![$(($mode, $gradient(x, w))),*]
        }

        const FUNCTION: &str = stringify!(fn $same<T: Real> $params -> $result $body);
    };
}

type Gradient = (f64, (Array1<f64>, f64));

in_each_mode! {
    #[mode = "dual_arrays"] by_arrays by_arrays_value_and_grad;
    #[mode = "unf"] by_steps by_steps_value_and_grad;
    #[mode = "chad"] by_pairs by_pairs_value_and_grad;
    #[mode = "dual_numbers"] by_numbers by_numbers_value_and_grad;

    fn energy(x: &Array1<T>, w: T) -> T {
        let mut y = w;
        for i in 0..x.len() {
            y = y + (x[i] * y).sin();
        }
        y * w
    }
}

/// The program for value and gradient that a mode writes, without its attributes.
fn program(mode: &str) -> Result<String, Box<dyn Error>> {
    let written = ad_core::expand(quote!(grad, mode = #mode), FUNCTION.parse()?);
    let file: syn::File = syn::parse2(written)?;
    let wanted = file.items.into_iter().find_map(|item| match item {
        syn::Item::Fn(function) if function.sig.ident == "energy_value_and_grad" => Some(function),
        _ => None,
    });
    let mut function = wanted.ok_or("the function has a gradient")?;
    function.attrs.clear();
    let text = prettyplease::unparse(&syn::parse_quote!(#function));
    // Names that the compiler makes end in `_`, and paths begin at the crate.
    Ok(text.replace("::ad::runtime::", "").replace("::ad::", "").replace("::core::", ""))
}

/// Two texts beside each other.
fn beside(left: &str, right: &str) -> String {
    let width = left.lines().map(|line| line.chars().count()).max().unwrap_or_default();
    let (mut left, mut right, mut all) = (left.lines(), right.lines(), String::new());
    loop {
        match (left.next(), right.next()) {
            (None, None) => return all,
            (a, b) => {
                let (a, b) = (a.unwrap_or_default(), b.unwrap_or_default());
                all.push_str(format!("{a:width$} | {b}").trim_end());
                all.push('\n');
            }
        }
    }
}

/// A tree with a number at each leaf.
#[derive(Clone, Debug, Differentiable)]
enum Tree<T: Real> {
    Leaf(T),
    Node(Box<Tree<T>>, Box<Tree<T>>),
}

impl<T: Real> Tree<T> {
    fn product(&self) -> T {
        match self {
            Tree::Leaf(x) => *x,
            Tree::Node(a, b) => a.product() * b.product(),
        }
    }
}

#[differentiate(mode = "dual_numbers")]
fn of_a_tree<T: Real>(tree: &Tree<T>) -> T {
    tree.product()
}

/// What is in a basket, by the prices of its goods.
#[differentiate(wrt(prices), mode = "dual_numbers")]
fn of_a_map<T: Real>(prices: &HashMap<String, T>, basket: &[&str]) -> T {
    let sum: T = basket.iter().map(|goods| prices[*goods]).sum();
    if sum > T::lit(5.0) { sum * T::lit(0.9) } else { sum }
}

trait Shape<T> {
    fn area(&self) -> T;
}

struct Square<T>(T);

struct Circle<T>(T);

impl<T: Real> Shape<T> for Square<T> {
    fn area(&self) -> T {
        self.0 * self.0
    }
}

impl<T: Real> Shape<T> for Circle<T> {
    fn area(&self) -> T {
        T::lit(std::f64::consts::PI) * self.0 * self.0
    }
}

#[differentiate(mode = "dual_numbers")]
fn of_an_object<T: Real>(size: T, round: bool) -> T {
    let shape: Box<dyn Shape<T>> = if round { Box::new(Circle(size)) } else { Box::new(Square(size)) };
    shape.area()
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", prettyplease::unparse(&syn::parse_str(FUNCTION)?));
    let x = array![0.5, 1.0, 2.0];
    let all = by_each_mode(&x, 0.3);
    // Modes that write the same program are one column.
    let mut columns: Vec<(String, String)> = Vec::new();
    for (mode, _) in &all {
        let text = program(mode)?;
        match columns.iter_mut().find(|column| column.1 == text) {
            Some((modes, _)) => *modes = format!("{modes}, {mode}"),
            None => columns.push((mode.to_string(), text)),
        }
    }
    let columns: Vec<String> = columns.iter().map(|(modes, text)| format!("// {modes}\n{text}")).collect();
    for pair in columns.chunks(2) {
        match pair {
            [left, right] => println!("{}", beside(left, right)),
            _ => println!("{}", pair.concat()),
        }
    }
    for (mode, (value, (dx, dw))) in all {
        println!("{mode:12}  value {value:.6}  by x {dx:.6}  by w {dw:.6}");
    }

    let leaf = |x| Box::new(Tree::Leaf(x));
    let tree = Tree::Node(leaf(2.0), Box::new(Tree::Node(leaf(3.0), leaf(4.0))));
    println!("\nthe product of a tree, by its leaves: {:?}", of_a_tree_grad(&tree));
    let prices = HashMap::from([("tea".to_string(), 2.5), ("milk".to_string(), 1.0)]);
    let by_prices = of_a_map_grad(&prices, &["tea", "tea", "milk"]);
    println!("a basket, by the prices of tea and of milk: {} and {}", by_prices["tea"], by_prices["milk"]);
    println!(
        "the area of a square and of a circle, by the size: {} and {:.4}",
        of_an_object_grad(3.0, false),
        of_an_object_grad(3.0, true)
    );
    Ok(())
}

#[test]
fn all_modes_agree_and_write_programs_of_their_own() {
    let all = by_each_mode(&array![0.5, 1.0, 2.0], 0.3);
    let (_, (value, (dx, dw))) = &all[0];
    let mut programs = Vec::new();
    for (mode, (same, (by_x, by_w))) in &all {
        assert!(
            (value - same).abs() < 1e-14 && (dx - by_x).iter().all(|d| d.abs() < 1e-14) && (dw - by_w).abs() < 1e-14
        );
        programs.push(program(mode).expect("a program"));
    }
    // The simplifier makes nearly the same program of three derivations. Dual numbers call the
    // function.
    assert!(programs.iter().all(|text| text.contains("fn energy_value_and_grad")));
    assert!(programs[3].contains("energy::<") && !programs[..3].iter().any(|text| text.contains("energy::<")));
}
