// The document's formulas, each text once; quantities that are spelled out join them.
import type { Reader } from "./reader.ts";
import type { Formula, Quantity } from "./types.ts";

const EXACTNESS = ["exact", "estimated", "lower_bound", "assumed", "unknown"] as const;
const SOURCES = ["tensor", "config", "graph", "rule", "assumed", "unknown"] as const;

export class FormulaTable {
  readonly all: Formula[];
  private readonly byText = new Map<string, number>();

  constructor(texts: string[]) {
    this.all = texts.map((text) => ({ text, program: undefined }));
    texts.forEach((text, index) => this.byText.set(text, index));
  }
  get size() {
    return this.all.length;
  }
  indexOf(text: string): number {
    let index = this.byText.get(text);
    if (index === undefined) {
      index = this.all.push({ text, program: undefined }) - 1;
      this.byText.set(text, index);
    }
    return index;
  }
}

export function readQuantity(reader: Reader, formula: number | null): Quantity {
  return {
    formula,
    exactness: formula === null ? "unknown" : reader.oneOf("exactness", EXACTNESS, "exact"),
    source: reader.oneOf("source", SOURCES, formula === null ? "unknown" : "rule"),
  };
}

// {"formula": "2*batch_size", …}
export function readSpelled(reader: Reader, formulas: FormulaTable): Quantity {
  const text = reader.textOrNull("formula");
  return readQuantity(reader, text === null ? null : formulas.indexOf(text));
}
