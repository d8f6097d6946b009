// What a document does not know and what it assumes: its diagnostics, sums that do not meet, and what
// the page itself takes for granted.
import type { Diagnostic, Document, Item } from "../document/types.ts";
import { formatBytes, formatCount, integer } from "../format/number.ts";
import { isCalibrated } from "../time/device.ts";
import { checkSums } from "../metrics/sums.ts";
import type { Session } from "./session.ts";

export interface Reservation {
  tag: "unknown" | "assumed" | "error" | "note";
  code: string;
  extent: string; // what it touches
  text: string;
  target: Item | null;
}

export interface Reservations {
  list: Reservation[];
  unknown: number;
  assumed: number;
  notes: number;
}

const cache = new WeakMap<object, Reservations>();

export function reservations(session: Session): Reservations {
  const known = cache.get(session.evaluation);
  if (known) return known;
  const list = [...fromSums(session), ...fromDiagnostics(session.document), ...fromPage(session)];
  const order = ["error", "unknown", "assumed", "note"];
  list.sort((a, b) => order.indexOf(a.tag) - order.indexOf(b.tag));
  const count = (tag: string) => list.filter((entry) => entry.tag === tag).length;
  const result = { list, unknown: count("unknown") + count("error"), assumed: count("assumed"), notes: count("note") };
  if (session.otherMode.sought) cache.set(session.evaluation, result);
  return result;
}

const FEW = 3;

// One entry per code: the first messages, and how many there are.
function fromDiagnostics(document: Document): Reservation[] {
  const groups = new Map<string, Diagnostic[]>();
  for (const diagnostic of document.diagnostics) {
    const key = `${diagnostic.severity} ${diagnostic.code}`;
    groups.set(key, [...(groups.get(key) ?? []), diagnostic]);
  }
  return [...groups.values()].map((group) => {
    const { code, severity, subject } = group[0] as Diagnostic;
    const count = group.reduce((total, diagnostic) => total + diagnostic.count, 0);
    const more = group.length > FEW ? ` And ${integer(group.length - FEW)} more.` : "";
    return {
      tag: tagOf(code, severity), code, extent: count > 1 ? `× ${integer(count)}` : "",
      text: group.slice(0, FEW).map(sentence).join(" ") + more,
      target: findSubject(document, subject),
    };
  });
}

function sentence({ message, subject }: Diagnostic): string {
  const whole = subject === "" || message.includes(subject) ? message : `${message} (${subject})`;
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

function tagOf(code: string, severity: string): Reservation["tag"] {
  if (severity === "error") return "error";
  if (/unknown|unsupported|missing|no-rule/.test(code)) return "unknown";
  return /assum|guess|default|estimate/.test(code) ? "assumed" : "note";
}

// A subject reads `node 'MatMul_12'`, `module 'model.layers'`, or is a name by itself.
function findSubject(document: Document, subject: string): Item | null {
  const name = /'([^']+)'/.exec(subject)?.[1] ?? subject;
  if (name === "") return null;
  const node = document.nodes.find((candidate) => candidate.name === name || candidate.opType === name);
  if (node) return { kind: "node", id: node.id };
  const module = document.modules.find((candidate) => candidate.path === name);
  if (module) return { kind: "module", id: module.id };
  const tensor = document.tensors.find((candidate) => candidate.name === name);
  return tensor && tensor.module !== null ? { kind: "module", id: tensor.module } : null;
}

function fromSums({ document, evaluation }: Session): Reservation[] {
  return checkSums(evaluation).map(({ path, metric, difference, module }) => ({
    tag: "error", code: "sums-differ", extent: metric,
    text: `Sums differ by ${metric.endsWith("bytes") ? formatBytes(difference) : formatCount(difference)} in ${path || document.model.name}: the parts do not add up to the whole.`,
    target: { kind: "module", id: module },
  }));
}

function fromPage({ device, otherMode, document }: Session): Reservation[] {
  const list: Reservation[] = [];
  if (device) {
    list.push({
      tag: "assumed", code: "device-efficiency", extent: "all times", target: null,
      text: `Estimates use ${isCalibrated(device) ? "fractions measured on" : "the usual fractions of the class of"} ${device.name}, dense peaks, ${device.accumulate || "the vendor's accumulate mode"}. Communication is not counted.`,
    });
  }
  if (otherMode.sought && !otherMode.available) list.push({ tag: "note", code: "no-sibling", extent: "", text: otherMode.reason, target: null });
  if (document.newerMinor) {
    list.push({ tag: "note", code: "newer-minor", extent: document.schemaVersion, target: null,
      text: "The document is of a newer minor version; members that this viewer does not know are ignored." });
  }
  return list;
}
