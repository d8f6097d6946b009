// The canvas: one view of the model as a graph.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { pathThrough, type Routed } from "../layout/layout.ts";
import { effectiveBar } from "../metrics/bar.ts";
import { THIN } from "../format/number.ts";
import { fit, useCanvas, whole, zoomAt, type Extent } from "./canvas.ts";
import { useResize, Segmented } from "./dom.tsx";
import { buildGraph, type GraphModel } from "./graph_model.ts";
import { GraphBox, GraphPill } from "./graph_box.tsx";
import { shapeBoxes } from "../document/shape_arithmetic.ts";
import { Legend } from "./legend.tsx";
import { numbersOf, sharesOf, type Shares } from "./shares.ts";
import type { Session } from "./session.ts";

const FOOT = 46; // px that the zoom buttons and the legend take

// `covered`: px at the right that the details lie over.
export function Graph({ session, covered }: { session: Session; covered: number }) {
  const { level, selected, actions, evaluation } = session;
  const { shapes } = session.settings;
  const model = useMemo(() => buildGraph(session), [level, evaluation, shapes]);
  const hiddenShapes = shapeBoxes(session.document, level).size;
  const shares = sharesOf(session, level.boxes);
  const [hover, setHover] = useState<string | null>(null);
  const canvas = useCanvas(() => actions.select(null));
  const screen = useRef<Extent>({ width: 0, height: 0 });
  const focus = hottest(model, shares);
  const refit = () => canvas.setView(() => fit(model.layout, screen.current, focus));

  const resize = useResize((width, height) => {
    const before = screen.current.width;
    screen.current = { width, height: height - FOOT };
    if (before === 0) refit();
    else canvas.setView((view) => ({ ...view, x: view.x + (width - before) / 2 }));
    if (selected) reveal(model, selected, screen.current, canvas.setView);
  });
  // Another module is another drawing; other numbers are not.
  useLayoutEffect(() => {
    const box = canvas.element.current?.getBoundingClientRect();
    if (box) screen.current = { width: box.width, height: box.height - FOOT };
    refit();
  }, [level, shapes]);
  useEffect(() => {
    if (covered === 0) return;
    const beside = { ...screen.current, width: screen.current.width - covered };
    canvas.setView(() => fit(model.layout, beside, focus));
    if (selected) reveal(model, selected, beside, canvas.setView);
  }, [covered]);
  useEffect(() => {
    if (selected) reveal(model, selected, { ...screen.current, width: screen.current.width - covered }, canvas.setView);
  }, [selected]);
  useCanvasKeys({
    fit: () => canvas.setView(() => whole(model.layout, screen.current)),
    zoom: (factor) => canvas.setView((view) => zoomAt(view, factor, screen.current.width / 2, screen.current.height / 2)),
    reset: () => canvas.setView((view) => zoomAt(view, 1 / view.scale, screen.current.width / 2, screen.current.height / 2)),
  });

  const { view } = canvas;
  const far = view.scale < 0.52;
  const active = selected ?? model.boxes[0]?.key;
  const zoomBy = (factor: number) =>
    canvas.setView((now) => zoomAt(now, factor, screen.current.width / 2, screen.current.height / 2));
  return (
    <div class="graph" ref={resize}>
      <div class="canvas" ref={canvas.element}>
        <svg width="100%" height="100%" role="group" aria-label="Graph of this view" class={far ? "far" : ""}>
          <Arrow />
          <g class="drawing" transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>
            {model.layout.edges.map((edge, index) => (
              <EdgePath key={index} edge={edge} title={model.edges[index]?.title ?? ""}
                active={hover !== null && (edge.from === hover || edge.to === hover)} />
            ))}
            {model.layout.edges.map((edge, index) => edge.labelAt && (
              <g key={`l${index}`} class="edge-label" transform={`translate(${edge.labelAt.x} ${edge.labelAt.y})`}>
                <rect x={-edge.labelWidth / 2} y={-8} width={edge.labelWidth} height={16} />
                <text class="mono" text-anchor="middle" y={4}>{edge.label}</text>
              </g>
            ))}
            {model.pills.map((pill) => {
              const at = model.layout.boxes.get(pill.key);
              return at && <GraphPill key={pill.key} pill={pill} at={at} />;
            })}
            {model.boxes.map((box) => {
              const at = model.layout.boxes.get(box.key);
              return at && (
                <GraphBox
                  key={box.key} session={session} box={box} at={at} numbers={numbersOf(session, shares, box.key, box.item)}
                  selected={selected === box.key} focusable={active === box.key} far={far}
                  onSelect={() => actions.select(box.key)} onOpen={() => actions.open(box.item)}
                  onHover={(over) => setHover((now) => (over ? box.key : now === box.key ? null : now))}
                />
              );
            })}
          </g>
        </svg>
      </div>
      <div class="zoom" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom out" onClick={() => zoomBy(1 / 1.25)}>−</button>
        <button type="button" class="zoom-level" title="100 %" onClick={() => zoomBy(1 / view.scale)}>{`${Math.round(view.scale * 100)}${THIN}%`}</button>
        <button type="button" aria-label="Zoom in" onClick={() => zoomBy(1.25)}>+</button>
        <button type="button" onClick={() => canvas.setView(() => whole(model.layout, screen.current))}>Fit</button>
      </div>
      {hiddenShapes > 0 && (
        <button type="button" class="small shapes" aria-pressed={shapes === "shown"} onClick={() => actions.update({ shapes: shapes === "shown" ? "hidden" : "shown" })}>
          {hiddenShapes} shape {hiddenShapes === 1 ? "operator" : "operators"} {shapes}
        </button>
      )}
      <div class="graph-legend">
        <Legend session={session} bar={effectiveBar(session.measure.bar, session.time)} />
        <span class="label">share of</span>
        <Segmented label="Share of" value={session.settings.per} onChange={(per) => actions.update({ per })}
          options={[{ value: "view", text: "view" }, { value: "model", text: "model" }]} />
        <Segmented label="Scale of bars" value={session.settings.scale} onChange={(scale) => actions.update({ scale })}
          options={[{ value: "linear", text: "lin", title: "linear scale" }, { value: "log", text: "log", title: "logarithmic scale: six powers of ten" }]} />
      </div>
      {level.boxes.length === 0 && <p class="empty">This module holds no operators or modules; its tensors are in the table.</p>}
    </div>
  );
}

function Arrow() {
  return (
    <defs>
      <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">
        <path d="M0,0.5L8,4L0,7.5z" class="arrow" />
      </marker>
      <marker id="arrow-active" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">
        <path d="M0,0.5L8,4L0,7.5z" class="arrow active" />
      </marker>
    </defs>
  );
}

function EdgePath({ edge, title, active }: { edge: Routed; title: string; active: boolean }) {
  const path = pathThrough(edge.points);
  return (
    <g class={active ? "edge active" : "edge"}>
      <path class="edge-hit" d={path}><title>{title}</title></path>
      <path class="edge-line" d={path} marker-end={active ? "url(#arrow-active)" : "url(#arrow)"} />
    </g>
  );
}

function hottest(model: GraphModel, shares: Shares): { x: number; y: number } | null {
  let best: { x: number; y: number } | null = null;
  let most = -1;
  for (const box of model.boxes) {
    const at = model.layout.boxes.get(box.key);
    const size = shares.values.get(box.key)?.size ?? 0;
    if (at && size > most) {
      most = size;
      best = { x: at.x + at.width / 2, y: at.y + at.height / 2 };
    }
  }
  return best;
}

// Pans just enough that the box is on screen.
function reveal(model: GraphModel, key: string, screen: Extent, setView: ReturnType<typeof useCanvas>["setView"]) {
  const at = model.layout.boxes.get(key);
  if (!at || screen.width === 0) return;
  setView((view) => {
    const shift = (from: number, size: number, origin: number, room: number) => {
      const start = origin + from * view.scale;
      const end = start + size * view.scale;
      if (start < 12) return 12 - start;
      return end > room - 12 ? Math.max(room - 12 - end, 12 - start) : 0;
    };
    const x = shift(at.x, at.width, view.x, screen.width);
    const y = shift(at.y, at.height, view.y, screen.height);
    return x === 0 && y === 0 ? view : { ...view, x: view.x + x, y: view.y + y };
  });
}

function useCanvasKeys(keys: { fit: () => void; zoom: (factor: number) => void; reset: () => void }) {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const listen = (event: Event) => {
      const key = (event as CustomEvent<string>).detail;
      if (key === "f") latest.current.fit();
      else if (key === "+") latest.current.zoom(1.25);
      else if (key === "-") latest.current.zoom(1 / 1.25);
      else if (key === "0") latest.current.reset();
    };
    window.addEventListener("kcharter-canvas", listen);
    return () => window.removeEventListener("kcharter-canvas", listen);
  }, []);
}
