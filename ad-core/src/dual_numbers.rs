//! The derivatives of a function with `mode = "dual_numbers"`. Each calls the function with numbers
//! of `ad_runtime::dual_numbers` in place of its type parameter, and reads its derivative off the
//! result. This module must never look into the function.

mod types;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::ItemFn;

use ad_back as emit;
use ad_front::{self as front, Failure, Form, Unread, UnreadParam};
use ad_ir::descriptor::{self, Descriptor, Recipe, Structure, WrittenFunction};

use types::{Types, argument};

/// The derivatives, and the two rules by which functions of other modes differentiate a call; or
/// the errors.
pub(crate) fn written(attr: TokenStream, item: ItemFn) -> Result<(Unread, TokenStream), Failure> {
    let of = front::read_unread(attr, item)?;
    let writer = Writer { types: Types::of(&of), of: &of };
    let mut tokens = TokenStream::new();
    for &derivative in &of.derivatives {
        tokens.extend(writer.derivative(derivative));
    }
    Ok((of, tokens))
}

/// The function, if the attribute asks for this mode.
pub(crate) fn function(attr: &TokenStream, item: &TokenStream) -> Option<ItemFn> {
    if front::is_unread(attr) { syn::parse2(item.clone()).ok() } else { None }
}

/// The names of the rules for calls in functions of other modes.
pub(crate) fn names_of_rules(function: &Ident) -> [Ident; 2] {
    ["vjp", "jvp"].map(|rule| format_ident!("__ad_numbers_{function}_{rule}", span = Span::call_site()))
}

/// The rules for calls in functions of other modes: derivatives with respect to all numbers.
pub(crate) fn rules(of: &Unread) -> TokenStream {
    let writer = Writer { types: Types::of(of), of };
    let [vjp, jvp] = names_of_rules(&of.item.sig.ident);
    let hidden = quote!(#[doc(hidden)]);
    let mut tokens = writer.function(&vjp, &hidden, &descriptor::VJP, true);
    tokens.extend(writer.function(&jvp, &hidden, &descriptor::JVP, true));
    tokens
}

/// The parts that are written into a derivative.
struct Body {
    /// Parameters after those of the function.
    further: Vec<(Ident, TokenStream)>,
    returns: TokenStream,
    body: TokenStream,
}

struct Writer<'u> {
    of: &'u Unread,
    types: Types<'u>,
}

/// A local variable of a derivative, which no name of the user hides.
fn local(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

fn numbered(name: &str, k: usize) -> Ident {
    local(&format!("{name}{k}_"))
}

/// A list as a tuple, or its only element.
fn tuple(parts: &[TokenStream]) -> TokenStream {
    match parts {
        [one] => one.clone(),
        several => quote!((#(#several),*)),
    }
}

/// What a derivative costs, in words: the operations of a body that is not read are not known.
fn cost(derivative: &Descriptor) -> &'static str {
    match derivative.recipe {
        Recipe::Forward => {
            "One call of the function, whose numbers carry a tangent. Nothing is saved for a reverse pass."
        }
        Recipe::Gradient | Recipe::Transposed => {
            "One call of the function, whose numbers record their operations: 32 bytes for each operation."
        }
        Recipe::HessianProduct => {
            "One call of the function, whose numbers carry a tangent and record their operations with it."
        }
        Recipe::Jacobian => {
            "One call of the function, whose numbers record their operations, and one pass over the record for each \
             number of the result or of the parameters, as there are fewer."
        }
        Recipe::Hessian | Recipe::Laplacian => "One call of the function for each number of the parameter.",
        Recipe::Value | Recipe::Pattern | Recipe::Examples => "One call of the function.",
    }
}

impl<'u> Writer<'u> {
    /// The functions of a derivative.
    fn derivative(&self, derivative: &Descriptor) -> TokenStream {
        let stem = &self.of.stem;
        let link = format!("[`{}`]", self.of.item.sig.ident);
        let names: Vec<String> = self.active().map(|(_, p)| format!("`{}`", p.name)).collect();
        let doc = derivative.documentation(&link, &names, &[]);
        let cost = cost(derivative);
        let mut tokens = TokenStream::new();
        for WrittenFunction { suffix, with_value } in derivative.functions() {
            let name = format_ident!("{stem}_{suffix}");
            let doc = match derivative.alone {
                Some(alone) if !with_value && suffix == alone.suffix => {
                    format!("The {} of {link} with respect to {}.", alone.what, names.join(", "))
                }
                _ => doc.clone(),
            };
            let panics = format!("Where {link} does, and if the sizes of the arguments do not fit together.");
            let lines = [&doc, "", "# Cost", "", cost, "", "# Panics", "", &panics];
            let attributes = quote!(#(#[doc = #lines])*);
            tokens.extend(match derivative.alone {
                Some(alone) if suffix == alone.suffix => self.alone(&name, &attributes, derivative),
                _ => self.function(&name, &attributes, derivative, false),
            });
        }
        tokens
    }

    fn active(&self) -> impl Iterator<Item = (usize, &'u UnreadParam)> {
        self.of.params.iter().enumerate().filter(|(_, p)| p.active)
    }

    /// A function that returns a derivative without the value.
    fn alone(&self, name: &Ident, attributes: &TokenStream, derivative: &Descriptor) -> TokenStream {
        let all = format_ident!("{}_{}", self.of.stem, derivative.suffix);
        let derived = self.derived_type(derivative);
        let names = self.of.params.iter().map(|p| &p.name);
        let number = self.of.number.to_token_stream();
        let turbofish = front::turbofish_with(&self.of.item, &self.of.number, &number);
        let body = quote!(#all #turbofish (#(#names),*).1);
        self.item(name, attributes, Body { further: Vec::new(), returns: derived, body })
    }

    /// A function with a derivative.
    fn function(&self, name: &Ident, attributes: &TokenStream, derivative: &Descriptor, hidden: bool) -> TokenStream {
        let body = match derivative.returns {
            Structure::Gradient if *derivative == descriptor::VJP => self.vjp(),
            Structure::Gradient if derivative.with_value => self.gradient(),
            Structure::Gradient => self.hessian_product(),
            Structure::Result if *derivative == descriptor::JVP => self.jvp(),
            Structure::Result => self.laplacian(),
            Structure::Jacobian => self.jacobian(),
            Structure::Hessian => self.hessian(),
            Structure::Closure => self.pullback(),
            Structure::Written => self.into(),
            // The front end refuses these.
            Structure::Sparse | Structure::Examples => return TokenStream::new(),
        };
        let dead = hidden.then(|| quote!(#[allow(dead_code, reason = "not every function is called in others")]));
        self.item(name, &quote!(#attributes #dead), body)
    }

    fn item(&self, name: &Ident, attributes: &TokenStream, Body { further, returns, body }: Body) -> TokenStream {
        let ItemFn { vis, sig, attrs, .. } = &self.of.item;
        let cfgs = attrs.iter().filter(|a| a.path().is_ident("cfg"));
        let (generics, where_clause) = (&sig.generics, &sig.generics.where_clause);
        let params = self.of.params.iter().map(|p| {
            let (name, ty) = (&p.name, &p.ty);
            quote!(#name: #ty)
        });
        let further = further.iter().map(|(name, ty)| quote!(#name: #ty));
        let allowed = emit::allowed_lints();
        quote! {
            #(#cfgs)*
            #attributes
            #allowed
            #vis fn #name #generics (#(#params,)* #(#further),*) -> #returns #where_clause {
                #body
            }
        }
    }

    /// The type of the derivative that [`Writer::alone`] returns.
    fn derived_type(&self, derivative: &Descriptor) -> TokenStream {
        if derivative.returns == Structure::Gradient { self.types.gradient() } else { self.types.jacobian() }
    }

    /// The arguments of a call of the function with numbers of this type. `made` makes the argument
    /// of an active parameter. If the call is repeated, values that would be moved are cloned.
    fn call(&self, numbers: &TokenStream, made: &dyn Fn(usize, &Ident) -> TokenStream, again: bool) -> TokenStream {
        let (run, number, function) = (&self.types.run, &self.of.number, &self.of.item.sig.ident);
        let (mut made_first, mut arguments) = (TokenStream::new(), Vec::new());
        for (k, p) in self.of.params.iter().enumerate() {
            let (name, value) = (&p.name, numbered("argument", k));
            let Some(form) = &p.form else {
                let moved = again && !matches!(p.ty, syn::Type::Reference(_));
                arguments.push(if moved { quote!(::core::clone::Clone::clone(&#name)) } else { quote!(#name) });
                continue;
            };
            let made = match p.active {
                true => made(k, name),
                false => quote!(#run::constant::<#number, #numbers, _>(&#name)),
            };
            made_first.extend(quote!(let #value = #made;));
            arguments.push(argument(form, &value.to_token_stream()));
        }
        let turbofish = front::turbofish_with(&self.of.item, number, numbers);
        let result = local("result_");
        quote!(#made_first let #result = #function #turbofish (#(#arguments),*);)
    }

    /// A call with numbers of reverse mode, after which `pulled_` is the tape, `value_` the value
    /// of
    /// the result, and `differentiated_` that of the part that is differentiated.
    fn reversed(&self) -> TokenStream {
        let (run, number) = (&self.types.run, &self.of.number);
        let (call, result, pulled) = (local("call_"), local("result_"), local("pulled_"));
        let (value, differentiated) = (local("value_"), local("differentiated_"));
        let numbers = quote!(#run::Reverse<#number>);
        let made = self.call(&numbers, &|_, name| quote!(#call.argument(&#name)), false);
        let ended = match (self.of.aux, self.of.one_number) {
            (true, _) => quote! {
                let #value = #run::primal::<#numbers, _>(&#result);
                let (#differentiated, mut #pulled) = #call.number(#result.0);
            },
            (false, true) => quote! {
                let (#value, mut #pulled) = #call.number(#result);
                let #differentiated = #value;
            },
            (false, false) => quote!(let (#value, mut #pulled) = #call.values(&#result);),
        };
        quote! {
            let mut #call = #run::Call::<#number>::begin();
            #made
            #ended
        }
    }

    /// The part of the value that is differentiated.
    fn differentiated(&self) -> Ident {
        local(if self.of.one_number { "differentiated_" } else { "value_" })
    }

    /// Reads the gradient of each active parameter.
    fn read(&self, of: &dyn Fn(usize, &Ident) -> TokenStream) -> TokenStream {
        tuple(&self.active().map(|(k, p)| of(k, &p.name)).collect::<Vec<_>>())
    }

    fn gradient(&self) -> Body {
        let (value, pulled, read) = (local("value_"), local("pulled_"), local("read_"));
        let differentiated = self.differentiated();
        let made = self.reversed();
        let gradient = self.read(&|_, name| quote!(#read.like(&#name)));
        let (result, of) = (&self.of.result_ty, self.types.gradient());
        let body = quote! {
            #made
            let _ = #differentiated;
            let mut #read = #pulled.gradient();
            (#value, #gradient)
        };
        Body { further: Vec::new(), returns: quote!((#result, #of)), body }
    }

    fn into(&self) -> Body {
        let (value, pulled, read) = (local("value_"), local("pulled_"), local("read_"));
        let differentiated = self.differentiated();
        let made = self.reversed();
        let (mut further, mut writes) = (Vec::new(), TokenStream::new());
        for (_, p) in self.active() {
            let (name, form) = (&p.name, self.types.form(p));
            let place = format_ident!("{name}_gradient");
            writes.extend(match referred_form(form) {
                Form::Tuple(_) | Form::Other(_) => quote!(*#place = #read.like(&#name);),
                _ => quote!(#read.written(&#name, #place);),
            });
            further.push((place, self.types.destination(form)));
        }
        let body = quote! {
            #made
            let _ = #differentiated;
            let mut #read = #pulled.gradient();
            #writes
            #value
        };
        Body { further, returns: self.of.result_ty.to_token_stream(), body }
    }

    fn vjp(&self) -> Body {
        let (value, pulled, read) = (local("value_"), local("pulled_"), local("read_"));
        let (differentiated, made) = (self.differentiated(), self.reversed());
        let cotangent = format_ident!("cotangent_");
        let gradient = self.read(&|_, name| quote!(#read.like(&#name)));
        let (result, of) = (&self.of.result_ty, self.types.gradient());
        let body = quote! {
            #made
            let mut #read = #pulled.pulled(&#differentiated, &#cotangent);
            let gradient_ = #gradient;
            (#value, gradient_)
        };
        let further = vec![(cotangent, self.types.passed(self.types.differentiated()))];
        Body { further, returns: quote!((#result, #of)), body }
    }

    fn pullback(&self) -> Body {
        let (value, pulled, read, like) = (local("value_"), local("pulled_"), local("read_"), local("like_"));
        let (run, number) = (&self.types.run, &self.of.number);
        let (differentiated, made) = (self.differentiated(), self.reversed());
        let cotangent = local("cotangent_");
        let copies = self.active().map(|(k, p)| {
            let (copy, name) = (numbered("copy", k), &p.name);
            quote!(let #copy = #run::copied::<#number, _>(&#name);)
        });
        let gradient = self.read(&|k, _| {
            let copy = numbered("copy", k);
            quote!(#read.like(&#copy))
        });
        let passed = self.types.passed(self.types.differentiated());
        let (result, of) = (&self.of.result_ty, self.types.gradient());
        let captured = self.of.item.sig.generics.params.iter().filter_map(|p| match p {
            syn::GenericParam::Lifetime(_) => None,
            syn::GenericParam::Type(t) => Some(&t.ident),
            syn::GenericParam::Const(c) => Some(&c.ident),
        });
        let body = quote! {
            #made
            #(#copies)*
            let #like = #run::copied::<#number, _>(&#differentiated);
            let #pulled = ::core::cell::RefCell::new(#pulled);
            (#value, move |#cotangent: #passed| {
                let mut #pulled = #pulled.borrow_mut();
                let mut #read = #pulled.pulled(&#like, &#cotangent);
                #gradient
            })
        };
        let body = quote! {
            #[allow(unused_mut, reason = "only the closure changes it")]
            let found_ = { #body };
            found_
        };
        let returns = quote!((#result, impl ::core::ops::Fn(#passed) -> #of + use<#(#captured),*>));
        Body { further: Vec::new(), returns, body }
    }

    /// The parameters for directions, and their numbers as lists.
    fn directions(&self, word: &str) -> (Vec<(Ident, TokenStream)>, TokenStream) {
        let (run, number) = (&self.types.run, &self.of.number);
        let (mut further, mut lists) = (Vec::new(), TokenStream::new());
        for (k, p) in self.active() {
            let (list, name, direction) = (numbered("list", k), &p.name, format_ident!("{}_{word}", p.name));
            lists.extend(quote!(let #list = #run::along::<#number, _, _>(&#name, &#direction);));
            further.push((direction, self.types.passed(self.types.form(p))));
        }
        (further, lists)
    }

    fn jvp(&self) -> Body {
        let (run, number, result) = (&self.types.run, &self.of.number, local("result_"));
        let (further, lists) = self.directions("tangent");
        let numbers = quote!(#run::Forward<#number>);
        let pushed = |k: usize, name: &Ident| {
            let list = numbered("list", k);
            quote!(#run::pushed::<#number, _>(&#name, &mut #list.iter()))
        };
        let made = self.call(&numbers, &pushed, false);
        let parts = match self.of.aux {
            false => quote!(#run::parts::<#number, _>(&#result)),
            true => quote!((#run::primal::<#numbers, _>(&#result), #run::parts::<#number, _>(&#result.0).1)),
        };
        let (value, tangent) = (&self.of.result_ty, self.types.owned(self.types.differentiated()));
        Body { further, returns: quote!((#value, #tangent)), body: quote!(#lists #made #parts) }
    }

    /// A call with numbers of reverse mode over numbers of forward mode, which move along the
    /// directions `list{k}_`.
    fn moving(&self, again: bool) -> TokenStream {
        let (run, number) = (&self.types.run, &self.of.number);
        let (call, result, pulled) = (local("call_"), local("result_"), local("pulled_"));
        let numbers = quote!(#run::Reverse<#run::Forward<#number>>);
        let moved = |k: usize, name: &Ident| {
            let list = numbered("list", k);
            quote!(#call.moving::<#number, _>(&#name, &mut #list.iter()))
        };
        let made = self.call(&numbers, &moved, again);
        let differentiated = if self.of.aux { quote!(#result.0) } else { quote!(#result) };
        quote! {
            let mut #call = #run::Call::<#run::Forward<#number>>::begin();
            #made
            let (_, mut #pulled) = #call.number(#differentiated);
        }
    }

    fn hessian_product(&self) -> Body {
        let (number, pulled, read) = (&self.of.number, local("pulled_"), local("read_"));
        let (further, lists) = self.directions("direction");
        let made = self.moving(false);
        let product = self.read(&|_, name| quote!(#read.tangents_like::<#number, _>(&#name)));
        let body = quote! {
            #lists
            #made
            let mut #read = #pulled.gradient();
            #product
        };
        Body { further, returns: self.types.gradient(), body }
    }

    fn hessian(&self) -> Body {
        let (run, number, pulled) = (&self.types.run, &self.of.number, local("pulled_"));
        let made = self.moving(true);
        let Some((k, p)) = self.active().next() else { return self.gradient() };
        let (name, list, copy, form) = (&p.name, numbered("list", k), numbered("copy", k), self.types.form(p));
        let leaves = types::leaves(form, &copy.to_token_stream());
        let block = self.types.blocks_from(form, form, 0).1;
        let body = quote! {
            let #copy = #run::copied::<#number, _>(&#name);
            let dims_ = [#(#run::dims::<#number, _>(&#leaves)),*];
            let count_ = #run::numbers::<#number, _>(&#name).len();
            let matrix_ = #run::hessian::<#number>(count_, |#list| {
                #made
                #run::numbers::<#number, _>(&#pulled.gradient().tangents_like::<#number, _>(&#name))
            });
            let (rows_, columns_) = (&dims_, &dims_);
            #block
        };
        Body { further: Vec::new(), returns: self.types.block_type(form, form), body }
    }

    fn laplacian(&self) -> Body {
        let (run, number, result) = (&self.types.run, &self.of.number, local("result_"));
        let Some((_, p)) = self.active().next() else { return self.gradient() };
        let name = &p.name;
        let (moving, numbers) = (local("moving_"), quote!(#run::Forward<#run::Forward<#number>>));
        let made = self.call(&numbers, &|_, _| quote!(#moving), true);
        let differentiated = if self.of.aux { quote!(#result.0) } else { quote!(#result) };
        let body = quote! {
            let count_ = #run::numbers::<#number, _>(&#name).len();
            #run::laplacian::<#number, _>(count_, &#name, |#moving| {
                #made
                #differentiated
            })
        };
        Body { further: Vec::new(), returns: number.to_token_stream(), body }
    }

    fn jacobian(&self) -> Body {
        let (run, number) = (&self.types.run, &self.of.number);
        let (value, pulled, differentiated) = (local("value_"), local("pulled_"), self.differentiated());
        let made = self.reversed();
        let rows = types::leaves(self.types.differentiated(), &differentiated.to_token_stream());
        let (mut copies, mut columns, mut blocks, mut first) = (TokenStream::new(), Vec::new(), Vec::new(), 0);
        for (k, p) in self.active() {
            let (copy, name, form) = (numbered("copy", k), &p.name, self.types.form(p));
            copies.extend(quote!(let #copy = #run::copied::<#number, _>(&#name);));
            let leaves = types::leaves(form, &copy.to_token_stream());
            let (count, block) = self.types.blocks_from(form, self.types.differentiated(), first);
            first += count;
            columns.extend(leaves);
            blocks.push(block);
        }
        let blocks = tuple(&blocks);
        let ended = match self.of.one_number {
            true => quote!(),
            false => quote!(let _ = &#differentiated;),
        };
        let body = quote! {
            #copies
            #made
            #ended
            let rows_ = &[#(#run::dims::<#number, _>(&#rows)),*];
            let columns_ = &[#(#run::dims::<#number, _>(&#columns)),*];
            let matrix_ = #pulled.jacobian();
            let jacobian_ = #blocks;
            (#value, jacobian_)
        };
        let (result, of) = (&self.of.result_ty, self.types.jacobian());
        Body { further: Vec::new(), returns: quote!((#result, #of)), body }
    }
}

/// A form without the references around it.
fn referred_form(form: &Form) -> &Form {
    match form {
        Form::Reference(of) => referred_form(of),
        other => other,
    }
}
