// One of several devices: how the model is spread, what each sends in a step, what engines refuse.
import { formatBytes, formatTime, integer, THIN } from "../format/number.ts";
import type { Variable } from "../document/types.ts";
import { NumberField } from "./dom.tsx";
import type { Session } from "./session.ts";

const LABELS: Record<string, string> = {
  tensor_parallel_size: "Tensor", pipeline_parallel_size: "Pipeline", expert_parallel_size: "Expert",
  data_parallel_size: "Data", pipeline_stage: "Stage shown",
};

export function ParallelPanel({ session }: { session: Session }) {
  const { document, evaluation } = session;
  const variables = document.variables.filter(({ group }) => group === "parallel");
  if (!document.parallel || variables.length === 0) return null;
  const several = evaluation.devices > 1n;
  return (
    <section class="parallel">
      <div class="section-head"><h2>Spread over devices</h2><span class="light">{integer(evaluation.devices)} {several ? "devices" : "device"}</span></div>
      <div class="fields">{variables.filter((variable) => isShown(session, variable)).map((variable) => <Size key={variable.name} session={session} variable={variable} />)}</div>
      {several && <Communication session={session} />}
      {several && <Conditions session={session} />}
    </section>
  );
}

const isShown = ({ evaluation }: Session, { name }: Variable) =>
  name !== "pipeline_stage" || (evaluation.bindings.get("pipeline_parallel_size") ?? 1n) > 1n;

function Size({ session, variable }: { session: Session; variable: Variable }) {
  const { evaluation, actions } = session;
  const { name, label, min } = variable;
  const stages = evaluation.bindings.get("pipeline_parallel_size") ?? 1n;
  const set = (value: bigint) => {
    if (name === "pipeline_stage" && value >= stages) actions.say(`There are ${integer(stages)} stages, from 0.`);
    else if (value > 65536n) actions.say("At most 65,536 devices.");
    else actions.setVariable(name, value);
  };
  return (
    <NumberField label={LABELS[name] ?? label} value={evaluation.bindings.get(name) ?? variable.value} min={min}
      onChange={set} onRefused={actions.say} />
  );
}

function Communication({ session }: { session: Session }) {
  const { document, evaluation, device } = session;
  const link = device?.link?.bytes_per_second;
  const sent = (document.parallel?.communication ?? []).map(({ operation, bytes, calls }) => ({
    operation, bytes: evaluation.amount(bytes), calls: evaluation.amount(calls) })).filter(({ bytes }) => bytes.value !== 0n);
  return (
    <>
      {sent.map(({ operation, bytes, calls }) => (
        <p key={operation} class="row">
          <span>{operation}{calls.value === null ? "" : <span class="times">{` × ${integer(calls.value)}`}</span>}</span>
          <span title={bytes.value === null ? "" : `${integer(bytes.value)} bytes sent in one step`}>
            {bytes.value === null ? "unknown" : formatBytes(bytes.value)}
            {bytes.value !== null && link && <span class="light">{` ≥${THIN}${formatTime(Number(bytes.value) / link)}`}</span>}
          </span>
        </p>
      ))}
      <p class="note">{sent.length > 0 ? "Sent by one device in one step" : "Nothing is sent in a step"}{link ? `, over ${device.link?.kind ?? "its link"}` : ""}; not part of the time below, which is of one device without splits.</p>
    </>
  );
}

function Conditions({ session }: { session: Session }) {
  const { document, evaluation } = session;
  const unmet = (document.parallel?.conditions ?? []).filter(({ formula }) => evaluation.formula(formula) !== 0n);
  return (
    <>
      {unmet.map(({ code, subject, message }) => (
        <p key={subject + message} class="note"><span class={code === "refused-split" ? "tag error" : "tag assumed"}>{code === "refused-split" ? "refused" : "uneven"}</span> {subject}: {message}</p>
      ))}
    </>
  );
}
