import { integer } from "../format/number.ts";
import { smallestDevice, whatFits } from "../metrics/fit.ts";
import { DEVICES } from "../time/table.ts";
import type { Session } from "./session.ts";

// The largest batch and length on this device, and the smallest device for this load.
export function FitPanel({ session, capacity }: { session: Session; capacity: bigint }) {
  const { document, evaluation, actions } = session;
  const { bindings } = evaluation;
  const has = (name: string) => document.variables.some((variable) => variable.name === name);
  const fits = whatFits(document, bindings, capacity);
  const total = evaluation.perDevice("total_bytes").value;
  const smallest = total === null ? null : smallestDevice(DEVICES, total);
  const longest = bindings.get("max_length");
  return (
    <section>
      <div class="section-head"><h2>What fits here</h2></div>
      {has("batch_size") && (
        <FitRow label={`Max batch${longest === undefined ? "" : `, ${integer(longest)}`}`} value={fits.batch}
          unbounded={fits.unbounded.batch} onSet={(value) => actions.setVariable("batch_size", value)} />
      )}
      {has("max_length") && (
        <FitRow label={`Max length, batch ${integer(bindings.get("batch_size") ?? 1n)}`} value={fits.length}
          unbounded={fits.unbounded.length} onSet={(value) => actions.setVariable("max_length", value)} />
      )}
      {has("max_length") && fits.lengthLimit === "model" && <p class="note indent">the model's limit, not the device's</p>}
      <p class="row device"><span>Smallest device</span><span>{smallest?.name ?? "none in the table"}</span></p>
    </section>
  );
}

function FitRow(props: { label: string; value: bigint | null; unbounded: boolean; onSet: (value: bigint) => void }) {
  const { label, value, unbounded, onSet } = props;
  return (
    <p class="row">
      <span>{label}</span>
      <strong>{value === null ? "none" : unbounded ? "no limit" : integer(value)}</strong>
      {value !== null && !unbounded && <button type="button" class="small" aria-label={`Set ${label}`} onClick={() => onSet(value)}>set</button>}
    </p>
  );
}
