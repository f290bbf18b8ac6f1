//! Random choices: a policy for [`ad_core::choice`] that answers each question at random, and a
//! tally of the answers. The tests assert that no answer changes the computed values.
//!
//! The answer to a question depends only on the seed.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use ad_core::choice::{Kind, Policy, replace_policy};

thread_local! {
    static TALLY: RefCell<BTreeMap<Kind, [usize; 2]>> = const { RefCell::new(BTreeMap::new()) };
}

/// The result of `call` if every choice on this thread is random.
pub fn by_chance<R>(seed: u64, call: impl FnOnce() -> R) -> R {
    let answer = move |kind: Kind, key: (usize, usize)| {
        let answer = mixed(seed, [kind as u64, key.0 as u64, key.1 as u64]);
        TALLY.with_borrow_mut(|tally| tally.entry(kind).or_default()[usize::from(answer)] += 1);
        answer
    };
    struct Before(Option<Policy>);
    impl Drop for Before {
        fn drop(&mut self) {
            replace_policy(self.0.take());
        }
    }
    let _before = Before(replace_policy(Some(Rc::new(answer))));
    call()
}

/// For each question, the numbers of the answers no and yes on this thread since the last call.
/// Each answer has to occur.
#[must_use]
pub fn tally() -> BTreeMap<&'static str, [usize; 2]> {
    let found = TALLY.take();
    Kind::ALL.iter().map(|kind| (kind.question(), found.get(kind).copied().unwrap_or_default())).collect()
}

/// One of two values with equal probability, determined by the arguments (the finaliser of
/// splitmix64).
fn mixed(seed: u64, words: [u64; 3]) -> bool {
    let mut x = seed;
    for word in words {
        x = (x ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^= x >> 31;
    }
    x & 1 == 1
}
