//! Types that contain themselves: parameters of differentiated functions, walked by calls.

use ad::prelude::*;
use ad::{check_grad, differentiate};

/// Whether two numbers are equal up to rounding.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * (1.0 + b.abs())
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Expr {
    Const(f64),
    Var(usize),
    Add(Box<Expr>, Box<Expr>),
    Mul(Box<Expr>, Box<Expr>),
    Sin(Box<Expr>),
}

fn var(k: usize) -> Box<Expr> {
    Box::new(Expr::Var(k))
}

fn constant(c: f64) -> Box<Expr> {
    Box::new(Expr::Const(c))
}

/// `c sin(x y) + (x + a) (x + b)`
fn sample(c: f64, a: f64, b: f64) -> Expr {
    let product = Expr::Mul(constant(c), Box::new(Expr::Sin(Box::new(Expr::Mul(var(0), var(1))))));
    let factor = |by| Box::new(Expr::Add(var(0), constant(by)));
    Expr::Add(Box::new(product), Box::new(Expr::Mul(factor(a), factor(b))))
}

#[differentiate(grad, jvp, vjp, pullback)]
fn eval(e: &Expr, x: &[f64]) -> f64 {
    match e {
        Expr::Const(c) => *c,
        Expr::Var(k) => x[*k],
        Expr::Add(a, b) => eval(a, x) + eval(b, x),
        Expr::Mul(a, b) => eval(a, x) * eval(b, x),
        Expr::Sin(a) => eval(a, x).sin(),
    }
}

#[test]
fn an_expression_is_walked_by_calls() {
    let (e, x) = (sample(2.5, -0.5, 1.5), [0.7, -1.3]);
    let own = 2.5 * (0.7_f64 * -1.3).sin() + (0.7 - 0.5) * (0.7 + 1.5);
    let (value, (by_e, by_x)) = eval_value_and_grad(&e, &x);
    assert!(close(value, own) && close(eval(&e, &x), own));
    let cos = 2.5 * (0.7_f64 * -1.3).cos();
    assert!(close(by_x[0], cos * -1.3 + (0.7 + 1.5) + (0.7 - 0.5)) && close(by_x[1], cos * 0.7));
    // The gradient is of the same variants, and its discrete parts are those of the argument.
    let found = by_e.to_flat();
    let [c, a, b] = found[..] else { panic!("{found:?}") };
    assert!(by_e == sample(c, a, b) && close(c, (0.7_f64 * -1.3).sin()) && close(a, 2.2) && close(b, 0.2));
    let direction = sample(1.0, 2.0, -1.0);
    let (_, along) = eval_jvp(&e, &x, &direction, &[0.0, 0.0]);
    assert!(close(along, c + 2.0 * a - b));
    assert!(eval_vjp(&e, &x, 2.0).1.0.to_flat().iter().zip(&found).all(|(two, one)| close(*two, 2.0 * one)));
    check_grad!(eval(&e, &x));
    check_grad!(eval(&Expr::Const(2.0), &x));
}

#[test]
#[should_panic(expected = "variant")]
fn a_direction_of_another_structure_is_refused() {
    let other = Expr::Add(constant(1.0), constant(1.0));
    let _ = eval_jvp(&Expr::Mul(constant(1.0), constant(1.0)), &[], &other, &[]);
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Node {
    weight: f64,
    at: [f64; 2],
    next: Option<Box<Node>>,
}

fn chain(n: usize) -> Node {
    let k = n as f64;
    let next = (n > 0).then(|| Box::new(chain(n - 1)));
    Node { weight: 0.5 + 0.1 * k, at: [k.sin(), k.cos()], next }
}

#[differentiate]
fn length(node: &Node, scale: f64) -> f64 {
    let own = (node.at[0] * node.at[0] + scale * node.at[1]).sin() * node.weight;
    match &node.next {
        Some(next) => own + length(next, scale * 0.9),
        None => own,
    }
}

#[differentiate]
fn weights(node: &Node) -> f64 {
    node.next.as_ref().map_or(0.0, |next| weights(next)) * 0.5 + node.weight * node.weight
}

#[differentiate]
fn in_a_loop(head: &Node) -> f64 {
    let mut node = head;
    let mut total = node.weight;
    while let Some(next) = &node.next {
        total = total * 0.5 + next.weight * next.at[0].sin();
        node = next;
    }
    total
}

#[test]
fn a_list_of_boxes() {
    for n in [0, 1, 4] {
        check_grad!(length(&chain(n), 0.8));
        check_grad!(in_a_loop(&chain(n)));
    }
    let by_node = length_grad(&chain(2), 0.8).0;
    assert!(by_node.next.unwrap().next.unwrap().next.is_none());
    // The derivative is as deep as the function.
    let deep = chain(400);
    let (value, by_node) = weights_value_and_grad(&deep);
    assert!(close(value, weights(&deep)) && by_node.to_flat().len() == 3 * 401);
    check_grad!(weights(&chain(3)));
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Tree {
    value: f64,
    label: usize,
    children: Vec<Tree>,
    weights: Vec<f64>,
}

fn tree(depth: usize, seed: f64) -> Tree {
    let children: Vec<Tree> = (0..depth).map(|k| tree(depth - 1, seed + 0.3 * k as f64)).collect();
    let weights = (0..depth).map(|k| 0.5 + 0.2 * (seed + k as f64).cos()).collect();
    Tree { value: seed.sin(), label: depth, children, weights }
}

#[differentiate]
fn total(tree: &Tree) -> f64 {
    let mut sum = tree.value * tree.value * tree.label as f64;
    for (child, weight) in tree.children.iter().zip(&tree.weights) {
        sum += weight * total(child);
    }
    sum
}

#[differentiate]
fn with_iterators(tree: &Tree, x: f64) -> f64 {
    if tree.children.is_empty() {
        return (tree.value * x).tanh();
    }
    let below: f64 = tree.children.iter().map(|child| with_iterators(child, 0.5 * x)).sum();
    let first = &tree.children[0];
    below * tree.weights[0] + first.value * tree.weights.iter().sum::<f64>()
}

#[test]
fn a_tree_with_any_number_of_children() {
    for depth in [0, 1, 3] {
        check_grad!(total(&tree(depth, 0.4)));
        check_grad!(with_iterators(&tree(depth, 0.4), 1.1));
    }
    let by_tree = total_grad(&tree(2, 0.4));
    assert_eq!((by_tree.children.len(), by_tree.children[1].children.len(), by_tree.label), (2, 1, 2));
}

/// A model with a part that contains itself.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Model {
    gain: f64,
    root: Tree,
    head: Node,
}

#[differentiate(wrt(model), grad, jvp)]
fn of_model(model: &Model, x: f64) -> f64 {
    model.gain * total(&model.root) * x + length(&model.head, x)
}

#[test]
fn a_part_of_another_type() {
    let model = Model { gain: 1.3, root: tree(2, 0.2), head: chain(2) };
    check_grad!(of_model(&model, 0.7));
    assert_eq!(of_model_grad(&model, 0.7).root.children.len(), 2);
}

mod calculator {
    use ad::prelude::*;

    #[derive(Clone, Copy, Debug, PartialEq, Differentiable)]
    pub enum Op {
        Plus,
        Times,
        Power(f64),
    }

    #[derive(Clone, Debug, PartialEq, Differentiable)]
    pub enum Term {
        Number(f64),
        Input(usize),
        Binary(Op, Box<Term>, Box<Term>),
        Negated(Box<Term>),
    }

    #[differentiate]
    impl Term {
        #[differentiate]
        pub fn eval(&self, x: &[f64]) -> f64 {
            match self {
                Term::Number(c) => *c,
                Self::Input(k) => x[*k],
                Self::Binary(op, a, b) => {
                    let (a, b) = (a.eval(x), b.eval(x));
                    match op {
                        Op::Plus => a + b,
                        Op::Times => a * b,
                        Op::Power(p) => (a * a + b * b).powf(*p),
                    }
                }
                Self::Negated(a) => -a.eval(x),
            }
        }

        pub fn depth(&self) -> usize {
            match self {
                Term::Number(_) | Term::Input(_) => 1,
                Term::Binary(_, a, b) => 1 + a.depth().max(b.depth()),
                Term::Negated(a) => 1 + a.depth(),
            }
        }
    }
}

use calculator::{Op, Term};

#[differentiate]
fn of_methods(term: &Term, x: &[f64]) -> f64 {
    term.eval(x) * term.depth() as f64
}

#[test]
fn methods_that_call_themselves() {
    let number = |c| Box::new(Term::Number(c));
    let input = |k| Box::new(Term::Input(k));
    let power = Term::Binary(Op::Power(0.7), input(0), number(1.5));
    let product = Term::Binary(Op::Times, Box::new(power), Box::new(Term::Negated(input(1))));
    let term = Term::Binary(Op::Plus, Box::new(product), number(0.25));
    let x = [0.9, -0.4];
    check_grad!(term.eval(&x));
    check_grad!(of_methods(&term, &x));
    let (by_term, _) = of_methods_grad(&term, &x);
    assert!(matches!(by_term, Term::Binary(Op::Plus, ..)));
}

#[differentiate]
mod language {
    use ad::prelude::*;

    /// An arithmetic expression with conditions, which contain expressions.
    #[derive(Clone, Debug, PartialEq)]
    pub enum Value {
        Number(f64),
        Input,
        Sum(Vec<Value>),
        If(Box<Test>, Box<Value>, Box<Value>),
    }

    #[derive(Clone, Debug, PartialEq)]
    pub enum Test {
        Less(Value, Value),
        Not(Box<Test>),
    }

    impl Value {
        pub fn eval(&self, x: f64) -> f64 {
            match self {
                Value::Number(c) => *c,
                Value::Input => x,
                Value::Sum(parts) => parts.iter().map(|part| part.eval(x)).sum(),
                Value::If(test, a, b) => {
                    if test.holds(x) {
                        a.eval(x) * 2.0
                    } else {
                        b.eval(x) * x
                    }
                }
            }
        }
    }

    impl Test {
        pub fn holds(&self, x: f64) -> bool {
            match self {
                Test::Less(a, b) => a.eval(x) < b.eval(x),
                Test::Not(inner) => !inner.holds(x),
            }
        }
    }

    #[differentiate]
    pub fn squared(value: &Value, x: f64) -> f64 {
        let y = value.eval(x);
        y * y
    }
}

#[test]
fn types_of_a_module_contain_each_other() {
    use language::{Test, Value, squared, squared_grad, squared_value_and_grad};
    let test = |c| Box::new(Test::Not(Box::new(Test::Less(Value::Input, Value::Number(c)))));
    let sum = Value::Sum(vec![Value::Input, Value::Number(0.5), Value::Input]);
    for c in [0.0, 2.0] {
        let value = Value::If(test(c), Box::new(sum.clone()), Box::new(Value::Number(3.0)));
        let (result, (by_value, by_x)) = squared_value_and_grad(&value, 1.2);
        assert!(close(result, squared(&value, 1.2)));
        let step = 1e-6;
        let difference = (squared(&value, 1.2 + step) - squared(&value, 1.2 - step)) / (2.0 * step);
        assert!((by_x - difference).abs() < 1e-6 * (1.0 + by_x.abs()), "{by_x} {difference}");
        let (first, second) = if c < 1.2 { (2.0 * 2.9 * 2.0 * 2.0, 0.0) } else { (0.0, 2.0 * 3.6 * 1.2) };
        let Value::If(test_of, a, b) = by_value else { panic!("another variant") };
        assert_eq!(*test_of, Test::Not(Box::new(Test::Less(Value::Input, Value::Number(0.0)))));
        assert!(matches!(*b, Value::Number(b) if close(b, second)));
        let Value::Sum(parts) = *a else { panic!("another variant") };
        assert!(matches!(parts[1], Value::Number(c) if close(c, first)), "{parts:?} {first}");
    }
    assert_eq!(squared_grad(&Value::Input, 2.0).1, 4.0);
}

/// A network as a list of layers with matrices.
#[derive(Clone, Debug, PartialEq, Differentiable)]
enum Layers {
    Dense { w: Array2<f64>, b: Array1<f64>, rest: Box<Layers> },
    Output(Vec<f64>),
}

#[differentiate]
fn network(layers: &Layers, x: &Array1<f64>) -> f64 {
    match layers {
        Layers::Dense { w, b, rest } => network(rest, &(w.dot(x) + b).mapv(f64::tanh)),
        Layers::Output(v) => v.iter().zip(x).map(|(v, x)| v * x).sum(),
    }
}

#[test]
fn arrays_of_each_row_have_their_own_sizes() {
    let entry = |i: usize, j: usize| (0.3 + i as f64 * 0.7 - j as f64 * 0.4).sin();
    let dense = |n: usize, m: usize, rest| Layers::Dense {
        w: Array2::from_shape_fn((n, m), |(i, j)| entry(i, j)),
        b: Array1::from_shape_fn(n, |i| entry(i, 5)),
        rest: Box::new(rest),
    };
    let layers = dense(4, 3, dense(2, 4, Layers::Output(vec![0.5, -0.8])));
    check_grad!(network(&layers, &array![0.2, -0.6, 1.1]));
    let (by_layers, _) = network_grad(&layers, &array![0.2, -0.6, 1.1]);
    assert!(matches!(by_layers, Layers::Dense { w, .. } if w.dim() == (4, 3)));
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Generic<T: ad::Real> {
    value: T,
    pair: Option<Box<(T, Generic<T>)>>,
}

#[differentiate]
fn of_generic(g: &Generic<f32>, x: f32) -> f32 {
    match &g.pair {
        Some(pair) => (pair.0 * x).sin() * g.value + of_generic(&pair.1, x * 0.5),
        None => g.value * x,
    }
}

#[test]
fn a_generic_type() {
    let last = Generic { value: 0.5_f32, pair: None };
    let g = Generic { value: 1.5, pair: Some(Box::new((0.25, last))) };
    let (by_g, _) = of_generic_grad(&g, 2.0);
    assert!((by_g.value - 0.5_f32.sin()).abs() < 1e-6 && (by_g.pair.unwrap().1.value - 1.0).abs() < 1e-6);
}

/// A part with an `Option`, which contains nothing of its own type.
#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Damping {
    rate: Option<f64>,
    at: Option<Vec<f64>>,
}

#[derive(Clone, Debug, PartialEq, Differentiable)]
struct Spring {
    stiffness: f64,
    damping: Damping,
    next: Option<Box<Spring>>,
}

#[differentiate]
fn energy(spring: &Spring, x: f64) -> f64 {
    let rate = spring.damping.rate.unwrap_or(0.5);
    let at = match &spring.damping.at {
        Some(at) => at.iter().map(|a| a * a).sum(),
        None => 1.0,
    };
    let own = spring.stiffness * x * x * rate * at;
    spring.next.as_ref().map_or(own, |next| own + energy(next, x.sin()))
}

#[differentiate]
fn of_some(spring: &Option<Spring>, x: f64) -> f64 {
    match spring {
        Some(spring) => energy(spring, x) + spring.stiffness,
        None => x,
    }
}

#[test]
fn options_in_and_around_types_that_contain_themselves() {
    let last = Spring { stiffness: 1.5, damping: Damping { rate: Some(0.3), at: None }, next: None };
    let damping = Damping { rate: None, at: Some(vec![0.7, -0.4]) };
    let spring = Spring { stiffness: 0.8, damping, next: Some(Box::new(last)) };
    check_grad!(energy(&spring, 0.6));
    check_grad!(of_some(&Some(spring.clone()), 0.6));
    check_grad!(of_some(&None, 0.6));
    let (by_spring, _) = energy_grad(&spring, 0.6);
    assert!(by_spring.damping.rate.is_none() && by_spring.damping.at.is_some_and(|at| at.len() == 2));
    assert!(by_spring.next.unwrap().damping.rate.is_some());
    assert!(of_some_grad(&None, 0.6).0.is_none() && of_some_grad(&Some(spring), 0.6).0.is_some());
}
