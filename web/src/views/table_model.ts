// Rows and columns of the table view.
import type { Item, MetricName } from "../document/types.ts";
import { nodesBelow } from "../document/level.ts";
import { digits3, formatBytes, formatCount, formatParameters, formatPercent, formatTime } from "../format/number.ts";
import { barValue, effectiveBar, measuredTime, sign } from "../metrics/bar.ts";
import { perInstance, sum, type Amount } from "../metrics/evaluation.ts";
import { boundBy, type Time } from "../time/estimate.ts";
import { divisorOf, itemLabel, moduleOf, nodeOf, parametersOfItem, type Session } from "./session.ts";

export interface Row {
  key: string;
  name: string;
  times: number; // `× 301` of a group, `× 11` of a stage
  kind: string;
  items: Item[];
  size: number | null; // of the bar
  time: Time | null;
  amounts: Partial<Record<ColumnMetric, Amount>>;
  parameters: bigint;
  measured: number | null; // seconds; null: nothing was joined
}

export type ColumnMetric = "weights" | "kv" | "state" | "peak" | "flops" | "reads";

const PARTS: Record<ColumnMetric, MetricName[]> = {
  weights: ["weight_bytes"],
  kv: ["kv_cache_bytes"],
  state: ["state_bytes"],
  peak: ["activation_peak_bytes"],
  flops: ["flops"],
  reads: ["weight_read_bytes", "kv_read_bytes", "activation_read_bytes"],
};

export interface Column {
  id: string;
  title: string;
  numeric: boolean;
  text: (row: Row) => string;
  sort: (row: Row) => number | string;
  raw: (row: Row) => string; // for CSV: exact integers, seconds
}

function amountColumn(id: ColumnMetric, title: string): Column {
  const format = id === "flops" ? formatCount : formatBytes;
  return {
    id, title, numeric: true,
    text: ({ amounts }) => {
      const amount = amounts[id];
      if (!amount || amount.value === null) return "unknown";
      return sign(amount.exactness) + format(amount.value);
    },
    sort: ({ amounts }) => Number(amounts[id]?.value ?? -1n),
    raw: ({ amounts }) => String(amounts[id]?.value ?? ""),
  };
}

const timeColumn = (id: "estimate" | "ideal", title: string): Column => ({
  id, title, numeric: true,
  text: ({ time }) => (time ? formatTime(time[id]) : ""),
  sort: ({ time }) => time?.[id] ?? 0,
  raw: ({ time }) => String(time?.[id] ?? ""),
});

const measuredColumns: Column[] = [
  {
    id: "measured", title: "Measured", numeric: true,
    text: ({ measured }) => (measured === null ? "–" : formatTime(measured)),
    sort: ({ measured }) => measured ?? -1, raw: ({ measured }) => String(measured ?? ""),
  },
  {
    id: "ratio", title: "÷ estimate", numeric: true, text: ratioText,
    sort: (row) => ratioOf(row) ?? -1, raw: (row) => String(ratioOf(row) ?? ""),
  },
];

const ratioOf = ({ measured, time }: Row) => (measured === null || !time || time.estimate === 0 ? null : measured / time.estimate);

function ratioText(row: Row): string {
  const ratio = ratioOf(row);
  return ratio === null ? "–" : `${digits3(ratio)}×`;
}

export function columnsOf(session: Session): Column[] {
  const columns: Column[] = [];
  if (session.time) {
    columns.push(timeColumn("estimate", "Estimate"), timeColumn("ideal", "Bound"), {
      id: "bound", title: "Bound by", numeric: false,
      text: ({ time }) => (time ? boundBy(time).replace("none", "–") : "–"),
      sort: ({ time }) => (time ? boundBy(time) : ""),
      raw: ({ time }) => (time ? boundBy(time) : ""),
    });
  }
  if (session.document.measured) columns.push(...measuredColumns);
  columns.push(
    amountColumn("weights", "Weights"), amountColumn("kv", "KV"), amountColumn("state", "State"),
    amountColumn("peak", "Act. peak"), amountColumn("flops", "FLOPs"), amountColumn("reads", "Read / step"),
    {
      id: "params", title: "Params", numeric: true, text: ({ parameters }) => formatParameters(parameters),
      sort: ({ parameters }) => Number(parameters), raw: ({ parameters }) => String(parameters),
    },
    { id: "kind", title: "Kind", numeric: false, text: ({ kind }) => kind, sort: ({ kind }) => kind, raw: ({ kind }) => kind },
  );
  return columns;
}

export function rowsOf(session: Session): Row[] {
  return session.settings.group === "operator" ? operatorRows(session) : childRows(session);
}

export function makeRow(session: Session, key: string, items: Item[], facts: { name: string; times: number; kind: string }): Row {
  const divisor = divisorOf(session);
  const amounts: Row["amounts"] = {};
  for (const metric of Object.keys(PARTS) as ColumnMetric[]) {
    const parts = items.flatMap((item) => PARTS[metric].map((name) => session.evaluation.metric(item, name)));
    amounts[metric] = metric === "peak" ? largest(parts) : perInstance(sum(parts), divisor);
  }
  const sizes = items.map((item) => barValue(session.measure, item).size);
  const bar = effectiveBar(session.measure.bar, session.time);
  const measured = items.flatMap((item) => measuredTime(session.document, item) ?? []);
  const known = sizes.filter((size) => size !== null);
  return {
    key, items, ...facts, amounts,
    measured: measured.length === 0 ? null : measured.reduce((a, b) => a + b, 0) / divisor,
    size: known.length === 0 ? null : bar === "activations" ? Math.max(...known) : known.reduce((a, b) => a + b, 0),
    time: session.time ? scaled(items.map((item) => session.time!.of(item)), divisor) : null,
    parameters: items.reduce((total, item) => total + parametersOfItem(session.document, item), 0n) / BigInt(divisor),
  };
}

function scaled(times: Time[], divisor: number): Time {
  const total: Time = { estimate: 0, ideal: 0, idealCompute: 0, memory: 0, compute: 0, launch: 0, partial: false };
  for (const time of times) {
    for (const key of ["estimate", "ideal", "idealCompute", "memory", "compute", "launch"] as const) total[key] += time[key] / divisor;
    total.partial ||= time.partial;
  }
  return total;
}

// Peaks are never added.
function largest(parts: Amount[]): Amount {
  return parts.reduce((best, part) => (part.value !== null && (best.value === null || part.value > best.value) ? part : best));
}

function childRows(session: Session): Row[] {
  const { document, level } = session;
  return level.boxes.map(({ key, item }) => {
    const module = item.kind === "module" ? moduleOf(document, item.id) : null;
    const kind = module ? module.kind : nodeOf(document, item.id).opType;
    return makeRow(session, key, [item], { name: itemLabel(document, item), times: module?.stage ? module.repeat : 1, kind });
  });
}

function operatorRows(session: Session): Row[] {
  const { document, level } = session;
  const groups = new Map<string, Item[]>();
  for (const id of nodesBelow(document, level.module.id)) {
    const { opType } = nodeOf(document, id);
    const group = groups.get(opType) ?? [];
    group.push({ kind: "node", id });
    groups.set(opType, group);
  }
  const divisor = divisorOf(session);
  const rows = [...groups].map(([opType, items]) => {
    const times = items.reduce((total, item) => total + nodeOf(document, item.id).multiplicity, 0) / divisor;
    return makeRow(session, `op:${opType}`, items, { name: opType, times: Math.round(times), kind: "operator" });
  });
  return rows.sort((a, b) => (b.size ?? 0) - (a.size ?? 0));
}

export function totalRow(session: Session): Row {
  const item: Item = { kind: "module", id: session.level.module.id };
  return makeRow(session, "total", [item], { name: itemLabel(session.document, item), times: 1, kind: "peak: a maximum" });
}

export const shareText = (row: Row, whole: number) =>
  row.size === null ? "unknown" : formatPercent(whole === 0 ? 0 : row.size / whole);
