//! What methods result in, by the types of their receivers.

use syn::{Expr, ExprMethodCall};

use super::{ARRAY, ARRAYS, NUMBER, NUMBERS, Reader, Ty, VIEW, VIEWS, place};
use crate::program::{Owner, Receiver};

impl Reader {
    pub(super) fn method(&mut self, m: &ExprMethodCall) -> Ty {
        let of = self.ty(&m.receiver);
        let (refs, inner) = of.stripped();
        if let Ty::Plain(owner) = inner {
            self.found.methods.insert(place(m), Receiver { refs, owner: *owner });
        }
        let name = m.method.to_string();
        let args: Vec<&Expr> = m.args.iter().collect();
        let inner = inner.clone();
        match inner {
            Ty::Plain(owner) => self.method_of_numbers(&name, (refs, owner, &of), &args),
            Ty::Iter(item) if refs == 0 => self.method_of_iterators(&name, &item, &args),
            Ty::Lanes if matches!(&*name, "into_iter" | "iter") => Ty::Iter(VIEW.into()),
            Ty::Option(item) if refs == 0 => self.method_of_options(&name, &item, &args),
            _ => {
                self.all(args);
                if name == "clone" || name == "to_owned" { of.copied() } else { Ty::Unknown }
            }
        }
    }

    /// Of numbers, and of arrays of numbers.
    fn method_of_numbers(&mut self, name: &str, (refs, owner, of): (u8, Owner, &Ty), args: &[&Expr]) -> Ty {
        let native = matches!(owner, Owner::Vector | Owner::Slice | Owner::Static);
        let nd = matches!(owner, Owner::Array | Owner::View | Owner::Shared);
        match (name, args) {
            ("mapv", [f]) => {
                return if let Ty::Plain(_) = self.called(f, &[NUMBER]) { ARRAY } else { Ty::Unknown };
            }
            ("map", [f]) if nd => {
                let result = self.called(f, &[NUMBER.to()]);
                return if let Ty::Plain(_) = result { ARRAY } else { Ty::Unknown };
            }
            ("map", [f]) if owner == Owner::Static => {
                // Of an array of arrays, too.
                let result = self.called(f, &[NUMBER]);
                return if let Ty::Plain(_) = result { Ty::Plain(Owner::Static) } else { Ty::Unknown };
            }
            ("fold", [init, f]) if nd => {
                let init = self.ty(init);
                self.called(f, &[init.clone(), NUMBER.to()]);
                return init;
            }
            _ => {}
        }
        self.all(args.iter().copied());
        match name {
            "clone" if refs > 0 => of.copied(),
            "clone" => of.clone(),
            // Of `Ord`, which references to integers have too.
            "max" | "min" | "clamp" if refs > 0 => Ty::Unknown,
            "iter" => Ty::Iter(NUMBER.to().into()),
            "into_iter" => Ty::Iter(of.items().into()),
            "outer_iter" | "axis_iter" => Ty::Iter(VIEW.into()),
            "rows" | "columns" | "lanes" => Ty::Lanes,
            "windows" | "chunks_exact" | "chunks" if native => Ty::Iter(Ty::Plain(Owner::Slice).to().into()),
            "windows" if nd => Ty::Lanes,
            "first" | "last" | "get" => Ty::Option(NUMBER.to().into()),
            "mean" => Ty::Option(NUMBER.into()),
            "indexed_iter" => Ty::Iter(Ty::Tuple(vec![NUMBER, NUMBER.to()]).into()),
            "enumerate" | "sin_cos" | "partial_cmp" | "total_cmp" | "cmp" => Ty::Unknown,
            "to_vec" => Ty::Plain(Owner::Vector),
            _ if VIEWS.contains(&name) && nd => VIEW,
            _ if ARRAYS.contains(&name) && nd => ARRAY,
            _ if NUMBERS.contains(&name) => NUMBER,
            // A number's own methods result in numbers; an array's may be anything.
            _ if crate::front::table::find(crate::front::table::On::Real, name).is_some() && !nd && !native => NUMBER,
            _ => Ty::Unknown,
        }
    }

    fn method_of_iterators(&mut self, name: &str, item: &Ty, args: &[&Expr]) -> Ty {
        let same = || Ty::Iter(item.clone().into());
        let some = || Ty::Option(item.clone().into());
        match (name, args) {
            ("map", [f]) => Ty::Iter(self.called(f, std::slice::from_ref(item)).into()),
            ("for_each" | "all" | "any" | "position", [f]) => {
                self.called(f, std::slice::from_ref(item));
                NUMBER
            }
            ("filter", [f]) => {
                self.called(f, &[item.clone().to()]);
                same()
            }
            ("find", [f]) => {
                self.called(f, &[item.clone().to()]);
                some()
            }
            ("max_by" | "min_by", [f]) => {
                self.called(f, &[item.clone().to(), item.clone().to()]);
                some()
            }
            ("fold", [init, f]) => {
                let init = self.ty(init);
                self.called(f, &[init.clone(), item.clone()]);
                init
            }
            ("zip", [other]) => {
                let other = self.ty(other).items();
                Ty::Iter(Ty::Tuple(vec![item.clone(), other]).into())
            }
            ("skip" | "take" | "step_by" | "chain", [arg]) => {
                self.ty(arg);
                same()
            }
            ("rev" | "iter" | "into_iter" | "by_ref", []) => same(),
            ("enumerate", []) => Ty::Iter(Ty::Tuple(vec![NUMBER, item.clone()]).into()),
            ("copied" | "cloned", []) => Ty::Iter(item.copied().into()),
            ("sum" | "product" | "count", []) => NUMBER,
            ("last" | "max" | "min", []) => some(),
            _ => {
                self.all(args.iter().copied());
                Ty::Unknown
            }
        }
    }

    fn method_of_options(&mut self, name: &str, item: &Ty, args: &[&Expr]) -> Ty {
        match (name, args) {
            ("map", [f]) => Ty::Option(self.called(f, std::slice::from_ref(item)).into()),
            ("unwrap" | "expect" | "unwrap_or" | "unwrap_or_default", _) => {
                self.all(args.iter().copied());
                item.clone()
            }
            ("copied" | "cloned", []) => Ty::Option(item.copied().into()),
            _ => {
                self.all(args.iter().copied());
                Ty::Unknown
            }
        }
    }
}
