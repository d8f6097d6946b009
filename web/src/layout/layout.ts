// Places boxes, pills and edges of one view from top to bottom with dagre, edge labels included.
import dagre from "@dagrejs/dagre";
import { straighten } from "./straighten.ts";

export interface Size {
  key: string;
  width: number;
  height: number;
}

export interface Link {
  from: string;
  to: string;
  label: string; // "" for none
  labelWidth: number;
  weight: number;
}

export interface Placed extends Size {
  x: number; // left
  y: number; // top
}

export interface Routed extends Link {
  points: { x: number; y: number }[];
  labelAt: { x: number; y: number } | null;
}

export interface Layout {
  boxes: Map<string, Placed>;
  edges: Routed[];
  width: number;
  height: number;
}

const MARGIN = 20;
const LABEL_HEIGHT = 16;

export function layOut(sizes: Size[], links: Link[]): Layout {
  return straighten(place(sizes, links));
}

// Layers, their order and the bends of edges.
function place(sizes: Size[], links: Link[]): Layout {
  const graph = new dagre.graphlib.Graph({ multigraph: true });
  graph.setGraph({
    rankdir: "TB", nodesep: 26, ranksep: 26, edgesep: 14, marginx: MARGIN, marginy: MARGIN,
  });
  for (const { key, width, height } of sizes) graph.setNode(key, { width, height });
  links.forEach((link, index) => {
    const labelled = link.label !== "";
    graph.setEdge(link.from, link.to, {
      width: labelled ? link.labelWidth : 0,
      height: labelled ? LABEL_HEIGHT : 0,
      labelpos: "c",
      weight: link.weight,
    }, String(index));
  });
  dagre.layout(graph);

  const boxes = new Map<string, Placed>();
  for (const size of sizes) {
    const { x, y } = graph.node(size.key) as { x: number; y: number };
    boxes.set(size.key, { ...size, x: x - size.width / 2, y: y - size.height / 2 });
  }
  const edges = links.map((link, index): Routed => {
    const edge = graph.edge(link.from, link.to, String(index)) as {
      points: { x: number; y: number }[];
      x?: number;
      y?: number;
    };
    const labelAt = link.label !== "" && edge.x !== undefined && edge.y !== undefined ? { x: edge.x, y: edge.y } : null;
    return { ...link, points: edge.points, labelAt };
  });
  const { width = 0, height = 0 } = graph.graph();
  return { boxes, edges, width, height };
}

const ROOM = 24; // px that a label or pill may outgrow its place before all is placed anew

// The same drawing with other texts: every thing keeps its place, so that nothing jumps when a
// number changes. null: it is another drawing, or something has outgrown its place.
export function adjust(layout: Layout, sizes: Size[], links: Link[]): Layout | null {
  if (sizes.length !== layout.boxes.size || links.length !== layout.edges.length) return null;
  const boxes = new Map<string, Placed>();
  for (const size of sizes) {
    const old = layout.boxes.get(size.key);
    if (!old || size.height !== old.height || size.width > old.width + ROOM) return null;
    boxes.set(size.key, { ...size, x: old.x + (old.width - size.width) / 2, y: old.y });
  }
  const edges: Routed[] = [];
  for (const [index, link] of links.entries()) {
    const old = layout.edges[index];
    if (!old || old.from !== link.from || old.to !== link.to) return null;
    if ((old.label === "") !== (link.label === "") || link.labelWidth > old.labelWidth + ROOM) return null;
    edges.push({ ...link, points: old.points, labelAt: old.labelAt });
  }
  return { ...layout, boxes, edges };
}

// A smooth path through the points that leaves and enters vertically.
export function pathThrough(points: { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const n = (value: number) => value.toFixed(1);
  let path = `M${n(first.x)},${n(first.y)}`;
  let previous = first;
  for (const point of rest) {
    if (Math.abs(point.x - previous.x) < 0.5) path += `L${n(point.x)},${n(point.y)}`;
    else {
      const middle = (previous.y + point.y) / 2;
      path += `C${n(previous.x)},${n(middle)} ${n(point.x)},${n(middle)} ${n(point.x)},${n(point.y)}`;
    }
    previous = point;
  }
  return path;
}
