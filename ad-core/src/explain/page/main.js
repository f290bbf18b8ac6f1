// The frame of the page: its title, and its views.

const VIEWS = [
  { title: "Stages", show: stagesView },
  { title: "Data flow", show: graphView },
  { title: "Costs", show: costsView },
  { title: "Rules", show: rulesView },
];

function showView(title) {
  const view = VIEWS.find((v) => v.title === title) ?? VIEWS[0];
  document.getElementById("view").replaceChildren(view.show());
  for (const button of document.querySelectorAll("#views button")) {
    button.setAttribute("aria-pressed", String(button.textContent === view.title));
  }
}

document.getElementById("name").textContent = data.name;
document.getElementById("about").textContent = [
  data.source ? `${data.source.file}, line ${data.source.line}` : "",
  `mode ${data.mode}`,
  data.derivatives.join(", "),
]
  .filter(Boolean)
  .join(" · ");
for (const view of VIEWS) {
  const button = element("button", "", view.title);
  button.addEventListener("click", () => showView(view.title));
  document.getElementById("views").append(button);
}
showView("Stages");
