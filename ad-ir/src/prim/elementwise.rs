//! The types of elementwise primitives. All arguments and the result have the same shape.

use super::Prim;
use super::build::{TypeError, Typed, Types, bad, ensure};
use crate::term::{Elem, IntTy, Term, Type};

/// The type of an elementwise primitive.
pub(super) fn infer(prim: &Prim, g: &dyn Types, args: &[Term]) -> Typed {
    let arity = |n: usize| {
        if args.len() == n { Ok(()) } else { bad(format!("{} takes {n} arguments, not {}", prim.name(), args.len())) }
    };
    let same_shape = || -> Result<Box<[Term]>, TypeError> {
        let (_, first) = g.array(args[0])?;
        for &t in &args[1..] {
            ensure!(g.array(t)?.1 == first, "{}: shapes differ", prim.name());
        }
        Ok(first.into())
    };
    let elem = |k: usize| g.array(args[k]).map(|a| a.0);
    let shaped = |elem: Elem, shape: Box<[Term]>| Ok(Type::Array(elem, shape));
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
            ensure!(elem(0)?.is_real() && elem(1)? == Elem::Int(IntTy::I32), "powi takes a real and an i32");
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
            ensure!(matches!(elem(0)?, Elem::Int(_)), "negation of a term that is not an integer");
            Ok(g.ty(args[0]).clone())
        }
        Prim::TotalOrder => {
            arity(1)?;
            ensure!(elem(0)?.is_real(), "the order of what is not real");
            shaped(Elem::Int(IntTy::I64), g.array(args[0])?.1.into())
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
            shaped(*to, g.array(args[0])?.1.into())
        }
        Prim::StopGradient | Prim::UnknownOrder => {
            arity(1)?;
            g.array(args[0])?;
            Ok(g.ty(args[0]).clone())
        }
        Prim::Checkpoint => {
            arity(1)?;
            ensure!(*g.ty(args[0]) == Type::scalar(Elem::USIZE), "a number of steps is a `usize`");
            Ok(g.ty(args[0]).clone())
        }
        Prim::Watched(watch) => {
            let shape = same_shape()?;
            let (real, operands) = (elem(0)?, 1..=watch.operands);
            ensure!(args.len() > watch.operands && real.is_real(), "a watched term is a real with its operands");
            for k in 1..args.len() {
                let wanted = if operands.contains(&k) { real } else { Elem::USIZE };
                ensure!(elem(k)? == wanted, "argument {k} of a watched term is {:?}", elem(k)?);
            }
            shaped(real, shape)
        }
        Prim::Finished => {
            arity(1)?;
            shaped(Elem::Bool, g.array(args[0])?.1.into())
        }
        Prim::Fused => {
            arity(3)?;
            let shape = same_shape()?;
            ensure!(elem(0)?.is_real() && elem(0)? == elem(1)? && elem(0)? == elem(2)?, "reals of one type are fused");
            shaped(elem(0)?, shape)
        }
        Prim::RelaxedExact => {
            arity(2)?;
            let shape = same_shape()?;
            ensure!(elem(0)?.is_real() && elem(0)? == elem(1)?, "a number in two ways is a real of one type");
            shaped(elem(0)?, shape)
        }
        _ => bad(format!("{} is not an elementwise primitive", prim.name())),
    }
}
