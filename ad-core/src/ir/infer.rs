//! Typing (BOT Fig. 8): the type of a form from the types of its children. A term that cannot be typed cannot be made.

use super::{Body, Elem, Graph, Node, Put, Scan, Term, Type};
use crate::prim::{Prim, Reduce};

/// Why a form has no type. The front end checks before it builds, so a user never sees one; it is our error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeError(pub String);

impl std::fmt::Display for TypeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TypeError {}

type Typed = Result<Type, TypeError>;

fn bad<T>(message: impl Into<String>) -> Result<T, TypeError> {
    Err(TypeError(message.into()))
}

macro_rules! ensure {
    ($cond:expr, $($message:tt)*) => {
        if !$cond {
            return bad(format!($($message)*));
        }
    };
}

fn array(g: &Graph, t: Term) -> Result<(Elem, &[Term]), TypeError> {
    match g.ty(t) {
        Type::Array(elem, shape) => Ok((*elem, shape)),
        Type::Tuple(_) => bad("an array is expected where a tuple stands"),
    }
}

/// A size: a `usize` scalar without bound variables.
fn size(g: &Graph, t: Term) -> Result<(), TypeError> {
    ensure!(*g.ty(t) == Type::scalar(Elem::USIZE), "a size is a usize scalar, not {:?}", g.ty(t));
    ensure!(g.free(t).is_empty(), "a size depends on a build index");
    ensure!(!g.is_open(t), "a size depends on a loop's own values");
    Ok(())
}

fn index(g: &Graph, t: Term) -> Result<(), TypeError> {
    ensure!(*g.ty(t) == Type::scalar(Elem::USIZE), "an index is a usize scalar, not {:?}", g.ty(t));
    Ok(())
}

fn shaped(elem: Elem, shape: impl IntoIterator<Item = Term>) -> Typed {
    Ok(Type::Array(elem, shape.into_iter().collect()))
}

/// The type of `node`, whose children are typed already.
pub(super) fn infer(g: &Graph, node: &Node) -> Typed {
    match node {
        Node::Input(k) => match g.inputs().get(*k as usize) {
            Some(ty) => Ok(ty.clone()),
            None => bad("no such input"),
        },
        Node::Size(k, axis) => match g.input_rank(*k) {
            Some(rank) if *axis < rank => Ok(Type::scalar(Elem::USIZE)),
            _ => bad("no such axis"),
        },
        Node::Var(_) => Ok(Type::scalar(Elem::USIZE)),
        Node::Param(_, ty) => Ok(ty.clone()),
        Node::Lit(lit) => Ok(Type::scalar(lit.elem())),
        Node::Tuple(parts) => Ok(Type::Tuple(parts.iter().map(|&t| g.ty(t).clone()).collect())),
        Node::Proj(tuple, k) => match g.ty(*tuple) {
            Type::Tuple(parts) if (*k as usize) < parts.len() => Ok(parts[*k as usize].clone()),
            _ => bad("projection of what is not such a tuple"),
        },
        Node::Build { size: n, var: _, body } => {
            size(g, *n)?;
            let (elem, shape) = array(g, *body)?;
            shaped(elem, std::iter::once(*n).chain(shape.iter().copied()))
        }
        Node::Cond { cond, then, other } => {
            ensure!(*g.ty(*cond) == Type::scalar(Elem::Bool), "a condition is a boolean scalar");
            ensure!(
                g.ty(*then) == g.ty(*other),
                "the arms of a conditional differ: {:?}, {:?}",
                g.ty(*then),
                g.ty(*other)
            );
            Ok(g.ty(*then).clone())
        }
        Node::Scan(scan) => infer_scan(g, scan),
        Node::Call(func, args) => match g.functions().get(func.0 as usize) {
            Some(f) => {
                ensure!(args.len() == f.body.params.len(), "a call with the wrong number of arguments");
                for (&arg, ty) in args.iter().zip(&f.body.params) {
                    ensure!(g.ty(arg) == ty, "an argument of a call has the wrong type");
                }
                Ok(match &*f.body.results {
                    [one] => g.ty(*one).clone(),
                    many => Type::Tuple(many.iter().map(|&t| g.ty(t).clone()).collect()),
                })
            }
            None => bad("no such function"),
        },
        Node::Gather { src, sizes, vars, index: ix } => {
            let (elem, shape) = array(g, *src)?;
            ensure!(sizes.len() == vars.len(), "gather has one size for each variable");
            ensure!(ix.len() <= shape.len(), "more indices than axes");
            sizes.iter().try_for_each(|&t| size(g, t))?;
            ix.iter().try_for_each(|&t| index(g, t))?;
            shaped(elem, sizes.iter().chain(&shape[ix.len()..]).copied())
        }
        Node::Scatter { put, dst, src, vars, index: ix } => {
            let (elem, shape) = array(g, *dst)?;
            let (src_elem, src_shape) = array(g, *src)?;
            match put {
                Put::Add => ensure!(elem == src_elem && elem.is_real(), "scatter adds reals to reals"),
                Put::Set => {
                    ensure!(elem == src_elem, "an update changes the type of elements");
                    ensure!(!ix.is_empty() || vars.is_empty(), "an update puts several rows at one place");
                }
            }
            ensure!(ix.len() <= shape.len(), "more indices than axes");
            ensure!(vars.len() <= src_shape.len(), "more variables than axes of the source");
            ensure!(shape[ix.len()..] == src_shape[vars.len()..], "the rows of a scatter differ in shape");
            ix.iter().try_for_each(|&t| index(g, t))?;
            Ok(g.ty(*dst).clone())
        }
        Node::Prim(prim, args) => infer_prim(g, prim, args),
    }
}

fn infer_scan(g: &Graph, scan: &Scan) -> Typed {
    let Scan { count, reverse: _, stop, init, captures, xs, body } = scan;
    let Body { params, results } = body;
    size(g, *count)?;
    ensure!(params.len() == init.len() + captures.len() + xs.len(), "a scan's body has the wrong number of parameters");
    for (&t, ty) in init.iter().chain(captures).zip(params) {
        ensure!(g.ty(t) == ty, "a scan's argument has type {:?}, its parameter {ty:?}", g.ty(t));
    }
    for (&t, ty) in xs.iter().zip(&params[init.len() + captures.len()..]) {
        let (elem, shape) = array(g, t)?;
        ensure!(shape.first() == Some(count), "an array consumed by a scan has another outer size");
        ensure!(*ty == Type::Array(elem, shape[1..].into()), "a row of a scan has the wrong type");
    }
    ensure!(results.len() >= init.len(), "a scan's body has too few results");
    if let Some(stop) = stop {
        let ty = init.get(*stop).map(|&t| g.ty(t));
        ensure!(ty == Some(&Type::scalar(Elem::Bool)), "what stops a scan is a carried boolean scalar");
    }
    for (&t, ty) in results.iter().zip(params.iter().take(init.len())) {
        ensure!(g.ty(t) == ty, "a carried value changes its type: {ty:?} to {:?}", g.ty(t));
    }
    for &t in results {
        ensure!(g.free(t).is_empty(), "a scan's body is not closed");
    }
    let mut parts: Vec<Type> = init.iter().map(|&t| g.ty(t).clone()).collect();
    for &t in &results[init.len()..] {
        let (elem, shape) = array(g, t)?;
        parts.push(Type::Array(elem, std::iter::once(*count).chain(shape.iter().copied()).collect()));
    }
    Ok(Type::Tuple(parts.into()))
}

fn infer_prim(g: &Graph, prim: &Prim, args: &[Term]) -> Typed {
    let arity = |n: usize| {
        if args.len() == n { Ok(()) } else { bad(format!("{} takes {n} arguments, not {}", prim.name(), args.len())) }
    };
    let same_shape = || -> Result<Box<[Term]>, TypeError> {
        let (_, first) = array(g, args[0])?;
        for &t in &args[1..] {
            ensure!(array(g, t)?.1 == first, "{}: shapes differ", prim.name());
        }
        Ok(first.into())
    };
    let elem = |k: usize| array(g, args[k]).map(|a| a.0);
    match prim {
        Prim::Unary(_) => {
            arity(1)?;
            ensure!(elem(0)?.is_real(), "{} of what is not real", prim.name());
            Ok(g.ty(args[0]).clone())
        }
        Prim::Binary(_) => {
            arity(2)?;
            let shape = same_shape()?;
            ensure!(elem(0)? == elem(1)? && elem(0)?.is_real(), "{} of {:?} and {:?}", prim.name(), elem(0)?, elem(1)?);
            shaped(elem(0)?, shape)
        }
        Prim::PowI => {
            arity(2)?;
            let shape = same_shape()?;
            ensure!(elem(0)?.is_real() && elem(1)? == Elem::Int(super::IntTy::I32), "powi takes a real and an i32");
            shaped(elem(0)?, shape)
        }
        Prim::Compare(_) => {
            arity(2)?;
            let shape = same_shape()?;
            ensure!(elem(0)? == elem(1)?, "comparison of different types");
            shaped(Elem::Bool, shape)
        }
        Prim::Int(_) => {
            arity(2)?;
            let shape = same_shape()?;
            ensure!(
                elem(0)? == elem(1)? && matches!(elem(0)?, Elem::Int(_)),
                "{} of what are not integers of one type",
                prim.name()
            );
            shaped(elem(0)?, shape)
        }
        Prim::IntNeg => {
            arity(1)?;
            ensure!(matches!(elem(0)?, Elem::Int(_)), "negation of what is no integer");
            Ok(g.ty(args[0]).clone())
        }
        Prim::Order => {
            arity(1)?;
            ensure!(elem(0)?.is_real(), "the order of what is not real");
            shaped(Elem::Int(super::IntTy::I64), array(g, args[0])?.1.iter().copied())
        }
        Prim::Not | Prim::And | Prim::Or => {
            arity(if matches!(prim, Prim::Not) { 1 } else { 2 })?;
            let shape = same_shape()?;
            for k in 0..args.len() {
                ensure!(elem(k)? == Elem::Bool, "{} of what is not boolean", prim.name());
            }
            shaped(Elem::Bool, shape)
        }
        Prim::Select => {
            arity(3)?;
            let shape = same_shape()?;
            ensure!(elem(0)? == Elem::Bool && elem(1)? == elem(2)?, "select takes a mask and two arrays of one type");
            shaped(elem(1)?, shape)
        }
        Prim::Cast(to) => {
            arity(1)?;
            ensure!(elem(0)? != Elem::Bool || !to.is_real(), "no cast from bool to a real");
            ensure!(*to != Elem::Bool, "no cast to bool");
            shaped(*to, array(g, args[0])?.1.iter().copied())
        }
        Prim::StopGradient | Prim::Unordered => {
            arity(1)?;
            array(g, args[0])?;
            Ok(g.ty(args[0]).clone())
        }
        Prim::Fused => {
            arity(3)?;
            let shape = same_shape()?;
            ensure!(elem(0)?.is_real() && elem(0)? == elem(1)? && elem(0)? == elem(2)?, "reals of one type are fused");
            shaped(elem(0)?, shape)
        }
        Prim::Own => {
            arity(2)?;
            let shape = same_shape()?;
            ensure!(elem(0)?.is_real() && elem(0)? == elem(1)?, "a number in two ways is a real of one type");
            shaped(elem(0)?, shape)
        }
        Prim::Replicate(axes) => {
            arity(1 + axes.len())?;
            args[1..].iter().try_for_each(|&t| size(g, t))?;
            let (elem, shape) = array(g, args[0])?;
            ensure!(axes.windows(2).all(|w| w[0] < w[1]), "replicate's axes ascend");
            let mut old = shape.iter();
            let mut result = Vec::new();
            for axis in 0..shape.len() + axes.len() {
                match axes.iter().position(|&a| usize::from(a) == axis) {
                    Some(k) => result.push(args[1 + k]),
                    None => match old.next() {
                        Some(&n) => result.push(n),
                        None => return bad("replicate's axes leave a gap"),
                    },
                }
            }
            shaped(elem, result)
        }
        Prim::Sum(axes) => {
            arity(1)?;
            let (elem, shape) = array(g, args[0])?;
            ensure!(elem != Elem::Bool, "sum of booleans");
            ensure!(
                axes.windows(2).all(|w| w[0] < w[1]) && axes.iter().all(|&a| usize::from(a) < shape.len()),
                "sum's axes"
            );
            shaped(
                elem,
                shape.iter().enumerate().filter(|(k, _)| !axes.iter().any(|&a| usize::from(a) == *k)).map(|(_, &n)| n),
            )
        }
        Prim::Reduce(op, rank) => {
            ensure!(!args.is_empty(), "a reduction of nothing");
            let (elem, shape) = array(g, args[0])?;
            ensure!(usize::from(*rank) <= shape.len(), "reduction over more axes than there are");
            if let (2, true, 1) = (args.len(), op.of_first(), rank) {
                let (len, lanes) = array(g, args[1])?;
                ensure!(len == Elem::USIZE && lanes == &shape[..shape.len() - 1], "as many lengths as there are lanes");
            } else {
                arity(1)?;
            }
            let elem = match op {
                Reduce::Max | Reduce::Min => {
                    ensure!(elem != Elem::Bool, "extremum of booleans");
                    elem
                }
                Reduce::ArgMax | Reduce::ArgMin => {
                    ensure!(elem != Elem::Bool, "extremum of booleans");
                    Elem::USIZE
                }
                Reduce::All | Reduce::Any => {
                    ensure!(elem == Elem::Bool, "all and any are of booleans");
                    Elem::Bool
                }
                _ => {
                    ensure!(elem.is_real() && *rank > 0, "a reduction in an order of its own is of arrays of reals");
                    elem
                }
            };
            shaped(elem, shape[..shape.len() - usize::from(*rank)].iter().copied())
        }
        Prim::Transpose(perm) => {
            arity(1)?;
            let (elem, shape) = array(g, args[0])?;
            let mut seen: Vec<u8> = perm.to_vec();
            seen.sort_unstable();
            ensure!(
                seen.len() == shape.len() && seen.iter().enumerate().all(|(k, &a)| usize::from(a) == k),
                "not a permutation of the axes"
            );
            shaped(elem, perm.iter().map(|&a| shape[usize::from(a)]))
        }
        Prim::Reshape => {
            ensure!(!args.is_empty(), "reshape of nothing");
            args[1..].iter().try_for_each(|&t| size(g, t))?;
            shaped(elem(0)?, args[1..].iter().copied())
        }
        Prim::Recast => {
            ensure!(!args.is_empty(), "recast of nothing");
            args[1..].iter().try_for_each(|&t| size(g, t))?;
            ensure!(array(g, args[0])?.1.len() == args.len() - 1, "recast keeps the rank");
            shaped(elem(0)?, args[1..].iter().copied())
        }
        Prim::Slice(steps) | Prim::Pad(steps) => {
            let (elem, shape) = array(g, args[0])?;
            let rank = shape.len();
            arity(1 + 2 * rank)?;
            ensure!(
                steps.len() == rank && steps.iter().all(|&s| s != 0),
                "{}: one step, not 0, for each axis",
                prim.name()
            );
            args[1..].iter().try_for_each(|&t| size(g, t))?;
            shaped(elem, args[1 + rank..].iter().copied())
        }
        Prim::Iota => {
            arity(1)?;
            size(g, args[0])?;
            shaped(Elem::USIZE, [args[0]])
        }
        Prim::Stack => {
            ensure!(!args.is_empty(), "a stack of nothing has no type");
            for &t in &args[1..] {
                ensure!(g.ty(t) == g.ty(args[0]), "the parts of a stack differ in type");
            }
            let (elem, shape) = array(g, args[0])?;
            let n = g.find_usize(args.len());
            match n {
                Some(n) => shaped(elem, std::iter::once(n).chain(shape.iter().copied())),
                None => bad("the size of a stack must be made before it"),
            }
        }
        Prim::Contract(c) => {
            arity(2)?;
            let ((ea, sa), (eb, sb)) = (array(g, args[0])?, array(g, args[1])?);
            ensure!(ea == eb && ea.is_real(), "a contraction is of reals of one type");
            ensure!(sa.len() == c.a.len() && sb.len() == c.b.len(), "contraction: one label for each axis");
            let mut sizes: [Option<Term>; 256] = [None; 256];
            for (&l, &n) in c.a.iter().zip(sa).chain(c.b.iter().zip(sb)) {
                let slot = &mut sizes[usize::from(l)];
                ensure!(slot.is_none_or(|m| m == n), "contraction: sizes differ");
                *slot = Some(n);
            }
            let distinct = |ls: &[u8]| (0..ls.len()).all(|k| !ls[..k].contains(&ls[k]));
            ensure!(distinct(&c.a) && distinct(&c.b) && distinct(&c.out), "contraction: a label occurs twice");
            ensure!(c.a.iter().all(|l| c.b.contains(l) || c.out.contains(l)), "contraction: a lone label");
            ensure!(c.b.iter().all(|l| c.a.contains(l) || c.out.contains(l)), "contraction: a lone label");
            let shape: Option<Box<[Term]>> = c.out.iter().map(|&l| sizes[usize::from(l)]).collect();
            match shape {
                Some(shape) => Ok(Type::Array(ea, shape)),
                None => bad("contraction: a label of the result is in no operand"),
            }
        }
    }
}
