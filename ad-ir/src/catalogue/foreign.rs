//! Idioms of other libraries and languages, and their translations: one table of methods,
//! functions, types, macros, options, bounds and operators. It is used only for unknown names, so a
//! row never hides a name of the user's.

use crate::diag::Message;

/// The syntactic use of a foreign name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Usage {
    /// `x.name(..)`.
    Method,
    /// `name(..)`, `np::name(..)`.
    Function,
    /// A type in a signature.
    Type,
    /// `name!(..)`.
    Macro,
    /// A name before a dot, such as that of a module.
    Name,
    /// An option of the attribute.
    Option,
    /// `T: name`.
    Bound,
    /// An operator.
    Operator,
}

struct Idiom {
    kind: Usage,
    /// Names with the same translation.
    names: &'static [&'static str],
    from: &'static str,
    /// The replacement as code.
    here: &'static str,
}

const fn idiom(kind: Usage, names: &'static [&'static str], from: &'static str, here: &'static str) -> Idiom {
    Idiom { kind, names, from, here }
}

const NUMPY: &str = "NumPy";
const TORCH: &str = "PyTorch";
const JAX: &str = "JAX";
const NDARRAY_LINALG: &str = "ndarray-linalg";
const NALGEBRA: &str = "nalgebra";
const AUTODIFF: &str = "std::autodiff";

use Usage::{Bound, Function, Macro, Method, Name, Operator, Option, Type};

const OPERATOR_MATMUL: &str = "`a.dot(&b)`";
const NO_TAPE: &str = "nothing: the attribute writes `f_grad`, which you call instead";
const NO_GRADIENT: &str = "`stop_gradient(x)`, or pass `x` as a parameter that `wrt(..)` does not name";
const VIEW_OF: &str = "`&Array2<F>` or `ArrayView2<'_, F>`, and copy it into one with `Array2::from_shape_fn`";

/// A function whose name is in this list cannot be called by its bare name, even if it is a marked
/// function of the user's. So names that such functions often have (`square`, `outer`) are left
/// out.
const IDIOMS: &[Idiom] = &[
    // NumPy's names, as methods and as functions.
    idiom(Method, &["matmul", "mm", "bmm", "mv", "multiply_matrix"], "NumPy and PyTorch", OPERATOR_MATMUL),
    idiom(
        Function,
        &["einsum"],
        NUMPY,
        "the sum over indices: `build([n, m], |[i, j]| (0..k).map(|l| a[[i, l]] * b[[l, j]]).sum::<f64>())`",
    ),
    idiom(
        Function,
        &["where_", "np_where", "where_cond"],
        NUMPY,
        "`if c { a } else { b }`, or `select(c, a, b)`; for arrays inside `build1(n, |i| ..)`",
    ),
    idiom(
        Method,
        &["where_self", "masked_fill", "masked_select"],
        TORCH,
        "`x.mapv(|v| if v > 0.0 { v } else { 0.0 })`",
    ),
    idiom(Function, &["arange"], NUMPY, "`iota(n)`, or the range `0..n`"),
    idiom(
        Function,
        &["zeros_like", "ones_like", "full_like", "empty_like"],
        NUMPY,
        "`Array1::zeros(x.len())`, `Array2::ones(x.dim())`",
    ),
    idiom(
        Function,
        &["zeros", "ones", "full", "empty"],
        NUMPY,
        "`Array1::zeros(n)`, `Array2::ones((n, m))`, `Array1::from_elem(n, x)`",
    ),
    idiom(Method, &["reshape"], "NumPy and PyTorch", "`x.to_shape((n, m)).unwrap()`"),
    idiom(Function, &["reshape", "ravel"], NUMPY, "`x.to_shape((n, m)).unwrap()`, or `x.flatten()`"),
    idiom(Method, &["ravel"], NUMPY, "`x.flatten()`"),
    idiom(Function, &["expand_dims"], NUMPY, "`x.view().insert_axis(Axis(0))`"),
    idiom(Method, &["unsqueeze"], TORCH, "`x.view().insert_axis(Axis(0))`"),
    idiom(Method, &["squeeze"], "NumPy and PyTorch", "`x.index_axis(Axis(0), 0)`"),
    idiom(Function, &["concat", "cat", "hstack", "vstack"], "NumPy and PyTorch", "`concatenate![Axis(0), a, b]`"),
    idiom(Method, &["clip"], NUMPY, "`x.clamp(low, high)`; of an array `x.mapv(|v| v.clamp(low, high))`"),
    idiom(Method, &["clamp_min", "clamp_max"], TORCH, "`x.mapv(|v| v.max(low))`"),
    idiom(Method, &["power"], NUMPY, "`x.powi(2)`, or `x.powf(0.5)`"),
    idiom(Method, &["transpose"], "NumPy and nalgebra", "`x.t()`"),
    idiom(Method, &["outer", "ger"], "NumPy and PyTorch", "`build([a.len(), b.len()], |[i, j]| a[i] * b[j])`"),
    idiom(Method, &["argsort"], NUMPY, "`argsort(&x)`, of an array of rank 1"),
    idiom(Method, &["sorted"], NUMPY, "`sort(&x)`, of an array of rank 1"),
    idiom(Method, &["cumsum"], "NumPy and PyTorch", "`cumsum(&x)`, along the last axis"),
    idiom(Method, &["square"], "PyTorch and NumPy", "`x.powi(2)`"),
    idiom(Method, &["astype"], NUMPY, "`x as f64`; of an array `x.mapv(|v| v as f64)`"),
    idiom(Method, &["size"], "NumPy and PyTorch", "`x.len()`, `x.nrows()` or `x.shape()[k]`"),
    idiom(
        Name,
        &["np", "numpy", "math", "torch", "jnp", "scipy", "cmath"],
        "Python",
        "the method: `x.sin()`, `x.sum()`",
    ),
    idiom(Name, &["Math"], "JavaScript and Java", "the method: `x.sin()`"),
    idiom(Method, &["T"], "NumPy and PyTorch", "`x.t()`"),
    idiom(Function, &["range"], "Python", "the range `0..n`, or `(0..n).step_by(2)`"),
    idiom(Function, &["float"], "Python", "`x as f64`"),
    idiom(Function, &["int"], "Python", "`x as usize`, or `x as i32`"),
    idiom(Function, &["not"], "Python", "`!(x > 0.0)`"),
    idiom(Function, &["zip"], "Python", "`a.iter().zip(&b)`"),
    idiom(Function, &["enumerate"], "Python", "`x.iter().enumerate()`"),
    idiom(Function, &["linspace"], NUMPY, "`Array1::linspace(0.0, 1.0, n)`"),
    idiom(Function, &["eye"], NUMPY, "`Array2::eye(n)`"),
    idiom(Function, &["pi"], "Julia", "`std::f64::consts::PI`"),
    // PyTorch.
    idiom(Method, &["backward", "requires_grad", "requires_grad_", "detach_", "zero_grad", "grad"], TORCH, NO_TAPE),
    idiom(Method, &["detach"], TORCH, NO_GRADIENT),
    idiom(Function, &["no_grad"], TORCH, NO_GRADIENT),
    idiom(Function, &["tensor", "from_slice"], TORCH, "`array![1.0, 2.0]`"),
    idiom(Macro, &["tensor"], TORCH, "`array![1.0, 2.0]`"),
    idiom(Macro, &["no_grad"], TORCH, NO_GRADIENT),
    idiom(Method, &["view_as"], TORCH, "`x.to_shape((n, m)).unwrap()`"),
    idiom(Method, &["item"], TORCH, "`x[()]`, or sum to a scalar: `x.sum()`"),
    idiom(
        Method,
        &["cpu", "cuda", "to_device", "to_kind", "to_dtype"],
        TORCH,
        "nothing: arrays are in memory, of the type in the signature",
    ),
    idiom(Method, &["pow_tensor", "pow_tensor_scalar"], TORCH, "`x.powi(2)`, or `x.powf(0.5)`"),
    idiom(Method, &["mean_dim", "sum_dim"], TORCH, "`x.sum_axis(Axis(k))`, or `x.mean_axis(Axis(k)).unwrap()`"),
    idiom(Method, &["log_softmax"], TORCH, "`&x - logsumexp(&x)`"),
    // nalgebra.
    idiom(Method, &["component_mul"], NALGEBRA, "`&a * &b`"),
    idiom(Method, &["component_div"], NALGEBRA, "`&a / &b`"),
    idiom(Method, &["magnitude", "norm_l2"], NALGEBRA, "`norm(&x)`"),
    idiom(Method, &["norm_squared", "magnitude_squared"], NALGEBRA, "`(&x * &x).sum()`"),
    idiom(Method, &["normalize"], NALGEBRA, "`&x / norm(&x)`"),
    idiom(Method, &["add_scalar"], NALGEBRA, "`&x + s`"),
    idiom(Method, &["trace"], "NumPy and nalgebra", "`x.diag().sum()`"),
    idiom(Method, &["inverse", "inv"], "nalgebra and ndarray-linalg", "`ad::linalg::inv(&a)`"),
    idiom(Method, &["try_inverse"], NALGEBRA, "`ad::linalg::try_inv(&a)`"),
    idiom(Method, &["determinant", "det"], "nalgebra and ndarray-linalg", "`ad::linalg::det(&a)`"),
    idiom(Method, &["sln_det"], NDARRAY_LINALG, "`ad::linalg::slogdet(&a)`"),
    idiom(Method, &["cholesky"], "nalgebra and ndarray-linalg", "`ad::linalg::cholesky(&a)`"),
    idiom(
        Method,
        &["svd", "singular_values"],
        "nalgebra and ndarray-linalg",
        "`ad::linalg::svd(&a)`, the singular values",
    ),
    idiom(Method, &["qr"], "nalgebra and ndarray-linalg", "`ad::linalg::qr(&a)`"),
    idiom(
        Method,
        &["lu", "factorize"],
        "nalgebra and ndarray-linalg",
        "`ad::linalg::lu(&a)`, or `ad::linalg::solve(&a, &b)`",
    ),
    idiom(Method, &["solve", "solve_into"], NDARRAY_LINALG, "`ad::linalg::solve(&a, &b)`"),
    idiom(Method, &["eigh", "symmetric_eigen"], "nalgebra and ndarray-linalg", "`ad::linalg::eigh(&a)`"),
    idiom(Method, &["least_squares"], NDARRAY_LINALG, "`ad::linalg::lstsq(&a, &b)`"),
    idiom(
        Method,
        &["solve_triangular", "solve_lower_triangular", "solve_upper_triangular"],
        "nalgebra and ndarray-linalg",
        "`ad::linalg::solve_triangular(&l, &b, Uplo::Lower)`",
    ),
    // JAX.
    idiom(Function, &["vmap"], JAX, "`build1(n, |i| f(&x.row(i)))` with a closure `f`"),
    idiom(Function, &["grad", "value_and_grad"], JAX, NO_TAPE),
    idiom(
        Function,
        &["lax_scan", "associative_scan", "fori_loop", "while_loop"],
        JAX,
        "`scan(init, &xs, |state, x| ..)` or `fold(init, 0..n, |state, i| ..)`",
    ),
    idiom(Function, &["jit"], JAX, "nothing: the functions that the attribute writes are compiled"),
    idiom(Function, &["segment_sum"], JAX, "`scatter([n], &x, |[i]| [ids[i]])`"),
    // Types.
    idiom(
        Type,
        &["DVector", "Vector1", "Vector2", "Vector3", "Vector4", "SVector", "RowDVector"],
        NALGEBRA,
        "`&[F]`, and pass `x.as_slice()`",
    ),
    idiom(Type, &["DMatrix", "Matrix2", "Matrix3", "Matrix4", "SMatrix", "Matrix"], NALGEBRA, "`&Array2<F>`"),
    idiom(Type, &["Point2", "Point3"], NALGEBRA, "`&[F]`, and pass `p.coords.as_slice()`"),
    idiom(Type, &["Mat", "MatRef"], "faer", VIEW_OF),
    idiom(
        Type,
        &["Tensor", "Var"],
        "tch, candle and burn",
        "`&Array1<F>` to `&Array3<F>`: the rank is part of the type",
    ),
    idiom(Type, &["Vec3", "Vec2", "Vec4", "Mat3", "Mat4", "Quat"], "glam", "`&[F]`, or `&Array2<F>`"),
    idiom(
        Type,
        &["Complex", "Complex64", "Complex32"],
        "num_complex",
        "the real and the imaginary part as two parameters",
    ),
    idiom(Type, &["Dual", "Dual64", "DualVec"], "num_dual", "`f64`: the attribute writes the derivative"),
    idiom(Type, &["OrderedFloat", "NotNan", "N64"], "ordered_float", "`f64`"),
    // Options.
    idiom(Option, &["Reverse", "autodiff_reverse"], AUTODIFF, "`#[differentiate]`: reverse mode is the default"),
    idiom(Option, &["Forward", "autodiff_forward"], AUTODIFF, "`#[differentiate(jvp)]`"),
    idiom(
        Option,
        &["Duplicated", "Active", "DuplicatedOnly", "Const", "Dual", "DualOnly"],
        AUTODIFF,
        "`#[differentiate(wrt(x, y))]` with the names of the active parameters",
    ),
    idiom(Option, &["argnums", "argnum"], JAX, "`wrt(x, y)` with the names of the parameters"),
    idiom(Option, &["has_aux"], JAX, "`aux`, where the function returns `(loss, extra)`"),
    idiom(Option, &["reverse", "backward"], "other libraries", "`#[differentiate]`: reverse mode is the default"),
    idiom(Option, &["forward"], "other libraries", "`jvp`"),
    idiom(Option, &["gradient", "gradients", "derivative", "value_and_grad"], "other libraries", "`grad`"),
    // Bounds.
    idiom(Bound, &["Float", "FloatCore", "NumCast", "FromPrimitive"], "num_traits", "`T: Real`"),
    idiom(Bound, &["RealField", "ComplexField", "Scalar"], NALGEBRA, "`T: Real`"),
    idiom(Bound, &["NdFloat", "LinalgScalar"], "ndarray", "`T: Real`, which is `NdFloat` and `T::lit(0.5)`"),
    idiom(
        Bound,
        &["Data", "DataMut", "DataOwned", "RawData", "Dimension"],
        "ndarray",
        "`&ArrayRef1<f64>` to `&ArrayRef6<f64>`, which take arrays and views, in place of `&ArrayBase<S, D>`",
    ),
    idiom(Bound, &["DualNum"], "num_dual", "`T: Real`"),
    // Operators.
    idiom(Operator, &["**"], "Python", "`x.powi(2)`, or `x.powf(0.5)`"),
    idiom(Operator, &["^"], "Julia", "`x.powi(2)`, or `x.powf(0.5)`"),
];

/// The identifiers of all rows.
pub(super) fn all() -> impl Iterator<Item = String> {
    IDIOMS.iter().map(id)
}

fn id(idiom: &Idiom) -> String {
    format!("foreign {:?}: {}", idiom.kind, idiom.names.join(", "))
}

/// Adds the translation of an unknown name to a message, if the name is known in another library.
#[must_use]
pub fn translate(kind: Usage, name: &str, message: Message) -> Message {
    match IDIOMS.iter().find(|i| i.kind == kind && i.names.contains(&name)) {
        Some(idiom) => {
            let of = if idiom.from.ends_with('s') { format!("{}'", idiom.from) } else { format!("{}'s", idiom.from) };
            let help = match idiom.here.strip_prefix("nothing: ") {
                Some(reason) => format!("{of} `{name}` has no counterpart: {reason}"),
                None => format!("for {of} `{name}` write {}", idiom.here),
            };
            Message { entry: id(idiom), help: Some(help), note: None, ..message }
        }
        None => message,
    }
}

/// Whether a name is known in another library.
#[must_use]
pub fn knows(kind: Usage, name: &str) -> bool {
    IDIOMS.iter().any(|i| i.kind == kind && i.names.contains(&name))
}

/// The message for an operator that is a power in other languages.
#[must_use]
pub fn power(op: &str) -> Message {
    translate(Usage::Operator, op, super::message(format!("`{op}` is not a power in Rust")).instead_of_rustc())
}
