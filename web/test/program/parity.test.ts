// The page's numbers equal the program's, for the models of models/, and where the corpus is present
// for graphs of it:
//
//   KCHARTER=../build/release/kcharter KCHARTER_EVALUATE=../build/release/tests/kcharter_evaluate npm run test:parity
//
// Each document: every formula (those of all modules' and nodes' metrics, values, caches, summaries) at
// random settings, worked out here and by the program's own evaluator; and at some of these settings the
// whole analysis once more, whose summary and metrics must be the page's.
// KCHARTER_PARITY_SETTINGS, KCHARTER_PARITY_ANALYSES: how many per document.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test, { after } from "node:test";
import { fileURLToPath } from "node:url";
import { readDocument } from "../../src/document/read.ts";
import type { Document, SummaryName } from "../../src/document/types.ts";
import { Evaluation } from "../../src/metrics/evaluation.ts";
import { numbersOf } from "../../src/parity.ts";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const program = process.env.KCHARTER ?? path.join(root, "build/release/kcharter");
const evaluator = process.env.KCHARTER_EVALUATE ?? path.join(root, "build/release/tests/kcharter_evaluate");
const corpus = process.env.KCHARTER_CORPUS_DIR ?? "";
const settingsPerDocument = Number(process.env.KCHARTER_PARITY_SETTINGS ?? 20);
const analysesPerDocument = Number(process.env.KCHARTER_PARITY_ANALYSES ?? 1);
const CORPUS_GRAPHS = 40;
const LARGEST_GRAPH = 4e6; // bytes
const FLAGS: Record<string, string> = { batch_size: "--batch", current_length: "--seq", max_length: "--max-seq" };
const scratch = mkdtempSync(path.join(tmpdir(), "kcharter-parity-"));

let seed = 20;
const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
// Small, window-sized and huge lengths alike.
const pick = (): number => [1 + random(64), 1 + random(5000), 4095 + random(3), 1 + random(2 ** 21)][random(4)]!;

function catalogue(): string[] {
  const folder = path.join(root, "models");
  return ["samples", "configs"].map((name) => path.join(folder, name)).filter((inside) => existsSync(inside))
    .flatMap((inside) => readdirSync(inside).sort().filter((name) => !name.endsWith(".weights")).map((name) => path.join(inside, name)));
}

// Graphs from all over the corpus: evenly spaced in the order of their paths.
function corpusGraphs(): string[] {
  if (corpus === "" || !existsSync(corpus)) return [];
  const all = readdirSync(corpus, { recursive: true }).map(String).sort()
    .filter((name) => name.endsWith(".onnx") && !/^edge/.test(name)).map((name) => path.join(corpus, name))
    .filter((file) => statSync(file).isFile() && statSync(file).size < LARGEST_GRAPH);
  const step = Math.max(1, Math.floor(all.length / (2 * CORPUS_GRAPHS)));
  return all.filter((_, index) => index % step === 0);
}

function analyze(model: string, mode: string, settings: [string, bigint][]): Document | null {
  const folder = path.join(scratch, "one"); // a new one each time: a name in it belongs to one model
  rmSync(folder, { recursive: true, force: true });
  const words = ["analyze", model, "--mode", mode, "-o", folder, "--format", "none", "--name", "parity"];
  for (const [name, value] of settings) words.push(...(FLAGS[name] ? [FLAGS[name], String(value)] : ["--dim", `${name}=${value}`]));
  const file = path.join(folder, `parity.${mode}.json`);
  try {
    execFileSync(program, words, { stdio: "ignore", timeout: 120_000 });
  } catch {
    // it has no such mode, or cannot be read
  }
  return existsSync(file) ? readDocument(readFileSync(file, "utf8"), file) : null;
}

function randomSetting(document: Document): Map<string, bigint> {
  const at = new Map<string, bigint>();
  for (const { name, group } of document.variables) {
    const value = group === "parallel" ? 1 + random(8) : name === "batch_size" ? 1 + random(300) : pick();
    at.set(name, BigInt(value));
  }
  const [current, longest] = [at.get("current_length"), at.get("max_length")];
  if (current !== undefined && longest !== undefined && longest < current) at.set("max_length", current + BigInt(random(3)));
  const stages = at.get("pipeline_parallel_size");
  if (stages !== undefined) at.set("pipeline_stage", BigInt(random(Number(stages))));
  return at;
}

function programValues(document: Document, settings: Map<string, bigint>[]): (string | null)[][] {
  const question = {
    formulas: document.formulas.map(({ text }) => text),
    settings: settings.map((at) => Object.fromEntries([...at].map(([name, value]) => [name, String(value)]))),
  };
  return JSON.parse(execFileSync(evaluator, { input: `${JSON.stringify(question)}\n`, maxBuffer: 2 ** 30 }).toString()) as (string | null)[][];
}

const counts = { documents: 0, settings: 0, formulas: 0, analyses: 0, refused: 0, corpus: 0 };

function compare(model: string, mode: string): boolean {
  const base = analyze(model, mode, []);
  if (!base) return false;
  const settings = Array.from({ length: settingsPerDocument }, () => randomSetting(base));
  programValues(base, settings).forEach((values, index) => {
    const evaluation = new Evaluation(base, settings[index]!);
    values.forEach((value, formula) => {
      const here = evaluation.formula(formula);
      if ((here === null ? null : String(here)) !== value) {
        assert.equal(here === null ? null : String(here), value, `${base.formulas[formula]?.text} at ${JSON.stringify(Object.fromEntries([...settings[index]!].map(([name, n]) => [name, String(n)])))}`);
      }
    });
    counts.formulas += values.length;
    counts.settings += 1;
  });
  for (const at of settings.slice(0, analysesPerDocument)) {
    for (const { name, group } of base.variables) if (group === "parallel") at.set(name, name === "pipeline_stage" ? 0n : 1n);
    const turned: [string, bigint][] = [...at].filter(([name]) => base.variables.some((variable) => variable.name === name && variable.group !== "parallel"));
    const other = analyze(model, mode, turned);
    if (!other) {
      counts.refused += 1; // a dimension that the graph's own data gives is none of the command line's
      continue;
    }
    const page = numbersOf(base, at);
    const said = numbersOf(other, at);
    for (const [name, value] of Object.entries(page.summary)) {
      const written: bigint | null = other.summary[name as SummaryName]?.value ?? null;
      assert.equal(value, written === null ? null : String(written), `${name} at ${turned.join(" ")}`);
    }
    assert.deepEqual(page.modules, said.modules);
    assert.deepEqual(page.nodes.map(({ metrics }) => metrics), said.nodes.map(({ metrics }) => metrics));
    counts.analyses += 1;
  }
  counts.documents += 1;
  return true;
}

for (const model of catalogue()) {
  test(path.basename(model), () => {
    const modes = ["prefill", "decode"].filter((mode) => compare(model, mode));
    assert.ok(modes.length > 0, "neither mode could be analysed");
  });
}

const graphs = corpusGraphs();
test(`${CORPUS_GRAPHS} graphs of the corpus`, { skip: graphs.length === 0 ? "the corpus is not here" : false }, () => {
  for (const graph of graphs) {
    if (counts.corpus >= CORPUS_GRAPHS) break;
    try {
      if (compare(graph, "prefill")) counts.corpus += 1;
    } catch (error) {
      throw new Error(`${path.relative(corpus, graph)}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  assert.ok(counts.corpus >= CORPUS_GRAPHS, `only ${counts.corpus} graphs could be analysed`);
});

after(() => {
  rmSync(scratch, { recursive: true, force: true });
  console.log(`parity: ${counts.documents} documents at ${counts.settings} settings, ${counts.formulas} values; ${counts.analyses} analyses repeated, ${counts.refused} settings that cannot be asked for; ${counts.corpus} graphs of the corpus`);
  if (counts.corpus === 0) console.log("parity: NO GRAPH OF THE CORPUS WAS COMPARED: set KCHARTER_CORPUS_DIR to where it is unpacked");
});
