// A document at one setting: every quantity as a number, computed once when first asked for.
import { evaluate, evaluateFewestExperts, type Bindings } from "../formula/evaluate.ts";
import { FormulaError, Op, parseFormula, type Program } from "../formula/parse.ts";
import type {
  Document, Exactness, Formula, GraphNode, Item, MetricName, Module, Quantity, Source, SummaryName, Value,
} from "../document/types.ts";

export interface Amount {
  value: bigint | null; // null: unknown
  exactness: Exactness;
  source: Source;
  formula: string | null;
}

export const UNKNOWN: Amount = { value: null, exactness: "unknown", source: "unknown", formula: null };
export const ZERO: Amount = { value: 0n, exactness: "exact", source: "rule", formula: "0" };

export function compiled(formula: Formula): Program | null {
  if (formula.program === undefined) {
    try {
      formula.program = parseFormula(formula.text);
    } catch (error) {
      if (!(error instanceof FormulaError)) throw error;
      formula.program = null;
    }
  }
  return formula.program;
}

export class Evaluation {
  private readonly values: (bigint | null | undefined)[];

  constructor(
    readonly document: Document,
    readonly bindings: Bindings,
  ) {
    this.values = new Array(document.formulas.length);
  }

  formula(index: number | null): bigint | null {
    if (index === null) return null;
    let value = this.values[index];
    if (value === undefined) {
      const program = compiled(this.document.formulas[index] as Formula);
      value = program === null ? null : evaluate(program, this.bindings);
      this.values[index] = value;
    }
    return value;
  }

  // A bound holds under any routing, so it takes the chosen experts once.
  fewestExperts(index: number | null): bigint | null {
    const program = index === null ? null : compiled(this.document.formulas[index] as Formula);
    return program?.ops.includes(Op.ExpectedDistinct) ? evaluateFewestExperts(program, this.bindings) : this.formula(index);
  }

  amount(quantity: Quantity | undefined): Amount {
    if (!quantity) return ZERO;
    if (quantity.formula === null) return UNKNOWN;
    const value = this.formula(quantity.formula);
    return {
      value,
      exactness: value === null ? "unknown" : quantity.exactness,
      source: quantity.source,
      formula: (this.document.formulas[quantity.formula] as Formula).text,
    };
  }

  summary(name: SummaryName): Amount {
    return this.amount(this.document.summary[name]);
  }

  // Of the fullest device; of the whole model where there is one.
  perDevice(name: SummaryName): Amount {
    return this.amount((this.document.parallel ?? this.document).summary[name]);
  }

  get devices(): bigint {
    return this.document.parallel ? (this.formula(this.document.parallel.devices) ?? 1n) : 1n;
  }

  metric(item: Item, name: MetricName): Amount {
    return this.amount(this.owner(item).metrics[name]);
  }

  owner(item: Item): Module | GraphNode {
    return item.kind === "module"
      ? (this.document.modules[item.id] as Module)
      : (this.document.nodes[item.id] as GraphNode);
  }

  // `[8, 1, 2048]`, null where the rank is unknown; `?` for an unknown dimension.
  dimensions(shape: Value["shape"]): (bigint | null)[] | null {
    return shape === null ? null : shape.map((dim) => this.formula(dim));
  }
}

const RANK: Exactness[] = ["exact", "estimated", "lower_bound", "assumed", "unknown"];

// A sum is as exact as its worst part; known plus unknown is a lower bound.
export function sum(amounts: Amount[]): Amount {
  let total = 0n;
  let worst: Exactness = "exact";
  let unknown = 0;
  for (const { value, exactness } of amounts) {
    if (value === null) unknown += 1;
    else {
      total += value;
      if (RANK.indexOf(exactness) > RANK.indexOf(worst)) worst = exactness;
    }
  }
  if (unknown > 0 && unknown === amounts.length) return UNKNOWN;
  return { value: total, exactness: unknown > 0 ? "lower_bound" : worst, source: "rule", formula: null };
}

// One instance's part of a total over all of them; null where it is not the same in each.
export function perInstance(amount: Amount, multiplicity: number): Amount {
  if (amount.value === null || multiplicity === 1) return amount;
  const divisor = BigInt(multiplicity);
  if (amount.value % divisor !== 0n) return { ...amount, value: amount.value / divisor, exactness: "estimated" };
  return { ...amount, value: amount.value / divisor };
}
