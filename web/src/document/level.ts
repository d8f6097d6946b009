// What one view shows: the boxes of a module and the edges between them. Edges are not stored per
// level; a value's producer and consumers are lifted to the box that contains them.
import type { Document, GraphNode, Item, Module, Value } from "./types.ts";

export interface Box {
  key: string; // "m12" or "n7": unique in the document
  item: Item;
}

export interface Edge {
  from: string; // a box's or a pill's key
  to: string;
  values: number[]; // largest first is the drawing's business
}

export interface Pill {
  key: string;
  direction: "in" | "out";
  values: number[];
  cache: "key_value" | "state" | null;
}

export interface Level {
  module: Module;
  boxes: Box[];
  edges: Edge[];
  pills: Pill[];
  unread: number[]; // its own tensors that no node of the level reads
}

export const boxKey = (item: Item) => (item.kind === "module" ? `m${item.id}` : `n${item.id}`);

const levels = new WeakMap<Document, Map<number, Level>>();

export function levelOf(document: Document, id: number): Level {
  let known = levels.get(document);
  if (!known) levels.set(document, (known = new Map()));
  let level = known.get(id);
  if (!level) known.set(id, (level = buildLevel(document, id)));
  return level;
}

// For each module, the box of `root` it lies in; -1 outside.
function boxOfModules(document: Document, root: Module): Int32Array {
  const boxes = new Int32Array(document.modules.length).fill(-1);
  root.items.forEach((item, index) => {
    if (item.kind === "module") boxes[item.id] = index;
  });
  for (const module of document.modules) {
    // A parent stands before its children, so one pass carries the box down.
    if (module.parent === null || module.parent === root.id || boxes[module.id] !== -1) continue;
    boxes[module.id] = boxes[module.parent] as number;
  }
  return boxes;
}

function buildLevel(document: Document, id: number): Level {
  const module = document.modules[id] as Module;
  const boxes = module.items.map((item) => ({ key: boxKey(item), item }));
  const boxOfModule = boxOfModules(document, module);
  const ownNodes = new Map(module.items.flatMap((item, i) => (item.kind === "node" ? [[item.id, i]] : [])));
  const boxOf = (node: number): number =>
    ownNodes.get(node) ?? (boxOfModule[(document.nodes[node] as GraphNode).module] as number);

  const builder = new LevelBuilder(boxes);
  for (const value of document.values) {
    if (value.role === "initializer" || value.tensor !== null) continue;
    builder.add(document, value, boxOf);
  }
  const stage = module.parent !== null && !module.stage ? (document.modules[module.parent] as Module) : module;
  if (stage === module || (stage.stage && stage.items.length === 1)) builder.closeStage(document, stage, boxOf);
  const read = new Set<number>();
  for (const box of boxes) {
    if (box.item.kind !== "node") continue;
    for (const input of (document.nodes[box.item.id] as GraphNode).inputs) {
      const tensor = input === null ? null : document.values[input]?.tensor;
      if (tensor !== null && tensor !== undefined) read.add(tensor);
    }
  }
  return {
    module,
    boxes,
    edges: [...builder.edges.values()],
    pills: [...builder.pills.values()],
    unread: module.tensors.filter((tensor) => !read.has(tensor)),
  };
}

class LevelBuilder {
  readonly edges = new Map<string, Edge>();
  readonly pills = new Map<string, Pill>();

  constructor(private readonly boxes: Box[]) {}

  add(document: Document, value: Value, boxOf: (node: number) => number) {
    const from = value.producer === null ? -1 : boxOf(value.producer);
    const readers = new Set<number>();
    let leaves = value.role === "output";
    for (const consumer of value.consumers) {
      const box = boxOf(consumer);
      if (box < 0) leaves = true;
      else readers.add(box);
    }
    if (value.role === "cache") return this.addCache(document, value, from, readers);
    for (const box of readers) {
      if (from >= 0 && box !== from) this.edge(this.key(from), this.key(box), value.id);
      if (from < 0) this.edge(this.pill("in", value), this.key(box), value.id);
    }
    if (from >= 0 && leaves) this.edge(this.key(from), this.pill("out", value), value.id);
  }

  // A cache is drawn where an operator of this very level reads or writes it; above, it would repeat.
  private addCache(document: Document, value: Value, from: number, readers: Set<number>) {
    const cache = document.caches.find((c) => c.input === value.id || c.output === value.id);
    const kind = cache?.kind === "state" ? "state" : "key_value";
    for (const box of readers) {
      if (from >= 0) {
        if (box !== from) this.edge(this.key(from), this.key(box), value.id);
      } else if (this.isNode(box)) {
        this.edge(this.pill("in", value, kind, this.key(box)), this.key(box), value.id);
      }
    }
    if (from >= 0 && this.isNode(from) && cache?.output === value.id) {
      this.edge(this.key(from), this.pill("out", value, kind, this.key(from)), value.id);
    }
  }

  // What a stage hands on leaves it, though in the first instance alone nobody outside reads it.
  closeStage(document: Document, module: Module, boxOf: (node: number) => number) {
    for (const [produced] of module.carried) {
      const value = document.values[produced] as Value;
      const from = value.producer === null ? -1 : boxOf(value.producer);
      if (from >= 0) this.edge(this.key(from), this.pill("out", value), value.id);
    }
  }

  private key(box: number): string {
    return (this.boxes[box] as Box).key;
  }

  private isNode(box: number): boolean {
    return (this.boxes[box] as Box).item.kind === "node";
  }

  private pill(direction: Pill["direction"], value: Value, cache: Pill["cache"] = null, box = ""): string {
    const key = cache ? `${direction}:${cache}:${box}` : `${direction}:${value.id}`;
    const pill = this.pills.get(key);
    if (!pill) this.pills.set(key, { key, direction, values: [value.id], cache });
    else if (!pill.values.includes(value.id)) pill.values.push(value.id);
    return key;
  }

  private edge(from: string, to: string, value: number) {
    const key = `${from}>${to}`;
    const edge = this.edges.get(key);
    if (!edge) this.edges.set(key, { from, to, values: [value] });
    else if (!edge.values.includes(value)) edge.values.push(value);
  }
}

// Every node in and below a module, in execution order.
export function nodesBelow(document: Document, id: number): number[] {
  const found: number[] = [];
  const stack: Item[] = [{ kind: "module", id }];
  while (stack.length > 0) {
    const item = stack.pop() as Item;
    if (item.kind === "node") found.push(item.id);
    else stack.push(...(document.modules[item.id] as Module).items.slice().reverse());
  }
  return found;
}

export function modulesBelow(document: Document, id: number): number[] {
  const inside = new Uint8Array(document.modules.length);
  inside[id] = 1;
  const found = [id];
  for (const module of document.modules) {
    if (module.parent === null || inside[module.parent] === 0 || module.id === id) continue;
    inside[module.id] = 1;
    found.push(module.id);
  }
  return found;
}
