// What a person has chosen, and how the URL's hash carries it:
//
//   #model.layers.3.self_attn&batch=8&seq=32768&max_seq=65536&device=h100-sxm&view=table
//
// Only what differs from the default is written.
import type { Document } from "../document/types.ts";

export type ViewName = "graph" | "table" | "peak";
export type BarName = "time" | "measured" | "flops" | "weights" | "reads" | "activations";
export const VIEWS: ViewName[] = ["graph", "table", "peak"];
export const BARS: BarName[] = ["time", "measured", "flops", "weights", "reads", "activations"];

export interface Settings {
  variables: ReadonlyMap<string, bigint>; // only those that were set
  device: string | null; // null: none
  view: ViewName;
  bar: BarName;
  scale: "linear" | "log";
  of: "all" | "one";
  per: "view" | "model";
  group: "children" | "operator";
  shapes: "hidden" | "shown"; // operators that only compute shapes
  selected: string | null;
  compare: string | null; // a document, or SELF: this one at other settings
  other: OtherSettings; // of the compared document, where they differ
}

export interface OtherSettings {
  variables: ReadonlyMap<string, bigint>;
  device: string | null; // null: the same
}

export const SELF = "self";
const OTHER = "b."; // before a setting of the compared document in the hash

export const DEFAULT_DEVICE = "h100-sxm";

export const DEFAULTS: Settings = {
  variables: new Map(), device: DEFAULT_DEVICE, view: "graph", bar: "time", scale: "linear", of: "all",
  per: "view", group: "children", shapes: "hidden", selected: null, compare: null, other: { variables: new Map(), device: null },
};

// The three that have names of their own in the hash; other variables use theirs.
const SHORT: Record<string, string> = { batch_size: "batch", current_length: "seq", max_length: "max_seq" };
const LONG = new Map(Object.entries(SHORT).map(([name, short]) => [short, name]));
const RESERVED = new Set(["device", "view", "bar", "scale", "of", "per", "group", "shapes", "sel", "compare"]);

export function parseHash(hash: string): { path: string; settings: Settings } {
  const [path = "", ...parts] = hash.replace(/^#/, "").split("&");
  const settings: Settings = { ...DEFAULTS };
  const variables = new Map<string, bigint>();
  const other = new Map<string, bigint>();
  for (const part of parts) {
    const [key = "", text = ""] = part.split("=", 2).map(decode) as [string, string];
    if (key === `${OTHER}device`) settings.other = { ...settings.other, device: text };
    else if (key.startsWith(OTHER)) {
      const name = key.slice(OTHER.length);
      if (/^\d{1,18}$/.test(text)) other.set(LONG.get(name) ?? name, BigInt(text));
    } else if (RESERVED.has(key)) choose(settings, key, text);
    else if (/^\d{1,18}$/.test(text)) variables.set(LONG.get(key) ?? key, BigInt(text));
  }
  settings.variables = variables;
  settings.other = { ...settings.other, variables: other };
  return { path: decode(path), settings };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function choose(settings: Settings, key: string, text: string) {
  const among = <T extends string>(allowed: readonly T[], fallback: T): T =>
    allowed.includes(text as T) ? (text as T) : fallback;
  if (key === "device") settings.device = text === "none" ? null : text;
  else if (key === "view") settings.view = among(VIEWS, "graph");
  else if (key === "bar") settings.bar = among(BARS, "time");
  else if (key === "scale") settings.scale = among(["linear", "log"], "linear");
  else if (key === "of") settings.of = among(["all", "one"], "all");
  else if (key === "per") settings.per = among(["view", "model"], "view");
  else if (key === "group") settings.group = among(["children", "operator"], "children");
  else if (key === "shapes") settings.shapes = among(["hidden", "shown"], "hidden");
  else if (key === "sel") settings.selected = text || null;
  else if (key === "compare") settings.compare = text || null;
}

export function formatHash(path: string, settings: Settings): string {
  const parts: string[] = [encodePath(path)];
  const add = (key: string, value: string) => parts.push(`${encodePath(key)}=${encodePath(value)}`);
  for (const [name, value] of settings.variables) add(SHORT[name] ?? name, String(value));
  if (settings.device !== DEFAULTS.device) add("device", settings.device ?? "none");
  for (const key of ["view", "bar", "scale", "of", "per", "group", "shapes"] as const) {
    if (settings[key] !== DEFAULTS[key]) add(key, settings[key]);
  }
  if (settings.selected) add("sel", settings.selected);
  if (settings.compare) {
    add("compare", settings.compare);
    for (const [name, value] of settings.other.variables) add(OTHER + (SHORT[name] ?? name), String(value));
    if (settings.other.device !== null) add(`${OTHER}device`, settings.other.device);
  }
  return `#${parts.join("&")}`;
}

// Readable where it can be: only what would end a part is escaped.
const encodePath = (text: string) => encodeURIComponent(text).replace(/%(2F|3A|5B|5D|40|2C|20)/g, decodeURIComponent).replace(/ /g, "%20");

// The value of every variable: those chosen over the document's own. A minimum is kept, and
// max_length is never less than current_length: `edited` says which of the two wins.
export function bindingsOf(document: Document, settings: Settings): Map<string, bigint> {
  const bindings = new Map<string, bigint>();
  for (const variable of document.variables) {
    const chosen = settings.variables.get(variable.name) ?? variable.value;
    bindings.set(variable.name, chosen < variable.min ? variable.min : chosen);
  }
  const current = bindings.get("current_length");
  const longest = bindings.get("max_length");
  if (current !== undefined && longest !== undefined && longest < current) bindings.set("max_length", current);
  return bindings;
}

// The settings of the compared document: the same but for what was chosen for it.
export function otherSettings(settings: Settings): Settings {
  const { variables, device } = settings.other;
  return { ...settings, variables: new Map([...settings.variables, ...variables]), device: device ?? settings.device };
}

// Sets one variable; of current and max length the one just edited wins and the other follows.
export function setVariable(
  document: Document, settings: Settings, name: string, value: bigint,
): { variables: Map<string, bigint>; note: string | null } {
  const variables = new Map(settings.variables);
  variables.set(name, value);
  const at = (key: string) =>
    variables.get(key) ?? document.variables.find((variable) => variable.name === key)?.value ?? 0n;
  let note: string | null = null;
  if (name === "current_length" && at("max_length") < value) {
    variables.set("max_length", value);
    note = `Max length follows current length: ${value}.`;
  } else if (name === "max_length" && at("current_length") > value) {
    variables.set("current_length", value);
    note = `Current length follows max length: ${value}.`;
  }
  return { variables, note };
}
