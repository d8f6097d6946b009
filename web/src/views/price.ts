// A model of the catalogue under the landing page's load.
import type { CatalogMode, CatalogModel } from "../document/catalog.ts";
import type { Mode, SummaryName } from "../document/types.ts";
import { evaluate } from "../formula/evaluate.ts";
import { FormulaError, parseFormula, type Program } from "../formula/parse.ts";
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
}

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

export function price(model: CatalogModel, load: Load, capacity: bigint | null): Priced {
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
    over: capacity !== null && total !== null && total > capacity,
  };
}
