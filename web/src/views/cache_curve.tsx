// Bytes of cache and state against the length the cache is sized for. Click or drag sets it.
import { useRef } from "preact/hooks";
import { digits3, integer } from "../format/number.ts";
import { curveOf } from "../metrics/fit.ts";
import type { Session } from "./session.ts";

const WIDTH = 262;
const HEIGHT = 92;
const LEFT = 6;
const RIGHT = 30;
const SAMPLES = 64;
const GIB = 2 ** 30;

export function CacheCurve({ session, capacity }: { session: Session; capacity: bigint | null }) {
  const { document, evaluation, actions } = session;
  const drag = useRef(false);
  const { bindings } = evaluation;
  const longest = bindings.get("max_length");
  const current = bindings.get("current_length") ?? 0n;
  const curves = (["kv_cache_bytes", "state_bytes"] as const).map((metric) => curveOf(document, bindings, metric));
  const at = (length: bigint) => curves.reduce((sum, curve) => sum + Number(curve([["max_length", length]]) ?? 0n), 0);
  if (longest === undefined || at(longest) === 0) return null;

  const end = axisEnd(longest, document.model.contextLimit);
  const lengths = Array.from({ length: SAMPLES + 1 }, (_, i) => (end * BigInt(i)) / BigInt(SAMPLES));
  const bytes = lengths.map(at);
  const rest = (["weight_bytes", "activation_peak_bytes", "cache_copy_bytes"] as const)
    .reduce((sum, metric) => sum + (evaluation.perDevice(metric).value ?? 0n), 0n);
  const room = capacity === null ? null : Math.max(0, Number(capacity - rest));
  const top = Math.max(...bytes, room !== null && room < 3 * Math.max(...bytes) ? room : 0) || 1;
  const x = (length: bigint | number) => LEFT + (Number(length) / Number(end)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => HEIGHT - (value / top) * (HEIGHT - 12);
  const line = (from: number, to: number) =>
    lengths.slice(from, to + 1).map((length, i) => `${x(length).toFixed(1)},${y(bytes[from + i] as number).toFixed(1)}`).join(" ");
  const over = room === null ? -1 : bytes.findIndex((value) => value > room);
  const split = over < 0 ? SAMPLES : Math.max(0, over - 1);
  const gib = (value: number) => digits3(value / GIB);
  const set = (event: PointerEvent) => {
    const box = (event.currentTarget as SVGElement).getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width) * WIDTH;
    const length = Math.round(((share - LEFT) / (WIDTH - LEFT - RIGHT)) * Number(end) / 256) * 256;
    actions.setVariable("max_length", BigInt(Math.max(256, Math.min(Number(end), length))));
  };
  const unit = `GiB, batch ${integer(bindings.get("batch_size") ?? 1n)}`;
  return (
    <section>
      <div class="section-head"><h2>Cache and state</h2><span class="light">{unit}</span></div>
      <p class="curve-key">
        <span><i class="dot hollow" />now <strong>{gib(at(current))}</strong></span>
        <span><i class="dot" />max <strong>{gib(at(longest))}</strong></span>
        {room !== null && <span><i class="dash" />room <strong>{gib(room)}</strong></span>}
      </p>
      <svg
        class="curve" viewBox={`0 0 ${WIDTH} ${HEIGHT + 18}`} aria-hidden="true"
        onPointerDown={(event) => { drag.current = true; (event.currentTarget as SVGElement).setPointerCapture(event.pointerId); set(event); }}
        onPointerMove={(event) => { if (drag.current) set(event); }}
        onPointerUp={() => { drag.current = false; }}
      >
        <line class="axis" x1={LEFT} y1={HEIGHT} x2={WIDTH - RIGHT} y2={HEIGHT} />
        {room !== null && room <= top && <line class="room" x1={LEFT} x2={WIDTH - RIGHT} y1={y(room)} y2={y(room)} />}
        <polyline class="fits" points={line(0, split)} />
        {over >= 0 && <polyline class="beyond" points={line(split, SAMPLES)} />}
        <line class="stem" x1={x(current)} x2={x(current)} y1={y(at(current))} y2={HEIGHT} />
        <line class="stem" x1={x(longest)} x2={x(longest)} y1={y(at(longest))} y2={HEIGHT} />
        <circle class="now" cx={x(current)} cy={y(at(current))} r={4} />
        <circle class="max" cx={x(longest)} cy={y(at(longest))} r={4} />
        <text x={WIDTH - RIGHT + 4} y={y(bytes.at(-1) as number) + 4}>{gib(bytes.at(-1) as number)}</text>
        {[0n, end / 2n, end].map((length, i) => (
          <text key={i} x={x(length)} y={HEIGHT + 14} text-anchor={i === 0 ? "start" : i === 1 ? "middle" : "end"}>{integer(length)}</text>
        ))}
      </svg>
    </section>
  );
}

// The model's own limit, or a power of two that leaves room beyond the length set.
function axisEnd(longest: bigint, limit: bigint | null): bigint {
  let end = limit ?? 4096n;
  while (end < longest || (limit === null && end < longest * 2n)) end *= 2n;
  return end;
}
