// Zoom and pan of the drawing: wheel and pinch zoom at the pointer, drag and two-finger scroll pan.
import { useEffect, useRef, useState } from "preact/hooks";

export interface View {
  x: number; // screen position of the drawing's origin
  y: number;
  scale: number;
}

export interface Extent {
  width: number;
  height: number;
}

const SMALLEST = 0.08;
const LARGEST = 3;
const clampScale = (scale: number) => Math.min(LARGEST, Math.max(SMALLEST, scale));

// The whole drawing within the readable range of zoom; where it is too big, centred on `focus`.
export function fit(drawing: Extent, screen: Extent, focus: { x: number; y: number } | null): View {
  const narrow = screen.width <= 760;
  const whole = Math.min((screen.width - 16) / drawing.width, (screen.height - 16) / drawing.height);
  const legible = whole >= 0.6 ? 0.6 : 0.78; // smaller where that shows all of it
  const [least, most] = narrow ? [0.92, 1] : [legible, 1.2];
  const scale = Math.min(most, Math.max(least, whole));
  const centre = (size: number, room: number, at: number | undefined) => {
    if (size * scale <= room) return (room - size * scale) / 2;
    const wanted = room / 2 - (at ?? size / 2) * scale;
    return Math.min(8, Math.max(room - size * scale - 8, wanted));
  };
  const tall = drawing.height * scale > screen.height;
  return {
    scale,
    x: centre(drawing.width, screen.width, focus?.x),
    y: centre(drawing.height, screen.height, tall ? focus?.y : undefined),
  };
}

export const whole = (drawing: Extent, screen: Extent): View => {
  const scale = clampScale(Math.min(1.2, (screen.width - 16) / drawing.width, (screen.height - 16) / drawing.height));
  return { scale, x: (screen.width - drawing.width * scale) / 2, y: (screen.height - drawing.height * scale) / 2 };
};

export function zoomAt(view: View, factor: number, x: number, y: number): View {
  const scale = clampScale(view.scale * factor);
  const ratio = scale / view.scale;
  return { scale, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio };
}

export function useCanvas(onBackground: () => void) {
  const [view, setView] = useState<View>({ x: 0, y: 0, scale: 1 });
  const element = useRef<HTMLDivElement>(null);
  const background = useRef(onBackground);
  background.current = onBackground;

  useEffect(() => {
    const target = element.current;
    if (!target) return;
    return listen(target, setView, () => background.current());
  }, []);
  return { view, setView, element };
}

type SetView = (change: (view: View) => View) => void;

function listen(target: HTMLElement, setView: SetView, onBackground: () => void): () => void {
  const pointers = new Map<number, { x: number; y: number }>();
  let moved = false;

  const local = (event: { clientX: number; clientY: number }) => {
    const box = target.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const { x, y } = local(event);
    // A trackpad's two-finger scroll has sideways or fine-grained steps; a wheel has neither.
    const scroll = !event.ctrlKey && event.deltaMode === 0 && (event.deltaX !== 0 || Math.abs(event.deltaY) < 40);
    if (scroll) setView((view) => ({ ...view, x: view.x - event.deltaX, y: view.y - event.deltaY }));
    else setView((view) => zoomAt(view, Math.exp(-event.deltaY * (event.ctrlKey ? 0.01 : 0.0016)), x, y));
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0 || (event.target as Element).closest("button, select, input, a")) return;
    pointers.set(event.pointerId, local(event));
    moved = false;
  };
  const move = (event: PointerEvent) => {
    const before = pointers.get(event.pointerId);
    if (!before) return;
    const now = local(event);
    const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (!other && !moved && Math.hypot(now.x - before.x, now.y - before.y) < 4) return;
    if (!moved) target.setPointerCapture(event.pointerId);
    moved = true;
    pointers.set(event.pointerId, now);
    if (other) {
      const factor = Math.hypot(now.x - other.x, now.y - other.y) / (Math.hypot(before.x - other.x, before.y - other.y) || 1);
      setView((view) => zoomAt(view, factor, (now.x + other.x) / 2, (now.y + other.y) / 2));
    } else {
      setView((view) => ({ ...view, x: view.x + now.x - before.x, y: view.y + now.y - before.y }));
    }
  };
  const up = (event: PointerEvent) => {
    if (!pointers.delete(event.pointerId) || moved || event.type !== "pointerup") return;
    if (!(event.target as Element).closest("[data-box]")) onBackground();
  };
  const swallow = (event: MouseEvent) => {
    if (moved) event.stopPropagation();
  };

  target.addEventListener("wheel", wheel, { passive: false });
  target.addEventListener("pointerdown", down);
  target.addEventListener("pointermove", move);
  target.addEventListener("pointerup", up);
  target.addEventListener("pointercancel", up);
  target.addEventListener("click", swallow, true);
  return () => {
    target.removeEventListener("wheel", wheel);
    target.removeEventListener("pointerdown", down);
    target.removeEventListener("pointermove", move);
    target.removeEventListener("pointerup", up);
    target.removeEventListener("pointercancel", up);
    target.removeEventListener("click", swallow, true);
  };
}
