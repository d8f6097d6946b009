// Straightens a layered drawing: layers and the order in them stay as they are, positions along a
// layer are found anew. The longest chain becomes one vertical line; what runs beside it keeps to
// straight lines as far as the gaps allow. By sweeps of weighted means, each layer put back in order
// by pooling what would overlap (isotonic regression).
import type { Layout, Placed, Routed } from "./layout.ts";

interface Slot {
  x: number; // centre
  y: number;
  width: number;
  pinned: boolean;
}

interface Tie {
  to: Slot;
  weight: number;
}

const SWEEPS = 24;
const PINNED = 1e7;
const ALIGNMENTS = 8;
const GAP = 24;
const LANE = 14; // between edges that run side by side
const INSET = 14; // of an edge's end from the corner of its box
const MARGIN = 20;

const centre = ({ x, width }: Placed) => x + width / 2;

export function straighten(layout: Layout): Layout {
  const boxes = new Map<string, Slot>();
  for (const [key, box] of layout.boxes) {
    boxes.set(key, { x: centre(box), y: box.y + box.height / 2, width: box.width, pinned: false });
  }
  const bends = layout.edges.map((edge) => edge.points.slice(1, -1).map((point): Slot => ({
    x: point.x, y: point.y, pinned: false,
    width: edge.labelAt && Math.abs(edge.labelAt.y - point.y) < 1 ? edge.labelWidth : 0,
  })));
  const middle = pinChain(layout, boxes, bends);
  const layers = layersOf([...boxes.values(), ...bends.flat()]);
  relax(layers, tiesOf(layout.edges, boxes, bends));
  alignBends(layers, bends, middle);
  return redrawn(layout, boxes, bends);
}

// The longest chain of boxes, the heaviest of those, on one vertical line.
function pinChain(layout: Layout, boxes: Map<string, Slot>, bends: Slot[][]): number {
  const into = new Map<string, number[]>();
  layout.edges.forEach((edge, index) => {
    const [from, to] = [boxes.get(edge.from), boxes.get(edge.to)];
    if (from && to && from.y < to.y) into.set(edge.to, [...(into.get(edge.to) ?? []), index]);
  });
  const best = new Map<string, { length: number; weight: number; edge: number }>();
  for (const [key] of [...boxes].sort(([, a], [, b]) => a.y - b.y)) {
    let chosen = { length: 1, weight: 0, edge: -1 };
    for (const index of into.get(key) ?? []) {
      const edge = layout.edges[index] as Routed;
      const before = best.get(edge.from);
      if (!before) continue;
      const next = { length: before.length + 1, weight: before.weight + edge.weight, edge: index };
      if (next.length > chosen.length || (next.length === chosen.length && next.weight > chosen.weight)) chosen = next;
    }
    best.set(key, chosen);
  }
  let at = "";
  for (const [key, { length, weight }] of best) {
    const now = best.get(at);
    if (!now || length > now.length || (length === now.length && weight > now.weight)) at = key;
  }
  const chain: Slot[] = [];
  while (at !== "") {
    chain.push(boxes.get(at) as Slot);
    const { edge } = best.get(at) as { edge: number };
    if (edge < 0) break;
    chain.push(...(bends[edge] as Slot[]));
    at = (layout.edges[edge] as Routed).from;
  }
  const middle = chain.map(({ x }) => x).sort((a, b) => a - b)[Math.floor(chain.length / 2)] ?? 0;
  for (const slot of chain) {
    slot.x = middle;
    slot.pinned = true;
  }
  return middle;
}

function layersOf(slots: Slot[]): Slot[][] {
  const layers = new Map<number, Slot[]>();
  for (const slot of slots) {
    const y = Math.round(slot.y);
    const layer = layers.get(y);
    if (layer) layer.push(slot);
    else layers.set(y, [slot]);
  }
  const sorted = [...layers].sort(([a], [b]) => a - b).map(([, layer]) => layer);
  for (const layer of sorted) layer.sort((a, b) => a.x - b.x);
  return sorted;
}

// Bends pull hardest at bends, so that a long edge is straight where it passes boxes.
function tiesOf(edges: Routed[], boxes: Map<string, Slot>, bends: Slot[][]): Map<Slot, Tie[]> {
  const ties = new Map<Slot, Tie[]>();
  const tie = (a: Slot, b: Slot, weight: number) => {
    ties.set(a, [...(ties.get(a) ?? []), { to: b, weight }]);
    ties.set(b, [...(ties.get(b) ?? []), { to: a, weight }]);
  };
  edges.forEach((edge, index) => {
    const [from, to] = [boxes.get(edge.from), boxes.get(edge.to)];
    if (!from || !to) return;
    const path = [from, ...(bends[index] as Slot[]), to];
    for (let i = 0; i + 1 < path.length; ++i) {
      const ends = (i === 0 ? 1 : 0) + (i + 2 === path.length ? 1 : 0);
      tie(path[i] as Slot, path[i + 1] as Slot, [8, 2, 1][ends] as number);
    }
  });
  return ties;
}

function relax(layers: Slot[][], ties: Map<Slot, Tie[]>) {
  for (let sweep = 0; sweep < SWEEPS; ++sweep) {
    for (const layer of sweep % 2 === 0 ? layers : [...layers].reverse()) settle(layer, ties);
  }
}

const distance = (a: Slot, b: Slot) => (a.width + b.width) / 2 + (a.width > 0 || b.width > 0 ? GAP : LANE);

// A long edge runs on one vertical line, as far out as the widest thing it passes pushes it.
function alignBends(layers: Slot[][], bends: Slot[][], middle: number) {
  const long = bends.filter((path) => path.length > 1 && !path[0]?.pinned);
  for (let round = 0; round < ALIGNMENTS; ++round) {
    for (const path of long) {
      const mean = path.reduce((sum, { x }) => sum + x, 0) / path.length;
      const x = path.map((slot) => slot.x).reduce((a, b) => (mean < middle ? Math.min(a, b) : Math.max(a, b)));
      for (const slot of path) slot.x = x;
    }
    for (const layer of layers) spread(layer, middle);
  }
}

// Pushes what overlaps outwards, away from the chain.
function spread(layer: Slot[], middle: number) {
  let pivot = layer.findIndex(({ pinned }) => pinned);
  if (pivot < 0) pivot = layer.reduce((best, slot, i) => (Math.abs(slot.x - middle) < Math.abs((layer[best] as Slot).x - middle) ? i : best), 0);
  for (let i = pivot - 1; i >= 0; --i) {
    const [slot, inner] = [layer[i] as Slot, layer[i + 1] as Slot];
    slot.x = Math.min(slot.x, inner.x - distance(slot, inner));
  }
  for (let i = pivot + 1; i < layer.length; ++i) {
    const [slot, inner] = [layer[i] as Slot, layer[i - 1] as Slot];
    slot.x = Math.max(slot.x, inner.x + distance(slot, inner));
  }
}

// Each slot to the mean of what it is tied to, in order and with gaps kept.
function settle(layer: Slot[], ties: Map<Slot, Tie[]>) {
  let offset = 0;
  const offsets: number[] = [];
  const blocks: { sum: number; weight: number; count: number }[] = [];
  layer.forEach((slot, index) => {
    const before = layer[index - 1];
    if (before) offset += distance(before, slot);
    offsets.push(offset);
    const of = ties.get(slot) ?? [];
    const total = of.reduce((sum, { weight }) => sum + weight, 0);
    const wanted = slot.pinned || total === 0 ? slot.x : of.reduce((sum, { to, weight }) => sum + weight * to.x, 0) / total;
    const weight = slot.pinned ? PINNED : Math.max(total, 0.01);
    let block = { sum: (wanted - offset) * weight, weight, count: 1 };
    for (let last = blocks.at(-1); last && last.sum / last.weight > block.sum / block.weight; last = blocks.at(-1)) {
      blocks.pop();
      block = { sum: last.sum + block.sum, weight: last.weight + block.weight, count: last.count + block.count };
    }
    blocks.push(block);
  });
  let index = 0;
  for (const { sum, weight, count } of blocks) {
    for (let i = 0; i < count; ++i, ++index) {
      const slot = layer[index] as Slot;
      if (!slot.pinned) slot.x = sum / weight + (offsets[index] as number);
    }
  }
}

function redrawn(layout: Layout, slots: Map<string, Slot>, bends: Slot[][]): Layout {
  const reach = [...slots.values(), ...bends.flat()];
  const left = Math.min(...reach.map(({ x, width }) => x - width / 2)) - MARGIN;
  const right = Math.max(...reach.map(({ x, width }) => x + width / 2)) + MARGIN;
  const boxes = new Map<string, Placed>();
  for (const [key, box] of layout.boxes) boxes.set(key, { ...box, x: (slots.get(key) as Slot).x - box.width / 2 - left });
  const ends = endsOf(layout.edges, boxes, bends, left);
  const edges = layout.edges.map((edge, index): Routed => {
    const first = edge.points[0] as { x: number; y: number };
    const last = edge.points.at(-1) as { x: number; y: number };
    const middle = (bends[index] as Slot[]).map(({ x, y }) => ({ x: x - left, y }));
    const label = (bends[index] as Slot[]).find(({ y }) => edge.labelAt && Math.abs(edge.labelAt.y - y) < 1);
    return {
      ...edge,
      points: [{ x: ends.out[index] as number, y: border(boxes.get(edge.from), first.y) }, ...middle, { x: ends.in[index] as number, y: border(boxes.get(edge.to), last.y) }],
      labelAt: edge.labelAt && label ? { x: label.x - left, y: edge.labelAt.y } : edge.labelAt && { x: edge.labelAt.x - left, y: edge.labelAt.y },
    };
  });
  return { ...layout, boxes, edges, width: right - left };
}

// Edges leave and enter at the top or the bottom, whichever is nearer to where they were drawn.
function border(box: Placed | undefined, y: number): number {
  if (!box) return y;
  return y < box.y + box.height / 2 ? box.y : box.y + box.height;
}

// Where each edge leaves and enters its box: straight below its next bend where the box is that wide,
// and no two at one spot.
function endsOf(edges: Routed[], boxes: Map<string, Placed>, bends: Slot[][], left: number) {
  const found = { out: new Array<number>(edges.length), in: new Array<number>(edges.length) };
  for (const side of ["out", "in"] as const) {
    const groups = new Map<string, { index: number; wanted: number }[]>();
    edges.forEach((edge, index) => {
      const path = bends[index] as Slot[];
      const bend = side === "out" ? path[0] : path.at(-1);
      const other = boxes.get(side === "out" ? edge.to : edge.from);
      const wanted = bend ? bend.x - left : other ? centre(other) : 0;
      const key = side === "out" ? edge.from : edge.to;
      groups.set(key, [...(groups.get(key) ?? []), { index, wanted }]);
    });
    for (const [key, group] of groups) {
      const box = boxes.get(key);
      if (!box) continue;
      group.sort((a, b) => a.wanted - b.wanted);
      const [least, most] = [box.x + INSET, box.x + box.width - INSET];
      const step = Math.min(LANE, (most - least) / Math.max(1, group.length - 1));
      let at = -Infinity;
      group.forEach(({ index, wanted }, i) => {
        at = Math.max(at + step, Math.min(Math.max(wanted, least), most - step * (group.length - 1 - i)));
        found[side][index] = at;
      });
    }
  }
  return found;
}
