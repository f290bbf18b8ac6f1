//! Lists of arrays of several shapes: `&[Array2<f64>]`, `&[Vec<f64>]`, and lists of structs and
//! enums with arrays. If all arrays of a list have one shape, a derivative computes with one array
//! of all of them (`lists`). Other calls run a second program, in which such a list is a vector of
//! the elements of all arrays, the index at which each array begins, and its sizes. There an
//! element of the list is a number, which stands for an array with dynamic lengths (`open`) whose
//! capacity is the greatest size. So a list of structs may be reversed, filtered and sorted.
//!
//! This module must never let the program of arrays of one shape depend on it.

use ad_ir::sorted::SortedSet;
use std::rc::Rc;

use proc_macro2::{Ident, Span, TokenStream};

use super::carry::CarriedForm;
use super::lower::Lower;
use super::sig::{Sig, SigParam};
use super::types::Leaf;
use super::value::{EnumValue, Lowered, Value};
use ad_ir::descriptor::{Descriptor, Structure};
use ad_ir::diag::Poison;
use ad_ir::ir::{Elem, Graph, Node, Term, Var};
use ad_ir::prim::IntOp;
use ad_ir::program::{Container, ListType, Owner, ParamTree, Passing, RaggedArray, RaggedPart, Role};

/// The arrays of a list.
pub(super) struct RaggedList {
    /// The elements of all arrays, one after the other.
    elements: Term,
    /// The index of the first element of each array.
    starts: Term,
    /// For each axis, the sizes of the arrays.
    sizes: Vec<Term>,
    /// For each axis, the greatest size.
    most: Vec<Term>,
    /// Whether the arrays are `Vec`s.
    vectors: bool,
}

impl RaggedList {
    /// The number of arrays.
    pub(super) fn len(&self, g: &Graph) -> Term {
        g.shape(self.starts)[0]
    }
}

/// Whether a derivative is written for arrays of several shapes. A block of a Jacobian would not
/// be an array.
#[must_use]
pub fn is_written(derivative: &Descriptor) -> bool {
    match derivative.returns {
        Structure::Result | Structure::Gradient | Structure::Closure | Structure::Written => true,
        Structure::Jacobian | Structure::Hessian | Structure::Examples | Structure::Sparse => false,
    }
}

impl Sig {
    /// The signature of the program for lists whose arrays have several shapes. `None` if there is
    /// no list of arrays, or if no derivative is written for such lists.
    pub(super) fn of_several_shapes(&self) -> Option<Sig> {
        let derivatives: Vec<&Descriptor> = self.derivatives.iter().copied().filter(|d| is_written(d)).collect();
        if derivatives.is_empty() || !self.examples.is_empty() {
            return None;
        }
        let named = self.params.iter().map(|p| &p.name).chain(self.declared.iter().map(|p| &p.declared.name));
        let mut parts = Parts {
            old: &self.params,
            taken: named.map(ToString::to_string).collect(),
            krate: &self.krate,
            new: Vec::new(),
            ragged: false,
        };
        let mut sig = self.clone();
        for p in &mut sig.declared {
            p.declared.parts = parts.of(&p.declared.parts, false);
        }
        if !parts.ragged {
            return None;
        }
        sig.params = parts.new;
        let real = |&k: &usize| sig.params[k].leaf.is_active();
        sig.active = sig.wrt.iter().flat_map(|&k| sig.declared[k].leaves()).filter(real).collect();
        sig.derivatives = derivatives;
        sig.several_shapes = true;
        Some(sig)
    }
}

/// Replaces the arrays in lists by their parts.
struct Parts<'s> {
    old: &'s [SigParam],
    taken: SortedSet<String>,
    krate: &'s TokenStream,
    new: Vec<SigParam>,
    /// Whether there is such an array.
    ragged: bool,
}

impl Parts<'_> {
    fn of(&mut self, tree: &ParamTree, inside: bool) -> ParamTree {
        match tree {
            ParamTree::Leaf(k) => {
                let param = &self.old[*k];
                let array = param.leaf.container == Container::NdArray && param.leaf.rank > 1;
                if inside && array {
                    return self.ragged(param, false);
                }
                self.new.push(param.clone());
                ParamTree::Leaf(self.new.len() - 1)
            }
            ParamTree::Tuple { references, is_static, parts } => ParamTree::Tuple {
                references: *references,
                is_static: *is_static,
                parts: parts.iter().map(|part| self.of(part, inside)).collect(),
            },
            ParamTree::List { of: ListType::Vector, element, .. } if inside => match **element {
                // A `Vec` in an element of a list is a row of an array.
                ParamTree::Leaf(k) if self.old[k].leaf.rank == 2 => self.ragged(&self.old[k], true),
                _ => self.of(element, true),
            },
            ParamTree::List { passing, of, element } => {
                let inside = inside || *of == ListType::Vector;
                ParamTree::List { passing: *passing, of: of.clone(), element: self.of(element, inside).into() }
            }
            ParamTree::Defined { references, is_static, of, inner } => {
                let inner = self.of(inner, inside).into();
                ParamTree::Defined { references: *references, is_static: *is_static, of: of.clone(), inner }
            }
            ParamTree::Ragged(of, parts) => ParamTree::Ragged(of.clone(), parts.clone()),
        }
    }

    /// The parts of an array in an element of a list, given the array of all elements.
    fn ragged(&mut self, param: &SigParam, vectors: bool) -> ParamTree {
        self.ragged = true;
        let rank = param.leaf.rank - 1;
        let of = RaggedArray { is_vec: vectors, krate: self.krate.clone(), rank };
        let parts = of.parts().collect::<Vec<_>>();
        let parts = parts.into_iter().map(|part| {
            let (suffix, elem, rank, role) = match part {
                RaggedPart::Elements => (String::new(), param.leaf.elem, 1, param.leaf.role),
                RaggedPart::Starts => ("starts".into(), Elem::USIZE, 1, Role::Constant),
                RaggedPart::Sizes(axis) => (format!("sizes{axis}"), Elem::USIZE, 1, Role::Sizes),
                RaggedPart::Most(axis) => (format!("most{axis}"), Elem::USIZE, 0, Role::Constant),
            };
            let name = if suffix.is_empty() { param.name.clone() } else { self.fresh(&param.name, &suffix) };
            let (container, passing) = match rank {
                0 => (Container::Scalar, Passing::value(Owner::Any)),
                _ => (Container::Slice, Passing::value(Owner::Vector)),
            };
            let leaf = Leaf { container, elem, rank, owned: true, passing, lens: Vec::new(), role };
            self.new.push(SigParam { name, label: param.label.clone(), leaf, example: None });
            ParamTree::Leaf(self.new.len() - 1)
        });
        ParamTree::Ragged(of, parts.collect())
    }

    /// A name that nothing else has. It ends in `_`, since no constant has such a name.
    fn fresh(&mut self, of: &Ident, suffix: &str) -> Ident {
        let mut name = format!("{}_{suffix}_", of.to_string().trim_start_matches("r#").trim_end_matches('_'));
        while !self.taken.insert(name.clone()) {
            name.push('_');
        }
        Ident::new(&name, Span::call_site())
    }
}

impl<'a> Lower<'a> {
    /// The leaves of a parameter. A list of arrays of several shapes is one leaf, which is the
    /// vector of all elements: the other vectors of the list are found by it.
    pub(super) fn with_ragged_lists(&mut self, parts: &ParamTree, own: &[Value<'a>]) -> Vec<Value<'a>> {
        let mut leaves = own.iter();
        let mut all = Vec::new();
        self.add_ragged(parts, &mut leaves, &mut all);
        all
    }

    fn add_ragged(&mut self, parts: &ParamTree, own: &mut std::slice::Iter<'_, Value<'a>>, all: &mut Vec<Value<'a>>) {
        match parts {
            ParamTree::Leaf(_) => all.extend(own.next().cloned()),
            ParamTree::Tuple { parts, .. } => parts.iter().for_each(|part| self.add_ragged(part, own, all)),
            ParamTree::List { element: inner, .. } | ParamTree::Defined { inner, .. } => {
                self.add_ragged(inner, own, all);
            }
            ParamTree::Ragged(of, parts) => {
                let terms = own.by_ref().take(parts.len()).filter_map(|value| match value {
                    Value::Term(t) | Value::Nested(t, _) => Some(*t),
                    _ => None,
                });
                let terms: Vec<Term> = terms.collect();
                let rank = usize::from(of.rank);
                let [elements, starts, sizes @ ..] = &terms[..] else { return };
                if sizes.len() != 2 * rank {
                    return;
                }
                let vectors = of.is_vec;
                let (sizes, most) = (sizes[..rank].to_vec(), sizes[rank..].to_vec());
                let list = RaggedList { elements: *elements, starts: *starts, sizes, most, vectors };
                self.graph_inputs.add_ragged_list(*elements, list);
                all.push(Value::Term(*elements));
            }
        }
    }

    /// The numbers of the arrays of a list, which stand for them.
    pub(super) fn numbers_of_arrays(&mut self, list: &RaggedList) -> Term {
        let (len, var) = (list.len(&self.g), self.g.fresh());
        let i = self.g.mk(Node::Var(var));
        self.g.build(len, var, i)
    }

    /// An element of a list of products, from its leaves: as [`Lower::unflatten`], with arrays in
    /// place of their numbers.
    pub(super) fn element_from(
        &mut self,
        form: &CarriedForm<'a>,
        leaves: &mut std::slice::Iter<'_, Term>,
    ) -> Lowered<Value<'a>> {
        if !self.graph_inputs.has_ragged_lists() {
            return Self::unflatten(form, leaves);
        }
        let mut all = |me: &mut Self, forms: &[CarriedForm<'a>]| -> Lowered<Rc<[Value<'a>]>> {
            forms.iter().map(|form| me.element_from(form, leaves)).collect()
        };
        Ok(match form {
            CarriedForm::Ragged(list) => {
                let at = *leaves.next().ok_or(Poison)?;
                self.array_of_list(list, at)
            }
            CarriedForm::Tuple(forms) => Value::Tuple(all(self, forms)?),
            CarriedForm::Struct(of, forms) => Value::Struct(of, all(self, forms)?),
            CarriedForm::List(forms) => Value::List(all(self, forms)?),
            CarriedForm::Enum(of, variants) => {
                let tag = *leaves.next().ok_or(Poison)?;
                let mut payloads = Vec::new();
                for forms in variants {
                    payloads.push(match forms {
                        Some(forms) => {
                            let fields: Lowered<Rc<[Value<'a>]>> =
                                forms.iter().map(|form| self.element_from(form, leaves)).collect();
                            Some(fields?)
                        }
                        None => None,
                    });
                }
                Value::Enum(Rc::new(EnumValue { of, tag, payloads: payloads.into() }))
            }
            CarriedForm::Option(form) => {
                let value = self.element_from(form, leaves)?;
                Value::Option(value.into(), *leaves.next().ok_or(Poison)?)
            }
            form => Self::unflatten(form, leaves)?,
        })
    }

    /// The array of a list at an index that has been checked.
    fn array_of_list(&mut self, list: &RaggedList, at: Term) -> Value<'a> {
        let start = self.g.index(list.starts, &[at]);
        let lens: Vec<Term> = list.sizes.iter().map(|&sizes| self.g.index(sizes, &[at])).collect();
        let vars: Vec<Var> = lens.iter().map(|_| self.g.fresh()).collect();
        // The index along the last axis is added last: the elements of a row are contiguous.
        let (mut index, last) = (self.g.lit_usize(0), vars.len().saturating_sub(1));
        for (k, (&var, &len)) in vars.iter().zip(&lens).enumerate() {
            let i = self.g.mk(Node::Var(var));
            if k > 0 {
                index = self.g.int(IntOp::Mul, index, len);
            }
            if k == last {
                index = self.g.int(IntOp::Add, start, index);
            }
            index = self.g.int(IntOp::Add, index, i);
        }
        // The sizes of an array at a known index are closed, so there is no padding.
        let capacity = |me: &mut Self, (&len, &most): (&Term, &Term)| me.closed(len).unwrap_or(most);
        let capacities: Vec<Term> = lens.iter().zip(&list.most).map(|pair| capacity(self, pair)).collect();
        let all = self.g.gather(list.elements, capacities.into(), &vars, &[index]);
        let lens: Vec<Option<Term>> = lens.into_iter().map(Some).collect();
        let part = self.new_part(all, &lens);
        if list.vectors { self.as_vec(part) } else { part }
    }

    /// The greatest value of an element of the sizes of a list.
    pub(super) fn most_of_sizes(&self, t: Term) -> Option<Term> {
        let Node::Gather { src, .. } = self.g.node(t) else { return None };
        self.graph_inputs.ragged_lists().find_map(|list| {
            let axis = list.sizes.iter().position(|sizes| sizes == src)?;
            list.most.get(axis).copied()
        })
    }
}
