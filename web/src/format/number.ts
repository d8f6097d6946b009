// Numbers as people read them. Bytes in powers of 2^10 with their iB names, counts and times in
// powers of ten; three significant digits; a narrow no-break space before the unit.

export const THIN = "\u202f";
const MINUS = "\u2212";
const BINARY = ["bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const DECIMAL = ["", "K", "M", "G", "T", "P", "E"];
const PARAMETERS = ["", "K", "M", "B", "T"];

// Three significant digits, never in exponent form.
export function digits3(value: number): string {
  const size = Math.abs(value);
  const text = size >= 99.95 ? value.toFixed(0) : size >= 9.995 ? value.toFixed(1) : value.toFixed(2);
  return text.replace("-", MINUS);
}

function scaled(value: bigint | number, step: number, units: string[]): [number, string] {
  let size = Number(value);
  let unit = 0;
  while (Math.abs(size) >= step * 0.9995 && unit + 1 < units.length) {
    size /= step;
    unit += 1;
  }
  return [size, units[unit] as string];
}

export function formatBytes(value: bigint | number): string {
  if (Number(value) === 0) return "0";
  if (Math.abs(Number(value)) < 1024) return `${integer(value)}${THIN}bytes`;
  const [size, unit] = scaled(value, 1024, BINARY);
  return `${digits3(size)}${THIN}${unit}`;
}

export function formatCount(value: bigint | number, units = DECIMAL): string {
  if (Math.abs(Number(value)) < 10_000) return integer(value);
  const [size, unit] = scaled(value, 1000, units);
  return unit === "" ? integer(value) : `${digits3(size)}${THIN}${unit}`;
}

export const formatParameters = (value: bigint | number) => formatCount(value, PARAMETERS);

export function formatRate(value: number, unit: string): string {
  const [size, prefix] = scaled(value, 1000, DECIMAL);
  return `${digits3(size)}${THIN}${prefix}${unit}`;
}

export function formatTime(seconds: number): string {
  if (seconds === 0) return "0";
  const [factor, unit] =
    seconds >= 0.9995 ? [1, "s"] : seconds >= 0.9995e-3 ? [1e3, "ms"] : [1e6, "µs"];
  return `${digits3(seconds * factor)}${THIN}${unit}`;
}

export function integer(value: bigint | number): string {
  const text = String(value).replace("-", MINUS);
  return text.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

// A true zero is told from a rounded one.
export function formatPercent(share: number): string {
  if (share === 0) return `0${THIN}%`;
  if (share < 0.0005) return `<${THIN}0.1${THIN}%`;
  return `${(share * 100).toFixed(1)}${THIN}%`;
}

export function formatShape(dimensions: (bigint | null)[] | null): string {
  if (dimensions === null) return "[?]";
  return `[${dimensions.map((dim) => (dim === null ? "?" : String(dim))).join(", ")}]`;
}

// `32768`, `32,768`, `32k`, `1M` (binary); null for anything else.
export function parseLength(text: string): bigint | null {
  const match = /^(\d+)([kKmMgG]?)$/.exec(text.replace(/[,\s_\u202f]/g, ""));
  if (!match || (match[1] as string).length > 18) return null;
  const power = { "": 0n, k: 10n, m: 20n, g: 30n }[(match[2] as string).toLowerCase()] ?? 0n;
  return BigInt(match[1] as string) << power;
}
