// What fits: the inverse of the memory formula, by bisection on the formula itself, so that windows
// and other bends of the curve are kept.
import { evaluate } from "../formula/evaluate.ts";
import type { Document, SummaryName } from "../document/types.ts";
import { usableMemory, type Device } from "../time/device.ts";
import { compiled } from "./evaluation.ts";

export type Curve = (changed: Iterable<[string, bigint]>) => bigint | null;

// A summary quantity, of one device, as a function of changed variables.
export function curveOf(document: Document, bindings: ReadonlyMap<string, bigint>, metric: SummaryName): Curve {
  const index = (document.parallel ?? document).summary[metric]?.formula;
  const formula = index === null || index === undefined ? undefined : document.formulas[index];
  const program = formula ? compiled(formula) : null;
  return (changed) => (program === null ? null : evaluate(program, new Map([...bindings, ...changed])));
}

const MOST = 1n << 40n;

// The largest n in [least, MOST] whose bytes are within the capacity, if bytes grow with n.
export function largest(bytes: (n: bigint) => bigint | null, capacity: bigint, least = 1n): bigint | null {
  const fits = (n: bigint) => {
    const value = bytes(n);
    return value !== null && value <= capacity;
  };
  if (!fits(least)) return null;
  let good = least;
  while (good < MOST && fits(good * 2n)) good *= 2n;
  if (good >= MOST) return MOST; // it does not grow
  let bad = good * 2n;
  while (bad - good > 1n) {
    const middle = (good + bad) / 2n;
    if (fits(middle)) good = middle;
    else bad = middle;
  }
  return good;
}

export interface Fits {
  batch: bigint | null; // null: not even one
  length: bigint | null;
  lengthLimit: "device" | "model"; // what binds the length
  unbounded: { batch: boolean; length: boolean };
}

export function whatFits(document: Document, bindings: ReadonlyMap<string, bigint>, capacity: bigint): Fits {
  const total = curveOf(document, bindings, "total_bytes");
  const current = bindings.get("current_length") ?? 0n;
  const batch = largest((n) => total([["batch_size", n]]), capacity);
  const byDevice = largest(
    (n) => total([["max_length", n], ["current_length", n < current ? n : current]]), capacity);
  const limit = document.model.contextLimit;
  const length = byDevice !== null && limit !== null && limit < byDevice ? limit : byDevice;
  return {
    batch, length,
    lengthLimit: length !== byDevice ? "model" : "device",
    unbounded: { batch: batch === MOST, length: length === MOST },
  };
}

export function smallestDevice(devices: readonly Device[], total: bigint): Device | null {
  let best: Device | null = null;
  let least: bigint | null = null;
  for (const device of devices) {
    const memory = usableMemory(device);
    if (memory === null || memory < total || (least !== null && memory >= least)) continue;
    best = device;
    least = memory;
  }
  return best;
}
