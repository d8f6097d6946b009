// The page's numbers equal the program's: documents written at random settings against the page's
// evaluation of one document of the same model.
//
//   KCHARTER=../build/release/kcharter npm run test:parity -- [MODEL…]
//
// Without models: the sample models of models/ (and, where they are present, configurations and graphs
// of the truth and corpus folders). KCHARTER_PARITY_SETTINGS: how many settings per document.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { readDocument } from "../../src/document/read.ts";
import type { Document } from "../../src/document/types.ts";
import { numbersOf } from "../../src/parity.ts";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const program = process.env.KCHARTER ?? path.join(root, "build/release/kcharter");
const settingsPerDocument = Number(process.env.KCHARTER_PARITY_SETTINGS ?? 20);
const FLAGS: Record<string, string> = { batch_size: "--batch", current_length: "--seq", max_length: "--max-seq" };

let seed = 20;
const random = (below: number): number => (seed = (seed * 48271) % 2147483647) % below;
// Small, window-sized and huge lengths alike.
const pick = (): number => [1 + random(64), 1 + random(5000), 4095 + random(3), 1 + random(2 ** 21)][random(4)]!;

function models(): string[] {
  const named = (process.env.KCHARTER_PARITY_MODELS ?? "").split(":").filter((name) => name !== "");
  if (named.length > 0) return named;
  const folder = path.join(root, "models");
  return ["samples", "configs"].map((name) => path.join(folder, name)).filter((inside) => existsSync(inside))
    .flatMap((inside) => readdirSync(inside).filter((name) => !name.endsWith(".weights")).map((name) => path.join(inside, name)));
}

function analyze(model: string, mode: string, settings: [string, number][], folder: string): Document | null {
  const words = ["analyze", model, "--mode", mode, "-o", folder, "--format", "none", "--name", "parity"];
  for (const [name, value] of settings) words.push(...(FLAGS[name] ? [FLAGS[name], String(value)] : ["--dim", `${name}=${value}`]));
  try {
    execFileSync(program, words, { stdio: ["ignore", "ignore", "pipe"] });
  } catch {
    return null;
  }
  const file = path.join(folder, `parity.${mode}.json`);
  return readDocument(readFileSync(file, "utf8"), file);
}

let cases = 0;
for (const model of models()) {
  for (const mode of ["prefill", "decode"]) {
    test(`${path.basename(model)} ${mode}`, () => {
      const base = analyze(model, mode, [], mkdtempSync(path.join(tmpdir(), "kcharter-parity-")));
      if (!base) return; // this model has no such mode
      for (let i = 0; i < settingsPerDocument; ++i) {
        const settings: [string, number][] = base.variables.map(({ name }): [string, number] => [name, name === "batch_size" ? 1 + random(300) : pick()]);
        const at = new Map(settings);
        const [current, longest] = [at.get("current_length"), at.get("max_length")];
        if (current !== undefined && longest !== undefined && longest < current) at.set("max_length", current + random(3));
        const other = analyze(model, mode, [...at], mkdtempSync(path.join(tmpdir(), "kcharter-parity-")));
        assert.ok(other, `the program refuses ${JSON.stringify([...at])}`);
        const chosen = new Map([...at].map(([name, value]) => [name, BigInt(value)]));
        const page = numbersOf(base, chosen);
        const said = numbersOf(other, chosen);
        for (const [name, value] of Object.entries(page.summary)) {
          const written: bigint | null = other.summary[name as "flops"]?.value ?? null;
          assert.equal(value, written === null ? null : String(written), `${name} at ${JSON.stringify([...at])}`);
        }
        assert.deepEqual(page.modules, said.modules);
        assert.deepEqual(page.nodes.map(({ metrics }) => metrics), said.nodes.map(({ metrics }) => metrics));
        cases += 1;
      }
    });
  }
}
process.on("exit", () => console.log(`parity: ${cases} settings of ${models().length} models compared`));
