// How a value is called where it enters or leaves a view: by the neighbour it comes from or goes to,
// as people know models by their modules; graph inputs and outputs keep their own names.
import { ancestors, isEntrance } from "../document/paths.ts";
import type { Document, Item, Module, Value } from "../document/types.ts";
import { itemLabel, lastPart } from "./session.ts";

// The part beside the view, or beside a module above it, that holds a node.
function neighbour(document: Document, level: Module, node: number): Item {
  const above = new Set(ancestors(document, level.id).map((module) => module.id));
  const owner = document.nodes[node]?.module ?? 0;
  for (const module of ancestors(document, owner)) {
    if (!above.has(module.id)) return { kind: "module", id: module.id };
  }
  return { kind: "node", id: node };
}

// `layers.0`, `layers[0:3]` for a part that is called by its number alone.
function neighbourName(document: Document, item: Item): string {
  const label = itemLabel(document, item);
  const path = item.kind === "module" ? (document.modules[item.id]?.path ?? "") : "";
  return /^(\d+|Stage \d+)$/.test(label) ? (/([^.]+\.\d+|[^.]+\[\d+:\d+\])$/.exec(path)?.[1] ?? label) : label;
}

export function sourceName(document: Document, level: Module, value: Value): string {
  if (value.producer === null) return value.name;
  return neighbourName(document, neighbour(document, level, value.producer));
}

export function targetName(document: Document, level: Module, value: Value): string {
  if (value.role === "output") return value.name;
  if (carriedOut(document, level).has(value.id)) return "to the next instance";
  const inside = (node: number) => ancestors(document, document.nodes[node]?.module ?? 0).some(({ id }) => id === level.id);
  const reader = value.consumers.find((node) => !inside(node));
  return reader === undefined ? lastPart(value.name) : `to ${neighbourName(document, neighbour(document, level, reader))}`;
}

// What a stage hands on, seen from the stage or from the instance it opens as.
export function carriedOut(document: Document, level: Module): Set<number> {
  const stage = isEntrance(document, level) && level.parent !== null ? document.modules[level.parent] : level;
  return new Set((stage?.carried ?? []).map(([produced]) => produced));
}
