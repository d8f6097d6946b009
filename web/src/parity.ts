// The page's own numbers from the command line, for tests that compare them with the program's:
//
//   npx tsx src/parity.ts DOCUMENT.json [NAME=N …]
//   npx tsx src/parity.ts --lines < {"document": "a.json", "bindings": {"batch_size": "4"}} per line
//
// Each setting prints one line of JSON: the summary and the metrics of all modules and nodes, integers
// as decimal strings, null where unknown.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { readDocument } from "./document/read.ts";
import { METRICS, type Document, type Item, type SummaryName } from "./document/types.ts";
import { Evaluation } from "./metrics/evaluation.ts";

export function numbersOf(document: Document, chosen: ReadonlyMap<string, bigint>) {
  const bindings = new Map(document.variables.map(({ name, value }) => [name, chosen.get(name) ?? value]));
  const evaluation = new Evaluation(document, bindings);
  const text = (value: bigint | null) => (value === null ? null : String(value));
  const metrics = (item: Item) => Object.fromEntries(METRICS.map((name) => [name, text(evaluation.metric(item, name).value)]));
  const summary = ([...METRICS, "total_bytes"] as SummaryName[]).map((name) => [name, text(evaluation.summary(name).value)]);
  return {
    bindings: Object.fromEntries([...bindings].map(([name, value]) => [name, String(value)])),
    summary: Object.fromEntries(summary) as Record<string, string | null>,
    modules: document.modules.map(({ id, path }) => ({ path, metrics: metrics({ kind: "module", id }) })),
    nodes: document.nodes.map(({ id, name }) => ({ name, metrics: metrics({ kind: "node", id }) })),
  };
}

const documents = new Map<string, Document>();
function open(path: string): Document {
  let document = documents.get(path);
  if (!document) documents.set(path, (document = readDocument(readFileSync(path, "utf8"), path)));
  return document;
}

async function main(words: string[]) {
  if (words[0] === "--lines") {
    for await (const line of createInterface({ input: process.stdin })) {
      const { document, bindings } = JSON.parse(line) as { document: string; bindings: Record<string, string | number> };
      const chosen = new Map(Object.entries(bindings).map(([name, value]) => [name, BigInt(value)]));
      console.log(JSON.stringify(numbersOf(open(document), chosen)));
    }
    return;
  }
  const [path, ...settings] = words;
  if (path === undefined) throw new Error("usage: parity DOCUMENT.json [NAME=N …]");
  const chosen = new Map(settings.map((word) => word.split("=") as [string, string]).map(([name, value]) => [name, BigInt(value)]));
  console.log(JSON.stringify(numbersOf(open(path), chosen)));
}

if (process.argv[1]?.endsWith("parity.ts")) await main(process.argv.slice(2));
