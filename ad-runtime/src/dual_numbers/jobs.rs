//! Calls that fork: each job has a tape of its own, and an identity is a job and a position (DN,
//! the section on parallelism).
//!
//! The jobs of a call are a tree. A job may use the numbers of the jobs around it, and of jobs that
//! had ended when it, or a job around it, was forked. Any other number would make the order of a
//! sweep unknown, so it is refused by name. The reverse sweep forks where the call has forked: a
//! job adds to its own cotangents, and hands those of numbers of other jobs to the job around it.
//! So no cotangent is shared, and the order of sums does not depend on threads.
//!
//! This module must never know a thread.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::parallel::join;
use super::tape::{CONSTANT, FOREIGN, Identity, Recorder, Tape};
use crate::Real;

/// The place of a job in the tree: at each fork on the way, twice its number plus the side.
type Path = Box<[u32]>;

/// The places of all jobs of a call, by generation.
type Paths = HashMap<u32, Path>;

/// What the jobs of a call share.
#[derive(Debug)]
struct Shared<T> {
    paths: Mutex<Paths>,
    /// Tapes for jobs.
    spare: Mutex<Vec<Tape<T>>>,
}

/// Nothing panics while it holds one of the locks.
fn locked<X>(mutex: &Mutex<X>) -> MutexGuard<'_, X> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of places of the cache of imports.
const CACHE: usize = 256;

/// The number of tapes that are kept: `parallel::map` has no more jobs.
const SPARE: usize = 64;

/// What the tape of a job of a call that forks has besides its entries.
#[derive(Debug)]
pub(super) struct Job<T> {
    path: Path,
    shared: Arc<Shared<T>>,
    /// The numbers of other jobs that are operands here. A number may be there twice.
    imports: Vec<Identity>,
    /// A direct-mapped cache of `imports`: indices plus one, and 0 for an empty place.
    cache: Box<[u32; CACHE]>,
    /// The jobs whose numbers this one may use, as far as it has asked.
    allowed: Vec<u32>,
    forks: Vec<Fork<T>>,
}

/// Two jobs that ran between two entries of a tape.
#[derive(Debug)]
struct Fork<T> {
    /// The number of entries that were before it.
    at: usize,
    jobs: [Tape<T>; 2],
}

impl<T> Job<T> {
    fn new(path: Path, shared: Arc<Shared<T>>) -> Box<Self> {
        let cache = Box::new([0; CACHE]);
        Box::new(Job { path, shared, imports: Vec::new(), cache, allowed: Vec::new(), forks: Vec::new() })
    }

    /// A number of another job as an operand, if the job may use it.
    pub(super) fn operand(&mut self, number: Identity) -> Option<u32> {
        let Identity { position, generation } = number;
        let place = (position ^ generation) as usize % CACHE;
        if let Some(k) = self.cache[place].checked_sub(1)
            && self.imports[k as usize] == number
        {
            return Some(FOREIGN | k);
        }
        if !self.allowed.contains(&generation) {
            let paths = locked(&self.shared.paths);
            paths.get(&generation).filter(|path| precedes(path, &self.path))?;
            drop(paths);
            self.allowed.push(generation);
        }
        let k = u32::try_from(self.imports.len()).ok().filter(|k| k & FOREIGN == 0)?;
        self.imports.push(number);
        self.cache[place] = k + 1;
        Some(FOREIGN | k)
    }
}

/// Whether all entries of the job at `other` that exist while the job at `own` runs come before the
/// next one of that job.
fn precedes(other: &[u32], own: &[u32]) -> bool {
    match other.iter().zip(own).find(|(a, b)| a != b) {
        // It belongs to an earlier fork of a job around both.
        Some((a, b)) => a / 2 < b / 2,
        // One is inside of the other. The outer one waits, or the inner one has ended.
        None => true,
    }
}

/// Where a number is, from a job.
enum Route {
    Own,
    /// In a job of this fork, on this side.
    Inside(usize, usize),
    Outside,
}

fn route(path: &[u32], own: &[u32]) -> Route {
    match path.strip_prefix(own) {
        Some([]) => Route::Own,
        Some([step, ..]) => Route::Inside((step / 2) as usize, (step % 2) as usize),
        None => Route::Outside,
    }
}

impl<T: Real> Recorder<T> {
    /// Takes the running tape out of the recorder, and makes tapes for two jobs of it. Until it is
    /// back, no number of the call can be used with this recorder.
    pub(super) fn forked(&mut self) -> (Tape<T>, [Tape<T>; 2]) {
        let mut parent = self.leave();
        self.enter(Tape::new());
        let generation = parent.generation;
        let job = parent.job.get_or_insert_with(|| {
            let paths = Mutex::new(HashMap::from([(generation, Path::default())]));
            let spare = Mutex::new(core::mem::take(&mut self.spare));
            Job::new(Path::default(), Arc::new(Shared { paths, spare }))
        });
        let jobs = [0, 1].map(|side| {
            let mut tape = locked(&job.shared.spare).pop().unwrap_or_else(Tape::new);
            tape.begin();
            #[allow(clippy::cast_possible_truncation, reason = "a fork needs memory, and 2^31 of them have none")]
            let step = 2 * job.forks.len() as u32 + side;
            let path: Path = job.path.iter().copied().chain([step]).collect();
            locked(&job.shared.paths).insert(tape.generation, path.clone());
            tape.job = Some(Job::new(path, job.shared.clone()));
            tape
        });
        (parent, jobs)
    }

    /// Continues a tape after two of its jobs.
    pub(super) fn joined(&mut self, mut parent: Tape<T>, jobs: [Tape<T>; 2]) {
        let at = parent.len();
        if let Some(job) = &mut parent.job {
            job.forks.push(Fork { at, jobs });
        }
        self.leave();
        self.enter(parent);
    }

    /// A tape without the jobs of its call. Their memory is kept.
    pub(super) fn without_jobs(&mut self, mut tape: Tape<T>) -> Tape<T> {
        let Some(job) = tape.job.take() else { return tape };
        self.spare.append(&mut locked(&job.shared.spare));
        let mut all: Vec<Fork<T>> = job.forks;
        while let Some(fork) = all.pop() {
            for mut tape in fork.jobs {
                all.extend(tape.job.take().into_iter().flat_map(|job| job.forks));
                self.keep(tape);
            }
        }
        // Calls inside of jobs may have made more.
        self.spare.truncate(SPARE);
        tape
    }
}

/// A contribution to the cotangent of a number.
struct Contribution<T> {
    number: Identity,
    cotangent: T,
}

impl<T: Real> Tape<T> {
    /// Sweeps over the tape of a call and those of its jobs, from cotangents of some operands of
    /// the call. The first entries are the arguments.
    pub(super) fn jobs_transposed(&mut self, inputs: usize, seeds: impl Iterator<Item = (u32, T)>) {
        let Some(shared) = self.job.as_ref().map(|job| job.shared.clone()) else { return };
        let imports = self.job.as_ref().map_or(&[][..], |job| &job.imports);
        let seed = |(operand, cotangent): (u32, T)| {
            let own = Identity { position: operand, generation: self.generation };
            let number = if operand & FOREIGN == 0 { own } else { imports[(operand ^ FOREIGN) as usize] };
            Contribution { number, cotangent }
        };
        let seeds = seeds.map(seed).collect();
        let paths = locked(&shared.paths);
        let outside = self.job_transposed(inputs, seeds, &paths);
        debug_assert!(outside.is_empty(), "the first job has no other around it");
    }

    /// Sweeps over the tape of a job and those of its jobs. The result are contributions to numbers
    /// of other jobs.
    fn job_transposed(&mut self, inputs: usize, seeds: Vec<Contribution<T>>, paths: &Paths) -> Vec<Contribution<T>> {
        let Some(mut job) = self.job.take() else { return seeds };
        self.reset();
        let mut foreign = vec![T::zero(); job.imports.len()];
        let (mut inside, mut outside) = (Inside::of(job.forks.len()), Vec::new());
        let Job { path, imports, forks, .. } = &mut *job;
        self.deliver(path, seeds, paths, (&mut inside, &mut outside));
        // The numbers of jobs of each fork that are operands after it.
        let mut reads = vec![Vec::new(); forks.len()];
        for (k, import) in imports.iter().enumerate() {
            if let Route::Inside(fork, side) = route(&paths[&import.generation], path) {
                reads[fork].push((k, side));
            }
        }
        let mut end = self.len();
        for ((k, fork), reads) in forks.iter_mut().enumerate().rev().zip(reads.iter().rev()) {
            self.swept(fork.at, end, &mut foreign);
            end = fork.at;
            let [mut left, mut right] = inside.taken(k);
            for &(k, side) in reads {
                let seeds = if side == 0 { &mut left } else { &mut right };
                let cotangent = core::mem::replace(&mut foreign[k], T::zero());
                seeds.push(Contribution { number: imports[k], cotangent });
            }
            let [first, second] = &mut fork.jobs;
            let (a, b) = join(|| first.job_transposed(0, left, paths), || second.job_transposed(0, right, paths));
            self.deliver(path, a, paths, (&mut inside, &mut outside));
            self.deliver(path, b, paths, (&mut inside, &mut outside));
        }
        self.swept(inputs + 1, end, &mut foreign);
        let rest = imports.iter().zip(foreign).filter(|(_, cotangent)| !cotangent.vanishes());
        outside.extend(rest.map(|(&number, cotangent)| Contribution { number, cotangent }));
        self.job = Some(job);
        outside
    }

    /// Adds contributions to the job's own cotangents, or passes them on.
    fn deliver(
        &mut self,
        own: &[u32],
        all: Vec<Contribution<T>>,
        paths: &Paths,
        (inside, outside): (&mut Inside<T>, &mut Vec<Contribution<T>>),
    ) {
        for one in all {
            if one.number.position == CONSTANT {
                continue;
            }
            if one.number.generation == self.generation {
                self.sums[one.number.position as usize] += one.cotangent;
                continue;
            }
            match route(&paths[&one.number.generation], own) {
                Route::Inside(fork, side) => inside.forks[fork][side].push(one),
                Route::Own | Route::Outside => outside.push(one),
            }
        }
    }
}

/// Contributions to numbers of the jobs of each fork.
struct Inside<T> {
    forks: Vec<[Vec<Contribution<T>>; 2]>,
}

impl<T> Inside<T> {
    fn of(forks: usize) -> Self {
        Inside { forks: (0..forks).map(|_| [Vec::new(), Vec::new()]).collect() }
    }

    fn taken(&mut self, fork: usize) -> [Vec<Contribution<T>>; 2] {
        core::mem::take(&mut self.forks[fork])
    }
}
