// The view as a table: its children, or every operator below grouped by type.
import { useEffect, useRef, useState } from "preact/hooks";
import { hotSet, effectiveBar, isTime, BAR_LABELS, BAR_TONES, barValue } from "../metrics/bar.ts";
import type { BarName } from "../settings/settings.ts";
import { Bar, Segmented } from "./dom.tsx";
import { CompareTable } from "./compare_table.tsx";
import { columnsOf, rowsOf, shareText, totalRow, type Column, type Row } from "./table_model.ts";
import { TensorTable } from "./tensor_table.tsx";
import { useWindow } from "./window.ts";
import { BOX_LIMIT } from "./graph_model.ts";
import type { Session } from "./session.ts";

interface Sorting {
  column: string | null; // null: execution order
  descending: boolean;
}

export function TableView({ session }: { session: Session }) {
  const { settings, actions, level } = session;
  const [sorting, setSorting] = useState<Sorting>({ column: null, descending: true });
  const columns = columnsOf(session);
  const rows = sorted(rowsOf(session), columns, sorting);
  return (
    <div class="table-view">
      <div class="table-tools">
        <Segmented label="Rows" value={settings.group} onChange={(group) => actions.update({ group })}
          options={[{ value: "children", text: "children" }, { value: "operator", text: "by operator" }]} />
        <span class="light">{tableNote(session, rows.length)}</span>
        <span class="spring" />
        <span class="label">share of</span>
        <Segmented label="Share of" value={settings.per} onChange={(per) => actions.update({ per })}
          options={[{ value: "view", text: "view" }, { value: "model", text: "model" }]} />
      </div>
      {session.compared && settings.group === "children"
        ? <CompareTable session={session} rows={rows} />
        : rows.length > 0 && <Rows session={session} rows={rows} columns={columns} sorting={sorting} setSorting={setSorting} />}
      {settings.group === "children" && level.unread.length > 0 && <TensorTable session={session} />}
      {rows.length === 0 && level.unread.length === 0 && <p class="empty">There is nothing below this module.</p>}
    </div>
  );
}

function tableNote({ level, settings }: Session, count: number): string {
  const rows = `${count} ${count === 1 ? "row" : "rows"}. `;
  if (settings.view === "graph" && level.boxes.length > BOX_LIMIT) return `${rows}Too many boxes for a graph.`;
  return count === 0 ? "No graph here." : `${rows}Click a heading to sort, Enter opens the row.`;
}

function sorted(rows: Row[], columns: Column[], { column, descending }: Sorting): Row[] {
  if (column === null) return rows;
  const key = column === "part" ? (row: Row) => row.name
    : column === "share" ? (row: Row) => row.size ?? -1
    : (columns.find(({ id }) => id === column)?.sort ?? (() => 0));
  const direction = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [key(a), key(b)];
    return direction * (typeof x === "string" && typeof y === "string" ? x.localeCompare(y) : Number(x) - Number(y));
  });
}

function Rows(props: {
  session: Session; rows: Row[]; columns: Column[]; sorting: Sorting; setSorting: (sorting: Sorting) => void;
}) {
  const { session, rows, columns, sorting, setSorting } = props;
  const scroll = useRef<HTMLDivElement>(null);
  const shown = useWindow(scroll, rows.length);
  const bar = effectiveBar(session.measure.bar, session.time);
  const wholeItem = { kind: "module" as const, id: session.settings.per === "model" ? 0 : session.level.module.id };
  const whole = barValue(session.measure, wholeItem).size ?? 0;
  const hot = isTime(bar) ? hotSet(new Map(rows.map((row) => [row.key, row.size]))) : new Set<string>();
  const total = totalRow(session);
  const heading = (id: string, title: string, numeric: boolean) => (
    <th key={id} scope="col" class={numeric ? "number" : ""}
      aria-sort={sorting.column === id ? (sorting.descending ? "descending" : "ascending") : "none"}>
      <button type="button" onClick={() => setSorting(next(sorting, id))}>{title}{sorting.column === id ? (sorting.descending ? " ↓" : " ↑") : ""}</button>
    </th>
  );
  useEffect(() => {
    if (session.selected) scroll.current?.querySelector(`[data-row="${CSS.escape(session.selected)}"]`)?.scrollIntoView({ block: "nearest" });
  }, [session.selected]);
  return (
    <div class="table-scroll" ref={scroll} tabIndex={0} role="region" aria-label="Table of this view">
      <table>
        <thead>
          <tr>
            {heading("part", "Part", false)}
            <th scope="col">{BAR_LABELS[bar]}</th>
            {heading("share", "Share", true)}
            {columns.map(({ id, title, numeric }) => heading(id, title, numeric))}
          </tr>
        </thead>
        <tbody>
          {shown.before > 0 && <tr style={{ height: `${shown.before}px` }} />}
          {rows.slice(shown.from, shown.to).map((row) => (
            <TableRow key={row.key} session={session} row={row} columns={columns} whole={whole} hot={hot.has(row.key)} bar={bar} />
          ))}
          {shown.after > 0 && <tr style={{ height: `${shown.after}px` }} />}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">{total.name}</th>
            <td />
            <td class="number">{shareText(total, whole)}</td>
            {columns.map((column) => <td key={column.id} class={column.numeric ? "number" : "light"}>{column.id === "bound" ? "" : column.text(total)}</td>)}
          </tr>
        </tfoot>
      </table>
    </div>
  );
}

// A third click returns to execution order.
function next(now: Sorting, id: string): Sorting {
  if (now.column !== id) return { column: id, descending: id !== "part" && id !== "kind" };
  const first = id !== "part" && id !== "kind";
  return now.descending === first ? { column: id, descending: !first } : { column: null, descending: true };
}

function TableRow(props: {
  session: Session; row: Row; columns: Column[]; whole: number; hot: boolean; bar: BarName;
}) {
  const { session, row, columns, whole, hot, bar } = props;
  const single = row.items.length === 1 ? row.items[0] : undefined;
  const share = row.size === null || whole === 0 ? 0 : row.size / whole;
  const select = () => {
    if (single && !row.key.startsWith("op:")) session.actions.select(row.key);
    else session.actions.show("find", row.key);
  };
  return (
    <tr class={session.selected === row.key ? "selected" : ""} data-row={row.key}
      onClick={select} onDblClick={() => single && session.actions.open(single)}>
      <th scope="row">
        <button type="button" class="row-name" onKeyDown={(event) => { if (event.key === "Enter" && single) { event.preventDefault(); event.stopPropagation(); session.actions.open(single); } }}>
          {row.name}{row.times > 1 && <span class="times">{` × ${row.times}`}</span>}
        </button>
      </th>
      <td><Bar share={share} tone={hot ? "hot" : BAR_TONES[bar]} /></td>
      <td class={hot ? "number hot-text strong" : "number"}>{shareText(row, whole)}</td>
      {columns.map((column) => {
        const text = column.text(row);
        return <td key={column.id} class={`${column.numeric ? "number" : ""} ${text === "0" ? "zero" : ""}`}>{text}</td>;
      })}
    </tr>
  );
}
