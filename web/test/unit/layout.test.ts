// A drawing keeps its order and gaps, and its longest chain is one vertical line.
import assert from "node:assert/strict";
import test from "node:test";
import { layOut, type Layout, type Link, type Size } from "../../src/layout/layout.ts";

const box = (key: string, width = 200): Size => ({ key, width, height: 60 });
const link = (from: string, to: string, weight = 1): Link => ({ from, to, label: "[8, 1, 2048] bf16", labelWidth: 120, weight });
const middle = ({ boxes }: Layout, key: string) => {
  const at = boxes.get(key)!;
  return at.x + at.width / 2;
};

// A layer with two residual edges, three projections and a side input.
const sizes = ["in", "norm", "q", "k", "v", "attn", "add", "mlp", "add2", "mask"].map((key) => box(key));
const links = [
  link("in", "norm", 9), link("norm", "q", 9), link("norm", "k"), link("norm", "v"), link("q", "attn", 9), link("k", "attn"),
  link("v", "attn"), link("mask", "attn"), link("attn", "add", 9), link("in", "add"), link("add", "mlp", 9), link("mlp", "add2", 9), link("add", "add2"),
];

test("the longest chain is straight, the rest keeps its distance", () => {
  const layout = layOut(sizes, links);
  const chain = ["in", "norm", "attn", "add", "mlp", "add2"].map((key) => Math.round(middle(layout, key)));
  assert.equal(new Set(chain).size, 1, String(chain));
  const placed = [...layout.boxes.values()];
  for (const a of placed) {
    assert.ok(a.x >= 0 && a.x + a.width <= layout.width, a.key);
    for (const b of placed) {
      if (a === b || a.y + a.height <= b.y || b.y + b.height <= a.y) continue;
      assert.ok(a.x + a.width <= b.x || b.x + b.width <= a.x, `${a.key} and ${b.key} overlap`);
    }
  }
});

test("an edge that passes boxes runs beside them", () => {
  const layout = layOut(sizes, links);
  for (const edge of layout.edges) {
    for (const at of layout.boxes.values()) {
      if (at.key === edge.from || at.key === edge.to) continue;
      const hit = edge.points.slice(1, -1).find(({ x, y }) => x > at.x && x < at.x + at.width && y > at.y && y < at.y + at.height);
      assert.equal(hit, undefined, `${edge.from} to ${edge.to} crosses ${at.key}`);
    }
  }
  const residual = layout.edges.find(({ from, to }) => from === "in" && to === "add")!;
  assert.equal(new Set(residual.points.slice(1, -1).map(({ x }) => Math.round(x))).size, 1, "on one line");
});

test("ends of edges lie on their boxes", () => {
  const layout = layOut(sizes, links);
  for (const { from, to, points } of layout.edges) {
    const [a, b] = [layout.boxes.get(from)!, layout.boxes.get(to)!];
    assert.equal(points[0]!.y, a.y + a.height);
    assert.equal(points.at(-1)!.y, b.y);
    assert.ok(points[0]!.x > a.x && points[0]!.x < a.x + a.width && points.at(-1)!.x > b.x && points.at(-1)!.x < b.x + b.width);
  }
});
