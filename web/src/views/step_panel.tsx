// One step: how long, how much work, and what binds it.
import { digits3, formatBytes, formatCount, formatPercent, formatTime, integer, THIN } from "../format/number.ts";
import { sign } from "../metrics/bar.ts";
import { sum } from "../metrics/evaluation.ts";
import { isCalibrated } from "../time/device.ts";
import type { Session } from "./session.ts";

export function StepPanel({ session }: { session: Session }) {
  const { evaluation, time, document, device } = session;
  const flops = evaluation.summary("flops");
  const reads = sum(["weight_read_bytes", "kv_read_bytes", "activation_read_bytes"].map((name) =>
    evaluation.summary(name as "weight_read_bytes")));
  const step = time?.of({ kind: "module", id: 0 });
  const batch = evaluation.bindings.get("batch_size") ?? 1n;
  const tokens = Number(batch) * (document.mode === "decode" ? 1 : Number(evaluation.bindings.get("current_length") ?? 1n));
  const rate = (seconds: number) => (seconds > 0 ? integer(Math.round(tokens / seconds)) : "–");
  return (
    <section>
      <div class="section-head">
        <h2>One {document.mode} step</h2>
        {step && <span class="light">bound … estimate</span>}
      </div>
      {step && (
        <>
          <p class="row"><span>Time</span><span class="light">{formatTime(step.ideal)} … </span><strong class="hot-text">≈{THIN}{formatTime(step.estimate)}</strong></p>
          <p class="row"><span>{document.mode === "decode" ? "Tokens/s" : "Prompt tokens/s"}</span><span class="light">{rate(step.ideal)} … </span><strong>≈{THIN}{rate(step.estimate)}</strong></p>
        </>
      )}
      {document.measured && <Measured session={session} />}
      <p class="row"><span>FLOPs</span><strong title={flops.value === null ? "" : integer(flops.value)}>{flops.value === null ? "unknown" : sign(flops.exactness) + formatCount(flops.value)}</strong></p>
      <p class="row"><span>Bytes read</span><strong title={reads.value === null ? "" : integer(reads.value)}>{reads.value === null ? "unknown" : sign(reads.exactness) + formatBytes(reads.value)}</strong></p>
      {step && step.estimate > 0 && <BoundBar parts={[["memory", step.memory], ["compute", step.compute], ["launch", step.launch]]} />}
      {device && !isCalibrated(device) && <p class="note">{device.name} is not calibrated: its class's usual fractions of the peak are used.</p>}
    </section>
  );
}

function BoundBar({ parts }: { parts: [string, number][] }) {
  const whole = parts.reduce((total, [, seconds]) => total + seconds, 0);
  return (
    <>
      <div class="bound-bar" aria-hidden="true">
        {parts.map(([name, seconds]) => <span key={name} class={name} style={{ width: `${(seconds / whole) * 100}%` }} />)}
      </div>
      <p class="note">bound by {parts.map(([name, seconds]) => `${name} ${formatPercent(seconds / whole)}`).join(" · ")}</p>
    </>
  );
}

// What a runtime's profile says, and at which settings it was taken.
function Measured({ session }: { session: Session }) {
  const { document, evaluation, time } = session;
  const measured = document.measured!;
  const estimate = time?.of({ kind: "module", id: 0 }).estimate ?? 0;
  const elsewhere = measured.variables.filter(([name, value]) => evaluation.bindings.has(name) && evaluation.bindings.get(name) !== value);
  return (
    <>
      <p class="row"><span>Measured</span><strong>{formatTime(measured.step)}</strong>{estimate > 0 && <span class="light">{`${digits3(measured.step / estimate)}× estimate`}</span>}</p>
      <p class="note">
        {measured.source}{measured.provider && `, ${measured.provider}`}, mean of {integer(measured.steps)} {measured.steps === 1 ? "step" : "steps"}.
        {measured.unjoined > 0 && ` ${formatTime(measured.unjoined)} belong to no node here.`}
        {measured.contradictions > 0 && ` ${integer(measured.contradictions)} sizes differ from the document's.`}
        {elsewhere.length > 0 && ` Taken at ${elsewhere.map(([name, value]) => `${name} ${integer(value)}`).join(", ")}: `}
        {elsewhere.length > 0 && <button type="button" class="small" onClick={() => { for (const [name, value] of elsewhere) session.actions.setVariable(name, value); }}>set</button>}
      </p>
    </>
  );
}
