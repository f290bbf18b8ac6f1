//! The attribute's arguments: `#[differentiate(grad, jvp, wrt(w, b), crate = "path::to::ad")]`.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Lit, Meta, Token};

use ad_ir::catalogue;
use ad_ir::descriptor::{self, Descriptor, Further, OptionArguments};
use ad_ir::diag::{Diags, SrcRange, suggest};
use ad_ir::mode::{Mode, Saving};

/// The parsed attribute.
pub(super) struct Attr {
    /// The named derivatives, with their source locations. If none is named, the type of the result
    /// decides.
    pub derivatives: Vec<(&'static Descriptor, SrcRange)>,
    /// The parameters of `wrt(..)`.
    pub wrt: Option<Vec<Ident>>,
    /// The source location of `wrt(..)`.
    pub wrt_range: SrcRange,
    /// The parameters of an example, which a derivative's option names.
    pub examples: Vec<Ident>,
    /// The source location of the option `workspace`, if it is given.
    pub workspace: Option<SrcRange>,
    /// The source location of the option `aux`, if it is given.
    pub aux: Option<SrcRange>,
    /// The algorithm of differentiation.
    pub mode: Mode,
    /// The values that derivatives of loops save.
    pub saving: Saving,
    /// The source location of the mode that reads no body, if it is given.
    pub unread: Option<SrcRange>,
    /// The option `suffix`: a text that follows the function's name in the names of its
    /// derivatives.
    pub suffix: Option<String>,
    /// The path of the crate `ad`.
    pub krate: TokenStream,
}

impl Attr {
    /// Whether another attribute writes derivatives of the same names.
    pub(super) fn writes_names_of(&self, other: &syn::Attribute) -> bool {
        let options = match &other.meta {
            Meta::List(list) => list.tokens.clone(),
            _ => TokenStream::new(),
        };
        let again = other.path().segments.last().is_some_and(|s| s.ident == "differentiate");
        again && parse(options, &mut Diags::new()).suffix == self.suffix
    }

    /// Whether it has options other than the path of the crate.
    pub(super) fn has_options(&self) -> bool {
        let named = self.wrt.is_some() || self.suffix.is_some() || !self.derivatives.is_empty();
        named
            || self.workspace.is_some()
            || self.aux.is_some()
            || self.mode != Mode::default()
            || self.saving != Saving::default()
            || self.unread.is_some()
    }

    /// The beginning of the names of a function's derivatives.
    pub(super) fn stem(&self, function: &Ident) -> Ident {
        match &self.suffix {
            Some(suffix) => format_ident!("{function}_{suffix}", span = function.span()),
            None => function.clone(),
        }
    }
}

/// An option that is not a derivative.
struct Other {
    name: &'static str,
    read: fn(&Other, &Meta, SrcRange, &mut Attr, &mut Diags),
}

/// The options in addition to the derivatives.
const OTHERS: &[Other] = &[
    Other { name: "wrt", read: wrt },
    Other { name: "crate", read: krate },
    Other { name: "mode", read: mode },
    Other { name: "workspace", read: workspace },
    Other { name: "aux", read: aux },
    Other { name: "suffix", read: suffix },
    Other { name: "checkpoint", read: checkpoint },
];

/// Parses the attribute. An invalid argument is reported and ignored.
pub(super) fn parse(tokens: TokenStream, diags: &mut Diags) -> Attr {
    let here = SrcRange::of_stream(tokens.clone());
    let mut attr = Attr {
        derivatives: Vec::new(),
        wrt: None,
        wrt_range: here,
        examples: Vec::new(),
        workspace: None,
        aux: None,
        mode: Mode::default(),
        saving: Saving::default(),
        unread: None,
        suffix: None,
        krate: quote!(::ad),
    };
    let metas = match Punctuated::<Meta, Token![,]>::parse_terminated.parse2(tokens) {
        Ok(metas) => metas,
        Err(e) => {
            let range = SrcRange { first: e.span(), last: e.span() };
            diags.push(range, catalogue::malformed_attribute(&e.to_string()));
            return attr;
        }
    };
    for meta in metas {
        option(&meta, &mut attr, diags);
    }
    let writes = |d: &Descriptor| d.further == Further::Destinations;
    if let Some(range) = attr.workspace.filter(|_| !attr.derivatives.iter().any(|d| writes(d.0))) {
        let all: Vec<&str> = descriptor::DERIVATIVES.iter().filter(|d| writes(d)).map(|d| d.option).collect();
        diags.push(range, catalogue::workspace_of_nothing(&all.join("`, `")));
    }
    attr
}

fn option(meta: &Meta, attr: &mut Attr, diags: &mut Diags) {
    let range = SrcRange::of(meta);
    let text = |tokens: TokenStream| tokens.to_string().replace(' ', "");
    let (whole, mut name) = (text(meta.to_token_stream()), text(meta.path().to_token_stream()));
    // The name of an option may have a word in parentheses.
    let with_word = descriptor::named(&whole).filter(|_| whole != name);
    if with_word.is_some() {
        name = whole;
    }
    if let Some(derivative) = with_word.or_else(|| descriptor::named(&name)) {
        if attr.derivatives.iter().any(|d| d.0 == derivative) {
            diags.push(range, catalogue::option_twice(&name));
            return;
        }
        match (derivative.takes, names(meta)) {
            (OptionArguments::Nothing, _) if with_word.is_some() || matches!(meta, Meta::Path(_)) => {}
            (OptionArguments::Nothing, _) => {
                let also = descriptor::options().find(|o| o.strip_prefix(&*name).is_some_and(|o| o.starts_with('(')));
                diags.push(range, catalogue::option_takes_nothing(&name, also));
                return;
            }
            (OptionArguments::Parameters(_), Some(names)) => attr.examples = names,
            (OptionArguments::Parameters(form), None) => {
                diags.push(range, catalogue::malformed_option(&name, form));
                return;
            }
        }
        attr.derivatives.push((derivative, range));
        return;
    }
    match OTHERS.iter().find(|other| other.name == name) {
        Some(other) => (other.read)(other, meta, range, attr, diags),
        None => {
            let all = descriptor::options().chain(OTHERS.iter().map(|other| other.name));
            diags.push(range, catalogue::unknown_option(&name, suggest(&name, all), &descriptor::quoted_options()));
        }
    }
}

fn krate(option: &Other, meta: &Meta, range: SrcRange, attr: &mut Attr, diags: &mut Diags) {
    match string(meta).and_then(|s| syn::parse_str::<syn::Path>(&s).ok()) {
        Some(path) => attr.krate = path.to_token_stream(),
        None => {
            diags.push(range, catalogue::malformed_option(option.name, "crate = \"path::to::ad\""));
        }
    }
}

fn mode(option: &Other, meta: &Meta, range: SrcRange, attr: &mut Attr, diags: &mut Diags) {
    let usual = format!("{} = \"{}\"", option.name, Mode::default().name());
    let Some(name) = string(meta) else {
        diags.push(range, catalogue::malformed_option(option.name, &usual));
        return;
    };
    if let Some(mode) = Mode::named(&name) {
        attr.mode = mode;
    } else if name == Mode::UNREAD {
        attr.unread = Some(range);
    } else {
        let all = Mode::ALL.iter().map(|mode| mode.name()).chain([Mode::UNREAD]);
        diags.push(range, catalogue::unknown_mode(&name, suggest(&name, all), &usual));
    }
}

fn checkpoint(option: &Other, meta: &Meta, range: SrcRange, attr: &mut Attr, diags: &mut Diags) {
    let usual = format!("{} = \"{}\"", option.name, Saving::NAMES[0]);
    let Some(name) = string(meta) else {
        diags.push(range, catalogue::malformed_option(option.name, &usual));
        return;
    };
    match Saving::named(&name) {
        None => {
            let near = suggest(&name, Saving::NAMES.iter().copied());
            diags.push(range, catalogue::unknown_checkpoints(&name, near, &usual));
        }
        Some(_) if attr.saving != Saving::default() => {
            diags.push(range, catalogue::option_twice(option.name));
        }
        Some(saving) => attr.saving = saving,
    }
}

fn suffix(option: &Other, meta: &Meta, range: SrcRange, attr: &mut Attr, diags: &mut Diags) {
    let word = |s: &String| s.chars().all(|c| c == '_' || c.is_alphanumeric()) && !s.is_empty();
    let Some(suffix) = string(meta).filter(word) else {
        diags.push(range, catalogue::malformed_option(option.name, "suffix = \"b\""));
        return;
    };
    if attr.suffix.replace(suffix).is_some() {
        diags.push(range, catalogue::option_twice(option.name));
    }
}

fn workspace(option: &Other, meta: &Meta, range: SrcRange, attr: &mut Attr, diags: &mut Diags) {
    flag(option, meta, range, &mut attr.workspace, diags);
}

fn aux(option: &Other, meta: &Meta, range: SrcRange, attr: &mut Attr, diags: &mut Diags) {
    flag(option, meta, range, &mut attr.aux, diags);
}

/// Reads an option without arguments.
fn flag(option: &Other, meta: &Meta, range: SrcRange, given: &mut Option<SrcRange>, diags: &mut Diags) {
    if !matches!(meta, Meta::Path(_)) {
        diags.push(range, catalogue::option_takes_nothing(option.name, None));
    } else if given.replace(range).is_some() {
        diags.push(range, catalogue::option_twice(option.name));
    }
}

fn wrt(option: &Other, meta: &Meta, range: SrcRange, attr: &mut Attr, diags: &mut Diags) {
    match names(meta) {
        Some(names) => {
            if attr.wrt.is_some() {
                diags.push(range, catalogue::option_twice(option.name));
            }
            attr.wrt = Some(names);
            attr.wrt_range = range;
        }
        None => {
            let dot = |token: TokenTree| matches!(token, TokenTree::Punct(p) if p.as_char() == '.');
            let part = meta.to_token_stream().into_iter().any(|token| match token {
                TokenTree::Group(group) => group.stream().into_iter().any(dot),
                token => dot(token),
            });
            let message =
                if part { catalogue::wrt_of_a_part() } else { catalogue::malformed_option(option.name, "wrt(w, b)") };
            diags.push(range, message);
        }
    }
}

/// The names in parentheses, at least one.
fn names(meta: &Meta) -> Option<Vec<Ident>> {
    let Meta::List(list) = meta else { return None };
    // `self` is a parameter of a method.
    let names = |input: ParseStream| Punctuated::<Ident, Token![,]>::parse_terminated_with(input, Ident::parse_any);
    let names = names.parse2(list.tokens.clone()).ok()?;
    Some(names.into_iter().collect()).filter(|names: &Vec<Ident>| !names.is_empty())
}

fn string(meta: &Meta) -> Option<String> {
    match meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(lit) => match &lit.lit {
                Lit::Str(s) => Some(s.value()),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
