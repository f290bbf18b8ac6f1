//! Sorting: the order of the elements is a permutation of integers that comparisons compute, and
//! the sorted elements are a gather. So a comparison is an exact decision, and the derivative of
//! the elements is a scatter.
//!
//! The permutation is found by merging runs of 1, 2, 4, .. elements, as a function of the source
//! language that is lowered like one of the user's. Invariant: equal elements keep their order, as
//! in Rust, and std's `sort_unstable_by` may order them in another way.

use std::cell::OnceCell;

use syn::ItemFn;

use super::carry::InferenceKey;
use super::changes::{moved, place_arg};
use super::lower::Lower;
use super::table::{Call, On, Row, row};
use super::value::{Lowered, Value};
use ad_ir::diag::Poison;

/// Methods that sort.
pub(super) const TABLE: &[Row] = &[
    row("sort_by", On::Place, (1, 1), sort_by, "puts the elements of a slice or `Vec` in the order of f(a, b)")
        .of_vectors(),
    row("sort_unstable_by", On::Place, (1, 1), sort_by, "the same, where equal elements may change places")
        .of_vectors(),
    row("sort_by_key", On::Place, (1, 1), sort_by_key, "puts the elements in the order of the integers f(a)")
        .of_vectors(),
    row("sort_unstable_by_key", On::Place, (1, 1), sort_by_key, "the same, where equal elements may change places")
        .of_vectors(),
    row("sort", On::Place, (0, 0), sort, "puts integers in ascending order").of_vectors(),
    row("sort_unstable", On::Place, (0, 0), sort, "puts integers in ascending order").of_vectors(),
];

/// The way in which two elements are compared.
#[derive(Clone, Copy)]
enum ComparedBy {
    Comparison,
    Key,
    Value,
}

/// The functions that find the order, each parsed where it is used first.
#[derive(Default)]
pub(super) struct Routines([OnceCell<Option<ItemFn>>; 3]);

impl Routines {
    fn get(&self, by: ComparedBy) -> Option<&ItemFn> {
        let (parameter, before) = match by {
            ComparedBy::Comparison => (", compare: F_", "compare(&items[from[j]], &items[from[i]]).is_lt()"),
            ComparedBy::Key => (", key: F_", "key(&items[from[j]]).cmp(&key(&items[from[i]])).is_lt()"),
            ComparedBy::Value => ("", "items[from[j]].cmp(&items[from[i]]).is_lt()"),
        };
        let parse = || {
            let text = format!(
                "fn order_of<I_, F_>(items: &[I_]{parameter}) -> Vec<usize> {{
                    let n = items.len();
                    let mut order: Vec<usize> = (0..n).collect();
                    let mut width = 1_usize;
                    while width < n {{
                        let from = order.clone();
                        let mut i = 0_usize;
                        let mut j = 0_usize;
                        for k in 0..n {{
                            let start = k - k % (2 * width);
                            let middle = (start + width).min(n);
                            let end = (middle + width).min(n);
                            if k == start {{
                                i = start;
                                j = middle;
                            }}
                            if j >= end || i < middle && !{before} {{
                                order[k] = from[i];
                                i += 1;
                            }} else {{
                                order[k] = from[j];
                                j += 1;
                            }}
                        }}
                        width *= 2;
                    }}
                    order
                }}"
            );
            syn::parse_str(&text).ok()
        };
        self.0[by as usize].get_or_init(parse).as_ref()
    }
}

fn sorted<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>, by: ComparedBy) -> Lowered<Value<'a>> {
    let place = place_arg(me, call, 0)?;
    let mut items = me.read_place(&place)?;
    if let Value::Never = items {
        return Ok(Value::Unit);
    }
    if let Value::List(parts) = &items
        && items.is_selected_from()
    {
        let (n, key) = (me.g.lit_usize(parts.len()), InferenceKey::at_address(me.state.here.0 as usize, "sorted"));
        items = match me.stack(&items, n, &key, place.range)? {
            Some(list) => Value::GrowableVec(list.into()),
            None => items,
        };
        me.write_place(&place, items.clone())?;
    }
    let routine = me.definitions.routines.get(by).ok_or(Poison)?;
    let function = me.nested_function(routine)?;
    let args: Vec<Value> = std::iter::once(items).chain(call.args.iter().skip(1).cloned()).collect();
    let order = me.apply(&function, &args, call.range)?;
    let order = me.array(&order, call.range)?;
    moved(me, &place, |me, i, _| me.g.index(order, &[i]))
}

fn sort_by<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    sorted(me, call, ComparedBy::Comparison)
}

fn sort_by_key<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    sorted(me, call, ComparedBy::Key)
}

fn sort<'a>(me: &mut Lower<'a>, call: &Call<'a, '_>) -> Lowered<Value<'a>> {
    sorted(me, call, ComparedBy::Value)
}
