// What a person does, in Chromium, on a site of made-up models.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after, before } from "node:test";
import type { Browser, Page } from "playwright-core";
import { readDocument } from "../../src/document/read.ts";
import { numbersOf } from "../../src/parity.ts";
import { formatBytes } from "../../src/format/number.ts";
import { buildDecoder } from "../fixtures/build.ts";
import { MODELS, writeSingle, writeSite } from "../fixtures/site.ts";
import { launch, open, serve } from "./browser.ts";

let browser: Browser;
let site: string;
let server: Awaited<ReturnType<typeof serve>>;
const DESK = { width: 1440, height: 900 };

before(async () => {
  site = mkdtempSync(path.join(tmpdir(), "kcharter-site-"));
  writeSite(site);
  server = await serve(site);
  browser = await launch();
});
after(async () => {
  await browser?.close();
  server?.close();
});

const document = (name = "Wren-8B", mode = "decode") => `${server.url}/kcharter.html?doc=generated/${name}.${mode}.json`;
const box = (page: Page, name: string) => page.locator(`[data-box][data-name="${name}"]`);
const text = (page: Page, selector: string) => page.locator(selector).first().innerText();

test("from the cards to a leaf by mouse, back by keyboard", async () => {
  const { page, problems } = await open(browser, `${server.url}/index.html`, DESK);
  await page.getByRole("link", { name: /Wren-8B/ }).click();
  await page.locator("h1", { hasText: "Wren-8B" }).waitFor();
  for (const name of ["model", "layers", "Stage 0", "self_attn", "q_proj"]) await box(page, name).dblclick();
  await box(page, "MatMul").click();
  await page.locator(".drawer h2", { hasText: "MatMul" }).waitFor();
  assert.match(await text(page, ".drawer"), /537 M params|\[4096, 4096\] bf16/);
  assert.match(page.url(), /#model\.layers\.0\.self_attn\.q_proj/);
  await page.keyboard.press("Backspace");
  await page.locator(".here", { hasText: "self_attn" }).waitFor();
  assert.equal(await box(page, "q_proj").getAttribute("aria-pressed"), "true", "the module left is selected");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Escape");
  for (let i = 0; i < 3; ++i) await page.keyboard.press("Backspace");
  await page.locator(".here", { hasText: /^model$/ }).waitFor();
  assert.deepEqual(problems, []);
});

test("a drill by keyboard alone", async () => {
  const { page } = await open(browser, document(), DESK);
  await box(page, "model").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.locator(".here", { hasText: "model" }).waitFor();
  await page.keyboard.press("2");
  await page.locator("table").waitFor();
  await page.keyboard.press("1");
  await page.keyboard.press("/");
  await page.locator(".find-field:focus").waitFor();
  await page.keyboard.type("op:attention");
  await page.getByRole("option", { name: "Attention" }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.locator(".here", { hasText: "self_attn" }).waitFor();
  await page.locator(".drawer h2", { hasText: "Attention" }).waitFor();
});

test("every control changes the numbers to what the document's formulas give", async () => {
  const { page, problems } = await open(browser, document("Kestrel-27B"), DESK);
  const json = readFileSync(path.join(site, "generated/Kestrel-27B.decode.json"), "utf8");
  const parsed = readDocument(json, "k.json");
  const set = async (label: string, value: string) => {
    await page.getByLabel(label, { exact: true }).fill(value);
    await page.keyboard.press("Enter");
  };
  await set("Batch", "4");
  await set("Max length", "128k");
  await set("Current length", "5,000");
  const wanted = numbersOf(parsed, new Map([["batch_size", 4n], ["current_length", 5000n], ["max_length", 131072n]])).summary;
  const shown = await text(page, ".memory .rows");
  for (const name of ["weight_bytes", "kv_cache_bytes", "activation_peak_bytes", "total_bytes"] as const) {
    assert.ok(shown.includes(formatBytes(BigInt(wanted[name]!))), `${name}: ${wanted[name]} in ${shown}`);
  }
  assert.match(page.url(), /batch=4/);
  assert.match(page.url(), /seq=5000&?.*/);
  await page.reload();
  await page.locator(".memory .rows").waitFor();
  assert.equal(await text(page, ".memory .rows"), shown, "a reload lands in the same place");
  await page.getByLabel("Current length", { exact: true }).fill("200000");
  await page.keyboard.press("Enter");
  assert.equal(await page.getByLabel("Max length", { exact: true }).inputValue(), "200,000", "the other follows");
  await page.getByLabel("Batch", { exact: true }).fill("many");
  await page.keyboard.press("Enter");
  assert.match(await text(page, ".toast"), /not a whole number/);
  await page.getByRole("button", { name: "Prefill" }).click();
  await page.waitForURL(/prefill\.json/);
  await page.getByLabel("Device").selectOption("none");
  assert.equal(await page.locator("p.fits").count(), 0, "without a device there is no verdict");
  assert.deepEqual(problems, []);
});

test("any instance's path opens, and instances can be stepped through", async () => {
  const { page } = await open(browser, `${document()}#model.layers.7.self_attn&of=one`, DESK);
  await page.locator(".instance", { hasText: "8 of 32" }).waitFor();
  await page.getByRole("button", { name: "Next instance" }).click();
  await page.locator(".instance", { hasText: "9 of 32" }).waitFor();
  assert.match(page.url(), /#model\.layers\.8\.self_attn/);
  const missing = await open(browser, `${document()}#model.layers.77.x`, DESK);
  await missing.page.locator(".notice", { hasText: "model.layers.77.x" }).waitFor();
});

test("compare shows both and their difference; the address keeps it", async () => {
  const { page, problems } = await open(browser, document(), DESK);
  await box(page, "model").waitFor();
  await page.keyboard.press("c");
  await page.getByRole("button", { name: "Kestrel-27B" }).click();
  await page.locator("h1", { hasText: "Wren-8B vs Kestrel-27B" }).waitFor();
  await page.getByRole("button", { name: "Table" }).click();
  await page.locator("th", { hasText: "B − A" }).first().waitFor();
  await page.reload();
  await page.locator("h1", { hasText: "Wren-8B vs Kestrel-27B" }).waitFor();
  assert.deepEqual(problems, []);
});

test("exports: CSV with exact integers, SVG, PNG, Markdown", async () => {
  const { page } = await open(browser, document(), DESK);
  await box(page, "model").waitFor();
  const save = async (name: RegExp) => {
    await page.keyboard.press("e");
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name }).click()]);
    return readFileSync(await download.path());
  };
  assert.match(String(await save(/^CSV/)), /lm_head,.*1050673152/);
  assert.match(String(await save(/^SVG/)), /^<svg.*lm_head/s);
  assert.match(String(await save(/^Markdown/)), /# Wren-8B, decode[\s\S]*\| lm_head \|/);
  assert.equal((await save(/^PNG/)).subarray(1, 4).toString(), "PNG");
});

test("hostile names stay text, and nothing runs", async () => {
  const evil = '<img src=x onerror="document.title=1"></script><script>alert(1)</script>';
  const json = buildDecoder({ ...MODELS[2]!, mode: "decode", name: evil }) as { modules: { name: string }[]; nodes: { name: string; op_type: string }[] };
  json.modules[1]!.name = evil;
  for (const node of json.nodes) node.op_type = evil;
  const file = path.join(site, "evil.html");
  writeSingle(file, { [`${evil}.decode.json`]: JSON.stringify(json) });
  const { page, problems } = await open(browser, `file://${file}`, DESK);
  await page.locator("h1", { hasText: "<img src=x" }).waitFor();
  await page.locator("[data-box]").first().dblclick();
  await page.waitForTimeout(200);
  assert.equal(await page.locator("img").count(), 0);
  assert.doesNotMatch(await page.title(), /^1$/);
  assert.deepEqual(problems, []);
});

test("a folder opened from disk, and one file that holds everything", async () => {
  const folder = await open(browser, `file://${site}/index.html`, DESK);
  await folder.page.getByRole("link", { name: /Sparrow/ }).click();
  await folder.page.locator("h1", { hasText: "Sparrow-0.5B" }).waitFor();
  await box(folder.page, "model").waitFor();
  await folder.page.getByRole("button", { name: "Prefill" }).click();
  await folder.page.waitForURL(/prefill/);
  assert.deepEqual(folder.problems, []);
  const single = path.join(site, "single-page.html");
  const read = (name: string) => readFileSync(path.join(site, "generated", name), "utf8");
  writeSingle(single, { "Wren-8B.decode.json": read("Wren-8B.decode.json"), "Wren-8B.prefill.json": read("Wren-8B.prefill.json") });
  const one = await open(browser, `file://${single}`, DESK);
  await one.page.locator("h1", { hasText: "Wren-8B" }).waitFor();
  await one.page.getByRole("button", { name: "Prefill" }).click();
  await one.page.getByText("One prefill step").waitFor();
  assert.deepEqual(one.problems, []);
});

test("bad addresses and broken documents get a clear page", async () => {
  const cases: [string, RegExp][] = [
    [`${server.url}/kcharter.html`, /No document is named/],
    [`${server.url}/kcharter.html?doc=https://example.com/x.json`, /refused/],
    [`${server.url}/kcharter.html?doc=//example.com/x.json`, /refused/],
    [`${server.url}/kcharter.html?doc=../secret.json`, /refused/],
    [`${server.url}/kcharter.html?doc=generated/none.decode.json`, /no such document/],
    [`${server.url}/kcharter.html?doc=generated/catalog.json`, /not a kcharter\.document/],
  ];
  for (const [url, wanted] of cases) {
    const { page } = await open(browser, url, DESK);
    await page.locator(".error-page h2").waitFor();
    assert.match(await text(page, ".error-page h2"), wanted, url);
    await page.context().close();
  }
});
