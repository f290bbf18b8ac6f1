// What belongs together: a place in the source and the terms that came of it, in every text.
//
// Each text is cut where a mark begins or ends. A piece belongs to the innermost mark around it.
// Hovering over a piece marks the pieces of the same place, and those of the same term; a click
// keeps that until the next one.

const links = {
  texts: [],
  pinned: null,

  // Cuts a text at its marks, and adds the pieces to an element. A mark is
  // { from, to, places: [..], terms: [".."] }.
  show(element, text, marks) {
    const cuts = [...new Set([0, text.length, ...marks.flatMap((m) => [m.from, m.to])])].sort(
      (a, b) => a - b,
    );
    const inside = [];
    const order = marks
      .map((m, k) => ({ ...m, k }))
      .sort((a, b) => a.from - b.from || b.to - a.to || a.k - b.k);
    let next = 0;
    const pieces = [];
    for (let c = 0; c + 1 < cuts.length; c += 1) {
      const at = cuts[c];
      while (next < order.length && order[next].from <= at) inside.push(order[next++]);
      const open = inside.filter((m) => m.to > at);
      inside.length = 0;
      inside.push(...open);
      const part = document.createElement("span");
      part.textContent = text.slice(at, cuts[c + 1]);
      let own = null;
      for (const m of open) if (!own || m.to - m.from <= own.to - own.from) own = m;
      if (own) {
        part.className = "part";
        part.piece = {
          part,
          places: own.places,
          terms: own.terms,
          around: open.map((m) => m.places[0]),
        };
        pieces.push(part.piece);
      }
      element.append(part);
    }
    return pieces;
  },

  // The pieces of one text. `source` says whether it is the user's.
  add(pieces, source) {
    const text = { pieces, source };
    links.texts.push(text);
    for (const piece of pieces) {
      piece.text = text;
      piece.part.addEventListener("mouseenter", () => links.mark(piece));
      piece.part.addEventListener("mouseleave", () => links.mark(links.pinned));
      piece.part.addEventListener("click", (event) => {
        event.stopPropagation();
        links.pin(links.pinned === piece ? null : piece);
      });
    }
    return text;
  },

  forget(text) {
    links.texts = links.texts.filter((t) => t !== text);
    if (links.pinned && links.pinned.text === text) links.pin(null);
  },

  pin(piece) {
    links.pinned = piece;
    links.mark(piece);
    for (const text of links.texts) {
      for (const p of text.pieces) p.part.classList.toggle("pinned", p === piece);
      const first =
        piece && text !== piece.text && text.pieces.find((p) => p.part.classList.contains("on"));
      if (first) {
        const box = first.part.closest("pre, .elsewhere");
        if (box) {
          const [a, b] = [first.part.getBoundingClientRect(), box.getBoundingClientRect()];
          box.scrollTop += a.top - b.top - b.height / 3;
          box.scrollLeft += Math.min(0, a.left - b.left - 20) + Math.max(0, a.right - b.right + 20);
        }
      }
    }
  },

  mark(piece) {
    const own = new Set(piece ? piece.places : []);
    const inner = new Set(piece ? [...own].flatMap((p) => places.within[p] ?? []) : []);
    const terms = new Set(piece ? piece.terms : []);
    for (const text of links.texts) {
      for (const p of text.pieces) {
        const on = text.source
          ? p.around.some((place) => own.has(place))
          : p.places.some((place) => own.has(place));
        const within =
          !on && piece && piece.text.source && p.places.some((place) => inner.has(place));
        const same = !on && p.terms.some((t) => terms.has(t)) && !text.source;
        p.part.classList.toggle("on", on);
        p.part.classList.toggle("inner", Boolean(within));
        p.part.classList.toggle("same", same && !within);
      }
    }
    places.describe(piece);
  },
};
