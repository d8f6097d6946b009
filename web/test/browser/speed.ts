// Medians of what a person waits for, in Chromium; and what laying out graphs flat takes. A time is
// given twice: by the clock, and as the processor's time of the page's main thread (in brackets), which
// does not grow on a machine that does other things as well:
//
//   npm run speed -- [SITE DOCUMENT…]      documents in SITE/generated besides the made-up ones
import { mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import dagre from "@dagrejs/dagre";
import type { Page } from "playwright-core";
import { buildDecoder } from "../fixtures/build.ts";
import { buildFlat } from "../fixtures/flat.ts";
import { MODELS, writeSite } from "../fixtures/site.ts";
import { launch, open, serve } from "./browser.ts";

const ROUNDS = 9;
const LOADS = 7;
const DESK = { width: 1440, height: 900 };
const [extra, ...documents] = process.argv.slice(2);
const median = (values: number[]) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;
const browser = await launch();

// From the start of navigation to the first frame that shows the model.
async function interactive(url: string): Promise<{ page: Page; thread: Thread; text: string }> {
  const loads: number[] = [];
  const busy: number[] = [];
  for (let i = 1; ; ++i) {
    const { page } = await open(browser, "about:blank", DESK);
    const thread = await threadOf(page);
    const before = await thread();
    await page.goto(url);
    await page.locator("[data-box], table, .card").first().waitFor();
    busy.push((await thread()) - before);
    loads.push(await page.evaluate(() => performance.getEntriesByName("kcharter-ready")[0]?.startTime ?? performance.now()));
    if (i === LOADS) return { page, thread, text: both(loads, busy) };
    await page.context().close();
  }
}

type Thread = () => Promise<number>; // processor's time of the page's main thread so far, ms

async function threadOf(page: Page): Promise<Thread> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  return async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return (metrics.find(({ name }) => name === "TaskDuration")?.value ?? 0) * 1000;
  };
}

const both = (clock: number[], thread: number[]) => `${median(clock).toFixed(0)} ms (${median(thread).toFixed(0)})`;

// From an event to the end of the frame that it changes.
async function turn(page: Page, thread: Thread, act: "control" | "drill"): Promise<string> {
  const times: number[] = [];
  const busy: number[] = [];
  for (let round = 0; round < ROUNDS; ++round) {
    const before = await thread();
    times.push(await page.evaluate(async ([what, at]) => {
      const modules = [...document.querySelectorAll("[data-box^=m]")];
      const even = Number(at) % 2 === 0;
      const key = what === "drill" ? "Backspace" : even ? "]" : "[";
      const begin = performance.now();
      if (what === "drill" && even) modules[0]?.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }));
      else window.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      return performance.now() - begin;
    }, [act, String(round)] as const));
    busy.push((await thread()) - before);
  }
  return both(times, busy);
}

async function measure(server: { url: string }, name: string, file: string) {
  const { page, thread, text } = await interactive(`${server.url}/kcharter.html?doc=generated/${name}`);
  const control = await turn(page, thread, "control");
  const drill = (await page.locator("[data-box^=m]").count()) > 0 ? await turn(page, thread, "drill") : "–";
  const json = JSON.parse(readFileSync(file, "utf8")) as { nodes: { multiplicity: number }[] };
  const nodes = json.nodes.reduce((sum, node) => sum + node.multiplicity, 0);
  console.log(`| ${name} | ${nodes.toLocaleString("en")} | ${(statSync(file).size / 1000).toFixed(0)} KB | ${text} | ${control} | ${drill} |`);
  await page.context().close();
}

// The flat layout of a graph as viewers without folding draw it: dagre, all nodes at once.
function flatLayout(count: number): number {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ nodesep: 20, ranksep: 20 });
  graph.setDefaultEdgeLabel(() => ({}));
  const { nodes } = buildFlat("flat", count) as { nodes: { inputs: number[] }[] };
  nodes.forEach(({ inputs }, i) => {
    graph.setNode(String(i), { width: 120, height: 40 });
    for (const value of inputs) if (value > 0) graph.setEdge(String(value - 1), String(i), {});
  });
  const begin = performance.now();
  dagre.layout(graph);
  return performance.now() - begin;
}

const site = mkdtempSync(path.join(tmpdir(), "kcharter-speed-"));
writeSite(site);
const inSite = (name: string) => path.join(site, "generated", name);
const write = (name: string, json: unknown) => writeFileSync(inSite(name), JSON.stringify(json));
write("hundred-kilobytes.decode.json", buildDecoder({ ...MODELS[0]!, mode: "decode" }));
write("flat-4000.prefill.json", buildFlat("flat-4000", 4000));
const catalog = JSON.parse(readFileSync(inSite("catalog.json"), "utf8")) as { models: { name: string }[] };
catalog.models = Array.from({ length: 500 }, (_, i) => ({ ...catalog.models[i % catalog.models.length]!, name: `model-${i}` }));
write("catalog.json", catalog);

console.log(`| document | nodes | size | interactive | a control | a drill |\n|---|---:|---:|---:|---:|---:|`);
const server = await serve(site);
await measure(server, "hundred-kilobytes.decode.json", inSite("hundred-kilobytes.decode.json"));
await measure(server, "flat-4000.prefill.json", inSite("flat-4000.prefill.json"));
if (extra !== undefined) {
  const other = await serve(path.resolve(extra));
  for (const name of documents) await measure(other, name, path.join(extra, "generated", name));
  other.close();
}
const cards = await interactive(`${server.url}/index.html`);
const sort = await cards.page.evaluate(async () => {
  const select = document.querySelector<HTMLSelectElement>(".landing-tools select")!;
  const begin = performance.now();
  select.value = "memory";
  select.dispatchEvent(new Event("change", { bubbles: true }));
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return performance.now() - begin;
});
console.log(`\n500 cards: shown after ${cards.text}, sorted in ${sort.toFixed(0)} ms`);
for (const count of [500, 1000, 2000]) console.log(`flat layout of ${count} nodes with dagre: ${(flatLayout(count) / 1000).toFixed(2)} s`);
await browser.close();
server.close();
