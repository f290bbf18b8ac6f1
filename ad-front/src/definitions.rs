//! The table of definitions: the structs, enums, `impl` blocks and traits that a body can name.
//! They are the items in the body itself, and items that come from outside of it.
//!
//! The table is made once, before anything is lowered. It must never know a value or a term, and it
//! must never report an error that rustc reports: an item that it does not understand is left out.

mod impls;
pub(super) mod layout;
pub(super) mod tree;

use ad_ir::sorted::SortedSet;

use proc_macro2::Ident;
use syn::visit::Visit;
use syn::{Attribute, Block, Expr, Fields, GenericParam, Item, Path, Stmt, Type};

use super::sig::is_real;
use super::sorting::Routines;
use super::travel::{OuterDefinitions, written};
use crate::walk::{Part, Walk};
pub(super) use impls::{AssociatedFunction, Impl, SelfParam, SelfType, both, trait_of};

/// All definitions. They live as long as the values that refer to them.
#[derive(Default)]
pub(super) struct Definitions {
    types: Vec<Definition>,
    impls: Vec<Impl>,
    /// The names of the methods that take `&mut self`.
    mutating: SortedSet<String>,
    /// The names of all methods.
    methods: SortedSet<String>,
    /// The functions that sort.
    pub routines: Routines,
    /// The functions that solve equations.
    pub solvers: super::implicit::Routines,
    /// The names that types from outside have in the annotated function.
    renamed: Vec<(String, String)>,
    /// The paths of types whose definitions have not been asked for yet.
    open: Vec<String>,
}

/// A struct or an enum. A struct has one variant, which has its name.
pub(super) struct Definition {
    pub name: Ident,
    pub is_enum: bool,
    /// Its type parameters and const parameters, in their order.
    pub params: Vec<Parameter>,
    pub variants: Vec<Variant>,
    /// Whether it has a type parameter that is not a real number.
    pub is_general: bool,
    /// The variant that `#[derive(Default)]` makes.
    pub default: Option<usize>,
    /// Whether `==` compares the fields.
    pub compared: bool,
    /// Whether it is `Result`, whose variants have names in every scope.
    pub of_std: bool,
}

/// A generic parameter of a definition.
pub(super) enum Parameter {
    Type(Ident),
    Const(Ident),
}

/// A variant of an enum, or the only one of a struct.
pub(super) struct Variant {
    pub name: Ident,
    pub fields: Vec<Field>,
    /// The value of `Variant = 3`.
    pub discriminant: Option<Expr>,
}

/// A field. The name of a field of a tuple is its number.
pub(super) struct Field {
    pub name: String,
    pub ty: Type,
    /// Whether it has the mark `#[constant]`.
    pub constant: bool,
}

impl std::fmt::Debug for Definition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.name)
    }
}

impl Parameter {
    pub(super) fn name(&self) -> &Ident {
        match self {
            Parameter::Type(name) | Parameter::Const(name) => name,
        }
    }
}

impl Variant {
    /// The index of a field.
    pub(super) fn field(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|f| f.name == name)
    }
}

impl Definition {
    /// The index of a field of a struct.
    pub(super) fn field(&self, name: &str) -> Option<usize> {
        self.variants.first().filter(|_| !self.is_enum)?.field(name)
    }

    /// The index of a variant.
    pub(super) fn variant(&self, name: &str) -> Option<usize> {
        self.variants.iter().position(|v| v.name == name)
    }

    fn of_struct(item: &syn::ItemStruct) -> Definition {
        let variant = Variant { name: item.ident.clone(), fields: fields(&item.fields), discriminant: None };
        let default = derives(&item.attrs, "Default").then_some(0);
        Definition::new(&item.ident, &item.generics, &item.attrs, vec![variant], default, false)
    }

    fn of_enum(item: &syn::ItemEnum) -> Definition {
        let variant = |v: &syn::Variant| Variant {
            name: v.ident.clone(),
            fields: fields(&v.fields),
            discriminant: v.discriminant.as_ref().map(|(_, e)| e.clone()),
        };
        let variants = item.variants.iter().map(variant).collect();
        let marked = |v: &syn::Variant| v.attrs.iter().any(|a| a.path().is_ident("default"));
        let default = item.variants.iter().position(marked).filter(|_| derives(&item.attrs, "Default"));
        Definition::new(&item.ident, &item.generics, &item.attrs, variants, default, true)
    }

    /// `Result` of std.
    fn result() -> Option<Definition> {
        let item: syn::ItemEnum = syn::parse_str("enum Result<T, E> { Ok(T), Err(E) }").ok()?;
        Some(Definition { compared: true, of_std: true, ..Definition::of_enum(&item) })
    }

    fn new(
        name: &Ident,
        generics: &syn::Generics,
        attrs: &[Attribute],
        variants: Vec<Variant>,
        default: Option<usize>,
        is_enum: bool,
    ) -> Definition {
        let param = |p: &GenericParam| match p {
            GenericParam::Type(t) => Some(Parameter::Type(t.ident.clone())),
            GenericParam::Const(c) => Some(Parameter::Const(c.ident.clone())),
            GenericParam::Lifetime(_) => None,
        };
        let params = generics.params.iter().filter_map(param).collect();
        Definition {
            name: name.clone(),
            is_enum,
            is_general: !is_of_one_number(generics),
            params,
            variants,
            default,
            compared: derives(attrs, "PartialEq"),
            of_std: false,
        }
    }
}

impl Definitions {
    /// The definitions of a body, and those from outside of it. Their macros and imports have been
    /// replaced.
    pub(super) fn of_body(body: &Block, outside: &OuterDefinitions) -> Self {
        let own = Definitions::outside(outside);
        Definitions { renamed: own.renamed, open: own.open, ..Definitions::of(body, &outside.items()) }
    }

    fn of(body: &Block, outside: &[Item]) -> Self {
        // Every item of a function, in whatever block it is.
        let mut items = Vec::new();
        let mut walk = |part| {
            if let Part::Item(item) = part {
                items.push(item);
            }
        };
        outside.iter().for_each(|item| Walk(&mut walk).visit_item(item));
        Walk(&mut walk).visit_block(body);
        // The place of an `impl` block is that of its definition.
        let place = |block: &syn::ItemImpl| {
            let at = std::ptr::from_ref(block);
            outside.iter().position(|item| matches!(item, Item::Impl(i) if std::ptr::eq(i, at)))
        };
        let mut table = Definitions::default();
        for item in &items {
            match item {
                Item::Struct(s) => table.types.push(Definition::of_struct(s)),
                Item::Enum(e) => table.types.push(Definition::of_enum(e)),
                _ => {}
            }
        }
        if table.ty("Result").is_none() {
            table.types.extend(Definition::result());
        }
        let mut traits = Vec::new();
        for item in &items {
            if let Item::Trait(t) = item {
                traits.push(t);
            }
        }
        for item in &items {
            if let Item::Impl(i) = item {
                table.impls.push(Impl::of(i, &traits, place(i)));
            }
        }
        // A value also represents a reference to it, so an `impl` for references comes second.
        table.impls.sort_by_key(Impl::is_of_references);
        let functions = table.impls.iter().flat_map(|i| &i.functions);
        for f in functions {
            let name = f.name.to_string();
            match f.receiver {
                Some(SelfParam::Mutable) => {
                    table.mutating.insert(name.clone());
                    table.methods.insert(name);
                }
                Some(_) => {
                    table.methods.insert(name);
                }
                None => {}
            }
        }
        table
    }

    /// The definitions from outside, which are those that a signature can name.
    pub(super) fn outside(outside: &OuterDefinitions) -> Self {
        let renamed = outside.names.iter().filter_map(|(path, id)| {
            let of = match &outside.list.iter().find(|d| d.id == *id)?.item {
                Item::Struct(s) => s.ident.to_string(),
                Item::Enum(e) => e.ident.to_string(),
                _ => return None,
            };
            let name = path.rsplit("::").next()?.to_string();
            (name != of).then_some((name, of))
        });
        let block = Block { brace_token: Default::default(), stmts: Vec::new() };
        let all = Definitions::of(&block, &outside.items());
        Definitions { renamed: renamed.collect(), open: outside.open.clone(), ..all }
    }

    /// The type of a name.
    pub(super) fn ty(&self, name: &str) -> Option<&Definition> {
        let renamed = self.renamed.iter().find(|(own, _)| own == name).map(|(_, of)| &**of);
        let name = renamed.unwrap_or(name);
        self.types.iter().find(|d| d.name == name)
    }

    /// Whether the definition of a path has still to be asked for.
    pub(super) fn is_open(&self, path: &Path) -> bool {
        self.open.contains(&written(path))
    }

    /// A name that two types have. The table does not know the scopes of blocks.
    pub(super) fn repeated(&self) -> Option<&Ident> {
        let repeated = |(k, d): &(usize, &Definition)| self.types[..*k].iter().any(|e| e.name == d.name);
        self.types.iter().enumerate().find(repeated).map(|(_, d)| &d.name)
    }

    /// A method of a trait that is another function for references than for values.
    pub(super) fn of_references(&self) -> Option<&Ident> {
        let differs = |i: &Impl, j: &Impl| i.is_for_types_of(j).then(|| i.differing(j)).flatten();
        self.impls.iter().enumerate().find_map(|(k, i)| {
            let name = self.impls[..k].iter().find_map(|j| differs(i, j))?;
            i.function(&name).map(|f| &f.name)
        })
    }

    /// The type and variant that the path of a constructor or pattern names: `Point`,
    /// `Shape::Circle`.
    pub(super) fn constructor(&self, path: &Path) -> Option<(&Definition, usize)> {
        let mut names = path.segments.iter().rev().map(|s| s.ident.to_string());
        let last = names.next()?;
        if let Some(owner) = names.next().and_then(|owner| self.ty(&owner)).filter(|d| d.is_enum) {
            return owner.variant(&last).map(|k| (owner, k));
        }
        let of_std = || {
            let result = self.ty("Result").filter(|d| d.of_std)?;
            result.variant(&last).map(|k| (result, k))
        };
        self.ty(&last).filter(|d| !d.is_enum).map(|d| (d, 0)).or_else(of_std)
    }

    /// Whether some type has a method of this name.
    pub(super) fn has_method(&self, name: &str) -> bool {
        self.methods.contains(name)
    }

    /// The names of the methods that may change their receiver.
    pub(super) fn mutating(&self) -> &SortedSet<String> {
        &self.mutating
    }

    /// All `impl` blocks.
    pub(super) fn impls(&self) -> &[Impl] {
        &self.impls
    }
}

/// The types whose names the items of a block bring into scope.
pub(super) fn types_of(block: &Block) -> impl Iterator<Item = &Ident> {
    block.stmts.iter().filter_map(|stmt| match stmt {
        Stmt::Item(Item::Struct(s)) => Some(&s.ident),
        Stmt::Item(Item::Enum(e)) => Some(&e.ident),
        _ => None,
    })
}

/// Whether an item is one of the table.
pub(super) fn is_definition(item: &Item) -> bool {
    matches!(item, Item::Struct(_) | Item::Enum(_) | Item::Impl(_) | Item::Trait(_))
}

fn derives(attrs: &[Attribute], name: &str) -> bool {
    let mut found = false;
    for attr in attrs.iter().filter(|a| a.path().is_ident("derive")) {
        // A list that does not parse is rustc's error.
        let _ = attr.parse_nested_meta(|meta| {
            found |= meta.path.segments.last().is_some_and(|s| s.ident == name);
            Ok(())
        });
    }
    found
}

/// Whether there is at most one type parameter, and it is the type of a real number.
pub(super) fn is_of_one_number(generics: &syn::Generics) -> bool {
    let mut params = generics.type_params();
    params.next().is_none_or(|p| is_real(generics, p)) && params.next().is_none()
}

fn fields(fields: &Fields) -> Vec<Field> {
    let name = |k: usize, field: &syn::Field| field.ident.as_ref().map_or_else(|| k.to_string(), ToString::to_string);
    fields
        .iter()
        .enumerate()
        .map(|(k, f)| Field {
            name: name(k, f),
            ty: f.ty.clone(),
            constant: f.attrs.iter().any(|a| a.path().is_ident("constant")),
        })
        .collect()
}
