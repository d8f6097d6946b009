// Module paths. A stage stands for several instances, and the path of any of them opens the stage at
// that instance: `model.layers.7.self_attn` is the template `model.layers.0.self_attn` at instance 7.
import type { Document, Module } from "./types.ts";

// Which instance is looked at, per stage (by module id); a stage that is not named is at its first.
export type Instances = ReadonlyMap<number, number>;

export interface Place {
  module: number;
  instances: Instances;
}

export function ancestors(document: Document, id: number): Module[] {
  const chain: Module[] = [];
  for (let at: number | null = id; at !== null; ) {
    const module: Module = document.modules[at] as Module;
    chain.unshift(module);
    at = module.parent;
  }
  return chain;
}

// Where opening a module leads: a stage that holds nothing but its first instance opens that.
export function entrance(document: Document, id: number): number {
  for (let at = id; ; ) {
    const module = document.modules[at] as Module;
    const only = module.items.length === 1 ? module.items[0] : undefined;
    if (!module.stage || only?.kind !== "module") return at;
    at = only.id;
  }
}

// Whether a module is what its stage opens as, and so needs no crumb of its own.
export function isEntrance(document: Document, module: Module): boolean {
  const parent = module.parent === null ? undefined : document.modules[module.parent];
  return parent !== undefined && parent.stage && parent.items.length === 1;
}

// The module that Backspace leads to; null at the root.
export function above(document: Document, id: number): number | null {
  let at = document.modules[id] as Module;
  while (isEntrance(document, at)) at = document.modules[at.parent as number] as Module;
  return at.parent;
}

const indexes = new WeakMap<Document, Map<string, number>>();

function byPath(document: Document): Map<string, number> {
  let index = indexes.get(document);
  if (!index) {
    index = new Map();
    for (const module of document.modules) if (!index.has(module.path)) index.set(module.path, module.id);
    indexes.set(document, index);
  }
  return index;
}

interface Slice {
  base: string;
  begin: number;
  end: number;
}

// `model.layers[6:12]`, and `model.layers.7` as the slice of one.
function slice(path: string): Slice | null {
  const range = /^(.*)\[(\d+):(\d+)\]$/.exec(path);
  if (range) return { base: range[1] as string, begin: Number(range[2]), end: Number(range[3]) };
  const single = /^(.*)\.(\d+)$/.exec(path);
  return single ? { base: single[1] as string, begin: Number(single[2]), end: Number(single[2]) + 1 } : null;
}

// `path`, which lies under the instance `from`, as it reads under the instance `to`; null: it does not
// lie there.
function moveInstance(path: string, from: string, to: string): string | null {
  if (path === from) return to;
  if (path.startsWith(`${from}.`) || path.startsWith(`${from}/`)) return to + path.slice(from.length);
  const source = slice(from);
  const target = slice(to);
  if (!source || !target || !path.startsWith(source.base)) return null;
  const rest = path.slice(source.base.length);
  const shift = (text: string) => String(Number(text) - source.begin + target.begin);
  const inside = /^\.(\d+)(?=[./]|$)/.exec(rest);
  if (inside && within(Number(inside[1]), source)) {
    return `${target.base}.${shift(inside[1] as string)}${rest.slice(inside[0].length)}`;
  }
  const nested = /^\[(\d+):(\d+)\]/.exec(rest);
  if (nested && within(Number(nested[1]), source) && Number(nested[2]) <= source.end) {
    const range = `[${shift(nested[1] as string)}:${shift(nested[2] as string)}]`;
    return target.base + range + rest.slice(nested[0].length);
  }
  return null;
}

const within = (index: number, range: Slice) => index >= range.begin && index < range.end;

// The place that a path names, or null. Outer stages are tried before inner ones.
export function resolvePath(document: Document, path: string): Place | null {
  const index = byPath(document);
  const instances = new Map<number, number>();
  let current = path;
  for (let round = 0; round < 8; ++round) {
    const direct = index.get(current);
    if (direct !== undefined) return { module: direct, instances };
    const step = towardsTemplate(document, current, instances);
    if (!step) return null;
    if (step.stage !== undefined) return { module: step.stage, instances };
    current = step.path;
  }
  return null;
}

function towardsTemplate(
  document: Document, path: string, instances: Map<number, number>,
): { path: string; stage?: number } | null {
  for (const module of document.modules) {
    const first = module.instances[0];
    if (!module.stage || first === undefined || instances.has(module.id)) continue;
    for (let i = 0; i < module.instances.length; ++i) {
      const instance = module.instances[i] as string;
      const moved = moveInstance(path, instance, first);
      if (moved === null) continue;
      instances.set(module.id, i);
      if (path === instance && !byPath(document).has(moved)) return { path: moved, stage: module.id };
      return { path: moved };
    }
  }
  return null;
}

// The nearest ancestor of a path that exists; the root at the least.
export function nearestPlace(document: Document, path: string): Place {
  for (let text = path; text !== ""; text = text.replace(/(?:[./][^./]*|\[[^\]]*\]|^[^./]*)$/, "")) {
    const place = resolvePath(document, text);
    if (place) return place;
  }
  return { module: 0, instances: new Map() };
}

// A template's path as it reads at the chosen instances of the stages above it.
export function pathAt(document: Document, id: number, instances: Instances): string {
  const chain = ancestors(document, id);
  let path = (chain.at(-1) as Module).path;
  for (const stage of chain.reverse()) {
    const chosen = instances.get(stage.id);
    const first = stage.instances[0];
    const to = chosen === undefined ? undefined : stage.instances[chosen];
    if (!stage.stage || first === undefined || to === undefined) continue;
    path = stage.id === id ? to : (moveInstance(path, first, to) ?? path);
  }
  return path;
}
