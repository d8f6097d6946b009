// `label · source · value`, which unfolds to the formula, the exact integer and where it comes from.
import { useState } from "preact/hooks";
import { formatBytes, formatCount, integer } from "../format/number.ts";
import type { MetricName } from "../document/types.ts";
import { perInstance, type Amount } from "../metrics/evaluation.ts";
import { sign } from "../metrics/bar.ts";
import type { Session } from "./session.ts";

const TAGS: Record<string, string> = {
  tensor: "tensor", config: "config", graph: "graph", rule: "op rule", assumed: "assumed", unknown: "unknown",
};

const MEANING: Record<string, string> = {
  exact: "exact", estimated: "an estimate", lower_bound: "a lower bound: something under it is unknown and left out",
  assumed: "rests on something that no file says", unknown: "unknown",
};

export function SourceTag({ source }: { source: string }) {
  return <span class={`tag from-${source}`}>{TAGS[source] ?? source}</span>;
}

export function QuantityRow(props: {
  session: Session; label: string; metric: MetricName; amount: Amount; divisor: number;
}) {
  const [open, setOpen] = useState(false);
  const { label, metric, amount, session } = props;
  const shown = metric === "activation_peak_bytes" ? amount : perInstance(amount, props.divisor);
  const bytes = metric.endsWith("bytes");
  const tag = amount.value === null ? "unknown" : amount.exactness === "assumed" ? "assumed" : amount.source;
  const text = shown.value === null ? "unknown" : sign(shown.exactness) + (bytes ? formatBytes(shown.value) : formatCount(shown.value));
  return (
    <div class="quantity">
      <button type="button" class="row" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span><span class="turn" aria-hidden="true">{open ? "▾" : "▸"}</span>{label}</span>
        <SourceTag source={tag} />
        <strong>{text}</strong>
      </button>
      {open && (
        <div class="explained">
          {amount.formula !== null && <Formula text={amount.formula} session={session} />}
          {amount.value !== null && (
            <p>= {integer(amount.value)} {bytes ? "bytes" : "operations"}{metric === "activation_peak_bytes" ? "" : ", all instances"}; {MEANING[amount.exactness]}.</p>
          )}
          {amount.value === null && <p>No rule says what this is; totals above it read ≥.</p>}
          {amount.formula !== null && <Inputs text={amount.formula} session={session} />}
        </div>
      )}
    </div>
  );
}

// Variables stand out from the rest.
export function Formula({ text, session }: { text: string; session: Session }) {
  const names = new Set(session.document.variables.map((variable) => variable.name));
  return (
    <code class="formula">
      {text.slice(0, 4000).split(/([A-Za-z_][A-Za-z0-9_]*)/).map((part, index) =>
        names.has(part) ? <b key={index}>{part}</b> : part)}
      {text.length > 4000 && " …"}
    </code>
  );
}

function Inputs({ text, session }: { text: string; session: Session }) {
  const used = session.document.variables.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(text));
  if (used.length === 0) return null;
  const say = used.map(({ name }) => `${name} = ${integer(session.evaluation.bindings.get(name) ?? 0n)}`);
  return <p>at {say.join(", ")}</p>;
}
