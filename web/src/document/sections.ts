// Sections that a document may have or not: one of several devices, measured times, findings.
import { readQuantity, readSpelled, type FormulaTable } from "./formula_table.ts";
import { isObject, Reader, toInteger } from "./reader.ts";
import { METRICS, type MetricName, type Quantity, type SummaryName } from "./types.ts";

// What one device holds and does, the fullest one.
export interface Parallel {
  devices: number; // formula
  summary: Partial<Record<SummaryName, Quantity>>;
  communication: { operation: string; bytes: Quantity; calls: Quantity }[];
  weights: { by: string | null; of: string | null; units: bigint; bytes: bigint; tensors: bigint; example: string }[];
  conditions: { code: string; subject: string; message: string; formula: number }[]; // 0: met
  assumptions: string[];
}

// Seconds of one step, all instances; null where nothing was joined.
export interface Measured {
  source: string;
  provider: string;
  steps: number;
  step: number;
  nodes: (number | null)[];
  modules: (number | null)[];
  unjoined: number;
  contradictions: number;
  variables: [string, bigint][];
}

export type SavingName = "launches" | MetricName;

export interface Pattern {
  id: string;
  what: string;
  why: string;
  remedy: string;
  mendedBy: string | null;
  promise: "at_least" | "at_most";
  sure: string;
}

export interface Saving {
  quantities: Partial<Record<SavingName, Quantity>>;
  peak: bigint | null;
}

export interface Finding extends Saving {
  pattern: Pattern;
  detail: string;
  module: number;
  nodes: number[];
  sites: number;
  counted: boolean;
}

export interface Findings {
  items: Finding[];
  total: Saving;
}

interface Sizes {
  formulas: number;
  modules: number;
  nodes: number;
}

const section = (root: Reader, name: string): Reader | null =>
  isObject(root.raw(name)) ? root.object_(name) : null;

export function readParallel(root: Reader, formulas: FormulaTable): Parallel | null {
  const reader = section(root, "parallel");
  if (!reader) return null;
  const summary: Parallel["summary"] = {};
  const spelled = reader.object_("summary");
  for (const name of [...METRICS, "total_bytes"] as SummaryName[]) {
    if (spelled.raw(name) !== undefined) summary[name] = readSpelled(spelled.object_(name), formulas);
  }
  return {
    devices: formulas.indexOf(reader.string("devices", "1")),
    summary,
    communication: reader.each("communication", (entry) => ({
      operation: entry.string("operation").replaceAll("_", "-"),
      bytes: readSpelled(entry.object_("bytes"), formulas), calls: readSpelled(entry.object_("calls"), formulas),
    })),
    weights: reader.each("weights", (entry) => ({
      by: entry.textOrNull("by"), of: entry.textOrNull("of"), units: entry.integerOrNull("units") ?? 1n,
      bytes: entry.integer("bytes"), tensors: entry.integer("tensors"), example: entry.string("example", ""),
    })),
    conditions: reader.each("conditions", (entry) => ({
      code: entry.string("code"), subject: entry.string("subject", ""), message: entry.string("message", ""),
      formula: formulas.indexOf(entry.string("formula")),
    })),
    assumptions: reader.strings("assumptions"),
  };
}

const MICRO = 1e-6;
const seconds = (value: unknown): number | null => (typeof value === "number" && Number.isFinite(value) && value >= 0 ? value * MICRO : null);

export function readMeasured(root: Reader, sizes: Sizes): Measured | null {
  const reader = section(root, "measured");
  if (!reader) return null;
  const nodes = new Array<number | null>(sizes.nodes).fill(null);
  for (const pair of reader.list("nodes")) {
    const [node, time] = Array.isArray(pair) ? (pair as unknown[]) : [];
    if (typeof node === "number" && node >= 0 && node < sizes.nodes) nodes[node] = seconds(time);
  }
  const modules = reader.list("modules").slice(0, sizes.modules).map(seconds);
  return {
    source: reader.string("source", "a profile"), provider: reader.textOrNull("provider") ?? "", steps: reader.count("steps", 1),
    step: seconds(reader.raw("step_microseconds")) ?? 0, nodes, modules,
    unjoined: reader.list("unjoined").reduce((sum: number, entry) => sum + (isObject(entry) ? (seconds(entry.microseconds) ?? 0) : 0), 0),
    contradictions: reader.list("contradictions").length,
    variables: reader.object_("variables").entries().flatMap(([name, value]) => {
      const integer = toInteger(value);
      return integer === null ? [] : [[name, integer] as [string, bigint]];
    }),
  };
}

function readSaving(reader: Reader, formulas: number): Saving {
  const quantities: Saving["quantities"] = {};
  for (const name of ["launches", ...METRICS] as SavingName[]) {
    if (!isObject(reader.raw(name))) continue;
    const entry = reader.object_(name);
    quantities[name] = readQuantity(entry, entry.indexOrNull("formula", formulas));
  }
  return { quantities, peak: toInteger(reader.raw("peak_bytes")) };
}

export function readFindings(root: Reader, sizes: Sizes): Findings | null {
  const reader = section(root, "findings");
  if (!reader) return null;
  const patterns = reader.each("patterns", (entry): Pattern => ({
    id: entry.string("id"), what: entry.string("what", ""), why: entry.string("why", ""), remedy: entry.string("remedy", ""),
    mendedBy: entry.textOrNull("mended_by"), promise: entry.oneOf("promise", ["at_least", "at_most"] as const, "at_most"),
    sure: entry.string("sure", "likely"),
  }));
  return {
    items: reader.each("items", (entry): Finding => ({
      pattern: patterns[entry.index("pattern", patterns.length)] as Pattern,
      detail: entry.string("detail", ""), module: entry.index("module", sizes.modules), nodes: entry.indices("nodes", sizes.nodes),
      sites: entry.count("sites", 1), counted: entry.raw("counted") !== false, ...readSaving(entry.object_("saves"), sizes.formulas),
    })),
    total: readSaving(reader.object_("total"), sizes.formulas),
  };
}
