// A model of the catalogue under the landing page's load.
import type { CatalogMode, CatalogModel } from "../document/catalog.ts";
import type { Mode, SummaryName } from "../document/types.ts";
import { evaluate, evaluateFewestExperts } from "../formula/evaluate.ts";
import { FormulaError, parseFormula, type Program } from "../formula/parse.ts";
import { peakOperations, usableMemory, type Device } from "../time/device.ts";
import type { Load } from "./landing.tsx";

export interface Priced {
  model: CatalogModel;
  mode: Mode; // the load's, or the one there is
  entry: CatalogMode | null;
  parts: Record<"weights" | "kv" | "state" | "activation" | "copy", bigint | null>;
  total: bigint | null;
  flops: bigint | null;
  perToken: bigint | null; // cache bytes of one more token, one sequence
  over: boolean;
  bound: number | null; // seconds that one step takes at least; null: no device, or unknown
}

const MOVED: SummaryName[] = ["weight_read_bytes", "kv_read_bytes", "kv_write_bytes"];

const programs = new Map<string, Program | null>();

function programOf(text: string): Program | null {
  let program = programs.get(text);
  if (program === undefined) {
    try {
      program = parseFormula(text);
    } catch (error) {
      if (!(error instanceof FormulaError)) throw error;
      program = null;
    }
    programs.set(text, program);
  }
  return program;
}

export function price(model: CatalogModel, load: Load, device: Device | null): Priced {
  const capacity = device ? usableMemory(device) : null;
  const other: Mode = load.mode === "decode" ? "prefill" : "decode";
  const mode = model.modes[load.mode] ? load.mode : other;
  const entry = model.modes[mode] ?? null;
  const bindings = new Map(entry?.variables.map(({ name, value }) => [name, value]));
  const bind = (name: string, value: bigint) => {
    if (bindings.has(name)) bindings.set(name, value);
  };
  bind("batch_size", load.batch);
  bind("current_length", load.length);
  bind("max_length", load.length);
  const value = (name: SummaryName, at: ReadonlyMap<string, bigint> = bindings): bigint | null => {
    const formula = entry?.summary[name]?.formula;
    const program = formula === null || formula === undefined ? null : programOf(formula);
    return program === null ? null : evaluate(program, at);
  };
  // A bound holds under any routing, so it takes the chosen experts once.
  const least = (name: SummaryName): number | null => {
    const formula = entry?.summary[name]?.formula;
    const program = formula === null || formula === undefined ? null : programOf(formula);
    const bytes = program === null ? null : evaluateFewestExperts(program, bindings);
    return bytes === null ? null : Number(bytes);
  };
  const total = value("total_bytes");
  const kv = value("kv_cache_bytes");
  return {
    model, mode, entry, total,
    parts: {
      weights: value("weight_bytes"), kv, state: value("state_bytes"),
      activation: value("activation_peak_bytes"), copy: value("cache_copy_bytes"),
    },
    flops: value("flops"),
    perToken: kv === null || kv === 0n ? kv : value("kv_cache_bytes", new Map([...bindings, ["batch_size", 1n], ["max_length", load.length + 1n]]))! - value("kv_cache_bytes", new Map([...bindings, ["batch_size", 1n]]))!,
    bound: device ? boundOf(device, model, least("flops"), MOVED.map(least)) : null,
    over: capacity !== null && total !== null && total > capacity,
  };
}

// A step's bound from the summary alone: compute at the dense peak of the type most weights have,
// compulsory bytes at the whole bandwidth.
function boundOf(device: Device, model: CatalogModel, flops: number | null, moved: (number | null)[]): number | null {
  const main = [...model.dtypes].sort((a, b) => Number(b.bytes - a.bytes))[0]?.dtype ?? "";
  const peak = peakOperations(device, /^u?int|^f4|^f8/.test(main) ? "bf16" : main);
  if (flops === null || peak === null || moved.includes(null)) return null;
  const bytes = moved.reduce((sum: number, part) => sum + (part ?? 0), 0);
  const seconds = Math.max(flops / peak, bytes / device.bandwidth_bytes_per_second);
  return seconds > 0 ? seconds : null;
}
