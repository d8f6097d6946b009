// The page's times equal the program's: bound and estimate of a step on five devices, for every
// configuration and sample of models/.
//
//   KCHARTER=../build/release/kcharter npm run test:time
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { deviceTable } from "../../devices.mjs";
import { readDocument } from "../../src/document/read.ts";
import { Evaluation } from "../../src/metrics/evaluation.ts";
import type { Device } from "../../src/time/device.ts";
import { boundBy, StepTime } from "../../src/time/estimate.ts";

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), "../../..");
const program = process.env.KCHARTER ?? path.join(root, "build/release/kcharter");
const models = process.env.KCHARTER_MODELS ?? path.join(root, "models");
const DEVICES = ["h100-sxm", "rtx-4090", "gb10", "m4-max", "epyc-9654"];

interface Said { mode: string; device: { seconds: number; seconds_bound: number; seconds_low: number; seconds_high: number; limited_by: string } }

const table = new Map((await deviceTable()).map((device) => [device.id, device]));

function near(page: number, said: number, what: string) {
  assert.ok(Math.abs(page - said) <= 1e-9 * Math.max(page, said), `${what}: the page says ${page}, the program ${said}`);
}

function compare(file: string, said: Said["device"], device: Device) {
  const document = readDocument(readFileSync(file, "utf8"), file);
  const bindings = new Map(document.variables.map(({ name, value }) => [name, value]));
  const time = new StepTime(new Evaluation(document, bindings), device);
  const whole = { kind: "module", id: 0 } as const;
  const { estimate, ideal } = time.of(whole);
  near(estimate, said.seconds, "estimate");
  near(ideal, said.seconds_bound, "bound");
  const band = time.band(whole);
  if (band) near(band.low, said.seconds_low, "band, low");
  if (band) near(band.high, said.seconds_high, "band, high");
  const by = boundBy(time.of(whole));
  assert.equal(by === "none" ? "nothing" : by, said.limited_by);
}

const listed = ["samples", "configs"].flatMap((inside) =>
  readdirSync(path.join(models, inside)).filter((name) => !name.endsWith(".weights")).map((name) => path.join(models, inside, name)));
for (const model of listed) {
  test(path.basename(model), () => {
    const folder = mkdtempSync(path.join(tmpdir(), "kcharter-time-"));
    for (const id of DEVICES) {
      const words = ["analyze", model, "-o", folder, "--name", "it", "--seq", "4096", "--batch", "3", "--device", id, "--format", "json"];
      for (const { mode, device: said } of JSON.parse(execFileSync(program, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] })) as Said[]) {
        compare(path.join(folder, `it.${mode}.json`), said, table.get(id)!);
      }
    }
  });
}
