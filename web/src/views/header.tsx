// The top of the model page: whose numbers these are, and under which load.
import { useState } from "preact/hooks";
import { formatParameters, integer } from "../format/number.ts";
import { DEVICES } from "../time/table.ts";
import type { Document } from "../document/types.ts";
import { NumberField, Segmented, Select } from "./dom.tsx";
import type { Session } from "./session.ts";

const ORDER = ["batch_size", "current_length", "max_length"];
const LABELS: Record<string, string> = { batch_size: "Batch", current_length: "Current length", max_length: "Max length" };

export const variableLabel = (name: string, label: string) => LABELS[name] ?? (label || name.replaceAll("_", " "));

export function factsOf(document: Document): string {
  const { format, architecture, parameters, activeParameters, dtypes } = document.model;
  const facts: string[] = [];
  if (format) facts.push(format);
  if (architecture) facts.push(architecture);
  if (parameters !== null) {
    const active = activeParameters !== null && activeParameters !== parameters ? `, ${formatParameters(activeParameters)} active` : "";
    facts.push(`${formatParameters(parameters)} params${active}`);
  }
  const main = [...dtypes].sort((a, b) => (b.bytes > a.bytes ? 1 : b.bytes < a.bytes ? -1 : 0)).filter(
    (entry, index) => index === 0 || entry.bytes * 50n > (dtypes[0]?.bytes ?? 0n));
  if (main.length > 0) facts.push(main.slice(0, 3).map((entry) => entry.dtype).join(" + "));
  return facts.join(" · ");
}

export function Header({ session }: { session: Session }) {
  const [unfolded, setUnfolded] = useState(false);
  const { document, compared } = session;
  return (
    <header class="top">
      <a class="home" href="index.html">kcharter</a>
      <div class="who">
        <h1 title={document.model.name}>{document.model.name}{compared ? ` vs ${compared.name}` : ""}</h1>
        <p class="facts">{factsOf(document)}</p>
      </div>
      <button type="button" class="load-summary" aria-expanded={unfolded} onClick={() => setUnfolded(!unfolded)}>
        <span>{loadText(session)}</span>
        <span aria-hidden="true">{unfolded ? "▴" : "▾"}</span>
      </button>
      <Controls session={session} unfolded={unfolded} />
    </header>
  );
}

function loadText({ document, evaluation, device }: Session): string {
  const at = (name: string) => evaluation.bindings.get(name);
  const lengths = [at("current_length"), at("max_length")].flatMap((value) => (value === undefined ? [] : [integer(value)]));
  const batch = at("batch_size");
  return [document.mode, batch === undefined ? "" : `batch ${integer(batch)}`, lengths.join(" / "), device?.name ?? ""]
    .filter((part) => part !== "").join(" · ");
}

function Controls({ session, unfolded }: { session: Session; unfolded: boolean }) {
  const { document, evaluation, settings, actions, otherMode } = session;
  const variables = document.variables.filter(({ group }) => group !== "parallel").sort((a, b) => rank(a.name) - rank(b.name));
  const option = (value: "prefill" | "decode", text: string) => {
    const missing = value === otherMode.mode && !otherMode.available;
    return { value, text, disabled: missing, title: missing ? otherMode.reason : undefined };
  };
  return (
    <div class={unfolded ? "load unfolded" : "load"} role="group" aria-label="Load">
      <div class="field">
        <span>Step</span>
        <Segmented label="Step" value={document.mode} onChange={(mode) => actions.setMode(mode)}
          options={[option("prefill", "Prefill"), option("decode", "Decode")]} />
      </div>
      {variables.map((variable) => (
        <NumberField
          key={variable.name} label={variableLabel(variable.name, variable.label)}
          value={evaluation.bindings.get(variable.name) ?? variable.value} min={variable.min}
          onChange={(value) => actions.setVariable(variable.name, value)} onRefused={actions.say}
        />
      ))}
      {DEVICES.length > 0 && (
        <Select
          label="Device" value={settings.device ?? "none"}
          onChange={(device) => actions.update({ device: device === "none" ? null : device })}
          options={[{ value: "none", text: "no device" }, ...DEVICES.map(({ id, name, vendor }) => ({ value: id, text: name, group: vendor }))]}
        />
      )}
    </div>
  );
}

const rank = (name: string) => (ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length);
