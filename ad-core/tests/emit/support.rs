//! Programs built by hand, their routines, and a crate that contains them. The crate is compiled
//! and run, and compared with the interpreter.

use ad_core::choice;
use ad_core::sorted::SortedMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use ad_core::emit::emit_routine;
use ad_core::ir::{Elem, Graph, IntTy, Loc, RealTy, Term};
use ad_core::passes::simplify::simplify;
use ad_core::program::{
    Check, Container, Declared, Output, OutputTree, Owner, Param, ParamTree, Passing, Phase, Program, Role, Routine,
    SourceLocations,
};
use ad_oracle::interp::{Array, Data, Dual, Interp, Value};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

pub(crate) const F64: Elem = Elem::F64;
pub(crate) const USIZE: Elem = Elem::USIZE;

/// A program under construction.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) g: Graph,
    pub(crate) declared: Vec<Declared>,
    pub(crate) params: Vec<Param>,
    pub(crate) results: Vec<Term>,
    pub(crate) containers: Vec<Container>,
    pub(crate) checks: Vec<Check>,
    pub(crate) hints: SortedMap<Term, String>,
    pub(crate) generics: TokenStream,
    /// Values of the inputs, one list for each run.
    pub(crate) runs: Vec<Vec<Value>>,
    /// The seed of random choices, if there is one.
    pub(crate) chance: Option<u64>,
    /// The expected results of each run, if they are not the interpreter's results of this case:
    /// those of the case without random choices.
    pub(crate) expected: Option<Vec<Vec<Value>>>,
}

impl Case {
    pub(crate) fn new(name: &'static str) -> Case {
        Case {
            name,
            g: Graph::new(),
            declared: Vec::new(),
            params: Vec::new(),
            results: Vec::new(),
            containers: Vec::new(),
            checks: Vec::new(),
            hints: SortedMap::new(),
            generics: TokenStream::new(),
            runs: Vec::new(),
            chance: None,
            expected: None,
        }
    }

    /// The results of each run, by the interpreter.
    pub(crate) fn values(&self) -> Vec<Vec<Value>> {
        let value = |inputs| Interp::new(&self.g, inputs).eval_all(&self.results).expect("the program has a value");
        self.runs.iter().map(|inputs| value(inputs)).collect()
    }

    pub(crate) fn input(&mut self, name: &str, elem: Elem, rank: u8) -> Term {
        let container = if rank == 0 { Container::Scalar } else { Container::NdArray };
        self.input_as(name, elem, rank, container)
    }

    pub(crate) fn input_as(&mut self, name: &str, elem: Elem, rank: u8, container: Container) -> Term {
        let t = self.g.add_input(elem, rank);
        self.declare(name, elem, rank, container);
        t
    }

    /// An input with the sizes of other terms.
    pub(crate) fn input_like(&mut self, name: &str, elem: Elem, shape: &[Term]) -> Term {
        let t = self.g.add_input_shaped(elem, shape.to_vec());
        self.declare(name, elem, shape.len() as u8, Container::NdArray);
        t
    }

    fn declare(&mut self, name: &str, elem: Elem, rank: u8, container: Container) {
        let e = elem_tokens(elem);
        let ty = match (container, rank) {
            (Container::Scalar, _) => e,
            (Container::ScalarRef, _) => quote!(&#e),
            (Container::Slice, _) => quote!(&[#e]),
            (Container::Static, _) => panic!("an array of static size has sizes"),
            (Container::NdArray, _) => {
                let array = Ident::new(&format!("Array{rank}"), Span::call_site());
                quote!(&crate::ad::ndarray::#array<#e>)
            }
        };
        let input = Some(self.params.len() as u32);
        let name = match name.strip_prefix("r#") {
            Some(name) => Ident::new_raw(name, Span::call_site()),
            None => Ident::new(name, Span::call_site()),
        };
        let passing = match container {
            Container::ScalarRef => Passing::reference(Owner::Any),
            Container::NdArray => Passing::reference(Owner::Array),
            other => other.passing(),
        };
        let (label, parts) = (name.to_string(), ParamTree::Leaf(self.params.len()));
        self.declared.push(Declared { name: name.clone(), label: label.clone(), ty, parts });
        self.params.push(Param {
            name,
            label,
            passing,
            container,
            elem,
            rank,
            lens: Vec::new(),
            input,
            role: Role::Data,
        });
    }

    pub(crate) fn result(&mut self, t: Term) {
        let container = if self.g.rank(t) == 0 { Container::Scalar } else { Container::NdArray };
        self.results.push(t);
        self.containers.push(container);
    }

    pub(crate) fn hint(&mut self, t: Term, name: &str) {
        self.hints.insert(t, name.to_string());
    }

    /// Replaces the scalar result by itself and its gradients.
    pub(crate) fn with_gradients(&mut self, wrt: &[u32]) {
        let seeds: Vec<Term> =
            self.results.iter().map(|&t| if self.g.elem(t).is_real() { self.g.lit_like(t, 1.0) } else { t }).collect();
        let (roots, gradients) = crate::common::modes::reverse(&mut self.g, &self.results, &seeds, wrt);
        self.results = roots;
        for t in gradients {
            self.result(t);
        }
    }

    pub(crate) fn simplified(&mut self) {
        self.results = simplify(&mut self.g, &self.results);
    }

    pub(crate) fn check(&mut self, ok: Term, message: &str, shown: &[(&str, Term)]) {
        let shown = shown.iter().map(|(n, t)| ((*n).to_string(), *t)).collect();
        self.checks.push(Check {
            ok,
            format: None,
            message: message.to_string(),
            shown,
            loc: Loc(0),
            phase: Phase::Reached,
            debug: false,
            incomplete: false,
        });
    }

    pub(crate) fn run(&mut self, inputs: Vec<Value>) {
        self.runs.push(inputs);
    }

    /// A case for an existing graph.
    pub(crate) fn of(name: &'static str, g: Graph, results: &[Term], inputs: Vec<Value>) -> Case {
        let mut c = Case::new(name);
        c.g = g;
        let types: Vec<_> = c.g.inputs().to_vec();
        for (k, ty) in types.iter().enumerate() {
            let Some((elem, shape)) = ty.as_array() else { panic!("an input is an array") };
            if elem == Elem::Real(RealTy::Param) {
                c.generics = quote!(<T: crate::ad::runtime::Real>);
            }
            let container = if shape.is_empty() { Container::Scalar } else { Container::NdArray };
            c.declare(&format!("x{k}"), elem, shape.len() as u8, container);
        }
        for &t in results {
            c.result(t);
        }
        c.run(inputs);
        c
    }

    /// The routine as tokens, or the error.
    pub(crate) fn try_emit(&mut self) -> Result<TokenStream, String> {
        let (program, routine) = self.routine();
        let chance = self.chance;
        let mut emit = || emit_routine(&mut self.g, &program, &routine);
        match chance {
            Some(seed) => ad_oracle::chance::by_chance(seed, emit),
            None => emit(),
        }
    }

    /// The routine as tokens.
    pub(crate) fn emit(&mut self) -> TokenStream {
        match self.try_emit() {
            Ok(tokens) => tokens,
            Err(e) => panic!("{}: {e}", self.name),
        }
    }

    pub(crate) fn routine(&mut self) -> (Program, Routine) {
        let leaf = |(&term, &container): (&Term, &Container)| {
            OutputTree::Leaf(Output { term, container, lens: Vec::new(), role: Role::Data })
        };
        let leaves: Vec<OutputTree> = self.results.iter().zip(&self.containers).map(leaf).collect();
        let result = if leaves.len() == 1 { leaves[0].clone() } else { OutputTree::Tuple(leaves) };
        let types: Vec<TokenStream> = self
            .results
            .iter()
            .zip(&self.containers)
            .map(|(&t, c)| {
                let e = elem_tokens(self.g.elem(t));
                match c {
                    Container::Slice => quote!(Vec<#e>),
                    Container::NdArray => {
                        let array = Ident::new(&format!("Array{}", self.g.rank(t)), Span::call_site());
                        quote!(crate::ad::ndarray::#array<#e>)
                    }
                    _ => e,
                }
            })
            .collect();
        let result_ty = if types.len() == 1 { types[0].clone() } else { quote!((#(#types),*)) };
        let name = Ident::new(self.name, Span::call_site());
        let program = Program {
            fallible: None,
            functions: Vec::new(),
            rules: std::rc::Rc::default(),
            turbofishes: std::rc::Rc::default(),
            within: None,
            graph: Graph::new(),
            name: name.clone(),
            stem: name.clone(),
            vis: quote!(pub),
            cfgs: quote!(),
            generics: self.generics.clone(),
            where_clause: quote!(),
            turbofish: quote!(),
            captured: Vec::new(),
            constants: Vec::new(),
            declared: Vec::new(),
            params: Vec::new(),
            wrt: Vec::new(),
            active: Vec::new(),
            examples: Vec::new(),
            example: None,
            workspace: false,
            mode: crate::common::modes::mode(),
            saving: ad_core::mode::Saving::default(),
            result_ty: quote!(),
            result: result.clone(),
            aux: false,
            checks: Vec::new(),
            hints: self.hints.clone(),
            places: SourceLocations::default(),
            krate: quote!(crate::ad),
            real_param: (!self.generics.is_empty()).then(|| Ident::new("T", Span::call_site())),
            assumed: Vec::new(),
            identities: TokenStream::new(),
            imports: Vec::new(),
            bound: Vec::new(),
            locals: std::rc::Rc::default(),
            consts: Vec::new(),
        };
        let routine = Routine {
            fallible: None,
            name,
            docs: vec![format!(" The program `{}`.", self.name)],
            declared: self.declared.clone(),
            params: self.params.clone(),
            result_ty,
            result,
            checks: self.checks.clone(),
            workspace: false,
            destinations: Vec::new(),
            exact: None,
            of_function: Vec::new(),
            onto: Vec::new(),
        };
        (program, routine)
    }
}

fn elem_tokens(elem: Elem) -> TokenStream {
    match elem {
        Elem::Real(RealTy::F32) => quote!(f32),
        Elem::Real(RealTy::F64) => quote!(f64),
        Elem::Real(RealTy::Param) => quote!(T),
        Elem::Bool => quote!(bool),
        Elem::Int(ty) => {
            let name = Ident::new(ty.name(), Span::call_site());
            quote!(#name)
        }
    }
}

/// A real array of this shape. The values are distinct and not special.
pub(crate) fn reals(shape: &[usize], seed: usize) -> Value {
    let n: usize = shape.iter().product();
    let value = |k: usize| ((k * 7 + seed * 3 + 2) % 23) as f64 / 9.0 - 1.1 + (k % 5) as f64 / 40.0;
    array_of(F64, shape, Data::Real((0..n).map(|k| Dual::constant(value(k))).collect()))
}

pub(crate) fn scalar(x: f64) -> Value {
    array_of(F64, &[], Data::Real(vec![Dual::constant(x)]))
}

pub(crate) fn array_of(elem: Elem, shape: &[usize], data: Data) -> Value {
    Value::Array(Array { elem, shape: shape.to_vec(), data })
}

pub(crate) fn ints(values: &[usize]) -> Value {
    let data = Data::Int(values.iter().map(|&v| v as i128).collect());
    array_of(Elem::Int(IntTy::Usize), &[values.len()], data)
}

/// The formatted source of a function.
pub(crate) fn pretty(tokens: &TokenStream) -> String {
    match syn::parse2::<syn::File>(tokens.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(e) => panic!("emitted code does not parse: {e}\n{tokens}"),
    }
}

fn literal(value: &Value) -> (String, Vec<usize>) {
    let Value::Array(a) = value else { panic!("no tuples here") };
    let items: Vec<String> = match &a.data {
        Data::Real(xs) => xs.iter().map(|x| real(x.v)).collect(),
        Data::Int(xs) => xs.iter().map(ToString::to_string).collect(),
        Data::Bool(xs) => xs.iter().map(ToString::to_string).collect(),
    };
    (items.join(", "), a.shape.clone())
}

/// The literal of a number in any real type.
fn real(x: f64) -> String {
    if x.is_nan() {
        "0.0 / 0.0".into()
    } else if x.is_infinite() {
        format!("{}1.0 / 0.0", if x < 0.0 { "-" } else { "" })
    } else {
        format!("{x:?}")
    }
}

/// Writes a crate with all routines and a `main` that compares each run with the interpreter's
/// numbers. Returns its folder.
pub(crate) fn write_crate(name: &str, cases: &mut [Case]) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(root.join("src")).expect("the folder can be made");
    let runtime = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../ad-runtime");
    let (features, begin) = match choice::threads() {
        true => ("\"rayon\"", "emit_corpus::ad::runtime::kernel::force_parts();\n"),
        false => ("", ""),
    };
    // Cargo identifies crates by name, wherever they are. With one target folder, a test would run
    // the program that another test has built.
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n[lib]\nname = \"emit_corpus\"\n\
         [dependencies]\nad-runtime = {{ path = {runtime:?}, features = [{features}] }}\nndarray = \"0.17\"\n\
         [profile.dev]\nopt-level = 0\n"
    );
    let mut lib = String::from(
        "//! Emitted routines.\n#![forbid(unsafe_code)]\n#![deny(warnings, missing_docs, clippy::all, clippy::pedantic)]\n\
         #[doc(hidden)]\npub mod ad { pub use ad_runtime as runtime; pub use ndarray; }\n",
    );
    let mut main = String::from(
        "use emit_corpus::*;\nuse emit_corpus::ad::ndarray::*;\nfn close(what: &str, a: &[f64], b: &[f64], tol: f64) -> bool {\n\
         let ok = a.len() == b.len() && a.iter().zip(b).all(|(x, y)| x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= tol * (1.0 + y.abs()));\n\
         if !ok { println!(\"{what}: {a:?} instead of {b:?}\"); }\nok }\nfn main() {\nlet mut ok = true;\n",
    );
    main.push_str(begin);
    for case in cases.iter_mut() {
        lib.push_str(&pretty(&case.emit()));
        let all = case.expected.clone().unwrap_or_else(|| case.values());
        for (k, inputs) in case.runs.iter().enumerate() {
            let expected = &all[k];
            let mut args = Vec::new();
            for (p, v) in case.params.iter().zip(inputs) {
                let (items, shape) = literal(v);
                args.push(match p.container {
                    Container::Scalar => items,
                    Container::ScalarRef => format!("&{items}"),
                    Container::Slice | Container::Static => format!("&[{items}]"),
                    Container::NdArray => {
                        let dims: Vec<String> = shape.iter().map(ToString::to_string).collect();
                        format!("&Array{}::from_shape_vec([{}], vec![{items}]).unwrap()", shape.len(), dims.join(", "))
                    }
                });
            }
            let (name, args) = (case.name, args.join(", "));
            writeln!(main, "{{ let r = {name}({args});").expect("a string grows");
            let single = case.g.inputs().iter().any(|ty| matches!(ty.as_array(), Some((Elem::Real(RealTy::F32), _))));
            let tol = if single { "1e-5" } else { "1e-11" };
            for (n, e) in expected.iter().enumerate() {
                let field = if expected.len() == 1 { "r".to_string() } else { format!("r.{n}") };
                let (items, shape) = literal(e);
                let (got, items) = match (case.g.elem(case.results[n]), shape.len()) {
                    (Elem::Bool, _) => {
                        (format!("[f64::from(u8::from({field}))]"), format!("f64::from(u8::from({items}))"))
                    }
                    (Elem::Int(_), 0) => (format!("[{field} as f64]"), format!("{items} as f64")),
                    (Elem::Int(_), _) => (
                        format!("{field}.iter().map(|&v| v as f64).collect::<Vec<_>>()[..]"),
                        items
                            .split(", ")
                            .filter(|s| !s.is_empty())
                            .map(|s| format!("{s} as f64"))
                            .collect::<Vec<_>>()
                            .join(", "),
                    ),
                    (_, 0) => (format!("[f64::from({field})]"), items),
                    _ => (format!("{field}.iter().map(|&v| f64::from(v)).collect::<Vec<_>>()[..]"), items),
                };
                writeln!(main, "ok &= close(\"{name} run {k} result {n}\", &{got}, &[{items}], {tol});")
                    .expect("a string grows");
                if !shape.is_empty() {
                    writeln!(main, "assert_eq!({field}.shape(), &{shape:?});").expect("a string grows");
                }
            }
            main.push_str("}\n");
        }
    }
    main.push_str("if !ok { std::process::exit(1); }\n}\n");
    let write = |path: PathBuf, text: &str| {
        if std::fs::read_to_string(&path).ok().as_deref() != Some(text) {
            std::fs::write(&path, text).expect("the file can be written");
        }
    };
    write(root.join("Cargo.toml"), &manifest);
    write(root.join("src/lib.rs"), &lib);
    write(root.join("src/main.rs"), &main);
    root
}

/// Runs cargo in the crate. The error is its output.
pub(crate) fn cargo(root: &PathBuf, args: &[&str]) -> Result<(), String> {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("emit-target");
    let out = Command::new(env!("CARGO"))
        .args(args)
        .current_dir(root)
        .env("CARGO_TARGET_DIR", target)
        .env_remove("RUSTFLAGS")
        .output()
        .map_err(|e| e.to_string())?;
    if out.status.success() {
        Ok(())
    } else {
        Err(format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr)))
    }
}
