// Who is alive at the activation peak of this view, and when the others live.
import { formatBytes, formatPercent, formatShape, integer } from "../format/number.ts";
import { nodesBelow } from "../document/level.ts";
import type { Document } from "../document/types.ts";
import { aliveBytes, lifetimesOf, packedBytes, type Life, type Lifetimes } from "../metrics/lifetimes.ts";
import { curveOf } from "../metrics/fit.ts";
import { itemLabel, moduleLabel, nodeLabel, nodeOf, moduleOf, type Session } from "./session.ts";

interface Range {
  from: number; // steps of this view
  to: number;
}

const CHUNK = 8192n;
const MOST_ALIVE = 60;
const MOST_OTHERS = 12;

export function PeakView({ session }: { session: Session }) {
  const lifetimes = lifetimesOf(session.evaluation);
  const range = rangeOf(session, lifetimes, session.level.module.id);
  if (!range) return <p class="empty">Nothing runs in this module, so nothing is alive in it.</p>;
  const alive = aliveBytes(lifetimes);
  let peak = range.from;
  for (let step = range.from; step <= range.to; ++step) if ((alive[step] as number) > (alive[peak] as number)) peak = step;
  const here = lifetimes.lives.filter(({ birth, death, bytes }) => birth <= peak && peak <= death && bytes > 0).sort((a, b) => b.bytes - a.bytes);
  const others = othersOf(session.document, lifetimes.lives, range, peak);
  return (
    <div class="peak" tabIndex={0} role="region" aria-label="Activation peak">
      <Sentence session={session} lifetimes={lifetimes} alive={alive} range={range} peak={peak} largest={here[0]} />
      <div class="peak-plot">
        <Area session={session} alive={alive} range={range} peak={peak} lifetimes={lifetimes} />
        <p class="peak-head">Alive at the peak: {here.length}<span class="light">bytes, share of peak</span></p>
        {here.slice(0, MOST_ALIVE).map((life) => (
          <LifeRow key={life.value} session={session} lives={[life]} range={range} whole={alive[peak] as number} />
        ))}
        {here.length > MOST_ALIVE && <p class="light">{here.length - MOST_ALIVE} smaller ones more</p>}
        {others.length > 0 && <p class="peak-head">Largest that are not alive then</p>}
        {others.map((lives) => <LifeRow key={lives[0]!.value} session={session} lives={lives} range={range} whole={null} />)}
        <span class="peak-line" style={{ "--at": String((peak - range.from + 0.5) / (range.to - range.from + 1)) }} aria-hidden="true" />
      </div>
    </div>
  );
}

function rangeOf(session: Session, { steps }: Lifetimes, module: number): Range | null {
  const inside = new Set(nodesBelow(session.document, module));
  const from = steps.findIndex((id) => inside.has(id));
  return from < 0 ? null : { from, to: steps.findLastIndex((id) => inside.has(id)) };
}

// The largest that live in this view but not at the peak, equal ones together.
function othersOf(document: Document, lives: Life[], range: Range, peak: number): Life[][] {
  const groups = new Map<string, Life[]>();
  for (const life of lives) {
    const isElsewhere = life.death < range.from || life.birth > range.to;
    if (isElsewhere || life.bytes === 0 || (life.birth <= peak && peak <= life.death)) continue;
    const key = `${shortName(document, life.value)}|${life.bytes}`;
    groups.set(key, [...(groups.get(key) ?? []), life]);
  }
  return [...groups.values()].sort((a, b) => b[0]!.bytes - a[0]!.bytes).slice(0, MOST_OTHERS);
}

// A value by what makes it: `self_attn.q_proj`.
function shortName(document: Document, id: number): string {
  const value = document.values[id]!;
  if (value.producer === null) return value.name;
  const node = nodeOf(document, value.producer);
  const owner = moduleOf(document, node.module);
  const parts = owner.path.split(".").filter((part) => !/^\d+$/.test(part)).slice(-2);
  const name = nodeLabel(document, node);
  return owner.items.length === 1 ? parts.join(".") || name : [...parts.slice(-1), name].filter((part) => part !== "").join(".");
}

function Sentence(props: {
  session: Session; lifetimes: Lifetimes; alive: Float64Array; range: Range; peak: number; largest: Life | undefined;
}) {
  const { session, lifetimes, alive, range, peak, largest } = props;
  const { document, evaluation, level, actions } = session;
  const bytes = alive[peak] as number;
  const node = nodeOf(document, lifetimes.steps[peak] as number);
  const ties = alive.subarray(range.from, range.to + 1).filter((value) => value === bytes).length - 1;
  const said = evaluation.metric({ kind: "module", id: level.module.id }, "activation_peak_bytes").value;
  const packed = level.module.id === 0 ? packedBytes(lifetimes) : null;
  return (
    <>
      <p class="sentence">
        <strong>{formatBytes(bytes)}</strong> at the peak, while{" "}
        <button type="button" class="link mono" onClick={() => actions.goTo(node.module, `n${node.id}`)}>{peakNodeName(document, node.id)}</button> runs.
        {largest && bytes > 0 && <> <strong>{shortName(document, largest.value)}</strong> is {formatPercent(largest.bytes / bytes)} of it.</>}
        {ties > 0 && ` ${integer(ties)} other ${ties === 1 ? "operator here reaches" : "operators here reach"} the same height.`}
      </p>
      <p class="light">
        Least that must be alive{packed !== null && <>; an arena packed largest first needs {formatBytes(packed)}</>}. Views own no bytes. Folded stages show one instance.
        {said !== null && said !== BigInt(Math.round(bytes)) && <> The document's own figure, over all instances, is {formatBytes(said)}.</>}
        <Chunked session={session} />
      </p>
    </>
  );
}

function peakNodeName(document: Document, id: number): string {
  const node = nodeOf(document, id);
  const owner = moduleOf(document, node.module);
  return owner.parent === null ? nodeLabel(document, node) : `${owner.path}.${nodeLabel(document, node)}`;
}

// A prefill can be cut into chunks; the first one's peak stands for all.
function Chunked({ session }: { session: Session }) {
  const { document, evaluation } = session;
  const current = evaluation.bindings.get("current_length");
  if (document.mode !== "prefill" || current === undefined || current <= CHUNK) return null;
  const peak = curveOf(document, evaluation.bindings, "activation_peak_bytes")([["current_length", CHUNK]]);
  if (peak === null) return null;
  return <> All {integer(current)} tokens in one pass; in chunks of {integer(CHUNK)} tokens the peak would be about {formatBytes(peak)}.</>;
}

function Area(props: { session: Session; lifetimes: Lifetimes; alive: Float64Array; range: Range; peak: number }) {
  const { session, lifetimes, alive, range, peak } = props;
  const { document, level } = session;
  const count = range.to - range.from + 1;
  const most = (alive[peak] as number) || 1;
  let path = "M0,100";
  for (let i = 0; i < count; ++i) {
    const y = (100 - ((alive[range.from + i] as number) / most) * 96).toFixed(2);
    path += `L${i},${y}L${i + 1},${y}`;
  }
  const parts = level.boxes.flatMap(({ item }) => {
    if (item.kind !== "module") return [];
    const span = rangeOf(session, lifetimes, item.id);
    const module = moduleOf(document, item.id);
    return span ? [{ ...span, name: module.stage ? `${moduleLabel(module)}, one of ${module.repeat}` : itemLabel(document, item) }] : [];
  });
  return (
    <div class="peak-row area">
      <span class="peak-name">Bytes alive, operator by operator</span>
      <span class="light peak-scale"><span>{formatBytes(most)}</span><span>{formatBytes(Math.round(most / 2))}</span><span>0</span></span>
      <span class="peak-chart">
        <span class="peak-parts">
          {parts.map(({ from, to, name }) => (
            <span key={from} style={{ left: `${((from - range.from) / count) * 100}%`, width: `${((to - from + 1) / count) * 100}%` }} title={name}>{name}</span>
          ))}
        </span>
        <svg viewBox={`0 0 ${count} 100`} preserveAspectRatio="none" aria-hidden="true"><path d={`${path}L${count},100Z`} /></svg>
      </span>
      <span />
    </div>
  );
}

function LifeRow(props: { session: Session; lives: Life[]; range: Range; whole: number | null }) {
  const { session, lives, range, whole } = props;
  const { document, evaluation, actions } = session;
  const first = lives[0]!;
  const value = document.values[first.value]!;
  const count = range.to - range.from + 1;
  const name = shortName(document, first.value);
  const isBefore = first.birth < range.from;
  const producer = value.producer;
  return (
    <div class="peak-row">
      <span class="peak-name" title={value.name}>
        {isBefore && <span title="alive before this view">‹ </span>}
        {producer === null ? name : <button type="button" class="link plain" onClick={() => actions.goTo(nodeOf(document, producer).module, `n${producer}`)}>{name}</button>}
        {lives.length > 1 && ` × ${lives.length}`}
      </span>
      <span class="mono light">{formatShape(evaluation.dimensions(value.shape))} {value.dtype}</span>
      <span class="peak-track">
        {lives.slice(0, 80).map((life) => {
          const from = Math.max(life.birth, range.from) - range.from;
          const to = Math.min(life.death, range.to) - range.from + 1;
          return <span key={life.value} class={whole === null ? "life hollow" : "life"} style={{ left: `${(from / count) * 100}%`, width: `max(3px, ${((to - from) / count) * 100}%)` }} />;
        })}
      </span>
      <span class="number">{formatBytes(first.bytes)}<span class="light share">{whole ? formatPercent(first.bytes / whole) : ""}</span></span>
    </div>
  );
}

