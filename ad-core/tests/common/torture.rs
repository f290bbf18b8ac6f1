//! Gives mutated functions to the compiler. It must not panic, hang, or use too much memory, and
//! its output has to parse.

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use super::mutate::Corpus;

/// The memory of this process: the number of bytes that are allocated at present.
pub struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator; in addition only sizes are counted.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(ptr, layout) }
    }
}

/// The limits for one input.
pub const MOST_TIME: Duration = Duration::from_secs(60);
/// The memory in addition to that before the input.
pub const MOST_MEMORY: usize = 1 << 30;
/// The stack of the threads that expand: a quarter of the stack that rustc gives a macro.
const STACK: usize = 2 << 20;

/// The number of inputs with each outcome.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tally {
    pub accepted: u64,
    pub refused: u64,
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Expands one input.
///
/// # Errors
///
/// The defect of the outcome.
pub fn one(corpus: &Corpus, seed: u64, number: u64) -> Result<bool, String> {
    let input = corpus.input(seed, number);
    judge(&input.attr, &input.item)
}

/// Expands a function. Returns whether it was accepted.
///
/// # Errors
///
/// The defect of the outcome.
pub fn judge(attr: &proc_macro2::TokenStream, item: &proc_macro2::TokenStream) -> Result<bool, String> {
    // Modules and blocks are expanded item by item. A function is compiled at once, without the
    // definitions that it names.
    let of_items =
        |t: proc_macro2::TokenTree| matches!(t, proc_macro2::TokenTree::Ident(word) if word == "mod" || word == "impl");
    let outcome = std::panic::catch_unwind(|| match item.clone().into_iter().any(of_items) {
        true => ad_core::travel::differentiate(attr.clone(), item.clone(), "a place"),
        false => ad_core::expansion(attr.clone(), item.clone()),
    });
    let Ok(expansion) = outcome else { return Err("it panics".into()) };
    if expansion.internal {
        let texts: Vec<String> = expansion.errors.iter().map(ad_core::diag::Diagnostic::text).collect();
        return Err(texts.join("\n"));
    }
    if expansion.errors.is_empty() {
        let of_item = |tokens| syn::parse2::<syn::File>(tokens).map(|file| errors_in(&file));
        let written = match of_item(expansion.tokens.clone()) {
            Ok(errors) => errors,
            Err(e) => return Err(format!("the generated code does not parse: {e}")),
        };
        if written > of_item(item.clone()).unwrap_or(written) {
            return Err("an error that is not among the errors".into());
        }
    }
    Ok(expansion.errors.is_empty())
}

/// The number of calls of `compile_error!` in a file.
fn errors_in(file: &syn::File) -> usize {
    struct Errors(usize);
    impl syn::visit::Visit<'_> for Errors {
        fn visit_macro(&mut self, m: &syn::Macro) {
            self.0 += usize::from(m.path.segments.last().is_some_and(|s| s.ident == "compile_error"));
        }
    }
    let mut errors = Errors(0);
    syn::visit::Visit::visit_file(&mut errors, file);
    errors.0
}

/// The number of inputs for a thread. Tokens cannot leave their thread, so each thread collects the
/// functions again.
const SHARE: u64 = 15_000;

/// Runs a range of numbers of a seed, and returns the failures. An input that hangs or uses too
/// much memory ends the process, since nothing else can stop it. So does a stack overflow; the name
/// of the thread then identifies the input.
pub fn run(seed: u64, numbers: std::ops::Range<u64>) -> (Tally, Vec<(u64, String)>) {
    let current = Arc::new(AtomicU64::new(numbers.start));
    let done = Arc::new(AtomicBool::new(false));
    let watch = {
        let (current, done) = (Arc::clone(&current), Arc::clone(&done));
        std::thread::spawn(move || watch(seed, &current, &done))
    };
    let (mut tally, mut failures) = (Tally::default(), Vec::new());
    let mut start = numbers.start;
    while start < numbers.end {
        let end = (start + SHARE).min(numbers.end);
        let current = Arc::clone(&current);
        let work = move || -> (Tally, Vec<(u64, String)>) {
            let corpus = Corpus::collect(&root());
            let (mut tally, mut bad) = (Tally::default(), Vec::new());
            for number in start..end {
                current.store(number, Ordering::Relaxed);
                match one(&corpus, seed, number) {
                    Ok(true) => tally.accepted += 1,
                    Ok(false) => tally.refused += 1,
                    Err(what) => bad.push((number, what)),
                }
            }
            (tally, bad)
        };
        let name = format!("inputs {start} to {} of seed {seed}", end - 1);
        let handle = std::thread::Builder::new().name(name).stack_size(STACK).spawn(work);
        match handle.map(std::thread::JoinHandle::join) {
            Ok(Ok((part, bad))) => {
                tally.accepted += part.accepted;
                tally.refused += part.refused;
                failures.extend(bad);
            }
            _ => failures.push((start, "the thread was lost".into())),
        }
        start = end;
    }
    done.store(true, Ordering::Relaxed);
    let _ = watch.join();
    (tally, failures)
}

fn watch(seed: u64, current: &AtomicU64, done: &AtomicBool) {
    let (mut last, mut since, mut before) = (u64::MAX, Instant::now(), LIVE.load(Ordering::Relaxed));
    while !done.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(20));
        let (number, live) = (current.load(Ordering::Relaxed), LIVE.load(Ordering::Relaxed));
        if number != last {
            (last, since, before) = (number, Instant::now(), live);
        } else if since.elapsed() > MOST_TIME || live.saturating_sub(before) > MOST_MEMORY {
            eprintln!(
                "input {number} of seed {seed}: {:?}, {} MiB",
                since.elapsed(),
                live.saturating_sub(before) >> 20
            );
            eprintln!("cargo run -p ad-core --example mutate -- --seed {seed} --only {number}");
            std::process::exit(101);
        }
    }
}
