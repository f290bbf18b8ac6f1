//! The derivatives that the attribute can write, one descriptor each. This list determines the
//! attribute's parser, its messages, stand-ins, signatures, the functions that are written,
//! and `check_grad!`. The table of README is made from it by `ad-oracle`.
//!
//! *To add a derivative*, write a descriptor in this file, its recipe in `ad_middle::derivative`,
//! and its comparison with finite differences in `ad_runtime::check`. Other code asks a descriptor
//! for its properties. It names only [`VJP`] and [`JVP`], of which pullbacks, sparse Jacobians and
//! called functions are made, and [`VALUE`].

/// One derivative: its name, its requirements, the functions that are written, and how it is
/// computed and checked.
#[derive(Debug)]
pub struct Descriptor {
    /// The name of the option that asks for it.
    pub option: &'static str,
    /// The arguments of the option in parentheses.
    pub takes: OptionArguments,
    /// Whether it is written if no option names a derivative.
    pub default: ByDefault,
    /// The requirements on the function.
    pub requires: Requires,
    /// The suffix of its function's name, after `f_`.
    pub suffix: &'static str,
    /// A second function, which returns the derivative without the value.
    pub alone: Option<Alone>,
    /// Parameters after those of the function.
    pub further: Further,
    /// Whether the function's value is returned before the derivative.
    pub with_value: bool,
    /// The structure in which the derivative is returned.
    pub returns: Structure,
    /// How it is computed.
    pub recipe: Recipe,
    /// The first line of its documentation, with `{f}` and `{wrt}` for the function and the active
    /// parameters.
    pub doc: &'static str,
    /// How `check_grad!` checks it.
    pub checked: CheckMethod,
}

/// A derivative is known by its option.
impl PartialEq for Descriptor {
    fn eq(&self, other: &Self) -> bool {
        self.option == other.option
    }
}

/// The arguments of an option in parentheses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionArguments {
    /// There are none.
    Nothing,
    /// They are names of parameters. The text is their form in messages and in the guide.
    Parameters(&'static str),
}

/// When a derivative is written without being named.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByDefault {
    /// Never.
    No,
    /// If the function's result is one real number.
    ForNumbers,
    /// If the function's result is anything else.
    ForOthers,
}

/// The requirements of a derivative on a function. Each comes with a hint for functions that do not
/// satisfy it.
#[derive(Clone, Copy, Debug)]
pub struct Requires {
    /// The result is one real number.
    pub one_number: Option<&'static str>,
    /// One parameter is active.
    pub one_active: Option<&'static str>,
    /// The derivative has no more indices than arrays may have. The text says what to write
    /// instead.
    pub few_indices: Option<&'static str>,
    /// The result and the active parameter are arrays of one axis, of any size. The text says what
    /// to write instead.
    pub vectors: Option<&'static str>,
}

/// The function that returns a derivative without the value.
#[derive(Clone, Copy, Debug)]
pub struct Alone {
    /// The suffix of its name, after `f_`.
    pub suffix: &'static str,
    /// A description of its result.
    pub what: &'static str,
}

/// Parameters of a derivative after those of the function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Further {
    /// None.
    Nothing,
    /// A parameter with the type of the result.
    Cotangent,
    /// A parameter for each active parameter, of the same type. The value is the word for it in
    /// names and documents.
    Directions(&'static str),
    /// A parameter for each active parameter: the memory for its gradient.
    Destinations,
}

/// The structure in which a derivative is returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Structure {
    /// A value for each active parameter, of its type.
    Gradient,
    /// A value of the result's type.
    Result,
    /// A block for each active parameter: the result's indices, then the parameter's.
    Jacobian,
    /// The elements of a Jacobian that may differ from zero, in compressed rows.
    Sparse,
    /// A block of the active parameter with itself.
    Hessian,
    /// A closure from a cotangent to a gradient.
    Closure,
    /// Nothing, since the derivative is written to the destinations.
    Written,
    /// A gradient for each example. Each of its values has one more axis in front, as has the
    /// function's value.
    Examples,
}

/// How a derivative is computed; `ad_middle::derivative::recipes` has the functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Recipe {
    /// The function itself.
    Value,
    /// The gradient of one number: reverse mode, with the cotangent 1.
    Gradient,
    /// The transposed Jacobian, applied: reverse, from a cotangent.
    Transposed,
    /// The Jacobian, applied: forward, along directions.
    Forward,
    /// The Jacobian, column by column or row by row.
    Jacobian,
    /// The columns in which each row of the Jacobian may differ from zero.
    Pattern,
    /// The Hessian, applied: forward over reverse.
    HessianProduct,
    /// The Hessian: the Jacobian of the gradient.
    Hessian,
    /// The trace of the Hessian.
    Laplacian,
    /// The gradient of each example.
    Examples,
}

/// How `check_grad!` checks a derivative.
#[derive(Clone, Copy, Debug)]
pub struct CheckMethod {
    /// The method of `ad_runtime::check::Check` that checks it.
    pub by: &'static str,
    /// Whether that method also evaluates the derivative at other points.
    pub elsewhere: bool,
}

/// A function that the attribute writes for a derivative.
#[derive(Clone, Copy, Debug)]
pub struct WrittenFunction {
    /// The suffix of its name, after `f_`.
    pub suffix: &'static str,
    /// Whether the value is returned, in front of the derivative.
    pub with_value: bool,
}

impl Descriptor {
    /// The functions that are written, in order.
    pub fn functions(&self) -> impl Iterator<Item = WrittenFunction> + use<> {
        let alone = self.alone.map(|alone| WrittenFunction { suffix: alone.suffix, with_value: false });
        alone.into_iter().chain([WrittenFunction { suffix: self.suffix, with_value: self.with_value }])
    }

    /// Its documentation, with a link to the function.
    #[must_use]
    pub fn documentation(&self, link: &str, active: &[String], examples: &[String]) -> String {
        let doc = self.doc.replace("{f}", link).replace("{wrt}", &active.join(", "));
        doc.replace("{examples}", &examples.join(", "))
    }

    /// The option as users write it.
    #[must_use]
    pub fn form(&self) -> &'static str {
        match self.takes {
            OptionArguments::Nothing => self.option,
            OptionArguments::Parameters(form) => form,
        }
    }
}

/// The derivative that an option asks for.
#[must_use]
pub fn named(option: &str) -> Option<&'static Descriptor> {
    DERIVATIVES.iter().copied().find(|d| d.option == option)
}

/// The options that ask for derivatives.
pub fn options() -> impl Iterator<Item = &'static str> {
    DERIVATIVES.iter().map(|d| d.option)
}

/// The options that ask for derivatives, as a list for messages.
#[must_use]
pub fn quoted_options() -> String {
    options().map(|option| format!("`{option}`")).collect::<Vec<_>>().join(", ")
}

/// The derivatives of a function for which none is named.
pub fn by_default(one_number: bool) -> impl Iterator<Item = &'static Descriptor> {
    let wanted = if one_number { ByDefault::ForNumbers } else { ByDefault::ForOthers };
    DERIVATIVES.iter().copied().filter(move |d| d.default == wanted)
}

/// All derivatives, in the order in which they are written and checked.
pub const DERIVATIVES: &[&Descriptor] =
    &[&GRAD, &VJP, &JVP, &JACOBIAN, &SPARSE, &HVP, &HESSIAN, &LAPLACIAN, &PULLBACK, &INTO, &PER_EXAMPLE];

const ANY: Requires = Requires { one_number: None, one_active: None, few_indices: None, vectors: None };
const FIRST: Requires =
    Requires { one_number: Some("write `vjp`: the gradient of the result weighted by a cotangent"), ..ANY };
const SECOND: Requires =
    Requires { one_number: Some("take it of a number made of the result, such as the sum of its squares"), ..ANY };

/// The gradient.
pub static GRAD: Descriptor = Descriptor {
    option: "grad",
    takes: OptionArguments::Nothing,
    default: ByDefault::ForNumbers,
    requires: FIRST,
    suffix: "value_and_grad",
    alone: Some(Alone { suffix: "grad", what: "gradient" }),
    further: Further::Nothing,
    with_value: true,
    returns: Structure::Gradient,
    recipe: Recipe::Gradient,
    doc: "The value of {f} and its gradient with respect to {wrt}.",
    checked: CheckMethod { by: "grad", elsewhere: true },
};

/// The function itself. No option asks for it, but a called function is written like a derivative.
pub static VALUE: Descriptor = Descriptor {
    option: "",
    takes: OptionArguments::Nothing,
    default: ByDefault::No,
    requires: ANY,
    suffix: "value",
    alone: None,
    further: Further::Nothing,
    with_value: false,
    returns: Structure::Result,
    recipe: Recipe::Value,
    doc: "The value of {f}.",
    checked: CheckMethod { by: "", elsewhere: false },
};

/// The transposed Jacobian, applied.
pub static VJP: Descriptor = Descriptor {
    option: "vjp",
    takes: OptionArguments::Nothing,
    default: ByDefault::ForOthers,
    requires: ANY,
    suffix: "vjp",
    alone: None,
    further: Further::Cotangent,
    with_value: true,
    returns: Structure::Gradient,
    recipe: Recipe::Transposed,
    doc: "The value of {f} and the cotangents of {wrt}: the transposed Jacobian applied to `cotangent_`.",
    checked: CheckMethod { by: "vjp", elsewhere: false },
};

/// The Jacobian, applied.
pub static JVP: Descriptor = Descriptor {
    option: "jvp",
    takes: OptionArguments::Nothing,
    default: ByDefault::No,
    requires: ANY,
    suffix: "jvp",
    alone: None,
    further: Further::Directions("tangent"),
    with_value: true,
    returns: Structure::Result,
    recipe: Recipe::Forward,
    doc: "The value of {f} and its tangent: the Jacobian applied to tangents of {wrt}.",
    checked: CheckMethod { by: "jvp", elsewhere: false },
};

/// The Jacobian.
pub static JACOBIAN: Descriptor = Descriptor {
    option: "jacobian",
    takes: OptionArguments::Nothing,
    default: ByDefault::No,
    requires: Requires {
        few_indices: Some("write `vjp` or `jvp`: the Jacobian applied to a cotangent or to tangents"),
        ..ANY
    },
    suffix: "value_and_jacobian",
    alone: Some(Alone { suffix: "jacobian", what: "Jacobian" }),
    further: Further::Nothing,
    with_value: true,
    returns: Structure::Jacobian,
    recipe: Recipe::Jacobian,
    doc: "The value of {f} and its Jacobian with respect to {wrt}: indices of the result first, then those of the parameter.",
    checked: CheckMethod { by: "jacobian", elsewhere: false },
};

/// The Jacobian, without the elements that are zero for every value of the parameter.
pub static SPARSE: Descriptor = Descriptor {
    option: "jacobian(sparse)",
    takes: OptionArguments::Nothing,
    default: ByDefault::No,
    requires: Requires {
        one_active: Some("each has a Jacobian of its own"),
        vectors: Some("write `jacobian`: the whole of it"),
        ..ANY
    },
    suffix: "value_and_jacobian_sparse",
    alone: Some(Alone { suffix: "jacobian_sparse", what: "sparse Jacobian" }),
    further: Further::Nothing,
    with_value: true,
    returns: Structure::Sparse,
    recipe: Recipe::Pattern,
    doc: "The value of {f} and its Jacobian with respect to {wrt} in compressed sparse rows: the elements that may \
          differ from zero, by what each element of the result reads.",
    checked: CheckMethod { by: "jacobian_sparse", elsewhere: false },
};

/// The Hessian, applied.
pub static HVP: Descriptor = Descriptor {
    option: "hvp",
    takes: OptionArguments::Nothing,
    default: ByDefault::No,
    requires: SECOND,
    suffix: "hvp",
    alone: None,
    further: Further::Directions("direction"),
    with_value: false,
    returns: Structure::Gradient,
    recipe: Recipe::HessianProduct,
    doc: "The Hessian of {f} with respect to {wrt}, applied to directions of these.",
    checked: CheckMethod { by: "hvp", elsewhere: false },
};

/// The Hessian.
pub static HESSIAN: Descriptor = Descriptor {
    option: "hessian",
    takes: OptionArguments::Nothing,
    default: ByDefault::No,
    requires: Requires {
        one_active: Some("products with the Hessian of all of them: `hvp`"),
        few_indices: Some("write `hvp`: the Hessian applied to a direction"),
        ..SECOND
    },
    suffix: "hessian",
    alone: None,
    further: Further::Nothing,
    with_value: false,
    returns: Structure::Hessian,
    recipe: Recipe::Hessian,
    doc: "The Hessian of {f} with respect to {wrt}: the parameter's indices twice.",
    checked: CheckMethod { by: "hessian", elsewhere: false },
};

/// The trace of the Hessian.
pub static LAPLACIAN: Descriptor = Descriptor {
    option: "laplacian",
    takes: OptionArguments::Nothing,
    default: ByDefault::No,
    requires: Requires { one_active: Some("the Laplacian of several is the sum of those of each"), ..SECOND },
    suffix: "laplacian",
    alone: None,
    further: Further::Nothing,
    with_value: false,
    returns: Structure::Result,
    recipe: Recipe::Laplacian,
    doc: "The Laplacian of {f} with respect to {wrt}: the trace of the Hessian.",
    checked: CheckMethod { by: "laplacian", elsewhere: false },
};

/// The transposed Jacobian as a function.
pub static PULLBACK: Descriptor = Descriptor {
    option: "pullback",
    takes: OptionArguments::Nothing,
    default: ByDefault::No,
    requires: ANY,
    suffix: "pullback",
    alone: None,
    further: Further::Nothing,
    with_value: true,
    returns: Structure::Closure,
    recipe: Recipe::Transposed,
    doc: "The value of {f} and its pullback: the function from a cotangent of the result to those of the parameters. \
          The pullback owns what it needs of the parameters, and can be called many times.",
    checked: CheckMethod { by: "pullback", elsewhere: false },
};

/// The gradient, written to the caller's memory.
pub static INTO: Descriptor = Descriptor {
    option: "into",
    takes: OptionArguments::Nothing,
    default: ByDefault::No,
    requires: FIRST,
    suffix: "value_and_grad_into",
    alone: None,
    further: Further::Destinations,
    with_value: true,
    returns: Structure::Written,
    recipe: Recipe::Gradient,
    doc: "The value of {f}; its gradient with respect to {wrt} overwrites the last arguments.",
    checked: CheckMethod { by: "value_and_grad_into", elsewhere: false },
};

/// The gradient for each of many examples.
pub static PER_EXAMPLE: Descriptor = Descriptor {
    option: "per_example",
    takes: OptionArguments::Parameters("per_example(x, y)"),
    default: ByDefault::No,
    requires: FIRST,
    suffix: "value_and_grad_each",
    alone: Some(Alone { suffix: "grad_each", what: "gradients, one for each example," }),
    further: Further::Nothing,
    with_value: true,
    returns: Structure::Examples,
    recipe: Recipe::Examples,
    doc: "The value of {f} and its gradient with respect to {wrt}, for each of many examples. {examples} and all \
          results have one more axis in front, for the examples; the other parameters are shared.",
    checked: CheckMethod { by: "grad_each", elsewhere: false },
};
