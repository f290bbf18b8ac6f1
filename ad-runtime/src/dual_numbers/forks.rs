//! Forks of the calls that run in a thread: the recorder of each number type goes on with a tape of
//! its own in each of two jobs, in whichever threads these run.
//!
//! This module must never know what a tape holds, and never start a thread.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::TypeId;
use core::cell::RefCell;
use std::sync::{Mutex, PoisonError};

use super::tape::Tape;
use crate::Real;

std::thread_local! {
    /// The calls that run in this thread, the innermost last.
    static RUNNING: RefCell<Vec<Running>> = const { RefCell::new(Vec::new()) };
}

/// A running call: its number type, and what forks the innermost call of this type.
type Running = (TypeId, fn() -> Box<dyn Fork>);

/// A fork of the running call of one number type.
trait Fork: Sync {
    /// Begins one of the two jobs in the current thread.
    fn enter(&self, side: usize);
    /// Ends one of the two jobs in the current thread, where it was begun.
    fn leave(&self, side: usize);
    /// Continues the call in the thread that has forked it, after both jobs.
    fn joined(&self);
}

/// The tapes of a fork. Each is in one thread at a time.
struct ForkOf<T> {
    parent: Mutex<Option<Tape<T>>>,
    jobs: [Mutex<Option<Tape<T>>>; 2],
}

fn taken<X>(mutex: &Mutex<Option<X>>) -> X {
    let taken = mutex.lock().unwrap_or_else(PoisonError::into_inner).take();
    taken.unwrap_or_else(|| unreachable!("a tape is put back where it was taken"))
}

impl<T: Real> Fork for ForkOf<T> {
    fn enter(&self, side: usize) {
        T::own_recorder();
        T::with_recorder(|recorder| recorder.enter(taken(&self.jobs[side])));
    }

    fn leave(&self, side: usize) {
        let tape = T::with_recorder(|recorder| recorder.leave());
        *self.jobs[side].lock().unwrap_or_else(PoisonError::into_inner) = Some(tape);
    }

    fn joined(&self) {
        let [first, second] = &self.jobs;
        let jobs = [taken(first), taken(second)];
        T::with_recorder(|recorder| recorder.joined(taken(&self.parent), jobs));
    }
}

/// Notes that a call with numbers of reverse mode over `T` has begun in this thread.
pub(super) fn began<T: Real>() {
    let forks = || -> Box<dyn Fork> {
        let (parent, [first, second]) = T::with_recorder(|recorder| recorder.forked());
        let jobs = [Mutex::new(Some(first)), Mutex::new(Some(second))];
        Box::new(ForkOf { parent: Mutex::new(Some(parent)), jobs })
    };
    RUNNING.with_borrow_mut(|running| running.push((TypeId::of::<T>(), forks)));
}

/// Notes that the innermost call of this thread has ended.
pub(super) fn ended() {
    RUNNING.with_borrow_mut(Vec::pop);
}

/// A fork of all calls that run in a thread. They continue when it is dropped.
pub(super) struct Forked {
    running: Vec<Running>,
    forks: Vec<Box<dyn Fork>>,
}

impl Forked {
    pub(super) fn begin() -> Self {
        let running = RUNNING.take();
        // A call around another one of the same type waits until that has ended.
        let innermost = |k: &usize| running[k + 1..].iter().all(|other| other.0 != running[*k].0);
        let forks = (0..running.len()).filter(innermost).map(|k| running[k].1()).collect();
        Forked { running, forks }
    }

    /// Whether no call runs in the thread.
    pub(super) fn is_empty(&self) -> bool {
        self.forks.is_empty()
    }

    /// Runs one of the two jobs in the current thread.
    pub(super) fn run<R>(&self, side: usize, job: impl FnOnce() -> R) -> R {
        let around = RUNNING.replace(self.running.clone());
        self.forks.iter().for_each(|fork| fork.enter(side));
        let _entered = Entered { forks: &self.forks, side, around };
        job()
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        self.forks.iter().for_each(|fork| fork.joined());
        RUNNING.set(core::mem::take(&mut self.running));
    }
}

/// A job that runs in the current thread. It ends when it is dropped, also by a panic.
struct Entered<'f> {
    forks: &'f [Box<dyn Fork>],
    side: usize,
    around: Vec<Running>,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.forks.iter().for_each(|fork| fork.leave(self.side));
        RUNNING.set(core::mem::take(&mut self.around));
    }
}
