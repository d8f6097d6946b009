// Does it fit? Always about the whole model: it does not follow the drill.
import { useState } from "preact/hooks";
import { formatBytes, formatPercent, integer, THIN } from "../format/number.ts";
import { usableMemory } from "../time/device.ts";
import type { SummaryName } from "../document/types.ts";
import type { Evaluation } from "../metrics/evaluation.ts";
import { sign } from "../metrics/bar.ts";
import { CacheCurve } from "./cache_curve.tsx";
import { FitPanel } from "./fit_panel.tsx";
import { Stack, type Part } from "./stack.tsx";
import { ParallelPanel } from "./parallel_panel.tsx";
import { StepPanel } from "./step_panel.tsx";
import { MemoryParts } from "./memory_parts.tsx";
import type { Session } from "./session.ts";

const ROWS: { metric: SummaryName; name: string; tone: string }[] = [
  { metric: "weight_bytes", name: "Weights", tone: "w" },
  { metric: "kv_cache_bytes", name: "KV cache", tone: "kv" },
  { metric: "state_bytes", name: "State", tone: "st" },
  { metric: "activation_peak_bytes", name: "Activation peak", tone: "act" },
  { metric: "cache_copy_bytes", name: "Cache copy", tone: "copy" },
];

export function memoryParts(evaluation: Evaluation): Part[] {
  return ROWS.map(({ metric, name, tone }) => ({ name, tone, bytes: evaluation.perDevice(metric).value ?? 0n }));
}

export function MemoryPanel({ session }: { session: Session }) {
  const [unfolded, setUnfolded] = useState(false);
  const { evaluation, device, compared } = session;
  const capacity = device ? usableMemory(device) : null;
  const total = evaluation.perDevice("total_bytes");
  return (
    <aside class={unfolded ? "memory unfolded" : "memory"} aria-label="Memory">
      <section class="verdict">
        <div class="section-head">
          <h2 title="of the whole model, wherever the view is">Memory{device && <span class="light"> on {evaluation.devices > 1n ? `each of ${integer(evaluation.devices)} × ` : ""}{device.name}</span>}</h2>
          {(compared || !device) && <span class="light">{compared ? "A" : "whole model"}</span>}
        </div>
        <Total total={total.value} mark={sign(total.exactness)} capacity={capacity} />
        <button type="button" class="more" aria-expanded={unfolded} onClick={() => setUnfolded(!unfolded)}>{unfolded ? "less" : "more"}</button>
        <Stack parts={memoryParts(evaluation)} capacity={capacity} />
        {capacity !== null && <CapacityText total={total.value ?? 0n} capacity={capacity} />}
        {compared && <Second session={session} capacity={capacity} />}
        <Rows session={session} capacity={capacity} total={total.value} />
      </section>
      {capacity !== null && <FitPanel session={session} capacity={capacity} />}
      <ParallelPanel session={session} />
      <CacheCurve session={session} capacity={capacity} />
      <StepPanel session={session} />
    </aside>
  );
}

function Total({ total, mark, capacity }: { total: bigint | null; mark: string; capacity: bigint | null }) {
  if (total === null) return <p class="big">unknown</p>;
  const [number = "", unit = ""] = formatBytes(total).split(THIN);
  const over = capacity !== null && total > capacity;
  return (
    <>
      <p class="big-line">
        <span class="big">{mark}{number}</span>
        <span class="light"> {unit}{capacity !== null && ` of ${gib(capacity)}`}</span>
      </p>
      {capacity !== null && (
        <p class={over ? "fits over" : "fits"}>
          {over
            ? `✕ Does not fit: ${formatBytes(total - capacity)} over`
            : `✓ Fits: ${formatBytes(capacity - total)} free (${formatPercent(Number(capacity - total) / Number(capacity))})`}
        </p>
      )}
    </>
  );
}

const gib = (bytes: bigint) => `${(Number(bytes) / 2 ** 30).toFixed(2)}${THIN}GiB`;

function CapacityText({ total, capacity }: { total: bigint; capacity: bigint }) {
  const at = total > capacity ? Number(capacity) / Number(total) : 1;
  const style = at > 0.5 ? { right: `${(1 - at) * 100}%` } : { left: `${at * 100}%` };
  return <p class="capacity"><span style={style}>{gib(capacity)} capacity</span></p>;
}

function Second({ session, capacity }: { session: Session; capacity: bigint | null }) {
  const other = session.compared?.evaluation;
  if (!other) return null;
  const total = other.perDevice("total_bytes").value;
  const change = total === null ? null : total - (session.evaluation.perDevice("total_bytes").value ?? 0n);
  const text = change === null ? "unknown" : change === 0n ? "=" : `${change > 0n ? "+" : "\u2212"}${formatBytes(change < 0n ? -change : change)}`;
  return (
    <>
      <p class="second-total"><strong>B</strong> {total === null ? "unknown" : formatBytes(total)}, {text}</p>
      <Stack parts={memoryParts(other)} capacity={capacity} />
      {capacity !== null && <CapacityText total={total ?? 0n} capacity={capacity} />}
    </>
  );
}

function Rows({ session, capacity, total }: { session: Session; capacity: bigint | null; total: bigint | null }) {
  const [open, setOpen] = useState<SummaryName | null>(null);
  const shown = ROWS.map((row) => ({ ...row, amount: session.evaluation.perDevice(row.metric) })).filter(
    ({ metric, amount }) => metric === "weight_bytes" || metric === "activation_peak_bytes" || amount.value !== 0n);
  return (
    <div class="rows" role="table" aria-label="What the memory is needed for">
      {shown.map(({ metric, name, tone, amount }) => (
        <div key={metric} role="rowgroup">
          <div class="row" role="row">
            <span role="rowheader">
              <i class={`swatch ${tone}`} />
              <button type="button" class="unfold" aria-expanded={open === metric} onClick={() => setOpen(open === metric ? null : metric)}>{name}</button>
            </span>
            <span role="cell" title={amount.value === null ? "" : `${integer(amount.value)} bytes`}>
              {amount.value === null ? "unknown" : sign(amount.exactness) + formatBytes(amount.value)}
            </span>
            <span role="cell" class="light">{amount.value !== null && total ? formatPercent(Number(amount.value) / Number(total)) : ""}</span>
          </div>
          {open === metric && <MemoryParts session={session} metric={metric} />}
        </div>
      ))}
      <div class="row sum" role="row">
        <span role="rowheader">Needed</span>
        <span role="cell">{total === null ? "unknown" : formatBytes(total)}</span>
        <span role="cell" class="light">{total === null ? "" : `100${THIN}%`}</span>
      </div>
      {capacity !== null && total !== null && (
        <div class={total > capacity ? "row over" : "row"} role="row">
          <span role="rowheader">{total <= capacity && <i class="swatch free" />}{total > capacity ? "Over capacity" : "Free"}</span>
          <span role="cell">{formatBytes(total > capacity ? total - capacity : capacity - total)}</span>
          <span role="cell" />
        </div>
      )}
    </div>
  );
}
