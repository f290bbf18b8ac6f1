//! The passes that are not tables of rules, each on terms that it rewrites.

use super::*;

/// A context in which these conditions are checked.
fn checked(conditions: &[Term]) -> Context {
    let checks = conditions.iter().map(|&ok| CheckRoots { ok, shown: Vec::new() }).collect();
    Context::of(Roots { checks, ..Roots::default() })
}

#[test]
fn an_index_is_pushed_into_a_term_that_nothing_else_reads() {
    let mut f = Fixture::new();
    let two = f.g.lit_usize(2);
    let e = f.g.unary(Unary::Exp, f.x);
    let p = f.g.mul(e, f.y);
    let read = f.g.index(p, &[two]);
    let pushed = push::push(&mut f.g, &[read], &mut Context::default())[0];
    assert!(matches!(f.g.node(pushed), Node::Prim(Prim::Binary(Binary::Mul), _)));
    // With a second reader the array is needed anyway.
    let total = f.g.sum_all(p);
    let both = push::push(&mut f.g, &[read, total], &mut Context::default());
    assert_eq!(both, vec![read, total]);
    assert_eq!(Elem::Real(RealTy::F64), f.g.elem(read));
}

/// If only some rows of a product are read, also through other operations, only these rows are
/// computed. That is not so if all rows are needed, if a decision depends on the product, or if the
/// rows would have to be copied first.
#[test]
fn a_slice_is_pushed_into_a_product_that_nothing_else_reads() {
    let mut f = Fixture::new();
    let [none, one, two, last] = [0, 1, 2, 3].map(|n| f.g.lit_usize(n));
    let vector = f.g.slice(f.y, &[none], &[1], &[two]);
    let columns = f.g.shape(f.a)[1];
    let weights = f.g.replicate_axes(f.s, &[0], &[columns]);
    let scores = f.g.contract(f.a, weights, contraction(&[0, 1], &[1], &[0]));
    let three = f.g.shape(scores)[0];
    let held = [f.g.compare(Cmp::Le, last, three)];
    let shift = f.g.replicate_axes(f.s, &[0], &[three]);
    let moved = f.g.add(scores, shift);
    let tanh = f.g.unary(Unary::Tanh, moved);
    let part = f.g.slice(tanh, &[one], &[1], &[two]);
    let read = f.g.mul(part, vector);
    let rows = |g: &Graph, t: Term| {
        let found = g.reachable(&[t]).into_iter().find(|&t| matches!(g.node(t), Node::Prim(Prim::Contract(_), _)));
        found.map(|t| g.int_value(g.shape(t)[0])).expect("a contraction")
    };
    let pushed = push::push(&mut f.g, &[read], &mut checked(&held))[0];
    assert_eq!(rows(&f.g, pushed), Some(2));
    let values = Interp::new(&f.g, &Fixture::inputs()).eval_all(&[read, pushed]).unwrap();
    assert_eq!(values[0].values(), values[1].values());
    // Other rows are read, or a decision depends on them.
    let total = f.g.sum_all(tanh);
    assert_eq!(push::push(&mut f.g, &[read, total], &mut checked(&held)), vec![read, total]);
    assert_eq!(push::push(&mut f.g, &[read], &mut with_exact([scores])), vec![read]);
    // If the rows are not known to be in range, the product is not restricted to them.
    let k = f.n;
    let part = f.g.slice(tanh, &[none], &[1], &[k]);
    assert_eq!(push::push(&mut f.g, &[part], &mut checked(&held)), vec![part]);
    let inside = f.g.compare(Cmp::Le, k, three);
    let pushed = push::push(&mut f.g, &[part], &mut checked(&[inside]))[0];
    assert!(matches!(f.g.node(pushed), Node::Prim(Prim::Unary(Unary::Tanh), _)));
    // The elements of a column are not contiguous.
    let across = f.g.contract(f.a, f.x, contraction(&[0, 1], &[0], &[1]));
    let part = f.g.slice(across, &[one], &[1], &[two]);
    assert_eq!(push::push(&mut f.g, &[part], &mut checked(&held)), vec![part]);
}

#[test]
fn quotients_with_one_divisor_share_a_reciprocal() {
    let mut f = Fixture::new();
    let (p, q) = (f.g.div(f.x, f.y), f.g.div(f.y, f.x));
    let (e, two) = (f.g.unary(Unary::Exp, f.x), f.g.lit_like(f.x, 2.0));
    let (r, halved, lone) = (f.g.div(e, f.y), f.g.div(f.x, two), f.g.div(e, two));
    let divisions = |g: &Graph, roots: &[Term]| {
        let all = g.reachable(roots);
        let is = |op: Prim| all.iter().filter(|&&t| matches!(g.node(t), Node::Prim(p, _) if *p == op)).count();
        [is(Prim::Binary(Binary::Div)), is(Prim::Unary(Unary::Recip))]
    };
    assert_eq!(share::share(&mut f.g, &[p, q], &mut Context::default()), vec![p, q], "by different terms");
    assert_eq!(share::share(&mut f.g, &[halved, lone], &mut Context::default()), vec![halved, lone], "by a literal");
    assert_eq!(
        share::share(&mut f.g, &[p, r], &mut Context::of(Roots::of_values(&[p, r]))),
        vec![p, r],
        "the function's own divisions stay"
    );
    assert_eq!(
        share::share(&mut f.g, &[p, r], &mut Context::of(Roots::of_values(&[p])))[0],
        p,
        "one of the function's own, and one of the derivative's"
    );
    assert_eq!(share::share(&mut f.g, &[p, r], &mut Context::default()), vec![p, r], "two are rounded once each");
    let third = f.g.div(two, f.y);
    let both = share::share(&mut f.g, &[p, r, q, third], &mut Context::default());
    assert_eq!((divisions(&f.g, &[both[0], both[1], both[3]]), both[2]), ([0, 1], q));
    let one = f.g.lit_like(f.x, 1.0);
    let inverse = f.g.div(one, f.y);
    let with_one = share::share(&mut f.g, &[p, inverse, r], &mut Context::default())[1];
    assert!(matches!(f.g.node(with_one), Node::Prim(Prim::Unary(Unary::Recip), _)), "it is the reciprocal");
    // An array of one number: the reciprocal is computed once, and not for each element.
    let (number, three) = (f.g.sum_all(f.y), f.g.shape(f.x).to_vec());
    let spread = f.g.broadcast(number, &three);
    let s = f.g.div(f.x, spread);
    let shared = share::share(&mut f.g, &[s], &mut Context::default())[0];
    assert_eq!(divisions(&f.g, &[shared]), [0, 1]);
    let reciprocal = f.g.unary(Unary::Recip, number);
    assert!(f.g.reachable(&[shared]).contains(&reciprocal));
    let values = Interp::new(&f.g, &Fixture::inputs()).eval_all(&[p, both[0], r, both[1], s, shared]).unwrap();
    for pair in values.chunks(2) {
        for (a, b) in pair[0].values().iter().zip(pair[1].values()) {
            assert!((a - b).abs() <= 4e-16 * a.abs(), "{a} {b}");
        }
    }
}

#[test]
fn differences_of_two_products_are_computed_first() {
    let mut f = Fixture::new();
    let places: Vec<Term> = (0..3).map(|k| f.g.lit_usize(k)).collect();
    let numbers: Vec<Term> = places.iter().map(|&k| f.g.index(f.x, &[k])).collect();
    let [a, b, c] = [(0, 1), (1, 2), (2, 0)].map(|(i, j)| f.g.mul(numbers[i], numbers[j]));
    let d = f.g.mul(f.s, numbers[0]);
    // s - a + b, s + a - b + c - d.
    let (less, more) = (f.g.sub(f.s, a), f.g.add(f.s, a));
    let short = f.g.add(less, b);
    let long = f.g.sub(more, b);
    let long = f.g.add(long, c);
    let long = f.g.sub(long, d);
    let paired = pairs::pairs(&mut f.g, &[short, long], &mut Context::default());
    let (ba, ab, cd) = (f.g.sub(b, a), f.g.sub(a, b), f.g.sub(c, d));
    let first = f.g.add(f.s, ab);
    assert_eq!(paired, vec![f.g.add(f.s, ba), f.g.add(first, cd)]);
    // A difference with another reader stays a separate number. A sum that a decision depends on
    // does not change, nor does a sum of the function itself.
    let both = pairs::pairs(&mut f.g, &[short, less], &mut Context::default());
    assert_eq!(both, vec![short, less]);
    assert_eq!(pairs::pairs(&mut f.g, &[short], &mut with_exact([less])), vec![short]);
    assert_eq!(
        pairs::pairs(&mut f.g, &[short, long], &mut Context::of(Roots::of_values(&[short, long]))),
        vec![short, long]
    );
    // Elements of an array are computed in loops.
    let (p, q) = (f.g.mul(f.x, f.y), f.g.mul(f.y, f.y));
    let array = f.g.sub(f.x, p);
    let array = f.g.add(array, q);
    assert_eq!(pairs::pairs(&mut f.g, &[array], &mut Context::default()), vec![array]);
    let values = Interp::new(&f.g, &Fixture::inputs()).eval_all(&[short, paired[0], long, paired[1]]).unwrap();
    for pair in values.chunks(2) {
        assert!((pair[0].values()[0] - pair[1].values()[0]).abs() < 1e-14);
    }
}

#[test]
fn functions_of_a_family_share_their_expensive_part() {
    let mut f = Fixture::new();
    let (p, q) = (f.g.unary(Unary::Softplus, f.x), f.g.unary(Unary::Sigmoid, f.x));
    let exponentials = |g: &Graph, roots: &[Term]| {
        let all = g.reachable(roots);
        all.iter().filter(|&&t| matches!(g.node(t), Node::Prim(Prim::Unary(Unary::Exp), _))).count()
    };
    assert_eq!(share::share(&mut f.g, &[p], &mut Context::default()), vec![p], "alone it stays");
    assert_eq!(share::share(&mut f.g, &[p, q], &mut with_exact([q])), vec![p, q], "a decision keeps its formula");
    let both = share::share(&mut f.g, &[p, q], &mut Context::default());
    assert_eq!(exponentials(&f.g, &both), 1);
    let inputs: Vec<Value> = Fixture::inputs();
    for special in [f64::NEG_INFINITY, f64::INFINITY, f64::NAN, -800.0, -0.0] {
        let mut inputs = inputs.clone();
        inputs[1] = Value::reals(&[3], &[special, -1.5, 40.0]);
        let values = Interp::new(&f.g, &inputs).eval_all(&[p, both[0], q, both[1]]).unwrap();
        for pair in values.chunks(2) {
            for (a, b) in pair[0].values().iter().zip(pair[1].values()) {
                assert!(
                    a.to_bits() == b.to_bits() || (a - b).abs() <= 1e-15 * a.abs() || (a.is_nan() && b.is_nan()),
                    "{a} {b}"
                );
            }
        }
    }
}

#[test]
fn sums_of_contractions_are_associated() {
    let spec = |a: &[u8], b: &[u8], out: &[u8]| Contraction::new(a, b, out);
    // Which labels, and which axes of the result are summed: those of one operand, of the other, of
    // both, some of them, batched.
    let cases = [
        (spec(&[0, 1], &[1, 2], &[0, 2]), vec![0_u8]),
        (spec(&[0, 1], &[1, 2], &[0, 2]), vec![1]),
        (spec(&[0, 1], &[1, 2], &[2, 0]), vec![0, 1]),
        (spec(&[1, 0], &[2, 1], &[0, 2]), vec![0]),
        (spec(&[0, 1], &[0, 2], &[0, 1, 2]), vec![1]),
        (spec(&[0, 1], &[0, 2], &[2, 0, 1]), vec![0, 2]),
    ];
    for (c, axes) in cases {
        for sizes in [[3, 4, 2], [0, 4, 2], [3, 0, 2], [3, 4, 0], [1, 1, 1], [0, 0, 0]] {
            let mut g = Graph::new();
            let labels: Vec<Term> = (0..3)
                .map(|_| {
                    let of = g.add_input(Elem::F64, 1);
                    g.shape(of)[0]
                })
                .collect();
            let shape = |labels_of: &[u8]| labels_of.iter().map(|&l| labels[usize::from(l)]).collect::<Vec<_>>();
            let a = g.add_input_shaped(Elem::F64, shape(&c.a));
            let b = g.add_input_shaped(Elem::F64, shape(&c.b));
            let product = g.contract(a, b, c.clone());
            let sum = g.sum_axes(product, &axes);
            let new = associate::associate(&mut g, &[sum], &mut Context::default())[0];
            assert_ne!(new, sum, "{c:?} {axes:?}");
            assert_eq!(valid::validate(&g, &[new]), Ok(()));
            assert_eq!(g.ty(new), g.ty(sum));
            let kept = associate::associate(&mut g, &[sum, product], &mut Context::default());
            assert_eq!(kept, vec![sum, product], "what is needed anyway is summed as it is");
            assert_eq!(associate::associate(&mut g, &[sum], &mut with_exact([sum])), vec![sum]);
            for special in [0.5, f64::INFINITY, f64::NAN] {
                let mut inputs: Vec<Value> = sizes.iter().map(|&n| Value::reals(&[n], &vec![0.0; n])).collect();
                for (of, phase) in [(&c.a, 0.3), (&c.b, 1.1)] {
                    let shape: Vec<usize> = of.iter().map(|&l| sizes[usize::from(l)]).collect();
                    let at = |k: usize, phase: f64| ((k as f64 + 1.0) * 0.7 + phase).sin();
                    let n = shape.iter().product();
                    let mut xs: Vec<f64> = (0..n).map(|k| at(k, phase)).collect();
                    xs.last_mut().into_iter().for_each(|x| *x *= 2.0 * special);
                    let ds: Vec<f64> = (0..n).map(|k| at(k, phase + 0.2)).collect();
                    inputs.push(Value::reals(&shape, &xs).with_tangent(&ds));
                }
                let values = Interp::new(&g, &inputs).eval_all(&[sum, new]).unwrap();
                let all = |v: &Value| [v.values(), v.tangents()].concat();
                for (p, q) in all(&values[0]).iter().zip(all(&values[1])) {
                    let same = p == &q || (p - q).abs() <= 1e-14 || (!p.is_finite() && !q.is_finite());
                    assert!(same, "{c:?} {axes:?} {sizes:?}: {p} {q}");
                }
            }
        }
    }
}

/// `sum_n of -(sum_j select mask (x_nj *0 w_jk) 0)` and similar sums: the map is applied once, to
/// the sum of the items.
#[test]
fn linear_maps_are_taken_out_of_sums() {
    for (absorbing, masked, negated) in [(true, true, true), (false, false, true), (true, false, false)] {
        for sizes in [[4, 3, 2], [0, 3, 2], [4, 0, 2], [1, 1, 1]] {
            let mut g = Graph::new();
            let x = g.add_input(Elem::F64, 2);
            let w = g.add_input(Elem::F64, 2);
            let mask = g.add_input(Elem::Bool, 2);
            let (n, j) = (g.shape(x)[0], g.shape(x)[1]);
            let k = g.shape(w)[1];
            let (w, mask) = (g.recast(w, &[j, k]), g.recast(mask, &[j, k]));
            let spread = g.replicate_axes(x, &[2], &[k]);
            let (shared, shared_mask) = (g.replicate(n, w), g.replicate(n, mask));
            let f = if absorbing { Binary::MulZero } else { Binary::Mul };
            let mut items = g.binary(f, spread, shared);
            if masked {
                let zero = g.zeros_like(items);
                items = g.select(shared_mask, items, zero);
            }
            let each = g.sum_axes(items, &[1]);
            let each = if negated { g.neg(each) } else { each };
            let sum = g.sum_axes(each, &[0]);
            let new = hoist::hoist(&mut g, &[sum], &mut Context::default())[0];
            assert_eq!(valid::validate(&g, &[new]), Ok(()));
            assert_eq!(g.ty(new), g.ty(sum));
            let over = |g: &Graph, t: Term| g.reachable(&[t]).iter().filter(|u| g.rank(**u) == 3).count();
            assert_eq!((over(&g, sum) > 0, over(&g, new)), (true, 0), "no array over items, rows and columns is left");
            let read = hoist::hoist(&mut g, &[sum, each], &mut Context::default());
            assert_eq!(read, [sum, each], "what is needed anyway is summed as it is");
            assert_eq!(hoist::hoist(&mut g, &[sum], &mut with_exact([sum])), vec![sum]);
            let of = |rows: usize, columns: usize, phase: f64| {
                let xs: Vec<f64> = (0..rows * columns).map(|k| ((k as f64 + 1.0) * 0.7 + phase).sin()).collect();
                Value::reals(&[rows, columns], &xs).with_tangent(&xs.iter().map(|x| x * x).collect::<Vec<_>>())
            };
            let [n, j, k] = sizes;
            let bools: Vec<bool> = (0..j * k).map(|i| i % 3 != 1).collect();
            let inputs = vec![of(n, j, 0.3), of(j, k, 1.1), Value::bools(&[j, k], &bools)];
            let values = Interp::new(&g, &inputs).eval_all(&[sum, new]).unwrap();
            let all = |v: &Value| [v.values(), v.tangents()].concat();
            for (p, q) in all(&values[0]).iter().zip(all(&values[1])) {
                assert!((p - q).abs() <= 1e-13, "{sizes:?}: {p} {q}");
            }
        }
    }
    // No sum is smaller here, since both factors vary.
    let mut g = Graph::new();
    let x = g.add_input(Elem::F64, 2);
    let (n, j) = (g.shape(x)[0], g.shape(x)[1]);
    let y = g.add_input_shaped(Elem::F64, vec![n, j]);
    let (a, b) = (g.replicate_axes(x, &[2], &[j]), g.replicate_axes(y, &[1], &[j]));
    let items = g.binary(Binary::MulZero, a, b);
    let sum = g.sum_axes(items, &[0]);
    assert_eq!(hoist::hoist(&mut g, &[sum], &mut Context::default()), vec![sum]);
}
