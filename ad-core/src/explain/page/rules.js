// The rules that fired, with the terms before and after.

function rulesView() {
  const view = element("div", "sheet rules");
  view.append(element("h2", "", "Rules that fired"));
  view.append(
    element(
      "p",
      "faint",
      "A term is shown down to three operations; below that it is a number, which is the same everywhere on this page. Numbers, inputs and sizes have their names.",
    ),
  );
  const bar = element("div", "bar");
  bar.style.paddingLeft = "0";
  const choose = element("select");
  choose.id = "routine";
  choose.setAttribute("aria-label", "Routine");
  const routine = (r) => [r.subject, r.routine].filter(Boolean).join(" › ");
  const names = [...new Set(data.rewrites.map(routine))];
  choose.append(new Option("all routines", ""));
  for (const name of names) choose.append(new Option(name, name));
  const search = element("input");
  search.type = "search";
  search.placeholder = "part of a rule or a term";
  search.setAttribute("aria-label", "Search the rules");
  const count = element("span", "hint");
  bar.append(choose, search, count);
  const list = element("div");
  view.append(bar, list);

  const fill = () => {
    const text = search.value.toLowerCase();
    const found = data.rewrites.filter(
      (r) =>
        (choose.value === "" || routine(r) === choose.value) &&
        [r.rule, r.pass, r.before, r.after].some((part) => part.toLowerCase().includes(text)),
    );
    const times = found.reduce((sum, r) => sum + r.times, 0);
    count.textContent = `${times} rewrites`;
    const passes = [];
    for (const r of found) {
      const last = passes[passes.length - 1];
      if (last && last.pass === r.pass && last.routine === routine(r)) last.all.push(r);
      else passes.push({ pass: r.pass, routine: routine(r), all: [r] });
    }
    list.replaceChildren(...passes.map((pass) => passOf(pass, passes.length <= 12 || text !== "")));
    if (found.length === 0) list.append(element("p", "faint", "No rule fired."));
  };
  choose.addEventListener("change", fill);
  search.addEventListener("input", fill);
  fill();
  return view;
}

function passOf(pass, open) {
  const box = element("details");
  box.open = open;
  const head = element("summary");
  head.append(element("strong", "", pass.pass), ` in ${pass.routine}`);
  head.append(element("span", "count", `${pass.all.reduce((sum, r) => sum + r.times, 0)} ×`));
  box.append(head);
  // Long lists are made when they are opened.
  const fill = () => {
    if (box.querySelector("table")) return;
    const table = element("table", "wide");
    const names = element("tr");
    for (const name of ["Rule", "Before", "After", "Came of"])
      names.append(element("th", "", name));
    table.append(names);
    for (const r of pass.all) {
      const row = element("tr");
      const rule = element("td");
      rule.append(element("code", "", r.rule), r.times > 1 ? ` ${r.times} ×` : "");
      row.append(
        rule,
        element("td", "before", r.before),
        element("td", "after", r.after || "nothing"),
      );
      row.append(
        element("td", "place", [...new Set(r.places.map(places.text))].slice(0, 3).join(", ")),
      );
      table.append(row);
    }
    box.append(table);
  };
  if (open) fill();
  box.addEventListener("toggle", fill);
  return box;
}
