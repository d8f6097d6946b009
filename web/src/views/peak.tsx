// Who is alive at the activation peak.
import { formatBytes, formatPercent, formatShape } from "../format/number.ts";
import { lastPart, nodeLabel, nodeOf, type Session } from "./session.ts";

export function PeakView({ session }: { session: Session }) {
  const { document, evaluation, actions } = session;
  const peak = evaluation.summary("activation_peak_bytes");
  if (!document.peak) return <p class="empty">This document does not say which values are alive at the peak.</p>;
  const alive = document.peak.alive.map((live) => ({ live, bytes: evaluation.formula(live.bytes) ?? 0n }))
    .sort((a, b) => (b.bytes > a.bytes ? 1 : b.bytes < a.bytes ? -1 : 0));
  const node = document.peak.node === null ? null : nodeOf(document, document.peak.node);
  const whole = Number(peak.value ?? 0n);
  const first = alive[0];
  return (
    <div class="peak">
      <p class="sentence">
        <strong>{peak.value === null ? "An unknown number of bytes" : formatBytes(peak.value)}</strong> at the peak
        {node && <>, while <button type="button" class="link mono" onClick={() => actions.goTo(node.module, `n${node.id}`)}>{nodeLabel(document, node)}</button> runs</>}.
        {first && whole > 0 && <> <strong>{lastPart(document.values[first.live.value]?.name ?? "")}</strong> is {formatPercent(Number(first.bytes) / whole)} of it.</>}
      </p>
      <h3>Alive at the peak: {alive.length}</h3>
      <div class="alive">
        {alive.slice(0, 400).map(({ live, bytes }) => {
          const value = document.values[live.value];
          return value && (
            <p key={live.value} class="row">
              <span title={value.name}>{lastPart(value.name)}</span>
              <span class="mono light">{formatShape(evaluation.dimensions(value.shape))} {value.dtype}</span>
              <span class="number">{formatBytes(bytes)}</span>
              <span class="number light">{whole > 0 ? formatPercent(Number(bytes) / whole) : ""}</span>
            </p>
          );
        })}
      </div>
    </div>
  );
}
