// What a row of the memory panel is made of.
import { modulesBelow } from "../document/level.ts";
import type { Item, SummaryName, Value } from "../document/types.ts";
import { formatBytes, formatShape, integer, THIN } from "../format/number.ts";
import { itemLabel, type Session } from "./session.ts";

export function MemoryParts({ session, metric }: { session: Session; metric: SummaryName }) {
  const quantity = session.evaluation.perDevice(metric);
  return (
    <div class="parts">
      {metric === "weight_bytes" && <Weights session={session} />}
      {(metric === "kv_cache_bytes" || metric === "state_bytes" || metric === "cache_copy_bytes") && <Caches session={session} metric={metric} />}
      {metric === "activation_peak_bytes" && <Peak session={session} />}
      {quantity.value !== null && <p class="exact">= {integer(quantity.value)} bytes</p>}
      {quantity.formula !== null && <code class="formula">{quantity.formula}</code>}
    </div>
  );
}

const PartRow = ({ name, text }: { name: string; text: string }) => (
  <p class="part"><span>{name}</span><span>{text}</span></p>
);

// The kinds of things that hold weights: leaf modules by the word their path ends in.
function Weights({ session }: { session: Session }) {
  const { document } = session;
  const groups = new Map<string, bigint>([["experts", 0n], ["attention", 0n], ["embedding", 0n], ["rest", 0n], ["unattributed", 0n]]);
  for (const tensor of document.tensors) {
    const path = `${tensor.module === null ? "" : (document.modules[tensor.module]?.path ?? "")}.${tensor.name}`.toLowerCase();
    const group = /unattributed/.test(path) ? "unattributed" : /expert/.test(path) ? "experts"
      : /attn|attention/.test(path) ? "attention" : /embed|lm_head|wte|wpe/.test(path) ? "embedding" : "rest";
    groups.set(group, (groups.get(group) as bigint) + tensor.bytes * BigInt(tensor.instances));
  }
  return <>{[...groups].map(([name, bytes]) => bytes > 0n && <PartRow key={name} name={name} text={formatBytes(bytes)} />)}</>;
}

function Caches({ session, metric }: { session: Session; metric: SummaryName }) {
  const { document, evaluation } = session;
  const state = metric === "state_bytes";
  const caches = document.caches.filter((cache) => (cache.kind === "state") === state && (metric !== "cache_copy_bytes" || cache.copied));
  const shown = caches.slice(0, 8).map((cache) => {
    const bytes = evaluation.formula(cache.bytes);
    const shape = formatShape(evaluation.dimensions(cache.shape as Value["shape"]));
    return <PartRow key={cache.name} name={`${cache.name} × ${cache.instances}, ${shape} ${cache.format}`}
      text={bytes === null ? "unknown" : formatBytes(bytes * BigInt(cache.instances))} />;
  });
  const longest = evaluation.bindings.get("max_length");
  const batch = evaluation.bindings.get("batch_size");
  const total = evaluation.summary("kv_cache_bytes").value;
  const perToken = metric === "kv_cache_bytes" && total && longest && batch ? total / (longest * batch) : null;
  return (
    <>
      {perToken !== null && <PartRow name="per token of max length" text={formatBytes(perToken)} />}
      {shown}
      {caches.length > 8 && <PartRow name={`${caches.length - 8} more`} text="" />}
    </>
  );
}

// The module at whose operators the peak is.
function Peak({ session }: { session: Session }) {
  const { document, evaluation, actions } = session;
  const whole = evaluation.summary("activation_peak_bytes").value;
  let deepest: Item = { kind: "module", id: 0 };
  for (const id of modulesBelow(document, 0)) {
    const item: Item = { kind: "module", id };
    if (evaluation.metric(item, "activation_peak_bytes").value === whole) deepest = item;
  }
  const node = document.nodes.find((candidate) =>
    candidate.module === deepest.id && evaluation.amount(candidate.metrics.activation_peak_bytes).value === whole);
  return (
    <p class="part">
      <span>at {node ? `${node.opType} in ` : ""}
        <button type="button" class="link" onClick={() => actions.goTo(deepest.id, node ? `n${node.id}` : null)}>{itemLabel(document, deepest)}</button>
      </span>
      <span>{whole === null ? "unknown" : `${formatBytes(whole)}${THIN}`}</span>
    </p>
  );
}
