// How wide text is, so that boxes can cut it off with an ellipsis before it is drawn.
const FONTS = {
  sans: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  mono: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
};
export type Face = keyof typeof FONTS;

let context: CanvasRenderingContext2D | null | undefined;
const widths = new Map<string, number>();

export function textWidth(text: string, size: number, face: Face = "sans", weight = 400): number {
  const key = `${face}${weight}|${size}|${text}`;
  let width = widths.get(key);
  if (width === undefined) {
    context ??= typeof document === "undefined" ? null : document.createElement("canvas").getContext("2d");
    if (context) {
      context.font = `${weight} ${size}px ${FONTS[face]}`;
      width = context.measureText(text).width;
    } else {
      width = text.length * size * 0.6;
    }
    if (widths.size > 20_000) widths.clear();
    widths.set(key, width);
  }
  return width;
}

// The text, or as much of it as fits and an ellipsis.
export function fitText(text: string, room: number, size: number, face: Face = "sans", weight = 400): string {
  if (textWidth(text, size, face, weight) <= room) return text;
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (textWidth(`${text.slice(0, middle)}…`, size, face, weight) <= room) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low).trimEnd()}…`;
}
