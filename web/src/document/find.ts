// Search in a document: words of the path, `op:MatMul`, `dtype:bf16`, `>1GiB`, `unknown`, `/regex/`.
import type { Document, Item } from "./types.ts";

export interface Found {
  item: Item;
  title: string;
  name: string;
  path: string;
  times: number;
  tensor: string | null;
}

export interface Query {
  words: string[];
  op: string | null;
  dtype: string | null;
  least: number | null; // bytes of weights
  unknown: boolean;
  pattern: RegExp | null;
  error: string | null;
}

const UNITS: Record<string, number> = { "": 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 };

export function parseQuery(text: string): Query {
  const query: Query = { words: [], op: null, dtype: null, least: null, unknown: false, pattern: null, error: null };
  const regex = /^\s*\/(.+)\/\s*$/.exec(text);
  if (regex) {
    try {
      query.pattern = new RegExp((regex[1] as string).slice(0, 200), "i");
    } catch (error) {
      query.error = error instanceof Error ? error.message : String(error);
    }
    return query;
  }
  for (const word of text.toLowerCase().split(/\s+/).filter((part) => part !== "")) {
    const size = /^>([\d.]+)([kmgt]?)(?:i?b|bytes)?$/.exec(word);
    if (word.startsWith("op:")) query.op = word.slice(3);
    else if (word.startsWith("dtype:")) query.dtype = word.slice(6);
    else if (size) query.least = Number(size[1]) * (UNITS[size[2] as string] as number);
    else if (word === "unknown") query.unknown = true;
    else query.words.push(word);
  }
  return query;
}

interface Entry extends Found {
  text: string;
  op: string;
  dtypes: string;
  unknown: boolean;
}

const indexes = new WeakMap<Document, Entry[]>();

function indexOf(document: Document): Entry[] {
  let entries = indexes.get(document);
  if (!entries) indexes.set(document, (entries = buildIndex(document)));
  return entries;
}

const hasUnknown = (metrics: object) =>
  Object.values(metrics).some((quantity: { exactness?: string }) => quantity.exactness === "unknown");

function buildIndex(document: Document): Entry[] {
  const entries: Entry[] = [];
  for (const module of document.modules) {
    if (module.parent === null) continue;
    entries.push({
      item: { kind: "module", id: module.id }, title: module.name, name: module.kind, path: module.path,
      times: module.multiplicity, tensor: null, text: `${module.path} ${module.name} ${module.kind}`.toLowerCase(), op: "",
      dtypes: "", unknown: hasUnknown(module.metrics),
    });
  }
  for (const node of document.nodes) {
    const path = document.modules[node.module]?.path ?? "";
    entries.push({
      item: { kind: "node", id: node.id }, title: node.opType, name: node.name.slice(node.name.lastIndexOf("/") + 1),
      path: path === "" ? node.name : `${path} · ${node.name}`, times: node.multiplicity, tensor: null,
      text: `${path} ${node.name} ${node.opType}`.toLowerCase(), op: node.opType.toLowerCase(),
      dtypes: node.computeDtype.toLowerCase(), unknown: hasUnknown(node.metrics),
    });
  }
  for (const tensor of document.tensors) {
    if (tensor.module === null || tensor.role === "constant") continue;
    entries.push({
      item: { kind: "module", id: tensor.module }, title: tensor.name.slice(tensor.name.lastIndexOf(".") + 1),
      name: `[${tensor.shape.join(", ")}] ${tensor.dtype}`, path: tensor.name, times: tensor.instances, tensor: tensor.name,
      text: tensor.name.toLowerCase(), op: "", dtypes: tensor.dtype.toLowerCase(), unknown: false,
    });
  }
  return entries;
}

// Those that match, unsorted; `bytesOf` gives the weights of an item.
export function find(document: Document, query: Query, bytesOf: (item: Item) => number): Found[] {
  return indexOf(document).filter((entry) => matches(entry, query, bytesOf));
}

function matches(entry: Entry, query: Query, bytesOf: (item: Item) => number): boolean {
  if (query.error) return false;
  if (query.pattern) return query.pattern.test(entry.text);
  if (query.op !== null && !entry.op.startsWith(query.op)) return false;
  if (query.op !== null && entry.op === "") return false;
  if (query.dtype !== null && !entry.dtypes.includes(query.dtype)) return false;
  if (query.unknown && !entry.unknown) return false;
  if (query.least !== null && bytesOf(entry.item) < query.least) return false;
  return query.words.every((word) => entry.text.includes(word));
}
