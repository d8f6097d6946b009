// Files made of the view: SVG and PNG of the whole drawing, CSV with raw integers, Markdown.
import { integer } from "../format/number.ts";
import type { MetricName } from "../document/types.ts";
import { METRICS } from "../document/types.ts";
import type { Session } from "./session.ts";
import type { Column, Row } from "./table_model.ts";
import { factsOf } from "./header.tsx";

const STYLED = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "display"];

// A copy that looks the same without the page's style sheet.
export function drawingSvg(live: SVGSVGElement): string {
  const copy = live.cloneNode(true) as SVGSVGElement;
  const from = [live, ...live.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, index) => {
    const computed = getComputedStyle(element);
    for (const name of STYLED) {
      const value = computed.getPropertyValue(name);
      if (value) to[index]?.setAttribute(name, value);
    }
    for (const name of ["class", "tabindex", "role", "style", "aria-pressed"]) to[index]?.removeAttribute(name);
  });
  const drawing = copy.querySelector("g[transform]");
  const box = (live.querySelector(".drawing") as SVGGElement).getBBox();
  const margin = 20;
  drawing?.removeAttribute("transform");
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", [box.x - margin, box.y - margin, box.width + 2 * margin, box.height + 2 * margin].map((n) => n.toFixed(1)).join(" "));
  copy.setAttribute("width", String(Math.ceil(box.width + 2 * margin)));
  copy.setAttribute("height", String(Math.ceil(box.height + 2 * margin)));
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const attributes = { x: box.x - margin, y: box.y - margin, width: box.width + 2 * margin, height: box.height + 2 * margin };
  for (const [name, value] of Object.entries(attributes)) paper.setAttribute(name, String(value));
  paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  copy.insertBefore(paper, copy.firstChild);
  return new XMLSerializer().serializeToString(copy);
}

export async function savePng(name: string, svg: string) {
  const image = new Image();
  const url = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await new Promise((resolve, reject) => {
    image.onload = resolve;
    image.onerror = reject;
    image.src = url;
  });
  const canvas = document.createElement("canvas");
  const scale = Math.min(2, 16_000 / Math.max(image.width, image.height));
  canvas.width = Math.round(image.width * scale);
  canvas.height = Math.round(image.height * scale);
  const context = canvas.getContext("2d");
  if (!context) throw new Error("no canvas");
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (!blob) throw new Error("no picture");
  save(name, blob);
}

export const saveText = (name: string, text: string, type: string) => save(name, new Blob([text], { type: `${type};charset=utf-8` }));

function save(name: string, blob: Blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

interface Table {
  rows: Row[];
  columns: Column[];
  total: Row;
}

// A cell that begins like a formula would run in a spreadsheet.
function cell(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function tableCsv(session: Session, { rows, total }: Table): string {
  const header = ["part", "kind", "repeat", "seconds_estimate", "seconds_bound", ...METRICS, ...METRICS.map((name) => `${name}_formula`)];
  const lines = [header.join(",")];
  for (const row of [...rows, total]) {
    const amounts = METRICS.map((name) => row.items.length === 1 ? session.evaluation.metric(row.items[0]!, name) : groupAmount(session, row, name));
    lines.push([
      row.name, row.kind, String(row.times), String(row.time?.estimate ?? ""), String(row.time?.ideal ?? ""),
      ...amounts.map(({ value }) => String(value ?? "")), ...amounts.map(({ formula }) => formula ?? ""),
    ].map(cell).join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}

function groupAmount(session: Session, row: Row, name: MetricName) {
  const values = row.items.map((item) => session.evaluation.metric(item, name).value ?? 0n);
  const value = name === "activation_peak_bytes" ? values.reduce((a, b) => (b > a ? b : a), 0n) : values.reduce((a, b) => a + b, 0n);
  return { value, formula: "" };
}

const escaped = (text: string) => text.replace(/[\\|`*<>[\]]/g, "\\$&");

export function viewMarkdown(session: Session, { rows, columns, total }: Table): string {
  const { document, evaluation, level, device } = session;
  const setting = [...evaluation.bindings].map(([name, value]) => `${name} ${integer(value)}`).join(", ");
  const lines = [
    `# ${escaped(document.model.name)}, ${document.mode}`, "",
    `${escaped(factsOf(document))}. At ${setting}${device ? `, on ${device.name}` : ""}.`, "",
    `Module: ${level.module.path === "" ? "the whole model" : `\`${level.module.path.replaceAll("`", "")}\``}`, "",
    `| Part | ${columns.map(({ title }) => title).join(" | ")} |`,
    `|---|${columns.map(({ numeric }) => (numeric ? "---:" : "---")).join("|")}|`,
  ];
  for (const row of [...rows, total]) {
    const name = escaped(row.name) + (row.times > 1 ? ` × ${row.times}` : "");
    lines.push(`| ${name} | ${columns.map((column) => escaped(column.text(row))).join(" | ")} |`);
  }
  return `${lines.join("\n")}\n`;
}
