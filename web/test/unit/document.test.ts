import assert from "node:assert/strict";
import test from "node:test";
import { levelOf, nodesBelow } from "../../src/document/level.ts";
import { pathAt, nearestPlace, resolvePath } from "../../src/document/paths.ts";
import { readDocument } from "../../src/document/read.ts";
import { DocumentError } from "../../src/document/reader.ts";
import { Evaluation, perInstance } from "../../src/metrics/evaluation.ts";
import { checkSums } from "../../src/metrics/sums.ts";
import { largest, whatFits } from "../../src/metrics/fit.ts";
import { bindingsOf, DEFAULTS } from "../../src/settings/settings.ts";
import { buildDecoder } from "../fixtures/build.ts";

const OPTIONS = { name: "T", mode: "decode" as const, hidden: 64, intermediate: 128, heads: 4, kvHeads: 2, headDim: 16, vocabulary: 1000 };
const flat = () => readDocument(JSON.stringify(buildDecoder({ ...OPTIONS, layers: 4 })), "t.json");
const periodic = () => readDocument(JSON.stringify(buildDecoder({ ...OPTIONS, layers: 12, period: 6, contextLimit: 2 ** 40 })), "t.json");
const refused = (change: (json: Record<string, unknown>) => void) => {
  const json = buildDecoder({ ...OPTIONS, layers: 4 });
  change(json);
  return () => readDocument(JSON.stringify(json), "t.json");
};

test("any instance's path opens the stage at that instance", () => {
  const document = flat();
  const place = resolvePath(document, "model.layers.3.self_attn");
  assert.ok(place);
  assert.equal(document.modules[place.module]!.path, "model.layers.0.self_attn");
  assert.deepEqual([...place.instances.values()], [3]);
  assert.equal(pathAt(document, place.module, place.instances), "model.layers.3.self_attn");
  assert.equal(resolvePath(document, "model.layers.4"), null);
  assert.equal(document.modules[nearestPlace(document, "model.layers.9.x").module]!.path, "model.layers");
});

test("paths go through a stage of stages and back", () => {
  const document = periodic();
  for (const path of ["model.layers.7.mlp", "model.layers.11.mlp", "model.layers.0.self_attn.q_proj", "model.layers[6:12]"]) {
    const place = resolvePath(document, path);
    assert.ok(place, path);
    assert.equal(pathAt(document, place.module, place.instances), path);
  }
});

test("edges are lifted to the level shown", () => {
  const document = flat();
  const at = (path: string) => levelOf(document, resolvePath(document, path)!.module);
  const names = (key: string, level = at("model")) => {
    const box = level.boxes.find((candidate) => candidate.key === key);
    return box?.item.kind === "module" ? document.modules[box.item.id]!.name : box ? document.nodes[box.item.id]!.opType : key.split(":")[0];
  };
  const model = at("model");
  assert.deepEqual(model.edges.map(({ from, to }) => `${names(from)}>${names(to)}`).sort(),
    ["Gather>layers", "in>Gather", "in>layers", "layers>norm", "norm>out"].sort());
  const stage = at("model.layers[0:4]");
  assert.ok(stage.edges.some(({ to }) => to.startsWith("out:")), "what a stage hands on leaves it");
  assert.equal(nodesBelow(document, 0).length, document.nodes.length);
});

test("sums hold, and a broken one is named", () => {
  const document = flat();
  assert.deepEqual(checkSums(new Evaluation(document, bindingsOf(document, DEFAULTS))), []);
  document.modules[1]!.metrics.flops = { formula: document.formulas.push({ text: "7", program: undefined }) - 1, exactness: "exact", source: "rule" };
  assert.ok(checkSums(new Evaluation(document, bindingsOf(document, DEFAULTS))).some(({ metric }) => metric === "flops"));
});

test("the largest batch fits and the next does not", () => {
  const document = periodic();
  const bindings = bindingsOf(document, { ...DEFAULTS, variables: new Map([["max_length", 100_000n]]) });
  const capacity = 60_000_000n;
  const { batch, length } = whatFits(document, bindings, capacity);
  const total = (changes: [string, bigint][]) =>
    new Evaluation(document, new Map([...bindings, ...changes])).summary("total_bytes").value!;
  assert.ok(total([["batch_size", batch!]]) <= capacity && total([["batch_size", batch! + 1n]]) > capacity);
  assert.ok(total([["max_length", length!]]) <= capacity && total([["max_length", length! + 1n]]) > capacity);
  assert.equal(largest((n) => n + 5n, 3n), null);
});

test("one of N is exact or says that it is not", () => {
  const amount = { value: 10n, exactness: "exact" as const, source: "rule" as const, formula: null };
  assert.equal(perInstance(amount, 5).value, 2n);
  assert.equal(perInstance(amount, 5).exactness, "exact");
  assert.equal(perInstance(amount, 3).exactness, "estimated");
});

test("broken documents are refused with a reason", () => {
  const cases: [RegExp, (json: Record<string, unknown>) => void][] = [
    [/newer/, (json) => { json.schema_version = "2.1"; }],
    [/not a kcharter/, (json) => { json.schema = "other"; }],
    [/hold together/, (json) => { (json.modules as { parent: number }[])[2]!.parent = 99; }],
    [/hold together/, (json) => { (json.modules as { children: number[] }[])[0]!.children = [1e9]; }],
    [/hold together/, (json) => { (json.values as { shape: number[] }[])[0]!.shape = [-1]; }],
    [/no modules/, (json) => { json.modules = []; }],
  ];
  for (const [title, change] of cases) {
    assert.throws(refused(change), (error) => error instanceof DocumentError && title.test(error.title), String(title));
  }
  assert.doesNotThrow(refused((json) => { json.schema_version = "1.7"; json.later = { anything: 1 }; }));
  assert.throws(() => readDocument('{"schema": "kcharter.document", ', "cut.json"), (error) =>
    error instanceof DocumentError && /cut off/.test(error.title));
  assert.throws(() => readDocument("<html>", "x.json"), (error) => error instanceof DocumentError && /not JSON/.test(error.title));
});
