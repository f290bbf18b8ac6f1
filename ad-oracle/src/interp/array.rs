//! The meaning of the primitives on arrays of dual numbers: index by index, without fusion or
//! optimisation. This module knows neither terms nor scopes, and shares no kernel with
//! `ad-runtime`.

use super::linalg;
use super::order;
use super::scalar;
use super::value::{Array, Data, Dual, ravel, unravel};
use ad_core::ir::{Contraction, Elem, IntTy, RealTy};
use ad_core::prim::{Binary, Prim, Reduce};

/// The amount of work, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Work {
    /// Cheap real arithmetic: additions, products, selections.
    pub real: u64,
    /// Scalar functions that are expensive (by the column of the tables).
    pub expensive: u64,
    /// Integer and boolean operations.
    pub discrete: u64,
    /// Elements copied from one layout to another, or read by an index.
    pub moved: u64,
}

impl Work {
    /// The total work.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.real + self.expensive + self.discrete + self.moved
    }
}

type Out = Result<Array, String>;

/// The value of a primitive. Its work is counted.
pub(super) fn prim(prim: &Prim, args: &[&Array], work: &mut Work) -> Out {
    let result = apply(prim, args)?;
    let n = result.data.len() as u64;
    let input = args.first().map_or(0, |a| a.data.len() as u64);
    match prim {
        Prim::Unary(_) | Prim::Binary(_) | Prim::PowI => {
            *if prim.is_expensive() { &mut work.expensive } else { &mut work.real } += n;
        }
        Prim::Compare(_) | Prim::Int(_) | Prim::IntNeg | Prim::TotalOrder | Prim::Not | Prim::And | Prim::Or => {
            work.discrete += n;
        }
        Prim::Select | Prim::Cast(_) if result.elem.is_real() => work.real += n,
        Prim::Select | Prim::Cast(_) => work.discrete += n,
        Prim::Sum(_) | Prim::Reduce(..) if args[0].elem.is_real() => work.real += input,
        Prim::Sum(_) | Prim::Reduce(..) => work.discrete += input,
        Prim::CumSum(_) => work.real += n,
        Prim::Argsort(_) => work.discrete += n * u64::from(args[1].shape.last().map_or(1, |n| n.max(&1).ilog2() + 1)),
        Prim::Fourier(_) => work.real += 4 * n * u64::from(n.max(1).ilog2()),
        Prim::Call(_) | Prim::Onto(..) | Prim::Returned(..) | Prim::Derived(_) => work.moved += n,
        Prim::Contract(c) => work.real += 2 * n * contracted(c, args[0]).1.iter().product::<usize>() as u64,
        // For each element of the result, as many steps as the matrix has rows.
        Prim::Factor(_) | Prim::TriangularSolve(_) | Prim::LuSolve(_) | Prim::LogDet | Prim::CholeskyChange(_) => {
            let rows = args.get(1).filter(|a| !a.shape.is_empty()).unwrap_or(&args[0]).shape.last().copied();
            work.real += 2 * n * rows.unwrap_or(0) as u64;
        }
        Prim::Fused => work.real += 2 * n,
        Prim::StopGradient
        | Prim::RelaxedExact
        | Prim::UnknownOrder
        | Prim::Finished
        | Prim::Checkpoint
        | Prim::Watched(_) => {}
        Prim::Replicate(_)
        | Prim::Transpose(_)
        | Prim::Reshape
        | Prim::Recast
        | Prim::Slice(_)
        | Prim::Pad(_)
        | Prim::Iota
        | Prim::RowIndex(_)
        | Prim::Stack => work.moved += n,
    }
    Ok(result)
}

fn apply(prim: &Prim, args: &[&Array]) -> Out {
    match prim {
        Prim::Unary(f) => {
            let (ty, xs) = reals(args[0])?;
            real_like(args[0], xs.iter().map(|&x| scalar::round(ty, scalar::unary(*f, x))))
        }
        Prim::Binary(f) => {
            let ((ty, xs), (_, ys)) = (reals(args[0])?, reals(args[1])?);
            same(args)?;
            real_like(args[0], xs.iter().zip(ys).map(|(&x, &y)| scalar::round(ty, scalar::binary(*f, x, y))))
        }
        Prim::PowI => {
            let ((ty, xs), (_, ns)) = (reals(args[0])?, ints(args[1])?);
            same(args)?;
            real_like(args[0], xs.iter().zip(ns).map(|(&x, &n)| scalar::round(ty, scalar::powi(x, n))))
        }
        Prim::Compare(op) => {
            same(args)?;
            let data = match (&args[0].data, &args[1].data) {
                (Data::Real(a), Data::Real(b)) => {
                    a.iter().zip(b).map(|(a, b)| scalar::compare(*op, &a.v, &b.v)).collect()
                }
                (Data::Int(a), Data::Int(b)) => a.iter().zip(b).map(|(a, b)| scalar::compare(*op, a, b)).collect(),
                (Data::Bool(a), Data::Bool(b)) => a.iter().zip(b).map(|(a, b)| scalar::compare(*op, a, b)).collect(),
                _ => return Err("comparison of different types".into()),
            };
            Ok(Array { elem: Elem::Bool, shape: args[0].shape.clone(), data: Data::Bool(data) })
        }
        Prim::Int(op) => {
            let ((ty, xs), (_, ys)) = (ints(args[0])?, ints(args[1])?);
            same(args)?;
            int_like(args[0], xs.iter().zip(ys).map(|(&x, &y)| scalar::int(*op, ty, x, y)))
        }
        Prim::IntNeg => {
            let (ty, xs) = ints(args[0])?;
            int_like(args[0], xs.iter().map(|&x| scalar::clamp(ty, -x)))
        }
        Prim::TotalOrder => {
            let (_, xs) = reals(args[0])?;
            let data = Data::Int(xs.iter().map(|x| scalar::order(x.v)).collect());
            Ok(Array { elem: Elem::Int(IntTy::I64), shape: args[0].shape.clone(), data })
        }
        Prim::Not => bool_like(args[0], bools(args[0])?.iter().map(|a| !a)),
        Prim::And => {
            same(args)?;
            bool_like(args[0], bools(args[0])?.iter().zip(bools(args[1])?).map(|(&a, &b)| a && b))
        }
        Prim::Or => {
            same(args)?;
            bool_like(args[0], bools(args[0])?.iter().zip(bools(args[1])?).map(|(&a, &b)| a || b))
        }
        Prim::Select => {
            same(args)?;
            let mask = bools(args[0])?;
            let data = match (&args[1].data, &args[2].data) {
                (Data::Real(a), Data::Real(b)) => Data::Real(choose(mask, a, b)),
                (Data::Int(a), Data::Int(b)) => Data::Int(choose(mask, a, b)),
                (Data::Bool(a), Data::Bool(b)) => Data::Bool(choose(mask, a, b)),
                _ => return Err("select between different types".into()),
            };
            Ok(Array { elem: args[1].elem, shape: args[1].shape.clone(), data })
        }
        Prim::Cast(to) => cast(*to, args[0]),
        Prim::UnknownOrder | Prim::Checkpoint | Prim::Watched(_) => Ok(args[0].clone()),
        Prim::Finished => {
            let data = Data::Bool(vec![true; args[0].shape.iter().product()]);
            Ok(Array { elem: Elem::Bool, shape: args[0].shape.clone(), data })
        }
        Prim::StopGradient => Ok(match &args[0].data {
            Data::Real(xs) => {
                let data = Data::Real(xs.iter().map(|x| Dual::constant(x.v)).collect());
                Array { elem: args[0].elem, shape: args[0].shape.clone(), data }
            }
            _ => args[0].clone(),
        }),
        Prim::Fused => {
            let ((ty, xs), (_, ys), (_, zs)) = (reals(args[0])?, reals(args[1])?, reals(args[2])?);
            same(args)?;
            let all = xs.iter().zip(ys).zip(zs);
            real_like(args[0], all.map(|((x, y), z)| Dual::constant(order::fused(ty, [x.v, y.v, z.v]))))
        }
        Prim::RelaxedExact => {
            let ((_, relaxed), (_, exact)) = (reals(args[0])?, reals(args[1])?);
            same(args)?;
            real_like(args[0], relaxed.iter().zip(exact).map(|(relaxed, exact)| Dual { v: exact.v, d: relaxed.d }))
        }
        Prim::Replicate(axes) => {
            let is_new = |axis: usize| axes.iter().position(|&a| usize::from(a) == axis);
            let mut shape = Vec::new();
            let mut old = args[0].shape.iter();
            for axis in 0..args[0].shape.len() + axes.len() {
                shape.push(match is_new(axis) {
                    Some(k) => size(args[1 + k])?,
                    None => *old.next().ok_or("replicate's axes leave a gap")?,
                });
            }
            Ok(args[0].pick(&shape, |ix| {
                let kept: Vec<usize> = (0..ix.len()).filter(|&k| is_new(k).is_none()).map(|k| ix[k]).collect();
                ravel(&kept, &args[0].shape)
            }))
        }
        Prim::Sum(axes) => {
            let summed = |k: &usize| axes.iter().any(|&a| usize::from(a) == *k);
            let kept: Vec<usize> = (0..args[0].shape.len()).filter(|k| !summed(k)).collect();
            let shape: Vec<usize> = kept.iter().map(|&k| args[0].shape[k]).collect();
            let mut out = Array::zeros(args[0].elem, &shape);
            for k in 0..args[0].data.len() {
                let ix = unravel(k, &args[0].shape);
                let to: Vec<usize> = kept.iter().map(|&axis| ix[axis]).collect();
                let to = ravel(&to, &shape).ok_or("sum's index")?;
                add_at(&mut out, to, args[0], k)?;
            }
            // Contiguous elements are added in ndarray's order.
            if let (Elem::Real(ty), true) = (args[0].elem, kept.iter().enumerate().all(|(n, &k)| n == k)) {
                let (_, xs) = reals(args[0])?;
                let size: usize = args[0].shape[kept.len()..].iter().product();
                if let Data::Real(sums) = &mut out.data {
                    for (k, sum) in sums.iter_mut().enumerate() {
                        sum.v = order::reduced(Reduce::Unrolled, ty, &xs[k * size..][..size]);
                    }
                }
            }
            Ok(out)
        }
        Prim::Reduce(op, rank) => reduce(*op, usize::from(*rank), args[0], args.get(1).copied()),
        Prim::Transpose(perm) => {
            let shape: Vec<usize> = perm.iter().map(|&a| args[0].shape[usize::from(a)]).collect();
            Ok(args[0].pick(&shape, |ix| {
                let mut from = vec![0; ix.len()];
                for (&a, &i) in perm.iter().zip(ix) {
                    from[usize::from(a)] = i;
                }
                ravel(&from, &args[0].shape)
            }))
        }
        Prim::Reshape => {
            let shape = sizes(&args[1..])?;
            if shape.iter().product::<usize>() != args[0].data.len() {
                return Err(format!("reshape of {:?} to {shape:?}", args[0].shape));
            }
            Ok(Array { shape, ..args[0].clone() })
        }
        Prim::Recast => {
            let shape = sizes(&args[1..])?;
            if shape != args[0].shape {
                return Err(format!("recast of {:?} to {shape:?}", args[0].shape));
            }
            Ok(args[0].clone())
        }
        Prim::Slice(steps) => {
            let rank = args[0].shape.len();
            let (starts, lens) = (sizes(&args[1..=rank])?, sizes(&args[1 + rank..])?);
            Ok(args[0].pick(&lens, |ix| ravel(&strided(&starts, steps, ix)?, &args[0].shape)))
        }
        Prim::Pad(steps) => {
            let rank = args[0].shape.len();
            let (starts, shape) = (sizes(&args[1..=rank])?, sizes(&args[1 + rank..])?);
            let mut from = vec![None; shape.iter().product()];
            for k in 0..args[0].data.len() {
                let to = strided(&starts, steps, &unravel(k, &args[0].shape));
                if let Some(to) = to.and_then(|to| ravel(&to, &shape)) {
                    from[to] = Some(k);
                }
            }
            Ok(args[0].pick(&shape, |ix| from[ravel(ix, &shape)?]))
        }
        Prim::Iota => {
            let n = size(args[0])?;
            Ok(Array { elem: Elem::USIZE, shape: vec![n], data: Data::Int((0..n as i128).collect()) })
        }
        Prim::RowIndex(place) => {
            let (total, width) = (size(args[1])?, args[0].shape.last().copied().ok_or("an array without axes")?);
            let Data::Int(lens) = &args[0].data else { return Err("lengths that are not integers".into()) };
            let count: usize = args[0].shape[..args[0].shape.len() - 1].iter().product();
            let mut data = Vec::with_capacity(count * total);
            for b in 0..count {
                let rows = lens[b * width..][..width].iter().enumerate();
                let all = rows.flat_map(|(row, &len)| (0..len).map(move |at| if *place { at } else { row as i128 }));
                let after = (0..).map(|at| if *place { at } else { width as i128 });
                data.extend(all.chain(after).take(total));
            }
            let shape = [&args[0].shape[..args[0].shape.len() - 1], &[total]].concat();
            Ok(Array { elem: Elem::USIZE, shape, data: Data::Int(data) })
        }
        Prim::Argsort(descending) => {
            let ((_, lens), (_, xs)) = (ints(args[0])?, ints(args[1])?);
            let width = args[1].shape.last().map_or(1, |&width| width.max(1));
            let mut data: Vec<i128> = (0..xs.len()).map(|k| (k % width) as i128).collect();
            for ((row, places), &len) in xs.chunks(width).zip(data.chunks_mut(width)).zip(lens) {
                // Before an element come those that are before it in the order of the values, and
                // equal ones of a smaller position.
                let row = &row[..usize::try_from(len).map_or(width, |len| len.min(width))];
                for (k, x) in row.iter().enumerate() {
                    let before = |&(j, y): &(usize, &i128)| {
                        let less = if *descending { y > x } else { y < x };
                        less || y == x && j < k
                    };
                    places[row.iter().enumerate().filter(before).count()] = k as i128;
                }
            }
            Ok(Array { elem: Elem::USIZE, shape: args[1].shape.clone(), data: Data::Int(data) })
        }
        Prim::Stack => Array::from_rows(args[0].elem, &args[0].shape, args),
        Prim::Contract(c) => contract(c, args[0], args[1]),
        Prim::Factor(kind) => {
            let (ty, xs) = reals(args[0])?;
            let (rows, [batch @ .., m, n]) = (size(args[1])?, &args[0].shape[..]) else {
                return Err("a factorisation of a value that is not a matrix".into());
            };
            let data = linalg::factor(*kind, xs, [*m, *n], rows);
            let data = data.into_iter().map(|x| scalar::round(ty, x)).collect();
            Ok(Array { elem: args[0].elem, shape: [batch, &[rows, *n]].concat(), data: Data::Real(data) })
        }
        Prim::TriangularSolve(_) | Prim::LuSolve(_) => {
            let ((ty, xs), (_, matrix)) = (reals(args[0])?, reals(args[1])?);
            let n = args[1].shape.last().copied().ok_or("an array without axes")?;
            let solved = match prim {
                Prim::TriangularSolve(by) => linalg::triangular(*by, xs, matrix, n),
                _ => linalg::general(*prim == Prim::LuSolve(true), xs, matrix, n),
            };
            real_like(args[0], solved.into_iter().map(|x| scalar::round(ty, x)))
        }
        Prim::CholeskyChange(back) => {
            let ((ty, xs), (_, factor)) = (reals(args[0])?, reals(args[1])?);
            let n = args[1].shape.last().copied().ok_or("an array without axes")?;
            let changed = linalg::cholesky_change(*back, xs, factor, n);
            real_like(args[0], changed.into_iter().map(|x| scalar::round(ty, x)))
        }
        Prim::LogDet => {
            let (ty, xs) = reals(args[0])?;
            let (one, [batch @ .., n, _]) = (size(args[2])?, &args[0].shape[..]) else {
                return Err("a determinant of a value that is not a matrix".into());
            };
            let shape = [batch, &[one]].concat();
            // A matrix without elements has the determinant 1.
            let mut data = linalg::log_det(xs, *n);
            data.resize(shape.iter().product(), Dual::default());
            let data = data.into_iter().map(|x| scalar::round(ty, x)).collect();
            Ok(Array { elem: args[0].elem, shape, data: Data::Real(data) })
        }
        Prim::Call(_) | Prim::Onto(..) | Prim::Returned(..) => {
            Err("a function that is compiled on its own has no meaning in one graph".into())
        }
        Prim::Derived(_) => Err("a derivative inside of a function is replaced before evaluation".into()),
        Prim::Fourier(back) => {
            let (ty, xs) = reals(args[0])?;
            let n = args[0].shape.last().copied().ok_or("an array without axes")?;
            let data = xs.chunks(2 * n.max(1)).flat_map(|rows| fourier(rows, *back));
            real_like(args[0], data.map(|x| scalar::round(ty, x)))
        }
        Prim::CumSum(back) => {
            let (ty, xs) = reals(args[0])?;
            let width = args[0].shape.last().copied().ok_or("an array without axes")?;
            // Element k is the sum of the elements of its row up to k, or from k to the end, in the
            // order of the recurrence.
            let sums = (0..xs.len()).map(|k| {
                let (first, end) = (k / width * width, k / width * width + width);
                let add = |s: Dual, x: &Dual| scalar::round(ty, Dual { v: s.v + x.v, d: s.d + x.d });
                let row = if *back { &xs[k..end] } else { &xs[first..=k] };
                let ordered: Vec<&Dual> = if *back { row.iter().rev().collect() } else { row.iter().collect() };
                ordered[1..].iter().fold(*ordered[0], |s, x| add(s, x))
            });
            real_like(args[0], sums)
        }
    }
}

/// The discrete Fourier transform of a row of real parts and a row of imaginary parts, by its
/// definition.
fn fourier(rows: &[Dual], back: bool) -> Vec<Dual> {
    let n = rows.len() / 2;
    let (re, im) = rows.split_at(n);
    let element = |k: usize, imaginary: bool| {
        let zero = Dual { v: 0.0, d: 0.0 };
        (0..n).fold(zero, |sum, j| {
            let angle = std::f64::consts::TAU * ((j * k) % n) as f64 / n as f64;
            let (cos, sin) = (angle.cos(), if back { angle.sin() } else { -angle.sin() });
            let (a, b) = if imaginary { (sin, cos) } else { (cos, -sin) };
            Dual { v: sum.v + a * re[j].v + b * im[j].v, d: sum.d + a * re[j].d + b * im[j].d }
        })
    };
    [false, true]
        .iter()
        .flat_map(|&imaginary| (0..n).map(move |k| (k, imaginary)))
        .map(|(k, i)| element(k, i))
        .collect()
}

fn choose<T: Clone>(mask: &[bool], a: &[T], b: &[T]) -> Vec<T> {
    mask.iter().zip(a.iter().zip(b)).map(|(&c, (a, b))| if c { a.clone() } else { b.clone() }).collect()
}

fn strided(starts: &[usize], steps: &[i64], ix: &[usize]) -> Option<Vec<usize>> {
    let axes = starts.iter().zip(steps).zip(ix);
    axes.map(|((&start, &step), &i)| usize::try_from(start as i128 + i128::from(step) * i as i128).ok()).collect()
}

/// Adds element `from` of `src` to element `to` of `dst`.
pub(super) fn set_at(dst: &mut Array, to: usize, src: &Array, from: usize) -> Result<(), String> {
    match (&mut dst.data, &src.data) {
        (Data::Real(out), Data::Real(xs)) => out[to] = xs[from],
        (Data::Int(out), Data::Int(xs)) => out[to] = xs[from],
        (Data::Bool(out), Data::Bool(xs)) => out[to] = xs[from],
        _ => return Err("an element of another type".into()),
    }
    Ok(())
}

pub(super) fn add_at(dst: &mut Array, to: usize, src: &Array, from: usize) -> Result<(), String> {
    match (&mut dst.data, &src.data) {
        (Data::Real(out), Data::Real(xs)) => {
            let ty = if let Elem::Real(ty) = dst.elem { ty } else { RealTy::F64 };
            let (a, b) = (out[to], xs[from]);
            out[to] = scalar::round(ty, Dual { v: a.v + b.v, d: a.d + b.d });
        }
        (Data::Int(out), Data::Int(xs)) => {
            let ty = if let Elem::Int(ty) = dst.elem { ty } else { IntTy::I64 };
            out[to] = scalar::int(ad_core::prim::IntOp::Add, ty, out[to], xs[from]);
        }
        _ => return Err("sum of what has no sum".into()),
    }
    Ok(())
}

fn reduce(op: Reduce, rank: usize, x: &Array, lens: Option<&Array>) -> Out {
    let (outer, inner) = x.shape.split_at(x.shape.len() - rank);
    let (n, size): (usize, usize) = (outer.iter().product(), inner.iter().product());
    let lens = lens.map(ints).transpose()?.map(|(_, lens)| lens);
    if lens.is_some_and(|lens| lens.iter().any(|&len| usize::try_from(len).is_ok_and(|len| len > size))) {
        return Err(format!("more first elements than {size}"));
    }
    let len = |k: usize| lens.and_then(|lens| usize::try_from(lens[k]).ok()).unwrap_or(size);
    let ranges = (0..n).map(|k| k * size..k * size + len(k));
    let (elem, data) = match (op, &x.data) {
        (Reduce::Max | Reduce::Min, Data::Real(xs)) => {
            let f = if op == Reduce::Max { ad_core::prim::Binary::Max } else { ad_core::prim::Binary::Min };
            let empty = Dual::constant(if op == Reduce::Max { f64::NEG_INFINITY } else { f64::INFINITY });
            let fold = |r: std::ops::Range<usize>| {
                xs[r].iter().copied().reduce(|a, b| scalar::binary(f, a, b)).unwrap_or(empty)
            };
            (x.elem, Data::Real(ranges.map(fold).collect()))
        }
        (Reduce::Max | Reduce::Min, Data::Int(xs)) => {
            let (ty, _) = ints(x)?;
            let (lo, hi) = scalar::limits(ty);
            let fold = |r: std::ops::Range<usize>| {
                let all = xs[r].iter().copied();
                if op == Reduce::Max { all.max().unwrap_or(lo) } else { all.min().unwrap_or(hi) }
            };
            (x.elem, Data::Int(ranges.map(fold).collect()))
        }
        (Reduce::ArgMax | Reduce::ArgMin, data) => {
            // Whether element b replaces element a, which comes first.
            let beats = |a: usize, b: usize| match data {
                Data::Real(xs) => {
                    let (a, b) = (xs[a].v, xs[b].v);
                    (a.is_nan() && !b.is_nan()) || if op == Reduce::ArgMax { b > a } else { b < a }
                }
                Data::Int(xs) => {
                    if op == Reduce::ArgMax {
                        xs[b] > xs[a]
                    } else {
                        xs[b] < xs[a]
                    }
                }
                Data::Bool(_) => false,
            };
            let best = |r: std::ops::Range<usize>| {
                let start = r.start;
                r.reduce(|a, b| if beats(a, b) { b } else { a }).map_or(0, |k| (k - start) as i128)
            };
            (Elem::USIZE, Data::Int(ranges.map(best).collect()))
        }
        (op, Data::Real(xs)) if op.keeps_order() => {
            let (ty, _) = reals(x)?;
            (x.elem, Data::Real(ranges.map(|r| Dual::constant(order::reduced(op, ty, &xs[r]))).collect()))
        }
        (Reduce::All, Data::Bool(xs)) => (Elem::Bool, Data::Bool(ranges.map(|r| xs[r].iter().all(|&b| b)).collect())),
        (Reduce::Any, Data::Bool(xs)) => (Elem::Bool, Data::Bool(ranges.map(|r| xs[r].iter().any(|&b| b)).collect())),
        _ => return Err(format!("{op:?} of {:?}", x.elem)),
    };
    Ok(Array { elem, shape: outer.to_vec(), data })
}

/// The labels that are summed over, and their sizes.
fn contracted(c: &Contraction, a: &Array) -> (Vec<u8>, Vec<usize>) {
    c.a.iter().zip(&a.shape).filter(|(l, _)| !c.out.contains(l)).unzip()
}

fn contract(c: &Contraction, a: &Array, b: &Array) -> Out {
    let ((ty, xs), (_, ys)) = (reals(a)?, reals(b)?);
    let size = |l: &u8| {
        let find = |labels: &[u8], shape: &[usize]| labels.iter().position(|m| m == l).map(|k| shape[k]);
        find(&c.a, &a.shape).or_else(|| find(&c.b, &b.shape)).ok_or("a label without a size")
    };
    let shape = c.out.iter().map(size).collect::<Result<Vec<usize>, _>>()?;
    let (labels, inner) = contracted(c, a);
    let mut data = Vec::new();
    for k in 0..shape.iter().product() {
        let at = unravel(k, &shape);
        let mut sum = Dual::default();
        for j in 0..inner.iter().product() {
            let over = unravel(j, &inner);
            let position = |l: &u8| match c.out.iter().position(|m| m == l) {
                Some(axis) => at[axis],
                None => labels.iter().position(|m| m == l).map_or(0, |axis| over[axis]),
            };
            let ka: Vec<usize> = c.a.iter().map(position).collect();
            let kb: Vec<usize> = c.b.iter().map(position).collect();
            let x = xs[ravel(&ka, &a.shape).ok_or("contraction: sizes differ")?];
            let y = ys[ravel(&kb, &b.shape).ok_or("contraction: sizes differ")?];
            let product = match c.absorbs {
                [true, true] if y.v == 0.0 => Dual::default(),
                [true, _] => scalar::binary(Binary::MulZero, x, y),
                [_, true] => scalar::binary(Binary::MulZero, y, x),
                _ => scalar::binary(Binary::Mul, x, y),
            };
            let product = scalar::round(ty, product);
            sum = scalar::round(ty, Dual { v: sum.v + product.v, d: sum.d + product.d });
        }
        data.push(sum);
    }
    Ok(Array { elem: a.elem, shape, data: Data::Real(data) })
}

fn cast(to: Elem, x: &Array) -> Out {
    let data = match (to, &x.data) {
        (Elem::Real(ty), Data::Real(xs)) => Data::Real(xs.iter().map(|&x| scalar::round(ty, x)).collect()),
        (Elem::Real(_), Data::Int(xs)) => {
            Data::Real(xs.iter().map(|&x| Dual::constant(scalar::int_to_real(to, x))).collect())
        }
        (Elem::Int(ty), Data::Real(xs)) => Data::Int(xs.iter().map(|x| scalar::real_to_int(ty, x.v)).collect()),
        (Elem::Int(ty), Data::Int(xs)) => Data::Int(xs.iter().map(|&x| scalar::int_to_int(ty, x)).collect()),
        (Elem::Int(_), Data::Bool(xs)) => Data::Int(xs.iter().map(|&x| i128::from(x)).collect()),
        _ => return Err(format!("cast of {:?} to {to:?}", x.elem)),
    };
    Ok(Array { elem: to, shape: x.shape.clone(), data })
}

fn reals(x: &Array) -> Result<(RealTy, &[Dual]), String> {
    match (x.elem, &x.data) {
        (Elem::Real(ty), Data::Real(xs)) => Ok((ty, xs)),
        _ => Err(format!("{:?} where reals are expected", x.elem)),
    }
}

fn ints(x: &Array) -> Result<(IntTy, &[i128]), String> {
    match (x.elem, &x.data) {
        (Elem::Int(ty), Data::Int(xs)) => Ok((ty, xs)),
        _ => Err(format!("{:?} where integers are expected", x.elem)),
    }
}

fn bools(x: &Array) -> Result<&[bool], String> {
    match &x.data {
        Data::Bool(xs) => Ok(xs),
        _ => Err(format!("{:?} where booleans are expected", x.elem)),
    }
}

/// The value of a `usize` scalar.
pub(super) fn size(x: &Array) -> Result<usize, String> {
    match (&x.data, x.shape.is_empty()) {
        (Data::Int(xs), true) => usize::try_from(xs[0]).map_err(|_| format!("a size of {}", xs[0])),
        _ => Err("a size is an integer scalar".into()),
    }
}

fn sizes(xs: &[&Array]) -> Result<Vec<usize>, String> {
    xs.iter().map(|x| size(x)).collect()
}

fn same(args: &[&Array]) -> Result<(), String> {
    match args.iter().find(|a| a.shape != args[0].shape) {
        Some(a) => Err(format!("shapes {:?} and {:?} in an elementwise operation", args[0].shape, a.shape)),
        None => Ok(()),
    }
}

fn real_like(x: &Array, data: impl Iterator<Item = Dual>) -> Out {
    Ok(Array { elem: x.elem, shape: x.shape.clone(), data: Data::Real(data.collect()) })
}

fn int_like(x: &Array, data: impl Iterator<Item = i128>) -> Out {
    Ok(Array { elem: x.elem, shape: x.shape.clone(), data: Data::Int(data.collect()) })
}

fn bool_like(x: &Array, data: impl Iterator<Item = bool>) -> Out {
    Ok(Array { elem: x.elem, shape: x.shape.clone(), data: Data::Bool(data.collect()) })
}
