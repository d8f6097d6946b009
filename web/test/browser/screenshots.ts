// Pictures of the page's views, in both themes and at three widths, to be looked at:
//
//   npm run screenshots -- SITE FOLDER [MODEL] [OTHER MODEL]
//
// ONLY=peak,find takes those whose name contains one of the words.
import { mkdirSync } from "node:fs";
import path from "node:path";
import type { Page } from "playwright-core";
import { launch, open, serve } from "./browser.ts";

const [site = "site", folder = "test-results/screenshots", model = "Wren-8B", other = "Kestrel-27B", inside = "model.layers.0"] =
  process.argv.slice(2);
const load = "&batch=8&seq=32768&max_seq=65536&device=h100-sxm";
const document = (mode: string, where = "", more = "") => `kcharter.html?doc=generated/${model}.${mode}.json#${where}${load}${more}`;
const click = (at: number) => async (page: Page) => page.locator("[data-box]").nth(at).dispatchEvent("click"); // wherever it is
const keys = (key: string, text = "") => async (page: Page) => {
  await page.keyboard.press(key);
  await page.keyboard.type(text);
};

interface View {
  name: string;
  url: string;
  act?: (page: Page) => Promise<void>;
}
const VIEWS: View[] = [
  { name: "landing", url: `index.html#${load}` },
  { name: "root", url: document("decode") },
  { name: "layer", url: document("decode", inside), act: click(1) },
  { name: "leaf", url: document("decode", `${inside}.self_attn`), act: click(2) },
  { name: "table", url: document("decode", inside, "&view=table") },
  { name: "peak", url: document("prefill", "", "&view=peak") },
  { name: "compare", url: document("decode", "", `&compare=generated/${other}.decode.json&view=table`) },
  { name: "find", url: document("decode"), act: keys("/", "op:matmul attn") },
  { name: "over", url: document("decode", inside).replace("batch=8", "batch=64") },
  { name: "assumptions", url: document("decode"), act: keys("i") },
  { name: "export", url: document("decode"), act: keys("e") },
  { name: "error", url: "kcharter.html?doc=../secret.json" },
];
const SIZES = [[1440, 900], [1024, 700], [390, 800]] as const;

mkdirSync(folder, { recursive: true });
const server = await serve(path.resolve(site));
const browser = await launch();
const only = process.env.ONLY?.split(",");
for (const { name, url, act } of VIEWS) {
  for (const [width, height] of SIZES) {
    for (const dark of [false, true]) {
      const file = `${name}-${width}${dark ? "-dark" : ""}`;
      if (only && !only.some((part) => `${file}.png`.includes(part))) continue;
      const { page, problems } = await open(browser, `${server.url}/${url}`, { width, height, dark });
      await page.waitForTimeout(600);
      await act?.(page);
      await page.waitForTimeout(600);
      await page.screenshot({ path: path.join(folder, `${file}.png`) });
      if (problems.length > 0) console.log(file, problems);
      await page.context().close();
    }
  }
}
await browser.close();
server.close();
