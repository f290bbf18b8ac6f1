//! Each pass separately, term in and term out, and the rewritings that are not passes: the
//! lowering, the split of a routine, the columns of a sparse Jacobian, a batch of loops. The files
//! in `passes/` contain programs (`common/terms.rs` describes the syntax) and the output of the
//! rewriting that the file's name states. `UPDATE_EXPECT=1` rewrites the outputs.

mod common;

use ad_core::sorted::{SortedMap, SortedSet};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use ad_core::derivative::sparsity::ranges;
use ad_core::derivative::split::StageSplit;
use ad_core::ir::{Graph, Node, Term, Type, print, valid};
use ad_core::passes::lowering::im2col::windows_of;
use ad_core::passes::lowering::matrix::as_product;
use ad_core::passes::lowering::strided::strided;
use ad_core::passes::lowering::{lower_alone, rules};
use ad_core::passes::{Context, Pass, Roots, bulk};
use ad_core::prim::Prim;
use ad_oracle::interp::{Interp, Value};
use common::terms;

/// A part of a file: a description, the program, the result.
struct Case {
    name: String,
    input: String,
    expected: String,
}

const CASE: &str = "== ";
const RESULT: &str = "-- result";
/// The result if a pass leaves a program alone.
const UNCHANGED: &str = "(unchanged)";

fn cases(text: &str) -> Vec<Case> {
    let part = |part: &str| {
        let (name, rest) = part.split_once('\n').expect("a name and a program");
        let (input, expected) = rest.split_once(RESULT).unwrap_or((rest, ""));
        Case { name: name.into(), input: input.trim().into(), expected: expected.trim().into() }
    };
    format!("\n{text}").split(&format!("\n{CASE}")).skip(1).map(part).collect()
}

/// The rewriting that a file tests.
#[derive(Clone, Copy)]
enum Subject {
    Pass(Pass),
    /// The lowering, one file for each part of it.
    Lowering(&'static str),
    /// The split of a routine into two stages. The active inputs are those of the second stage.
    Split,
    /// The columns of each row of the Jacobian with respect to the first input.
    Sparsity,
    /// The values of a term for all indices of an active input's rows, as a batch.
    Items,
}

/// The parts of the lowering that have a file in `passes/lowering`.
const LOWERING: [&str; 10] =
    ["contraction", "exclusive", "im2col", "in_place", "matrix", "merge_runs", "opened", "ragged", "strided", "terms"];

fn subjects() -> Vec<Subject> {
    let passes = ad_oracle::passes().into_iter().map(Subject::Pass);
    passes.chain(LOWERING.map(Subject::Lowering)).chain([Subject::Split, Subject::Sparsity, Subject::Items]).collect()
}

/// The result of a rewriting.
struct Made {
    /// The result as text.
    text: String,
    /// The rules that fired.
    fired: SortedSet<&'static str>,
    /// Terms before and after that have the same values.
    same: Vec<[Term; 2]>,
}

impl Subject {
    fn path(&self) -> PathBuf {
        let name = match self {
            Subject::Pass(pass) => pass.name.to_string(),
            Subject::Lowering(part) => format!("lowering/{part}"),
            Subject::Split => "split".into(),
            Subject::Sparsity => "sparsity".into(),
            Subject::Items => "item_axis".into(),
        };
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes").join(format!("{name}.txt"))
    }

    fn cases(&self) -> Vec<Case> {
        cases(&std::fs::read_to_string(self.path()).unwrap_or_default())
    }

    /// Rewrites a program, and validates the result.
    fn run(&self, program: &mut terms::Program, name: &str) -> Made {
        let what = format!("{}: {name}", self.path().display());
        match self {
            Subject::Pass(pass) => after(pass, program, &what),
            Subject::Lowering(_) => lowered(program, &what),
            Subject::Split => halves(program, &what),
            Subject::Sparsity => columns(program, &what),
            Subject::Items => batch(program, &what),
        }
    }
}

/// A pass. The types of the roots do not change.
fn after(pass: &Pass, program: &mut terms::Program, what: &str) -> Made {
    let mut cx = Context::of(program.roots.clone());
    cx.square_root = true;
    cx.active.clone_from(&program.active);
    let old = program.roots.all();
    let (roots, fired) = pass.alone(&mut program.g, &program.roots, &mut cx);
    let (g, new) = (&program.g, roots.all());
    assert_eq!(valid::validate(g, &new), Ok(()), "{what}");
    let types = |roots: &[Term]| -> Vec<Type> { roots.iter().map(|&t| g.ty(t).clone()).collect() };
    assert_eq!(types(&new[..old.len()]), types(&old), "{what}");
    let text = if roots == program.roots { UNCHANGED.into() } else { shown(g, &roots, &program.hints) };
    Made { text, fired, same: old.into_iter().zip(new).map(|(a, b)| [a, b]).collect() }
}

/// The lowering, which validates each term that it makes. The kernels of the result are below it.
fn lowered(program: &mut terms::Program, what: &str) -> Made {
    let (old, g) = (program.roots.all(), &mut program.g);
    let (lowered, fired) = lower_alone(g, &old).unwrap_or_else(|e| panic!("{what}: {e}"));
    let mut text = lowered.text(g, &old, &program.hints);
    let new: Vec<Term> = old.iter().map(|t| lowered.new[t]).collect();
    let reach = lowered.loops.reachable(g, &new);
    let windows = windows_of(g, &reach, &new, &HashSet::new());
    for &t in &reach {
        let kernel = match g.node(t) {
            _ if windows.contains_key(&t) => "windows in place",
            Node::Prim(Prim::Contract(spec), args) if as_product(g, spec, [args[0], args[1]], false).is_some() => {
                "a product of matrices"
            }
            Node::Prim(Prim::Contract(_), _) if strided(g, t, false).is_some() => "products on strides",
            _ => continue,
        };
        text.push_str(&format!("kernel: {kernel}\n"));
    }
    // The interpreter has no opened loops.
    let same =
        if lowered.loops.all.is_empty() { old.into_iter().zip(new).map(|(a, b)| [a, b]).collect() } else { vec![] };
    Made { text, fired, same }
}

/// Both stages. The second one has the values of the first as inputs.
fn halves(program: &mut terms::Program, what: &str) -> Made {
    let later = program.roots.derivatives.clone();
    let g = &mut program.g;
    let mut split = StageSplit::new(g, program.active.clone(), Vec::new());
    let later: Vec<Term> = later.iter().map(|&t| split.closed(t)).collect();
    let (kept, own) = split.into_kept();
    let first: Vec<Term> = program.roots.values.iter().copied().chain(kept.iter().map(|k| k.term)).collect();
    for roots in [&first, &later] {
        assert_eq!(valid::normal_form(g, roots), Ok(()), "{what}");
    }
    // No input of the second stage is an input of the first.
    let inputs: SortedSet<Term> =
        kept.iter().map(|k| k.input).chain(own.values().filter_map(|&k| g.input(k))).collect();
    let reads = g.reachable(&later).into_iter().filter(|&t| matches!(g.node(t), Node::Input(_)));
    assert!(reads.into_iter().all(|t| inputs.contains(&t)), "{what}: the second stage reads the first");
    for (n, k) in (1..).zip(&kept) {
        program.hints.insert(k.input, format!("kept{n}"));
    }
    for (&old, &new) in &own {
        let name = g.input(old).and_then(|t| program.hints.get(&t)).cloned();
        let _ = g.input(new).zip(name).and_then(|(t, name)| program.hints.insert(t, name));
    }
    let text = |roots: &[Term]| print::print(g, roots, &program.hints);
    Made { text: format!("first:\n{}second:\n{}", text(&first), text(&later)), fired: SortedSet::new(), same: vec![] }
}

/// The ranges of columns.
fn columns(program: &mut terms::Program, what: &str) -> Made {
    let input = program.g.input(0).expect("a parameter");
    let ranges = ranges(&mut program.g, input, program.roots.values[0]).concat();
    assert_eq!(valid::normal_form(&program.g, &ranges), Ok(()), "{what}");
    let ends = ranges.chunks(2).map(|ends| format!("columns:\n{}", print::print(&program.g, ends, &program.hints)));
    Made { text: ends.collect(), fired: SortedSet::new(), same: vec![] }
}

/// The first input is the index; its size is that of the second input's first axis. The values are
/// compared with those of one build.
fn batch(program: &mut terms::Program, what: &str) -> Made {
    let g = &mut program.g;
    let (index, size) = (g.input(0).expect("an index"), g.input(1).map(|t| g.shape(t)[0]).expect("an array"));
    let var = g.fresh();
    let at = g.mk(Node::Var(var));
    let old: Vec<Term> = program.roots.values.clone();
    let each = g.replaced(&old, HashMap::from([(index, at)]));
    let new = bulk::batch(g, var, size, &each);
    assert_eq!(valid::normal_form(g, &new), Ok(()), "{what}");
    let same = each.iter().zip(&new).map(|(&t, &new)| [g.build(size, var, t), new]).collect();
    Made { text: print::print(g, &new, &program.hints), fired: SortedSet::new(), same }
}

/// The groups of roots, each as a separate program.
fn shown(g: &Graph, roots: &Roots, hints: &SortedMap<Term, String>) -> String {
    let checks: Vec<Term> = roots.checks.iter().map(|c| c.ok).collect();
    let groups = [
        ("values", &roots.values),
        ("derivatives", &roots.derivatives),
        ("checks", &checks),
        ("counting runs", &roots.counting_runs),
    ];
    let groups = groups.into_iter().filter(|(_, terms)| !terms.is_empty());
    groups.map(|(name, terms)| format!("{name}:\n{}", print::print(g, terms, hints))).collect()
}

#[test]
fn passes_give_the_terms_in_their_files() {
    let refreshed = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut wrong = Vec::new();
    for subject in subjects() {
        let (path, found) = (subject.path(), subject.cases());
        assert!(found.len() >= 2, "{}: at least two programs", path.display());
        let stays = found.iter().filter(|case| case.expected == UNCHANGED).count();
        let enough = !matches!(subject, Subject::Pass(_)) || refreshed || (found.len() >= 3 && stays > 0);
        assert!(enough, "{}: at least three programs, one of which the pass leaves alone", path.display());
        let mut new = String::new();
        for case in found {
            let made = subject.run(&mut terms::parse(&case.input), &case.name).text;
            let made = made.trim();
            if made != case.expected {
                wrong.push(format!("{}: {}\nexpected:\n{}\nmade:\n{made}", path.display(), case.name, case.expected));
            }
            new.push_str(&format!("{CASE}{}\n{}\n{RESULT}\n{made}\n\n", case.name, case.input));
        }
        if refreshed {
            std::fs::write(&path, format!("{}\n", new.trim_end())).expect("the file");
        }
    }
    assert!(refreshed || wrong.is_empty(), "{} differ:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Every rule that a pass names fires in the file of the pass, and no rule without a name fires.
/// The simplifier's rules have their examples in `rules.rs`.
#[test]
fn every_rule_has_a_case() {
    let all: SortedSet<&str> = ad_oracle::passes().iter().flat_map(|pass| (pass.rules)()).chain(rules()).collect();
    let (mut missing, mut unknown, mut lowering) = (Vec::new(), SortedSet::new(), SortedSet::new());
    for subject in subjects() {
        let mut fired: SortedSet<&str> = SortedSet::new();
        for case in subject.cases() {
            fired.append(&mut subject.run(&mut terms::parse(&case.input), &case.name).fired);
        }
        unknown.extend(fired.difference(&all).copied());
        match subject {
            Subject::Pass(pass) if pass.name != "simplify" => {
                missing.extend((pass.rules)().into_iter().filter(|rule| !fired.contains(rule)));
            }
            Subject::Lowering(_) => lowering.append(&mut fired),
            _ => {}
        }
    }
    missing.extend(rules().into_iter().filter(|rule| !lowering.contains(rule)));
    assert!(missing.is_empty() && unknown.is_empty(), "without a case: {missing:?}; without a row: {unknown:?}");
}

/// The result of a rewriting has the same values, at one point of small sizes.
#[test]
fn passes_keep_values() {
    for subject in subjects() {
        for case in subject.cases() {
            let mut program = terms::parse(&case.input);
            let inputs = inputs(&program.g);
            let same = subject.run(&mut program, &case.name).same;
            let values = Interp::new(&program.g, &inputs).eval_all(&same.concat()).expect("values");
            for pair in values.chunks(2) {
                for (x, y) in pair[0].values().iter().zip(pair[1].values()) {
                    let close = (x - y).abs() <= 1e-12 * x.abs().max(1.0);
                    assert!(close, "{}: {}: {x} is now {y}", subject.path().display(), case.name);
                }
            }
        }
    }
}

/// Reals, small integers and booleans. Each size that is not a literal is 3.
fn inputs(g: &Graph) -> Vec<Value> {
    use ad_core::ir::{Elem, IntTy};
    let input = |(k, ty): (usize, &Type)| {
        let (elem, shape) = ty.as_array().expect("inputs are arrays");
        let size = |&n: &Term| g.int_value(n).map_or(3, |n| usize::try_from(n).unwrap_or(3));
        let shape: Vec<usize> = shape.iter().map(size).collect();
        let len: usize = shape.iter().product();
        let at = |i: usize| ((i as f64 + 1.0) * 0.7 + k as f64).sin() + 0.2;
        match elem {
            Elem::Bool => Value::bools(&shape, &(0..len).map(|i| i % 2 == 0).collect::<Vec<_>>()),
            Elem::Int(_) => Value::ints(IntTy::Usize, &shape, &(0..len).map(|i| (i % 3) as i128).collect::<Vec<_>>()),
            Elem::Real(_) => Value::reals(&shape, &(0..len).map(at).collect::<Vec<_>>()),
        }
    };
    g.inputs().iter().enumerate().map(input).collect()
}
