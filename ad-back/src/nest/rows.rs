//! Row slices: contiguous slices of stored arrays along the innermost loop, taken once before it.
//! Slices along an outer loop are used only if they are proved to be in range. A slice that is not
//! in range by construction goes through the runtime function `cut`, which accepts any range.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::quote;

use super::super::items::Item;
use super::super::kernel::{Id, Op};
use super::super::plan::LANES;
use super::super::rust::{Expr, prec};
use super::state::{LoopVariant, Nest, NestRange, RowKey, RowLoad, SlicedRow, is_pointwise};
use ad_ir::ir::{IntTy, Lit, Put, Term};
use ad_ir::prim::{IntOp, Prim};

/// The greatest number of columns of a row of short arrays.
const MAX_WIDTH: usize = 16;

impl Nest<'_, '_> {
    /// The row that a load reads, if it is contiguous over the innermost loop.
    pub(super) fn row_load(&self, id: Id) -> Option<RowLoad> {
        let Op::Load { buf, sizes, ix } = &self.k.node(id).op else { return None };
        if matches!(self.part, NestRange::Ends(_)) {
            return None;
        }
        let (buf, sizes) = (*buf, sizes.to_vec());
        if self.flat {
            // Of all other arrays the elements are at computed places.
            if !is_pointwise(self.k, &self.k.node(id).op) {
                return None;
            }
            return Some(RowLoad {
                key: RowKey { buf, sizes, outer: Vec::new(), base: None, width: 1, reversed: None },
                column: None,
            });
        }
        self.row_at(buf, &sizes, ix)
    }

    /// The row over the innermost loop that has the elements at an index.
    fn row_at(&self, buf: Term, sizes: &[Term], ix: &[Id]) -> Option<RowLoad> {
        let inner = self.depth.checked_sub(1)?;
        let (&last, before) = ix.split_last()?;
        if self.level(last) > inner {
            let key = self.row_of(inner, buf, sizes, (before, last))?;
            let usable = key.reversed.is_none() || !self.reused.contains_key(&buf) && self.row_fits(&key);
            return usable.then_some(RowLoad { key, column: None });
        }
        // A column of a row of short arrays, such as a coordinate of a point.
        let width = usize::try_from(self.g.int_value(*sizes.last()?)?).ok()?;
        let (&along, outer) = before.split_last()?;
        let columns = (2..=MAX_WIDTH).contains(&width) && self.proven(last, *sizes.last()?);
        if !columns || self.level(along) <= inner || self.reused.contains_key(&buf) {
            return None;
        }
        let key = self.row_of(inner, buf, &sizes[..sizes.len() - 1], (outer, along))?;
        let key = RowKey { width, ..key };
        self.row_fits(&key).then_some(RowLoad { key, column: Some(last) })
    }

    /// The row of the result that the innermost loop adds to or writes at an index, if it is in
    /// range. Rows of one array must not overlap, so all that the nest does to the array has to be
    /// in one row.
    pub(super) fn scatter_row(&self, out: Term, ix: &[Id]) -> Option<RowLoad> {
        let row = |ix: &[Id]| self.row_at(out, self.g.shape(out), ix).filter(|load| self.row_fits(&load.key));
        let found = row(ix).filter(|_| self.tested.is_empty())?;
        let same = |item: &Item| match item {
            Item::Scatter { out: other, ix, .. } if *other == out => row(ix).is_some_and(|load| load.key == found.key),
            Item::Store { out: Some(other), .. } | Item::Fold { out: other, .. } | Item::Block { out: other, .. } => {
                *other != out
            }
            _ => true,
        };
        self.items.iter().all(same).then_some(found)
    }

    /// The place of an element in such a row.
    pub(super) fn scatter_place(&mut self, out: Term, ix: &[Id]) -> Result<Option<TokenStream>, String> {
        let Some(RowLoad { key, column }) = self.scatter_row(out, ix) else { return Ok(None) };
        let row = match self.out_rows.get(&out) {
            Some(&row) => row,
            None => {
                let of = self.arg_names[&out].clone();
                let level = self.level_of_row(&key);
                let row = self.new_row(&of, false, (true, level, key.reversed.is_some()));
                let (name, part) = (self.row_list[row].name.clone(), self.part_of_row(&key, true)?);
                self.push(level, 0, &quote!(let #name = &mut #of #part;));
                self.out_rows.insert(out, row);
                row
            }
        };
        let element = self.row_element(row);
        Ok(Some(match column {
            None => element,
            Some(column) => {
                let column = self.value(column)?.tokens;
                quote!(#element[#column])
            }
        }))
    }

    /// The row over the innermost loop, given the indices of the axes before it and along it.
    fn row_of(&self, inner: usize, buf: Term, sizes: &[Term], (outer, along): (&[Id], Id)) -> Option<RowKey> {
        if outer.iter().any(|&i| self.level(i) > inner) {
            return None;
        }
        let is_inner = |i: Id| matches!(self.k.node(i).op, Op::Var(v) if usize::from(v) == inner);
        let (base, reversed) = match &self.k.node(along).op {
            Op::Var(_) if is_inner(along) => (None, None),
            Op::Prim(Prim::Int(op), args) => match (op, &**args) {
                (IntOp::Add, &[a, b]) if is_inner(a) && self.level(b) <= inner => (Some(b), None),
                (IntOp::Add, &[a, b]) if is_inner(b) && self.level(a) <= inner => (Some(a), None),
                (IntOp::Sub, &[a, b]) if self.level(a) <= inner => (Some(a), Some(self.distance(b, is_inner)?)),
                _ => return None,
            },
            _ => return None,
        };
        Some(RowKey { buf, sizes: sizes.to_vec(), outer: outer.to_vec(), base, width: 1, reversed })
    }

    /// The literal that is added to the index of the innermost loop.
    fn distance(&self, id: Id, is_inner: impl Fn(Id) -> bool) -> Option<i128> {
        match &self.k.node(id).op {
            _ if is_inner(id) => Some(0),
            Op::Prim(Prim::Int(IntOp::Add), args) => match (is_inner(args[0]), &self.k.node(args[1]).op) {
                (true, Op::Lit(Lit::Int(_, n))) => Some(*n),
                _ => None,
            },
            _ => None,
        }
    }

    /// The number of loops around the place where a row is sliced.
    fn level_of_row(&self, key: &RowKey) -> usize {
        let end = if let NestRange::Ragged(end) = self.part { Some(end) } else { None };
        key.outer.iter().chain(&key.base).chain(end).map(|&i| self.level(i)).max().unwrap_or(0)
    }

    /// Whether a row is in range in every iteration of the outer loops.
    fn row_fits(&self, key: &RowKey) -> bool {
        let exact = (0..key.outer.len()).all(|k| {
            let index = (key.outer[k], key.sizes[k]);
            self.proven(index.0, index.1) || self.tested.contains(&index)
        });
        let Some(&last) = key.sizes.last() else { return self.flat };
        let len = self.k.loops[self.depth - 1];
        let level = self.level_of_row(key);
        if let (Some(base), Some(distance)) = (key.base, key.reversed) {
            let end = match *self.part {
                NestRange::Whole | NestRange::Ragged(_) => None,
                NestRange::Prefix(end) => end,
                NestRange::Interior(_) | NestRange::Ends(_) => return false,
            };
            let lens = [Some(len), end].into_iter().flatten();
            return exact && lens.into_iter().any(|len| self.falls(level, base, (len, distance), last));
        }
        match *self.part {
            _ if !exact => false,
            NestRange::Whole if self.flat => true,
            NestRange::Whole | NestRange::Ragged(_) => self.part_fits(level, (key.base, Some(len)), last),
            NestRange::Prefix(end) => {
                [Some(len), end].into_iter().flatten().any(|len| self.part_fits(level, (key.base, Some(len)), last))
            }
            // The interior begins at `low` and does not extend beyond the loop.
            NestRange::Interior(low) => {
                let near = match key.base.map(|b| &self.k.node(b).op) {
                    None => true,
                    Some(Op::Lit(Lit::Int(_, n))) => (0..=low).contains(n),
                    _ => false,
                };
                near && self.known.fits(None, Some(len), last)
            }
            NestRange::Ends(_) => false,
        }
    }

    /// The position of an element in row-major order; 0 for a scalar.
    pub(super) fn linear(&mut self, ix: &[Expr], sizes: &[Term], exact: bool) -> Expr {
        let mut sum: Option<Expr> = None;
        for (i, &n) in ix.iter().zip(sizes) {
            sum = Some(match sum {
                None => i.clone(),
                // In row 0 the length of a row is not needed.
                Some(s) if exact && s.is(0) => i.clone(),
                Some(s) => {
                    let n = self.arg(n);
                    if exact {
                        s.times(&n).plus(i)
                    } else {
                        let (s, n, i) = (s.receiver(), n.tokens, &i.tokens);
                        Expr::atom(quote!(#s.wrapping_mul(#n).wrapping_add(#i)))
                    }
                }
            });
        }
        sum.unwrap_or_else(|| Expr::atom(quote!(0)))
    }

    /// Adds or puts a value at an index of a result, if the index is in range.
    pub(super) fn put_at(
        &mut self,
        out: Term,
        put: Put,
        (ix, sizes): (&[Id], &[Term]),
        value: &TokenStream,
    ) -> Result<TokenStream, String> {
        let at: Vec<Expr> = ix.iter().map(|&i| self.value(i)).collect::<Result<_, _>>()?;
        let mut inside: Option<TokenStream> = None;
        for (k, &i) in ix.iter().enumerate() {
            if !self.proven(i, sizes[k]) {
                let (i, n) = (at[k].at(prec::COMPARE + 1), self.arg(sizes[k]).tokens);
                inside = Some(match inside {
                    None => quote!(#i < #n),
                    Some(before) => quote!(#before && #i < #n),
                });
            }
        }
        let at = self.linear(&at, sizes, true).tokens;
        let name = &self.arg_names[&out];
        let put = put_into(put, &quote!(#name[#at]), value);
        self.summary.choices += usize::from(inside.is_some());
        Ok(match inside {
            None => put,
            Some(inside) => quote!(if #inside { #put }),
        })
    }

    pub(super) fn extent(&self, v: usize) -> Expr {
        if self.flat {
            let mut product: Option<Expr> = None;
            for &n in &self.k.loops {
                let n = self.arg(n);
                product = Some(match product {
                    None => n,
                    Some(p) => p.times(&n),
                });
            }
            return product.unwrap_or_else(|| Expr::atom(quote!(1)));
        }
        if self.inlined {
            return self.style.lit(Lit::Int(IntTy::Usize, LANES as i128));
        }
        if matches!(self.part, NestRange::Interior(_) | NestRange::Prefix(_) | NestRange::Ragged(_))
            && v + 1 == self.depth
        {
            let length = &self.length;
            return Expr::atom(quote!(#length));
        }
        let n = self.arg(self.k.loops[v]);
        // A range between literals has no type of its own.
        if n.receiver.is_some() { Expr::atom(n.receiver()) } else { n }
    }

    /// The term of a literal index, if the graph has it.
    pub(super) fn term_of_literal(&self, id: Id) -> Option<Term> {
        match self.k.node(id).op {
            Op::Lit(Lit::Int(_, n)) => self.g.find_usize(usize::try_from(n).ok()?),
            _ => None,
        }
    }

    /// The size of the innermost loop, if it is a constant.
    pub(super) fn literal_extent(&self) -> Option<i128> {
        if self.inlined {
            return Some(LANES as i128);
        }
        if self.flat || *self.part != NestRange::Whole { None } else { self.g.int_value(*self.k.loops.last()?) }
    }

    /// The element of a row in the current variant of the inner loop.
    pub(super) fn row_element(&mut self, row: usize) -> TokenStream {
        let index = match self.variant {
            LoopVariant::Plain => self.var(self.depth - 1).tokens,
            _ => {
                self.lane_used = true;
                let lane = &self.lane;
                quote!(#lane)
            }
        };
        let row = &self.row_list[row];
        let name = if self.variant == LoopVariant::Rest { &row.rest } else { &row.name };
        if row.reversed { quote!(#name[#name.len() - 1 - #index]) } else { quote!(#name[#index]) }
    }

    fn new_row(&mut self, base: &Ident, whole: bool, (out, level, reversed): (bool, usize, bool)) -> usize {
        let base = base.to_string();
        let name = if whole { Ident::new(&base, Span::mixed_site()) } else { self.names.fresh(&format!("{base}_row")) };
        let chunks = self.names.fresh(&format!("{base}_chunks"));
        let rest = self.names.fresh(&format!("{base}_rest"));
        self.row_list.push(SlicedRow { name, chunks, rest, out, level, reversed });
        self.row_list.len() - 1
    }

    /// Slices the row once, in the outermost loop in which its start is known.
    pub(super) fn row(&mut self, key: RowKey) -> Result<usize, String> {
        if let Some(&row) = self.rows.get(&key) {
            return Ok(row);
        }
        if let Some(&out) = self.reused.get(&key.buf) {
            let loops: Vec<usize> = (0..self.depth).collect();
            return Ok(self.out_row(out, &loops));
        }
        let inner = self.depth - 1;
        let of = self.arg_names[&key.buf].clone();
        let level = self.level_of_row(&key);
        let n = self.extent(inner).tokens;
        let tested = (0..key.outer.len()).any(|k| self.tested.contains(&(key.outer[k], key.sizes[k])));
        let exact = (0..key.outer.len())
            .all(|k| self.proven(key.outer[k], key.sizes[k]) || self.tested.contains(&(key.outer[k], key.sizes[k])));
        let last = key.sizes.last().copied();
        let in_range = self.row_fits(&key);
        // A row that is the whole array keeps its name. A partial row gets a fresh name, so that it
        // does not shadow the array for other rows; so does a row that is taken in chunks, if
        // elements of the array are gathered too.
        let gathered = |id| matches!(&self.k.node(id).op, Op::Load { buf, .. } if *buf == key.buf);
        let shadows = self.variant != LoopVariant::Plain && self.points().any(gathered);
        let whole = *self.part == NestRange::Whole
            && !shadows
            && key.outer.is_empty()
            && key.base.is_none()
            && key.width == 1
            && in_range
            && (self.flat || last == Some(self.k.loops[inner]));
        let row = self.new_row(&of, whole, (false, level, key.reversed.is_some()));
        let name = self.row_list[row].name.clone();
        let cut = if whole {
            quote!(let #name = &#of[..#n];)
        } else {
            if in_range {
                let part = self.part_of_row(&key, false)?;
                quote!(let #name = &#of #part;)
            } else {
                self.summary.tested_rows += 1;
                let start = self.start_of_row(&key, exact)?.tokens;
                let (cut, fill) = (self.style.kernel("cut"), self.style.zero(self.g.elem(key.buf)));
                // The slice states the length again, since rustc does not know it from `cut`.
                quote!(let #name = &#cut(#of, #start, #n, #fill)[..#n];)
            }
        };
        if tested {
            self.under_test.extend(cut);
        } else {
            self.push(level, 0, &cut);
        }
        self.rows.insert(key, row);
        Ok(row)
    }

    /// The position at which a row starts, in elements of the row.
    fn start_of_row(&mut self, key: &RowKey, exact: bool) -> Result<Expr, String> {
        let mut ix: Vec<Expr> = Vec::new();
        for &i in &key.outer {
            ix.push(self.value(i)?);
        }
        let mut start = match &*ix {
            [] => None,
            outer => {
                let rows = self.linear(outer, &key.sizes[..outer.len()], exact);
                let m = self.arg(key.sizes[outer.len()]);
                Some(if exact {
                    rows.times(&m)
                } else {
                    let (rows, m) = (rows.receiver(), m.tokens);
                    Expr::atom(quote!(#rows.saturating_mul(#m)))
                })
            }
        };
        if let Some(base) = key.base {
            let mut base = self.value(base)?;
            if let Some(distance) = key.reversed {
                // The last element that is read, `len - 1` iterations after the first one.
                let (base_, len) = (base.at(prec::ADD), self.extent(self.depth - 1).at(prec::ADD + 1));
                let more = Literal::i128_unsuffixed((distance - 1).abs());
                let tokens = match distance {
                    0 => quote!(#base_ + #more - #len),
                    1 => quote!(#base_ - #len),
                    _ => quote!(#base_ - #more - #len),
                };
                base = Expr::new(tokens, prec::ADD, 3);
            }
            start = Some(match start {
                None => base,
                Some(s) => {
                    let (s, base) = (s.receiver(), base.tokens);
                    Expr::atom(quote!(#s.saturating_add(#base)))
                }
            });
        }
        Ok(start.unwrap_or_else(|| self.style.lit(Lit::Int(IntTy::Usize, 0))))
    }

    /// The part of an array that is a row in range.
    fn part_of_row(&mut self, key: &RowKey, mutable: bool) -> Result<TokenStream, String> {
        self.summary.rows_of_arrays += usize::from(key.width > 1);
        self.summary.reversed_rows += usize::from(key.reversed.is_some());
        let (start, len) = (self.start_of_row(key, true)?, self.extent(self.depth - 1));
        let n = &len.tokens;
        if key.width == 1 {
            let start = start.at(prec::ADD);
            return Ok(quote!([#start..][..#n]));
        }
        let width = self.style.lit(Lit::Int(IntTy::Usize, key.width as i128));
        let start = start.times(&width);
        // A product with the literal 1 would have no effect, which clippy reports.
        let count = match self.literal_extent().filter(|_| !self.inlined) {
            Some(n) => self.style.lit(Lit::Int(IntTy::Usize, n * key.width as i128)),
            None => len.times(&width),
        };
        let (start, count, width) = (start.at(prec::ADD), count.at(prec::ADD), width.tokens);
        let chunks = if mutable { quote!(as_chunks_mut) } else { quote!(as_chunks) };
        Ok(quote!([#start..][..#count].#chunks::<#width>().0[..#n]))
    }

    /// An element that does not depend on the innermost loop, read from a slice along an outer loop
    /// that is proved to be in range. The slice is taken before that loop, so that its elements are
    /// read without a test.
    pub(super) fn outer_row_element(&mut self, id: Id) -> Result<Option<Expr>, String> {
        let k = self.k;
        let Op::Load { buf, sizes, ix } = &k.node(id).op else { return Ok(None) };
        let level = self.level(id);
        let (Some(along), Some((&last, outer))) = (level.checked_sub(1), ix.split_last()) else { return Ok(None) };
        let elsewhere = self.flat || self.inlined || self.reused.contains_key(buf) || self.place[id as usize] != 0;
        if elsewhere || level >= self.depth || outer.iter().any(|&i| self.level(i) > along) {
            return Ok(None);
        }
        let is_index = matches!(k.node(last).op, Op::Var(v) if usize::from(v) == along);
        let exact = outer.iter().zip(sizes).all(|(&i, &n)| self.proven(i, n))
            && self.known.fits(None, Some(k.loops[along]), sizes[outer.len()]);
        if !is_index || !exact {
            return Ok(None);
        }
        let key =
            RowKey { buf: *buf, sizes: sizes.to_vec(), outer: outer.to_vec(), base: None, width: 1, reversed: None };
        let name = match self.outer_rows.get(&(along, key.clone())) {
            Some(name) => name.clone(),
            None => {
                let of = self.arg_names[buf].clone();
                let ix: Vec<Expr> = outer.iter().map(|&i| self.value(i)).collect::<Result<_, _>>()?;
                let n = self.extent(along).tokens;
                // A slice of the whole array keeps the array's name.
                let whole = ix.is_empty() && sizes[0] == k.loops[along];
                let name = if whole { of.clone() } else { self.names.fresh(&format!("{of}_row")) };
                let cut = if ix.is_empty() {
                    quote!(let #name = &#of[..#n];)
                } else {
                    let rows = self.linear(&ix, &sizes[..outer.len()], true);
                    let start = rows.times(&self.arg(sizes[outer.len()])).at(prec::ADD);
                    quote!(let #name = &#of[#start..][..#n];)
                };
                let level = outer.iter().map(|&i| self.level(i)).max().unwrap_or(0);
                self.push(level, 0, &cut);
                self.outer_rows.insert((along, key), name.clone());
                name
            }
        };
        let at = self.var(along).tokens;
        Ok(Some(Expr::new(quote!(#name[#at]), prec::ATOM, 1)))
    }

    /// The indices of a block that need a range test for each row: a row out of range is dropped.
    pub(super) fn to_be_tested(&self) -> Vec<(Id, Term)> {
        let mut found = Vec::new();
        for item in self.items {
            let Item::Block { out, ix, tested: true, .. } = item else { continue };
            let outer = ix[..ix.len() - 1].iter().copied().zip(self.g.shape(*out).iter().copied());
            found.extend(outer.filter(|&(i, n)| self.level(i) > 0 && !self.proven(i, n)));
        }
        found
    }

    /// The range test for the indices in `tested`.
    pub(super) fn row_test(&mut self) -> Result<Option<TokenStream>, String> {
        let mut inside: Option<TokenStream> = None;
        for (i, n) in self.tested.clone() {
            let (i, n) = (self.value(i)?.at(prec::COMPARE + 1), self.arg(n).tokens);
            inside = Some(inside.map_or(quote!(#i < #n), |before| quote!(#before && #i < #n)));
        }
        Ok(inside)
    }

    /// The position at which the rows of a block start in the rows of the result; `None` if that is
    /// 0.
    pub(super) fn block_start(&self, ix: &[Id]) -> Option<Id> {
        match &self.k.node(*ix.last()?).op {
            Op::Prim(_, args) => args.iter().copied().find(|&a| self.level(a) < self.depth),
            _ => None,
        }
    }

    /// The row of a result to which the innermost loop adds a row of a block.
    pub(super) fn block_row(&mut self, t: Term, ix: &[Id]) -> Result<usize, String> {
        if let Some(&row) = self.out_rows.get(&t) {
            return Ok(row);
        }
        let of = self.arg_names[&t].clone();
        let sizes = self.g.shape(t).to_vec();
        let outer = &ix[..ix.len() - 1];
        let start = self.block_start(ix);
        let level = outer.iter().chain(&start).map(|&i| self.level(i)).max().unwrap_or(0);
        let mut at: Vec<Expr> = outer.iter().map(|&i| self.value(i)).collect::<Result<_, _>>()?;
        at.push(match start {
            Some(start) => self.value(start)?,
            None => self.style.lit(Lit::Int(IntTy::Usize, 0)),
        });
        let (start, n) = (self.linear(&at, &sizes, true), self.extent(self.depth - 1).tokens);
        let row = self.new_row(&of, false, (true, level, false));
        let name = self.row_list[row].name.clone();
        let start = start.at(prec::ADD);
        let cut = quote!(let #name = &mut #of[#start..][..#n];);
        if self.tested.is_empty() {
            self.push(level, 0, &cut);
        } else {
            self.under_test.extend(cut);
        }
        self.out_rows.insert(t, row);
        Ok(row)
    }

    /// The row of a result that the innermost loop writes.
    pub(super) fn out_row(&mut self, t: Term, loops: &[usize]) -> usize {
        if let Some(&row) = self.out_rows.get(&t) {
            return row;
        }
        let of = self.arg_names[&t].clone();
        let outer: Vec<usize> = loops[..loops.len() - 1].to_vec();
        let n = self.extent(self.depth - 1).tokens;
        // If an enclosing loop determines the length of the row, the slice is taken in that loop.
        let known = if let NestRange::Ragged(end) = *self.part { self.level(end) } else { 0 };
        let level = outer.iter().max().map_or(known, |v| known.max(v + 1));
        let row = self.new_row(&of, outer.is_empty(), (true, level, false));
        let name = self.row_list[row].name.clone();
        if let NestRange::Interior(low) = self.part {
            let low = self.style.lit(Lit::Int(IntTy::Usize, *low));
            let (start, level) = self.row_start(&outer, loops);
            let start = start.map_or(low.clone(), |s| s.plus(&low)).at(prec::ADD);
            self.push(level, 0, &quote!(let #name = &mut #of[#start..][..#n];));
        } else if outer.is_empty() {
            self.push(level, 0, &quote!(let #name = &mut #of[..#n];));
        } else {
            let (start, first) = self.row_start(&outer, loops);
            let start = start.map(|s| s.tokens);
            self.push(first.max(level), 0, &quote!(let #name = &mut #of[#start..][..#n];));
        }
        self.out_rows.insert(t, row);
        row
    }

    /// The start of a row of a result, and the loop in which it is known.
    fn row_start(&mut self, outer: &[usize], loops: &[usize]) -> (Option<Expr>, usize) {
        if outer.is_empty() {
            return (None, 0);
        }
        let ix: Vec<Expr> = outer.iter().map(|&v| self.var(v)).collect();
        let sizes: Vec<Term> = loops.iter().map(|&v| self.k.loops[v]).collect();
        let rows = self.linear(&ix, &sizes[..outer.len()], true);
        let m = self.arg(sizes[outer.len()]);
        (Some(rows.times(&m)), outer.iter().max().map_or(0, |v| v + 1))
    }
}

/// Adds or puts a value into a place.
pub(super) fn put_into(put: Put, place: &TokenStream, value: &TokenStream) -> TokenStream {
    match put {
        Put::Add => quote!(#place += #value;),
        Put::Set => quote!(#place = #value;),
    }
}
