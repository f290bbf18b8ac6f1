//! Typing (BOT Fig. 8): the type of a form from the types of its children. A term that cannot be
//! typed cannot be made.

use super::{Body, Elem, Graph, Node, Put, Scan, Term, Type};
use crate::prim::build::{TypeError, Typed, Types, bad, ensure};

fn array(g: &Graph, t: Term) -> Result<(Elem, &[Term]), TypeError> {
    Types::array(g, t)
}

fn size(g: &Graph, t: Term) -> Result<(), TypeError> {
    g.check_size(t)
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
            _ => bad("a projection of a term that is not a tuple with this part"),
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
                    ensure!(!ix.is_empty() || vars.is_empty(), "an update with variables has no index");
                }
            }
            ensure!(ix.len() <= shape.len(), "more indices than axes");
            ensure!(vars.len() <= src_shape.len(), "more variables than axes of the source");
            ensure!(shape[ix.len()..] == src_shape[vars.len()..], "the rows of a scatter differ in shape");
            ix.iter().try_for_each(|&t| index(g, t))?;
            Ok(g.ty(*dst).clone())
        }
        Node::Prim(prim, args) => prim.infer(g, args),
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
        ensure!(ty == Some(&Type::scalar(Elem::Bool)), "the flag that stops a scan is a carried boolean scalar");
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
