import { useState } from "preact/hooks";
import { formatBytes, formatParameters, formatShape, integer } from "../format/number.ts";
import type { GraphNode, Tensor, Value } from "../document/types.ts";
import { lastPart, tensorsOf, type Session } from "./session.ts";

export function NodeDetails({ session, node }: { session: Session; node: GraphNode }) {
  return (
    <>
      <Values session={session} title="Inputs" ids={node.inputs} />
      <Values session={session} title="Outputs" ids={node.outputs} />
      <TensorList session={session} tensors={tensorsOf(session.document, node)} title="Weights and constants" />
      {node.attributes.length > 0 && (
        <section>
          <div class="section-head"><h3>Attributes</h3></div>
          {node.attributes.map(([name, value]) => (
            <p key={name} class="row"><span class="mono">{name}</span><span class="mono value">{attributeText(value)}</span></p>
          ))}
        </section>
      )}
    </>
  );
}

function attributeText(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > 300 ? `${text.slice(0, 297)}…` : text;
}

function Values({ session, title, ids }: { session: Session; title: string; ids: (number | null)[] }) {
  const { document, evaluation } = session;
  const values = ids.flatMap((id) => {
    const value = id === null ? undefined : document.values[id];
    return value && value.tensor === null && value.role !== "initializer" ? [value] : [];
  });
  if (values.length === 0) return null;
  return (
    <section>
      <div class="section-head"><h3>{title}</h3></div>
      {values.map((value) => {
        const bytes = evaluation.formula(value.bytes);
        return (
          <div key={value.id} class="value-line" title={value.name}>
            <span class="mono name">{lastPart(value.name) || value.name}</span>
            <span class="mono">{formatShape(evaluation.dimensions(value.shape))} {value.dtype || "?"}</span>
            <span>{bytes === null ? "unknown" : formatBytes(bytes)}</span>
            <small class="mono light symbolic">{symbolicShape(session, value)}</small>
          </div>
        );
      })}
    </section>
  );
}

// `[batch_size, 1, 2048]`: where the numbers above come from.
function symbolicShape(session: Session, value: Value): string {
  if (value.shape === null) return "rank unknown";
  const texts = value.shape.map((dim) => (dim === null ? "?" : (session.document.formulas[dim]?.text ?? "?")));
  return texts.every((text) => /^\d+$/.test(text)) ? "" : `[${texts.join(", ")}]`;
}

const FEW = 12;

export function TensorList({ tensors, title }: { session: Session; tensors: Tensor[]; title: string }) {
  const [all, setAll] = useState(false);
  if (tensors.length === 0) return null;
  const shown = all ? tensors.slice(0, 1000) : tensors.slice(0, FEW);
  return (
    <section>
      <div class="section-head"><h3>{title}</h3><span class="light">one instance</span></div>
      {shown.map((tensor) => (
        <div key={tensor.id} class="tensor">
          <p class="mono name">{tensor.name}</p>
          <p class="row">
            <span class="mono">[{tensor.shape.map(String).join(", ")}] {tensor.dtype}</span>
            <strong>{formatBytes(tensor.bytes)}</strong>
          </p>
          <p class="light">{tensorNote(tensor)}</p>
        </div>
      ))}
      {!all && tensors.length > FEW && <button type="button" class="small" onClick={() => setAll(true)}>{tensors.length - FEW} more</button>}
    </section>
  );
}

function tensorNote(tensor: Tensor): string {
  const place = tensor.file === null ? "no file: implied by the configuration"
    : `${tensor.file}${tensor.offset === null ? "" : ` at ${integer(tensor.offset)}`}`;
  return [
    tensor.parameters > 0n ? `${formatParameters(tensor.parameters)} params` : tensor.role,
    tensor.part === "plain" ? "" : tensor.part, tensor.instances > 1 ? `× ${tensor.instances}` : "", place,
  ].filter((part) => part !== "").join(" · ");
}
