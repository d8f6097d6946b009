// Keys of the model page. They are off in fields, in dialogs, and with Ctrl, Alt or Cmd held.
import { useEffect, useRef } from "preact/hooks";
import { barsOf } from "../metrics/bar.ts";
import { VIEWS } from "../settings/settings.ts";
import { toggleTheme } from "./theme.ts";
import type { Overlay, Session } from "./session.ts";

export function useKeys(session: Session, overlay: Overlay) {
  const latest = useRef({ session, overlay });
  latest.current = { session, overlay };
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.altKey || event.metaKey || latest.current.overlay !== null) return;
      const target = event.target instanceof Element ? event.target : document.body;
      if (target.closest("input, select, textarea, dialog")) return;
      if (press(latest.current.session, event.key, target)) event.preventDefault();
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
}

function press(session: Session, key: string, target: Element): boolean {
  if (key.startsWith("Arrow")) return move(session, key, target);
  if (key === "Enter") return enter(session, target);
  const { actions, settings, evaluation } = session;
  const letter = key.length === 1 ? key.toLowerCase() : key;
  switch (letter) {
    case "Backspace": actions.up(); return true;
    case "Escape": actions.select(null); return true;
    case "/": actions.show("find"); return true;
    case "?": actions.show("keys"); return true;
    case "1": case "2": case "3": actions.update({ view: VIEWS[Number(letter) - 1] ?? "graph" }, "push"); return true;
    case "p": actions.setMode("prefill"); return true;
    case "d": actions.setMode("decode"); return true;
    case "m": {
      const bars = barsOf(session.document, session.time);
      actions.update({ bar: bars[(bars.indexOf(settings.bar) + 1) % bars.length] ?? "flops" });
      return true;
    }
    case "o": actions.update({ per: settings.per === "view" ? "model" : "view" }); return true;
    case "x": actions.update({ of: settings.of === "all" ? "one" : "all" }); return true;
    case "[": case "]": {
      const batch = evaluation.bindings.get("batch_size");
      if (batch !== undefined) actions.setVariable("batch_size", letter === "]" ? batch * 2n : batch / 2n || 1n);
      return true;
    }
    case "c": actions.show("compare"); return true;
    case "e": actions.show("export"); return true;
    case "i": actions.show("assumptions"); return true;
    case "w": if (session.document.findings) actions.show("findings"); return true;
    case "t": toggleTheme(); return true;
    case "f": case "+": case "-": case "0":
      window.dispatchEvent(new CustomEvent("kcharter-canvas", { detail: letter }));
      return true;
    default: return false;
  }
}

function enter(session: Session, target: Element): boolean {
  const box = target.closest("[data-box]")?.getAttribute("data-box") ?? null;
  if (box === null && target.closest("button, a, summary, [role=button]")) return false;
  const key = box ?? session.selected;
  const found = session.level.boxes.find((candidate) => candidate.key === key);
  if (!found) return false;
  session.actions.open(found.item);
  return true;
}

// To the nearest object in that direction; in the table to the next row.
function move(session: Session, key: string, target: Element): boolean {
  if (target.closest(".strip, .memory, .drawer, header")) return false;
  const elements = [...document.querySelectorAll<HTMLElement>("[data-box], [data-row]")].filter((element) =>
    !(element.dataset.row ?? "").startsWith("op:"));
  const keyOf = (element: HTMLElement) => element.dataset.box ?? element.dataset.row ?? "";
  const now = elements.find((element) => keyOf(element) === session.selected);
  const next = now ? nearest(elements, now, key) : elements[0];
  if (!next) return elements.length > 0;
  session.actions.select(keyOf(next));
  if (next.dataset.box) requestAnimationFrame(() => (document.querySelector(`[data-box="${CSS.escape(keyOf(next))}"]`) as SVGElement | null)?.focus());
  return true;
}

function nearest(elements: HTMLElement[], from: HTMLElement, key: string): HTMLElement | null {
  const centre = (element: HTMLElement) => {
    const box = element.getBoundingClientRect();
    return { x: box.left + box.width / 2, y: box.top + box.height / 2 };
  };
  const origin = centre(from);
  const [dx, dy] = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[key] ?? [0, 0];
  let best: HTMLElement | null = null;
  let least = Infinity;
  for (const element of elements) {
    if (element === from) continue;
    const at = centre(element);
    const along = (at.x - origin.x) * (dx as number) + (at.y - origin.y) * (dy as number);
    const across = Math.abs((at.x - origin.x) * (dy as number)) + Math.abs((at.y - origin.y) * (dx as number));
    if (along <= 4) continue;
    const distance = along + 2 * across;
    if (distance < least) [best, least] = [element, distance];
  }
  return best;
}
