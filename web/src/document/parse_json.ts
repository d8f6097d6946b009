// JSON.parse with an error that a person can act on: line, column, what stands there, bytes read.
import { DocumentError, isObject, type Json } from "./reader.ts";

export function parseJson(text: string, fileName: string): Json {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw notJson(text, fileName, error instanceof Error ? error.message : String(error));
  }
  if (isObject(value)) return value;
  throw new DocumentError("This file is not a kcharter document", "It holds JSON, but not an object.", [["file", fileName]]);
}

function notJson(text: string, fileName: string, message: string): DocumentError {
  const facts: [string, string][] = [["file", fileName], ["characters read", String(text.length)]];
  const position = errorPosition(text, message);
  const before = text.slice(0, position);
  const line = before.split("\n").length;
  const column = position - before.lastIndexOf("\n");
  facts.push(["line, column", `${line}, ${column}`]);
  const found = text.slice(position, position + 24);
  facts.push(["found", found === "" ? "the end of the file" : JSON.stringify(found)]);
  const cut = position >= text.trimEnd().length && text.length > 0;
  return new DocumentError(
    cut ? "This document is cut off" : "This file is not JSON",
    cut ? "The file ends in the middle of the document." : message,
    facts,
    cut ? "Copy or write the file again." : "Open a file that `kcharter analyze` wrote.",
  );
}

function errorPosition(text: string, message: string): number {
  const at = /position (\d+)/.exec(message);
  if (at) return Number(at[1]);
  return /end of JSON|Unterminated/i.test(message) ? text.length : 0;
}
