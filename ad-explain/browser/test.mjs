// Drives the pages of five functions in headless Chromium.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");
const folder = mkdtempSync(join(tmpdir(), "ad-explain-"));
const shots = process.env.SHOTS;
if (shots) mkdirSync(shots, { recursive: true });

// A file, its function, an expression of it, and what came of the expression in the stage of the
// front end.
const PAGES = [
  ["examples/tour/main.rs", "main.spring", "(x[i + 1] - x[i]).cosh()", "cosh"],
  ["examples/tour/main.rs", "main.probabilities", null, null],
  ["examples/rnn/main.rs", null, null, null],
  ["examples/digits/main.rs", null, null, null],
  ["tests/programs/runge_kutta.rs", null, null, null],
];

const cargo = process.env.CARGO_ARGS ? process.env.CARGO_ARGS.split(" ") : [];
const explain = (file, to) => {
  const out = execFileSync("cargo", [...cargo, "run", "-q", "-p", "ad-explain", "--", file, to], {
    cwd: root,
  });
  return out
    .toString()
    .trim()
    .split("\n")
    .filter((line) => !line.endsWith("index.html"));
};

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});

const marked = (page, column, kind = "on") =>
  page.$$eval(`[data-column="${column}"] pre .part.${kind}`, (all) =>
    all.map((e) => e.textContent).join(""),
  );

async function view(page, title) {
  await page.click(`#views button:text-is("${title}")`);
}

async function stages(page, expression, name) {
  // From a term to the source, and to every stage.
  const terms = await page.$$('[data-column="Core"] pre .part');
  let found = 0;
  for (const term of terms.slice(0, 40)) {
    await term.hover();
    if ((await marked(page, "Source")) !== "") found += 1;
  }
  assert.ok(found > 0, "no term marks the source");
  // From the source to the stages: each piece of it came to something in some stage.
  const pieces = await page.$$('[data-column="Source"] pre .part');
  let reached = 0;
  for (const piece of pieces.slice(0, 40)) {
    await piece.hover();
    const here = await page.$$eval(
      ".pane:not([data-column=Source]) pre .part.on",
      (all) => all.length,
    );
    if (here > 0) reached += 1;
  }
  assert.ok(reached > 0, "no expression marks a stage");
  if (expression) {
    const at = page.locator('[data-column="Source"] pre .part', { hasText: ").cosh()" }).first();
    await at.hover();
    assert.ok((await marked(page, "Source")).includes(expression.slice(-8)));
    assert.ok((await marked(page, "Core")).includes(name));
    for (const column of ["Bulk", "Derivative", "Simplified", "Plan", "Rust"]) {
      assert.notEqual(await marked(page, column), "", `nothing in ${column} came of ${expression}`);
    }
    await at.click();
    await page.mouse.move(5, 5);
    assert.ok((await marked(page, "Core")).includes(name), "a click keeps the marks");
    await at.click();
    await page.mouse.move(5, 5);
    assert.equal(await marked(page, "Core"), "", "a second click ends that");
  }
  // A column can show another stage, and can be hidden.
  const select = page.locator('[data-column="Core"] select');
  const before = await page.textContent('[data-column="Core"] pre');
  await select.selectOption({ index: 1 + Number(await select.inputValue()) });
  assert.notEqual(await page.textContent('[data-column="Core"] pre'), before);
  await page.click('.switches button:text-is("Plan")');
  assert.equal(await page.isVisible('[data-column="Plan"]'), false);
}

async function costs(page) {
  await view(page, "Costs");
  const total = () =>
    page.$$eval(".totals tr:last-child td", (cells) => cells.map((c) => c.textContent).join(" "));
  const fields = await page.$$(".sizes input");
  const small = await total();
  assert.ok(!small.includes("NaN") && !small.includes("?"), small);
  for (const field of fields) await field.fill("2000");
  if (fields.length > 0) assert.notEqual(await total(), small, "sizes change the sums");
  for (const field of fields) await field.fill("0");
  assert.ok(!(await total()).includes("NaN"));
  for (const field of fields) await field.fill("100");
  assert.equal(await total(), small, "the sums are functions of the sizes");
}

async function graph(page) {
  await view(page, "Data flow");
  const nodes = await page.$$eval(".drawing .node", (all) => all.length);
  const edges = await page.$$eval(".drawing .edge", (all) => all.length);
  assert.ok(nodes > 1 && edges > 0, `${nodes} nodes, ${edges} edges`);
  // No two nodes of a drawing overlap.
  const boxes = await page.$$eval(".drawing .node > rect", (all) =>
    all.map((r) => r.getBoundingClientRect().toJSON()),
  );
  for (const [k, a] of boxes.entries()) {
    for (const b of boxes.slice(k + 1)) {
      const apart =
        a.right <= b.left + 1 ||
        b.right <= a.left + 1 ||
        a.bottom <= b.top + 1 ||
        b.bottom <= a.top + 1;
      assert.ok(apart, "two nodes overlap");
    }
  }
}

async function rules(page) {
  await view(page, "Rules");
  const count = () => page.textContent(".rules .hint").then((text) => Number.parseInt(text, 10));
  const all = await count();
  await page.fill('.rules input[type="search"]', "no rule has this name");
  assert.equal(await count(), 0);
  await page.fill('.rules input[type="search"]', "");
  assert.equal(await count(), all);
}

const done = new Map();
for (const [file, wanted, expression, name] of PAGES) {
  if (!done.has(file)) done.set(file, explain(file, join(folder, String(done.size))));
  const all = done.get(file);
  const path = wanted ? all.find((p) => p.endsWith(`/${wanted}.html`)) : all[0];
  assert.ok(path, `${file} has no page ${wanted}`);
  const page = await browser.newPage({ viewport: { width: 1800, height: 950 } });
  const wrong = [];
  page.on("console", (message) => wrong.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => wrong.push(error.message));
  page.on("request", (request) => {
    if (!/^(file|data):/.test(request.url())) wrong.push(`asks for ${request.url()}`);
  });
  await page.goto(`file://${path}`);
  const shot = async (title) => {
    if (shots)
      await page.screenshot({ path: join(shots, `${path.split("/").pop()}.${title}.png`) });
  };
  await shot("stages");
  await stages(page, expression, name);
  await graph(page);
  await shot("graph");
  await costs(page);
  await shot("costs");
  await rules(page);
  await shot("rules");
  assert.deepEqual(wrong, []);
  console.log(`ok ${path.split("/").pop()}`);
  await page.close();
}
await browser.close();
rmSync(folder, { recursive: true });
