// Operations and memory: formulas of the sizes, and their values for the sizes that are filled in.
//
// A formula is a number, { size }, { unknown } or { op, args }.

// The sizes that are filled in: the same in all views.
const filled = new Map();

function value(formula) {
  if (typeof formula === "number") return formula;
  if (formula.size !== undefined) return filled.get(formula.size);
  if (formula.unknown !== undefined) return filled.get(formula.unknown);
  const [first, ...rest] = formula.args.map(value);
  switch (formula.op) {
    case "+":
      return rest.reduce((a, b) => a + b, first);
    case "-":
      return Math.max(
        0,
        rest.reduce((a, b) => a - b, first),
      );
    case "*":
      return rest.reduce((a, b) => a * b, first);
    case "/":
      return rest[0] === 0 ? 0 : Math.floor(first / rest[0]);
    case "%":
      return rest[0] === 0 ? 0 : first % rest[0];
    case "min":
      return Math.min(first, ...rest);
    case "max":
      return Math.max(first, ...rest);
    default:
      return NaN;
  }
}

// The formula as text; a product of numbers is one number.
function written(formula, inside) {
  if (typeof formula === "number") return String(formula);
  if (formula.size !== undefined) return formula.size;
  if (formula.unknown !== undefined) return `⟨${formula.unknown}⟩`;
  if (formula.op === "min" || formula.op === "max") {
    return `${formula.op}(${formula.args.map((a) => written(a, "")).join(", ")})`;
  }
  if (formula.op === "*") {
    const numbers = formula.args.filter((a) => typeof a === "number");
    const others = formula.args.filter((a) => typeof a !== "number");
    const number = numbers.reduce((a, b) => a * b, 1);
    const all = [
      ...(number !== 1 || others.length === 0 ? [String(number)] : []),
      ...others.map((a) => written(a, "*")),
    ];
    const text = all.join(" · ");
    return inside === "^" && all.length > 1 ? `(${text})` : text;
  }
  const text = formula.args
    .map((a) => written(a, "+"))
    .join(` ${formula.op === "-" ? "−" : formula.op} `);
  return inside === "" ? text : `(${text})`;
}

// The names in a formula, into a map from the name to whether it is a size.
function namesIn(formula, into) {
  if (typeof formula === "number") return;
  if (formula.size !== undefined) into.set(formula.size, true);
  else if (formula.unknown !== undefined) into.set(formula.unknown, false);
  else formula.args.forEach((a) => namesIn(a, into));
}

const product = (...args) => ({ op: "*", args: args.flat() });

function short(n) {
  if (!Number.isFinite(n)) return "?";
  if (n < 10000) return String(Math.round(n));
  const names = [
    [1e12, "T"],
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ];
  const [unit, name] = names.find(([u]) => n >= u);
  return `${(n / unit).toPrecision(3)} ${name}`;
}

const bytes = (n) => `${short(n)}B`.replace(/(\d)B$/, "$1 B");

// The operations of one statement, as terms of a sum: one for each number of times.
function operations(statement, kind) {
  const sums = new Map();
  for (const c of statement.counts ?? []) {
    if (c[kind] === 0) continue;
    const key = JSON.stringify(c.times);
    sums.set(key, { times: c.times, count: (sums.get(key)?.count ?? 0) + c[kind] });
  }
  return [...sums.values()].map((s) => product(s.count, s.times, statement.runs));
}

const KINDS = [
  {
    name: "arithmetic",
    title: "+ − ×",
    what: "Additions, subtractions, products and other cheap operations on real numbers. A fused multiply-add counts as two.",
  },
  { name: "divisions", title: "÷ √", what: "Divisions and square roots." },
  {
    name: "functions",
    title: "Functions",
    what: "Exponentials, logarithms, sines and other expensive functions.",
  },
];

const PARTS = { function: "function", derivative: "derivative", both: "both" };

function costsView() {
  const view = element("div", "sheet costs");
  if (data.routines.length === 0) {
    view.append(element("p", "", "No routine of this function was planned."));
    return view;
  }
  view.append(element("h2", "", "Operations and memory"));
  view.append(
    element(
      "p",
      "faint",
      "As the plan has them: each branch as if it were taken, and each loop with its greatest number of steps. Work on indices is not counted. Arrays are those that statements store; where one takes over the memory of an array that is not read any more, both are counted.",
    ),
  );
  const choose = routineChoice(() => fill());
  const sizes = element("form", "sizes");
  sizes.addEventListener("submit", (event) => event.preventDefault());
  const sums = element("div");
  const table = element("div");
  view.append(choose, sizes, sums, table);

  const routine = () => data.routines[Number(choose.querySelector("select").value)];
  const numbers = () => {
    sums.replaceChildren(totals(routine()));
    for (const cell of table.querySelectorAll("[data-formula]")) {
      const n = value(cell.formula);
      cell.textContent = cell.dataset.formula === "bytes" ? bytes(n) : short(n);
    }
  };
  const fill = () => {
    sizes.replaceChildren(...fields(routine(), numbers));
    table.replaceChildren(statements(routine()));
    numbers();
  };
  fill();
  return view;
}

function routineChoice(changed) {
  const label = element("label", "bar");
  label.style.paddingLeft = "0";
  const select = element("select");
  select.id = "of";
  data.routines.forEach((r, k) =>
    select.append(new Option([r.subject, r.name].filter(Boolean).join(" › "), String(k))),
  );
  select.addEventListener("change", changed);
  label.append("Routine ", select);
  return label;
}

// A field for each size, and for each number that only a call knows.
function fields(routine, changed) {
  const names = new Map();
  for (const s of routine.statements) {
    for (const c of s.counts ?? []) c.times.forEach((f) => namesIn(f, names));
    s.runs.forEach((f) => namesIn(f, names));
    s.memory.forEach((m) => namesIn(m.bytes, names));
  }
  return [...names]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, isSize]) => {
      if (!filled.has(name)) filled.set(name, isSize ? 100 : 10);
      const label = element("label", "", isSize ? name : `⟨${name}⟩`);
      if (!isSize) label.title = "Known only when the function is called.";
      const input = element("input");
      input.type = "number";
      input.min = "0";
      input.value = String(filled.get(name));
      input.addEventListener("input", () => {
        const n = Number(input.value);
        if (input.value === "" || !(n >= 0)) return;
        filled.set(name, n);
        changed();
      });
      label.append(input);
      return label;
    });
}

// The sums of the function's part and of the derivative's.
function totals(routine) {
  const rows = new Map();
  let uncounted = 0;
  for (const s of routine.statements) {
    if (s.counts === null) uncounted += 1;
    if (
      s.part === null &&
      s.memory.length === 0 &&
      KINDS.every((k) => operations(s, k.name).length === 0)
    )
      continue;
    const part = s.part === null ? "not told apart" : PARTS[s.part];
    const row = rows.get(part) ?? { arithmetic: 0, divisions: 0, functions: 0, memory: 0 };
    for (const kind of KINDS)
      row[kind.name] += operations(s, kind.name).reduce((sum, f) => sum + value(f), 0);
    row.memory += s.memory.reduce((sum, m) => sum + value(m.bytes), 0);
    rows.set(part, row);
  }
  const box = element("div");
  const table = element("table", "totals");
  const head = element("tr");
  head.append(
    element("th", "", "Statements of"),
    ...KINDS.map((k) => titled("th", k.title, k.what)),
    titled("th", "Memory", "Bytes of the arrays that are stored."),
  );
  table.append(head);
  const all = { arithmetic: 0, divisions: 0, functions: 0, memory: 0 };
  const order = ["function", "both", "derivative", "not told apart"].filter((p) => rows.has(p));
  for (const part of order) {
    const row = rows.get(part);
    for (const key of Object.keys(all)) all[key] += row[key];
    table.append(totalRow(part === "both" ? "both at once" : part, row, ""));
  }
  if (order.length > 1) table.append(totalRow("all", all, "sum"));
  box.append(table);
  if (uncounted > 0) {
    box.append(
      element(
        "p",
        "faint",
        `${uncounted === 1 ? "One statement is" : `${uncounted} statements are`} not counted: calls, and kernels of which the compiler has no count.`,
      ),
    );
  }
  return box;
}

function totalRow(name, row, kind) {
  const tr = element("tr", kind);
  tr.dataset.part = name;
  tr.append(
    element("td", "", name),
    ...KINDS.map((k) => element("td", "number", short(row[k.name]))),
    element("td", "number", bytes(row.memory)),
  );
  return tr;
}

function titled(tag, text, what) {
  const made = element(tag, "number", text);
  made.title = what;
  return made;
}

// A row for each statement: formulas, and their values.
function statements(routine) {
  const table = element("table", "statements");
  const head = element("tr");
  head.append(
    element("th", "", "Statement"),
    element("th", "", "Part"),
    element("th", "", "Operations"),
    element("th", ""),
    element("th", "", "Memory"),
    element("th", ""),
  );
  table.append(head);
  const depth = new Map();
  for (const s of routine.statements) {
    depth.set(s.number, s.inside === null ? 0 : depth.get(s.inside) + 1);
    const nothing =
      s.counts !== null &&
      KINDS.every((k) => operations(s, k.name).length === 0) &&
      s.memory.length === 0;
    if (s.kind === "check" || (nothing && s.kind !== "loop")) continue;
    const row = element("tr");
    const name = element("td");
    name.style.paddingLeft = `${depth.get(s.number) * 1.4}rem`;
    name.append(
      `${s.number}  `,
      element("code", "", s.name),
      ` ${s.kind === "loop" ? "a loop of " + written(s.steps, "") + " steps" : ""}`,
    );
    if (s.guarded) name.append(element("span", "faint", " under a condition"));
    name.title = [...new Set(s.places.map(places.text))].slice(0, 5).join("\n");
    row.append(name, element("td", `part-${s.part}`, s.part === null ? "" : PARTS[s.part]));
    const formulas = element("td", "formula");
    const values = element("td", "number");
    if (s.counts === null) formulas.append(element("span", "faint", "not counted"));
    for (const kind of KINDS) {
      for (const f of operations(s, kind.name)) {
        const line = element("div", "", written(f, ""));
        line.append(element("span", "faint", kind.name === "arithmetic" ? "" : ` ${kind.name}`));
        formulas.append(line);
        values.append(valueCell(f, "operations"));
      }
    }
    const memory = element("td", "formula");
    const sizes = element("td", "number");
    for (const m of s.memory) {
      memory.append(element("div", "", written(m.bytes, "")));
      sizes.append(valueCell(m.bytes, "bytes"));
    }
    row.append(formulas, values, memory, sizes);
    table.append(row);
  }
  return table;
}

function valueCell(formula, unit) {
  const cell = element("div");
  cell.dataset.formula = unit;
  cell.formula = formula;
  return cell;
}
