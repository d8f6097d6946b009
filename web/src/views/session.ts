// What every view of the model page reads: the document at the current setting, the place, and the
// things a person can do.
import type { Document, GraphNode, Item, Mode, Module, Tensor } from "../document/types.ts";
import type { Level } from "../document/level.ts";
import type { Place } from "../document/paths.ts";
import type { Evaluation } from "../metrics/evaluation.ts";
import type { Measure } from "../metrics/bar.ts";
import type { Settings } from "../settings/settings.ts";
import type { Device } from "../time/device.ts";
import type { StepTime } from "../time/estimate.ts";

export type Overlay = "find" | "keys" | "assumptions" | "findings" | "export" | "compare" | null;

export interface Actions {
  open(item: Item): void;
  goTo(module: number, select?: string | null): void;
  up(): void;
  stepInstance(stage: number, instance: number): void;
  select(key: string | null): void;
  update(patch: Partial<Settings>, history?: "push" | "replace"): void;
  setVariable(name: string, value: bigint): void;
  setMode(mode: Mode): void;
  show(overlay: Overlay, query?: string): void;
  openText(name: string, text: string): void;
  say(note: string): void;
}

export interface Session {
  document: Document;
  settings: Settings;
  place: Place;
  level: Level;
  evaluation: Evaluation;
  device: Device | null;
  time: StepTime | null;
  measure: Measure;
  selected: string | null; // a box's key
  compared: Compared | null;
  otherMode: { mode: Mode; available: boolean; sought: boolean; reason: string };
  actions: Actions;
}

// The second document of a comparison: another, or the same one at other settings.
export interface Compared {
  document: Document;
  name: string; // what tells it from the first
  evaluation: Evaluation;
  time: StepTime | null;
  measure: Measure;
}

export const moduleOf = (document: Document, id: number) => document.modules[id] as Module;
export const nodeOf = (document: Document, id: number) => document.nodes[id] as GraphNode;

export function tensorsOf(document: Document, node: GraphNode): Tensor[] {
  const found: Tensor[] = [];
  for (const input of node.inputs) {
    const tensor = input === null ? null : document.values[input]?.tensor;
    if (tensor !== null && tensor !== undefined) found.push(document.tensors[tensor] as Tensor);
  }
  return found;
}

export const weightsOf = (document: Document, node: GraphNode) =>
  tensorsOf(document, node).filter((tensor) => tensor.role === "parameter");

// A node by what tells it from its neighbours: the weight it applies, else its own name's last part.
export function nodeLabel(document: Document, node: GraphNode): string {
  const owner = moduleOf(document, node.module);
  const weight = weightsOf(document, node)[0];
  if (weight) {
    const short = weight.name.replace(/\.(weight|qweight|weight_packed|kernel)$/, "");
    const local = short.startsWith(`${owner.path}.`) ? short.slice(owner.path.length + 1) : lastPart(short);
    if (local !== "" && local !== owner.name) return local;
  }
  return lastPart(node.name) || node.opType;
}

export const lastPart = (name: string) => name.slice(Math.max(name.lastIndexOf("/"), name.lastIndexOf(".")) + 1);

export function itemLabel(document: Document, item: Item): string {
  return item.kind === "module" ? moduleLabel(moduleOf(document, item.id)) : nodeLabel(document, nodeOf(document, item.id));
}

export function moduleLabel(module: Module): string {
  return module.parent === null ? "Model" : module.name || module.path || "(unnamed)";
}

// How a selection is named in the URL: by path or name, which other documents have too.
export function selectionName(document: Document, key: string): string {
  const id = Number(key.slice(1));
  return key.startsWith("m") ? (document.modules[id]?.path ?? "") : (document.nodes[id]?.name ?? "");
}

export function selectionKey(level: Level, document: Document, name: string | null): string | null {
  if (name === null) return null;
  const found = level.boxes.find(({ item }) =>
    item.kind === "module" ? moduleOf(document, item.id).path === name : nodeOf(document, item.id).name === name,
  );
  return found?.key ?? null;
}

const parameterTables = new WeakMap<Document, bigint[]>();

// Parameters in and below each module, all instances.
export function parametersOf(document: Document, id: number): bigint {
  let table = parameterTables.get(document);
  if (!table) {
    table = document.modules.map(() => 0n);
    for (const tensor of document.tensors) {
      if (tensor.module !== null) table[tensor.module] = (table[tensor.module] as bigint) + tensor.parameters * BigInt(tensor.instances);
    }
    for (const module of [...document.modules].reverse()) {
      if (module.parent !== null) table[module.parent] = (table[module.parent] as bigint) + (table[module.id] as bigint);
    }
    parameterTables.set(document, table);
  }
  return table[id] as bigint;
}

export function parametersOfItem(document: Document, item: Item): bigint {
  if (item.kind === "module") return parametersOf(document, item.id);
  return weightsOf(document, nodeOf(document, item.id)).reduce(
    (total, tensor) => total + tensor.parameters * BigInt(tensor.instances), 0n);
}

// `layers 1–44` of `model.layers[1:45]`.
export function rangeText(module: Module): string {
  const match = /([^.[\]]*)\[(\d+):(\d+)\]$/.exec(module.path);
  if (!match) return "";
  const [, base, begin, end] = match;
  const last = Number(end) - 1;
  return Number(begin) === last ? `${base} ${begin}` : `${base} ${begin}–${last}`;
}

// What a view's absolute numbers are divided by: all instances, or one of them.
export function divisorOf(session: Session): number {
  return session.settings.of === "one" ? session.level.module.multiplicity : 1;
}
