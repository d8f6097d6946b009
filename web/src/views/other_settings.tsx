// This model once more under other settings: what a comparison of a document with itself needs.
import { useState } from "preact/hooks";
import type { OtherSettings } from "../settings/settings.ts";
import { DEVICES } from "../time/table.ts";
import { NumberField, Select } from "./dom.tsx";
import { variableLabel } from "./header.tsx";
import type { Session } from "./session.ts";

export function OtherSettingsForm({ session, onChoose }: { session: Session; onChoose: (other: OtherSettings) => void }) {
  const { document, evaluation, settings, actions } = session;
  const [chosen, setChosen] = useState<ReadonlyMap<string, bigint>>(settings.other.variables);
  const [device, setDevice] = useState<string | null>(settings.other.device);
  const shown = (name: string) => chosen.get(name) ?? evaluation.bindings.get(name) ?? 0n;
  return (
    <div class="other-settings">
      <h3>This model at other settings</h3>
      <div class="fields">
        {document.variables.map(({ name, label, min }) => (
          <NumberField key={name} label={variableLabel(name, label)} value={shown(name)} min={min}
            onChange={(value) => setChosen(new Map(chosen).set(name, value))} onRefused={actions.say} />
        ))}
        <Select label="Device" value={device ?? settings.device ?? "none"} onChange={setDevice}
          options={[{ value: "none", text: "no device" }, ...DEVICES.map(({ id, name, vendor }) => ({ value: id, text: name, group: vendor }))]} />
        <button type="button" onClick={() => onChoose({ variables: chosen, device })}>Compare</button>
      </div>
    </div>
  );
}
