// The data flow of a routine: its statements, what each reads, what is stored, and what the
// derivative reads of the function. A loop is a box around its statements.

const SVG = (() => {
  const sample = document.createElement("template");
  sample.innerHTML = "<svg></svg>";
  return sample.content.firstChild.namespaceURI;
})();
const GAP = { x: 26, y: 40, inside: 22 };

function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, text] of Object.entries(attributes)) made.setAttribute(name, text);
  made.append(...children);
  return made;
}

function graphView() {
  const view = element("div", "graph");
  if (data.routines.length === 0) {
    view.append(element("p", "note", "No routine of this function was planned."));
    return view;
  }
  const bar = element("div", "bar");
  const box = element("div", "drawing");
  const choose = routineChoice(() => draw());
  const legend = element("div", "legend");
  for (const [kind, text] of [
    ["function", "of the function"],
    ["derivative", "of the derivative"],
    ["both", "of both"],
    ["saved", "of the function, and the derivative reads it"],
    ["stored", "stored in memory (filled)"],
  ]) {
    const item = element("span", "key");
    item.append(element("i", kind), text);
    legend.append(item);
  }
  bar.append(choose, legend);
  view.append(bar, box);
  const draw = () => {
    const routine = data.routines[Number(choose.querySelector("select").value)];
    box.replaceChildren(drawing(routine));
  };
  draw();
  places.describe(null);
  return view;
}

// The nodes: inputs, statements, the states of loops. Checks are left out.
function nodesOf(routine) {
  const nodes = new Map();
  const node = (key, more) =>
    nodes.set(key, { key, reads: [], inside: null, children: [], ...more });
  for (const s of routine.statements) {
    // Sizes and indices are left out.
    if (s.kind === "check" || (s.kind === "number" && s.part === null && !s.result)) continue;
    const inside = s.inside === null ? null : `box${s.inside}`;
    if (s.kind === "loop") {
      node(`box${s.number}`, {
        kind: "loop",
        statement: s,
        inside,
        title: `loop of ${written(s.steps, "")} steps`,
      });
      node(`s${s.number}`, {
        kind: "state",
        statement: s,
        inside: `box${s.number}`,
        title: s.name || "steps",
      });
    } else {
      node(`s${s.number}`, { kind: s.kind, statement: s, inside, title: s.name });
    }
  }
  for (const s of routine.statements) {
    const own = nodes.get(`s${s.number}`);
    if (!own) continue;
    for (const read of s.reads) {
      let key = `s${read.statement}`;
      if (read.input !== undefined) {
        key = `in ${read.input}`;
        if (!nodes.has(key)) node(key, { kind: "input", statement: null, title: read.input });
      }
      if (nodes.has(key) && key !== own.key) own.reads.push(key);
    }
  }
  for (const n of nodes.values()) if (n.inside !== null) nodes.get(n.inside).children.push(n);
  // What only checks read is left out.
  for (let size = -1; size !== nodes.size;) {
    size = nodes.size;
    const used = new Set([...nodes.values()].flatMap((n) => n.reads));
    for (const [key, n] of nodes) {
      const stays = n.kind === "loop" || n.kind === "state" || n.inside !== null || used.has(key);
      if (!stays && !(n.statement && n.statement.result)) nodes.delete(key);
    }
  }
  return nodes;
}

// Layers from top to bottom: a node is below all that it reads. Boxes are laid out first.
function layOut(children, nodes) {
  const own = new Set(children.map((n) => n.key));
  const lifted = (key) => {
    let n = nodes.get(key);
    while (n && !own.has(n.key)) n = n.inside === null ? null : nodes.get(n.inside);
    return n;
  };
  const above = new Map(children.map((n) => [n.key, new Set()]));
  const collect = (n, of) => {
    for (const key of n.reads) {
      const from = lifted(key);
      if (from && from.key !== of) above.get(of).add(from.key);
    }
    n.children.forEach((c) => nodes.has(c.key) && collect(c, of));
  };
  for (const n of children) collect(n, n.key);
  const layer = new Map();
  const visiting = new Set();
  const layerOf = (key) => {
    if (layer.has(key)) return layer.get(key);
    if (visiting.has(key)) return 0;
    visiting.add(key);
    const top = [...above.get(key)].reduce((most, k) => Math.max(most, layerOf(k) + 1), 0);
    visiting.delete(key);
    layer.set(key, top);
    return top;
  };
  children.forEach((n) => layerOf(n.key));
  const layers = [];
  for (const n of children) {
    // An input stands right above its first reader.
    let at = layer.get(n.key);
    if (n.kind === "input") {
      const readers = children
        .filter((r) => above.get(r.key).has(n.key))
        .map((r) => layer.get(r.key));
      if (readers.length > 0) at = Math.max(0, Math.min(...readers) - 1);
      layer.set(n.key, at);
    }
    (layers[at] ??= []).push(n);
  }
  for (const n of children) {
    if (n.kind === "loop") {
      const inner = layOut(
        n.children.filter((c) => nodes.has(c.key)),
        nodes,
      );
      n.width = Math.max(inner.width + 2 * GAP.inside, n.title.length * 7.2 + 30);
      n.height = inner.height + 2 * GAP.inside + 18;
    } else {
      const lines = linesOf(n);
      n.width = Math.max(54, ...lines.map((l) => l.length * (l === lines[0] ? 7.4 : 6.6) + 22));
      n.height = 16 + 16 * lines.length;
    }
  }
  const position = new Map();
  const filledLayers = layers.filter(Boolean);
  const place = () =>
    filledLayers.forEach((row) => {
      let x = 0;
      const total = row.reduce((sum, n) => sum + n.width + GAP.x, -GAP.x);
      for (const n of row) {
        position.set(n.key, x + n.width / 2 - total / 2);
        x += n.width + GAP.x;
      }
    });
  place();
  const below = new Map(children.map((n) => [n.key, []]));
  for (const [key, all] of above) for (const k of all) below.get(k).push(key);
  for (let round = 0; round < 6; round += 1) {
    const near = (n) => {
      const all = round % 2 === 0 ? [...above.get(n.key)] : below.get(n.key);
      return all.length === 0
        ? position.get(n.key)
        : all.reduce((sum, k) => sum + position.get(k), 0) / all.length;
    };
    for (const row of filledLayers) {
      const wanted = new Map(row.map((n, k) => [n.key, [near(n), k]]));
      row.sort(
        (a, b) =>
          wanted.get(a.key)[0] - wanted.get(b.key)[0] ||
          wanted.get(a.key)[1] - wanted.get(b.key)[1],
      );
    }
    place();
  }
  const width = Math.max(
    0,
    ...filledLayers.map((row) => row.reduce((sum, n) => sum + n.width + GAP.x, -GAP.x)),
  );
  let y = 0;
  for (const row of filledLayers) {
    const height = Math.max(...row.map((n) => n.height));
    for (const n of row) {
      n.x = position.get(n.key) - n.width / 2 + width / 2;
      n.y = y + (height - n.height) / 2;
    }
    y += height + GAP.y;
  }
  return { width, height: Math.max(0, y - GAP.y) };
}

// What stands in a node.
function linesOf(n) {
  if (n.kind === "input") return [n.title];
  const lines = [n.title.length > 34 ? `${n.title.slice(0, 32)}…` : n.title];
  for (const m of n.statement.memory) {
    const text = `${written(m.bytes, "")} B`;
    lines.push(text.length > 44 ? `${text.slice(0, 42)}…` : text);
  }
  return lines.slice(0, 4);
}

function drawing(routine) {
  const nodes = nodesOf(routine);
  const top = [...nodes.values()].filter((n) => n.inside === null);
  const size = layOut(top, nodes);
  const readByDerivative = new Set();
  for (const n of nodes.values()) {
    if (n.statement && n.statement.part === "derivative")
      n.reads.forEach((key) => readByDerivative.add(key));
  }
  const margin = 24;
  const picture = svg("svg", {
    width: size.width + 2 * margin,
    height: size.height + 2 * margin,
    viewBox: `${-margin} ${-margin} ${size.width + 2 * margin} ${size.height + 2 * margin}`,
    role: "img",
    "aria-label": `Data flow of ${routine.name}`,
  });
  const tip = svg("marker", {
    id: "tip",
    viewBox: "0 0 8 8",
    refX: 7,
    refY: 4,
    markerWidth: 7,
    markerHeight: 7,
    orient: "auto",
  });
  tip.append(svg("path", { d: "M0 0 L8 4 L0 8 z", class: "tip" }));
  const defs = svg("defs", {}, tip);
  const boxes = svg("g", {});
  const edges = svg("g", { class: "edges" });
  const shapes = svg("g", {});
  picture.append(defs, boxes, edges, shapes);

  // Positions in the whole picture.
  const settle = (all, dx, dy) => {
    for (const n of all) {
      n.x += dx;
      n.y += dy;
      if (n.kind === "loop") {
        const inner = n.children.filter((c) => nodes.has(c.key));
        const width =
          Math.max(0, ...inner.map((c) => c.x + c.width)) - Math.min(0, ...inner.map((c) => c.x));
        settle(inner, n.x + (n.width - width) / 2, n.y + GAP.inside + 18);
      }
    }
  };
  settle(top, 0, 0);
  for (const n of nodes.values()) {
    if (n.kind === "loop") {
      boxes.append(
        svg("rect", { x: n.x, y: n.y, width: n.width, height: n.height, rx: 10, class: "box" }),
      );
      const title = svg("text", { x: n.x + 12, y: n.y + 17, class: "title" });
      title.textContent = n.title;
      boxes.append(title);
    }
  }
  for (const n of nodes.values()) {
    for (const key of n.reads) {
      const from = nodes.get(key);
      const [x1, y1, x2, y2] = [
        from.x + from.width / 2,
        from.y + from.height,
        n.x + n.width / 2,
        n.y,
      ];
      const bend = Math.max(18, Math.abs(y2 - y1) / 2);
      const saved =
        n.statement.part === "derivative" &&
        from.statement &&
        from.statement.part !== "derivative" &&
        from.statement.part !== null;
      const path = svg("path", {
        d: `M${x1} ${y1} C${x1} ${y1 + bend} ${x2} ${y2 - bend} ${x2} ${y2 - 1}`,
        class: saved ? "edge saved" : "edge",
        "marker-end": "url(#tip)",
      });
      path.dataset.from = key;
      path.dataset.to = n.key;
      edges.append(path);
    }
  }
  const names = (n) => {
    const all = ["node", n.kind];
    if (n.statement) {
      if (n.statement.part) all.push(`part-${n.statement.part}`);
      if (n.statement.memory.length > 0) all.push("stored");
      if (n.statement.part && n.statement.part !== "derivative" && readByDerivative.has(n.key))
        all.push("saved");
      if (n.statement.result) all.push("result");
    }
    return all.join(" ");
  };
  for (const n of nodes.values()) {
    if (n.kind === "loop") continue;
    const group = svg("g", { class: names(n), transform: `translate(${n.x} ${n.y})`, tabindex: 0 });
    group.dataset.key = n.key;
    group.append(
      svg("rect", {
        width: n.width,
        height: n.height,
        rx: n.kind === "input" || n.kind === "number" ? n.height / 2 : 6,
      }),
    );
    linesOf(n).forEach((line, k) => {
      const text = svg("text", {
        x: n.width / 2,
        y: 20 + 16 * k,
        class: k === 0 ? "name" : "bytes",
      });
      text.textContent = line;
      group.append(text);
    });
    const show = () => {
      for (const g of shapes.children)
        g.classList.toggle("far", g !== group && !isNear(n, nodes.get(g.dataset.key)));
      for (const e of edges.children)
        e.classList.toggle("near", e.dataset.from === n.key || e.dataset.to === n.key);
      picture.classList.add("pointed");
      if (n.statement)
        places.describe({
          places: n.statement.places,
          terms: n.statement.terms.map((t) => `:${t}`),
        });
    };
    const hide = () => {
      for (const g of shapes.children) g.classList.remove("far");
      for (const e of edges.children) e.classList.remove("near");
      picture.classList.remove("pointed");
      places.describe(null);
    };
    group.addEventListener("mouseenter", show);
    group.addEventListener("focus", show);
    group.addEventListener("mouseleave", hide);
    group.addEventListener("blur", hide);
    shapes.append(group);
  }
  return picture;
}

function isNear(n, other) {
  return other.reads.includes(n.key) || n.reads.includes(other.key);
}
