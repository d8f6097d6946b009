// A level as things to draw: boxes with their lines of text, pills, edges with labels; then placed.
import { fitText, textWidth } from "../layout/text.ts";
import { adjust, layOut, type Layout, type Link, type Size } from "../layout/layout.ts";
import type { Edge, Level, Pill } from "../document/level.ts";
import { shapeBoxes } from "../document/shape_arithmetic.ts";
import type { GraphNode, Item, Value } from "../document/types.ts";
import type { Evaluation } from "../metrics/evaluation.ts";
import { formatBytes, formatShape } from "../format/number.ts";
import { sourceName, targetName } from "./names.ts";
import {
  itemLabel, lastPart, moduleOf, nodeOf, rangeText, weightsOf, type Session,
} from "./session.ts";

export type BoxShape = "module" | "operator" | "view";

export interface BoxModel extends Size {
  shape: BoxShape;
  item: Item;
  title: string;
  kind: string;
  range: string;
  repeat: number;
  third: { left: string; right: string } | null;
  unknownFlops: boolean;
  dashed: boolean;
  tags: string[]; // side inputs
}

export interface PillModel extends Size {
  direction: "in" | "out";
  cache: "key_value" | "state" | null;
  text: string;
  title: string;
}

export interface EdgeModel extends Link {
  title: string;
}

export interface GraphModel {
  boxes: BoxModel[];
  pills: PillModel[];
  edges: EdgeModel[];
  layout: Layout;
}

export const BOX = { module: [256, 94], operator: [212, 60], view: [176, 28] } as const;
export const BOX_LIMIT = 150;
const THIRD_LINE = 17;
const PILL_LIMIT = 10;

const drawn = new WeakMap<Level, Layout>();

export function buildGraph(session: Session): GraphModel {
  const level = shownLevel(session);
  const boxes = level.boxes.map(({ key, item }) => boxModel(session, key, item));
  const sized = new Edges(session);
  const { pills, edges } = sized.build(level, boxes);
  const sizes = [...boxes, ...pills];
  const before = drawn.get(session.level);
  const layout = (before && adjust(before, sizes, edges)) ?? layOut(sizes, edges);
  if (layout !== before) drawn.set(session.level, layout);
  return { boxes, pills, edges, layout };
}

// The level without the operators that only compute shapes, unless they are asked for.
export function shownLevel({ level, document, settings }: Session): Level {
  const hidden = settings.shapes === "shown" ? null : shapeBoxes(document, level);
  if (!hidden || hidden.size === 0) return level;
  return {
    ...level,
    boxes: level.boxes.filter(({ key }) => !hidden.has(key)),
    edges: level.edges.filter(({ from, to }) => !hidden.has(from) && !hidden.has(to)),
  };
}

function boxModel(session: Session, key: string, item: Item): BoxModel {
  return item.kind === "module" ? moduleBox(session, key, item) : nodeBox(session, key, item);
}

const plain = { range: "", repeat: 1, third: null, unknownFlops: false, dashed: false };

function moduleBox(session: Session, key: string, item: Item): BoxModel {
  const module = moduleOf(session.document, item.id);
  const [width, height] = BOX.module;
  const unattributed = module.name === "(unattributed)";
  return {
    ...plain, key, item, width, height, shape: "module", tags: [],
    title: itemLabel(session.document, item),
    kind: unattributed ? `${module.tensors.length} tensors that no node reads` : module.kind || (module.stage ? "" : `${module.items.length} parts`),
    range: rangeText(module),
    repeat: module.stage ? module.repeat : 1,
    unknownFlops: session.evaluation.metric(item, "flops").exactness === "unknown",
    dashed: unattributed,
  };
}

function nodeBox(session: Session, key: string, item: Item): BoxModel {
  const { document, evaluation, level } = session;
  const node = nodeOf(document, item.id);
  const common = { ...plain, key, item, title: node.opType, kind: itemLabel(document, item), tags: [] };
  if (node.view) {
    const [, height] = BOX.view;
    const width = Math.min(230, Math.max(120, textWidth(node.opType, 12, "mono") + 110));
    return { ...common, shape: "view", width, height };
  }
  const [width, height] = BOX.operator;
  const third = weightLine(session, node, evaluation, level);
  return {
    ...common, shape: "operator", width, height: height + (third ? THIRD_LINE : 0), third,
    unknownFlops: evaluation.metric(item, "flops").exactness === "unknown",
  };
}

// The weight an operator holds, if it is more than 0.2 % of the view's.
function weightLine(session: Session, node: GraphNode, evaluation: Evaluation, level: Level) {
  const weight = weightsOf(session.document, node)[0];
  if (!weight) return null;
  const bytes = Number(weight.bytes) * weight.instances;
  const whole = Number(evaluation.metric({ kind: "module", id: level.module.id }, "weight_bytes").value ?? 0n);
  if (bytes <= 0.002 * whole) return null;
  const shape = weight.shape.map(String).join("×");
  return { left: `${shape} ${weight.dtype}`, right: formatBytes(bytes) };
}

class Edges {
  private readonly labelled = new Set<number>();

  constructor(private readonly session: Session) {}

  build(level: Level, boxes: BoxModel[]): { pills: PillModel[]; edges: EdgeModel[] } {
    const byKey = new Map(boxes.map((box) => [box.key, box]));
    const pills = new Map(level.pills.map((pill) => [pill.key, pill]));
    const kept = level.edges.filter((edge) => !this.takeAsTag(edge, pills, byKey, level));
    const { folded, groups } = foldPills(kept, pills);
    const used = new Set(folded.flatMap((edge) => [edge.from, edge.to]));
    const models = [...pills.values(), ...groups].filter((pill) => used.has(pill.key)).map((pill) => this.pill(pill));
    return { pills: models, edges: folded.map((edge) => this.edge(edge, pills)) };
  }

  private bytes(value: number): number {
    const { bytes } = this.session.document.values[value] as Value;
    return Number(this.session.evaluation.formula(bytes) ?? 0n);
  }

  private largest(values: number[]): number {
    return values.reduce((best, value) => (this.bytes(value) > this.bytes(best) ? value : best));
  }

  // A side input of less than 1/8 of the reader's largest is named on the reader, not drawn.
  private takeAsTag(edge: Edge, pills: Map<string, Pill>, boxes: Map<string, BoxModel>, level: Level): boolean {
    const pill = pills.get(edge.from);
    const reader = boxes.get(edge.to);
    if (!pill || pill.direction !== "in" || pill.cache || !reader) return false;
    const into = level.edges.filter((other) => other.to === edge.to).flatMap((other) => other.values);
    const most = Math.max(...into.map((value) => this.bytes(value)));
    if (into.length < 2 || this.bytes(this.largest(edge.values)) * 8 >= most) return false;
    for (const id of edge.values) {
      const name = lastPart(sourceName(this.session.document, level.module, this.session.document.values[id] as Value));
      if (!reader.tags.includes(name)) reader.tags.push(name);
    }
    return true;
  }

  private shapeText(value: Value): string {
    const shape = formatShape(this.session.evaluation.dimensions(value.shape));
    return `${shape} ${value.dtype}`.trim();
  }

  private pill(pill: Pill): PillModel {
    const values = pill.values.map((id) => this.session.document.values[id] as Value);
    const main = this.session.document.values[this.largest(pill.values)] as Value;
    const more = values.length > 1 && !pill.cache ? ` +${values.length - 1}` : "";
    const { document, level } = this.session;
    const called = pill.direction === "in" ? sourceName(document, level.module, main) : targetName(document, level.module, main);
    const name = pill.cache === null ? fitText(called, 210, 12, "mono") : cacheName(pill);
    const text = `${name} ${this.shapeText(main)}${more}`;
    return {
      key: pill.key, direction: pill.direction, cache: pill.cache, text,
      title: values.map((value) => `${value.name} ${this.shapeText(value)}`).slice(0, 12).join("\n"),
      width: textWidth(text, 12, "mono") + (pill.cache ? 40 : 26),
      height: 28,
    };
  }

  private edge(edge: Edge, pills: Map<string, Pill>): EdgeModel {
    const title = edge.values.slice(0, 12).map((id) => {
      const value = this.session.document.values[id] as Value;
      const bytes = this.session.evaluation.formula(value.bytes);
      return `${value.name} ${this.shapeText(value)}${bytes === null ? "" : `, ${formatBytes(bytes)}`}`;
    }).join("\n");
    const label = pills.has(edge.from) || edge.from.startsWith("more") || edge.to.startsWith("more") ? "" : this.label(edge);
    return {
      from: edge.from, to: edge.to, label, title,
      labelWidth: label === "" ? 0 : textWidth(label, 11, "mono") + 8,
      weight: 1 + Math.round(Math.log2(1 + this.bytes(this.largest(edge.values)))),
    };
  }

  // Once per tensor: on the first edge that carries it. A pill says its shape itself.
  private label(edge: Edge): string {
    if (edge.to.includes(":")) return "";
    const fresh = edge.values.filter((value) => !this.labelled.has(value));
    if (fresh.length === 0) return "";
    fresh.forEach((value) => this.labelled.add(value));
    const value = this.session.document.values[this.largest(fresh)] as Value;
    const more = edge.values.length > 1 ? ` +${edge.values.length - 1}` : "";
    return this.shapeText(value) + more;
  }
}

function cacheName(pill: Pill): string {
  if (pill.cache === "state") return pill.direction === "in" ? "past state" : "new state";
  return pill.direction === "in" ? "past K, V" : "present K, V";
}

// Many inputs or outputs become one pill that counts them.
function foldPills(edges: Edge[], pills: Map<string, Pill>): { folded: Edge[]; groups: Pill[] } {
  const groups: Pill[] = [];
  const renamed = new Map<string, string>();
  for (const direction of ["in", "out"] as const) {
    const all = [...pills.values()].filter((pill) => pill.direction === direction);
    if (all.length <= PILL_LIMIT) continue;
    const key = `more:${direction}`;
    groups.push({ key, direction, values: all.flatMap((pill) => pill.values), cache: null });
    for (const pill of all) renamed.set(pill.key, key);
  }
  if (renamed.size === 0) return { folded: edges, groups };
  const merged = new Map<string, Edge>();
  for (const edge of edges) {
    const from = renamed.get(edge.from) ?? edge.from;
    const to = renamed.get(edge.to) ?? edge.to;
    const key = `${from}>${to}`;
    const same = merged.get(key);
    if (same) same.values.push(...edge.values);
    else merged.set(key, { from, to, values: [...edge.values] });
  }
  return { folded: [...merged.values()], groups };
}
