//! The result types of methods and functions, as far as Rust's method look-up depends on them.
//! There is one function for each kind of result, and the table rows refer to them. Each analyses
//! the arguments, with the types that closures among them are called with.
//!
//! Invariant: no function returns another type than the real one, or fewer references. [`unknown`]
//! is always correct.

use syn::Expr;

use super::Reader;
use super::types::{ARRAY, NUMBER, Ty, VIEW};
use ad_ir::program::Owner;

/// The result type of a table row, by the type of its receiver and its arguments.
pub(crate) type ResultFn = for<'r, 't, 's, 'e> fn(&'r mut Reader, &'t Ty, &'s [&'e Expr]) -> Ty;

/// Whether a type is an ndarray or a reference to one.
fn is_nd(of: &Ty) -> bool {
    matches!(of.stripped().1, Ty::Plain(Owner::Array | Owner::View | Owner::Shared))
}

fn is_native(of: &Ty) -> bool {
    matches!(of.stripped().1, Ty::Plain(Owner::Vector | Owner::Slice | Owner::Static))
}

/// The item type of an iterator or an option.
fn item(of: &Ty) -> Ty {
    match of.stripped().1 {
        Ty::Iter(item) | Ty::Option(item) => (**item).clone(),
        Ty::Lanes => VIEW,
        _ => Ty::Unknown,
    }
}

fn read(me: &mut Reader, args: &[&Expr]) {
    me.all(args.iter().copied());
}

/// A type that is not known.
pub(crate) fn unknown(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Unknown
}

/// A number, or a type of ndarray's whose methods are never called by reference.
pub(crate) fn number(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    NUMBER
}

/// A number, if the receiver is a number by value. References have the method as well, through
/// `Ord`.
pub(crate) fn number_by_value(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    if let Ty::Plain(_) = of { NUMBER } else { Ty::Unknown }
}

/// A new array, whatever the receiver is.
pub(crate) fn array(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    ARRAY
}

/// A new array, if the receiver is an array.
pub(crate) fn array_of_array(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    if is_nd(of) { ARRAY } else { Ty::Unknown }
}

/// A view of the receiver.
pub(crate) fn view(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    if is_nd(of) { VIEW } else { Ty::Unknown }
}

/// A `Vec`.
pub(crate) fn vector(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    if let Ty::Plain(_) = of.stripped().1 { Ty::Plain(Owner::Vector) } else { Ty::Unknown }
}

/// The result of `clone`. The clone of a reference has the type of the referent.
pub(crate) fn clone(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    if let Ty::Plain(_) = of { of.clone() } else { of.copied() }
}

/// The result of `to_owned`, which is an array for a view.
pub(crate) fn owned(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    match of.stripped().1 {
        Ty::Plain(_) if is_nd(of) => ARRAY,
        Ty::Plain(_) => Ty::Unknown,
        _ => of.copied(),
    }
}

/// The result of `mapv(f)`.
pub(crate) fn mapped(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    match args {
        [f] if matches!(me.called(f, &[NUMBER]), Ty::Plain(_)) => ARRAY,
        _ => Ty::Unknown,
    }
}

/// The result of `map(f)`. The closure gets references to the elements of an ndarray, and the
/// elements themselves if the array has static size.
pub(crate) fn mapped_by_reference(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    match args {
        [f] if is_nd(of) => match me.called(f, &[NUMBER.to()]) {
            Ty::Plain(_) => ARRAY,
            _ => Ty::Unknown,
        },
        // The array may be an array of arrays.
        [f] if *of.stripped().1 == Ty::Plain(Owner::Static) => match me.called(f, &[NUMBER]) {
            Ty::Plain(_) => Ty::Plain(Owner::Static),
            _ => Ty::Unknown,
        },
        _ => unknown(me, of, args),
    }
}

/// The result of `fold(init, f)` of an array.
pub(crate) fn folded_elements(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    match args {
        [init, f] if is_nd(of) => {
            let init = me.ty(init);
            me.called(f, &[init.clone(), NUMBER.to()]);
            init
        }
        _ => unknown(me, of, args),
    }
}

/// An iterator over references to the elements.
pub(crate) fn elements(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Iter(NUMBER.to().into())
}

/// An iterator over the items of a consumed value.
pub(crate) fn items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Iter(of.items().into())
}

/// An iterator over views.
pub(crate) fn views(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Iter(VIEW.into())
}

/// A value that `into_iter` turns into an iterator.
pub(crate) fn lanes(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Lanes
}

/// Slices of a vector. For an ndarray, a value that ndarray iterates over as views.
pub(crate) fn windows(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    match of {
        of if is_native(of) => Ty::Iter(Ty::Plain(Owner::Slice).to().into()),
        of if is_nd(of) => Ty::Lanes,
        _ => Ty::Unknown,
    }
}

/// Slices of a vector.
pub(crate) fn chunks(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    if is_native(of) { Ty::Iter(Ty::Plain(Owner::Slice).to().into()) } else { Ty::Unknown }
}

/// Pairs of an index and an element.
pub(crate) fn indexed(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Iter(Ty::Tuple(vec![NUMBER, NUMBER.to()]).into())
}

/// An `Option` of a reference to an element.
pub(crate) fn some_element(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Option(NUMBER.to().into())
}

/// An `Option` of a number.
pub(crate) fn some_number(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Option(NUMBER.into())
}

/// An iterator with the same items or some of them.
pub(crate) fn same_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Iter(item(of).into())
}

/// An iterator over the results of a closure for each item.
pub(crate) fn mapped_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [f] = args else { return unknown(me, of, args) };
    Ty::Iter(me.called(f, &[item(of)]).into())
}

/// A number or `bool` from a closure that tests each item.
pub(crate) fn tested_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [f] = args else { return unknown(me, of, args) };
    me.called(f, &[item(of)]);
    NUMBER
}

/// The items for which a closure holds.
pub(crate) fn filtered_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [f] = args else { return unknown(me, of, args) };
    me.called(f, &[item(of).to()]);
    Ty::Iter(item(of).into())
}

/// The item for which a closure holds.
pub(crate) fn found_item(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [f] = args else { return unknown(me, of, args) };
    me.called(f, &[item(of).to()]);
    Ty::Option(item(of).into())
}

/// The item that a comparing closure selects.
pub(crate) fn compared_item(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [f] = args else { return unknown(me, of, args) };
    me.called(f, &[item(of).to(), item(of).to()]);
    Ty::Option(item(of).into())
}

/// The result of `fold(init, f)` of an iterator.
pub(crate) fn folded_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [init, f] = args else { return unknown(me, of, args) };
    let init = me.ty(init);
    me.called(f, &[init.clone(), item(of)]);
    init
}

/// Pairs of items.
pub(crate) fn zipped_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [other] = args else { return unknown(me, of, args) };
    let other = me.ty(other).items();
    Ty::Iter(Ty::Tuple(vec![item(of), other]).into())
}

/// Pairs of an index and an item.
pub(crate) fn numbered_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Iter(Ty::Tuple(vec![NUMBER, item(of)]).into())
}

/// The referents of the items.
pub(crate) fn copied_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Iter(item(of).copied().into())
}

/// An `Option` of an item.
pub(crate) fn some_item(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Option(item(of).into())
}

/// The payload of an option.
pub(crate) fn content(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    item(of)
}

/// The result of a closure on the payload of an option.
pub(crate) fn mapped_content(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [f] = args else { return unknown(me, of, args) };
    Ty::Option(me.called(f, &[item(of)]).into())
}

/// The referent of the payload of an option.
pub(crate) fn copied_content(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Option(item(of).copied().into())
}

/// The result of `build1(n, f)`, whose closure gets an index.
pub(crate) fn built(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [n, f] = args else { return unknown(me, of, args) };
    me.ty(n);
    me.called(f, &[NUMBER]);
    ARRAY
}

/// The result of `from_shape_fn(n, f)`, if the closure returns numbers.
pub(crate) fn built_of_numbers(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [n, f] = args else { return unknown(me, of, args) };
    me.ty(n);
    if let Ty::Plain(_) = me.called(f, &[NUMBER]) { ARRAY } else { Ty::Unknown }
}

/// The result of `build(n, f)` or `gather(n, x, f)`. The closure is the last argument and gets the
/// indices as an array.
pub(crate) fn built_by_indices(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [before @ .., f] = args else { return unknown(me, of, args) };
    read(me, before);
    me.called(f, &[Ty::Plain(Owner::Static)]);
    ARRAY
}

/// The result of `map2(a, b, f)`.
pub(crate) fn mapped_pairs(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [a, b, f] = args else { return unknown(me, of, args) };
    read(me, &[a, b]);
    me.called(f, &[NUMBER, NUMBER]);
    ARRAY
}

/// The result of `scan(init, xs, f)`. The items of the DSL are passed by value; those of an array
/// of two axes are views.
pub(crate) fn scanned(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    folded(me, of, args);
    Ty::Unknown
}

/// The result of `fold(init, xs, f)`. The accumulator has the type of the initial value.
pub(crate) fn folded(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [init, xs, f] = args else { return unknown(me, of, args) };
    let init = me.ty(init);
    let item = match me.ty(xs) {
        Ty::Iter(item) => *item,
        _ => Ty::Unknown,
    };
    me.called(f, &[init.clone(), item]);
    init
}
