// The stages side by side.

// The places in the source. `within[p]` are the places inside of place p.
const places = {
  all: data.places,
  within: data.places.map((p) =>
    p.from === null
      ? []
      : data.places.flatMap((q, k) =>
          q !== p && q.from !== null && q.file === p.file && contains(p, q) ? [k] : [],
        ),
  ),

  text(k) {
    const place = places.all[k];
    return place.from === null ? place.text : `${place.text}  (line ${place.from[0]})`;
  },

  // Says in the last line of the page what is under the pointer.
  describe(piece) {
    const line = document.getElementById("status");
    line.replaceChildren();
    if (!piece) {
      line.textContent =
        "Point at an expression to see what came of it in every stage. A click keeps it marked.";
      return;
    }
    const names = [...new Set(piece.places.map(places.text))];
    if (piece.terms.length > 0) {
      const numbers = piece.terms.map((t) => `%${t.slice(t.indexOf(":") + 1)}`);
      line.append(numbers.slice(0, 6).join(" "), numbers.length > 6 ? " … " : " ");
      line.append(names.length > 0 ? " came of " : " has no place of its own in the source.");
    }
    names.slice(0, 4).forEach((name, k) => {
      const code = document.createElement("code");
      code.textContent = name;
      line.append(k > 0 ? ", " : "", code);
    });
    if (names.length > 4) line.append(` and ${names.length - 4} more`);
  },
};

function before(a, b) {
  return a[0] < b[0] || (a[0] === b[0] && a[1] <= b[1]);
}

function contains(p, q) {
  return (
    before(p.from, q.from) && before(q.to, p.to) && !(before(q.from, p.from) && before(p.to, q.to))
  );
}

// The derivatives of the function: each begins where differentiation does, and ends where the next
// one begins.
const derivatives = [];
for (const stage of data.stages) {
  stage.title = [stage.subject, stage.routine, stage.name]
    .filter((part) => part !== "")
    .join(" › ");
  if (stage.name === "differentiation" && stage.routine !== "function inside") {
    derivatives.push({
      title: [stage.subject, stage.routine].filter(Boolean).join(" › "),
      stages: [],
    });
  }
  if (derivatives.length > 0) derivatives[derivatives.length - 1].stages.push(stage);
}

const ofFunction = (name) =>
  data.stages.find((s) => s.subject === "" && s.routine === "function" && s.name === name);
const last = (list, name) => list.filter((s) => s.name === name).pop();

// The columns: a title, what it is, and the stage that it shows first.
const COLUMNS = [
  { title: "Source", what: "The function as you wrote it." },
  { title: "Core", what: "What the front end read.", stage: () => ofFunction("source") },
  { title: "Bulk", what: "After the pass that removes builds.", stage: () => ofFunction("bulk") },
  {
    title: "Derivative",
    what: "Value and derivative in one graph.",
    stage: (d) => d && d.stages.find((s) => s.name === "differentiation"),
  },
  {
    title: "Simplified",
    what: "After all passes.",
    stage: (d) => d && d.stages.find((s) => s.name === "result"),
  },
  {
    title: "Plan",
    what: "What is computed when, and what is stored.",
    stage: (d) => d && d.stages.find((s) => s.name === "schedule"),
  },
  {
    title: "Rust",
    what: "The code that is compiled.",
    stage: (d) => d && d.stages.find((s) => s.name === "Rust"),
  },
];

function stagesView() {
  const view = element("div", "stages");
  const bar = element("div", "bar");
  const panes = element("div", "panes");
  view.append(bar, panes);
  links.texts = [];
  links.pinned = null;

  const columns = COLUMNS.map((column) => paneOf(column));
  const choose = element("select");
  choose.setAttribute("aria-label", "Derivative");
  choose.id = "derivative";
  derivatives.forEach((d, k) => choose.append(new Option(d.title, String(k))));
  const fill = () => columns.forEach((c) => c.fill(derivatives[Number(choose.value)]));
  choose.addEventListener("change", fill);
  if (derivatives.length > 1) {
    const label = element("label");
    label.append("Derivative ", choose);
    bar.append(label);
  }
  const switches = element("div", "switches");
  for (const c of columns) {
    const button = element("button", "", c.column.title);
    button.title = c.column.what;
    button.setAttribute("aria-pressed", "true");
    button.addEventListener("click", () => {
      c.pane.hidden = !c.pane.hidden;
      button.setAttribute("aria-pressed", String(!c.pane.hidden));
    });
    switches.append(button);
  }
  bar.append(
    switches,
    element("span", "hint", "Yellow came of the same expression, blue is the same term."),
  );
  panes.append(...columns.map((c) => c.pane));
  fill();
  view.addEventListener("click", () => links.pin(null));
  places.describe(null);
  return view;
}

// A column, and the function that shows what it has for a derivative.
function paneOf(column) {
  const pane = element("section", "pane");
  pane.dataset.column = column.title;
  const head = element("header");
  const title = element("h2", "", column.title);
  title.title = column.what;
  head.append(title);
  pane.append(head);
  if (!column.stage) {
    return { column, pane, fill: () => pane.replaceChildren(head, ...sourceText()) };
  }
  const select = element("select");
  select.setAttribute("aria-label", `Stage in the column ${column.title}`);
  data.stages.forEach((s, k) => select.append(new Option(s.title, String(k))));
  head.append(select);
  let text = null;
  const show = (stage) => {
    if (text) links.forget(text);
    text = null;
    const rest = [];
    if (stage) {
      select.value = String(data.stages.indexOf(stage));
      const pre = element("pre");
      const marks = stage.marks.map(([from, to, terms, where]) => ({
        from,
        to,
        places: where,
        terms: terms.map((t) => `${stage.subject}:${t}`),
      }));
      text = links.add(links.show(pre, stage.text, marks), false);
      rest.push(pre);
    } else {
      select.selectedIndex = -1;
      rest.push(element("p", "note", "This stage changed nothing, or the function has none."));
    }
    pane.replaceChildren(head, ...rest);
  };
  select.addEventListener("change", () => show(data.stages[Number(select.value)]));
  return { column, pane, fill: (derivative) => show(column.stage(derivative)) };
}

// The user's text, and the places outside of it.
function sourceText() {
  const parts = [];
  const marked = [];
  if (data.source) {
    const lines = data.source.text.split("\n");
    const starts = [0];
    for (const line of lines) starts.push(starts[starts.length - 1] + line.length + 1);
    // Columns count characters; positions in a text count units of UTF-16.
    const at = ([line, column]) => {
      const k = line - data.source.line;
      return starts[k] + Array.from(lines[k]).slice(0, column).join("").length;
    };
    places.all.forEach((place, k) => {
      if (place.inside)
        marked.push({ from: at(place.from), to: at(place.to), places: [k], terms: [] });
    });
    const pre = element("pre");
    links.add(links.show(pre, data.source.text, marked), true);
    parts.push(pre);
  } else {
    parts.push(
      element("p", "note", "The tokens of this function stand in no file: a macro made them."),
    );
  }
  const outside = places.all.map((place, k) => ({ place, k })).filter(({ place }) => !place.inside);
  if (outside.length > 0) {
    const box = element("div", "elsewhere");
    box.append(element("h3", "", "Expressions of other functions"));
    const pieces = outside.map(({ place, k }) => {
      const part = element("code", "part", place.text);
      part.title = place.from === null ? "" : `${place.file}:${place.from[0]}`;
      box.append(part);
      return { part, places: [k], terms: [], around: [k] };
    });
    links.add(pieces, true);
    parts.push(box);
  }
  return parts;
}
