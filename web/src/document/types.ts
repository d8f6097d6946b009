// A document as the page uses it: checked, with formulas compiled on first use, children and nodes
// by index. The members are those of schemas/README.md; what the page adds is said here.
import type { Program } from "../formula/parse.ts";
import type { Findings, Measured, Parallel } from "./sections.ts";

export const METRICS = [
  "weight_bytes", "kv_cache_bytes", "state_bytes", "activation_peak_bytes", "cache_copy_bytes",
  "flops", "elementwise_flops", "weight_read_bytes", "kv_read_bytes", "kv_write_bytes",
  "activation_read_bytes", "activation_write_bytes",
] as const;
export type MetricName = (typeof METRICS)[number];
export type SummaryName = MetricName | "total_bytes";

export type Exactness = "exact" | "estimated" | "lower_bound" | "assumed" | "unknown";
export type Source = "tensor" | "config" | "graph" | "rule" | "assumed" | "unknown";
export type Mode = "prefill" | "decode";

export interface Quantity {
  formula: number | null; // index into Document.formulas; null: unknown
  exactness: Exactness;
  source: Source;
}
export type Metrics = Partial<Record<MetricName, Quantity>>;

export type Item = { kind: "module"; id: number } | { kind: "node"; id: number };

export interface Module {
  id: number;
  name: string;
  path: string;
  kind: string;
  parent: number | null;
  children: number[];
  items: Item[];
  tensors: number[];
  caches: number[];
  stage: boolean;
  repeat: number;
  multiplicity: number;
  instances: string[];
  carried: [produced: number, read: number][];
  differences: string[];
  metrics: Metrics;
  depth: number; // the root has 0
}

export interface GraphNode {
  id: number;
  name: string;
  opType: string;
  domain: string;
  module: number;
  inputs: (number | null)[];
  outputs: (number | null)[];
  attributes: [name: string, value: unknown][];
  computeDtype: string;
  multiplicity: number;
  view: boolean;
  launches: number | null; // kernels per step, all instances; null: the document does not say
  foldedAtLoad: boolean;
  metrics: Metrics;
}

export type ValueRole = "activation" | "input" | "output" | "initializer" | "cache";

export interface Value {
  id: number;
  name: string;
  dtype: string;
  shape: (number | null)[] | null; // formula per dimension
  bytes: number | null; // formula
  producer: number | null;
  consumers: number[];
  role: ValueRole;
  tensor: number | null;
  aliasOf: number | null;
}

export interface Tensor {
  id: number;
  name: string;
  dtype: string;
  shape: bigint[];
  bytes: bigint;
  module: number | null;
  role: string;
  part: string;
  parameters: bigint;
  file: string | null;
  offset: bigint | null;
  instances: number;
}

export interface Cache {
  name: string;
  kind: string;
  input: number | null;
  output: number | null;
  node: number | null;
  format: string;
  shape: (number | null)[] | null;
  bytes: number | null;
  copied: boolean;
  instances: number;
  module: number | null;
}

export interface Variable {
  name: string;
  label: string;
  value: bigint;
  min: bigint;
  group: string; // "parallel": a size of a group of devices
}

export interface LiveValue {
  value: number;
  birth: number | null;
  death: number | null;
  bytes: number | null;
}

export interface Diagnostic {
  severity: "note" | "warning" | "error";
  code: string;
  subject: string;
  message: string;
  count: number;
}

export interface ModelFacts {
  name: string;
  format: string;
  architecture: string | null;
  parameters: bigint | null;
  activeParameters: bigint | null;
  storedElements: bigint | null;
  contextLimit: bigint | null;
  dtypes: { dtype: string; tensors: number; bytes: bigint }[];
}

export interface Formula {
  text: string;
  program: Program | null | undefined; // undefined: not compiled yet; null: it does not parse
}

export interface Document {
  fileName: string;
  schemaVersion: string;
  generator: string;
  model: ModelFacts;
  mode: Mode;
  variables: Variable[];
  bindings: [symbol: string, formula: string][];
  conventions: [name: string, sentence: string][];
  summary: Partial<Record<SummaryName, Quantity & { value: bigint | null }>>;
  formulas: Formula[];
  modules: Module[];
  nodes: GraphNode[];
  values: Value[];
  tensors: Tensor[];
  caches: Cache[];
  peak: { node: number | null; alive: LiveValue[] } | null;
  diagnostics: Diagnostic[];
  parallel: Parallel | null;
  measured: Measured | null;
  findings: Findings | null;
  newerMinor: boolean;
}
