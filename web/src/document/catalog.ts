// generated/catalog.json: what the landing page shows of each model.
import { parseJson } from "./parse_json.ts";
import { checkSchema, readModelFacts } from "./read.ts";
import { isObject, Reader, toInteger } from "./reader.ts";
import type { Document, Exactness, Mode, ModelFacts, SummaryName, Variable } from "./types.ts";

export interface CatalogQuantity {
  formula: string | null;
  value: bigint | null;
  exactness: Exactness;
}

export interface CatalogMode {
  document: string;
  variables: Variable[];
  summary: Partial<Record<SummaryName, CatalogQuantity>>;
  unknown: number;
  assumed: number;
}

export interface CatalogLayers {
  repeat: number;
  kind: string;
  cache: string;
}

export interface CatalogModel extends ModelFacts {
  layers: CatalogLayers[];
  modes: Partial<Record<Mode, CatalogMode>>;
}

export function readCatalog(text: string): CatalogModel[] {
  const root = new Reader(parseJson(text, "catalog.json"), "");
  checkSchema(root, "kcharter.catalog");
  return root.each("models", (reader) => {
    const modes = reader.object_("modes");
    const found: CatalogModel["modes"] = {};
    for (const mode of ["prefill", "decode"] as const) if (modes.raw(mode) !== undefined) found[mode] = readMode(modes.object_(mode));
    return {
      ...readModelFacts(reader),
      layers: reader.each("layers", (layer) => ({
        repeat: Math.min(2000, Math.max(1, layer.count("repeat", 1))), kind: layer.string("kind", ""), cache: layer.string("cache", "none"),
      })),
      modes: found,
    };
  });
}

// The catalogue of documents at hand, where no file lists them: a page that holds several.
export function catalogOf(documents: Document[]): CatalogModel[] {
  const models = new Map<string, CatalogModel>();
  for (const document of documents) {
    const { name } = document.model;
    const model = models.get(name) ?? { ...document.model, layers: [], modes: {} };
    const summary: CatalogMode["summary"] = {};
    for (const [metric, quantity] of Object.entries(document.summary)) {
      const formula = quantity.formula === null ? null : (document.formulas[quantity.formula]?.text ?? null);
      summary[metric as SummaryName] = { formula, value: quantity.value, exactness: quantity.exactness };
    }
    const count = (exactness: Exactness) => Object.values(summary).filter((quantity) => quantity.exactness === exactness).length;
    model.modes[document.mode] = {
      document: document.fileName, variables: document.variables, summary, unknown: count("unknown"), assumed: count("assumed"),
    };
    models.set(name, model);
  }
  return [...models.values()];
}

function readMode(reader: Reader): CatalogMode {
  const summary: CatalogMode["summary"] = {};
  for (const [name, entry] of reader.object_("summary").entries()) {
    if (!isObject(entry)) continue;
    summary[name as SummaryName] = {
      formula: typeof entry.formula === "string" ? entry.formula : null,
      value: toInteger(entry.value),
      exactness: typeof entry.exactness === "string" ? (entry.exactness as Exactness) : "exact",
    };
  }
  return {
    document: reader.string("document"),
    variables: reader.each("variables", (variable) => ({
      name: variable.string("name"), label: variable.string("label", ""), value: variable.integer("value"), min: variable.integerOrNull("min") ?? 0n, group: variable.string("group", ""),
    })),
    summary,
    unknown: reader.count("unknown", 0),
    assumed: reader.count("assumed", 0),
  };
}
