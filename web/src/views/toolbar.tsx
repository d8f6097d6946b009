// Two rows above the canvas: where one is and what can be done; the totals of this view.
import { Fragment } from "preact";
import { formatBytes, formatCount, formatPercent, formatTime, integer, THIN } from "../format/number.ts";
import { ancestors, entrance, isEntrance } from "../document/paths.ts";
import { VIEWS, type BarName, type ViewName } from "../settings/settings.ts";
import { BAR_LABELS, barsOf, effectiveBar, sign } from "../metrics/bar.ts";
import { perInstance } from "../metrics/evaluation.ts";
import type { Item, MetricName, Module } from "../document/types.ts";
import { Segmented, Select } from "./dom.tsx";
import { reservations } from "./reservations.ts";
import { divisorOf, moduleLabel, type Session } from "./session.ts";

export function Toolbar({ session }: { session: Session }) {
  const { settings, actions, time, compared } = session;
  const bars = barsOf(session.document, time);
  return (
    <div class="toolbar">
      <Breadcrumb session={session} />
      <div class="tools">
        <Segmented<ViewName>
          label="View" value={settings.view} onChange={(view) => actions.update({ view }, "push")}
          options={VIEWS.map((value) => ({ value, text: { graph: "Graph", table: "Table", peak: "Peak" }[value] }))}
        />
        <Select label="Bar" hideLabel value={effectiveBar(session.measure.bar, time)}
          onChange={(bar) => actions.update({ bar: bar as BarName })}
          options={bars.map((value) => ({ value, text: BAR_LABELS[value] }))} />
        <button type="button" onClick={() => actions.show("find")}>Find <kbd>/</kbd></button>
        <button type="button" aria-pressed={compared !== null} onClick={() => actions.show("compare")}>Compare</button>
        <button type="button" onClick={() => actions.show("export")}>Export</button>
      </div>
    </div>
  );
}

function Breadcrumb({ session }: { session: Session }) {
  const { document, level, actions, place } = session;
  const chain = ancestors(document, level.module.id).filter((module) => !isEntrance(document, module));
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      {chain.length > 2 && (
        <select class="ancestors" aria-label="Ancestors" value="" onChange={(event) => actions.goTo(entrance(document, Number(event.currentTarget.value)))}>
          <option value="">…</option>
          {chain.slice(0, -2).map((module) => <option key={module.id} value={module.id}>{moduleLabel(module)}</option>)}
        </select>
      )}
      <ol>
        {chain.map((module, index) => (
          <li key={module.id} class={chain.length - index > 2 ? "far" : ""}>
            {index > 0 && <span class="separator" aria-hidden="true">›</span>}
            {index === chain.length - 1
              ? <span class="here" aria-current="page">{moduleLabel(module)}</span>
              : <button type="button" onClick={() => actions.goTo(entrance(document, module.id))}>{moduleLabel(module)}</button>}
            {module.stage && module.repeat > 1 && <Instance module={module} session={session} at={place.instances.get(module.id) ?? 0} />}
          </li>
        ))}
      </ol>
    </nav>
  );
}

// `× 11`, and in one-of-N the way to each instance.
function Instance({ module, session, at }: { module: Module; session: Session; at: number }) {
  if (session.settings.of === "all") return <span class="times">{`× ${module.repeat}`}</span>;
  const step = (to: number) => session.actions.stepInstance(module.id, to);
  return (
    <span class="instance" title={module.instances[at] ?? ""}>
      <button type="button" class="small" aria-label="Previous instance" disabled={at === 0} onClick={() => step(at - 1)}>‹</button>
      <span>{`${at + 1} of ${module.repeat}`}</span>
      <button type="button" class="small" aria-label="Next instance" disabled={at + 1 >= module.repeat} onClick={() => step(at + 1)}>›</button>
    </span>
  );
}

const TOTALS: { metric: MetricName; label: string }[] = [
  { metric: "weight_bytes", label: "weights" },
  { metric: "kv_cache_bytes", label: "KV" },
  { metric: "state_bytes", label: "state" },
  { metric: "activation_peak_bytes", label: "activation peak" },
];

export function Totals({ session }: { session: Session }) {
  const { level, evaluation, time, settings, actions } = session;
  const item: Item = { kind: "module", id: level.module.id };
  const divisor = divisorOf(session);
  const flops = perInstance(evaluation.metric(item, "flops"), divisor);
  const shown = TOTALS.map((total) => ({ ...total, amount: evaluation.metric(item, total.metric) })).filter(
    ({ metric, amount }) => amount.value !== 0n || metric === "weight_bytes");
  const { multiplicity } = level.module;
  return (
    <div class="totals">
      <p>
        <span class="label">This view</span>
        {time && <TimeTotal session={session} item={item} divisor={divisor} />}
        {!time && <span class="total"><span class="label">FLOPs</span> <strong>{flops.value === null ? "unknown" : sign(flops.exactness) + formatCount(flops.value)}</strong></span>}
        {shown.map(({ metric, label, amount }) => {
          const one = metric === "activation_peak_bytes" ? amount : perInstance(amount, divisor);
          return (
            <span key={metric} class={`total ${metric}`}>
              <span class="label">{label}</span> <strong>{one.value === null ? "unknown" : sign(one.exactness) + formatBytes(one.value)}</strong>
            </span>
          );
        })}
        {multiplicity > 1 && (
          <Segmented label="Instances" value={settings.of} onChange={(of) => actions.update({ of })}
            options={[{ value: "all", text: `all ${integer(multiplicity)}` }, { value: "one", text: `one of ${integer(multiplicity)}` }]} />
        )}
      </p>
      <span class="badges">
        <FindingsBadge session={session} />
        <Badge session={session} />
      </span>
    </div>
  );
}

function TimeTotal({ session, item, divisor }: { session: Session; item: Item; divisor: number }) {
  const time = session.time?.of(item);
  const step = session.time?.of({ kind: "module", id: 0 });
  if (!time || !step) return null;
  const share = step.estimate === 0 ? 0 : time.estimate / step.estimate / divisor;
  return <Fragment><strong>≈{THIN}{formatTime(time.estimate / divisor)}</strong> <span class="label">{formatPercent(share)} of the step</span></Fragment>;
}

function FindingsBadge({ session }: { session: Session }) {
  const count = session.document.findings?.items.length ?? 0;
  if (count === 0) return null;
  return (
    <button type="button" class="badge-button" onClick={() => session.actions.show("findings")}>{count} {count === 1 ? "finding" : "findings"}</button>
  );
}

function Badge({ session }: { session: Session }) {
  const { unknown, assumed, notes } = reservations(session);
  const parts = [unknown > 0 ? `${unknown} unknown` : "", assumed > 0 ? `${assumed} assumed` : ""].filter((part) => part !== "");
  if (parts.length === 0 && notes === 0) return null;
  return (
    <button type="button" class={unknown > 0 ? "badge-button has-unknown" : "badge-button"} onClick={() => session.actions.show("assumptions")}>
      {unknown > 0 && <strong>? </strong>}
      {parts.length > 0 ? parts.join(" · ") : `${notes} notes`}
    </button>
  );
}
