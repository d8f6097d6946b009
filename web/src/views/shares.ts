// Shares of a view: each part's size against the view's or the model's, and which parts are hot.
import type { Item } from "../document/types.ts";
import { BAR_TONES, barValue, effectiveBar, hotSet, isTime, type BarValue } from "../metrics/bar.ts";
import { formatPercent, formatTime, formatBytes, formatCount, THIN } from "../format/number.ts";
import type { BoxNumbers } from "./graph_box.tsx";
import { divisorOf, type Session } from "./session.ts";

export interface Shares {
  whole: number;
  values: Map<string, BarValue>;
  hot: Set<string>;
}

export function sharesOf(session: Session, items: { key: string; item: Item }[]): Shares {
  const divisor = divisorOf(session);
  const values = new Map(items.map(({ key, item }) => [key, barValue(session.measure, item, divisor)]));
  const root: Item = { kind: "module", id: session.settings.per === "model" ? 0 : session.level.module.id };
  const sizes = new Map([...values].map(([key, value]) => [key, value.size]));
  return { whole: barValue(session.measure, root).size ?? 0, values, hot: hotSet(sizes) };
}

// On a logarithmic scale a bar spans six powers of ten below the whole.
function filled(share: number, scale: "linear" | "log"): number {
  if (scale === "linear" || share <= 0) return share;
  return Math.max(0, 1 + Math.log10(share) / 6);
}

export function numbersOf(session: Session, shares: Shares, key: string, item: Item): BoxNumbers {
  const value = shares.values.get(key) ?? { size: null, text: "unknown" };
  const bar = effectiveBar(session.measure.bar, session.time);
  const hot = isTime(bar) && shares.hot.has(key);
  const share = value.size === null || shares.whole === 0 ? NaN : value.size / shares.whole;
  const base: BoxNumbers = {
    metric: value.text,
    share: value.size === null ? "unknown" : formatPercent(shares.whole === 0 ? 0 : share),
    fill: value.size === null ? NaN : filled(shares.whole === 0 ? 0 : share, session.settings.scale),
    tone: hot ? "hot" : BAR_TONES[bar],
    hot,
    mark: null,
  };
  return session.compared ? comparedNumbers(session, base, value, item, shares.whole) : base;
}

// `A → B` and the change; the tick is B on A's bar.
function comparedNumbers(session: Session, base: BoxNumbers, a: BarValue, item: Item, whole: number): BoxNumbers {
  const other = counterpart(session, item);
  if (!other || !session.compared) return { ...base, share: "only in A" };
  const b = barValue(session.compared.measure, other, divisorOf(session));
  if (a.size === null || b.size === null) return { ...base, metric: `${a.text} → ${b.text}`, share: "" };
  const mark = whole === 0 ? null : filled(b.size / whole, session.settings.scale);
  if (a.size === b.size) return { ...base, share: "=", mark };
  const change = a.size === 0 ? "new" : signedPercent(b.size / a.size - 1);
  return { ...base, metric: `${a.text} → ${b.text.replace(/^[≈≥]\u202f/, "")}`, share: change, mark };
}

const signedPercent = (change: number) =>
  `${change < 0 ? "\u2212" : "+"}${(Math.abs(change) * 100).toFixed(1)}${THIN}%`;

export function formatSize(session: Session, size: number): string {
  const bar = effectiveBar(session.measure.bar, session.time);
  return isTime(bar) ? formatTime(size) : bar === "flops" ? formatCount(Math.round(size)) : formatBytes(Math.round(size));
}

// The part of the compared document with the same path, or, for a node, the same name in its module.
export function counterpart(session: Session, item: Item): Item | null {
  const { compared, document } = session;
  if (!compared) return null;
  const other = compared.document;
  if (item.kind === "module") {
    const path = document.modules[item.id]?.path;
    const found = other.modules.find((module) => module.path === path);
    return found ? { kind: "module", id: found.id } : pairedByPlace(session, item);
  }
  const name = document.nodes[item.id]?.name;
  const found = other.nodes.find((node) => node.name === name);
  return found ? { kind: "node", id: found.id } : pairedByPlace(session, item);
}

// Where names differ: the item at the same place of a parent that pairs and has as many parts.
function pairedByPlace(session: Session, item: Item): Item | null {
  const { document, compared } = session;
  const parent = item.kind === "module" ? document.modules[item.id]?.parent : document.nodes[item.id]?.module;
  if (parent === null || parent === undefined || !compared) return null;
  const mine = document.modules[parent];
  const theirs = compared.document.modules.find((module) => module.path === mine?.path);
  if (!mine || !theirs || mine.items.length !== theirs.items.length) return null;
  const place = mine.items.findIndex((other) => other.kind === item.kind && other.id === item.id);
  const found = theirs.items[place];
  return found && found.kind === item.kind ? found : null;
}
