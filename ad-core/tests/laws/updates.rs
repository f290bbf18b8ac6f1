//! Random loops that update elements of a matrix and read many more elements than they write. The
//! derivative restores the former states that it needs. These tests do not depend on how it does
//! so.

use std::fmt::Write as _;

use super::{Rng, Value, differentiated, number};

/// A program under construction.
struct Writer<'r> {
    rng: &'r mut Rng,
    text: String,
    /// The names of integers below `n`.
    places: Vec<String>,
    /// The names of numbers.
    numbers: Vec<String>,
    next: usize,
}

impl Writer<'_> {
    fn name(&mut self, prefix: &str) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    fn place(&mut self) -> String {
        let (p, q) = (self.rng.pick(&self.places).clone(), self.rng.pick(&self.places).clone());
        match self.rng.below(6) {
            0 => format!("n - 1 - {p}"),
            1 => format!("({p} + {q} + 1) % n"),
            2 => "0".into(),
            _ => p,
        }
    }

    fn read(&mut self) -> String {
        let (p, q) = (self.place(), self.place());
        match self.rng.below(4) {
            0 => format!("x[{p}]"),
            _ => format!("a[[{p}, {q}]]"),
        }
    }

    fn number(&mut self) -> String {
        if self.numbers.is_empty() || self.rng.chance(40) { self.read() } else { self.rng.pick(&self.numbers).clone() }
    }

    fn condition(&mut self) -> String {
        let (p, q) = (self.place(), self.place());
        match self.rng.below(3) {
            0 => format!("{p} < {q}"),
            1 => format!("({p} + {q}) % 2 == 0"),
            _ => format!("x[{p}] > 0.2"),
        }
    }

    fn update(&mut self) {
        let (p, q) = (self.place(), self.place());
        let (e, f) = (self.number(), self.number());
        let _ = match self.rng.below(4) {
            0 => writeln!(self.text, "a[[{p}, {q}]] += ({e} * {f}).sin();"),
            1 => writeln!(self.text, "a[[{p}, {q}]] *= ({e}).cos();"),
            _ => writeln!(self.text, "a[[{p}, {q}]] = ({e} * 0.7 + {f}).tanh();"),
        };
    }

    fn statement(&mut self, depth: usize) {
        match self.rng.below(if depth == 0 { 4 } else { 7 }) {
            0 | 1 => self.update(),
            // All elements of a row, or those before an index.
            2 => {
                let (s, p, q) = (self.name("s"), self.place(), self.place());
                let _ = if self.rng.chance(50) {
                    writeln!(self.text, "let {s} = a.row({p}).dot(&a.row({q}));")
                } else {
                    writeln!(self.text, "let {s} = a.row({p}).slice(s![..{q}]).sum();")
                };
                self.numbers.push(s);
            }
            3 => {
                let (s, k, p, end) = (self.name("s"), self.name("k"), self.place(), self.place());
                self.places.push(k.clone());
                let (e, f) = (self.number(), self.number());
                self.places.pop();
                let _ = writeln!(
                    self.text,
                    "let mut {s} = 0.1; for {k} in 0..{end} {{ {s} = {s} * 0.5 + a[[{p}, {k}]] * {e} - {f}; }}"
                );
                self.numbers.push(s);
            }
            4 => {
                let c = self.condition();
                let _ = writeln!(self.text, "if {c} {{");
                self.block(depth - 1);
                self.text.push_str("} else {\n");
                if self.rng.chance(60) {
                    self.block(depth - 1);
                }
                self.text.push_str("}\n");
            }
            5 => {
                let p = self.place();
                let _ = writeln!(self.text, "match ({p}) % 3 {{");
                for arm in ["0 => {\n", "1 => {\n", "_ => {\n"] {
                    self.text.push_str(arm);
                    self.block(0);
                    self.text.push_str("}\n");
                }
                self.text.push_str("}\n");
            }
            _ => {
                let (j, end) = (self.name("j"), self.place());
                let end = if self.rng.chance(50) { "n".into() } else { end };
                let _ = writeln!(self.text, "for {j} in 0..{end} {{");
                self.places.push(j);
                self.block(depth - 1);
                self.places.pop();
                self.text.push_str("}\n");
            }
        }
    }

    fn block(&mut self, depth: usize) {
        let known = self.numbers.len();
        for _ in 0..1 + self.rng.below(3) {
            self.statement(depth);
        }
        self.numbers.truncate(known);
    }
}

fn program(rng: &mut Rng) -> String {
    let text = String::from(
        "let mut a: Array2<f64> = Array2::zeros((n, n));\n\
         for i in 0..n { for j in 0..n { a[[i, j]] = x[i] * 0.4 - x[j] * c + 0.1 * ((i + 2 * j) as f64); } }\n\
         for i in 0..n {\n",
    );
    let mut w = Writer { rng, text, places: vec!["i".into()], numbers: vec!["c".into()], next: 0 };
    w.block(2);
    w.text.push_str("}\nlet mut r = 0.0;\nfor i in 0..n { for j in 0..n { r += a[[i, j]] * (1.0 + 0.3 * (i as f64) - 0.2 * (j as f64)); } }\nr");
    w.text
}

#[test]
fn updates_of_a_matrix_that_is_read_as_a_whole_have_their_gradient() {
    let seed = number("AD_SEED", 1);
    for k in 0..number("AD_CASES", 60) {
        let mut rng = Rng::new(seed.wrapping_mul(7919) + k);
        let body = program(&mut rng);
        for n in [1, 2, 4] {
            let mut reals = |n: usize| (0..n).map(|_| rng.real()).collect::<Vec<f64>>();
            let inputs = [Value::reals(&[n], &reals(n)), Value::reals(&[], &reals(1))];
            let direction = [reals(n), reals(1)];
            let (value, gradient) = differentiated(&body, &inputs, &direction);
            assert_eq!((value.len(), gradient.len()), (1, n + 1), "{body}");
        }
    }
}
