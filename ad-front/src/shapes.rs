//! Sizes that have to be equal. The function is lowered repeatedly. Each run declares the
//! parameters with the equations that the earlier runs have found, until there are no new ones. An
//! equation becomes one check on entry.

use crate::translation::inference::{Findings as InferredTypes, Inference};
use crate::translation::run_input::RunInput;
use ad_ir::sorted::{SortedMap, SortedSet};
use std::rc::Rc;

use proc_macro2::TokenStream;
use quote::quote;
use syn::ItemFn;
use syn::visit::Visit;

use super::definitions::Definitions;
use super::lower::Lower;
use super::panic_messages::PanicMessage;
use super::recursion::{Findings, Functions};
use super::sig::Sig;
use super::travel::OuterDefinitions;
use super::types::Len;
use super::value::{Lowered, Value};
use crate::walk::{Part, Walk};
use ad_ir::catalogue;
use ad_ir::diag::{Diags, Poison, SrcRange};
use ad_ir::ir::{Elem, Lit, Node, Term, Type};
use ad_ir::prim::Cmp;
use ad_ir::program::{
    Check, Constant, Container, Output, OutputTree, Param, ParamTree, Phase, Program, RaggedPart, Role, SourceLocation,
    SourceLocations,
};

/// A symbolic size: an axis of a parameter, or a parameter of type `usize`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Symbol {
    /// The index of the parameter.
    param: u32,
    /// The axis. `None` for the value of a scalar.
    axis: Option<u8>,
}

/// The known value of a size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Size {
    /// A number. It is preferred to any symbol as a representative.
    Number(i128),
    /// The index of a constant whose value only rustc knows. It is preferred to a value that is
    /// known at run time.
    Constant(u32),
    /// A symbol. The oldest one represents its class.
    Symbol(Symbol),
}

impl Size {
    /// The size of an axis of a parameter.
    pub(super) fn of_axis(param: usize, axis: usize) -> Self {
        let param = u32::try_from(param).unwrap_or(u32::MAX);
        Size::Symbol(Symbol { param, axis: Some(ad_ir::ir::axis(axis)) })
    }
}

/// Two sizes that have to be equal in every call.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    pub sides: [Size; 2],
    /// Descriptions of the two sizes.
    pub words: [String; 2],
    pub said: PanicMessage,
    pub place: SourceLocation,
}

/// Classes of equal sizes.
#[derive(Default, Clone, Debug)]
pub(super) struct Classes {
    older: SortedMap<Size, Size>,
}

impl Classes {
    /// The representative of a size.
    pub(super) fn find(&self, mut size: Size) -> Size {
        while let Some(&next) = self.older.get(&size) {
            size = next;
        }
        size
    }

    /// Unites two classes, unless they are the same (or two different numbers).
    fn unite(&mut self, a: Size, b: Size) -> bool {
        let (a, b) = (self.find(a), self.find(b));
        let (older, newer) = if a <= b { (a, b) } else { (b, a) };
        match newer {
            Size::Number(_) => false,
            _ if older == newer => false,
            _ => {
                self.older.insert(newer, older);
                true
            }
        }
    }
}

impl<'a> Lower<'a> {
    /// The symbolic size of a term, if it is not an expression.
    pub(super) fn size_of(&self, t: Term) -> Option<Size> {
        let symbol =
            |input: &u32, axis| Some(Size::Symbol(Symbol { param: self.graph_inputs.param_at(*input)?, axis }));
        match self.g.node(t) {
            Node::Lit(Lit::Int(_, n)) => Some(Size::Number(*n)),
            Node::Size(input, axis) => symbol(input, Some(*axis)),
            Node::Input(input) if *self.g.ty(t) == Type::scalar(Elem::USIZE) => {
                match self.graph_inputs.constant_at(*input) {
                    Some(k) => Some(Size::Constant(u32::try_from(k).ok()?)),
                    None if self.functions.is_guess(&self.g, t) => None,
                    None => symbol(input, None),
                }
            }
            _ => None,
        }
    }

    /// The term of a size. It is not replaced by its representative.
    pub(super) fn size_term(&mut self, size: Size) -> Term {
        match size {
            Size::Number(n) => self.g.lit_usize(usize::try_from(n).unwrap_or(0)),
            Size::Constant(k) => {
                let input = self.graph_inputs.constants().get(k as usize).map_or(0, |c| c.input);
                self.g.mk(Node::Input(input))
            }
            Size::Symbol(Symbol { param, axis: Some(axis) }) => {
                self.g.mk(Node::Size(self.graph_inputs.input_of(param), axis))
            }
            Size::Symbol(Symbol { param, axis: None }) => self.g.mk(Node::Input(self.graph_inputs.input_of(param))),
        }
    }

    /// A constant whose value only rustc knows. A size is replaced by its representative.
    pub(super) fn constant(&mut self, path: &TokenStream, elem: Elem) -> Term {
        let k = self.known_constant(path, elem, &[]);
        if elem == Elem::USIZE {
            let size = self.input.representative(Size::Constant(u32::try_from(k).unwrap_or(u32::MAX)));
            return self.size_term(size);
        }
        let input = self.graph_inputs.constants()[k].input;
        self.g.mk(Node::Input(input))
    }

    /// A constant array. Only rustc knows its elements and sizes. The sizes are separate constants.
    pub(super) fn constant_array(&mut self, path: &TokenStream, elem: Elem, lens: &[Len]) -> Term {
        let k = self.known_constant(path, elem, lens);
        let input = self.graph_inputs.constants()[k].input;
        self.g.mk(Node::Input(input))
    }

    /// An element of a constant array whose type is known only from the context.
    pub(super) fn element_of_constant(&mut self, path: &TokenStream, indices: &[Term], elem: Elem) -> Term {
        let lens: Vec<Len> = (0..indices.len()).map(|k| Len::Named(length_of_constant(path, k))).collect();
        let array = self.constant_array(path, elem, &lens);
        self.g.index(array, indices)
    }

    /// The index of a constant. A new one is declared.
    fn known_constant(&mut self, path: &TokenStream, elem: Elem, lens: &[Len]) -> usize {
        let text = path.to_string();
        match self.graph_inputs.constant_named(&text, elem, lens.len()) {
            Some(k) => k,
            None => self.declare_constant(path.clone(), elem, lens),
        }
    }

    fn declare_constant(&mut self, path: TokenStream, elem: Elem, lens: &[Len]) -> usize {
        let shape: Vec<Term> = lens.iter().map(|len| self.static_size(len)).collect();
        let input = u32::try_from(self.g.inputs().len()).unwrap_or(u32::MAX);
        self.g.add_input_shaped(elem, shape);
        let lens = lens.iter().map(Len::tokens).collect();
        self.graph_inputs.add_constant(Constant { input, path, elem, lens })
    }

    /// Declares the constants that are known so far, and the parameters. Each axis has the
    /// representative of its size. Returns the values of the parameters that patterns take apart,
    /// with their indices.
    pub(super) fn declare(&mut self, known: &[Constant]) -> Vec<(usize, Value<'a>)> {
        for c in known {
            let lens: Vec<Len> = c.lens.iter().map(|len| Len::read(len.clone())).collect();
            self.declare_constant(c.path.clone(), c.elem, &lens);
        }
        let sig = self.input.sig();
        for len in sig.params.iter().flat_map(|p| &p.leaf.lens) {
            if let Len::Named(path) = len {
                self.constant(path, Elem::USIZE);
            }
        }
        let (mut arrays, mut given) = (Vec::new(), Vec::new());
        self.graph_inputs.begin_parameters(u32::try_from(self.g.inputs().len()).unwrap_or(u32::MAX));
        for (k, param) in sig.params.iter().enumerate() {
            let number = u32::try_from(k).unwrap_or(u32::MAX);
            let symbol = |axis| Size::Symbol(Symbol { param: number, axis });
            let known: Vec<Option<Term>> = (0..param.leaf.rank)
                .map(|axis| match param.leaf.static_size(axis) {
                    Some(Len::Number(n)) => Some(self.g.lit_usize(*n)),
                    Some(Len::Named(path)) => Some(self.constant(path, Elem::USIZE)),
                    // An older axis of the same parameter has no term before the parameter is
                    // declared.
                    None => match self.input.representative(symbol(Some(axis))) {
                        Size::Symbol(s) if s.param == number => None,
                        size => Some(self.size_term(size)),
                    },
                })
                .collect();
            let same: Vec<u8> = (0..param.leaf.rank)
                .map(|axis| match self.input.representative(symbol(Some(axis))) {
                    Size::Symbol(Symbol { param: of, axis: Some(older) }) if of == number => older,
                    _ => axis,
                })
                .collect();
            let mut term = self.g.add_input_united(param.leaf.elem, &known, &same);
            if param.leaf.rank == 0 && param.leaf.elem == Elem::USIZE {
                let size = self.input.representative(symbol(None));
                term = self.size_term(size);
            }
            if param.example.is_some() {
                arrays.push((k, term));
                continue;
            }
            let part = self.part_of_pack(k, term);
            if let (Some(part), Some((_, leaf))) = (part, sig.packed.iter().find(|(of, _)| *of == k)) {
                let levels = if leaf.lens.is_empty() { 0 } else { u8::MAX };
                given.push((k, Value::nested(&self.g, part, levels)));
                continue;
            }
            self.state.source.hint(term, &param.name.to_string());
            // The elements of a slice are arrays, if they are not numbers.
            let levels = if param.leaf.lens.is_empty() { 0 } else { u8::MAX };
            given.push((k, Value::nested(&self.g, term, levels)));
        }
        let mut given = given.into_iter().peekable();
        let mut patterns = Vec::new();
        for (n, declared) in sig.declared.iter().enumerate() {
            let all = declared.leaves();
            let mut own = Vec::new();
            while let Some((_, value)) = given.next_if(|(k, _)| all.contains(k)) {
                own.push(value);
            }
            if own.len() < all.len() {
                // An array of examples.
                continue;
            }
            let value = match declared.declared.parts {
                ParamTree::Leaf(_) => own.pop(),
                _ => {
                    let own = self.with_ragged_lists(&declared.declared.parts, &own);
                    self.parameter_of(&declared.declared.ty, &own)
                }
            };
            let Some(value) = value else { continue };
            if declared.pattern {
                patterns.push((n - sig.before(), value));
            } else {
                self.bind_parameter(declared.declared.label.clone(), declared.mutable, value);
            }
        }
        let example = self.declare_examples(&arrays);
        self.graph_inputs.set_example(example);
        patterns
    }

    /// The size that a parameter before the others gives.
    pub(super) fn size_parameter(&mut self, k: usize) -> Term {
        let size = Size::Symbol(Symbol { param: size_parameter(self.input.sig(), k), axis: None });
        let size = self.input.representative(size);
        self.size_term(size)
    }

    /// Binds the name of a parameter.
    pub(super) fn bind_parameter(&mut self, name: String, mutable: bool, value: Value<'a>) {
        if mutable {
            self.bind_cell(name, crate::translation::cells::CellValue::Value(value), true);
        } else {
            self.state.names.bind(name, Some(value));
        }
    }

    /// Whether two sizes are taken to be equal where they have to be, without a proof: sizes of
    /// arguments are, and so is what is not known yet of a call.
    pub(super) fn may_be_required(&self, a: Term, b: Term) -> bool {
        let guess = |t| self.functions.is_guess(&self.g, t);
        guess(a) || guess(b) || (self.size_of(a).is_some() && self.size_of(b).is_some())
    }

    /// Requires two sizes to be equal: records an equation or emits a check. Returns whether the
    /// terms are still different.
    pub(super) fn equate(&mut self, a: Term, b: Term, words: [String; 2], range: SrcRange) -> Lowered<bool> {
        self.equate_with_message(a, b, words, &ad_ir::catalogue::reached::SHAPES.into(), range)
    }

    /// [`Lower::equate`] with another message.
    pub(super) fn equate_with_message(
        &mut self,
        a: Term,
        b: Term,
        words: [String; 2],
        said: &PanicMessage,
        range: SrcRange,
    ) -> Lowered<bool> {
        if a == b {
            return Ok(false);
        }
        self.functions.note_equal_sizes(&self.g, a, b);
        let sides = (self.size_of(a), self.size_of(b));
        if let (Some(Size::Number(x)), Some(Size::Number(y))) = sides {
            return Err(self.state.diags.push(range, catalogue::sizes_never_equal(&words, x, y)));
        }
        if let (Some(x), Some(y)) = sides
            && self.unconditional()
        {
            let place = SourceLocation::of_range(range, self.current_text());
            self.state.requirements.equate(Equation { sides: [x, y], words, said: said.without_values(), place });
            return Ok(true);
        }
        if !(self.state.facts.prove_le(&self.g, a, b) && self.state.facts.prove_le(&self.g, b, a)) {
            let [wa, wb] = words;
            let ok = self.g.compare(Cmp::Eq, a, b);
            self.require_shown(None, ok, &said.text, vec![(wa, a), (wb, b)]);
        }
        Ok(true)
    }
}

/// The size of a constant array along an axis: `W.len()`, `W[0].len()`.
pub(super) fn length_of_constant(path: &TokenStream, axis: usize) -> TokenStream {
    let first = (0..axis).map(|_| quote!([0]));
    quote!(#path #(#first)*.len())
}

/// Lowers a function with a valid signature, and the functions that it calls and that are compiled
/// on their own.
pub(super) fn lower(
    sig: &Sig,
    item: &ItemFn,
    definitions: &Definitions,
    outside: &OuterDefinitions,
    diags: &mut Diags,
) -> Lowered<Program> {
    let mut known = Findings::default();
    loop {
        let functions = Functions::knowing(known.clone());
        let mut errors = Diags::new();
        let own = one(sig, item, definitions, (outside, None), &functions, &mut errors);
        let program = own.and_then(|mut program| {
            functions.add_to(&mut program, (definitions, outside), &mut errors)?;
            Ok(program)
        });
        let unknown = functions.with_unknown_sizes();
        let found = match &program {
            Ok(program) => functions.found(&program.functions),
            // A size that is not known yet may be the cause of an error.
            Err(Poison) if !unknown.is_empty() => functions.found_without_caller((definitions, outside)),
            Err(Poison) => known.clone(),
        };
        // Each further run knows more of the functions, of which there are finitely many.
        if found != known {
            known = found;
            continue;
        }
        if errors.is_empty() {
            for (range, name) in unknown.values() {
                errors.push(*range, catalogue::recursive_size(name));
            }
        }
        for d in errors.list() {
            diags.push(d.range, d.message.clone());
        }
        return if errors.is_empty() { program } else { Err(Poison) };
    }
}

/// Lowers one function, at the place of this definition.
pub(super) fn one(
    sig: &Sig,
    item: &ItemFn,
    definitions: &Definitions,
    (outside, definition): (&OuterDefinitions, Option<usize>),
    functions: &Functions,
    diags: &mut Diags,
) -> Lowered<Program> {
    let mut classes = Classes::default();
    for declared in &sig.declared {
        equal_lengths(&declared.declared.parts, &mut classes);
    }
    for (k, &(array, axis)) in sig.sizes.iter().enumerate() {
        let size = Size::Symbol(Symbol { param: size_parameter(sig, k), axis: None });
        classes.unite(size, Size::of_axis(array, usize::from(axis)));
    }
    let mut equations: Vec<Equation> = Vec::new();
    let mut constants: Vec<Constant> = Vec::new();
    // Each run but the last unites two classes, of which there are finitely many.
    let symbols = 2 + sig.params.iter().map(|p| usize::from(p.leaf.rank) + 1).sum::<usize>();
    let mut inferred = InferredTypes::new();
    let receivers = RunInput::receivers_in(item);
    let mut passes = 0;
    while passes < symbols + constants.len() + inferred.len() {
        passes += 1;
        let input = RunInput::new(sig, definitions, outside).knowing(Rc::clone(&receivers), classes.clone());
        let mut lower = Lower::new(input, Inference::after(inferred.clone()), functions.clone());
        lower.state.names.enter_definition(definition);
        let parameters = lower.declare(&constants);
        let result = lower.function(item, parameters);
        if lower.inference.needs_another_run() {
            // The inferred type of a literal may remove the error.
            inferred.extend(lower.inference.take_findings());
            continue;
        }
        if !lower.state.diags.is_empty() {
            for d in lower.state.diags.list() {
                diags.push(d.range, d.message.clone());
            }
            return Err(Poison);
        }
        let result = result?;
        // A constant keeps its number in every later run.
        constants = lower.graph_inputs.constants().to_vec();
        let mut new = false;
        for equation in lower.state.requirements.take_equations() {
            if classes.unite(equation.sides[0], equation.sides[1]) {
                equations.push(equation);
                new = true;
            } else if classes.find(equation.sides[0]) != classes.find(equation.sides[1]) {
                let (Size::Number(x), Size::Number(y)) =
                    (classes.find(equation.sides[0]), classes.find(equation.sides[1]))
                else {
                    continue;
                };
                diags.push(equation.place.range, catalogue::sizes_never_equal(&equation.words, x, y));
                return Err(Poison);
            }
        }
        if !new {
            if let Some(range) = lower.decides_in_unknown_order(&result.terms()) {
                diags.push(range, catalogue::order_unknown());
                return Err(Poison);
            }
            let result = lower.with_noted_sizes(result);
            return Ok(finish(lower, item, result, equations));
        }
    }
    diags.push(
        SrcRange::of(&item.sig.ident),
        catalogue::internal("the front end", "equations between sizes do not come to an end"),
    );
    Err(Poison)
}

/// The number of the parameter that gives a size.
fn size_parameter(sig: &Sig, k: usize) -> u32 {
    u32::try_from(k + usize::from(!sig.packed.is_empty())).unwrap_or(u32::MAX)
}

/// The arrays of a list of tuples are equally long.
fn equal_lengths(parts: &ParamTree, classes: &mut Classes) {
    match parts {
        ParamTree::Leaf(_) => {}
        ParamTree::Tuple { parts, .. } => parts.iter().for_each(|part| equal_lengths(part, classes)),
        ParamTree::Ragged(..) => {}
        ParamTree::List { element, .. } => {
            let mut leaves = Vec::new();
            add_listed(element, &mut leaves);
            for pair in leaves.windows(2) {
                classes.unite(Size::of_axis(pair[0], 0), Size::of_axis(pair[1], 0));
            }
        }
        ParamTree::Defined { inner, .. } => equal_lengths(inner, classes),
    }
}

/// Adds the arrays that have an entry for each element of a list.
fn add_listed(element: &ParamTree, leaves: &mut Vec<usize>) {
    match element {
        ParamTree::Leaf(k) => leaves.push(*k),
        ParamTree::Tuple { parts, .. } => parts.iter().for_each(|part| add_listed(part, leaves)),
        ParamTree::List { element: inner, .. } | ParamTree::Defined { inner, .. } => add_listed(inner, leaves),
        ParamTree::Ragged(of, parts) => {
            for (part, tree) in of.parts().zip(parts) {
                if matches!(part, RaggedPart::Starts | RaggedPart::Sizes(_)) {
                    add_listed(tree, leaves);
                }
            }
        }
    }
}

/// The names that a function binds in patterns.
fn locals(item: &ItemFn) -> SortedSet<String> {
    let mut locals = SortedSet::new();
    let mut walk = |part: Part<'_>| {
        if let Part::PatIdent(p) = part {
            locals.insert(p.ident.to_string());
        }
    };
    Walk(&mut walk).visit_item_fn(item);
    locals
}

/// The program of a function that has been lowered.
pub(super) fn finish(mut lower: Lower<'_>, item: &ItemFn, mut result: OutputTree, equations: Vec<Equation>) -> Program {
    let mut checks = Vec::new();
    for Equation { sides, words, said, place } in equations {
        let terms = sides.map(|s| lower.size_term(s));
        let loc = lower.state.source.add(place);
        let ok = lower.g.compare(Cmp::Eq, terms[0], terms[1]);
        checks.push(Check {
            ok,
            format: said.format(|_| None).map(|(format, _)| format),
            message: said.text,
            shown: words.into_iter().zip(terms).collect(),
            loc,
            phase: Phase::Entry,
            debug: false,
            incomplete: false,
        });
    }
    checks.append(&mut lower.state.requirements.take_checks());
    let sig = lower.input.sig();
    if lower.graph_inputs.example().is_some() {
        // The function of many examples returns arrays of their results.
        let array = |term| Output { term, container: Container::NdArray, lens: Vec::new(), role: Role::Data };
        result = result.map(&mut |out| array(out.term));
    }
    let (first, example) = (lower.graph_inputs.input_of(0), lower.graph_inputs.example());
    let params = sig.params.iter().zip(first..).map(|(p, input)| Param {
        name: p.name.clone(),
        label: p.label.clone(),
        passing: p.leaf.passing,
        container: p.leaf.container,
        elem: p.leaf.elem,
        rank: p.leaf.rank,
        lens: p.leaf.lens.iter().map(Len::tokens).collect(),
        input: Some(input),
        role: p.leaf.role,
    });
    let ((hints, places), all) = (lower.state.source.into_parts(), lower.state.assumptions.into_all());
    let mut places = SourceLocations(places);
    places.unite(&mut lower.g);
    Program {
        name: sig.name.clone(),
        stem: sig.stem.clone(),
        vis: sig.vis.clone(),
        cfgs: sig.cfgs.clone(),
        generics: sig.generics.clone(),
        where_clause: sig.where_clause.clone(),
        turbofish: sig.turbofish.clone(),
        within: sig.within.clone(),
        captured: sig.real_param.iter().chain(&sig.const_params).cloned().collect(),
        constants: lower.graph_inputs.into_constants(),
        declared: sig.declared.iter().map(|p| p.declared.clone()).collect(),
        params: params.collect(),
        wrt: sig.wrt.clone(),
        active: sig.active.clone(),
        examples: sig.examples.clone(),
        example,
        workspace: sig.workspace,
        mode: sig.mode,
        saving: sig.saving,
        result_ty: sig.result_ty.clone(),
        result,
        aux: sig.aux,
        fallible: sig.fallible.clone(),
        checks,
        functions: Vec::new(),
        turbofishes: Rc::default(),
        rules: Rc::default(),
        hints,
        places,
        krate: sig.krate.clone(),
        real_param: sig.real_param.clone(),
        assumed: all.assumed,
        identities: TokenStream::new(),
        imports: Vec::new(),
        bound: all.bound,
        locals: Rc::new(locals(item)),
        consts: all.consts,
        graph: lower.g,
    }
}
