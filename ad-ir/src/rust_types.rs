//! Rust types and names: the type of an element, of an array in each container, and of a whole
//! result; and the name of the hidden function that `check_grad!` calls. Tangents and cotangents
//! are passed, and gradients returned, in the types that the chapter "Derivatives" of `docs/guide`
//! lists.
//!
//! The front end, the derivatives and the emitter use this module. It depends on none of them and
//! examines no values.

mod check_names;
mod destructure;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};

use crate::ir::{Elem, Node, RealTy, Term};
use crate::program::{
    Container, DefinedType, Fallible, FallibleKind, ListType, OutputTree, Program, RaggedPart, Tree, Within, element_of,
};

pub use check_names::{check_name, check_name_of_method};
pub use destructure::{Apart, each_part, made, put_together};

/// The type parameter for a real number, or a dummy name if the function has none.
pub fn real_param(program: &Program) -> Ident {
    program.real_param.clone().unwrap_or_else(|| Ident::new("T", Span::call_site()))
}

/// The type of an element; `param` is the function's real type parameter.
pub fn elem_type(elem: Elem, param: &Ident) -> TokenStream {
    match elem {
        Elem::Real(RealTy::F64) => quote!(f64),
        Elem::Real(RealTy::F32) => quote!(f32),
        Elem::Real(RealTy::Param) => quote!(#param),
        Elem::Int(ty) => {
            let name = format_ident!("{}", ty.name());
            quote!(#name)
        }
        Elem::Bool => quote!(bool),
    }
}

/// The type of an owned result of this kind.
pub fn owned_type(
    program: &Program,
    container: Container,
    elem: Elem,
    rank: usize,
    lens: &[TokenStream],
) -> TokenStream {
    let krate = &program.krate;
    let elem = elem_type(elem, &real_param(program));
    match container {
        Container::Scalar | Container::ScalarRef => elem,
        Container::NdArray => {
            let array = format_ident!("Array{rank}");
            quote!(#krate::ndarray::#array<#elem>)
        }
        Container::Slice => {
            let elem = static_type(elem, lens);
            quote!(#krate::runtime::alloc::vec::Vec<#elem>)
        }
        Container::Static => static_type(elem, lens),
    }
}

/// The type by which the second half of a split routine takes a value that the first half keeps.
pub fn kept_type(program: &Program, container: Container, elem: Elem, lens: &[TokenStream]) -> TokenStream {
    let elem = elem_type(elem, &real_param(program));
    match container {
        Container::Static => {
            let array = static_type(elem, lens);
            quote!(&#array)
        }
        Container::Slice => quote!(&[#elem]),
        Container::Scalar | Container::ScalarRef | Container::NdArray => elem,
    }
}

/// The type of the caller's memory to which the second half of a called function adds a cotangent.
pub fn added_to_type(program: &Program, elem: Elem) -> TokenStream {
    let elem = elem_type(elem, &real_param(program));
    quote!(&mut [#elem])
}

/// The type of a function without a result.
#[must_use]
pub fn unit() -> TokenStream {
    quote!(())
}

/// A size in the form of a Rust type, if the macro knows it in that form.
#[must_use]
pub fn static_size(program: &Program, n: Term) -> Option<TokenStream> {
    if let Some(n) = program.graph.int_value(n) {
        return Some(Literal::usize_unsuffixed(usize::try_from(n).ok()?).into_token_stream());
    }
    let Node::Input(k) = program.graph.node(n) else { return None };
    program.constants.iter().find(|c| c.input == *k).map(|c| c.path.clone())
}

/// The type by which a tangent, cotangent or direction of this kind is passed.
pub fn argument_type(
    program: &Program,
    container: Container,
    elem: Elem,
    rank: usize,
    lens: &[TokenStream],
) -> TokenStream {
    let krate = &program.krate;
    let elem = elem_type(elem, &real_param(program));
    match container {
        Container::Scalar | Container::ScalarRef => elem,
        Container::NdArray => {
            let array = format_ident!("ArrayRef{rank}");
            quote!(&#krate::ndarray::#array<#elem>)
        }
        Container::Slice => {
            let elem = static_type(elem, lens);
            quote!(&[#elem])
        }
        Container::Static => static_type(elem, lens),
    }
}

/// The type by which the place for a gradient of this kind is passed.
pub fn destination_type(
    program: &Program,
    container: Container,
    elem: Elem,
    rank: usize,
    lens: &[TokenStream],
) -> TokenStream {
    match container {
        Container::Slice => {
            let elem = static_type(elem_type(elem, &real_param(program)), lens);
            quote!(&mut [#elem])
        }
        _ => {
            let owned = owned_type(program, container, elem, rank, lens);
            quote!(&mut #owned)
        }
    }
}

/// A view of an array of this rank.
#[must_use]
pub fn view_type(program: &Program, lifetime: &TokenStream, elem: Elem, rank: u8) -> TokenStream {
    let krate = &program.krate;
    let (elem, view) = (elem_type(elem, &real_param(program)), format_ident!("ArrayView{rank}"));
    quote!(#krate::ndarray::#view<#lifetime, #elem>)
}

/// `[[elem; N]; M]` for the sizes M, N.
pub fn static_type(elem: TokenStream, lens: &[impl ToTokens]) -> TokenStream {
    lens.iter().rev().fold(elem, |inner, len| quote!([#inner; #len]))
}

/// The names of the hidden functions beside a user-defined type.
pub mod hidden {
    use proc_macro2::{Ident, Span};

    fn name(name: &str) -> Ident {
        Ident::new(name, Span::call_site())
    }

    /// Takes a value apart: numbers are copied, arrays are borrowed.
    #[must_use]
    pub fn taken() -> Ident {
        name("__ad_taken")
    }

    /// The name of the method that takes a value apart into mutable references. An enum has no such
    /// method.
    #[must_use]
    pub fn places() -> Ident {
        name("__ad_places")
    }

    /// The name of the function that puts a value together.
    #[must_use]
    pub fn made() -> Ident {
        name("__ad_made")
    }

    /// The name of the method that adds a value of a type that contains itself to tables.
    #[must_use]
    pub fn pushed() -> Ident {
        name("__ad_pushed")
    }

    /// The name of the function that makes a value of such a type of a row.
    #[must_use]
    pub fn built() -> Ident {
        name("__ad_built")
    }
}

/// The type of a whole result: the owned type of a leaf, or a tuple of the types of its parts.
pub fn tree_type(program: &Program, tree: &OutputTree) -> TokenStream {
    let g = &program.graph;
    type_of(&program.krate, tree, Passed::Owned, &mut |out, lists| {
        let (container, rank, lens) = element_of((out.container, g.rank(out.term), &out.lens), lists);
        owned_type(program, container, g.elem(out.term), rank, &lens)
    })
}

/// The type of the destination of a whole result.
pub fn written_tree_type(program: &Program, tree: &OutputTree) -> TokenStream {
    mutable(&tree_type(program, tree))
}

/// A mutable reference to a type.
pub fn mutable(ty: &TokenStream) -> TokenStream {
    quote!(&mut #ty)
}

/// How a value is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Passed {
    /// It is a result.
    Owned,
    /// It is a tangent or cotangent.
    Borrowed,
}

/// The type of a structure. A leaf is written with the number of lists around it. Inside of a list
/// it is an element of its array.
pub fn type_of<L>(
    krate: &TokenStream,
    tree: &Tree<L>,
    passed: Passed,
    leaf: &mut dyn FnMut(&L, usize) -> TokenStream,
) -> TokenStream {
    match tree {
        Tree::Leaf(own) => leaf(own, 0),
        Tree::Tuple(parts) => {
            let parts: Vec<TokenStream> = parts.iter().map(|part| type_of(krate, part, passed, leaf)).collect();
            tuple(&parts)
        }
        Tree::List(of, element) => {
            let element = element_type(krate, element, 1, leaf);
            match (of, passed) {
                (ListType::Static(len), _) => quote!([#element; #len]),
                (ListType::Vector, Passed::Owned) => quote!(#krate::runtime::alloc::vec::Vec<#element>),
                (ListType::Vector, Passed::Borrowed) => quote!(&[#element]),
            }
        }
        Tree::Ragged(..) => element_type(krate, tree, 1, leaf),
        Tree::Defined(DefinedType { ty, .. }, _) => match passed {
            Passed::Owned => ty.clone(),
            Passed::Borrowed => quote!(&#ty),
        },
    }
}

/// The type of an element of a list.
fn element_type<L>(
    krate: &TokenStream,
    tree: &Tree<L>,
    lists: usize,
    leaf: &mut dyn FnMut(&L, usize) -> TokenStream,
) -> TokenStream {
    match tree {
        Tree::Leaf(own) => leaf(own, lists),
        Tree::Ragged(of, parts) => {
            // An element of the vector of all elements.
            let elem = parts.first().map(|part| element_type(krate, part, 1, leaf));
            let array = format_ident!("Array{}", of.rank);
            let of = if of.is_vec { quote!(runtime::alloc::vec::Vec) } else { quote!(ndarray::#array) };
            quote!(#krate::#of<#elem>)
        }
        Tree::Tuple(parts) => {
            let parts: Vec<TokenStream> = parts.iter().map(|part| element_type(krate, part, lists, leaf)).collect();
            tuple(&parts)
        }
        Tree::List(_, element) => {
            let element = element_type(krate, element, lists + 1, leaf);
            quote!(#krate::runtime::alloc::vec::Vec<#element>)
        }
        Tree::Defined(DefinedType { ty, .. }, _) => ty.clone(),
    }
}

/// The structure of an element in which arrays of several shapes are one leaf: the list of these
/// arrays, put together from their parts.
fn with_whole_arrays(element: &Tree<TokenStream>) -> Tree<TokenStream> {
    match element {
        Tree::Ragged(of, parts) => {
            let (krate, leaves) = (&of.krate, parts.iter().map(Tree::leaves).map(|own| own.first().copied()));
            let leaves: Vec<_> = of.parts().zip(leaves).collect();
            let elements = leaves.iter().find(|(part, _)| *part == RaggedPart::Elements).map(|(_, leaf)| leaf);
            let sizes = leaves.iter().filter(|(part, _)| matches!(part, RaggedPart::Sizes(_))).map(|(_, leaf)| leaf);
            let of_elements = elements.into_iter();
            Tree::Leaf(quote!(#krate::runtime::arrays_of_shapes(#(#of_elements)*, [#(#sizes),*])))
        }
        Tree::Leaf(_) => element.clone(),
        Tree::Tuple(parts) => Tree::Tuple(parts.iter().map(with_whole_arrays).collect()),
        Tree::List(of, inner) => Tree::List(of.clone(), with_whole_arrays(inner).into()),
        Tree::Defined(of, inner) => Tree::Defined(of.clone(), with_whole_arrays(inner).into()),
    }
}

/// A list of tuples, given a list for each leaf of a tuple.
#[must_use]
pub fn zipped(krate: &TokenStream, of: &ListType, element: &Tree<TokenStream>) -> TokenStream {
    let element = &with_whole_arrays(element);
    let leaves = element.leaves();
    let name = |k: usize| format_ident!("item{k}_", span = Span::mixed_site());
    if let Tree::Leaf(list) = element {
        return list.clone();
    }
    if let ListType::Static(_) = of {
        let names: Vec<Ident> = (0..leaves.len()).map(name).collect();
        let (at, mut each) = (format_ident!("at_", span = Span::mixed_site()), names.iter());
        let item = value_of(element, &mut |_| {
            let name = each.next();
            quote!(#name[#at])
        });
        return quote!({
            #(let #names = #leaves;)*
            ::core::array::from_fn(|#at| #item)
        });
    }
    let Some((first, rest)) = leaves.split_first() else { return quote!(#krate::runtime::alloc::vec::Vec::new()) };
    let first_name = name(0);
    let (mut all, mut pattern) = (quote!(::core::iter::IntoIterator::into_iter(#first)), quote!(#first_name));
    for (k, list) in rest.iter().enumerate() {
        let name = name(k + 1);
        all = quote!(::core::iter::Iterator::zip(#all, #list));
        pattern = quote!((#pattern, #name));
    }
    let mut k = 0..;
    let item = value_of(element, &mut |_| {
        let name = name(k.next().unwrap_or(0));
        quote!(#name)
    });
    let each = quote!(::core::iter::Iterator::map(#all, |#pattern| #item));
    quote!(::core::iter::Iterator::collect::<#krate::runtime::alloc::vec::Vec<_>>(#each))
}

/// A value that owns its parts, given its leaves. A leaf in a list is given as the `Vec` of that
/// leaf in all elements.
pub fn owned_value(krate: &TokenStream, tree: &Tree<TokenStream>) -> TokenStream {
    match tree {
        Tree::Leaf(value) => value.clone(),
        Tree::Tuple(parts) => {
            let parts: Vec<TokenStream> = parts.iter().map(|part| owned_value(krate, part)).collect();
            tuple(&parts)
        }
        Tree::List(of, element) => zipped(krate, of, element),
        // Only a list has such arrays.
        Tree::Ragged(..) => TokenStream::new(),
        Tree::Defined(of, inner) => made(of, &owned_value(krate, inner)),
    }
}

/// A value of a structure without lists, given its leaves.
fn value_of<L>(tree: &Tree<L>, leaf: &mut dyn FnMut(&L) -> TokenStream) -> TokenStream {
    match tree {
        Tree::Leaf(own) => leaf(own),
        Tree::Tuple(parts) => {
            let parts: Vec<TokenStream> = parts.iter().map(|part| value_of(part, leaf)).collect();
            tuple(&parts)
        }
        // The leaf of a list inside of a list is one row of an array.
        Tree::List(_, element) => {
            let row = value_of(element, leaf);
            quote!(#row.to_vec())
        }
        // It is one leaf in a list that is put together.
        Tree::Ragged(..) => TokenStream::new(),
        Tree::Defined(of, inner) => made(of, &value_of(inner, leaf)),
    }
}

/// The pattern of a structure that has neither lists nor user-defined types.
pub fn pattern_of<L>(tree: &Tree<L>, leaf: &mut dyn FnMut(&L) -> TokenStream) -> TokenStream {
    match tree {
        Tree::Leaf(own) => leaf(own),
        Tree::Tuple(parts) => {
            let parts: Vec<TokenStream> = parts.iter().map(|part| pattern_of(part, leaf)).collect();
            tuple(&parts)
        }
        Tree::Ragged(_, parts) => {
            let parts: Vec<TokenStream> = parts.iter().map(|part| pattern_of(part, leaf)).collect();
            tuple(&parts)
        }
        Tree::List(_, inner) | Tree::Defined(_, inner) => pattern_of(inner, leaf),
    }
}

/// A tuple in a type, a pattern or an expression.
#[must_use]
pub fn tuple(parts: &[TokenStream]) -> TokenStream {
    match parts {
        [one] => quote!((#one,)),
        _ => quote!((#(#parts),*)),
    }
}

/// The facts about leaves that the places in a list depend on.
pub struct Lists<'s, L> {
    /// For a leaf of a list whose elements are arrays: an empty stack of such arrays.
    pub stack: &'s dyn Fn(&L) -> Option<TokenStream>,
    /// The zero of its elements.
    pub zero: &'s dyn Fn(&L) -> TokenStream,
    /// Whether a leaf says which variant a value is.
    pub is_tag: &'s dyn Fn(&L) -> bool,
}

/// An empty stack of arrays, if this is the container of the arrays of a list.
#[must_use]
pub fn stack(krate: &TokenStream, name: &str, container: Container) -> Option<TokenStream> {
    (container == Container::NdArray).then(|| quote!(#krate::runtime::Stack::new(#name)))
}

/// The leaves of a value, each with the expression for its place: `p`, or `p.0` and `p.1.0`. The
/// expression for a leaf in a list makes the list of that leaf in all elements.
#[must_use]
pub fn places<L: Clone>(
    place: &TokenStream,
    tree: &Tree<L>,
    (apart, lists): (&Apart<'_>, &Lists<'_, L>),
) -> Vec<(L, TokenStream)> {
    let mut all = PlaceCollector { apart, lists, inside: false, present: None, ragged: None, all: Vec::new() };
    all.add(tree, place);
    all.all.into_iter().map(|found| (found.leaf, found.place)).collect()
}

/// For each array of several shapes in a list of a value, the expression whether its shapes differ.
#[must_use]
pub fn differences<L: Clone>(
    place: &TokenStream,
    tree: &Tree<L>,
    (apart, lists): (&Apart<'_>, &Lists<'_, L>),
) -> Vec<TokenStream> {
    let mut all = PlaceCollector { apart, lists, inside: false, present: None, ragged: None, all: Vec::new() };
    all.add(tree, place);
    all.all.into_iter().filter_map(|found| found.differs).collect()
}

/// A leaf and its place.
struct PlacedLeaf<L> {
    leaf: L,
    place: TokenStream,
    /// The condition that the leaf exists. `None` if it always does.
    present: Option<TokenStream>,
    /// The part of arrays of several shapes that it is.
    ragged: Option<RaggedPart>,
    /// Where the arrays begin: the expression whether their shapes differ.
    differs: Option<TokenStream>,
}

/// Collects the leaves of [`places`].
struct PlaceCollector<'p, L> {
    apart: &'p Apart<'p>,
    lists: &'p Lists<'p, L>,
    /// Whether the value is inside of a list.
    inside: bool,
    /// The condition that the value exists.
    present: Option<TokenStream>,
    /// The part of arrays of several shapes that the value is.
    ragged: Option<RaggedPart>,
    all: Vec<PlacedLeaf<L>>,
}

impl<L: Clone> PlaceCollector<'_, L> {
    fn add(&mut self, tree: &Tree<L>, place: &TokenStream) {
        match tree {
            Tree::Leaf(leaf) => {
                let (leaf, place, present) = (leaf.clone(), place.clone(), self.present.clone());
                self.all.push(PlacedLeaf { leaf, place, present, ragged: self.ragged, differs: None });
            }
            Tree::Ragged(of, parts) => {
                for (part, tree) in of.parts().zip(parts) {
                    self.ragged = Some(part);
                    self.add(tree, place);
                    self.ragged = None;
                }
            }
            Tree::Tuple(parts) => {
                let is_tag = |part: &Tree<L>| matches!(part, Tree::Leaf(leaf) if (self.lists.is_tag)(leaf));
                let (of_enum, of_option) = (parts.first().is_some_and(is_tag), parts.last().is_some_and(is_tag));
                let outer = self.present.clone();
                for (n, part) in parts.iter().enumerate() {
                    let at = Literal::usize_unsuffixed(n);
                    if of_enum && n > 0 {
                        let variant = Literal::usize_unsuffixed(n - 1);
                        self.present = Some(quote!(#place.0 == #variant));
                    } else if of_option && n == 0 && parts.len() == 2 {
                        self.present = Some(quote!(#place.1));
                    }
                    self.add(part, &quote!(#place.#at));
                    self.present.clone_from(&outer);
                }
            }
            // A list inside of a list has one leaf, and its place is a row.
            Tree::List(_, element) if self.inside => self.add(element, place),
            Tree::List(of, element) => self.add_list(of, element, place),
            Tree::Defined(of, inner) => {
                let parts = self.apart.parts_of(of, place);
                // A `match` at the beginning of a statement would end there.
                let parts = if of.content.is_some() { quote!((#parts)) } else { parts };
                self.add(inner, &parts);
            }
        }
    }

    /// One part of the arrays of a list whose shapes differ. For the part with the places where the
    /// arrays begin, also the expression that says whether the shapes do differ.
    fn ragged_list(
        &self,
        place: &TokenStream,
        (stack, item): (&Ident, &Ident),
        (array, present): (&TokenStream, Option<TokenStream>),
        part: RaggedPart,
    ) -> (TokenStream, Option<TokenStream>) {
        let krate = self.apart.krate;
        let present = present.unwrap_or_else(|| quote!(true));
        let arguments = quote!((#place.iter(), |#stack, #item| #stack.push_if(#present, &#array)));
        let shapes = quote!(#krate::runtime::Shapes::new().of_all #arguments);
        match part {
            RaggedPart::Elements => (quote!(#krate::runtime::Flat::new().of_all #arguments), None),
            RaggedPart::Starts => (quote!(#shapes.starts()), Some(quote!(#shapes.several()))),
            RaggedPart::Sizes(axis) => (quote!(#shapes.sizes(#axis)), None),
            RaggedPart::Most(axis) => (quote!(#shapes.most(#axis)), None),
        }
    }

    fn add_list(&mut self, of: &ListType, element: &Tree<L>, place: &TokenStream) {
        let (item, stack) = (Ident::new("item_", Span::mixed_site()), Ident::new("stack_", Span::mixed_site()));
        let (apart, lists, krate) = (self.apart, self.lists, self.apart.krate);
        let mut parts = PlaceCollector { apart, lists, inside: true, present: None, ragged: None, all: Vec::new() };
        parts.add(element, &quote!(#item));
        for PlacedLeaf { leaf, place: part, present, ragged, .. } in parts.all {
            if let Some(ragged) = ragged {
                let (place, differs) = self.ragged_list(place, (&stack, &item), (&part, present), ragged);
                self.all.push(PlacedLeaf { leaf, place, present: self.present.clone(), ragged: None, differs });
                continue;
            }
            let list = match ((self.lists.stack)(&leaf), of) {
                (Some(empty), _) => {
                    let push = match present {
                        Some(present) => {
                            let zero = (self.lists.zero)(&leaf);
                            quote!(#stack.push_if(#present, &#part, #zero))
                        }
                        None => quote!(#stack.push(&#part)),
                    };
                    quote!(#empty.of_all(#place.iter(), |#stack, #item| #push))
                }
                (None, ListType::Vector) => {
                    quote!(#place.iter().map(|#item| #part).collect::<#krate::runtime::alloc::vec::Vec<_>>())
                }
                (None, ListType::Static(_)) => quote!(#place.each_ref().map(|#item| #part)),
            };
            self.all.push(PlacedLeaf { leaf, place: list, present: self.present.clone(), ragged: None, differs: None });
        }
    }
}

/// The path by which generated code calls a function beside the annotated one, or that one itself.
#[must_use]
pub fn path_of(program: &Program, name: &Ident) -> TokenStream {
    match &program.within {
        None => {
            let turbofish = &program.turbofish;
            quote!(#name #turbofish)
        }
        Some(Within { self_ty, own_turbofish, .. }) => quote!(<#self_ty>::#name #own_turbofish),
    }
}

/// The type of a result that may be absent, with this type of the value that is present.
#[must_use]
pub fn fallible_type(fallible: &Fallible, ty: &TokenStream) -> TokenStream {
    let Fallible { path, further, .. } = fallible;
    quote!(#path<#ty #(, #further)*>)
}

/// A result that may be absent, and is present.
#[must_use]
pub fn present(fallible: &Fallible, value: &TokenStream) -> TokenStream {
    match fallible.kind {
        FallibleKind::Option => quote!(::core::option::Option::Some(#value)),
        FallibleKind::Result => quote!(::core::result::Result::Ok(#value)),
    }
}
