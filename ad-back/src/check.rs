//! The hidden function that accompanies each differentiated function and that `check_grad!` calls.
//! It has the names of the derivatives, the active parameters, and the way in which values are
//! passed to them. `ad_runtime::check` does the rest.
//!
//! The hidden function adds no warning, and compiles wherever the program compiles without it.

mod calls;
mod destinations;
mod item;
pub(super) mod structures;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

use self::calls::Calls;
use self::structures::{BoundLeaf, BoundPattern, LeafPosition, bound_result, inside_of_type, unbound, value_of};
use super::driver::in_list;
use super::signature::cloned_if_moved;
use ad_ir::descriptor::Descriptor;
use ad_ir::ir::Elem;
use ad_ir::program::{Container, DefinedType, Owner, Param, ParamTree, Passing, Program, Role, Tree};
use ad_ir::rust_types::{Apart, Lists, made, owned_value, pattern_of, places, stack, tuple, zipped};

/// The form in which the user writes the type of a number or array among the parameters.
#[derive(Clone, Copy)]
pub(super) struct Written(pub(super) Passing);

impl Written {
    /// An owned copy of the value of an argument, or of a part of one.
    fn own(self, argument: &TokenStream, run: &TokenStream) -> TokenStream {
        let Passing { references, owner, .. } = self.0;
        let stars = std::iter::repeat_n(quote!(*), references);
        let lent = if references == 0 { quote!(&#argument) } else { quote!(#argument) };
        match owner {
            Owner::Any | Owner::Static => quote!(#(#stars)* #argument),
            Owner::Array | Owner::Vector if references < 2 => quote!(#argument.clone()),
            Owner::Array | Owner::Vector => {
                let stars = std::iter::repeat_n(quote!(*), references - 1);
                quote!((#(#stars)* #argument).clone())
            }
            Owner::View | Owner::Shared => quote!(#run::array(#lent)),
            Owner::Slice => quote!(#run::slice(#lent)),
        }
    }

    /// An owned value as an argument.
    pub(super) fn as_argument(self, value: &TokenStream, run: &TokenStream) -> TokenStream {
        let Passing { references, owner, is_static } = self.0;
        let value = if is_static { quote!((*#run::leaked(#value))) } else { value.clone() };
        let value = match owner {
            Owner::View => quote!(#value.view()),
            // rustc coerces a single reference.
            Owner::Shared if references > 1 => quote!(*#value),
            Owner::Slice => quote!(#value[..]),
            _ => value,
        };
        let references = std::iter::repeat_n(quote!(&), references);
        quote!(#(#references)* #value)
    }

    /// A part of an argument, passed on as a part of another argument.
    fn cloned_if_moved(self, place: &TokenStream) -> TokenStream {
        if self.0.is_moved() { quote!(#place.clone()) } else { place.clone() }
    }
}

/// The names that the hidden function has for the function's parameters and results.
struct Names<'p> {
    program: &'p Program,
    run: TokenStream,
    /// An argument for each declared parameter.
    arguments: Vec<Ident>,
    /// Owned copies of the active parts of arguments.
    owned: Vec<Ident>,
    /// The parts of a gradient, for each active part of a parameter.
    parts: Vec<Ident>,
    /// The part of the result that is differentiated, and whether each of its leaves is real.
    result: Tree<(Ident, Container, bool)>,
}

impl<'p> Names<'p> {
    fn of(program: &'p Program) -> Self {
        let krate = &program.krate;
        let (mut values, g) = (0.., &program.graph);
        let result = program.differentiated().map(&mut |out| {
            let name = own("value", values.next().unwrap_or(0));
            (name, out.container, g.elem(out.term).is_real())
        });
        let active = program.active.len();
        Names {
            program,
            run: quote!(#krate::runtime::check),
            arguments: (0..program.declared.len()).map(|k| own("argument", k)).collect(),
            owned: (0..active).map(|k| own("own", k)).collect(),
            parts: (0..active).map(|k| own("part", k)).collect(),
            result,
        }
    }

    /// The value of a call. A function that returns an `Option` or a `Result` has one at the points
    /// of a check.
    fn present(&self, call: TokenStream) -> TokenStream {
        let run = &self.run;
        if self.program.fallible.is_some() { quote!(#run::present(#call)) } else { call }
    }

    /// The position of a leaf among the active ones.
    fn active(&self, leaf: usize) -> Option<usize> {
        self.program.active.iter().position(|&k| k == leaf)
    }

    /// The place of a leaf in the arguments.
    fn place(&self, leaf: usize) -> TokenStream {
        let declared = self.program.declared.iter().zip(&self.arguments);
        let stack = |&k: &usize| {
            let Param { label, container, .. } = &self.program.params[k];
            stack(&self.program.krate, label, *container)
        };
        let is_tag = |&k: &usize| self.program.params[k].role == Role::Tag;
        let zero = |&k: &usize| zero_of(self.program, self.program.params[k].elem);
        let (apart, lists) = (Apart::of(self.program), Lists { stack: &stack, zero: &zero, is_tag: &is_tag });
        let mut places = declared
            .flat_map(|(declared, argument)| places(&quote!(#argument), &declared.parts.tree(), (&apart, &lists)));
        places.find(|(k, _)| *k == leaf).map_or_else(unbound, |(_, place)| place)
    }

    fn passing(&self, leaf: usize) -> Written {
        Written(self.program.params[leaf].passing)
    }

    /// An owned copy of a leaf of the arguments.
    fn copy(&self, leaf: usize) -> TokenStream {
        if self.program.declared.iter().any(|p| in_list(&p.parts, leaf, false)) {
            return self.place(leaf);
        }
        self.passing(leaf).own(&self.place(leaf), &self.run)
    }

    /// An argument of another call at the point of the check.
    fn argument_here(&self, declared: usize) -> TokenStream {
        cloned_if_moved(self.program, &self.program.declared[declared], &self.arguments[declared])
    }

    /// The argument at another point.
    fn argument_at(&self, declared: usize, at: &Ident) -> TokenStream {
        let parts = &self.program.declared[declared].parts;
        if parts.tree().leaves().into_iter().any(|&k| self.active(k).is_some()) {
            self.parts_at(parts, at)
        } else {
            self.argument_here(declared)
        }
    }

    /// The elements that a leaf contributes to a list.
    fn elements(&self, leaf: usize, inside: LeafPosition, all: TokenStream) -> TokenStream {
        elements(&self.program.krate, self.program.params[leaf].container, inside, all)
    }

    fn parts_at(&self, parts: &ParamTree, at: &Ident) -> TokenStream {
        let run = &self.run;
        match parts {
            ParamTree::Leaf(leaf) => match self.active(*leaf) {
                Some(k) => {
                    let own = &self.owned[k];
                    self.passing(*leaf).as_argument(&quote!(#at.moved(#k, &#own)), run)
                }
                None => self.passing(*leaf).cloned_if_moved(&self.place(*leaf)),
            },
            ParamTree::List { passing, of, element } => {
                let vec = |leaf: &usize| {
                    let all = match self.active(*leaf) {
                        Some(k) => {
                            let own = &self.owned[k];
                            quote!(#at.moved(#k, &#own))
                        }
                        None => self.place(*leaf),
                    };
                    self.elements(*leaf, LeafPosition::List, all)
                };
                Written(*passing)
                    .as_argument(&zipped(&self.program.krate, of, &element.tree().map(&mut |leaf| vec(leaf))), run)
            }
            ParamTree::Defined { references, is_static, of, inner } => {
                let leaf = |leaf: &usize, inside: LeafPosition| {
                    let all = match self.active(*leaf) {
                        Some(k) => {
                            let own = &self.owned[k];
                            quote!(#at.moved(#k, &#own))
                        }
                        None => self.copy(*leaf),
                    };
                    self.elements(*leaf, inside, all)
                };
                let whole = made(
                    of,
                    &owned_value(&self.program.krate, &inside_of_type(&inner.tree(), &mut |k, inside| leaf(k, inside))),
                );
                referred((*references, *is_static), whole, run)
            }
            // Only a list has such arrays.
            ParamTree::Ragged(..) => TokenStream::new(),
            ParamTree::Tuple { references, is_static, parts } => {
                let parts: Vec<TokenStream> = parts.iter().map(|part| self.parts_at(part, at)).collect();
                referred((*references, *is_static), tuple(&parts), run)
            }
        }
    }

    /// A pattern for each declared active parameter, with other leaves for those that are not
    /// active.
    fn active_patterns(
        &self,
        active: &mut impl FnMut(usize) -> TokenStream,
        other: &mut impl FnMut(usize) -> TokenStream,
    ) -> Vec<TokenStream> {
        let one = |&k: &usize| {
            let tree = self.program.declared[k].parts.tree();
            pattern_of(&tree, &mut |&leaf| match self.active(leaf) {
                Some(k) => active(k),
                None => other(leaf),
            })
        };
        self.program.wrt.iter().map(one).collect()
    }

    /// The tangent of each declared active parameter.
    fn tangents_at(&self, at: &Ident) -> Vec<TokenStream> {
        let params = &self.program.params;
        let one = |&k: &usize| {
            value_of(&self.program.krate, &self.program.declared[k].parts.tree(), &mut |&leaf, inside| {
                let value = match self.active(leaf) {
                    Some(k) => {
                        let own = &self.owned[k];
                        quote!(#at.of(#k, &#own))
                    }
                    None => self.copy(leaf),
                };
                match inside {
                    LeafPosition::Nothing => passed(params[leaf].container, &value),
                    inside => self.elements(leaf, inside, value),
                }
            })
        };
        self.program.wrt.iter().map(one).collect()
    }

    /// The pattern that binds the active parts of a parameter's gradient.
    fn bound(&self, tree: &Tree<usize>) -> BoundPattern {
        let named = |leaf: usize| {
            let Param { container, role, .. } = self.program.params[leaf];
            let name = self.active(leaf).map(|k| (self.parts[k].clone(), container));
            BoundLeaf { name, is_tag: role == Role::Tag }
        };
        BoundPattern::of(&tree.map(&mut |&leaf| named(leaf)), &Apart::of(self.program))
    }

    /// The pattern of a gradient, and the statements that take its lists apart.
    fn gradient(&self) -> BoundPattern {
        let all: Vec<BoundPattern> =
            self.program.wrt.iter().map(|&k| self.bound(&self.program.declared[k].parts.tree())).collect();
        let patterns: Vec<TokenStream> = all.iter().map(|bound| bound.pattern.clone()).collect();
        BoundPattern { pattern: tuple_of(&patterns), taken: all.into_iter().map(|bound| bound.taken).collect() }
    }

    /// The leaves of the differentiated result with names of this beginning.
    fn results(&self, what: &str) -> Tree<(Ident, Container, bool)> {
        let mut k = 0..;
        self.result.map(&mut |(_, container, real)| (own(what, k.next().unwrap_or(0)), *container, *real))
    }

    /// The pattern of the whole result; `discrete`: with names for parts that are not real.
    fn value(&self, discrete: bool) -> BoundPattern {
        let BoundPattern { pattern, taken } = bound_result(&self.result, discrete, &Apart::of(self.program));
        BoundPattern { pattern: if self.program.aux { quote!((#pattern, _)) } else { pattern }, taken }
    }

    /// The entries of a result, given the names of its leaves.
    fn entries(&self, result: &Tree<(Ident, Container, bool)>) -> TokenStream {
        let run = &self.run;
        match result {
            Tree::Leaf((name, ..)) => quote!(#run::leaf(&#name)),
            Tree::Tuple(_) | Tree::List(..) | Tree::Ragged(..) | Tree::Defined(..) => {
                let leaves = result.leaves().into_iter().filter(|leaf| leaf.2).map(|leaf| &leaf.0);
                quote!(#run::together(#run::Vec::from([#(#run::leaf(&#leaves)),*])))
            }
        }
    }

    /// The entries of the function's value.
    fn value_entries(&self, call: &TokenStream) -> TokenStream {
        let run = &self.run;
        match (&self.result, self.program.aux) {
            (Tree::Leaf(_), false) => quote!(#run::leaf(&#call)),
            _ => {
                let (BoundPattern { pattern, taken }, entries) = (self.value(false), self.entries(&self.result));
                quote!({
                    let #pattern = #call;
                    #taken
                    #entries
                })
            }
        }
    }

    /// A cotangent, given its entries.
    fn cotangent(&self, at: &Ident) -> TokenStream {
        let run = &self.run;
        let all = self.result.leaves();
        let mut leaves = 0..;
        value_of(&self.program.krate, &self.result, &mut |(name, container, real), inside| {
            let n = leaves.next().unwrap_or(0);
            let passed = |value: &TokenStream| match inside {
                LeafPosition::Nothing => passed(*container, value),
                inside => elements(&self.program.krate, *container, inside, value.clone()),
            };
            if !*real {
                return passed(&quote!(#name.clone()));
            }
            let before: Vec<&Ident> = all[..n].iter().filter(|leaf| leaf.2).map(|leaf| &leaf.0).collect();
            let entries = match &*before {
                [] => quote!(#at),
                before => quote!(#run::after(#at, &[#(&#run::leaf(&#before)),*])),
            };
            passed(&quote!(#run::refill(&#name, #entries)))
        })
    }

    /// The pattern of blocks: for each active part a structure of blocks, one for each leaf of
    /// `rows`; and the entries of each of these structures.
    fn blocks(&self, rows: &Tree<(Ident, Container, bool)>) -> (TokenStream, Vec<TokenStream>) {
        let run = &self.run;
        let names = |k: usize| {
            let mut n = 0..;
            rows.map(&mut |leaf| {
                let n = n.next().unwrap_or(0);
                let name =
                    if matches!(rows, Tree::Leaf(_)) { self.parts[k].clone() } else { own(&format!("part{k}of"), n) };
                (name, leaf.1, leaf.2)
            })
        };
        let mut pattern = |k: usize| {
            pattern_of(&names(k), &mut |(name, _, real)| if *real { name.to_token_stream() } else { unbound() })
        };
        let pattern = tuple_of(&self.active_patterns(&mut pattern, &mut |_| unbound()));
        let entries = (0..self.parts.len()).map(|k| match names(k) {
            Tree::Leaf((name, ..)) => quote!(#run::leaf(&#name)),
            several => {
                let own = &self.owned[k];
                let blocks = several.leaves().into_iter().filter(|leaf| leaf.2).map(|leaf| &leaf.0);
                quote!(#run::rows(&#own, #run::Vec::from([#(#run::leaf(&#blocks)),*])))
            }
        });
        (pattern, entries.collect())
    }
}

/// The zero of this type.
fn zero_of(program: &Program, elem: Elem) -> TokenStream {
    let krate = &program.krate;
    match elem {
        Elem::Real(_) => quote!(#krate::runtime::Real::lit(0.0)),
        Elem::Int(_) => quote!(0),
        Elem::Bool => quote!(false),
    }
}

/// The elements that a leaf contributes to a list.
fn elements(krate: &TokenStream, container: Container, inside: LeafPosition, all: TokenStream) -> TokenStream {
    let arrays = inside == LeafPosition::List && container == Container::NdArray;
    if arrays { quote!(#krate::runtime::elements(#all)) } else { all }
}

/// References to a value.
pub(super) fn referred((references, is_static): (usize, bool), whole: TokenStream, run: &TokenStream) -> TokenStream {
    let whole = if is_static { quote!((*#run::leaked(#whole))) } else { whole };
    let references = std::iter::repeat_n(quote!(&), references);
    quote!(#(#references)* #whole)
}

/// A name that the hidden function introduces.
pub(super) fn own(what: &str, k: usize) -> Ident {
    Ident::new(&format!("{what}{k}_"), Span::mixed_site())
}

/// A tuple of the parts; of one part, the part itself.
pub(super) fn tuple_of(parts: &[TokenStream]) -> TokenStream {
    if let [only] = parts { only.clone() } else { tuple(parts) }
}

/// The hidden function. `several`: the program for lists whose arrays have several shapes, with its
/// derivatives.
#[must_use]
pub fn check(
    program: &Program,
    derivatives: &[&Descriptor],
    several: Option<(&Program, &[&Descriptor])>,
) -> TokenStream {
    let how = own("how", 0);
    let arguments = Names::of(program).arguments;
    let mut body = statements(program, derivatives, &how);
    if let Some((several, derivatives)) = several {
        let (differ, other) = (super::several::differ(several, &arguments), statements(several, derivatives, &how));
        body = quote!(if #differ { #other } else { #body });
    }
    let krate = &program.krate;
    let how_ty = quote!(#krate::runtime::check::CheckCall<'_>);
    item::written(program, (&how, &how_ty), &arguments, &body)
}

/// The statements of the hidden function for the arguments of this program.
fn statements(program: &Program, derivatives: &[&Descriptor], how: &Ident) -> TokenStream {
    let names = Names::of(program);
    let Names { run, arguments, owned, .. } = &names;
    let copies = program.active.iter().map(|&k| names.copy(k));
    let points = program.active.iter().zip(owned).map(|(&k, own)| {
        let name = program.params[k].label.trim_start_matches("r#");
        quote!(#run::point(#name, &#own))
    });
    // A moved value copies the fields that are not made of numbers from the argument.
    let likes = program.declared.iter().zip(arguments).filter_map(|(p, argument)| match &p.parts {
        ParamTree::Defined { of: DefinedType { like: Some(name), .. }, .. } => {
            Some(quote!(let #name = &#argument; let _ = #name;))
        }
        _ => None,
    });
    let likes: TokenStream = likes.collect();
    let calls = Calls::of(program, &names);
    let Calls { check, at, itself, moved, .. } = &calls;
    let called = names.value_entries(&names.present(quote!(#itself(#(#moved),*))));
    let code: TokenStream = derivatives.iter().map(|d| calls.of_derivative(d)).collect();
    quote! {
        #likes
        #(let #owned = #copies;)*
        let mut #check = #run::Check::new(#how, #run::Vec::from([#(#points),*]), |#at| #called);
        #code
        #check.done();
    }
}

/// An owned value as a tangent or a cotangent.
pub(super) fn passed(container: Container, value: &TokenStream) -> TokenStream {
    if container.is_static() { value.clone() } else { quote!(&#value) }
}
