// Where am I in the whole model? One tick per layer, always all of them.
import { formatPercent, integer } from "../format/number.ts";
import { ancestors, resolvePath } from "../document/paths.ts";
import type { Document, Item, Module } from "../document/types.ts";
import { BAR_LABELS, BAR_TONES, barValue, effectiveBar, hotSet, isTime } from "../metrics/bar.ts";
import type { Session } from "./session.ts";

export interface Tick {
  path: string; // of the instance; "" for what stands beside the layers
  item: Item;
  name: string;
  layer: boolean;
  attention: boolean; // full attention
  divisor: number;
}

const strips = new WeakMap<Document, Tick[]>();
const MOST = 600;

// The layers: every instance of the outermost stages, and what stands beside them.
export function ticksOf(document: Document): Tick[] {
  let ticks = strips.get(document);
  if (!ticks) strips.set(document, (ticks = collect(document)));
  return ticks;
}

function collect(document: Document): Tick[] {
  const ticks: Tick[] = [];
  const holdsStage = new Uint8Array(document.modules.length);
  for (const module of [...document.modules].reverse()) {
    if ((module.stage || holdsStage[module.id]) && module.parent !== null) holdsStage[module.parent] = 1;
  }
  const isStage = (item: Item) => item.kind === "module" && (document.modules[item.id] as Module).stage;
  const visit = (module: Module) => {
    const isStack = module.items.some(isStage); // what stands beside stages is a layer too
    for (const item of module.items) {
      if (ticks.length > MOST) return;
      const child = item.kind === "module" ? (document.modules[item.id] as Module) : null;
      if (child?.stage) stage(child);
      else if (child && holdsStage[child.id] && !isStack) visit(child);
      else if (child && (isStack || holdsWeights(document, child))) {
        ticks.push({ path: child.path, item, name: child.path, layer: isStack, attention: isFullAttention(document, child), divisor: 1 });
      }
    }
  };
  const stage = (module: Module) => {
    const inner = module.children.filter((id) => document.modules[id]?.stage || /\.\d+$/.test(document.modules[id]?.path ?? ""));
    const period = inner.length > 1 || inner.some((id) => document.modules[id]?.stage) ? inner : [module.id];
    for (let i = 0; i < module.repeat && ticks.length <= MOST; ++i) {
      for (const id of period) {
        const part = document.modules[id] as Module;
        const repeats = part.id === module.id ? 1 : part.repeat;
        for (let j = 0; j < repeats; ++j) {
          const path = part.id === module.id ? (module.instances[i] ?? part.path) : i === 0 ? (part.instances[j] ?? part.path) : "";
          ticks.push({ path, item: { kind: "module", id: part.id }, name: path || part.name, layer: true, attention: isFullAttention(document, part), divisor: part.multiplicity });
        }
      }
    }
  };
  visit(document.modules[0] as Module);
  return ticks.length > MOST ? [] : ticks;
}

function holdsWeights(document: Document, module: Module): boolean {
  const formula = module.metrics.weight_bytes?.formula;
  return formula !== null && formula !== undefined && document.formulas[formula]?.text !== "0";
}

// Holds a key-value cache whose bytes grow with the length without a window.
function isFullAttention(document: Document, module: Module): boolean {
  const formula = module.metrics.kv_cache_bytes?.formula;
  const text = formula === null || formula === undefined ? "" : (document.formulas[formula]?.text ?? "");
  return text.includes("max_length") && !text.includes("min(");
}

export function Strip({ session }: { session: Session }) {
  const { document, level, actions, measure } = session;
  const ticks = ticksOf(document);
  const layers = ticks.filter((tick) => tick.layer).length;
  if (layers < 2) return null;
  const values = ticks.map((tick) => (barValue(measure, tick.item).size ?? 0) / peakless(session, tick.divisor));
  const most = Math.max(...values) || 1;
  const bar = effectiveBar(measure.bar, session.time);
  const above = new Set(ancestors(document, level.module.id).map((module) => module.id));
  const mixed = new Set(ticks.filter((tick) => tick.layer).map((tick) => tick.attention)).size > 1;
  const here = (tick: Tick) => tick.item.kind === "module" && (above.has(tick.item.id) && level.module.id !== 0
    || ancestors(document, tick.item.id).some((module) => module.id === level.module.id && module.id !== 0));
  const hot = isTime(bar) ? hotSet(new Map(values.map((value, index) => [String(index), value]))) : new Set<string>();
  const numbers = layerNumbers(ticks);
  const tone = BAR_TONES[bar];
  return (
    <nav class="strip" aria-label="All layers">
      <p>{BAR_LABELS[bar]}<span class="light"> of each layer</span>{mixed && <span class="light"><br />• full attention</span>}</p>
      <ol>
        {ticks.map((tick, index) => (
          <li key={index} class={here(tick) ? "here" : ""}>
            <button
              type="button" tabIndex={-1} title={`${tick.name}: ${formatPercent((values[index] as number) / most)} of the largest`}
              aria-label={tick.name} onClick={() => goTo(session, tick)}
            >
              <span class={`tick ${hot.has(String(index)) ? "hot" : tone}`} style={{ height: `${Math.max(2, ((values[index] as number) / most) * 100)}%` }} />
            </button>
            <span class="dot">{mixed && tick.attention ? "•" : ""}</span>
            <span class="number">{numbers[index]}</span>
          </li>
        ))}
      </ol>
      <span class="unseen">{integer(layers)} layers</span>
    </nav>
  );

  function goTo(at: Session, tick: Tick) {
    const place = tick.path === "" ? null : resolvePath(document, tick.path);
    if (tick.item.kind === "node") actions.goTo(document.nodes[tick.item.id]?.module ?? 0, `n${tick.item.id}`);
    else if (place && place.instances.size > 0) {
      const [stage, instance] = [...place.instances][0] as [number, number];
      at.actions.stepInstance(stage, instance);
    } else actions.goTo(tick.item.id);
  }
}

// The numbers of every sixteenth layer or so, and of the last.
function layerNumbers(ticks: Tick[]): string[] {
  const layers = ticks.filter((tick) => tick.layer).length;
  const every = [1, 2, 4, 6, 8, 12, 16, 24, 32, 64, 128].find((step) => layers / step <= 10) ?? 256;
  let layer = -1;
  return ticks.map((tick) => {
    if (!tick.layer) return "";
    layer += 1;
    const nearEnd = layers - 1 - layer;
    return nearEnd === 0 || (layer % every === 0 && nearEnd >= every / 2) ? String(layer) : "";
  });
}

const peakless = (session: Session, divisor: number) => (session.measure.bar === "activations" ? 1 : divisor);
