// Drives the page in headless Chromium: the curve comes to the points, follows one that is dragged,
// and points are added and removed.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const shots = process.env.SHOTS;
if (shots) mkdirSync(shots, { recursive: true });

const cargo = process.env.CARGO_ARGS ? process.env.CARGO_ARGS.split(" ") : [];
const file = execFileSync("cargo", [...cargo, "run", "-q", "--release", "-p", "ad-browser"], {
  cwd: root,
})
  .toString()
  .trim();

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

async function visit(colorScheme, viewport) {
  const page = await browser.newPage({ colorScheme, viewport });
  const wrong = [];
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("request", (request) => {
    const local = /^(file|data|blob):/.test(request.url());
    if (!local) wrong.push(`asks the network for ${request.url()}`);
  });
  await page.goto(`file://${file}`);
  await page.waitForFunction(() => window.fit !== undefined);
  return { page, wrong };
}
const loss = (page) => page.$eval("#loss", (e) => Number(e.textContent));
const fits = (page, limit) =>
  page.waitForFunction(
    (limit) => Number(document.getElementById("loss").textContent) < limit,
    limit,
    { timeout: 60_000 },
  );
const shot = async (page, name) => {
  if (shots) await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
};

const { page, wrong } = await visit("light", { width: 1200, height: 900 });
await fits(page, 1e-3);
await shot(page, "fitted");

// A point is dragged up, and the curve follows.
const place = (k) =>
  page.evaluate((k) => {
    const { left, top, width, height } = document.getElementById("curve").getBoundingClientRect();
    return [
      left + ((window.fit.point_x(k) + 1.15) / 2.3) * width,
      top + ((1.15 - window.fit.point_y(k)) / 2.3) * height,
    ];
  }, k);
const [x, y] = await place(6);
const before = await page.evaluate(() => window.fit.point_y(6));
await page.mouse.move(x, y);
await page.mouse.down();
await page.mouse.move(x + 4, y - 150, { steps: 5 });
await shot(page, "dragged");
await page.mouse.up();
const after = await page.evaluate(() => window.fit.point_y(6));
assert.ok(after > before + 0.3, `the point went from ${before} to ${after}`);
await page.waitForFunction(
  () => Math.abs(window.fit.curve(window.fit.point_x(6)) - window.fit.point_y(6)) < 0.1,
  null,
  { timeout: 60_000 },
);
await shot(page, "followed");

// A click adds a point, a double click removes it.
const box = await page.locator("#curve").boundingBox();
const count = () => page.evaluate(() => window.fit.points());
const many = await count();
const corner = [box.x + 0.9 * box.width, box.y + 0.1 * box.height];
await page.mouse.click(...corner);
assert.equal(await count(), many + 1);
await page.mouse.dblclick(...corner);
assert.equal(await count(), many);

// The controls do what they say.
await page.fill("#units", "3");
assert.equal(await page.$eval("#units-now", (e) => e.value), "3");
await page.waitForFunction(() => document.getElementById("parameters").textContent === "10");
await page.click("#pause");
const still = await page.$eval("#steps", (e) => e.textContent);
await page.waitForTimeout(150);
assert.equal(await page.$eval("#steps", (e) => e.textContent), still);
assert.ok(Number.isFinite(await loss(page)));
assert.deepEqual(wrong, []);

const narrow = await visit("dark", { width: 420, height: 900 });
await fits(narrow.page, 5e-3);
await shot(narrow.page, "narrow");
const wide = await narrow.page.evaluate(() => document.documentElement.scrollWidth);
assert.ok(wide <= 420, `the page is ${wide} wide`);
assert.deepEqual(narrow.wrong, []);

await browser.close();
console.log("the page fits, follows, adds, removes");
