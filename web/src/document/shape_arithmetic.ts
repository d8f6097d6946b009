// Operators that only compute shapes and indices: exporters write them between the operators that do
// the work, and they are most of an exported graph's nodes while they cost nothing.
import type { Document, GraphNode } from "./types.ts";
import type { Level } from "./level.ts";

const MOST_ELEMENTS = 32;

// Every result is a handful of integers, whatever the setting.
export function isShapeArithmetic(document: Document, node: GraphNode): boolean {
  const outputs = node.outputs.filter((output) => output !== null);
  return outputs.length > 0 && outputs.every((output) => {
    const value = document.values[output];
    if (!value || value.role !== "activation" || value.shape === null || !/^(u?int(32|64)|bool)$/.test(value.dtype)) return false;
    let elements = 1;
    for (const dim of value.shape) {
      const text = dim === null ? "" : (document.formulas[dim]?.text ?? "");
      if (!/^\d+$/.test(text)) return false;
      elements *= Number(text);
    }
    return elements <= MOST_ELEMENTS;
  });
}

const hidden = new WeakMap<Level, Set<string>>();

// The boxes of a level that only compute shapes; none where nothing else would be left.
export function shapeBoxes(document: Document, level: Level): Set<string> {
  let keys = hidden.get(level);
  if (!keys) {
    keys = new Set(level.boxes.flatMap(({ key, item }) =>
      item.kind === "node" && isShapeArithmetic(document, document.nodes[item.id] as GraphNode) ? [key] : []));
    if (keys.size === level.boxes.length) keys.clear();
    hidden.set(level, keys);
  }
  return keys;
}
