// Reads members of parsed JSON and says where one is not what it must be. Everything a document
// holds is checked here before the page relies on it: a document may come from anywhere.

export class DocumentError extends Error {
  constructor(
    readonly title: string,
    message: string,
    readonly facts: [string, string][] = [],
    readonly advice = "Write the document again with `kcharter analyze`, or check it with `kcharter validate`.",
  ) {
    super(message);
  }
}

function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}

export type Json = Record<string, unknown>;

export class Reader {
  constructor(
    private readonly object: Json,
    readonly where: string,
  ) {}

  fail(member: string, expected: string): never {
    throw new DocumentError(
      "This document does not hold together",
      `${this.where}${member}: expected ${expected}.`,
      [["found", describe(this.object[member])]],
    );
  }

  raw(member: string): unknown {
    return Object.hasOwn(this.object, member) ? this.object[member] : undefined;
  }

  string(member: string, fallback?: string): string {
    const value = this.raw(member) ?? fallback;
    return typeof value === "string" ? value : this.fail(member, "a string");
  }

  textOrNull(member: string): string | null {
    const value = this.raw(member) ?? null;
    return value === null || typeof value === "string" ? value : this.fail(member, "a string or null");
  }

  oneOf<T extends string>(member: string, allowed: readonly T[], fallback: T): T {
    const value = this.raw(member) ?? fallback;
    return allowed.includes(value as T) ? (value as T) : fallback;
  }

  boolean(member: string): boolean {
    return this.raw(member) === true;
  }

  // A whole number that a double holds exactly.
  count(member: string, fallback?: number): number {
    const value = this.raw(member) ?? fallback;
    if (typeof value === "string") return Number(toInteger(value) ?? this.fail(member, "a whole number"));
    return Number.isSafeInteger(value) ? (value as number) : this.fail(member, "a whole number");
  }

  integer(member: string): bigint {
    return toInteger(this.raw(member)) ?? this.fail(member, "a whole number");
  }

  integerOrNull(member: string): bigint | null {
    const value = this.raw(member) ?? null;
    return value === null ? null : this.integer(member);
  }

  index(member: string, size: number): number {
    const value = this.raw(member);
    if (isIndex(value, size)) return value;
    return this.fail(member, `an index below ${size}`);
  }

  indexOrNull(member: string, size: number): number | null {
    return (this.raw(member) ?? null) === null ? null : this.index(member, size);
  }

  indices(member: string, size: number): number[] {
    return this.list(member).map((value) =>
      isIndex(value, size) ? value : this.fail(member, `indices below ${size}`),
    );
  }

  indicesOrNull(member: string, size: number): (number | null)[] {
    return this.list(member).map((value) =>
      value === null || isIndex(value, size) ? value : this.fail(member, `indices below ${size}, or null`),
    );
  }

  list(member: string): unknown[] {
    const value = this.raw(member) ?? [];
    return Array.isArray(value) ? value : this.fail(member, "a list");
  }

  strings(member: string): string[] {
    return this.list(member).map((value) =>
      typeof value === "string" ? value : this.fail(member, "a list of strings"),
    );
  }

  object_(member: string): Reader {
    const value = this.raw(member) ?? {};
    return isObject(value)
      ? new Reader(value, `${this.where}${member}.`)
      : this.fail(member, "an object");
  }

  entries(): [string, unknown][] {
    return Object.entries(this.object);
  }

  each<T>(member: string, read: (reader: Reader, index: number) => T): T[] {
    return this.list(member).map((value, index) => {
      const where = `${this.where}${member}[${index}]`;
      if (!isObject(value)) throw new DocumentError("This document does not hold together", `${where}: expected an object.`);
      return read(new Reader(value, `${where}.`), index);
    });
  }
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isIndex(value: unknown, size: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) < size;
}

// Integers above 2^53−1 are written as decimal strings.
export function toInteger(value: unknown): bigint | null {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === "string" && /^-?\d{1,60}$/.test(value)) return BigInt(value);
  return null;
}
