// The metric that bars show: time, FLOPs, weights, bytes read or the activation peak, of any item.
import type { Document, Item, MetricName } from "../document/types.ts";
import { formatBytes, formatCount, formatTime, THIN } from "../format/number.ts";
import { BARS, type BarName } from "../settings/settings.ts";
import type { StepTime } from "../time/estimate.ts";
import { sum, type Amount, type Evaluation } from "./evaluation.ts";

export const BAR_LABELS: Record<BarName, string> = {
  time: "Time", measured: "Measured time", flops: "FLOPs", weights: "Weight bytes", reads: "Bytes read", activations: "Activation peak",
};

const PARTS: Record<Exclude<BarName, "time" | "measured">, MetricName[]> = {
  flops: ["flops"],
  weights: ["weight_bytes"],
  reads: ["weight_read_bytes", "kv_read_bytes", "activation_read_bytes"],
  activations: ["activation_peak_bytes"],
};

export interface BarValue {
  size: number | null; // null: unknown
  text: string;
}

// What a set of things is measured by at one setting.
export interface Measure {
  evaluation: Evaluation;
  time: StepTime | null; // null: no device is chosen
  bar: BarName;
}

// Without a device there is no time; FLOPs stand in.
export const effectiveBar = (bar: BarName, time: StepTime | null): BarName =>
  bar === "time" && time === null ? "flops" : bar;

// Red is time, estimated or measured.
export const isTime = (bar: BarName) => bar === "time" || bar === "measured";

export const BAR_TONES: Record<BarName, string> = { time: "warm", measured: "warm", flops: "ink", weights: "w", reads: "ink", activations: "act" };

// Those that this document and device have.
export const barsOf = (document: Document, time: StepTime | null): BarName[] =>
  BARS.filter((bar) => (bar !== "time" || time !== null) && (bar !== "measured" || document.measured !== null));

export function measuredTime(document: Document, item: Item): number | null {
  return (item.kind === "module" ? document.measured?.modules[item.id] : document.measured?.nodes[item.id]) ?? null;
}

export function barAmount(measure: Measure, item: Item): Amount {
  const bar = effectiveBar(measure.bar, measure.time);
  if (bar === "time" || bar === "measured") throw new Error("time is not an amount of the document");
  return sum(PARTS[bar].map((name) => measure.evaluation.metric(item, name)));
}

export function barValue(measure: Measure, item: Item, divisor = 1): BarValue {
  const bar = effectiveBar(measure.bar, measure.time);
  if (bar === "time") {
    const { estimate, partial } = (measure.time as StepTime).of(item);
    const text = estimate === 0 ? `0` : `${partial ? "≥" : "≈"}${THIN}${formatTime(estimate / divisor)}`;
    return { size: estimate, text };
  }
  if (bar === "measured") {
    const size = measuredTime(measure.evaluation.document, item);
    return { size, text: size === null ? "not measured" : formatTime(size / divisor) };
  }
  const amount = barAmount(measure, item);
  if (amount.value === null) return { size: null, text: "unknown" };
  // A peak is the same in each instance.
  const shown = bar === "activations" ? Number(amount.value) : Number(amount.value) / divisor;
  const format = bar === "flops" ? formatCount : formatBytes;
  const text = divisor === 1 ? format(amount.value) : format(Math.round(shown));
  return { size: Number(amount.value), text: sign(amount.exactness) + text };
}

export function sign(exactness: Amount["exactness"]): string {
  if (exactness === "estimated") return `≈${THIN}`;
  return exactness === "lower_bound" ? `≥${THIN}` : "";
}

// The fewest items that together make at least 80 % of the whole, ties within 1 % included: where
// one must look.
export function hotSet(sizes: ReadonlyMap<string, number | null>): Set<string> {
  const sorted = [...sizes].flatMap(([key, size]) => (size ? [{ key, size }] : [])).sort((a, b) => b.size - a.size);
  const whole = sorted.reduce((total, { size }) => total + size, 0);
  const hot = new Set<string>();
  let covered = 0;
  let last = 0;
  for (const { key, size } of sorted) {
    if (covered >= 0.8 * whole && size < 0.99 * last) break;
    hot.add(key);
    covered += size;
    last = size;
  }
  return hot;
}
