// What mending a finding would save on a device: launches · t0 + the larger of what its FLOPs and its
// bytes take, as the estimate counts them.
import type { Document } from "../document/types.ts";
import type { Finding, Saving, SavingName } from "../document/sections.ts";
import { efficiencyOf, peakOperations, type Device } from "../time/device.ts";
import type { Evaluation } from "./evaluation.ts";

const MOVED: SavingName[] = [
  "weight_read_bytes", "kv_read_bytes", "kv_write_bytes", "activation_read_bytes", "activation_write_bytes",
];

export function savedSeconds(evaluation: Evaluation, saving: Saving, dtype: string, device: Device): number {
  const at = (name: SavingName) => Number(evaluation.amount(saving.quantities[name]).value ?? 0n);
  const { launch_seconds, memory, compute } = efficiencyOf(device, "matmul");
  const bytes = MOVED.reduce((sum, name) => sum + at(name), 0);
  const peak = peakOperations(device, dtype) ?? Infinity;
  return at("launches") * launch_seconds + Math.max(at("flops") / (compute * peak), bytes / (memory * device.bandwidth_bytes_per_second));
}

export const dtypeOf = (document: Document, { nodes }: Pick<Finding, "nodes">): string =>
  document.nodes[nodes[0] ?? -1]?.computeDtype || (document.nodes.find(({ computeDtype }) => computeDtype !== "")?.computeDtype ?? "f32");

// Those that the estimate counts first, largest saving first; without a device in the document's own
// order.
export function rankedFindings(evaluation: Evaluation, device: Device | null): { finding: Finding; seconds: number | null }[] {
  const { document } = evaluation;
  const ranked = (document.findings?.items ?? []).map((finding) => ({
    finding, seconds: device ? savedSeconds(evaluation, finding, dtypeOf(document, finding), device) : null }));
  return ranked.sort((a, b) => Number(b.finding.counted) - Number(a.finding.counted) || (b.seconds ?? 0) - (a.seconds ?? 0));
}
