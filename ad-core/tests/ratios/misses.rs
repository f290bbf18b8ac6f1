//! Programs whose gradients break the law, with the cause. The law is the same for all programs: an
//! entry here is a known defect, and the entry of a program that keeps the law has to be removed.
//! The aim is an empty list. docs/performance.md has the same causes for users.

/// A part of the text of a program, and the reason why its gradient costs more than the law allows.
type Miss = (&'static str, &'static str);

const QUOTIENT: &str = "a quotient is computed again for the derivative of its divisor";
const SHRINKS: &str = "an array that becomes shorter in each step is saved at a fixed length, or copied whole";

const ONE_AXIS: &str = "an array with several axes whose ends data determine is computed to the end of one of them";
const EACH_GROUP: &str = "each step of a loop over groups counts its elements and clears what it adds to";
const STEPS_AGAIN: &str = "the reverse pass runs an inner loop again for the states that it has to know";
const AGAIN: &str = "a search that ends early runs again for what it saves, and once more for its checks";

/// Programs of these tests.
const OWN: &[Miss] = &[
    ("fn many_arms ", "a loop in lanes computes all arms of a step, and adds up what each of them contributes"),
    ("fn triples_in_groups ", EACH_GROUP),
    (
        "fn windows_of_bounds ",
        "items of groups are collected in blocks, and these have an array of each group beside them",
    ),
    (
        "fn ranks_with_a_long_group ",
        "an inner loop that may have no step saves rows with room for the longest group, and reads them whole",
    ),
    ("fn nearest_by_insertion ", AGAIN),
    ("fn gram_schmidt ", STEPS_AGAIN),
    ("fn cholesky_of_rows ", STEPS_AGAIN),
    ("fn least_of_parts ", "each window is copied for the search, with a flag for each element"),
    (
        "fn butterflies_between_bounds ",
        "a vector that grows has room for more, and each inner loop saves where its rows begin and how many they are",
    ),
];

/// Programs of other tests.
const COLLECTED: &[Miss] = &[
    ("deep (x , n - 1)", "each call has a record with the rows of all iterations"),
    (
        "a = a . iter () . map (| v | v . sin () + 0.1)",
        "each number that an arm saves has a place in each step, also if the arms exclude each other",
    ),
    ("v . sort_by (| a , b | a . partial_cmp (b) . unwrap ()) ; t +=", EACH_GROUP),
    ("w . push (a * a)", "there may be eight times the elements that are pushed"),
    ("k -= below . len () + 1 ; v = above", SHRINKS),
    ("inner += & (& v . insert_axis", "a part whose bounds a loop decides costs as much as the whole array"),
    ("fn loop_in_build", "the lanes of a block are computed for a few items"),
    (
        "tree (x , w , at * x [k] , k)",
        "a call of a function that calls itself has a record, and the vectors of records grow by copying",
    ),
    ("p [i] = ((x - xs [i + k]) * p [i]", QUOTIENT),
    ("c [i] = (c [i] - c [i - 1]) / (xs [i] - xs [i - k])", QUOTIENT),
    ("total += (- square * scale) . exp ()", ONE_AXIS),
    ("loss += softplus (s [j] - s [i])", EACH_GROUP),
    ("total += (u - 0.5 * v) . tanh ()", EACH_GROUP),
    ("m += h [to [b]]", EACH_GROUP),
    ("s += e [[c , 0]] * e [[w % 3 , 1]]", EACH_GROUP),
    (
        "if (0 .. n [i]) . any (| k | x [k] > 0.6)",
        "a test of all items of a group goes on to its end, where the function stops at the item that decides",
    ),
    ("v . scaled_add (- d , b)", STEPS_AGAIN),
    ("s -= row [k] * if i == j { row [k] } else { l [j] [k] }", STEPS_AGAIN),
    ("chebyshev (v * state , (i + n) % 5)", "a call of a function that calls itself has a record"),
];

fn list(collected: bool) -> &'static [Miss] {
    if collected { COLLECTED } else { OWN }
}

/// The entry for a program of this text, with the reason why it may break the law.
pub(crate) fn cause(text: &str, collected: bool) -> Option<usize> {
    list(collected).iter().position(|(part, _)| text.contains(part))
}

/// The entries that are not among these: their programs keep the law, so the entries have to be
/// removed.
pub(crate) fn mended(missed: &[usize], collected: bool) -> Vec<Miss> {
    let all = list(collected).iter().enumerate();
    all.filter(|(k, _)| !missed.contains(k)).map(|(_, &miss)| miss).collect()
}
