// One model: what it is, whether it fits, and the numbers people compare. The whole card is one link.
import type { CatalogLayers } from "../document/catalog.ts";
import { formatBytes, formatCount, formatParameters, formatTime, THIN } from "../format/number.ts";
import { formatHash } from "../settings/settings.ts";
import { settingsOf, type Load } from "./landing.tsx";
import { Stack } from "./stack.tsx";
import type { Priced } from "./price.ts";

export function linkOf({ entry, model }: Priced, load: Load): string {
  const page = document.documentElement.dataset.page === "single" ? "" : "kcharter.html";
  const folder = document.documentElement.dataset.page === "single" ? "" : "generated/";
  const name = entry?.document ?? `${model.name}.json`;
  return `${page}?doc=${folder}${encodeURIComponent(name)}${formatHash("", settingsOf(load))}`;
}

export function kindOf({ model }: Priced): string {
  const { architecture, parameters, activeParameters, dtypes } = model;
  const size = parameters === null ? "" : `${formatParameters(parameters)} params`;
  const active = activeParameters !== null && activeParameters !== parameters ? `, ${formatParameters(activeParameters)} active` : "";
  const main = [...dtypes].sort((a, b) => Number(b.bytes - a.bytes)).slice(0, 2).map(({ dtype }) => dtype).join(" + ");
  return [[architecture ?? "", size + active].filter((part) => part !== "").join(", "), main].filter((part) => part !== "").join(" · ");
}

export function memoryOf({ parts }: Priced) {
  return [
    { name: "weights", tone: "w", bytes: parts.weights ?? 0n }, { name: "KV cache", tone: "kv", bytes: parts.kv ?? 0n },
    { name: "state", tone: "st", bytes: parts.state ?? 0n }, { name: "activation peak", tone: "act", bytes: parts.activation ?? 0n },
    { name: "cache copy", tone: "copy", bytes: parts.copy ?? 0n },
  ];
}

const bytesText = (value: bigint | null) => (value === null ? "unknown" : formatBytes(value));

export function Card({ priced, capacity, load }: { priced: Priced; capacity: bigint | null; load: Load }) {
  const { model, mode, entry, parts, total, over, perToken } = priced;
  const modes = Object.keys(model.modes);
  const numbers: [string, string][] = [
    ["Weights", bytesText(parts.weights)], ["KV cache", bytesText(parts.kv)],
    parts.state ? ["State", bytesText(parts.state)] : ["Activation", bytesText(parts.activation)],
    perToken ? ["KV / token", bytesText(perToken)] : ["FLOPs", priced.flops === null ? "unknown" : formatCount(priced.flops)],
    ...(priced.bound === null ? [] : [[mode === "decode" ? "One step" : "Prefill", `≥${THIN}${formatTime(priced.bound)}`] as [string, string],
      ...(isOfTokens(priced) ? [["Tokens/s", `≤${THIN}${formatCount(Math.round(tokensOf(mode, load) / priced.bound))}`] as [string, string]] : [])]),
  ];
  return (
    <a class="card" href={linkOf(priced, load)}>
      <h2>{model.name}</h2>
      <p class="kind">{kindOf(priced)}</p>
      <LayerCode layers={model.layers} />
      <Stack parts={memoryOf(priced)} capacity={capacity} compact />
      <p class="needed">
        <span><strong>{bytesText(total)}</strong> needed</span>
        {capacity !== null && total !== null && (
          <strong class={over ? "over" : ""}>{over ? `✕ ${formatBytes(total - capacity)} over` : `✓ ${formatBytes(capacity - total)} free`}</strong>
        )}
      </p>
      <dl class="four">{numbers.map(([name, text]) => <div key={name}><dt>{name}</dt><dd>{text}</dd></div>)}</dl>
      <p class="card-foot">
        <span class="light">{model.format}{modes.length === 1 ? `, ${mode} only` : ""}</span>
        {entry && entry.unknown > 0 && <span class="tag unknown">? {entry.unknown} unknown</span>}
        {entry && entry.assumed > 0 && <span class="tag assumed">{entry.assumed} assumed</span>}
      </p>
    </a>
  );
}

const isOfTokens = ({ model }: Priced) => model.modes.decode !== undefined;
const tokensOf = (mode: string, load: Load) => Number(load.batch) * (mode === "decode" ? 1 : Number(load.length));

const WORDS: Record<string, string> = {
  key_value: "full attention", latent: "latent attention", window: "window", cross_key_value: "cross attention", state: "state", none: "no cache",
};

// `48 layers: 36 state, 12 full attention`.
function layersText(layers: CatalogLayers[]): string {
  const counts = new Map<string, number>();
  for (const { cache, repeat } of layers) counts.set(cache, (counts.get(cache) ?? 0) + repeat);
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const parts = [...counts].map(([cache, count]) => `${counts.size > 1 ? `${count} ` : ""}${WORDS[cache] ?? cache}`);
  const equal = layers.length === 1 ? "equal " : "";
  return `${total} ${equal}${total === 1 ? "layer" : "layers"}${counts.size > 1 ? ":" : ","} ${parts.join(", ")}`;
}

const HEIGHT: Record<string, number> = { key_value: 18, latent: 18, window: 13, cross_key_value: 13, state: 9, none: 9 };

// The layer pattern as a bar code: tall is full attention, middle a window, short linear or no cache.
function LayerCode({ layers }: { layers: CatalogLayers[] }) {
  const count = layers.reduce((total, layer) => total + layer.repeat, 0);
  if (count === 0) return <p class="layers" />;
  const width = 300 / count;
  let x = 0;
  const bars = layers.flatMap((layer) => Array.from({ length: layer.repeat }, () => {
    const height = HEIGHT[layer.cache] ?? 9;
    const bar = { x, height, strong: height >= 18 };
    x += width;
    return bar;
  }));
  return (
    <div class="layers">
      <svg viewBox="0 0 300 18" preserveAspectRatio="none" aria-hidden="true">
        {bars.map((bar, index) => <rect key={index} class={bar.strong ? "strong" : ""} x={bar.x} y={18 - bar.height} width={Math.max(0.6, width * 0.82)} height={bar.height} />)}
      </svg>
      <p>{layersText(layers)}</p>
    </div>
  );
}
