//! What methods and functions result in, as far as Rust's look-up of methods goes: one function for each kind of result, which the
//! rows of the table name. Each reads the arguments, with the types that closures among them are called with.
//!
//! None may say less references than there are, or another type; [`unknown`] is always right.

use syn::Expr;

use super::Reader;
use super::types::{ARRAY, NUMBER, Ty, VIEW};
use crate::program::Owner;

/// What a row results in, by the type of its receiver and its arguments.
pub(in crate::front) type ResultFn = for<'r, 't, 's, 'e> fn(&'r mut Reader, &'t Ty, &'s [&'e Expr]) -> Ty;

/// Whether it is one of ndarray's arrays, behind references or not.
fn is_nd(of: &Ty) -> bool {
    matches!(of.stripped().1, Ty::Plain(Owner::Array | Owner::View | Owner::Shared))
}

fn is_native(of: &Ty) -> bool {
    matches!(of.stripped().1, Ty::Plain(Owner::Vector | Owner::Slice | Owner::Static))
}

/// The item of an iterator or an option.
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

/// Something of which nothing is known.
pub(in crate::front) fn unknown(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Unknown
}

/// A number, or something of ndarray's own that nothing is called on by reference.
pub(in crate::front) fn number(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    NUMBER
}

/// A number, if the receiver is one by value: `Ord`, which references have too, has the method as well.
pub(in crate::front) fn number_by_value(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    if let Ty::Plain(_) = of { NUMBER } else { Ty::Unknown }
}

/// A new array, whatever it is made of.
pub(in crate::front) fn array(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    ARRAY
}

/// A new array, if the receiver is one.
pub(in crate::front) fn array_of_array(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    if is_nd(of) { ARRAY } else { Ty::Unknown }
}

/// A view of the receiver.
pub(in crate::front) fn view(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    if is_nd(of) { VIEW } else { Ty::Unknown }
}

/// A `Vec`.
pub(in crate::front) fn vector(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    if let Ty::Plain(_) = of.stripped().1 { Ty::Plain(Owner::Vector) } else { Ty::Unknown }
}

/// What `clone` makes: of a reference what it refers to.
pub(in crate::front) fn clone(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    if let Ty::Plain(_) = of { of.clone() } else { of.copied() }
}

/// What `to_owned` makes: an array of a view.
pub(in crate::front) fn owned(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    match of.stripped().1 {
        Ty::Plain(_) if is_nd(of) => ARRAY,
        Ty::Plain(_) => Ty::Unknown,
        _ => of.copied(),
    }
}

/// `mapv(f)`.
pub(in crate::front) fn mapped(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    match args {
        [f] if matches!(me.called(f, &[NUMBER]), Ty::Plain(_)) => ARRAY,
        _ => Ty::Unknown,
    }
}

/// `map(f)`, which gives references to elements of ndarray's arrays, and elements of those of static size.
pub(in crate::front) fn mapped_by_reference(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    match args {
        [f] if is_nd(of) => match me.called(f, &[NUMBER.to()]) {
            Ty::Plain(_) => ARRAY,
            _ => Ty::Unknown,
        },
        // Of an array of arrays, too.
        [f] if *of.stripped().1 == Ty::Plain(Owner::Static) => match me.called(f, &[NUMBER]) {
            Ty::Plain(_) => Ty::Plain(Owner::Static),
            _ => Ty::Unknown,
        },
        _ => unknown(me, of, args),
    }
}

/// `fold(init, f)` of an array.
pub(in crate::front) fn folded_elements(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    match args {
        [init, f] if is_nd(of) => {
            let init = me.ty(init);
            me.called(f, &[init.clone(), NUMBER.to()]);
            init
        }
        _ => unknown(me, of, args),
    }
}

/// The elements by reference.
pub(in crate::front) fn elements(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Iter(NUMBER.to().into())
}

/// The items of what is consumed.
pub(in crate::front) fn items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Iter(of.items().into())
}

/// Views, one after the other.
pub(in crate::front) fn views(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Iter(VIEW.into())
}

/// What is iterated over by `into_iter`.
pub(in crate::front) fn lanes(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Lanes
}

/// Slices of a vector; of an array what ndarray makes views of.
pub(in crate::front) fn windows(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    match of {
        of if is_native(of) => Ty::Iter(Ty::Plain(Owner::Slice).to().into()),
        of if is_nd(of) => Ty::Lanes,
        _ => Ty::Unknown,
    }
}

/// Slices of a vector.
pub(in crate::front) fn chunks(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    if is_native(of) { Ty::Iter(Ty::Plain(Owner::Slice).to().into()) } else { Ty::Unknown }
}

/// Pairs of index and element.
pub(in crate::front) fn indexed(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Iter(Ty::Tuple(vec![NUMBER, NUMBER.to()]).into())
}

/// An element by reference, if there is one.
pub(in crate::front) fn some_element(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Option(NUMBER.to().into())
}

/// A number, if there is one.
pub(in crate::front) fn some_number(me: &mut Reader, _: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Option(NUMBER.into())
}

/// The same iterator, or one of fewer items.
pub(in crate::front) fn same_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Iter(item(of).into())
}

/// What a closure makes of each item.
pub(in crate::front) fn mapped_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [f] = args else { return unknown(me, of, args) };
    Ty::Iter(me.called(f, &[item(of)]).into())
}

/// A number, or nothing, of what a closure says of each item.
pub(in crate::front) fn tested_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [f] = args else { return unknown(me, of, args) };
    me.called(f, &[item(of)]);
    NUMBER
}

/// The items for which a closure holds.
pub(in crate::front) fn filtered_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [f] = args else { return unknown(me, of, args) };
    me.called(f, &[item(of).to()]);
    Ty::Iter(item(of).into())
}

/// The item for which a closure holds.
pub(in crate::front) fn found_item(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [f] = args else { return unknown(me, of, args) };
    me.called(f, &[item(of).to()]);
    Ty::Option(item(of).into())
}

/// The item that a closure prefers to all others.
pub(in crate::front) fn compared_item(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [f] = args else { return unknown(me, of, args) };
    me.called(f, &[item(of).to(), item(of).to()]);
    Ty::Option(item(of).into())
}

/// `fold(init, f)` of an iterator.
pub(in crate::front) fn folded_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [init, f] = args else { return unknown(me, of, args) };
    let init = me.ty(init);
    me.called(f, &[init.clone(), item(of)]);
    init
}

/// Pairs of items.
pub(in crate::front) fn zipped_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [other] = args else { return unknown(me, of, args) };
    let other = me.ty(other).items();
    Ty::Iter(Ty::Tuple(vec![item(of), other]).into())
}

/// Pairs of index and item.
pub(in crate::front) fn numbered_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Iter(Ty::Tuple(vec![NUMBER, item(of)]).into())
}

/// What the items refer to.
pub(in crate::front) fn copied_items(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Iter(item(of).copied().into())
}

/// One of the items, if there is one.
pub(in crate::front) fn some_item(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Option(item(of).into())
}

/// What is in an option.
pub(in crate::front) fn content(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    item(of)
}

/// What a closure makes of what is in an option.
pub(in crate::front) fn mapped_content(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [f] = args else { return unknown(me, of, args) };
    Ty::Option(me.called(f, &[item(of)]).into())
}

/// What the content of an option refers to.
pub(in crate::front) fn copied_content(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    read(me, args);
    Ty::Option(item(of).copied().into())
}

/// `build1(n, f)`: of a closure that is given an index.
pub(in crate::front) fn built(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [n, f] = args else { return unknown(me, of, args) };
    me.ty(n);
    me.called(f, &[NUMBER]);
    ARRAY
}

/// `from_shape_fn(n, f)`: likewise, if the closure gives numbers.
pub(in crate::front) fn built_of_numbers(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [n, f] = args else { return unknown(me, of, args) };
    me.ty(n);
    if let Ty::Plain(_) = me.called(f, &[NUMBER]) { ARRAY } else { Ty::Unknown }
}

/// `build(n, f)`, `gather(n, x, f)`: of a closure that is given indices as an array, and comes last.
pub(in crate::front) fn built_by_indices(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [before @ .., f] = args else { return unknown(me, of, args) };
    read(me, before);
    me.called(f, &[Ty::Plain(Owner::Static)]);
    ARRAY
}

/// `map2(a, b, f)`.
pub(in crate::front) fn mapped_pairs(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [a, b, f] = args else { return unknown(me, of, args) };
    read(me, &[a, b]);
    me.called(f, &[NUMBER, NUMBER]);
    ARRAY
}

/// `scan(init, xs, f)`. The DSL's items are by value; those of an array of two axes are views.
pub(in crate::front) fn scanned(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    folded(me, of, args);
    Ty::Unknown
}

/// `fold(init, xs, f)`: the same, of which the accumulator is what it begins with.
pub(in crate::front) fn folded(me: &mut Reader, of: &Ty, args: &[&Expr]) -> Ty {
    let [init, xs, f] = args else { return unknown(me, of, args) };
    let init = me.ty(init);
    let item = match me.ty(xs) {
        Ty::Iter(item) => *item,
        _ => Ty::Unknown,
    };
    me.called(f, &[init.clone(), item]);
    init
}
