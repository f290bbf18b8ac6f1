//! Which expression first made a NaN or an infinity: for code that was generated with
//! `AD_DEBUG_NAN`. **Not a public API**: stable only together with the macros.
//!
//! Each call of a routine has a frame. A number that is not finite is recorded there, with the
//! place of its expression, and nothing else happens: it may belong to an arm that is masked. When
//! the routine ends and one of its results is not finite, the frame follows the result back to the
//! numbers that it was computed from. The earliest of them that an operation made is reported, in a
//! panic. This module must never change a number.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;
use core::fmt::{self, Write as _};

use crate::Real;

/// A place in a file. Lines and columns count from 1.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    /// The file, as the compiler names it.
    pub file: &'static str,
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// What a watched term is computed by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An operation of the function.
    Operation,
    /// An operation of a derivative.
    OfDerivative,
    /// An operation that passes on one of its operands.
    Choice,
    /// An operand of an operation on whole arrays. It is no reason, but shows that the operation is
    /// none either.
    Operand,
    /// A call of a function that watches its own terms.
    Call,
    /// A result of the routine.
    Result,
}

/// A watched term.
#[derive(Debug)]
pub struct Watched {
    /// Its number in the routine.
    pub number: u32,
    /// The numbers of the watched terms that it is computed from.
    pub reads: &'static [u32],
    /// What it is computed by.
    pub kind: Kind,
    /// The text of its expression; the words for a result.
    pub text: &'static str,
    /// Its operation: a sign or the name of a function.
    pub operation: &'static str,
    /// The places of the expression. There are several if equal expressions are computed once.
    pub at: &'static [Position],
}

/// A number that is not finite.
#[derive(Clone, Debug)]
struct Event {
    of: &'static Watched,
    /// Its place in the order of execution.
    time: u64,
    value: f64,
    operands: Vec<f64>,
    index: Vec<usize>,
}

/// What is known of a watched term some of whose numbers were not finite.
#[derive(Default, Debug)]
struct Record {
    /// The first number that an operation made of better ones.
    made: Option<Event>,
    /// The first NaN.
    nan: Option<Event>,
}

/// A number that is the reason for a result, and the routine that computed it.
#[derive(Clone, Debug)]
struct Finding {
    event: Event,
    /// The first NaN that came of an infinity, if the result is NaN.
    then: Option<Event>,
    routine: &'static str,
    /// Whether an operation made it. Otherwise it was given.
    made: bool,
}

/// A call of a routine that is running.
///
/// A routine that runs inside of another one (the function that a recursive function calls, a
/// derivative in a rule) does not panic. It hands its finding to the outer routine, which may not
/// use the result.
struct Frame {
    routine: &'static str,
    time: u64,
    records: BTreeMap<u32, (&'static Watched, Record)>,
    /// The first numbers of results that are not finite.
    results: Vec<Event>,
    /// What the first call of another routine has found.
    inner: Option<Finding>,
}

std::thread_local! {
    static FRAMES: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

/// A call of a routine. When it is dropped, its frame ends.
#[derive(Debug)]
pub struct Running(());

/// Begins a call of a routine.
#[must_use]
pub fn enter(routine: &'static str) -> Running {
    let frame = Frame { routine, time: 0, records: BTreeMap::new(), results: Vec::new(), inner: None };
    FRAMES.with_borrow_mut(|frames| frames.push(frame));
    Running(())
}

impl Running {
    /// Ends the call, which has this result.
    ///
    /// # Panics
    /// If a number of the result is not finite, and an operation of the routine is the reason.
    #[track_caller]
    pub fn finish<R>(self, result: R) -> R {
        self.end();
        result
    }

    /// Ends a call that has no result.
    ///
    /// # Panics
    /// As [`Running::finish`].
    #[track_caller]
    pub fn end(self) {
        let finding = FRAMES.with_borrow_mut(|frames| {
            let (own, outer) = frames.split_last_mut()?;
            let found = own.finding();
            match outer.last_mut() {
                None => found,
                Some(outer) => {
                    outer.inner = outer.inner.take().or(found.map(|(finding, _)| finding));
                    None
                }
            }
        });
        drop(self);
        if let Some((finding, result)) = finding {
            panic!("{}", message(&finding, &result));
        }
    }
}

impl Drop for Running {
    /// If the routine panics, the first number that is not finite may be the reason.
    fn drop(&mut self) {
        let frame = FRAMES.with_borrow_mut(Vec::pop);
        if let Some(frame) = frame
            && std::thread::panicking()
            && let Some(event) = frame.records.values().filter_map(|(_, r)| r.made.clone()).min_by_key(|e| e.time)
        {
            let finding = Finding { event, then: None, routine: frame.routine, made: true };
            std::eprintln!("AD_DEBUG_NAN, before this panic: {}", described(&finding));
        }
    }
}

/// The value. If it is not finite, it is recorded.
#[inline]
pub fn watched<F: Real>(of: &'static Watched, value: F, operands: &[F], index: &[usize]) -> F {
    if !value.is_finite() {
        let operands: Vec<f64> = operands.iter().map(|x| x.as_f64()).collect();
        FRAMES.with_borrow_mut(|frames| {
            if let Some(frame) = frames.last_mut() {
                frame.record(of, value.as_f64(), operands, index);
            }
        });
    }
    value
}

impl Frame {
    #[cold]
    fn record(&mut self, of: &'static Watched, value: f64, operands: Vec<f64>, index: &[usize]) {
        self.time += 1;
        let event = Event { of, time: self.time, value, operands, index: index.to_vec() };
        if of.kind == Kind::Result {
            if self.results.iter().all(|r| r.of.number != of.number) {
                self.results.push(event);
            }
            return;
        }
        let made = match (of.kind, &event.operands[..]) {
            (Kind::Choice, _) => false,
            (_, []) => !of.reads.iter().any(|n| self.records.contains_key(n)),
            (_, all) if value.is_nan() => !all.iter().any(|x| x.is_nan()),
            (_, all) => all.iter().all(|x| x.is_finite()),
        };
        let record = &mut self.records.entry(of.number).or_insert((of, Record::default())).1;
        if of.kind == Kind::Operand {
            return;
        }
        if value.is_nan() && record.nan.is_none() {
            record.nan = Some(event.clone());
        }
        if made && record.made.is_none() {
            record.made = Some(event);
        }
    }

    /// The reason for the first result that has one: a number of the function rather than one of
    /// its derivative, and then the earliest.
    fn finding(&self) -> Option<(Finding, Event)> {
        let found = self.results.iter().filter_map(|result| Some((self.reason(result)?, result.clone())));
        found.min_by_key(|(finding, result)| (!finding.made, order(&finding.event), result.of.number))
    }

    fn reason(&self, result: &Event) -> Option<Finding> {
        let (mut seen, mut stack) = (BTreeSet::new(), result.of.reads.to_vec());
        let mut records = Vec::new();
        while let Some(n) = stack.pop() {
            if seen.insert(n)
                && let Some((of, record)) = self.records.get(&n)
            {
                records.push(record);
                stack.extend(of.reads);
            }
        }
        let made = records.iter().filter_map(|r| r.made.as_ref()).min_by_key(|e| order(e));
        let nan = records.iter().filter_map(|r| r.nan.as_ref()).min_by_key(|e| order(e));
        let nan = nan.filter(|_| result.value.is_nan());
        // An infinity that was given is legal: a bound, or the start of a minimum.
        let event = made.or(nan)?;
        match (&self.inner, event.of.kind) {
            (Some(inner), Kind::Call) => Some(inner.clone()),
            _ => {
                let then = nan.filter(|_| !event.value.is_nan()).cloned();
                Some(Finding { event: event.clone(), then, routine: self.routine, made: made.is_some() })
            }
        }
    }
}

fn order(event: &Event) -> (bool, u64) {
    (event.of.kind == Kind::OfDerivative, event.time)
}

fn word(value: f64) -> &'static str {
    if value.is_nan() { "NaN" } else { "infinite" }
}

/// The index of an element, in words.
fn at_index(index: &[usize]) -> String {
    if index.is_empty() { String::new() } else { format!(" at index {index:?}") }
}

/// The sentences on the first number that is not finite.
fn described(finding: &Finding) -> String {
    let Finding { event, then, routine, made } = finding;
    let mut said = format!("{} is {}", named(event.of), of_number(event));
    if event.of.at.is_empty() {
        let _ = write!(said, "\n  in `{routine}`");
    }
    if !made {
        said.push_str("\n  It was computed from a NaN or an infinity that was given: look at the arguments.");
    }
    if let Some(then) = then {
        let _ = write!(said, "\n  Then {} is {}", named(then.of), of_number(then));
    }
    said
}

/// A watched term in words.
fn named(of: &Watched) -> String {
    let derivative = if of.kind == Kind::OfDerivative { "the derivative of " } else { "" };
    format!("{derivative}`{}`", of.text)
}

/// A number in words: which element it is, how it was computed, and where.
fn of_number(event: &Event) -> String {
    let mut said = format!("{}{}", word(event.value), at_index(&event.index));
    if !event.operands.is_empty() {
        let _ = write!(said, ", as {}", operation_of(event.of.operation, &event.operands));
    }
    if let [first, more @ ..] = event.of.at {
        let _ = write!(said, "\n  at {first}");
        for (k, place) in more.iter().enumerate() {
            let _ = write!(said, "{} {place}", if k == 0 { ", and the same expression at" } else { "," });
        }
    }
    said
}

/// An operation with the values of its operands, as one would write it.
fn operation_of(operation: &str, operands: &[f64]) -> String {
    let shown = |x: &f64| format!("{x:?}");
    // A product in which a zero of one operand is the result is a product to a reader.
    let operation = if operation == "*0" { "*" } else { operation };
    match operands {
        [a, b] if operation.chars().all(|c| !c.is_alphanumeric()) => {
            let b = if b.is_sign_negative() { format!("({b:?})") } else { shown(b) };
            format!("{a:?} {operation} {b}")
        }
        all => format!("{operation}({})", all.iter().map(shown).collect::<Vec<String>>().join(", ")),
    }
}

fn message(finding: &Finding, result: &Event) -> String {
    let reached = format!("{} is {}{}", result.of.text, word(result.value), at_index(&result.index));
    format!("AD_DEBUG_NAN: {}\n  Therefore {reached}.", described(finding))
}
