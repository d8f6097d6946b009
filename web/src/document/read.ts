// JSON text → Document, or a DocumentError that says what is wrong and what to do.
import { FormulaTable, readQuantity, readSpelled } from "./formula_table.ts";
import { parseJson } from "./parse_json.ts";
import { DocumentError, isObject, Reader, toInteger } from "./reader.ts";
import { readFindings, readMeasured, readParallel } from "./sections.ts";
import {
  METRICS, type Cache, type Document, type GraphNode, type Item, type Metrics,
  type Module, type SummaryName, type Tensor, type Value, type Variable,
} from "./types.ts";

export const SUPPORTED = { major: 1, minor: 0 };

export function readDocument(text: string, fileName: string): Document {
  const json = parseJson(text, fileName);
  const root = new Reader(json, "");
  const { version, newerMinor } = checkSchema(root, "kcharter.document");
  const formulas = new FormulaTable(root.strings("formulas"));
  const sizes = {
    formulas: formulas.size,
    modules: root.list("modules").length,
    nodes: root.list("nodes").length,
    values: root.list("values").length,
    tensors: root.list("tensors").length,
    caches: root.list("caches").length,
  };
  if (sizes.modules === 0) throw new DocumentError("This document has no modules", "`modules` is empty.");
  const modules = root.each("modules", (reader, id) => readModule(reader, id, sizes));
  linkModules(modules);
  const mode = root.raw("mode");
  if (mode !== "prefill" && mode !== "decode") return root.fail("mode", '"prefill" or "decode"');
  return {
    fileName,
    schemaVersion: version,
    newerMinor,
    generator: readGenerator(root),
    model: readModelFacts(root.object_("model")),
    mode,
    variables: root.each("variables", readVariable),
    bindings: texts(root.object_("bindings")),
    conventions: texts(root.object_("conventions")),
    summary: readSummary(root.object_("summary"), formulas),
    modules,
    nodes: root.each("nodes", (reader, id) => readNode(reader, id, sizes)),
    values: root.each("values", (reader, id) => readValue(reader, id, sizes)),
    tensors: root.each("tensors", (reader, id) => readTensor(reader, id, sizes.modules)),
    caches: root.each("caches", (reader) => readCache(reader, sizes)),
    peak: readPeak(root, sizes),
    diagnostics: root.each("diagnostics", (reader) => ({
      severity: reader.oneOf("severity", ["note", "warning", "error"] as const, "note"),
      code: reader.string("code", ""),
      subject: reader.string("subject", ""),
      message: reader.string("message", ""),
      count: reader.count("count", 1),
    })),
    parallel: readParallel(root, formulas),
    measured: readMeasured(root, sizes),
    findings: readFindings(root, sizes),
    formulas: formulas.all,
  };
}

export function checkSchema(root: Reader, expected: string): { version: string; newerMinor: boolean } {
  const schema = root.raw("schema");
  const version = String(root.raw("schema_version") ?? "");
  const [major = NaN, minor = 0] = version.split(".").map(Number);
  const facts: [string, string][] = [
    ["schema", String(schema ?? "none")],
    ["schema_version", version || "none"],
    ["generator", readGenerator(root)],
  ];
  if (schema !== expected || Number.isNaN(major)) {
    throw new DocumentError(`This is not a ${expected}`, `Its \`schema\` should be "${expected}".`, facts,
      "Open a file that `kcharter analyze` wrote.");
  }
  if (major !== SUPPORTED.major) {
    const age = major > SUPPORTED.major ? "newer" : "older";
    throw new DocumentError(`This document is ${age} than this viewer`,
      `The document says schema ${version}. This viewer reads ${SUPPORTED.major}.x and does not guess at the rest.`,
      facts, "Publish the site again with the kcharter that wrote the document, or analyse the model with this version.");
  }
  return { version, newerMinor: minor > SUPPORTED.minor };
}

function readGenerator(root: Reader): string {
  const generator = root.raw("generator");
  if (!isObject(generator)) return "unknown";
  return `${String(generator.name ?? "unknown")} ${String(generator.version ?? "")}`.trim();
}

interface Sizes {
  formulas: number;
  modules: number;
  nodes: number;
  values: number;
  tensors: number;
  caches: number;
}

function texts(reader: Reader): [string, string][] {
  return reader.entries().map(([name, value]) => [name, String(value)]);
}

function readVariable(reader: Reader): Variable {
  const name = reader.string("name");
  return { name, label: reader.string("label", name), value: reader.integer("value"), min: reader.integerOrNull("min") ?? 0n, group: reader.string("group", "") };
}

export function readModelFacts(reader: Reader): Document["model"] {
  const dtypes = reader.object_("dtypes");
  return {
    name: reader.string("name", "model"),
    format: reader.string("format", ""),
    architecture: reader.textOrNull("architecture"),
    parameters: reader.integerOrNull("parameters"),
    activeParameters: reader.integerOrNull("active_parameters"),
    storedElements: reader.integerOrNull("stored_elements"),
    contextLimit: reader.integerOrNull("context_limit"),
    dtypes: dtypes.entries().map(([dtype]) => {
      const entry = dtypes.object_(dtype);
      return { dtype, tensors: entry.count("tensors", 0), bytes: entry.integerOrNull("bytes") ?? 0n };
    }),
  };
}

function readSummary(reader: Reader, formulas: FormulaTable): Document["summary"] {
  const summary: Document["summary"] = {};
  for (const name of [...METRICS, "total_bytes"] as SummaryName[]) {
    if (reader.raw(name) === undefined) continue;
    const entry = reader.object_(name);
    summary[name] = { ...readSpelled(entry, formulas), value: toInteger(entry.raw("value")) };
  }
  return summary;
}

function readMetrics(reader: Reader, formulaCount: number): Metrics {
  const metrics: Metrics = {};
  for (const name of METRICS) {
    if (reader.raw(name) === undefined) continue;
    const entry = reader.object_(name);
    metrics[name] = readQuantity(entry, entry.indexOrNull("formula", formulaCount));
  }
  return metrics;
}

function readItems(reader: Reader, sizes: Sizes): Item[] {
  return reader.list("items").map((entry) => {
    const [kind, id] = Array.isArray(entry) ? (entry as [unknown, unknown]) : [undefined, undefined];
    const size = kind === "module" ? sizes.modules : kind === "node" ? sizes.nodes : 0;
    if (!Number.isInteger(id) || (id as number) < 0 || (id as number) >= size) {
      reader.fail("items", 'pairs ["module"|"node", index]');
    }
    return { kind: kind as "module" | "node", id: id as number };
  });
}

function readModule(reader: Reader, id: number, sizes: Sizes): Module {
  const parent = reader.indexOrNull("parent", sizes.modules);
  if (id === 0 ? parent !== null : parent === null || parent >= id) {
    reader.fail("parent", id === 0 ? "null at the root" : "a module that stands before this one");
  }
  const path = reader.string("path", "");
  return {
    id,
    name: reader.string("name", ""),
    path,
    kind: reader.textOrNull("kind") ?? "",
    parent,
    children: reader.indices("children", sizes.modules),
    items: readItems(reader, sizes),
    tensors: reader.indices("tensors", sizes.tensors),
    caches: reader.indices("caches", sizes.caches),
    stage: reader.boolean("stage"),
    repeat: reader.count("repeat", 1),
    multiplicity: reader.count("multiplicity", 1),
    instances: reader.strings("instances"),
    carried: reader.list("carried").flatMap((pair) => {
      const [produced, read] = Array.isArray(pair) ? (pair as unknown[]) : [];
      const fine = [produced, read].every((v) => Number.isInteger(v) && (v as number) >= 0 && (v as number) < sizes.values);
      return fine ? [[produced, read] as [number, number]] : [];
    }),
    differences: reader.strings("differences"),
    metrics: readMetrics(reader.object_("metrics"), sizes.formulas),
    depth: 0,
  };
}

// Children must name their parent, so that a walk down the tree ends.
function linkModules(modules: Module[]) {
  for (const module of modules) {
    const parent = module.parent === null ? null : (modules[module.parent] as Module);
    module.depth = parent ? parent.depth + 1 : 0;
    module.children = module.children.filter((child) => modules[child]?.parent === module.id);
    module.items = module.items.filter((item) => item.kind === "node" || modules[item.id]?.parent === module.id);
    if (module.items.length === 0) module.items = module.children.map((id) => ({ kind: "module", id }));
  }
}

function readNode(reader: Reader, id: number, sizes: Sizes): GraphNode {
  const attributes = reader.raw("attributes");
  return {
    id,
    name: reader.string("name", ""),
    opType: reader.string("op_type"),
    domain: reader.string("domain", ""),
    module: reader.index("module", sizes.modules),
    inputs: reader.indicesOrNull("inputs", sizes.values),
    outputs: reader.indicesOrNull("outputs", sizes.values),
    attributes: isObject(attributes) ? Object.entries(attributes) : [],
    computeDtype: reader.textOrNull("compute_dtype") ?? "",
    multiplicity: reader.count("multiplicity", 1),
    view: reader.boolean("view"),
    launches: reader.raw("launches") === undefined ? null : reader.count("launches"),
    foldedAtLoad: reader.boolean("folded_at_load"),
    metrics: readMetrics(reader.object_("metrics"), sizes.formulas),
  };
}

function readShape(reader: Reader, formulaCount: number): (number | null)[] | null {
  return (reader.raw("shape") ?? null) === null ? null : reader.indicesOrNull("shape", formulaCount);
}

function readValue(reader: Reader, id: number, sizes: Sizes): Value {
  return {
    id,
    name: reader.string("name", ""),
    dtype: reader.textOrNull("dtype") ?? "",
    shape: readShape(reader, sizes.formulas),
    bytes: reader.indexOrNull("bytes", sizes.formulas),
    producer: reader.indexOrNull("producer", sizes.nodes),
    consumers: reader.indices("consumers", sizes.nodes),
    role: reader.oneOf("role", ["activation", "input", "output", "initializer", "cache"] as const, "activation"),
    tensor: reader.indexOrNull("tensor", sizes.tensors),
    aliasOf: reader.indexOrNull("alias_of", sizes.values),
  };
}

function readTensor(reader: Reader, id: number, moduleCount: number): Tensor {
  return {
    id,
    name: reader.string("name", ""),
    dtype: reader.textOrNull("dtype") ?? "",
    shape: reader.list("shape").map((value) => toInteger(value) ?? reader.fail("shape", "whole numbers")),
    bytes: reader.integerOrNull("bytes") ?? 0n,
    module: reader.indexOrNull("module", moduleCount),
    role: reader.string("role", "parameter"),
    part: reader.string("part", "plain"),
    parameters: reader.integerOrNull("parameters") ?? 0n,
    file: reader.textOrNull("file"),
    offset: reader.integerOrNull("offset"),
    instances: reader.count("instances", 1),
  };
}

function readCache(reader: Reader, sizes: Sizes): Cache {
  return {
    name: reader.string("name", ""),
    kind: reader.string("kind", ""),
    input: reader.indexOrNull("input", sizes.values),
    output: reader.indexOrNull("output", sizes.values),
    node: reader.indexOrNull("node", sizes.nodes),
    format: reader.textOrNull("format") ?? "",
    shape: readShape(reader, sizes.formulas),
    bytes: reader.indexOrNull("bytes", sizes.formulas),
    copied: reader.boolean("copied"),
    instances: reader.count("instances", 1),
    module: reader.indexOrNull("module", sizes.modules),
  };
}

function readPeak(root: Reader, sizes: Sizes): Document["peak"] {
  if (!isObject(root.raw("peak"))) return null;
  const peak = root.object_("peak");
  return {
    node: peak.indexOrNull("node", sizes.nodes),
    alive: peak.each("alive", (reader) => ({
      value: reader.index("value", sizes.values),
      birth: reader.indexOrNull("birth", sizes.nodes),
      death: reader.indexOrNull("death", sizes.nodes),
      bytes: reader.indexOrNull("bytes", sizes.formulas),
    })),
  };
}
