// index.html: a card per model, all priced under one load.
import { useEffect, useMemo, useState } from "preact/hooks";
import { catalogOf, readCatalog, type CatalogModel } from "../document/catalog.ts";
import type { Mode } from "../document/types.ts";
import { DocumentError } from "../document/reader.ts";
import type { Library } from "../load/library.ts";
import { formatHash, parseHash, type Settings } from "../settings/settings.ts";
import { usableMemory } from "../time/device.ts";
import { DEVICES, findDevice } from "../time/table.ts";
import { Card } from "./card.tsx";
import { NumberField, Segmented, Select } from "./dom.tsx";
import { DropZone, useDrop } from "./drop_zone.tsx";
import { ErrorPage } from "./error_page.tsx";
import { LandingTable } from "./landing_table.tsx";
import { price, type Priced } from "./price.ts";
import { toggleTheme } from "./theme.ts";

type Sort = "name" | "memory" | "parameters" | "time" | "flops";
type Fits = "all" | "fits" | "over";
export interface Load {
  mode: Mode;
  batch: bigint;
  length: bigint;
  device: string | null;
}

const DEFAULT_LENGTH = 8192n;

export function Landing({ library, onOpen }: { library: Library; onOpen: (name: string, text: string) => void }) {
  const [models, setModels] = useState<CatalogModel[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    if (document.documentElement.dataset.page === "single" && !library.holds("catalog.json")) {
      Promise.all(library.embedded().map((name) => library.open(name))).then((all) => setModels(catalogOf(all)), setError);
      return;
    }
    library.text("generated/catalog.json").then((text) => {
      try {
        setModels(readCatalog(text));
      } catch (failure) {
        setError(failure);
      }
    }, setError);
  }, []);
  useDrop(onOpen);
  if (error) return <div class="landing"><Top count="" /><main>{isMissing(error) ? <NoCatalog onOpen={onOpen} /> : <ErrorPage error={error} onOpen={onOpen} />}</main></div>;
  if (!models) return <div class="landing"><Top count="" /><main><p class="waiting light" role="status">Reading the catalogue</p></main></div>;
  return <Catalogue models={models} onOpen={onOpen} />;
}

const isMissing = (error: unknown) =>
  error instanceof DocumentError && /no such document|could not be loaded/.test(error.title);

function Top({ count, children }: { count: string; children?: preact.ComponentChildren }) {
  return <header class="top"><h1 class="home">kcharter</h1><p class="facts">{count}</p>{children}</header>;
}

function NoCatalog({ onOpen }: { onOpen: (name: string, text: string) => void }) {
  return (
    <div class="error-page">
      <h2>No models are published here yet</h2>
      <p>There is no <code>generated/catalog.json</code> beside this page.</p>
      <pre>kcharter publish SITE MODEL…</pre>
      <p class="light">analyses models, writes their documents into SITE/generated and this page beside them.</p>
      <DropZone onOpen={onOpen} />
    </div>
  );
}

function Catalogue({ models, onOpen }: { models: CatalogModel[]; onOpen: (name: string, text: string) => void }) {
  const [load, setLoad] = useState<Load>(() => startingLoad());
  const [text, setText] = useState("");
  const [sort, setSort] = useState<Sort>("name");
  const [fits, setFits] = useState<Fits>("all");
  const [table, setTable] = useState(false);
  const device = findDevice(load.device);
  const capacity = device ? usableMemory(device) : null;
  const change = (patch: Partial<Load>) => {
    const next = { ...load, ...patch };
    setLoad(next);
    try {
      history.replaceState(null, "", formatHash("", settingsOf(next)) + (next.mode === "prefill" ? "&mode=prefill" : ""));
    } catch {
      // from disk the address may stay as it is
    }
  };
  const priced = useMemo(() => models.map((model) => price(model, load, device)), [models, load]);
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const shown = priced.filter(({ model, over }) =>
    words.every((word) => `${model.name} ${model.architecture ?? ""} ${model.format}`.toLowerCase().includes(word))
    && (fits === "all" || (fits === "over") === over)).sort(ORDER[sort]);
  const fitting = priced.filter(({ over }) => !over).length;
  const count = `${models.length} ${models.length === 1 ? "model" : "models"}${device ? `, ${fitting} fit ${device.name}` : ""}`;
  return (
    <div class="landing">
      <Top count={count}><Controls load={load} change={change} /></Top>
      <main>
        <div class="landing-tools">
          <input type="search" placeholder="Find a model" aria-label="Find a model" value={text} onInput={(event) => setText(event.currentTarget.value)} />
          <Select label="Sort" hideLabel value={sort} onChange={(value) => setSort(value as Sort)}
            options={[{ value: "name", text: "Sort by name" }, { value: "memory", text: "Sort by memory" }, { value: "parameters", text: "Sort by parameters" }, { value: "time", text: "Sort by time" }, { value: "flops", text: "Sort by FLOPs" }]} />
          {capacity !== null && (
            <Select label="Show" hideLabel value={fits} onChange={(value) => setFits(value as Fits)}
              options={[{ value: "all", text: "all" }, { value: "fits", text: "those that fit" }, { value: "over", text: "those that do not" }]} />
          )}
          <Segmented label="Show as" value={table ? "table" : "cards"} onChange={(value) => setTable(value === "table")}
            options={[{ value: "cards", text: "Cards" }, { value: "table", text: "Table" }]} />
          <span class="spring" />
          <MemoryLegend capacity={capacity !== null} />
        </div>
        {shown.length === 0 && <p class="empty">No model matches “{text}”{fits === "all" ? "" : " among those shown"}; {models.length} were searched by name, architecture and format.</p>}
        {table ? <LandingTable priced={shown} capacity={capacity} load={load} /> : (
          <div class="cards">
            {shown.map((entry) => <Card key={entry.model.name} priced={entry} capacity={capacity} load={load} />)}
            <DropZone onOpen={onOpen} />
          </div>
        )}
      </main>
      <footer class="foot"><span>Numbers are computed in this page from each document's formulas.</span><span class="spring" /><button type="button" onClick={toggleTheme}>Dark or light</button></footer>
    </div>
  );
}

function startingLoad(): Load {
  const { settings } = parseHash(location.hash);
  return {
    mode: /[&]mode=prefill/.test(location.hash) ? "prefill" : "decode",
    batch: settings.variables.get("batch_size") ?? 1n,
    length: settings.variables.get("max_length") ?? DEFAULT_LENGTH,
    device: settings.device,
  };
}

export function settingsOf(load: Load): Settings {
  const { settings } = parseHash("");
  return { ...settings, device: load.device, variables: new Map([["batch_size", load.batch], ["current_length", load.length], ["max_length", load.length]]) };
}

const number = (value: bigint | null) => Number(value ?? -1n);
const ORDER: Record<Sort, (a: Priced, b: Priced) => number> = {
  name: (a, b) => a.model.name.localeCompare(b.model.name),
  memory: (a, b) => number(b.total) - number(a.total),
  parameters: (a, b) => number(b.model.parameters) - number(a.model.parameters),
  time: (a, b) => (b.bound ?? -1) - (a.bound ?? -1),
  flops: (a, b) => number(b.flops) - number(a.flops),
};

function Controls({ load, change }: { load: Load; change: (patch: Partial<Load>) => void }) {
  return (
    <div class="load unfolded" role="group" aria-label="Load">
      <div class="field">
        <span>Step</span>
        <Segmented label="Step" value={load.mode} onChange={(mode) => change({ mode })} options={[{ value: "prefill", text: "Prefill" }, { value: "decode", text: "Decode" }]} />
      </div>
      <NumberField label="Batch" value={load.batch} min={1n} onChange={(batch) => change({ batch })} onRefused={() => undefined} />
      <NumberField label="Length" value={load.length} min={1n} onChange={(length) => change({ length })} onRefused={() => undefined} />
      {DEVICES.length > 0 && (
        <Select label="Device" value={load.device ?? "none"} onChange={(device) => change({ device: device === "none" ? null : device })}
          options={[{ value: "none", text: "no device" }, ...DEVICES.map(({ id, name, vendor }) => ({ value: id, text: name, group: vendor }))]} />
      )}
    </div>
  );
}

function MemoryLegend({ capacity }: { capacity: boolean }) {
  const keys: [string, string][] = [["w", "weights"], ["kv", "KV cache"], ["st", "state"], ["act", "activation peak"]];
  return (
    <span class="legend">
      {keys.map(([tone, text]) => <span key={tone} class="key"><i class={`swatch ${tone}`} />{text}</span>)}
      {capacity && <span class="key"><i class="swatch tick" />capacity</span>}
    </span>
  );
}
