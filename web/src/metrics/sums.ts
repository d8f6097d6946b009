// Children + own nodes and tensors = module, for every metric that is a sum. A document that breaks it
// opens with a badge; this finds where.
import { METRICS, type MetricName } from "../document/types.ts";
import type { Evaluation } from "./evaluation.ts";

export interface SumDifference {
  module: number;
  path: string;
  metric: MetricName;
  difference: bigint;
}

// Weights and caches belong to modules, work belongs to nodes, so only these are sums over items.
const WORK: MetricName[] = [
  "flops", "elementwise_flops", "kv_read_bytes", "kv_write_bytes", "activation_read_bytes", "activation_write_bytes",
];
const MOST = 8;

export function checkSums(evaluation: Evaluation): SumDifference[] {
  const differences: SumDifference[] = [];
  for (const module of evaluation.document.modules) {
    if (module.items.length === 0) continue;
    for (const metric of METRICS) {
      const difference = WORK.includes(metric)
        ? sumDifference(evaluation, module.id, metric)
        : metric === "weight_bytes" ? weightDifference(evaluation, module.id) : 0n;
      if (difference !== 0n) differences.push({ module: module.id, path: module.path, metric, difference });
    }
    if (differences.length >= MOST) return differences;
  }
  return differences;
}

const magnitude = (value: bigint) => (value < 0n ? -value : value);

function sumDifference(evaluation: Evaluation, id: number, metric: MetricName): bigint {
  const whole = evaluation.metric({ kind: "module", id }, metric).value;
  if (whole === null) return 0n;
  let parts = 0n;
  for (const item of evaluation.document.modules[id]?.items ?? []) {
    parts += evaluation.metric(item, metric).value ?? 0n;
  }
  return magnitude(whole - parts);
}

function weightDifference(evaluation: Evaluation, id: number): bigint {
  const module = evaluation.document.modules[id];
  const whole = evaluation.metric({ kind: "module", id }, "weight_bytes").value;
  if (!module || whole === null) return 0n;
  let parts = 0n;
  for (const child of module.children) parts += evaluation.metric({ kind: "module", id: child }, "weight_bytes").value ?? 0n;
  for (const tensor of module.tensors) {
    const { bytes, instances } = evaluation.document.tensors[tensor] ?? { bytes: 0n, instances: 0 };
    parts += bytes * BigInt(instances);
  }
  return magnitude(whole - parts);
}
