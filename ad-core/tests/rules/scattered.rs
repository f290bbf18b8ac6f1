//! Examples of the rules for arrays that are zero except at elements that are added to them, and
//! random examples: every form of index, replicated along any axis, multiplied, summed.

use super::*;
use ad_core::ir::Var;

#[path = "../common/rng.rs"]
#[allow(dead_code, reason = "shared")]
mod rng;
use rng::Rng;

/// `scatter 0 src (\i -> [i, ids[i]])` for a vector: one element in each row.
fn in_rows(f: &mut Fixture, src: Term) -> Term {
    let (zeros, v) = (f.g.zeros_like(f.a), f.g.fresh());
    let i = f.g.mk(Node::Var(v));
    let at = f.g.index(f.ids, &[i]);
    f.g.scatter(zeros, src, &[v], &[i, at])
}

/// `scatter 0 rows (\i -> [ids[i]])`: rows whose indices may coincide.
fn rows(f: &mut Fixture, src: Term) -> Term {
    let (zeros, v) = (f.g.zeros_like(f.a), f.g.fresh());
    let i = f.g.mk(Node::Var(v));
    let at = f.g.index(f.ids, &[i]);
    f.g.scatter(zeros, src, &[v], &[at])
}

/// Two vectors as columns, made by scatters.
fn columns(f: &mut Fixture) -> (Term, Term) {
    let two = f.g.lit_usize(2);
    let zero = f.g.lit(Lit::Real(RealTy::F64, 0.0_f64.to_bits()));
    let zeros = f.g.broadcast(zero, &[f.n, two]);
    let all = [f.x, f.y].into_iter().enumerate().fold(zeros, |to, (k, column)| {
        let (v, k) = (f.g.fresh(), f.g.lit_usize(k));
        let i = f.g.mk(Node::Var(v));
        f.g.scatter(to, column, &[v], &[i, k])
    });
    (all, zeros)
}

/// The elements of windows, added where they come from.
fn of_windows(f: &mut Fixture, src: Term) -> Term {
    let (u, v) = (f.g.fresh(), f.g.fresh());
    let (i, j) = (f.g.mk(Node::Var(u)), f.g.mk(Node::Var(v)));
    let at = f.g.int(IntOp::Add, i, j);
    f.g.scatter(f.y, src, &[u, v], &[at])
}

pub(super) fn examples(rule: &str) -> Vec<Example> {
    match rule {
        "mul_zero.scatter" => vec![
            |f| {
                let hot = in_rows(f, f.x);
                f.g.binary(Binary::MulZero, hot, f.b)
            },
            |f| {
                // An axis between those that are indexed.
                let hot = in_rows(f, f.x);
                let spread = f.g.replicate_axes(hot, &[1], &[f.k]);
                let by = f.g.replicate_axes(f.b, &[2], &[f.k]);
                f.g.binary(Binary::MulZero, spread, by)
            },
        ],
        "scale.scatter" => vec![
            |f| {
                let put = rows(f, f.b);
                f.g.neg(put)
            },
            |f| {
                let (hot, three) = (in_rows(f, f.x), f.lit(f.a, 3.0));
                f.g.mul(three, hot)
            },
            |f| {
                let (hot, three) = (in_rows(f, f.x), f.lit(f.a, 3.0));
                f.g.div(hot, three)
            },
        ],
        "sum.scatter" => vec![
            |f| {
                let hot = in_rows(f, f.x);
                f.g.sum_axes(hot, &[0])
            },
            |f| {
                // The sum along the axis that `ids` indexes is not changed.
                let hot = in_rows(f, f.x);
                f.g.sum_axes(hot, &[0, 1])
            },
            |f| {
                let put = rows(f, f.b);
                f.g.sum_axes(put, &[1])
            },
            |f| {
                // One index, which may be out of range.
                let (zeros, ninth) = (f.g.zeros_like(f.x), f.g.lit_usize(8));
                let total = f.g.sum_axes(f.y, &[0]);
                let put = f.g.scatter(zeros, total, &[], &[ninth]);
                f.g.sum_axes(put, &[0])
            },
        ],
        "scatter.scatter" => vec![|f| {
            let put = rows(f, f.b);
            let node = f.g.node_rc(put);
            let Node::Scatter { dst, .. } = *node else { return put };
            let (vars, index) = f.g.open_binder(&node);
            let onto = f.g.scatter(dst, f.a, &vars, &index);
            f.g.scatter(onto, f.b, &vars, &index)
        }],
        "scatter.parts" => vec![
            |f| {
                let (all, _) = columns(f);
                of_windows(f, all)
            },
            |f| {
                let (all, zeros) = columns(f);
                let (mask, two) = (f.g.compare(Cmp::Lt, f.x, f.y), f.g.lit_usize(2));
                let mask = f.g.replicate_axes(mask, &[1], &[two]);
                let masked = f.g.select(mask, all, zeros);
                of_windows(f, masked)
            },
            |f| {
                // Columns of the rows that `ids` lists.
                let (all, zeros) = columns(f);
                let v = f.g.fresh();
                let i = f.g.mk(Node::Var(v));
                let at = f.g.index(f.ids, &[i]);
                f.g.scatter(zeros, all, &[v], &[at])
            },
        ],
        _ => vec![],
    }
}

/// Numbers for an array of this shape: infinite along one line of each axis.
fn numbers(f: &mut Fixture, shape: &[Term], infinite: bool) -> Term {
    let elem = f.g.elem(f.x);
    let mut sum = f.g.lit_shaped(elem, shape, 0.25);
    for (k, &n) in shape.iter().enumerate() {
        let line = if n == f.n {
            f.y
        } else {
            let first = f.g.lit_usize(0);
            f.g.index(f.b, &[first])
        };
        let line = if infinite {
            let one = f.g.lit_usize(1);
            let at = f.g.index(line, &[one]);
            let at = f.g.replicate(n, at);
            let zero = f.g.sub(line, at);
            f.g.unary(Unary::Recip, zero)
        } else {
            line
        };
        let others: Vec<u8> = (0..shape.len()).filter(|&a| a != k).map(|a| u8::try_from(a).unwrap()).collect();
        let sizes: Vec<Term> = others.iter().map(|&a| shape[usize::from(a)]).collect();
        let line = f.g.replicate_axes(line, &others, &sizes);
        sum = f.g.add(sum, line);
    }
    sum
}

/// A scatter into zeros with random indices: variables, shifted variables, constants, indices read
/// from an array, indices out of range; and whole rows.
fn scatter(f: &mut Fixture, rng: &mut Rng) -> Term {
    let rank = 1 + rng.below(3);
    let shape: Vec<Term> = (0..rank).map(|_| if rng.chance(50) { f.n } else { f.k }).collect();
    let indexed = 1 + rng.below(rank);
    let mut vars: Vec<(Var, Term)> = Vec::new();
    let mut index = Vec::new();
    for &size in &shape[..indexed] {
        let ix = match rng.below(6) {
            0 => f.g.lit_usize(rng.below(5)),
            1 if vars.iter().any(|v| v.1 == f.n) => {
                let (v, _) = *vars.iter().find(|v| v.1 == f.n).expect("there is one");
                let i = f.g.mk(Node::Var(v));
                f.g.index(f.ids, &[i])
            }
            2 if !vars.is_empty() => f.g.mk(Node::Var(vars[0].0)),
            form => {
                let v = f.g.fresh();
                vars.push((v, size));
                let i = f.g.mk(Node::Var(v));
                let one = f.g.lit_usize(1);
                if form == 3 { f.g.int(IntOp::Add, i, one) } else { i }
            }
        };
        index.push(ix);
    }
    let sizes: Vec<Term> = vars.iter().map(|v| v.1).chain(shape[indexed..].iter().copied()).collect();
    let src = numbers(f, &sizes, false);
    let elem = f.g.elem(f.x);
    let zeros = f.g.lit_shaped(elem, &shape, 0.0);
    let vars: Vec<Var> = vars.into_iter().map(|v| v.0).collect();
    f.g.scatter(zeros, src, &vars, &index)
}

#[test]
fn operations_on_scattered_elements_are_those_on_the_whole_array() {
    let mut fired = std::collections::BTreeMap::<&str, usize>::new();
    for seed in 0..2000 {
        let mut rng = Rng::new(seed);
        let mut f = Fixture::new();
        let mut t = scatter(&mut f, &mut rng);
        if rng.chance(50) && f.g.rank(t) < 4 {
            let at = u8::try_from(rng.below(f.g.rank(t) + 1)).unwrap();
            t = f.g.replicate_axes(t, &[at], &[f.k]);
        }
        let shape = f.g.shape(t).to_vec();
        t = match rng.below(5) {
            0 => t,
            1 => f.g.neg(t),
            2 => {
                let three = f.lit(t, 3.0);
                f.g.mul(t, three)
            }
            _ => {
                let by = numbers(&mut f, &shape, rng.chance(50));
                f.g.binary(Binary::MulZero, t, by)
            }
        };
        let summed: Vec<u8> = (0..shape.len()).filter(|_| rng.chance(50)).map(|a| u8::try_from(a).unwrap()).collect();
        if rng.chance(50) && !summed.is_empty() {
            t = f.g.sum_axes(t, &summed);
        }
        let mut cx = Context::of(Roots { values: vec![t], ..Roots::default() });
        let roots = Roots { values: vec![t], ..Roots::default() };
        let after = (ad_core::passes::simplify::PASS.run)(&mut f.g, &roots, &mut cx).values[0];
        for (&rule, &times) in &cx.fired {
            *fired.entry(rule).or_default() += times;
        }
        valid::validate(&f.g, &[after]).unwrap_or_else(|e| panic!("{seed}: {e:?}"));
        let inputs = Fixture::inputs();
        let values = Interp::new(&f.g, &inputs).eval_all(&[t, after]).unwrap_or_else(|e| panic!("{seed}: {e}"));
        for (p, q) in values[0].duals().iter().zip(values[1].duals()) {
            let same = (p.v.is_nan() && q.v.is_nan()) || p.v == q.v || (p.v - q.v).abs() <= 1e-12 * (1.0 + p.v.abs());
            assert!(same, "seed {seed}: {} became {}", p.v, q.v);
        }
    }
    for rule in ["mul_zero.scatter", "scale.scatter", "sum.scatter"] {
        assert!(fired.get(rule).is_some_and(|&times| times > 100), "{rule} fired {:?} times", fired.get(rule));
    }
}

#[test]
fn a_plain_product_with_zeros_keeps_its_nans() {
    let mut f = Fixture::new();
    let (x, b) = (f.x, f.b);
    let hot = in_rows(&mut f, x);
    let product = f.g.mul(hot, f.b);
    assert_eq!(simplify(&mut f.g, &[product]), vec![product], "0 * inf is a NaN");
    // Rows with the same index are added before they are scaled: their sum may be 0.
    let put = rows(&mut f, b);
    let masked = f.g.binary(Binary::MulZero, put, f.a);
    assert_eq!(simplify(&mut f.g, &[masked]), vec![masked]);
}
