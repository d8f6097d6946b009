// Why this number? Everything known of the selected module or operator.
import { useState } from "preact/hooks";
import { digits3, formatPercent, formatTime, THIN } from "../format/number.ts";
import { pathAt } from "../document/paths.ts";
import { measuredTime } from "../metrics/bar.ts";
import { boundBy } from "../time/estimate.ts";
import type { Item, Module } from "../document/types.ts";
import { Bar, copyText } from "./dom.tsx";
import { QuantityRow } from "./quantity_row.tsx";
import { NodeDetails, TensorList } from "./node_details.tsx";
import { Roofline } from "./roofline.tsx";
import { divisorOf, itemLabel, moduleOf, nodeOf, type Session } from "./session.ts";

const MEMORY = [
  ["weight_bytes", "Weights"], ["kv_cache_bytes", "KV cache"], ["state_bytes", "State"],
  ["cache_copy_bytes", "Cache copy"], ["activation_peak_bytes", "Activation peak inside"],
] as const;
const WORK = [
  ["flops", "FLOPs"], ["elementwise_flops", "Element-wise"], ["weight_read_bytes", "Weights read"],
  ["kv_read_bytes", "KV, state read"], ["kv_write_bytes", "KV, state written"],
  ["activation_read_bytes", "Activations read"], ["activation_write_bytes", "Activations written"],
] as const;

export function Drawer({ session, item }: { session: Session; item: Item }) {
  const { document, actions } = session;
  const module = item.kind === "module" ? moduleOf(document, item.id) : null;
  const node = item.kind === "node" ? nodeOf(document, item.id) : null;
  const path = module ? pathAt(document, module.id, session.place.instances) : (node?.name ?? "");
  const multiplicity = (module ?? node)?.multiplicity ?? 1;
  return (
    <aside class="drawer" aria-label="Details">
      <header>
        <h2 class={node ? "mono" : ""}>
          {node ? node.opType : itemLabel(document, item)}
          {module?.stage && module.repeat > 1 && <span class="times">{` × ${module.repeat}`}</span>}
        </h2>
        <button type="button" class="quiet" aria-label="Close details" onClick={() => actions.select(null)}>✕</button>
      </header>
      <p class="path mono">{path || document.model.name}</p>
      <p class="light">{noteOf(session, item, multiplicity)}</p>
      <Headline session={session} item={item} />
      <p class="buttons">
        {module && module.items.length > 0 && (
          <button type="button" onClick={() => actions.open(item)}>Open {module.items.length} {module.items.length === 1 ? "part" : "parts"} <kbd>↵</kbd></button>
        )}
        <CopyButton text={path} say={actions.say} />
      </p>
      <Quantities title="Memory" aside="resident" rows={MEMORY} session={session} item={item} />
      <Quantities title="Work" aside={`one ${document.mode} step`} rows={WORK} session={session} item={item} />
      {session.time && <TimeSection session={session} item={item} multiplicity={multiplicity} />}
      {node && <NodeDetails session={session} node={node} />}
      {module && <TensorList session={session} tensors={module.tensors.map((id) => document.tensors[id]!)} title="Own tensors" />}
      {module?.stage && <Instances session={session} module={module} />}
    </aside>
  );
}

function noteOf(session: Session, item: Item, multiplicity: number): string {
  const { document, settings } = session;
  const parts: string[] = [];
  if (item.kind === "module") {
    const module = moduleOf(document, item.id);
    if (module.kind) parts.push(module.kind);
    if (module.parent === null && document.model.architecture) parts.push(document.model.architecture);
  } else {
    const node = nodeOf(document, item.id);
    parts.push(`${node.domain ? `${node.domain} operator` : "operator"} in ${moduleOf(document, node.module).path || "the model"}`);
    if (node.view) parts.push("a view: it moves no bytes");
    if (node.foldedAtLoad) parts.push("fed by weights alone, computed once at load");
    if (node.computeDtype) parts.push(`computes in ${node.computeDtype}`);
  }
  if (multiplicity > 1) parts.push(`${multiplicity} instances; numbers are for ${settings.of === "all" ? "all of them" : "one"}`);
  return parts.length === 0 ? "" : `${parts.join(". ")}.`;
}

// Numbers of one instance are shown only where the view's own fold is unfolded.
function divisorFor(session: Session, item: Item): number {
  const multiplicity = item.kind === "module" ? moduleOf(session.document, item.id).multiplicity : nodeOf(session.document, item.id).multiplicity;
  const divisor = divisorOf(session);
  return multiplicity % divisor === 0 ? divisor : 1;
}

function Headline({ session, item }: { session: Session; item: Item }) {
  const time = session.time?.of(item);
  const step = session.time?.of({ kind: "module", id: 0 });
  if (!time || !step || step.estimate === 0) return null;
  const share = time.estimate / step.estimate;
  return (
    <div class="headline">
      <Bar share={share} tone="hot" />
      <p class="row">
        <span><strong class="hot-text">≈{THIN}{formatTime(time.estimate / divisorFor(session, item))}</strong> bound by {boundBy(time)}</span>
        <span>{formatPercent(share)} of the step</span>
      </p>
    </div>
  );
}

function CopyButton({ text, say }: { text: string; say: (note: string) => void }) {
  return (
    <button type="button" onClick={async () => say((await copyText(text)) ? `Copied ${text}` : "The browser does not allow copying here.")}>Copy path</button>
  );
}

type Rows = typeof MEMORY | typeof WORK;

function Quantities(props: { title: string; aside: string; rows: Rows; session: Session; item: Item }) {
  const { session, item } = props;
  const rows = props.rows.map(([metric, label]) => ({ metric, label, amount: session.evaluation.metric(item, metric) }));
  const shown = rows.filter(({ amount }) => amount.value !== 0n);
  if (shown.length === 0) return null;
  return (
    <section>
      <div class="section-head"><h3>{props.title}</h3><span class="light">{props.aside}</span></div>
      {shown.map(({ metric, label, amount }) => (
        <QuantityRow key={metric} session={session} label={label} metric={metric} amount={amount} divisor={divisorFor(session, item)} />
      ))}
    </section>
  );
}

function TimeSection({ session, item, multiplicity }: { session: Session; item: Item; multiplicity: number }) {
  const time = session.time?.of(item);
  const step = session.time?.of({ kind: "module", id: 0 });
  if (!time || !step || time.estimate === 0) return null;
  const measured = measuredTime(session.document, item);
  return (
    <section>
      <div class="section-head"><h3>Time</h3><span class="light">{session.device?.name}</span></div>
      <p class="row"><span>Bound</span><strong>{formatTime(time.ideal)}</strong></p>
      <p class="row"><span>Estimate</span><strong class="hot-text">≈{THIN}{formatTime(time.estimate)}</strong></p>
      {multiplicity > 1 && <p class="row light"><span>each of {multiplicity}</span><span>≈{THIN}{formatTime(time.estimate / multiplicity)}</span></p>}
      {measured !== null && <p class="row"><span>Measured</span><strong>{formatTime(measured)}</strong></p>}
      {measured !== null && <p class="row light"><span>measured ÷ estimate</span><span>{`${digits3(measured / time.estimate)}×`}</span></p>}
      <p class="row"><span>Share of the step</span><span>{step.estimate === 0 ? "–" : formatPercent(time.estimate / step.estimate)}</span></p>
      <p class="row"><span>Bound by</span><strong>{boundBy(time)}</strong></p>
      <Roofline session={session} item={item} time={time} />
    </section>
  );
}

function Instances({ session, module }: { session: Session; module: Module }) {
  const [all, setAll] = useState(false);
  const shown = all ? module.instances.slice(0, 2000) : module.instances.slice(0, 12);
  return (
    <section>
      <div class="section-head"><h3>Instances</h3><span class="light">{module.repeat}</span></div>
      {module.differences.map((difference) => <p key={difference} class="note">{difference}</p>)}
      <ul class="instances mono">
        {shown.map((path, index) => (
          <li key={path}><button type="button" class="link" onClick={() => session.actions.stepInstance(module.id, index)}>{path}</button></li>
        ))}
      </ul>
      {!all && module.instances.length > shown.length && (
        <button type="button" class="small" onClick={() => setAll(true)}>{module.instances.length - shown.length} more</button>
      )}
    </section>
  );
}
