//! The hidden functions beside a type that contains itself: a value becomes rows of tables, and
//! rows of tables become a value. Both walk the value as its own functions would, so they are as
//! deep as it is.
//!
//! This module must never write a computation.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Fields, Index};

use ad_front::{TablePart, Tables};
use ad_ir::program::{FieldLeaf, Tree};
use ad_ir::rust_types::{Apart, hidden, tuple};

/// The names in the written code.
struct Names {
    /// The tables.
    all: Ident,
    /// The current row.
    row: Ident,
    item: Ident,
    at: Ident,
}

/// The functions of a type with these variants, each with its path.
pub(super) fn functions(
    tables: &Tables,
    variants: &[(TokenStream, &Fields)],
    is_enum: bool,
    types: &Apart<'_>,
) -> TokenStream {
    let (taken, made, pushed, built) = (hidden::taken(), hidden::made(), hidden::pushed(), hidden::built());
    let local = |name: &str| Ident::new(name, Span::mixed_site());
    let names = Names { all: local("all"), row: local("row"), item: local("item"), at: local("at") };
    let Names { all, row, at, .. } = &names;
    let krate = types.krate;
    let row_types: Vec<TokenStream> = tables.columns.iter().map(|columns| row_type(columns, types)).collect();
    let all_types =
        tuple(&row_types.iter().map(|row| quote!(#krate::runtime::alloc::vec::Vec<#row>)).collect::<Vec<_>>());
    let whole = quote!((usize, #(#krate::runtime::alloc::vec::Vec<#row_types>),*));
    let own = Index::from(tables.root);
    let empty = tuple(&vec![quote!(#krate::runtime::alloc::vec::Vec::new()); row_types.len()]);
    let each: Vec<Index> = (0..row_types.len()).map(Index::from).collect();
    let zero = zero_row(&tables.columns[tables.root], types);
    let parts: Vec<Ident> = (0..row_types.len()).map(|k| local(&format!("table{k}"))).collect();
    let lists = tuple(&parts.iter().map(|part| quote!(#part)).collect::<Vec<_>>());
    let pushes = variants.iter().zip(&tables.variants).enumerate().map(|(v, ((path, fields), parts))| {
        let fields_of = fields_of(fields, &names);
        let pattern = with(path, fields, &fields_of.iter().map(|name| quote!(#name)).collect::<Vec<_>>());
        let tag = is_enum.then(|| {
            let v = number(v);
            quote!(#row.0 = #v;)
        });
        let pushes =
            parts.iter().zip(&fields_of).map(|(part, name)| push(part, &quote!((*#name)), (tables, types, &names)));
        quote!(#pattern => { #tag #(#pushes)* })
    });
    let made_arms = variants.iter().zip(&tables.variants).enumerate().map(|(v, ((path, fields), parts))| {
        let values: Vec<TokenStream> = parts.iter().map(|part| build(part, (tables, types, &names))).collect();
        let value = with(path, fields, &values);
        let v = number(v);
        let tag = if !is_enum || v.to_string() == (variants.len() - 1).to_string() { quote!(_) } else { v };
        quote!(#tag => #value)
    });
    let which = if is_enum { quote!(#row.0) } else { quote!(()) };
    quote! {
        #[doc(hidden)]
        pub fn #taken(&self) -> #whole {
            let mut #all: #all_types = #empty;
            let #at = self.#pushed(&mut #all);
            (#at, #(#all.#each),*)
        }
        #[doc(hidden)]
        pub fn #pushed(&self, #all: &mut #all_types) -> usize {
            let #at = #all.#own.len();
            let mut #row = #zero;
            #all.#own.push(#row);
            match self { #(#pushes)* }
            #all.#own[#at] = #row;
            #at
        }
        #[doc(hidden)]
        pub fn #made(parts: #whole) -> Self {
            let (#at, #(#parts),*) = parts;
            Self::#built(&#lists, #at)
        }
        #[doc(hidden)]
        pub fn #built(#all: &#all_types, #at: usize) -> Self {
            let #row = #all.#own[#at];
            match #which { #(#made_arms),* }
        }
    }
}

fn fields_of(fields: &Fields, names: &Names) -> Vec<Ident> {
    (0..fields.len()).map(|k| format_ident!("part{k}", span = names.all.span())).collect()
}

fn with(path: &TokenStream, fields: &Fields, parts: &[TokenStream]) -> TokenStream {
    let members: Vec<_> = fields.members().collect();
    quote!(#path { #(#members: #parts),* })
}

fn row_type(columns: &[FieldLeaf], types: &Apart<'_>) -> TokenStream {
    tuple(&columns.iter().map(|leaf| types.made(&Tree::Leaf(leaf.clone()))).collect::<Vec<_>>())
}

fn zero_row(columns: &[FieldLeaf], types: &Apart<'_>) -> TokenStream {
    tuple(&columns.iter().map(|leaf| types.absent(&Tree::Leaf(leaf.clone()))).collect::<Vec<_>>())
}

/// Statements that put a part of a value into the current row.
fn push(part: &TablePart, place: &TokenStream, with: (&Tables, &Apart<'_>, &Names)) -> TokenStream {
    let (tables, types, names) = with;
    let Names { all, row, item, at } = names;
    let column = |k: &usize| {
        let k = Index::from(*k);
        quote!(#row.#k)
    };
    match part {
        TablePart::Leaf(k) => {
            let to = column(k);
            quote!(#to = #place;)
        }
        TablePart::Link(_, k) => {
            let (to, pushed) = (column(k), hidden::pushed());
            quote!(#to = #place.#pushed(#all);)
        }
        TablePart::Boxed(inner) => push(inner, &quote!((*#place)), with),
        TablePart::Tuple(parts) => {
            let parts = parts.iter().enumerate().map(|(k, part)| {
                let k = Index::from(k);
                push(part, &quote!(#place.#k), with)
            });
            parts.collect()
        }
        TablePart::Defined(_, inner) => {
            let taken = hidden::taken();
            let inner = push(inner, &quote!(#item), with);
            quote!({ let #item = #place.#taken(); #inner })
        }
        TablePart::Enum(tag, variants) => {
            let to = column(tag);
            let variants = variants.iter().enumerate().map(|(k, part)| {
                let k = Index::from(k + 1);
                push(part, &quote!(#place.#k), with)
            });
            quote!(#to = #place.0; #(#variants)*)
        }
        TablePart::Option(inner, flag) => {
            let to = column(flag);
            let inner = push(inner, &quote!((*#item)), with);
            quote!(if let ::core::option::Option::Some(#item) = &#place { #to = true; #inner })
        }
        TablePart::Fixed(parts) => {
            let parts = parts.iter().enumerate().map(|(k, part)| {
                let k = number(k);
                push(part, &quote!(#place[#k]), with)
            });
            parts.collect()
        }
        TablePart::List { table, start, len, element } => {
            let zero = zero_row(&tables.columns[*table], types);
            let inner = push(element, &quote!((*#item)), with);
            let (to, many, table) = (column(start), column(len), Index::from(*table));
            quote!({
                #to = #all.#table.len();
                #many = #place.len();
                let #at = #to;
                #all.#table.resize(#at + #many, #zero);
                for (#at, #item) in (#at..).zip(#place.iter()) {
                    let mut #row = #zero;
                    #inner
                    #all.#table[#at] = #row;
                }
            })
        }
        TablePart::Array { table, start, sizes } => {
            let (to, table) = (column(start), Index::from(*table));
            let sizes = sizes.iter().enumerate().map(|(k, size)| {
                let (to, k) = (column(size), number(k));
                quote!(#to = #place.shape()[#k];)
            });
            quote!({
                #to = #all.#table.len();
                #(#sizes)*
                #all.#table.extend(#place.iter().map(|#item| (*#item,)));
            })
        }
    }
}

/// The value of a part of the current row.
fn build(part: &TablePart, with: (&Tables, &Apart<'_>, &Names)) -> TokenStream {
    let (_, types, names) = with;
    let krate = types.krate;
    let Names { all, row, item, at } = names;
    let column = |k: &usize| {
        let k = Index::from(*k);
        quote!(#row.#k)
    };
    match part {
        TablePart::Leaf(k) => column(k),
        TablePart::Link(ty, k) => {
            let (from, built) = (column(k), hidden::built());
            quote!(<#ty>::#built(#all, #from))
        }
        TablePart::Boxed(inner) => {
            let inner = build(inner, with);
            quote!(#krate::runtime::alloc::boxed::Box::new(#inner))
        }
        TablePart::Tuple(parts) => tuple(&parts.iter().map(|part| build(part, with)).collect::<Vec<_>>()),
        TablePart::Defined(ty, inner) => {
            let (inner, made) = (build(inner, with), hidden::made());
            quote!(<#ty>::#made(#inner))
        }
        TablePart::Enum(tag, variants) => {
            let tag = column(tag);
            let variants = variants.iter().map(|part| build(part, with));
            tuple(&std::iter::once(tag).chain(variants).collect::<Vec<_>>())
        }
        TablePart::Option(inner, flag) => {
            let (inner, flag) = (build(inner, with), column(flag));
            quote!(if #flag { ::core::option::Option::Some(#inner) } else { ::core::option::Option::None })
        }
        TablePart::Fixed(parts) => {
            let parts = parts.iter().map(|part| build(part, with));
            quote!([#(#parts),*])
        }
        TablePart::List { table, start, len, element } => {
            let (inner, table) = (build(element, with), Index::from(*table));
            let (start, len) = (column(start), column(len));
            quote!((#start..#start + #len).map(|#at| { let #row = #all.#table[#at]; #inner }).collect::<#krate::runtime::alloc::vec::Vec<_>>())
        }
        TablePart::Array { table, start, sizes } => {
            let rank = sizes.len();
            let (array, table, start) = (format_ident!("Array{rank}"), Index::from(*table), column(start));
            let sizes: Vec<TokenStream> = sizes.iter().map(column).collect();
            let product = sizes.iter().skip(1).fold(sizes[0].clone(), |product, n| quote!(#product * #n));
            quote!({
                let #at = #start;
                let #item: #krate::runtime::alloc::vec::Vec<_> = #all.#table[#at..#at + #product].iter().map(|#item| #item.0).collect();
                #krate::ndarray::#array::from_shape_vec([#(#sizes),*], #item).expect("as many elements as the sizes say")
            })
        }
    }
}

/// A number as tokens, without the name of its type.
pub(super) fn number(k: usize) -> TokenStream {
    Literal::usize_unsuffixed(k).to_token_stream()
}
