// A, B and B − A of each part. Deltas are signed and in ink: less is not always better.
import type { Item, MetricName } from "../document/types.ts";
import { formatBytes, formatTime } from "../format/number.ts";
import { sum } from "../metrics/evaluation.ts";
import { counterpart } from "./shares.ts";
import { itemLabel, divisorOf, type Session } from "./session.ts";
import type { Row } from "./table_model.ts";

const READS: MetricName[] = ["weight_read_bytes", "kv_read_bytes", "activation_read_bytes"];

interface Pair {
  key: string;
  name: string;
  a: Item | null;
  b: Item | null;
}

interface Group {
  title: string;
  of: (side: "a" | "b", item: Item) => number | null;
  format: (value: number) => string;
}

function groupsOf(session: Session): Group[] {
  const side = (name: "a" | "b") => (name === "a" ? session : session.compared!);
  const divisor = divisorOf(session);
  const bytes = (names: MetricName[]) => (which: "a" | "b", item: Item) => {
    const amount = sum(names.map((name) => side(which).evaluation.metric(item, name)));
    return amount.value === null ? null : Number(amount.value) / divisor;
  };
  const groups: Group[] = [
    { title: "Weights", of: bytes(["weight_bytes"]), format: formatBytes },
    { title: "Read / step", of: bytes(READS), format: formatBytes },
  ];
  if (session.time) {
    groups.push({ title: "Time, estimate", of: (which, item) => (side(which).time?.of(item).estimate ?? 0) / divisor, format: formatTime });
  }
  return groups;
}

export function pairsOf(session: Session, rows: Row[]): Pair[] {
  const pairs: Pair[] = [];
  const met = new Set<string>();
  for (const row of rows) {
    const a = row.items[0] ?? null;
    const b = a ? counterpart(session, a) : null;
    if (b) met.add(`${b.kind}${b.id}`);
    pairs.push({ key: row.key, name: row.name, a, b });
  }
  const here = counterpart(session, { kind: "module", id: session.level.module.id });
  const other = session.compared?.document;
  const theirs = here && other ? (other.modules[here.id]?.items ?? []) : [];
  for (const item of theirs) {
    if (!met.has(`${item.kind}${item.id}`)) pairs.push({ key: `b${item.kind}${item.id}`, name: itemLabel(other!, item), a: null, b: item });
  }
  return pairs;
}

export function CompareTable({ session, rows }: { session: Session; rows: Row[] }) {
  const groups = groupsOf(session);
  const pairs = pairsOf(session, rows);
  const here: Item = { kind: "module", id: session.level.module.id };
  const total: Pair = { key: "total", name: itemLabel(session.document, here), a: here, b: counterpart(session, here) };
  return (
    <div class="table-scroll compare" tabIndex={0} role="region" aria-label="Comparison of this view">
      <table>
        <thead>
          <tr><th />{groups.map(({ title }) => <th key={title} scope="colgroup" colSpan={3} class="group">{title}</th>)}</tr>
          <tr>
            <th scope="col">Part</th>
            {groups.flatMap(({ title }) => ["A", "B", "B − A"].map((name) => (
              <th key={title + name} scope="col" class={`number ${name === "A" ? "first" : ""}`}>{name}</th>
            )))}
          </tr>
        </thead>
        <tbody>{pairs.map((pair) => <PairRow key={pair.key} session={session} pair={pair} groups={groups} />)}</tbody>
        <tfoot><PairRow session={session} pair={total} groups={groups} /></tfoot>
      </table>
    </div>
  );
}

function PairRow({ session, pair, groups }: { session: Session; pair: Pair; groups: Group[] }) {
  const only = !pair.a ? "only in B" : !pair.b ? "only in A" : null;
  const { a } = pair;
  return (
    <tr class={only ? `only ${pair.a ? "missing" : "added"}` : session.selected === pair.key ? "selected" : ""}
      onClick={() => a && pair.key !== "total" && session.actions.select(pair.key)} onDblClick={() => a && session.actions.open(a)}>
      <th scope="row">{pair.name}{only && <span class="tag">{only}</span>}</th>
      {groups.flatMap(({ title, of, format }) => {
        const x = pair.a ? of("a", pair.a) : null;
        const y = pair.b ? of("b", pair.b) : null;
        const text = (value: number | null, there: unknown) => (value === null ? (there ? "unknown" : "–") : format(value));
        return [
          <td key={`${title}A`} class={`number first ${x === 0 ? "zero" : ""}`}>{text(x, pair.a)}</td>,
          <td key={`${title}B`} class={`number ${y === 0 ? "zero" : ""}`}>{text(y, pair.b)}</td>,
          <td key={`${title}D`} class="number"><strong>{x === null || y === null ? "" : signed(y - x, format)}</strong></td>,
        ];
      })}
    </tr>
  );
}

function signed(change: number, format: (value: number) => string): string {
  if (change === 0) return "=";
  return (change < 0 ? "\u2212" : "+") + format(Math.abs(change));
}
